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

from infoset.base import Action, Game, InformationState, JointAction, Mapped, ObservationRecord, State
from infoset.errors import BudgetError
from infoset.names import action_names, format_action, information_key

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
    infostate: tuple[InformationState, ...]


class Cause(NamedTuple):
    """The step by which a world was reached."""

    movers: tuple[int, ...]
    """The players who had a choice."""
    actions: tuple[Action | None, ...]
    chance_outcome: Action | None
    records: tuple[object, ...]
    """Each player's observation."""


@dataclass
class InfosetHere:
    """An information set in which somebody moves at a public position."""

    player: int
    key: str
    infostate: InformationState
    actions: tuple[str, ...]
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
        self._pending: dict[World, tuple[float, Cause]] = {}
        self._over: dict[tuple[object, ...], tuple[float, Cause]] = {}
        self._until = time.monotonic() + MAX_SECONDS
        self._grow(worlds)
        self.branches = self._branches()
        self._members, self._pending, self._over = {}, {}, {}

    def _grow(self, worlds: dict[World, float]) -> None:
        """Follow the game until everybody has learnt something; worlds that are joined to earlier ones stay inside."""
        beginnings: list[set[InformationState]] = [set() for _ in self.walk.game.players]
        todo = worlds
        while todo:
            fresh: dict[World, float] = {}
            for world, weight in todo.items():
                self._check()
                self._members[world] = None
                for player, infostate in enumerate(world.infostate):
                    beginnings[player].update(infostate[:k] for k in range(len(infostate) + 1))
                for after, share, cause in self._steps(world, weight):
                    if after.state.terminal:
                        key = (
                            (cause.movers, cause.actions)
                            if cause.chance_outcome is None
                            else (cause.movers, cause.chance_outcome)
                        )
                        self._over[key] = (self._over.get(key, (0.0, cause))[0] + share, cause)
                    elif any(a is b for a, b in zip(after.infostate, world.infostate, strict=True)):
                        fresh[after] = fresh.get(after, 0.0) + share
                    else:
                        before = self._pending.get(after, (0.0, cause))[0]
                        self._pending[after] = (before + share, cause)
            for after in [w for w in self._pending if any(k in beginnings[p] for p, k in enumerate(w.infostate))]:
                fresh[after] = fresh.get(after, 0.0) + self._pending.pop(after)[0]
            todo = fresh

    def _check(self) -> None:
        size = len(self._members) + len(self._pending)
        if size > MAX_WORLDS or time.monotonic() > self._until:
            raise BudgetError(
                f"{self.walk.game.name}: the public state has too many histories to be computed ({size:,} so far)"
            )

    def _steps(self, world: World, weight: float) -> Iterator[tuple[World, float, Cause]]:
        state, players = world.state, range(len(world.infostate))
        movers = tuple([p for p in players if state.legal_actions(p)])
        action_sets = [state.legal_actions(p) for p in movers]
        probabilities = [
            self._probabilities(p, world, action_set, weight) for p, action_set in zip(movers, action_sets, strict=True)
        ]
        choosing = tuple([p for p, action_set in zip(movers, action_sets, strict=True) if len(action_set) > 1])
        for picks in product(*[range(len(action_set)) for action_set in action_sets]):
            actions: list[Action | None] = [None] * len(world.infostate)
            share = weight
            for p, action_set, row, k in zip(movers, action_sets, probabilities, picks, strict=True):
                actions[p] = action_set[k]
                share *= row[k]
            for answer, probability in state.chance_outcomes(actions) or ((None, 1.0),):
                yield self._after(world, choosing, actions, answer, share * probability)

    def _after(
        self, world: World, choosing: tuple[int, ...], actions: JointAction, answer: Action | None, share: float
    ) -> tuple[World, float, Cause]:
        step = world.state.play(actions, answer)
        seen = [step.observation(p) for p in range(len(world.infostate))]
        for action, what in zip(actions, seen, strict=True):
            self.walk.rank.setdefault((action, () if what is None else what), len(self.walk.rank))
        infostate = tuple([
            k if action is None and what is None else (*k, (action, () if what is None else what))
            for k, action, what in zip(world.infostate, actions, seen, strict=True)
        ])  # fmt: skip
        done = tuple([actions[p] for p in choosing])
        return World(step.state, infostate), share, Cause(choosing, done, answer, tuple(seen))

    def _probabilities(
        self, player: int, world: World, action_set: tuple[Action, ...], weight: float
    ) -> Sequence[float]:
        if len(action_set) == 1:
            return [1.0]
        infostate = world.infostate[player]
        key = self.walk.key(player, world)
        here = self.infosets.get((player, key))
        if here is None:
            row = self.walk.row(player, infostate, key, action_set)
            here = InfosetHere(player, key, infostate, action_names(action_set), None if row is None else list(row))
            self.infosets[player, key] = here
        here.reach += weight
        return here.probabilities or [1 / len(action_set)] * len(action_set)

    def _branches(self) -> list[Branch]:
        found: list[Branch] = []
        for group in self._joined(list(self._pending)):
            worlds = {world: self._pending[world][0] for world in group}
            label, by = self._label_of([self._pending[world][1] for world in group])
            found.append(Branch(label, by, sum(worlds.values()), False, worlds))
        ends: dict[tuple[str, int], float] = {}
        for share, cause in self._over.values():
            label_of_cause = self._label_of([cause])
            ends[label_of_cause] = ends.get(label_of_cause, 0.0) + share
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
                parent[root(k)] = root(first.setdefault(world.infostate[player], k))
            shortest = min((len(infostate) for infostate in first), default=0)
            for infostate, k in first.items():
                for length in range(shortest, len(infostate)):
                    if infostate[:length] in first:
                        parent[root(k)] = root(first[infostate[:length]])
        groups: dict[int, list[World]] = {}
        for k, world in enumerate(worlds):
            groups.setdefault(root(k), []).append(world)
        return list(groups.values())

    def _label_of(self, causes: list[Cause]) -> tuple[str, int]:
        """Return a label of what happened, as far as it is public, and who did it."""
        movers = {cause.movers for cause in causes}
        alone = next(iter(movers)) if len(movers) == 1 else (0, 0)
        by = SEVERAL if len(alone) > 1 else alone[0] if alone else CHANCE_OUTCOME
        for what in ({(cause.actions, cause.chance_outcome) for cause in causes}, {(c.actions, None) for c in causes}):
            if len(what) == 1:
                actions, chance_outcome = next(iter(what))
                if words := [
                    format_word(part) for part in (*actions, *([] if chance_outcome is None else [chance_outcome]))
                ]:
                    return " · ".join(words), by
        for player in range(len(self.walk.game.players)):
            seen = {cause.records[player] for cause in causes}
            if len(seen) == 1 and (one := next(iter(seen))) not in (None, ()):
                return format_word(one), by
        words = sorted({" · ".join(map(format_word, cause.actions)) for cause in causes} - {""})
        return (" / ".join(words) if 0 < len(words) <= SHOWN_WORDS else HIDDEN), by

    def _in_order(self, branches: list[Branch]) -> list[Branch]:
        """Return the branches in the order of the moves in the action sets."""
        order = [action for here in self.infosets.values() for action in here.actions]
        place = {action: k for k, action in reversed(list(enumerate(order)))}
        return sorted(branches, key=lambda branch: (place.get(branch.label, len(order)), branch.ends))

    def rows(self) -> list[InfosetHere]:
        """Return the information sets by player, then in the order in which their observations were first met."""
        rank = self.walk.rank
        return sorted(
            self.infosets.values(),
            key=lambda here: (here.player, [rank.get(record, 0) for record in here.infostate]),
        )

    def successor(self, number: int) -> PublicNode:
        """Return the position that a branch leads to, made at the first request.  Raises ``BudgetError``."""
        branch = self.branches[number]
        if branch.node is None:
            branch.node = PublicNode(self.walk, branch.worlds)
        return branch.node


