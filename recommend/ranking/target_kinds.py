"""Differences between task types in recommendations and their texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ingest.reading.datasets import Dataset
from recommend.ranking.class_target import ClassTarget
from recommend.ranking.number_target import NumberTarget
from warehouse.store import Warehouse
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType


class TargetKind(Protocol):
    """The strategy of a task type."""

    def summary(self, dataset: Dataset) -> str:
        """The target in a few words, as the head of a printed recommendation has them."""
        ...

    def facts(self, dataset: Dataset) -> dict[str, Any]:
        """JSON values about the target, as a seeds file has them."""
        ...

    def default_measure(self, dataset: Dataset, warehouse: Warehouse) -> str:
        """The measure to be good at where the user names none."""
        ...

    def measure_remark(self, dataset: Dataset, measure: str) -> str | None:
        """A remark for a user who named no measure and gets `measure`; None where there is nothing to say."""
        ...


TARGET_KINDS: Mapping[TaskType, TargetKind] = {CLASSIFICATION: ClassTarget(), REGRESSION: NumberTarget()}


def target_kind(dataset: Dataset) -> TargetKind:
    """The strategy of the dataset's task type."""
    return TARGET_KINDS[dataset.task_type]
