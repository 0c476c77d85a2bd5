"""Ensembles of two base models and the target's model, by hand (Manolache, equations 7 and 8; TST-R)."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd

from recommend.bo.published.transfer.ensemble import BasePredictions, EnsembleSurrogate, TwoStageSurrogate
from recommend.bo.published.transfer.gaussian_processes import GaussianProcesses
from recommend.bo.published.transfer.prior_tasks import PriorTasks
from warehouse.support.arrays import Floats

FIRST, LAST, FAR = 0.0, 100.0, 50.0
"""Two configurations, and one far from both."""
BASES = GaussianProcesses(
    np.broadcast_to(np.array([FIRST, LAST])[None, :, None], (2, 2, 1)),
    np.array([[2.0, 0.0], [-2.0, 2.0]]),
    np.ones((2, 2), dtype=bool),
    np.ones(2),
    np.zeros(2),
)
"""One predicts 2 and 0 for them, the other -2 and 2. Far away they predict their means, 1 and 0, with the
variances (2 + 1 + 1) / 4 = 1 and (2 + 4 + 4) / 4 = 2.5."""
TASKS = cast("PriorTasks", SimpleNamespace(models={"svm": BASES}))
NOTHING = pd.Series(dtype=float)
RANDOM = np.random.default_rng(0)


def described(*points: float) -> BasePredictions:
    x = np.array(points)[:, None]
    return BasePredictions(x, np.zeros(len(x), dtype=np.intp), *BASES.predict(x), None)


def target(points: list[float], scores: list[float]) -> GaussianProcesses:
    """The process of the trials."""
    x, y = np.array(points)[None, :, None], np.array([scores])
    return GaussianProcesses.fitted(x, y, np.ones(y.shape, dtype=bool))


def fixed(*_: object) -> Floats:
    return np.array([0.5, 0.2, 0.3])


def test_means_and_variances_are_weighted_sums() -> None:
    """Trials of 0.6 and 0.2 have the scores 1 and -1, whose mean, 0, replaces the base models' means.

    The base models predict 0.5 (2 - 1) + 0.2 (-2 - 0) = 0.1 for the first, and 0 for the far one; variances
    are 0 and 0.5^2 1 + 0.2^2 2.5 = 0.35. Far from its trials the target adds 0, and 0.3^2 of its variance.
    """
    trials = [200.0, 300.0]
    surrogate = EnsembleSurrogate(TASKS, NOTHING, fixed)
    surrogate.fit(described(*trials), np.array([0.6, 0.2]), RANDOM)
    found = surrogate.predict(described(FIRST, FAR))
    s2 = target(trials, [1.0, -1.0]).s2[0]
    assert found.std is not None
    np.testing.assert_allclose(found.mean, [0.4 + 0.2 * 0.1, 0.4], atol=1e-9)
    np.testing.assert_allclose(found.std, 0.2 * np.sqrt([0.09 * s2, 0.35 + 0.09 * s2]), atol=1e-9)


def test_the_two_stage_surrogate_averages_means_and_keeps_the_targets_uncertainty() -> None:
    """The first base model ranks the trials correctly, the other wrongly: 1/2, 0, and 1/2 for the target."""
    surrogate = TwoStageSurrogate(TASKS, NOTHING)
    surrogate.fit(described(FIRST, LAST), np.array([0.6, 0.2]), RANDOM)
    found = surrogate.predict(described(FIRST, FAR))
    own, variances = target([FIRST, LAST], [1.0, -1.0]).predict(np.array([[FIRST], [FAR]]))
    assert found.std is not None
    base = np.array([2.0 - 1.0, 0.0])
    np.testing.assert_allclose(found.mean, 0.4 + 0.2 * (base + own[:, 0]) / 2, atol=1e-9)
    np.testing.assert_allclose(found.std, 0.2 * np.sqrt(variances[:, 0]), atol=1e-9)
