"""Commands that write, on a disk that is full and on one that is read-only: what they say, and what is left.

    python -m tests.benchmarks.refusing_disks FOLDER

Needs Linux and root: small file systems in memory are mounted below FOLDER. Every command runs on

    full       a file system on which nothing, or as much as one of four shares of what it writes, is free
    read-only  the same, mounted read-only
    forbidden  folders without write permission, and root without the right to write nevertheless

and has to end with one line and the exit code 2, the warehouse as it was: verified with every byte, and with
the content that it had, or that the command gives it. With room for all that it writes, it may succeed. What
it writes counts at its peak, with temporary files. With room enough again, the command has to succeed, and to
leave no file that no version has. Where rows are sorted on the disk, DuckDB has 40 MiB of memory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks import kills
from tests.benchmarks.several_at_once import rows as one_run
from tests.openml_server import OpenMLServer, generated_world
from warehouse.store import Warehouse

WITHOUT_RIGHTS = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
SHARES = (0.0, 0.2, 0.5, 0.9)
MANY_RUNS = 150_000
LITTLE_MEMORY = "from warehouse import cli, spilling; spilling._MEMORY = '40MiB'; cli.main()"
LEAST = 2**16  # bytes that a command is taken to write: a repair may leave less than there was


@dataclass(frozen=True)
class Case:
    """A command that writes."""

    command: tuple[str, ...]
    prepare: Callable[[Path], None]
    writes: tuple[str, ...] = ("warehouse",)
    """Where, in its folder."""
    spills: bool = False
    """Whether rows are sorted on the disk: DuckDB is given little memory."""


@dataclass
class Ended:
    """How a command ended."""

    code: int
    error: list[str]
    """Lines of what it said on stderr, but for progress."""
    wrong: list[str] = field(default_factory=list)


def begin_with_flow(folder: Path) -> None:
    """A warehouse with another's flow."""
    kills.begin_empty(folder)
    kills.run_whole(kills.READ_FILE, folder)


def begin_with_two_sources(folder: Path) -> None:
    """A warehouse, and another one with more rows than DuckDB is given memory for."""
    kills.begin_with_another(folder)
    kills.run_file(folder / "runs.csv", MANY_RUNS)
    kills.run_whole((*kills.READ_FILE[:-1], "other"), folder)


RUNS, MINE = ("--warehouse", "warehouse"), "mine/numbers150.csv"
QUICK = ("--flow", "decision_tree", "--surrogate", "gbqr", "--start", "none")
CASES = {
    "ingest file": Case(kills.READ_FILE, kills.begin_empty),
    "ingest file, compacting": Case(kills.READ_FILE, kills.begin_scattered),
    "ingest file, a new warehouse": Case(
        ("ingest", "file", "runs.csv", "--flow", "others", "--warehouse", "out/new"),
        kills.begin_empty,
        ("out",),
    ),
    "ingest space": Case(("ingest", "space", "space.json", "--flow", "other:others", *RUNS), begin_with_flow),
    "ingest experiments": Case(kills.EXPERIMENTS.command, kills.begin_with_datasets),
    "ingest openml": Case(kills.OPENML.command, kills.begin_empty),
    "ingest pool": Case(
        ("ingest", "pool", "--known", "KNOWN", "--output", "out/pool.json"), kills.begin_empty, ("out",)
    ),
    "warehouse merge": Case(("warehouse", "merge", "other", *RUNS), kills.begin_with_some_commits),
    "warehouse merge, sorting": Case(
        ("warehouse", "merge", "other", *RUNS), begin_with_two_sources, spills=True
    ),
    "warehouse export, sorting": Case(
        ("warehouse", "export", "out/copy", "--warehouse", "other"),
        begin_with_two_sources,
        ("out",),
        spills=True,
    ),
    "warehouse restore": Case(
        ("warehouse", "restore", "--version", "3", *RUNS), kills.begin_with_some_commits
    ),
    "warehouse repair": Case(("warehouse", "repair", *RUNS), kills.begin_damaged),
    "warehouse export": Case(
        ("warehouse", "export", "out/copy", *RUNS), kills.begin_with_some_commits, ("out",)
    ),
    "warehouse export --table": Case(
        ("warehouse", "export", "out/runs.csv", "--table", "runs", *RUNS), kills.begin_scattered, ("out",)
    ),
    "metalearners train": Case(
        ("metalearners", "train", *RUNS), kills.begin_with_runs, ("warehouse", "cache")
    ),
    "metalearners evaluate": Case(
        ("metalearners", "evaluate", "--learner", "portfolio", "--output", "out/it.json", *RUNS),
        kills.begin_with_runs,
        ("out",),
    ),
    "recommend --seeds": Case(
        ("recommend", MINE, "--seeds", "out/seeds.json"), kills.begin_with_runs, ("out",)
    ),
    "recommend --code": Case(("recommend", MINE, "--code", "out/it.py"), kills.begin_with_runs, ("out",)),
    "recommend --report": Case(
        ("recommend", MINE, "--report", "out/it.html"), kills.begin_with_runs, ("out",)
    ),
    "tune, its warehouse": Case(
        ("tune", MINE, "--history", "history", "--trials", "2", "--folds", "2", *QUICK, *RUNS),
        kills.begin_with_runs,
    ),
    "tune, its history": Case(
        ("tune", MINE, "--history", "out/history", "--trials", "2", "--folds", "2", *QUICK, *RUNS),
        kills.begin_with_runs,
        ("out",),
    ),
}


