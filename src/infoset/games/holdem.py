"""Texas hold'em from the flop, turn or river on: a board, a range of hands for each of two players, betting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from infoset.base import (
    Action,
    BoolArray,
    FloatArray,
    InformationState,
    JointAction,
    ObservationRecord,
    Observed,
    Picture,
)
from infoset.errors import ParameterError, shorten
from infoset.games import bet_sizes
from infoset.games.bet_sizes import CHIPS, MAX_SHARE, NONE, POT, BetSize, on_all_streets, parse_sizes_by_street
from infoset.games.betting import ACT, CARD, MAX_CHIPS, SHOWDOWN, Betting, BettingRules
from infoset.games.poker_hands import (
    DECK,
    DIALECTS,
    RANKS,
    Range,
    card_name,
    cards_of,
    disjoint,
    hand_name,
    parse_range,
)
from infoset.games.ranges import translate_range
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Infostates, Look, ShownRules, area, does, longest, made, table
from infoset.names import Value, check_choice, check_range, full_name

MAX_RAISES = 8
ALL_IN = "allin"
RIVER_CARDS, TURN_CARDS, FLOP_CARDS = 5, 4, 3
CARDS_TO_COME = {3: "the turn", 4: "the river"}
"""The next card's name by the number of cards that lie open."""
Hand: TypeAlias = tuple[int, ...]
Core: TypeAlias = tuple[Betting, tuple[int, ...]]
"""The betting and the cards opened since the game began."""


@dataclass(frozen=True, eq=False)
class Spot:
    """The constants of one game, shared by all its states."""

    name: str
    board: tuple[int, ...]
    """Three to five cards, numbered ``4 * rank + suit``."""
    betting: BettingRules
    ranges: tuple[Range, Range] = field(repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spot) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def street(self) -> int:
        """The street on which the game begins: 0 flop, 1 turn, 2 river."""
        return len(self.board) - FLOP_CARDS

    @cached_property
    def hands(self) -> tuple[list[Hand], list[Hand]]:
        """The hands in each player's range, as pairs of cards, the higher one first."""
        one, two = self.ranges
        return list(one), list(two)

    @cached_property
    def weights(self) -> tuple[FloatArray, FloatArray]:
        """(hands,) the weights of each player's hands, in the order of ``hands``."""
        one, two = self.ranges
        return np.array(list(one.values())), np.array(list(two.values()))

    @cached_property
    def number(self) -> dict[str, Hand]:
        """The hands by name."""
        return {hand_name(hand): hand for own in self.hands for hand in own}

    @cached_property
    def _strengths(self) -> dict[tuple[int, ...], dict[Hand, int]]:
        return {}

    def strengths(self, cards: tuple[int, ...]) -> dict[Hand, int]:
        """Return the strength of each hand with the board and the cards opened since, in any order."""
        opened = tuple(sorted(cards))
        if opened not in self._strengths:
            from infoset.games.hand_strengths import BLOCKED, hand_strengths  # brings compiled code

            hands = list(self.number.values())
            found = hand_strengths((*self.board, *opened), hands).tolist()
            self._strengths[opened] = {
                hand: level for hand, level in zip(hands, found, strict=True) if level != BLOCKED
            }
        return self._strengths[opened]

    @cached_property
    def fits(self) -> BoolArray:
        """(hands, hands) whether two hands can be held at the same time."""
        return disjoint(*self.hands)

    @cached_property
    def first_probabilities(self) -> FloatArray:
        """(hands,) the probabilities of the first player's hands."""
        joint = self.weights[0] * (self.fits @ self.weights[1])
        return np.asarray(joint / joint.sum())

    def probabilities_beside(self, hand: Hand) -> list[tuple[Action, float]]:
        """Return the second player's hands with their probabilities, given the first player's ``hand``."""
        left = {own: weight for own, weight in self.ranges[1].items() if not set(own) & set(hand)}
        total = sum(left.values())
        return [(hand_name(own), weight / total) for own, weight in left.items()]


class _Fields(NamedTuple):
    spot: Spot
    hands: tuple[Hand, ...]
    betting: Betting
    cards: tuple[int, ...]


