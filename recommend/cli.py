"""`recommend`: the configurations to try first on a dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

import typer

from metalearners import DEFAULT_LEARNER
from recommend.options import (
    DATASET_HELP,
    ChosenMeasureOption,
    CodeOption,
    Data,
    FlowOption,
    ReadingWithRoles,
    RecordOption,
)
from warehouse.options import WarehouseOption, result_file
from warehouse.support import console
from warehouse.support.console import QuietOption
from warehouse.support.errors import BadOption, Failed
from warehouse.support.files import refuse_unwritable, write_json, write_text
from warehouse.support.option_groups import PanelCommand, grouped

# Help and refusals need no pandas, which takes half a second.
if TYPE_CHECKING:
    from ingest.reading.datasets import Dataset
    from recommend.explaining.column_importance import ColumnImportance
    from recommend.recommendation import Recommendation

app = console.new_app("")
Tool = Literal["optuna", "smac", "flaml", "ray", "sklearn", "configspace"]
"""Export formats of `recommend.export`, repeated here because importing it takes half a second."""
TOOLS = get_args(Tool)


class _Recommend(PanelCommand):
    rare: ClassVar = frozenset({"How a file is read", "More"})


@dataclass(frozen=True)
class RankingOptions:
    """What to rank, and by which measure."""

    panel: ClassVar = "What to rank"
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Number of configurations.")] = 3
    flow: FlowOption = None
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="top: the best and its complements; delta: spread over the ranking."
        ),
    ] = "top"
    measure: ChosenMeasureOption = None


@dataclass(frozen=True)
class TimeOptions:
    """Time limits of fits and of trials on the dataset."""

    panel: ClassVar = "Time"
    budget: Annotated[
        float | None,
        typer.Option(
            parser=console.seconds,
            metavar="TIME",
            help="Limit of one fit of each configuration, e.g. 60s, 5m, 1h.",
        ),
    ] = None
    verify: Annotated[
        float | None,
        typer.Option(
            parser=console.seconds,
            metavar="TIME",
            help="Try the first ones and common defaults on the dataset for this long.",
        ),
    ] = None
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Parallel trials. Default: one per processor.")
    ] = None
    record: RecordOption = False


@dataclass(frozen=True)
class ResultOptions:
    """Output and files."""

    panel: ClassVar = "Results"
    why: Annotated[bool, typer.Option("--why", help="Show all hyperparameters, and reasons for ranks.")] = (
        False
    )
    legend: Annotated[bool, typer.Option("--legend", help="Explain the columns.")] = False
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain the ranking in about ten sentences.")
    ] = False
    details: Annotated[bool, typer.Option("--details", help="Standard scores; with --explain, all sums.")] = (
        False
    )
    seeds: Annotated[Path | None, result_file("--seeds", ".json", "Write a file to start searches from.")] = (
        None
    )
    page: Annotated[Path | None, result_file("--report", ".html", "Write a page for a browser.")] = None
    code: CodeOption = None
    average: Annotated[
        bool, typer.Option("--average", help="With --code: the average of the first three.")
    ] = False
    ranges: Annotated[Path | None, result_file("--ranges", ".json", "Write ranges of good values.")] = None
    output: Annotated[
        Literal["table", "json", Tool],
        typer.Option(
            "--format", metavar="NAME", help=f"table, json, or JSON for a tool: {', '.join(TOOLS)}."
        ),
    ] = "table"


@dataclass(frozen=True)
class MoreOptions:
    """Learner and warehouse."""

    panel: ClassVar = "More"
    learner: Annotated[str, typer.Option(help="Meta-learner for the ranking; more: `metalearners list`.")] = (
        DEFAULT_LEARNER
    )
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Ignore runs on the dataset itself, as in an experiment.")
    ] = False
    warehouse: WarehouseOption = None
    quiet: QuietOption = False


@dataclass(frozen=True)
class DataOrFile(Data):
    """The dataset, which may also be named by the argument."""

    file: Annotated[str | None, typer.Argument(metavar="FILE", help=DATASET_HELP)] = None


@app.command(cls=_Recommend, no_args_is_help=True)
@grouped
def recommend(
    data: DataOrFile,
    ranking: RankingOptions,
    time: TimeOptions,
    results: ResultOptions,
    reading: ReadingWithRoles,
    more: MoreOptions,
) -> None:
    """Rank the configurations to try first on a dataset, learned from runs on other datasets.

    Examples:

      recommend my.csv

      recommend my.csv --target churned --measure auc --verify 60s

      recommend films.csv --target stars --task regression --why

      recommend my.csv --code first.py --seeds seeds.json --report page.html

      recommend my.csv --role size=numeric --delimiter semicolon --missing unknown
    """
    if time.record and time.verify is None:
        raise BadOption("--record needs --verify, which makes the trials")
    if time.record:
        from warehouse.store import Warehouse

        Warehouse.check_writable(more.warehouse)
    if results.average and results.code is None:
        raise BadOption("--average needs --code FILE")
    refuse_unwritable(results.seeds, results.page, results.code)
    dataset = data.load(reading, data.file)
    is_explained = results.explain or results.page is not None  # a page always has explanations
    kept = 0.0
    if time.verify is not None and results.page is not None:
        from recommend.explaining.column_importance import seconds_kept

        kept = seconds_kept(time.verify)
        time = replace(time, verify=time.verify - kept)
    result = _ranked(dataset, ranking, time, more, is_explained=is_explained)
    shown = result if results.explain else replace(result, explanation=None)
    document = shown.document()
    # Files come first: the reader of the text may close the pipe (`| head`).
    notes = _write_files(result, document, results, kept)
    failure = None if result.verification is None else result.verification.search.failure
    if time.record and failure is None:
        path = _record(result, more.warehouse)
        notes.append(f"The next recommendation learns from the trials: their runs are in {path}.")
    if results.output == "json":
        print(json.dumps(document, indent=2))
    elif results.output in TOOLS:
        from recommend.export import export_document

        print(json.dumps(export_document(document, results.output), indent=2))
    else:
        from recommend.reporting.terminal import in_words, next_steps

        text = in_words(
            shown,
            is_default_measure=ranking.measure is None,
            why=results.why,
            details=results.details,
            legend=results.legend,
        )
        print("\n".join([text, "", *(notes or next_steps(result))]))
    if failure is not None:
        raise Failed(f"no trial succeeded, and none was written to the warehouse: {failure}")


def _ranked(
    dataset: Dataset, ranking: RankingOptions, time: TimeOptions, more: MoreOptions, *, is_explained: bool
) -> Recommendation:
    """The recommendation for a dataset, with progress of its verification on stderr."""
    from recommend.recommender import recommend as rank
    from warehouse.store import Warehouse

    with console.progress(more.quiet) as show:
        return rank(
            dataset,
            warehouse=Warehouse.open(more.warehouse),
            top=ranking.top,
            flows=ranking.flow or (),
            strategy=ranking.strategy,
            measure=ranking.measure,
            metalearner=more.learner,
            leave_out=more.leave_out,
            budget=time.budget,
            verify=time.verify,
            jobs=time.jobs,
            explain=is_explained,
            report=lambda progress: show(progress.line()),
        )


def _importance(result: Recommendation, seconds: float) -> ColumnImportance | None:
    """Column importance for the best configuration tried; None without trials, or after Ctrl-C."""
    if result.verification is None or result.verification.search.interrupted:
        return None
    from recommend.bo.tuning.page import importance_for

    return importance_for(result.verification.search, seconds)


def _write_files(
    result: Recommendation, document: Mapping[str, Any], results: ResultOptions, seconds: float
) -> list[str]:
    """Write the requested files; return a line to print about each.

    Args:
        seconds: time to compute the importance of columns.
    """
    notes = []
    if results.seeds is not None:
        from recommend.seeds import write_seeds

        write_seeds(document, results.seeds)
        notes.append(f"{results.seeds}: the recommendation as JSON, to start a search from.")
    if results.page is not None:
        from recommend.reporting.page import recommendation_page

        write_text(results.page, recommendation_page(result, _importance(result, seconds)))
        notes.append(f"{results.page}: the recommendation as a page.")
    if results.ranges is not None:
        from recommend.ranges import ranges_document

        write_json(results.ranges, ranges_document(result.ranges(), result.dataset.name, result.measure))
        notes.append(f"{results.ranges}: ranges of good hyperparameter values.")
    if results.code is not None:
        write_text(results.code, result.average_code() if results.average else result.code())
        what = "the average" if results.average else "the first configuration"
        notes.append(f"{results.code}: {what} as a script that runs without Headstart.")
    return notes


def _record(result: Recommendation, path: str | None) -> str:
    """Write the trials of the verification to the warehouse; return its location."""
    from recommend.bo.tuning.artifacts import record
    from warehouse.store import Warehouse

    warehouse = Warehouse.create(path)
    if result.verification is not None:
        record(result.verification.search, warehouse)
    return warehouse.location


main = partial(console.main, app)
