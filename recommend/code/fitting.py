"""The function `fit` of a script: the pipeline of a configuration, without our classes.

A pipeline of scikit-learn's classes becomes one expression. Our own classes (`Booster`, `GaussianProcess`,
`Balanced`, `Preprocessor`) become statements that fit one step after the other, and a pipeline of the fitted
steps. An ensemble has a function for each member, and averages their results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import comb
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OrdinalEncoder, QuantileTransformer

from ingest.flows import get_flow
from ingest.flows.balancing import Balanced
from ingest.flows.base import LAST_STEP
from ingest.flows.boosters import OBJECTIVES, Booster, BoosterClassifier, BoosterRegressor
from ingest.flows.boosting import FITTED_AGAIN_BELOW
from ingest.flows.features import MAKERS, MOST, MOST_PRODUCTS, Preprocessor
from ingest.flows.gaussian_process import SMOOTHNESS, GaussianProcess
from ingest.flows.lenient import Lenient
from ingest.flows.margins import by_root_of_columns, in_single_precision
from ingest.flows.preprocessing import as_text, category_columns
from ingest.flows.target import SignedLog
from ingest.flows.terms import vectorizer
from ingest.reading.column_types.roles import Role
from ingest.reading.datasets import Dataset
from recommend.calibration import CALIBRATION
from recommend.code.estimators import SEED, Imports
from recommend.code.snippets import hold_out
from recommend.code.syntax import Call, Raw, literal, written
from recommend.code.targets import target_code
from warehouse.support.errors import UnfitConfiguration
from warehouse.vocabulary.configuration import Configuration

LEAST_OF_CLASS = 4
"""Least rows of the smallest class for cross-validating a calibrated classifier: a fold leaves three of
four."""
_BALANCED = {"oversampling": "oversampled", "undersampling": "undersampled"}
"""Strategy -> function of a script that resamples rows."""
_TAKE_NUMBERS = ("xgboost", "catboost")
"""Libraries that need classes as numbers."""


@dataclass
class Fitting:
    """The body of `fit`, for features `X` and labels or numbers `y`, with the names it uses."""

    dataset: Dataset
    imports: Imports = field(default_factory=Imports)
    """Names that not every script may use, unlike those that `recommend.code.script` lists."""
    lines: list[str] = field(default_factory=list)
    steps: list[tuple[str, Raw]] = field(default_factory=list)
    """Name of a step in the fitted pipeline, and its variable."""
    arguments: dict[str, object] = field(default_factory=dict)
    """Further arguments of the last step's `fit`."""
    validation: dict[str, object] = field(default_factory=dict)
    """Further arguments of its first `fit`, which stops early."""
    found: dict[str, object] = field(default_factory=dict)
    """Settings that this fit finds for a second one, on all rows; empty = it does not stop early."""
    few: list[str] = field(default_factory=list)
    many: list[str] = field(default_factory=list)
    """Categorical columns with few and with many categories, if these are encoded differently."""
    labels_as_numbers: bool = False
    can_be_averaged: bool = True
    """Whether it predicts numbers or probabilities, not just classes."""
    takes_frames: bool = False
    """Whether `X` is the user's data frame, not the result of a script's `features`."""
    of_frame: bool = False
    """Whether the matrix is a data frame, whose first columns are whole numbers."""
    returns: str = "Pipeline"
    """Class of the result of `fit`."""
    members: Mapping[str, Fitting] = field(default_factory=dict)
    """Members of an ensemble: name -> the body of the function that fits this member."""

    def add(self, node: object, *, before: str = "", indent: str = "    ") -> None:
        """Add a statement."""
        self.lines.append(indent + written(node, before=before, indent=indent))

    def say(self, *lines: str) -> None:
        """Add lines as they stand."""
        self.lines += [f"    {line}" for line in lines]

    def taken(self, rows: str) -> Raw:
        """Some rows of the matrix."""
        return Raw(f"matrix.iloc[{rows}]" if self.of_frame else f"matrix[{rows}]")


