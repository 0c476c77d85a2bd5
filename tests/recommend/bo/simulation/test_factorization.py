"""The paper's equation 7, and the search built on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalearners.encoding.training_data import without_datasets
from metalearners.gp.kernels import Shape
from metalearners.published.factorization.latent_kernel import LatentKernel
from metalearners.published.factorization.learner import FactorizationLearner
from recommend.bo.simulation.factorization import PAPER, FactorizationSearch, LatentSearch
from recommend.bo.simulation.tasks import TableTask
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.questions.queries import RunTable


def kernel(shape: Shape = "rbf", sigma2: float = 0.1) -> LatentKernel:
    return LatentKernel(shape, alpha=2.0, gamma=np.array([0.5, 2.0]), sigma2=sigma2)


def posterior(
    kernel: LatentKernel, observed: np.ndarray, y: np.ndarray, new: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of runs at positions `new` by equation 7, given `y` at `observed`."""
    C = kernel.covariance(observed, observed) + kernel.sigma2 * np.eye(len(y))
    k = kernel.covariance(observed, new)
    explained = np.linalg.solve(C, k)
    return explained.T @ y, kernel.alpha + kernel.sigma2 - (k * explained).sum(axis=0)


def test_three_trials_by_hand() -> None:
    """The paper's equation 7 if two trials share a position, and a third is far away.

    C = [[2.1, 2, 0], [2, 2.1, 0], [0, 0, 2.1]] and y = (1, 2, 5). At the shared position k = (2, 2, 0), so
    both entries of C^-1 k are 2 / 4.1: mu = 2 (1 + 2) / 4.1, v = 2 + 0.1 - 2 (2 + 2) / 4.1. Far from all
    trials mu = 0 and v = 2 + 0.1.
    """
    observed = np.array([[0.0, 0.0], [0.0, 0.0], [100.0, 0.0]])
    y = np.array([1.0, 2.0, 5.0])
    mean, variance = posterior(kernel(), observed, y, np.array([[0.0, 0.0], [0.0, 100.0]]))
    assert mean == pytest.approx([6 / 4.1, 0])
    assert variance == pytest.approx([2.1 - 8 / 4.1, 2.1])


@given(st.lists(st.integers(0, 11), min_size=1, max_size=20), st.sampled_from(["rbf", "matern"]))
def test_the_posterior_of_a_search_equals_the_equation(trials: list[int], shape: Shape) -> None:
    """Whatever is tried, even a configuration twice."""
    random = np.random.default_rng(len(trials))
    X, y = random.normal(size=(12, 2)), random.normal(size=len(trials))
    search = LatentSearch(kernel(shape), X)
    for position, value in zip(trials, y, strict=True):
        search.observe(position, float(value))
    mean, variance = posterior(kernel(shape), X[trials], y, X)
    np.testing.assert_allclose(search.mean, mean, atol=1e-8)
    np.testing.assert_allclose(search.variance, variance, atol=1e-8)
    assert search.best == y.max()


NEW = "toy:4"


def tried_on_new_dataset(runs: RunTable, known: RunTable) -> list[int]:
    """Rows tried by the paper's search, in order, with a model of `known`."""
    pytest.importorskip("torch", reason="training needs the extra `pmf`")
    metafeatures = toy_metafeatures()
    model = FactorizationLearner(**PAPER, epochs=20).fit(
        without_datasets(known, [NEW]), metafeatures.drop(index=NEW)
    )
    task = TableTask(runs, metafeatures, NEW)
    search = FactorizationSearch(task, model)
    tried = []
    while asked := search.ask():
        tried.append(int(asked[0].key))
        search.tell(task.value(asked[0]))
    return tried


def test_the_search_of_the_paper_tries_every_row_once_and_the_better_half_first() -> None:
    """Two families of datasets prefer opposite halves of the rows; trials reveal the family."""
    runs = toy_runs()
    values = TableTask(runs, toy_metafeatures(), NEW).values
    tried = tried_on_new_dataset(runs, runs)
    assert sorted(tried) == list(range(len(values)))
    better = set(np.argsort(-values)[:10].tolist())
    assert better <= set(tried[:15])
