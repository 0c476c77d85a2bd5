"""`ingest openml` stores what OpenML's own client reads from the same server, object by object."""

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest

from ingest.openml.api.connection import Connection
from ingest.openml.job import ingest_openml
from ingest.openml.selection import Selection
from tests.cases import each
from tests.openml_server import OpenMLServer, generated_world
from tests.openml_server import generated as names
from warehouse.store import Warehouse

ACCURACY = "predictive_accuracy"


@pytest.fixture(scope="module")
def server() -> Iterator[OpenMLServer]:
    with OpenMLServer(generated_world()) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: OpenMLServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("client")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        patch.setenv("OPENML_CACHE_DIR", str(folder))
        module = importlib.import_module("openml")
        for name, value in {"server": server.url, "apikey": "", "_root_cache_directory": folder}.items():
            patch.setattr(module.config, name, value)
        yield module


@pytest.fixture(scope="module")
def warehouse(server: OpenMLServer, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse.create(tmp_path_factory.mktemp("oracle") / "warehouse")
    ingest_openml(warehouse, Selection(measures=(ACCURACY,)), Connection(server.url, rate=1e6))
    return warehouse


def test_evaluations_and_their_setups(client: ModuleType, warehouse: Warehouse) -> None:
    theirs = client.evaluations.list_evaluations_setups(ACCURACY, size=1000, output_format="dataframe")
    values = warehouse.sql(
        "SELECT r.position AS run, r.setup, e.value FROM evaluations e JOIN runs r USING (run)"
    )
    ours = values.set_index("run")
    raw = warehouse.sql("SELECT setup, raw FROM hyperparameters WHERE NOT is_default").groupby("setup")["raw"]
    texts = {setup: sorted(group) for setup, group in raw}
    assert set(theirs["run_id"]) == set(ours.index)
    for row in theirs.itertuples():
        if row.run_id == names.TWO_ENGINES_RUN:
            continue  # the client keeps the last engine's value
        assert ours.loc[row.run_id, "value"] == pytest.approx(row.value, nan_ok=True)
        assert ours.loc[row.run_id, "setup"] == f"openml:{row.setup_id}"
        if isinstance(row.parameters, dict):
            given = sorted(text for text in row.parameters.values() if text is not None)
            assert texts.get(f"openml:{row.setup_id}", []) == given


@each("number", [names.OLD_TREE, names.SEARCH, names.ZERO_R])
def test_flows_with_their_components(client: ModuleType, warehouse: Warehouse, number: int) -> None:
    flow = client.flows.get_flow(number)
    (row,) = warehouse.sql("SELECT * FROM flows WHERE flow = ?", [f"openml:{number}"]).to_dict("records")
    assert (row["name"], row["external_version"]) == (flow.name, flow.external_version)
    components = warehouse.sql("SELECT component FROM components WHERE flow = ?", [f"openml:{number}"])
    assert set(components["component"]) == {"", *flow.components}
    own = warehouse.sql(
        "SELECT name, default_value FROM parameters WHERE flow = ? AND component = ''", [f"openml:{number}"]
    )
    assert set(own["name"]) == set(flow.parameters)


def test_datasets_with_their_qualities(client: ModuleType, warehouse: Warehouse) -> None:
    dataset = client.datasets.get_dataset(101, download_qualities=True, download_data=False)
    rows = warehouse.sql("SELECT quality, value FROM qualities WHERE dataset = 'openml:101'")
    ours = dict(zip(rows["quality"], rows["value"], strict=True))
    assert ours.keys() == dataset.qualities.keys()
    for name, value in dataset.qualities.items():
        assert ours[name] == pytest.approx(value, nan_ok=True)


def test_tasks(client: ModuleType, warehouse: Warehouse) -> None:
    tasks = client.tasks.list_tasks(task_id=[1, 2, 3], output_format="dataframe", status="all")
    rows = warehouse.sql("SELECT task, dataset FROM tasks")
    ours = dict(zip(rows["task"], rows["dataset"], strict=True))
    assert ours == {f"openml:{row.tid}": f"openml:{row.did}" for row in tasks.itertuples()}
