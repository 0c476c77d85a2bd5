"""What ingesting from OpenML costs, and whether it survives faults and kills, on 69,000 real runs.

    python -m tests.benchmarks.openml_ingest [--parts speed,client,again,faults,kills]

The server of `tests/openml_server` runs in one process, and each job in one of its own, which is new: seconds
and CPU are the job's, memory is the peak of the whole process and what its imports took of it. Nothing waits
for a rate, so that the seconds are those of the work. Needs the shared data beside the checkout.

    speed   into an empty warehouse, with one and with two connections; a first job, which is not counted,
            warms the server
    client  a job and OpenML's own client in turn, on one server
    again   the same job once more, and again after new runs
    faults  a server that goes wrong; what is stored must be what the run files hold
    kills   a job killed again and again; the same must be stored, and little asked for twice
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import logging
import math
import multiprocessing
import os
import random
import resource
import statistics
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

# What a job or the client needs is imported where it is needed: this module is imported by every process,
# whose memory is measured.
if TYPE_CHECKING:
    import pandas as pd

    from tests.openml_server import OpenMLServer
    from warehouse.queries import RunTable
    from warehouse.store import Warehouse

ACCURACY = "predictive_accuracy"
FLOWS = ("6969", "6970")
PAGE = 1000
NEW_RUNS = 100
FAST = 1e6
OF_RUNS = ("evaluation/list", "evaluation/setup/list", "setup/list")
PROCESSES = multiprocessing.get_context("spawn")
T = TypeVar("T")


def in_a_process(task: Callable[..., T], *arguments: object) -> T:
    """What `task` returns in a new process."""
    with ProcessPoolExecutor(1, mp_context=PROCESSES) as pool:
        return pool.submit(task, *arguments).result()


def peak_mib() -> float:
    """Of this process, so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ---- the server's process -------------------------------------------------------------------------------


class Asked(NamedTuple):
    """A request that the server got; see `tests.openml_server.Request`."""

    path: str
    endpoint: str
    fault: str | None
    complete: bool


@dataclass(frozen=True)
class Server:
    """A server in another process."""

    url: str
    pipe: Pipe

    def requests(self) -> list[Asked]:
        """Those since the last time."""
        return self._ask(_take_requests)

    def add_runs(self, number: int) -> None:
        """New runs of new setups, by tasks and flows that are there."""
        self._ask(_add_runs, number)

    def set_faults(self, rate: float, seed: int = 0) -> None:
        """The share of requests that go wrong from now on."""
        self._ask(_set_faults, rate, seed)

    def _ask(self, command: Callable[..., T], *arguments: object) -> T:
        self.pipe.send((command, arguments))
        answer: T = self.pipe.recv()
        return answer


@contextlib.contextmanager
def serving(measures: Sequence[str]) -> Iterator[Server]:
    """A server of all real runs."""
    here, there = PROCESSES.Pipe()
    process = PROCESSES.Process(target=_serve, args=(there, measures))
    process.start()
    there.close()
    try:
        yield Server(here.recv(), here)
    finally:
        here.close()
        process.join()


def _serve(pipe: Pipe, measures: Sequence[str]) -> None:
    from tests.openml_server import OpenMLServer, real_world

    with OpenMLServer(real_world(measures=measures)) as server, contextlib.suppress(EOFError):
        pipe.send(server.url)
        while True:
            command, arguments = pipe.recv()
            pipe.send(command(server, *arguments))


def _take_requests(server: OpenMLServer) -> list[Asked]:
    taken = [Asked(row.path, row.endpoint, row.fault, row.complete) for row in server.requests]
    server.forget_requests()
    return taken


