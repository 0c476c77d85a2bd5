"""Journals of long work: one line of JSON per result, so that none is lost if the process is killed.

A commit to the warehouse takes longer than a short run, so experiments are committed together, and an
evaluation is written when its last dataset is done. The journal holds results until then; when the same work
is started again, it finds them there.

The last member of each line, `crc32`, is the checksum of the line's bytes before it. Lines with a wrong one
are skipped, with a warning.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warehouse.support.errors import UnreadableInput, Unwritable, reason_of
from warehouse.support.files import crc32, sync_directory, write_bytes
from warehouse.support.text import counted

_CHECKSUM = re.compile(rb', "crc32": "([0-9a-f]{8})"}$')
_LINES_NAMED = 10

logger = logging.getLogger(__name__)


class Journal:
    """Records in one file, to which several processes may append."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._warnings: set[str] = set()

    def append(self, record: dict[str, Any]) -> None:
        """Add a record with at least one key; it is on disk when this returns.

        Raises:
            Unwritable: the file can't be written.
        """
        try:
            with self.path.open("ab") as file:
                # The newline comes first, so that a line cut off by a kill does not damage the next one.
                is_new = file.tell() == 0
                file.write(b"\n" + _line(record))
                file.flush()
                os.fsync(file.fileno())
            if is_new:
                sync_directory(self.path.parent)
        except OSError as error:
            raise Unwritable(f"{self.path} can't be written: {reason_of(error)}") from error

    def records(self) -> list[dict[str, Any]]:
        """All complete records, oldest first.

        Lines that are cut off or damaged are skipped, with a warning. Lines without a checksum come from an
        older Headstart: they are read, with a warning, up to the first line with one.

        Raises:
            UnreadableInput: the file can't be read.
        """
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UnreadableInput(f"{self.path} can't be read: {reason_of(error)}") from error
        found: list[dict[str, Any]] = []
        damaged: list[int] = []
        n_unprotected, has_checksums = 0, False
        for number, line in enumerate(lines, 1):
            checksum = _CHECKSUM.search(line)
            record = _record(line, checksum, needs_checksum=has_checksums)
            has_checksums = has_checksums or checksum is not None
            if record is not None:
                found.append(record)
                n_unprotected += checksum is None
            elif line:
                damaged.append(number)
        if damaged:
            named = ", ".join(map(str, damaged[:_LINES_NAMED]))
            more = ", ..." if len(damaged) > _LINES_NAMED else ""
            self._warn(f"{counted(len(damaged), 'lines')} damaged or cut off, and left out: {named}{more}")
        if n_unprotected:
            self._warn(f"{counted(n_unprotected, 'records')} without a checksum, of an older Headstart")
        return found

    def keep(self, wanted: Callable[[dict[str, Any]], bool]) -> None:
        """Remove all records except the wanted ones.

        Raises:
            UnreadableInput, Unwritable: the file can't be read or written.
        """
        left = [record for record in self.records() if wanted(record)]
        if left:
            write_bytes(self.path, b"\n".join(map(_line, left)))
        else:
            self.clear()

    def clear(self) -> None:
        """Remove all records, once they are stored elsewhere."""
        self.path.unlink(missing_ok=True)

    def _warn(self, about: str) -> None:
        """Log a warning about the file, once."""
        if about not in self._warnings:
            self._warnings.add(about)
            logger.warning("%s: %s", self.path, about)


def _line(record: dict[str, Any]) -> bytes:
    text = json.dumps(record).encode().removesuffix(b"}")
    return text + b', "crc32": "' + crc32(text).encode() + b'"}'


def _record(line: bytes, checksum: re.Match[bytes] | None, *, needs_checksum: bool) -> dict[str, Any] | None:
    """The record of a line; None if it is damaged or cut off."""
    if checksum is None and needs_checksum:
        return None
    text = line if checksum is None else line[: checksum.start()]
    if checksum is not None and crc32(text) != checksum[1].decode():
        return None
    try:
        record = json.loads(text if checksum is None else text + b"}")
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
