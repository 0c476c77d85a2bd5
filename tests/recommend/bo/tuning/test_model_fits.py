"""Fits of a search's members: on how many rows, and which members are left out."""

from ingest.running.limits import LimitedCall, Outcome
from ingest.running.resampling import Resampling
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.expected_seconds import ExpectedSeconds
from recommend.bo.tuning.model_fits import ModelFits
from recommend.bo.tuning.resampling import Splits
from recommend.bo.tuning.running import Task
from tests.recommend.bo.tuning.searches import noisy
from tests.recommend.bo.tuning.simulated import configuration, told_seconds

ROWS = 8000
QUICK, MEDIUM, SLOW = configuration(0, 3.0), configuration(1, 12.0), configuration(2, 96.0)


def test_a_member_on_a_fraction_of_the_rows_of_the_others_is_left_out() -> None:
    """The slow one is fitted on 500 rows; 12 s suffice for the quick one, and half of the rows of another."""
    times = ExpectedSeconds(lambda one, rows: told_seconds(one) * rows / ROWS, ROWS, fewest_rows=500)
    fits = ModelFits(Deadline(None), times, [SLOW])
    fits.note(Task("fit", SLOW, 10.0, rows=500), LimitedCall(Outcome.success, "fitted", None, 6.0))
    splits = Splits(noisy(ROWS), Resampling(1, train_rows=500), seed=0)
    weights = dict.fromkeys((QUICK, MEDIUM, SLOW), 1 / 3)
    assert fits.plan(weights, 12.0, [], splits) == {QUICK: 8000, MEDIUM: 4000}
