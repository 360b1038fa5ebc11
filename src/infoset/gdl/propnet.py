"""Propositional networks: a ground game as gates over propositions (Schkufza et al. 2008; Cox et al. 2009).

A *literal* is ``2 * node + negated``.  Node 0 is always true; it is followed by the propositions of the state
(``true``), those of the joint move (``does``), and the gates, each after all its inputs.  Gates are ordered in four
*stages*, so that an evaluator computes no more than it needs: the gates that ``legal`` and ``terminal`` need in every
state (and those that goals share with ``next`` or ``sees``), those that goals alone need at the end of a play, those
that ``next`` needs once the moves are known, and those that only ``sees`` needs.  Gates on a positive cycle form a
*loop*, whose value is the least fixpoint: all false at first, then raised until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
import numpy.typing as npt

from infoset.base import IntArray
from infoset.errors import FormatError
from infoset.gdl.checks import goal_value, may_unify
from infoset.gdl.components import components
from infoset.gdl.grounding import GroundProgram
from infoset.gdl.syntax import Description, Term, clauses

TRUE, FALSE = 0, 1
SOURCE, AND, OR = 0, 1, 2
PLAY, GOALS, NEXT, SEES = range(4)
NO_NODE = -1


@dataclass(frozen=True, eq=False)
class PropNet:
    """Flat arrays over ``N`` nodes, ``B`` propositions of the state, ``M`` moves, ``G`` goals, ``P`` percepts.

    Moves are sorted by role, then by their text; so are percepts.  Goals are sorted by role, then by rule.
    """

    roles: tuple[str, ...]
    kind: npt.NDArray[np.uint8]  # (N,) SOURCE, AND or OR
    first_input: IntArray  # (N + 1,)
    inputs: IntArray  # (inputs,) literals
    stage_begin: IntArray  # (5,) first node of each stage, and N
    loops: IntArray  # (loops, 2) first and one past the last node, in order
    base: tuple[Term, ...]  # (B,) proposition k is node 1 + k
    initial: npt.NDArray[np.bool_]  # (B,)
    following: IntArray  # (B,) literals: the value of each proposition in the next state
    moves: tuple[Term, ...]  # (M,)
    first_move: IntArray  # (roles + 1,)
    does: IntArray  # (M,) node, or NO_NODE where nothing reads the move
    legal: IntArray  # (M,) literals
    terminal: int  # literal
    first_goal: IntArray  # (roles + 1,)
    goal_values: IntArray  # (G,) from 0
    goals: IntArray  # (G,) literals
    percepts: tuple[Term, ...]  # (P,)
    first_percept: IntArray  # (roles + 1,)
    sees: IntArray  # (P,) literals
    names: dict[int, Term]  # literal -> the atom that it represents, if any

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def fanout(self) -> tuple[IntArray, IntArray]:
        """The readers of each node: (N + 1,) first entry of each, and entries ``2 * reader + negated``."""
        reader = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.first_input))
        source = self.inputs >> 1
        order = np.argsort(source, kind="stable")
        first = np.searchsorted(source[order], np.arange(len(self) + 1)).astype(np.int32)
        return first, (2 * reader + (self.inputs & 1))[order].astype(np.int32)


def compile_propnet(description: Description, program: GroundProgram) -> PropNet:
    """Return the network of a ground game.  Raises ``FormatError`` where an atom depends on its own negation."""
    return _Compiler(description, program).run()


class _Compiler:
    """The gates in the order in which they are made (``kind``, ``inputs``), then sorted into stages and renumbered."""

    def __init__(self, description: Description, program: GroundProgram) -> None:
        self.description, self.program = description, program
        self.kind, self.loop = [SOURCE], [0]
        self.inputs: list[tuple[int, ...]] = [()]
        self.known: dict[tuple[int, tuple[int, ...]], int] = {}
        self.literal: dict[int, int] = {}  # atom -> literal
        self.num_loops = 0

    def run(self) -> PropNet:
        by_term = {term: atom for atom, term in self.program.atoms.items()}
        self.by_term = by_term
        self.roles = [ground_argument(r.head, 0) for r in self.description.rules if r.head.relation == ("role", 1)]
        base = sorted((ground_argument(t, 0) for t in by_term if t.relation == ("true", 1)), key=str)
        moves = self.by_role("legal")
        for proposition in base:
            self.source(by_term[Term("true", (proposition,))])
        does = [by_term.get(Term("does", (self.roles[role], move))) for role, move in moves]
        read = {abs(literal) for _, body in self.program.rules for literal in body}
        nodes = [self.source(atom) if atom in read else NO_NODE for atom in does]
        self.sources = len(self.kind)
        self.gates()
        return self.net(base, moves, nodes)

    def by_role(self, relation: str) -> list[tuple[int, Term]]:
        """Return (role, second argument) of every atom ``relation(role, …)`` that can hold, sorted."""
        number = {role: k for k, role in enumerate(self.roles)}
        atoms = [t for t in {*self.by_term, *self.program.facts} if t.relation == (relation, 2)]
        pairs = [(number.get(ground_argument(t, 0)), ground_argument(t, 1)) for t in atoms]
        found = [(role, value) for role, value in pairs if role is not None]
        return sorted(found, key=lambda item: (item[0], str(item[1])))

    def source(self, atom: int | None) -> int:
        node = self.add(SOURCE, ())
        if atom is not None:
            self.literal[atom] = 2 * node
        return node

    def add(self, kind: int, inputs: tuple[int, ...]) -> int:
        self.kind.append(kind)
        self.inputs.append(inputs)
        self.loop.append(0)
        return len(self.kind) - 1

    def gate(self, kind: int, literals: Iterable[int]) -> int:
        """Return the literal of a gate; constants are folded, and equal gates are shared."""
        neutral, absorbing = (TRUE, FALSE) if kind == AND else (FALSE, TRUE)
        distinct = set(literals) - {neutral}
        if absorbing in distinct or any(literal ^ 1 in distinct for literal in distinct):
            return absorbing
        if len(distinct) < 2:
            return distinct.pop() if distinct else neutral
        key = (kind, tuple(sorted(distinct)))
        if key not in self.known:
            self.known[key] = self.add(*key)
        return 2 * self.known[key]

    def gates(self) -> None:
        bodies: dict[int, list[tuple[int, ...]]] = {}
        for head, body in self.program.rules:
            bodies.setdefault(head, []).append(body)
        below = {head: {abs(x) for body in found for x in body if abs(x) in bodies} for head, found in bodies.items()}
        for component in components(below):
            if len(component) == 1 and component[0] not in below[component[0]]:
                head = component[0]
                self.literal[head] = self.gate(OR, [self.conjunction(body) for body in bodies[head]])
            else:
                self.cycle(component, bodies)

    def conjunction(self, body: tuple[int, ...]) -> int:
        return self.gate(AND, [self.literal.get(abs(atom), FALSE) ^ (atom < 0) for atom in body])

    def cycle(self, component: list[int], bodies: dict[int, list[tuple[int, ...]]]) -> None:
        """Make a loop: one OR gate per atom, one AND gate per body that reads the loop; neither is simplified."""
        members = set(component)
        for atom in component:
            if any(-x in members for body in bodies[atom] for x in body):
                name = self.program.atoms.get(atom, "an atom")
                raise FormatError(f"not stratified: {name} depends on its own negation", self.description.file)
        ready = {atom: [self.conjunction(b) for b in bodies[atom] if members.isdisjoint(b)] for atom in component}
        self.num_loops += 1
        for atom in component:
            self.literal[atom] = 2 * self.in_loop(OR, ())
        for atom in component:
            inside = [
                2 * self.in_loop(AND, tuple(self.literal.get(abs(x), FALSE) ^ (x < 0) for x in body))
                for body in bodies[atom]
                if not members.isdisjoint(body)
            ]
            self.inputs[self.literal[atom] >> 1] = (*inside, *ready[atom])

    def in_loop(self, kind: int, inputs: tuple[int, ...]) -> int:
        node = self.add(kind, inputs)
        self.loop[node] = self.num_loops
        return node

    def value(self, term: Term) -> int:
        """Return the literal of an atom by name."""
        if term in self.program.facts:
            return TRUE
        atom = self.by_term.get(term)
        return FALSE if atom is None else self.literal.get(atom, FALSE)

    def net(self, base: list[Term], moves: list[tuple[int, Term]], does: list[int]) -> PropNet:
        goals = self.goals()
        percepts = self.by_role("sees")
        legal = [self.value(Term("legal", (self.roles[r], m))) for r, m in moves]
        terminal = self.value(Term("terminal"))
        goal = [self.value(Term("goal", (self.roles[r], v))) for r, v in goals]
        following = [self.value(Term("next", (t,))) for t in base]
        sees = [self.value(Term("sees", (self.roles[r], p))) for r, p in percepts]
        order, stage_begin = self.order([[*legal, terminal], goal, following, sees])
        new = np.full(len(self.kind), -1, dtype=np.int64)
        new[order] = np.arange(len(order))

        def moved(literals: Iterable[int]) -> IntArray:
            old = np.array(list(literals), dtype=np.int64)
            literal: IntArray = (2 * new[old >> 1] + (old & 1)).astype(np.int32)
            return literal

        inputs = [self.inputs[node] for node in order]
        loop = np.array([self.loop[node] for node in order])
        return PropNet(
            roles=tuple(map(str, self.roles)),
            kind=np.array([self.kind[node] for node in order], dtype=np.uint8),
            first_input=np.concatenate([[0], np.cumsum([len(i) for i in inputs])]).astype(np.int32),
            inputs=moved(literal for found in inputs for literal in found),
            stage_begin=stage_begin,
            loops=_runs(loop),
            base=tuple(base),
            initial=np.array([self.value(Term("init", (t,))) == TRUE for t in base], dtype=np.bool_),
            following=moved(following),
            moves=tuple(move for _, move in moves),
            first_move=self.first(moves),
            does=np.array(does, dtype=np.int32),
            legal=moved(legal),
            terminal=int(moved([terminal])[0]),
            first_goal=self.first(goals),
            goal_values=np.array([int(v.functor) for _, v in goals], dtype=np.int32),
            goals=moved(goal),
            percepts=tuple(percept for _, percept in percepts),
            first_percept=self.first(percepts),
            sees=moved(sees),
            names=self.names(new),
        )

    def goals(self) -> list[tuple[int, Term]]:
        """Return (role, value) of every possible goal in the order of the rules that give them."""
        heads = [c.head for c in clauses(self.description) if c.head.relation == ("goal", 2)]

        def rank(item: tuple[int, Term]) -> tuple[int, int, int]:
            atom = Term("goal", (self.roles[item[0]], item[1]))
            rule = next(k for k, head in enumerate(heads) if may_unify(head, atom))
            return item[0], rule, int(item[1].functor)

        return sorted((item for item in self.by_role("goal") if goal_value(item[1]) is not None), key=rank)

    def first(self, items: list[tuple[int, Term]]) -> IntArray:
        return np.searchsorted([role for role, _ in items], np.arange(len(self.roles) + 1)).astype(np.int32)

    def names(self, new: npt.NDArray[np.int64]) -> dict[int, Term]:
        found: dict[int, Term] = {}
        for atom, term in self.program.atoms.items():
            literal = self.literal.get(atom, FALSE)
            node = int(new[literal >> 1])
            if node > 0:
                found.setdefault(2 * node + (literal & 1), term)
        return found

    def order(self, roots: list[list[int]]) -> tuple[list[int], IntArray]:
        """Return nodes by stage, level and loop; gates that nothing needs are left out."""
        level = self.levels()
        reached = [self.below(literals) for literals in roots]
        stage: dict[int, int] = {}
        for number in (SEES, NEXT, GOALS, PLAY):  # so that a gate gets the first stage that needs it
            stage |= dict.fromkeys(reached[number], number)
        # goals are computed only at the end of a play: gates that every step needs, too, are computed in every state
        stage |= dict.fromkeys(reached[GOALS] & (reached[NEXT] | reached[SEES]), PLAY)
        stage |= dict.fromkeys(range(self.sources), -1)
        order = sorted(stage, key=lambda node: (stage[node], level[node], self.loop[node], node))
        sizes = np.bincount([stage[node] + 1 for node in order], minlength=5)
        return order, np.cumsum(sizes).astype(np.int32)

    def below(self, literals: list[int]) -> set[int]:
        """Return the nodes of some literals and everything that they read."""
        todo = [literal >> 1 for literal in literals]
        seen = set(todo)
        while todo:
            fresh = {literal >> 1 for literal in self.inputs[todo.pop()]} - seen
            seen |= fresh
            todo += fresh
        return seen

    def levels(self) -> list[int]:
        """Return the longest path from a source to each node; the members of a loop have one level."""
        level = [0] * len(self.kind)
        for _, unit in groupby(range(self.sources, len(self.kind)), key=lambda node: self.loop[node] or -node):
            members = list(unit)  # the gates of a loop were made in one go, after all their inputs from outside
            height = 1 + max(level[x >> 1] for node in members for x in self.inputs[node])
            for node in members:
                level[node] = height
        return level


def ground_argument(term: Term, position: int) -> Term:
    """Return an argument of a ground term."""
    argument = term.arguments[position]
    assert isinstance(argument, Term)
    return argument


def _runs(loop: npt.NDArray[np.int64]) -> IntArray:
    """Return (loops, 2) the runs of equal numbers other than 0."""
    edges = np.flatnonzero(np.diff(loop, prepend=0, append=0))
    begins = [int(k) for k in edges if k < len(loop) and loop[k]]
    ends = [int(k) for k in edges if k > 0 and loop[k - 1]]
    return np.array(list(zip(begins, ends, strict=True)), dtype=np.int32).reshape(-1, 2)
