"""The warehouse: a directory of Delta tables with one version number over all of them.

A commit writes table after table, and last a row of `ingests`, which names the Delta version of every table.
Readers see only the versions named by the newest of these rows, so they see nothing of an interrupted commit;
the next writer removes its remains.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

import duckdb
import pyarrow as pa
from deltalake.exceptions import DeltaError

from warehouse.storage import delta, exporting, manifests, merging, verification, writing
from warehouse.storage import repair as repairing
from warehouse.storage.crash_cleanup import cleared
from warehouse.storage.history import CommitHistory
from warehouse.storage.repair import Repair
from warehouse.storage.rows import conform
from warehouse.storage.snapshot import Parameters, Snapshot
from warehouse.storage.verification import Verification
from warehouse.storage.writing import Commit
from warehouse.support.errors import (
    NoWarehouse,
    UnusableWarehouse,
    Unwritable,
    is_panic,
    one_line,
    raise_refusal,
    reason_of,
    telling_refusals,
)
from warehouse.support.files import make_folder, put_in_place, unfinished_folder, write_bytes
from warehouse.support.locks import LOCK, locked
from warehouse.support.paths import data_directory, is_url
from warehouse.vocabulary.schema import TABLES
from warehouse.vocabulary.task_types import CLASSIFICATION, TaskType

# Writing and reading Arrow tables works without pandas, which takes a third of the imports' memory.
if TYPE_CHECKING:
    import pandas as pd

    from warehouse.questions.queries import RunAnswers, RunTable, TimedFits
    from warehouse.questions.run_origins import RunOrigins, Whose
    from warehouse.storage.object_storage import RemoteWarehouse

    Rows = Mapping[str, pa.Table] | Mapping[str, pd.DataFrame] | Mapping[str, pa.Table | pd.DataFrame]
    """Table -> rows to write."""

T = TypeVar("T")

STARTER = Path(__file__).resolve().parent / "starter"


class Warehouse:
    """Runs, their setups and datasets, as of one version.

    An open warehouse stays at its version, whatever others write; its own `write` moves it to the new one.
    """

    def __init__(self, path: Path, version: int | None = None, remote: RemoteWarehouse | None = None) -> None:
        """Use `open` or `create`, which explain what is wrong with a path."""
        self.path = path
        """Folder to read from; for a warehouse in object storage, its copy on this machine."""
        self.location = str(path) if remote is None else remote.url
        """Path or URL to open the warehouse again."""
        self._remote = remote
        self._is_newest = version is None
        self._move_to(version)

    @classmethod
    @telling_refusals()
    def open(cls, path: str | Path | None = None, *, version: int | None = None) -> Self:
        """The warehouse at `path`, at its newest version or at `version` (0 is the empty one).

        `path` is a folder or a URL `s3://bucket/path`. Default: the warehouse named by the environment
        variable HEADSTART_WAREHOUSE, else the user's own if it exists, else the bundled starter. Raises
        `BadInput` if there is no warehouse or no such version.
        """
        if url := _url(path):
            remote = _remote(url)
            remote.pull()
            with _unreadable_is_bad_input(url):
                return cls(remote.folder, version, remote)
        folder = _folder(path)
        if folder is None:
            own = user_directory()
            folder = own if _is_warehouse(own) else STARTER
        if not folder.exists():
            raise NoWarehouse(f"there is no warehouse at {folder}; check the path, or fill one with `ingest`")
        if not _is_warehouse(folder):
            can_become_one = folder.is_dir() and not any(folder.iterdir())
            raise (NoWarehouse if can_become_one else UnusableWarehouse)(
                f"{folder} is not a warehouse (it has no table of ingests); check the path"
            )
        with _unreadable_is_bad_input(folder):
            return cls(folder, version)

    @classmethod
    def create(cls, path: str | Path | None = None) -> Self:
        """The warehouse at `path`, created empty if there is none.

        Default: the one named by the environment variable HEADSTART_WAREHOUSE, else the user's own,
        which is created as a copy of the starter, so that a user's first runs add to the starter's. Raises
        `BadInput` if the path is a file, or a directory with something else in it.
        """
        if url := _url(path):
            from warehouse.storage import object_storage

            object_storage.create(url, _make)  # unless there is one
            return cls.open(url)
        folder = _folder(path)
        if folder is None:
            folder = user_directory()
            if not _is_warehouse(folder) and _is_warehouse(STARTER):
                _begin_with_starter(folder)
        if not _is_warehouse(folder):
            _make(folder)
        return cls.open(folder)

    @classmethod
    def check_writable(cls, path: str | Path | None = None) -> None:
        """Check that a warehouse can be written to, before work whose results it will store.

        It need not exist; nothing is created. Raises `BadInput`, as `create` and `write` would.
        """
        if url := _url(path):
            from warehouse.storage import object_storage

            object_storage.check_writable(url)
            return
        folder = _folder(path) or user_directory()
        if _is_warehouse(folder):
            cls.open(folder)._refuse_if_read_only()
            return
        existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
        if not os.access(existing, os.W_OK):
            raise UnusableWarehouse(
                f"no warehouse can be made at {folder}: {existing} is read-only for you;"
                " name another one with --warehouse DIR"
            )

    @property
    def version(self) -> int:
        """Number of commits; 0 is the empty warehouse."""
        return self._history.version

    @property
    def fingerprint(self) -> str:
        """Short hash of all runs and datasets up to this version, independent of the directory.

        Commits of sketches alone do not change it, so that models stay valid.
        """
        return self._history.learned_from().fingerprint

    @property
    def read_only(self) -> bool:
        """Whether `write` is refused: the starter, an older version, a directory that we may not write to."""
        return self._why_read_only() is not None

    def origins(self) -> RunOrigins:
        """How its runs differ from the bundled starter's, for the messages of commands that learn from it."""
        from warehouse.questions.run_origins import RunOrigins, run_origins

        if self.path == STARTER:
            (n,) = self.arrow("SELECT count(*) AS n FROM runs WHERE outcome = 'success'")["n"].to_pylist()
            return RunOrigins(self.location, "starter", n, n, 0, None)
        ingests: list[str] = []
        files: list[str] = []
        if _is_warehouse(STARTER):
            starter = Warehouse.open(STARTER)
            ingests = starter._history.ingests["ingest"].to_pylist()
            files = starter._snapshot.files("runs")
        whose: Whose = "user" if self.path == user_directory() else "other"
        return run_origins(self.arrow, ingests, files, self.location, whose)

    def sql(self, query: str, parameters: Parameters = None) -> pd.DataFrame:
        """Rows of a SELECT over the tables of `vocabulary.schema`; raises `BadInput` if it is invalid."""
        frame: pd.DataFrame = self.arrow(query, parameters).to_pandas()
        return frame

    def arrow(self, query: str, parameters: Parameters = None) -> pa.Table:
        """Like `sql`, with exact types: integers stay integers, and null is not NaN."""
        with _unreadable_is_bad_input(self.location):
            return self._snapshot.query(query, parameters)

    def limited_query(self, query: str, *, seconds: float | None, memory: int) -> pa.Table:
        """Like `arrow`, within limits; see `warehouse.storage.snapshot.Snapshot.limited_query`."""
        with _unreadable_is_bad_input(self.location):
            return self._snapshot.limited_query(query, seconds=seconds, memory=memory)

    def run_table(
        self,
        flow: str | None,
        measure: str,
        *,
        task_type: TaskType = CLASSIFICATION,
        related: bool = True,
    ) -> RunTable:
        """Successful runs on tasks of one type that have a value of a measure, and their configurations.

        More runs than fit in memory are sampled (`warehouse.questions.sampling`), with a log message.
        Arguments and errors as for `warehouse.questions.queries.run_answers`.
        """
        from warehouse.questions import queries

        return queries.table_of(self.run_answers(flow, measure, task_type=task_type, related=related))

    def run_answers(
        self,
        flow: str | None,
        measure: str,
        *,
        task_type: TaskType = CLASSIFICATION,
        related: bool = True,
        only: Sequence[str] = (),
    ) -> RunAnswers:
        """The answers that `run_table` combines; see `warehouse.questions.queries.run_answers`."""
        from warehouse.questions import queries

        return queries.run_answers(self.arrow, flow, measure, task_type=task_type, related=related, only=only)

    def fit_times(self, *, task_type: TaskType = CLASSIFICATION) -> TimedFits:
        """Seconds of one fit in each run; see `warehouse.questions.queries.fit_times`."""
        from warehouse.questions import queries

        return queries.fit_times(self.arrow, task_type=task_type)

    def metafeatures(self) -> pd.DataFrame:
        """Qualities by dataset; see `warehouse.questions.queries.metafeatures`."""
        from warehouse.questions import queries

        return queries.metafeatures(self.arrow)

    def write(
        self, tables: Rows | Callable[[Warehouse], Rows], *, source: str, location: str | None = None
    ) -> Commit:
        """Add rows, and replace rows with the same key and other content: all or nothing.

        Rows that exist already are ignored; if all do, there is no new version. Several processes may write
        at once; each waits for its turn. Raises `BadInput` for rows that do not fit the schema or contradict
        each other, for a read-only warehouse, and if the disk refuses.

        Args:
            tables: rows by table. If they depend on the content of the warehouse, pass a function: it is
                called with the newest version under the writers' lock.
        """
        self._refuse_if_read_only()
        with duckdb.connect() as connection:
            made = {} if callable(tables) else _conformed(connection, tables)  # before taking the lock

            def write(folder: Path) -> Commit:
                rows = _conformed(connection, tables(Warehouse.open(folder))) if callable(tables) else made
                return writing.commit(connection, folder, rows, source=source, location=location)

            with _failing(f"cannot write to {self.location}"):
                done = self._in_turn(write)
        self._move_to(done.version)
        return done

    @cached_property
    def models(self) -> Path:
        """Folder of the warehouse's trained models, up to date.

        Raises:
            BadInput: the storage can't be used.
        """
        if self._remote is not None:
            return self._remote.pull_models()
        return self.path / verification.MODELS

    def share_model(self, path: Path) -> None:
        """Upload a model of the folder `models` for other machines; models elsewhere are ignored.

        Raises:
            BadInput: the storage can't be used.
        """
        if self._remote is not None and path.parent == self.models:
            self._remote.share_model(path)

    def remove_model(self, path: Path) -> None:
        """Remove a model of the folder `models`."""
        if self._remote is not None:
            self._remote.remove_model(path)
        shutil.rmtree(path, ignore_errors=True)

    def _in_turn(self, work: Callable[[Path], T]) -> T:
        """Call `work` with the warehouse's folder under the lock of writers; returns its result.

        In object storage the folder becomes the next version, and `work` is called again if another machine
        was faster.
        """
        with locked(self.path):
            if self._remote is not None:
                return self._remote.commit(work)
            with cleared(self.path):
                return work(self.path)

    def merge(self, other: str | Path | Warehouse) -> Commit:
        """Add the runs of another warehouse and the rows they refer to, in one commit or not at all.

        Rows in both must agree; `warehouse.storage.merging` says where, and which of two names stays. The
        other warehouse is only read. Its record of ingests is not copied: its rows come from this merge, with
        `other` as given as the location. Merging the same again makes no version. Raises `BadInput` if the
        two contradict each other or are the same, or if the other is damaged or from a newer Headstart; else
        as `write`.
        """
        theirs = other if isinstance(other, Warehouse) else Warehouse.open(other)
        named = theirs.location if isinstance(other, Warehouse) else str(other)
        self._refuse_if_read_only()
        if theirs.path.samefile(self.path):
            raise UnusableWarehouse(f"{theirs.location} is the warehouse to merge into; name another one")
        with _unreadable_is_bad_input(theirs.location):
            theirs._snapshot.refuse_unknown()
            theirs._refuse_if_damaged()

        def merge(folder: Path) -> Commit:
            ours = Warehouse.open(folder)  # at its newest version
            return merging.merge(folder, ours._snapshot, theirs._snapshot, location=named)

        with _failing(f"cannot merge {theirs.location} into {self.location}"):
            done = self._in_turn(merge)
        self._move_to(done.version)
        return done

    @classmethod
    def verify(cls, path: str | Path | None = None, *, deep: bool = False) -> Verification:
        """Damage to a warehouse, also to one that can't be opened; see
        `warehouse.storage.verification.verify`.

        For a warehouse in object storage: of its copy on this machine, or with `deep` of the whole bucket.
        """
        if url := _url(path):
            return _remote(url).verify(deep=deep)
        return verification.verify(_folder(path) or user_directory(), deep=deep)

    @classmethod
    def repair(cls, path: str | Path | None = None) -> Repair:
        """Repair a damaged warehouse on disk, also one that can't be opened; see `storage.repair.repair`."""
        if url := _url(path):
            raise UnusableWarehouse(
                f"{url} is in object storage, and only a warehouse on disk can be repaired;"
                " `warehouse export` makes a new one on a machine that has read it before"
            )
        folder = _folder(path) or user_directory()
        verification.verify(folder)  # refuses other folders before writing to them
        with _failing(f"cannot repair {folder}"), locked(folder), cleared(folder):
            return repairing.repair(folder)

    def restore(self, version: int) -> None:
        """Make an older version's content the newest; see `warehouse.storage.writing.restore`."""
        self._refuse_if_read_only()
        with _failing(f"cannot write to {self.location}"):
            self._in_turn(lambda folder: writing.restore(folder, version))
        self._move_to(None)

    def export(self, destination: str | Path) -> Self:
        """Copy this version to as few and small files as possible; returns the copy.

        The copy keeps version number, fingerprint and the record of all ingests, but not the content of older
        versions. Raises `BadInput` if `destination` exists and is not an empty directory.
        """
        url = _url(destination)
        target = _absolute(destination)
        if not url and target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise UnusableWarehouse(f"{target} exists already; export to a new directory")
        with _unreadable_is_bad_input(self.location):
            self._refuse_if_damaged()
        if url:
            from warehouse.storage import object_storage

            with _failing(f"cannot export to {url}"):
                if not object_storage.create(url, self._copy_content):
                    raise UnusableWarehouse(f"{url} has a warehouse already; export to a new place")
            return self.open(url)
        with _failing(f"cannot export to {target}"):
            make_folder(target.parent)
            with unfinished_folder(target.parent) as scratch:
                copy = scratch / target.name
                self._copy_content(copy)
                put_in_place(copy, target)  # replaces an empty directory only, never another process's files
        return self.open(target)

    def _refuse_if_damaged(self) -> None:
        files = (file for name in self._snapshot.versions for file in self._snapshot.files(name))
        verification.refuse_damaged(self.path, files)

    def _copy_content(self, copy: Path) -> None:
        if not self.version:
            _make(copy)
            (copy / LOCK).unlink(missing_ok=True)
            return
        copy.mkdir()
        _make_tables(copy)
        exporting.fill(copy, self._snapshot, self._history)

    def _move_to(self, version: int | None) -> None:
        history = CommitHistory.read(self.path)
        self._history = history if version is None else history.until(version)
        self._snapshot = Snapshot(self.path, self._history.delta_versions(), self._history.ingests)

    def _refuse_if_read_only(self) -> None:
        reason = self._why_read_only()
        if reason is not None:
            raise UnusableWarehouse(f"{reason}; name a warehouse of your own with --warehouse DIR")

    def _why_read_only(self) -> str | None:
        if self.path == STARTER:
            return "the bundled starter warehouse is read-only"
        if not self._is_newest:
            return (
                f"{self.location} was opened at version {self.version}, and only the newest version can be "
                f"written"
            )
        if not os.access(self.path, os.W_OK):
            return f"{self.path} is read-only for you"
        return None


