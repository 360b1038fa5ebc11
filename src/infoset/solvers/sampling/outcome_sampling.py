"""Outcome sampling (Lanctot et al. 2009) with baselines (Schmid et al. 2019): one play per iteration and player.

External sampling tries every move of the learner; here one is drawn, so that an iteration costs no more than a play.
The values of the other moves are estimated by baselines, running means of earlier values; the move that was drawn
corrects its own baseline.  Values are unbiased whatever the baselines are; good baselines remove most of the variance.
Iteration t has weight t, as in ``mccfr``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray
from infoset.errors import CheckpointError, ParameterError
from infoset.interning import longer
from infoset.jit import borrowing, inner_kernel, kernel
from infoset.randomness import Words
from infoset.solvers.sampling.infoset_table import InfosetTable, add_row
from infoset.solvers.sampling.mccfr import Mccfr
from infoset.solvers.sampling.sampler import add_to_average, choose, follow_edge, match_regrets
from infoset.tree.graph import CHANCE, TERMINAL
from infoset.tree.quotient_graph import CONTENT, FIRST, MOVES, PLAYER, QuotientGraph, element_of, state_of, view_of

EXPLORATION = 0.6  # the share of the learner's moves that is drawn uniformly
BASELINE = "table.baseline"  # grows with the table
STEP = 0.1  # the fraction of the difference by which a baseline moves to a new value


class Play(NamedTuple):
    """The decisions of one play."""

    position: IntArray  # (D,)
    action: IntArray  # (D,)
    row: IntArray  # (D,)
    infostate: LongArray  # (D,) the mover's view
    chance: FloatArray  # (D,) probability with which the move was drawn
    reach: FloatArray  # (D,) probability with which the learner's earlier moves were drawn
    strategy: FloatArray  # (D, A)
    value: FloatArray  # (A,)

    @classmethod
    def empty(cls, depth: int, actions: int) -> Play:
        flat = np.zeros(depth, dtype=np.int32)
        return cls(
            flat, flat.copy(), flat.copy(), np.zeros(depth, np.int64), np.zeros(depth), np.zeros(depth),
            np.zeros((depth, actions)), np.zeros(actions),
        )  # fmt: skip


@inner_kernel
@borrowing
def _play(
    walk: QuotientGraph,
    table: InfosetTable,
    play: Play,
    learner: int,
    exploration: float,
    weight: float,
    views: LongArray,
    drawn: FloatArray,
    stream: Words,
) -> tuple[int, float]:
    """Play to an end; return the number of decisions and the learner's payoff."""
    position, depth, reach, n, group = 0, 0, 1.0, len(views), walk.group
    for p in range(n):
        views[p] = view_of(p, 0)
    while walk.position[position, PLAYER] != TERMINAL:
        mover, action = walk.position[position, PLAYER], 0
        first, content = walk.position[position, FIRST], walk.position[position, CONTENT]
        size = walk.position[position, MOVES]
        if mover == CHANCE:
            action = choose(walk.probability[first : first + size], size, stream)
        elif size > 1:
            view, strategy = views[mover], play.strategy[depth]
            row = add_row(table, state_of(view), group.action_set[element_of(view), content], size)
            match_regrets(table, row, group, view, content, size, strategy)
            if mover == (learner + 1) % n:
                add_to_average(table, row, group, view, content, size, weight / reach, strategy)
            for k in range(size):
                drawn[k] = strategy[k]
                if mover == learner:
                    drawn[k] = exploration / size + (1.0 - exploration) * strategy[k]
            action = choose(drawn, size, stream)
            play.position[depth], play.action[depth], play.row[depth] = position, action, row
            play.infostate[depth], play.chance[depth], play.reach[depth] = view, drawn[action], reach
            if mover == learner:
                reach *= drawn[action]
            depth += 1
        position = follow_edge(walk, table, position, action, views)
    return depth, walk.payoffs[walk.position[position, CONTENT], learner]


