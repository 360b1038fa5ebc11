"""The look of everything in the game: flat shapes in units of a cell, for the page, SVG and animations.

A cell extends from 0 to 1, down and to the right.  Walls and agents stand upright and extend over the cell above
them, so a board is painted from its top row to its bottom row.
"""

from __future__ import annotations

from functools import cache
from math import cos, pi, sin
from typing import NamedTuple, TypeAlias

from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS
from infoset_pommerman.view.palette import PARTS

Point: TypeAlias = tuple[float, float]


class Box(NamedTuple):
    """A rectangle with rounded corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    color: str
    alpha: float = 1.0


class Oval(NamedTuple):
    """An ellipse around ``(x, y)``."""

    x: float
    y: float
    rx: float
    ry: float
    color: str
    alpha: float = 1.0


class Area(NamedTuple):
    """A polygon."""

    points: tuple[Point, ...]
    color: str
    alpha: float = 1.0


class Stroke(NamedTuple):
    """A line with rounded ends."""

    points: tuple[Point, ...]
    width: float
    color: str
    alpha: float = 1.0


class Label(NamedTuple):
    """A short text in bold, centred on ``(x, y)``."""

    x: float
    y: float
    size: float
    text: str
    color: str
    alpha: float = 1.0


Shape: TypeAlias = Box | Oval | Area | Stroke | Label
Sprite: TypeAlias = tuple[Shape, ...]


def shifted(shape: Shape, x: float, y: float) -> Shape:
    """Return the shape moved by ``(x, y)``."""
    if isinstance(shape, Area | Stroke):
        return shape._replace(points=tuple((px + x, py + y) for px, py in shape.points))
    return shape._replace(x=shape.x + x, y=shape.y + y)


def _ring(x: float, y: float, radius: float, corners: int, inner: float, turn: float = 0.0) -> tuple[Point, ...]:
    """Return the corners of a star: the points at ``radius``, the dents between them at ``inner``."""
    steps = range(2 * corners)
    at = [(radius if k % 2 == 0 else inner, turn + pi * k / corners) for k in steps]
    return tuple((round(x + r * sin(a), 3), round(y - r * cos(a), 3)) for r, a in at)


_TUFT: Sprite = (
    Stroke(((0.30, 0.66), (0.27, 0.55)), 0.035, "tuft"),
    Stroke(((0.36, 0.66), (0.37, 0.52)), 0.035, "tuft"),
    Stroke(((0.42, 0.66), (0.46, 0.56)), 0.035, "tuft"),
)
_PEBBLES: Sprite = (Oval(0.66, 0.34, 0.05, 0.035, "tuft"), Oval(0.76, 0.40, 0.03, 0.022, "tuft"))

_GRASS: Sprite = (Box(0.0, 0.0, 1.0, 1.0, 0.0, "grass"),)

_BLOCK: Sprite = (
    Box(0.01, 0.06, 0.98, 0.93, 0.13, "stone_dark"),
    Box(0.01, -0.14, 0.98, 0.97, 0.15, "stone_light"),
    Box(0.01, -0.10, 0.98, 0.93, 0.15, "stone"),
    Box(0.12, -0.01, 0.76, 0.73, 0.10, "stone_face"),
    Stroke(((0.17, 0.06), (0.17, 0.60)), 0.022, "stone_dark", 0.35),
    Stroke(((0.20, 0.025), (0.80, 0.025)), 0.022, "stone_dark", 0.35),
    Stroke(((0.84, 0.12), (0.84, 0.62)), 0.022, "stone_light", 0.5),
    Stroke(((0.22, 0.68), (0.78, 0.68)), 0.022, "stone_light", 0.5),
)
_STONES: tuple[Sprite, ...] = (
    (
        *_BLOCK,
        Stroke(((0.86, 0.28), (0.70, 0.31), (0.64, 0.40), (0.53, 0.42)), 0.024, "stone_dark", 0.5),
        Oval(0.32, 0.54, 0.035, 0.026, "stone_dark", 0.35),
        Oval(0.38, 0.20, 0.028, 0.02, "stone_light", 0.8),
    ),
    (*_BLOCK, Oval(0.63, 0.24, 0.04, 0.028, "stone_dark", 0.35), Oval(0.36, 0.49, 0.028, 0.02, "stone_light", 0.8)),
    (
        *_BLOCK,
        Stroke(((0.14, 0.46), (0.28, 0.43), (0.34, 0.52), (0.33, 0.60)), 0.024, "stone_dark", 0.5),
        Oval(0.68, 0.20, 0.028, 0.02, "stone_light", 0.8),
        Oval(0.62, 0.56, 0.035, 0.026, "stone_dark", 0.35),
    ),
)
_WOOD: Sprite = (
    Box(0.03, 0.06, 0.94, 0.92, 0.09, "wood_dark"),
    Box(0.03, -0.12, 0.94, 0.94, 0.09, "wood_light"),
    Box(0.13, -0.02, 0.74, 0.74, 0.03, "wood_dark"),
    Box(0.14, 0.00, 0.72, 0.23, 0.02, "wood"),
    Box(0.14, 0.245, 0.72, 0.225, 0.02, "wood_face"),
    Box(0.14, 0.485, 0.72, 0.225, 0.02, "wood"),
    Area(((0.14, 0.71), (0.14, 0.58), (0.73, 0.00), (0.86, 0.00), (0.86, 0.13), (0.27, 0.71)), "wood_dark", 0.35),
    Area(((0.14, 0.70), (0.14, 0.60), (0.75, 0.00), (0.86, 0.00), (0.86, 0.10), (0.25, 0.70)), "wood_light"),
    *(Oval(x, y, 0.025, 0.025, "nail") for x in (0.08, 0.92) for y in (-0.07, 0.77)),
)
_EAVE: Sprite = (Box(0.0, 0.0, 1.0, 0.15, 0.0, "ink", 0.13),)

_SPARK: Sprite = (
    Area(_ring(0.79, 0.06, 0.15, 7, 0.06), "ember"),
    Area(_ring(0.79, 0.06, 0.105, 7, 0.045, 0.3), "spark"),
    Oval(0.79, 0.06, 0.035, 0.035, "white"),
)
_BOMB: Sprite = (
    Oval(0.50, 0.84, 0.29, 0.07, "ink", 0.22),
    Stroke(((0.63, 0.23), (0.67, 0.15), (0.73, 0.10), (0.79, 0.07)), 0.05, "fuse"),
    Oval(0.48, 0.50, 0.33, 0.33, "bomb_dark"),
    Oval(0.47, 0.48, 0.30, 0.295, "bomb"),
    Area(((0.55, 0.22), (0.61, 0.13), (0.74, 0.23), (0.68, 0.32)), "bomb_dark"),
    Area(((0.57, 0.21), (0.615, 0.145), (0.69, 0.205), (0.645, 0.27)), "bomb_light"),
    Oval(0.35, 0.35, 0.09, 0.065, "bomb_light"),
    Oval(0.33, 0.335, 0.04, 0.03, "white", 0.8),
)


def _card(color: str) -> Sprite:
    """Return the card under a power-up's picture."""
    return (
        Oval(0.5, 0.83, 0.32, 0.06, "ink", 0.18),
        Box(0.13, 0.08, 0.74, 0.74, 0.17, color),
        Box(0.13, 0.04, 0.74, 0.73, 0.17, "card_edge"),
        Box(0.155, 0.065, 0.69, 0.68, 0.15, "card"),
    )


