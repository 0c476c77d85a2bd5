"""What boosters that stop early gain if they are fitted for use: longer patience, and again on all rows.

    python -m tests.benchmarks.early_stopping FOLDER [--task regression] --results FILE

FOLDER holds tables and an index.csv, as for `tests.benchmarks.real_tables`, whose training and held-out
rows are used here, too; tables with more than 8 classes or 100 columns are left out. On each table, four
random configurations of the pool that stop early (two of CatBoost, one each of LightGBM and XGBoost)
are fitted as in runs and for use (`ingest.flows.base.Flow.pipeline`). Reported are the fits for use that
are better and worse, the median gain (of the logarithm of errors, else in the measure's unit), and the
median of their times relative to those of the fits as in runs.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.pool import read_pool
from recommend.ranking.fit_cost import time_for_use
from tests.benchmarks.held_out import Table, chosen_tables, held_out, study_of_tables, tables_in
from tests.benchmarks.real_fits import fit_and_score
from tests.benchmarks.task_kinds import KINDS
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import BadInput
from warehouse.support.journal import Journal
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import larger_is_better

OF_EACH = {"catboost": 2, "lightgbm": 1, "xgboost": 1}
MOST_TRAIN, MOST_TESTED = 2_000, 5_000
MOST_CLASSES, MOST_COLUMNS = 8, 100
FEW = 1_000


def main() -> None:
    options = study_of_tables(__doc__, 40).parse_args()
    kind = KINDS[options.task]
    files = chosen_tables(tables_in(options.folder, Warehouse.open(STARTER)), options.tables, options.half)
    stop_early = [one for one in read_pool(kind.pool) if time_for_use(one, MOST_TRAIN) > 1]
    pools = {name: [one for one in stop_early if one.algorithm.startswith(name)] for name in OF_EACH}
    journal = Journal(options.results)
    finished = {record["table"]: record for record in journal.records()}
    random = np.random.default_rng(0)
    for file in files:
        chosen = [
            pools[library][place]
            for library, n in OF_EACH.items()
            for place in random.choice(len(pools[library]), n, replace=False)
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


def refuse_large(dataset: Dataset) -> None:
    if dataset.n_classes > MOST_CLASSES or len(dataset.features.columns) > MOST_COLUMNS:
        raise BadInput("too many classes or columns")


def both(table: Table, one: Configuration) -> dict[str, Any]:
    """Measures and processor seconds of a fit as in a run, and of one for use."""
    found: dict[str, Any] = {"algorithm": one.algorithm}
    for name in ("run", "use"):
        scores, seconds = fit_and_score(table, one, for_use=name == "use")
        found[name] = table.measured(scores) | {"seconds": seconds}
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
