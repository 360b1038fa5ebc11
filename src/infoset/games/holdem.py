"""Texas hold'em from the turn or the river on: a board, a range of hands for each of two players, betting."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

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
    State,
)
from infoset.errors import ParameterError, shorten
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
    strength,
)
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Infostates, Look, ShownRules, area, does, longest, made, table
from infoset.names import Value, check_choice, check_range, full_name

CHECK, CALL, FOLD, ALL_IN = "check", "call", "fold", "allin"
RIVER, TURN = 5, 4  # cards on the board
NOBODY = -1  # no player moves; also: no card
MOST_CHIPS = 1_000_000


@dataclass(frozen=True, eq=False)
class Spot:
    """The constants of one game, shared by all its states."""

    name: str
    board: tuple[int, ...]
    pot: int
    stack: int
    bets: tuple[float, ...]
    raises: int
    limit: int
    ranges: tuple[Range, Range] = field(repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spot) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def hands(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """The hands in each player's range, as pairs of cards."""
        one, two = self.ranges
        return list(one), list(two)

    @cached_property
    def number(self) -> dict[str, tuple[int, ...]]:
        """The hands by name."""
        return {hand_name(hand): hand for own in self.hands for hand in own}

    @cached_property
    def _strengths(self) -> dict[int, dict[tuple[int, ...], int]]:
        return {}

    def strengths(self, card: int) -> dict[tuple[int, ...], int]:
        """Return the strength of each hand with the board and the river card ``card``, or ``NOBODY`` for none."""
        if card not in self._strengths:
            board = self.board if card == NOBODY else (*self.board, card)
            self._strengths[card] = {
                hand: strength((*board, *hand)) for hand in self.number.values() if card not in hand
            }
        return self._strengths[card]

    @cached_property
    def fits(self) -> BoolArray:
        """(hands, hands) whether two hands can be held at the same time."""
        return disjoint(*self.hands)

    @cached_property
    def first_probabilities(self) -> FloatArray:
        """(hands,) the probabilities of the first player's hands."""
        weights = [np.array(list(own.values())) for own in self.ranges]
        joint = weights[0] * (self.fits @ weights[1])
        return np.asarray(joint / joint.sum())

    def probabilities_beside(self, hand: tuple[int, ...]) -> list[tuple[Action, float]]:
        """Return the second player's hands with their probabilities, given the first player's ``hand``."""
        left = {own: weight for own, weight in self.ranges[1].items() if not set(own) & set(hand)}
        total = sum(left.values())
        return [(hand_name(own), weight / total) for own, weight in left.items()]


class _Fields(NamedTuple):
    spot: Spot
    hands: tuple[tuple[int, ...], ...]
    stakes: tuple[int, int]
    bets: int
    mover: int
    card: int


class HoldemState(NativeState, _Fields):
    """The hands dealt, the chips put in, the bets and raises on this street, the player to move and the river card.

    The mover is ``NOBODY`` where chance deals the river, and the card is ``NOBODY`` before that.
    """

    __slots__ = ()

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        if player != self.mover or len(self.hands) < len(self.stakes):
            return ()
        highest, own = max(self.stakes), self.stakes[player]
        sizes = () if self.bets > self.spot.raises else self._sizes(highest, own)
        first = (FOLD, CALL) if highest > own else (CHECK,)
        verb = "raise" if highest > own else "bet"
        return (*first, *[f"{verb} {to}" for to in sizes])

    def _sizes(self, highest: int, own: int) -> tuple[int, ...]:
        """Return the stakes to bet or raise to: shares of the pot after a call, raising no less than the last bet."""
        spot, pot = self.spot, self.spot.pot + 2 * highest
        if highest >= spot.stack:
            return ()
        if spot.limit:
            return (min(spot.stack, highest + spot.limit),)
        least = highest + max(highest - own, 1)
        to = {min(spot.stack, max(least, highest + round(min(size * pot, spot.stack)))) for size in spot.bets}
        return tuple(sorted(to))

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        if len(self.hands) == len(self.stakes):
            return self._cards() if self.mover == NOBODY else ()
        if self.hands:
            return tuple(self.spot.probabilities_beside(self.hands[0]))
        probabilities = zip(self.spot.hands[0], self.spot.first_probabilities.tolist(), strict=True)
        return tuple((hand_name(hand), chance) for hand, chance in probabilities)

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        if chance_outcome is not None and self.mover == NOBODY:
            (card,) = cards_of(str(chance_outcome), "card")
            return Observed(self.opened(card), (chance_outcome, chance_outcome))
        if chance_outcome is not None:
            seen = (chance_outcome, None) if not self.hands else (None, chance_outcome)
            return Observed(self._replace(hands=(*self.hands, self.spot.number[str(chance_outcome)])), seen)
        mover = self.mover
        action = str(actions[mover])
        return Observed(self.after(action), (None, action) if mover == 0 else (action, None))

    def _cards(self) -> tuple[tuple[Action, float], ...]:
        """Return the possible river cards with their probabilities."""
        closed = {*range(DECK)} - {*self.spot.board, *self.hands[0], *self.hands[1]}
        return tuple((card_name(card), 1 / len(closed)) for card in sorted(closed))

    def opened(self, card: int) -> HoldemState:
        """Return the state after the river card is dealt."""
        return self._replace(bets=0, mover=0, card=card)

    def staked(self, action: str) -> tuple[int, int]:
        """Return the chips put in after a move."""
        own, highest = self.stakes[self.mover], max(self.stakes)
        to = highest if action == CALL else own if action in (CHECK, FOLD) else int(action.split()[1])
        return (to, self.stakes[1]) if self.mover == 0 else (self.stakes[0], to)

    def after(self, action: str) -> NativeState:
        """Return the state after a legal move."""
        mover, stakes = self.mover, self.staked(action)
        if action == FOLD:
            return Ended(self._paid(1 - mover, stakes[mover]))
        if action == CALL or (action == CHECK and mover == 1):
            if len(self.spot.board) == TURN and self.card == NOBODY:
                return self._replace(stakes=stakes, mover=NOBODY)
            one, two = (self.spot.strengths(self.card)[hand] for hand in self.hands)
            return Ended(self._paid(int(two > one), max(stakes))) if one != two else Ended((0.0, 0.0))
        return self._replace(stakes=stakes, bets=self.bets + (action != CHECK), mover=1 - mover)

    def _paid(self, winner: int, stake: int) -> tuple[float, ...]:
        """Return the payoffs; each player put in half of the initial pot."""
        won = self.spot.pot / 2 + stake
        return (won, -won) if winner == 0 else (-won, won)

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


