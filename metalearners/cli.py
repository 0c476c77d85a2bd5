"""`metalearners`: train meta-learners and measure how good they are."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metalearners import LEARNERS, new_learner
from warehouse import console
from warehouse.console import JsonOption, QuietOption, WarehouseOption
from warehouse.errors import BadInput, Failed
from warehouse.files import write_text
from warehouse.qualities import SELECTIONS, names_in

if TYPE_CHECKING:
    from metalearners.evaluation import Evaluation, Interval
    from warehouse.queries import RunTable
    from warehouse.store import Warehouse

app = console.new_app(
    "Learn from the warehouse's runs what works where.\n\n"
    "Examples:\n\n"
    "  metalearners evaluate --flow 6969 --jobs 2\n\n"
    "  metalearners train --warehouse DIR"
)

LearnerOption = Annotated[str, typer.Option(help="Which learner; see `metalearners list`.")]
MeasureOption = Annotated[str, typer.Option(help="Evaluation measure to predict.")]
FlowOption = Annotated[
    str | None,
    typer.Option(help="Only this flow (6969) or algorithm (random_forest). Default: all together."),
]
MetafeaturesOption = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="What to know about a dataset: `all`, or a comma-separated list of names and groups"
        f" ({', '.join(SELECTIONS)}).",
    ),
]
LeavesOption = Annotated[int, typer.Option(help="Leaves of a tree (2 to 64).")]


@app.command()
def evaluate(
    learner: LearnerOption = "lightgbm",
    flow: FlowOption = None,
    measure: MeasureOption = "predictive_accuracy",
    tasks: Annotated[
        str | None,
        typer.Option(help="Comma-separated tasks whose datasets are left out. Default: all."),
    ] = None,
    metafeatures: MetafeaturesOption = "default",
    leaves: LeavesOption = 16,
    warehouse: WarehouseOption = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that work at the same time.")] = 1,
    output: JsonOption = "table",
    file: Annotated[Path | None, typer.Option("--output", help="Also write the JSON to this file.")] = None,
    quiet: QuietOption = False,
) -> None:
    """Leave out each dataset in turn, rank its runs, and compare with what they scored.

    Prints Kendall's tau-b (1 = the true order) and the normalized regret of the best of the first 1, 3 and 5
    (0 = the best was among them): means over datasets with 95 % confidence intervals (Student's t).

    Example: metalearners evaluate --learner lightgbm --flow 6969 --measure predictive_accuracy
    """
    from metalearners.evaluation import evaluate as leave_each_out
    from warehouse.store import Warehouse

    console.check_format(output)
    opened = Warehouse.open(warehouse)
    runs = opened.run_table(flow, measure)
    settings = _settings(opened, metafeatures, leaves)
    datasets = None if tasks is None else _datasets(runs, tasks)
    with console.progress(quiet) as show:
        result = leave_each_out(
            runs,
            opened.metafeatures(),
            learner,
            settings,
            datasets=datasets,
            jobs=jobs,
            on_result=lambda done, total: show(f"{done} of {total} datasets"),
        )
    document = _document(result, runs, learner, settings, opened)
    text = json.dumps(document, indent=2, allow_nan=False)
    if file is not None:
        write_text(file, text + "\n")
    print(text if output == "json" else _table(result, document))


@app.command()
def train(
    learner: LearnerOption = "lightgbm",
    flow: FlowOption = None,
    measure: MeasureOption = "predictive_accuracy",
    metafeatures: MetafeaturesOption = "default",
    leaves: LeavesOption = 16,
    warehouse: WarehouseOption = None,
) -> None:
    """Train a model on all runs of the warehouse, store it, and print where.

    A model that was trained before from the same runs and settings is found again.

    Example: metalearners train --warehouse DIR
    """
    from metalearners.model_store import trained_model
    from warehouse.store import Warehouse

    opened = Warehouse.open(warehouse)
    settings = _settings(opened, metafeatures, leaves)
    model = trained_model(opened, learner, measure, flow, settings=settings)
    if model.path is None:
        raise Failed("the model can't be stored: neither the warehouse nor the user's cache can be written")
    print(model.summary())
    print(model.path)


@app.command(name="list")
def list_learners(output: JsonOption = "table") -> None:
    """The learners, and the groups of meta-features that they can use.

    Example: metalearners list
    """
    console.check_format(output)
    learners = {name: _first_line(type(new_learner(name)).__doc__) for name in LEARNERS}
    groups = {group: list(names) for group, names in SELECTIONS.items()}
    if output == "json":
        print(json.dumps({"learners": learners, "metafeatures": groups}, indent=2))
        return
    width = max(map(len, [*learners, *groups]))
    print("Learners")
    for name, description in learners.items():
        print(f"  {name:<{width}}  {description}")
    print("Meta-features")
    for group, names in groups.items():
        print(f"  {group:<{width}}  {len(names)}: {', '.join(names[:3])}, ...")


def _settings(warehouse: Warehouse, metafeatures: str, leaves: int) -> dict[str, Any]:
    """Settings of the learner, after a check that the meta-features exist."""
    if metafeatures == "all":
        return {"leaves": leaves, "metafeatures": None}
    names = names_in(metafeatures)
    known = set(warehouse.metafeatures().columns)
    in_groups = {name for group in SELECTIONS.values() for name in group}
    unknown = [name for name in names if name not in known | in_groups]
    if unknown:
        raise BadInput(f"no dataset of the warehouse has a meta-feature {unknown[0]!r}")
    return {"leaves": leaves, "metafeatures": names}


def _datasets(runs: RunTable, tasks: str) -> list[str]:
    """Datasets of a comma-separated list of tasks, "3" short for "openml:3"."""
    dataset_of = dict(zip(runs.runs["task"], runs.runs["dataset"], strict=True))
    wanted = [word.strip() for word in tasks.split(",") if word.strip()]
    keys = [f"openml:{task}" if task.isdecimal() else task for task in wanted]
    unknown = [task for task in keys if task not in dataset_of]
    if unknown:
        raise BadInput(f"no run on task {unknown[0]!r} has {runs.measure}")
    return list(dict.fromkeys(dataset_of[task] for task in keys))


def _document(
    result: Evaluation,
    runs: RunTable,
    learner: str,
    settings: dict[str, Any],
    warehouse: Warehouse,
) -> dict[str, Any]:
    """The evaluation as JSON; `regret` has its mean and limits for the first pick, and by number of picks."""
    from metalearners.evaluation import TOPS

    by_top = {str(top): _json_interval(result.regret(top)) for top in TOPS}
    return {
        "learner": learner,
        "settings": dict(new_learner(learner, settings).settings),
        "flow": runs.flow,
        "measure": runs.measure,
        "warehouse": {"version": warehouse.version, "fingerprint": warehouse.fingerprint},
        "protocol": "leave one dataset out; means over datasets with 95 % confidence interval (Student's t)",
        "datasets": len(result.per_dataset),
        "tau": _json_interval(result.tau),
        "regret": by_top["1"] | by_top,
        "per_dataset": [
            {
                "dataset": one.dataset,
                "runs": one.runs,
                "tau": one.tau,
                "regret": {str(top): value for top, value in one.regret.items()},
            }
            for one in result.per_dataset
        ],
    }


def _json_interval(value: Interval) -> dict[str, float | None]:
    return {name: None if math.isnan(part) else part for name, part in value._asdict().items()}


def _table(result: Evaluation, document: dict[str, Any]) -> str:
    from metalearners.evaluation import TOPS

    rows = [("tau", result.tau), *((f"regret of top {top}", result.regret(top)) for top in TOPS)]
    lines = [
        f"{document['learner']}, {document['flow'] or 'all flows'}, {document['measure']}:"
        f" {document['datasets']} datasets left out in turn",
        f"{'':<16} {'mean':>7}   95 % interval",
    ]
    lines += [f"{name:<16} {row.mean:>7.3f}   {row.low:.3f} to {row.high:.3f}" for name, row in rows]
    return "\n".join(lines)


def _first_line(docstring: str | None) -> str:
    return (docstring or "").strip().partition("\n")[0]


def main() -> None:
    """Entry point of the console script."""
    console.main(app)
