"""`tune simulate`: how ways to search compare on datasets whose runs are known."""

import json
from pathlib import Path
from typing import Annotated

import typer

from recommend.bo.simulation.curves import curves_of, draw, write_csv
from recommend.bo.simulation.peers import PEERS
from recommend.bo.simulation.runner import SimulationPlan
from recommend.bo.simulation.runner import simulate as run_simulation
from warehouse.options import MeasureOption, WarehouseOption
from warehouse.store import Warehouse
from warehouse.support import console
from warehouse.support.console import JsonOption, QuietOption
from warehouse.support.journal import Journal

METHODS = ("blend+top", "gbqr+delta", "gbqr+none", "forest+none", "order", "random", "random-2x")
"""What is compared where nothing else is asked for."""


def simulate(
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="SURROGATE+START, STRATEGY+START, STRATEGY:SURROGATE+START, order, random, random-2x, "
            f"{', '.join(PEERS)}. May be repeated. "
            f"Default: {', '.join(METHODS)}.",
            show_default=False,
        ),
    ] = None,
    flow: Annotated[
        str | None, typer.Option(help="Only runs of this flow. Default: all.", show_default=False)
    ] = None,
    measure: MeasureOption = "predictive_accuracy",
    tasks: Annotated[
        str,
        typer.Option(
            help="table: the runs are the configurations; model: boosted trees on the runs, asked about the "
            "whole space."
        ),
    ] = "table",
    trials: Annotated[int, typer.Option(min=1, help="Trials of each search.")] = 50,
    repeats: Annotated[int, typer.Option(min=1, help="Searches of each method on each dataset.")] = 1,
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="Search on this dataset only. May be repeated.", show_default=False),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Datasets at the same time.")] = 1,
    history: Annotated[
        Path | None,
        typer.Option(
            help="Keep finished searches in this file; what it has is not run again.", show_default=False
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write every trial to this CSV file.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw regret and rank into this picture.", show_default=False)
    ] = None,
    at: Annotated[
        int | None,
        typer.Option(
            min=1, help="Test for differences after so many trials. Default: over all.", show_default=False
        ),
    ] = None,
    warehouse: WarehouseOption = None,
    quiet: QuietOption = False,
    output: JsonOption = "table",
) -> None:
    """Search on each dataset with what was learned from the others, and compare.

    Regret is how far the best value so far is from the best there is, over the range of all values.

    Examples:

      tune simulate --flow 6969 --method blend+top --method gbqr+delta --jobs 2

      tune simulate --tasks model --flow 6970 --method blend+top --method smac --repeats 5 --plot curves.png
    """
    console.check_format(output)
    known = Warehouse.open(warehouse)
    runs = known.run_table(flow, measure)
    plan = SimulationPlan(tuple(dict.fromkeys(method or METHODS)), trials=trials, seeds=repeats, kind=tasks)
    with console.progress(quiet) as show:
        searched = run_simulation(
            runs,
            known.metafeatures(),
            plan,
            datasets=dataset or None,
            jobs=jobs,
            journal=None if history is None else Journal(history),
            on_result=lambda done, of: show(f"{done} of {of} datasets"),
        )
    curves = curves_of(searched)
    if csv is not None:
        write_csv(curves, csv)
    if plot is not None:
        draw(curves, plot, f"{flow or 'all flows'}, {tasks}")
    summary = curves.summary()
    several = len(plan.methods) > 1 and len({one.dataset for one in searched}) > 1
    comparison = curves.compare(at) if several else None
    if output == "json":
        content = {
            "flow": runs.flow,
            "measure": measure,
            "tasks": tasks,
            **summary.document(),
            "comparison": None if comparison is None else comparison.document(),
        }
        print(json.dumps(content, indent=2, allow_nan=False))
        return
    print(summary.table())
    if comparison is not None:
        over = f"regret after {at}" if at is not None else f"mean regret over {trials} trials"
        print(f"\n{comparison.table(over)}")
