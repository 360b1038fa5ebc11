"""Sampling on several cores: independent runs of MCCFR, whose averages are added."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from math import inf
from typing import Any

import numpy as np

from infoset.errors import CheckpointError
from infoset.names import MAX_COUNT, check_range
from infoset.policies.infoset_policy import InfosetPolicy
from infoset.solvers.sampling.infoset_table import pooled
from infoset.solvers.sampling.mccfr import Mccfr

RUNS = 2
"""The default on any machine, so that a seed gives the same run on all."""
MOST_RUNS = 256
SLICE = 0.5  # seconds


def levelled(counts: list[int], more: int) -> list[int]:
    """Return the counts after adding ``more`` in total, each to the smallest count, the first of several."""
    low, high = min(counts), max(counts) + more
    while low < high:  # the highest level to which all counts below it can be raised
        middle = (low + high + 1) // 2
        if sum(max(middle - count, 0) for count in counts) <= more:
            low = middle
        else:
            high = middle - 1
    ends, left = [max(count, low) for count in counts], more
    left -= sum(ends) - sum(counts)
    for k, end in enumerate(ends):
        if end == low and left:
            ends[k], left = end + 1, left - 1
    return ends


class PooledMccfr:
    """``runs`` made by ``make`` from seeds of their own, a thread each.  The same seed gives the same run.

    A player's policy is the mean of the runs' policies, each weighted by its own reach probability.  In a two-player
    zero-sum game it is no more exploitable than the runs are on average, and less by their noise: on Leduc poker two
    runs are worth one run with half as many iterations more, four one with twice as many (``benchmarks/sampling.py``).
    Exchanging regrets between the runs was tried as well; it is worse, since each run then learns against outdated
    moves of the others.

    >>> from functools import partial
    >>> from infoset.solvers.sampling.mccfr import Mccfr
    >>> from infoset.solvers.sampling.pooled_mccfr import PooledMccfr
    >>> from infoset.tree.graph import explore
    >>> from infoset.tree.quotient_graph import QuotientGraph
    >>> both = PooledMccfr(partial(Mccfr, QuotientGraph.of(explore(infoset.load("kuhn_poker")))), seed=1, runs=2)
    >>> both.step(1000)
    >>> both.iteration, both.num_infosets
    (1000, 12)
    """

    def __init__(self, make: Callable[[int], Mccfr], seed: int = 0, runs: int = RUNS) -> None:
        check_range("runs", runs, 1, MOST_RUNS)
        self.runs = [make(int(own)) for own in np.random.SeedSequence(seed).generate_state(runs)]

    @property
    def iteration(self) -> int:
        """The number of iterations of all runs together."""
        return sum(run.iteration for run in self.runs)

    @property
    def num_infosets(self) -> int:
        """The number of information sets of the run that met most."""
        return max(run.num_infosets for run in self.runs)

    @property
    def nbytes(self) -> int:
        return sum(run.nbytes for run in self.runs)

    def step(self, iterations: int, until: float = inf) -> None:
        """Run ``iterations`` more, each by the run that is furthest behind.

        Raises ``BudgetError`` when memory is used up; the time ``until`` ends it.
        """
        check_range("iterations", iterations, 0, MAX_COUNT)
        ends = levelled([run.iteration for run in self.runs], iterations)
        while any(run.iteration < end for run, end in zip(self.runs, ends, strict=True)):
            now = time.monotonic()
            if now > until:
                break
            slice_end = min(until, now + SLICE)  # interruptions are noticed between two slices
            self._each(lambda run, end, at=slice_end: run.step(end - run.iteration, at), ends)  # type: ignore[misc]

    def run(self, iterations: int | None, seconds: float) -> None:
        """Run ``iterations``, or if ``None`` as many as ``seconds`` and memory allow."""
        if iterations is not None:
            return self.step(iterations)
        return self._each(lambda run, share: run.run(None, share), [seconds] * len(self.runs))

    def _each(self, job: Callable[[Mccfr, Any], None], shares: list[Any]) -> None:
        with ThreadPoolExecutor(len(self.runs)) as pool:
            futures = [pool.submit(job, run, share) for run, share in zip(self.runs, shares, strict=True)]
            wait(futures)  # for all, even if one fails, since the work of a run must not depend on when others finish
        for future in futures:
            future.result()

    def policy(self, least: float = 0.0) -> InfosetPolicy:
        """Return the mean policy of all runs, without probabilities below ``least``."""
        group = self.runs[0].walk.group
        table = pooled([run.table for run in self.runs], group)
        return table.policy(table.average_behaviour(group, least))

    def save(self) -> dict[str, Any]:
        """Return all data that later iterations depend on, as arrays by name."""
        arrays = {f"run{k}.{name}": array for k, run in enumerate(self.runs) for name, array in run.save().items()}
        return arrays | {"iteration": np.array(self.iteration)}

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore the state of ``save``.  Raises ``CheckpointError`` for arrays that do not fit."""
        if f"run{len(self.runs) - 1}.iteration" not in saved or f"run{len(self.runs)}.iteration" in saved:
            raise CheckpointError(f"the checkpoint does not fit: it does not hold {len(self.runs)} runs")
        for k, run in enumerate(self.runs):
            prefix = f"run{k}."
            run.restore({name[len(prefix) :]: array for name, array in saved.items() if name.startswith(prefix)})
