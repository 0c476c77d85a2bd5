"""Files whose rows keep their order."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.warehouse.worlds import NUMBERS
from warehouse.storage import delta, ordered_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "numbers"
    delta.create(folder, NUMBERS)
    return folder


def batches(sizes: list[int]) -> Iterator[pa.RecordBatch]:
    value = 0
    for size in sizes:
        values = list(range(value, value + size))
        yield pa.record_batch({"value": values, "name": [str(one) for one in values]})
        value += size


def test_rows_keep_their_order_in_one_file_of_even_groups(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta, "ROWS_IN_GROUP", 8)
    table = delta.open_version(folder)
    ordered_files.append(table, folder, batches([3, 20, 0, 1, 6]))
    (file,) = delta.files_at(folder, table.version())
    written = pq.ParquetFile(file)
    assert written.read(["value"])["value"].to_pylist() == list(range(30))
    groups = [written.metadata.row_group(number).num_rows for number in range(written.num_row_groups)]
    assert groups == [8, 8, 8, 6]
    assert table.version() == delta.newest_version(folder) == 1
    assert pa.table(table.get_add_actions(flatten=True))["num_records"].to_pylist() == [30]


def test_a_failing_source_leaves_nothing(folder: Path) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield from batches([5])
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        ordered_files.append(delta.open_version(folder), folder, failing())
    assert delta.newest_version(folder) == 0
    assert list(folder.glob("*.parquet")) == []


def test_files_are_joined_in_order_and_missing_columns_are_added(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordered_files, "_SMALL_FILES", ((100, 1),))
    schema = NUMBERS.schema.append(pa.field("note", pa.string()))
    ordered_files.append(delta.open_version(folder), folder, batches([2]))
    delta.upgrade(delta.open_version(folder), replace(NUMBERS, schema=schema))
    rows = pa.table({"name": ["a"], "value": [7], "note": ["new"]})
    ordered_files.append_table(delta.open_version(folder), folder, rows)
    table = delta.open_version(folder)
    before = delta.files_at(folder, table.version())
    ordered_files.compact_if_scattered(table, folder)
    (file,) = delta.files_at(folder, table.version())
    assert pq.read_table(file).to_pydict() == {
        "name": ["0", "1", "a"],
        "value": [0, 1, 7],
        "note": [None, None, "new"],
    }
    assert delta.files_at(folder, table.version() - 1) == before
