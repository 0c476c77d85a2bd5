"""Directories of the user, according to the XDG Base Directory Specification."""

import os
from pathlib import Path


def is_url(path: object) -> bool:
    """Whether a path is a URL of object storage."""
    return isinstance(path, str) and path.startswith("s3:")


def data_directory() -> Path:
    """Directory of the user's data: `$XDG_DATA_HOME/headstart`."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "headstart"


def cache_directory() -> Path:
    """Directory of the user's cache: `$XDG_CACHE_HOME/headstart`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headstart"
