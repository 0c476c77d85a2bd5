"""Groups `target` and `target_correlations`: distribution and correlations of a numeric target.

Everything is computed from t, the target scaled to [0, 1], and so does not depend on its unit or origin.

Notation
    n, m    rows of the dataset, of the sample
    t       (n,) or (m,) target from 0 to 1
    r       correlation of an attribute with t
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ingest.metafeatures.columns import entropy, skewness_and_kurtosis
from ingest.metafeatures.prepared import CONSTANT_TARGET, Prepared, average_ranks, quantile_bins
from ingest.metafeatures.values import Values
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.qualities import GROUPS

_OUTLIER, _FAR_OUTLIER = 1.5, 3.0  # interquartile ranges beyond a quartile (Tukey 1977)
_MOST_STEPS = 10_000
_SAME_PLACE = 1e-5  # steps from a multiple of the step
_ROUNDING = 1e-9  # tolerance at limits


def target(prepared: Prepared) -> Values:
    """The distribution of a numeric target."""
    t = prepared.t
    if not np.ptp(t):
        return dict.fromkeys(GROUPS["target"], CONSTANT_TARGET)
    skewness, kurtosis = skewness_and_kurtosis(t)
    log_skewness, log_kurtosis = skewness_and_kurtosis(np.log1p(t / prepared.log_unit))
    few = "there are too few rows"
    distinct, counts = np.unique(t, return_counts=True)
    return {
        "TargetSkewness": few if math.isnan(skewness) else skewness,
        "TargetKurtosis": few if math.isnan(kurtosis) else kurtosis,
        "TargetLogSkewness": few if math.isnan(log_skewness) else log_skewness,
        "TargetLogKurtosis": few if math.isnan(log_kurtosis) else log_kurtosis,
        "TargetShareOfMostFrequent": float(counts.max()) / len(t),
        "TargetShareOfLowest": float(counts[0]) / len(t),
        "TargetDistinctValuesPerRow": len(distinct) / len(t),
        "TargetIsWhole": float(_has_step(distinct)),
        "TargetShareOfOutliers": _share_beyond(t, _OUTLIER),
        "TargetShareOfFarOutliers": _share_beyond(t, _FAR_OUTLIER),
        "TargetEntropy": entropy(np.bincount(quantile_bins(t))),
    }


def target_correlations(prepared: Prepared) -> Values:
    """Correlations of the sample's attributes with the target; missing numbers are left out pairwise."""
    sample = prepared.sample
    if not np.ptp(sample.t):
        return dict.fromkeys(GROUPS["target_correlations"], CONSTANT_TARGET)
    pearson, spearman = [], []
    ranks = average_ranks(sample.t)
    for x in sample.numbers.T:
        present = ~np.isnan(x)
        pearson.append(_strength(x[present], sample.t[present]))
        ranks_present = ranks if present.all() else average_ranks(sample.t[present])
        spearman.append(_strength(average_ranks(x[present]), ranks_present))
    ratios = [_correlation_ratio(codes, sample.t) for codes in sample.categories.T]
    return (
        _largest_and_mean("Pearson", pearson, "numeric")
        | _largest_and_mean("Spearman", spearman, "numeric")
        | _largest_and_mean("CorrelationRatio", ratios, "nominal")
    )


def _share_beyond(t: Floats, ranges: float) -> float:
    """Share of the rows more than this many interquartile ranges below the first or above the third quartile.

    Quartiles are those of `ingest.metafeatures.values`.
    """
    low, high = np.quantile(t, [0.25, 0.75], method="weibull")
    margin = ranges * (high - low) + _ROUNDING
    return float(((t < low - margin) | (t > high + margin)).mean())


def _has_step(distinct: Floats) -> bool:
    """Whether values, sorted from 0 to 1, are multiples of one step, at least 1 / `_MOST_STEPS`.

    The number of steps is a common denominator of the values, built up one value at a time.
    """
    steps = 1
    while True:
        places = distinct * steps
        between = places[np.abs(places - np.round(places)) > _SAME_PLACE]
        if not len(between):
            return True
        factor = Fraction(between[0]).limit_denominator(_MOST_STEPS // steps).denominator
        if factor == 1:
            return False
        steps *= factor


def _strength(x: Floats, t: Floats) -> float:
    """|r|; 0 if one of them is constant."""
    x, t = x - x.mean(), t - t.mean()
    norm = math.sqrt(float(x @ x)) * math.sqrt(float(t @ t))
    return min(abs(float(x @ t)) / norm, 1.0) if norm else 0.0


def _correlation_ratio(codes: Positions, t: Floats) -> float:
    """Square root of Kelley's epsilon squared (1935), at least 0; missing (-1) is a category of its own."""
    counts = np.bincount(codes + 1)
    occurring = np.count_nonzero(counts)
    if occurring == len(t):
        return 0.0
    means = np.bincount(codes + 1, weights=t) / np.maximum(counts, 1)
    within = float(((t - means[codes + 1]) ** 2).sum()) / (len(t) - occurring)
    return math.sqrt(max(1 - within / float(t.var(ddof=1)), 0.0))


def _largest_and_mean(what: str, strengths: Sequence[float], kind: str) -> Values:
    if not strengths:
        return dict.fromkeys((f"MaxTarget{what}", f"MeanTarget{what}"), f"no {kind} attribute varies")
    return {f"MaxTarget{what}": max(strengths), f"MeanTarget{what}": sum(strengths) / len(strengths)}
