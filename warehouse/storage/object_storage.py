"""A warehouse in an S3 bucket, and the local copy from which it is read.

A bucket holds the files with rows under the same names as on disk, and the Delta table `turns` with one row
per commit: its manifest, which contains the log entries and the record of the commit. Adding that row is the
commit. deltalake adds it by a conditional write of the log's next entry, so of two concurrent writers one is
refused; it then downloads the other's commit and makes its own rows again.

The copy is a warehouse on disk that only grows, as reading from the bucket itself takes hundreds of requests
for one recommendation. Credentials, region and endpoint come from the environment (`AWS_ACCESS_KEY_ID`,
`AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP`) or from
AWS's own files; they are neither stored nor logged, and are removed from error messages.
"""

import os
import random
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from filelock import FileLock
from pyarrow import fs

from warehouse.storage import delta, manifests, verification
from warehouse.storage.manifests import FileSum, Manifest, is_inside
from warehouse.storage.verification import MODELS, Verification, is_checkpoint
from warehouse.support.errors import Failed, UnusableWarehouse, one_line
from warehouse.support.files import scratch_folder
from warehouse.support.paths import cache_directory
from warehouse.support.text import duration_in
from warehouse.vocabulary.schema import TABLES

T = TypeVar("T")

TURNS = "turns"
_TURN = pa.schema([("version", pa.int64()), ("manifest", pa.string())])
_ONLY_AS_NEXT = CommitProperties(max_commit_retries=0)
_PROBE = ".writable"
"""Empty object, written to test whether the bucket accepts objects."""

_COMMIT_ATTEMPTS = 20
_LONGEST_PAUSE = 5.0
"""Longest pause between two attempts to commit, in seconds; pauses double from 0.1 s."""
_MANY_ENTRIES = 100
"""Number of log entries from which the copy gets a checkpoint, which is faster to read."""

_URL = re.compile(r"s3://[a-z0-9][a-z0-9.-]*(/[A-Za-z0-9._=-]+)*")
_TIMEOUT = "HEADSTART_STORAGE_TIMEOUT"
"""Environment variable: timeout of a request."""
_REQUEST_ATTEMPTS = 3
_CONNECTING = 0.1
"""Share of the timeout for connecting."""
_AT_ONCE = 8
"""Number of parallel transfers."""
_SECRET_CHARACTERS = 8
"""Shortest credential removed from error messages; those of AWS have at least 20 characters."""
_DECORATION = re.compile(r"\x1b\[\d*m|\u21b3")
"""Colours and arrows in deltalake's error messages."""

# Pattern in a library's error message -> explanation for the user.
_REASONS = {
    r"NO_SUCH_BUCKET|NoSuchBucket|bucket does not exist": "the bucket does not exist",
    r"ACCESS_DENIED|AccessDenied|INVALID_ACCESS_KEY|InvalidAccessKey|SIGNATURE_DOES_NOT|SignatureDoesNot"
    r"|\b403\b|Forbidden|[Uu]nauthorized|[Cc]redential|HTTP status 401": "access is denied;"
    " check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions",
    r"RESOURCE_NOT_FOUND|\b404 [A-Z]": "the bucket does not exist, or the server"
    " has no S3 interface; check AWS_ENDPOINT_URL",
    r"INTERNAL_FAILURE|SLOW_DOWN|SERVICE_UNAVAILABLE|THROTTLING|HTTP status 5|\b50[0234] [A-Z]": "the"
    " server is unavailable or overloaded; try again later",
    r"NETWORK_CONNECTION|curlCode|error sending request|[Tt]imeout|timed out|[Cc]onnect": "the server does"
    " not answer; check AWS_ENDPOINT_URL and AWS_REGION",
}


