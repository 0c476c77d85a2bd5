"""The commands of `ingest` that ask a server: `openml`, `openml-data`, and `status` of their jobs."""

import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ingest.openml import MEASURES
from ingest.openml.api import DEFAULT_SERVER
from warehouse.options import WaitOption, WarehouseOption
from warehouse.support import console
from warehouse.support.console import JsonOption, QuietOption
from warehouse.support.errors import BadOption, Failed, NoWarehouse, UnreadableInput
from warehouse.support.option_groups import grouped
from warehouse.support.text import comma_separated, counted
from warehouse.vocabulary.measures import known_name
from warehouse.vocabulary.task_types import TaskName

if TYPE_CHECKING:
    from ingest.openml.api.connection import Connection
    from ingest.openml.job import JobProgress
    from ingest.openml.selection import Selection
    from ingest.openml.status import JobState
    from warehouse.store import Warehouse

SHOWN_REASONS = 10  # lines that fit a screen with the summary


def _numbers_option(which: str) -> Any:
    """An option for a list of OpenML ids; see `_numbers`."""
    return typer.Option(metavar="NUMBERS", help=f"{which}, separated by commas.")


ServerOption = Annotated[str, typer.Option(metavar="URL", help="Address of the server's API.")]


@dataclass(frozen=True)
class SelectionOptions:
    """Selection of the runs to download, and of their measures."""

    panel: ClassVar = "Which runs"
    suite: Annotated[str | None, typer.Option(help="Only tasks of this suite: number or alias.")] = None
    tasks: Annotated[str | None, _numbers_option("Only these tasks")] = None
    datasets: Annotated[str | None, _numbers_option("Only tasks of these datasets")] = None
    flows: Annotated[str | None, _numbers_option("Only runs of these flows")] = None
    uploaders: Annotated[str | None, _numbers_option("Only runs of these users")] = None
    task: Annotated[
        TaskName, typer.Option(help="Task type of the runs, whose usual measures are the default.")
    ] = "classification"
    measures: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Evaluation measures, separated by commas; short names work. Default: "
            + "; ".join(f"{', '.join(names)} ({task})" for task, names in MEASURES.items())
            + ".",
        ),
    ] = None
    since: Annotated[int | None, typer.Option(min=1, help="Only runs with this number or a higher one.")] = (
        None
    )
    most: Annotated[
        int | None,
        typer.Option(
            "--max-runs-per-task-and-flow", min=1, help="Largest number of runs of each task and flow."
        ),
    ] = None
    failed_runs: Annotated[bool, typer.Option(help="Also runs that ended with an error.")] = False

    def selection(self) -> "Selection":
        """The selection of runs.

        Raises:
            BadInput: it does not restrict tasks, or an id is not a number.
        """
        from ingest.openml.selection import Selection

        return Selection(
            suite=self.suite,
            tasks=_numbers(self.tasks),
            datasets=_numbers(self.datasets),
            flows=_numbers(self.flows),
            uploaders=_numbers(self.uploaders),
            measures=MEASURES[self.task]
            if self.measures is None
            else tuple(known_name(name) or name for name in comma_separated(self.measures)),
            since=self.since,
            most=self.most,
            failures=self.failed_runs,
        )


@dataclass(frozen=True)
class RequestOptions:
    """The server, and limits of requests to it."""

    panel: ClassVar = "Requests"
    server: ServerOption = DEFAULT_SERVER
    api_key_file: Annotated[Path | None, typer.Option(help="File with your API key; reading needs none.")] = (
        None
    )
    jobs: Annotated[int, typer.Option(min=1, help="Number of parallel requests.")] = 1
    rate: Annotated[float, typer.Option(help="Most requests per second.")] = 1.0
    refresh: Annotated[bool, typer.Option(help="Download everything again and correct changed rows.")] = False
    dry_run: Annotated[bool, typer.Option(help="Only estimate the numbers of runs and requests.")] = False


@dataclass(frozen=True)
class ResultOptions:
    """Where runs go, and what is printed."""

    panel: ClassVar = "Results"
    warehouse: WarehouseOption = None
    wait: WaitOption = None
    output: JsonOption = "table"
    log_json: Annotated[bool, typer.Option(help="Print a JSON line on stderr for every page.")] = False
    quiet: QuietOption = False


@grouped
def openml(selected: SelectionOptions, requests: RequestOptions, results: ResultOptions) -> None:
    """Download runs from OpenML, with their tasks, datasets, qualities, flows and hyperparameters.

    The same command resumes where it was stopped and downloads only new runs. `ingest status` shows what was
    skipped and why. Runs that the server no longer lists are kept and counted; after --refresh `ingest
    status` names them. OpenML asks for at most one request per second and two at the same time.


    Examples:

      ingest openml --flows 6969,6970 --suite 14 --measures predictive_accuracy --dry-run

      ingest openml --flows 6969,6970 --suite 14 --measures predictive_accuracy --warehouse DIR

      ingest openml --task regression --suite 353 --warehouse DIR
    """
    from warehouse.support.imports import spare_pandas

    spare_pandas()
    from ingest.openml.api.connection import Connection
    from ingest.openml.job import ingest_openml
    from warehouse.store import Warehouse

    selection = selected.selection()
    connection = Connection(requests.server, rate=requests.rate, api_key=_api_key(requests.api_key_file))
    if requests.dry_run:
        _print_estimate(selection, connection, requests.rate, results)
        return
    Warehouse.check_writable(results.warehouse)
    target = Warehouse.create(results.warehouse)
    with console.progress(results.quiet or results.log_json) as show:
        summary = ingest_openml(
            target,
            selection,
            connection,
            jobs=requests.jobs,
            refresh=requests.refresh,
            report=_log_line if results.log_json else lambda state: show(_standing(state)),
        )
    if results.output == "json":
        print(json.dumps(asdict(summary)))
        return
    print(console.rows_written(summary.added, summary.changed))
    skipped = f"; skipped: {summary.skipped:,}, see `ingest status`" if summary.skipped else ""
    if summary.unlisted:
        print(f"known runs no longer listed (kept): {summary.unlisted:,}; see `ingest status`")
    print(f"{counted(summary.requests, 'requests')} in {console.duration(summary.seconds)}{skipped}")
    print(f"warehouse version {summary.version}")


