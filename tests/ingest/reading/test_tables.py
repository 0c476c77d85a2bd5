"""Raw tables from files of any kind, OpenML, scikit-learn and data frames, with unique names."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.openml.api import PublishedDataset
from ingest.reading.datasets import load_dataset
from ingest.reading.tables import read_table
from tests.cases import each
from tests.ingest.reading.checks import assert_sound, refusal, written
from warehouse.support.errors import BadInput

REFUSED_SOURCES: dict[str, tuple[Any, str]] = {
    "address": ("https://example.org/data.csv", "is an address"),
    "OpenML without a number": ("openml:iris", "openml:31"),
    "OpenML with too long a number": ("openml:" + "9" * 5_000, "openml:31"),
    "frame without columns": (pd.DataFrame(), "at least two columns"),
    "frame without rows": (pd.DataFrame({"a": [], "class": []}), "no rows"),
}


@each("trouble", REFUSED_SOURCES)
def test_a_source_that_is_not_a_file_is_refused_in_one_line(trouble: str) -> None:
    source, part = REFUSED_SOURCES[trouble]
    assert part in refusal(source)


# ---- names ---------------------------------------------------------------------------------------


def test_a_frame_with_odd_names_is_loaded() -> None:
    frame = pd.DataFrame(
        np.arange(24).reshape(6, 4), columns=[0, None, ("a", "b"), "x\ny"], index=list("aabbcc")
    )
    dataset = load_dataset(frame.assign(label=["p", "q"] * 3))
    assert list(dataset.features) == ["0", "Unnamed: 1", "('a', 'b')", "x\ny"]
    assert_sound(dataset)


def test_repeated_names_are_made_unique() -> None:
    frame = pd.DataFrame([[1, 2, 3, 4, "x"], [5, 6, 7, 8, "y"]] * 3, columns=["a", "a", "a.1", "", "class"])
    assert list(load_dataset(frame).features) == ["a", "a.2", "a.1", "Unnamed: 3"]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["a", "a ", "a.1", "a.2", "a.1.1", "b"]), min_size=2, max_size=8))
def test_every_column_has_a_name_of_its_own_and_the_first_of_each_name_keeps_it(names: list[str]) -> None:
    raw = read_table(pd.DataFrame([range(len(names))], columns=names))
    stripped = [name.strip() for name in names]
    unique = list(raw.frame.columns)
    assert len(set(unique)) == len(unique)
    for name, count in Counter(stripped).items():
        assert unique[stripped.index(name)] == name
        assert (name in raw.repeated) == (count > 1)
    assert raw.frame.iloc[0].tolist() == list(range(len(names)))


# ---- sources -------------------------------------------------------------------------------------


def test_the_index_of_a_frame_is_not_a_column_and_the_frame_is_not_changed(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]}, index=pd.Index(["p", "q"], name="key"))
    raw = read_table(frame)
    assert (raw.name, raw.source, raw.target) == ("frame", "data frame", None)
    frame.to_parquet(tmp_path / "t.parquet")
    for table in (raw, read_table(tmp_path / "t.parquet")):
        assert table.frame.to_dict("list") == {"a": [1, 2], "b": [3, 4]}
    assert frame.index.tolist() == ["p", "q"]


def test_a_built_in_dataset_comes_from_scikit_learn_with_its_target() -> None:
    raw = read_table("sklearn:iris")
    assert (raw.name, raw.source, raw.target) == ("iris", "sklearn:iris", "target")
    assert raw.frame.shape == (150, 5)


def test_an_unknown_built_in_dataset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="no dataset 'boston'; it has breast_cancer, digits, iris, wine"):
        read_table("sklearn:boston")


ARFF = """@relation credit
@attribute id numeric
@attribute size numeric
@attribute colour {red,green}
@attribute class {x,y}
@data
"""
DENSE = ARFF + "1,1.5,red,x\n2,2,green,y\n3,4,red,x\n"
SPARSE = ARFF + "{0 1,1 1.5}\n{0 2,1 2,2 green,3 y}\n{0 3,1 4}\n"


def published(file: Path, target: str | None, text: str = DENSE) -> PublishedDataset:
    file.write_text(text)
    return PublishedDataset(31, "credit-g", target, ("id",), file)


@pytest.mark.parametrize("text", [DENSE, SPARSE])
def test_a_dataset_of_openml_has_its_target_and_not_the_columns_to_ignore(tmp_path: Path, text: str) -> None:
    dataset = load_dataset(published(tmp_path / "file", "colour", text))
    assert (dataset.key, dataset.name, dataset.target.name) == ("openml:31", "credit-g", "colour")
    assert dataset.target_choice == "'colour' is the target because OpenML names it"
    assert dataset.features["size"].tolist() == [1.5, 2, 4]
    assert list(dataset.features) == ["size", "class"]


@pytest.mark.parametrize(
    ("target", "what"),
    [(None, "no target"), ("colour,class", r"several targets \(colour, class\)"), ("gone", "no target")],
)
def test_a_dataset_of_openml_without_one_target_is_refused_unless_one_is_given(
    tmp_path: Path, target: str | None, what: str
) -> None:
    dataset = published(tmp_path / "file", target)
    with pytest.raises(BadInput, match=f"OpenML names {what} of credit-g"):
        load_dataset(dataset)
    chosen = load_dataset(dataset, target="class")
    is_one_of_several = target == "colour,class"
    assert list(chosen.features) == (["size"] if is_one_of_several else ["size", "colour"])
    assert ("targets as well: colour" in (chosen.note or "")) == is_one_of_several


def test_repeated_names_are_made_unique_in_parquet_as_in_other_files(tmp_path: Path) -> None:
    pq.write_table(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert list(table.frame.columns) == ["a", "a.1"]
    assert table.repeated == {"a"}


class Streamed:
    """A table of a library with Arrow's stream, such as polars."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class Converted:
    """A table of a library that converts to pandas, such as Modin."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def to_pandas(self) -> pd.DataFrame:
        return self.table.to_pandas()


@each("library", [lambda table: table, Streamed, Converted])
def test_tables_of_other_libraries_are_data_frames_with_their_names(
    library: Callable[[pa.Table], object],
) -> None:
    frame = pd.DataFrame({"größe": [1.5, None], "class": ["a", "b"]})
    raw = read_table(library(pa.Table.from_pandas(frame)))
    pd.testing.assert_frame_equal(raw.frame, frame)
    assert (raw.name, raw.source) == ("frame", "data frame")


def test_objects_that_are_not_tables_are_refused() -> None:
    with pytest.raises(BadInput, match=r"can't read a dataset from list; give a file's path"):
        read_table([[1, 2]])


def test_invisible_characters_are_removed_from_names(tmp_path: Path) -> None:
    """These are a second byte order mark, zero-width blanks and surrounding blanks."""
    path = written(tmp_path, "\ufeff\ufeffkind,a\u200bge , size\n" + "x,1,2\ny,2,3\n" * 5)
    dataset = load_dataset(path, target="kind ", roles={" age": "categorical"})
    assert [*dataset.roles.items()] == [("age", "categorical"), ("size", "numeric")]
