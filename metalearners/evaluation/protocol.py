"""Evaluation protocol: leave datasets out, predict the scores of their runs, compare.

Every learner is evaluated by this protocol. It leaves out one dataset at a time or one fold of families,
which takes fewer trainings. The learner is fitted and encodes configurations from the runs and meta-features
of datasets of other families only. Folds share the calibration that a `CalibratedLearner` finds on all
datasets: factors of standard deviations, no number of any dataset. Tau and regret do not depend on it.

Notation
    predicted, actual   (m,) predicted score and actual value of a dataset's runs; larger is better
    tau                 Kendall's tau-b between them, from -1 to 1; 0 where undefined
    regret of the top k (best of all - best of the learner's first k choices) / (best - worst of all), from
                        0 to 1, smaller is better; 0 if all runs are equal
    error               root mean square of predicted - actual (thesis, Figure 6.1): in values of the measure
                        if the model estimates them, else in scores within the dataset; halved for kappa,
                        whose range is -1 to 1 (thesis, section 6.2.1)
    coverage            share of the runs whose standard score lies in the 80 % interval of its prediction
    shots               runs of the left-out dataset given to the learner as trials: random ones, or one
                        after another the one with the best prediction; then tau of the other runs
    interval            95 % confidence interval of a mean over datasets, by Student's t
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import pandas as pd

from metalearners import new_learner
from metalearners.encoding.scores import Z80, standard_scores
from metalearners.encoding.training_data import runs_checksum, runs_on, without_datasets
from metalearners.evaluation.folds import folds_of
from metalearners.learners.base import MetaLearner, Model
from metalearners.learners.boosting import BoostedTrees
from metalearners.learners.calibrated import CalibratedLearner, CalibratedModel, Calibration
from metalearners.predictions import Observations, Prediction, Predictor
from warehouse.questions.queries import RunTable
from warehouse.support.errors import BadOption, TooFewRuns
from warehouse.support.journal import Journal
from warehouse.support.parallel import side_by_side

TOPS = (1, 3, 5)
"""Numbers of first choices for which regret is reported."""
FOLDS = 10
MANY = 150
"""With more left-out datasets than this, `FOLDS` folds are the default."""
REPETITIONS = 5
"""Number of random draws of trials over which tau is averaged."""

ErrorIn = Literal["values", "scores"]
Policy = Literal["random", "chosen"]
_UNIT = {"kappa": 0.5}
"""Factor of a measure that scales its range to length 1 (thesis, section 6.2.1)."""


class Interval(NamedTuple):
    """A mean over datasets with its confidence interval; the limits of a single dataset are NaN."""

    mean: float
    low: float
    high: float

    def document(self) -> dict[str, float | None]:
        """JSON values, null for NaN."""
        return {name: None if np.isnan(part) else part for name, part in self._asdict().items()}


@dataclass(frozen=True)
class DatasetResult:
    """How well the runs of a left-out dataset were predicted."""

    dataset: str
    runs: int
    tau: float
    regret: Mapping[int, float]
    """Normalized regret by number of first choices."""
    choices: Sequence[str]
    """Setups of the first choices, in order."""
    error: float
    """Root mean squared error of the predictions."""
    error_in: ErrorIn
    """Unit of the error: values of the measure, or scores within the dataset."""
    coverage: float | None
    """Share of the runs within the 80 % interval; None if the learner states no uncertainty."""
    shots: Mapping[Policy, Mapping[int, float]]
    """Tau of the other runs, by how trials were chosen and by their number."""


@dataclass(frozen=True)
class LearnerEvaluation:
    """The results of all left-out datasets."""

    per_dataset: Sequence[DatasetResult]
    folds: int = 0
    """Number of folds of families; 0 = one dataset left out at a time."""

    @property
    def tau(self) -> Interval:
        return interval([result.tau for result in self.per_dataset])

    @property
    def error(self) -> Interval:
        return interval([result.error for result in self.per_dataset])

    @property
    def coverage(self) -> Interval | None:
        """Mean coverage over datasets whose runs differ; None if the learner states no uncertainty."""
        known = [result.coverage for result in self.per_dataset if result.coverage is not None]
        return interval(known) if known else None

    def regret(self, top: int) -> Interval:
        """Regret of the best of the learner's first `top` choices."""
        return interval([result.regret[top] for result in self.per_dataset])

    def tau_after(self, shots: int, policy: Policy) -> Interval:
        """Tau of the other runs after this many trials."""
        return interval([result.shots[policy][shots] for result in self.per_dataset])


