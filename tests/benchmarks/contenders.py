"""Contenders of `equal_time`: each fits the training rows of a table in a process of its own.

    python -m tests.benchmarks.contenders JOB

JOB is a `Job` as JSON. The process keeps to one processor, fits, predicts the rows held out, and prints one
line of JSON: measures on those rows, and seconds of fitting by the clock and of the processor.

    tune, HeadstartClassifier    ours, in the time that they are given
    first, averaged              the first recommendation, and the average of the first three; no search
    portfolio                    the first of a greedy portfolio of the runs that ours are learned from
    catboost, lightgbm, ...      defaults
    flaml, autogluon             AutoML in the time that it is given
    smac                         SMAC3 on our space: trials of three folds, then the best on all rows

What ours learn from has no run on the table's family. Peers get categories, dates and texts as pandas types.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from ingest.flows import get_flow
from ingest.reading.column_types.roles import NOT_LEARNED_FROM, Role
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.predictions import Predictions
from ingest.running.resampling import Resampling, hold_out
from ingest.running.scorer import scorer_of
from metalearners import DEFAULT_LEARNER
from recommend.calibration import with_probabilities
from recommend.ranking import task as ranking_task
from recommend.ranking.averaging import weights_of
from recommend.ranking.candidates import find_candidates
from recommend.ranking.knowledge import gather
from recommend.ranking.task import describe_task
from recommend.recommender import recommended
from tests.benchmarks.autogluon_fit import end_with_parent
from warehouse.store import STARTER, Warehouse
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import ACCURACY, AUC, LOG_LOSS

MEASURES = (AUC, LOG_LOSS, ACCURACY)
HELD_OUT = 3
"""One row in so many is held out."""
DEFAULTS = ("catboost", "lightgbm", "random_forest", "logistic_regression")
TOP = 3
FOLDS, TRIAL_SECONDS, TRIAL_MEMORY = 3, 60.0, 4096
"""Folds and limits of a trial of SMAC's."""


@dataclass(frozen=True)
class Job:
    """One contender on one split of a table."""

    contender: str
    table: str
    """File."""
    target: str
    split: int
    """Seed of the rows held out."""
    seconds: float
    """Time for the fit."""
    told: str
    """Measure to be good at."""
    processor: int
    autogluon: str = ""
    """Python of an environment with AutoGluon."""
    by_processor: bool = False
    """Whether the time of FLAML and AutoGluon is the processor's and not the clock's."""


@dataclass(frozen=True)
class Table:
    """The rows of a job."""

    job: Job
    dataset: Dataset
    train: Positions
    test: Positions
    codes: Positions
    """(n,) class of each row."""

    @property
    def part(self) -> Dataset:
        """The training rows."""
        return self.dataset.take(self.train)

    @property
    def n_classes(self) -> int:
        return self.dataset.n_classes

    def in_order(self, probabilities: Floats, classes: Any) -> Floats:
        """(rows, k) probabilities of all classes; those without a training row have 0."""
        found = np.zeros((len(probabilities), self.n_classes))
        found[:, np.asarray(classes, dtype=np.intp)] = probabilities
        return found


Fit = Callable[[Table], Callable[[], Floats]]
"""Fits the training rows; what it returns predicts the rows held out, (rows, k) probabilities."""


# ---- ours ----------------------------------------------------------------------------------------


def tuned(table: Table) -> Callable[[], Floats]:
    from recommend.bo.tuning import Budget, Search, tune
    from recommend.bo.tuning.artifacts import fitted as fitted_on_all_rows

    job = table.job
    with TemporaryDirectory() as folder:
        found = tune(
            table.part,
            Search(measure=job.told, seed=job.split),
            Budget(seconds=job.seconds),
            warehouse=Warehouse.open(STARTER),
            folder=Path(folder),
        )
        return _of_labels(table, fitted_on_all_rows(found))


def classified(table: Table) -> Callable[[], Floats]:
    from recommend.estimators import HeadstartClassifier

    job, features = table.job, table.dataset.features
    classifier = HeadstartClassifier(job.seconds, measure=job.told, warehouse=STARTER, random_state=job.split)
    classifier.fit(features.iloc[table.train], table.codes[table.train])
    return lambda: table.in_order(classifier.predict_proba(features.iloc[table.test]), classifier.classes_)


def first_of(learner: str) -> Fit:
    """The first recommendation of a learner alone."""
    return lambda table: _together(table, {ranked(table, learner)[0]: 1.0})


def averaged(table: Table) -> Callable[[], Floats]:
    return _together(table, weights_of(ranked(table)))


