"""Normalized accuracy, computed from stored accuracies and qualities.

Notation
    p        (classes,) shares of the classes
    chance   sum of p squared: the accuracy of guessing with the probabilities p
"""

import numpy as np
import pandas as pd

from warehouse.support.arrays import Floats


def chance_accuracy(qualities: pd.DataFrame) -> pd.Series:
    """Chance of each dataset, from its qualities (datasets x qualities); NaN where one is missing.

    Qualities give the sizes of the largest and the smallest class, and the entropy. With up to four classes
    this determines the distribution. With more, all classes between are assumed equal except one, which is
    larger by as much as the entropy requires.
    """
    needed = ["MajorityClassPercentage", "MinorityClassPercentage", "NumberOfClasses", "ClassEntropy"]
    percent, smallest_percent, classes, entropy = qualities.reindex(columns=needed).to_numpy(np.float64).T
    largest, smallest = percent / 100, smallest_percent / 100
    between = np.maximum(classes - 2, 0)
    rest = np.where(between > 0, np.maximum(1 - largest - smallest, 0), 0.0)
    left = entropy - _bits(largest) - _bits(smallest)
    # Bisection: the larger the share of that one class, the smaller the entropy.
    low, high = rest / np.maximum(between, 1), rest
    for _ in range(50):
        one = (low + high) / 2
        other = (rest - one) / np.maximum(between - 1, 1)
        too_even = _bits(one) + np.maximum(between - 1, 0) * _bits(other) > left
        low, high = np.where(too_even, one, low), np.where(too_even, high, one)
    others = np.maximum(between - 1, 0) * ((rest - low) / np.maximum(between - 1, 1)) ** 2
    chance = pd.Series(largest**2 + smallest**2 + low**2 + others, index=qualities.index)
    return chance.where(chance < 1)


def _bits(share: Floats) -> Floats:
    """Contribution of a class of this share to the entropy."""
    with np.errstate(divide="ignore", invalid="ignore"):
        bits: Floats = np.where(share > 0, -share * np.log2(share), 0 * share)
    return bits


def normalized_accuracy(runs: pd.DataFrame, qualities: pd.DataFrame) -> pd.DataFrame:
    """`runs` (with columns `value`, an accuracy, and `dataset`) with normalized values.

    Drops runs on datasets with unknown chance.
    """
    chance = runs["dataset"].map(chance_accuracy(qualities)).astype(float)
    normalized = runs.assign(value=(runs["value"] - chance) / (1 - chance))
    return normalized[chance.notna().to_numpy()].reset_index(drop=True)
