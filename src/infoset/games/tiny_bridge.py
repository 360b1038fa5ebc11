"""Tiny bridge for two: West and East find their contract by bidding alone (OpenSpiel's ``tiny_bridge_2p``).

The deck is hearts and spades from jack to ace, with two cards for each seat.  The cards are not played: the payoff of a
contract is its double-dummy score (perfect play with open cards), averaged over the hands of North and South.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np

from infoset.base import (
    Action,
    InformationState,
    JointAction,
    LongArray,
    ObservationRecord,
    Observed,
    Picture,
    Writes,
)
from infoset.games.rules import Ended, NativeState, Rules
from infoset.games.table import Infostates, Look, ShownRules, area, does, longest, made, table, turn_words
from infoset.games.tensors import has_recall, layout
from infoset.names import full_name

RANKS, SUITS = "JQKA", "HS"
CARDS = tuple(suit + rank for suit in SUITS for rank in RANKS)
HANDS = tuple(combinations(range(len(CARDS)), 2))
CLASSES = (
    "SA+HA", "SKQJ+HA", "SA+HKQJ", "SKQJ+HKQJ",
    "HA+HKQ", "HK+HQJ", "HA+HJ", "HQ+HJ", "SA+SKQ", "SK+SQJ", "SA+SJ", "SQ+SJ",
)  # fmt: skip
PASS = "Pass"
CALLS = (PASS, "1H", "1S", "1NT", "2H", "2S", "2NT")
NO_TRUMP = len(SUITS)
SPLITS = 6  # North and South share four cards
SEATS = np.arange(4)

Hand: TypeAlias = tuple[int, int]
"""Two indices into ``CARDS``."""


class Deals(NamedTuple):
    """The possible hands of West and East, their counts, and the payoffs of all contracts.

    A deal has probability ``counts / 420`` and, by contract and declarer (0 West, 1 East), the payoff
    ``points / (6 * counts)``; so ``2520 * probability * payoff`` is ``points``, an integer.
    """

    hands: tuple[str, ...]  # (H,)
    counts: LongArray  # (H, H) by West's hand and East's
    points: LongArray  # (H, H, 7, 2) by hands, last bid (an index into CALLS) and declarer; 0 without a bid


@cache
def deals(abstracted: bool) -> Deals:
    """Return all deals of hands (28), or of hand classes (12); the arrays are read-only."""
    names = tuple([CARDS[high] + CARDS[low] for low, high in HANDS])
    group = np.array([class_of(hand) if abstracted else k for k, hand in enumerate(HANDS)])
    size = len(CLASSES if abstracted else HANDS)
    counts, points = np.zeros((size, size), np.int64), np.zeros((size, size, len(CALLS), 2), np.int64)
    declarer, partner, scores = contract_scores()
    one, other = group[declarer], group[partner]
    np.add.at(counts, (one, other), 1)
    np.add.at(points[:, :, 1:, 0], (one, other), scores)
    np.add.at(points[:, :, 1:, 1], (other, one), scores)
    counts.flags.writeable = points.flags.writeable = False
    return Deals(CLASSES if abstracted else names, counts, points)


def class_of(hand: Hand) -> int:
    """Return the index of a hand's class in ``CLASSES``."""
    cards = {CARDS[card] for card in hand}
    return next(k for k, name in enumerate(CLASSES) if cards in members(name))


def members(name: str) -> list[set[str]]:
    """Return the hands of a class: ``SA+HKQ`` is the ace of spades with the king or the queen of hearts."""
    one, other = name.split("+")
    return [{one[0] + rank, other[0] + other_rank} for rank in one[1:] for other_rank in other[1:]]


def contract_scores() -> tuple[LongArray, LongArray, LongArray]:
    """Return the declarer's hands (420,), its partner's (420,), and each bid's scores summed over splits (420, 6)."""
    pairs = [(d, p) for d, p in product(range(len(HANDS)), repeat=2) if not {*HANDS[d]} & {*HANDS[p]}]
    tables = np.array([table for d, p in pairs for table in splits(HANDS[d], HANDS[p])])
    tricks = [double_dummy(tables, trump) for trump in range(NO_TRUMP + 1)]
    scores = [score(level, trump, tricks[trump]) for level in (1, 2) for trump in range(NO_TRUMP + 1)]
    declarer, partner = np.array(pairs, dtype=np.int64).T
    return declarer, partner, np.stack(scores, axis=1).reshape(len(pairs), SPLITS, -1).sum(axis=1)


