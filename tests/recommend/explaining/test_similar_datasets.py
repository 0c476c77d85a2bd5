"""The evidence of a recommendation: scores on similar datasets, and sizes out of range."""

import numpy as np
import pandas as pd
import pytest

from recommend.explaining.data_checks import Outside, outside_of_known
from recommend.explaining.similar_datasets import scores_on

NAN = float("nan")


def known(**instances: float) -> pd.DataFrame:
    """Datasets that differ only in their number of rows."""
    return pd.DataFrame({"NumberOfInstances": instances, "NumberOfFeatures": 9.0})


def rows(number: float, features: float = 9.0) -> pd.Series:
    return pd.Series({"NumberOfInstances": number, "NumberOfFeatures": features})


def test_scores_on_datasets_are_means_over_a_setups_runs_there() -> None:
    runs = pd.DataFrame({"dataset": ["near", "near", "far", "also"], "setup": ["s", "t", "t", "s"]})
    found = scores_on(runs, np.array([1.0, 0.5, 9.0, 2.0]), pd.Index(["near", "also"]))
    assert found.to_dict() == {"s": 1.5, "t": 0.5}
    assert scores_on(runs, np.zeros(4), pd.Index([])).empty


def test_sizes_out_of_range_are_named_with_the_known_range() -> None:
    datasets = known(small=100, large=900)
    assert outside_of_known(datasets, rows(901)) == [Outside("NumberOfInstances", 901.0, 100.0, 900.0)]
    assert outside_of_known(datasets, rows(99, features=10.0)) == [
        Outside("NumberOfInstances", 99.0, 100.0, 900.0),
        Outside("NumberOfFeatures", 10.0, 9.0, 9.0),
    ]


@pytest.mark.parametrize("size", [100, 500, 900, NAN])
def test_sizes_in_range_and_unknown_sizes_are_not_out_of_range(size: float) -> None:
    assert outside_of_known(known(small=100, large=900), rows(size)) == []
