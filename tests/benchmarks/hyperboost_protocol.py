"""Searches as Hyperboost was evaluated (van Hoof and Vanschoren 2021, section 6): Figures 2, 5a and A.1.

    LOKY_MAX_CPU_COUNT=1 python -m tests.benchmarks.hyperboost_protocol FOLDER --results results.jsonl
        [--plots PICTURES] [--least-rows 500] [--most-rows 50000] [--tables 31] [--targets tree svm forest]
        [--methods NAME ...] [--steps 250] [--repeats 3] [--outer 3] [--jobs 2]

FOLDER holds tables, and an index.csv with their names and targets; of those of a fitting size so many are
taken, evenly spread over the sizes (the paper has 31 of OpenML's, Table A.0). On each of them each of three
models (`hyperboost_targets.py`: Tables 1 to 3) is tuned by each method (`hyperboost_searches.py`), once for
each outer fold of each repetition:

    random-2x              configurations at random, each run once, two runs for a step of the others
    roar-2x                the same, raced: Random Online Aggressive Racing
    forest, hyperboost,    raced, and chosen by this surrogate of ours, every second one at random as in SMAC.
    gbqr, blend            The prior of `blend` is learned from what `random-2x` ran on the other tables;
                           without two of these `blend` is left out
    hyperboost-pca         `hyperboost` with distances between two principal components (Figure 5a)
    smac                   SMAC3's facade for hyperparameters with its own racing

All begin with the default, but for SMAC3, which has a design of its own, and without LOKY_MAX_CPU_COUNT=1
starts threads for every prediction. The text of the paper does not say how many steps there are (--steps).
Finished searches are kept in the results file: the same command goes on where it was killed. Pictures are
drawn of the datasets that all methods finished.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ingest.reading.dataset_files import DatasetFile
from ingest.reading.datasets import load_dataset
from metalearners import new_learner
from metalearners.learners.base import Model
from recommend.bo.surrogates import LEARNERS_OF
from tests.benchmarks.hyperboost_figures import draw_all, report, results_of
from tests.benchmarks.hyperboost_searches import METHODS, RANDOM, Standing, new_search
from tests.benchmarks.hyperboost_targets import OUTER, TARGETS, Objective, Unit
from tests.benchmarks.real_training import tables
from tests.tables import flow_table
from warehouse.queries import RunTable
from warehouse.support.journal import Journal
from warehouse.support.parallel import one_thread, side_by_side

Record = Mapping[str, Any]
"""A line of the journal."""
Models = Mapping[tuple[str, str], Model]
"""Target, dataset -> what is known from other datasets."""


def searched(
    method: str, steps: int, models: Models, journal: Journal, work: tuple[Unit, DatasetFile]
) -> str:
    """A search, which is written to the journal; returns what was searched on."""
    warnings.simplefilter("ignore")  # rare classes, not converged: accuracies show the effect
    unit, file = work
    objective = Objective(load_dataset(file.path, target=file.target, rare_classes="drop"), unit)
    with one_thread():
        model = models.get((unit.target, unit.dataset))
        found = curves(objective, new_search(method, objective, model, steps, unit.seed))
    record = {**asdict(unit), "method": method, "steps": steps, **found}
    if method == RANDOM:
        record |= {"runs": objective.made, "sizes": objective.metafeatures.to_dict()}
    journal.append(record)
    return f"{unit.target} on {unit.dataset}, repetition {unit.repeat}, outer fold {unit.outer}"


def curves(objective: Objective, standings: Iterator[Standing]) -> dict[str, list[float]]:
    """Accuracies after each step: of the runs on the inner folds, and on the rows held out."""
    train, test = [], []
    tested: dict[Any, float] = {}
    for candidate, mean in standings:
        if candidate.key not in tested:
            tested[candidate.key] = objective.held_out(candidate)
        train.append(mean)
        test.append(tested[candidate.key])
    return {"train": train, "test": test}


def kept_records(journal: Journal, steps: int) -> list[Record]:
    """Searches of so many steps."""
    return [record for record in journal.records() if record["steps"] == steps]


def models_of(records: Sequence[Record]) -> Models:
    """What the random runs on all other datasets teach, those of the first fold of each."""
    first = [one for one in records if one["method"] == RANDOM and not one["repeat"] and not one["outer"]]
    models = {}
    for left_out in first:
        others = [
            one
            for one in first
            if one["target"] == left_out["target"] and one["dataset"] != left_out["dataset"]
        ]
        if len(others) > 1:
            learner = new_learner(LEARNERS_OF["blend"])
            models[left_out["target"], left_out["dataset"]] = learner.fit(*known_runs(others))
    return models


def known_runs(records: Sequence[Record]) -> tuple[RunTable, pd.DataFrame]:
    """The runs of these searches on one target, and the sizes of their datasets."""
    flow = TARGETS[records[0]["target"]].flow
    runs = pd.DataFrame(
        [
            {"dataset": one["dataset"], "values": values, "value": value}
            for one in records
            for values, value in one["runs"]
        ]
    )
    setups = [f"setup {number}" for number in range(len(runs))]
    parameters = pd.DataFrame(runs.pop("values").tolist(), index=setups, dtype=object)
    dataset = runs["dataset"]
    runs = runs.assign(run=setups, setup=setups, task=dataset, family=dataset, train_rows=np.nan)
    runs = runs.assign(flow=flow.id, algorithm=flow.name)
    sizes = pd.DataFrame({one["dataset"]: one["sizes"] for one in records}).T.rename_axis("dataset")
    return RunTable(
        flow.id, "predictive_accuracy", runs, flow_table(parameters, flow.name), scales=flow.scales
    ), sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--plots", type=Path, help="folder of the pictures")
    parser.add_argument("--least-rows", type=int, default=500)
    parser.add_argument("--most-rows", type=int, default=50_000)
    parser.add_argument("--tables", type=int, default=31)
    parser.add_argument("--targets", nargs="+", default=list(TARGETS), choices=TARGETS)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--steps", type=int, default=250)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--outer", type=int, default=OUTER, choices=range(1, OUTER + 1))
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    journal = Journal(options.results)
    files = tables(options.folder, options.least_rows, options.most_rows, options.tables)
    work = [
        (Unit(target, Path(file.path).stem, repeat, outer), file)
        for repeat, outer, target, file in product(
            range(options.repeats), range(options.outer), options.targets, files
        )
    ]
    # What is run at random on the other tables has to be known first.
    for method in sorted(options.methods, key=lambda method: method != RANDOM):
        kept = kept_records(journal, options.steps)
        done = {
            Unit(one["target"], one["dataset"], one["repeat"], one["outer"])
            for one in kept
            if one["method"] == method
        }
        left = [(unit, file) for unit, file in work if unit not in done]
        models: Models = {}
        if method in LEARNERS_OF:
            models = models_of(kept)
            left = [(unit, file) for unit, file in left if (unit.target, unit.dataset) in models]
        search = partial(searched, method, options.steps, models, journal)
        for number, what in enumerate(side_by_side(search, left, options.jobs), start=1):
            print(f"{method}: {number} of {len(left)}, {what}", flush=True)
    shown = {}
    for target in options.targets:
        records = [one for one in kept_records(journal, options.steps) if one["target"] == target]
        ran = {one["method"] for one in records}
        results = results_of(records, [method for method in options.methods if method in ran])
        if results is None:
            print(f"{target}: no dataset is finished")
            continue
        report(target, results)
        shown[target] = results
    if options.plots is not None:
        draw_all(shown, options.plots)


if __name__ == "__main__":
    main()
