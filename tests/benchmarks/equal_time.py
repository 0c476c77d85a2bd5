"""Ours and other contenders on held-out tables, with equal time and one processor each.

    pip install flaml==2.7.0
    python -m tests.benchmarks.equal_time FOLDER --seconds 10,60,600 [--task regression] [--jobs N]
        [--autogluon PYTHON]

FOLDER holds tables, and an index.csv with their names and targets. Of the tables with families in the
reporting half, N are used, evenly spaced by size; a table unknown to the warehouse and to the index's column
`family` is its own family. A third of each table is held out, several times. Each contender
(`tests.benchmarks.contenders`) fits the other rows in its own process, on a processor that no other job uses.
All optimize one measure, and are compared by three. A contender without a model counts as predicting the
class shares, or the mean. AutoGluon takes part if `--autogluon` names the Python of an environment with it,
and SMAC from `SMAC_SECONDS` on.

Finished fits are stored in the results file: the same command resumes after being killed, and `--report`
prints the results so far. Tables are in random order, so that these are a fair sample. If others use the
machine, `--by-processor` gives FLAML and AutoGluon their time as processor time, so that they lose none; ours
always use wall-clock time.

Notation
    mean       over the tables of the mean over a table's splits
    mean rank  among the contenders, on the tables that all of them finished, 1 = best; ties get the mean rank
    won        tables on which the first contender was better - on which it was worse, and its share of both
    p          Wilcoxon's signed-rank test of the same means, two-sided, Holm over the rows of all measures
    time       of the fit over the given time: smallest, median, largest
    busy       processor time over wall-clock time, median: below 1 if others used the processor, too (without
               our trials, which are processes of a server)
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pandas as pd

from metalearners.encoding.scores import oriented
from metalearners.evaluation.folds import HALVES
from tests.benchmarks.contenders import Contender, Job, contenders_of, without_model
from tests.benchmarks.held_out import TableFile, chosen_tables, tables_in
from tests.benchmarks.report import comparison, holm, markdown
from tests.benchmarks.task_kinds import KINDS, TaskKind
from warehouse.store import STARTER, Warehouse
from warehouse.support.journal import Journal
from warehouse.vocabulary.measures import canonical_measure

PATIENCE = 1800.0
"""Seconds that a contender gets beyond four times the given time."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", choices=KINDS, default="classification")
    parser.add_argument("--seconds", default="10,60,600", help="times, separated by commas")
    parser.add_argument("--contenders", help="the others are compared to the first; default: all")
    parser.add_argument("--results", type=Path, default=Path("build/equal_time.jsonl"))
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time, a processor each")
    parser.add_argument("--half", choices=HALVES, default="reporting", help="of the families")
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--most-rows", type=int, default=20_000, help="of a table")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--told", type=canonical_measure, help="measure to be good at; default: AUC or RMSE")
    parser.add_argument("--autogluon", default="", metavar="PYTHON", help="of an environment with AutoGluon")
    parser.add_argument("--by-processor", action="store_true", help="count peers' time by the processor")
    parser.add_argument("--report", action="store_true", help="fit nothing more")
    options = parser.parse_args()
    kind = KINDS[options.task]
    contenders = contenders_of(kind)
    names = options.contenders.split(",") if options.contenders else [*contenders]
    if unknown := [name for name in names if name not in contenders]:
        parser.error(f"unknown contender {unknown[0]!r}; known are {', '.join(contenders)}")
    chosen = {name: contenders[name] for name in names if name != "autogluon" or options.autogluon}
    seconds = [float(part) for part in options.seconds.split(",")]
    told = options.told or kind.told
    options.results.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal(options.results)
    records = [record for record in journal.records() if record["told"] == told]
    if not options.report:
        files = tables_in(options.folder, Warehouse.open(STARTER))
        files = [file for file in files if file.rows <= options.most_rows]
        files = chosen_tables(files, options.tables, options.half)
        finished = {key_of(record) for record in records}
        left = [
            replace(job, autogluon=options.autogluon, by_processor=options.by_processor)
            for job in all_jobs(files, range(options.splits), seconds, chosen, kind, told)
            if key_of(asdict(job)) not in finished
        ]
        for number, record in enumerate(run_all(left, options.jobs), start=1):
            journal.append(record)
            records.append(record)
            print(f"{number} of {len(left)}: {line_of(record)}", flush=True)
    for time in seconds:
        report(records, contenders, names, kind, time)


# ---- running -------------------------------------------------------------------------------------


def all_jobs(
    files: Sequence[TableFile],
    splits: Sequence[int],
    seconds: Sequence[float],
    contenders: Mapping[str, Contender],
    kind: TaskKind,
    told: str,
) -> Iterator[Job]:
    """The jobs; all contenders of a split come before those of the next one."""
    for time, split, file, (name, contender) in product(seconds, splits, files, contenders.items()):
        if time >= contender.least_seconds and (contender.is_timed or time == seconds[0]):
            given = time if contender.is_timed else 0.0
            yield Job(name, file.path, file.target, split, given, told, 0, task=kind.name, family=file.family)


