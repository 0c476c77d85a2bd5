"""Runs from an OpenML server into the warehouse: all of them, once, typed, whatever goes wrong on the way."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pytest

from ingest.openml.connection import Connection
from ingest.openml.documents import Parameter, SetupValues
from ingest.openml.flows import FlowParameter
from ingest.openml.job import JobProgress, JobSummary, estimate, ingest_openml
from ingest.openml.selection import Selection
from ingest.openml.status import job_states
from ingest.openml.tables import KnownFlow, setup_tables
from ingest.run_files import ingest_run_file
from tests.openml_server import KINDS, Faults, OpenMLServer, World, generated_world, real_world
from tests.openml_server import generated as names
from warehouse.schema import TABLES
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, Failed

T = TypeVar("T")

ACCURACY = "predictive_accuracy"
JUST_ACCURACY = Selection(measures=(ACCURACY,))
LISTINGS = ("evaluation/list", "evaluation/setup/list", "setup/list")


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse.create(tmp_path / "warehouse")


@pytest.fixture
def world() -> World:
    return generated_world()


def connect(server: OpenMLServer) -> Connection:
    return Connection(server.url, rate=1e6, sleep=lambda _: None, seed=0)


def ingest(
    warehouse: Warehouse, server: OpenMLServer, selection: Selection = JUST_ACCURACY, **options: Any
) -> JobSummary:
    server.forget_requests()
    return ingest_openml(warehouse, selection, connect(server), **options)


def evaluations(warehouse: Warehouse, measure: str = ACCURACY) -> dict[int, float | None]:
    """Value by run."""
    rows = warehouse.arrow(
        "SELECT r.position AS run, e.value FROM evaluations e JOIN runs r USING (run) WHERE measure = ?",
        [measure],
    )
    assert len(set(rows["run"].to_pylist())) == rows.num_rows
    return dict(zip(rows["run"].to_pylist(), rows["value"].to_pylist(), strict=True))


def expected(world: World, measure: str = ACCURACY) -> dict[int, float | None]:
    """What the world lists, as the warehouse should have it."""
    texts = {run: text for run, text in world.measure_values(measure).items() if run != names.NO_SETUP_RUN}
    if measure == ACCURACY and names.TWO_ENGINES_RUN in texts:
        texts[names.TWO_ENGINES_RUN] = "0.75"  # the first engine's; the second says 0.8
    values = {run: float(text) if text else None for run, text in texts.items()}
    return {run: None if value is None or np.isnan(value) else value for run, value in values.items()}


def values_of(warehouse: Warehouse, run: int) -> dict[str, Any]:
    """Typed hyperparameters of a run's setup."""
    rows = warehouse.sql(
        "SELECT h.parameter, h.value FROM hyperparameters h JOIN runs r USING (setup) WHERE r.run = ?",
        [f"openml:{run}"],
    )
    return {name: json.loads(value) for name, value in zip(rows["parameter"], rows["value"], strict=True)}


def content(warehouse: Warehouse) -> dict[str, list[tuple[Any, ...]]]:
    """Every row but for which ingest wrote it."""
    return {
        name: [
            tuple(row.values())
            for row in warehouse.arrow(f"SELECT * EXCLUDE (ingest) FROM {name} ORDER BY ALL").to_pylist()
        ]
        for name in TABLES
        if name != "ingests"
    }


# ---- what arrives --------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [ACCURACY, "area_under_roc_curve", "kappa", "usercpu_time_millis"])
def test_every_evaluation_arrives_once(warehouse: Warehouse, world: World, measure: str) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server, Selection(measures=(measure,)))
    assert evaluations(warehouse, measure) == expected(world, measure)


def test_several_measures_share_their_runs(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server, Selection(measures=(ACCURACY, "kappa")))
        assert server.count("evaluation/setup/list") == 1
    assert evaluations(warehouse, "kappa") == expected(world, "kappa")


