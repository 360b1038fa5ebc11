"""A recorded game as one self-contained page that plays it, without network or framework."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from infoset.arguments import checks_arguments
from infoset.base import Game
from infoset.errors import printable
from infoset.files import replace_file
from infoset.formats.replays import read_match
from infoset.match.replay import Match
from infoset.view.bundle import bundle, source
from infoset.view.recording import recording, start_of
from infoset.view.speed import check_speed

STYLES = ("base.css", "pictures.css", "player.css", "watch.css")


def watch_page(match: Match, *, step: int | None = None, speed: float | None = None, game: Game | None = None) -> str:
    """Return one HTML file that plays the game from ``step`` on, ``speed`` steps per second (None: the game's default).

    ``game`` is loaded by the name in the match unless it is given.  Raises ``ParameterError`` where the game has no
    such step or the speed is out of range, and what ``recording`` raises.

    >>> from infoset.view.watch_page import watch_page
    >>> page = watch_page(infoset.play_match("kuhn_poker", ["random", "random"], seed=1))
    >>> page.startswith("<!DOCTYPE html>"), "src=" in page
    (True, False)
    """
    check_speed(speed)
    data = recording(match, game)
    options = {"start": start_of(data, step), "speed": speed}
    parts = {
        "title": html.escape(printable(data["game"])),
        "style": "\n".join(map(source, STYLES)),
        "data": embedded({"recording": data, "options": options}),
        "script": bundle("watch.js"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda gap: parts[gap[1]], source("watch.html"))


def embedded(data: dict[str, Any]) -> str:
    """Return JSON that cannot close the element around it: plain ASCII without ``<``, ``>`` and ``&``."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@checks_arguments
def watch(
    replay: str | Path, out: str | Path | None = None, *, step: int | None = None, speed: float | None = None
) -> Path:
    """Write a page that plays a recorded game; return its path, by default beside the replay.

    The page begins at ``step`` and plays ``speed`` steps a second (None: 6 in Pommerman, else 1).  Raises
    ``FormatError`` for a file that is not a recording of a game, ``ParameterError`` for a step that it does not have.

    >>> match = infoset.play_match("kuhn_poker", ["random", "random"], seed=1)
    >>> infoset.watch(match.save("match.json")).name
    'match.html'
    """
    page = watch_page(read_match(str(replay)), step=step, speed=speed)
    target = Path(replay).with_suffix(".html") if out is None else Path(out)
    return replace_file(target, lambda file: file.write(page.encode()))
