"""Tasks of simulated searches: the runs on a dataset, and a model of them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ingest.flows import FLOWS
from ingest.flows.base import Flow
from recommend.bo.simulation import tasks
from recommend.bo.simulation.tasks import ModelTask, TableTask
from recommend.space import Space
from tests.contracts.meta_learner import toy_metafeatures, toy_runs, two_algorithms
from tests.tables import flow_table
from warehouse.questions.queries import RunTable
from warehouse.support.errors import TooFewRuns
from warehouse.vocabulary.parameters import Choice, Number
from warehouse.vocabulary.table import ALGORITHM


def never_built(*_: object) -> Any:
    """Estimator of flows that are searched on a model of runs, and so never built."""
    raise NotImplementedError


LINE = Flow(
    "line",
    "A number and a switch",
    (Number("u", 0.0, 1.0, default=0.5), Choice("on", (True, False), default=True)),
    never_built,
)


def runs_of_line() -> RunTable:
    """Eighty random configurations with the value u, plus 1 if the switch is on."""
    space = Space([LINE], joint=False)
    table = space.configurations(space.sample(80, np.random.default_rng(0))).table
    parameters = table.parameters.set_axis([f"setup {number}" for number in range(80)])
    value = parameters["u"].astype(float) + parameters["on"].astype(float)
    runs = pd.DataFrame({"run": parameters.index, "setup": parameters.index, "value": value.to_numpy()})
    runs = runs.assign(dataset="toy:0", family="toy:0", task="t", flow=LINE.id, algorithm=LINE.name)
    runs = runs.assign(train_rows=np.nan)
    return RunTable(LINE.id, "predictive_accuracy", runs, flow_table(parameters.astype(object), LINE.name))


@pytest.fixture(scope="module")
def line() -> ModelTask:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FLOWS, LINE.name, LINE)
        patch.setattr(tasks, "RANDOM", 500)
        return ModelTask(runs_of_line(), toy_metafeatures(), "toy:0")


def table() -> TableTask:
    return TableTask(toy_runs(), toy_metafeatures(), "toy:3")


def values_on(dataset: str) -> np.ndarray:
    runs = toy_runs().runs
    values: np.ndarray = runs.loc[runs["dataset"] == dataset, "value"].to_numpy()
    return values


def test_a_row_of_the_table_has_the_value_of_its_run() -> None:
    task, values = table(), values_on("toy:3")
    assert [task.value(task.start(row)) for row in range(20)] == values.tolist()
    assert (task.best, task.worst) == (values.max(), values.min())
    assert task.best_of_known(3) == np.argsort(-values)[:3].tolist()
    pd.testing.assert_series_equal(task.metafeatures, toy_metafeatures().iloc[3])


def test_the_smallest_value_of_a_cost_is_best() -> None:
    task = TableTask(replace(toy_runs(), measure="usercpu_time_millis"), toy_metafeatures(), "toy:3")
    values = values_on("toy:3")
    assert (task.best, task.worst) == (-values.min(), -values.max())
    assert task.best_of_known(1) == [int(values.argmin())]


def test_a_model_follows_the_runs(line: ModelTask) -> None:
    """Predictions for new configurations are also close to u, plus 1 if the switch is on."""
    known = line.known.table.parameters
    expected = known["u"].astype(float) + known["on"].astype(float)
    values = np.array([line.value(line.start(position)) for position in range(100)])
    assert np.abs(values - expected[:100]).mean() < 0.05
    best = known.iloc[line.best_of_known(1)[0]]
    assert best["on"]
    assert best["u"] > 0.9


def test_a_model_of_several_flows_has_their_joint_space() -> None:
    task = ModelTask(two_algorithms(), toy_metafeatures(), "toy:0")
    assert list(task.space.flows) == two_algorithms().configurations.algorithms.unique().tolist()
    assert ALGORITHM in task.space.names
    best = task.known.take(task.best_of_known(1))
    assert task.value(task.start(task.best_of_known(1)[0])) == task.best
    assert len(best.table.algorithms) == 1


def test_a_model_needs_enough_runs_to_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FLOWS, LINE.name, LINE)
    runs = runs_of_line()
    few = replace(runs, runs=runs.runs.iloc[: ModelTask.fewest_runs - 1])
    with pytest.raises(TooFewRuns, match="toy:0 has 5 runs; a model needs 6"):
        ModelTask(few, toy_metafeatures(), "toy:0")
