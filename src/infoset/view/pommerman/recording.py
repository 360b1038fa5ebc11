"""Games of Pommerman as data for ``page/pommerman``: whole recorded games, or frame by frame while they are played.

A frame holds the changes since the frame before, or, a key frame (``key``), everything:

``step``: of the game (key frames); ``g`` and ``h``: walls, wood and items in the open, and hidden items, as cell,
value, cell, value …; ``a``: of each agent whether it lives, its cell, ammo, blast strength, whether it can kick, the
direction it faces; ``b``: of each bomb its number, cell, owner, life, strength; ``f``: of each flame its cell, life,
links; ``m``: the moves; ``w``: words on the radio; ``x``: of each bomb that exploded its number, cell, strength;
``fog``: the cells that the agent ``me`` does not see.  Empty entries are left out.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from infoset.base import JointAction
from infoset.match.replay import Match
from infoset.pommerman.config import Config
from infoset.pommerman.game import Pommerman, PommermanState
from infoset.pommerman.state import RIGID
from infoset.view.pommerman import art
from infoset.view.pommerman.film import Film, Frame
from infoset.view.pommerman.frames import Reel
from infoset.view.pommerman.frames import film as film_of
from infoset.view.pommerman.palette import DAY, NIGHT

KIND = "pommerman"


def recording(match: Match, game: Pommerman | None = None) -> dict[str, Any]:
    """Return a whole game; raises the errors of ``film``."""
    film = film_of(match, game)
    shots = film.frames
    winners = [k for k, pay in enumerate(film.returns) if film.won and pay > 0]
    return setting(film.config, film.game, film.players, film.agents) | {
        "frames": [opening(shots[0]), *(change(*pair) for pair in pairwise(shots))],
        "events": [event for number in range(len(shots)) for event in events(film, number)],
        "over": match.over,
        "outcome": film.outcome() if match.over else "Left before its end",
        "winners": winners,
        "returns": film.returns,
    }


def setting(config: Config, game: str, players: tuple[str, ...], agents: tuple[str, ...]) -> dict[str, Any]:
    """Return what is constant during a game, including its drawings, without any position."""
    seats = range(config.num_agents)
    return {
        "kind": KIND,
        "game": game,
        "size": config.size,
        "view": config.view,
        "fuse": config.fuse,
        "burns": config.flame_life + 1,
        "players": players,
        "agents": agents,
        "teams": [[k, k + 2] for k in seats[:2]] if config.teams else [[k] for k in seats],
        "art": _art(config.size),
        "colors": {"day": DAY, "night": NIGHT},
    }


class Broadcast:
    """A game that is being played, for its spectators: ``add`` every step and send the result to all of them.

    A spectator who joins or has fallen behind is sent ``latest`` first.

    >>> from infoset.view.pommerman.recording import Broadcast
    >>> start = infoset.load("pommerman:OneVsOne-v0(seed=1)").start().state
    >>> shown = Broadcast(start)
    >>> shown.latest()["key"], shown.latest()["step"]
    (1, 0)
    >>> frame, events = shown.add(start.play((5, 0)).state, (5, 0))
    >>> frame["m"], len(frame["b"]), events
    ((5, 0), 1, [])
    """

    def __init__(self, start: PommermanState) -> None:
        self._reel = Reel(start)
        game = start.game
        self._film = Film(game.name, game.config, game.players, game.players, (), (), False)

    def add(self, state: PommermanState, moves: JointAction) -> tuple[dict[str, Any], list[list[Any]]]:
        """Add a joint move and the resulting state; return them as a frame of changes, with the events for the log."""
        reel = self._reel
        reel.add(state, moves)
        shown = self._film._replace(frames=tuple(reel.frames[-1:]))
        number = len(reel.frames) - 1
        return change(*reel.frames[-2:]), [[number, *rest] for _, *rest in events(shown, 0)]

    def latest(self) -> dict[str, Any]:
        """Return the current position as a key frame."""
        return opening(self._reel.frames[-1])


def position(state: PommermanState) -> dict[str, Any]:
    """Return a single position as a picture: a key frame that shows everything."""
    return {"kind": KIND, "size": state.game.config.size} | opening(Reel(state).frames[0])


def opening(frame: Frame) -> dict[str, Any]:
    """Return a frame as a key frame."""
    return {"key": 1, "step": frame.step} | change(None, frame)


def change(before: Frame | None, frame: Frame) -> dict[str, Any]:
    """Return a frame as ``Film`` in ``film.js`` reads it: the changed cells, and everything that moves."""
    nothing = (0,) * len(frame.ground)
    packed = {
        "g": _changed(before.ground if before else nothing, frame.ground),
        "h": _changed(before.hidden if before else nothing, frame.hidden),
        "a": [list(map(int, agent)) for agent in frame.agents],
        "b": [list(bomb[:5]) for bomb in frame.bombs],
        "f": [[flame.cell, flame.life, flame.links] for flame in frame.flames],
        "m": frame.moves,
        "w": frame.words,
        "x": [[blast.bomb.number, blast.bomb.cell, blast.bomb.strength] for blast in frame.blasts],
    }
    return {key: value for key, value in packed.items() if value}


def events(film: Film, number: int) -> list[list[Any]]:
    """Return the events of a frame as lists: number, kind, agent, what, and a description in words."""
    return [[number, event.kind, event.agent, event.what, film.tell(event)] for event in film.frames[number].events]


def _changed(before: tuple[int, ...], after: tuple[int, ...]) -> list[int]:
    cells = [cell for cell, value in enumerate(after) if value != before[cell]]
    return [number for cell in cells for number in (cell, after[cell])]


def _art(size: int) -> dict[str, Any]:
    """Return the sprites as lists of shapes, each led by its kind's initial, and the numbers for drawing flames."""
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
