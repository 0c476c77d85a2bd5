"""Plain names of meta-features, and their values in units that a reader can check."""

from __future__ import annotations

import numpy as np
import pandas as pd

from warehouse.vocabulary.qualities import (
    LANDMARKER_LEARNERS,
    QUALITIES,
    RELATIVE_PAIRS,
    TARGET_LANDMARKER_PAIRS,
    TARGET_LANDMARKERS,
)
from warehouse.vocabulary.task_types import REGRESSION

_GROUPS = {
    "sizes": "its size",
    "errors": "how well simple models do",
    "contrasts": "which simple models do better",
    "relative": "what simple models gain from flexibility",
    "target": "the distribution of its target",
    "correlations": "how single columns go with its target",
    "target errors": "how well simple models do",
    "target contrasts": "which simple models do better",
}
_SHARES = {
    "numeric": "share of numeric columns",
    "largest class": "share of the largest class",
    "rows with gaps": "share of rows with gaps",
}
_COUNTS = {
    "rows": "rows",
    "attributes": "columns",
    "classes": "classes",
    "rows of the smallest class": "rows of the smallest class",
    "rows per attribute": "rows per column",
    "rows per class": "rows per class",
}


_MODELS = {name: words.partition(" on ")[0].partition(" (")[0] for name, words in TARGET_LANDMARKERS.items()}
_GAINS = {
    **{
        pair: f"R2 of {_MODELS[first]} less that of {_MODELS[second]}"
        for pair, (first, second) in TARGET_LANDMARKER_PAIRS.items()
    },
    "LogRidgeGain": "R2 that ridge regression gains by the target's logarithm",
    "LogRidgeGainOfAbsoluteError": "absolute error that ridge regression saves by the target's logarithm",
}
_OF_NUMBERS = {
    **{quality.name: quality.definition for quality in QUALITIES if quality.task_type == REGRESSION},
    **{f"{name}R2": f"R2 of {words}" for name, words in _MODELS.items()},
    **_GAINS,
    "TargetSkewness": "skewness of the target",
    "TargetKurtosis": "excess kurtosis of the target",
    "TargetLogSkewness": "skewness of the target's logarithm",
    "TargetLogKurtosis": "excess kurtosis of the target's logarithm",
    "TargetIsWhole": "whole numbers as target (1 or 0)",
    "TargetShareOfOutliers": "share of outliers in the target",
    "TargetShareOfFarOutliers": "share of far outliers in the target",
    "TargetEntropy": "entropy of the target in ten quantile bins, in bits",
    "MaxTargetPearson": "largest Pearson correlation of a column with the target",
    "MeanTargetPearson": "mean Pearson correlation of columns with the target",
    "MaxTargetSpearman": "largest rank correlation of a column with the target",
    "MeanTargetSpearman": "mean rank correlation of columns with the target",
    "MaxTargetCorrelationRatio": "largest correlation ratio of a category with the target",
    "MeanTargetCorrelationRatio": "mean correlation ratio of categories with the target",
}
"""Titles of the meta-features of numeric targets."""


def in_words(group: str, balance: str) -> str:
    """A group of meta-features (`metalearners.learners.dataset_features`) in plain words.

    Args:
        balance: the name of the group `balance` (`recommend.explaining.target_words`).
    """
    return balance if group == "balance" else _GROUPS.get(group, group)


def without_target(features: pd.DataFrame) -> pd.DataFrame:
    """Features of datasets with the target not counted as a column, as OpenML counts it.

    Args:
        features: (d, features) of `metalearners.learners.dataset_features`.
    """
    if "attributes" not in features:
        return features
    columns = np.exp(features["attributes"])
    others = np.maximum(columns - 1, 1)
    changed = {"attributes": np.log(others)}
    if "numeric" in features:
        changed["numeric"] = np.minimum(features["numeric"] * columns / others, 1)
    if "rows per attribute" in features:
        changed["rows per attribute"] = features["rows per attribute"] + np.log(columns / others)
    return features.assign(**changed)


def title(name: str) -> str:
    """The plain name of a feature of datasets."""
    if name in _SHARES or name in _COUNTS:
        return {**_SHARES, **_COUNTS}[name]
    if name in RELATIVE_PAIRS:
        return f"gain of {RELATIVE_PAIRS[name]}"
    if name in _OF_NUMBERS:
        return _OF_NUMBERS[name]
    if name.endswith("ErrRate"):
        return f"errors of {_learner(name.removesuffix('ErrRate'))}"
    first, is_contrast, second = name.partition(" less ")
    return f"errors of {_learner(first)} less those of {_learner(second)}" if is_contrast else name


def shown(name: str, value: float) -> str:
    """A feature's value, as `without_target` returns it, in a unit that a reader can check.

    Errors are in per cent of those of always predicting the largest class.
    """
    if name in _COUNTS:
        count = np.expm1(value) if name == "rows of the smallest class" else np.exp(value)
        return f"{count:,.0f}" if count >= 10 else f"{count:.2g}"
    if name == "largest class":
        return f"{value:.0f} %"
    if name in _SHARES:
        return f"{100 * value:.0f} %"
    if name in RELATIVE_PAIRS or name in _GAINS:
        return f"{value:+.3f}"
    if name in _OF_NUMBERS:
        return f"{value:.3f}"
    return f"{round(100 * value) + 0:+d} %" if " less " in name else f"{100 * value:.0f} %"


def _learner(name: str) -> str:
    words = LANDMARKER_LEARNERS.get(name, name)
    for short in ("DecisionStump", "NaiveBayes", "kNN1N"):  # which definitions refer to
        if words.startswith(f"{short} on"):
            return words.replace(short, _SHORT[short], 1).replace(
                "that CFS selects", "that are correlated with the class"
            )
    return _SHORT.get(name, words)


_SHORT = {
    "DecisionStump": "a tree of one split",
    "NaiveBayes": "naive Bayes",
    "kNN1N": "the nearest neighbour",
    "J48.00001.": "a strongly pruned tree",
    "J48.0001.": "a pruned tree",
    "J48.001.": "a lightly pruned tree",
}
