"""The known flows are found by each of their names, and agree with OpenML's runs."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from ingest.flows import FLOWS, find_flow, flow_for, flows_of, get_flow, installed_flows
from ingest.parameter_names import plain_parameter_name
from ingest.reading.column_types.roles import Role
from ingest.reading.formats.typed_tables import read_typed_table
from tests.cases import each
from warehouse.support.errors import BadInput
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

ROOT = Path(__file__).resolve().parents[3]
THESIS_RANGES = {
    "random_forest": {
        "max_features": (0.04, 0.90, False),
        "min_samples_leaf": (1, 20, False),
        "min_samples_split": (2, 20, False),
    },
    "adaboost": {
        "learning_rate": (0.01, 2.0, True),
        "n_estimators": (50, 500, False),
        "max_depth": (1, 10, False),
    },
    "svm": {"C": (2**-5, 2**15, True), "gamma": (2**-15, 2**3, True), "tol": (1e-5, 1e-1, True)},
}
"""Flow -> hyperparameter -> lowest and highest value, and whether the scale is logarithmic."""


@each(
    ("openml_id", "name"),
    [
        (6969, "random_forest"),
        (8315, "random_forest"),
        (6970, "adaboost"),
        (8317, "svm"),
        (7707, "svm"),
        (6840, "decision_tree"),
    ],
)
def test_openml_flows_are_found_by_id(openml_id: int, name: str) -> None:
    assert get_flow(str(openml_id)).name == get_flow(f"openml:{openml_id}").name == name


@each("flow", THESIS_RANGES)
def test_ranges_are_those_of_the_thesis(flow: str) -> None:
    space = get_flow(flow).space()
    for parameter, expected in THESIS_RANGES[flow].items():
        own = space[parameter]
        assert (own.lower, own.upper, own.log) == pytest.approx(expected)


def test_unknown_flow_is_refused_with_the_known_ones() -> None:
    assert find_flow("perceptron") is None
    with pytest.raises(BadInput, match=r"perceptron.*random_forest"):
        get_flow("perceptron")


def test_every_flow_is_found_by_its_name_its_key_and_its_openml_ids_alone() -> None:
    for name, flow in FLOWS.items():
        known_as = [name, flow.id, *(str(number) for number in flow.openml)]
        assert [find_flow(text) for text in known_as] == [flow] * len(known_as)
    assert find_flow("1") is None


def test_each_flow_has_one_task_type() -> None:
    assert flows_of(CLASSIFICATION) | flows_of(REGRESSION) == FLOWS
    assert not set(flows_of(CLASSIFICATION)) & set(flows_of(REGRESSION))


@each(
    ("name", "task_type", "found"),
    [
        ("lightgbm", REGRESSION, "lightgbm_regressor"),
        ("lightgbm_regressor", CLASSIFICATION, "lightgbm"),
        ("6969", REGRESSION, "random_forest_regressor"),
        ("ridge", REGRESSION, "ridge"),
        ("svm", CLASSIFICATION, "svm"),
    ],
)
def test_flow_for_a_task_type_is_that_of_the_same_algorithm(
    name: str, task_type: TaskType, found: str
) -> None:
    assert flow_for(name, task_type).name == found


def test_algorithm_without_a_flow_for_the_task_type_is_refused_with_those_that_have_one() -> None:
    with pytest.raises(BadInput, match=r"Logistic regression does not support regression; these do: ridge,"):
        flow_for("logistic_regression", REGRESSION)


def test_missing_package_is_one_line_that_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xgboost", None)
    assert "xgboost" not in installed_flows()
    assert "xgboost_regressor" not in installed_flows(REGRESSION)
    with pytest.raises(BadInput) as caught:
        get_flow("xgboost").pipeline({}, {"x": Role.numeric})
    assert str(caught.value).startswith("XGBoost needs the package xgboost: pip install 'xgboost")


def test_every_package_that_a_flow_needs_is_a_dependency_or_an_extra_of_its_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    always = {re.split(r"[<>=]", requirement)[0] for requirement in project["dependencies"]}
    assert {"catboost", "lightgbm", "scikit-learn"} <= always
    for flow in FLOWS.values():
        if flow.requires is not None:
            (requirement,) = project["optional-dependencies"][flow.requires]
            assert requirement.startswith(flow.requires)


@each(("openml_id", "retired"), [("6969", set()), ("6970", {"SAMME.R"})])
def test_every_value_of_published_runs_is_known_and_builds_unless_it_is_retired(
    shared_data: Path, openml_id: str, retired: set[str]
) -> None:
    flow = get_flow(openml_id)
    table = read_typed_table((shared_data / "openml-runs" / f"flow_{openml_id}.arff").read_bytes())
    columns = {plain_parameter_name(name): table.columns[name] for name in table.metadata["col_parameters"]}
    assert set(columns) == flow.openml_names
    refused = set()
    for name, column in columns.items():
        # Numbers between two allowed ones are allowed, too.
        numbers = [[one for one in column.values if type(one) is kind] for kind in (int, float)]
        ends = [end(same) for same in numbers if same for end in (min, max)]
        for value in (*ends, *(one for one in column.values if type(one) not in (int, float))):
            try:
                flow.current({name: value})
            except BadInput:
                refused.add(value)
    assert refused == retired