def _on_card(color: str, picture: Sprite) -> Sprite:
    return (*_card(color), *(shifted(shape, 0.0, -0.06) for shape in picture))


def _plus(x: float, y: float, color: str) -> Sprite:
    return (
        Oval(x, y, 0.13, 0.13, color),
        Stroke(((x - 0.06, y), (x + 0.06, y)), 0.045, "white"),
        Stroke(((x, y - 0.06), (x, y + 0.06)), 0.045, "white"),
    )


_EXTRA_BOMB: Sprite = (
    Stroke(((0.52, 0.33), (0.56, 0.26), (0.62, 0.23)), 0.04, "fuse"),
    Area(_ring(0.64, 0.22, 0.07, 6, 0.03), "ember"),
    Oval(0.44, 0.49, 0.19, 0.19, "bomb"),
    Oval(0.37, 0.41, 0.05, 0.04, "bomb_light"),
    *_plus(0.69, 0.67, "more"),
)
_INCR_RANGE: Sprite = (
    Area(
        ((0.46, 0.17), (0.53, 0.27), (0.59, 0.33), (0.61, 0.30), (0.66, 0.40), (0.67, 0.52), (0.61, 0.65), (0.46, 0.71),
         (0.32, 0.66), (0.25, 0.53), (0.28, 0.40), (0.34, 0.44), (0.37, 0.32), (0.43, 0.26)), "flame0",
    ),
    Area(
        ((0.46, 0.33), (0.53, 0.41), (0.57, 0.47), (0.58, 0.56), (0.54, 0.64), (0.46, 0.68), (0.38, 0.65), (0.34, 0.57),
         (0.36, 0.50), (0.40, 0.49), (0.42, 0.40)), "flame1",
    ),
    Area(((0.46, 0.47), (0.51, 0.54), (0.51, 0.61), (0.46, 0.66), (0.41, 0.61), (0.42, 0.54)), "flame2"),
    *_plus(0.69, 0.67, "far"),
)  # fmt: skip
_KICK: Sprite = (
    Area(((0.31, 0.22), (0.53, 0.22), (0.52, 0.45), (0.60, 0.50), (0.73, 0.53), (0.77, 0.60), (0.77, 0.66),
          (0.29, 0.66), (0.29, 0.50), (0.33, 0.40)), "boot"),
    Box(0.27, 0.65, 0.52, 0.07, 0.03, "boot_dark"),
    Box(0.29, 0.20, 0.26, 0.08, 0.03, "boot_dark"),
    *(Stroke(((0.44, y), (0.52, y - 0.015)), 0.03, "card") for y in (0.36, 0.43)),
    Stroke(((0.19, 0.36), (0.25, 0.36)), 0.035, "boot", 0.7),
    Stroke(((0.17, 0.45), (0.25, 0.45)), 0.035, "boot", 0.7),
)  # fmt: skip


