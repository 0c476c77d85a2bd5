"""Learners that average the scores of runs on the nearest datasets, or on all.

They represent other systems' methods. Each turns the runs on each dataset into a function of configurations
(the distance-weighted mean of the nearest runs, which is the run's own score for a configuration that was
run), then combines the functions of some datasets.

    knn                 the nearest dataset (after van Hoof's thesis, chapter 6; `thesis_neighbours` has the
                        original)
    knn-lightgbm        the same, with LightGBM instead of the nearest runs
    average-rank        all datasets, by mean rank
    portfolio           the greedy portfolio on ranks of AutoGluon and TabRepo, then by mean rank
    nearest-25          the best configuration of each of the 25 nearest datasets by L1, as in auto-sklearn 1
    nearest-portfolio   the portfolio of the nearest dataset's group, as in FLAML's zero-shot

Notation
    d, n, J   training datasets, configurations, columns of the encoded hyperparameters
    x         (n, J) encoded configurations, standardized
    share     of a dataset's runs with a lower score than a configuration's, from 0 to 1: its rank there
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np
import pandas as pd

from metalearners.encoding.matrices import centre_and_spread, encode_runs, learn_encoding_of, standardized
from metalearners.encoding.training_data import training_data
from metalearners.gp.kernels import squared_distances
from metalearners.learners.calibrated import UNCALIBRATED, CalibratedLearner, CalibratedModel
from metalearners.learners.lightgbm_trees import REPRODUCIBLE
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption
from warehouse.vocabulary.qualities import SHAPE
from warehouse.vocabulary.table import ConfigurationTable

Distance = Literal["L1", "L2"]
Comparison = Literal["logarithms", "medians"]

_NEIGHBOURS = 5  # runs, as in the thesis
_BEST_SCORE = np.sqrt(3)  # of a configuration that is the best everywhere; see `_as_scores`
_STEP = 0.01  # between the scores of successive configurations in a fixed order
_SAME = 1e-6  # largest distance of equal points, as numbers are rounded
_PORTFOLIO = 10  # configurations; a heuristic
_GROUP = 10  # datasets of a nearest portfolio; a heuristic
_POINTS = 20_000  # with cached shares; a heuristic
_FLAML_SHAPE = (
    "NumberOfInstances",
    "NumberOfFeatures",
    "NumberOfClasses",
    "NumberOfNumericFeatures",
)
"""FLAML's four: rows, features, classes, and the share of numeric features."""


