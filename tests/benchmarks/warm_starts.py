"""Starts of a search compared as in van Hoof's thesis (Figures 6.5 to 6.7), for the notebook.

    tune simulate --warehouse runs/ --flow 6969 --trials 30 --folds 5 --csv curves.csv \\
        --method gbqr+none --method gbqr+top@lightgbm --method gbqr+worst@lightgbm \\
        --method gbqr+delta@lightgbm --method gbqr+opt-3 --method gbqr+knn-3 --method forest~2+none \\
        --method forest~2+top@lightgbm --method forest~2+worst@lightgbm --method order \\
        --method gbqr+top --method gbqr+delta --method blend+top
    python -m tests.benchmarks.warm_starts curves.csv

Writes, for the methods of each figure, mean regret with its 95 % interval and mean rank among them after each
trial, and two-sided tests of the thesis's findings over datasets (Wilcoxon's signed-rank test on the mean
regret over all trials, Holm's correction over all tests).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from metalearners.evaluation.protocol import interval
from tests.benchmarks.latent_space import RESULTS
from warehouse.support.files import write_text

FIGURES = {
    "6.5": (
        "gbqr+none",
        "gbqr+top@lightgbm",
        "gbqr+worst@lightgbm",
        "forest~2+none",
        "forest~2+top@lightgbm",
        "forest~2+worst@lightgbm",
        "order",
    ),
    "6.6": ("gbqr+none", "gbqr+top@lightgbm", "gbqr+worst@lightgbm", "gbqr+delta@lightgbm"),
    "6.7": ("gbqr+delta@lightgbm", "gbqr+opt-3", "gbqr+knn-3"),
    "ours": ("gbqr+delta@lightgbm", "gbqr+opt-3", "gbqr+delta", "gbqr+top", "blend+top"),
}
FINDINGS = (
    ("gbqr+none", "forest~2+none", "the quantile surrogate is better than SMAC's forest"),
    ("gbqr+none", "gbqr+worst@lightgbm", "a random start is better than a bad one"),
    ("forest~2+top@lightgbm", "forest~2+none", "a warm start helps the forest"),
    ("gbqr+top@lightgbm", "gbqr+none", "a warm start makes little difference to the quantile surrogate"),
    ("gbqr+delta@lightgbm", "gbqr+top@lightgbm", "delta is better than the three best predictions"),
    ("gbqr+delta@lightgbm", "gbqr+knn-3", "delta is better than KNN-3"),
    ("gbqr+delta@lightgbm", "gbqr+opt-3", "delta is better than OPT-3"),
    ("blend+top", "gbqr+delta@lightgbm", "ours: the default search is better than delta"),
)
"""The better method, the worse one, and the finding, in the thesis's words."""


def figure(curves: pd.DataFrame, methods: tuple[str, ...]) -> dict[str, Any]:
    """Curves of these methods: regret (mean, low, high) and mean rank after each trial."""
    own = curves[curves["method"].isin(methods)]
    rank = own.groupby(["dataset", "seed", "trial"])["best_so_far"].rank(ascending=False)
    ranks = rank.groupby([own["method"], own["trial"]]).mean()
    found = {}
    for method in methods:
        by_trial = own[own["method"] == method].pivot_table(index="dataset", columns="trial", values="regret")
        regret = [interval(by_trial[trial].tolist()) for trial in by_trial]
        found[method] = {
            "regret": np.round([one.mean for one in regret], 5).tolist(),
            "low": np.round([one.low for one in regret], 5).tolist(),
            "high": np.round([one.high for one in regret], 5).tolist(),
            "rank": ranks[method].round(3).tolist(),
        }
    return found


def findings(curves: pd.DataFrame) -> list[dict[str, Any]]:
    """The thesis's findings with the evidence for them."""
    means = curves.pivot_table(index="dataset", columns="method", values="regret")
    ps = [wilcoxon(means[one], means[other]).pvalue for one, other, _ in FINDINGS]
    corrected = multipletests(ps, method="holm")[1]
    return [
        {
            "finding": words,
            "better": one,
            "worse": other,
            "wins": int((means[one] < means[other]).sum()),
            "losses": int((means[one] > means[other]).sum()),
            "regret": [round(float(means[one].mean()), 4), round(float(means[other].mean()), 4)],
            "p": float(f"{p:.2g}"),
        }
        for (one, other, words), p in zip(FINDINGS, corrected, strict=True)
    ]


def main() -> None:
    """Read trials, write figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("curves", type=Path, help="output of `tune simulate --csv`")
    parser.add_argument("--output", type=Path, default=RESULTS / "warm_starts.json")
    arguments = parser.parse_args()
    curves = pd.read_csv(arguments.curves)
    results: dict[str, Any] = {
        "datasets": int(curves["dataset"].nunique()),
        "trials": int(curves["trial"].max()),
        "findings": findings(curves),
        **{name: figure(curves, methods) for name, methods in FIGURES.items()},
    }
    lines = [f'"{name}": {json.dumps(value)}' for name, value in results.items()]
    write_text(arguments.output, "{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