def _headgear(k: int) -> Sprite:
    """Return what identifies agents without their colours: an antenna, two pointed ears, a crest, two round ears."""
    main, dark, light = (f"agent{k}{part}" for part in PARTS)
    return (
        (Stroke(((0.50, 0.05), (0.53, -0.10)), 0.05, dark), Oval(0.535, -0.14, 0.085, 0.085, main),
         Oval(0.51, -0.165, 0.03, 0.03, light)),
        tuple(
            shape
            for s in (-1, 1)
            for shape in (
                Area(((0.5 + s * 0.32, 0.26), (0.5 + s * 0.33, -0.16), (0.5 + s * 0.08, 0.05)), main),
                Area(((0.5 + s * 0.285, 0.12), (0.5 + s * 0.285, -0.06), (0.5 + s * 0.18, 0.03)), light),
            )
        ),
        (Area(((0.36, 0.10), (0.33, -0.10), (0.43, -0.03), (0.50, -0.19), (0.57, -0.03), (0.67, -0.10), (0.64, 0.10)),
              dark),
         Area(((0.44, 0.08), (0.46, -0.02), (0.50, -0.10), (0.54, -0.02), (0.56, 0.08)), light)),
        tuple(
            shape
            for s in (-1, 1)
            for shape in (
                Oval(0.5 + s * 0.26, 0.02, 0.125, 0.125, main),
                Oval(0.5 + s * 0.265, 0.01, 0.065, 0.065, light),
            )
        ),
    )[k]  # fmt: skip


def _figure(k: int) -> Sprite:
    """Return an agent without its face."""
    main, dark, light = (f"agent{k}{part}" for part in PARTS)
    return (
        Oval(0.50, 0.92, 0.30, 0.075, "ink", 0.22),
        Oval(0.385, 0.88, 0.115, 0.075, dark), Oval(0.615, 0.88, 0.115, 0.075, dark),
        Box(0.285, 0.50, 0.43, 0.38, 0.17, main),
        Box(0.285, 0.705, 0.43, 0.055, 0.0, dark, 0.55), Box(0.455, 0.69, 0.09, 0.085, 0.02, light),
        Oval(0.245, 0.67, 0.085, 0.085, light), Oval(0.755, 0.67, 0.085, 0.085, light),
        *_headgear(k),
        Oval(0.50, 0.315, 0.345, 0.315, dark),
        Oval(0.50, 0.30, 0.335, 0.30, main),
        Oval(0.39, 0.13, 0.10, 0.055, light, 0.75),
    )  # fmt: skip