class PublicWalk:
    """The public positions of a game in which everybody plays by ``row``.

    >>> from infoset.tree.public_walk import PublicWalk
    >>> walk = PublicWalk(infoset.load("kuhn_poker"), lambda player, infostate, key, actions: None)
    >>> sorted(key for player, key in walk.start.infosets)          # P1, whatever card it holds
    ['J', 'K', 'Q']
    >>> [branch.label for branch in walk.start.branches]
    ['pass', 'bet']
    >>> sorted(key for player, key in walk.start.successor(1).infosets)
    ['J bet', 'K bet', 'Q bet']
    """

    def __init__(self, game: Game, row: Row) -> None:
        self.game, self.row = game, row
        self.rank: dict[ObservationRecord, int] = {}
        self.map = game.information_map if isinstance(game, Mapped) else None
        step = game.start()
        infostate = []
        for player in range(len(game.players)):
            seen = step.observation(player)
            infostate.append(() if seen is None else ((None, seen),))
        self.start = PublicNode(self, {World(step.state, tuple(infostate)): 1.0})

    def key(self, player: int, world: World) -> str:
        """Return the readable name of the information set in which a player moves."""
        if self.map is None:
            return information_key(world.infostate[player])
        label: Hashable = self.map.key(world.state, player)
        return label if isinstance(label, str) else format_action(label)


def format_word(part: object) -> str:
    """Return a move or observation as it is shown: a text as it is."""
    return part if isinstance(part, str) else format_action(part)
