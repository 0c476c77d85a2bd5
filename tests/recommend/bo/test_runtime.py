"""Running times: learned from runs elsewhere."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from recommend.bo.runtime import RunningTimes
from recommend.space import Configurations, configurations_of_table
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput

SMALL = pd.Series({"NumberOfInstances": 200.0, "NumberOfFeatures": 10.0, "NumberOfClasses": 2.0})
LARGE = SMALL.replace({200.0: 900.0})
DEPTH = toy_runs().configurations.parameters["depth"].to_numpy(dtype=np.float64)


def timed_runs(per_row: float = 0.0, scale: float = 1.0) -> RunTable:
    """A run takes a second for each level of depth and `per_row` seconds for each row, times `scale`."""
    runs = toy_runs()
    rows = toy_metafeatures()["NumberOfInstances"].loc[runs.runs["dataset"]].to_numpy()
    depth = runs.configurations.parameters["depth"].loc[runs.runs["setup"]].to_numpy(dtype=np.float64)
    millis = 1000 * scale * (depth + per_row * rows)
    return replace(runs, measure="usercpu_time_millis", runs=runs.runs.assign(value=millis))


def known() -> Configurations:
    return configurations_of_table(toy_runs().configurations, {})


def expected_seconds(times: RunningTimes) -> Floats:
    seconds: Floats = np.exp(times.log_seconds(times.encode(known())))
    return seconds


@pytest.fixture
def times() -> RunningTimes:
    return RunningTimes(timed_runs(), toy_metafeatures(), SMALL)


def test_seconds_that_grow_with_a_hyperparameter_are_learned_in_order(times: RunningTimes) -> None:
    seconds = expected_seconds(times)
    assert seconds == pytest.approx(DEPTH, rel=0.05)
    order = np.argsort(DEPTH, kind="stable")
    is_deeper = np.diff(DEPTH[order]) > 0
    assert (np.diff(seconds[order])[is_deeper] > 0).all()


def test_large_datasets_take_longer() -> None:
    """A hundredth of a second for each row."""
    runs = timed_runs(per_row=0.01)
    small, large = (RunningTimes(runs, toy_metafeatures(), new) for new in (SMALL, LARGE))
    assert (expected_seconds(large) > expected_seconds(small) + 2).all()


def test_datasets_without_metafeatures_are_learned_from_too() -> None:
    without = toy_metafeatures().drop(index=["toy:0", "toy:7"])
    for new in (SMALL, pd.Series(dtype=float)):
        seconds = expected_seconds(RunningTimes(timed_runs(), without, new))
        assert seconds == pytest.approx(DEPTH, rel=0.05)


def test_no_runs_are_refused() -> None:
    nothing = replace(timed_runs(), runs=timed_runs().runs.iloc[:0])
    with pytest.raises(BadInput, match="nothing to learn from"):
        RunningTimes(nothing, toy_metafeatures(), SMALL)