_FACE: Sprite = (
    Box(0.265, 0.22, 0.47, 0.32, 0.155, "skin"),
    Oval(0.325, 0.46, 0.045, 0.028, "blush", 0.75), Oval(0.675, 0.46, 0.045, 0.028, "blush", 0.75),
    Oval(0.41, 0.37, 0.045, 0.085, "ink"), Oval(0.59, 0.37, 0.045, 0.085, "ink"),
    Oval(0.425, 0.335, 0.016, 0.024, "white"), Oval(0.605, 0.335, 0.016, 0.024, "white"),
)  # fmt: skip
_FAINT: Sprite = (
    Box(0.265, 0.22, 0.47, 0.32, 0.155, "skin"),
    *(
        Stroke(((x - 0.05, 0.37 - s * 0.055), (x + 0.05, 0.37 + s * 0.055)), 0.035, "ink")
        for x in (0.41, 0.59)
        for s in (-1, 1)
    ),
    Oval(0.50, 0.485, 0.05, 0.025, "ink"),
)


_FOG: Sprite = (
    Oval(0.30, 0.36, 0.26, 0.13, "fog_light", 0.5),
    Oval(0.46, 0.30, 0.17, 0.12, "fog_light", 0.5),
    Oval(0.74, 0.80, 0.22, 0.10, "fog_light", 0.4),
)

SPRITES: dict[str, Sprite] = {
    "grass": _GRASS, "tuft": _TUFT, "pebbles": _PEBBLES, "eave": _EAVE, "wood": _WOOD, "fog": _FOG,
    "extra_bomb": _on_card("more", _EXTRA_BOMB), "incr_range": _on_card("far", _INCR_RANGE),
    "kick": _on_card("boot", _KICK),
    "bomb": _BOMB, "spark": _SPARK, "face": _FACE, "faint": _FAINT,
    **{f"stone{k}": stone for k, stone in enumerate(_STONES)},
    **{f"agent{k}": _figure(k) for k in range(MAX_AGENTS)},
}  # fmt: skip
STANDING = {st.WOOD: "wood", st.EXTRA_BOMB: "extra_bomb", st.INCR_RANGE: "incr_range", st.KICK: "kick"}


def built(cell: int, value: int) -> str:
    """Return the name of the sprite of a wall, wood or an item in a cell; walls vary by cell."""
    return f"stone{cell * 31 % 7 % len(_STONES)}" if value == st.RIGID else STANDING[value]


def growth(cell: int) -> str:
    """Return the name of the sprite that grows in a cell; most often "" for none."""
    return {3: "tuft", 7: "pebbles"}.get(cell * 37 % 101 % 13, "")


def arc(x: float, y: float, radius: float, share: float, steps: int = 28) -> tuple[Point, ...]:
    """Return the points of a part of a circle, clockwise from its top."""
    turns = [2 * pi * share * k / steps for k in range(steps + 1)]
    return tuple((round(x + radius * sin(a), 3), round(y - radius * cos(a), 3)) for a in turns)


FLAME_WIDTHS = (0.80, 0.58, 0.35, 0.15)
"""The widths of the layers of a flame, from the outer to the inner one; their colours are flame0 to flame3."""
WAVES = (1.0, 1.13, 1.16, 1.04, 0.90, 0.86, 0.95, 1.08, 1.10)
"""The relative widths of an arm from the middle of its cell to the edge; the next cell's arm mirrors it."""
TONGUE = (1.0, 1.14, 1.16, 1.02, 0.86, 0.74, 0.58, 0.33, 0.0)
"""The relative widths of the tongue at the end of the fire."""
TURNS = {st.UP: (0, -1), st.DOWN: (0, 1), st.LEFT: (-1, 0), st.RIGHT: (1, 0)}
BACK = {st.UP: st.DOWN, st.DOWN: st.UP, st.LEFT: st.RIGHT, st.RIGHT: st.LEFT}


