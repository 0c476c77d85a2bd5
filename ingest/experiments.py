"""Own experiments: the same configurations of every flow on every dataset, into the warehouse.

One design per flow (`ingest.flows.design`) makes the matrix of configurations x datasets dense, which
runs of others never are. A run's key follows from what was run, so the warehouse itself is the memory of
what is done: a job that was killed goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Self

import pandas as pd

from ingest.datasets import Dataset, load_dataset
from ingest.evaluation import cross_validate
from ingest.flows import FLOWS, Flow, Value, get_flow
from ingest.flows.design import sobol_design
from ingest.journal import Journal
from ingest.metafeatures import EXTRACTOR, compute_metafeatures
from ingest.trials import MEBIBYTE, Outcome, Trial, end_running_trials, run_limited
from warehouse.errors import BadInput
from warehouse.store import Warehouse

logger = logging.getLogger(__name__)

DATASET_SUFFIXES = {".arff", ".csv", ".tsv", ".parquet"}
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
class Run:
    """One configuration on one dataset, before it is run."""

    flow: Flow
    values: Mapping[str, Value]
    setup: str
    task: str
    run: str


@dataclass(frozen=True)
class Progress:
    """Where a job stands. `left` runs are expected to take `seconds_left`."""

    dataset: str
    done: int
    skipped: int
    failed: int
    left: int
    seconds_left: float


@dataclass(frozen=True)
class DatasetFile:
    """A dataset that experiments are to be run on, before it is loaded."""

    path: Path
    target: str | None = None


def find_datasets(source: str | Path) -> list[DatasetFile]:
    """The dataset files of a directory or of an index, the smallest first.

    An index is a CSV file with the columns `name` (of a file beside it, the suffix may be left out) and
    `target` (may be empty). A directory that has an `index.csv` is read through it; subdirectories are
    searched too.

    Raises:
        BadInput: there is nothing to read, or the index names a file that is not there.
    """
    source = Path(source)
    if source.is_dir():
        listed = find_datasets(source / "index.csv") if (source / "index.csv").is_file() else []
        known = {file.path for file in listed}
        others = [
            DatasetFile(path)
            for path in source.rglob("*")
            if path.suffix.lower() in DATASET_SUFFIXES and path not in known and path.name != "index.csv"
        ]
        files = listed + others
    elif source.is_file() and source.suffix.lower() == ".csv":
        files = [
            DatasetFile(_beside(source, name), target)
            for name, target in _read_index(source).itertuples(index=False, name=None)
        ]
    else:
        raise BadInput(f"{source}: neither a directory of datasets nor an index.csv")
    if not files:
        raise BadInput(f"{source}: no dataset files ({', '.join(sorted(DATASET_SUFFIXES))}) there")
    return sorted(files, key=lambda file: (file.path.stat().st_size, file.path))


def _read_index(path: Path) -> pd.DataFrame:
    try:
        index = pd.read_csv(path, dtype=str)
    except (ValueError, OSError) as error:
        raise BadInput(f"{path}: not readable as an index of datasets: {error}") from error
    if "name" not in index:
        raise BadInput(f"{path}: an index of datasets needs a column `name`")
    targets = index["target"] if "target" in index else pd.Series(None, index=index.index, dtype=object)
    return pd.DataFrame(
        {"name": index["name"], "target": targets.astype(object).where(targets.notna(), None)}
    )


def _beside(index: Path, name: str) -> Path:
    candidates = [index.parent / name, *(index.parent / f"{name}{suffix}" for suffix in DATASET_SUFFIXES)]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        raise BadInput(f"{index}: lists {name!r}, but there is no such file beside it")
    return found


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
    note says. A dataset that can't be read is logged and passed over.

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
        planned = planned_runs(dataset, plan)
        with _Batch(warehouse, dataset, plan) as batch:
            batch.recover(planned)
        known = _known_runs(warehouse.path, planned[0].task)
        runs = [run for run in planned if run.run not in known]
        counts["skipped"] += len(planned) - len(runs)
        start = time.monotonic()
        with _Batch(warehouse, dataset, plan) as batch:
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


def planned_runs(dataset: Dataset, plan: Plan) -> list[Run]:
    """Every run of the plan on this dataset, flow by flow, the default configuration first."""
    task = f"{dataset.key}/cv{plan.folds}"
    runs = []
    for name in plan.flows:
        flow = get_flow(name)
        for values in _design(flow.name, plan.configurations, plan.seed):
            setup = setup_key(flow, values)
            run = f"own:{_digest(task, setup, str(plan.seed))}"
            runs.append(Run(flow, values, setup, task, run))
    return runs


@cache
def _design(flow: str, n: int, seed: int) -> list[dict[str, Value]]:
    return sobol_design(FLOWS[flow], n, seed)


def setup_key(flow: Flow, values: Mapping[str, Value]) -> str:
    """Key of a configuration in the warehouse: the same values of the same flow have the same key."""
    return f"{flow.id}/{_digest(json.dumps(dict(values), sort_keys=True))}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


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
        self._journal = Journal(warehouse.path / "journals" / f"{dataset.content_hash}.jsonl")
        self._results: list[tuple[Run, Trial]] = []
        self._last_commit = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._commit()

    def recover(self, planned: Sequence[Run]) -> None:
        """Take over what a job that was killed had finished."""
        by_key = {run.run: run for run in planned}
        finished = {record.pop("run"): record for record in self._journal.records()}
        self._results = [
            (by_key[key], Trial(**{**record, "outcome": Outcome(record["outcome"])}))
            for key, record in finished.items()
            if key in by_key
        ]

    def add(self, run: Run, trial: Trial) -> None:
        self._journal.append({"run": run.run, **asdict(trial)})
        self._results.append((run, trial))
        if time.monotonic() - self._last_commit > COMMIT_SECONDS:
            self._commit()

    def _commit(self) -> None:
        # The description goes along even without a result: definitions of meta-features may have changed.
        tables = description_tables(self._dataset)
        if self._results:
            tables |= run_tables(self._dataset, self._results, self._plan.folds)
        self._warehouse.write(tables, source="experiments", location=self._dataset.source)
        self._journal.clear()
        self._results = []
        self._last_commit = time.monotonic()


def run_tables(dataset: Dataset, results: Sequence[tuple[Run, Trial]], folds: int) -> dict[str, pd.DataFrame]:
    """Rows of the warehouse's tables for some runs on a dataset."""
    flows = {run.flow.id: run.flow for run, _ in results}
    setups = {run.setup: run for run, _ in results}
    return {
        "tasks": pd.DataFrame(
            [
                {
                    "task": results[0][0].task,
                    "dataset": dataset.key,
                    "task_type": "supervised_classification",
                    "estimation_procedure": f"cv{folds}",
                }
            ]
        ),
        "flows": pd.DataFrame(
            [{"flow": key, "name": flow.title, "algorithm": flow.name} for key, flow in flows.items()]
        ),
        "setups": pd.DataFrame([{"setup": key, "flow": run.flow.id} for key, run in setups.items()]),
        "hyperparameters": pd.DataFrame(
            [
                {"setup": key, "parameter": parameter, "value": json.dumps(value)}
                for key, run in setups.items()
                for parameter, value in run.values.items()
            ]
        ),
        "runs": pd.DataFrame(
            [
                {
                    "run": run.run,
                    "task": run.task,
                    "setup": run.setup,
                    "outcome": str(trial.outcome),
                    "message": trial.message,
                }
                for run, trial in results
            ]
        ),
        "evaluations": pd.DataFrame(
            [
                {"run": run.run, "measure": measure, "value": value, "flow": run.flow.id}
                for run, trial in results
                if trial.result is not None
                for measure, value in trial.result.items()
                if value == value
            ],
            columns=["run", "measure", "value", "flow"],
        ),
    }


def description_tables(dataset: Dataset) -> dict[str, pd.DataFrame]:
    """Rows of the warehouse's tables for a dataset and its meta-features."""
    qualities = compute_metafeatures(dataset)
    return {
        "datasets": pd.DataFrame(
            [
                {
                    "dataset": dataset.key,
                    "name": dataset.name,
                    "content_hash": dataset.content_hash,
                    "rows": len(dataset.features),
                    "columns": dataset.features.shape[1],
                    "classes": dataset.n_classes,
                    "target": dataset.target.name,
                    "note": dataset.note,
                }
            ]
        ),
        "qualities": pd.DataFrame(
            {
                "dataset": dataset.key,
                "quality": list(qualities),
                "value": list(qualities.values()),
                "source": "computed",
                "extractor": EXTRACTOR,
            }
        ),
    }
