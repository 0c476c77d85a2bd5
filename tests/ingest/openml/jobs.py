"""Jobs against a test server, and their results in the warehouse."""

import json
from typing import Any

import numpy as np

from ingest.openml.api.connection import Connection
from ingest.openml.job import JobSummary, ingest_openml
from ingest.openml.selection import Selection
from tests.openml_server import OpenMLServer, World
from tests.openml_server import generated as names
from warehouse.store import Warehouse

ACCURACY = "predictive_accuracy"
JUST_ACCURACY = Selection(measures=(ACCURACY,))


def connect(server: OpenMLServer) -> Connection:
    return Connection(server.url, rate=1e6, sleep=lambda _: None)


def ingest(
    warehouse: Warehouse, server: OpenMLServer, selection: Selection = JUST_ACCURACY, **options: Any
) -> JobSummary:
    server.forget_requests()
    return ingest_openml(warehouse, selection, connect(server), **options)


def evaluations(warehouse: Warehouse, measure: str = ACCURACY) -> dict[int, float | None]:
    """Value by run."""
    rows = warehouse.arrow(
        "SELECT r.position AS run, e.value FROM evaluations e JOIN runs r USING (run) WHERE measure = ?",
        [measure],
    )
    assert len(set(rows["run"].to_pylist())) == rows.num_rows
    return dict(zip(rows["run"].to_pylist(), rows["value"].to_pylist(), strict=True))


def expected(world: World, measure: str = ACCURACY) -> dict[int, float | None]:
    """The evaluations of the world, as the warehouse should have them."""
    texts = {run: text for run, text in world.measure_values(measure).items() if run != names.NO_SETUP_RUN}
    if measure == ACCURACY and names.TWO_ENGINES_RUN in texts:
        texts[names.TWO_ENGINES_RUN] = "0.75"  # the first engine's; the second says 0.8
    values = {run: float(text) if text else None for run, text in texts.items()}
    return {run: None if value is None or np.isnan(value) else value for run, value in values.items()}


def values_of(warehouse: Warehouse, run: int) -> dict[str, Any]:
    """Typed hyperparameters of a run's setup."""
    rows = warehouse.sql(
        "SELECT h.parameter, h.value FROM hyperparameters h JOIN runs r USING (setup) WHERE r.run = ?",
        [f"openml:{run}"],
    )
    return {name: json.loads(value) for name, value in zip(rows["parameter"], rows["value"], strict=True)}
