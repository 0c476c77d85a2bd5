"""Pruning of stored models that are no longer used.

A model is found by its training data and settings, so a model of an earlier version of the warehouse is never
found again. Models of other warehouses in the user's cache may still be wanted, unless they are old.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from metalearners import new_learner
from metalearners.learners.functional_pca import FunctionalPCA
from metalearners.model_files import user_cache
from metalearners.samples import sampled_from
from metalearners.stored_model import load_model
from warehouse.store import Warehouse
from warehouse.support.errors import DamagedModel

OLD_DAYS = 30
"""Age at which an interrupted training, or a model of another warehouse or version, is superfluous."""


@dataclass(frozen=True)
class Superfluous:
    """A superfluous model, or the remains of an interrupted training."""

    path: Path
    reason: str
    size: int
    """Bytes on disk."""


def superfluous_models(warehouse: Warehouse) -> list[Superfluous]:
    """Superfluous models in the folder of `warehouse`, unless it is read-only, and in the user's cache."""
    own, cache = warehouse.models, user_cache()
    oldest = time.time() - OLD_DAYS * 86_400
    found = []
    for folder in [cache] if warehouse.read_only else [own, cache]:
        of_training = [*folder.glob("sample.*"), *folder.glob(".*.training.npz")]
        for path in sorted([*folder.glob("[!.]*-*"), *of_training]):
            reason = _reason(path, warehouse, is_old=path.stat().st_mtime < oldest, is_own=folder == own)
            if reason is not None:
                found.append(Superfluous(path, reason, _size(path)))
    return found


def prune(models: list[Superfluous], warehouse: Warehouse) -> None:
    """Remove these from the disk, and the warehouse's own also from its bucket.

    Raises:
        OSError: one can't be removed.
    """
    for model in models:
        if model.path.parent == warehouse.models and model.path.is_dir():
            warehouse.remove_model(model.path)
        elif model.path.is_dir():
            shutil.rmtree(model.path)
        else:
            model.path.unlink()


def _reason(path: Path, warehouse: Warehouse, *, is_old: bool, is_own: bool) -> str | None:
    """Why it is superfluous; None if it is not."""
    if path.is_file():
        return "an interrupted training, too old to resume" if is_old else None
    try:
        if path.name.startswith("sample."):
            fingerprint = sampled_from(path)
        else:
            model = load_model(path)
            learner = new_learner(model.origin.learner, model.origin.settings)
            if model.origin.left_out and issubclass(learner.model, FunctionalPCA):
                return "leaves out some datasets; quickly made again from the model of all datasets"
            fingerprint = model.origin.warehouse_fingerprint
    except DamagedModel:
        return "damaged, or of another version of Headstart"
    if fingerprint == warehouse.fingerprint:
        return None
    if is_own:
        return "of an earlier version of the warehouse"
    return "of another warehouse or an earlier version, and old" if is_old else None


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)
