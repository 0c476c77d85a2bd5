"""What runs that a search chose are worth to a learner, beside runs that were drawn at random.

    python -m tests.benchmarks.biased_trials [--warehouse DIR] [--measure NAME] [--learner NAME ...]

The families of datasets are dealt into folds. Of the datasets of the other folds every third is dense: all of
its runs are learned from. The rest have none of their runs, some that were drawn at random, or as many that
were drawn as a search would choose them: with probability proportional to exp(6 rank), where the rank of a
run on its dataset is 0 for the worst and 1 for the best; of these the measure itself is known alone, as in
`RunTable`. The last are the same with the anchors of `tune` among them: the defaults of LightGBM and CatBoost
(which is the best configuration on average), and a random one. Prints a table in Markdown; tau and regret are
those of `first_choices`.

Notation
    p    of tau and of the regret of three against the dense datasets alone: Wilcoxon's signed-rank test, Holm
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from ingest.flows import get_flow
from ingest.keys import setup_of
from metalearners import DEFAULT_LEARNER, LEARNERS
from metalearners.encoding.scores import oriented
from metalearners.encoding.training_data import runs_on, select_runs
from metalearners.judging.evaluation import interval, kendall_tau, normalized_regret
from metalearners.judging.folds import Half
from tests.benchmarks.first_choices import parser_of, significance
from tests.benchmarks.folds import left_out
from tests.benchmarks.what_wins import markdown
from warehouse.configurations.configuration import Configuration
from warehouse.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.arrays import Floats, Positions

DENSE = 3
"""One dataset in so many is dense."""
ANCHORS = ("lightgbm", "catboost")
"""Flows whose defaults are anchors."""
GREED = 6.0
TOP = 3

WITH_ANCHORS = "as a search with anchors"

Draw = Callable[[Floats], Floats]
"""Makes weights of the runs of a dataset from their ranks."""


def as_a_search(ranks: Floats) -> Floats:
    return np.exp(GREED * ranks)


DRAWS: Mapping[str, Draw | None] = {
    "none": None,
    "at random": np.ones_like,
    "as a search would": as_a_search,
    WITH_ANCHORS: as_a_search,
}


def main() -> None:
    parser = parser_of(__doc__, LEARNERS)
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs, metafeatures = warehouse.run_table(None, options.measure), warehouse.metafeatures()
    for learner in options.learner or [DEFAULT_LEARNER]:
        results = {
            name: judged(
                learner, runs, metafeatures, draw, options.runs, options.half, anchored=name == WITH_ANCHORS
            )
            for name, draw in DRAWS.items()
        }
        print(f"{learner}, {options.runs} runs on each dataset that is not dense\n")
        print(markdown(table(results)))


def judged(
    learner: str,
    runs: RunTable,
    metafeatures: pd.DataFrame,
    draw: Draw | None,
    n: int,
    half: Half | None,
    *,
    anchored: bool,
) -> pd.DataFrame:
    """Tau and regret by dataset, each left out with its fold."""
    found = {}

    def change(known: RunTable, fold: int) -> RunTable:
        return thinned(known, draw, n, np.random.default_rng(fold), anchored=anchored)

    for tested, model in left_out(learner, runs, metafeatures, change, half):
        for dataset in tested:
            configurations, values = runs_on(runs, dataset)
            described = metafeatures.loc[[dataset]].iloc[0]
            expected = model.predict(configurations, described).mean
            chosen = model.choose(configurations, described, TOP)
            found[dataset] = (kendall_tau(expected, values), normalized_regret(chosen, values))
    return pd.DataFrame.from_dict(found, orient="index", columns=["tau", f"regret {TOP}"])


def thinned(
    runs: RunTable, draw: Draw | None, n: int, random: np.random.Generator, *, anchored: bool
) -> RunTable:
    """All runs on the dense datasets, and those that are drawn on the others."""
    defaults = {setup_of(Configuration(name, get_flow(name).default())) for name in ANCHORS}
    is_default = runs.runs["setup"].isin(defaults).to_numpy()
    keep = np.zeros(len(runs.runs), dtype=bool)
    drawn: list[str] = []
    values = oriented(runs.runs["value"].to_numpy(), runs.measure)
    datasets = runs.runs["dataset"].to_numpy()
    for place, dataset in enumerate(pd.unique(datasets)):
        own = np.flatnonzero(datasets == dataset)
        if place % DENSE == 0:
            keep[own] = True
        elif draw is not None:
            ranks = (pd.Series(values[own]).rank().to_numpy() - 1) / max(len(own) - 1, 1)
            weights = draw(ranks)
            if anchored:
                weights[is_default[own]] = weights[random.integers(len(own))] = np.inf
            keep[own[drawn_of(weights, n, random)]] = True
        drawn += runs.runs["run"].iloc[own[keep[own]]].tolist() if place % DENSE else []
    if draw is as_a_search:
        runs = replace(runs, related=runs.related.drop(index=drawn, errors="ignore"))
    return select_runs(runs, keep)


def drawn_of(weights: Floats, n: int, random: np.random.Generator) -> Positions:
    """Positions of `n` that are drawn by weight, those of infinite weight among them."""
    certain = np.flatnonzero(np.isinf(weights))
    others = np.flatnonzero(np.isfinite(weights))
    p = weights[others] / weights[others].sum()
    left = min(max(n - len(certain), 0), len(others))
    return np.concatenate([certain, random.choice(others, left, replace=False, p=p)])


def table(results: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    figures = list(next(iter(results.values())))
    means = {
        name: {figure: f"{interval(of[figure].tolist()).mean:.3f}" for figure in figures}
        for name, of in results.items()
    }
    rows = pd.DataFrame.from_dict(means, orient="index")
    for figure in figures:
        rows[f"p of {figure}"] = significance({name: of[figure] for name, of in results.items()})
    return rows.reset_index(names="more runs")


if __name__ == "__main__":
    main()
