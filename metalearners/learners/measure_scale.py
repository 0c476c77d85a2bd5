"""Standard scores in the unit of the measure: level and spread of values on a new dataset.

The scores of landmarkers on a dataset nearly determine the level of good configurations. On each training
dataset a line is fitted to the values of the better half of the runs by their scores. Gaussian processes
predict its level and slope from meta-features, and also the gain from more rows, learned from runs repeated
on more rows. The error for the configuration with the best prediction, on held-out families, determines the
intervals.

Notation
    d         training datasets whose level is known
    v, z      values of the measure, larger is better; z = link(v), which is unbounded
    s         scores, comparable across datasets
    x         (q,) meta-features of a dataset, standardized
    level, slope    z = level + slope (s - 1)
    gain      increase of z when the training size is multiplied by e
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
"""Meta-features used to predict levels."""
NUMBER_QUALITIES = (*_SIZES[:-1], *_OF_NUMBERS)
"""Meta-features used to predict levels for regression."""
_ANCHOR = 1.0
"""Score at which the level is defined: that of a good configuration."""
_FEWEST_RUNS = 5  # of the better half, to fit a line
_FEWEST_DATASETS = 20
_MOST_COMPARED = 300
"""Most datasets to learn a process's kernel from; predictions use all."""
_NEAR = 0.2
"""Share of the training datasets, those with the most similar training sizes, to learn an interval from:
values vary more for small training sizes."""


@dataclass(frozen=True, kw_only=True)
class NumberOfDataset:
    """A Gaussian process over datasets: predicts a number of each dataset from x.

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
        """The process given the numbers of the other datasets, with the same kernel and noise."""
        kept = np.array([name not in datasets for name in self.datasets], dtype=bool)
        covariance = self._covariance
        y = self.mean + self.unit * (covariance @ self.coefficients)
        mean = float(y[kept].mean())
        return replace(
            self,
            datasets=tuple(name for name in self.datasets if name not in datasets),
            points=self.points[kept],
            coefficients=np.linalg.solve(covariance[np.ix_(kept, kept)], (y[kept] - mean) / self.unit),
            mean=mean,
        )

    def _kernel(self, a: Floats, b: Floats) -> Floats:
        squared = ((a[:, None] - b) ** 2).sum(axis=2)
        near = self.amplitude**2 * np.exp(-squared / (2 * self.length**2))
        kernel: Floats = near + self.slope**2 * (1 + a @ b.T)
        return kernel

    @property
    def _covariance(self) -> Floats:
        """(known, known) covariance of the training datasets' numbers."""
        covariance: Floats = self._kernel(self.points, self.points) + self.noise * np.eye(len(self.points))
        return covariance

    @cached_property
    def _root(self) -> Floats:
        """(known, known) Cholesky factor of the covariance."""
        return np.asarray(np.linalg.cholesky(self._covariance), np.float64)


@dataclass(frozen=True, kw_only=True)
class OwnUnit:
    """Converts scores on a new dataset to the unit of the measure."""

    link: LinkName
    used: tuple[str, ...]
    """Names of the features, among those of `_features`."""
    usual: Annotated[Floats, "q"]
    """Replacements of missing features."""
    centre: Annotated[Floats, "q"]
    scale: Annotated[Floats, "q"]
    level: NumberOfDataset
    log_slope: NumberOfDataset
    log_gain: NumberOfDataset | None
    """None if no runs were repeated on more rows."""
    usual_rows: float
    """Largest training size of the runs that level and slope were learned from."""
    most_rows: float
    """Largest training size of repeated runs."""
    judged: Annotated[tuple[str, ...], "judged"]
    """Keys of training datasets, once for each training size of their runs."""
    log_rows: Annotated[Floats, "judged"]
    """Logarithm of the training size."""
    missed: Annotated[Floats, "judged"]
    """Held-out error for the run with the best prediction, in standard deviations of the level."""

    @property
    def qualities(self) -> tuple[str, ...]:
        """Meta-features used to predict the level."""
        return NUMBER_QUALITIES if set(_OF_NUMBERS) & set(self.used) else QUALITIES

    def without(self, datasets: Collection[str]) -> OwnUnit | None:
        """The same without the values of these datasets; None if too few others are left.

        Kernels, links, scales of features and the errors on the other datasets stay.
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
        """Values of configurations with expected scores, (n,), at training size `rows` (None: all rows)."""
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
        """Largest error on four in five of the training datasets with the most similar training sizes."""
        far = np.nan_to_num(np.abs(self.log_rows - np.log(max(rows, 1.0))))
        near = np.argsort(far, kind="stable")[: max(int(_NEAR * len(far)), _FEWEST_DATASETS)]
        return float(np.quantile(self.missed[near], 0.8 * (1 + 1 / len(near))))  # plus the new dataset


def learn_own_unit(data: TrainingData, rows: Positions, scores: Floats, expected: Floats) -> OwnUnit | None:
    """Learn from runs; None if there are too few datasets, or no feature differs between them.

    Args:
        rows: (e,) positions of runs in `data`.
        scores: (e,) their scores.
        expected: (e,) their predictions without the dataset's family.
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
    """The runs at `rows`, by their position in `data`: dataset, rows (training size), score, expected."""
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
    """The line of each dataset with enough good runs, and its run with the best prediction.

    Columns: level, log_slope; rows (training size), best (that run's predicted score), reached (its z).
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
    """Gains of runs repeated on more rows.

    Columns: dataset, rows, log_gain, log_ratio (of training sizes), best, reached; as in `_lines`.
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
    """(d, features) of datasets, (d, qualities), on unbounded scales; NaN where unknown."""
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
    """The process; its error on each dataset without its family, and the standard deviation, (d,)."""
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
        warnings.simplefilter("ignore", ConvergenceWarning)  # kernels that explain nothing go to a bound
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
