"""One-shot games as a payoff table with the choices made; a table that is too large becomes a list of moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from infoset.base import Action, Game, InformationState, ObservationRecord, Picture, Step
from infoset.games.matrix import describe_choices
from infoset.match.replay import MatchStep
from infoset.view.payoff_table import is_payoff_table, payoff_picture, payoff_table
from infoset.view.pictures import paths


def whole(game: Game, steps: Sequence[Step], actions: Sequence[MatchStep]) -> Picture:
    """Return a picture of the table, and the choices made."""
    table = payoff_table(game) if is_payoff_table(game) else None
    if table is None:
        return paths.whole(game, steps, actions)
    return payoff_picture(table, tuple(actions[0].actions) if actions else None)


def seen(game: Game, player: int, infostate: InformationState, legal_actions: Sequence[Action]) -> Picture:
    """Return a picture of the table, which is public, and the choices once all players have made theirs."""
    table = payoff_table(game) if is_payoff_table(game) else None
    if table is None:
        return paths.seen(game, player, infostate, legal_actions)
    joint = cast("tuple[Action, ...]", infostate[0][1]) if infostate else None
    return payoff_picture(table, joint, player if legal_actions else None)


def describe_record(game: Game, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Return all choices in words."""
    return describe_choices(tuple(game.players), player, record)
