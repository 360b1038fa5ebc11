"""Ranges read from the graph are the beliefs that the states of a game give."""

import numpy as np
import pytest

from infoset import load
from infoset.base import ObservationRecord
from infoset.clock import Clock
from infoset.gdl.game import GdlGame
from infoset.gdl.syntax import parse_gdl
from infoset.search.belief import BeliefTracker
from infoset.search.histories import Belief, drawn
from infoset.search.models import uniform
from infoset.search.roots import order_two
from infoset.search.state_values import informed_values
from infoset.tree.graph import explore
from infoset.tree.rules_source import build_lazy_graph
from slow_beliefs import ExactBelief, order_two_root, state_of, states_asked, told

GAMES = ["kuhn_poker", "kuhn_poker(players=3)", "gdl:monty_hall", "gdl:meier", "goofspiel(num_cards=3)", "leduc_poker"]


def weights(found: Belief, ranges: BeliefTracker) -> dict:
    """By what everybody knows: positions have no names."""
    total: dict = {}
    for row, weight in zip(found.infostate.tolist(), found.weight.tolist(), strict=True):
        key = tuple(ranges.states.state(state) for state in row)
        total[key] = total.get(key, 0.0) + weight
    return total


def believed(worlds) -> dict:
    total: dict = {}
    for known, weight in worlds:
        total[known] = total.get(known, 0.0) + weight
    return total


@pytest.mark.parametrize("name", GAMES)
def test_ranges_equal_the_exact_filter(name) -> None:
    ranges = BeliefTracker(explore(load(name)))
    for player in range(len(load(name).players)):
        game, states = states_asked(name, player, 6)
        for known in states[:15]:
            belief = told(ExactBelief(game, player), known, len(ExactBelief(game, player).target))
            expected = believed((known, weight) for (_, known), weight in belief.weight.items())
            found = weights(ranges.of(player, state_of(ranges, player, known)), ranges)
            assert found == pytest.approx(expected)


def test_the_others_may_be_held_to_a_model() -> None:
    """Who always bets never passed."""
    graph = explore(load("kuhn_poker"))

    def always_bets(edges, known):
        source = np.searchsorted(graph.first_edge, edges, side="right") - 1
        return (edges > graph.first_edge[source]).astype(float)

    ranges = BeliefTracker(graph, always_bets)
    _, states = states_asked("kuhn_poker", 1)
    sizes = {ranges.of(1, state_of(ranges, 1, known)).size for known in states}
    assert sizes == {0, 2}


@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel(num_cards=3)", "gdl:kuhn_poker", "leduc_poker"])
def test_the_others_sets_are_as_the_plain_root_has_them(name) -> None:
    game = load(name)
    ranges, rng = BeliefTracker(explore(game)), np.random.default_rng(0)
    _, states = states_asked(name, 0, 4)
    for known in states[:8]:
        belief = told(ExactBelief(game, 0), known, len(ExactBelief(game, 0).target))
        root = order_two_root(game, 0, belief.worlds(1000), uniform)
        total = sum(world.weight for world in root)
        expected = believed((world.known, world.weight / total) for world in root)
        found = weights(order_two(ranges, 0, state_of(ranges, 0, known), 10_000, 10_000, rng), ranges)
        assert found == pytest.approx(expected)


def test_draws_stand_for_the_weights() -> None:
    weight = np.random.default_rng(1).dirichlet(np.ones(50))
    whole = Belief(np.arange(50), np.arange(50)[:, None], weight)
    total = np.zeros(50)
    for seed in range(2000):
        part = drawn(whole, 10, np.random.default_rng(seed))
        total[part.position] += part.weight / 2000
    np.testing.assert_allclose(total, weight, atol=0.01)


HIDDEN_COIN = """
(role a) (role b) (role random) (init start)
(<= (legal random (toss ?x)) (true start) (side ?x)) (side heads) (side tails)
(<= (legal random noop) (not (true start)))
(<= (legal a noop) (true start)) (<= (legal b noop) (true start))
(<= (legal a (say ?x)) (not (true start)) (side ?x)) (<= (legal b (say ?x)) (not (true start)) (side ?x))
(<= (next (coin ?x)) (does random (toss ?x)))
(<= (next (said ?r ?x)) (does ?r (say ?x)))
(<= terminal (true (said a ?x)))
(<= (sees a ?x) (does random (toss ?x)))
(<= same (true (said a ?x)) (true (said b ?x)))
(<= (goal a 100) same) (<= (goal a 0) (not same)) (<= (goal b 0) same) (<= (goal b 100) (not same))
"""


