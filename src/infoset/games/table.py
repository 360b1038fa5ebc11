"""Pictures of native games: the places of cards, dice and chips, and descriptions of steps in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from infoset.base import Action, InformationState, ObservationRecord, Picture
from infoset.games.rules import Rules

Infostates: TypeAlias = "Sequence[InformationState | None]"
"""Each player's information state; ``None`` for players whose knowledge is left out."""


class Look(NamedTuple):
    """The functions by which a game is shown, from its rules and the players' information states."""

    picture: Callable[[Rules, Infostates], Picture]
    describe_record: Callable[[Rules, int, ObservationRecord, InformationState], str]


@dataclass(frozen=True, repr=False)
class ShownRules(Rules):
    """The rules of a native game that has a ``Look``."""

    look: Look = field(compare=False, repr=False)

    def picture(self, infostate: Infostates) -> Picture:
        """Draw what these players know together, ``None`` for those left out."""
        return self.look.picture(self, infostate)

    def describe_record(self, player: int, record: ObservationRecord, before: InformationState) -> str:
        """Describe one step from a player's view, given its information state before."""
        return self.look.describe_record(self, player, record, before)


def table(*areas: dict[str, Any]) -> Picture:
    """Return the picture of these areas."""
    return {"kind": "table", "areas": list(areas)}


def area(title: str, cards: Iterable[Action] = (), hidden: int = 0, note: str = "", **more: Any) -> dict[str, Any]:
    """Return one area of a table: its open cards, the number of hidden ones, and a note."""
    return {"title": title, "cards": list(map(str, cards)), "hidden": hidden, "note": note, **more}


def longest(infostate: Infostates) -> InformationState:
    """Return the longest of the known information states; empty where there is none."""
    return max([own for own in infostate if own is not None], key=len, default=())


def made(infostate: InformationState) -> list[Action]:
    """Return the moves of a game with alternating public moves: the player's own ones and those it saw."""
    return [seen if action is None else action for action, seen in infostate]  # type: ignore[misc]


def does(who: str, verb: str) -> str:
    """Return a player's name with a verb in the third person: ``P1 bets``, ``P2 passes``."""
    return f"{who} {verb}{'es' if verb.endswith(('s', 'h')) else 's'}"


def turn_words(actions: Sequence[Action], mover: int, player: int, players: int, between: str = ", ") -> str:
    """Join the moves of one player among all players' moves, which go around the table from ``mover`` on."""
    return between.join([str(action) for k, action in enumerate(actions) if (mover + k) % players == player])
