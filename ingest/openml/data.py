"""Download datasets and compute their meta-features, besides OpenML's qualities.

Both have OpenML's names and definitions, so that datasets of the warehouse and a user's file can be compared
with the same extractor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ingest.metafeatures import EXTRACTOR
from ingest.openml.api.connection import Connection
from ingest.openml.api.published import published_dataset
from ingest.openml.tables import key
from ingest.reading.datasets import load_dataset
from ingest.reading.limits import DEFAULT_LIMITS
from ingest.running.rows import description_tables
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput

_COMPUTED = "SELECT 1 FROM qualities WHERE dataset = ? AND source = 'computed' AND extractor = ? LIMIT 1"


@dataclass
class Described:
    """Outcome for each dataset, by id."""

    described: list[int] = field(default_factory=list)
    known: list[int] = field(default_factory=list)
    """Described earlier by the same version of the extractor."""
    failed: dict[int, str] = field(default_factory=dict)
    """Dataset -> reason for the failure."""


def ingest_openml_data(
    warehouse: Warehouse,
    datasets: Sequence[int],
    connection: Connection,
    *,
    report: Callable[[str], None] = lambda _: None,
) -> Described:
    """Download datasets and store their sizes, content hashes and meta-features, each when it is done.

    A dataset that can't be read, or that has no target or several at OpenML, is skipped.

    Raises:
        BadInput: the warehouse can't be written to.
        Failed: the server can't be reached. Datasets described before are kept.
    """
    done = Described()
    for position, number in enumerate(datasets, start=1):
        if not warehouse.sql(_COMPUTED, [key(number), EXTRACTOR]).empty:
            done.known.append(number)
            continue
        report(f"dataset {number}, {position} of {len(datasets)}")
        try:
            published = published_dataset(number, connection, DEFAULT_LIMITS.download_bytes)
            dataset = load_dataset(published)
            tables = description_tables(dataset)
        except BadInput as error:
            done.failed[number] = str(error)
            continue
        row = tables["datasets"]
        listed = warehouse.sql("SELECT data_version, status FROM datasets WHERE dataset = ?", [dataset.key])
        tables["datasets"] = row.assign(**listed.iloc[0]) if len(listed) else row
        warehouse.write(tables, source="openml data", location=connection.server)
        done.described.append(number)
    return done
