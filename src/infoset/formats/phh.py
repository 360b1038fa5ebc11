"""Hand histories in the PHH format: the spot that two players reach on the flop, turn or river, and what they did.

The format is due to Kim, Recording and describing poker hands, 2024.  Hands are replayed with ``pokerkit`` (extra
``poker``), which checks every action.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from math import gcd, isfinite
from pathlib import Path
from typing import Any, NamedTuple

from infoset.errors import FormatError, MissingExtraError, one_line
from infoset.files import read_text
from infoset.games.betting import BET, CALL, CHECK, FOLD, MAX_CHIPS, RAISE
from infoset.games.poker_hands import cards_of, hand_name
from infoset.names import check_choice

STREETS = ("preflop", "flop", "turn", "river")
CARDS = (0, 3, 1, 1)
"""The number of cards that each street opens."""
PLAYERS, HAND_CARDS = 2, 2
"""The number of players of a spot, and of cards of a hand."""
MOVES = {"Folding": FOLD, "CheckingOrCalling": CALL, "CompletionBettingOrRaisingTo": RAISE}
"""The operations of pokerkit that are players' actions."""
HOLDEM = "NT"
"""The format's name for Texas hold'em without a limit."""
SCALES = (1, 10, 100, 1000, 10_000)
LATE = ("LJ", "HJ", "CO", "BTN")
"""The last positions at a table; before them come the blinds and UTG, UTG+1, …"""


@dataclass(frozen=True)
class RecordedSpot:
    """A spot with two players from a hand history; P1 is the one who acts first after the flop."""

    board: str
    """The cards that lie open when the spot begins, such as ``Td9d6h``."""
    pot: int
    """The chips in the middle when the spot begins."""
    stack: int
    """The chips that the player with fewer has left when the spot begins."""
    dead: int
    """The chips of the pot above twice what the player with less in it put in: of players who folded, and antes."""
    scale: Fraction
    """The number of chips for one unit of the file's amounts, such as 100 where those have cents.

    It is below 1 where amounts as large as a tournament's would be more chips than a spot may have.
    """
    players: tuple[str, ...]
    """The names of P1 and P2, such as ``p1`` where the file has none."""
    positions: tuple[str, ...]
    """The positions of P1 and P2, such as ``BB`` and ``BTN``."""
    hands: tuple[str, ...]
    """The hands of P1 and P2, such as ``AhKd``, the high card first, empty where they are not known."""
    aggressor: int
    """Who made the last bet or raise on the street before: 0 for P1, 1 for P2, −1 for neither."""
    actions: tuple[str, ...]
    """The actions and the cards from then on, such as ``check``, ``bet 50``, ``call``, ``Qc``, up to an unknown card.

    Bets and raises name the total that the player has put in since the spot began, at most the stack.
    """

    @property
    def parameters(self) -> dict[str, str | int]:
        """The parameters of the game ``holdem`` that the hand history determines: board, pot, stack and dead."""
        return {"board": self.board, "pot": self.pot, "stack": self.stack, "dead": self.dead}


def read_spot(path: str | Path, street: str = "flop") -> RecordedSpot:
    """Read the spot with which a street begins from a ``.phh`` file with one hand of no-limit hold'em.

    Raises ``FormatError`` for a file that is no such hand, for unknown cards on the board, and unless exactly two
    players, with chips left, see the street; ``MissingExtraError`` without ``pokerkit``.
    """
    check_choice("street", street, STREETS[1:])
    file = str(path)
    number = STREETS.index(street)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pokerkit, about fields and actions that are unusual
        history = _load_history(read_text(Path(path)), file)
        streets = _replay(history, file)
    if len(streets) <= number:
        raise FormatError(f"the hand ends before the {street}", file)
    if len(seats := streets[number].seats) != PLAYERS:
        raise FormatError(f"{len(seats)} players see the {street}; expected {PLAYERS}", file)
    for opened, name, expected in zip(streets[: number + 1], STREETS, CARDS, strict=False):
        if not _is_known(opened.cards, expected):
            found = " ".join(opened.cards)
            raise FormatError(f"the cards of the {name} are {found}; expected {expected} known cards", file)
    if min(streets[number].stacks) == 0:
        raise FormatError(f"a player is all-in before the {street}; expected chips to bet", file)
    return _spot(streets, number, history.players if isinstance(history.players, list) else [], file)


def _load_history(text: str, file: str) -> Any:
    """Return pokerkit's hand history.  Raises ``FormatError``, also for other games than no-limit hold'em."""
    try:
        pokerkit = import_module("pokerkit")
    except ImportError:
        raise MissingExtraError("reading hand histories", "poker") from None
    try:
        history = pokerkit.HandHistory.loads(text)
        stacks_are_known = all(isfinite(stack) for stack in history.starting_stacks)
    except Exception as error:
        raise FormatError(f"not a hand in the PHH format: {one_line(str(error))}", file) from None
    if history.variant != HOLDEM:
        raise FormatError(f"variant {history.variant!r}; expected {HOLDEM!r}, no-limit Texas hold'em", file)
    if not stacks_are_known:
        raise FormatError("a starting stack is not known; expected the chips of all players", file)
    return history


def _is_known(cards: list[str], expected: int) -> bool:
    """Return whether a street opened as many cards as usual, all of them known."""
    return len(cards) == expected and "?" not in "".join(cards)


class _Move(NamedTuple):
    """A fold, a check or call, or a bet or raise, with the total on this street."""

    seat: int
    kind: str
    amount: Fraction


