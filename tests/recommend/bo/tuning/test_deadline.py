"""What a search may take, and what it keeps for the end."""

import numpy as np
import pytest

from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from recommend.bo.tuning import Finish, Search
from recommend.bo.tuning.deadline import Deadline, finals_seconds, held_out_seconds
from recommend.bo.tuning.trials import Trial
from warehouse.vocabulary.configuration import Configuration


class Clock:
    """A time that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def entry(number: int, value: float | None, seconds: float) -> Trial:
    outcome = Outcome.crash if value is None else Outcome.success
    measures = {} if value is None else {"predictive_accuracy": value}
    return Trial(number, Configuration("svm", {}), "model", Evaluation(outcome, seconds, measures))


ENTRIES = [entry(0, 0.5, 6.0), entry(1, None, 50.0), entry(2, 0.9, 2.0), entry(3, 0.8, 4.0)]


def test_time_runs_from_the_start_and_is_never_less_than_nothing() -> None:
    clock = Clock()
    deadline = Deadline(40.0, clock)
    assert deadline.left() == 40
    clock.now = 130
    assert deadline.left() == 10
    clock.now = 150
    assert deadline.left() == 0
    assert Deadline(None, clock).left() == np.inf


def test_what_comes_after_the_trials_gets_half_of_the_time_at_most() -> None:
    assert Deadline(40.0).share(15.0) == 15
    assert Deadline(40.0).share(500.0) == 20
    assert Deadline(None).share(500.0) == 500


@pytest.mark.parametrize(
    ("jobs", "finish", "expected"),
    [
        (1, Finish(leaders=2), 1.2 * (2 + 4) + 0.5 + 1.2 * (1 + 1) + 0.5),
        (2, Finish(leaders=2), 1.2 * 4 + 0.5 + 1.2 * 1 + 0.5),
        (1, Finish(leaders=0), 1.2 * (1 + 1) + 0.5),
        (1, Finish(leaders=0, ensemble=9), 1.2 * (1 + 1 + 2 + 3) + 0.5),
    ],
)
def test_the_end_is_expected_to_take_as_long_as_the_best_trials(
    jobs: int, finish: Finish, expected: float
) -> None:
    """The best took 2, 4 and 6 s with three folds; a fit on all rows takes half of that."""
    assert finals_seconds(ENTRIES, Search(), finish, jobs) == pytest.approx(expected)


def test_without_a_success_nothing_comes_after_the_trials() -> None:
    assert finals_seconds(ENTRIES[1:2], Search(), Finish(), 1) == 0
    assert held_out_seconds([], Search(), Finish(), 1) == 0
