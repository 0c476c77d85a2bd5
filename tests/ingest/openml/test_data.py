"""Datasets are downloaded and described one by one."""

from dataclasses import replace

import pandas as pd
import pytest

from ingest.openml.data import ingest_openml_data
from tests.ingest.openml.jobs import connect
from tests.openml_server import OpenMLServer, World
from tests.openml_server import generated as names
from warehouse.store import Warehouse
from warehouse.support.errors import Failed

pytestmark = pytest.mark.usefixtures("_own_folders")


def test_a_dataset_that_can_not_be_read_is_passed_over_with_the_reason(
    warehouse: Warehouse, world: World
) -> None:
    told: list[str] = []
    with OpenMLServer(world) as server:
        done = ingest_openml_data(
            warehouse, [999, 101, names.DEACTIVATED], connect(server), report=told.append
        )
    assert (done.described, done.known, list(done.failed)) == ([101], [], [999, names.DEACTIVATED])
    assert all("\n" not in reason and reason for reason in done.failed.values())
    assert told[:2] == ["dataset 999, 1 of 3", "dataset 101, 2 of 3"]


def test_datasets_of_another_version_are_described_again(warehouse: Warehouse, world: World) -> None:
    old = {"dataset": "openml:101", "quality": "ClassEntropy", "value": 7.0, "source": "computed"}
    warehouse.write({"qualities": pd.DataFrame([old | {"extractor": "of old"}])}, source="test")
    with OpenMLServer(world) as server:
        assert ingest_openml_data(warehouse, [101], connect(server)).described == [101]
        assert ingest_openml_data(warehouse, [101], connect(server)).known == [101]
    found = warehouse.sql("SELECT extractor, value FROM qualities WHERE quality = 'ClassEntropy'")
    assert len(found) == found["extractor"].nunique()
    assert found["value"].between(0, 1).any()


def test_a_dataset_with_a_numeric_target_is_described_as_one(warehouse: Warehouse, world: World) -> None:
    numeric = replace(world.datasets[101], target="width")
    world.add_dataset(numeric)
    with OpenMLServer(world) as server:
        assert ingest_openml_data(warehouse, [101], connect(server)).described == [101]
    found = warehouse.sql("SELECT target, classes FROM datasets WHERE dataset = 'openml:101'")
    assert found.to_dict("records") == [{"target": "width", "classes": 0}]


def test_datasets_that_name_no_target_or_several_are_passed_over_with_the_reason(
    warehouse: Warehouse, world: World
) -> None:
    world.add_dataset(replace(world.datasets[101], target="width,class"))
    world.add_dataset(replace(world.datasets[101], did=150, target=""))
    with OpenMLServer(world) as server:
        done = ingest_openml_data(warehouse, [101, 150], connect(server))
    assert "several targets (" in done.failed[101]
    assert "names no target" in done.failed[150]


def test_a_server_that_is_down_is_asked_once(warehouse: Warehouse, world: World) -> None:
    with OpenMLServer(world) as server:
        connection = connect(server)
    told: list[str] = []
    with pytest.raises(Failed, match="has not answered properly"):
        ingest_openml_data(warehouse, [101, 102, 103], connection, report=told.append)
    assert len(told) == 1
