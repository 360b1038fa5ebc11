"""The payoffs of showdowns as sums of few products, by strength and without pairs of hands that share a card.

The matrix over two players' hands is a sum of products of lists of hands.  The stronger hand is found by halving: of
those between two strengths the upper half beats the other player's lower half, and so on in both halves.  Hands that
share cards are removed by inclusion and exclusion: all hands, less for each card those that contain it, plus for each
pair of cards those that contain both.  With ``h`` hands that is about ``h log h`` entries instead of ``h`` times ``h``.
Sorting by strength and removing shared cards are due to Johanson, Waugh, Bowling & Zinkevich, Accelerating best
response calculation in large extensive games, IJCAI 2011, who walk the hands in order, in O(h).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray

Paid: TypeAlias = "tuple[float, ...]"
PLAYERS = 2
MORE, EQUAL, LESS = range(3)  # places in a showdown


class Showdown(NamedTuple):
    """Both players' payoffs where the first is stronger, equal, weaker; ``None`` where that does not happen."""

    more: Paid | None
    equal: Paid | None
    less: Paid | None

    @property
    def kind(self) -> tuple[bool, ...]:
        """Which of the three outcomes have payoffs other than 0; ``()`` where all three have the same payoffs."""
        alike = len({paid for paid in self if paid is not None}) == 1
        return () if alike else tuple([bool(paid and any(paid)) for paid in self])

    def paid(self, pieces: Pieces) -> FloatArray:
        """Return (T, 2) the payoffs of each term of some pieces."""
        nothing = (0.0,) * PLAYERS
        table = np.array([paid or nothing for paid in self])
        if not self.kind:
            table[:] = next(paid for paid in self if paid is not None)
        return np.asarray(pieces.sign[:, None] * table[pieces.outcome])


class Pieces(NamedTuple):
    """Lists of hands, which may overlap; list ``t`` of both players makes term ``t``."""

    lists: tuple[list[list[int]], list[list[int]]]
    """For each player and hand the lists that contain it."""
    sign: FloatArray
    """(T,)"""
    outcome: IntArray
    """(T,) the outcome of the showdown whose payoffs the term has."""


def pieces(
    strength: Sequence[LongArray], cards: Sequence[Sequence[Sequence[Hashable]]], kind: tuple[bool, ...]
) -> Pieces:
    """Build the pieces of hands by ``strength`` (hands,) and ``cards``, each a list by player, and a showdown's kind.

    >>> showdown = Showdown((1, -1), None, (-1, 1))
    >>> found = pieces([np.array([1, 2])] * 2, [["a", "b"]] * 2, showdown.kind)
    >>> found.lists                                       # one card each: the higher one wins
    ([[1], [0]], [[0], [1]])
    >>> showdown.paid(found).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    made = _Pieces(strength, kind)
    for sign, hands in _shared(cards):
        made.add(sign, hands)
    lists: tuple[list[list[int]], list[list[int]]] = tuple([[[] for _ in own] for own in strength])  # type: ignore[assignment]
    for number, hands in enumerate(made.hands):
        for own, some in zip(lists, hands, strict=True):
            for hand in some.tolist():
                own[hand].append(number)
    return Pieces(lists, np.array(made.sign), np.array(made.outcome, np.int32))


def _shared(cards: Sequence[Sequence[Sequence[Hashable]]]) -> Iterable[tuple[float, tuple[LongArray, LongArray]]]:
    """Yield, for each set of cards, its sign and each player's hands that contain it."""
    holders: list[dict[tuple[Hashable, ...], list[int]]] = []
    for hands in cards:
        holders.append({})
        for k, hand in enumerate(hands):
            for size in range(len(hand) + 1):
                for some in combinations(sorted(hand), size):  # type: ignore[type-var]
                    holders[-1].setdefault(some, []).append(k)
    for some in sorted(holders[0].keys() & holders[1].keys(), key=lambda some: (len(some), some)):
        yield (-1.0) ** len(some), (np.array(holders[0][some]), np.array(holders[1][some]))


@dataclass
class _Pieces:
    strength: Sequence[LongArray]
    kind: tuple[bool, ...]
    hands: list[tuple[LongArray, LongArray]] = field(default_factory=list)
    sign: list[float] = field(default_factory=list)
    outcome: list[int] = field(default_factory=list)

    def add(self, sign: float, hands: tuple[LongArray, LongArray]) -> None:
        """Add the terms that pay every pair of these hands, times ``sign``."""
        if not self.kind:
            self._term(sign, *hands, MORE)
            return
        strengths = [self.strength[p][own] for p, own in enumerate(hands)]
        order = [np.argsort(own, kind="stable") for own in strengths]
        one, two = (own[by] for own, by in zip(hands, order, strict=True))
        ranked = [own[by] for own, by in zip(strengths, order, strict=True)]
        levels = np.unique(np.concatenate(ranked))
        first, second = ([*np.searchsorted(own, levels).tolist(), len(own)] for own in ranked)  # where a level begins
        todo = [(0, len(levels))]
        while todo:
            low, high = todo.pop()
            middle = (low + high) // 2
            if high - low == 1:
                self._term(sign, one[first[low] : first[high]], two[second[low] : second[high]], EQUAL)
            else:
                self._term(sign, one[first[middle] : first[high]], two[second[low] : second[middle]], MORE)
                self._term(sign, one[first[low] : first[middle]], two[second[middle] : second[high]], LESS)
                todo += [(low, middle), (middle, high)]

    def _term(self, sign: float, one: LongArray, two: LongArray, outcome: int) -> None:
        if len(one) and len(two) and (not self.kind or self.kind[outcome]):
            self.hands.append((one, two))
            self.sign.append(sign)
            self.outcome.append(outcome)
