"""What a player must reckon with: the histories that explain what it saw, as arrays.

All is read from the game's graph, and every information state's range is worked out once from the one before it,
however many games are played.  It is exact where it fits; of more than ``most`` histories so many are drawn, and where
none of those explains what is seen next, others are drawn from the start on (``Draws``), or where there is no time for
that, some are kept that explain all but the last thing seen (``relaxed``).

Information states are numbered as they are met, so those numbers only tell one state from another: what is found for a
state, to the last bit, must not depend on what was asked before.  Rows therefore stand in the order in which the graph
leads to them, and whatever is drawn is drawn from the state's own tokens (``Ranges.generator``).
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.base import Action, BoolArray, FloatArray, IntArray, LongArray, Token
from infoset.errors import BudgetError
from infoset.tree.game_tree import InformationStates
from infoset.tree.graph import CHANCE, NO_TOKEN, TERMINAL, spread
from infoset.tree.growing import GrowingGraph, GrowingStates, Numbered

MAX_RANGE = 100_000  # histories; of more, so many are drawn
AGAIN = 64  # histories that are drawn where nothing is left of a range
EDGES = 4  # edges that are looked behind, at most, for each history of a range
TRIES = 10_000  # walks from the start, at most
ALIVE = 1e-12  # a smaller chance is rounding: nothing is left there
MAX_ENTRIES = 4_000_000  # histories kept in all, the least lately used go first

Movers: TypeAlias = npt.NDArray[np.int8]

Moves: TypeAlias = Callable[[LongArray, LongArray], FloatArray]
"""How likely others take edges: from edges (K,), and what the mover knows before each (K,), to chances (K,)."""


class Range(NamedTuple):
    """Histories that end alike for one player: where they stand, what everybody knows there, and their weights."""

    position: LongArray  # (K,)
    known: LongArray  # (K, n) information states
    weight: FloatArray  # (K,) sums to one

    @property
    def size(self) -> int:
        return len(self.position)

    @property
    def effective(self) -> float:
        """How many histories with equal weights would say as much (Kish 1965)."""
        return float(self.weight.sum() ** 2 / max(float((self.weight**2).sum()), 1e-300)) if self.size else 0.0

    def take(self, rows: LongArray | IntArray) -> Range:
        return Range(self.position[rows], self.known[rows], self.weight[rows])


def merged(found: Range) -> Range:
    """Equal histories as one where the first of them stood, with their weights together, which are made to sum to one.

    >>> import numpy as np
    >>> from infoset.search.ranges import Range, merged
    >>> merged(Range(np.array([7, 3, 7]), np.array([[1], [2], [1]]), np.ones(3))).position
    array([7, 3])
    """
    rows = np.column_stack([found.position, found.known])
    order = np.lexsort(rows.T)  # stable: the first of equal histories comes first
    rows = rows[order]
    fresh = np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)])[: len(rows)]
    starts = np.flatnonzero(fresh)
    weight = np.add.reduceat(found.weight[order], starts) if len(starts) else found.weight
    first = order[starts]
    placed = np.argsort(first)
    weight = weight[placed]
    return found.take(first[placed])._replace(weight=weight / max(float(weight.sum()), 1e-300))


def drawn(found: Range, count: int, rng: np.random.Generator) -> Range:
    """At most so many of the histories, each as often as its weight says (systematic sampling); equal ones as one."""
    if found.size <= count:
        return found
    picked = found.take(systematic(found.weight, count, rng))
    return merged(picked._replace(weight=np.ones(count)))


def systematic(weight: FloatArray, count: int, rng: np.random.Generator) -> LongArray:
    """(count,) places, each as often as its weight says (systematic sampling)."""
    points = (rng.random() + np.arange(count)) / count
    rows: LongArray = np.searchsorted(np.cumsum(weight), points * weight.sum()).astype(np.int64)
    return np.minimum(rows, len(weight) - 1)


def whole(graph: Graph) -> Range:
    """The start of a game."""
    return Range(np.zeros(1, np.int64), np.arange(len(graph.players), dtype=np.int64)[None], np.ones(1))


class Graph(Protocol):
    """Positions, all of them (``GameGraph``) or as far as they were asked for (``GrowingGraph``)."""

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
    def token(self) -> IntArray: ...
    @property
    def payoffs(self) -> FloatArray: ...
    @property
    def menus(self) -> Numbered[tuple[Action, ...]] | list[tuple[Action, ...]]: ...
    @property
    def tokens(self) -> Numbered[Token] | list[Token]: ...
    def ask(self, edges: LongArray) -> None: ...
    def ends(self, edges: LongArray) -> BoolArray: ...
    def moves(self, position: int) -> tuple[Action, ...]: ...
    def decides(self, positions: LongArray, player: int) -> BoolArray: ...


class Ranges:
    """The range of every information state that was asked for; the others move by ``moves``, uniformly by default.

    >>> from infoset.search.ranges import Ranges
    >>> from infoset.tree.graph import explore
    >>> ranges = Ranges(explore(infoset.load("kuhn_poker")))
    >>> king = ranges.behind(0, ranges.graph.tokens.index((None, "K")))         # player 1 holds it
    >>> ranges.asked(0, king).weight                                            # player 2 one of the others
    array([0.5, 0.5])
    """

    def __init__(
        self, graph: Any, moves: Moves | None = None, seed: int = 0, most: int = MAX_RANGE, entries: int = 0
    ) -> None:
        """Of a range of more than ``most`` histories, so many are drawn.  With ``entries`` at most about so many are
        kept in all, and ``BudgetError`` is raised where more edges than that lead out of a range."""
        self.graph, self.moves, self.seed, self.most = graph, moves, seed, most
        self.most_entries, self.most_edges = entries or MAX_ENTRIES, entries or inf
        self.states = graph.states if isinstance(graph, GrowingGraph) else InformationStates(graph)
        self.kept: OrderedDict[int, Range] = OrderedDict()
        self.entries = 0
        self.thinned: set[int] = set()  # states whose ranges are not whole
        self.drawn_again = 0  # how often nothing was left of a range, and others were drawn
        self.relaxed = False
        """Whether then some are kept that explain all but the last token, instead."""
        self.near: set[int] = set()  # states of which such are kept
        self.looked = 0  # edges that were looked behind

    def key(self, state: int) -> str:
        """The readable key of an information state."""
        return self.graph.key(state) if isinstance(self.states, GrowingStates) else self.states.key(state)

    def behind(self, state: int, token: int) -> int:
        """The information state one token further."""
        return self.states.after(state, token)

    def generator(self, state: int) -> np.random.Generator:
        """Of random numbers for an information state: always the same ones, whatever was asked before."""
        player, path = self.states.path(state)
        if isinstance(self.graph, GrowingGraph):  # whose tokens are numbered in the order in which they are met
            key = hashlib.blake2b(self.graph.key(state).encode(), digest_size=16)
            return np.random.default_rng([self.seed, player, int.from_bytes(key.digest(), "big")])
        return np.random.default_rng([self.seed, player, *path])

    def of(self, player: int, state: int) -> Range:
        """The histories right after the last token of the state; none where no history explains it."""
        path = []
        while state not in self.kept and self.states.parent[state] >= 0:
            path.append(state)
            state = self.states.parent[state]
        if state not in self.kept:
            self._keep(state, whole(self.graph))
        self.kept.move_to_end(state)
        found = self.kept[state]
        for below in reversed(path):
            before, found = found, self._advance(found, player, below)
            if not found.size and below in self.thinned:
                found = self._again(before, player, below)
                if not found.size:  # others may be looked for
                    return found
            self._keep(below, found)
        return found

    def _again(self, before: Range, player: int, state: int) -> Range:
        """Where none that is left of a range ``before`` explains what was seen next, on the way to ``state``."""
        if not self.relaxed:
            self.drawn_again += 1
            return Draws(self, state, self.generator(state)).draw(min(AGAIN, self.most))
        self.near.add(state)
        few = drawn(before, min(AGAIN, self.most), self.generator(state))
        if (found := self._advance(few, player, state, loosely=True)).size:
            return found
        known = few.known.copy()  # the game would be over in all of them: they stand still
        known[:, player] = state
        return few._replace(known=known)

    def chance(self, player: int, state: int, token: int) -> float:
        """How likely a token is the next that the player sees, its own moves given; the game may be over then."""
        now, total = self.of(player, state), 0.0
        while now.size:
            after, over = self._edge(now, player, token)
            total += float(after.weight[over].sum())
            now = after.take(np.flatnonzero(~over & (self.graph.player[after.position] != TERMINAL)))
        return total

    def asked(self, player: int, state: int) -> Range:
        """The histories of the state in which the player has a move in the step to come."""
        found = self.until(self._few(self.of(player, state), state), player, player)
        found = found.take(np.flatnonzero(self.graph.decides(found.position, player)))
        return found._replace(weight=found.weight / max(float(found.weight.sum()), 1e-300))

    def until(self, found: Range, player: int, watcher: int) -> Range:
        """With what happens before ``player`` has a move, as far as ``watcher`` sees nothing of it."""
        graph, parts = self.graph, []
        while found.size:
            waits = ~graph.decides(found.position, player) & (graph.player[found.position] != TERMINAL)
            if watcher != player:  # who moves notices that
                waits &= ~graph.decides(found.position, watcher)
            parts.append(found.take(np.flatnonzero(~waits)))
            now = found.take(np.flatnonzero(waits))
            edges, source = self._spread(now.position)
            graph.ask(edges)
            silent = graph.token[edges, watcher] == NO_TOKEN
            stays = np.bincount(source[silent], minlength=now.size) == 0
            parts.append(now.take(np.flatnonzero(stays)))
            edges, source = edges[silent], source[silent]
            mover = graph.player[now.position[source]]
            chance = self._chances(edges, mover, now, source, watcher)
            weight: FloatArray = now.weight[source] * chance
            known = self.states.behind(now.known[source], graph.token[edges])
            found = Range(graph.child[edges].astype(np.int64), known, weight)
            found = found.take(np.flatnonzero(weight > 0))
        return Range(*[np.concatenate(arrays) for arrays in zip(*parts, strict=True)]) if parts else found

    def forget(self) -> None:
        """Work out every range anew from here on."""
        self.kept.clear()
        self.thinned.clear()
        self.near.clear()
        self.entries = 0

    def move_to(self, graph: GrowingGraph, state: int) -> int:
        """Go on with another graph of the game, on which the range of a state, or the last one before it that is kept,
        is all that is known.  Returns that state's number there.  Raises as ``graph.ask`` does, and stays then."""
        last = state
        while last not in self.kept and self.states.parent[last] >= 0:
            last = int(self.states.parent[last])
        thinned, near = last in self.thinned, last in self.near
        found = self._few(self.kept[last], last) if last in self.kept else whole(self.graph)
        position = graph.positions_of(self.graph, found.position)
        numbers = graph.states_of(self.graph, np.append(found.known, [last, state]))
        self.graph, self.states = graph, graph.states
        self.forget()
        self._keep(int(numbers[-2]), Range(position, numbers[:-2].reshape(found.known.shape), found.weight))
        self.thinned |= {int(numbers[-2])} if thinned else set()
        self.near |= {int(numbers[-2])} if near else set()
        return int(numbers[-1])

    def _few(self, found: Range, state: int) -> Range:
        """No more of them than are wanted."""
        if found.size <= self.most:
            return found
        self.thinned.add(state)
        return drawn(found, self.most, self.generator(state))

    def _spread(self, positions: LongArray) -> tuple[LongArray, LongArray]:
        """All edges out of positions."""
        if (edges := int(self.graph.num_edges[positions].sum())) > self.most_edges:
            raise BudgetError(f"{edges:,} edges lead out of what may be; allowed: {self.most_edges:,}")
        return spread(self.graph, positions)

    def _keep(self, state: int, found: Range) -> None:
        self.kept[state] = found
        self.entries += found.size
        while self.entries > self.most_entries and len(self.kept) > 1:
            self.entries -= self.kept.popitem(last=False)[1].size

    def _advance(self, found: Range, player: int, state: int, loosely: bool = False) -> Range:
        """One token further, to ``state``: what the others did meanwhile, as likely as it is.

        ``loosely``: whatever the player would see then, as if it were what it saw; its own move is made, if it can be.
        """
        if self.states.parent[state] in self.thinned:
            self.thinned.add(state)
        now, ended, token = self._few(found, state), [], self.states.token[state]
        while now.size:
            after, over = self._edge(now, player, token, state, loosely)
            alive = self.graph.player[after.position] != TERMINAL
            ended.append(after.take(np.flatnonzero(over & alive)))
            now = after.take(np.flatnonzero(~over & alive))
        if not ended:
            return now
        all_ended = Range(*[np.concatenate(parts) for parts in zip(*ended, strict=True)])
        return self._few(merged(all_ended), state)

    def _edge(
        self, now: Range, player: int, token: int, state: int = NO_TOKEN, loosely: bool = False
    ) -> tuple[Range, BoolArray]:
        """One edge further as far as that agrees with a token, and where the token was seen.

        On the way to a ``state`` only some of very many edges are looked behind: of so many answers of nature to so few
        histories a clock would allow none.
        """
        graph = self.graph
        edges, source = self._spread(now.position)
        mover = graph.player[now.position[source]]
        weight = now.weight[source] * self._chances(edges, mover, now, source, player)
        own = (mover != player) | self._moved(edges, now.position[source], self._own_move(token))
        fits = (weight > 0) & (own | (loosely and not own.any()))
        edges, source, weight = edges[fits], source[fits], weight[fits]
        if state != NO_TOKEN and len(edges) > EDGES * self.most:
            self.thinned.add(state)
            picked = systematic(weight, EDGES * self.most, self.generator(state))
            edges, source, weight = edges[picked], source[picked], np.ones(len(picked))
        graph.ask(edges)
        self.looked += len(edges)
        tokens = graph.token[edges]
        over = tokens[:, player] != NO_TOKEN
        if loosely:
            tokens[over, player] = token
        fits = (tokens[:, player] == token) | ~over
        child = graph.child[edges[fits]].astype(np.int64)
        known = self.states.behind(now.known[source[fits]], tokens[fits])
        return Range(child, known, weight[fits]), over[fits]

    def _own_move(self, token: int) -> object:
        return self.graph.tokens[token][0]

    def _chances(self, edges: LongArray, mover: Movers, now: Range, source: LongArray, player: int) -> FloatArray:
        """How likely the edges are: nature's by the rules, the player's own surely, the others' by the model."""
        graph = self.graph
        chance: FloatArray = np.where(mover == CHANCE, graph.probability[edges], 1.0)
        others = np.flatnonzero((mover >= 0) & (mover != player))
        if self.moves:
            chance[others] = self.moves(edges[others], now.known[source[others], mover[others]])
        else:
            chance[others] = 1.0 / graph.num_edges[now.position[source[others]]]
        return chance

    def _moved(self, edges: LongArray, positions: LongArray, own: object) -> BoolArray:
        """Whether edges are the own move, by their places in the menus."""
        graph = self.graph
        content = graph.content[positions]
        decided = np.flatnonzero(graph.player[positions] >= 0)
        menus, first, inverse = np.unique(content[decided], return_index=True, return_inverse=True)
        place = np.full(len(menus), -1)
        for k, at in enumerate(positions[decided[first]].tolist()):
            moves = graph.moves(at)
            place[k] = moves.index(own) if own in moves else -1
        found = np.zeros(len(edges), dtype=np.bool_)
        found[decided] = (edges - graph.first[positions])[decided] == place[inverse]
        return found


