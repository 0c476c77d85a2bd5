"""`ingest`: load runs and meta-features into the warehouse."""

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from ingest.openml.cli import openml, openml_data, status
from ingest.options import Reading, TaskOption
from warehouse.options import DaskOption, JobsOption, WaitOption, WarehouseOption
from warehouse.support import console
from warehouse.support.console import JsonOption, QuietOption
from warehouse.support.errors import BadInput, BadOption, UnknownName
from warehouse.support.option_groups import PanelCommand, grouped
from warehouse.support.text import counted
from warehouse.vocabulary.qualities import QUALITIES, SELECTIONS, names_in
from warehouse.vocabulary.task_types import CLASSIFICATION, TASK_TYPES, TaskType

if TYPE_CHECKING:
    from ingest.metafeatures import Metafeatures
    from ingest.run_files import RunFile
    from ingest.running.plan import Plan
    from warehouse.storage.writing import Commit
    from warehouse.store import Warehouse

app = console.new_app(
    "Load runs and meta-features into the warehouse.\n\n"
    "Examples:\n\n"
    "  ingest openml --flows 6969 --suite OpenML100 --dry-run\n\n"
    "  ingest file runs.arff --flow 6969 --qualities qualities.json\n\n"
    "  ingest space svm.json --flow 8353\n\n"
    "  ingest experiments --datasets data/ --flows random_forest,svm --configurations 24\n\n"
    "  ingest metafeatures my.csv --format json"
)


DatasetsOption = Annotated[
    Path | None, typer.Option("--datasets", help="Directory of datasets, or an index.csv (name, target).")
]


@app.command()
def file(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Run table: ARFF, CSV, TSV or Parquet.")],
    flow: Annotated[
        str | None,
        typer.Option(help="Flow of the runs: an OpenML id, a flow that Headstart builds, or any other name."),
    ] = None,
    flow_column: Annotated[
        str | None, typer.Option(help="Column that names the flow of each run, in place of --flow.")
    ] = None,
    qualities: Annotated[
        Path | None,
        typer.Option(
            help="Qualities of the datasets: JSON, task id -> quality -> value, or a table with a row for "
            "each task_id."
        ),
    ] = None,
    space: Annotated[
        Path | None,
        typer.Option(
            help="JSON or TOML file with the search space of a flow that Headstart does not build. Default: "
            "inferred from its runs."
        ),
    ] = None,
    warehouse: WarehouseOption = None,
    wait: WaitOption = None,  # noqa: ARG001 (its callback has done it)
    output: JsonOption = "table",
) -> None:
    """Read a table of runs: a column per hyperparameter, a column per measure, and `task_id`.

    A table may have runs of many flows. Those without hyperparameters have one configuration each.

    Reading the same file again changes nothing.

    Examples:

      ingest file flow_6969.arff --flow 6969 --qualities task_qualities.json

      ingest file runs.csv --flow yahpo-xgboost --space space.toml --warehouse runs/

      ingest file weka.arff --flow-column algorithm --qualities metafeatures.arff --warehouse weka/
    """
    from ingest.run_files import read_run_file, write_run_file
    from warehouse.store import Warehouse

    read = read_run_file(path, flow, flow_column=flow_column, qualities=qualities, space=space)
    target = Warehouse.create(warehouse)
    _print_commit(path, write_run_file(target, read), output)
    read = replace(read, tables={})  # frees their memory
    if output == "table":
        for line in _about_flows(target, read):
            print(line)


def _about_flows(warehouse: "Warehouse", read: "RunFile") -> Iterator[str]:
    """Say how the flows that Headstart does not build can be used."""
    types = [TASK_TYPES[name] for name in sorted({*read.tasks.values()}) if name in TASK_TYPES]
    if len(read.of_others) > 1:
        flows = counted(len(read.flows), "flows")
        yield (
            f"Headstart does not build {len(read.of_others)} of the {flows}: their configurations can be "
            "recommended, but not trained."
        )
    elif read.of_others:
        is_declared = read.space is not None
        yield from _about_space(
            warehouse, read.of_others[0], [*types, CLASSIFICATION][0], is_declared=is_declared
        )


