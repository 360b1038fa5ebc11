"""The Tiny Hanabi suite: six very small games in which one player's move is also its message.

The payoffs are those of the suite by Neil Burch and Nolan Bard (2018), as published at
https://github.com/ssokota/tiny-hanabi (``payoff_matrices.py``).  Game E is the two-step game of Foerster et al.,
"Bayesian Action Decoder" (2019), which is also OpenSpiel's ``tiny_hanabi``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from infoset.base import Action, InformationState, JointAction, ObservationRecord, Observed, Picture, Writes
from infoset.games.rules import Ended, NativeState, Rules, seats
from infoset.games.table import Infostates, Look, ShownRules, area, longest, made, table, turn_words
from infoset.games.tensors import has_recall, layout
from infoset.names import check_choice, full_name

PLAYERS = 2

# PAYOFFS[game][P1's card][P2's card][P1's move][P2's move]
PAYOFFS = {
    "A": (
        (((0, 1), (0, 0)), ((0, 1), (3, 2))),
        (((3, 3), (3, 2)), ((2, 0), (3, 3))),
    ),
    "B": (
        (((1, 0), (1, 0)), ((0, 1), (0, 1))),
        (((0, 1), (0, 0)), ((1, 0), (1, 0))),
    ),
    "C": (
        (((3, 0), (0, 3)), ((2, 0), (3, 3))),
        (((2, 2), (3, 0)), ((0, 1), (0, 2))),
    ),
    "D": (
        (((3, 0), (1, 3)), ((3, 0), (3, 0))),
        (((3, 2), (0, 2)), ((0, 1), (0, 0))),
    ),
    "E": (
        (((10, 0, 0), (4, 8, 4), (10, 0, 0)), ((0, 0, 10), (4, 8, 4), (0, 0, 10))),
        (((0, 0, 10), (4, 8, 4), (0, 0, 0)), ((10, 0, 0), (4, 8, 4), (10, 0, 0))),
    ),
    "F": (
        (((0, 3), (3, 2)), ((0, 0), (0, 1)), ((3, 1), (2, 1))),
        (((0, 2), (0, 1)), ((1, 2), (1, 2)), ((0, 1), (0, 3))),
        (((1, 3), (1, 2)), ((0, 3), (2, 2)), ((3, 1), (3, 0))),
    ),
}


class _Fields(NamedTuple):
    game: str
    cards: tuple[int, ...]
    first: int | None


class HanabiState(NativeState, _Fields):
    """The cards dealt so far and P1's move, all counted from 0."""

    __slots__ = ()

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        if len(self.cards) < PLAYERS or player != (self.first is not None):
            return ()
        return tuple(f"a{k + 1}" for k in range(len(PAYOFFS[self.game][0][0])))

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        if len(self.cards) == PLAYERS:
            return ()
        deck = len(PAYOFFS[self.game])
        return tuple((f"c{k + 1}", 1 / deck) for k in range(deck))

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        if chance_outcome is not None:
            seen = (None, chance_outcome) if self.cards else (chance_outcome, None)
            return Observed(self._replace(cards=(*self.cards, _number(chance_outcome))), seen)
        if self.first is None:
            return Observed(self._replace(first=_number(actions[0])), (None, actions[0]))
        one, other = self.cards
        payoff = float(PAYOFFS[self.game][one][other][self.first][_number(actions[1])])
        return Observed(Ended((payoff, payoff)), (actions[1], None))

    def returns(self) -> tuple[float, ...]:
        return (0.0, 0.0)


class HanabiRules(ShownRules):
    """Tiny Hanabi with OpenSpiel's tensors."""

    def tensor_encoder(self, kind: str) -> HanabiEncoder:
        """Return the encoder of OpenSpiel's tensors, which are the same: the player's card and the moves."""
        has_recall(self.name, kind)
        state: HanabiState = self.first.state  # type: ignore[assignment]
        return HanabiEncoder(PAYOFFS[state.game])


class HanabiEncoder:
    """The player's card and each player's move; the memo is the number of records."""

    def __init__(self, payoffs: tuple[Any, ...]) -> None:
        moves = len(payoffs[0][0])
        self.actions: tuple[Action, ...] = tuple(f"a{k + 1}" for k in range(moves))
        self.at, size = layout(card=len(payoffs), moves=moves * PLAYERS)
        self.shape: tuple[int, ...] = (size,)

    def start(self, player: int) -> tuple[int, Writes]:
        """Show nothing: not even the player."""
        return 0, ()

    def after(self, player: int, memo: int, record: ObservationRecord) -> tuple[int, Writes]:
        """Show the card, or a move of the first player and then of the second."""
        shown = _number(made((record,))[0])
        begin = self.at["card"] if memo == 0 else self.at["moves"] + len(self.actions) * (memo - 1)
        return memo + 1, ((begin + shown, 1.0),)


def _number(name: Action | None) -> int:
    """Return the number of a card or move: 0 for ``c1`` and ``a1``, and so on."""
    return int(str(name)[1:]) - 1


def picture(rules: Rules, infostate: Infostates) -> Picture:
    """Draw each player's card and move."""
    actions = made(longest(infostate))[1:]
    areas = []
    for player, own in enumerate(infostate):
        hand = [own[0][1]] if own else []
        face_down = int(own is None and any(infostate))
        note = turn_words(actions, 0, player, PLAYERS)
        areas.append(area(rules.players[player], hand, face_down, note and f"plays {note}", player=player))  # type: ignore[arg-type]
    return table(*areas)


def describe_record(rules: Rules, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Describe the player's card, its own move, or the other player's move."""
    action, seen = record
    if not before:
        return f"you get {seen}"
    return f"you play {action}" if action is not None else f"{rules.players[1 - player]} plays {seen}"


def tiny_hanabi(game: str = "A") -> Rules:
    """Tiny Hanabi, games A to F: each sees one card, P1 moves, P2 sees that move and moves; both get the payoff.

    Two cards and two moves in A, B, C and D; two cards and three moves in E; three cards and two moves in F.  Cards
    are drawn independently.  The team optima are 2.25, 1, 2.5, 2.5, 10 and 7/3.
    """
    check_choice("tiny_hanabi: game", game, tuple(PAYOFFS))
    name = full_name("tiny_hanabi", tiny_hanabi, game=game)
    first = Observed(HanabiState(game, (), None), (None, None))
    return HanabiRules(name, seats(PLAYERS), first, Look(picture, describe_record))
