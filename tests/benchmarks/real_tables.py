"""First recommendations for whole tables, beside what people begin with anyway; all are trained for real.

    pip install flaml==2.7.0
    python -m tests.benchmarks.real_tables FOLDER --results results.jsonl [--measure NAME] [--verify S]

FOLDER holds tables, and an index.csv with their names and targets. A third of each table is held out. All
that is compared sees the other rows only; a recommendation does without runs on the table and on its family,
and without flows that need an extra, so that it is that of README's installation.
Of several candidates the best on a quarter of these rows is taken, trained on all of them. What counts is the
value of the measure on the rows held out; a candidate that fails counts as predicting the classes' shares.

    ours          the first recommendation, and the best of the first three
    raced         the first recommendation after a race of S seconds on one processor, in which it may see all
                  of the other rows
    portfolio     the first, and the best of the first three by a greedy portfolio of the same runs
    defaults      CatBoost, LightGBM, a random forest, a logistic regression; and the best of the four
    FLAML         what its zero-shot portfolios name of LightGBM (alone), random forest and extra trees
    AutoGluon     the first of CatBoost (alone), LightGBM and XGBoost in its portfolio of 2025

Finished tables are kept in the results file: the same command goes on where it was killed. Prints two tables
in Markdown, of single candidates and of the best of several.

Notation
    mean rank   of the contenders of a table, 1 = best; equal values share their ranks
    ours won    tables on which ours was better - on which it was worse, and the share of the former in both
    p           Wilcoxon's signed-rank test against ours, two-sided, Holm over all rows of both tables
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from ingest.flows import get_flow
from ingest.reading.dataset_files import DatasetFile, find_datasets
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.limits import run_limited
from ingest.running.pool import read_pool
from ingest.running.resampling import hold_out, stratified_sample
from ingest.running.scorer import scorer_of
from metalearners import DEFAULT_LEARNER
from recommend.ranking.candidates import find_candidates
from recommend.ranking.knowledge import gather
from recommend.ranking.task import describe_task
from recommend.verification.contestants import choose_entrants
from recommend.verification.race import race
from tests.benchmarks.real_fits import MATCHING, PLAN, SHARES, Candidate, both_values
from tests.benchmarks.report import markdown
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import BadInput
from warehouse.support.journal import Journal
from warehouse.support.parallel import side_by_side
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import canonical_measure

TOP = 3
HELD_OUT, VALIDATED = 3, 4
"""One row in so many is held out, and of the others one in so many tells candidates apart."""
DEFAULTS = ("catboost", "lightgbm", "random_forest", "logistic_regression")
AUTOGLUON = ("CAT", "GBM", "XGB")
"""AutoGluon's names of the families, the one that is judged alone first."""
OURS = "ours"
MEMORY = 8 * 1024**3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--measure", default="predictive_accuracy", type=canonical_measure)
    parser.add_argument("--warehouse", type=Path, default=STARTER)
    parser.add_argument("--most-rows", type=int, help="of a table; default: all")
    parser.add_argument("--every", type=int, default=1, help="take every so many of the tables")
    parser.add_argument("--trial-time", type=float, default=1800.0, help="seconds of processor time of a fit")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--verify", type=float, help="seconds of a race; default: none")
    options = parser.parse_args()
    journal = Journal(options.results)
    records = [record for record in journal.records() if record["measure"] == options.measure]
    done = {record["table"] for record in records}
    files = [file for file in find_datasets(options.folder)[:: options.every] if file.path.stem not in done]
    work = partial(
        judged, options.warehouse, options.measure, options.most_rows, options.trial_time, options.verify
    )
    for record in side_by_side(work, files, options.jobs):
        journal.append(record)
        records.append(record)
        print(f"{len(records)}: {record['table']}", flush=True)
    report(records, options.measure)


def judged(
    warehouse: Path,
    measure: str,
    most_rows: int | None,
    seconds: float,
    verify: float | None,
    file: DatasetFile,
) -> dict[str, Any]:
    """The values of all contenders on one table."""
    warnings.simplefilter("ignore")
    record: dict[str, Any] = {"table": file.path.stem, "measure": measure}
    try:
        dataset = load_dataset(file.path, target=file.target, rare_classes="drop")
        rows = np.arange(len(dataset.features))
        strata = scorer_of(dataset).strata(dataset.target)
        if most_rows is not None and most_rows < len(rows):
            rows = stratified_sample(strata, most_rows, seed=0)
        train, test = (rows[part] for part in hold_out(strata[rows], HELD_OUT, seed=0))
        found = contenders(dataset, dataset.take(train), Warehouse.open(warehouse), measure, verify)
    except BadInput as error:
        return record | {"refused": str(error)}
    fit, validated = (train[part] for part in hold_out(strata[train], VALIDATED, seed=0))
    splits = [(fit, validated), (train, test)]
    of_shares = both_values(dataset, splits, measure, SHARES)
    values: dict[str, Sequence[float]] = {}
    failures: dict[str, str] = {}
    for candidate in {repr(one): one for of in found.values() for one in of}.values():
        trial = run_limited(
            both_values,
            dataset,
            splits,
            measure,
            candidate,
            seconds=4 * seconds,
            cpu_seconds=seconds,
            memory=MEMORY,
        )
        values[repr(candidate)] = trial.result or of_shares
        if trial.message is not None:
            failures[repr(candidate)] = trial.message
    names = {name: [repr(candidate) for candidate in of] for name, of in found.items()}
    return record | {"rows": len(rows), "contenders": names, "values": values, "failures": failures}


