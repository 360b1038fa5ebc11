"""Symmetries of a game: other names for its moves under which everything else is as it was.

A relabelling of moves is followed through all positions: it is a symmetry where it leads to positions at which the
same player moves, as likely, with the same payoffs, and where what everybody learns is relabelled consistently.  What
it does to positions, observations and menus follows; so candidates need no proof of their own and are simply tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from infoset.base import Action, IntArray, LongArray
from infoset.errors import GameRuleError
from infoset.jit import inner_kernel, kernel, linked_kernel
from infoset.tree.graph import NO_TOKEN, TERMINAL, GameGraph, Interner

MAX_ORDER = 64  # a group's elements are bits of one word
MAX_IMAGES = 400_000_000  # elements times positions
UNSEEN = -1
SAME = 1e-12  # probabilities may differ by so much


class Group(NamedTuple):
    """A group of symmetries as tables; element 0 changes nothing."""

    product: IntArray  # (G, G) [a, b]: first b, then a
    inverse: IntArray  # (G,)
    token: IntArray  # (G, T) what a token becomes
    menu: IntArray  # (G, M) what a menu becomes
    first_entry: IntArray  # (M + 1,) where a menu's moves begin in ``entry``
    entry: IntArray  # (G, all moves of all menus) the place of what a move becomes in what its menu becomes

    @property
    def order(self) -> int:
        return len(self.inverse)


@dataclass(frozen=True, eq=False)
class Symmetry:
    """A group and what it does to the positions of a graph."""

    image: IntArray  # (G, P)
    group: Group


class Moves:
    """The moves of all menus by number."""

    def __init__(self, menus: Sequence[tuple[Action, ...]]) -> None:
        number: Interner[Action] = Interner()
        rows = [[number(move) for move in menu] for menu in menus]
        self.number = number.number
        self.distinct = number.values()
        self.first = np.cumsum([0, *map(len, rows)]).astype(np.int32)
        self.flat = np.array([move for row in rows for move in row], dtype=np.int32)
        self.menu_of = {frozenset(row): k for k, row in enumerate(rows)}
        self.ordered = len(self.menu_of) == len(set(menus))  # no two menus are one in different order

    def renamed(self, names: dict[Action, Action]) -> IntArray | None:
        """A relabelling by number; ``None`` where it leaves the game's moves."""
        found = [self.number.get(names.get(move, move), -1) for move in self.distinct]
        return np.array(found, dtype=np.int32) if sorted(found) == list(range(len(found))) else None


def no_symmetry(graph: GameGraph) -> Symmetry:
    """The group of one element."""
    sizes = [len(menu) for menu in graph.menus]
    first = np.cumsum([0, *sizes]).astype(np.int32)
    entry = np.concatenate([np.zeros(0), *map(np.arange, sizes)]).astype(np.int32)
    tokens, menus = np.arange(len(graph.tokens), dtype=np.int32), np.arange(len(sizes), dtype=np.int32)
    one = np.zeros(1, dtype=np.int32)
    positions = np.arange(len(graph.player), dtype=np.int32)
    return Symmetry(positions[None], Group(one[None], one, tokens[None], menus[None], first, entry[None]))


def find_symmetry(graph: GameGraph, declared: Iterable[dict[Action, Action]] | None = None) -> Symmetry:
    """The group that those relabellings generate which turn out to be symmetries.

    ``declared`` maps moves to moves, those left out to themselves.  Without it all reversals of the arguments of
    compound moves are tried (one, two or all that have the same values), and all exchanges of two.
    Raises ``GameRuleError`` where one that is declared is no symmetry.

    >>> from infoset.tree.graph import explore
    >>> from infoset.tree.symmetry import find_symmetry
    >>> find_symmetry(explore(infoset.load("gdl:monty_hall"))).group.order      # the doors from left or from right
    2
    """
    moves = Moves(graph.menus)
    if graph.map_name or not moves.ordered:
        return no_symmetry(graph)
    generators = []
    for names in relabellings(moves.distinct) if declared is None else declared:
        move = moves.renamed(names)
        element = None if move is None else _follow(graph, moves, move)
        if element is not None:
            generators.append(element)
        elif declared is not None:
            raise GameRuleError(f"{graph.name}: the declared relabelling {names!r} is no symmetry of the game")
    elements = closure((len(moves.distinct), len(graph.player), len(graph.tokens)), generators)
    return Symmetry(np.stack([element.position for element in elements]), group_of(moves, elements))


def _value_order(value: object) -> tuple[bool, float, str]:
    return (False, value, "") if isinstance(value, int | float) else (True, 0.0, str(value))


def relabellings(moves: Sequence[Action]) -> Iterator[dict[Action, Action]]:
    """Arguments of compound moves turned round, and exchanged."""
    for arity in sorted({len(move) for move in moves if isinstance(move, tuple)}):
        some: list[tuple[Action, ...]] = [move for move in moves if isinstance(move, tuple) and len(move) == arity]
        values = [sorted(set(column), key=_value_order) for column in zip(*some, strict=True)]
        turned = [dict(zip(column, reversed(column), strict=True)) for column in values]
        wide = [k for k in range(arity) if len(values[k]) > 1]
        pairs = [pair for pair in combinations(wide, 2) if values[pair[0]] == values[pair[1]]]
        for chosen in sorted({(k,) for k in wide} | set(pairs) | {tuple(wide)} - {()}):
            yield {m: tuple([turned[k][v] if k in chosen else v for k, v in enumerate(m)]) for m in some}
        for i, j in pairs:
            yield {m: tuple([m[j] if k == i else m[i] if k == j else v for k, v in enumerate(m)]) for m in some}


