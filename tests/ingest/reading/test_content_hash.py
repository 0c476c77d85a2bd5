"""The content hash depends on the data, not on format, order or names."""

from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.datasets import load_dataset
from ingest.reading.formats.arff import read_arff
from tests.cases import each

REAL = [
    ("diabetes", "class"),
    ("soybean", "class"),
    ("zoo", "type"),
    ("labor", "class"),
    ("credit.a", "class"),
]


@each(("name", "target"), REAL)
def test_the_same_data_in_another_format_has_the_same_hash(
    shared_data: Path, tmp_path: Path, name: str, target: str
) -> None:
    path = shared_data / "datasets" / f"{name}.arff"
    frame = read_arff(path.read_bytes()).frame
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t", float_format="%.17g")
    frame.to_parquet(tmp_path / "t.parquet")
    load = {"target": target, "rare_classes": "drop"}
    sources = [path, tmp_path / "t.csv", tmp_path / "t.tsv", tmp_path / "t.parquet", frame.astype(object)]
    assert len({load_dataset(source, **load).content_hash for source in sources}) == 1


N = 12
FRAME = pd.DataFrame(
    {
        "number": [1.5, -0.0, 3, np.nan] * 3,
        "word": ["a", "b", None, "c d"] * 3,
        "day": pd.to_datetime(["2020-01-01", "2020-06-30"] * 6),
        "flag": [True, False, True] * 4,
        "class": ["x", "y"] * 6,
    }
)
HASH = "b2b0364fde5ca359"


def _hash(frame: pd.DataFrame, target: str = "class") -> str:
    return load_dataset(frame, target=target).content_hash


def test_a_target_of_classes_and_the_same_numbers_to_predict_are_two_datasets() -> None:
    """Meta-features and runs of one say nothing about the other."""
    frame = pd.DataFrame({"a": range(12), "stars": [1, 2, 3] * 4})
    hashes = {
        load_dataset(frame, target="stars", task=task).content_hash
        for task in ("classification", "regression")
    }
    assert len(hashes) == 2
    assert _hash(frame, "stars") in hashes


def test_the_hash_is_stable_over_releases() -> None:
    """Keys of datasets in warehouses contain it."""
    assert _hash(FRAME) == HASH


def test_order_and_names_do_not_matter() -> None:
    shuffled = FRAME.sample(frac=1, random_state=0).sample(frac=1, axis=1, random_state=1)
    assert _hash(shuffled) == HASH
    assert _hash(FRAME.rename(columns=str.upper), "CLASS") == HASH


SAME_VALUES = [
    ("number", ["1.50", " 0 ", "3e0", "?"] * 3),
    ("number", pd.Categorical(["1.5", "0", "3.0", None] * 3)),
    ("number", ["$1.50", "$0", "$3", "-"] * 3),
    ("number", pd.Categorical(["1.50 kg", "0 kg", "3 kg", None] * 3)),
    ("word", [" a", "b ", "NA", "c d"] * 3),
    ("day", ["2020-01-01 00:00:00", "2020-06-30"] * 6),
    ("day", ["1/1/2020", "6/30/2020"] * 6),
    ("flag", ["TRUE", "false", "True"] * 4),
]


@each(("column", "values"), SAME_VALUES)
def test_the_way_a_value_is_written_does_not_matter(column: str, values: list[object]) -> None:
    assert _hash(FRAME.assign(**{column: values})) == HASH


@settings(max_examples=20, deadline=None)
@given(st.integers(0, N - 1), st.sampled_from(["number", "word", "day", "flag", "class"]))
def test_one_changed_value_changes_the_hash(row: int, column: str) -> None:
    changed = FRAME.astype(object)
    other = {
        "number": 1.5000001,
        "word": "z",
        "day": pd.Timestamp("2020-01-02"),
        "flag": not FRAME["flag"][row],
    }
    changed.loc[row, column] = {**other, "class": "y" if FRAME["class"][row] == "x" else "x"}[column]
    assert _hash(changed) != HASH


def test_another_target_is_other_data() -> None:
    assert _hash(FRAME, "flag") != HASH


def test_one_more_gap_is_other_data() -> None:
    assert _hash(FRAME.assign(number=FRAME["number"].mask(FRAME.index == 0))) != HASH


def test_repeated_rows_are_other_data() -> None:
    assert _hash(pd.concat([FRAME, FRAME])) != HASH
