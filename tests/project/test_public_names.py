"""What `import` promises: public names, and packages that cost nothing until a name is asked for."""

import subprocess
import sys
from importlib import import_module

import pytest

PACKAGES = ["warehouse", "ingest", "metalearners", "metalearners.evaluation", "recommend"]


def test_every_public_name_is_there_and_documented() -> None:
    for module in map(import_module, PACKAGES):
        assert module.__doc__
        assert len(module.__all__) >= 3
        assert all(getattr(module, name).__doc__ for name in module.__all__)


def test_a_package_lists_its_public_names_and_says_what_each_is() -> None:
    for module in map(import_module, PACKAGES):
        assert dir(module) == sorted(module.__all__)
        for name in module.__all__:
            assert f"`{name}`" in module.__doc__.partition("Example:")[0], (module.__name__, name)


def test_packages_are_imported_without_what_their_names_need() -> None:
    command = (
        f"import sys, {', '.join(PACKAGES)}\n"
        "print(sorted({'numpy', 'pandas', 'duckdb', 'sklearn'} & {*sys.modules}))"
    )
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_other_names_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match="module 'recommend' has no attribute 'magic'"):
        import_module("recommend").magic  # noqa: B018
