"""The agent for every game: what it chooses, that it plays legally and in time, and how good it is."""

import numpy as np
import pytest

from infoset import load
from infoset.errors import UnsupportedGameError
from infoset.gdl.library import library
from infoset.match.agents import load_agent
from infoset.match.match import play_match


def searching(**parameters):
    from infoset.search.agent import Search, SearchAgent

    return SearchAgent(Search(**parameters))


@pytest.mark.parametrize(
    ("game", "method", "seconds"),
    [
        ("kuhn_poker", "tree", 60),
        ("leduc_poker", "tree", 60),
        ("gdl:monty_hall", "tree", 60),
        ("gdl:meier", "public", 60),
        ("gdl:breakthrough", "subgame", 1),
    ],
)
def test_it_chooses_and_says_why(game, method, seconds) -> None:
    """The clocks are generous: what is chosen must not depend on how busy the machine is."""
    agent = searching(seconds=seconds)
    agent.begin(load(game), 0, np.random.default_rng(1), None)
    assert agent.plan.startswith(method + ":")


@pytest.mark.parametrize("method", ["sampling", "subgame"])
def test_a_model_that_cannot_be_answered_exactly_is_refused(method) -> None:
    """Sound and exploiting play are never mixed."""
    agent = searching(method=method, exploit="random")
    with pytest.raises(UnsupportedGameError, match="no exact answer to random"):
        agent.begin(load("kuhn_poker"), 0, np.random.default_rng(1), None)


def test_sampling_can_be_repeated() -> None:
    rows = []
    for _ in range(2):
        agent = searching(method="sampling", iterations=300, seed=5)
        agent.begin(load("leduc_poker"), 0, np.random.default_rng(1), None)
        rows.append(agent.inner.policy.behaviour)
    np.testing.assert_array_equal(*rows)


@pytest.mark.parametrize("method", ["tree", "public", "sampling", "subgame"])
@pytest.mark.parametrize("game", ["kuhn_poker", "gdl:monty_hall", "kuhn_poker(players=3)"])
def test_every_method_plays_without_a_fault(game, method) -> None:
    rules = load(game)
    agents = [searching(method=method, seconds=5, seconds_per_move=0.1, iterations=200)] + [
        load_agent("random") for _ in rules.players[1:]
    ]
    for seed in range(5):
        assert not play_match(rules, agents, seed=seed).faults


def test_monty_halls_player_switches() -> None:
    rules, agent = load("gdl:monty_hall"), searching()
    wins = sum(play_match(rules, [agent], seed=seed).returns[0] == 100 for seed in range(300))
    assert 170 < wins < 230


def test_what_cannot_be_explained_is_noted_once_and_played_on() -> None:
    agent = searching(method="subgame", seconds_per_move=0.05)
    agent.begin(load("kuhn_poker"), 0, np.random.default_rng(1), None)
    agent.observe(None, "no such card")
    agent.observe(None, "nor this")
    assert agent.act(("Pass", "Bet"), None) in {"Pass", "Bet"}
    agent.act(("Pass", "Bet"), None)
    assert len(agent.inner.faults) == 1
    assert "no history explains" in agent.inner.faults[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(library()))
def test_every_shipped_game_is_played_in_time(name) -> None:
    rules = load(f"gdl:{name}")
    agents = [searching()] + [load_agent("random") for _ in rules.players[1:]]
    for seed in range(2):
        result = play_match(rules, agents, seed=seed, seconds_per_move=1.0, seconds_to_begin=20.0, max_steps=60)
        assert not [fault for fault in result.faults if fault.player == 0], agents[0].plan
