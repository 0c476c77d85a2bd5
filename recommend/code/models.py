"""Fitted pipelines without a class or function of ours: what the `fit` of a script makes of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ingest.flows.preprocessing import category_columns, date_parts
from ingest.reading.datasets import Dataset
from ingest.reading.roles import Role
from recommend.code import snippets
from recommend.code.fitting import find_ensemble, find_fitting
from recommend.code.script import fit_functions
from warehouse.configurations.configuration import Configuration

if TYPE_CHECKING:
    from sklearn.ensemble import VotingClassifier
    from sklearn.pipeline import Pipeline


def plain_model(
    members: Mapping[Configuration, float], dataset: Dataset, *, seed: int
) -> Pipeline | VotingClassifier:
    """A configuration's pipeline, or the weighted average of several, fitted on the dataset.

    It holds scikit-learn and the library of a booster alone, and takes what `model_rows` returns. It comes of
    the script's own function, run here, so that both are the same model.

    Args:
        members: configuration -> its weight.
    """
    if len(members) == 1:
        fitting = find_fitting(next(iter(members)), dataset, seed=seed, takes_frames=True)
    else:
        fitting = find_ensemble(members, dataset, seed=seed, takes_frames=True)
    names: dict[str, Any] = {
        "SEED": seed,
        "NUMERIC": _columns(dataset, Role.numeric),
        "CATEGORICAL": category_columns(dataset.roles),
        "FEW_CATEGORIES": fitting.few,
        "MANY_CATEGORIES": fitting.many,
        "DATE_PARTS": _date_parts(dataset),
        **vars(snippets),
    }
    names |= {name: getattr(import_module(module), name) for name, module in fitting.imports.items()}
    exec("\n".join(fit_functions(fitting)), names)  # made of literals and names of ours alone
    labels = dataset.target.astype(str).to_numpy(dtype=object)
    rows = model_rows(dataset)
    if not fitting.classes_as_numbers:
        model: Pipeline | VotingClassifier = names["fit"](rows, labels)
        return model
    return _with_labels(names["fit"](rows, np.unique(labels, return_inverse=True)[1]), rows, labels)


def model_rows(dataset: Dataset) -> pd.DataFrame:
    """The features as `plain_model` takes them: as they are, with the parts of dates beside them."""
    parts = _date_parts(dataset)
    if not parts:
        return dataset.features
    values = date_parts(dataset.features[_columns(dataset, Role.date)])
    return dataset.features.assign(**dict(zip(parts, values.T, strict=True)))


def _with_labels(pipeline: Pipeline, rows: pd.DataFrame, labels: np.ndarray) -> VotingClassifier:
    """A fitted pipeline of classes as numbers that answers with labels: the average of it alone."""
    from sklearn.ensemble import VotingClassifier
    from sklearn.frozen import FrozenEstimator

    return VotingClassifier([("pipeline", FrozenEstimator(pipeline))], voting="soft").fit(rows, labels)


def _columns(dataset: Dataset, role: Role) -> list[str]:
    return [name for name, own in dataset.roles.items() if own == role]


def _date_parts(dataset: Dataset) -> list[str]:
    return [f"{name}: {part}" for name in _columns(dataset, Role.date) for part in snippets.PARTS]
