"""Data for learners: run tables, performance matrices and meta-features."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.warehouse.worlds import BOOSTING, FOREST, Templates, qualities, runs
from warehouse.questions.queries import SEARCHES
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, TooFewRuns

ACCURACY = "predictive_accuracy"


@pytest.fixture
def two_flows(templates: Templates, tmp_path: Path) -> Warehouse:
    """A forest as two flows of one algorithm, and boosting with a hyperparameter of the same name."""
    commits = (
        runs(flow, algorithm, values=values, accuracies={"openml:1": accuracy})
        for flow, algorithm, values, accuracy in (
            (FOREST, "random_forest", {"criterion": "gini", "max_depth": None}, 0.9),
            ("headstart:random_forest", "random_forest", {"criterion": "entropy", "bootstrap": True}, 0.8),
            (BOOSTING, "adaboost", {"algorithm": "SAMME", "max_depth": 3}, 0.7),
        )
    )
    return templates.copy(tmp_path / "warehouse", *commits)


def configuration(warehouse: Warehouse, flow: str | None) -> list[Mapping[str, Any]]:
    return warehouse.run_table(flow, ACCURACY).configurations.parameters.to_dict("records")


def same(left: object, right: object) -> bool:
    """Whether values are equal and of the same type; NaN (absent) equals itself."""
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return type(left) is type(right) and left == right


def test_untunable_parameters_are_not_part_of_a_configuration(warehouse: Warehouse) -> None:
    tables = runs(values={"criterion": "gini", "random_state": 7})
    tables["hyperparameters"]["tunable"] = [None, False]
    warehouse.write(tables, source="test")
    assert configuration(warehouse, FOREST) == [{"criterion": "gini"}]


def test_lists_among_the_values_stay_one_value(warehouse: Warehouse) -> None:
    warehouse.write(runs(values={"hidden_layer_sizes": [100, 50]}), source="test")
    assert configuration(warehouse, FOREST) == [{"hidden_layer_sizes": "[100, 50]"}]


def test_runs_whose_value_is_undefined_are_not_learned_from(warehouse: Warehouse) -> None:
    warehouse.write(runs(accuracies={"openml:1": 0.9, "openml:2": math.nan}), source="test")
    assert warehouse.run_table(FOREST, ACCURACY).runs["dataset"].tolist() == ["openml:1"]


def test_run_table_has_a_row_per_run_and_a_configuration_per_setup(warehouse: Warehouse) -> None:
    for name, accuracies in (("b", {"openml:2": 0.8, "openml:1": 0.9}), ("a", {"openml:1": 0.7})):
        warehouse.write(runs(name=name, accuracies=accuracies, values={"n": 1}), source="test")
    table = warehouse.run_table(FOREST, ACCURACY)
    assert (table.flow, table.measure) == (FOREST, ACCURACY)
    expected = ["run", "dataset", "family", "task", "flow", "algorithm", "setup", "train_rows", "value"]
    assert table.runs.columns.tolist() == expected
    assert table.runs["value"].tolist() == [0.8, 0.9, 0.7]  # in the order of the sources
    assert table.runs["dataset"].tolist() == ["openml:2", "openml:1", "openml:1"]
    assert table.configurations.setups.tolist() == [f"{FOREST}/b", f"{FOREST}/a"]
    assert table.configurations.parameters.columns.tolist() == ["n"]


@pytest.mark.parametrize("flow", ["6969", "openml:6969"])
def test_flow_is_found_by_id_and_by_key(two_flows: Warehouse, flow: str) -> None:
    table = two_flows.run_table(flow, ACCURACY)
    assert table.flow == FOREST
    assert table.runs["value"].tolist() == [0.9]


def test_an_algorithm_includes_all_its_flows(two_flows: Warehouse) -> None:
    table = two_flows.run_table("random_forest", ACCURACY)
    assert table.runs["flow"].tolist() == [FOREST, "headstart:random_forest"]
    first, second = table.configurations.parameters.to_dict("records")
    assert first["max_depth"] is None
    assert same(second["max_depth"], math.nan)
    assert same(first["bootstrap"], math.nan)
    assert second["bootstrap"] is True


def test_parameters_of_all_flows_are_qualified_by_their_algorithm(two_flows: Warehouse) -> None:
    table = two_flows.run_table(None, ACCURACY)
    assert table.configurations.parameters.columns.tolist() == [
        "adaboost:algorithm",
        "adaboost:max_depth",
        "random_forest:bootstrap",
        "random_forest:criterion",
        "random_forest:max_depth",
    ]
    assert table.configurations.parameters.loc[f"{BOOSTING}/a", "adaboost:max_depth"] == 3
    assert same(table.configurations.parameters.loc[f"{BOOSTING}/a", "random_forest:max_depth"], math.nan)


def test_declared_scales_have_the_names_of_the_columns(two_flows: Warehouse) -> None:
    """The last declaration for a column shared by flows counts; unused hyperparameters are left out."""
    for flow, parameter, scale in (
        (FOREST, "max_depth", "log"),
        ("headstart:random_forest", "max_depth", "linear"),
        (FOREST, "max_features", "linear"),
        (BOOSTING, "max_depth", "log"),
    ):
        row = {"flow": flow, "parameter": parameter, "scale": scale}
        two_flows.write({"scales": pd.DataFrame([row])}, source="test")
    joint = two_flows.run_table(None, ACCURACY)
    assert joint.scales == {"random_forest:max_depth": "linear", "adaboost:max_depth": "log"}
    assert two_flows.run_table(FOREST, ACCURACY).scales == {"max_depth": "log"}
    assert two_flows.run_table(BOOSTING, ACCURACY).scales == {"max_depth": "log"}


def test_openmls_versions_of_a_dataset_are_one_family(warehouse: Warehouse) -> None:
    tables = runs(accuracies={"openml:1": 0.9, "openml:2": 0.8, "openml:3": 0.7, "local:a": 0.6})
    tables["datasets"] = pd.DataFrame(
        {
            "dataset": ["openml:1", "openml:2", "openml:3", "local:a"],
            "name": ["adult", "Adult", "adult", "adult"],
            "data_version": [1, 2, 3, None],
            "family": [None, None, "census", None],
        }
    )
    warehouse.write(tables, source="test")
    found = warehouse.run_table(None, ACCURACY).runs.set_index("dataset")["family"].to_dict()
    expected = {"openml:1": "adult", "openml:2": "adult", "openml:3": "census", "local:a": "local:a"}
    assert found == expected


def test_unsuccessful_runs_are_left_out(warehouse: Warehouse) -> None:
    tables = runs(accuracies={"openml:1": 0.9, "openml:2": 0.8})
    tables["runs"].loc[0, "outcome"] = "timeout"
    warehouse.write(tables, source="test")
    assert warehouse.run_table(None, ACCURACY).runs["dataset"].tolist() == ["openml:2"]


def test_unknown_flow_is_refused_and_the_known_ones_are_named(two_flows: Warehouse) -> None:
    with pytest.raises(BadInput, match=r"unknown flow 'svm'.*adaboost.*openml:6969.*random_forest"):
        two_flows.run_table("svm", ACCURACY)


def test_unknown_measure_is_refused_and_the_known_ones_are_named(two_flows: Warehouse) -> None:
    with pytest.raises(BadInput, match=r"no run has the measure 'kappa'.*predictive_accuracy"):
        two_flows.run_table(FOREST, "kappa")


def test_an_alias_means_the_measure(two_flows: Warehouse) -> None:
    table = two_flows.run_table(FOREST, "Acc")
    assert (table.measure, len(table.runs)) == (ACCURACY, 1)


def test_learners_get_related_measures_with_the_runs(warehouse: Warehouse) -> None:
    tables = runs(accuracies={"openml:1": 0.9, "openml:2": 0.8})
    first, second = tables["evaluations"]["run"]
    more = pd.DataFrame(
        [
            (first, "log_loss", 0.3, FOREST),
            (first, "area_under_roc_curve", 0.95, FOREST),
            (second, "log_loss", 0.4, FOREST),
            (second, "fit_seconds", 2.0, FOREST),
        ],
        columns=tables["evaluations"].columns,
    )
    tables["evaluations"] = pd.concat([tables["evaluations"], more])
    warehouse.write(tables, source="test")
    related = warehouse.run_table(FOREST, ACCURACY).related
    assert related.loc[first].to_dict() == {"area_under_roc_curve": 0.95, "log_loss": 0.3}
    assert related.loc[second, "log_loss"] == 0.4
    assert math.isnan(related.loc[second, "area_under_roc_curve"])
    assert warehouse.run_table(FOREST, "fit_seconds").related.empty
    assert warehouse.run_table(FOREST, ACCURACY, related=False).related.empty


def test_the_fit_time_of_a_stopped_run_assumes_as_many_fits_as_in_others_of_its_task(
    warehouse: Warehouse,
) -> None:
    """A fit took two of ten seconds; if sixty were not enough, a fit took at least twelve."""
    tables = runs(accuracies={"openml:1": 0.9, "openml:2": 0.8, "openml:3": 0.7})
    tables["runs"]["task"] = tables["runs"]["task"].iloc[0]
    *ended, stopped = tables["runs"]["run"]
    failed = tables["runs"]["run"] == stopped
    tables["runs"].loc[failed, ["outcome", "message"]] = ["timeout", "stopped after 60 s of processor time"]
    tables["evaluations"] = pd.DataFrame(
        [
            (run, *value, FOREST)
            for run in ended
            for value in (("fit_seconds", 2), ("usercpu_time_millis", 10e3))
        ],
        columns=tables["evaluations"].columns,
    )
    warehouse.write(tables, source="test")
    times = warehouse.fit_times().runs
    assert dict(zip(times["seconds"], times["stopped"], strict=True)) == {2.0: False, 12.0: True}
    assert len(times) == 3


@pytest.mark.parametrize("source", SEARCHES)
def test_runs_of_a_search_have_no_related_measures(warehouse: Warehouse, source: str) -> None:
    tables = runs(accuracies={"openml:1": 0.9})
    loss = tables["evaluations"].assign(measure="log_loss", value=0.3)
    tables["evaluations"] = pd.concat([tables["evaluations"], loss])
    warehouse.write(tables, source=source)
    assert len(warehouse.run_table(FOREST, ACCURACY).runs) == 1
    assert warehouse.run_table(FOREST, ACCURACY).related.empty


VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(VALUES, min_size=1, max_size=60))
def test_hyperparameters_keep_value_and_type(warehouse: Warehouse, values: list[Any]) -> None:
    named = {f"p{n:02}": value for n, value in enumerate(values)}
    warehouse.write(runs(values=named, name=json.dumps(named)), source="test")
    table = warehouse.run_table(FOREST, ACCURACY)
    stored = table.configurations.parameters.loc[f"{FOREST}/{json.dumps(named)}", list(named)]
    assert all(map(same, stored, values))


def test_values_that_compare_equal_are_not_confused(warehouse: Warehouse) -> None:
    values = {"a": True, "b": 1, "c": 1.0, "d": "1", "e": None, "f": "None", "g": False, "h": 0}
    warehouse.write(runs(values=values), source="test")
    [stored] = configuration(warehouse, FOREST)
    assert all(same(stored[name], value) for name, value in values.items())


def test_computed_qualities_override_published_ones(warehouse: Warehouse) -> None:
    published = qualities({"ClassEntropy": 1.0, "MeanKurtosisOfNumericAtts": 5.0, "A": 2.0}, source="openml")
    computed = qualities({"ClassEntropy": 1.5, "MeanKurtosisOfNumericAtts": None}, source="computed")
    elsewhere = qualities({"ClassEntropy": 3.0}, dataset="local:b", source="openml")
    warehouse.write({"qualities": pd.concat([published, computed, elsewhere])}, source="test")
    table = warehouse.metafeatures()
    assert (table.index.name, table.columns.name) == ("dataset", "quality")
    expected = pd.DataFrame(
        {"A": [np.nan, 2.0], "ClassEntropy": [3.0, 1.5], "MeanKurtosisOfNumericAtts": [np.nan, np.nan]},
        index=["local:b", "openml:1"],
    )
    pd.testing.assert_frame_equal(table, expected, check_names=False)


def test_minus_one_is_missing_only_where_a_quality_cannot_be_negative(warehouse: Warehouse) -> None:
    impossible = [
        "NumberOfClasses",
        "MeanNominalAttDistinctValues",
        "MeanAttributeEntropy",
        "J48.001.ErrRate",
    ]
    possible = ["MinSkewnessOfNumericAtts", "MeanMeansOfNumericAtts", "NaiveBayesKappa", "SomethingOfOurs"]
    rows = qualities(dict.fromkeys([*impossible, *possible], -1.0), source="openml")
    ours = qualities({"NumberOfClasses": -1.0}, dataset="local:b", source="computed")
    warehouse.write({"qualities": pd.concat([rows, ours])}, source="test")
    table = warehouse.metafeatures()
    assert table.loc["openml:1", impossible].isna().all()
    assert table.loc["openml:1", possible].eq(-1).all()
    assert table.loc["local:b", "NumberOfClasses"] == -1
    assert warehouse.sql("SELECT min(value) AS v FROM qualities WHERE source = 'openml'")["v"][0] == -1


def typed_tasks(warehouse: Warehouse, *tasks: tuple[str, str, str | None, float]) -> None:
    """Runs on tasks of dataset `openml:1`, each with key, task type, target and accuracy."""
    for task, task_type, target, accuracy in tasks:
        tables = runs(name=task, accuracies={"openml:1": accuracy})
        tables["tasks"] = tables["tasks"].assign(task=task, task_type=task_type, target=target)
        tables["runs"]["task"] = task
        warehouse.write(tables, source="test")


CLASSES = "supervised_classification"
OTHER_TARGETS = (
    ("openml:10", CLASSES, "other", 0.1),
    ("openml:9", CLASSES, "class", 0.9),
    ("openml:11", "learning_curve", "class", 0.4),
    ("openml:12", CLASSES, None, 0.8),
)


def learned(warehouse: Warehouse) -> list[float]:
    values: list[float] = warehouse.run_table(None, ACCURACY).runs["value"].tolist()
    return values


def test_only_the_target_of_a_datasets_first_task_is_learned_from(warehouse: Warehouse) -> None:
    """A task with an unknown target counts as having it; learning curves never do."""
    typed_tasks(warehouse, *OTHER_TARGETS)
    assert learned(warehouse) == [0.9, 0.8]


def test_the_target_named_by_the_dataset_overrides_that_of_its_first_task(warehouse: Warehouse) -> None:
    typed_tasks(warehouse, *OTHER_TARGETS)
    named = pd.DataFrame({"dataset": ["openml:1"], "name": "iris", "target": "other"})
    warehouse.write({"datasets": named}, source="openml data")
    assert learned(warehouse) == [0.1, 0.8]


def estimated(warehouse: Warehouse, **procedures: tuple[str, float]) -> None:
    """Runs on tasks of dataset `openml:1`, each with procedure and accuracy."""
    for task, (procedure, accuracy) in procedures.items():
        tables = runs(name=task, accuracies={"openml:1": accuracy})
        key = f"openml:{task.removeprefix('task_')}"
        facts = {"task": key, "task_type": CLASSES, "target": "class", "estimation_procedure": procedure}
        tables["tasks"] = tables["tasks"].assign(**facts)
        tables["runs"]["task"] = key
        warehouse.write(tables, source="test")


def test_only_the_estimation_procedure_of_a_datasets_first_task_is_learned_from(warehouse: Warehouse) -> None:
    """Own tasks count whatever their procedure, and results on training rows never do."""
    estimated(
        warehouse,
        task_2=("Test on Training Data", 1.0),
        task_11=("33% Holdout set", 0.7),
        task_3=("cv10", 0.9),
        task_20=("cv10", 0.8),
        **{"1/cv3-2000": ("cv3-2000", 0.6)},
    )
    assert learned(warehouse) == [0.9, 0.8, 0.6]


def test_runs_that_are_all_on_training_rows_are_refused(warehouse: Warehouse) -> None:
    estimated(warehouse, task_2=("Test on Training Data", 1.0))
    with pytest.raises(TooFewRuns, match="on tasks of test on training data: nothing can be learned"):
        warehouse.run_table(None, ACCURACY)


def test_a_setup_lost_by_openml_is_not_learned_from(warehouse: Warehouse) -> None:
    warehouse.write(runs(accuracies={"openml:1": 0.7}), source="test")
    lost = runs(name="lost", accuracies={"openml:1": 0.95})
    lost["setups"]["setup"] = lost["runs"]["setup"] = "openml:998"
    del lost["hyperparameters"]
    warehouse.write(lost, source="openml")
    assert learned(warehouse) == [0.7]
    assert len(warehouse.sql("SELECT run FROM runs")) == 2


def test_infinite_values_of_old_warehouses_are_not_learned_from(warehouse: Warehouse) -> None:
    warehouse.write(runs(accuracies={"openml:1": math.inf, "openml:2": 0.8}), source="test")
    warehouse.write({"qualities": qualities({"Dimensionality": math.inf}, source="openml")}, source="test")
    assert learned(warehouse) == [0.8]
    assert warehouse.metafeatures()["Dimensionality"].isna().all()


def test_a_flow_with_runs_only_on_another_task_type_is_refused_with_that_type(warehouse: Warehouse) -> None:
    typed_tasks(warehouse, ("openml:5", "supervised_regression", "y", 0.5))
    with pytest.raises(BadInput, match=r"on tasks of regression: nothing can be learned .* classification"):
        warehouse.run_table(None, ACCURACY)
