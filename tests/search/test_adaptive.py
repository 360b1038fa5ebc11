"""An agent that finds out whom it meets: what is likely, what it then plays, and what it refuses."""

from math import log

import numpy as np
import pytest

from infoset import load
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.match.agents import load_agent
from infoset.match.series import play_series
from infoset.search.belief import BeliefTracker
from infoset.search.models import by_edge
from infoset.tree.graph import explore


def test_how_likely_a_token_is() -> None:
    """Kuhn poker, player 1 with the king: a random opponent passes or bets after a pass, each half the time."""
    ranges = BeliefTracker(explore(load("kuhn_poker")))
    number = {record: k for k, record in enumerate(ranges.graph.records)}
    king = number[None, "K"]
    assert ranges.chance(0, 0, king) == pytest.approx(1 / 3)
    state = ranges.successor(0, king)
    passed = next(k for record, k in number.items() if record[0] == "pass")
    assert ranges.chance(0, state, passed) == pytest.approx(1)  # its own move
    after = [(record, ranges.chance(0, ranges.successor(state, passed), k)) for record, k in number.items()]
    assert sorted(round(chance, 9) for _, chance in after if chance > 0) == [0.5, 0.5]  # of which one ends the game


def test_models_by_edges_are_models() -> None:
    """One that plays its second move twice as often as its first, and so on, and knows who it is."""
    graph = explore(load("leduc_poker"))
    ranges, asked = BeliefTracker(graph), []

    def model(player, known, legal_actions):
        asked.append((player, known))
        return [2 * (k + 1) / (len(legal_actions) * (len(legal_actions) + 1)) for k in range(len(legal_actions))]

    probabilities = by_edge(model, graph, ranges.states)
    position = next(p for p in np.flatnonzero(graph.player == 1).tolist() if graph.num_edges[p] == 3)
    edges = np.arange(graph.first_edge[position], graph.first_edge[position + 1])
    state = ranges.successor(1, 0)
    np.testing.assert_allclose(probabilities(edges, np.full(3, state)), [1 / 6, 2 / 6, 3 / 6])
    assert asked == [(1, (graph.records[0],))]


@pytest.mark.slow
@pytest.mark.parametrize(("opponent", "random", "least"), [("random", True, 0.4), ("search", False, -0.2)])
def test_it_finds_out_whom_it_meets_in_kuhn_poker(opponent, random, least) -> None:
    """A best response to random play wins .5; against sound play nothing is left but the game's value."""
    agent = load_agent("adaptive(models=[random], seconds=30)")
    play_series("kuhn_poker", [agent, load_agent(opponent)], games=100, seed=1)
    assert (agent.posterior()["random"] > 0.99) is random
    assert agent.plan.startswith("answering random" if random else "sound:")
    series = play_series("kuhn_poker", [agent, load_agent(opponent)], games=1000, seed=2)
    assert series.agents[0].mean > least
    assert not any(series.agents[0].faults.values())


@pytest.mark.slow
def test_it_tells_two_declared_opponents_apart() -> None:
    agent = load_agent("adaptive(models=[random,meier], seconds=30)")
    play_series("gdl:meier", [agent, load_agent("meier")], games=150, seed=3)
    assert agent.plan.startswith("answering meier")
    best = play_series("gdl:meier", [agent, load_agent("meier")], games=600, seed=4).agents[0]
    assert abs(best.mean - 81.974) < 1.7 * best.interval  # the best response, exactly


def test_evidence_is_the_logarithm_of_what_was_seen() -> None:
    agent = load_agent("adaptive(models=[random], seconds=30)")
    game = load("kuhn_poker")
    agent.begin(game, 0, np.random.default_rng(1), None)
    agent.observe(None, "K")
    assert agent.hypotheses[1].evidence == pytest.approx(log(1 / 3))


def test_what_nobody_explains_is_charged_once() -> None:
    agent = load_agent("adaptive(models=[random], seconds=30)")
    agent.begin(load("leduc_poker"), 0, np.random.default_rng(1), None)
    seen = (None, "Kh"), ("call", ()), (None, "Kh"), ("call", ())  # no two kings of hearts
    for own, observation in seen:
        agent.observe(own, observation)
    evidence = [hypothesis.evidence for hypothesis in agent.hypotheses]
    assert all(-30 < found < -15 for found in evidence)


def test_what_it_cannot_weigh_is_refused() -> None:
    with pytest.raises(ParameterError, match="models is a list of agents"):
        load_agent("adaptive(models=[])")
    with pytest.raises(ParameterError, match=r"confidence=0\.5"):
        load_agent("adaptive(confidence=0.5)")
    with pytest.raises(UnsupportedGameError, match="positions found before it begins"):
        agent = load_agent("adaptive(seconds=0.2)")
        agent.begin(load("gdl:breakthrough"), 0, np.random.default_rng(1), None)
    agent = load_agent("adaptive(models=[simple])")
    with pytest.raises(UnsupportedGameError, match="does not report its action probabilities"):
        agent.begin(load("kuhn_poker"), 0, np.random.default_rng(1), None)
