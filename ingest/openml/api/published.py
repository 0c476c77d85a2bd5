"""Published datasets: description and file, cached on this machine.

OpenML has the uploaded file, with an MD5 checksum, and for most datasets a Parquet file, without one. So the
first is preferred. A cached file that was changed or cut off is downloaded again.
"""

from __future__ import annotations

import configparser
import contextlib
import hashlib
import json
import os
import re
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from ingest.openml.api import DEFAULT_SERVER, PublishedDataset
from ingest.openml.api.connection import ApiError, Connection
from ingest.openml.api.documents import DatasetDescription, UnreadableError, read_description
from warehouse.support.errors import UnreadableInput, Unwritable, reason_of
from warehouse.support.files import unfinished_folder, write_json
from warehouse.support.paths import cache_directory

_PATIENCE = 3
"""Failures in a row after which a server counts as down when a user waits for one dataset."""


def open_connection(server: str | None = None) -> Connection:
    """Connect for single datasets, to the server and with the API key of OpenML's configuration file."""
    configured = _configuration()
    return Connection(
        server or configured.get("server") or DEFAULT_SERVER,
        rate=10.0,  # only two requests are made
        api_key=configured.get("apikey") if server is None else None,
        patience=_PATIENCE,
    )


def published_dataset(number: int, connection: Connection, most: int) -> PublishedDataset:
    """A dataset of a server, from the cache if possible.

    Args:
        most: most bytes of its file.

    Raises:
        UnreadableInput: the server has no such dataset, its file does not have the checksum of its
            description, or is larger than `most`.
        Unwritable: there is no room for the file.
        Failed: the server can't be reached.
    """
    host = re.sub(r"[^A-Za-z0-9.-]+", "_", connection.server.partition("//")[2])
    folder = cache_directory() / "openml" / host / str(number)
    kept = _kept(number, folder)
    if kept is not None:
        return kept
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(folder) as unfinished:
            return _downloaded(number, connection, most, folder, unfinished / "file")
    except OSError as error:
        raise Unwritable(f"{folder} can't be written: {reason_of(error)}") from error


def _kept(number: int, folder: Path) -> PublishedDataset | None:
    """The cached dataset; None if it is missing or damaged."""
    try:
        facts: dict[str, Any] = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
        file = folder / facts["md5"]
        with file.open("rb") as content:
            md5 = partial(hashlib.md5, usedforsecurity=False)
            if hashlib.file_digest(content, md5).hexdigest() != facts["md5"]:
                return None
        return PublishedDataset(number, facts["name"], facts["target"], tuple(facts["ignored"]), file)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _downloaded(
    number: int, connection: Connection, most: int, folder: Path, unfinished: Path
) -> PublishedDataset:
    try:
        description = connection.get(f"data/{number}", read_description)
        md5 = _download(description, connection, most, unfinished)
    except (ApiError, UnreadableError) as error:
        raise UnreadableInput(f"openml:{number} can't be had from {connection.server}: {error}") from error
    facts = {"name": description.name, "target": description.target, "ignored": [*description.ignored]}
    unfinished.replace(folder / md5)
    write_json(folder / "dataset.json", {**facts, "md5": md5})
    return PublishedDataset(number, description.name, description.target, description.ignored, folder / md5)


def _download(description: DatasetDescription, connection: Connection, most: int, file: Path) -> str:
    """Download the dataset's file, preferably the one with a checksum; return its MD5 checksum."""
    uploaded, converted = (description.url, description.md5), (description.parquet_url, None)
    choices = [uploaded, converted] if description.md5 else [converted, uploaded]
    given = [(_address(url, connection.server), md5) for url, md5 in choices if url]
    for place, (address, md5) in enumerate(given, start=1):
        try:
            found = connection.download(address, file, most)
        except ApiError as error:
            if error.code == 404 and place < len(given):
                continue
            if error.too_much:
                raise UnreadableError(f"{error}; if you trust the file, set HEADSTART_LIMITS=off") from error
            raise
        if md5 and found != md5.lower():
            raise UnreadableError(
                f"the file has the MD5 checksum {found}, not {md5[:32]} as its description says: it was "
                "damaged on its way or at the server; try again later"
            )
        return found
    raise UnreadableError("the description names no file")


def _address(url: str, server: str) -> str:
    """The address of a file; encrypted if requests to the server are."""
    address = urljoin(f"{server}/", url)
    return re.sub("^http:", "https:", address) if server.startswith("https:") else address


def _configuration() -> dict[str, str]:
    """The settings in the configuration file of OpenML's client, if there is one."""
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    parser = configparser.RawConfigParser()
    with contextlib.suppress(OSError, ValueError, configparser.Error):
        parser.read_string("[openml]\n" + Path(folder, "openml", "config").read_text(encoding="utf-8"))
        return {name: value for name, value in parser["openml"].items() if value}
    return {}