class Bucket:
    """The objects below a URL `s3://bucket/path`.

    Raises:
        BadInput: the URL or an environment variable can't be used.
    """

    def __init__(self, url: str) -> None:
        if "@" in urlsplit(url).netloc:  # not repeated in the message: it may be a secret
            raise UnusableWarehouse(
                "a URL of object storage must not hold credentials; set AWS_ACCESS_KEY_ID and"
                " AWS_SECRET_ACCESS_KEY"
            )
        self.url = url.rstrip("/")
        if not _URL.fullmatch(self.url) or {".", "..", "_delta_log"} & set(self.url.split("/")):
            raise UnusableWarehouse(
                f"{one_line(url)} is not a usable object storage URL; expected s3://bucket/path, with a "
                f"path of letters, digits and the signs . _ = -"
            )
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
        scheme, _, host = endpoint.rpartition("://")
        if scheme == "http" and os.environ.get("AWS_ALLOW_HTTP", "").lower() not in ("true", "1"):
            raise UnusableWarehouse(
                f"{self.url}: the endpoint is not encrypted; set AWS_ALLOW_HTTP=true if that is intended"
            )
        seconds = duration_in(_TIMEOUT, "30s")
        self.objects = fs.SubTreeFileSystem(
            self.url.removeprefix("s3://"),
            fs.S3FileSystem(
                region=region,
                scheme=scheme or "https",
                endpoint_override=host or None,
                connect_timeout=seconds * _CONNECTING,
                request_timeout=seconds / _REQUEST_ATTEMPTS,
                allow_delayed_open=True,  # small objects take one request
                retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_REQUEST_ATTEMPTS),
            ),
        )
        self._delta_options = {
            "AWS_REGION": region,
            "connect_timeout": _milliseconds(seconds * _CONNECTING),
            "timeout": _milliseconds(seconds),
            "max_retries": str(_REQUEST_ATTEMPTS - 1),
            "retry_timeout": _milliseconds(seconds),
            **({"AWS_ENDPOINT_URL": endpoint} if endpoint else {}),
        }

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of libraries into a `BadInput` of one line."""
        try:
            yield
        except (OSError, DeltaError, pa.ArrowException, ValueError) as error:
            said = _without_secrets(error)
            meanings = [meaning for pattern, meaning in _REASONS.items() if re.search(pattern, said)]
            raise UnusableWarehouse(f"{self.url} can't be used: {[*meanings, said[:300]][0]}") from None

    def listing(self, folder: str = "") -> list[fs.FileInfo]:
        """The objects below a folder."""
        found = self.objects.get_file_info(fs.FileSelector(folder, allow_not_found=True, recursive=True))
        return [info for info in found if info.type == fs.FileType.File and is_inside(info.path)]

    def upload(self, folder: Path, names: Iterable[str]) -> None:
        """Upload files of `folder` as objects."""
        each(lambda name: self._copy(folder / name, name), names)

    def _copy(self, file: Path, name: str) -> None:
        with file.open("rb") as source, self.objects.open_output_stream(name) as target:
            shutil.copyfileobj(source, target, 2**20)

    def download(self, folder: Path, names: Iterable[str]) -> None:
        """Download objects to files in `folder`, each atomically; lost objects are skipped."""
        each(lambda name: self._download(name, folder / name), names)

    def _download(self, name: str, file: Path) -> None:
        with suppress(FileNotFoundError), self.objects.open_input_stream(name) as source:
            _write(file, source.read())

    def delete(self, names: Iterable[str]) -> None:
        """Remove objects."""
        each(self.objects.delete_file, names)

    def turns(self) -> DeltaTable | None:
        """The table of commits; None if there is none."""
        try:
            return DeltaTable(f"{self.url}/{TURNS}", storage_options=self._delta_options)
        except TableNotFoundError:  # also where there is no bucket
            self.objects.base_fs.get_file_info(fs.FileSelector(self.url.split("/")[2], recursive=False))
            return None

    def manifests(self, turns: DeltaTable, since: int) -> list[Manifest]:
        """Manifests of the commits from version `since` on, oldest first."""
        place = fs.SubTreeFileSystem(TURNS, self.objects)
        rows = turns.to_pyarrow_dataset(filesystem=place).to_table(filter=ds.field("version") >= since)
        return [
            Manifest.parse(row["manifest"].encode(), manifests.name_of(row["version"]))
            for row in rows.sort_by("version").to_pylist()
        ]

    def publish(self, folder: Path, made: Manifest) -> bool:
        """Publish the newest version of the warehouse in `folder` to the bucket; False if refused."""
        rows = _rows([made])
        self.upload(folder, rows)
        accepted = self._append(made)
        if not accepted:
            self.delete(rows)  # nothing refers to them
        return accepted

    def _append(self, made: Manifest) -> bool:
        """Add a commit's row to `turns`, directly after that of the previous commit; False if refused."""
        turns = self.turns()
        if turns is not None:
            last = self.manifests(turns, max(made.version - 1, 0))
            if not last or last[-1].checksum != made.parent:
                return False
        try:
            write_deltalake(
                turns or f"{self.url}/{TURNS}",
                pa.table({"version": [made.version], "manifest": [made.content().decode()]}, schema=_TURN),
                mode="append" if turns else "error",
                storage_options=self._delta_options,
                configuration=None if turns else delta.KEEP_EVERYTHING,
                commit_properties=_ONLY_AS_NEXT,
            )
        except (DeltaError, OSError) as error:
            # The server may have added it although its answer was lost.
            now = self.turns()
            there = self.manifests(now, made.version) if now else []
            if not there and not isinstance(error, CommitFailedError):
                raise
            return any(manifest.checksum == made.checksum for manifest in there)
        return True


