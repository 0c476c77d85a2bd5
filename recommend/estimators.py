"""A scikit-learn classifier and a regressor that search for the best model of their data in limited time.

`fit` runs the search of `recommend.bo.tuning`; predictions come from its model.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from multiprocessing import current_process
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, InvalidParameterError
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from ingest.flows.row_weights import takes_weights
from ingest.reading.column_types.columns import label
from ingest.reading.datasets import Dataset
from ingest.reading.new_rows import Columns
from ingest.reading.tables import frame_of
from ingest.running.limits import start_server
from ingest.running.scorer import SCORERS
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.fitting import Fitted, Model, model_of
from recommend.bo.tuning.result import SearchResult
from recommend.bo.tuning.search import search_task
from recommend.bo.tuning.settings import PICKS, USUAL_SECONDS, Budget, Search
from recommend.bo.tuning.setup import Firsts, first_configurations
from recommend.calibration import fit_pipeline
from recommend.explaining.target_words import target_words
from recommend.labels import labels_of, numbers_of, target_name
from recommend.ranking.candidates import Candidates, find_candidates
from recommend.ranking.knowledge import gather
from recommend.ranking.target_kinds import target_kind
from recommend.ranking.task import RankingTask, describe_task
from recommend.recommendation import Recommendation
from recommend.recommender import recommended
from recommend.verification import head_of, verification_of
from warehouse.store import STARTER, Warehouse
from warehouse.support import console
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption, Failed, TooFewRuns, one_line
from warehouse.support.text import LONGEST_SECONDS, counted
from warehouse.vocabulary.measures import canonical_measure, measure_title
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

_OF_ROWS = ("recommendation_", "search_", "_table", "_known", "_candidates")
"""Attributes that hold the training rows, or facts about them."""
_NO_ROWS = "no training rows: call fit first (a pickle keeps none)"


class HeadstartEstimator(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn is untyped
    """An estimator that selects its configurations by meta-learning from runs on other datasets.

    `fit` takes a data frame with numbers, categories, booleans, dates, texts and missing values, or an array.
    `predict` warns about each column that has no value of the type seen in `fit`.
    Column roles are detected as for `recommend`; cast a column to `category` to treat numbers as categories.
    Infinite numbers count as missing.

    Args:
        time_budget: total seconds of `fit`, which ends earlier if there is nothing to gain. If they are too
            few for a search, a quick configuration is fitted on few rows.
        top: number of configurations of `recommendation_`.
        ensemble: size of the greedily selected ensemble (Caruana et al. 2004); 0 = the best configuration
            alone.
        scoring: measure to optimize: one of scikit-learn, such as "roc_auc", "neg_log_loss" or
            "neg_root_mean_squared_error", or of `warehouse.vocabulary.measures`; None = the default of
            `recommend` for the target. "f1" is the F1 of the classes, weighted by class size.
        warehouse: directory of the warehouse to learn from; None = the bundled starter, so that the start
            does not depend on recorded runs. The first use of a warehouse without a trained model takes half
            a minute more.
        record: whether to write the trials to the warehouse, or to the user's if it is None.
        split: `time=COLUMN` or `group=COLUMN` of `X`: trials split rows by it instead of at random, and test
            on later rows or on other groups. A group column is not used as a feature.
        n_jobs: number of parallel fits; None = 1, -1 = one per processor.
        random_state: seed of the search and of the fits.
        verbose: whether `fit` shows its progress on stderr: a line that is updated in a terminal or notebook,
            else one line per minute.
        budget: former name of `time_budget`, which still works.
        measure: former name of `scoring`, likewise.

    Attributes:
        n_features_in_: number of columns.
        feature_names_in_: their names, if all are text.
        search_: trials and model (`recommend.SearchResult`). It holds the rows, so a pickle leaves it out.
        recommendation_: the recommendation, updated with the trials (`recommend.Recommendation`). A pickle
            leaves it out, too.
        best_configuration_: the configuration with the largest weight.
        weights_: configuration -> its weight in the average, with sum 1, the largest first.
        measure_: our name of the optimized measure.
        value_: its expected value on new rows, estimated on rows not used by the selection; losses are
            positive, even if `scoring` negates them. None = unknown.
        pipelines_: fitted pipelines, in the order of `weights_`. If time was short, they are fitted on fewer
            rows (`search_.remarks`).
    """

    _task_type: ClassVar[TaskType]
    _target_name: ClassVar[str]
    """Name of an unnamed target."""
    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {
        "time_budget": [Interval(Real, 0, LONGEST_SECONDS, closed="right")],
        "top": [Interval(Integral, 1, None, closed="left")],
        "ensemble": [Interval(Integral, 0, None, closed="left")],
        "scoring": [str, None],
        "warehouse": [str, Path, None],
        "record": ["boolean"],
        "split": [str, None],
        "n_jobs": [
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "budget": [Interval(Real, 0, LONGEST_SECONDS, closed="right"), None],
        "measure": [str, None],
    }

    def __init__(
        self,
        time_budget: float = USUAL_SECONDS,
        top: int = 3,
        *,
        ensemble: int = PICKS,
        scoring: str | None = None,
        warehouse: str | Path | None = None,
        record: bool = False,
        split: str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
        budget: float | None = None,
        measure: str | None = None,
    ) -> None:
        self.time_budget = time_budget
        self.top = top
        self.ensemble = ensemble
        self.scoring = scoring
        self.warehouse = warehouse
        self.record = record
        self.split = split
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.budget = budget
        self.measure = measure

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find a configuration for these rows, and fit it on all of them.

        Rows of `X` and `y` are matched by position; indexes are ignored.

        Args:
            X: (n, columns) data frame (of pandas, polars, pyarrow, ...) or array.
            y: (n,) labels of the classes, or numbers.
            sample_weight: (n,) weights of the training rows in trials and model; algorithms that can't weight
                rows are left out. Test scores are unweighted, as in scikit-learn's searches. None = equal
                weights.

        Raises:
            BadInput: an invalid parameter, or no column to learn from.
            KeyboardInterrupt: the user interrupted it; its processes have ended.
        """
        with console.progress(quiet=not self.verbose) as show:
            show("describing the dataset")
            return self._fit(X, y, sample_weight, show)

    def _fit(self, X: Any, y: Any, sample_weight: Any, show: Callable[[str], None]) -> Self:
        """`fit`; `show` receives progress messages."""
        began = time.monotonic()
        seconds, measure = self._checked_parameters()
        deadline = Deadline(seconds, began)
        validate_data(self, frame_of(X), y, skip_check_array=True)  # it refuses a missing y
        # Daemons, such as workers of multiprocessing's pools, may not have children.
        may_search = not current_process().daemon
        if may_search:
            start_server()  # takes seconds, while the recommendation is made
        frame = self._frame(X, reset=True)
        weights = None
        if sample_weight is not None:
            if self.record:
                raise BadOption(
                    "record=True and sample_weight exclude each other: recorded runs have no weights"
                )
            weights = _check_sample_weight(sample_weight, frame, dtype=np.float64, ensure_non_negative=True)
        self._columns, features = Columns.read_first(frame)
        name = target_name(y, [*self._columns.roles], self._target_name)
        outcomes, target, shown = self._target(y, len(frame), name)
        self._table = frame.reset_index(drop=True).assign(**{name: shown})
        dataset = Dataset(
            name="frame",
            features=features,
            target=target,
            roles=self._columns.roles,
            target_choice=f"{name!r} is the target because it was given",
            note=None,
            source="data frame",
            weights=weights,
        )
        if self.split is not None:
            dataset = dataset.split_by(self.split)
            self._columns = replace(self._columns, roles=dataset.roles)
        self.__dict__.pop("recommendation_", None)
        self._known = gather(self._task(dataset, measure))
        self._candidates = find_candidates(self._known)
        if weights is not None:
            self._candidates = _with_weights(self._candidates)
        self._seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        flows = tuple(dict.fromkeys(one.algorithm for one in self._candidates.configurations))
        self.measure_ = self._known.task.asked
        search = Search(flows, self.measure_, ensemble=self.ensemble, seed=self._seed)
        firsts = first_configurations(search, self._known, self._candidates, deadline.left())
        fit = partial(
            fit_pipeline,
            features=features,
            outcomes=outcomes,
            roles=self._columns.roles,
            seed=self._seed,
            weights=weights,
        )
        self.search_: SearchResult | None = None
        if may_search:
            show(f"fitting the first recommendation, {console.duration(deadline.left())} left")
            self.search_ = search_task(
                self._known.task,
                self._known,
                self._candidates,
                search,
                Budget(seconds=seconds),
                firsts=firsts,
                fit=fit,
                deadline=deadline,
                jobs=effective_n_jobs(self.n_jobs),
                report=lambda progress: show(progress.line()),
            )
            if self.search_.interrupted:
                raise KeyboardInterrupt
        self.value_ = None if self.search_ is None else self.search_.value
        self._take(_fitted_here(firsts, fit) if self.search_ is None else self.search_.model)
        if self.record and self.search_ is not None:
            from recommend.bo.tuning.artifacts import record

            record(self.search_, Warehouse.create(self.warehouse))
        return self

    @cached_property
    def recommendation_(self) -> Recommendation:
        """The recommendation, updated with the trials of `fit`."""
        check_is_fitted(self, "_known", msg=_NO_ROWS)
        known, candidates = self._known, self._candidates
        verification = None
        if self.search_ is not None:
            verification = verification_of(self.search_, known, candidates, head_of(known, candidates))
        return recommended(known, candidates, self.top, verification=verification, explain=True)

    def _averaged(self, X: Any, predict: Callable[[Any, pd.DataFrame], Floats]) -> Floats:
        """(n, k) weighted averages of the pipelines' predictions."""
        check_is_fitted(self)
        rows = self._columns.read(self._frame(X, reset=False))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about categories unseen in training
            predicted = [predict(pipeline, rows) for pipeline in self.pipelines_]
        return SCORERS[self._task_type].average(predicted, [*self.weights_.values()]).scores

    @abstractmethod
    def _target(self, y: Any, n: int, name: str) -> tuple[np.ndarray, pd.Series, pd.Series]:
        """The (n,) target of pipelines; the same as a dataset's target, and as given by the user."""

    def explain(self) -> str:
        """The trials and the updated recommendation as text, with reasons and a legend.

        Raises:
            NotFittedError: it is not fitted.
        """
        check_is_fitted(self)
        if not hasattr(self, "_known"):  # a pickle keeps no rows
            return str(self._explanation)
        from recommend.reporting.terminal import in_words

        is_default = self.scoring is None and self.measure is None
        return in_words(self.recommendation_, is_default_measure=is_default, why=True, legend=True)

    def code(self) -> str:
        """Python source that cross-validates, fits, saves and predicts with the fitted model.

        It needs pandas, scikit-learn and the libraries of the algorithms, but not Headstart, and reads a
        CSV file of the same columns and the target: see `recommend.code`.

        Raises:
            NotFittedError: it is not fitted, or was unpickled.
            BadInput: pandas alone can't reproduce the rows from a CSV file, a classifier without
                probabilities is fitted on balanced classes, or rows have weights.
        """
        check_is_fitted(self, "_known", msg=_NO_ROWS)
        if self._known.task.dataset.weights is not None:
            raise BadOption("a script can't weight rows; fit without sample_weight to have one")
        from recommend.code import Origin, script

        model = self._known.model
        trials = 0 if self.search_ is None else len(self.search_.trials)
        shares = ", ".join(f"{weight:.2f}" for weight in self.weights_.values())
        measure, dataset = self.measure_, self._known.task.dataset
        value = None if self.value_ is None else target_words(dataset).measured(self.value_)
        expected = "" if value is None else f" Expected {measure_title(measure)}: {value}."
        origin = Origin(
            choice=f"Chosen by Headstart's {type(self).__name__}, after {counted(trials, 'trials')} on the "
            f"data and {counted(model.runs, 'runs')} on {counted(model.datasets, 'datasets')}.",
            expected=f"Weights: {shares}.{expected}",
            measure=measure,
        )
        return script(self.weights_, dataset, origin, seed=self._seed, frame=self._table)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """The fitted pipelines and the explanation, without the training rows."""
        state: dict[str, Any] = super().__getstate__()
        if "_known" in state:
            state = {**state, "_explanation": self.explain()}
        return {name: value for name, value in state.items() if name not in _OF_ROWS}

    def _html_repr(self) -> str:
        """scikit-learn's diagram, below model and trials if it is fitted and not unpickled."""
        search: SearchResult | None = getattr(self, "search_", None)
        return ("" if search is None else search._repr_html_()) + str(super()._html_repr())

    def _checked_parameters(self) -> tuple[float, str | None]:
        """The seconds of `fit` and the name of the measure.

        Raises:
            BadInput: a parameter is out of its range.
        """
        try:
            self._validate_params()
        except InvalidParameterError as error:
            raise BadOption(one_line(error)) from None
        seconds = self._renamed("time_budget", "budget", USUAL_SECONDS)
        measure = self._renamed("scoring", "measure", None)
        measures = self._task_type.measures
        if measure is not None and canonical_measure(measure) not in measures:
            raise BadOption(
                f"scoring {measure!r} can't be used to select a model; use one of {', '.join(measures)}"
            )
        if self.record:
            Warehouse.check_writable(self.warehouse)
        return seconds, measure

    def _renamed(self, name: str, earlier: str, default: Any) -> Any:
        """The value of a parameter that may be given under its former name."""
        value, old = getattr(self, name), getattr(self, earlier)
        if old is None:
            return value
        if value != default:
            raise BadOption(f"{earlier} is the earlier name of {name}; set {name} alone")
        return old

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """The rows as a data frame, with as many columns and the same names as before unless `reset`."""
        X = frame_of(X)
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        values = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        return pd.DataFrame(values, columns=[f"x{place}" for place in range(values.shape[1])]).infer_objects()

    def _task(self, dataset: Dataset, measure: str | None) -> RankingTask:
        warehouse = Warehouse.open(STARTER if self.warehouse is None else self.warehouse)
        measure = measure or target_kind(dataset).default_measure(warehouse)
        return describe_task(dataset, warehouse=warehouse, measure=measure, leave_out=False)

    def _take(self, model: Model | None) -> None:
        """Predict with this model from now on."""
        if model is None:
            raise Failed(" ".join([] if self.search_ is None else self.search_.remarks))
        self.weights_ = dict(model.weights)
        self.pipelines_ = [*model.pipelines.values()]
        self.best_configuration_ = next(iter(self.weights_))


