"""Evaluate a game description top-down with memoised results: a table for each access to a predicate.

A *predicate* is a relation as one literal queries it: the clauses whose heads it may match.  An *access* is a predicate
with some of its arguments bound.  Many queries (keys) are answered at once, and in each model every key is derived
once.  Predicates that depend on each other form a *knot*, whose tables rise together to their least fixpoint: a clause
that waits for rows of the knot goes on with every new one (tabled resolution, set by set).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

from infoset.errors import BudgetError, ClockError, GameRuleError
from infoset.gdl.checks import Relation, may_unify, variables
from infoset.gdl.components import components
from infoset.gdl.joins import (
    STATIC,
    Bindings,
    Facts,
    Getter,
    LazyDict,
    Model,
    Row,
    Source,
    Spec,
    Symbols,
    Table,
    row_getter,
)
from infoset.gdl.plans import Plan, Planner, bound_positions
from infoset.gdl.syntax import Clause, Literal, Term, Variable, placed

MOST_AT_ONCE = 30_000
"""A predicate that no state changes is derived for all arguments if it has at most this many rows."""
FEW = 500
"""A predicate is derived for all arguments, too, if at most this many matches of its clauses are estimated."""
GUESS = 3.0
"""The estimated number of values of an unbound argument, where nothing is known."""
REPLAN = 4
"""Plans are renewed at every run whose number is a power of this, up to ``LAST_PLAN``."""
LAST_PLAN = 5000
MAX_CACHED_ROWS = 300_000
"""The greatest number of derived rows kept that no state changes."""
QUESTION = 100
"""The cost of a query of a table, in rows looked up."""
DEEP = 25
"""The longest chain of predicates that query each other; in a longer one, some are derived bottom-up before."""


T = TypeVar("T")


class PlacedBudgetError(BudgetError):
    """The budget ran out in a clause that the message names."""


class PlacedClockError(PlacedBudgetError, ClockError):
    """The clock ran out in a clause that the message names."""


class Predicate:
    """A relation as one literal queries it, and what is known of its sizes."""

    def __init__(self, program: Program, relation: int, clauses: list[Clause]) -> None:
        self.program, self.relation, self.clauses = program, relation, clauses
        self.phase, self.knot, self.height, self.recursive = program.symbols.stored[relation], -1, 0, False
        self.refused = False  # whether it is too large to be derived for all arguments
        self.accesses: LazyDict[tuple[int, ...], Access] = LazyDict(lambda bound: Access(self, bound))
        self.needs: list[tuple[Clause, Literal, Predicate]] = []

    def all_rows(self, base: Model) -> Facts | None:
        """Return every row of a predicate that no state changes; ``None`` where there are too many."""
        table = base.tables.get(self.accesses[()])
        if table is not None and table.asked:
            return table.facts
        if self.refused:
            return None
        watch = base.watch
        before, watch.most = watch.most, min(watch.most, base.size + MOST_AT_ONCE)
        try:
            return self.accesses[()].ask(base, {()})
        except BudgetError:
            watch.clock(0)
            self.refused = True
            return None
        finally:
            watch.most = before


class Access:
    """A predicate queried with the arguments at some positions bound."""

    def __init__(self, predicate: Predicate, bound: tuple[int, ...]) -> None:
        self.predicate, self.bound = predicate, bound
        self.program, self.phase = predicate.program, predicate.phase
        self.plans: list[Plan] = []
        self.runs, self.due = 0, 1
        self.keys = self.rows = 0  # keys asked and rows found so far, in all models

    def answers(self, demand: Getter) -> Source:
        """Return a source of the rows that match the keys of some bindings, and perhaps of more rows."""
        phase, whole, ask = self.phase, self.predicate.accesses[()], self.ask

        def source(model: Model, bindings: Bindings) -> Facts:
            home = model if phase == model.phase else model.below[phase]
            table = home.tables.get(whole)
            if table is not None and table.asked:
                return table.facts
            table = home.tables.get(self)
            keys = set(map(demand, bindings))
            if table is not None:
                keys -= table.asked
                if not keys:
                    return table.facts
            return ask(home, keys)

        return source

    def ask(self, home: Model, keys: set[Row]) -> Facts:
        """Derive the rows for new keys.  Unfinished tables are dropped when an error ends it."""
        home.watch.clock(QUESTION + len(keys))
        table = home.tables.get(self)
        if table is None:
            table = home.tables[self] = Table()
        before = len(table.facts.rows)
        try:
            if self.predicate.recursive:
                _Fixpoint(home).run(self, keys)
            else:
                table.asked |= keys
                for plan in self.planned(home):
                    self.program.named(plan, self._answer, plan, home, table, keys)
                self.take_stored(home, table, keys)
        except BaseException:
            for other in [other for other in home.tables if other.predicate.knot == self.predicate.knot]:
                home.size -= len(home.tables.pop(other).facts.rows)
            raise
        self.keys += len(keys)
        self.rows += len(table.facts.rows) - before
        home.size += len(keys)
        return table.facts

    def _answer(self, plan: Plan, home: Model, table: Table, keys: set[Row]) -> None:
        bindings = plan.follow(home, plan.begin(keys))
        if bindings:
            home.extend(table.facts, set(map(plan.head, bindings)), self.predicate.relation)

    def take_stored(self, home: Model, table: Table, keys: set[Row]) -> set[Row]:
        """Add the stored facts of the relation that match new keys, and return those that are new."""
        facts = home[self.predicate.relation]
        if not facts.rows:
            return set()
        if self.bound:
            every = tuple(range(len(next(iter(facts.rows)))))
            index = facts.index(self.program.symbols.shapes[Spec((), (), self.bound, every, False)])
            single = len(self.bound) == 1
            rows = {row for key in keys for row in index.get(key[0] if single else key, ())}
        else:
            rows = facts.rows
        return home.extend(table.facts, rows, self.predicate.relation) if rows else set()

    def planned(self, home: Model) -> list[Plan]:
        """Return the plans of the clauses, renewed now and then as more is known."""
        self.runs += 1
        if self.runs >= self.due:
            self.due = self.due * REPLAN if self.due < LAST_PLAN else 1 << 62
            self.plans = [Planner(self.program, home, clause, self).plan() for clause in self.predicate.clauses]
        return self.plans


class _Fixpoint:
    """The tables of one knot in one model, raised together.

    A binding that has reached an inner literal waits there for every row that may still be found.
    """

    def __init__(self, home: Model) -> None:
        self.home = home
        self.asked: dict[Access, set[Row]] = {}
        self.found: dict[Access, set[Row]] = {}
        self.plans: dict[Access, list[Plan]] = {}
        self.waiting: dict[tuple[Plan, int], dict[Any, Bindings]] = {}
        self.readers: dict[Access, dict[tuple[Plan, int], Access]] = defaultdict(dict)

    def run(self, access: Access, keys: set[Row]) -> None:
        self.asked[access] = keys
        while self.found or self.asked:
            self.home.watch.clock(QUESTION)
            if self.asked:
                self._begin(*self.asked.popitem())
            else:
                first = next(iter(self.found))
                self._tell(first, self.found.pop(first))

    def _table(self, access: Access) -> Table:
        table = self.home.tables.get(access)
        if table is None:
            table = self.home.tables[access] = Table()
        return table

    def _begin(self, access: Access, keys: set[Row]) -> None:
        """Query the clauses for new keys."""
        table = self._table(access)
        keys = keys - table.asked
        if not keys:
            return
        table.asked |= keys
        if access not in self.plans:
            self.plans[access] = access.planned(self.home)
        self._note(access, access.take_stored(self.home, table, keys))
        for plan in self.plans[access]:
            self._follow(access, plan, 0, plan.begin(keys))

    def _follow(self, access: Access, plan: Plan, chain: int, bindings: Bindings) -> None:
        """Take bindings through the rest of a clause."""
        while bindings:
            bindings = access.program.named(plan, plan.follow, self.home, bindings, chain)
            if chain == len(plan.inner):
                access.program.named(plan, self._answer, access, set(map(plan.head, bindings)))
                return
            bindings = self._wait(access, plan, chain, bindings)
            chain += 1

    def _answer(self, access: Access, rows: set[Row]) -> None:
        self._note(access, self.home.extend(self._table(access).facts, rows, access.predicate.relation))

    def _note(self, access: Access, rows: set[Row]) -> None:
        if rows:
            self.found[access] = self.found[access] | rows if access in self.found else rows

    def _wait(self, access: Access, plan: Plan, chain: int, bindings: Bindings) -> Bindings:
        """Let bindings wait at an inner literal; return their continuations with the rows that are there."""
        inner = plan.inner[chain]
        table = self._table(inner.access)
        keys = set(map(inner.demand, bindings)) - table.asked
        if keys:
            before = self.asked.get(inner.access)
            self.asked[inner.access] = keys | before if before else keys
        self.readers[inner.access][plan, chain] = access
        waiting = self.waiting.setdefault((plan, chain), {})
        for binding in bindings:
            waiting.setdefault(inner.key(binding), []).append(binding)
        if not table.facts.rows:
            return []
        index, key = table.facts.index(inner.shape), inner.key
        if inner.shape.spec.out:
            return [b + more for b in bindings for more in index.get(key(b), ())]
        return [b for b in bindings if key(b) in index]

    def _tell(self, access: Access, rows: set[Row]) -> None:
        """Continue everything that waits for rows of an access with new rows."""
        news = Facts(rows)
        for (plan, chain), reader in list(self.readers[access].items()):
            inner, waiting = plan.inner[chain], self.waiting[plan, chain]
            index = news.index(inner.shape)
            if inner.shape.spec.out:
                bindings = [b + more for key, outs in index.items() for b in waiting.get(key, ()) for more in outs]
            else:
                bindings = [b for key in index for b in waiting.get(key, ())]
            self._follow(reader, plan, chain + 1, bindings)


class Program:
    """The clauses of a description as predicates, each with the predicates that it needs."""

    def __init__(self, rules: list[Clause], symbols: Symbols, file: str, roots: tuple[Relation, ...]) -> None:
        self.symbols, self.file = symbols, file
        self.heads: dict[Relation, list[Clause]] = defaultdict(list)
        for clause in rules:
            self.heads[clause.head.relation].append(clause)
        self.predicates: dict[tuple[int, ...], Predicate] = {}
        self.by_atom: LazyDict[Term, Predicate] = LazyDict(self._predicate)
        self.root = {name: self.by_atom[_anything(name)] for name in roots}
        self._link()
        self._sort()
        self.first = {p: [deep for deep in self.deep if deep in self._below(p)] for p in self.root.values()}

    def _predicate(self, atom: Term) -> Predicate:
        found = [clause for clause in self.heads[atom.relation] if may_unify(clause.head, atom)]
        relation = self.symbols.relation(atom)
        key = (relation, *map(id, found))
        if key not in self.predicates:
            self.predicates[key] = Predicate(self, relation, found)
        return self.predicates[key]

    def _link(self) -> None:
        """Find all predicates that the roots need."""
        todo = list(dict.fromkeys(self.root.values()))
        seen = set(todo)
        while todo:
            predicate = todo.pop()
            for clause in predicate.clauses:
                for literal in clause.body:
                    if literal.atom.functor != "distinct":
                        below = self.by_atom[literal.atom]
                        predicate.needs.append((clause, literal, below))
                        if below not in seen:
                            seen.add(below)
                            todo.append(below)
        self.reached = seen

    def _sort(self) -> None:
        """Find the knots, the phase of each predicate, and the length of the longest chain of predicates that it needs.

        Raises ``GameRuleError`` where a predicate needs its own negation.
        """
        graph = {p: list(dict.fromkeys(below for _, _, below in p.needs)) for p in self.predicates.values()}
        self.deep: list[Predicate] = []
        for number, members in enumerate(components(graph)):
            for predicate in members:
                predicate.knot = number
                predicate.recursive = len(members) > 1 or predicate in graph[predicate]
            below = {b for p in members for b in graph[p]} - set(members)
            phase = max([p.phase for p in members] + [b.phase for b in below])
            height = 1 + max((b.height for b in below), default=0)
            for predicate in members:
                predicate.phase, predicate.height = phase, height
                self._check_stratified(predicate)
            if height % DEEP == 0:
                self.deep += members

    def _check_stratified(self, predicate: Predicate) -> None:
        for clause, literal, below in predicate.needs:
            if not literal.positive and below.knot == predicate.knot:
                where, rule = placed(self.file, clause.rule)
                raise GameRuleError(f"{where}: not stratified: {literal} depends on itself: {rule}")

    def named(self, plan: Plan, work: Callable[..., T], *args: Any) -> T:
        """Do some work for a clause; a ``BudgetError`` then names the clause's rule and place."""
        try:
            return work(*args)
        except PlacedBudgetError:
            raise
        except BudgetError as error:
            where, rule = placed(self.file, plan.clause.rule)
            kind = PlacedClockError if isinstance(error, ClockError) else PlacedBudgetError
            raise kind(f"{where}: {error}: {rule}") from None

    def rows_of(self, question: Relation, model: Model) -> set[Row]:
        """Return every row of a root; in a long chain of predicates, some of them are derived before."""
        root = self.root[question]
        for predicate in self.first[root]:
            predicate.accesses[()].answers(row_getter(()))(model, [()])
        return root.accesses[()].answers(row_getter(()))(model, [()]).rows

    def _below(self, root: Predicate) -> set[Predicate]:
        """Return all predicates that a predicate needs, and itself."""
        seen, todo = {root}, [root]
        while todo:
            fresh = {below for _, _, below in todo.pop().needs} - seen
            seen |= fresh
            todo += fresh
        return seen

    def tidy(self, base: Model) -> None:
        """Drop tables of predicates that no state changes, if they have become large."""
        if base.size > MAX_CACHED_ROWS:
            for access in [access for access in base.tables if access.bound]:
                del base.tables[access]
            base.size = sum(len(table.facts.rows) for table in base.tables.values())

    def is_stored(self, literal: Literal) -> bool:
        """Return whether no clause defines a literal's predicate."""
        return literal.atom.functor == "distinct" or not self.by_atom[literal.atom].clauses

    def is_inner(self, literal: Literal, access: Access) -> bool:
        """Return whether a literal of a clause of ``access`` depends on what is being derived."""
        if literal.atom.functor == "distinct":
            return False
        predicate = self.by_atom[literal.atom]
        return predicate.recursive and predicate.knot == access.predicate.knot

    def whole(self, literal: Literal) -> Access:
        """Return the access with nothing bound."""
        return self.by_atom[literal.atom].accesses[()]

    def access(self, literal: Literal, bound: tuple[int, ...], model: Model) -> Access:
        """Return the access for a literal that is not inner: with its bound arguments, or whole where that is cheap."""
        predicate = self.by_atom[literal.atom]
        if predicate.phase == STATIC:
            whole = predicate.all_rows(model.at(STATIC)) is not None
        else:
            whole = self._is_small(predicate, model)
        return predicate.accesses[() if whole else bound]

    def inner(self, literal: Literal, bound: tuple[int, ...], access: Access) -> Access:
        """Return the access for an inner literal: with nothing bound where the outer access has nothing bound."""
        return self.by_atom[literal.atom].accesses[bound if access.bound else ()]

    def _is_small(self, predicate: Predicate, model: Model) -> bool:
        """Return whether all rows of a predicate are estimated to take few steps, from stored facts alone."""
        if predicate.recursive or any(below.clauses and below.phase > STATIC for _, _, below in predicate.needs):
            return False
        access, total = predicate.accesses[()], 0.0
        for clause in predicate.clauses:
            ways, bound = 1.0, set[Variable]()
            for literal in Planner(self, model, clause, access).order():
                names = set(variables(literal.atom))
                if not names <= bound:
                    ways *= self.rows(literal, bound_positions(self.symbols.atom[literal.atom], bound), model, access)
                    bound |= names
                total += ways
        return total <= FEW

    def rows(self, literal: Literal, bound: tuple[int, ...], model: Model, asker: Access) -> float:
        """Return the estimated number of rows of one key."""
        predicate, atom = self.by_atom[literal.atom], self.symbols.atom[literal.atom]
        facts: Facts | None = None
        if not predicate.clauses:
            facts = model[predicate.relation]
        elif predicate.phase == STATIC and not self.is_inner(literal, asker):
            facts = predicate.all_rows(model.at(STATIC))
        if facts is not None:
            keys = facts.index(self.symbols.shapes[Spec(atom.opened, (), bound, (), False)])
            return (len(facts.rows) + 0.5) / max(1, len(keys))
        plain = tuple(k for k in bound if k < atom.columns)
        access = predicate.accesses.get(plain)
        if access is not None and access.keys:
            return access.rows / access.keys
        return float(GUESS ** (atom.columns - len(plain)))


def _anything(name: Relation) -> Term:
    """Return an atom of a relation whose arguments are all different variables."""
    return Term(name[0], tuple(Variable(f"?{k}") for k in range(name[1])))
