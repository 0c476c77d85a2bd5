"""Options that `recommend` and `tune` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from ingest.options import Reading, TaskOption
from ingest.reading.column_types.roles import Role
from ingest.reading.opening import opening
from warehouse.options import result_file
from warehouse.support import console
from warehouse.support.errors import BadOption
from warehouse.vocabulary.measures import canonical_measure

if TYPE_CHECKING:
    from ingest.reading.datasets import Dataset

DATASET_HELP = "Table (CSV or other text, Parquet, Feather, ARFF, Excel), or openml:ID."


CodeOption = Annotated[
    Path | None, result_file("--code", ".py", "Write the result as a script that runs without Headstart.")
]

RecordOption = Annotated[
    bool, typer.Option("--record/--no-record", help="Write the trials to the warehouse, for later use.")
]

FlowOption = Annotated[
    list[str] | None,
    typer.Option("--flow", metavar="NAME", help="Only this algorithm, e.g. random_forest. May be repeated."),
]


ChosenMeasureOption = Annotated[
    str | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        callback=lambda name: name and canonical_measure(name),
        help="Measure to optimize: accuracy, auc, logloss, f1, rmse, mae, ...",
    ),
]


@dataclass(frozen=True)
class ReadingWithRoles(Reading):
    """Options for reading a file, and for the roles of its columns."""

    role: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Correct a detected role, as COLUMN=ROLE; roles: {', '.join(Role)}. May be repeated."
        ),
    ] = None


@dataclass(frozen=True)
class Data:
    """Options for the dataset and its target."""

    panel: ClassVar = "Data"
    dataset: Annotated[str | None, typer.Option(metavar="FILE", help=DATASET_HELP)] = None
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column to predict. Default: detected.")
    ] = None
    task: TaskOption = None
    split: Annotated[
        str | None,
        typer.Option(
            metavar="KIND=COLUMN", help="time=COLUMN tests on later rows, group=COLUMN on other groups."
        ),
    ] = None

    def load(self, reading: ReadingWithRoles, file: str | None = None) -> Dataset:
        """Load the dataset from a file, or from OpenML.

        Args:
            file: the dataset, if given as an argument.

        Raises:
            BadInput: it is missing, given twice or unreadable, or the options contradict it.
        """
        if file is not None and self.dataset is not None:
            raise BadOption(f"FILE and --dataset exclude each other: {file}, {self.dataset}")
        source = file or self.dataset
        if not source:
            raise BadOption("give a dataset: a file, or openml:ID")
        roles = dict(map(console.assignment, reading.role or []))
        options = reading.options()
        if ":" not in source:  # else it may be an address
            with opening(path := Path(source)):
                path.stat()  # a missing file is refused before pandas is imported
        from ingest.reading.datasets import load_dataset

        dataset = load_dataset(source, target=self.target, task=self.task, roles=roles, options=options)
        return dataset if self.split is None else dataset.split_by(self.split)
