"""Headstart and its development only need packages with licences that let anybody use them."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

import pytest
from packaging.requirements import Requirement

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CNRI-Python",
    "HPND",
    "ISC",
    "LLVM-exception",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "MPL-2.0",
    "PSF-2.0",
    "Unlicense",
    "Zlib",
}
"""Accepted licences, by SPDX identifier."""

OTHER_NAMES = {
    "2-clause BSD": "BSD-2-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "BSD 3-Clause": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "ISC license": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
EXCEPTIONS = {
    "atheris": "Apache-2.0 by its repository; its metadata name none",
    "python-dateutil": "Apache-2.0 or BSD-3-Clause by the file in its wheel; its metadata say Dual License",
    "nvidia-nccl-cu12": "NVIDIA's own; XGBoost's wheel brings it, and only training on several GPUs loads it",
    "skops": "MIT by the file in its wheel; its metadata name no licence",
}
"""Packages with ambiguous metadata, and the reason for accepting them."""


def required(name: str, extras: frozenset[str], found: dict[str, Distribution | None]) -> None:
    """Add a package to `found`, None if it is not installed, and everything that it requires."""
    try:
        found[name] = distribution(name)
    except PackageNotFoundError:
        found[name] = None
        return
    for text in found[name].requires or []:
        requirement = Requirement(text)
        wanted = requirement.marker is None or any(
            requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        )
        key = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if wanted and (key not in found or requirement.extras):
            required(key, frozenset(requirement.extras), found)


def licences(package: Distribution) -> Iterator[str]:
    """SPDX identifiers of the licences in a package's metadata."""
    named = package.metadata.get("License-Expression") or package.metadata.get("License") or ""
    classified = [
        classifier.rpartition(" :: ")[2]
        for classifier in package.metadata.get_all("Classifier") or []
        if classifier.startswith("License :: OSI Approved :: ")
    ]
    names = classified if "\n" in named or named in ("", "UNKNOWN") else [named]
    for name in names:
        if name in OTHER_NAMES:
            yield OTHER_NAMES[name]
        else:
            yield from re.sub(r"[()]|\b(?:AND|OR|WITH)\b", " ", name).split()


def test_every_required_package_has_an_accepted_licence() -> None:
    found: dict[str, Distribution | None] = {}
    required("headstart", frozenset({"dev", "fuzz"}), found)
    assert len(found) > 50
    refused = {
        name: named
        for name, package in found.items()
        if package is not None and name not in EXCEPTIONS
        if not (named := set(licences(package))) or not named <= ALLOWED
    }
    assert not refused
    missing = [name for name, package in found.items() if package is None]
    if missing:
        pytest.skip(f"not installed here, so that their licences are not known: {', '.join(missing)}")