def find_ensemble(members: Mapping[Configuration, float], dataset: Dataset, *, seed: int) -> Fitting:
    """Write the body of `fit` for the average of the predictions of several configurations.

    Each member has its own fitting function, since some are not estimators before they are fitted.

    Args:
        members: configuration -> its weight.

    Raises:
        UnfitConfiguration: a classifier without probabilities can't be calibrated.
    """
    fittings = [find_fitting(one, dataset, seed=seed) for one in members]
    for one, fitting in zip(members, fittings, strict=True):
        if not fitting.can_be_averaged:
            title = get_flow(one.algorithm).title
            raise UnfitConfiguration(f"no script can calibrate {title} with its preprocessing or balancing")
    algorithms = [one.algorithm for one in members]
    names = [
        f"{name}_{algorithms[:place].count(name) + 1}" if algorithms.count(name) > 1 else name
        for place, name in enumerate(algorithms)
    ]
    voting = target_code(dataset).average
    average = Fitting(dataset, returns=voting.function, members=dict(zip(names, fittings, strict=True)))
    for fitting in fittings:
        average.imports |= fitting.imports
        average.few, average.many = fitting.few or average.few, fitting.many or average.many
    if any(fitting.labels_as_numbers for fitting in fittings):
        average.say("codes = np.unique(y, return_inverse=True)[1]")
    calls = [
        Raw(f"fit_{name}(X, {'codes' if fitting.labels_as_numbers else 'y'})")
        for name, fitting in average.members.items()
    ]
    average.say("# A frozen estimator is not fitted again.")
    frozen = [(name, Call("FrozenEstimator", [call])) for name, call in zip(names, calls, strict=True)]
    average.add(frozen, before="members = ")
    average.add(list(members.values()), before="weights = ")
    average.add(voting, before="average = ")
    average.say("return average.fit(X, y)")
    return average


def find_fitting(
    configuration: Configuration,
    dataset: Dataset,
    *,
    seed: int,
    takes_frames: bool = False,
) -> Fitting:
    """Write the body of `fit` for a configuration and a dataset's columns.

    A classifier without probabilities is calibrated (`recommend.calibration`), unless it is fitted step by
    step or the smallest class has too few rows.

    Args:
        takes_frames: see `Fitting`.
    """
    flow = get_flow(configuration.algorithm)
    pipeline = flow.pipeline(configuration.values, dataset.roles, seed=seed)
    steps, last = dict(pipeline.steps), LAST_STEP[flow.task_type]
    estimator, balancing, transformer = steps[last], None, None
    if isinstance(estimator, Balanced):
        estimator, balancing = estimator.classifier, estimator.strategy
    if isinstance(estimator, TransformedTargetRegressor) and isinstance(estimator.regressor, _BY_STEPS):
        estimator, transformer = estimator.regressor, estimator.transformer
    library = estimator.library if isinstance(estimator, Booster) else None
    fitting = Fitting(
        dataset,
        labels_as_numbers=isinstance(estimator, BoosterClassifier) and library in _TAKE_NUMBERS,
        can_be_averaged=hasattr(pipeline, "predict_proba") or is_regressor(pipeline),
        takes_frames=takes_frames,
        of_frame=library == "catboost" and estimator.n_categorical > 0,
    )
    columns = _columns(fitting, steps["preprocessing"])
    if len(steps) == 2 and balancing is None and not _is_fitted_by_steps(estimator):
        parts = [("columns", columns), (last, _estimator(fitting, estimator))]
        fitting.add(Call("Pipeline", [parts]), before="model = ")
        if not fitting.can_be_averaged and min(dataset.target.value_counts()) >= LEAST_OF_CLASS:
            fitting.add(Call("CalibratedClassifierCV", [Raw("model")], CALIBRATION), before="model = ")
            fitting.returns, fitting.can_be_averaged = "CalibratedClassifierCV", True
        fitting.say("return model.fit(X, y)")
        return fitting
    fitting.add(columns, before="columns = ")
    fitting.say("matrix = columns.fit_transform(X, y)")
    fitting.steps.append(("columns", Raw("columns")))
    if fitting.of_frame:
        _add_frame(fitting)
    if "features" in steps:
        matrix = steps["preprocessing"].fit_transform(dataset.features, dataset.target.astype(str).to_numpy())
        _add_features(fitting, steps["features"], matrix)
    if balancing == "weights":
        fitting.arguments["sample_weight"] = _weights(fitting)
    elif balancing is not None:
        fitting.say(f"rows = {_BALANCED[balancing]}(y, SEED)")
        fitting.say(f"matrix, y = {fitting.taken('rows').source}, y[rows]")
    if transformer is not None:
        fitting.add(_target_transformer(fitting, transformer, estimator), before="transformer = ")
        fitting.say("original, y = y, transformer.fit_transform(y.reshape(-1, 1)).ravel()")
    fitting.add(_estimator(fitting, estimator), before=f"{last} = ")
    _add_fit(fitting, estimator, last)
    if transformer is not None:
        frozen = Call("FrozenEstimator", [Raw(last)])
        fitting.add(_turned_back(frozen, Raw("transformer")), before=f"{last} = ")
        fitting.say(f"{last}.fit(matrix, original)")
    fitting.steps.append((last, Raw(last)))
    fitting.add(Call("Pipeline", [fitting.steps]), before="return ")
    return fitting


