"""Choose between classification and regression for a numeric target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ingest.reading.formats.encoding import quoted
from warehouse.support.arrays import Floats
from warehouse.support.errors import UnusableDataset
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskName, TaskType

MOST_CLASSES = 30
"""Most different whole numbers that count as classes."""
_MOST_WITH_GAPS = 15  # the same, if some between the smallest and the largest are missing: counts, amounts
_LEAST_CLASSES_REFUSED = 10  # different values in a small table that do not count as names of rows
_FEWEST_NUMBERS = 3  # different values for regression
_LARGEST = 1e150  # sums of the squares of numbers up to it are finite


@dataclass(frozen=True)
class TaskChoice:
    """The task type of a target, and the reason; no reason if there is no choice."""

    task_type: TaskType
    reason: str | None = None


def choose_task(present: pd.Series, given: TaskName | None) -> TaskChoice:
    """Choose the task type of a target.

    Words are classes, and so are two values of any kind. Whole numbers are classes if there are at most 15,
    or at most 30 consecutive ones (classes are numbered consecutively, counts and amounts have gaps), in at
    least twice as many rows. All other numbers are predicted as numbers.

    Evidence for the thresholds: of the targets of 384 real tables (191 of numbers, 193 of classes, of which
    13 are three or more numbers) all but 3 are chosen right; these are a rating, a score and a count.

    Args:
        present: (n,) a column in one of the forms of `ingest.reading.column_types.columns.read_column`,
            without missing values.
        given: the user's choice; None = the more likely one.

    Raises:
        UnusableDataset: the user wants regression, and there are fewer than three different numbers.
    """
    distinct = present.nunique()
    if not pd.api.types.is_numeric_dtype(present.dtype):
        return TaskChoice(CLASSIFICATION)
    if given == "regression" and 1 < distinct < _FEWEST_NUMBERS:
        raise UnusableDataset(
            f"the target {quoted(present.name)} has {distinct} different values, which are classes: leave "
            "out --task regression"
        )
    if distinct < _FEWEST_NUMBERS:
        return TaskChoice(CLASSIFICATION)
    if given is not None:
        task_type = REGRESSION if given == "regression" else CLASSIFICATION
        return TaskChoice(task_type, f"{given}, as given")
    if _are_classes(present, distinct):
        return TaskChoice(
            CLASSIFICATION,
            "classification because its numbers are whole and few (--task regression predicts the number)",
        )
    numbers = f"regression because it has {distinct:,} different numbers"
    if names_rows(distinct, len(present)):
        return TaskChoice(REGRESSION, numbers)
    return TaskChoice(REGRESSION, f"{numbers} (--task classification makes each a class)")


def names_rows(distinct: int, rows: int) -> bool:
    """Whether there are so many different values that, as classes, they would be names of rows."""
    return distinct > max(rows / 2, _LEAST_CLASSES_REFUSED)


def _are_classes(numbers: pd.Series, distinct: int) -> bool:
    """Whether three or more different numbers are classes."""
    if distinct > min(MOST_CLASSES, len(numbers) / 2):
        return False
    values = numbers.to_numpy(dtype=float)
    has_gaps = np.ptp(values) >= distinct
    return are_whole(values) and (distinct <= _MOST_WITH_GAPS or not has_gaps)


def are_whole(numbers: pd.Series | Floats) -> bool:
    """Whether all numbers are whole."""
    return bool((numbers == np.floor(numbers)).all())


def are_squarable(numbers: pd.Series | Floats) -> bool:
    """Whether squared errors are neither infinite nor all 0 as floats."""
    return bool(np.abs(numbers).max() < _LARGEST and np.ptp(numbers) > 1 / _LARGEST)
