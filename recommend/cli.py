"""`recommend`: which configurations to try first on a dataset."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ingest.reading.roles import roles_in_words
from metalearners import DEFAULT_LEARNER
from recommend.cost import parse_duration
from recommend.evidence import Outside
from recommend.options import (
    DATASET_HELP,
    ChosenMeasureOption,
    DatasetOption,
    FlowOption,
    RoleOption,
    TargetOption,
    named_dataset,
)
from recommend.ranking import RankedConfiguration, Recommendation
from recommend.ranking import recommend as rank
from recommend.usual_measure import remark
from warehouse.options import WarehouseOption
from warehouse.store import STARTER, Warehouse
from warehouse.support import console
from warehouse.support.console import QuietOption
from warehouse.support.files import write_text

if TYPE_CHECKING:
    from recommend.racing import Race

app = console.new_app("")
TOOLS = ("optuna", "smac", "flaml", "ray")
"""What seeds are exported to (`recommend.export`, whose imports would cost half a second)."""


@app.command(no_args_is_help=True)
def recommend(
    file: Annotated[str | None, typer.Argument(metavar="FILE", help=DATASET_HELP, show_default=False)] = None,
    dataset: DatasetOption = None,
    top: Annotated[int, typer.Option(min=1, help="How many configurations.")] = 3,
    target: TargetOption = None,
    role: RoleOption = None,
    flow: FlowOption = None,
    strategy: Annotated[
        str, typer.Option(help="top: best and best beside it; delta: from the best prediction downwards.")
    ] = "top",
    measure: ChosenMeasureOption = None,
    metalearner: Annotated[
        str, typer.Option(help="Learner that ranks; see `metalearners list`.")
    ] = DEFAULT_LEARNER,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Ignore runs on the dataset itself, as in an experiment.")
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Time for one fit of each configuration, e.g. 60s, 5m, 1h. Default: whatever is worth it.",
            show_default=False,
        ),
    ] = None,
    verify: Annotated[
        str | None,
        typer.Option(
            help="Time for a race of the first ones beside usual defaults on the dataset, e.g. 60s.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Runs of it at a time. Default: one a processor.", show_default=False),
    ] = None,
    record: Annotated[bool, typer.Option(help="Write its runs to the warehouse.")] = True,
    seeds: Annotated[
        Path | None, typer.Option(help="Write the recommendation to this JSON file.", show_default=False)
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--report", help="Write the recommendation to this HTML page.", show_default=False),
    ] = None,
    warehouse: WarehouseOption = None,
    quiet: QuietOption = False,
    output: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="table|json|TOOL",
            help=f"How to print the result; for a TOOL ({', '.join(TOOLS)}) as JSON that it can take.",
        ),
    ] = "table",
) -> None:
    """Say which configurations to try first on a dataset, learned from runs on other datasets.

    Examples:

      recommend my.csv --top 3

      recommend my.csv --target churned --strategy delta --seeds seeds.json

      recommend my.csv --flow random_forest --format json

      recommend large.csv --budget 60s

      recommend my.csv --verify 60s --report report.html

      recommend my.csv --flow lightgbm --format optuna
    """
    from ingest.reading.datasets import load_dataset
    from recommend.seeds import write_seeds

    console.check_format(output, ("table", "json", *TOOLS))
    source = named_dataset(file, dataset)
    seconds = None if verify is None else parse_duration(verify)
    is_recorded = record and seconds is not None
    if is_recorded:
        Warehouse.check_writable(warehouse)
    data = load_dataset(source, target=target, roles=dict(map(console.assignment, role or [])))
    with console.progress(quiet or seconds is None) as show:
        result = rank(
            data,
            warehouse=Warehouse.open(warehouse),
            top=top,
            flows=flow or (),
            strategy=strategy,
            measure=measure,
            metalearner=metalearner,
            leave_out=leave_out,
            budget=None if budget is None else parse_duration(budget),
            verify=seconds,
            jobs=jobs,
            report=lambda race: show(f"on {race.train_rows:,} rows: {race.done} of {race.of} done"),
        )
    document = result.document()
    if seeds is not None:
        write_seeds(document, seeds)
    if page is not None:
        from recommend.page import recommendation_page

        write_text(page, recommendation_page(result))
    if output == "json":
        print(json.dumps(document, indent=2))
    elif output in TOOLS:
        from recommend.export import export_document

        print(json.dumps(export_document(document, output), indent=2))
    else:
        print(report(result, is_usual_measure=measure is None))
        if seeds is not None:
            print(f"\nSeeds written to {seeds}")
        if page is not None:
            print(f"\nReport written to {page}")
    if is_recorded:
        path = _record(result, warehouse)
        if output == "table":
            print(f"The next recommendation learns from the race: its runs are in {path}.")


def _record(result: Recommendation, path: str | None) -> Path:
    """Write the runs of the race to the warehouse, and learn from them; returns where that is."""
    from recommend.own_trials import learn
    from recommend.racing import record

    warehouse = Warehouse.create(path)
    if result.race is not None:
        record(result.race, warehouse)
        learn(result.dataset, result.measure, Warehouse.open(warehouse.path))
    return warehouse.path


def report(result: Recommendation, *, is_usual_measure: bool) -> str:
    """The recommendation as a person reads it."""
    dataset = result.dataset
    facts = (
        f"{dataset.name}: {len(dataset.features):,} rows, {dataset.n_classes} classes, "
        f"the largest with {dataset.majority[1]:.1%} of the rows; {dataset.target_choice}"
    )
    lines = [facts, f"{dataset.features.shape[1]:,} features: {roles_in_words(dataset.roles)}"]
    lines += [f"Note: {dataset.note}."] if dataset.note else []
    if is_usual_measure and (about_measure := remark(dataset, result.measure)):
        lines.append(about_measure)
    where = "the bundled starter" if result.warehouse.path == STARTER else str(result.warehouse.path)
    lines.append(
        f"Learned from {result.model.runs:,} runs on {result.model.datasets:,} datasets of {where}; "
        f"{result.candidates:,} configurations ranked."
    )
    lines += _known_already(result)
    if result.not_installed:
        titles = ", ".join(flow.title for flow in result.not_installed)
        lines.append(f"Not installed, so not recommended: {titles} (pip install 'headstart[boosting]').")
    if result.not_built:
        titles = ", ".join(result.not_built.values())
        lines.append(f"Not built by Headstart, so only recommended where --flow names them: {titles}.")
    if result.of_others:
        titles = ", ".join(flow.title for flow in result.of_others)
        lines.append(f"Headstart does not build {titles}: the values are for your own program.")
    if result.nearest:
        lines.append("Most similar: " + ", ".join(name for name, _ in result.nearest) + ".")
    if result.outside:
        sizes = ", ".join(_beyond(size) for size in result.outside)
        lines.append(f"Outside of what is known, so less sure than it looks: {sizes}.")
    lines += [
        *([] if result.race is None else ["", *_race(result.race)]),
        "",
        *_table(result),
        "",
        *_legend(result),
    ]
    return "\n".join(lines)


def _beyond(size: Outside) -> str:
    """A size beyond those that are known, and their range; the target is no feature here."""
    title = {"NumberOfInstances": "rows", "NumberOfFeatures": "features", "NumberOfClasses": "classes"}
    target = 1 if size.quality == "NumberOfFeatures" else 0
    value, least, most = (number - target for number in (size.value, size.least, size.most))
    return f"{value:,.0f} {title[size.quality]} (known: {least:,.0f} to {most:,.0f})"


def _known_already(result: Recommendation) -> list[str]:
    """What the warehouse has of the dataset and its near copies, and what counts of it."""
    lines = []
    if result.trials:
        ignoring = "--leave-out ignores them" if result.race is None else "those of the race are among them"
        lines.append(f"{result.trials:,} runs on this dataset count most; {ignoring}.")
    elif len(result.left_out) > len(result.near_copies):
        lines.append("This dataset is in the warehouse; the model has not learned from its runs.")
    if result.failed:
        reasons = ", ".join(f"{count:,} {outcome}" for outcome, count in result.failed.items())
        lines.append(f"Not recommended, since they failed on this dataset: {reasons}.")
    if result.near_copies:
        copies = ", ".join(result.near_copies)
        lines.append(f"Near copies of it are in the warehouse, and not learned from: {copies}.")
    return lines


def _table(result: Recommendation) -> list[str]:
    """A line per configuration, its hyperparameters wrapped where the terminal ends."""
    promises = result.configurations[0].expectation is not None
    worth = ("expected", "80 % interval", "gain", "likely") if promises else ("predicted", "similar")
    here = ("here",) if result.trials else ()
    header = ("rank", "algorithm", *worth, *here, "fit", "hyperparameters")
    rows = [
        (
            str(item.rank),
            item.flow.title,
            *_worth(item),
            *(("" if item.on_dataset is None else f"{item.on_dataset:.4f}",) if here else ()),
            "" if item.fit_seconds is None else console.duration(max(item.fit_seconds, 0.1)),
            ", ".join(f"{name}={console.short(value)}" for name, value in item.configuration.values.items()),
        )
        for item in result.configurations
    ]
    return console.wrapped_table(header, rows, "><" + ">" * (len(header) - 3))


def _race(race: "Race") -> list[str]:
    """A line per entrant of the race, the best first."""
    header = (
        "raced",
        "recommended",
        *(f"{heat.train_rows:,} rows" for heat in race.heats),
        "took",
        "what came of it",
    )
    rows = []
    for place in race.order:
        entrant = race.entrants[place]
        values = [race.value(place, heat) for heat in race.heats]
        rows.append(
            (
                entrant.flow.title + (" (default)" if entrant.is_default else ""),
                "" if entrant.recommended is None else str(entrant.recommended),
                *("" if value is None else f"{value:.4f}" for value in values),
                console.duration(race.seconds_of(place)),
                race.decision(place),
            )
        )
    lines = console.wrapped_table(header, rows, "<" + ">" * (len(header) - 2))
    return [
        *lines,
        "",
        f"Raced for {console.duration(race.seconds)}{', then interrupted' if race.interrupted else ''}: "
        f"{race.measure} after fits on so many rows; the better half of each round went on.",
    ]


def _worth(item: RankedConfiguration) -> tuple[str, ...]:
    """What is expected, in the measure's unit where it is known in that."""
    promise = item.expectation
    if promise is None:
        return (
            f"{item.predicted:+.2f}" + ("" if item.std is None else f" ± {item.std:.2f}"),
            "" if item.on_nearest is None else f"{item.on_nearest:+.2f}",
        )
    return (
        f"{promise.value:.3f}",
        f"{promise.low:.3f} to {promise.high:.3f}",
        "" if promise.gain is None else f"{promise.gain:+.3f}",
        "" if promise.beats_default is None else f"{promise.beats_default:.0%}",
    )


def _legend(result: Recommendation) -> list[str]:
    """What the columns of the table say."""
    lines = ["rank: the order to try them in; each is the one that adds most to those above it;"]
    if result.configurations[0].expectation is not None:
        lines += [
            f"expected: {result.measure} of a run on rows that it has not seen, with its 80 % interval;",
            "gain: how much better that is than with LightGBM as it comes, and how likely it is better;",
        ]
    else:
        lines += [
            "predicted: standard score within the dataset, 0 = an average configuration, "
            "± standard deviation;",
            "similar: the configuration's mean standard score on the most similar datasets;",
        ]
    if result.trials:
        lines.append(f"here: {result.measure} where it was tried on this dataset;")
    within = "" if result.fit_factor is None else f" (80 % within a factor of {result.fit_factor:.1f})"
    return [*lines, f"fit: expected processor time of one fit on all rows, on this machine{within}."]


def main() -> None:
    """Entry point of the console script."""
    console.main(app)