def ranked(table: Table, learner: str = DEFAULT_LEARNER) -> list[Configuration]:
    """The first configurations recommended for the training rows."""
    warehouse = Warehouse.open(STARTER)
    known = gather(describe_task(table.part, warehouse=warehouse, measure=table.job.told, learner=learner))
    return [item.configuration for item in recommended(known, find_candidates(known), TOP).configurations]


def _together(table: Table, members: dict[Configuration, float]) -> Callable[[], Floats]:
    from recommend.code.models import plain_model

    return _of_labels(table, plain_model(members, table.part, seed=table.job.split))


def _of_labels(table: Table, model: Any) -> Callable[[], Floats]:
    """Predictions of a model that answers with labels."""

    def predict() -> Floats:
        rows = table.dataset.features.iloc[table.test]
        labels = table.dataset.target.cat.categories.astype(str)
        return table.in_order(model.predict_proba(rows), labels.get_indexer(pd.Index(model.classes_)))

    return predict


# ---- peers ---------------------------------------------------------------------------------------


def default_of(name: str) -> Fit:
    """The default of a library."""

    def fit(table: Table) -> Callable[[], Floats]:
        return fitted(table, Configuration(name, get_flow(name).default()))

    return fit


def fitted(table: Table, configuration: Configuration) -> Callable[[], Floats]:
    """Fit the pipeline of a configuration."""
    features, flow = table.dataset.features, get_flow(configuration.algorithm)
    pipeline = with_probabilities(
        flow.pipeline(configuration.values, table.dataset.roles, seed=table.job.split)
    )
    pipeline.fit(features.iloc[table.train], table.codes[table.train])
    return lambda: table.in_order(pipeline.predict_proba(features.iloc[table.test]), pipeline.classes_)


def flaml(table: Table) -> Callable[[], Floats]:
    from flaml.automl import AutoML

    rows, job = typed_frame(table.dataset), table.job
    if job.by_processor:
        began = time.time()
        time.time = lambda: began + time.process_time()  # by which FLAML ends
    automl = AutoML()
    automl.fit(
        X_train=rows.iloc[table.train].reset_index(drop=True),
        y_train=table.codes[table.train],
        task="classification",
        metric=metric_of(job.told, table.n_classes),
        time_budget=job.seconds,
        n_jobs=1,
        seed=job.split,
        log_file_name="",
        verbose=0,
    )
    test = rows.iloc[table.test].reset_index(drop=True)
    return lambda: table.in_order(automl.predict_proba(test), automl.classes_)


def autogluon(table: Table) -> Callable[[], Floats]:
    job, script = table.job, Path(__file__).with_name("autogluon_fit.py")
    rows = typed_frame(table.dataset).set_axis([f"x{n}" for n in range(len(_learned(table.dataset)))], axis=1)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        rows.iloc[table.train].assign(y=table.codes[table.train]).to_parquet(place / "train.parquet")
        rows.iloc[table.test].to_parquet(place / "test.parquet")
        metric = metric_of(job.told, table.n_classes)
        clock = "processor" if job.by_processor else "wall"
        subprocess.run([job.autogluon, script, place, metric, str(job.seconds), clock], check=True)
        took = json.loads((place / "took.json").read_text())
        probabilities = pd.read_parquet(place / "probabilities.parquet")
    found = table.in_order(probabilities.to_numpy(), probabilities.columns.astype(int))
    return Predicted(found, took["seconds"], took["processor"])


def smac(table: Table) -> Callable[[], Floats]:
    from ingest.running.evaluation import Limits, evaluate
    from metalearners.encoding.scores import oriented
    from recommend.bo.candidates import SpaceCandidates
    from recommend.bo.simulation.peers import new_peer
    from recommend.bo.tuning import Search
    from recommend.bo.tuning.resampling import Splits
    from recommend.bo.tuning.setup import searched_flows
    from recommend.space import Space

    job, part = table.job, table.part
    end = time.monotonic() + job.seconds
    search = Search(measure=job.told, seed=job.split)
    space = Space(searched_flows(search))
    candidates = SpaceCandidates(space)
    optimizer = new_peer("smac", space, [], job.split, trials=10_000)
    splits = Splits(part, Resampling(FOLDS), job.split).of()
    best, chosen, took = -np.inf, None, 0.0
    # A fit on all rows takes about half of what the best one's three folds took.
    while (left := end - time.monotonic() - took / 2) > 1 and (asked := optimizer.ask()):
        configuration = candidates.configuration_of(asked[0])
        limits = Limits(min(TRIAL_SECONDS, left), TRIAL_MEMORY)
        evaluation = evaluate(configuration, part, [splits], limits, seed=job.split)
        value = evaluation.value(job.told)
        score = None if value is None else oriented(value, job.told)
        if score is not None and score > best:
            best, chosen, took = score, configuration, evaluation.seconds
        optimizer.tell(score, evaluation.seconds)
    if chosen is None:
        raise RuntimeError("no trial succeeded")
    return fitted(table, chosen)