def test_whoever_saw_nothing_still_knows_that_time_has_passed() -> None:
    """A coin that only one player sees, then matching pennies: worth half to each, also with all told before."""
    graph = explore(GdlGame(parse_gdl(HIDDEN_COIN), "coin"))
    np.testing.assert_allclose(informed_values(graph)[0], 50.0, atol=1e-6)
    ranges = BeliefTracker(graph)
    number = {record: k for k, record in enumerate(graph.records)}
    blind = ranges.asked(1, ranges.successor(1, number["noop", ()]))
    assert blind.weight == pytest.approx([0.5, 0.5])


def _believed_positions(ranges: BeliefTracker, state: int) -> dict[str, float]:
    """The weights by what player 1 knows, as keys: positions are numbered as they are met."""
    found = ranges.of(1, state)
    total: dict[str, float] = {}
    for known, weight in zip(found.infostate[:, 0].tolist(), found.weight.tolist(), strict=True):
        total[ranges.key(known)] = total.get(ranges.key(known), 0.0) + weight
    return total


MARKED: list[ObservationRecord] = [((2, 2), ()), ((1, 1), ())]
"""What O sees of phantom tic-tac-toe when both of its marks succeed; X may have tried some cells in between."""


def _follow(tracker: BeliefTracker, records: list[ObservationRecord]) -> int:
    """Return player 2's information state after records."""
    state = 1
    for record in records:
        state = tracker.successor(state, tracker.graph.source.record_number(1, record))
    return state


@pytest.mark.parametrize(("most", "seeds"), [(8, 600), (32, 150)])
def test_a_sample_of_edges_stands_for_all_of_them(most: int, seeds: int) -> None:
    """The mean over many samples is near the exact belief, also where some histories wait longer than others.

    Every history is met: steps that drew alike never met those of every other edge.  The mean of very small samples is
    biased, since their weights are made to sum to one.
    """
    game = load("phantom_tic_tac_toe")
    tracker = BeliefTracker(build_lazy_graph(game))
    with tracker.graph.growing():
        exact = _believed_positions(tracker, _follow(tracker, MARKED))
    assert len(exact) > 50
    mean: dict[str, float] = dict.fromkeys(exact, 0.0)
    for seed in range(seeds):
        sampled = BeliefTracker(tracker.graph, seed=seed, most=most)
        with sampled.graph.growing():
            state = _follow(sampled, MARKED)
            for key, weight in _believed_positions(sampled, state).items():
                mean[key] += weight / seeds
        assert state in sampled.thinned
    assert sum(mean.values()) == pytest.approx(1.0)
    assert all(mean[key] for key, weight in exact.items() if weight > 0.005)
    assert sum(abs(mean[key] - weight) for key, weight in exact.items()) < (0.25 if most == 8 else 0.12)


def test_a_belief_without_a_history_is_sampled_anew_from_an_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """One history is kept, in which X is rarely where O fails at last; other choices of X's earlier cells are."""
    game = load("phantom_tic_tac_toe")
    graph = build_lazy_graph(game)
    again = BeliefTracker._rejuvenate
    sizes: list[int] = []

    def counted(self: BeliefTracker, player: int, state: int, later: int) -> Belief:
        found = again(self, player, state, later)
        sizes.append(found.size)
        return found

    monkeypatch.setattr(BeliefTracker, "_rejuvenate", counted)
    for seed in range(20):
        tracker = BeliefTracker(graph, seed=seed, most=1)
        with graph.growing():
            state = _follow(tracker, [*MARKED, ((3, 3), "taken")])
            size = tracker.of(1, state).size
            assert size
            forgetful = BeliefTracker(graph, seed=seed, most=1)
            forgetful.most_entries = 1  # it keeps no earlier belief
            assert forgetful.of(1, state).size == size
    assert sizes and max(sizes) == 1


def test_a_clock_ends_a_belief_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every edge takes a millisecond of a fake clock: some histories are found, and most of the time is left."""
    now = [100.0]
    monkeypatch.setattr("infoset.clock.time.monotonic", lambda: now[0])
    game = load("phantom_tic_tac_toe")
    graph = build_lazy_graph(game)
    ask = graph.ask

    def slow(edges: np.ndarray) -> None:
        now[0] += 0.001 * len(edges)
        ask(edges)

    monkeypatch.setattr(graph, "ask", slow)
    tracker = BeliefTracker(graph)
    with graph.growing(Clock(now[0] + 0.2)):
        state = _follow(tracker, MARKED)
        assert tracker.of(1, state).size > 5
    assert tracker.looked > 50
    assert now[0] < 100.2
    assert state in tracker.thinned
