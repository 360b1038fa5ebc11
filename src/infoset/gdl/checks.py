"""Check the validity of a game description statically: report every defect at once, with its rule and its place.

The conditions are those of the GDL and GDL-II specifications (Love et al. 2008; Thielscher 2010): the places of
keywords, stratified negation, safe rules, and the recursion restriction that keeps grounding finite.  Playability and
termination can only be observed in play and are not checked here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property

from infoset.errors import shorten
from infoset.gdl.components import components
from infoset.gdl.syntax import (
    NOWHERE,
    Argument,
    Atom,
    Clause,
    Description,
    Literal,
    Place,
    Rule,
    Term,
    Variable,
    clauses,
)

ERROR, WARNING = "error", "warning"

Relation = tuple[str, int]

ARITY = {
    "role": 1, "init": 1, "true": 1, "next": 1, "legal": 2, "does": 2, "goal": 2, "terminal": 0, "sees": 2,
    "distinct": 2, "base": 1, "input": 2, "percept": 2,
}  # fmt: skip
NEVER_HEADS = ("true", "does", "distinct")
CONNECTIVES = ("not", "and", "or")
DECLARATIONS = ("base", "input", "percept")
DISPLAYS = ("sees_xml",)  # read by the viewers of game servers, never by rules
REQUIRED = ("role", "legal", "terminal", "goal")
STATIC = ("role", "init", "base", "input")
STATELESS = ("true", "does", "next", "legal", "goal", "terminal", "sees")
MAX_GOAL = 100
WRITTEN = ("role", "init", "next", "legal", "goal", "terminal", "sees")  # keywords in heads
READ = ("true", "does", "distinct", "role")  # keywords in bodies
LIKENESS = 0.65  # the least similarity of two words of which one may be a misspelling of the other
MAX_WORD = 100
MOST_HINTS, MOST_KNOWN = 20, 1000
MAX_RULE_TEXT = 2_000  # characters of a rule in a message


@dataclass(frozen=True)
class Defect:
    """An error or a warning about a description, with the rule and the place in it."""

    severity: str
    message: str
    rule: str
    place: Place = NOWHERE
    file: str = ""

    def __str__(self) -> str:
        where = f"{self.file or '<text>'}:{self.place.line}:{self.place.column}"
        return f"{where}: {self.severity}: {self.message}" + (f": {self.rule}" if self.rule else "")


def check(description: Description) -> list[Defect]:
    """Return every defect of a description in file order: errors, and warnings of probable mistakes.

    >>> from infoset.gdl.checks import check
    >>> from infoset.gdl.syntax import parse_gdl
    >>> [defect.message for defect in check(parse_gdl("(role a) (init x) (goal a 0)"))]
    ['no rule for legal', 'no rule for terminal']
    """
    checker = _Checker(description)
    return sorted(checker.defects(), key=lambda defect: (defect.place, defect.severity, defect.message))


def repair(description: Description) -> Description:
    """Return the description with safe repairs made: see ``repairs``."""
    mended = [_with_role(rule) for rule in description.rules if not _is_loose_declaration(rule)]
    return replace(description, rules=tuple(dict.fromkeys(mended)))


def repairs(description: Description) -> list[Defect]:
    """Return what ``repair`` changes, and probable mistakes, as warnings.

    Repairs add ``(role ?p)`` for a role that no literal binds, drop duplicate rules, and drop ``base``, ``input`` and
    ``percept`` facts with variables, which are only hints.
    """
    found, seen = _alike(description), set()
    for rule in description.rules:
        if _is_loose_declaration(rule):
            message = "a declaration with variables is only a hint; it is left out"
        elif rule in seen:
            message = "the rule is repeated; remove one copy"
        elif word := _lone_connective(rule):
            message = f"the word {word!r} is read as a fact; write ({word} …)"
        elif _with_role(rule) != rule:
            message = f"read as {shorten(str(_with_role(rule)), MAX_RULE_TEXT)}"
        else:
            message = ""
        seen.add(rule)
        if message:
            text = shorten(str(rule), MAX_RULE_TEXT)
            found.append(Defect(WARNING, message, text, rule.place, description.file))
    return found


def _alike(description: Description) -> list[Defect]:
    """Return warnings of words that differ only in case, with how they are read."""
    spelling, file = description.spelling, description.file
    if spelling.exact:
        how = "are two words; a program that is not case sensitive takes them for one"
    else:
        how = "are read as one word, since one of them is undefined; a case-sensitive program reads two"
    return [
        Defect(WARNING, f"{shorten(one)} and {shorten(other)} differ only in case and {how}", "", place, file)
        for one, other, place in spelling.alike[:MOST_HINTS]
    ]


def _lone_connective(rule: Rule) -> str:
    """Return the first ``not``, ``and`` or ``or`` that is a formula by itself; "" if there is none."""
    words = (part.term.functor for part in rule.body if isinstance(part, Atom) and not part.term.arguments)
    return next((word for word in words if word in CONNECTIVES), "")


def _is_loose_declaration(rule: Rule) -> bool:
    return not rule.body and rule.head.functor in DECLARATIONS and bool(set(variables(rule.head)))


def _with_role(rule: Rule) -> Rule:
    """Return the rule with ``(role ?p)`` in front of its body where only its head's role argument is unbound."""
    if rule.head.functor not in ("legal", "goal", "sees") or not rule.head.arguments or not rule.body:
        return rule
    role = rule.head.arguments[0]
    unbound = {v for clause in clauses(Description((rule,))) for v in _unbound(clause)}
    if not isinstance(role, Variable) or unbound != {role}:
        return rule
    return Rule(rule.head, (Atom(Term("role", (role,)), rule.place), *rule.body), rule.place)


