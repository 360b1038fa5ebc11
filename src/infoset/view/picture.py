"""A drawing as a list of shapes, written as SVG or as PDF from one description, so that both look alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import hypot
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree as Xml

from infoset.errors import MissingExtraError, printable
from infoset.files import replace_file

Point: TypeAlias = tuple[float, float]

COLORS = ("#0060a8", "#c44601", "#1f4a1a", "#9016fa", "#aa5c79", "#3d3d3d")
"""One per player: distinguishable with each kind of colour blindness, and dark enough for text on white."""
DASHES = ((5.0, 3.0), (1.6, 2.2), (8.0, 2.5, 2.0, 2.5), (3.0, 1.5), (8.0, 4.0), (6.0, 2.0, 1.5, 2.0, 1.5, 2.0))
"""One per player, for print without colour."""
GREY, INK = "#777777", "#222222"

NARROW, WIDE = frozenset("()[]{}'.,:;!|iljtfr "), frozenset("mwMW@%—…")
FIRST_SQUARE = "\u2e80"  # characters from this one on are as wide as high
FONTS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
PDF_FONT = "DejaVu Sans"  # comes with matplotlib
BOLD = 1.1  # factor of the width of bold text

POINTS = 0.75  # points per pixel of SVG
LONGEST_PAGE = 14_400.0  # points: the longest page that a PDF may have


@dataclass(frozen=True)
class Line:
    """A polyline with rounded corners; dashed where ``dash`` gives the lengths of strokes and gaps."""

    points: tuple[Point, ...]
    color: str
    width: float = 1.0
    dash: tuple[float, ...] = ()
    corner: float = 0.0
    kind: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Box:
    """A rectangle centred at ``(x, y)``, its corners rounded by ``rounding``."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    stroke: str
    rounding: float = 0.0
    kind: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Words:
    """A text whose baseline starts, is centred, or ends at ``(x, y)``: ``anchor`` is start, middle or end."""

    x: float
    y: float
    text: str
    color: str = INK
    size: float = 11.0
    bold: bool = False
    anchor: str = "start"
    kind: str = ""
    tip: str = ""


Shape: TypeAlias = Line | Box | Words