class HoldemRules(ShownRules):
    """Hold'em in factored form: the private parts are the hands, the core is the betting and the river card."""

    @property
    def spot(self) -> Spot:
        """The board, chips and ranges."""
        return self.first.state.spot  # type: ignore[attr-defined, no-any-return]

    def split(self, state: State) -> tuple[Hashable, tuple[Hashable, ...]] | None:
        """Split a state into the betting with the river card, and the hands, on which terminal payoffs depend."""
        if not isinstance(state, HoldemState):
            return None
        return state[2:], state.hands

    def join(self, core: tuple[tuple[int, int], int, int, int], own: tuple[tuple[int, ...], ...]) -> HoldemState:
        """Return the state with this betting and these hands."""
        return HoldemState(self.spot, own, *core)

    def deal(self) -> tuple[Hashable, list[list[tuple[Hashable, Action, float]]]]:
        """Return the core after the deal, and each player's hands with their names and weights; see ``Dealt``."""
        dealt: list[list[tuple[Hashable, Action, float]]] = [
            [(hand, hand_name(hand), weight) for hand, weight in own.items()] for own in self.spot.ranges
        ]
        return self.first.state[2:], dealt  # type: ignore[index]

    def cards(self, what: tuple[int, ...] | str) -> tuple[int, ...]:
        """Return the cards of a hand or of a chance outcome; see ``Dealt``."""
        return cards_of(what, "card") if isinstance(what, str) else what

    def strength(self, core: tuple[tuple[int, int], int, int, int], own: tuple[int, ...]) -> int:
        """Return the strength of a hand with the cards of the core; see ``Dealt``."""
        return self.spot.strengths(core[-1])[own]


class Public(NamedTuple):
    """The public information: the chips put in, each player's moves, and the river card."""

    stakes: tuple[int, int]
    actions: list[list[str]]
    card: str


def _public(rules: Rules, infostate: InformationState) -> Public:
    """Replay the betting from one player's information state."""
    first: HoldemState = rules.first.state  # type: ignore[assignment]
    state: NativeState = first._replace(hands=(first.spot.hands[0][0], first.spot.hands[1][0]))
    stakes, actions, opened = first.stakes, [list[str](), list[str]()], ""
    for word in map(str, made(infostate)[1:]):
        assert isinstance(state, HoldemState)
        if state.mover == NOBODY:
            (card,), opened = cards_of(word, "card"), word
            beside = [next(hand for hand in own if card not in hand) for own in first.spot.hands]
            state = state.opened(card)._replace(hands=tuple(beside))
            actions = [[*own, "|"] for own in actions]
            continue
        actions[state.mover].append(word)
        stakes, state = state.staked(word), state.after(word)
    return Public(stakes, actions, opened)


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw the hands, the board, the chips and each player's moves."""
    spot: Spot = rules.first.state.spot  # type: ignore[attr-defined]
    stakes, actions, card = _public(rules, longest(infostate))
    areas = []
    for player, own in enumerate(infostate):
        hand = _two(str(own[0][1])) if own else []
        hidden = 2 * int(own is None and any(infostate))
        said = ", ".join(actions[player]).replace(", |", " |").replace("|,", "|").strip(" |")
        areas.append(area(rules.players[player], hand, hidden, said, chips=stakes[player], player=player))
    return table(*areas, area("board", [*_two(hand_name(spot.board)), *_two(card)], chips=spot.pot + sum(stakes)))


