"""The cores of a ground game's states, and the players' own propositions besides, computed by compiled code.

A core is the propositions that are nobody's own (see ``private``), and the step number, since all players notice that
time passes.  Cores, players' own propositions, moves and records are numbers; ``tree.simultaneous_rules`` combines
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import Action, BoolArray, IntArray, LongArray, ObservationRecord
from infoset.gdl.private import Own, own_propositions
from infoset.gdl.rules import GdlRules, GdlState
from infoset.gdl.scalar import Net, Run, ScalarEvaluator, fresh_run, look, step
from infoset.interning import Rows, intern
from infoset.jit import kernel
from infoset.randomness import Words
from infoset.tree.simultaneous_rules import Outcomes

WORD = 64
NO_MOVE = UNKNOWN = -1


class Numbered(NamedTuple):
    """The values that are numbered on the way."""

    cores: Rows  # words of a state without anybody's own propositions, and the step
    percepts: Rows  # of one player in one step
    records: Rows  # (own move, percepts)
    own: Rows  # words of a player's own propositions


@kernel
def _offer(
    net: Net, run: Run, core: Words, own: Words, first: int, goals: npt.NDArray[np.uint8], offered: BoolArray
) -> None:
    """Write which of a role's moves, from ``first`` on, are legal with each of its own states, (K, M)."""
    state = np.empty_like(core)
    for k in range(len(own)):
        for word in range(len(core)):
            state[word] = core[word] | own[k, word]
        look(net, run, state, goals)
        for move in range(offered.shape[1]):
            literal = net.legal[first + move]
            offered[k, move] = run.value[literal >> 1] ^ (literal & 1)


@kernel
def _play(
    net: Net,
    run: Run,
    numbered: Numbered,
    seats: LongArray,
    first_percept: LongArray,
    core: Words,
    when: int,
    others: Words,
    choices: IntArray,
    begin: LongArray,
    moves: IntArray,
    found: LongArray,
) -> None:
    """Write each joint move's outcome, of ``choices`` that include chance's: core and everybody's records (J, 1 + n).

    ``moves`` (J, roles) receives the joint moves; ``others`` masks the propositions that are nobody's own.
    """
    roles = len(begin) - 1
    words, row = np.empty(len(core) + 1, np.int64), np.empty(len(run.seen) + 2, np.int64)
    for j in range(len(moves)):
        rest = j
        for role in range(roles - 1, -1, -1):
            count = begin[role + 1] - begin[role]
            moves[j, role] = choices[begin[role] + rest % count]
            rest //= count
        step(net, run, core, moves[j])
        for word in range(len(core)):
            words[word] = np.int64(run.next[word] & others[word])
        words[len(core)] = when
        found[j, 0] = intern(numbered.cores, words)
        for p in range(len(seats)):
            size = 0
            for k in range(first_percept[seats[p]], first_percept[seats[p] + 1]):
                row[size] = k
                size += run.seen[k]
            percepts = intern(numbered.percepts, row[:size])
            row[0], row[1] = moves[j, seats[p]], percepts
            found[j, 1 + p] = intern(numbered.records, row[:2])


