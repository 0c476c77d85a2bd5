"""The normalized accuracy, which follows from stored accuracies and qualities.

Notation
    p        (classes,) shares of the classes
    chance   sum of p squared: the accuracy of guessing with the probabilities p
"""

import numpy as np
import pandas as pd

from warehouse.support.arrays import Floats


def chance_accuracy(qualities: pd.DataFrame) -> pd.Series:
    """Chance of each dataset, from its qualities (datasets x qualities); NaN where one is missing.

    Qualities tell the largest and the smallest class, and the entropy of all. With up to four classes that is
    the distribution; with more, one of the classes between is taken to be as much larger than the others
    between, which are equal, as the entropy says.
    """
    needed = ["MajorityClassPercentage", "MinorityClassPercentage", "NumberOfClasses", "ClassEntropy"]
    percent, smallest_percent, classes, entropy = qualities.reindex(columns=needed).to_numpy(np.float64).T
    largest, smallest = percent / 100, smallest_percent / 100
    between = np.maximum(classes - 2, 0)
    rest = np.where(between > 0, np.maximum(1 - largest - smallest, 0), 0.0)
    left = entropy - _bits(largest) - _bits(smallest)
    # Bisection: the larger the share of one class of those between, the smaller the entropy.
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
    """`runs`, whose column `value` is an accuracy and `dataset` its dataset, with normalized values.

    Runs on datasets whose chance is unknown are left out.
    """
    chance = runs["dataset"].map(chance_accuracy(qualities)).astype(float)
    normalized = runs.assign(value=(runs["value"] - chance) / (1 - chance))
    return normalized[chance.notna().to_numpy()].reset_index(drop=True)
