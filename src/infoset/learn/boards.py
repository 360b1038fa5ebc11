"""Find the boards among the propositions of a described game: which propositions name a cell, and where it lies.

Rules name cells by two numbers or letters in a row, as in ``(cell 3 2 white)`` or ``(at king b 4)``; the remaining
arguments name the planes of the board, as in ``(cell ? ? white)``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from infoset.base import LongArray
from infoset.gdl.syntax import Term

LEAST = 3  # cells along a side
COVERED = 0.5  # least share of a board's cells that propositions name
NOWHERE = -1


class _Pattern(NamedTuple):
    """A relation, and which two of its arguments name the cell."""

    relation: tuple[str, int]
    column: int
    row: int


class _Reading(NamedTuple):
    """A proposition read by a pattern: its number, cell and plane."""

    number: int
    column: str
    row: str
    plane: tuple[str, ...]


def board_of(base: Sequence[Term]) -> LongArray | None:
    """Return (P, X, Y) the propositions on the largest board of a game: P planes of X columns and Y rows.

    Cells without a proposition are ``NOWHERE``.  Returns ``None`` where there is no board.

    >>> from infoset.gdl.syntax import Term
    >>> from infoset.learn.boards import board_of
    >>> words = [("a", "1", "x"), ("a", "2", "x"), ("c", "3", "o"), ("b", "1", "x"), ("b", "2", "o"), ("b", "3", "o")]
    >>> cells = [Term("cell", tuple(Term(word) for word in each)) for each in words]
    >>> print(board_of([Term("control", (Term("x"),)), *cells])[0])    # the x; the other plane has the o
    [[ 1  2 -1]
     [ 4 -1 -1]
     [-1 -1 -1]]
    """
    readings: dict[_Pattern, list[_Reading]] = defaultdict(list)
    for number, term in enumerate(base):
        words = [str(argument) for argument in term.arguments]
        for i, j in combinations(range(len(words)), 2):
            plane = tuple(word for k, word in enumerate(words) if k not in (i, j))
            readings[_Pattern(term.relation, i, j)].append(_Reading(number, words[i], words[j], plane))
    sizes = {pattern: size for pattern, found in readings.items() if (size := _cells(found))}
    if not sizes:
        return None
    largest = max(sizes, key=lambda pattern: (sizes[pattern], pattern.column - pattern.row))
    columns, rows = _axis({r.column for r in readings[largest]}), _axis({r.row for r in readings[largest]})
    planes: dict[tuple[_Pattern, tuple[str, ...]], LongArray] = {}
    placed: set[int] = set()
    for pattern in [largest, *(each for each in sizes if each != largest)]:
        found = readings[pattern]
        if any(r.column not in columns or r.row not in rows or r.number in placed for r in found):
            continue
        for r in found:
            empty = np.full((len(columns), len(rows)), NOWHERE, dtype=np.int64)
            planes.setdefault((pattern, r.plane), empty)[columns[r.column], rows[r.row]] = r.number
            placed.add(r.number)
    return np.stack(list(planes.values()))


def _cells(found: Sequence[_Reading]) -> int:
    """Return how many cells these propositions name if they form a board, else 0."""
    columns, rows = _axis({r.column for r in found}), _axis({r.row for r in found})
    cells = len({(r.column, r.row) for r in found})
    return cells if min(len(columns), len(rows)) >= LEAST and cells >= COVERED * len(columns) * len(rows) else 0


def _axis(words: set[str]) -> dict[str, int]:
    """Return the index of each number or letter along a side of a board; empty where they are neither."""
    if all(word.isdecimal() for word in words):
        ordered = sorted(words, key=int)
    elif all(len(word) == 1 and word.isalpha() for word in words):
        ordered = sorted(words)
    else:
        ordered = []
    return {word: k for k, word in enumerate(ordered)}
