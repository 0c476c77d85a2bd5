"""Decompress files with one table, and name file formats that can't be read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, Any

import numpy as np
import pyarrow as pa

from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from warehouse.support.errors import UnreadableInput

ZIP_MAGIC = b"PK\x03\x04"
_BYTES_AT_ONCE = 1 << 22
_ENDS = np.isin(np.arange(256), [*b"\n\r,;\t|"])

COMPRESSIONS: dict[str, bytes] = {
    "gzip": b"\x1f\x8b",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zstd": b"\x28\xb5\x2f\xfd",
    "lz4": b"\x04\x22\x4d\x18",
    "zip": ZIP_MAGIC,
}
"""Compressions, named as in pandas (plus lz4) -> first bytes."""
_OTHER_KINDS = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls)",
    b"SQLite format 3\x00": "an SQLite database",
    b"ORC": "an ORC file",
    b"FEA1": "a Feather file of version 1",
    b"<stata_dta>": "a Stata file",
    b"$FL2": "an SPSS file",
    b"$FL3": "an SPSS file",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"RDX": "an R data file",
    b"%PDF": "a PDF document",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"Obj\x01": "an Avro file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
}
_TAR_MAGIC = slice(257, 262)
_STATA = {(version, order, 1) for version in range(104, 116) for order in (1, 2)}  # before version 117
_PICKLE = {(0x80, protocol) for protocol in range(2, 6)}


def compression_of(content: bytes) -> str | None:
    """Compression of a file, from its first bytes; None if it is uncompressed or an Excel workbook."""
    for name, magic in COMPRESSIONS.items():
        if content.startswith(magic) and not (name == "zip" and is_excel(content)):
            return name
    return None


def is_excel(content: bytes) -> bool:
    """Whether the content is a current Excel workbook (.xlsx), which is a zip archive."""
    return content.startswith(ZIP_MAGIC) and b"xl/workbook.xml" in content


def other_kind(content: bytes) -> str | None:
    """Name of a file format that can't be read; None if unknown."""
    for magic, kind in _OTHER_KINDS.items():
        if content.startswith(magic):
            return kind
    if content[_TAR_MAGIC] == b"ustar":
        return "a tar archive"
    if tuple(content[:3]) in _STATA:
        return "a Stata file"
    if tuple(content[:2]) in _PICKLE:
        return "a pickle, which could run code"
    return None


def unpacked(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> bytes:
    """Decompress the only file in the content, or return it unchanged if it is not compressed.

    Raises:
        BadInput: it is damaged, exceeds the limit when decompressed, or is an archive of several files.
    """
    name = compression_of(content)
    if name is None:
        return content
    packed = io.BytesIO(content)
    try:
        if name == "zip":
            return _only_member(packed, len(content), limits)
        with _OPENERS[name](packed) as file:
            return _bounded(file, packed.tell, name, limits)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise UnreadableInput(f"the file is a damaged {name} file ({error})") from error


_OPENERS: dict[str, Callable[[IO[bytes]], Any]] = {
    "gzip": lambda packed: gzip.GzipFile(fileobj=packed),
    "bz2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zstd": lambda packed: pa.CompressedInputStream(packed, "zstd"),
    "lz4": lambda packed: pa.CompressedInputStream(packed, "lz4"),
}


def _bounded(file: IO[bytes], position: Callable[[], int], name: str, limits: ReadingLimits) -> bytes:
    content = io.BytesIO()
    cells = 0
    while part := file.read(_BYTES_AT_ONCE):
        content.write(part)
        limits.check_packed(content.tell(), position(), name)
        cells += _cells(part)
        limits.check_cells(cells, position())
    return content.getvalue()  # avoids the copy that joining parts would make


def _cells(text: bytes) -> int:
    """Number of cell ends in a table: line ends, delimiters, and runs of blanks."""
    signs = np.frombuffer(text, np.uint8)
    is_blank = signs == ord(" ")
    return int(_ENDS[signs].sum()) + int((is_blank[1:] > is_blank[:-1]).sum())


def _only_member(packed: IO[bytes], size: int, limits: ReadingLimits) -> bytes:
    with zipfile.ZipFile(packed) as archive:
        members = [
            member
            for member in archive.infolist()
            if not member.is_dir() and not member.filename.startswith("__MACOSX/")
        ]
        if len(members) != 1:
            raise UnreadableInput(f"the zip archive holds {len(members)} files; give it with the table alone")
        if members[0].flag_bits & 1:
            raise UnreadableInput("the zip archive is encrypted; unpack it first")
        try:
            with archive.open(members[0]) as file:
                return _bounded(file, lambda: size, "zip", limits)
        except (NotImplementedError, RuntimeError) as error:  # a compression that Python lacks
            raise UnreadableInput(f"the zip archive can't be unpacked here ({error})") from error
