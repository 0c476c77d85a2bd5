"""Texts about a numeric target, and its default measure."""

from __future__ import annotations

from typing import Any

import numpy as np

from ingest.reading.datasets import Dataset
from warehouse.store import Warehouse
from warehouse.support.console import short
from warehouse.vocabulary.task_types import REGRESSION


class NumberTarget:
    """The target kind of regression (`recommend.ranking.target_kinds`)."""

    def summary(self, dataset: Dataset) -> str:
        low, middle, high = np.quantile(dataset.target.to_numpy(np.float64), [0, 0.5, 1])
        return f"a number from {short(low)} to {short(high)}, half of them up to {short(middle)}"

    def facts(self, dataset: Dataset) -> dict[str, Any]:
        numbers = dataset.target.to_numpy(np.float64)
        return {
            "target_mean": float(numbers.mean()),
            "target_std": float(numbers.std()),
            "target_range": [float(numbers.min()), float(numbers.max())],
        }

    def default_measure(self, dataset: Dataset, warehouse: Warehouse) -> str:  # noqa: ARG002
        """The root mean squared error."""
        return REGRESSION.default_measure

    def measure_remark(self, dataset: Dataset, measure: str) -> str | None:  # noqa: ARG002
        return None
