"""Pools: the configurations to run on every dataset of an experiment, as a JSON file.

The list is ordered by priority, so that any prefix is useful. `ingest/plans/make_pool.py` makes pools.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from ingest.flows import get_flow
from warehouse.support.errors import UnreadableInput
from warehouse.support.files import read_json, write_text
from warehouse.vocabulary.configuration import Configuration

Item = TypeVar("Item")


Pool = Mapping[Configuration, str]
"""Configuration -> its source: `default`, `design`, or an author."""


def read_pool(path: Path) -> Pool:
    """The configurations of a pool's file, in order.

    Raises:
        BadInput: the file is missing, not a pool, or has a configuration that can't be built.
    """
    records = read_json(path)
    try:
        pool = {Configuration(record["flow"], record["values"]): record["source"] for record in records}
    except (TypeError, KeyError) as error:
        raise UnreadableInput(
            f"{path}: not a pool; expected a list of objects with flow, values and source"
        ) from error
    for configuration in pool:
        get_flow(configuration.algorithm).current(configuration.values)
    return pool


def write_pool(pool: Pool, path: Path) -> None:
    """Write a pool, one configuration per line."""
    records = (
        {"flow": configuration.algorithm, "values": dict(configuration.values), "source": source}
        for configuration, source in pool.items()
    )
    lines = ",\n".join(map(json.dumps, records))
    write_text(path, f"[\n{lines}\n]\n")


def in_turns(columns: Iterable[Sequence[Item]]) -> Iterator[Item]:
    """The first of each column, then the second of each that has one, and so on."""
    return (item for turn in zip_longest(*columns) for item in turn if item is not None)
