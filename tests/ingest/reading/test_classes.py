"""Labels of a target are the words of the file, and doubtful ones are asked about."""

from pathlib import Path

import numpy as np
import pandas as pd

from ingest.reading.datasets import Dataset, load_dataset
from tests.cases import each
from tests.ingest.reading.checks import written


def _load(folder: Path, labels: list[str], rows: int = 60, **options: object) -> Dataset:
    cells = [f"{i}.5,{labels[i % len(labels)]}\n" for i in range(rows)]
    return load_dataset(written(folder, "size,kind\n" + "".join(cells)), target="kind", **options)  # type: ignore[arg-type]


@each(
    "labels",
    [
        ["0010", "010", "10"],
        ["1E5", "100000", "2E3", "20"],
        ["9007199254740992", "9007199254740993"],
        ["1.0", "2.0"],
        ["001", "002"],
    ],
)
def test_labels_are_the_words_of_the_file(tmp_path: Path, labels: list[str]) -> None:
    assert [*_load(tmp_path, labels).target.cat.categories] == sorted(labels)


@each(
    ("labels", "how"),
    [
        (["<=50K", "<=50K.", ">50K", ">50K."], "case or a full stop"),
        (["Yes", "yes", "No"], "case or a full stop"),
        (["yes", "yes\u200b", "no"], "blanks, hyphens or invisible signs"),
        (["caf\u00e9", "cafe\u0301", "bar"], "blanks, hyphens or invisible signs"),
        (["high_risk", "High-Risk", "low  risk"], "blanks, hyphens or invisible signs"),
        (["0010", "010", "7"], "the way a number is written"),
        (["TRUE", "1", "0"], "how truth is written"),
    ],
)
def test_labels_that_may_be_one_class_are_asked_about(tmp_path: Path, labels: list[str], how: str) -> None:
    (doubt,) = [one for one in _load(tmp_path, labels).doubts if "differ in" in one]
    assert f"classes that differ in {how} only are taken as different" in doubt


@each(
    "labels",
    [["yes", "no"], ["1", "2", "3"], ["a", "b.c"], ["0", "1"], ["A-", "A"], ["-1", "1"], ["C", "C++"]],
)
def test_ordinary_labels_are_not_asked_about(tmp_path: Path, labels: list[str]) -> None:
    assert not [one for one in _load(tmp_path, labels).doubts if "differ in" in one]


def test_a_word_for_missing_that_may_be_a_class_is_asked_about_and_kept_by_the_role(
    tmp_path: Path,
) -> None:
    asked = _load(tmp_path, ["A", "B", "N/A"])
    assert asked.n_classes == 2
    assert any("20 rows whose 'kind' is 'N/A'" in doubt for doubt in asked.doubts)
    kept = _load(tmp_path, ["A", "B", "N/A"], roles={"kind": "categorical"})
    assert [*kept.target.cat.categories] == ["A", "B", "N/A"]
    assert not any("N/A" in doubt for doubt in kept.doubts)


def test_an_odd_word_among_numbered_classes_is_a_class(tmp_path: Path) -> None:
    """In a feature it would be missing among numbers; a target loses no row."""
    labels = [*map(str, range(25)), "other"]
    dataset = _load(tmp_path, labels, rows=260)
    assert (dataset.n_classes, len(dataset.target)) == (26, 260)


@each("dtype", ["int64", "Int64", "uint64"])
def test_whole_numbers_beyond_2_to_the_53_stay_apart(dtype: str) -> None:
    labels = pd.Series([2**53, 2**53 + 1] * 10, dtype=dtype)
    dataset = load_dataset(pd.DataFrame({"a": np.arange(20) / 7, "class": labels}), target="class")
    assert [*dataset.target.cat.categories] == [str(2**53), str(2**53 + 1)]


@each("dtype", ["int64", "Int64", "uint64"])
def test_large_numbers_of_a_feature_are_never_called_constant(dtype: str) -> None:
    serial = pd.Series([2**62 + i * 7 for i in range(30)], dtype=dtype)
    frame = pd.DataFrame({"serial": serial, "a": np.arange(30) / 7, "class": ["x", "y"] * 15})
    assert load_dataset(frame).roles["serial"] in ("identifier", "numeric")
