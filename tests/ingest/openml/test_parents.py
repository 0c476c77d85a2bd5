"""The published tasks, datasets and flows of runs are requested once."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ingest.openml.answers import Answers
from ingest.openml.parents import Parents
from ingest.openml.selection import Selection
from ingest.openml.status import job_states
from ingest.run_files import ingest_run_file
from tests.ingest.openml.jobs import ACCURACY, JUST_ACCURACY, connect, ingest
from tests.openml_server import Faults, OpenMLServer, World, generated_world
from tests.openml_server import generated as names
from warehouse.store import Warehouse


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
    assert tasks.loc["openml:1", ["dataset", "task_type", "estimation_procedure", "target"]].tolist() == [
        "openml:101", "supervised_classification", "cv10", "class",
    ]  # fmt: skip


def test_datasets_without_qualities_are_reported(warehouse: Warehouse, world: World) -> None:
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


def test_qualities_of_a_run_file_move_to_the_dataset_of_its_task(
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


def test_a_flow_that_could_not_be_read_is_asked_for_again(warehouse: Warehouse) -> None:
    faults = Faults(0, planned=["malformed"] * 4, endpoints=["flow"])
    with OpenMLServer(generated_world(), faults=faults) as server:
        ingest(warehouse, server, replace(JUST_ACCURACY, flows=(names.ZERO_R,)))
        assert warehouse.sql("SELECT * FROM components").empty
        world_again = replace(JUST_ACCURACY, flows=(names.ZERO_R,), tasks=(1,), measures=("kappa",))
        ingest(warehouse, server, world_again)
    assert len(warehouse.sql("SELECT * FROM components")) == 1


def test_immutable_parents_are_requested_once(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
        ingest(warehouse, server, Selection(measures=("kappa",)))
        assert server.counts() == {"evaluation/setup/list": 1}


def parents(warehouse: Warehouse, server: OpenMLServer, folder: Path, told: list[str]) -> Parents:
    return Parents(
        warehouse, Answers(connect(server), folder), lambda what, _: told.append(what), refresh=False
    )


def test_a_task_and_a_flow_missing_from_the_server_are_known_from_their_runs(
    warehouse: Warehouse, world: World, tmp_path: Path
) -> None:
    row = {
        "task_id": "999",
        "flow_id": "998",
        "flow_name": "x.y.Z(1)",
        "data_id": "101",
        "data_name": "flags",
    }
    told: list[str] = []
    with OpenMLServer(world) as server:
        tables = parents(warehouse, server, tmp_path, told).tables_for([row])
    (task,) = tables["tasks"].to_pylist()
    assert (task["task"], task["dataset"], task["estimation_procedure"]) == ("openml:999", "openml:101", None)
    (flow,) = tables["flows"].to_pylist()
    assert (flow["name"], flow["algorithm"], flow["structure"]) == ("x.y.Z(1)", "x.y.Z", None)
    assert tables["datasets"]["status"].to_pylist() == ["active"]
    assert told == ["flow 998", "task 999"]


def test_tasks_are_asked_for_five_hundred_at_a_time_and_once(
    warehouse: Warehouse, world: World, tmp_path: Path
) -> None:
    for number in range(1000, 2200):
        world.add_task(replace(world.tasks[1], id=number))
    rows = [{"task_id": str(number), "flow_id": str(names.ZERO_R)} for number in range(1000, 2200)]
    with OpenMLServer(world) as server:
        known = parents(warehouse, server, tmp_path, [])
        tables = known.tables_for(rows)
        assert server.counts() == {
            "task/list": 3, "flow": 1, "estimationprocedure/list": 1, "data/list": 1, "data/qualities": 1,
        }  # fmt: skip
        assert known.tables_for(rows) == {}
        assert sum(server.counts().values()) == 7
    assert tables["tasks"]["task"].to_pylist() == [f"openml:{number}" for number in range(1000, 2200)]
    assert set(tables["tasks"]["estimation_procedure"].to_pylist()) == {"cv10"}
