"""How well subsets of flops represent all 1,755: proportions of flops, and averages of equities by flop.

Prints for each size the total variation distance of proportions, and for each pair of ranges the error of the average
equity in percent of the pot, with the mean error of random subsets beside it.  The equities take some minutes.
"""

import numpy as np

from infoset.games.equity import range_against_range
from infoset.games.flops import SIZES, flop_counts, flop_features, flop_subset
from infoset.games.poker_hands import parse_range

RANGES = {
    "button and big blind": (
        "22+ A2s+ K2s+ Q5s+ J7s+ T7s+ 97s+ 86s+ 75s+ 65s 54s A2o+ K8o+ Q9o+ J9o+ T9o",
        "22-99 A2s-A9s K2s-KTs Q4s-QJs J7s-JTs T7s+ 96s+ 85s+ 75s+ 64s+ 54s A2o-AJo K9o-KQo Q9o+ J9o+ T9o",
    ),
    "raised again": ("QQ+ AK A2s-A5s KQs:0.5 JJ:0.6", "55-JJ ATs-AQs KJs+ QJs JTs T9s 98s AQo:0.5 AK:0.3"),
    "low and high cards": ("22-88 54s-98s A2s-A6s", "99+ AT+ KJ+"),
}
RANDOM = 1000


def main() -> None:
    flops, counts = list(flop_counts()), np.array(list(flop_counts().values()), np.float64)
    everywhere, number = counts / counts.sum(), {flop: k for k, flop in enumerate(flops)}
    features = flop_features(flops)
    kinds = {
        "suits": features.suits,
        "pairs": features.pairs,
        "high card": features.ranks[:, 0],
        "straights": features.straights,
        "all of high card, suits, pairs": features.ranks[:, 0] * 16 + features.suits * 4 + features.pairs,
    }
    places = {size: [number[flop] for flop in flop_subset(size)] for size in SIZES}
    weights = {size: np.array(list(flop_subset(size).values())) for size in SIZES}
    print(f"{'size':36}", *[f"{size:>16}" for size in SIZES])
    print(f"{'largest weight / smallest':36}", *[f"{w.max() / w.min():16.2f}" for w in weights.values()])
    for name, kind in kinds.items():
        whole = np.bincount(kind, everywhere)
        distances = [
            np.abs(whole - np.bincount(kind[places[size]], weights[size], len(whole))).sum() / 2 for size in SIZES
        ]
        print(f"{name:36}", *[f"{distance:16.3f}" for distance in distances])
    randoms = np.random.default_rng(1)
    for name, texts in RANGES.items():
        sides = [parse_range(text, (), "range", "eval7") for text in texts]
        one, two = ((list(side), list(side.values())) for side in sides)
        equity = 100 * np.array([range_against_range(flop, *one, *two) for flop in flops])
        mean, row = everywhere @ equity, []
        for size in SIZES:
            drawn = [equity[randoms.choice(len(flops), size, False, everywhere)].mean() for _ in range(RANDOM)]
            error, by_chance = weights[size] @ equity[places[size]] - mean, np.abs(np.array(drawn) - mean).mean()
            row.append(f"{error:+8.3f} ({by_chance:.3f})")
        print(f"{name:22} {mean:6.2f} ± {np.sqrt(everywhere @ (equity - mean) ** 2):4.1f}", *row, flush=True)


if __name__ == "__main__":
    main()
