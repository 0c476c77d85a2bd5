"""Texts about a target with classes, and its default measure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ingest.reading.datasets import Dataset
from recommend.ranking.performance_forecast import PerformanceForecast
from warehouse.store import Warehouse
from warehouse.support.errors import BadOption
from warehouse.support.text import counted
from warehouse.vocabulary.measures import AUC, MAE, RAE, RMSE, RRSE, measure_title
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION

IMBALANCED = 0.9
"""Share of the largest class from which accuracy says little: always predicting it is nearly as accurate."""
FEW_ROWS = 500
"""Number of rows below which a caution mentions chance; set by hand."""
_OF_NUMBERS_ALONE = frozenset(REGRESSION.measures) - {RMSE, MAE, RRSE, RAE}
"""Measures of regression that OpenML has none of for probabilities."""
RARE = 10
"""Rows below which a class is missing from some of ten folds."""


@dataclass(frozen=True)
class ClassTarget:
    """The target kind of classification (`recommend.ranking.target_kinds`)."""

    dataset: Dataset

    defaults: ClassVar[tuple[str, ...]] = ("lightgbm", "catboost", "random_forest", "logistic_regression")

    references: ClassVar[tuple[str, ...]] = defaults[:1]

    predicted: ClassVar[str] = "the probabilities that they predict"

    alike: ClassVar[str] = "the same class"

    def check_measure(self, measure: str) -> None:
        if measure in _OF_NUMBERS_ALONE:
            raise BadOption(
                f"measure {measure!r} is of numbers, and the target {self.dataset.target.name!r} has classes;"
                f" use one of {', '.join(CLASSIFICATION.measures)}"
            )

    def told(self, share: float) -> str:
        label = self.dataset.majority[0]
        return f"every class ({share:.0%} of the errors of always predicting {label!r} vanish)"

    def cautions(self) -> Iterator[tuple[Literal["imbalance", "few_rows"], str]]:
        """Imbalance, rare classes, and what chance does to an accuracy."""
        label, share = self.dataset.majority
        if share >= IMBALANCED:
            yield (
                "imbalance",
                f"{share:.1%} of the rows are of class {label!r}: always predicting it is as accurate, so "
                f"look at AUC or at the recall of rare classes, too",
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

    def page_facts(self) -> dict[str, str]:
        return {"classes": f"{self.dataset.n_classes:,}", "largest class": f"{self.dataset.majority[1]:.1%}"}

    def counts(self) -> dict[str, int]:
        return {str(name): int(count) for name, count in self.dataset.target.value_counts().items()}

    def gain(self, measure: str, promise: PerformanceForecast) -> str:  # noqa: ARG002
        """The difference in the measure."""
        return "" if promise.gain is None else f"{promise.gain:+.3f}"

    def other_gains(self, measure: str, promise: PerformanceForecast) -> dict[str, str]:  # noqa: ARG002
        return {}

    def shown(self, measure: str, value: float) -> float:  # noqa: ARG002
        """The value: what is asked for is learned."""
        return value

    units: ClassVar[str] = (
        "Errors are in per cent of the errors of always predicting the largest class; a gain is the "
        "difference of two accuracies. Both come from quick models that describe a dataset."
    )

    balance: ClassVar[str] = "rows for each class and column"

    def beside(self, measure: str, promise: PerformanceForecast) -> str:  # noqa: ARG002
        return ""

    def elsewhere(self, measure: str, value: float) -> tuple[str, float]:
        return measure, value

    def columns(self, measure: str) -> dict[str, str]:
        """Expected value with its range, difference from a default, and probability of being better."""
        return {
            measure_title(measure): "expected value on unseen rows",
            "80 % range": "range of the value in 80 % of cases",
            "vs LightGBM": "difference from LightGBM with its default settings",
            "chance": "probability of being better than that default",
        }

    def cells(self, measure: str, promise: PerformanceForecast) -> tuple[str, ...]:
        return (
            self.number(promise.value),
            f"{self.number(promise.low)}-{self.number(promise.high)}",
            self.gain(measure, promise),
            "" if promise.beats_default is None else f"{promise.beats_default:.0%}",
        )

    def number(self, value: float) -> str:
        """Three digits after the point."""
        return f"{value:.3f}"

    def measured(self, value: float) -> str:
        """Four digits after the point."""
        return f"{value:.4f}"

    def summary(self) -> str:
        share = self.dataset.majority[1]
        return f"{counted(self.dataset.n_classes, 'classes')}, the largest with {share:.1%} of the rows"

    def facts(self) -> dict[str, Any]:
        return {"classes": self.dataset.n_classes, "majority_share": self.dataset.majority[1]}

    def default_measure(self, warehouse: Warehouse) -> str:
        """Accuracy; the area under the ROC curve where classes are imbalanced and runs have it."""
        if self.dataset.majority[1] < IMBALANCED:
            return CLASSIFICATION.default_measure
        known = warehouse.arrow(
            "SELECT 1 FROM evaluations WHERE measure = $measure LIMIT 1", {"measure": AUC}
        )
        return AUC if known.num_rows else CLASSIFICATION.default_measure

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