def _add_fit(fitting: Fitting, estimator: Any, name: str) -> None:
    """Fit the estimator of a variable on the matrix; if it stops early, few rows are fitted again."""
    indent = "    "
    if fitting.found:
        part = {key: Raw("weights[train]") for key in fitting.arguments if key == "sample_weight"}
        rows = [fitting.taken("train"), Raw("y[train]")]
        fitting.add(Call(f"{name}.fit", rows, {**fitting.arguments, **part, **fitting.validation}))
        few = f"len(y) < {FITTED_AGAIN_BELOW:_}"
        fitting.say(f"if {few}:  # fit again on all, with the number of trees found")
        indent *= 2
        settings = Call("dict", [Raw(f"{name}.get_params()")], fitting.found)
        fitting.add(settings, before="settings = ", indent=indent)
        fitting.say(f"    {name} = {estimator.CLASSES[estimator.library]}(**settings)")
    fitting.add(Call(f"{name}.fit", [Raw("matrix"), Raw("y")], fitting.arguments), indent=indent)


# ---- columns -------------------------------------------------------------------------------------


def _columns(fitting: Fitting, preprocessing: Any) -> Call:
    """The call that makes the column transformer for the result of the script's `features`."""
    dataset, parts = fitting.dataset, []
    text = False
    for name, transformer, columns in preprocessing.transformers:
        # The first step of each normalizes cells, as the script's `features` has already done.
        first, *steps = [step for _, step in transformer.steps]
        if name.startswith("text_"):
            steps = [vectorizer(as_text(dataset.features[columns]))]
        if fitting.takes_frames:
            steps = [Raw(f"{first.func.__name__}_of_frame"), *steps]
        dates = "DATES" if fitting.takes_frames else "DATE_PARTS"
        where: object = Raw({"numeric": "NUMERIC", "date": dates}.get(name, "CATEGORICAL"))
        if isinstance(columns, partial):  # the selection of columns depends on the rows
            found = columns(dataset.features)
            if not found:
                continue
            if found != category_columns(dataset.roles):
                few = columns.keywords["few"]
                where = Raw("FEW_CATEGORIES" if few else "MANY_CATEGORIES")
                fitting.few, fitting.many = (found, fitting.many) if few else (fitting.few, found)
        if dataset.roles.get(str(columns)) == Role.text and name.startswith("text_"):
            where, text = columns, True
        parts.append((name, _chained(fitting, steps), where))
    dense = {"sparse_threshold": 0.0} if text else {}
    return Call("ColumnTransformer", [parts], dense)


