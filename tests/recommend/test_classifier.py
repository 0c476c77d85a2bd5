"""The scikit-learn classifier: what it takes, what it fits, what it leaves behind."""

import ast
import multiprocessing
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from time import sleep
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

import recommend.classifier
from ingest.flows import Flow, get_flow
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome, run_limited
from recommend import HeadstartClassifier
from recommend.verification import rungs as heats
from tests.recommend.code.scripts import run_scripts
from tests.recommend.conftest import numbers
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration

AT_ONCE = 0.01
"""Seconds that suffice for no race."""
LONG = 600.0
"""Seconds that no race here needs."""


def of_numbers(rows: int, seed: int = 50) -> tuple[pd.DataFrame, pd.Series]:
    frame = numbers(rows, seed)
    return frame[["x", "z"]], frame["class"]


@pytest.fixture
def classifier(small_world: Path) -> HeadstartClassifier:
    """One that races nothing."""
    return HeadstartClassifier(AT_ONCE, warehouse=str(small_world), random_state=0)


@pytest.fixture
def trees_lose(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Says what comes of each run of a race, and notes the algorithms that ran."""
    ran: list[str] = []

    def run(configuration: Configuration, *_: object, **_options: object) -> Evaluation:
        ran.append(configuration.algorithm)
        value = 0.9 if configuration.algorithm == "logistic_regression" else 0.6
        return Evaluation(Outcome.success, 0.1, {"predictive_accuracy": value})

    monkeypatch.setattr(heats, "evaluate", run)
    return ran


# ---- scikit-learn --------------------------------------------------------------------------------


def checks() -> list[Any]:
    made = estimator_checks_generator(HeadstartClassifier(AT_ONCE))
    return [pytest.param(check, id=getattr(check, "func", check).__name__) for _, check in made]


@pytest.fixture
def told_recommendation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Says what is recommended, so that a fit takes milliseconds."""
    logistic = Configuration("logistic_regression", get_flow("logistic_regression").default())
    recommendation = SimpleNamespace(
        configurations=[SimpleNamespace(configuration=logistic, fit_seconds=None)], race=None
    )
    for step in ("describe_task", "gather", "find_candidates"):
        monkeypatch.setattr(recommend.classifier, step, lambda *_, **__: None)
    monkeypatch.setattr(recommend.classifier, "recommended", lambda *_, **__: recommendation)


@pytest.mark.usefixtures("told_recommendation")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("check", checks())
def test_scikit_learn_accepts_it(
    classifier: HeadstartClassifier, check: Callable[[BaseEstimator], None]
) -> None:
    check(clone(classifier))


@pytest.mark.parametrize("classes", ["aabb", "aabbc", "abababababab"])
def test_few_rows_are_enough(classifier: HeadstartClassifier, classes: str) -> None:
    rows = np.arange(len(classes)).reshape(-1, 1)
    predicted = classifier.fit(rows, [*classes]).predict(rows)
    assert set(predicted) <= set(classes)


def test_it_is_cross_validated_in_processes_at_the_end_of_a_pipeline(
    classifier: HeadstartClassifier,
) -> None:
    rows, classes = of_numbers(120)
    pipeline = make_pipeline(FunctionTransformer(), classifier)
    scores = cross_val_score(pipeline, rows, classes, cv=2, n_jobs=2, error_score="raise")
    assert (scores > 0.5).all()


# ---- what it takes -------------------------------------------------------------------------------


def mixed(rows: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """A column of every kind, all with gaps; the class is told by the month of `day`."""
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
    return frame, np.where(days.month > 6, "late", "early")


def test_frames_with_columns_of_every_kind_are_taken(classifier: HeadstartClassifier) -> None:
    rows, classes = mixed()
    classifier.fit(rows, classes)
    assert classifier.feature_names_in_.tolist() == list(rows)
    assert classifier.recommendation_.dataset.roles == {
        "amount": "numeric",
        "day": "date",
        "moment": "date",
        "city": "categorical",
        "colour": "categorical",
        "paid": "boolean",
        "remark": "text",
        "row": "identifier",
    }
    assert classifier.score(rows, classes) > 0.9


def test_a_row_alone_is_predicted_as_among_others(classifier: HeadstartClassifier) -> None:
    """Neither `01/02/2024` nor `2` says alone whether it is a day in February, or a category."""
    rows, classes = mixed()
    together = classifier.fit(rows, classes).predict_proba(rows)
    alone = [classifier.predict_proba(rows.iloc[[place]])[0] for place in range(10)]
    np.testing.assert_allclose(alone, together[:10])


@pytest.mark.filterwarnings("ignore:column '(amount|day)'")
def test_what_was_never_seen_is_no_reason_to_fail(classifier: HeadstartClassifier) -> None:
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
def test_labels_of_any_kind_come_back_as_they_were(
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
        ({"budget": 0}, "budget must be more than 0 seconds, not 0"),
        ({"top": 0}, "top must be 1 or more"),
        ({"ensemble": -1}, "ensemble must be 0 or more picks"),
        ({"measure": "wall_clock_time_millis"}, "can't be used to select a model; use one of"),
        ({"measure": "beauty"}, "beauty"),
        ({"warehouse": "nowhere"}, "nowhere"),
    ],
)
def test_what_can_not_be_is_refused(
    classifier: HeadstartClassifier, parameters: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        classifier.set_params(**parameters).fit(*of_numbers(60))


def test_rows_without_a_column_to_learn_from_are_refused(classifier: HeadstartClassifier) -> None:
    with pytest.raises(BadInput, match="no column to learn from"):
        classifier.fit(np.ones((30, 2)), np.arange(30) % 2)


def shuffled_index(rows: pd.DataFrame, classes: pd.Series) -> tuple[Any, Any]:
    return rows.set_axis(np.arange(len(rows)) // 2), classes.set_axis(np.arange(len(rows))[::-1] // 2)


def name_of_a_column(rows: pd.DataFrame, classes: pd.Series) -> tuple[Any, Any]:
    return rows, classes.rename("x")


def arrow(rows: pd.DataFrame, classes: pd.Series) -> tuple[Any, Any]:
    return pa.Table.from_pandas(rows), pa.chunked_array([classes.tolist()])


@pytest.mark.parametrize("form", [shuffled_index, name_of_a_column, arrow])
def test_rows_and_classes_belong_together_by_position(
    classifier: HeadstartClassifier,
    form: Callable[[pd.DataFrame, pd.Series], tuple[Any, Any]],
    tmp_path: Path,
) -> None:
    rows, classes = of_numbers(120)
    expected = clone(classifier).fit(rows, classes).predict_proba(rows)
    X, y = form(rows, classes)
    np.testing.assert_array_equal(classifier.fit(X, y).predict_proba(X), expected)
    assert classifier.feature_names_in_.tolist() == ["x", "z"]
    assert_code_predicts_the_same(classifier, rows, classes.rename(None), tmp_path)


def test_weights_of_rows_are_refused_in_words(classifier: HeadstartClassifier) -> None:
    rows, classes = of_numbers(60)
    classifier.fit(rows, classes, sample_weight=None)
    with pytest.raises(TypeError, match=r"sample_weight is not supported, .* leave it out"):
        classifier.fit(rows, classes, sample_weight=np.ones(60))
    with pytest.raises(TypeError, match="fit takes X and y, not groups"):
        classifier.fit(rows, classes, groups=np.ones(60))


# ---- what it predicts ----------------------------------------------------------------------------


def test_a_column_that_comes_in_another_form_is_warned_of(classifier: HeadstartClassifier) -> None:
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


# ---- what it fits --------------------------------------------------------------------------------


def test_without_time_the_first_recommendation_is_fitted(classifier: HeadstartClassifier) -> None:
    classifier.fit(*of_numbers(900))
    assert classifier.race_ is None
    assert len(classifier.recommendation_.configurations) == 3
    assert classifier.best_configuration_ == classifier.recommendation_.configurations[0].configuration
    assert classifier.best_configuration_.algorithm == "decision_tree"
    assert classifier.weights_ == {classifier.best_configuration_: 1.0}


def test_with_time_what_won_the_race_is_fitted(
    classifier: HeadstartClassifier, trees_lose: list[str]
) -> None:
    """Trees win on all large datasets that are known, and not on this one."""
    classifier.set_params(budget=LONG, top=4).fit(*of_numbers(900))
    assert classifier.race_ is not None
    assert len(classifier.race_.entrants) == 5  # one default is no head of the recommendation
    assert {"decision_tree", "logistic_regression"} == set(trees_lose)
    assert classifier.best_configuration_.algorithm == "logistic_regression"
    assert classifier.pipelines_[0].named_steps["classifier"].__class__.__name__ == "LogisticRegression"


def test_real_races_end_in_time_and_leave_nothing_running(
    classifier: HeadstartClassifier, tmp_path: Path
) -> None:
    rows, classes = of_numbers(120)
    before = multiprocessing.active_children()  # of joblib
    classifier.set_params(budget=20, ensemble=3, n_jobs=2).fit(rows, classes)
    assert classifier.race_ is not None
    assert sum(classifier.weights_.values()) == pytest.approx(1)
    assert len(classifier.pipelines_) == len(classifier.weights_)
    members = [pipeline.predict_proba(rows) for pipeline in classifier.pipelines_]
    mean = np.average(members, axis=0, weights=list(classifier.weights_.values()))
    np.testing.assert_allclose(classifier.predict_proba(rows), mean)
    assert_code_predicts_the_same(classifier, rows, classes, tmp_path)
    assert set(multiprocessing.active_children()) <= {*before}


@pytest.mark.usefixtures("trees_lose")
def test_where_the_time_does_not_end_a_race_equal_seeds_give_equal_classifiers(
    small_world: Path,
) -> None:
    rows, classes = of_numbers(300)
    first, again = (
        HeadstartClassifier(LONG, warehouse=small_world, random_state=3).fit(rows, classes) for _ in range(2)
    )
    assert first.best_configuration_ == again.best_configuration_
    np.testing.assert_array_equal(first.predict_proba(rows), again.predict_proba(rows))


def test_classes_with_fewer_rows_than_a_race_has_folds_are_not_raced(
    small_world: Path, trees_lose: list[str]
) -> None:
    rows, classes = of_numbers(18)
    fitted = HeadstartClassifier(LONG, warehouse=small_world).fit(rows, classes)
    assert fitted.race_ is None
    assert trees_lose == []


def test_a_configuration_that_fails_is_no_end(
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


# ---- what is left behind -------------------------------------------------------------------------


@pytest.mark.usefixtures("trees_lose")
def test_runs_are_written_to_the_warehouse_only_where_that_is_asked_for(
    small_world: Path, tmp_path: Path
) -> None:
    world = Warehouse.open(small_world).export(tmp_path / "world")
    fitted = HeadstartClassifier(LONG, warehouse=world.path, random_state=0).fit(*of_numbers(300))
    assert Warehouse.open(world.path).version == world.version
    fitted.set_params(record=True).fit(*of_numbers(300))
    assert fitted.race_ is not None
    written = Warehouse.open(world.path).sql("SELECT count(*) AS n FROM runs WHERE train_rows IS NOT NULL")
    assert written["n"].item() == sum(len(heat.results) for heat in fitted.race_.heats)


def test_a_pickle_predicts_and_holds_no_rows(classifier: HeadstartClassifier) -> None:
    rows, classes = mixed()
    classifier.fit(rows.assign(city="a secret place"), classes)
    content = pickle.dumps(classifier)
    assert b"paid at once" not in content.replace(b"a secret place", b"")
    copy = pickle.loads(content)
    np.testing.assert_array_equal(copy.predict(rows), classifier.predict(rows))
    with pytest.raises(NotFittedError, match="a pickle keeps none"):
        copy.explain()
    with pytest.raises(NotFittedError, match="a pickle keeps none"):
        copy.code()


def assert_code_predicts_the_same(
    classifier: HeadstartClassifier, rows: pd.DataFrame, classes: Any, folder: Path
) -> None:
    """The classifier's code, run without our packages on a CSV file of the rows."""
    (folder / "code.py").write_text(classifier.code(), encoding="utf-8")
    rows.assign(**{getattr(classes, "name", None) or "class": classes}).to_csv(
        folder / "rows.csv", index=False
    )
    out, complaints = run_scripts([("code.py", "rows.csv", "--predict", "rows.csv")], folder)
    assert out == f"predictions.csv: {len(rows)} predictions\n", complaints
    predicted = pd.read_csv(folder / "predictions.csv", dtype={"prediction": str})
    assert (predicted["prediction"] == classifier.predict(rows).astype(str)).all()
    np.testing.assert_allclose(predicted.iloc[:, 1:], classifier.predict_proba(rows), rtol=1e-9)


def test_what_was_fitted_is_a_script_without_our_packages(
    classifier: HeadstartClassifier, tmp_path: Path
) -> None:
    rows, classes = mixed()
    classifier.fit(rows, classes)
    head = ast.get_docstring(ast.parse(classifier.code())) or ""
    assert "fitted by Headstart's HeadstartClassifier, after 128 runs on 8 datasets." in " ".join(
        head.split()
    )
    assert "\nExpected: " in head
    assert_code_predicts_the_same(classifier, rows, classes, tmp_path)


def test_it_explains_what_recommend_says(classifier: HeadstartClassifier) -> None:
    text = classifier.fit(*of_numbers(900)).explain()
    assert text.startswith("frame: 900 rows, 2 classes")
    assert "Decision tree" in text
    with pytest.raises(NotFittedError):
        clone(classifier).explain()


def test_an_interrupt_ends_the_fit_and_its_processes(
    classifier: HeadstartClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes when the first run of the race has begun; again if a callback has swallowed it, as a
    callback of the garbage collector does, of which Hypothesis has one."""
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

    monkeypatch.setattr(heats, "evaluate", run)
    presser = threading.Thread(target=press)
    before_that = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    presser.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            classifier.set_params(budget=LONG).fit(*of_numbers(900))
    finally:
        ended.set()
        begun.set()
        presser.join()
        signal.signal(signal.SIGINT, before_that)
    assert set(multiprocessing.active_children()) <= {*before}
    assert not hasattr(classifier, "pipelines_")