class _Street(NamedTuple):
    """One street of a hand: its cards, the players who see it, and what they do."""

    cards: list[str]
    seats: tuple[int, ...]
    stacks: tuple[Fraction, ...]
    """The chips that these players have left at the beginning."""
    put_in: tuple[Fraction, ...]
    """The chips that they put in before."""
    pot: Fraction
    moves: list[_Move]
    hands: dict[int, str]
    """The hands known, the same for all streets."""


def _replay(history: Any, file: str) -> list[_Street]:
    """Return the streets of a hand, that before the flop first.  Raises ``FormatError`` for illegal actions."""
    followed, hands = 0, dict[int, str]()
    try:
        before = _street_from(history.create_state(), hands)
        streets = [before]
        for state, _ in history.state_actions:
            for seat, cards in enumerate(state.hole_cards):
                if len(cards) == HAND_CARDS and "?" not in (hand := "".join(map(repr, cards))):
                    hands[seat] = hand_name(sorted(cards_of(hand, "hand"), reverse=True))
            for operation in state.operations[followed:]:
                name = type(operation).__name__
                if name == "BoardDealing":
                    if len(streets) < len(STREETS) and len(streets[-1].cards) >= CARDS[len(streets) - 1]:
                        streets.append(before)
                    streets[-1].cards.extend(map(repr, operation.cards))
                elif name in MOVES:
                    amount = Fraction(getattr(operation, "amount", 0))
                    streets[-1].moves.append(_Move(operation.player_index, MOVES[name], amount))
            before = _street_from(state, hands)  # after the last card a state may already have shared out the pot
            followed = len(state.operations)
    except Exception as error:  # pokerkit raises what Python raises
        raise FormatError(f"an action is not legal, or cannot be read: {one_line(str(error))}", file) from None
    return streets


def _street_from(state: Any, hands: dict[int, str]) -> _Street:
    """Return the street that begins at this state, without its cards."""
    seats = tuple([seat for seat, active in enumerate(state.statuses) if active])
    stacks = tuple([Fraction(state.stacks[seat]) for seat in seats])
    put_in = tuple([Fraction(state.starting_stacks[seat]) - left for seat, left in zip(seats, stacks, strict=True)])
    return _Street([], seats, stacks, put_in, Fraction(state.total_pot_amount), [], hands)


def _spot(streets: list[_Street], number: int, names: list[str], file: str) -> RecordedSpot:
    """Return the spot with which a street begins."""
    first = streets[number]
    amounts = [first.pot, min(first.stacks), first.pot - 2 * min(first.put_in)]
    bets = [move.amount for street in streets[number:] for move in street.moves if move.kind == RAISE]
    scale = _scale(amounts, bets, file)
    pot, stack, dead = (int(scale * amount) for amount in amounts)
    raisers = [move.seat for move in streets[number - 1].moves if move.kind == RAISE]
    return RecordedSpot(
        board="".join(card for street in streets[: number + 1] for card in street.cards),
        pot=pot,
        stack=stack,
        dead=dead,
        scale=scale,
        players=tuple([one_line(str(names[seat])) if seat < len(names) else f"p{seat + 1}" for seat in first.seats]),
        positions=tuple([_positions(len(streets[0].seats))[seat] for seat in first.seats]),
        hands=tuple([first.hands.get(seat, "") for seat in first.seats]),
        aggressor=first.seats.index(raisers[-1]) if raisers and raisers[-1] in first.seats else -1,
        actions=tuple(_actions(streets[number:], CARDS[number:], scale, stack)),
    )


def _scale(amounts: list[Fraction], bets: list[Fraction], file: str) -> Fraction:
    """Return the number of chips for one unit, so that all amounts are whole and the first ones not too many.

    Raises ``FormatError`` where there is none.
    """
    everything = amounts + bets
    scale = next((Fraction(one) for one in SCALES if all((one * n).denominator == 1 for n in everything)), Fraction(0))
    if not scale:
        raise FormatError(f"a pot of {float(amounts[0]):g}; expected amounts of at most four decimals", file)
    if scale * max(amounts) > MAX_CHIPS:
        scale /= gcd(*[int(scale * amount) for amount in everything])
    if scale * max(amounts) > MAX_CHIPS:
        raise FormatError(
            f"a pot of {float(amounts[0]):g} and stacks of {float(amounts[1]):g}; expected at most {MAX_CHIPS:,} chips "
            "of the size that all amounts are multiples of",
            file,
        )
    return scale


def _actions(streets: list[_Street], cards: tuple[int, ...], scale: Fraction, stack: int) -> Iterator[str]:
    """Yield the actions and cards of a spot, in chips, as far as the cards are known."""
    spent = 0
    for street, expected in zip(streets, cards, strict=False):
        if not _is_known(street.cards, expected):
            return
        if street is not streets[0]:
            yield from street.cards
        highest = spent
        for move in street.moves:
            faces_bet = highest > spent
            if move.kind == RAISE:
                highest = min(stack, spent + int(scale * move.amount))
                yield f"{RAISE if faces_bet else BET} {highest}"
            else:
                yield move.kind if move.kind == FOLD else CALL if faces_bet else CHECK
        spent = highest


def _positions(players: int) -> list[str]:
    """Return the positions at a table in the order of the format, in which the button comes last."""
    if players == PLAYERS:
        return ["BB", "BTN"]
    others = players - 2
    early = ["UTG", *[f"UTG+{k}" for k in range(1, others)]][: max(0, others - len(LATE))]
    return ["SB", "BB", *early, *LATE[len(LATE) - min(others, len(LATE)) :]]