def _conformed(connection: duckdb.DuckDBPyConnection, tables: Rows) -> dict[str, pa.Table]:
    return {name: conform(connection, name, rows) for name, rows in tables.items()}


def _url(path: str | Path | None) -> str | None:
    """The URL of a warehouse, by default that of HEADSTART_WAREHOUSE; None for a folder."""
    named = path or os.environ.get("HEADSTART_WAREHOUSE")
    return str(named) if is_url(named) else None


def _remote(url: str) -> RemoteWarehouse:
    # Imports pyarrow's support of S3, which warehouses on disk do not need.
    from warehouse.storage import object_storage

    found = object_storage.find(url)
    if found is None:
        raise NoWarehouse(f"there is no warehouse at {url}; check the URL, or fill one with `ingest`")
    return found


def user_directory() -> Path:
    """Directory of the user's own warehouse, which may not exist yet."""
    return data_directory() / "warehouse"


def _folder(path: str | Path | None) -> Path | None:
    named = path or os.environ.get("HEADSTART_WAREHOUSE")
    return _absolute(named) if named else None


def _absolute(path: str | Path) -> Path:
    return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100  # a link's own name is kept


def _is_warehouse(folder: Path) -> bool:
    return delta.newest_version(folder / "ingests") is not None


def _begin_with_starter(folder: Path) -> None:
    """Make `folder` a copy of the starter, unless another process did and may have committed to it."""
    with _failing(f"cannot make a warehouse at {folder}"):
        make_folder(folder.parent)
        with locked(folder.parent):
            if not _is_warehouse(folder):
                Warehouse.open(STARTER).export(folder)
                # Its models were learned from the same runs, so they need no training.
                for file in (STARTER / verification.MODELS).glob("*/*"):
                    copy = folder / file.relative_to(STARTER)
                    make_folder(copy.parent)
                    write_bytes(copy, file.read_bytes())


