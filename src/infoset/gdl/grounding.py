"""Ground the rules of a game: every instance of every rule that play could need, found by clingo's grounder.

The facts that may hold are over-approximated by choice rules, ``{true(X)} :- init(X)``, ``{true(X)} :- next(X)`` and
``{does(R, M)} :- legal(R, M)``: reachability bounds the instances, static relations are evaluated away, and a negated
atom that is only possible stays in the rule.  The grounder runs in a process of its own under a budget of time, memory
and rules, because some descriptions ground without end.
"""

from __future__ import annotations

import re
import subprocess
import sys
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from infoset.errors import BudgetError
from infoset.gdl.checks import DECLARATIONS, variables
from infoset.gdl.syntax import MAX_DEPTH, Argument, Clause, Description, Literal, Term, Variable, clauses

GROUNDER = "infoset.gdl.grounder"
TOO_MANY, TOO_LONG = 3, 4  # exit statuses of the grounder's process: too many rules (or characters), too many seconds
PATIENCE, MOST_PATIENCE = 60.0, 20.0  # it counts as stuck after these seconds, plus these times the budget's
MAX_SPLIT = 100  # literals; longer bodies are not split, as the search for parts is cubic in their number


@dataclass(frozen=True)
class Budget:
    """The resources that grounding may use before it gives up."""

    seconds: float = 10.0  # of the grounder's CPU time, so that a busy machine makes no difference
    memory: int = 3 << 30  # bytes; unlimited where the system supports no such limit
    rules: int = 1_000_000


DEFAULT_BUDGET = Budget()


@dataclass(frozen=True)
class GroundProgram:
    """Ground rules over numbered atoms.

    Atoms that always hold are facts, by name.  A fact that was found after rules that refer to it had been written has
    a number as well, perhaps without a name, and a rule without a body.  A number that heads no rule never holds,
    except those of ``true`` and ``does``, which depend on the state and the joint move.
    """

    facts: frozenset[Term]
    atoms: dict[int, Term]
    rules: list[tuple[int, tuple[int, ...]]]  # head, and body: atoms, negated atoms as negative numbers


def ground(description: Description, budget: Budget = DEFAULT_BUDGET) -> GroundProgram:
    """Return every ground rule that can matter in some state.  Raises ``BudgetError`` beyond the budget."""
    writer = _Writer()
    text = writer.program(list(needed_clauses(description)))
    command = [sys.executable, "-m", GROUNDER, str(budget.memory), str(budget.rules), repr(budget.seconds)]
    stuck = PATIENCE + MOST_PATIENCE * budget.seconds
    try:
        answer = subprocess.run(command, input=text.encode(), capture_output=True, timeout=stuck, check=True)
    except subprocess.SubprocessError as error:
        limits = f"{budget.seconds:g} s, {budget.memory >> 20:,} MiB, {budget.rules:,} rules"
        where = description.file or "<text>"
        raise BudgetError(f"{where}: does not ground within {limits} ({_what_ended(error, budget)})") from None
    return _read(answer.stdout, writer)


def _what_ended(error: subprocess.SubprocessError, budget: Budget) -> str:
    """Return which limit was exceeded, or the last line of the grounder's error output."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer in {error.timeout:g} s"
    status = getattr(error, "returncode", None)
    if status == TOO_MANY:
        return "too many rules"
    if status == TOO_LONG:
        return f"{budget.seconds:g} s of computing were not enough; a faster machine may come further"
    lines = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()
    return lines[-1][:100] if lines else f"the grounder ended with status {status}"


def _read(answer: bytes, writer: _Writer) -> GroundProgram:
    """Read the output of the grounder's process."""
    count, _, rest = answer.partition(b"\n")
    words = array("i")
    end = int(count) * words.itemsize
    words.frombytes(rest[:end])
    rules, k = [], 0
    while k < len(words):
        body = k + 2
        end_of_rule = body + words[k + 1]
        rules.append((words[k], tuple(words[body:end_of_rule])))
        k = end_of_rule
    facts: set[Term] = set()
    atoms: dict[int, Term] = {}
    for line in rest[end:].decode().splitlines():
        number, _, name = line.partition(" ")
        if number == "0":
            facts.add(writer.read(name))
        else:
            atoms[int(number)] = writer.read(name)
    return GroundProgram(frozenset(facts), atoms, rules)


def needed_clauses(description: Description) -> Iterator[Clause]:
    """Yield the clauses, without declarations that nothing reads and with long bodies split."""
    every = clauses(description)
    read = {literal.atom.functor for clause in every for literal in clause.body}
    names = (f"part {k}" for k in count(1))  # no relation of a description has a space in its name
    for clause in every:
        if clause.head.functor not in DECLARATIONS or clause.head.functor in read:
            yield from split(clause, names)


