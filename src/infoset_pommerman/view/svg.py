"""Drawing of one position as a self-contained SVG."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from infoset.match.replay import Match
from infoset_pommerman.game import Pommerman, PommermanState
from infoset_pommerman.view import art
from infoset_pommerman.view.film import Film
from infoset_pommerman.view.frames import film as film_of
from infoset_pommerman.view.frames import frames
from infoset_pommerman.view.palette import DAY
from infoset_pommerman.view.scene import floor, scene

CELL = 48
FONT = "ui-rounded, 'Arial Rounded MT Bold', 'Helvetica Neue', Arial, sans-serif"


def still_svg(match: Match, step: int | None = None, game: Pommerman | None = None) -> str:
    """Return the position after a step of the game, by default the last one.

    Raises ``ParameterError`` where the game has no such step, and the errors of ``film``.
    """
    film = film_of(match, game)
    return _svg(film, film.number(step))


def position_svg(state: PommermanState) -> str:
    """Return the picture of a single position without its history."""
    players = state.game.players
    film = Film(state.game.name, state.game.config, players, players, tuple(frames([state], [])), (), False)
    return _svg(film, 0, CELL // 2)


def _svg(film: Film, number: int, cell: int = CELL) -> str:
    edge = art.MARGIN
    span = film.config.size + 2 * edge
    svg = Xml.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"{-edge} {-edge} {span} {span}")
    svg.set("width", f"{span * cell:g}")
    svg.set("height", f"{span * cell:g}")
    Xml.SubElement(svg, "title").text = f"{film.game}, step {film.frames[number].step}"
    drawn = Xml.SubElement(svg, "defs")
    names: dict[art.Sprite, str] = {}
    _draw(svg, art.frame(film.config.size))
    for sprite, x, y, alpha in (*floor(film.frames[number], film.config.size), *scene(film, number)):
        if sprite not in names:
            names[sprite] = f"s{len(names)}"
            _draw(Xml.SubElement(drawn, "g", id=names[sprite]), sprite)
        use = Xml.SubElement(svg, "use", href=f"#{names[sprite]}", x=f"{x:g}", y=f"{y:g}")
        if alpha < 1:
            use.set("opacity", f"{alpha:g}")
    return Xml.tostring(svg, encoding="unicode")


def _draw(parent: Xml.Element, sprite: art.Sprite) -> None:
    for shape in sprite:
        element = _element(shape)
        if shape.alpha < 1:
            element.set("opacity", f"{shape.alpha:g}")
        parent.append(element)


def _element(shape: art.Shape) -> Xml.Element:
    color = DAY[shape.color]
    match shape:
        case art.Box(x, y, width, height, radius):
            return _tag("rect", x=x, y=y, width=width, height=height, rx=radius, fill=color)
        case art.Oval(x, y, rx, ry):
            return _tag("ellipse", cx=x, cy=y, rx=rx, ry=ry, fill=color)
        case art.Area(points):
            return _tag("polygon", points=_points(points), fill=color)
        case art.Stroke(points, width):
            line = _tag("polyline", points=_points(points), stroke=color, fill="none")
            line.attrib |= {"stroke-width": f"{width:g}", "stroke-linecap": "round", "stroke-linejoin": "round"}
            return line
        case art.Label(x, y, size, text):
            label = _tag("text", x=x, y=y, fill=color)
            label.attrib |= {"font-size": f"{size:g}", "font-weight": "800", "font-family": FONT}
            label.attrib |= {"text-anchor": "middle", "dominant-baseline": "central"}
            label.text = text
            return label


def _tag(name: str, **attributes: float | str) -> Xml.Element:
    return Xml.Element(name, {k: v if isinstance(v, str) else f"{v:.4g}" for k, v in attributes.items()})


def _points(points: tuple[art.Point, ...]) -> str:
    return " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
