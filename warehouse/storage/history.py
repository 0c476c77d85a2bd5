"""The record of a warehouse's commits: the table `ingests`, one row per version."""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.storage import delta, manifests
from warehouse.storage.rows import Difference
from warehouse.storage.spilling import regrouped
from warehouse.support.errors import UnusableWarehouse
from warehouse.vocabulary.schema import DATA_TABLES, TABLES, plain

EMPTY_FINGERPRINT = "empty"
_ROWS_HASHED = 2**12
"""Rows of a hashed batch; changing it changes the ids of larger commits."""


@dataclass(frozen=True)
class CommitHistory:
    """The commits of the warehouse at `path` up to one version, oldest first."""

    path: Path
    ingests: pa.Table  # schema of `ingests`; row i made version i + 1

    @classmethod
    def read(cls, path: Path) -> Self:
        """All commits so far, by the newest Delta version of `ingests`.

        Raises:
            UnusableWarehouse: the record of the newest commit is lost.
            OSError, ValueError: the record is damaged.
        """
        # Read first: a concurrent commit writes its record before its manifest.
        promised = max(manifests.versions(path), default=0)
        history = cls.read_as_it_is(path)
        if history.version < promised:
            raise UnusableWarehouse(
                f"the warehouse at {path} has lost the record of version {promised};"
                " `warehouse repair` brings it back"
            )
        return history

    @classmethod
    def read_as_it_is(cls, path: Path) -> Self:
        """Like `read`, even if the record of the newest commit is lost."""
        folder = path / "ingests"
        newest = delta.newest_version(folder)
        if newest is None:
            raise FileNotFoundError(f"{folder} has no log")
        files = delta.files_at(folder, newest)
        schema = TABLES["ingests"].schema
        # The files are small: threads would take longer than reading.
        parts = [pq.ParquetFile(file).read(use_threads=False).cast(schema) for file in files]
        ingests = pa.concat_tables([schema.empty_table(), *parts]).sort_by("version")
        if ingests["version"].to_pylist() != list(range(1, len(ingests) + 1)):
            raise ValueError("the record of commits has a gap; `warehouse repair` may help")
        return cls(path, ingests)

    @property
    def version(self) -> int:
        """The newest recorded version."""
        return int(self.ingests.num_rows)

    @property
    def fingerprint(self) -> str:
        """Id of the newest commit: a hash of its rows and the id of the commit before it."""
        return str(self.ingests["ingest"][-1]) if self.version else EMPTY_FINGERPRINT

    def learned_from(self) -> Self:
        """The history up to the newest commit with more than sketches, from which no model learns."""
        commits = zip(self.ingests["added"].to_pylist(), self.ingests["changed"].to_pylist(), strict=True)
        written = [{*json.loads(added), *json.loads(changed)} for added, changed in commits]
        version = self.version
        while version and written[version - 1] == {"sketches"}:
            version -= 1
        return self.until(version)

    def until(self, version: int) -> Self:
        """The history up to `version`."""
        if not 0 <= version <= self.version:
            raise UnusableWarehouse(f"{self.path} has no version {version}; it has 0 to {self.version}")
        return type(self)(self.path, self.ingests[:version])

    def delta_versions(self) -> dict[str, int]:
        """Delta version of every data table at the newest recorded version."""
        if not self.version:
            return dict.fromkeys(DATA_TABLES, 0)
        recorded = self.ingests["tables"][-1].as_py()
        if recorded is None:
            raise UnusableWarehouse(f"{self.path} is an export without the content of version {self.version}")
        return {str(name): int(version) for name, version in json.loads(recorded).items()}

    def all_delta_versions(self, table: str) -> set[int]:
        """Delta versions of a data table at all recorded commits."""
        recorded = (json.loads(tables) for tables in self.ingests["tables"].to_pylist() if tables is not None)
        return {int(tables[table]) for tables in recorded if table in tables}

    def next_record(self, source: str, delta_versions: Mapping[str, int], *, about: list[str]) -> pa.Table:
        """The record of a commit without new rows; `about` distinguishes its id."""
        now = datetime.now(UTC)
        digest = hashlib.sha256(json.dumps([self.fingerprint, source, about]).encode())
        record = {
            "ingest": digest.hexdigest()[:16],
            "version": self.version + 1,
            "source": source,
            "location": ", ".join(about),
            "started": now,
            "finished": now,
            "added": "{}",
            "changed": "{}",
            "tables": json.dumps(dict(delta_versions)),
        }
        return pa.Table.from_pylist([record], schema=TABLES["ingests"].schema)

    def with_only_newest_content(self, delta_versions: Mapping[str, int]) -> pa.Table:
        """The record for a copy with the newest version's content only, at `delta_versions`."""
        tables = [None] * (self.version - 1) + [json.dumps(dict(delta_versions))]
        position = self.ingests.schema.get_field_index("tables")
        return self.ingests.set_column(
            position, self.ingests.schema.field(position), pa.array(tables, pa.string())
        )


def ingest_id(parent: str, source: str, differences: Mapping[str, Difference]) -> str:
    """Hash of a commit's rows and of its parent's id: equal histories have equal ids."""
    digest = hashlib.sha256(json.dumps([parent, source]).encode())
    for name, difference in differences.items():
        for kind, rows in (("new", difference.new), ("changed", difference.changed)):
            digest.update(json.dumps([name, kind, rows.num_rows]).encode())
            schema = plain(rows.schema)
            with pa.ipc.new_stream(pa.PythonFile(_Hashed(digest), "w"), schema) as stream:
                # In small batches: rows with dictionaries grow to several times their size.
                batches = rows.to_batches(_ROWS_HASHED) if isinstance(rows, pa.Table) else rows.batches()
                for batch in regrouped((batch.cast(schema) for batch in batches), _ROWS_HASHED):
                    stream.write_batch(batch)
    return digest.hexdigest()[:16]


class _Hashed(io.RawIOBase):
    """A file object that only hashes its content."""

    def __init__(self, digest: "hashlib._Hash") -> None:
        self._digest = digest

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._digest.update(content)
        return len(content)
