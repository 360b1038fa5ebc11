"""What the native games look like: whose cards, dice and chips lie where, and what happened in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from infoset.base import Action, InformationState, Picture, Token
from infoset.games.rules import Rules

Known: TypeAlias = "Sequence[InformationState | None]"
"""What each player knows; ``None`` for those whose knowledge is left out."""


class Look(NamedTuple):
    """How a game shows itself, from its rules and what players know."""

    picture: Callable[[Rules, Known], Picture]
    told: Callable[[Rules, int, Token, InformationState], str]


@dataclass(frozen=True, repr=False)
class ShownRules(Rules):
    """A native game that says what it looks like."""

    look: Look = field(compare=False, repr=False)

    def picture(self, known: Known) -> Picture:
        """What these players know together, ``None`` for those left out."""
        return self.look.picture(self, known)

    def told(self, player: int, token: Token, before: InformationState) -> str:
        """What happened to a player in one step, after what it knew before."""
        return self.look.told(self, player, token, before)


def table(*areas: dict[str, Any]) -> Picture:
    """The picture of these areas."""
    return {"kind": "table", "areas": list(areas)}


def area(title: str, cards: Iterable[Action] = (), hidden: int = 0, note: str = "", **more: Any) -> dict[str, Any]:
    """One place of a table: what lies there open and face down, and what is to be said of it."""
    return {"title": title, "cards": list(map(str, cards)), "hidden": hidden, "note": note, **more}


def longest(known: Known) -> InformationState:
    """What somebody knows who knows the most steps; nothing where nobody is asked."""
    return max([own for own in known if own is not None], key=len, default=())


def made(known: InformationState) -> list[Action]:
    """The moves of a game that is played in turn before everybody's eyes: own ones, and those seen."""
    return [seen if move is None else move for move, seen in known]  # type: ignore[misc]


def does(who: str, verb: str) -> str:
    """``P1 bets``, ``P2 passes``."""
    return f"{who} {verb}{'es' if verb.endswith(('s', 'h')) else 's'}"


def turn_words(moves: Sequence[Action], mover: int, player: int, players: int, between: str = ", ") -> str:
    """The moves of one player among those of all, who move around the table from ``mover`` on."""
    return between.join([str(move) for k, move in enumerate(moves) if (mover + k) % players == player])
