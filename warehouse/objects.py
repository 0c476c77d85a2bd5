"""Objects below a URL of an S3 service, by pyarrow's support of it; what goes wrong is one line.

Credentials, region and endpoint are those of the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
`AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP`) or of AWS's own files. They go to
the service alone: they are not stored, not logged, and taken out of what libraries say of errors.

A service that gives no answer is given up after the seconds that HEADSTART_STORAGE_TIMEOUT says, all attempts
of a request together.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TypeVar
from urllib.parse import urlsplit

import pyarrow as pa
from deltalake.exceptions import DeltaError
from pyarrow import fs

from warehouse.manifests import FileSum, is_inside
from warehouse.support.errors import BadOption, UnusableWarehouse, one_line
from warehouse.support.text import parse_duration

T = TypeVar("T")

_URL = re.compile(r"s3://[a-z0-9][a-z0-9.-]*(/[A-Za-z0-9._=-]+)*")
_TIMEOUT = "HEADSTART_STORAGE_TIMEOUT"
_DEFAULT_TIMEOUT = "30s"
_ATTEMPTS = 3
_CONNECTING = 0.1
"""Share of the time for all attempts of a request that one may take until it is connected."""
_AT_ONCE = 8
"""Requests that are on their way at the same time."""
_BLOCK = 2**20
_SECRET_CHARACTERS = 8
"""Length of the shortest text that is taken for a secret; AWS's have 20 and more."""

_DECORATION = re.compile(r"\x1b\[\d*m|\u21b3")
"""Colours and arrows with which deltalake shows what caused what."""

# What libraries say -> what that means.
_REASONS = {
    r"NO_SUCH_BUCKET|NoSuchBucket|bucket does not exist": "there is no such bucket",
    r"ACCESS_DENIED|AccessDenied|INVALID_ACCESS_KEY|InvalidAccessKey|SIGNATURE_DOES_NOT|SignatureDoesNot"
    r"|\b403\b|Forbidden|[Uu]nauthorized|[Cc]redential|HTTP status 401": "access is denied;"
    " check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do there",
    r"RESOURCE_NOT_FOUND|\b404 [A-Z]": "there is no such bucket, or no server of the S3 interface;"
    " check AWS_ENDPOINT_URL",
    r"INTERNAL_FAILURE|SLOW_DOWN|SERVICE_UNAVAILABLE|THROTTLING|HTTP status 5|\b50[0234] [A-Z]": "the server"
    " answers that it can't serve now; try again later",
    r"NETWORK_CONNECTION|curlCode|error sending request|[Tt]imeout|timed out|[Cc]onnect": "the server does"
    " not answer; check AWS_ENDPOINT_URL and AWS_REGION",
}


@dataclass(frozen=True)
class Entry:
    """What a listing says of an object."""

    size: int  # bytes
    modified: int  # nanoseconds since 1970


