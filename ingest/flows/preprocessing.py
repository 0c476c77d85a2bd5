"""Preprocessing within a pipeline, from a raw frame of mixed columns to the matrix of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from ingest.reading.column_types.roles import NOT_LEARNED_FROM, Role
from warehouse.support.errors import UnusableDataset
from warehouse.vocabulary.task_types import CLASSIFICATION, TaskType

if TYPE_CHECKING:
    from sklearn.base import TransformerMixin
    from sklearn.compose import ColumnTransformer

Encoding = Literal["indicators", "ordinal", "target", "codes", "codes of 254"]
"""Encoding of categories: `indicators`, `ordinal` (numbers in alphabetical order), `target` (class shares, or
the mean of the numeric target, within the category), and `codes`, integers for estimators that handle
categories themselves; some of these take no more than 254 of them."""
NATIVE = ("codes", "codes of 254")
"""Encodings for estimators that handle categories themselves."""

FEW_CATEGORIES = 40
"""Columns with more categories in the training rows are target-encoded in place of indicators. The threshold
is skrub's (`TableVectorizer`)."""
MOST_CODES = 254
"""Codes that a byte can hold besides a missing value; the rarer categories share one."""
MOST = 2.0**100
"""Numbers are clipped to this size (1.3e30): scalers square numbers in double precision (up to 1e308), and
trees and boosters hold them in single precision (up to 3e38). The mean of equal powers of two is exact, so
that a column in which all numbers are clipped is scaled to zeros."""
TINY = 1e-150
"""Adding and subtracting this number rounds numbers below 1e-130 to multiples of 1e-166: quantile scaling
divides by differences of numbers, and can't divide by those below 1e-308."""