class RemoteWarehouse:
    """The warehouse in `bucket`, and its copy in `folder` on this machine; use `find` or `create`."""

    def __init__(self, bucket: Bucket, turns: DeltaTable) -> None:
        self._bucket, self._turns = bucket, turns
        self.url = bucket.url
        # Named after the table's id, which differs for another warehouse at the same URL.
        self.folder = cache_directory() / "object-storage" / str(turns.metadata().id)

    def pull(self) -> None:
        """Update the copy.

        Raises:
            BadInput: the bucket can't be used, or an object is lost or damaged.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        # Not the writers' lock, which may be held for long.
        with self._bucket.explained(), FileLock(self.folder.with_suffix(".pull")):
            own = manifests.newest(self.folder)
            self._turns.update_incremental()
            new = self._bucket.manifests(self._turns, own.version + 1 if own else 0)
            rows = _rows(new)
            self._bucket.download(self.folder, [name for name in rows if not (self.folder / name).is_file()])
            for name, wanted in rows.items():
                file = self.folder / name
                if not file.is_file() or manifests.sum_of(file) != wanted:
                    file.unlink(missing_ok=True)
                    raise UnusableWarehouse(f"{self.url}/{name} is lost or damaged; {_EXPORT}")
            _add_commits(self.folder, new)

    def commit(self, work: Callable[[Path], T]) -> T:
        """Do `work` in a folder with the newest version of the warehouse, and publish the version it makes.

        If another writer was faster, `work` is done again; the caller holds the lock of the copy. Returns the
        last result of `work`.

        Raises:
            BadInput: the bucket can't be used.
            Failed: other writers were faster 20 times.
        """
        for attempt in range(_COMMIT_ATTEMPTS):
            self.pull()
            with scratch_folder(self.folder.with_suffix(".turn")) as scratch:
                for name in (*TABLES, manifests.FOLDER):  # their files never change
                    if (self.folder / name).is_dir():
                        shutil.copytree(self.folder / name, scratch / name, copy_function=os.link)
                before = delta.newest_version(scratch / "ingests")
                done = work(scratch)
                if delta.newest_version(scratch / "ingests") == before:
                    return done
                made = manifests.newest(scratch)
                if made is None or made.tables["ingests"] == before:
                    raise Failed(f"the checksums of a commit to {self.url} can't be written to {scratch}")
                with self._bucket.explained():
                    accepted = self._bucket.publish(scratch, made)
                if accepted:
                    for name in _rows([made]):  # to avoid downloading them
                        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                        os.link(scratch / name, self.folder / name)
                    self.pull()
                    return done
            time.sleep(random.uniform(0, min(0.1 * 2**attempt, _LONGEST_PAUSE)))
        raise Failed(f"other processes keep writing to {self.url}; try again later")

    def verify(self, *, deep: bool) -> Verification:
        """Compare the copy with the manifests of the commits, or with `deep` every byte of the bucket.

        Raises:
            BadInput: the bucket can't be used; without `deep` also if an object is lost or damaged.
        """
        if not deep:
            self.pull()
            return verification.verify(self.folder)
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder.parent) as scratch:
            with self._bucket.explained():
                commits = self._bucket.manifests(self._turns, 0)
                self._bucket.download(Path(scratch), _rows(commits))
                _add_commits(Path(scratch), commits)
            return verification.verify(Path(scratch), deep=True)

    def pull_models(self) -> Path:
        """Download trained models that are missing from the copy or older there; returns their folder.

        Raises:
            BadInput: the bucket can't be read.
        """
        with self._bucket.explained():
            stale = [
                info.path
                for info in self._bucket.listing(MODELS)
                if not (file := self.folder / info.path).is_file() or file.stat().st_mtime_ns < info.mtime_ns
            ]
            for names in _model_last(stale):
                self._bucket.download(self.folder, names)
        return self.folder / MODELS

    def share_model(self, path: Path) -> None:
        """Upload a model of the copy.

        Raises:
            BadInput: the bucket can't be written to.
        """
        with self._bucket.explained():
            for names in _model_last([f"{MODELS}/{path.name}/{file.name}" for file in path.iterdir()]):
                self._bucket.upload(self.folder, names)

    def remove_model(self, path: Path) -> None:
        """Remove a model from the bucket, if it is there.

        Raises:
            BadInput: the bucket can't be written to.
        """
        with self._bucket.explained():
            found = [info.path for info in self._bucket.listing(f"{MODELS}/{path.name}")]
            for names in reversed(_model_last(found)):
                self._bucket.delete(names)


_EXPORT = "`warehouse export` makes a new warehouse on a machine that has read this one before"


def find(url: str) -> RemoteWarehouse | None:
    """The warehouse at a URL; None if there is none.

    Raises:
        BadInput: the bucket can't be used.
    """
    bucket = Bucket(url)
    with bucket.explained():
        turns = bucket.turns()
    return None if turns is None else RemoteWarehouse(bucket, turns)


def create(url: str, make: Callable[[Path], None]) -> bool:
    """Publish the warehouse made by `make` in a folder; False if there is already one at the URL.

    Raises:
        BadInput: the bucket can't be used, or has other objects below the URL.
    """
    bucket = Bucket(url)
    cache = cache_directory() / "object-storage"
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        with bucket.explained():
            if bucket.turns() is not None:
                return False
            # A killed creator may have left files of a warehouse.
            of_warehouse = {*TABLES, TURNS, _PROBE}
            if not {info.path.partition("/")[0] for info in bucket.listing()} <= of_warehouse:
                raise UnusableWarehouse(
                    f"{bucket.url} holds other objects; choose a new or empty place for a warehouse"
                )
        folder = Path(scratch) / "made"
        make(folder)
        made = manifests.newest(folder)
        if made is None:
            raise Failed(f"no warehouse can be made at {bucket.url}: its checksums can't be written")
        with bucket.explained():
            return bucket.publish(folder, made)


def check_writable(url: str) -> None:
    """Check that a bucket accepts objects.

    Raises:
        BadInput: the reason.
    """
    bucket = Bucket(url)
    with bucket.explained(), bucket.objects.open_output_stream(_PROBE):
        pass


def each(do: Callable[[str], object], names: Iterable[str]) -> None:
    """Call `do` for each name, some in parallel; the first error is raised, and ends further calls."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(do, names))


