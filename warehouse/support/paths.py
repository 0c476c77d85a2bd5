"""Directories of the user, by the XDG Base Directory Specification."""

import os
from pathlib import Path


def data_directory() -> Path:
    """Where what the user owns is kept: `$XDG_DATA_HOME/headstart`."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "headstart"


def cache_directory() -> Path:
    """Where what can be made again is kept: `$XDG_CACHE_HOME/headstart`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headstart"