def _add_runs(server: OpenMLServer, number: int) -> None:
    world, draws = server.world, random.Random(number)
    setups = [*world.setups.values()]
    tasks, measures = sorted(world.tasks), [*world.measures]
    run, setup = max(world.runs) + 1, max(world.setups) + 1
    for i in range(number):
        model = draws.choice(setups)
        names = [slot.parameter.name for slot in world.slots(model.flow)]
        pairs = zip(names, model.values, strict=True)
        values = [str(10**6 + i) if name == "random_state" else value for name, value in pairs]
        world.add_setup(setup + i, model.flow, values)
        world.add_run(run + i, draws.choice(tasks), setup + i, uploader=86)
        for measure in measures:
            world.add_evaluation(run + i, measure, str(round(draws.random(), 6)))


def _set_faults(server: OpenMLServer, rate: float, seed: int) -> None:
    from tests.openml_server import Faults

    server.faults = Faults(rate, seed=seed, slow_seconds=0.05, retry_after=0) if rate else None


# ---- a job's process ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figures:
    """What a job in a process of its own did and took."""

    requests: int
    reused: int
    skipped: int
    added: dict[str, int]
    changed: dict[str, int]
    seconds: float
    waiting: float
    """For the server, all connections together."""
    parsing: float
    """CPU seconds of reading documents."""
    writing: float
    cpu: float
    imports_mib: float
    peak_mib: float

    @property
    def rows_per_second(self) -> float:
        """Evaluations stored."""
        return self.added.get("evaluations", 0) / self.seconds


def ingest(
    folder: Path, url: str, measures: Sequence[str], jobs: int = 1, longest_sleep: float = math.inf
) -> Figures:
    """Everything on the server, into the warehouse in this folder."""
    import requests  # noqa: F401

    from warehouse.support.imports import spare_pandas

    spare_pandas()  # as the command does
    from ingest.openml.connection import Connection
    from ingest.openml.job import ingest_openml
    from ingest.openml.selection import Selection
    from warehouse.store import Warehouse

    imports = peak_mib()
    parsing = []

    class TimedConnection(Connection):
        def get(self, path: str, read: Callable[[bytes], T], *others: Any, **options: Any) -> Any:
            return super().get(path, lambda body: timed(read, body), *others, **options)

    def timed(read: Callable[[bytes], T], body: bytes) -> T:
        start = time.thread_time()
        try:
            return read(body)
        finally:
            parsing.append(time.thread_time() - start)

    connection = TimedConnection(
        url, rate=FAST, sleep=lambda seconds: time.sleep(min(seconds, longest_sleep)), seed=0
    )
    start = time.process_time()
    warehouse = Warehouse.create(folder)
    summary = ingest_openml(warehouse, Selection(measures=tuple(measures)), connection, jobs=jobs)
    return Figures(
        summary.requests,
        summary.reused,
        summary.skipped,
        summary.added,
        summary.changed,
        summary.seconds,
        summary.seconds_waiting,
        sum(parsing),
        summary.seconds_writing,
        time.process_time() - start,
        imports,
        peak_mib(),
    )


def ingest_and_tell(pipe: Pipe, *arguments: Any) -> None:
    """`ingest`, telling when the imports are done and what came of it; somebody may kill it."""
    from warehouse.support.imports import spare_pandas

    spare_pandas()
    from ingest.openml import job  # noqa: F401

    pipe.send(None)
    pipe.send(ingest(*arguments))


def ingest_or_be_killed(
    seconds: float, has_gone_far: Callable[[], bool], *arguments: object
) -> Figures | None:
    """A job in a process of its own; None if killed, so long after it began or when it had gone far."""
    here, there = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=ingest_and_tell, args=(there, *arguments))
    process.start()
    there.close()
    try:
        here.recv()
        end = time.monotonic() + seconds
        while not here.poll(0.01) and time.monotonic() < end and not has_gone_far():
            pass
        figures: Figures | None = here.recv() if here.poll() else None
    finally:
        process.kill()
        process.join()
    return figures


# ---- the client's process -------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClientFigures:
    """What OpenML's client took."""

    rows: int
    seconds: float
    cpu: float
    imports_mib: float
    peak_mib: float

    @property
    def rows_per_second(self) -> float:
        """Evaluations with their setups."""
        return self.rows / self.seconds


