"""Read game descriptions from KIF or infix text into terms, formulas and rules, and print them as KIF.

KIF (prefix) is ``(<= (legal ?p noop) (role ?p) (not (true (control ?p))))``; the infix form of the same rule is
``legal(P, noop) :- role(P) & ~true(control(P))``.  Words are folded to lower case, unless the text uses words that
differ only in case as different words (see ``Spelling``).  ``(f)`` is read as the constant ``f``.  Every part keeps its
place in the text; places are ignored when values are compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

from infoset.base import Action
from infoset.errors import FormatError, shorten
from infoset.files import read_text

MAX_DEPTH = 200
MAX_ERRORS = 100  # that are listed
MAX_SHOWN = 200  # characters of a rule in a message
KEYWORDS = frozenset((
    "role", "init", "true", "next", "legal", "does", "goal", "terminal", "sees", "distinct", "base", "input", "percept",
    "not", "and", "or", "random", "nil",
))  # fmt: skip
"""Words with a fixed meaning, whatever their case."""


class Place(NamedTuple):
    """A position in the text; line and column count from 1."""

    line: int = 0
    column: int = 0


NOWHERE = Place()


class Variable(NamedTuple):
    """A variable; its name has no question mark."""

    name: str

    def __str__(self) -> str:
        return f"?{self.name}"


class Term(NamedTuple):
    """A constant (no arguments) or a compound term; used as an atom, a relation applied to its arguments."""

    functor: str
    arguments: tuple[Argument, ...] = ()

    def __str__(self) -> str:
        return f"({' '.join([self.functor, *map(str, self.arguments)])})" if self.arguments else self.functor

    @property
    def relation(self) -> tuple[str, int]:
        """Name and arity: relations with the same name and different arities are different relations."""
        return self.functor, len(self.arguments)


Argument: TypeAlias = "Variable | Term"


@dataclass(frozen=True, slots=True)
class Atom:
    """An atomic formula: a relation that must hold."""

    term: Term
    place: Place = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return str(self.term)


@dataclass(frozen=True, slots=True)
class Not:
    """A negation: a formula that must not hold."""

    formula: Formula
    place: Place = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return f"(not {self.formula})"


@dataclass(frozen=True, slots=True)
class And:
    """A conjunction: formulas that must all hold."""

    parts: tuple[Formula, ...]
    place: Place = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return f"({' '.join(['and', *map(str, self.parts)])})"


@dataclass(frozen=True, slots=True)
class Or:
    """A disjunction: formulas at least one of which must hold."""

    parts: tuple[Formula, ...]
    place: Place = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return f"({' '.join(['or', *map(str, self.parts)])})"


_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,99}")


def to_action(term: Term) -> Action:
    """Return a ground term as a move: ``(mark 1 b)`` becomes ``("mark", 1, "b")``; ``01`` stays a word (lossless)."""
    if term.arguments:
        return (term.functor, *map(to_action, cast("tuple[Term, ...]", term.arguments)))
    return int(term.functor) if _INTEGER.fullmatch(term.functor) else term.functor


def to_term(action: Action) -> Term:
    """Return the ground term of a move: the inverse of ``to_action``."""
    if isinstance(action, tuple):
        return Term(str(action[0]), tuple(map(to_term, action[1:])))
    return Term(str(action))


Formula: TypeAlias = "Atom | Not | And | Or"
Rename: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its head holds where every formula of its body holds; a fact has no body."""

    head: Term
    body: tuple[Formula, ...] = ()
    place: Place = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return f"({' '.join(['<=', str(self.head), *map(str, self.body)])})" if self.body else str(self.head)


@dataclass(frozen=True, slots=True)
class Spelling:
    """The way a text spells its words, which is needed to reply in the same spelling.

    Words are folded to lower case.  Where words of a text differ only in case and are meant as different words, the
    spelling is ``exact``: all words but the keywords stay as they are written.
    """

    exact: bool = False
    written: Mapping[str, str] = field(default_factory=dict)
    """The original spelling of each folded word."""
    alike: tuple[tuple[str, str, Place], ...] = ()
    """Pairs of words that differ only in case, each with the place of the first rule that has the second word."""

    def read(self, word: str) -> str:
        """Return the word that a written word stands for."""
        folded = word.lower()
        return word if self.exact and folded not in KEYWORDS else folded

    def write(self, word: str) -> str:
        """Return a word as the text writes it: the inverse of ``read``."""
        return self.written.get(word, word)


