"""The measure to be good at where the user names none."""

from ingest.reading.datasets import Dataset
from warehouse.measures import ACCURACY, AUC
from warehouse.store import Warehouse

IMBALANCED = 0.9
"""Share of the largest class at which accuracy stops to say much: always naming that class comes near."""


def default_measure(dataset: Dataset, warehouse: Warehouse) -> str:
    """Accuracy, or the area under the ROC curve where classes are imbalanced and runs have that measure."""
    if not dataset.n_classes or dataset.majority[1] < IMBALANCED:
        return ACCURACY
    known = warehouse.arrow("SELECT 1 FROM evaluations WHERE measure = $measure LIMIT 1", {"measure": AUC})
    return AUC if known.num_rows else ACCURACY


def remark(dataset: Dataset, measure: str) -> str | None:
    """A remark for a user who named no measure and gets `measure`; None if classes are not imbalanced."""
    label, share = dataset.majority
    if share < IMBALANCED:
        return None
    imbalance = f"{share:.1%} of the rows are of class {label!r}, and always saying so is as accurate as that"
    if measure == AUC:
        return f"Measure: {AUC}, since {imbalance}; --measure accuracy ranks by accuracy all the same."
    return f"Measure: {measure}, though {imbalance}: the warehouse has no run with a better measure."
