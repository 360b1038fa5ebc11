"""Rows of numbers, indexes on them, and the steps by which a clause of a game description joins them.

Ground terms are numbers, so that a row of a relation is a tuple of integers.  A step maps a list of bindings to the
next list.  A join looks up rows in an index on the arguments that are bound at that point; indexes are made when first
needed and grow with their relation.

``true`` is split by the functor of its argument: ``(true (cell ?x ?y b))`` reads a relation ``cell`` of three columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from math import inf
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from infoset.base import Action
from infoset.errors import BudgetError, shorten
from infoset.gdl.checks import variables
from infoset.gdl.syntax import MAX_DEPTH, Argument, Term, Variable, to_action, to_term

MAX_FACTS = 1_000_000
"""The most facts derived for one state, and the most bindings that one join may yield."""
MAX_LENGTH = 10_000
"""The most characters in one term, which may be no deeper than terms that can be read from a file."""
PORTION = 1 << 16
"""The approximate number of rows looked up between two checks of the clock."""

STATIC, STATE, MOVE = range(3)
"""The point at which a relation is complete: from the start, for a state, for a state and a joint move."""
PHASES = {("true", 1): STATE, ("does", 2): MOVE}
Row: TypeAlias = tuple[int, ...]
Bindings: TypeAlias = list[Row]
Getter: TypeAlias = Callable[[Row], Any]
Step: TypeAlias = "Callable[[Model, Bindings], Bindings]"
Source: TypeAlias = "Callable[[Model, Bindings], Facts]"
"""A function that returns the facts that hold the rows matching some bindings."""
K = TypeVar("K")
V = TypeVar("V")


class LazyDict(dict[K, V]):
    """A dictionary whose values are made when first requested."""

    def __init__(self, make: Callable[[K], V]) -> None:
        self.make = make

    def __missing__(self, key: K) -> V:
        value = self[key] = self.make(key)
        return value


class Terms(dict[tuple[Any, ...], int]):
    """Ground terms as numbers: a constant's key is its name, a compound's the numbers of functor and arguments."""

    def __init__(self) -> None:
        self.keys_of: list[tuple[Any, ...]] = []
        self.depths: list[int] = []
        self.texts: list[str] = []
        self.actions: list[Action] = []
        self.term: LazyDict[int, Term] = LazyDict(lambda number: to_term(self.actions[number]))

    def __missing__(self, key: tuple[Any, ...]) -> int:
        """Assign a number to a new term; its arguments have numbers already, so that there is no recursion."""
        name = key[0] if len(key) == 1 else self.keys_of[key[0]][0]
        depth = 1 + max((self.depths[k] for k in key[1:]), default=0)
        length = len(name) + sum(1 + len(self.texts[k]) for k in key[1:])
        if depth > MAX_DEPTH or length > MAX_LENGTH:
            most = f"{MAX_DEPTH} levels or {MAX_LENGTH:,} characters"
            raise BudgetError(f"terms grow beyond {most}: the outermost function is {shorten(name)!r}")
        number = self[key] = len(self.keys_of)
        self.keys_of.append(key)
        self.depths.append(depth)
        self.texts.append(f"({' '.join([name, *(self.texts[k] for k in key[1:])])})" if len(key) > 1 else name)
        self.actions.append((name, *(self.actions[k] for k in key[1:])) if len(key) > 1 else to_action(Term(name)))
        return number

    def constant(self, name: str) -> int:
        return self[name,]

    def number(self, term: Argument) -> int:
        """Return the number of a ground term."""
        assert isinstance(term, Term)
        functor = self[term.functor,]
        return self[functor, *map(self.number, term.arguments)] if term.arguments else functor

    def split(self, number: int) -> tuple[tuple[int, int], Row]:
        """Return (functor, arity) and the arguments of a term."""
        key = self.keys_of[number]
        return ((key[0], len(key) - 1), key[1:]) if len(key) > 1 else ((number, 0), ())


class Spec(NamedTuple):
    """The way the rows of a relation are indexed; positions count the columns, then what ``opened`` appends."""

    opened: tuple[tuple[int, int, int], ...]  # (position, functor, arity): a compound there, arguments appended
    equal: tuple[tuple[int, int], ...]  # pairs of positions that must have equal values
    key: tuple[int, ...]
    out: tuple[int, ...]
    lossy: bool  # whether rows that differ may have the same key and the same out


class Shape:
    """A builder of indexes of one spec: a set of keys where nothing is to be read out, else lists of outs by key."""

    def __init__(self, spec: Spec, terms: Terms) -> None:
        self.spec, self.keys_of = spec, terms.keys_of
        self.key, self.out = getter(spec.key), row_getter(spec.out)

    def fill(self, index: Any, rows: Collection[Row]) -> None:
        for step in self.spec.opened:
            rows = self._open(rows, *step)
        for one, other in self.spec.equal:
            rows = [row for row in rows if row[one] == row[other]]
        if not self.spec.out:
            index.update(map(self.key, rows))
            return
        if not self.spec.key:
            index[()] += set(map(self.out, rows)) if self.spec.lossy else map(self.out, rows)
            return
        pairs = zip(map(self.key, rows), map(self.out, rows), strict=True)
        for key, out in set(pairs) if self.spec.lossy else pairs:
            index[key].append(out)

    def patched(self, index: Any, rows: Collection[Row], removed: Collection[Row], new: Collection[Row]) -> Any:
        """Return an index of ``rows``, made from the index of the rows with ``removed`` and without ``new``."""
        keys = set(map(self.key, removed))
        keys.update(map(self.key, new))
        key = self.key
        found = index.copy()
        for k in keys:
            found.pop(k, None) if self.spec.out else found.discard(k)
        self.fill(found, [row for row in rows if key(row) in keys])
        return found

    def _open(self, rows: Collection[Row], position: int, functor: int, arity: int) -> list[Row]:
        keys = ((row, self.keys_of[row[position]]) for row in rows)
        return [row + key[1:] for row, key in keys if key[0] == functor and len(key) == arity + 1]


class Facts:
    """The rows of one relation, and the indexes on them that were asked for."""

    __slots__ = ("gone", "indexes", "new", "origin", "rows")

    def __init__(self, rows: set[Row]) -> None:
        self.rows = rows
        self.indexes: dict[Shape, Any] = {}
        self.origin: Facts | None = None
        self.removed: set[Row] = set()
        self.new: set[Row] = set()

    def changed(self, removed: set[Row], new: set[Row]) -> Facts:
        """Return a copy that differs in some rows; its indexes are made from those of these facts."""
        facts = Facts((self.rows - removed) | new)
        facts.origin, facts.removed, facts.new = self, removed, new
        self.origin = None  # so that no chain of all earlier states is kept
        return facts

    def index(self, shape: Shape) -> Any:
        found = self.indexes.get(shape)
        if found is None:
            known = self.origin.indexes.get(shape) if self.origin is not None else None
            if known is not None and shape.spec.key and not shape.spec.opened:
                found = shape.patched(known, self.rows, self.removed, self.new)
            else:
                found = defaultdict(list) if shape.spec.out else set()
                shape.fill(found, self.rows)
            self.indexes[shape] = found
        return found

    def add(self, rows: set[Row]) -> set[Row]:
        """Add rows and return those that are new."""
        fresh = rows - self.rows if self.rows else rows
        self.rows |= fresh
        for shape, index in self.indexes.items():
            shape.fill(index, fresh)
        return fresh


class Watch:
    """The limits of an evaluation: a clock, and a number of facts."""

    def __init__(self) -> None:
        self.clock: Callable[[int], None] = endless
        self.most: float = inf

    @property
    def limit(self) -> float:
        """The most facts in one state, and the most ways to match one clause's body."""
        return min(self.most, MAX_FACTS)


