"""The pool: configurations that every dataset of an experiment is tried with, in one list.

Each flow gives its default, configurations that others found good, and a space-filling rest
(`ingest.flows.design`). The list is ordered by priority, so that any prefix of it is useful: known-good ones
before the rest, the flows taking turns. What came from elsewhere says so in `source`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

from ingest.flows import FLOWS, get_flow
from ingest.flows.design import sobol_design
from warehouse.configurations.configuration import Configuration
from warehouse.configurations.parameters import Number, Value
from warehouse.support.errors import MissingPackage, UnreadableInput, one_line
from warehouse.support.files import read_json, write_text

Item = TypeVar("Item")

STRONG = 24
"""Configurations of a flow that practitioners reach for."""
SIZES = {
    **dict.fromkeys(("adaboost", "decision_tree", "k_nearest_neighbors"), 6),
    **dict.fromkeys(("svm", "sgd"), 8),
    **dict.fromkeys(("naive_bayes", "linear_discriminant_analysis", "quadratic_discriminant_analysis"), 5),
}
"""Configurations of the other flows."""
MOST_TREES = 1000
"""Trees of known configurations that stop early: theirs are 10,000 and more, on far more rows."""
MOST_KNOWN = 15
"""Known configurations that a flow has at most, beside its default."""


@dataclass(frozen=True)
class Member:
    """A configuration of the pool."""

    configuration: Configuration
    source: str
    """Where it comes from: `default`, `design`, or whose it is."""


def read_pool(path: Path) -> list[Member]:
    """The configurations of a pool's file, in order.

    Raises:
        BadInput: the file is missing or no pool, or holds a configuration that can't be built.
    """
    records = read_json(path)
    try:
        members = [
            Member(Configuration(record["flow"], record["values"]), record["source"]) for record in records
        ]
    except (TypeError, KeyError) as error:
        raise UnreadableInput(f"{path}: no pool: a list of objects with flow, values and source") from error
    for member in members:
        get_flow(member.configuration.algorithm).current(member.configuration.values)
    return members


def write_pool(members: Sequence[Member], path: Path) -> None:
    """Write a pool, one configuration a line."""
    records = (
        {
            "flow": member.configuration.algorithm,
            "values": dict(member.configuration.values),
            "source": member.source,
        }
        for member in members
    )
    lines = ",\n".join(map(json.dumps, records))
    write_text(path, f"[\n{lines}\n]\n")


def build_pool(known: Sequence[Member], *, seed: int = 0) -> list[Member]:
    """Default, known and space-filling configurations of every flow, each configuration once.

    Args:
        known: translated configurations of others, best first.
        seed: of the space-filling designs.
    """
    columns: list[list[Member]] = []
    for flow in FLOWS.values():
        size = SIZES.get(flow.name, STRONG)
        own = [member for member in known if member.configuration.algorithm == flow.name]
        candidates = [
            Member(Configuration(flow.name, flow.default()), "default"),
            *own[: min(MOST_KNOWN, size - 1)],
            *(
                Member(Configuration(flow.name, values), "design")
                for values in sobol_design(flow, size, seed)[1:]
            ),
        ]
        different: dict[Configuration, Member] = {}
        for member in candidates:
            current = flow.current(member.configuration.values)
            different.setdefault(Configuration(flow.name, current), member)
        columns.append(list(different.values())[:size])
    first = [[member for member in column if member.source != "design"] for column in columns]
    rest = [[member for member in column if member.source == "design"] for column in columns]
    return [*in_turns(first), *in_turns(rest)]


def in_turns(columns: Iterable[Sequence[Item]]) -> Iterator[Item]:
    """The first of each column, then the second of each that has one, and so on."""
    return (item for turn in zip_longest(*columns) for item in turn if item is not None)


# ---- configurations of others, in our terms -------------------------------------------------------


def known_configurations(autogluon: Path, autosklearn: Path, flaml: Path) -> list[Member]:
    """Configurations of AutoGluon, auto-sklearn 2 and FLAML that flows of ours can build.

    Flow by flow; the portfolios, each of which has its best first, take turns.

    Args:
        autogluon: JSON file: portfolio -> list of family, name, priority, hyperparameters.
        autosklearn: JSON file: measure -> list of configurations in auto-sklearn's names.
        flaml: the folder `default` of the package flaml, see `flaml_portfolios`.

    Raises:
        BadInput: a file is missing or has another form.
    """
    portfolios = [
        *_portfolios(autogluon, _autogluon),
        *_flaml(flaml),
        *_portfolios(autosklearn, _autosklearn),
    ]
    return [
        member
        for flow in FLOWS
        for member in in_turns(
            [[own for own in one if own.configuration.algorithm == flow] for one in portfolios]
        )
    ]


def flaml_portfolios() -> Path:
    """The folder of FLAML's portfolios in the installed package, which is not imported.

    Raises:
        BadInput: it is not installed.
    """
    package = find_spec("flaml")
    if package is None or not package.submodule_search_locations:
        raise MissingPackage(
            "FLAML's configurations are in the package flaml, which is missing: pip install flaml"
        )
    return Path(package.submodule_search_locations[0]) / "default"


def _portfolios(path: Path, translate: Callable[[Any], Iterator[list[Member]]]) -> list[list[Member]]:
    """What the JSON file holds, translated."""
    content = read_json(path)
    try:
        return [*translate(content)]
    except (AttributeError, KeyError, TypeError) as error:
        raise UnreadableInput(
            f"{path}: not portfolios of the form that is known: {one_line(repr(error))}"
        ) from error


def _member(translated: tuple[str, dict[str, Value]], source: str) -> Member:
    """Complete the values, and bring numbers into the flow's ranges and to four significant digits."""
    flow, values = translated
    kept = get_flow(flow).current(values)
    for parameter in get_flow(flow).hyperparameters:
        value = kept[parameter.name]
        if isinstance(parameter, Number) and isinstance(value, int | float):
            rounded = float(f"{min(max(value, parameter.low), parameter.high):.4g}")
            kept[parameter.name] = round(rounded) if isinstance(parameter.low, int) else rounded
    return Member(Configuration(flow, kept), source)


