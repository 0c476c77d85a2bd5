"""Knowledge for a ranking task: runs, the model trained on them, and trials on the dataset itself.

All queries are made here, once, in this order; later steps only compute.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pandas as pd

from ingest.metafeatures import compute_metafeatures, importing_ahead
from ingest.reading.datasets import Dataset
from metalearners import DEFAULT_LEARNER
from metalearners.encoding.scores import learned_form, oriented, standard_scores
from metalearners.encoding.training_data import without_datasets
from metalearners.model_store import is_trained, trained_fit_times, trained_model
from metalearners.predictions import Predictor
from metalearners.samples import learned_runs
from metalearners.stored_model import StoredModel
from metalearners.values_for_use import values_for_use
from recommend.ranking.dataset_runs import (
    OwnTrials,
    failures_on,
    own_trials,
    runs_on,
    test_rows_on,
)
from recommend.ranking.fit_cost import DatasetFitTimes, as_fitted
from recommend.ranking.task import RankingTask
from warehouse.questions.queries import RunTable
from warehouse.questions.sampling import TASKS
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput
from warehouse.vocabulary.qualities import GROUPS

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Knowledge:
    """Knowledge for a task, before anything is chosen."""

    task: RankingTask
    metafeatures: pd.Series
    """Quality -> value: the simple ones and those that the model uses."""
    model: StoredModel
    """The meta-learner's model, trained without runs on this dataset."""
    only: frozenset[str]
    """Flows to whose runs training is restricted; empty = all."""
    all_runs: RunTable
    """All usable runs, including those on the dataset itself, with values for use."""
    other_runs: RunTable
    """The runs on other datasets, on which the model is trained."""
    runs: RunTable
    """The runs that candidates come from: `all_runs` if there are trials, else `other_runs`."""
    scores: Floats
    """(m,) standard score of each of `runs`."""
    own_runs: pd.DataFrame
    """The usable runs on the dataset itself, with `recommend.ranking.dataset_runs.COLUMNS`."""
    own_test_rows: Mapping[str, int]
    """Task of these -> number of test rows of its runs."""
    trials: OwnTrials | None
    """These runs as trials; None if there are none."""
    failures: Mapping[str, str]
    """Setup -> outcome of the configurations whose runs on the dataset itself all failed."""
    fit_times: DatasetFitTimes | None
    """Predicted running times; None if no run is timed."""
    qualities: pd.DataFrame
    """(datasets, qualities) of the warehouse's datasets that are not left out."""
    names: Mapping[str, str]
    """Key -> name of the warehouse's datasets."""

    @cached_property
    def predictor(self) -> Predictor:
        """The model, conditioned on the trials."""
        fitted = self.model.fitted
        return fitted if self.trials is None else fitted.condition(self.trials.observations)


_ALGORITHMS_WITH_RUNS = """
SELECT DISTINCT coalesce(f.algorithm, f.flow) AS algorithm FROM flows f JOIN evaluations e USING (flow)
WHERE list_contains($flows, coalesce(f.algorithm, f.flow)) AND e.measure = $measure AND e.value IS NOT NULL
ORDER BY algorithm
"""


_DATASETS = f"SELECT DISTINCT dataset FROM {TASKS}"
_NAMES = "SELECT dataset, name FROM datasets"


