"""Sets of dense integers, such as OpenML's run ids, in a fiftieth of a set's memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import Self

import numpy as np

_BITS = 10  # of a number within its block


class IdSet(MutableSet[int]):
    """Integers, kept as bits of blocks of 1,024; iterates in order."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._blocks: dict[int, int] = {}
        self._length = 0
        for number in numbers:
            self.add(number)

    @classmethod
    def of_array(cls, numbers: np.ndarray) -> Self:
        """The numbers of an integer array, (any,)."""
        made = cls()
        distinct = np.unique(numbers)
        blocks, first = np.unique(distinct >> _BITS, return_index=True)
        for block, members in zip(blocks.tolist(), np.split(distinct, first[1:]), strict=False):
            bits = np.zeros(1 << _BITS, dtype=bool)
            bits[members - (block << _BITS)] = True
            made._blocks[block] = int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
        made._length = len(distinct)
        return made

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and bool(self._blocks.get(number >> _BITS, 0) & _bit(number))

    def __iter__(self) -> Iterator[int]:
        for block in sorted(self._blocks):
            packed = np.frombuffer(self._blocks[block].to_bytes(1 << _BITS - 3, "little"), dtype=np.uint8)
            members = np.flatnonzero(np.unpackbits(packed, bitorder="little"))
            yield from (members + (block << _BITS)).tolist()

    def __len__(self) -> int:
        return self._length

    def add(self, value: int) -> None:
        """Add a number."""
        if value not in self:
            self._blocks[value >> _BITS] = self._blocks.get(value >> _BITS, 0) | _bit(value)
            self._length += 1

    def discard(self, value: int) -> None:
        """Remove a number if it is there."""
        if value in self:
            self._blocks[value >> _BITS] &= ~_bit(value)
            self._length -= 1


def _bit(number: int) -> int:
    return 1 << (number & (1 << _BITS) - 1)
