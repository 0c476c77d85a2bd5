"""Encoded hyperparameters on comparable scales."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from metalearners.encoding.matrices import (
    centre_and_spread,
    encode_configurations,
    encode_runs,
    learn_encoding_of,
    standardized,
)
from metalearners.encoding.training_data import LargerRuns, TrainingData
from tests.metalearners.thesis import ABSENT
from tests.tables import flow_table

HYPERPARAMETERS = pd.DataFrame(
    {"max_features": ["sqrt", 0.25], "criterion": ["gini", "entropy"]}, dtype=object, index=["a", "b"]
)
SIZES = pd.DataFrame({"NumberOfInstances": [50.0, 50.0], "NumberOfFeatures": [5.0, 101.0]}, index=["s", "l"])
"""A small and a large dataset, with 4 and 100 features besides the target."""


def data() -> TrainingData:
    """Configuration a on both datasets, b on the large one."""
    return TrainingData(
        scores=np.zeros(3),
        values=np.zeros(3),
        configuration=np.array([0, 0, 1]),
        dataset=np.array([0, 1, 1]),
        hyperparameters=HYPERPARAMETERS,
        metafeatures=SIZES,
        families=np.array([0, 1]),
        train_rows=np.full(3, np.nan),
        larger=LargerRuns(np.empty(0, np.intp), np.empty(0), np.empty(0)),
        related=np.empty((3, 0)),
    )


def test_a_word_becomes_its_number_on_the_dataset_of_the_run() -> None:
    """The square root of the number of features is 2 for 4, and 10 for 100."""
    encoding = learn_encoding_of(data())
    column = encoding.columns.index("max_features_num")
    assert encode_runs(encoding, data())[:, column].tolist() == [0.5, 0.1, 0.25]


def test_runs_are_encoded_as_their_configurations_on_that_dataset() -> None:
    encoding = learn_encoding_of(data())
    of_runs = encode_runs(encoding, data())
    for row, (configuration, dataset) in enumerate([("a", "s"), ("a", "l"), ("b", "l")]):
        table = flow_table(HYPERPARAMETERS.loc[[configuration]])
        np.testing.assert_array_equal(
            encode_configurations(encoding, table, SIZES.T[dataset]), of_runs[[row]]
        )


def test_centre_and_spread_by_hand() -> None:
    """Values 1, 3 and a missing one have mean 2 and deviation 1. A constant column keeps its scale."""
    encoded = np.array([[1.0, 7.0], [3.0, 7.0], [ABSENT, 7.0]])
    centre, spread = centre_and_spread(encoded)
    assert (centre.tolist(), spread.tolist()) == ([2, 7], [1, 1])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.integers(-50, 50), min_size=3, max_size=3), min_size=1, max_size=8))
def test_standardized_columns_have_mean_0_and_deviation_1_or_do_not_vary(rows: list[list[int]]) -> None:
    encoded = np.array(rows, dtype=np.float64)
    x = standardized(encoded, *centre_and_spread(encoded))
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(x.std(axis=0), np.ptp(encoded, axis=0) > 0, atol=1e-9)