class HoldemState(NativeState, _Fields):
    """The hands dealt, the betting, and the cards opened since the game began, in order."""

    __slots__ = ()

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        if player != self.betting.mover or len(self.hands) < 2:
            return ()
        return self.spot.betting.actions(self.betting)

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        if len(self.hands) == 2:
            return self._cards_to_come() if self.betting.status == CARD else ()
        if self.hands:
            return tuple(self.spot.probabilities_beside(self.hands[0]))
        probabilities = zip(self.spot.hands[0], self.spot.first_probabilities.tolist(), strict=True)
        return tuple((hand_name(hand), chance) for hand, chance in probabilities)

    def _cards_to_come(self) -> tuple[tuple[Action, float], ...]:
        """Return the cards that may be opened next with their probabilities."""
        closed = {*range(DECK)} - {*self.spot.board, *self.cards, *self.hands[0], *self.hands[1]}
        return tuple((card_name(card), 1 / len(closed)) for card in sorted(closed))

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        if chance_outcome is not None and len(self.hands) == 2:
            (card,) = cards_of(str(chance_outcome), "card")
            return Observed(self.after_card(card), (chance_outcome, chance_outcome))
        if chance_outcome is not None:
            seen = (chance_outcome, None) if not self.hands else (None, chance_outcome)
            return Observed(self._replace(hands=(*self.hands, self.spot.number[str(chance_outcome)])), seen)
        mover = self.betting.mover
        action = str(actions[mover])
        return Observed(self.after(action), (None, action) if mover == 0 else (action, None))

    def after(self, action: str) -> NativeState:
        """Return the state after a legal action of the mover."""
        return self._replace(betting=self.spot.betting.after(self.betting, action))._ended()

    def after_card(self, card: int) -> NativeState:
        """Return the state after a card is opened."""
        return self._replace(betting=self.spot.betting.deal(self.betting), cards=(*self.cards, card))._ended()

    def _ended(self) -> NativeState:
        """Return the end with its payoffs where a player has folded or hands are compared, otherwise the state."""
        if self.betting.status in (ACT, CARD):
            return self
        outcome = 0
        if self.betting.status == SHOWDOWN:
            one, two = (self.spot.strengths(self.cards)[hand] for hand in self.hands)
            outcome = 0 if one > two else 1 if one == two else 2
        return Ended(tuple(self.spot.betting.payoffs(self.betting)[outcome].tolist()))

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


class HoldemRules(ShownRules):
    """The rules of a spot, with its cards, ranges and betting in ``spot``."""

    @property
    def spot(self) -> Spot:
        """The board, the rules of betting and the ranges."""
        return self.first.state.spot  # type: ignore[attr-defined, no-any-return]


class Public(NamedTuple):
    """The public information: the betting, each player's actions, and the opened cards."""

    betting: Betting
    actions: list[list[str]]
    cards: list[str]


def _public(rules: Rules, infostate: InformationState) -> Public:
    """Replay the betting from one player's information state."""
    spot: Spot = rules.first.state.spot  # type: ignore[attr-defined]
    betting = spot.betting.start(spot.street)
    actions, cards = [list[str](), list[str]()], list[str]()
    for word in map(str, made(infostate)[1:]):
        if betting.status == CARD:
            cards.append(word)
            actions = [[*own, "|"] for own in actions]
            betting = spot.betting.deal(betting)
        else:
            actions[betting.mover].append(word)
            betting = spot.betting.after(betting, word)
    return Public(betting, actions, cards)


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw the hands, the board, the chips and each player's actions."""
    spot: Spot = rules.first.state.spot  # type: ignore[attr-defined]
    betting, actions, cards = _public(rules, longest(infostate))
    areas = []
    for player, own in enumerate(infostate):
        hand = _two(str(own[0][1])) if own else []
        hidden = 2 * int(own is None and any(infostate))
        said = ", ".join(actions[player]).replace(", |", " |").replace("|,", "|").strip(" |")
        areas.append(area(rules.players[player], hand, hidden, said, chips=betting.stakes[player], player=player))
    chips = spot.betting.pot + sum(betting.stakes)
    return table(*areas, area("board", [*_two(hand_name(spot.board)), *cards], chips=chips))


