"""The choice between classification and regression for numbers, and its explanation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ingest.reading.column_types.columns import tidied
from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.target.task_choice import choose_task
from tests.cases import each
from tests.ingest.reading.checks import refusal, written
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskName

ROWS = 400
BY_TASK = {"classification": CLASSIFICATION, "regression": REGRESSION}


def _frame(values: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": np.arange(len(values)) % 7, "y": values})


def _cycle(values: Sequence[Any], rows: int = ROWS) -> pd.Series:
    return pd.Series([values[row % len(values)] for row in range(rows)], name="y")


def _csv(folder: Path, words: Sequence[str], rows: int = ROWS) -> Path:
    cells = [f'{row % 7},"{words[row % len(words)]}"\n' for row in range(rows)]
    return written(folder, "a,y\n" + "".join(cells))


def _reason(dataset: Dataset) -> str:
    return dataset.target_choice.removeprefix("'y' is the target because it was given").removeprefix("; ")


# ---- detected ------------------------------------------------------------------------------------------


@each(
    ("values", "task"),
    [
        (["no", "yes"], "classification"),
        ([0, 1], "classification"),
        ([0.5, 1.5], "classification"),
        ([1, 2, 3], "classification"),
        ([3, 1, 7, 90], "classification"),  # codes
        (range(30), "classification"),
        (range(31), "regression"),
        ([1.0, 1.5, 2.0], "regression"),
        ([*range(15), 15], "classification"),
        ([*range(15), 20], "regression"),  # counts and amounts leave gaps
        (pd.Series([1, 2, 3, 4], dtype="category"), "classification"),
    ],
)
def test_few_whole_numbers_are_classes_and_all_other_numbers_are_predicted(
    values: Sequence[Any], task: TaskName
) -> None:
    column = _cycle(values)
    column = column.astype("category") if isinstance(values, pd.Series) else column
    assert load_dataset(_frame(column)).task_type is BY_TASK[task]


@each(("rows", "task"), [(5, "regression"), (9, "regression"), (10, "classification"), (2, "classification")])
def test_five_numbers_in_fewer_than_ten_rows_are_not_classes(rows: int, task: TaskName) -> None:
    assert load_dataset(_frame(_cycle(range(5), rows)), target="y").task_type is BY_TASK[task]


@each(
    ("words", "first"),
    [
        (["1,234 USD", "999 USD", "12,000 USD"], 1234),
        (["12 %", "7.5 %", "101 %"], 12),
        (["1.234,50", "7,25", "12,75"], 1234.5),
        (["$1,200.50", "$3.25", "$0.99"], 1200.5),
    ],
)
def test_numbers_with_units_and_thousands_are_read_as_in_any_column(
    tmp_path: Path, words: list[str], first: float
) -> None:
    words = [*words, *(word.replace("1", "2") for word in words), words[0].replace("2", "3")]
    dataset = load_dataset(_csv(tmp_path, words), target="y", task="regression")
    assert dataset.target.iloc[0] == first
    assert dataset.target.dtype == np.float64


def test_rows_with_words_gaps_and_infinite_numbers_are_dropped_and_named(tmp_path: Path) -> None:
    words = [*(f"{number / 8}" for number in range(97)), "unknown", "inf", ""]
    dataset = load_dataset(_csv(tmp_path, words, rows=100), target="y")
    assert len(dataset.target) == len(dataset.features) == 97
    assert dataset.note == (
        "3 rows without a finite target value dropped; 1 cell of 'y' is no number and counts as missing: "
        "'unknown' (line 99)"
    )


# ---- given ---------------------------------------------------------------------------------------------


@each(
    "values",
    [
        _cycle([1, 2, 3]),
        _cycle([1, 2, 3]).astype("category"),
        _cycle(["1", "2", "3"]).astype("category"),
        _cycle(["001", "002", "010"]),
        _cycle([0.25, 0.5, 4]),
    ],
)
def test_regression_accepts_any_column_with_three_numbers(values: pd.Series) -> None:
    dataset = load_dataset(_frame(values), target="y", task="regression")
    assert dataset.task_type is REGRESSION
    assert dataset.target.nunique() == 3
    assert _reason(dataset) == "regression, as given"


@each("values", [range(40), [1.5, 2.5, 4.5]])
def test_classification_takes_each_number_as_a_class(values: Sequence[Any]) -> None:
    dataset = load_dataset(_frame(_cycle(values)), target="y", task="classification")
    assert dataset.n_classes == len(values)
    assert _reason(dataset) == "classification, as given"


@each(
    ("values", "options", "part"),
    [
        (_cycle(["red", "green", "blue"]), {"task": "regression"}, "holds 'red' and the like"),
        (_cycle([True, False]), {"task": "regression"}, "can't be predicted as numbers"),
        (
            _cycle(["1", "2", "3", "x", "y", "z", "v"]),
            {"task": "regression"},
            "can't be predicted as numbers",
        ),
        (_cycle([0, 1]), {"task": "regression"}, "has 2 different values, which are classes"),
        (_cycle([3]), {"task": "regression"}, "has one value only"),
        (np.arange(ROWS) / 3, {"task": "classification"}, "it names rows, not classes"),
        (_cycle([1, 2, 3]), {"task": "regression", "roles": {"y": "categorical"}}, "exclude each other"),
        (_cycle([1, 2, 3]), {"task": "ranking"}, "the tasks are classification and regression"),
    ],
)
def test_a_task_that_the_target_does_not_allow_is_refused(
    values: Any, options: dict[str, Any], part: str
) -> None:
    assert part in refusal(_frame(values), target="y", **options)


# ---- explained -----------------------------------------------------------------------------------------


@each(
    ("values", "reason"),
    [
        (
            [1, 2, 3, 4, 5],
            "classification because its numbers are whole and few (--task regression predicts the number)",
        ),
        (
            [2.5, 1.5, 4.5],
            "regression because it has 3 different numbers (--task classification makes each a class)",
        ),
        ([row / 3 for row in range(ROWS)], "regression because it has 400 different numbers"),
        (["no", "yes", "perhaps"], ""),
        ([0, 1], ""),
    ],
)
def test_the_task_is_explained_with_the_alternative_if_there_is_one(
    values: Sequence[Any], reason: str
) -> None:
    assert _reason(load_dataset(_frame(_cycle(values)), target="y")) == reason


@each(
    ("values", "doubt"),
    [
        (np.random.default_rng(0).permutation(np.arange(1, ROWS + 1)), "looks like numbers of rows"),
        (np.where(np.arange(ROWS) < 3, np.arange(ROWS) + 0.5, 0), "is 0 in all but 3 rows"),
    ],
)
def test_numbers_of_rows_and_nearly_constant_numbers_are_asked_about(values: np.ndarray, doubt: str) -> None:
    (found,) = load_dataset(_frame(values), target="y").doubts
    assert doubt in found
    assert found.endswith("for another one, give --target NAME")


# ---- real tables ---------------------------------------------------------------------------------------


def test_the_task_of_real_targets_is_right_except_for_a_rating_a_score_and_a_count(shared_data: Path) -> None:
    expected = {"regression-tables": (REGRESSION, 188), "tables": (CLASSIFICATION, 193)}
    for folder, (task_type, right) in expected.items():
        index = pd.read_csv(shared_data / folder / "index.csv")
        found = []
        for name, target in zip(index["name"], index["target"], strict=True):
            column = pd.read_parquet(shared_data / folder / f"{name}.parquet", columns=[target])[target]
            found.append(choose_task(tidied(column).dropna(), None).task_type)
        assert found.count(task_type) == right