def contenders(
    dataset: Dataset, part: Dataset, warehouse: Warehouse, measure: str, verify: float | None
) -> dict[str, list[Candidate]]:
    """Name -> candidates; the first of them is the one that is judged alone."""
    pool = read_pool(PLAN.parent / "pool.json")
    raced = (
        {}
        if verify is None
        else {"raced": [next(first_choices(dataset, part, warehouse, measure, DEFAULT_LEARNER, verify))]}
    )
    return raced | {
        OURS: list(first_choices(dataset, part, warehouse, measure, DEFAULT_LEARNER)),
        "portfolio": list(first_choices(dataset, part, warehouse, measure, "portfolio")),
        "defaults": [Configuration(flow, get_flow(flow).default()) for flow in DEFAULTS],
        "FLAML": ["lgbm", *(name for name in MATCHING if name != "lgbm")],
        "AutoGluon": [
            next(
                one
                for one, source in pool.items()
                if source.startswith(f"AutoGluon zeroshot_portfolio_2025: {family}")
            )
            for family in AUTOGLUON
        ],
    }


def first_choices(
    dataset: Dataset,
    part: Dataset,
    warehouse: Warehouse,
    measure: str,
    learner: str,
    verify: float | None = None,
) -> Iterator[Configuration]:
    """What is recommended to who has these rows of the dataset, and this time for a race on them."""
    known = gather(describe_task(dataset, part=part, warehouse=warehouse, measure=measure, learner=learner))
    candidates = find_candidates(known)
    extra = [get_flow(one.algorithm).requires is not None for one in candidates.configurations]
    candidates = candidates.without(dict.fromkeys(candidates.table.setups[extra], "needs an extra"))
    if verify is not None:
        known = replace(known, trials=race(known, choose_entrants(known, candidates), verify, jobs=1).trials)
    for position in known.predictor.choose(candidates.table, known.metafeatures, TOP):
        yield candidates.configurations[position]


def report(records: Sequence[Mapping[str, Any]], measure: str) -> None:
    usable = [record for record in records if "values" in record]
    for record in records:
        if "refused" in record:
            print(f"{record['table']}: {record['refused']}")
        for candidate, message in record.get("failures", {}).items():
            print(f"{record['table']}: {message} ({candidate[:60]})")
    if not usable:
        print("no table is usable")
        return
    alone = pd.DataFrame([alone_values(record) for record in usable])
    best = pd.DataFrame([best_values(record) for record in usable])
    versus = [(table, name) for table in (alone, best) for name in table if name != OURS]
    p = [wilcoxon(table[OURS], table[name]).pvalue for table, name in versus]
    corrected = iter(multipletests(p, method="holm")[1])
    for title, table in (("alone", alone), ("best of several", best)):
        print(f"\n{measure}, {len(usable)} tables, {title}\n\n{markdown(compared(table, corrected))}")


def alone_values(record: Mapping[str, Any]) -> dict[str, float]:
    """Contender -> value on the rows held out."""
    held_out = {
        name: record["values"][of[0]][1] for name, of in record["contenders"].items() if name != "defaults"
    }
    defaults = zip(DEFAULTS, record["contenders"]["defaults"], strict=True)
    return held_out | {f"default of {flow}": record["values"][key][1] for flow, key in defaults}


def best_values(record: Mapping[str, Any]) -> dict[str, float]:
    """The same for the candidate that is best on the validation rows."""
    values = record["values"]
    return {
        name: max((values[key] for key in of), key=lambda both: both[0])[1]
        for name, of in record["contenders"].items()
    }


def compared(table: pd.DataFrame, corrected: Iterator[float]) -> pd.DataFrame:
    ranks = table.rank(axis=1, ascending=False).mean()
    rows = []
    for name in table:
        won, lost = int((table[OURS] > table[name]).sum()), int((table[OURS] < table[name]).sum())
        rows.append(
            {
                "": name,
                "mean": f"{abs(table[name].mean()):.4f}",
                "mean rank": f"{ranks[name]:.2f}",
                "ours won": "" if name == OURS else f"{won} - {lost} ({won / max(won + lost, 1):.0%})",
                "p": "" if name == OURS else f"{next(corrected):.2g}",
            }
        )
    return pd.DataFrame(rows)


if __name__ == "__main__":
    main()
