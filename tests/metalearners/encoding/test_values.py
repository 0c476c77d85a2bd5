"""Types of hyperparameters, detected from their values."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import loguniform, randint

from metalearners.encoding.values import ParameterType, frame_of_options, take_apart, type_of
from tests.cases import each
from tests.metalearners.thesis import ABSENT


def types_of(frame: pd.DataFrame) -> dict[str, ParameterType]:
    return {str(name): type_of(take_apart(values)) for name, values in frame.items()}


def test_detects_the_types_of_the_thesis(thesis: pd.DataFrame) -> None:
    assert types_of(thesis) == {
        "n_estimators": "numerical",
        "criterion": "nominal",
        "max_features": "mixed",
        "max_depth": "mixed",
        "min_samples_split": "numerical",
        "min_samples_leaf": "numerical",
        "bootstrap": "boolean",
        "@preprocessor": "object",
    }


@each(
    ("values", "expected"),
    [
        ([1, 2.5], "numerical"),
        ([0, 1], "numerical"),  # without True or False these are numbers
        ([1, ABSENT], "numerical"),
        ([np.int64(3), np.float32(0.5)], "numerical"),
        ([loguniform(1e-3, 1)], "numerical"),
        ([loguniform(1e-3, 1), 5], "numerical"),
        (["a", "b"], "nominal"),
        ([None], "nominal"),
        (["auto", True], "nominal"),
        ([True, None], "boolean"),
        ([True, False, None], "boolean"),
        ([None, "auto", True], "nominal"),
        ([True, np.False_], "boolean"),
        ([True, 0], "boolean"),
        ([True, 1.0, ABSENT], "boolean"),
        ([True, 2], "mixed"),
        ([3, "auto"], "mixed"),
        ([randint(1, 9), None], "mixed"),
        ([[1, 2], 3], "object"),
        ([{"a": 1}], "object"),
        ([np.zeros(2)], "object"),
        ([len, None], "object"),
        ([], "nominal"),
        ([ABSENT], "nominal"),
    ],
)
def test_the_type_follows_from_the_values(values: list[Any], expected: str) -> None:
    assert type_of(take_apart(pd.Series(values, dtype=object))) == ParameterType(expected)


def test_a_search_space_has_types_too() -> None:
    space = {"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"], "shrinking": [True, False], "degree": 3}
    assert types_of(frame_of_options(space)) == {
        "C": "numerical",
        "kernel": "nominal",
        "shrinking": "boolean",
        "degree": "numerical",
    }
    assert types_of(frame_of_options({"kernel": "rbf"})) == {"kernel": "nominal"}


@each("values", [[1e308, 0.5], [10**400, 0.5], pd.Series([1e308, 0.5])])
def test_squares_of_numbers_are_finite(values: Any) -> None:
    assert np.isfinite(take_apart(values).number ** 2).all()
