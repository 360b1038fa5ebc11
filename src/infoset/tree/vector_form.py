"""The vector form of hold'em: a public tree in which each node has a vector of hands for each player.

All pairs of hands are compared in one pass over the hands sorted by strength, so that an iteration costs the number of
hands at all nodes.  Cards that a permutation of the suits makes equal lead to one board.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from infoset import status
from infoset.base import CardGame, FloatArray, InformationState, LongArray
from infoset.errors import BudgetError, shorten
from infoset.games.poker_hands import card_name, cards_of, hand_name
from infoset.games.suits import IDENTITY, SuitPermutation, permute_card, permute_hand, suit_permutations
from infoset.memory import free_memory, size_in_words
from infoset.tree.boards import Board, Deal, count_hands, disjoint_hands
from infoset.tree.public_form import (
    Place,
    PublicForm,
    begins_of,
    board_arrays,
    joined,
    node_arrays,
    table_arrays,
)
from infoset.tree.public_tree import (
    ALL_CARDS,
    HAND_CARDS,
    PLAYERS,
    BettingCount,
    Node,
    Street,
    build_streets,
    count_betting,
)
from infoset.tree.vector_walk import CHANCE_NODE, DECK, VectorArrays

BYTES = {"half": 2, "single": 4, "double": 8}
"""The size of a number by precision."""
BYTES_A_HAND = 40
"""The size of a hand on a board: its cards, strength, places and numbers."""
BYTES_A_PAIR = 4
"""The size of a pair of hands in a matrix of wins less losses, which is copied once."""
BYTES_A_NODE = 700
"""The size of a node of the betting."""
SCRATCH_BYTES = 36
"""The size of a number in the memory of three threads, in single and in double precision."""

SAME_SUM = 1e-9
"""Sums of payoffs that differ by less than this part of the range of payoffs are equal."""


@dataclass(frozen=True, eq=False)
class VectorForm(PublicForm):
    """The public tree of a hold'em spot.

    >>> from infoset.tree.vector_form import VectorForm
    >>> form = VectorForm.of(infoset.load("holdem_turn"))
    >>> len(form.boards), form.num_rows, form.num_infosets
    (49, 9492, 4746)
    """

    boards: list[Board] = field(repr=False)
    deal: Deal = field(repr=False)
    weights: tuple[FloatArray, FloatArray] = field(repr=False)
    """For each player the weights of its hands."""

    @classmethod
    def of(cls, game: CardGame, symmetric: bool = True) -> VectorForm:
        """Build the form of a game of hands and boards, up to isomorphism of the suits if ``symmetric``.

        Raises ``BudgetError`` where its rows do not fit.
        """
        spot = game.spot
        one, two = (np.array(own, np.int64).reshape(-1, 2) for own in spot.hands)
        hands, weights = (one, two), (np.array(spot.weights[0], np.float64), np.array(spot.weights[1], np.float64))
        with status.during("building the public tree"):
            ranges = [dict(zip(own, of.tolist(), strict=True)) for own, of in zip(spot.hands, weights, strict=True)]
            symmetries = suit_permutations(spot.board, ranges) if symmetric else (IDENTITY,)
            betting = count_betting(spot.betting, len(spot.board))
            _check_room(game.name, betting, count_hands(spot.board, hands, symmetries))
            streets = build_streets(spot.betting, len(spot.board))
            deal = Deal(hands, symmetries, len(streets) - 1, [bool(street.all_ins) for street in streets])
            deal.deal(spot.board)
            arrays = _assemble(streets, deal)
            deal.matrices.clear()  # ``arrays`` holds copies
        return cls(game.name, game.players, streets, arrays, deal.boards, deal, weights)

    @property
    def folded(self) -> bool:
        return len(self.deal.symmetries) > 1

    @cached_property
    def together(self) -> float:
        """The sum of the products of the weights of all pairs of hands that share no card."""
        one, two = self.weights
        return float(one @ disjoint_hands(*self.deal.hands) @ two)

    @cached_property
    def first_reach(self) -> FloatArray:
        """(hands of the first board,) the weights of the first player's hands, then the second's, in its order."""
        found = np.zeros(int(self.arrays.first_hand[1, 0]) + len(self.weights[1]))
        for player, own in enumerate(self.weights):
            begin = int(self.arrays.first_hand[player, 0])
            found[begin : begin + len(own)] = own[self.boards[0].hands[player]]
        return found

    @cached_property
    def num_histories(self) -> float:
        """The number of histories of the game, isomorphic ones counted one by one."""
        boards, a = self.boards, self.arrays
        times = np.ones(len(boards))
        for number, board in enumerate(boards[1:], 1):
            times[number] = times[board.above] * len(board.copies)
        total = 1.0 + float(disjoint_hands(*self.deal.hands).any(axis=1).sum())
        for number, board in enumerate(boards):
            counts = [np.bincount(self.deal.hands[p][own].ravel(), minlength=DECK) for p, own in enumerate(board.hands)]
            begin = int(a.first_hand[0, number])
            twins = int((a.same[begin : begin + len(board.hands[0])] >= 0).sum())
            pairs = len(board.hands[0]) * len(board.hands[1]) - int(counts[0] @ counts[1]) + twins
            if (kind := int(a.kind[number])) < len(self.streets):
                street = self.streets[kind]
                further = [DECK - k - HAND_CARDS for k in range(len(board.cards), ALL_CARDS)]
                nodes = len(street.nodes) + len(street.all_ins) * float(np.cumprod(further).sum())
                total += times[number] * pairs * nodes
        return total

    @cached_property
    def payoff_range(self) -> float:
        """The difference between the largest and the smallest payoff at an end, in chips."""
        chance, found = 1.0, [0.0]
        for number, street in enumerate(self.streets):
            found += [float(pays.max() / chance) for _, pays in street.ends]
            found += [float(pays.min() / chance) for _, pays in street.ends]
            cards = len(self.boards[0].cards) + number
            found += [
                float(s) * self._runouts(cards) / chance for _, stakes in street.all_ins for s in (*stakes, *-stakes)
            ]
            chance /= DECK - cards - HAND_CARDS
        return max(found) - min(found)

    @cached_property
    def constant_sum(self) -> float | None:
        chance, sums = 1.0, list[float]()
        for number, street in enumerate(self.streets):
            sums += [total for _, pays in street.ends for total in ((pays[0] + pays[1][::-1]) / chance).tolist()]
            chance /= DECK - len(self.boards[0].cards) - number - HAND_CARDS
        close = bool(np.ptp(sums) <= SAME_SUM * self.payoff_range)
        return sums[0] if close else None

    @staticmethod
    def _runouts(cards: int) -> float:
        """Return the number of ways to deal the cards that are missing."""
        return float(np.prod([DECK - k - HAND_CARDS for k in range(cards, ALL_CARDS)]))

    @cached_property
    def _hand_numbers(self) -> tuple[dict[str, int], ...]:
        return tuple({hand_name(hand): k for k, hand in enumerate(own.tolist())} for own in self.deal.hands)

    @cached_property
    def _below(self) -> dict[tuple[int, int], tuple[int, SuitPermutation]]:
        """By a board and the next card: the board that stands for it, and the permutation that leads from that."""
        found = {}
        for number, board in enumerate(self.boards):
            for permutation in board.copies if board.above >= 0 else ():
                found[board.above, permute_card(board.cards[-1], permutation)] = number, permutation
        return found

    def has_card(self, board: int, turned: SuitPermutation, card: int) -> bool:
        """Return whether a card may be dealt after a board; not where it would leave a player without a hand."""
        return (board, permute_card(card, turned)) in self._below

    def deal_card(
        self, board: int, node: Node, turned: SuitPermutation, card: int
    ) -> tuple[int, Node, SuitPermutation]:
        """Return the board that stands for a board with one more card, the node there, and the permutation to it.

        ``turned`` is the permutation of the suits that leads from the cards dealt so far to those of ``board``.
        """
        below, permutation = self._below[board, permute_card(card, turned)]
        kind = int(self.arrays.kind[board])
        root = self.streets[kind].leaves.index(node.number)
        street = self.streets[kind + 1]
        turned = tuple(permutation.index(turned[suit]) for suit in range(len(turned)))
        return below, street.nodes[street.roots[root]], turned

    def find(self, player: int, infostate: InformationState) -> Place | None:
        """Return the place of an information state of ``player`` in which it acts; ``None`` where there is none."""
        words = [str(action if action is not None else seen) for action, seen in infostate]
        if not words or words[0] not in self._hand_numbers[player]:
            return None
        hand: tuple[int, ...] = tuple(self.deal.hands[player][self._hand_numbers[player][words[0]]].tolist())
        kind, number, node, turned = 0, 0, self.streets[0].nodes[0], IDENTITY
        for word in words[1:]:
            if node.mover == CHANCE_NODE:
                (card,) = cards_of(word, "card")
                if not self.has_card(number, turned, card):
                    return None
                number, node, turned = self.deal_card(number, node, turned, card)
                kind += 1
                continue
            named = [self.streets[kind].nodes[child] for child in node.children]
            after = next((child for child in named if child.action == word), None)
            if after is None:
                return None
            node = after
        own = self._hand_numbers[player][hand_name(permute_hand(hand, turned))]
        place = np.flatnonzero(self.boards[number].hands[player] == own)
        if node.mover != player or not len(place):
            return None
        count = int(self.arrays.hands[player, number])
        begin = int(self.arrays.first_row[player, number]) + node.row * count
        return Place(number, node, int(place[0]), begin + int(place[0]), count, len(node.children))

    def infostates(self) -> Iterator[tuple[int, InformationState, tuple[str, ...], Place]]:
        """Yield all information states with a decision, of isomorphic ones one: player, records, actions and place."""
        for number, board in enumerate(self.boards):
            kind = int(self.arrays.kind[number])
            for node in self.streets[kind].nodes:
                player = node.mover
                if player < 0:
                    continue
                words = self._words(kind, node, board)
                actions = tuple(self.streets[kind].nodes[child].action for child in node.children)
                count = len(board.hands[player])
                begin = int(self.arrays.first_row[player, number]) + node.row * count
                records = tuple((word, ()) if mover == player else (None, word) for mover, word in words)
                for k, hand in enumerate(board.hands[player].tolist()):
                    name = hand_name(self.deal.hands[player][hand].tolist())
                    place = Place(number, node, k, begin + k, count, len(actions))
                    yield player, ((None, name), *records), actions, place

    def _words(self, kind: int, node: Node, board: Board) -> list[tuple[int, str]]:
        """Return the actions and cards that lead to a node, each with who made it, ``CHANCE_NODE`` for a card."""
        street, words = self.streets[kind], list[tuple[int, str]]()
        while node.above >= 0:
            above = street.nodes[node.above]
            words.append((above.mover, node.action))
            node = above
        if kind == 0:
            return words[::-1]
        leaf = self.streets[kind - 1].leaves[street.roots.index(node.number)]
        dealt = card_name(board.cards[len(self.boards[0].cards) + kind - 1])
        return [*self._words(kind - 1, self.streets[kind - 1].nodes[leaf], board), (CHANCE_NODE, dealt), *words[::-1]]


def check_rows(name: str, rows: int, precision: str = "half", arrays: int = 2, besides: float = 0.0) -> None:
    """Raise ``BudgetError`` where ``arrays`` with a number for each row do not fit, twice while they are saved.

    ``besides`` are further bytes.
    """
    needed = {name: rows * arrays * 2 * size + besides for name, size in BYTES.items()}
    if needed[precision] <= (free := free_memory()):
        return
    shown = "single" if precision == "half" else precision
    half = "" if arrays > 2 else f", with precision=half {size_in_words(needed['half'])}"
    raise BudgetError(
        f"{shorten(name)} has {rows:,} probabilities, which take {size_in_words(needed[shown])} in {shown} "
        f"precision{half}, where {size_in_words(free)} are free; leave out bet sizes, raises (cap) or hands"
    )


def _check_room(name: str, betting: BettingCount, hands: list[LongArray]) -> None:
    """Raise ``BudgetError`` where not even half precision fits, before anything is made.

    ``hands`` holds for each number of further cards (B, 2) the numbers of both players' hands on all boards.
    """
    rows, nodes = betting.rows, betting.nodes
    reached = list(zip(hands, rows, nodes, strict=True))
    widest = [count.max(axis=0, initial=0) for count in hands]
    scratch = sum(
        most @ own + most.max() * (own.max() + some) for most, (_, own, some) in zip(widest, reached, strict=True)
    )
    first = next(iter(np.flatnonzero(betting.all_ins)), len(hands))
    pairs = sum(int(count.prod(axis=1).sum()) for count in hands[first:-1])  # all cards are open on the last boards
    check_rows(
        name,
        int(sum(count.sum(axis=0) @ own for count, own, _ in reached)),
        besides=(
            scratch * SCRATCH_BYTES + nodes.sum() * BYTES_A_NODE + pairs * BYTES_A_PAIR
            + sum(float(count.sum()) for count, _, some in reached if some) * BYTES_A_HAND
        ),
    )  # fmt: skip


def _assemble(streets: list[Street], deal: Deal) -> VectorArrays:
    boards = deal.boards
    count = np.array([[len(board.hands[p]) for board in boards] for p in range(PLAYERS)], np.int32)
    kind = np.array([len(board.cards) - len(boards[0].cards) for board in boards], np.int32)
    ups, first_up, begin = list[LongArray](), np.zeros(count.shape, np.int64), 0
    for player in range(PLAYERS):
        for number, board in enumerate(boards[1:], 1):
            first_up[player, number] = begin
            for permutation in board.copies:
                ups.append(deal.places(number, permutation, player))
                begin += len(ups[-1])
    flat, first_matrix, begin = list[npt.NDArray[np.int16]](), np.full(len(boards), -1, np.int64), 0
    for number, matrix in deal.matrices.items():
        first_matrix[number] = begin
        flat.append(matrix)
        begin += matrix.size
    cards = joined([deal.hands[p][board.hands[p]] for p in range(PLAYERS) for board in boards], np.uint8)
    return VectorArrays(
        **board_arrays(streets, kind, kind, [board.above for board in boards], count),
        **node_arrays(streets), **table_arrays(streets, ()),
        first_hand=begins_of(count.astype(np.int64)), first_up=first_up,
        after=np.zeros(len(boards), np.int32), copies=np.array([len(board.copies) for board in boards], np.int32),
        first_matrix=first_matrix, cards=cards.reshape(-1, 2),
        strength=joined([board.strengths[p] for p in range(PLAYERS) for board in boards], np.int16),
        same=joined(_twins(deal), np.int16), up=joined(ups, np.uint16), matrix=joined(flat, np.int16),
    )  # fmt: skip


def _twins(deal: Deal) -> list[LongArray]:
    """Return, player by player and board by board, the place of each hand among those of the other; −1 for none."""
    number = np.full((PLAYERS, DECK, DECK), -1, np.int64)
    for player, (high, low) in enumerate(own.T for own in deal.hands):
        number[player, high, low] = np.arange(len(high))
    found = []
    for player, own in enumerate(deal.hands):
        twin = number[1 - player, own[:, 0], own[:, 1]]
        for board in deal.boards:
            place = np.full(len(deal.hands[1 - player]) + 1, -1, np.int64)
            place[board.hands[1 - player]] = np.arange(len(board.hands[1 - player]))
            found.append(place[twin[board.hands[player]]])
    return found
