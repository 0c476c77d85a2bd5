"""Boosters get fewer rounds where all of them take too long."""

import math

import pytest

from ingest.flows import get_flow
from ingest.running.limits import LimitedCall, Outcome
from recommend.bo.tuning.deadline import FIRST_SHARE, Deadline
from recommend.bo.tuning.expected_seconds import STARTING, ExpectedSeconds
from recommend.bo.tuning.model_fits import ModelFits
from recommend.bo.tuning.running import Task
from recommend.bo.tuning.shortening import LEAST_ROUNDS, with_half_the_rounds
from tests.recommend.bo.tuning.simulated import configuration
from warehouse.vocabulary.configuration import Configuration

ROWS, FEWEST = 8000, 500
SECONDS = 100.0
"""Of a search."""


def booster(name: str = "lightgbm", **values: object) -> Configuration:
    return Configuration(name, {**get_flow(name).default(), **values})


def times(seconds: float) -> ExpectedSeconds:
    """All fits take these seconds on all rows, and are proportional to the rows."""
    return ExpectedSeconds(lambda _, rows: seconds * rows / ROWS, ROWS, FEWEST)


# ---- configurations ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "rounds"),
    [
        (booster(n_estimators=401, learning_rate=0.1), {"n_estimators": 200, "learning_rate": 0.2}),
        (
            booster("xgboost", n_estimators=400, learning_rate=0.4),
            {"n_estimators": 200, "learning_rate": 0.5},
        ),
        (booster("catboost"), {"iterations": 500, "learning_rate": 0.03}),
        (booster("hist_gradient_boosting"), {"max_iter": 50, "learning_rate": 0.2}),
    ],
    ids=["twice the rate", "within its range", "a rate that CatBoost derives", "scikit-learn's"],
)
def test_half_the_rounds_have_twice_the_learning_rate(one: Configuration, rounds: dict[str, float]) -> None:
    assert with_half_the_rounds(one) == Configuration(one.algorithm, {**one.values, **rounds})


@pytest.mark.parametrize("one", [booster(n_estimators=2 * LEAST_ROUNDS - 1), booster("random_forest")])
def test_few_rounds_stay_and_other_algorithms_too(one: Configuration) -> None:
    assert with_half_the_rounds(one) is None


# ---- times ---------------------------------------------------------------------------------------


def test_the_time_is_proportional_to_the_rounds_whichever_were_timed() -> None:
    known, one = times(8.0), booster(n_estimators=400)
    short = known.shortened(one, 2.5)
    assert short.values["n_estimators"] == 100
    assert known.of_fit(short, ROWS) == pytest.approx(2.0)
    known.note_fit(short, ROWS // 2, 3.0 + STARTING)
    assert known.of_fit(one, ROWS) == pytest.approx(24.0)
    assert known.shortened(one, 12.5).values["n_estimators"] == 200


def test_a_pace_holds_for_its_algorithm_and_half_of_it_for_others() -> None:
    known = times(8.0)
    known.note_pace(booster(), ROWS, 72.0 + STARTING)
    assert known.of_fit(booster(num_leaves=7), ROWS) == pytest.approx(72.0)
    assert known.of_fit(booster("xgboost"), ROWS) == pytest.approx(8.0 * math.sqrt(9))


# ---- fits ----------------------------------------------------------------------------------------


def fits_of(known: ExpectedSeconds, *candidates: Configuration) -> ModelFits:
    deadline = Deadline(SECONDS, clock=lambda: 0.0)
    return ModelFits(deadline, known, [*candidates, configuration(0)], shortens=True)


def end(fits: ModelFits, task: Task, seconds: float, outcome: Outcome = Outcome.success) -> None:
    fits.note(task, LimitedCall(outcome, "fitted", None, seconds))


def test_the_first_fit_has_few_rounds_and_the_next_as_many_as_its_share_of_the_time_allows() -> None:
    one = booster("catboost")
    fits = fits_of(times(64.0), one)
    probe = fits.next(final=False)
    assert probe is not None
    assert probe.configuration.values["iterations"] == 62
    end(fits, probe, 4.0 * probe.rows / ROWS + STARTING)
    longest, rows = fits.affordable(one)
    assert (longest.values["iterations"], rows) == (250, min(4 * probe.rows, ROWS))
    assert fits.times.of_fits([longest]) <= FIRST_SHARE * SECONDS


def test_a_longer_version_replaces_the_shorter_one_and_nothing_shorter_replaces_it() -> None:
    one = booster("catboost")
    fits = fits_of(times(64.0), one)
    short, longer = fits.times.shortened(one, 5.0), fits.times.shortened(one, 10.0)
    end(fits, Task("fit", short, 20.0, rows=ROWS), 4.0)
    end(fits, Task("fit", longer, 20.0, rows=ROWS), 50.0)
    assert [*fits.fitted] == [longer]
    assert fits.affordable(one) == (longer, ROWS)


def test_a_booster_that_fails_with_few_rounds_is_not_tried_with_more() -> None:
    one, other = booster("catboost"), booster()
    fits = fits_of(times(8.0), one, other)
    probe = fits.next(final=False)
    assert probe is not None
    end(fits, probe, 0.5, Outcome.crash)
    following = fits.next(final=False)
    assert following is not None
    assert following.configuration.algorithm == other.algorithm
    assert fits.missing([one]) == []
