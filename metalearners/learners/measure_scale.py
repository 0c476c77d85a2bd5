"""Standard scores in the unit of the measure: level and spread of values on a new dataset.

What landmarkers reach on a dataset says nearly what others reach. On each training dataset the values of the
better half of the runs are a line in their scores; its level and slope are predicted from meta-features by a
Gaussian process each; so is what more rows are worth, from runs that were repeated on more. How far that is
off for the configuration that is expected to be best, on families left out, gives the intervals.

Notation
    d         training datasets whose level is known
    v, z      values of the measure, larger is better; z = link(v), which has no bounds
    s         scores, comparable across datasets
    x         (q,) meta-features of a dataset, standardized
    level, slope    z = level + slope (s - 1)
    gain      what z rises by where rows are e times as many
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np
import pandas as pd

from metalearners.encoding.links import LEAST, LINKS, logit
from metalearners.encoding.matrices import centre_and_spread, standardized
from metalearners.encoding.training_data import TrainingData
from metalearners.learners.kernel_regression import evenly_spaced, missed_without_families
from metalearners.predictions import ValueInterval
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.measures import LinkName
from warehouse.vocabulary.qualities import GROUPS

_LANDMARKERS = tuple(name for name in GROUPS["landmarkers"] if name.endswith(("ErrRate", "AUC")))
_SIZES = (
    "NumberOfInstances",
    "NumberOfFeatures",
    "NumberOfNumericFeatures",
    "NumberOfClasses",
    "MajorityClassPercentage",
)
_OF_NUMBERS = (
    *(name for name in GROUPS["target_landmarkers"] if name.endswith("R2")),
    "MaxTargetPearson",
    "MaxTargetSpearman",
)
QUALITIES = (*_SIZES, *_LANDMARKERS)
"""Meta-features that levels depend on."""
NUMBER_QUALITIES = (*_SIZES[:-1], *_OF_NUMBERS)
"""Meta-features that levels depend on where numbers are predicted."""

_ANCHOR = 1.0
"""Score at which the level is: that of a good configuration."""
_FEWEST_RUNS = 5  # of the better half, for a line
_FEWEST_DATASETS = 20
_MOST_COMPARED = 300
"""Datasets that a process's kernel is learned from; all are predicted from."""
_NEAR = 0.2
"""Share of the training datasets, those with the most similar number of rows, that an interval is learned
from: on few rows values vary more."""


@dataclass(frozen=True, kw_only=True)
class NumberOfDataset:
    """A Gaussian process over datasets: a number that each has, predicted from x.

    Its kernel is amplitude^2 exp(-|x - x'|^2 / (2 length^2)) + slope^2 (1 + x x').
    """

    datasets: Annotated[tuple[str, ...], "known"]
    """Keys of the training datasets."""
    points: Annotated[Floats, "known q"]
    coefficients: Annotated[Floats, "known"]
    amplitude: float
    length: float
    slope: float
    noise: float
    """Variance."""
    mean: float
    unit: float

    def predict(self, x: Floats) -> tuple[float, float]:
        """Mean and standard deviation of a new dataset's number."""
        from scipy.linalg import solve_triangular

        k = self._kernel(x[None], self.points)[0]
        explained = solve_triangular(self._root, k, lower=True)
        variance = float(self._kernel(x[None], x[None])[0, 0] + self.noise - explained @ explained)
        return self.mean + self.unit * float(k @ self.coefficients), self.unit * np.sqrt(variance)

    def without(self, datasets: Collection[str]) -> NumberOfDataset:
        """The process given the numbers of all other datasets, with the same kernel and noise."""
        kept = np.array([name not in datasets for name in self.datasets], dtype=bool)
        y = self.mean + self.unit * (self._covariance @ self.coefficients)
        mean = float(y[kept].mean())
        return replace(
            self,
            datasets=tuple(name for name in self.datasets if name not in datasets),
            points=self.points[kept],
            coefficients=np.linalg.solve(self._covariance[np.ix_(kept, kept)], (y[kept] - mean) / self.unit),
            mean=mean,
        )

    def _kernel(self, a: Floats, b: Floats) -> Floats:
        squared = ((a[:, None] - b) ** 2).sum(axis=2)
        near = self.amplitude**2 * np.exp(-squared / (2 * self.length**2))
        kernel: Floats = near + self.slope**2 * (1 + a @ b.T)
        return kernel

    @property
    def _covariance(self) -> Floats:
        """(known, known) of the training datasets' numbers."""
        covariance: Floats = self._kernel(self.points, self.points) + self.noise * np.eye(len(self.points))
        return covariance

    @cached_property
    def _root(self) -> Floats:
        """(known, known) Cholesky factor of that covariance."""
        return np.asarray(np.linalg.cholesky(self._covariance), np.float64)


