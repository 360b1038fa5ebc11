"""Positions of Pommerman: key frames for the board's painter in ``page/pommerman``, and moves in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from infoset.base import Action, Game, InformationState, ObservationRecord, Picture, Step
from infoset.match.replay import Match, MatchStep
from infoset.pommerman.game import Pommerman, PommermanState
from infoset.view.pictures.words import action_words
from infoset.view.speed import SPEED

if TYPE_CHECKING:
    from rich.console import Console

MOVES = ("stay", "go up", "go down", "go left", "go right", "lay a bomb")


def whole(game: Game, steps: Sequence[Step], actions: Sequence[MatchStep]) -> Picture:
    """Return a picture of the position at the last step; an empty one before the board is dealt."""
    from infoset.view.pommerman.recording import position
    from infoset.view.pommerman.seen import UNSEEN

    state = steps[-1].state
    return position(state) if isinstance(state, PommermanState) else UNSEEN


def seen(game: Game, player: int, infostate: InformationState, legal_actions: Sequence[Action]) -> Picture:
    """Return a picture of an agent's last observation."""
    from infoset.view.pommerman.seen import picture

    return picture(cast(Pommerman, game).config, player, infostate)


def recording(match: Match, game: Pommerman) -> dict[str, Any]:
    """Return the recording of a match for the board's painter."""
    from infoset.view.pommerman.recording import recording

    return recording(match, game)


def show_text(match: Match, console: Console, step: int | None, speed: float | None) -> None:
    """Write one step of a match, or the whole match, to the console."""
    from infoset.view.pommerman.text import show_text

    show_text(match, console, step, speed or SPEED)


def action_names(action: Action | None) -> str:
    """Return a move in words as the guide writes it."""
    return MOVES[action] if isinstance(action, int) else action_words(action)


def describe_record(game: Game, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Return the own move in words; the observation is a board and has no words."""
    action, said = (record[0][0], record[0][1:]) if isinstance(record[0], tuple) else (record[0], ())
    if not isinstance(action, int):
        return "you see the board"
    return f"you {MOVES[action]}" + (f" and say {' '.join(map(str, said))}" if any(said) else "")
