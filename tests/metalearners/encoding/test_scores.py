"""Values of a measure as standard scores within their dataset."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from metalearners.encoding.scores import Z80, standard_scores
from tests.cases import each

VALUES = st.lists(st.integers(-1000, 1000).map(float), min_size=1, max_size=12)


def test_scores_are_standardized_within_each_dataset() -> None:
    values = np.array([1.0, 10.0, 2.0, 20.0, 3.0, 30.0])
    scores = standard_scores(values, np.array([0, 1, 0, 1, 0, 1]))
    np.testing.assert_allclose(scores[::2], [-1.224745, 0, 1.224745], atol=1e-6)
    np.testing.assert_allclose(scores[1::2], scores[::2])
    np.testing.assert_allclose(standard_scores(values[1::2]), scores[1::2])


@each("value", [0.0, 0.1, 1 / 3, 1e300])
def test_a_dataset_whose_runs_are_all_equal_scores_zero(value: float) -> None:
    assert standard_scores(np.array([value] * 7 + [1.0]), np.array([0] * 7 + [1])).tolist() == [0.0] * 8
    assert standard_scores(np.array([value] * 7)).tolist() == [0.0] * 7


@settings(max_examples=60, deadline=None, derandomize=True)
@given(values=VALUES, level=st.integers(-100, 100), spread=st.integers(1, 100))
def test_level_and_spread_of_a_dataset_do_not_matter(values: list[float], level: int, spread: int) -> None:
    scores = standard_scores(np.array(values))
    np.testing.assert_allclose(standard_scores(level + spread * np.array(values)), scores, atol=1e-9)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(one=VALUES, other=VALUES)
def test_datasets_do_not_influence_one_another(one: list[float], other: list[float]) -> None:
    together = standard_scores(np.array(one + other), np.repeat([0, 1], [len(one), len(other)]))
    apart = [standard_scores(np.array(values)) for values in (one, other)]
    np.testing.assert_allclose(together, np.concatenate(apart), atol=1e-9)


def test_eighty_percent_of_a_normal_distribution_lie_within_z80() -> None:
    assert norm.cdf(Z80) - norm.cdf(-Z80) == pytest.approx(0.8)
