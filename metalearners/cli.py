"""`metalearners`: train meta-learners and measure how good they are."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from metalearners import DEFAULT_LEARNER, LEARNERS, new_learner
from warehouse.options import (
    DaskOption,
    JobsOption,
    MeasureOption,
    TaskTypeOption,
    WarehouseOption,
    result_file,
)
from warehouse.support import console
from warehouse.support.console import JsonOption, QuietOption
from warehouse.support.errors import BadOption, TooFewRuns, UnknownName, Unwritable
from warehouse.support.files import read_json, write_text
from warehouse.support.option_groups import PanelCommand, grouped
from warehouse.support.text import comma_separated, counted
from warehouse.vocabulary.qualities import SELECTIONS, names_in
from warehouse.vocabulary.task_types import runs_learned

if TYPE_CHECKING:
    from metalearners.learners.base import Round
    from metalearners.stored_model import StoredModel
    from warehouse.questions.queries import RunTable
    from warehouse.store import Warehouse

app = console.new_app(
    "Train and evaluate meta-learners on the warehouse's runs.\n\n"
    "Examples:\n\n"
    "  metalearners evaluate --flow 6969 --jobs 2\n\n"
    "  metalearners compare functional-pca.json lightgbm.json --plot ranks.png\n\n"
    "  metalearners train --warehouse DIR"
)

FlowOption = Annotated[
    str | None,
    typer.Option(help="Only this flow (6969) or algorithm (random_forest). Default: all together."),
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A setting of the learner, a JSON value. May be repeated."
    ),
]


@dataclass(frozen=True)
class LearnerOptions:
    """A learner and its settings."""

    panel: ClassVar = "Learner"
    learner: Annotated[str, typer.Option(help="Learner; see `metalearners list`.")] = DEFAULT_LEARNER
    metafeatures: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Meta-features for learners that take any: `all`, or a comma-separated list of names and "
            f"groups ({', '.join(SELECTIONS)}).",
        ),
    ] = None
    setting: SettingOption = None

    def settings(self, warehouse: Warehouse) -> dict[str, Any]:
        """Settings of the learner.

        Raises:
            BadInput: the warehouse lacks a meta-feature, or a setting is not NAME=VALUE.
        """
        settings = _settings(self.setting)
        if self.metafeatures is not None:
            settings["metafeatures"] = _metafeature_names(warehouse, self.metafeatures)
        return settings


@dataclass(frozen=True)
class RunOptions:
    """The runs to learn from."""

    panel: ClassVar = "Runs"
    flow: FlowOption = None
    task: TaskTypeOption = "classification"
    measure: MeasureOption = None
    warehouse: WarehouseOption = None


@dataclass(frozen=True)
class ProtocolOptions:
    """Options for the datasets left out, and for the trials after which a learner is evaluated."""

    panel: ClassVar = "Evaluation"
    tasks: Annotated[
        str | None, typer.Option(help="Comma-separated tasks whose datasets are left out. Default: all.")
    ] = None
    folds: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Leave out families of datasets in this many folds; 0: one dataset at a time. Default: 0, or"
            " 10 for more than 150 datasets.",
        ),
    ] = None
    shots: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Also evaluate after these numbers of trials on the left-out dataset, e.g. 0,3,5,10,20.",
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed of the trials; the same for every learner.")
    ] = 0
    jobs: JobsOption = 1
    dask: DaskOption = None


@dataclass(frozen=True)
class ResultOptions:
    """What is printed and written."""

    panel: ClassVar = "Results"
    output: JsonOption = "table"
    file: Annotated[
        Path | None,
        result_file("--output", ".json", "Write the results; an interrupted evaluation resumes from them."),
    ] = None
    quiet: QuietOption = False


@app.command(cls=PanelCommand)
@grouped
def evaluate(
    chosen: LearnerOptions, selected: RunOptions, protocol: ProtocolOptions, results: ResultOptions
) -> None:
    """Leave out datasets, rank their runs, and compare the ranking with their scores.

    Prints means over datasets with 95 % confidence intervals (Student's t): Kendall's tau-b (1 = the true
    order), the normalized regret of the best of the first 1, 3 and 5 choices (0 = the best was among them),
    the root mean squared error of predictions and the share of runs within the 80 % interval.

    Example: metalearners evaluate --flow 6969 --shots 0,3,5,10,20 --jobs 2 --output functional-pca-6969.json
    """
    from metalearners.evaluation import report
    from metalearners.evaluation.protocol import evaluate as judge
    from warehouse.store import Warehouse
    from warehouse.support.journal import Journal
    from warehouse.support.parallel import dask_workers

    opened = Warehouse.open(selected.warehouse)
    task_type, measure = runs_learned(selected.task, selected.measure)
    runs = opened.run_table(selected.flow, measure, task_type=task_type)
    settings = chosen.settings(opened)
    datasets = None if protocol.tasks is None else _datasets(runs, protocol.tasks)
    file = results.file
    journal = None if file is None else Journal(file.with_name(f"{file.name}.partial"))
    with console.progress(results.quiet) as show, dask_workers(protocol.dask) as executor:
        result = judge(
            runs,
            opened.metafeatures(),
            chosen.learner,
            settings,
            datasets=datasets,
            folds=protocol.folds,
            shots=_numbers(protocol.shots),
            seed=protocol.seed,
            jobs=protocol.jobs,
            executor=executor,
            journal=journal,
            on_result=lambda done, total: show(f"{done} of {counted(total, 'datasets')}"),
        )
    document = report.document(result, runs, chosen.learner, settings, opened)
    text = json.dumps(document, indent=2, allow_nan=False)
    if file is not None:
        write_text(file, text + "\n")
    if journal is not None:
        journal.clear()
    print(text if results.output == "json" else report.table(result, document))


@app.command()
def compare(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES", help="Files written by `evaluate --output`, one per learner."),
    ],
    by: Annotated[
        str,
        typer.Option(help="tau, error, or the regret of the best of the first: regret1, regret3, regret5."),
    ] = "tau",
    plot: Annotated[
        Path | None, typer.Option(help="Draw the critical-difference diagram to this file (PNG, SVG, PDF).")
    ] = None,
    output: JsonOption = "table",
) -> None:
    """Compare learners that were evaluated on the same runs, dataset by dataset.

    Prints each learner's mean with its interval and its mean rank, Friedman's test over all, and the p-values
    of Wilcoxon's signed-rank test between pairs, corrected by Holm. Needs the extra `compare`.

    Example: metalearners compare functional-pca.json portfolio.json --by regret3 --plot ranks.png
    """
    from metalearners.evaluation.comparison import compare_evaluations, draw_ranks, read_evaluations

    comparison = compare_evaluations(read_evaluations(files, by), larger_is_better=by == "tau")
    if plot is not None:
        draw_ranks(comparison, plot, title=by)
    print(json.dumps(comparison.document(), indent=2) if output == "json" else comparison.table(by))


@app.command(cls=PanelCommand)
@grouped
def train(
    chosen: LearnerOptions,
    selected: RunOptions,
    evaluation: Annotated[
        Path | None,
        typer.Option(
            help="File written by `evaluate --output` for this learner and these runs, to store "
            "with the model."
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Train a model on the runs of the warehouse, store it, and print its path.

    `recommend --flow` uses the model trained with the same `--flow`.

    A model already trained on the same runs with the same settings is reused. An interrupted training
    resumes. The running times of fits are learned, too.

    Example: metalearners train --warehouse DIR --evaluation functional-pca.json
    """
    from metalearners.model_store import trained_fit_times, trained_model
    from metalearners.samples import flow_named
    from metalearners.stored_model import with_figures
    from warehouse.store import Warehouse

    opened = Warehouse.open(selected.warehouse)
    task_type, measure = runs_learned(selected.task, selected.measure)
    with console.progress(quiet) as show:
        model = trained_model(
            opened,
            chosen.learner,
            measure,
            task_type=task_type,
            only=() if selected.flow is None else (flow_named(opened, selected.flow) or selected.flow,),
            settings=chosen.settings(opened),
            report=lambda now: show(_stands(now)),
            must_be_stored=True,
        )
    path = _stored_path(model)
    with suppress(TooFewRuns):  # of runs without times
        trained_fit_times(opened, task_type=task_type)
    if evaluation is not None:
        model = with_figures(model, read_json(evaluation))
        opened.share_model(path)
    print(model.summary())
    print(path)


@app.command()
def update(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model's folder or its name; see `metalearners models`.")
    ],
    warehouse: WarehouseOption = None,
    quiet: QuietOption = False,
) -> None:
    """Continue training a stored model on the warehouse's current runs, and store the result.

    For learners that train long (`pmf`): updating takes a fifth of the training time.

    Example: metalearners update pmf-0123456789abcdef --warehouse DIR
    """
    from metalearners.model_store import updated_model
    from warehouse.store import Warehouse

    opened = Warehouse.open(warehouse)
    with console.progress(quiet) as show:
        updated = updated_model(model, opened, lambda now: show(_stands(now)))
    path = _stored_path(updated)
    print(updated.summary())
    print(path)


