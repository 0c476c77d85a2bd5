"""Runs and datasets as rows that a warehouse stores and returns."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.flows import get_flow
from ingest.metafeatures import EXTRACTOR
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from ingest.running.rows import Run, dataset_row, description_tables, run_tables
from warehouse.store import Warehouse
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Number
from warehouse.vocabulary.qualities import QUALITIES

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """Six rows without numbers."""
    return load_dataset(
        pd.DataFrame({"c": list("uvwuvw"), "d": list("xxxyyx"), "class": list("aabbaa")}), name="six"
    )


@pytest.fixture(scope="module")
def description(dataset: Dataset) -> Tables:
    return description_tables(dataset)


def run_of(flow: str, name: str, **values: Any) -> Run:
    """A run of a flow's default configuration with these values changed."""
    return Run(Configuration(flow, get_flow(flow).default() | values), task="six/cv3", run=name)


def success(**result: float) -> Evaluation:
    return Evaluation(Outcome.success, 0.1, result)


def stored_values(dataset: Dataset, result: Mapping[str, float]) -> dict[str, float]:
    """Measure -> stored value of one run with this result."""
    tables = run_tables(dataset, [(run_of("svm", "one"), success(**result))], "cv3")
    return dict(zip(tables["evaluations"]["measure"], tables["evaluations"]["value"], strict=True))


# ---- runs ----------------------------------------------------------------------------------------


def test_a_configuration_that_is_run_twice_is_one_setup_of_one_flow(dataset: Dataset) -> None:
    """Two of three runs of trees have the same depth; all three have the same task."""
    depths = {"first": 3, "second": 4, "again": 3}
    results = [
        (run_of("decision_tree", name, max_depth=depth), success(accuracy=0.5))
        for name, depth in depths.items()
    ]
    tables = run_tables(dataset, results, "cv3")
    assert {name: len(tables[name]) for name in ("tasks", "flows", "setups", "runs", "evaluations")} == {
        "tasks": 1,
        "flows": 1,
        "setups": 2,
        "runs": 3,
        "evaluations": 3,
    }
    first, second, again = tables["runs"]["setup"]
    assert first == again != second
    assert not tables["hyperparameters"].duplicated(["setup", "parameter"]).any()


@pytest.mark.parametrize("flow", ["random_forest", "k_nearest_neighbors", "sgd"])
def test_hyperparameters_read_as_json_are_the_configuration(dataset: Dataset, flow: str) -> None:
    run = run_of(flow, "one")
    parameters = run_tables(dataset, [(run, success())], "cv3")["hyperparameters"]
    values = dict(zip(parameters["parameter"], parameters["value"].map(json.loads), strict=True))
    assert Configuration(flow, values) == run.configuration
    assert set(parameters["setup"]) == {run.setup}


def test_flows_come_with_the_scales_of_their_numbers(dataset: Dataset) -> None:
    """Each flow appears once, even with several runs, and with its preprocessing hyperparameters; choices
    have no scale."""
    runs = [run_of("adaboost", "one"), run_of("adaboost", "two"), run_of("naive_bayes", "three")]
    scales = run_tables(dataset, [(run, success()) for run in runs], "cv3")["scales"]
    of_boosting = scales[scales["flow"] == "headstart:adaboost"]
    found = dict(zip(of_boosting["parameter"], of_boosting["scale"], strict=True))
    assert {
        name: found[name] for name in ("learning_rate", "n_estimators", "max_depth", "ica_components")
    } == {
        "learning_rate": "log",
        "n_estimators": "linear",
        "max_depth": "linear",
        "ica_components": "log",
    }
    assert found.keys() == {own.name for own in get_flow("adaboost").known if isinstance(own, Number)}
    assert not scales.duplicated(["flow", "parameter"]).any()


def test_a_failed_run_has_its_reason_and_no_value(dataset: Dataset, tmp_path: Path) -> None:
    """The warehouse accepts it although the table of evaluations is empty."""
    failed = Evaluation(Outcome.timeout, 5.0, message="stopped after 5 s")
    warehouse = Warehouse.create(tmp_path / "warehouse")
    tables = dataset_row(dataset) | run_tables(dataset, [(run_of("svm", "one"), failed)], "cv3")
    warehouse.write(tables, source="test")
    assert warehouse.sql("SELECT outcome, message FROM runs").to_numpy().tolist() == [
        ["timeout", "stopped after 5 s"]
    ]
    assert warehouse.sql("SELECT * FROM evaluations").empty


def test_a_measure_without_a_value_is_left_out(dataset: Dataset) -> None:
    assert stored_values(dataset, {"accuracy": 0.75, "auc": float("nan")}) == {"accuracy": 0.75}


def test_values_have_six_significant_digits(dataset: Dataset) -> None:
    values = {"a": 2 / 3, "b": 1234567.8, "c": -0.00012345678, "d": 0.0, "e": 1.0}
    rounded = {"a": 0.666667, "b": 1234570.0, "c": -0.000123457, "d": 0.0, "e": 1.0}
    assert stored_values(dataset, values) == rounded


@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
def test_rounding_changes_at_most_half_a_unit_of_the_sixth_digit_and_only_once(
    dataset: Dataset, values: list[float]
) -> None:
    """That is 5e-6 of a number starting with one, and less of others."""
    once = stored_values(dataset, {f"m{i}": value for i, value in enumerate(values)})
    assert list(once.values()) == pytest.approx(values, rel=5.1e-6, abs=1e-320)
    assert stored_values(dataset, once) == once


def test_the_warehouse_returns_the_measured_values(
    dataset: Dataset, description: Tables, tmp_path: Path
) -> None:
    """A warehouse needs only the rows of a dataset, its meta-features and its runs."""
    tree, forest = run_of("decision_tree", "one"), run_of("random_forest", "two")
    results = [(tree, success(predictive_accuracy=0.5)), (forest, success(predictive_accuracy=0.75))]
    warehouse = Warehouse.create(tmp_path / "warehouse")
    warehouse.write(description | run_tables(dataset, results, "cv3"), source="test")
    runs = warehouse.run_table(None, "predictive_accuracy").runs
    assert {*runs["dataset"]} == {dataset.key}
    assert dict(zip(runs["setup"], runs["value"], strict=True)) == {tree.setup: 0.5, forest.setup: 0.75}
    values = description["qualities"].set_index("quality")["value"].dropna().to_dict()
    assert warehouse.metafeatures().loc[dataset.key].dropna().to_dict() == values


# ---- datasets ------------------------------------------------------------------------------------


def test_the_row_of_a_dataset_counts_the_target_as_a_column(dataset: Dataset) -> None:
    (row,) = dataset_row(dataset, domain="medicine")["datasets"].to_dict("records")
    assert (row["rows"], row["columns"], row["classes"], row["target"]) == (6, 3, 2, "class")
    assert (row["name"], row["domain"], row["family"]) == ("six", "medicine", None)
    assert row["dataset"] == f"local:six-{row['content_hash']}"


def test_an_undefined_quality_has_a_row_without_a_value(dataset: Dataset, description: Tables) -> None:
    """Without numeric attributes, they have no mean."""
    table = description["qualities"].set_index("quality")
    assert list(table.index) == [
        quality.name for quality in QUALITIES if quality.is_defined_for(dataset.task_type)
    ]
    assert table.loc["NumberOfNumericFeatures", "value"] == 0
    assert table["value"].isna()["MeanMeansOfNumericAtts"]
    assert set(table["dataset"]) == {dataset.key}
    assert set(table["extractor"]) == {EXTRACTOR}
