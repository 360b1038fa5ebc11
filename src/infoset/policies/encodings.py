"""Encodings of information states as arrays, the inputs of networks: many states of a form at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from infoset import sizes
from infoset.base import (
    Action,
    Encodable,
    Encoding,
    IndexArray,
    InformationState,
    IntArray,
    LongArray,
    ObservationRecord,
    StateTree,
    TensorEncoder,
    Writes,
)
from infoset.compiled import Compiled
from infoset.errors import BudgetError, InfosetError, ParameterError, UnsupportedGameError, shorten
from infoset.interruption import running_foreign_code
from infoset.jit import kernel
from infoset.names import check_choice
from infoset.registry import PYTHON, load_python
from infoset.tree.graph import NO_RECORD, GameGraph, explore
from infoset.tree.quotient_graph import measure_depths

Rows = Callable[[LongArray], npt.NDArray[np.float32]]
"""A function that returns the arrays ``(K, *shape)`` of states (K,)."""

HISTORY = "history"
TENSORS = ("observation", "information-state")
ENCODINGS = (*TENSORS, HISTORY)
UNKNOWN = -1
MOST_STEPS = 1 << 28  # entries of the table of steps, 4 bytes each


class TensorEncoding:
    """An encoding by a ``TensorEncoder``, which is called once for each distinct step."""

    def __init__(self, name: str, encoder: TensorEncoder) -> None:
        self.name, self.encoder = name, encoder
        self.shape, self.actions = tuple(encoder.shape), tuple(encoder.actions)
        self._steps = Steps(encoder, ())
        self._levels = _Levels(np.zeros(0, dtype=np.int32))

    def encode(self, states: StateTree, which: LongArray) -> npt.NDArray[np.float32]:
        """Return the arrays ``(K, *shape)`` of the states ``which`` (K,)."""
        return self.rows(states)(which)

    def encode_one(self, player: int, infostate: InformationState) -> npt.NDArray[np.float32]:
        """Return the array ``(*shape)`` of one information state, record by record."""
        array = np.zeros(int(np.prod(self.shape)), dtype=np.float32)
        memo, writes = self.encoder.start(player)
        for record in (*infostate, None):
            for index, value in writes:
                array[index] = value
            if record is not None:
                memo, writes = self.encoder.after(player, memo, record)
        return array.reshape(self.shape)

    def rows(self, states: StateTree) -> Rows:
        """Return ``encode`` for many calls with the same states, whose steps are numbered once."""
        if self._steps.records is not states.records:
            self._steps = Steps(self.encoder, states.records)
        if self._levels.parent is not states.parent:
            self._levels = _Levels(states.parent)
        parent, owner = self._levels.parent, np.asarray(states.owner)
        code, start = self._steps.number(self._levels, np.asarray(states.record), owner)
        first, index, value = self._steps.writes()
        path = np.empty(len(self._levels.states), dtype=np.int64)

        def encode(which: LongArray) -> npt.NDArray[np.float32]:
            out = np.zeros((len(which), int(np.prod(self.shape))), dtype=np.float32)
            _write_rows(parent, owner, start, code, first, index, value, which, path, out)
            return out.reshape(len(which), *self.shape)

        return encode


class _Levels:
    """The states of a tree by their depth."""

    def __init__(self, parent: npt.NDArray[Any]) -> None:
        self.parent = parent
        depth = np.zeros(len(parent), dtype=np.int32)
        measure_depths(parent, depth)
        self.states = np.split(np.argsort(depth, kind="stable"), np.cumsum(np.bincount(depth))[:-1])


class Steps:
    """The distinct steps of an encoder, each found by the memo before it and its record."""

    def __init__(self, encoder: TensorEncoder, records: Sequence[ObservationRecord]) -> None:
        self.encoder, self.records = encoder, records
        self.number_of: dict[tuple[int, Hashable], int] = {}  # a memo's number, by player
        self.memos: list[tuple[int, Hashable]] = []
        self.first: dict[int, int] = {}  # by player, the step to the state without records
        self.memo_after: list[int] = []  # by step
        self.written: list[Writes] = []  # by step
        self.step = np.full((1, len(records)), UNKNOWN, dtype=np.int32)  # (memos, records)

    def number(self, levels: _Levels, record: npt.NDArray[Any], owner: npt.NDArray[Any]) -> tuple[IntArray, IntArray]:
        """Return the step (N,) by each state's record, UNKNOWN without one, and that to each player's start (n,)."""
        code, memo = np.full(len(record), UNKNOWN, dtype=np.int32), np.zeros(len(record), dtype=np.int32)
        start = np.array([self.start_of(player) for player in range(int(owner.max(initial=-1)) + 1)], dtype=np.int32)
        for depth, level in enumerate(levels.states):
            before = memo[levels.parent[level]] if depth else np.array(self.memo_after)[start[owner[level]]]
            memo[level] = before
            has = record[level] >= 0
            code[level[has]] = self.follow(before[has], record[level[has]])
            memo[level[has]] = np.array(self.memo_after)[code[level[has]]]
        return code, start

    def start_of(self, player: int) -> int:
        """Return the step to the state of a player without records."""
        if player not in self.first:
            self.first[player] = self._new(player, *self.encoder.start(player))
        return self.first[player]

    def _new(self, player: int, memo: Hashable, writes: Writes) -> int:
        """Return the number of a new step."""
        if (player, memo) not in self.number_of:
            self.number_of[player, memo] = len(self.memos)
            self.memos.append((player, memo))
        self.memo_after.append(self.number_of[player, memo])
        self.written.append(writes)
        return len(self.written) - 1

    def follow(self, before: IntArray, record: npt.NDArray[Any]) -> IntArray:
        """Return the step by each record after each memo.  Raises ``BudgetError`` for too many memos."""
        if len(self.memos) > len(self.step):
            if 2 * len(self.memos) * len(self.records) > MOST_STEPS:
                raise BudgetError(
                    f"the encoding tells {len(self.memos):,} pasts apart, too many for {len(self.records):,} records"
                )
            room = np.full((2 * len(self.memos), len(self.records)), UNKNOWN, dtype=np.int32)
            room[: len(self.step)] = self.step
            self.step = room
        new = np.flatnonzero(self.step[before, record] == UNKNOWN)
        for memo, number in set(zip(before[new].tolist(), record[new].tolist(), strict=True)):
            player, past = self.memos[memo]
            self.step[memo, number] = self._new(player, *self.encoder.after(player, past, self.records[number]))
        found: IntArray = self.step[before, record]
        return found

    def writes(self) -> tuple[IntArray, IndexArray, npt.NDArray[np.float32]]:
        """Return where the writes of each step begin, their indices and their values."""
        flat = [write for writes in self.written for write in writes]
        first = np.cumsum([0, *map(len, self.written)]).astype(np.int32)
        index = np.array([index for index, _ in flat], dtype=np.uint32)
        return first, index, np.array([value for _, value in flat], dtype=np.float32)


@kernel
def _write_rows(
    parent: IntArray, owner: npt.NDArray[Any], start: IntArray, code: IntArray, first: IntArray, index: IndexArray,
    value: npt.NDArray[np.float32], which: LongArray, path: LongArray, out: npt.NDArray[np.float32],
) -> None:  # fmt: skip
    """Write the arrays of states: what the steps on the path from the start write, in order."""
    for k in range(len(which)):
        state, depth = which[k], 0
        while state >= 0:
            path[depth] = state
            state = parent[state]
            depth += 1
        begin = start[owner[path[depth - 1]]]
        for w in range(first[begin], first[begin + 1]):
            out[k, index[w]] = value[w]
        for back in range(depth):
            step = code[path[depth - 1 - back]]
            if step >= 0:
                for w in range(first[step], first[step + 1]):
                    out[k, index[w]] = value[w]


class HistoryTensor:
    """The one-hot encoder of our environments: row ``k`` marks the ``k``-th record of an information state."""

    def __init__(self, records: Sequence[ObservationRecord], length: int, actions: Sequence[Action]) -> None:
        self.shape: tuple[int, ...] = (length, len(records))
        self.actions = tuple(actions)
        self._column = {record: k for k, record in enumerate(records)}

    @classmethod
    def of(cls, graph: GameGraph) -> HistoryTensor:
        return cls(graph.records, longest_state(graph), all_actions(graph))

    def start(self, player: int) -> tuple[int, Writes]:
        return 0, ()

    def after(self, player: int, memo: int, record: ObservationRecord) -> tuple[int, Writes]:
        return memo + 1, ((memo * self.shape[1] + self._column[record], 1.0),)


class FunctionEncoding:
    """A user's encoding: a function of a player and its information state that returns an array of one ``shape``.

    ``actions`` are the columns of the network's numbers.

    >>> from infoset.policies.encodings import FunctionEncoding
    >>> length = FunctionEncoding("length", lambda player, infostate: [len(infostate)], ("pass", "bet"), (1,))
    >>> policy = infoset.NetworkPolicy("kuhn_poker", lambda inputs: inputs * [0, 1], length)
    >>> infoset.evaluate("kuhn_poker", policy).exact
    True
    """

    def __init__(
        self,
        name: str,
        function: Callable[[int, InformationState], Any],
        actions: Sequence[Action],
        shape: tuple[int, ...],
    ) -> None:
        self.name, self.function = name, function
        self.shape, self.actions = shape, tuple(actions)

    def encode(self, states: StateTree, which: LongArray) -> npt.NDArray[np.float32]:
        """Return the arrays ``(K, *shape)`` of the states ``which`` (K,).  Raises ``ParameterError`` for others."""
        rows = [self._row(int(states.owner[state]), known_in(states, state)) for state in which.tolist()]
        return np.stack(rows) if rows else np.zeros((0, *self.shape), dtype=np.float32)

    def _row(self, player: int, infostate: InformationState) -> npt.NDArray[np.float32]:
        row = _call(self.name, self.function, player, infostate)
        if row.shape != self.shape:
            raise ParameterError(
                f"{self.name} returns an array of shape {row.shape} after {shorten(str(infostate))}; "
                f"that of the first one was {self.shape}"
            )
        return row


def known_in(states: StateTree, state: int) -> InformationState:
    """Return the records of a state in order."""
    known = []
    while state >= 0:
        if states.record[state] >= 0:
            known.append(states.records[int(states.record[state])])
        state = int(states.parent[state])
    return tuple(known[::-1])


def tree_of(player: int, infostates: Sequence[InformationState]) -> tuple[StateTree, LongArray]:
    """Return a tree that contains some information states of a player, and their numbers in it."""
    records: dict[ObservationRecord, int] = {}
    number: dict[tuple[int, int], int] = {}
    parent, last, which = [-1], [-1], []
    for infostate in infostates:
        state = 0
        for record in infostate:
            key = state, records.setdefault(record, len(records))
            if key not in number:
                number[key] = len(parent)
                parent.append(state)
                last.append(key[1])
            state = number[key]
        which.append(state)
    tree = StateTree(np.array(parent), np.array(last), np.full(len(parent), player), list(records))
    return tree, np.array(which, dtype=np.int64)


def _call(
    name: str, function: Callable[[int, InformationState], Any], player: int, infostate: InformationState
) -> npt.NDArray[np.float32]:
    """Return the array that a user's function makes.  Raises ``ParameterError`` where it fails."""

    def convert(error: BaseException, why: str) -> BaseException:
        return error if isinstance(error, InfosetError) else ParameterError(f"{name} fails after {infostate}: {why}")

    with running_foreign_code(convert):
        return np.asarray(function(player, infostate), dtype=np.float32)


