"""Plan how one clause answers queries of its head: the order of its literals, and a chain of steps.

The query comes first: the values of some arguments of the head, for many queries at once.  Each literal is then looked
up by the arguments that are bound at that point.  The order follows from the numbers of rows that literals were found
to match, and is chosen anew as more is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple, Protocol

from infoset.errors import GameRuleError, shorten
from infoset.gdl.checks import variables
from infoset.gdl.joins import (
    Atom,
    Bindings,
    Facts,
    Getter,
    Model,
    Row,
    Shape,
    Source,
    Spec,
    Step,
    Symbols,
    compare,
    construct,
    getter,
    join,
    project,
    row_getter,
    stored,
    test,
)
from infoset.gdl.syntax import Argument, Clause, Literal, Term, Variable

DERIVED = 0.5
"""The cost of a test that must be derived, in rows of a join: more than a look-up, less than a second row."""


class Library(Protocol):
    """The queries of a planner about the predicates of its clause; see ``tables.Program``."""

    symbols: Symbols

    def is_stored(self, literal: Literal) -> bool: ...
    def is_inner(self, literal: Literal, access: Any) -> bool: ...
    def rows(self, literal: Literal, bound: tuple[int, ...], model: Model, asker: Any) -> float: ...
    def access(self, literal: Literal, bound: tuple[int, ...], model: Model) -> Any: ...
    def inner(self, literal: Literal, bound: tuple[int, ...], access: Any) -> Any: ...


class Inner(NamedTuple):
    """A literal that depends on what is being derived: here the rest of the clause waits for more rows."""

    access: Any
    demand: Getter
    shape: Shape
    key: Getter


class Plan:
    """A clause as chains of steps, with an inner literal between each two."""

    __slots__ = ("chains", "clause", "constants", "enter", "head", "inner", "known")

    def __init__(self, clause: Clause, constants: Row, enter: Shape, known: Row) -> None:
        self.clause, self.constants, self.enter = clause, constants, enter
        self.known: Any = known[0] if len(known) == 1 else known
        self.head: Getter = row_getter(())
        self.chains: list[list[Step]] = []
        self.inner: list[Inner] = []

    def begin(self, keys: Collection[Row]) -> Bindings:
        """Return the bindings of the queries whose values match the head."""
        spec, start = self.enter.spec, self.constants
        if not (spec.opened or spec.equal or spec.key):
            out = self.enter.out
            return [start + out(key) for key in keys]
        found = Facts(set(keys)).index(self.enter)
        if not spec.out:
            return [start] if self.known in found else []
        return [start + more for more in found.get(self.known, ())]

    def follow(self, model: Model, bindings: Bindings, chain: int = 0) -> Bindings:
        """Return the bindings at the end of a chain."""
        for step in self.chains[chain]:
            if not bindings:
                break
            bindings = step(model, bindings)
        return bindings


class Planner:
    """The construction of the plan of one clause for one access to its head.

    ``model`` holds what is derived so far; the sizes of its relations determine the order.
    """

    def __init__(self, library: Library, model: Model, clause: Clause, access: Any) -> None:
        self.library, self.symbols, self.model = library, library.symbols, model
        self.clause, self.access = clause, access
        asked = Term("", tuple(clause.head.arguments[k] for k in access.bound))
        self.asked = self.symbols.flatten(-1, asked)
        self.constants: list[int] = []
        self.layout: dict[Argument | int, int] = {}
        self.width = 0

    def plan(self) -> Plan:
        order = self.order()
        self._constants()
        needed = [set(variables(self.clause.head))]
        for literal in reversed(order):
            needed.append(needed[-1] | set(variables(literal.atom)))
        needed.reverse()
        enter = self._spec(self.asked, set(self.layout), needed[0])
        head = self.clause.head
        known = tuple(self.asked.flat[k] for k in enter.key)
        plan = Plan(self.clause, tuple(self.constants), self.symbols.shapes[enter], known)  # type: ignore[arg-type]
        self.steps: list[Step] = []
        self.plan_so_far = plan
        for k in enter.out:
            self._append(self.asked.flat[k])  # type: ignore[arg-type]
        for k, literal in enumerate(order):
            self._literal(literal, needed[k + 1])
            if any(_binds(other) for other in order[k + 1 :]):
                self._forget(needed[k + 1])
        positions = [self._position(argument) for argument in head.arguments]
        plan.chains.append(self.steps)
        plan.head = row_getter(positions)
        return plan

    def order(self) -> list[Literal]:
        """Return the literals in order: tests as soon as their variables are bound, atoms by their estimated rows."""
        check_safe(self.clause)
        waiting = list(self.clause.body)
        order: list[Literal] = []
        bound = {value for value in self.asked.flat if isinstance(value, Variable)}
        while waiting:
            chosen = min(waiting, key=lambda literal: self._cost(literal, bound, order))
            waiting = [literal for literal in waiting if literal is not chosen]
            order.append(chosen)
            bound.update(variables(chosen.atom))
        return order

    def _cost(self, literal: Literal, bound: set[Variable], order: Sequence[Literal]) -> float:
        """Return the estimated number of rows of a literal; a whole access begins with its inner literal."""
        inner = literal.positive and self.library.is_inner(literal, self.access)
        if inner and not self.access.bound and not order:
            return -1.0
        if bound.issuperset(variables(literal.atom)):
            return 0.0 if self.library.is_stored(literal) else DERIVED
        if not _binds(literal):
            return inf
        known = bound_positions(self.symbols.atom[literal.atom], bound)
        return self.library.rows(literal, known, self.model, self.access)

    def _constants(self) -> None:
        """Collect every constant that a key or a new term needs into the initial binding."""
        found = [value for value in self.asked.flat if isinstance(value, int)]
        for literal in self.clause.body:
            if literal.atom.functor == "distinct":
                found += self._parts(literal.atom)
            else:
                found += [value for value in self.symbols.atom[literal.atom].flat if isinstance(value, int)]
        found += self._parts(self.clause.head)
        self.constants = list(dict.fromkeys(found))
        self.layout = {value: k for k, value in enumerate(self.constants)}
        self.width = len(self.constants)

    def _parts(self, term: Term) -> Iterator[int]:
        """Yield the constants from which the arguments of a term are built."""
        for argument in term.arguments:
            if isinstance(argument, Variable):
                continue
            if any(variables(argument)):
                yield self.symbols.terms.constant(argument.functor)
                yield from self._parts(argument)
            else:
                yield self.symbols.terms.number(argument)

    def _position(self, argument: Argument) -> int:
        """Return the position of an argument's value in the bindings; a compound is built there first."""
        if isinstance(argument, Term) and not any(variables(argument)):
            return self.layout[self.symbols.terms.number(argument)]
        if isinstance(argument, Term) and argument not in self.layout:
            inner = [self._position(part) for part in argument.arguments]
            key = row_getter([self.layout[self.symbols.terms.constant(argument.functor)], *inner])
            self.steps.append(construct(self.symbols.terms, key))
            self._append(argument)
        return self.layout[argument]

    def _append(self, value: Argument) -> None:
        self.layout[value] = self.width
        self.width += 1

    def _literal(self, literal: Literal, later: set[Variable]) -> None:
        if literal.atom.functor == "distinct":
            one, other = (self._position(argument) for argument in literal.atom.arguments)
            self.steps.append(compare(one, other, equal=not literal.positive))
            return
        atom = self.symbols.atom[literal.atom]
        spec = self._spec(atom, set(self.layout), later)
        sources = [self.layout[atom.flat[k]] for k in spec.key]  # type: ignore[index]
        if self.library.is_stored(literal):
            self._look_up(literal, atom, spec, sources, stored(atom.relation))
            return
        plain = tuple(k for k in spec.key if k < atom.columns)
        inner = self.library.is_inner(literal, self.access)
        if inner:
            access = self.library.inner(literal, plain, self.access)
        else:
            access = self.library.access(literal, plain, self.model)
        demand = row_getter([self.layout[atom.flat[k]] for k in access.bound])
        if not inner:
            self._look_up(literal, atom, spec, sources, access.answers(demand))
            return
        self.plan_so_far.chains.append(self.steps)
        self.plan_so_far.inner.append(Inner(access, demand, self.symbols.shapes[spec], getter(sources)))
        self.steps = []
        self._read(atom, spec)

    def _look_up(self, literal: Literal, atom: Atom, spec: Spec, sources: list[int], source: Source) -> None:
        if spec.out:
            name = self.symbols.names[atom.relation]
            self.steps.append(join(source, self.symbols.shapes[spec], getter(sources), name))
            self._read(atom, spec)
        elif spec.key == tuple(range(atom.columns)):
            self.steps.append(test(source, None, row_getter(sources), literal.positive))
        else:
            self.steps.append(test(source, self.symbols.shapes[spec], getter(sources), literal.positive))

    def _read(self, atom: Atom, spec: Spec) -> None:
        for k in spec.out:
            self._append(atom.flat[k])  # type: ignore[arg-type]

    @staticmethod
    def _spec(atom: Atom, bound: set[Any], later: set[Variable]) -> Spec:
        """Return how to read an atom: positions looked up, positions compared, and positions needed later."""
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
        """Drop variables that are not needed later, so that fewer bindings are joined."""
        first = len(self.constants)
        later_variables = [v for v, k in self.layout.items() if k >= first and isinstance(v, Variable) and v in later]
        if len(later_variables) + first == self.width:
            return
        self.steps.append(project(row_getter([*range(first), *(self.layout[v] for v in later_variables)])))
        self.layout = {v: k for v, k in self.layout.items() if k < first}
        self.width = first
        for variable in later_variables:
            self._append(variable)


def bound_positions(atom: Atom, bound: Collection[Any]) -> tuple[int, ...]:
    """Return the positions of an atom, including opened ones, at which the value is known."""
    return tuple(k for k, value in enumerate(atom.flat) if isinstance(value, int) or value in bound)


def check_safe(clause: Clause) -> None:
    """Raise ``GameRuleError`` where a variable occurs in no positive atom of the body."""
    bound = {v for literal in clause.body if _binds(literal) for v in variables(literal.atom)}
    rule = shorten(str(clause.rule))
    for literal in clause.body:
        if not _binds(literal) and not bound.issuperset(variables(literal.atom)):
            raise GameRuleError(f"unsafe: variables are not bound in {literal}: {rule}")
    if not bound.issuperset(variables(clause.head)):
        raise GameRuleError(f"unsafe: variables of the head are not bound: {rule}")


def _binds(literal: Literal) -> bool:
    return literal.positive and literal.atom.functor != "distinct"