def _about_space(
    warehouse: "Warehouse", flow: str, task_type: TaskType, *, is_declared: bool
) -> Iterator[str]:
    """Say how a flow that Headstart does not build can be used, and describe its space."""
    from warehouse.vocabulary.searched_flow import OTHER

    name = flow.removeprefix(OTHER)
    measure = warehouse.sql("SELECT min(measure) AS m FROM evaluations WHERE flow = $f", {"f": flow})["m"][0]
    try:
        runs = warehouse.run_table(flow, str(measure), task_type=task_type, related=False)
        searched = runs.searched_flow(flow)
    except BadInput as error:
        yield (
            f"Headstart does not build {name}, and its configurations can be neither recommended nor "
            f"searched: {error}."
        )
        return
    if not searched.hyperparameters:
        yield f"Headstart does not build {name}, which has one configuration, without hyperparameters."
        return
    yield (
        f"Headstart does not build {name}: its configurations can be recommended and searched, but not "
        "trained."
    )
    origin = "declared" if is_declared or flow in runs.declared else "inferred from its runs"
    yield f"Its space, {origin}:"
    for own in searched.hyperparameters:
        yield f"  {own}"


@app.command()
def space(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="Search space: JSON, TOML, or the JSON of ConfigSpace.")
    ],
    flow: Annotated[str, typer.Option(help="Flow of the warehouse, e.g. 8353 or openml:8353.")],
    warehouse: WarehouseOption = None,
    output: JsonOption = "table",
) -> None:
    """Declare the search space of a flow with runs in the warehouse: ranges, log scales, choices, conditions.

    Headstart knows the spaces of the flows that it builds. It infers other spaces from the runs unless they
    are declared: in a JSON or TOML file, or in the output of ConfigSpace's `to_json`. Hyperparameters have
    the same names as in the warehouse.

    Example: ingest space svm.json --flow 8353 --warehouse runs/
    """
    from ingest.spaces import ingest_space
    from warehouse.store import Warehouse

    _print_commit(path, ingest_space(Warehouse.open(warehouse), path, flow), output)


def _print_commit(path: Path, commit: "Commit", output: str) -> None:
    if output == "json":
        print(json.dumps({"version": commit.version, "added": commit.added, "changed": commit.changed}))
        return
    print(f"{path}: {console.rows_written(commit.added, commit.changed)}")
    print(f"warehouse version {commit.version}")


@dataclass(frozen=True)
class DesignOptions:
    """What to run: a design over the spaces of flows on each dataset, or a plan."""

    panel: ClassVar = "What to run"
    datasets: DatasetsOption = None
    task: TaskOption = None
    plan: Annotated[
        Path | None,
        typer.Option(
            help="Plan of the experiments (TOML file), in place of the options for datasets, flows, folds, "
            "seed and limits."
        ),
    ] = None
    flows: Annotated[
        str, typer.Option(help="Comma-separated flows, or `all`; a dataset gets those that fit its target.")
    ] = "all"
    configurations: Annotated[
        int, typer.Option(min=0, help="Number of configurations of each flow, besides its default.")
    ] = 24
    folds: Annotated[int, typer.Option(min=2, help="Folds of the stratified cross-validation.")] = 3
    seed: Annotated[int, typer.Option(help="Random seed of the design, the folds and the estimators.")] = 0
    time_limit: Annotated[
        float,
        typer.Option(
            parser=console.seconds, metavar="TIME", help="Limit of processor time for one run, e.g. 60s, 5m."
        ),
    ] = 60.0
    memory_limit: Annotated[int, typer.Option(help="Memory limit of one run, in MiB.")] = 4096

    def experiments(self) -> "Plan":
        """The plan of the experiments.

        Raises:
            BadInput: neither datasets nor a plan is given, or both; the plan or a dataset can't be read.
        """
        from ingest.flows import FLOWS, get_flow
        from ingest.reading.dataset_files import find_datasets
        from ingest.running.plan import Tier, design_plan, read_plan

        if (self.datasets is None) == (self.plan is None):
            raise BadOption("give either --datasets or --plan")
        if self.plan is not None:
            return read_plan(self.plan)
        titles = {
            get_flow(name).title for name in ([*FLOWS] if self.flows == "all" else self.flows.split(","))
        }
        return design_plan(
            find_datasets(self.datasets or Path()),
            [name for name, flow in FLOWS.items() if flow.title in titles],
            self.configurations,
            folds=self.folds,
            seed=self.seed,
            tier=Tier(seconds=self.time_limit, memory=self.memory_limit),
            task=self.task,
        )


@dataclass(frozen=True)
class MachineOptions:
    """Where experiments run, and where their results go."""

    panel: ClassVar = "Machines and folders"
    jobs: JobsOption = 1
    dask: DaskOption = None
    warehouse: WarehouseOption = None
    wait: WaitOption = None
    quiet: QuietOption = False


