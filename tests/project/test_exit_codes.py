"""Unusable input and unwritable output end every command with one line and exit code 2."""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ingest.cli import main as ingest
from metalearners.cli import main as metalearners
from recommend.bo.cli import main as tune
from recommend.cli import main as recommend
from tests.cases import each
from tests.project.documents import ROOT
from tests.warehouse.worlds import runs
from warehouse.cli import main as warehouse
from warehouse.store import Warehouse

PROGRAMS: dict[str, Callable[[], None]] = {
    "ingest": ingest,
    "metalearners": metalearners,
    "recommend": recommend,
    "tune": tune,
    "warehouse": warehouse,
}

BAD_OPTIONS = (
    "ingest file runs.csv",
    "ingest openml --measures !",
    "ingest openml --server nowhere",
    "ingest experiments",
    "ingest metafeatures table.csv --groups beauty",
    "metalearners train --learner oracle",
    "metalearners evaluate --measure beauty",
    "recommend table.csv --top 0",
    "recommend table.csv --format yaml",
    "tune table.csv --time nan",
    "tune table.csv --model best.pkl",
    "warehouse query SELEC",
    "warehouse restore --version 99 --warehouse whole",
    "warehouse export out.xls --table runs",
)
DAMAGED_FILES = (
    "ingest file damaged.csv --flow others",
    "ingest file runs.csv --flow others --qualities damaged.json",
    "ingest space damaged.json --flow openml:6969 --warehouse whole",
    "ingest experiments --plan damaged.toml",
    "ingest experiments --datasets nowhere",
    "ingest openml --api-key-file damaged.csv",
    "ingest metafeatures damaged.csv",
    "ingest status --warehouse damaged",
    "metalearners compare damaged.json",
    "metalearners update damaged",
    "metalearners models --warehouse damaged",
    "metalearners train --warehouse damaged",
    "metalearners evaluate --warehouse damaged",
    "metalearners plot-latent --warehouse damaged",
    "recommend damaged.csv",
    "recommend nowhere.csv",
    "recommend table.csv --warehouse damaged",
    "tune damaged.csv",
    "tune table.csv --seeds damaged.json",
    "tune table.csv --warehouse damaged",
    "tune simulate --warehouse damaged",
    "warehouse info --warehouse damaged",
    "warehouse query SELECT --warehouse damaged",
    "warehouse export copy --warehouse damaged",
    "warehouse merge damaged --warehouse whole",
    "warehouse merge whole --warehouse damaged",
    "warehouse restore --version 1 --warehouse damaged",
    "warehouse verify --warehouse nowhere",
    "warehouse repair --warehouse nowhere",
)
FULL_DISKS = (
    "ingest file runs.csv --flow others --warehouse whole",
    "ingest file runs.csv --flow others --warehouse new",
    "warehouse merge other --warehouse whole",
    "warehouse export copy --warehouse whole",
    "warehouse restore --version 0 --warehouse whole",
    "warehouse export full.csv --table runs --warehouse whole",
    "recommend table.csv --code full.csv",
    "tune table.csv --history history --trials 1",
)
FORBIDDEN = (
    "ingest file runs.csv --flow others --warehouse locked/warehouse",
    "ingest file runs.csv --flow others --warehouse locked/new",
    "ingest file locked/hidden.csv --flow others",
    "ingest openml --server http://127.0.0.1:9 --warehouse locked/warehouse",
    "recommend table.csv --seeds locked/seeds.json",
    "recommend locked/hidden.csv",
    "tune table.csv --record --warehouse locked/warehouse",
    "tune table.csv --history locked/history",
    "warehouse merge whole --warehouse locked/warehouse",
    "warehouse repair --warehouse locked/warehouse",
    "warehouse restore --version 0 --warehouse locked/warehouse",
    "warehouse export locked/copy --warehouse whole",
    "warehouse export locked/runs.csv --table runs --warehouse whole",
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with valid files and warehouses, and some invalid ones."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "runs.csv").write_text("task_id,alpha,predictive_accuracy\n1,2,0.5\n")
    rows = "".join(f"{number % 7},{number % 3},{'ab'[number % 2]}\n" for number in range(60))
    (folder / "table.csv").write_text("x,z,class\n" + rows)
    for suffix in ("csv", "json", "toml"):
        (folder / f"damaged.{suffix}").write_bytes(b"PAR1\0\xff\xfe[{")
    (folder / "full.csv").symlink_to("/dev/full")
    for name in ("whole", "other", "damaged", "locked/warehouse"):
        Warehouse.create(folder / name).write(runs(name=name), source="test")
    for path in (folder / "damaged").rglob("*.parquet"):
        path.write_bytes(b"PAR1")
    (folder / "locked" / "hidden.csv").write_text("x,y\n1,2\n")
    return folder


@pytest.fixture
def run(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], tuple[object, str, str]]:
    """Exit code, output and errors of a command."""
    monkeypatch.chdir(world)
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))

    def call(command: str) -> tuple[object, str, str]:
        monkeypatch.setattr("sys.argv", command.split())
        with pytest.raises(SystemExit) as end:
            PROGRAMS[command.split()[0]]()
        return end.value.code, *capsys.readouterr()

    return call