def use_client(url: str, rows: int) -> ClientFigures:
    """The first evaluations and their setups, kept as data frames as a user would."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder, "OPENML_CACHE_DIR": folder}
        import openml

        logging.getLogger("openml").setLevel(logging.ERROR)
        openml.config.server = url
        openml.config.apikey = ""
        openml.config.set_root_cache_directory(folder)
        openml.config.set_retry_policy("human", n_retries=1)
        imports, start, start_cpu = peak_mib(), time.perf_counter(), time.process_time()
        pages: list[pd.DataFrame] = []
        while (have := sum(map(len, pages))) < rows:
            page: Any = openml.evaluations.list_evaluations_setups(
                function=ACCURACY, size=min(PAGE, rows - have), offset=have, output_format="dataframe"
            )
            if page.empty:
                break
            pages.append(page)
        seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    return ClientFigures(have, seconds, cpu, imports, peak_mib())


# ---- what is stored -------------------------------------------------------------------------------------


def fill_from_run_files(folder: Path) -> None:
    """A warehouse of the same runs, from the files that the server's world was made of."""
    from ingest.run_files import ingest_run_file
    from tests.openml_server.real import SHARED_DATA
    from warehouse.store import Warehouse

    warehouse = Warehouse.create(folder)
    for flow in FLOWS:
        ingest_run_file(warehouse, SHARED_DATA / "openml-runs" / f"flow_{flow}.arff", flow)


def differences_of_run_tables(expected: RunTable, found: RunTable) -> list[str]:
    """What differs in tasks, values and configurations, run by run; types count, names of runs do not."""
    if len(expected.runs) != len(found.runs):
        return [f"{len(found.runs):,} runs, not {len(expected.runs):,}"]
    differences = []
    if found.runs["run"].duplicated().any():
        differences.append(f"{found.runs['run'].duplicated().sum():,} runs twice")
    for column in ("task", "flow", "algorithm", "value"):
        wrong = (expected.runs[column].to_numpy() != found.runs[column].to_numpy()).sum()
        if wrong:
            differences.append(f"{column} of {wrong:,} runs")
    # Behind flow and algorithm; AdaBoost has a parameter `algorithm` as well.
    own = [table.configurations.parameters.loc[table.runs["setup"]] for table in (expected, found)]
    columns = [set(table.columns) for table in own]
    differences += [f"no column {name}" for name in sorted(columns[0] - columns[1])]
    differences += [f"a column {name} too many" for name in sorted(columns[1] - columns[0])]
    for name in sorted(columns[0] & columns[1]):
        pairs = zip(own[0][name].tolist(), own[1][name].tolist(), strict=True)
        wrong_pairs = Counter((repr(left), repr(right)) for left, right in pairs if not _is_same(left, right))
        if wrong_pairs:
            (left, right), _ = wrong_pairs.most_common(1)[0]
            differences.append(f"{name} of {wrong_pairs.total():,} runs (most often {right}, not {left})")
    return differences


def _is_same(left: object, right: object) -> bool:
    """Equal and of one type; what is absent here is absent there."""
    return type(left) is type(right) and (left == right or (left != left and right != right))


def compare_with_run_files(reference: Path, folder: Path) -> list[str]:
    """How what is in one warehouse differs from another; empty if all is there, once."""
    from warehouse.store import Warehouse

    expected, found = Warehouse.open(reference), Warehouse.open(folder)
    differences = [
        f"{flow}: {difference}"
        for flow in FLOWS
        for difference in differences_of_run_tables(
            expected.run_table(flow, ACCURACY), found.run_table(flow, ACCURACY)
        )
    ]
    return differences + repeated_keys(found)


