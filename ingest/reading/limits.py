"""Limits on the memory for reading a file, against small files made to unpack without bound.

The defaults are beyond what real data needs. `HEADSTART_LIMITS=off` in the environment lifts all of them.
"""

import os
import sys
from dataclasses import dataclass

from warehouse.support.errors import UnreadableInput

TEXT_CELL_BYTES = 32
"""Bytes in memory of a cell of a text, however short it is, while the text is read."""
_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ReadingLimits:
    """Limits of files, each checked by a method that raises `BadInput`."""

    columns: int = 75_000
    """Columns of a table."""
    line_bytes: int = 16 * _MIB
    """Bytes of a line of text."""
    expansion: int = 250
    """Bytes in memory for each byte of a file that is compressed or packed; a cell of text counts as 32."""
    packed_expansion: int = 30
    """Bytes of text for each byte of a file packed with gzip, bz2, xz, zstd, lz4 or zip."""
    text_expansion: int = 100
    """Bytes of text for each byte of a Parquet or Arrow file, which may hold one text for many rows."""
    unpacked_bytes: int = 256 * _MIB
    """Bytes in memory that any such file may take, however small it is."""
    download_bytes: int = 512 * _MIB
    """Bytes of a file that is downloaded from OpenML."""

    def check_columns(self, number: int) -> None:
        """Refuse a table with too many columns."""
        if number > self.columns:
            self._refuse(f"the table has {number:,} columns, the limit is {self.columns:,}", "columns")

    def check_lines(self, text: bytes) -> None:
        """Refuse a text with a line that is too long."""
        start = 0
        while len(text) - start > self.line_bytes:
            # One search from behind for each stretch of the limit's length, however many lines it holds.
            end = text.rfind(b"\n", start, start + self.line_bytes + 1)
            if end < 0:
                end = text.rfind(b"\r", start, start + self.line_bytes + 1)
            if end < 0:
                self._refuse(
                    f"the file has a line of more than {self.line_bytes:,} bytes, the limit", "line_bytes"
                )
            start = end + 1

    def check_rows(self, text: bytes, delimiter: bytes) -> None:
        """Refuse a text with a line of too many cells; a line that has so many is at least as long."""
        start = 0
        while len(text) - start > self.columns:
            end = text.rfind(b"\n", start, start + self.columns + 1)
            if end < 0:
                end = text.find(b"\n", start)
                end = len(text) if end < 0 else end
                self.check_columns(text.count(delimiter, start, end) + 1)
            start = end + 1

    def check_unpacked(self, unpacked: int, packed: int) -> None:
        """Refuse what takes too many bytes in memory for its bytes in the file."""
        if unpacked > max(self.unpacked_bytes, self.expansion * packed):
            what = f"{packed:,} bytes of the file take {unpacked:,} or more in memory"
            self._refuse_expansion(what, self.expansion, "expansion")

    def check_cells(self, cells: int, packed: int) -> None:
        """Refuse a packed text of too many cells, each of which takes memory even if it is empty."""
        most = max(self.unpacked_bytes, self.expansion * packed) // TEXT_CELL_BYTES
        if cells > most:
            what = f"{packed:,} bytes of the file hold {cells:,} cells or more, the limit is {most:,}"
            self._refuse(what, "expansion")

    def check_packed(self, unpacked: int, packed: int, kind: str) -> None:
        """Refuse a packed file whose first bytes are too much text; `kind` says how it is packed."""
        if unpacked > max(self.unpacked_bytes, self.packed_expansion * packed):
            what = f"{packed:,} bytes of the {kind} file are {unpacked:,} or more of text"
            self._refuse_expansion(what, self.packed_expansion, "packed_expansion")

    def check_repeated_text(self, text: int, packed: int) -> None:
        """Refuse a file that repeats texts which it holds once, so that they are too many bytes."""
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
"""Limits that hold unless others are given; the environment may lift them."""
