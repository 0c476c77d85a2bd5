"""Data to search on, and a warehouse to learn from."""

from pathlib import Path

import pytest

from ingest.reading.datasets import Dataset
from tests.recommend.bo.tuning.searches import noisy
from warehouse.store import Warehouse


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return noisy(160)


@pytest.fixture(scope="module")
def world(small_world: Path) -> Warehouse:
    return Warehouse.open(small_world)
