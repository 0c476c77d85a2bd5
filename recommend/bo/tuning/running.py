"""Parallel runs of a search's fits and trials, each in its own limited process."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Literal, Self

from ingest.reading.datasets import Dataset
from ingest.running.blocks import Split
from ingest.running.evaluation import Limits, evaluate
from ingest.running.limits import MEBIBYTE, Processes, run_limited, wait_for_server
from recommend.bo.tuning.fitting import Fit
from recommend.bo.tuning.resampling import rows_to_fit_on
from recommend.bo.tuning.settings import Search
from warehouse.vocabulary.configuration import Configuration

NOTICED = 0.2
"""Longest wait in seconds, after which the session checks whether it should end."""


@dataclass(frozen=True)
class Task:
    """A fit of a configuration, a trial's first evaluation, or a later one on other folds."""

    kind: Literal["fit", "trial", "repetition"]
    configuration: Configuration
    limit: float
    """Time limit in seconds."""
    number: int = -1
    """Number of the trial; -1 for a fit."""
    rows: int = 0
    """Number of rows of a fit; 0 for others."""


class Runner:
    """Runs each task in its own process. A context manager, which ends running tasks on exit."""

    def __init__(
        self, dataset: Dataset, search: Search, fit: Fit | None, jobs: int, executor: Executor | None
    ) -> None:
        """A runner without tasks.

        Args:
            fit: fits a configuration; None = there are no fits.
            jobs: number of parallel tasks.
            executor: runs the trials; None = processes here.
        """
        self._dataset, self._search, self._fit, self._executor = dataset, search, fit, executor
        self._pool = ThreadPoolExecutor(jobs)  # its threads only wait
        self._processes = Processes()

    def __enter__(self) -> Self:
        wait_for_server()  # its start is not part of the time of fits and trials
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._processes.end()
        self._pool.shutdown()

    def begin(self, task: Task, splits: Sequence[Split]) -> Future[Any]:
        """Begin a task, whose future holds a `LimitedCall` for a fit, else an `Evaluation`."""
        search = self._search
        if task.kind == "fit" and self._fit is not None:
            return self._pool.submit(
                run_limited,
                self._fit,
                task.configuration,
                rows_to_fit_on(self._dataset, task.rows, search.seed),
                seconds=task.limit,
                memory=search.trial_memory * MEBIBYTE,
                processes=self._processes,
            )
        arguments = (task.configuration, self._dataset, [splits], Limits(task.limit, search.trial_memory))
        if self._executor is not None:
            return self._executor.submit(evaluate, *arguments, seed=search.seed)
        return self._pool.submit(evaluate, *arguments, seed=search.seed, processes=self._processes)

    def wait(self, running: Collection[Future[Any]]) -> Collection[Future[Any]]:
        """Wait until one of these has ended, at most `NOTICED` seconds; return those that have."""
        return wait(running, timeout=NOTICED, return_when=FIRST_COMPLETED).done
