"""Races: the head of a recommendation beside what people begin with anyway, on more and more of the rows.

Successive halving (Jamieson 2016): all are fitted on few rows, the better half of them on more, the better
half of these on all. What came of each on the rows of a round decides, which names better ones than what the
meta-learner expects after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ingest.flows import Flow, get_flow
from ingest.keys import setup_of
from ingest.reading.datasets import Dataset
from ingest.running.cross_validation import class_codes, evaluate, evaluate_with_probabilities
from ingest.running.experiments import planned_runs, task_of
from ingest.running.limits import MEBIBYTE, Outcome, Processes, Trial, run_limited
from ingest.running.plan import ENOUGH_MORE_ROWS, Plan, SplitRule, Tier
from ingest.running.pool import Member
from ingest.running.resampling import Split, tested_rows
from ingest.running.rows import Run, write_runs
from metalearners.encoding.scores import oriented
from recommend.context import RankingContext
from recommend.cost import fit_seconds, worthwhile
from recommend.own_trials import COLUMNS, OwnTrials, own_trials
from warehouse.configurations.configuration import Configuration
from warehouse.configurations.parameters import Value
from warehouse.store import Warehouse
from warehouse.support.arrays import Floats, Positions
from warehouse.support.console import duration

HEAD = 8
"""Configurations of the recommendation that enter."""
FIRST = 3
"""Of these so many come before the defaults, should the time not suffice for all."""
DEFAULTS = ("lightgbm", "catboost", "random_forest", "logistic_regression")
"""Algorithms whose defaults enter, as far as they are installed and the warehouse has them."""
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
"""Time of a run as a multiple of that of its fits, before one has been timed; a heuristic."""


@dataclass(frozen=True)
class Entrant:
    """A configuration that takes part."""

    configuration: Configuration
    setup: str
    """In the warehouse."""
    recommended: int | None
    """Its place in the recommendation before the race; None = it takes part as a default alone."""
    is_default: bool
    """Whether it is one of the defaults that people begin with anyway."""

    @property
    def flow(self) -> Flow:
        """The algorithm with its preprocessing."""
        return get_flow(self.configuration.algorithm)


@dataclass(frozen=True)
class Heat:
    """A round: some of the entrants on the same rows."""

    train_rows: int
    """That each fit is fitted on."""
    test_rows: int
    """That are predicted in all."""
    folds: int
    """1 = one split."""
    task: str
    procedure: str
    tested: Positions
    """(`test_rows`,) the rows that are predicted, one fold after the other."""
    results: Mapping[int, tuple[Run, Trial]] = field(default_factory=dict)
    """Place of an entrant -> what was run and what came of it."""
    probabilities: Mapping[int, Floats] = field(default_factory=dict)
    """Place of an entrant -> (`test_rows`, classes) what it predicted of these rows, where that is kept."""


@dataclass(frozen=True)
class Race:
    """What came of all rounds."""

    dataset: Dataset
    measure: str
    entrants: list[Entrant]
    heats: list[Heat]
    decisions: dict[int, str]
    """Place of an entrant -> why it went no further; those that are missing went to the end."""
    standing: list[int]
    """Places of the entrants that went to the end, the best first."""
    seconds: float
    """Time that it took."""
    interrupted: bool
    """Whether the user ended it; what the round that ran then found out is lost."""
    trials: OwnTrials | None
    """What is known of the dataset after it, with the runs that were known before."""

    def value(self, place: int, heat: Heat) -> float | None:
        """The measure of an entrant in a round; None where there is none."""
        trial = heat.results[place][1] if place in heat.results else None
        return None if trial is None else _value(trial, self.measure)

    @property
    def failures(self) -> dict[str, str]:
        """Setup -> outcome, of the entrants that only failed.

        The end of the race is no failure of theirs, and where nothing succeeded it need not be theirs.
        """
        outcomes = [
            (self.entrants[place].setup, trial.outcome)
            for heat in self.heats
            for place, (_, trial) in heat.results.items()
            if trial.outcome is not Outcome.timeout
        ]
        succeeded = {setup for setup, outcome in outcomes if outcome is Outcome.success}
        return {setup: str(outcome) for setup, outcome in outcomes if succeeded and setup not in succeeded}

    def seconds_of(self, place: int) -> float:
        """Time that the runs of an entrant took."""
        return sum(heat.results[place][1].seconds for heat in self.heats if place in heat.results)

    def decision(self, place: int) -> str:
        """Why an entrant went no further, or where it stands in the end."""
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


@dataclass(frozen=True)
class RaceProgress:
    """Where a race stands."""

    train_rows: int
    """Of the round that runs."""
    done: int
    """Runs of this round that have ended."""
    of: int


def race(
    known: RankingContext,
    seconds: float,
    *,
    jobs: int | None = None,
    head: int = HEAD,
    longest_fit: float | None = None,
    keeps_probabilities: bool = False,
    report: Callable[[RaceProgress], None] = lambda _: None,
) -> Race:
    """Race the head of the recommendation for `known.part`; it ends after about so many seconds.

    A round has half of the time that is left, the last one all of it. What is expected not to end within it
    does not start; what does not end within it is stopped. Runs that the warehouse has are not made again.
    An interrupt (Ctrl-C) ends the race with what the rounds before it found out.

    Args:
        jobs: runs at the same time; None = one for each processor.
        head: configurations of the recommendation that enter.
        longest_fit: seconds that one fit of these on all rows may be expected to take; None = no such limit.
        keeps_probabilities: whether the rounds hold what was predicted, except by runs of the warehouse.

    Raises:
        KeyboardInterrupt: no round had ended.
    """
    began = time.monotonic()
    entrants = _entrants(known, head, longest_fit)
    rounds = _Rounds(known, entrants, jobs or _processors(), keeps_probabilities, report)
    heats: list[Heat] = []
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
        decisions |= too_long | _failures(heat, entering, known.measure)
        standing = _by_value(heats[-1], [one for one in entering if one not in decisions], known.measure)
    trials = own_trials(
        pd.concat([known.own_runs, _runs_of(heats, entrants, known.measure)]),
        known.all_runs.configurations,
        known.measure,
    )
    took = time.monotonic() - began
    return Race(known.part, known.measure, entrants, heats, decisions, standing, took, interrupted, trials)


def record(race: Race, warehouse: Warehouse) -> None:
    """Write the runs of a race to `warehouse`; those that it has change nothing.

    Runs that were stopped are left out: the race ended, which says nothing of them.
    """
    dataset = race.dataset
    for heat in race.heats:
        ended = [(run, trial) for run, trial in heat.results.values() if trial.outcome is not Outcome.timeout]
        if ended:
            write_runs(warehouse, dataset, ended, heat.procedure, source="verify")


class _Rounds:
    """What the rounds of a race run, and how."""

    def __init__(
        self,
        known: RankingContext,
        entrants: Sequence[Entrant],
        jobs: int,
        keeps_probabilities: bool,
        report: Callable[[RaceProgress], None],
    ) -> None:
        n = len(known.part.features)
        plan = Plan((), (), splits=SPLITS)
        everything = plan.resampling(n, Tier()).sizes(n)[0]
        rows = [*(few for few in ROWS if ENOUGH_MORE_ROWS * few <= everything), everything]
        self.tiers = [Tier(number, memory=MEMORY) for number in rows]
        self._plan = replace(plan, tiers=self.tiers)
        self._known = known
        self._entrants = entrants
        self._jobs = jobs
        self._keeps_probabilities = keeps_probabilities
        self._report = report

    def affordable(
        self, wanted: Sequence[int], tier: Tier, seconds: float, heats: Sequence[Heat]
    ) -> tuple[list[int], dict[int, str]]:
        """Those of `wanted`, in order, that so many seconds suffice for, and why the others do not enter.

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

    def run(self, tier: Tier, entering: Sequence[int], seconds: float) -> Heat:
        """Run these entrants on the rows of the round, for so many seconds."""
        end = time.monotonic() + seconds
        part, seed = self._known.part, self._plan.seed
        resampling = self._plan.resampling(len(part.features), tier)
        members = [Member(self._entrants[place].configuration, "") for place in entering]
        runs = {run.setup: run for run in planned_runs(part, self._plan, tier, members)}
        of_places = {
            place: run
            for place in entering
            if (run := runs.get(setup_of(self._entrants[place].configuration))) is not None
        }
        train_rows, test_rows = resampling.sizes(len(part.features))
        repetitions = list(resampling.splits(class_codes(part), seed))
        made = _made_before(self._known, list(of_places.values()))
        work = _evaluate_and_keep if self._keeps_probabilities else evaluate
        done = 0

        def evaluated(run: Run) -> Trial:
            left = end - time.monotonic()
            if run.run in made:
                return made[run.run]
            if left <= 0:
                return Trial(Outcome.timeout, None, "not begun", 0.0)
            return run_limited(
                work,
                run.configuration.algorithm,
                dict(run.configuration.values),
                part,
                repetitions,
                seed=seed,
                seconds=left,
                memory=MEMORY * MEBIBYTE,
                processes=processes,
            )

        trials: list[Trial] = []
        with ThreadPoolExecutor(self._jobs) as pool, Processes() as processes:
            for trial in pool.map(evaluated, of_places.values()):
                trials.append(trial)
                done += 1
                self._report(RaceProgress(train_rows, done, len(of_places)))
        results = {place: (run, trial) for (place, run), trial in zip(of_places.items(), trials, strict=True)}
        probabilities: dict[int, Floats] = {}
        for place, (run, trial) in results.items():
            if isinstance(trial.result, tuple):
                measured, predicted = trial.result
                results[place] = (run, replace(trial, result=measured))
                if predicted is not None:
                    probabilities[place] = predicted
        return Heat(
            train_rows,
            test_rows,
            resampling.folds,
            task_of(part, self._plan, tier),
            resampling.name,
            tested_rows(repetitions[0]),
            results,
            probabilities,
        )

    def _expected(self, places: Sequence[int], tier: Tier, heats: Sequence[Heat]) -> Floats:
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
        part, known = self._known.part, self._known
        resampling = self._plan.resampling(len(part.features), tier)
        sized = known.metafeatures().copy()
        sized["NumberOfInstances"] = resampling.sizes(len(part.features))[0]
        setups = [self._entrants[place].setup for place in places]
        configurations = known.all_runs.configurations.of_setups(setups)
        fit = fit_seconds(known.warehouse, configurations, sized).seconds
        return np.nan_to_num(fit) * resampling.folds * resampling.repeats * PREDICTING


