"""Configurations and ranges for scikit-learn's searches, for estimators without our packages.

An estimator is named by its import path, and its parameters are read from the estimator that the flow builds.
They exclude imputation, encoding and scaling, which in scikit-learn are earlier steps, and the transformation
of the target, which wraps the estimator; other hyperparameters without an equivalent are listed. Penalties
and tolerances of regressors refer to a target with variance 1.

Values are JSON values. A distribution is a list `[name, argument, ...]`, which `frozen` converts to SciPy; a
range of whole numbers on a logarithmic scale, which SciPy lacks, is an object `{"values": [...]}`, and so are
choices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ingest.flows import Flow
from ingest.flows.base import CLASS_WEIGHT, LOSS, TARGET_TRANSFORMATION, Make
from warehouse.vocabulary.parameters import Choice, Number, Value
from warehouse.vocabulary.searched_flow import SearchedFlow

_BALANCED = {"lightgbm": {"class_weight": "balanced"}, "catboost": {"auto_class_weights": "Balanced"}}
"""Library -> parameters for balanced class weights; XGBoost has none for more than two classes."""
_PREPARED = ("imputation", "scaling", "knots", TARGET_TRANSFORMATION.name)
"""Hyperparameters of the steps before and around the estimator."""
_NOT_TUNED = {"random_state", "categorical_features", "estimator"}
_STEPS = 12
"""Most whole numbers that represent a range on a logarithmic scale."""


def sklearn_grid(flow: Flow, configurations: Sequence[Mapping[str, Value]]) -> dict[str, Any]:
    """The configurations of one flow, one or more, for `GridSearchCV`.

    estimator    path of the class
    param_grid   a grid of one point for each configuration, in their order
    left_out     hyperparameters without an equivalent
    """
    read = [_parameters(flow, values) for values in configurations]
    return {
        "estimator": read[0][0],
        "param_grid": [{name: [value] for name, value in own.items()} for _, own, _ in read],
        "left_out": sorted({name for _, _, left_out in read for name in left_out}),
    }


def sklearn_distributions(flow: SearchedFlow) -> dict[str, Any] | None:
    """The space of a flow, for `RandomizedSearchCV`; None if Headstart does not build it.

    estimator            path of the class
    param_distributions  parameter -> distribution or values
    left_out             hyperparameters without an equivalent
    """
    if not isinstance(flow, Flow):
        return None
    path, default, _ = _parameters(flow, {own.name: own.default for own in flow.hyperparameters}, full=True)
    distributions: dict[str, Any] = {}
    said = set()
    for own in flow.hyperparameters:
        if isinstance(own, Choice) and default.get(own.name) != own.default:
            found = _named_otherwise(flow, own)
        else:
            found = {own.name: _distribution(own)} if own.name in default else {}
        distributions |= found
        said |= {own.name} if found else set()
    numbers = {own.name: own for own in flow.hyperparameters if isinstance(own, Number)}
    if "hidden_layer_sizes" in default:
        layers, units = numbers["hidden_layers"], numbers["hidden_units"]
        distributions["hidden_layer_sizes"] = {
            "values": [
                [size] * depth
                for depth in range(int(layers.low), int(layers.high) + 1)
                for size in _steps(units)
            ]
        }
        said |= {"hidden_layers", "hidden_units"}
    left_out = sorted(own.name for own in flow.hyperparameters if own.name not in said)
    return {"estimator": path, "param_distributions": distributions, "left_out": left_out}


def frozen(distribution: Any) -> Any:
    """The SciPy distribution, or the list of values, described by a value of `param_distributions`."""
    import scipy.stats

    if isinstance(distribution, Mapping):
        return distribution["values"]
    kind, *arguments = distribution
    return getattr(scipy.stats, kind)(*arguments)


def _named_otherwise(flow: Flow, own: Choice) -> dict[str, Any]:
    """The parameter of the estimator for a choice with another name or other values."""
    if own.name in flow.decisions:
        return {}
    first, *others = [_parameters(flow, {own.name: choice}, full=True)[1] for choice in own.choices]
    for name, value in first.items():
        values = [value, *(one.get(name) for one in others)]
        if any(value != another for another in values):
            return {name: {"values": values}}
    return {own.name: {"values": [first[own.name]]}} if own.name in first else {}


def _distribution(own: Number | Choice) -> Any:
    if isinstance(own, Choice):
        return {"values": list(own.choices)}
    if own.is_whole:
        return {"values": _steps(own)} if own.log else ["randint", own.low, own.high + 1]
    return ["loguniform", own.low, own.high] if own.log else ["uniform", own.low, own.high - own.low]


def _steps(own: Number) -> list[int]:
    """Whole numbers at equal distances on the scale, both ends included."""
    space = np.geomspace if own.log else np.linspace
    return sorted({round(number) for number in space(own.low, own.high, _STEPS)})


def _parameters(
    flow: Flow, values: Mapping[str, Value], *, full: bool = False
) -> tuple[str, dict[str, Any], list[str]]:
    """Path of the class, its parameters, and the hyperparameters without an equivalent.

    Args:
        full: whether to include parameters equal to the default of the class.
    """
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import Pipeline

    from ingest.flows.boosters import OBJECTIVES, Booster, BoosterRegressor
    from ingest.flows.gaussian_process import GaussianProcess
    from ingest.flows.lenient import Lenient
    from ingest.flows.margins import by_root_of_columns
    from recommend.code.estimators import public_module

    complete = flow.current(values)
    prepared = {*_PREPARED, *(own.name for own in flow.further)}
    tuned = {name: value for name, value in complete.items() if name not in prepared}
    estimator: Any = flow.estimator(Make(tuned, seed=0, n_categorical=0))
    if isinstance(estimator, TransformedTargetRegressor):
        estimator = estimator.regressor
    if isinstance(estimator, GaussianProcess):  # its kernel is an object
        return "sklearn.gaussian_process.GaussianProcessRegressor", {"normalize_y": True}, [*complete]
    is_of_mean_distances = False
    if isinstance(estimator, Pipeline):  # it only prepares numbers before the estimator
        is_of_mean_distances = estimator[0].func is by_root_of_columns
        estimator = estimator[-1]
    if isinstance(estimator, Lenient):
        estimator = estimator.estimator
    if isinstance(estimator, Booster):
        library = estimator.library
        path, found = f"{library}.{estimator.CLASSES[library]}", dict(estimator.settings)
        said = {*found} if estimator.early_stopping else {*found, "early_stopping"}
        if isinstance(estimator, BoosterRegressor):
            found |= OBJECTIVES[library][estimator.loss]
            said.add(LOSS.name)
        elif library in _BALANCED or not estimator.balanced:
            found |= _BALANCED[library] if estimator.balanced else {}
            said.add(CLASS_WEIGHT.name)
    else:
        path = f"{public_module(type(estimator))}.{type(estimator).__name__}"
        usual = type(estimator)().get_params(deep=False)
        found = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in estimator.get_params(deep=False).items()
            if name not in _NOT_TUNED and (full or value != usual[name])
        }
        said = {*usual} - _NOT_TUNED
        said |= {"hidden_layers", "hidden_units"} if "hidden_layer_sizes" in usual else set()
        said |= {"error_weighting"} if path.endswith(".AdaBoostRegressor") else set()  # its `loss`
    if is_of_mean_distances:  # for the estimator itself, gamma depends on the number of columns
        del found["gamma"]
        said.remove("gamma")
    return path, found, [name for name in complete if name not in said]
