"""Texts about a numeric target, and its default measure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset
from recommend.ranking.class_target import FEW_ROWS
from recommend.ranking.performance_forecast import PerformanceForecast
from warehouse.store import Warehouse
from warehouse.support.console import short
from warehouse.support.errors import BadOption
from warehouse.vocabulary.measures import (
    MAE,
    QUANTILES,
    R2,
    RMSE,
    RMSLE,
    RRSE,
    larger_is_better,
    measure_title,
)
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION

DECISIVE = 0.5
"""Share of the variance in a hundredth of the rows from which on these are mentioned; set by hand."""
INTERVALS = 10
"""Intervals of the target that rows are counted in."""
IN_UNIT = {RMSE, MAE, "median_absolute_error", *(f"pinball_loss_{quantile:g}" for quantile in QUANTILES)}
"""Measures in the unit of the target."""


@dataclass(frozen=True)
class NumberTarget:
    """The target kind of regression (`recommend.ranking.target_kinds`)."""

    dataset: Dataset

    defaults: ClassVar[tuple[str, ...]] = (
        "lightgbm_regressor",
        "catboost_regressor",
        "random_forest_regressor",
        "ridge",
    )

    references: ClassVar[tuple[str, ...]] = defaults[:2]

    predicted: ClassVar[str] = "the numbers that they predict"

    alike: ClassVar[str] = "nearly the same target"

    def check_measure(self, measure: str) -> None:
        name = self.dataset.target.name
        if measure in CLASSIFICATION.measures:
            raise BadOption(
                f"measure {measure!r} is of classes, and the target {name!r} is a number; use one of"
                f" {', '.join(REGRESSION.measures)}"
            )
        if measure == RMSLE and self.dataset.target.min() < 0:
            raise BadOption(
                f"measure {measure!r} takes logarithms of 1 + the target, and {name!r} has negative numbers;"
                f" use another one, such as {MAE}"
            )

    def told(self, share: float) -> str:
        return f"the target ({share:.0%} of the errors of not knowing it vanish)"

    def cautions(self) -> Iterator[tuple[Literal["imbalance", "few_rows"], str]]:
        """A few rows that decide squared errors, and what chance does to R2."""
        y = self.dataset.target.to_numpy(np.float64)
        squared = np.sort((y - y.mean()) ** 2)
        top = squared[-max(len(y) // 100, 1) :].sum() / squared.sum()
        if top >= DECISIVE:
            yield (
                "imbalance",
                f"one row in a hundred makes {top:.0%} of the target's variance, so these decide the root "
                f"mean squared error: look at --measure mae, too",
            )
        if len(y) < FEW_ROWS:
            # Half of the width of an 80 % interval of R2 = 0.5 on n rows, to the first order:
            # 1.28 * 2 sqrt(R2) (1 - R2) / sqrt(n).
            yield (
                "few_rows",
                f"{len(y):,} rows: chance alone moves a measured R2 of 0.50 by {0.905 / len(y) ** 0.5:.2f} "
                f"up or down, so small differences mean nothing",
            )

    def page_facts(self) -> dict[str, str]:
        y = self.dataset.target
        return {
            "mean of the target": self.number(float(y.mean())),
            "its standard deviation": self.number(float(y.std())),
        }

    def counts(self) -> dict[str, int]:
        """Rows of equally wide intervals."""
        counts, edges = np.histogram(self.dataset.target.to_numpy(np.float64), bins=INTERVALS)
        ends = [self.number(edge) for edge in edges.tolist()]
        return {
            f"{low} to {high}": int(count) for low, high, count in zip(ends, ends[1:], counts, strict=False)
        }

    def gain(self, measure: str, promise: PerformanceForecast) -> str:
        """The error saved, in percent of the reference's; of R2, the difference."""
        return "" if promise.gain is None else self._gain(measure, promise.value, promise.gain)

    def other_gains(self, measure: str, promise: PerformanceForecast) -> dict[str, str]:
        return {
            get_flow(flow).title: self._gain(measure, promise.value, gain)
            for flow, gain in promise.other_gains.items()
        }

    def shown(self, measure: str, value: float) -> float:
        """Relative errors times the error of the target's mean; R2 = 1 - RRSE^2."""
        y = self.dataset.target.to_numpy(np.float64)
        if measure == RMSE:
            return value * float(y.std())
        if measure == MAE:
            return value * float(np.abs(y - y.mean()).mean())
        if measure == R2:
            return 1 - value**2
        return value if self.dataset.task_type.learned_measure(measure) == measure else float("nan")

    units: ClassVar[str] = (
        "R2 is 1 for perfect predictions and 0 for always predicting the mean; a gain is the difference of "
        "two R2. They come from quick models that describe a dataset."
    )

    balance: ClassVar[str] = "rows for each column"

    def elsewhere(self, measure: str, value: float) -> tuple[str, float]:
        """R2 where squared errors are learned: other datasets have other units."""
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

    def cells(self, measure: str, promise: PerformanceForecast) -> tuple[str, ...]:
        explained: tuple[str, ...] = ()
        low, high = self.number(promise.low), self.number(promise.high)
        if measure == RMSE:
            value, low, high = self._explained(promise)
            explained = (value,)
        return (
            self.number(promise.value),
            *explained,
            f"{low} to {high}" if low.startswith("-") else f"{low}-{high}",
            self.gain(measure, promise),
            "" if promise.beats_default is None else f"{promise.beats_default:.0%}",
        )

    def beside(self, measure: str, promise: PerformanceForecast) -> str:
        """R2 with its interval, beside a root mean squared error."""
        return "R2 {}, from {} to {}".format(*self._explained(promise)) if measure == RMSE else ""

    def number(self, value: float) -> str:
        """Four digits."""
        return _digits(value, 4)

    def measured(self, value: float) -> str:
        """Five digits."""
        return _digits(value, 5)

    def _gain(self, measure: str, value: float, gain: float) -> str:
        reference = value + gain
        if larger_is_better(measure) or reference == 0:
            return f"{gain:+.3f}"
        return f"{gain / reference:+.1%}"

    def _explained(self, promise: PerformanceForecast) -> tuple[str, str, str]:
        """R2 and its interval, from a root mean squared error."""
        spread = float(self.dataset.target.to_numpy(np.float64).std())
        value, low, high = (
            f"{1 - (error / spread) ** 2:.3f}" for error in (promise.value, promise.high, promise.low)
        )
        return value, low, high

    def summary(self) -> str:
        low, middle, high = np.quantile(self.dataset.target.to_numpy(np.float64), [0, 0.5, 1])
        return f"a number from {short(low)} to {short(high)}, median {short(middle)}"

    def facts(self) -> dict[str, Any]:
        numbers = self.dataset.target.to_numpy(np.float64)
        return {
            "target_mean": float(numbers.mean()),
            "target_std": float(numbers.std()),
            "target_range": [float(numbers.min()), float(numbers.max())],
        }

    def default_measure(self, warehouse: Warehouse) -> str:  # noqa: ARG002
        """The root mean squared error."""
        return REGRESSION.default_measure

    def measure_remark(self, measure: str) -> str | None:  # noqa: ARG002
        return None


def _digits(value: float, n: int) -> str:
    """A number with its first `n` digits, or all before the point."""
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{n - 1}e}"
    places = n - 1 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{max(places, 0)}f}"
