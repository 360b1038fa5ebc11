"""Positions of Pommerman: key frames for the board's painter, which is in ``page/pommerman``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from infoset.base import Action, Game, InformationState, Picture, Step
from infoset.match.replay import MatchStep
from infoset.pommerman.game import Pommerman, PommermanState


def whole_board(game: Game, steps: Sequence[Step], moves: Sequence[MatchStep]) -> Picture:
    """Everything at the last step; nothing before the board is dealt."""
    from infoset.view.pommerman.recording import position
    from infoset.view.pommerman.seen import UNSEEN

    state = steps[-1].state
    return position(state) if isinstance(state, PommermanState) else UNSEEN


def seen_board(game: Game, player: int, known: InformationState, legal: Sequence[Action]) -> Picture:
    """What an agent sees, by the last observation that it has."""
    from infoset.view.pommerman.seen import picture

    return picture(cast(Pommerman, game).config, player, known)
