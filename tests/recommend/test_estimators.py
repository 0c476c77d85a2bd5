"""The scikit-learn classifier and regressor: inputs, predictions, fits and side effects."""

import ast
import multiprocessing
import os
import pickle
import re
import signal
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

import recommend.estimators
from ingest.flows import Flow, get_flow
from ingest.running.evaluation import Evaluation
from ingest.running.limits import run_limited
from recommend import HeadstartClassifier, HeadstartRegressor
from recommend.bo.tuning import Budget, running
from recommend.bo.tuning.setup import Firsts
from tests.commands import handled
from tests.recommend.code.scripts import run_scripts
from tests.recommend.conftest import copy_of, numbers, prices
from tests.recommend.verified import LONG, say, trees_lose
from warehouse.store import Warehouse
from warehouse.support import console
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration

Estimator = HeadstartClassifier | HeadstartRegressor
Rows = tuple[pd.DataFrame, pd.Series]


def of_numbers(rows: int, seed: int = 50) -> Rows:
    frame = numbers(rows, seed)
    return frame[["x", "z"]], frame["class"]


def of_prices(rows: int, seed: int = 50) -> Rows:
    frame = prices(rows, seed)
    return frame[["x", "z"]], frame["price"]


@dataclass(frozen=True)
class Kind:
    """An estimator with its test data."""

    estimator: type[Estimator]
    world: str
    """Name of the fixture of its warehouse."""
    rows: Callable[[int], Rows]
    outcomes: str
    """Prediction method, and the combination of the members' predictions."""
    linear: str
    """Flow that wins on few rows."""
    tree: str
    """Flow that wins on many rows."""
    of_months: Callable[[np.ndarray], np.ndarray]
    """Target determined by the month."""
    scoring: tuple[str, str]
    """A measure in scikit-learn's and Headstart's words."""