def can_be_raced(codes: Positions) -> bool:
    """Whether a class has a row for each of the folds that a race splits rows with these classes into."""
    folds = Plan((), (), splits=SPLITS).resampling(len(codes), Tier()).folds
    return bool(np.bincount(codes).max() >= folds)


def seconds_on_all_rows(race: Race, known: RankingContext) -> dict[int, float]:
    """Place of an entrant -> expected seconds of one fit on all rows, by its last run that ended."""
    table = known.all_runs.configurations.of_setups([entrant.setup for entrant in race.entrants])
    sized = known.metafeatures().copy()
    on_all = fit_seconds(known.warehouse, table, sized).seconds
    expected: dict[int, float] = {}
    for heat in race.heats:
        sized["NumberOfInstances"] = heat.train_rows
        grows = np.fmax(on_all / fit_seconds(known.warehouse, table, sized).seconds, 1)
        expected |= {
            place: trial.seconds / heat.folds * float(grows[place])
            for place, (_, trial) in heat.results.items()
            if trial.outcome is not Outcome.timeout
        }
    return expected


def _evaluate_and_keep(
    flow: str,
    values: Mapping[str, Value],
    dataset: Dataset,
    repetitions: Sequence[Sequence[Split]],
    *,
    seed: int,
) -> tuple[dict[str, float], Floats | None]:
    """`evaluate` for one repetition, with what it predicted."""
    (splits,) = repetitions
    return evaluate_with_probabilities(flow, values, dataset, splits, seed=seed)


