"""Fitted pipelines without our classes, made by the code of a script's `fit`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from ingest.flows.preprocessing import (
    MOST,
    TINY,
    as_floats,
    as_labels,
    as_text,
    category_columns,
    date_parts,
)
from ingest.reading.column_types.dates import ISO
from ingest.reading.column_types.roles import Role
from ingest.reading.datasets import Dataset
from recommend.code import snippets
from recommend.code.fitting import find_fitting
from recommend.code.script import fit_functions, imported_names
from recommend.code.targets import target_code
from warehouse.support.arrays import Positions
from warehouse.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from sklearn.ensemble import VotingClassifier, VotingRegressor
    from sklearn.pipeline import Pipeline

    Plain: TypeAlias = Pipeline | VotingClassifier | VotingRegressor


def plain_model(configuration: Configuration, rows: Positions | None, dataset: Dataset, seed: int) -> Plain:
    """Fit a configuration's pipeline on the dataset, without warnings.

    The pipeline needs only pandas, scikit-learn and the booster's library. It takes frames with the dataset's
    original columns: numbers, categories and texts, and dates as datetimes or as text in the original format.
    Cells that are not a number or date count as missing. It is made by the script's own function, so both are
    the same model.

    Args:
        rows: positions of the rows to fit it on; None = all.
    """
    dataset = dataset if rows is None else dataset.take(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitting = find_fitting(configuration, dataset, seed=seed, takes_frames=True)
        names: dict[str, Any] = {
            "SEED": seed,
            "NUMERIC": _columns(dataset, Role.numeric),
            "CATEGORICAL": category_columns(dataset.roles),
            "FEW_CATEGORIES": fitting.few,
            "MANY_CATEGORIES": fitting.many,
            "DATES": _columns(dataset, Role.date),
            **{f"{function.__name__}_of_frame": steps for function, steps in _of_frames(dataset).items()},
            **vars(snippets),
        }
        source = "\n".join(fit_functions(fitting))
        names |= {
            name: getattr(import_module(module), name)
            for name, module in imported_names(source, fitting).items()
        }
        exec(source, names)  # consists of literals and our own names only
        target = target_code(dataset).values(dataset)
        outcomes = np.unique(target, return_inverse=True)[1] if fitting.labels_as_numbers else target
        model: Plain = names["fit"](dataset.features, outcomes)
        return _voting({"pipeline": model}, None, dataset) if fitting.labels_as_numbers else model


def averaged(pipelines: Sequence[Plain], weights: Sequence[float], dataset: Dataset) -> Plain:
    """The weighted average of the probabilities or numbers of fitted pipelines of one dataset."""
    if len(pipelines) == 1:
        return pipelines[0]
    members = {f"member_{place}": one for place, one in enumerate(pipelines, start=1)}
    return _voting(members, list(weights), dataset)


def _voting(members: Mapping[str, Plain], weights: list[float] | None, dataset: Dataset) -> Plain:
    """The weighted average of fitted pipelines, which predicts the dataset's labels or numbers.

    A single pipeline that predicts class codes gets its labels this way.
    """
    from sklearn import ensemble
    from sklearn.frozen import FrozenEstimator

    code = target_code(dataset)
    frozen = [(name, FrozenEstimator(one)) for name, one in members.items()]
    options = {**code.average.keywords, "weights": weights}
    average: Plain = getattr(ensemble, code.average.function)(frozen, **options)
    average.fit(dataset.features, code.values(dataset))
    del average.named_estimators_  # a file would hold a second copy of its members
    return average


def _columns(dataset: Dataset, role: Role) -> list[str]:
    return [name for name, own in dataset.roles.items() if own == role]


# ---- frames --------------------------------------------------------------------------------------


def _of_frames(dataset: Dataset) -> dict[Callable[..., object], Any]:
    """Function of `ingest.flows.preprocessing` -> unfitted steps that do the same without ours."""
    words = [("astype", "object"), ("fillna", "missing"), ("astype", "str")]
    to_numbers = partial(pd.to_numeric, errors="coerce")
    return {
        # Whole numbers that pandas reads as floats, due to missing values, become text without a point.
        as_labels: _calls(("convert_dtypes",), *words, ("to_numpy", "object")),
        as_text: _calls(*words),
        as_floats: _calls(
            ("apply", to_numbers),
            ("astype", "float64"),
            ("to_numpy",),
            ("clip", -MOST, MOST),
            ("__add__", TINY),
            ("__sub__", TINY),
        ),
        date_parts: _date_parts(dataset),
    }


def _date_parts(dataset: Dataset) -> Any:
    """A transformer from date columns to the matrix of their parts."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    days = _calls(
        ("to_numpy", "datetime64[us]"),
        ("__sub__", np.datetime64(0, "us")),
        ("__truediv__", np.timedelta64(1, "us")),
        ("__mul__", 1e3),
        ("__truediv__", 86_400e9),
        ("reshape", -1, 1),
    )
    number = _calls(("to_numpy", "float64"), ("reshape", -1, 1))
    parts = {
        "days": days,
        **{
            part: make_pipeline(FunctionTransformer(attrgetter(f"dt.{part}")), number)
            for part in ("month", "day_of_week", "hour")
        },
    }
    columns = []
    for place, name in enumerate(_columns(dataset, Role.date)):
        form = dataset.date_formats.get(name, ISO)
        moments = partial(pd.to_datetime, format=form, errors="coerce", utc=True)
        columns += [
            (f"date_{place}_{part}", make_pipeline(FunctionTransformer(moments), steps), name)
            for part, steps in parts.items()
        ]
    # Column-major, as `date_parts` returns them.
    return make_pipeline(ColumnTransformer(columns), FunctionTransformer(np.asfortranarray))


def _calls(*methods: tuple[Any, ...]) -> Any:
    """A pipeline that calls these methods one after the other: (name, argument, ...)."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    return make_pipeline(*(FunctionTransformer(methodcaller(*method)) for method in methods))
