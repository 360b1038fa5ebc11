"""What a player must reckon with, where the positions of a game are known: exact beliefs as arrays.

``beliefs`` asks the states of a game; here all is read from the graph, and every information state's range is worked
out once from the one before it, however many games are played.

Information states are numbered as they are met, so those numbers only tell one state from another: what is found for a
state, to the last bit, must not depend on what was asked before.  Rows therefore stand in the order in which the graph
leads to them, and whatever is drawn is drawn from the state's own tokens (``Ranges.generator``).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from infoset.base import Action, BoolArray, FloatArray, IntArray, LongArray
from infoset.errors import BudgetError
from infoset.tree.game_tree import InformationStates
from infoset.tree.graph import CHANCE, NO_TOKEN, TERMINAL, GameGraph, spread
from infoset.tree.growing import GrowingGraph, GrowingStates

MAX_RANGE = 100_000  # histories; of more, so many are drawn
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
    points = (rng.random() + np.arange(count)) / count
    rows = np.searchsorted(np.cumsum(found.weight), points * found.weight.sum())
    picked = found.take(np.minimum(rows, found.size - 1))
    return merged(picked._replace(weight=np.ones(count)))


def whole(graph: GameGraph) -> Range:
    """The start of a game."""
    return Range(np.zeros(1, np.int64), np.arange(len(graph.players), dtype=np.int64)[None], np.ones(1))


class Graph(Protocol):
    """Positions, all of them (``GameGraph``) or as far as they were asked for (``GrowingGraph``)."""

    players: tuple[str, ...]

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
    def ask(self, edges: LongArray) -> None: ...
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
            return np.random.default_rng([self.seed, player, *self.graph.key(state).encode()])
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
            found = self._advance(found, player, below)
            self._keep(below, found)
        return found

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
        found = self.until(self.of(player, state), player, player)
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
        self.entries = 0

    def move_to(self, graph: GrowingGraph, state: int) -> int:
        """Go on with another graph of the game, on which the range of a state, or the last one before it that is kept,
        is all that is known.  Returns that state's number there.  Raises as ``graph.ask`` does, and stays then."""
        last = state
        while last not in self.kept and self.states.parent[last] >= 0:
            last = int(self.states.parent[last])
        found = self._few(self.kept[last], last) if last in self.kept else whole(self.graph)
        position = graph.positions_of(self.graph, found.position)
        numbers = graph.states_of(self.graph, np.append(found.known, [last, state]))
        self.graph, self.states = graph, graph.states
        self.forget()
        self._keep(int(numbers[-2]), Range(position, numbers[:-2].reshape(found.known.shape), found.weight))
        return int(numbers[-1])

    def _few(self, found: Range, state: int) -> Range:
        """No more of them than are wanted."""
        return drawn(found, self.most, self.generator(state)) if found.size > self.most else found

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

    def _advance(self, found: Range, player: int, state: int) -> Range:
        """One token further, to ``state``: what the others did meanwhile, as likely as it is."""
        now, ended, token = self._few(found, state), [], self.states.token[state]
        while now.size:
            after, over = self._edge(now, player, token)
            alive = self.graph.player[after.position] != TERMINAL
            ended.append(after.take(np.flatnonzero(over & alive)))
            now = after.take(np.flatnonzero(~over & alive))
        if not ended:
            return now
        all_ended = Range(*[np.concatenate(parts) for parts in zip(*ended, strict=True)])
        return self._few(merged(all_ended), state)

    def _edge(self, now: Range, player: int, token: int) -> tuple[Range, BoolArray]:
        """One edge further as far as that agrees with a token, and where the token was seen."""
        graph = self.graph
        edges, source = self._spread(now.position)
        mover = graph.player[now.position[source]]
        weight = now.weight[source] * self._chances(edges, mover, now, source, player)
        fits = (weight > 0) & ((mover != player) | self._moved(edges, now.position[source], self._own_move(token)))
        edges, source, weight = edges[fits], source[fits], weight[fits]
        graph.ask(edges)
        tokens = graph.token[edges]
        seen = tokens[:, player]
        fits = (seen == token) | (seen == NO_TOKEN)
        child = graph.child[edges[fits]].astype(np.int64)
        known = self.states.behind(now.known[source[fits]], tokens[fits])
        return Range(child, known, weight[fits]), np.asarray(seen[fits] == token)

    def _own_move(self, token: int) -> object:
        return (self.graph.source.token(token) if isinstance(self.graph, GrowingGraph) else self.graph.tokens[token])[0]

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


