"""Games played side by side on the position graph, each to its next decision, with the inputs of networks kept up.

A game is a position and, for each player, a memo of the encoding and the array of its information state; a step writes
into that array what the record changes.  Kernels play thousands of games at once, whose draws come from a stream of
each game's own, so that results do not depend on the order in which steps are first met.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import (
    BoolArray,
    Encoding,
    FloatArray,
    IndexArray,
    InformationState,
    IntArray,
    LongArray,
    ObservationRecord,
    Writes,
)
from infoset.compiled import Compiled
from infoset.errors import UnsupportedGameError
from infoset.jit import kernel, linked_kernel
from infoset.learn.policy_net import PolicyNet
from infoset.policies.encodings import HISTORY, TENSORS, Steps, TensorEncoding, encoding_of, tree_of
from infoset.randomness import Words, next_word
from infoset.tree.graph import CHANCE, NO_RECORD, TERMINAL
from infoset.tree.quotient_graph import CHILD, CONTENT, FIRST, MOVES, PLAYER, TOKENS

Inputs = npt.NDArray[np.float32]

NOTHING = -1
UNIT = 2.0**-53


class Tables(NamedTuple):
    """The steps of an encoding as arrays."""

    step: IntArray  # (memos, records) the step by each record after each memo
    memo_after: IntArray  # (steps,)
    first: IntArray  # (steps + 1,) where each step's writes begin
    indices: IndexArray
    values: Inputs


class Whole:
    """A ``TensorEncoder`` by any encoding: it writes the whole array at every step."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding, self.shape, self.actions = encoding, encoding.shape, encoding.actions

    def start(self, player: int) -> tuple[InformationState, Writes]:
        return (), self._writes(player, ())

    def after(self, player: int, memo: InformationState, record: ObservationRecord) -> tuple[InformationState, Writes]:
        return (*memo, record), self._writes(player, (*memo, record))

    def _writes(self, player: int, infostate: InformationState) -> Writes:
        row = self.encoding.encode(*tree_of(player, [infostate]))
        return tuple(enumerate(row.ravel().tolist()))


class Sight:
    """What a network reads of a game: an encoding by name, by default the first that the game has."""

    def __init__(self, compiled: Compiled, encoding: str = "") -> None:
        """Build it.  Raises ``BudgetError`` for a game whose positions do not fit, and what ``encoding_of`` raises."""
        if compiled.map_name:
            raise UnsupportedGameError(f"{compiled.name} has an information map; its networks would need another input")
        self.compiled, self.name, self.num_players = compiled, compiled.name, len(compiled.players)
        self.encoding = _encoding(compiled, encoding)
        self.size, self.actions = int(np.prod(self.encoding.shape)), self.encoding.actions

    @property
    def fingerprint(self) -> str:
        """Fingerprint of what a network depends on: the game, the encoding, the columns of actions."""
        about = self.name, self.encoding.name, self.encoding.shape, self.actions
        return hashlib.blake2b(repr(about).encode(), digest_size=16).hexdigest()

    def net(self, hidden: int, layers: int) -> PolicyNet:
        """Return a new network for it."""
        return PolicyNet(self.size + self.num_players, len(self.actions), hidden, layers)


def _encoding(compiled: Compiled, name: str) -> Encoding:
    names = [name] if name else [*TENSORS[::-1], HISTORY]
    for one in names[:-1]:
        with suppress(UnsupportedGameError):
            return encoding_of(compiled, one)
    if names[-1] == HISTORY:
        assert compiled.graph  # its positions, which are needed anyway, are listed whatever their number
    return encoding_of(compiled, names[-1])