class _Place(NamedTuple):
    """A history on the way to an information state; what follows it, and with what chances, less what is dead."""

    after: Range
    there: BoolArray  # (K,) whether that is the state
    alive: FloatArray  # (K,)


class Draws:
    """Histories that explain what a player saw, drawn one after the other from the start of the game.

    A walk that comes to nothing is remembered, and so is every place behind which all are dead: no mistake is made
    twice (Partridge & Thielscher 2022, 3.2).  ``true`` draws stand for how likely histories are: each weighs the chance
    of what was alive at the places on its way.  Others, for training, weigh alike, and walk to all that may follow
    with a chance of at least one in so many.

    >>> import numpy as np
    >>> from infoset.search.ranges import Draws, Ranges
    >>> from infoset.tree.growing import growing_graph
    >>> ranges = Ranges(growing_graph(infoset.load("gdl:monty_hall")))
    >>> number = ranges.graph.source.token_number
    >>> door = ranges.behind(0, number(0, (("choose", 1), ())))
    >>> len(Draws(ranges, door, np.random.default_rng(1)).draw(20).weight)      # the car is behind one of three
    3
    """

    def __init__(self, ranges: Ranges, state: int, rng: np.random.Generator, true: bool = True) -> None:
        self.ranges, self.state, self.rng, self.true = ranges, state, rng, true
        self.player, tokens = ranges.states.path(state)
        way = [self.player]
        for token in tokens:
            way.append(ranges.behind(way[-1], token))
        self.next = dict(zip(way, tokens, strict=False))
        self.places: dict[tuple[int, ...], _Place] = {}
        self.walks = 0

    def draw(self, count: int) -> Range:
        """So many, equal ones as one; fewer where ``TRIES`` walks do not find them, or the graph's clock rings.

        Raises ``BudgetError`` where that is before the first.
        """
        start = whole(self.ranges.graph)
        if self.state == self.player:
            return start
        until = self.walks + TRIES
        found: list[Range] = []
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
        return merged(Range(*[np.concatenate(parts) for parts in zip(*found, strict=True)]))

    def _walk(self, now: Range) -> Range | None:
        """To the state, if it comes to that."""
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

    def _place(self, now: Range) -> _Place:
        key = (int(now.position[0]), *now.known[0].tolist())
        if key not in self.places:
            after, over = self.ranges._edge(now, self.player, self.next[key[1 + self.player]])
            lasts = np.flatnonzero(self.ranges.graph.player[after.position] != TERMINAL)
            after = after.take(lasts)
            alive = after.weight if self.true else after.weight + 1 / max(len(lasts), 1)
            self.places[key] = _Place(after, over[lasts] & (after.known[:, self.player] == self.state), alive.copy())
        return self.places[key]

    @staticmethod
    def _bury(way: list[tuple[_Place, int]]) -> None:
        while way:
            place, k = way.pop()
            place.alive[k] = 0.0
            if place.alive.sum() > ALIVE:
                break
