"""An independent, slow comparison of poker hands: every five cards, by the counts of their ranks."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations


def slow_strength(cards: Iterable[int]) -> tuple[int, ...]:
    """Return the strength of the best five of these cards (``4 * rank + suit``); tuples compare as hands do."""
    return max(map(_strength_of_five, combinations(cards, 5)))


def _strength_of_five(cards: Iterable[int]) -> tuple[int, ...]:
    counts = Counter(card // 4 for card in cards)
    ranks = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    shape = sorted(counts.values(), reverse=True)
    flush, straight = len({card % 4 for card in cards}) == 1, len(ranks) == 5 and ranks[0] - ranks[4] == 4
    if ranks == [12, 3, 2, 1, 0]:
        ranks, straight = [3, 2, 1, 0, -1], True
    if straight:
        return (8 if flush else 4, *ranks)
    if flush:
        return (5, *ranks)
    kinds = {(1, 1): 0, (2, 1): 1, (2, 2): 2, (3, 1): 3, (3, 2): 6, (4, 1): 7}
    return (kinds[shape[0], shape[1]], *ranks)
