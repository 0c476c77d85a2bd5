"""A scikit-learn classifier and a regressor that search for the best model of their data, within a time.

Everything happens in `fit`: it is the search of `recommend.bo.tuning`, whose model it predicts with.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from multiprocessing import current_process
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

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
from recommend.bo.tuning.settings import PICKS, Budget, Search
from recommend.bo.tuning.setup import Firsts, first_configurations
from recommend.calibration import fit_pipeline
from recommend.labels import labels_of, numbers_of, target_name
from recommend.ranking.candidates import find_candidates
from recommend.ranking.knowledge import gather
from recommend.ranking.target_kinds import target_kind
from recommend.ranking.task import RankingTask, describe_task
from recommend.recommendation import Recommendation
from recommend.recommender import recommended
from recommend.verification import head_of, verification_of
from warehouse.store import STARTER, Warehouse
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption, Failed, one_line
from warehouse.support.text import LONGEST_SECONDS, counted
from warehouse.vocabulary.measures import canonical_measure
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

_OF_ROWS = ("recommendation_", "search_", "_table", "_known", "_candidates")
"""Attributes that hold the training rows, or facts about them."""


class HeadstartEstimator(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn is untyped
    """An estimator that finds its configuration with what runs on other datasets taught.

    `fit` takes a data frame with numbers, categories, booleans, dates, texts and missing values, or an array.
    `predict` warns of each column of which no value is of the form that it had in `fit`.
    Roles of columns are told as for `recommend`; cast a column to `category` to have numbers taken as
    categories. Infinite numbers count as missing.

    Args:
        budget: seconds that `fit` takes in all, or less where there is nothing to gain. Where they suffice
            for nothing else, a quick configuration is fitted on few rows.
        top: number of configurations of `recommendation_`.
        ensemble: picks of the ensemble (Caruana et al. 2004), whose predictions are averaged; 0 = the best
            configuration alone.
        measure: what to be good at, a name or an alias of `warehouse.vocabulary.measures`; None = that of
            `recommend` for such a target.
        warehouse: directory of the warehouse to learn from; None = the bundled starter, so that the same rows
            give the same start whatever was recorded before. The first use of one that has no trained model
            takes half a minute more.
        record: whether the trials are written to the warehouse, or to the user's where it is None.
        split: `time=COLUMN` or `group=COLUMN` of `X`, by which trials split rows in place of at random: they
            test on later rows, or on rows of other groups. A group is not learned from.
        n_jobs: fits at the same time; None = 1, -1 = one a processor.
        random_state: seed of the search and of what is fitted.

    Attributes:
        n_features_in_: number of columns.
        feature_names_in_: their names, where all are text.
        search_: trials and choice (`recommend.SearchResult`). It holds the rows, so a pickle leaves it out.
        recommendation_: what is recommended after the trials (`recommend.Recommendation`). A pickle leaves it
            out, too.
        best_configuration_: the configuration with the largest weight.
        weights_: configuration -> its weight in the average, with sum 1, the largest first.
        pipelines_: fitted pipelines, in the order of `weights_`. Where there was no time for all rows, they
            are fitted on as many as there was time for (`search_.remarks`).
    """

    _task_type: ClassVar[TaskType]
    _target_name: ClassVar[str]
    """Name of a target without one."""
    _in_place_of_weights: ClassVar[str]
    """What to do in place of weighting rows."""

    def __init__(
        self,
        budget: float = 60.0,
        top: int = 3,
        *,
        ensemble: int = PICKS,
        measure: str | None = None,
        warehouse: str | Path | None = None,
        record: bool = False,
        split: str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.budget = budget
        self.top = top
        self.ensemble = ensemble
        self.measure = measure
        self.warehouse = warehouse
        self.record = record
        self.split = split
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **unknown: Any) -> Self:
        """Find a configuration for these rows, and fit it on all of them.

        Rows of `X` and `y` belong together by their position, whatever their indexes say.

        Args:
            X: (n, columns) data frame (of pandas, polars, pyarrow, ...) or array.
            y: (n,) labels of the classes, or numbers.
            unknown: refused, and so are weights of rows (`sample_weight`).

        Raises:
            BadInput: a parameter that can't be, or no column to learn from.
            KeyboardInterrupt: the user ended it; nothing that it began goes on.
        """
        deadline = Deadline(self.budget, time.monotonic())
        self._check_parameters()
        _refuse_fit_parameters(unknown, self._in_place_of_weights)
        validate_data(self, frame_of(X), y, skip_check_array=True)  # which refuses to do without y
        # Daemons, such as workers of multiprocessing's pools, may not have children.
        may_search = not current_process().daemon
        if may_search:
            start_server()  # takes seconds, beside the recommendation
        frame = self._frame(X, reset=True)
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
        )
        if self.split is not None:
            dataset = dataset.split_by(self.split)
            self._columns = replace(self._columns, roles=dataset.roles)
        self.__dict__.pop("recommendation_", None)
        self._known = gather(self._task(dataset))
        self._candidates = find_candidates(self._known)
        self._seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        flows = tuple(dict.fromkeys(one.algorithm for one in self._candidates.configurations))
        search = Search(flows, self._known.task.asked, ensemble=self.ensemble, seed=self._seed)
        firsts = first_configurations(search, self._known, self._candidates, deadline.left())
        fit = partial(
            fit_pipeline, features=features, outcomes=outcomes, roles=self._columns.roles, seed=self._seed
        )
        self.search_: SearchResult | None = None
        if may_search:
            self.search_ = search_task(
                self._known.task,
                self._known,
                self._candidates,
                search,
                Budget(seconds=self.budget),
                firsts=firsts,
                fit=fit,
                deadline=deadline,
                jobs=effective_n_jobs(self.n_jobs),
            )
            if self.search_.interrupted:
                raise KeyboardInterrupt
        self._take(_fitted_here(firsts, fit) if self.search_ is None else self.search_.model)
        if self.record and self.search_ is not None:
            from recommend.bo.tuning.artifacts import record

            record(self.search_, Warehouse.create(self.warehouse))
        return self

    @cached_property
    def recommendation_(self) -> Recommendation:
        """What is recommended after the trials of `fit`."""
        check_is_fitted(self, "_known", msg="no recommendation: call fit first (a pickle keeps none)")
        known, candidates = self._known, self._candidates
        verification = None
        if self.search_ is not None:
            verification = verification_of(self.search_, known, candidates, head_of(known, candidates))
        return recommended(known, candidates, self.top, verification=verification)

    def _averaged(self, X: Any, predict: Callable[[Any, pd.DataFrame], Floats]) -> Floats:
        """(n, k) weighted averages of what each pipeline predicts."""
        check_is_fitted(self)
        rows = self._columns.read(self._frame(X, reset=False))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of categories that the first rows did not have
            predicted = [predict(pipeline, rows) for pipeline in self.pipelines_]
        return SCORERS[self._task_type].average(predicted, [*self.weights_.values()]).scores

    @abstractmethod
    def _target(self, y: Any, n: int, name: str) -> tuple[np.ndarray, pd.Series, pd.Series]:
        """What pipelines are fitted to, (n,); the same as a dataset's target, and as the user gave it."""

    def explain(self) -> str:
        """The recommendation after the trials, with its reasons, as `recommend` prints it.

        Raises:
            NotFittedError: it is not fitted, or comes out of a pickle.
        """
        from recommend.reporting.terminal import in_words

        return in_words(self.recommendation_, is_default_measure=self.measure is None, details=False)

    def code(self) -> str:
        """Python source that cross-validates, fits, saves and predicts with what was fitted here.

        It needs pandas, scikit-learn and the libraries of the algorithms, none of our packages, and reads a
        CSV file of the same columns and the target: see `recommend.code`.

        Raises:
            NotFittedError: it is not fitted, or comes out of a pickle.
            BadInput: pandas alone can't read a CSV file of the rows as they were taken here, or a classifier
                that gives no probabilities is fitted on balanced classes.
        """
        check_is_fitted(self, "_known", msg="no training rows: call fit first (a pickle keeps none)")
        from recommend.code import Origin, model_script

        model = self._known.model
        value = None if self.search_ is None else self.search_.value
        trials = 0 if self.search_ is None else len(self.search_.trials)
        shares = ", ".join(f"{weight:.2f}" for weight in self.weights_.values())
        measure, dataset = self._known.task.asked, self._known.task.dataset
        expected = "" if value is None else f" Expected {measure}: {target_kind(dataset).measured(value)}."
        origin = Origin(
            choice=f"Chosen by Headstart's {type(self).__name__}, after {counted(trials, 'trials')} on the "
            f"data and {counted(model.runs, 'runs')} on {counted(model.datasets, 'datasets')}.",
            expected=f"Weights: {shares}.{expected}",
            measure=measure,
        )
        return model_script(self.weights_, dataset, origin, seed=self._seed, frame=self._table)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """The fitted pipelines, without the training rows."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _OF_ROWS}

    def _check_parameters(self) -> None:
        if not 0 < self.budget <= LONGEST_SECONDS:
            raise BadOption(
                f"budget must be more than 0 seconds and at most {LONGEST_SECONDS:.0f}, not {self.budget}"
            )
        if self.top < 1:
            raise BadOption(f"top must be 1 or more, not {self.top}")
        if self.ensemble < 0:
            raise BadOption(f"ensemble must be 0 or more picks, not {self.ensemble}")
        measures = self._task_type.measures
        if self.measure is not None and (measure := canonical_measure(self.measure)) not in measures:
            raise BadOption(
                f"measure {measure!r} can't be used to select a model; use one of {', '.join(measures)}"
            )
        if self.record:
            Warehouse.check_writable(self.warehouse)

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """The rows as a data frame, with as many columns and the same names as before unless `reset`."""
        X = frame_of(X)
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        values = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        return pd.DataFrame(values, columns=[f"x{place}" for place in range(values.shape[1])]).infer_objects()

    def _task(self, dataset: Dataset) -> RankingTask:
        warehouse = Warehouse.open(STARTER if self.warehouse is None else self.warehouse)
        measure = self.measure or target_kind(dataset).default_measure(warehouse)
        return describe_task(dataset, warehouse=warehouse, measure=measure, leave_out=False)

    def _take(self, model: Model | None) -> None:
        """Predict with this model from now on."""
        if model is None:
            raise Failed(" ".join([] if self.search_ is None else self.search_.remarks))
        self.weights_ = dict(model.weights)
        self.pipelines_ = [*model.pipelines.values()]
        self.best_configuration_ = next(iter(self.weights_))


class HeadstartClassifier(ClassifierMixin, HeadstartEstimator):  # type: ignore[misc]
    """A classifier that finds its configuration with what runs on other datasets taught.

    Arguments and attributes are those of `HeadstartEstimator`, and:

    Attributes:
        classes_: (k,) labels of the classes, sorted.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> classifier = HeadstartClassifier(budget=1, random_state=0).fit(X, y)
        >>> bool(classifier.score(X, y) > 0.9)
        True
    """

    _task_type = CLASSIFICATION
    _target_name = "class"
    _in_place_of_weights = "leave it out, and set measure='balanced_accuracy' if classes should count equally"

    def predict(self, X: Any) -> np.ndarray:
        """(n,) the most probable class of each row."""
        probabilities = self.predict_proba(X)
        predicted: np.ndarray = self.classes_[probabilities.argmax(axis=1)]
        return predicted

    def predict_proba(self, X: Any) -> Floats:
        """(n, k) probability of each of `classes_`."""
        return self._averaged(X, lambda pipeline, rows: pipeline.predict_proba(rows))

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
    """A regressor that finds its configuration with what runs on other datasets taught.

    Arguments and attributes are those of `HeadstartEstimator`.

    Example:
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> regressor = HeadstartRegressor(budget=1, random_state=0).fit(X, y)
        >>> bool(regressor.score(X, y) > 0.3)
        True
    """

    _task_type = REGRESSION
    _target_name = "target"
    _in_place_of_weights = "leave it out"

    def predict(self, X: Any) -> Floats:
        """(n,) the number that is predicted for each row."""
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
        except Exception as error:  # noqa: BLE001 (whatever a library raises, the next one may do)
            failure = error
    raise Failed(f"no configuration could be fitted: {one_line(failure)}") from failure


def _refuse_fit_parameters(unknown: dict[str, Any], in_place_of_weights: str) -> None:
    given = [name for name, value in unknown.items() if value is not None]
    if "sample_weight" in given:
        raise TypeError(
            "sample_weight is not supported, since configurations are learned from runs with equal weights; "
            f"{in_place_of_weights}"
        )
    if given:
        raise TypeError(f"fit takes X and y, not {', '.join(given)}")
