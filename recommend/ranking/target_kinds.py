"""Differences between task types in recommendations and their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Literal, Protocol

from ingest.reading.datasets import Dataset
from recommend.ranking.class_target import ClassTarget
from recommend.ranking.number_target import NumberTarget
from recommend.ranking.performance_forecast import PerformanceForecast
from warehouse.store import Warehouse
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

CautionKind = Literal[
    "reading", "outside", "imbalance", "few_rows", "leakage", "identifier", "dependence", "seeds"
]


class TargetKind(Protocol):
    """What is said of the target of one dataset."""

    defaults: ClassVar[tuple[str, ...]]
    """Flows whose default configurations users know."""

    references: ClassVar[tuple[str, ...]]
    """The flows among them whose defaults gains are over; the first is the one that is always named."""

    def check_measure(self, measure: str) -> None:
        """Check that predictions of the target can have this measure.

        Raises:
            BadOption: they can't; it says which ones they can have.
        """

    def shown(self, measure: str, value: float) -> float:
        """A value of the measure that is learned in place of `measure` as one of `measure` itself.

        NaN where one does not follow from the other.
        """

    predicted: ClassVar[str]
    """What is predicted of a row, in words."""

    alike: ClassVar[str]
    """What rows share that belong together."""

    def told(self, share: float) -> str:
        """What a column tells where this share of the errors of not knowing it vanish."""

    def cautions(self) -> Iterator[tuple[CautionKind, str]]:
        """Things to check about the target, each a sentence without its full stop."""

    def page_facts(self) -> dict[str, str]:
        """Facts about the target that a page begins with: title -> value."""

    def counts(self) -> dict[str, int]:
        """Rows of each class, the largest first, or of each interval of a number."""

    def gain(self, measure: str, promise: PerformanceForecast) -> str:
        """The gain of an expected value over the first reference; empty where it is unknown."""

    def other_gains(self, measure: str, promise: PerformanceForecast) -> dict[str, str]:
        """Title of each further reference that is known -> the gain over it."""

    def elsewhere(self, measure: str, value: float) -> tuple[str, float]:
        """A value of the learned measure on another dataset, as a measure and its value that are told."""

    units: ClassVar[str]
    """A sentence about the units of meta-features in an explanation."""

    balance: ClassVar[str]
    """What numbers of rows that are meta-features are relative to, in words."""

    def columns(self, measure: str) -> dict[str, str]:
        """Titles of a recommendation's columns about expected values -> what they mean.

        The columns of `other_gains` follow these where the table has room for them.
        """

    def cells(self, measure: str, promise: PerformanceForecast) -> tuple[str, ...]:
        """A cell of each of these columns."""

    def beside(self, measure: str, promise: PerformanceForecast) -> str:
        """What else an expected value says, in a measure that users compare; empty where nothing."""

    def number(self, value: float) -> str:
        """An expected value of a measure as text."""

    def measured(self, value: float) -> str:
        """A measured one."""

    def summary(self) -> str:
        """The target in a few words, as the head of a printed recommendation has them."""

    def facts(self) -> dict[str, Any]:
        """JSON values about the target, as a seeds file has them."""

    def default_measure(self, warehouse: Warehouse) -> str:
        """The measure to be good at where the user names none."""

    def measure_remark(self, measure: str) -> str | None:
        """A remark for a user who named no measure and gets `measure`; None where there is nothing to say."""


TARGET_KINDS: Mapping[TaskType, Callable[[Dataset], TargetKind]] = {
    CLASSIFICATION: ClassTarget,
    REGRESSION: NumberTarget,
}
REFERENCES = (ClassTarget.references[0], NumberTarget.references[0])
"""The first reference of each task type."""


def target_kind(dataset: Dataset) -> TargetKind:
    """The strategy for the dataset's task type."""
    return TARGET_KINDS[dataset.task_type](dataset)
