"""Options that name a warehouse, a measure, a Dask scheduler, or a file to write."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from warehouse.support.console import seconds_or_zero
from warehouse.support.errors import BadOption
from warehouse.support.locks import WAIT
from warehouse.vocabulary.measures import canonical_measure
from warehouse.vocabulary.task_types import TaskName


def _wait(text: str | None) -> str | None:
    """Set the waiting time of all writers in this process."""
    if text is not None:
        os.environ[WAIT] = f"{seconds_or_zero(text):g}"
    return text


def result_file(option: str, suffix: str, description: str, instead: str = "") -> Any:
    """An option for the name of a file to write, which ends in `suffix`.

    Files with other names, such as the user's table, are never overwritten by a slip.

    Args:
        instead: what the refusal of another name advises.
    """

    def checked(path: Path | None) -> Path | None:
        if path is not None and path.suffix.lower() != suffix:
            advice = f"; {instead}" if instead else ""
            raise BadOption(f"{path}: {option} needs the name of a {suffix} file{advice}")
        return path

    return typer.Option(option, metavar=f"FILE{suffix}", callback=checked, help=description)


WarehouseOption = Annotated[
    str | None,
    typer.Option(
        "--warehouse",
        envvar="HEADSTART_WAREHOUSE",
        metavar="DIR",
        help="Warehouse directory or s3://BUCKET/PATH. Default: yours if it exists, else the starter.",
    ),
]
WaitOption = Annotated[
    str | None,
    typer.Option(
        "--wait",
        envvar=WAIT,
        metavar="TIME",
        callback=_wait,
        help="How long to wait for another process that writes to the warehouse, e.g. 30s; 0 = not at all."
        " Default: 10m.",
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Address of a Dask scheduler; its workers run the jobs, --jobs at a time.",
    ),
]
JobsOption = Annotated[int, typer.Option("--jobs", min=1, help="Number of jobs to run in parallel.")]
MEASURE_HELP = (
    "Evaluation measure to optimize. Short names work: acc, bacc, auc, f1, logloss, brier, mcc, ..."
)
TaskTypeOption = Annotated[TaskName, typer.Option("--task", help="Task type of the runs to learn from.")]
MeasureOption = Annotated[
    str | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        callback=lambda name: None if name is None else canonical_measure(name),
        help=f"{MEASURE_HELP} Default: accuracy, or RMSE.",
    ),
]
