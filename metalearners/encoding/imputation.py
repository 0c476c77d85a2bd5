"""Numbers for a hyperparameter's words on a given dataset (van Hoof's thesis, section 3.1.1).

`max_features="sqrt"` is a number once the dataset is known, and `max_features=3` means something else for 4
features than for 400. The rules convert each such parameter to one unit, so that its values can be compared
within and across datasets.

    parameter           unit                   words                               numbers
    max_features        fraction of features   sqrt = auto = sqrt(p)/p,            integers k: k/p
                                               log2 = log2(p)/p, None = 1
    max_depth           levels                 None = 20 (no limit)
    gamma               1 / squared distance   auto = scale = 1/p
    min_samples_leaf    rows                                                       fractions f < 1: ceil(f n)
    min_samples_split   rows                                                       fractions f < 1: ceil(f n)

Notation: p = number of features without the target, n = number of rows of the dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from metalearners.encoding.values import Kind, Values
from warehouse.vocabulary.table import split_name

NO_DEPTH_LIMIT = 20.0
"""Depth used for `max_depth=None` (thesis, Table 3.4)."""


@dataclass(frozen=True)
class DatasetSize:
    """Size of the dataset of each row of a matrix: one number for all, or arrays (m,).

    NaN where unknown; numbers that depend on it are then NaN, too.
    """

    rows: float | np.ndarray
    features: float | np.ndarray
    """Number of columns without the target."""

    @property
    def is_one(self) -> bool:
        """Whether all rows have datasets of one size."""
        return np.ndim(self.rows) == 0 and np.ndim(self.features) == 0

    def for_rows(self, m: int) -> DatasetSize:
        """The same size as arrays of length m.

        Raises:
            ValueError: it has arrays of another length.
        """
        rows, features = (
            np.broadcast_to(np.asarray(part, dtype=np.float64), (m,)) for part in (self.rows, self.features)
        )
        return DatasetSize(rows, features)


UNKNOWN_SIZE = DatasetSize(np.nan, np.nan)


@dataclass(frozen=True)
class Rule:
    """Conversion of one parameter's values to comparable numbers."""

    words: Mapping[str, Callable[[DatasetSize], np.ndarray]] = field(default_factory=dict)
    """Label -> its number, (m,)."""
    rescale: Callable[[Values, DatasetSize], np.ndarray] = lambda values, _: values.number
    """Converts plain numbers to the rule's unit, (m,)."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Old label -> current label."""


def _count_of_rows(values: Values, size: DatasetSize) -> np.ndarray:
    # scikit-learn takes the ceiling of fraction x rows for both parameters.
    is_fraction = ~values.integer & (values.number < 1)
    return np.where(is_fraction, np.ceil(values.number * size.rows), values.number)


def _one_over_features(size: DatasetSize) -> np.ndarray:
    return np.reciprocal(np.asarray(size.features, dtype=np.float64))


RULES: Mapping[str, Rule] = {
    "max_features": Rule(
        words={
            "sqrt": lambda size: np.sqrt(size.features) / size.features,
            "log2": lambda size: np.log2(size.features) / size.features,
            "None": lambda size: np.ones_like(size.features),
        },
        rescale=lambda values, size: np.where(values.integer, values.number / size.features, values.number),
        synonyms={"auto": "sqrt"},
    ),
    "max_depth": Rule(words={"None": lambda size: np.full_like(size.features, NO_DEPTH_LIMIT)}),
    # `scale` is 1 / (p x variance of the data); our flows scale the data to variance 1 before the kernel.
    "gamma": Rule(words={"auto": _one_over_features, "scale": _one_over_features}),
    "min_samples_leaf": Rule(rescale=_count_of_rows),
    "min_samples_split": Rule(rescale=_count_of_rows),
}
NO_RULE = Rule()


def rule_of(parameter: str) -> Rule:
    """The rule of a parameter, also of a nested one: `svm:gamma`, `base_estimator__max_depth`."""
    return RULES.get(split_name(parameter)[1].rpartition("__")[2], NO_RULE)


def with_todays_labels(values: Values, rule: Rule) -> Values:
    """`values` with old names of categories replaced by the current ones."""
    if not rule.synonyms:
        return values
    label = values.label
    for old, today in rule.synonyms.items():
        label = np.where(label == old, today, label)
    return replace(values, label=label)


def as_numbers(values: Values, rule: Rule, size: DatasetSize) -> np.ndarray:
    """The numbers for `values`, (m,); NaN for a word without a rule."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        numbers = np.where(values.kind == Kind.NUMBER, rule.rescale(values, size), np.nan)
        for word, number in rule.words.items():
            is_word = (values.kind == Kind.TEXT) | (values.kind == Kind.NONE)
            stands_for = is_word & (values.label == word)
            numbers = np.where(stands_for, number(size), numbers)
    return numbers
