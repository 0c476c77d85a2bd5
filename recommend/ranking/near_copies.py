"""Near copies of a dataset in a warehouse."""

from __future__ import annotations

from collections.abc import Collection

from ingest.reading.datasets import Dataset
from ingest.reading.near_copies import METHOD, Sketch, near_copies
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import UnusableWarehouse

# Rows can only be shared with datasets that have a column more or less at most.
_SKETCHES = """
SELECT dataset, columns, bits, CASE WHEN abs(columns - $width) <= 1 THEN cells END AS cells
FROM sketches WHERE method = $method ORDER BY dataset
"""
_DATASETS = "SELECT dataset FROM datasets WHERE content_hash IS NOT NULL"


def near_copies_in(warehouse: Warehouse, dataset: Dataset) -> list[str]:
    """Keys of the warehouse's datasets that are near or exact copies of the dataset.

    A warehouse that began as a copy of an earlier starter lacks sketches; today's starter has them.

    Raises:
        BadInput: a sketch is damaged.
    """
    sketches = _sketches(warehouse, dataset)
    if warehouse.path != STARTER and (unknown := {*warehouse.sql(_DATASETS)["dataset"]} - sketches.keys()):
        sketches |= _sketches(Warehouse.open(STARTER), dataset, unknown)
    return sorted(near_copies(dataset, sketches))


def _sketches(
    warehouse: Warehouse, dataset: Dataset, only: Collection[str] | None = None
) -> dict[str, Sketch]:
    width = dataset.features.shape[1] + 1
    found = warehouse.arrow(_SKETCHES, {"width": width, "method": METHOD}).to_pylist()
    try:
        return {
            row["dataset"]: Sketch.from_text(row["columns"], row["bits"], row["cells"])
            for row in found
            if only is None or row["dataset"] in only
        }
    except ValueError as error:
        raise UnusableWarehouse(f"{warehouse.location} has a damaged sketch of a dataset: {error}") from error
