"""Metropolis steps on histories sample the belief, also from histories that explain less than all observations."""

import numpy as np
import pytest

from infoset import load
from infoset.search import metropolis
from infoset.search.belief import BeliefTracker
from infoset.search.histories import Belief, joined
from infoset.search.metropolis import NO_ACTION, MetropolisSampler, choose_edges
from infoset.tree.rules_source import build_lazy_graph

NOTICED = [((2, 2), ()), ((1, 1), ()), ((3, 3), "taken")]


def test_seeds_choose_edges_in_proportion_to_their_probabilities() -> None:
    count, weights = 20_000, np.array([0.5, 0.0, 0.2, 0.3])
    seeds = np.random.default_rng(0).integers(2**64, size=count, dtype=np.uint64)
    chosen = np.zeros(count, dtype=np.int64)
    none = np.full(count, NO_ACTION)
    actions, all_weights = np.tile(np.array([3, 5, 7, 11]), count), np.tile(weights, count)
    choose_edges(seeds, none, np.full(count, 4), actions, all_weights, chosen)
    share = np.bincount(chosen % 4, minlength=4) / count
    assert np.abs(share - weights).max() < 4 * np.sqrt(0.25 / count)


def test_an_action_is_chosen_again_where_another_one_is_gone() -> None:
    """The seed orders the actions; whichever others are legal changes nothing of that."""
    seeds = np.random.default_rng(1).integers(2**64, size=500, dtype=np.uint64)
    chosen, fewer, none = np.zeros(500, dtype=np.int64), np.zeros(500, dtype=np.int64), np.full(500, NO_ACTION)
    sizes = np.full(500, 3)
    choose_edges(seeds, none, sizes, np.tile(np.array([2, 4, 9]), 500), np.full(1500, 1 / 3), chosen)
    choose_edges(seeds, none, sizes, np.tile(np.array([2, 4, 9]), 500), np.tile(np.array([0.5, 0.0, 0.5]), 500), fewer)
    kept = chosen % 3 != 1
    assert (chosen[kept] == fewer[kept]).all() and 100 < kept.sum() < 500


def test_an_impossible_choice_is_none() -> None:
    chosen = np.zeros(1, dtype=np.int64)
    choose_edges(np.ones(1, np.uint64), np.full(1, 7), np.full(1, 2), np.array([3, 7]), np.zeros(2), chosen)
    assert chosen[0] == -1


@pytest.fixture
def noticed() -> tuple[BeliefTracker, int]:
    """O marked two cells and found the third taken, in phantom tic-tac-toe."""
    tracker = BeliefTracker(build_lazy_graph(load("phantom_tic_tac_toe")))
    state = 1
    for record in NOTICED:
        state = tracker.successor(state, tracker.graph.source.record_number(1, record))
    return tracker, state


def test_chains_sample_the_belief(noticed: tuple[BeliefTracker, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """They begin with one history, in which X is not where O failed at last."""
    tracker, state = noticed
    monkeypatch.setattr(metropolis, "STEPS", 1500)
    with tracker.graph.growing():
        exact = tracker.of(1, state)
        before = tracker.of(1, int(tracker.states.parent[state]))
        wrong = [k for k in range(before.size) if not tracker._advance(before.take(np.array([k])), 1, state).size]
        assert wrong
        found = MetropolisSampler(tracker, state, np.random.default_rng(3)).draw(
            before.take(np.array(wrong[:1])), 10**9
        )
    rows = {tuple(row) for row in np.column_stack([exact.position, exact.infostate]).tolist()}
    assert {tuple(row) for row in np.column_stack([found.position, found.infostate]).tolist()} <= rows
    both = joined([exact._replace(trail=None), found._replace(weight=-found.weight, trail=None)])
    _, place = np.unique(both.position, return_inverse=True)
    assert np.abs(np.bincount(place.ravel(), both.weight)).sum() / 2 < 0.15  # 0.04 after 4,000 steps


def test_trails_lead_to_their_positions(noticed: tuple[BeliefTracker, int]) -> None:
    tracker, state = noticed
    with tracker.graph.growing():
        few = tracker.of(1, int(tracker.states.parent[state]))
        for found in (few, MetropolisSampler(tracker, state, np.random.default_rng(0)).draw(few, 30)):
            assert found.size and found.trail is not None
            for position, trail in zip(found.position, found.trail, strict=True):
                at = 0
                for edge in trail[trail >= 0]:
                    assert edge in tracker.graph.spread(np.array([at]))[0]
                    at = int(tracker.graph.child[edge])
                assert at == position


def test_chains_begin_with_the_histories_that_they_are_given() -> None:
    """Histories of different lengths: X tries marked cells, and its trails go on after those of others ended."""
    tracker = BeliefTracker(build_lazy_graph(load("phantom_tic_tac_toe")), most=200)
    with tracker.graph.growing():
        state = 1
        for record in [((2, 2), ()), ((1, 1), ()), ((1, 3), ())]:
            state = tracker.successor(state, tracker.graph.source.record_number(1, record))
            found = tracker.of(1, state)
        assert found.trail is not None and len(set((found.trail >= 0).sum(axis=1).tolist())) > 1
        sampler = MetropolisSampler(tracker, state, np.random.default_rng(0))
        assert sampler.draw(found.take(np.arange(1)), 1).position.tolist() == found.position[:1].tolist()
        for row in range(found.size):
            last = found.take(np.full(metropolis.CHAINS, row))
            chains = sampler._begin(last.trail)
            assert not chains.cost.any()
            at = np.arange(metropolis.CHAINS)
            assert (chains.position[at, chains.length] == last.position).all()


def test_the_same_generator_makes_the_same_histories(noticed: tuple[BeliefTracker, int]) -> None:
    tracker, state = noticed
    with tracker.graph.growing():
        before = tracker.of(1, int(tracker.states.parent[state]))
        one, other = (MetropolisSampler(tracker, state, np.random.default_rng(5)).draw(before, 40) for _ in range(2))
    assert isinstance(one, Belief)
    assert one.position.tolist() == other.position.tolist() and one.weight.tolist() == other.weight.tolist()
