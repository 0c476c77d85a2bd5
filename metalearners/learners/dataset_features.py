"""Features of datasets, from their meta-features, on comparable scales.

Published qualities are not comparable: an error rate of 0.3 is good if the largest class has 10 % of the
rows, and bad if it has 70 %. Each group below describes one aspect; its weight is learned.

    sizes       log rows, log attributes, log classes, share of numeric attributes, share of the largest class
    balance     log rows of the smallest class, log rows per attribute, log rows per class, rows with gaps
    errors      error rate of each landmarker over that of always predicting the largest class
    contrasts   differences of two such errors: whether distances, deep trees, all attributes, ... help
    relative    relative landmarkers, unchanged

A numeric target has these features besides balance, errors and contrasts:

    target              distribution of the target
    correlations        how strongly single attributes correlate with the target
    target errors       R2 of each landmarker
    target contrasts    differences of two such R2, and the gain from a logarithm of the target

Notation
    d         datasets
    q         features of a group that some training dataset has
    u         (d, q) features, converted to normal scores of their ranks among the training datasets, so that
              scales and outliers have no influence; 0 where missing
    D         (d, d') mean squared difference of u between datasets, over the features of a group
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import numpy.typing as npt
import pandas as pd

from warehouse.support.arrays import Flags, Floats, Positions
from warehouse.vocabulary.qualities import GROUPS

_ERRORS = tuple(name for name in GROUPS["landmarkers"] if name.endswith("ErrRate"))
_CONTRASTS = (
    ("kNN1N", "J48.0001."),
    ("CfsSubsetEval_NaiveBayes", "NaiveBayes"),
    ("DecisionStump", "J48.0001."),
    ("NaiveBayes", "J48.0001."),
    ("REPTreeDepth3", "J48.0001."),
)
_SMALLEST_BASE = 1e-3  # least error rate to divide by


def _sizes(of: Callable[[str], Floats]) -> dict[str, Floats]:
    n, p, classes = (of(f"NumberOf{what}") for what in ("Instances", "Features", "Classes"))
    return {
        "rows": np.log(n),
        "attributes": np.log(p),
        "classes": np.log(classes),
        "numeric": of("NumberOfNumericFeatures") / p,
        "largest class": of("MajorityClassPercentage"),
    }


def _balance(of: Callable[[str], Floats]) -> dict[str, Floats]:
    n, p, classes = (of(f"NumberOf{what}") for what in ("Instances", "Features", "Classes"))
    return {
        "rows of the smallest class": np.log1p(n * of("MinorityClassPercentage") / 100),
        "rows per attribute": np.log(n / p),
        "rows per class": np.log(n / classes),
        "rows with gaps": of("NumberOfInstancesWithMissingValues") / n,
    }


def _errors(of: Callable[[str], Floats]) -> dict[str, Floats]:
    base = np.maximum(1 - of("MajorityClassPercentage") / 100, _SMALLEST_BASE)
    return {name: of(name) / base for name in _ERRORS}


def _contrasts(of: Callable[[str], Floats]) -> dict[str, Floats]:
    error = _errors(of)
    return {f"{a} less {b}": error[f"{a}ErrRate"] - error[f"{b}ErrRate"] for a, b in _CONTRASTS}


def _as_they_are(names: Sequence[str]) -> Callable[[Callable[[str], Floats]], dict[str, Floats]]:
    return lambda of: {name: of(name) for name in names}


FEATURE_GROUPS: Mapping[str, Callable[[Callable[[str], Floats]], dict[str, Floats]]] = {
    "sizes": _sizes,
    "balance": _balance,
    "contrasts": _contrasts,
    "errors": _errors,
    "relative": _as_they_are(GROUPS["relative"]),
}
"""Features of each group, (d,) each, computed by a function from quality to its values, (d,)."""

_R2 = tuple(name for name in GROUPS["target_landmarkers"] if name.endswith("R2"))
_OF_NUMBERS = {
    "balance": {"target": GROUPS["target"], "correlations": GROUPS["target_correlations"]},
    "errors": {"target errors": _R2},
    "contrasts": {"target contrasts": tuple(n for n in GROUPS["target_landmarkers"] if n not in _R2)},
}
NUMBER_GROUPS = {
    group: _as_they_are(names) for groups in _OF_NUMBERS.values() for group, names in groups.items()
}
"""The same for numeric targets."""
_ALL_GROUPS = {**FEATURE_GROUPS, **NUMBER_GROUPS}


def with_number_groups(groups: Sequence[str]) -> tuple[str, ...]:
    """These groups, and their counterparts for numeric targets; a dataset has one or the other."""
    return (*groups, *(of_numbers for group in groups for of_numbers in _OF_NUMBERS.get(group, ())))


_COUNTS = (
    "NumberOfInstances",
    "NumberOfFeatures",
    "NumberOfClasses",
    "NumberOfNumericFeatures",
    "NumberOfInstancesWithMissingValues",
)
QUALITIES: tuple[str, ...] = (
    *_COUNTS,
    "MajorityClassPercentage",
    "MinorityClassPercentage",
    *_ERRORS,
    *GROUPS["relative"],
)
"""Meta-features that the features are computed from."""
NUMBER_QUALITIES: tuple[str, ...] = (
    *_COUNTS,
    *(name for groups in _OF_NUMBERS.values() for names in groups.values() for name in names),
    *GROUPS["relative"],
)
"""The same for numeric targets."""


@dataclass(frozen=True)
class Descriptions:
    """The training datasets as points, and how to place a new one among them."""

    groups: Annotated[tuple[str, ...], "groups"]
    """Groups of meta-features that vary over the training datasets."""
    sorted_values: Annotated[Floats, "q known"]
    """Each feature's values on the datasets that define ranks, sorted, NaN last."""
    used: Annotated[npt.NDArray[np.bool_], "features"]
    """Whether each meta-feature of `groups` varies over the training datasets."""
    group_of: Annotated[Positions, "q"]
    """Position of each feature's group in `groups`."""
    points: Annotated[Floats, "d q"]
    """The training datasets."""

    def __post_init__(self) -> None:
        if not set(self.groups) <= _ALL_GROUPS.keys():
            raise ValueError("there is an unknown group of meta-features")
        if self.used.sum() != len(self.group_of):
            raise ValueError("the features of datasets do not fit their groups")

    @property
    def qualities(self) -> tuple[str, ...]:
        """Meta-features that describe a dataset."""
        return NUMBER_QUALITIES if NUMBER_GROUPS.keys() & set(self.groups) else QUALITIES

    def place(self, metafeatures: pd.Series) -> Floats:
        """(all q,) u of a dataset."""
        features, _ = _features(metafeatures.to_frame().T, self.groups)
        u: Floats = _normal_scores(features[:, self.used], self.sorted_values)[0]
        return u

    def features(self, metafeatures: pd.DataFrame) -> pd.DataFrame:
        """(d, q) feature values by name, before conversion to normal scores.

        Args:
            metafeatures: (d, qualities)
        """
        values, _ = _features(metafeatures, self.groups)
        nothing = np.empty(0)
        names = [name for group in self.groups for name in _ALL_GROUPS[group](lambda _: nothing)]
        kept = [name for name, used in zip(names, self.used, strict=True) if used]
        return pd.DataFrame(values[:, self.used], index=metafeatures.index, columns=kept)

    def distances(self, u: Floats) -> Floats:
        """(groups, d) D between `u`, (all q,), and the training datasets."""
        squared = (self.points - u) ** 2
        by_group = [squared[:, self.group_of == group].mean(axis=1) for group in range(len(self.groups))]
        return np.array(by_group).reshape(len(self.groups), len(self.points))

    def of(self, datasets: Flags) -> Descriptions:
        """Only these training datasets, (d,); ranks stay those among all described datasets."""
        return replace(self, points=self.points[datasets])

    def own_distances(self) -> Floats:
        """(groups, d, d) D between the training datasets."""
        d = len(self.points)
        return (
            np.array([self.distances(u) for u in self.points]).reshape(d, len(self.groups), d).swapaxes(0, 1)
        )


