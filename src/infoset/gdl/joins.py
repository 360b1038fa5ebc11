"""One clause of a game description as a chain of joins over rows of numbers.

Ground terms are numbers, so that a row of a relation is a tuple of integers.  A plan starts with one binding, the
constants of its clause; each of its steps takes a list of bindings to the next one.  A join looks its rows up in an
index on the arguments that are bound by then; indexes are made when first needed and grow with their relation.

``true`` is split by the functor of its argument: ``(true (cell ?x ?y b))`` reads a relation ``cell`` of three columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from infoset.base import Action
from infoset.errors import BudgetError, GameRuleError, shorten
from infoset.gdl.checks import variables
from infoset.gdl.syntax import MAX_DEPTH, Argument, Clause, Literal, Term, Variable, to_action, to_term

MAX_FACTS = 1_000_000
"""The most facts derived for one state, and the most bindings that one join may yield."""
MAX_LENGTH = 10_000
"""The most characters in one term, which may be no deeper than what can be read from a file."""

STATIC, STATE, MOVE = range(3)
"""When a relation is complete: at once, for a state, for a state and a joint move."""
PHASES = {("true", 1): STATE, ("does", 2): MOVE}
DELTA = -1
"""The number under which a recursive clause finds what is new."""

Row: TypeAlias = tuple[int, ...]
Bindings: TypeAlias = list[Row]
Getter: TypeAlias = Callable[[Row], Any]
Step: TypeAlias = "Callable[[Model, Bindings], Bindings]"
K = TypeVar("K")
V = TypeVar("V")


class Made(dict[K, V]):
    """Values made when first asked for."""

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
        self.term: Made[int, Term] = Made(lambda number: to_term(self.actions[number]))

    def __missing__(self, key: tuple[Any, ...]) -> int:
        """A new term; its arguments are known already, so that nothing here recurs."""
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
        """The number of a ground term."""
        assert isinstance(term, Term)
        functor = self[term.functor,]
        return self[functor, *map(self.number, term.arguments)] if term.arguments else functor

    def split(self, number: int) -> tuple[tuple[int, int], Row]:
        """(functor, arity), and the arguments."""
        key = self.keys_of[number]
        return ((key[0], len(key) - 1), key[1:]) if len(key) > 1 else ((number, 0), ())


class Spec(NamedTuple):
    """How the rows of a relation are indexed; positions count first the columns, then what ``opened`` appends."""

    opened: tuple[tuple[int, int, int], ...]  # (position, functor, arity): a compound there, its arguments appended
    equal: tuple[tuple[int, int], ...]  # positions that must hold the same
    key: tuple[int, ...]
    out: tuple[int, ...]
    lossy: bool  # whether rows with the same key and the same out may differ


class Shape:
    """Fills indexes of one spec: a set of keys where nothing is to be read out, else lists of outs by key."""

    def __init__(self, spec: Spec, terms: Terms) -> None:
        self.spec, self.keys_of = spec, terms.keys_of
        self.key, self.out = _getter(spec.key), _row_getter(spec.out)

    def fill(self, index: Any, rows: Collection[Row]) -> None:
        for step in self.spec.opened:
            rows = self._open(rows, *step)
        for one, other in self.spec.equal:
            rows = [row for row in rows if row[one] == row[other]]
        if not self.spec.out:
            index.update(map(self.key, rows))
            return
        pairs = zip(map(self.key, rows), map(self.out, rows), strict=True)
        for key, out in set(pairs) if self.spec.lossy else pairs:
            index[key].append(out)

    def _open(self, rows: Collection[Row], position: int, functor: int, arity: int) -> list[Row]:
        keys = ((row, self.keys_of[row[position]]) for row in rows)
        return [row + key[1:] for row, key in keys if key[0] == functor and len(key) == arity + 1]


class Facts:
    """The rows of one relation and the indexes on them that were asked for."""

    __slots__ = ("indexes", "rows")

    def __init__(self, rows: set[Row]) -> None:
        self.rows = rows
        self.indexes: dict[Shape, Any] = {}

    def index(self, shape: Shape) -> Any:
        found = self.indexes.get(shape)
        if found is None:
            found = self.indexes[shape] = defaultdict(list) if shape.spec.out else set()
            shape.fill(found, self.rows)
        return found

    def add(self, rows: set[Row]) -> set[Row]:
        """Take in rows; returns those that are new."""
        fresh = rows - self.rows if self.rows else rows
        self.rows |= fresh
        for shape, index in self.indexes.items():
            shape.fill(index, fresh)
        return fresh


class Model(dict[int, Facts]):
    """What holds at one phase: relations that no clause of this phase can add to are the parent's."""

    def __init__(self, phase: int, symbols: Symbols, parent: Model | None = None) -> None:
        self.phase, self.symbols, self.parent = phase, symbols, parent
        self.done: set[int] = set()
        self.size = self.counted = 0

    def __missing__(self, relation: int) -> Facts:
        if self.parent is None:
            facts = Facts(set())
        elif self.symbols.last[relation] < self.phase:
            facts = self.parent[relation]
        else:
            facts = Facts(set(self.parent[relation].rows))
        self[relation] = facts
        return facts

    def extend(self, relation: int, rows: set[Row]) -> set[Row]:
        """Add rows; returns those that are new."""
        fresh = self[relation].add(rows)
        self.size += len(fresh)
        if self.size > MAX_FACTS:
            name = self.symbols.names[relation]
            raise BudgetError(f"more than {MAX_FACTS:,} facts follow in one state, the last ones for {name}")
        return fresh


