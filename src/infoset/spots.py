"""Look into a solution of a hold'em spot: its decisions along actions and cards, as tables of hands with values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infoset.base import CardGame, FloatArray, LongArray
from infoset.compiled import AnyGame, Compiled
from infoset.errors import ParameterError, UnknownNameError, UnsupportedGameError, shorten
from infoset.evaluation import What, policy_of
from infoset.games.equity import range_equity
from infoset.games.poker_hands import card_name, cards_of, hand_name
from infoset.games.suits import IDENTITY, SuitPermutation, permute_card, permute_hand
from infoset.hand_table import HandTable
from infoset.next_cards import NextCards, summarise_next_cards
from infoset.policies.vector_policy import records_of, rows_of
from infoset.tree.boards import disjoint_hands
from infoset.tree.public_tree import HAND_CARDS, PLAYERS, Node, Street
from infoset.tree.vector_form import VectorForm
from infoset.tree.vector_values import Walker
from infoset.tree.vector_walk import CHANCE_NODE, DECK


@dataclass(frozen=True, eq=False)
class SpotNode:
    """A node of the public tree: what each player holds there, and what may follow."""

    path: tuple[str, ...]
    """The actions and cards that lead here."""
    mover: int
    """The player to act; ``CHANCE_NODE`` where a card is dealt, ``END_NODE`` where nobody acts any more."""
    tables: tuple[HandTable, HandTable] = field(repr=False)
    """The hands of each player."""
    following: tuple[str, ...]
    """The actions, or the cards that may be dealt."""

    @property
    def reaches(self) -> FloatArray:
        """The probability with which the game reaches each node that follows."""
        if self.mover != CHANCE_NODE:
            table = self.tables[max(self.mover, 0)]
            return np.asarray(table.shares @ table.strategy * table.probability)
        found = np.full(len(self.following), self.tables[0].probability)
        for table in self.tables:
            assert table.probabilities is not None
            for hand, probability in zip(table.hands, table.probabilities.tolist(), strict=True):
                for card in (hand[:2], hand[2:]):
                    if card in self.following:
                        found[self.following.index(card)] -= probability
        return np.asarray(np.maximum(found, 0) / (DECK - len(self.tables[0].board) - HAND_CARDS))


class _Place(NamedTuple):
    """A node of the board that stands for the cards dealt, and the permutation of suits that leads to it."""

    board: int
    node: Node
    turned: SuitPermutation
    cards: tuple[int, ...]


class SpotTree:
    """The decisions of a strategy in a hold'em spot.

    >>> from infoset.spots import SpotTree
    >>> solution = infoset.solve("holdem_river", "dcfr", form="vector", iterations=200)
    >>> node = SpotTree.of("holdem_river", solution.policy).node(["check"])
    >>> node.mover, node.following
    (1, ('check', 'bet 50', 'bet 100'))
    """

    def __init__(self, form: VectorForm, rows: npt.NDArray[np.floating[Any]], game: CardGame) -> None:
        """Take what the strategies of ``form`` are proportional to (rows,)."""
        self.form, self.rows, self.spot = form, rows, game.spot
        self._values: dict[int, list[tuple[FloatArray, tuple[FloatArray, FloatArray]]]] = {}

    @classmethod
    def of(cls, game: AnyGame, what: What) -> SpotTree:
        """Take anything that ``evaluate`` takes.  Raises ``UnsupportedGameError`` for other games than hold'em."""
        compiled = Compiled.of(game)
        if not isinstance(compiled.game, CardGame):
            raise UnsupportedGameError(f"{compiled.name} is no spot: it does not consist of hands, cards and betting")
        form, rows = rows_of(policy_of(what, compiled), compiled)
        return cls(form, rows, compiled.game)  # type: ignore[arg-type]

    @cached_property
    def _walker(self) -> Walker:
        return Walker(self.form, np.float64)

    def _board(self, board: int) -> list[tuple[FloatArray, tuple[FloatArray, FloatArray]]]:
        """Return for each player its values at all nodes of a board, and the reach of both."""
        if board not in self._values:
            if len(self._values) > 4 * DECK:
                self._values.clear()
            self._values[board] = [self._walker.look_at(board, player, self.rows) for player in range(PLAYERS)]
        return self._values[board]

    def node(self, path: Sequence[str] = (), equity: bool = True) -> SpotNode:
        """Return the node after actions and cards such as ``["check", "bet 75", "call", "Qc"]``.

        Without ``equity`` that figure, the slowest, is unknown.  Raises ``UnknownNameError`` for a word that is not
        possible there, and lists what is.
        """
        place = self._find(path)
        return SpotNode(tuple(path), place.node.mover, self._tables(place, path, equity), self._following(place))

    def mover(self, path: Sequence[str]) -> int:
        """Return the player to act after a path, ``CHANCE_NODE`` or ``END_NODE``."""
        return self._find(path).node.mover

    def probabilities(self, player: int, key: str, actions: Sequence[str]) -> list[float] | None:
        """Return the probabilities of the actions at an information set; ``None`` where the spot does not have it."""
        place = self.form.find(player, records_of(key))
        if place is None or place.num_actions != len(actions):
            return None
        street = self.form.streets[int(self.form.arrays.kind[place.board])]
        if [street.nodes[child].action for child in place.node.children] != list(actions):
            return None
        return self._strategy(place.board, place.node, player)[place.hand].tolist()  # type: ignore[no-any-return]

    def next_cards(self, path: Sequence[str] = ()) -> tuple[NextCards, NextCards]:
        """Return for each player what each card changes that may be dealt after ``path``.

        Raises ``ParameterError`` where no card is dealt.
        """
        node = self.node(path)
        if node.mover != CHANCE_NODE:
            raise ParameterError(f"no card is dealt after {' '.join(path) or 'the start'}")
        after = {card: self.node([*path, card], equity=False).tables for card in node.following}
        one, two = [
            summarise_next_cards(node.tables[p], {card: tables[p] for card, tables in after.items()})
            for p in range(PLAYERS)
        ]
        return one, two

    def decisions(self, path: Sequence[str] = (), equity: bool = True) -> Iterator[SpotNode]:
        """Yield the decisions from ``path`` on until the next card; where a card is dealt there, those after each."""
        place = self._find(path)
        for word in self._following(place) if place.node.mover == CHANCE_NODE else ():
            yield from self._decisions((*path, word), equity)
        if place.node.mover >= 0:
            yield from self._decisions(tuple(path), equity)

    def _decisions(self, path: tuple[str, ...], equity: bool) -> Iterator[SpotNode]:
        place = self._find(path)
        if place.node.mover >= 0:
            yield self.node(path, equity)
            for action in self._following(place):
                yield from self._decisions((*path, action), equity)

    def _following(self, place: _Place) -> tuple[str, ...]:
        node = place.node
        if node.mover == CHANCE_NODE:
            left = [card for card in range(DECK) if card not in place.cards]
            return tuple(card_name(card) for card in left if self.form.has_card(place.board, place.turned, card))
        return tuple(self._street(place).nodes[child].action for child in node.children)

    def _street(self, place: _Place) -> Street:
        return self.form.streets[int(self.form.arrays.kind[place.board])]

    def _find(self, path: Sequence[str]) -> _Place:
        place = _Place(0, self.form.streets[0].nodes[0], IDENTITY, tuple(self.spot.board))
        for number, word in enumerate(path):
            following = self._following(place)
            if word not in following:
                where = ", ".join(path[:number]) or "the start"
                raise UnknownNameError(f"action or card after {shorten(where)}:", word, following)
            if place.node.mover == CHANCE_NODE:
                (card,) = cards_of(word, "card")
                board, node, turned = self.form.deal_card(place.board, place.node, place.turned, card)
                place = _Place(board, node, turned, (*place.cards, card))
            else:
                child = place.node.children[following.index(word)]
                place = place._replace(node=self._street(place).nodes[child])
        return place

    def _tables(self, place: _Place, path: Sequence[str], with_equity: bool) -> tuple[HandTable, HandTable]:
        board, node, turned, cards = place
        form, found = self.form, self._board(board)
        hands = [form.deal.hands[p][form.boards[board].hands[p]] for p in range(PLAYERS)]
        reach = [found[0][1][p][node.slots[p]] for p in range(PLAYERS)]
        fits = disjoint_hands(hands[0], hands[1])
        chance = 1.0
        for count in range(len(self.spot.board), len(cards)):
            chance /= DECK - count - HAND_CARDS
        back = tuple(turned.index(suit) for suit in range(len(turned)))
        betting, tables = self.spot.betting, []
        for player in range(PLAYERS):
            values = found[player][0]
            beside = (fits if player == 0 else fits.T) @ reach[1 - player]
            with np.errstate(divide="ignore", invalid="ignore"):
                ev = values[node.number] / (beside * chance)
                own_actions = node.children if node.mover == player else ()
                ev_actions = values[list(own_actions)] / (beside * chance)
            strategy = self._strategy(board, node, player) if own_actions else np.zeros((len(ev), 0))
            names, order = _in_range_order([permute_hand(hand, back) for hand in hands[player].tolist()], form, player)
            equity = np.full(len(ev), np.nan)
            if with_equity:
                turned_cards = [permute_card(card, turned) for card in cards]
                equity = range_equity(turned_cards, hands[player], hands[1 - player], reach[1 - player])
            street = self._street(place)
            tables.append(
                HandTable(
                    player, names, reach[player][order], tuple(street.nodes[child].action for child in own_actions),
                    strategy[order], ev[order], ev_actions.T[order], equity[order], tuple(map(card_name, cards)),
                    betting.pot + sum(node.public_state.stakes), betting.invested(node.public_state, player),
                    (reach[player] * beside)[order] * chance / form.together,
                    f"after {', '.join(path)}" if path else "",
                )
            )  # fmt: skip
        return tables[0], tables[1]

    def _strategy(self, board: int, node: Node, player: int) -> FloatArray:
        """Return (hands, actions) the probabilities of a player's actions."""
        count = int(self.form.arrays.hands[player, board])
        begin = int(self.form.arrays.first_row[player, board]) + node.row * count
        weights = np.maximum(self.rows[begin : begin + len(node.children) * count], 0).astype(np.float64)
        weights = weights.reshape(len(node.children), count)
        total = weights.sum(axis=0)
        even = np.full_like(weights, 1 / len(node.children))
        return np.asarray(np.divide(weights, total, out=even, where=total > 0).T)


def _in_range_order(hands: list[tuple[int, ...]], form: VectorForm, player: int) -> tuple[tuple[str, ...], LongArray]:
    """Return the names of hands and their places, in the order of the player's range."""
    number = {tuple(hand): k for k, hand in enumerate(form.deal.hands[player].tolist())}
    order = np.argsort([number[hand] for hand in hands])
    return tuple(hand_name(hands[k]) for k in order), order
