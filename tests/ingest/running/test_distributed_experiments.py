"""Experiments on Dask workers give the same runs as local ones, even if a worker dies."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from distributed import Client

from ingest.reading.dataset_files import find_datasets
from ingest.running.experiments import run_experiments
from ingest.running.plan import Plan, design_plan
from tests.dask_workers import KillABusyWorker
from warehouse.store import Warehouse

RUNS = """
    SELECT e.run, e.measure, e.value, r.outcome
    FROM evaluations e JOIN runs r USING (run)
    WHERE e.measure IN ('predictive_accuracy', 'area_under_roc_curve', 'average_cost', 'log_loss')
    ORDER BY ALL
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Eight runs."""
    for rows in (60, 90):
        rng = np.random.default_rng(rows)
        kind = np.arange(rows) % 2
        frame = pd.DataFrame({"x": kind + rng.normal(0, 0.5, rows), "z": rng.normal(size=rows), "kind": kind})
        frame.to_csv(tmp_path / f"rows-{rows}.csv", index=False)
    return design_plan(find_datasets(tmp_path), ("decision_tree", "naive_bayes"), 1)


def test_workers_make_the_same_runs_as_this_machine_even_if_one_is_killed(
    dask_client: Client, plan: Plan, tmp_path: Path
) -> None:
    kill_a_worker = KillABusyWorker(dask_client, after=3)
    here, there = (Warehouse.create(tmp_path / place) for place in ("here", "there"))
    executor = dask_client.get_executor()
    counts = run_experiments(there, plan, jobs=2, executor=executor, report=kill_a_worker)
    assert kill_a_worker.killed
    assert counts["success"] == 8
    assert run_experiments(here, plan) == counts
    pd.testing.assert_frame_equal(there.sql(RUNS), here.sql(RUNS))
