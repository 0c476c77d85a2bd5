"""CI installs, by hashes, the packages of pyproject.toml at the versions of constraints.txt."""

import re
import tomllib
from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.project.documents import ROOT

APART = {"headstart", "torch"}
"""The project, and a package whose builds depend on the machine."""
OF_OTHER_SYSTEMS = {"appnope", "pywin32"}


def pinned(file: str) -> dict[str, str]:
    """Package -> version in a requirements file."""
    pins = re.findall(r"^([\w.-]+)==([^\s;\\]+)", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in pins}


def wanted() -> Iterator[Requirement]:
    """The packages of pyproject.toml: dependencies, and those for tests and audits."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = content["project"]["optional-dependencies"]
    left = [*content["project"]["dependencies"], *extras["dev"], *extras["audit"]]
    left += content["dependency-groups"]["build"]
    while left:
        requirement = Requirement(left.pop())
        if requirement.name == "headstart":
            left += [one for extra in requirement.extras for one in extras[extra]]
        yield requirement


def test_versions_equal_the_constraints() -> None:
    versions = pinned("constraints.txt")
    locked = pinned(".ci/requirements.txt")
    assert {name: versions.get(name) for name in locked.keys() - OF_OTHER_SYSTEMS} == {
        name: version for name, version in locked.items() if name not in OF_OTHER_SYSTEMS
    }


def test_every_package_of_pyproject_is_locked_within_its_bounds() -> None:
    locked = pinned(".ci/requirements.txt")
    for requirement in wanted():
        if requirement.name not in APART:
            assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), requirement


def test_every_package_has_hashes() -> None:
    text = (ROOT / ".ci/requirements.txt").read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=[\w.-]+==)", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    assert len(blocks) == len(pinned(".ci/requirements.txt")) > 100
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", block) for block in blocks)
