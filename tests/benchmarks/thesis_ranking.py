"""How configurations of a left-out dataset are ranked: van Hoof's thesis, Figures 6.1, 6.2 and 6.4.

    python -m tests.benchmarks.thesis_ranking --warehouse runs/ --flow 6969 --results FOLDER --jobs 2

prints, for each variant of the thesis's LightGBM and KNN, the estimation error and Kendall's tau over left-out
datasets, and two-sided p of the thesis's findings, corrected by Holm over those of one run. `FOLDER` keeps
finished evaluations, so that the same command goes on where it was.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from metalearners.judging.evaluation import DatasetResult, evaluate
from warehouse.qualities import THESIS
from warehouse.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.journal import Journal

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
    parser.add_argument("--results", type=Path, required=True, help="folder of finished evaluations")
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    warehouse = Warehouse.open(options.warehouse)
    runs, metafeatures = warehouse.run_table(options.flow, options.measure), warehouse.metafeatures()
    print(f"{options.flow}, {options.measure}: {spread_ratio(runs):.1f} = spread over / within datasets (6.3.1)")
    figures: dict[str, pd.DataFrame] = {}
    for name in options.variants:
        learner, settings = VARIANTS[name]
        journal = Journal(options.results / f"{options.flow} {options.measure} {name}.jsonl")
        results = evaluate(runs, metafeatures, learner, settings, jobs=options.jobs, journal=journal)
        figures[name] = by_dataset(results.per_dataset)
        tau, error = results.tau, results.error
        print(
            f"{name:<30} tau {tau.mean:.3f} ({tau.low:.3f} to {tau.high:.3f})"
            f"  error {error.mean:.4f} of {results.per_dataset[0].error_in}"
            f"  regret of 3 {results.regret(3).mean:.3f}",
            flush=True,
        )
    print_findings(figures)


def spread_ratio(runs: RunTable) -> float:
    """Standard deviation of the datasets' mean values over the mean of their standard deviations."""
    values = runs.runs.groupby("dataset")["value"]
    return float(values.mean().std(ddof=0) / values.std(ddof=0).mean())


def by_dataset(results: Any) -> pd.DataFrame:
    """Tau and error by dataset."""
    rows: list[DatasetResult] = list(results)
    return pd.DataFrame(
        {"tau": [one.tau for one in rows], "error": [one.error for one in rows]},
        index=[one.dataset for one in rows],
    )


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
