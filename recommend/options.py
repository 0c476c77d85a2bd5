"""Options that `recommend` and `tune` share."""

from typing import Annotated

import typer

DATASET_HELP = "CSV, TSV, Parquet or ARFF file (may be gzipped), or openml:ID."

TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="Column to predict. Default: one called class, target, label or y, else the last.",
        show_default=False,
    ),
]
RoleOption = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        help="COLUMN=ROLE where detection is wrong; roles: numeric, categorical, boolean, date, text, "
        "constant, identifier. May be repeated.",
        show_default=False,
    ),
]
FlowOption = Annotated[
    list[str] | None,
    typer.Option("--flow", help="Only this flow, e.g. random_forest. May be repeated.", show_default=False),
]