def _make(folder: Path) -> None:
    delta.check_path(folder)
    if folder.exists() and not folder.is_dir():
        raise UnusableWarehouse(f"a warehouse is a directory, and {folder} is a file; choose another path")
    if folder.is_dir() and not {entry.name for entry in folder.iterdir()} <= {
        *TABLES,
        LOCK,
        manifests.FOLDER,
    }:
        raise UnusableWarehouse(
            f"{folder} holds other files; choose a new or empty directory for a warehouse"
        )
    with _failing(f"cannot make a warehouse at {folder}"):
        make_folder(folder)
        with locked(folder):
            _make_tables(folder)
            if manifests.newest(folder) is None:
                parts = [manifests.written(folder, name, -1, 0) for name in TABLES]
                manifests.manifest(0, "", None, parts).write(folder)


def _make_tables(folder: Path) -> None:
    # `ingests` comes last in TABLES: its presence is what makes the directory a warehouse.
    for name, table in TABLES.items():
        delta.create(folder / name, table)


@contextmanager
def _failing(what: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if not _is_of_storage(error):
            raise
        raise Unwritable(f"{what}: {reason_of(error)}") from error


@contextmanager
def _unreadable_is_bad_input(folder: Path | str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if not _is_of_storage(error):
            raise
        raise_refusal(error)
        raise UnusableWarehouse(f"the warehouse at {folder} is damaged: {one_line(error)}") from error


def _is_of_storage(error: BaseException) -> bool:
    return isinstance(error, DeltaError | OSError | ValueError) or is_panic(error)
