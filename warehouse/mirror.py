"""A warehouse in object storage, and its copy on this machine from which it is read.

Below the URL lie the same files as in a warehouse on disk, and one Delta table more, `turns`: a row for each
commit, with its manifest. This row is the commit. deltalake adds it on the condition that nobody else has
added one since the writer read the last (a conditional put of the log's next entry, or whatever locking
deltalake was told to use), so that of two writers one is refused; it takes over what the other wrote and
makes its own rows again.

A writer works in a folder of its own, which begins as hard links to the copy. It uploads new files with rows
(their names are unique, and nothing refers to them yet), adds its row to `turns`, and then puts log entries,
the record of the commit and the manifest in their places. All that these are made of is in the row: readers
take it from there, and the next writer puts what one that was killed had not.
"""

import hashlib
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from filelock import FileLock

from warehouse import delta, manifests
from warehouse.manifests import FileSum, Manifest
from warehouse.objects import Objects, each
from warehouse.schema import TABLES
from warehouse.support.errors import Failed, UnusableWarehouse, one_line
from warehouse.support.files import scratch_folder
from warehouse.support.paths import cache_directory
from warehouse.verification import MODELS, expected, is_checkpoint, read_chain

T = TypeVar("T")

TURNS = "turns"
_MODEL = "model.json"
_JOBS = "jobs"
"""Folder of what `ingest openml` was asked for, which is in this warehouse and no other."""
_PROBE = ".writable"
"""An empty object that is written to see whether objects may be."""
_TURN = pa.schema([("version", pa.int64()), ("manifest", pa.string())])
_ONLY_AS_NEXT = CommitProperties(max_commit_retries=0)
_ATTEMPTS = 20
_PAUSE = 0.1
"""Seconds that a writer who lost waits at most before its second attempt; each time twice as long."""
_LONGEST_PAUSE = 5.0
_MANY_ENTRIES = 100
"""Entries of a log from which on a checkpoint is made of them, which is quicker to read."""


