"""Plans of experiments: datasets, pool, tiers, splits and limits, as one declarative file.

A plan is a TOML file; `ingest/plans/starter.toml`, from which the bundled starter was made,
shows every key.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ingest.flows import get_flow
from ingest.flows.design import sobol_design
from ingest.reading.dataset_files import DatasetFile, find_datasets
from ingest.running.pool import Pool, in_turns, read_pool
from ingest.running.resampling import Resampling
from warehouse.support.errors import BadOption, UnreadableInput, one_line
from warehouse.support.text import LONGEST_SECONDS
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.task_types import TaskName

ENOUGH_MORE_ROWS = 1.25
"""A tier runs on a dataset only if it trains on at least this many times the rows of the tier before."""


@dataclass(frozen=True)
class SplitRule:
    """Split of datasets with up to `rows` rows."""

    rows: int | None = None
    """Most rows of a dataset with this split; None = any number."""
    folds: int = 3
    """Folds of the stratified cross-validation; 1 = one split."""
    repeats: int = 1
    """Number of cross-validations, each with its own shuffle."""
    test_rows: int | None = None
    """Most test rows, for one split; None = a third of the rows."""


@dataclass(frozen=True)
class Tier:
    """Runs at one fidelity, with their limits."""

    train_rows: int | None = None
    """Most training rows; None = all."""
    share: float = 1.0
    """Share of the pool to run: the best by ranks on the dataset and similar ones at the tier before."""
    seconds: float = 60.0
    """Processor time of a run."""
    memory: int = 4096
    """Memory of a run, in MiB."""

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= LONGEST_SECONDS:
            raise BadOption(f"seconds of a run must be from 0 to {LONGEST_SECONDS:g}, not {self.seconds}")


@dataclass(frozen=True)
class Plan:
    """What to run, in order of priority: tier after tier, in blocks of the pool."""

    datasets: Sequence[DatasetFile]
    """Datasets to run on, in order."""
    pool: Pool
    """Configurations to run; in a file, the path of the pool."""
    tiers: Sequence[Tier] = (Tier(),)
    """Training sizes, in order."""
    splits: Sequence[SplitRule] = (SplitRule(),)
    """Split rules; the first that covers the dataset's rows applies."""
    seed: int = 0
    """Seed of splits and estimators."""
    block: int | None = None
    """Configurations to run on all datasets before the next block; None = the whole pool."""
    quick: Sequence[str] = ()
    """Fast flows: after the first block their configurations come before others."""
    give_up_after: int | None = None
    """After this many timeouts of a flow on a dataset, its other configurations are not run there."""

    def resampling(self, rows: int, tier: Tier) -> Resampling:
        """Resampling of a dataset of this size in `tier`."""
        rule = next((rule for rule in self.splits if rule.rows is None or rows <= rule.rows), self.splits[-1])
        return Resampling(rule.folds, rule.repeats, tier.train_rows, rule.test_rows)

    def applies(self, rows: int, place: int) -> bool:
        """Whether a dataset of this size has enough rows for the tier at this place."""
        if place == 0:
            return True
        before, here = (
            self.resampling(rows, tier).sizes(rows)[0] for tier in self.tiers[place - 1 : place + 1]
        )
        return here >= ENOUGH_MORE_ROWS * before

    def blocks(self) -> Iterator[Pool]:
        """The pool in blocks, in the order in which they run."""
        size = self.block or max(len(self.pool), 1)
        pool = [*self.pool.items()]
        ordered = pool[:size] + sorted(pool[size:], key=lambda one: one[0].algorithm not in self.quick)
        yield from (dict(ordered[start : start + size]) for start in range(0, len(ordered), size))


def design_plan(
    files: Sequence[DatasetFile],
    flows: Sequence[str],
    configurations: int,
    *,
    folds: int = 3,
    seed: int = 0,
    tier: Tier = Tier(),
    task: TaskName | None = None,
) -> Plan:
    """Run the default and a space-filling design of each flow on every dataset of its task type."""
    pool = {
        Configuration(name, values): "design"
        for name in flows
        for values in sobol_design(get_flow(name), configurations, seed)
    }
    return Plan(
        [replace(file, task=task) for file in files],
        pool,
        (tier,),
        (SplitRule(folds=folds),),
        seed,
    )


def read_plan(path: Path) -> Plan:
    """Read a plan's file; paths in it are relative to its folder.

    Raises:
        BadInput: it can't be read, has unknown keys, or names missing files; one line says which.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableInput(f"{path}: not readable as a plan: {one_line(error)}") from error
    try:
        return _plan(content, path.parent)
    except (TypeError, KeyError, ValueError) as error:
        raise UnreadableInput(f"{path}: not a plan: {one_line(error)}") from error


def _plan(content: dict[str, Any], folder: Path) -> Plan:
    for name in content.get("quick", ()):
        get_flow(name)
    return Plan(
        [file for entry in content.pop("datasets") for file in _domains_in_turns([*_files(entry, folder)])],
        read_pool(folder / content.pop("pool")),
        [Tier(**entry) for entry in content.pop("tiers")],
        [SplitRule(**entry) for entry in content.pop("splits")],
        **content,
    )


def _files(entry: Mapping[str, Any], folder: Path) -> Iterator[DatasetFile]:
    rest = dict(entry)
    if "names" in rest:
        files = [DatasetFile(name) for name in rest.pop("names")]
    else:
        files = find_datasets(os.path.normpath(folder / rest.pop("path")))
    families = rest.pop("families", None)
    known = {} if families is None else _families(folder / families)
    for file in files:
        yield DatasetFile(file.path, file.target, **known.get(Path(file.path).stem, {}), **rest)


def _families(path: Path) -> dict[Any, dict[Any, Any]]:
    """Name -> family and domain."""
    try:
        table = pd.read_csv(path, dtype=str)[["name", "family", "domain"]]
    except (OSError, ValueError, KeyError) as error:
        raise UnreadableInput(
            f"{path}: not a table with name, family and domain: {one_line(error)}"
        ) from error
    return table.drop_duplicates("name", keep="last").set_index("name").to_dict("index")


def _domains_in_turns(files: Sequence[DatasetFile]) -> list[DatasetFile]:
    """The files with domains taking turns, so that any prefix has some of each."""
    by_domain: dict[str | None, list[DatasetFile]] = {}
    for file in files:
        by_domain.setdefault(file.domain, []).append(file)
    return [*in_turns(by_domain.values())]
