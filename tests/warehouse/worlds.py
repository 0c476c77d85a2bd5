"""Small warehouses with known content."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from warehouse.store import Warehouse
from warehouse.vocabulary.schema import DATA_TABLES, PROVENANCE, Table

FOREST, BOOSTING = "openml:6969", "openml:6970"
NUMBERS = Table(
    "numbers",
    pa.schema([pa.field("name", pa.string(), nullable=False), pa.field("value", pa.int64(), nullable=False)]),
    key=("name",),
)
"""A table that no warehouse has."""


class Killed(BaseException):
    """Simulates a kill: like a signal, it passes every error handler."""


class Templates:
    """Warehouses that are written once and then copied, since a write takes most of a test's time."""

    def __init__(self, folder: Path) -> None:
        """Store the templates below `folder`."""
        self._folder = folder

    def copy(self, path: Path, *writes: Mapping[str, pd.DataFrame]) -> Warehouse:
        """A separate warehouse at `path` with these commits, copied from the one that `written` makes."""
        content = [{name: rows.to_dict("list") for name, rows in tables.items()} for tables in writes]
        template = self._folder / hashlib.sha256(repr(content).encode()).hexdigest()
        if not template.is_dir():
            written(template, *writes)
        return Warehouse.open(shutil.copytree(template, path))


def written(path: Path, *writes: Mapping[str, pd.DataFrame]) -> Warehouse:
    """A new warehouse at `path`, with one commit for each of `writes`."""
    warehouse = Warehouse.create(path)
    for tables in writes:
        warehouse.write(tables, source="test")
    return warehouse


def together(writes: Iterable[Mapping[str, pd.DataFrame]]) -> dict[str, pd.DataFrame]:
    """Combine the tables of several writes into one write, which saves time."""
    tables: dict[str, list[pd.DataFrame]] = {}
    for write in writes:
        for name, rows in write.items():
            tables.setdefault(name, []).append(rows)
    return {name: pd.concat(parts, ignore_index=True) for name, parts in tables.items()}


def runs(
    flow: str = FOREST,
    algorithm: str | None = "random_forest",
    *,
    values: Mapping[str, Any] | None = None,
    accuracies: Mapping[str, float] | None = None,
    name: str = "a",
) -> dict[str, pd.DataFrame]:
    """One setup of one flow, with a run per dataset of `accuracies`."""
    values = {"max_features": 0.5, "criterion": "gini"} if values is None else values
    accuracies = {"openml:1": 0.9} if accuracies is None else accuracies
    setup = f"{flow}/{name}"
    names = [f"{setup}@{dataset}" for dataset in accuracies]
    return {
        "datasets": pd.DataFrame({"dataset": list(accuracies), "name": "iris"}),
        "tasks": pd.DataFrame(
            {
                "task": [f"{dataset}/cv3" for dataset in accuracies],
                "dataset": list(accuracies),
                "task_type": "supervised_classification",
                "estimation_procedure": "cv3",
            }
        ),
        "flows": pd.DataFrame({"flow": [flow], "name": "a pipeline", "algorithm": [algorithm]}),
        "setups": pd.DataFrame({"setup": [setup], "flow": flow}),
        "hyperparameters": pd.DataFrame(
            {
                "setup": setup,
                "parameter": list(values),
                "value": [json.dumps(value) for value in values.values()],
            }
        ),
        "runs": pd.DataFrame(
            {
                "run": names,
                "task": [f"{dataset}/cv3" for dataset in accuracies],
                "setup": setup,
                "outcome": "success",
                "position": range(len(names)),
            }
        ),
        "evaluations": pd.DataFrame(
            {
                "run": names,
                "measure": "predictive_accuracy",
                "value": list(accuracies.values()),
                "flow": flow,
            }
        ),
    }


def qualities(values: Mapping[str, float | None], *, dataset: str = "openml:1", source: str) -> pd.DataFrame:
    """Meta-features of one dataset."""
    return pd.DataFrame(
        {
            "dataset": dataset,
            "quality": list(values),
            "value": pd.Series(list(values.values()), dtype=float),
            "source": source,
            "extractor": source,
        }
    )


def another_headstart(patch: pytest.MonkeyPatch, tables: Mapping[str, Table]) -> None:
    """Simulate a Headstart with these tables."""
    data = {name: table for name, table in tables.items() if name != "ingests"}
    for module in ("store", "storage.writing", "storage.rows", "storage.snapshot", "storage.history"):
        patch.setattr(f"warehouse.{module}.TABLES", tables, raising=False)
        patch.setattr(f"warehouse.{module}.DATA_TABLES", data, raising=False)


def lose_rows(warehouse: Warehouse, table: str) -> None:
    """Damage the files of a table, and repair the warehouse, which loses their rows."""
    for file in (warehouse.path / table).glob("*.parquet"):
        file.write_bytes(file.read_bytes()[:-1] + b"x")
    Warehouse.repair(warehouse.path)


def values(warehouse: Warehouse) -> list[float]:
    """Values of all evaluations, in the order of runs."""
    return warehouse.sql("SELECT value FROM evaluations ORDER BY run, measure")["value"].tolist()


def content(warehouse: Warehouse) -> dict[str, list[dict[str, Any]]]:
    """All rows, without the ingests that wrote them."""
    return {
        name: warehouse.arrow(f"SELECT * EXCLUDE ({PROVENANCE}) FROM {name} ORDER BY ALL").to_pylist()
        for name in DATA_TABLES
    }
