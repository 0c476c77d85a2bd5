"""Configurations as one numeric matrix (van Hoof's thesis, section 3.1).

Learning examines the values that occur and chooses an encoding per parameter; transforming applies it and
never fails on an unseen value.

    type        example                 columns
    numerical   2, 0.5                  p
    boolean     True, 0, None           p, 0 or 1; None is neither
    nominal     "gini", None            p as codes, or one-hot p_gini, p_None
    mixed       0.05, "sqrt", None      p_num with words turned into numbers, and p_nom as nominal
    object      PCA(), [1, 2]           none, or as nominal under the object's name

Notation
    n       configurations
    m       rows of the result: a configuration has as many as it has runs
    rows    (m,) positions into the configurations
    NaN     the configuration lacks the parameter (it is another algorithm's), or the value is not a number

A parameter that a configuration lacks is NaN in its column and 0 in all its one-hot columns. Columns that are
constant over the training rows are dropped; a distribution is never constant. Encoding uses only
hyperparameters and dataset sizes, never results.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from metalearners.codec import decode, encode
from metalearners.encoding.imputation import (
    NO_RULE,
    UNKNOWN_SIZE,
    DatasetSize,
    Rule,
    as_numbers,
    rule_of,
    with_todays_labels,
)
from metalearners.encoding.values import (
    Kind,
    ParameterType,
    Values,
    is_typed,
    take_apart,
    type_of,
    values_of_categories,
)
from warehouse.support.arrays import Flags, Floats
from warehouse.support.errors import BadOption, DamagedModel

FORMAT = "headstart.hyperparameter-encoding"
VERSION = 1  # of the JSON, increased when an older Headstart can't read it

UNKNOWN = "<unkn>"
"""Category 0 of every nominal parameter: a value unseen in training."""

_WITH_NUMBERS = (ParameterType.NUMERICAL, ParameterType.MIXED)

Objects = Literal["drop", "nominal"]


@dataclass(frozen=True)
class HyperparameterEncoding:
    """Encoding of configurations as numbers, learned by `learn_encoding`."""

    types: Mapping[str, ParameterType]
    """Type of each parameter, in the order of the training columns."""
    categories: Mapping[str, tuple[str, ...]]
    """Known labels of each parameter, in alphabetical order."""
    columns: Annotated[tuple[str, ...], "J"]
    """The columns of the matrix."""
    one_hot: bool

    def __post_init__(self) -> None:
        strangers = set(self.columns) - self._is_one_hot.keys()
        if strangers:
            raise ValueError(f"it can't give {min(strangers)!r}")

    def transform(self, configurations: pd.DataFrame, size: DatasetSize) -> pd.DataFrame:
        """The matrix of each configuration once, with its index and the names of the columns."""
        matrix = self.matrix(configurations, size)
        return pd.DataFrame(matrix, index=configurations.index, columns=list(self.columns))

    def matrix(
        self, configurations: pd.DataFrame, size: DatasetSize, rows: np.ndarray | None = None
    ) -> Floats:
        """The matrix of `configurations`, (m, len(columns)), float64.

        Args:
            configurations: (n, any) Python values by parameter, dtype object. A missing column means that no
                configuration has the parameter; columns unseen in training are ignored.
            size: of each row's dataset.
            rows: position of each row's configuration; None = each configuration once, in order.
        """
        m = len(configurations) if rows is None else len(rows)
        places = {name: place for place, name in enumerate(self.columns)}
        matrix = np.full((len(places), m), np.nan)
        plain = self._plain(configurations)
        numbers = configurations[plain].to_numpy(np.float64, na_value=np.nan).T
        matrix[[places[name] for name in plain]] = numbers if rows is None else numbers[:, rows]
        others = [parameter for parameter in self.types if parameter not in plain]
        for name, column, _ in self._all_columns(_values(configurations, others), size, rows):
            if name in places:
                matrix[places[name]] = column
        is_one_hot = np.array([self._is_one_hot[name] for name in self.columns], dtype=bool)
        matrix[is_one_hot] = np.nan_to_num(matrix[is_one_hot])
        return np.ascontiguousarray(matrix.T)

    def _possible_columns(self) -> list[tuple[str, bool]]:
        """Every column of these types and categories, constant or not, and whether it is one-hot."""
        nothing = dict.fromkeys(self.types, _Column(take_apart([])))
        return [(name, one_hot) for name, _, one_hot in self._all_columns(nothing, UNKNOWN_SIZE, None)]

    @cached_property
    def _is_one_hot(self) -> dict[str, bool]:
        return dict(self._possible_columns())

    def parameter_of_numbers(self) -> dict[str, str]:
        """Parameter of each column that holds a parameter's numbers."""
        return {
            _column_of_numbers(parameter, kind): parameter
            for parameter, kind in self.types.items()
            if kind in _WITH_NUMBERS
        }

    def _all_columns(
        self, columns: Mapping[str, _Column], size: DatasetSize, rows: np.ndarray | None
    ) -> Iterator[tuple[str, np.ndarray, bool]]:
        """(name, column (m,), whether it is one-hot) of every possible column; NaN where absent."""
        for parameter, given in columns.items():
            kind, column = self.types[parameter], given.at(rows)
            if kind is ParameterType.BOOLEAN:
                number = column.values.number
                yield parameter, column.spread(np.where(np.isin(number, (0, 1)), number, np.nan)), False
            if kind in _WITH_NUMBERS:
                yield _column_of_numbers(parameter, kind), _numbers(column, rule_of(parameter), size), False
            if parameter in self.categories:
                coded = self._coded(parameter, column.values)
                for name, of_values, one_hot in self._nominal_columns(parameter, coded):
                    yield name, column.spread(of_values), one_hot

    def _plain(self, configurations: pd.DataFrame) -> list[str]:
        """Parameters whose columns are numbers that need no conversion."""
        known = set(self.columns)
        return [
            name
            for name, dtype in zip(configurations.columns.tolist(), configurations.dtypes, strict=True)
            if self.types.get(name) is ParameterType.NUMERICAL
            and name in known
            and is_typed(dtype)
            and rule_of(name) is NO_RULE
        ]

    def codes(self, parameter: str) -> dict[str, int]:
        """Code of each category of a nominal parameter; `<unkn>` = 0."""
        return {label: code for code, label in enumerate((UNKNOWN, *self.categories[parameter]))}

    def _coded(self, parameter: str, values: Values) -> np.ndarray:
        """Code of each value's category, (n,); NaN where absent."""
        codes = self.codes(parameter)
        coded = np.array([codes.get(label, codes[UNKNOWN]) for label in values.label], dtype=np.float64)
        return np.where(values.kind == Kind.ABSENT, np.nan, coded)

    def _nominal_columns(self, parameter: str, coded: np.ndarray) -> Iterator[tuple[str, np.ndarray, bool]]:
        name = f"{parameter}_nom" if self.types[parameter] is ParameterType.MIXED else parameter
        if not self.one_hot:
            yield name, coded, False
            return
        for code, label in enumerate(self.categories[parameter], start=1):
            yield f"{name}_{label}", np.where(np.isnan(coded), np.nan, coded == code), True

    def to_json(self) -> str:
        """The encoding as JSON text; `from_json` reads it back as an equal encoding."""
        return json.dumps({"format": FORMAT, "version": VERSION, **encode(self)[0]}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> HyperparameterEncoding:
        """Read the output of `to_json`.

        Raises:
            BadInput: the text is cut off, not an encoding, or from a newer Headstart.
        """
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DamagedModel(f"the hyperparameter encoding is not JSON or is cut off ({error})") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise DamagedModel(f"not a hyperparameter encoding: the JSON lacks the format {FORMAT!r}")
        if content.get("version") != VERSION:
            raise DamagedModel(
                f"the hyperparameter encoding has version {content.get('version')!r} and this Headstart reads"
                f" version {VERSION}: update Headstart, or learn the encoding anew"
            )
        try:
            return decode(cls, content, {})
        except DamagedModel as error:
            raise DamagedModel(
                f"the hyperparameter encoding can't be used: {error}; learn it anew"
            ) from error


def learn_encoding(
    configurations: pd.DataFrame,
    size: DatasetSize,
    *,
    one_hot: bool,
    objects: Objects = "drop",
    rows: np.ndarray | None = None,
) -> HyperparameterEncoding:
    """Choose how each parameter becomes numbers. `configurations`, `size` and `rows` as for `matrix`.

    Args:
        one_hot: a column for each category, else one column of codes for each nominal parameter.
        objects: drop parameters whose values are arrays, mappings or instances, or encode their names as
            categories.

    Raises:
        BadInput: two columns would have the same name.
    """
    absent = _Column(take_apart([np.nan]), np.zeros(len(configurations), dtype=np.intp))
    columns_of = dict.fromkeys(configurations.columns, absent)
    columns_of |= _values(configurations, configurations.columns)
    values_of = {parameter: column.each() for parameter, column in columns_of.items()}
    types = {parameter: type_of(values) for parameter, values in values_of.items()}
    if objects == "drop":
        types = {parameter: kind for parameter, kind in types.items() if kind is not ParameterType.OBJECT}
    categories = {
        parameter: _known_labels(values_of[parameter])
        for parameter, kind in types.items()
        if kind in (ParameterType.NOMINAL, ParameterType.MIXED, ParameterType.OBJECT)
    }
    everything = HyperparameterEncoding(types, categories, (), one_hot)
    possible = [name for name, _ in everything._possible_columns()]
    if len(set(possible)) < len(possible):
        twice = next(name for name in possible if possible.count(name) > 1)
        raise BadOption(f"two hyperparameters would both give a column {twice!r}: rename one of them")
    drawn = {  # columns of parameters with numbers drawn from a distribution
        _column_of_numbers(parameter, kind)
        for parameter, kind in types.items()
        if Kind.DISTRIBUTION in values_of[parameter].kind
    }
    columns = tuple(
        name
        for name, column, _ in everything._all_columns(
            {parameter: columns_of[parameter] for parameter in types}, size, rows
        )
        if _varies(column) or name in drawn
    )
    return HyperparameterEncoding(types, categories, columns, one_hot)


def _column_of_numbers(parameter: str, kind: ParameterType) -> str:
    return f"{parameter}_num" if kind is ParameterType.MIXED else parameter


@dataclass(frozen=True)
class _Column:
    """One parameter's values, (n,), converted once per distinct value."""

    values: Values
    """(k,)"""
    places: np.ndarray | None = None
    """(n,) position of each configuration's value among `values`; None = in their order."""

    def at(self, rows: np.ndarray | None) -> _Column:
        """The values of these configurations; None = all."""
        if rows is None:
            return self
        return _Column(self.values, rows if self.places is None else self.places[rows])

    def each(self) -> Values:
        """(n,) the values one by one."""
        return self.values if self.places is None else self.values.take(self.places)

    def spread(self, of_values: np.ndarray) -> np.ndarray:
        """(n,) `of_values`, (k,), repeated for each configuration."""
        return of_values if self.places is None else of_values[self.places]


def _numbers(column: _Column, rule: Rule, size: DatasetSize) -> np.ndarray:
    """(n,) numbers for the values on datasets of this size."""
    if size.is_one:
        return column.spread(as_numbers(column.values, rule, size.for_rows(len(column.values))))
    values = column.each()
    return as_numbers(values, rule, size.for_rows(len(values)))


def _values(configurations: pd.DataFrame, parameters: Iterable[str]) -> dict[str, _Column]:
    """Each parameter's values, (n,), if it has any."""
    dtypes = dict(zip(configurations.columns, configurations.dtypes, strict=True))
    known = [name for name in parameters if name in dtypes]
    of_objects = [name for name in known if is_object_dtype(dtypes[name])]
    found = {
        name: _column(configurations[name], rule_of(name))
        for name in known
        if not is_object_dtype(dtypes[name])
    }
    # In a table of several flows most values are absent: only present ones are converted.
    objects = configurations[of_objects].to_numpy(dtype=object).T
    for name, values, present in zip(of_objects, objects, _is_present(objects), strict=True):
        if present.any():
            places = np.where(present, np.cumsum(present) - 1, present.sum())
            there = take_apart(np.append(values[present], np.nan))
            found[name] = _Column(with_todays_labels(there, rule_of(name)), places)
    return found


def _is_present(objects: np.ndarray) -> Flags:
    """Whether each Python object is a value: None is, NaN and NA are not."""
    present: Flags = ~pd.isna(objects)
    blank = objects[~present]
    try:
        present[~present] = blank == None  # noqa: E711 (of each value)
    except TypeError:  # comparing NA with None gives NA, which is not a bool
        present[~present] = [value is None for value in blank]
    return present


def _column(given: pd.Series, rule: Rule) -> _Column:
    """The values of a column without Python objects."""
    if isinstance(given.array, pd.Categorical):
        of_categories = values_of_categories(*given.array.categories)
        return _Column(with_todays_labels(of_categories, rule), given.array.codes)
    return _Column(with_todays_labels(take_apart(given), rule))


def _known_labels(values: Values) -> tuple[str, ...]:
    present = values.label[values.kind != Kind.ABSENT]
    return tuple(sorted(set(present), key=lambda label: (label.casefold(), label)))


def _varies(column: np.ndarray) -> bool:
    present = column[~np.isnan(column)]
    return bool(present.size and (present != present[0]).any())
