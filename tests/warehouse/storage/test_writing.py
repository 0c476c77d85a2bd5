"""Commits: additions, changes, records, and interruptions."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from tests.warehouse.worlds import Killed, Templates, qualities, runs, values
from warehouse.storage import ordered_files
from warehouse.store import Warehouse
from warehouse.vocabulary.schema import DATA_TABLES

TABLES_IN_A_WRITE = len(runs()) + 1


def dying_after(appends: int) -> Callable[..., None]:
    done = iter(range(appends))

    def append(table: DeltaTable, folder: Path, rows: pa.Table, sort_by: tuple[str, ...] = ()) -> None:
        if next(done, None) is None:
            raise Killed
        original(table, folder, rows, sort_by)

    original = ordered_files.append_table
    return append


@pytest.fixture
def one_run(templates: Templates, tmp_path: Path) -> Warehouse:
    return templates.copy(tmp_path / "warehouse", runs(name="first"))


def test_writing_the_same_again_changes_nothing_and_makes_no_version(warehouse: Warehouse) -> None:
    tables = {
        **runs(),
        "qualities": qualities({"ClassEntropy": None, "MeanKurtosis": 3.0}, source="computed"),
    }
    first = warehouse.write(tables, source="test")
    again = warehouse.write(tables, source="somewhere else")
    assert first.added["runs"] == 1
    assert (again.ingest, again.version) == (None, 1)
    assert not any(again.added.values())
    assert not any(again.changed.values())


def test_a_row_with_a_known_key_and_other_content_replaces_the_old_one(warehouse: Warehouse) -> None:
    warehouse.write(runs(accuracies={"openml:1": 0.9, "openml:2": 0.7}), source="test")
    commit = warehouse.write(runs(accuracies={"openml:1": 0.95}), source="test")
    assert (commit.added["evaluations"], commit.changed["evaluations"]) == (0, 1)
    assert values(warehouse) == [0.95, 0.7]
    ingests = warehouse.sql("SELECT run, ingest FROM evaluations ORDER BY run")["ingest"]
    assert ingests[0] == commit.ingest != ingests[1]


def test_a_commit_records_its_changes_and_the_version_of_every_table(one_run: Warehouse) -> None:
    """The second adds only a setup: `setups` moves from Delta version 1 to 2, the others stay."""
    one_run.write({"setups": runs(name="second")["setups"]}, source="test")
    first, second = one_run.arrow("SELECT * FROM ingests ORDER BY version").to_pylist()
    assert json.loads(first["added"]) == {name: len(rows) for name, rows in runs().items()}
    assert json.loads(second["added"]) == {"setups": 1}
    assert json.loads(second["changed"]) == {}
    written = {name: int(name in runs()) for name in DATA_TABLES}
    assert json.loads(first["tables"]) == written
    assert json.loads(second["tables"]) == {**written, "setups": 2}


def test_additions_and_changes_make_one_version(one_run: Warehouse) -> None:
    """Two of three rows of hyperparameters differ from the stored ones: one by its value, one by its key."""
    tables = runs(name="first", values={"max_features": 0.5, "criterion": "entropy", "max_depth": 3})
    commit = one_run.write({"hyperparameters": tables["hyperparameters"]}, source="test")
    assert (commit.version, commit.added, commit.changed) == (
        2,
        {"hyperparameters": 1},
        {"hyperparameters": 1},
    )
    found = one_run.arrow("SELECT parameter, value, ingest = ? AS ours FROM hyperparameters", [commit.ingest])
    assert {tuple(row.values()) for row in found.to_pylist()} == {
        ("max_features", "0.5", False),
        ("criterion", '"entropy"', True),
        ("max_depth", "3", True),
    }


def test_the_order_in_which_tables_are_given_does_not_matter(tmp_path: Path) -> None:
    one, other = (Warehouse.create(tmp_path / name) for name in ("one", "other"))
    one.write(runs(), source="test")
    other.write(dict(reversed(runs().items())), source="test")
    assert one.fingerprint == other.fingerprint


@pytest.mark.parametrize("appends", [0, 4, TABLES_IN_A_WRITE - 1])
def test_killed_write_leaves_no_visible_rows_and_the_same_write_then_succeeds(
    one_run: Warehouse, monkeypatch: pytest.MonkeyPatch, appends: int
) -> None:
    tables = runs("openml:1", "svm", accuracies={"openml:2": 0.8}, name="second")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(ordered_files, "append_table", dying_after(appends))
        one_run.write(tables, source="test")
    after = Warehouse.open(one_run.path)
    assert after.version == 1
    assert set(after.sql("SELECT setup FROM setups")["setup"]) == {"openml:6969/first"}
    commit = after.write(tables, source="test")
    assert (commit.version, commit.added["runs"]) == (2, 1)
    assert len(after.sql("SELECT * FROM runs")) == 2
    assert len(after.sql("SELECT * FROM evaluations")) == 2


def test_leftovers_of_a_killed_write_do_not_become_visible_with_the_next(
    one_run: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(ordered_files, "append_table", dying_after(TABLES_IN_A_WRITE - 1))
        one_run.write(runs("openml:1", "svm", accuracies={"openml:2": 0.8}, name="second"), source="test")
    one_run.write(runs("openml:2", "mlp", name="third"), source="test")
    flows = Warehouse.open(one_run.path).sql("SELECT flow FROM flows ORDER BY flow")["flow"]
    assert flows.tolist() == ["openml:2", "openml:6969"]


def test_rows_may_depend_on_the_warehouse_at_the_writers_turn(one_run: Warehouse) -> None:
    opened = Warehouse.open(one_run.path)
    one_run.write(runs(name="second"), source="test")

    def the_number_of_runs(now: Warehouse) -> dict[str, pd.DataFrame]:
        count = int(now.sql("SELECT count(*) AS n FROM runs")["n"][0])
        return {"flows": pd.DataFrame({"flow": ["other:count"], "name": str(count)})}

    opened.write(the_number_of_runs, source="test")
    named = opened.sql("SELECT name FROM flows WHERE flow = 'other:count'")["name"]
    assert named.tolist() == ["2"]


def test_a_change_rewrites_only_files_with_the_row_and_keeps_their_order(tmp_path: Path) -> None:
    warehouse = Warehouse.create(tmp_path / "w")
    for name in ("a", "b"):
        datasets = {f"openml:{number}": 0.5 for number in range(1, 6)}
        warehouse.write(runs(name=name, accuracies=datasets), source="test")
    files = set((warehouse.path / "evaluations").glob("*.parquet"))
    before = warehouse.sql("SELECT run FROM evaluations")["run"].tolist()
    done = warehouse.write(runs(name="a", accuracies={"openml:3": 0.7}), source="correction")
    assert done.changed["evaluations"] == 1
    stored = warehouse.sql("SELECT run, value, ingest FROM evaluations")
    assert stored["value"].value_counts().to_dict() == {0.5: 9, 0.7: 1}
    assert stored.loc[stored["value"] == 0.7, "ingest"].tolist() == [done.ingest]
    assert sorted(stored["run"]) == sorted(before)
    (rewritten,) = set((warehouse.path / "evaluations").glob("*.parquet")) - files
    assert pq.read_table(rewritten)["run"].to_pylist() == [run for run in before if "/a@" in run]
