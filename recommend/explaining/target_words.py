"""Wording about a dataset's target and about values of a measure, by task type."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset
from recommend.ranking.performance_forecast import PerformanceForecast
from recommend.ranking.target_kinds import IMBALANCED
from warehouse.support.arrays import Floats
from warehouse.support.text import counted
from warehouse.vocabulary.measures import (
    AUC,
    MAE,
    QUANTILES,
    RMSE,
    RRSE,
    larger_is_better,
    measure_title,
)
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

CautionKind = Literal[
    "reading", "outside", "imbalance", "few_rows", "leakage", "identifier", "dependence", "seeds"
]
FEW_ROWS = 500
"""Number of rows below which a caution mentions chance; set by hand."""
RARE = 10
"""Rows below which a class is missing from some of ten folds."""
DECISIVE = 0.5
"""Least share of the variance due to a hundredth of the rows that is worth a caution; set by hand."""
INTERVALS = 10
"""Number of intervals of the target in which rows are counted."""
IN_UNIT = {RMSE, MAE, "median_absolute_error", *(f"pinball_loss_{quantile:g}" for quantile in QUANTILES)}
"""Measures in the unit of the target."""


@dataclass(frozen=True)
class TargetWords(ABC):
    """Wording about the target of one dataset."""

    dataset: Dataset

    predicted: ClassVar[str]
    """The averaged predictions."""
    alike: ClassVar[str]
    """The outcome of two rows that agree."""
    units: ClassVar[str]
    """A sentence about the units of meta-features in an explanation."""
    balance: ClassVar[str]
    """The group of meta-features that relates rows to columns, and to classes if there are any."""

    @abstractmethod
    def summary(self) -> str:
        """The target in a few words, for the head of a printed recommendation."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """JSON values about the target, for a seeds file."""

    @abstractmethod
    def page_facts(self) -> dict[str, str]:
        """Facts about the target at the head of a page: title -> value."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Rows of each class, the largest first, or of each of some intervals of equal width."""

    @abstractmethod
    def cautions(self) -> Iterator[tuple[CautionKind, str]]:
        """Things to check about the target, each a sentence without its full stop."""

    @abstractmethod
    def told(self, share: float) -> str:
        """What a column tells about the target if it saves this share of the errors made without it."""

    def measure_remark(self, measure: str) -> str | None:  # noqa: ARG002
        """A remark on the default `measure` for a user who named none; None if unnecessary."""
        return None

    @abstractmethod
    def number(self, value: float) -> str:
        """An expected value of a measure."""

    @abstractmethod
    def measured(self, value: float) -> str:
        """A measured value of a measure."""

    @abstractmethod
    def gain(self, measure: str, promise: PerformanceForecast) -> str:
        """The gain of an expected value over the first reference; empty if unknown."""

    def other_gains(self, measure: str, promise: PerformanceForecast) -> dict[str, str]:  # noqa: ARG002
        """Title of each further known reference -> the gain over it."""
        return {}

    def beside(self, measure: str, promise: PerformanceForecast) -> str:  # noqa: ARG002
        """The expected value in a second common measure; empty if there is none."""
        return ""

    def elsewhere(self, measure: str, value: float) -> tuple[str, float]:
        """A value of the learned measure on another dataset, as the measure and the value to print."""
        return measure, value

    @abstractmethod
    def columns(self, measure: str) -> dict[str, str]:
        """Titles of a recommendation's columns about expected values -> their meaning.

        The columns of `other_gains` follow these if the table has room for them.
        """

    def cells(self, measure: str, promise: PerformanceForecast) -> tuple[str, ...]:
        """The cells of these columns."""
        return (
            self.number(promise.value),
            *self._range(measure, promise),
            self.gain(measure, promise),
            "" if promise.beats_default is None else f"{promise.beats_default:.0%}",
        )

    @abstractmethod
    def _range(self, measure: str, promise: PerformanceForecast) -> tuple[str, ...]:
        """The cells between the expected value and the gain."""