@inner_kernel
@borrowing
def _learn(
    walk: QuotientGraph,
    table: InfosetTable,
    baseline: FloatArray,
    play: Play,
    depth: int,
    learner: int,
    weight: float,
    step: float,
    value: float,
) -> None:
    """Update the learner's regrets and the baselines of all players' moves, from the end back."""
    group = walk.group
    for back in range(depth):
        d = depth - 1 - back
        content, element, row = walk.position[play.position[d], CONTENT], element_of(play.infostate[d]), play.row[d]
        place = group.first_entry[content]
        size, mean = group.first_entry[content + 1] - place, 0.0
        for k in range(size):
            entry = row + group.entry[element, place + k]
            found = baseline[learner, entry]
            if k == play.action[d]:
                away = value - found
                found += away / play.chance[d]
                baseline[learner, entry] += step * away
            play.value[k] = found
            mean += play.strategy[d, k] * found
        if walk.position[play.position[d], PLAYER] == learner:
            for k in range(size):
                table.regret[row + group.entry[element, place + k]] += weight / play.reach[d] * (play.value[k] - mean)
        value = mean


@kernel
@borrowing
def _iterate(
    walk: QuotientGraph,
    table: InfosetTable,
    baseline: FloatArray,
    play: Play,
    begin: int,
    count: int,
    room: LongArray,
    exploration: float,
    step: float,
    views: LongArray,
    drawn: FloatArray,
    stream: Words,
) -> int:
    """Run up to ``count`` iterations from number ``begin`` on; fewer where the table may be full."""
    for t in range(begin, begin + count):
        weight = np.float64(t + 1)
        if len(table.parent) - table.filled[0] < room[0] or len(table.regret) - table.filled[1] < room[1]:
            return t - begin
        for learner in range(len(views)):
            depth, value = _play(walk, table, play, learner, exploration, weight, views, drawn, stream)
            _learn(walk, table, baseline, play, depth, learner, weight, step, value)
    return count


class OutcomeMccfr(Mccfr):
    """Outcome sampling on a game.  The same seed gives the same run, however its iterations are grouped.

    ``exploration``: the share of uniform draws among the learner's moves, from more than 0 to 1.
    ``step``: the fraction, from 0 to 1, by which a baseline moves to a new value; 0 is plain outcome sampling.
    """

    def __init__(
        self, walk: QuotientGraph, seed: int = 0, max_bytes: int | None = None, exploration: float = EXPLORATION,
        step: float = STEP,
    ) -> None:  # fmt: skip
        super().__init__(walk, seed, max_bytes)
        if walk.num_players < 2:
            raise ParameterError("outcome sampling averages the strategy of the next player: it needs two at least")
        if not 0.0 < exploration <= 1.0:
            raise ParameterError(f"exploration={exploration}; allowed: from more than 0 to 1")
        if not 0.0 <= step <= 1.0:
            raise ParameterError(f"step={step}; allowed: 0 to 1")
        self.exploration, self.rate = exploration, step
        self.room = self.room * walk.num_players  # for a whole iteration
        self.baseline = np.zeros((walk.num_players, 0))
        self.play = Play.empty(walk.depth + 1, walk.most_actions)

    def _step(self, iterations: int, until: float) -> None:
        """Run iterations of one play per player."""
        end = self.iteration + iterations
        while self.iteration < end:
            found = _iterate(
                self.walk, self.table, self.baseline, self.play, self.iteration, end - self.iteration, self.room,
                self.exploration, self.rate, *self.scratch, self.stream,
            )  # fmt: skip
            self.iteration += int(found)
            if self.iteration < end:
                self.table = self._grown()
                entries = len(self.table.regret)
                self.baseline = np.stack([longer(row, entries)[:entries] for row in self.baseline])

    def save(self) -> dict[str, Any]:
        """Return all data that later iterations depend on, as arrays by name."""
        return super().save() | {BASELINE: self.baseline}

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore the state of ``save``.  Raises ``CheckpointError`` for arrays that do not fit."""
        super().restore(saved)
        if saved[BASELINE].shape != (self.walk.num_players, len(self.table.regret)):
            raise CheckpointError(f"the checkpoint does not fit: {BASELINE} has another shape")
        self.baseline = saved[BASELINE]
