"""All runs of an OpenML server reach the warehouse once, with types, whatever goes wrong."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ingest.openml.api.connection import Connection
from ingest.openml.job import JobProgress, estimate, ingest_openml
from ingest.openml.selection import Selection
from ingest.openml.status import job_states
from tests.cases import each
from tests.ingest.openml.jobs import ACCURACY, JUST_ACCURACY, connect, evaluations, expected, ingest
from tests.openml_server import KINDS, Faults, OpenMLServer, World, generated_world
from tests.openml_server import generated as names
from tests.warehouse.worlds import Killed, content, lose_rows
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, Failed

T = TypeVar("T")


# ---- what arrives --------------------------------------------------------------------------------


def test_every_evaluation_arrives_once_and_measures_share_their_runs(
    warehouse: Warehouse, world: World
) -> None:
    measures = (ACCURACY, "area_under_roc_curve", "kappa", "usercpu_time_millis")
    with OpenMLServer(world) as server:
        ingest(warehouse, server, Selection(measures=measures))
        assert server.count("evaluation/setup/list") == 1
    for measure in measures:
        assert evaluations(warehouse, measure) == expected(world, measure)


def test_failed_runs_are_stored_on_request(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
        assert warehouse.sql("SELECT * FROM runs WHERE outcome <> 'success'").empty
        ingest(warehouse, server, replace(JUST_ACCURACY, failures=True))
    failed = warehouse.sql("SELECT run, message FROM runs WHERE outcome = 'crash'")
    assert failed.to_numpy().tolist() == [[f"openml:{names.FAILED_RUN}", "Killed: out of memory"]]
    lost = warehouse.sql("SELECT run FROM runs JOIN setups USING (setup) WHERE configuration IS NULL")["run"]
    learned = warehouse.run_table(None, ACCURACY).runs["run"]
    assert {*learned, *lost} - {f"openml:{names.FAILED_RUN}"} == {f"openml:{run}" for run in expected(world)}


def test_unreadable_rows_are_skipped_one_by_one(warehouse: Warehouse) -> None:
    with OpenMLServer(generated_world(unreadable=True)) as server:
        ingest(warehouse, server, replace(JUST_ACCURACY, failures=True))
    (state,) = job_states(warehouse.path)
    assert [what for what, why in state.skipped if "unreadable" in why] == ["row 0 of the listing of runs"]


def test_parents_lost_by_a_repair_are_restored_by_the_same_job(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world, page_limit=10) as server:
        ingest(warehouse, server)
        before = content(warehouse)
        for tables in (("datasets", "flows"), ("tasks", "setups")):
            for table in tables:
                lose_rows(warehouse, table)
            warehouse = Warehouse.open(warehouse.path)
            assert [content(warehouse)[table] for table in tables] == [[], []]
            ingest(warehouse, server)
            assert [content(warehouse)[table] for table in tables] == [before[table] for table in tables]
        ingest(warehouse, server)
        assert not server.count("data/list") + server.count("task/list") + server.count("setup/list")


# ---- selections ----------------------------------------------------------------------------------


def test_only_the_selected_runs_arrive(warehouse: Warehouse, world: World, tmp_path: Path) -> None:
    selections: list[tuple[dict[str, Any], str]] = [
        ({"flows": (names.J48,)}, f"flow = 'openml:{names.J48}'"),
        ({"tasks": (1, 2)}, "task IN ('openml:1', 'openml:2')"),
        ({"suite": "small-suite", "flows": (names.ZERO_R,)}, f"flow = 'openml:{names.ZERO_R}'"),
        ({"datasets": (102,)}, "task = 'openml:2'"),
        ({"uploaders": (2,)}, "uploader = '2'"),
        ({"since": 905}, "position >= 905"),
    ]
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
        for number, (selection, condition) in enumerate(selections):
            chosen = Warehouse.create(tmp_path / str(number))
            ingest(chosen, server, replace(JUST_ACCURACY, **selection))
            joined = f"SELECT r.position FROM evaluations e JOIN runs r USING (run) WHERE {condition}"
            assert set(evaluations(chosen)) == set(warehouse.sql(joined)["position"]) != set(), selection


def test_runs_may_be_limited_per_task_and_flow(warehouse: Warehouse, world: World) -> None:
    selection = replace(JUST_ACCURACY, flows=(names.J48, names.ZERO_R), tasks=(1, 2), most=2)
    with OpenMLServer(world) as server:
        ingest(warehouse, server, selection)
        counts = warehouse.sql("SELECT count(*) AS n FROM runs JOIN setups USING (setup) GROUP BY task, flow")
        assert counts["n"].tolist() == [2] * 4
        ingest(warehouse, server, selection)
        assert not server.requests


@each(
    "selection",
    [
        {"suite": "nothing-of-the-kind"}, {"suite": "../x"}, {"tasks": (), "datasets": (555,)}, {"most": 3},
        {"measures": ()}, {"measures": ("a/b",)}, {"measures": ("no_such_measure",)},
    ],
)  # fmt: skip
def test_impossible_selections_are_refused(
    warehouse: Warehouse, world: World, selection: dict[str, Any]
) -> None:
    with OpenMLServer(world) as server:
        with pytest.raises(BadInput):
            ingest(warehouse, server, replace(JUST_ACCURACY, **selection))
        assert job_states(warehouse.path) == []


@each(
    ("selection", "reason"),
    [
        ({"measures": ("predictive_acuracy",)}, "unknown measure.*perhaps predictive_accuracy"),
        ({"flows": (999_999,)}, "the server has no flow 999999"),
        ({"tasks": (999_999,)}, "the server has no task 999999"),
        ({"flows": (names.J48,), "uploaders": (77,)}, "no evaluated run of this selection"),
        (
            {"flows": (names.J48,), "measures": ("mean_absolute_error",)},
            "no run of this selection has mean_absolute_error; its runs have .*predictive_accuracy",
        ),
    ],
)
def test_nothing_found_is_explained_by_what_the_server_has_instead(
    warehouse: Warehouse, world: World, selection: dict[str, Any], reason: str
) -> None:
    wanted = replace(JUST_ACCURACY, **selection)
    with OpenMLServer(world) as server:
        for ask in (
            lambda: ingest(warehouse, server, wanted),
            lambda: estimate(warehouse, wanted, connect(server)),
        ):
            with pytest.raises(BadInput, match=reason):
                ask()


def test_measures_of_regression_are_named_with_their_option(warehouse: Warehouse, world: World) -> None:
    runs = [run for run in world.runs if world.runs[run].task == 1]
    for run in runs:
        world.evaluations[run].clear()
        world.add_evaluation(run, "root_mean_squared_error", "2.5")
    with OpenMLServer(world) as server, pytest.raises(BadInput, match=r"have root_mean.*--task regression"):
        ingest(warehouse, server, replace(JUST_ACCURACY, tasks=(1,)))


@each("missing", ["flow 999999", "task 888888", "measure webb_bias"])
def test_what_has_no_runs_among_others_is_recorded(tmp_path: Path, missing: str) -> None:
    kind, name = missing.split()
    known: dict[str, Any] = {"flows": (names.J48,), "tasks": (1,), "measures": (ACCURACY,)}
    known[f"{kind}s"] += (name if kind == "measure" else int(name),)
    warehouse = Warehouse.create(tmp_path / kind)
    with OpenMLServer(generated_world()) as server:
        ingest(warehouse, server, Selection(**known))
    skipped = [what for what, why in job_states(warehouse.path)[0].skipped if "no evaluated run of it" in why]
    assert skipped == [missing]


# ---- again ---------------------------------------------------------------------------------------


def test_a_measure_known_only_to_the_server_is_accepted(warehouse: Warehouse, world: World) -> None:
    world.add_evaluation(1000, "beauty", "3")
    with OpenMLServer(world) as server:
        ingest(warehouse, server, Selection(measures=("beauty",)))
    assert evaluations(warehouse, "beauty") == {1000: 3.0}


def test_nothing_new_takes_one_request(warehouse: Warehouse, world: World) -> None:
    everything = Selection(measures=(ACCURACY, "kappa", "f_measure"))
    with OpenMLServer(world) as server:
        ingest(warehouse, server, everything)
        version = warehouse.version
        summary = ingest(warehouse, server, everything)
        assert len(server.requests) == summary.requests == 1
    assert warehouse.version == version


def test_new_runs_are_added_and_nothing_else(warehouse: Warehouse, world: World) -> None:
    selection = Selection(measures=(ACCURACY, "kappa"))
    with OpenMLServer(world) as server:
        ingest(warehouse, server, selection)
        setup = names.DEFAULTS_RUN + names.SETUP_AFTER_RUN
        for run in (500_001, 500_003):
            world.add_run(run, 2, setup)
            world.add_evaluation(run, ACCURACY, "0.25")
            world.add_evaluation(run, "kappa", "0.125")
        added = ingest(warehouse, server, selection).added
    assert {name: count for name, count in added.items() if count} == {"runs": 2, "evaluations": 4}
    assert evaluations(warehouse, "kappa") == expected(world, "kappa")


def test_corrected_values_replace_the_old_ones(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
        run = max(expected(world))
        world.add_evaluation(run, ACCURACY, "0.0625")
        assert ingest(warehouse, server).changed["evaluations"] == 1
    assert evaluations(warehouse)[run] == 0.0625


def test_a_refresh_corrects_old_rows(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world, page_limit=10) as server:
        ingest(warehouse, server)
        run = min(expected(world))
        world.add_evaluation(run, ACCURACY, "0.0625")
        world.add_dataset(replace(world.datasets[102], status="deactivated"))
        ingest(warehouse, server, refresh=True)
    assert evaluations(warehouse) == expected(world)
    status = warehouse.sql("SELECT status FROM datasets WHERE dataset = 'openml:102'")["status"]
    assert status.tolist() == ["deactivated"]


# ---- what goes wrong -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The result of an undisturbed job."""
    warehouse = Warehouse.create(tmp_path_factory.mktemp("whole") / "warehouse")
    with OpenMLServer(generated_world()) as server:
        ingest(warehouse, server, Selection(measures=(ACCURACY, "kappa")))
    return content(warehouse)