def encoding_of(compiled: Compiled, name: str) -> Encoding:
    """Return an encoding of a game by name: one of ``ENCODINGS``, or a user's function ``python:FILE:NAME``.

    ``observation`` and ``information-state`` are the tensors of OpenSpiel, bit for bit, with the columns of actions in
    the order of its numbers; ``history`` is what our PettingZoo and Gymnasium environments observe.  A user's function
    of a player and an information state returns an array; the columns are those of ``history``.

    Raises ``ParameterError`` for another name, ``UnsupportedGameError`` for a game without that tensor, ``BudgetError``
    where the positions of the game are too many to list its actions.

    >>> from infoset.policies.encodings import encoding_of
    >>> from infoset.compiled import Compiled
    >>> encoding_of(Compiled.of("kuhn_poker"), "information-state").shape
    (11,)
    """
    game = compiled.game
    if name.startswith(PYTHON):
        function = load_python(name)
        return FunctionEncoding(name, function, all_actions(_positions(compiled)), _call(name, function, 0, ()).shape)
    check_choice("encoding", name, ENCODINGS)
    if name == HISTORY:
        return TensorEncoding(name, HistoryTensor.of(_positions(compiled)))
    if not isinstance(game, Encodable):
        raise UnsupportedGameError(f"{game.name} has no {name} tensor; encoding={HISTORY} exists for every game")
    return TensorEncoding(name, game.tensor_encoder(name))


