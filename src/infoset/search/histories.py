"""Histories that a player cannot tell apart, as weighted arrays: merged, joined and sampled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infoset.base import FloatArray, IntArray, LongArray

NO_EDGE = -1
MOST_TRAILS = 1_000_000  # edges of all trails of a belief together


class Belief(NamedTuple):
    """A belief: histories that one player cannot tell apart, with everybody's information states and weights."""

    position: LongArray  # (K,)
    infostate: LongArray  # (K, n) information states
    weight: FloatArray  # (K,) sums to one
    trail: IntArray | None = None
    """(K, L) the edges from the start to each position, followed by ``NO_EDGE``; ``None`` where they are not kept."""

    def trail_with(self, source: LongArray, edges: LongArray) -> IntArray | None:
        """Return the trails (J, L + 1) of histories that go on from ``source`` (J,) by ``edges`` (J,)."""
        if self.trail is None:
            return None
        longer = np.pad(self.trail[source], ((0, 0), (0, 1)), constant_values=NO_EDGE)
        longer[np.arange(len(source)), (longer != NO_EDGE).sum(axis=1)] = edges
        return longer

    @property
    def size(self) -> int:
        return len(self.position)

    @property
    def entries(self) -> int:
        """The memory that it takes, as a number of histories without trails."""
        return self.size if self.trail is None else self.size * (1 + self.trail.shape[1] // 8)

    @property
    def effective(self) -> float:
        """The effective sample size (Kish 1965): the number of equally weighted histories that say as much."""
        return float(self.weight.sum() ** 2 / max(float((self.weight**2).sum()), 1e-300)) if self.size else 0.0

    def take(self, rows: LongArray | IntArray) -> Belief:
        trail = None if self.trail is None else self.trail[rows]
        return Belief(self.position[rows], self.infostate[rows], self.weight[rows], trail)


def merged(found: Belief) -> Belief:
    """Merge equal histories, each kept where its first copy stood, add up their weights and normalise them.

    >>> import numpy as np
    >>> from infoset.search.histories import Belief, merged
    >>> merged(Belief(np.array([7, 3, 7]), np.array([[1], [2], [1]]), np.ones(3))).position
    array([7, 3])
    """
    rows = np.column_stack([found.position, found.infostate])
    order = np.lexsort(rows.T)  # stable: the first of equal histories comes first
    rows = rows[order]
    fresh = np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)])[: len(rows)]
    starts = np.flatnonzero(fresh)
    weight = np.add.reduceat(found.weight[order], starts) if len(starts) else found.weight
    first = order[starts]
    placed = np.argsort(first)
    weight = weight[placed]
    return found.take(first[placed])._replace(weight=weight / max(float(weight.sum()), 1e-300))


def joined(parts: list[Belief]) -> Belief:
    """Return the histories of several beliefs, one after another, with their weights as they are."""
    position, infostate, weight = (np.concatenate([part[k] for part in parts]) for k in range(3))
    trails = [part.trail for part in parts if part.trail is not None]
    length = max((trail.shape[1] for trail in trails), default=0)
    if len(trails) < len(parts) or len(position) * length > MOST_TRAILS:
        return Belief(position, infostate, weight)
    padded = [np.pad(each, ((0, 0), (0, length - each.shape[1])), constant_values=NO_EDGE) for each in trails]
    return Belief(position, infostate, weight, np.concatenate(padded))


def drawn(found: Belief, count: int, rng: np.random.Generator) -> Belief:
    """Return at most ``count`` histories, sampled by weight (systematic sampling), with equal ones merged."""
    if found.size <= count:
        return found
    picked = found.take(systematic(found.weight, count, rng))
    return merged(picked._replace(weight=np.ones(count)))


def systematic(weight: FloatArray, count: int, rng: np.random.Generator) -> LongArray:
    """Return (count,) indices sampled in proportion to the weights (systematic sampling)."""
    points = (rng.random() + np.arange(count)) / count
    rows: LongArray = np.searchsorted(np.cumsum(weight), points * weight.sum()).astype(np.int64)
    return np.minimum(rows, len(weight) - 1)
