"""Which columns matter to a configuration."""

import time

import numpy as np
import pandas as pd
import pytest

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset, load_dataset
from recommend.explaining.column_importance import column_importance, seconds_kept
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import ACCURACY, RMSE


def telling(*, numeric: bool = False, rows: int = 300) -> Dataset:
    """A target determined by `tells`, a column of noise, and an identifier."""
    random = np.random.default_rng(0)
    tells, noise = random.normal(size=(2, rows))
    target = 3 * tells if numeric else np.where(tells > 0, "yes", "no")
    names = [f"row {number}" for number in range(rows)]
    return load_dataset(pd.DataFrame({"name": names, "noise": noise, "tells": tells, "target": target}))


def default(flow: str) -> Configuration:
    return Configuration(flow, get_flow(flow).default())


@pytest.mark.parametrize(
    ("numeric", "flow", "measure"),
    [(False, "decision_tree", ACCURACY), (True, "decision_tree_regressor", RMSE)],
)
def test_the_decisive_column_matters_most_and_only_features_are_reported(
    numeric: bool, flow: str, measure: str
) -> None:
    found = column_importance(default(flow), telling(numeric=numeric), measure, 30.0, seed=0, memory=1024)
    assert not found.failure
    assert (found.fitted_rows, found.tested_rows) == (200, 100)
    assert [name for name, _ in found.losses] == ["tells", "noise"]
    assert found.losses[0][1] > 0.3
    assert found.losses[1][1] < 0.05


def test_slow_fits_use_fewer_rows() -> None:
    """The fit gets 200 of 500 seconds, at a second per row."""
    tree, data = default("decision_tree"), telling(rows=900)
    found = column_importance(tree, data, ACCURACY, 500.0, seed=0, memory=1024, pace=1.0)
    assert (found.fitted_rows, found.tested_rows) == (200, 300)


def test_the_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = default("decision_tree")
    assert "no time" in column_importance(tree, telling(), ACCURACY, 0.0, seed=0, memory=1024).failure
    monkeypatch.setattr("recommend.explaining.column_importance._losses", _sleep)
    begun = time.monotonic()
    found = column_importance(tree, telling(), ACCURACY, 0.5, seed=0, memory=1024)
    assert "longer than the 0.5 s" in found.failure
    assert time.monotonic() - begun < 300.0, "on a busy machine, too"


def _sleep(*_: object) -> None:
    time.sleep(3600)


def test_a_failure_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recommend.explaining.column_importance._losses", _fail)
    found = column_importance(default("decision_tree"), telling(), ACCURACY, 30.0, seed=0, memory=1024)
    assert found.failure == "ValueError: no such tree"


def _fail(*_: object) -> None:
    raise ValueError("no such tree")


def test_a_tenth_of_a_search_is_reserved_up_to_some_seconds() -> None:
    assert [seconds_kept(seconds) for seconds in (10.0, 30.0, 3600.0)] == [1.0, 3.0, 5.0]