def _chained(fitting: Fitting, steps: list[Any]) -> object:
    """The steps of a group of columns as one node."""
    calls = []
    for step in steps:
        # CatBoost takes categories as whole numbers, without missing ones.
        codes = fitting.of_frame and isinstance(step, OrdinalEncoder)
        changed = {"unknown_value": -1} if codes else {}
        calls.append(step if isinstance(step, Raw) else fitting.imports.call(step, **changed))
    if not calls:
        return "passthrough"
    return calls[0] if len(calls) == 1 else Call("make_pipeline", calls)


def _add_frame(fitting: Fitting) -> None:
    """Turn the matrix into a frame in which categories are whole numbers."""
    fitting.say('kinds = dict.fromkeys(range(len(CATEGORICAL)), "int32")')
    whole = Call("methodcaller", ["astype", Raw("kinds")])
    steps = [Call("FunctionTransformer", [step]) for step in (Raw("pd.DataFrame"), whole)]
    fitting.add(Call("make_pipeline", steps), before="framed = ")
    fitting.say("matrix = framed.transform(matrix)")
    fitting.steps.append(("framed", Raw("framed")))


# ---- features ------------------------------------------------------------------------------------

_CAPPED: dict[str, Callable[[Any], dict[str, object]]] = {
    "ica": lambda values: {
        "n_components": Raw(
            f"min({values['components']}, np.linalg.matrix_rank(matrix - matrix.mean(axis=0)))"
        )
    },
    "svd": lambda values: {"n_components": Raw(f"min({values['components']}, *matrix.shape)")},
    "nystroem": lambda values: {"n_components": Raw(f"min({values['components']}, len(matrix))")},
    "agglomeration": lambda values: {"n_clusters": Raw(f"min({values['clusters']}, matrix.shape[1])")},
}
"""Preprocessor -> arguments limited by the size of the training matrix."""


def _add_features(fitting: Fitting, preprocessor: Preprocessor, matrix: np.ndarray) -> None:
    name, values, imports = preprocessor.name, preprocessor.values, fitting.imports
    if matrix.shape[1] > 1 and np.ptp(matrix, axis=0).any():
        step = MAKERS[name](values, matrix, preprocessor.seed)
        if name == "polynomial":
            degree = values["degree"]
            most = max(k for k in range(1, MOST_PRODUCTS) if comb(k + degree, degree) - 1 <= MOST_PRODUCTS)
            best, products = (one for _, one in step.steps)
            first = imports.call(best, k=Raw(f"min({most}, matrix.shape[1])"))
            made = Call("make_pipeline", [first, imports.call(products)])
        else:
            made = imports.call(step, **_CAPPED.get(name, lambda _: {})(values))
        fitting.add(made, before="extraction = ")
        fitting.say("extraction.fit(matrix, y)")
        if hasattr(step, "get_support"):
            fitting.say(
                "if not extraction.get_support().any():  # the best column, if none is good enough",
                "    extraction = SelectKBest(k=1).fit(matrix, y)",
            )
        fitting.say("matrix = extraction.transform(matrix)")
        fitting.steps.append(("features", Raw("extraction")))
    finite = {"posinf": MOST, "neginf": -MOST}
    limits = {"a_min": -MOST, "a_max": MOST}
    bounded = [
        Call("FunctionTransformer", [Raw("np.nan_to_num")], {"kw_args": finite}),
        Call("FunctionTransformer", [Raw("np.clip")], {"kw_args": limits}),
    ]
    fitting.add(Call("make_pipeline", bounded), before="bounded = ")
    fitting.say("matrix = bounded.transform(matrix)")
    fitting.steps.append(("bounded", Raw("bounded")))


# ---- classifiers and regressors ------------------------------------------------------------------

_BY_STEPS = (Booster, GaussianProcess)
"""Our classes that need several statements in a script."""


