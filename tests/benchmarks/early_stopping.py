"""What boosters that stop early gain if they are fitted for use: longer patience, and again on all rows.

    python -m tests.benchmarks.early_stopping FOLDER [--task regression] --results FILE

FOLDER holds tables and an index.csv, as for `tests.benchmarks.real_tables`, whose training rows and held-
out rows are used here, too; tables with more than 8 classes or 100 columns are left out. On each table,
four random configurations of the pool that stop early (two of CatBoost, one each of LightGBM and XGBoost)
are fitted as in runs and for use (`ingest.flows.base.Flow.pipeline`). Reported are the fits for use that
are better and worse, the median gain (of the logarithm of errors, else in the measure's unit), and the
median of their times relative to those of the fits as in runs.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset
from ingest.running.pool import read_pool
from metalearners.evaluation.folds import HALVES
from tests.benchmarks.held_out import Table, chosen_tables, held_out, tables_in
from tests.benchmarks.task_kinds import KINDS
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import BadInput
from warehouse.support.journal import Journal
from warehouse.support.parallel import one_thread
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import larger_is_better

OF_EACH = {"catboost": 2, "lightgbm": 1, "xgboost": 1}
MOST_TRAIN, MOST_TESTED = 2_000, 5_000
MOST_CLASSES, MOST_COLUMNS = 8, 100
FEW = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", choices=KINDS, default="classification")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--half", choices=HALVES, default="choosing")
    parser.add_argument("--tables", type=int, default=40)
    options = parser.parse_args()
    kind = KINDS[options.task]
    files = chosen_tables(tables_in(options.folder, Warehouse.open(STARTER)), options.tables, options.half)
    pool = [one for one in read_pool(kind.pool) if stops_early(one)]
    journal = Journal(options.results)
    finished = {record["table"]: record for record in journal.records()}
    random = np.random.default_rng(0)
    for file in files:
        chosen = [
            of_library[place]
            for library, n in OF_EACH.items()
            if (of_library := [one for one in pool if one.algorithm.startswith(library)])
            for place in random.choice(len(of_library), n, replace=False)
        ]
        if file.name in finished:
            continue
        record: dict[str, Any] = {"table": file.name, "fits": []}
        try:
            table = held_out(file, kind, 0, most_train=MOST_TRAIN, most_test=MOST_TESTED)
            refuse_large(table.dataset)
        except BadInput as error:
            record["refused"] = str(error)
        else:
            record |= {"rows": len(table.train), "fits": [both(table, one) for one in chosen]}
        finished[file.name] = record
        journal.append(record)
        print(len(finished), file.name, record.get("refused", ""), flush=True)
    report([record for record in finished.values() if record["fits"]], kind.judged)


def stops_early(one: Configuration) -> bool:
    return get_flow(one.algorithm).longer_for_use and bool(one.values.get("early_stopping"))


def refuse_large(dataset: Dataset) -> None:
    if dataset.n_classes > MOST_CLASSES or len(dataset.features.columns) > MOST_COLUMNS:
        raise BadInput("too many classes or columns")


def both(table: Table, one: Configuration) -> dict[str, Any]:
    """Measures and processor seconds of a fit as in a run, and of one for use."""
    found: dict[str, Any] = {"algorithm": one.algorithm}
    features = table.dataset.features
    for name in ("run", "use"):
        pipeline = get_flow(one.algorithm).pipeline(one.values, table.dataset.roles, for_use=name == "use")
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore")
            began = time.process_time()
            pipeline.fit(features.iloc[table.train], table.outcomes[table.train])
            seconds = time.process_time() - began
            found[name] = table.measured(table.scores(pipeline)) | {"seconds": seconds}
    return found


def report(records: list[dict[str, Any]], measures: tuple[str, ...]) -> None:
    gains: dict[tuple[str, str], list[float]] = defaultdict(list)
    times: dict[str, list[float]] = defaultdict(list)
    for record in records:
        for fit in record["fits"]:
            of_run, of_use = fit["run"], fit["use"]
            rows = f"up to {FEW} rows" if record["rows"] <= FEW else f"more than {FEW} rows"
            for group in (fit["algorithm"].removesuffix("_regressor"), rows, "all"):
                times[group].append(of_use["seconds"] / of_run["seconds"])
                for measure in measures:
                    if larger_is_better(measure):
                        gain = of_use[measure] - of_run[measure]
                    else:
                        gain = float(np.log(of_run[measure] / of_use[measure]))
                    gains[group, measure].append(gain)
    print(
        f"{len(records)} tables\n\n| | measure | better - worse | median gain | time |\n|---|---|---|---|---|"
    )
    for (group, measure), found in sorted(gains.items()):
        of_group = np.array(found)
        print(
            f"| {group} | {measure} | {(of_group > 0).sum()} - {(of_group < 0).sum()} "
            f"| {np.median(of_group):+.4f} | {np.median(times[group]):.1f} |"
        )


if __name__ == "__main__":
    main()