class Simulator(Sight):
    """A game as it is played by networks: its positions, its steps in an encoding, the legal actions by column."""

    def __init__(self, compiled: Compiled, name: str = "") -> None:
        super().__init__(compiled, name)
        graph, self.walk = compiled.graph, compiled.plain_walk
        encoding = self.encoding
        encoder = encoding.encoder if isinstance(encoding, TensorEncoding) else Whole(encoding)
        self.steps = Steps(encoder, graph.records)
        column = {action: k for k, action in enumerate(self.actions)}
        self.place = np.full((len(graph.action_sets), len(self.actions)), NOTHING, dtype=np.int32)
        for content in np.unique(graph.content[graph.player >= 0]).tolist():
            for k, action in enumerate(graph.action_sets[content]):
                self.place[content, column[action]] = k
        self.legal = self.place >= 0
        if not (self.legal.sum(axis=1) > 1).any():
            raise UnsupportedGameError(f"{self.name} has nothing to learn: nobody ever has a choice")
        self.payoffs = graph.payoffs
        self.scale = float(np.abs(graph.payoffs).max()) or 1.0
        self._starts()

    def _starts(self) -> None:
        """Note every player's memo and array at the start of a game."""
        self.memo = np.zeros(self.num_players, dtype=np.int32)
        self.inputs = np.zeros((self.num_players, self.size), dtype=np.float32)
        for player, record in enumerate(self.compiled.graph.start_records):
            steps = [self.steps.start_of(player)]
            if record != NO_RECORD:
                before = np.array([self.steps.memo_after[steps[0]]], dtype=np.int32)
                steps += self.steps.follow(before, np.array([record])).tolist()
            for step in steps:
                for index, value in self.steps.written[step]:
                    self.inputs[player, index] = value
            self.memo[player] = self.steps.memo_after[steps[-1]]
        self.tables = self._tables()

    def _tables(self) -> Tables:
        nothing = np.zeros(0, dtype=np.int32)
        self.steps.follow(nothing, nothing)  # so that every memo has a row
        return Tables(self.steps.step, np.array(self.steps.memo_after, dtype=np.int32), *self.steps.writes())

    def __len__(self) -> int:
        return len(self.walk.position)

    def deal(self, games: int, rng: np.random.Generator) -> Batch:
        """Return new games, each at its first decision."""
        batch = Batch(
            self,
            np.zeros(games, dtype=np.int32),
            np.tile(self.memo, (games, 1)),
            np.tile(self.inputs, (games, 1, 1)),
            np.full(games, NOTHING, dtype=np.int32),
            rng.integers(2**64, size=games, dtype=np.uint64),
        )
        batch.advance(np.arange(games))
        return batch


@dataclass
class Batch:
    """Games in progress; ``live`` are those at a decision of a player who has a choice."""

    simulator: Simulator
    at: IntArray  # (G,) positions
    memo: IntArray  # (G, n)
    inputs: Inputs  # (G, n, F)
    pending: IntArray  # (G,) the edge that a game has still to follow
    stream: Words  # (G,)
    live: LongArray = None  # type: ignore[assignment]  # (K,)

    def advance(self, which: LongArray) -> None:
        """Play games on to their next decisions, or to their ends."""
        simulator = self.simulator
        walk, steps = simulator.walk, simulator.steps
        missing = np.empty((len(which) * simulator.num_players, 2), dtype=np.int32)
        moved = which
        while count := _advance(
            walk.position, walk.edge, walk.probability, simulator.tables, self.at, self.memo, self.inputs,
            self.pending, self.stream, moved, missing,
        ):  # fmt: skip
            steps.follow(missing[:count, 0], missing[:count, 1])
            simulator.tables = simulator._tables()
            moved = moved[self.pending[moved] >= 0]
        self.live = which[walk.position[self.at[which], PLAYER] != TERMINAL]
        self.player = walk.position[self.at[self.live], PLAYER]
        self.content = walk.position[self.at[self.live], CONTENT]

    @property
    def seen(self) -> Inputs:
        """(K, F + n) the movers' arrays, followed by ones in the columns of their numbers."""
        rows = np.zeros((len(self.live), self.simulator.size + self.simulator.num_players), dtype=np.float32)
        _look(self.inputs, self.live, self.player, rows)
        return rows

    @property
    def legal(self) -> BoolArray:
        """(K, A) the movers' legal actions."""
        return np.asarray(self.simulator.legal[self.content])

    def draw(self, probabilities: npt.NDArray[np.float32]) -> LongArray:
        """Return a column (K,) for each live game, drawn from its probabilities (K, A)."""
        chosen = np.empty(len(self.live), dtype=np.int64)
        _draw(probabilities, self.simulator.place, self.content, self.stream, self.live, chosen)
        return chosen

    def play(self, columns: LongArray) -> None:
        """Play an action by column (K,) in every live game."""
        first = self.simulator.walk.position[self.at[self.live], FIRST]
        self.pending[self.live] = first + self.simulator.place[self.content, columns]
        self.advance(self.live)

    def copies(self, which: LongArray, rng: np.random.Generator) -> Batch:
        """Return copies of games, with streams of their own."""
        found = Batch(
            self.simulator, self.at[which], self.memo[which], self.inputs[which], self.pending[which],
            rng.integers(2**64, size=len(which), dtype=np.uint64),
        )  # fmt: skip
        found.advance(np.arange(len(which)))
        return found

    @property
    def payoffs(self) -> FloatArray:
        """(G, n) the payoffs of finished games, in units of the game's greatest; 0 while a game goes on."""
        where = self.simulator.walk.position[self.at]
        done = where[:, PLAYER] == TERMINAL
        paid = np.zeros((len(self.at), self.simulator.num_players))
        paid[done] = self.simulator.payoffs[where[done, CONTENT]] / self.simulator.scale
        return paid