@dataclass(frozen=True, slots=True)
class Description:
    """The rules of a game in their order, the file that they came from, and the spelling of its words."""

    rules: tuple[Rule, ...]
    file: str = field(default="", compare=False)
    spelling: Spelling = field(default=Spelling(), compare=False)

    def __str__(self) -> str:
        """Return KIF text that reads as an equal description."""
        return "".join(f"({rule.head.functor})\n" if str(rule)[0] != "(" else f"{rule}\n" for rule in self.rules)


def placed(file: str, rule: Rule) -> tuple[str, str]:
    """Return the place and the text of a rule, for a message."""
    return f"{file or '<text>'}:{rule.place.line}:{rule.place.column}", shorten(str(rule), MAX_SHOWN)


def read_gdl(path: str | Path) -> Description:
    """Read a description of at most ``files.MAX_TEXT_BYTES`` bytes.  Raises ``FormatError``."""
    return parse_gdl(read_text(Path(path)), str(path))


def parse_gdl(text: str, file: str = "") -> Description:
    """Read KIF or infix text (detected automatically); ``file`` is its name in messages.

    Raises ``FormatError`` with line and column.

    >>> from infoset.gdl.syntax import parse_gdl
    >>> description = parse_gdl("(role a) (init x) (<= (next x) (true x))")
    >>> len(description.rules)
    3
    """
    reader = _Infix if _is_infix(text) else Kif
    return spelled(tuple(reader(text, file).rules()), file, text)


def parse_leniently(text: str, file: str = "") -> tuple[Description, list[FormatError]]:
    r"""Read what can be read of a text, and return it with every error.

    After an error in KIF, reading goes on with the next line that begins with a parenthesis.

    >>> from infoset.gdl.syntax import parse_leniently
    >>> description, errors = parse_leniently("(role a\n(init x))\n(legal a ?)\n(init y)")
    >>> len(description.rules), [error.line for error in errors]
    (2, [3])
    """
    lines, begin = text.splitlines(), 0
    rules: list[Rule] = []
    errors: list[FormatError] = []
    while len(errors) < MAX_ERRORS:
        rest = "\n" * begin + "\n".join(lines[begin:])
        reader = _Infix(rest, file) if _is_infix(text) else Kif(rest, file)
        try:
            for rule in reader.rules():
                rules.append(rule)  # noqa: PERF402 - those before an error count
            break
        except FormatError as error:
            errors.append(error)
            after = max(reader.started, error.line - 1)  # a missing parenthesis is noticed where the next rule begins
            begin = next((k for k in range(after, len(lines)) if lines[k][:1] == "("), len(lines))
            if begin == len(lines) or isinstance(reader, _Infix):
                break
    return spelled(tuple(rules), file, text), errors


def _is_infix(text: str) -> bool:
    first = re.search(r"[^\s]", re.sub(r"[;%].*", "", text))
    return bool(first and first[0] != "(" and ":-" in text)


def atoms(rule: Rule) -> Iterator[tuple[Term, bool]]:
    """Yield the head and every atom of the body, each with whether it is not negated."""
    yield rule.head, True
    todo: list[tuple[Formula, bool]] = [(part, True) for part in reversed(rule.body)]
    while todo:
        part, positive = todo.pop()
        if isinstance(part, Atom):
            yield part.term, positive
        elif isinstance(part, Not):
            todo.append((part.formula, not positive))
        else:
            todo += [(inner, positive) for inner in reversed(part.parts)]


def parts(argument: Argument) -> Iterator[Argument]:
    """Yield a term and all its subterms."""
    yield argument
    if isinstance(argument, Term):
        for inner in argument.arguments:
            yield from parts(inner)