def _getter(positions: Sequence[int]) -> Getter:
    """Reads one position as it is, several as a tuple."""
    return itemgetter(positions[0]) if len(positions) == 1 else _row_getter(positions)


def _row_getter(positions: Sequence[int]) -> Getter:
    """Reads positions as a tuple, also one or none."""
    if len(positions) > 1:
        return itemgetter(*positions)
    start = positions[0] if positions else 0
    return itemgetter(slice(start, start + len(positions)))


def _join(relation: int, shape: Shape, key: Getter, name: str) -> Step:
    """Each binding with each of its matching rows."""

    def step(model: Model, bindings: Bindings) -> Bindings:
        facts = model[relation]
        if not facts.rows:
            return []
        get = facts.index(shape).get
        if len(bindings) * len(facts.rows) > MAX_FACTS:
            return _limited((b + more for b in bindings for more in get(key(b), ())), name)
        return [b + more for b in bindings for more in get(key(b), ())]

    return step


def _limited(bindings: Iterator[Row], name: str) -> Bindings:
    found = list(islice(bindings, MAX_FACTS + 1))
    if len(found) > MAX_FACTS:
        raise BudgetError(f"more than {MAX_FACTS:,} ways to match one rule's body in one state, at {name}")
    return found


def _test(relation: int, shape: Shape | None, key: Getter, positive: bool) -> Step:
    """The bindings for which some row matches (or none does); without a shape the key is the row."""

    def step(model: Model, bindings: Bindings) -> Bindings:
        facts = model[relation]
        if not facts.rows:
            return [] if positive else bindings
        known = facts.rows if shape is None else facts.index(shape)
        if positive:
            return [b for b in bindings if key(b) in known]
        return [b for b in bindings if key(b) not in known]

    return step


def _compare(one: int, other: int, equal: bool) -> Step:
    """The bindings in which two positions hold the same (or not)."""
    if equal:
        return lambda _, bindings: [b for b in bindings if b[one] == b[other]]
    return lambda _, bindings: [b for b in bindings if b[one] != b[other]]


def _construct(terms: Terms, key: Getter) -> Step:
    """Appends the number of a compound term."""
    return lambda _, bindings: [b + (terms[key(b)],) for b in bindings]  # noqa: RUF005 - twice as fast


def _project(keep: Getter) -> Step:
    """Forgets what is not needed any more, and what is then the same."""
    return lambda _, bindings: list(set(map(keep, bindings)))


class Plan:
    """A clause as a chain of steps."""

    __slots__ = ("clause", "head", "relation", "start", "steps")

    def __init__(self, clause: Clause, relation: int, start: Row, steps: list[Step], head: Getter) -> None:
        self.clause, self.relation, self.start, self.steps, self.head = clause, relation, start, steps, head

    def run(self, model: Model) -> set[Row]:
        """The rows of the head for which the body holds."""
        bindings = [self.start]
        for step in self.steps:
            bindings = step(model, bindings)
            if not bindings:
                return set()
        return set(map(self.head, bindings))


class Atom(NamedTuple):
    """An atom as a relation's number and what stands at each position: a variable, a constant, or something opened."""

    relation: int
    flat: list[Variable | int | None]
    opened: tuple[tuple[int, int, int], ...]
    columns: int


