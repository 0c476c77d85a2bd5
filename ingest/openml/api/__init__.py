"""A client of OpenML's API: documents and files, within limits of bytes and time.

`transfer` receives one answer, `connection` retries until there is one, `documents` parses it, and
`published` stores datasets on this machine.
"""

from dataclasses import dataclass
from pathlib import Path

DEFAULT_SERVER = "https://www.openml.org/api/v1"


@dataclass(frozen=True)
class PublishedDataset:
    """A dataset of OpenML, with its file on this machine."""

    number: int
    name: str
    target: str | None
    """Name of the target, or comma-separated names."""
    ignored: tuple[str, ...]
    """Comma-separated names of columns to leave out."""
    file: Path
