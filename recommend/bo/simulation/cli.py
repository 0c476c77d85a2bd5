"""`tune simulate`: comparison of search methods on datasets with known runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from metalearners.evaluation.folds import Half, families_of, half_of
from recommend.bo.simulation.methods import By
from recommend.bo.simulation.peers import PEERS
from warehouse.options import DaskOption, JobsOption, MeasureOption, TaskTypeOption, WarehouseOption
from warehouse.store import Warehouse
from warehouse.support import console
from warehouse.support.console import JsonOption, QuietOption
from warehouse.support.errors import TooFewRuns
from warehouse.support.files import write_text
from warehouse.support.journal import Journal
from warehouse.support.option_groups import grouped
from warehouse.support.parallel import dask_workers
from warehouse.support.text import counted
from warehouse.vocabulary.task_types import runs_learned

if TYPE_CHECKING:
    import pandas as pd

    from warehouse.questions.queries import RunTable

METHODS = ("blend+top", "gbqr+delta", "gbqr+none", "forest+none", "order", "random", "random-2x")
"""Methods compared by default."""


@dataclass(frozen=True)
class MethodOptions:
    """Options for the compared methods and their budget."""

    panel: ClassVar = "What to compare"
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="SURROGATE+START, STRATEGY+START, STRATEGY:SURROGATE+START, order, random, random-2x, "
            f"{', '.join(PEERS)}. SURROGATE/ACQUISITION~2: with another acquisition function, and every "
            "second trial at random. May be repeated. "
            f"Default: {', '.join(METHODS)}."
        ),
    ] = None
    trials: Annotated[
        int,
        typer.Option(
            min=1,
            help="Trials of each search, a trial on a share of the rows counting as that share; --by "
            "seconds: in median run times.",
        ),
    ] = 50
    by: Annotated[
        By,
        typer.Option(
            help="Budget shared by all methods: trials, or seconds in units of the dataset's median run time."
        ),
    ] = "trials"
    repeats: Annotated[
        int, typer.Option(min=1, help="Number of searches of each method on each dataset.")
    ] = 1


@dataclass(frozen=True)
class TaskOptions:
    """Options for the tasks."""

    panel: ClassVar = "What to search on"
    flow: Annotated[str | None, typer.Option(help="Only runs of this flow. Default: all.")] = None
    task: TaskTypeOption = "classification"
    measure: MeasureOption = None
    tasks: Annotated[
        str,
        typer.Option(
            help="table: configurations with runs only; model: the whole space, evaluated by boosted trees "
            "fitted to the runs; tiers: runs on the most rows, with runs on fewer rows for strategies "
            "that use them."
        ),
    ] = "table"
    dataset: Annotated[
        list[str] | None, typer.Option(help="Search on this dataset only. May be repeated.")
    ] = None
    least_rows: Annotated[
        int, typer.Option(min=0, help="Search only on datasets with at least this many rows.")
    ] = 0
    half: Annotated[
        Half | None,
        typer.Option(help="Search on one half of the families of datasets: choosing or reporting."),
    ] = None
    folds: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of folds of families, each searched with models trained on the "
            "others. 0: leave out each family alone.",
        ),
    ] = 0


@dataclass(frozen=True)
class ComparisonOptions:
    """Options for the results of a comparison."""

    panel: ClassVar = "Results"
    csv: Annotated[Path | None, typer.Option(help="Write every trial to this CSV file.")] = None
    plot: Annotated[Path | None, typer.Option(help="Draw regret and rank into this picture.")] = None
    at: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Test for differences after this number of trials, or of median run times. Default: over "
            "all.",
        ),
    ] = None
    output: JsonOption = "table"


@dataclass(frozen=True)
class SimulationMachines:
    """Options for machines and storage of simulated searches."""

    panel: ClassVar = "Machines and folders"
    jobs: JobsOption = 1
    dask: DaskOption = None
    history: Annotated[
        Path | None, typer.Option(help="Keep finished searches in this file and skip those that it has.")
    ] = None
    warehouse: WarehouseOption = None
    quiet: QuietOption = False


@grouped
def simulate(
    compared: MethodOptions, on: TaskOptions, results: ComparisonOptions, machines: SimulationMachines
) -> None:
    """Compare searches on each dataset that learn from datasets of other families only.

    Regret is the distance from the best value so far to the best of all, divided by the range of all values.

    Examples:

      tune simulate --flow 6969 --method blend+top --method gbqr+delta --jobs 2

      tune simulate --tasks model --flow 6970 --method blend+top --method smac --repeats 5 --plot curves.png
    """
    from recommend.bo.simulation.curves import UNITS, curves_of, draw
    from recommend.bo.simulation.runner import SimulationPlan
    from recommend.bo.simulation.runner import simulate as run_simulation
    from recommend.bo.simulation.times import timed_runs

    known = Warehouse.open(machines.warehouse)
    task_type, measure = runs_learned(on.task, on.measure)
    runs = known.run_table(on.flow, measure, task_type=task_type)
    metafeatures = known.metafeatures()
    plan = SimulationPlan(
        tuple(dict.fromkeys(compared.method or METHODS)),
        trials=compared.trials,
        seeds=compared.repeats,
        kind=on.tasks,
        folds=on.folds,
        by=compared.by,
    )
    chosen = _chosen(on, runs, metafeatures)
    with console.progress(machines.quiet) as show, dask_workers(machines.dask) as executor:
        searched = run_simulation(
            runs,
            metafeatures,
            plan,
            times=timed_runs(known, on.flow, task_type),
            datasets=chosen,
            jobs=machines.jobs,
            executor=executor,
            journal=None if machines.history is None else Journal(machines.history),
            on_result=lambda done, of: show(f"{done} of {counted(of, 'datasets')}"),
        )
    curves = curves_of(searched, plan.by, plan.trials)
    if results.csv is not None:
        write_text(results.csv, curves.frame().to_csv(index=False))
    if results.plot is not None:
        draw(curves, results.plot, f"{on.flow or 'all flows'}, {on.tasks}")
    several = len(plan.methods) > 1 and len({one.dataset for one in searched}) > 1
    comparison = curves.compare(results.at) if several else None
    if results.output == "json":
        content = {
            "flow": runs.flow,
            "measure": measure,
            "tasks": on.tasks,
            **curves.document(),
            "comparison": None if comparison is None else comparison.document(),
        }
        print(json.dumps(content, indent=2, allow_nan=False))
        return
    print(curves.table())
    if comparison is not None:
        after, over = results.at, f"mean regret over {plan.trials} {UNITS[plan.by]}"
        print(f"\n{comparison.table(over if after is None else f'regret after {after}')}")


def _chosen(on: TaskOptions, runs: RunTable, metafeatures: pd.DataFrame) -> list[str] | None:
    """Datasets to search on; None = all with a task."""
    from recommend.bo.simulation.runner import datasets_of

    suited = datasets_of(on.tasks, runs)
    if not on.least_rows and on.half is None:
        return list(on.dataset) if on.dataset else None
    rows, families = metafeatures["NumberOfInstances"], families_of(runs)
    chosen = [
        dataset
        for dataset in on.dataset or filter(suited.__contains__, families.index)
        if rows.get(dataset, 0) >= on.least_rows
        and on.half in (None, half_of(families.get(dataset, dataset)))
    ]
    if not chosen:
        raise TooFewRuns("no dataset with runs has this size and is in this half")
    return chosen
