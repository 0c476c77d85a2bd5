"""The ranked configurations to start with, and the JSON file that hands them on.

Notation: p (n,) predicted standard scores scaled to [0, 1], higher is better; d >= 0 the delta parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.flows import get_flow
from warehouse.support.errors import UnfitConfiguration, UnreadableInput
from warehouse.support.files import read_json, write_json

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from ingest.reading.datasets import Dataset

SCHEMA = "headstart-seeds/1"
"""Name and version of the file's format; `seeds.schema.json` describes it."""
STRATEGIES = ("top", "delta")
DELTAS = np.arange(10) / 10
"""0, 0.1, ..., 0.9: from 1 on, eq. 6.2 is highest at an end of the ranking, the worst included."""


def choose_delta(predicted: np.ndarray, n: int) -> list[tuple[int, float | None]]:
    """Positions of `n` seeds that spread from the best prediction downwards, each with its delta.

    For d = 0, 0.1, 0.2, ... the seed is the configuration with the highest (1 - p)^d + p, where the
    predictions p are scaled to [0, 1]; the first `n` different ones are taken (van Hoof's thesis,
    eq. 6.2). Where there are fewer, the next best predictions fill up, with no delta.
    """
    low, high = predicted.min(), predicted.max()
    p = (predicted - low) / (high - low) if high > low else np.ones_like(predicted)
    order = np.argsort(-p, kind="stable")  # of equal scores the higher prediction wins
    scores = (1 - p[order]) ** DELTAS[:, None] + p[order]  # (deltas, n)
    chosen: dict[int, float | None] = {}
    for d, place in zip(DELTAS, scores.argmax(axis=1), strict=True):
        chosen.setdefault(int(order[place]), float(d))
    for position in order:
        chosen.setdefault(int(position), None)
    return list(chosen.items())[:n]


def write_seeds(document: Mapping[str, Any], path: str | Path) -> None:
    """Write a recommendation as JSON, whole or not at all.

    Raises:
        Unwritable: the file can't be written.
    """
    write_json(path, document)


def read_seeds(path: str | Path) -> dict[str, Any]:
    """Read a seeds file.

    Raises:
        BadInput: there is no such file, or it is not one of ours.
    """
    document = read_json(path)
    if not isinstance(document, dict) or not isinstance(document.get("configurations"), list):
        raise UnreadableInput(f"{path}: not a seeds file: it has no list `configurations`")
    if document.get("schema") != SCHEMA:
        raise UnreadableInput(f"{path}: written as {document.get('schema')!r}, this version reads {SCHEMA!r}")
    return document


def build_pipeline(configuration: Mapping[str, Any], dataset: Dataset, *, seed: int = 0) -> Pipeline:
    """The unfitted scikit-learn pipeline of one entry of `configurations`, for this dataset's columns.

    Raises:
        BadInput: the entry names no flow of ours, or values that it can't have.
    """
    try:
        flow, values = configuration["flow"], configuration["hyperparameters"]
    except (KeyError, TypeError) as error:
        raise UnfitConfiguration("a configuration needs `flow` and `hyperparameters`") from error
    return get_flow(flow).pipeline(values, dataset.roles, seed=seed)
