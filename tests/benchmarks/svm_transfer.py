"""Surrogate ensembles on a grid of support vector machines (Manolache, section 6.1, Figure 5).

    python -m tests.benchmarks.svm_transfer svm_grid.csv.gz --results results.jsonl [--repeats 20]

Each of the 35 datasets is searched for 20 trials with what was learned from the others: base models learn
from 50 random configurations of each. Methods without a start begin with three random configurations, the
same for all of them; ours begins with its own recommendation. Finished searches are kept in the results file.
What is printed: mean regret (equation 19, over the range of values on the dataset) and mean rank after 1, 3,
5, 10 and 20 trials, and two-sided tests over the datasets' means against the method of the best mean rank.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recommend.bo.simulation.curves import curves_of
from recommend.bo.simulation.runner import SimulationPlan, simulate
from tests.benchmarks.factorization_curves import svm_grid
from warehouse.support.journal import Journal

METHODS = (
    "blend+top",
    "blend",
    "rgpe",
    "rgpe-undiluted",
    "rlgp",
    "rlgp-diff",
    "rlgp-fdiff",
    "rlgp-mudiff",
    "sim",
    "tst-r",
    "gp",
    "random",
)
TRIALS = 20
AFTER = (1, 3, 5, 10, TRIALS)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("grid", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    runs, metafeatures = svm_grid(options.grid)
    plan = SimulationPlan(tuple(options.methods), trials=TRIALS, seeds=options.repeats)
    journal = Journal(options.results)
    curves = curves_of(simulate(runs, metafeatures, plan, jobs=options.jobs, journal=journal))
    print(curves.summary(AFTER).table())
    for trials in AFTER:
        print(f"\n{curves.compare(trials).table(f'regret after {trials}')}")


if __name__ == "__main__":
    main()
