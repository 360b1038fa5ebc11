"""A small language to choose hands of a table: ``top pair | set, suit:h``.

A comma means *and* and binds more tightly than ``|``, *or*; ``not`` turns one condition around.  Conditions are

- hands as in ranges: ``AKs``, ``TT+``, ``A5s-A2s``, ``AhKd``, with blanks between several of them: ``AKs TT+``;
- suits: ``suited``, ``offsuit``, ``pocket pair``, ``suit:h`` (a heart), ``suit:hh`` (two of them), ``suit:hs``;
- made hands and draws of ``hand_classes``, and short names of some (``oesd``); ``flush draw`` includes the nut flush
  draw, ``draw`` is any draw but a backdoor flush draw;
- strength: ``top 20%`` and ``bottom 20%`` of the hands as they are held there, by equity;
- figures: ``equity > 60%``, ``ev >= -5``, ``weight < .5``, ``realised > 1``, and the probability of an action,
  ``bet 50 > 20%``.
"""

from __future__ import annotations

import operator
import re

import numpy as np

from infoset.base import BoolArray, FloatArray
from infoset.errors import ParameterError, UnknownNameError, shorten
from infoset.games.hand_classes import BACKDOOR, DRAWS, MADE_HANDS, draws, made_hand
from infoset.games.poker_hands import RANKS, SUITS, cards_of, parse_range
from infoset.hand_table import HandTable

SYNONYMS = {
    "middle pair": "second pair", "weak pair": "low pair", "three of a kind": "trips", "four of a kind": "quads",
    "boat": "full house", "fd": "flush draw", "nfd": "nut flush draw", "bdfd": "backdoor flush draw",
    "oesd": "open-ended straight draw", "open-ended": "open-ended straight draw", "gutshot straight draw": "gutshot",
}  # fmt: skip
SHAPES = ("suited", "offsuit", "pocket pair")
FIGURES = ("equity", "ev", "weight", "realised")
COMPARISONS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
MAX_LENGTH = 1000
_COMPARISON = re.compile(r"(.*?)\s*(<=|>=|<|>)\s*(.*)")
_PORTION = re.compile(r"(top|bottom)\s+(\d+(?:\.\d*)?|\.\d+)\s*%")
_HANDS = re.compile(rf"[{RANKS}]{{2}}|([{RANKS}][{SUITS}]){{2}}|any\b|random\b|100%", re.IGNORECASE)


def select_hands(table: HandTable, text: str) -> BoolArray:
    """Return (H,) whether each hand of the table meets a filter; the module describes the language.

    Raises ``UnknownNameError`` for an unknown condition, and ``ParameterError`` for one that is wrong otherwise, also
    where two conditions on classes exclude each other.
    """
    if len(text) > MAX_LENGTH:
        raise ParameterError(f"a filter of {len(text):,} characters; at most {MAX_LENGTH:,} are allowed")
    if not text.strip():
        return np.ones(len(table.hands), dtype=np.bool_)
    chosen = np.zeros(len(table.hands), dtype=np.bool_)
    for alternative in text.split("|"):
        chosen |= _Conditions(table).all_of(alternative)
    return chosen