def _is_fitted_by_steps(estimator: Any) -> bool:
    """Whether a script has to fit the columns first: the estimator depends on their matrix."""
    if isinstance(estimator, TransformedTargetRegressor):
        return _is_fitted_by_steps(estimator.regressor)
    return isinstance(estimator, _BY_STEPS) or _preparation(estimator) is by_root_of_columns


def _preparation(estimator: Any) -> Any:
    """The function by which our pipeline prepares the matrix; None if the estimator is not a pipeline."""
    return estimator.steps[0][1].func if isinstance(estimator, Pipeline) else None


def _estimator(fitting: Fitting, estimator: Any) -> Call:
    """The call that makes a classifier or regressor; adds the lines before it."""
    if isinstance(estimator, Booster):
        return _booster(fitting, estimator)
    if isinstance(estimator, GaussianProcess):
        return _gaussian_process(fitting, estimator)
    if isinstance(estimator, TransformedTargetRegressor):
        inner = estimator.regressor
        transformer = _target_transformer(fitting, estimator.transformer, inner)
        return _turned_back(_estimator(fitting, inner), transformer)
    if isinstance(estimator, Pipeline):
        if _preparation(estimator) is in_single_precision:
            prepared = Call("FunctionTransformer", [Raw("np.asarray")], {"kw_args": {"dtype": "float32"}})
        else:
            root = Call("methodcaller", ["__truediv__", Raw("np.sqrt(matrix.shape[1])")])
            prepared = Call("FunctionTransformer", [root])
        return Call("make_pipeline", [prepared, _estimator(fitting, estimator.steps[1][1])])
    if isinstance(estimator, Lenient):
        estimator = estimator.adapted(fitting.dataset.target.to_numpy())
    return fitting.imports.call(estimator)


def _target_transformer(fitting: Fitting, transformer: Any, regressor: Any) -> Call:
    """The call that makes the transformer of the target of a regressor."""
    if isinstance(transformer, SignedLog):
        made = Call("logarithms", [Raw("y")])
    elif isinstance(transformer, QuantileTransformer):
        most = Raw(f"min({transformer.n_quantiles}, len(y))")
        made = fitting.imports.call(transformer, n_quantiles=most)
    else:
        made = fitting.imports.call(transformer)
    halves = _preparation(regressor) is in_single_precision or getattr(regressor, "library", "") == "xgboost"
    if not halves:
        return made
    # Predictions have single precision: they become doubles before the inverse transformation.
    digits = {"inverse_func": Raw("np.asarray"), "inv_kw_args": {"dtype": "float64"}}
    return Call("make_pipeline", [made, Call("FunctionTransformer", [], digits)])


def _turned_back(regressor: Call, transformer: Call | Raw) -> Call:
    """The call that makes a regressor of the transformed target."""
    options = {"transformer": transformer, "check_inverse": False}
    return Call("TransformedTargetRegressor", [regressor], options)


def _gaussian_process(fitting: Fitting, process: GaussianProcess) -> Call:
    """The call that makes a process with a learned kernel; adds the line that learns the kernel."""
    nu, separate = float(SMOOTHNESS[process.kernel]), process.length_scales == "separate"
    options = {"nu": nu, "separate": separate, "seed": SEED}
    fitting.add(Call("learned_kernel", [Raw("matrix"), Raw("y")], options), before="kernel = ")
    fixed = {"optimizer": None, "normalize_y": True}
    return Call("GaussianProcessRegressor", [Raw("kernel")], fixed)


def _weights(fitting: Fitting) -> Raw:
    fitting.say('weights = compute_sample_weight("balanced", y)')
    return Raw("weights")