class GroundCores:
    """The cores of a ground game, computed on request.

    >>> from infoset.gdl.cores import GroundCores
    >>> cores = GroundCores(infoset.load("gdl:blind_tic_tac_toe").rules)
    >>> int(cores.offered(cores.first, 0, np.array([0])).sum())           # of nine cells
    9
    """

    first = 0  # the initial core

    def __init__(self, rules: GdlRules, own: Sequence[Own] | None = None) -> None:
        assert isinstance(rules.evaluator, ScalarEvaluator) and rules.propnet is not None
        self.evaluator: ScalarEvaluator = rules.evaluator
        net, self.rules, self.net = rules.propnet, rules, rules.evaluator.net
        self.players, self.seats = rules.players, np.array(rules.seats)
        self.run = fresh_run(net, self.net)
        self.goals = np.zeros(len(net.goals), np.uint8)
        self.own = own_propositions(net, rules.seats) if own is None else own
        self.words = len(self.net.initial)
        self.mine = np.stack([_as_words(own.propositions, self.words) for own in self.own])
        self.others = ~np.bitwise_or.reduce(self.mine)
        self.read = [_as_words(own.core, self.words) for own in self.own]
        self.first_move, self.first_percept = net.first_move, net.first_percept.astype(np.int64)
        self.numbered = Numbered(*[Rows.empty() for _ in Numbered._fields])
        self._make_room(1)
        start = np.append((self.net.initial & self.others).view(np.int64), 0)
        intern(self.numbered.cores, start)
        self.start = tuple([self._numbered_own(self.net.initial & mine) for mine in self.mine])
        self.known_paid: dict[int, tuple[float, ...] | None] = {}
        self.after_own: dict[tuple[object, ...], LongArray] = {}  # by the own state before; UNKNOWN where not asked yet

    def _make_room(self, joint: int) -> None:
        """Make room for ``joint`` more joint moves."""
        i, n = self.numbered, len(self.players)
        percepts = int(np.diff(self.first_percept).max(initial=0))
        self.numbered = Numbered(
            i.cores.with_room(joint, joint * (self.words + 1)),
            i.percepts.with_room(joint * n, joint * n * percepts),
            i.records.with_room(joint * n, joint * n * 2),
            i.own.with_room(joint * n, joint * n * self.words),
        )

    def _numbered_own(self, words: Words) -> int:
        self.numbered = self.numbered._replace(own=self.numbered.own.with_room(1, self.words))
        return int(intern(self.numbered.own, words.view(np.int64)))

    def _core(self, core: int) -> LongArray:
        return self.numbered.cores.data[core * (self.words + 1) : (core + 1) * (self.words + 1)]

    def _own(self, own: LongArray) -> Words:
        """Return the words of own states (K, words)."""
        return self.numbered.own.data.reshape(-1, self.words)[own].view(np.uint64)

    def _state(self, core: int) -> Words:
        return self._core(core)[:-1].copy().view(np.uint64)

    def paid(self, core: int) -> tuple[float, ...] | None:
        """Return everybody's payoffs in a terminal core, else ``None``."""
        if core not in self.known_paid:
            state = GdlState(self.rules, self._state(core).tobytes())
            self.known_paid[core] = state.returns() if state.terminal else None
        return self.known_paid[core]

    def offered(self, core: int, player: int, own: LongArray) -> BoolArray:
        """Return (K, M) which of a player's moves are legal with each of its own states (K,).

        Raises ``GameRuleError`` where one of them has no legal move.
        """
        seat, state, mine = int(self.seats[player]), self._state(core), self._own(own)
        first, end = int(self.first_move[seat]), int(self.first_move[seat + 1])
        offered = np.zeros((len(own), end - first), np.bool_)
        _offer(self.net, self.run, state, mine, first, self.goals, offered)
        if not offered.any(axis=1).all():
            stuck = state | mine[int(np.argmin(offered.any(axis=1)))]
            self.rules.legal_actions(stuck.tobytes(), seat)  # raises the error
        return offered

    def outcomes(self, core: int, actions: Sequence[LongArray]) -> Outcomes:
        """Return the outcomes of every joint move of the actions given for each player, with every move of chance.

        Raises ``GameRuleError`` where chance has none.
        """
        rules, here = self.rules, self._core(core)
        choices = [np.array([NO_MOVE])] * len(rules.evaluator.roles)
        for seat, some, first in zip(self.seats.tolist(), actions, self.first_move[self.seats].tolist(), strict=True):
            choices[seat] = some + first
        if rules.random is not None:
            action_set, number = (
                rules.legal_actions(self._state(core).tobytes(), rules.random),
                self.evaluator.number[rules.random],
            )
            choices[rules.random] = np.array([number[move] for move in action_set])
        begin = np.cumsum([0, *map(len, choices)])
        joint = prod(map(len, choices))
        self._make_room(joint)
        played = np.zeros((joint, len(choices)), np.int32)
        found = np.zeros((joint, 1 + len(actions)), np.int64)
        _play(
            self.net, self.run, self.numbered, self.seats, self.first_percept, self._state(core), int(here[-1]) + 1,
            self.others, np.concatenate(choices).astype(np.int32), begin, played, found,
        )  # fmt: skip
        own = played[:, self.seats] - self.first_move[self.seats]
        return Outcomes(played, own.astype(np.int64), found[:, 0], found[:, 1:])

    def after(self, core: int, player: int, own: LongArray, played: IntArray) -> LongArray:
        """Return a player's own states after a joint move (roles,), from those before (K,)."""
        reads, mine = self.own[player], self.mine[player]
        read = (self._state(core) & self.read[player]).tobytes() if reads.core else b""
        moves = tuple(
            [move if role == self.seats[player] or reads.moves >> max(move, 0) & 1 else NO_MOVE
             for role, move in enumerate(played.tolist())]
        )  # fmt: skip
        key, size = (player, read, moves), int(self.numbered.own.size[0])
        known = self.after_own.get(key, np.zeros(0, np.int64))
        if len(known) < size:
            known = self.after_own[key] = np.append(known, np.full(2 * size - len(known), UNKNOWN))
        for has in own[known[own] == UNKNOWN].tolist():
            state = self._state(core) | self._own(np.array([has]))[0]
            step(self.net, self.run, state, played)
            known[has] = self._numbered_own(self.run.next & mine)
        return known[own]

    def depends(self, player: int) -> bool:
        """Return whether a player's own state after a step depends on others' moves besides its own observations."""
        return self.own[player].moves != 0

    @property
    def actions(self) -> list[tuple[Action, ...]]:
        """The moves of each player."""
        actions, first = self.evaluator.actions, self.first_move.tolist()
        return [actions[first[seat] : first[seat + 1]] for seat in self.seats.tolist()]

    @property
    def records(self) -> list[ObservationRecord]:
        """The records by their numbers; records of two players may be equal."""
        words, actions = self.evaluator.percepts, self.evaluator.actions
        seen = [tuple([words[k] for k in row]) for row in self.numbered.percepts.lists()]
        return [(actions[move], seen[percepts]) for move, percepts in self.numbered.records.lists()]


def _as_words(bits: int, words: int) -> Words:
    return np.array([bits >> WORD * k & (1 << WORD) - 1 for k in range(words)], np.uint64)