def gather(task: RankingTask) -> Knowledge:
    """Get the runs and the model from the warehouse, and the meta-features that the model uses.

    Raises:
        BadInput: there are no runs to learn from.
    """
    with importing_ahead():  # queries run without Python's lock
        only, recorded = runs_that_count(task)
    all_runs = values_for_use(recorded)
    other_runs = without_datasets(all_runs, task.left_out.keys())
    own_runs = runs_on(recorded, task.own)
    test_rows = test_rows_on(task.warehouse, task.own) if task.own else {}
    trials = own_trials(own_runs, all_runs.configurations, task.measure, test_rows)
    runs = other_runs if trials is None else all_runs
    values = oriented(runs.runs["value"].to_numpy(), task.measure)
    model = model_for(task, only, task.learner or DEFAULT_LEARNER)
    metafeatures = describe(task.dataset, model)
    return Knowledge(
        task=task,
        metafeatures=metafeatures,
        model=model,
        only=only,
        all_runs=all_runs,
        other_runs=other_runs,
        runs=runs,
        scores=standard_scores(learned_form(values, task.measure), pd.factorize(runs.runs["dataset"])[0]),
        own_runs=own_runs,
        own_test_rows=test_rows,
        trials=trials,
        failures=failures_on(task.warehouse, task.own) if task.own else {},
        fit_times=fit_times_for(task, metafeatures),
        qualities=_qualities(task),
        names={row["dataset"]: str(row["name"]) for row in task.warehouse.arrow(_NAMES).to_pylist()},
    )


def _qualities(task: RankingTask) -> pd.DataFrame:
    """(datasets, qualities) of the datasets with tasks of the task's type that are not left out."""
    found = task.warehouse.arrow(_DATASETS, {"task_type": task.dataset.task_type.name})
    qualities = task.warehouse.metafeatures()
    kept = qualities.index.isin(found["dataset"].to_pylist()) & ~qualities.index.isin(list(task.left_out))
    return qualities.loc[kept].dropna(axis=1, how="all")


def fit_times_for(task: RankingTask, metafeatures: pd.Series) -> DatasetFitTimes | None:
    """Predicted running times on the task's dataset with these meta-features; None if no run is timed."""
    try:
        model = trained_fit_times(task.warehouse, task_type=task.dataset.task_type)
    except BadInput:  # no run is timed
        return None
    return DatasetFitTimes(model, as_fitted(metafeatures, task.dataset))


def runs_that_count(task: RankingTask) -> tuple[frozenset[str], RunTable]:
    """The flows to whose runs training is restricted (empty = all), and the runs with the measure.

    A warehouse with too many runs is sampled. If the sample has no run of the flows to choose from, training
    is restricted to these.
    """
    learned = partial(
        learned_runs,
        task.warehouse,
        None,
        task.measure,
        task_type=task.dataset.task_type,
        related=False,
        experiments_on=task.own,
    )
    of_all = learned()
    missing = task.flows - {*of_all.configurations.algorithms}
    if not of_all.is_sample or not missing:
        return frozenset(), of_all
    asked = {"flows": [*missing], "measure": task.measure}
    known = task.warehouse.arrow(_ALGORITHMS_WITH_RUNS, asked)["algorithm"].to_pylist()
    if missing < task.flows or not known:
        for name in known:
            logger.info("%s is not in the sample of runs: select it with --flow", name)
        return frozenset(), of_all
    only = frozenset(known)
    return only, learned(only=sorted(only))


def model_for(
    task: RankingTask, only: frozenset[str], learner: str, settings: Mapping[str, Any] | None = None
) -> StoredModel:
    """A learner's model without runs on the dataset; trained now unless it is stored.

    A model trained for the flows to choose from is preferred.

    Args:
        only: flows to whose runs training is restricted; empty = all.
        settings: of the learner; None = its defaults.
    """
    task_type = task.dataset.task_type
    of_flows = task.flows if task.flows and not only else None
    if of_flows is not None and is_trained(
        task.warehouse, learner, task.measure, task_type=task_type, only=of_flows, settings=settings
    ):
        only = of_flows
    return trained_model(
        task.warehouse,
        learner,
        task.measure,
        leave_out=task.left_out.keys(),
        task_type=task_type,
        only=only,
        settings=settings,
    )


def describe(dataset: Dataset, model: StoredModel | None = None) -> pd.Series:
    """Quality -> value: the simple meta-features of a dataset and those that the model uses."""
    qualities = {*GROUPS["simple"], *GROUPS["class"], *(model.fitted.qualities if model is not None else ())}
    return pd.Series(compute_metafeatures(dataset, qualities).values, dtype=float)