class Objects:
    """The objects whose names begin with `url`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if "@" in parts.netloc:  # which is not repeated: it may be a secret
            raise UnusableWarehouse(
                "a URL of object storage must not hold credentials; set AWS_ACCESS_KEY_ID and"
                " AWS_SECRET_ACCESS_KEY"
            )
        self.url = url.rstrip("/")
        if not _URL.fullmatch(self.url) or {".", "..", "_delta_log"} & set(self.url.split("/")):
            raise UnusableWarehouse(
                f"{one_line(url)} is no URL of object storage that can be used: s3://bucket/path, its path of"
                " letters, digits and the signs . _ = -"
            )
        self.endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
        self.region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        scheme, _, host = self.endpoint.rpartition("://")
        if scheme == "http" and os.environ.get("AWS_ALLOW_HTTP", "").lower() not in ("true", "1"):
            raise UnusableWarehouse(
                f"{self.url}: the endpoint is not encrypted; set AWS_ALLOW_HTTP=true if that is meant"
            )
        self._root = self.url.removeprefix("s3://")
        self._seconds = _timeout()
        self._store = fs.S3FileSystem(
            region=self.region,
            scheme=scheme or "https",
            endpoint_override=host or None,
            connect_timeout=self._seconds * _CONNECTING,
            request_timeout=self._seconds / _ATTEMPTS,
            allow_delayed_open=True,  # small objects take one request
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        )

    def delta_options(self) -> dict[str, str]:
        """Options of deltalake; what these don't say, it takes from the environment itself."""
        options = {
            "AWS_REGION": self.region,
            "connect_timeout": _milliseconds(self._seconds * _CONNECTING),
            "timeout": _milliseconds(self._seconds),
            "max_retries": str(_ATTEMPTS - 1),
            "retry_timeout": _milliseconds(self._seconds),  # from which on no attempt begins
        }
        return options | ({"AWS_ENDPOINT_URL": self.endpoint} if self.endpoint else {})

    def below(self, folder: str) -> fs.FileSystem:
        """The objects of a folder as pyarrow's file system."""
        return fs.SubTreeFileSystem(f"{self._root}/{folder}", self._store)

    def check(self) -> None:
        """Refuse a bucket that is not there or can't be listed.

        Raises:
            BadInput: what is wrong with it.
        """
        with self.explained():
            self._store.get_file_info(fs.FileSelector(self._root.split("/")[0], recursive=False))

    def listing(self, folder: str = "") -> dict[str, Entry]:
        """All objects of a folder by their names, which begin with the folder's and do not lead out of it."""
        place = f"{self._root}/{folder}".rstrip("/")
        with self.explained():
            found = self._store.get_file_info(fs.FileSelector(place, allow_not_found=True, recursive=True))
        return {
            info.path.removeprefix(f"{self._root}/"): Entry(info.size, info.mtime_ns)
            for info in found
            if info.type == fs.FileType.File and is_inside(info.path.removeprefix(f"{self._root}/"))
        }

    def exists(self, name: str) -> bool:
        """Whether there is an object."""
        with self.explained():
            info: fs.FileInfo = self._store.get_file_info(f"{self._root}/{name}")
            return bool(info.type == fs.FileType.File)

    def read(self, name: str) -> bytes:
        """Content of a small object."""
        with self.explained(), self._store.open_input_stream(f"{self._root}/{name}") as stream:
            content: bytes = stream.read()
            return content

    def write(self, name: str, content: bytes) -> None:
        """Make an object, in place of one that is there; it is there when this returns."""
        with self.explained(), self._store.open_output_stream(f"{self._root}/{name}") as stream:
            stream.write(content)

    def upload(self, file: Path, name: str) -> None:
        """Make an object of a file, as `write`."""
        with (
            self.explained(),
            file.open("rb") as source,
            self._store.open_output_stream(f"{self._root}/{name}") as stream,
        ):
            shutil.copyfileobj(source, stream, _BLOCK)

    def download(self, name: str, file: Path) -> FileSum:
        """Write an object to a file, whole or not at all; returns what it is."""
        file.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".", delete=False) as written:
            unfinished = Path(written.name)
            try:
                with self.explained(), self._store.open_input_stream(f"{self._root}/{name}") as stream:
                    while block := stream.read(_BLOCK):
                        digest.update(block)
                        written.write(block)
                size = written.tell()
                written.close()
                unfinished.replace(file)
            finally:
                unfinished.unlink(missing_ok=True)
        return FileSum(size, digest.hexdigest())

    def delete(self, name: str) -> None:
        """Remove an object."""
        with self.explained():
            self._store.delete_file(f"{self._root}/{name}")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of libraries into one line."""
        try:
            yield
        except FileNotFoundError as error:
            raise UnusableWarehouse(f"{self.url} lacks an object: {_without_secrets(error)}") from None
        except (OSError, DeltaError, pa.ArrowException) as error:
            said = _without_secrets(error)
            for pattern, meaning in _REASONS.items():
                if re.search(pattern, said):
                    raise UnusableWarehouse(f"{self.url} can't be used: {meaning}") from None
            raise UnusableWarehouse(f"{self.url} can't be used: {said[:300]}") from None


def each(do: Callable[[T], object], all_of: Iterable[T]) -> None:
    """Do something for several objects, some at a time; the first error is raised, and then no more begun."""
    failed = Event()

    def do_next(one: T) -> None:
        if failed.is_set():
            return
        try:
            do(one)
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(do_next, all_of))


def _timeout() -> float:
    """Seconds after which a request without an answer is given up."""
    said = os.environ.get(_TIMEOUT) or _DEFAULT_TIMEOUT
    try:
        return parse_duration(said)
    except BadOption as error:
        raise BadOption(f"{_TIMEOUT}: {error}") from None


def _milliseconds(seconds: float) -> str:
    return f"{max(seconds * 1000, 1):.0f}ms"


def _without_secrets(error: object) -> str:
    said = one_line(_DECORATION.sub("", str(error)))
    for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID"):
        if len(secret := os.environ.get(name, "")) >= _SECRET_CHARACTERS:
            said = said.replace(secret, "***")
    return said
