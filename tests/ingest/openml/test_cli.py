"""`ingest openml`, `ingest openml-data` and `ingest status` as a user sees them."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest import cli
from tests.cases import each
from tests.openml_server import OpenMLServer, World, generated_world
from tests.openml_server import generated as names
from warehouse.store import Warehouse
from warehouse.vocabulary.task_types import REGRESSION


@pytest.fixture(scope="module")
def server() -> Iterator[OpenMLServer]:
    with OpenMLServer(generated_world()) as running:
        yield running


class Ingest:
    """The command line over a warehouse of its own."""

    def __init__(
        self, warehouse: Path | str, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
    ) -> None:
        self.warehouse = Path(warehouse)
        self._named = str(warehouse)
        self._capsys = capsys
        self._patch = patch

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr."""
        self._patch.setattr(sys, "argv", ["ingest", *arguments, "--warehouse", self._named])
        with pytest.raises(SystemExit) as done:
            cli.main()
        printed = self._capsys.readouterr()
        return int(done.value.code or 0), printed.out, printed.err


@pytest.fixture
def ingest(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ingest:
    return Ingest(tmp_path / "warehouse", capsys, monkeypatch)


def test_runs_are_downloaded_and_counted(ingest: Ingest, server: OpenMLServer) -> None:
    code, out, _ = ingest("openml", "--server", server.url, "--rate", "1000", "--flows", str(names.J48))
    assert code == 0
    assert "23 runs" in out
    assert "warehouse version" in out
    code, out, _ = ingest("openml", "--server", server.url, "--rate", "1000", "--flows", str(names.J48))
    assert out.startswith("nothing added; nothing changed\n1 request in")


def test_json_is_for_programs(ingest: Ingest, server: OpenMLServer) -> None:
    code, out, err = ingest(
        "openml",
        "--server",
        server.url,
        "--rate",
        "1000",
        "--measures",
        "kappa",
        "--format",
        "json",
        "--log-json",
    )
    summary = json.loads(out)
    assert (code, summary["added"]["evaluations"]) == (0, 92)
    lines = [json.loads(line) for line in err.splitlines()]
    assert [(line["event"], line["measure"], line["runs"]) for line in lines] == [("page", "kappa", 92)]


def test_a_dry_run_only_estimates(ingest: Ingest, server: OpenMLServer) -> None:
    server.forget_requests()
    code, out, _ = ingest(
        "openml", "--server", server.url, "--rate", "1000", "--measures", "kappa", "--dry-run"
    )
    assert code == 0
    assert out.splitlines()[1].startswith("about 1 request,")
    assert {request.endpoint for request in server.requests} == {"evaluation/list"}
    assert not ingest.warehouse.exists()


def test_a_dry_run_on_an_unreadable_warehouse_prints_no_numbers(ingest: Ingest, server: OpenMLServer) -> None:
    ingest.warehouse.mkdir()
    (ingest.warehouse / "notes.txt").touch()
    code, out, err = ingest("openml", "--server", server.url, "--rate", "1000", "--dry-run")
    assert (code, out) == (2, "")
    assert "is not a warehouse" in err


def test_a_job_in_object_storage_is_known_to_the_machine_where_it_ran(
    s3_url: str,
    on_machine: Callable[[str], None],
    server: OpenMLServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same command on a second machine requests nothing that the warehouse has."""
    ingest = Ingest(s3_url, capsys, monkeypatch)
    asked = ("openml", "--server", server.url, "--rate", "1000", "--measures", "predictive_accuracy")
    code, out, _ = ingest(*asked)
    assert code == 0
    assert out.endswith("skipped: 1, see `ingest status`\nwarehouse version 1\n")
    assert f"skipped setup {names.HIDDEN_SETUP_RUN + names.SETUP_AFTER_RUN}" in ingest("status")[1]
    on_machine("second machine")
    assert "No job yet" in ingest("status")[1]
    assert "of which 101 are known" in ingest(*asked, "--dry-run")[1]
    assert ingest(*asked)[1].startswith("nothing added; nothing changed")
    assert "predictive_accuracy: 101 evaluations" in ingest("status")[1]


def test_runs_that_are_no_longer_listed_are_reported(ingest: Ingest) -> None:
    world = generated_world()
    with OpenMLServer(world) as server:
        asked = ("openml", "--server", server.url, "--rate", "1000", "--measures", "kappa")
        assert "no longer listed" not in ingest(*asked)[1]
        gone = max(world.measure_values("kappa"))
        world.remove_run(gone)
        assert "\nknown runs no longer listed (kept): 1; see `ingest status`\n" in ingest(*asked)[1]
        assert "--refresh finds out which" in ingest("status")[1]
        ingest(*asked, "--refresh")
    assert f"no longer listed (kept): run {gone}\n" in ingest("status")[1]


def test_the_status_shows_what_was_found_and_skipped(ingest: Ingest, server: OpenMLServer) -> None:
    Warehouse.create(ingest.warehouse)
    assert "No job yet" in ingest("status")[1]
    ingest("openml", "--server", server.url, "--rate", "1000", "--measures", "acc")
    _, out, _ = ingest("status")
    assert "finished" in out
    assert "predictive_accuracy: 101 evaluations" in out
    assert "skipped setup 9902: the server has no hyperparameters of it" in out
    (state,) = json.loads(ingest("status", "--format", "json")[1])
    assert state["selection"] == {"measures": ["predictive_accuracy"]}


@each(
    ("options", "complaint"),
    [
        (["--flows", "abc"], "'abc' is not an OpenML id"),
        (["--flows", "0"], "'0' is not an OpenML id"),
        (["--suite", "unknown"], "Unknown study"),
        (["--rate", "0"], "the rate must be a number"),
        (["--server", "openml.org"], "must be an address"),
        (["--api-key-file", "nowhere"], "API key can't be read"),
        (["--max-runs-per-task-and-flow", "3"], "needs the flows"),
        (["--measures", ","], "at least one measure"),
        (["--format", "xml"], "'xml' is not one of 'table', 'json'"),
    ],
)
def test_bad_options_are_one_line(
    ingest: Ingest, server: OpenMLServer, options: list[str], complaint: str
) -> None:
    code, out, err = ingest("openml", "--server", server.url, *options)
    assert (code, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1


def test_the_key_is_sent_and_nowhere_shown(ingest: Ingest, server: OpenMLServer, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("wrongkey\n")
    code, out, err = ingest("openml", "--server", server.url, "--api-key-file", str(key))
    assert code == 2
    assert "does not accept the API key" in err
    assert "wrongkey" not in out + err


# ---- datasets --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_own_folders")
def test_computed_metafeatures_are_stored_beside_openmls(ingest: Ingest, server: OpenMLServer) -> None:
    ingest("openml", "--server", server.url, "--rate", "1000", "--measures", "kappa")
    code, out, err = ingest("openml-data", "--server", server.url, "--datasets", "101,999")
    assert code == 0
    assert out.startswith("1 dataset described, 0 known, 1 skipped")
    assert "dataset 999 was skipped" in err
    warehouse = Warehouse.open(ingest.warehouse)
    (row,) = warehouse.sql("SELECT * FROM datasets WHERE dataset = 'openml:101'").to_dict("records")
    assert (row["status"], row["columns"], len(row["content_hash"])) == ("active", 3, 16)
    rows = warehouse.sql(
        "SELECT source, value FROM qualities WHERE dataset = 'openml:101' AND quality = 'NumberOfInstances'"
    )
    assert sorted(rows["source"]) == ["computed", "openml"]
    assert set(rows["value"]) == {30.0}
    code, out, _ = ingest("openml-data", "--server", server.url, "--datasets", "101")
    assert out.startswith("0 datasets described, 1 known")


@pytest.mark.usefixtures("_own_folders")
def test_it_fails_if_no_dataset_can_be_described(ingest: Ingest, server: OpenMLServer) -> None:
    code, _, err = ingest("openml-data", "--server", server.url, "--datasets", "999")
    assert code == 1
    assert "no dataset could be described" in err


@each("rate", ["nan", "inf", "0", "-1", "1e-300"])
def test_invalid_rates_are_refused(ingest: Ingest, server: OpenMLServer, rate: str) -> None:
    code, _, err = ingest("openml", "--server", server.url, "--rate", rate, "--flows", str(names.J48))
    assert (code, len(err.splitlines())) == (2, 1)
    assert "the rate must be a number of requests per second from 0.001" in err


def test_a_read_only_warehouse_is_refused_before_any_request(
    ingest: Ingest, server: OpenMLServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    Warehouse.create(ingest.warehouse)
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    code, _, err = ingest("openml", "--server", server.url, "--flows", str(names.J48))
    assert (code, len(err.splitlines())) == (2, 1)
    assert "is read-only for you; name a warehouse of your own" in err


def test_runs_of_regression_come_with_their_own_measures_and_task_type(ingest: Ingest, world: World) -> None:
    runs = [run for run, row in world.runs.items() if row.task == names.REGRESSION_TASK]
    for run in runs:
        for measure in ("mean_absolute_error", "root_relative_squared_error", "relative_absolute_error"):
            world.add_evaluation(run, measure, "0.5")
    with OpenMLServer(world) as server:
        where = ("--server", server.url, "--rate", "1000", "--tasks", str(names.REGRESSION_TASK))
        assert ingest("openml", *where, "--task", "regression")[0] == 0
    warehouse = Warehouse.open(ingest.warehouse)
    for measure in ("root_mean_squared_error", "root_relative_squared_error", "mean_absolute_error"):
        table = warehouse.run_table(f"openml:{names.J48}", measure, task_type=REGRESSION, related=False)
        assert {*table.runs["run"]} == {f"openml:{run}" for run in runs if world.runs[run].flow == names.J48}
    assert warehouse.sql("SELECT DISTINCT task_type FROM tasks")["task_type"].tolist() == [REGRESSION.name]
