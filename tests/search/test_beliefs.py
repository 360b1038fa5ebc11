"""Histories behind an information state: the exact filter by hand, draws against it by chi-square."""

import numpy as np
import pytest
from scipy.stats import chisquare

from infoset import load
from infoset.search.belief import BeliefSampler, BeliefTracker
from infoset.search.monte_carlo import by_name
from infoset.tree.graph import explore
from infoset.tree.rules_source import build_lazy_graph
from slow_beliefs import ExactBelief, start_world, states_asked, told

SIGNIFICANT = 1e-4


def test_monty_halls_doors() -> None:
    """The car is twice as likely behind the other door."""
    game = load("gdl:monty_hall")
    _, states = states_asked("gdl:monty_hall", 0)
    asked = next(known for known in states if len(known) == 2)
    worlds = told(ExactBelief(game, 0), asked, 0).worlds(10)
    assert sorted(world.weight for world in worlds) == pytest.approx([1 / 3, 2 / 3])
    assert all(world.known[0] == asked for world in worlds)


def test_a_caller_in_kuhn_poker_holds_both_other_cards_possible() -> None:
    game, states = states_asked("kuhn_poker", 1)
    for known in states:
        worlds = told(ExactBelief(game, 1), known, len(start_world(game).known[1])).worlds(10)
        assert [world.weight for world in worlds] == pytest.approx([0.5, 0.5])


def asked(name, player, grows=False, **limits):
    """Ranges of a game, and the information states in which a player had a choice in random plays."""
    game, states = states_asked(name, player)
    graph = build_lazy_graph(game) if grows else explore(game)
    ranges, found = BeliefTracker(graph, **limits), []
    for known in states:
        state = player
        for record in known[int(graph.start_records[player] >= 0) :]:
            state = ranges.successor(
                state, graph.source.record_number(player, record) if grows else graph.records.index(record)
            )
        found.append(state)
    return ranges, found


def rows(found):
    """Weights by position, and by what everybody knows there."""
    return dict(zip(map(tuple, np.column_stack([found.position, found.infostate]).tolist()), found.weight, strict=True))


@pytest.mark.parametrize("grows", [False, True])
@pytest.mark.parametrize(("name", "player"), [("gdl:monty_hall", 0), ("leduc_poker", 1), ("gdl:kuhn_poker", 1)])
def test_true_draws_agree_with_the_exact_range(name, player, grows) -> None:
    ranges, states = asked(name, player, grows)
    several = [state for state in states if ranges.of(player, state).size > 1][:3]
    assert several
    for number, state in enumerate(several):
        exact = rows(ranges.of(player, state))
        draws = BeliefSampler(ranges, state, np.random.default_rng(number))
        found = rows(draws.draw(4000))
        assert found.keys() <= exact.keys()
        observed = [4000 * found.get(key, 0.0) for key in exact]
        assert chisquare(observed, [4000 * weight for weight in exact.values()]).pvalue > SIGNIFICANT


def test_draws_for_training_are_biased_as_the_paper_says() -> None:
    """Monty Hall: the door with the car is half as likely as the other, and met more often than that."""
    ranges, states = asked("gdl:monty_hall", 0)
    state = next(s for s in states if np.ptp(ranges.of(0, s).weight) > 0.1)
    exact, found = (rows(r) for r in (ranges.of(0, state), BeliefSampler(ranges, state, rng(), true=False).draw(4000)))
    least = min(exact, key=exact.__getitem__)
    assert exact[least] == pytest.approx(1 / 3)
    assert found[least] > 0.4


def rng():
    return np.random.default_rng(1)


@pytest.mark.slow
def test_no_mistake_is_made_twice() -> None:
    """Fifty histories of a state late in the game, with what is remembered and without."""
    ranges, states = asked("gdl:krieg_tic_tac_toe", 1, grows=True)
    state = max(states, key=lambda s: len(ranges.states.path(s)[1]))
    draws, forgetful = BeliefSampler(ranges, state, rng()), BeliefSampler(ranges, state, rng())
    draws.draw(50)
    found = 0
    while found < 50:
        forgetful.places.clear()
        forgetful.walks += 1
        found += forgetful._walk(start(ranges)) is not None
    assert draws.walks < forgetful.walks / 3


def start(ranges):
    return ranges.of(0, 0)


def test_what_no_history_explains_leaves_none() -> None:
    ranges = BeliefTracker(explore(load("kuhn_poker")))
    king = ranges.graph.records.index((None, "K"))
    state = ranges.successor(ranges.successor(0, king), king)
    assert not ranges.of(0, state).size
    assert not BeliefSampler(ranges, state, rng()).draw(5).size


def test_others_are_drawn_where_nothing_is_left_of_a_range() -> None:
    """With two of its histories kept, what follows is often explained by none of them; the rest is found again."""
    ranges, states = asked("gdl:krieg_tic_tac_toe", 0, grows=True, most=2)
    sizes = [ranges.of(0, state).size for state in states]
    assert all(sizes)
    assert ranges.repaired
    again, _ = asked("gdl:krieg_tic_tac_toe", 0, grows=True, most=2)
    assert [again.of(0, state).size for state in states] == sizes


def test_the_nearest_are_kept_where_there_is_no_time_for_others() -> None:
    """They explain everything but the last thing seen, as if that had been seen, and stand for that state."""
    ranges, states = asked("gdl:krieg_tic_tac_toe", 0, grows=True, most=2)
    ranges.relaxed = True
    for state in states:
        found = ranges.of(0, state)
        assert found.size
        assert set(found.infostate[:, 0].tolist()) == {state}
    assert ranges.near
    assert ranges.near <= set(states)
    assert not ranges.drawn_again
    last = next(state for state in reversed(states) if state in ranges.near)
    assert ranges.move_to(build_lazy_graph(load("gdl:krieg_tic_tac_toe")), last) in ranges.near
    assert len(ranges.near) == 1  # the others had numbers of the graph before


def test_moves_are_made_by_histories_that_offer_other_ones() -> None:
    """What is not on offer is left out; where all is, the probabilities are as they were."""
    assert by_name(("a", "b", "c"), np.array([0.5, 0.5, 0.0]), ("b", "c", "d")) == [1.0, 0.0, 0.0]
    assert by_name(("a", "b"), np.array([0.25, 0.75]), ("a", "b")) == [0.25, 0.75]
    assert by_name(("a",), np.ones(1), ("b", "c")) is None


def test_few_heavy_histories_say_as_much_as_few() -> None:
    found = start(asked("kuhn_poker", 0)[0])._replace(weight=np.array([0.5, 0.5, 0.0, 0.0]))
    assert found.effective == pytest.approx(2.0)
