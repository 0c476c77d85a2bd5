"""Options of commands that read a dataset, in case detection is wrong: task type and text format."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from warehouse.vocabulary.task_types import TaskName

if TYPE_CHECKING:
    from ingest.reading.options import ReadingOptions


TaskOption = Annotated[
    TaskName | None,
    typer.Option("--task", metavar="KIND", help="classification or regression. Default: by the target."),
]


@dataclass(frozen=True)
class Reading:
    """Options that say how a file is read."""

    panel: ClassVar = "How a file is read"
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Encoding of a text file, by Python's name, if detection is wrong: cp1251, gb18030, ...",
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="SIGN",
            help="Character between the cells of a text file, or comma, semicolon, tab, pipe, blank. "
            "Default: detected.",
        ),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(
            metavar="SIGN", help="Decimal sign of numbers, '.' or ','. Default: detected for each column."
        ),
    ] = None
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="Word that stands for a missing value, besides the usual ones. May be repeated.",
        ),
    ] = None
    skip_lines: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Number of lines to skip at the top of a text file.", show_default=False
        ),
    ] = 0
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header", help="Whether the first line names the columns. Default: detected."
        ),
    ] = None

    def options(self) -> ReadingOptions:
        """Options in the form that the reader of tables takes.

        Raises:
            BadInput: an unknown encoding, or a sign that can't be one.
        """
        from ingest.reading.options import ReadingOptions

        given = {field.name: getattr(self, field.name) for field in fields(ReadingOptions)}
        return ReadingOptions(**given | {"missing": tuple(self.missing or ())})