def endless(_: int) -> None:
    """Do nothing: a clock that never runs out.  Clocks are called with the work done since, in rows looked up."""


class Model(dict[int, Facts]):
    """The facts known at one phase, by relation, and a table for each access to a predicate."""

    def __init__(self, phase: int, symbols: Symbols, parent: Model | None = None) -> None:
        self.phase, self.symbols = phase, symbols
        self.watch: Watch = symbols.watch
        self.below: tuple[Model, ...] = (*parent.below, parent) if parent is not None else ()  # an empty model is false
        self.tables: dict[Any, Table] = {}
        self.size = self.counted = 0

    def __missing__(self, relation: int) -> Facts:
        phase = self.symbols.stored[relation]
        facts = self[relation] = Facts(set()) if phase >= self.phase else self.below[phase][relation]
        return facts

    def at(self, phase: int) -> Model:
        """Return the model of an earlier phase, or this one."""
        return self if phase == self.phase else self.below[phase]

    def extend(self, facts: Facts, rows: set[Row], relation: int) -> set[Row]:
        """Add rows to the facts of a relation and return those that are new."""
        fresh = facts.add(rows)
        self.size += len(fresh)
        if self.size > self.watch.limit:
            name = self.symbols.names[relation]
            raise BudgetError(f"more than {self.watch.limit:,} facts follow in one state, the last ones for {name}")
        return fresh


class Table:
    """The keys asked of one access to a predicate, and every row that answers them."""

    __slots__ = ("asked", "facts")

    def __init__(self) -> None:
        self.asked: set[Row] = set()
        self.facts = Facts(set())


def getter(positions: Sequence[int]) -> Getter:
    """Return a function that reads one position as it is, several as a tuple."""
    return itemgetter(positions[0]) if len(positions) == 1 else row_getter(positions)


def row_getter(positions: Sequence[int]) -> Getter:
    """Return a function that reads positions as a tuple, also one or none."""
    if len(positions) > 1:
        return itemgetter(*positions)
    start = positions[0] if positions else 0
    return itemgetter(slice(start, start + len(positions)))


