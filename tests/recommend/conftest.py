"""Two small warehouses with an obvious answer: classification and regression.

Trees win on large datasets, linear models on small ones.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock

from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.evaluation import Evaluation
from ingest.running.experiments import planned_runs
from ingest.running.limits import Outcome
from ingest.running.plan import Plan, design_plan
from ingest.running.rows import description_tables, run_tables
from tests.warehouse.worlds import together
from warehouse.store import Warehouse

PLAN = design_plan([], ["decision_tree", "logistic_regression"], configurations=7)
PLAN_OF_NUMBERS = design_plan([], ["decision_tree_regressor", "ridge"], configurations=7)
SIZES = (50, 60, 80, 100, 600, 700, 800, 1000)


def numbers(rows: int, seed: int = 0) -> pd.DataFrame:
    """A dataset with two numbers and a class."""
    rng = np.random.default_rng(seed)
    label = rng.permutation(np.arange(rows) % 2)
    return pd.DataFrame(
        {
            "x": label + rng.normal(size=rows).round(3),
            "z": rng.normal(size=rows).round(3),
            "class": np.where(label, "b", "a"),
        }
    )


def prices(rows: int, seed: int = 0) -> pd.DataFrame:
    """A dataset with two numbers and a numeric target, partly negative."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows).round(3)
    return pd.DataFrame(
        {
            "x": x,
            "z": rng.normal(size=rows).round(3),
            "price": (100 + 80 * x + 20 * rng.normal(size=rows)).round(2),
        }
    )


def believed(rows: int, algorithm: str, position: int) -> float:
    """Accuracy of the `position`-th configuration: the first ones of the right algorithm are best."""
    right = algorithm.startswith("decision_tree") == (rows > 300)
    return 0.9 - 0.01 * position if right else 0.6 - 0.01 * position


def accuracy(dataset: Dataset, algorithm: str, position: int) -> Mapping[str, float]:
    return {"predictive_accuracy": believed(len(dataset.target), algorithm, position)}


def errors(dataset: Dataset, algorithm: str, position: int) -> Mapping[str, float]:
    """Squared and absolute errors, relative to the mean's, that correspond to an accuracy."""
    left = 1 - believed(len(dataset.target), algorithm, position)
    y = dataset.target.to_numpy(float)
    return {
        "root_relative_squared_error": left,
        "relative_absolute_error": left,
        "r2": 1 - left**2,
        "root_mean_squared_error": left * float(y.std()),
        "mean_absolute_error": left * float(np.abs(y - y.mean()).mean()),
    }


@pytest.fixture(autouse=True)
def _asked_once(asked_once: None) -> None:
    """Cache answers, since most tests use the same few datasets and warehouses."""


@pytest.fixture(scope="session")
def small_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the classification warehouse; do not write to it."""
    return copied("small_world", write_small_world, tmp_path_factory)


@pytest.fixture(scope="session")
def world_of_numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the regression warehouse; do not write to it."""
    return copied("world_of_numbers", write_world_of_numbers, tmp_path_factory)


def copied(name: str, write: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the warehouse `name`, written by the first test process."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    template = folder / name
    with FileLock(folder / f"{name}.lock"):
        if not template.is_dir():
            write(folder / f"{name}.unfinished").rename(template)
    return shutil.copytree(template, tmp_path_factory.mktemp("world") / "warehouse")


def copy_of(world: Path, path: Path) -> Warehouse:
    """A writable copy of a world at `path`, with its current models."""
    return Warehouse.open(shutil.copytree(world, path))


def write_world(
    path: Path,
    plan: Plan,
    table: Callable[[int, int], pd.DataFrame],
    values: Callable[[Dataset, str, int], Mapping[str, float]],
) -> Path:
    """Write a warehouse at `path`: the plan's runs on datasets of several sizes, with these values."""
    parts = []
    for seed, rows in enumerate(SIZES):
        dataset = load_dataset(table(rows, seed), name=f"world{rows}")
        runs = planned_runs(dataset, plan, plan.tiers[0], plan.pool)
        results = [
            (run, Evaluation(Outcome.success, 0.1, values(dataset, run.flow.name, position % 8)))
            for position, run in enumerate(runs)
        ]
        parts.append(description_tables(dataset) | run_tables(dataset, results, "cv3"))
    Warehouse.create(path).write(together(parts), source="experiments")
    return path


write_small_world = partial(write_world, plan=PLAN, table=numbers, values=accuracy)
write_world_of_numbers = partial(write_world, plan=PLAN_OF_NUMBERS, table=prices, values=errors)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """A dataset that is not in the small world."""
    path = tmp_path / "mine.csv"
    numbers(900, seed=99).to_csv(path, index=False)
    return path


@pytest.fixture
def price_csv(tmp_path: Path) -> Path:
    """A dataset that is not in the regression warehouse."""
    path = tmp_path / "homes.csv"
    prices(900, seed=99).to_csv(path, index=False)
    return path
