"""Best responses to given opponents, learnt from plays, for games too large to follow histories or beliefs.

With the others fixed the game is a decision problem over one player's information states: Monte Carlo tree search on
these (Silver & Veness 2010), by the bandits of UCT (Kocsis & Szepesvári 2006).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.interning import path_to
from infoset.jit import borrowing, inner_kernel, kernel
from infoset.policies.infoset_policy import NO_ROW, InfosetPolicy
from infoset.randomness import Words
from infoset.solvers.sampling.infoset_table import ENTRIES, STATES, InfosetTable, add_row
from infoset.solvers.sampling.sampler import Sampling, choose, follow_edge, has_room, match_regrets
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.quotient_graph import (
    CONTENT,
    FIRST,
    MOVES,
    PLAYER,
    QuotientGraph,
    element_of,
    find_owners,
    state_of,
    view_of,
)

NumberedModel = Callable[[int, list[int], int], Sequence[float]]
"""The probabilities of an action set's moves, by the player, its records so far, and the number of the set."""

EXPLORATION = 1.0  # of UCB1, in units of the payoffs' range
PLAYS_A_CALL = 1_000  # after which the model is asked about newly met states


@inner_kernel
@borrowing
def _promising(table: InfosetTable, row: int, size: int, exploration: float) -> int:
    """Return the move to try by UCB1: ``average`` counts, ``regret`` sums payoffs; untried moves come first."""
    total = 0.0
    for k in range(row, row + size):
        if table.average[k] == 0.0:
            return k - row
        total += table.average[k]
    best, found, log = -np.inf, 0, np.log(total)
    for k in range(row, row + size):
        score = table.regret[k] / table.average[k] + exploration * np.sqrt(log / table.average[k])
        if score > best:
            best, found = score, k - row
    return found


@inner_kernel
@borrowing
def _play(
    walk: QuotientGraph,
    table: InfosetTable,
    entries: LongArray,
    learner: int,
    exploration: float,
    views: LongArray,
    strategy: FloatArray,
    stream: Words,
) -> tuple[int, float]:
    """Play once, write the entries that the learner chose, and return their number and the learner's payoff."""
    position, depth, group = 0, 0, walk.group
    for p in range(len(views)):
        views[p] = view_of(p, 0)
    while walk.position[position, PLAYER] != TERMINAL:
        mover, action = walk.position[position, PLAYER], 0
        first, content = walk.position[position, FIRST], walk.position[position, CONTENT]
        size = walk.position[position, MOVES]
        if mover == CHANCE:
            action = choose(walk.probability[first : first + size], size, stream)
        elif size > 1:
            view = views[mover]
            row = add_row(table, state_of(view), group.action_set[element_of(view), content], size)
            if mover == learner:
                chosen = _promising(table, row, size, exploration)
                entries[depth] = row + chosen
                depth += 1
                place = group.first_entry[content]
                while group.entry[element_of(view), place + action] != chosen:
                    action += 1
            else:
                match_regrets(table, row, group, view, content, size, strategy)
                action = choose(strategy, size, stream)
        position = follow_edge(walk, table, position, action, views)
    return depth, walk.payoffs[walk.position[position, CONTENT], learner]


@kernel
@borrowing
def _plays(
    walk: QuotientGraph,
    table: InfosetTable,
    entries: LongArray,
    learner: int,
    exploration: float,
    low: float,
    spread: float,
    count: int,
    room: LongArray,
    views: LongArray,
    strategy: FloatArray,
    stream: Words,
) -> int:
    """Play up to ``count`` times; fewer where the table is full."""
    for t in range(count):
        if not has_room(table, room):
            return t
        depth, payoff = _play(walk, table, entries, learner, exploration, views, strategy, stream)
        for d in range(depth):
            table.average[entries[d]] += 1.0
            table.regret[entries[d]] += (payoff - low) / spread
    return count


class SampledResponse(Sampling):
    """The learning of ``player``'s best response to others who play by ``model``, or at random if it is ``None``.

    The others play uniformly in states met for the first time, until the model is asked.  The same seed gives the
    same run, however its plays are grouped.
    """

    def __init__(
        self,
        walk: QuotientGraph,
        player: int,
        model: NumberedModel | None = None,
        seed: int = 0,
        max_bytes: int | None = None,
    ) -> None:
        super().__init__(walk, seed, max_bytes)
        self.player, self.model = player, model
        self.answered = 0  # entries whose states the model has been asked about
        self.entries = np.zeros(walk.depth + 1, dtype=np.int64)  # of the table, chosen in one play
        self.low = float(walk.payoffs[:, player].min())
        self.spread = float(walk.payoffs[:, player].max()) - self.low or 1.0

    def _step(self, iterations: int, until: float) -> None:
        """Run iterations of one play each."""
        end = self.iteration + iterations
        while self.iteration < end and time.monotonic() <= until:
            if self.iteration % PLAYS_A_CALL == 0 and not self._ask(until):
                break
            count = min(end - self.iteration, PLAYS_A_CALL - self.iteration % PLAYS_A_CALL)
            found = int(_plays(
                self.walk, self.table, self.entries, self.player, EXPLORATION, self.low, self.spread, count, self.room,
                *self.scratch, self.stream,
            ))  # fmt: skip
            self.iteration += found
            if found < count:
                self.table = self._grown()

    def _ask(self, until: float) -> bool:
        """Write the model's probabilities to rows of the others' new states; return whether time allowed all."""
        if self.model is None:
            return True
        table, first_entry = self.table, self.walk.group.first_entry
        new = np.flatnonzero(table.row[: table.filled[STATES]] >= self.answered)
        for state in new[np.argsort(table.row[new])].tolist():
            if time.monotonic() > until:
                return False
            player, records = path_to(table.parent, table.record, state)
            action_set, row = int(table.action_set[state]), int(table.row[state])
            size = int(first_entry[action_set + 1] - first_entry[action_set])
            if player != self.player:
                table.regret[row : row + size] = self.model(player, records, action_set)
            self.answered = row + size
        return True

    def policy(self) -> InfosetPolicy:
        """Return the player's most tried moves, and the model's probabilities for the others' states that were met."""
        return self.table.policy(response_behaviour(self.table, self.walk.group.first_entry, self.player))


def response_behaviour(table: InfosetTable, first_entry: IntArray | LongArray, player: int) -> FloatArray:
    """Return (entries,) for ``player`` its most tried move, of several the best; for the others their probabilities."""
    count, entries = int(table.filled[STATES]), int(table.filled[ENTRIES])
    owner = np.zeros(count, dtype=np.int32)
    find_owners(table.parent[:count], owner)
    behaviour = np.zeros(entries)
    fill_behaviour(table, owner, first_entry, player, behaviour)
    return behaviour


@kernel
@borrowing
def fill_behaviour(
    table: InfosetTable, owner: IntArray, first_entry: IntArray | LongArray, player: int, behaviour: FloatArray
) -> None:
    """Write the rows of ``response_behaviour``."""
    for state in range(len(owner)):
        row = table.row[state]
        if row == NO_ROW:
            continue
        size = first_entry[table.action_set[state] + 1] - first_entry[table.action_set[state]]
        best, total = row, 0.0
        for k in range(row, row + size):
            total += table.regret[k]
            tried, most = table.average[k], table.average[best]
            if tried > most or (tried == most and table.regret[k] > table.regret[best]):
                best = k
        for k in range(row, row + size):
            if owner[state] == player:
                behaviour[k] = 1.0 if k == best else 0.0
            else:
                behaviour[k] = table.regret[k] / total if total > 0.0 else 1.0 / size
