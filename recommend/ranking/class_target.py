"""Texts about a target with classes, and its default measure."""

from __future__ import annotations

from typing import Any

from ingest.reading.datasets import Dataset
from warehouse.store import Warehouse
from warehouse.support.text import counted
from warehouse.vocabulary.measures import AUC
from warehouse.vocabulary.task_types import CLASSIFICATION

IMBALANCED = 0.9
"""Share of the largest class from which accuracy says little: always predicting it is nearly as accurate."""


class ClassTarget:
    """The target kind of classification (`recommend.ranking.target_kinds`)."""

    def summary(self, dataset: Dataset) -> str:
        share = dataset.majority[1]
        return f"{counted(dataset.n_classes, 'classes')}, the largest with {share:.1%} of the rows"

    def facts(self, dataset: Dataset) -> dict[str, Any]:
        return {"classes": dataset.n_classes, "majority_share": dataset.majority[1]}

    def default_measure(self, dataset: Dataset, warehouse: Warehouse) -> str:
        """Accuracy; the area under the ROC curve where classes are imbalanced and runs have it."""
        if dataset.majority[1] < IMBALANCED:
            return CLASSIFICATION.default_measure
        known = warehouse.arrow(
            "SELECT 1 FROM evaluations WHERE measure = $measure LIMIT 1", {"measure": AUC}
        )
        return AUC if known.num_rows else CLASSIFICATION.default_measure

    def measure_remark(self, dataset: Dataset, measure: str) -> str | None:
        """A remark where classes are imbalanced."""
        label, share = dataset.majority
        if share < IMBALANCED:
            return None
        imbalance = f"{share:.1%} of the rows are of class {label!r}, and always predicting it is as accurate"
        if measure == AUC:
            return f"Measure: {AUC}, since {imbalance}; use --measure accuracy to rank by accuracy."
        return f"Measure: {measure}, though {imbalance}: the warehouse has no runs with a better measure."
