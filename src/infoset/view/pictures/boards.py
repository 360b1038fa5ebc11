"""Boards in the facts of a game description: relations with two coordinates, ``cell(1, 3, x)`` or ``blank(a, 2)``.

Which relations these are, and the direction of each coordinate, follow from the description alone, so a board never
changes its shape during a game.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from infoset.base import Action, Picture
from infoset.errors import InfosetError
from infoset.gdl.rules import GdlRules
from infoset.gdl.syntax import And, Atom, Formula, Not, Or, Term, Variable

UNKNOWN = "?"
MARK = "●"
MAX_CELLS = 1_600
MAX_LINE = 60
FEWEST = 2
FEW = 3  # facts that must hold at once for two numbers to be coordinates, unless the relation's name says so
USUAL = ("cell", "cellholds", "square", "location", "at", "piece", "board", "on")
EMPTY = frozenset({"b", "blank", "empty", "none", "nil", "clear"})
ACROSS = re.compile(r"x|c|col|column|file|f|u", re.IGNORECASE)
_INTEGER = re.compile(r"-?\d{1,6}")
_LETTER = re.compile(r"[a-z]")

Fact: TypeAlias = "tuple[str, ...]"
"""The arguments of a fact as texts."""
Facts: TypeAlias = "defaultdict[str, set[Fact]]"
"""The facts that hold, by the name of the relation."""


class Board(NamedTuple):
    """A board: its relation, the positions of its coordinates in a fact, and the values along both.

    ``marks`` are other relations that are shown on it.
    """

    name: str
    first: int
    second: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    across: bool
    """Whether the first coordinate counts columns."""
    empty: frozenset[str]
    """Contents that mean an empty cell."""
    owner: str = ""
    """The role whose facts these are, where the relation's first argument is a role; each role has its own board."""
    marks: tuple[str, ...] = ()
    """Relations that consist of coordinates alone and are shown on this board."""

    @property
    def title(self) -> str:
        """The board's title; empty where its name is one of the usual names."""
        return f"{self.name} {self.owner}".rstrip() if self.owner or self.name not in USUAL else ""

    def cell(self, one: str, other: str) -> tuple[int, int]:
        """Return the row and column of two coordinates.  Raises ``ValueError`` for values that are none."""
        row, column = (other, one) if self.across else (one, other)
        return self.rows.index(row), self.columns.index(column)

    def picture(self, certain: Facts, doubtful: Facts) -> Picture:
        """Return the certain contents of each cell in alphabetical order; ``?`` where there may be others."""
        found: list[list[set[str]]] = [[set() for _ in self.columns] for _ in self.rows]
        for row, column, content in self._contents(certain):
            found[row][column].add(content)
        for row, column, _ in self._contents(doubtful):
            found[row][column] = {UNKNOWN}
        cells = [[" ".join(sorted(cell)) for cell in line] for line in found]
        return {
            "kind": "grid",
            "title": self.title,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "cells": cells,
        }

    def _contents(self, facts: Facts) -> Iterator[tuple[int, int, str]]:
        """Yield row, column and content of all facts that lie on the board."""
        found = [(fact[self.first], fact[self.second], self._content(fact)) for fact in self._own(facts)]
        found += [(one, other, mark) for mark in self.marks for one, other in facts.get(mark, ())]
        for one, other, content in found:
            if content not in self.empty:
                with suppress(ValueError):  # a cell that no fact of the description has
                    yield (*self.cell(one, other), content)

    def _own(self, facts: Facts) -> Iterator[Fact]:
        return (fact for fact in facts.get(self.name, ()) if self.owner in ("", fact[0]))

    def _content(self, fact: Fact) -> str:
        return " ".join(fact[bool(self.owner) : self.first] + fact[self.second + 1 :]) or MARK

    def offers(self, legal_actions: Sequence[Action]) -> dict[str, Any]:
        """Return the moves that name cells: by cell, or from one cell to another."""
        actions: dict[str, set[int]] = defaultdict(set)
        slides: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for number, action in enumerate(legal_actions):
            match [f"{row},{column}" for row, column in self.cells(action)]:
                case [cell]:
                    actions[cell].add(number)
                case [here, there]:
                    slides[here][there].add(number)
        offers = {"moves": _only(actions), "slides": {here: _only(there) for here, there in slides.items()}}
        return {name: found for name, found in offers.items() if found}

    def cells(self, action: Action | None) -> Iterator[tuple[int, int]]:
        """Yield the cells that a move names, with two arguments each."""
        if not isinstance(action, tuple):
            return
        values = [str(part) for part in action[1:] if not isinstance(part, tuple)]
        while len(values) > 1:
            try:
                cell = self.cell(values[0], values[1])
            except ValueError:
                values = values[1:]
            else:
                yield cell
                values = values[2:]

    def drops(self, legal_actions: Sequence[Action], cells: Sequence[Sequence[str]]) -> dict[str, int]:
        """Return the moves that name one coordinate, such as the column where a disc falls.

        Each move is listed under the cells of that line which look empty.
        """
        found = {}
        line = self.columns if self.across else self.rows
        for number, action in enumerate(legal_actions):
            if isinstance(action, tuple) and len(action) == 2 and str(action[1]) in line:
                place = line.index(str(action[1]))
                for r, row in enumerate(cells):
                    for c, content in enumerate(row):
                        if (c if self.across else r) == place and content in ("", UNKNOWN):
                            found[f"{r},{c}"] = number
        return found


