"""Flops: published numbers, counts by hand, and subsets that represent the whole."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoset.errors import ParameterError
from infoset.games.flops import SIZES, flop_class, flop_counts, flop_features, flop_subset
from infoset.games.hand_strengths import kinds_of, strengths_on_boards
from infoset.games.poker_hands import card_name, cards_of, hand_name, parse_range
from infoset.games.suits import ALL_PERMUTATIONS, canonical_cards, permute_card

FLOPS, COUNTS = list(flop_counts()), np.array(list(flop_counts().values()))
FEATURES = flop_features(FLOPS)
CLASSES = list(zip(FEATURES.ranks[:, 0].tolist(), FEATURES.suits.tolist(), FEATURES.pairs.tolist(), strict=True))


def test_there_are_1755_flops_and_169_hands() -> None:
    assert len(FLOPS) == 1755 and COUNTS.sum() == 22100
    assert len({canonical_cards(hand) for hand in combinations(range(52), 2)}) == 169
    assert sorted(FLOPS, reverse=True) == FLOPS and all(flop_class(flop) == flop for flop in FLOPS)


@pytest.mark.parametrize("suits, flops, cards", [
    # Monotone: three of 13 ranks, C(13, 3) = 286, in one of 4 suits.
    (1, 286, 286 * 4),
    # Two-tone: three ranks, one of them in another suit, 3 * 286, in 4 * 3 pairs of suits; or a pair and another rank,
    # 13 * 12 = 156, in the suit of one of the pair: 4 suits for that one, 3 for the other.
    (2, 3 * 286 + 156, 3 * 286 * 12 + 156 * 12),
    # Rainbow: three ranks in 4 * 3 * 2 triples of suits; a pair in 6 pairs of suits with another rank in one of the 2
    # left; 13 trips in 4 triples of suits.
    (3, 286 + 156 + 13, 286 * 24 + 156 * 12 + 13 * 4),
])  # fmt: skip
def test_numbers_of_suits_by_hand(suits: int, flops: int, cards: int) -> None:
    of_kind = FEATURES.suits == suits
    assert (of_kind.sum(), COUNTS[of_kind].sum()) == (flops, cards)


def test_numbers_of_pairs_and_straights_by_hand() -> None:
    # Three ranks C(13, 3) * 4**3, a pair 13 * 12 * C(4, 2) * 4, trips 13 * C(4, 3).
    assert [COUNTS[FEATURES.pairs == pairs].sum() for pairs in (0, 1, 2)] == [286 * 64, 156 * 24, 13 * 4]
    # Three straights: three neighbours from 345 to TJQ, 8 of them.  Each of the ten straights holds C(5, 3) triples.
    by_straights = [(FEATURES.straights[FEATURES.suits == 1] == straights).sum() for straights in range(4)]
    assert by_straights[3] == 8 and sum(k * number for k, number in enumerate(by_straights)) == 10 * 10


@given(st.permutations(range(52)), st.sampled_from(ALL_PERMUTATIONS))
def test_a_flop_in_other_suits_and_another_order_is_the_same(deck: list[int], permutation: tuple[int, ...]) -> None:
    flop = deck[:3]
    assert flop_class(flop) == flop_class([permute_card(card, permutation) for card in flop[::-1]])
    assert flop_class(flop) in flop_counts()


@pytest.mark.parametrize("cards, name", [
    ("2c3d4h", "4s3h2d"), ("AcKcQc", "AsKsQs"), ("Ac7dAd", "AsAh7s"), ("KdKh2s", "KsKh2d"), ("5c5h5d", "5s5h5d"),
])  # fmt: skip
def test_names_of_flops(cards: str, name: str) -> None:
    assert hand_name(flop_class(cards_of(cards, "flop"))) == name


@pytest.mark.parametrize("cards", [(), (1, 2), (1, 2, 2), (1, 2, 52), (1, 2, 3, 4)])
def test_other_cards_are_no_flop(cards: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="not a flop; allowed: three distinct cards"):
        flop_class(cards)


@pytest.mark.parametrize("size", [1, 2, *SIZES, 1754])
def test_subsets_are_flops_with_weights_and_extend_each_other(size: int) -> None:
    subset = flop_subset(size)
    weights = np.array(list(subset.values()))
    assert len(subset) == size and {*subset} <= {*FLOPS}
    assert weights.min() > 0 and weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert list(subset)[:184] == list(flop_subset(184))[:size]


def test_all_flops_have_exact_weights() -> None:
    assert flop_subset(1755) == {flop: count / 22100 for flop, count in flop_counts().items()}


@pytest.mark.parametrize("size", [0, -1, 1756])
def test_other_sizes_are_an_error(size: int) -> None:
    with pytest.raises(ParameterError, match=f"size={size}; allowed: numbers of flops from 1 to 1755"):
        flop_subset(size)


def distance(size: int, classes: list[object]) -> float:
    """Return the total variation distance between the proportions of classes in a subset and in all flops."""
    shares: Counter[object] = Counter()
    for name, count in zip(classes, COUNTS, strict=True):
        shares[name] += count / 22100
    for flop, weight in flop_subset(size).items():
        shares[classes[FLOPS.index(flop)]] -= weight
    return sum(map(abs, shares.values())) / 2


@pytest.mark.parametrize("size, suits, pairs, high, straights, jointly", [
    (25, 0.03, 0.03, 0.06, 0.045, 0.4), (49, 0.015, 0.015, 0.03, 0.02, 0.3), (85, 0.01, 0.01, 0.02, 0.01, 0.2),
    (184, 0.005, 0.005, 0.01, 0.005, 0.12),
])  # fmt: skip
def test_subsets_match_the_proportions(
    size: int, suits: float, pairs: float, high: float, straights: float, jointly: float
) -> None:
    assert distance(size, FEATURES.suits.tolist()) < suits
    assert distance(size, FEATURES.pairs.tolist()) < pairs
    assert distance(size, FEATURES.ranks[:, 0].tolist()) < high
    assert distance(size, FEATURES.straights.tolist()) < straights
    assert distance(size, CLASSES) < jointly  # high card, suits and pairs together: 99 classes


@pytest.mark.parametrize("size, most", [*zip(SIZES, (0.02, 0.01, 0.004, 0.002), strict=True)])
@pytest.mark.parametrize("hands", ["any", "22+ A2s+ K9s+ QTs+ JTs ATo+ KJo+", "22-99 AJs-A2s KTs+ 54s-T9s"])
def test_subsets_estimate_how_often_a_range_has_a_pair_or_better(hands: str, size: int, most: float) -> None:
    held = np.array(list(parse_range(hands, (), "range", dialect="eval7")))
    kinds = kinds_of(strengths_on_boards(np.array(FLOPS), held))
    share = (kinds > 0).sum(axis=1) / (kinds >= 0).sum(axis=1)
    estimate = sum(weight * share[FLOPS.index(flop)] for flop, weight in flop_subset(size).items())
    assert abs(estimate - COUNTS @ share / 22100) < most


def test_the_first_flops_of_all_subsets() -> None:
    assert ["".join(map(card_name, flop)) for flop in flop_subset(6)] == [
        "As9s4h",
        "Ks6h3d",
        "QsJs7h",
        "TsTh5d",
        "Js8s2h",
        "9s6s5h",
    ]
