"""Read sizes and encodings of the pages of a Parquet file from their headers.

A footer may declare less than its pages contain, and PyArrow decompresses a page before its size can be
checked. PyArrow's column metadata ends the process for some damaged footers, so the footer is parsed here as
well. Both are structs of Thrift's compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), with the fields of
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Struct = dict[int, Any]
"""Values by field number: integers, truth values, bytes, lists, or structs."""

# Kinds of values in the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET = range(1, 11)
_STRUCT = 12
_LONGEST = 70  # bits of a number, in groups of seven

# Header of a page: field of its kind -> field of the encoding in that struct.
_ENCODINGS = {5: 2, 7: 2, 8: 4}  # data, dictionary, data of version 2
_DATA = (5, 8)  # those with data; field 1 is the number of values
_AFTER_FOOTER = 8  # bytes: the footer's length, and the mark of the format


@dataclass
class Pages:
    """The pages of all columns of a file."""

    declared: int = 0
    """Their uncompressed bytes, according to the footer."""
    unpacked: int = 0
    """Their uncompressed bytes, according to their own headers."""
    values: dict[str, int] = field(default_factory=dict)
    """Number of values by column path, including nulls; for a column of lists, the values in the lists."""
    encodings: dict[str, set[int]] = field(default_factory=dict)
    """Encoding numbers of a column's values, by its path (names joined by dots)."""


def read_pages(content: bytes) -> Pages:
    """Read the footer and the header of every page of a file.

    Raises:
        ValueError: one of them is damaged, or a page lies outside the file.
    """
    pages = Pages()
    try:
        start = len(content) - _AFTER_FOOTER - int.from_bytes(content[-_AFTER_FOOTER:-4], "little")
        footer, _ = _struct(content[max(start, 0) : -_AFTER_FOOTER], 0)
        for group in footer[4]:
            pages.declared += int(group[2])
            for chunk in group[1]:
                column = chunk[3]
                path = b".".join(column[3]).decode()
                encodings = pages.encodings.setdefault(path, set())
                in_pages = 0
                for header in _headers(content, column):
                    pages.unpacked += header[2]
                    in_pages += sum(header[kind][1] for kind in _DATA if kind in header)
                    encodings |= {header[kind][place] for kind, place in _ENCODINGS.items() if kind in header}
                pages.values[path] = pages.values.get(path, 0) + max(int(column[5]), in_pages)
    except (AttributeError, IndexError, KeyError, TypeError, RecursionError):
        raise ValueError("the footer, or the header of a page, is cut off or lacks a field") from None
    return pages


def _headers(content: bytes, column: Struct) -> Iterator[Struct]:
    """Headers of the pages of a column in a row group."""
    if not column[5]:  # number of values; without any, there may be no page
        return
    at = min(column[9], column.get(11) or column[9])  # position of the first data page, of the dictionary
    end = at + column[7]
    if at < 0 or end > len(content):
        raise ValueError("a column lies outside of the file")
    while at < end:
        header, at = _struct(content, at)
        if header[2] < 0 or header[3] < 0:
            raise ValueError("the header of a page has a negative size")
        yield header
        at += header[3]


def _struct(content: bytes, at: int) -> tuple[Struct, int]:
    """The struct at a position, and the position after it."""
    fields: Struct = {}
    number = 0
    while head := content[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(content, at)
        kind = head & 15
        # In a struct, a truth value is stored as its kind.
        fields[number], at = (kind == _TRUE, at) if kind <= _FALSE else _value(content, at, kind)
    return fields, at + 1


def _value(content: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == _STRUCT:
        return _struct(content, at)
    if _I16 <= kind <= _I64:
        return _integer(content, at)
    if kind in (_LIST, _SET):
        size, of = content[at] >> 4, content[at] & 15
        at += 1
        if size == 15:
            size, at = _unsigned(content, at)
        values = []
        for _ in range(size):  # each has at least a byte, so the loop ends
            value, at = _value(content, at, of)
            values.append(value)
        return values, at
    if kind == _BINARY:
        size, at = _unsigned(content, at)
    elif kind in (_TRUE, _FALSE, _BYTE, _DOUBLE):
        size = 8 if kind == _DOUBLE else 1
    else:
        raise ValueError(f"a value is of the unknown kind {kind}")
    if at + size > len(content):
        raise ValueError("a value is cut off")
    return content[at : at + size], at + size


def _integer(content: bytes, at: int) -> tuple[int, int]:
    value, at = _unsigned(content, at)
    return value >> 1 ^ -(value & 1), at


def _unsigned(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, _LONGEST, 7):
        byte = content[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number is too long")