def variables(term: Argument) -> Iterator[Variable]:
    """Yield the variables of a term, once for each occurrence."""
    if isinstance(term, Variable):
        yield term
    else:
        for argument in term.arguments:
            yield from variables(argument)


def _is_positive_atom(literal: Literal) -> bool:
    return literal.positive and literal.atom.functor != "distinct"


def _unbound(clause: Clause) -> set[Variable]:
    """Return variables of the head, of negative literals and of distinct that no positive atom binds."""
    bound = {v for literal in clause.body if _is_positive_atom(literal) for v in variables(literal.atom)}
    needed = set(variables(clause.head))
    needed |= {v for literal in clause.body if not _is_positive_atom(literal) for v in variables(literal.atom)}
    return needed - bound


class _Checker:
    def __init__(self, description: Description) -> None:
        self.description = description
        self.clauses = clauses(description)
        self.component = _components(self.clauses)
        self.texts: dict[int, str] = {}

    def defects(self) -> Iterator[Defect]:
        yield from repairs(self.description)
        skipped = {id(r) for r in self.description.rules if _is_loose_declaration(r)}
        seen: set[tuple[int, str]] = set()
        for clause in self.clauses:
            if id(clause.rule) in skipped:
                continue
            for message, place in self._clause(clause):
                if (id(clause.rule), message) not in seen:
                    seen.add((id(clause.rule), message))
                    yield self._defect(message, clause, place)
        yield from self._whole()

    def _defect(self, message: str, clause: Clause, place: Place, severity: str = ERROR) -> Defect:
        where = place if place != NOWHERE else clause.rule.place
        text = self.texts.get(id(clause.rule))
        if text is None:
            text = self.texts[id(clause.rule)] = shorten(str(clause.rule), MAX_RULE_TEXT)
        return Defect(severity, message, text, where, self.description.file)

    def _clause(self, clause: Clause) -> Iterator[tuple[str, Place]]:
        yield from self._arity(clause)
        yield from self._keywords(clause)
        for variable in sorted(_unbound(clause)):
            yield f"unsafe: {shorten(str(variable))} is bound by no positive atom of the body", clause.rule.place
        yield from self._cycles(clause)

    def _arity(self, clause: Clause) -> Iterator[tuple[str, Place]]:
        for term, place in [(clause.head, clause.rule.place), *((lit.atom, lit.place) for lit in clause.body)]:
            expected = ARITY.get(term.functor)
            if expected is not None and len(term.arguments) != expected:
                yield f"{term.functor} takes {expected} arguments, not {len(term.arguments)}", place

    def _keywords(self, clause: Clause) -> Iterator[tuple[str, Place]]:
        head, place = clause.head, clause.rule.place
        if head.functor in NEVER_HEADS:
            yield f"{head.functor} cannot be defined by a rule", place
        if head.functor == "role" and (clause.body or any(variables(head))):
            yield "roles are facts", place
        if head.functor == "goal" and len(head.arguments) == ARITY["goal"]:
            value = head.arguments[1]
            if isinstance(value, Term) and not _is_goal(value):
                yield f"the goal {shorten(str(value))} is not a number from 0 to {MAX_GOAL}", place
        for literal in clause.body:
            if literal.atom.functor in ("init", "sees"):
                yield f"{literal.atom.functor} is not allowed in a body", literal.place

    def _cycles(self, clause: Clause) -> Iterator[tuple[str, Place]]:
        """Yield negations inside a cycle, and arguments that could grow without bound around one."""
        own = self.component.get(clause.head.relation)
        if own is None:
            return
        inside: list[Literal] = []
        outside: set[Variable] = set()
        for literal in clause.body:
            if self.component.get(literal.atom.relation) == own:
                inside.append(literal)
            elif _is_positive_atom(literal):
                outside.update(variables(literal.atom))
        for literal in inside:
            if not literal.positive:
                if self.knots.negates_itself(clause, literal):
                    yield f"not stratified: {clause.head.functor} depends on its own negation", literal.place
                continue
            for argument in literal.atom.arguments:
                free = set(variables(argument)) - outside
                if free and argument not in clause.head.arguments:
                    names = ", ".join(map(str, sorted(free)))
                    yield f"recursion without bound: {names} in {literal.atom} may grow around the cycle", literal.place

    @cached_property
    def knots(self) -> _Knots:
        return _Knots([clause for clause in self.clauses if clause.body and clause.head.relation in self.component])

    def _whole(self) -> Iterator[Defect]:
        heads = {clause.head.functor for clause in self.clauses}
        for keyword in REQUIRED:
            if keyword not in heads:
                yield Defect(ERROR, f"no rule for {keyword}", "", Place(1, 1), self.description.file)
        if "init" not in heads:
            message = "no rule for init; the game starts with the empty state"
            yield Defect(WARNING, message, "", Place(1, 1), self.description.file)
        for message, clause, place in lone_relations(self.clauses):
            yield self._defect(message, clause, place, WARNING)
        reads = {keyword: _readers(self.clauses, keyword) for keyword in STATELESS}
        for clause in self.clauses:
            head = clause.head.functor
            banned = STATELESS if head in STATIC else ("does",) if head in ("legal", "terminal", "goal") else ()
            for literal in clause.body if banned else ():
                found = sorted(keyword for keyword in banned if literal.atom.relation in reads[keyword])
                if found:
                    message = f"{head} must not depend on {', '.join(found)}"
                    yield self._defect(message, clause, literal.place)


