"""How configurations of a left-out dataset are ranked: van Hoof's thesis, Figures 6.1, 6.2 and 6.4.

    python -m tests.benchmarks.thesis_ranking --warehouse runs/ --flow 6969 --folds 5

prints, for each variant of the thesis's LightGBM and KNN, estimation error and Kendall's tau over left-out
datasets, and two-sided p of the thesis's findings, corrected by Holm over those of one run. Without `--folds`
each dataset is left out alone, as in the thesis; with it they are dealt into so many groups.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import pandas as pd
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from metalearners import new_learner
from metalearners.encoding.training_data import runs_on, without_datasets
from metalearners.judging.evaluation import estimation_error, interval, kendall_tau
from warehouse.qualities import THESIS
from warehouse.queries import RunTable
from warehouse.store import Warehouse

FEATURES = list(THESIS)
INPUTS = ("none", "metafeatures", "hyperparameters", "both")


def _lightgbm(inputs: str, targets: str, leaves: int) -> tuple[str, dict[str, Any]]:
    return "lightgbm", {"inputs": inputs, "targets": targets, "leaves": leaves, "metafeatures": FEATURES}


VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{f"{inputs}, raw": _lightgbm(inputs, "raw", 4) for inputs in INPUTS},
    **{f"{inputs}, standardized": _lightgbm(inputs, "standardized", 4) for inputs in INPUTS[2:]},
    **{f"{inputs}, 16 leaves": _lightgbm(inputs, "standardized", 16) for inputs in INPUTS[2:]},
    "KNN": ("knn-thesis", {}),
    "KNN, k = 3": ("knn-thesis", {"datasets": 3}),
    "KNN, k = 10": ("knn-thesis", {"datasets": 10}),
    "KNN + LightGBM": ("knn-lightgbm-thesis", {}),
    "ours: knn": ("knn", {}),
}
"""Name -> learner and settings."""

FINDINGS = (
    ("both, raw", "hyperparameters, raw", "tau", "both inputs rank better than hyperparameters (6.3.1)"),
    ("metafeatures, raw", "hyperparameters, raw", "error", "meta-features estimate values better (6.3.1)"),
    ("both, raw", "metafeatures, raw", "error", "both estimate values better than meta-features (6.3.1)"),
    ("both, standardized", "both, raw", "tau", "standardized targets rank better (6.3.2)"),
    ("both, 16 leaves", "both, standardized", "tau", "16 leaves rank better, both inputs (6.3.2)"),
    (
        "hyperparameters, standardized",
        "hyperparameters, 16 leaves",
        "tau",
        "4 leaves rank better, hyperparameters only (6.3.2)",
    ),
    ("both, standardized", "KNN", "tau", "LightGBM ranks better than KNN (6.3.4)"),
    ("both, standardized", "KNN + LightGBM", "tau", "LightGBM ranks better than KNN + LightGBM (6.3.4)"),
    ("KNN", "KNN, k = 3", "tau", "one nearest dataset is better than three (6.3.4)"),
    ("KNN", "KNN, k = 10", "tau", "one nearest dataset is better than ten (6.3.4)"),
)
"""What is better, than what, by which figure, and in the thesis's words."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--warehouse", default=None)
    parser.add_argument("--flow", required=True)
    parser.add_argument("--measure", default="predictive_accuracy")
    parser.add_argument("--folds", type=int, default=None, help="groups of datasets; default: one each")
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    options = parser.parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs, metafeatures = warehouse.run_table(options.flow, options.measure), warehouse.metafeatures()
    print(
        f"{options.flow}, {options.measure}: {spread_ratio(runs):.1f} = spread over / within datasets (6.3.1)"
    )
    figures: dict[str, pd.DataFrame] = {}
    for name in options.variants:
        of_datasets, error_in = judged(*VARIANTS[name], runs, metafeatures, options.folds)
        figures[name] = of_datasets
        tau = interval(of_datasets["tau"].tolist())
        print(
            f"{name:<30} tau {tau.mean:.3f} ({tau.low:.3f} to {tau.high:.3f})"
            f"  error {of_datasets['error'].mean():.4f} of {error_in}",
            flush=True,
        )
    print_findings(figures)


def spread_ratio(runs: RunTable) -> float:
    """Standard deviation of the datasets' mean values over the mean of their standard deviations."""
    values = runs.runs.groupby("dataset")["value"]
    return float(values.mean().std(ddof=0) / values.std(ddof=0).mean())


def judged(
    learner: str, settings: dict[str, Any], runs: RunTable, metafeatures: pd.DataFrame, folds: int | None
) -> tuple[pd.DataFrame, str]:
    """Tau and error by dataset, each predicted by what was learned without its group; what errors are of."""
    datasets = runs.runs["dataset"].unique().tolist()
    groups = [datasets[number::folds] for number in range(folds)] if folds else [[one] for one in datasets]
    rows = {}
    for group in groups:
        others = without_datasets(runs, group)
        untrained: Any = new_learner(learner, settings)  # of which the spread is not needed
        model = untrained.learn(others, metafeatures.drop(index=group, errors="ignore"))
        for dataset in group:
            described = metafeatures.reindex([dataset]).iloc[0]
            table, actual = runs_on(runs, dataset)
            expected = model.predict(table, described)
            error, error_in = estimation_error(model, expected, table, described, actual, runs.measure)
            rows[dataset] = {"tau": kendall_tau(expected.mean, actual), "error": error}
    return pd.DataFrame(rows).T, error_in


def print_findings(figures: dict[str, pd.DataFrame]) -> None:
    """Print whether each finding of the thesis holds, with Wilcoxon's signed-rank test over datasets."""
    known = [finding for finding in FINDINGS if finding[0] in figures and finding[1] in figures]
    if not known:
        return
    lines, p = [], []
    for better, worse, figure, finding in known:
        gain = figures[better][figure] - figures[worse][figure]
        gain = gain if figure == "tau" else -gain
        p.append(float(wilcoxon(gain).pvalue) if gain.any() else 1.0)
        wins = f"{(gain > 0).sum()}-{(gain < 0).sum()}"
        lines.append({"finding": finding, "gain": round(float(gain.mean()), 4), "wins": wins})
    for line, corrected in zip(lines, multipletests(p, method="holm")[1], strict=True):
        print(json.dumps({**line, "p": float(f"{corrected:.2g}")}))


if __name__ == "__main__":
    main()
