"""Random search within learned ranges against random search in the whole space, at equal trials.

    python -m tests.benchmarks.learned_ranges --tasks model --half reporting [--every N]
    python -m tests.benchmarks.learned_ranges --tasks table --half reporting --warehouse runs/

Ranges are learned without the runs of a dataset's family (`tests.benchmarks.folds`). What a configuration is
worth on the dataset says a model of its runs (`model`: `recommend.bo.simulation.tasks.ModelTask`), or the
runs themselves, of which those within the ranges may be drawn (`table`; for warehouses with hundreds of
random runs a dataset). Prints a table in Markdown.

Notation
    regret k    (best - expected best of k trials) / (best - worst) of the flow on the dataset, from 0 to 1;
                means over the flows of a dataset, then over datasets
    better      datasets on which the regret is lower than in the whole space, and higher
    p           Wilcoxon's signed-rank test over datasets, regret after 10 trials
    kept        share of the random configurations of the whole space that are within the ranges
"""

from __future__ import annotations

import argparse
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from ingest.flows import find_flow
from metalearners.encoding.training_data import runs_on
from metalearners.judging.folds import HALVES
from metalearners.predictions import Predictor
from recommend.bo.simulation.tasks import ModelTask
from recommend.ranges import FlowRanges, learn_ranges
from recommend.space import Configurations, Space
from tests.benchmarks.folds import left_out
from tests.benchmarks.what_wins import markdown
from warehouse.configurations.parameters import Choice, Number, same
from warehouse.configurations.searched_flow import SearchedFlow
from warehouse.configurations.table import ConfigurationTable, joint_name
from warehouse.measures import canonical_measure
from warehouse.queries import RunTable
from warehouse.store import STARTER, Warehouse
from warehouse.support.arrays import Floats
from warehouse.support.parallel import one_thread

TRIALS = (1, 3, 10, 30)
COMPARED = 10
DRAWN = 2000
FEWEST = 8
"""Runs of a flow on a dataset below which a model of them says nothing."""


@dataclass(frozen=True)
class Variant:
    """How ranges are learned."""

    share: float = 0.1
    held: float = 0.9

    def __str__(self) -> str:
        return f"best {self.share:.0%}, holds {self.held:.0%}"

    def ranges(self, flow: SearchedFlow, predictor: Predictor, metafeatures: pd.Series) -> FlowRanges:
        return learn_ranges(flow, predictor, metafeatures, share=self.share, held=self.held)


VARIANTS = [Variant(share, held) for share, held in itertools.product((0.1, 0.03), (0.9, 0.7, 0.5))]


def expected_best(values: Floats, weights: Floats, trials: int) -> float:
    """The expected largest of so many values, drawn with these weights and put back."""
    order = np.argsort(values)
    upto = np.cumsum(weights[order]) / weights.sum()
    at_most = upto**trials  # probability that all drawn are among the lowest
    return float(values[order] @ np.diff(at_most, prepend=0.0))


def weights_within(flow: SearchedFlow, table: ConfigurationTable) -> Floats:
    """(n,) how likely a random configuration within the ranges of `flow` is each of these; 0 = it is not."""
    weights = np.ones(len(table))
    for own in flow.hyperparameters:
        name = joint_name(flow.name, own.name)
        if name in table.parameters:
            weights *= [_weight(own, value) for value in table.parameters[name].astype(object)]
    return weights


def _weight(own: Number | Choice, value: object) -> float:
    if value is None or value is pd.NA or value != value:
        return 1.0
    if isinstance(own, Choice):
        found = [place for place, choice in enumerate(own.choices) if same(choice, value)]
        return (own.weights or (1.0,) * len(own.choices))[found[0]] if found else 0.0
    return float(isinstance(value, int | float) and own.low <= value <= own.high)


