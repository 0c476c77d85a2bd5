"""A server with OpenML's API: what it sends, within limits of bytes and time, as documents and files.

`transfer` receives one answer, `connection` asks until there is one, `documents` reads it, and `published`
keeps datasets on this machine.
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
    """The name of its target, or several names between commas."""
    ignored: tuple[str, ...]
    """Names of columns to leave out, or several between commas."""
    file: Path