def test_pages_may_be_small_and_in_any_order(warehouse: Warehouse, whole: dict[str, Any]) -> None:
    with OpenMLServer(generated_world(), page_limit=15, unstable_order=True) as server:
        ingest(warehouse, server, Selection(measures=(ACCURACY, "kappa")))
    assert content(warehouse) == whole


@pytest.mark.parametrize("jobs", [1, 2])
def test_faults_lose_and_duplicate_nothing(warehouse: Warehouse, whole: dict[str, Any], jobs: int) -> None:
    faults = Faults(rate=0.4, seed=1, slow_seconds=0.001)
    with OpenMLServer(generated_world(), page_limit=10, faults=faults) as server:
        ingest(warehouse, server, Selection(measures=(ACCURACY, "kappa")), jobs=jobs)
        assert {request.fault for request in server.requests} == {None, *KINDS}
    assert content(warehouse) == whole


class MortalConnection(Connection):
    """Dies after some answers."""

    answers_left = 0

    def get(
        self, path: str, read: Callable[[bytes], T], received: Callable[[bytes], None] = lambda _: None
    ) -> T:
        if not self.answers_left:
            raise Killed
        self.answers_left -= 1
        return super().get(path, read, received)


def test_a_repeatedly_killed_job_repeats_no_request(warehouse: Warehouse, whole: dict[str, Any]) -> None:
    selection = Selection(measures=(ACCURACY, "kappa"))
    with OpenMLServer(generated_world(), page_limit=20) as server:
        for _ in range(100):
            connection = MortalConnection(server.url, rate=1e6)
            connection.answers_left = 6
            try:
                ingest_openml(Warehouse.open(warehouse.path), selection, connection)
                break
            except Killed:
                assert job_states(warehouse.path)[0].state == "interrupted"
        paths = [request.path for request in server.requests]
    assert len(paths) == len(set(paths))
    assert content(Warehouse.open(warehouse.path)) == whole
    assert job_states(warehouse.path)[0].state == "finished"
    assert not list(warehouse.path.glob("jobs/*/answers/*"))


