"""Evaluation of one configuration on one dataset: fitted and tested on splits, within limits, measured."""

from __future__ import annotations

import resource
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ingest.flows import get_flow
from ingest.flows.row_weights import fit_weighted
from ingest.reading.datasets import Dataset
from ingest.running.blocks import Split
from ingest.running.limits import MEBIBYTE, Outcome, Processes, run_limited
from ingest.running.scorer import scorer_of
from warehouse.support.arrays import Floats
from warehouse.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

TIMES = ("fit_seconds", "predict_seconds_per_1000_rows", "usercpu_time_millis", "wall_clock_time_millis")
"""Measures of what a run cost, which every evaluation has beside those of its task type."""


@dataclass(frozen=True)
class Limits:
    """Limits of one evaluation."""

    seconds: float
    """Wall-clock time."""
    memory: int
    """MiB."""
    cpu_seconds: float | None = None
    """Processor time; None = no limit of its own."""


@dataclass(frozen=True)
class Evaluation:
    """Result of fitting and testing a configuration."""

    outcome: Outcome
    seconds: float
    """Wall-clock time that it took."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Measure -> value, NaN where it does not exist; empty unless it succeeded."""
    predictions: Floats | None = field(default=None, repr=False)
    """(tested rows, k) what ensembles average, split after split; None where that is undefined or unknown."""
    message: str | None = None
    """Why it failed."""

    def value(self, measure: str) -> float | None:
        """The value of a measure; None where it failed, or the measure is not finite."""
        value = self.measures.get(measure, np.nan)
        return float(value) if np.isfinite(value) else None

    def record(self) -> dict[str, Any]:
        """JSON values of all but the predictions."""
        return {
            "outcome": str(self.outcome),
            "result": dict(self.measures) if self.outcome is Outcome.success else None,
            "message": self.message,
            "seconds": self.seconds,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Read what `record` returned.

        Raises:
            KeyError, TypeError, ValueError: it is no such record.
        """
        outcome, seconds, message = Outcome(record["outcome"]), record["seconds"], record["message"]
        return cls(outcome, seconds, dict(record["result"] or {}), message=message)


def evaluate(
    configuration: Configuration,
    dataset: Dataset,
    repetitions: Sequence[Sequence[Split]],
    limits: Limits,
    *,
    seed: int = 0,
    processes: Processes | None = None,
) -> Evaluation:
    """Fit and test a configuration on every split, in a process of its own that ends at the limits.

    Args:
        repetitions: the splits of each repetition, within which no row is tested twice; measures are means
            over repetitions. Predictions are kept where there is one repetition.
        seed: of the estimators.
        processes: of the owner who may end it; None = nobody.

    Raises:
        CancelledError: the owner ended it.
    """
    called = run_limited(
        _fit_and_test,
        configuration,
        dataset,
        repetitions,
        seed,
        seconds=limits.seconds,
        cpu_seconds=limits.cpu_seconds,
        memory=limits.memory * MEBIBYTE,
        processes=processes,
    )
    measures, predictions = called.result or ({}, None)
    return Evaluation(called.outcome, called.seconds, measures, predictions, called.message)


@contextmanager
def evaluations(executor: Executor | None, jobs: int) -> Iterator[Callable[..., Future[Evaluation]]]:
    """How evaluations are begun: on the executor, or else here, where their processes end with the block.

    What is yielded takes the arguments of `evaluate`. Threads are enough here: they only wait, since each
    evaluation has a process of its own.

    Args:
        jobs: evaluations at a time, where they are made here.
    """
    if executor is not None:
        yield lambda *arguments, **options: executor.submit(evaluate, *arguments, **options)
        return
    with ThreadPoolExecutor(jobs) as pool, Processes() as processes:
        try:
            yield lambda *arguments, **options: pool.submit(
                evaluate, *arguments, **options, processes=processes
            )
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # nobody waits for what an interrupted owner began


def _fit_and_test(
    configuration: Configuration, dataset: Dataset, repetitions: Iterable[Iterable[Split]], seed: int
) -> tuple[dict[str, float], Floats | None]:
    flow = get_flow(configuration.algorithm)
    new_pipeline = partial(flow.pipeline, configuration.values, dataset.roles, seed=seed)
    tested = [cross_validate(new_pipeline, dataset, splits) for splits in repetitions]
    if len(tested) == 1:
        return tested[0]
    first, *_ = (measures for measures, _ in tested)
    return {name: float(np.mean([measures[name] for measures, _ in tested])) for name in first}, None


def cross_validate(
    new_pipeline: Callable[[], BaseEstimator], dataset: Dataset, splits: Iterable[Split]
) -> tuple[dict[str, float], Floats | None]:
    """Fit and test a new pipeline on each split, in this process.

    `fit_seconds` is the mean over fits; `usercpu_time_millis` and `wall_clock_time_millis` cover fitting and
    predicting of all splits.

    Args:
        splits: rows to learn from and rows to test on; no row is tested twice.

    Returns:
        Measure -> value, NaN where it does not exist; and the (tested rows, k) predictions that ensembles
        average, split after split, None where pipelines give none.
    """
    scorer = scorer_of(dataset)
    outcomes = scorer.outcomes(dataset.target)
    folds, actual, fitting = [], [], []
    predicting = 0.0
    wall, cpu = time.perf_counter(), _cpu_seconds()
    with warnings.catch_warnings():
        # Not converged, rare class, constant column in a fold: the scores show the effect.
        warnings.simplefilter("ignore")
        for train, test in splits:
            pipeline, begun = new_pipeline(), time.perf_counter()
            weights = None if dataset.weights is None else dataset.weights[train]
            fit_weighted(pipeline, dataset.features.iloc[train], outcomes[train], weights)
            fitted = time.perf_counter()
            folds.append(scorer.predict(pipeline, dataset.features.iloc[test], outcomes, train))
            predicting += time.perf_counter() - fitted
            fitting.append(fitted - begun)
            actual.append(outcomes[test])
    wall, cpu = time.perf_counter() - wall, _cpu_seconds() - cpu
    kept = [scores for fold in folds if (scores := fold.averageable) is not None]
    measured = scorer.measures(folds, actual)
    measured = {
        **{name: measured[name] for name in dataset.task_type.measures},
        "fit_seconds": float(np.mean(fitting)),
        "predict_seconds_per_1000_rows": 1000 * predicting / sum(map(len, actual)),
        "usercpu_time_millis": 1000 * cpu,
        "wall_clock_time_millis": 1000 * wall,
    }
    return measured, np.concatenate(kept) if kept else None


def common_failure(evaluations: Iterable[Evaluation]) -> str | None:
    """Why all of these failed, most of them for this reason; None where one succeeded, or of none.

    >>> messages = ["ValueError: no", "OSError: disk full", "ValueError: no"]
    >>> common_failure(Evaluation(Outcome.crash, 0.1, message=message) for message in messages)
    'ValueError: no (2 of 3)'
    """
    reasons: Counter[str] = Counter()
    for one in evaluations:
        if one.outcome is Outcome.success:
            return None
        reasons[one.message or str(one.outcome)] += 1
    if not reasons:
        return None
    (reason, count), total = reasons.most_common(1)[0], reasons.total()
    return f"{reason} ({count} of {total})" if count < total else reason


def _cpu_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime
