"""What remains when a write does not come to its end, and when several come at once."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from tests.warehouse.worlds import runs
from warehouse import delta
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, Failed

ROOT = Path(__file__).parents[2]
TABLES_IN_A_WRITE = len(runs()) + 1


class Killed(BaseException):
    """Like a signal, it passes every handler of errors."""


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    warehouse = Warehouse.create(tmp_path / "warehouse")
    warehouse.write(runs(name="first"), source="test")
    return warehouse


def dying_after(appends: int, error: BaseException) -> Callable[[DeltaTable, pa.Table], None]:
    done = iter(range(appends))

    def append(table: DeltaTable, rows: pa.Table) -> None:
        if next(done, None) is None:
            raise error
        original(table, rows)

    original = delta.append
    return append


@pytest.mark.parametrize("appends", range(TABLES_IN_A_WRITE))
def test_killed_write_leaves_nothing_to_see_and_the_same_write_then_succeeds(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, appends: int
) -> None:
    tables = runs("openml:1", "svm", accuracies={"openml:2": 0.8}, name="second")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(delta, "append", dying_after(appends, Killed()))
        warehouse.write(tables, source="test")
    after = Warehouse.open(warehouse.path)
    assert after.version == 1
    assert set(after.sql("SELECT setup FROM setups")["setup"]) == {"openml:6969/first"}
    commit = after.write(tables, source="test")
    assert (commit.version, commit.added["runs"]) == (2, 1)
    assert len(after.sql("SELECT * FROM runs")) == 2
    assert len(after.sql("SELECT * FROM evaluations")) == 2


def test_what_a_killed_write_left_does_not_come_to_light_with_the_next(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(delta, "append", dying_after(TABLES_IN_A_WRITE - 1, Killed()))
        warehouse.write(runs("openml:1", "svm", accuracies={"openml:2": 0.8}, name="second"), source="test")
    warehouse.write(runs("openml:2", "mlp", name="third"), source="test")
    flows = Warehouse.open(warehouse.path).sql("SELECT flow FROM flows ORDER BY flow")["flow"]
    assert flows.tolist() == ["openml:2", "openml:6969"]


def test_disk_error_is_one_line_and_leaves_nothing_to_see(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(Failed) as caught:
        patch.setattr(delta, "append", dying_after(2, OSError(28, "No space left on device")))
        warehouse.write(runs(name="second"), source="test")
    assert "No space left on device" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert Warehouse.open(warehouse.path).version == 1


def test_disk_that_takes_no_more_bytes_fails_the_write(warehouse: Warehouse) -> None:
    script = """
import resource, sys
from tests.warehouse.worlds import runs
from warehouse.support.errors import Failed
from warehouse.store import Warehouse
warehouse = Warehouse.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
try:
    warehouse.write(runs(name="second"), source="test")
except Failed as error:
    print("failed:", error)
"""
    done = _python(script, warehouse.path).communicate()[0]
    assert done.startswith("failed: cannot write to")
    assert done.count("\n") == 1
    assert Warehouse.open(warehouse.path).version == 1


def test_two_processes_that_write_at_once_both_succeed(tmp_path: Path) -> None:
    script = """
import sys
from tests.warehouse.worlds import runs
from warehouse.store import Warehouse
warehouse = Warehouse.create(sys.argv[1])
for n in range(4):
    warehouse.write(runs(name=f"{sys.argv[2]}{n}"), source="test")
print("done")
"""
    path = tmp_path / "shared"
    writers = [_python(script, path, name) for name in ("a", "b")]
    assert [writer.communicate()[0] for writer in writers] == ["done\n", "done\n"]
    warehouse = Warehouse.open(path)
    assert warehouse.version == 8
    assert len(warehouse.sql("SELECT * FROM runs")) == 8
    assert warehouse.sql("SELECT version FROM ingests ORDER BY version")["version"].tolist() == list(
        range(1, 9)
    )


@pytest.mark.parametrize("table", ["ingests", "runs"])
@pytest.mark.parametrize("content", [b"", b"not a log\n", b"{}\n", b"\x00\xff"])
def test_damaged_log_is_named_in_one_line(warehouse: Warehouse, table: str, content: bytes) -> None:
    for log in (warehouse.path / table / "_delta_log").glob("*.json"):
        log.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        Warehouse.open(warehouse.path).sql("SELECT * FROM runs")
    assert "\n" not in str(caught.value)


def test_lost_log_is_named_in_one_line(warehouse: Warehouse) -> None:
    shutil.rmtree(warehouse.path / "runs")
    with pytest.raises(BadInput, match="damaged"):
        Warehouse.open(warehouse.path).sql("SELECT * FROM runs")


def test_lost_data_is_a_failure_in_one_line(warehouse: Warehouse) -> None:
    for file in (warehouse.path / "runs").glob("*.parquet"):
        file.unlink()
    with pytest.raises(Failed, match="has lost a file") as caught:
        Warehouse.open(warehouse.path).sql("SELECT * FROM runs")
    assert "\n" not in str(caught.value)


def test_damaged_record_of_commits_is_named_in_one_line(warehouse: Warehouse) -> None:
    for file in (warehouse.path / "ingests").glob("*.parquet"):
        file.write_bytes(b"garbage")
    with pytest.raises(BadInput, match="damaged"):
        Warehouse.open(warehouse.path)


def _python(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
