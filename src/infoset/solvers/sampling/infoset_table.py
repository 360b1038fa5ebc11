"""A growing table of information states as they are met, for games whose sets fit into memory but not their histories.

A state is its parent followed by one more record, numbered in order of first appearance; player p starts in state p.
Where a player has a choice, the state owns a row of entries, one for each move in the order of the action set.  Of
states that are equal by the game's symmetries only one is kept (``tree.quotient_graph``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.files import DamageError
from infoset.interning import EMPTY, SPARE, find_slot, longer, place_states, state_key
from infoset.jit import borrowing, inner_kernel, kernel, linked_kernel
from infoset.policies.infoset_policy import NO_ROW, InfosetPolicy
from infoset.tree.quotient_graph import everything, still_fixing
from infoset.tree.symmetry import Group

STATES, ENTRIES = range(2)


class InfosetTable(NamedTuple):
    """Information states with rows of regrets and averages; ``filled`` holds the numbers of states and entries."""

    slots: LongArray  # (a power of two, 2) key and number of a state; the key is complete, so one access suffices
    parent: IntArray  # (states,)
    record: IntArray  # (states,)
    fixing: LongArray  # (states,) the symmetries that leave the state unchanged, as bits
    row: IntArray  # (states,) first entry of its row, or NO_ROW
    action_set: IntArray  # (states,) the action set of its row
    regret: FloatArray  # (entries,)
    average: FloatArray  # (entries,) weighted sum of the strategies played
    filled: LongArray  # (2,)

    @classmethod
    def empty(cls, players: int, group: Group) -> InfosetTable:
        """Return a table with only the players' initial states."""
        none, long = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        slots, filled = np.full((1, 2), EMPTY, dtype=np.int64), np.zeros(2, dtype=np.int64)
        table = cls(slots, none, none, long, none, none, np.zeros(0), np.zeros(0), filled).with_room(players, 0)
        for player in range(players):
            table.parent[player], table.record[player], table.row[player] = EMPTY, player, NO_ROW
            table.fixing[player] = everything(group)
        table.filled[STATES] = players
        place_states(table.slots, table.parent, table.record, players)
        return table

    def with_room(self, states: int, entries: int) -> InfosetTable:
        """Return the table with capacity for ``states`` and ``entries`` more, doubling it where needed."""
        num_states, used = self.filled.tolist()
        needed, slots = num_states + states, self.slots
        parent, record = longer(self.parent, needed), longer(self.record, needed)
        if needed * SPARE > len(slots):
            slots = np.full((1 << int(needed * 2 * SPARE).bit_length(), 2), EMPTY, dtype=np.int64)
            place_states(slots, parent, record, num_states)
        fixing, row, action_set = longer(self.fixing, needed), longer(self.row, needed), longer(self.action_set, needed)
        regret, average = longer(self.regret, used + entries), longer(self.average, used + entries)
        return InfosetTable(slots, parent, record, fixing, row, action_set, regret, average, self.filled)

    @property
    def num_infosets(self) -> int:
        """The number of states with a choice."""
        return int((self.row[: self.filled[STATES]] != NO_ROW).sum())

    def average_behaviour(self, group: Group, least: float = 0.0) -> FloatArray:
        """Return (entries,) the average strategy of every row, uniform where nothing was averaged.

        Moves with a probability below ``least`` are left out, as remnants of the first iterations.
        """
        behaviour = np.empty(int(self.filled[ENTRIES]))
        normalise_rows(
            self.row[: self.filled[STATES]], self.action_set, group.first_entry, self.average, least, behaviour
        )
        return behaviour

    def policy(self, behaviour: FloatArray) -> InfosetPolicy:
        """Return the policy with the table's states and a ``behaviour`` for its entries."""
        size = int(self.filled[STATES])
        return InfosetPolicy.of(self.parent[:size], self.record[:size], self.fixing[:size], self.row[:size], behaviour)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self)

    def check(self, group: Group) -> None:
        """Raise ``DamageError`` for arrays that are unsafe for kernels, which check no bounds."""
        columns = (self.parent, self.record, self.fixing, self.row, self.action_set)
        if self.filled.shape != (2,) or self.slots.ndim != 2 or self.slots.shape[1] != 2:
            raise DamageError("its table of information states has no such shape")
        (num_states, used), room = self.filled.tolist(), len(self.parent)
        if not 0 <= num_states <= room or {len(column) for column in columns} != {room}:
            raise DamageError("its information states do not fit together")
        if not 0 <= used <= len(self.regret) or len(self.regret) != len(self.average):
            raise DamageError("its entries do not fit its information states")
        number, slots = np.arange(num_states), self.slots[self.slots[:, 0] != EMPTY]
        if len(self.slots) & (len(self.slots) - 1) or len(slots) == len(self.slots):  # lookups would never end
            raise DamageError("its table of information states is no hash table")
        if (slots[:, 1] < 0).any() or (slots[:, 1] >= num_states).any():
            raise DamageError("its table names information states that it does not have")
        parent, chosen = self.parent[:num_states], np.flatnonzero(self.row[:num_states] != NO_ROW)
        if (parent >= number).any() or (parent[:1] >= 0).any() or (self.record[:num_states] < 0).any():
            raise DamageError("its information states are no tree")
        inner = parent >= 0
        if (self.record[:num_states][inner] >= group.record.shape[1]).any():
            raise DamageError("its information states have records that the game does not have")
        action_set, row = self.action_set[chosen], self.row[chosen].astype(np.int64)
        if (action_set < 0).any() or (action_set >= len(group.first_entry) - 1).any():
            raise DamageError("its information states have moves that the game does not have")
        if (row < 0).any() or (row + np.diff(group.first_entry)[action_set] > used).any():
            raise DamageError("its rows lie outside of its entries")