def key_of(job: dict[str, Any]) -> tuple[str, str, int, float]:
    return job["contender"], Path(job["table"]).stem, job["split"], job["seconds"]


def run_all(jobs: Sequence[Job], at_once: int) -> Iterator[dict[str, Any]]:
    """A record of each job; each job runs on a processor of its own."""
    processors: SimpleQueue[int] = SimpleQueue()
    for processor in sorted(os.sched_getaffinity(0), reverse=True)[:at_once]:
        processors.put(processor)

    def run(job: Job) -> dict[str, Any]:
        processor = processors.get()
        try:
            return record_of(replace(job, processor=processor))
        finally:
            processors.put(processor)

    with ThreadPoolExecutor(at_once) as pool:
        for future in as_completed([pool.submit(run, job) for job in jobs]):
            yield future.result()


def record_of(job: Job) -> dict[str, Any]:
    """The result of a job: its measures and times, or why it failed."""
    known = {**asdict(job), "table": Path(job.table).stem}
    command = [sys.executable, "-m", "tests.benchmarks.contenders", json.dumps(asdict(job))]
    limit = 4 * job.seconds + PATIENCE
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **ONE_THREAD},
        start_new_session=True,
    ) as process:
        try:
            printed, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return known | {
                "failed": f"no model after {limit:g} s",
                "measures": without_model(job),
                "took": limit,
            }
    if process.returncode != 0:
        reason = (errors.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        return known | {"failed": reason, "measures": without_model(job), "took": None}
    return known | json.loads(printed.strip().splitlines()[-1])


def line_of(record: dict[str, Any]) -> str:
    values = ", ".join(f"{value:.4f}" for value in record["measures"].values())
    took = "" if record.get("took") is None else f" in {record['took']:.1f} s"
    failed = f" ({record['failed']})" if "failed" in record else ""
    return f"{record['table']}, split {record['split']}: {record['contender']} {values}{took}{failed}"


# ---- report --------------------------------------------------------------------------------------


def report(
    records: Sequence[dict[str, Any]],
    contenders: Mapping[str, Contender],
    names: Sequence[str],
    kind: TaskKind,
    seconds: float,
) -> None:
    """Print a comparison of the contenders with this time and those without a time limit."""
    own = pd.DataFrame([record for record in records if record["seconds"] in (0.0, seconds)])
    if own.empty:
        return
    present = {name: contenders[name] for name in names if name in set(own["contender"])}
    print(f"\n## {seconds:g} s\n")
    rows = [row for measure in kind.judged for row in compared(measure, by_table(own, measure, [*present]))]
    for row, p in zip(rows, holm(row["p"] for row in rows), strict=True):
        row["p"] = p
    print(markdown(pd.DataFrame(rows)))
    print(f"\n{markdown(times(own, present, seconds))}")


def by_table(records: pd.DataFrame, measure: str, names: Sequence[str]) -> pd.DataFrame:
    """(tables, contenders) mean over the splits, larger is better."""
    value = [float(measures[measure]) for measures in records["measures"]]
    scores = records.assign(score=oriented(np.array(value), measure))
    return scores.pivot_table("score", "table", "contender").reindex(columns=list(names))


def compared(measure: str, scores: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """A row for each contender."""
    ours, ranks = scores.columns[0], scores.dropna().rank(axis=1, ascending=False).mean()
    for name in scores:
        both = scores[list(dict.fromkeys([ours, name]))].dropna()
        won, p = comparison(both[ours] - both[name])
        yield {
            "measure": measure,
            "": name,
            "tables": len(both),
            "mean": f"{abs(both[name].mean()):.4f}",
            "mean rank": f"{ranks[name]:.2f}",
            "won": "" if name == ours else won,
            "p": p,
        }


def times(records: pd.DataFrame, contenders: Mapping[str, Contender], seconds: float) -> pd.DataFrame:
    """Time of the contenders, relative to the given time."""
    rows = []
    for name, contender in contenders.items():
        own = records[records["contender"] == name]
        took = own["took"].dropna() / (seconds if contender.is_timed else 1.0)
        unit = "" if contender.is_timed else " s"
        rows.append(
            {
                "": name,
                "fits": len(own),
                "without a model": int(own["failed"].notna().sum()) if "failed" in own else 0,
                "time": f"{took.min():.2f} to {took.median():.2f} to {took.max():.2f}{unit}",
                "busy": f"{(own['processor'] / own['took']).median():.2f}" if "processor" in own else "",
            }
        )
    return pd.DataFrame(rows)


if __name__ == "__main__":
    main()
