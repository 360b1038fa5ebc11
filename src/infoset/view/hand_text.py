"""A table of hands for the terminal: the matrix of 13 by 13 classes, and tables by made hand, draw and hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from rich.text import Text

from infoset.games.hand_classes import cell_name
from infoset.games.poker_hands import RANKS
from infoset.hand_groups import HandGroup, by_draw, by_made_hand, group_of
from infoset.hand_table import HandTable
from infoset.view.action_colors import action_colors, printed
from infoset.view.hand_cells import (
    Cell,
    about_node,
    about_range,
    action_letters,
    check_measure,
    chips,
    matrix_cells,
    measured,
    percent,
    share_letters,
    tint_share,
)
from infoset.view.match_text import columns
from infoset.view.svg_sheet import tint

WIDTH, STRIP = 5, 10
"""The letters of a cell of the matrix, and of the strip of actions in a table."""
FEW = 24
"""The most hands that are listed one by one."""
BLOCKS = " ▁▂▃▄▅▆▇█"
SHOWN = {"ev": "expected payoff in chips", "equity": "equity", "realised": "part of the equity that is realised"}


def hand_table_text(table: HandTable, players: Sequence[str] = ("P1", "P2"), measure: str = "strategy") -> Text:
    """Return a node of a solution as coloured text, which can be read without colours as well.

    The matrix has the classes of hands, suited ones above the diagonal; a block after the name says how many of the
    class get here.  Below it are five letters for the actions with this class, each for a fifth of the time, or with
    ``measure`` the class's ``ev``, ``equity`` or ``realised`` equity.  Tables by made hand and by draw follow; up to
    ``FEW`` hands are listed one by one.  Raises ``ParameterError`` for another measure.
    """
    check_measure(measure)
    text = Text()
    text.append(about_node(table, players), "bold")
    text.append(f"   board {' '.join(table.board)}   pot {table.pot:,.6g}\n")
    text.append("   ".join(f"{name} {words}" for name, words in about_range(table)) + "\n")
    text.append_text(_action_lines(table))
    text.append("\n")
    text.append_text(_matrix(table, measure))
    text.append("\n")
    for title, groups in (("made hand", by_made_hand(table)), ("draw", by_draw(table)), ("hand", _few_hands(table))):
        if groups:
            text.append("\n")
            text.append_text(_group_lines(table, title, groups))
    return text


def _action_lines(table: HandTable) -> Text:
    """Return a line for each action: its letter, probability, and value if it were taken with every hand."""
    every, colors = group_of(table), action_colors(table.actions)
    text = Text()
    width = max(map(len, table.actions), default=0)
    for k, letter in enumerate(action_letters(table.actions)):
        text.append(f" {letter} ", f"bold white on {printed(colors[k])}")
        text.append(f" {table.actions[k]:<{width}} {percent(every.frequencies[k]):>8}")
        text.append(f"   EV if always {chips(every.ev_actions[k])}\n" if isfinite(every.ev_actions[k]) else "\n")
    return text


def _matrix(table: HandTable, measure: str) -> Text:
    cells = matrix_cells(table)
    text = Text()
    for row in range(len(RANKS)):
        lines = Text(), Text()
        for column in range(len(RANKS)):
            cell = cells.get((row, column))
            for line, part in zip(lines, _cell(table, cell, cell_name(row, column), measure), strict=True):
                line.append_text(part).append(" ")
        text.append_text(lines[0]).append("\n").append_text(lines[1]).append("\n")
    known = "the block: how many of these hands get here"
    what = "the letters: their actions" if measure == "strategy" else f"the number: {SHOWN[measure]}"
    return text.append(f"{known}; {what}" if table.actions or measure != "strategy" else known, "dim")


def _cell(table: HandTable, cell: Cell | None, name: str, measure: str) -> tuple[Text, Text]:
    """Return the two lines of a cell."""
    if cell is None or cell.filled <= 0:
        return Text(f"{name:<{WIDTH}}" if cell else f"{' ·':<{WIDTH}}", "dim"), Text(" " * WIDTH)
    block = BLOCKS[max(1, round(cell.filled * (len(BLOCKS) - 1)))]
    first = Text(f"{name:<3}", "bold").append(f"{block} ", "not bold")
    if measure == "strategy":
        return first, _strip(table, cell.group, WIDTH)
    value, words = measured(cell.group, measure)
    share = tint_share(table, measure, value)
    color = "".join(f"{round(255 * part):02x}" for part in tint(share))
    return first, Text(f"{words.replace(' ', ''):>{WIDTH}}", f"{'white' if share > 0.75 else 'black'} on #{color}")


def _strip(table: HandTable, group: HandGroup, width: int) -> Text:
    """Return the letters of actions, each as often as it is taken."""
    letters, colors = action_letters(table.actions), action_colors(table.actions)
    text = Text()
    for k in share_letters(group.frequencies, width):
        text.append(letters[k], f"bold white on {printed(colors[k])}")
    text.append(" " * (width - len(text)))
    return text


def _few_hands(table: HandTable) -> list[HandGroup]:
    if len(table.hands) > FEW:
        return []
    return [group_of(table, [place], name) for place, name in enumerate(table.hands)]


def _group_lines(table: HandTable, title: str, groups: Iterable[HandGroup]) -> Text:
    """Return a table with a line for each group."""
    letters = action_letters(table.actions)
    heads = [title, "combos", "share", "EV", "equity", "realised", *(f"{one} %" for one in letters)]
    rows = [heads]
    for group in groups:
        figures = [f"{group.combinations:,.1f}", percent(group.share), chips(group.ev), percent(group.equity)]
        shares = [f"{100 * share:.0f}" if isfinite(share) else "-" for share in group.frequencies.tolist()]
        rows.append([group.name, *figures, percent(group.realised, 0), *shares])
    known = [place for place in range(len(heads)) if place < 3 or any(row[place] != "-" for row in rows[1:])]
    lines = columns([[row[place] for place in known] for row in rows])
    text = Text().append(f"{lines[0]}\n", "bold")
    for line, group in zip(lines[1:], groups, strict=True):
        text.append(f"{line}  ").append_text(_strip(table, group, STRIP)).append("\n")
    text.rstrip()
    return text.append("\n")
