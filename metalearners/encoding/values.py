"""Kinds of a hyperparameter's values, and the type of the hyperparameter.

Types follow van Hoof's thesis, section 3.1 and Table 3.1, which ignores None in tests for objects and
booleans. Unlike in Python, `True` is not a number here, and NaN is not a value: it marks parameters that a
configuration lacks. Parameters with booleans and words, or with numbers other than 0 and 1, are nominal or
mixed; the thesis treats them as boolean, which would lose the words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from warehouse.support.arrays import Rows

_LARGEST = 1e100
"""Larger numbers count as this one, whose square is finite."""
NOT_NOMINAL = "null"
"""Label of every number: its placeholder among categories."""


class ParameterType(StrEnum):
    NUMERICAL = "numerical"
    NOMINAL = "nominal"
    BOOLEAN = "boolean"
    MIXED = "mixed"
    OBJECT = "object"


class Kind(IntEnum):
    ABSENT = 0
    NUMBER = 1
    BOOLEAN = 2
    NONE = 3
    TEXT = 4
    DISTRIBUTION = 5
    OBJECT = 6


@dataclass(frozen=True)
class Values(Rows):
    """One parameter's values as arrays of their parts, (n,) each."""

    kind: np.ndarray
    number: np.ndarray  # NaN for other values; booleans are 0 and 1
    integer: np.ndarray  # whether it is an integer: 1 and 1.0 can mean different things
    label: np.ndarray  # the value's name as a category


def frame_of_options(space: Mapping[str, Any]) -> pd.DataFrame:
    """The options of a parameter space (thesis, section 3.1.2), one column per parameter, padded with NaN.

    Args:
        space: as for scikit-learn's searches: parameter -> list of values or distribution (anything with
            `rvs`, such as `scipy.stats.loguniform(1e-3, 1)`), which counts as a number.
    """
    return pd.DataFrame(
        {str(name): pd.Series(list(_listed(values)), dtype=object) for name, values in space.items()}
    )


def take_apart(values: Iterable[Any]) -> Values:
    """Split values, (n,), into their kinds, numbers and labels."""
    if isinstance(values, pd.Series) and isinstance(values.array, pd.Categorical):
        return values_of_categories(*values.array.categories).take(values.array.codes)
    if isinstance(values, pd.Series) and is_typed(values.dtype):
        number = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return _of_numbers(number, is_integer=values.dtype != np.float64)
    # A column has many values but few types, so properties of the type are computed once per type.
    listed = _of_objects(values)
    types = list(map(type, listed))
    places = {of_type: place for place, of_type in enumerate(dict.fromkeys(types))}
    if set(places) == {float}:
        return _of_numbers(listed.astype(np.float64), is_integer=False)
    of_type = np.fromiter(map(places.__getitem__, types), dtype=np.intp, count=len(types))
    kind = np.array([_kind(one) for one in places], dtype=np.int8)[of_type]
    number = np.full(len(listed), np.nan)
    countable = (kind == Kind.NUMBER) | (kind == Kind.BOOLEAN)
    number[countable] = _numbers(listed[countable])
    kind[(kind == Kind.NUMBER) & np.isnan(number)] = Kind.ABSENT
    return Values(
        kind=kind,
        number=number,
        integer=np.array([issubclass(one, int | np.integer) for one in places], dtype=bool)[of_type],
        label=_labels(listed, kind),
    )


@lru_cache(maxsize=1024, typed=True)
def values_of_categories(*categories: Any) -> Values:
    """The values of categories, then a missing value: code -1 selects it."""
    return take_apart([*categories, np.nan])


def is_typed(dtype: object) -> bool:
    """Whether a column of this type has only numbers and missing values."""
    return isinstance(dtype, pd.Int64Dtype) or (isinstance(dtype, np.dtype) and dtype == np.float64)


def _of_objects(values: Iterable[Any]) -> np.ndarray:
    """(n,) the values unchanged, lists and arrays included."""
    if isinstance(values, pd.Series):
        return values.to_numpy(dtype=object)
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values
    listed = list(values)
    objects = np.empty(len(listed), dtype=object)
    for place, value in enumerate(listed):
        objects[place] = value
    return objects


def _of_numbers(number: np.ndarray, *, is_integer: bool) -> Values:
    """Values that are numbers, or absent where NaN, without a loop over them."""
    present = ~np.isnan(number)
    return Values(
        kind=np.where(present, np.int8(Kind.NUMBER), np.int8(Kind.ABSENT)),
        number=_numbers(number),
        integer=present & is_integer,
        label=np.full(len(number), NOT_NOMINAL, dtype=object),
    )


def type_of(values: Values) -> ParameterType:
    """The type of a parameter that takes these values."""
    kinds = set(values.kind.tolist()) - {Kind.ABSENT}
    if Kind.OBJECT in kinds:
        return ParameterType.OBJECT
    if kinds and kinds <= {Kind.NUMBER, Kind.DISTRIBUTION}:
        return ParameterType.NUMERICAL
    present = ~np.isin(values.kind, (Kind.ABSENT, Kind.NONE))
    only_truth_values = bool(np.isin(values.number[present], (0, 1)).all())
    if Kind.BOOLEAN in kinds and only_truth_values:
        return ParameterType.BOOLEAN
    return ParameterType.MIXED if kinds & {Kind.NUMBER, Kind.DISTRIBUTION} else ParameterType.NOMINAL


def _listed(values: Any) -> Iterable[Any]:
    return [values] if isinstance(values, str) or not isinstance(values, Iterable) else values


def _kind(of_type: type) -> Kind:
    """Kind of the values of a type; a NaN is recognized as ABSENT only later, by its value."""
    if of_type in (type(pd.NA), type(pd.NaT)):
        return Kind.ABSENT
    if of_type is type(None):
        return Kind.NONE
    if issubclass(of_type, bool | np.bool_):
        return Kind.BOOLEAN
    if issubclass(of_type, int | float | np.integer | np.floating):
        return Kind.NUMBER
    if issubclass(of_type, str):
        return Kind.TEXT
    return Kind.DISTRIBUTION if hasattr(of_type, "rvs") else Kind.OBJECT


def _numbers(values: np.ndarray) -> np.ndarray:
    try:
        numbers = values.astype(np.float64)
    except OverflowError:  # Python integers can exceed the largest float
        numbers = np.array([max(min(value, _LARGEST), -_LARGEST) for value in values], dtype=np.float64)
    return numbers.clip(-_LARGEST, _LARGEST)


def _labels(values: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Each value's category label, (n,)."""
    labels = np.full(len(values), NOT_NOMINAL, dtype=object)
    labels[kind == Kind.TEXT] = values[kind == Kind.TEXT]
    labels[kind == Kind.NONE] = "None"
    labels[kind == Kind.BOOLEAN] = np.where(values[kind == Kind.BOOLEAN].astype(bool), "True", "False")
    for index in np.flatnonzero(kind == Kind.OBJECT):
        labels[index] = _object_label(values[index])
    return labels


def _object_label(value: Any) -> str:
    """Collections as JSON, functions and classes by their name, instances by their class."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple | Mapping):
        try:
            return json.dumps(value, sort_keys=True, default=_type_name)
        except (TypeError, ValueError, RecursionError):
            return _type_name(value)
    return str(getattr(value, "__name__", _type_name(value)))


def _type_name(value: Any) -> str:
    return type(value).__name__
