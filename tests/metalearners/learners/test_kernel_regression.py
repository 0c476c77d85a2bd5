"""Predict coordinates from distances between datasets."""

import numpy as np
import pytest

from metalearners.learners import kernel_regression
from metalearners.learners.kernel_regression import evenly_spaced, regress, regress_as
from tests.cases import each

RIDGES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)


def problem(d: int = 14, K: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Distances in one group of meta-features, and coordinates that follow the position."""
    random = np.random.default_rng(seed)
    x = random.normal(size=d)
    S = np.column_stack([np.sin((k + 1) * x) for k in range(K)]) + 0.1 * random.normal(size=(d, K))
    return (x[:, None] - x)[None] ** 2, S


@each("families", [np.arange(14), np.repeat(np.arange(7), 2), np.arange(14) // 5])
def test_errors_are_those_of_a_regression_on_the_other_families(families: np.ndarray) -> None:
    """With the chosen weights and ridge; the first block is the first coordinate."""
    D, S = problem()
    learned = regress(D, S, families)
    kappa = np.exp(-np.tensordot(learned.block_weights[0], D, 1))
    refitted = {}
    for ridge in RIDGES:
        refitted[ridge] = np.empty(len(S))
        for family in np.unique(families):
            out = families == family
            A = kappa[np.ix_(~out, ~out)] + ridge * np.eye((~out).sum())
            refitted[ridge][out] = S[out, 0] - kappa[np.ix_(out, ~out)] @ np.linalg.solve(A, S[~out, 0])
    best = min(refitted.values(), key=lambda missed: float((missed**2).sum()))
    np.testing.assert_allclose(learned.missed[:, 0], best, atol=1e-9)


def test_predictions_between_copies_do_not_count() -> None:
    """Equal datasets predict each other perfectly; different pairs are too far to be informative."""
    S = np.repeat(np.random.default_rng(0).normal(size=(8, 1)), 2, axis=0)
    pair = np.repeat(np.arange(8), 2)
    D = np.where(pair[:, None] == pair, 0.0, 50.0)[None]
    on_their_own, together = regress(D, S, np.arange(16)), regress(D, S, pair)
    assert (on_their_own.missed**2).sum() < 0.1 * (S**2).sum()
    assert (together.missed**2).sum() > 0.99 * (S**2).sum()


def test_some_of_very_many_datasets_choose_the_weights_and_all_predict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    D, S = problem(d=60)
    families = np.arange(60)
    monkeypatch.setattr(kernel_regression, "_MOST_COMPARED", 20)
    learned = regress(D, S, families)
    some = evenly_spaced(60, 20)
    of_some = regress(D[:, some[:, None], some], S[some], families[some])
    np.testing.assert_array_equal(learned.block_weights, of_some.block_weights)
    np.testing.assert_array_equal(learned.coefficients, regress_as(of_some, D, S, families).coefficients)
    assert (learned.missed**2).sum() < 0.2 * (S**2).sum()