class HeadstartClassifier(ClassifierMixin, HeadstartEstimator):  # type: ignore[misc]
    """A classifier that selects its configurations by meta-learning from runs on other datasets.

    Arguments and attributes are those of `HeadstartEstimator`, and:

    Attributes:
        classes_: (k,) labels of the classes, sorted.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> classifier = HeadstartClassifier(time_budget=1, random_state=0).fit(X, y)
        >>> bool(classifier.score(X, y) > 0.9)
        True
    """

    _task_type = CLASSIFICATION
    _target_name = "class"

    def predict(self, X: Any) -> np.ndarray:
        """(n,) the most probable class of each row."""
        probabilities = self.predict_proba(X)
        predicted: np.ndarray = self.classes_[probabilities.argmax(axis=1)]
        return predicted

    def predict_proba(self, X: Any) -> Floats:
        """(n, k) probability of each of `classes_`."""
        return self._averaged(X, lambda pipeline, rows: pipeline.predict_proba(rows))

    def predict_log_proba(self, X: Any) -> Floats:
        """(n, k) natural logarithm of the probability of each of `classes_`; -inf where it is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _target(self, y: Any, n: int, name: str) -> tuple[Positions, pd.Series, pd.Series]:
        y = labels_of(y)
        check_consistent_length(range(n), y)
        self.classes_, found = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has 1 class; a classifier needs two or more")
        codes = np.asarray(found, dtype=np.intp)
        words = [label(one) for one in self.classes_.tolist()]
        if len(set(words)) < len(words):  # 1 and "1"
            words = [str(place) for place in range(len(words))]
        target = pd.Categorical.from_codes(codes, categories=pd.Index(words, dtype="str"))
        return codes, pd.Series(target, name=name), pd.Series(self.classes_[codes], name=name)


class HeadstartRegressor(RegressorMixin, HeadstartEstimator):  # type: ignore[misc]
    """A regressor that selects its configurations by meta-learning from runs on other datasets.

    Arguments and attributes are those of `HeadstartEstimator`.

    Example:
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> regressor = HeadstartRegressor(time_budget=1, random_state=0).fit(X, y)
        >>> bool(regressor.score(X, y) > 0.3)
        True
    """

    _task_type = REGRESSION
    _target_name = "target"

    def predict(self, X: Any) -> Floats:
        """(n,) the predicted number of each row."""
        predicted: Floats = self._averaged(X, lambda pipeline, rows: pipeline.predict(rows)[:, None])[:, 0]
        return predicted

    def _target(self, y: Any, n: int, name: str) -> tuple[Floats, pd.Series, pd.Series]:
        numbers = numbers_of(y)
        check_consistent_length(range(n), numbers)
        target = pd.Series(numbers, name=name)
        return numbers, target, target


def _fitted_here(firsts: Firsts, fit: partial[Any]) -> Model | None:
    """The first configuration that can be fitted, in this process.

    Raises:
        Failed: none can.
    """
    failure: Exception | None = None
    for one in dict.fromkeys([*firsts.members, *firsts.fallbacks]):
        try:
            return model_of({one: 1.0}, {one: Fitted(fit(one, None), len(fit.keywords["outcomes"]))})
        except Exception as error:  # noqa: BLE001 (libraries raise anything; the next one may work)
            failure = error
    raise Failed(f"no configuration could be fitted: {one_line(failure)}") from failure


def _with_weights(candidates: Candidates) -> Candidates:
    """The candidates of algorithms that can weight rows.

    Raises:
        TooFewRuns: there is none.
    """
    kept = [takes_weights(one.algorithm) for one in candidates.configurations]
    if not any(kept):
        raise TooFewRuns("no algorithm of the warehouse can weight rows: fit without sample_weight")
    return candidates.take(np.flatnonzero(kept))
