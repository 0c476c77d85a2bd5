"""Own runs and datasets as rows of the warehouse's tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from ingest.flows import Flow, get_flow
from ingest.keys import setup_of
from ingest.metafeatures import EXTRACTOR, compute_metafeatures
from ingest.reading.datasets import Dataset
from ingest.reading.near_copies import METHOD, sketch
from ingest.running.evaluation import Evaluation
from ingest.spaces import scale_rows
from warehouse.store import Warehouse
from warehouse.vocabulary.configuration import Configuration


@dataclass(frozen=True)
class Run:
    """One configuration on one dataset, before it is run."""

    configuration: Configuration
    task: str
    run: str
    """Key in the warehouse."""
    train_rows: int | None = None
    """Training rows of each fit; None = all rows of the task."""
    test_rows: int | None = None
    """Predicted rows in total."""

    @property
    def flow(self) -> Flow:
        """The flow to run."""
        return get_flow(self.configuration.algorithm)

    @cached_property
    def setup(self) -> str:
        """Key of the configuration in the warehouse."""
        return setup_of(self.configuration)


def write_runs(
    warehouse: Warehouse,
    dataset: Dataset,
    results: Sequence[tuple[Run, Evaluation]],
    procedure: str,
    *,
    source: str,
) -> None:
    """Write runs of one task, and facts about the dataset unless the warehouse has some.

    The warehouse's facts may include more, such as domain and family.

    Args:
        procedure: estimation procedure, e.g. `cv3`.

    Raises:
        BadInput, Failed: as `Warehouse.write`.
    """
    tables = run_tables(dataset, results, procedure)
    description = {} if _is_known(warehouse, dataset) else description_tables(dataset)
    sketched = {} if is_sketched(warehouse, dataset) else sketch_row(dataset)

    def rows(now: Warehouse) -> dict[str, pd.DataFrame]:
        described = tables if _is_known(now, dataset) else tables | description
        return described if is_sketched(now, dataset) else described | sketched

    warehouse.write(rows, source=source, location=dataset.source)


def _is_known(warehouse: Warehouse, dataset: Dataset) -> bool:
    return not warehouse.sql("SELECT 1 FROM datasets WHERE dataset = ?", [dataset.key]).empty


def run_tables(
    dataset: Dataset, results: Sequence[tuple[Run, Evaluation]], procedure: str
) -> dict[str, pd.DataFrame]:
    """Rows of the warehouse's tables for runs of one task on a dataset.

    Args:
        procedure: estimation procedure, e.g. `cv3`.
    """
    task = {
        "task": results[0][0].task,
        "dataset": dataset.key,
        "task_type": dataset.task_type.name,
        "estimation_procedure": procedure,
        "target": str(dataset.target.name),
    }
    return {
        "tasks": pd.DataFrame([task]),
        **_configuration_tables([run for run, _ in results]),
        "runs": pd.DataFrame(
            [
                {
                    "run": run.run,
                    "task": run.task,
                    "setup": run.setup,
                    "outcome": str(evaluation.outcome),
                    "message": evaluation.message,
                    "train_rows": run.train_rows,
                    "test_rows": run.test_rows,
                }
                for run, evaluation in results
            ]
        ),
        "evaluations": pd.DataFrame(
            [
                {"run": run.run, "measure": measure, "value": _rounded(value), "flow": run.flow.id}
                for run, evaluation in results
                for measure, value in evaluation.measures.items()
                if value == value
            ],
            columns=["run", "measure", "value", "flow"],
        ),
    }


def _configuration_tables(runs: Sequence[Run]) -> dict[str, pd.DataFrame]:
    """Rows for the flows, setups and hyperparameters of runs, without duplicates."""
    flows = {run.flow.id: run.flow for run in runs}
    setups = {run.setup: run for run in runs}
    return {
        "flows": pd.DataFrame(
            [{"flow": key, "name": flow.title, "algorithm": flow.name} for key, flow in flows.items()]
        ),
        "scales": scale_rows({key: flow.scales for key, flow in flows.items()}),
        "setups": pd.DataFrame([{"setup": key, "flow": run.flow.id} for key, run in setups.items()]),
        "hyperparameters": pd.DataFrame(
            [
                {"setup": key, "parameter": parameter, "value": json.dumps(value)}
                for key, run in setups.items()
                for parameter, value in run.configuration.values.items()
            ]
        ),
    }


def _rounded(value: float) -> float:
    """Round to six significant digits: more would be noise, and would not compress."""
    return float(f"{value:.6g}")


def dataset_row(
    dataset: Dataset, *, domain: str | None = None, family: str | None = None
) -> dict[str, pd.DataFrame]:
    """The row of the warehouse's table of datasets."""
    row = {
        "dataset": dataset.key,
        "name": dataset.name,
        "content_hash": dataset.content_hash,
        "rows": len(dataset.features),
        "columns": dataset.features.shape[1] + 1,
        "classes": dataset.n_classes,
        "target": dataset.target.name,
        "note": dataset.note,
        "domain": domain,
        "family": family,
    }
    return {"datasets": pd.DataFrame([row])}


def description_tables(dataset: Dataset) -> dict[str, pd.DataFrame]:
    """Rows of the warehouse's tables for a dataset, with its meta-features and sketch."""
    return dataset_row(dataset) | quality_rows(dataset) | sketch_row(dataset)


def is_sketched(warehouse: Warehouse, dataset: Dataset) -> bool:
    """Whether the warehouse can recognize near copies of the dataset."""
    known = "SELECT 1 FROM sketches WHERE dataset = ? AND method = ?"
    return not warehouse.sql(known, [dataset.key, METHOD]).empty


def sketch_row(dataset: Dataset) -> dict[str, pd.DataFrame]:
    """The row of the warehouse's table of sketches."""
    made = sketch(dataset)
    bits, cells = made.to_text()
    row = {
        "dataset": dataset.key,
        "method": METHOD,
        "columns": made.width,
        "bits": bits,
        "cells": cells,
    }
    return {"sketches": pd.DataFrame([row])}


def quality_rows(dataset: Dataset) -> dict[str, pd.DataFrame]:
    """Rows of the warehouse's table of meta-features."""
    qualities = compute_metafeatures(dataset).values
    table = {
        "dataset": dataset.key,
        "quality": list(qualities),
        "value": list(qualities.values()),
        "source": "computed",
        "extractor": EXTRACTOR,
    }
    return {"qualities": pd.DataFrame(table)}
