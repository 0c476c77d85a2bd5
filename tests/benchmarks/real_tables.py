"""First recommendations for real tables, compared with usual defaults; everything is really trained.

    pip install flaml==2.7.0 xgboost
    python -m tests.benchmarks.real_tables FOLDER [--task regression] [--alone] [--results FILE] [--jobs N]

FOLDER holds tables, and an index.csv with their names and targets. One row in three is held out, several
times, and up to `--most-train` others are the training set. Recommendations ignore runs on the table and on
its family. Of several candidates the best on a quarter of the training rows is chosen, and trained on all of
them. Reported are measures on the held-out rows; a candidate that fails counts as predicting the class
shares, or the mean of the target.

    first, averaged    the first recommendation alone, and the average of the first three
    best of ours       the best of the first three on validation rows
    portfolio          the first, and the best of three by a greedy portfolio of the same runs
    defaults           of CatBoost, LightGBM, forests and a linear model: each, and the best of the usual ones
    FLAML              its zero-shot portfolios for LightGBM (alone), random forest and extra trees
    pytabkit           its tuned defaults of CatBoost, LightGBM and XGBoost

For skewed targets (absolute skewness over 2), the first recommendation is also trained without its
transformation of the target. With `--ctr23` only the tables in this file are used, and one row in ten is held
out, as in CTR23; with `--most-train 100000` all others are the training set.

With `--alone` FLAML, pytabkit and the best of several candidates are left out: a fifth of the time.
Finished splits are stored in the results file: the same command resumes after being killed. Tables are in
random order, so that the results so far are a fair sample. Prints tables in Markdown for each measure of the
recommendations; `tests.benchmarks.real_tables_report` explains their columns.
"""

from __future__ import annotations

import argparse
import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from ingest.flows import flow_for
from ingest.flows.base import TARGET_TRANSFORMATION
from ingest.reading.target.strata import strata_of
from ingest.running.limits import run_limited
from ingest.running.pool import read_pool
from ingest.running.resampling import hold_out
from metalearners.evaluation.folds import HALVES
from recommend.ranking.averaging import weights_of
from tests.benchmarks.held_out import (
    HELD_OUT,
    Table,
    TableFile,
    chosen_tables,
    held_out,
    leave_out_family,
    ranked,
    tables_in,
)
from tests.benchmarks.real_fits import Candidate, fit_and_score
from tests.benchmarks.real_tables_report import SKEWED, report
from tests.benchmarks.task_kinds import KINDS, TaskKind
from warehouse.store import STARTER, Warehouse
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput
from warehouse.support.journal import Journal
from warehouse.support.parallel import one_thread, side_by_side
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import canonical_measure

VALIDATED = 4
"""One in this many training rows is used for validation."""
MOST_TESTED = 10_000
FLAML = ("LGBM", "RandomForest", "ExtraTrees")
"""Estimators of `flaml.default`; the first is also evaluated alone."""
CTR23, CTR23_HELD_OUT = "CTR23", 10
"""The benchmark's name in the column `benchmark` of an index; one in this many rows is held out."""
MEMORY = 8 * 1024**3


