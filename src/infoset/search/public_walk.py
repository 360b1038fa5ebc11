"""Walk the public positions of a game one by one: what everybody knows, derived from the game's rules alone.

Two worlds (a state, and each player's information state there) belong to one public position if somebody cannot tell
them apart, or if a chain of such pairs joins them: then nobody can be sure that everybody knows which it is.  A public
position holds all worlds joined in this way; the public positions of a game form a tree.  Only the worlds of the
positions on the way are computed, so that a game far too large for its tree can be walked where little is hidden.
Where somebody observes nothing for a while (an observation of ``None``: not even that time has passed), the position
extends over several moves, and information sets of several depths belong to it; in the extreme it is the whole game.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from infoset.base import Action, Game, InformationState, JointMove, Mapped, ObservationRecord, State
from infoset.errors import BudgetError
from infoset.names import format_action, information_key, move_words

CHANCE_OUTCOME = -1
SEVERAL = -2
"""The author of a step that no single player made."""
MAX_WORLDS = 20_000
MAX_SECONDS = 2.0
SHOWN_WORDS = 3  # most alternatives shown of what happened, where that is not public
HIDDEN = "hidden"

Row = Callable[[int, InformationState, str, tuple[Action, ...]], "Sequence[float] | None"]
"""A function that returns a player's move probabilities from its number, information state, key and moves."""


class World(NamedTuple):
    """A possible state, and each player's information state there."""

    state: State
    known: tuple[InformationState, ...]


class Cause(NamedTuple):
    """The step by which a world was reached."""

    movers: tuple[int, ...]
    """The players who had a choice."""
    moves: tuple[Action | None, ...]
    chance_outcome: Action | None
    records: tuple[object, ...]
    """Each player's observation."""


@dataclass
class InfosetHere:
    """An information set in which somebody moves at a public position."""

    player: int
    key: str
    known: InformationState
    moves: tuple[str, ...]
    probabilities: list[float] | None
    """``None`` where the policy gives none: then all moves are equally likely."""
    reach: float = 0.0


@dataclass
class Branch:
    """A continuation of a public position."""

    label: str
    by: int
    """The player who moved, ``CHANCE_OUTCOME`` or ``SEVERAL``."""
    reach: float
    ends: bool
    worlds: dict[World, float] = field(repr=False)
    node: PublicNode | None = None


