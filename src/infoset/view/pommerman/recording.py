"""A whole game as one page that plays it: no network, no framework, everything inside."""

from __future__ import annotations

import html
import json
import re
from importlib.resources import files
from typing import Any

from infoset.match.replay import Match
from infoset.pommerman.game import Pommerman
from infoset.pommerman.state import RIGID
from infoset.view.pommerman import art
from infoset.view.pommerman.film import Film, Frame
from infoset.view.pommerman.frames import film as film_of
from infoset.view.pommerman.palette import DAY, NIGHT, PAGE_DAY, PAGE_NIGHT
from infoset.view.speed import SPEED, check_speed


def watch_page(match: Match, *, step: int | None = None, speed: float = SPEED, game: Pommerman | None = None) -> str:
    """One HTML file that plays the game, ``speed`` steps a second, from ``step`` on.

    Raises ``ParameterError`` where the game has no such step or the speed is out of range, and what ``film`` raises.
    """
    check_speed(speed)
    film = film_of(match, game)
    start = 0 if step is None else film.number(step)
    parts = {
        "title": html.escape(film.game),
        "style": f"{_variables()}\n{_source('page.css')}",
        "data": _embedded(_data(film) | {"start": start, "speed": speed}),
        "script": f"{_source('board.js')}\n{_source('page.js')}",
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda gap: parts[gap[1]], _source("page.html"))


def _source(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _variables() -> str:
    """The colours of the page as custom properties, by day and by night."""
    pages = PAGE_DAY, PAGE_NIGHT
    day, night = (" ".join(f"--{name}: {color};" for name, color in colors.items()) for colors in pages)
    return f":root {{ {day} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {night} }} }}"


def _embedded(data: dict[str, Any]) -> str:
    """JSON that cannot end the element it stands in: plain ASCII without ``<``, ``>`` and ``&``."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(film: Film) -> dict[str, Any]:
    config, frames = film.config, film.frames
    events = [
        [number, event.kind, event.agent, event.what, film.tell(event)]
        for number, frame in enumerate(frames)
        for event in frame.events
    ]
    seats = range(config.num_agents)
    return {
        "game": film.game,
        "size": config.size,
        "view": config.view,
        "fuse": config.fuse,
        "burns": config.flame_life + 1,
        "players": film.players,
        "agents": film.agents,
        "teams": [[k, k + 2] for k in seats[:2]] if config.teams else [[k] for k in seats],
        "first": frames[0].step,
        "frames": [_changes(before, frame) for before, frame in zip((None, *frames[:-1]), frames, strict=True)],
        "events": events,
        "outcome": film.outcome(),
        "won": film.won,
        "returns": film.returns,
        "art": _art(config.size),
        "colors": {"day": DAY, "night": NIGHT},
    }


def _changes(before: Frame | None, frame: Frame) -> dict[str, Any]:
    """A frame as ``Film`` in ``board.js`` reads it: cells that changed, and everything that moves."""
    cells = range(len(frame.ground))
    ground, hidden = (before.ground, before.hidden) if before else ((0,) * len(cells), (0,) * len(cells))
    packed = {
        "g": [value for c in cells if frame.ground[c] != ground[c] for value in (c, frame.ground[c])],
        "h": [value for c in cells if frame.hidden[c] != hidden[c] for value in (c, frame.hidden[c])],
        "a": [list(map(int, agent)) for agent in frame.agents],
        "b": [list(bomb) for bomb in frame.bombs],
        "f": [[flame.cell, flame.life, flame.links] for flame in frame.flames],
        "m": frame.moves,
        "w": frame.words,
        "x": [[blast.bomb.number, blast.bomb.cell, blast.bomb.strength] for blast in frame.blasts],
    }
    return {key: value for key, value in packed.items() if value}


def _art(size: int) -> dict[str, Any]:
    """Sprites as lists of shapes, each with the first letter of its kind in front, and the numbers behind flames."""
    cells = range(size * size)
    sprites = {name: [[type(shape).__name__[0], *shape] for shape in sprite] for name, sprite in art.SPRITES.items()}
    sprites["frame"] = [[type(shape).__name__[0], *shape] for shape in art.frame(size)]
    return {
        "sprites": sprites,
        "stones": [art.built(cell, RIGID) for cell in cells],
        "standing": art.STANDING,
        "growth": [art.growth(cell) for cell in cells],
        "margin": art.MARGIN,
        "bomb": {"middle": art.BOMB_MIDDLE, "ring": art.RING_RADIUS, "digits": art.DIGITS},
        "flame": {"widths": art.FLAME_WIDTHS, "waves": art.WAVES, "tongue": art.TONGUE},
        "glance": art.GLANCE,
    }
