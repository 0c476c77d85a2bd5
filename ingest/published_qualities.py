"""Published qualities of the datasets of a run file, from JSON or from a table."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ingest.reading.formats.encoding import quoted, read_bytes
from ingest.reading.formats.typed_tables import read_typed_table
from ingest.run_columns import OF_DATASET, numbers, task_keys
from ingest.run_layouts import unified
from warehouse.support.errors import BadInput, UnreadableInput

Qualities = Mapping[str, Mapping[str, float | None]]
"""Task -> quality -> value; None where a quality is stated to be missing."""


def read_qualities(path: Path, tasks: Collection[str]) -> Qualities:
    """Read qualities of tasks from a JSON object {task id: {quality: value}} or a table with a row per task.

    Raises:
        BadInput: the file is neither, a quality is not a number, or a table has two rows of one task.
    """
    content = read_bytes(path)
    if content.lstrip()[:1] in (b"", b"{", b"["):
        return _in_json(path, content, tasks)
    try:
        return _in_table(content, tasks)
    except BadInput as error:
        raise UnreadableInput(f"{path}: {error}") from error


def quality_rows(qualities: Qualities, datasets: Mapping[str, str]) -> pd.DataFrame:
    """Rows of the warehouse's table of qualities.

    Args:
        datasets: task -> dataset.
    """
    rows = [
        (datasets[task], quality, value) for task, of in qualities.items() for quality, value in of.items()
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "quality", "value"])
    return frame.assign(value=frame["value"].astype(float), source="openml", extractor="openml")


def _in_json(path: Path, text: bytes, tasks: Collection[str]) -> Qualities:
    try:
        content = _object(path, json.loads(text))
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(f"{path}: cannot be read as JSON: {error}") from error
    numbers = {task: task.removeprefix(OF_DATASET).removeprefix("openml:") for task in tasks}
    found = {task: _object(path, content.get(number, {})) for task, number in numbers.items()}
    for qualities in found.values():
        for quality, value in qualities.items():
            if isinstance(value, bool | str | list | dict):
                raise UnreadableInput(f"{path}: the quality {quality} is {quoted(value)}, not a number")
    return found


def _object(path: Path, content: Any) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise UnreadableInput(f"{path}: expected a JSON object {{task id: {{quality: value}}}}")
    return content


def _in_table(content: bytes, tasks: Collection[str]) -> Qualities:
    table = unified(read_typed_table(content))
    keys = task_keys(table)
    repeated = pd.Index(keys).duplicated()
    if repeated.any():
        raise UnreadableInput(
            f"row {int(np.argmax(repeated)) + 1} is a second row of the task {keys[repeated][0]}"
        )
    values = {
        name: numbers(name, column)
        for name, column in table.columns.items()
        if name not in ("task_id", "data_id")
    }
    return {
        key: {name: None if np.isnan(of[row]) else float(of[row]) for name, of in values.items()}
        for row, key in enumerate(keys)
        if key in tasks
    }