def repeated_keys(warehouse: Warehouse) -> list[str]:
    """Tables in which a row stands twice."""
    from warehouse.schema import TABLES

    counts = {
        name: warehouse.sql(
            f"SELECT count(*) AS n, count(DISTINCT struct_pack({', '.join(table.key)})) AS keys FROM {name}"
        ).iloc[0]
        for name, table in TABLES.items()
    }
    return [
        f"{row['n'] - row['keys']:,} rows of {name} twice"
        for name, row in counts.items()
        if row["n"] > row["keys"]
    ]


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """Rows and a sum of their hashes by table: equal where the same is stored, in whatever commits."""
    from warehouse.schema import PROVENANCE, TABLES
    from warehouse.store import Warehouse

    warehouse = Warehouse.open(folder)
    tables = [name for name in TABLES if name != "ingests"]
    rows = {
        name: warehouse.sql(
            "SELECT count(*) AS n, coalesce(sum(hash(t)), 0)::VARCHAR AS hashes"
            f" FROM (SELECT * EXCLUDE ({PROVENANCE}) FROM {name}) t"
        ).iloc[0]
        for name in tables
    }
    return {name: (int(row["n"]), int(row["hashes"])) for name, row in rows.items()}


def verdict(reference: Path, undisturbed: Mapping[str, tuple[int, int]], folder: Path) -> str:
    """Whether a warehouse holds what the run files hold, and all that an undisturbed job stored."""
    differences = in_a_process(compare_with_run_files, reference, folder)
    found = in_a_process(contents, folder)
    other = [
        f"{name} ({found[name][0]:,} rows, not {rows:,})"
        if found[name][0] != rows
        else f"{name} ({rows:,} rows)"
        for name, (rows, hashes) in undisturbed.items()
        if found[name] != (rows, hashes)
    ]
    files = f"DIFFERENT: {'; '.join(differences)}" if differences else "equal"
    tables = f"DIFFERENT in {', '.join(other)}" if other else "equal"
    return f"run tables as from run files: {files}; all tables as from an undisturbed job: {tables}"


# ---- the parts ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """Of the command."""

    measures: Sequence[str]
    client_rows: int
    fault_rates: Sequence[float]
    kills: int
    kill_after: tuple[float, float]
    seed: int


def tell(what: str, *facts: str) -> None:
    """Print a line."""
    print(f"{what}: {'; '.join(facts)}", flush=True)


def pace(rows_per_second: float, seconds: float, cpu: float) -> str:
    return f"{rows_per_second:,.0f} rows/s, {seconds:.1f} s, CPU {cpu:.1f} s"


def memory(peak: float, imports: float, rows: int) -> str:
    return f"peak {peak:,.0f} MiB, of which imports {imports:,.0f}, for {rows:,} rows"


def endpoints(requests: Iterable[Asked]) -> str:
    """How many requests went where."""
    counts = Counter(request.endpoint for request in requests)
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


def counted(rows: Mapping[str, int]) -> str:
    """Rows per table, without tables that have none."""
    return ", ".join(f"{name} {count:,}" for name, count in rows.items() if count) or "none"


def of_runs(requests: Collection[Asked]) -> int:
    """Requests for runs and setups."""
    return sum(request.endpoint in OF_RUNS for request in requests)


def measure_speed(options: Options, scratch: Path) -> None:
    with serving(options.measures) as server:
        in_a_process(ingest, scratch / "warm", server.url, options.measures)
        server.requests()
        for jobs in (1, 2):
            figures = in_a_process(ingest, scratch / f"jobs-{jobs}", server.url, options.measures, jobs)
            asked = server.requests()
            per_thousand = of_runs(asked) / figures.added["evaluations"] * 1000
            rest = figures.seconds - figures.waiting - figures.writing
            tell(
                f"speed, jobs {jobs}",
                pace(figures.rows_per_second, figures.seconds, figures.cpu),
                f"network {figures.waiting:.1f} s, parsing {figures.parsing:.1f} s of CPU, writing (in a "
                f"thread of its own) {figures.writing:.1f} s"
                + (f", the rest {rest:.1f} s" if jobs == 1 else ""),
                memory(figures.peak_mib, figures.imports_mib, figures.added["evaluations"]),
            )
            tell(
                f"speed, jobs {jobs}",
                f"{len(asked)} requests ({endpoints(asked)})",
                f"for runs and setups {per_thousand:.2f} per 1,000 runs and measure",
            )
            tell(f"speed, jobs {jobs}", f"added {counted(figures.added)}", f"skipped {figures.skipped}")


