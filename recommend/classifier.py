"""A scikit-learn classifier that recommends, races the configurations on the data, and fits the winner.

Everything happens in `fit`, within its budget: the recommendation, the race of its head beside usual defaults
(`recommend.verification.race`), and the fit of the winner, or of an ensemble, on all rows.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing import current_process
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ingest.flows import get_flow
from ingest.reading.column_types.columns import label
from ingest.reading.datasets import Dataset
from ingest.reading.new_rows import Columns
from ingest.reading.tables import frame_of
from ingest.running.limits import start_server, wait_for_server
from ingest.running.scorer import SCORERS, scorer_of
from recommend.bo.tuning.ensembles import select_ensemble
from recommend.calibration import with_probabilities
from recommend.labels import labels_of, target_name
from recommend.ranking.candidates import Candidates, find_candidates
from recommend.ranking.fit_cost import fit_seconds
from recommend.ranking.knowledge import Knowledge, gather
from recommend.ranking.target_kinds import target_kind
from recommend.ranking.task import RankingTask, describe_task
from recommend.recommendation import Recommendation
from recommend.recommender import recommended
from recommend.verification.contestants import choose_entrants
from recommend.verification.race import Race, can_be_raced, race, seconds_on_all_rows
from recommend.verification.race import record as record_race
from warehouse.store import Warehouse
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption, Failed, one_line
from warehouse.support.text import counted
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import canonical_measure
from warehouse.vocabulary.task_types import CLASSIFICATION

RESERVED, RESERVED_FOR_ENSEMBLE = 0.25, 0.5
"""Shares of the time after the recommendation that are at most kept for fits on all rows; heuristics."""
_OF_ROWS = ("recommendation_", "race_", "_table")
"""Attributes that hold the training rows, or facts about them."""
LEAST = 3.0
"""Fewest seconds of a race, and least time limit of a fit; a heuristic."""


class HeadstartClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A classifier that finds its configuration with what runs on other datasets taught.

    `fit` takes a data frame with numbers, categories, booleans, dates, texts and missing values, or an array.
    `predict` warns of each column of which no value is of the form that it had in `fit`.
    Roles of columns are told as for `recommend`; cast a column to `category` to have numbers taken as
    categories. Infinite numbers count as missing.

    Args:
        budget: seconds that a fit may take in all. Where they suffice for nothing else, the first
            recommendation is fitted without a race, and takes what it takes.
        top: configurations of the recommendation that are raced, beside the defaults of LightGBM, CatBoost,
            random forests and logistic regression.
        ensemble: picks of an ensemble of those that were raced to the end (Caruana et al. 2004), whose
            probabilities are averaged; 0 = the winner alone.
        measure: what to be good at, a name or an alias of `warehouse.vocabulary.measures`; None = accuracy,
            or the area under the ROC curve where one class has 90 % of the rows.
        warehouse: directory of the warehouse to learn from; None = the user's, else the bundled starter. The
            first use of one that has no trained model takes half a minute more.
        record: whether the runs of the race are written to the warehouse. The next fit learns from them,
            which takes it half a minute more.
        split: `time=COLUMN` or `group=COLUMN` of `X`, by which the race splits rows in place of at random: it
            tests on later rows, or on rows of other groups. A group is not learned from.
        n_jobs: runs of the race at the same time; None = 1, -1 = one a processor.
        random_state: seed of what is fitted on all rows. The splits of the race are always the same.

    Attributes:
        classes_: (k,) labels of the classes, sorted.
        n_features_in_: number of columns.
        feature_names_in_: their names, where all are text.
        recommendation_: what is recommended after the race (`recommend.Recommendation`). It holds the rows
            that were learned from, so a pickle leaves it out.
        race_: what verified it; None where there was no time, or too few rows. A pickle leaves it out, too.
        best_configuration_: the configuration that was fitted, or the first of the ensemble.
        weights_: configuration -> its weight in the ensemble; the winner alone has 1.
        pipelines_: fitted pipelines, in the order of `weights_`.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> classifier = HeadstartClassifier(budget=1, random_state=0).fit(X, y)
        >>> bool(classifier.score(X, y) > 0.9)
        True
    """

    def __init__(
        self,
        budget: float = 60.0,
        top: int = 3,
        *,
        ensemble: int = 0,
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

    def fit(self, X: Any, y: Any, **unknown: Any) -> HeadstartClassifier:
        """Find a configuration for these rows, and fit it on all of them.

        Rows of `X` and `y` belong together by their position, whatever their indexes say.

        Args:
            X: (n, columns) data frame (of pandas, polars, pyarrow, ...) or array.
            y: (n,) labels of the classes.
            unknown: refused, and so are weights of rows (`sample_weight`).

        Raises:
            BadInput: a parameter that can't be, or no column to learn from.
            KeyboardInterrupt: the user ended it; nothing that it began goes on.
        """
        end = time.monotonic() + self.budget
        self._check_parameters()
        _refuse_fit_parameters(unknown)
        validate_data(self, frame_of(X), y, skip_check_array=True)  # which refuses to do without y
        frame = self._frame(X, reset=True)
        codes = self._class_codes(y, len(frame))
        # Daemons, such as workers of multiprocessing's pools, may not have children.
        may_race = self.budget > LEAST and can_be_raced(codes) and not current_process().daemon
        if may_race:
            start_server()  # takes seconds, beside the recommendation
        self._columns, features = Columns.read_first(frame)
        name = target_name(y, [*self._columns.roles])
        self._table = frame.reset_index(drop=True).assign(**{name: self.classes_[codes]})
        dataset = classes_dataset(self._columns, features, codes, self.classes_, name)
        if self.split is not None:
            dataset = dataset.split_by(self.split)
            self._columns = replace(self._columns, roles=dataset.roles)
        known = gather(self._task(dataset))
        candidates = find_candidates(known)
        if may_race:
            wait_for_server()
        self.race_ = self._raced(known, candidates, end - time.monotonic()) if may_race else None
        self.recommendation_ = recommended(known, candidates, self.top, raced=self.race_)
        left = max(end - time.monotonic(), LEAST)
        order, expected = fitting_order(self.recommendation_, known, self.ensemble, left)
        self._fit_first(order, expected, features, codes, end)
        if self.record and self.race_ is not None:
            record_race(self.race_, Warehouse.create(self.warehouse))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """(n,) the most probable class of each row."""
        probabilities = self.predict_proba(X)
        predicted: np.ndarray = self.classes_[probabilities.argmax(axis=1)]
        return predicted

    def predict_proba(self, X: Any) -> Floats:
        """(n, k) probability of each of `classes_`."""
        check_is_fitted(self)
        rows = self._columns.read(self._frame(X, reset=False))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of categories that the first rows did not have
            predicted = [pipeline.predict_proba(rows) for pipeline in self.pipelines_]
        return SCORERS[CLASSIFICATION].average(predicted, [*self.weights_.values()]).scores

    def explain(self) -> str:
        """The recommendation, its reasons and the results of the race, as `recommend` prints them.

        Raises:
            NotFittedError: it is not fitted, or comes out of a pickle.
        """
        from recommend.reporting.terminal import in_words

        check_is_fitted(
            self, "recommendation_", msg="no recommendation: call fit first (a pickle keeps none)"
        )
        return in_words(self.recommendation_, is_default_measure=self.measure is None, details=False)

    def code(self) -> str:
        """Python source that cross-validates, fits, saves and predicts with what was fitted here.

        It needs pandas, scikit-learn and the libraries of the algorithms, none of our packages, and reads a
        CSV file of the same columns and the classes: see `recommend.code`.

        Raises:
            NotFittedError: it is not fitted, or comes out of a pickle.
            BadInput: pandas alone can't read a CSV file of the rows as they were taken here, or a classifier
                that gives no probabilities is fitted on balanced classes.
        """
        check_is_fitted(
            self, "recommendation_", msg="no recommendation: call fit first (a pickle keeps none)"
        )
        from recommend.code import Origin, ensemble_script, script

        found, one = self.recommendation_, self.best_configuration_
        verb = "Recommended" if self.race_ is None else "Recommended, raced on the data"
        origin = Origin(
            choice=f"{verb} and fitted by Headstart's HeadstartClassifier, after"
            f" {counted(found.model.runs, 'runs')} on {counted(found.model.datasets, 'datasets')}.",
            expected=f"Weights of the members: {', '.join(f'{w:.2f}' for w in self.weights_.values())}."
            if len(self.weights_) > 1
            else found.expected_of(one),
            measure=found.measure,
        )
        if len(self.weights_) > 1:
            return ensemble_script(self.weights_, found.dataset, origin, seed=self._seed, frame=self._table)
        return script(one, found.dataset, origin, seed=self._seed, frame=self._table)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """The fitted pipelines, without the training rows."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _OF_ROWS}

    def _check_parameters(self) -> None:
        if not self.budget > 0:
            raise BadOption(f"budget must be more than 0 seconds, not {self.budget}")
        if self.top < 1:
            raise BadOption(f"top must be 1 or more, not {self.top}")
        if self.ensemble < 0:
            raise BadOption(f"ensemble must be 0 or more picks, not {self.ensemble}")
        measures = CLASSIFICATION.measures
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

    def _class_codes(self, y: Any, n: int) -> Positions:
        """(n,) position of each row's class among `classes_`, which this finds."""
        y = labels_of(y)
        check_consistent_length(range(n), y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has 1 class; a classifier needs two or more")
        return np.asarray(codes, dtype=np.intp)

    def _task(self, dataset: Dataset) -> RankingTask:
        warehouse = Warehouse.open(self.warehouse)
        measure = self.measure or target_kind(dataset).default_measure(dataset, warehouse)
        return describe_task(dataset, warehouse=warehouse, measure=measure, leave_out=False)

    def _raced(self, known: Knowledge, candidates: Candidates, left: float) -> Race | None:
        """The race, if there is time for one."""
        seconds = fit_seconds(known.fit_times, candidates.table, known.metafeatures).seconds
        share, fits = (RESERVED_FOR_ENSEMBLE, self.ensemble) if self.ensemble else (RESERVED, 1)
        reserved = min(left * share, fits * float(np.nan_to_num(seconds).max()))
        if left - reserved < LEAST:
            return None
        entrants = choose_entrants(known, candidates, self.top, longest_fit=reserved)
        raced = race(known, entrants, left - reserved, jobs=effective_n_jobs(self.n_jobs))
        if raced.interrupted:
            raise KeyboardInterrupt
        return raced

    def _fit_first(
        self,
        order: Mapping[Configuration, float],
        expected: Mapping[Configuration, float],
        features: pd.DataFrame,
        codes: Positions,
        end: float,
    ) -> None:
        """Fit those that have a weight, as long as there is time, else the first that can be fitted.

        Args:
            order, expected: weights and seconds as `fitting_order` returns them.
            end: of the time, by the monotonic clock.
        """
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        fitted: dict[Configuration, Any] = {}
        weights: dict[Configuration, float] = {}
        failure: Exception | None = None
        for one, weight in order.items():
            if fitted and (weight == 0 or expected[one] > end - time.monotonic()):
                continue
            flow = get_flow(one.algorithm)
            pipeline = with_probabilities(flow.pipeline(one.values, self._columns.roles, seed=seed))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # as in the race: not converged, rare class
                    fitted[one] = pipeline.fit(features, codes)
            except Exception as error:  # noqa: BLE001 (whatever a library raises, the next one may do)
                failure = error
            else:
                weights[one] = weight or 1.0
        if not fitted:
            raise Failed(f"no configuration could be fitted: {one_line(failure)}") from failure
        self._seed = seed
        total = sum(weights.values())
        self.weights_ = {configuration: weight / total for configuration, weight in weights.items()}
        self.pipelines_ = list(fitted.values())
        self.best_configuration_ = next(iter(fitted))


def _refuse_fit_parameters(unknown: dict[str, Any]) -> None:
    given = [name for name, value in unknown.items() if value is not None]
    if "sample_weight" in given:
        raise TypeError(
            "sample_weight is not supported, since configurations are learned from runs with equal weights; "
            "leave it out, and set measure='balanced_accuracy' if classes should count equally"
        )
    if given:
        raise TypeError(f"fit takes X and y, not {', '.join(given)}")


def fitting_order(
    recommendation: Recommendation, known: Knowledge, picks: int, seconds: float
) -> tuple[dict[Configuration, float], dict[Configuration, float]]:
    """Configurations to fit in this many seconds: the ensemble's members or the best, then spares.

    Raced ones come before others, in the order of the race. Those expected to take longer come last.

    Args:
        picks: of an ensemble; 0 = none.

    Returns:
        Configuration -> weight in the ensemble, 1 for the only one, 0 for a spare; in the order in which they
        are fitted. And configuration -> expected seconds of a fit on all rows, NaN where unknown.
    """
    expected = {one.configuration: one.fit_seconds or math.nan for one in recommendation.configurations}
    order: list[Configuration] = []
    raced = recommendation.race
    if raced is not None:
        timed = seconds_on_all_rows(raced, known)
        entrants = [(place, raced.entrants[place]) for place in raced.order]
        order = [one.configuration for _, one in entrants if one.setup not in raced.failures]
        expected |= {one.configuration: timed[place] for place, one in entrants if place in timed}
    everything = dict.fromkeys([*order, *(one.configuration for one in recommendation.configurations)])
    expected = {one: expected.get(one, math.nan) for one in everything}
    short = [one for one in everything if not expected[one] > seconds]
    long = sorted((one for one in everything if expected[one] > seconds), key=lambda one: expected[one])
    weights = ensemble_weights(raced, picks) if raced is not None and picks else {}
    members = sorted((one for one in short if one in weights), key=lambda one: -weights[one])
    chosen = {one: weights[one] for one in members} or {[*short, *long][0]: 1.0}
    spares = [one for one in (*short, *long) if one not in chosen and (not members or one not in weights)]
    return chosen | dict.fromkeys(spares, 0.0), expected


def ensemble_weights(raced: Race, picks: int) -> dict[Configuration, float]:
    """Weights of the configurations in the last round, chosen by their predictions there."""
    if not raced.standing:
        return {}
    last = raced.heats[-1]
    predicted = {
        place: predictions
        for place in raced.standing
        if (predictions := last.results[place][1].predictions) is not None
    }
    if not predicted:
        return {}
    scorer = scorer_of(raced.dataset)
    actual = scorer.outcomes(raced.dataset.target)[last.tested]
    chosen = select_ensemble([*predicted.values()], actual, scorer, raced.measure, picks)
    places = [*predicted]
    return {raced.entrants[places[member]].configuration: weight for member, weight in chosen.items()}


def classes_dataset(
    columns: Columns, features: pd.DataFrame, codes: Positions, classes: np.ndarray, name: str
) -> Dataset:
    """Rows with their classes as `recommend` takes them."""
    words = [label(one) for one in classes.tolist()]
    if len(set(words)) < len(words):  # 1 and "1"
        words = [str(place) for place in range(len(classes))]
    target = pd.Categorical.from_codes(codes, categories=pd.Index(words, dtype="str"))
    return Dataset(
        name="frame",
        features=features,
        target=pd.Series(target, name=name),
        roles=columns.roles,
        target_choice=f"{name!r} is the target because it was given",
        note=None,
        source="data frame",
    )
