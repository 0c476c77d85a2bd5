"""Untrusted manifests, for example from a bucket that others write to."""

import base64
import json
import zlib
from dataclasses import replace

import pytest

from warehouse.storage.manifests import FileSum, Manifest

MANIFEST = Manifest(
    version=1,
    ingest="i",
    parent="",
    tables={"runs": 3},
    files={"runs/part-0.parquet": FileSum(4, "0" * 64)},
    copies={"runs/_delta_log/00000000000000000003.json": b"{}"},
    lost=("runs/part-1.parquet",),
)
OUTSIDE = ["../stolen", "runs/../../stolen", "/etc/passwd", "", "."]


def test_a_manifest_is_read_back_as_written() -> None:
    assert Manifest.parse(MANIFEST.content(), "m") == MANIFEST


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize(
    "with_name",
    [
        lambda name: replace(MANIFEST, files={name: FileSum(4, "0" * 64)}),
        lambda name: replace(MANIFEST, copies={name: b"{}"}),
        lambda name: replace(MANIFEST, tables={name: 0}),
        lambda name: replace(MANIFEST, lost=(name,)),
    ],
    ids=["files", "copies", "tables", "lost"],
)
def test_no_manifest_leads_out_of_the_warehouse(with_name: object, name: str) -> None:
    assert callable(with_name)
    with pytest.raises(ValueError, match="outside of the warehouse"):
        Manifest.parse(with_name(name).content(), "m")


def test_a_copy_that_unpacks_to_too_much_is_refused() -> None:
    record = json.loads(MANIFEST.content())
    record["copies"] = {"runs/x": base64.b64encode(zlib.compress(bytes(2**28 + 1))).decode()}
    with pytest.raises(ValueError, match="unpacks to too much"):
        Manifest.parse(json.dumps(record).encode(), "m")