def stored(relation: int) -> Source:
    """Return a source of the facts stored for a relation, whatever the bindings."""
    return lambda model, _: model[relation]


def join(source: Source, shape: Shape, key: Getter, name: str) -> Step:
    """Return a step that extends each binding by each of its matching rows."""

    def step(model: Model, bindings: Bindings) -> Bindings:
        facts = source(model, bindings)
        if not facts.rows:
            return []
        get = facts.index(shape).get
        if len(bindings) * len(facts.rows) > PORTION:
            return _in_portions(model.watch, bindings, key, get, name, 1 + PORTION // len(facts.rows))
        return [b + more for b in bindings for more in get(key(b), ())]

    return step


def _in_portions(watch: Watch, bindings: Bindings, key: Getter, get: Any, name: str, portion: int) -> Bindings:
    """Join many rows in portions, with checks of the clock and of the number of bindings."""
    found: Bindings = []
    for k in range(0, len(bindings), portion):
        watch.clock(PORTION)
        found += [b + more for b in bindings[k : k + portion] for more in get(key(b), ())]
        if len(found) > watch.limit:
            raise BudgetError(f"more than {watch.limit:,} ways to match one rule's body in one state, at {name}")
    return found


def test(source: Source, shape: Shape | None, key: Getter, positive: bool) -> Step:
    """Return a step that keeps bindings for which some row matches (or none); without a shape the key is the row."""

    def step(model: Model, bindings: Bindings) -> Bindings:
        facts = source(model, bindings)
        if not facts.rows:
            return [] if positive else bindings
        known = facts.rows if shape is None else facts.index(shape)
        if positive:
            return [b for b in bindings if key(b) in known]
        return [b for b in bindings if key(b) not in known]

    return step


def compare(one: int, other: int, equal: bool) -> Step:
    """Return a step that keeps bindings in which two positions are equal (or not)."""
    if equal:
        return lambda _, bindings: [b for b in bindings if b[one] == b[other]]
    return lambda _, bindings: [b for b in bindings if b[one] != b[other]]


def construct(terms: Terms, key: Getter) -> Step:
    """Return a step that appends the number of a compound term."""
    return lambda _, bindings: [b + (terms[key(b)],) for b in bindings]  # noqa: RUF005 - twice as fast


def project(keep: Getter) -> Step:
    """Return a step that drops positions that are not needed any more, and duplicates."""
    return lambda _, bindings: list(set(map(keep, bindings)))


class Atom(NamedTuple):
    """An atom: a relation's number, and at each position a variable, a constant, or ``None`` for an opened compound."""

    relation: int
    flat: list[Variable | int | None]
    opened: tuple[tuple[int, int, int], ...]
    columns: int


class Symbols:
    """Numbers for terms and relations; ``stored`` is the phase whose models hold the facts of a relation."""

    def __init__(self) -> None:
        self.terms = Terms()
        self.watch = Watch()
        self.relations: dict[tuple[str, int] | tuple[str, int, int], int] = {}
        self.names: list[str] = []
        self.stored: list[int] = []
        self.shapes: LazyDict[Spec, Shape] = LazyDict(lambda spec: Shape(spec, self.terms))
        self.atom: LazyDict[Term, Atom] = LazyDict(
            lambda term: self.flatten(self.relation(term), (_inner(term) or term))
        )

    def relation(self, term: Term) -> int:
        """Return the number of an atom's relation; ``true`` with a known functor is a relation of its own."""
        inner = _inner(term)
        if inner is None:
            return self.numbered(term.relation)
        return self.numbered((term.functor, self.terms.constant(inner.functor), len(inner.arguments)), inner.functor)

    def numbered(self, key: tuple[str, int] | tuple[str, int, int], name: str = "") -> int:
        """Return a relation's number: of (name, arity), or of (true, functor, arity) where the functor is known."""
        if key not in self.relations:
            self.relations[key] = len(self.names)
            self.names.append(f"{shorten(name or key[0])}/{key[-1]}")
            self.stored.append(PHASES.get(key if len(key) == 2 else ("true", 1), STATIC))
        return self.relations[key]

    def flatten(self, relation: int, term: Term) -> Atom:
        """Return a term's arguments, followed by those of the compounds among them that hold variables."""
        todo = list(term.arguments)
        columns, opened = len(todo), []
        flat: list[Variable | int | None] = []
        for position, argument in enumerate(todo):  # grows while it is read
            if isinstance(argument, Variable):
                flat.append(argument)
            elif any(variables(argument)):
                flat.append(None)
                opened.append((position, self.terms.constant(argument.functor), len(argument.arguments)))
                todo.extend(argument.arguments)
            else:
                flat.append(self.terms.number(argument))
        return Atom(relation, flat, tuple(opened), columns)


def _inner(term: Term) -> Term | None:
    """Return the argument of ``true`` where it is not a variable."""
    if term.relation == ("true", 1) and isinstance(term.arguments[0], Term):
        return term.arguments[0]
    return None
