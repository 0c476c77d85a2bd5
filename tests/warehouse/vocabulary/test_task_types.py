"""Task types, and the runs that learners get of each."""

from pathlib import Path

import pandas as pd
import pytest

from tests.warehouse.worlds import FOREST, runs, written
from warehouse.store import Warehouse
from warehouse.vocabulary.measures import MEASURES
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TASK_TYPES, TaskType


def test_measures_of_accuracy_area_and_log_loss_complement_each_other() -> None:
    assert set(CLASSIFICATION.related_measures("predictive_accuracy")) == {"area_under_roc_curve", "log_loss"}
    assert set(CLASSIFICATION.related_measures("log_loss")) == {"area_under_roc_curve", "predictive_accuracy"}
    assert CLASSIFICATION.related_measures("fit_seconds") == ()


def test_measures_of_every_task_type_are_known_and_include_its_default() -> None:
    for one in TASK_TYPES.values():
        assert {*one.measures, *one.complementary} <= MEASURES.keys()
        assert one.default_measure in one.measures


def on_tasks_of(task_type: TaskType | str, **options: object) -> dict[str, pd.DataFrame]:
    """A run on a task of a type, with the time of a fit."""
    name = task_type if isinstance(task_type, str) else task_type.name
    tables = runs(name=name, **options)
    rename = {"openml:1/cv3": f"openml:1/{name}"}
    tables["tasks"] = tables["tasks"].replace({"task": rename}).assign(task_type=name)
    tables["runs"] = tables["runs"].replace({"task": rename})
    timed = tables["evaluations"].assign(measure="fit_seconds", value=2.0)
    tables["evaluations"] = pd.concat([tables["evaluations"], timed])
    return tables


@pytest.fixture
def mixed(tmp_path: Path) -> Warehouse:
    """The same measure on tasks of three types, on one dataset."""
    types = (CLASSIFICATION, REGRESSION, "learning_curve")
    values = (0.5, 0.25, 0.125)
    return written(
        tmp_path / "warehouse",
        *(on_tasks_of(one, accuracies={"openml:1": value}) for one, value in zip(types, values, strict=True)),
    )


@pytest.mark.parametrize(("task_type", "value"), [(CLASSIFICATION, 0.5), (REGRESSION, 0.25)])
def test_runs_of_other_task_types_are_not_mixed_in(
    mixed: Warehouse, task_type: TaskType, value: float
) -> None:
    for flow in (None, FOREST):
        table = mixed.run_table(flow, "predictive_accuracy", task_type=task_type)
        assert table.runs["value"].tolist() == [value]
    assert mixed.fit_times(task_type=task_type).runs["setup"].tolist() == [f"{FOREST}/{task_type.name}"]
