"""A recorded game as text in the terminal: one step, or all of them."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from infoset.catalog import load_named
from infoset.errors import printable
from infoset.match.replay import Match
from infoset.view.pictures import picture_text, view_hook
from infoset.view.recording import recording, start_of
from infoset.view.speed import SLOW, check_speed

FAULTS = {"illegal": "an illegal move", "late": "a late move", "error": "an error"}


def show_text(match: Match, console: Console, step: int | None = None, speed: float | None = None) -> None:
    """Write one step of a game to the console, or, without ``step``, the whole game.

    On a terminal the game is played in place, at ``speed`` steps per second (None: the game's default); elsewhere its
    steps are printed one after another.  Raises ``ParameterError``, and what ``recording`` raises.
    """
    check_speed(speed)
    game = load_named(match.game, "the replay")
    if own := view_hook(game, "show_text"):
        own(match, console, step, speed)
        return
    shown = recording(match, game)
    start = start_of(shown, step)
    texts = [Text(step_text(shown, number)) for number in range(len(shown["frames"]))]
    if start is not None:
        console.print(texts[start], soft_wrap=True)
    elif console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            for text in texts:
                live.update(text, refresh=True)
                time.sleep(1 / (speed or SLOW))
    else:
        for text in texts:
            console.print(text, "", sep="\n", soft_wrap=True)


def step_text(shown: dict[str, Any], number: int) -> str:
    """Return as text the moves that led to a step of a recording made of pictures, and the complete state after it.

    >>> from infoset.view.recording import recording
    >>> from infoset.view.recording_text import step_text
    >>> print(step_text(recording(infoset.play_match("kuhn_poker", ["random", "random"], seed=1)), 3))
    kuhn_poker  step 3 of 4
    P1: pass
    P1    [K]   pass, 1 chip
    P2    [J]   1 chip
    pot         2 chips
    """
    frames = shown["frames"]
    frame, players = frames[number], shown["players"]
    made = [f"{players[p]}: {action}" for p, action in enumerate(frame["moves"]) if action is not None]
    wrong = [f"{players[p]}: {FAULTS[kind]} ({detail})" for p, kind, detail in frame["faults"]]
    chance_outcome = [] if frame["chance_outcome"] is None else [f"chance: {frame['chance_outcome']}"]
    last = number == len(frames) - 1
    ended = [shown["outcome"] if not shown["note"] else f"{shown['note']}"] if last else []
    lines = [
        f"{shown['game']}  step {number} of {len(frames) - 1}",
        *made,
        *chance_outcome,
        *wrong,
        picture_text(frame["whole"]),
    ]
    return printable("\n".join([*lines, *ended]))
