"""The record of commits: versions, fingerprints, and table versions."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from tests.warehouse.worlds import runs
from warehouse.storage.history import CommitHistory, ingest_id
from warehouse.storage.rows import Difference
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, UnusableWarehouse
from warehouse.vocabulary.schema import TABLES

ROWS = pa.table({"setup": ["a", "b", "c"]})
NOTHING = ROWS.slice(0, 0)


def history(*tables: dict[str, int] | None) -> CommitHistory:
    """A record of commits i0, i1, ... with these Delta versions of the tables."""
    records = [
        {"ingest": f"i{number}", "version": number + 1, "tables": None if one is None else json.dumps(one)}
        for number, one in enumerate(tables)
    ]
    return CommitHistory(Path("w"), pa.Table.from_pylist(records, schema=TABLES["ingests"].schema))


@pytest.mark.parametrize("version", [-1, 2])
def test_unknown_version_is_refused_and_the_known_ones_are_named(warehouse: Warehouse, version: int) -> None:
    warehouse.write(runs(), source="test")
    with pytest.raises(BadInput, match=f"no version {version}; it has 0 to 1"):
        Warehouse.open(warehouse.path, version=version)


def test_fingerprint_depends_on_content_and_not_on_location(tmp_path: Path) -> None:
    here, there, elsewhere = (Warehouse.create(tmp_path / name) for name in ("a", "b", "c"))
    for warehouse in (here, there):
        warehouse.write(runs(), source="test", location=str(warehouse.path))
    elsewhere.write(runs(accuracies={"openml:1": 0.8}), source="test")
    assert here.fingerprint == there.fingerprint != elsewhere.fingerprint


def test_returning_to_old_content_is_a_new_fingerprint(warehouse: Warehouse) -> None:
    seen = {warehouse.fingerprint}
    for accuracy in (0.1, 0.2, 0.1):
        warehouse.write(runs(accuracies={"openml:1": accuracy}), source="test")
        seen.add(warehouse.fingerprint)
    assert len(seen) == 4


def test_a_copy_of_the_newest_content_has_no_older_table_versions() -> None:
    commits = history({"runs": 3}, {"runs": 5}, {"runs": 9})
    copied = replace(commits, ingests=commits.with_only_newest_content({"runs": 1}))
    assert copied.delta_versions() == {"runs": 1}
    assert copied.fingerprint == commits.fingerprint
    with pytest.raises(UnusableWarehouse, match="w is an export without the content of version 2"):
        copied.until(2).delta_versions()


def test_ingest_ids_differ_with_any_part_of_a_commit() -> None:
    new = {"setups": Difference(ROWS, NOTHING)}
    different = [
        ingest_id("empty", "test", new),
        ingest_id("other", "test", new),
        ingest_id("empty", "other", new),
        ingest_id("empty", "test", {"runs": Difference(ROWS, NOTHING)}),
        ingest_id("empty", "test", {"setups": Difference(NOTHING, ROWS)}),
        ingest_id("empty", "test", {"setups": Difference(ROWS, ROWS)}),
        ingest_id("empty", "test", {"setups": Difference(ROWS.slice(1), NOTHING)}),
        ingest_id("empty", "test", {"setups": Difference(ROWS.take([1, 0, 2]), NOTHING)}),
    ]
    assert len(set(different)) == len(different)


def test_ingest_ids_do_not_depend_on_the_memory_layout() -> None:
    chunked = pa.concat_tables([ROWS.slice(0, 1), ROWS.slice(1)])
    described = ROWS.replace_schema_metadata({"pandas": "{}"})
    longer = pa.table({"setup": ["z", "a", "b", "c"]}).slice(1)
    encoded = pa.table({"setup": ROWS["setup"].dictionary_encode()})
    ids = [
        ingest_id("empty", "test", {"setups": Difference(rows, NOTHING)})
        for rows in (ROWS, chunked, described, longer, encoded)
    ]
    assert len(set(ids)) == 1


def test_sketches_alone_do_not_change_the_fingerprint(warehouse: Warehouse) -> None:
    warehouse.write(runs(), source="test")
    before = warehouse.fingerprint
    sketch = {"dataset": ["local:a-0"], "method": "m-1", "columns": 5, "bits": "{}", "cells": ""}
    warehouse.write({"sketches": pd.DataFrame(sketch)}, source="sketches")
    assert (warehouse.version, warehouse.fingerprint) == (2, before)
    warehouse.write(runs(name="another"), source="test")
    assert warehouse.fingerprint != before
