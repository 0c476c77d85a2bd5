"""Optional packages: Headstart's extras."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires

from warehouse.support.errors import MissingPackage


@contextmanager
def needed_for(what: str, extra: str) -> Iterator[None]:
    """Import packages of an extra; raises `MissingPackage` if they are not installed."""
    try:
        yield
    except ImportError as error:
        raise MissingPackage(f"{what} needs the extra `{extra}`: {install_command(extra)}") from error


def install_command(extra: str) -> str:
    """The command that installs the packages of an extra, in supported versions.

    It lists the packages: `headstart[EXTRA]` works only if a package index has Headstart.
    """
    try:
        declared = requires("headstart") or []
    except PackageNotFoundError:  # run from its sources
        declared = []
    packages = [
        name.strip()
        for name, _, marker in (line.partition(";") for line in declared)
        if marker.strip().replace("'", '"') == f'extra == "{extra}"' and not name.startswith("headstart")
    ]
    return f"pip install {' '.join(repr(package) for package in packages or [extra])}"
