"""Tables of hands as SVG: the matrix of 13 by 13 classes, aces first, suited hands above the diagonal.

The filled part of a cell is the part of its hands that get there; its stripes are the probabilities of actions.
``hand_table_svg`` draws one table in full, ``hand_matrices_svg`` many in small.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from xml.etree import ElementTree as Xml

import numpy as np

from infoset.base import FloatArray
from infoset.errors import printable, shorten
from infoset.games.hand_classes import cell_name
from infoset.games.poker_hands import RANKS
from infoset.hand_groups import HandGroup, by_draw, by_made_hand, group_of
from infoset.hand_table import HandTable
from infoset.view.action_colors import BETS, action_colors, printed
from infoset.view.hand_cells import (
    Cell,
    about_node,
    about_range,
    check_measure,
    chips,
    matrix_cells,
    measured,
    percent,
    tint_share,
)
from infoset.view.svg_sheet import EMPTY, GREY, INK, LINE, MARGIN, draw_line, rgb, sheet, text, tint

MAX_PANELS, LEAST, DARK = 24, 0.001, 0.6
CELL, GAP, HEAD, COLUMNS, TOP, LETTER, TITLE = 19, 34, 76, 4, 72, 6.0, 40
SIDE = CELL * len(RANKS)
LARGE, ASIDE, AISLE, ROW = 46, 470, 34, 18
STREETS = {3: "Flop", 4: "Turn", 5: "River"}
ABOUT = "cells are filled by how many of their hands get there; suited hands above the diagonal"
FAINT = "#bbbbbb"
HALO = {"paint_order": "stroke", "stroke": EMPTY, "stroke_width": "3", "stroke_linejoin": "round"}
"""Attributes of dark letters that may lie half on a coloured stripe."""
MEASURED = {"ev": "EV in chips", "equity": "equity", "realised": "realised equity"}


def hand_matrices_svg(name: str, tables: Sequence[HandTable], players: Sequence[str]) -> str:
    """Return the picture of many decisions: the most frequent ones, up to ``MAX_PANELS``, in their order."""
    probabilities = [table.probability if isfinite(table.probability) else 1.0 for table in tables]
    order = sorted(range(len(tables)), key=lambda k: -probabilities[k])
    shown = sorted([k for k in order if probabilities[k] >= LEAST][:MAX_PANELS])
    across = max(min(len(shown), COLUMNS if len(shown) > 2 * (COLUMNS - 1) else COLUMNS - 1), 1)
    width = 2 * MARGIN + across * SIDE + (across - 1) * GAP
    lines = -(-len(shown) // across)
    board = tables[0].board
    about = f"{STREETS[len(board)]}: board {''.join(board)}, pot {min(table.pot for table in tables):g}"
    if len(shown) < len(tables):
        about += f"; {len(shown)} of {len(tables)} decisions, those reached most often"
    svg = sheet(f"{name}: hands", about, ABOUT, width, TOP + lines * (SIDE + HEAD))
    _legend(svg, width)
    for place, number in enumerate(shown):
        x, y = MARGIN + place % across * (SIDE + GAP), TOP + place // across * (SIDE + HEAD)
        _panel(svg, tables[number], players, x, y)
    return Xml.tostring(svg, encoding="unicode")


def hand_table_svg(table: HandTable, players: Sequence[str] = ("P1", "P2"), measure: str = "strategy") -> str:
    """Return the picture of one table: the matrix, the figures of the range and of actions, made hands and draws.

    Cells show the actions, or with ``measure`` the ``ev``, ``equity`` or ``realised`` equity, from orange (bad for the
    player) to blue.  Raises ``ParameterError`` for another measure.
    """
    check_measure(measure)
    grid = LARGE * len(RANKS)
    left: float = MARGIN + grid + AISLE
    groups = [("Made hand", by_made_hand(table)), ("Draw", by_draw(table))]
    aside = 62 + ROW * len(table.actions) + sum(34 + ROW * len(found) for _, found in groups if found)
    head = f"{about_node(table, players)}: board {' '.join(table.board)}, pot {table.pot:,.6g}"
    about = (
        ABOUT if measure == "strategy" else f"{MEASURED[measure]} of each class of hands, blue is good for the player"
    )
    svg = sheet("hands", head, about, left + ASIDE + MARGIN, TOP + max(grid, aside) + MARGIN)
    for (row, column), cell in _with_empty(matrix_cells(table)).items():
        x, y = MARGIN + LARGE * column, TOP + LARGE * row
        _large_cell(svg, table, cell, cell_name(row, column), x, y, measure)
    below = _range_figures(svg, table, left, TOP)
    below = _action_figures(svg, table, left, below)
    for title, found in groups:
        if found:
            below = _group_table(svg, table, title, found, left, below)
    return Xml.tostring(svg, encoding="unicode")


def _with_empty(cells: dict[tuple[int, int], Cell]) -> dict[tuple[int, int], Cell | None]:
    size = range(len(RANKS))
    return {(row, column): cells.get((row, column)) for row in size for column in size}


def _legend(svg: Xml.Element, width: float) -> None:
    x = width - MARGIN
    named = (
        ("fold", printed("fold")),
        ("check, call", printed("call")),
        ("smallest bet", printed("bet0")),
        ("largest bet", printed(f"bet{BETS - 1}")),
    )
    for name, color in named[::-1]:
        x -= LETTER * len(name)
        text(svg, x, 52, name, fill=GREY)
        x -= 16
        _swatch(svg, x, 42, color)
        x -= 14


def _swatch(svg: Xml.Element, x: float, y: float, color: str) -> None:
    Xml.SubElement(svg, "rect", {"x": f"{x:g}", "y": f"{y:g}", "width": "11", "height": "11", "rx": "2", "fill": color})


def _colors(table: HandTable) -> list[str]:
    return [printed(name) for name in action_colors(table.actions)]


def _panel(svg: Xml.Element, table: HandTable, players: Sequence[str], x: float, y: float) -> None:
    reached = f"{table.probability:.1%}  " if isfinite(table.probability) else ""
    text(svg, x, y + 14, shorten(f"{reached}{about_node(table, players)}", TITLE), font_weight="bold")
    left, line = x, y + 29
    frequencies = group_of(table).frequencies
    for k, color in enumerate(_colors(table)):
        words = f"{table.actions[k]} {frequencies[k]:.0%}"
        if left + LETTER * len(words) > x + SIDE:
            left, line = x, line + 13
        text(svg, left, line, words, fill=color, font_weight="bold", font_size="10")
        left += LETTER * len(words) + 9
    for (row, column), cell in _with_empty(matrix_cells(table)).items():
        group = Xml.SubElement(svg, "g")
        place, name = (x + CELL * column, y + 50 + CELL * row), cell_name(row, column)
        _fill(group, table, cell, *place, CELL - 1, name)
        ink = FAINT if cell is None else "white" if cell.filled > DARK else INK
        left, line = place[0] + (CELL - 1) / 2, place[1] + (CELL - 1) / 2 + 3
        halo = {**HALO, "stroke_width": "2"} if cell is not None and 0.3 < cell.filled <= DARK else {}
        text(group, left, line, name, text_anchor="middle", font_size="7", fill=ink, **halo)


def _fill(svg: Xml.Element, table: HandTable, cell: Cell | None, x: float, y: float, size: float, name: str) -> None:
    """Draw a cell, filled with the stripes of the actions as far as its hands get there."""
    box = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{size:g}", "height": f"{size:g}"}
    Xml.SubElement(svg, "rect", {**box, "fill": EMPTY})
    if cell is None or cell.filled <= 0:
        return
    height = size * min(cell.filled, 1.0)
    if table.actions:
        _stripes(svg, table, cell.group.frequencies, (x, y + size - height, size, height))
    else:
        _rectangle(svg, x, y + size - height, size, height, GREY)
    Xml.SubElement(svg, "title").text = printable(f"{name}: {_words(table, cell)}")


def _words(table: HandTable, cell: Cell) -> str:
    """Return the figures of a cell for its tooltip."""
    group = cell.group
    shares = [f"{action} {share:.0%}" for action, share in zip(table.actions, group.frequencies, strict=True)]
    known = [("EV", chips(group.ev)), ("equity", percent(group.equity)), ("realised", percent(group.realised, 0))]
    named = [f"{word} {value}" for word, value in known if value != "-"]
    return "; ".join(filter(None, (f"here {cell.filled:.0%}", ", ".join(shares), ", ".join(named))))


def _stripes(svg: Xml.Element, table: HandTable, shares: FloatArray, box: tuple[float, float, float, float]) -> None:
    """Draw the probabilities of actions side by side into a box: left, top, width, height."""
    left, top, full, height = box
    for k, color in enumerate(_colors(table)):
        width = full * float(np.nan_to_num(shares[k]))
        if width > 0.05:
            _rectangle(svg, left, top, width, height, color)
        left += width


def _rectangle(svg: Xml.Element, x: float, y: float, width: float, height: float, color: str) -> None:
    box = {"x": f"{x:.2f}", "y": f"{y:.2f}", "width": f"{width:.2f}", "height": f"{height:.2f}"}
    Xml.SubElement(svg, "rect", {**box, "fill": color})


def _large_cell(
    svg: Xml.Element, table: HandTable, cell: Cell | None, name: str, x: float, y: float, measure: str
) -> None:
    group, size = Xml.SubElement(svg, "g"), LARGE - 2
    if measure == "strategy" or cell is None or cell.filled <= 0:
        _fill(group, table, cell, x, y, size, name)
        filled = 0.0 if cell is None else size * min(cell.filled, 1.0)
        words = "" if cell is None or filled == 0 or not isfinite(cell.group.ev) else chips(cell.group.ev)
        inks = ["white" if filled > part * size else INK for part in (0.8, 0.35)]
    else:
        value, words = measured(cell.group, measure)
        share = tint_share(table, measure, value)
        _rectangle(group, x, y, size, size, rgb(tint(share)))
        Xml.SubElement(group, "title").text = printable(f"{name}: {_words(table, cell)}")
        inks = ["white" if share > 0.75 else INK] * 2
    if cell is None or cell.filled <= 0:
        inks = [FAINT, FAINT]
    halos = [HALO if ink == INK and measure == "strategy" else {} for ink in inks]
    weight = "bold" if cell else "normal"
    text(group, x + 4, y + 14, name, font_size="12", font_weight=weight, fill=inks[0], **halos[0])
    text(group, x + size - 3, y + size - 5, words, font_size="10", text_anchor="end", fill=inks[1], **halos[1])


def _range_figures(svg: Xml.Element, table: HandTable, left: float, y: float) -> float:
    """Draw the figures of the whole range side by side; return where the next part begins."""
    for place, (name, words) in enumerate(about_range(table)):
        x = left + place * ASIDE / 5
        text(svg, x, y + 10, name, fill=GREY)
        text(svg, x, y + 30, words, font_size="15", font_weight="bold")
    return y + 46


def _action_figures(svg: Xml.Element, table: HandTable, left: float, y: float) -> float:
    """Draw a bar of all actions and a line for each; return where the next part begins."""
    if not table.actions:
        return y
    every = group_of(table)
    _stripes(svg, table, every.frequencies, (left, y, ASIDE, 10))
    for k, color in enumerate(_colors(table)):
        line = y + 26 + ROW * k
        _swatch(svg, left, line - 9, color)
        text(svg, left + 18, line, shorten(table.actions[k], 30), font_size="12")
        text(
            svg, left + 200, line, percent(every.frequencies[k]), text_anchor="end", font_size="12", font_weight="bold"
        )
        if isfinite(every.ev_actions[k]):
            text(svg, left + 216, line, f"EV if always {chips(every.ev_actions[k])}", fill=GREY)
    return y + 16 + ROW * len(table.actions)


def _group_table(
    svg: Xml.Element, table: HandTable, title: str, groups: Sequence[HandGroup], left: float, y: float
) -> float:
    """Draw a line for each group of hands with its figures and a bar of actions; return where the next part begins."""
    ends = {"share": left + 200, "EV": left + 250, "equity": left + 304, "realised": left + 360}
    y += 26
    text(svg, left, y, title, font_weight="bold")
    for name, x in ends.items():
        text(svg, x, y, name, text_anchor="end", fill=GREY)
    draw_line(svg, left, y + 5, left + ASIDE, y + 5, LINE, 1.0)
    for place, group in enumerate(groups, start=1):
        line = y + ROW * place + 1
        text(svg, left, line, group.name)
        figures = (percent(group.share), chips(group.ev), percent(group.equity), percent(group.realised, 0))
        for x, words in zip(ends.values(), figures, strict=True):
            text(svg, x, line, words, text_anchor="end")
        _stripes(svg, table, group.frequencies, (left + 372, line - 10, ASIDE - 372, 12))
    return y + ROW * len(groups) + 8