def evaluate(
    runs: RunTable,
    metafeatures: pd.DataFrame,
    learner: str,
    settings: Mapping[str, Any] | None = None,
    *,
    datasets: Sequence[str] | None = None,
    folds: int | None = None,
    shots: Sequence[int] = (),
    seed: int = 0,
    jobs: int = 1,
    executor: Executor | None = None,
    journal: Journal | None = None,
    on_result: Callable[[int, int], None] | None = None,
) -> LearnerEvaluation:
    """Leave datasets out, one at a time or in folds of families.

    Args:
        settings: of the learner; the others keep their defaults.
        datasets: to leave out and evaluate on; None = all. The others are always in the training set.
        folds: number of folds of families (`metalearners.evaluation.folds`); 0 = one dataset at a time;
            None = `usual_folds`.
        shots: numbers of trials on the left-out dataset after which to evaluate again.
        seed: of the random trials; the same for every learner.
        jobs: number of folds evaluated in parallel; does not affect the result.
        executor: runs the folds, such as a Dask client's `get_executor()`; None = processes on this machine.
        journal: stores each dataset's result immediately; results of the same evaluation that it already
            holds are reused.
        on_result: called with the number of datasets done and their total.

    Raises:
        BadInput: fewer than two datasets, one of `datasets` has no run, or `journal` belongs to another
            evaluation.
    """
    known = runs.runs["dataset"].unique().tolist()
    left_out = known if datasets is None else list(datasets)
    strangers = [dataset for dataset in left_out if dataset not in set(known)]
    if strangers:
        raise TooFewRuns(f"no run on dataset {strangers[0]!r} has {runs.measure}")
    if len(known) < 2 or not left_out:
        raise TooFewRuns("leaving one dataset out needs runs on two datasets or more")
    untrained = new_learner(learner, settings)  # fails early on unknown names or settings
    folds = usual_folds(left_out) if folds is None else folds
    protocol = {
        "learner": learner,
        "settings": untrained.settings,
        "flow": runs.flow,
        "measure": runs.measure,
        "runs": runs_checksum(runs),
        "shots": sorted(set(shots)),
        "seed": seed,
        **({"folds": folds} if folds else {}),
    }
    done = _begun(journal, protocol)
    missing = [dataset for dataset in left_out if dataset not in done]
    calibration = None
    if missing and isinstance(untrained, CalibratedLearner):
        calibration = cast("CalibratedModel", untrained.fit(runs, metafeatures)).calibration
    fold = partial(_fold, runs, metafeatures, untrained, calibration, tuple(sorted(set(shots))), seed)
    numbers = folds_of(runs, folds).loc[missing] if folds else pd.Series(range(len(missing)), missing)
    together = [own.index.tolist() for _, own in numbers.groupby(numbers)]
    for results in side_by_side(fold, together, jobs, executor):
        for result in results:
            done[result.dataset] = result
            if journal is not None:
                journal.append(asdict(result))
        if on_result is not None:
            on_result(len(done), len(left_out))
    return LearnerEvaluation([done[dataset] for dataset in left_out], folds)


def usual_folds(left_out: Sequence[str]) -> int:
    """The default number of folds: 0 (one dataset at a time), or `FOLDS` for many datasets."""
    return FOLDS if len(left_out) > MANY else 0


def _begun(journal: Journal | None, protocol: Mapping[str, Any]) -> dict[str, DatasetResult]:
    """Results of an interrupted evaluation in `journal`, by dataset; begins the journal if it is empty."""
    if journal is None:
        return {}
    records = list(journal.records())
    if not records:
        journal.append(dict(protocol))
        return {}
    if records[0] != json.loads(json.dumps(protocol)):
        raise BadOption(f"{journal.path} belongs to another evaluation: remove it, or give another file")
    return {record["dataset"]: _result(record) for record in records[1:]}


def _result(record: Mapping[str, Any]) -> DatasetResult:
    numbered = {policy: _by_number(taus) for policy, taus in record["shots"].items()}
    return DatasetResult(**{**record, "regret": _by_number(record["regret"]), "shots": numbered})


def _by_number(values: Mapping[str, float]) -> dict[int, float]:
    return {int(number): value for number, value in values.items()}


def _fold(
    runs: RunTable,
    metafeatures: pd.DataFrame,
    learner: MetaLearner,
    calibration: Calibration | None,
    shots: Sequence[int],
    seed: int,
    datasets: Sequence[str],
) -> list[DatasetResult]:
    """Learn from datasets of other families, and evaluate on each of these."""
    others = without_datasets(runs, datasets), metafeatures.drop(index=datasets, errors="ignore")
    model: Model
    if calibration is not None and isinstance(learner, CalibratedLearner):
        model = learner.refit(calibration, datasets, *others)
    else:
        model = learner.fit(*others)
    return [
        _judged(model, _NewDataset(runs, metafeatures, dataset), runs.measure, shots, seed)
        for dataset in datasets
    ]


