"""Damage to a warehouse: changed, lost and foreign files, gaps in logs, missing commits."""

import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow.parquet as pq

from warehouse.storage import delta, manifests
from warehouse.storage.history import CommitHistory
from warehouse.storage.manifests import FileSum, Manifest
from warehouse.support.errors import UnusableWarehouse, one_line, raise_refusal, telling_refusals
from warehouse.support.locks import HOLDER, LOCK
from warehouse.vocabulary.schema import TABLES

MODELS = "models"
"""Folder of trained models, as in the starter; each has its own checksum (`metalearners.model_files`)."""
QUARANTINE = "damaged"
"""Folder for files that a repair could not restore."""
_OF_NOBODY = "no commit wrote this file"
_OF_JOBS = {"jobs", "journals"}
"""Folders with the state of jobs."""

Kind = Literal[
    "missing", "changed", "unreadable", "gap", "record", "manifest", "unlisted", "unprotected", "lost"
]


@dataclass(frozen=True)
class Finding:
    """A difference from the committed content, or a file without a checksum."""

    kind: Kind
    path: str
    """Path of the file within the warehouse."""
    message: str
    version: int | None = None
    """Version of the commit that wrote the file."""

    @property
    def is_damage(self) -> bool:
        """Whether committed content is lost or may have changed."""
        return self.kind not in ("unlisted", "unprotected", "lost")

    @property
    def advice(self) -> str:
        """Advice on this finding."""
        if self.is_damage:
            return "run `warehouse repair`"
        if self.kind == "unprotected":
            return "the next commit adds checksums, or `warehouse repair` does"
        if self.kind == "unlisted":
            return "belongs to no version: it may be deleted if no job is running"
        return "ingest its rows again"


@dataclass(frozen=True)
class Verification:
    """Result of `verify`."""

    version: int
    """Newest version with a manifest."""
    findings: list[Finding]
    files: int
    """Number of files compared with a manifest."""
    bytes: int
    """Total size of these files."""
    seconds: float

    @property
    def damage(self) -> list[Finding]:
        """The findings that need a repair."""
        return [finding for finding in self.findings if finding.is_damage]


@telling_refusals()
def verify(warehouse: Path, *, deep: bool = False) -> Verification:
    """Compare a warehouse with its manifests; writes nothing, and does not block writers.

    Without `deep`, files must exist with their sizes, and records, manifests and logs must be complete and
    consistent. With `deep`, every byte is read and files must match their checksums.

    Raises:
        BadInput: there is no warehouse.
        SystemRefusal: the system does not let us read a file.
    """
    begun = time.perf_counter()
    if not ((warehouse / "ingests").is_dir() or (warehouse / manifests.FOLDER).is_dir()):
        raise UnusableWarehouse(f"there is no warehouse at {warehouse}; check the path")
    chain, findings = read_chain(warehouse)
    listed, versions = expected(chain)
    size = 0
    lost = sorted({path for manifest in chain for path in manifest.lost})
    for path, wanted in listed.items():
        problem = _compare(warehouse / path, wanted, deep)
        size += wanted.size
        if is_checkpoint(path) and (problem == "missing" or _is_replaced(warehouse / path, listed)):
            continue  # can be made again from log entries
        if problem:
            message = (
                "the file is missing" if problem == "missing" else "its content differs from what was written"
            )
            findings.append(Finding(problem, path, message, versions[path]))
    findings += [Finding("lost", path, "damaged, and a repair could not restore it") for path in lost]
    committed, found = _records(warehouse, chain)
    findings += found
    named, found = _later_entries(warehouse, chain, committed)
    findings += found
    findings += _unlisted(warehouse, set(listed), named, deep)
    version = chain[-1].version if chain else 0
    return Verification(version, findings, len(listed), size, time.perf_counter() - begun)


def refuse_damaged(warehouse: Path, files: Iterable[str]) -> None:
    """Check that files match their checksums, before their content is copied.

    Args:
        files: paths of files of the warehouse; files that no manifest lists are not checked.

    Raises:
        BadInput: one of them is lost or damaged.
    """
    chain, _ = read_chain(warehouse)
    listed, _ = expected(chain)
    for file in files:
        name = Path(file).relative_to(warehouse).as_posix()
        if name in listed and _compare(Path(file), listed[name], deep=True) is not None:
            raise UnusableWarehouse(f"{file} is lost or damaged; `warehouse repair` restores what it can")


def expected(chain: list[Manifest]) -> tuple[dict[str, FileSum], dict[str, int]]:
    """Expected sums of the files in manifests, each with the version of its newest manifest."""
    listed: dict[str, FileSum] = {}
    versions: dict[str, int] = {}
    for manifest in chain:
        listed.update(manifest.files)
        versions.update(dict.fromkeys(manifest.files, manifest.version))
    return listed, versions


def read_chain(warehouse: Path) -> tuple[list[Manifest], list[Finding]]:
    """The readable manifests, oldest first, and findings about the others.

    A manifest without a parent lists everything: it comes from a repair, which then removes the previous
    ones.
    """
    chain: list[Manifest] = []
    findings: list[Finding] = []
    for version in manifests.versions(warehouse):
        path = manifests.path_of(warehouse, version)
        name = path.relative_to(warehouse).as_posix()
        try:
            manifest = Manifest.read(path)
        except (OSError, ValueError) as error:
            raise_refusal(error)
            findings.append(Finding("manifest", name, "the manifest is damaged", version))
            continue
        if manifest.version != version:
            findings.append(Finding("manifest", name, "it is the manifest of another version", version))
            continue
        if not manifest.parent:
            chain, findings = [], []
        elif manifest.parent != (chain[-1].checksum if chain else ""):
            findings.append(Finding("manifest", name, "the manifest before it is missing", version))
        chain.append(manifest)
    return chain, findings


