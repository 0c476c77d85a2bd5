"""Options for reading a text file if detection is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.support.errors import BadOption

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "blank": " "}
"""Names of delimiters that are hard to type at a prompt."""


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """Format of a text file; None = detected from its content. Other files ignore these.

    Raises:
        BadInput: an encoding that Python doesn't know, or a sign that can't be one.
    """

    encoding: str | None = None
    """Python's name of the encoding, such as `cp1251`."""
    delimiter: str | None = None
    """One character between cells (" " = any run of blanks), or a name in `DELIMITERS`."""
    decimal: str | None = None
    """Decimal sign of all columns, "." or ","."""
    missing: tuple[str, ...] = ()
    """Words that stand for missing values, besides the usual ones."""
    skip_lines: int = 0
    """Number of lines to skip at the top."""
    header: bool | None = None
    """Whether the first remaining line has the names of the columns."""

    def __post_init__(self) -> None:
        delimiter = DELIMITERS.get(self.delimiter or "", self.delimiter)
        object.__setattr__(self, "delimiter", delimiter)
        if delimiter is not None and (len(delimiter) != 1 or delimiter.isalnum() or delimiter in "\"'\r\n\\"):
            names = ", ".join(name for name in DELIMITERS if name != "\\t")
            raise BadOption(f"the delimiter {delimiter!r} is not a single character; give one, or {names}")
        if self.decimal not in (None, ".", ","):
            raise BadOption(f"the decimal sign is '.' or ',', not {self.decimal!r}")
        if self.skip_lines < 0:
            raise BadOption(f"the number of lines to skip must be 0 or more, not {self.skip_lines}")
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise BadOption(f"{self.encoding!r} is not a text encoding known to Python")


def _is_encoding(name: str) -> bool:
    try:
        return bool("a".encode(name))
    except (LookupError, ValueError):
        return False


DETECTED = ReadingOptions()
"""Detect everything from the content."""
