"""Own experiments: run the same configurations on every dataset, and store the results in the warehouse.

With the same pool for every dataset the matrix of configurations x datasets is dense, unlike that of others'
runs. A run's key is derived from its content, so the warehouse shows which runs are done: a job that was
killed continues where it was.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from ingest.flows import get_flow
from ingest.keys import digest, setup_of
from ingest.metafeatures import EXTRACTOR
from ingest.reading.dataset_files import DatasetFile
from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.split_by import split_of_key
from ingest.reading.target.strata import strata_of
from ingest.running.blocks import Split
from ingest.running.evaluation import Evaluation, Limits, evaluations
from ingest.running.limits import Outcome
from ingest.running.plan import Plan, Tier
from ingest.running.pool import Pool
from ingest.running.promotion import best_setups
from ingest.running.rows import Run, dataset_row, is_sketched, quality_rows, run_tables, sketch_row
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.support.files import make_folder
from warehouse.support.journal import Journal
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.task_types import TaskType

logger = logging.getLogger(__name__)

COMMIT_SECONDS = 120.0
"""Longest time that results wait in the journal for their commit."""
PATIENCE = 20
"""Wall-clock limit of a run as a multiple of its processor time, so that a busy machine does not end runs."""

_END = "end"
_RUNS_ON_TASK = "SELECT r.run, r.outcome, s.flow FROM runs r JOIN setups s USING (setup) WHERE r.task = ?"


@dataclass(frozen=True)
class ExperimentProgress:
    """Progress of a job: `left` runs of the first tier, expected to take `seconds_left`."""

    dataset: str
    done: int
    skipped: int
    failed: int
    left: int
    seconds_left: float


def run_experiments(
    warehouse: Warehouse,
    plan: Plan,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    report: Callable[[ExperimentProgress], None] = lambda _: None,
) -> dict[str, int]:
    """Run the part of `plan` that the warehouse does not have yet, in the plan's order.

    Classes with one example are left out, as the dataset's note says. A dataset that can't be read, or that
    the warehouse has under another name, is logged and skipped: its runs would count twice, and leaving it
    out of training would not leave out its twin. Configurations whose package is not installed are also
    logged and skipped.

    Args:
        jobs: runs at a time.
        executor: makes the runs, such as a Dask client's `get_executor()`; None = this machine. Only this
            process reads datasets and accesses the warehouse.

    Returns:
        Outcome -> number of runs, and `skipped` = runs that the warehouse already had.

    Raises:
        MissingPackage: no package that the plan's configurations need is installed.
    """
    plan = _without_missing_packages(plan)
    counts = {**{str(outcome): 0 for outcome in Outcome}, "skipped": 0}
    expected = len(plan.pool) * len(plan.datasets)
    start = time.monotonic()
    batches: set[_Batch] = set()
    try:
        work = _work(warehouse, plan, batches, counts)
        for batch, run, evaluation in _finished(work, jobs, executor):
            batch.add(run, evaluation)
            _store_if_complete(batch, batches)
            counts[evaluation.outcome] += 1
            done = sum(counts.values()) - counts["skipped"]
            left = max(expected - done - counts["skipped"], 0)
            report(
                ExperimentProgress(
                    dataset=batch.dataset.name,
                    done=done,
                    skipped=counts["skipped"],
                    failed=done - counts["success"],
                    left=left,
                    seconds_left=(time.monotonic() - start) / done * left,
                )
            )
    finally:
        for batch in batches:
            batch.commit()  # results that came back before an interruption
    return counts


def _without_missing_packages(plan: Plan) -> Plan:
    """Leave out the configurations whose packages are missing here, which would look like failures."""
    flows = [get_flow(name) for name in dict.fromkeys(one.algorithm for one in plan.pool)]
    missing = {flow.name: flow for flow in flows if not flow.installed}
    if missing and len(missing) == len(flows):
        flows[0].refuse_if_not_installed()
    for flow in missing.values():
        logger.warning("left out %s: the package %s is not installed", flow.name, flow.requires)
    usable = {one: source for one, source in plan.pool.items() if one.algorithm not in missing}
    return replace(plan, pool=usable)


def _work(
    warehouse: Warehouse, plan: Plan, batches: set[_Batch], counts: dict[str, int]
) -> Iterator[tuple[_Batch, Run] | None]:
    """The runs to make, in order, each with the batch that takes its result.

    None means that the following runs depend on all results so far.
    """
    unusable: set[DatasetFile] = set()
    for place, tier in enumerate(plan.tiers):
        if place:
            yield None
        for block in plan.blocks():
            for file in plan.datasets:
                if file in unusable:
                    continue
                now = Warehouse.open(warehouse.location)  # another process may have written to it
                dataset = load_file(file, now)
                if dataset is None:
                    unusable.add(file)
                elif plan.applies(len(dataset.features), place):
                    chosen = _chosen(now, dataset, plan, place, block)
                    batch = _Batch(warehouse, now, file, dataset, plan, tier, chosen)
                    batches.add(batch)
                    counts["skipped"] += batch.skipped
                    yield from batch.hand_out()
                    _store_if_complete(batch, batches)


def _store_if_complete(batch: _Batch, batches: set[_Batch]) -> None:
    if batch.complete:
        batch.commit()
        batches.discard(batch)


@lru_cache(maxsize=2)
def _read(file: DatasetFile) -> Dataset:
    return load_dataset(
        file.path,
        target=file.target,
        task=file.task,
        numeric_target=file.numeric_target,
        rare_classes="drop",
    )


def load_file(file: DatasetFile, warehouse: Warehouse) -> Dataset | None:
    """The dataset; None if it is skipped, with the reason in the log."""
    try:
        dataset = _read(file)
    except BadInput as error:
        logger.warning("passed over %s: %s", file.path, error)
        return None
    if len(dataset.features) < file.least_rows:
        return None
    same = "SELECT dataset FROM datasets WHERE content_hash = ? AND dataset LIKE 'local:%'"
    found = warehouse.sql(same, [dataset.content_hash])["dataset"]
    twins = found[[split_of_key(key) is None and key != dataset.key for key in found]].tolist()
    if twins:
        logger.warning("passed over %s: the warehouse has the same data as %s", file.path, twins[0])
        return None
    return dataset


def sketch_datasets(
    warehouse: Warehouse, files: Sequence[DatasetFile], report: Callable[[str], None] = lambda _: None
) -> int:
    """Sketch the datasets that the warehouse has runs on but no sketch of; returns their number.

    This is one commit, and does not make trained models outdated.
    """
    known = {*warehouse.sql("SELECT dataset FROM datasets WHERE content_hash IS NOT NULL")["dataset"]}
    rows = []
    for file in files:
        report(str(file.path))
        dataset = load_file(file, warehouse)
        if dataset is not None and dataset.key in known and not is_sketched(warehouse, dataset):
            rows.append(sketch_row(dataset)["sketches"])
    if rows:
        warehouse.write({"sketches": pd.concat(rows)}, source="sketches")
    return len(rows)


def _chosen(
    warehouse: Warehouse, dataset: Dataset, plan: Plan, place: int, block: Pool
) -> list[Configuration]:
    """Configurations of the dataset's task type for the tier at this place.

    The first tier runs all, a later one the defaults and the best of the tier before. It leaves out flows
    that are too slow for so many rows.
    """
    block, pool = (_of_type(dataset.task_type, some) for some in (block, plan.pool))
    if place == 0:
        return [*block]
    before, tier = plan.tiers[place - 1 : place + 1]
    task = task_of(dataset, plan, before)
    best = best_setups(warehouse, task, dataset.task_type, round(tier.share * len(pool)))
    rows = len(dataset.features)
    train_rows = plan.resampling(rows, tier).sizes(rows)[0]
    return [
        configuration
        for configuration, source in block.items()
        if (source == "default" or setup_of(configuration) in best)
        and train_rows <= (get_flow(configuration.algorithm).most_rows or train_rows)
    ]


def _of_type(task_type: TaskType, pool: Pool) -> Pool:
    return {one: source for one, source in pool.items() if get_flow(one.algorithm).task_type == task_type}


def planned_runs(
    dataset: Dataset, plan: Plan, tier: Tier, configurations: Iterable[Configuration]
) -> list[Run]:
    """The runs of these configurations on the dataset at this tier; some configurations need more rows."""
    task = task_of(dataset, plan, tier)
    rows = len(dataset.features)
    train_rows, test_rows = plan.resampling(rows, tier).sizes(rows)
    stated = (None, None) if tier.train_rows is None else (train_rows, test_rows)
    planned = []
    for configuration in configurations:
        if get_flow(configuration.algorithm).rows_needed(configuration.values) <= train_rows:
            key = f"own:{digest(task, setup_of(configuration), str(plan.seed))}"
            planned.append(Run(configuration, task, key, *stated))
    return planned


def task_of(dataset: Dataset, plan: Plan, tier: Tier) -> str:
    """Warehouse key of the task that `plan` makes of the dataset at this tier."""
    return f"{dataset.key}/{plan.resampling(len(dataset.features), tier).name}"


def _finished(
    work: Iterator[tuple[_Batch, Run] | None], jobs: int, executor: Executor | None
) -> Iterator[tuple[_Batch, Run, Evaluation]]:
    """Runs with their results, in the order in which they end; `jobs` at a time."""
    with evaluations(executor, jobs) as submit:
        waiting: dict[Future[Evaluation], tuple[_Batch, Run]] = {}
        item: tuple[_Batch, Run] | str | None = None
        try:
            while item != _END or waiting:
                paused = False
                while len(waiting) < jobs and not paused and item != _END:
                    item = next(work, _END)
                    paused = item is None
                    if isinstance(item, tuple):
                        batch, run = item
                        waiting[batch.begin(submit, run)] = item
                for future in wait(waiting, return_when=ALL_COMPLETED if paused else FIRST_COMPLETED).done:
                    yield *waiting.pop(future), future.result()
        finally:
            for future in waiting:
                future.cancel()


class _Batch:
    """Runs of one dataset at one tier, until they are in the warehouse."""

    def __init__(
        self,
        warehouse: Warehouse,
        now: Warehouse,
        file: DatasetFile,
        dataset: Dataset,
        plan: Plan,
        tier: Tier,
        configurations: Sequence[Configuration],
    ) -> None:
        """Determine which runs are left.

        Args:
            warehouse: destination of the results.
            now: its newest version, whose runs are not repeated.
        """
        self.dataset = dataset
        self._warehouse = warehouse
        self._plan = plan
        self._tier = tier
        self._procedure = plan.resampling(len(dataset.features), tier)
        task = task_of(dataset, plan, tier)
        known = now.sql(_RUNS_ON_TASK, [task])
        planned = planned_runs(dataset, plan, tier, configurations)
        self._journal = Journal(warehouse.path / "journals" / f"{digest(task)}.jsonl")
        self._results = self._recovered(planned)
        finished = known["run"].tolist() + [run.run for run, _ in self._results]
        self._left = [run for run in planned if run.run not in set(finished)]
        self.skipped = len(planned) - len(self._left)
        self._timeouts = Counter(known["flow"][known["outcome"] == Outcome.timeout])
        self._timeouts.update(run.flow.id for run, one in self._results if one.outcome is Outcome.timeout)
        self._awaited = 0
        self._handed_out = False
        self._last_commit = time.monotonic()
        self._description = self._describe(file, now)
        # Splitting is the slowest step here, and a resumed job skips many batches.
        self._part, self._repetitions = self._needed_rows() if self._left else (dataset, [])

    @property
    def complete(self) -> bool:
        """Whether all runs have been handed out and have come back."""
        return self._handed_out and not self._awaited

    def hand_out(self) -> Iterator[tuple[_Batch, Run]]:
        """The runs to make."""
        limit = self._plan.give_up_after
        for run in self._left:
            if limit is not None and self._timeouts[run.flow.id] >= limit:
                continue
            self._awaited += 1
            yield self, run
        self._handed_out = True

    def begin(self, submit: Callable[..., Future[Evaluation]], run: Run) -> Future[Evaluation]:
        """Begin the evaluation of a run."""
        limits = Limits(PATIENCE * self._tier.seconds, self._tier.memory, self._tier.seconds)
        return submit(run.configuration, self._part, self._repetitions, limits, seed=self._plan.seed)

    def add(self, run: Run, evaluation: Evaluation) -> None:
        """Take the result of a run that was handed out."""
        make_folder(self._journal.path.parent)
        self._journal.append({"run": run.run, **evaluation.record()})
        self._results.append((run, evaluation))
        self._awaited -= 1
        if evaluation.outcome is Outcome.timeout:
            self._timeouts[run.flow.id] += 1
        if time.monotonic() - self._last_commit > COMMIT_SECONDS:
            self.commit()

    def commit(self) -> None:
        """Write the finished runs."""
        tables = self._description
        if self._results:
            tables = tables | run_tables(self.dataset, self._results, self._procedure.name)
        if tables:
            self._warehouse.write(tables, source="experiments", location=self.dataset.source)
        stored = {run.run for run, _ in self._results}
        self._journal.keep(lambda record: record.get("run") not in stored)
        self._results, self._description = [], {}
        self._last_commit = time.monotonic()

    def _recovered(self, planned: Sequence[Run]) -> list[tuple[Run, Evaluation]]:
        """Finished runs of a killed job."""
        by_key = {run.run: run for run in planned}
        finished: dict[str, Evaluation] = {}
        for record in self._journal.records():
            with suppress(KeyError, TypeError, ValueError):  # skip damaged records
                finished[record["run"]] = Evaluation.from_record(record)
        return [(by_key[key], evaluation) for key, evaluation in finished.items() if key in by_key]

    def _describe(self, file: DatasetFile, now: Warehouse) -> dict[str, pd.DataFrame]:
        """Facts, and meta-features and a sketch unless the warehouse has them by today's definitions."""
        described = "SELECT count(*) AS n FROM qualities WHERE dataset = ? AND extractor = ?"
        known = now.sql(described, [self.dataset.key, EXTRACTOR])["n"].item()
        tables = dataset_row(self.dataset, domain=file.domain, family=file.family)
        tables = tables if known else tables | quality_rows(self.dataset)
        return tables if is_sketched(now, self.dataset) else tables | sketch_row(self.dataset)

    def _needed_rows(self) -> tuple[Dataset, list[list[Split]]]:
        """The rows that the splits use, and the splits among them: the data to send to a run's process."""
        strata = strata_of(self.dataset.target)
        repetitions = list(self._procedure.splits(strata, self._plan.seed))
        used = np.unique(
            np.concatenate([rows for splits in repetitions for split in splits for rows in split])
        )
        among_used = [
            [(np.searchsorted(used, train), np.searchsorted(used, test)) for train, test in splits]
            for splits in repetitions
        ]
        return self.dataset.take(used), among_used
