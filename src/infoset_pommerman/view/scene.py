"""Placement of sprites, in the order of painting, for a position or a moment between two positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from infoset_pommerman.state import RIGID, WOOD
from infoset_pommerman.view import art
from infoset_pommerman.view.film import ITEMS, Film, Frame

WALLS = (RIGID, WOOD)
REMAINS = 0.7  # share of its opacity that a dead agent loses; the rest marks where it died
RISE = 0.2  # cells by which it rises while it fades, so that it is not hidden


class Placed(NamedTuple):
    """A sprite whose cell has its upper left corner at ``(x, y)``, in units of cells."""

    sprite: art.Sprite
    x: float
    y: float
    alpha: float = 1.0


def floor(frame: Frame, size: int) -> Iterator[Placed]:
    """Yield the sprites of the ground, with the shadows of the walls."""
    for cell in range(size * size):
        x, y = cell % size, cell // size
        names = ["grass" if (x + y) % 2 else "", art.growth(cell)]
        names.append("eave" if y and frame.ground[cell - size] in WALLS else "")
        yield from (Placed(art.SPRITES[name], x, y) for name in names if name)


def scene(film: Film, number: int, phase: float = 0.0) -> list[Placed]:
    """Return the sprites on the floor after frame ``number``, from back to front.

    ``phase`` is the fraction of the way to the next frame.
    """
    reel = film.frames
    before, frame, after = reel[max(number - 1, 0)], reel[number], reel[min(number + 1, len(reel) - 1)]
    size = film.config.size
    standing = [*_built(frame, WALLS, size), *_bombs(frame, after, phase, film)]
    standing += _living(frame, after, phase, size)
    standing.sort(key=lambda placed: placed.y)  # the sort is stable: walls, bombs, agents within a row
    lying = [*_built(frame, tuple(ITEMS), size), *_dead(before, frame, phase, size)]
    return [*_flames(frame, phase, film), *lying, *standing]


def _built(frame: Frame, kinds: tuple[int, ...], size: int) -> Iterator[Placed]:
    for cell, value in enumerate(frame.ground):
        if value in kinds:
            yield Placed(art.SPRITES[art.built(cell, value)], cell % size, cell // size)


def _flames(frame: Frame, phase: float, film: Film) -> Iterator[Placed]:
    size, full = film.config.size, film.config.flame_life + 1
    for layer in range(len(art.FLAME_WIDTHS)):
        for flame in frame.flames:
            heat = min(1.0, (flame.life + 1 - phase) / full)
            yield Placed(art.flame(flame.links, round(heat, 2), layer), flame.cell % size, flame.cell // size)


def _bombs(frame: Frame, after: Frame, phase: float, film: Film) -> Iterator[Placed]:
    goal = {bomb.number: bomb.cell for bomb in (*after.bombs, *(blast.bomb for blast in after.blasts))}
    for bomb in frame.bombs:
        x, y = _between(bomb.cell, goal.get(bomb.number, bomb.cell), phase, film.config.size)
        yield Placed(art.bomb(bomb.owner, bomb.life, film.config.fuse), x, y)


def _living(frame: Frame, after: Frame, phase: float, size: int) -> Iterator[Placed]:
    for k, agent in enumerate(frame.agents):
        if agent.alive:
            x, y = _between(agent.cell, after.agents[k].cell, phase, size)
            yield Placed(art.figure(k, after.agents[k].facing if phase else agent.facing), x, y)


def _dead(before: Frame, frame: Frame, phase: float, size: int) -> Iterator[Placed]:
    """Yield agents where they died, unless a wall stands there; they fade in the first step, below all that moves."""
    for k, agent in enumerate(frame.agents):
        if not agent.alive and frame.ground[agent.cell] not in WALLS:
            y, x = divmod(agent.cell, size)
            faded = REMAINS * phase if before.agents[k].alive else REMAINS
            yield Placed(art.figure(k, agent.facing, alive=False), x, y - RISE * faded, 1 - faded)


def _between(start: int, goal: int, phase: float, size: int) -> tuple[float, float]:
    """Return the place on the way from one cell to another."""
    (y, x), (v, u) = divmod(start, size), divmod(goal, size)
    return x + (u - x) * phase, y + (v - y) * phase
