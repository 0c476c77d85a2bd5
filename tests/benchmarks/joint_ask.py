"""Time in which `tune` chooses the next configuration when it also chooses the algorithm.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.joint_ask [--asks 30] [--preprocessing]

The search is the default of `tune` for the table of `recommend/examples`: all installed flows, the starter's
runs, `blend` with expected improvement per second. Nothing is fitted: a trial's value is a quadratic around
the middle of the space, plus noise. Prints medians of the processor time of an ask, after the first ten, and
of its parts: making tables of configurations, encoding them for surrogate and fit times (including the
tables), and the rest. The last line is a checksum of all chosen configurations: versions with equal checksums
choose the same.
"""

from __future__ import annotations

import argparse
import time
import zlib
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from ingest.running.resampling import Resampling
from metalearners.encoding.hyperparameters import HyperparameterEncoding
from recommend import Budget, Search, load_dataset
from recommend.bo.tuning.settings import completed
from recommend.bo.tuning.setup import new_search, task_of
from recommend.ranking.candidates import find_candidates
from recommend.ranking.knowledge import gather
from recommend.space import Space
from warehouse.store import STARTER, Warehouse

EXAMPLE = "recommend/examples/subscribers.csv"
FIRST = 10
"""Asks that are not counted: starts, and the first ones, which draw candidates."""
TRIALS = 250


class Stopwatch:
    """Processor seconds spent in methods since the last reading."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def watch(self, owner: type, name: str) -> None:
        """Measure the time of this method."""
        method: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.process_time()
            try:
                return method(*arguments, **named)
            finally:
                self.seconds += time.process_time() - start

        setattr(owner, name, timed)

    def read(self) -> float:
        """The seconds so far; resets them."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


def main() -> None:
    """Run the search and print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--asks", type=int, default=30)
    parser.add_argument("--preprocessing", action="store_true")
    options = parser.parse_args()
    tables, encodings = Stopwatch(), Stopwatch()
    tables.watch(Space, "_table")
    encodings.watch(HyperparameterEncoding, "matrix")
    dataset, warehouse = load_dataset(EXAMPLE), Warehouse.open(STARTER)
    search = completed(Search(preprocessing=options.preprocessing), dataset, warehouse)
    task = task_of(dataset, search, warehouse)
    known = gather(task)
    budget = Budget(trials=TRIALS)
    optimizer, _ = new_search(task, known, find_candidates(known), search, Resampling(3), [], budget)
    random = np.random.default_rng(0)
    asks, chosen = [], 0
    for number in range(FIRST + options.asks):
        tables.read(), encodings.read()
        start = time.process_time()
        proposal = optimizer.ask()
        seconds = time.process_time() - start
        if proposal is None:
            raise SystemExit("the space has no more configurations")
        vector = proposal.candidate.configuration.vectors[0]
        chosen = zlib.crc32(vector.tobytes(), chosen)
        if number >= FIRST and proposal.origin == "model":
            asks.append((seconds, tables.read(), encodings.read()))
        value = 0.9 - 0.1 * float(np.nanmean((vector - 0.5) ** 2)) + random.normal(scale=0.005)
        optimizer.tell(proposal.number, value, 1.0)
    ask, table, encoding = (1e3 * median(column) for column in zip(*asks, strict=True))
    print(f"milliseconds of an ask: {ask:.0f}; tables {table:.0f}, encoding {encoding:.0f}")
    print(f"{len(asks)} asks; chosen: {chosen:08x}")


if __name__ == "__main__":
    main()