@dataclass(frozen=True)
class Protocol:
    """Settings of the evaluation of every split."""

    task: str
    """A name of `tests.benchmarks.task_kinds.KINDS`."""
    measures: tuple[str, ...]
    """Measures of the recommendations."""
    warehouse: Path
    most_train: int
    """Most training rows."""
    seconds: float
    """Limit of the processor time of a fit."""
    every: int = HELD_OUT
    """One in this many rows is held out."""
    alone: bool = False
    """Whether only single configurations and our average are compared."""
    published: Mapping[str, Mapping[str, float]] | None = None
    """Published errors by table and learner; None = no comparison with them."""

    @property
    def kind(self) -> TaskKind:
        return KINDS[self.task]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", choices=KINDS, default="classification")
    parser.add_argument("--results", type=Path, default=Path("build/real_tables.jsonl"))
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both", help="of the families")
    parser.add_argument("--tables", type=int, help="number of tables, evenly spaced by size; default: all")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument(
        "--measure",
        action="append",
        type=canonical_measure,
        help="of the recommendations; may be repeated; default: accuracy, AUC and log loss, or RMSE and MAE",
    )
    parser.add_argument("--most-train", type=int, default=8_000, help="most training rows")
    parser.add_argument("--alone", action="store_true", help="leave out the best of several candidates")
    parser.add_argument("--trial-time", type=float, default=600.0, help="seconds of processor time of a fit")
    parser.add_argument("--warehouse", type=Path, default=STARTER)
    parser.add_argument("--ctr23", type=Path, metavar="FILE", help="published errors of CTR23's learners")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    kind = KINDS[options.task]
    measures = tuple(options.measure or kind.recommended_for)
    if foreign := [name for name in measures if name not in kind.task_type.measures]:
        parser.error(f"{foreign[0]} is not a measure of {kind.name}")
    protocol = Protocol(
        kind.name,
        measures,
        options.warehouse,
        options.most_train,
        options.trial_time,
        alone=options.alone,
    )
    files = tables_in(options.folder, Warehouse.open(options.warehouse))
    if options.ctr23 is not None:
        published = published_errors(options.folder / "index.csv", options.ctr23)
        protocol = replace(protocol, every=CTR23_HELD_OUT, published=published)
        files = [file for file in files if file.name in published]
    files = chosen_tables(files, options.tables, None if options.half == "both" else options.half)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal(options.results)
    asked = {"task": kind.name, "most_train": options.most_train, "every": protocol.every}
    records = [
        record
        for record in journal.records()
        if asked.items() <= record.items()
        and {*measures} <= {*record["measures"]}
        and (options.alone or record.get("several", True))
    ]
    finished = {(record["table"], record["split"]) for record in records}
    work = [
        (file, split)
        for split, file in product(range(options.splits), files)
        if (file.name, split) not in finished
    ]
    for number, found in enumerate(side_by_side(partial(judged, protocol), work, options.jobs), start=1):
        record = asked | found
        journal.append(record)
        records.append(record)
        print(f"{number} of {len(work)}: {record['table']}, split {record['split']}", flush=True)
    report([record | {"several": {}} if options.alone else record for record in records], kind, measures)


def published_errors(index: Path, file: Path) -> dict[str, dict[str, float]]:
    """RMSE by table of an index and learner, for the tables in CTR23.

    CTR23's name of a table is in the index's column `notes`, or all words of one name are in the other, for a
    single name of CTR23.
    """
    errors = {task["name"]: task["rmse"] for task in json.loads(file.read_text())["tasks"]}
    tables = pd.read_csv(index, index_col="name").reindex(columns=["benchmark", "notes"]).fillna("")
    found = {}
    for name, table in tables[tables["benchmark"].str.contains(CTR23)].iterrows():
        words = {*str(name).split("_")}
        alike = [task for task in errors if words <= {*task.split("_")} or words >= {*task.split("_")}]
        named = [task for task in errors if task in re.findall(r"\w+", table["notes"])] or alike
        if len(named) == 1:
            found[str(name)] = errors[named[0]]
    return found


# ---- one split -----------------------------------------------------------------------------------


def judged(protocol: Protocol, work: tuple[TableFile, int]) -> dict[str, Any]:
    """The record of one split of a table; see `tests.benchmarks.real_tables_report`."""
    warnings.simplefilter("ignore")
    file, split = work
    known: dict[str, Any] = {"table": file.name, "split": split, "measures": list(protocol.measures)}
    warehouse = Warehouse.open(protocol.warehouse)
    try:
        table = held_out(
            file,
            protocol.kind,
            split,
            every=protocol.every,
            most_train=protocol.most_train,
            most_test=MOST_TESTED,
        )
        with leave_out_family(table.dataset, file.family, warehouse), one_thread():
            recommendations = {
                measure: recommended_for(table, measure, warehouse) for measure in protocol.measures
            }
    except BadInput as error:
        return known | {"refused": str(error)}
    kind = protocol.kind
    skewness = kind.skewness(table.outcomes)
    fits = Fits(table, protocol.seconds, not protocol.alone)
    defaults = {name: fits.add(default_of(name, kind)) for name in kind.defaults}
    return known | {
        "rows": len(table.train),
        "skewness": skewness,
        "published": None if protocol.published is None else protocol.published[file.name],
        "defaults": defaults,
        "several": {} if protocol.alone else several(fits, defaults),
        "recommended": {
            measure: outcome(fits, found, abs(skewness) > SKEWED)
            for measure, found in recommendations.items()
        },
        "fits": fits.records,
    }


