"""Own experiments: the same configurations of every flow on every dataset, into the warehouse.

One design per flow (`ingest.flows.design`) makes the matrix of configurations x datasets dense, which
runs of others never are. A run's key follows from what was run, so the warehouse itself is the memory of
what is done: a job that was killed goes on where it was.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Self

from ingest.dataset_files import DatasetFile
from ingest.datasets import Dataset, load_dataset
from ingest.evaluation import cross_validate
from ingest.flows import FLOWS, Value, get_flow
from ingest.flows.design import sobol_design
from ingest.keys import digest, setup_key
from ingest.run_rows import Run, description_tables, run_tables
from ingest.trials import MEBIBYTE, Outcome, Trial, end_running_trials, run_limited
from warehouse.errors import BadInput
from warehouse.journal import Journal
from warehouse.store import Warehouse

logger = logging.getLogger(__name__)

COMMIT_SECONDS = 60.0
"""Results wait this long for their commit, in the journal."""


@dataclass(frozen=True)
class Plan:
    """What to run. `seconds` and `memory` (MiB) limit each run."""

    flows: tuple[str, ...]
    configurations: int
    folds: int = 3
    seed: int = 0
    seconds: float = 60.0
    memory: int = 4096


@dataclass(frozen=True)
class Progress:
    """Where a job stands. `left` runs are expected to take `seconds_left`."""

    dataset: str
    done: int
    skipped: int
    failed: int
    left: int
    seconds_left: float


def run_experiments(
    warehouse: Warehouse,
    files: Sequence[DatasetFile],
    plan: Plan,
    *,
    jobs: int = 1,
    report: Callable[[Progress], None] = lambda _: None,
) -> dict[str, int]:
    """Run what `plan` asks for and the warehouse does not have yet, smallest dataset first.

    Numeric targets are binarized at their mean and classes with one example left out, as the dataset's
    note says. A dataset that can't be read, or that the warehouse has under another name, is logged and
    passed over: the same data twice would count twice, and a left-out dataset would be learned from its twin.

    Returns:
        Outcome -> number of runs, and `skipped` = runs that the warehouse had.
    """
    counts = {**{str(outcome): 0 for outcome in Outcome}, "skipped": 0}
    spent, estimated = 0.0, 0
    for position, file in enumerate(files):
        try:
            dataset = load_dataset(
                file.path, target=file.target, numeric_target="binarize", rare_classes="drop"
            )
        except BadInput as error:
            logger.warning("passed over %s: %s", file.path, error)
            continue
        if twins := _twins(warehouse.path, dataset):
            logger.warning("passed over %s: the warehouse has the same data as %s", file.path, twins[0])
            continue
        planned = planned_runs(dataset, plan)
        start = time.monotonic()
        with _Batch(warehouse, dataset, plan) as batch:
            known = _known_runs(warehouse.path, planned[0].task) | batch.recover(planned)
            runs = [run for run in planned if run.run not in known]
            counts["skipped"] += len(planned) - len(runs)
            for done, (run, trial) in enumerate(_finished(runs, dataset, plan, jobs), start=1):
                batch.add(run, trial)
                counts[trial.outcome] += 1
                estimated += 1
                elapsed = spent + time.monotonic() - start
                left = len(runs) - done + len(planned) * (len(files) - position - 1)
                report(
                    Progress(
                        dataset=dataset.name,
                        done=estimated,
                        skipped=counts["skipped"],
                        failed=estimated - counts["success"],
                        left=left,
                        seconds_left=elapsed / estimated * left,
                    )
                )
        spent += time.monotonic() - start
    return counts


def _known_runs(warehouse: Path, task: str) -> set[str]:
    """Runs on this task as of now: another process may be at work on the same warehouse."""
    return set(Warehouse.open(warehouse).sql("SELECT run FROM runs WHERE task = ?", [task])["run"])


def _twins(warehouse: Path, dataset: Dataset) -> list[str]:
    """Local datasets with the same content and another name."""
    same = "SELECT dataset FROM datasets WHERE content_hash = ? AND dataset LIKE 'local:%'"
    found = Warehouse.open(warehouse).sql(same, [dataset.content_hash])["dataset"]
    return found[found != dataset.key].tolist()


def planned_runs(dataset: Dataset, plan: Plan) -> list[Run]:
    """Every run of the plan on this dataset, flow by flow, the default configuration first."""
    task = f"{dataset.key}/cv{plan.folds}"
    runs = []
    for name in plan.flows:
        flow = get_flow(name)
        for values in _design(flow.name, plan.configurations, plan.seed):
            setup = setup_key(flow.id, json.dumps(values, sort_keys=True))
            run = f"own:{digest(task, setup, str(plan.seed))}"
            runs.append(Run(flow, values, setup, task, run))
    return runs


@cache
def _design(flow: str, n: int, seed: int) -> list[dict[str, Value]]:
    return sobol_design(FLOWS[flow], n, seed)


def _finished(runs: Sequence[Run], dataset: Dataset, plan: Plan, jobs: int) -> Iterator[tuple[Run, Trial]]:
    """Runs with their outcomes, in the order in which they end; `jobs` at a time.

    The threads only wait: each run has a process of its own.
    """
    with ThreadPoolExecutor(jobs) as pool:
        waiting: dict[Future[Trial], Run] = {}
        queue = iter(runs)
        try:
            while True:
                for run in queue:
                    waiting[pool.submit(_run, run, dataset, plan)] = run
                    if len(waiting) >= jobs:
                        break
                if not waiting:
                    return
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(future), future.result()
        finally:
            # Nobody waits for the results of an interrupted job.
            pool.shutdown(wait=False, cancel_futures=True)
            end_running_trials()


def _run(run: Run, dataset: Dataset, plan: Plan) -> Trial:
    return run_limited(
        cross_validate,
        run.flow.name,
        dict(run.values),
        dataset,
        folds=plan.folds,
        seed=plan.seed,
        seconds=plan.seconds,
        memory=plan.memory * MEBIBYTE,
    )


class _Batch:
    """Runs of one dataset on their way into the warehouse; leaving the context stores what is left."""

    def __init__(self, warehouse: Warehouse, dataset: Dataset, plan: Plan) -> None:
        self._warehouse = warehouse
        self._dataset = dataset
        self._plan = plan
        # It goes along even without a result: definitions of meta-features may have changed.
        self._description = description_tables(dataset)
        self._journal = Journal(warehouse.path / "journals" / f"{dataset.content_hash}.jsonl")
        self._results: list[tuple[Run, Trial]] = []
        self._last_commit = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._commit()

    def recover(self, planned: Sequence[Run]) -> set[str]:
        """Take over what a job that was killed had finished; returns the keys of these runs."""
        by_key = {run.run: run for run in planned}
        finished = {record.pop("run"): record for record in self._journal.records()}
        self._results = [
            (by_key[key], Trial.from_record(record)) for key, record in finished.items() if key in by_key
        ]
        return {run.run for run, _ in self._results}

    def add(self, run: Run, trial: Trial) -> None:
        self._journal.path.parent.mkdir(exist_ok=True)
        self._journal.append({"run": run.run, **asdict(trial)})
        self._results.append((run, trial))
        if time.monotonic() - self._last_commit > COMMIT_SECONDS:
            self._commit()

    def _commit(self) -> None:
        tables = self._description
        if self._results:
            tables = tables | run_tables(self._dataset, self._results, f"cv{self._plan.folds}")
        self._warehouse.write(tables, source="experiments", location=self._dataset.source)
        self._journal.clear()
        self._results = []
        self._last_commit = time.monotonic()
