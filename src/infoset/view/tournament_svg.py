"""A tournament as one self-contained SVG: the cross table, and beside it the ratings with their intervals."""

from __future__ import annotations

from math import ceil, floor, log10
from xml.etree import ElementTree as Xml

from infoset.arena.ratings import Rating
from infoset.arena.tournament import Standings
from infoset.errors import BudgetError, shorten
from infoset.view.picture import printable
from infoset.view.tournament_text import cross_table, fault_lines, ranking

MAX_TEAMS = 40
INK, GREY, LINE, EMPTY = "#222222", "#777777", "#dddddd", "#f3f3f3"
WIN, EVEN, LOSS = (31, 95, 168), (250, 250, 248), (217, 140, 33)
DOT = "#1f5fa8"
MARGIN, TOP, ROW, AXIS, NUMBERS, LETTER = 24, 92, 44, 300, 150, 6.2
NAME = 36  # letters of a team's name that are shown
TICKS = 6


def tournament_svg(standings: Standings) -> str:
    """The teams from the best down.  A cell is blue where the row's team did better, orange where it did worse.

    Raises ``BudgetError`` beyond ``MAX_TEAMS`` teams.
    """
    if len(standings.teams) > MAX_TEAMS:
        raise BudgetError(f"{len(standings.teams)} teams; a picture holds {MAX_TEAMS}")
    order, cells = ranking(standings), cross_table(standings)
    counts = max((len(_count(cell)) for cell in cells.values()), default=0)
    cell_width = max(LETTER * counts + 14, 56)
    left = MARGIN + LETTER * min(max(map(len, order)), NAME) + 40
    right = left + cell_width * len(order) + 40
    bottom = TOP + ROW * len(order)
    faults = fault_lines(standings)
    width = max(right + AXIS + NUMBERS, MARGIN + LETTER * max(map(len, faults), default=0)) + MARGIN
    about = f"{standings.games:,} of {standings.planned:,} games, seed {standings.seed}"
    about += "; score, and wins/losses/ties, of the row against the column"
    svg = sheet(f"{standings.game}: tournament", standings.game, about, width, bottom + 50 + 18 * len(faults))
    for place, team in enumerate(order):
        y = TOP + ROW * place
        name = text(svg, MARGIN, y + ROW / 2 + 4, f"{place + 1}  {shorten(team, NAME)}", font_size="12")
        Xml.SubElement(name, "title").text = printable(team)
        text(svg, left + cell_width * (place + 0.5), TOP - 10, str(place + 1), text_anchor="middle", fill=GREY)
        for column, other in enumerate(order):
            _cell(svg, left + cell_width * column, y, cell_width, cells.get((team, other)))
    ratings = {rating.team: rating for rating in standings.ratings}
    _ratings(svg, [ratings[team] for team in order], right, bottom)
    for number, line in enumerate(faults):
        text(svg, MARGIN, bottom + 46 + 18 * number, line, fill=GREY)
    return Xml.tostring(svg, encoding="unicode")


def sheet(title: str, head: str, about: str, width: float, height: float) -> Xml.Element:
    """White paper with a head and a line about it."""
    style = "font-family: Helvetica, Arial, sans-serif; font-size: 11px; background: white"
    svg = Xml.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", style=style)
    svg.set("width", f"{width:g}")
    svg.set("height", f"{height:g}")
    Xml.SubElement(svg, "title").text = printable(title)
    text(svg, MARGIN, 32, head, font_size="16", font_weight="bold")
    text(svg, MARGIN, 52, about, fill=GREY)
    return svg


def _cell(svg: Xml.Element, x: float, y: float, width: float, cell: tuple[int, int, int] | None) -> None:
    box = {"x": f"{x + 1:g}", "y": f"{y + 1:g}", "width": f"{width - 2:g}", "height": f"{ROW - 2:g}", "rx": "3"}
    if cell is None:
        Xml.SubElement(svg, "rect", {**box, "fill": EMPTY})
        return
    score = (cell[0] + cell[2] / 2) / sum(cell)
    Xml.SubElement(svg, "rect", {**box, "fill": _rgb(tint(score))})
    ink = "white" if score > 0.75 else INK
    middle = {"text_anchor": "middle", "fill": ink}
    text(svg, x + width / 2, y + 19, f"{100 * score:.0f} %", font_size="13", font_weight="bold", **middle)
    text(svg, x + width / 2, y + 34, _count(cell), font_size="10", **middle)


def _count(cell: tuple[int, int, int]) -> str:
    return "/".join(map(str, cell))


def tint(score: float) -> tuple[float, ...]:
    """From orange over white to blue: red, green and blue in [0, 1]."""
    end, share = (WIN, 2 * score - 1) if score > 0.5 else (LOSS, 1 - 2 * score)
    return tuple([(even + share * (full - even)) / 255 for even, full in zip(EVEN, end, strict=True)])


def _rgb(parts: tuple[float, ...]) -> str:
    return f"rgb({','.join(str(round(255 * part)) for part in parts)})"


def _ratings(svg: Xml.Element, ratings: list[Rating], left: float, bottom: float) -> None:
    low, high = min(rating.low for rating in ratings), max(rating.high for rating in ratings)
    step = _nice((high - low) / TICKS)
    first, last = step * floor(low / step), step * ceil(high / step)
    scale = AXIS / max(last - first, step)
    for number in range(round((last - first) / step) + 1):
        value = first + step * number
        x = left + scale * (value - first)
        _line(svg, x, TOP - 4, x, bottom + 4, GREY if value == 0 else LINE, 1.0)
        text(svg, x, bottom + 18, f"{value:+g}" if value else "0", text_anchor="middle", fill=GREY)
    text(svg, left, TOP - 26, "Elo points about the mean, 95 % intervals", fill=GREY)
    for place, rating in enumerate(ratings):
        y = TOP + ROW * (place + 0.5)
        ends = [left + scale * (value - first) for value in (rating.low, rating.rating, rating.high)]
        _line(svg, ends[0], y, ends[2], y, DOT, 2.2)
        for end in (ends[0], ends[2]):
            _line(svg, end, y - 5, end, y + 5, DOT, 1.4)
        Xml.SubElement(svg, "circle", cx=f"{ends[1]:.1f}", cy=f"{y:g}", r="5", fill=DOT)
        text(svg, left + AXIS + 16, y + 4, f"{round(rating.rating):+d}", font_size="12", font_weight="bold")
        text(svg, left + AXIS + 62, y + 4, f"{round(rating.low):+d} to {round(rating.high):+d}", fill=GREY)


def _nice(value: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is no less."""
    power = 10.0 ** floor(log10(max(value, 1.0)))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= value)


def _line(svg: Xml.Element, x1: float, y1: float, x2: float, y2: float, color: str, width: float) -> None:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    Xml.SubElement(svg, "line", {**ends, "stroke": color, "stroke-width": f"{width:g}"})


def text(svg: Xml.Element, x: float, y: float, words: str, **style: str) -> Xml.Element:
    """One line, with attributes such as ``font_size``."""
    named = {"fill": INK, **{name.replace("_", "-"): value for name, value in style.items()}}
    element = Xml.SubElement(svg, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", **named})
    element.text = printable(words)
    return element