class Symbols:
    """Numbers for terms and relations; ``last`` is the phase in which a relation is complete."""

    def __init__(self) -> None:
        self.terms = Terms()
        self.relations: dict[tuple[str, int] | tuple[str, int, int], int] = {}
        self.names: list[str] = []
        self.last: list[int] = []
        self.shapes: Made[Spec, Shape] = Made(lambda spec: Shape(spec, self.terms))
        self.atom: Made[Term, Atom] = Made(self._atom)

    def register(self, clause: Clause, phase: int) -> None:
        """Number the relations of a clause that is evaluated in some phase."""
        for literal in clause.body:
            self.relation(literal.atom)
        head = self.relation(clause.head)
        self.last[head] = max(self.last[head], phase)

    def relation(self, term: Term) -> int:
        """The number of an atom's relation; ``true`` with a known functor is a relation of its own."""
        inner = _inner(term)
        if inner is None:
            return self.numbered(term.relation)
        return self.numbered((term.functor, self.terms.constant(inner.functor), len(inner.arguments)), inner.functor)

    def numbered(self, key: tuple[str, int] | tuple[str, int, int], name: str = "") -> int:
        """The number of a relation: (name, arity), or for ``true`` with a known functor (true, functor, arity)."""
        if key not in self.relations:
            self.relations[key] = len(self.names)
            self.names.append(f"{shorten(name or key[0])}/{key[-1]}")
            self.last.append(PHASES.get(key if len(key) == 2 else ("true", 1), STATIC))
        return self.relations[key]

    def _atom(self, term: Term) -> Atom:
        relation = self.relation(term)
        todo = list((_inner(term) or term).arguments)
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
    """What stands inside ``true`` where it is not a variable."""
    if term.relation == ("true", 1) and isinstance(term.arguments[0], Term):
        return term.arguments[0]
    return None