def _compare(path: Path, wanted: FileSum, deep: bool) -> Literal["missing", "changed", None]:
    try:
        if deep:
            return None if manifests.sum_of(path) == wanted else "changed"
        return None if path.stat().st_size == wanted.size else "changed"
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        raise_refusal(error)
        return "changed"


def _records(warehouse: Path, chain: list[Manifest]) -> tuple[dict[str, int] | None, list[Finding]]:
    """Delta versions of the data tables at the newest commit, and contradictions of records and manifests.

    The versions are None if the record can't be read.
    """
    try:
        history = CommitHistory.read_as_it_is(warehouse)
        committed = history.delta_versions()
        ids = ["", *history.ingests["ingest"].to_pylist()]  # a damaged id may not be text
    except Exception as error:  # noqa: BLE001 (libraries raise anything on a damaged file)
        raise_refusal(error)
        message = f"the record of commits can't be read: {one_line(error)}"
        return None, [Finding("unreadable", "ingests", message)]
    findings = []
    for manifest in chain:
        if manifest.version > history.version:
            message = "the record of the commit is missing"
            findings.append(Finding("record", "ingests", message, manifest.version))
        elif manifest.ingest != ids[manifest.version]:
            findings.append(Finding("record", "ingests", "the record names another commit", manifest.version))
    newest = chain[-1].version if chain else -1
    if newest < history.version:
        message = f"versions {newest + 1} to {history.version} have no checksums"
        findings.append(Finding("unprotected", manifests.FOLDER, message, history.version))
    return committed, findings


def _later_entries(
    warehouse: Path, chain: list[Manifest], committed: Mapping[str, int] | None
) -> tuple[set[str], list[Finding]]:
    """Files named by log entries that no manifest lists, and findings about these entries.

    Entries after the newest commit are leftovers, so their files are not included.

    Args:
        committed: data table -> its Delta version at the newest commit; None = unknown.
    """
    named: set[str] = set()
    findings = []
    for table in TABLES:
        folder = warehouse / table
        present = delta.log_versions(folder)
        listed = chain[-1].tables.get(table, -1) if chain else -1
        newest = math.inf if committed is None or table == "ingests" else committed.get(table, 0)
        for version in range(listed + 1, max(present, default=-1) + 1):
            name = delta.log_entry_path(folder, version).relative_to(warehouse).as_posix()
            if version > newest:
                if version in present:
                    findings.append(Finding("unlisted", name, _OF_NOBODY))
            elif version not in present:
                findings.append(Finding("gap", name, "the log lacks this entry and has later ones"))
            else:
                try:
                    (entry,) = delta.log_entries(folder, version - 1, version)
                    named.update(f"{table}/{path}" for path in entry.added)
                except (OSError, ValueError) as error:
                    raise_refusal(error)
                    findings.append(Finding("unreadable", name, "the entry of the log can't be read"))
    return named, findings


def _unlisted(warehouse: Path, listed: set[str], named: set[str], deep: bool) -> Iterator[Finding]:
    """Findings on files that are neither `listed` in a manifest nor `named` by a commit without one."""
    known = {LOCK, HOLDER, *named}
    for folder, folders, names in os.walk(warehouse):
        place = Path(folder)
        if place == warehouse:
            folders[:] = sorted(set(folders) - {MODELS, QUARANTINE, manifests.FOLDER} - _OF_JOBS)
        for file in sorted(names):
            path = (place / file).relative_to(warehouse).as_posix()
            if path in listed or is_checkpoint(path):
                continue
            if path not in known:
                if not (place.name == "_delta_log" and delta.is_log_entry(file)):
                    yield Finding("unlisted", path, _OF_NOBODY)
            elif deep and path.endswith(".parquet") and not _is_readable(place / file):
                yield Finding("unreadable", path, "it can't be read, and has no checksum")


def is_checkpoint(path: str) -> bool:
    """Whether a file of a log is part of a checkpoint, which can be made again from the log's entries."""
    name = path.rpartition("/")[2]
    return name == "_last_checkpoint" or ".checkpoint" in name


def _is_replaced(path: Path, listed: Mapping[str, FileSum]) -> bool:
    """Whether it is `_last_checkpoint` and names a checkpoint of a killed writer."""
    if path.name != "_last_checkpoint":
        return False
    folder = path.parent.parent
    files = [
        file for version in delta.log_versions(folder) for file in delta.checkpoint_files(folder, version)
    ]
    return any(f"{folder.name}/_delta_log/{file.name}" not in listed for file in files)


def _is_readable(path: Path) -> bool:
    try:
        pq.read_table(path, partitioning=None)
    except Exception as error:  # noqa: BLE001 (Arrow raises anything on a damaged file)
        raise_refusal(error)
        return False
    return True


def as_record(found: Verification) -> dict[str, Any]:
    """A verification as JSON values, with advice on each finding."""
    findings = [
        {
            "kind": one.kind,
            "damage": one.is_damage,
            "path": one.path,
            "version": one.version,
            "message": one.message,
            "advice": one.advice,
        }
        for one in found.findings
    ]
    return {
        "version": found.version,
        "damaged": bool(found.damage),
        "files": found.files,
        "bytes": found.bytes,
        "seconds": round(found.seconds, 3),
        "findings": findings,
    }
