"""Bytes of a file: unpacked, and as UTF-8 whatever they were written in."""

import codecs
import gzip
import io
import re
import reprlib
import zlib
from pathlib import Path

from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from ingest.reading.parquet import PARQUET_MAGIC
from warehouse.support.errors import UnreadableInput, reason_of

_GZIP_MAGIC = b"\x1f\x8b"
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_OFFICE = {b"PK\x03\x04": "a zip archive or an Excel workbook", b"\xd0\xcf\x11\xe0": "an Excel workbook"}
_MARKUP = re.compile(rb"\s*(?:(?P<HTML_or_XML><[!?a-zA-Z])|(?P<JSON>\{\s*[\"}]|\[\s*[{\[]))")
_CONTROL_BYTES = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))
_SAMPLE_BYTES = 64 * 1024  # as a file's first lines, whatever their length
_BYTES_AT_ONCE = 1 << 24

_quoting = reprlib.Repr()
_quoting.maxstring = _quoting.maxother = 70


def quoted(text: object) -> str:
    """Something from outside, for a message: in quotes, on one line; a path whole, the rest not too long."""
    return repr(str(text)) if isinstance(text, Path) else _quoting.repr(str(text))


def read_bytes(path: Path, limits: ReadingLimits = DEFAULT_LIMITS) -> bytes:
    """The file's content, unpacked when it is gzipped (told by its first bytes, not by its name)."""
    try:
        content = _read(path, limits)
    except FileNotFoundError:
        raise UnreadableInput(f"there is no file {quoted(path)}") from None
    except IsADirectoryError:
        raise UnreadableInput(f"{quoted(path)} is a directory; give a file in it") from None
    except NotADirectoryError:
        raise UnreadableInput(f"{quoted(path)} leads through a file as if it were a directory") from None
    except PermissionError:
        raise UnreadableInput(f"no permission to read {quoted(path)}") from None
    except ValueError:
        raise UnreadableInput(f"{quoted(path)} is no file name") from None
    except OSError as error:
        raise UnreadableInput(f"cannot read {quoted(path)}: {reason_of(error)}") from error
    if content.startswith(_GZIP_MAGIC):
        try:
            return _unpacked(content, limits)
        except (OSError, EOFError, zlib.error) as error:
            raise UnreadableInput(f"{quoted(path)} is a damaged gzip file ({error})") from error
    return content


def _read(path: Path, limits: ReadingLimits) -> bytes:
    with path.open("rb") as file:
        start = file.read(_BYTES_AT_ONCE + 1)
        if len(start) <= _BYTES_AT_ONCE:
            return start
        if not start.startswith((_GZIP_MAGIC, PARQUET_MAGIC)):
            limits.check_lines(start)  # before the rest is read, which may have no end
        if not file.seekable():
            return start + file.read()
        file.seek(0)
        return file.read()


def _unpacked(content: bytes, limits: ReadingLimits) -> bytes:
    packed = io.BytesIO(content)
    parts, size = [], 0
    with gzip.GzipFile(fileobj=packed) as file:
        while part := file.read(_BYTES_AT_ONCE):
            parts.append(part)
            size += len(part)
            limits.check_gzip(size, packed.tell())
    return b"".join(parts)


def to_utf8(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> bytes:
    """The same text in UTF-8 without a byte order mark.

    UTF-8 and UTF-16 are recognized (the latter by its mark); everything else is read as Windows-1252,
    which is Latin-1 with printable characters where that has none. Raises `BadInput` for bytes that are
    no text, for markup that is no table, and for a line beyond the limit.
    """
    for magic, kind in _OFFICE.items():
        if content.startswith(magic):
            raise UnreadableInput(f"the file is {kind}; save the table as CSV")
    limits.check_lines(content)
    text = _transcoded(content)
    sample = text[:_SAMPLE_BYTES]
    if len(sample.translate(None, delete=_CONTROL_BYTES)) < len(sample):
        raise UnreadableInput("the file is neither text nor Parquet; expected CSV, ARFF or Parquet")
    if markup := _MARKUP.match(text):
        kind = str(markup.lastgroup).replace("_", " ")
        raise UnreadableInput(f"the file looks like {kind}; expected CSV, ARFF or Parquet")
    return text


def _transcoded(content: bytes) -> bytes:
    content = content.removeprefix(codecs.BOM_UTF8)
    encodings = ("utf-16", "cp1252") if content.startswith(_UTF16_MARKS) else ("utf-8", "cp1252")
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return content if encoding == "utf-8" else text.encode()
    return content.decode("latin-1").encode()