class PublicNode:
    """A public position: the worlds that lead into it, the decisions made there, and its branches."""

    def __init__(self, walk: PublicWalk, worlds: dict[World, float]) -> None:
        self.walk = walk
        self.reach = sum(worlds.values())
        self.infosets: dict[tuple[int, str], InfosetHere] = {}
        self._members: dict[World, None] = {}
        self._behind: dict[World, tuple[float, Cause]] = {}
        self._over: dict[tuple[object, ...], tuple[float, Cause]] = {}
        self._until = time.monotonic() + MAX_SECONDS
        self._grow(worlds)
        self.branches = self._branches()
        self._members, self._behind, self._over = {}, {}, {}

    def _grow(self, worlds: dict[World, float]) -> None:
        """Follow the game until everybody has learnt something; worlds that are joined to earlier ones stay inside."""
        beginnings: list[set[InformationState]] = [set() for _ in self.walk.game.players]
        todo = worlds
        while todo:
            fresh: dict[World, float] = {}
            for world, weight in todo.items():
                self._check()
                self._members[world] = None
                for player, known in enumerate(world.known):
                    beginnings[player].update(known[:k] for k in range(len(known) + 1))
                for after, share, cause in self._steps(world, weight):
                    if after.state.terminal:
                        key = (
                            (cause.movers, cause.moves)
                            if cause.chance_outcome is None
                            else (cause.movers, cause.chance_outcome)
                        )
                        self._over[key] = (self._over.get(key, (0.0, cause))[0] + share, cause)
                    elif any(a is b for a, b in zip(after.known, world.known, strict=True)):
                        fresh[after] = fresh.get(after, 0.0) + share
                    else:
                        before = self._behind.get(after, (0.0, cause))[0]
                        self._behind[after] = (before + share, cause)
            for after in [w for w in self._behind if any(k in beginnings[p] for p, k in enumerate(w.known))]:
                fresh[after] = fresh.get(after, 0.0) + self._behind.pop(after)[0]
            todo = fresh

    def _check(self) -> None:
        size = len(self._members) + len(self._behind)
        if size > MAX_WORLDS or time.monotonic() > self._until:
            raise BudgetError(
                f"{self.walk.game.name}: too much is hidden to compute the public state "
                f"({size:,} possible worlds so far)"
            )

    def _steps(self, world: World, weight: float) -> Iterator[tuple[World, float, Cause]]:
        state, players = world.state, range(len(world.known))
        movers = tuple([p for p in players if state.legal_actions(p)])
        action_sets = [state.legal_actions(p) for p in movers]
        probabilities = [
            self._probabilities(p, world, action_set, weight) for p, action_set in zip(movers, action_sets, strict=True)
        ]
        choosing = tuple([p for p, action_set in zip(movers, action_sets, strict=True) if len(action_set) > 1])
        for picks in product(*[range(len(action_set)) for action_set in action_sets]):
            moves: list[Action | None] = [None] * len(world.known)
            share = weight
            for p, action_set, row, k in zip(movers, action_sets, probabilities, picks, strict=True):
                moves[p] = action_set[k]
                share *= row[k]
            for answer, probability in state.chance_outcomes(moves) or ((None, 1.0),):
                yield self._after(world, choosing, moves, answer, share * probability)

    def _after(
        self, world: World, choosing: tuple[int, ...], moves: JointMove, answer: Action | None, share: float
    ) -> tuple[World, float, Cause]:
        step = world.state.play(moves, answer)
        seen = [step.observation(p) for p in range(len(world.known))]
        for move, what in zip(moves, seen, strict=True):
            self.walk.rank.setdefault((move, () if what is None else what), len(self.walk.rank))
        known = tuple([
            k if move is None and what is None else (*k, (move, () if what is None else what))
            for k, move, what in zip(world.known, moves, seen, strict=True)
        ])  # fmt: skip
        done = tuple([moves[p] for p in choosing])
        return World(step.state, known), share, Cause(choosing, done, answer, tuple(seen))

    def _probabilities(
        self, player: int, world: World, action_set: tuple[Action, ...], weight: float
    ) -> Sequence[float]:
        if len(action_set) == 1:
            return [1.0]
        known = world.known[player]
        key = self.walk.key(player, world)
        here = self.infosets.get((player, key))
        if here is None:
            row = self.walk.row(player, known, key, action_set)
            here = InfosetHere(player, key, known, move_words(action_set), None if row is None else list(row))
            self.infosets[player, key] = here
        here.reach += weight
        return here.probabilities or [1 / len(action_set)] * len(action_set)

    def _branches(self) -> list[Branch]:
        found: list[Branch] = []
        for group in self._joined(list(self._behind)):
            worlds = {world: self._behind[world][0] for world in group}
            label, by = self._told([self._behind[world][1] for world in group])
            found.append(Branch(label, by, sum(worlds.values()), False, worlds))
        ends: dict[tuple[str, int], float] = {}
        for share, cause in self._over.values():
            told = self._told([cause])
            ends[told] = ends.get(told, 0.0) + share
        found += [Branch(label, by, reach, True, {}) for (label, by), reach in ends.items()]
        count: dict[tuple[str, bool], int] = {}
        branches = self._in_order(found)
        for branch in branches:
            k = count[branch.label, branch.ends] = count.get((branch.label, branch.ends), 0) + 1
            if k > 1:
                branch.label += f" ({k})"
        return branches

    def _joined(self, worlds: list[World]) -> list[list[World]]:
        """Group worlds that somebody cannot tell apart, or may not be able to later: one knows less than the other."""
        parent = list(range(len(worlds)))

        def root(k: int) -> int:
            while parent[k] != k:
                parent[k] = k = parent[parent[k]]
            return k

        for player in range(len(self.walk.game.players)):
            first: dict[InformationState, int] = {}
            for k, world in enumerate(worlds):
                parent[root(k)] = root(first.setdefault(world.known[player], k))
            shortest = min((len(known) for known in first), default=0)
            for known, k in first.items():
                for length in range(shortest, len(known)):
                    if known[:length] in first:
                        parent[root(k)] = root(first[known[:length]])
        groups: dict[int, list[World]] = {}
        for k, world in enumerate(worlds):
            groups.setdefault(root(k), []).append(world)
        return list(groups.values())

    def _told(self, causes: list[Cause]) -> tuple[str, int]:
        """Return a label of what happened, as far as it is public, and who did it."""
        movers = {cause.movers for cause in causes}
        alone = next(iter(movers)) if len(movers) == 1 else (0, 0)
        by = SEVERAL if len(alone) > 1 else alone[0] if alone else CHANCE_OUTCOME
        for what in ({(cause.moves, cause.chance_outcome) for cause in causes}, {(c.moves, None) for c in causes}):
            if len(what) == 1:
                moves, chance_outcome = next(iter(what))
                if words := [
                    format_word(part) for part in (*moves, *([] if chance_outcome is None else [chance_outcome]))
                ]:
                    return " · ".join(words), by
        for player in range(len(self.walk.game.players)):
            seen = {cause.records[player] for cause in causes}
            if len(seen) == 1 and (one := next(iter(seen))) not in (None, ()):
                return format_word(one), by
        words = sorted({" · ".join(map(format_word, cause.moves)) for cause in causes} - {""})
        return (" / ".join(words) if 0 < len(words) <= SHOWN_WORDS else HIDDEN), by

    def _in_order(self, branches: list[Branch]) -> list[Branch]:
        """Return the branches in the order of the moves in the action sets."""
        order = [move for here in self.infosets.values() for move in here.moves]
        place = {move: k for k, move in reversed(list(enumerate(order)))}
        return sorted(branches, key=lambda branch: (place.get(branch.label, len(order)), branch.ends))

    def rows(self) -> list[InfosetHere]:
        """Return the information sets by player, then in the order in which their observations were first met."""
        rank = self.walk.rank
        return sorted(
            self.infosets.values(),
            key=lambda here: (here.player, [rank.get(record, 0) for record in here.known]),
        )

    def behind(self, number: int) -> PublicNode:
        """Return the position that a branch leads to, made at the first request.  Raises ``BudgetError``."""
        branch = self.branches[number]
        if branch.node is None:
            branch.node = PublicNode(self.walk, branch.worlds)
        return branch.node


