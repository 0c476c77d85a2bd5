"""Ranking of the known configurations for a dataset, by what the meta-learner expects of each.

The candidates are the configurations of the warehouse that still build today. Nothing here imports LightGBM
unless a model has to be trained first; scikit-learn is for the meta-features that the model asks for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ingest.flows import find_flow
from ingest.reading.datasets import Dataset
from metalearners import DEFAULT_LEARNER
from metalearners.encoding.scores import oriented
from metalearners.gp.conditioned import Conditioned
from metalearners.predictions import InOwnUnit, Predictor
from recommend.candidates import flow_of, flows_to_install, not_built
from recommend.cautions import cautions
from recommend.context import RankingContext, ranking_context
from recommend.cost import Choice, choose_within, fit_seconds, worthwhile
from recommend.evidence import NAMED, evidence_for, outside_of_known, scores_on
from recommend.expectations import Expectation, expectations
from recommend.recommendation import RankedConfiguration, Recommendation
from recommend.seeds import STRATEGIES, choose_delta
from recommend.usual_measure import usual_measure
from warehouse.configurations.table import ConfigurationTable
from warehouse.store import Warehouse
from warehouse.support.arrays import Flags, Floats, Positions
from warehouse.support.errors import BadOption, TooFewRuns, UnknownName
from warehouse.support.parallel import one_thread

if TYPE_CHECKING:
    from recommend.heats import RaceProgress
    from recommend.racing import Race


def recommend(
    dataset: Dataset,
    *,
    warehouse: Warehouse | None = None,
    top: int = 3,
    flows: Sequence[str] = (),
    strategy: str = "top",
    measure: str | None = None,
    metalearner: str = DEFAULT_LEARNER,
    leave_out: bool = False,
    budget: float | None = None,
    verify: float | None = None,
    jobs: int | None = None,
    report: Callable[[RaceProgress], None] = lambda _: None,
    explain: bool = False,
) -> Recommendation:
    """Rank the warehouse's configurations for a dataset and choose the first ones to try.

    Args:
        dataset: see `ingest.reading.datasets.load_dataset`.
        warehouse: what to learn from; None = the user's warehouse, else the bundled starter.
        top: how many configurations to choose.
        flows: names of the flows to choose from; empty = all.
        strategy: `top` = what the meta-learner would try first, `delta` = a diverse choice
            (`recommend.seeds`).
        measure: the evaluation measure to be good at, a name or an alias of `warehouse.measures`; None =
            `usual_measure`: accuracy, unless one class has most of the rows.
        metalearner: name of the learner (`metalearners.LEARNERS`).
        leave_out: whether runs on the dataset itself, which the warehouse may have, count for nothing, as in
            an experiment; else they are the strongest evidence that there is.
        budget: seconds into which one fit of each of the chosen ones is to fit; None = as long as it takes,
            but nothing that takes long without being expected to be worth it (`recommend.cost`).
        verify: seconds for which the first ones are raced on the dataset, beside the defaults that people
            begin with (`recommend.racing`), before the choice is made; None = they are not.
        jobs: runs of the race at the same time; None = one for each processor.
        report: told where the race stands.
        explain: whether to say why (`Recommendation.explanation`).

    Raises:
        BadInput: a numeric target, no feature, an unknown flow, measure or strategy, nothing in the
            warehouse to learn from, or a budget that nothing fits into.
    """
    if strategy not in STRATEGIES:
        raise UnknownName(f"unknown strategy {strategy!r}; known are {', '.join(STRATEGIES)}")
    if top < 1:
        raise BadOption(f"can't recommend {top} configurations; ask for 1 or more")
    if verify is not None and leave_out:
        raise BadOption("what a race on the dataset finds out can't be left out: choose one of them")
    warehouse = warehouse if warehouse is not None else Warehouse.open(None)
    known = ranking_context(
        dataset,
        warehouse=warehouse,
        flows=flows,
        measure=measure or usual_measure(dataset, warehouse),
        metalearner=metalearner,
        leave_out=leave_out,
    )
    foreign = {one.algorithm for one in known.candidates.values() if find_flow(one.algorithm) is None}
    if verify is not None and foreign:
        raise BadOption(
            f"a race runs configurations, and Headstart does not build {', '.join(sorted(foreign))}"
        )
    raced = None if verify is None else _raced(known, verify, jobs, report)
    return recommended(known, top, strategy=strategy, budget=budget, raced=raced, explain=explain)


def recommended(
    known: RankingContext,
    top: int,
    *,
    strategy: str = "top",
    budget: float | None = None,
    raced: Race | None = None,
    explain: bool = False,
) -> Recommendation:
    """The recommendation for what is known of a dataset and came of a race; arguments as for `recommend`."""
    trials, failures = known.trials, known.failures
    if raced is not None:
        trials, failures = raced.trials, failures | raced.failures
    predictor, metafeatures = known.predictor(trials), known.metafeatures()
    candidates = [(setup, one) for setup, one in known.candidates.items() if setup not in failures]
    if not candidates:
        raise TooFewRuns("each of the configurations to choose from failed in the race")
    configurations = known.configurations.of_setups([setup for setup, _ in candidates])

    def choose(among: Positions) -> Choice:
        if strategy == "delta":
            return [(int(among[place]), delta) for place, delta in choose_delta(predicted.mean[among], top)]
        best = predictor.choose(configurations.take(among), metafeatures, top)
        return [(int(position), None) for position in among[best]]

    with one_thread():
        predicted = predictor.predict(configurations, metafeatures)
        seconds, factor = fit_seconds(known.warehouse, configurations, metafeatures)
        chosen = (
            choose(worthwhile(seconds, predicted.mean))
            if budget is None
            else choose_within(budget, seconds, choose)
        )
        chosen, promised = _by_expectation(chosen, predicted.mean, known, predictor, configurations)
        positions = [position for position, _ in chosen]
        first = configurations.take(positions)
        beats_first = _beats_first(predictor, first, metafeatures)
        complements = np.zeros(len(chosen), dtype=bool)
        if strategy == "top":
            longest = np.max(seconds[positions])
            within = (
                worthwhile(seconds, predicted.mean) if budget is None else np.flatnonzero(seconds <= longest)
            )
            complements = _passed_over(positions, predicted.mean, within) & ~np.isnan(beats_first)
        evidence = evidence_for(known.model().fitted, known.learned_from, metafeatures)
        places = [[]] * len(chosen) if evidence is None else evidence.supporters(first, complements)
    others = known.warehouse.metafeatures().drop(index=list(known.left_out), errors="ignore")
    heaviest = pd.Series(dtype=float) if evidence is None else evidence.weights.iloc[:NAMED]
    on_nearest = scores_on(known.runs.runs, known.scores, heaviest.index)
    on_dataset = {} if trials is None else dict(trials.measured)
    names = dict(known.warehouse.sql("SELECT dataset, name FROM datasets").itertuples(index=False, name=None))
    outside = outside_of_known(others, metafeatures)
    result = Recommendation(
        dataset=known.dataset,
        configurations=[
            RankedConfiguration(
                rank=rank,
                configuration=candidates[position][1],
                predicted=float(predicted.mean[position]),
                std=None if predicted.std is None else float(predicted.std[position]),
                on_nearest=on_nearest.get(candidates[position][0]),
                delta=delta,
                on_dataset=on_dataset.get(candidates[position][0]),
                fit_seconds=None if np.isnan(seconds[position]) else float(seconds[position]),
                expectation=None if promised is None else promised[rank - 1],
                flow=flow_of(candidates[position][1].algorithm, known.runs),
                beats_first=float(beats_first[rank - 1]) if complements[rank - 1] else None,
                places=[
                    replace(place, dataset=str(names.get(place.dataset, place.dataset)))
                    for place in places[rank - 1]
                ],
            )
            for rank, (position, delta) in enumerate(chosen, start=1)
        ],
        strategy=strategy,
        measure=known.measure,
        metafeatures=metafeatures,
        nearest=[
            (str(names.get(key, key)), float(evidence.distances[key]))
            for key in heaviest.index
            if evidence is not None
        ],
        outside=outside,
        left_out=list(known.left_out.values()),
        near_copies=[name for key, name in known.left_out.items() if key not in known.same],
        trials=0 if trials is None else len(trials),
        failed=Counter(failures.values()),
        warehouse=known.warehouse,
        model=known.model(),
        predictor=predictor,
        candidates=len(candidates),
        not_installed=flows_to_install(known.runs, set(known.flows)),
        fit_factor=factor,
        not_built={} if known.flows else not_built(known.runs, known.candidates.values()),
        race=raced,
        cautions=cautions(known.dataset, outside, trials=0 if trials is None else len(trials)),
    )
    if not explain:
        return result
    from recommend.explanation import explanation

    return replace(result, explanation=explanation(result, first, evidence, others, names))


def _by_expectation(
    chosen: Choice,
    predicted: Floats,
    known: RankingContext,
    predictor: Predictor,
    configurations: ConfigurationTable,
) -> tuple[Choice, list[Expectation] | None]:
    """What was chosen with what is expected of it, the best first."""
    promised = expectations(
        predictor,
        configurations.take([position for position, _ in chosen]),
        known.runs.configurations,
        known.metafeatures(),
        known.measure,
    )
    if promised is not None:
        values = oriented(np.array([promise.value for promise in promised]), known.measure)
    elif isinstance(predictor, Conditioned):
        return chosen, None  # what was tried goes by what came of it, which scores are not
    else:
        values = predicted[[position for position, _ in chosen]]
    order = np.argsort(-values, kind="stable").tolist()
    return [chosen[place] for place in order], promised and [promised[place] for place in order]


def _beats_first(predictor: Predictor, chosen: ConfigurationTable, metafeatures: pd.Series) -> Floats:
    """(n,) probability that each of the chosen ones beats the first; NaN where nothing says so."""
    probabilities = np.full(len(chosen), np.nan)
    if isinstance(predictor, InOwnUnit) and len(chosen) > 1:
        others = chosen.take(np.arange(1, len(chosen)))
        probabilities[1:] = predictor.beats(others, chosen.take([0]), metafeatures)
    return probabilities


def _passed_over(chosen: Sequence[int], predicted: Floats, considered: Positions) -> Flags:
    """Whether more is expected of one of those that were considered and not chosen, for each of `chosen`."""
    others = predicted[np.setdiff1d(considered, chosen)]
    best = others.max(initial=-np.inf)
    return np.array([predicted[position] < best for position in chosen], dtype=bool)


def _raced(
    known: RankingContext, seconds: float, jobs: int | None, report: Callable[[RaceProgress], None]
) -> Race:
    from recommend.racing import race  # which imports what runs configurations

    return race(known, seconds, jobs=jobs, report=report)