def _autogluon(portfolios: Mapping[str, Any]) -> Iterator[list[Member]]:
    for name, entries in portfolios.items():
        usable = [entry for entry in entries if entry["hyperparameters"].get("criterion") != "squared_error"]
        yield [
            _member(
                _AUTOGLUON[entry["family"]](entry["hyperparameters"]),
                f"AutoGluon {name}: {entry['family']}{entry['name'] or ''}",
            )
            for entry in usable
            if entry["family"] in _AUTOGLUON
        ]


def _lightgbm(given: Mapping[str, Any]) -> tuple[str, dict[str, Value]]:
    """AutoGluon trains up to 10,000 trees and stops early; its default rate is 0.05."""
    return "lightgbm", {
        "n_estimators": MOST_TREES,
        "early_stopping": True,
        "learning_rate": given.get("learning_rate", 0.05),
        "num_leaves": given.get("num_leaves", 31),
        "min_child_samples": given.get("min_data_in_leaf", 20),
        "colsample_bytree": given.get("feature_fraction", 1.0),
        "subsample": given.get("bagging_fraction", 1.0),
        "reg_alpha": given.get("lambda_l1", 0.0),
        "reg_lambda": given.get("lambda_l2", 0.0),
        "extra_trees": given.get("extra_trees", False),
        "cat_smooth": given.get("cat_smooth", 10.0),
    }


