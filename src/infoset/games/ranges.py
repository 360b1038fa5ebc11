"""Ranges of hands in the notations of other programs, translated into that of ``poker_hands.parse_range``.

- PioSOLVER and TexasSolver: ``AA:0.5,AKs``, which is read as it is.
- GTO+ and Equilab: ``[50]AA,KK[/50],AKs``, weights in per cent around the hands that they are for.
- 1,326 weights, separated by spaces, commas or line breaks, in PioSOLVER's order of hands (its ``show_hand_order``):
  ``2d2c 2h2c 2h2d 2s2c … AsAh``, which is by the higher card and then by the lower one, each from 2c, 2d, 2h, 2s, 3c to
  As.

The notation is found by the form of the text.
"""

from __future__ import annotations

import re
from itertools import combinations

from infoset.errors import ParameterError, shorten
from infoset.games.poker_hands import DECK, LEAST, MOST, RANKS, Range, hand_name

HANDS = [(high, low) for low, high in sorted(combinations(range(DECK), 2), key=lambda pair: pair[::-1])]
"""All 1,326 hands in PioSOLVER's order, each with the higher card first."""
CLASSES = len(RANKS) ** 2
_BRACKET = re.compile(r"\[\s*(/?)\s*([^\[\]]*?)\s*%?\s*\]")
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:e-?\d+)?|\.\d+(?:e-?\d+)?", re.IGNORECASE)


def translate_range(text: str, where: str) -> str:
    """Return a range in the notation of ``parse_range``, on one line.

    Raises ``ParameterError``, which begins with ``where``, for a list of weights of another length, weights out of
    range, and brackets that do not match.

    >>> from infoset.games.ranges import translate_range
    >>> translate_range("[50]AA,KK[/50], AKs", "range1")
    'AA:0.5 KK:0.5 AKs'
    """
    words = text.replace(",", " ").split()
    if "[" in text or "]" in text:
        return _translate_brackets(text, where)
    if len(words) > CLASSES and all(map(_NUMBER.fullmatch, words)):
        return _translate_weights(words, where)
    return " ".join(text.split())


def _translate_brackets(text: str, where: str) -> str:
    """Return a range with the weights of brackets behind each of their entries."""
    entries: list[str] = []
    opened: float | None = None
    end = 0
    for bracket in [*_BRACKET.finditer(text), None]:
        part = text[end : bracket.start() if bracket else len(text)]
        if stray := re.search(r"[\[\]]", part):
            raise ParameterError(
                f"{where}: {shorten(part[stray.start() :])!r} has a bracket too many; such as [50]AA[/50]"
            )
        for entry in part.replace(",", " ").split():
            if opened is not None and ":" in entry:
                raise ParameterError(f"{where}: {shorten(entry)!r} has a weight inside and around it; allowed: one")
            entries.append(entry if opened is None else f"{entry}:{opened / 100:g}")
        if bracket is None:
            break
        end = bracket.end()
        percent = _percent(bracket[2], bracket[0], where)
        if bool(bracket[1]) == (opened is None) or (opened is not None and percent != opened):
            raise ParameterError(f"{where}: {shorten(bracket[0])!r} does not match; such as [50]AA,KK[/50]")
        opened = None if bracket[1] else percent
    if opened is not None:
        raise ParameterError(f"{where}: [{opened:g}] is not closed; such as [50]AA,KK[/50]")
    return " ".join(entries)


def _percent(number: str, bracket: str, where: str) -> float:
    """Return a weight in per cent."""
    percent = float(number) if _NUMBER.fullmatch(number) else -1.0
    if percent != 0 and not 100 * LEAST <= percent <= 100:
        raise ParameterError(
            f"{where}: the weight {shorten(bracket)!r} is not allowed; allowed: from 0 to 100 per cent"
        )
    return percent


def _translate_weights(words: list[str], where: str) -> str:
    """Return a range of hands with these weights, in the order of ``HANDS``."""
    if len(words) != len(HANDS):
        raise ParameterError(f"{where}: a list of {len(words):,} weights; allowed: {len(HANDS):,}, one a hand")
    weights: Range = {}
    for hand, word in zip(HANDS, words, strict=True):
        weight = float(word)
        if weight != 0 and not LEAST <= weight <= MOST:
            raise ParameterError(
                f"{where}: {hand_name(hand)} weighs {shorten(word)}; allowed: 0, and numbers from {LEAST:g} to {MOST:g}"
            )
        weights[hand] = weight
    return format_range(weights)


def format_range(weights: Range) -> str:
    """Return a range as text that ``parse_range`` reads back, aces first; hands of weight 0 are left out.

    Classes stand for hands of one weight.

    >>> from infoset.games.poker_hands import parse_range
    >>> from infoset.games.ranges import format_range
    >>> format_range(parse_range("QQ+ AKs:0.25 AhKd QhJh", (), "range"))
    'AA AKs:0.25 AhKd KK QQ QhJh'
    """
    by_class: dict[str, Range] = {}
    for hand in sorted(HANDS, reverse=True):
        by_class.setdefault(class_of(hand), {})[hand] = weights.get(hand, 0.0)
    entries: list[tuple[str, float]] = []
    for name, hands in by_class.items():
        equal = len({*hands.values()}) == 1
        named = {name: max(hands.values())} if equal else {hand_name(hand): weight for hand, weight in hands.items()}
        entries += [(word, weight) for word, weight in named.items() if weight > 0]
    return " ".join([word if weight == 1 else f"{word}:{weight!r}" for word, weight in entries])


def class_of(hand: tuple[int, ...]) -> str:
    """Return the class of a hand, higher card first, such as ``AA``, ``AKs`` or ``AKo``."""
    high, low = hand
    if high // 4 == low // 4:
        return RANKS[high // 4] * 2
    return RANKS[high // 4] + RANKS[low // 4] + ("s" if high % 4 == low % 4 else "o")
