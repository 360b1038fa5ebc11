"""One-shot games as their table of payoffs, and what everybody chose; too large tables as a walk down the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from infoset.base import Action, Game, InformationState, Picture, Step, Token
from infoset.games.matrix import choices_told
from infoset.match.replay import MatchStep
from infoset.view.payoff_table import is_payoff_table, payoff_picture, payoff_table
from infoset.view.pictures import paths


def whole(game: Game, steps: Sequence[Step], moves: Sequence[MatchStep]) -> Picture:
    """The table, and what was chosen."""
    table = payoff_table(game) if is_payoff_table(game) else None
    if table is None:
        return paths.whole(game, steps, moves)
    return payoff_picture(table, tuple(moves[0].moves) if moves else None)


def seen(game: Game, player: int, known: InformationState, legal: Sequence[Action]) -> Picture:
    """The table, which everybody knows, and what was chosen once all have."""
    table = payoff_table(game) if is_payoff_table(game) else None
    if table is None:
        return paths.seen(game, player, known, legal)
    joint = cast("tuple[Action, ...]", known[0][1]) if known else None
    return payoff_picture(table, joint, player if legal else None)


def told(game: Game, player: int, token: Token, before: InformationState) -> str:
    """What everybody chose."""
    return choices_told(tuple(game.players), player, token)
