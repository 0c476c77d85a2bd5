"""Search for the best configuration on a dataset: starts, trials, result.

A quarter of the rows is held out before anything else (the last ones, or whole groups, where the dataset is
split by such): no trial, start or meta-feature sees it. A trial is a
cross-validation on the other rows, in a process of its own with limits. The best of many scores is partly
luck: so in the end the leaders are tried again on other folds, and the configuration that came out best is
fitted on the rows that were tuned on and scored on the ones held out (as in "Hyperboost", figure 1).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from ingest.keys import digest
from ingest.reading.datasets import Dataset
from ingest.running.evaluation import evaluations
from recommend.bo.tuning.deadline import Deadline, finals_seconds, held_out_seconds
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.loop import Loop, Progress
from recommend.bo.tuning.proposals import Proposals
from recommend.bo.tuning.reevaluation import Reevaluation, run_finals
from recommend.bo.tuning.result import SearchResult, result
from recommend.bo.tuning.session import Session
from recommend.bo.tuning.settings import Budget, Finish, Search, check
from recommend.bo.tuning.setup import new_search, split_rows, task_of
from recommend.ranking.target_kinds import target_kind
from warehouse.store import Warehouse
from warehouse.support.paths import cache_directory
from warehouse.support.text import counted
from warehouse.vocabulary.measures import canonical_measure

logger = logging.getLogger(__name__)


def tune(
    dataset: Dataset,
    search: Search | None = None,
    budget: Budget | None = None,
    *,
    warehouse: Warehouse | None = None,
    folder: Path | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    report: Callable[[Progress], None] = lambda _: None,
    watch: Callable[[SearchResult], object] | None = None,
    finish: Finish | None = None,
) -> SearchResult:
    """Search for the best configuration on `dataset`.

    An interrupt (Ctrl-C) ends what runs, trials or leaders, and what is known by then is returned.

    Args:
        search: None = all flows, starting from what `recommend` would try first, by its measure.
        budget: None = 50 trials.
        warehouse: what to learn from; None = the user's warehouse, else the bundled starter.
        folder: of the history; None = one in the user's cache that is named after data and search, so the
            same search goes on where it was. One process at a time may search on it.
        jobs: trials that run at the same time.
        executor: runs the trials; None = here. A Dask client's `get_executor()` runs them on its workers, and
            again where a worker dies.
        report: told after every trial where the search stands.
        watch: given after every trial what the search has come to so far; None = nobody asks.
        finish: what happens with the leaders once the search has ended, within the budget's time if it has
            one, else in that of so many trials more. None = as `Finish` says.

    Raises:
        BadInput: a dataset, search, budget or history that can't be used; one line says why.
    """
    deadline = Deadline(None if budget is None else budget.seconds)
    warehouse = warehouse if warehouse is not None else Warehouse.open(None)
    search = search or Search(measure=target_kind(dataset).default_measure(dataset, warehouse))
    budget = budget or Budget(trials=50)
    search = replace(search, measure=canonical_measure(search.measure))
    finish = finish or Finish()
    check(search, budget, finish, jobs)
    train, test = split_rows(dataset, search)
    part = dataset.take(train)
    task = task_of(dataset, part, search, warehouse)
    folder = folder or _default_folder(dataset, search)

    data = {"content_hash": dataset.content_hash, "rows": len(dataset.features)}
    with TrialHistory(folder, {**search.description(), "data": data, **_split(dataset)}) as history:
        session = Session(search, jobs, deadline.left)
        result_of = partial(result, dataset, history, session, (train, test))

        def told(progress: Progress) -> None:
            report(progress)
            if watch is not None:
                watch(result_of(Reevaluation(), interrupted=True))

        finals = Reevaluation()
        with suppress(KeyboardInterrupt):
            if not _over(history, budget):
                optimizer, candidates = new_search(task, search, budget.trials)
                proposals = Proposals(optimizer, candidates, history, search.measure)
                logger.info("searching on %s rows%s", f"{len(train):,}", _limits(budget))
                reserve = partial(finals_seconds, search=search, finish=finish, jobs=jobs)
                with evaluations(executor, jobs) as submit:
                    loop = Loop(proposals, history, part, search, budget, submit, told, deadline, reserve)
                    if loop.run(jobs):
                        return result_of(finals, interrupted=True)
            after = deadline.share(held_out_seconds(history.trials, search, finish, jobs))
            before = replace(session, left=lambda: deadline.left() - after)
            finals = run_finals(history.trials, part, before, finish, history.predictions, history)
            return result_of(finals, interrupted=False)
        return result_of(finals, interrupted=True)


def _limits(budget: Budget) -> str:
    """When a search ends at the latest, in words."""
    trials = "" if budget.trials is None else f", {counted(budget.trials, 'trials')} in all"
    return trials + ("" if budget.seconds is None else f", within {budget.seconds:g} s")


def _over(history: TrialHistory, budget: Budget) -> bool:
    """Whether the trials are all there, and have ended."""
    full = budget.trials is not None and len(history.trials) >= budget.trials
    return full and all(trial.evaluation is not None for trial in history.trials)


def _split(dataset: Dataset) -> dict[str, str]:
    """The split in a history; empty for random splits."""
    return {} if dataset.split is None else {"split": str(dataset.split)}


def _default_folder(dataset: Dataset, search: Search) -> Path:
    key = digest(dataset.content_hash, repr(sorted((search.description() | _split(dataset)).items())))
    return cache_directory() / "tune" / f"{dataset.name}-{key}"