@cache
def flame(links: int, heat: float, layer: int) -> Sprite:
    """Return one layer of the fire in a cell, with arms into the cells of its links; ``heat`` is from 0 to 1."""
    color, wide = f"flame{layer}", FLAME_WIDTHS[layer] * (0.35 + 0.65 * heat)
    ways = [direction for direction in TURNS if links >> direction & 1]
    arms = tuple(Area(_arm(direction, wide, 0.505, WAVES), color) for direction in ways)
    if len(ways) == 1:
        return (*arms, Area(_arm(BACK[ways[0]], wide, 0.22 + 0.30 * wide, TONGUE), color))
    around = 0.62 if len(ways) > 2 else 0.5
    return (*arms, Oval(0.5, 0.5, wide * around, wide * around, color))


def _arm(direction: int, wide: float, reach: float, outline: tuple[float, ...]) -> tuple[Point, ...]:
    """Return the outline of an arm from the middle of the cell ``reach`` far into a direction."""
    dx, dy = TURNS[direction]
    far = [reach * k / (len(outline) - 1) for k in range(len(outline))]
    sides = [(t, s * wide / 2 * bulge) for s in (-1, 1) for t, bulge in list(zip(far, outline, strict=True))[::-s]]
    return tuple((round(0.5 + dx * t - dy * h, 3), round(0.5 + dy * t + dx * h, 3)) for t, h in sides)


BOMB_MIDDLE = (0.48, 0.50)
RING_RADIUS = 0.41
DIGITS = 0.72  # limit of the width of the number on a bomb, in which each digit counts its height, in cells


@cache
def bomb(owner: int | None, life: int, fuse: int) -> Sprite:
    """Return a bomb with its remaining steps, within a ring of its owner's colour that runs out."""
    x, y = BOMB_MIDDLE
    color = "bomb_light" if owner is None else f"agent{owner}"
    share = min(max(life / fuse, 0.0), 1.0)
    return (
        Stroke(arc(x, y, RING_RADIUS, 1.0), 0.085, "ink", 0.16),
        *((Stroke(arc(x, y, RING_RADIUS, share), 0.075, color),) if share else ()),
        *_BOMB,
        Oval(x - 0.01, y - 0.02, 0.305, 0.30, "hot", round(0.75 * (1 - share) ** 2, 3)),
        *_SPARK,
        Label(x - 0.01, y + 0.01, min(DIGITS / 2, DIGITS / len(str(life))), str(life), "white"),
    )


GLANCE = {st.UP: None, st.DOWN: (0.0, 0.0), st.LEFT: (-0.075, 0.0), st.RIGHT: (0.075, 0.0)}
"""The shifts of an agent's face to where it walks; ``None`` where it is seen from behind."""


@cache
def figure(k: int, facing: int, alive: bool = True) -> Sprite:
    """Return agent ``k``, standing."""
    glance = GLANCE[facing] if alive else (0.0, 0.0)
    face = _FACE if alive else _FAINT
    return SPRITES[f"agent{k}"] + (() if glance is None else tuple(shifted(shape, *glance) for shape in face))


def ribbon(words: str, size: int) -> Sprite:
    """Return a line of text across the middle of a board."""
    tall, middle = 0.13 * size, size / 2
    wide = min(0.32 * tall * (len(words) + 3), size)
    return (
        Box(middle - wide / 2, middle - 0.46 * tall, wide, tall, 0.32 * tall, "ink", 0.35),
        Box(middle - wide / 2, middle - 0.50 * tall, wide, tall, 0.32 * tall, "card"),
        Label(middle, middle, 0.48 * tall, words, "ink"),
    )


MARGIN = 0.4  # width of the frame around the board, in cells


def frame(size: int) -> Sprite:
    """Return the frame around the board."""
    full = size + 2 * MARGIN
    return (
        Box(-MARGIN, -MARGIN, full, full, 0.42, "frame_dark"),
        Box(-MARGIN, -MARGIN, full, full - 0.09, 0.40, "frame"),
        Box(-0.09, -0.09, size + 0.18, size + 0.18, 0.12, "frame_dark"),
        Box(0.0, 0.0, size, size, 0.0, "meadow"),
    )
