"""Kernels between points, and inducing points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern

from metalearners.gp.kernels import (
    Shape,
    correlation,
    matern,
    nystroem_factor,
    spread_out,
    squared_distances,
)
from tests.cases import each


def test_the_kernel_equals_scikit_learns_matern() -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(size=(7, 3)), random.normal(size=(5, 3))
    np.testing.assert_allclose(matern(a, b), Matern(nu=2.5)(a, b), atol=1e-12)


def test_the_other_kernel_equals_scikit_learns_rbf() -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(size=(7, 3)), random.normal(size=(5, 3))
    np.testing.assert_allclose(correlation(squared_distances(a, b), "rbf"), RBF()(a, b), atol=1e-12)


def test_squared_distances_by_hand() -> None:
    """From (0, 0) and (3, 4) to (0, 0), (3, 0) and (3, 4): a right triangle with sides 3, 4 and 5."""
    a, b = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    assert squared_distances(a, b).tolist() == [[0, 9, 25], [25, 16, 0]]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**16), level=st.sampled_from([0.0, 1.0, 1e4]))
def test_rounding_makes_no_squared_distance_negative(seed: int, level: float) -> None:
    """Points far from the origin and close together, where the differences of squares cancel."""
    points = level + 1e-6 * np.random.default_rng(seed).normal(size=(6, 3))
    assert (squared_distances(points, points) >= 0).all()


@each("shape", ["rbf", "matern"])
def test_a_kernel_is_one_at_a_point_symmetric_and_positive(shape: Shape) -> None:
    points = np.random.default_rng(2).normal(size=(20, 3))
    k = correlation(squared_distances(points, points), shape)
    assert np.diag(k) == pytest.approx(np.ones(20), abs=1e-6)
    np.testing.assert_allclose(k, k.T, atol=1e-12)
    assert np.linalg.eigvalsh(k).min() > -1e-6


def test_inducing_points_are_one_of_each_group() -> None:
    """Three groups of forty points, at distances a hundred times their width."""
    random = np.random.default_rng(3)
    group = np.repeat([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], 40, axis=0)
    chosen = spread_out(group + random.normal(scale=0.1, size=group.shape), 3, random, matern)
    assert sorted(np.round(chosen, -1).tolist()) == [[0, 0], [0, 10], [10, 0]]


def test_features_of_the_inducing_points_give_their_kernel() -> None:
    Z = np.linspace(0, 4, 9)[:, None]
    phi = matern(Z, Z) @ nystroem_factor(matern(Z, Z), 1e-9)
    np.testing.assert_allclose(phi @ phi.T, matern(Z, Z), atol=1e-6)
