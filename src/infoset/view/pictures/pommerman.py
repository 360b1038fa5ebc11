"""Where Pommerman's positions become pictures: the board's painter is in ``view.pommerman``."""

from __future__ import annotations

from collections.abc import Sequence

from infoset.base import Action, Game, InformationState, Picture, Step
from infoset.match.replay import MatchStep


def whole_board(game: Game, steps: Sequence[Step], moves: Sequence[MatchStep]) -> Picture:
    """Everything at the last step."""
    return {"kind": "pommerman"}


def seen_board(game: Game, player: int, known: InformationState, legal: Sequence[Action]) -> Picture:
    """What an agent sees, by the last observation that it has."""
    return {"kind": "pommerman"}
