"""Searches that really train, on the joint space of all flows: ours beside SMAC3, Optuna and FLAML.

    python -m tests.benchmarks.real_training FILE... --results results.jsonl [--seeds 3] [--jobs 2]

Every method has the same trials with the same limits on the same rows: a quarter of each dataset is held out
(with another split for each seed), and a trial is a cross-validation on the others, just as in `tune`. What
counts is the accuracy, on the rows held out, of the configuration that was best in the trials.

    blend+top, blend+none     `tune`, which learns from the bundled starter without the runs on the dataset,
                              from its own first choices and from random configurations
    smac, optuna-tpe, flaml   as simulations use them (`recommend.bo.simulation.peers`)
    random-2x                 random configurations, two for each trial of the others

Finished searches are kept in the results file, and trials in a folder beside it: the same command goes on
where it was killed. What is printed are mean ranks, and tests over the means of the seeds of each dataset.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.limits import Outcome, Trial
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.simulation.curves import curves_of
from recommend.bo.simulation.peers import PEERS, new_peer
from recommend.bo.simulation.runner import RandomSearch, Searched, SearchMethod
from recommend.bo.tuning import Budget, Search, tune
from recommend.bo.tuning.finals import judge
from recommend.bo.tuning.loop import run_trial
from recommend.bo.tuning.scores import score_of
from recommend.bo.tuning.setup import split_rows
from recommend.space import Space
from warehouse.configurations.configuration import Configuration
from warehouse.store import STARTER, Warehouse
from warehouse.support.journal import Journal
from warehouse.support.parallel import side_by_side

METHODS = ("blend+top", "blend+none", "smac", "optuna-tpe", "flaml", "random-2x")
DOUBLE = "random-2x"


@dataclass(frozen=True)
class Result:
    """One search."""

    dataset: str
    method: str
    seed: int
    trials: int
    best_so_far: list[float]
    """Of the trials' values, larger is better; 0 before one succeeded."""
    held_out: float
    failed: int
    seconds: float
    """That it took in all."""


class KeptTrials:
    """Trials on one dataset with one seed; one that was run before is not run again."""

    def __init__(self, part: Dataset, search: Search, journal: Journal) -> None:
        self._part, self._search, self._journal = part, search, journal
        self._kept = {record.pop("key"): record for record in journal.records()}

    def run(self, configuration: Configuration) -> Trial:
        key = repr(configuration)
        if key not in self._kept:
            trial = run_trial(configuration, self._part, self._search, self._search.trial_seconds)
            self._kept[key] = asdict(trial)
            self._journal.append({"key": key, **self._kept[key]})
        return Trial.from_record(self._kept[key])


def with_tune(dataset: Dataset, search: Search, trials: int, folder: Path) -> tuple[list[Trial], float]:
    """Trials in order, held-out value."""
    tuned = tune(dataset, search, Budget(trials), warehouse=Warehouse.open(STARTER), folder=folder)
    best = np.nan if tuned.best is None else tuned.held_out.get(tuned.best.number, np.nan)
    return [entry.trial for entry in tuned.entries if entry.trial is not None], best


def with_peer(
    method: str, dataset: Dataset, search: Search, trials: int, journal: Journal
) -> tuple[list[list[Trial]], float]:
    """Trials in order, those that count as one together, and the held-out value."""
    space = Space([get_flow(name) for name in search.flows])
    candidates = SpaceCandidates(space)
    optimizer: SearchMethod = (
        RandomSearch(candidates, 2, np.random.default_rng(search.seed))
        if method == DOUBLE
        else new_peer(method, space, [], search.seed, trials)
    )
    rows = split_rows(dataset, search)
    kept = KeptTrials(dataset.take(rows[0]), search, journal)
    run: list[list[Trial]] = []
    best, incumbent = -np.inf, None
    for _ in range(trials):
        settings = [candidates.configuration_of(candidate) for candidate in optimizer.ask()]
        run.append([kept.run(configuration) for configuration in settings])
        values = [score_of(trial, search.measure) for trial in run[-1]]
        for configuration, value in zip(settings, values, strict=True):
            if value is not None and value > best:
                best, incumbent = value, configuration
        optimizer.tell(max((value for value in values if value is not None), default=None))
    judged = None if incumbent is None else judge([incumbent], dataset, [rows], search)[0]
    return run, np.nan if judged is None else judged.value


def searched(folder: Path, trials: int, trial_seconds: float, unit: tuple[Path, int, str]) -> Result:
    """One search, gone on with where it was."""
    path, seed, method = unit
    dataset = load_dataset(str(path))
    begun = time.perf_counter()
    if method in PEERS or method == DOUBLE:
        search = Search(seed=seed, trial_seconds=trial_seconds)
        journal = Journal(folder / f"{path.stem}-{seed}-{method}.jsonl")
        run, held_out = with_peer(method, dataset, search, trials, journal)
    else:
        surrogate, _, start = method.partition("+")
        search = Search(surrogate=surrogate, start=start, seed=seed, trial_seconds=trial_seconds)
        alone, held_out = with_tune(dataset, search, trials, folder / f"{path.stem}-{seed}-{method}")
        run = [[trial] for trial in alone]
    values = [max((score_of(trial, search.measure) or 0.0 for trial in of), default=0.0) for of in run]
    return Result(
        dataset=path.stem,
        method=method,
        seed=seed,
        trials=trials,
        best_so_far=np.maximum.accumulate(values).tolist(),
        held_out=held_out,
        failed=sum(trial.outcome is not Outcome.success for of in run for trial in of),
        seconds=time.perf_counter() - begun,
    )


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


def as_searches(table: pd.DataFrame) -> Iterator[Searched]:
    """The rows of the table, with `values` found trial by trial: 1 is the best of all searches on the same
    dataset with the same seed, which means the same rows held out, and 0 the worst."""
    for (dataset, seed), own in table.groupby(["dataset", "seed"], sort=False):
        every = own["values"].explode()
        worst, span = every.min(), np.ptp(every)
        for row in own.itertuples():
            scaled = [(value - worst) / span if span else 1.0 for value in row.values]
            yield Searched(dataset, row.method, seed, scaled, 1.0, 0.0, row.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--trial-time", type=float, default=30.0)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    journal = Journal(arguments.results)
    results = [Result(**record) for record in journal.records()]
    kept = {(one.dataset, one.seed, one.method) for one in results if one.trials == arguments.trials}
    units = [
        (path, seed, method)
        for seed, path, method in product(range(arguments.seeds), arguments.files, arguments.methods)
        if (path.stem, seed, method) not in kept
    ]
    folder = arguments.results.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    work = partial(searched, folder, arguments.trials, arguments.trial_time)
    for number, result in enumerate(side_by_side(work, units, arguments.jobs), start=1):
        journal.append(asdict(result))
        results.append(result)
        print(
            f"{number} of {len(units)}: {result.dataset} {result.method} {result.seconds:.0f} s", flush=True
        )
    report(results)


if __name__ == "__main__":
    main()
