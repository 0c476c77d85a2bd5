"""Splits by time and by groups."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.target.strata import strata_of
from ingest.running.blocks import MANY_GROUPS, Grouped
from ingest.running.resampling import Resampling
from ingest.running.splitting import feasible_folds, splits_of
from warehouse.support.errors import BadInput


def rows(n: int, *, times: int | None = None, groups: int | None = None, seed: int = 0) -> Dataset:
    """Rows in random order with two alternating classes, at this many times or in this many groups."""
    order = np.random.default_rng(seed).permutation(n)
    label = np.where(np.arange(n) % 2, "yes", "no")
    frame = pd.DataFrame({"x": np.arange(n) * 0.37, "label": label})
    frame["time"] = np.arange(n) * (times or n) // n
    frame["group"] = np.arange(n) // 2 % (groups or n // 2)
    return load_dataset(frame.iloc[order], target="label", roles={"label": "categorical"})


RESAMPLINGS = [Resampling(3), Resampling(1), Resampling(1, test_rows=20), Resampling(3, train_rows=15)]


@pytest.mark.parametrize("resampling", RESAMPLINGS)
@pytest.mark.parametrize("number", [0, 1])
@settings(deadline=None, max_examples=25)
@given(n=st.integers(60, 200), times=st.integers(12, 200), seed=st.integers(0, 5))
def test_test_rows_are_later_than_all_training_rows(
    resampling: Resampling, number: int, n: int, times: int, seed: int
) -> None:
    data = rows(n, times=min(times, n), seed=seed).split_by("time=time")
    time = data.features["time"].to_numpy()
    splits = splits_of(data, replace(resampling, by="time"), seed, number)
    for train, test in splits:
        assert time[train].max() < time[test].min()
    tested = np.concatenate([test for _, test in splits])
    assert len(np.unique(tested)) == len(tested)


@pytest.mark.parametrize("resampling", RESAMPLINGS)
@settings(deadline=None, max_examples=25)
@given(n=st.integers(60, 200), groups=st.integers(6, 30), seed=st.integers(0, 5))
def test_no_group_is_in_both_training_and_test_rows(
    resampling: Resampling, n: int, groups: int, seed: int
) -> None:
    data = rows(n, groups=groups, seed=seed).split_by("group=group")
    of_row = data.features["group"].to_numpy()
    splits = splits_of(data, replace(resampling, by="group"), seed)
    assert len(splits) == resampling.folds
    for train, test in splits:
        assert not set(of_row[train]) & set(of_row[test])


def test_folds_by_distinct_times_equal_scikit_learns() -> None:
    """Eight rows in order, three folds: the first quarter is trained on, each next one is tested."""
    frame = pd.DataFrame({"x": np.arange(8.0) ** 2, "time": np.arange(8) + 1990, "y": ["a", "b"] * 4})
    splits = splits_of(
        load_dataset(frame, target="y").split_by("time=time"), Resampling(3, by="time"), seed=0
    )
    assert [(train.tolist(), test.tolist()) for train, test in splits] == [
        ([0, 1], [2, 3]),
        ([0, 1, 2, 3], [4, 5]),
        ([0, 1, 2, 3, 4, 5], [6, 7]),
    ]


def test_training_parts_of_other_repetitions_end_later_so_that_no_class_is_missed() -> None:
    data = rows(120).split_by("time=time")
    first, again = (splits_of(data, Resampling(3, by="time"), seed=0, number=number) for number in (0, 1))
    assert [len(train) for train, _ in first] == [30, 60, 90]
    assert [len(train) for train, _ in again] == [48, 72, 96]


def test_without_a_split_column_splits_are_random() -> None:
    data = rows(90)
    codes = strata_of(data.target)
    for resampling in RESAMPLINGS:
        by_dataset, by_codes = splits_of(data, resampling, seed=3), next(resampling.splits(codes, 3))
        for one, other in zip(by_dataset, by_codes, strict=True):
            assert [part.tolist() for part in one] == [part.tolist() for part in other]


@pytest.mark.parametrize("groups", [40, MANY_GROUPS + 1])
def test_folds_of_groups_have_about_equal_sizes_and_depend_on_the_seed(groups: int) -> None:
    of_row = np.arange(groups * 3) % groups
    codes = np.random.default_rng(0).integers(0, 2, len(of_row))

    def tested(seed: int) -> list[list[int]]:
        return [test.tolist() for _, test in Grouped(codes, of_row).folds(4, seed, 0)]

    assert tested(1) == tested(1) != tested(2)
    assert all(abs(len(test) - len(codes) / 4) < 0.1 * len(codes) for test in tested(1))


def late(label: Callable[[np.ndarray], np.ndarray]) -> Dataset:
    time = np.arange(100)
    frame = pd.DataFrame({"x": np.sin(time), "time": time + 1900, "label": label(time)})
    return load_dataset(frame, target="label")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (rows(60, groups=2).split_by("group=group"), "2 different groups in 'group': too few for 3 folds"),
        (rows(60, times=2).split_by("time=time"), "2 different times in 'time': too few for 3 folds"),
        (
            late(lambda time: np.where(time < 50, "early", "late")).split_by("time=time"),
            "split by time=time, a fold has no earlier rows of class 'late' to learn from",
        ),
        (
            late(lambda time: np.where(time == 1, "rare", np.where(time % 2, "a", "b"))).split_by(
                "group=time"
            ),
            "split by group=time, a fold has no rows of other groups of class 'rare' to learn from",
        ),
    ],
)
def test_too_few_times_or_groups_and_classes_missing_from_training_are_refused(
    data: Dataset, reason: str
) -> None:
    assert data.split is not None
    with pytest.raises(BadInput, match=reason):
        splits_of(data, Resampling(3, by=data.split.kind), seed=0)


def test_as_many_folds_as_groups_and_times_allow_are_feasible() -> None:
    groups = rows(60, groups=4).split_by("group=group")
    assert feasible_folds(groups, Resampling(10, by="group")) == 4
    assert feasible_folds(rows(60).split_by("time=time"), Resampling(5, by="time")) == 5
    begins_late = late(lambda time: np.where((time >= 40) & (time % 2 == 0), "b", "a")).split_by("time=time")
    assert feasible_folds(begins_late, Resampling(5, by="time")) == 1
    never = late(lambda time: np.where(time < 90, "a", "b")).split_by("time=time")
    with pytest.raises(BadInput, match="no earlier rows of class 'b'"):
        feasible_folds(never, Resampling(5, by="time"))


def test_sizes_in_time_are_those_of_the_splits() -> None:
    data = rows(120).split_by("time=time")
    splits = splits_of(data, Resampling(3, by="time"), seed=0)
    train_rows, test_rows = Resampling(3, by="time").sizes(120)
    assert train_rows == np.mean([len(train) for train, _ in splits])
    assert test_rows == sum(len(test) for _, test in splits)
