"""Averages of first recommendations beside their members and defaults, on tables left out; all are trained.

    python -m tests.benchmarks.averages FOLDER --results FILE [--half choosing] [--tables N] [--splits N]

FOLDER holds tables, and an index.csv with their names and targets. Of those whose family is in the half, N
are taken, evenly by size. A part of the rows of each is learned from, `--most-train` at most, and up to
`MOST_TESTED` others are predicted. For each measure the first three configurations are recommended, without
the runs on the table's family, and fitted; so are the defaults of CatBoost and LightGBM.

Finished splits are kept in the results file: the same command goes on where it was killed. Prints a line for
each comparison in each measure. The gain over the mean of the members, on the choosing half, is what
`recommend.ranking.averaging.GAINS` holds.

Notation
    won     tables on which the one was better - on which it was worse, and the share of the former in both
    gain    mean over the tables, on the scale of the measure's link (`metalearners.encoding.links`)
    p       Wilcoxon's signed-rank test of the means of a table's splits, two-sided, Holm over all rows
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from ingest.flows import get_flow
from ingest.reading.dataset_files import DatasetFile
from ingest.running.resampling import stratified_sample
from metalearners.encoding.links import LINKS
from metalearners.encoding.scores import oriented
from metalearners.evaluation.folds import Half
from recommend.ranking.averaging import weights_of
from tests.benchmarks.contenders import (
    MEASURES,
    Job,
    Table,
    fitted,
    leave_out_family,
    measured,
    ranked,
    table_of,
)
from tests.benchmarks.equal_time import chosen_tables
from tests.benchmarks.report import markdown
from warehouse.support.arrays import Floats, Positions
from warehouse.support.journal import Journal
from warehouse.support.parallel import one_thread
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import MEASURES as KNOWN

MOST_TESTED = 10_000
DEFAULTS = ("catboost", "lightgbm")
AVERAGE, FIRST, MEMBERS = "averaged", "first", "mean of the members"
COMPARED = (
    (AVERAGE, FIRST),
    (AVERAGE, "catboost"),
    (FIRST, "catboost"),
    (AVERAGE, "lightgbm"),
    (AVERAGE, MEMBERS),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--half", choices=get_args(Half), default="reporting")
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--most-rows", type=int, default=20_000, help="of a table")
    parser.add_argument("--most-train", type=int, default=2_000, help="rows that are learned from")
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    journal = Journal(options.results)
    records = list(journal.records())
    finished = {(record["table"], record["split"]) for record in records}
    files = chosen_tables(options.folder, options.tables, options.most_rows, options.half)
    for split in range(options.splits):
        for file in files:
            if (Path(file.path).stem, split) not in finished:
                record = judged(file, split, options.most_train)
                journal.append(record)
                records.append(record)
                print(f"{len(records)}: {record['table']}, split {split}", flush=True)
    report(records)


def judged(file: DatasetFile, split: int, most_train: int) -> dict[str, Any]:
    """Measure that was told -> contender -> measures on the rows that were not learned from."""
    name = Path(file.path).stem
    found: dict[str, dict[str, dict[str, float]]] = {}
    predicted: dict[Configuration, Floats] = {}
    job = Job(FIRST, str(file.path), file.target, split, 0.0, MEASURES[0], 0)
    whole = smaller(table_of(job), most_train)
    for told in MEASURES:
        table = replace(whole, job=replace(job, told=told))
        with leave_out_family(table.dataset), one_thread():
            three = ranked(table)
            defaults = [Configuration(flow, get_flow(flow).default()) for flow in DEFAULTS]
            for one in (*three, *defaults):
                if one not in predicted:
                    predicted[one] = fitted(table, one)()
        weights = weights_of(three)
        average = np.tensordot([*weights.values()], [predicted[one] for one in weights], 1)
        found[told] = {
            AVERAGE: measured(table, average),
            **{f"member {place}": measured(table, predicted[one]) for place, one in enumerate(weights)},
            **{one.algorithm: measured(table, predicted[one]) for one in defaults},
        }
    return {"table": name, "split": split, "rows": len(whole.train), "found": found}


def smaller(table: Table, most_train: int) -> Table:
    """The table with fewer rows to learn from; all others are predicted."""
    train: Positions = table.train
    if len(train) > most_train:
        train = np.sort(train[stratified_sample(table.codes[train], most_train, seed=table.job.split)])
    test = np.setdiff1d(np.arange(len(table.codes)), train)
    if len(test) > MOST_TESTED:
        test = test[stratified_sample(table.codes[test], MOST_TESTED, seed=table.job.split)]
    return replace(table, train=train, test=test)


def report(records: Sequence[Mapping[str, Any]]) -> None:
    rows = [row for measure in MEASURES for row in compared(records, measure)]
    corrected = iter(multipletests([row["p"] for row in rows], method="holm")[1])
    for row in rows:
        row["p"] = f"{next(corrected):.2g}"
    print(f"\n{len({record['table'] for record in records})} tables, {len(records)} splits\n")
    print(markdown(pd.DataFrame(rows)))


def compared(records: Sequence[Mapping[str, Any]], measure: str) -> Iterator[dict[str, Any]]:
    """A row for each comparison, where this measure was told and judges."""
    link = LINKS[KNOWN[measure].link]
    tables = []
    for record in records:
        values = {name: of[measure] for name, of in record["found"][measure].items()}
        names, z = [*values], link.to_z(oriented(np.array([*values.values()]), measure))
        own = dict(zip(names, z.tolist(), strict=True))
        members = [own[name] for name in names if name.startswith("member ")]
        tables.append({"table": record["table"], **own, FIRST: members[0], MEMBERS: float(np.mean(members))})
    means = pd.DataFrame(tables).groupby("table").mean()
    for one, other in COMPARED:
        gain = means[one] - means[other]
        won, lost = int((gain > 0).sum()), int((gain < 0).sum())
        yield {
            "measure": measure,
            "": f"{one} against {other}",
            "won": f"{won} - {lost} ({won / max(won + lost, 1):.0%})",
            "gain": f"{gain.mean():+.4f} ± {gain.std() / np.sqrt(len(gain)):.4f}",
            "p": float(wilcoxon(gain).pvalue) if won + lost else 1.0,
        }


if __name__ == "__main__":
    main()
