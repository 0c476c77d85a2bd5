"""Every flow can be fitted on and predict any readable table, whatever its columns contain."""

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.flows import FLOWS, flows_of
from ingest.flows.base import TARGET_TRANSFORMATION
from ingest.reading.new_rows import Columns
from tests.ingest.flows.small_data import where_installed
from warehouse.vocabulary.parameters import Value
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION

ROWS = 40
TRAINED_ON = 30
"""Number of rows to fit a flow on; it predicts all of them."""
ORDINARY = np.random.default_rng(0).normal(0.0, 0.5, ROWS)
QUICK: dict[str, dict[str, Value]] = {
    "lightgbm": {"n_estimators": 20, "min_child_samples": 2},
    "xgboost": {"n_estimators": 20, "early_stopping": True},
    "catboost": {"iterations": 20, "depth": 2},
    "hist_gradient_boosting": {"max_iter": 20, "min_samples_leaf": 2, "early_stopping": True},
    "mlp": {"hidden_units": 8, "early_stopping": True, "scaling": "quantile"},
    "logistic_regression": {"scaling": "quantile"},
    "adaboost": {"n_estimators": 50, "max_depth": 2},
}
HUGE = [0.0, 1.0, -1.0, 5e-324, 1e-310, 1e-300, 1e-160, 1e30, 1e38, 4e38, 1e154, 1e200, 1e308, -1e308]
WHOLE = [0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
DAYS = ["0001-01-01", "1500-01-01", "1677-09-21", "1970-01-01", "2024-02-29", "2262-04-12", "9999-12-31"]
PHRASES = [
    "the of and to in is it the of and to in is",
    "a b c d e f g h i j k l m n o p q r s t u v",
    "🙂 🙃 🙂 🙃 🙂 🙃 🙂 🙃 🙂 🙃 🙂 🙃 🙂 🙃 🙂 🙃",
    "1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0",
    "ein ganz gewöhnlicher Satz über dies und das",
    "天气 很好 我们 去 公园 散步 吧 天气 很好 我们 去 公园 散步 吧 天气 很好",
]


def column(values: Sequence[Any]) -> st.SearchStrategy[pd.Series]:
    """Cells drawn from a few of these values, with or without gaps, or all equal at first."""
    cells = st.lists(st.sampled_from(values), min_size=ROWS, max_size=ROWS)
    same_at_first = st.tuples(st.sampled_from([*values, None]), cells).map(
        lambda drawn: [drawn[0]] * TRAINED_ON + drawn[1][TRAINED_ON:]
    )
    with_gaps = st.lists(st.sampled_from([*values, None]), min_size=ROWS, max_size=ROWS)
    return st.one_of(cells, same_at_first, with_gaps).map(lambda found: pd.Series(found, dtype=object))


numbers = st.one_of(
    column(HUGE),
    column([0.1, 0.2, 0.30000000000000004]),
    st.lists(st.floats(width=64), min_size=ROWS, max_size=ROWS).map(pd.Series),
    st.lists(st.floats(-1e3, 1e3), min_size=ROWS, max_size=ROWS).map(pd.Series),
).map(lambda cells: cells.astype(float))
whole = st.one_of(
    column(WHOLE).map(lambda cells: cells.astype("Int64")),
    st.lists(st.integers(0, 2**64 - 1), min_size=ROWS, max_size=ROWS).map(
        lambda drawn: pd.Series(drawn, dtype="uint64")
    ),
)
dates = st.one_of(
    column(DAYS),
    column(DAYS).map(lambda cells: pd.to_datetime(cells, format="ISO8601").astype("datetime64[us]")),
    column(DAYS).map(lambda cells: pd.to_datetime(cells, format="ISO8601").dt.date.astype(object)),
)
truth = st.one_of(column([True, False]), column([True, False]).map(lambda cells: cells.astype("boolean")))
categories = st.one_of(
    column(["red", "blue", "", "grün", "NA", "🙂"]),
    column(["red", "blue"]).map(lambda cells: cells.astype("category")),
    st.permutations([f"place {number}" for number in range(ROWS)]).map(
        lambda names: pd.Series([name if place % 9 else "elsewhere" for place, name in enumerate(names)])
    ),
)
texts = st.one_of(
    column([f"{phrase} {number}" for phrase in PHRASES for number in range(9)]),
    st.sampled_from(PHRASES).map(
        lambda phrase: pd.Series([f"{phrase} {n % 10} {n // 10}" for n in range(ROWS)])
    ),
)
tables = st.lists(st.one_of(numbers, whole, dates, truth, categories, texts), min_size=1, max_size=4).map(
    lambda columns: pd.DataFrame({f"c{place}": one for place, one in enumerate(columns)})
)
"""Columns of any kind; an ordinary one is added, since constant columns alone are refused."""
classes = st.sampled_from(
    [
        np.arange(ROWS) % 2,
        np.arange(ROWS) % 3,
        np.arange(ROWS) % 10,
        np.where(np.arange(ROWS) == 3, 2, np.arange(ROWS) % 2),  # a class with one row
    ]
)


targets = st.sampled_from(
    [
        ORDINARY,
        np.where(np.arange(ROWS) % 2, 0.0, np.exp(20 * ORDINARY)),  # mostly zeros with a long tail
        np.full(ROWS, 3.0),
        1e12 + np.arange(ROWS) % 3,
        -1e-12 * np.arange(ROWS),
    ]
)
"""Numbers to predict."""


@pytest.mark.parametrize("name", where_installed(flows_of(CLASSIFICATION)))
@given(tables, classes)
@settings(max_examples=3, deadline=None, derandomize=True)
def test_every_readable_table_is_fitted_and_predicted(name: str, frame: pd.DataFrame, y: np.ndarray) -> None:
    """The exception is quadratic discriminant analysis, which refuses rows without any difference."""
    frame = frame.assign(x=ORDINARY + y)
    columns, features = Columns.read_first(frame)
    flow = FLOWS[name]
    pipeline = flow.pipeline(flow.default() | QUICK.get(name, {}), columns.roles)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pipeline.fit(features.iloc[:TRAINED_ON], y[:TRAINED_ON])
        except (ValueError, np.linalg.LinAlgError) as error:
            assert re.search(
                "covariance is ill defined|covariance matrix of class . is not full rank", str(error)
            )
            return
        later = columns.read(frame)
        scores = getattr(pipeline, "predict_proba", getattr(pipeline, "decision_function", None))
        assert scores is not None
        assert np.isfinite(scores(features)).all()
        assert np.isfinite(scores(later)).all()


@pytest.mark.parametrize("name", where_installed(flows_of(REGRESSION)))
@given(tables, targets, st.sampled_from(TARGET_TRANSFORMATION.choices))
@settings(max_examples=3, deadline=None, derandomize=True)
def test_every_readable_table_with_a_numeric_target_is_fitted_and_predicted(
    name: str, frame: pd.DataFrame, y: np.ndarray, transformation: str
) -> None:
    frame = frame.assign(x=ORDINARY)
    columns, features = Columns.read_first(frame)
    flow = FLOWS[name]
    quick = QUICK.get(name.removesuffix("_regressor"), {})
    values = flow.default() | quick | {"target_transformation": transformation}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = flow.pipeline(values, columns.roles).fit(features.iloc[:TRAINED_ON], y[:TRAINED_ON])
        assert np.isfinite(pipeline.predict(features)).all()
        assert np.isfinite(pipeline.predict(columns.read(frame))).all()