def renamed(rule: Rule, word: Rename, variable: Rename = str) -> Rule:
    """Return the rule with its words, and optionally its variables, renamed."""

    def argument(one: Argument) -> Argument:
        return Variable(variable(one.name)) if isinstance(one, Variable) else term(one)

    def term(one: Term) -> Term:
        return Term(word(one.functor), tuple(map(argument, one.arguments)))

    def formula(one: Formula) -> Formula:
        match one:
            case Atom(atom, place):
                return Atom(term(atom), place)
            case Not(inner, place):
                return Not(formula(inner), place)
        return type(one)(tuple(map(formula, one.parts)), one.place)

    return Rule(term(rule.head), tuple(map(formula, rule.body)), rule.place)


def renamed_action(action: Action, word: Rename) -> Action:
    """Return the move or percept with its words renamed; numbers stay."""
    if isinstance(action, tuple):
        return tuple([renamed_action(part, word) for part in action])
    return word(action) if isinstance(action, str) else action


def spelled(rules: tuple[Rule, ...], file: str, text: str) -> Description:
    """Return the description of rules whose words stand as ``text`` writes them, and decide on its spelling.

    Words that differ only in case are treated as one word where a relation would have no rule, or a variable would be
    unbound, otherwise; elsewhere they stay different, as they are for case-sensitive programs.
    """
    if text == text.lower():
        return Description(rules, file)
    relations: dict[str, dict[str, Place]] = {}
    others: dict[str, dict[str, Place]] = {}
    variables: list[tuple[str, str, Place]] = []
    for rule in rules:
        known: dict[str, str] = {}
        for atom, _ in atoms(rule):
            relations.setdefault(atom.functor.lower(), {}).setdefault(atom.functor, rule.place)
            for part in (inner for argument in atom.arguments for inner in parts(argument)):
                if isinstance(part, Term):
                    others.setdefault(part.functor.lower(), {}).setdefault(part.functor, rule.place)
                elif known.setdefault(part.name.lower(), part.name) != part.name:
                    variables.append((f"?{known[part.name.lower()]}", f"?{part.name}", rule.place))
    pairs = [(next(iter(found)), word, place)
             for table in (relations, others) for folded, found in table.items() if folded not in KEYWORDS
             for word, place in list(found.items())[1:]]  # fmt: skip
    alike = tuple(sorted(dict.fromkeys([*pairs, *variables]), key=lambda pair: pair[2]))
    folded_rules = tuple([renamed(rule, str.lower, str.lower) for rule in rules])
    if alike:
        exact = Spelling(True, {}, alike)
        exact_rules = tuple([renamed(rule, exact.read) for rule in rules])
        if _loose(exact_rules) <= _loose(folded_rules):
            return Description(exact_rules, file, exact)
    written = {folded: next(iter(found)) for folded, found in others.items() if folded not in found}
    return Description(folded_rules, file, Spelling(False, written, alike))


def _loose(rules: tuple[Rule, ...]) -> set[tuple[int, str]]:
    """Return, in lower case, the relations that are used but not defined, and each rule's unbound variables."""
    defined = KEYWORDS.union(rule.head.functor for rule in rules)
    found: set[tuple[int, str]] = set()
    for k, rule in enumerate(rules):
        bound: set[str] = set()
        every: set[str] = set()
        for number, (atom, positive) in enumerate(atoms(rule)):
            if atom.functor not in defined:
                found.add((-1, atom.functor.lower()))
            names = {part.name for part in parts(atom) if isinstance(part, Variable)}
            every |= names
            if number and positive and atom.functor != "distinct":
                bound |= names
        found |= {(k, name.lower()) for name in every - bound}
    return found


class _Reader:
    """Tokens with their places, and errors that report these places."""

    pattern: re.Pattern[str]

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.tokens = self._scan()
        self.depth = 0
        self.started = 1
        """The line at which the rule begins that is being read."""
        self.advance()

    def _scan(self) -> Iterator[tuple[str, Place]]:
        line, line_begin, end = 1, 0, 0
        for match in self.pattern.finditer(self.text):
            line += self.text.count("\n", end, match.start())
            newline = self.text.rfind("\n", end, match.start())
            line_begin = newline + 1 if newline >= 0 else line_begin
            end = match.start()
            if match.lastindex:
                yield match[match.lastindex], Place(line, match.start() - line_begin + 1)
        finish = Place(self.text.count("\n") + 1, len(self.text) - self.text.rfind("\n"))
        while True:
            yield "", finish

    def advance(self) -> str:
        """Step to the next token and return the one that was current."""
        taken = getattr(self, "token", "")
        self.token, self.place = next(self.tokens)
        return taken

    def fail(self, expected: str, place: Place | None = None, found: str | None = None) -> FormatError:
        line, column = place or self.place
        shown = found or (repr(shorten(self.token)) if self.token else "the end of the text")
        return FormatError(f"found {shown}, expected {expected}", self.file, line, column)

    def expect(self, mark: str) -> None:
        if self.token != mark:
            raise self.fail(repr(mark))
        self.advance()

    def descend(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"at most {MAX_DEPTH} levels of nesting")