@app.command(name="plot-latent", cls=PanelCommand)
@grouped
def plot_latent(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File of the picture: PNG, SVG or PDF.")],
    dataset: Annotated[
        str | None,
        typer.Option(help="Key or name of a dataset of the warehouse; its scores give the second colouring."),
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Draw each pair of the six widest dimensions, by algorithm only.")
    ] = False,
    setting: SettingOption = None,
    quiet: QuietOption = False,
    *,
    selected: RunOptions,
) -> None:
    """Draw where `pmf` places the warehouse's configurations, by algorithm and by one dataset's scores.

    The two axes are the directions in which the latent space is widest. Trains a model if there is none.
    Needs the extra `compare`.

    Example: metalearners plot-latent latent.png --dataset diabetes
    """
    from metalearners.evaluation.latent_plot import draw_latent_space
    from metalearners.model_store import trained_model
    from warehouse.store import Warehouse

    opened = Warehouse.open(selected.warehouse)
    task_type, measure = runs_learned(selected.task, selected.measure)
    with console.progress(quiet) as show:
        model = trained_model(
            opened,
            "pmf",
            measure,
            selected.flow,
            task_type=task_type,
            settings=_settings(setting),
            report=lambda now: show(_stands(now)),
        )
    print(draw_latent_space(model, opened, file, dataset, pairs=pairs))