@dataclass
class Picture:
    """Shapes on white, later ones on top; ``width`` and ``height`` in pixels, y pointing down."""

    title: str
    width: float
    height: float
    shapes: list[Shape] = field(default_factory=list)

    def svg(self) -> str:
        """Return the picture as one self-contained SVG."""
        size = {"width": f"{self.width:.0f}", "height": f"{self.height:.0f}"}
        view = f"0 0 {size['width']} {size['height']}"
        style = f"font-family: {FONTS}; background: white"
        svg = Xml.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "viewBox": view, "style": style, **size})
        _tip(svg, self.title)
        Xml.SubElement(svg, "rect", {**size, "fill": "white"})
        for shape in self.shapes:
            _WRITERS[type(shape)](svg, shape)
        return Xml.tostring(svg, encoding="unicode")

    def save_pdf(self, path: Path) -> Path:
        """Write the picture as a PDF of one page, with its text as text.

        Raises ``MissingExtraError`` without matplotlib.
        """
        try:
            import matplotlib
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtraError("a picture as PDF", "plot") from None
        scale = min(POINTS, LONGEST_PAGE / max(self.width, self.height))
        with matplotlib.rc_context({"pdf.fonttype": 42, "font.family": PDF_FONT}):  # journals reject Type 3 fonts
            figure = Figure(figsize=(self.width * scale / 72, self.height * scale / 72))
            axes = figure.add_axes((0, 0, 1, 1), xlim=(0, self.width), ylim=(self.height, 0))
            axes.set_axis_off()
            for number, shape in enumerate(self.shapes):
                axes.add_artist(_ARTISTS[type(shape)](shape, scale)).set_zorder(number)
            about = {"Title": printable(self.title), "CreationDate": None}
            return replace_file(path, lambda file: figure.savefig(file, format="pdf", metadata=about))


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the approximate width of a text, as in a wide font."""
    ems = sum(
        0.37 if c in NARROW else 0.98 if c in WIDE else 1.0 if c >= FIRST_SQUARE else 0.72 if c.isupper() else 0.64
        for c in text
    )
    return size * ems * (BOLD if bold else 1.0)


def rounded(points: Sequence[Point], corner: float) -> Iterator[tuple[Point, ...]]:
    """Yield the pieces of a polyline with rounded corners.

    A piece is a point to draw straight to, or a pair: the control point of a quadratic curve and its end.
    """
    last = len(points) - 2
    for k, (before, at, after) in enumerate(zip(points, points[1:], points[2:], strict=False), start=1):
        shares = 1 if k == 1 else 2, 1 if k == last else 2  # two corners on one piece get half of it each
        reach = min(corner, _distance(before, at) / shares[0], _distance(at, after) / shares[1])
        yield (_toward(at, before, reach),)
        yield at, _toward(at, after, reach)
    yield (points[-1],)


def _distance(one: Point, other: Point) -> float:
    return hypot(one[0] - other[0], one[1] - other[1])


def _toward(start: Point, end: Point, length: float) -> Point:
    share = length / (_distance(start, end) or 1.0)
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def _add(svg: Xml.Element, tag: str, shape: Shape, attributes: dict[str, str]) -> Xml.Element:
    if shape.kind:
        attributes = {"class": shape.kind, **attributes}
    element = Xml.SubElement(svg, tag, attributes)
    _tip(element, shape.tip)
    return element


def _tip(element: Xml.Element, text: str) -> None:
    if text:
        Xml.SubElement(element, "title").text = printable(text)


def _write_line(svg: Xml.Element, line: Line) -> None:
    parts = [f"M{_pair(line.points[0])}"]
    parts += [
        ("L" if len(step) == 1 else "Q") + " ".join(map(_pair, step)) for step in rounded(line.points, line.corner)
    ]
    style = {"fill": "none", "stroke": line.color, "stroke-width": f"{line.width:.2f}"}
    if line.dash:
        style["stroke-dasharray"] = " ".join(f"{length:g}" for length in line.dash)
    _add(svg, "path", line, {"d": " ".join(parts), **style})


def _pair(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


def _write_box(svg: Xml.Element, box: Box) -> None:
    corner = {"x": f"{box.x - box.width / 2:.1f}", "y": f"{box.y - box.height / 2:.1f}", "rx": f"{box.rounding:g}"}
    size = {"width": f"{box.width:.1f}", "height": f"{box.height:.1f}"}
    _add(svg, "rect", box, {**corner, **size, "fill": box.fill, "stroke": box.stroke})


def _write_words(svg: Xml.Element, words: Words) -> None:
    style = {"fill": words.color, "font-size": f"{words.size:g}", "text-anchor": words.anchor}
    if words.bold:
        style["font-weight"] = "bold"
    element = _add(svg, "text", words, {"x": f"{words.x:.1f}", "y": f"{words.y:.1f}", **style})
    if words.tip:
        element[0].tail = printable(words.text)
    else:
        element.text = printable(words.text)


def _line_artist(line: Line, scale: float) -> Any:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    vertices, codes = [line.points[0]], [Outline.MOVETO]
    for step in rounded(line.points, line.corner):
        vertices += step
        codes += [Outline.LINETO if len(step) == 1 else Outline.CURVE3] * len(step)
    dash = (0, tuple(length / line.width for length in line.dash)) if line.dash else "solid"
    outline = Outline(vertices, codes)
    return PathPatch(outline, fill=False, edgecolor=line.color, linewidth=line.width * scale, linestyle=dash)


def _box_artist(box: Box, scale: float) -> Any:
    from matplotlib.patches import FancyBboxPatch

    style = f"round,pad=0,rounding_size={box.rounding}" if box.rounding else "square,pad=0"
    corner = box.x - box.width / 2, box.y - box.height / 2
    colors: dict[str, Any] = {"facecolor": box.fill, "edgecolor": box.stroke, "linewidth": scale}
    return FancyBboxPatch(corner, box.width, box.height, boxstyle=style, **colors)


def _words_artist(words: Words, scale: float) -> Any:
    from matplotlib.text import Text

    return Text(
        words.x, words.y, printable(words.text), color=words.color, fontsize=words.size * scale, parse_math=False,
        fontweight="bold" if words.bold else "normal", va="baseline",
        ha={"start": "left", "middle": "center", "end": "right"}[words.anchor],
    )  # fmt: skip


_WRITERS: dict[type, Any] = {Line: _write_line, Box: _write_box, Words: _write_words}
_ARTISTS: dict[type, Any] = {Line: _line_artist, Box: _box_artist, Words: _words_artist}
