"""Frozen dataclasses as JSON values and arrays, and back: the form in which models and settings are stored.

A dataclass becomes a JSON object with a value for each field. Its arrays are stored separately, under the
path of their field ("kernel.Z"). Decoding follows the type hints and never runs stored code. Only decoding
detects damage: missing values, wrong types and axes of different lengths.

    hint                                      stored as
    str, bool, int, float, Enum, Literal      a JSON value
    tuple[X, ...], Mapping[str, X], X | None  a JSON array, object, null
    numpy.typing.NDArray                      an array
    a dataclass                               an object; if several are possible, with its class name as
                                              "kind"
    Any                                       itself, a JSON value
    a type alias (PEP 695)                    as its value

`Annotated[Floats, "d K"]` names the axes of an array, and `Annotated[tuple[str, ...], "K"]` that of a tuple.
Axes with the same name have the same length within a dataclass, including those of its parts. A number is a
fixed length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from warehouse.support.errors import BadInput, BadOption, DamagedModel, UnknownName

Arrays = Mapping[str, np.ndarray]

T = TypeVar("T")


def encode(content: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The JSON values and the arrays of a dataclass."""
    arrays: dict[str, np.ndarray] = {}
    return _written(content, type(content), "", arrays), arrays


def decode(wanted: type[T], facts: Mapping[str, Any], arrays: Arrays) -> T:
    """The dataclass that `encode` turned into these values. A missing field takes its default.

    Raises:
        DamagedModel: a value is missing, has a wrong type, or does not fit the others.
    """
    try:
        content: T = _dataclass(wanted, _as(Mapping, facts, "it"), "", arrays)
        _lengths(content)
    except (LookupError, TypeError, ValueError, AttributeError, BadInput) as error:
        raise DamagedModel(f"it is damaged: {error}") from error
    return content


def with_settings(wanted: type[T], settings: Mapping[str, Any]) -> T:
    """The dataclass with these JSON values as fields, and defaults for the others.

    Raises:
        BadInput: an unknown field, or a value of a wrong type or out of range.
    """
    known = [field.name for field, _ in _fields(wanted)]
    unknown = settings.keys() - set(known)
    if unknown:
        raise UnknownName(f"unknown setting {min(unknown)!r}; known are {', '.join(known)}")
    try:
        content: T = _dataclass(wanted, settings, "", {})
    except (TypeError, ValueError) as error:
        raise BadOption(f"the settings can't be used: {error}") from error
    return content


def _written(value: Any, hint: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
    """The JSON value of `value`; None for an array. Arrays are added to `arrays`."""
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return None
    if is_dataclass(value):
        facts = {"kind": type(value).__name__} if len(_kinds(hint)) > 1 else {}
        for field, own in _fields(type(value)):
            place = _below(path, field.name)
            fact = _written(getattr(value, field.name), own, place, arrays)
            if place not in arrays:
                facts[field.name] = fact
        return facts
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: _written(item, Any, _below(path, key), arrays) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_written(item, Any, _below(path, place), arrays) for place, item in enumerate(value)]
    return value


def _dataclass(wanted: Any, facts: Mapping[str, Any], path: str, arrays: Arrays) -> Any:
    values = {}
    for field, hint in _fields(wanted):
        place = _below(path, field.name)
        if field.name in facts or place in arrays:
            values[field.name] = _value(hint, facts.get(field.name), place, arrays)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"it lacks {place}")
    return wanted(**values)


