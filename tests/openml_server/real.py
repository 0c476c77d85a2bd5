"""A world of real runs: two scikit-learn flows on the tasks of OpenML100.

Hyperparameters, accuracies and qualities are OpenML's. Flows, ids, names and the parameters that nobody
tuned are invented in their image; so are the values of other measures.
"""

import itertools
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ingest.reading.typed_tables import Column, TypedTable, read_typed_table
from tests.openml_server.records import Dataset, EstimationProcedure, Evaluation, Slot, Study, Task
from tests.openml_server.sklearn_flows import FlowBook, component_reference, serialized
from tests.openml_server.world import World

SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
FOREST, BOOSTING = 6969, 6970
ACCURACY = "predictive_accuracy"
FIRST_DATASET = 10_000
USERS = {86: "forester", 348: "booster", 1140: "benchmark-bot"}
RUNS_BETWEEN_GAPS, GAP = 500, 3
T = TypeVar("T")


def real_world(
    data: Path = SHARED_DATA,
    *,
    flows: Sequence[int] = (FOREST, BOOSTING),
    measures: Sequence[str] = (ACCURACY,),
    first_run: int = 2_000_000,
    first_setup: int = 4_000_000,
    runs_per_flow: int | None = None,
) -> World:
    """The runs of the files in `data`, one flow after the other, with ids that count up with a few gaps.

    `measures` other than the accuracy are invented; `usercpu_time_millis` is missing for some runs, and
    `os_information` has no value but a text. Takes some seconds for all 69,000 runs; `runs_per_flow` takes
    only the first. Raises FileNotFoundError where the shared data is not beside the checkout.
    """
    world = World()
    _add_users_and_procedures(world, measures)
    _add_flows(world)
    qualities = json.loads((data / "openml-runs" / "task_qualities.json").read_text())
    ids = zip(_with_gaps(first_run), _with_gaps(first_setup), strict=True)
    for flow in flows:
        table = read_typed_table((data / "openml-runs" / f"flow_{flow}.arff").read_bytes())
        tasks = _cells(table.columns["task_id"], int)
        for task in sorted({*tasks} - world.tasks.keys()):
            _add_task(world, task, qualities.get(str(task), {}))
        rows = zip(tasks, _setup_values(world.slots(flow), table, tasks), strict=True)
        accuracies = _cells(table.columns[ACCURACY], str)
        chosen = itertools.islice(zip(rows, accuracies, strict=True), runs_per_flow)
        _add_runs(world, flow, ids, chosen, measures)
    world.add_study(Study(14, "OpenML100", "OpenML100", tasks=tuple(sorted(world.tasks))))
    world.add_tag("task", "OpenML100", world.tasks)
    return world