def lone_relations(rules: list[Clause]) -> Iterator[tuple[str, Clause, Place]]:
    """Yield relations that are used but never defined, or defined but never used, with their first occurrence.

    A misspelt word is one or the other, so a similar known word is suggested.
    """
    used = _first_uses(((lit.atom, clause, lit.place) for clause in rules for lit in clause.body), CONNECTIVES)
    defined = _first_uses(((clause.head, clause, clause.rule.place) for clause in rules), DISPLAYS)
    undefined, unused = used.keys() - defined.keys(), defined.keys() - used.keys()
    read, written = ({(word, ARITY[word]) for word in words} for words in (READ, WRITTEN))
    hints = _Hints()
    for relation, where in used.items():
        if relation in undefined:
            hint = hints.one(relation, unused, defined, read)
            yield f"{_named(relation)} is used but never defined, so it never holds{hint}", *where
    for relation, where in defined.items():
        if relation in unused:
            yield f"{_named(relation)} is defined but never used{hints.one(relation, written, undefined)}", *where


def _first_uses(
    uses: Iterable[tuple[Term, Clause, Place]], separated: tuple[str, ...]
) -> dict[Relation, tuple[Clause, Place]]:
    """Return the first occurrence of each relation; keywords and the words ``separated`` are left out."""
    first: dict[Relation, tuple[Clause, Place]] = {}
    for atom, clause, place in uses:
        if atom.functor not in ARITY and atom.functor not in separated:
            first.setdefault(atom.relation, (clause, place))
    return first


def _named(relation: Relation) -> str:
    name, arity = relation
    return f"{shorten(name)}/{arity}"