@dataclass(frozen=True, eq=False)
class Element:
    """A symmetry: what it makes of moves, of positions (or of whatever a game's rules are made of), and of tokens."""

    move: IntArray  # (number of moves,)
    position: IntArray  # (P,)
    token: IntArray  # (T,)

    def after(self, other: Element) -> Element:
        return Element(self.move[other.move], self.position[other.position], self.token[other.token])


@inner_kernel
def _renamed_alike(token, e, f, seen):
    """Whether what the players learn by edge ``e`` becomes what they learn by ``f``, here as elsewhere."""
    for j in range(token.shape[1]):
        t, u = token[e, j], token[f, j]
        if (t < 0) != (u < 0):
            return False
        if t >= 0:
            if seen[t] == UNSEEN:
                seen[t] = u
            if seen[t] != u:
                return False
    return True


@linked_kernel
def _alike(player, content, first_edge, p, q):
    """Whether two positions can be images of each other, as far as they show it themselves."""
    same = player[p] == player[q] and first_edge[p + 1] - first_edge[p] == first_edge[q + 1] - first_edge[q]
    return same and (player[p] != TERMINAL or content[p] == content[q])


@kernel
def _extend(player, content, first_edge, child, probability, token, first_move, moves, move, image, seen):
    """Fill in the images of positions and tokens from the start on; whether the game is the same everywhere."""
    todo = np.empty(len(player), dtype=np.int32)
    todo[0] = image[0] = 0
    size, k = 1, 0
    while k < size:
        p, q = todo[k], image[todo[k]]
        k += 1
        if not _alike(player, content, first_edge, p, q):
            return False
        for e in range(first_edge[p], first_edge[p + 1]):
            wanted = move[moves[first_move[content[p]] + e - first_edge[p]]]
            f, last = first_edge[q], first_edge[q + 1]
            while f < last and moves[first_move[content[q]] + f - first_edge[q]] != wanted:
                f += 1
            if f == last or abs(probability[e] - probability[f]) > SAME or not _renamed_alike(token, e, f, seen):
                return False
            if image[child[e]] == UNSEEN:
                image[child[e]] = child[f]
                todo[size] = child[e]
                size += 1
            if image[child[e]] != child[f]:
                return False
    return True


def _follow(graph: GameGraph, moves: Moves, move: IntArray) -> Element | None:
    """The symmetry that a relabelling is, or ``None``."""
    position = np.full(len(graph.player), UNSEEN, dtype=np.int32)
    token = np.full(len(graph.tokens), UNSEEN, dtype=np.int32)
    if not _extend(
        graph.player, graph.content, graph.first_edge, graph.child, graph.probability, graph.token,
        moves.first, moves.flat, move, position, token,
    ):  # fmt: skip
        return None
    token = np.where(token == UNSEEN, np.arange(len(token)), token).astype(np.int32)
    bijective = all(len(np.unique(image)) == len(image) for image in (position, token)) and position.min(initial=0) >= 0
    starts = [start for start in graph.start_tokens if start != NO_TOKEN]
    return Element(move, position, token) if bijective and all(token[start] == start for start in starts) else None


def closure(sizes: tuple[int, int, int], generators: list[Element]) -> list[Element]:
    """All products of the generators, which permute so many moves, positions and tokens; the first changes nothing.

    A generator that makes them too many is left out.
    """
    elements = [Element(*[np.arange(size, dtype=np.int32) for size in sizes])]
    most = min(MAX_ORDER, MAX_IMAGES // sizes[1])
    kept: list[Element] = []
    for generator in generators:
        known = {element.move.tobytes() for element in elements}
        if generator.move.tobytes() in known:
            continue
        grown = list(elements)
        for element in grown:
            for factor in (*kept, generator):
                product = factor.after(element)
                if product.move.tobytes() not in known and len(grown) <= most:
                    known.add(product.move.tobytes())
                    grown.append(product)
        if len(grown) <= most:
            elements, kept = grown, [*kept, generator]
    return elements


def group_of(moves: Moves, elements: list[Element]) -> Group:
    """The tables of a group by its elements."""
    number = {element.move.tobytes(): k for k, element in enumerate(elements)}
    product = np.array(
        [[number[a.move[b.move].tobytes()] for b in elements] for a in elements], dtype=np.int32
    )  # fmt: skip
    inverse = product.argmin(axis=1).astype(np.int32)
    tables = [_menus(moves, element.move) for element in elements]
    token = np.stack([element.token for element in elements])
    menu, entry = (np.stack(table) for table in zip(*tables, strict=True))
    return Group(product, inverse, token, menu, moves.first, entry)


def _menus(moves: Moves, move: IntArray) -> tuple[IntArray, IntArray]:
    """What the menus become, and their moves' places there; -1 for menus that nobody is ever offered."""
    menu = np.full(len(moves.first) - 1, -1, dtype=np.int32)
    entry = np.full(len(moves.flat), -1, dtype=np.int32)
    rows: list[LongArray] = np.split(moves.flat, moves.first[1:-1])
    for k, row in enumerate(rows):
        found = moves.menu_of.get(frozenset(move[row].tolist()))
        if found is not None:
            place = {other: j for j, other in enumerate(rows[found].tolist())}
            menu[k] = found
            entry[moves.first[k] : moves.first[k + 1]] = [place[other] for other in move[row].tolist()]
    return menu, entry