def _with_gaps(first: int) -> Iterator[int]:
    """Ids that count up, some left out now and then."""
    return (first + i + i // RUNS_BETWEEN_GAPS * GAP for i in itertools.count())


def _cells(column: Column, convert: Callable[..., T]) -> list[T]:
    """Cells of a column, each distinct one converted once."""
    values = [convert(value) for value in column.values]
    return [values[code] for code in column.codes.tolist()]


def _add_users_and_procedures(world: World, measures: Iterable[str]) -> None:
    for user, name in USERS.items():
        world.add_user(user, name)
    world.add_procedure(EstimationProcedure(1, 1, "10-fold Crossvalidation"))
    world.add_procedure(EstimationProcedure(7, 2, "10-fold Crossvalidation"))
    world.measures = list(measures)


def _add_task(world: World, task: int, qualities: Mapping[str, float]) -> None:
    did = FIRST_DATASET + task
    texts = {name: None if value != value else str(value) for name, value in sorted(qualities.items())}
    world.add_dataset(Dataset(did, f"dataset-{task}", uploader=1140, qualities=texts))
    world.add_task(Task(task, did))


# ---- flows --------------------------------------------------------------------------------------

_TREE = {
    "class_weight": "null", "criterion": '"gini"', "max_depth": "null", "max_features": "null",
    "max_leaf_nodes": "null", "min_impurity_decrease": "0.0", "min_samples_leaf": "1",
    "min_samples_split": "2", "min_weight_fraction_leaf": "0.0", "random_state": "null",
}  # fmt: skip
_FOREST = _TREE | {
    "bootstrap": "true", "max_features": '"auto"', "n_estimators": "10", "n_jobs": "1",
    "oob_score": "false", "verbose": "0", "warm_start": "false",
}  # fmt: skip
_BOOSTING = {
    "algorithm": '"SAMME.R"', "base_estimator": "null", "learning_rate": "1.0", "n_estimators": "50",
    "random_state": "null",
}  # fmt: skip
_IMPUTER = {"copy": "true", "missing_values": '"NaN"', "strategy": '"mean"', "verbose": "0"}
_ENCODER = {
    "categorical_features": "[]",
    "dtype": serialized("type", "np.float64"),
    "sparse": "true",
}
_COLUMNS = {"n_jobs": "1", "remainder": '"passthrough"', "transformers": "[]"}


def _add_flows(world: World) -> None:
    """Both pipelines; they prepare data by the same flows."""
    book = FlowBook(world, "openml==0.8.0,sklearn==0.20.dev0")
    prefix = "sklearn.preprocessing."
    book.add(6820, f"{prefix}imputation.Imputer", _IMPUTER, version=11)
    book.add(6821, f"{prefix}_encoders.OneHotEncoder", _ENCODER, version=4)
    numeric = book.add_pipeline(6822, {"imputer": 6820}, version=2)
    book.add(
        6823,
        "sklearn.compose._column_transformer.ColumnTransformer",
        _COLUMNS,
        {"numeric": numeric, "nominal": 6821},
        version=3,
    )
    book.add(6824, "sklearn.feature_selection.variance_threshold.VarianceThreshold", {"threshold": "0.0"})
    book.add(6825, "sklearn.ensemble.forest.RandomForestClassifier", _FOREST, version=27)
    tree = _TREE | {"presort": "false", "splitter": '"best"'}
    book.add(6826, "sklearn.tree.tree.DecisionTreeClassifier", tree, version=31)
    boosting = "sklearn.ensemble.weight_boosting.AdaBoostClassifier"
    book.add(6827, boosting, _BOOSTING, {"base_estimator": 6826}, version=9)
    preparation = {"columntransformer": 6823, "variancethreshold": 6824}
    book.add_pipeline(FOREST, preparation | {"randomforestclassifier": 6825})
    book.add_pipeline(BOOSTING, preparation | {"adaboostclassifier": 6827})


# ---- setups and runs ----------------------------------------------------------------------------


def _setup_values(
    slots: Sequence[Slot], table: TypedTable, tasks: Sequence[int]
) -> Iterator[tuple[str, ...]]:
    """The values of each row of the file: tuned ones, those that depend on the data, and constants."""
    draws = random.Random(len(slots))
    columns: list[Iterable[str]] = []
    for slot in slots:
        if slot.path in table.columns:
            columns.append(_cells(table.columns[slot.path], json.dumps))
        elif slot.parameter.name == "random_state":
            columns.append([str(draws.randrange(1 << 16)) for _ in tasks])
        elif slot.parameter.name in _OF_DATA:
            texts = {task: _OF_DATA[slot.parameter.name](task) for task in set(tasks)}
            columns.append([texts[task] for task in tasks])
        else:
            columns.append(itertools.repeat(slot.parameter.default, len(tasks)))
    return zip(*columns, strict=True)


def _nominal_columns(task: int) -> list[int]:
    return list(range(0, 2 + task % 5, 2))


def _transformers(task: int) -> str:
    numeric = component_reference("numeric", range(1, 2 + task % 5, 2))
    return json.dumps([numeric, component_reference("nominal", _nominal_columns(task))])


_OF_DATA: Mapping[str, Callable[[int], str]] = {
    "categorical_features": lambda task: json.dumps(_nominal_columns(task)),
    "transformers": _transformers,
}


def _add_runs(
    world: World,
    flow: int,
    ids: Iterator[tuple[int, int]],
    rows: Iterable[tuple[tuple[int, tuple[str, ...]], str]],
    measures: Sequence[str],
) -> None:
    draws = random.Random(flow)
    users = list(USERS)
    for ((task, values), accuracy), (run, setup) in zip(rows, ids, strict=False):
        world.add_setup(setup, flow, values)
        world.add_run(run, task, setup, uploader=users[run % 3], upload_time=_time(run))
        for row in _evaluations(run, accuracy, measures, draws):
            world.add_evaluation(row.run, row.function, row.value, array_data=row.array_data)


def _time(run: int) -> str:
    minute, second = divmod(run * 7, 60)
    hour, minute = divmod(minute, 60)
    day, hour = divmod(hour, 24)
    return f"2018-{day // 28 % 12 + 1:02}-{day % 28 + 1:02} {hour:02}:{minute:02}:{second:02}"


def _evaluations(
    run: int, accuracy: str, measures: Iterable[str], draws: random.Random
) -> Iterator[Evaluation]:
    for measure in measures:
        if measure == ACCURACY:
            yield Evaluation(run, 1, measure, accuracy)
        elif measure == "os_information":
            yield Evaluation(run, 1, measure, None, "[ Oracle Corporation, 1.7.0_51, amd64, Linux ]")
        elif measure == "usercpu_time_millis":
            if run % 5:
                yield Evaluation(run, 1, measure, str(draws.randrange(10, 90_000)))
        else:
            value = round(1 - (1 - float(accuracy)) * draws.random(), 6)
            yield Evaluation(run, 1, measure, str(value), f"[{value},{round(value * draws.random(), 6)}]")
