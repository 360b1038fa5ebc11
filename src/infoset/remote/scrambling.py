"""Replace the words of a game by words without meaning, so that a player depends on the rules alone."""

from __future__ import annotations

import re

import numpy as np

from infoset.base import Action
from infoset.gdl.syntax import KEYWORDS, Description, Term, atoms, parts, renamed, renamed_action

NUMBER = re.compile(r"-?[0-9]+")
LETTERS, LENGTH = "abcdefghijklmnopqrstuvwxyz", 8


class Scrambling:
    """A random word for every word of ``description`` except keywords and numbers.

    >>> from infoset.gdl.syntax import parse_gdl
    >>> from infoset.remote.scrambling import Scrambling
    >>> scrambling = Scrambling(parse_gdl("(role robot) (legal_actions robot (go 1))"), np.random.default_rng(1))
    >>> scrambling.back(scrambling.out(("go", 1)))
    ('go', 1)
    """

    def __init__(self, description: Description, rng: np.random.Generator) -> None:
        terms = (part for rule in description.rules for atom, _ in atoms(rule) for part in parts(atom))
        words = sorted({term.functor for term in terms if isinstance(term, Term)} - KEYWORDS)
        words = [word for word in words if not NUMBER.fullmatch(word)]  # goals are numbers
        fresh: dict[str, None] = {}
        while len(fresh) < len(words):
            word = "".join(LETTERS[k] for k in rng.integers(len(LETTERS), size=LENGTH))
            if word not in KEYWORDS:
                fresh[word] = None
        self._out = dict(zip(words, fresh, strict=True))
        self._back = {new: old for old, new in self._out.items()}
        rules = tuple([renamed(rule, lambda word: self._out.get(word, word)) for rule in description.rules])
        self.description = Description(rules, description.file)

    def out(self, move: Action) -> Action:
        """Translate a move or percept to the player's words."""
        return renamed_action(move, lambda word: self._out.get(word, word))

    def back(self, move: Action) -> Action:
        """Translate a move or percept to the game's words; words that the player never received are kept."""
        return renamed_action(move, lambda word: self._back.get(word, word))
