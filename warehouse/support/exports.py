"""Public names of a package, imported on first access."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def exported(
    package: str, homes: Mapping[str, Sequence[str]], own: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package with lazy imports (PEP 562).

    Args:
        package: name of the package.
        homes: module -> public names that it defines.
        own: public names that the package defines itself.
    """
    home_of = {name: module for module, names in homes.items() for name in names}
    public = sorted([*home_of, *own])

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home_of[name]), name)

    return get, lambda: public, public
