"""A game description evaluated state by state: for games whose grounding is too large to write down.

For one state only what holds there is derived, from the bottom up.  Clauses are evaluated in the order of their
dependencies, mutually recursive ones semi-naively: only what is new is joined again.  What depends on neither state
nor move is derived once, what depends on the state once a state, the rest once a joint move.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain
from typing import Generic, Protocol, TypeAlias, TypeVar

from infoset.base import Action
from infoset.errors import BudgetError, GameRuleError
from infoset.gdl.checks import Relation, goal_value, may_unify, variables
from infoset.gdl.components import components
from infoset.gdl.joins import DELTA, MOVE, PHASES, STATE, STATIC, Facts, Made, Model, Plan, Planner, Row, Symbols
from infoset.gdl.syntax import Clause, Description, Literal, Term, clauses, placed, to_term

MAX_MODEL_FACTS = 50_000
"""The most facts in the fully derived states that are kept for another question or another move."""

UNREAD = -2
"""In place of a relation: facts of the state that no clause asks for by their functor."""
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


class _Component:
    """Clauses that need each other, or a single one; planned when first run, with the sizes met then."""

    def __init__(self, number: int, members: list[Clause], phase: int, symbols: Symbols, file: str) -> None:
        self.number, self.members, self.phase, self.symbols, self.file = number, members, phase, symbols, file
        self.inner = [(clause, literal) for clause in members for literal in clause.body if self._defines(literal)]
        for clause, literal in self.inner:
            if not literal.positive:
                where, rule = placed(file, clause.rule)
                raise GameRuleError(f"{where}: not stratified: {literal} depends on itself: {rule}")
        self.plans: list[Plan] = []
        self.repeated: list[tuple[int, Plan]] = []

    def _defines(self, literal: Literal) -> bool:
        return any(may_unify(clause.head, literal.atom) for clause in self.members)

    def run(self, model: Model) -> None:
        """Add everything that follows by these clauses."""
        if not self.plans:
            self._prepare(model)
        fresh: dict[int, set[Row]] = {}
        for plan in self.plans:
            rows = self._apply(plan, model)
            if rows and self.repeated:
                fresh[plan.relation] = fresh.get(plan.relation, set()) | rows
        while any(fresh.values()):
            fresh = self._round(model, fresh)

    def _round(self, model: Model, fresh: dict[int, set[Row]]) -> dict[int, set[Row]]:
        """What follows from what was new, and is new itself."""
        deltas = {relation: Facts(rows) for relation, rows in fresh.items() if rows}
        found: dict[int, set[Row]] = defaultdict(set)
        for relation, plan in self.repeated:
            if relation in deltas:
                model[DELTA] = deltas[relation]
                found[plan.relation] |= self._apply(plan, model)
        return found

    def _apply(self, plan: Plan, model: Model) -> set[Row]:
        """What is new by one clause.  Raises ``BudgetError`` that names its rule and place."""
        try:
            rows = plan.run(model)
            return model.extend(plan.relation, rows) if rows else rows
        except BudgetError as error:
            where, rule = placed(self.file, plan.clause.rule)
            raise BudgetError(f"{where}: {error}: {rule}") from None

    def _prepare(self, model: Model) -> None:
        self.plans = [Planner(self.symbols, model, clause).plan() for clause in self.members]
        for clause, literal in self.inner:
            plan = Planner(self.symbols, model, clause, delta=literal).plan()
            self.repeated.append((self.symbols.relation(literal.atom), plan))


class _Program:
    """The clauses of a description in components, in an order in which each needs only itself and earlier ones.

    A clause needs those whose heads may match an atom of its body, so that ``(goal ?r 0)`` may negate
    ``(goal ?r 100)``.
    """

    def __init__(self, rules: list[Clause], symbols: Symbols, file: str) -> None:
        self.rules = rules
        heads: dict[Relation, list[int]] = defaultdict(list)
        for k, clause in enumerate(rules):
            heads[clause.head.relation].append(k)
        self.needs = {k: self._defining(clause, heads) for k, clause in enumerate(rules)}
        self.label: dict[int, int] = {}
        self.components: list[_Component] = []
        for number, members in enumerate(components(self.needs)):
            self.label |= dict.fromkeys(members, number)
            found = [rules[k] for k in sorted(members)]
            self.components.append(_Component(number, found, self._phase(members), symbols, file))

    def _defining(self, clause: Clause, heads: dict[Relation, list[int]]) -> set[int]:
        return {k for lit in clause.body for k in heads[lit.atom.relation] if may_unify(self.rules[k].head, lit.atom)}

    def _phase(self, members: list[int]) -> int:
        """The first phase at which everything that a component reads is known."""
        read = [PHASES.get(lit.atom.relation, STATIC) for k in members for lit in self.rules[k].body]
        below = {other for k in members for other in self.needs[k]} - set(members)
        return max([*read, *(self.components[self.label[k]].phase for k in below)], default=STATIC)

    def below(self, *relations: Relation) -> list[_Component]:
        """The components that decide some relations."""
        todo = [k for k, clause in enumerate(self.rules) if clause.head.relation in relations]
        seen = set(todo)
        while todo:
            fresh = self.needs[todo.pop()] - seen
            seen |= fresh
            todo += fresh
        wanted = {self.label[k] for k in seen}
        return [component for component in self.components if component.number in wanted]


class _Sized(Protocol):
    size: int
    counted: int


Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept", bound=_Sized)


class _Memo(Generic[Key, Kept]):
    """What was found out last, as much as fits into a number of facts."""

    def __init__(self, limit: int, make: Callable[[Key], Kept]) -> None:
        self.limit, self.make, self.total = limit, make, 0
        self.kept: OrderedDict[Key, Kept] = OrderedDict()

    def __getitem__(self, key: Key) -> Kept:
        """The value kept, or a new one; ``settle`` counts it."""
        value = self.kept.get(key)
        if value is None:
            value = self.kept[key] = self.make(key)
        else:
            self.kept.move_to_end(key)
        return value

    def settle(self, value: Kept) -> None:
        """Count the value fetched last, which may have grown; the oldest ones make room."""
        self.total += value.size - value.counted
        value.counted = value.size
        while self.total > self.limit and len(self.kept) > 1:
            _, old = self.kept.popitem(last=False)
            self.total -= old.counted


class _Answers:
    """What was asked about one state."""

    __slots__ = ("counted", "goals", "legal", "size", "terminal")

    def __init__(self, state: State) -> None:
        self.size, self.counted = 1 + len(state), 0
        self.terminal: bool | None = None
        self.legal: tuple[tuple[Action, ...], ...] | None = None
        self.goals: tuple[tuple[int, ...], ...] | None = None


class _Outcome:
    """A state, and what led there lets each role see."""

    __slots__ = ("counted", "percepts", "size", "state")

    def __init__(self, state: State, percepts: Percepts) -> None:
        self.size, self.counted = 1 + len(state) + sum(map(len, percepts)), 0
        self.state, self.percepts = state, percepts


class LazyEvaluator:
    """Answers about the states of a game, derived when asked for and remembered.

    A state is the set of the numbers of its facts, which mean something only to the evaluator that gave them.
    ``memo`` bounds the facts, moves and percepts in remembered answers.  Raises ``BudgetError`` where terms grow
    without end or one state has too many facts, and ``GameRuleError`` for rules that ``checks.check`` objects to;
    an unsafe one is met only when it is first needed.
    """

    def __init__(self, description: Description, memo: int = 1_000_000) -> None:
        rules = clauses(description)
        self._symbols = Symbols()
        self._terms = self._symbols.terms
        roles = dict.fromkeys(clause.head.arguments[0] for clause in rules if clause.head.relation == ("role", 1))
        self.roles = tuple(map(str, roles))
        self._role_numbers = [self._terms.number(role) for role in roles]
        self._goal_heads = [clause.head for clause in rules if clause.head.relation == GOAL]
        self._rank = Made(self._first_clause)
        self._move_numbers: Made[Action, int] = Made(lambda move: self._terms.number(to_term(move)))
        self._places = Made(self._place)
        self._number = {relation: self._symbols.numbered(relation) for relation in (*ANSWERS, TRUE, DOES)}
        self._base = Model(STATIC, self._symbols)
        self._prepare(rules, description.file)
        self._answers: _Memo[State, _Answers] = _Memo(memo // 2, _Answers)
        self._outcomes: _Memo[tuple[State, tuple[Action, ...]], _Outcome] = _Memo(memo // 2, self._outcome)
        self._models: _Memo[State, Model] = _Memo(MAX_MODEL_FACTS, self._load)

    def _prepare(self, rules: list[Clause], file: str) -> None:
        """Derive what no state can change, and sort the rest by the question that needs it."""
        facts = [clause.head for clause in rules if not clause.body and not any(variables(clause.head))]
        for fact in facts:
            self._base.extend(self._symbols.relation(fact), {tuple(map(self._terms.number, fact.arguments))})
        program = _Program(
            [clause for clause in rules if clause.body or any(variables(clause.head))], self._symbols, file
        )
        needed = program.below(*ANSWERS)
        for component in needed:
            for clause in component.members:
                self._symbols.register(clause, component.phase)
        for component in needed:
            if component.phase == STATIC:
                component.run(self._base)
        below = {relation: program.below(relation) for relation in (INIT, LEGAL, GOAL, TERMINAL)}
        for relation, parts in below.items():
            if any(part.phase == MOVE for part in parts):
                raise GameRuleError(f"{relation[0]} must not depend on does")
        step = below[NEXT] = program.below(NEXT, SEES)
        self._on_state = {r: [part for part in parts if part.phase == STATE] for r, parts in below.items()}
        self._on_move = [component for component in step if component.phase == MOVE]

    def start(self) -> State:
        """The state in which the game begins."""
        return frozenset(chain.from_iterable(self._derived(frozenset(), INIT)[self._number[INIT]].rows))

    def facts(self, state: State) -> frozenset[Term]:
        """A state as ground terms."""
        return frozenset(self._terms.term[number] for number in state)

    def state(self, facts: frozenset[Term]) -> State:
        """The state in which these facts hold: the inverse of ``facts``."""
        return frozenset(map(self._terms.number, facts))

    def terminal(self, state: State) -> bool:
        """Whether the game is over."""
        answers = self._answers[state]
        if answers.terminal is None:
            answers.terminal = bool(self._derived(state, TERMINAL)[self._number[TERMINAL]].rows)
            self._answers.settle(answers)
        return answers.terminal

    def legal(self, state: State, role: int) -> tuple[Action, ...]:
        """The distinct moves of a role, sorted by their text."""
        answers = self._answers[state]
        if answers.legal is None:
            rows = self._derived(state, LEGAL)[self._number[LEGAL]].rows
            answers.legal = self._by_role(rows)
            answers.size += len(rows)
            self._answers.settle(answers)
        return answers.legal[role]

    def goals(self, state: State, role: int) -> tuple[int, ...]:
        """The values of a role's goals that hold, in the order of the rules that may give them."""
        answers = self._answers[state]
        if answers.goals is None:
            rows = sorted(
                filter(self._is_number, self._derived(state, GOAL)[self._number[GOAL]].rows), key=self._rank.__getitem__
            )
            found = [[self._rank[row][1] for row in rows if row[0] == number] for number in self._role_numbers]
            answers.goals = tuple(tuple(dict.fromkeys(values)) for values in found)
            self._answers.settle(answers)
        return answers.goals[role]

    def step(self, state: State, moves: Sequence[Action]) -> tuple[State, Percepts]:
        """The state after a joint move, and what each role then sees, sorted by its text; legality is not checked."""
        outcome = self._outcomes[state, tuple(moves)]
        self._outcomes.settle(outcome)
        return outcome.state, outcome.percepts

    def _outcome(self, position: tuple[State, tuple[Action, ...]]) -> _Outcome:
        """Everything is derived from the state before the move, percepts too."""
        state, moves = position
        model = Model(MOVE, self._symbols, parent=self._derived(state, NEXT))
        does = zip(self._role_numbers, map(self._move_numbers.__getitem__, moves), strict=True)
        model[self._number[DOES]] = Facts(set(does))
        for component in self._on_move:
            component.run(model)
        after = frozenset(chain.from_iterable(model[self._number[NEXT]].rows))
        return _Outcome(after, self._by_role(model[self._number[SEES]].rows))

    def _derived(self, state: State, part: Relation) -> Model:
        """Everything in a state that one kind of answer needs."""
        model = self._models[state]
        for component in self._on_state[part]:
            if component.number not in model.done:
                component.run(model)
                model.done.add(component.number)
        self._models.settle(model)
        return model

    def _load(self, state: State) -> Model:
        model = Model(STATE, self._symbols, parent=self._base)
        rows: dict[int, set[Row]] = defaultdict(set)
        for fact in state:
            relation, row = self._places[fact]
            rows[relation].add(row)
        for relation, found in rows.items():
            model[relation] = Facts(found)
        model[self._number[TRUE]] = Facts({(fact,) for fact in state})
        model.size += len(state)
        return model

    def _place(self, fact: int) -> tuple[int, Row]:
        """The relation in which a fact of the state stands, and its row there."""
        (functor, arity), row = self._terms.split(fact)
        return self._symbols.relations.get(("true", functor, arity), UNREAD), row

    def _by_role(self, rows: Iterable[Row]) -> tuple[tuple[Action, ...], ...]:
        found: dict[int, list[int]] = defaultdict(list)
        for role, number in rows:
            found[role].append(number)
        texts, actions = self._terms.texts, self._terms.actions
        menus = [sorted(found[role], key=texts.__getitem__) for role in self._role_numbers]
        return tuple(tuple(map(actions.__getitem__, menu)) for menu in menus)

    def _first_clause(self, row: Row) -> tuple[int, int]:
        """Where a goal stands in the order of goals: the first rule that may give it, then its value."""
        atom = Term("goal", tuple(self._terms.term[number] for number in row))
        first = next(k for k, head in enumerate(self._goal_heads) if may_unify(head, atom))
        return first, goal_value(self._terms.term[row[1]]) or 0

    def _is_number(self, row: Row) -> bool:
        """Whether a goal counts; one that is no number is as good as none."""
        return goal_value(self._terms.term[row[1]]) is not None