class ClassWords(TargetWords):
    """Words about classes."""

    predicted = "the probabilities that they predict"
    alike = "the same class"
    units = (
        "Errors are in per cent of the errors of always predicting the largest class; a gain is the "
        "difference of two accuracies. Both come from quick models that describe a dataset."
    )
    balance = "rows for each class and column"

    def summary(self) -> str:
        share = self.dataset.majority[1]
        return f"{counted(self.dataset.n_classes, 'classes')}, the largest with {share:.1%} of the rows"

    def facts(self) -> dict[str, Any]:
        return {"classes": self.dataset.n_classes, "majority_share": self.dataset.majority[1]}

    def page_facts(self) -> dict[str, str]:
        return {"classes": f"{self.dataset.n_classes:,}", "largest class": f"{self.dataset.majority[1]:.1%}"}

    def counts(self) -> dict[str, int]:
        return {str(name): int(count) for name, count in self.dataset.target.value_counts().items()}

    def cautions(self) -> Iterator[tuple[CautionKind, str]]:
        """Imbalance, rare classes, and the noise of an accuracy."""
        label, share = self.dataset.majority
        if share >= IMBALANCED:
            yield (
                "imbalance",
                f"{share:.1%} of the rows are of class {label!r}: always predicting it is as accurate; "
                f"AUC and the recall of rare classes say more",
            )
        counts = self.dataset.target.value_counts()
        rare = counts[counts < RARE]
        if len(rare):
            named = ", ".join(f"{str(label)!r} ({count})" for label, count in rare.iloc[:3].items())
            more = f" and {len(rare) - 3} more" if len(rare) > 3 else ""
            yield "few_rows", f"classes with very few rows: {named}{more}"
        rows = len(self.dataset.target)
        if rows < FEW_ROWS:
            # Half of the width of an 80 % interval of a share p = 0.8 of n rows: 1.28 sqrt(p (1 - p) / n).
            yield (
                "few_rows",
                f"{rows:,} rows: chance alone moves a measured accuracy of 0.80 by "
                f"{1.28 * (0.16 / rows) ** 0.5:.3f} up or down, so small differences mean nothing",
            )

    def told(self, share: float) -> str:
        label = self.dataset.majority[0]
        return f"every class ({share:.0%} of the errors of always predicting {label!r} vanish)"

    def measure_remark(self, measure: str) -> str | None:
        """A remark where classes are imbalanced."""
        label, share = self.dataset.majority
        if share < IMBALANCED:
            return None
        imbalance = f"{share:.1%} of the rows are of class {label!r}, and always predicting it is as accurate"
        if measure == AUC:
            return f"Measure: AUC, since {imbalance}; use --measure accuracy to rank by accuracy."
        title = measure_title(measure)
        return f"Measure: {title}, though {imbalance}: the warehouse has no runs with a better measure."

    def number(self, value: float) -> str:
        return f"{value:.3f}"

    def measured(self, value: float) -> str:
        return f"{value:.4f}"

    def gain(self, measure: str, promise: PerformanceForecast) -> str:  # noqa: ARG002
        """The difference in the measure."""
        return "" if promise.gain is None else f"{promise.gain:+z.3f}"

    def columns(self, measure: str) -> dict[str, str]:
        return {
            measure_title(measure): "expected value on unseen rows",
            "80 % range": "range of the value in 80 % of cases",
            "vs LightGBM": "difference from LightGBM with its default settings",
            "chance": "probability of being better than that default",
        }

    def _range(self, measure: str, promise: PerformanceForecast) -> tuple[str, ...]:  # noqa: ARG002
        return (f"{self.number(promise.low)}-{self.number(promise.high)}",)


