"""The KNN baselines of van Hoof's thesis, section 6.3.4, unchanged.

Missing meta-features are filled with their median, then standardized, like the encoded hyperparameters. The k
datasets nearest to a new one are found by Euclidean distance. The predicted score of a configuration is the
mean of the five nearest of all their runs, weighted by 1 / distance, or the prediction of LightGBM trained on
them.

Notation
    n, J   configurations, columns of the encoded hyperparameters
    x      (n, J) encoded configurations, standardized
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from metalearners.learners.neighbours import (
    Comparison,
    NearestDatasetLearner,
    NearestDatasets,
    NearestDatasetsLightGBM,
)
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.qualities import THESIS


@dataclass(frozen=True, kw_only=True)
class PooledNeighbours(NearestDatasets):
    """The five nearest of all runs on the nearest datasets, weighted by distance."""

    def combined(self, x: Floats, nearest: Positions) -> Floats:
        pooled = self.pooled(nearest)
        return pooled.function(0, pooled.scores, x)

    def pooled(self, nearest: Positions) -> PooledNeighbours:
        """The same model with the runs on these datasets merged into one dataset."""
        rows = np.concatenate([np.arange(self.ends[-1])[self.rows(int(dataset))] for dataset in nearest])
        return replace(
            self,
            x=self.x[rows],
            scores=self.scores[rows],
            shares=self.shares[rows],
            ends=np.array([len(rows)]),
            known=self.known[nearest[:1]],
        )


@dataclass(frozen=True, kw_only=True)
class PooledNeighboursLightGBM(PooledNeighbours, NearestDatasetsLightGBM):
    """LightGBM on all runs on the nearest datasets."""


@dataclass(frozen=True, kw_only=True)
class ThesisKNNLearner(NearestDatasetLearner):
    """The nearest dataset's nearest five runs, weighted by distance, as in the thesis (section 6.3.4)."""

    model = PooledNeighbours
    metafeatures: tuple[str, ...] = THESIS
    comparison: Comparison = "medians"


@dataclass(frozen=True, kw_only=True)
class ThesisKNNLightGBMLearner(ThesisKNNLearner):
    """LightGBM on the runs of the nearest dataset, as in the thesis (section 6.3.4)."""

    model = PooledNeighboursLightGBM
