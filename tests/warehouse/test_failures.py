"""A full disk, several writers at once, and files that were damaged or lost."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.warehouse.worlds import Templates, runs
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, UnusableWarehouse, Unwritable

ROOT = Path(__file__).parents[2]


@pytest.fixture
def warehouse(templates: Templates, tmp_path: Path) -> Warehouse:
    return templates.copy(tmp_path / "warehouse", runs(name="first"))


def test_a_full_disk_fails_the_write(warehouse: Warehouse) -> None:
    script = """
import resource, sys
from tests.warehouse.worlds import runs
from warehouse.support.errors import Unwritable
from warehouse.store import Warehouse
warehouse = Warehouse.open(sys.argv[1])
sys.dont_write_bytecode = True  # of which the disk would keep the beginning
resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
try:
    warehouse.write(runs(name="second"), source="test")
except Unwritable as error:
    print("failed:", error)
"""
    done = _python(script, warehouse.path).communicate()[0]
    assert done.startswith("failed: cannot write to")
    assert done.count("\n") == 1
    assert Warehouse.open(warehouse.path).version == 1


def test_a_disk_error_while_writing_rows_leaves_no_record(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(_: int) -> None:
        raise OSError(5, "Input/output error")

    with (
        monkeypatch.context() as patch,
        pytest.raises(Unwritable, match=r"cannot write to .*: Input/output error"),
    ):
        patch.setattr(os, "fsync", refuses)
        warehouse.write(runs(name="second"), source="test")
    assert Warehouse.open(warehouse.path).version == 1
    assert warehouse.write(runs(name="second"), source="test").version == 2
    assert Warehouse.verify(warehouse.path, deep=True).damage == []


def test_two_concurrent_writers_both_succeed(tmp_path: Path) -> None:
    script = """
import sys
from tests.warehouse.worlds import runs
from warehouse.store import Warehouse
warehouse = Warehouse.create(sys.argv[1])
for n in range(2):
    warehouse.write(runs(name=f"{sys.argv[2]}{n}"), source="test")
print("done")
"""
    path = tmp_path / "shared"
    writers = [_python(script, path, name) for name in ("a", "b")]
    assert [writer.communicate()[0] for writer in writers] == ["done\n", "done\n"]
    warehouse = Warehouse.open(path)
    assert warehouse.version == 4
    assert len(warehouse.sql("SELECT * FROM runs")) == 4
    assert warehouse.sql("SELECT version FROM ingests ORDER BY version")["version"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("table", ["ingests", "runs"])
@pytest.mark.parametrize("content", [b"", b"not a log\n", b"{}\n", b"\x00\xff"])
def test_damaged_log_is_named_in_one_line(warehouse: Warehouse, table: str, content: bytes) -> None:
    for log in (warehouse.path / table / "_delta_log").glob("*.json"):
        log.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        Warehouse.open(warehouse.path).sql("SELECT * FROM runs")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"PAR1")])
def test_lost_and_damaged_data_is_named_in_one_line(
    warehouse: Warehouse, damage: Callable[[Path], object]
) -> None:
    for file in (warehouse.path / "runs").glob("*.parquet"):
        damage(file)
    with pytest.raises(UnusableWarehouse, match=r"damaged, or has lost a file .*warehouse verify") as caught:
        Warehouse.open(warehouse.path).sql("SELECT * FROM runs")
    assert "\n" not in str(caught.value)


def test_damage_that_is_not_text_is_named_in_one_line(warehouse: Warehouse) -> None:
    """DuckDB's messages quote column names."""
    (file,) = (warehouse.path / "runs").glob("*.parquet")
    file.write_bytes(file.read_bytes().replace(b"setup", b"setu\xff"))
    with pytest.raises(UnusableWarehouse, match=r"damaged, or has lost a file .*warehouse verify"):
        Warehouse.open(warehouse.path).sql("SELECT * FROM runs")


def test_damaged_rows_are_not_copied(warehouse: Warehouse, tmp_path: Path) -> None:
    """A flipped bit may leave a readable file with a different value."""
    (file,) = (warehouse.path / "runs").glob("*.parquet")
    content = bytearray(file.read_bytes())
    content[4] ^= 1
    file.write_bytes(content)
    damaged = Warehouse.open(warehouse.path)
    with pytest.raises(UnusableWarehouse, match="is lost or damaged; `warehouse repair`"):
        damaged.export(tmp_path / "copy")
    with pytest.raises(UnusableWarehouse, match="is lost or damaged; `warehouse repair`"):
        Warehouse.create(tmp_path / "other").merge(damaged)


@pytest.mark.parametrize("free", [1, 4, 12])
def test_too_few_file_handles_are_not_damage(warehouse: Warehouse, free: int) -> None:
    """Each command succeeds, or ends in one line that says what to do; failing ones change nothing."""
    script = """
import resource, sys
from pathlib import Path
import pandas
from warehouse.storage import exporting, repair, verification
from warehouse.store import Warehouse
from warehouse.support.errors import HeadstartError
path, free = Path(sys.argv[1]), int(sys.argv[2])
with open(sys.executable) as next_one:
    files = next_one.fileno() + free
resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
for work in (
    lambda: Warehouse.verify(path, deep=True).damage,
    lambda: Warehouse.open(path).sql("SELECT * FROM runs JOIN setups USING (setup)") is None,
    lambda: Warehouse.open(path).export(path.with_name("copy")) is None,
    lambda: Warehouse.repair(path).mended,
):
    try:
        print(work() or "well")
    except HeadstartError as error:
        print(error)
"""
    told = _python(script, warehouse.path, free).communicate()[0].splitlines()
    assert len(told) == 4
    assert all(line == "well" or "too many open files: raise the limit" in line for line in told), told
    assert Warehouse.verify(warehouse.path, deep=True).findings == []


def _python(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
