"""`tune`: search from a recommendation, and compare search methods."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from recommend.bo.simulation.cli import simulate
from recommend.bo.strategies import DEFAULT_STRATEGY, get_strategy
from recommend.bo.summaries import summaries
from recommend.bo.surrogates import DEFAULT_SURROGATE
from recommend.bo.tuning import Budget, Search, SearchResult, artifacts, report, tune
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.settings import PICKS, USUAL_SECONDS, completed
from recommend.bo.warmstart import DEFAULT_START, FROM_FILE
from recommend.explaining.column_importance import MOST_SECONDS, ColumnImportance, seconds_kept
from recommend.explaining.target_words import target_words
from recommend.options import (
    ChosenMeasureOption,
    CodeOption,
    Data,
    FlowOption,
    ReadingWithRoles,
    RecordOption,
)
from warehouse.options import DaskOption, JobsOption, WarehouseOption, result_file
from warehouse.store import Warehouse
from warehouse.support import console
from warehouse.support.console import JsonOption, QuietOption
from warehouse.support.errors import BadOption, Failed, HeadstartError
from warehouse.support.files import refuse_unwritable, write_text
from warehouse.support.option_groups import PanelCommand, PanelGroup, grouped
from warehouse.support.parallel import dask_workers
from warehouse.support.text import counted

HELP = """Search for the best model of a dataset, starting with the recommendation.

The model is an ensemble of several configurations. Ctrl-C ends a search with the best model so far;
repeating the command continues it.

Examples:

  tune my.csv --time 60s

  tune my.csv --time 10m --jobs 2 --model best.skops --report search.html

  tune my.csv --flow lightgbm --ensemble 0 --code best.py

  tune my.csv --trials 50 --seeds seeds.json
