"""The choice among algorithms on synthetic functions (Manolache, section 6.2, Figure 6).

    python -m tests.benchmarks.synthetic_selection --results results.jsonl [--repeats 120]

Each case of equation 21 stands for an algorithm with one hyperparameter, and each k for a dataset. Five
datasets are known by 20 random configurations of each algorithm; on the sixth, k = 0, algorithm and
configuration are sought together in 20 trials for each algorithm. Her framework asks the algorithms in turn
(`round-robin`), each with an ensemble or a Gaussian process of its own, which begins with three random
configurations.

Finished searches are kept in the results file. What is printed: mean regret (equation 19, over the range of
values) and mean rank after some trials, and two-sided tests over the searches against the method of the best
mean rank. All searches are on one dataset, so the tests say that a method beats another there, and nothing of
other data.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from recommend.bo.simulation.curves import curves_of
from recommend.bo.simulation.runner import Searched, SimulationPlan, simulate
from tests.synthetic_functions import FUNCTIONS
from tests.tables import joint_table
from warehouse.configurations.table import joint_name
from warehouse.queries import RunTable
from warehouse.support.journal import Journal

METHODS = (
    "round-robin:gp",
    "round-robin:rgpe",
    "round-robin:rlgp",
    "round-robin:rlgp-diff",
    "round-robin:rlgp-fdiff",
    "round-robin:rlgp-mudiff",
    "round-robin:sim",
    "blend",
    "blend+top",
    "random",
)
EACH = 20
"""Trials of each algorithm, where they are asked in turn."""
TRIALS = EACH * len(FUNCTIONS)
AFTER = tuple(each * len(FUNCTIONS) for each in (1, 3, 5, 10, EACH))
POINTS, KNOWN, DATASETS = 201, 20, 6
TARGET = "k=0"


def known_runs() -> RunTable:
    """All points of each algorithm on the target, and some of them on the other datasets, by their values."""
    x = np.linspace(0, 10, POINTS)
    random = np.random.default_rng(0)
    runs = []
    for place, cost in enumerate(FUNCTIONS):
        for k in range(DATASETS):
            points = np.arange(POINTS) if k == 0 else random.choice(POINTS, KNOWN, replace=False)
            runs.append(
                pd.DataFrame(
                    {
                        "dataset": f"k={k}",
                        "setup": [f"{_algorithm(place)}/{point}" for point in points],
                        "algorithm": _algorithm(place),
                        "value": -cost(x[points], k),
                    }
                )
            )
    table = pd.concat(runs, ignore_index=True)
    names = [_algorithm(place) for place in range(len(FUNCTIONS))]
    parameters = pd.concat(
        pd.DataFrame({joint_name(name, "x"): x}, index=[f"{name}/{point}" for point in range(POINTS)])
        for name in names
    )
    unstated = pd.array([pd.NA] * len(table), dtype="Int64")
    table = table.assign(
        task=table["dataset"],
        family=table["dataset"],
        run=table.index.astype(str),
        flow=table["algorithm"],
        train_rows=unstated,
    )
    configurations = joint_table(parameters.astype(object), np.repeat(names, POINTS).tolist())
    return RunTable(None, "predictive_accuracy", table, configurations, larger=table.iloc[:0])


def _algorithm(place: int) -> str:
    return f"function-{place}"


def by_search(searched: list[Searched]) -> list[Searched]:
    """Each repetition in the place of a dataset: what is compared are searches on the one dataset."""
    return [
        Searched(f"repetition {one.seed}", one.method, 0, one.best_so_far, one.best, one.worst, one.seconds)
        for one in searched
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--repeats", type=int, default=120)
    options = parser.parse_args()
    sizes = {"NumberOfInstances": 100.0, "NumberOfFeatures": 1.0}
    metafeatures = pd.DataFrame(sizes, index=[f"k={k}" for k in range(DATASETS)])
    plan = SimulationPlan(tuple(options.methods), trials=TRIALS, seeds=options.repeats)
    searched = simulate(known_runs(), metafeatures, plan, datasets=[TARGET], journal=Journal(options.results))
    curves = curves_of(by_search(searched))
    print(curves.summary(AFTER).table())
    for trials in AFTER:
        print(f"\n{curves.compare(trials).table(f'regret after {trials}')}")


if __name__ == "__main__":
    main()
