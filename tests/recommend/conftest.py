"""A small warehouse with an obvious answer.

Trees win on large datasets, logistic regression on small ones.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock

from ingest.reading.datasets import load_dataset
from ingest.running.evaluation import Evaluation
from ingest.running.experiments import planned_runs
from ingest.running.limits import Outcome
from ingest.running.plan import design_plan
from ingest.running.rows import description_tables, run_tables
from warehouse.store import Warehouse

PLAN = design_plan([], ["decision_tree", "logistic_regression"], configurations=7)


def numbers(rows: int, seed: int = 0) -> pd.DataFrame:
    """A dataset of two numbers and a class."""
    rng = np.random.default_rng(seed)
    label = rng.permutation(np.arange(rows) % 2)
    return pd.DataFrame(
        {
            "x": label + rng.normal(size=rows).round(3),
            "z": rng.normal(size=rows).round(3),
            "class": np.where(label, "b", "a"),
        }
    )


def believed(rows: int, algorithm: str, position: int) -> float:
    """Accuracy of the `position`-th configuration: the first ones of the right algorithm are best."""
    right = (algorithm == "decision_tree") == (rows > 300)
    return 0.9 - 0.01 * position if right else 0.6 - 0.01 * position


@pytest.fixture(scope="session")
def small_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of the warehouse, made by one process of the tests and copied by each; do not write to it."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    template = folder / "small_world"
    with FileLock(folder / "small_world.lock"):
        if not template.is_dir():
            write_small_world(folder / "unfinished").rename(template)
    return shutil.copytree(template, tmp_path_factory.mktemp("world") / "warehouse")


def write_small_world(path: Path) -> Path:
    """Write the warehouse at `path`."""
    warehouse = Warehouse.create(path)
    for seed, rows in enumerate((50, 60, 80, 100, 600, 700, 800, 1000)):
        dataset = load_dataset(numbers(rows, seed), name=f"world{rows}")
        runs = planned_runs(dataset, PLAN, PLAN.tiers[0], PLAN.pool)
        results = [
            (
                run,
                Evaluation(
                    Outcome.success,
                    0.1,
                    {"predictive_accuracy": believed(rows, run.flow.name, position % 8)},
                ),
            )
            for position, run in enumerate(runs)
        ]
        tables = description_tables(dataset) | run_tables(dataset, results, "cv3")
        warehouse.write(tables, source="experiments")
    return warehouse.path


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """A dataset that is not in the small world."""
    path = tmp_path / "mine.csv"
    numbers(900, seed=99).to_csv(path, index=False)
    return path
