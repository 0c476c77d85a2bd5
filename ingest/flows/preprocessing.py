"""From a raw frame of mixed columns to the matrix that an estimator takes, fitted inside the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from ingest.roles import Role
from warehouse.errors import BadInput

if TYPE_CHECKING:
    from sklearn.base import TransformerMixin
    from sklearn.compose import ColumnTransformer

MAX_CATEGORIES = 64
"""Categories of one column that get an indicator of their own; the rarer ones share one."""
TEXT_TERMS = 100
"""Terms of one text column, the most frequent first."""


def preprocessor(
    roles: Mapping[str, Role],
    *,
    imputation: str | None,
    scaling: Literal["none", "standard"] = "none",
) -> ColumnTransformer:
    """Imputation, encoding and scaling for the columns of a dataset.

    Numbers and dates are imputed by `imputation` (None leaves them missing for estimators that take
    that) and scaled; categories and booleans become indicators, where a missing value is a category;
    text becomes tf-idf weights; constant and identifier-like columns are left out.

    Raises:
        BadInput: no column is left.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    def numbers(first: TransformerMixin) -> TransformerMixin:
        steps = [first]
        if imputation is not None:
            # A column without any value in a training fold keeps its place.
            steps.append(SimpleImputer(strategy=imputation, keep_empty_features=True))
        if scaling == "standard":
            steps.append(StandardScaler())
        return make_pipeline(*steps)

    refuse_without_features(roles)
    columns: dict[Role, list[str]] = {role: [] for role in Role}
    for name, role in roles.items():
        columns[role].append(name)
    indicators = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, sparse_output=False
    )
    parts: list[tuple[str, Any, list[str] | str]] = [
        ("numeric", numbers(FunctionTransformer(as_floats)), columns[Role.numeric]),
        ("date", numbers(FunctionTransformer(date_parts)), columns[Role.date]),
        (
            "categorical",
            make_pipeline(FunctionTransformer(as_labels), indicators),
            columns[Role.categorical] + columns[Role.boolean],
        ),
    ]
    used = [part for part in parts if part[2]]
    used += [
        (
            f"text_{position}",
            make_pipeline(FunctionTransformer(as_text), TfidfVectorizer(max_features=TEXT_TERMS)),
            name,
        )
        for position, name in enumerate(columns[Role.text])
    ]
    # Some estimators take no sparse matrix.
    return ColumnTransformer(used, sparse_threshold=0.0, verbose_feature_names_out=False)


def refuse_without_features(roles: Mapping[str, Role]) -> None:
    """Raise `BadInput` unless there is a column that a pipeline would learn from."""
    if set(roles.values()) <= {Role.constant, Role.identifier}:
        raise BadInput(
            "no column to learn from: all are constant or identifier-like "
            "(set their roles yourself if that is wrong)"
        )


def as_floats(frame: pd.DataFrame) -> np.ndarray:  # (n, columns) -> (n, columns)
    """Numbers of any nullable type as floats, missing ones as NaN."""
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def as_labels(frame: pd.DataFrame) -> np.ndarray:  # (n, columns) -> (n, columns) of str
    """Categories as text; a missing value is the category `missing`."""
    return frame.astype("object").where(frame.notna(), "missing").astype(str).to_numpy(dtype=object)


def as_text(column: pd.Series) -> pd.Series:
    """Free text, a missing one as the empty text."""
    return column.astype("object").where(column.notna(), "").astype(str)


def date_parts(frame: pd.DataFrame) -> np.ndarray:  # (n, columns) -> (n, 4 * columns)
    """Days since 1970, month, weekday and hour of each date; NaN where the date is missing."""
    parts: list[pd.Series] = []
    for name in frame.columns:
        moments = pd.to_datetime(frame[name])
        if moments.dt.tz is not None:
            moments = moments.dt.tz_convert(None)
        days = (moments - pd.Timestamp(0)) / pd.Timedelta(days=1)
        parts += [days, moments.dt.month, moments.dt.day_of_week, moments.dt.hour]
    return np.column_stack([part.to_numpy(dtype=np.float64, na_value=np.nan) for part in parts])
