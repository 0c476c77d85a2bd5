"""A file's bytes are converted to UTF-8 text; other kinds of files are refused by name."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.formats.encoding import decoded, quoted, read_bytes
from tests.cases import each
from tests.ingest.reading.checks import refusal, written
from warehouse.support.errors import BadInput

REFUSED_SOURCES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing file": (lambda folder: folder / "nowhere.csv", "there is no file"),
    "directory": (lambda folder: folder, "is a directory"),
    "file as a directory": (lambda folder: written(folder, "") / "data.csv", "as if it were a directory"),
    "name with a NUL": (lambda _: "a\0b.csv", "is not a file name"),
    "name with line breaks": (lambda _: "a,b\n1,2\n", "there is no file"),
    "empty name": (lambda _: "", "is a directory"),
}


@each("trouble", REFUSED_SOURCES)
def test_a_source_that_is_not_a_file_is_refused_in_one_line(tmp_path: Path, trouble: str) -> None:
    source, part = REFUSED_SOURCES[trouble]
    assert part in refusal(source(tmp_path))


@settings(max_examples=100, deadline=None)
@given(st.text("aé€語🙂,;\t\n\"'", min_size=1))
def test_text_in_any_unicode_encoding_with_its_mark_is_read(text: str) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert decoded(text.encode(encoding)).utf8.decode() == text


@each(
    ("content", "text"),
    [
        (b"5 \x80 for \xe9", "5 € for é"),
        (b"\x81 \xe9", "\x81 é"),
        (b"\xff\xfea", "ÿþa"),
    ],
)
def test_bytes_that_are_not_unicode_are_windows_1252_or_else_latin_1(content: bytes, text: str) -> None:
    """Byte 80 is the euro sign in Windows-1252, 81 is undefined there; three bytes are not UTF-16."""
    assert decoded(content).utf8.decode() == text


@each("text", ["<3,a\n", "{1 2}\n", "[1,2]\n", "a\t\x0c\x1a\n"])
def test_text_that_only_begins_like_markup_is_not_changed(text: str) -> None:
    assert decoded(text.encode()).utf8 == text.encode()


def test_control_characters_far_from_the_start_are_accepted() -> None:
    """Only the first 64 KiB are checked."""
    lines = b"1,2\n" * (16 * 1024)
    assert decoded(lines + b"\x00x").utf8 == lines + b"\x00x"
    with pytest.raises(BadInput, match="neither text nor Parquet"):
        decoded(lines[:-2] + b"\x00x")


def test_a_gzipped_file_is_unpacked_whatever_its_name(tmp_path: Path) -> None:
    assert read_bytes(written(tmp_path, gzip.compress(b"a,b\n1,2\n"))) == b"a,b\n1,2\n"


def test_a_message_quotes_paths_whole_and_other_text_in_short() -> None:
    assert quoted("two\nlines") == r"'two\nlines'"
    assert quoted(Path("folder/" * 40)) == repr("folder/" * 39 + "folder")
    shortened = quoted("x" * 50 + "y" * 50)
    assert len(shortened) == 70
    assert shortened.startswith("'xxx")
    assert shortened.endswith("yyy'")


def test_zeros_at_the_end_are_removed() -> None:
    assert decoded(b"@relation r\n\0\0").utf8 == b"@relation r\n"


@each(
    ("content", "word", "looks_wrong"),
    [
        (b"St\xe4dte,M\xfcnchen", "Städte", False),
        (b"St\xe4dte,M\xc3\xbcnchen", "MÃ¼nchen", True),
        (b"\xf6\xe4 M", "öä", True),
    ],
)
def test_a_text_that_is_partly_utf8_shows_a_word_that_looks_wrong(
    content: bytes, word: str, looks_wrong: bool
) -> None:
    text = decoded(content)
    assert (text.doubtful, text.looks_wrong) == (word, looks_wrong)
