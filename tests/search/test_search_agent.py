"""The agent for every game: what it chooses, that it plays legally and in time, and how good it is."""

import time

import numpy as np
import pytest

from conftest import SHARED
from infoset import load
from infoset.errors import InfosetError, ParameterError, UnsupportedGameError
from infoset.gdl.library import library
from infoset.match.agents import load_agent
from infoset.match.match import Table, play_match
from infoset.match.series import play_series


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
        ("gdl:breakthrough", "uct", 1),
        ("gdl:phantom_connect", "is-mcts", 1),
    ],
)
def test_it_chooses_and_says_why(game, method, seconds) -> None:
    """The clocks are generous: what is chosen must not depend on how busy the machine is."""
    agent = searching(seconds=seconds)
    agent.begin(load(game), 0, np.random.default_rng(1), None)
    assert agent.plan.startswith(method + ":")


@pytest.mark.parametrize("method", ["kluss", "per-world", "pessimistic"])
def test_a_model_that_cannot_be_answered_exactly_is_refused(method) -> None:
    """Sound and exploiting play are never mixed."""
    agent = searching(method=method, exploit="random")
    with pytest.raises(UnsupportedGameError, match="no exact answer to random"):
        agent.begin(load("kuhn_poker"), 0, np.random.default_rng(1), None)


def test_sampling_answers_a_model() -> None:
    agent = searching(method="sampling", exploit="random", iterations=20_000)
    agent.begin(load("kuhn_poker"), 0, np.random.default_rng(1), None)
    assert "20,000 plays against random" in agent.plan
    series = play_series("kuhn_poker", [agent, "random"], games=3000, seed=1)
    assert series.agents[0].mean == pytest.approx(0.5, abs=0.1)  # the best response: 1/2
    assert not any(series.agents[0].faults.values())


def test_sampling_can_be_repeated() -> None:
    rows = []
    for _ in range(2):
        agent = searching(method="sampling", iterations=300, seed=5)
        agent.begin(load("leduc_poker"), 0, np.random.default_rng(1), None)
        rows.append(agent.inner.policy.policy.behaviour)
    np.testing.assert_array_equal(*rows)


@pytest.mark.parametrize("method", ["tree", "public", "sampling", "kluss", "per-world", "pessimistic"])
@pytest.mark.parametrize("game", ["kuhn_poker", "gdl:monty_hall", "kuhn_poker(players=3)"])
def test_every_method_plays_without_a_fault(game, method) -> None:
    rules = load(game)
    agents = [searching(method=method, seconds=2, seconds_per_move=0.1)] + [
        load_agent("random") for _ in rules.players[1:]
    ]
    for seed in range(5):
        assert not play_match(rules, agents, seed=seed).faults


@pytest.mark.parametrize(
    "options",
    [{"worlds": 5, "method": "pessimistic"}, {"steps": 3}, {"worlds": 5}, {"iterations": 9, "method": "kluss"}],
)
def test_an_option_that_the_method_ignores_is_refused(options) -> None:
    with pytest.raises(ParameterError, match="is not used by method="):
        searching(**options)


def test_monty_halls_player_switches() -> None:
    rules, agent = load("gdl:monty_hall"), searching()
    wins = sum(play_match(rules, [agent], seed=seed).returns[0] == 100 for seed in range(300))
    assert 170 < wins < 230


def test_what_cannot_be_explained_is_noted_once_and_played_on() -> None:
    agent = searching(method="per-world", seconds_per_move=0.05)
    agent.begin(load("kuhn_poker"), 0, np.random.default_rng(1), None)
    agent.observe(None, "no such card")
    agent.observe(None, "nor this")
    assert agent.act(("Pass", "Bet"), None) in {"Pass", "Bet"}
    agent.act(("Pass", "Bet"), None)
    assert len(agent.inner.faults) == 1
    assert "no history explains" in agent.inner.faults[0]


MOVES = 40  # of a game that does not end by itself soon
REAL = sorted((SHARED / "games" / "gdl").glob("*.gdl")) if SHARED.is_dir() else []


class Measured:
    """An agent with the seconds that it computed in its last call; those for which other processes ran do not count."""

    def __init__(self, agent) -> None:
        self.agent, self.spent = agent, 0.0
        self.observe, self.end = agent.observe, agent.end

    def begin(self, *given):
        return self._measured(self.agent.begin, *given)

    def act(self, *given):
        return self._measured(self.agent.act, *given)

    def _measured(self, call, *given):
        begun = time.thread_time()
        try:
            return call(*given)
        finally:
            self.spent = time.thread_time() - begun


def faults_of(rules, seed: int) -> tuple[list, str]:
    """What the agent did wrong in the first moves of a game against random players, and its plan.

    It is late where it computed for longer than its clock allows, which a busy machine does not change.
    """
    agent, to_begin, to_move = Measured(searching()), 20.0, 1.0
    others = [load_agent("random") for _ in rules.players[1:]]
    played = Table.of(rules, [agent, *others], to_move, to_begin, MOVES).open(seed)
    state = played.begin()
    late = [agent.spent > to_begin]
    for _ in range(MOVES):
        if state.terminal:
            break
        state = played.step(state)
        late.append(agent.spent > to_move)
    own = [fault for fault in played.faults if fault.player == 0]
    return [fault for fault in own if fault.kind != "late" or late[fault.step]], agent.agent.plan


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(library()))
def test_every_shipped_game_is_played_in_time(name) -> None:
    for seed in range(2):
        faults, plan = faults_of(load(f"gdl:{name}"), seed)
        assert not faults, plan


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::infoset.gdl.rules.GdlWarning")
@pytest.mark.parametrize("file", REAL, ids=lambda file: file.stem)
def test_every_real_file_is_played_in_time(file) -> None:
    try:
        rules = load(str(file))
    except InfosetError as error:
        pytest.skip(f"not playable: {error}")
    faults, plan = faults_of(rules, 1)
    assert not faults, plan
