"""Seeds files: ranked configurations as JSON, and the pipelines of their entries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.flows import get_flow
from warehouse.support.errors import UnfitConfiguration, UnreadableInput
from warehouse.support.files import read_json, write_json

if TYPE_CHECKING:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.pipeline import Pipeline

    from ingest.reading.datasets import Dataset

SCHEMA = "headstart-seeds/1"
"""Name and version of the file's format; `seeds.schema.json` describes it."""


def write_seeds(document: Mapping[str, Any], path: str | Path) -> None:
    """Write a recommendation as JSON, whole or not at all.

    Raises:
        Unwritable: the file can't be written.
    """
    write_json(path, document)


def read_seeds(path: str | Path) -> dict[str, Any]:
    """Read a seeds file.

    Raises:
        BadInput: there is no such file, or it is not a seeds file.
    """
    document = read_json(path)
    if not isinstance(document, dict) or not isinstance(document.get("configurations"), list):
        raise UnreadableInput(f"{path}: not a seeds file: it has no list `configurations`")
    if document.get("schema") != SCHEMA:
        raise UnreadableInput(f"{path}: written as {document.get('schema')!r}, this version reads {SCHEMA!r}")
    return document


def build_pipeline(
    configuration: Mapping[str, Any], dataset: Dataset, *, seed: int = 0
) -> Pipeline | CalibratedClassifierCV:
    """The unfitted scikit-learn pipeline of one entry of `configurations`, for this dataset's columns.

    A classifier has `predict_proba`: one without probabilities is calibrated (`recommend.calibration`).

    Raises:
        BadInput: the entry has an unknown flow, or values that the flow does not allow.
    """
    try:
        flow, values = configuration["flow"], configuration["hyperparameters"]
    except (KeyError, TypeError) as error:
        raise UnfitConfiguration("a configuration needs `flow` and `hyperparameters`") from error
    from recommend.calibration import with_probabilities

    return with_probabilities(get_flow(flow).pipeline(values, dataset.roles, seed=seed))
