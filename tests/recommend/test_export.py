"""Seeds for other tuners: they run what they get, and unfit seeds are refused."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingest.flows import flows_of, get_flow, with_preprocessing
from recommend.export import (
    EXPORTS,
    configurations_of,
    enqueue_seeds,
    export_document,
    optuna_distributions,
    points_to_evaluate,
    smac_configurations,
    space_of,
    suggest_configuration,
)
from recommend.space import Space
from warehouse.support.errors import BadInput, MissingPackage
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Number
from warehouse.vocabulary.task_types import REGRESSION

FOREST = "random_forest"
SVM_VALUES = get_flow("svm").default() | {"C": 2.5, "gamma": 0.25, "shrinking": False, "imputation": "mean"}
FOREST_VALUES = get_flow(FOREST).default() | {
    "criterion": "entropy",
    "max_features": 0.5,
    "min_samples_leaf": 3,
}


def seed(flow: str, values: dict[str, Any], rank: int = 1) -> dict[str, Any]:
    """An entry of a seeds file."""
    known = get_flow(flow)
    return {
        "rank": rank,
        "flow": known.id,
        "openml_flows": list(known.openml),
        "algorithm": known.name,
        "hyperparameters": values,
        "predicted": 1.5,
        "std": 0.5,
        "on_nearest": None,
        "delta": None,
    }


OF_SVM = [seed("svm", SVM_VALUES), seed("svm", SVM_VALUES | {"C": 0.5, "shrinking": True}, 2)]
OF_TWO = [seed("svm", SVM_VALUES), seed(FOREST, FOREST_VALUES, 2)]
JOINT = [
    {"algorithm": "svm", **{f"svm:{name}": value for name, value in SVM_VALUES.items()}},
    {"algorithm": FOREST, **{f"{FOREST}:{name}": value for name, value in FOREST_VALUES.items()}},
]
POINTS = [{name.replace(":", "."): value for name, value in one.items()} for one in JOINT]
NOT_SEEDS: list[tuple[Any, str]] = [
    ({"schema": "x"}, "a list `configurations`"),
    ([{"flow": "svm"}], "seed 1 needs `flow` and `hyperparameters`"),
    ([*OF_SVM, 3], "seed 3 needs"),
    ([*OF_SVM, seed("svm", {"D": 1})], "seed 3: svm has no hyperparameter D"),
    ([{"flow": "perceptron", "hyperparameters": {}}], "seed 1: unknown flow 'perceptron'"),
]


def ranges(flow: str) -> dict[str, tuple[float, float]]:
    """Hyperparameter -> lowest and highest number."""
    parameters = get_flow(flow).hyperparameters
    return {own.name: (own.low, own.high) for own in parameters if isinstance(own, Number)}


def types(values: dict[str, Any]) -> dict[str, type]:
    return {name: type(value) for name, value in values.items()}


@pytest.fixture
def optuna() -> Any:
    module = pytest.importorskip("optuna")
    module.logging.set_verbosity(module.logging.ERROR)
    return module


def test_seeds_are_settings() -> None:
    assert configurations_of({"configurations": OF_TWO}) == [
        Configuration("svm", SVM_VALUES),
        Configuration(FOREST, FOREST_VALUES),
    ]
    assert configurations_of([seed("svm", {"C": 2})])[0].values == get_flow("svm").default() | {"C": 2}


def test_the_space_of_seeds_of_several_flows_is_joint() -> None:
    assert space_of(OF_SVM).names == list(get_flow("svm").space())
    assert list(space_of(OF_TWO).flows) == ["svm", FOREST]
    assert "algorithm" in space_of(OF_TWO).names
    with pytest.raises(BadInput, match="no seed"):
        space_of([])


@pytest.mark.parametrize(("seeds", "reason"), NOT_SEEDS)
def test_invalid_seeds_are_refused_in_one_line(seeds: Any, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as caught:
        configurations_of(seeds)
    assert "\n" not in str(caught.value)


def test_optuna_distributions_are_the_flows_ranges(optuna: Any) -> None:
    of = optuna.distributions
    distributions = optuna_distributions(Space([get_flow("k_nearest_neighbors")], joint=False))
    neighbours = ranges("k_nearest_neighbors")["n_neighbors"]
    assert distributions["n_neighbors"] == of.IntDistribution(*neighbours, log=True)
    assert distributions["metric"] == of.CategoricalDistribution(("euclidean", "manhattan"))
    joint = optuna_distributions(Space([get_flow("svm"), get_flow(FOREST)]))
    assert joint["algorithm"] == of.CategoricalDistribution(("svm", FOREST))
    assert joint["svm:C"] == of.FloatDistribution(*ranges("svm")["C"], log=True)
    assert joint[f"{FOREST}:max_features"] == of.FloatDistribution(*ranges(FOREST)["max_features"])
    assert len(joint) == 1 + len(SVM_VALUES) + len(FOREST_VALUES)


def test_optuna_tries_the_seeds_first_and_stores_their_origin(optuna: Any) -> None:
    space = space_of(OF_TWO)
    study = optuna.create_study()
    enqueue_seeds(study, OF_TWO, optuna_distributions(space))
    ran: list[Configuration] = []
    study.optimize(lambda trial: ran.append(suggest_configuration(trial, space)) or 0.0, n_trials=3)
    assert ran[:2] == configurations_of(OF_TWO)
    assert [trial.params for trial in study.trials[:2]] == JOINT
    assert [types(trial.params) for trial in study.trials[:2]] == [types(values) for values in JOINT]
    assert study.trials[1].user_attrs == {
        "rank": 2,
        "flow": "headstart:random_forest",
        "openml_flows": list(get_flow(FOREST).openml),
        "predicted": 1.5,
    }
    assert study.trials[2].user_attrs == {}


def test_seeds_that_a_study_has_are_not_enqueued_again(optuna: Any) -> None:
    study = optuna.create_study()
    for _ in range(2):
        enqueue_seeds(study, OF_SVM, optuna_distributions(space_of(OF_SVM)))
    assert len(study.trials) == 2


def test_whole_numbers_are_converted_to_the_type_of_the_space(optuna: Any) -> None:
    """JSON of other programs may have 3.0 for 3, and 1 for 1.0."""
    tree = get_flow("decision_tree")
    study = optuna.create_study()
    distributions = optuna_distributions(Space([tree]))
    enqueue_seeds(study, [seed(tree.name, {"min_samples_leaf": 3.0, "max_features": 1})], distributions)
    trial = study.ask(distributions)
    assert types(trial.params) == types(tree.default())


def narrowed(name: str, kind: str, *arguments: Any, **settings: Any) -> Callable[[Any], dict[str, Any]]:
    """The distributions of svm with this one replaced."""
    return lambda optuna: (
        optuna_distributions(space_of(OF_SVM))
        | {name: getattr(optuna.distributions, kind)(*arguments, **settings)}
    )


@pytest.mark.parametrize(
    ("distributions", "reason"),
    [
        (
            narrowed("C", "FloatDistribution", 1.0, 10.0),
            r"seed 2 \(svm\): C is 0.5, expected a number from 1.0 to 10.0$",
        ),
        (
            narrowed("shrinking", "CategoricalDistribution", (1, 0)),
            "shrinking is False, expected one of 1, 0",
        ),
        (lambda optuna: {"C": optuna.distributions.FloatDistribution(0, 9)}, "unknown hyperparameter coef0"),
        (lambda _: {"C": (0.0, 1.0)}, "expected a distribution of Optuna"),
    ],
)
def test_seeds_that_do_not_fit_are_refused_and_none_is_enqueued(
    optuna: Any, distributions: Callable[[Any], dict[str, Any]], reason: str
) -> None:
    study = optuna.create_study()
    with pytest.raises(BadInput, match=reason) as caught:
        enqueue_seeds(study, OF_SVM, distributions(optuna))
    assert "\n" not in str(caught.value)
    assert not study.trials


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("C", value) for value in (True, "2", float("nan"), float("inf"), 1e6)),
        ("shrinking", 1),
        ("scaling", "x"),
    ],
)
def test_a_seed_outside_its_flows_space_is_refused(name: str, value: Any) -> None:
    with pytest.raises(BadInput, match=rf"^seed 2: {name} can't be .*: expected "):
        configurations_of([*OF_SVM[:1], seed("svm", SVM_VALUES | {name: value})])


def of_words(features: int, word: str = "sqrt") -> dict[str, Any]:
    """A seeds file for a dataset with this many features, whose forest has a word for a number."""
    return {
        "dataset": {"features": features},
        "configurations": [seed(FOREST, FOREST_VALUES | {"max_features": word})],
    }


@pytest.mark.parametrize(
    ("features", "word", "share"),
    [
        (16, "sqrt", 0.25),
        (64, "log2", 6 / 64),
        (100_000, "sqrt", ranges(FOREST)["max_features"][0]),
        (1, "log2", ranges(FOREST)["max_features"][1]),
    ],
)
def test_words_are_exported_as_numbers(optuna: Any, features: int, word: str, share: float) -> None:  # noqa: ARG001
    """Each tool gets a number that it can run, at most the end of the range."""
    of_numbers = of_words(features) | {
        "configurations": [seed(FOREST, FOREST_VALUES | {"max_features": share})]
    }
    for tool in EXPORTS:
        assert export_document(of_words(features, word), tool) == export_document(of_numbers, tool)


def test_words_are_refused_where_the_number_of_features_is_unknown() -> None:
    with pytest.raises(BadInput, match="max_features is 'sqrt', expected a number from"):
        points_to_evaluate(of_words(16)["configurations"])


def test_smac_tries_the_seeds_first(tmp_path: Path) -> None:
    smac = pytest.importorskip("smac")
    logging.getLogger("smac").setLevel(logging.CRITICAL)
    space = space_of(OF_TWO).config_space
    scenario = smac.Scenario(space, output_directory=tmp_path, deterministic=True, n_trials=10, seed=3)
    facade = smac.HyperparameterOptimizationFacade
    design = facade.get_initial_design(
        scenario, n_configs=0, additional_configs=smac_configurations(OF_TWO, scenario.configspace)
    )
    search = facade(scenario, initial_design=design, logging_level=False, overwrite=True)
    asked = []
    for _ in OF_TWO:
        trial = search.ask()
        asked.append(dict(trial.config))
        search.tell(trial, smac.runhistory.dataclasses.TrialValue(cost=0.5))
    assert asked == JOINT


def test_smac_configurations_fit_a_users_space() -> None:
    from ConfigSpace import Categorical, ConfigurationSpace, Constant, EqualsCondition, Float, Integer

    space = ConfigurationSpace()
    gamma, kind = Float("gamma", (0.1, 1.0)), Categorical("imputation", ("mean", "median"))
    space.add(
        Integer("C", (1, 10)),
        Categorical("tol", (1e-3, 1e-2), ordered=True),
        Constant("coef0", 0.0),
        Constant("scaling", "standard"),
        kind,
        gamma,
        Categorical("shrinking", (True, False)),
    )
    values = SVM_VALUES | {"C": 2.0}
    (configuration,) = smac_configurations([seed("svm", values)], space)
    assert dict(configuration) == values
    with pytest.raises(BadInput, match=r"C is 2\.5, expected a whole number from 1 to 10"):
        smac_configurations(OF_SVM, space)
    space.add(EqualsCondition(gamma, kind, "median"))
    with pytest.raises(BadInput, match=r"^seed 1 \(svm\) does not fit the space: .*gamma") as caught:
        smac_configurations([seed("svm", values)], space)
    assert "\n" not in str(caught.value)


def test_points_have_the_names_of_the_searched_space() -> None:
    space = Space([get_flow("svm"), get_flow(FOREST)])
    assert points_to_evaluate(OF_SVM[:1], space) == POINTS[:1]
    assert points_to_evaluate(OF_SVM[:1]) == [SVM_VALUES]
    with pytest.raises(BadInput, match="algorithm is 'svm', expected one of 'random_forest', 'lightgbm'"):
        points_to_evaluate(OF_SVM, Space([get_flow(FOREST), get_flow("lightgbm")]))


@pytest.mark.parametrize("tool", EXPORTS)
@pytest.mark.parametrize("joint", [False, True])
def test_documents_are_json_and_say_what_to_run(optuna: Any, tool: str, joint: bool) -> None:
    seeds, values = (OF_TWO, JOINT) if joint else (OF_SVM[:1], [SVM_VALUES])
    if tool == "flaml":  # which has no SVM
        seeds = OF_TWO
    document = export_document({"configurations": seeds}, tool)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    if tool == "optuna":
        parse = optuna.distributions.json_to_distribution
        distributions = {name: parse(text) for name, text in document["distributions"].items()}
        assert distributions == optuna_distributions(space_of(seeds))
        assert [trial["params"] for trial in document["trials"]] == values
        study = optuna.create_study()
        study.enqueue_trial(**document["trials"][0])
        assert study.ask(distributions).params.items() >= values[0].items()
    elif tool == "smac":
        from ConfigSpace import Configuration, ConfigurationSpace

        space = ConfigurationSpace.from_serialized_dict(document["configspace"])
        ran = [dict(Configuration(space, values=one)) for one in document["configurations"]]
        assert ran == document["configurations"] == values
    elif tool == "ray":
        for point, active in zip(document["points_to_evaluate"], POINTS if joint else values, strict=True):
            assert {**point, **active} == point
            assert point.keys() == document["param_space"].keys()
        assert document["param_space"].keys() == {name.replace(":", ".") for name in space_of(seeds).names}
    elif tool == "sklearn":
        assert [grid["estimator"] for grid in document["grids"]] == [
            "sklearn.svm.SVC",
            *(["sklearn.ensemble.RandomForestClassifier"] if joint else []),
        ]
    elif tool == "configspace":
        assert document == space_of(seeds).config_space.to_serialized_dict()


def test_flaml_gets_points_of_its_estimators_and_losses_are_reported() -> None:
    assert export_document({"dataset": {"rows": 1000, "features": 4}, "configurations": OF_TWO}, "flaml") == {
        "starting_points": {
            "rf": [{"n_estimators": 100, "max_features": 0.5, "max_leaves": 300, "criterion": "entropy"}]
        },
        "estimator_list": ["rf"],
        "notes": [
            "seed 1 (svm): FLAML has no equivalent",
            "seed 2 (random_forest): rf leaves out min_samples_leaf=3",
        ],
    }
    with pytest.raises(BadInput, match="FLAML has no equivalent of the flows of these seeds"):
        export_document(OF_SVM, "flaml")


def test_the_space_for_ray_also_works_in_flaml() -> None:
    """FLAML's `tune` is a fork of Ray's: functions and their arguments are the same."""
    tune = pytest.importorskip("flaml.tune")
    document = export_document(OF_TWO, "ray")
    domains = {name: getattr(tune, kind)(*own) for name, (kind, *own) in document["param_space"].items()}
    for point in document["points_to_evaluate"]:
        assert all(domains[name].is_valid(value) for name, value in point.items())
    assert document["param_space"]["svm.C"] == ["loguniform", 2**-5, 2.0**15]
    assert document["param_space"]["random_forest.min_samples_leaf"] == ["randint", 1, 21]


def test_unknown_tools_and_empty_documents_are_refused() -> None:
    with pytest.raises(BadInput, match="known are optuna, smac, flaml, ray, sklearn, configspace"):
        export_document(OF_SVM, "hyperopt")
    with pytest.raises(BadInput, match="no seed"):
        export_document({"configurations": []}, "ray")


def test_without_optuna_one_line_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna.distributions", None)
    with pytest.raises(MissingPackage, match=r"needs the package optuna: pip install optuna$"):
        export_document(OF_SVM, "optuna")
    assert export_document(OF_SVM, "ray")["points_to_evaluate"]


def test_exporting_imports_a_tuner_only_when_needed() -> None:
    command = (
        "import sys, recommend.export; print({'optuna', 'smac', 'flaml', 'ConfigSpace'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"


REDUCED = [
    seed("svm", SVM_VALUES | {"preprocessor": "pca", "pca_variance": 0.9}),
    seed("svm", SVM_VALUES, 2),
]


def test_seeds_with_preprocessing_have_its_space() -> None:
    first, second = points_to_evaluate(REDUCED)
    assert first["preprocessor"] == "pca"
    assert first["pca_variance"] == 0.9
    assert first["pca_whiten"] is False
    assert second["preprocessor"] == "none"
    assert "pca_variance" not in second
    known = space_of(REDUCED).config_space
    assert [dict(one)["preprocessor"] for one in smac_configurations(REDUCED, known)] == ["pca", "none"]


def test_optuna_prunes_a_forbidden_combination(optuna: Any) -> None:
    space = Space([with_preprocessing(get_flow("sgd"))], joint=False)

    def objective(trial: Any) -> float:
        configuration = suggest_configuration(trial, space)
        assert get_flow("sgd").current(configuration.values) == configuration.values
        return 0.5

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=60)
    assert {trial.state.name for trial in study.trials} == {"COMPLETE", "PRUNED"}


@pytest.mark.parametrize("name", flows_of(REGRESSION))
def test_every_tool_takes_the_seeds_of_a_regressor(optuna: Any, name: str) -> None:  # noqa: ARG001
    flow = get_flow(name)
    seeds = [seed(name, flow.default()), seed(name, flow.default() | {"target_transformation": "log1p"}, 2)]
    for tool in set(EXPORTS) - {"flaml"}:  # which lacks some: `test_flaml_points`
        json.dumps(export_document(seeds, tool), allow_nan=False)
    assert configurations_of(seeds)[1].values["target_transformation"] == "log1p"