def compare_with_client(options: Options, scratch: Path) -> None:
    with serving([ACCURACY]) as server:
        in_a_process(ingest, scratch / "warm", server.url, [ACCURACY])
        server.requests()
        ours = in_a_process(ingest, scratch / "ours", server.url, [ACCURACY])
        our_requests = server.requests()
        client = in_a_process(use_client, server.url, options.client_rows)
        requests = server.requests()
    rows = ours.added["evaluations"]
    tell(
        "client, ours",
        pace(ours.rows_per_second, ours.seconds, ours.cpu),
        f"{len(our_requests) / rows * 1000:.2f} requests per 1,000 rows",
        memory(ours.peak_mib, ours.imports_mib, rows),
    )
    tell(
        "client, openml",
        pace(client.rows_per_second, client.seconds, client.cpu),
        f"{len(requests) / client.rows * 1000:.2f} requests per 1,000 rows ({endpoints(requests)})",
        memory(client.peak_mib, client.imports_mib, client.rows) + " in a list of data frames",
    )
    beyond = (ours.peak_mib - ours.imports_mib, client.peak_mib - client.imports_mib)
    tell(
        "client, ours : openml",
        f"rows/s {ours.rows_per_second / client.rows_per_second:.1f}",
        f"peak memory {ours.peak_mib / client.peak_mib:.2f}",
        f"beyond imports {beyond[0]:,.0f} MiB for {rows:,} rows against {beyond[1]:,.0f} for {client.rows:,}",
    )


def ingest_again(options: Options, scratch: Path) -> None:
    first = 0
    with serving(options.measures) as server:
        for what, new_runs in (("first", 0), ("nothing new", 0), (f"{NEW_RUNS} new runs", NEW_RUNS)):
            server.add_runs(new_runs)
            figures = in_a_process(ingest, scratch / "again", server.url, options.measures)
            asked = server.requests()
            first = first or len(asked)
            tell(
                f"again, {what}",
                f"{len(asked)} requests, {len(asked) / first:.1%} of the first's ({endpoints(asked)})",
                f"{figures.seconds:.1f} s",
                f"added {counted(figures.added)}",
                f"changed {counted(figures.changed)}",
            )


def ingest_with_faults(options: Options, scratch: Path) -> None:
    in_a_process(fill_from_run_files, scratch / "files")
    with serving(options.measures) as server:
        plain = in_a_process(ingest, scratch / "undisturbed", server.url, options.measures)
        undisturbed = in_a_process(contents, scratch / "undisturbed")
        tell(
            "faults, none",
            f"{len(server.requests())} requests",
            f"skipped {plain.skipped}",
            verdict(scratch / "files", undisturbed, scratch / "undisturbed"),
        )
        for rate in options.fault_rates:
            server.set_faults(rate, options.seed)
            folder = scratch / f"faults-{rate}"
            figures = in_a_process(ingest, folder, server.url, options.measures, 2, 0.01)
            asked = server.requests()
            met = Counter(request.fault for request in asked if request.fault)
            tell(
                f"faults, {rate:.0%} of requests",
                f"{len(asked)} requests",
                f"{met.total()} faults ({counted(dict(met.most_common()))})",
                f"skipped {figures.skipped}",
                verdict(scratch / "files", undisturbed, folder),
            )


