"""Texts about a numeric target, and its default measure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ingest.reading.datasets import Dataset
from recommend.ranking.performance_forecast import PerformanceForecast
from warehouse.store import Warehouse
from warehouse.support.console import short
from warehouse.vocabulary.measures import R2, RMSE, RRSE, larger_is_better
from warehouse.vocabulary.task_types import REGRESSION

DECISIVE = 0.5
"""Share of the variance in a hundredth of the rows from which on these are mentioned; set by hand."""
FEW_ROWS = 500
"""Number of rows below which a caution mentions chance; set by hand."""
INTERVALS = 10
"""Intervals of the target that rows are counted in."""


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

    predicted: ClassVar[str] = "the numbers that they predict"

    alike: ClassVar[str] = "nearly the same target"

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
        return {"mean of the target": self.number(float(y.mean())), "its spread": self.number(float(y.std()))}

    def counts(self) -> dict[str, int]:
        """Rows of equally wide intervals."""
        counts, edges = np.histogram(self.dataset.target.to_numpy(np.float64), bins=INTERVALS)
        ends = [self.number(edge) for edge in edges.tolist()]
        return {
            f"{low} to {high}": int(count) for low, high, count in zip(ends, ends[1:], counts, strict=False)
        }

    def gain(self, measure: str, promise: PerformanceForecast) -> str:
        """The error saved, in percent of the reference's; of R2, the difference."""
        if promise.gain is None:
            return ""
        relative = promise.relative_gain(measure)
        if larger_is_better(measure) or relative is None:
            return f"{promise.gain:+.3f}"
        return f"{relative:+.1%}"

    def shown(self, measure: str, value: float) -> float:
        """Relative errors times the error of the target's mean; R2 = 1 - RRSE^2."""
        y = self.dataset.target.to_numpy(np.float64)
        match measure:
            case "root_mean_squared_error":
                return value * float(y.std())
            case "mean_absolute_error":
                return value * float(np.abs(y - y.mean()).mean())
            case "r2":
                return 1 - value**2
        return value if self.dataset.task_type.learned_measure(measure) == measure else float("nan")

    units: ClassVar[str] = (
        "Errors are in per cent of the squared errors of always predicting the mean. They come from quick "
        "models that describe a dataset."
    )

    def elsewhere(self, measure: str, value: float) -> tuple[str, float]:
        """R2 where squared errors are learned: other datasets have other units."""
        learned = REGRESSION.learned_measure(measure)
        return (R2, 1 - value**2) if learned == RRSE else (learned, value)

    def columns(self, measure: str) -> dict[str, str]:
        """Expected value, R2 with its range or that of the value, and percent against a default."""
        told = {"expected": f"expected {measure} on unseen rows, in the unit of {self.dataset.target.name}"}
        if measure == RMSE:
            told["R2"] = "share of the variance explained: 1 is perfect, 0 no better than the mean"
        return told | {
            "80 % range": f"range of {'R2' if measure == RMSE else 'the value'} in 80 % of cases",
            "gain": "error saved against LightGBM with its default settings, in percent of its error",
            "likely": "probability of being better than that default",
        }

    def cells(self, measure: str, promise: PerformanceForecast) -> tuple[str, ...]:
        value, low, high = promise.value, promise.low, promise.high
        explained: tuple[str, ...] = ()
        if measure == RMSE:
            value, low, high = (self._r2(one) for one in (value, high, low))
            explained = (f"{value:.3f}",)
        return (
            self.number(promise.value),
            *explained,
            f"{low:.3f}-{high:.3f}" if explained else f"{self.number(low)}-{self.number(high)}",
            self.gain(measure, promise),
            "" if promise.beats_default is None else f"{promise.beats_default:.0%}",
        )

    def number(self, value: float) -> str:
        """Four digits."""
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"

    def measured(self, value: float) -> str:
        """Five digits."""
        return f"{value:,.0f}" if abs(value) >= 100_000 else f"{value:.5g}"

    def _r2(self, error: float) -> float:
        return 1 - (error / float(self.dataset.target.to_numpy(np.float64).std())) ** 2

    def summary(self) -> str:
        low, middle, high = np.quantile(self.dataset.target.to_numpy(np.float64), [0, 0.5, 1])
        return f"a number from {short(low)} to {short(high)}, half of them up to {short(middle)}"

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