KINDS = {
    "classifier": Kind(
        HeadstartClassifier,
        "small_world",
        of_numbers,
        "predict_proba",
        "logistic_regression",
        "decision_tree",
        lambda months: np.where(months > 6, "late", "early"),
        ("accuracy", "predictive_accuracy"),
    ),
    "regressor": Kind(
        HeadstartRegressor,
        "world_of_numbers",
        of_prices,
        "predict",
        "ridge",
        "decision_tree_regressor",
        lambda months: 20.5 * months,
        ("neg_mean_absolute_error", "mean_absolute_error"),
    ),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture
def estimator(kind: Kind, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Estimator:
    """Either estimator, fitting the first recommendation in this process, as `classifier` does."""
    monkeypatch.setattr(recommend.estimators, "current_process", lambda: SimpleNamespace(daemon=True))
    return kind.estimator(warehouse=str(request.getfixturevalue(kind.world)), random_state=0)


def outcomes(kind: Kind, estimator: Estimator, rows: Any) -> np.ndarray:
    """Averaged class probabilities, or numbers."""
    found: np.ndarray = getattr(estimator, kind.outcomes)(rows)
    return found


@pytest.fixture
def classifier(small_world: Path, monkeypatch: pytest.MonkeyPatch) -> HeadstartClassifier:
    """A classifier that fits the first recommendation in this process, as in a daemon without children."""
    monkeypatch.setattr(recommend.estimators, "current_process", lambda: SimpleNamespace(daemon=True))
    return HeadstartClassifier(warehouse=str(small_world), random_state=0)


@pytest.fixture
def searching(small_world: Path, monkeypatch: pytest.MonkeyPatch) -> HeadstartClassifier:
    """An estimator that searches, and ends after five trials."""
    monkeypatch.setattr(recommend.estimators, "Budget", partial(Budget, 5))
    return HeadstartClassifier(LONG, warehouse=str(small_world), random_state=0)


# ---- scikit-learn --------------------------------------------------------------------------------


WEIGHTS_ARE_NOT_COUNTS = "imputation, encoding and scaling count rows equally, whatever their weights"


def checks() -> list[Any]:
    expected = {
        f"check_sample_weight_equivalence_on_{form}_data": WEIGHTS_ARE_NOT_COUNTS
        for form in ("dense", "sparse")
    }
    return [
        pytest.param(name, check, id=f"{name}-{getattr(check, 'func', check).__name__}")
        for name, kind in KINDS.items()
        for _, check in estimator_checks_generator(
            kind.estimator(), expected_failed_checks=expected, mark="skip"
        )
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "check"), checks())
def test_scikit_learn_accepts_it(
    name: str,
    check: Callable[[BaseEstimator], None],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Recommendation and explanation are stubs, so that a fit takes milliseconds."""
    kind = KINDS[name]
    linear = Configuration(kind.linear, get_flow(kind.linear).default())
    monkeypatch.setattr(kind.estimator, "explain", lambda _: "as said")
    said = {
        "current_process": SimpleNamespace(daemon=True),
        "describe_task": None,
        "gather": SimpleNamespace(task=SimpleNamespace(asked=kind.estimator().scoring)),
        "find_candidates": SimpleNamespace(configurations=[linear], take=lambda _: said["find_candidates"]),
        "first_configurations": Firsts([linear], []),
    }
    for step, value in said.items():
        monkeypatch.setattr(recommend.estimators, step, lambda *_, value=value, **__: value)
    check(kind.estimator(warehouse=str(request.getfixturevalue(kind.world)), random_state=0))


@pytest.mark.parametrize("classes", ["aabb", "aabbc", "abababababab"])
def test_few_rows_are_enough(classifier: HeadstartClassifier, classes: str) -> None:
    rows = np.arange(len(classes)).reshape(-1, 1)
    predicted = classifier.fit(rows, [*classes]).predict(rows)
    assert set(predicted) <= set(classes)


def test_it_is_cross_validated_in_processes_at_the_end_of_a_pipeline(
    searching: HeadstartClassifier,
) -> None:
    rows, classes = of_numbers(120)
    pipeline = make_pipeline(FunctionTransformer(), searching.set_params(time_budget=1))
    scores = cross_val_score(pipeline, rows, classes, cv=2, n_jobs=2, error_score="raise")
    assert (scores > 0.5).all()


# ---- inputs -------------------------------------------------------------------------------


def mixed(kind: Kind = KINDS["classifier"], rows: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """A column of every kind, all with gaps; the month of `day` determines the target."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 360, rows), unit="D")
    words = ["late and never paid for anything", "came early and paid at once in full"]
    frame = pd.DataFrame(
        {
            "amount": rng.normal(size=rows).round(2).astype(str),
            "day": days.strftime("%d/%m/%Y"),
            "moment": days,
            "city": rng.choice(["01", "2", "Oslo"], rows),
            "colour": pd.Categorical(rng.choice(["red", "blue"], rows)),
            "paid": rng.choice([True, False], rows),
            "remark": [f"{rng.choice(words)} {number}" for number in range(rows)],
            "row": np.arange(rows),
        }
    )
    frame["city"] = frame["city"].where(rng.random(rows) > 0.1)
    frame["amount"] = frame["amount"].where(rng.random(rows) > 0.1, "?")
    frame["day"] = frame["day"].where(rng.random(rows) > 0.1)
    return frame, kind.of_months(days.month.to_numpy())


def test_frames_with_columns_of_every_kind_are_taken(kind: Kind, estimator: Estimator) -> None:
    rows, target = mixed(kind)
    estimator.fit(rows, target)
    assert estimator.feature_names_in_.tolist() == list(rows)
    assert estimator.recommendation_.dataset.roles == {
        "amount": "numeric",
        "day": "date",
        "moment": "date",
        "city": "categorical",
        "colour": "categorical",
        "paid": "boolean",
        "remark": "text",
        "row": "identifier",
    }
    assert estimator.score(rows, target) > 0.9


def test_a_single_row_is_predicted_as_among_others(classifier: HeadstartClassifier) -> None:
    """Neither `01/02/2024` nor `2` alone shows whether it is a day in February, or a category."""
    rows, classes = mixed()
    together = classifier.fit(rows, classes).predict_proba(rows)
    alone = [classifier.predict_proba(rows.iloc[[place]])[0] for place in range(10)]
    np.testing.assert_allclose(alone, together[:10])


@pytest.mark.filterwarnings("ignore:column '(amount|day)'")
def test_unseen_values_do_not_fail(classifier: HeadstartClassifier) -> None:
    rows, classes = mixed()
    strange = pd.DataFrame(
        {
            "amount": ["much"],
            "day": ["soon"],
            "moment": [pd.NaT],
            "city": ["Rome"],
            "colour": [None],
            "paid": [None],
            "remark": [None],
            "row": ["x"],
        }
    )
    probabilities = classifier.fit(rows, classes).predict_proba(strange)
    assert probabilities.sum() == pytest.approx(1)


@pytest.mark.parametrize("labels", [[1, 2], [True, False], ["NA", "?"], [0.5, -1.0], ["1", "1.0"]])
def test_labels_of_any_kind_are_predicted_unchanged(
    classifier: HeadstartClassifier, labels: list[object]
) -> None:
    rows, classes = of_numbers(60)
    y = np.array(labels)[(classes == "b").to_numpy(int)]
    if y.dtype == float:
        y = y.astype(object).astype(str)
    predicted = classifier.fit(rows, y).predict(rows)
    assert classifier.classes_.dtype == y.dtype
    assert set(predicted) == set(y.tolist())


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        (
            {"time_budget": 0},
            r"'time_budget' .* must be a float in the range \(0.0, 1728000.0\]. Got 0 instead",
        ),
        ({"time_budget": np.inf}, "Got inf"),
        ({"time_budget": "60"}, "Got '60'"),
        ({"top": 0}, r"'top' .* must be an int in the range \[1, inf\). Got 0 instead"),
        ({"top": 1.5}, "Got 1.5"),
        ({"ensemble": -1}, "'ensemble'"),
        ({"scoring": max}, "'scoring' .* must be an instance of 'str' or None"),
        ({"scoring": "wall_clock_time_millis"}, "can't be used to select a model; use one of"),
        ({"scoring": "beauty"}, "unknown measure 'beauty'"),
        ({"warehouse": "nowhere"}, "nowhere"),
        ({"warehouse": 1}, "'warehouse' .* must be"),
        ({"record": "yes"}, "'record' .* must be"),
        ({"split": ["time", "x"]}, "'split' .* must be"),
        ({"split": "x"}, "give time=COLUMN or group=COLUMN"),
        ({"n_jobs": 0}, "'n_jobs' .* must be"),
        ({"random_state": -1}, "'random_state' .* must be"),
        ({"verbose": "loud"}, "'verbose' .* must be"),
        ({"budget": 0}, "'budget' .* must be"),
        ({"budget": 5, "time_budget": 6}, "budget is the earlier name of time_budget; set time_budget alone"),
    ],
)
def test_invalid_settings_and_inputs_are_refused(
    kind: Kind, estimator: Estimator, parameters: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        estimator.set_params(**parameters).fit(*kind.rows(60))


def test_names_of_scikit_learn_and_earlier_names_mean_the_same(kind: Kind, estimator: Estimator) -> None:
    rows, target = kind.rows(120)
    name, ours = kind.scoring
    new = clone(estimator).set_params(time_budget=5, scoring=name).fit(rows, target)
    assert new.measure_ == ours
    earlier = clone(estimator).set_params(budget=5, measure=ours)
    assert clone(earlier).get_params()["measure"] == ours
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        earlier.fit(rows, target)
    assert earlier.measure_ == ours
    np.testing.assert_array_equal(outcomes(kind, earlier, rows), outcomes(kind, new, rows))


def test_rows_without_a_usable_column_are_refused(classifier: HeadstartClassifier) -> None:
    with pytest.raises(BadInput, match="no column to learn from"):
        classifier.fit(np.ones((30, 2)), np.arange(30) % 2)


def shuffled_index(rows: pd.DataFrame, target: pd.Series) -> tuple[Any, Any]:
    return rows.set_axis(np.arange(len(rows)) // 2), target.set_axis(np.arange(len(rows))[::-1] // 2)


def name_of_a_column(rows: pd.DataFrame, target: pd.Series) -> tuple[Any, Any]:
    return rows, target.rename("x")


def arrow(rows: pd.DataFrame, target: pd.Series) -> tuple[Any, Any]:
    return pa.Table.from_pandas(rows), pa.chunked_array([target.tolist()])


def test_rows_and_target_are_matched_by_position(kind: Kind, estimator: Estimator, tmp_path: Path) -> None:
    rows, target = kind.rows(120)
    expected = outcomes(kind, clone(estimator).fit(rows, target), rows)
    for form in (shuffled_index, name_of_a_column, arrow):
        X, y = form(rows, target)
        np.testing.assert_array_equal(outcomes(kind, estimator.fit(X, y), X), expected)
        assert estimator.feature_names_in_.tolist() == ["x", "z"]
    assert_code_predicts_the_same(estimator, rows, target, tmp_path)


def test_heavy_rows_decide_and_light_ones_do_not(kind: Kind, estimator: Estimator) -> None:
    """Two halves contradict each other; the heavier one wins."""
    rows, target = kind.rows(200)
    other = target.map({"a": "b", "b": "a"}) if target.dtype == "str" else -target
    both, y = pd.concat([rows, rows]), pd.concat([target, other])
    believed = [
        estimator.fit(both, y, sample_weight=np.repeat(weights, 200)).score(rows, target)
        for weights in ([1.0, 1e-6], [1e-6, 1.0])
    ]
    assert believed[0] > 0.5 > believed[1]
    with pytest.raises(BadInput, match="a script can't weight rows; fit without sample_weight"):
        estimator.code()
    with pytest.raises(BadInput, match="record=True and sample_weight exclude each other"):
        clone(estimator).set_params(record=True).fit(rows, target, sample_weight=np.ones(200))
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        estimator.fit(rows, target, sample_weight=-np.ones(200))


def test_algorithms_without_row_weights_are_left_out(
    kind: Kind, estimator: Estimator, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, target = kind.rows(900)
    monkeypatch.setattr(recommend.estimators, "takes_weights", lambda algorithm: algorithm == kind.linear)
    estimator.fit(rows, target)
    assert estimator.best_configuration_.algorithm == kind.tree
    estimator.fit(rows, target, sample_weight=[1.0] * 900)
    assert estimator.best_configuration_.algorithm == kind.linear
    monkeypatch.setattr(recommend.estimators, "takes_weights", lambda _: False)
    with pytest.raises(BadInput, match="no algorithm of the warehouse can weight rows"):
        estimator.fit(rows, target, sample_weight=[1.0] * 900)


@pytest.mark.parametrize(
    ("y", "measure", "complaint"),
    [
        (np.full(60, 3.5), None, "all of y is the same number"),
        (np.r_[np.nan, np.arange(59)], None, "NaN"),
        (np.r_[np.inf, np.arange(59)], None, "infinity"),
        (np.arange(60) - 30.0, "rmsle", "has negative numbers"),
        (np.arange(60.0), "accuracy", "can't be used to select a model; use one of root_mean_squared_error"),
    ],
)
def test_unusable_numeric_targets_are_refused(
    world_of_numbers: Path, y: np.ndarray, measure: str | None, complaint: str
) -> None:
    regressor = HeadstartRegressor(warehouse=world_of_numbers, scoring=measure)
    with pytest.raises((ValueError, BadInput), match=complaint):
        regressor.fit(of_prices(60)[0], y)


# ---- predictions ----------------------------------------------------------------------------


def whole(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(n=np.arange(len(frame)) % 7, s=np.where(frame["x"] > 0, "high", "low"))


FORMS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "array of objects": lambda frame: frame.to_numpy(object),
    "array of text": lambda frame: frame.to_numpy(str),
    "list of lists": lambda frame: frame.to_numpy(object).tolist(),
    "nullable": lambda frame: frame.convert_dtypes(),
    "categories": lambda frame: frame.astype({"s": "category", "n": "category"}),
    "categories of objects": lambda frame: frame.astype({"s": object}).astype({"s": "category"}),
    "pyarrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "single precision": lambda frame: frame.astype({"x": np.float32, "n": np.int8}),
    "Arrow's table": lambda frame: pa.Table.from_pandas(frame),
}


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_any_type_are_read_alike_in_fit_and_predict(
    classifier: HeadstartClassifier, form: str
) -> None:
    """Even if `predict` gets another type, such as a single row whose number happens to be whole."""
    rows, target = of_numbers(120)
    frame = whole(rows)
    typed = FORMS[form](frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = classifier.fit(typed, target).predict_proba(typed)
        assert len(expected) == 120
        for one in (0, 7):
            alone = FORMS[form](frame.iloc[[one]])
            np.testing.assert_allclose(classifier.predict_proba(alone), expected[[one]])
        if hasattr(typed, "columns"):
            np.testing.assert_allclose(classifier.predict_proba(frame), expected, rtol=1e-5)


def test_an_array_of_times_is_taken(kind: Kind, estimator: Estimator) -> None:
    days = np.datetime64("2024-01-01") + np.arange(360)
    target = kind.of_months(pd.DatetimeIndex(days).month.to_numpy())
    times = np.column_stack([days, days]).astype("datetime64[s]")
    assert estimator.fit(times, target).score(times, target) > 0.9


def test_frames_of_polars_are_taken(kind: Kind, estimator: Estimator) -> None:
    polars = pytest.importorskip("polars")
    rows, target = mixed(kind)
    expected = outcomes(kind, clone(estimator).fit(rows, target), rows)
    frame = polars.from_pandas(rows)
    estimator.fit(frame, polars.Series(target))
    assert estimator.feature_names_in_.tolist() == list(rows)
    np.testing.assert_allclose(outcomes(kind, estimator, frame), expected)
    np.testing.assert_allclose(outcomes(kind, estimator, rows), expected)


def test_a_column_in_another_form_gives_a_warning(classifier: HeadstartClassifier) -> None:
    rows, classes = mixed()
    expected = classifier.fit(rows, classes).predict_proba(rows)
    other = rows.assign(paid=rows["paid"].astype(int))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(classifier.predict_proba(other), expected)
    commas = rows.assign(amount=rows["amount"].str.replace(".", ","))
    with pytest.warns(UserWarning, match=r"column 'amount': none of its values is a number") as warned:
        classifier.predict(commas)
    assert len(warned) == 1


# ---- fits --------------------------------------------------------------------------------


def test_in_a_daemon_the_first_recommendation_is_fitted(kind: Kind, estimator: Estimator) -> None:
    estimator.fit(*kind.rows(900))
    assert estimator.search_ is None
    assert len(estimator.recommendation_.configurations) == 3
    assert estimator.best_configuration_ == estimator.recommendation_.configurations[0].configuration
    assert estimator.best_configuration_.algorithm == kind.tree
    assert estimator.weights_ == {estimator.best_configuration_: 1.0}


def test_it_predicts_in_time_whatever_the_budget(searching: HeadstartClassifier) -> None:
    rows, classes = of_numbers(300)
    began = monotonic()
    searching.set_params(time_budget=0.01).fit(rows, classes)
    assert monotonic() - began < 300, "two seconds, on a machine that does much else"
    assert searching.search_ is not None
    assert searching.search_.trials == []
    assert len(searching.pipelines_) == 1
    assert set(searching.predict(rows)) <= {"a", "b"}
    assert searching.recommendation_.trials == 0


def test_trials_overrule_the_recommendation(
    searching: HeadstartClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, trees_lose)
    searching.set_params(ensemble=0).fit(*of_numbers(900))
    assert [one.algorithm for one in searching.weights_] == ["logistic_regression"]
    assert searching.recommendation_.trials > 0


def test_equal_seeds_give_equal_classifiers(
    searching: HeadstartClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is, if the time does not end the search."""
    say(monkeypatch, trees_lose)
    rows, classes = of_numbers(300)
    first, again = (clone(searching).fit(rows, classes) for _ in range(2))
    assert first.weights_ == again.weights_
    np.testing.assert_array_equal(first.predict_proba(rows), again.predict_proba(rows))


def test_a_search_ends_in_time_and_leaves_nothing_running(
    searching: HeadstartClassifier, tmp_path: Path
) -> None:
    rows, classes = of_numbers(120)
    before = multiprocessing.active_children()  # from joblib
    searching.set_params(time_budget=2, n_jobs=2).fit(rows, classes)
    assert searching.search_ is not None
    assert searching.search_.seconds < 300, "on a busy machine, too"
    assert sum(searching.weights_.values()) == pytest.approx(1)
    members = [pipeline.predict_proba(rows) for pipeline in searching.pipelines_]
    mean = np.average(members, axis=0, weights=list(searching.weights_.values()))
    np.testing.assert_allclose(searching.predict_proba(rows), mean)
    assert_code_predicts_the_same(searching, rows, classes, tmp_path)
    assert set(multiprocessing.active_children()) <= {*before}


def test_few_rows_can_be_searched(searching: HeadstartClassifier) -> None:
    rows = np.arange(5).reshape(-1, 1)
    predicted = searching.set_params(time_budget=2).fit(rows, [*"aabbc"]).predict(rows)
    assert set(predicted) <= {*"abc"}


def test_by_default_it_learns_from_the_bundled_warehouse(
    classifier: HeadstartClassifier, small_world: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same rows have the same start, whatever the user has recorded."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    copy_of(small_world, tmp_path / "headstart" / "warehouse")
    assert Warehouse.open(None).path.is_relative_to(tmp_path)
    classifier.set_params(warehouse=None).fit(*of_numbers(120))
    assert classifier.recommendation_.warehouse.origins.whose == "starter"


def test_a_failing_configuration_does_not_end_the_fit(
    classifier: HeadstartClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, classes = of_numbers(900)
    first, second = (
        one.configuration for one in classifier.fit(rows, classes).recommendation_.configurations[:2]
    )
    pipeline = Flow.pipeline

    def failing(flow: Flow, values: Any, roles: Any, *, seed: int) -> Any:
        if Configuration(flow.name, values) == first:
            return make_pipeline(FunctionTransformer(lambda _: 1 / 0), pipeline(flow, values, roles))
        return pipeline(flow, values, roles, seed=seed)

    monkeypatch.setattr(Flow, "pipeline", failing)
    assert classifier.fit(rows, classes).best_configuration_ == second


# ---- side effects -------------------------------------------------------------------------


def test_runs_are_written_to_the_warehouse_only_on_request(
    searching: HeadstartClassifier, small_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, trees_lose)
    world = copy_of(small_world, tmp_path / "world")
    searching.set_params(warehouse=world.path).fit(*of_numbers(300))
    assert Warehouse.open(world.path).version == world.version
    searching.set_params(record=True).fit(*of_numbers(300))
    assert searching.search_ is not None
    written = Warehouse.open(world.path).sql("SELECT count(*) AS n FROM runs WHERE train_rows IS NOT NULL")
    assert written["n"].item() == len(searching.search_.trials) == 5


def test_a_pickle_predicts_and_holds_no_rows(kind: Kind, estimator: Estimator) -> None:
    rows, target = mixed(kind)
    estimator.fit(rows.assign(city="a secret place"), target)
    content = pickle.dumps(estimator)
    assert b"paid at once" not in content.replace(b"a secret place", b"")
    copy = pickle.loads(content)
    np.testing.assert_array_equal(copy.predict(rows), estimator.predict(rows))
    assert copy.explain() == estimator.explain() == pickle.loads(pickle.dumps(copy)).explain()
    for use in (lambda: copy.code(), lambda: copy.recommendation_):
        with pytest.raises(NotFittedError, match="a pickle keeps none"):
            use()


def test_a_notebook_shows_its_winner_and_expected_value(
    searching: HeadstartClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert repr(searching) == str(searching) == repr(clone(searching)), "as scikit-learn has it"
    assert "is the model" not in searching._repr_html_()
    say(monkeypatch, trees_lose)
    searching.fit(*of_numbers(300))
    shown = searching._repr_html_()
    assert searching.search_ is not None
    assert shown.startswith(searching.search_._repr_html_())
    assert searching.value_ == searching.search_.value
    assert "sk-estimator" in shown, "scikit-learn's diagram"
    assert len(shown) < 60_000


def test_verbose_shows_progress(
    searching: HeadstartClassifier, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    say(monkeypatch, trees_lose)
    monkeypatch.setattr(console, "_SECONDS_BETWEEN_LINES", 0.0)
    searching.fit(*of_numbers(120))
    assert capsys.readouterr() == ("", "")
    searching.set_params(verbose=True).fit(*of_numbers(120))
    out, err = capsys.readouterr()
    assert out == ""
    assert "trial 5 of 5, best accuracy 0.9000 (logistic_regression)" in err


def assert_code_predicts_the_same(
    estimator: Estimator, rows: pd.DataFrame, target: Any, folder: Path
) -> None:
    """Run the estimator's code without Headstart's packages on a CSV file of the rows."""
    (folder / "code.py").write_text(estimator.code(), encoding="utf-8")
    name = str(estimator.recommendation_.dataset.target.name)
    rows.assign(**{name: target}).to_csv(folder / "rows.csv", index=False)
    out, complaints = run_scripts([("code.py", "rows.csv", "--predict", "rows.csv")], folder)
    assert out == f"predictions.csv: {len(rows)} predictions\n", complaints
    if isinstance(estimator, HeadstartRegressor):
        predicted = pd.read_csv(folder / "predictions.csv")
        np.testing.assert_allclose(predicted["prediction"], estimator.predict(rows), rtol=1e-9)
        return
    predicted = pd.read_csv(folder / "predictions.csv", dtype={"prediction": str})
    assert (predicted["prediction"] == estimator.predict(rows).astype(str)).all()
    np.testing.assert_allclose(predicted.iloc[:, 1:], estimator.predict_proba(rows), rtol=1e-9)


def test_the_fit_is_a_script_without_headstarts_packages(
    kind: Kind, estimator: Estimator, tmp_path: Path
) -> None:
    rows, target = mixed(kind)
    estimator.fit(rows, target)
    head = ast.get_docstring(ast.parse(estimator.code())) or ""
    assert (
        f"Chosen by Headstart's {kind.estimator.__name__}, after 0 trials on the data and 128 runs on 8 "
        "datasets." in " ".join(head.split())
    )
    assert "Weights: 1.00." in head
    assert_code_predicts_the_same(estimator, rows, target, tmp_path)


def test_it_has_the_explanation_of_recommend(kind: Kind, estimator: Estimator) -> None:
    text = estimator.fit(*kind.rows(900)).explain()
    is_regressor = kind.estimator is HeadstartRegressor
    assert text.startswith("frame: 900 rows, 2 features (2 numeric)\n")
    assert f"because it was given: {'a number from' if is_regressor else '2 classes'}" in text
    assert "than an average configuration" in " ".join(text.split()), "the sentences of --explain"
    assert not (is_regressor and re.search("class|probabilit", text))
    assert "Decision tree" in text
    with pytest.raises(NotFittedError):
        clone(estimator).explain()


def test_an_interrupt_ends_the_fit_and_its_processes(
    searching: HeadstartClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes when the first trial has begun; and again if a callback has swallowed it, such as a
    callback of the garbage collector, of which Hypothesis has one."""
    before = multiprocessing.active_children()
    begun, ended = threading.Event(), threading.Event()

    def press() -> None:
        begun.wait(LONG)
        while not ended.wait(1.0):
            os.kill(os.getpid(), signal.SIGINT)

    def run(*_: object, processes: Any, **_options: object) -> Evaluation:
        begun.set()
        called = run_limited(sleep, LONG, seconds=LONG, memory=2**30, processes=processes)
        return Evaluation(called.outcome, called.seconds)

    monkeypatch.setattr(running, "evaluate", run)
    presser = threading.Thread(target=press)
    presser.start()
    try:
        with handled(), pytest.raises(KeyboardInterrupt):
            searching.fit(*of_numbers(900))
    finally:
        ended.set()
        begun.set()
        presser.join()
    assert set(multiprocessing.active_children()) <= {*before}
    assert not hasattr(searching, "pipelines_")
