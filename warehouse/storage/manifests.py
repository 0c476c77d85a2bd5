"""Manifests: the files written by each commit, with their checksums.

The manifest of version v is `commits/<v>.json` in the warehouse. It is written after the commit's record in
`ingests`, so a manifest without a record shows that the record was lost. A record without a manifest comes
from an older Headstart, or from a writer that was killed between the two; the next manifest covers its files,
too. Manifests are chained by their checksums, and hold copies of the files that are needed to open a
warehouse: log entries, and the rows of `ingests`.
"""

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Self

from warehouse.storage import delta
from warehouse.support.errors import raise_refusal
from warehouse.support.files import make_folder, sync_directory, write_bytes

FOLDER = "commits"
_BEFORE_THE_FIRST = -1
_LARGEST_COPY = 2**28  # bytes; log entries have some hundred kilobytes at most


@dataclass(frozen=True)
class FileSum:
    """Expected size and checksum of a file."""

    size: int  # bytes
    sha256: str  # hexadecimal


@dataclass(frozen=True)
class Manifest:
    """The files that one commit wrote."""

    version: int
    """Version of the warehouse made by the commit."""
    ingest: str
    """Id of the commit; the empty string for version 0."""
    parent: str
    """Checksum of the previous manifest; the empty string if there is none."""
    tables: Mapping[str, int]
    """Last Delta version of each table, including `ingests`, whose files this and earlier manifests list."""
    files: Mapping[str, FileSum]
    """Expected sum by path in the warehouse; later manifests take precedence."""
    copies: Mapping[str, bytes]
    """Content of indispensable small files, by path in the warehouse."""
    lost: tuple[str, ...]
    """Paths of damaged files found by a repair, which later versions do not need."""

    @property
    def checksum(self) -> str:
        """Hash of the manifest's content."""
        return _checksum(self._record())

    def write(self, warehouse: Path) -> None:
        """Write it to the warehouse's manifests; it is on disk when this returns.

        Raises:
            OSError, Unwritable: the disk refuses.
        """
        make_folder(warehouse / FOLDER)
        write_bytes(path_of(warehouse, self.version), self.content())

    @classmethod
    def read(cls, path: Path) -> Self:
        """The manifest in the file.

        Raises:
            OSError: there is no such file.
            ValueError: it is damaged.
        """
        return cls.parse(path.read_bytes(), str(path))

    @classmethod
    def parse(cls, content: bytes, name: str) -> Self:
        """The manifest in the content of a file; `name` is for errors.

        Raises:
            ValueError: it is damaged.
        """
        record = json.loads(content)
        try:
            del record["checksum"]
            manifest = cls(
                **{
                    **record,
                    "files": {name: FileSum(**of_file) for name, of_file in record["files"].items()},
                    "copies": {name: _unpacked(copy) for name, copy in record["copies"].items()},
                    "lost": tuple(record["lost"]),
                }
            )
        except (AttributeError, KeyError, TypeError, zlib.error) as error:
            raise ValueError(f"{name} is not a manifest") from error
        if manifest.content() != content:
            raise ValueError(f"{name} does not match its checksum")
        for path in {*manifest.files, *manifest.copies, *manifest.tables, *manifest.lost}:
            if not is_inside(path):
                raise ValueError(f"{name} names a file outside of the warehouse: {path!r}")
        return manifest

    def content(self) -> bytes:
        """The manifest as the bytes of its file."""
        record = self._record()
        return (json.dumps({**record, "checksum": _checksum(record)}, indent=1) + "\n").encode()

    def _record(self) -> dict[str, Any]:
        copies = {name: base64.b64encode(zlib.compress(copy)).decode() for name, copy in self.copies.items()}
        files = {name: vars(of_file) for name, of_file in self.files.items()}
        return {**vars(self), "files": files, "copies": copies, "lost": list(self.lost)}


