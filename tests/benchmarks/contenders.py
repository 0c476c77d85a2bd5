"""Contenders of `equal_time`: each fits the training rows of a table in its own process.

    python -m tests.benchmarks.contenders JOB

JOB is a `Job` as JSON. The process runs on one processor, fits, predicts the held-out rows, and prints one
line of JSON: measures on those rows, and the fit's seconds of wall-clock and processor time.

    tune, HeadstartClassifier    ours (or HeadstartRegressor), with the given time
    first, averaged              the first recommendation, and the average of the first three; no search
    portfolio                    the first of a greedy portfolio on the runs that ours learn from
    catboost, lightgbm, ...      defaults
    flaml, autogluon             AutoML with the given time
    smac                         SMAC3 on our space: trials of three folds, then the best on all rows

Ours learn from no run on the table's family. Peers get categories, dates and texts as pandas types.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from ingest.flows import flow_for, installed_flows
from ingest.running.resampling import Resampling
from metalearners import DEFAULT_LEARNER
from recommend.ranking.averaging import weights_of
from tests.benchmarks.autogluon_fit import end_with_parent
from tests.benchmarks.held_out import Table, TableFile, held_out, leave_out_family, ranked, typed_frame
from tests.benchmarks.task_kinds import KINDS, TaskKind
from warehouse.store import STARTER, Warehouse
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration

FOLDS, TRIAL_SECONDS, TRIAL_MEMORY = 3, 60.0, 4096
"""Folds and limits of SMAC's trials."""
SMAC_SECONDS = 600.0
"""Least time for SMAC, whose trials are whole cross-validations."""


@dataclass(frozen=True)
class Job:
    """One contender on one split of a table."""

    contender: str
    table: str
    """Path of the file."""
    target: str | None
    split: int
    """Seed of the held-out rows."""
    seconds: float
    """Time for the fit."""
    told: str
    """Measure to optimize."""
    processor: int
    autogluon: str = ""
    """Python of an environment with AutoGluon."""
    by_processor: bool = False
    """Whether the time limit of FLAML and AutoGluon is in processor time, not wall-clock time."""
    task: str = "classification"
    """A name of `tests.benchmarks.task_kinds.KINDS`."""
    family: str = ""
    """Family of the table."""

    def rows(self) -> Table:
        """The table with its held-out rows."""
        return held_out(TableFile(self.table, self.target, self.family), KINDS[self.task], self.split)


Predict = Callable[[], Floats]
"""Predicts the held-out rows: (rows, k) scores."""
Fit = Callable[[Job, Table], Predict]
"""Fits the training rows."""


@dataclass(frozen=True)
class Contender:
    """One contender."""

    fit: Fit
    is_timed: bool = False
    """Whether it uses the given time; others take as long as they need."""
    is_ours: bool = False
    """Whether it uses the default learner, whose model is trained before its time starts."""
    imports: tuple[str, ...] = ()
    """Modules imported before its time starts."""
    least_seconds: float = 0.0
    """Least time for it to take part."""


# ---- ours ----------------------------------------------------------------------------------------


def tuned(job: Job, table: Table) -> Predict:
    from recommend.bo.tuning import Budget, Search, tune
    from recommend.bo.tuning.artifacts import fitted

    flows = installed_flows(table.kind.task_type)
    with TemporaryDirectory() as folder:
        found = tune(
            table.part,
            Search(flows, job.told, seed=job.split),
            Budget(seconds=job.seconds),
            warehouse=Warehouse.open(STARTER),
            folder=Path(folder),
        )
        return partial(table.scores, table.kind.coded(fitted(found), table.dataset))


def estimated(job: Job, table: Table) -> Predict:
    from recommend import estimators

    new = getattr(estimators, table.kind.estimator)
    estimator = new(job.seconds, scoring=job.told, warehouse=STARTER, random_state=job.split)
    estimator.fit(table.dataset.features.iloc[table.train], table.outcomes[table.train])
    return partial(table.scores, estimator)


def first_of(learner: str) -> Fit:
    """The first recommendation of a learner, without a search."""
    return lambda job, table: partial(table.scores, table.fitted(recommended_to(job, table, learner)[0]))


def averaged(job: Job, table: Table) -> Predict:
    weights = weights_of(recommended_to(job, table))
    models = [table.fitted(one) for one in weights]
    return lambda: table.scorer.average([table.scores(one) for one in models], [*weights.values()]).scores


def recommended_to(job: Job, table: Table, learner: str = DEFAULT_LEARNER) -> list[Configuration]:
    """The first configurations recommended for the training rows."""
    return [item.configuration for item in ranked(table, job.told, Warehouse.open(STARTER), learner)]


# ---- peers ---------------------------------------------------------------------------------------


def default_of(name: str) -> Fit:
    """The default configuration of a library."""

    def fit(job: Job, table: Table) -> Predict:  # noqa: ARG001
        flow = flow_for(name, table.kind.task_type)
        return partial(table.scores, table.fitted(Configuration(flow.name, flow.default())))

    return fit


