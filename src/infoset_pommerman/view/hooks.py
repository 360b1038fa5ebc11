"""The view of Pommerman: what ``docs/plugins.md`` lists of views; each function imports what it needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO, cast

from infoset.base import Action, Game, InformationState, ObservationRecord, Picture, Step
from infoset.match.replay import Match, MatchStep
from infoset.view.pictures.words import action_words
from infoset_pommerman.config import SPEED
from infoset_pommerman.game import Pommerman, PommermanState

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from infoset_pommerman.keyboard import Arcade
    from infoset_pommerman.view.recording import BoardCamera

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


def recording(match: Match, game: Pommerman) -> dict[str, Any]:
    """Return the recording of a match for the board's painter."""
    from infoset_pommerman.view.recording import recording

    return recording(match, game)


def show_text(match: Match, console: Console, step: int | None, speed: float | None) -> None:
    """Write one step of a match, or the whole match, to the console."""
    from infoset_pommerman.view.text import show_text

    show_text(match, console, step, speed or SPEED)


def camera(game: Pommerman, name: str, agents: tuple[str, ...]) -> BoardCamera:
    """Return the maker of the frames of a game for its spectators."""
    from infoset_pommerman.view.recording import BoardCamera

    return BoardCamera(game, name, agents)


def hand(out: TextIO) -> Arcade:
    """Return the hand of a person who plays at the terminal."""
    from infoset_pommerman.keyboard import Arcade

    return Arcade(out)


def still_svg(match: Match, step: int | None) -> str:
    """Return the position after a step of a match, by default the last one, as SVG."""
    from infoset_pommerman.view.svg import still_svg

    return still_svg(match, step)


def save_gif(match: Match, path: Path, speed: float | None) -> Path:
    """Write a match as a moving picture."""
    from infoset_pommerman.view.gif import save_gif

    return save_gif(match, path, speed=speed or SPEED)


def save_pngs(match: Match, folder: Path, step: int | None) -> list[Path]:
    """Write one picture per step of a match, or only that of ``step``."""
    from infoset_pommerman.view.png import save_pngs

    return save_pngs(match, folder, step=step)


def position_svg(state: PommermanState) -> str:
    """Return the picture of a single position for notebooks."""
    from infoset_pommerman.view.svg import position_svg

    return position_svg(state)


def move_words(move: Action | None) -> str:
    """Return a move in words as the guide writes it."""
    return MOVES[move] if isinstance(move, int) else action_words(move)


def told(game: Game, player: int, record: ObservationRecord, before: InformationState) -> str:
    """Return the own move in words; the observation is a board and has no words."""
    move, said = (record[0][0], record[0][1:]) if isinstance(record[0], tuple) else (record[0], ())
    if not isinstance(move, int):
        return "you see the board"
    return f"you {MOVES[move]}" + (f" and say {' '.join(map(str, said))}" if any(said) else "")
