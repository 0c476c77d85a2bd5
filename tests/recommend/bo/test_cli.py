"""`tune` and `tune simulate` at the command line."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from ingest.running.limits import LimitedCall, Outcome
from recommend.bo.cli import BudgetOptions, app, main
from recommend.bo.strategies import all_strategies
from recommend.bo.surrogates import all_surrogates
from recommend.bo.tuning import SearchResult, artifacts, report, running
from tests.commands import Run, handled
from warehouse.store import Warehouse
from warehouse.support import console
from warehouse.support.errors import BadInput, Unwritable

TUNE = [sys.executable, "-c", "from recommend.bo.cli import main; main()"]


@pytest.fixture
def tune(run_command: Run) -> Run:
    """Run `tune ARGUMENTS`."""
    return partial(run_command, main)


def test_an_argument_that_is_not_a_subcommand_is_the_dataset() -> None:
    for arguments in (["no.csv"], ["--dataset", "no.csv"], ["no.csv", "--trials", "3"]):
        with pytest.raises(BadInput, match=r"no file 'no.csv'"):
            app(arguments, standalone_mode=False)


def test_two_datasets_are_refused() -> None:
    for again in (["--dataset", "b.csv"], ["--trials", "3", "--dataset=b.csv"]):
        with pytest.raises(BadInput, match=r"FILE and --dataset exclude each other: a.csv"):
            app(["a.csv", *again], standalone_mode=False)


@pytest.fixture
def world(small_world: Path, tmp_path: Path) -> Path:
    """A writable copy of the small world."""
    return shutil.copytree(small_world, tmp_path / "world")


FAST = ("--flow", "decision_tree", "--surrogate", "gbqr", "--start", "none", "--folds", "1")
"""Options of a search without a meta-learner and without repetitions."""


def test_a_search_prints_its_model_and_continues_its_history(
    tune: Run, csv: Path, world: Path, tmp_path: Path
) -> None:
    before = len(Warehouse.open(world).run_table(None, "predictive_accuracy").runs)
    options = ["--dataset", csv, "--warehouse", world, "--history", tmp_path / "history", *FAST]
    first = tune(*options, "--trials", "4", "--model", tmp_path / "m.skops", "--code", tmp_path / "m.py")
    assert first.returncode == 0, first.stderr
    # Without a terminal, progress is a line a minute.
    assert all(line.startswith("trial ") for line in first.stderr.splitlines())
    assert "4 trials (4 success)" in first.stdout
    assert "\nThe model: " in first.stdout
    assert "fitted on all rows" in first.stdout
    assert (tmp_path / "m.skops").is_file()
    assert "DecisionTreeClassifier(" in (tmp_path / "m.py").read_text(encoding="utf-8")
    assert len(Warehouse.open(world).run_table(None, "predictive_accuracy").runs) == before
    more = tune(*options, "--trials", "5", "--record", "--format", "json", "--quiet", "--ensemble", "0")
    assert (more.returncode, more.stderr) == (0, "")
    document = json.loads(more.stdout)
    assert [trial["number"] for trial in document["trials"]] == [0, 1, 2, 3, 4]
    assert len(document["model"]["members"]) == 1
    assert len(Warehouse.open(world).run_table(None, "predictive_accuracy").runs) == before + 5


@pytest.mark.parametrize("seconds", [0.01, 2.0])
def test_there_is_a_model_within_any_time(
    tune: Run, csv: Path, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(console, "began", time.monotonic)
    options = ["--dataset", csv, "--warehouse", world, "--history", tmp_path / "history", *FAST]
    options += ["--time", f"{seconds}s", "--format", "json", "--report", tmp_path / "page.html", "--quiet"]
    done = tune(*options)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["model"]["fitted"]
    assert document["seconds"] < seconds + 300, "on a busy machine, too"
    assert bool(document["trials"]) == ("nothing was compared" not in " ".join(document["remarks"]))
    assert "The model" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_report_reserves_time_for_column_importance() -> None:
    limits = BudgetOptions(trials=None, time=30.0)
    assert limits.budget(with_importance=False).seconds == 30.0
    assert limits.budget(with_importance=True).seconds == 27.0
    assert BudgetOptions(trials=9, time=None).budget(with_importance=True).seconds is None


def test_a_warehouse_that_cannot_be_written_to_is_refused_before_the_search(
    csv: Path, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    options = [
        "--dataset",
        str(csv),
        "--history",
        str(tmp_path / "history"),
        "--trials",
        "2",
        "--record",
        "--warehouse",
    ]
    with pytest.raises(BadInput, match="world is read-only for you; name a warehouse of your own"):
        app([*options, str(world)], standalone_mode=False)
    with pytest.raises(BadInput, match=r"no warehouse can be made at .*/new: .* is read-only for you"):
        app([*options, str(tmp_path / "new")], standalone_mode=False)
    assert not (tmp_path / "history").exists()


def test_results_are_printed_and_saved_even_if_the_runs_cannot_be_written(
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
    options += [*FAST, "--record"]
    with pytest.raises(Unwritable, match="no space left"):
        app([*map(str, options), "--code", str(tmp_path / "best.py")], standalone_mode=False)
    assert "2 trials (2 success)" in capsys.readouterr().out
    assert "DecisionTreeClassifier(" in (tmp_path / "best.py").read_text(encoding="utf-8")


def test_if_nothing_can_be_fitted_one_line_says_why_and_nothing_is_written(
    tune: Run, csv: Path, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = LimitedCall(Outcome.crash, None, "ValueError: no", 0.1)
    monkeypatch.setattr(running, "run_limited", lambda *_, **__: failure)
    before = Warehouse.open(world).version
    options = ["--dataset", csv, "--history", tmp_path / "history", "--trials", "2", "--warehouse", world]
    options += [*FAST, "--record", "--report", tmp_path / "page.html", "--model", tmp_path / "m.skops"]
    done = tune(*options, "--quiet")
    assert done.returncode == 1
    assert "There is no model." in done.stdout
    assert "No configuration could be fitted: ValueError: no." in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert Warehouse.open(world).version == before
    assert (tmp_path / "page.html").is_file()
    assert not (tmp_path / "m.skops").exists()


def test_unwritable_models_are_refused_before_the_search(
    tune: Run, csv: Path, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifacts, "find_spec", lambda _: None)
    options = ["--dataset", csv, "--history", tmp_path / "history", "--warehouse", world]
    done = tune(*options, "--model", tmp_path / "m.skops")
    assert done.returncode == 2
    assert "writing a model needs the extra `tune`" in done.stderr
    assert not (tmp_path / "history").exists()


def test_a_search_whose_group_gets_a_signal_writes_its_model(csv: Path, world: Path, tmp_path: Path) -> None:
    """Three signals at once count as one request."""
    history = tmp_path / "history"
    options = ["--dataset", csv, "--history", history, "--trials", "1000", "--warehouse", world]
    options += [*FAST, "--model", tmp_path / "m.skops"]
    with handled():
        begun = subprocess.Popen(
            [*TUNE, *map(str, options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    with begun as searching:
        while not ended(history):
            with suppress(subprocess.TimeoutExpired):
                pytest.fail(f"it ended too early with {searching.wait(0.05)}")
        trials = psutil.Process(searching.pid).children(recursive=True)
        for _ in range(3):
            os.killpg(searching.pid, signal.SIGHUP)
        out, err = searching.communicate(timeout=600)
    assert searching.returncode == 130
    assert "interrupted" in out
    assert "The model: " in out
    assert not re.search("Traceback|Error|Warning", err)
    assert (tmp_path / "m.skops").is_file()
    assert '"outcome": "crash"' not in (history / "history.jsonl").read_text()
    assert not psutil.wait_procs(trials, timeout=300)[1]


def test_results_are_printed_even_if_a_signal_comes_just_before(
    tune: Run, csv: Path, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = report.table

    def press(tuned: SearchResult) -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        return table(tuned)

    monkeypatch.setattr(report, "table", press)
    options = ["--history", tmp_path / "history", "--trials", "1", "--warehouse", world, "--quiet"]
    with handled():
        code, out, err = tune("--dataset", csv, *options, *FAST)
    assert (code, err) == (130, "")
    assert "The model: " in out
    assert f"The trials are in {tmp_path / 'history'}" in out


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


def test_search_methods_are_compared(tune: Run, small_world: Path, tmp_path: Path) -> None:
    searching = ["simulate", "--warehouse", small_world, "--method", "gbqr+top", "--method", "random"]
    result = tune(*searching, "--trials", "3", "--csv", tmp_path / "curves.csv")
    assert result.returncode == 0, result.stderr
    assert "gbqr+top" in result.stdout
    assert "Wilcoxon" in result.stdout
    assert len((tmp_path / "curves.csv").read_text().splitlines()) == 1 + 8 * 2 * 3
    as_json = tune(*searching, "--trials", "1", "--format", "json")
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
        (["--dataset", "CSV", "--holdout", "0.2"], "--holdout"),
        (["--dataset", "CSV", "--trials", "-1"], "trials must be more than 0"),
        (["--dataset", "CSV", "--time", "-1"], "--time': '-1' is not a time"),
        (["--dataset", "CSV", "--seeds", "nowhere.json"], "nowhere.json"),
        (
            ["--dataset", "CSV", "--model", "best.pkl"],
            "--model needs the name of a .skops file; --code writes a script",
        ),
        (["--dataset", "CSV", "--report", "CSV"], "--report needs the name of a .html file"),
        (["--dataset", "CSV", "--model", "nowhere/m.skops"], "there is no folder nowhere"),
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
    assert "tune my.csv --time 60s" in result.stderr
