"""A recorded game as one self-contained page that plays it, without network or framework."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from infoset.base import Game
from infoset.errors import printable
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
