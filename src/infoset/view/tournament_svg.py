"""A tournament as one self-contained SVG: the cross table, and beside it mean payoffs or ratings with intervals."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log10
from typing import NamedTuple
from xml.etree import ElementTree as Xml

from infoset.arena.standings import Standings
from infoset.errors import BudgetError, printable, shorten
from infoset.view.svg_sheet import EMPTY, GREY, INK, LINE, MARGIN, draw_line, rgb, sheet, text, tint
from infoset.view.tournament_text import RANKED_BY, cell_note, cross_table, fault_lines, ranking, signed

MAX_TEAMS = 40
DOT = "#1f5fa8"
TOP, ROW, AXIS, NUMBERS, LETTER = 92, 44, 300, 180, 6.2
NAME = 36  # letters of a team's name that are shown
TICKS = 6


class Cell(NamedTuple):
    """A team's result against another: from 0 to 1, one half where both did equally well, and two lines of text."""

    share: float
    large: str
    small: str


class Interval(NamedTuple):
    """A figure with the ends of its interval."""

    low: float
    middle: float
    high: float


def cells_of(standings: Standings) -> dict[tuple[str, str], Cell]:
    """Return the cells by row and column, for teams that met.

    They hold mean payoffs, where these rank the teams, or shares of games won.
    """
    if standings.rank == "payoff":
        met = [one for one in standings.payoffs if one.against]
        most = max((abs(one.mean) for one in met), default=0.0) or 1.0
        return {
            (one.team, one.against): Cell(
                0.5 + 0.5 * one.mean / most, signed(one.mean), "" if one.margin is None else f"± {one.margin:.2g}"
            )
            for one in met
        }
    found = {}
    for pair, (wins, losses, ties) in cross_table(standings).items():
        share = (wins + ties / 2) / (wins + losses + ties)
        found[pair] = Cell(share, f"{100 * share:.0f} %", f"{wins}/{losses}/{ties}")
    return found


def intervals_of(standings: Standings) -> tuple[dict[str, Interval], str]:
    """Return by team the figure that ranks it, with its 95 % interval; and a description of the figure."""
    if standings.rank != "payoff":
        ratings = {one.team: Interval(one.low, one.rating, one.high) for one in standings.ratings}
        return ratings, "Elo points about the mean, 95 % intervals"
    found = dict.fromkeys(standings.teams, Interval(0.0, 0.0, 0.0))
    for one in standings.payoffs:
        if not one.against:
            half = one.margin or 0.0
            found[one.team] = Interval(one.mean - half, one.mean, one.mean + half)
    return found, "mean payoff of a game, 95 % intervals"


def tournament_svg(standings: Standings) -> str:
    """Return the teams from first to last: a cell is blue where the row's team did better, orange where it did worse.

    Raises ``BudgetError`` beyond ``MAX_TEAMS`` teams.
    """
    if len(standings.teams) > MAX_TEAMS:
        raise BudgetError(f"{len(standings.teams)} teams; a picture holds {MAX_TEAMS}")
    order, cells = ranking(standings), cells_of(standings)
    counts = max((max(len(cell.small), 1.2 * len(cell.large)) for cell in cells.values()), default=0.0)
    cell_width = max(LETTER * counts + 14, 56)
    left = MARGIN + LETTER * min(max(map(len, order)), NAME) + 40
    right = left + cell_width * len(order) + 40
    bottom = TOP + ROW * len(order)
    faults = fault_lines(standings)
    about = f"{standings.games:,} of {standings.planned:,} games, seed {standings.seed}"
    about += f"; ranked by {RANKED_BY[standings.rank]}; {cell_note(standings)}"
    width = max(right + AXIS + NUMBERS, MARGIN + LETTER * max(map(len, [about, *faults]))) + MARGIN
    svg = sheet(f"{standings.game}: tournament", standings.game, about, width, bottom + 50 + 18 * len(faults))
    for place, team in enumerate(order):
        y = TOP + ROW * place
        name = text(svg, MARGIN, y + ROW / 2 + 4, f"{place + 1}  {shorten(team, NAME)}", font_size="12")
        Xml.SubElement(name, "title").text = printable(team)
        text(svg, left + cell_width * (place + 0.5), TOP - 10, str(place + 1), text_anchor="middle", fill=GREY)
        for column, other in enumerate(order):
            _cell(svg, left + cell_width * column, y, cell_width, cells.get((team, other)))
    figures, words = intervals_of(standings)
    shown = _points if standings.rank != "payoff" else _amount
    _intervals(svg, [figures[team] for team in order], words, shown, right, bottom)
    for number, line in enumerate(faults):
        text(svg, MARGIN, bottom + 46 + 18 * number, line, fill=GREY)
    return Xml.tostring(svg, encoding="unicode")


def _points(value: float) -> str:
    return f"{round(value):+d}"


def _amount(value: float) -> str:
    return f"{value:+.3g}"


def _cell(svg: Xml.Element, x: float, y: float, width: float, cell: Cell | None) -> None:
    box = {"x": f"{x + 1:g}", "y": f"{y + 1:g}", "width": f"{width - 2:g}", "height": f"{ROW - 2:g}", "rx": "3"}
    if cell is None:
        Xml.SubElement(svg, "rect", {**box, "fill": EMPTY})
        return
    Xml.SubElement(svg, "rect", {**box, "fill": rgb(tint(cell.share))})
    ink = "white" if cell.share > 0.75 else INK
    middle = {"text_anchor": "middle", "fill": ink}
    text(svg, x + width / 2, y + 19, cell.large, font_size="13", font_weight="bold", **middle)
    text(svg, x + width / 2, y + 34, cell.small, font_size="10", **middle)


def _intervals(
    svg: Xml.Element, rows: list[Interval], words: str, shown: Callable[[float], str], left: float, bottom: float
) -> None:
    low, high = min(0.0, *(row.low for row in rows)), max(0.0, *(row.high for row in rows))
    step = _nice((high - low) / TICKS)
    first, last = step * floor(low / step), step * ceil(high / step)
    scale = AXIS / max(last - first, step)
    for number in range(round((last - first) / step) + 1):
        value = round(first + step * number, 12)
        x = left + scale * (value - first)
        draw_line(svg, x, TOP - 4, x, bottom + 4, GREY if value == 0 else LINE, 1.0)
        text(svg, x, bottom + 18, f"{value:+g}" if value else "0", text_anchor="middle", fill=GREY)
    text(svg, left, TOP - 26, words, fill=GREY)
    for place, row in enumerate(rows):
        y = TOP + ROW * (place + 0.5)
        ends = [left + scale * (value - first) for value in row]
        draw_line(svg, ends[0], y, ends[2], y, DOT, 2.2)
        for end in (ends[0], ends[2]):
            draw_line(svg, end, y - 5, end, y + 5, DOT, 1.4)
        Xml.SubElement(svg, "circle", cx=f"{ends[1]:.1f}", cy=f"{y:g}", r="5", fill=DOT)
        text(svg, left + AXIS + 16, y + 4, shown(row.middle), font_size="12", font_weight="bold")
        text(svg, left + AXIS + 72, y + 4, f"{shown(row.low)} to {shown(row.high)}", fill=GREY)


def _nice(value: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is at least ``value``."""
    power = 10.0 ** floor(log10(max(value, 1e-9)))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= value)