def _value(hint: Any, fact: Any, path: str, arrays: Arrays) -> Any:
    """The value of a field with this type hint."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return fact
    if origin is Annotated:
        return _value(arguments[0], fact, path, arrays)
    if origin in (Union, UnionType):
        if fact is None and path not in arrays and NoneType in arguments:
            return None
        kinds = _kinds(hint)
        (kind,) = kinds.values() if len(kinds) == 1 else [kinds[fact["kind"]]]
        return _value(kind, fact, path, arrays)
    if origin is np.ndarray:
        scalar = get_args(arguments[1])[0]
        return arrays[path].astype(scalar, casting="same_kind", copy=False)
    if origin is Literal:
        if fact not in arguments:
            raise ValueError(f"{path} is {fact!r}, not one of {', '.join(map(repr, arguments))}")
        return fact
    if origin is tuple:
        items = enumerate(_as(list, list(fact) if isinstance(fact, tuple) else fact, path))
        return tuple(_value(arguments[0], item, _below(path, place), arrays) for place, item in items)
    if origin is not None and issubclass(origin, Mapping):
        pairs = _as(Mapping, fact, path).items()
        return {str(key): _value(arguments[1], item, _below(path, key), arrays) for key, item in pairs}
    if is_dataclass(hint):
        return _dataclass(hint, _as(Mapping, fact, path), path, arrays)
    if issubclass(hint, Enum):
        return hint(fact)
    if hint is float and type(fact) is int:
        return float(fact)
    return _as(hint, fact, path)


def _as(wanted: Any, fact: object, path: str) -> Any:
    """`fact`, checked to have this type."""
    if not isinstance(fact, wanted) or (isinstance(fact, bool) and wanted is not bool):
        raise ValueError(f"{path} is {fact!r}, not a {wanted.__name__}")
    return fact


def _lengths(content: Any) -> dict[str, int]:
    """Length of each axis named by a dataclass itself, checked against those of its parts."""
    lengths: dict[str, int] = {}
    parts = []
    for field, hint in _fields(type(content)):
        value = getattr(content, field.name)
        if is_dataclass(value):
            parts.append((field.name, value))
        for axis, length in _axes(hint, value):
            _agree(lengths, axis, length, field.name)
    for name, part in parts:
        for axis, length in _lengths(part).items():
            if axis in lengths:
                _agree(lengths, axis, length, name)
    return lengths


def _agree(lengths: dict[str, int], axis: str, length: int, where: str) -> None:
    expected = int(axis) if axis.isdecimal() else lengths.setdefault(axis, length)
    if length != expected:
        raise ValueError(f"{where} has {length} {axis}, the rest has {expected}")


def _axes(hint: Any, value: Any) -> Iterator[tuple[str, int]]:
    """Name and length of each axis named in the hint of a field."""
    if get_origin(hint) is Annotated and value is not None:
        shape = value.shape if isinstance(value, np.ndarray) else (len(value),)
        yield from zip(hint.__metadata__[0].split(), shape, strict=True)


def _kinds(hint: Any) -> dict[str, Any]:
    """Types allowed by a hint besides None, by name."""
    choices: Sequence[Any] = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return {getattr(choice, "__name__", str(choice)): choice for choice in choices if choice is not NoneType}


def _fields(wanted: Any) -> list[tuple[Field[Any], Any]]:
    """The fields that a dataclass is constructed from, each with its type hint."""
    hints = get_type_hints(wanted, include_extras=True)
    return [(field, _without_aliases(hints[field.name])) for field in fields(wanted) if field.init]


def _without_aliases(hint: Any) -> Any:
    """The hint with every type alias (PEP 695) replaced by its value, also within its arguments.

    For example, NumPy's `NDArray` is an alias from Python 3.12 on.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    alias = origin or hint
    if hasattr(alias, "__value__"):
        return _without_aliases(_of_parameters(alias.__value__, alias.__type_params__, arguments))
    if not arguments or origin is Literal:
        return hint
    if origin is Annotated:
        return Annotated[_without_aliases(arguments[0]), *arguments[1:]]
    within = tuple(map(_without_aliases, arguments))
    return reduce(or_, within) if origin is UnionType else origin[within]


def _of_parameters(value: Any, parameters: Sequence[Any], arguments: Sequence[Any]) -> Any:
    """The value of a generic alias, with these arguments for its type parameters."""
    given = dict(zip(parameters, arguments, strict=False))  # empty for an alias without arguments
    if value in given:
        return given[value]
    used = getattr(value, "__parameters__", ())
    return value[tuple(given.get(parameter, parameter) for parameter in used)] if used else value


def _below(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)
