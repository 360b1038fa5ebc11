"""The boards of a hold'em spot: the cards that may be dealt up to suit isomorphism, and the hands left beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import BoolArray, IntArray, LongArray
from infoset.games.hand_strengths import strengths_on_boards
from infoset.games.suits import IDENTITY, SuitPermutation, card_classes, fix_card, hand_images
from infoset.jit import kernel
from infoset.tree.public_tree import ALL_CARDS, PLAYERS
from infoset.tree.vector_walk import DECK


class Board(NamedTuple):
    """The public cards, in the order in which they were dealt, and the hands that may be held beside them."""

    cards: tuple[int, ...]
    above: int
    """The number of the board before the last card; −1 for the first one."""
    copies: tuple[SuitPermutation, ...]
    """For each last card that this one stands for, itself first, the permutation of the suits that leads there."""
    hands: tuple[LongArray, ...]
    """For each player the numbers of its hands; on the last street sorted by strength."""
    strengths: tuple[LongArray, ...]
    """For each player the strengths of its hands, 0 before the last street."""


@dataclass
class Deal:
    """All boards that may follow the first one, depth first, with the matrices of those where players may be all-in.

    ``hands`` holds for each player (H, 2) its hands, ``symmetries`` the permutations of the suits that keep the first
    board and both ranges.  ``deepest`` is the number of further cards for which boards are needed; ``all_ins`` says for
    each number of further cards whether players may be all-in then.
    """

    hands: tuple[LongArray, LongArray]
    symmetries: Sequence[SuitPermutation]
    deepest: int
    all_ins: Sequence[bool]
    boards: list[Board] = field(default_factory=list)
    matrices: dict[int, npt.NDArray[np.int16]] = field(default_factory=dict)
    """By the number of a board (first player's hands, second's): wins less losses over all further cards."""

    def deal(self, cards: tuple[int, ...]) -> None:
        """Add the boards that begin with these cards."""
        everything = tuple(np.arange(len(own)) for own in self.hands)
        strengths = self._strengths([cards])[0] if len(cards) == ALL_CARDS else None
        self._add(cards, -1, (IDENTITY,), everything, strengths, self.symmetries, 0)

    @cached_property
    def _both(self) -> LongArray:
        return np.concatenate(self.hands)

    def _strengths(self, boards: Sequence[tuple[int, ...]]) -> IntArray:
        """Return (B, both players' hands) the strengths on each board, below 0 where it holds a card of the hand."""
        return strengths_on_boards(np.array(boards), self._both)

    @cached_property
    def _images(self) -> dict[tuple[SuitPermutation, int], LongArray]:
        return {}

    def images(self, permutation: SuitPermutation, player: int) -> LongArray:
        """Return the number of each hand's image."""
        key = permutation, player
        if key not in self._images:
            self._images[key] = hand_images(self.hands[player].tolist(), permutation)
        return self._images[key]

    def _add(
        self, cards: tuple[int, ...], above: int, copies: tuple[SuitPermutation, ...], hands: tuple[LongArray, ...],
        strengths: IntArray | None, symmetries: Sequence[SuitPermutation], depth: int,
    ) -> int:  # fmt: skip
        """Add a board and those below; return its number."""
        number = len(self.boards)
        levels = tuple(np.zeros(len(own), np.int64) for own in hands)
        if strengths is not None:
            players = np.split(strengths, [len(self.hands[0])])
            levels = tuple(level[own].astype(np.int64) for level, own in zip(players, hands, strict=True))
            order = [np.argsort(level, kind="stable") for level in levels]
            hands, levels = (
                tuple(values[place] for values, place in zip(both, order, strict=True)) for both in (hands, levels)
            )
        self.boards.append(Board(cards, above, copies, hands, levels))
        if len(cards) == ALL_CARDS:
            return number
        is_last_card = len(cards) == ALL_CARDS - 1
        all_in = any(self.all_ins[: depth + 1])  # matrices are sums of those of the boards below
        further = [card for card in range(DECK) if card not in cards]
        rows = self._strengths([(*cards, card) for card in further]) if is_last_card else None
        below = []
        if depth < self.deepest or (all_in and not is_last_card):
            for group in card_classes(cards, symmetries):
                card = group.representative
                left = tuple(own[(self.hands[p][own] != card).all(axis=1)] for p, own in enumerate(hands))
                if not all(map(len, left)):
                    continue
                row = None if rows is None else rows[further.index(card)]
                permutations = tuple(member.permutation for member in group.members)
                below.append(
                    self._add((*cards, card), number, permutations, left, row, fix_card(symmetries, card), depth + 1)
                )
        if all_in:
            self.matrices[number] = self._matrix(hands, rows) if rows is not None else self._sum(hands, below)
        return number

    def _matrix(self, hands: tuple[LongArray, ...], rows: IntArray) -> npt.NDArray[np.int16]:
        """Return the matrix of wins less losses over the last card."""
        one, two = hands
        matrix = np.zeros((len(one), len(two)), np.int16)
        first, second = rows[:, one].astype(np.int16), rows[:, len(self.hands[0]) + two].astype(np.int16)
        count_wins(first, second, matrix)
        matrix *= disjoint_hands(self.hands[0][one], self.hands[1][two])
        return matrix

    def _sum(self, hands: tuple[LongArray, ...], below: list[int]) -> npt.NDArray[np.int16]:
        """Return the matrix as the sum of those of the boards below, once for each board that they stand for."""
        matrix = np.zeros((len(hands[0]), len(hands[1])), np.int16)
        for number in below:
            for permutation in self.boards[number].copies:
                places = [self.places(number, permutation, p) for p in range(PLAYERS)]
                matrix[np.ix_(*places)] += self.matrices[number]
        return matrix

    def places(self, number: int, permutation: SuitPermutation, player: int) -> LongArray:
        """Return the place of each hand's image by a permutation among the hands of the board before."""
        board = self.boards[number]
        before = np.zeros(len(self.hands[player]), np.int64)
        before[self.boards[board.above].hands[player]] = np.arange(len(self.boards[board.above].hands[player]))
        return np.asarray(before[self.images(permutation, player)[board.hands[player]]])


def count_hands(
    board: tuple[int, ...], hands: tuple[LongArray, LongArray], symmetries: Sequence[SuitPermutation]
) -> list[LongArray]:
    """Return for each number of further cards (B, 2) the numbers of both players' hands on all boards.

    The boards are those that ``Deal`` makes, up to isomorphism; it takes milliseconds.
    """
    holds = np.zeros((PLAYERS, DECK, DECK), np.int64)  # on the diagonal the hands with a card, beside it with both
    for player, own in enumerate(hands):
        for one, two in (own.T, own.T[::-1]):
            np.add.at(holds[player], (one, two), 1)
            np.add.at(holds[player], (one, one), 1)
    boards: list[tuple[tuple[int, ...], Sequence[SuitPermutation]]] = [(board, symmetries)]
    left = np.array([[len(own) for own in hands]])
    found = [left]
    for _ in range(ALL_CARDS - len(board)):
        below: list[tuple[tuple[int, ...], Sequence[SuitPermutation]]] = []
        counts = []
        for (cards, same), count in zip(boards, left, strict=True):
            for group in card_classes(cards, same):
                card = group.representative
                fewer = count - holds[:, card, card] + holds[:, card, cards[len(board) :]].sum(axis=1)
                if fewer.all():
                    below.append(((*cards, card), fix_card(same, card)))
                    counts.append(fewer)
        boards, left = below, np.array(counts).reshape(-1, PLAYERS)
        found.append(left)
    return found


def disjoint_hands(one: LongArray, two: LongArray) -> BoolArray:
    """Return (hands, hands) whether two hands share no card."""
    holds = [np.zeros((len(hands), DECK), np.float32) for hands in (one, two)]
    for at, hands in zip(holds, (one, two), strict=True):
        np.put_along_axis(at, hands, 1.0, axis=1)
    return np.asarray(holds[0] @ holds[1].T == 0)


@kernel
def count_wins(one: Any, two: Any, matrix: Any) -> None:
    """Add to ``matrix`` (n, m) the wins less the losses of hands with the strengths (B, n) and (B, m) on B boards.

    Strengths are below 0 where a board holds a card of the hand.
    """
    for b in range(one.shape[0]):
        for i in range(one.shape[1]):
            level = one[b, i]
            if level >= 0:
                row, others = matrix[i], two[b]
                for j in range(two.shape[1]):
                    row[j] += (others[j] >= 0) * ((level > others[j]) * 1 - (level < others[j]) * 1)
