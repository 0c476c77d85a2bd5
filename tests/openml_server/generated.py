"""A small world that holds what is awkward about OpenML, under ids that tests can name."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tests.openml_server.records import (
    Dataset,
    EstimationProcedure,
    Feature,
    Flow,
    Parameter,
    Study,
    Task,
)
from tests.openml_server.sklearn_flows import FlowBook, serialized
from tests.openml_server.world import World

USERS = {1: "ann", 2: "bob"}
MEASURES = (
    "area_under_roc_curve", "kappa", "os_information", "predictive_accuracy", "root_mean_squared_error",
    "usercpu_time_millis", "scimark_benchmark",
)  # fmt: skip

DEACTIVATED, NO_QUALITIES, NOT_PROCESSED, PROCESSING_ERROR = 103, 104, 105, 106  # datasets
REGRESSION_TASK, UNKNOWN_KIND_OF_TASK = 4, 5
OLD_TREE, NEW_TREE, SEARCH, J48, ZERO_R = 11, 21, 31, 41, 51  # flows
SUITE = 14

# Runs, each with a setup of its own whose id is 9,000 higher.
FAILED_RUN, HIDDEN_SETUP_RUN, NO_SETUP_RUN, TWO_ENGINES_RUN, NAN_RUN = 901, 902, 903, 904, 905
EMPTY_VALUE_RUN, UNEVALUATED_RUN, NO_TIME_RUN, SPECIAL_VALUES_RUN, OLD_TEXTS_RUN = 906, 907, 908, 909, 910
DEFAULTS_RUN, TWICE_TAGGED_RUN, CUT_VALUE_RUN = 911, 912, 913
DUPLICATE_RUNS = (914, 915)  # the same task, setup and uploader
SETUP_AFTER_RUN = 9_000

SPECIAL_TEXT = "a & b < \"c\" \\ 'd' \u2603"
OS_INFORMATION = "[ Oracle Corporation, 1.7.0_51, amd64, Linux ]"
CUT_AT = 2048  # where the database cuts a value


def generated_world(seed: int = 0, *, runs_per_cell: int = 6, unreadable: bool = False) -> World:
    """Five tasks, five flows, and `runs_per_cell` runs of each flow on each of the first four tasks.

    The two trees are one structure whose modules were renamed. Next to the plain runs stand the awkward
    ones, by name above. An `unreadable` world has a failed run whose message makes any page that shows it
    no XML.
    """
    world = World()
    draws = random.Random(seed)
    for user, name in USERS.items():
        world.add_user(user, name)
    world.measures = list(MEASURES)
    _add_datasets(world, draws)
    _add_tasks(world)
    _add_flows(world)
    _add_plain_runs(world, draws, runs_per_cell)
    _add_awkward_runs(world, draws)
    message = "1 < 2 & so on" if unreadable else "Killed: out of memory"
    _add_run(world, FAILED_RUN, 1, OLD_TREE, _tree(draws), {}, error_message=message)
    world.add_study(Study(SUITE, "small-suite", "A small suite", tasks=(1, 2, 3)))
    return world


# ---- datasets and tasks -------------------------------------------------------------------------

_QUALITIES = {
    "NumberOfInstances": "30.0",
    "NumberOfFeatures": "3.0",
    "NumberOfClasses": "2.0",
    "NumberOfMissingValues": "0.0",
    "NumberOfNumericFeatures": "1.0",
    "NumberOfSymbolicFeatures": "2.0",
    "ClassEntropy": "0.9182958340544896",
    "MeanMutualInformation": None,
}
_FEATURES = (
    Feature("width", "numeric"),
    Feature("colour", "nominal", ("red", "green", "dark blue")),
    Feature("class", "nominal", ("no", "yes")),
)


def _add_datasets(world: World, draws: random.Random) -> None:
    awkward = _QUALITIES | {
        "MaxNominalAttDistinctValues": "-1.0",
        "MeanAttributeEntropy": "-1.0",
        "NumberOfMissingValues": None,
    }
    flags = Dataset(101, "flags", qualities=_QUALITIES, features=_FEATURES, arff=_arff(draws))
    world.add_dataset(replace(flags, description="Flags, drawn \u00e9tat."))
    world.add_dataset(replace(flags, did=DEACTIVATED, version=2, status="deactivated", arff=None))
    world.add_dataset(Dataset(102, "credit", version=2, uploader=2, features=_FEATURES, qualities=awkward))
    world.add_dataset(Dataset(NO_QUALITIES, "prices", features=_FEATURES, no_qualities=362, target="width"))
    world.add_dataset(Dataset(NOT_PROCESSED, "new", status="in_preparation", no_qualities=363))
    world.add_dataset(Dataset(PROCESSING_ERROR, "broken", no_qualities=364))


def _arff(draws: random.Random) -> str:
    """Thirty rows of the features above."""
    declared = "".join(
        f"@ATTRIBUTE {feature.name} {{{','.join(map(repr, feature.values))}}}\n"
        if feature.values
        else f"@ATTRIBUTE {feature.name} NUMERIC\n"
        for feature in _FEATURES
    )
    nominal = _FEATURES[1:]
    rows = (
        [f"{draws.random():.3f}", *(repr(draws.choice(feature.values)) for feature in nominal)]
        for _ in range(30)
    )
    return f"@RELATION flags\n{declared}@DATA\n" + "".join(f"{','.join(row)}\n" for row in rows)


def _add_tasks(world: World) -> None:
    world.add_procedure(EstimationProcedure(1, 1, "10-fold Crossvalidation"))
    world.add_procedure(EstimationProcedure(6, 1, "33% Holdout set", "holdout", folds=1))
    world.add_procedure(EstimationProcedure(7, 2, "10-fold Crossvalidation"))
    world.add_task(Task(1, 101))
    world.add_task(Task(2, 102, procedure=6))
    world.add_task(Task(3, DEACTIVATED))
    world.add_task(Task(REGRESSION_TASK, NO_QUALITIES, 7, 2, "Supervised Regression"))
    world.add_task(Task(UNKNOWN_KIND_OF_TASK, NOT_PROCESSED, 1, 10, "Multi Task Regression"))


# ---- flows --------------------------------------------------------------------------------------

_IMPUTER = {"missing_values": '"NaN"', "strategy": '"mean"', "fill_value": "null", "verbose": "0"}
_ENCODER = {
    "categorical_features": "null",
    "dtype": serialized("type", "np.float64"),
    "handle_unknown": '"ignore"',
}
_TREE = {"criterion": '"gini"', "max_depth": "null", "min_impurity_decrease": "0.0", "random_state": "null"}
_SEARCH = {
    "cv": "3", "estimator": "null", "n_iter": "10", "n_jobs": "1", "param_distributions": "{}",
    "random_state": "null",
}  # fmt: skip
_DOCSTRINGS = {
    "criterion": 'string, optional (default="gini")',
    "max_depth": "int or None, optional (default=None)",
    "random_state": "int, RandomState instance or None, optional (default=None)",
}


def _add_flows(world: World) -> None:
    old = FlowBook(world, "sklearn==0.18.1")
    new = FlowBook(world, "openml==0.10.2,sklearn==0.22", first_parameter=40_000)
    tree_module = {OLD_TREE: "sklearn.tree.tree.", NEW_TREE: "sklearn.tree._classes."}
    for root, book, data_types in ((OLD_TREE, old, None), (NEW_TREE, new, _DOCSTRINGS)):
        steps = {
            "imputer": book.add(root + 1, "sklearn.preprocessing.imputation.Imputer", _IMPUTER, version=root),
            "encoder": book.add(root + 2, "sklearn.preprocessing.data.OneHotEncoder", _ENCODER, version=root),
            "classifier": book.add(
                root + 3, f"{tree_module[root]}DecisionTreeClassifier", _TREE, data_types=data_types
            ),
        }
        book.add_pipeline(root, steps)
    search = "sklearn.model_selection._search.RandomizedSearchCV"
    new.add(SEARCH, search, _SEARCH, {"estimator": NEW_TREE + 3})
    world.add_flow(
        Flow(
            J48,
            "weka.J48",
            external_version="Weka_3.7.5_9117",
            uploader=2,
            parameters=(
                Parameter(50_001, "C", "option", "0.25", "Confidence threshold for pruning."),
                Parameter(50_002, "M", "option", "2", "Minimum number of instances per leaf."),
                Parameter(50_003, "U", "flag", "", "Use unpruned tree."),
            ),
            description="C4.5, after R. Quinlan; d\u00e9cision trees.",
        )
    )
    world.add_flow(Flow(ZERO_R, "weka.ZeroR", external_version="Weka_3.7.5_9117", uploader=2))


def _tree(draws: random.Random, **changes: str) -> dict[str, str]:
    """Values of a setup of either tree, by path with `__`."""
    names = ("imputer", "encoder", "classifier")
    values = {
        f"{step}__{name}": text
        for step, defaults in zip(names, (_IMPUTER, _ENCODER, _TREE), strict=True)
        for name, text in defaults.items()
    }
    steps = json.dumps(
        [
            {"oml-python:serialized_object": "component_reference", "value": {"key": n, "step_name": n}}
            for n in names
        ]
    )
    drawn = {
        "memory": "null",
        "steps": steps,
        "imputer__strategy": json.dumps(draws.choice(["mean", "median", "most_frequent"])),
        "encoder__categorical_features": json.dumps(sorted(draws.sample(range(5), 2))),
        "classifier__criterion": json.dumps(draws.choice(["gini", "entropy"])),
        "classifier__max_depth": json.dumps(draws.choice([None, 2, 5, 10])),
        "classifier__min_impurity_decrease": json.dumps(round(draws.random() / 10, 6)),
        "classifier__random_state": str(draws.randrange(1 << 16)),
    }
    return values | drawn | changes


def _search(draws: random.Random) -> dict[str, str]:
    """Values of a setup of the search; the sub-model itself is no value."""
    low, high = 1, draws.randrange(5, 20)
    frozen = {
        "dist": "scipy.stats._discrete_distns.randint",
        "a": low,
        "b": high - 1,
        "args": [low, high],
        "kwds": {},
    }
    folds = {
        "name": "sklearn.model_selection._split.KFold",
        "parameters": {"n_splits": "3", "shuffle": "true"},
    }
    inner = {
        path.replace("classifier", "estimator"): v
        for path, v in _tree(draws).items()
        if "classifier__" in path
    }
    return inner | {
        "cv": serialized("cv_object", folds),
        "n_iter": str(draws.randrange(5, 50)),
        "n_jobs": "1",
        "param_distributions": json.dumps({"max_depth": json.loads(serialized("rv_frozen", frozen))}),
        "random_state": str(draws.randrange(1 << 16)),
    }


def _j48(draws: random.Random) -> dict[str, str]:
    """Values of a Weka setup: only options that were set."""
    values = {"C": f"{draws.random() / 2:.3f}"}
    if draws.random() < 0.5:
        values["M"] = str(draws.randrange(2, 30))
    if draws.random() < 0.5:
        values["U"] = "true"
    return values


# ---- runs ---------------------------------------------------------------------------------------

_DRAWN: Mapping[int, Callable[[random.Random], dict[str, str]]] = {
    OLD_TREE: _tree,
    NEW_TREE: _tree,
    SEARCH: _search,
    J48: _j48,
    ZERO_R: lambda _: {},
}


def _add_run(
    world: World,
    run: int,
    task: int,
    flow: int,
    values: Mapping[str, str],
    evaluations: Mapping[str, str | None],
    *,
    listed: bool = True,
    upload_time: str = "2017-05-04 03:02:01",
    error_message: str = "",
) -> None:
    """A run with a setup of its own, and evaluations without arrays."""
    world.add_setup(run + SETUP_AFTER_RUN, flow, values, listed=listed)
    uploader = 1 + run % 2
    world.add_run(
        run,
        task,
        run + SETUP_AFTER_RUN,
        uploader=uploader,
        upload_time=upload_time,
        error_message=error_message,
    )
    for function, value in evaluations.items():
        world.add_evaluation(run, function, value)


def _add_plain_runs(world: World, draws: random.Random, runs_per_cell: int) -> None:
    run = 1_000
    for task in (1, 2, 3, REGRESSION_TASK):
        for flow, drawn in _DRAWN.items():
            for _ in range(runs_per_cell):
                time = f"2017-05-04 03:{run // 60 % 60:02}:{run % 60:02}"
                _add_run(world, run, task, flow, drawn(draws), {}, upload_time=time)
                _evaluate(world, run, task, draws)
                run += 1 + (draws.random() < 0.1)


def _evaluate(world: World, run: int, task: int, draws: random.Random) -> None:
    """All measures that fit the task; only some runs have a time."""
    if task == REGRESSION_TASK:
        world.add_evaluation(run, "root_mean_squared_error", f"{draws.random() * 5:.6f}")
        return
    world.add_evaluation(run, "predictive_accuracy", str(draws.randrange(500_000, 10**6) / 10**6))
    classes = ",".join(f"{value:.6f}" for value in _fractions(draws, 2))
    world.add_evaluation(run, "area_under_roc_curve", f"{draws.random():.6f}", array_data=f"[{classes}]")
    world.add_evaluation(run, "kappa", f"{draws.random():.6f}")
    world.add_evaluation(run, "os_information", None, array_data=OS_INFORMATION)
    if run % 3:
        world.add_evaluation(run, "usercpu_time_millis", str(draws.randrange(1, 10_000)))


def _fractions(draws: random.Random, count: int) -> Iterator[float]:
    return (draws.random() for _ in range(count))


def _add_awkward_runs(world: World, draws: random.Random) -> None:
    good = {"predictive_accuracy": "0.75"}
    special = _tree(
        draws,
        imputer__missing_values="NaN",
        imputer__fill_value=json.dumps(SPECIAL_TEXT, ensure_ascii=False),
        classifier__max_depth="Infinity",
        classifier__min_impurity_decrease="-Infinity",
    )
    old_texts = {path: str(json.loads(text)) for path, text in _tree(draws).items() if path.startswith("cl")}
    cut = _tree(draws, imputer__fill_value=json.dumps("x" * CUT_AT)[:CUT_AT])
    _add_run(world, HIDDEN_SETUP_RUN, 1, OLD_TREE, _tree(draws), good, listed=False)
    world.add_run(NO_SETUP_RUN, 1, NO_SETUP_RUN + SETUP_AFTER_RUN, flow=OLD_TREE)
    world.add_evaluation(NO_SETUP_RUN, "predictive_accuracy", "0.5")
    _add_run(world, TWO_ENGINES_RUN, 1, OLD_TREE, _tree(draws), good)
    world.add_evaluation(TWO_ENGINES_RUN, "predictive_accuracy", "0.8", engine=2)
    _add_run(world, NAN_RUN, 1, J48, {"C": "0.1"}, {"kappa": "NaN", **good})
    _add_run(world, EMPTY_VALUE_RUN, 2, J48, {"C": "0.2"}, {"scimark_benchmark": "", "kappa": None})
    _add_run(world, UNEVALUATED_RUN, 2, OLD_TREE, _tree(draws), {})
    _add_run(world, NO_TIME_RUN, 2, ZERO_R, {}, good, upload_time="")
    _add_run(world, SPECIAL_VALUES_RUN, 2, OLD_TREE, special, good)
    _add_run(world, OLD_TEXTS_RUN, 2, OLD_TREE, old_texts, good)
    _add_run(world, DEFAULTS_RUN, 2, J48, {}, good)
    _add_run(world, TWICE_TAGGED_RUN, 2, NEW_TREE, _tree(draws), good)
    for tag in ("first", "second"):
        world.add_tag("setup", tag, [TWICE_TAGGED_RUN + SETUP_AFTER_RUN])
    _add_run(world, CUT_VALUE_RUN, 2, NEW_TREE, cut, good)
    first, second = DUPLICATE_RUNS
    _add_run(world, first, 1, J48, {"C": "0.3"}, good)
    world.add_run(second, 1, first + SETUP_AFTER_RUN, uploader=world.runs[first].uploader)
    world.add_evaluation(second, "predictive_accuracy", "0.7625")