def _rows(commits: Iterable[Manifest]) -> dict[str, FileSum]:
    """Files with rows written by the commits, which manifests do not contain."""
    return {
        name: wanted
        for manifest in commits
        for name, wanted in manifest.files.items()
        if name not in manifest.copies and not is_checkpoint(name)
    }


def _add_commits(folder: Path, commits: list[Manifest]) -> None:
    """Add log entries, records and manifests of commits to a warehouse on disk that has their rows.

    The records come last, as they make the commits visible to readers.
    """
    copies = {name: copy for manifest in commits for name, copy in manifest.copies.items()}
    for name in sorted(copies, key=lambda name: (name.startswith("ingests/"), "/_delta_log/" in name, name)):
        _write(folder / name, copies[name])
    for manifest in commits:
        _write(manifests.path_of(folder, manifest.version), manifest.content())
    for name, version in commits[-1].tables.items() if commits else ():
        if name != "ingests" and version - delta.newest_checkpoint(folder / name) >= _MANY_ENTRIES:
            delta.open_version(folder / name, version).create_checkpoint()


def _model_last(names: list[str]) -> list[list[str]]:
    """Files of models in two groups; those of the second, `model.json`, make a folder a model."""
    return [[name for name in names if name.endswith("model.json") == is_last] for is_last in (False, True)]


def _write(file: Path, content: bytes) -> None:
    """Write a file of the copy atomically; it is not synced, as it can be downloaded again."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.replace(file)


def _milliseconds(seconds: float) -> str:
    return f"{max(seconds * 1000, 1):.0f}ms"


def _without_secrets(error: object) -> str:
    said = one_line(_DECORATION.sub("", str(error)))
    for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID"):
        if len(secret := os.environ.get(name, "")) >= _SECRET_CHARACTERS:
            said = said.replace(secret, "***")
    return said