class Kif(_Reader):
    """Read the prefix (KIF) syntax of GDL."""

    pattern = re.compile(r"([()])|;[^\n]*|([^\s();]+)")

    def rules(self) -> Iterator[Rule]:
        while self.token:
            self.started = self.place.line
            yield self.rule()

    def rule(self) -> Rule:
        place = self.place
        if self.token != "(":
            return Rule(self.atom(), (), place)
        self.advance()
        if self.token != "<=":
            return Rule(self.compound(), (), place)
        self.advance()
        head, body = self.atom(), []
        while self.token != ")":
            body.append(self.formula())
        self.advance()
        return Rule(head, tuple(body), place)

    def formula(self) -> Formula:
        place = self.place
        if self.token != "(":
            return Atom(self.atom(), place)
        self.advance()
        word = self.token.lower()
        if word not in ("not", "and", "or"):
            return Atom(self.compound(), place)
        self.advance()
        self.descend()
        parts = []
        while self.token != ")":
            parts.append(self.formula())
        self.depth -= 1
        self.advance()
        if not parts or (word == "not" and len(parts) > 1):
            expected = "one formula" if word == "not" else "at least one formula"
            raise self.fail(expected, place, f"{len(parts)} in {word!r}")
        if word == "not":
            return Not(parts[0], place)
        return (And if word == "and" else Or)(tuple(parts), place)

    def atom(self) -> Term:
        place = self.place
        term = self.argument()
        if isinstance(term, Variable):
            raise self.fail("a relation", place, f"the variable {term}")
        return term

    def argument(self) -> Argument:
        if self.token == "(":
            self.advance()
            return self.compound()
        if self.token in ("", ")", "?", "<="):
            raise self.fail("a term")
        word = self.advance()
        return Variable(word[1:]) if word.startswith("?") and len(word) > 1 else Term(word)

    def compound(self) -> Term:
        """Read the rest of a compound term, from after its opening parenthesis up to the closing one."""
        if self.token in ("", "(", ")", "<=") or self.token.startswith("?"):
            raise self.fail("a name")
        self.descend()
        name, arguments = self.advance(), []
        while self.token != ")":
            arguments.append(self.argument())
        self.depth -= 1
        self.advance()
        return Term(name, tuple(arguments))


_MARKS = (":-", "(", ")", ",", "&", "|", "~", ".", ":", ";", "<=")


