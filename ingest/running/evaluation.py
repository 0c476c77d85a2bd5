"""Evaluation of one configuration on one dataset: fit, test and measure it on splits, within limits."""

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
"""Measures of a run's cost, added to those of the task type."""


@dataclass(frozen=True)
class Limits:
    """Limits of one evaluation."""

    seconds: float
    """Wall-clock time."""
    memory: int
    """MiB."""
    cpu_seconds: float | None = None
    """Processor time; None = no limit."""


@dataclass(frozen=True)
class Evaluation:
    """Result of fitting and testing a configuration."""

    outcome: Outcome
    seconds: float
    """Wall-clock time that it took."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Measure -> value, NaN where undefined; empty unless it succeeded."""
    predictions: Floats | None = field(default=None, repr=False)
    """(tested rows, k) predictions for ensembles, split after split; None if undefined or unknown."""
    message: str | None = None
    """Why it failed."""

    def value(self, measure: str) -> float | None:
        """The value of a measure; None if the evaluation failed or the measure is not finite."""
        value = self.measures.get(measure, np.nan)
        return float(value) if np.isfinite(value) else None

    def record(self) -> dict[str, Any]:
        """JSON values of all fields but the predictions."""
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
            KeyError, TypeError, ValueError: it is not such a record.
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
    """Fit and test a configuration on every split, in its own process, which is ended at the limits.

    Args:
        repetitions: the splits of each repetition, in which no row is tested twice; measures are means over
            repetitions. Predictions are kept if there is one repetition.
        seed: random seed of the estimators.
        processes: processes of the owner who may cancel it; None = nobody.

    Raises:
        CancelledError: the owner cancelled it.
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
    """Start evaluations on the executor, or else in local threads; local processes end with the block.

    It yields a function with the arguments of `evaluate`. Threads suffice here: they only wait, since each
    evaluation has its own process.

    Args:
        jobs: local evaluations at a time.
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
            pool.shutdown(wait=False, cancel_futures=True)  # after an interruption nobody waits


def _fit_and_test(
    configuration: Configuration, dataset: Dataset, repetitions: Iterable[Iterable[Split]], seed: int
) -> tuple[dict[str, float], Floats | None]:
    flow = get_flow(configuration.algorithm)
    new_pipeline = partial(flow.pipeline, configuration.values, dataset.roles, seed=seed, for_use=False)
    tested = [cross_validate(new_pipeline, dataset, splits) for splits in repetitions]
    if len(tested) == 1:
        return tested[0]
    first, *_ = (measures for measures, _ in tested)
    return {name: float(np.mean([measures[name] for measures, _ in tested])) for name in first}, None


def cross_validate(
    new_pipeline: Callable[[], BaseEstimator], dataset: Dataset, splits: Iterable[Split]
) -> tuple[dict[str, float], Floats | None]:
    """Fit and test a new pipeline on each split, in this process.

    `fit_seconds` is the mean over fits; `usercpu_time_millis` and `wall_clock_time_millis` cover all fits and
    predictions.

    Args:
        splits: training and test rows; no row is tested twice.

    Returns:
        Measure -> value, NaN where undefined; and (tested rows, k) predictions for ensembles, one
        split after the other, None if the pipelines give none.
    """
    scorer = scorer_of(dataset)
    outcomes = scorer.outcomes(dataset.target)
    folds, actual, fitting = [], [], []
    predicting = 0.0
    wall, cpu = time.perf_counter(), _cpu_seconds()
    with warnings.catch_warnings():
        # Missing convergence, rare classes and constant columns in a fold already show in the scores.
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
    """The most frequent reason if all evaluations failed; None if one succeeded, or there are none.

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
