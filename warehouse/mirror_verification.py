"""Damage to a warehouse in object storage: found by the means for one on disk, mended from copies.

What the storage holds is brought to an empty folder, and `warehouse.verification` looks at that. Copies are
in the turns (`warehouse.mirror`), which hold log entries and the record of commits, and on machines that have
read a file with rows.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from warehouse import manifests, verification
from warehouse.manifests import Manifest
from warehouse.mirror import Mirror
from warehouse.objects import Entry, each
from warehouse.repair import LostRows, Repair
from warehouse.schema import TABLES
from warehouse.support.errors import UnusableWarehouse
from warehouse.verification import Finding, Verification, expected


def verify(mirror: Mirror, *, deep: bool = False) -> Verification:
    """Compare what the storage holds with the manifests of its commits; see `verification.verify`.

    Without `deep` the sizes that the storage states are compared, and small files are read.

    Raises:
        BadInput: there is no warehouse, or the storage can't be used.
    """
    with _downloaded(mirror, deep=deep) as (folder, turns):
        return _verify(folder, turns, deep=deep)


def _verify(folder: Path, turns: list[Manifest], *, deep: bool) -> Verification:
    found = verification.verify(folder, deep=deep)
    known = {finding.path for finding in found.findings}
    for turn in turns:
        file = manifests.path_of(folder, turn.version)
        name = manifests.name_of(turn.version)
        if name not in known and (not file.is_file() or file.read_bytes() != turn.content()):
            found.findings.append(Finding("manifest", name, "it is not what was committed", turn.version))
    return found


@contextmanager
def _downloaded(mirror: Mirror, *, deep: bool) -> Iterator[tuple[Path, list[Manifest]]]:
    """A folder with what the storage holds, files with rows by their sizes alone unless `deep`; all turns."""
    turns = mirror.turns(0)
    if not turns:
        raise UnusableWarehouse(f"there is no warehouse at {mirror.url}; check the URL")
    entries = {
        name: entry
        for name, entry in mirror.objects.listing().items()
        if name.partition("/")[0] in (*TABLES, manifests.FOLDER)
    }
    mirror.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=mirror.folder.parent) as scratch:
        folder = Path(scratch)
        _download(mirror, folder, entries, deep=deep)
        newest = turns[-1]
        if manifests.name_of(newest.version) not in entries:  # its writer is, or was, at it
            for name, copy in newest.copies.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(copy)
            (folder / manifests.FOLDER).mkdir(exist_ok=True)
            manifests.path_of(folder, newest.version).write_bytes(newest.content())
        yield folder, turns


def _download(mirror: Mirror, folder: Path, entries: Mapping[str, Entry], *, deep: bool) -> None:
    def get(name: str) -> None:
        if deep or name.endswith(".json") or name.startswith("ingests/"):
            mirror.objects.download(name, folder / name)
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
            os.truncate(folder / name, entries[name].size)

    each(get, entries)


def repair(mirror: Mirror) -> Repair:
    """Put again what is lost or damaged, from its copies; the caller holds the lock of the mirror.

    Of a file with rows there is a copy if this machine has read it. Files that have none stay as they are.

    Raises:
        BadInput: there is no warehouse, or the storage can't be used.
    """
    with _downloaded(mirror, deep=True) as (folder, turns):
        damage = _verify(folder, turns, deep=True).damage
    sums, versions = expected(turns)
    copies = {name: copy for turn in turns for name, copy in turn.copies.items()}
    copies |= {manifests.name_of(turn.version): turn.content() for turn in turns}
    mended, lost = [], []
    for name in sorted({finding.path for finding in damage}):
        ours = mirror.folder / name
        if name in copies:
            mirror.objects.write(name, copies[name])
            mended.append(name)
        elif name in sums and ours.is_file() and manifests.sum_of(ours) == sums[name]:
            mirror.objects.upload(ours, name)
            mended.append(name)
        elif name in sums:
            lost.append(LostRows(name.partition("/")[0], name, 0, versions.get(name)))
    left = verify(mirror)  # what is not mended was read before, and what is was read here
    known = {*mended, *(finding.path for finding in left.findings)}
    findings = [*left.findings, *(finding for finding in damage if finding.path not in known)]
    return Repair(left.version, mended, lost, findings=findings)