def pooled(tables: Sequence[InfosetTable], group: Group) -> InfosetTable:
    """Return all states of several tables with the sum of their averages, without regrets."""
    players = int((tables[0].parent[: tables[0].filled[STATES]] < 0).sum())
    total = InfosetTable.empty(players, group)
    for table in tables:
        states, entries = table.filled.tolist()
        total = total.with_room(states, entries)
        add_averages(total, table, group, np.zeros(states, dtype=np.int32))
    return total


@kernel
@borrowing
def add_averages(total: InfosetTable, table: InfosetTable, group: Group, number: IntArray) -> None:
    """Add one table's averages to another's, which has room for its states; ``number`` is scratch, one per state."""
    for k in range(len(number)):
        parent = table.parent[k]
        number[k] = k if parent < 0 else add_state(total, group, number[parent], table.record[k])
        first, action_set = table.row[k], table.action_set[k]
        if first != NO_ROW:
            size = group.first_entry[action_set + 1] - group.first_entry[action_set]
            row = add_row(total, number[k], action_set, size)
            for m in range(size):
                total.average[row + m] += table.average[first + m]


@kernel
@borrowing
def normalise_rows(
    rows: IntArray,
    action_sets: IntArray,
    first_entry: IntArray,
    weights: FloatArray,
    least: float,
    behaviour: FloatArray,
) -> None:
    """Write rows of weights as distributions, without the shares below ``least``."""
    for state in range(len(rows)):
        row, size = rows[state], first_entry[action_sets[state] + 1] - first_entry[action_sets[state]]
        if row == NO_ROW:
            continue
        total = 0.0
        for k in range(row, row + size):
            total += weights[k]
        bar, mass = min(least, 1.0 / size) * total, 0.0
        for k in range(row, row + size):
            mass += weights[k] if weights[k] >= bar else 0.0
        for k in range(row, row + size):
            share = weights[k] / mass if mass > 0.0 else 1.0 / size
            behaviour[k] = share if weights[k] >= bar else 0.0


@inner_kernel
@borrowing
def add_state(table: InfosetTable, group: Group, parent: int, record: int) -> np.int32:
    """Return the state that follows ``parent``, adding new ones; ``record`` is the least of those equal by symmetry."""
    key = state_key(parent, record)
    slot = find_slot(table.slots, key)
    if table.slots[slot, 0] == EMPTY:
        found = table.filled[STATES]
        table.slots[slot, 0], table.slots[slot, 1] = key, found
        table.parent[found], table.record[found], table.row[found] = parent, record, NO_ROW
        table.fixing[found] = still_fixing(group, table.fixing[parent], record)
        table.filled[STATES] = found + 1
    return np.int32(table.slots[slot, 1])


@linked_kernel
@borrowing
def add_row(table: InfosetTable, state: int, action_set: int, size: int) -> int:
    """Return the first entry of the state's row, adding the row if it is new."""
    row: int = table.row[state]
    if row == NO_ROW:
        row = table.filled[ENTRIES]
        table.row[state], table.action_set[state] = row, action_set
        table.filled[ENTRIES] = row + size
    return row