def _two(name: str) -> list[str]:
    """Split the name of a hand or board into those of its cards."""
    return [name[k : k + 2] for k in range(0, len(name), 2)]


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe a dealt hand, the player's own move, the other player's move, or an opened card."""
    action, seen = record
    if action is not None:
        return f"you {action}"
    if not before:
        return f"you get {seen}"
    verb, _, much = str(seen).partition(" ")
    if verb[0] in RANKS:
        board = rules.first.state.spot.board  # type: ignore[attr-defined]
        opened = [word for word in made(before)[1:] if str(word)[0] in RANKS]
        return f"{CARDS_TO_COME[len(board) + len(opened)]} is {seen}"
    return f"{does(rules.players[1 - player], verb)} {much}".strip()


def holdem(
    board: str = "Td9d6h", pot: int = 100, stack: int = 200, range1: Value = "QQ AdKd T8s",
    range2: Value = "JJ AJs 87s", bets: Value = "75%", raises: Value = "3x", donks: Value = "", cap: int = 0,
    add_allin: float = 0.0, force_allin: float = 0.0, merge: float = 0.0, rake: float = 0.0, rake_cap: float = 0.0,
    dead: int = 0, ranges: str = "",
) -> Rules:  # fmt: skip
    """Texas hold'em from the flop, turn or river on, heads up: P1 moves first on every street.

    ``bets``, ``raises`` and ``donks`` are sizes such as ``33%,75%; turn: 66%; river P2: 2e,a``, see
    ``games.bet_sizes``; the thresholds ``add_allin``, ``force_allin`` and ``merge`` are shares of the pot, see
    ``games.betting``.  There are up to ``cap`` bets and raises a street (0: any number).  The house takes the share
    ``rake`` of the pot, up to ``rake_cap`` chips (0: no limit).  Ranges are written as ``QQ+ A5s+ KTo 76s:0.5 AhKd``,
    ``any`` is every hand; ``ranges`` chooses how ``T9s+`` is read, ``eval7`` (T9s alone) or ``pio`` (T9s to AKs).
    Payoffs are chips won, where each player put in half of the ``pot`` without ``dead``.  Raises ``ParameterError`` for
    invalid values.
    """
    sizes = {name: _sizes_text(value) for name, value in (("bets", bets), ("raises", raises), ("donks", donks))}
    with _errors_of("holdem"):
        range1, range2 = _range_texts(range1, range2)
        name = full_name(
            "holdem", holdem, board=board, pot=pot, stack=stack, range1=range1, range2=range2, **sizes, cap=cap,
            add_allin=add_allin, force_allin=force_allin, merge=merge, rake=rake, rake_cap=rake_cap, dead=dead,
            ranges=ranges,
        )  # fmt: skip
        betting = BettingRules(
            pot, stack, cap=cap, add_allin=add_allin, force_allin=force_allin, merge=merge, rake=rake,
            rake_cap=rake_cap, dead=dead,
            **{name: parse_sizes_by_street(text, name, name == "raises") for name, text in sizes.items()},
        )  # fmt: skip
        return _make_game(name, board, (FLOP_CARDS, TURN_CARDS, RIVER_CARDS), betting, (range1, range2), ranges)


def holdem_river(
    board: str = "QsJh8h5d2c", pot: int = 100, stack: int = 200, bets: tuple[Value, ...] = (0.5, 1.0), raises: int = 1,
    limit: int = 0, range1: Value = "AA KQs JTs:0.5 T9s A5s", range2: Value = "QJs AQo ATs 99 J9s",
    ranges: str = "",
) -> Rules:  # fmt: skip
    """Texas hold'em on the river, heads up: P1 moves first, the last five cards lie open.

    Bets and raises are shares of the pot after a call, in whole chips; ``allin`` is the rest of the stack.  With a
    ``limit`` they are that many chips.  There is a bet and up to ``raises`` raises.  Ranges are written as
    ``QQ+ A5s+ KTo 76s:0.5 AhKd``, ``any`` is every hand; ``ranges`` chooses how ``T9s+`` is read, ``eval7`` (T9s alone)
    or ``pio`` (T9s to AKs).  Payoffs are chips won, where each player put in half of the ``pot``.  Raises
    ``ParameterError`` for invalid cards and ranges.
    """
    with _errors_of("holdem_river"):
        range1, range2 = _range_texts(range1, range2)
        name = full_name(
            "holdem_river", holdem_river, board=board, pot=pot, stack=stack, bets=bets, raises=raises, limit=limit,
            range1=range1, range2=range2, ranges=ranges,
        )  # fmt: skip
        betting = _betting_by_shares(pot, stack, bets, raises, limit)
        return _make_game(name, board, (RIVER_CARDS,), betting, (range1, range2), ranges)


def holdem_turn(
    board: str = "QsJh8h5d", pot: int = 100, stack: int = 200, bets: tuple[Value, ...] = (1.0,), raises: int = 1,
    limit: int = 0, range1: Value = "AA KQs JTs:0.5", range2: Value = "QJs AQs 99",
    ranges: str = "",
) -> Rules:  # fmt: skip
    """Texas hold'em from the turn on: four cards lie open, and one more is opened after a round of betting.

    The parameters are those of ``holdem_river``; moves name the total chips that a player has put in on both streets.
    ``raises`` applies to each street.
    """
    with _errors_of("holdem_turn"):
        range1, range2 = _range_texts(range1, range2)
        name = full_name(
            "holdem_turn", holdem_turn, board=board, pot=pot, stack=stack, bets=bets, raises=raises, limit=limit,
            range1=range1, range2=range2, ranges=ranges,
        )  # fmt: skip
        betting = _betting_by_shares(pot, stack, bets, raises, limit)
        return _make_game(name, board, (TURN_CARDS,), betting, (range1, range2), ranges)


@contextmanager
def _errors_of(game: str) -> Iterator[None]:
    """Begin messages of errors with the name of the game."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"{game}: {error}") from None