def split(clause: Clause, names: Iterator[str]) -> Iterator[Clause]:
    """Yield the clause, with parts of its body moved to relations of their own where fewer variables are then joined.

    A variable that the head does not need is projected away with the literals that hold it.
    """
    body = list(clause.body)
    head_variables = set(variables(clause.head))
    while len(body) <= MAX_SPLIT:
        part = _cheapest_part(body, head_variables)
        if part is None:
            break
        inside, shared = part
        head = Term(next(names), tuple(sorted(shared)))
        yield Clause(head, tuple(body[k] for k in inside), clause.rule)
        body = [literal for k, literal in enumerate(body) if k not in inside]
        body.append(Literal(head, True))
    yield Clause(clause.head, tuple(body), clause.rule)


def _cheapest_part(body: list[Literal], head_variables: set[Variable]) -> tuple[list[int], set[Variable]] | None:
    """Return the literals around one variable that join fewer variables than the whole body; ``None`` if none does."""
    names_of = [set(variables(literal.atom)) for literal in body]
    every = set().union(*names_of, head_variables)
    best: tuple[int, list[int], set[Variable]] | None = None
    for variable in sorted(set().union(*names_of) - head_variables):
        inside = [k for k, names in enumerate(names_of) if variable in names]
        joined = set().union(*(names_of[k] for k in inside))
        inside = _with_bound_tests(body, names_of, inside, joined)
        bound = set().union(*(names_of[k] for k in inside if _binds(body[k])), set())
        if joined - bound or len(joined) >= len(every) or len(inside) == len(body):
            continue
        outside = set().union(*(names_of[k] for k in range(len(body)) if k not in inside), head_variables)
        if best is None or len(joined) < best[0]:
            best = len(joined), inside, joined & outside
    return None if best is None else best[1:]


def _with_bound_tests(
    body: list[Literal], names_of: list[set[Variable]], inside: list[int], joined: set[Variable]
) -> list[int]:
    """Add tests whose variables are all joined in a part anyway: they make its result smaller."""
    extra = [k for k, names in enumerate(names_of) if names and names <= joined and not _binds(body[k])]
    return sorted({*inside, *extra})


def _binds(literal: Literal) -> bool:
    return literal.positive and literal.atom.functor != "distinct"


@dataclass
class _Writer:
    """A writer of the grounder's language: every name becomes a letter and a number, so no symbol can confuse it."""

    names: dict[tuple[str, str, int], str] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)
    terms: dict[str, Term] = field(default_factory=dict)

    def program(self, every: list[Clause]) -> str:
        lines = [self.clause(clause) for clause in every]
        true, does = self.name("p", "true", 1), self.name("p", "does", 2)
        lines += [f"{{{true}(X)}} :- {self.name('p', word, 1)}(X)." for word in ("init", "next")]
        lines.append(f"{{{does}(R,M)}} :- {self.name('p', 'legal', 2)}(R,M).")
        return "\n".join(lines) + "\n"

    def name(self, kind: str, text: str, arity: int) -> str:
        key = (kind, text, arity)
        if key not in self.names:
            self.names[key] = short = f"{kind}{len(self.names)}"
            self.origin[short] = text
        return self.names[key]

    def clause(self, clause: Clause) -> str:
        head = self.atom(clause.head)
        body = ",".join(map(self.literal, clause.body))
        return f"{head} :- {body}." if body else f"{head}."

    def literal(self, literal: Literal) -> str:
        if literal.atom.functor == "distinct":
            one, other = map(self.argument, literal.atom.arguments)
            return f"{one} {'!=' if literal.positive else '='} {other}"
        return self.atom(literal.atom) if literal.positive else f"not {self.atom(literal.atom)}"

    def atom(self, term: Term) -> str:
        name = self.name("p", term.functor, len(term.arguments))
        return name + self.arguments(term.arguments)

    def argument(self, term: Argument) -> str:
        if isinstance(term, Variable):
            return self.name("V", term.name, 0)
        name = self.name("f" if term.arguments else "c", term.functor, len(term.arguments))
        return name + self.arguments(term.arguments)

    def arguments(self, terms: Iterable[Argument]) -> str:
        inside = ",".join(map(self.argument, terms))
        return f"({inside})" if inside else ""

    def read(self, text: str) -> Term:
        """Return the term that the grounder prints as ``text``."""
        found = self.terms.get(text)
        if found is None:
            found = self.terms[text] = self._parse(text)
        return found

    def _parse(self, text: str) -> Term:
        stack: list[tuple[str, list[Argument]]] = [("", [])]
        for word, mark in re.findall(r"(\w+)|([(),])", text):
            if word:
                stack.append((word, []))
                if len(stack) > MAX_DEPTH + 2:  # the functions that handle terms are recursive
                    raise BudgetError(f"terms grow beyond {MAX_DEPTH} levels")
            elif mark != "(":
                self._close(stack)
        while len(stack) > 1:
            self._close(stack)
        found = stack[0][1][0]
        assert isinstance(found, Term)
        return found

    def _close(self, stack: list[tuple[str, list[Argument]]]) -> None:
        """Make the name on top of the stack, whose arguments are complete, an argument of the name below it."""
        word, arguments = stack.pop()
        stack[-1][1].append(Term(self.origin[word], tuple(arguments)))