@dataclass(frozen=True, kw_only=True)
class RunsOfDatasets(CalibratedModel):
    """The runs of each dataset, and the search for datasets near a new one."""

    datasets: int | None
    metafeatures: Annotated[tuple[str, ...], "q"]
    distance: Distance
    x: Annotated[Floats, "m J"]
    """Encoded configuration of each run, one dataset after the other."""
    scores: Annotated[Floats, "m"]
    shares: Annotated[Floats, "m"]
    ends: Annotated[Positions, "d"]
    """End of the runs of each dataset."""
    known: Annotated[Floats, "d q"]
    """Comparable meta-features of the datasets."""
    scale: Annotated[Floats, "q"]
    """Divisors of the meta-features, or of their logarithms; NaN for constant ones."""
    medians: Annotated[Floats, "q"] | None = None
    """Replacements of missing meta-features, which are compared unchanged; None = compared by logarithms."""

    def __post_init__(self) -> None:
        if not len(self.ends) or self.ends[-1] != len(self.x) or (np.diff(self.ends, prepend=0) < 1).any():
            raise ValueError("the datasets do not fit the runs")

    @property
    def described_by(self) -> tuple[str, ...]:
        return self.metafeatures

    def scores_of(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        if not len(configurations):
            return np.empty(0)
        return self.combined(self.points(configurations, metafeatures), self.nearest(metafeatures))

    @abstractmethod
    def combined(self, x: Floats, nearest: Positions) -> Floats:
        """(n,) scores from the functions of these datasets, nearest first."""

    def nearest(self, metafeatures: pd.Series) -> Positions:
        """Positions of the `datasets` nearest datasets; missing meta-features are ignored."""
        values = metafeatures.reindex(list(self.metafeatures)).to_numpy(np.float64)
        mine = comparable(values, self.medians) / self.scale
        apart = np.abs(self.known - mine)
        counted = np.maximum((~np.isnan(apart)).sum(axis=1), 1)
        total = np.nansum(apart if self.distance == "L1" else apart**2, axis=1) / counted
        total[np.isnan(apart).all(axis=1)] = np.inf
        return np.argsort(total, kind="stable")[: self.datasets]

    def rows(self, dataset: int) -> slice:
        """The runs of a dataset."""
        return slice(self.ends[dataset - 1] if dataset else 0, self.ends[dataset])

    def function(self, dataset: int, values: Floats, x: Floats) -> Floats:
        """(n,) mean of `values` over the dataset's nearest runs, weighted by 1 / distance."""
        rows = self.rows(dataset)
        return self.nearest_mean(values[rows], squared_distances(x, self.x[rows]))

    def nearest_mean(self, values: Floats, squared: Floats) -> Floats:
        """(n,) mean of `values`, (k,), over the nearest runs by squared distances, (n, k)."""
        k = min(_NEIGHBOURS, len(values))
        run = np.argpartition(squared, k - 1, axis=1)[:, :k]
        distance = np.sqrt(np.take_along_axis(squared, run, axis=1))
        exact = distance < _SAME
        weights = np.where(exact.any(axis=1, keepdims=True), exact, 1 / np.maximum(distance, _SAME))
        mean: Floats = (values[run] * weights).sum(axis=1) / weights.sum(axis=1)
        return mean

    def mean_share(self, x: Floats, datasets: Positions) -> Floats:
        """(n,) mean of the share functions of these datasets."""
        keys = [row.tobytes() for row in x]
        known = self._shares_at
        if len(known) > _POINTS:
            known.clear()
        new = [*{key: place for place, key in enumerate(keys) if key not in known}.items()]
        if new:
            squared = squared_distances(x[[place for _, place in new]], self.x)
            every = [
                self.nearest_mean(self.shares[rows], squared[:, rows])
                for rows in map(self.rows, range(len(self.ends)))
            ]
            known |= zip((key for key, _ in new), np.transpose(every), strict=True)
        mean: Floats = np.mean(np.transpose([known[key] for key in keys])[datasets], axis=0)
        return mean

    @cached_property
    def _shares_at(self) -> dict[bytes, Floats]:
        """Cached shares, (d,), by point: a few configurations make up most requests."""
        return {}


@dataclass(frozen=True, kw_only=True)
class NearestDatasets(RunsOfDatasets):
    """The nearest datasets' nearest five runs, weighted by distance."""

    def combined(self, x: Floats, nearest: Positions) -> Floats:
        mean: Floats = np.mean([self.function(dataset, self.scores, x) for dataset in nearest], axis=0)
        return mean


@dataclass(frozen=True, kw_only=True)
class NearestDatasetsLightGBM(NearestDatasets):
    """LightGBM on the runs of the nearest datasets."""

    def function(self, dataset: int, values: Floats, x: Floats) -> Floats:
        import lightgbm

        rows = self.rows(dataset)
        parameters = {**REPRODUCIBLE, "num_leaves": 16, "learning_rate": 0.05, "min_data_in_leaf": 1}
        if not self.x.shape[1] or rows.stop - rows.start < 2:
            return np.full(len(x), values[rows].mean())
        training = lightgbm.Dataset(self.x[rows], values[rows], params={"min_data_in_bin": 1})
        booster = lightgbm.train(parameters, training, num_boost_round=100)
        predicted: Floats = np.asarray(booster.predict(x, num_threads=1))
        return predicted


@dataclass(frozen=True, kw_only=True)
class AverageRank(RunsOfDatasets):
    """The mean rank of a configuration on the other datasets."""

    def combined(self, x: Floats, nearest: Positions) -> Floats:
        in_order = np.sort(nearest)  # so that sums round the same for every dataset
        return _as_scores(self.mean_share(x, in_order))


@dataclass(frozen=True, kw_only=True)
class OrderedFirst(RunsOfDatasets):
    """Some configurations come first, in a fixed order; the others follow by mean rank."""

    def combined(self, x: Floats, nearest: Positions) -> Floats:
        scores = _as_scores(self.mean_share(x, np.arange(len(self.ends))))
        first = self.first(nearest)
        for place, configuration in reversed(list(enumerate(self.distinct[first]))):
            same = (np.abs(x - configuration) < _SAME).all(axis=1)
            scores[same] = _BEST_SCORE + _STEP * (len(first) - place)
        return scores

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """Choose the nearest one to each configuration that comes first, then the rest (`Model.choose`)."""
        return self.choose_for(self.points(configurations, metafeatures), self.nearest(metafeatures), n)

    def choose_for(self, x: Floats, nearest: Positions, n: int) -> Positions:
        """Choose among x, (n, J), as `choose` does, for these nearest datasets."""
        apart = squared_distances(self.distinct[self.first(nearest)], x)  # (first, n)
        chosen: list[int] = []
        for distances in apart[: min(n, len(x))]:
            distances[chosen] = np.inf
            chosen.append(int(distances.argmin()))
        rest = np.argsort(-self.combined(x, nearest), kind="stable")
        return np.array([*chosen, *rest[~np.isin(rest, chosen)]], dtype=np.intp)[:n]

    @abstractmethod
    def first(self, nearest: Positions) -> list[int]:
        """Positions in `distinct` of the configurations that come first."""

    @cached_property
    def _distinct(self) -> tuple[Floats, Positions]:
        """The distinct configurations, and the position of each run's."""
        of_bytes, rows = pd.factorize(np.array([row.tobytes() for row in self.x], dtype=object))
        different = np.frombuffer(b"".join(rows)).reshape(len(rows), -1)
        distinct, of_different = np.unique(different, axis=0, return_inverse=True)
        return distinct, of_different.ravel()[of_bytes]

    @property
    def distinct(self) -> Floats:
        """(configurations, J) the distinct configurations."""
        return self._distinct[0]

    @cached_property
    def share_matrix(self) -> Floats:
        """(d, configurations) share of each configuration on each dataset; NaN if it was not run."""
        of_dataset = np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))
        shares = np.full((len(self.ends), len(self.distinct)), np.nan)
        shares[of_dataset, self._distinct[1]] = self.shares
        return shares

    def best_of(self, dataset: int) -> int:
        """Position in `distinct` of the best configuration on a dataset."""
        return int(np.nanargmax(self.share_matrix[dataset]))

    def greedy(self, datasets: Positions) -> list[int]:
        """Configurations chosen greedily to raise the mean over datasets of the best rank so far."""
        shares = np.nan_to_num(self.share_matrix[datasets])
        best = np.zeros(len(datasets))
        chosen: list[int] = []
        while len(chosen) < min(_PORTFOLIO, shares.shape[1]):
            together = np.maximum(best[:, None], shares).mean(axis=0)
            together[chosen] = -np.inf
            chosen.append(int(together.argmax()))
            best = np.maximum(best, shares[:, chosen[-1]])
        return chosen