class NumberWords(TargetWords):
    """Words about numbers."""

    predicted = "the numbers that they predict"
    alike = "nearly the same target"
    units = (
        "R2 is 1 for perfect predictions and 0 for always predicting the mean; a gain is the difference of "
        "two R2. They come from quick models that describe a dataset."
    )
    balance = "rows for each column"

    @property
    def _y(self) -> Floats:
        """(n,) the target."""
        return self.dataset.target.to_numpy(np.float64)

    def summary(self) -> str:
        low, middle, high = np.quantile(self._y, [0, 0.5, 1])
        return f"a number from {self.number(low)} to {self.number(high)}, median {self.number(middle)}"

    def facts(self) -> dict[str, Any]:
        y = self._y
        return {
            "target_mean": float(y.mean()),
            "target_std": float(y.std()),
            "target_range": [float(y.min()), float(y.max())],
        }

    def page_facts(self) -> dict[str, str]:
        y = self.dataset.target
        return {
            "mean of the target": self.number(float(y.mean())),
            "its standard deviation": self.number(float(y.std())),
        }

    def counts(self) -> dict[str, int]:
        counts, edges = np.histogram(self._y, bins=INTERVALS)
        ends = [self.number(edge) for edge in edges.tolist()]
        return {
            f"{low} to {high}": int(count) for low, high, count in zip(ends, ends[1:], counts, strict=False)
        }

    def cautions(self) -> Iterator[tuple[CautionKind, str]]:
        """A few rows that dominate squared errors, and the noise of R2."""
        y = self._y
        squared = np.sort((y - y.mean()) ** 2)
        top = squared[-max(len(y) // 100, 1) :].sum() / squared.sum()
        if top >= DECISIVE:
            yield (
                "imbalance",
                f"one row in a hundred makes {top:.0%} of the target's variance, so these decide RMSE "
                f"and R2; absolute errors (--measure mae) depend less on them",
            )
        if len(y) < FEW_ROWS:
            # Half of the width of an 80 % interval of R2 = 0.5 on n rows, to the first order:
            # 1.28 * 2 sqrt(R2) (1 - R2) / sqrt(n).
            yield (
                "few_rows",
                f"{len(y):,} rows: chance alone moves a measured R2 of 0.50 by {0.905 / len(y) ** 0.5:.2f} "
                f"up or down, so small differences mean nothing",
            )

    def told(self, share: float) -> str:
        return f"the target ({share:.0%} of the errors of not knowing it vanish)"

    def number(self, value: float) -> str:
        return _digits(value, 4)

    def measured(self, value: float) -> str:
        return _digits(value, 5)

    def gain(self, measure: str, promise: PerformanceForecast) -> str:
        """The error saved, in percent of the reference's; of R2, the difference."""
        return "" if promise.gain is None else _gain(measure, promise.value, promise.gain)

    def other_gains(self, measure: str, promise: PerformanceForecast) -> dict[str, str]:
        return {
            get_flow(flow).title: _gain(measure, promise.value, gain)
            for flow, gain in promise.other_gains.items()
        }

    def beside(self, measure: str, promise: PerformanceForecast) -> str:
        """R2 with its interval, beside a root mean squared error."""
        return "R2 {}, from {} to {}".format(*self._explained(promise)) if measure == RMSE else ""

    def elsewhere(self, measure: str, value: float) -> tuple[str, float]:
        """R2 if squared errors are learned, since other datasets have other units."""
        learned = REGRESSION.learned_measure(measure)
        return ("R2", 1 - value**2) if learned == RRSE else (learned, value)

    def columns(self, measure: str) -> dict[str, str]:
        """Expected value, R2 with its range or that of the value, and the gain over a default."""
        unit = f", in the unit of {self.dataset.target.name}" if measure in IN_UNIT else ""
        told = {measure_title(measure): f"expected value on unseen rows{unit}"}
        if measure == RMSE:
            told["R2"] = "share of the variance explained: 1 is perfect, 0 no better than the mean"
        return told | {
            f"80 % {'of R2' if measure == RMSE else 'range'}": "range of "
            f"{'R2' if measure == RMSE else 'the value'} in 80 % of cases",
            "vs LightGBM": "difference from LightGBM with its default settings"
            if larger_is_better(measure)
            else "error saved against LightGBM with its default settings, in percent of its error",
            "chance": "probability of being better than that default",
        }

    def _range(self, measure: str, promise: PerformanceForecast) -> tuple[str, ...]:
        explained: tuple[str, ...] = ()
        low, high = self.number(promise.low), self.number(promise.high)
        if measure == RMSE:
            value, low, high = self._explained(promise)
            explained = (value,)
        return (*explained, f"{low} to {high}" if low.startswith("-") else f"{low}-{high}")

    def _explained(self, promise: PerformanceForecast) -> tuple[str, str, str]:
        """R2 and its interval, from a root mean squared error."""
        spread = float(self._y.std())
        value, low, high = (
            f"{1 - (error / spread) ** 2:.3f}" for error in (promise.value, promise.high, promise.low)
        )
        return value, low, high


_WORDS: Mapping[TaskType, type[TargetWords]] = {CLASSIFICATION: ClassWords, REGRESSION: NumberWords}


def target_words(dataset: Dataset) -> TargetWords:
    """The wording for the dataset's target."""
    return _WORDS[dataset.task_type](dataset)


def _gain(measure: str, value: float, gain: float) -> str:
    reference = value + gain
    if larger_is_better(measure) or reference == 0:
        return f"{gain:+z.3f}"
    return f"{gain / reference:+z.1%}"


def _digits(value: float, n: int) -> str:
    """A number with its first `n` digits, or all before the point."""
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{n - 1}e}"
    places = n - 1 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{max(places, 0)}f}"
