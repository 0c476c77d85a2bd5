"""Public names of a package that are imported when they are asked for."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def exported(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package (PEP 562), so that importing the package costs nothing.

    Args:
        package: name of the package.
        homes: public name -> module that defines it.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return get, lambda: sorted(sys.modules[package].__all__)
