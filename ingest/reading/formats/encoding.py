"""Read a file's bytes, decompress them and convert them to UTF-8."""

from __future__ import annotations

import codecs
import contextlib
import re
import reprlib
from dataclasses import dataclass, replace
from pathlib import Path

from ingest.reading.formats.packing import compression_of, other_kind, unpacked
from ingest.reading.formats.parquet import PARQUET_MAGIC
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from ingest.reading.opening import opening
from warehouse.support.errors import UnreadableInput

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MARKUP = re.compile(rb"\s*(?:(?P<HTML_or_XML><[!?a-zA-Z])|(?P<JSON>\{\s*[\"}]|\[\s*[{\[]))")
_LIBSVM = re.compile(rb"(?:[+-]?[\d.]+(?:[ \t]+\d+:[^\s:,;]+)+[ \t]*(?:#.*)?\r?\n){3}")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")
_SAMPLE_BYTES = 64 * 1024  # of a file's start, whatever the length of lines
_BYTES_AT_ONCE = 1 << 24
_LEAST_ZEROS = 0.8  # of every second byte, in Western text of UTF-16
_WORD_OF_UTF8 = re.compile(rb"[A-Za-z]*[\xc2\xc3][\x80-\xbf][A-Za-z]*")  # a Western letter takes two bytes
_WORD_BEYOND_ASCII = re.compile(r"[A-Za-z]*[^\x00-\x7f][^\x00-\x40\[-`{-\x7f]*")

_quoting = reprlib.Repr()
_quoting.maxstring = _quoting.maxother = 70


def quoted(text: object) -> str:
    """Quote external text for a message, on one line; paths in full, the rest shortened."""
    return repr(str(text)) if isinstance(text, Path) else _quoting.repr(str(text))


def read_bytes(path: Path, limits: ReadingLimits = DEFAULT_LIMITS) -> bytes:
    """Read a file, decompressing it if necessary (detected by its first bytes, not its name).

    Raises:
        BadInput: there is no such file, it can't be read, or exceeds the limits when decompressed.
    """
    with opening(path):
        content = _read(path, limits)
    try:
        return unpacked(content, limits)
    except UnreadableInput as error:
        raise UnreadableInput(f"{quoted(path)}: {error}") from error


def _read(path: Path, limits: ReadingLimits) -> bytes:
    with path.open("rb") as file:
        start = file.read(_BYTES_AT_ONCE + 1)
        if len(start) <= _BYTES_AT_ONCE:
            return start
        if not start.startswith(PARQUET_MAGIC) and compression_of(start) is None and not other_kind(start):
            limits.check_lines(start)  # before the rest is read, which may be endless
        if not file.seekable():
            return start + file.read()
        file.seek(0)
        return file.read()


@dataclass(frozen=True)
class Text:
    """A file's text."""

    utf8: bytes
    """The text in UTF-8, without a byte order mark."""
    encoding: str
    """Encoding, as Python names it."""
    doubtful: str | None = None
    """A word with a non-ASCII letter, if the encoding is assumed: one that is UTF-8, else the first."""

    @property
    def remark(self) -> str | None:
        """The remark about an assumed encoding."""
        if self.doubtful is None:
            return None
        return (
            f"the file is not UTF-8 and was read as Windows-1252 ({quoted(self.doubtful)}): if letters look "
            "wrong, save it as UTF-8, or name its encoding (--encoding gb18030, cp1251, shift_jis, ...)"
        )

    @property
    def looks_wrong(self) -> bool:
        """Whether that word is UTF-8, or has no ASCII letter, which is rare in Western languages."""
        word = self.doubtful or ""
        is_utf8 = _WORD_OF_UTF8.fullmatch(word.encode(self.encoding)) is not None
        return is_utf8 or (len(word) > 1 and not any(letter.isascii() for letter in word))


def decoded(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS, encoding: str | None = None) -> Text:
    """Decode text and encode it in UTF-8.

    UTF-8 and UTF-16 are recognized, the latter by its mark or by the zeros of Western text. Everything else
    is read as Windows-1252, which is Latin-1 with printable characters in place of control codes, and marked
    as doubtful: short texts in other encodings can't be told apart from it (tried with charset-normalizer).

    Args:
        encoding: the encoding, if the user names it.

    Raises:
        BadInput: the bytes are not text (in this encoding), or markup, or a line exceeds the limit.
    """
    if kind := other_kind(content):
        raise UnreadableInput(f"the file is {kind}; save the table as CSV or Parquet")
    text = _transcoded(content) if encoding is None else _decoded(content, encoding)
    text = replace(text, utf8=text.utf8.rstrip(b"\0"))  # writers of fixed blocks pad the last one
    limits.check_lines(text.utf8)
    sample = text.utf8[:_SAMPLE_BYTES]
    if control := _CONTROL.search(sample):
        line = 1 + sample.count(b"\n", 0, control.start())
        raise UnreadableInput(
            f"the file is neither text nor Parquet (its line {line} has the byte 0x{control[0].hex()}); "
            "expected CSV, ARFF or Parquet"
        )
    if markup := _MARKUP.match(text.utf8):
        kind = str(markup.lastgroup).replace("_", " ")
        raise UnreadableInput(f"the file looks like {kind}; expected CSV, ARFF or Parquet")
    if _LIBSVM.match(sample):
        raise UnreadableInput("the file looks like LIBSVM (SVMlight); expected CSV, ARFF or Parquet")
    return text


def _transcoded(content: bytes) -> Text:
    encoding = "utf-16" if content.startswith(_UTF16_MARKS) else _utf16_without_mark(content)
    if encoding is not None:
        with contextlib.suppress(UnreadableInput):
            return _decoded(content, encoding)
    while content.startswith(codecs.BOM_UTF8):
        content = content.removeprefix(codecs.BOM_UTF8)
    return Text(content, "utf-8") if _is_utf8(content) else _western(content)


def _is_utf8(content: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), _BYTES_AT_ONCE):
            decoder.decode(content[start : start + _BYTES_AT_ONCE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _decoded(content: bytes, encoding: str) -> Text:
    try:
        text = content.decode(encoding)
    except UnicodeError as error:
        raise UnreadableInput(f"the file is not written in {encoding} ({error.args[-1]})") from None
    return Text(text.lstrip("\ufeff").encode(errors="replace"), encoding)


def _utf16_without_mark(content: bytes) -> str | None:
    sample = content[:_SAMPLE_BYTES]
    least = _LEAST_ZEROS * (len(sample) // 2)
    if len(sample) < 4:
        return None
    if sample[1::2].count(0) >= least and not sample[::2].count(0):
        return "utf-16-le"
    if sample[::2].count(0) >= least and not sample[1::2].count(0):
        return "utf-16-be"
    return None


def _western(content: bytes) -> Text:
    """Decode text that is not UTF-8 as Windows-1252: a few words do not show the encoding."""
    for encoding in ("cp1252", "latin-1"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if word := _WORD_OF_UTF8.search(content):  # files of several sources are mixed
            return Text(text.encode(), encoding, word[0].decode(encoding))
        first = _WORD_BEYOND_ASCII.search(text)
        return Text(text.encode(), encoding, None if first is None else first[0])
    raise AssertionError("Latin-1 has a character for every byte")