def _make_game(
    name: str, board: str, lengths: tuple[int, ...], betting: BettingRules, texts: tuple[str, str], ranges: str
) -> HoldemRules:  # fmt: skip
    """Make a game from its board, betting and ranges.  Raises ``ParameterError``."""
    open_cards = cards_of(board, "board")
    if len(open_cards) not in lengths:
        needs = " or ".join(", ".join(map(str, lengths)).rsplit(", ", 1))
        raise ParameterError(f"board={shorten(board)!r} has {len(open_cards)} cards; it needs {needs}")
    if ranges:
        check_choice("ranges", ranges, DIALECTS)
    found = [parse_range(text, open_cards, f"range{k}", ranges) for k, text in enumerate(texts, 1)]
    both_ranges = _restrict_ranges(*found)
    if not all(both_ranges):
        raise ParameterError("every hand of range1 shares a card with every hand of range2")
    spot = Spot(name, open_cards, betting, both_ranges)
    first = HoldemState(spot, (), betting.start(spot.street), ())
    return HoldemRules(name, seats(2), Observed(first, (None, None)), Look(picture, describe_record))


def _restrict_ranges(one: Range, two: Range) -> tuple[Range, Range]:
    """Return the ranges without hands that conflict with all hands of the other player."""
    fits = disjoint(list(one), list(two))
    first = {hand: weight for k, (hand, weight) in enumerate(one.items()) if fits[k].any()}
    return first, {hand: weight for k, (hand, weight) in enumerate(two.items()) if fits[:, k].any()}


def _range_texts(*values: Value) -> tuple[str, ...]:
    """Return the ranges in the notation of ``parse_range``; 22 and 99 were parsed as numbers."""
    texts = [" ".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in values]
    return tuple([translate_range(text, f"range{k}") for k, text in enumerate(texts, 1)])


def _sizes_text(value: Value) -> str:
    """Return sizes as one line of text: a list of names is joined, and ``none`` was parsed as a constant."""
    if isinstance(value, tuple):
        value = ",".join(map(str, value))
    text = NONE if value is None else str(value)
    return "; ".join(clause.strip() for clause in re.split(r"[;\n]", text) if clause.strip())


def _betting_by_shares(
    pot: int, stack: int, bets: tuple[Value, ...], raises: int, limit: int
) -> BettingRules:  # fmt: skip
    """Return the rules for one list of shares of the pot and ``allin``, or for a ``limit`` in chips."""
    check_range("stack", stack, 1, MAX_CHIPS)
    check_range("raises", raises, 0, MAX_RAISES)
    check_range("limit", limit, 0, MAX_CHIPS)
    sizes = tuple(map(_share_size, bets))
    if limit:
        sizes = (BetSize(CHIPS, min(limit, stack)),)
    by_street = on_all_streets(sizes)
    return BettingRules(pot, stack, by_street, by_street, cap=raises + 1)


def _share_size(bet: Value) -> BetSize:
    """Return the size of a share of the pot or ``allin``.  Raises ``ParameterError`` for others."""
    if bet == ALL_IN:
        return BetSize(bet_sizes.ALL_IN)
    if type(bet) not in (int, float) or not 0 < bet <= MAX_SHARE:  # type: ignore[operator]
        raise ParameterError(f"a bet of {shorten(repr(bet))}; allowed: shares of the pot above 0, and {ALL_IN}")
    return BetSize(POT, float(bet))  # type: ignore[arg-type]