@dataclass(frozen=True, kw_only=True)
class OwnUnit:
    """Brings scores on a new dataset to the unit of the measure."""

    link: LinkName
    used: tuple[str, ...]
    """Features, of those of `_features`."""
    usual: Annotated[Floats, "q"]
    """Values for missing features."""
    centre: Annotated[Floats, "q"]
    scale: Annotated[Floats, "q"]
    level: NumberOfDataset
    log_slope: NumberOfDataset
    log_gain: NumberOfDataset | None
    """None where nothing was repeated on more rows."""
    usual_rows: float
    """Largest training size among the runs that level and slope were learned from."""
    most_rows: float
    """Most rows that runs were repeated on."""
    judged: Annotated[tuple[str, ...], "judged"]
    """Keys of training datasets, one for each number of rows that its runs were fitted on."""
    log_rows: Annotated[Floats, "judged"]
    """Logarithm of the number of rows of each."""
    missed: Annotated[Floats, "judged"]
    """Standard deviations of the level by which the best of these runs is missed without the dataset's
    family."""

    @property
    def qualities(self) -> tuple[str, ...]:
        """Meta-features that the level depends on."""
        return NUMBER_QUALITIES if set(_OF_NUMBERS) & set(self.used) else QUALITIES

    def without(self, datasets: Collection[str]) -> OwnUnit | None:
        """What is known without the values of these datasets; None where too few others are.

        Kernels, links and scales of features stay, and how far predictions were off on the others.
        """
        kept = np.array([name not in datasets for name in self.judged], dtype=bool)
        level = self.level.without(datasets)
        if len(level.datasets) < _FEWEST_DATASETS:
            return None
        more = self.log_gain
        if more is not None and len(set(more.datasets) - set(datasets)) < _FEWEST_DATASETS:
            more = None
        return replace(
            self,
            level=level,
            log_slope=self.log_slope.without(datasets),
            log_gain=None if more is None else more.without(datasets),
            judged=tuple(name for name in self.judged if name not in datasets),
            log_rows=self.log_rows[kept],
            missed=self.missed[kept],
        )

    def expect(self, scores: Floats, metafeatures: pd.Series, rows: float | None = None) -> ValueInterval:
        """Values of configurations whose expected scores are (n,) `scores`, fitted on `rows` (None: all)."""
        instances = float(metafeatures.get("NumberOfInstances", np.nan))
        rows = instances if rows is None else rows
        known = _features(metafeatures.to_frame().T)[list(self.used)].to_numpy(np.float64)[0]
        x = standardized(np.where(np.isnan(known), self.usual, known), self.centre, self.scale)
        level, std = self.level.predict(x)
        z = level + np.exp(self.log_slope.predict(x)[0]) * (scores - _ANCHOR)
        if self.log_gain is not None:
            more = min(rows, self.most_rows) / min(instances, self.usual_rows)
            z += np.exp(self.log_gain.predict(x)[0]) * np.log(max(more, 1.0))
        off = std * self._missed_near(rows)
        back = LINKS[self.link].to_values
        return ValueInterval(back(z), back(z - off), back(z + off))

    def _missed_near(self, rows: float) -> float:
        """Largest error of four in five training datasets with a similar number of rows."""
        far = np.nan_to_num(np.abs(self.log_rows - np.log(max(rows, 1.0))))
        near = np.argsort(far, kind="stable")[: max(int(_NEAR * len(far)), _FEWEST_DATASETS)]
        return float(np.quantile(self.missed[near], 0.8 * (1 + 1 / len(near))))  # the new one is one more


