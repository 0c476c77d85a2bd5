"""`ingest`: runs and meta-features into the warehouse."""

import json
import math
from pathlib import Path
from typing import Annotated

import typer

from warehouse import console
from warehouse.console import JsonOption, QuietOption, WarehouseOption

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
    output: JsonOption = "table",
) -> None:
    """Print a dataset's meta-features, under OpenML's names.

    Example: ingest metafeatures my.csv --target churned --format json
    """
    from ingest.datasets import load_dataset
    from ingest.metafeatures import compute_metafeatures

    console.check_format(output)
    values = compute_metafeatures(load_dataset(path, target=target))
    if output == "json":
        print(json.dumps({name: None if math.isnan(value) else value for name, value in values.items()}))
        return
    width = max(map(len, values))
    for name, value in values.items():
        print(f"{name:<{width}}  {'undefined' if math.isnan(value) else format(value, '.6g')}")


def _rows(verb: str, counts: dict[str, int]) -> str:
    if not any(counts.values()):
        return f"nothing {verb}"
    return f"{verb} " + ", ".join(f"{count:,} {table}" for table, count in counts.items() if count)


def main() -> None:
    """Entry point of the console script."""
    console.main(app)
