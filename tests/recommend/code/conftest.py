"""A table with every kind of column, as files and as datasets, with a target of each task type."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from ingest.reading.datasets import Dataset, load_dataset
from tests.recommend.code.cases import ROLES, mixed_table, numbers_table
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

Tables = Mapping[TaskType, tuple[Path, Dataset]]


@pytest.fixture(scope="package")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    found = {}
    for task_type, make, target in (
        (CLASSIFICATION, mixed_table, "class"),
        (REGRESSION, numbers_table, "cost"),
    ):
        path = tmp_path_factory.mktemp(task_type.words) / "mixed.csv"
        make().to_csv(path, index=False, na_rep="NA")
        found[task_type] = (path, load_dataset(path, roles=ROLES, target=target))
    return found


@pytest.fixture(scope="package")
def csv(tables: Tables) -> Path:
    return tables[CLASSIFICATION][0]


@pytest.fixture(scope="package")
def dataset(tables: Tables) -> Dataset:
    return tables[CLASSIFICATION][1]
