"""`ingest`: runs and meta-features into the warehouse."""

import itertools
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ingest.openml import DEFAULT_SERVER, MEASURES
from warehouse.measures import known_name
from warehouse.options import WarehouseOption
from warehouse.qualities import QUALITIES, SELECTIONS, names_in
from warehouse.support import console
from warehouse.support.console import JsonOption, QuietOption
from warehouse.support.errors import BadOption, Failed, UnknownName, UnreadableInput
from warehouse.support.text import comma_separated

if TYPE_CHECKING:
    from ingest.metafeatures import Metafeatures
    from ingest.openml.job import JobProgress

SHOWN_REASONS = 10  # lines that fit a screen beside the summary


def _numbers_option(which: str) -> Any:
    """An option for OpenML's numbers of things; see `_numbers`."""
    return typer.Option(metavar="NUMBERS", help=f"{which}, separated by commas.", show_default=False)


ServerOption = Annotated[str, typer.Option(metavar="URL", help="Address of the API.")]

app = console.new_app(
    "Bring runs and meta-features into the warehouse.\n\n"
    "Examples:\n\n"
    "  ingest openml --flows 6969 --suite OpenML100 --dry-run\n\n"
    "  ingest file runs.arff --flow 6969 --qualities qualities.json\n\n"
    "  ingest experiments --datasets data/ --flows random_forest,svm --configurations 24\n\n"
    "  ingest metafeatures my.csv --format json"
)


@app.callback()
def _commands() -> None:
    """Keeps the names of commands, however few there are."""


@app.command()
def file(
    path: Annotated[Path, typer.Argument(help="Run table: ARFF, CSV, TSV or Parquet.", show_default=False)],
    flow: Annotated[
        str, typer.Option(help="OpenML id of the flow whose runs these are.", show_default=False)
    ],
    qualities: Annotated[
        Path | None,
        typer.Option(help="JSON file: task id -> quality -> value.", show_default=False),
    ] = None,
    warehouse: WarehouseOption = None,
    output: JsonOption = "table",
) -> None:
    """Read a table of runs: a column per hyperparameter, a column per measure, and `task_id`.

    Reading the same file again changes nothing.

    Example: ingest file flow_6969.arff --flow 6969 --qualities task_qualities.json
    """
    from ingest.run_files import ingest_run_file
    from warehouse.store import Warehouse

    commit = ingest_run_file(Warehouse.create(warehouse), path, flow, qualities=qualities)
    console.check_format(output)
    if output == "json":
        print(json.dumps({"version": commit.version, "added": commit.added, "changed": commit.changed}))
        return
    print(f"{path}: {console.rows_written(commit.added, commit.changed)}")
    print(f"warehouse version {commit.version}")


@app.command()
def experiments(
    datasets: Annotated[
        Path | None,
        typer.Option(help="Directory of datasets, or an index.csv (name, target).", show_default=False),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            help="TOML file that says what to run, in place of the options on datasets, flows, folds, seed "
            "and limits.",
            show_default=False,
        ),
    ] = None,
    flows: Annotated[str, typer.Option(help="Flows, separated by commas, or `all`.")] = "all",
    configurations: Annotated[
        int, typer.Option(min=0, help="Configurations of each flow beside its default.")
    ] = 24,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the stratified cross-validation.")] = 3,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 1,
    seed: Annotated[int, typer.Option(help="Of the design, the folds and the estimators.")] = 0,
    time_limit: Annotated[
        float, typer.Option(help="Seconds of processor time that one run may take.")
    ] = 60.0,
    memory_limit: Annotated[int, typer.Option(help="MiB that one run may take.")] = 4096,
    warehouse: WarehouseOption = None,
    quiet: QuietOption = False,
) -> None:
    """Run the same configurations on every dataset.

    They are a scrambled Sobol design over each flow's space and its default, or what a plan says (see
    ingest/plans/starter.toml). Results are stored as they come; started again, the command goes on where
    it was.

    Examples:

      ingest experiments --datasets data/ --flows random_forest,svm --configurations 24 --jobs 2

      ingest experiments --plan ingest/plans/starter.toml --jobs 2 --warehouse DIR
    """
    from ingest.flows import FLOWS, get_flow
    from ingest.reading.dataset_files import find_datasets
    from ingest.running.experiments import run_experiments
    from ingest.running.plan import design_plan, read_plan
    from warehouse.store import Warehouse

    if (datasets is None) == (plan is None):
        raise BadOption("say what to run: --datasets, or --plan, not both")
    if plan is not None:
        wanted = read_plan(plan)
    else:
        wanted = design_plan(
            find_datasets(datasets or Path()),
            list(FLOWS) if flows == "all" else [get_flow(name).name for name in flows.split(",")],
            configurations,
            folds=folds,
            seed=seed,
            seconds=time_limit,
            memory=memory_limit,
        )
    target = Warehouse.create(warehouse)
    with console.progress(quiet) as show:
        counts = run_experiments(
            target,
            wanted,
            jobs=jobs,
            report=lambda state: show(
                f"{state.dataset}: {state.done} runs done, {state.failed} failed, {state.skipped} known, "
                f"{state.left} left, about {console.duration(state.seconds_left)}"
            ),
        )
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    print(f"warehouse version {target.version}")


