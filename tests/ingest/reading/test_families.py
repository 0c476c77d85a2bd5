"""Copies of a dataset are found by content; datasets that are only alike are not."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.families import near_copies, sketch

ROWS = 600


def _measured(seed: int, rows: int = ROWS) -> pd.DataFrame:
    """Few telling columns among those that every table has."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "age": rng.integers(18, 90, rows),
            "sex": rng.choice(["f", "m"], rows),
            "height": rng.normal(170, 10, rows).round(3),
            "weight": rng.normal(70, 10, rows),
            "income": rng.integers(10, 90, rows) * 1000,
            "region": rng.choice(list("abcdefghij"), rows, p=np.arange(1, 11) / 55),
            "member": np.where(rng.random(rows) < 0.3, np.nan, rng.integers(0, 2, rows)),
            "unit": "cm",
            "class": rng.choice(["high", "low"], rows),
        }
    )


def _categories(seed: int, rows: int = ROWS) -> pd.DataFrame:
    """Answers to twelve questions, as a survey has them; hardly two people answer alike."""
    rng = np.random.default_rng(seed)
    answers = ["never", "rarely", "sometimes", "often", "always", "no answer"]
    weights = rng.dirichlet(np.full(6, 5.0), size=12)
    frame = pd.DataFrame({f"q{i}": rng.choice(answers, rows, p=weights[i]) for i in range(12)})
    return frame.assign(**{"class": rng.choice(["yes", "no"], rows)})


def _dataset(frame: pd.DataFrame, target: str = "class") -> Dataset:
    return load_dataset(frame, target=target)


def _half(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sample(frac=0.5, random_state=1)


COPIES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "the same": lambda frame: frame,
    "rows in another order": lambda frame: frame.sample(frac=1, random_state=1),
    "columns in another order": lambda frame: frame.sample(frac=1, axis=1, random_state=1),
    "other names": lambda frame: frame.set_axis(
        [*(f"v{i}" for i in range(frame.shape[1] - 1)), "class"], axis=1
    ),
    "a third of the columns left out": lambda frame: frame.drop(columns=list(frame.columns[1:-1:3])),
    "a column more": lambda frame: frame.assign(more=np.arange(len(frame)) % 7),
    "no classes but another target": lambda frame: frame.drop(columns="class").assign(
        **{"class": np.arange(len(frame)) % 2}
    ),
    "half of the rows": _half,
    "half of the rows, without classes": lambda frame: _half(frame).assign(**{"class": list("xyz") * 100}),
    "half of the rows, other names": lambda frame: COPIES["other names"](_half(frame)),
    "a tenth of the rows": lambda frame: frame.sample(frac=0.1, random_state=1),
}


@pytest.mark.parametrize("change", COPIES)
@pytest.mark.parametrize("make", [_measured, _categories])
def test_a_copy_is_found_whatever_was_changed(make: Callable[[int], pd.DataFrame], change: str) -> None:
    sketches = {
        "original": sketch(_dataset(make(0))),
        "copy": sketch(_dataset(COPIES[change](make(0)))),
        "other": sketch(_dataset(make(1))),
    }
    assert near_copies(sketches) == [["copy", "original"]]


def test_another_column_as_target_is_a_copy() -> None:
    sketches = {target: sketch(_dataset(_categories(0), target)) for target in ("q3", "class")}
    assert near_copies(sketches) == [["class", "q3"]]


def test_a_part_with_fewer_columns_is_found_by_its_measurements() -> None:
    part = _half(_measured(0)).drop(columns=["age", "sex", "region"])
    assert near_copies({"a": sketch(_dataset(_measured(0))), "b": sketch(_dataset(part))}) == [["a", "b"]]


def test_a_part_with_fewer_columns_is_found_by_its_names() -> None:
    part = _half(_categories(0)).drop(columns=["q1", "q4", "q7", "class"])
    sketches = {"a": sketch(_dataset(_categories(0))), "b": sketch(_dataset(part, "q2"))}
    assert near_copies(sketches) == [["a", "b"]]


def test_two_halves_of_a_dataset_are_no_copies() -> None:
    """Nothing in them tells that they belong together."""
    half = _half(_measured(0))
    rest = _measured(0).drop(index=half.index)
    assert near_copies({"a": sketch(_dataset(half)), "b": sketch(_dataset(rest))}) == []


def test_copies_of_copies_are_one_group() -> None:
    frame = _measured(0)
    sketches = {
        "a": sketch(_dataset(frame.iloc[:400])),
        "b": sketch(_dataset(frame)),
        "c": sketch(_dataset(frame.iloc[200:])),
    }
    assert near_copies(sketches) == [["a", "b", "c"]]


def test_a_dataset_without_evidence_is_a_copy_of_none() -> None:
    frame = pd.DataFrame({"a": [1] * 20, "class": ["x", "y"] * 10})
    assert near_copies({"a": sketch(_dataset(frame)), "b": sketch(_dataset(frame))}) == []


def _flags(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.integers(0, 2, (ROWS, 30))).assign(**{"class": rng.choice(["x", "y"], ROWS)})


def _designed(seed: int) -> pd.DataFrame:
    """Numberings and balanced factors, which other tables have as well, and one list of codes."""
    rng = np.random.default_rng(seed)
    codes = np.random.default_rng(0).choice(90_000, ROWS, replace=False) + 10_000
    columns = {f"rank{i}": rng.permutation(ROWS) + 1 for i in range(3)}
    columns |= {f"day{i}": rng.choice(2 * ROWS, ROWS, replace=False) for i in range(3)}
    columns |= {f"block{i}": rng.permutation(ROWS) % (i + 2) for i in range(5)}
    return pd.DataFrame({**columns, "code": rng.permutation(codes), "class": rng.permutation(ROWS) % 2})


def _heaped(seed: int) -> pd.DataFrame:
    """Amounts that people round."""
    rng = np.random.default_rng(seed)
    columns = {f"amount{i}": rng.lognormal(10, 1, ROWS).round(-3) for i in range(8)}
    return pd.DataFrame({**columns, "class": rng.choice(["x", "y"], ROWS)})


@pytest.mark.parametrize("make", [_measured, _categories, _flags, _designed, _heaped])
def test_independent_datasets_of_one_shape_are_no_copies(make: Callable[[int], pd.DataFrame]) -> None:
    assert near_copies({str(seed): sketch(_dataset(make(seed))) for seed in range(12)}) == []


def test_what_two_tables_have_in_common_by_chance_is_no_evidence() -> None:
    """Equal numbers of rows and the same columns of flags of which there are always as many."""
    sketches = {}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        flags = {f"f{i}": rng.permutation(np.arange(100) < 30 + i % 3) for i in range(4)}
        frame = pd.DataFrame({**flags, "x": rng.normal(size=100), "class": rng.choice(["x", "y"], 100)})
        sketches[str(seed)] = sketch(_dataset(frame))
    assert near_copies(sketches) == []
