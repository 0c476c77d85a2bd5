"""Held-out accuracy of `HeadstartClassifier` beside LightGBM and CatBoost with their defaults.

    python -m tests.benchmarks.classifier_accuracy FOLDER --results results.jsonl [--budget S] [--tables N]

FOLDER holds tables, and an index.csv with their names and targets. Of those of 1,000 to 20,000 rows whose
family is in the half that figures are reported on, N are taken, evenly by size. A third of each is held out.
What is recommended comes from one model that has seen no run on any of their families. All fit the same rows;
the defaults are those of the libraries, which get categories as such. The classifier races two at a time, the
defaults take one thread.

Finished tables are kept in the results file: the same command goes on where it was killed.

Notation
    won         tables on which the classifier was better - on which it was worse
    difference  of accuracy, the mean over tables, with its standard error
    p           Wilcoxon's signed-rank test, two-sided, Holm over the rows
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from ingest.flows import get_flow
from ingest.reading.dataset_files import find_datasets
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.resampling import hold_out
from ingest.running.scorer import scorer_of
from metalearners import DEFAULT_LEARNER
from metalearners.evaluation.folds import families_of, half_of
from metalearners.model_store import trained_model
from recommend.classifier import HeadstartClassifier
from recommend.ranking.task import RankingTask, describe_task
from tests.benchmarks.report import markdown
from warehouse.store import STARTER, Warehouse
from warehouse.support.journal import Journal
from warehouse.vocabulary.measures import ACCURACY

LEAST, MOST = 1_000, 20_000
"""Rows of a table."""
HELD_OUT = 3
"""One row in so many is held out."""
DEFAULTS = ("lightgbm", "catboost")
OURS = "HeadstartClassifier"


class WithoutFamilies(HeadstartClassifier):
    """A classifier whose model has not seen certain datasets."""

    without: Mapping[str, str]
    """Key -> name of these datasets."""

    def _task(self, dataset: Dataset) -> RankingTask:
        return replace(super()._task(dataset), same=frozenset(), own=frozenset(), left_out=self.without)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of a fit")
    parser.add_argument("--tables", type=int, default=8)
    options = parser.parse_args()
    journal = Journal(options.results)
    records = [record for record in journal.records() if record["budget"] == options.budget]
    warehouse = Warehouse.open(STARTER)
    tables, without = chosen_tables(options.folder, warehouse, options.tables)
    trained_model(warehouse, DEFAULT_LEARNER, ACCURACY, leave_out=without.keys())
    for dataset in tables:
        if dataset.name in {record["table"] for record in records}:
            continue
        record = {"budget": options.budget, **judged(dataset, without, options.budget)}
        journal.append(record)
        records.append(record)
        print(f"{len(records)}: {record['table']}", flush=True)
    report(records)


def chosen_tables(folder: Path, warehouse: Warehouse, n: int) -> tuple[list[Dataset], dict[str, str]]:
    """The tables, and key -> name of the datasets of their families in the warehouse."""
    families = families_of(warehouse.run_table(None, ACCURACY, related=False))
    keys = warehouse.sql("SELECT name, dataset FROM datasets").set_index("name")["dataset"]
    rows = pd.read_csv(folder / "index.csv", index_col="name")["rows"]
    usable = [
        file
        for file in find_datasets(folder)
        if LEAST <= rows[file.path.stem] <= MOST
        and half_of(families.get(keys.get(file.path.stem), "")) == "reporting"
    ]
    usable.sort(key=lambda file: rows[file.path.stem])
    chosen = [usable[place] for place in np.linspace(0, len(usable) - 1, n).round().astype(int)]
    tables = [load_dataset(file.path, target=file.target, rare_classes="drop") for file in chosen]
    without: dict[str, str] = {}
    for dataset in tables:
        without |= describe_task(dataset, warehouse=warehouse).left_out
    return tables, without


def judged(dataset: Dataset, without: Mapping[str, str], budget: float) -> dict[str, Any]:
    """Accuracy on the rows held out, and seconds of fitting, of each contender."""
    codes = scorer_of(dataset).outcomes(dataset.target)
    train, test = hold_out(codes, HELD_OUT, seed=0)
    ours = WithoutFamilies(budget, measure="accuracy", warehouse=STARTER, n_jobs=2, random_state=0)
    ours.without = without
    contenders: dict[str, Any] = {OURS: ours}
    for name in DEFAULTS:
        flow = get_flow(name)
        contenders[f"{flow.title} with its default"] = flow.pipeline(flow.default(), dataset.roles)
    accuracy, seconds = {}, {}
    for name, contender in contenders.items():
        began = time.monotonic()
        contender.fit(dataset.features.iloc[train], codes[train])
        seconds[name] = time.monotonic() - began
        accuracy[name] = float((contender.predict(dataset.features.iloc[test]) == codes[test]).mean())
    raced = ours.race_
    return {
        "table": dataset.name,
        "rows": len(train),
        "accuracy": accuracy,
        "seconds": seconds,
        "chosen": ours.best_configuration_.algorithm,
        "rounds": [] if raced is None else [[heat.train_rows, len(heat.results)] for heat in raced.heats],
    }


def report(records: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        {
            "table": record["table"],
            "rows": f"{record['rows']:,}",
            **{name: f"{value:.4f}" for name, value in record["accuracy"].items()},
            "seconds": f"{record['seconds'][OURS]:.1f}",
            "chosen": record["chosen"],
        }
        for record in records
    ]
    print(f"\n{markdown(pd.DataFrame(rows))}")
    accuracy = pd.DataFrame([record["accuracy"] for record in records])
    others = [name for name in accuracy if name != OURS]
    p = [wilcoxon(accuracy[OURS], accuracy[name]).pvalue for name in others]
    compared = []
    for name, corrected in zip(others, multipletests(p, method="holm")[1], strict=True):
        gain = accuracy[OURS] - accuracy[name]
        compared.append(
            {
                f"{OURS} against": name,
                "difference": f"{gain.mean():+.4f} ± {gain.std() / np.sqrt(len(gain)):.4f}",
                "won": f"{(gain > 0).sum()} - {(gain < 0).sum()}",
                "p": f"{corrected:.2g}",
            }
        )
    print(f"\n{markdown(pd.DataFrame(compared))}")


if __name__ == "__main__":
    main()
