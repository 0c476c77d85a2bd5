"""Fixtures that several test modules share."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real OpenML runs and datasets, kept outside the repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real runs and datasets (../shared/data) are not beside this checkout")
    return SHARED_DATA