class _Hints:
    """Suggestions for unknown words, limited in number, as a file may be full of such words."""

    def __init__(self) -> None:
        self.left = MOST_HINTS

    def one(self, relation: Relation, *kinds: Iterable[Relation]) -> str:
        """Return a suggestion from the first kind that has one: the same name with another arity, or a similar name."""
        self.left -= 1
        for known in kinds if self.left >= 0 else ():
            by_name = {other[0]: other for other in sorted(known)[:MOST_KNOWN] if other != relation}
            if close := get_close_matches(relation[0][:MAX_WORD], by_name, n=1, cutoff=LIKENESS):
                return f"; did you mean {_named(by_name[close[0]])}?"
        return ""


def may_unify(one: Argument, other: Argument) -> bool:
    """Return whether two terms could be equal, each variable taken as anything; never wrong when it is false."""
    if isinstance(one, Variable) or isinstance(other, Variable):
        return True
    return one.relation == other.relation and all(map(may_unify, one.arguments, other.arguments))


_NUMBER = re.compile(r"[0-9]{1,9}")


def goal_value(value: Term) -> int | None:
    """Return the number of a goal's value; ``None`` where it is not a number, or one of more than nine digits."""
    return int(value.functor) if not value.arguments and _NUMBER.fullmatch(value.functor) else None


def _is_goal(value: Term) -> bool:
    number = goal_value(value)
    return number is not None and number <= MAX_GOAL


class _Knots:
    """Recursive clauses that depend on each other, with the arguments of their heads taken into account."""

    def __init__(self, rules: list[Clause]) -> None:
        self.rules = rules
        self.by_relation: dict[Relation, list[int]] = defaultdict(list)
        self.by_argument: dict[tuple[Relation, int, Relation | None], list[int]] = defaultdict(list)
        for k, clause in enumerate(rules):
            relation = clause.head.relation
            self.by_relation[relation].append(k)
            for position, argument in enumerate(clause.head.arguments):
                inner = argument.relation if isinstance(argument, Term) else None
                self.by_argument[relation, position, inner].append(k)
        below = {k: {j for lit in clause.body for j in self._defining(lit.atom)} for k, clause in enumerate(rules)}
        self.label = {k: number for number, knot in enumerate(components(below)) for k in knot}
        self.number = {id(clause): k for k, clause in enumerate(rules)}

    def _defining(self, atom: Term) -> list[int]:
        """Return the clauses for an atom, found by the argument that the fewest of them share."""
        relation = atom.relation
        found = self.by_relation.get(relation, [])
        for position, argument in enumerate(atom.arguments):
            if isinstance(argument, Term):
                fitting = [
                    *self.by_argument.get((relation, position, argument.relation), ()),
                    *self.by_argument.get((relation, position, None), ()),
                ]
                found = min(found, fitting, key=len)
        return [k for k in found if may_unify(self.rules[k].head, atom)]

    def negates_itself(self, clause: Clause, literal: Literal) -> bool:
        """Return whether some rule for the negated atom can lead back to this rule.

        ``(<= (goal ?r 0) (not (goal ?r 100)))`` is stratified once the two goals are distinguished.
        """
        own = self.label[self.number[id(clause)]]
        return any(self.label[k] == own for k in self._defining(literal.atom))


def _readers(rules: list[Clause], keyword: str) -> set[Relation]:
    """Return the relations that depend on a keyword, including the keyword itself."""
    above: dict[Relation, set[Relation]] = defaultdict(set)
    for clause in rules:
        for literal in clause.body:
            above[literal.atom.relation].add(clause.head.relation)
    todo = [relation for relation in above if relation[0] == keyword]
    seen = set(todo)
    while todo:
        fresh = above.get(todo.pop(), set()) - seen
        seen |= fresh
        todo += fresh
    return seen


def _components(rules: list[Clause]) -> dict[Relation, int]:
    """Return numbers for the cycles of relations; a relation on no cycle has none."""
    below: dict[Relation, set[Relation]] = {}
    for clause in rules:
        atoms = {lit.atom.relation for lit in clause.body}
        below.setdefault(clause.head.relation, set()).update(atoms)
        below.update({relation: set() for relation in atoms - below.keys()})
    cycles = (members for members in components(below) if len(members) > 1 or members[0] in below[members[0]])
    return {relation: number for number, members in enumerate(cycles) for relation in members}
