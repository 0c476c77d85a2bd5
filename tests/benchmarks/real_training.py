"""Searches that really train, on the joint space of all flows: ours beside SMAC3, Optuna and FLAML.

    python -m tests.benchmarks.real_training FOLDER --results results.jsonl [--least-rows 1000]
        [--most-rows 50000] [--tables 20] [--seeds 3] [--equal-time] [--jobs 2]

FOLDER holds tables, and an index.csv with their names and targets; of those of a fitting size so many are
taken, evenly spread over the sizes. Every method has the same trials with the same limits on the same rows:
a quarter of each table is held out (with another split for each seed), and a trial is a cross-validation on
the others, just as in `tune`. What counts is the measure, on the rows held out, of what a method names.

    blend+top, blend+none,    `tune`, which learns from the bundled starter without the runs on the table and
    mosaic, mosaic+top-25     its family, from its own first choices, from random configurations, or as the
                              strategy begins; it evaluates its leaders again and names the best of them.
                              Methods are written as in `recommend.bo.simulation.methods`
    ... ensemble              what `tune --ensemble 20` makes of the leaders of the same search
    smac, optuna-tpe, flaml   as simulations use them (`recommend.bo.simulation.peers`): their best trial
    random-2x                 random configurations, two for each trial of the others

With --preprocessing the space has decisions of preprocessing, too (`ingest.flows.pipelines`). With
--equal-time our first method has its trials, and the others as many as they get done in the time that it
took, leaders and ensemble included (random-2x: in twice the time). Finished searches are kept in the results
file, and trials in a folder beside it: the same command goes on where it was killed. What is printed are mean
ranks, and tests over the means of the seeds of each table.
"""

from __future__ import annotations

import argparse
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from recommend.bo.tuning.reevaluation import evaluate_trials

from ingest.reading.dataset_files import DatasetFile, find_datasets
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.evaluation import Evaluation, Limits, evaluate
from ingest.running.limits import Outcome
from metalearners.encoding.scores import oriented
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.simulation.curves import curves_of
from recommend.bo.simulation.methods import parse
from recommend.bo.simulation.peers import PEERS, new_peer
from recommend.bo.simulation.runner import SimulatedSearch
from recommend.bo.simulation.searches import RandomSearch, SearchMethod
from recommend.bo.tuning import Budget, Finish, Search, tune
from recommend.bo.tuning.session import Session
from recommend.bo.tuning.setup import searched_flows, split_rows, splits_of, task_of
from recommend.bo.tuning.trials import Trial
from recommend.ranking.knowledge import gather
from recommend.space import Space
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import BadInput
from warehouse.support.journal import Journal
from warehouse.support.parallel import side_by_side
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import canonical_measure

METHODS = ("blend+top", "smac", "optuna-tpe", "flaml", "random-2x")
DOUBLE = "random-2x"
ENSEMBLE = 20


@dataclass(frozen=True)
class Result:
    """One search."""

    dataset: str
    method: str
    seed: int
    trials: int
    best_so_far: list[float]
    """Of the trials' values, larger is better; NaN before one succeeded."""
    held_out: float
    """Of what is named in the end, larger is better."""
    failed: int
    seconds: float
    """That it took in all."""


class KeptTrials:
    """Trials on one dataset with one seed; one that was run before is not run again."""

    def __init__(self, part: Dataset, search: Search, journal: Journal) -> None:
        self._part, self._search, self._journal = part, search, journal
        self._kept = {record.pop("key"): record for record in journal.records()}

    def run(self, configuration: Configuration, seconds: float) -> Evaluation:
        key = repr(configuration)
        if key not in self._kept:
            limits = Limits(min(self._search.trial_seconds, seconds), self._search.trial_memory)
            splits = splits_of(self._part, self._search)
            evaluation = evaluate(configuration, self._part, [splits], limits, seed=self._search.seed)
            self._kept[key] = evaluation.record()
            self._journal.append({"key": key, **self._kept[key]})
        return Evaluation.from_record(self._kept[key])