@contextmanager
def disk(folder: Path, size: int, *, writable: bool = True, keep: bool = False) -> Iterator[None]:
    """What is in the folder on a file system of its own of so many bytes; its changes may be kept."""
    content = folder.with_name(f"{folder.name}.content")
    folder.rename(content)
    folder.mkdir()
    options = f"size={max(size, os.sysconf('SC_PAGE_SIZE'))},mode=777"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    try:
        shutil.copytree(content, folder, dirs_exist_ok=True)
        if not writable:
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        yield
        if keep:
            shutil.rmtree(content)
            shutil.copytree(folder, content)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()
        content.rename(folder)


def taken(folder: Path) -> int:
    """Bytes that a file system in memory needs for what is in the folder."""
    page = os.sysconf("SC_PAGE_SIZE")
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # of a command that runs
            size += -(-path.stat().st_size // page) * page if path.is_file() else 0
    return size


@contextmanager
def peaks(places: Mapping[str, Path]) -> Iterator[dict[str, int]]:
    """Bytes that are needed at most, while the block runs, for what is in each of the places."""
    most = {name: taken(place) for name, place in places.items()}
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            for name, place in places.items():
                most[name] = max(most[name], taken(place))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield most
    finally:
        over.set()
        watching.join()
        most.update({name: max(most[name], taken(place)) for name, place in places.items()})


def ended(command: list[str], folder: Path) -> Ended:
    """Run the command in the folder."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=kills.environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )
    lines = done.stderr.splitlines()
    return Ended(done.returncode, [line for line in lines if line.startswith("error: ") or "Error" in line])


def judged(result: Ended, folder: Path, states: tuple[kills.Rows, ...], damaged: bool) -> Ended:
    """The same, with what is wrong about it."""
    if result.code not in (0, 2):
        result.wrong.append(f"exit code {result.code}")
    if result.code and len(result.error) != 1:
        result.wrong.append(f"{len(result.error)} lines: {result.error[:3]}")
    path = folder / "warehouse"
    damage = Warehouse.verify(path, deep=True).damage
    if damage and not damaged:
        result.wrong.append(f"damage: {damage[0].path} {damage[0].message}")
    elif not damage and kills.content(Warehouse.open(path)) not in states:
        result.wrong.append("another content")
    return result


def outcomes(case: Case, folder: Path, server: str) -> Iterator[tuple[str, Ended]]:
    """The case on every disk."""
    known = str(Path(__file__).parents[3] / "shared" / "data" / "known-configurations")
    words = {"SERVER": server, "KNOWN": known}
    command = [words.get(part, part) for part in kills.invoked(case.command)]
    if case.spills:
        command = [sys.executable, "-c", LITTLE_MEMORY, *command[1:]]
    begun, whole = folder / "begun", folder / "whole"
    prepared(case, begun)
    shutil.copytree(begun, whole)
    places = {place: whole / place for place in case.writes}
    with peaks(places) as most:
        result = ended(command, whole)
    if result.code:
        result.wrong.append("it fails with room enough")
        yield "roomy", result
        return
    damaged = bool(Warehouse.verify(begun / "warehouse").damage)
    end = Warehouse.open(whole / "warehouse")
    states = [kills.content(end)]
    if not damaged:
        first = Warehouse.open(begun / "warehouse").version
        versions = range(first, end.version)
        states += [kills.content(Warehouse.open(end.path, version=version)) for version in versions]
    more = {place: max(most[place] - taken(begun / place), LEAST) for place in case.writes}
    for share in SHARES:
        now = fresh(begun, folder / "now")
        sizes = [(now / place, taken(now / place) + int(share * more[place])) for place in case.writes]
        with several(disk(*one, keep=True) for one in sizes):
            refused = judged(ended(command, now), now, tuple(states), damaged)
        if refused.code:  # and then there is room
            again = ended(command, now)
            refused.wrong += [f"again: {line}" for line in again.error if again.code]
            left = kills.useless_files(now, now / "warehouse")
            refused.wrong += [f"{left} files are left"] * bool(left)
        yield f"full, {share:.0%} free", refused
    now = fresh(begun, folder / "now")
    with several(disk(now / place, 2**30, writable=False) for place in case.writes):
        yield "read-only", judged(ended(command, now), now, tuple(states), damaged)
    now = fresh(begun, folder / "now")
    for place in case.writes:
        for path in [now / place, *(now / place).rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
    yield "forbidden", judged(ended([*WITHOUT_RIGHTS, *command], now), now, tuple(states), damaged)


@contextmanager
def several(contexts: Iterator[AbstractContextManager[None]]) -> Iterator[None]:
    """All of them at once."""
    with ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context)
        yield


def prepared(case: Case, folder: Path) -> None:
    """What the case begins with."""
    folder.mkdir(parents=True)
    case.prepare(folder)
    for name in ("out", "cache"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "space.json").write_text('{"hyperparameters": {"alpha": {"low": 0, "high": 5000}}}')
    if not (folder / "other").exists():
        Warehouse.create(folder / "other").write(one_run("another", 1), source="benchmark")


def fresh(begun: Path, folder: Path) -> Path:
    """A new copy."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(begun, folder)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", help="the case of this name")
    options = parser.parse_args()
    count = bad = 0
    with OpenMLServer(generated_world(), page_limit=20) as server:
        for name, case in CASES.items():
            if options.only not in (None, name):
                continue
            place = options.folder / name.replace(" ", "-").replace(",", "")
            for where, result in outcomes(case, place, server.url):
                count, bad = count + 1, bad + bool(result.wrong)
                said = "; ".join(result.wrong) or (result.error[0] if result.error else "done")
                print(f"{name:30} {where:16} {result.code:3}  {'WRONG ' if result.wrong else ''}{said}"[:250])
            shutil.rmtree(place)
    print(f"{count - bad} of {count} are as they have to be")
    if bad:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
