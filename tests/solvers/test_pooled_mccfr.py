"""Several runs of sampling side by side: what their mean is worth, and that a seed still means one run."""

import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from infoset import load
from infoset.errors import BudgetError, CheckpointError, ParameterError
from infoset.interning import path_to
from infoset.solvers.sampling import pooled_mccfr
from infoset.solvers.sampling.belief_response import evaluate_policy
from infoset.solvers.sampling.infoset_table import STATES, pooled
from infoset.solvers.sampling.mccfr import Mccfr
from infoset.solvers.sampling.outcome_sampling import OutcomeMccfr
from infoset.solvers.sampling.pooled_mccfr import PooledMccfr, levelled
from infoset.tree.graph import explore
from infoset.tree.quotient_graph import QuotientGraph
from infoset.tree.symmetry import find_symmetry


def walk_of(name: str, symmetric: bool = False) -> QuotientGraph:
    graph = explore(load(name))
    return QuotientGraph.of(graph, find_symmetry(graph) if symmetric else None)


def exploitability(walk: QuotientGraph, work: Mccfr | PooledMccfr) -> float:
    return evaluate_policy(walk, work.policy()).exploitability


def averages(table, group) -> Counter:
    """By player, records and move."""
    found = Counter()
    for state in np.flatnonzero(table.row[: table.filled[STATES]] >= 0).tolist():
        player, records = path_to(table.parent, table.record, state)
        row, action_set = int(table.row[state]), int(table.action_set[state])
        for k in range(int(group.first_entry[action_set + 1] - group.first_entry[action_set])):
            found[player, *records, -1, k] += float(table.average[row + k])
    return found


@pytest.mark.parametrize("name", ["kuhn_poker(players=3)", "gdl:scissors_double"])
def test_averages_are_added_state_by_state(name) -> None:
    walk = walk_of(name, symmetric=True)
    work = PooledMccfr(partial(Mccfr, walk), 5, runs=3)
    work.step(20)  # so few that the runs have not met the same states
    expected: Counter = Counter()
    for run in work.runs:
        expected.update(averages(run.table, walk.group))
    found = averages(pooled([run.table for run in work.runs], walk.group), walk.group)
    assert found == pytest.approx(expected)


def test_two_runs_are_better_than_their_mean_and_not_far_from_one_of_twice_the_iterations() -> None:
    """The first always holds for two players whose payoffs sum to a constant: exploitability is convex in plans."""
    walk = walk_of("leduc_poker")
    both = PooledMccfr(partial(Mccfr, walk), 1)
    both.step(10_000)
    twice = [Mccfr(walk, seed) for seed in range(3)]
    for run in twice:
        run.step(10_000)
    mean = np.mean([exploitability(walk, run) for run in both.runs])
    assert exploitability(walk, both) < 0.85 * mean
    assert exploitability(walk, both) < 1.25 * np.mean([exploitability(walk, run) for run in twice])


def test_symmetric_states_are_pooled_too() -> None:
    walk = walk_of("gdl:scissors_double", symmetric=True)
    work = PooledMccfr(partial(Mccfr, walk), 2)
    work.step(20_000)
    assert exploitability(walk, work) < 1.0


@pytest.mark.parametrize("kind", [Mccfr, OutcomeMccfr])
def test_a_seed_means_one_run_however_it_is_cut_or_saved(kind) -> None:
    walk = walk_of("leduc_poker")
    one, other, third = (PooledMccfr(partial(kind, walk), seed, runs=3) for seed in (3, 3, 4))
    one.step(1_000)
    third.step(1_000)
    for part in (1, 98, 401):
        other.step(part)
    resumed = PooledMccfr(partial(kind, walk), 3, runs=3)
    resumed.restore({name: np.array(array) for name, array in other.save().items()})
    resumed.step(500)
    assert one.iteration == resumed.iteration == 1_000
    np.testing.assert_array_equal(one.policy().behaviour, resumed.policy().behaviour)
    assert not np.array_equal(one.policy().behaviour, third.policy().behaviour)


def test_the_runs_differ() -> None:
    walk = walk_of("leduc_poker")
    work = PooledMccfr(partial(Mccfr, walk), 3)
    work.step(100)
    first, second = (run.table.regret[:50] for run in work.runs)
    assert not np.array_equal(first, second)


def test_a_clock_ends_all_runs() -> None:
    work = PooledMccfr(partial(Mccfr, walk_of("leduc_poker")), 3)
    work.step(2)  # compiled
    work.run(None, 0.2)
    assert all(run.iteration > 1 for run in work.runs)
    work.step(10**9, time.monotonic() + 0.2)
    assert work.iteration < 10**9  # which take hours


@pytest.mark.parametrize(
    ("counts", "more", "ends"),
    [([0, 0], 1, [1, 0]), ([1, 0], 1, [1, 1]), ([1000, 100], 10, [1000, 110]), ([5, 3, 9], 8, [8, 8, 9]),
     ([5, 3, 9], 7, [8, 7, 9]), ([4, 4], 0, [4, 4]), ([5, 3, 9], 13, [10, 10, 10]), ([0], 7, [7])],
)  # fmt: skip
def test_who_is_furthest_behind_goes_on(counts, more, ends) -> None:
    assert levelled(counts, more) == ends


def test_an_interruption_is_heard() -> None:
    """Ctrl-C ends the call long before its iterations are done."""
    work = PooledMccfr(partial(Mccfr, walk_of("leduc_poker")), 3)
    work.step(2)
    over = threading.Event()

    def press() -> None:  # again and again: one may come where Python cannot raise it
        while not over.wait(0.3):
            signal.raise_signal(signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work.step(10**9)
    finally:
        over.set()
    assert 2 < work.iteration < 10**9


def test_memory_that_is_used_up_loses_no_count() -> None:
    work = PooledMccfr(lambda seed: Mccfr(walk_of("leduc_poker"), seed, max_bytes=60_000), 3)
    with pytest.raises(BudgetError, match=r"information sets after [1-9]"):
        work.step(1_000)
    assert all(run.iteration > 0 for run in work.runs)


class BusyMachine(ThreadPoolExecutor):
    """One thread, which rests after each piece of work: the others' turn comes long after the first is over."""

    def __init__(self, _threads: int) -> None:
        super().__init__(1)

    def submit(self, work, /, *arguments):
        future = super().submit(work, *arguments)
        super().submit(time.sleep, 0.3)
        return future


def test_who_had_no_turn_yet_gets_it_when_another_has_used_up_its_memory(monkeypatch) -> None:
    """A seed means one run however busy the machine is: what a run does must not hang on when the others fail."""
    monkeypatch.setattr(pooled_mccfr, "ThreadPoolExecutor", BusyMachine)
    busy, idle = [
        PooledMccfr(lambda seed: Mccfr(walk_of("leduc_poker"), seed, max_bytes=60_000), 3, runs=3) for _ in range(2)
    ]
    with pytest.raises(BudgetError):
        busy.step(1_000)
    for run in idle.runs:
        with pytest.raises(BudgetError):
            run.step(1_000)
    assert [run.iteration for run in busy.runs] == [run.iteration for run in idle.runs]


def test_what_does_not_fit_is_refused() -> None:
    walk = walk_of("kuhn_poker")
    two, three = (PooledMccfr(partial(Mccfr, walk), runs=runs) for runs in (2, 3))
    for one, other in ((two, three), (three, two)):
        with pytest.raises(CheckpointError, match=r"it does not hold [23] runs"):
            one.restore(other.save())
    with pytest.raises(ParameterError, match="runs=0"):
        PooledMccfr(partial(Mccfr, walk), runs=0)