def metric_of(measure: str, n_classes: int) -> str:
    """The name that FLAML and AutoGluon know the measure by."""
    area = "roc_auc" if n_classes == 2 else "roc_auc_ovr_weighted"
    return {AUC: area, LOG_LOSS: "log_loss", ACCURACY: "accuracy"}[measure]


def typed_frame(dataset: Dataset) -> pd.DataFrame:
    """The columns that are learned from, with the pandas types that tell what they are."""
    columns = {}
    for name, role in _learned(dataset).items():
        column = dataset.features[name]
        if role in (Role.categorical, Role.boolean):
            words = column.astype(object).map(str).where(column.notna(), None)
            columns[name] = words.astype("category")
        else:
            columns[name] = column.astype("float64") if role is Role.numeric else column
    return pd.DataFrame(columns)


def _learned(dataset: Dataset) -> dict[str, Role]:
    return {name: role for name, role in dataset.roles.items() if role not in NOT_LEARNED_FROM}


@dataclass(frozen=True)
class Predicted:
    """Predictions of a fit in another process, with the seconds that it took there."""

    probabilities: Floats
    seconds: float
    processor: float

    def __call__(self) -> Floats:
        return self.probabilities


CONTENDERS: dict[str, Fit] = {
    "tune": tuned,
    "HeadstartClassifier": classified,
    "first": first_of(DEFAULT_LEARNER),
    "averaged": averaged,
    "portfolio": first_of("portfolio"),
    **{name: default_of(name) for name in DEFAULTS},
    "flaml": flaml,
    "autogluon": autogluon,
    "smac": smac,
}
OURS = ("tune", "HeadstartClassifier", "first", "averaged")
UNTIMED = ("first", "averaged", "portfolio", *DEFAULTS)
"""Contenders that take what they take, whatever time the others have."""
_IMPORTS = {
    "tune": ("recommend.bo.tuning.artifacts",),
    "HeadstartClassifier": ("recommend.estimators",),
    **dict.fromkeys(
        ("first", "averaged", "portfolio"), ("recommend.code.models", "catboost", "lightgbm", "xgboost")
    ),
    "flaml": ("flaml", "catboost", "lightgbm", "xgboost"),
    "smac": ("smac", "recommend.bo.simulation.peers"),
}
"""Modules that are imported before the time begins."""


# ---- one job -------------------------------------------------------------------------------------


def table_of(job: Job) -> Table:
    """The rows of a job."""
    dataset = load_dataset(job.table, target=job.target, rare_classes="drop")
    codes = scorer_of(dataset).outcomes(dataset.target)
    train, test = hold_out(codes, HELD_OUT, seed=job.split)
    return Table(job, dataset, train, test, codes)


def leave_out_family(dataset: Dataset) -> AbstractContextManager[object]:
    """A context in which nothing learns from runs on the dataset's family."""
    family = list(describe_task(dataset, warehouse=Warehouse.open(STARTER)).left_out)
    # A part of the rows is recognized as a near copy of the table, but not always.
    return patch.object(ranking_task, "near_copies_in", lambda warehouse, part: family)  # noqa: ARG005


def done(job: Job) -> dict[str, Any]:
    """Measures on the rows held out, and the seconds of the fit."""
    os.sched_setaffinity(0, {job.processor})
    end_with_parent()
    warnings.simplefilter("ignore")
    table = table_of(job)
    for module in _IMPORTS.get(job.contender, ()):
        __import__(module)
    with leave_out_family(table.dataset):
        if job.contender in OURS:
            ranked(table)  # so that the model without the family is trained before the time begins
        began, used = time.monotonic(), processor_seconds()
        predict = CONTENDERS[job.contender](table)
        took, used = time.monotonic() - began, processor_seconds() - used
    if isinstance(predict, Predicted):
        took, used = predict.seconds, predict.processor
    return {"measures": measured(table, predict()), "took": took, "processor": used}


def measured(table: Table, probabilities: Floats) -> dict[str, float]:
    found = Predictions(probabilities.argmax(axis=1), probabilities, can_be_averaged=True)
    values = scorer_of(table.dataset).measures([found], [table.codes[table.test]])
    return {measure: values[measure] for measure in MEASURES}


def of_shares(job: Job) -> dict[str, float]:
    """Measures where every row gets the classes' shares, which a contender without a model is given."""
    table = table_of(job)
    shares = np.bincount(table.codes[table.train], minlength=table.n_classes) / len(table.train)
    return measured(table, np.tile(shares, (len(table.test), 1)))


def processor_seconds() -> float:
    """Seconds of this process and of those of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    print(json.dumps(done(Job(**json.loads(sys.argv[1])))), flush=True)
