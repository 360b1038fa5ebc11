"""Generalised Kuhn poker KP(n): one card and a bet of one chip for each player (Kuhn 1950; Lanctot 2014, 4.1)."""

from __future__ import annotations

from typing import NamedTuple

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed, Picture, Writes
from infoset.games.rules import Ended, NativeState, Rules, order, seats
from infoset.games.table import Infostates, Look, ShownRules, area, does, longest, made, table, turn_words
from infoset.games.tensors import has_recall, layout
from infoset.names import check_range, full_name

RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K")
PASS, BET = "pass", "bet"
MOVES = (PASS, BET)


class _Fields(NamedTuple):
    players: int
    deck: int
    cards: tuple[int, ...]
    history: tuple[str, ...]


class KuhnState(NativeState, _Fields):
    """The cards dealt so far, 0 being the lowest (their order once all are dealt), and the public history."""

    __slots__ = ()

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        if len(self.cards) < self.players or len(self.history) % self.players != player:
            return ()
        return MOVES

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        if len(self.cards) == self.players:
            return ()
        left = [card for card in range(self.deck) if card not in self.cards]
        return tuple((card_name(card, self.deck), 1 / len(left)) for card in left)

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        players, deck, cards, history = self
        if chance_outcome is not None:
            return self._deal(str(chance_outcome))
        mover = len(history) % players
        action = str(actions[mover])
        seen = [action] * players
        seen[mover] = None  # type: ignore[call-overload]
        history = (*history, action)
        bets = BET in history
        if len(history) == (history.index(BET) + players if bets else players):
            return Observed(Ended(showdown(cards, history)), tuple(seen))
        return Observed(KuhnState(players, deck, cards, history), tuple(seen))

    def _deal(self, name: str) -> Observed:
        """Deal a card to the next player, who alone sees it."""
        owner = len(self.cards)
        cards = (*self.cards, RANKS.index(name) - len(RANKS) + self.deck)
        seen = tuple([name if p == owner else None for p in range(self.players)])
        return Observed(self._replace(cards=cards if len(cards) < self.players else order(cards)), seen)

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * self.players


class KuhnRules(ShownRules):
    """Kuhn poker with OpenSpiel's tensors."""

    def tensor_encoder(self, kind: str) -> KuhnEncoder:
        """Return the encoder of OpenSpiel's tensors: the player, its card, and all moves or each player's chips."""
        state: KuhnState = self.first.state  # type: ignore[assignment]
        return KuhnEncoder(state.players, state.deck, has_recall(self.name, kind))


class KuhnEncoder:
    """The player, its card, and each move with ``recall``, else each player's chips.

    The memo is 0 before the card is dealt, then the number of moves plus 1.
    """

    def __init__(self, players: int, deck: int, recall: bool) -> None:
        self.players, self.deck, self.recall = players, deck, recall
        self.actions: tuple[Action, ...] = MOVES
        betting = len(MOVES) * (2 * players - 1) if recall else players
        self.at, size = layout(player=players, card=deck, betting=betting)
        self.shape: tuple[int, ...] = (size,)

    def start(self, player: int) -> tuple[int, Writes]:
        """Show the player and, without ``recall``, the antes."""
        chips = [] if self.recall else [(self.at["betting"] + p, 1.0) for p in range(self.players)]
        return 0, ((player, 1.0), *chips)

    def after(self, player: int, memo: int, record: ObservationRecord) -> tuple[int, Writes]:
        """Show the card, or a move."""
        shown = made((record,))[0]
        if memo == 0:
            return 1, ((self.at["card"] + RANKS.index(str(shown)) - len(RANKS) + self.deck, 1.0),)
        move, bets = memo - 1, shown == BET
        if self.recall:
            return memo + 1, ((self.at["betting"] + len(MOVES) * move + bets, 1.0),)
        return memo + 1, ((self.at["betting"] + move % self.players, 2.0),) if bets else ()


def showdown(cards: tuple[int, ...], history: tuple[str, ...]) -> tuple[float, ...]:
    """Return the payoffs: the highest card among those who bet or called, or of all if nobody bet, takes the pot."""
    players = len(cards)
    callers = {k % players for k, action in enumerate(history) if action == BET}
    winner = max(callers or range(players), key=cards.__getitem__)
    pot = players + len(callers)
    return tuple([float((p == winner) * pot - 1 - (p in callers)) for p in range(players)])


def card_name(card: int, deck: int) -> str:
    """Return the letter of a card's rank; the highest card of every deck is a king."""
    return RANKS[card - deck]


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw the hands, the chips and each player's moves."""
    players = len(rules.players)
    history = made(longest(infostate))[1:]
    areas = []
    for player, own in enumerate(infostate):
        actions = turn_words(history, 0, player, players)
        hand = [own[0][1]] if own else []
        face_down = int(own is None and any(infostate))
        chips = 1 + actions.count(BET)
        areas.append(area(rules.players[player], hand, face_down, actions, chips=chips, player=player))  # type: ignore[arg-type]
    return table(*areas, area("pot", chips=players + history.count(BET)))


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe a dealt card, the player's own move, or another player's move."""
    action, seen = record
    if action is not None:
        return f"you {action}"
    return does(rules.players[(len(before) - 1) % len(rules.players)], str(seen)) if before else f"you get a {seen}"


def kuhn_poker(players: int = 2, cards: int = 0) -> Rules:
    """Kuhn poker for 2 to 6 players; a deck of so many ``cards``, up to 12, or 0 for ``players + 1``.

    The value of the two-player game to the first player is -1/18 (Kuhn 1950).
    """
    check_range("kuhn_poker: players", players, 2, 6)
    deck = cards or players + 1
    check_range("kuhn_poker: cards", deck, players, len(RANKS))
    name = full_name("kuhn_poker", kuhn_poker, players=players, cards=cards and deck)
    first = Observed(KuhnState(players, deck, (), ()), (None,) * players)
    return KuhnRules(name, seats(players), first, Look(picture, describe_record))