def test_earlier_results_are_kept_when_the_server_goes_down(warehouse: Warehouse, world: World) -> None:
    faults = Faults(rate=0, planned=[None] * 12 + ["unavailable"] * 10)
    with OpenMLServer(world, page_limit=20, faults=faults) as server:
        with pytest.raises(Failed, match="run the same command again"):
            ingest(warehouse, server)
        assert evaluations(warehouse) == {}
        ingest(warehouse, server)
    assert evaluations(warehouse) == expected(world)


def test_a_server_with_only_unreadable_answers_is_left_alone(warehouse: Warehouse, world: World) -> None:
    faults = Faults(1, kinds=("malformed",), endpoints=["evaluation/list", "evaluation/setup/list"])
    with OpenMLServer(world, faults=faults) as server:
        with pytest.raises(Failed, match="run the same command again later"):
            ingest(warehouse, server)
        assert len(server.requests) < 300


def test_the_same_job_runs_once_at_a_time(warehouse: Warehouse, world: World) -> None:
    def again(_: JobProgress) -> None:
        assert job_states(warehouse.path)[0].state == "running"
        with pytest.raises(BadInput, match="already running this job"):
            ingest_openml(warehouse, JUST_ACCURACY, connect(server))

    with OpenMLServer(world) as server:
        ingest_openml(warehouse, JUST_ACCURACY, connect(server), report=again)


def test_an_interrupted_job_stops_its_connection(warehouse: Warehouse, world: World) -> None:
    def interrupt(_: JobProgress) -> None:
        raise KeyboardInterrupt

    with OpenMLServer(world) as server:
        connection = connect(server)
        with pytest.raises(KeyboardInterrupt):
            ingest_openml(warehouse, JUST_ACCURACY, connection, report=interrupt)
        with pytest.raises(Failed, match="stopped"):
            connection.get("evaluationmeasure/list", lambda body: body)
