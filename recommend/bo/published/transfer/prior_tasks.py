"""Runs on other datasets, and the Gaussian process of each dataset and algorithm: the base models S_k,p.

Values of a dataset are standard scores over all its runs. A base model learns from a random sample of
`CONFIGURATIONS` runs; a dataset with fewer than `FEWEST`, or with equal values only, has none.

Notation
    J    columns of the encoded hyperparameters: standardized, with logarithms of skewed ones
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from metalearners.encoding.training_data import TrainingData, training_data
from metalearners.learners.configuration_kernel import learn_points
from recommend.bo.published.transfer.gaussian_processes import GaussianProcesses
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.table import ConfigurationTable

CONFIGURATIONS = 50
"""Training runs of a base model (Manolache, section 6.1)."""
FEWEST = 3


class PriorTasks:
    """Base models of other datasets, by algorithm."""

    def __init__(self, runs: RunTable, metafeatures: pd.DataFrame) -> None:
        """Base models of these runs.

        Raises:
            BadInput: there is no run.
        """
        data = training_data(runs, metafeatures)
        self._points, x = learn_points(data)
        algorithms = runs.configurations.algorithms.to_numpy(dtype=object)[data.configuration]
        random = np.random.default_rng(0)
        self.models: dict[str, GaussianProcesses | None] = {
            str(algorithm): _base_models(data, x, np.flatnonzero(algorithms == algorithm), random)
            for algorithm in dict.fromkeys(algorithms)
        }
        """Algorithm -> its base models, one for each dataset; None if no dataset has one."""

    def points(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """(n, J) configurations on the dataset with these meta-features, encoded like the runs."""
        return self._points.points(configurations, metafeatures)


def _base_models(
    data: TrainingData, x: Floats, of_algorithm: Positions, random: np.random.Generator
) -> GaussianProcesses | None:
    chosen = []
    for dataset in np.unique(data.dataset[of_algorithm]):
        own = of_algorithm[data.dataset[of_algorithm] == dataset]
        own = own[random.permutation(len(own))[:CONFIGURATIONS]]
        if len(own) >= FEWEST and np.ptp(data.scores[own]) > 0:
            chosen.append(own)
    if not chosen:
        return None
    n = max(map(len, chosen))
    known = np.array([np.arange(n) < len(own) for own in chosen])
    rows = np.array([np.pad(own, (0, n - len(own))) for own in chosen])
    return GaussianProcesses.fitted(x[rows], np.where(known, data.scores[rows], 0.0), known)