@dataclass(frozen=True, kw_only=True)
class Portfolio(OrderedFirst):
    """A greedy portfolio on ranks over all datasets."""

    def first(self, nearest: Positions) -> list[int]:  # noqa: ARG002 (the same for every dataset)
        return self._of_all

    @cached_property
    def _of_all(self) -> list[int]:
        return self.greedy(np.arange(len(self.ends)))


@dataclass(frozen=True, kw_only=True)
class NearestBest(OrderedFirst):
    """The best configuration of each of the nearest datasets."""

    def first(self, nearest: Positions) -> list[int]:
        return list(dict.fromkeys(self.best_of(dataset) for dataset in nearest.tolist()))


@dataclass(frozen=True, kw_only=True)
class NearestPortfolio(OrderedFirst):
    """The portfolio of the nearest dataset and the datasets nearest to it."""

    def first(self, nearest: Positions) -> list[int]:
        apart = np.nanmean((self.known - self.known[nearest[0]]) ** 2, axis=1)
        members = np.argsort(np.nan_to_num(apart, nan=np.inf), kind="stable")[:_GROUP]
        best = self.best_of(int(nearest[0]))
        return list(dict.fromkeys([best, *self.greedy(members)]))


@dataclass(frozen=True, kw_only=True)
class _NeighboursLearner(CalibratedLearner[RunsOfDatasets]):
    """Settings of the search for datasets.

    Raises:
        BadInput: `datasets` is less than 1.
    """

    model: ClassVar[type[RunsOfDatasets]]

    datasets: int | None = None
    """Number of nearest datasets; None = all."""
    metafeatures: tuple[str, ...] = SHAPE
    """Meta-features by which datasets are compared, each divided by its standard deviation."""
    distance: Distance = "L2"
    """Distance between datasets: L1 or L2."""
    comparison: Comparison = "logarithms"
    """How meta-features are compared: "logarithms" = on a logarithmic scale, ignoring missing ones; "medians"
    = unchanged, with medians for missing ones (thesis, section 6.3.4)."""

    def __post_init__(self) -> None:
        if self.datasets is not None and self.datasets < 1:
            raise BadOption(f"datasets must be 1 or more, not {self.datasets}")

    def learn(self, runs: RunTable, metafeatures: pd.DataFrame) -> RunsOfDatasets:
        """Learn from runs as `fit` does, but without calibration."""
        data = training_data(runs, metafeatures)
        encoding = learn_encoding_of(data)
        encoded = encode_runs(encoding, data)
        centre, width = centre_and_spread(encoded)
        order = np.argsort(data.dataset, kind="stable")
        ranks = pd.Series(data.scores).groupby(data.dataset).rank(pct=True).to_numpy()
        described = data.metafeatures.reindex(columns=list(self.metafeatures))
        medians = described.median().to_numpy(np.float64) if self.comparison == "medians" else None
        known = comparable(described.to_numpy(np.float64), medians)
        with np.errstate(invalid="ignore"):
            spread = pd.DataFrame(known).std(ddof=0).to_numpy()
        scale = np.where(spread > 0, spread, np.nan)
        return self.model(
            encoding=encoding,
            centre=centre,
            width=width,
            calibration=UNCALIBRATED,
            datasets=self.datasets,
            metafeatures=tuple(self.metafeatures),
            distance=self.distance,
            x=standardized(encoded, centre, width)[order],
            scores=data.scores[order],
            shares=ranks[order],
            ends=np.cumsum(np.bincount(data.dataset)),
            known=known / scale,
            scale=scale,
            medians=medians,
        )