def splits(declarer: Hand, partner: Hand) -> list[tuple[Hand, Hand, Hand, Hand]]:
    """Return the six tables with these two hands, seats in the order of play.

    As in OpenSpiel, the opponent before the declarer leads (not the one after it, as at a bridge table).
    """
    left = {*range(len(CARDS))} - {*declarer} - {*partner}
    pairs = list(combinations(sorted(left), 2))  # the k-th pair from the end is the complement of the k-th
    return [(lead, declarer, rest, partner) for lead, rest in zip(pairs, reversed(pairs), strict=True)]


def double_dummy(tables: LongArray, trump: int) -> LongArray:
    """Return (D,) the tricks, 0 to 2, of the second and fourth seats when all four play perfectly with open cards.

    ``tables`` (D, 4, 2) holds each seat's two cards; the first seat leads.
    """
    played = [play_out(tables, np.array(choice), trump) for choice in product((0, 1), repeat=4)]
    won = np.stack(played, axis=1).reshape(-1, 2, 2, 2, 2)  # by the card each seat plays first
    tricks: LongArray = won.max(axis=4).min(axis=3).max(axis=2).min(axis=1)
    return tricks


def play_out(tables: LongArray, choice: LongArray, trump: int) -> LongArray:
    """Return (D,) the tricks of the second and fourth seats where seat ``s`` first plays card ``choice[s]`` if legal.

    A seat that must follow suit and chose the other card plays the legal one, so that no choice is illegal.
    """
    played, other_card = tables[:, SEATS, choice], tables[:, SEATS, 1 - choice]
    led = played[:, :1] // len(RANKS)
    revokes = (played // len(RANKS) != led) & (other_card // len(RANKS) == led)
    played, other_card = np.where(revokes, other_card, played), np.where(revokes, played, other_card)
    taker = winner(played, np.zeros(len(tables), dtype=np.int64), trump)
    return taker % 2 + winner(other_card, taker, trump) % 2


def winner(cards: LongArray, leader: LongArray, trump: int) -> LongArray:
    """Return (D,) the seats that take the tricks ``cards`` (D, 4) led by ``leader`` (D,)."""
    suit, rank = np.divmod(cards, len(RANKS))
    led = np.take_along_axis(suit, leader[:, None], axis=1)
    seats: LongArray = np.argmax(rank + 10 * (suit == led) + 100 * (suit == trump), axis=1)
    return seats


def score(level: int, trump: int, tricks: LongArray) -> LongArray:
    """Return scores: -20 a trick short of ``level``; else 10 a trick, +10 at level two, +5 more for two no trump."""
    made = 10 * tricks + (level == 2) * (10 + 5 * (trump == NO_TRUMP))
    return np.where(tricks < level, 20 * (tricks - level), made)


class _Fields(NamedTuple):
    abstracted: bool
    hands: tuple[int, ...]
    bid: int
    mover: int


class BridgeState(NativeState, _Fields):
    """The hands (or their classes) dealt so far, the last bid as an index into ``CALLS``, and the player to call."""

    __slots__ = ()

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return (PASS, *CALLS[self.bid + 1 :]) if len(self.hands) == 2 and player == self.mover else ()

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        if len(self.hands) == 2:
            return ()
        names, counts, _ = deals(self.abstracted)
        ways = (counts[self.hands] if self.hands else counts.sum(axis=1)).tolist()
        total = sum(ways)
        return tuple((name, count / total) for name, count in zip(names, ways, strict=True) if count)

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        abstracted, hands, bid, mover = self
        if chance_outcome is not None:
            seen = (None, chance_outcome) if hands else (chance_outcome, None)
            return Observed(self._replace(hands=(*hands, deals(abstracted).hands.index(str(chance_outcome)))), seen)
        call = CALLS.index(str(actions[mover]))
        heard = (None, actions[mover]) if mover == 0 else (actions[mover], None)
        if not call and (bid or mover):  # any pass but the very first call
            return Observed(Ended((self._payoff(),) * 2), heard)
        return Observed(BridgeState(abstracted, hands, call, 1 - mover), heard)

    def _payoff(self) -> float:
        """Return the payoff of the last bid; its bidder is the player who did not pass."""
        _, counts, points = deals(self.abstracted)
        return int(points[(*self.hands, self.bid, 1 - self.mover)]) / (SPLITS * int(counts[self.hands]))

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


class BridgeRules(ShownRules):
    """Tiny bridge with OpenSpiel's tensors."""

    def tensor_encoder(self, kind: str) -> BridgeEncoder:
        """Return the encoder of OpenSpiel's tensors: the hand, and all calls with their players or the last one."""
        state: BridgeState = self.first.state  # type: ignore[assignment]
        return BridgeEncoder(state.abstracted, has_recall(self.name, kind))


class BridgeEncoder:
    """The player's two cards or the class of its hand, and each call by whom with ``recall``, else the last call.

    The memo is the last call as an index into ``CALLS``; ``None`` before the first.
    """

    def __init__(self, abstracted: bool, recall: bool) -> None:
        self.abstracted, self.recall = abstracted, recall
        self.actions: tuple[Action, ...] = CALLS
        hand, calls = len(CLASSES) if abstracted else len(CARDS), len(CALLS) * (2 if recall else 1)
        self.at, size = layout(hand=hand, calls=calls)
        self.shape: tuple[int, ...] = (size,)

    def start(self, player: int) -> tuple[int | None, Writes]:
        """Show nothing: not even the player."""
        return None, ()

    def after(self, player: int, memo: int | None, record: ObservationRecord) -> tuple[int | None, Writes]:
        """Show the hand, or a call."""
        shown = str(made((record,))[0])
        if shown not in CALLS:
            cards = [CLASSES.index(shown)] if self.abstracted else [CARDS.index(shown[k : k + 2]) for k in (0, 2)]
            return None, tuple([(card, 1.0) for card in cards])
        call = CALLS.index(shown)
        if self.recall:
            return call, ((self.at["calls"] + 2 * call + (record[0] is None), 1.0),)
        forgotten = () if memo is None else ((self.at["calls"] + memo, 0.0),)
        return call, (*forgotten, (self.at["calls"] + call, 1.0))


def hand_cards(name: str) -> list[str]:
    """Return the cards of a hand, such as ``As``, or of a class, such as ``KQJ♥``, with the suit last."""
    if "+" not in name:
        return [name[k + 1] + name[k].lower() for k in (0, 2)]
    return [
        part[1] + part[0].lower() if len(part) == 2 else part[1:] + "♥♠"[part[0] == "S"] for part in name.split("+")
    ]


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw the hands, the calls and the contract so far."""
    calls = made(longest(infostate))[1:]
    areas = []
    for player, own in enumerate(infostate):
        hand = hand_cards(str(own[0][1])) if own else []
        face_down = 2 * int(own is None and any(infostate))
        areas.append(area(rules.players[player], hand, face_down, turn_words(calls, 0, player, 2), player=player))
    last = [k for k, call in enumerate(calls) if call != PASS]
    contract = f"{calls[last[-1]]} by {rules.players[last[-1] % 2]}" if last else "none yet"
    return table(*areas, area("contract", note=contract))


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe the player's hand, its own call, or the other player's call."""
    action, seen = record
    if not before:
        return f"you hold {' '.join(hand_cards(str(seen)))}"
    call = seen if action is None else action
    verb = "pass" if call == PASS else "bid"
    what = "" if call == PASS else f" {call}"
    return (f"you {verb}" if action is not None else does(rules.players[1 - player], verb)) + what


def tiny_bridge(abstracted: bool = True) -> Rules:
    """Tiny bridge: West and East bid in turn, each higher than the last, until one passes; both get the score.

    West opens and may pass once without ending the auction.  The last bid is the contract, its bidder the declarer;
    two passes score nothing.  With ``abstracted`` a player knows only to which of 12 classes its hand belongs
    (``SA+HKQJ``: the ace of spades and a heart below the ace), and chance deals classes; a payoff is then the mean over
    the deals of those classes.  Otherwise a player sees its two cards.

    A team that saw both hand classes would get 21.317460 on average, which is an upper bound for every team.
    """
    name = full_name("tiny_bridge", tiny_bridge, abstracted=abstracted)
    first = Observed(BridgeState(abstracted, (), 0, 0), (None, None))
    return BridgeRules(name, ("West", "East"), first, Look(picture, describe_record))
