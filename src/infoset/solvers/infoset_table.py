"""Information states as they are met: a table that grows, for games whose histories do not fit but whose sets do.

A state is its parent and one more token, numbered in order of first appearance; player p starts in state p.  Where a
player has a choice the state owns a row of entries, one for each move in the order of the menu.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.interning import EMPTY, SPARE, longer
from infoset.jit import inline_kernel, kernel
from infoset.randomness import FIRST_MIX, SECOND_MIX

UNKNOWN = -1  # a state that was never met, and all behind it
NO_ROW = -1
STATES, ENTRIES = range(2)


class InfosetTable(NamedTuple):
    """``filled`` holds how many states and entries there are."""

    slots: LongArray  # (a power of two, 2) key and number of a state; the key says it all: one look into memory
    parent: IntArray  # (states,)
    token: IntArray  # (states,)
    row: IntArray  # (states,) first entry of its row, or NO_ROW
    size: IntArray  # (states,) length of its row
    regret: FloatArray  # (entries,)
    average: FloatArray  # (entries,) sum of the strategies played, as they are weighted
    filled: LongArray  # (2,)

    @classmethod
    def empty(cls, players: int) -> InfosetTable:
        """Nothing but where the players start."""
        none = np.zeros(0, dtype=np.int32)
        filled = np.zeros(2, dtype=np.int64)
        table = cls(np.full((1, 2), EMPTY, dtype=np.int64), none, none, none, none, np.zeros(0), np.zeros(0), filled)
        table = table.with_room(players, 0)
        for player in range(players):
            add_state(table, EMPTY, player)
        return table

    def with_room(self, states: int, entries: int) -> InfosetTable:
        """As it is, or with twice the room, for so many more states and entries."""
        known, used = self.filled.tolist()
        needed, slots = known + states, self.slots
        parent, token = longer(self.parent, needed), longer(self.token, needed)
        if needed * SPARE > len(slots):
            slots = np.full((1 << int(needed * 2 * SPARE).bit_length(), 2), EMPTY, dtype=np.int64)
            place_states(slots, parent, token, known)
        row, size = longer(self.row, needed), longer(self.size, needed)
        regret, average = longer(self.regret, used + entries), longer(self.average, used + entries)
        return InfosetTable(slots, parent, token, row, size, regret, average, self.filled)

    @property
    def num_infosets(self) -> int:
        """States with a choice."""
        return int((self.row[: self.filled[STATES]] != NO_ROW).sum())

    def average_behaviour(self) -> FloatArray:
        """(entries,) the average strategy of every row, uniform where nothing was averaged."""
        behaviour = np.empty(int(self.filled[ENTRIES]))
        normalise_rows(self.row[: self.filled[STATES]], self.size, self.average, behaviour)
        return behaviour

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self)


@kernel
def normalise_rows(rows, sizes, weights, behaviour):
    """Rows of weights as distributions."""
    for state in range(len(rows)):
        row, size = rows[state], sizes[state]
        if row == NO_ROW:
            continue
        total = 0.0
        for k in range(size):
            total += weights[row + k]
        for k in range(size):
            behaviour[row + k] = weights[row + k] / total if total > 0.0 else 1.0 / size


@inline_kernel
def state_key(parent, token):
    return (np.int64(parent) + 1) << 32 | np.int64(token)


@inline_kernel
def find_slot(slots, key):
    """Where a state is, or would be."""
    word = np.uint64(key)
    word = (word ^ (word >> np.uint64(30))) * FIRST_MIX
    word = (word ^ (word >> np.uint64(27))) * SECOND_MIX
    last = np.uint64(len(slots) - 1)
    slot = (word ^ (word >> np.uint64(31))) & last
    while slots[slot, 0] != EMPTY and slots[slot, 0] != key:
        slot = (slot + np.uint64(1)) & last
    return slot


@kernel
def place_states(slots, parent, token, count):
    """Fill an empty table of slots."""
    for k in range(count):
        key = state_key(parent[k], token[k])
        slot = find_slot(slots, key)
        slots[slot, 0], slots[slot, 1] = key, k


@kernel
def add_state(table, parent, token):
    """The state behind ``parent``, new or known."""
    key = state_key(parent, token)
    slot = find_slot(table.slots, key)
    if table.slots[slot, 0] == EMPTY:
        found = table.filled[STATES]
        table.slots[slot, 0], table.slots[slot, 1] = key, found
        table.parent[found], table.token[found], table.row[found] = parent, token, NO_ROW
        table.filled[STATES] = found + 1
    return np.int32(table.slots[slot, 1])


@kernel
def add_row(table, state, size):
    """The first entry of the state's row, new or known."""
    row = table.row[state]
    if row == NO_ROW:
        row = table.filled[ENTRIES]
        table.row[state], table.size[state] = row, size
        table.filled[ENTRIES] = row + size
    return row