class _Conditions:
    """The conditions of one alternative of a filter."""

    def __init__(self, table: HandTable) -> None:
        self.table = table
        self.hands = [cards_of(hand, "hand") for hand in table.hands]
        self.board = cards_of("".join(table.board), "board")

    def all_of(self, text: str) -> BoolArray:
        """Return whether each hand meets all conditions between commas."""
        chosen = np.ones(len(self.hands), dtype=np.bool_)
        allowed: set[tuple[int, ...]] = set()
        ranges: list[str] = []
        for condition in text.split(","):
            words = " ".join(condition.split())
            if not words:
                raise ParameterError(f"filter {shorten(text.strip())!r}: a condition is missing beside a comma or '|'")
            negated = words.lower().startswith("not ")
            words = words[4:] if negated else words
            if _HANDS.match(words) and not negated:
                hands = {*parse_range(words, (), "filter")}
                if ranges and not allowed & hands:
                    both, either = ", ".join([*ranges, words]), " | ".join([*ranges, words])
                    raise ParameterError(f"filter {shorten(both)!r}: no hand is in all of these; {either!r} is any")
                allowed = allowed & hands if ranges else hands
                ranges.append(words)
            met = self.one(words)
            chosen &= ~met if negated else met
        return chosen

    def one(self, text: str) -> BoolArray:
        """Return whether each hand meets one condition."""
        words = text.lower()
        if found := _COMPARISON.fullmatch(words):
            return self._compared(text, *found.groups())
        if words.startswith(("top ", "bottom ")) and words.endswith("%"):
            return self._portion(words)
        if words.startswith("suit:"):
            return self._suits(text, words.removeprefix("suit:").strip())
        if _HANDS.match(text):
            hands = parse_range(text, (), "filter")
            return np.array([hand in hands for hand in self.hands], dtype=np.bool_)
        return self._named(text, SYNONYMS.get(words, words))

    def _named(self, text: str, name: str) -> BoolArray:
        for known in (name, name.removesuffix("s"), f"{name}s"):
            if known in MADE_HANDS:
                return np.array([made_hand(hand, self.board) == known for hand in self.hands], dtype=np.bool_)
            if known in DRAWS:
                return np.array([known in draws(hand, self.board) for hand in self.hands], dtype=np.bool_)
            if known == "draw":
                found = [{*draws(hand, self.board)} - {BACKDOOR} for hand in self.hands]
                return np.array([bool(own) for own in found], dtype=np.bool_)
            if known in SHAPES:
                return np.array([_shape(hand) == known for hand in self.hands], dtype=np.bool_)
        listed = [*MADE_HANDS, *DRAWS, *SYNONYMS, *SHAPES, "draw", "suit:h", "top 20%", "equity>60%", "TT+", "AKs"]
        raise UnknownNameError("condition on hands", text, listed)

    def _suits(self, text: str, suits: str) -> BoolArray:
        if not 1 <= len(suits) <= 2 or not {*suits} <= {*SUITS}:
            raise ParameterError(f"filter {shorten(text)!r}: one or two suits of {SUITS} are allowed, as in suit:h")
        suits_of = ["".join(SUITS[card % 4] for card in hand) for hand in self.hands]
        return np.array(
            [all(own.count(suit) >= suits.count(suit) for suit in suits) for own in suits_of], dtype=np.bool_
        )

    def _portion(self, text: str) -> BoolArray:
        """Return the strongest or weakest hands until a share of all is reached; equal ones stay together."""
        found = _PORTION.fullmatch(text)
        if found is None or not 0 < float(found[2]) <= 100:
            raise ParameterError(f"filter {shorten(text)!r}: allowed are top 20%, bottom 5% and so on")
        equity = np.nan_to_num(self._known(text, "equity", self.table.equity), nan=-1.0)
        sign = -1 if found[1] == "top" else 1
        values, inverse = np.unique(sign * np.round(equity, 9), return_inverse=True)
        shares = np.bincount(inverse, self.table.shares, len(values))
        before = np.cumsum(shares) - shares
        return np.asarray((before < float(found[2]) / 100 - 1e-9)[inverse] & (self.table.equity >= 0))

    def _compared(self, text: str, name: str, sign: str, number: str) -> BoolArray:
        try:
            limit = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
        except ValueError:
            raise ParameterError(
                f"filter {shorten(text)!r}: {shorten(number)!r} is not a number; such as equity > 60%"
            ) from None
        with np.errstate(invalid="ignore"):
            return np.asarray(COMPARISONS[sign](self._figure(text, name), limit))

    def _figure(self, text: str, name: str) -> FloatArray:
        table = self.table
        actions = [action.lower() for action in table.actions]
        if name in actions:
            return table.strategy[:, actions.index(name)]
        if name not in FIGURES:
            raise UnknownNameError("figure of hands", name, (*FIGURES, *table.actions))
        figures = {"equity": table.equity, "ev": table.ev, "weight": table.weights, "realised": table.realised}
        return self._known(text, name, figures[name])

    def _known(self, text: str, name: str, values: FloatArray) -> FloatArray:
        if len(values) and np.isnan(values).all():
            raise ParameterError(f"filter {shorten(text)!r}: the {name} of hands is unknown here")
        return values


def _shape(hand: tuple[int, ...]) -> str:
    one, two = hand
    return "pocket pair" if one // 4 == two // 4 else "suited" if one % 4 == two % 4 else "offsuit"
