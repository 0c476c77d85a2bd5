"""Splits: sizes, classes, and seeds."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ingest.running.resampling import Resampling, hold_out, stratified_sample

SEEDS = st.integers(0, 1000)


def codes_of(*sizes: int) -> np.ndarray:
    """Class codes in mixed order, with so many rows of each class."""
    return np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))


CLASSES = st.lists(st.integers(2, 60), min_size=2, max_size=6).map(lambda sizes: codes_of(*sizes))
CAPS = st.none() | st.integers(12, 200)


@st.composite
def resamplings(draw: st.DrawFn) -> Resampling:
    folds = draw(st.sampled_from([1, 2, 3, 5, 10]))
    repeats = draw(st.integers(1, 3)) if folds > 1 else 1
    return Resampling(folds, repeats, draw(CAPS), draw(CAPS) if folds == 1 else None)


# Names


@pytest.mark.parametrize(
    ("resampling", "name"),
    [
        (Resampling(3), "cv3"),
        (Resampling(10, repeats=2), "2xcv10"),
        (Resampling(1), "holdout3"),
        (Resampling(5, train_rows=2000), "cv5-2000"),
        (Resampling(10, 2, train_rows=150), "2xcv10-150"),
        (Resampling(1, train_rows=2000, test_rows=10_000), "holdout-2000-10000"),
        (Resampling(3, by="time"), "ordered-cv3"),
        (Resampling(5, train_rows=500, by="group"), "grouped-cv5-500"),
        (Resampling(1, by="group"), "grouped-holdout3"),
        (Resampling(1, train_rows=2000, test_rows=10_000, by="time"), "ordered-holdout-2000-10000"),
    ],
)
def test_procedure_is_named_after_its_splits(resampling: Resampling, name: str) -> None:
    assert resampling.name == name


def test_different_splits_have_different_names() -> None:
    assert Resampling(1, train_rows=2000).name != Resampling(1, test_rows=2000).name


# Splits


@settings(deadline=None, max_examples=60)
@given(resamplings(), CLASSES, SEEDS)
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_rows_are_tested_once_and_not_in_their_training_set(
    resampling: Resampling, codes: np.ndarray, seed: int
) -> None:
    assume(np.bincount(codes).max() >= resampling.folds)  # scikit-learn refuses others
    repetitions = list(resampling.splits(codes, seed))
    assert len(repetitions) == resampling.repeats
    for splits in repetitions:
        assert len(splits) == resampling.folds
        tested = np.concatenate([test for _, test in splits])
        assert len(set(tested)) == len(tested)
        if resampling.folds > 1:
            assert sorted(tested) == list(range(len(codes)))
        for train, test in splits:
            assert not set(train) & set(test)
            assert len(set(train)) == len(train)
            assert resampling.train_rows is None or len(train) <= resampling.train_rows


@settings(deadline=None, max_examples=60)
@given(resamplings(), CLASSES, SEEDS)
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_stated_sizes_are_those_of_the_splits(resampling: Resampling, codes: np.ndarray, seed: int) -> None:
    assume(np.bincount(codes).max() >= resampling.folds)
    assume(resampling.folds > 1 or resampling.test_rows is not None)  # a third of each class: see below
    (splits, *_) = resampling.splits(codes, seed)
    train_rows, test_rows = resampling.sizes(len(codes))
    assert abs(train_rows - np.mean([len(train) for train, _ in splits])) <= 0.5
    assert test_rows == sum(len(test) for _, test in splits)


@settings(max_examples=60)
@given(CLASSES, CAPS, SEEDS)
def test_a_third_of_each_class_is_a_third_of_all_rows_up_to_remainders(
    codes: np.ndarray, cap: int | None, seed: int
) -> None:
    """Up to two rows of a class may remain: the stated sizes do not depend on classes."""
    resampling = Resampling(1, train_rows=cap)
    (((train, test),),) = resampling.splits(codes, seed)
    train_rows, test_rows = resampling.sizes(len(codes))
    most = 2 * len(np.unique(codes)) // 3
    assert 0 <= test_rows - len(test) <= most
    assert 0 <= len(train) - train_rows <= most


@pytest.mark.parametrize(
    ("resampling", "rows", "sizes"),
    [
        (Resampling(10, 2), 300, (270, 300)),
        (Resampling(3), 100, (67, 100)),
        (Resampling(3, train_rows=2000), 4000, (2000, 4000)),
        (Resampling(1), 90, (60, 30)),
        (Resampling(1, train_rows=2000, test_rows=10_000), 5000, (2000, 2500)),
        (Resampling(1, train_rows=8000, test_rows=10_000), 50_000, (8000, 10_000)),
        (Resampling(1, train_rows=32_000, test_rows=10_000), 30_000, (20_000, 10_000)),
    ],
)
def test_sizes_of_some_datasets(resampling: Resampling, rows: int, sizes: tuple[int, int]) -> None:
    assert resampling.sizes(rows) == sizes
    (splits, *_) = resampling.splits(np.arange(rows) % 2, 0)
    assert round(np.mean([len(train) for train, _ in splits])) == sizes[0]
    assert sum(len(test) for _, test in splits) == sizes[1]


@pytest.mark.parametrize(
    "resampling", [Resampling(4), Resampling(1), Resampling(1, test_rows=60), Resampling(4, train_rows=60)]
)
def test_every_split_has_the_shares_of_the_classes(resampling: Resampling) -> None:
    codes = codes_of(120, 72, 48)
    for train, test in next(resampling.splits(codes, 0)):
        for rows in (train, test):
            assert np.bincount(codes[rows]) / len(rows) == pytest.approx([0.5, 0.3, 0.2], abs=0.02)


def test_class_of_two_rows_is_in_training_whenever_it_is_tested() -> None:
    codes = codes_of(60, 30, 2)
    (((train, _),),) = Resampling(1, test_rows=40).splits(codes, 0)
    assert 2 in codes[train]


@pytest.mark.parametrize(
    "resampling",
    [Resampling(3, 2), Resampling(3, train_rows=50), Resampling(1), Resampling(1, 1, 50, 40)],
    ids=lambda resampling: resampling.name,
)
def test_seed_decides_the_splits(resampling: Resampling) -> None:
    codes = codes_of(60, 60, 30)

    def drawn(seed: int) -> list[list[int]]:
        repetitions = resampling.splits(codes, seed)
        return [rows.tolist() for splits in repetitions for split in splits for rows in split]

    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)


def test_repetitions_differ() -> None:
    first, second = Resampling(5, 2).splits(codes_of(50, 50), 0)
    assert any(not np.array_equal(one[1], other[1]) for one, other in zip(first, second, strict=True))


def test_test_rows_do_not_depend_on_the_training_size() -> None:
    codes = codes_of(300, 200, 100)
    for make in (lambda cap: Resampling(3, 1, cap), lambda cap: Resampling(1, 1, cap, 200)):
        fewer, more = (next(make(cap).splits(codes, 5)) for cap in (100, 300))
        for (train, test), (other_train, other_test) in zip(fewer, more, strict=True):
            assert (len(train), len(other_train)) == (100, 300)
            assert np.array_equal(test, other_test)


# Samples


@settings(max_examples=200)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), SEEDS, st.data())
def test_sample_has_its_size_and_two_rows_of_each_class(
    sizes: list[int], seed: int, data: st.DataObject
) -> None:
    codes = codes_of(*sizes, 5)
    n = data.draw(st.integers(min(2 * (len(sizes) + 1), len(codes)), len(codes)))
    rows = stratified_sample(codes, n, seed)
    assert len(rows) == n
    assert (np.diff(rows) > 0).all()
    drawn = np.bincount(codes[rows], minlength=len(sizes) + 1)
    assert (drawn >= np.minimum([*sizes, 5], 2)).all()


@settings(max_examples=100)
@given(st.lists(st.integers(40, 200), min_size=2, max_size=5), st.integers(100, 150), SEEDS)
def test_sample_has_the_shares_of_the_classes(sizes: list[int], n: int, seed: int) -> None:
    codes = codes_of(*sizes)
    n = min(n, len(codes))
    drawn = np.bincount(codes[stratified_sample(codes, n, seed)])
    exact = n * np.array(sizes) / len(codes)
    assume((exact >= 2).all())
    assert (np.abs(drawn - exact) < 1).all()


def test_rare_classes_take_their_rows_from_the_largest() -> None:
    codes = codes_of(900, 90, 5, 5)
    assert np.bincount(codes[stratified_sample(codes, 100, 0)]).tolist() == [87, 9, 2, 2]


def test_sample_keeps_its_size_without_room_for_two_rows_of_each_class() -> None:
    codes = codes_of(30, 20, 10, 5)
    assert len(stratified_sample(codes, 5, 0)) == 5


@settings(max_examples=100)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(2, 10), SEEDS)
def test_one_in_so_many_rows_of_each_class_is_held_out(sizes: list[int], every: int, seed: int) -> None:
    codes = codes_of(*sizes)
    train, held_out = hold_out(codes, every, seed)
    assert sorted([*train, *held_out]) == list(range(len(codes)))
    assert np.bincount(codes[held_out], minlength=len(sizes)).tolist() == [size // every for size in sizes]