@app.command()
def pool(
    known: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Directory with the portfolios of AutoGluon (autogluon.json) and auto-sklearn 2 "
            "(autosklearn2.json).",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option(metavar="FILE", help="JSON file to write.", show_default=False)],
) -> None:
    """Write the pool of configurations that plans of experiments name.

    It has the default of every flow, configurations that AutoGluon, auto-sklearn 2 and FLAML found good, and
    a space-filling rest, in order of priority. FLAML's come from the installed package.

    Example: ingest pool --known portfolios/ --output ingest/plans/pool.json
    """
    from ingest.running.pool import build_pool, flaml_portfolios, known_configurations, write_pool

    flaml = flaml_portfolios()
    members = build_pool(known_configurations(known / "autogluon.json", known / "autosklearn2.json", flaml))
    write_pool(members, output)
    sources = Counter(
        member.source if member.source in ("default", "design") else "known" for member in members
    )
    flows = {member.configuration.algorithm for member in members}
    print(f"{output}: {len(members)} configurations of {len(flows)} flows")
    print(", ".join(f"{count} {source}" for source, count in sources.items()))


@app.command()
def openml(
    suite: Annotated[
        str | None, typer.Option(help="Only tasks of this suite: number or alias.", show_default=False)
    ] = None,
    tasks: Annotated[str | None, _numbers_option("Only these tasks")] = None,
    datasets: Annotated[str | None, _numbers_option("Only tasks of these datasets")] = None,
    flows: Annotated[str | None, _numbers_option("Only runs of these flows")] = None,
    uploaders: Annotated[str | None, _numbers_option("Only runs of these users")] = None,
    measures: Annotated[
        str, typer.Option(metavar="NAMES", help="Evaluation measures, separated by commas; short names do.")
    ] = ",".join(MEASURES),
    since: Annotated[
        int | None,
        typer.Option(min=1, help="Only runs with this number or a higher one.", show_default=False),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option("--max-runs-per-task-and-flow", min=1, help="Only so many of each.", show_default=False),
    ] = None,
    failed_runs: Annotated[bool, typer.Option(help="Also runs that ended with an error.")] = False,
    server: ServerOption = DEFAULT_SERVER,
    api_key_file: Annotated[
        Path | None, typer.Option(help="File with your API key; reading needs none.", show_default=False)
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Requests at the same time.")] = 1,
    rate: Annotated[float, typer.Option(help="Requests per second, at most.")] = 1.0,
    refresh: Annotated[bool, typer.Option(help="Ask for everything again and correct what changed.")] = False,
    dry_run: Annotated[bool, typer.Option(help="Only say what it would take.")] = False,
    warehouse: WarehouseOption = None,
    output: JsonOption = "table",
    log_json: Annotated[bool, typer.Option(help="A JSON line on stderr for every page.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Bring runs from OpenML, with their tasks, datasets, qualities, flows and hyperparameters.

    Started again, it asks only for what is new, and goes on where it was stopped. What was skipped and why is
    shown by `ingest status`. OpenML asks for at most one request per second and two at the same time.

    Examples:

      ingest openml --flows 6969,6970 --suite 14 --measures predictive_accuracy --dry-run

      ingest openml --flows 6969,6970 --suite 14 --measures predictive_accuracy --warehouse DIR
    """
    from ingest.openml.connection import Connection
    from ingest.openml.job import estimate, ingest_openml
    from ingest.openml.selection import Selection
    from warehouse.store import Warehouse

    console.check_format(output)
    selection = Selection(
        suite=suite,
        tasks=_numbers(tasks),
        datasets=_numbers(datasets),
        flows=_numbers(flows),
        uploaders=_numbers(uploaders),
        measures=tuple(known_name(name) or name for name in comma_separated(measures)),
        since=since,
        most=most,
        failures=failed_runs,
    )
    connection = Connection(server, rate=rate, api_key=_api_key(api_key_file))
    target = Warehouse.create(warehouse)
    if dry_run:
        expected = estimate(target, selection, connection)
        seconds = expected.requests / rate
        if output == "json":
            print(json.dumps({**asdict(expected), "seconds": seconds}))
            return
        print(f"about {expected.evaluations:,} evaluations, of which {expected.known:,} are known")
        print(f"about {expected.requests:,} requests, and one for each new dataset and flow")
        print(f"{console.duration(seconds)} at {rate:g} requests per second")
        return
    with console.progress(quiet or log_json) as show:
        summary = ingest_openml(
            target,
            selection,
            connection,
            jobs=jobs,
            refresh=refresh,
            report=_log_line if log_json else lambda state: show(_standing(state)),
        )
    if output == "json":
        print(json.dumps(asdict(summary)))
        return
    print(console.rows_written(summary.added, summary.changed))
    skipped = f"; skipped: {summary.skipped:,}, see `ingest status`" if summary.skipped else ""
    print(f"{summary.requests:,} requests in {console.duration(summary.seconds)}{skipped}")
    print(f"warehouse version {summary.version}")


@app.command("openml-data")
def openml_data(
    datasets: Annotated[str, _numbers_option("OpenML's datasets")],
    server: ServerOption = DEFAULT_SERVER,
    warehouse: WarehouseOption = None,
    quiet: QuietOption = False,
) -> None:
    """Download datasets and compute their meta-features, beside those that OpenML published.

    A dataset that was described by this version of the definitions is not downloaded again.

    Example: ingest openml-data --datasets 31,61 --warehouse DIR
    """
    from ingest.openml.data import ingest_openml_data
    from warehouse.store import Warehouse

    target = Warehouse.create(warehouse)
    with console.progress(quiet) as show:
        done = ingest_openml_data(target, _numbers(datasets), server=server, report=show)
    for what, why in done.failed.items():
        print(f"dataset {what} was skipped: {why}", file=sys.stderr)
    print(
        f"{len(done.described):,} datasets described, {len(done.known):,} known, {len(done.failed):,} skipped"
    )
    print(f"warehouse version {target.version}")
    if done.failed and not done.described and not done.known:
        raise Failed("no dataset could be described")


@app.command()
def status(warehouse: WarehouseOption = None, output: JsonOption = "table") -> None:
    """The jobs of `ingest openml` in a warehouse: what they asked for, found and skipped.

    Example: ingest status --warehouse DIR --format json
    """
    from ingest.openml.status import job_states
    from warehouse.store import Warehouse

    console.check_format(output)
    states = job_states(Warehouse.open(warehouse).path)
    if output == "json":
        print(json.dumps([asdict(state) for state in states], indent=2))
        return
    for state in states:
        selection = ", ".join(f"{name} {_listed(value)}" for name, value in state.selection.items())
        print(f"{state.state} since {state.last}: {state.server}, {selection}")
        for measure, count in state.evaluations.items():
            print(f"  {measure}: {count:,} evaluations")
        for why, count in Counter(why for _, why in state.skipped).most_common(SHOWN_REASONS):
            example = next(what for what, other in state.skipped if other == why)
            print(f"  skipped {example}{f' and {count - 1:,} more' if count > 1 else ''}: {why}")
    if not states:
        print("No job yet: `ingest openml` starts one.")


@app.command()
def metafeatures(
    path: Annotated[str, typer.Argument(help="Dataset: a file, or openml:ID.", show_default=False)],
    target: Annotated[str | None, typer.Option(help="Column to predict.", show_default=False)] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Comma-separated groups or names of meta-features"
            f" ({', '.join(SELECTIONS)}). Default: everything.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds to use; the most expensive are left out.", show_default=False),
    ] = None,
    output: JsonOption = "table",
    quiet: QuietOption = False,
) -> None:
    """Print a dataset's meta-features, under OpenML's names, and what they mean.

    Those that don't exist for the dataset are missing, with the reason. Sizes, classes and moments are
    exact; the other groups look at a stratified sample where the dataset is large, and say so.

    Examples:

      ingest metafeatures my.csv --target churned --format json

      ingest metafeatures my.csv --groups simple,class,landmarkers --budget 1
    """
    from ingest.metafeatures import compute_metafeatures
    from ingest.reading.datasets import load_dataset

    console.check_format(output)
    names = None if groups is None else names_in(groups)
    unknown = set(names or ()) - {quality.name for quality in QUALITIES}
    if unknown:
        raise UnknownName(f"no meta-feature or group {min(unknown)!r}; groups are {', '.join(SELECTIONS)}")
    with console.progress(quiet) as show:
        show("reading")
        dataset = load_dataset(path, target=target)
        computed = compute_metafeatures(dataset, names, budget=budget, report=show)
    if output == "json":
        values = computed.values.items()
        print(json.dumps({name: None if math.isnan(value) else value for name, value in values}))
        return
    print(f"{dataset.name}: {dataset.target_choice}")
    for line in _described(computed):
        print(line)


def _numbers(text: str | None) -> tuple[int, ...]:
    """Numbers of a comma-separated list."""
    words = comma_separated(text or "")
    wrong = [word for word in words if not word.isdecimal() or not 0 < int(word) < 2**53]
    if wrong:
        raise BadOption(f"{wrong[0]!r} is no number of a thing at OpenML; give numbers separated by commas")
    return tuple(map(int, words))


def _api_key(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        key = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableInput(f"{path}: the API key can't be read: {error}") from error
    if not key.isalnum():
        raise UnreadableInput(f"{path} has no API key: letters and digits in one line")
    return key


def _standing(state: "JobProgress") -> str:
    """A line about a job of `ingest openml`."""
    rate = state.found / state.seconds if state.seconds else 0.0
    line = f"{state.measure}: {state.runs:,} runs"
    if state.total is not None:
        line += f" of about {state.total:,}"
    line += f", {state.pages:,} pages, {state.requests:,} requests, {rate:,.0f} runs/s"
    if state.total is not None and rate:
        line += f", about {console.duration(max(state.total - state.runs, 0) / rate)} left"
    return line


def _log_line(state: "JobProgress") -> None:
    print(json.dumps({"event": "page", **asdict(state)}), file=sys.stderr, flush=True)


def _listed(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _described(computed: "Metafeatures") -> Iterator[str]:
    """Lines with name, value and definition, group by group."""
    width = max(map(len, computed.values))
    for group, members in itertools.groupby(
        (quality for quality in QUALITIES if quality.name in computed.values),
        key=lambda quality: quality.group,
    ):
        qualities = list(members)
        reasons = {computed.reasons.get(quality.name) for quality in qualities}
        yield ""
        if len(reasons) == 1 and None not in reasons:
            yield f"{group}: missing, because {reasons.pop()}"
            continue
        seen = f" ({computed.sample})" if computed.sample and qualities[0].cost in ("sample", "fits") else ""
        yield f"{group}{seen}"
        for quality in qualities:
            reason = computed.reasons.get(quality.name)
            value = "missing" if reason else f"{computed.values[quality.name]:.6g}"
            remarks = [reason] if reason else ["depends on the order of rows"] * quality.depends_on_order
            text = "; ".join([quality.definition, *remarks])
            yield f"  {quality.name:<{width}}  {value:>12}  {text}"


def main() -> None:
    """Entry point of the console script."""
    console.main(app)
