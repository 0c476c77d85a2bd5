"""Races: the first recommendations against usual defaults, on more and more of the rows.

Successive halving (Jamieson 2016): all are fitted on few rows, the better half of them on more, the better
half of these on all. What came of each on the rows of a round decides, which names better ones than what the
meta-learner expects after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ingest.reading.datasets import Dataset
from ingest.running.evaluation import common_failure
from ingest.running.limits import Outcome
from ingest.running.plan import Plan, Tier
from ingest.running.rows import write_runs
from metalearners.encoding.scores import oriented
from recommend.ranking.dataset_runs import COLUMNS, OwnTrials, own_trials
from recommend.ranking.fit_cost import fit_seconds
from recommend.ranking.knowledge import Knowledge
from recommend.verification.contestants import Contestant
from recommend.verification.rungs import SPLITS, RaceProgress, Rounds, Rung
from warehouse.store import Warehouse
from warehouse.support.arrays import Positions


@dataclass(frozen=True)
class Race:
    """Results of all rounds."""

    dataset: Dataset
    measure: str
    entrants: list[Contestant]
    heats: list[Rung]
    decisions: dict[int, str]
    """Place of a contestant -> why it was eliminated; the others reached the end."""
    standing: list[int]
    """Places of the contestants that reached the end, the best first."""
    seconds: float
    """Seconds of the race."""
    interrupted: bool
    """Whether the user ended it; results of the interrupted round are lost."""
    trials: OwnTrials | None
    """The dataset's runs after it, earlier runs included."""

    def value(self, place: int, heat: Rung) -> float | None:
        """The measure of an entrant in a round; None where there is none."""
        return heat.value(place, self.measure)

    @property
    def failures(self) -> dict[str, str]:
        """Setup -> outcome, of the entrants that only failed.

        The end of the race is no failure of theirs, and where nothing succeeded it need not be theirs.
        """
        outcomes = [
            (self.entrants[place].setup, one.outcome)
            for heat in self.heats
            for place, (_, one) in heat.results.items()
            if one.outcome is not Outcome.timeout
        ]
        succeeded = {setup for setup, outcome in outcomes if outcome is Outcome.success}
        return {setup: str(outcome) for setup, outcome in outcomes if succeeded and setup not in succeeded}

    @property
    def failure(self) -> str | None:
        """Why all runs failed, the most frequent reason; None where one succeeded, or all were stopped."""
        evaluations = (one for heat in self.heats for _, one in heat.results.values())
        return common_failure(one for one in evaluations if one.outcome is not Outcome.timeout)

    def seconds_of(self, place: int) -> float:
        """Time that the runs of an entrant took."""
        return sum(heat.results[place][1].seconds for heat in self.heats if place in heat.results)

    def decision(self, place: int) -> str:
        """Why a contestant was eliminated, or its final rank."""
        if place in self.decisions:
            return self.decisions[place]
        return "first" if place == self.standing[0] else f"{self.standing.index(place) + 1} in the end"

    @property
    def order(self) -> list[int]:
        """Places of all entrants, the best first; of those that dropped out, those that went further."""
        last = {place: number for number, heat in enumerate(self.heats) for place in heat.results}
        return [*self.standing, *sorted(self.decisions, key=lambda place: -last.get(place, -1))]

    def document(self) -> dict[str, Any]:
        """The race as JSON values."""
        return {
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "rounds": [
                {"train_rows": heat.train_rows, "test_rows": heat.test_rows, "folds": heat.folds}
                for heat in self.heats
            ],
            "entrants": [
                {
                    "flow": self.entrants[place].flow.id,
                    "hyperparameters": dict(self.entrants[place].configuration.values),
                    "recommended": self.entrants[place].recommended,
                    "is_default": self.entrants[place].is_default,
                    "values": [self.value(place, heat) for heat in self.heats],
                    "seconds": self.seconds_of(place),
                    "decision": self.decision(place),
                }
                for place in self.order
            ],
        }


