"""Evaluate a game description state by state, for games whose grounding is too large.

Only what a query needs is derived, top-down, and kept (see ``tables``): results that depend on neither state nor move
for good, results that depend on the state with the state, the rest for one joint move.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from threading import RLock, local
from typing import Generic, Protocol, TypeAlias, TypeVar

from infoset.base import Action
from infoset.errors import GameRuleError
from infoset.gdl.checks import Relation, goal_value, may_unify, variables
from infoset.gdl.joins import MOVE, PHASES, STATE, STATIC, Facts, LazyDict, Model, Row, Symbols, endless
from infoset.gdl.syntax import Clause, Description, Term, clauses, to_term
from infoset.gdl.tables import Program

MAX_MODEL_FACTS = 50_000
"""The most facts in the fully derived states that are kept for another query or another move."""

UNREAD = -2
"""A substitute for a relation number: facts of the state that no clause queries by their functor."""
INIT, LEGAL, GOAL, TERMINAL, NEXT, SEES = ANSWERS = (
    ("init", 1),
    ("legal", 2),
    ("goal", 2),
    ("terminal", 0),
    ("next", 1),
    ("sees", 2),
)
TRUE, DOES = PHASES

State: TypeAlias = frozenset[int]
Percepts: TypeAlias = tuple[tuple[Action, ...], ...]


class _Sized(Protocol):
    size: int
    counted: int


Key = TypeVar("Key", bound=Hashable)
CachedValue = TypeVar("CachedValue", bound=_Sized)


class _Memo(Generic[Key, CachedValue]):
    """A cache of recent results, limited by their number of facts."""

    def __init__(self, limit: int, make: Callable[[Key], CachedValue]) -> None:
        self.limit, self.make, self.total = limit, make, 0
        self.cache: OrderedDict[Key, CachedValue] = OrderedDict()

    def __getitem__(self, key: Key) -> CachedValue:
        """Return the value kept for a key, or a new one; ``settle`` counts it."""
        value = self.cache.get(key)
        if value is None:
            value = self.cache[key] = self.make(key)
        else:
            self.cache.move_to_end(key)
        return value

    def settle(self, value: CachedValue) -> None:
        """Count the value fetched last, which may have grown; the oldest ones make room."""
        self.total += value.size - value.counted
        value.counted = value.size
        while self.total > self.limit and len(self.cache) > 1:
            _, old = self.cache.popitem(last=False)
            self.total -= old.counted


class _Answers:
    """The results of queries about one state."""

    __slots__ = ("counted", "goals", "legal", "size", "terminal")

    def __init__(self, state: State) -> None:
        self.size, self.counted = 1 + len(state), 0
        self.terminal: bool | None = None
        self.legal: tuple[tuple[Action, ...], ...] | None = None
        self.goals: tuple[tuple[int, ...], ...] | None = None


class _Outcome:
    """A state, and each role's percepts of the step that led there."""

    __slots__ = ("counted", "percepts", "size", "state")

    def __init__(self, state: State, percepts: Percepts) -> None:
        self.size, self.counted = 1 + len(state) + sum(map(len, percepts)), 0
        self.state, self.percepts = state, percepts


class _Own(local):
    """Data that each thread has for itself."""

    clock: Callable[[int], None] = staticmethod(endless)


