"""Delta tables: any path and name, few files, old versions and older tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from tests.warehouse.worlds import FOREST, NUMBERS, runs, together, values
from warehouse.storage import delta, ordered_files
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, UnusableWarehouse
from warehouse.vocabulary.schema import TABLES, Table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table with two rows, at version 1."""
    folder = tmp_path / "numbers"
    delta.create(folder, NUMBERS)
    add(folder, {"name": "one", "value": 1}, {"name": "two", "value": 2})
    return folder


def add(folder: Path, *rows: dict[str, Any]) -> None:
    """Append rows to a table."""
    table = delta.open_version(folder)
    ordered_files.append_table(table, folder, pa.Table.from_pylist(list(rows), schema=delta.columns(table)))


def content(folder: Path, version: int | None = None) -> dict[str, Any]:
    """Name -> value."""
    files = delta.files_at(folder, delta.newest_version(folder) if version is None else version)
    rows = [row for file in files for row in pq.read_table(file, partitioning=None).to_pylist()]
    return {row["name"]: row["value"] for row in rows}


def old_warehouse(folder: Path, partitions: Mapping[str, list[str]]) -> Warehouse:
    """A warehouse of an earlier release: tables with other descriptions, and with partitions."""
    for name, table in TABLES.items():
        fields = [field.with_metadata({"meaning": "said otherwise"}) for field in table.schema]
        DeltaTable.create(folder / name, pa.schema(fields), partition_by=partitions.get(name, []))
    return Warehouse.open(folder)


def test_tables_with_other_column_descriptions_still_take_rows(tmp_path: Path) -> None:
    warehouse = old_warehouse(tmp_path / "old", {})
    warehouse.write(runs(), source="test")
    changed = runs(accuracies={"openml:1": 0.25})
    warehouse.write(changed, source="test")
    assert values(warehouse) == [0.25]


def test_partitioned_tables_are_read_only(tmp_path: Path) -> None:
    warehouse = old_warehouse(tmp_path / "old", {"evaluations": ["flow"]})
    with pytest.raises(UnusableWarehouse, match="`warehouse merge OLD --warehouse NEW` makes a new one"):
        warehouse.write(runs(), source="test")
    assert (Warehouse.open(warehouse.path).version, values(warehouse)) == (0, [])


@pytest.mark.parametrize("name", ["it's données été, a*b?c", 'a "quoted" 50% #1 & {2}; --'])
def test_any_usual_path_works(tmp_path: Path, name: str) -> None:
    warehouse = Warehouse.create(tmp_path / name)
    warehouse.write(runs(), source="test")
    warehouse.write(runs(accuracies={"openml:1": 0.5}), source="test")
    assert values(Warehouse.open(str(warehouse.path))) == [0.5]
    assert values(Warehouse.open(warehouse.path, version=1)) == [0.9]


@pytest.mark.parametrize("name", ["[x]", "a%20b", "a^b", "tab\there"])
def test_paths_unsuitable_for_delta_tables_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="in a path is not supported"):
        Warehouse.create(tmp_path / name)


def test_flow_names_survive_the_partitioning(warehouse: Warehouse) -> None:
    flows = ["007", "50%41", "a/b c=d", "headstart:svm", "openml:1", "été"]
    warehouse.write(together(map(runs, flows)), source="test")
    assert sorted(warehouse.arrow("SELECT flow FROM evaluations")["flow"].to_pylist()) == flows
    for flow in flows:
        assert warehouse.run_table(flow, "predictive_accuracy").runs["flow"].tolist() == [flow]


def test_many_small_commits_end_in_few_files_and_every_version_stays_readable(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordered_files, "_SMALL_FILES", ((100, 3),))
    for n in range(6):
        warehouse.write({"setups": pd.DataFrame({"setup": [f"s{n}"], "flow": FOREST})}, source="test")
    folder = warehouse.path / "setups"
    assert len(delta.files_at(folder, delta.newest_version(folder))) <= 4
    for version in range(7):
        setups = Warehouse.open(warehouse.path, version=version).sql(
            "SELECT setup FROM setups ORDER BY setup"
        )
        assert setups["setup"].tolist() == [f"s{n}" for n in range(version)]


def test_first_version_outlives_the_checkpoints_of_the_log(tmp_path: Path) -> None:
    folder, table = tmp_path / "setups", TABLES["setups"]
    delta.create(folder, table)
    rows = pa.Table.from_pylist([{"setup": "a", "flow": "f", "ingest": "i"}], schema=table.schema)
    for _ in range(3):
        ordered_files.append_table(delta.open_version(folder), folder, rows)
    delta.open_version(folder).create_checkpoint()
    assert any((folder / "_delta_log").glob("*.checkpoint.parquet"))
    assert len(delta.files_at(folder, 1)) == len(delta.open_version(folder, 1).file_uris()) == 1


def test_files_of_each_version_agree_with_deltalake(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered_files, "_SMALL_FILES", ((100, 3),))
    for number in range(10):
        add(folder, {"name": f"{number}", "value": number})
        ordered_files.compact_if_scattered(delta.open_version(folder), folder)
    checkpoint = max((folder / "_delta_log").glob("*.checkpoint.parquet"))
    assert 0 < int(checkpoint.name.partition(".")[0]) < delta.newest_version(folder)

    def files_agree() -> bool:
        versions = delta.log_versions(folder)
        found = [[Path(file).name for file in delta.files_at(folder, version)] for version in versions]
        return found == [
            pa.table(delta.open_version(folder, version).get_add_actions(flatten=True))["path"].to_pylist()
            for version in versions
        ]

    assert files_agree()
    (folder / "_delta_log" / "_last_checkpoint").unlink()  # checkpoints may be missing
    assert files_agree()


def test_a_formerly_required_column_may_be_empty_after_the_upgrade(folder: Path) -> None:
    today = [pa.field("name", pa.string(), nullable=False), pa.field("value", pa.int64())]
    wanted = Table("numbers", pa.schema([*today, pa.field("unit", pa.string())]), NUMBERS.key)
    delta.upgrade(delta.open_version(folder), wanted)
    upgraded = delta.open_version(folder)
    assert delta.columns(upgraded).names == ["name", "value", "unit"]
    add(folder, {"name": "none", "value": None, "unit": "s"})
    assert content(folder) == {"one": 1, "two": 2, "none": None}
    version = upgraded.version()
    delta.upgrade(upgraded, wanted)
    assert upgraded.version() == version


def test_a_reader_of_one_flow_and_measure_can_skip_most_of_a_file(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta, "ROWS_IN_GROUP", 10)
    runs = [f"run-{number}" for number in range(100)]
    flows = [f"flow-{number % 10}" for number in range(100)]
    rows = pd.DataFrame({"run": runs, "measure": "predictive_accuracy", "value": 0.5, "flow": flows})
    warehouse.write({"evaluations": rows}, source="test")
    folder = warehouse.path / "evaluations"
    (file,) = delta.files_at(folder, delta.newest_version(folder))
    metadata = pq.read_metadata(file)
    place = metadata.schema.names.index("flow")
    groups = [metadata.row_group(group).column(place).statistics for group in range(metadata.num_row_groups)]
    assert [(group.min, group.max) for group in groups] == [(f"flow-{n}", f"flow-{n}") for n in range(10)]
