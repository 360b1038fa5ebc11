"""Leduc poker: two suits, two betting rounds, one public card (Southey et al. 2005), as OpenSpiel plays it."""

from __future__ import annotations

from typing import NamedTuple

from infoset.base import Action, JointMove, Observed
from infoset.games.rules import Ended, NativeState, Rules, order, seats
from infoset.names import check_range, full_name

RANKS = "789TJQK"
SUITS = "hs"
ANTE = 1
RAISES = (2, 4)
MAX_RAISES = 2
FOLD, CALL, RAISE = "fold", "call", "raise"
MENUS = {  # (facing a bet, may raise)
    (False, False): (CALL,),
    (False, True): (CALL, RAISE),
    (True, False): (FOLD, CALL),
    (True, True): (FOLD, CALL, RAISE),
}


class _Fields(NamedTuple):
    players: int
    cards: tuple[int, ...]
    public: bool
    second: bool
    stakes: tuple[int, ...]
    folded: frozenset[int]
    calls: int
    raises: int
    mover: int


class LeducState(NativeState, _Fields):
    """What is still needed of the past.

    ``cards`` are numbered ``2 * rank + suit``; when the ``public`` card lies open they become the order of
    the hands.  ``stakes`` are the chips put in, ``calls`` and ``raises`` count the current round.
    """

    __slots__ = ()

    @property
    def dealing(self) -> bool:
        return len(self.cards) < self.players or self.second != self.public

    def legal(self, player: int) -> tuple[Action, ...]:
        if player != self.mover or self.dealing:
            return ()
        facing = max(self.stakes) > self.stakes[player]
        return MENUS[facing, self.raises < MAX_RAISES]

    def chance(self, moves: JointMove) -> tuple[tuple[Action, float], ...]:
        if not self.dealing:
            return ()
        left = [card for card in range(2 * (self.players + 1)) if card not in self.cards]
        return tuple((card_name(card, self.players), 1 / len(left)) for card in left)

    def play_unchecked(self, moves: JointMove, nature: Action | None = None) -> Observed:
        if nature is not None:
            return self._deal(str(nature))
        mover = self.mover
        move = str(moves[mover])
        seen = [move] * self.players
        seen[mover] = None  # type: ignore[call-overload]
        return Observed(self._bet(mover, move), tuple(seen))

    def _deal(self, name: str) -> Observed:
        card = 2 * (RANKS.index(name[0]) - len(RANKS) + self.players + 1) + SUITS.index(name[1])
        if self.second:
            hands = order([strength(own, card) for own in self.cards])
            return Observed(self._replace(cards=hands, public=True), (name,) * self.players)
        seen = tuple([name if p == len(self.cards) else None for p in range(self.players)])
        return Observed(self._replace(cards=(*self.cards, card)), seen)

    def _bet(self, mover: int, move: str) -> NativeState:
        players, cards, public, second, stakes, folded, calls, raises, _ = self
        if move == FOLD:
            folded = folded | {mover}
        else:
            stake = max(stakes) + (RAISES[second] if move == RAISE else 0)
            stakes = (*stakes[:mover], stake, *stakes[mover + 1 :])
            calls, raises = (calls + 1, raises) if move == CALL else (0, raises + 1)
        left = players - len(folded)
        over = left == 1 or calls == (left - 1 if raises else left)
        if left == 1 or (over and second):
            return Ended(showdown(cards, stakes, folded))
        if over:
            second, calls, raises, mover = True, 0, 0, -1
        mover = (mover + 1) % players
        while mover in folded:
            mover = (mover + 1) % players
        return LeducState(players, cards, public, second, stakes, folded, calls, raises, mover)

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * self.players


def strength(card: int, public: int) -> int:
    """A pair beats every rank; ranks beat each other; suits do not count."""
    return card // 2 + 100 * (card // 2 == public // 2)


def showdown(hands: tuple[int, ...], stakes: tuple[int, ...], folded: frozenset[int]) -> tuple[float, ...]:
    """The best hands that did not fold share the pot."""
    players = range(len(hands))
    best = max([hands[p] for p in players if p not in folded])
    winners = [p for p in players if p not in folded and hands[p] == best]
    share = sum(stakes) / len(winners)
    return tuple([share * (p in winners) - stakes[p] for p in players])


def card_name(card: int, players: int) -> str:
    """Rank and suit, such as ``Qh``; the highest rank of every deck is a king."""
    return RANKS[card // 2 - players - 1] + SUITS[card % 2]


def leduc_poker(players: int = 2) -> Rules:
    """Leduc poker for 2 or 3 players: ``players + 1`` ranks in two suits, ante 1, raises of 2 and then 4.

    The value of the two-player game is about -0.0856 for the first player.
    """
    check_range("leduc_poker: players", players, 2, 3)
    name = full_name("leduc_poker", leduc_poker, players=players)
    first = LeducState(players, (), False, False, (ANTE,) * players, frozenset(), 0, 0, 0)
    return Rules(name, seats(players), Observed(first, (None,) * players))
