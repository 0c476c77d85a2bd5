"""What a recommendation rests on: distances between datasets, and scores on the nearest."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recommend.evidence import NEAREST, Outside, nearest_datasets, outside_of_known, scores_on

NAN = float("nan")


def known(**instances: float) -> pd.DataFrame:
    """Datasets that differ in their number of rows alone."""
    return pd.DataFrame({"NumberOfInstances": instances, "NumberOfFeatures": 9.0})


def rows(number: float, features: float = 9.0) -> pd.Series:
    return pd.Series({"NumberOfInstances": number, "NumberOfFeatures": features})


def test_distances_by_hand() -> None:
    """Logarithms of the numbers of rows, plus one, are 0 and 2: their deviation is 1; the new one's is 3."""
    datasets = known(small=0, large=np.exp(2) - 1)
    nearest = nearest_datasets(datasets, rows(np.exp(3) - 1))
    assert nearest.index.tolist() == ["large", "small"]
    assert nearest.tolist() == pytest.approx([1, 3])


def test_what_is_missing_on_either_side_does_not_count() -> None:
    """Of a dataset whose number of features is unknown, the rows alone are compared."""
    datasets = pd.DataFrame(
        {"NumberOfInstances": [0.0, np.exp(2) - 1, 0.0], "NumberOfFeatures": [0.0, np.exp(2) - 1, NAN]},
        index=["both", "other", "rows only"],
    )
    new = rows(0.0, features=np.exp(2) - 1)
    spread = np.std([0, 2, 0])
    nearest = nearest_datasets(datasets, new)
    assert nearest["rows only"] == 0
    assert nearest["both"] == pytest.approx(np.sqrt((0 + (2 / 1) ** 2) / 2))
    assert nearest["other"] == pytest.approx(np.sqrt(((2 / spread) ** 2 + 0) / 2))
    np.testing.assert_allclose(
        nearest_datasets(datasets, rows(0.0, features=NAN))[["both", "rows only"]], [0, 0]
    )


def test_no_more_than_the_nearest_are_named_the_nearest_first() -> None:
    datasets = known(a=10, b=20, c=40, d=80, e=160)
    assert nearest_datasets(datasets, rows(35)).index.tolist() == ["c", "b", "d"]
    assert NEAREST == 3


@pytest.mark.parametrize(
    "metafeatures",
    [pd.Series(dtype=float), pd.Series({"NumberOfInstances": NAN}), pd.Series({"unheard": 3.0})],
)
def test_of_a_dataset_without_a_description_none_is_near(metafeatures: pd.Series) -> None:
    assert nearest_datasets(known(a=10, b=20), metafeatures).empty


def test_datasets_that_do_not_differ_from_one_another_cannot_be_compared() -> None:
    assert nearest_datasets(known(a=10, b=10), rows(99)).empty
    assert nearest_datasets(known(a=10), rows(99)).empty


@settings(max_examples=25, deadline=None, derandomize=True)
@given(sizes=st.lists(st.integers(1, 10**6), min_size=2, max_size=8, unique=True), data=st.data())
def test_a_dataset_is_nearest_to_itself(sizes: list[int], data: st.DataObject) -> None:
    datasets = known(**{f"d{size}": float(size) for size in sizes})
    size = data.draw(st.sampled_from(sizes))
    nearest = nearest_datasets(datasets, rows(float(size)))
    assert (nearest.index[0], nearest.iloc[0]) == (f"d{size}", 0)


def test_scores_on_the_nearest_datasets_are_means_over_a_setups_runs_there() -> None:
    runs = pd.DataFrame({"dataset": ["near", "near", "far", "also"], "setup": ["s", "t", "t", "s"]})
    found = scores_on(runs, np.array([1.0, 0.5, 9.0, 2.0]), pd.Index(["near", "also"]))
    assert found.to_dict() == {"s": 1.5, "t": 0.5}
    assert scores_on(runs, np.zeros(4), pd.Index([])).empty


def test_sizes_beyond_all_that_is_known_are_named_with_the_known_range() -> None:
    datasets = known(small=100, large=900)
    assert outside_of_known(datasets, rows(901)) == [Outside("NumberOfInstances", 901.0, 100.0, 900.0)]
    assert outside_of_known(datasets, rows(99, features=10.0)) == [
        Outside("NumberOfInstances", 99.0, 100.0, 900.0),
        Outside("NumberOfFeatures", 10.0, 9.0, 9.0),
    ]


@pytest.mark.parametrize("size", [100, 500, 900, NAN])
def test_sizes_within_and_sizes_that_are_unknown_are_not_outside(size: float) -> None:
    assert outside_of_known(known(small=100, large=900), rows(size)) == []


def test_nothing_is_outside_of_nothing() -> None:
    assert outside_of_known(pd.DataFrame(), rows(5)) == []