class _Infix(_Reader):
    pattern = re.compile(r"(:-|[(),&|~.:;])|%[^\n]*|([^\s(),&|~.%:;]+)")

    def rules(self) -> Iterator[Rule]:
        self.anonymous = 0
        while self.token:
            place, self.started = self.place, self.place.line
            head = self.term("a rule's head")
            if isinstance(head, Variable):
                raise self.fail("a relation", place, f"the variable {head}")
            body: list[Formula] = []
            if self.token == ":-":
                self.advance()
                if self.token not in ("", "."):
                    body.append(self.disjunction())
                while self.token in ("&", ","):
                    self.advance()
                    body.append(self.disjunction())
            if self.token == ".":
                self.advance()
            yield Rule(head, tuple(body), place)

    def conjunction(self) -> Formula:
        place, parts = self.place, [self.disjunction()]
        while self.token in ("&", ","):
            self.advance()
            parts.append(self.disjunction())
        return parts[0] if len(parts) == 1 else And(tuple(parts), place)

    def disjunction(self) -> Formula:
        place, parts = self.place, [self.literal()]
        while self.token == "|":
            self.advance()
            parts.append(self.literal())
        return parts[0] if len(parts) == 1 else Or(tuple(parts), place)

    def literal(self) -> Formula:
        place = self.place
        self.descend()
        formula: Formula
        if self.token == "~" or self.token.lower() == "not":
            self.advance()
            formula = Not(self.literal(), place)
        elif self.token == "(":
            self.advance()
            formula = self.conjunction()
            self.expect(")")
        else:
            term = self.term("a literal")
            if isinstance(term, Variable):
                raise self.fail("a relation", place, f"the variable {term}")
            if term.functor.lower() in ("not", "and", "or") and term.arguments:
                raise self.fail("a relation", place, f"the word {term.functor!r}")
            formula = Atom(term, place)
        self.depth -= 1
        return formula

    def term(self, what: str) -> Argument:
        if self.token in ("", *_MARKS) or not self.token.lstrip("?"):
            raise self.fail(what)
        word = self.advance()
        if word == "_":
            self.anonymous += 1
            return Variable(f"_{self.anonymous}")
        if word[0] == "?" or word[0].isupper():
            return Variable(word.lstrip("?"))
        arguments: list[Argument] = []
        if self.token == "(":
            self.descend()
            self.advance()
            while self.token != ")":
                arguments.append(self.term("a term"))
                if self.token != ")":
                    self.expect(",")
            self.depth -= 1
            self.advance()
        return Term(word, tuple(arguments))


class Literal(NamedTuple):
    """An atom or its negation, as it stands in a normalised rule."""

    atom: Term
    positive: bool
    place: Place = NOWHERE

    def __str__(self) -> str:
        return str(self.atom) if self.positive else f"(not {self.atom})"


class Clause(NamedTuple):
    """A rule whose body is a plain conjunction of literals; ``rule`` is the rule that it was made from."""

    head: Term
    body: tuple[Literal, ...]
    rule: Rule


MAX_CLAUSES, MAX_LITERALS = 100_000, 5_000_000


def clauses(description: Description) -> list[Clause]:
    """Return every rule in disjunctive normal form, one clause for each disjunct.

    Negations move inwards; ``(not (distinct a b))`` stays a negative literal, which means equality.
    Raises ``FormatError`` where disjunctions would give more than ``MAX_CLAUSES`` clauses or ``MAX_LITERALS`` literals.
    """
    many = literals = 0
    for rule in description.rules:
        count, size = _unfolded(And(rule.body, rule.place), True) if rule.body else (1, 0)
        if count > 1:
            many, literals = many + count, literals + size
        if many > MAX_CLAUSES or literals > MAX_LITERALS:
            message = f"disjunctions unfold to more than {MAX_CLAUSES:,} rules or {MAX_LITERALS:,} literals"
            raise FormatError(message, description.file, *rule.place)
    return [
        Clause(rule.head, body, rule)
        for rule in description.rules
        for body in (_disjuncts(And(rule.body, rule.place), True) if rule.body else [()])
    ]


def _unfolded(formula: Formula, positive: bool) -> tuple[int, int]:
    """Return how many disjuncts a formula has, and how many literals in all; only approximate beyond the limits."""
    if isinstance(formula, Atom):
        return 1, 1
    if isinstance(formula, Not):
        return _unfolded(formula.formula, not positive)
    sizes = [_unfolded(part, positive) for part in formula.parts]
    if isinstance(formula, Or) == positive:
        return sum(count for count, _ in sizes), sum(literals for _, literals in sizes)
    count, literals = 1, 0
    for more, size in sizes:
        literals = min(literals * more + count * size, 2 * MAX_LITERALS)
        count = min(count * more, 2 * MAX_CLAUSES)
    return count, literals


def _disjuncts(formula: Formula, positive: bool) -> Iterator[tuple[Literal, ...]]:
    if isinstance(formula, Atom):
        yield (Literal(formula.term, positive, formula.place),)
    elif isinstance(formula, Not):
        yield from _disjuncts(formula.formula, not positive)
    elif isinstance(formula, Or) == positive:
        for part in formula.parts:
            yield from _disjuncts(part, positive)
    else:
        for chosen in product(*(_disjuncts(part, positive) for part in formula.parts)):
            yield tuple(chain.from_iterable(chosen))
