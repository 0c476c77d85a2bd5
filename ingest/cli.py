"""`ingest`: runs and meta-features into the warehouse."""

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse import console
from warehouse.console import JsonOption, QuietOption, WarehouseOption
from warehouse.errors import BadInput
from warehouse.qualities import QUALITIES, SELECTIONS, names_in

if TYPE_CHECKING:
    from ingest.metafeatures import Metafeatures

app = console.new_app(
    "Bring runs and meta-features into the warehouse.\n\n"
    "Examples:\n\n"
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
    print(f"{path}: {_rows('added', commit.added)}; {_rows('changed', commit.changed)}")
    print(f"warehouse version {commit.version}")


@app.command()
def experiments(
    datasets: Annotated[
        Path,
        typer.Option(help="Directory of datasets, or an index.csv (name, target).", show_default=False),
    ],
    flows: Annotated[str, typer.Option(help="Flows, separated by commas, or `all`.")] = "all",
    configurations: Annotated[
        int, typer.Option(min=0, help="Configurations of each flow beside its default.")
    ] = 24,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the stratified cross-validation.")] = 3,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 1,
    seed: Annotated[int, typer.Option(help="Of the design, the folds and the estimators.")] = 0,
    time_limit: Annotated[float, typer.Option(help="Seconds that one run may take.")] = 60.0,
    memory_limit: Annotated[int, typer.Option(help="MiB that one run may take.")] = 4096,
    warehouse: WarehouseOption = None,
    quiet: QuietOption = False,
) -> None:
    """Run the same configurations of each flow on every dataset.

    The configurations are a scrambled Sobol design over the flow's space and its default. Results are
    stored as they come, smallest dataset first; started again, the command goes on where it was.

    Example: ingest experiments --datasets data/ --flows random_forest,svm --configurations 24 --jobs 2
    """
    from ingest.dataset_files import find_datasets
    from ingest.experiments import Plan, run_experiments
    from ingest.flows import FLOWS, get_flow
    from warehouse.store import Warehouse

    names = tuple(FLOWS) if flows == "all" else tuple(get_flow(name).name for name in flows.split(","))
    plan = Plan(names, configurations, folds, seed, time_limit, memory_limit)
    target = Warehouse.create(warehouse)
    with console.progress(quiet) as show:
        counts = run_experiments(
            target,
            find_datasets(datasets),
            plan,
            jobs=jobs,
            report=lambda state: show(
                f"{state.dataset}: {state.done} runs done, {state.failed} failed, {state.skipped} known, "
                f"{state.left} left, about {console.duration(state.seconds_left)}"
            ),
        )
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    print(f"warehouse version {target.version}")


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
    from ingest.datasets import load_dataset
    from ingest.metafeatures import compute_metafeatures

    console.check_format(output)
    names = None if groups is None else names_in(groups)
    unknown = set(names or ()) - {quality.name for quality in QUALITIES}
    if unknown:
        raise BadInput(f"no meta-feature or group {min(unknown)!r}; groups are {', '.join(SELECTIONS)}")
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


def _rows(verb: str, counts: dict[str, int]) -> str:
    if not any(counts.values()):
        return f"nothing {verb}"
    return f"{verb} " + ", ".join(f"{count:,} {table}" for table, count in counts.items() if count)


def main() -> None:
    """Entry point of the console script."""
    console.main(app)
