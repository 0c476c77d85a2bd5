"""Folds and halves of families of datasets."""

from collections import Counter
from dataclasses import replace

from metalearners.evaluation.folds import HALVES, families_of, folds_of, half_of
from tests.cases import each
from tests.contracts.meta_learner import toy_runs
from warehouse.questions.queries import RunTable


def in_pairs() -> RunTable:
    """Twelve datasets, each pair of which are near copies: 0 and 1, 2 and 3, and so on."""
    runs = toy_runs()
    pair = runs.runs["dataset"].str.removeprefix("toy:").astype(int) // 2
    return replace(runs, runs=runs.runs.assign(family="family " + pair.astype(str)))


def test_each_dataset_has_its_family() -> None:
    assert families_of(in_pairs())[["toy:0", "toy:1", "toy:11"]].tolist() == [
        "family 0",
        "family 0",
        "family 5",
    ]


@each(("folds", "expected"), [(0, [2] * 6), (4, [4, 4, 2, 2]), (6, [2] * 6), (9, [2] * 6)])
def test_families_are_dealt_into_folds_and_never_split(folds: int, expected: list[int]) -> None:
    runs = in_pairs()
    fold_of, families = folds_of(runs, folds), families_of(runs)
    assert sorted(Counter(fold_of).values(), reverse=True) == expected
    assert fold_of.groupby(families).nunique().eq(1).all()


def test_the_half_of_a_family_does_not_depend_on_other_families() -> None:
    halves = [half_of(f"family {number}") for number in range(100)]
    assert set(halves) == set(HALVES)
    assert 30 < halves.count("choosing") < 70
    assert half_of("family 7") == halves[7]