def _xgboost(given: Mapping[str, Any]) -> tuple[str, dict[str, Value]]:
    return "xgboost", {
        "n_estimators": MOST_TREES,
        "early_stopping": True,
        "learning_rate": given.get("learning_rate", 0.1),
        "max_depth": given.get("max_depth", 6),
        "max_leaves": given.get("max_leaves", 4096),
        "grow_policy": given.get("grow_policy", "depthwise"),
        "min_child_weight": given.get("min_child_weight", 1.0),
        # Shares of columns per tree and per level are not told apart.
        "colsample_bytree": given.get("colsample_bytree", given.get("colsample_bylevel", 1.0)),
        "colsample_bynode": given.get("colsample_bynode", 1.0),
        "subsample": given.get("subsample", 1.0),
        "reg_alpha": given.get("reg_alpha", 0.0),
        "reg_lambda": given.get("reg_lambda", 1.0),
    }


def _catboost(given: Mapping[str, Any]) -> tuple[str, dict[str, Value]]:
    return "catboost", {
        "iterations": MOST_TREES,
        "early_stopping": True,
        "automatic_learning_rate": False,
        "learning_rate": given.get("learning_rate", 0.05),
        "depth": given.get("depth", 6),
        "grow_policy": given.get("grow_policy", "SymmetricTree"),
        "l2_leaf_reg": given.get("l2_leaf_reg", 3.0),
        "rsm": given.get("colsample_bylevel", 1.0),
        "max_ctr_complexity": given.get("max_ctr_complexity", 4),
        "one_hot_max_size": given.get("one_hot_max_size", 2),
    }


def _forest(flow: str, given: Mapping[str, Any]) -> tuple[str, dict[str, Value]]:
    """Limits on leaves, of thousands as a rule, are left out, and so are numbers of trees.

    scikit-learn's default for `max_features` is the root of their number.
    """
    return flow, {
        "criterion": given.get("criterion", "gini"),
        "max_features": given.get("max_features", "sqrt"),
        "min_samples_leaf": given.get("min_samples_leaf", 1),
    }


_AUTOGLUON: dict[str, Any] = {
    "GBM": _lightgbm,
    "XGB": _xgboost,
    "CAT": _catboost,
    "RF": partial(_forest, "random_forest"),
    "XT": partial(_forest, "extra_trees"),
}


def _flaml(folder: Path) -> Iterator[list[Member]]:
    """The portfolios of one learner each; what was tuned on more rows than we run is among them."""
    for learner, translate in _FLAML.items():
        for task in ("binary", "multiclass"):
            source = f"FLAML {learner} {task}"
            yield from _portfolios(
                folder / learner / f"{task}.json", partial(_flaml_learner, translate, source)
            )


def _flaml_learner(
    translate: Callable[[Mapping[str, Any]], tuple[str, dict[str, Value]]],
    source: str,
    content: Mapping[str, Any],
) -> Iterator[list[Member]]:
    given = [entry["hyperparameters"] for entry in content["portfolio"]]
    yield [_member(translate(values), f"{source} {place}") for place, values in enumerate(given) if values]


def _flaml_booster(flow: str, given: Mapping[str, Any]) -> tuple[str, dict[str, Value]]:
    """Numbers of trees above `MOST_TREES` stop early, as FLAML would on fewer rows.

    Limits on leaves come with growth by leaves and the deepest trees of the range.
    """
    names = {parameter.name for parameter in get_flow(flow).hyperparameters}
    values = {name: value for name, value in given.items() if name in names}
    if flow == "xgboost" and "max_leaves" in given:
        values |= {"grow_policy": "lossguide", "max_depth": 12}
    if "colsample_bylevel" in given:
        values["colsample_bynode"] = given["colsample_bylevel"]
    trees = {"n_estimators": min(given["n_estimators"], MOST_TREES)}
    return flow, values | trees | {"early_stopping": given["n_estimators"] > MOST_TREES}


_FLAML: dict[str, Any] = {
    "lgbm": partial(_flaml_booster, "lightgbm"),
    "xgboost": partial(_flaml_booster, "xgboost"),
    "xgb_limitdepth": partial(_flaml_booster, "xgboost"),
    "rf": partial(_forest, "random_forest"),
    "extra_tree": partial(_forest, "extra_trees"),
}


