"""What SVG pictures on white paper have in common: a sheet with a heading, lines of text, tints from bad to good."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from infoset.errors import printable

INK, GREY, LINE, EMPTY = "#222222", "#777777", "#dddddd", "#f3f3f3"
WIN, EVEN, LOSS = (31, 95, 168), (250, 250, 248), (217, 140, 33)
MARGIN = 24


def sheet(title: str, head: str, about: str, width: float, height: float) -> Xml.Element:
    """Return a white sheet with a heading and a line below it."""
    style = "font-family: Helvetica, Arial, sans-serif; font-size: 11px; background: white"
    svg = Xml.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", style=style)
    svg.set("width", f"{width:g}")
    svg.set("height", f"{height:g}")
    Xml.SubElement(svg, "title").text = printable(title)
    text(svg, MARGIN, 32, head, font_size="16", font_weight="bold")
    text(svg, MARGIN, 52, about, fill=GREY)
    return svg


def text(svg: Xml.Element, x: float, y: float, words: str, **style: str) -> Xml.Element:
    """Draw one line of text, with attributes such as ``font_size``."""
    named = {"fill": INK, **{name.replace("_", "-"): value for name, value in style.items()}}
    element = Xml.SubElement(svg, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", **named})
    element.text = printable(words)
    return element


def draw_line(svg: Xml.Element, x1: float, y1: float, x2: float, y2: float, color: str, width: float) -> None:
    """Draw a line between two points."""
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    Xml.SubElement(svg, "line", {**ends, "stroke": color, "stroke-width": f"{width:g}"})


def tint(score: float) -> tuple[float, ...]:
    """Return a colour from orange over white to blue: red, green and blue in [0, 1]."""
    end, share = (WIN, 2 * score - 1) if score > 0.5 else (LOSS, 1 - 2 * score)
    return tuple([(even + share * (full - even)) / 255 for even, full in zip(EVEN, end, strict=True)])


def rgb(parts: tuple[float, ...]) -> str:
    """Return a colour for SVG from red, green and blue in [0, 1]."""
    return f"rgb({','.join(str(round(255 * part)) for part in parts)})"
