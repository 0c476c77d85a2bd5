"""Commands that install the packages of an extra."""

from importlib.metadata import PackageNotFoundError

import pytest

from warehouse.support import extras
from warehouse.support.extras import install_command

DECLARED = [
    "numpy>=2",
    'matplotlib<4,>=3.10; extra == "compare"',
    "scikit-posthocs<0.18,>=0.11; extra == 'compare'",
    'headstart[compare]; extra == "notebooks"',
    'ipykernel<8; extra == "notebooks"',
]


def test_packages_are_named_with_supported_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "requires", lambda _: DECLARED)
    assert install_command("compare") == "pip install 'matplotlib<4,>=3.10' 'scikit-posthocs<0.18,>=0.11'"
    assert install_command("notebooks") == "pip install 'ipykernel<8'"


def test_without_metadata_the_extra_is_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> list[str]:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "requires", missing)
    assert install_command("xgboost") == "pip install 'xgboost'"
