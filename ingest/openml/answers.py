"""Cache answers on disk until their rows are in the warehouse, so that a kill repeats no request.

An answer is written whole or not at all, and requested again if it can't be read. Empty listings and refusals
of too large requests are cached, too.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from ingest.keys import digest
from ingest.openml.api.connection import ApiError, Connection
from ingest.openml.api.documents import UnreadableError
from warehouse.support.files import make_folder, write_bytes

T = TypeVar("T")

_CODEC = "zstd"


class Answers:
    """A server's answers to requests, from `folder` or else from the server."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self.connection = connection
        self.reused = 0
        """Number of answers found on disk."""
        self._folder = folder

    def get(self, path: str, read: Callable[[bytes], T]) -> T:
        """The answer to this request, parsed by `read`; raises as `Connection.get`."""
        kept = self._kept(path)
        if kept is not None:
            try:
                content = read(kept)
            except UnreadableError:
                self.forget([path])
            else:
                self.reused += 1
                return content
        try:
            # Written before it is parsed: a kill in between loses no request.
            return self.connection.get(path, read, received=lambda body: self._keep(path, body, ".xml"))
        except ApiError as error:
            self.forget([path])
            if error.no_results or error.too_much:
                self._keep(path, json.dumps([error.code, str(error)]).encode(), ".none")
            raise
        except UnreadableError:
            self.forget([path])
            raise

    def forget(self, paths: Iterable[str]) -> None:
        """Delete the answers to these requests."""
        for path in paths:
            for suffix in (".xml", ".none"):
                self._file(path, suffix).unlink(missing_ok=True)

    def forget_all(self) -> None:
        """Delete all answers."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _kept(self, path: str) -> bytes | None:
        """The cached body; raises a cached `ApiError`."""
        nothing = self._read(self._file(path, ".none"))
        if nothing is not None:
            self.reused += 1
            code, message = json.loads(nothing)
            raise ApiError(code, message)
        return self._read(self._file(path, ".xml"))

    def _file(self, path: str, suffix: str) -> Path:
        return self._folder / f"{digest(path)}{suffix}"

    def _read(self, file: Path) -> bytes | None:
        try:
            content = file.read_bytes()
            size, compressed = content.split(b"\n", 1)
            body: bytes = pa.decompress(compressed, int(size), codec=_CODEC, asbytes=True)
        except (OSError, ValueError):
            return None
        return body

    def _keep(self, path: str, body: bytes, suffix: str) -> None:
        make_folder(self._folder)
        compressed = pa.compress(body, codec=_CODEC, asbytes=True)
        write_bytes(self._file(path, suffix), b"%d\n" % len(body) + compressed)
