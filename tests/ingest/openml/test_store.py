"""Storing batches, with setups that were not in a listing."""

from pathlib import Path

import pytest

from ingest.openml.answers import Answers
from ingest.openml.api.connection import Connection
from ingest.openml.api.documents import Listing, SetupValues
from ingest.openml.selection import Selection
from ingest.openml.status import job_states
from ingest.openml.store import Batch, BatchStore
from ingest.openml.sweep import Page, Position, Sweep
from tests.cases import each
from tests.ingest.openml.jobs import ACCURACY, connect, ingest, values_of
from tests.openml_server import OpenMLServer, World, generated_world
from tests.openml_server import generated as names
from warehouse.store import Warehouse


def test_a_lost_setup_has_no_hyperparameters_but_a_reason(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    assert values_of(warehouse, names.HIDDEN_SETUP_RUN) == {}
    (state,) = job_states(warehouse.path)
    setup = names.HIDDEN_SETUP_RUN + names.SETUP_AFTER_RUN
    assert state.skipped == [(f"setup {setup}", "the server has no hyperparameters of it")]


def test_a_setup_without_values_of_a_lost_flow_may_be_lost(warehouse: Warehouse, world: World) -> None:
    setup = names.HIDDEN_SETUP_RUN + names.SETUP_AFTER_RUN
    del world.flows[world.setups[setup].flow]
    with OpenMLServer(world) as server:
        ingest(warehouse, server)
    found = warehouse.sql("SELECT configuration FROM setups WHERE setup = ?", [f"openml:{setup}"])
    assert found["configuration"].isna().all()


def new_store(warehouse: Warehouse, connection: Connection, folder: Path) -> BatchStore:
    return BatchStore(warehouse, Answers(connection, folder / "answers"), lambda *_: None, refresh=False)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> BatchStore:
    """A store over a warehouse with two measures of three flows."""
    folder = tmp_path_factory.mktemp("filled")
    warehouse = Warehouse.create(folder / "warehouse")
    with OpenMLServer(generated_world()) as server:
        flows = (names.J48, names.ZERO_R, names.OLD_TREE)
        ingest(warehouse, server, Selection(flows=flows, measures=(ACCURACY, "kappa")))
        return new_store(warehouse, connect(server), folder)


@each(
    ("filters", "flows", "tasks", "uploaders"),
    [
        ("", None, None, None),
        (f"flow/{names.J48}", [names.J48], None, None),
        (f"flow/{names.J48},{names.ZERO_R}/task/2", [names.J48, names.ZERO_R], [2], None),
        ("uploader/2", None, None, [2]),
        ("task/77", None, [77], None),
    ],
)
def test_known_runs_are_those_of_the_partition_with_a_value_of_the_measure(
    filled: BatchStore,
    filters: str,
    flows: list[int] | None,
    tasks: list[int] | None,
    uploaders: list[int] | None,
) -> None:
    world = generated_world()
    runs = [world.runs[number] for number in world.measure_values("kappa")]
    expected = {
        run.id
        for run in runs
        if run.flow in (flows or (names.J48, names.ZERO_R, names.OLD_TREE))
        and run.task in (tasks or [run.task])
        and run.uploader in (uploaders or [run.uploader])
    }
    assert filled.known_runs(filters, "kappa") == expected
    assert filled.known_runs(filters, "f_measure") == set()


def batch_of(connection: Connection, folder: Path) -> Batch:
    """Every run of J48 with its accuracy, without its setup."""
    batch = Batch()
    for page in Sweep(Answers(connection, folder / "answers"), f"flow/{names.J48}", ACCURACY, set()).pages():
        batch.add(page)
    return batch


@pytest.mark.parametrize("page_limit", [3, 1000])
def test_missing_setups_are_requested_in_lists_as_long_as_the_server_allows(
    warehouse: Warehouse, world: World, tmp_path: Path, page_limit: int
) -> None:
    with OpenMLServer(world) as server:
        connection = connect(server)
        batch = batch_of(connection, tmp_path)
        setups = {row["setup_id"] for row in batch.rows}
        server.page_limit = page_limit
        new_store(warehouse, connection, tmp_path).put_evaluations(batch)
        asked = server.count("setup/list")
    assert asked == 1 if page_limit == 1000 else len(setups) / 3 <= asked < 2 * len(setups)
    rows = warehouse.sql("SELECT setup, parameter, raw FROM hyperparameters WHERE NOT is_default")
    found = {
        setup: dict(zip(own["parameter"], own["raw"], strict=True)) for setup, own in rows.groupby("setup")
    }
    given = {f"openml:{setup}": world.parameters(int(setup)) for setup in setups}
    assert found == {setup: own for setup, own in given.items() if own}


def test_storing_a_batch_twice_adds_and_requests_nothing(
    warehouse: Warehouse, world: World, tmp_path: Path
) -> None:
    with OpenMLServer(world) as server:
        connection = connect(server)
        new_store(warehouse, connection, tmp_path).put_evaluations(batch_of(connection, tmp_path))
        again = batch_of(connection, tmp_path)
        server.forget_requests()
        store = new_store(warehouse, connection, tmp_path)
        store.put_evaluations(again)
        assert not server.requests
    assert not any([*store.added.values(), *store.changed.values()])


def test_stored_answers_are_deleted_from_the_cache(
    warehouse: Warehouse, world: World, tmp_path: Path
) -> None:
    """Except the estimation procedures, which a job requests once."""
    with OpenMLServer(world) as server:
        connection = connect(server)
        batch = batch_of(connection, tmp_path)
        store = new_store(warehouse, connection, tmp_path)
        store.put_evaluations(batch)
        kept = len(list((tmp_path / "answers").iterdir()))
        store.forget(batch)
    assert kept > 4
    assert len(list((tmp_path / "answers").iterdir())) == 1


def test_a_batch_without_a_run_makes_no_commit(warehouse: Warehouse, world: World, tmp_path: Path) -> None:
    with OpenMLServer(world) as server:
        store = new_store(warehouse, connect(server), tmp_path)
        store.put_evaluations(Batch())
        store.put_failures(Batch())
    assert store.version == warehouse.version == 0


def test_setups_with_many_hyperparameters_fill_a_batch_before_its_rows_do() -> None:
    batch = Batch()
    wide = SetupValues("1", "9", tuple(map(str, range(1000))), "\0" * 999)
    for _ in range(3):
        batch.add(Page(Listing(setups=[wide] * 100), [], Position()))
        assert not batch.is_full
    batch.add(Page(Listing(setups=[wide] * 100), [], Position()))
    assert batch.is_full
