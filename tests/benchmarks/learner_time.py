"""How long meta-learners take to train, to predict and to take trials into account.

    python -m tests.benchmarks.learner_time [--warehouse DIR] [--learner functional-pca] [--flow FLOW]

Times are of one thread pool as the machine gives it; the peak memory is the whole process's.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable

import numpy as np

from metalearners import DEFAULT_LEARNER, new_learner
from metalearners.predictions import Observations
from warehouse.store import STARTER, Warehouse

CANDIDATES, TRIALS, TRIED_CANDIDATES = 5000, 50, 500
ROUNDS = 7


def median_seconds(task: Callable[[], object]) -> float:
    """Of several rounds, the first not counted."""
    seconds = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:])


def main() -> None:
    """Print a line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warehouse", default=STARTER)
    parser.add_argument("--learner", default=DEFAULT_LEARNER)
    parser.add_argument("--flow")
    parser.add_argument("--measure", default="predictive_accuracy")
    options = parser.parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs, metafeatures = warehouse.run_table(options.flow, options.measure), warehouse.metafeatures()
    start = time.perf_counter()
    learner = new_learner(options.learner).fit(runs, metafeatures)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = time.perf_counter() - start
    print(f"training on {len(runs.runs):,} runs: {seconds:.1f} s, peak {peak:,.0f} MiB of the process")
    random = np.random.default_rng(0)
    positions = random.integers(len(runs.configurations), size=CANDIDATES)
    candidates, dataset = runs.configurations.take(positions), metafeatures.iloc[0]
    seconds = median_seconds(lambda: learner.predict(candidates, dataset))
    print(f"predicting {CANDIDATES:,} candidates: {seconds * 1e3:.0f} ms")
    trials = Observations(candidates.take(slice(TRIALS)), random.normal(size=TRIALS))
    some = candidates.take(slice(-TRIED_CANDIDATES, None))
    seconds = median_seconds(lambda: learner.condition(trials).predict(some, dataset))
    print(f"predicting {TRIED_CANDIDATES} candidates after {TRIALS} trials: {seconds * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
