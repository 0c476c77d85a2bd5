"""Sketches recognize near copies of a dataset, but not datasets that are only similar."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.near_copies import Sketch, near_copies, sketch
from tests.cases import each

ROWS = 600


def _measured(seed: int, rows: int = ROWS) -> pd.DataFrame:
    """Few distinctive columns among some that every table has."""
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


def _answers(seed: int, rows: int = ROWS) -> pd.DataFrame:
    """Answers to twelve questions, as in a survey; hardly any two people answer alike."""
    rng = np.random.default_rng(seed)
    answers = ["never", "rarely", "sometimes", "often", "always", "no answer"]
    weights = rng.dirichlet(np.full(6, 5.0), size=12)
    frame = pd.DataFrame({f"q{i}": rng.choice(answers, rows, p=weights[i]) for i in range(12)})
    return frame.assign(**{"class": rng.choice(["yes", "no"], rows)})


def _dataset(frame: pd.DataFrame, target: str = "class") -> Dataset:
    return load_dataset(frame, target=target)


def _rounded(frame: pd.DataFrame, digits: int) -> pd.DataFrame:
    """Numbers rounded to so many significant digits."""

    def rounded(value: float) -> float:
        return float(f"{value:.{digits - 1}e}")

    numeric = frame.select_dtypes("number").columns
    return frame.assign(**{name: frame[name].map(rounded) for name in numeric})


def _renamed(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_axis([*(f"v{i}" for i in range(frame.shape[1] - 1)), "class"], axis=1)


COPIES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "the same": lambda frame: frame,
    "less a row": lambda frame: frame.iloc[1:],
    "some rows twice": lambda frame: pd.concat([frame, frame.iloc[:200]], ignore_index=True),
    "as many rows of another table more": lambda frame: pd.concat(
        [frame, (_measured if "age" in frame else _answers)(7)], ignore_index=True
    ),
    "a half of the rows": lambda frame: frame.sample(frac=0.5, random_state=1),
    "rows in another order": lambda frame: frame.sample(frac=1, random_state=1),
    "columns in another order": lambda frame: frame.sample(frac=1, axis=1, random_state=1),
    "other names": _renamed,
    "one column less": lambda frame: frame.drop(columns=frame.columns[3]),
    "a column more": lambda frame: frame.assign(more=np.arange(len(frame)) % 7),
    "another target": lambda frame: frame.assign(**{"class": np.arange(len(frame)) % 2}),
    "a number as target": lambda frame: frame.assign(
        **{"class": np.random.default_rng(3).normal(size=len(frame))}
    ),
    "two significant digits": lambda frame: _rounded(frame, 2),
    "three significant digits": lambda frame: _rounded(frame, 3),
    "half of the rows and another target": lambda frame: frame.iloc[::2].assign(
        **{"class": list("xyz") * 100}
    ),
}


@each("make", [_measured, _answers])
def test_a_copy_is_recognized_whatever_was_changed(make: Callable[[int], pd.DataFrame]) -> None:
    original = make(0)
    sketches = {"original": sketch(_dataset(original)), "other": sketch(_dataset(make(1)))}
    for name, change in COPIES.items():
        assert [*near_copies(_dataset(change(original)), sketches)] == ["original"], name


def test_a_half_with_other_names_is_recognized_by_its_measurements() -> None:
    part = _renamed(_measured(0).iloc[::2])
    assert near_copies(_dataset(part), {"a": sketch(_dataset(_measured(0)))}) == {"a": "shared rows"}


def test_another_column_as_target_is_a_copy() -> None:
    assert near_copies(_dataset(_answers(0), "q3"), {"a": sketch(_dataset(_answers(0)))})


def test_numbers_read_as_categories_are_the_same_numbers() -> None:
    frame = _measured(0).drop(columns="id")
    words = frame.assign(income=frame["income"].astype(str).astype("category")).iloc[1:]
    assert near_copies(_dataset(words), {"a": sketch(_dataset(frame))})


def test_two_halves_of_a_dataset_are_not_copies() -> None:
    """Nothing in them shows that they belong together."""
    first, second = _measured(0).iloc[::2], _measured(0).iloc[1::2]
    assert not near_copies(_dataset(first), {"b": sketch(_dataset(second))})


def test_a_dataset_without_evidence_is_not_a_copy() -> None:
    frame = pd.DataFrame({"a": [1, 2] * 10, "class": ["x", "y"] * 10})
    assert not near_copies(_dataset(frame), {"a": sketch(_dataset(frame))})


def _flags(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.integers(0, 2, (ROWS, 30))).assign(**{"class": rng.choice(["x", "y"], ROWS)})


def _designed(seed: int) -> pd.DataFrame:
    """Numberings and balanced factors, which other tables have as well, and a list of codes."""
    rng = np.random.default_rng(seed)
    codes = np.random.default_rng(0).choice(90_000, ROWS, replace=False) + 10_000
    columns = {f"rank{i}": rng.permutation(ROWS) + 1 for i in range(3)}
    columns |= {f"block{i}": rng.permutation(ROWS) % (i + 2) for i in range(5)}
    return pd.DataFrame({**columns, "code": rng.permutation(codes), "class": rng.permutation(ROWS) % 2})


def _few(seed: int) -> pd.DataFrame:
    """So few combinations of values that each table has most of them."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.choice(["low", "middle", "high"], ROWS, p=[0.5, 0.3, 0.2]) for name in "abcd"}
    return pd.DataFrame({**columns, "class": rng.choice(["x", "y"], ROWS)})