class Mirror:
    """The copy of the warehouse at `url`; nothing is read before `pull`."""

    def __init__(self, url: str) -> None:
        self.objects = Objects(url)
        self.url = self.objects.url
        place = hashlib.sha256(f"{self.objects.endpoint} {self.url}".encode()).hexdigest()[:16]
        self.folder = cache_directory() / "object-storage" / place

    def pull(self) -> bool:
        """Bring the copy up to date; returns whether there is a warehouse.

        Raises:
            BadInput: the storage can't be read, or is damaged.
        """
        with self._copy():
            own = manifests.newest(self.folder)
            turns = self.turns(own.version if own else 0)
            if own and (not turns or turns[0].checksum != own.checksum):
                self._forget()  # the URL has another warehouse now
                own, turns = None, self.turns(0)
            if not turns:
                return False
            new = [turn for turn in turns if own is None or turn.version > own.version]
            if new:
                self._take(new)
        return True

    @contextmanager
    def _copy(self) -> Iterator[None]:
        """Hold the right to change the copy, for a moment; writers at work in their folder don't have it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / ".pull.lock"):
                yield
        except (DeltaError, OSError, ValueError) as error:
            raise UnusableWarehouse(
                f"the copy of {self.url} in {self.folder} can't be used, delete it: {one_line(error)}"
            ) from error

    def turns(self, since: int) -> list[Manifest]:
        """Manifests of the commits from a version on, oldest first.

        Raises:
            BadInput: the storage can't be read, or is damaged.
        """
        table = self._table()
        return [] if table is None else self._rows(table, since)

    def _rows(self, table: DeltaTable, since: int) -> list[Manifest]:
        with self.objects.explained():
            rows = (
                table.to_pyarrow_dataset(filesystem=self.objects.below(TURNS))
                .to_table(filter=ds.field("version") >= since)
                .sort_by("version")
            )
        return [self._manifest(row["version"], row["manifest"]) for row in rows.to_pylist()]

    def _manifest(self, version: int, content: str) -> Manifest:
        """The manifest of a turn; where that is damaged, the one that lies among the other files."""
        name = manifests.name_of(version)
        try:
            return Manifest.parse(content.encode(), name)
        except ValueError:
            try:
                return Manifest.parse(self.objects.read(name), name)
            except ValueError:
                raise UnusableWarehouse(f"{self.url} is damaged: {name} and its turn") from None

    def _table(self) -> DeltaTable | None:
        try:
            return DeltaTable(f"{self.url}/{TURNS}", storage_options=self.objects.delta_options())
        except TableNotFoundError:
            self.objects.check()
            return None
        except (DeltaError, OSError):
            with self.objects.explained():
                raise

    def _take(self, turns: list[Manifest], at_hand: Path | None = None) -> None:
        """Add commits to the copy: first what they refer to, last what makes them visible.

        Args:
            at_hand: folder with files that need not be downloaded.
        """
        copies = {name: copy for turn in turns for name, copy in turn.copies.items()}
        records = {name: copy for name, copy in copies.items() if name.startswith("ingests/")}
        for name in copies.keys() - records.keys():
            _write(self.folder / name, copies[name])
        self._fetch(turns[-1].tables, turns, at_hand)
        for name, version in turns[-1].tables.items():
            if name != "ingests" and version - delta.newest_checkpoint(self.folder / name) >= _MANY_ENTRIES:
                delta.open_version(self.folder / name, version).create_checkpoint()
        for name in sorted(records, key=lambda name: ("/_delta_log/" in name, name)):
            _write(self.folder / name, records[name])
        for turn in turns:
            _write(manifests.path_of(self.folder, turn.version), turn.content())

    def fetch(self, delta_versions: Mapping[str, int]) -> None:
        """Have the files on this machine that make up a version, which need not be the newest.

        Raises:
            BadInput: one is lost or damaged, or the storage can't be read.
        """
        with self._copy():
            self._fetch(delta_versions, [], None)

    def _fetch(self, delta_versions: Mapping[str, int], new: list[Manifest], at_hand: Path | None) -> None:
        files = []
        for name, version in delta_versions.items():
            if name != "ingests":
                table = delta.open_version(self.folder / name, version)
                files += [Path(file) for file in delta.files(self.folder / name, table)]
        missing = [file.relative_to(self.folder).as_posix() for file in files if not file.is_file()]
        if not missing:
            return
        sums = expected([*read_chain(self.folder)[0], *new])[0]

        def get(name: str) -> None:
            if at_hand is not None and (at_hand / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                os.link(at_hand / name, self.folder / name)
            else:
                self._download(name, sums.get(name))

        each(get, missing)

    def _download(self, name: str, wanted: FileSum | None) -> None:
        if self.objects.download(name, self.folder / name) != wanted:
            (self.folder / name).unlink()
            raise UnusableWarehouse(
                f"{self.url}/{name} is damaged; `warehouse repair` may mend it on a machine that has read it"
            )

    def _forget(self) -> None:
        for name in [manifests.FOLDER, *reversed(list(TABLES)), MODELS, _JOBS]:
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def pull_models(self) -> None:
        """Have the trained models of the storage in the copy.

        Raises:
            BadInput: the storage can't be read.
        """
        found = self.objects.listing(MODELS)
        with self._copy():
            stale = [
                name
                for name, entry in found.items()
                if not (file := self.folder / name).is_file() or file.stat().st_mtime_ns < entry.modified
            ]
            for names in _model_last(stale):
                each(lambda name: self.objects.download(name, self.folder / name), names)

    def share_model(self, path: Path) -> None:
        """Put a model of the copy into the storage.

        Raises:
            BadInput: the storage can't be written to.
        """
        for names in _model_last([f"{MODELS}/{path.name}/{file.name}" for file in path.iterdir()]):
            each(lambda name: self.objects.upload(self.folder / name, name), names)

    def remove_model(self, path: Path) -> None:
        """Remove a model from the storage, if it is there.

        Raises:
            BadInput: the storage can't be written to.
        """
        for names in reversed(_model_last(list(self.objects.listing(f"{MODELS}/{path.name}")))):
            each(self.objects.delete, names)

    def commit(self, work: Callable[[Path], T]) -> T:
        """Do `work` in a folder that is the warehouse as it is, and publish the version that it made.

        Where another writer was faster, `work` is done again; the caller holds the lock of the copy. Returns
        what `work` returned last.

        Raises:
            BadInput: the storage can't be used.
            Failed: others were faster again and again, or the disk refuses.
        """
        for attempt in range(_ATTEMPTS):
            if not self.pull():
                raise UnusableWarehouse(f"there is no warehouse at {self.url} any more")
            before = manifests.newest(self.folder)
            with scratch_folder(self.folder.with_suffix(".turn")) as scratch:
                _link(self.folder, scratch)
                done = work(scratch)
                made = manifests.newest(scratch)
                if made is None or before is None or made.version == before.version:
                    if delta.log_versions(scratch / "ingests") != delta.log_versions(self.folder / "ingests"):
                        raise Failed(f"the checksums of a commit to {self.url} can't be written to {scratch}")
                    return done
                self._finish(before)
                if self._publish(scratch, made):
                    with self._copy():
                        self._take([made], scratch)
                    return done
            time.sleep(random.uniform(0, min(_PAUSE * 2**attempt, _LONGEST_PAUSE)))
        raise Failed(f"others have been writing to {self.url} all the time; try again later")

    def create(self, make: Callable[[Path], None]) -> bool:
        """Publish what `make` makes in a folder as the first version; returns whether we were the first.

        Raises:
            BadInput: the storage can't be used.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / ".lock"), scratch_folder(self.folder.with_suffix(".turn")) as scratch:
            # What a creator left that was killed may be there, and the object of `check_writable`.
            ours = {*TABLES, manifests.FOLDER, MODELS, TURNS, _PROBE}
            if self.pull():
                return False
            if not {name.partition("/")[0] for name in self.objects.listing()} <= ours:
                raise UnusableWarehouse(
                    f"{self.url} holds other objects; choose a new or empty place for a warehouse"
                )
            make(scratch / "made")
            made = manifests.newest(scratch / "made")
            if made is None:
                raise Failed(f"no warehouse can be made at {self.url}: its checksums can't be written")
            return self._publish(scratch / "made", made)

    def check_writable(self) -> None:
        """Refuse storage that could not be written to.

        Raises:
            BadInput: what is wrong with it.
        """
        self.objects.write(_PROBE, b"")

    def _publish(self, folder: Path, made: Manifest) -> bool:
        """Make the newest version of `folder` that of the storage; False where another writer was faster."""
        rows = [name for name in made.files if name not in made.copies and not is_checkpoint(name)]
        each(lambda name: self.objects.upload(folder / name, name), rows)
        if not self._take_turn(made):
            each(self.objects.delete, rows)  # nothing refers to them
            return False
        self._finish(made)
        return True

    def _take_turn(self, made: Manifest) -> bool:
        """Add the row that is the commit, as the next one after the commit that it rests on."""
        row = pa.table({"version": [made.version], "manifest": [made.content().decode()]}, schema=_TURN)
        table = self._table()
        if table is not None:
            last = self._rows(table, max(made.version - 1, 0))
            if not last or last[-1].checksum != made.parent:
                return False
        try:
            write_deltalake(
                table or f"{self.url}/{TURNS}",
                row,
                mode="append" if table else "error",
                storage_options=self.objects.delta_options(),
                configuration=None if table else delta.KEEP_EVERYTHING,
                commit_properties=_ONLY_AS_NEXT,
            )
        except (CommitFailedError, DeltaError, OSError) as error:
            # An answer may have been lost: what counts is what is there.
            there = self.turns(made.version)
            if any(turn.checksum == made.checksum for turn in there):
                return True
            if there or isinstance(error, CommitFailedError):
                return False
            with self.objects.explained():
                raise
        return True

    def _finish(self, made: Manifest) -> None:
        """Put a published commit's small files in their places, unless they are; the manifest last."""
        if self.objects.exists(manifests.name_of(made.version)):
            return
        each(lambda name: self.objects.write(name, made.copies[name]), made.copies)
        self.objects.write(manifests.name_of(made.version), made.content())


def _model_last(names: list[str]) -> list[list[str]]:
    """Files of models in two parts: all others, and the one without which a folder is no model."""
    return [[name for name in names if name.endswith(_MODEL) == is_last] for is_last in (False, True)]


def _link(folder: Path, target: Path) -> None:
    """Hard links in `target` to the tables and manifests of `folder`: no file of these is ever changed."""
    for name in [*TABLES, manifests.FOLDER]:
        if (folder / name).is_dir():
            shutil.copytree(folder / name, target / name, copy_function=os.link)


def _write(file: Path, content: bytes) -> None:
    """Write a file of the copy, whole or not at all. It can be had again: a power cut may take it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.replace(file)
