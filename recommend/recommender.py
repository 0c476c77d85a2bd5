"""Recommendations: describe the task, gather knowledge, predict, choose, explain.

Each step is a function of the results of earlier steps. LightGBM is imported only to train its models,
scikit-learn for the meta-features that the model uses.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ingest.flows import find_flow, get_flow
from ingest.reading.datasets import Dataset, load_dataset
from metalearners import DEFAULT_LEARNER
from recommend.explaining.data_checks import Caution, cautions, outside_of_known
from recommend.explaining.explanation import explain as explain_choice
from recommend.explaining.ranked_configuration import RankedConfiguration
from recommend.explaining.similar_datasets import NAMED, Evidence, evidence_for, scores_on
from recommend.ranking.averaging import average_of
from recommend.ranking.candidates import Candidates, find_candidates, flow_of, not_built
from recommend.ranking.choice import STRATEGIES, Chosen, Forecast, choose, forecast
from recommend.ranking.dataset_runs import Measured
from recommend.ranking.knowledge import Knowledge, gather
from recommend.ranking.performance_forecast import PerformanceForecast
from recommend.ranking.target_kinds import target_kind
from recommend.ranking.task import RankingTask, describe_task
from recommend.ranking.worth_installing import worth_installing
from recommend.recommendation import Recommendation, WarehouseVersion
from warehouse.store import Warehouse
from warehouse.support.errors import BadOption, UnknownName
from warehouse.support.parallel import one_thread

if TYPE_CHECKING:
    from recommend.bo.tuning.progress import Progress
    from recommend.verification import Verification


def recommend(
    dataset: Dataset | str | Path | pd.DataFrame,
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
    report: Callable[[Progress], None] = lambda _: None,
    explain: bool = False,
) -> Recommendation:
    """Rank the warehouse's configurations for a dataset and choose the first ones to try.

    Args:
        dataset: a dataset, or an argument of `ingest.reading.datasets.load_dataset`.
        warehouse: what to learn from; None = the user's warehouse, else the bundled starter.
        top: number of configurations.
        flows: names of the flows to choose from; empty = all.
        strategy: `top` = the best prediction and its complements, `delta` = a spread over the predicted
            ranking (`recommend.ranking.choice`).
        measure: the measure to optimize, a name or an alias of `warehouse.vocabulary.measures`; None = the
            default for the target (`recommend.ranking.target_kinds`), such as accuracy.
        metalearner: name of the learner (`metalearners.LEARNERS`).
        leave_out: whether to ignore the warehouse's runs on the dataset itself, as in an experiment;
            otherwise they have the largest weight.
        budget: limit of the seconds for one fit of each chosen configuration; None = no limit, but long fits
            must promise a gain (`recommend.ranking.fit_cost`).
        verify: total seconds, in which the first configurations and common defaults are tried on the dataset
            (`recommend.verification`); None = no trials.
        jobs: number of parallel trials; None = one per processor.
        report: receives the progress of the verification after every trial.
        explain: whether to explain the choice (`Recommendation.explanation`).

    Raises:
        BadInput: no feature, an unknown flow, measure or strategy, no runs to learn from, or a budget that is
            too small for any configuration.
    """
    began = time.monotonic()
    if not isinstance(dataset, Dataset):
        dataset = load_dataset(dataset)
    if strategy not in STRATEGIES:
        raise UnknownName(f"unknown strategy {strategy!r}; known are {', '.join(STRATEGIES)}")
    if top < 1:
        raise BadOption(f"can't recommend {top} configurations; the least is 1")
    if verify is not None and leave_out:
        raise BadOption("--verify and --leave-out exclude each other")
    warehouse = warehouse if warehouse is not None else Warehouse.open(None)
    task = describe_task(
        dataset,
        warehouse=warehouse,
        flows=flows,
        measure=measure or target_kind(dataset).default_measure(warehouse),
        learner=metalearner,
        leave_out=leave_out,
    )
    known = gather(task)
    candidates = find_candidates(known)
    verification = None if verify is None else _verified(known, candidates, verify, began, jobs, report)
    return recommended(
        known,
        candidates,
        top,
        strategy=strategy,
        budget=budget,
        verification=verification,
        explain=explain,
    )


def recommended(
    known: Knowledge,
    candidates: Candidates,
    top: int,
    *,
    strategy: str = "top",
    budget: float | None = None,
    verification: Verification | None = None,
    explain: bool = False,
) -> Recommendation:
    """The recommendation, given the knowledge and trials on the dataset; arguments as for `recommend`."""
    if verification is not None:
        known = replace(known, trials=verification.trials or known.trials)
        candidates = candidates.without(verification.failures)
    own = {} if known.trials is None else known.trials.measured
    measured = {setup: one._replace(value=known.task.shown(one.value)) for setup, one in own.items()}
    if verification is not None:
        measured |= verification.measured  # not converted from the learned measure
    with one_thread():
        expected = forecast(known, candidates)
        chosen = choose(known, expected, top, strategy, budget)
        better = worth_installing(known, candidates, expected, chosen, budget)
        evidence = evidence_for(known)
        average = (
            None
            if strategy != "top"
            else average_of(
                [expected.candidates.configurations[position] for position in chosen.positions.tolist()],
                chosen.expectations,
                expected.fits.seconds[chosen.positions],
                known.task.measure,
            )
        )
        ranked = _ranked(known, expected, chosen, evidence, measured)
    task, trials = known.task, 0 if known.trials is None else len(known.trials)
    outside = outside_of_known(known.qualities, known.metafeatures)
    return Recommendation(
        dataset=task.dataset,
        configurations=ranked,
        average=None if average is None else replace(average, expectation=_shown(task, average.expectation)),
        strategy=strategy,
        measure=task.asked,
        metafeatures=known.metafeatures,
        nearest=[] if evidence is None else evidence.nearest(NAMED),
        outside=outside,
        left_out=list(task.left_out.values()),
        near_copies=[name for key, name in task.left_out.items() if key not in task.same],
        trials=trials,
        failed=Counter(candidates.failures.values()),
        warehouse=WarehouseVersion(
            task.warehouse.version, task.warehouse.fingerprint, task.warehouse.origins()
        ),
        model=known.model,
        predictor=known.predictor,
        candidates=len(candidates),
        not_installed=candidates.flows_to_install,
        worth_installing=better,
        not_built={} if task.flows else not_built(known.runs, candidates.configurations),
        fit_factor=expected.fits.factor,
        verification=verification,
        cautions=[
            *cautions(task.dataset, outside, trials=trials),
            *(_weak(ranked, task.target.references[0]) if strategy == "delta" else ()),
        ],
        explanation=explain_choice(known, ranked, chosen.table, evidence) if explain else None,
    )


def _ranked(
    known: Knowledge,
    expected: Forecast,
    chosen: Chosen,
    evidence: Evidence | None,
    measured: Mapping[str, Measured],
) -> list[RankedConfiguration]:
    """The chosen configurations with their predictions and reasons.

    Args:
        measured: setup -> value on the dataset.
    """
    complements = ~np.isnan(chosen.beats_first)
    places = [[]] * len(complements) if evidence is None else evidence.supporters(chosen.table, complements)
    heaviest = pd.Index([]) if evidence is None else evidence.weights.index[:NAMED]
    on_nearest = scores_on(known.runs.runs, known.scores, heaviest)
    std, seconds = expected.scores.std, expected.fits.seconds
    ranked = []
    for place, (position, setup) in enumerate(
        zip(chosen.positions.tolist(), chosen.table.setups, strict=True)
    ):
        configuration = expected.candidates.configurations[position]
        ranked.append(
            RankedConfiguration(
                rank=place + 1,
                configuration=configuration,
                predicted=float(expected.scores.mean[position]),
                std=None if std is None else float(std[position]),
                on_nearest=on_nearest.get(setup),
                delta=chosen.deltas[place],
                on_dataset=measured.get(setup),
                fit_seconds=None if np.isnan(seconds[position]) else float(seconds[position]),
                expectation=_shown(
                    known.task, None if chosen.expectations is None else chosen.expectations[place]
                ),
                flow=flow_of(configuration.algorithm, known.runs),
                beats_first=float(chosen.beats_first[place]) if complements[place] else None,
                places=places[place],
            )
        )
    return ranked


def _weak(ranked: Sequence[RankedConfiguration], reference: str) -> Iterator[Caution]:
    """A caution about configurations expected to be worse than the default of a flow."""
    promised = {str(item.rank): item.expectation for item in ranked if item.expectation is not None}
    weak = [rank for rank, promise in promised.items() if promise.gain is not None and promise.gain < 0]
    if weak:
        title = get_flow(reference).title
        yield Caution("seeds", f"expected to be worse than {title}'s default: number {' and '.join(weak)}")


def _shown(task: RankingTask, promise: PerformanceForecast | None) -> PerformanceForecast | None:
    """An expected value in the requested measure."""
    if promise is None:
        return None
    return promise.shown(task.asked, task.measure, task.shown)


def _verified(
    known: Knowledge,
    candidates: Candidates,
    seconds: float,
    began: float,
    jobs: int | None,
    report: Callable[[Progress], None],
) -> Verification:
    from recommend.verification import verify  # slow to import

    algorithms = {one.algorithm for one in candidates.configurations}
    foreign = [name for name in algorithms if find_flow(name) is None]
    if foreign:
        raise BadOption(
            f"--verify fits configurations, but Headstart does not build {', '.join(sorted(foreign))}"
        )
    return verify(known, candidates, seconds, began=began, jobs=jobs, report=report)