def learn_own_unit(data: TrainingData, rows: Positions, scores: Floats, expected: Floats) -> OwnUnit | None:
    """Learn from runs; None where they are on too few datasets, or no feature tells these apart.

    Args:
        rows: (e,) positions of runs in `data`.
        scores: (e,) of these.
        expected: (e,) what was expected of each without its family.
    """
    to_z = LINKS[data.link].to_z
    runs = _runs(data, rows, scores, expected)
    lines = _lines(runs, to_z(data.values[rows]))
    if len(lines) < _FEWEST_DATASETS:
        return None
    features = _features(data.metafeatures.iloc[lines.index])
    features = features.loc[:, (2 * features.notna().sum() >= len(features)) & (features.std() > 1e-9)]
    if not len(features.columns):
        return None
    usual = features.median()
    filled = features.fillna(usual).to_numpy(np.float64)
    centre, scale = centre_and_spread(filled)
    X = standardized(filled, centre, scale)
    families = data.families[lines.index]
    names = data.metafeatures.index[lines.index]
    level, missed_level, std = _learn_number(names, X, lines["level"].to_numpy(), families)
    log_slope, missed_slope, _ = _learn_number(names, X, lines["log_slope"].to_numpy(), families)
    lines = lines.assign(
        level=lines["level"] - missed_level, log_slope=lines["log_slope"] - missed_slope, std=std
    )
    more = _more_rows(data, runs, to_z).join(lines[["level", "log_slope", "std"]], on="dataset", how="inner")
    log_gain = None
    if len(more) >= _FEWEST_DATASETS:
        place = lines.index.get_indexer(pd.Index(more["dataset"]))
        log_gain, missed_gain, _ = _learn_number(
            names[place], X[place], more["log_gain"].to_numpy(), families[place]
        )
        more["level"] += np.exp(more["log_gain"] - missed_gain) * more["log_ratio"]
    judged = pd.concat([lines.assign(dataset=lines.index), more if log_gain is not None else more.iloc[:0]])
    without = judged["level"] + np.exp(judged["log_slope"]) * (judged["best"] - _ANCHOR)
    return OwnUnit(
        link=data.link,
        used=tuple(features.columns),
        usual=usual.to_numpy(np.float64),
        centre=centre,
        scale=scale,
        level=level,
        log_slope=log_slope,
        log_gain=log_gain,
        usual_rows=float(lines["rows"].max()),
        most_rows=float(judged["rows"].max()),
        judged=tuple(data.metafeatures.index[judged["dataset"].to_numpy(np.intp)]),
        log_rows=np.log(judged["rows"].to_numpy(np.float64)),
        missed=(np.abs(judged["reached"] - without) / judged["std"]).to_numpy(np.float64),
    )


def _runs(data: TrainingData, rows: Positions, scores: Floats, expected: Floats) -> pd.DataFrame:
    """The runs at `rows`, by their position in `data`: dataset, rows (fitted on), score, expected."""
    instances = np.asarray(data.sizes.rows)[rows]
    fitted_on = data.train_rows[rows]
    return pd.DataFrame(
        {
            "dataset": data.dataset[rows],
            "rows": np.where(np.isnan(fitted_on), instances, fitted_on),
            "score": scores,
            "expected": expected,
        },
        index=rows,
    )


def _lines(runs: pd.DataFrame, z: Floats) -> pd.DataFrame:
    """The line of each dataset that has enough good runs, and its run of which most is expected.

    Columns: level, log_slope; rows (that runs were fitted on), best (what is expected of that run), reached
    (its z).
    """
    lines = {}
    for dataset, own in runs.assign(z=z).groupby("dataset"):
        upper = own[own["score"] > 0]
        if len(upper) >= _FEWEST_RUNS and np.ptp(upper["score"]) > 0:
            slope, level = np.polyfit(upper["score"] - _ANCHOR, upper["z"], 1)
            best = own.iloc[int(own["expected"].argmax())]
            log_slope = np.log(max(slope, LEAST))
            lines[dataset] = level, log_slope, own["rows"].median(), best["expected"], best["z"]
    columns = ["level", "log_slope", "rows", "best", "reached"]
    return pd.DataFrame.from_dict(lines, orient="index", columns=columns, dtype=np.float64)


