"""Where Pommerman's positions become pictures: the board's painter is in ``view.pommerman``."""

from __future__ import annotations

from collections.abc import Sequence

from infoset.base import Action, Game, InformationState, Picture, Step, Token
from infoset.match.replay import MatchStep

MOVES = ("stay", "go up", "go down", "go left", "go right", "lay a bomb")


def whole(game: Game, steps: Sequence[Step], moves: Sequence[MatchStep]) -> Picture:
    """Everything at the last step."""
    return {"kind": "pommerman"}


def seen(game: Game, player: int, known: InformationState, legal: Sequence[Action]) -> Picture:
    """What an agent sees, by the last observation that it has."""
    return {"kind": "pommerman"}


def told(game: Game, player: int, token: Token, before: InformationState) -> str:
    """The own move; what is seen is a board and not words."""
    move, said = (token[0][0], token[0][1:]) if isinstance(token[0], tuple) else (token[0], ())
    if not isinstance(move, int):
        return "you see the board"
    return f"you {MOVES[move]}" + (f" and say {' '.join(map(str, said))}" if any(said) else "")