def describe(metafeatures: pd.DataFrame, groups: Sequence[str]) -> Descriptions:
    """Learn scales from the training datasets, (d, qualities).

    Drops features that are constant or that fewer than half of the datasets have.
    """
    features, of_group = _features(metafeatures, groups)
    present = ~np.isnan(features)
    varies = np.array([len(np.unique(column[~np.isnan(column)])) > 1 for column in features.T], dtype=bool)
    useful = varies & (2 * present.sum(axis=0) >= len(metafeatures))
    kept = [group for number, group in enumerate(groups) if useful[of_group == number].any()]
    of_kept = np.isin(of_group, [list(groups).index(group) for group in kept])
    used = useful[of_kept]
    features, of_group = features[:, of_kept][:, used], of_group[of_kept][used]
    sorted_values = np.sort(features.T, axis=1)
    return Descriptions(
        tuple(kept),
        sorted_values,
        used,
        np.array([kept.index(groups[number]) for number in of_group], dtype=np.intp),
        _normal_scores(features, sorted_values),
    )


def _features(metafeatures: pd.DataFrame, groups: Sequence[str]) -> tuple[Floats, Positions]:
    """(d, all features) of these groups, NaN where undefined, and the group position of each feature."""
    nothing = np.full(len(metafeatures), np.nan)

    def of(quality: str) -> Floats:
        if quality not in metafeatures:
            return nothing
        values: Floats = metafeatures[quality].to_numpy(np.float64)
        return values

    columns, of_group = [], []
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for number, group in enumerate(groups):
            for column in _ALL_GROUPS[group](of).values():
                columns.append(np.where(np.isfinite(column), column, np.nan))
                of_group.append(number)
    stacked = np.column_stack(columns) if columns else np.empty((len(metafeatures), 0))
    return stacked, np.array(of_group, dtype=np.intp)


def _normal_scores(features: Floats, sorted_values: Floats) -> Floats:
    """(d, q) normal scores of the ranks of `features` among the training datasets; 0 where missing."""
    from scipy.special import ndtri

    u = np.zeros_like(features)
    for j, (column, known) in enumerate(zip(features.T, sorted_values, strict=True)):
        values = known[~np.isnan(known)]
        place = (values.searchsorted(column) + values.searchsorted(column, "right")) / 2
        share = np.clip(place, 0.5, len(values) - 0.5) / len(values)
        u[:, j] = np.where(np.isnan(column), 0.0, ndtri(share))
    return u