def _print_estimate(
    selection: "Selection", connection: "Connection", rate: float, results: ResultOptions
) -> None:
    """Print the expected numbers of evaluations and requests; writes nothing."""
    from ingest.openml.job import estimate

    with TemporaryDirectory() as scratch:
        warehouse = _as_it_would_begin(results.warehouse, Path(scratch))
        expected = estimate(warehouse, selection, connection)
    seconds = expected.requests / rate
    if results.output == "json":
        print(json.dumps({**asdict(expected), "seconds": seconds}))
        return
    print(f"about {counted(expected.evaluations, 'evaluations')}, of which {expected.known:,} are known")
    print(f"about {counted(expected.requests, 'requests')}, and one for each new dataset and flow")
    print(f"{console.duration(seconds)} at {rate:g} requests per second")


def openml_data(
    datasets: Annotated[str, _numbers_option("OpenML's datasets")],
    server: ServerOption = DEFAULT_SERVER,
    warehouse: WarehouseOption = None,
    quiet: QuietOption = False,
) -> None:
    """Download datasets and compute their meta-features, besides those that OpenML published.

    Datasets already described by this version of the definitions are not downloaded again.

    Example: ingest openml-data --datasets 31,61 --warehouse DIR
    """
    from ingest.openml.api.published import open_connection
    from ingest.openml.data import ingest_openml_data
    from warehouse.store import Warehouse

    connection = open_connection(server)
    target = Warehouse.create(warehouse)
    with console.progress(quiet) as show:
        done = ingest_openml_data(target, _numbers(datasets), connection, report=show)
    for what, why in done.failed.items():
        print(f"dataset {what} was skipped: {why}", file=sys.stderr)
    print(
        f"{counted(len(done.described), 'datasets')} described, {len(done.known):,} known,"
        f" {len(done.failed):,} skipped"
    )
    print(f"warehouse version {target.version}")
    if done.failed and not done.described and not done.known:
        raise Failed("no dataset could be described")


def status(warehouse: WarehouseOption = None, output: JsonOption = "table") -> None:
    """List the jobs of `ingest openml` in a warehouse: selection, found and skipped runs.

    Example: ingest status --warehouse DIR --format json
    """
    from ingest.openml.status import job_states
    from warehouse.store import Warehouse

    states = job_states(Warehouse.open(warehouse).path)
    if output == "json":
        print(json.dumps([asdict(state) for state in states], indent=2))
        return
    for state in states:
        selection = ", ".join(f"{name} {_listed(value)}" for name, value in state.selection.items())
        print(f"{state.state} since {state.last}: {state.server}, {selection}")
        for measure, count in state.evaluations.items():
            print(f"  {measure}: {counted(count, 'evaluations')}")
        for why, count in Counter(why for _, why in state.skipped).most_common(SHOWN_REASONS):
            example = next(what for what, other in state.skipped if other == why)
            print(f"  skipped {example}{f' and {count - 1:,} more' if count > 1 else ''}: {why}")
        if state.fewer or state.unlisted:
            print(f"  {_no_longer_listed(state)}")
    if not states:
        print("No job yet: `ingest openml` starts one.")


def _as_it_would_begin(named: str | None, scratch: Path) -> "Warehouse":
    """The warehouse that a job would write to; an empty one in `scratch` if it does not exist yet."""
    from warehouse.store import Warehouse

    try:
        return Warehouse.open(named)
    except NoWarehouse:
        return Warehouse.create(scratch)


def _no_longer_listed(state: "JobState") -> str:
    """A line about runs that a server no longer lists."""
    gone = state.unlisted
    if len(gone) < state.fewer:
        return f"known runs no longer listed (kept): {state.fewer:,}; --refresh finds out which"
    shown = ", ".join(map(str, gone[:SHOWN_REASONS]))
    more = f" and {len(gone) - SHOWN_REASONS:,} more" if len(gone) > SHOWN_REASONS else ""
    return f"no longer listed (kept): {'runs' if len(gone) > 1 else 'run'} {shown}{more}"


def _numbers(text: str | None) -> tuple[int, ...]:
    """Parse a comma-separated list of numbers."""
    words = comma_separated(text or "")
    wrong = [word for word in words if not word.isdecimal() or not 0 < int(word) < 2**53]
    if wrong:
        raise BadOption(f"{wrong[0]!r} is not an OpenML id; give numbers separated by commas")
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
    """A line about the progress of a job of `ingest openml`."""
    rate = state.found / state.seconds if state.seconds else 0.0
    line = f"{state.measure}: {counted(state.runs, 'runs')}"
    if state.total is not None:
        line += f" of about {state.total:,}"
    line += f", {counted(state.pages, 'pages')}, {counted(state.requests, 'requests')}, {rate:,.0f} runs/s"
    if state.total is not None and rate:
        line += f", about {console.duration(max(state.total - state.runs, 0) / rate)} left"
    return line


def _log_line(state: "JobProgress") -> None:
    print(json.dumps({"event": "page", **asdict(state)}), file=sys.stderr, flush=True)


def _listed(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
