"""Histories that explain a player's observations, made by Metropolis steps from histories that explain most of them.

A history is written as one number for each of its moves: the *seeds*.  At a position the seed s chooses the edge with
the largest ``log p + gumbel(s, action)``, which has the edge's probability p (the Gumbel-max trick); the player's own
moves are those that it made.  A step replaces one seed and plays the game again from there, where the other seeds
choose the same actions as before as far as they are legal; a history that is given begins with its own actions.  What
is then contradicted of the observations has its price: more of it is accepted with probability ``exp(-PRICE * more)``.
As proposals are symmetric in seeds, those histories of a chain that contradict nothing are samples of the belief
(Metropolis et al. 1953; numbers that are drawn as coordinates as in Kelemen et al. 2002).

A filter only ever adds moves to histories that explained everything so far.  A step changes an early hidden move, such
as where a ship was placed, and keeps the others.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import FloatArray, LongArray
from infoset.errors import ClockError
from infoset.jit import kernel
from infoset.search.histories import NO_EDGE, Belief, joined, merged
from infoset.tree.graph import NO_RECORD, TERMINAL

CHAINS = 8
STEPS = 200  # at most, of each chain
PRICE = 2.0  # of an observation that is contradicted
MOST_LEVELS = 16, 4  # moves of a history at most: so many more than before, or so many for each record
NO_ACTION = -1
SHARE, ENOUGH = 0.5, 0.25  # of the time left, for finding a history at all, and where there are some

Seeds = npt.NDArray[np.uint64]


@kernel
def choose_edges(
    seeds: Seeds, first: LongArray, sizes: LongArray, actions: LongArray, weights: FloatArray, chosen: LongArray
) -> None:
    """Write the index of the edge that each of K seeds chooses among ``sizes`` (K,) edges; -1 where none is possible.

    ``actions`` and ``weights`` (E,) are those of all edges in order.  An action ``first`` (K,) is chosen if it is
    possible, whatever the seed.
    """
    edge = 0
    for k in range(len(seeds)):
        best, chosen[k] = -np.inf, -1
        for _ in range(sizes[k]):
            if weights[edge] > 0.0:
                word = seeds[k] ^ (np.uint64(actions[edge] + 1) * np.uint64(0x9E3779B97F4A7C15))
                word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                word ^= word >> np.uint64(31)
                uniform = (np.float64(word >> np.uint64(11)) + 0.5) * 2.0**-53
                score = np.log(weights[edge]) - np.log(-np.log(uniform))
                if actions[edge] == first[k]:
                    score = np.inf
                if score > best:
                    best, chosen[k] = score, edge
            edge += 1


class _Histories(NamedTuple):
    """C histories of at most L moves; of each level, what held before its move."""

    position: LongArray  # (C, L + 1)
    infostate: LongArray  # (C, L + 1, n)
    seen: LongArray  # (C, L + 1) how many records the player had observed
    wrong: LongArray  # (C, L + 1) how many of them were not those that it remembers
    edge: LongArray  # (C, L)
    length: LongArray  # (C,) number of moves
    cost: LongArray  # (C,) observations that are contradicted, or never made


class MetropolisSampler:
    """Chains of histories for one information state of a game on a lazy graph.

    ``tracker`` is the ``BeliefTracker`` that has the graph, the information states and the model of the others.
    """

    def __init__(self, tracker: Any, state: int, rng: np.random.Generator) -> None:
        self.tracker, self.graph, self.rng, self.state = tracker, tracker.graph, rng, state
        self.player, path = tracker.states.path(state)
        self.path = np.array(path, dtype=np.int64)
        self.steps = 0

    def draw(self, before: Belief, count: int) -> Belief:
        """Return histories that explain all observations, equal ones merged, from about ``count`` samples.

        The chains begin with histories of ``before``, which have trails, and take at most ``STEPS`` steps.  No history
        is returned where they found none by then or in a share of the clock's time.
        """
        assert before.trail is not None
        self.levels = max(before.trail.shape[1] + MOST_LEVELS[0], MOST_LEVELS[1] * len(self.path))
        self.seeds: Seeds = self.rng.integers(2**64, size=(CHAINS, self.levels), dtype=np.uint64)
        self.first = np.full((CHAINS, self.levels), NO_ACTION, dtype=np.int64)
        begin, left = time.monotonic(), self.graph.clock.left
        rows = self.rng.choice(before.size, CHAINS, p=before.weight / before.weight.sum())
        now = self._begin(before.trail[rows])
        found = [self._explaining(now)]
        while self.steps < STEPS and (size := sum(each.size for each in found)) < count:
            if time.monotonic() - begin > (ENOUGH if size else SHARE) * left:
                break
            try:
                now = self._step(now)
            except ClockError:
                break
            found.append(self._explaining(now))
        return merged(joined(found))

    def _begin(self, trails: npt.NDArray[Any]) -> _Histories:
        """Play histories whose moves are those along ``trails`` (C, L), and then as the seeds choose."""
        graph, levels, length = self.graph, self.levels, trails.shape[1]
        trails = trails.astype(np.int64)
        position = np.zeros((CHAINS, length), dtype=np.int64)
        position[:, 1:] = graph.child[trails[:, :-1]]
        self.first[:, :length] = np.where(trails == NO_EDGE, NO_ACTION, self._actions(position, trails))
        infostate = np.zeros((CHAINS, levels + 1, len(graph.players)), dtype=np.int64)
        infostate[:, 0] = np.arange(len(graph.players))
        place, seen, wrong = (np.zeros((CHAINS, levels + 1), dtype=np.int64) for _ in range(3))
        edge, nothing = np.zeros((CHAINS, levels), dtype=np.int64), np.zeros(CHAINS, dtype=np.int64)
        now = _Histories(place, infostate, seen, wrong, edge, nothing, nothing.copy())
        return self._play(self.seeds, self.first, now, nothing)

    def _actions(self, position: LongArray, edge: LongArray) -> LongArray:
        """Return the numbers of the actions on edges out of positions of the same shape."""
        offered = self.graph.source.offered
        place = offered.begin[self.graph.content[position]] + edge - self.graph.first[position]
        numbers: LongArray = offered.data[np.clip(place, 0, len(offered.data) - 1)].astype(np.int64)
        return numbers

    def _step(self, now: _Histories) -> _Histories:
        """Propose a new seed in each chain, and return the histories after accepting it or not."""
        self.steps += 1
        level = (self.rng.random(CHAINS) * np.maximum(now.length, 1)).astype(np.int64)
        seeds, first = self.seeds.copy(), self.first.copy()
        seeds[np.arange(CHAINS), level] = self.rng.integers(2**64, size=CHAINS, dtype=np.uint64)
        first[np.arange(CHAINS), level] = NO_ACTION
        after = self._play(seeds, first, now, level)
        shorter = np.maximum(now.length, 1) / np.maximum(after.length, 1)  # a seed there is proposed more often
        accepted = self.rng.random(CHAINS) < np.exp(-PRICE * (after.cost - now.cost)) * shorter
        self.seeds[accepted], self.first[accepted] = seeds[accepted], first[accepted]
        return _Histories._make(
            np.where(accepted.reshape(-1, *[1] * (new.ndim - 1)), new, old) for new, old in zip(after, now, strict=True)
        )

    def _play(self, seeds: Seeds, first: LongArray, before: _Histories, level: LongArray) -> _Histories:
        """Play on from the moves at ``level`` (C,) of histories, until all records are observed or the game is over."""
        graph, total = self.graph, len(self.path)
        now, level = _Histories._make(array.copy() for array in before), level.copy()
        now.cost[:] = -1
        while len(rows := np.flatnonzero(now.cost < 0)):
            at = level[rows]
            seen, position = now.seen[rows, at], now.position[rows, at]
            going = (seen < total) & (graph.player[position] != TERMINAL) & (at < self.levels)
            edge = np.full(len(rows), NO_EDGE, dtype=np.int64)
            edge[going] = self._edges(seeds, first, now, rows[going], at[going])
            ends = edge == NO_EDGE  # also where the player's own move is not legal
            now.cost[rows[ends]] = (now.wrong[rows, at] + total - seen)[ends]
            now.length[rows[ends]] = at[ends]
            rows, at, edge = rows[~ends], at[~ends], edge[~ends]
            self._advance(now, rows, at, edge)
            level[rows] = at + 1
        return now

    def _advance(self, now: _Histories, rows: LongArray, level: LongArray, edge: LongArray) -> None:
        """Write what holds after the edges at ``level``."""
        self.graph.ask(edge)
        records = self.graph.record[edge]
        own, seen = records[:, self.player], now.seen[rows, level]
        noticed = own != NO_RECORD
        remembered = self.path[np.minimum(seen, len(self.path) - 1)]
        now.edge[rows, level] = edge
        now.position[rows, level + 1] = self.graph.child[edge]
        now.infostate[rows, level + 1] = self.tracker.states.successors(now.infostate[rows, level], records)
        now.seen[rows, level + 1] = seen + noticed
        now.wrong[rows, level + 1] = now.wrong[rows, level] + (noticed & (own != remembered))

    def _edges(self, seeds: Seeds, first: LongArray, now: _Histories, rows: LongArray, level: LongArray) -> LongArray:
        """Return the edges that seeds choose at ``level``; ``NO_EDGE`` where the player's own move is not legal."""
        tracker, graph = self.tracker, self.graph
        position, infostate, seen = now.position[rows, level], now.infostate[rows, level], now.seen[rows, level]
        edges, source = graph.spread(position)
        mover = graph.player[position[source]]
        here = Belief(position, infostate, np.ones(len(position)))
        weights = tracker.edge_probabilities(edges, mover, here, source, self.player)
        own = np.flatnonzero(mover == self.player)
        remembered = self.path[seen[source[own]]]
        for record in np.unique(remembered).tolist():
            asked = own[remembered == record]
            made = graph.records[record][0]
            weights[asked] = tracker.moved_edges(edges[asked], position[source[asked]], made)
        actions, sizes = self._actions(position[source], edges), np.bincount(source, minlength=len(position))
        chosen = np.zeros(len(position), dtype=np.int64)
        choose_edges(seeds[rows, level], first[rows, level], sizes, actions, weights, chosen)
        return np.where(chosen < 0, NO_EDGE, edges[chosen])

    def _explaining(self, now: _Histories) -> Belief:
        """Return the histories that contradict nothing."""
        alive = self.graph.player[now.position[np.arange(CHAINS), now.length]] != TERMINAL
        rows = np.flatnonzero((now.cost == 0) & alive)
        at = now.length[rows]
        trail = np.where(np.arange(self.levels) < at[:, None], now.edge[rows], NO_EDGE)[:, : int(at.max(initial=0))]
        return Belief(now.position[rows, at], now.infostate[rows, at], np.ones(len(rows)), trail.astype(np.int32))