def test_hyperparameters_are_typed_and_keep_their_text(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    values = values_of(warehouse, names.SPECIAL_VALUES_RUN)
    assert names.SPECIAL_TEXT in values.values()
    raw = warehouse.sql(
        "SELECT raw FROM hyperparameters h JOIN runs r USING (setup) WHERE r.run = ?",
        [f"openml:{names.SPECIAL_VALUES_RUN}"],
    )["raw"]
    setup = names.SPECIAL_VALUES_RUN + names.SETUP_AFTER_RUN
    assert sorted(raw) == sorted(world.parameters(setup).values())


def test_what_a_setup_leaves_out_has_the_flows_default(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    assert values_of(warehouse, names.DEFAULTS_RUN) == {"C": 0.25, "M": 2}
    marked = warehouse.sql(
        "SELECT DISTINCT is_default FROM hyperparameters WHERE setup = ?",
        [f"openml:{names.DEFAULTS_RUN + names.SETUP_AFTER_RUN}"],
    )
    assert marked["is_default"].tolist() == [True]


def test_a_setup_that_is_lost_has_no_hyperparameters_and_a_reason(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    assert values_of(warehouse, names.HIDDEN_SETUP_RUN) == {}
    (state,) = job_states(warehouse.path)
    setup = names.HIDDEN_SETUP_RUN + names.SETUP_AFTER_RUN
    assert state.skipped == [(f"setup {setup}", "the server has no hyperparameters of it")]


def test_versions_of_a_flow_are_one_algorithm_with_one_set_of_parameters(
    warehouse: Warehouse, world: World
) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    flows = warehouse.sql("SELECT flow, algorithm FROM flows").set_index("flow")["algorithm"]
    old, new = f"openml:{names.OLD_TREE}", f"openml:{names.NEW_TREE}"
    assert flows[old] == flows[new]
    table = warehouse.run_table(flows[old], ACCURACY)
    assert set(table.runs["flow"]) == {old, new}
    parameters = table.configurations.parameters
    assert "criterion" in parameters
    assert "random_state" not in parameters
    assert set(parameters["criterion"].dropna()) == {"gini", "entropy"}


def test_equal_tunable_values_are_one_configuration(warehouse: Warehouse, world: World) -> None:
    setup, twin = names.DUPLICATE_RUNS[0] + names.SETUP_AFTER_RUN, 99_999
    flow = names.J48
    values = {path: text for path, text in world.parameters(setup).items() if text is not None}
    world.add_setup(twin, flow, {**values, "M": "2"})  # its default, said aloud
    world.add_run(99_998, 1, twin)
    world.add_evaluation(99_998, ACCURACY, "0.5")
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    found = warehouse.sql(
        "SELECT count(DISTINCT configuration) AS n FROM setups WHERE setup IN (?, ?)",
        [f"openml:{setup}", f"openml:{twin}"],
    )
    assert found["n"].tolist() == [1 if flow_of(warehouse, setup) == f"openml:{flow}" else 2]


def flow_of(warehouse: Warehouse, setup: int) -> str:
    return str(warehouse.sql("SELECT flow FROM setups WHERE setup = ?", [f"openml:{setup}"])["flow"][0])


def test_datasets_keep_their_status_and_published_qualities(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    datasets = warehouse.sql("SELECT * FROM datasets").set_index("dataset")
    assert datasets.loc[f"openml:{names.DEACTIVATED}", "status"] == "deactivated"
    assert datasets.loc["openml:101", ["rows", "columns", "classes"]].tolist() == [30, 3, 2]
    qualities = warehouse.sql("SELECT * FROM qualities WHERE dataset = 'openml:101'").set_index("quality")
    assert qualities.loc["ClassEntropy", "value"] == 0.9182958340544896
    assert np.isnan(qualities.loc["MeanMutualInformation", "value"])
    assert -1.0 in warehouse.sql("SELECT value FROM qualities")["value"].tolist()
    tasks = warehouse.sql("SELECT * FROM tasks").set_index("task")
    assert tasks.loc["openml:1", ["dataset", "task_type", "estimation_procedure"]].tolist() == [
        "openml:101", "supervised_classification", "cv10",
    ]  # fmt: skip


def test_datasets_without_qualities_are_told(warehouse: Warehouse, world: World) -> None:
    dataset = world.datasets[names.NO_QUALITIES]
    task = replace(world.tasks[1], id=77, did=dataset.did)
    world.add_task(task)
    world.add_run(7_777, 77, names.DEFAULTS_RUN + names.SETUP_AFTER_RUN)
    world.add_evaluation(7_777, ACCURACY, "0.5")
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    (state,) = job_states(warehouse.path)
    assert any(what == f"qualities of dataset {dataset.did}" and "362" in why for what, why in state.skipped)
    assert len(warehouse.sql("SELECT * FROM datasets WHERE dataset = ?", [f"openml:{dataset.did}"])) == 1


def test_qualities_of_a_run_file_move_to_the_dataset_that_its_task_turns_out_to_have(
    warehouse: Warehouse, world: World, tmp_path: Path
) -> None:
    task = replace(world.tasks[1], id=77, did=names.NO_QUALITIES)
    world.add_task(task)
    world.add_run(7_777, 77, names.DEFAULTS_RUN + names.SETUP_AFTER_RUN)
    world.add_evaluation(7_777, ACCURACY, "0.5")
    (tmp_path / "runs.csv").write_text("max_features,predictive_accuracy,task_id\n0.5,0.75,77\n")
    (tmp_path / "qualities.json").write_text('{"77": {"NumberOfInstances": 12, "ClassEntropy": null}}')
    ingest_run_file(warehouse, tmp_path / "runs.csv", "6969", qualities=tmp_path / "qualities.json")
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    of_file = warehouse.run_table("6969", ACCURACY).runs["dataset"]
    assert of_file.tolist() == [f"openml:{names.NO_QUALITIES}"]
    described = warehouse.metafeatures().loc[f"openml:{names.NO_QUALITIES}"]
    assert described["NumberOfInstances"] == 12
    assert np.isnan(described["ClassEntropy"])


def test_runs_with_errors_come_along_where_they_are_asked_for(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
        assert warehouse.sql("SELECT * FROM runs WHERE outcome <> 'success'").empty
        ingest(warehouse, server, replace(JUST_ACCURACY, failures=True))
    failed = warehouse.sql("SELECT run, message FROM runs WHERE outcome = 'crash'")
    assert failed.to_numpy().tolist() == [[f"openml:{names.FAILED_RUN}", "Killed: out of memory"]]
    assert len(warehouse.run_table(None, ACCURACY).runs) == len(expected(world))


def test_rows_that_no_parser_reads_are_skipped_one_by_one(warehouse: Warehouse) -> None:
    with OpenMLServer(generated_world(unreadable=True)) as server:
        ingest(warehouse, server, replace(JUST_ACCURACY, failures=True))
    (state,) = job_states(warehouse.path)
    assert [what for what, why in state.skipped if "unreadable" in why] == ["row 0 of the listing of runs"]


def test_setups_may_name_another_version_of_a_component() -> None:
    flow = KnownFlow("weka.J48", (FlowParameter("", "41", "C", "C", True, None, "0.25"),))
    parameters = {
        "1": Parameter("1", "40", "weka.J48(1)_C", "C"),
        "2": Parameter("2", "7", "other(1)_C", "C"),
    }
    setups = [SetupValues("8", "41", ("1",), "0.5"), SetupValues("9", "41", ("1", "2"), "0.5\0000.75")]
    rows = setup_tables(setups, parameters, {"41": flow})["hyperparameters"].to_pylist()
    assert [(row["setup"], row["value"]) for row in rows if row["parameter"] == "C"] == [("openml:8", "0.5")]
    assert len({(row["setup"], row["parameter"]) for row in rows}) == len(rows)


def test_a_flow_that_could_not_be_read_is_asked_for_again(warehouse: Warehouse) -> None:
    faults = Faults(0, planned=["malformed_json_or_xml"] * 4, endpoints=["flow"])
    with OpenMLServer(generated_world(), faults=faults) as server:
        ingest(warehouse, server, replace(JUST_ACCURACY, flows=(names.ZERO_R,)))
        assert warehouse.sql("SELECT * FROM components").empty
        world_again = replace(JUST_ACCURACY, flows=(names.ZERO_R,), tasks=(1,), measures=("kappa",))
        ingest(warehouse, server, world_again)
    assert len(warehouse.sql("SELECT * FROM components")) == 1


# ---- selections ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selection", "condition"),
    [
        ({"flows": (names.J48,)}, f"flow = 'openml:{names.J48}'"),
        ({"tasks": (1, 2)}, "task IN ('openml:1', 'openml:2')"),
        ({"suite": "small-suite", "flows": (names.ZERO_R,)}, f"flow = 'openml:{names.ZERO_R}'"),
        ({"datasets": (102,)}, "task = 'openml:2'"),
        ({"uploaders": (2,)}, "uploader = '2'"),
        ({"since": 905}, "position >= 905"),
    ],
)
def test_a_selection_is_what_arrives(
    warehouse: Warehouse, world: World, tmp_path: Path, selection: dict[str, Any], condition: str
) -> None:
    everything = Warehouse.create(tmp_path / "everything")
    with OpenMLServer(world) as server:
        ingest(everything, server)
        ingest(warehouse, server, replace(JUST_ACCURACY, **selection))
    joined = f"SELECT r.position FROM evaluations e JOIN runs r USING (run) WHERE {condition}"
    assert set(evaluations(warehouse)) == set(everything.sql(joined)["position"]) != set()


def test_runs_may_be_limited_per_task_and_flow(warehouse: Warehouse, world: World) -> None:
    selection = replace(JUST_ACCURACY, flows=(names.J48, names.ZERO_R), tasks=(1, 2), most=2)
    with OpenMLServer(world) as server:
        ingest(warehouse, server, selection)
        counts = warehouse.sql("SELECT count(*) AS n FROM runs JOIN setups USING (setup) GROUP BY task, flow")
        assert counts["n"].tolist() == [2] * 4
        ingest(warehouse, server, selection)
        assert not server.requests


@pytest.mark.parametrize(
    "selection",
    [
        {"suite": "nothing-of-the-kind"}, {"suite": "../x"}, {"tasks": (), "datasets": (555,)}, {"most": 3},
        {"measures": ()}, {"measures": ("a/b",)}, {"measures": ("no_such_measure",)},
    ],
)  # fmt: skip
def test_impossible_selections_are_refused_or_empty(
    warehouse: Warehouse, world: World, selection: dict[str, Any]
) -> None:
    with OpenMLServer(world) as server:
        if selection == {"measures": ("no_such_measure",)}:
            assert ingest(warehouse, server, replace(JUST_ACCURACY, **selection)).added == {}
        else:
            with pytest.raises(BadInput):
                ingest(warehouse, server, replace(JUST_ACCURACY, **selection))
            assert job_states(warehouse.path) == []


# ---- again ---------------------------------------------------------------------------------------


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


def test_late_evaluations_of_old_runs_are_found(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world, page_limit=10) as server:
        ingest(warehouse, server)
        world.add_evaluation(names.UNEVALUATED_RUN, ACCURACY, "0.75")
        ingest(warehouse, server)
    assert evaluations(warehouse)[names.UNEVALUATED_RUN] == 0.75


def test_corrected_values_replace_the_old_ones(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
        run = max(expected(world))
        world.add_evaluation(run, ACCURACY, "0.0625")
        assert ingest(warehouse, server).changed["evaluations"] == 1
    assert evaluations(warehouse)[run] == 0.0625


def test_a_refresh_corrects_what_is_old(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world, page_limit=10) as server:
        ingest(warehouse, server)
        run = min(expected(world))
        world.add_evaluation(run, ACCURACY, "0.0625")
        world.add_dataset(replace(world.datasets[102], status="deactivated"))
        ingest(warehouse, server, refresh=True)
    assert evaluations(warehouse) == expected(world)
    status = warehouse.sql("SELECT status FROM datasets WHERE dataset = 'openml:102'")["status"]
    assert status.tolist() == ["deactivated"]


def test_runs_that_vanish_are_kept_and_new_ones_still_found(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world, page_limit=10) as server:
        ingest(warehouse, server)
        before = expected(world)
        for run in sorted(before)[:40]:
            world.remove_run(run)
        world.add_run(600_000, 2, names.DEFAULTS_RUN + names.SETUP_AFTER_RUN)
        world.add_evaluation(600_000, ACCURACY, "0.25")
        ingest(warehouse, server)
    assert evaluations(warehouse) == before | {600_000: 0.25}


def test_what_is_immutable_is_asked_for_once(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
        ingest(warehouse, server, Selection(measures=("kappa",)))
        assert server.counts() == {"evaluation/setup/list": 1}


# ---- what goes wrong -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Any, ...]]]:
    """What an undisturbed job brings."""
    warehouse = Warehouse.create(tmp_path_factory.mktemp("whole") / "warehouse")
    with OpenMLServer(generated_world()) as server:
        ingest(warehouse, server, Selection(measures=(ACCURACY, "kappa")))
    return content(warehouse)


@pytest.mark.parametrize("unstable", [False, True])
@pytest.mark.parametrize("page_limit", [7, 50, 1000])
def test_pages_may_be_small_and_in_any_order(
    warehouse: Warehouse, whole: dict[str, Any], page_limit: int, unstable: bool
) -> None:
    with OpenMLServer(generated_world(), page_limit=page_limit, unstable_order=unstable) as server:
        ingest(warehouse, server, Selection(measures=(ACCURACY, "kappa")))
    assert content(warehouse) == whole


@pytest.mark.parametrize("kind", [*KINDS, "all"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_faults_lose_and_double_nothing(
    warehouse: Warehouse, whole: dict[str, Any], kind: str, jobs: int
) -> None:
    faults = Faults(rate=0.2, kinds=KINDS if kind == "all" else (kind,), seed=1, slow_seconds=0.001)
    with OpenMLServer(generated_world(), page_limit=20, faults=faults) as server:
        ingest(warehouse, server, Selection(measures=(ACCURACY, "kappa")), jobs=jobs)
    assert content(warehouse) == whole


def test_a_run_that_appears_between_two_pages_is_not_lost(warehouse: Warehouse) -> None:
    world, faults = generated_world(), Faults(rate=0)

    def insert() -> None:
        world.add_run(3, 2, names.DEFAULTS_RUN + names.SETUP_AFTER_RUN)
        world.add_evaluation(3, ACCURACY, "0.25")

    faults.insert_between_pages(3, insert)
    with OpenMLServer(world, page_limit=20, faults=faults) as server:
        ingest(warehouse, server)
    assert evaluations(warehouse) == expected(world)
    assert 3 in evaluations(warehouse)


class Killed(BaseException):
    """Like a signal, it passes every handler of errors."""


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


@pytest.mark.parametrize("life", [1, 2, 5])
def test_a_job_that_is_killed_again_and_again_repeats_no_request(
    warehouse: Warehouse, whole: dict[str, Any], life: int
) -> None:
    selection = Selection(measures=(ACCURACY, "kappa"))
    with OpenMLServer(generated_world(), page_limit=20) as server:
        for _ in range(100):
            connection = MortalConnection(server.url, rate=1e6)
            connection.answers_left = life
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


def test_a_server_that_goes_down_leaves_what_came(warehouse: Warehouse, world: World) -> None:
    faults = Faults(rate=0, planned=[None] * 12 + ["unavailable"] * 10)
    with OpenMLServer(world, page_limit=20, faults=faults) as server:
        with pytest.raises(Failed, match="run the same command again"):
            ingest(warehouse, server)
        assert evaluations(warehouse) == {}
        ingest(warehouse, server)
    assert evaluations(warehouse) == expected(world)


def test_a_server_of_which_nothing_can_be_read_is_left_alone(warehouse: Warehouse, world: World) -> None:
    faults = Faults(
        1, kinds=("malformed_json_or_xml",), endpoints=["evaluation/list", "evaluation/setup/list"]
    )
    with OpenMLServer(world, faults=faults) as server:
        with pytest.raises(Failed, match="run the same command again later"):
            ingest(warehouse, server)
        assert len(server.requests) < 300


def test_the_same_job_runs_once_at_a_time(warehouse: Warehouse, world: World) -> None:
    def again(_: JobProgress) -> None:
        assert job_states(warehouse.path)[0].state == "running"
        with pytest.raises(BadInput, match="running already"):
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


# ---- real runs -----------------------------------------------------------------------------------


def test_an_estimate_is_about_right(warehouse: Warehouse, shared_data: Path) -> None:
    with OpenMLServer(real_world(shared_data, runs_per_flow=3000)) as server:
        found = estimate(warehouse, JUST_ACCURACY, connect(server))
    assert found.evaluations == pytest.approx(6000, rel=0.1)
    assert found.requests in (6, 7)


def test_runs_from_a_server_and_from_a_file_are_the_same(
    warehouse: Warehouse, shared_data: Path, tmp_path: Path
) -> None:
    with OpenMLServer(real_world(shared_data, runs_per_flow=1500)) as server:
        ingest(warehouse, server)
        # The first page, four windows, the empty one above them, and the end of the listing.
        assert sum(server.count(listing) for listing in LISTINGS) == 7
    of_file = Warehouse.create(tmp_path / "file")
    for flow in ("6969", "6970"):
        ingest_run_file(of_file, shared_data / "openml-runs" / f"flow_{flow}.arff", flow)
        theirs, ours = of_file.run_table(flow, ACCURACY), warehouse.run_table(flow, ACCURACY)
        same = theirs.runs.iloc[:1500]
        assert ours.runs[["task", "value"]].equals(same[["task", "value"]])
        left = ours.configurations.parameters.loc[ours.runs["setup"]].reset_index(drop=True)
        right = theirs.configurations.parameters.loc[same["setup"]].reset_index(drop=True)
        pd.testing.assert_frame_equal(left, right)
        assert left.map(type).equals(right.map(type))