class Planner:
    """Makes the plan of one clause: the order of its literals, then a chain of steps.

    ``model`` holds what is derived so far; the sizes of its relations guide the order.  ``delta`` is the literal that
    reads only what is new in a recursion.
    """

    def __init__(self, symbols: Symbols, model: Model, clause: Clause, delta: Literal | None = None) -> None:
        self.symbols, self.model, self.clause, self.delta = symbols, model, clause, delta
        self.start: list[int] = []
        self.steps: list[Step] = []
        self.layout: dict[Argument | int, int] = {}
        self.width = 0

    def plan(self) -> Plan:
        order = self._order()
        self._constants()
        for k, literal in enumerate(order):
            later = {v for other in order[k + 1 :] for v in variables(other.atom)} | set(variables(self.clause.head))
            self._literal(literal, later)
            if k + 1 < len(order) and any(_binds(other) for other in order[k + 1 :]):
                self._forget(later)
        head = self.clause.head
        positions = [self._position(argument) for argument in head.arguments]
        return Plan(self.clause, self.symbols.relation(head), tuple(self.start), self.steps, _row_getter(positions))

    def _order(self) -> list[Literal]:
        """Tests as soon as their variables are bound; atoms by how many rows they are thought to match."""
        waiting = list(self.clause.body)
        order: list[Literal] = []
        bound: set[Variable] = set()
        while waiting:
            chosen = min(waiting, key=lambda literal: self._cost(literal, bound))
            if not _binds(chosen) and not bound.issuperset(variables(chosen.atom)):
                raise GameRuleError(
                    f"unsafe: nothing binds the variables of {chosen}: {shorten(str(self.clause.rule))}"
                )
            waiting = [literal for literal in waiting if literal is not chosen]
            order.append(chosen)
            bound.update(variables(chosen.atom))
        if not bound.issuperset(variables(self.clause.head)):
            raise GameRuleError(f"unsafe: nothing binds the variables of the head: {shorten(str(self.clause.rule))}")
        return order

    def _cost(self, literal: Literal, bound: set[Variable]) -> float:
        if literal is self.delta:
            return -1.0
        if bound.issuperset(variables(literal.atom)):
            return 0.0
        if not _binds(literal):
            return float("inf")
        return self._rows(self.symbols.atom[literal.atom], bound)

    def _rows(self, atom: Atom, bound: set[Variable]) -> float:
        """A guess at how many rows match one binding."""
        facts = self.model[atom.relation]
        if self.symbols.last[atom.relation] == STATIC:
            keys = facts.index(self.symbols.shapes[self._spec(atom, bound, set())])
            return len(facts.rows) / max(1, len(keys))
        known = [value for value in atom.flat if value is not None]
        free = sum(isinstance(value, Variable) and value not in bound for value in known)
        rows = max(len(facts.rows), 1 if self.symbols.last[atom.relation] == MOVE else 3**atom.columns)
        return float(rows ** (free / len(known)))

    def _constants(self) -> None:
        """The binding to begin with holds every constant that a key or a new term needs."""
        found: list[int] = []
        for literal in self.clause.body:
            if literal.atom.functor == "distinct":
                found += self._parts(literal.atom)
            else:
                found += [value for value in self.symbols.atom[literal.atom].flat if isinstance(value, int)]
        found += self._parts(self.clause.head)
        self.start = list(dict.fromkeys(found))
        self.layout = {value: k for k, value in enumerate(self.start)}
        self.width = len(self.start)

    def _parts(self, term: Term) -> Iterator[int]:
        """The constants from which the arguments of a term are built."""
        for argument in term.arguments:
            if isinstance(argument, Variable):
                continue
            if any(variables(argument)):
                yield self.symbols.terms.constant(argument.functor)
                yield from self._parts(argument)
            else:
                yield self.symbols.terms.number(argument)

    def _position(self, argument: Argument) -> int:
        """Where the value of an argument stands in the bindings; a compound is built there first."""
        if isinstance(argument, Term) and not any(variables(argument)):
            return self.layout[self.symbols.terms.number(argument)]
        if isinstance(argument, Term) and argument not in self.layout:
            inner = [self._position(part) for part in argument.arguments]
            key = _row_getter([self.layout[self.symbols.terms.constant(argument.functor)], *inner])
            self.steps.append(_construct(self.symbols.terms, key))
            self._append(argument)
        return self.layout[argument]

    def _append(self, value: Argument) -> None:
        self.layout[value] = self.width
        self.width += 1

    def _literal(self, literal: Literal, later: set[Variable]) -> None:
        if literal.atom.functor == "distinct":
            one, other = (self._position(argument) for argument in literal.atom.arguments)
            self.steps.append(_compare(one, other, equal=not literal.positive))
            return
        atom = self.symbols.atom[literal.atom]
        spec = self._spec(atom, set(self.layout), later)
        relation = DELTA if literal is self.delta else atom.relation
        sources = [self.layout[atom.flat[k]] for k in spec.key]  # type: ignore[index]
        if spec.out:
            name = self.symbols.names[atom.relation]
            self.steps.append(_join(relation, self.symbols.shapes[spec], _getter(sources), name))
            for k in spec.out:
                self._append(atom.flat[k])  # type: ignore[arg-type]
        elif spec.key == tuple(range(atom.columns)):
            self.steps.append(_test(relation, None, _row_getter(sources), literal.positive))
        else:
            self.steps.append(_test(relation, self.symbols.shapes[spec], _getter(sources), literal.positive))

    @staticmethod
    def _spec(atom: Atom, bound: set[Any], later: set[Variable]) -> Spec:
        """What of an atom is looked up, what is compared, and what is read out because it is needed later."""
        first: dict[Variable, int] = {}
        key, equal = [], []
        for position, value in enumerate(atom.flat):
            if isinstance(value, int) or (value is not None and value in bound):
                key.append(position)
            elif value is not None and first.setdefault(value, position) != position:
                equal.append((first[value], position))
        out = [position for value, position in first.items() if value in later]
        return Spec(atom.opened, tuple(equal), tuple(key), tuple(out), 0 < len(out) < len(first))

    def _forget(self, later: set[Variable]) -> None:
        """Drop variables that nothing later needs, so that fewer bindings are joined."""
        first = len(self.start)
        kept = [v for v, k in self.layout.items() if k >= first and isinstance(v, Variable) and v in later]
        if len(kept) + first == self.width:
            return
        self.steps.append(_project(_row_getter([*range(first), *(self.layout[v] for v in kept)])))
        self.layout = {v: k for v, k in self.layout.items() if k < first}
        self.width = first
        for variable in kept:
            self._append(variable)


def _binds(literal: Literal) -> bool:
    return literal.positive and literal.atom.functor != "distinct"
