"""Search for the best model of a dataset: recommended configurations first, then trials, then an ensemble.

The steps are described in `recommend.bo.tuning.session`. Trials are cross-validated on all rows, and the
model is fitted on all rows, as far as the time allows.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from ingest.keys import digest
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.limits import start_server
from ingest.running.resampling import Resampling
from ingest.running.scorer import scorer_of
from ingest.running.splitting import splits_of
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.fitting import Fit
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.progress import Progress, remarks_on
from recommend.bo.tuning.proposals import OptimizerProposer, Proposer
from recommend.bo.tuning.result import SearchResult
from recommend.bo.tuning.running import Runner
from recommend.bo.tuning.session import Session
from recommend.bo.tuning.settings import USUAL_SECONDS, Budget, Search, check, completed
from recommend.bo.tuning.setup import Firsts, first_configurations, new_search, seconds_by_rows, task_of
from recommend.ranking.candidates import Candidates, find_candidates
from recommend.ranking.knowledge import Knowledge, gather
from recommend.ranking.task import RankingTask
from warehouse.store import Warehouse
from warehouse.support.errors import TooFewRuns
from warehouse.support.paths import cache_directory


def tune(
    dataset: Dataset | str | Path | pd.DataFrame,
    search: Search | None = None,
    budget: Budget | None = None,
    *,
    warehouse: Warehouse | None = None,
    folder: Path | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    report: Callable[[Progress], None] = lambda _: None,
    watch: Callable[[SearchResult], object] | None = None,
    began: float | None = None,
) -> SearchResult:
    """Search for the best model of `dataset`.

    An interrupt (Ctrl-C) ends running tasks, and the results so far are returned.

    Args:
        dataset: a dataset, or an argument of `ingest.reading.datasets.load_dataset`.
        search: None = all flows of the dataset's task type, starting from the recommendation, with its
            measure.
        budget: None = one minute.
        warehouse: what to learn from; None = the user's warehouse, else the bundled starter.
        folder: of the history; None = one in the user's cache specific to data and search, so that repeating
            a search resumes it. Only one process at a time may use it.
        jobs: number of parallel trials and fits.
        executor: runs the trials; None = here. A Dask client's `get_executor()` runs them on its workers, and
            repeats them if a worker dies.
        report: receives the progress after every trial.
        watch: receives the results so far after every trial; None = not needed.
        began: start of the budget's time, by `time.monotonic`; None = now.

    Raises:
        BadInput: the dataset, search, budget or history can't be used.
    """
    from recommend.code.models import plain_model

    budget = budget or Budget(seconds=USUAL_SECONDS)
    deadline = Deadline(budget.seconds, began)
    if not isinstance(dataset, Dataset):
        dataset = load_dataset(dataset)
    warehouse = warehouse if warehouse is not None else Warehouse.open(None)
    search = completed(search or Search(), dataset, warehouse)
    check(search, budget, jobs, dataset.task_type)
    start_server("recommend.code.models")  # takes seconds, in parallel with the next steps
    task = task_of(dataset, search, warehouse)
    known = None if task.learner is None else gather(task)
    candidates = None if known is None else find_candidates(known)
    found = search_task(
        task,
        known,
        candidates,
        search,
        budget,
        firsts=first_configurations(
            search, known, candidates, None if budget.seconds is None else deadline.left()
        ),
        fit=partial(plain_model, dataset=dataset, seed=search.seed),
        deadline=deadline,
        folder=folder or _default_folder(dataset, search),
        jobs=jobs,
        executor=executor,
        report=report,
        watch=watch,
    )
    return found if known is None else replace(found, origins=warehouse.origins())


def search_task(
    task: RankingTask,
    known: Knowledge | None,
    candidates: Candidates | None,
    search: Search,
    budget: Budget,
    *,
    firsts: Firsts,
    fit: Fit | None,
    deadline: Deadline,
    jobs: int,
    report: Callable[[Progress], None],
    proposer: Proposer | None = None,
    folder: Path | None = None,
    executor: Executor | None = None,
    watch: Callable[[SearchResult], object] | None = None,
) -> SearchResult:
    """Search on a described task; arguments as for `tune`, and these:

    Args:
        known: None = do not learn from other datasets.
        candidates: the configurations with runs on other datasets; None as for `known`.
        firsts: the first configurations (`recommend.bo.tuning.setup.first_configurations`).
        fit: fits a configuration; None = no model is needed.
        proposer: proposes the next trials; None = the search's strategy.
        folder: of the history; None = in memory.
    """
    dataset = task.dataset
    _refuse_unsplittable(dataset, search)
    if proposer is None:
        proposer = OptimizerProposer(
            lambda: new_search(
                task, known, candidates, search, session.splits.resampling, session.firsts, budget
            ),
            task.measure,
        )

    def told(progress: Progress) -> None:
        report(progress)
        if watch is not None:
            watch(_result(session))

    data = {"content_hash": dataset.content_hash, "rows": len(dataset.features)}
    with (
        TrialHistory(folder, {**search.description(), "data": data, **_split(dataset)}) as history,
        Runner(dataset, search, fit, jobs, executor) as runner,
    ):
        session = Session(
            dataset=dataset,
            search=search,
            budget=budget,
            deadline=deadline,
            history=history,
            firsts=firsts.members,
            fallbacks=firsts.fallbacks,
            fit_seconds=seconds_by_rows(known),
            proposer=proposer,
            runner=runner,
            jobs=jobs,
            wants_model=fit is not None,
            report=told,
        )
        session.run()
        return _result(session)


def _result(session: Session) -> SearchResult:
    model = session.model
    selected = session.selection
    weights = selected.weights if model is None else model.weights
    return SearchResult(
        dataset=session.dataset,
        search=session.search,
        resampling=session.splits.resampling,
        trials=[trial for trial in session.history.trials if trial.evaluations],
        weights=dict(sorted(weights.items(), key=lambda item: -item[1])),
        value=selected.value if {*weights} == {*selected.weights} else None,
        model=model,
        seconds=session.deadline.elapsed(),
        folder=session.history.folder,
        interrupted=session.interrupted,
        remarks=remarks_on(session),
        unfinished=session.history.unfinished(),
    )


def _refuse_unsplittable(dataset: Dataset, search: Search) -> None:
    """Refuse rows that can't be split into training and test sets, before anything is fitted."""
    outcomes = scorer_of(dataset).outcomes(dataset.target)
    if len(np.unique(outcomes)) < 2:
        raise TooFewRuns(f"the target of {dataset.name} has one value; a search needs two or more")
    if dataset.split is not None:
        splits_of(dataset, Resampling(search.folds or 1, by=dataset.split.kind), search.seed)


def _split(dataset: Dataset) -> dict[str, str]:
    """The split in a history; empty for random splits."""
    return {} if dataset.split is None else {"split": str(dataset.split)}


def _default_folder(dataset: Dataset, search: Search) -> Path:
    key = digest(dataset.content_hash, repr(sorted((search.description() | _split(dataset)).items())))
    return cache_directory() / "tune" / f"{dataset.name}-{key}"
