"""Eigenvalues of symmetric matrices, including those with many equal ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.support.arrays import Floats
from warehouse.support.eigen import symmetric_eigen


def nearly_independent(n: int, coupled: int, seed: int) -> Floats:
    """The covariance of n trials, nearly all of which are independent."""
    random = np.random.default_rng(seed)
    A = np.eye(n)
    places = random.choice(n, size=(coupled, 2))
    for (i, j), strength in zip(places, 10.0 ** random.uniform(-10, -0.5, coupled), strict=True):
        if i != j:
            A[i, j] = A[j, i] = strength
    centred = A - A.mean(axis=0) - A.mean(axis=1)[:, None] + A.mean()
    return np.asarray(centred + (np.trace(A) + 1) / n)


def check(A: Floats) -> None:
    values, vectors = symmetric_eigen(A)
    assert (np.diff(values) >= 0).all()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(A)), atol=1e-12)
    np.testing.assert_allclose(vectors * values @ vectors.T, A, atol=1e-12 * len(A))


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 40), st.integers(0, 12), st.integers(0, 10_000))
def test_every_covariance_is_decomposed(n: int, coupled: int, seed: int) -> None:
    check(nearly_independent(n, coupled, seed))


def test_another_method_is_used_if_divide_and_conquer_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(_: Floats) -> None:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr("numpy.linalg.eigh", gives_up)
    check(nearly_independent(26, 5, 0))
    with pytest.raises(np.linalg.LinAlgError):
        symmetric_eigen(np.full((3, 3), np.nan))
