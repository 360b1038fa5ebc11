"""Numbers for rows of integers inside kernels: equal rows get equal numbers, 0, 1, 2, … in order of first appearance.

An open-addressing table finds a row by its hash and compares it in full, so two rows never share a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, IntArray, LongArray
from infoset.jit import borrowing, inline_kernel, inner_kernel, kernel, linked_kernel
from infoset.randomness import FIRST_MIX, SECOND_MIX, STRIDE

A = TypeVar("A", bound=npt.NDArray[Any])
Numbers: TypeAlias = "Sequence[int] | IntArray | LongArray"

EMPTY = -1
SPARE = 2  # the least number of slots per row


class Rows(NamedTuple):
    """The rows found so far, concatenated; ``size[0]`` is their number."""

    slots: LongArray  # (a power of two,) number of a row, or EMPTY
    begin: LongArray  # (rows + 1,) the index in ``data`` at which each begins
    data: LongArray
    size: LongArray  # (1,)

    @classmethod
    def empty(cls) -> Rows:
        nothing = np.zeros(1, dtype=np.int64)
        return cls(np.full(1, EMPTY, dtype=np.int64), nothing, np.zeros(0, dtype=np.int64), nothing.copy())

    def with_room(self, rows: int, words: int) -> Rows:
        """Return the rows with room for ``rows`` more rows of ``words`` words in total; full arrays are doubled."""
        count = int(self.size[0])
        begin = longer(self.begin, count + rows + 1)
        data = longer(self.data, int(self.begin[count]) + words)
        slots = self.slots
        if (count + rows) * SPARE > len(slots):
            slots = np.full(1 << int((count + rows) * 2 * SPARE).bit_length(), EMPTY, dtype=np.int64)
            place_all(slots, begin, data, count)
        return Rows(slots, begin, data, self.size)

    def growth(self, rows: int, words: int) -> int:
        """Return the bytes that ``with_room`` would allocate."""
        count = int(self.size[0])
        slots = 8 << int((count + rows) * 2 * SPARE).bit_length() if (count + rows) * SPARE > len(self.slots) else 0
        longer_data = longer_bytes(self.data, int(self.begin[count]) + words)
        return slots + longer_bytes(self.begin, count + rows + 1) + longer_data

    def cut(self, rows: int) -> None:
        """Keep only the first ``rows`` rows."""
        self.size[0] = rows
        self.slots[:] = EMPTY
        place_all(self.slots, self.begin, self.data, rows)

    @property
    def nbytes(self) -> int:
        """The bytes of the filled part."""
        count = int(self.size[0])
        return self.slots.nbytes + 8 * (count + int(self.begin[count]))

    def lists(self) -> list[list[int]]:
        """Return the rows in order."""
        begin = self.begin.tolist()
        return [self.data[begin[k] : begin[k + 1]].tolist() for k in range(int(self.size[0]))]

    def table(self, width: int) -> LongArray:
        """Return the rows as an array (rows, width), where all have this width."""
        return self.data[: int(self.size[0]) * width].reshape(-1, width)


def distinct(values: LongArray) -> tuple[LongArray, LongArray]:
    """Return the distinct values (K,), in order of first appearance, and the index of each value among them (K,).

    >>> import numpy as np
    >>> from infoset.interning import distinct
    >>> distinct(np.array([7, 3, 7]))
    (array([7, 3]), array([0, 1, 0]))
    """
    values = values.astype(np.int64, copy=False)
    slots = np.full(1 << (SPARE * len(values)).bit_length(), EMPTY, dtype=np.int64)
    met, place = np.empty_like(values), np.empty_like(values)
    return met[: _distinct(values, slots, met, place)].copy(), place


def sums(place: LongArray | IntArray, numbers: FloatArray, size: int) -> FloatArray:
    """Return the sum (size,) of the numbers (K,) at each of ``size`` places (K,)."""
    return np.asarray(np.bincount(place, numbers, size), dtype=np.float64)


@kernel
def _distinct(values: LongArray, slots: LongArray, met: LongArray, place: LongArray) -> int:
    """Write the distinct values to ``met`` and the index of each value to ``place``; return their number."""
    last, count = np.uint64(len(slots) - 1), 0
    for k in range(len(values)):
        word = (np.uint64(values[k]) + STRIDE) * FIRST_MIX
        slot = ((word ^ (word >> np.uint64(29))) * SECOND_MIX) >> np.uint64(20) & last
        while slots[slot] != EMPTY and met[slots[slot]] != values[k]:
            slot = (slot + np.uint64(1)) & last
        if slots[slot] == EMPTY:
            slots[slot], met[count] = count, values[k]
            count += 1
        place[k] = slots[slot]
    return count


def longer(array: A, size: int) -> A:
    """Return ``array`` itself if it has ``size`` rows, else a copy with room for twice ``size``, padded with zeros."""
    if size <= len(array):
        return array
    grown = np.zeros((2 * size, *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown  # type: ignore[return-value]


def longer_bytes(array: npt.NDArray[Any], size: int) -> int:
    """Return the bytes that ``longer`` would allocate."""
    return 0 if size <= len(array) else 2 * size * array.itemsize * int(np.prod(array.shape[1:]))


@linked_kernel
@borrowing
def _mixed(word: np.uint64, more: np.int64) -> np.uint64:
    """Mix one more word of a row into a hash."""
    word = (word ^ np.uint64(more)) * FIRST_MIX + STRIDE
    return (word ^ (word >> np.uint64(29))) * SECOND_MIX


@linked_kernel
@borrowing
def hash_row(row: LongArray) -> np.uint64:
    """Return a hash of 64 bits that depends on every word of a row and on its length."""
    word = np.uint64(len(row))
    for k in range(len(row)):
        word = _mixed(word, row[k])
    return word ^ (word >> np.uint64(32))


@linked_kernel
@borrowing
def hash_pair(first: np.int64, second: np.int64) -> np.uint64:
    """Return the hash of a row of two words."""
    word = _mixed(_mixed(np.uint64(2), first), second)
    return word ^ (word >> np.uint64(32))


@kernel
@borrowing
def place_all(slots: LongArray, begin: LongArray, data: LongArray, count: int) -> None:
    """Fill an empty table with rows that are all distinct."""
    last = np.uint64(len(slots) - 1)
    for k in range(count):
        slot = hash_row(data[begin[k] : begin[k + 1]]) & last
        while slots[slot] != EMPTY:
            slot = (slot + np.uint64(1)) & last
        slots[slot] = k


@kernel
@borrowing
def intern(rows: Rows, row: LongArray) -> np.int64:
    """Return the number of ``row``, which is added if it is new; ``with_room`` must have made room for it."""
    last = np.uint64(len(rows.slots) - 1)
    slot = hash_row(row) & last
    while rows.slots[slot] != EMPTY:
        found: np.int64 = rows.slots[slot]
        first = rows.begin[found]
        if rows.begin[found + 1] - first == len(row):
            same = True
            for k in range(len(row)):
                if rows.data[first + k] != row[k]:
                    same = False
                    break
            if same:
                return found
        slot = (slot + np.uint64(1)) & last
    number: np.int64 = rows.size[0]
    rows.slots[slot] = number
    first = rows.begin[number]
    for k in range(len(row)):
        rows.data[first + k] = row[k]
    rows.begin[number + 1] = first + len(row)
    rows.size[0] = number + 1
    return number


@inner_kernel
@borrowing
def intern_pair(rows: Rows, one: np.int64, other: np.int64) -> np.int64:
    """Do what ``intern`` does for the row ``one``, ``other``, where all rows have two words."""
    last = np.uint64(len(rows.slots) - 1)
    slot = hash_pair(one, other) & last
    while rows.slots[slot] != EMPTY:
        found: np.int64 = rows.slots[slot]
        if rows.data[2 * found] == one and rows.data[2 * found + 1] == other:
            return found
        slot = (slot + np.uint64(1)) & last
    number: np.int64 = rows.size[0]
    rows.slots[slot] = number
    rows.data[2 * number], rows.data[2 * number + 1] = one, other
    rows.begin[number + 1] = 2 * number + 2
    rows.size[0] = number + 1
    return number


@inline_kernel
def state_key(parent: int, record: int) -> np.int64:
    """Return the key of the information state that extends ``parent`` by ``record``."""
    return (np.int64(parent) + 1) << 32 | np.int64(record)


@inline_kernel
def find_slot(slots: LongArray, key: np.int64) -> np.uint64:
    """Return the slot that holds a state, or in which it would be inserted."""
    word = np.uint64(key)
    word = (word ^ (word >> np.uint64(30))) * FIRST_MIX
    word = (word ^ (word >> np.uint64(27))) * SECOND_MIX
    last = np.uint64(len(slots) - 1)
    slot = (word ^ (word >> np.uint64(31))) & last
    while slots[slot, 0] != EMPTY and slots[slot, 0] != key:
        slot = (slot + np.uint64(1)) & last
    return slot


@kernel
@borrowing
def place_states(slots: LongArray, parent: IntArray, record: IntArray, count: int) -> None:
    """Fill an empty table of slots with states."""
    for k in range(count):
        key = state_key(parent[k], record[k])
        slot = find_slot(slots, key)
        slots[slot, 0], slots[slot, 1] = key, k


def path_to(parent: Numbers, record: Numbers, state: int) -> tuple[int, list[int]]:
    """Return the initial state above a state of a tree, and the records on the way from there.

    ``parent`` (states,) is negative for initial states; ``record`` (states,) holds each state's last record.
    """
    records = []
    while parent[state] >= 0:
        records.append(int(record[state]))
        state = int(parent[state])
    return state, records[::-1]
