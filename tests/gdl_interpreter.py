"""A slow interpreter of game descriptions, written to be read: the rules applied until nothing new follows.

It is the reference for everything faster.  A state is a set of ground terms; relations are evaluated in layers, a
layer after everything that it negates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from infoset.gdl.checks import Relation, _readers, may_unify, variables
from infoset.gdl.syntax import Argument, Clause, Description, Literal, Term, Variable, clauses

Binding = dict[Variable, Term]
Model = dict[Relation, set[tuple[Term, ...]]]
State = frozenset[Term]
RANDOM = Term("random")


class Interpreter:
    """The rules of a game; every question is answered from a freshly derived model."""

    def __init__(self, description: Description) -> None:
        self.layers, self.fixed = [], defaultdict(set)  # what no state and no move can change is derived once
        every = clauses(description)
        changing = _readers(every, "true") | _readers(every, "does")
        for layer in layers(every):
            if any(literal.atom.relation in changing for clause in layer for literal in clause.body):
                self.layers.append(layer)
            else:
                derive(layer, self.fixed)
        self.roles = tuple(r.head.arguments[0] for r in description.rules if r.head.functor == "role")

    def model(self, state: State, moves: dict[Term, Term] | None = None) -> Model:
        """Everything that holds in a state, and, with a joint move, everything that follows from it."""
        facts: Model = defaultdict(set, {relation: set(rows) for relation, rows in self.fixed.items()})
        facts["true", 1] = {(term,) for term in state}
        facts["does", 2] = set((moves or {}).items())
        for layer in self.layers:
            derive(layer, facts)
        return facts

    def start(self) -> State:
        return frozenset(term for (term,) in self.model(frozenset())["init", 1])

    def terminal(self, state: State) -> bool:
        return bool(self.model(state)["terminal", 0])

    def legal(self, state: State) -> dict[Term, list[Term]]:
        found = self.model(state)["legal", 2]
        return {role: sorted((m for r, m in found if r == role), key=str) for role in self.roles}

    def step(self, state: State, moves: dict[Term, Term]) -> tuple[State, dict[Term, frozenset[Any]]]:
        """The next state, and what each role sees: both are read from the state before the move."""
        facts = self.model(state, moves)
        percepts = {role: frozenset(p for r, p in facts["sees", 2] if r == role) for role in self.roles}
        return frozenset(term for (term,) in facts["next", 1]), percepts

    def goals(self, state: State) -> dict[Term, list[int]]:
        found = self.model(state)["goal", 2]
        return {role: sorted(int(str(v)) for r, v in found if r == role) for role in self.roles}

    def playout(self, rng: np.random.Generator) -> tuple[int, dict[Term, list[int]]]:
        """One random play: its length in steps and the goal values at its end."""
        state, length = self.start(), 0
        while not self.terminal(state):
            legal = self.legal(state)
            state, _ = self.step(
                state, {r: action_set[int(rng.integers(len(action_set)))] for r, action_set in legal.items()}
            )
            length += 1
        return length, self.goals(state)


def layers(rules: list[Clause]) -> list[list[Clause]]:
    """The rules in an order in which each layer needs only itself and earlier layers, and negates only those.

    Rules are told apart by the arguments of their heads: ``(goal ?r 0)`` may negate ``(goal ?r 100)``.
    """
    facts, rest = [c for c in rules if not c.body], [c for c in rules if c.body]
    needs = [
        {k for lit in clause.body for k, other in enumerate(rest) if may_unify(other.head, lit.atom)} for clause in rest
    ]
    reach = [closure(k, needs) for k in range(len(rest))]
    groups: dict[frozenset[int], list[int]] = defaultdict(list)
    for k in range(len(rest)):
        groups[frozenset(other for other in reach[k] if k in reach[other]) | {k}].append(k)
    order = sorted(groups.values(), key=lambda group: max(len(reach[k] | {k}) for k in group))
    return [facts, *([rest[k] for k in group] for group in order)]


def closure(first: int, needs: list[set[int]]) -> set[int]:
    """Everything that can be reached from one place, itself only around a cycle."""
    seen: set[int] = set()
    todo = [first]
    while todo:
        fresh = needs[todo.pop()] - seen
        seen |= fresh
        todo += fresh
    return seen


def derive(layer: list[Clause], facts: Model) -> None:
    """Apply the rules of a layer until nothing new follows."""
    grown = True
    while grown:
        new = {
            (c.head.relation, substitute(c.head, b).arguments) for c in layer for b in matches(ordered(c), facts, {})
        }
        fresh = {(relation, row) for relation, row in new if row not in facts[relation]}
        for relation, row in fresh:
            facts[relation].add(row)
        grown = bool(fresh)


def ordered(clause: Clause) -> tuple[Literal, ...]:
    """Positive atoms first: they bind the variables that negation and distinct need."""
    return tuple(sorted(clause.body, key=lambda lit: not lit.positive or lit.atom.functor == "distinct"))


def matches(body: tuple[Literal, ...], facts: Model, binding: Binding) -> Iterator[Binding]:
    """Every way to make a body hold."""
    if not body:
        yield binding
        return
    literal, rest = body[0], body[1:]
    atom = substitute(literal.atom, binding)
    if atom.functor == "distinct":
        if (atom.arguments[0] != atom.arguments[1]) == literal.positive:
            yield from matches(rest, facts, binding)
    elif not literal.positive:
        if atom.arguments not in facts[atom.relation]:
            yield from matches(rest, facts, binding)
    elif not any(variables(atom)):
        if atom.arguments in facts[atom.relation]:
            yield from matches(rest, facts, binding)
    else:
        for row in list(facts[atom.relation]):
            found = unify(atom.arguments, row, binding)
            if found is not None:
                yield from matches(rest, facts, found)


def unify(patterns: tuple[Argument, ...], row: tuple[Argument, ...], binding: Binding) -> Binding | None:
    """The binding extended so that the patterns equal the ground row; ``None`` where they cannot."""
    for pattern, value in zip(patterns, row, strict=True):
        if isinstance(pattern, Variable):
            if binding.get(pattern, value) != value:
                return None
            binding = {**binding, pattern: value}  # type: ignore[dict-item]
        elif pattern.relation != value.relation:  # type: ignore[union-attr]
            return None
        else:
            found = unify(pattern.arguments, value.arguments, binding)  # type: ignore[union-attr]
            if found is None:
                return None
            binding = found
    return binding


def substitute(term: Any, binding: Binding) -> Any:
    """The term with its bound variables replaced."""
    if isinstance(term, Variable):
        return binding.get(term, term)
    return Term(term.functor, tuple(substitute(a, binding) for a in term.arguments))
