"""Targets with classes: remarks, and the default measure."""

from pathlib import Path

import pandas as pd
import pytest

from ingest.reading.datasets import Dataset, load_dataset
from recommend.explaining.target_words import target_words
from recommend.ranking.target_kinds import target_kind
from tests.warehouse.worlds import FOREST, runs
from warehouse.store import Warehouse
from warehouse.support.errors import UnusableDataset
from warehouse.vocabulary.measures import ACCURACY, AUC


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """One run with accuracy and area under the ROC curve."""
    world = Warehouse.create(tmp_path / "warehouse")
    world.write(runs(accuracies={"openml:1": 0.9}), source="test")
    run = world.sql("SELECT run FROM runs")["run"][0]
    area = {"run": run, "measure": AUC, "value": 0.8, "flow": FOREST}
    world.write({"evaluations": pd.DataFrame([area])}, source="test")
    return world


def with_largest(share: float) -> Dataset:
    """Two hundred rows."""
    labels = ["no"] * round(200 * share) + ["yes"] * round(200 * (1 - share))
    return load_dataset(pd.DataFrame({"a": range(200), "class": labels}))


@pytest.mark.parametrize(("share", "measure"), [(0.5, ACCURACY), (0.895, ACCURACY), (0.9, AUC), (0.985, AUC)])
def test_accuracy_is_the_default_unless_one_class_has_nine_rows_in_ten(
    warehouse: Warehouse, share: float, measure: str
) -> None:
    dataset = with_largest(share)
    assert target_kind(dataset).default_measure(warehouse) == measure
    assert (target_words(dataset).measure_remark(measure) is None) == (measure == ACCURACY)


def test_the_user_is_told_why_the_default_is_not_accuracy() -> None:
    text = target_words(with_largest(0.985)).measure_remark(AUC) or ""
    assert text.startswith("Measure: AUC, since 98.5% of the rows are of class 'no'")


@pytest.mark.parametrize("labels", [["no"] * 9 + ["yes"], ["no"] * 8 + ["yes", "maybe"]])
def test_a_single_class_with_several_rows_is_refused(labels: list[str]) -> None:
    dataset = load_dataset(pd.DataFrame({"a": range(10), "class": labels}))
    with pytest.raises(UnusableDataset, match="'class' has fewer than two classes with more than one row"):
        target_kind(dataset).check_measure(ACCURACY)