class PublicWalk:
    """The public positions of a game in which everybody plays by ``row``.

    >>> from infoset.search.public_walk import PublicWalk
    >>> walk = PublicWalk(infoset.load("kuhn_poker"), lambda player, known, key, moves: None)
    >>> sorted(key for player, key in walk.start.infosets)          # P1, whatever card it holds
    ['J', 'K', 'Q']
    >>> [branch.label for branch in walk.start.branches]
    ['pass', 'bet']
    >>> sorted(key for player, key in walk.start.behind(1).infosets)
    ['J bet', 'K bet', 'Q bet']
    """

    def __init__(self, game: Game, row: Row) -> None:
        self.game, self.row = game, row
        self.rank: dict[ObservationRecord, int] = {}
        self.map = game.information_map if isinstance(game, Mapped) else None
        step = game.start()
        known = []
        for player in range(len(game.players)):
            seen = step.observation(player)
            known.append(() if seen is None else ((None, seen),))
        self.start = PublicNode(self, {World(step.state, tuple(known)): 1.0})

    def key(self, player: int, world: World) -> str:
        """Return the readable name of the information set in which a player moves."""
        if self.map is None:
            return information_key(world.known[player])
        label: Hashable = self.map.key(world.state, player)
        return label if isinstance(label, str) else format_action(label)


def format_word(part: object) -> str:
    """Return a move or observation as it is shown: a text as it is."""
    return part if isinstance(part, str) else format_action(part)