def several(fits: Fits, defaults: Mapping[str, str]) -> dict[str, list[str]]:
    """Keys of the candidates of each peer; `defaults` has those of defaults by flow."""
    kind = fits.table.kind
    tuned: dict[str, Configuration] = {}
    for one, source in read_pool(kind.pool).items():
        if source.startswith("pytabkit"):
            tuned.setdefault(one.algorithm, one)
    return {
        "FLAML": [fits.add(name) for name in FLAML],
        "pytabkit": [fits.add(one) for one in tuned.values()],
        "usual defaults": [defaults[name] for name in kind.usual],
    }


@dataclass(frozen=True)
class Recommended:
    """Recommendations for a split."""

    ours: list[Configuration]
    stated: list[dict[str, Any]]
    """Expected values of each of ours, in the learned measure."""
    portfolio: list[Configuration]


def recommended_for(table: Table, measure: str, warehouse: Warehouse) -> Recommended:
    learned = table.kind.task_type.learned_measure(measure)  # it orders configurations like `measure`
    ours = ranked(table, learned, warehouse)
    return Recommended(
        [item.configuration for item in ours],
        [{} if item.expectation is None else vars(item.expectation) for item in ours],
        [item.configuration for item in ranked(table, learned, warehouse, "portfolio")],
    )


def outcome(fits: Fits, found: Recommended, is_skewed: bool) -> dict[str, Any]:
    """Results of recommendations: keys of their fits, and measures of the average."""
    weights = weights_of(found.ours)
    keys = [fits.add(one) for one in found.ours]
    average = fits.table.scorer.average([fits.scores[fits.add(one)] for one in weights], [*weights.values()])
    return {
        "ours": keys,
        "stated": found.stated,
        "averaged": fits.table.measured(average.scores),
        "portfolio": [fits.add(one) for one in found.portfolio],
        "untransformed": fits.add(untransformed(found.ours[0])) if is_skewed else None,
    }


def default_of(name: str, kind: TaskKind) -> Configuration:
    flow = flow_for(name, kind.task_type)
    return Configuration(flow.name, flow.default())


def untransformed(configuration: Configuration) -> Configuration:
    """The configuration without a transformation of the target."""
    name = TARGET_TRANSFORMATION.name
    if name not in configuration.values:
        return configuration
    return replace(configuration, values={**configuration.values, name: TARGET_TRANSFORMATION.default})


class Fits:
    """Fits of candidates on one split, each done once.

    `records` has, by the candidate's key, measures on validation rows after a fit on the other training rows
    (`validated`; only on request) and on the held-out rows after a fit on all training rows (`held_out`), the
    latter's processor time in seconds, and the reason if a fit failed.
    """

    def __init__(self, table: Table, seconds: float, validates: bool) -> None:
        self.table = table
        self.records: dict[str, dict[str, Any]] = {}
        self.scores: dict[str, Floats] = {}
        self._seconds = seconds
        self._rows = {"held_out": table}
        if validates:
            strata = strata_of(table.dataset.target)[table.train]
            fit, validated = (table.train[part] for part in hold_out(strata, VALIDATED, table.seed))
            self._rows = {"validated": replace(table, train=fit, test=validated), **self._rows}

    def add(self, candidate: Candidate) -> str:
        """Fit a candidate unless already done; returns its key."""
        key = candidate if isinstance(candidate, str) else repr(candidate)
        if key not in self.records:
            record: dict[str, Any] = {}
            for name, table in self._rows.items():
                trial = run_limited(
                    fit_and_score,
                    table,
                    candidate,
                    seconds=4 * self._seconds,
                    cpu_seconds=self._seconds,
                    memory=MEMORY,
                )
                scores, took = trial.result or (table.without_model(), None)
                record |= {name: table.measured(scores), "seconds": took}
                if trial.message is not None:
                    record["failed"] = trial.message
            self.records[key], self.scores[key] = record, scores
        return key


if __name__ == "__main__":
    main()