def _entrants(known: RankingContext, n: int, longest_fit: float | None) -> list[Entrant]:
    """The head of the recommendation and the defaults, the most important first."""
    metafeatures, configurations = known.metafeatures(), known.configurations
    predictor = known.predictor()
    seconds = fit_seconds(known.warehouse, configurations, metafeatures).seconds
    among = worthwhile(seconds, predictor.predict(configurations, metafeatures).mean)
    if longest_fit is not None and not (seconds[among] > longest_fit).all():
        among = among[~(seconds[among] > longest_fit)]
    best = among[predictor.choose(configurations.take(among), metafeatures, n)]
    candidates = list(known.candidates.items())
    defaults = _defaults(known)
    head = [
        Entrant(configuration, setup, place, configuration in defaults)
        for place, (setup, configuration) in enumerate((candidates[one] for one in best), start=1)
    ]
    recommended = {entrant.configuration for entrant in head}
    others = [
        Entrant(configuration, setup, None, True)
        for configuration, setup in defaults.items()
        if configuration not in recommended
    ]
    return [*head[:FIRST], *others, *head[FIRST:]]


def _defaults(known: RankingContext) -> dict[Configuration, str]:
    """The defaults that can be fitted here, with their setups."""
    setups = known.all_runs.configurations.setups
    flows = [flow for flow in map(get_flow, DEFAULTS) if flow.installed]
    found = {Configuration(flow.name, flow.default()): "" for flow in flows}
    return {configuration: setup for configuration in found if (setup := setup_of(configuration)) in setups}


