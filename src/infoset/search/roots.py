"""Where a subgame begins: the worlds of the player's belief, and those of the others' beliefs in them."""

from __future__ import annotations

import time
from math import inf

import numpy as np

from infoset.search.belief import BeliefTracker
from infoset.search.histories import Belief, drawn, joined


def order_two(
    ranges: BeliefTracker, player: int, state: int, sets: int, others: int, rng: np.random.Generator, until: float = inf
) -> Belief:
    """Return worlds of the player's belief, and of the others' beliefs there, in which the player knows something else.

    At most ``sets`` worlds of the player's belief are drawn, and ``others`` for each information set of another.  The
    weights of another's belief are scaled so that its worlds that are also in the player's belief weigh as much as
    they do there (the knowledge graph cut at distance two, after Zhang & Sandholm 2021).  After the time ``until``,
    no world is added.

    >>> import numpy as np
    >>> from infoset.search.belief import BeliefTracker
    >>> from infoset.search.roots import order_two
    >>> from infoset.tree.graph import explore
    >>> ranges = BeliefTracker(explore(infoset.load("kuhn_poker")))
    >>> king = ranges.successor(0, ranges.graph.records.index((None, "K")))
    >>> root = order_two(ranges, 0, king, sets=2, others=2, rng=np.random.default_rng(1))
    >>> len(root.weight) > len(ranges.asked(0, king).weight)
    True
    """
    mine = drawn(ranges.asked(player, state), sets, rng)
    if not mine.size:
        return mine
    parts = [mine]
    for p in range(mine.infostate.shape[1]):
        for k in dict.fromkeys(mine.infostate[:, p].tolist()) if p != player else []:
            opponents_belief = ranges.until(ranges.of(p, k), player, p)
            here = (opponents_belief.infostate[:, player] == state) & np.isin(opponents_belief.position, mine.position)
            if (share := float(opponents_belief.weight[here].sum())) <= 0.0 or time.monotonic() > until:
                continue
            scale = mine.weight[mine.infostate[:, p] == k].sum() / share
            away = opponents_belief.take(np.flatnonzero(~here))
            total = away.weight.sum()
            if total > 0.0:
                away = drawn(away._replace(weight=away.weight / total), others, rng)
                parts.append(away._replace(weight=away.weight * total * scale))
    found = joined(parts)
    rows, first = np.unique(np.column_stack([found.position, found.infostate]), axis=0, return_index=True)
    found = found.take(np.sort(first)) if len(rows) < found.size else found
    return found._replace(weight=found.weight / found.weight.sum())