def flaml(job: Job, table: Table) -> Predict:
    from flaml.automl import AutoML

    rows = typed_frame(table.dataset)
    if job.by_processor:
        began = time.time()
        time.time = lambda: began + time.process_time()  # FLAML's clock for its time limit
    automl = AutoML()
    automl.fit(
        X_train=rows.iloc[table.train].reset_index(drop=True),
        y_train=table.outcomes[table.train],
        task=table.kind.name,
        metric=table.kind.peer_metric(job.told, table.dataset.n_classes),
        time_budget=job.seconds,
        n_jobs=1,
        seed=job.split,
        log_file_name="",
        verbose=0,
    )
    return partial(table.scores, automl, rows)


def autogluon(job: Job, table: Table) -> Predict:
    script, rows = Path(__file__).with_name("autogluon_fit.py"), typed_frame(table.dataset)
    metric = table.kind.peer_metric(job.told, table.dataset.n_classes)
    clock = "processor" if job.by_processor else "wall"
    with TemporaryDirectory() as folder:
        place = Path(folder)
        rows.iloc[table.train].assign(y=table.outcomes[table.train]).to_parquet(place / "train.parquet")
        rows.iloc[table.test].to_parquet(place / "test.parquet")
        subprocess.run(
            [job.autogluon, script, place, metric, str(job.seconds), clock, table.kind.problem_type],
            check=True,
        )
        took = json.loads((place / "took.json").read_text())
        scores = pd.read_parquet(place / "scores.parquet")
    found = table.of_columns(scores.to_numpy(), scores.columns.astype(int))
    return Predicted(found, took["seconds"], took["processor"])


def smac(job: Job, table: Table) -> Predict:
    from ingest.running.evaluation import Limits, evaluate
    from metalearners.encoding.scores import oriented
    from recommend.bo.candidates import SpaceCandidates
    from recommend.bo.simulation.peers import new_peer
    from recommend.bo.tuning import Search
    from recommend.bo.tuning.resampling import Splits
    from recommend.bo.tuning.setup import searched_flows
    from recommend.space import Space

    part = table.part
    end = time.monotonic() + job.seconds
    search = Search(installed_flows(table.kind.task_type), job.told, seed=job.split)
    space = Space(searched_flows(search))
    candidates = SpaceCandidates(space)
    optimizer = new_peer("smac", space, [], job.split, trials=10_000)
    splits = Splits(part, Resampling(FOLDS), job.split).of()
    best, chosen, took = -np.inf, None, 0.0
    # A fit on all rows takes about half as long as the three folds of the best trial.
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
    return partial(table.scores, table.fitted(chosen))


@dataclass(frozen=True)
class Predicted:
    """Predictions of a fit in another process, with its seconds there."""

    scores: Floats
    seconds: float
    processor: float

    def __call__(self) -> Floats:
        return self.scores


def contenders_of(kind: TaskKind) -> Mapping[str, Contender]:
    """Contenders by name; all others are compared with the first."""
    boosters = ("catboost", "lightgbm", "xgboost")
    return {
        "tune": Contender(tuned, True, True, ("recommend.bo.tuning.artifacts",)),
        kind.estimator: Contender(estimated, True, True, ("recommend.estimators",)),
        "first": Contender(first_of(DEFAULT_LEARNER), is_ours=True, imports=boosters),
        "averaged": Contender(averaged, is_ours=True, imports=boosters),
        "portfolio": Contender(first_of("portfolio"), imports=boosters),
        **{name: Contender(default_of(name)) for name in kind.defaults},
        "flaml": Contender(flaml, True, imports=("flaml", *boosters)),
        "autogluon": Contender(autogluon, True),
        "smac": Contender(
            smac, True, imports=("smac", "recommend.bo.simulation.peers"), least_seconds=SMAC_SECONDS
        ),
    }


# ---- one job -------------------------------------------------------------------------------------


def done(job: Job) -> dict[str, Any]:
    """Measures on the held-out rows, and the seconds of the fit."""
    os.sched_setaffinity(0, {job.processor})
    end_with_parent()
    warnings.simplefilter("ignore")
    table = job.rows()
    contender = contenders_of(table.kind)[job.contender]
    for module in contender.imports:
        __import__(module)
    with leave_out_family(table.dataset, job.family, Warehouse.open(STARTER)):
        if contender.is_ours:
            recommended_to(job, table)  # trains the model without the family
        began, used = time.monotonic(), processor_seconds()
        predict = contender.fit(job, table)
        took, used = time.monotonic() - began, processor_seconds() - used
    if isinstance(predict, Predicted):
        took, used = predict.seconds, predict.processor
    return {"measures": judged(table, predict()), "took": took, "processor": used}


def judged(table: Table, scores: Floats) -> dict[str, float]:
    """The reported measures of a contender."""
    measures = table.measured(scores)
    return {measure: measures[measure] for measure in table.kind.judged}


def without_model(job: Job) -> dict[str, float]:
    """The measures of a contender without a model; NaN if the table can't be used."""
    try:
        table = job.rows()
    except BadInput:
        return dict.fromkeys(KINDS[job.task].judged, float("nan"))
    return judged(table, table.without_model())


def processor_seconds() -> float:
    """Seconds of this process and of its finished children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    print(json.dumps(done(Job(**json.loads(sys.argv[1])))), flush=True)
