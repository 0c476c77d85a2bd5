"""The packages of Headstart's extras, which it works without."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, requires


def install_command(extra: str) -> str:
    """The command that installs the packages of an extra, in versions that Headstart works with.

    It names the packages: `headstart[EXTRA]` works only where a package index has Headstart.
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