def order_two(
    ranges: Ranges, player: int, state: int, sets: int, others: int, rng: np.random.Generator, until: float = inf
) -> Range:
    """Worlds of one's own, and those that the others then hold possible: in these one knows something else.

    At most ``sets`` worlds of one's own are drawn, and ``others`` beside each; a world of another's range weighs what
    it does there, scaled so that those which are also one's own weigh what they do in one's own
    (``subgame.order_two_root``).  From the moment ``until`` on no more are added.

    >>> import numpy as np
    >>> from infoset.search.ranges import Ranges, order_two
    >>> from infoset.tree.graph import explore
    >>> ranges = Ranges(explore(infoset.load("kuhn_poker")))
    >>> king = ranges.behind(0, ranges.graph.tokens.index((None, "K")))
    >>> root = order_two(ranges, 0, king, sets=2, others=2, rng=np.random.default_rng(1))
    >>> len(root.weight) > len(ranges.asked(0, king).weight)
    True
    """
    mine = drawn(ranges.asked(player, state), sets, rng)
    if not mine.size:
        return mine
    parts = [mine]
    for p in range(mine.known.shape[1]):
        for k in dict.fromkeys(mine.known[:, p].tolist()) if p != player else []:
            theirs = ranges.until(ranges.of(p, k), player, p)
            here = (theirs.known[:, player] == state) & np.isin(theirs.position, mine.position)
            if (share := float(theirs.weight[here].sum())) <= 0.0 or time.monotonic() > until:
                continue
            scale = mine.weight[mine.known[:, p] == k].sum() / share
            away = theirs.take(np.flatnonzero(~here))
            total = away.weight.sum()
            if total > 0.0:
                away = drawn(away._replace(weight=away.weight / total), others, rng)
                parts.append(away._replace(weight=away.weight * total * scale))
    found = Range(*[np.concatenate(arrays) for arrays in zip(*parts, strict=True)])
    rows, first = np.unique(np.column_stack([found.position, found.known]), axis=0, return_index=True)
    found = found.take(np.sort(first)) if len(rows) < found.size else found
    return found._replace(weight=found.weight / found.weight.sum())


def common_root(ranges: Ranges, player: int, state: int, most: int) -> Range:
    """All worlds that somebody holds possible in one of these worlds: as far as common knowledge goes.

    A world weighs what chance and everybody's moves make of it, beside the others.  Raises ``BudgetError`` where there
    are more than ``most``.
    """
    mine = ranges.asked(player, state)
    if not mine.size:
        return mine
    found = dict(zip(map(tuple, _rows(mine)), mine.weight.tolist(), strict=True))
    asked = {(player, state)}
    todo = list(found)
    while todo:
        world = todo.pop()
        for p, k in enumerate(world[1:]):
            if (p, k) in asked:
                continue
            asked.add((p, k))
            theirs = ranges.until(ranges.of(p, k), player, p)
            weights = dict(zip(map(tuple, _rows(theirs)), theirs.weight.tolist(), strict=True))
            here = [row for row in weights if row in found]
            if not here:
                continue
            scale = sum(found[row] for row in here) / max(sum(weights[row] for row in here), 1e-300)
            fresh = [row for row in weights if row not in found]
            found |= {row: scale * weights[row] for row in fresh}
            todo += fresh
            if len(found) > most:
                raise BudgetError(f"common knowledge allows more than {most:,} worlds")
    worlds = np.array(list(found), dtype=np.int64)
    weight = np.array(list(found.values()))
    return Range(worlds[:, 0], worlds[:, 1:], weight / weight.sum())


def _rows(found: Range) -> list[list[int]]:
    rows: list[list[int]] = np.column_stack([found.position, found.known]).tolist()
    return rows
