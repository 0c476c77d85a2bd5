"""The pool: what is in it, in which order, and how configurations of others become ours."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ingest.cli import main
from ingest.flows import FLOWS, get_flow
from ingest.running.pool import (
    MOST_KNOWN,
    SIZES,
    STRONG,
    Member,
    build_pool,
    flaml_portfolios,
    known_configurations,
    read_pool,
    write_pool,
)
from warehouse.configurations.configuration import Configuration
from warehouse.support.errors import BadInput

POOL = Path(__file__).parents[3] / "ingest" / "plans" / "pool.json"
FLAML_LEARNERS = ("lgbm", "xgboost", "xgb_limitdepth", "rf", "extra_tree")

Known = Callable[..., list[Member]]


@pytest.fixture(scope="module")
def committed() -> list[Member]:
    return read_pool(POOL)


@pytest.fixture(scope="module")
def built(committed: list[Member]) -> list[Member]:
    """The committed pool without what searches added."""
    return [member for member in committed if not member.source.startswith("search on ")]


@pytest.fixture
def known(tmp_path: Path) -> Known:
    """Translate what files of this content hold; nothing else is in them."""

    def translated(
        autogluon: Sequence[Any] = (), autosklearn: Sequence[Any] = (), **flaml: Sequence[Any]
    ) -> list[Member]:
        (tmp_path / "autogluon.json").write_text(json.dumps({"zeroshot": autogluon}))
        (tmp_path / "autosklearn2.json").write_text(
            json.dumps({"roc_auc": [{"name": "x", "configuration": entry} for entry in autosklearn]})
        )
        for learner in FLAML_LEARNERS:
            (tmp_path / learner).mkdir(exist_ok=True)
            for task in ("binary", "multiclass"):
                entries = flaml.get(f"{learner}_{task}", ())
                portfolio = [{"class": learner, "hyperparameters": entry} for entry in entries]
                (tmp_path / learner / f"{task}.json").write_text(json.dumps({"portfolio": portfolio}))
        return known_configurations(tmp_path / "autogluon.json", tmp_path / "autosklearn2.json", tmp_path)

    return translated


def autogluon(family: str, name: str | None = None, **hyperparameters: object) -> dict[str, object]:
    return {"family": family, "name": name, "priority": -1, "hyperparameters": hyperparameters}


def autosklearn(
    classifier: str, *, balancing: str = "none", scaler: str = "standardize", **own: object
) -> Any:
    rescaling = "data_preprocessor:feature_type:numerical_transformer:rescaling:__choice__"
    return {
        "balancing:strategy": balancing,
        "classifier:__choice__": classifier,
        rescaling: scaler,
        **{f"classifier:{classifier}:{parameter}": value for parameter, value in own.items()},
    }


def flow_default(flow: str) -> dict[str, object]:
    return get_flow(flow).default()


# The committed pool


def test_committed_pool_has_its_sizes(built: list[Member]) -> None:
    """24 of each strong flow, fewer of the others, and a design of as many as its space has points."""
    sizes = {flow: sum(member.configuration.algorithm == flow for member in built) for flow in FLOWS}
    assert sizes == {flow: SIZES.get(flow, STRONG) for flow in FLOWS}
    assert sum(sizes.values()) == len(built) == 241


def test_what_searches_added_comes_at_the_end(committed: list[Member], built: list[Member]) -> None:
    assert committed[: len(built)] == built
    assert 0 < len(committed) - len(built) <= 24


def test_committed_pool_can_be_built_within_the_spaces_of_its_flows(committed: list[Member]) -> None:
    """The number of features that forests look at may also be given by name, as scikit-learn has it."""
    spaces = {flow: get_flow(flow).space() for flow in FLOWS}
    for member in committed:
        algorithm, values = member.configuration.algorithm, member.configuration.values
        assert get_flow(algorithm).current(values) == values  # complete, in today's terms
        for parameter, value in values.items():
            named = parameter == "max_features" and value in ("sqrt", "log2")
            assert named or spaces[algorithm][parameter].legal_value(value), (member, parameter)


def test_committed_pool_repeats_nothing(committed: list[Member]) -> None:
    assert len({member.configuration for member in committed}) == len(committed)


def test_pool_starts_with_the_defaults_and_ends_with_the_designs(built: list[Member]) -> None:
    assert [member.configuration.algorithm for member in built[: len(FLOWS)]] == list(FLOWS)
    for name, member in zip(FLOWS, built, strict=False):
        assert member == Member(Configuration(name, flow_default(name)), "default")
    designed = [member.source == "design" for member in built]
    assert designed == sorted(designed)


def test_sources_of_the_pool_are_named(built: list[Member]) -> None:
    theirs = {member.source for member in built} - {"default", "design"}
    assert {source.partition(" ")[0] for source in theirs} == {"AutoGluon", "FLAML", "auto-sklearn"}
    assert len(theirs) == sum(member.source in theirs for member in built)  # each names one entry
    for flow in FLOWS:
        assert (
            sum(member.configuration.algorithm == flow and member.source in theirs for member in built)
            <= MOST_KNOWN
        )


def test_pool_is_what_the_known_configurations_give(shared_data: Path, built: list[Member]) -> None:
    pytest.importorskip("flaml", reason="FLAML's configurations are in its package")
    folder = shared_data / "known-configurations"
    known = known_configurations(folder / "autogluon.json", folder / "autosklearn2.json", flaml_portfolios())
    assert build_pool(known) == built


# Building


def test_known_configurations_come_after_the_default_and_before_the_design() -> None:
    known = [
        Member(Configuration("svm", flow_default("svm") | {"C": value}), f"somebody {value}")
        for value in (2.0, 3.0)
    ]
    members = [member for member in build_pool(known) if member.configuration.algorithm == "svm"]
    assert [member.source for member in members] == [
        "default",
        "somebody 2.0",
        "somebody 3.0",
        *["design"] * (SIZES["svm"] - 3),
    ]


def test_flows_take_turns() -> None:
    order = [member.configuration.algorithm for member in build_pool([])]
    for turn in range(min(SIZES.values())):
        assert order[turn * len(FLOWS) : (turn + 1) * len(FLOWS)] == list(FLOWS)


def test_known_configurations_leave_room_for_the_design() -> None:
    known = [
        Member(Configuration("mlp", flow_default("mlp") | {"hidden_units": units}), f"somebody {units}")
        for units in range(8, 60)
    ]
    sources = [member.source for member in build_pool(known) if member.configuration.algorithm == "mlp"]
    assert len(sources) == STRONG
    assert sources[: 1 + MOST_KNOWN] == ["default", *(f"somebody {units}" for units in range(8, 23))]
    assert set(sources[1 + MOST_KNOWN :]) == {"design"}


def test_configuration_that_several_know_is_there_once_under_the_first_name() -> None:
    values = flow_default("svm") | {"C": 2.0}
    members = build_pool(
        [Member(Configuration("svm", values), "first"), Member(Configuration("svm", values), "second")]
    )
    assert [member.source for member in members if member.configuration.values == values] == ["first"]


def test_configuration_that_several_know_keeps_its_first_place() -> None:
    values = [flow_default("svm") | {"C": value} for value in (2.0, 3.0)]
    known = [
        Member(Configuration("svm", values[0]), "first"),
        Member(Configuration("svm", values[1]), "second"),
        Member(Configuration("svm", values[0]), "third"),
        Member(Configuration("svm", flow_default("svm")), "fourth"),
    ]
    members = [member for member in build_pool(known) if member.configuration.algorithm == "svm"]
    assert [member.source for member in members[:3]] == ["default", "first", "second"]


def test_pool_is_the_same_each_time_and_another_with_another_seed() -> None:
    assert build_pool([]) == build_pool([]) != build_pool([], seed=1)


# Configurations of others


def test_lightgbm_of_autogluon(known: Known) -> None:
    given = {
        "learning_rate": 0.0154031028561,
        "num_leaves": 68,
        "min_data_in_leaf": 1,
        "feature_fraction": 0.6189215809382,
        "bagging_fraction": 0.9625293420216,
        "bagging_freq": 1,
        "lambda_l1": 0.00001,
        "lambda_l2": 0.6937755557881,
        "extra_trees": False,
        "cat_smooth": 68.8584757332856,
        "cat_l2": 0.1236875455555,
    }
    (member,) = known([autogluon("GBM", "_r33", **given)])
    assert (member.configuration.algorithm, member.source) == ("lightgbm", "AutoGluon zeroshot: GBM_r33")
    assert member.configuration.values == {
        "n_estimators": 1000,  # stopped early
        "early_stopping": True,
        "learning_rate": 0.0154,
        "num_leaves": 68,
        "min_child_samples": 1,
        "colsample_bytree": 0.6189,
        "subsample": 0.9625,
        "reg_alpha": 1e-3,  # the low end of our range
        "reg_lambda": 0.6938,
        "extra_trees": False,
        "cat_smooth": 68.86,
        "class_weight": "none",
    }


def test_xgboost_of_autogluon(known: Known) -> None:
    given = {
        "colsample_bylevel": 0.9213705632288,
        "colsample_bynode": 0.6443385965381,
        "enable_categorical": True,
        "grow_policy": "lossguide",
        "learning_rate": 0.0068171645251,
        "max_depth": 6,
        "max_leaves": 10,
        "min_child_weight": 0.0507304250576,
        "reg_alpha": 4.2446346389037,
        "reg_lambda": 1.4800570021253,
        "subsample": 0.9656290596647,
    }
    (member,) = known([autogluon("XGB", "_r171", **given)])
    assert member.configuration.values == {
        "n_estimators": 1000,
        "early_stopping": True,
        "learning_rate": 0.006817,
        "max_depth": 6,
        "max_leaves": 10,
        "grow_policy": "lossguide",
        "min_child_weight": 0.05073,
        "colsample_bytree": 0.9214,
        "colsample_bynode": 0.6443,
        "subsample": 0.9656,
        "reg_alpha": 4.245,
        "reg_lambda": 1.48,
        "class_weight": "none",
    }


def test_catboost_of_autogluon(known: Known) -> None:
    given = {"depth": 10, "grow_policy": "Depthwise", "l2_leaf_reg": 4.25, "colsample_bylevel": 0.87}
    (member,) = known([autogluon("CAT", **given)])
    assert member.source == "AutoGluon zeroshot: CAT"
    assert member.configuration.values == flow_default("catboost") | {
        "iterations": 1000,
        "early_stopping": True,
        "automatic_learning_rate": False,
        "learning_rate": 0.05,  # AutoGluon's default
        "depth": 8,  # the high end of our range
        "grow_policy": "Depthwise",
        "l2_leaf_reg": 4.25,
        "rsm": 0.87,
    }


def test_forests_of_autogluon(known: Known) -> None:
    forest, default, shares = known(
        [
            autogluon("RF", "_r166", max_features="log2", max_leaf_nodes=42644, min_samples_leaf=3),
            autogluon("XT", "Entr", criterion="entropy"),
            autogluon("XT", "_r197", max_features=1.0, min_samples_leaf=40),
        ]
    )
    assert [member.configuration.algorithm for member in (forest, default)] == [
        "random_forest",
        "extra_trees",
    ]
    assert forest.configuration.values == flow_default("random_forest") | {
        "max_features": "log2",
        "min_samples_leaf": 3,
    }
    assert default.configuration.values == flow_default("extra_trees") | {
        "criterion": "entropy",
        "max_features": "sqrt",
    }
    assert shares.configuration.values == flow_default("extra_trees") | {
        "max_features": 0.9,
        "min_samples_leaf": 20,
    }


def test_models_that_no_flow_builds_are_left_out(known: Known) -> None:
    assert (
        known(
            [autogluon("NN_TORCH", lr=0.1), autogluon("TABICL"), autogluon("RF", criterion="squared_error")],
            [autosklearn("passive_aggressive", C=1.0)],
            rf_binary=[{}],
        )
        == []
    )


def test_configurations_of_flaml(known: Known) -> None:
    forest, few, many = known(  # flow by flow
        lgbm_binary=[
            {
                "n_estimators": 311,
                "num_leaves": 4,
                "min_child_samples": 5,
                "learning_rate": 0.0912,
                "log_max_bin": 8,
                "colsample_bytree": 0.65,
                "reg_alpha": 0.0009765625,
                "reg_lambda": 10.5,
            }
        ],
        xgboost_multiclass=[
            {
                "n_estimators": 7902,
                "max_leaves": 49,
                "min_child_weight": 0.038,
                "learning_rate": 0.0009765625,
                "subsample": 0.94,
                "colsample_bylevel": 0.47,
                "colsample_bytree": 0.905,
                "reg_alpha": 1.5,
                "reg_lambda": 2.5,
                "FLAML_sample_size": 100_000,
            }
        ],
        rf_binary=[{"n_estimators": 501, "max_features": 0.2448, "max_leaves": 1156, "criterion": "entropy"}],
    )
    assert [member.source for member in (few, many, forest)] == [
        "FLAML lgbm binary 0",
        "FLAML xgboost multiclass 0",
        "FLAML rf binary 0",
    ]
    assert few.configuration.values == flow_default("lightgbm") | {
        "n_estimators": 311,
        "num_leaves": 4,
        "min_child_samples": 5,
        "learning_rate": 0.0912,
        "colsample_bytree": 0.65,
        "reg_alpha": 1e-3,
        "reg_lambda": 10.5,
        "early_stopping": False,
    }
    assert many.configuration.values == {
        "n_estimators": 1000,
        "early_stopping": True,
        "learning_rate": 0.005,
        "max_depth": 12,
        "max_leaves": 49,
        "grow_policy": "lossguide",
        "min_child_weight": 0.038,
        "colsample_bytree": 0.905,
        "colsample_bynode": 0.47,
        "subsample": 0.94,
        "reg_alpha": 1.5,
        "reg_lambda": 2.5,
        "class_weight": "none",
    }
    assert forest.configuration.values == flow_default("random_forest") | {
        "criterion": "entropy",
        "max_features": 0.2448,
    }


def test_gradient_boosting_of_autosklearn(known: Known) -> None:
    own = {
        "early_stop": "valid",
        "l2_regularization": 4.135845976833545e-08,
        "learning_rate": 0.04680363516841818,
        "max_bins": 255,
        "max_leaf_nodes": 95,
        "min_samples_leaf": 22,
        "n_iter_no_change": 17,
    }
    (member,) = known([], [autosklearn("gradient_boosting", balancing="weighting", **own)])
    assert (member.configuration.algorithm, member.source) == (
        "hist_gradient_boosting",
        "auto-sklearn 2 roc_auc 0",
    )
    assert member.configuration.values == {
        "max_iter": 512,
        "learning_rate": 0.0468,
        "max_leaf_nodes": 95,
        "min_samples_leaf": 22,
        "l2_regularization": 4.136e-08,
        "max_features": 1.0,
        "class_weight": "balanced",
        "early_stopping": True,
    }


def test_forest_of_autosklearn_looks_at_its_power_of_twenty_features(known: Known) -> None:
    own = {"bootstrap": "False", "criterion": "entropy", "min_samples_leaf": 4, "min_samples_split": 15}
    (member,) = known([], [autosklearn("extra_trees", max_features=0.5, **own)])
    assert member.configuration.values == flow_default("extra_trees") | {
        "bootstrap": False,
        "criterion": "entropy",
        "max_features": 0.2236,  # the root of 20, of 20
        "min_samples_leaf": 4,
        "min_samples_split": 15,
    }


@pytest.mark.parametrize(
    ("scaler", "scaling"),
    [
        ("quantile_transformer", "quantile"),
        ("power_transformer", "quantile"),
        ("robust_scaler", "standard"),
        ("none", "standard"),
    ],
)
def test_network_of_autosklearn(known: Known, scaler: str, scaling: str) -> None:
    own = {
        "activation": "tanh",
        "alpha": 0.01380980964,
        "early_stopping": "valid",
        "hidden_layer_depth": 3,
        "learning_rate_init": 0.00555298839,
        "num_nodes_per_layer": 264,
    }
    (member,) = known([], [autosklearn("mlp", scaler=scaler, balancing="weighting", **own)])
    assert member.configuration.values == flow_default("mlp") | {
        "activation": "tanh",
        "alpha": 0.01381,
        "hidden_layers": 3,
        "hidden_units": 256,
        "learning_rate_init": 0.005553,
        "early_stopping": True,
        "scaling": scaling,
    }


@pytest.mark.parametrize(
    ("loss", "ours"),
    [("hinge", "log_loss"), ("perceptron", "log_loss"), ("modified_huber", "modified_huber")],
)
@pytest.mark.parametrize(
    ("penalty", "share"),
    [
        ({"penalty": "l2"}, 0.0),
        ({"penalty": "l1"}, 1.0),
        ({"penalty": "elasticnet", "l1_ratio": 0.66}, 0.5),
        ({"penalty": "elasticnet", "l1_ratio": 0.9}, 1.0),
        pytest.param(
            {"penalty": "elasticnet", "l1_ratio": 7e-9},
            0.0,
        ),
    ],
)
def test_linear_model_of_autosklearn(
    known: Known, loss: str, ours: str, penalty: dict[str, Any], share: float
) -> None:
    own = {"alpha": 8.445e-05, "average": "True", "loss": loss, "tol": 0.01756, **penalty}
    (member,) = known([], [autosklearn("sgd", **own)])
    assert member.configuration.values == flow_default("sgd") | {
        "loss": ours,
        "alpha": 8.445e-05,
        "l1_ratio": share,
        "average": True,
        "tol": 0.01756,
    }


def test_portfolios_take_turns_within_a_flow(known: Known) -> None:
    forest = {"n_estimators": 100, "criterion": "gini"}
    order = known(
        [autogluon("NN_TORCH"), autogluon("RF", "_a"), autogluon("XT", "_b"), autogluon("RF", "_c")],
        rf_binary=[forest | {"max_features": 0.1}, forest | {"max_features": 0.2}],
    )
    assert [member.source for member in order] == [
        "AutoGluon zeroshot: RF_a",
        "FLAML rf binary 0",
        "AutoGluon zeroshot: RF_c",
        "FLAML rf binary 1",
        "AutoGluon zeroshot: XT_b",
    ]


# Files


def test_pool_is_read_as_it_was_written(tmp_path: Path, committed: list[Member]) -> None:
    write_pool(committed, tmp_path / "pool.json")
    assert read_pool(tmp_path / "pool.json") == committed
    assert (tmp_path / "pool.json").read_bytes() == POOL.read_bytes()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not a JSON file"),
        ('{"flow": "svm"}', "no pool"),
        ('[{"flow": "svm", "values": {}}]', "no pool"),
        ('[{"flow": "perceptron", "values": {}, "source": "me"}]', "unknown flow 'perceptron'"),
        ('[{"flow": "svm", "values": {"depth": 3}, "source": "me"}]', "svm has no hyperparameter depth"),
        ('[{"flow": "adaboost", "values": {"algorithm": "SAMME.R"}, "source": "me"}]', "can't be built"),
    ],
)
def test_unusable_pool_is_refused_in_one_line(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "pool.json").write_text(content)
    with pytest.raises(BadInput, match=reason) as caught:
        read_pool(tmp_path / "pool.json")
    assert "\n" not in str(caught.value)


# `ingest pool`


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["ingest", "pool", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


@pytest.fixture
def portfolios(known: Known, tmp_path: Path) -> Path:
    """A directory with one configuration of AutoGluon and one of auto-sklearn 2."""
    own = {"alpha": 1e-5, "average": "True", "loss": "hinge", "penalty": "l1", "tol": 1e-3}
    known([autogluon("RF", "Entr", criterion="entropy")], [autosklearn("sgd", **own)])
    return tmp_path


def test_command_writes_the_pool(
    portfolios: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("flaml", reason="FLAML's configurations are in its package")
    output = portfolios / "pool.json"
    assert call(monkeypatch, "--known", portfolios, "--output", output) == 0
    assert "241 configurations of 16 flows\n16 default, " in capsys.readouterr().out
    sources = {member.source for member in read_pool(output)}
    assert {"AutoGluon zeroshot: RFEntr", "auto-sklearn 2 roc_auc 0", "FLAML lgbm binary 0"} <= sources


def test_command_explains_itself(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "--help") == 0
    described = capsys.readouterr().out
    for word in ("--known", "--output", "autogluon.json", "autosklearn2.json", "FLAML", "Example"):
        assert word in described


def test_missing_flaml_is_refused_in_one_line(
    portfolios: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "flaml", None)
    assert call(monkeypatch, "--known", portfolios, "--output", portfolios / "pool.json") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "pip install flaml" in captured.err
    assert not (portfolios / "pool.json").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("autogluon.json", None),
        ("autogluon.json", "[1"),
        ("autogluon.json", '{"zeroshot": [{"family": "GBM"}]}'),
        ("autosklearn2.json", "[]"),
        ("autosklearn2.json", '{"roc_auc": [{"name": "x"}]}'),
    ],
)
def test_unusable_portfolios_are_refused_in_one_line(
    portfolios: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: str | None,
) -> None:
    pytest.importorskip("flaml", reason="FLAML's configurations are in its package")
    if content is None:
        (portfolios / name).unlink()
    else:
        (portfolios / name).write_text(content)
    assert call(monkeypatch, "--known", portfolios, "--output", portfolios / "pool.json") == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert name in captured.err