def ingest_with_kills(options: Options, scratch: Path) -> None:
    in_a_process(fill_from_run_files, scratch / "files")
    draws = random.Random(options.seed)
    lives: list[float] = []
    stored: list[int] = []
    with serving(options.measures) as server:
        plain = in_a_process(ingest, scratch / "undisturbed", server.url, options.measures)
        plain_requests = server.requests()
        undisturbed = in_a_process(contents, scratch / "undisturbed")
        folder, total = scratch / "killed", plain.added["evaluations"]
        figures: Figures | None = None
        for number in range(1, options.kills + 1):
            # Kills are to meet the job from its begin to near its end: where it is ahead, lives are too short
            # for a batch, and where it gets ahead, they end.
            goal = min(number / options.kills, 0.8) * total
            shortest, longest = options.kill_after
            is_ahead = rows_stored(folder) >= goal
            life = draws.uniform(shortest, longest / 6 if is_ahead else longest) * plain.seconds
            has_gone_far = functools.partial(_reaches, folder, math.inf if is_ahead else goal)
            start = time.monotonic()
            figures = ingest_or_be_killed(life, has_gone_far, folder, server.url, options.measures)
            if figures is not None:
                break
            lives.append(time.monotonic() - start)
            stored.append(rows_stored(folder))
        kills = len(lives)
        if figures is None:
            figures = in_a_process(ingest, folder, server.url, options.measures)
        requests = server.requests()
    if kills < options.kills:
        tell("kills", f"IT ENDED after {kills} of {options.kills} kills: shorten --kill-after")
    tell(
        "kills",
        f"{kills}, {min(lives):.1f} to {max(lives):.1f} s after a start, imports included; "
        f"{statistics.mean(lives):.1f} s on average",
        f"undisturbed it takes {plain.seconds:.1f} s",
        f"runs stored at each: {' '.join(map(str, stored))}",
        f"the last life made {figures.requests} requests and found {figures.reused} answers on disk",
    )
    tell(
        "kills",
        f"{len(requests)} requests against {len(plain_requests)} of an undisturbed job "
        f"({len(requests) / len(plain_requests) - 1:+.1%})",
        repetitions(requests),
        f"undisturbed: {repetitions(plain_requests)}",
    )
    tell("kills", verdict(scratch / "files", undisturbed, folder))


def _reaches(folder: Path, rows: float) -> bool:
    return rows_stored(folder) >= rows


def rows_stored(folder: Path) -> int:
    """Rows that the journals of a warehouse's jobs say are stored."""
    rows = 0
    for journal in folder.glob("jobs/*/journal.jsonl"):
        for line in journal.read_text().splitlines():
            with contextlib.suppress(ValueError):  # an empty line, or one that a kill cut off
                rows += json.loads(line).get("rows", 0)
    return rows


def repetitions(requests: Sequence[Asked]) -> str:
    """The share of requests that were answered in full more than once."""
    served = Counter(request.path for request in requests if request.complete)
    again = Counter({path: count - 1 for path, count in served.items() if count > 1})
    endpoint = {request.path: request.endpoint for request in requests}
    extra: Counter[str] = Counter()
    for path, count in again.items():
        extra[endpoint[path]] += count
    return (
        f"{len(again) / len(served):.1%} of {len(served)} paths served in full more than once, "
        f"{extra.total()} times too many ({counted(dict(extra.most_common()))})"
    )


PARTS: Mapping[str, Callable[[Options, Path], None]] = {
    "speed": measure_speed,
    "client": compare_with_client,
    "again": ingest_again,
    "faults": ingest_with_faults,
    "kills": ingest_with_kills,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--measures", nargs="+", default=[ACCURACY], help="not of the part client")
    parser.add_argument("--client-rows", type=int, default=5000)
    parser.add_argument(
        "--fault-rates", type=float, nargs="+", default=[0.05, 0.5], help="shares of all requests; 10 kinds"
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument(
        "--kill-after",
        type=float,
        nargs=2,
        default=[0.02, 0.3],
        help="shortest and longest life, as shares of the time that an undisturbed job takes",
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    parts = given.parts.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"no part {unknown[0]}; there are {', '.join(PARTS)}")
    if ACCURACY not in given.measures:
        parser.error(f"the measures must have {ACCURACY}: it is what is compared")
    low, high = given.kill_after
    options = Options(
        given.measures, given.client_rows, given.fault_rates, given.kills, (low, high), given.seed
    )
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[part](options, Path(folder))


if __name__ == "__main__":
    main()