def _stored_path(model: StoredModel) -> Path:
    """A model's path, for `train` and `update` to print."""
    if model.path is None:
        raise Unwritable("the model can't be stored: neither the warehouse nor the user's cache is writable")
    return model.path


def _stands(now: Round) -> str:
    return f"training: {now.done} of {counted(now.of, 'rounds')}, loss {now.loss:.3f}"


@app.command(name="list")
def list_learners(output: JsonOption = "table") -> None:
    """List the learners, published methods last, and the groups of meta-features that they can use.

    Example: metalearners list
    """
    learners = {name: (type(new_learner(name)).__doc__ or "").partition("\n")[0] for name in LEARNERS}
    groups = {group: list(names) for group, names in SELECTIONS.items()}
    if output == "json":
        print(json.dumps({"learners": learners, "metafeatures": groups}, indent=2))
        return
    width = max(map(len, [*learners, *groups]))
    print("Learners")
    for name, description in learners.items():
        default = " (default)" if name == DEFAULT_LEARNER else ""
        print(f"  {name:<{width}}  {description}{default}")
    print("Meta-features")
    for group, names in groups.items():
        print(f"  {group:<{width}}  {len(names)}: {', '.join(names[:3])}, ...")


@app.command()
def models(
    warehouse: WarehouseOption = None,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Remove models that are no longer used, and list them with the reason."),
    ] = False,
    output: JsonOption = "table",
) -> None:
    """List the trained models stored with the warehouse and in your cache, and the runs they learned from.

    Examples:

      metalearners models --warehouse DIR --format json

      metalearners models --prune
    """
    from metalearners.stored_model import stored_models
    from warehouse.store import Warehouse

    opened = Warehouse.open(warehouse)
    if prune:
        _prune(opened, output)
        return
    stored = stored_models(opened)
    if output == "json":
        extras = [{"figures": model.figures, "path": str(model.path)} for model in stored]
        described = [model.description() | extra for model, extra in zip(stored, extras, strict=True)]
        print(json.dumps(described, indent=2))
        return
    fingerprints = set(opened.sql("SELECT ingest FROM ingests")["ingest"]) if stored else set()
    for model in stored:
        of = model.origin.flow or ", ".join(model.origin.only) or "all flows"
        whose = ""
        if model.origin.warehouse_fingerprint != opened.fingerprint:
            is_earlier = model.origin.warehouse_fingerprint in fingerprints
            whose = "; of an earlier version" if is_earlier else "; of another warehouse"
        print(f"{model.summary()}, {of}, {model.origin.measure}{whose}\n{_figures(model)}  {model.path}")
    if not stored:
        print("No model yet: `metalearners train` makes one.")


