"""A knockout competition as one self-contained SVG: its meetings, stage by stage."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from infoset.arena.formats import Meeting
from infoset.arena.standings import Standings
from infoset.errors import BudgetError, printable, shorten
from infoset.view.svg_sheet import GREY, INK, MARGIN, sheet, text
from infoset.view.tournament_text import fault_lines

MAX_MEETINGS = 400
LINE, CARD, OUT = "#c9c9c9", "#f7f7f5", "#999999"
WON = "#1f5fa8"
TOP, WIDTH, HEIGHT, GAP, BETWEEN = 84, 210, 46, 24, 46
LETTERS = 24


def bracket_svg(standings: Standings) -> str:
    """Return the bracket: a column per stage, the winners' stages above the losers'; lines lead to the next meeting.

    The team that advances is blue.

    Raises ``BudgetError`` beyond ``MAX_MEETINGS`` meetings.
    """
    met = [meeting for meeting in standings.meetings if -1 not in meeting.teams]
    if len(met) > MAX_MEETINGS:
        raise BudgetError(f"{len(met)} meetings; a picture holds {MAX_MEETINGS}")
    at = _places(met)
    bottom = max((y + HEIGHT for _, y in at.values()), default=TOP)
    right = max((x + WIDTH for x, _ in at.values()), default=WIDTH)
    faults = fault_lines(standings)
    first = f"; first: {standings.ranking[0]}" if standings.ranking and standings.stopped == "games" else ""
    about = f"{standings.games:,} games, seed {standings.seed}{first}"
    width, height = max(right + MARGIN, 560), bottom + 40 + 18 * len(faults)
    svg = sheet(f"{standings.game}: competition", standings.game, about, width, height)
    for before, after in _ways(met):
        _way(svg, at[before], at[after])
    for meeting in met:
        _card(svg, at[meeting.number], meeting, standings.teams)
    for number, line in enumerate(faults):
        text(svg, MARGIN, bottom + 36 + 18 * number, line, fill=GREY)
    return Xml.tostring(svg, encoding="unicode")


def _places(met: list[Meeting]) -> dict[int, tuple[float, float]]:
    """Return each meeting's position: losers' stages form a second row of columns; finals are on the right."""
    upper = [meeting for meeting in met if not meeting.stage.startswith(("losers", "final"))]
    lower = [meeting for meeting in met if meeting.stage.startswith("losers")]
    finals = [meeting for meeting in met if meeting.stage.startswith("final")]
    found, middle = _columns(upper, TOP + 18)
    more, _ = _columns(lower, middle + 30)
    found |= more
    x = max((x for x, _ in found.values()), default=MARGIN - WIDTH - BETWEEN) + WIDTH + BETWEEN
    y = sum(y for _, y in found.values()) / max(len(found), 1)
    for k, meeting in enumerate(finals):
        found[meeting.number] = (x + k * (WIDTH + BETWEEN), y)
    return found


def _columns(met: list[Meeting], top: float) -> tuple[dict[int, tuple[float, float]], float]:
    """Return the cards' positions by stage, each column centred on the tallest one; and the height where they end."""
    stages: dict[str, list[Meeting]] = {}
    for meeting in met:
        stages.setdefault(meeting.stage, []).append(meeting)
    tall = max(map(len, stages.values()), default=0) * (HEIGHT + GAP)
    found: dict[int, tuple[float, float]] = {}
    for column, meetings in enumerate(stages.values()):
        step = tall / len(meetings)
        for row, meeting in enumerate(meetings):
            y = top + step * (row + 0.5) - HEIGHT / 2
            found[meeting.number] = (MARGIN + column * (WIDTH + BETWEEN), y)
    return found, top + tall


def _ways(met: list[Meeting]) -> list[tuple[int, int]]:
    """Return pairs of meetings: each one, and the next one of the team that advanced from it."""
    ways = []
    for k, meeting in enumerate(met):
        later = (after for after in met[k + 1 :] if meeting.winner >= 0 and meeting.winner in after.teams)
        if (after := next(later, None)) is not None and not after.stage.startswith("round"):
            ways.append((meeting.number, after.number))
    return ways


def _way(svg: Xml.Element, before: tuple[float, float], after: tuple[float, float]) -> None:
    x, y, end, level = before[0] + WIDTH, before[1] + HEIGHT / 2, after[0], after[1] + HEIGHT / 2
    half = end - BETWEEN / 2
    Xml.SubElement(
        svg, "path", d=f"M{x:g} {y:g} H{half:g} V{level:g} H{end:g}", fill="none", stroke=LINE
    ).set("stroke-width", "1.5")  # fmt: skip


def _card(svg: Xml.Element, at: tuple[float, float], meeting: Meeting, names: tuple[str, ...]) -> None:
    x, y = at
    Xml.SubElement(
        svg, "rect", x=f"{x:g}", y=f"{y:g}", width=f"{WIDTH}", height=f"{HEIGHT}", rx="4", fill=CARD, stroke=LINE
    )
    ties = f", {meeting.ties} {'tie' if meeting.ties == 1 else 'ties'}" if meeting.ties else ""
    text(svg, x, y - 4, f"{meeting.stage}{ties}", fill=GREY, font_size="10")
    for row, (team, wins) in enumerate(zip(meeting.teams, meeting.wins, strict=True)):
        through, level = team == meeting.winner and team >= 0, y + 19 + 18 * row
        fill = WON if through else INK if meeting.winner < 0 else OUT
        weight = "bold" if through else "normal"
        name = names[team] if team >= 0 else "…"
        shown = text(svg, x + 8, level, shorten(name, LETTERS), fill=fill, font_weight=weight)
        Xml.SubElement(shown, "title").text = printable(name)
        text(svg, x + WIDTH - 10, level, str(wins), fill=fill, font_weight=weight, text_anchor="end")
