"""The end of a search, and the time of a trial."""

from recommend.bo.tuning.deadline import Deadline, trial_limit
from warehouse.support.text import LONGEST_SECONDS


def test_time_counts_from_the_start_and_is_never_negative() -> None:
    now = 100.0
    deadline = Deadline(40.0, clock=lambda: now)
    earlier = Deadline(40.0, 70.0, lambda: now)
    assert (deadline.left(), earlier.left(), earlier.elapsed()) == (40, 10, 30)
    now = 150
    assert (deadline.left(), deadline.elapsed()) == (0, 50)
    assert Deadline(None, clock=lambda: now).left() == LONGEST_SECONDS


def test_a_trial_may_take_the_users_limit_or_a_quarter_of_the_time() -> None:
    assert trial_limit(7.0, 40.0) == 7
    assert trial_limit(None, 40.0) == 10
    assert trial_limit(None, 3.0) == 2
    assert trial_limit(None, None) == 60
