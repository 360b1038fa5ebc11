"""Hold'em hands: parse cards and ranges, and compare hands of seven cards."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import TypeAlias

import numpy as np

from infoset.base import BoolArray
from infoset.errors import ParameterError, shorten

RANKS, SUITS = "23456789TJQKA", "cdhs"
DECK = 52
Range: TypeAlias = "dict[tuple[int, ...], float]"
"""The weights of hands; a hand is two cards with the higher one first."""

_ENTRY = re.compile(r"([2-9TJQKA])([2-9TJQKA])([so]?)(\+|-([2-9TJQKA])([2-9TJQKA])([so]?))?", re.IGNORECASE)
EVERY = ("any", "random", "100%")
LEAST, MOST = 1e-6, 1e6
"""The limits of weights: weights further apart would lose precision."""
EVAL7, PIO = "eval7", "pio"
DIALECTS = (EVAL7, PIO)
"""The notations of ranges.

``eval7``: ``T9s+`` keeps its high card, as in eval7 and poker; of overlapping entries the last one counts.
``pio``: connectors go up together, T9s to AKs, as in postflop-solver; of overlapping entries the first one counts.
"""
_CARDS = re.compile(r"([2-9TJQKA][cdhs]){2}", re.IGNORECASE)


class RangeWarning(UserWarning):
    """A warning about a range that other programs read differently."""


def card_name(card: int) -> str:
    """Return a card's rank and suit, such as ``Ah``; cards are numbered ``4 * rank + suit``."""
    return RANKS[card // 4] + SUITS[card % 4]


def hand_name(hand: Iterable[int]) -> str:
    """Return the names of a hand's cards, such as ``AhKd``."""
    return "".join(map(card_name, hand))


def cards_of(text: str, where: str) -> tuple[int, ...]:
    """Parse cards such as ``AhKd7s``, ignoring case.

    Raises ``ParameterError`` for an invalid card and for a repeated one.
    """
    bare = re.sub(r"[\s,]+", "", text)
    names = [bare[k : k + 1].upper() + bare[k + 1 : k + 2].lower() for k in range(0, len(bare), 2)]
    for name in names:
        if len(name) < 2 or name[0] not in RANKS or name[1] not in SUITS:
            raise ParameterError(f"{where}={shorten(text)!r}: {name!r} is not a card; ranks {RANKS}, suits {SUITS}")
        if names.count(name) > 1:
            raise ParameterError(f"{where}={shorten(text)!r}: {name} occurs twice")
    return tuple([4 * RANKS.index(name[0]) + SUITS.index(name[1]) for name in names])


def parse_range(text: str, board: tuple[int, ...], where: str, dialect: str = "") -> Range:
    """Parse a range such as ``QQ+ A5s+ KTo 76s:0.5 T9s-54s AhKd``, ignoring case, into hands with weights.

    Hands with a card of the board are left out.  ``dialect`` is one of ``DIALECTS``; the default is ``eval7``, with a
    ``RangeWarning`` for entries that ``pio`` reads differently.  Raises ``ParameterError`` for an invalid range, for
    weights below 0, and where no hand is left.
    """
    found: Range = {}
    if not (entries := [entry for entry in re.split(r"[\s,]+", re.sub(r"\s*:\s*", ":", text)) if entry]):
        raise ParameterError(f"{where} is empty; such as QQ+ A5s+ KTo 76s:0.5 T9s-54s AhKd any")
    for entry in reversed(entries) if dialect == PIO else entries:
        hands, _, number = entry.partition(":")
        weight = _weight(number, entry, where) if number or entry.endswith(":") else 1.0
        for hand in _hands(hands, entry, where, dialect):
            found[hand] = weight
    left = {hand: found[hand] for hand in sorted(found, reverse=True) if found[hand] > 0 and not {*hand} & {*board}}
    if not left:
        raise ParameterError(f"{where}={shorten(text)!r}: no hand is left beside the board {hand_name(board)}")
    return left


def disjoint(one: Sequence[Sequence[Hashable]], two: Sequence[Sequence[Hashable]]) -> BoolArray:
    """Return (hands, hands) whether a hand of ``one`` and a hand of ``two`` have no card in common."""
    number = {card: k for k, card in enumerate({card for hand in (*one, *two) for card in hand})}
    holds = [np.zeros((len(hands), len(number))) for hands in (one, two)]
    for hands, at in zip((one, two), holds, strict=True):
        for k, hand in enumerate(hands):
            at[k, [number[card] for card in hand]] = 1.0
    return np.asarray(holds[0] @ holds[1].T == 0)


def _weight(number: str, entry: str, where: str) -> float:
    try:
        weight = float(number)
    except ValueError:
        weight = -1.0
    if weight != 0 and not LEAST <= weight <= MOST:
        allowed = f"allowed: 0, and numbers from {LEAST:g} to {MOST:g}"
        raise ParameterError(f"{where}: {shorten(entry)!r} weighs {shorten(number)!r}; {allowed}")
    return weight


def _hands(text: str, entry: str, where: str, dialect: str) -> Iterator[tuple[int, ...]]:
    if text.lower() in EVERY:
        yield from (hand[::-1] for hand in combinations(range(DECK), 2))
        return
    if _CARDS.fullmatch(text):
        yield tuple(sorted(cards_of(text, where), reverse=True))
        return
    match = _ENTRY.fullmatch(text)
    if not match:
        raise ParameterError(
            f"{where}: {shorten(entry)!r} is not a range; such as QQ+ A5s+ KTo 76s:0.5 T9s-54s AhKd any"
        )
    first, second, kind, more, to_first, to_second, to_kind = [part and part.upper() for part in match.groups()]
    if (to_first and to_kind != kind) or (kind and first == second):
        wrong = "a pair is neither suited nor not" if first == second else "its ends must both be suited, or neither"
        raise ParameterError(f"{where}: {shorten(entry)!r} is not a range: {wrong}")
    high, low = sorted((RANKS.index(first), RANKS.index(second)), reverse=True)
    if more == "+" and high - low == 1 and high < len(RANKS) - 1:  # connectors
        if dialect == PIO:
            more, to_first, to_second = "-", *RANKS[:-3:-1]
        elif not dialect:
            _warn_of(text)
    for a, b in _ladder(high, low, more, (to_first, to_second), f"{where}: {shorten(entry)!r}"):
        yield from _combos(a, b, kind.lower())


@cache  # warns once per process, however often the game is loaded
def _warn_of(text: str) -> None:
    bare = text.removesuffix("+")
    warnings.warn(
        f"{text} is read as {bare} alone, as eval7 and poker do; postflop-solver reads {bare}-AK{bare[2:]}:"
        f" say which with ranges={PIO} or ranges={EVAL7}",
        RangeWarning,
        stacklevel=2,
    )


def _ladder(high: int, low: int, more: str | None, to: tuple[str | None, ...], where: str) -> list[tuple[int, int]]:
    """Return the rank pairs of an entry: with ``+`` pairs or kickers go up, a ladder keeps the gap or the high card."""
    if more is None:
        return [(high, low)]
    top = len(RANKS) - 1
    if more == "+":
        return [(k, k) for k in range(high, top + 1)] if high == low else [(high, k) for k in range(low, high)]
    last_high, last_low = sorted((RANKS.index(str(to[0])), RANKS.index(str(to[1]))), reverse=True)
    if high - low == last_high - last_low:
        begin, end = sorted((high, last_high))
        return [(k, k - (high - low)) for k in range(begin, end + 1)]
    if high == last_high:
        begin, end = sorted((low, last_low))
        return [(high, k) for k in range(begin, end + 1)]
    raise ParameterError(f"{where} is no ladder; from one to another with the same high card or the same gap")


def _combos(a: int, b: int, kind: str) -> Iterator[tuple[int, ...]]:
    """Yield all hands of two ranks: suited (``s``), offsuit (``o``), or both."""
    for one in range(4):
        for two in range(4):
            suited = one == two
            if (a == b and one > two) or (a != b and kind != ("o" if suited else "s")):
                yield (4 * a + one, 4 * b + two)
