"""Payoff tables from spreadsheets (``.csv``): simultaneous games of two players.

A row for each strategy of the first player, a column for each of the second, separated by commas, semicolons or tabs::

    ,left,right
    up,3 3,0 5
    down,5 0,1 1

A cell holds both payoffs, or the first player's alone: then a second table with the second player's payoffs may follow
after an empty line; without one they are the negated payoffs of the first.  Names of strategies may stand before and
above the numbers, which may be fractions.
"""

from __future__ import annotations

import csv
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from infoset.errors import FormatError, shorten
from infoset.files import read_text
from infoset.formats.gambit_text import exact_number
from infoset.formats.nfg import Nfg, NfgGame
from infoset.games.rules import seats
from infoset.tree.normal_form import MOST_CELLS

Cell = tuple[Fraction, ...]


class _Row(NamedTuple):
    line: int
    cells: list[str]


class _Table(NamedTuple):
    line: int
    names: tuple[tuple[str, ...], tuple[str, ...]]
    cells: list[list[Cell]]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.cells), len(self.cells[0])

    @property
    def strategies(self) -> tuple[tuple[str, ...], ...]:
        """The names of the strategies, or numbers from 1."""
        numbers = (tuple(str(k + 1) for k in range(size)) for size in self.shape)
        return tuple(given or own for given, own in zip(self.names, numbers, strict=True))


def read_csv(path: str | Path) -> NfgGame:
    """Read a ``.csv`` file of payoffs as a game.  Raises ``FormatError`` with the line."""
    return NfgGame(parse_csv(read_text(Path(path)), str(path)), Path(path).stem, str(Path(path).resolve()))


def parse_csv(text: str, file: str = "") -> Nfg:
    """Parse the text of a table of payoffs.  Raises ``FormatError`` with the line."""
    blocks = groupby(_rows(text, file), key=lambda row: any(row.cells))
    tables = [_table(list(block), file) for full, block in blocks if full]
    if not tables:
        raise FormatError("empty; needed: a table of payoffs", file)
    first, others = tables[0], tables[1:]
    both = len(first.cells[0][0]) == 2
    if len(others) > 1 - both:
        raise FormatError("a table more than the payoffs of two players need", file, others[1 - both].line)
    for other in others:
        if other.shape != first.shape or len(other.cells[0][0]) == 2:
            needed = f"the other player's payoffs, {first.shape[0]} x {first.shape[1]} numbers"
            raise FormatError(
                f"a table of {other.shape[0]} x {other.shape[1]} cells; needed: {needed}", file, other.line
            )
        if other.strategies != first.strategies and any(other.names):
            raise FormatError(
                "other names of strategies than in the first table, or in another order", file, other.line
            )
    rows, columns = map(range, first.shape)
    paid = [_both(first.cells[i][j], others[0].cells[i][j] if others else ()) for j in columns for i in rows]
    return Nfg(Path(file).stem, seats(2), first.strategies, tuple(paid))


def _both(cell: Cell, other: Cell) -> Cell:
    """Return both players' payoffs of a cell."""
    return cell if len(cell) == 2 else (*cell, *(other or (-cell[0],)))


def _rows(text: str, file: str) -> list[_Row]:
    """Return the cells of every line, without empty ones at its end."""
    mark = next((mark for mark in ";\t" if mark in text), ",")
    reader, found = csv.reader(text.splitlines(), delimiter=mark, skipinitialspace=True), []
    try:
        for cells in reader:
            words = [cell.strip() for cell in cells]
            while words and not words[-1]:
                words.pop()
            found.append(_Row(reader.line_num, words))
    except csv.Error as error:
        raise FormatError(shorten(str(error)), file, reader.line_num) from None
    return found


def _table(rows: list[_Row], file: str) -> _Table:
    """Parse a block of lines: numbers, with or without names before and above them; an empty corner implies names."""
    corner = not rows[0].cells[0]
    above = rows[0].cells if corner or _are_names(rows[0].cells[1:], rows[0], file) else []
    body = rows[bool(above) :]
    if not body:
        raise FormatError("names of strategies, and no payoffs below them", file, rows[0].line)
    before = corner or _are_names([row.cells[0] for row in body], body[0], file)
    if above and not before:
        _are_names(above, rows[0], file)
    width = len(body[0].cells) - before
    if not width or len(body) * width > MOST_CELLS:
        raise FormatError(
            f"a table of {len(body):,} x {width:,} cells; allowed: 1 to {MOST_CELLS:,}", file, body[0].line
        )
    cells = [_cells(row, before, width, file) for row in body]
    if len({len(cell) for row in cells for cell in row}) > 1:
        raise FormatError("some cells hold both players' payoffs, others one", file, body[0].line)
    if above and len(above) not in (width, width + before):
        raise FormatError(f"{len(above)} names above {width} payoffs", file, rows[0].line)
    mine = [row.cells[0] for row in body] if before else []
    column_names = above[len(above) - width :] if above else []
    for names in (mine, column_names):
        if len(set(names)) < len(names) or not all(names):
            listed = shorten(", ".join(names))
            raise FormatError(f"two strategies of one name, or of none, among {listed}", file, rows[0].line)
    return _Table(rows[0].line, (tuple(mine), tuple(column_names)), cells)


def _are_names(cells: list[str], row: _Row, file: str) -> bool:
    """Return whether cells in a row or column are names, not payoffs.  Raises ``FormatError`` where they are mixed."""
    for cell in cells:
        _refuse_commas(cell, row, file)
    numbers = [_is_number(cell) for cell in cells]
    if any(numbers) and not all(numbers):
        odd = shorten(repr(cells[numbers.index(False)]))
        raise FormatError(f"{odd} among payoffs; give names of strategies for all rows or all columns", file, row.line)
    return bool(numbers) and not numbers[0]


def _cells(row: _Row, before: bool, width: int, file: str) -> list[Cell]:
    """Return the payoffs of a line."""
    words = row.cells[before:]
    if len(words) != width:
        raise FormatError(f"{len(words)} payoffs where the first line of the table has {width}", file, row.line)
    found = []
    for column, word in enumerate(words, start=1 + before):
        _refuse_commas(word, row, file)
        try:
            numbers = tuple([exact_number(part) for part in word.split()])
        except ValueError as error:
            raise FormatError(f"{shorten(word)!r} in column {column}; needed: payoffs{error}", file, row.line) from None
        if len(numbers) not in (1, 2):
            needed = "one payoff, or two; columns are separated by commas"
            raise FormatError(f"{shorten(word)!r} in column {column}; needed: {needed}", file, row.line)
        found.append(numbers)
    return found


def _refuse_commas(word: str, row: _Row, file: str) -> None:
    """Raise ``FormatError`` for a cell of numbers with a comma between them or in them."""
    first, comma, second = (part.strip() for part in word.strip("()[]{}").partition(","))
    if comma and _is_number(first) and _is_number(second):
        raise FormatError(
            f"{shorten(word)!r}; needed: two payoffs with a blank between them, '{first} {second}', or a number with a "
            f"point, '{first}.{second}'",
            file,
            row.line,
        )


def _is_number(word: str) -> bool:
    """Return whether a cell is meant to hold payoffs, valid or not; a name such as ``1`` counts as a payoff."""
    try:
        return bool(word) and all(list(map(float, part.split("/"))) for part in word.split())
    except ValueError:
        return False