@dataclass(frozen=True, kw_only=True)
class NearestDatasetLearner(_NeighboursLearner):
    """The nearest dataset's nearest five runs, weighted by distance (after the thesis's KNN)."""

    model = NearestDatasets
    datasets: int | None = 1


@dataclass(frozen=True, kw_only=True)
class NearestDatasetLightGBMLearner(NearestDatasetLearner):
    """LightGBM on the runs of the nearest dataset (after the thesis's)."""

    model = NearestDatasetsLightGBM


@dataclass(frozen=True, kw_only=True)
class AverageRankLearner(_NeighboursLearner):
    """The mean rank of a configuration on the other datasets: one order for all datasets."""

    model = AverageRank


@dataclass(frozen=True, kw_only=True)
class PortfolioLearner(_NeighboursLearner):
    """A greedy portfolio on ranks over all datasets, as AutoGluon and TabRepo build theirs."""

    model = Portfolio


@dataclass(frozen=True, kw_only=True)
class NearestBestLearner(_NeighboursLearner):
    """The best configuration of each of the 25 nearest datasets by L1, as auto-sklearn 1 starts."""

    model = NearestBest
    datasets: int | None = 25
    distance: Distance = "L1"


@dataclass(frozen=True, kw_only=True)
class NearestPortfolioLearner(_NeighboursLearner):
    """The portfolio of the nearest dataset by four shape features, as FLAML's zero-shot does.

    FLAML's portfolios are built off-line over tasks of one kind; here a dataset's portfolio is the greedy one
    of it and the datasets nearest to it.
    """

    model = NearestPortfolio
    metafeatures: tuple[str, ...] = _FLAML_SHAPE


def comparable(values: Floats, medians: Floats | None) -> Floats:
    """(..., q) meta-features, with gaps filled by the medians, (q,), or on a logarithmic scale if None."""
    if medians is None:
        logarithms: Floats = np.log1p(values)
        return logarithms
    return np.where(np.isnan(values), medians, values)


def _as_scores(shares: Floats) -> Floats:
    """Standard scores of shares that are uniform over 0 to 1."""
    scores: Floats = (shares - 0.5) * np.sqrt(12)
    return scores
