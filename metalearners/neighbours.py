"""Learners that look up what runs on other datasets scored: the nearest ones, or all.

They stand for what others do. Each first makes a function of configurations from the runs on each dataset
(the distance-weighted mean of the nearest runs, which is the run's own score where a configuration was run),
and then combines the functions of some datasets.

    knn                 the nearest dataset (van Hoof's thesis, chapter 6)
    knn-lightgbm        the same, with LightGBM in place of the nearest runs
    average-rank        all datasets, by mean rank
    portfolio           the greedy portfolio on ranks of AutoGluon and TabRepo, then by mean rank
    nearest-25          the best configuration of each of the 25 nearest datasets by L1, as auto-sklearn 1
    nearest-portfolio   the portfolio of the nearest dataset's group, as FLAML's zero-shot

Notation
    d, n, J   training datasets, configurations, columns of the encoded hyperparameters
    x         (n, J) encoded configurations, standardized
    share     of a dataset's runs that a score is better than, from 0 to 1: its rank there
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, get_args

import numpy as np
import pandas as pd

from metalearners.base import SIZES, training_data
from metalearners.calibrated import CalibratedLearner
from metalearners.encoded import (
    centre_and_spread,
    encode_runs,
    learn_encoding_of,
    squared_distances,
    standardized,
)
from metalearners.hyperparameters import HyperparameterEncoding
from metalearners.lightgbm_trees import REPRODUCIBLE
from warehouse.configurations.table import ConfigurationTable
from warehouse.qualities import SHAPE
from warehouse.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption, DamagedModel, UnknownName

Distance = Literal["L1", "L2"]

_NEIGHBOURS = 5  # runs, as in the thesis
_BEST_SCORE = np.sqrt(3)  # of a configuration that was the best everywhere; see `_as_scores`
_STEP = 0.01  # between the scores of configurations that are put in an order
_SAME = 1e-6  # distance of equal points, after rounding
_FLAML_SHAPE = (
    "NumberOfInstances",
    "NumberOfFeatures",
    "NumberOfClasses",
    "NumberOfNumericFeatures",
)
"""FLAML's four: rows, features, classes, and the share of numeric features."""


