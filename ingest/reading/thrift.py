"""Structs in Thrift's compact protocol, as the footer and the pages of Parquet files have them.

https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md says how they are written.
A footer may have millions of bytes, so what is not asked for is passed over, and nothing is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET = range(1, 11)
"""Kinds of values."""
STRUCT = 12

Field = tuple[int, int]
"""Number and kind. One of another kind than readers expect is passed over, and of two the last counts."""
_DEEPEST = 16  # structs and lists within each other; the footer of a Parquet file has at most nine
_LONGEST = 70  # bits of a number, in sevens


@dataclass(frozen=True)
class Form:
    """What to read of a value: fields of a struct, or of each struct of a list; all of another value."""

    fields: Mapping[Field, Form] = field(default_factory=dict)
    optional: Set[Field] = frozenset()
    """Fields that a struct may lack."""

    @cached_property
    def required(self) -> Set[Field]:
        """Fields that every struct has."""
        return self.fields.keys() - self.optional


PLAIN = Form()
"""The form of integers and texts, and of lists of them."""


def read_struct(content: bytes, at: int, form: Form) -> tuple[dict[Field, Any], int]:
    """What is read of the struct at a position, and the position after it.

    Values are integers, bytes, structs as dictionaries, or lists of these.

    Raises:
        ValueError: the struct is cut off, too deep, or lacks a field, or has what no file of Parquet has.
    """
    try:
        return _struct(content, at, form, 0)
    except IndexError:
        raise ValueError("a struct is cut off") from None


def _struct(content: bytes, at: int, form: Form, depth: int) -> tuple[dict[Field, Any], int]:
    _check_depth(depth)
    found = {}
    number = 0
    while head := content[at]:
        number, kind, at = _field(content, at, head, number)
        within = form.fields.get((number, kind))
        if within is None:
            at = _pass_over(content, at, kind, depth)
        else:
            found[number, kind], at = _value(content, at, kind, within, depth)
    if not form.required <= found.keys():
        raise ValueError("a struct lacks a field")
    return found, at + 1


def _field(content: bytes, at: int, head: int, number: int) -> tuple[int, int, int]:
    """Number and kind of a field that follows the one of the number given, and where its value is."""
    if head >> 4:
        return number + (head >> 4), head & 15, at + 1
    number, at = _integer(content, at + 1)
    return number, head & 15, at


def _value(content: bytes, at: int, kind: int, form: Form, depth: int) -> tuple[Any, int]:
    if I16 <= kind <= I64:
        return _integer(content, at)
    if kind == STRUCT:
        return _struct(content, at, form, depth + 1)
    if kind == LIST:
        _check_depth(depth)
        size, kind, at = _list(content, at)
        if form.required and kind != STRUCT:
            raise ValueError("a list is not of structs")
        values = []
        for _ in range(size):  # each has a byte or more, so they come to an end
            value, at = _value(content, at, kind, form, depth + 1)
            values.append(value)
        return values, at
    if kind == BINARY:
        _, start = _unsigned(content, at)
        end = _pass_over(content, at, kind, depth)
        return content[start:end], end
    raise ValueError(f"a value is of kind {kind}")


def _list(content: bytes, at: int) -> tuple[int, int, int]:
    """Length of a list, kind of its values, and where they are."""
    size, kind = content[at] >> 4, max(content[at] & 15, BYTE)  # truth values have a byte each here
    at += 1
    if size == 15:
        size, at = _unsigned(content, at)
    return size, kind, at


def _pass_over(content: bytes, at: int, kind: int, depth: int) -> int:
    """The position after a value."""
    if kind <= FALSE:  # truth values have no bytes of their own in structs
        return at
    if kind <= I64 and kind != BYTE:
        while content[at] >= 128:
            at += 1
        return at + 1
    if kind == BINARY:
        size, at = _unsigned(content, at)
        at += size
    elif kind in (BYTE, DOUBLE):
        at += 1 if kind == BYTE else 8
    elif kind == STRUCT:
        _check_depth(depth)
        number = 0
        while head := content[at]:
            number, of_field, at = _field(content, at, head, number)
            at = _pass_over(content, at, of_field, depth + 1)
        return at + 1
    elif kind in (LIST, SET):
        _check_depth(depth)
        size, kind, at = _list(content, at)
        for _ in range(size):
            at = _pass_over(content, at, kind, depth + 1)
    else:
        raise ValueError(f"a value is of kind {kind}")
    if at > len(content):
        raise ValueError("a value is cut off")
    return at


def _check_depth(depth: int) -> None:
    if depth > _DEEPEST:
        raise ValueError("a struct is too deep")


def _integer(content: bytes, at: int) -> tuple[int, int]:
    value, at = _unsigned(content, at)
    return value >> 1 ^ -(value & 1), at


def _unsigned(content: bytes, at: int) -> tuple[int, int]:
    value = content[at]
    at += 1
    if value < 128:  # most have one byte
        return value, at
    value &= 127
    for shift in range(7, _LONGEST, 7):
        byte = content[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number is too long")
