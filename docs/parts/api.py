"""Public names of the packages, for mkdocstrings to show."""

from __future__ import annotations

from importlib import import_module

PACKAGES = ("recommend", "ingest", "warehouse", "metalearners")
"""Packages in the order in which they are shown; a name that two of them have stands under the first."""


def public_names(package: str) -> str:
    """A block of mkdocstrings for each function and class of `__all__` of a package."""
    before = {address for other in PACKAGES[: PACKAGES.index(package)] for address in addresses(other)}
    return "\n\n".join(f"::: {address}" for address in addresses(package) if address not in before)


def addresses(package: str) -> list[str]:
    """Where the functions and classes of `__all__` of a package are defined."""
    module = import_module(package)
    found = [getattr(module, name) for name in module.__all__]
    return [f"{one.__module__}.{one.__qualname__}" for one in found if hasattr(one, "__qualname__")]
