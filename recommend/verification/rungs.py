"""Rounds (rungs) of a race: contestants fitted on the same rows, in limited processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from ingest.keys import setup_of
from ingest.reading.datasets import Dataset
from ingest.running.evaluation import Evaluation, Limits, evaluate
from ingest.running.experiments import planned_runs, task_of
from ingest.running.limits import Outcome, Processes
from ingest.running.plan import ENOUGH_MORE_ROWS, Plan, SplitRule, Tier
from ingest.running.resampling import tested_rows
from ingest.running.rows import Run
from ingest.running.splitting import feasible_folds, splits_of
from recommend.ranking.fit_cost import fit_seconds
from recommend.ranking.knowledge import Knowledge
from recommend.verification.contestants import Contestant
from warehouse.support.arrays import Floats, Positions
from warehouse.support.console import duration

ROWS = (500, 2000)
"""Rows that are fitted on in the rounds before the last one, which has them all."""
SPLITS = (
    SplitRule(500, folds=10),
    SplitRule(1000, folds=5),
    SplitRule(4000, folds=3),
    SplitRule(None, folds=1, test_rows=10000),
)
MEMORY = 4096
"""MiB that a fit may take."""
PREDICTING = 1.3
"""Time of a run as a multiple of the time of its fits, before any is timed; a heuristic."""


def plan_of(part: Dataset) -> Plan:
    """Plan of a race: the usual number of folds, or as many as times, groups and classes allow.

    Raises:
        BadInput: they allow no split.
    """
    usual = Plan((), {}, splits=SPLITS)
    if part.split is None:
        return usual
    by = replace(usual, by=part.split.kind)
    resampling = by.resampling(len(part.features), Tier())
    rule = SplitRule(folds=feasible_folds(part, resampling), test_rows=resampling.test_rows)
    return replace(by, splits=(rule,))


@dataclass(frozen=True)
class Rung:
    """A round: some of the entrants on the same rows."""

    train_rows: int
    """Rows that each fit is fitted on."""
    test_rows: int
    """Rows that are predicted in all."""
    folds: int
    """1 = one split."""
    task: str
    procedure: str
    tested: Positions
    """(`test_rows`,) the rows that are predicted, one fold after the other."""
    results: Mapping[int, tuple[Run, Evaluation]] = field(default_factory=dict)
    """Place of a contestant -> its run and the evaluation."""

    def value(self, place: int, measure: str) -> float | None:
        """The measure of an entrant; None where there is none."""
        return self.results[place][1].value(measure) if place in self.results else None


@dataclass(frozen=True)
class RaceProgress:
    """Where a race stands."""

    train_rows: int
    """Rows that are trained on in the round that runs."""
    done: int
    """Runs of this round that have ended."""
    of: int


class Rounds:
    """Rounds of a race, and how they run."""

    def __init__(
        self,
        known: Knowledge,
        entrants: Sequence[Contestant],
        jobs: int,
        report: Callable[[RaceProgress], None],
    ) -> None:
        n = len(known.task.part.features)
        plan = plan_of(known.task.part)
        everything = plan.resampling(n, Tier()).sizes(n)[0]
        rows = [*(few for few in ROWS if ENOUGH_MORE_ROWS * few <= everything), everything]
        self.tiers = [Tier(number, memory=MEMORY) for number in rows]
        self._plan = replace(plan, tiers=self.tiers)
        self._known = known
        self._entrants = entrants
        self._jobs = jobs
        self._report = report

    def affordable(
        self, wanted: Sequence[int], tier: Tier, seconds: float, heats: Sequence[Rung]
    ) -> tuple[list[int], dict[int, str]]:
        """Choose those of `wanted`, in order, that the seconds suffice for, and say why others do not enter.

        Two enter the first round in any case.
        """
        entering: list[int] = []
        too_long: dict[int, str] = {}
        spent = 0.0
        for place, expected in zip(wanted, self._expected(wanted, tier, heats), strict=True):
            fits = expected <= seconds and spent + expected <= seconds * self._jobs
            if fits or (not heats and len(entering) < 2):
                entering.append(place)
                spent += expected
            else:
                too_long[place] = f"no time for about {duration(expected)} on {tier.train_rows:,} rows"
        return entering, too_long

    def run(self, tier: Tier, entering: Sequence[int], seconds: float) -> Rung:
        """Run these contestants on the rows of the round, for this many seconds."""
        end = time.monotonic() + seconds
        part, seed = self._known.task.part, self._plan.seed
        resampling = self._plan.resampling(len(part.features), tier)
        configurations = [self._entrants[place].configuration for place in entering]
        runs = {run.setup: run for run in planned_runs(part, self._plan, tier, configurations)}
        of_places = {
            place: run
            for place in entering
            if (run := runs.get(setup_of(self._entrants[place].configuration))) is not None
        }
        train_rows, test_rows = resampling.sizes(len(part.features))
        repetitions = [splits_of(part, resampling, seed)]
        made = _made_before(self._known, list(of_places.values()))

        def evaluated(run: Run) -> Evaluation:
            left = end - time.monotonic()
            if run.run in made:
                return made[run.run]
            if left <= 0:
                return Evaluation(Outcome.timeout, 0.0, message="not begun")
            limits = Limits(left, MEMORY)
            return evaluate(run.configuration, part, repetitions, limits, seed=seed, processes=processes)

        results: dict[int, tuple[Run, Evaluation]] = {}
        with ThreadPoolExecutor(self._jobs) as pool, Processes() as processes:
            outcomes = pool.map(evaluated, of_places.values())
            for done, (place, run) in enumerate(of_places.items(), start=1):
                results[place] = run, next(outcomes)
                self._report(RaceProgress(train_rows, done, len(of_places)))
        return Rung(
            train_rows,
            test_rows,
            resampling.folds,
            task_of(part, self._plan, tier),
            resampling.name,
            tested_rows(repetitions[0]),
            results,
        )

    def _expected(self, places: Sequence[int], tier: Tier, heats: Sequence[Rung]) -> Floats:
        """Seconds that each of these is expected to take in a round; 0 where nothing is known.

        What it took in the round before tells how far off the prediction is.
        """
        predicted = self._predicted(places, tier)
        if not heats:
            return predicted
        before = self._predicted(places, Tier(heats[-1].train_rows))
        took = np.array([heats[-1].results[place][1].seconds for place in places])
        grows = np.divide(predicted, before, out=np.ones(len(places)), where=before > 0)
        expected: Floats = took * np.maximum(grows, 1)
        return expected

    def _predicted(self, places: Sequence[int], tier: Tier) -> Floats:
        part, known = self._known.task.part, self._known
        resampling = self._plan.resampling(len(part.features), tier)
        sized = known.metafeatures.copy()
        sized["NumberOfInstances"] = resampling.sizes(len(part.features))[0]
        setups = [self._entrants[place].setup for place in places]
        configurations = known.all_runs.configurations.of_setups(setups)
        fit = fit_seconds(known.fit_times, configurations, sized).seconds
        return np.nan_to_num(fit) * resampling.folds * resampling.repeats * PREDICTING


def _made_before(known: Knowledge, runs: Sequence[Run]) -> dict[str, Evaluation]:
    """Run -> its evaluation, for runs that the warehouse has."""
    asked = {"runs": [run.run for run in runs], "measure": known.task.measure}
    return {
        row["run"]: Evaluation(Outcome.success, row["seconds"], {known.task.measure: row["value"]})
        for row in known.task.warehouse.arrow(_MADE_BEFORE, asked).to_pylist()
    }


_MADE_BEFORE = """
SELECT run, max(value) FILTER (measure = $measure) AS value,
  coalesce(max(value) FILTER (measure = 'wall_clock_time_millis'), 0) / 1000 AS seconds
FROM evaluations
WHERE list_contains($runs, run)
GROUP BY run HAVING count(*) FILTER (measure = $measure) > 0
"""
