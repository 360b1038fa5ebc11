"""Beliefs: the histories consistent with a player's observations, as weighted arrays.

Everything is read from the game's graph.  The ``Belief`` at an information state is computed once, from that of the
state before, however many games are played.  It is exact where it fits.  Of more than ``most`` histories, ``most`` are
sampled; where none of those explains the next observation, others are sampled from the start of the game
(``BeliefSampler``), or, where there is no time for that, some remain that explain all but the last observation
(``relaxed``).

Information states are numbered in the order in which they are met, so their numbers serve only to tell them apart: the
result for a state must not depend, to the last bit, on earlier queries.  Rows therefore stand in the order in which the
graph leads to them, and all samples are drawn from a generator seeded by the state's own records
(``BeliefTracker.generator``).
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.base import Action, BoolArray, FloatArray, IntArray, LongArray, ObservationRecord
from infoset.clock import ENDLESS, Clock
from infoset.errors import BudgetError, ClockError
from infoset.search.histories import Belief, drawn, joined, merged, systematic
from infoset.search.metropolis import MetropolisSampler
from infoset.tree.game_tree import InformationStates
from infoset.tree.graph import CHANCE, NO_RECORD, TERMINAL, spread
from infoset.tree.lazy_graph import LazyGraph, LazyInformationStates, Numbered

MAX_RANGE = 100_000  # the most histories of a belief; of more, that many are sampled
FEW_EDGES = 32  # edges whose timing is too short to be used
WAITING, FEWER, REPAIRING = (
    100,
    101,
    102,
)  # salts of generators: for histories in which the player waits, fewer, repaired
STAGES = 8  # one in this many parts of the time left is for following a record by one more edge
FIRST_PART = 16  # histories advanced at first where a clock runs
PASSES = 8  # samples of the same edges, at most
LOOK_BACK = 3  # records, at most, that are followed again where no history of a belief is left
AGAIN = 64  # histories sampled where no history of a belief is left
EDGES = 4  # edges followed, at most, for each history of a belief
TRIES = 10_000  # walks from the start, at most
ALIVE = 1e-12  # smaller probabilities are rounding errors and count as zero
MAX_ENTRIES = 4_000_000  # histories kept in all; the least recently used beliefs are dropped first

Movers: TypeAlias = npt.NDArray[np.int8]

Moves: TypeAlias = Callable[[LongArray, LongArray], FloatArray]
"""An opponent model: from edges (K,) and the mover's information state before each (K,) to probabilities (K,)."""


def whole(graph: Graph) -> Belief:
    """Return the belief at the start of a game."""
    trail = np.zeros((1, 0), dtype=np.int32) if isinstance(graph, LazyGraph) else None
    return Belief(np.zeros(1, np.int64), np.arange(len(graph.players), dtype=np.int64)[None], np.ones(1), trail)


class Graph(Protocol):
    """The positions of a game: all of them (``GameGraph``) or those asked for so far (``LazyGraph``)."""

    @property
    def players(self) -> tuple[str, ...]: ...
    @property
    def name(self) -> str: ...
    @property
    def player(self) -> Movers: ...
    @property
    def content(self) -> IntArray: ...
    @property
    def first(self) -> IntArray: ...
    @property
    def num_edges(self) -> IntArray: ...
    @property
    def child(self) -> IntArray: ...
    @property
    def probability(self) -> FloatArray: ...
    @property
    def record(self) -> IntArray: ...
    @property
    def payoffs(self) -> FloatArray: ...
    @property
    def action_sets(self) -> Numbered[tuple[Action, ...]] | list[tuple[Action, ...]]: ...
    @property
    def records(self) -> Numbered[ObservationRecord] | list[ObservationRecord]: ...
    def ask(self, edges: LongArray) -> None: ...
    def ends(self, edges: LongArray) -> BoolArray: ...
    def actions(self, position: int) -> tuple[Action, ...]: ...
    def decides(self, positions: LongArray, player: int) -> BoolArray: ...


class _Draw(NamedTuple):
    """How edges are sampled on the way to, or from, a state: by one generator, so that no two samples are alike."""

    state: int
    rng: np.random.Generator
    whole_weight: float = 1.0
    """The weight of the histories from which they lead."""