def _booster(fitting: Fitting, booster: Booster) -> Call:
    """The call that makes a booster of another library; adds the lines before it."""
    of_classes = isinstance(booster, BoosterClassifier)
    balanced = of_classes and booster.balanced
    if balanced:
        fitting.arguments["sample_weight"] = _weights(fitting)
    labels = fitting.dataset.target.to_numpy()
    # Classes with fewer rows have none held out; a numeric target counts as one class.
    strata, source = (labels, "y") if of_classes else (np.zeros(len(labels)), "0 * y")
    if booster.early_stopping and len(hold_out(strata, 5, booster.seed)[1]):
        every = "round(min(max(5, len(y) / 500), 20))"
        fitting.say(f"train, valid = hold_out({source}, {every}, SEED)")
        fitting.found = _found(booster, LAST_STEP[fitting.dataset.task_type])
        # LightGBM encodes the labels of `y`, but not those of `eval_y`.
        fitting.labels_as_numbers = of_classes
    name = booster.CLASSES[booster.library]
    fitting.imports[name] = booster.library
    settings = {**booster.settings, **_BOOSTERS[booster.library](fitting, booster)}
    if isinstance(booster, BoosterRegressor):
        settings |= OBJECTIVES[booster.library][booster.loss]
        if booster.loss == "squared" and settings.get("reg_alpha"):  # in the unit of the target
            settings["reg_alpha"] = Raw(f"{literal(settings['reg_alpha'])} * y.std()")
    return Call(name, [], settings)


_CATEGORICAL = Raw("list(range(len(CATEGORICAL)))")
"""Positions of the categorical columns: the first ones."""


def _lightgbm(fitting: Fitting, booster: Booster) -> dict[str, object]:
    if booster.n_categorical:
        fitting.arguments["categorical_feature"] = _CATEGORICAL
    if fitting.found:
        fitting.imports["early_stopping"] = "lightgbm"
        stop = Call("early_stopping", [booster.patience], {"first_metric_only": True, "verbose": False})
        valid = fitting.taken("valid")
        fitting.validation = {"eval_X": valid, "eval_y": Raw("y[valid]"), "callbacks": [stop]}
    return {"n_jobs": 1, "random_state": SEED, "verbose": -1}


def _xgboost(fitting: Fitting, booster: Booster) -> dict[str, object]:
    fitting.arguments["verbose"] = False
    more: dict[str, object] = {}
    if booster.n_categorical:
        fitting.say('kinds = ["c"] * len(CATEGORICAL)')
        fitting.say('kinds += ["q"] * (matrix.shape[1] - len(kinds))')
        more |= {"enable_categorical": True, "feature_types": Raw("kinds")}
    if fitting.found:
        fitting.validation["eval_set"] = [(fitting.taken("valid"), Raw("y[valid]"))]
        more["early_stopping_rounds"] = booster.patience
    return more | {"tree_method": "hist", "n_jobs": 1, "random_state": SEED}


def _catboost(fitting: Fitting, booster: Booster) -> dict[str, object]:
    more: dict[str, object] = {}
    if booster.n_categorical:
        more["cat_features"] = _CATEGORICAL
    if fitting.found:
        fitting.validation["eval_set"] = (fitting.taken("valid"), Raw("y[valid]"))
        fitting.validation["early_stopping_rounds"] = booster.patience
    return more | {"allow_writing_files": False, "thread_count": 1, "random_seed": SEED, "verbose": False}


_BOOSTERS: dict[str, Callable[[Fitting, Booster], dict[str, object]]] = {
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "catboost": _catboost,
}
"""Library -> further arguments of its estimator; adds the lines before it, and arguments of its `fit`."""


def _found(booster: Booster, stopped: str) -> dict[str, object]:
    """Settings for all rows, from a variable of a model that was stopped early."""
    if booster.library == "lightgbm":
        return {"n_estimators": Raw(f"{stopped}.best_iteration_")}
    if booster.library == "xgboost":
        return {"n_estimators": Raw(f"{stopped}.best_iteration + 1"), "early_stopping_rounds": None}
    steps = "leaf_estimation_iterations"
    return {
        "iterations": Raw(f"{stopped}.tree_count_"),
        "learning_rate": Raw(f"{stopped}.learning_rate_"),
        steps: Call(f"{stopped}.get_all_params().get", [steps]),
    }