def of_models(
    runs: RunTable,
    metafeatures: pd.DataFrame,
    dataset: str,
    predictor: Predictor,
    variants: Sequence[Variant],
) -> Iterator[tuple[str, Floats, float]]:
    """Variant (`whole space` first), regrets after each of `TRIALS`, share kept; of each flow."""
    task = ModelTask(runs, metafeatures, dataset)
    table, _ = runs_on(runs, dataset)
    often = table.algorithms.value_counts()
    for flow in task.space.flows.values():
        if often[flow.name] < FEWEST or not flow.hyperparameters:
            continue
        whole = drawn(flow)
        known = task.values_of(whole)
        learned = [variant.ranges(flow, predictor, task.metafeatures) for variant in variants]
        values = [task.values_of(drawn(own.flow, seed=1)) for own in learned]
        best = max(known.max(), *(own.max() for own in values))
        worst = known.min()
        if best == worst:
            continue
        for name, own, kept in zip(
            ["whole space", *map(str, variants)],
            [known, *values],
            [1.0, *((weights_within(own.flow, whole.table) > 0).mean() for own in learned)],
            strict=True,
        ):
            alike = np.ones(len(own))
            yield name, regrets(own, alike, best, worst), float(kept)


def drawn(flow: SearchedFlow, seed: int = 0) -> Configurations:
    space = Space([flow])
    return space.configurations(space.sample(DRAWN, np.random.default_rng(seed)))


def regrets(values: Floats, weights: Floats, best: float, worst: float) -> Floats:
    return np.array([(best - expected_best(values, weights, k)) / (best - worst) for k in TRIALS])


def of_tables(
    runs: RunTable,
    metafeatures: pd.DataFrame,
    dataset: str,
    predictor: Predictor,
    variants: Sequence[Variant],
) -> Iterator[tuple[str, Floats, float]]:
    """The same among the runs on the dataset."""
    table, values = runs_on(runs, dataset)
    for name in table.algorithms.unique():
        flow = find_flow(str(name)) or runs.searched_flow(str(name))
        rows = np.flatnonzero((table.algorithms == name).to_numpy())
        own, part = values[rows], table.take(rows)
        if len(rows) < FEWEST or own.max() == own.min():
            continue
        yield "whole space", regrets(own, np.ones(len(own)), own.max(), own.min()), 1.0
        for variant in variants:
            weights = weights_within(variant.ranges(flow, predictor, metafeatures.loc[dataset]).flow, part)
            if not weights.any():  # then nothing is known to be within
                weights = np.ones(len(own))
            yield str(variant), regrets(own, weights, own.max(), own.min()), float((weights > 0).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warehouse", default=str(STARTER))
    parser.add_argument("--measure", default="predictive_accuracy", type=canonical_measure)
    parser.add_argument("--tasks", choices=("model", "table"), default="model")
    parser.add_argument("--half", choices=HALVES, default="reporting")
    parser.add_argument("--every", type=int, default=1, help="one dataset of so many")
    parser.add_argument("--variants", action="store_true", help="all variants, to choose among")
    parser.add_argument("--results", type=Path, help="CSV file for regrets by dataset")
    options = parser.parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs, metafeatures = warehouse.run_table(None, options.measure), warehouse.metafeatures()
    variants = VARIANTS if options.variants else [Variant()]
    ask = of_models if options.tasks == "model" else of_tables
    found: dict[tuple[str, str], list[Floats]] = defaultdict(list)
    with one_thread():
        for datasets, model in left_out("functional-pca", runs, metafeatures, half=options.half):
            for dataset in datasets[:: options.every]:
                for name, regret, kept in ask(runs, metafeatures, dataset, model, variants):
                    found[dataset, name].append(np.array([*regret, kept]))
    table = pd.DataFrame(
        {key: np.mean(own, axis=0) for key, own in found.items()}, index=[*map(str, TRIALS), "kept"]
    ).T
    if options.results is not None:
        table.to_csv(options.results)
    print(f"{table.index.get_level_values(0).nunique()} datasets, {options.half} half\n")
    print(markdown(summary(table)))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """A row per variant."""
    rows = {}
    compared = table[str(COMPARED)].unstack()  # noqa: PD010
    for name in compared.columns[np.argsort(compared.columns != "whole space", kind="stable")]:
        gain = compared["whole space"] - compared[name]
        own = table.xs(name, level=1)
        rows[name] = {
            **{f"regret {k}": f"{own[str(k)].mean():.4f}" for k in TRIALS},
            "better": f"{(gain > 0).sum()} - {(gain < 0).sum()}" if gain.any() else "",
            "p": f"{wilcoxon(gain).pvalue:.1g}" if gain.any() else "",
            "kept": f"{own['kept'].mean():.2f}",
        }
    return pd.DataFrame(rows).T.rename_axis("trials within")


if __name__ == "__main__":
    main()
