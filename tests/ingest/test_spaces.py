"""Declared search spaces of other flows, and their scales."""

import json
from pathlib import Path

import pytest
from ConfigSpace import Categorical, ConfigurationSpace, Float, Integer

from ingest.spaces import ingest_space, read_space
from tests.cases import each
from tests.warehouse.worlds import Templates, runs
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput

ACCURACY = "predictive_accuracy"
SVM = "openml:8353"


@pytest.fixture
def warehouse(templates: Templates, tmp_path: Path) -> Warehouse:
    """One run of a support vector machine that Headstart does not build."""
    values = {"C": 1.0, "degree": 3, "kernel": "rbf"}
    return templates.copy(tmp_path / "warehouse", runs(SVM, None, values=values))


@pytest.fixture
def space(tmp_path: Path) -> Path:
    """C on a log scale, the degree on a linear one, and a kernel."""
    written = ConfigurationSpace()
    written.add(
        Float("C", (0.001, 1000.0), log=True),
        Integer("degree", (1, 5)),
        Categorical("kernel", ["rbf", "poly"]),
    )
    path = tmp_path / "svm.json"
    written.to_json(path)
    return path


def test_numbers_have_a_scale_and_choices_have_none(space: Path) -> None:
    assert read_space(space, "").scales == {"C": "log", "degree": "linear"}


@pytest.mark.parametrize("flow", ["8353", "openml:8353"])
def test_declared_scales_come_with_the_runs(warehouse: Warehouse, space: Path, flow: str) -> None:
    assert warehouse.run_table(SVM, ACCURACY).scales == {}
    commit = ingest_space(warehouse, space, flow)
    assert commit.added == {"scales": 2, "spaces": 1}
    assert warehouse.run_table(SVM, ACCURACY).scales == {"C": "log", "degree": "linear"}
    assert warehouse.run_table(None, ACCURACY).scales == {f"{SVM}:C": "log", f"{SVM}:degree": "linear"}
    assert sum(ingest_space(warehouse, space, flow).added.values()) == 0


def test_a_space_that_is_read_again_replaces_the_old_one(warehouse: Warehouse, space: Path) -> None:
    ingest_space(warehouse, space, SVM)
    corrected = ConfigurationSpace()
    corrected.add(Float("C", (0.5, 2.0)))
    corrected.to_json(space)
    assert ingest_space(warehouse, space, SVM).changed == {"scales": 1}
    assert warehouse.run_table(SVM, ACCURACY).scales == {"C": "linear", "degree": "linear"}


def test_a_flow_without_runs_is_refused(warehouse: Warehouse, space: Path) -> None:
    with pytest.raises(BadInput, match=r"no setup of a flow '1234': ingest its runs first"):
        ingest_space(warehouse, space, "1234")


def test_a_flow_without_hyperparameters_has_none(warehouse: Warehouse, space: Path) -> None:
    warehouse.write(runs("other:plain", None, values={}), source="test")
    with pytest.raises(BadInput, match=r"has no hyperparameter 'C'; it has none$"):
        ingest_space(warehouse, space, "plain")


def test_a_hyperparameter_that_the_flow_does_not_have_is_refused(warehouse: Warehouse, space: Path) -> None:
    written = ConfigurationSpace()
    written.add(Float("gamma", (0.1, 1.0)))
    written.to_json(space)
    with pytest.raises(BadInput, match=r"8353 has no hyperparameter 'gamma'; it has C, degree, kernel"):
        ingest_space(warehouse, space, SVM)
    assert warehouse.version == 1


def test_parts_that_cannot_be_declared_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    content = {
        "hyperparameters": [
            {"type": "uniform_float", "name": "a", "lower": 0.0, "upper": 1.0, "default": 0.5, "q": 0.1},
            {"type": "normal_float", "name": "b", "mu": 0, "sigma": 1, "lower": -3, "upper": 3},
            {"type": "categorical", "name": "c", "choices": ["x", "y"], "weights": [1, 2]},
            {"type": "categorical", "name": "d", "choices": ["x", "y"], "weights": [1, 1]},
        ],
        "conditions": [],
        "forbiddens": [],
        "format_version": 0.4,
    }
    path = tmp_path / "space.json"
    path.write_text(json.dumps(content))
    assert [own.name for own in read_space(path, "").hyperparameters] == ["a", "b", "c", "d"]
    told = "the step 0.1 of a, the distribution of b, the weights of c"
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: left out, and searched uniformly instead: {told}"
    ]


@each(
    "content",
    [
        "",
        "[]",
        "{",
        "null",
        '{"hyperparameters": 3}',
        '{"hyperparameters": [{"type": "os.system", "name": "x"}]}',
        '{"hyperparameters": [{"type": "uniform_float", "name": "x", "lower": 1, "upper": 0}]}',
        "[" * 100_000,
        "x\0y",
    ],
)
def test_an_invalid_space_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "space.json"
    path.write_text(content)
    with pytest.raises(BadInput) as refusal:
        read_space(path, "")
    assert "\n" not in str(refusal.value)