def _heaped(seed: int) -> pd.DataFrame:
    """Amounts that people round."""
    rng = np.random.default_rng(seed)
    columns = {f"amount{i}": rng.lognormal(10, 1, ROWS).round(-3) for i in range(8)}
    return pd.DataFrame({**columns, "class": rng.choice(["x", "y"], ROWS)})


@each("make", [_measured, _answers, _flags, _designed, _heaped])
def test_independent_datasets_of_one_shape_are_not_copies(make: Callable[[int], pd.DataFrame]) -> None:
    sketches = {seed: sketch(_dataset(make(seed))) for seed in range(1, 6)}
    assert not near_copies(_dataset(make(0)), {str(seed): known for seed, known in sketches.items()})


@each("change", ["less a row", "some rows twice", "a half of the rows"])
def test_if_most_rows_repeat_the_same_names_and_values_make_a_copy(change: str) -> None:
    """Nothing distinguishes such a part from a separate table, and a copy is never learned from."""
    known = {"a": sketch(_dataset(_few(0)))}
    part = COPIES[change](_few(0))
    assert near_copies(_dataset(part), known) == {"a": "shared rows"}
    assert near_copies(_dataset(_few(1)), known)
    assert not near_copies(_dataset(_renamed(_few(1))), known)


def test_a_sketch_is_the_same_for_any_order_of_the_rows() -> None:
    frame = _measured(0)
    again = sketch(_dataset(frame.sample(frac=1, random_state=1)))
    assert again.to_text() == sketch(_dataset(frame)).to_text()


def test_a_sketch_can_be_read_from_its_texts() -> None:
    made = sketch(_dataset(_measured(0)))
    read = Sketch.from_text(made.width, *made.to_text())
    assert (read.width, read.bits) == (10, made.bits)
    assert near_copies(_dataset(_measured(0).iloc[1:]), {"a": read}) == {"a": "shared rows"}


def test_a_sketch_without_rows_recognizes_equal_columns() -> None:
    made = sketch(_dataset(_answers(0)))
    read = Sketch.from_text(made.width, made.to_text()[0], None)
    assert near_copies(_dataset(_answers(0)), {"a": read}) == {"a": "equal columns"}
    assert not near_copies(_dataset(_answers(0).iloc[1:]), {"a": read})


@each("rows", ["?", "AAAA"])
def test_a_damaged_sketch_is_refused(rows: str) -> None:
    with pytest.raises(ValueError, match="no sketch"):
        Sketch.from_text(3, "{}", rows)
