"""Warehouses for tests."""

from pathlib import Path

import pytest

from tests.warehouse.worlds import Templates
from warehouse.store import Warehouse


@pytest.fixture
def warehouse(templates: Templates, tmp_path: Path) -> Warehouse:
    """An empty warehouse of its own for every test."""
    return templates.copy(tmp_path / "warehouse")
