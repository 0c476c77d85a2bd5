"""What `import` promises: public names, and packages that cost nothing until a name is asked for."""

import subprocess
import sys
from importlib import import_module

import pytest

PACKAGES = ["warehouse", "ingest", "metalearners", "recommend"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_documented(package: str) -> None:
    module = import_module(package)
    assert module.__doc__
    assert len(module.__all__) >= 3
    assert all(getattr(module, name).__doc__ for name in module.__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_imported_without_what_its_names_need(package: str) -> None:
    command = (
        f"import sys, {package}; print(sorted({{'numpy', 'pandas', 'duckdb', 'sklearn'}} & {{*sys.modules}}))"
    )
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_other_names_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match="module 'recommend' has no attribute 'magic'"):
        import_module("recommend").magic  # noqa: B018