def assert_refused(code: object, err: str) -> None:
    assert code == 2, err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "--debug" not in err  # it is only offered for unexpected errors


@pytest.mark.parametrize("program", PROGRAMS)
def test_unusable_input(run: Any, program: str) -> None:
    for command in (*BAD_OPTIONS, *DAMAGED_FILES):
        if command.split()[0] == program:
            code, _, err = run(command)
            assert_refused(code, err)


@each("command", FULL_DISKS)
def test_a_full_disk(run: Any, world: Path, command: str) -> None:
    before = Warehouse.open(world / "whole").fingerprint
    with files_of_at_most(400):
        code, _, err = run(command)
    assert_refused(code, "".join(line for line in err.splitlines(True) if line.startswith("error")))
    assert Warehouse.open(world / "whole").fingerprint == before
    assert not Warehouse.verify(world / "whole", deep=True).damage
    assert not (world / "copy").exists()


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Limit the size of files in this block to so many bytes.

    Python would write truncated bytecode of its imports then, and read it later.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # for child processes
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


SCRIPT = """
import contextlib, io, json, sys
from tests.project.test_exit_codes import PROGRAMS
for command in json.loads(sys.argv[1]):
    sys.argv, said = command.split(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            PROGRAMS[command.split()[0]]()
        except SystemExit as end:
            code = end.code
    print(json.dumps([command, code, said.getvalue()]), flush=True)
"""


def test_missing_permission(world: Path) -> None:
    locked = [world / "locked", *(world / "locked").rglob("*")]
    for path in locked:
        path.chmod(0o555 if path.is_dir() else 0o444)
    (world / "locked" / "hidden.csv").chmod(0)
    command = [sys.executable, "-c", SCRIPT, json.dumps(FORBIDDEN)]
    if not os.geteuid():
        if not shutil.which("setpriv"):
            pytest.skip("root may write everywhere, and there is no `setpriv` to take that right away")
        command = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *command]
    own = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(world), "XDG_DATA_HOME": str(world)}
    try:
        done = subprocess.run(
            command, cwd=world, env=os.environ | own, capture_output=True, text=True, check=True
        )
    finally:
        for path in locked:
            path.chmod(0o755)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [result[0] for result in results] == list(FORBIDDEN)
    for _, code, err in results:
        assert_refused(code, err)


def test_unwritable_output(world: Path) -> None:
    command = [sys.executable, "-c", "from warehouse.cli import main; main()", "info", "--warehouse", "whole"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command,
            cwd=world,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert_refused(done.returncode, done.stderr)