class BeliefTracker:
    """The beliefs of every information state that was asked for; the others move by ``actions``, uniformly by default.

    >>> from infoset.search.belief import BeliefTracker
    >>> from infoset.tree.graph import explore
    >>> ranges = BeliefTracker(explore(infoset.load("kuhn_poker")))
    >>> king = ranges.successor(0, ranges.graph.records.index((None, "K")))         # player 1 holds it
    >>> ranges.asked(0, king).weight                                            # player 2 one of the others
    array([0.5, 0.5])
    """

    def __init__(
        self, graph: Any, actions: Moves | None = None, seed: int = 0, most: int = MAX_RANGE, entries: int = 0
    ) -> None:
        """Make beliefs on a graph.

        A belief of more than ``most`` histories is replaced by a sample of ``most``.  With ``entries``, about that many
        histories are kept in all, and ``BudgetError`` is raised where more edges than that lead out of a belief.
        """
        self.graph, self.actions, self.seed, self.most = graph, actions, seed, most
        self.most_entries, self.most_edges = entries or MAX_ENTRIES, entries or inf
        self.states = graph.states if isinstance(graph, LazyGraph) else InformationStates(graph)
        self.cache: OrderedDict[int, Belief] = OrderedDict()
        self.entries = 0
        self.digest = (-1, 0, 0)  # the last state whose generator was asked for, its player and its key's digest
        self.thinned: set[int] = set()  # states whose beliefs are incomplete
        self.cut: set[int] = set()  # states of which only some histories were followed to where the player moves
        self.repaired = 0  # how often no history of a belief was left, and others were made from it
        self.drawn_again = 0  # how often no history of a belief was left, and others were sampled
        self.relaxed = False
        """Whether, in that case, histories are kept instead that explain all but the last record."""
        self.near: set[int] = set()  # states whose beliefs consist of such histories
        self.looked, self.spent = 0, 0.0  # edges that were followed, and the seconds that took

    @property
    def clock(self) -> Clock:
        """The clock that runs on the graph."""
        return self.graph.clock if isinstance(self.graph, LazyGraph) else ENDLESS

    @property
    def edge_seconds(self) -> float:
        """The time to follow an edge; 0 where it is unknown."""
        return self.spent / self.looked if self.looked >= FEW_EDGES else 0.0

    def key(self, state: int) -> str:
        """Return the readable key of an information state."""
        return self.graph.key(state) if isinstance(self.states, LazyInformationStates) else self.states.key(state)

    def successor(self, state: int, record: int) -> int:
        """Return the information state that follows a state by one record."""
        return self.states.after(state, record)

    def generator(self, state: int, salt: int = 0) -> np.random.Generator:
        """Return the random generator of an information state: always the same one, whatever was asked before.

        Other generators of the state have another ``salt``.
        """
        seeds = [self.seed, salt] if salt else [self.seed]
        if isinstance(self.graph, LazyGraph):  # records are numbered as they are met: use the key
            if self.digest[0] != state:
                key = hashlib.blake2b(self.graph.key(state).encode(), digest_size=16)
                self.digest = state, self.states.path(state)[0], int.from_bytes(key.digest(), "big")
            return np.random.default_rng([*seeds, *self.digest[1:]])
        player, path = self.states.path(state)
        return np.random.default_rng([*seeds, player, *path])

    def of(self, player: int, state: int) -> Belief:
        """Return the histories right after the last record of the state; none where no history explains it."""
        path = []
        while state not in self.cache and self.states.parent[state] >= 0:
            path.append(state)
            state = self.states.parent[state]
        if state not in self.cache:
            self._keep(state, whole(self.graph))
        self.cache.move_to_end(state)
        found = self.cache[state]
        for later, below in zip(range(len(path) - 1, -1, -1), reversed(path), strict=True):
            before, found = found, self._advance(found, player, below, later)
            if not found.size and below in self.thinned and not self.relaxed:
                found = self._rejuvenate(player, below, later)
                found = found if found.size else self._repair(before, below)
            if not found.size and below in self.thinned:
                found = self._again(before, player, below)
                if not found.size:  # not kept, so that a later call may sample others
                    return found
            self._keep(below, found)
        return found

    def _rejuvenate(self, player: int, state: int, later: int) -> Belief:
        """Return histories for ``state`` that are sampled anew from the belief of one, two or three records earlier.

        The last records then choose again among what led to the beliefs in between, of which nothing explains the
        present one.  No history is returned where that fails too, or the time is up.
        """
        chain, none = [state], whole(self.graph).take(np.zeros(0, dtype=np.int64))
        for back in range(LOOK_BACK):
            before = int(self.states.parent[chain[0]])
            if before < 0:
                break
            try:
                found = self.of(player, before)
                for left, below in zip(range(len(chain) - 1, -1, -1), chain, strict=True):
                    if found.size:
                        found = self._advance(found, player, below, later + left, salt=1 + back)
            except ClockError:
                return none
            if found.size:
                return found
            chain.insert(0, before)
        return none

    def _repair(self, before: Belief, state: int) -> Belief:
        """Return histories for ``state``, made by Metropolis steps from those ``before`` the last record.

        No history is returned where none is found in the time, or where nobody knows how ``before`` came about.
        """
        none = before.take(np.zeros(0, dtype=np.int64))
        if before.trail is None or not before.size:
            return none
        self.repaired += 1
        try:
            return MetropolisSampler(self, state, self.generator(state, REPAIRING)).draw(before, min(AGAIN, self.most))
        except ClockError:
            return none

    def _again(self, before: Belief, player: int, state: int) -> Belief:
        """Return other histories for ``state`` where none left of ``before`` explains the next observation."""
        if not self.relaxed:
            self.drawn_again += 1
            return BeliefSampler(self, state, self.generator(state)).draw(min(AGAIN, self.most))
        self.near.add(state)
        few = drawn(before, min(AGAIN, self.most), self.generator(state))
        if (found := self._advance(few, player, state, loosely=True)).size:
            return found
        infostate = few.infostate.copy()  # the game would be over in all of them: their positions stay
        infostate[:, player] = state
        return few._replace(infostate=infostate)

    def chance(self, player: int, state: int, record: int) -> float:
        """Return the probability of a player's next record, given its own moves; the game may end with it."""
        now, total = self.of(player, state), 0.0
        while now.size:
            after, over = self._edge(now, player, record)
            total += float(after.weight[over].sum())
            now = after.take(np.flatnonzero(~over & (self.graph.player[after.position] != TERMINAL)))
        return total

    def asked(self, player: int, state: int) -> Belief:
        """Return the histories of the state in which the player has a move in the step to come."""
        rng = self.generator(state, WAITING)
        found = self._few(self.of(player, state), state)._replace(trail=None)
        found = self.until(found, player, player, _Draw(state, rng))
        if state in self.cut:
            found = merged(found)
        found = found.take(np.flatnonzero(self.graph.decides(found.position, player)))
        return found._replace(weight=found.weight / max(float(found.weight.sum()), 1e-300))

    def until(self, found: Belief, player: int, watcher: int, draw: _Draw | None = None) -> Belief:
        """Follow histories to where ``player`` has a move, as long as ``watcher`` observes nothing of it.

        With a ``draw``, only a sample of very many edges is followed, and histories that wait for nothing are left out.
        """
        graph, parts, whole_weight = self.graph, [], float(found.weight.sum())
        while found.size:
            waits = ~graph.decides(found.position, player) & (graph.player[found.position] != TERMINAL)
            if watcher != player:  # a player notices that it has a move
                waits &= ~graph.decides(found.position, watcher)
            parts.append(found.take(np.flatnonzero(~waits)))
            now = found.take(np.flatnonzero(waits))
            edges, source = self._spread(now.position)
            mover = graph.player[now.position[source]]
            weight: FloatArray = now.weight[source] * self.edge_probabilities(edges, mover, now, source, watcher)
            if draw and len(edges) > self._most_edges():
                self.cut.add(draw.state)
                edges, source, weight = self._sample(edges, source, weight, whole_weight, draw.rng)
            graph.ask(edges)
            silent = graph.record[edges, watcher] == NO_RECORD
            if not draw:
                stays = np.bincount(source[silent], minlength=now.size) == 0
                parts.append(now.take(np.flatnonzero(stays)))
            edges, source, weight = edges[silent], source[silent], weight[silent]
            infostate = self.states.successors(now.infostate[source], graph.record[edges])
            found = Belief(graph.child[edges].astype(np.int64), infostate, weight)
            found = found.take(np.flatnonzero(weight > 0))
        return joined(parts) if parts else found

    def forget(self) -> None:
        """Drop all beliefs, so that every one is computed anew."""
        self.cache.clear()
        self.thinned.clear()
        self.cut.clear()
        self.near.clear()
        self.entries = 0

    def move_to(self, graph: LazyGraph, state: int) -> int:
        """Continue on another graph of the game, and return the number of a state there.

        All that is carried over is the belief of the state, or the last one before it that is kept.  Raises as
        ``graph.ask`` does, and then stays on the old graph.
        """
        last = state
        while last not in self.cache and self.states.parent[last] >= 0:
            last = int(self.states.parent[last])
        thinned, near = last in self.thinned, last in self.near
        found = self._few(self.cache[last], last) if last in self.cache else whole(self.graph)
        position = graph.positions_of(self.graph, found.position)
        numbers = graph.states_of(self.graph, np.append(found.infostate, [last, state]))
        self.graph, self.states, self.digest = graph, graph.states, (-1, 0, 0)
        self.forget()
        self._keep(int(numbers[-2]), Belief(position, numbers[:-2].reshape(found.infostate.shape), found.weight))
        self.thinned |= {int(numbers[-2])} if thinned else set()
        self.near |= {int(numbers[-2])} if near else set()
        return int(numbers[-1])

    def _few(self, found: Belief, state: int, rng: np.random.Generator | None = None) -> Belief:
        """Sample the histories down to ``most``, if there are more."""
        if found.size <= self.most:
            return found
        self.thinned.add(state)
        return drawn(found, self.most, self.generator(state, FEWER) if rng is None else rng)

    def _spread(self, positions: LongArray) -> tuple[LongArray, LongArray]:
        """Return all edges out of positions."""
        if (edges := int(self.graph.num_edges[positions].sum())) > self.most_edges:
            raise BudgetError(f"{edges:,} edges leave the belief; allowed: {self.most_edges:,}")
        return spread(self.graph, positions)

    def _keep(self, state: int, found: Belief) -> None:
        self.cache[state] = found
        self.entries += found.entries
        while self.entries > self.most_entries and len(self.cache) > 1:
            self.entries -= self.cache.popitem(last=False)[1].entries

    def _advance(
        self, found: Belief, player: int, state: int, later: int = 0, loosely: bool = False, salt: int = 0
    ) -> Belief:
        """Return the belief one record further, at ``state``, by the probabilities of what the others did meanwhile.

        Where only a sample is followed, it is drawn up to ``PASSES`` times, until ``most`` histories explain the record
        or the clock says stop.  Where a clock runs, ever larger random parts of the histories are followed, and time is
        left for ``later`` records and a move.  ``loosely``: any next observation of the player counts as the record;
        its own move is made where it is legal.
        """
        if self.states.parent[state] in self.thinned:
            self.thinned.add(state)
        rng, clock, began = self.generator(state, salt), self.clock, time.monotonic()
        found = self._few(found, state, rng)
        timed = clock.until < inf and found.size > FIRST_PART
        if timed:
            found = found.take(rng.permutation(found.size))
        size, begin, done, passes = FIRST_PART, 0, 0, 0
        ended: list[Belief] = []
        while True:
            part = found.take(np.arange(begin, min(begin + size, found.size))) if timed else found
            spent = time.monotonic() - began
            expected = (1 + part.size / done) * spent if ended else spent
            if done and expected > (spent + clock.left) / (2 + later):
                break
            try:
                ended += self._follow(part, player, _Draw(state, rng, float(part.weight.sum())), loosely)
            except ClockError:
                if not ended:
                    raise
                break
            begin, size, done = begin + part.size, 2 * size, done + part.size
            if begin == found.size:
                begin, passes = 0, passes + 1
                enough = sum(each.size for each in ended) >= self.most
                if loosely or enough or state not in self.thinned or passes == (1 if self.relaxed else PASSES):
                    break
        if begin:
            self.thinned.add(state)
        return self._few(merged(joined(ended)), state, rng) if ended else found.take(np.zeros(0, dtype=np.int64))

    def _follow(self, found: Belief, player: int, draw: _Draw, loosely: bool) -> list[Belief]:
        """Return the histories in which a state's record was observed, with what is left of their weights."""
        now, ended, record = found, [], self.states.record[draw.state]
        while now.size:
            after, over = self._edge(now, player, record, draw, loosely)
            alive = self.graph.player[after.position] != TERMINAL
            ended.append(after.take(np.flatnonzero(over & alive)))
            now = after.take(np.flatnonzero(~over & alive))
        return [each for each in ended if each.size]

    def _edge(
        self, now: Belief, player: int, record: int, draw: _Draw | None = None, loosely: bool = False
    ) -> tuple[Belief, BoolArray]:
        """Follow all edges of histories that agree with a record; also return where the record was observed.

        With a ``draw``, only a sample of very many edges is followed: with many outcomes of chance, no clock
        would suffice for all of them.
        """
        graph = self.graph
        edges, source = self._spread(now.position)
        mover = graph.player[now.position[source]]
        weight = now.weight[source] * self.edge_probabilities(edges, mover, now, source, player)
        own = (mover != player) | self.moved_edges(edges, now.position[source], self.graph.records[record][0])
        fits = (weight > 0) & (own | (loosely and not own.any()))
        edges, source, weight = edges[fits], source[fits], weight[fits]
        if draw and (draw.state in self.thinned or len(edges) > self._most_edges()):
            self.thinned.add(draw.state)
            edges, source, weight = self._sample(edges, source, weight, draw.whole_weight, draw.rng)
        began = time.monotonic()
        graph.ask(edges)
        self.looked, self.spent = self.looked + len(edges), self.spent + time.monotonic() - began
        records = graph.record[edges]
        over = records[:, player] != NO_RECORD
        if loosely:
            records[over, player] = record
        fits = (records[:, player] == record) | ~over
        edges, source = edges[fits], source[fits]
        infostate = self.states.successors(now.infostate[source], records[fits])
        after = Belief(graph.child[edges].astype(np.int64), infostate, weight[fits], now.trail_with(source, edges))
        return after, over[fits]

    def _most_edges(self) -> int:
        """Return how many edges are followed at once: as many as the number of histories and the clock allow."""
        most = EDGES * self.most
        if self.edge_seconds:
            most = int(min(most, max(EDGES * FIRST_PART, self.clock.left / STAGES / self.edge_seconds)))
        return most

    def _sample(
        self, edges: LongArray, source: LongArray, weight: FloatArray, whole_weight: float, rng: np.random.Generator
    ) -> tuple[LongArray, LongArray, FloatArray]:
        """Return a sample of edges in proportion to their weights.

        The sample is as large as their share of the ``whole_weight``: histories that wait long for the next
        observation, as while another tries one illegal move after the other, would otherwise take most of the time.
        """
        total = float(weight.sum())
        count = max(1, int(min(total / max(whole_weight, 1e-300), 1.0) * self._most_edges() + rng.random()))
        if count >= len(edges):
            return edges, source, weight
        picked = systematic(weight, count, rng)
        return edges[picked], source[picked], np.full(count, total / count)

    def edge_probabilities(
        self, edges: LongArray, mover: Movers, now: Belief, source: LongArray, player: int
    ) -> FloatArray:
        """Return the edges' probabilities: chance's by the rules, one for own moves, the others' by the model."""
        graph = self.graph
        chance: FloatArray = np.where(mover == CHANCE, graph.probability[edges], 1.0)
        others = np.flatnonzero((mover >= 0) & (mover != player))
        if self.actions:
            chance[others] = self.actions(edges[others], now.infostate[source[others], mover[others]])
        else:
            chance[others] = 1.0 / graph.num_edges[now.position[source[others]]]
        return chance

    def moved_edges(self, edges: LongArray, positions: LongArray, own: object) -> BoolArray:
        """Return whether edges are the player's own move, by their places in the action sets."""
        graph = self.graph
        content = graph.content[positions]
        decided = np.flatnonzero(graph.player[positions] >= 0)
        action_sets, first, inverse = np.unique(content[decided], return_index=True, return_inverse=True)
        place = np.full(len(action_sets), -1)
        for k, at in enumerate(positions[decided[first]].tolist()):
            actions = graph.actions(at)
            place[k] = actions.index(own) if own in actions else -1
        found = np.zeros(len(edges), dtype=np.bool_)
        found[decided] = (edges - graph.first[positions])[decided] == place[inverse]
        return found


