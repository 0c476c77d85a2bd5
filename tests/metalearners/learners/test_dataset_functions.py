"""Functions of datasets over configurations: other datasets correct a biased sample of runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalearners.learners.dataset_functions import DatasetFunctions, Runs, learn_functions
from tests.cases import each
from warehouse.support.arrays import Floats

CONFIGURATIONS = 30


def features() -> Floats:
    """(CONFIGURATIONS, 5) Phi of configurations on a line: each column is a smooth function of position."""
    x = np.linspace(-1, 1, CONFIGURATIONS)
    return np.column_stack([np.ones_like(x), x, np.sin(3 * x), np.cos(2 * x), x**2])


def true_scores(n: int = 20) -> Floats:
    """(n, CONFIGURATIONS) scores on datasets that differ in the level of the second half."""
    mean = np.array([0.0, 1.0, 0.5, 0.0, 0.0])
    slopes = np.random.default_rng(0).normal(0, 0.3, n)
    weights = mean + slopes[:, None] * np.array([0.0, 1.0, 0.0, 0.0, 0.0])
    noise = np.random.default_rng(1).normal(0, 0.05, (n, CONFIGURATIONS))
    scores: Floats = weights @ features().T + noise
    return scores - scores.mean(axis=1, keepdims=True)


def learned(datasets: list[Runs], rounds: int) -> DatasetFunctions:
    return learn_functions(datasets, features(), components=3, rounds=rounds)


def with_good_runs_only(kept: int = 10) -> tuple[list[Runs], Floats]:
    """All runs of each dataset but the last, of which only the best half remain; and all its true scores."""
    phi, scores = features(), true_scores()
    good = np.argsort(scores[-1])[-kept:]
    standard = (scores[-1, good] - scores[-1, good].mean()) / scores[-1, good].std()
    whole = [Runs(phi, of_dataset) for of_dataset in scores[:-1]]
    return [*whole, Runs(phi[good], standard)], scores[-1, good]


def test_functions_are_mean_and_components() -> None:
    functions = learned([Runs(features(), scores) for scores in true_scores()], 3)
    fitted = (functions.mean + functions.S @ functions.V) @ features().T
    comparable = [scale.apply(y) for scale, y in zip(functions.scales, true_scores(), strict=True)]
    assert np.abs(fitted - comparable).mean() < 0.06  # the noise


def test_level_and_spread_of_good_runs_come_from_the_other_datasets() -> None:
    datasets, truth = with_good_runs_only()
    comparable = learned(datasets, 3).scales[-1].apply(datasets[-1].y)
    assert truth.mean() > 1.2  # it is 0 among the good runs alone
    assert comparable.mean() > 0.5 * truth.mean()
    assert abs(comparable.std() - truth.std()) < 0.5 * abs(datasets[-1].y.std() - truth.std())


@given(st.floats(0.2, 5.0), st.floats(-3.0, 3.0))
def test_scores_that_differ_by_level_and_spread_become_equal(factor: float, shift: float) -> None:
    scores = true_scores()
    other = Runs(features(), factor * scores[0] + shift)
    functions = learned([*(Runs(features(), of_dataset) for of_dataset in scores), other], 1)
    as_it_was, changed = functions.scales[0].apply(scores[0]), functions.scales[-1].apply(other.y)
    assert changed == pytest.approx(as_it_was, abs=1e-6)


@each("rounds", [0, 3])
def test_functions_exist_for_no_dataset_and_for_one(rounds: int) -> None:
    nothing = learned([], rounds)
    assert (nothing.mean == 0).all()
    assert len(nothing.S) == 0
    one = learned([Runs(features(), true_scores()[0])], rounds)
    assert one.S.shape[1] == 0
    assert features() @ one.mean == pytest.approx(true_scores()[0], abs=0.2)
