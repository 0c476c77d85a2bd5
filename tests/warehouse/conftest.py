"""Warehouses for tests."""

from pathlib import Path

import pytest

from warehouse.store import Warehouse


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """An empty warehouse of its own for every test."""
    return Warehouse.create(tmp_path / "warehouse")