def _made_before(known: RankingContext, runs: Sequence[Run]) -> dict[str, Trial]:
    """Run -> what came of it, of those that the warehouse has."""
    asked = {"runs": [run.run for run in runs], "measure": known.measure}
    return {
        row["run"]: Trial(Outcome.success, {known.measure: row["value"]}, None, row["seconds"])
        for row in known.warehouse.arrow(_MADE_BEFORE, asked).to_pylist()
    }


_MADE_BEFORE = """
SELECT run, max(value) FILTER (measure = $measure) AS value,
  coalesce(max(value) FILTER (measure = 'wall_clock_time_millis'), 0) / 1000 AS seconds
FROM evaluations
WHERE list_contains($runs, run)
GROUP BY run HAVING count(*) FILTER (measure = $measure) > 0
"""


def _runs_of(heats: Sequence[Heat], entrants: Sequence[Entrant], measure: str) -> pd.DataFrame:
    """The successful runs with the columns of `own_trials`."""
    rows = [
        (heat.task, entrants[place].setup, heat.train_rows, value)
        for heat in heats
        for place, (_, trial) in heat.results.items()
        if (value := _value(trial, measure)) is not None
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _by_value(heat: Heat, places: Sequence[int], measure: str) -> list[int]:
    """These entrants, which have values, the best in the round first; of equals, what entered first."""
    values = [_value(heat.results[place][1], measure) for place in places]
    goodness = oriented(np.array(values, np.float64), measure)
    return [places[best] for best in np.argsort(-goodness, kind="stable")]


def _failures(heat: Heat, entering: Sequence[int], measure: str) -> dict[int, str]:
    """Place of each entrant that came to nothing in a round -> why."""
    failures = {}
    for place in entering:
        if place not in heat.results:
            failures[place] = f"needs more than {heat.train_rows:,} rows"
        elif _value(trial := heat.results[place][1], measure) is None:
            failures[place] = f"{trial.message or 'no value'} on {heat.train_rows:,} rows"
    return failures


def _value(trial: Trial, measure: str) -> float | None:
    if trial.outcome is not Outcome.success:
        return None
    value = float(trial.result[measure])
    return value if np.isfinite(value) else None


def _processors() -> int:
    from joblib import cpu_count

    return int(cpu_count())
