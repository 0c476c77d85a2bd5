"""Measures of predictions of a target, by task type, and the flows that recommendations are compared with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ingest.reading.datasets import Dataset
from warehouse.store import Warehouse
from warehouse.support.errors import BadOption
from warehouse.vocabulary.measures import AUC, MAE, R2, RAE, RMSE, RMSLE, RRSE
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

IMBALANCED = 0.9
"""Share of the largest class from which accuracy says little: always predicting it is nearly as accurate."""
_OF_NUMBERS_ALONE = frozenset(REGRESSION.measures) - {RMSE, MAE, RRSE, RAE}
"""Measures of regression that OpenML has none of for probabilities."""


@dataclass(frozen=True)
class TargetKind(ABC):
    """The measures of one dataset's target."""

    dataset: Dataset

    defaults: ClassVar[tuple[str, ...]]
    """Flows whose default configurations users know."""
    references: ClassVar[tuple[str, ...]]
    """The flows among them whose defaults gains are over; the first is the one that is always named."""

    @abstractmethod
    def check_measure(self, measure: str) -> None:
        """Check that predictions of the target can have this measure.

        Raises:
            BadOption: they can't; the message lists the ones they can have.
        """

    @abstractmethod
    def default_measure(self, warehouse: Warehouse) -> str:
        """The measure to be good at where the user names none."""

    @abstractmethod
    def shown(self, measure: str, value: float) -> float:
        """A value of the measure that is learned in place of `measure` as one of `measure` itself.

        NaN where one does not follow from the other.
        """


class ClassTarget(TargetKind):
    """Classes: what is asked for is learned."""

    defaults = ("lightgbm", "catboost", "random_forest", "logistic_regression")
    references = defaults[:1]

    def check_measure(self, measure: str) -> None:
        if measure in _OF_NUMBERS_ALONE:
            raise BadOption(
                f"measure {measure!r} is of numbers, and the target {self.dataset.target.name!r} has classes;"
                f" use one of {', '.join(CLASSIFICATION.measures)}"
            )

    def default_measure(self, warehouse: Warehouse) -> str:
        """Accuracy; the area under the ROC curve where classes are imbalanced and runs have it."""
        if self.dataset.majority[1] < IMBALANCED:
            return CLASSIFICATION.default_measure
        known = warehouse.arrow(
            "SELECT 1 FROM evaluations WHERE measure = $measure LIMIT 1", {"measure": AUC}
        )
        return AUC if known.num_rows else CLASSIFICATION.default_measure

    def shown(self, measure: str, value: float) -> float:  # noqa: ARG002
        return value


class NumberTarget(TargetKind):
    """Numbers: errors relative to those of the target's mean are learned."""

    defaults = ("lightgbm_regressor", "catboost_regressor", "random_forest_regressor", "ridge")
    references = defaults[:2]

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

    def default_measure(self, warehouse: Warehouse) -> str:  # noqa: ARG002
        """The root mean squared error."""
        return REGRESSION.default_measure

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


TARGET_KINDS: Mapping[TaskType, type[TargetKind]] = {CLASSIFICATION: ClassTarget, REGRESSION: NumberTarget}
REFERENCES = (ClassTarget.references[0], NumberTarget.references[0])
"""The first reference of each task type."""


def target_kind(dataset: Dataset) -> TargetKind:
    """The measures of the dataset's target."""
    return TARGET_KINDS[dataset.task_type](dataset)