class Trajectories(NamedTuple):
    """The decisions (N,) of games, in order of time; all that were made at once follow one another."""

    seen: Inputs  # (N, F + n)
    legal: BoolArray  # (N, A)
    game: LongArray  # (N,)
    player: IntArray  # (N,)
    action: LongArray  # (N,) columns
    probabilities: npt.NDArray[np.float32]  # (N, A) the probabilities with which actions were drawn
    payoffs: FloatArray  # (G, n)


Act = Callable[[Batch], npt.NDArray[np.float32]]
"""A function from games at decisions to probabilities (K, A) of the movers' actions."""


def play_out(batch: Batch, act: Act, drawn: Callable[[Batch, LongArray], object] | None = None) -> Trajectories:
    """Play games to their ends, by ``act`` at every decision; ``drawn`` is called with the actions (K,) by column."""
    found = []
    while len(batch.live):
        probabilities = act(batch)
        action = batch.draw(probabilities)
        if drawn is not None:
            drawn(batch, action)
        found.append((batch.seen, batch.legal, batch.live, batch.player, action, probabilities))
        batch.play(action)
    return Trajectories._make([*map(np.concatenate, zip(*found, strict=True)), batch.payoffs])


@kernel
def _advance(
    position: IntArray, edge: IntArray, probability: FloatArray, t: Tables, at: IntArray, memo: IntArray,
    inputs: Inputs, pending: IntArray, stream: Words, which: LongArray, missing: IntArray,
) -> int:  # fmt: skip
    """Play games on; return how many pairs of a memo and a record, written to ``missing``, have no known step yet."""
    count, n = 0, memo.shape[1]
    for g in which:
        e = pending[g]
        while True:
            if e >= 0:
                known = True
                for p in range(n):
                    record = edge[e, TOKENS + p]
                    if record >= 0 and t.step[memo[g, p], record] < 0:
                        missing[count, 0], missing[count, 1] = memo[g, p], record
                        count += 1
                        known = False
                if not known:
                    break
                for p in range(n):
                    if edge[e, TOKENS + p] >= 0:
                        s = t.step[memo[g, p], edge[e, TOKENS + p]]
                        for w in range(t.first[s], t.first[s + 1]):
                            inputs[g, p, t.indices[w]] = t.values[w]
                        memo[g, p] = t.memo_after[s]
                at[g] = edge[e, CHILD]
            here = at[g]
            begin, moves = position[here, FIRST], position[here, MOVES]
            if position[here, PLAYER] == TERMINAL or (position[here, PLAYER] >= 0 and moves > 1):
                e = -1
                break
            e = begin
            if position[here, PLAYER] == CHANCE:
                e += _drawn(probability[begin : begin + moves], stream[g : g + 1])
        pending[g] = e
    return count


@linked_kernel
def _drawn(probability: FloatArray, stream: Words) -> int:
    """Return an index drawn from probabilities."""
    left, k = (next_word(stream) >> np.uint64(11)) * UNIT, 0
    while k < len(probability) - 1 and left >= probability[k]:
        left -= probability[k]
        k += 1
    return k


@kernel
def _look(inputs: Inputs, which: LongArray, player: IntArray, rows: Inputs) -> None:
    size = inputs.shape[2]
    for k in range(len(which)):
        rows[k, :size] = inputs[which[k], player[k]]
        rows[k, size + player[k]] = 1.0


@kernel
def _draw(
    probabilities: npt.NDArray[np.float32], place: IntArray, content: IntArray, stream: Words, which: LongArray,
    chosen: LongArray,
) -> None:  # fmt: skip
    """Draw legal columns; rounding never leads to an illegal one."""
    for k in range(len(which)):
        g = which[k]
        total = 0.0
        for a in range(place.shape[1]):
            if place[content[k], a] >= 0:
                total += probabilities[k, a]
        drawn = (next_word(stream[g : g + 1]) >> np.uint64(11)) * UNIT * total
        for a in range(place.shape[1]):
            if place[content[k], a] >= 0:
                chosen[k] = a
                drawn -= probabilities[k, a]
                if drawn < 0.0:
                    break
