"""The normalized accuracy."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.questions.normalized_accuracy import chance_accuracy, normalized_accuracy
from warehouse.store import Warehouse


def qualities(*class_sizes: list[int]) -> pd.DataFrame:
    """Qualities from the extractor and OpenML for datasets with these classes."""
    rows = []
    for sizes in class_sizes:
        p = np.array(sizes) / sum(sizes)
        rows.append(
            {
                "MajorityClassPercentage": 100 * p.max(),
                "MinorityClassPercentage": 100 * p.min(),
                "NumberOfClasses": len(p),
                "ClassEntropy": -(p * np.log2(p)).sum(),
            }
        )
    return pd.DataFrame(rows, index=[f"d{number}" for number in range(len(rows))])


@given(st.lists(st.integers(1, 500), min_size=2, max_size=4))
def test_chance_is_exact_with_up_to_four_classes(sizes: list[int]) -> None:
    exact = float(((np.array(sizes) / sum(sizes)) ** 2).sum())
    assert chance_accuracy(qualities(sizes)).iloc[0] == pytest.approx(exact, abs=1e-5)


@given(st.lists(st.integers(100, 500), min_size=5, max_size=30))
def test_chance_is_nearly_exact_with_more_of_like_sizes(sizes: list[int]) -> None:
    """With 24 classes of one row and six of 500 it is off by 0.19: qualities are not that informative."""
    p = np.array(sizes) / sum(sizes)
    assert chance_accuracy(qualities(sizes)).iloc[0] == pytest.approx(float((p**2).sum()), abs=0.03)


def test_guessing_is_0_and_perfect_is_1() -> None:
    """Classes of 60 and 40 %: chance is 0.36 + 0.16 = 0.52."""
    runs = pd.DataFrame({"dataset": ["d0"] * 3, "value": [0.52, 1.0, 0.76]})
    assert normalized_accuracy(runs, qualities([60, 40]))["value"].tolist() == pytest.approx([0, 1, 0.5])


def test_runs_on_a_dataset_without_a_class_distribution_are_left_out() -> None:
    runs = pd.DataFrame({"dataset": ["d0", "unknown"], "value": [0.5, 0.5]})
    assert normalized_accuracy(runs, qualities([60, 40]))["dataset"].tolist() == ["d0"]


def test_the_warehouse_has_it_as_a_measure() -> None:
    """On each dataset of the bundled starter it is an affine function of the accuracy."""
    warehouse = Warehouse.open(None)
    accuracy = warehouse.run_table(None, "predictive_accuracy").runs.set_index("run")["value"]
    normalized = warehouse.run_table(None, "normalized_accuracy").runs.set_index("run")
    assert len(normalized) == len(accuracy)
    assert normalized["value"].max() <= 1
    for _, own in list(normalized.groupby("dataset"))[:5]:
        assert np.corrcoef(own["value"], accuracy[own.index])[0, 1] == pytest.approx(1)