def race(
    known: Knowledge,
    entrants: list[Contestant],
    seconds: float,
    *,
    jobs: int | None = None,
    report: Callable[[RaceProgress], None] = lambda _: None,
) -> Race:
    """Race these entrants on `known.task.part`; it ends after about this many seconds.

    A round has half of the time that is left, the last one all of it. What is expected not to end within it
    does not start; what does not end within it is stopped. Runs that the warehouse has are not made again.
    An interrupt (Ctrl-C) ends the race with what the rounds before it found out.

    Args:
        entrants: see `recommend.verification.contestants.choose_entrants`.
        jobs: runs at the same time; None = one for each processor.

    Raises:
        KeyboardInterrupt: no round had ended.
    """
    began = time.monotonic()
    rounds = Rounds(known, entrants, jobs or _processors(), report)
    heats: list[Rung] = []
    decisions: dict[int, str] = {}
    standing = list(range(len(entrants)))
    interrupted = False
    for place, tier in enumerate(rounds.tiers):
        left = began + seconds - time.monotonic()
        share = left if place + 1 == len(rounds.tiers) else left / 2
        better = -(-len(standing) // 2) if heats else len(standing)
        entering, too_long = rounds.affordable(standing[:better], tier, share, heats)
        if heats and len(entering) < 2:
            break  # there is nothing more to compare, or no time for it
        try:
            heat = rounds.run(tier, entering, share)
        except KeyboardInterrupt:
            if not heats:
                raise
            interrupted = True
            break
        if heats:
            decisions |= dict.fromkeys(standing[better:], f"behind on {heats[-1].train_rows:,} rows")
        heats.append(heat)
        decisions |= too_long | _failures(heat, entering, known.task.measure)
        standing = _by_value(heats[-1], [one for one in entering if one not in decisions], known.task.measure)
    trials = own_trials(
        pd.concat([known.own_runs, _runs_of(heats, entrants, known.task.measure)]),
        known.all_runs.configurations,
        known.task.measure,
    )
    took = time.monotonic() - began
    task = known.task
    return Race(task.part, task.measure, entrants, heats, decisions, standing, took, interrupted, trials)


def record(race: Race, warehouse: Warehouse) -> None:
    """Write the runs of a race to `warehouse`; those that it has change nothing.

    Runs that were stopped are left out: the race ended, which says nothing of them.
    """
    dataset = race.dataset
    for heat in race.heats:
        ended = [(run, one) for run, one in heat.results.values() if one.outcome is not Outcome.timeout]
        if ended:
            write_runs(warehouse, dataset, ended, heat.procedure, source="verify")


def can_be_raced(codes: Positions) -> bool:
    """Whether a class has a row for each of the folds that a race splits rows with these classes into."""
    folds = Plan((), {}, splits=SPLITS).resampling(len(codes), Tier()).folds
    return bool(np.bincount(codes).max() >= folds)


def seconds_on_all_rows(race: Race, known: Knowledge) -> dict[int, float]:
    """Place of an entrant -> expected seconds of one fit on all rows, by its last run that ended."""
    table = known.all_runs.configurations.of_setups([entrant.setup for entrant in race.entrants])
    sized = known.metafeatures.copy()
    on_all = fit_seconds(known.fit_times, table, sized).seconds
    expected: dict[int, float] = {}
    for heat in race.heats:
        sized["NumberOfInstances"] = heat.train_rows
        grows = np.fmax(on_all / fit_seconds(known.fit_times, table, sized).seconds, 1)
        expected |= {
            place: one.seconds / heat.folds * float(grows[place])
            for place, (_, one) in heat.results.items()
            if one.outcome is not Outcome.timeout
        }
    return expected


def _runs_of(heats: Sequence[Rung], entrants: Sequence[Contestant], measure: str) -> pd.DataFrame:
    """The successful runs with the columns of `own_trials`."""
    rows = [
        (heat.task, entrants[place].setup, heat.train_rows, value)
        for heat in heats
        for place in heat.results
        if (value := heat.value(place, measure)) is not None
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _by_value(heat: Rung, places: Sequence[int], measure: str) -> list[int]:
    """These entrants, which have values, the best in the round first; of equals, what entered first."""
    values = [heat.value(place, measure) for place in places]
    goodness = oriented(np.array(values, np.float64), measure)
    return [places[best] for best in np.argsort(-goodness, kind="stable")]


def _failures(heat: Rung, entering: Sequence[int], measure: str) -> dict[int, str]:
    """Place of each entrant that came to nothing in a round -> why."""
    failures = {}
    for place in entering:
        if place not in heat.results:
            failures[place] = f"needs more than {heat.train_rows:,} rows"
        elif heat.value(place, measure) is None:
            failures[place] = f"{heat.results[place][1].message or 'no value'} on {heat.train_rows:,} rows"
    return failures


def _processors() -> int:
    from joblib import cpu_count

    return int(cpu_count())