"""


class _FileFirst(PanelGroup):
    """A first argument that is not a subcommand is the dataset: `tune my.csv` is `tune --dataset my.csv`."""

    rare: ClassVar = frozenset(
        {"How a file is read", "Trials and the model", "Machines and folders", "Research"}
    )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            if any(argument.partition("=")[0] == "--dataset" for argument in args):
                raise BadOption(f"FILE and --dataset exclude each other: {args[0]}")
            args = ["--dataset", *args]
        return super().parse_args(ctx, args)


app = console.new_app(HELP, _FileFirst)
app.command(cls=PanelCommand, no_args_is_help=False)(simulate)
WRITING = 0.5
"""Seconds reserved for writing files."""


@dataclass(frozen=True)
class SpaceOptions:
    """Options for the search space."""

    panel: ClassVar = "What to search"
    flow: FlowOption = None
    measure: ChosenMeasureOption = None
    preprocessing: Annotated[
        bool,
        typer.Option(
            "--preprocessing", help="Also search imputation, encoding, scaling and balancing of classifiers."
        ),
    ] = False


@dataclass(frozen=True)
class BudgetOptions:
    """Limits of a search."""

    panel: ClassVar = "How long"
    trials: Annotated[int | None, typer.Option(metavar="N", help="Limit of trials. Default: none.")] = None
    time: Annotated[
        float | None,
        typer.Option(
            parser=console.seconds,
            metavar="TIME",
            help=f"Limit of time, without writing files. Default: {USUAL_SECONDS:g}s, or none with --trials.",
        ),
    ] = None

    @property
    def seconds(self) -> float | None:
        """Time of the whole command, until it writes files; None = no limit."""
        return USUAL_SECONDS if self.trials is None and self.time is None else self.time

    def budget(self, *, with_importance: bool) -> Budget:
        """The limits of the search, which leave time for the importance of columns if requested."""
        kept = seconds_kept(self.seconds) if self.seconds is not None and with_importance else 0.0
        return Budget(self.trials, None if self.seconds is None else self.seconds - kept)


@dataclass(frozen=True)
class ResultOptions:
    """Options for printed and written results."""

    panel: ClassVar = "Results"
    code: CodeOption = None
    model: Annotated[
        Path | None,
        result_file(
            "--model", ".skops", "Write the fitted model.", "--code writes a script that fits the model"
        ),
    ] = None
    page: Annotated[
        Path | None,
        result_file("--report", ".html", "Write a page for a browser, after each trial and at the end."),
    ] = None
    output: JsonOption = "table"


@dataclass(frozen=True)
class TrialOptions:
    """Options for the evaluation of trials, and for the model."""

    panel: ClassVar = "Trials and the model"
    folds: Annotated[
        int | None,
        typer.Option(
            min=1, help="Folds of a trial's cross-validation; 1 is one split. Default: by rows and time."
        ),
    ] = None
    trial_time: Annotated[
        float | None,
        typer.Option(
            parser=console.seconds,
            metavar="TIME",
            help="Time limit of a trial, e.g. 60s, 5m. Default: a quarter of --time, else 60s.",
        ),
    ] = None
    trial_memory: Annotated[int, typer.Option(min=1, help="Memory limit of a trial, in MiB.")] = 4096
    ensemble: Annotated[
        int,
        typer.Option(
            min=0,
            help="Size of the greedily selected ensemble (Caruana 2004); 0 = the best configuration alone.",
        ),
    ] = PICKS
    seed: Annotated[int, typer.Option(min=0, help="Random seed of samples, folds and estimators.")] = 0


@dataclass(frozen=True)
class MachineOptions:
    """Options for machines and storage."""

    panel: ClassVar = "Machines and folders"
    jobs: JobsOption = 1
    dask: DaskOption = None
    history: Annotated[
        Path | None,
        typer.Option(help="Folder of the trials. Default: a folder for this search in your cache."),
    ] = None
    warehouse: WarehouseOption = None
    record: RecordOption = False
    quiet: QuietOption = False


@dataclass(frozen=True)
class ResearchOptions:
    """Options for the choice of configurations."""

    panel: ClassVar = "Research"
    start: Annotated[
        str | None,
        typer.Option(
            help="First configurations: quick, top, none; more: `tune methods`. "
            f"Default: the seeds file, else {DEFAULT_START}."
        ),
    ] = None
    seeds: Annotated[Path | None, typer.Option(help="Start from this file of `recommend --seeds`.")] = None
    surrogate: Annotated[
        str | None,
        typer.Option(
            help="Surrogate model: blend, gbqr, forest; more: `tune methods`. Default: the strategy's own."
        ),
    ] = None
    strategy: Annotated[
        str,
        typer.Option(
            help="Division of trials among algorithms: joint, mosaic, hyperband; more: `tune methods`."
        ),
    ] = DEFAULT_STRATEGY
    acquisition: Annotated[
        str | None,
        typer.Option(
            help="Acquisition function: ei, ei-per-second, ucb; more: `tune methods`. "
            "Default: the surrogate's own, but ei-per-second instead of ei."
        ),
    ] = None
    learner: Annotated[
        str | None, typer.Option(help="Meta-learner of the start and the surrogate; see `metalearners list`.")
    ] = None
    random_every: Annotated[
        int | None, typer.Option(min=1, help="Period of random trials; 2: every second trial.")
    ] = None
    anchors: Annotated[
        bool,
        typer.Option(
            help="Also try a default, the best configuration on average and a random one, to learn from "
            "later."
        ),
    ] = True


@app.callback(invoke_without_command=True)
@grouped
def search(
    context: typer.Context,
    data: Data,
    space: SpaceOptions,
    limits: BudgetOptions,
    results: ResultOptions,
    reading: ReadingWithRoles,
    trials: TrialOptions,
    machines: MachineOptions,
    research: ResearchOptions,
) -> None:
    """`tune` without a subcommand; see `HELP`."""
    if context.invoked_subcommand is not None:
        return
    if results.model is not None:
        artifacts.prepare_saving()
    if machines.record:
        Warehouse.check_writable(machines.warehouse)
    refuse_unwritable(results.model, results.page, results.code)
    dataset = data.load(reading)
    known = Warehouse.open(machines.warehouse)
    asked = completed(_search_of(space, trials, research), dataset, known)
    with console.progress(machines.quiet) as show, dask_workers(machines.dask) as executor:
        tuned = tune(
            dataset,
            asked,
            limits.budget(with_importance=results.page is not None),
            warehouse=known,
            folder=machines.history,
            jobs=machines.jobs,
            executor=executor,
            report=lambda progress: show(progress.line()),
            watch=None if results.page is None else partial(_write_page, results.page, is_over=False),
            began=console.began(),
        )
        importance = None
        if results.page is not None and tuned.model is not None and not tuned.interrupted:
            importance = _importance(tuned, limits)
    as_json = results.output == "json"
    if (
        space.measure is None
        and not as_json
        and (about_measure := target_words(dataset).measure_remark(asked.measure))
    ):
        print(about_measure)
    print(json.dumps(report.document(tuned), indent=2, allow_nan=False) if as_json else report.table(tuned))
    if tuned.model is None:
        if results.page is not None:
            _write_page(results.page, tuned, is_over=True)
        raise Failed(" ".join(tuned.remarks))
    _keep(tuned, list(_wanted(tuned, importance, results, machines)), results, machines)


def _search_of(space: SpaceOptions, trials: TrialOptions, research: ResearchOptions) -> Search:
    """The settings of a search, without those that follow from the dataset."""
    from recommend.export import configurations_of
    from recommend.seeds import read_seeds

    seeds = research.seeds
    return Search(
        flows=tuple(space.flow or ()),
        measure=space.measure or "",
        folds=trials.folds,
        start=research.start or (DEFAULT_START if seeds is None else FROM_FILE),
        seeds=() if seeds is None else tuple(configurations_of(read_seeds(seeds))),
        strategy=research.strategy,
        surrogate=research.surrogate or get_strategy(research.strategy).surrogate,
        metalearner=research.learner,
        acquisition=research.acquisition,
        random_every=research.random_every,
        anchors=research.anchors,
        preprocessing=space.preprocessing,
        ensemble=trials.ensemble,
        seed=trials.seed,
        trial_seconds=trials.trial_time,
        trial_memory=trials.trial_memory,
    )


def _importance(tuned: SearchResult, limits: BudgetOptions) -> ColumnImportance | None:
    """The importance of columns, computed in the remaining time of the search."""
    from recommend.bo.tuning.page import importance_for

    left = Deadline(limits.seconds, console.began()).left() - WRITING
    return importance_for(tuned, min(left, MOST_SECONDS))


def _wanted(
    tuned: SearchResult, importance: ColumnImportance | None, results: ResultOptions, machines: MachineOptions
) -> Iterator[Callable[[], str]]:
    """Functions that each write one of the results of a search, and return the line to print."""
    if results.model is not None:
        yield partial(_save, tuned, results.model)
    if results.page is not None:
        yield partial(_write_page, results.page, tuned, is_over=True, importance=importance)
    if results.code is not None:
        yield partial(_write_code, tuned, results.code)
    if machines.record:
        yield partial(_record, tuned, machines.warehouse)


def _keep(
    tuned: SearchResult, wanted: Sequence[Callable[[], str]], results: ResultOptions, machines: MachineOptions
) -> None:
    """Write the requested results of a search, and print a line about each."""
    notes = [f"The trials are in {tuned.folder}; repeat the command to continue them."]
    failures: list[HeadstartError] = []
    with console.progress(machines.quiet):
        for keep in wanted:
            try:
                notes.append(keep())
            except HeadstartError as error:  # go on with the other results
                failures.append(error)
    if results.output == "table":
        print("\n".join(notes))
    if failures:
        raise type(failures[0])("; ".join(map(str, failures)))


def _save(tuned: SearchResult, model: Path) -> str:
    """Write the fitted model; return the line to print."""
    types = artifacts.save_model(artifacts.fitted(tuned), model)
    return f"{model}: skops.io.load(path, trusted={types}); it predicts data frames, as pandas reads the file"


def _write_page(
    page: Path, tuned: SearchResult, *, is_over: bool, importance: ColumnImportance | None = None
) -> str:
    """Write the page about the search, which may still run; return the line to print."""
    from recommend.bo.tuning.page import tuning_page

    write_text(page, tuning_page(tuned, is_over=is_over, importance=importance))
    return f"{page}: a report of the search."


def _write_code(tuned: SearchResult, path: Path) -> str:
    """Write the model as a script; return the line to print."""
    write_text(path, tuned.code())
    return f"{path}: the model as a script that runs without Headstart."


def _record(tuned: SearchResult, path: str | None) -> str:
    """Write the trials to the warehouse; return the line to print."""
    warehouse = Warehouse.create(path)
    count = artifacts.record(tuned, warehouse)
    return f"{counted(count, 'runs')} are in {warehouse.location}; the next recommendation learns from them."


@app.command(no_args_is_help=False)
def methods(output: JsonOption = "table") -> None:
    """List the surrogates, strategies, acquisition functions and starts for a search.

    Example: tune methods
    """
    found = summaries()
    if output == "json":
        print(json.dumps(found, indent=2))
        return
    width = max(len(name) for named in found.values() for name in named)
    for kind, named in found.items():
        print(kind.capitalize())
        for name, summary in named.items():
            default = " (default)" if name in (DEFAULT_SURROGATE, DEFAULT_STRATEGY, DEFAULT_START) else ""
            print(f"  {name:<{width}}  {' '.join(summary.split())}{default}")


main = partial(console.main, app)
