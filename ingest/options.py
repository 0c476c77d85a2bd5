"""Options of commands that read a file: how a text is written, where detection is wrong."""

from typing import Annotated

import typer

EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of a text that is read wrongly, as Python names it: cp1251, gb18030, ...",
        show_default=False,
    ),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="SIGN",
        help="Sign between the cells of a text, or comma, semicolon, tab, pipe, blank. Default: found out.",
        show_default=False,
    ),
]
DecimalOption = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="SIGN",
        help="Decimal sign of numbers, '.' or ','. Default: found out for each column.",
        show_default=False,
    ),
]
MissingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="WORD",
        help="Word without a value, beside the usual ones. May be repeated.",
        show_default=False,
    ),
]
SkipLinesOption = Annotated[
    int,
    typer.Option(
        "--skip-lines",
        metavar="N",
        min=0,
        help="Lines at the top of a text to leave out.",
        show_default=False,
    ),
]
HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line that is left names the columns. Default: found out.",
        show_default=False,
    ),
]
