"""Look into a solution of a hold'em spot: its decisions along actions and cards, as tables of hands with values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

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
from infoset.policies.vector_policy import rows_of
from infoset.tree.boards import disjoint_hands
from infoset.tree.public_tree import HAND_CARDS, PLAYERS, Node
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


@dataclass(frozen=True, eq=False)
class NextCard:
    """What a card changes: the players' mean payoffs once it is dealt, and the first decision on the next street."""

    card: str
    probability: float
    ev: tuple[float, float]
    actions: tuple[str, ...]
    frequencies: tuple[float, ...]


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

    def node(self, path: Sequence[str] = ()) -> SpotNode:
        """Return the node after actions and cards such as ``["check", "bet 75", "call", "Qc"]``.

        Raises ``UnknownNameError`` for a word that is not possible there, and lists what is.
        """
        board, node, turned, cards = self._find(path)
        return SpotNode(
            tuple(path), node.mover, self._tables(board, node, turned, cards, path), self._following(node, cards)
        )

    def next_cards(self, path: Sequence[str] = ()) -> list[NextCard]:
        """Return what each card changes that may be dealt after ``path``.  Raises ``ParameterError`` elsewhere."""
        _, node, _, cards = self._find(path)
        if node.mover != CHANCE_NODE:
            raise ParameterError(f"no card is dealt after {' '.join(path) or 'the start'}")
        found = []
        for card in self._following(node, cards):
            after = self.node([*path, card])
            evs = tuple(float(np.nansum(table.shares * np.nan_to_num(table.ev))) for table in after.tables)
            table = after.tables[max(after.mover, 0)]
            often = table.shares @ table.strategy if table.actions else np.zeros(0)
            found.append(
                NextCard(card, after.tables[0].probability, (evs[0], evs[1]), table.actions, tuple(often.tolist()))
            )
        total = sum(one.probability for one in found) or 1.0
        return [NextCard(one.card, one.probability / total, one.ev, one.actions, one.frequencies) for one in found]

    def _following(self, node: Node, cards: tuple[int, ...]) -> tuple[str, ...]:
        if node.mover == CHANCE_NODE:
            return tuple(card_name(card) for card in range(DECK) if card not in cards)
        street = self.form.streets[node.public_state.street - self.spot.street]
        return tuple(street.nodes[child].action for child in node.children)

    def _find(self, path: Sequence[str]) -> tuple[int, Node, SuitPermutation, tuple[int, ...]]:
        """Return the board and node after ``path``, the permutation of suits that leads there, and the cards dealt."""
        board, node, turned, cards = 0, self.form.streets[0].nodes[0], IDENTITY, tuple(self.spot.board)
        for word in path:
            following = self._following(node, cards)
            if word not in following:
                where = " ".join(path[: path.index(word)]) or "the start"
                raise UnknownNameError(f"action or card after {shorten(where)}", word, following)
            if node.mover == CHANCE_NODE:
                (card,) = cards_of(word, "card")
                cards = (*cards, card)
                board, node, turned = self.form.deal_card(board, node, turned, card)
            else:
                street = self.form.streets[node.public_state.street - self.spot.street]
                node = street.nodes[node.children[following.index(word)]]
        return board, node, turned, cards

    def _tables(
        self, board: int, node: Node, turned: SuitPermutation, cards: tuple[int, ...], path: Sequence[str]
    ) -> tuple[HandTable, HandTable]:  # fmt: skip
        form, found = self.form, self._board(board)
        held = [form.deal.hands[p][form.boards[board].hands[p]] for p in range(PLAYERS)]
        reach = [found[0][1][p][node.slots[p]] for p in range(PLAYERS)]
        fits = disjoint_hands(held[0], held[1])
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
            names, order = _in_range_order([permute_hand(hand, back) for hand in held[player].tolist()], form, player)
            equity = range_equity(
                [permute_card(card, turned) for card in cards], held[player], held[1 - player], reach[1 - player]
            )
            street = form.streets[int(form.arrays.kind[board])]
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
