"""Deviations from a plan that a mediator drew: the recommendations received so far, and the player's alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from infoset.base import BoolArray, FloatArray, IntArray, LongArray
from infoset.tree.sequence_form import SequenceForm

KINDS = ("ce", "efce", "efcce", "cce")


class Deviation(NamedTuple):
    """One occasion to deviate from the plan."""

    recommended: int | LongArray
    """The sequence recommended to the player so far, the empty one where none is; or all sequences of its plan."""
    sets: tuple[int, ...]
    """The player's first information sets after leaving."""
    obeying: LongArray
    """The rows of terminal histories to which obeying may lead."""


class Leaver:
    """A player who may deviate; the rows of terminal histories after a set or a move are adjacent."""

    def __init__(self, form: SequenceForm, player: int) -> None:
        self.form, self.player = form, player
        ends, paid = form.terminals()
        a, own = form.arrays, form.player_sequences(player)
        self.start = own.start
        self.below: dict[int, list[int]] = {}
        for k in form.player_infosets(player):
            self.below.setdefault(int(a.parent[k]), []).append(k)
        self.order: list[int] = []  # sequences, each followed by all its descendants
        self.last: dict[int, int] = {}  # where the descendants of a sequence end
        self._walk()
        place = np.empty(own.stop - own.start, dtype=np.int64)
        place[np.array(self.order) - own.start] = np.arange(len(self.order))
        at = place[ends[:, player] - own.start]
        rows = np.argsort(at, kind="stable")
        self.place = place
        self.ends: IntArray = ends[rows]
        """(T, n) the players' sequences, ordered by this player's."""
        self.paid: FloatArray = paid[rows, player]
        """(T,) the player's payoff at each, times the probability of chance."""
        self.begins = np.searchsorted(at[rows], np.arange(len(self.order) + 1))

    def _walk(self) -> None:
        todo: list[tuple[int, bool]] = [(self.start, False)]
        while todo:
            sequence, done = todo.pop()
            if done:
                self.last[sequence] = len(self.order)
                continue
            self.order.append(sequence)
            todo.append((sequence, True))
            for k in reversed(self.below.get(sequence, [])):
                todo += [(action, False) for action in reversed(self.actions(k))]

    def actions(self, infoset: int) -> range:
        """Return the sequences of an information set's moves."""
        first = int(self.form.arrays.first[infoset])
        return range(first, first + int(self.form.arrays.size[infoset]))

    def rows(self, sequence: int) -> range:
        """Return the rows that end with a sequence of the player."""
        at = int(self.place[sequence - self.start])
        return range(int(self.begins[at]), int(self.begins[at + 1]))

    def rows_after(self, actions: range) -> LongArray:
        """Return the rows that end with moves of a set, or with their descendants."""
        at = int(self.place[actions[0] - self.start])
        return np.arange(self.begins[at], self.begins[self.last[actions[-1]]])

    def sets_after(self, sets: tuple[int, ...]) -> list[int]:
        """Return sets and all their descendants, parents first."""
        listed = list(sets)
        for k in listed:
            for action in self.actions(k):
                listed += self.below.get(action, [])
        return listed

    @cached_property
    def first_sets(self) -> tuple[int, ...]:
        """The sets that the player reaches without a move of its own."""
        return tuple(self.below.get(self.start, []))

    def deviations(self, kind: str, plans: BoolArray | None = None) -> Iterator[Deviation]:
        """Yield the occasions of a kind.  ``plans`` (K, S_player): the plans that may be recommended, for ``ce``."""
        rows = np.arange(self.rows(self.start).stop, len(self.ends))
        if kind == "cce":
            yield Deviation(self.start, self.first_sets, rows)
        elif kind == "ce":
            assert plans is not None
            for plan in plans:
                playing = np.flatnonzero(plan) + self.start
                yield Deviation(playing, self.first_sets, rows[plan[self.ends[rows, self.player] - self.start]])
        else:
            for k in self.form.player_infosets(self.player):
                actions = self.actions(k)
                if kind == "efcce":
                    yield Deviation(int(self.form.arrays.parent[k]), (k,), self.rows_after(actions))
                else:
                    for action in actions:
                        yield Deviation(action, (k,), self.rows_after(range(action, action + 1)))
