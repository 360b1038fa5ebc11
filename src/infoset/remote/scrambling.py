"""The words of a game replaced by words without meaning: a player must live by the rules alone."""

from __future__ import annotations

import re

import numpy as np

from infoset.base import Action
from infoset.gdl.checks import ARITY, CONNECTIVES
from infoset.gdl.syntax import And, Argument, Atom, Description, Formula, Not, Or, Rule, Term, Variable

KEPT = frozenset((*ARITY, *CONNECTIVES, "random", "nil"))
"""The keywords; numbers stay as well, since goals are numbers."""
NUMBER = re.compile(r"-?[0-9]+")
LETTERS, LENGTH = "abcdefghijklmnopqrstuvwxyz", 8


class Scrambling:
    """A random word for every word of ``description`` but the keywords and numbers.

    >>> from infoset.gdl.syntax import parse_gdl
    >>> from infoset.remote.scrambling import Scrambling
    >>> scrambling = Scrambling(parse_gdl("(role robot) (legal robot (go 1))"), np.random.default_rng(1))
    >>> scrambling.back(scrambling.out(("go", 1)))
    ('go', 1)
    """

    def __init__(self, description: Description, rng: np.random.Generator) -> None:
        words = sorted({word for rule in description.rules for word in _words(rule)} - KEPT)
        fresh: dict[str, None] = {}
        while len(fresh) < len(words):
            word = "".join(LETTERS[k] for k in rng.integers(len(LETTERS), size=LENGTH))
            if word not in KEPT:
                fresh[word] = None
        self._out = dict(zip(words, fresh, strict=True))
        self._back = {new: old for old, new in self._out.items()}
        self.description = Description(tuple(map(self._rule, description.rules)), description.file)

    def out(self, move: Action) -> Action:
        """A move or percept as the player knows it."""
        return _renamed(move, self._out)

    def back(self, move: Action) -> Action:
        """A move or percept as the game knows it; words that were never given to the player stay."""
        return _renamed(move, self._back)

    def _rule(self, rule: Rule) -> Rule:
        return Rule(self._term(rule.head), tuple(map(self._formula, rule.body)), rule.place)

    def _formula(self, formula: Formula) -> Formula:
        match formula:
            case Atom(term, place):
                return Atom(self._term(term), place)
            case Not(inner, place):
                return Not(self._formula(inner), place)
        return type(formula)(tuple(map(self._formula, formula.parts)), formula.place)

    def _term(self, term: Term) -> Term:
        return Term(self._out.get(term.functor, term.functor), tuple(map(self._argument, term.arguments)))

    def _argument(self, argument: Argument) -> Argument:
        return argument if isinstance(argument, Variable) else self._term(argument)


def _renamed(move: Action, words: dict[str, str]) -> Action:
    if isinstance(move, tuple):
        return tuple([_renamed(part, words) for part in move])
    return words.get(move, move) if isinstance(move, str) else move


def _words(part: Rule | Formula | Argument) -> set[str]:
    """Every word that stands in a part of a description."""
    match part:
        case Variable():
            return set()
        case Term(functor, arguments):
            own = set() if NUMBER.fullmatch(functor) else {functor}
            return own.union(*map(_words, arguments))
        case Atom(term):
            return _words(term)
        case Not(formula):
            return _words(formula)
        case And(parts) | Or(parts):
            return set().union(*map(_words, parts))
    return _words(part.head).union(*map(_words, part.body))
