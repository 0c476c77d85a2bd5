"""Journals of long work: one line of JSON for each result, so that a kill loses none.

A commit to the warehouse costs more than a short run does, so experiments are committed together; an
evaluation is written when its last dataset is done. What was finished in between stands in the journal, and
the same work, started again, finds it there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from warehouse.support.errors import Unwritable, reason_of
from warehouse.support.files import write_text


class Journal:
    """Records in one file. Several processes may append to it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, record: dict[str, Any]) -> None:
        """Add a record; it is on disk when this returns.

        Raises:
            Unwritable: the file can't be written.
        """
        try:
            with self.path.open("ab") as file:
                # The newline comes first, so that a line that a kill cut off spoils nothing but itself.
                file.write(b"\n" + json.dumps(record).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise Unwritable(f"{self.path} can't be written: {reason_of(error)}") from error

    def records(self, start: int = 0) -> Iterator[dict[str, Any]]:
        """All complete records, oldest first.

        Args:
            start: bytes to pass over, which is what `size` was when those before were read.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                lines = file.read().splitlines()
        except FileNotFoundError:
            return
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record

    def size(self) -> int:
        """Bytes so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    def keep(self, wanted: Callable[[dict[str, Any]], bool]) -> None:
        """Remove all records except those to keep.

        Raises:
            Unwritable: the file can't be written.
        """
        left = [record for record in self.records() if wanted(record)]
        if left:
            write_text(self.path, "\n".join(json.dumps(record) for record in left))
        else:
            self.clear()

    def clear(self) -> None:
        """Forget all records, once they are stored elsewhere."""
        self.path.unlink(missing_ok=True)