def _two(name: str) -> list[str]:
    """Split the name of a hand or board into those of its cards."""
    return [name[k : k + 2] for k in range(0, len(name), 2)]


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe a dealt hand, the player's own move, the other player's move, or the river card."""
    action, seen = record
    if action is not None:
        return f"you {action}"
    if not before:
        return f"you get {seen}"
    verb, _, much = str(seen).partition(" ")
    if verb[0] in RANKS:
        return f"the river is {seen}"
    return f"{does(rules.players[1 - player], verb)} {much}".strip()


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
    return _holdem(
        holdem_river, RIVER, board=board, pot=pot, stack=stack, bets=bets, raises=raises, limit=limit, range1=range1,
        range2=range2, ranges=ranges,
    )  # fmt: skip


def holdem_turn(
    board: str = "QsJh8h5d", pot: int = 100, stack: int = 200, bets: tuple[Value, ...] = (1.0,), raises: int = 1,
    limit: int = 0, range1: Value = "AA KQs JTs:0.5", range2: Value = "QJs AQs 99",
    ranges: str = "",
) -> Rules:  # fmt: skip
    """Texas hold'em from the turn on: four cards lie open, and one more is opened after a round of betting.

    The parameters are those of ``holdem_river``; moves name the total chips that a player has put in on both streets.
    ``raises`` applies to each street.
    """
    return _holdem(
        holdem_turn, TURN, board=board, pot=pot, stack=stack, bets=bets, raises=raises, limit=limit, range1=range1,
        range2=range2, ranges=ranges,
    )  # fmt: skip


def _holdem(
    maker: Callable[..., Rules], cards: int, board: str, pot: int, stack: int, bets: tuple[Value, ...], raises: int,
    limit: int, range1: Value, range2: Value, ranges: str,
) -> Rules:  # fmt: skip
    """Make a turn or river game.  Raises ``ParameterError``."""
    game = maker.__name__
    check_range(f"{game}: pot", pot, 1, MOST_CHIPS)
    check_range(f"{game}: stack", stack, 1, MOST_CHIPS)
    check_range(f"{game}: raises", raises, 0, 8)
    check_range(f"{game}: limit", limit, 0, MOST_CHIPS)
    open_cards = cards_of(board, f"{game}: board")
    if len(open_cards) != cards:
        raise ParameterError(f"{game}: board={shorten(board)!r} has {len(open_cards)} cards; it needs {cards}")
    texts = str(range1), str(range2)  # 22 and 99 are parsed as numbers
    if ranges:
        check_choice(f"{game}: ranges", ranges, DIALECTS)
    found = [parse_range(text, open_cards, f"{game}: range{k}", ranges) for k, text in enumerate(texts, 1)]
    name = full_name(
        game, maker, board=board, pot=pot, stack=stack, bets=bets, raises=raises, limit=limit, range1=texts[0],
        range2=texts[1], ranges=ranges,
    )  # fmt: skip
    both_ranges = _restrict_ranges(*found)
    if not all(both_ranges):
        raise ParameterError(f"{game}: every hand of range1 shares a card with every hand of range2")
    spot = Spot(name, open_cards, pot, stack, _sizes(bets, game), raises, limit, both_ranges)
    first = HoldemState(spot, (), (0, 0), 0, 0, NOBODY)
    return HoldemRules(name, seats(2), Observed(first, (None, None)), Look(picture, describe_record))


def _restrict_ranges(one: Range, two: Range) -> tuple[Range, Range]:
    """Return the ranges without hands that conflict with all hands of the other player."""
    fits = disjoint(list(one), list(two))
    first = {hand: weight for k, (hand, weight) in enumerate(one.items()) if fits[k].any()}
    return first, {hand: weight for k, (hand, weight) in enumerate(two.items()) if fits[:, k].any()}


def _sizes(bets: tuple[Value, ...], game: str) -> tuple[float, ...]:
    """Return the bet sizes as shares of the pot, infinite for all-in.  Raises ``ParameterError`` for invalid ones."""
    for bet in bets:
        if bet != ALL_IN and not (type(bet) in (int, float) and 0 < bet <= MOST_CHIPS):  # type: ignore[operator]
            raise ParameterError(
                f"{game}: a bet of {shorten(repr(bet))}; allowed: shares of the pot above 0, and {ALL_IN}"
            )
    return tuple([np.inf if bet == ALL_IN else float(bet) for bet in bets])  # type: ignore[arg-type]
