"""Limits on the memory for reading a file, against small files that expand without bound.

The defaults exceed what real data needs. `HEADSTART_LIMITS=off` in the environment disables them all.
"""

import os
import sys
from dataclasses import dataclass

from warehouse.support.errors import UnreadableInput

TEXT_CELL_BYTES = 32
"""Memory of a cell while a text is read, even of an empty one, in bytes."""
_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ReadingLimits:
    """Limits of files, each checked by a method that raises `BadInput`."""

    columns: int = 75_000
    """Most columns of a table."""
    line_bytes: int = 16 * _MIB
    """Most bytes of a line of text."""
    expansion: int = 250
    """Most bytes in memory per byte of a compressed file; a cell of text counts as 32."""
    packed_expansion: int = 30
    """Most bytes of text per byte of a file compressed with gzip, bz2, xz, zstd, lz4 or zip."""
    text_expansion: int = 100
    """Most bytes of text per byte of a Parquet or Arrow file, which may share a text between many rows."""
    unpacked_bytes: int = 256 * _MIB
    """Bytes in memory that every such file may use, even a small one."""
    download_bytes: int = 512 * _MIB
    """Most bytes of a file downloaded from OpenML."""

    def check_columns(self, number: int) -> None:
        """Refuse a table with too many columns."""
        if number > self.columns:
            self._refuse(f"the table has {number:,} columns, the limit is {self.columns:,}", "columns")

    def check_lines(self, text: bytes) -> None:
        """Refuse a text with a line that is too long."""
        start = 0
        while len(text) - start > self.line_bytes:
            # One backward search per stretch of the limit's length, however many lines it has.
            end = text.rfind(b"\n", start, start + self.line_bytes + 1)
            if end < 0:
                end = text.rfind(b"\r", start, start + self.line_bytes + 1)
            if end < 0:
                self._refuse(
                    f"the file has a line of more than {self.line_bytes:,} bytes, the limit", "line_bytes"
                )
            start = end + 1

    def check_rows(self, text: bytes, delimiter: bytes) -> None:
        """Refuse a text with a line of too many cells; only lines of at least that length are checked."""
        start = 0
        while len(text) - start > self.columns:
            end = text.rfind(b"\n", start, start + self.columns + 1)
            if end < 0:
                end = text.find(b"\n", start)
                end = len(text) if end < 0 else end
                self.check_columns(text.count(delimiter, start, end) + 1)
            start = end + 1

    def check_unpacked(self, unpacked: int, packed: int) -> None:
        """Refuse data that expands too much in memory for its bytes in the file."""
        if unpacked > max(self.unpacked_bytes, self.expansion * packed):
            what = f"{packed:,} bytes of the file take {unpacked:,} or more in memory"
            self._refuse_expansion(what, self.expansion, "expansion")

    def check_cells(self, cells: int, packed: int) -> None:
        """Refuse a compressed text of too many cells, each of which takes memory even if it is empty."""
        most = max(self.unpacked_bytes, self.expansion * packed) // TEXT_CELL_BYTES
        if cells > most:
            what = f"{packed:,} bytes of the file hold {cells:,} cells or more, the limit is {most:,}"
            self._refuse(what, "expansion")

    def check_packed(self, unpacked: int, packed: int, kind: str) -> None:
        """Refuse a compressed file with too much text; `kind` names the compression."""
        if unpacked > max(self.unpacked_bytes, self.packed_expansion * packed):
            what = f"{packed:,} bytes of the {kind} file are {unpacked:,} or more of text"
            self._refuse_expansion(what, self.packed_expansion, "packed_expansion")

    def check_repeated_text(self, text: int, packed: int) -> None:
        """Refuse a file that stores texts once but repeats them too often."""
        if text > max(self.unpacked_bytes, self.text_expansion * packed):
            what = f"{packed:,} bytes of the file repeat text of {text:,} bytes"
            self._refuse_expansion(what, self.text_expansion, "text_expansion")

    def _refuse_expansion(self, what: str, limit: int, name: str) -> None:
        self._refuse(f"{what}; the limit is {limit} times as many, or {self.unpacked_bytes:,}", name)

    def _refuse(self, reason: str, name: str) -> None:
        raise UnreadableInput(
            f"{reason}; if you trust the file, set HEADSTART_LIMITS=off, or in Python give "
            f"load_dataset(..., limits=ReadingLimits({name}=...))"
        )


NO_LIMITS = ReadingLimits(
    columns=sys.maxsize, line_bytes=sys.maxsize, unpacked_bytes=sys.maxsize, download_bytes=sys.maxsize
)
DEFAULT_LIMITS = NO_LIMITS if os.environ.get("HEADSTART_LIMITS") == "off" else ReadingLimits()
"""The default limits; the environment may disable them."""