@app.command(cls=PanelCommand)
@grouped
def experiments(design: DesignOptions, machines: MachineOptions) -> None:
    """Run the same configurations on every dataset.

    The configurations are each flow's default and a scrambled Sobol design over its space, or those of a plan
    (see ingest/plans/starter.toml). Results are stored as they come in; the same command continues where it
    was stopped.

    Examples:

      ingest experiments --datasets data/ --flows random_forest,svm --configurations 24 --jobs 2

      ingest experiments --plan ingest/plans/starter.toml --jobs 2 --warehouse DIR
    """
    from ingest.running.experiments import run_experiments
    from warehouse.store import Warehouse
    from warehouse.support.parallel import dask_workers

    plan = design.experiments()
    target = Warehouse.create(machines.warehouse)
    with console.progress(machines.quiet) as show, dask_workers(machines.dask) as executor:
        counts = run_experiments(
            target,
            plan,
            jobs=machines.jobs,
            executor=executor,
            report=lambda state: show(
                f"{state.dataset}: {counted(state.done, 'runs')} done, {state.failed} failed, "
                f"{state.skipped} known, {state.left} left, about {console.duration(state.seconds_left)}"
            ),
        )
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    print(f"warehouse version {target.version}")


@app.command()
def sketches(
    datasets: DatasetsOption = None,
    plan: Annotated[
        Path | None, typer.Option(help="Plan (TOML file) that lists the datasets, in place of --datasets.")
    ] = None,
    warehouse: WarehouseOption = None,
    wait: WaitOption = None,  # noqa: ARG001 (its callback has done it)
    quiet: QuietOption = False,
) -> None:
    """Sketch the datasets of a warehouse's runs, so that near copies of them are recognized.

    Only a warehouse made by an earlier version needs this: commands that store own runs now sketch their
    datasets. Models stay as they are.

    Example: ingest sketches --plan ingest/plans/starter.toml --warehouse DIR
    """
    from ingest.reading.dataset_files import find_datasets
    from ingest.running.experiments import sketch_datasets
    from ingest.running.plan import read_plan
    from warehouse.store import Warehouse

    if (datasets is None) == (plan is None):
        raise BadOption("give either --datasets or --plan")
    files = find_datasets(datasets or Path()) if plan is None else read_plan(plan).datasets
    target = Warehouse.create(warehouse)
    with console.progress(quiet) as show:
        count = sketch_datasets(target, files, show)
    print(f"{counted(count, 'datasets')} sketched")
    print(f"warehouse version {target.version}")


app.command(cls=PanelCommand)(openml)
app.command("openml-data")(openml_data)
app.command()(status)


@dataclass(frozen=True)
class MetafeatureOptions:
    """Meta-features to compute, and the time that they may take."""

    panel: ClassVar = "Meta-features"
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Comma-separated groups or names of meta-features"
            f" ({', '.join(SELECTIONS)}). Default: everything.",
        ),
    ] = None
    time: Annotated[
        float | None,
        typer.Option(
            parser=console.seconds_or_zero,
            metavar="TIME",
            help="Time budget, e.g. 1s, 5m; the most expensive meta-features are left out. 0: only the "
            "cheapest.",
        ),
    ] = None

    def names(self) -> list[str] | None:
        """Names of the meta-features; None = all.

        Raises:
            UnknownName: there is no such meta-feature or group.
        """
        names = None if self.groups is None else list(names_in(self.groups))
        unknown = set(names or ()) - {quality.name for quality in QUALITIES}
        if unknown:
            raise UnknownName(
                f"no meta-feature or group {min(unknown)!r}; groups are {', '.join(SELECTIONS)}"
            )
        return names


@app.command(cls=PanelCommand)
@grouped
def metafeatures(
    path: Annotated[str, typer.Argument(metavar="FILE", help="Dataset: a file, or openml:ID.")],
    target: Annotated[str | None, typer.Option(help="Column to predict.")] = None,
    task: TaskOption = None,
    output: JsonOption = "table",
    quiet: QuietOption = False,
    *,
    chosen: MetafeatureOptions,
    reading: Reading,
) -> None:
    """Print a dataset's meta-features with OpenML's names and definitions.

    Those that don't exist for the dataset are shown as missing, with the reason. Sizes, classes and moments
    are exact; on a large dataset the other groups use a stratified sample, and say so.

    Examples:

      ingest metafeatures my.csv --target churned --format json

      ingest metafeatures my.csv --groups simple,class,landmarkers --time 1
    """
    from ingest.metafeatures import compute_metafeatures
    from ingest.reading.datasets import load_dataset

    names = chosen.names()
    with console.progress(quiet) as show:
        show("reading")
        dataset = load_dataset(path, target=target, task=task, options=reading.options())
        computed = compute_metafeatures(dataset, names, budget=chosen.time, report=show)
    if output == "json":
        values = computed.values.items()
        print(json.dumps({name: None if math.isnan(value) else value for name, value in values}))
        return
    print(f"{dataset.name}: {dataset.target_choice}")
    for line in _described(computed):
        print(line)


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


main = partial(console.main, app)
