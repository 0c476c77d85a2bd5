"""The splits of a dataset: random, or by its split column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ingest.reading.datasets import Dataset
from ingest.reading.formats.encoding import quoted
from ingest.reading.target.strata import strata_of
from ingest.running.blocks import Split
from ingest.running.resampling import Resampling
from ingest.running.scorer import scorer_of
from warehouse.support.errors import UnusableDataset
from warehouse.support.text import counted


def splits_of(dataset: Dataset, resampling: Resampling, seed: int, number: int = 0) -> list[Split]:
    """The splits of a repetition of `resampling`, by the dataset's split column if it has one.

    Args:
        number: of the repetition, from 0.

    Raises:
        BadInput: there are too few times or groups, or training rows lack a class.
    """
    strata = strata_of(dataset.target)
    if dataset.split is None:
        return resampling.repetition(strata, seed, number)
    blocks = dataset.split.blocks(dataset.features)
    splits = resampling.repetition(strata, seed, number, blocks)
    _check(dataset, splits, resampling.folds if number == 0 else len(splits))
    return splits


def feasible_folds(dataset: Dataset, resampling: Resampling) -> int:
    """The largest feasible number of folds, at most that of `resampling`; 1 = one split.

    Raises:
        BadInput: not even one split can be made.
    """
    for folds in range(resampling.folds, 1, -1):
        try:
            splits_of(dataset, replace(resampling, folds=folds), seed=0)
        except UnusableDataset:
            continue
        return folds
    splits_of(dataset, replace(resampling, folds=1), seed=0)
    return 1


def _check(dataset: Dataset, splits: Sequence[Split], expected: int) -> None:
    assert dataset.split is not None
    by, scorer = dataset.split, scorer_of(dataset)
    if len(splits) < max(expected, 1) or not all(len(train) and len(test) for train, test in splits):
        kinds = {"time": "times", "group": "groups"}
        there = counted(dataset.features[by.column].nunique(), f"different {kinds[by.kind]}")
        folds = f"{expected} folds" if expected > 1 else "rows to learn from and others to test on"
        raise UnusableDataset(f"{there} in {quoted(by.column)}: too few for {folds}")
    for train, _ in splits:
        missing = scorer.missing_from(dataset.target, train)
        if missing is not None:
            others = "earlier rows" if by.kind == "time" else "rows of other groups"
            raise UnusableDataset(
                f"split by {by}, a fold has no {others} of {missing} to learn from: use fewer folds, or leave"
                f" {missing} out"
            )