def _more_rows(data: TrainingData, runs: pd.DataFrame, to_z: Callable[[Floats], Floats]) -> pd.DataFrame:
    """What runs gained where they were repeated on more rows.

    Columns: dataset, rows, log_gain, log_ratio (of the rows), best, reached; as in `_lines`.
    """
    larger = data.larger
    pairs = pd.DataFrame(
        {
            "more": larger.train_rows,
            "z": to_z(larger.values),
            "gained": to_z(larger.values) - to_z(data.values[larger.repeated]),
            "run": larger.repeated,
        }
    ).join(runs, on="run", how="inner")
    pairs = pairs[pairs["more"] > pairs["rows"]]
    found = []
    for _, own in pairs.groupby(["dataset", "more"]):
        dataset, more = int(own["dataset"].iloc[0]), float(own["more"].iloc[0])
        upper = own[own["score"] > 0]
        if len(upper) >= _FEWEST_RUNS:
            log_ratio = float(np.log(more / own["rows"].median()))
            log_gain = float(np.log(max(upper["gained"].median() / log_ratio, LEAST)))
            best = own.iloc[int(own["expected"].argmax())]
            found.append((dataset, more, log_gain, log_ratio, best["expected"], best["z"]))
    return pd.DataFrame(found, columns=["dataset", "rows", "log_gain", "log_ratio", "best", "reached"])


def _features(metafeatures: pd.DataFrame) -> pd.DataFrame:
    """(d, features) of datasets, (d, qualities), on scales without bounds; NaN where unknown."""
    known = metafeatures.reindex(columns=list({*QUALITIES, *NUMBER_QUALITIES})).astype(np.float64)
    good = {name: known[name] if name.endswith("AUC") else 1 - known[name] for name in _LANDMARKERS}
    with np.errstate(divide="ignore", invalid="ignore"):
        features = {name: logit(share.to_numpy()) for name, share in good.items()} | {
            "largest class": logit(known["MajorityClassPercentage"].to_numpy() / 100),
            "rows": np.log(known["NumberOfInstances"].to_numpy()),
            "attributes": np.log(known["NumberOfFeatures"].to_numpy()),
            "classes": np.log(known["NumberOfClasses"].to_numpy()),
            "numeric": (known["NumberOfNumericFeatures"] / known["NumberOfFeatures"]).to_numpy(),
            **{name: np.log(np.maximum(1 - known[name].to_numpy(), LEAST)) for name in _OF_NUMBERS},
        }
    return pd.DataFrame(features, index=known.index).replace([np.inf, -np.inf], np.nan)


def _learn_number(
    datasets: pd.Index, X: Floats, y: Floats, families: Positions
) -> tuple[NumberOfDataset, Floats, Floats]:
    """The process; what is missed on each dataset without its family, and its standard deviation, (d,)."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

    mean, unit = float(y.mean()), float(max(y.std(), 1e-9))
    kernel = (
        ConstantKernel(1.0) * RBF(np.sqrt(X.shape[1]))
        + ConstantKernel(0.1) * DotProduct(1.0, "fixed")
        + WhiteKernel(0.1, (1e-3, 10.0))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a part that explains nothing vanishes
        some = evenly_spaced(len(y), _MOST_COMPARED)
        process = GaussianProcessRegressor(kernel, random_state=0)
        learned = process.fit(X[some], ((y - mean) / unit)[some]).kernel_
    near, linear = learned.k1.k1, learned.k1.k2
    number = NumberOfDataset(
        datasets=tuple(datasets),
        points=X,
        coefficients=np.linalg.solve(learned(X), (y - mean) / unit),
        amplitude=float(np.sqrt(near.k1.constant_value)),
        length=float(near.k2.length_scale),
        slope=float(np.sqrt(linear.k1.constant_value)),
        noise=float(learned.k2.noise_level),
        mean=mean,
        unit=unit,
    )
    missed, variance = missed_without_families(learned(X), (y - mean) / unit, families)
    return number, unit * missed, unit * np.sqrt(variance)
