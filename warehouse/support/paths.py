"""Directories of the user, by the XDG Base Directory Specification."""

import os
from pathlib import Path


def is_url(path: object) -> bool:
    """Whether what is named is in object storage, and no folder."""
    return isinstance(path, str) and path.startswith("s3:")


def data_directory() -> Path:
    """Directory of what the user owns: `$XDG_DATA_HOME/headstart`."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "headstart"


def cache_directory() -> Path:
    """Directory of what can be made again: `$XDG_CACHE_HOME/headstart`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headstart"
