"""Sampling on several cores: independent runs of MCCFR, whose averages are added up."""

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
"""By default, on any machine, so that a seed means the same run on all."""
MOST_RUNS = 256
SLICE = 0.5  # seconds


def levelled(counts: list[int], more: int) -> list[int]:
    """Counts with so many more, each given to the least, the first of several."""
    low, high = min(counts), max(counts) + more
    while low < high:  # the highest level that is reached by all that are below it
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

    A player plays the mean of the runs' policies, each as likely as it makes its own way to where it is.  In a zero-sum
    game for two that is no more exploitable than the runs are in the mean, and less by their noise: on Leduc poker two
    runs are worth one of half as many iterations more, four one of twice as many (``benchmarks/sampling.py``).  Handing
    regrets to and fro between the runs was tried as well; it is worse, since each then learns against moves of the
    others that are out of date.

    >>> from functools import partial
    >>> from infoset.solvers.sampling.mccfr import Mccfr
    >>> from infoset.solvers.sampling.pooled_mccfr import PooledMccfr
    >>> from infoset.tree.graph import explore
    >>> from infoset.tree.walk import Walk
    >>> both = PooledMccfr(partial(Mccfr, Walk.of(explore(infoset.load("kuhn_poker")))), seed=1, runs=2)
    >>> both.step(1000)
    >>> both.iteration, both.num_infosets
    (1000, 12)
    """

    def __init__(self, make: Callable[[int], Mccfr], seed: int = 0, runs: int = RUNS) -> None:
        check_range("runs", runs, 1, MOST_RUNS)
        self.runs = [make(int(own)) for own in np.random.SeedSequence(seed).generate_state(runs)]

    @property
    def iteration(self) -> int:
        """Of all runs together."""
        return sum(run.iteration for run in self.runs)

    @property
    def num_infosets(self) -> int:
        """Of the run that met most."""
        return max(run.num_infosets for run in self.runs)

    @property
    def nbytes(self) -> int:
        return sum(run.nbytes for run in self.runs)

    def step(self, iterations: int, until: float = inf) -> None:
        """So many iterations more, each for the run that is furthest behind.

        Raises ``BudgetError`` when memory is used up; the moment ``until`` ends it.
        """
        check_range("iterations", iterations, 0, MAX_COUNT)
        ends = levelled([run.iteration for run in self.runs], iterations)
        while any(run.iteration < end for run, end in zip(self.runs, ends, strict=True)):
            now = time.monotonic()
            if now > until:
                break
            slice_end = min(until, now + SLICE)  # between two of them an interruption is heard
            self._each(lambda run, end, at=slice_end: run.step(end - run.iteration, at), ends)  # type: ignore[misc]

    def run(self, iterations: int | None, seconds: float) -> None:
        """So many iterations, or as many as ``seconds`` allow where ``iterations`` is ``None``, and memory."""
        if iterations is not None:
            return self.step(iterations)
        return self._each(lambda run, share: run.run(None, share), [seconds] * len(self.runs))

    def _each(self, work: Callable[[Mccfr, Any], None], shares: list[Any]) -> None:
        with ThreadPoolExecutor(len(self.runs)) as pool:
            futures = [pool.submit(work, run, share) for run, share in zip(self.runs, shares, strict=True)]
            wait(futures)  # all, whoever fails: what a run does must not hang on when the others do
        for future in futures:
            future.result()

    def policy(self, least: float = 0.0) -> InfosetPolicy:
        """The mean of all, without chances below ``least``."""
        group = self.runs[0].walk.group
        table = pooled([run.table for run in self.runs], group)
        return table.policy(table.average_behaviour(group, least))

    def save(self) -> dict[str, Any]:
        """All that the iterations to come depend on, as arrays by name."""
        arrays = {f"run{k}.{name}": array for k, run in enumerate(self.runs) for name, array in run.save().items()}
        return arrays | {"iteration": np.array(self.iteration)}

    def restore(self, saved: dict[str, Any]) -> None:
        """As it was when ``save`` was called.  Raises ``CheckpointError`` for arrays that do not fit."""
        if f"run{len(self.runs) - 1}.iteration" not in saved or f"run{len(self.runs)}.iteration" in saved:
            raise CheckpointError(f"the checkpoint does not fit: it does not hold {len(self.runs)} runs")
        for k, run in enumerate(self.runs):
            prefix = f"run{k}."
            run.restore({name[len(prefix) :]: array for name, array in saved.items() if name.startswith(prefix)})
