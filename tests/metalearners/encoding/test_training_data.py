"""Runs as training data."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from metalearners.encoding.training_data import training_data, without_datasets
from tests.cases import each
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from tests.tables import flow_table
from warehouse.questions.queries import RunTable
from warehouse.support.errors import BadInput


def of_one_family(runs: RunTable, datasets: Collection[str]) -> RunTable:
    """The runs as if these datasets were near copies of one another."""
    table = runs.runs
    family = table["family"].mask(table["dataset"].isin(list(datasets)), "copies")
    return replace(runs, runs=table.assign(family=family))


@each("measure", ["speed", "neg_log_loss"])
def test_a_measure_of_unknown_direction_is_refused(measure: str) -> None:
    with pytest.raises(BadInput, match=f"unknown measure '{measure}'"):
        training_data(replace(toy_runs(), measure=measure), toy_metafeatures())


def test_every_run_finds_its_configuration_and_dataset() -> None:
    runs = toy_runs()
    data = training_data(runs, toy_metafeatures())
    assert (data.hyperparameters.index[data.configuration] == runs.runs["setup"]).all()
    assert (data.metafeatures.index[data.dataset] == runs.runs["dataset"]).all()
    assert list(data.hyperparameters.columns) == ["criterion", "depth"]


def test_related_measures_are_aligned_with_the_runs_and_larger_is_better() -> None:
    runs = toy_runs()
    first, second = runs.runs["run"].iloc[[0, 1]]
    losses = pd.DataFrame({"log_loss": [0.7, 0.2, np.inf]}, index=["other run", second, first])
    data = training_data(replace(runs, related=losses), toy_metafeatures())
    assert data.related.shape == (len(runs.runs), 1)
    assert data.related[1, 0] == -0.2
    assert np.isnan(data.related[[0, 2], 0]).all()  # an infinite loss says nothing
    assert training_data(runs, toy_metafeatures()).related.shape == (len(runs.runs), 0)


def repeated_on(runs: RunTable, rows: int, better: float, keep: slice) -> RunTable:
    """The runs, and some of them again on so many rows, with better values."""
    again = runs.runs[keep].assign(train_rows=rows, value=runs.runs["value"] + better)
    return replace(runs, larger=pd.concat([runs.larger, again]))


def test_runs_on_more_rows_refer_to_the_run_that_they_repeat() -> None:
    runs = repeated_on(toy_runs(), 8000, 0.1, slice(3, 6))
    data = training_data(runs, toy_metafeatures())
    assert data.larger.repeated.tolist() == [3, 4, 5]
    assert data.larger.train_rows.tolist() == [8000.0] * 3
    np.testing.assert_allclose(data.larger.values, data.values[3:6] + 0.1)
    assert len(data.scores) == len(toy_runs().runs)


def test_datasets_are_left_out_with_their_runs_on_more_rows() -> None:
    runs = repeated_on(toy_runs(), 8000, 0.1, slice(0, 40))  # on two datasets
    assert set(without_datasets(runs, ["toy:0"]).larger["dataset"]) == {"toy:1"}


def test_the_target_does_not_count_as_a_feature() -> None:
    metafeatures = toy_metafeatures()
    sizes = training_data(toy_runs(), metafeatures).sizes.for_rows(240)
    assert sizes.features[0] == metafeatures["NumberOfFeatures"].iloc[0] - 1
    assert sizes.rows[0] == metafeatures["NumberOfInstances"].iloc[0]


def test_configurations_only_run_on_left_out_datasets_are_left_out() -> None:
    runs = toy_runs()
    own = flow_table(runs.configurations.parameters.iloc[[0]].set_axis(["only on toy:1"]))
    table = runs.runs.assign(setup=runs.runs["setup"].where(runs.runs["dataset"] != "toy:1", "only on toy:1"))
    both = type(runs)(runs.flow, runs.measure, table, runs.configurations.followed_by(own))
    rest = without_datasets(both, {"toy:1"})
    assert "toy:1" not in set(rest.runs["dataset"])
    assert "only on toy:1" not in rest.configurations.setups


def test_near_copies_of_a_left_out_dataset_are_left_out_too() -> None:
    runs = of_one_family(toy_runs(), {"toy:1", "toy:4", "toy:6"})
    everything = set(runs.runs["dataset"])
    assert set(without_datasets(runs, ["toy:4"]).runs["dataset"]) == everything - {"toy:1", "toy:4", "toy:6"}
    assert set(without_datasets(runs, ["toy:4", "toy:0"]).runs["dataset"]) == everything - {
        "toy:0",
        "toy:1",
        "toy:4",
        "toy:6",
    }
