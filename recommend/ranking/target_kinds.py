"""Measures of a target's predictions, by task type, and the flows with which recommendations are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.reading.target.classes import refuse_single_rows
from warehouse.store import Warehouse
from warehouse.support.errors import BadOption
from warehouse.vocabulary.measures import AUC, MAE, R2, RAE, RMSE, RMSLE, RRSE
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

IMBALANCED = 0.9
"""Share of the largest class from which accuracy is uninformative: always predicting it does nearly as
well."""
_OF_NUMBERS_ALONE = frozenset(REGRESSION.measures) - {RMSE, MAE, RRSE, RAE}
"""Measures that OpenML has for regression only."""


@dataclass(frozen=True)
class TargetKind(ABC):
    """The measures of one dataset's target."""

    dataset: Dataset

    defaults: ClassVar[tuple[str, ...]]
    """Flows whose default configurations users know."""
    references: ClassVar[tuple[str, ...]]
    """The flows among them that are references of gains; the first is always named."""

    @abstractmethod
    def check_measure(self, measure: str) -> None:
        """Check that models of the target can be tested by the measure.

        Raises:
            BadOption: the measure does not apply; the message lists those that do.
            UnusableDataset: fewer than two classes have several rows.
        """

    @abstractmethod
    def default_measure(self, warehouse: Warehouse) -> str:
        """The default measure to optimize."""

    @abstractmethod
    def shown(self, measure: str, value: float) -> float:
        """Convert a value of the measure that is learned in place of `measure` to `measure` itself.

        NaN if it is not determined.
        """


class ClassTarget(TargetKind):
    """Classes: the requested measure is learned."""

    defaults = ("lightgbm", "catboost", "random_forest", "logistic_regression")
    references = defaults[:1]

    def check_measure(self, measure: str) -> None:
        if measure in _OF_NUMBERS_ALONE:
            raise BadOption(
                f"measure {measure!r} is for numbers, but the target {self.dataset.target.name!r} has"
                f" classes; use one of {', '.join(CLASSIFICATION.measures)}"
            )
        refuse_single_rows(self.dataset.target)

    def default_measure(self, warehouse: Warehouse) -> str:
        """Accuracy; the area under the ROC curve if classes are imbalanced and runs have it."""
        if self.dataset.majority[1] < IMBALANCED:
            return CLASSIFICATION.default_measure
        known = warehouse.arrow(
            "SELECT 1 FROM evaluations WHERE measure = $measure LIMIT 1", {"measure": AUC}
        )
        return AUC if known.num_rows else CLASSIFICATION.default_measure

    def shown(self, measure: str, value: float) -> float:  # noqa: ARG002
        return value


class NumberTarget(TargetKind):
    """Numbers: errors relative to those of predicting the mean are learned."""

    defaults = ("lightgbm_regressor", "catboost_regressor", "random_forest_regressor", "ridge")
    references = defaults[:2]

    def check_measure(self, measure: str) -> None:
        name = self.dataset.target.name
        if measure in CLASSIFICATION.measures:
            raise BadOption(
                f"measure {measure!r} is for classes, but the target {name!r} is a number; use one of"
                f" {', '.join(REGRESSION.measures)}"
            )
        if measure == RMSLE and self.dataset.target.min() < 0:
            raise BadOption(
                f"measure {measure!r} takes logarithms of 1 + the target, and {name!r} has negative numbers;"
                f" use another one, such as {MAE}"
            )

    def default_measure(self, warehouse: Warehouse) -> str:  # noqa: ARG002
        """The root mean squared error."""
        return REGRESSION.default_measure

    def shown(self, measure: str, value: float) -> float:
        """Relative errors times the error of predicting the mean; R2 = 1 - RRSE^2."""
        y = self.dataset.target.to_numpy(np.float64)
        if measure == RMSE:
            return value * float(y.std())
        if measure == MAE:
            return value * float(np.abs(y - y.mean()).mean())
        if measure == R2:
            return 1 - value**2
        return value if self.dataset.task_type.learned_measure(measure) == measure else float("nan")


TARGET_KINDS: Mapping[TaskType, type[TargetKind]] = {CLASSIFICATION: ClassTarget, REGRESSION: NumberTarget}
REFERENCES = (ClassTarget.references[0], NumberTarget.references[0])
"""The first reference of each task type."""


def target_kind(dataset: Dataset) -> TargetKind:
    """The measures of the dataset's target."""
    return TARGET_KINDS[dataset.task_type](dataset)