def _prune(warehouse: Warehouse, output: str) -> None:
    """Remove superfluous models, and print them."""
    from metalearners.model_pruning import prune, superfluous_models

    gone = superfluous_models(warehouse)
    prune(gone, warehouse)
    if output == "json":
        rows = [{"path": str(one.path), "reason": one.reason, "bytes": one.size} for one in gone]
        print(json.dumps(rows, indent=2))
        return
    for one in gone:
        print(f"removed {one.path}: {one.reason}")
    size = sum(one.size for one in gone) / 1e6
    print(f"{len(gone)} removed, {size:.1f} MB" if gone else "Nothing to remove.")


def _figures(model: StoredModel) -> str:
    """A line on how good a stored model was measured to be; empty if it was not measured."""
    if model.figures is None:
        return ""
    tau, regret = model.figures["tau"], model.figures["regret"]["3"]
    return (
        f"  on {counted(model.figures['datasets'], 'left-out datasets')}: tau {tau['mean']:.3f}"
        f" ({tau['low']:.3f} to {tau['high']:.3f}), regret of the best of 3"
        f" {regret['mean']:.3f} ({regret['low']:.3f} to {regret['high']:.3f})\n"
    )


def _settings(assignments: list[str] | None) -> dict[str, Any]:
    """Settings of a learner by name, from assignments NAME=VALUE."""
    settings: dict[str, Any] = {}
    for text in assignments or ():
        name, value = console.assignment(text)
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value  # a word needs no quotes
    return settings


def _metafeature_names(warehouse: Warehouse, selection: str) -> list[str] | None:
    """Names of the meta-features selected by an option; None = all."""
    if selection == "all":
        return None
    names = names_in(selection)
    known = set(warehouse.metafeatures().columns)
    in_groups = {name for group in SELECTIONS.values() for name in group}
    unknown = [name for name in names if name not in known | in_groups]
    if unknown:
        raise UnknownName(f"no dataset of the warehouse has a meta-feature {unknown[0]!r}")
    return list(names)


def _numbers(text: str | None) -> list[int]:
    """The whole numbers of a comma-separated list."""
    words = comma_separated(text or "")
    wrong = [word for word in words if not word.isdecimal()]
    if wrong:
        raise BadOption(f"--shots takes whole numbers separated by commas, not {wrong[0]!r}")
    return [int(word) for word in words]


def _datasets(runs: RunTable, tasks: str) -> list[str]:
    """The datasets of a comma-separated list of tasks; "3" is short for "openml:3"."""
    dataset_of = dict(zip(runs.runs["task"], runs.runs["dataset"], strict=True))
    keys = [f"openml:{task}" if task.isdecimal() else task for task in comma_separated(tasks)]
    unknown = [task for task in keys if task not in dataset_of]
    if unknown:
        raise TooFewRuns(f"no run on task {unknown[0]!r} has {runs.measure}")
    return list(dict.fromkeys(dataset_of[task] for task in keys))


main = partial(console.main, app)
