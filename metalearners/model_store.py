"""Store of models: a model is loaded if it was trained before (`metalearners.stored_model`), else trained.

Models are looked for in the warehouse's folder `models`, some of which come with the bundled starter, then in
the user's cache. A new model is stored in the first of these that is writable.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pandas as pd

from metalearners import DEFAULT_LEARNER, new_learner
from metalearners.codec import Arrays, decode, encode
from metalearners.encoding.training_data import (
    TrainingData,
    same_data,
    training_data,
    without_datasets,
)
from metalearners.fit_times import FitTimes, learn_fit_times
from metalearners.learners.base import LongTraining, MetaLearner, Model, Round, Watch
from metalearners.learners.calibrated import CalibratedLearner, CalibratedModel
from metalearners.learners.functional_pca import FunctionalPCA
from metalearners.model_files import (
    check_can_keep,
    folders_for,
    keep,
    kept,
    places,
    read_arrays,
    read_content,
)
from metalearners.samples import learned_runs
from metalearners.stored_model import FORMAT, VERSION, ModelOrigin, StoredModel, load_model
from metalearners.values_for_use import values_for_use
from warehouse.questions.queries import RunTable
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import (
    BadOption,
    DamagedModel,
    Failed,
    UnusableWarehouse,
)
from warehouse.support.text import counted
from warehouse.vocabulary.measures import canonical_measure
from warehouse.vocabulary.task_types import CLASSIFICATION, TASK_TYPES, TaskType

logger = logging.getLogger(__name__)


FIT_TIMES_FORMAT = "headstart.fit-times"
FIT_TIMES_VERSION = 3
"""Version of the model of running times; see `VERSION`."""

_LONG = 1.0
"""Trainings expected to take at least this many seconds are announced."""


def trained_model(
    warehouse: Warehouse,
    learner: str = DEFAULT_LEARNER,
    measure: str = "predictive_accuracy",
    flow: str | None = None,
    leave_out: Collection[str] | None = None,
    *,
    task_type: TaskType = CLASSIFICATION,
    only: Collection[str] = (),
    settings: Mapping[str, Any] | None = None,
    report: Callable[[Round], None] | None = None,
    must_be_stored: bool = False,
) -> StoredModel:
    """The model of these runs: loaded if it was trained before, else trained and stored now.

    From a `FunctionalPCA` of all datasets, found or trained, datasets are removed in a fraction of a second,
    and nothing is stored. A `CalibratedLearner` is fitted again with the calibration of the model of all
    datasets. If all runs added since an earlier model was trained are on left-out datasets, training would
    give that model again, so it is returned.

    Args:
        measure: a name or an alias of `warehouse.vocabulary.measures`.
        task_type: of the runs.
        leave_out: datasets whose runs, and those on their near copies, the model must not see.
        only: flows to learn from, selected from the runs of all flows; empty = all.
        settings: of the learner; the others keep their defaults.
        report: called with the progress of a long training. An interrupted one resumes.
        must_be_stored: raise before training if no folder is writable; else the model is returned without a
            path.

    Raises:
        BadInput: unknown learner, flow or measure, no runs to learn from, or no place to store the model.
        Failed: this version of Headstart can't read the model that it wrote.
    """
    untrained = new_learner(learner, settings)
    origin = replace(
        _origin(warehouse, untrained, learner, measure, task_type, only),
        flow=f"openml:{flow}" if flow is not None and flow.isdecimal() else flow,
        left_out=tuple(sorted(leave_out or ())),
    )
    if (stored := _stored(origin, warehouse)) is not None:
        return stored
    of_all: StoredModel | None = None
    refits = untrained if isinstance(untrained, CalibratedLearner) else None
    if origin.left_out and (refits or issubclass(untrained.model, FunctionalPCA)):
        is_kept = refits or _is_kept(replace(origin, left_out=()), warehouse)
        if not is_kept and (earlier := _earlier_model(origin, warehouse)) is not None:
            return earlier
        of_all = trained_model(
            warehouse,
            learner,
            measure,
            flow,
            task_type=task_type,
            only=only,
            settings=settings,
            report=report,
        )
        if (without := _without(of_all, origin, warehouse)) is not None:
            return without
    if must_be_stored:
        check_can_keep(warehouse)
    if of_all is not None and refits is not None:
        calibration = cast("CalibratedModel", of_all.fitted).calibration
        refit = partial(refits.refit, calibration, _with_families(origin, warehouse))
        # The time of a refit says nothing about a training.
        return _store(replace(_train(refit, origin, warehouse), seconds=None), warehouse)
    learn = untrained.fit
    if isinstance(untrained, LongTraining):
        learn = partial(untrained.fit, watch=_watch(origin, folders_for(warehouse)[0], report))
    pace = _seconds_per_run(origin.learner, [*places(warehouse), STARTER / "models"])
    trained = _store(_train(learn, origin, warehouse, pace), warehouse)
    _forget_earlier(trained, warehouse)
    return trained


def is_trained(
    warehouse: Warehouse,
    learner: str,
    measure: str,
    *,
    task_type: TaskType,
    only: Collection[str],
    settings: Mapping[str, Any] | None,
) -> bool:
    """Whether a model of all datasets for these arguments of `trained_model` is on the disk."""
    untrained = new_learner(learner, settings)
    return _is_kept(_origin(warehouse, untrained, learner, measure, task_type, only), warehouse)


def _origin(
    warehouse: Warehouse,
    untrained: MetaLearner,
    learner: str,
    measure: str,
    task_type: TaskType,
    only: Collection[str],
) -> ModelOrigin:
    """The origin of a model of all datasets."""
    return ModelOrigin(
        learner=learner,
        settings=untrained.settings,
        measure=canonical_measure(measure),
        flow=None,
        left_out=(),
        warehouse_version=warehouse.version,
        warehouse_fingerprint=warehouse.fingerprint,
        only=tuple(sorted(only)),
        task_type=task_type.name,
    )


def _is_kept(origin: ModelOrigin, warehouse: Warehouse) -> bool:
    """Whether there is a folder of a model of this origin."""
    return any((place / origin.key).is_dir() for place in places(warehouse))


def _stored(origin: ModelOrigin, warehouse: Warehouse) -> StoredModel | None:
    """The stored model of this origin; None if there is none, or it is damaged."""

    def read(path: Path) -> StoredModel:
        stored = load_model(path)
        if stored.origin.key != origin.key:
            raise DamagedModel(f"{path} belongs to other runs or settings")
        return stored

    return kept(origin.key, warehouse, read, "training it again")


def updated_model(path: str | Path, warehouse: Warehouse, report: Callable[[Round], None]) -> StoredModel:
    """The model in the directory `path`, trained further on all runs of `warehouse`, and stored.

    `trained_model` then finds it as the model of these runs.

    Args:
        path: the directory, or its name if it lies in a folder of models of the warehouse or the cache.
        report: called with the progress.

    Raises:
        BadInput: there is no such model, its learner can only be trained from the start, or the new one
            can't be stored.
    """
    named = [place / Path(path).name for place in places(warehouse)]
    before = load_model(next((model for model in [Path(path), *named] if model.is_dir()), path))
    learner = new_learner(before.origin.learner, before.origin.settings)
    if not isinstance(learner, LongTraining):
        raise BadOption(f"a model of {before.origin.learner} can't be updated; `metalearners train` is quick")
    if before.origin.warehouse_fingerprint == warehouse.fingerprint:
        return before
    origin = replace(
        before.origin, warehouse_version=warehouse.version, warehouse_fingerprint=warehouse.fingerprint
    )
    check_can_keep(warehouse)
    watch = _watch(origin, folders_for(warehouse)[0], report)
    learn = partial(learner.update, before.fitted, watch=watch)
    updated = replace(_train(learn, origin, warehouse), updated_from=before.origin.key)
    return _store(updated, warehouse)


def trained_fit_times(warehouse: Warehouse, *, task_type: TaskType = CLASSIFICATION) -> FitTimes:
    """The model of running times from the warehouse's runs: loaded from disk, else learned and stored.

    Raises:
        BadInput: no run is timed.
    """
    # Classification adds nothing: earlier versions had no other type, and their files keep their names.
    runs = warehouse.fingerprint + ("" if task_type is CLASSIFICATION else task_type.name)
    name = f"fit_times.{hashlib.sha256(runs.encode()).hexdigest()[:16]}"
    if (known := kept(name, warehouse, _read_fit_times, "learning it again")) is not None:
        return known
    times = learn_fit_times(warehouse.fit_times(task_type=task_type), warehouse.metafeatures())
    state, arrays = encode(times)
    _check_readable(FitTimes, state, arrays)
    content = {"format": FIT_TIMES_FORMAT, "version": FIT_TIMES_VERSION, "state": state}
    keep(name, content, arrays, warehouse)
    return times


def _read_fit_times(path: Path) -> FitTimes:
    try:
        content = read_content(path, FIT_TIMES_FORMAT, FIT_TIMES_VERSION)
        return decode(FitTimes, content["state"], read_arrays(path, content))
    except (KeyError, TypeError, DamagedModel) as error:
        raise DamagedModel(f"{path}: {error}") from error


def _train(
    learn: Callable[[RunTable, pd.DataFrame], Model],
    origin: ModelOrigin,
    warehouse: Warehouse,
    pace: float | None = None,
) -> StoredModel:
    """Apply `learn` to the runs of `origin`; announced if it takes long.

    Args:
        pace: expected seconds per run; None = unknown.
    """
    runs, known = _learned_from(origin, warehouse)
    runs_on = runs.runs["dataset"].value_counts(sort=False).to_dict()
    seconds = None if pace is None else pace * len(runs.runs)
    if seconds is None or seconds >= _LONG:
        expected = "" if seconds is None else f", about {seconds:.0f} s"
        logger.info(
            "training %s on %s on %s%s",
            origin.learner,
            counted(len(runs.runs), "runs"),
            counted(len(runs_on), "datasets"),
            expected,
        )
    began = time.process_time()
    fitted = learn(runs, known)
    return StoredModel(
        origin,
        fitted,
        runs_on={str(dataset): int(count) for dataset, count in runs_on.items()},
        seconds=round(time.process_time() - began, 2),
    )


def _earlier_model(origin: ModelOrigin, warehouse: Warehouse) -> StoredModel | None:
    """A model of an earlier version of the warehouse with the learner and settings of `origin`, or None.

    Its training data must be identical to those of `origin`.
    """
    now: TrainingData | None = None
    for path, known, _ in _models_of(origin.learner, [*places(warehouse), STARTER / "models"]):
        version = known.warehouse_version
        if known != replace(_at(known, origin), left_out=()) or version >= warehouse.version:
            continue
        with suppress(DamagedModel, UnusableWarehouse):
            before = Warehouse.open(warehouse.location, version=version)
            if before.fingerprint != known.warehouse_fingerprint:  # a model of another warehouse
                continue
            now = now or training_data(*_learned_from(origin, warehouse))
            if same_data(training_data(*_learned_from(known, before)), now):
                return load_model(path)
    return None


def _models_of(learner: str, places: Sequence[Path]) -> Iterator[tuple[Path, ModelOrigin, dict[str, Any]]]:
    """Folder, origin and content of each readable model of a learner."""
    for place in places:
        for path in sorted(place.glob(f"{learner}-*")):
            with suppress(DamagedModel, KeyError):
                content = read_content(path, FORMAT, VERSION)
                origin = decode(ModelOrigin, content["origin"], {})
                if origin.learner == learner:
                    yield path, origin, content


def _at(other: ModelOrigin, origin: ModelOrigin) -> ModelOrigin:
    """`origin` with the version of the runs of the other."""
    version, fingerprint = other.warehouse_version, other.warehouse_fingerprint
    return replace(origin, warehouse_version=version, warehouse_fingerprint=fingerprint)


def _learned_from(origin: ModelOrigin, warehouse: Warehouse) -> tuple[RunTable, pd.DataFrame]:
    """The runs that `origin` names, with values for use, and meta-features of their datasets."""
    task_type = TASK_TYPES[origin.task_type]
    runs = learned_runs(warehouse, origin.flow, origin.measure, task_type=task_type, only=origin.only)
    runs = values_for_use(without_datasets(runs, origin.left_out))
    return runs, warehouse.metafeatures().drop(index=list(origin.left_out), errors="ignore")


def _without(model: StoredModel, origin: ModelOrigin, warehouse: Warehouse) -> StoredModel | None:
    """The model of all runs without the datasets left out by `origin`; None if that needs training."""
    left_out = _with_families(origin, warehouse)
    fitted = model.fitted.without(left_out) if isinstance(model.fitted, FunctionalPCA) else None
    if fitted is None:
        return None
    rest = {dataset: runs for dataset, runs in model.runs_on.items() if dataset not in left_out}
    return StoredModel(origin, fitted, rest)


def _with_families(origin: ModelOrigin, warehouse: Warehouse) -> set[str]:
    """The datasets left out by `origin`, and the others of their families."""
    families = warehouse.sql(_FAMILIES, {"datasets": list(origin.left_out)})["dataset"]
    return {*origin.left_out, *families}


_FAMILIES = """
SELECT dataset FROM datasets
WHERE family IN (SELECT family FROM datasets WHERE list_contains($datasets, dataset))
"""


def _seconds_per_run(learner: str, places: Sequence[Path]) -> float | None:
    """Training time per run of the first stored model of this learner that has one, or None."""
    for _, _, content in _models_of(learner, places):
        seconds, runs = content.get("seconds"), content.get("runs")
        if seconds and runs:
            return float(seconds / sum(runs.values()))
    return None


def _watch(origin: ModelOrigin, folder: Path, report: Callable[[Round], None] | None) -> Watch:
    """The progress of a training, saved in `folder`."""
    return Watch(folder / f".{origin.key}.training.npz", report)


def _store(model: StoredModel, warehouse: Warehouse) -> StoredModel:
    """Store the model. If that fails, it is returned without a path.

    Raises:
        Failed: this version can't read what it wrote.
    """
    content, arrays = model.files()
    learner = new_learner(model.origin.learner, model.origin.settings)
    _check_readable(learner.model, content["state"], arrays)
    return replace(model, path=keep(model.origin.key, content, arrays, warehouse))


def _check_readable(wanted: type[Any], state: Mapping[str, Any], arrays: Arrays) -> None:
    """Check that what is to be stored can be read; else every call would find it damaged and learn it again.

    Raises:
        Failed: it can't be read, which is a bug in Headstart.
    """
    try:
        decode(wanted, state, arrays)
    except DamagedModel as error:
        raise Failed(
            f"this version of Headstart can't read the {wanted.__name__} that it wrote ({error}); please"
            " report this error, with the versions of Python and NumPy"
        ) from error


def _forget_earlier(model: StoredModel, warehouse: Warehouse) -> None:
    """Remove the warehouse's models that differ from `model` only by an earlier version of the runs."""
    if model.path is None or model.path.parent != warehouse.models:
        return
    for path, origin, _ in [*_models_of(model.origin.learner, [warehouse.models])]:
        is_earlier = origin.warehouse_version < model.origin.warehouse_version
        if is_earlier and model.origin == _at(model.origin, origin):
            warehouse.remove_model(path)