def with_tune(
    dataset: Dataset, search: Search, trials: int, folder: Path
) -> tuple[list[list[Evaluation]], dict[str, float]]:
    """Trials in order, and held-out values of what is named in the end."""
    tuned = tune(
        dataset,
        search,
        Budget(trials),
        warehouse=Warehouse.open(STARTER),
        folder=folder,
        finish=Finish(ensemble=ENSEMBLE),
    )
    best = np.nan if tuned.best is None else tuned.held_out.get(tuned.best.number, np.nan)
    together = best if tuned.ensemble_held_out is None else tuned.ensemble_held_out
    run = [[trial.evaluation] for trial in tuned.trials if trial.evaluation is not None]
    return run, {"": best, " ensemble": together}


def with_peer(
    method: str, dataset: Dataset, search: Search, trials: int, seconds: float, journal: Journal
) -> tuple[list[list[Evaluation]], dict[str, float]]:
    """Trials in order, those that count as one together, and the held-out value of the best.

    Args:
        seconds: after which trials end.
    """
    end = time.perf_counter() + seconds
    space = Space(searched_flows(search))
    candidates = SpaceCandidates(space)
    optimizer: SearchMethod = (
        RandomSearch(candidates, 2, np.random.default_rng(search.seed))
        if method == DOUBLE
        else new_peer(method, space, [], search.seed, trials)
    )
    rows = split_rows(dataset, search)
    kept = KeptTrials(dataset.take(rows[0]), search, journal)
    run: list[list[Evaluation]] = []
    best, incumbent = -np.inf, None
    while time.perf_counter() < end and (np.isfinite(seconds) or len(run) < trials):
        settings = [candidates.configuration_of(candidate) for candidate in optimizer.ask()]
        if not settings:
            break
        left = max(end - time.perf_counter(), 1.0)
        run.append([kept.run(configuration, left) for configuration in settings])
        values = [score_of(evaluation, search.measure) for evaluation in run[-1]]
        for configuration, value in zip(settings, values, strict=True):
            if value is not None and value > best:
                best, incumbent = value, configuration
        optimizer.tell(max((value for value in values if value is not None), default=None))
    if incumbent is None:
        return run, {"": np.nan}
    found = evaluate_trials("held-out", [Trial(0, incumbent, "start")], dataset, [rows], Session(search)).get(
        0
    )
    value = None if found is None else found.value(search.measure)
    return run, {"": np.nan if value is None else value}


def score_of(evaluation: Evaluation, measure: str) -> float | None:
    """The value of the measure, negated where smaller is better."""
    return Trial(0, Configuration("", {}), "start", evaluation).score(measure)


def searched(
    folder: Path,
    methods: Sequence[str],
    trials: int,
    trial_seconds: float,
    measure: str,
    equal_time: bool,
    preprocessing: bool,
    unit: tuple[DatasetFile, int],
) -> list[Result]:
    """One search of each method on a table, gone on with where it was, or begun anew where time counts."""
    warnings.simplefilter("ignore")
    file, seed = unit
    table = Path(file.path).stem
    dataset = load_dataset(file.path, target=file.target, rare_classes="drop")
    results: list[Result] = []
    for method in methods:
        begun = time.perf_counter()
        place = folder / f"{table}-{seed}-{method.replace('/', '-')}"
        if equal_time:
            shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True, exist_ok=True)
        search = Search(seed=seed, trial_seconds=trial_seconds, measure=measure, preprocessing=preprocessing)
        if method in PEERS or method == DOUBLE:
            seconds = results[0].seconds if equal_time else np.inf
            seconds *= 2 if method == DOUBLE else 1
            run, held_out = with_peer(
                method, dataset, search, trials, seconds, Journal(place / "trials.jsonl")
            )
        else:
            own = parse(method)
            search = replace(
                search,
                strategy=own.strategy,
                surrogate=own.surrogate,
                acquisition=own.acquisition,
                random_every=own.random_every,
                start=own.start,
            )
            part = dataset.take(split_rows(dataset, search)[0])
            # A model without this table is made for the benchmark alone.
            gather(task_of(dataset, part, search, Warehouse.open(STARTER)))
            begun = time.perf_counter()
            run, held_out = with_tune(dataset, search, trials, place)
        took = time.perf_counter() - begun
        values = [
            max((score for one in of if (score := score_of(one, measure)) is not None), default=np.nan)
            for of in run
        ]
        results += [
            Result(
                dataset=table,
                method=method + name,
                seed=seed,
                trials=len(run),
                best_so_far=np.fmax.accumulate(values).tolist(),
                held_out=float(oriented(np.array([value]), measure)[0]),
                failed=sum(trial.outcome is not Outcome.success for of in run for trial in of),
                seconds=took,
            )
            for name, value in held_out.items()
        ]
    return results