def _positions(compiled: Compiled) -> GameGraph:
    if "graph" in compiled.__dict__:
        return compiled.graph
    return explore(compiled.game, sizes.ACTIONS_FOR_LEARNERS)


def all_actions(graph: GameGraph) -> tuple[Action, ...]:
    """Return every action of every player, in the order in which the rules list them."""
    action_sets = np.unique(graph.content[graph.player >= 0])
    return tuple(dict.fromkeys(one for action_set in action_sets for one in graph.action_sets[action_set]))


def longest_state(graph: GameGraph) -> int:
    """Return the most records in an information state of any player.  Raises ``GameRuleError`` for endless play."""
    graph.count_histories()
    grows = (graph.record != NO_RECORD).astype(np.int32)  # (E, n)
    source = np.repeat(np.arange(len(graph.player)), graph.num_edges)
    best = np.full((len(graph.player), len(graph.players)), -1)
    best[0] = np.array(graph.start_records) != NO_RECORD
    edges = np.flatnonzero(source == 0)
    while len(edges):
        found = best[source[edges]] + grows[edges]
        longer = graph.child[edges][(found > best[graph.child[edges]]).any(axis=1)]
        np.maximum.at(best, graph.child[edges], found)
        edges = np.flatnonzero(np.isin(source, longer))
    return int(best.max())
