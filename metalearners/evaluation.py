"""How good a meta-learner is: leave one dataset out, predict the scores of its runs, compare.

Every learner is judged by this one protocol. A fold's learner is given the runs and the meta-features of
the other datasets only, and learns its encoding from them; nothing is shared between folds.

Notation
    predicted, actual   (m,) predicted score and actual value of a dataset's runs; larger is better
    tau                 Kendall's tau-b between them, from -1 to 1; where it is undefined it counts 0
    regret of the top k (best of all - best of the k highest predicted) / (best - worst of all), from 0 to 1,
                        smaller is better; where all runs are equal it is 0
    interval            95 % confidence interval of a mean over datasets, by Student's t
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metalearners import new_learner
from metalearners.base import oriented, select_runs, without_datasets
from warehouse.errors import BadInput
from warehouse.queries import RunTable

TOPS = (1, 3, 5)
"""Numbers of first picks for which regret is reported."""


class Interval(NamedTuple):
    """A mean over datasets with its confidence interval; NaN limits where one dataset is all there is."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class DatasetResult:
    """How well the runs of one left-out dataset were predicted."""

    dataset: str
    runs: int
    tau: float
    regret: Mapping[int, float]
    """Number of first picks -> normalized regret."""


@dataclass(frozen=True)
class Evaluation:
    """The results of all left-out datasets."""

    per_dataset: Sequence[DatasetResult]

    @property
    def tau(self) -> Interval:
        return interval([result.tau for result in self.per_dataset])

    def regret(self, top: int) -> Interval:
        """Regret of the best of the `top` highest predicted runs."""
        return interval([result.regret[top] for result in self.per_dataset])


def evaluate(
    runs: RunTable,
    metafeatures: pd.DataFrame,
    learner: str,
    settings: Mapping[str, Any] | None = None,
    *,
    datasets: Sequence[str] | None = None,
    jobs: int = 1,
    on_result: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Leave each dataset out in turn.

    Args:
        settings: of the learner; those left out have their default.
        datasets: the ones to leave out and judge by, None = all. The others are always learned from.
        jobs: processes that work at the same time; the result does not depend on it.
        on_result: called with the number of datasets done and their total.

    Raises:
        BadInput: fewer than two datasets, or one of `datasets` has no run.
    """
    known = runs.runs["dataset"].unique().tolist()
    left_out = known if datasets is None else list(datasets)
    strangers = [dataset for dataset in left_out if dataset not in set(known)]
    if strangers:
        raise BadInput(f"no run on dataset {strangers[0]!r} has {runs.measure}")
    if len(known) < 2 or not left_out:
        raise BadInput("leaving one dataset out takes runs on two datasets or more")
    new_learner(learner, settings)  # complain about a name or setting before any work
    results = []
    for result in _fold_results(partial(_fold, runs, metafeatures, learner, settings), left_out, jobs):
        results.append(result)
        if on_result is not None:
            on_result(len(results), len(left_out))
    return Evaluation(results)


def _fold_results(
    fold: Callable[[str], DatasetResult], left_out: Sequence[str], jobs: int
) -> Iterator[DatasetResult]:
    if jobs == 1:
        yield from map(fold, left_out)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=jobs, return_as="generator")(delayed(fold)(dataset) for dataset in left_out)


def _fold(
    runs: RunTable,
    metafeatures: pd.DataFrame,
    learner: str,
    settings: Mapping[str, Any] | None,
    dataset: str,
) -> DatasetResult:
    """Learn from all other datasets and judge by `dataset`."""
    own = select_runs(runs, (runs.runs["dataset"] == dataset).to_numpy())
    others = metafeatures.drop(index=dataset, errors="ignore")
    trained = new_learner(learner, settings).fit(without_datasets(runs, [dataset]), others)
    expected = trained.predict(own.configurations, metafeatures.reindex([dataset]).iloc[0]).mean
    predicted = expected[own.configurations.index.get_indexer(pd.Index(own.runs["setup"]))]
    actual = oriented(own.runs["value"].to_numpy(np.float64), runs.measure)
    return DatasetResult(
        dataset=dataset,
        runs=len(actual),
        tau=kendall_tau(predicted, actual),
        regret={top: normalized_regret(predicted, actual, top) for top in TOPS},
    )


def kendall_tau(predicted: np.ndarray, actual: np.ndarray) -> float:
    """Kendall's tau-b; 0 where it is undefined, because one side does not vary."""
    from scipy.stats import kendalltau

    if np.ptp(predicted) == 0 or np.ptp(actual) == 0:
        return 0.0
    return float(kendalltau(predicted, actual, variant="b").statistic)


def normalized_regret(predicted: np.ndarray, actual: np.ndarray, top: int) -> float:
    """Regret of the best of the `top` highest predicted runs; of equal predictions the first come first."""
    best, worst = actual.max(), actual.min()
    if best == worst:
        return 0.0
    picked = np.argsort(-predicted, kind="stable")[:top]
    return float((best - actual[picked].max()) / (best - worst))


def interval(values: Sequence[float]) -> Interval:
    """Mean and 95 % confidence interval by Student's t, which takes the values for a sample of datasets."""
    from scipy.stats import t

    mean = float(np.mean(values))
    if len(values) < 2:
        return Interval(mean, np.nan, np.nan)
    half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return Interval(mean, mean - half, mean + half)
