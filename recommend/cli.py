"""`recommend`: the configurations to try first on a dataset."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from ingest.options import (
    DecimalOption,
    DelimiterOption,
    EncodingOption,
    HeaderOption,
    MissingOption,
    SkipLinesOption,
)
from metalearners import DEFAULT_LEARNER
from recommend.options import (
    DATASET_HELP,
    ChosenMeasureOption,
    CodeOption,
    DatasetOption,
    FlowOption,
    RoleOption,
    SplitOption,
    TargetOption,
    named_dataset,
)
from recommend.recommendation import Recommendation
from recommend.recommender import recommend as rank
from recommend.reporting.terminal import in_words
from warehouse.options import WarehouseOption
from warehouse.store import Warehouse
from warehouse.support import console
from warehouse.support.console import QuietOption
from warehouse.support.errors import Failed
from warehouse.support.files import write_json, write_text
from warehouse.support.option_groups import PanelCommand

app = console.new_app("")
TOOLS = ("optuna", "smac", "flaml", "ray", "sklearn", "configspace")
"""What seeds are exported to (`recommend.export`, whose imports would cost half a second)."""


class _Recommend(PanelCommand):
    renamed: ClassVar = {"--metalearner": "--learner"}


@app.command(cls=_Recommend, no_args_is_help=True)
def recommend(
    file: Annotated[str | None, typer.Argument(metavar="FILE", help=DATASET_HELP, show_default=False)] = None,
    dataset: DatasetOption = None,
    top: Annotated[int, typer.Option(min=1, help="Number of configurations.")] = 3,
    target: TargetOption = None,
    role: RoleOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    decimal: DecimalOption = None,
    missing: MissingOption = None,
    skip_lines: SkipLinesOption = 0,
    header: HeaderOption = None,
    split: SplitOption = None,
    flow: FlowOption = None,
    strategy: Annotated[
        str,
        typer.Option(help="top: the best and its complements; delta: a spread over the predicted ranking."),
    ] = "top",
    measure: ChosenMeasureOption = None,
    metalearner: Annotated[
        str,
        typer.Option("--learner", help="Meta-learner for the ranking; more: `metalearners list`."),
    ] = DEFAULT_LEARNER,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Ignore runs on the dataset itself, as in an experiment.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            parser=console.seconds,
            metavar="TIME",
            help="Time for one fit of each configuration, e.g. 60s, 5m, 1h. Default: no limit, but long "
            "fits must promise a gain.",
            show_default=False,
        ),
    ] = None,
    verify: Annotated[
        float | None,
        typer.Option(
            parser=console.seconds,
            metavar="TIME",
            help="Race the first configurations against usual defaults on the dataset for this time, e.g. "
            "60s.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Parallel runs of the race. Default: one per processor.", show_default=False
        ),
    ] = None,
    record: Annotated[bool, typer.Option(help="Write the runs of the race to the warehouse.")] = True,
    seeds: Annotated[
        Path | None, typer.Option(help="Write the recommendation to this JSON file.", show_default=False)
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--report", help="Write the recommendation to this HTML page.", show_default=False),
    ] = None,
    code: CodeOption = None,
    ranges: Annotated[
        Path | None,
        typer.Option(
            help="Write ranges of good hyperparameter values to this JSON file.", show_default=False
        ),
    ] = None,
    warehouse: WarehouseOption = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Explain each rank by datasets, meta-features and hyperparameters."),
    ] = False,
    details: Annotated[bool, typer.Option("--details", help="Also print standard scores.")] = False,
    quiet: QuietOption = False,
    output: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="table|json|TOOL",
            help=f"Output format; a TOOL ({', '.join(TOOLS)}) gives JSON for that tool.",
        ),
    ] = "table",
) -> None:
    """Rank the configurations to try first on a dataset, learned from runs on other datasets.

    Examples:

      recommend my.csv --top 3

      recommend my.csv --target churned --strategy delta --seeds seeds.json

      recommend my.csv --role size=numeric --delimiter semicolon --missing unknown

      recommend my.csv --flow random_forest --format json

      recommend large.csv --budget 60s

      recommend my.csv --verify 60s --report report.html

      recommend visits.csv --split group=patient --verify 60s

      recommend my.csv --explain

      recommend my.csv --flow lightgbm --format optuna

      recommend my.csv --code first.py

      recommend my.csv --flow lightgbm --ranges ranges.json
    """
    from ingest.reading.datasets import load_dataset
    from ingest.reading.options import ReadingOptions
    from recommend.seeds import write_seeds

    console.check_format(output, ("table", "json", *TOOLS))
    source = named_dataset(file, dataset)
    if record and verify is not None:
        Warehouse.check_writable(warehouse)
    reading = ReadingOptions(
        encoding=encoding,
        delimiter=delimiter,
        decimal=decimal,
        missing=tuple(missing or ()),
        skip_lines=skip_lines,
        header=header,
    )
    roles = dict(map(console.assignment, role or []))
    data = load_dataset(source, target=target, roles=roles, options=reading)
    if split is not None:
        data = data.split_by(split)
    with console.progress(quiet) as show:
        result = rank(
            data,
            warehouse=Warehouse.open(warehouse),
            top=top,
            flows=flow or (),
            strategy=strategy,
            measure=measure,
            metalearner=metalearner,
            leave_out=leave_out,
            budget=budget,
            verify=verify,
            jobs=jobs,
            explain=explain or page is not None,
            report=lambda race: show(f"on {race.train_rows:,} rows: {race.done} of {race.of} done"),
        )
    if page is not None:
        from recommend.reporting.page import recommendation_page

        write_text(page, recommendation_page(result))
    if not explain:  # a page always says why
        result = replace(result, explanation=None)
    document = result.document()
    if seeds is not None:
        write_seeds(document, seeds)
    if ranges is not None:
        from recommend.ranges import ranges_document

        write_json(ranges, ranges_document(result.ranges(), result.dataset.name, result.measure))
    if output == "json":
        print(json.dumps(document, indent=2))
    elif output in TOOLS:
        from recommend.export import export_document

        print(json.dumps(export_document(document, output), indent=2))
    else:
        print(in_words(result, is_default_measure=measure is None, details=details))
        if seeds is not None:
            print(f"\nSeeds written to {seeds}")
        if page is not None:
            print(f"\nReport written to {page}")
        if ranges is not None:
            print(f"\nRanges written to {ranges}")
    failure = None if result.race is None else result.race.failure
    if record and verify is not None and failure is None:
        with console.progress(quiet):
            path = _record(result, warehouse)
        if output == "table":
            print(f"The next recommendation learns from the race: its runs are in {path}.")
    if code is not None:
        write_text(code, result.code())
        if output == "table":
            print(f"\n{code}: the first configuration as a script that runs without Headstart.")
    if failure is not None:
        raise Failed(f"no run of the race succeeded, and none was written to the warehouse: {failure}")


def _record(result: Recommendation, path: str | None) -> str:
    """Write the runs of the race to the warehouse, and learn from them; returns where that is."""
    from recommend.ranking.dataset_runs import learn
    from recommend.verification.race import record

    warehouse = Warehouse.create(path)
    if result.race is not None:
        record(result.race, warehouse)
        learn(result.measure, Warehouse.open(warehouse.location))
    return warehouse.location


def main() -> None:
    """Entry point of the console script."""
    console.main(app)
