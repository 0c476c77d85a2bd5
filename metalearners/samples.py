"""Training runs of a warehouse's models; a sample of runs is stored beside the models.

Drawing a sample from ten million runs takes a minute, which only training should cost.
The folder `sample.<hash>` among the models has `model.json`, which describes the sample, and `arrays.npz`,
with the bytes of an Arrow stream for each of these tables: runs, hyperparameters, scales, spaces and values
of related measures.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from metalearners.model_files import keep, kept, read_arrays, read_content
from warehouse.questions import sampling
from warehouse.questions.queries import RunAnswers, RunTable, table_of, with_experiments
from warehouse.store import Warehouse
from warehouse.support.errors import DamagedModel
from warehouse.vocabulary.task_types import CLASSIFICATION, TASK_TYPES, TaskType

FORMAT = "headstart.sample"
VERSION = 2
"""Increased when the same runs give another sample, or the files change."""


_FLOW_OF_NAME = """
SELECT coalesce(algorithm, flow) AS algorithm FROM flows
WHERE flow IN ($name, 'openml:' || $name, 'other:' || $name) OR algorithm = $name ORDER BY flow
"""


def flow_named(warehouse: Warehouse, name: str) -> str | None:
    """The name of a flow's runs in a joint table: its algorithm, else its key; None = unknown.

    Args:
        name: the flow's key, with or without its source, or its algorithm.
    """
    known = warehouse.arrow(_FLOW_OF_NAME, {"name": name})["algorithm"].to_pylist()
    return str(known[0]) if known else None


def learned_runs(
    warehouse: Warehouse,
    flow: str | None,
    measure: str,
    *,
    task_type: TaskType = CLASSIFICATION,
    related: bool = True,
    only: Sequence[str] = (),
    experiments_on: Collection[str] = (),
) -> RunTable:
    """The runs of `Warehouse.run_table`, from the stored sample if there is one.

    Args:
        only: flows whose runs a joint table has; empty = all.
        experiments_on: datasets with all of their own experiments in the table, even if it is a sample.
    """
    name = _name(warehouse, flow, measure, task_type, only)
    answers = kept(name, warehouse, _read, "drawing the sample again")
    if answers is None:
        answers = warehouse.run_answers(flow, measure, task_type=task_type, related=related, only=only)
        if answers.is_sample:
            _keep(name, answers, warehouse)
    if answers.is_sample and experiments_on:
        answers = with_experiments(warehouse.arrow, answers, experiments_on)
    rows = {part: rows for part, rows in answers.rows.items() if related or part != "related"}
    return table_of(replace(answers, rows=rows))


def _keep(name: str, sample: RunAnswers, warehouse: Warehouse) -> None:
    content = {
        "format": FORMAT,
        "version": VERSION,
        "warehouse": warehouse.fingerprint,
        "flow": sample.flow,
        "measure": sample.measure,
        "task_type": sample.task_type.name,
    }
    packed = {part: _packed(rows) for part, rows in sample.rows.items()}
    keep(name, content, packed, warehouse)


def _name(
    warehouse: Warehouse, flow: str | None, measure: str, task_type: TaskType, only: Sequence[str]
) -> str:
    asked = [VERSION, warehouse.fingerprint, flow, measure, sampling.limits(), *only]
    if task_type is not CLASSIFICATION:  # earlier versions stored samples of this type only
        asked.append(task_type.name)
    return f"sample.{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]}"


def sampled_from(path: Path) -> str:
    """Fingerprint of the warehouse from which the sample in a folder was drawn.

    Raises:
        DamagedModel: the sample is missing or damaged.
    """
    return str(read_content(path, FORMAT, VERSION).get("warehouse"))


def _packed(rows: pa.Table) -> np.ndarray:
    """Rows as bytes."""
    buffer = pa.BufferOutputStream()
    with pa.ipc.new_stream(buffer, rows.schema) as stream:
        stream.write_table(rows)
    return np.frombuffer(buffer.getvalue(), dtype=np.uint8)


def _read(path: Path) -> RunAnswers:
    """The sample in a folder.

    Raises:
        DamagedModel: the sample is missing or damaged.
    """
    content = read_content(path, FORMAT, VERSION)
    try:
        rows = {
            part: pa.ipc.open_stream(pa.py_buffer(array.tobytes())).read_all()
            for part, array in read_arrays(path, content).items()
        }
        task_type = TASK_TYPES[content.get("task_type", CLASSIFICATION.name)]
        return RunAnswers(content["flow"], content["measure"], task_type, True, rows)
    except (KeyError, pa.ArrowException) as error:
        raise DamagedModel(f"the sample {path} can't be used: {error}") from error
