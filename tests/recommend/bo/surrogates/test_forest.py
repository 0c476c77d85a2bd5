"""The random forest of SMAC."""

import numpy as np
import pytest

from recommend.bo.surrogates.forest import FLOOR, TREES, ForestSurrogate
from tests.contracts.surrogate import predicted
from tests.recommend.bo.surrogates.worlds import table


@pytest.mark.parametrize("seed", range(5))
def test_the_forests_variance_is_the_law_of_total_variance(seed: int) -> None:
    """Two trials with the values 0.2 and 0.8, scores -1 and 1, are too few to split.

    A tree's sample of two is one of (-1, -1), (1, 1) and a mixed one. The leaf of the first two has the
    variance 0, for which the floor 0.01 stands, and v + m^2 = 1.01; that of the mixed one has m = 0, v = 1.
    With p trees of (1, 1), q of (-1, -1) and 10 - p - q mixed ones, equations 3.1 and 3.2 are

        mean = (p - q) / 10        variance + mean^2 = (1.01 (p + q) + 10 - p - q) / 10 = 1 + (p + q) / 1000
    """
    prediction = predicted(ForestSurrogate(), table(x=[0, 1, 2]), np.array([0.2, 0.8]), seed)
    assert prediction.std is not None
    mean, variance = (prediction.mean - 0.5) / 0.3, (prediction.std / 0.3) ** 2
    difference, total = mean * TREES, (variance + mean**2 - 1) * 1000
    for count in (difference, total):
        assert count == pytest.approx(np.round(count), abs=1e-6)
    assert (np.abs(difference) <= total + 1e-6).all()
    assert (total <= TREES + 1e-6).all()
    assert (total - difference) / 2 == pytest.approx(np.round((total - difference) / 2), abs=1e-6)  # q


def test_the_forests_variance_is_the_floor_where_trees_agree_on_leaves_without_spread() -> None:
    """Twenty trials in two groups, values 0 and 1, scores -1 and 1: the spread is 0.5."""
    groups = table(x=[0, 1] * 10)
    prediction = predicted(ForestSurrogate(), groups, np.array([0.0, 1.0] * 10))
    assert prediction.mean == pytest.approx(np.array([0.0, 1.0] * 10))
    assert prediction.std == pytest.approx(np.full(20, 0.5 * np.sqrt(FLOOR)))