def _checksum(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def is_inside(path: str) -> bool:
    """Whether a path, which may come from outside, stays within the warehouse."""
    parts = PurePosixPath(path).parts
    return bool(parts) and ".." not in parts and not PurePosixPath(path).is_absolute()


def _unpacked(copy: str) -> bytes:
    """The bytes of a packed copy.

    Raises:
        ValueError, zlib.error: they are damaged or too large.
    """
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(base64.b64decode(copy), _LARGEST_COPY)
    if not unpacking.eof:
        raise ValueError("a copy is cut off, or unpacks to too much")
    return content


def path_of(warehouse: Path, version: int) -> Path:
    """Path of the manifest of a version, whether it exists or not."""
    return warehouse / name_of(version)


def name_of(version: int) -> str:
    """Path of the manifest of a version, relative to the warehouse."""
    return f"{FOLDER}/{version:020}.json"


def versions(warehouse: Path) -> list[int]:
    """Versions with a manifest, in order."""
    folder = warehouse / FOLDER
    names = os.listdir(folder) if folder.is_dir() else ()  # noqa: PTH208  # much quicker than a path for each
    found = (name.removesuffix(".json") for name in names if name.endswith(".json"))
    return sorted(int(name) for name in found if name.isdecimal())


def newest(warehouse: Path) -> Manifest | None:
    """The last readable manifest; files of later, lost manifests are listed again by the next commit.

    Raises:
        SystemRefusal: the system does not let us read one.
    """
    for version in reversed(versions(warehouse)):
        try:
            return Manifest.read(path_of(warehouse, version))
        except (OSError, ValueError) as error:
            raise_refusal(error)
    return None


@dataclass(frozen=True)
class Written:
    """Files of one table that no manifest lists yet."""

    table: str
    version: int
    """Their Delta version."""
    sums: dict[str, FileSum]
    copies: dict[str, bytes]


def written(
    warehouse: Path, table: str, after: int, until: int, intact: Mapping[str, FileSum] | None = None
) -> Written:
    """Sync the files of a table's Delta versions after `after` up to `until`, and list them.

    Args:
        intact: checksums, by path in the warehouse, of files on disk that were just read.

    Raises:
        OSError: a file is missing, or the disk refuses.
        ValueError: the table's log is damaged.
    """
    folder = warehouse / table
    paths: list[Path] = []
    for entry in delta.log_entries(folder, after, until):
        paths += [entry.path, *delta.checkpoint_files(folder, entry.version)]
        paths += [folder / data for data in entry.added]
    # A killed writer may have named a file in the log before writing it.
    sums = {
        path: (intact or {}).get(_name(warehouse, path)) or sum_of(path, sync=True)
        for path in paths
        if path.is_file()
    }
    for directory in {folder, *(path.parent for path in sums)} if sums else ():
        sync_directory(directory)
    return Written(
        table,
        until,
        {_name(warehouse, path): one for path, one in sums.items()},
        {_name(warehouse, path): path.read_bytes() for path in sums if _is_indispensable(table, path)},
    )


def _name(warehouse: Path, path: Path) -> str:
    return path.relative_to(warehouse).as_posix()


def _is_indispensable(table: str, path: Path) -> bool:
    """Whether the file is needed to open a warehouse. Checkpoints are not: they can be made from the log."""
    if path.parent.name == "_delta_log":
        return path.suffix == ".json"
    return table == "ingests"


def sum_of(path: Path, *, sync: bool = False) -> FileSum:
    """The checksum of a file.

    Args:
        sync: also sync the file to disk.
    """
    with path.open("rb") as file:
        if sync:
            os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "sha256")
        return FileSum(file.tell(), digest.hexdigest())


def manifest(
    version: int,
    ingest: str,
    previous: Manifest | None,
    parts: Sequence[Written],
    lost: Iterable[str] = (),
) -> Manifest:
    """The manifest of a commit that wrote `parts`, after the newest manifest `previous`."""
    return Manifest(
        version=version,
        ingest=ingest,
        parent=previous.checksum if previous else "",
        tables={part.table: part.version for part in parts},
        files={path: one for part in parts for path, one in part.sums.items()},
        copies={path: copy for part in parts for path, copy in part.copies.items()},
        lost=tuple(lost),
    )


def covered(previous: Manifest | None, table: str) -> int:
    """The last Delta version of a table whose files manifests list."""
    return _BEFORE_THE_FIRST if previous is None else previous.tables.get(table, _BEFORE_THE_FIRST)