def _only(found: Mapping[str, set[int]]) -> dict[str, int]:
    """Return the cells that name exactly one move."""
    return {cell: min(numbers) for cell, numbers in found.items() if len(numbers) == 1}


def by_relation(facts: Iterable[Term]) -> Facts:
    """Return facts by the name of their relation."""
    found: Facts = defaultdict(set)
    for fact in facts:
        found[fact.functor].add(tuple(map(str, fact.arguments)))
    return found


@lru_cache(maxsize=64)
def boards_of(rules: GdlRules) -> tuple[Board, ...]:
    """Return the boards of a game; moves name cells of the first."""
    states = _some_states(rules)
    facts = by_relation(set().union(*states) if rules.propnet is None else rules.propnet.base)
    most = Counter({name: max(len(related[name]) for related in map(by_relation, states)) for name in facts})
    found = [board for name in sorted(facts) if (board := _board(rules, name, facts[name])) is not None]
    bare = [board for board in found if _arity(facts[board.name]) == 2]
    full = [board for board in found if board not in bare and (board.name in USUAL or most[board.name] >= FEW)]
    if not full:
        return tuple([board for board in bare if most[board.name] >= FEW])
    full.sort(key=lambda board: (USUAL.index(board.name) if board.name in USUAL else len(USUAL), board.name))
    marks = [board.name for board in bare if (board.rows, board.columns) == (full[0].rows, full[0].columns)]
    boards = [full[0]._replace(marks=tuple(marks)), *full[1:]]
    return tuple([each for board in boards for each in _by_owner(rules, board, facts[board.name])])


def _some_states(rules: GdlRules) -> list[frozenset[Term]]:
    """Return the facts of a few states that random play reaches; they are always the same."""
    evaluator, rng = rules.evaluator, np.random.default_rng(0)
    plays, length = (1, 10) if rules.propnet is None else (4, 50)
    states = [evaluator.start()]
    with suppress(InfosetError):  # raised again when play reaches that state
        for _ in range(plays):
            state = evaluator.start()
            for _ in range(length):
                if evaluator.terminal(state):
                    break
                action_sets = [evaluator.legal_actions(state, role) for role in range(len(evaluator.roles))]
                if not all(action_sets):
                    break
                state, _ = evaluator.step(
                    state, [action_set[int(rng.integers(len(action_set)))] for action_set in action_sets]
                )
                states.append(state)
    return [evaluator.facts(state) for state in states]


def _by_owner(rules: GdlRules, board: Board, facts: Collection[Fact]) -> list[Board]:
    """Return a board for each role where a role precedes the coordinates in every fact, else the board alone."""
    if board.first == 0 or not {fact[0] for fact in facts} <= {*rules.evaluator.roles}:
        return [board]
    return [board._replace(owner=role) for role in rules.players]


def _arity(facts: Collection[Fact]) -> int:
    return len(next(iter(facts)))


def _board(rules: GdlRules, name: str, facts: set[Fact]) -> Board | None:
    """Return the board that a relation describes; ``None`` where it describes none."""
    if len({len(fact) for fact in facts}) > 1 or _arity(facts) < 2:
        return None
    lines = [_line({fact[k] for fact in facts}) for k in range(_arity(facts))]
    pairs = [(k, k + 1) for k in range(len(lines) - 1) if lines[k] and lines[k + 1]]
    if not pairs:
        return None
    first, second = max(pairs, key=lambda pair: len(lines[pair[0]]) * len(lines[pair[1]]))
    one, other = lines[first], lines[second]
    if len(one) * len(other) > MAX_CELLS:
        return None
    across = _across(rules, name, first) or (one[0].isalpha() and not other[0].isalpha())
    contents = {part for fact in facts for k, part in enumerate(fact) if k not in (first, second)}
    empty = EMPTY - {"b"} if contents & {"w", "r"} else EMPTY  # black, not blank
    rows, columns = (other[::-1], one) if across else (one, other)
    return Board(name, first, second, rows, columns, across, empty)


def _line(values: set[str]) -> tuple[str, ...]:
    """Return all values of a coordinate in order, with gaps filled; ``()`` where the values are no coordinates."""
    if not FEWEST <= len(values) <= MAX_LINE:
        return ()
    if all(_LETTER.fullmatch(value) for value in values):
        return tuple(map(chr, range(ord(min(values)), ord(max(values)) + 1))) if "a" in values else ()
    if not all(_INTEGER.fullmatch(value) for value in values):
        return ()
    numbers = sorted(map(int, values))
    line = range(numbers[0], numbers[-1] + 1)
    return tuple(map(str, line)) if len(line) <= min(2 * len(numbers), MAX_LINE) else ()


def _across(rules: GdlRules, name: str, place: int) -> bool:
    """Return whether the variable's name in the rules is a usual name for columns."""
    for term in _terms(rules):
        if term.functor == name and len(term.arguments) > place:
            argument = term.arguments[place]
            if isinstance(argument, Variable):
                return ACROSS.fullmatch(argument.name.rstrip("0123456789_")) is not None
    return False


def _terms(rules: GdlRules) -> Iterator[Term]:
    """Yield all facts that the rules mention."""
    for rule in rules.description.rules:
        atoms = [rule.head, *(atom for part in rule.body for atom in _atoms(part))]
        for atom in atoms:
            if atom.functor in ("true", "init", "next"):
                yield from [a for a in atom.arguments if isinstance(a, Term)]


def _atoms(formula: Formula) -> Iterator[Term]:
    match formula:
        case Atom(term):
            yield term
        case Not(inner):
            yield from _atoms(inner)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _atoms(part)
