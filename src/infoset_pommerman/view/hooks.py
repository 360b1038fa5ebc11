"""The view of Pommerman: what ``docs/plugins.md`` lists of views; others are found in ``PLACES``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, cast

from infoset.base import Action, Game, InformationState, ObservationRecord, Picture, Step
from infoset.match.replay import MatchStep
from infoset.view.pictures.words import action_words
from infoset_pommerman.game import Pommerman, PommermanState

PLACES = {
    "camera": "view.recording:BoardCamera",
    "hand": "keyboard:Arcade",
    "position_svg": "view.svg:position_svg",
    "recording": "view.recording:recording",
    "save_gif": "view.gif:save_gif",
    "save_pngs": "view.png:save_pngs",
    "show_text": "view.text:show_text",
    "still_svg": "view.svg:still_svg",
}
"""The optional functions of the view, each in a module of its own."""
MOVES = ("stay", "go up", "go down", "go left", "go right", "lay a bomb")


def whole(game: Game, steps: Sequence[Step], moves: Sequence[MatchStep]) -> Picture:
    """Return a picture of the position at the last step; an empty one before the board is dealt."""
    from infoset_pommerman.view.recording import position
    from infoset_pommerman.view.seen import UNSEEN

    state = steps[-1].state
    return position(state) if isinstance(state, PommermanState) else UNSEEN


def seen(game: Game, player: int, known: InformationState, legal_actions: Sequence[Action]) -> Picture:
    """Return a picture of an agent's last observation."""
    from infoset_pommerman.view.seen import picture

    return picture(cast(Pommerman, game).config, player, known)


def action_names(move: Action | None) -> str:
    """Return a move in words as the guide writes it."""
    return MOVES[move] if isinstance(move, int) else action_words(move)


def describe_record(game: Game, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Return the own move in words; the observation is a board and has no words."""
    move, said = (record[0][0], record[0][1:]) if isinstance(record[0], tuple) else (record[0], ())
    if not isinstance(move, int):
        return "you see the board"
    return f"you {MOVES[move]}" + (f" and say {' '.join(map(str, said))}" if any(said) else "")


def __getattr__(name: str) -> Any:
    """Import one of ``PLACES`` when it is first needed."""
    if name not in PLACES:
        raise AttributeError(name)
    module, _, attribute = PLACES[name].partition(":")
    return getattr(import_module(f"infoset_pommerman.{module}"), attribute)
