"""Trained models with their origin, in memory and as a directory; reading one runs no code.

The name of the directory (`metalearners.model_files`) is a hash of everything that training depends on, so
equal runs and settings give the same directory.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from metalearners import new_learner
from metalearners.codec import Arrays, decode, encode
from metalearners.learners.base import Model
from metalearners.model_files import places, read_arrays, read_content, write_files
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, BadOption, DamagedModel, UnreadableInput
from warehouse.support.text import counted
from warehouse.vocabulary.task_types import CLASSIFICATION

logger = logging.getLogger(__name__)

FORMAT = "headstart.model"
VERSION = 8
"""Increased when the files change, or when the same runs and settings give another model."""

FIGURES = ("protocol", "datasets", "tau", "regret", "coverage", "shots")
"""Figures of an evaluation (`metalearners evaluate`) that are stored with a model."""

_LIBRARIES = ("lightgbm", "numpy", "pandas")


@dataclass(frozen=True)
class ModelOrigin:
    """Origin of a model: runs, learner and settings; equal origins give equal models."""

    learner: str
    settings: Mapping[str, Any]
    measure: str
    flow: str | None
    """None = the runs of all flows."""
    left_out: tuple[str, ...]
    """Datasets whose runs the model has not seen, sorted."""
    warehouse_version: int
    warehouse_fingerprint: str
    only: tuple[str, ...] = ()
    """Flows to learn from, selected from the runs of all flows; empty = all, or `flow`."""
    task_type: str = CLASSIFICATION.name
    """Name of the task type of the runs."""

    @property
    def key(self) -> str:
        """Name of the model's directory."""
        # The fingerprint includes the version.
        content = asdict(self) | {"warehouse_version": None, "format": VERSION}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return f"{self.learner}-{digest[:16]}"


@dataclass(frozen=True)
class StoredModel:
    """A model with its origin."""

    origin: ModelOrigin
    fitted: Model = field(repr=False)
    runs_on: Mapping[str, int] = field(repr=False)
    """Number of training runs by dataset."""
    path: Path | None = None
    """Its folder; None if it is not stored."""
    figures: Mapping[str, Any] | None = field(default=None, repr=False)
    """Figures of its evaluation on left-out datasets (`FIGURES`); None if not evaluated."""
    updated_from: str | None = None
    """Name of the model that was trained further; None = trained from the start."""
    seconds: float | None = None
    """Processor time of its training; None if unknown."""

    @property
    def runs(self) -> int:
        """Number of training runs."""
        return sum(self.runs_on.values())

    @property
    def datasets(self) -> int:
        """Number of training datasets."""
        return len(self.runs_on)

    def description(self) -> dict[str, Any]:
        """Description of the model in a seeds file: JSON values, equal for equal models."""
        origin = encode(self.origin)[0]
        del origin["task_type"]  # a seeds file has it with its dataset
        return {**origin, "runs": self.runs, "datasets": self.datasets}

    def files(self) -> tuple[dict[str, Any], Arrays]:
        """Content of the model's files, as `metalearners.model_files.write_files` takes it."""
        state, arrays = encode(self.fitted)
        content = {
            "format": FORMAT,
            "version": VERSION,
            "origin": encode(self.origin)[0],
            "runs": dict(self.runs_on),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "libraries": {name: version(name) for name in _LIBRARIES},
            "figures": self.figures,
            "updated_from": self.updated_from,
            "seconds": self.seconds,
            "state": state,
        }
        return content, arrays

    def summary(self) -> str:
        """One line for a person."""
        return (
            f"Learned from {counted(self.runs, 'runs')} on {counted(self.datasets, 'datasets')}"
            f" ({self.origin.learner}, warehouse version {self.origin.warehouse_version})"
        )


def save_model(model: StoredModel, folder: Path) -> StoredModel:
    """Write `model` below `folder` atomically, replacing an equal one.

    Raises:
        OSError: `folder` can't be written.
    """
    return replace(model, path=write_files(folder / model.origin.key, *model.files()))


def load_model(path: str | Path) -> StoredModel:
    """Read the model in the directory `path`. Loading runs no code of the model and changes nothing.

    Raises:
        BadInput: there is no model, or it is damaged, not a model, or from a newer Headstart.
    """
    path = Path(path)
    content = read_content(path, FORMAT, VERSION)
    try:
        origin = decode(ModelOrigin, content["origin"], {})
        learner = new_learner(origin.learner, origin.settings)
        fitted = decode(learner.model, content["state"], read_arrays(path, content))
        figures = content.get("figures")
        return StoredModel(
            origin,
            fitted,
            {str(dataset): int(runs) for dataset, runs in content["runs"].items()},
            path,
            figures and dict(figures),
            content.get("updated_from"),
            content.get("seconds"),
        )
    except (KeyError, TypeError, ValueError, AttributeError, BadInput) as error:
        raise DamagedModel(f"the model {path} can't be used: {error}; train it again") from error


def stored_models(warehouse: Warehouse) -> list[StoredModel]:
    """The readable models beside `warehouse` and in the user's cache, each once, sorted by name."""
    found: dict[str, StoredModel] = {}
    for place in places(warehouse):
        for path in sorted(place.glob("[!.]*-*")):  # a dot marks unfinished files
            try:
                found.setdefault(path.name, load_model(path))
            except DamagedModel as error:
                logger.warning("%s", error)
    return [found[name] for name in sorted(found)]


def with_figures(model: StoredModel, evaluation: Any) -> StoredModel:
    """The stored `model` with the figures of an evaluation of its learner on the same runs, stored again.

    Args:
        evaluation: the output of `metalearners evaluate --format json`.

    Raises:
        BadInput: not an evaluation, or one of another learner, settings, flow, measure or warehouse.
        OSError: the model's folder can't be written.
    """
    if not isinstance(evaluation, dict):
        raise UnreadableInput("this is not an evaluation; `metalearners evaluate --output FILE` writes one")
    origin, warehouse = model.origin, evaluation.get("warehouse")
    fingerprint = warehouse.get("fingerprint") if isinstance(warehouse, dict) else None
    theirs = {
        "learner": (evaluation.get("learner"), origin.learner),
        "settings": (evaluation.get("settings"), dict(origin.settings)),
        "flow": (evaluation.get("flow"), ", ".join(origin.only) or origin.flow),
        "measure": (evaluation.get("measure"), origin.measure),
        "warehouse": (fingerprint, origin.warehouse_fingerprint),
    }
    for part, (of_evaluation, of_model) in theirs.items():
        if of_evaluation != of_model:
            raise BadOption(
                f"the {part} of the evaluation ({of_evaluation}) differs from the model's ({of_model})"
            )
    missing = [name for name in FIGURES if name not in evaluation]
    if missing:
        raise UnreadableInput(f"the evaluation has no {', '.join(missing)}; write it again with this version")
    if model.path is None:
        raise BadOption("the model is not stored")
    figured = replace(model, figures={name: evaluation[name] for name in FIGURES})
    return save_model(figured, model.path.parent)
