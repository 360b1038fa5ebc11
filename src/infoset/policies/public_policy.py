"""A policy in pieces: one table for each public position, by the player's moves and observations since then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from infoset.base import Action, InformationState
from infoset.compiled import Compiled
from infoset.errors import PolicyError, shorten
from infoset.files import DamageError, check_rows, policy_path
from infoset.policies.archive import SCHEMA, Header, read_archive, reading, write_archive
from infoset.policies.tabular import TabularPolicy
from infoset.tree.graph import NO_RECORD, GameGraph
from infoset.tree.steps import Steps, steps

MAX_CACHED_PLAYS = 1 << 16  # the number of information states whose places are cached


class _Header(Header):
    players: list[str]
    made_by: dict[str, Any]
    positions: int
    keys: list[list[list[str]]]
    actions: list[list[list[list[str]]]]


@dataclass(frozen=True, eq=False)
class PublicPolicy:
    """A policy in pieces: ``pieces[k]`` is the table from the public position ``roots[k]`` of the game's graph on.

    The roots are in topological order.
    """

    game: str
    players: tuple[str, ...]
    positions: int
    """The number of positions of the graph in which the roots are numbered."""
    roots: tuple[int, ...]
    pieces: tuple[TabularPolicy, ...] = field(repr=False)
    made_by: Mapping[str, Any] = field(default_factory=dict)

    mark: ClassVar[str] = "roots"
    """An array that identifies its files."""

    @property
    def num_infosets(self) -> int:
        """The number of information sets, of all pieces together."""
        return sum(piece.num_infosets for piece in self.pieces)

    def on(self, compiled: Compiled) -> PublicPlay:
        """Return its policy on a game.  Raises ``PolicyError`` where it was made for another game."""
        graph = compiled.graph
        if (len(graph.player), graph.players) != (self.positions, self.players):
            raise PolicyError(f"the policy was made for {shorten(self.game)}, not for {graph.name} as it is here")
        return PublicPlay(self, graph)

    def save(self, path: str | Path) -> Path:
        """Write an ``.npz`` file, in full or not at all; return the path."""
        header = _Header(
            SCHEMA, self.game, list(self.players), dict(self.made_by), self.positions,
            [[list(table) for table in piece.tables] for piece in self.pieces],
            [[[list(row) for row in table.values()] for table in piece.tables] for piece in self.pieces],
        )  # fmt: skip
        flat = [p for piece in self.pieces for table in piece.tables for row in table.values() for p in row.values()]
        arrays = {"roots": np.array(self.roots, dtype=np.int64), "probabilities": np.array(flat, dtype=np.float64)}
        return write_archive(path, header, arrays, "a policy in pieces")

    @classmethod
    def load(cls, path: str | Path) -> PublicPolicy:
        """Read a saved policy, or that of a run's folder; no code in it is run.  Raises ``PolicyError``."""
        with reading(path):
            header, arrays = read_archive(policy_path(path), _Header)
            for keys, actions in zip(header.keys, header.actions, strict=True):
                for names, rows in zip(keys, actions, strict=True):
                    check_rows(names, rows)
            roots, flat = arrays["roots"].astype(np.int64).ravel().tolist(), arrays["probabilities"].ravel().tolist()
            supply = iter(map(float, flat))
            pieces = tuple(
                TabularPolicy(
                    header.game,
                    tuple(header.players),
                    tuple(
                        {key: {action: next(supply) for action in row} for key, row in zip(names, rows, strict=True)}
                        for names, rows in zip(keys, actions, strict=True)
                    ),
                )
                for keys, actions in zip(header.keys, header.actions, strict=True)
            )
            _check(header, roots, len(pieces))
        return cls(header.game, tuple(header.players), header.positions, tuple(roots), pieces, header.made_by)


def _check(header: _Header, roots: list[int], pieces: int) -> None:
    """Raise ``ValueError`` unless roots and tables are those of a policy."""
    rising = all(before < after for before, after in pairwise(sorted(roots)))
    if len(roots) != pieces or not rising or not all(0 <= root < header.positions for root in roots):
        raise DamageError("its roots and tables do not fit together")


class PublicPlay:
    """A policy in pieces in play: tracks the possible positions; a table begins where a single public one is left."""

    def __init__(self, policy: PublicPolicy, graph: GameGraph) -> None:
        self.policy, self.graph = policy, graph
        self.number = {record: k for k, record in enumerate(graph.records)}
        self.places: dict[tuple[int, InformationState], _Place] = {}

    @cached_property
    def _actions(self) -> Steps:
        return steps(self.graph)

    @cached_property
    def _table_of(self) -> dict[int, int]:
        """The piece that begins at a row of the steps."""
        row_of = {position: k for k, position in enumerate(self._actions.position.tolist())}
        return {row_of[root]: k for k, root in enumerate(self.policy.roots) if root in row_of}

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> list[float] | None:
        """Return the probabilities of the current piece, given the player's records within it."""
        place = self._place(player, infostate)
        return self.policy.pieces[place.piece].action_probabilities(player, infostate[place.begin :], legal_actions)

    def _place(self, player: int, infostate: InformationState) -> _Place:
        """Return the player's place after these records, computed from their longest known prefix."""
        if len(self.places) > MAX_CACHED_PLAYS:
            self.places.clear()
        end = len(infostate)
        while end and (player, infostate[:end]) not in self.places:
            end -= 1
        place = self.places.get((player, infostate[:end])) or _Place(self._unseen({0}, player), 0, 0)
        at_start = int(end == 0 and bool(infostate) and self.graph.start_records[player] != NO_RECORD)
        for k in range(end + at_start, len(infostate)):  # the observation of the start is always the same
            place = self._after(place, player, self.number.get(infostate[k], NO_RECORD), k + 1)
            self.places[player, infostate[: k + 1]] = place
        return place

    def _after(self, place: _Place, player: int, record: int, end: int) -> _Place:
        first, target, seen = self._actions.first, self._actions.target, self._actions.record
        after = {
            int(target[e])
            for row in place.support
            for e in range(int(first[row]), int(first[row + 1]))
            if record != NO_RECORD and seen[e, player] == record
        }
        if len(after) == 1 and (root := next(iter(after))) in self._table_of:
            return _Place(self._unseen(after, player), self._table_of[root], end)
        return _Place(self._unseen(after, player), place.piece, place.begin)

    def _unseen(self, support: set[int], player: int) -> frozenset[int]:
        """Add the positions that may be reached without the player's notice."""
        actions, todo = self._actions, list(support)
        while todo:
            row = todo.pop()
            for e in range(int(actions.first[row]), int(actions.first[row + 1])):
                target = int(actions.target[e])
                if actions.record[e, player] == NO_RECORD and target not in support:
                    support.add(target)
                    todo.append(target)
        return frozenset(support)


@dataclass(frozen=True)
class _Place:
    """The place of a player: possible rows of the steps, the current piece, and the number of records before it."""

    support: frozenset[int]
    piece: int
    begin: int