def preprocessor(
    roles: Mapping[str, Role],
    *,
    encoding: Encoding,
    imputation: str | None,
    scaling: str = "none",
    knots: int | None = None,
    task_type: TaskType = CLASSIFICATION,
    seed: int = 0,
) -> ColumnTransformer:
    """Imputation, encoding and scaling for the columns of a dataset.

    Categories and booleans come first; a missing value is a category of its own. With `indicators`, a column
    of more than `FEW_CATEGORIES` becomes the share of each class, or the mean of the numeric target, within
    its category instead (Micci-Barreca 2001, cross-fitted). Numbers and parts of dates are imputed by
    `imputation` (`flagged`: the median, with a column that marks imputed cells; None: left missing, for
    estimators that take that) and scaled: `standard` (mean 0, variance 1), `quantile` (to a normal
    distribution by ranks), `minmax` (to 0 to 1), `robust` (median 0, quartiles 1 apart), `normalize` (each
    row to length 1) or `none`. With `knots`, each becomes a basis of cubic splines with so many knots at its
    quantiles; the splines are constant outside the range of the training rows, so that no sum of them
    explodes there. Numbers are clipped to `MOST`. Text becomes tf-idf weights, or zeros if no text has a
    term; constant and identifier-like columns are left out.
    Raises:
        BadInput: no column is left.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import (
        FunctionTransformer,
        MinMaxScaler,
        Normalizer,
        QuantileTransformer,
        RobustScaler,
        SplineTransformer,
        StandardScaler,
    )

    from ingest.flows.terms import Terms

    scalers: dict[str, Callable[[], TransformerMixin]] = {
        "standard": StandardScaler,
        "quantile": partial(
            QuantileTransformer, n_quantiles=100, output_distribution="normal", random_state=seed
        ),
        "minmax": MinMaxScaler,
        "robust": RobustScaler,
        "normalize": Normalizer,
    }

    def numbers(first: TransformerMixin) -> TransformerMixin:
        steps = [first]
        if imputation is not None:
            # A column without any value in a training fold keeps its place.
            flagged = imputation == "flagged"
            strategy = "median" if flagged else imputation
            steps.append(SimpleImputer(strategy=strategy, keep_empty_features=True, add_indicator=flagged))
        if scaling != "none":
            steps.append(scalers[scaling]())
        if knots is not None:
            steps.append(
                SplineTransformer(knots, knots="quantile", extrapolation="constant", include_bias=False)
            )
        return make_pipeline(*steps)

    refuse_without_features(roles)
    columns: dict[Role, list[str]] = {role: [] for role in Role}
    for name, role in roles.items():
        columns[role].append(name)
    parts: list[tuple[str, Any, Any]] = [
        *_category_parts(category_columns(roles), encoding, scaling, task_type, seed),
        ("numeric", numbers(FunctionTransformer(as_floats)), columns[Role.numeric]),
        ("date", numbers(FunctionTransformer(date_parts)), columns[Role.date]),
    ]
    used = [part for part in parts if part[2]]
    used += [
        (
            f"text_{position}",
            make_pipeline(FunctionTransformer(as_text), Terms()),
            name,
        )
        for position, name in enumerate(columns[Role.text])
    ]
    # Some estimators take no sparse matrix.
    return ColumnTransformer(used, sparse_threshold=0.0, verbose_feature_names_out=False)


def category_columns(roles: Mapping[str, Role]) -> list[str]:
    """The columns that an estimator gets as categories, in their order."""
    return [name for name, role in roles.items() if role in (Role.categorical, Role.boolean)]


def _category_parts(
    names: list[str], encoding: Encoding, scaling: str, task_type: TaskType, seed: int
) -> list[tuple[str, Any, Any]]:
    from sklearn.model_selection import KFold, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import (
        FunctionTransformer,
        OneHotEncoder,
        OrdinalEncoder,
        StandardScaler,
        TargetEncoder,
    )

    if not names:
        return []
    labels = FunctionTransformer(as_labels)
    if encoding in NATIVE:
        codes = OrdinalEncoder(
            handle_unknown="use_encoded_value",
            unknown_value=np.nan,
            max_categories=MOST_CODES if encoding == "codes of 254" else None,
        )
        return [("categorical", make_pipeline(labels, codes), names)]
    indicators = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    scaled = [] if scaling == "none" else [StandardScaler()]
    if task_type == CLASSIFICATION:
        encoder = TargetEncoder(cv=StratifiedKFold(5, shuffle=True, random_state=seed))
    else:
        encoder = TargetEncoder(target_type="continuous", cv=KFold(5, shuffle=True, random_state=seed))
    means = [encoder, *scaled]
    if encoding == "target":
        return [("categorical", make_pipeline(labels, *means), names)]
    if encoding == "ordinal":
        ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        return [("categorical", make_pipeline(labels, ordinal, *scaled), names)]
    return [
        ("categorical", make_pipeline(labels, indicators), partial(columns_with, names, few=True)),
        ("many_categories", make_pipeline(labels, *means), partial(columns_with, names, few=False)),
    ]


def columns_with(names: Sequence[str], frame: pd.DataFrame, *, few: bool) -> list[str]:
    """The columns among `names` with few different values in `frame`, or else those with many."""
    return [name for name in names if (frame[name].nunique() <= FEW_CATEGORIES) == few]


def refuse_without_features(roles: Mapping[str, Role]) -> None:
    """Raise `BadInput` unless a pipeline can learn from at least one column."""
    if set(roles.values()) <= {*NOT_LEARNED_FROM}:
        raise UnusableDataset(
            "no column to learn from: all are constant or identifiers (if that is wrong, set their roles)"
        )


def as_floats(frame: pd.DataFrame) -> np.ndarray:  # (n, columns) -> (n, columns)
    """Numbers of any nullable type as floats, clipped to `MOST` and rounded by `TINY`; NaN if missing."""
    floats = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    bounded: np.ndarray = np.clip(floats, -MOST, MOST) + TINY - TINY
    return bounded


def as_labels(frame: pd.DataFrame) -> np.ndarray:  # (n, columns) -> (n, columns) of str
    """Categories as text; a missing value is the category `missing`."""
    return frame.astype("object").where(frame.notna(), "missing").astype(str).to_numpy(dtype=object)


def as_text(column: pd.Series) -> pd.Series:
    """Free text, a missing one as the word `missing`."""
    return column.astype("object").where(column.notna(), "missing").astype(str)


def date_parts(frame: pd.DataFrame) -> np.ndarray:  # (n, columns) -> (n, 4 * columns)
    """Days since 1970, month, weekday and hour of dates of any year; NaN where the date is missing."""
    parts: list[pd.Series] = []
    for name in frame.columns:
        moments = pd.to_datetime(frame[name])
        if moments.dt.tz is not None:
            moments = moments.dt.tz_convert(None)
        microseconds = (moments.astype("datetime64[us]") - np.datetime64(0, "us")) / np.timedelta64(1, "us")
        # Floats, since integer nanoseconds end in 2262.
        days = microseconds * 1e3 / 86_400e9
        parts += [days, moments.dt.month, moments.dt.day_of_week, moments.dt.hour]
    # Column-major, as in a frame of numbers: sums in another order would round differently.
    return np.array([part.to_numpy(dtype=np.float64, na_value=np.nan) for part in parts]).T
