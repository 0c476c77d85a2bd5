"""A table with every kind of column, as a file and as a dataset."""

from pathlib import Path

import pytest

from ingest.reading.datasets import Dataset, load_dataset
from tests.recommend.code.cases import ROLES, mixed_table


@pytest.fixture(scope="package")
def csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "mixed.csv"
    mixed_table().to_csv(path, index=False, na_rep="NA")
    return path


@pytest.fixture(scope="package")
def dataset(csv: Path) -> Dataset:
    return load_dataset(csv, roles=ROLES)