class _RunsOfDatasets(CalibratedLearner):
    """Keeps the runs of each dataset, and which datasets are near a new one."""

    def __init__(
        self,
        *,
        datasets: int | None = None,
        metafeatures: Sequence[str] = SHAPE,
        distance: Distance = "L2",
    ) -> None:
        """Settings of the search for datasets.

        Args:
            datasets: how many of the nearest datasets count; None = all.
            metafeatures: what datasets are compared by, each divided by its standard deviation, on a
                logarithmic scale.
            distance: between datasets.

        Raises:
            BadInput: `datasets` is less than 1, or `distance` is unknown.
        """
        if datasets is not None and datasets < 1:
            raise BadOption(f"datasets must be 1 or more, not {datasets}")
        if distance not in get_args(Distance):
            raise UnknownName(f"unknown distance {distance!r}; known are {', '.join(get_args(Distance))}")
        self.datasets = datasets
        self.metafeatures = tuple(metafeatures)
        self.distance: Distance = distance

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "datasets": self.datasets,
            "metafeatures": list(self.metafeatures),
            "distance": self.distance,
        }

    @property
    def qualities(self) -> tuple[str, ...]:
        """As `MetaLearner.qualities`."""
        return tuple(dict.fromkeys([*SIZES, *self.metafeatures]))

    def learn(self, runs: RunTable, metafeatures: pd.DataFrame) -> None:
        data = training_data(runs, metafeatures)
        self.encoding_ = learn_encoding_of(data)
        encoded = encode_runs(self.encoding_, data)
        self.centre_, self.width_ = centre_and_spread(encoded)
        order = np.argsort(data.dataset, kind="stable")
        self.x_ = standardized(encoded, self.centre_, self.width_)[order]
        self.scores_ = data.scores[order]
        ranks = pd.Series(data.scores).groupby(data.dataset).rank(pct=True).to_numpy()
        self.shares_ = ranks[order]
        self.ends_ = np.cumsum(np.bincount(data.dataset))
        known = np.log1p(data.metafeatures.reindex(columns=list(self.metafeatures)).to_numpy(np.float64))
        with np.errstate(invalid="ignore"):
            spread = pd.DataFrame(known).std(ddof=0).to_numpy()
        self.scale_ = np.where(spread > 0, spread, np.nan)
        self.known_ = known / self.scale_
        self._begin()

    def _begin(self) -> None:
        """Prepare what `expect` uses, from what `learn` or `restore` found."""

    def expect(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        if not len(configurations):
            return np.empty(0)
        return self._combined(self.points(configurations, metafeatures), self._nearest(metafeatures))

    @abstractmethod
    def _combined(self, x: Floats, nearest: np.ndarray) -> Floats:
        """(n,) scores from the functions of these datasets, the nearest first."""

    def _nearest(self, metafeatures: pd.Series) -> np.ndarray:
        """Positions of the `datasets` nearest datasets; what is missing on either side does not count."""
        mine = np.log1p(metafeatures.reindex(list(self.metafeatures)).to_numpy(np.float64)) / self.scale_
        apart = np.abs(self.known_ - mine)
        counted = np.maximum((~np.isnan(apart)).sum(axis=1), 1)
        total = np.nansum(apart if self.distance == "L1" else apart**2, axis=1) / counted
        total[np.isnan(apart).all(axis=1)] = np.inf
        return np.argsort(total, kind="stable")[: self.datasets]

    def _rows(self, dataset: int) -> slice:
        return slice(self.ends_[dataset - 1] if dataset else 0, self.ends_[dataset])

    def _function(self, dataset: int, values: Floats, x: Floats) -> Floats:
        """(n,) the mean of `values` over the dataset's nearest runs, weighted by 1 / distance."""
        rows = self._rows(dataset)
        known = self.x_[rows]
        squared = squared_distances(x, known)
        k = min(_NEIGHBOURS, len(known))
        run = np.argpartition(squared, k - 1, axis=1)[:, :k]
        distance = np.sqrt(np.take_along_axis(squared, run, axis=1))
        exact = distance < _SAME
        weights = np.where(exact.any(axis=1, keepdims=True), exact, 1 / np.maximum(distance, _SAME))
        mean: Floats = (values[rows][run] * weights).sum(axis=1) / weights.sum(axis=1)
        return mean

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """As `MetaLearner.state`."""
        facts = {"encoding": json.loads(self.encoding_.to_json()), "spread": self.spread_}
        return facts, {name: getattr(self, f"{name}_") for name in _ARRAYS}

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        """As `MetaLearner.restore`."""
        try:
            self.encoding_ = HyperparameterEncoding.from_json(json.dumps(facts["encoding"]))
            for name in _ARRAYS:
                setattr(self, f"{name}_", arrays[name].astype(np.intp if name == "ends" else np.float64))
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedModel(f"the stored learner is damaged ({error}): train it again") from error
        self._restore_spread(facts)
        m, J, q = len(self.scores_), len(self.encoding_.columns), len(self.metafeatures)
        shapes = {
            "x": (m, J),
            "shares": (m,),
            "centre": (J,),
            "width": (J,),
            "scale": (q,),
            "known": (len(self.ends_), q),
        }
        for name, shape in shapes.items():
            if getattr(self, f"{name}_").shape != shape:
                raise DamagedModel(f"the stored learner is damaged: {name} has another shape than the rest")
        if not len(self.ends_) or self.ends_[-1] != m or (np.diff(self.ends_, prepend=0) < 1).any():
            raise DamagedModel("the stored learner is damaged: its datasets do not fit its runs")
        self._begin()
        return self


_ARRAYS = ("x", "scores", "shares", "ends", "known", "scale", "centre", "width")


class NearestDatasetLearner(_RunsOfDatasets):
    """The nearest dataset's nearest five runs, weighted by distance (the thesis's KNN)."""

    def __init__(self, *, datasets: int | None = 1, **settings: Any) -> None:
        """As `_RunsOfDatasets`."""
        super().__init__(datasets=datasets, **settings)

    def _combined(self, x: Floats, nearest: np.ndarray) -> Floats:
        mean: Floats = np.mean([self._function(dataset, self.scores_, x) for dataset in nearest], axis=0)
        return mean


class NearestDatasetLightGBMLearner(NearestDatasetLearner):
    """LightGBM on the runs of the nearest dataset (the thesis's KNN + LightGBM)."""

    def _function(self, dataset: int, values: Floats, x: Floats) -> Floats:
        import lightgbm

        rows = self._rows(dataset)
        parameters = {**REPRODUCIBLE, "num_leaves": 16, "learning_rate": 0.05, "min_data_in_leaf": 1}
        if not self.x_.shape[1] or rows.stop - rows.start < 2:
            return np.full(len(x), values[rows].mean())
        training = lightgbm.Dataset(self.x_[rows], values[rows], params={"min_data_in_bin": 1})
        booster = lightgbm.train(parameters, training, num_boost_round=100)
        predicted: Floats = np.asarray(booster.predict(x, num_threads=1))
        return predicted


class AverageRankLearner(_RunsOfDatasets):
    """The mean rank that a configuration has on the other datasets: one order for all datasets."""

    def _combined(self, x: Floats, nearest: np.ndarray) -> Floats:
        in_order = np.sort(nearest)  # so that sums round alike for every dataset
        shares = np.mean([self._function(dataset, self.shares_, x) for dataset in in_order], axis=0)
        return _as_scores(shares)


class _OrderedFirst(_RunsOfDatasets):
    """Some configurations come first, in an order; the others follow by mean rank."""

    portfolio = 10
    """Configurations that are put first."""

    def _combined(self, x: Floats, nearest: np.ndarray) -> Floats:
        by_rank = [self._function(dataset, self.shares_, x) for dataset in range(len(self.ends_))]
        scores = _as_scores(np.mean(by_rank, axis=0))
        first = self._first(nearest)
        for place, configuration in reversed(list(enumerate(self._distinct[first]))):
            same = (np.abs(x - configuration) < _SAME).all(axis=1)
            scores[same] = _BEST_SCORE + _STEP * (len(first) - place)
        return scores

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """As `MetaLearner.choose`: what is most like each one that comes first, then the others."""
        x = self.points(configurations, metafeatures)
        nearest = self._nearest(metafeatures)
        apart = squared_distances(self._distinct[self._first(nearest)], x)  # (first, n)
        chosen: list[int] = []
        for distances in apart[: min(n, len(x))]:
            distances[chosen] = np.inf
            chosen.append(int(distances.argmin()))
        rest = np.argsort(-self._combined(x, nearest), kind="stable")
        return np.array([*chosen, *rest[~np.isin(rest, chosen)]], dtype=np.intp)[:n]

    @abstractmethod
    def _first(self, nearest: np.ndarray) -> list[int]:
        """Positions in `_distinct` of the configurations that come first."""

    def _begin(self) -> None:
        """(configurations, J) the different configurations, and (d, configurations) their shares."""
        self._distinct, of_run = np.unique(self.x_, axis=0, return_inverse=True)
        of_dataset = np.repeat(np.arange(len(self.ends_)), np.diff(self.ends_, prepend=0))
        self._shares = np.full((len(self.ends_), len(self._distinct)), np.nan)
        self._shares[of_dataset, of_run.ravel()] = self.shares_

    def _greedy(self, datasets: np.ndarray) -> list[int]:
        """Configurations, each of which raises the mean over datasets of the best rank so far the most."""
        shares = np.nan_to_num(self._shares[datasets])
        best = np.zeros(len(datasets))
        chosen: list[int] = []
        while len(chosen) < min(self.portfolio, shares.shape[1]):
            together = np.maximum(best[:, None], shares).mean(axis=0)
            together[chosen] = -np.inf
            chosen.append(int(together.argmax()))
            best = np.maximum(best, shares[:, chosen[-1]])
        return chosen


class PortfolioLearner(_OrderedFirst):
    """A greedy portfolio on ranks over all datasets, as AutoGluon and TabRepo build theirs."""

    def _first(self, nearest: np.ndarray) -> list[int]:  # noqa: ARG002 (the same for every dataset)
        if not hasattr(self, "_portfolio"):
            self._portfolio = self._greedy(np.arange(len(self.ends_)))
        return self._portfolio


class NearestBestLearner(_OrderedFirst):
    """The best configuration of each of the 25 nearest datasets by L1, as auto-sklearn 1 starts."""

    def __init__(self, *, datasets: int | None = 25, distance: Distance = "L1", **settings: Any) -> None:
        """As `_RunsOfDatasets`."""
        super().__init__(datasets=datasets, distance=distance, **settings)

    def _first(self, nearest: np.ndarray) -> list[int]:
        best = [int(np.nanargmax(self._shares[dataset])) for dataset in nearest]
        return list(dict.fromkeys(best))


class NearestPortfolioLearner(_OrderedFirst):
    """The nearest dataset on four shape features brings its portfolio, as FLAML's zero-shot does.

    FLAML's portfolios are built off-line over tasks of one kind; here a dataset's portfolio is the greedy one
    of itself and the datasets that are nearest to it.
    """

    group = 10
    """Datasets that a portfolio is built over."""

    def __init__(self, *, metafeatures: Sequence[str] = _FLAML_SHAPE, **settings: Any) -> None:
        """As `_RunsOfDatasets`."""
        super().__init__(metafeatures=metafeatures, **settings)

    def _first(self, nearest: np.ndarray) -> list[int]:
        apart = np.nanmean((self.known_ - self.known_[nearest[0]]) ** 2, axis=1)
        members = np.argsort(np.nan_to_num(apart, nan=np.inf), kind="stable")[: self.group]
        best = int(np.nanargmax(self._shares[nearest[0]]))
        return list(dict.fromkeys([best, *self._greedy(members)]))


def _as_scores(shares: Floats) -> Floats:
    """Standard scores that an even spread of shares over 0 to 1 would have."""
    scores: Floats = (shares - 0.5) * np.sqrt(12)
    return scores
