"""Options of commands that read a file: how a text is written, where detection is wrong."""

from typing import Annotated, Any

import typer

_PANEL = "Text files, where detection is wrong"


def _option(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_PANEL, show_default=False, **settings)


EncodingOption = Annotated[
    str | None,
    _option("--encoding", metavar="NAME", help="Encoding, as Python names it: cp1251, gb18030, ..."),
]
DelimiterOption = Annotated[
    str | None,
    _option("--delimiter", metavar="SIGN", help="Sign between cells, or comma, semicolon, tab, pipe, blank."),
]
DecimalOption = Annotated[
    str | None, _option("--decimal", metavar="SIGN", help="Decimal sign of the numbers, '.' or ','.")
]
MissingOption = Annotated[
    list[str] | None,
    _option(
        "--missing", metavar="WORD", help="Word without a value, beside the usual ones. May be repeated."
    ),
]
SkipLinesOption = Annotated[
    int, _option("--skip-lines", metavar="N", min=0, help="Lines at the top to leave out.")
]
HeaderOption = Annotated[
    bool | None,
    _option("--header/--no-header", help="Whether the first line that is left names the columns."),
]