def _autosklearn(portfolios: Mapping[str, Any]) -> Iterator[list[Member]]:
    """A configuration of auto-sklearn: scalers become `standard` or `quantile`, other steps are left out."""
    for measure, entries in portfolios.items():
        yield [
            _member(translated, f"auto-sklearn 2 {measure} {place}")
            for place, entry in enumerate(entries)
            if (translated := _autosklearn_entry(entry["configuration"])) is not None
        ]


def _autosklearn_entry(given: Mapping[str, Any]) -> tuple[str, dict[str, Value]] | None:
    classifier = given["classifier:__choice__"]
    if classifier not in _AUTOSKLEARN:
        return None
    prefix = f"classifier:{classifier}:"
    own = {name.removeprefix(prefix): value for name, value in given.items() if name.startswith(prefix)}
    flow, values = _AUTOSKLEARN[classifier](own)
    balanced = given.get("balancing:strategy") == "weighting"
    scaler = given.get("data_preprocessor:feature_type:numerical_transformer:rescaling:__choice__")
    general = {
        "class_weight": "balanced" if balanced else "none",
        "scaling": "quantile" if scaler in ("quantile_transformer", "power_transformer") else "standard",
    }
    names = {parameter.name for parameter in get_flow(flow).hyperparameters}
    return flow, values | {name: value for name, value in general.items() if name in names}


def _autosklearn_forest(flow: str, own: Mapping[str, Any]) -> tuple[str, dict[str, Value]]:
    """A forest of auto-sklearn, whose `max_features` is an exponent of the number of features: 20 here."""
    return flow, {
        "bootstrap": own["bootstrap"] == "True",
        "criterion": own["criterion"],
        "max_features": 20 ** (own["max_features"] - 1),
        "min_samples_leaf": own["min_samples_leaf"],
        "min_samples_split": own["min_samples_split"],
    }


def _autosklearn_boosting(own: Mapping[str, Any]) -> tuple[str, dict[str, Value]]:
    """Boosting of auto-sklearn, which trains up to 512 trees."""
    return "hist_gradient_boosting", {
        "max_iter": 512,
        "learning_rate": own["learning_rate"],
        "max_leaf_nodes": own["max_leaf_nodes"],
        "min_samples_leaf": own["min_samples_leaf"],
        "l2_regularization": own["l2_regularization"],
        "early_stopping": own["early_stop"] != "off",
    }


def _autosklearn_network(own: Mapping[str, Any]) -> tuple[str, dict[str, Value]]:
    return "mlp", {
        "activation": own["activation"],
        "alpha": own["alpha"],
        "hidden_layers": own["hidden_layer_depth"],
        "hidden_units": own["num_nodes_per_layer"],
        "learning_rate_init": own["learning_rate_init"],
        "early_stopping": own["early_stopping"] == "valid",
    }


def _autosklearn_sgd(own: Mapping[str, Any]) -> tuple[str, dict[str, Value]]:
    """Losses without probabilities become the logistic one, and all have its usual learning rate."""
    mixed = round(2 * own.get("l1_ratio", 0.5)) / 2  # the nearest of those that we have
    share = {"l2": 0.0, "l1": 1.0}.get(own["penalty"], mixed)
    return "sgd", {
        "loss": "modified_huber" if own["loss"] == "modified_huber" else "log_loss",
        "alpha": own["alpha"],
        "l1_ratio": share,
        "average": own["average"] == "True",
        "tol": own["tol"],
    }


_AUTOSKLEARN: dict[str, Any] = {
    "gradient_boosting": _autosklearn_boosting,
    "mlp": _autosklearn_network,
    "sgd": _autosklearn_sgd,
    "random_forest": partial(_autosklearn_forest, "random_forest"),
    "extra_trees": partial(_autosklearn_forest, "extra_trees"),
}
