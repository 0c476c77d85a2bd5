"""Public names exist, and packages import nothing heavy until a name is used."""

import subprocess
import sys
from importlib import import_module

import pytest

PACKAGES = ["warehouse", "ingest", "metalearners", "metalearners.evaluation", "recommend"]


def test_every_public_name_exists_and_is_documented() -> None:
    for module in map(import_module, PACKAGES):
        assert module.__doc__
        assert len(module.__all__) >= 3
        assert all(getattr(module, name).__doc__ for name in module.__all__)


def test_a_package_lists_its_public_names_and_says_what_each_is() -> None:
    for module in map(import_module, PACKAGES):
        assert dir(module) == sorted(module.__all__)
        for name in module.__all__:
            assert f"`{name}`" in module.__doc__.partition("Example:")[0], (module.__name__, name)


def test_packages_are_imported_without_the_imports_of_their_names() -> None:
    command = (
        f"import sys, {', '.join(PACKAGES)}\n"
        "print(sorted({'numpy', 'pandas', 'duckdb', 'sklearn'} & {*sys.modules}))"
    )
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_other_names_are_not_attributes() -> None:
    with pytest.raises(AttributeError, match="module 'recommend' has no attribute 'magic'"):
        import_module("recommend").magic  # noqa: B018
