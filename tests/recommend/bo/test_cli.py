"""`tune` and `tune simulate` at the command line."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from recommend.bo.cli import app, main
from recommend.bo.strategies import all_strategies
from recommend.bo.surrogates import all_surrogates
from tests.commands import Run
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, Unwritable

TUNE = [sys.executable, "-c", "from recommend.bo.cli import main; main()"]


@pytest.fixture
def tune(run_command: Run) -> Run:
    """Run `tune ARGUMENTS`."""
    return partial(run_command, main)


def test_what_is_no_subcommand_is_the_dataset() -> None:
    for arguments in (["no.csv"], ["--dataset", "no.csv"], ["no.csv", "--trials", "3"]):
        with pytest.raises(BadInput, match=r"no file 'no.csv'"):
            app(arguments, standalone_mode=False)


def test_a_dataset_is_named_once() -> None:
    for again in (["--dataset", "b.csv"], ["--trials", "3", "--dataset=b.csv"]):
        with pytest.raises(BadInput, match=r"FILE and --dataset exclude each other: a.csv"):
            app(["a.csv", *again], standalone_mode=False)


@pytest.fixture
def world(small_world: Path, tmp_path: Path) -> Path:
    """A copy of the small world that may be written to."""
    return shutil.copytree(small_world, tmp_path / "world")


def test_a_search_prints_its_incumbents_and_records_its_runs(
    tune: Run, csv: Path, world: Path, tmp_path: Path
) -> None:
    before = len(Warehouse.open(world).run_table(None, "predictive_accuracy").runs)
    options = ["--dataset", csv, "--warehouse", world, "--history", tmp_path / "history", "--folds", "2"]
    options += ["--flow", "decision_tree", "--flow", "logistic_regression"]
    first = tune(*options, "--trials", "4")
    assert first.returncode == 0, first.stderr
    # A line for each step, without a terminal; one a minute says where the search stands.
    steps = [line for line in first.stderr.splitlines() if not line.startswith("trial ")]
    searching, again, held_out = steps
    assert searching.endswith("rows, 4 trials in all")
    assert again == "evaluating the leaders again on other folds: 4 configurations"
    assert held_out.startswith("scoring on held-out rows: ")
    assert "4 trials (4 success)" in first.stdout
    assert "held out" in first.stdout
    assert len(Warehouse.open(world).run_table(None, "predictive_accuracy").runs) == before + 4
    more = tune(
        *options,
        "--trials",
        "5",
        "--no-record",
        "--format",
        "json",
        "--model",
        tmp_path / "m.skops",
        "--quiet",
    )
    assert (more.returncode, more.stderr) == (0, "")
    document = json.loads(more.stdout)
    assert [trial["number"] for trial in document["trials"]] == [0, 1, 2, 3, 4]
    assert document["trials"][document["best"]]["held_out"] is not None
    assert (tmp_path / "m.skops").is_file()
    assert len(Warehouse.open(world).run_table(None, "predictive_accuracy").runs) == before + 4


def test_a_warehouse_that_cannot_be_written_to_is_refused_before_the_search(
    csv: Path, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    options = ["--dataset", str(csv), "--history", str(tmp_path / "history"), "--trials", "2", "--warehouse"]
    with pytest.raises(BadInput, match="world is read-only for you; name a warehouse of your own"):
        app([*options, str(world)], standalone_mode=False)
    with pytest.raises(BadInput, match=r"no warehouse can be made at .*/new: .* is read-only for you"):
        app([*options, str(tmp_path / "new")], standalone_mode=False)
    assert not (tmp_path / "history").exists()


def test_what_a_search_found_is_printed_and_saved_although_its_runs_cannot_be_written(
    csv: Path,
    world: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(*_: object, **__: object) -> None:
        raise Unwritable("cannot write to the warehouse: no space left on device")

    monkeypatch.setattr(Warehouse, "write", full)
    options = ["--dataset", csv, "--history", tmp_path / "history", "--trials", "2", "--warehouse", world]
    options += ["--flow", "decision_tree", "--folds", "2", "--surrogate", "gbqr", "--start", "none"]
    with pytest.raises(Unwritable, match="no space left"):
        app([*map(str, options), "--code", str(tmp_path / "best.py")], standalone_mode=False)
    assert "2 trials (2 success)" in capsys.readouterr().out
    assert "DecisionTreeClassifier(" in (tmp_path / "best.py").read_text(encoding="utf-8")


def test_where_every_trial_fails_the_cause_is_said_and_nothing_is_learned(
    tune: Run, csv: Path, world: Path, tmp_path: Path
) -> None:
    before = Warehouse.open(world).version
    options = ["--dataset", csv, "--history", tmp_path / "history", "--trials", "2", "--warehouse", world]
    options += ["--flow", "decision_tree", "--folds", "2", "--surrogate", "gbqr", "--start", "none"]
    options += ["--report", tmp_path / "page.html", "--model", tmp_path / "m.skops"]
    done = tune(*options, "--trial-time", "0.001", "--quiet")
    assert done.returncode == 1
    assert "No trial succeeded." in done.stdout
    assert "no trial succeeded: stopped after 0.001 s; none was written to the warehouse" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert Warehouse.open(world).version == before
    assert "No trial has succeeded" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not (tmp_path / "m.skops").exists()


def test_a_search_that_is_told_to_end_says_what_it_found(csv: Path, world: Path, tmp_path: Path) -> None:
    options = ["--dataset", csv, "--history", tmp_path / "history", "--trials", "1000", "--warehouse", world]
    options += ["--flow", "decision_tree", "--folds", "2", "--surrogate", "gbqr", "--start", "none"]
    with subprocess.Popen([*TUNE, *map(str, options)], stdout=subprocess.PIPE, text=True) as searching:
        while not ended(tmp_path / "history"):
            with suppress(subprocess.TimeoutExpired):
                pytest.fail(f"it ended too early with {searching.wait(0.05)}")
        trials = psutil.Process(searching.pid).children(recursive=True)
        searching.send_signal(signal.SIGTERM)
        out, _ = searching.communicate(timeout=60)
    assert searching.returncode == 130
    assert "interrupted" in out
    assert "held out" in out
    assert not psutil.wait_procs(trials, timeout=60)[1]


def ended(folder: Path) -> bool:
    """Whether some trial of the history has ended."""
    history = folder / "history.jsonl"
    return history.exists() and '"ended"' in history.read_text()


def test_methods_are_listed_with_a_line_each(tune: Run) -> None:
    listed = tune("methods").stdout
    for name in ("blend", "tst-r", "joint", "mosaic", "ei-per-second", "nearest-25", "oracle"):
        assert re.search(rf"^  {name} +\S.{{9}}", listed, re.M), name
    found = json.loads(tune("methods", "--format", "json").stdout)
    assert found["surrogates"].keys() == all_surrogates().keys()
    assert found["strategies"].keys() == all_strategies().keys()


def test_ways_to_search_are_compared(tune: Run, small_world: Path, tmp_path: Path) -> None:
    searching = ["simulate", "--warehouse", small_world, "--method", "gbqr+top", "--method", "random"]
    result = tune(*searching, "--trials", "5", "--csv", tmp_path / "curves.csv")
    assert result.returncode == 0, result.stderr
    assert "gbqr+top" in result.stdout
    assert "Wilcoxon" in result.stdout
    assert len((tmp_path / "curves.csv").read_text().splitlines()) == 1 + 8 * 2 * 5
    as_json = tune(*searching, "--trials", "3", "--format", "json")
    assert {one["method"] for one in json.loads(as_json.stdout)["methods"]} == {"gbqr+top", "random"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dataset", "nowhere.csv"], "nowhere.csv"),
        (["--trials", "3"], "give a dataset"),
        (["--dataset", "CSV", "--surrogate", "crystal"], "unknown surrogate 'crystal'; known are blend"),
        (["--dataset", "CSV", "--measure", "AUCC"], "unknown measure 'AUCC', perhaps area_under_roc_curve;"),
        (
            ["--dataset", "CSV", "--measure", "webb_bias"],
            "measure 'webb_bias' can't be used to select a model; use one of",
        ),
        (["simulate", "--measure", "beauty"], "unknown measure 'beauty'; known are predictive_accuracy"),
        (["--dataset", "CSV", "--start", "middle"], "unknown start 'middle'"),
        (["--dataset", "CSV", "--trials", "-1"], "trials must be more than 0"),
        (["--dataset", "CSV", "--time", "-1"], "--time': '-1' is not a time"),
        (["--dataset", "CSV", "--seeds", "nowhere.json"], "nowhere.json"),
        (
            ["--dataset", "CSV", "--model", "best.pkl"],
            "--model needs the name of a .skops file; --code writes a script",
        ),
        (["--dataset", "CSV", "--code", "best.txt"], "--code needs the name of a .py file"),
        (["simulate", "--method", "luck"], "unknown method 'luck'"),
        (["simulate", "--tasks", "dream"], "unknown kind of task 'dream'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    tune: Run, csv: Path, world: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    given = [str(csv) if argument == "CSV" else argument for argument in arguments]
    if arguments[0] == "simulate":
        given += ["--warehouse", str(world)]
    else:
        given += ["--warehouse", str(world), "--history", str(tmp_path / "history")]
    result = tune(*given)
    assert result.returncode == 2, result.stderr
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_without_arguments_the_help_is_shown(tune: Run) -> None:
    result = tune()
    assert result.returncode == 2
    assert result.stderr.startswith("Usage: ")
    assert "tune my.csv --trials 50" in result.stderr