class _Place(NamedTuple):
    """A history on the way to an information state: its successors, with probability zero where they are dead."""

    after: Belief
    there: BoolArray  # (K,) whether that is the information state asked for
    alive: FloatArray  # (K,)


class BeliefSampler:
    """Histories that explain a player's observations, sampled one by one from the start of the game.

    A walk that fails is remembered, and so is every place all of whose successors are dead: no mistake is made twice
    (Partridge & Thielscher 2022, 3.2).  ``true`` samples represent the probabilities of histories: each is weighted by
    the probability of what was alive at the places on its way.  Other samples, for training, have equal weights, and
    their walks add an equal share to the probability of each possible successor.

    >>> import numpy as np
    >>> from infoset.search.belief import BeliefSampler, BeliefTracker
    >>> from infoset.tree.rules_source import build_lazy_graph
    >>> ranges = BeliefTracker(build_lazy_graph(infoset.load("gdl:monty_hall")))
    >>> number = ranges.graph.source.record_number
    >>> door = ranges.successor(0, number(0, (("choose", 1), ())))
    >>> len(BeliefSampler(ranges, door, np.random.default_rng(1)).draw(20).weight)      # the car is behind one of three
    3
    """

    def __init__(self, ranges: BeliefTracker, state: int, rng: np.random.Generator, true: bool = True) -> None:
        self.ranges, self.state, self.rng, self.true = ranges, state, rng, true
        self.player, records = ranges.states.path(state)
        way = [self.player]
        for record in records:
            way.append(ranges.successor(way[-1], record))
        self.next = dict(zip(way, records, strict=False))
        self.places: dict[tuple[int, ...], _Place] = {}
        self.walks = 0

    def draw(self, count: int) -> Belief:
        """Return up to ``count`` histories, equal ones merged; fewer after ``TRIES`` walks or when the clock runs out.

        Raises ``BudgetError`` where the clock runs out before the first.
        """
        start = whole(self.ranges.graph)
        if self.state == self.player:
            return start
        until = self.walks + TRIES
        found: list[Belief] = []
        while len(found) < count and self.walks < until:
            self.walks += 1
            try:
                one = self._walk(start)
            except BudgetError:
                if not found:
                    raise
                break
            found += [one] if one is not None else []
            if one is None and not self._place(start).alive.sum() > ALIVE:
                break
        if not found:
            return start.take(np.zeros(0, dtype=np.int64))
        return merged(joined(found))

    def _walk(self, now: Belief) -> Belief | None:
        """Walk to the information state and return the history; ``None`` where the walk fails."""
        way: list[tuple[_Place, int]] = []
        weight = 1.0
        while True:
            place = self._place(now)
            running = np.cumsum(place.alive)
            if not len(running) or running[-1] <= ALIVE:
                self._bury(way)
                return None
            k = min(int(np.searchsorted(running, self.rng.random() * running[-1], side="right")), len(running) - 1)
            weight *= float(running[-1]) if self.true else 1.0
            way.append((place, k))
            now = place.after.take(np.array([k]))._replace(weight=np.ones(1))
            if place.there[k]:
                return now._replace(weight=np.array([weight]))

    def _place(self, now: Belief) -> _Place:
        key = (int(now.position[0]), *now.infostate[0].tolist())
        if key not in self.places:
            after, over = self.ranges._edge(now, self.player, self.next[key[1 + self.player]])
            lasts = np.flatnonzero(self.ranges.graph.player[after.position] != TERMINAL)
            after = after.take(lasts)
            alive = after.weight if self.true else after.weight + 1 / max(len(lasts), 1)
            self.places[key] = _Place(
                after, over[lasts] & (after.infostate[:, self.player] == self.state), alive.copy()
            )
        return self.places[key]

    @staticmethod
    def _bury(way: list[tuple[_Place, int]]) -> None:
        while way:
            place, k = way.pop()
            place.alive[k] = 0.0
            if place.alive.sum() > ALIVE:
                break