def report(results: Sequence[Result]) -> None:
    """Print how the methods compare on the datasets that all of them finished with all seeds so far."""
    methods = {result.method for result in results}
    seeds = {result.seed for result in results}
    table = pd.DataFrame(map(asdict, results))
    searches = table.groupby("dataset").size()
    whole = table["dataset"].isin(searches.index[searches == len(methods) * len(seeds)])
    if table[whole]["dataset"].nunique() < 2:
        print("no two datasets are finished")
        return
    table = table[whole].assign(in_trials=table["best_so_far"].str[-1])
    for title, values in (
        ("in the trials", table["best_so_far"]),
        ("on the rows held out", table["held_out"].map(lambda value: [value])),
    ):
        curves = curves_of(list(as_searches(table.assign(values=values))))
        print(f"\n{title}; 0 is the best of all searches on a dataset with the same seed, 1 the worst\n")
        print(f"{curves.summary().table()}\n\n{curves.compare(curves.trials).table('regret in the end')}")
    means = table.groupby("method")[["in_trials", "held_out", "failed", "seconds"]].mean()
    print(f"\nmeans\n{means.sort_values('held_out', ascending=False).round(4).to_string()}")


def as_searches(table: pd.DataFrame) -> Iterator[SimulatedSearch]:
    """The rows of the table, with `values` found trial by trial: 1 is the best of all searches on the same
    dataset with the same seed, which means the same rows held out, and 0 the worst."""
    for (dataset, seed), own in table.groupby(["dataset", "seed"], sort=False):
        every = own["values"].explode().astype(float)
        worst, span = every.min(), every.max() - every.min()
        for row in own.itertuples():
            values = np.nan_to_num(np.array(row.values, dtype=np.float64), nan=worst)
            scaled = ((values - worst) / span if span else np.ones(len(values))).tolist()
            yield SimulatedSearch(dataset, row.method, seed, scaled, 1.0, 0.0, row.seconds)


def tables(folder: Path, least: int, most: int, number: int) -> list[DatasetFile]:
    """So many tables of a fitting size, evenly spread over the sizes."""
    fitting = []
    for file in find_datasets(folder):
        try:
            rows = len(load_dataset(file.path, target=file.target, rare_classes="drop").features)
        except BadInput as error:
            print(error)
            continue
        if least <= rows <= most:
            fitting.append(file)
    places = np.linspace(0, len(fitting) - 1, min(number, len(fitting))).round().astype(int)
    return [fitting[place] for place in places]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--methods", nargs="+", default=METHODS, help="the first one sets the time")
    parser.add_argument("--measure", default="predictive_accuracy", type=canonical_measure)
    parser.add_argument("--least-rows", type=int, default=1000)
    parser.add_argument("--most-rows", type=int, default=50_000)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--trial-time", type=float, default=60.0)
    parser.add_argument("--equal-time", action="store_true")
    parser.add_argument("--preprocessing", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.equal_time and options.methods[0] in (*PEERS, DOUBLE):
        parser.error("the first method sets the time, and has to be ours")
    journal = Journal(options.results)
    results = [Result(**record) for record in journal.records()]
    kept = {(one.dataset, one.seed) for one in results}
    files = tables(options.folder, options.least_rows, options.most_rows, options.tables)
    units = [
        (file, seed)
        for seed, file in product(range(options.seeds), files)
        if (Path(file.path).stem, seed) not in kept
    ]
    work = partial(
        searched,
        options.results.with_suffix(""),
        options.methods,
        options.trials,
        options.trial_time,
        options.measure,
        options.equal_time,
        options.preprocessing,
    )
    for number, of_methods in enumerate(side_by_side(work, units, options.jobs), start=1):
        for result in of_methods:
            journal.append(asdict(result))
        results += of_methods
        seconds = sum(result.seconds for result in of_methods)
        print(f"{number} of {len(units)}: {of_methods[0].dataset}, {seconds:.0f} s", flush=True)
    report(results)


if __name__ == "__main__":
    main()