class LazyEvaluator:
    """An evaluator of the states of a game, with results derived on request and cached.

    A state is the set of the numbers of its facts, which are valid only in the evaluator that assigned them.  ``memo``
    bounds the facts, moves and percepts in cached results.  Raises ``BudgetError`` where terms grow without end or one
    state has too many facts, and ``GameRuleError`` for rules that ``checks.check`` reports as errors; an unsafe rule is
    reported only when it is first needed.  Several threads may query it at once; their queries run one at a time.
    """

    def __init__(self, description: Description, memo: int = 1_000_000) -> None:
        rules = clauses(description)
        self._symbols = Symbols()
        self._terms = self._symbols.terms
        roles = dict.fromkeys(clause.head.arguments[0] for clause in rules if clause.head.relation == ("role", 1))
        self.roles = tuple(map(str, roles))
        self._role_numbers = [self._terms.number(role) for role in roles]
        self._goal_heads = [clause.head for clause in rules if clause.head.relation == GOAL]
        self._rank = LazyDict(self._first_clause)
        self._move_numbers: LazyDict[Action, int] = LazyDict(lambda move: self._terms.number(to_term(move)))
        self._places = LazyDict(self._place)
        self._number = {relation: self._symbols.numbered(relation) for relation in (*ANSWERS, TRUE, DOES)}
        self._base = Model(STATIC, self._symbols)
        self._prepare(rules, description.file)
        self._answers: _Memo[State, _Answers] = _Memo(memo // 2, _Answers)
        self._outcomes: _Memo[tuple[State, tuple[Action, ...]], _Outcome] = _Memo(memo // 2, self._outcome)
        self._models: _Memo[State, Model] = _Memo(MAX_MODEL_FACTS, self._load)
        self._last: tuple[State, dict[int, Facts]] = frozenset(), {}
        self._lock = RLock()
        self._own = _Own()

    @contextmanager
    def until(self, clock: Callable[[int], None]) -> Iterator[None]:
        """Return a context in which this thread's queries check a clock, also in the middle of a long join.

        ``clock`` (see ``infoset.clock.Clock``) is called often, with the work done since the last call in rows looked
        up, and raises ``ClockError`` when there is no more time; its message then names the rule that was being
        applied.  What was derived by then is kept.

        >>> from infoset.gdl.lazy import LazyEvaluator
        >>> from infoset.gdl.library import description
        >>> from infoset.clock import Clock
        >>> game = LazyEvaluator(description("connect_four"))
        >>> with game.until(Clock(0.0)):
        ...     game.legal_actions(game.start(), 0)
        Traceback (most recent call last):
        infoset.errors.ClockError: the time limit was reached
        """
        before, self._own.clock = self._own.clock, clock
        try:
            yield
        finally:
            self._own.clock = before

    def _prepare(self, rules: list[Clause], file: str) -> None:
        """Store the facts, and build the program for the rules."""
        ruled = [clause for clause in rules if clause.body or any(variables(clause.head))]
        for fact in (clause.head for clause in rules if not clause.body and not any(variables(clause.head))):
            self._base[self._symbols.relation(fact)].add({tuple(map(self._terms.number, fact.arguments))})
        self._program = Program(ruled, self._symbols, file, ANSWERS)
        self._reads_all = any(p.relation == self._number[TRUE] for p in self._program.reached)
        for relation in (INIT, LEGAL, GOAL, TERMINAL):
            if self._program.root[relation].phase == MOVE:
                raise GameRuleError(f"{relation[0]} must not depend on does")

    def start(self) -> State:
        """Return the initial state."""
        with self._lock:
            return frozenset(chain.from_iterable(self._asked(frozenset(), INIT)))

    def facts(self, state: State) -> frozenset[Term]:
        """Return a state as ground terms."""
        return frozenset(self._terms.term[number] for number in state)

    def state(self, facts: frozenset[Term]) -> State:
        """Return the state in which these facts hold: the inverse of ``facts``."""
        return frozenset(map(self._terms.number, facts))

    def terminal(self, state: State) -> bool:
        """Return whether the game is over."""
        with self._lock:
            answers = self._answers[state]
            if answers.terminal is None:
                answers.terminal = bool(self._asked(state, TERMINAL))
                self._answers.settle(answers)
            return answers.terminal

    def legal_actions(self, state: State, role: int) -> tuple[Action, ...]:
        """Return the distinct legal moves of a role, sorted by their text."""
        with self._lock:
            answers = self._answers[state]
            if answers.legal is None:
                rows = self._asked(state, LEGAL)
                answers.legal = self._by_role(rows)
                answers.size += len(rows)
                self._answers.settle(answers)
            return answers.legal[role]

    def goals(self, state: State, role: int) -> tuple[int, ...]:
        """Return the values of a role's goals that hold, in the order of the rules that may give them."""
        with self._lock:
            answers = self._answers[state]
            if answers.goals is None:
                rows = sorted(filter(self._is_number, self._asked(state, GOAL)), key=self._rank.__getitem__)
                found = [[self._rank[row][1] for row in rows if row[0] == number] for number in self._role_numbers]
                answers.goals = tuple(tuple(dict.fromkeys(values)) for values in found)
                self._answers.settle(answers)
            return answers.goals[role]

    def step(self, state: State, moves: Sequence[Action]) -> tuple[State, Percepts]:
        """Return the state after a joint move and each role's percepts, sorted by text; legality is not checked."""
        with self._lock:
            outcome = self._outcomes[state, tuple(moves)]
            self._outcomes.settle(outcome)
            return outcome.state, outcome.percepts

    def _outcome(self, position: tuple[State, tuple[Action, ...]]) -> _Outcome:
        """Derive the state after a joint move and the percepts, all from the state before the move."""
        state, moves = position
        before = self._models[state]
        model = Model(MOVE, self._symbols, parent=before)
        does = zip(self._role_numbers, map(self._move_numbers.__getitem__, moves), strict=True)
        model[self._number[DOES]] = Facts(set(does))
        try:
            after = frozenset(chain.from_iterable(self._rows(model, NEXT)))
            return _Outcome(after, self._by_role(self._rows(model, SEES)))
        finally:
            self._models.settle(before)

    def _asked(self, state: State, question: Relation) -> set[Row]:
        """Return the rows of a query about a state."""
        model = self._models[state]
        try:
            return self._rows(model, question)
        finally:
            self._models.settle(model)

    def _rows(self, model: Model, question: Relation) -> set[Row]:
        """Return every row of a query."""
        self._symbols.watch.clock = self._own.clock
        self._program.tidy(self._base)
        return self._program.rows_of(question, model)

    def _load(self, state: State) -> Model:
        """Return the model of a state, made from that of the last state where they share most facts."""
        model = Model(STATE, self._symbols, parent=self._base)
        last, stored = self._last
        lost_facts, new = last - state, state - last
        if len(lost_facts) + len(new) < len(state):
            lost, won = self._split(lost_facts), self._split(new)
            facts = stored | {r: stored[r].changed(lost.get(r, set()), set()) for r in lost.keys() - won.keys()}
            facts |= {r: stored.get(r, Facts(set())).changed(lost.get(r, set()), won[r]) for r in won}
        else:
            facts = {relation: Facts(rows) for relation, rows in self._split(state).items()}
        self._last = state, facts
        model.update(facts)
        model.size += len(state)
        return model

    def _split(self, facts: Iterable[int]) -> dict[int, set[Row]]:
        """Return the facts of a state by the relations to which they belong."""
        rows: dict[int, set[Row]] = defaultdict(set)
        every = self._number[TRUE]
        for fact in facts:
            relation, row = self._places[fact]
            rows[relation].add(row)
            if self._reads_all:
                rows[every].add((fact,))
        return rows

    def _place(self, fact: int) -> tuple[int, Row]:
        """Return the relation to which a fact of the state belongs, and its row there."""
        (functor, arity), row = self._terms.split(fact)
        return self._symbols.relations.get(("true", functor, arity), UNREAD), row

    def _by_role(self, rows: Iterable[Row]) -> tuple[tuple[Action, ...], ...]:
        found: dict[int, list[int]] = defaultdict(list)
        for role, number in rows:
            found[role].append(number)
        texts, actions = self._terms.texts, self._terms.actions
        action_sets = [sorted(found[role], key=texts.__getitem__) for role in self._role_numbers]
        return tuple(tuple(map(actions.__getitem__, action_set)) for action_set in action_sets)

    def _first_clause(self, row: Row) -> tuple[int, int]:
        """Return a goal's rank in the order of goals: the first rule that may give it, then its value."""
        atom = Term("goal", tuple(self._terms.term[number] for number in row))
        first = next(k for k, head in enumerate(self._goal_heads) if may_unify(head, atom))
        return first, goal_value(self._terms.term[row[1]]) or 0

    def _is_number(self, row: Row) -> bool:
        """Return whether a goal counts: its value must be a number."""
        return goal_value(self._terms.term[row[1]]) is not None