def _judged(model: Model, new: _NewDataset, measure: str, shots: Sequence[int], seed: int) -> DatasetResult:
    """Evaluate a model on a held-out dataset."""
    expected = new.predicted_by(model)
    error, error_in = estimation_error(model, expected, new, measure)
    chosen = model.choose(new.configurations, new.metafeatures, max(TOPS))
    return DatasetResult(
        dataset=new.name,
        runs=len(new.actual),
        tau=kendall_tau(expected.mean, new.actual),
        regret={top: normalized_regret(chosen[:top], new.actual) for top in TOPS},
        choices=new.configurations.setups[chosen].tolist(),
        error=error,
        error_in=error_in,
        coverage=coverage(expected, new.actual),
        shots=_taus_after_trials(model, new, shots, seed) if shots else {},
    )


class _NewDataset:
    """The runs of the left-out dataset."""

    def __init__(self, runs: RunTable, metafeatures: pd.DataFrame, dataset: str) -> None:
        self.name = dataset
        self.configurations, self.actual = runs_on(runs, dataset)
        self.metafeatures = metafeatures.reindex([dataset]).iloc[0]

    def predicted_by(self, predictor: Predictor) -> Prediction:
        """Predictions for all runs."""
        return predictor.predict(self.configurations, self.metafeatures)

    def trials(self, rows: np.ndarray) -> Observations:
        """The runs at these positions as trials."""
        return Observations(self.configurations.take(rows), self.actual[rows])


def _taus_after_trials(
    model: Model, new: _NewDataset, shots: Sequence[int], seed: int
) -> dict[Policy, dict[int, float]]:
    """Tau of the untried runs by choice and number of trials, mean over the random orders."""
    name = zlib.crc32(new.name.encode())
    streams = [np.random.default_rng([seed, name, repetition]) for repetition in range(REPETITIONS)]
    orders: dict[Policy, list[np.ndarray]] = {
        "random": [random.permutation(len(new.actual)) for random in streams],
        "chosen": [_chosen_order(model, new, max(shots))],
    }
    return {
        policy: {
            number: float(np.mean([_tau_of_rest(model, new, order[:number]) for order in of_policy]))
            for number in shots
        }
        for policy, of_policy in orders.items()
    }


def _chosen_order(model: Model, new: _NewDataset, shots: int) -> np.ndarray:
    """Runs in the order in which the learner would try them: always the one with the best prediction."""
    order: list[int] = []
    while len(order) < min(shots, len(new.actual)):
        tried = np.array(order, dtype=np.intp)
        expected = new.predicted_by(model.condition(new.trials(tried))).mean.copy()
        expected[tried] = -np.inf
        order.append(int(expected.argmax()))
    return np.array(order, dtype=np.intp)


def _tau_of_rest(model: Model, new: _NewDataset, tried: np.ndarray) -> float:
    rest = np.setdiff1d(np.arange(len(new.actual)), tried)
    expected = new.predicted_by(model.condition(new.trials(tried))).mean
    return kendall_tau(expected[rest], new.actual[rest])


def estimation_error(
    model: Model, expected: Prediction, new: _NewDataset, measure: str
) -> tuple[float, ErrorIn]:
    """Root mean squared error of the predictions of a dataset's runs, and its unit."""
    values = model.values(new.configurations, new.metafeatures) if isinstance(model, BoostedTrees) else None
    if values is None:
        return root_mean_square(expected.mean - standard_scores(new.actual)), "scores"
    return root_mean_square(values - new.actual) * _UNIT.get(measure, 1.0), "values"


def root_mean_square(differences: np.ndarray) -> float:
    """Root of the mean of squares."""
    return float(np.sqrt(np.mean(differences**2)))


def coverage(predicted: Prediction, actual: np.ndarray) -> float | None:
    """Share of `actual`, in standard scores, within the 80 % intervals; None without intervals or scores."""
    if predicted.std is None or np.ptp(actual) == 0:
        return None
    scores = standard_scores(actual)
    return float((np.abs(scores - predicted.mean) <= Z80 * predicted.std).mean())


def kendall_tau(predicted: np.ndarray, actual: np.ndarray) -> float:
    """Kendall's tau-b; 0 where undefined because one side is constant."""
    from scipy.stats import kendalltau

    if len(actual) < 2 or np.ptp(predicted) == 0 or np.ptp(actual) == 0:
        return 0.0
    return float(kendalltau(predicted, actual, variant="b").statistic)


def normalized_regret(picked: np.ndarray, actual: np.ndarray) -> float:
    """Distance from the best of `picked`, positions of runs, to the best of all, over the range of all."""
    best, worst = actual.max(), actual.min()
    if best == worst:
        return 0.0
    return float((best - actual[picked].max()) / (best - worst))


def interval(values: Sequence[float]) -> Interval:
    """Mean and 95 % confidence interval by Student's t, with the datasets as a random sample."""
    from scipy.stats import t

    mean = float(np.mean(values))
    if len(values) < 2:
        return Interval(mean, np.nan, np.nan)
    half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return Interval(mean, mean - half, mean + half)
