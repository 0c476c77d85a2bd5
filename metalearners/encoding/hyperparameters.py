"""Configurations as one numeric matrix (van Hoof's thesis, section 3.1).

Learning looks at the values that occur and decides per parameter; transforming follows that decision and
never fails on a value it has not seen.

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
    NaN     the configuration does not have the parameter (another algorithm's), or the value is no number

A parameter that a configuration does not have is NaN in its column and 0 in all its one-hot columns. Columns
that do not vary over the rows that learning saw are left out; a distribution varies. Only hyperparameters and
sizes of datasets are looked at, never results.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from metalearners.codec import decode, encode
from metalearners.encoding.imputation import (
    UNKNOWN_SIZE,
    DatasetSize,
    as_numbers,
    rule_of,
    with_todays_labels,
)
from metalearners.encoding.values import Kind, ParameterType, Values, detect_types, take_apart, type_of
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadOption, DamagedModel

__all__ = ["HyperparameterEncoding", "ParameterType", "detect_types", "learn_encoding"]

FORMAT = "headstart.hyperparameter-encoding"
VERSION = 1  # of the JSON, raised when an older Headstart can't read it

UNKNOWN = "<unkn>"
"""Category 0 of every nominal parameter: a value that learning did not see."""

_WITH_NUMBERS = (ParameterType.NUMERICAL, ParameterType.MIXED)

Objects = Literal["drop", "nominal"]


@dataclass(frozen=True)
class HyperparameterEncoding:
    """How configurations become numbers: what `learn_encoding` decided, as data."""

    types: Mapping[str, ParameterType]
    """Parameter -> type, in the order of the columns that were learned from."""
    categories: Mapping[str, tuple[str, ...]]
    """Parameter -> its known labels in alphabetical order."""
    columns: Annotated[tuple[str, ...], "J"]
    """The columns that `transform` returns."""
    one_hot: bool

    def __post_init__(self) -> None:
        strangers = set(self.columns).difference(self.possible_columns() if self.columns else ())
        if strangers:
            raise ValueError(f"it can't give {min(strangers)!r}")

    def transform(
        self, configurations: pd.DataFrame, size: DatasetSize, rows: np.ndarray | None = None
    ) -> pd.DataFrame:
        """The matrix of `configurations`, (m, len(columns)), float64.

        Args:
            configurations: (n, any) Python values by parameter, dtype object. A parameter without a column
                is one that no configuration has; columns that learning did not see are ignored.
            size: of each row's dataset.
            rows: which configuration each row is about; None = each one once, in order.
        """
        index = configurations.index if rows is None else configurations.index[rows]
        return pd.DataFrame(self.matrix(configurations, size, rows), index=index, columns=list(self.columns))

    def matrix(
        self, configurations: pd.DataFrame, size: DatasetSize, rows: np.ndarray | None = None
    ) -> Floats:
        """The values of `transform`, (m, len(columns)), without the names."""
        m = len(configurations) if rows is None else len(rows)
        places = {name: place for place, name in enumerate(self.columns)}
        matrix = np.full((len(places), m), np.nan)
        values = _values(configurations, self.types)
        for name, column, one_hot in self._all_columns(values, size.for_rows(m), rows):
            if name in places:
                matrix[places[name]] = np.nan_to_num(column) if one_hot else column
        return np.ascontiguousarray(matrix.T)

    def possible_columns(self) -> list[str]:
        """Every column that the types and categories give, varying or not."""
        nothing = dict.fromkeys(self.types, take_apart([]))
        return [name for name, _, _ in self._all_columns(nothing, UNKNOWN_SIZE.for_rows(0), None)]

    def parameter_of_numbers(self) -> dict[str, str]:
        """Column -> its parameter, of the columns that hold a parameter's numbers."""
        return {
            _column_of_numbers(parameter, kind): parameter
            for parameter, kind in self.types.items()
            if kind in _WITH_NUMBERS
        }

    def _all_columns(
        self, values_of: Mapping[str, Values], size: DatasetSize, rows: np.ndarray | None
    ) -> Iterator[tuple[str, np.ndarray, bool]]:
        """(name, column (m,), whether it is one-hot) of every possible column; NaN where absent."""
        for parameter, kind in self.types.items():
            values = values_of[parameter]
            of_rows = values if rows is None else values.take(rows)
            if kind is ParameterType.BOOLEAN:
                yield parameter, np.where(np.isin(of_rows.number, (0, 1)), of_rows.number, np.nan), False
            if kind in _WITH_NUMBERS:
                numbers = as_numbers(of_rows, rule_of(parameter), size)
                yield _column_of_numbers(parameter, kind), numbers, False
            if parameter in self.categories:
                coded = self._coded(parameter, values)
                yield from self._nominal_columns(parameter, coded if rows is None else coded[rows])

    def codes(self, parameter: str) -> dict[str, int]:
        """The number of each category of a nominal parameter, `<unkn>` = 0."""
        return {label: code for code, label in enumerate((UNKNOWN, *self.categories[parameter]))}

    def _coded(self, parameter: str, values: Values) -> np.ndarray:
        """The number of each value's category, (n,); NaN where absent."""
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
        """The encoding as JSON text; `from_json` of it gives an equal encoding."""
        return json.dumps({"format": FORMAT, "version": VERSION, **encode(self)[0]}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> HyperparameterEncoding:
        """Read what `to_json` wrote.

        Raises:
            BadInput: the text is cut off or something else, or a newer Headstart wrote it.
        """
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DamagedModel(f"the hyperparameter encoding is no JSON or is cut off ({error})") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise DamagedModel(f"no hyperparameter encoding: the JSON lacks the format {FORMAT!r}")
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
    """Decide how each parameter becomes numbers. The first two arguments and `rows` as for `transform`.

    Args:
        one_hot: a column for each category, else one column of codes for each nominal parameter.
        objects: leave out parameters that take arrays, mappings or instances, or use their names as
            categories.

    Raises:
        BadInput: two columns would have the same name.
    """
    values_of = _values(configurations, configurations.columns)
    types = {parameter: type_of(values) for parameter, values in values_of.items()}
    if objects == "drop":
        types = {parameter: kind for parameter, kind in types.items() if kind is not ParameterType.OBJECT}
    categories = {
        parameter: _known_labels(values_of[parameter])
        for parameter, kind in types.items()
        if kind in (ParameterType.NOMINAL, ParameterType.MIXED, ParameterType.OBJECT)
    }
    everything = HyperparameterEncoding(types, categories, (), one_hot)
    possible = everything.possible_columns()
    if len(set(possible)) < len(possible):
        twice = next(name for name in possible if possible.count(name) > 1)
        raise BadOption(f"two hyperparameters would both give a column {twice!r}: rename one of them")
    size = size.for_rows(len(configurations) if rows is None else len(rows))
    drawn = {  # columns of parameters that take numbers from a distribution
        _column_of_numbers(parameter, kind)
        for parameter, kind in types.items()
        if Kind.DISTRIBUTION in values_of[parameter].kind
    }
    columns = tuple(
        name
        for name, column, _ in everything._all_columns(values_of, size, rows)
        if _varies(column) or name in drawn
    )
    return HyperparameterEncoding(types, categories, columns, one_hot)


def _column_of_numbers(parameter: str, kind: ParameterType) -> str:
    return f"{parameter}_num" if kind is ParameterType.MIXED else parameter


def _values(configurations: pd.DataFrame, parameters: Iterable[str]) -> dict[str, Values]:
    """Each parameter's values, (n,)."""
    columns = dict(configurations.items())
    absent = take_apart([np.nan]).take(np.zeros(len(configurations), dtype=np.intp))
    return {
        parameter: with_todays_labels(
            take_apart(columns[parameter]) if parameter in columns else absent, rule_of(parameter)
        )
        for parameter in parameters
    }


def _known_labels(values: Values) -> tuple[str, ...]:
    present = values.label[values.kind != Kind.ABSENT]
    return tuple(sorted(set(present), key=lambda label: (label.casefold(), label)))


def _varies(column: np.ndarray) -> bool:
    present = column[~np.isnan(column)]
    return bool(present.size and (present != present[0]).any())
