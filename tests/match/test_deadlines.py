"""Searches on growing graphs keep to their clocks and their memory: in time, with a legal move, whatever happens."""

from __future__ import annotations

import gc
import re
import threading
import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from extent import mark_slow, sample
from infoset import load, load_agent
from infoset.base import Game
from infoset.clock import Clock
from infoset.errors import BudgetError, ClockError
from infoset.search.belief import BeliefTracker, whole
from infoset.search.histories import Belief
from infoset.search.tree_search import NO_NODE, OWN, STATE, TreeSearch
from infoset.tree.graph import explore
from infoset.tree.lazy_graph import STATES, LazyGraph
from infoset.tree.rules_source import RulesSource, build_lazy_graph
from lazy_graphs import ask_all, count_histories
from random_games import RandomGame, RandomState

GRACE = 0.5  # seconds of work that may come behind a deadline
LONGEST = 0.2  # seconds that a move may be given
HIDDEN = [
    "flat-mc",
    "kluss",
    "is-mcts",
    "is-mcts(observers=single)",
    "pimc",
    "pessimistic",
    "search(seconds=0.1,nodes=64)",
]
OPEN_GAMES = ["gdl:tic_tac_toe", "gdl:connect_four", "gdl:breakthrough"]
HIDDEN_GAMES = ["gdl:phantom_connect", "gdl:krieg_tic_tac_toe", "gdl:small_battleships", "gdl:meier", "gdl:monty_hall"]


class Asked(NamedTuple):
    """What came of one question to an agent."""

    agent: str
    game: str
    allowed: float
    late: float  # seconds of its own work more than allowed; what a busy machine does meanwhile isn't the agent's
    legal_actions: bool


def play(game: Game, name: str, rng: np.random.Generator, longest: float = LONGEST) -> list[Asked]:
    """One game in which the agent has all seats, and less than ``longest`` seconds for each move, often none."""
    agents = [load_agent(name) for _ in game.players]
    for player, agent in enumerate(agents):
        agent.begin(game, player, np.random.default_rng(player), None)
    asked = []
    step, actions = game.start(), [None] * len(agents)
    while True:
        for player, agent in enumerate(agents):
            if actions[player] is not None or step.observation(player) is not None:
                agent.observe(actions[player], step.observation(player))
        state: Any = step.state
        if state.terminal:
            return asked
        actions = [None] * len(agents)
        for player, agent in enumerate(agents):
            if action_set := state.legal_actions(player):
                allowed = float(rng.choice([0.0, 0.001, longest * rng.random() ** 4]))
                begun = time.thread_time()
                action = agent.act(action_set, time.monotonic() + allowed)
                late = time.thread_time() - begun - allowed
                if len(action_set) > 1:
                    asked.append(Asked(name, game.name, allowed, late, action in action_set))
                actions[player] = action if action in action_set else action_set[0]
        step = getattr(state, "play_unchecked", state.play)(actions, state.draw(actions, rng))


def fuzz(number: int) -> list[Asked]:
    """So many questions or a few more: random games, and described ones now and then."""
    rng, asked = np.random.default_rng(number), []
    for k in count():
        if len(asked) >= number:
            return asked
        if k % 8:
            game: Any = RandomGame(int(rng.integers(10**6)), num_players=int(rng.integers(1, 4)), depth=5)
            name = str(rng.choice(HIDDEN))
        elif k % 16:
            game, name = load(str(rng.choice(HIDDEN_GAMES))), str(rng.choice(HIDDEN))
        else:
            game, name = load(str(rng.choice(OPEN_GAMES))), "uct"
        asked += play(game, name, rng)
    raise AssertionError


@pytest.mark.parametrize("number", [sample(150, 500), pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_move_is_late_or_illegal(number: int) -> None:
    """Deadlines from none at all to .2 s."""
    gc.collect()
    gc.freeze()  # what other tests left behind is not to be looked through at a move
    try:
        asked = fuzz(number)
    finally:
        gc.unfreeze()
    assert not [each for each in asked if not each.legal_actions]
    assert not [each for each in asked if each.late > GRACE]


class Rings(Clock):
    """A clock that rings when it has been looked at so often."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def __call__(self, _: int = 0) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise ClockError("it rings")


@pytest.mark.parametrize("name", ["goofspiel(num_cards=3)", "kuhn_poker", "gdl:monty_hall"])
def test_what_ends_in_the_middle_can_be_asked_again(name: str) -> None:
    """A clock that rings at every look, one after the other; no state or edge is left half made."""
    game = load(name)
    graph = LazyGraph(game, RulesSource(Ringing(game)), 1 << 26)
    for looks in count():
        Ringing.clock = Rings(looks % 7)
        try:
            with graph.growing(Rings(looks % 5)):
                ask_all(graph)
            break
        except ClockError:
            assert len(graph.source.states) == graph.arrays.filled[STATES]
    Ringing.clock = Clock()
    assert count_histories(graph) == explore(game).count_histories()


class Ringing:
    """A game of whose states each question looks at a clock."""

    clock = Clock()

    def __init__(self, game: Game) -> None:
        self.game, self.players = game, game.players

    def start(self) -> Any:
        step = self.game.start()
        return step._replace(state=RingingState(step.state))


class RingingState(NamedTuple):
    state: Any

    @property
    def terminal(self) -> bool:
        Ringing.clock()
        return self.state.terminal

    def legal_actions(self, player: int) -> Any:
        Ringing.clock()
        return self.state.legal_actions(player)

    def chance_outcomes(self, actions: Any) -> Any:
        Ringing.clock()
        return self.state.chance_outcomes(actions)

    def draw(self, actions: Any, rng: Any) -> Any:
        return self.state.draw(actions, rng)

    def play(self, actions: Any, chance_outcome: Any = None) -> Any:
        Ringing.clock()
        step = self.state.play(actions, chance_outcome)
        return step._replace(state=RingingState(step.state))

    def returns(self) -> Any:
        Ringing.clock()
        return self.state.returns()


@pytest.mark.parametrize("name", ["gdl:kuhn_poker", "gdl:monty_hall", "gdl:tic_tac_toe"])
def test_a_graph_without_memory_can_be_asked_again(name: str) -> None:
    """Room is given byte by byte, as it were: what did not fit is found later."""
    game = load(name)
    graph, times, more = build_lazy_graph(game, 1 << 26), 0, 2_000 if name.endswith("toe") else 200
    graph.memory = graph.nbytes
    while True:
        try:
            ask_all(graph, 3)
            break
        except BudgetError:
            graph.memory += more
            times += 1
        assert graph.source.interned.states.size[0] == graph.arrays.filled[STATES]
    assert times > 10
    assert count_histories(graph) == explore(game).count_histories()


@pytest.mark.parametrize(("name", "by"), [("gdl:krieg_tic_tac_toe", OWN), ("gdl:tic_tac_toe", STATE)])
def test_a_batch_that_ends_in_the_middle_leaves_no_trace(name: str, by: int) -> None:
    graph = build_lazy_graph(load(name))
    rings = [False]

    def leaves(positions: np.ndarray) -> tuple[np.ndarray, None]:
        if rings[0]:
            raise ClockError("it rings")
        return np.full((len(positions), 2), 50.0), None

    search = TreeSearch(graph, leaves, by, 0)
    for k in range(40):
        rings[0] = k % 3 == 1
        before = search.tree.visits[: search.tree.size[0]].copy()
        search.run(whole(graph), 50)
        if rings[0]:
            assert (search.tree.visits[: len(before)] == before).all()
            assert not search.tree.visits[len(before) :].any()
    keys = np.flatnonzero(search.tree.node != NO_NODE)
    first = np.sort(search.tree.node[keys])
    visits = np.add.reduceat(search.tree.visits[: search.tree.size[0]], first)
    assert visits.sum() > 0
    assert (visits == search.tree.times[keys[np.argsort(search.tree.node[keys])]]).all()
    total = search.tree.total[: search.tree.size[0]]
    assert (total <= 100 * search.tree.visits[: search.tree.size[0]]).all()


def test_a_graph_that_another_thread_has_is_waited_for_until_the_clock_rings() -> None:
    game = load("gdl:tic_tac_toe")
    agent = load_agent("uct")
    agent.begin(game, 0, np.random.default_rng(1), None)
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with agent.graph.growing():
            taken.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(30)
    action_set = game.start().state.legal_actions(0)
    assert agent.act(action_set, time.monotonic() + 0.05) in action_set
    assert "time limit was reached" in agent.faults[0]
    done.set()
    thread.join()
    assert agent.act(action_set, time.monotonic() + 1.0) in action_set
    assert len(agent.faults) == 1


def test_a_move_that_was_cut_does_not_lose_the_game() -> None:
    """What is seen while there is no time is worked out when there is."""
    game = load("gdl:krieg_tic_tac_toe")
    agent = load_agent("is-mcts(nodes=50)")
    agent.begin(game, 0, np.random.default_rng(1), None)
    rng, step = np.random.default_rng(2), game.start()
    for k in range(4):
        state: Any = step.state
        actions = [action_set[int(rng.integers(len(action_set)))] for action_set in map(state.legal_actions, range(2))]
        if len(state.legal_actions(0)) > 1:
            actions[0] = agent.act(state.legal_actions(0), time.monotonic() + (0.0 if k < 3 else 60.0))
        step = state.play(actions, state.draw(actions, rng))
        agent.observe(actions[0], step.observation(0))
    faults = len(agent.faults)
    while len(step.state.legal_actions(0)) < 2:
        step = step.state.play([action_set[0] for action_set in map(step.state.legal_actions, range(2))])
        agent.observe("noop", step.observation(0))
    agent.act(step.state.legal_actions(0), time.monotonic() + 60.0)
    assert len(agent.faults) == faults
    assert not agent.beliefs.lost


@pytest.mark.parametrize(
    "name", mark_slow(["kuhn_poker", "gdl:krieg_tic_tac_toe", "gdl:meier"], {"gdl:krieg_tic_tac_toe"})
)
def test_what_may_be_is_the_same_on_a_new_graph(name: str) -> None:
    """Along random plays: ranges that move to an empty graph at every step, and those that stay."""
    game, rng = load(name), np.random.default_rng(3)
    for _ in range(3):
        staying, moving = BeliefTracker(build_lazy_graph(game)), BeliefTracker(build_lazy_graph(game))
        one = other = 0
        step = game.start()
        for _ in range(6):
            state: Any = step.state
            if state.terminal:
                break
            actions = [
                action_set[rng.integers(len(action_set))] if (action_set := state.legal_actions(p)) else None
                for p in range(2)
            ]
            step = state.play(actions, state.draw(actions, rng))
            seen = step.observation(0)
            if actions[0] is not None or seen is not None:
                record = (actions[0], () if seen is None else seen)
                one = staying.successor(one, staying.graph.source.record_number(0, record))
                other = moving.successor(other, moving.graph.source.record_number(0, record))
            assert weights(staying, one) == pytest.approx(weights(moving, other))
            other = moving.move_to(build_lazy_graph(game), other)
            assert staying.key(one) == moving.key(other)
            assert weights(staying, one) == pytest.approx(weights(moving, other))


def weights(ranges: BeliefTracker, state: int) -> Counter[tuple[str, ...]]:
    """How likely it is that everybody knows what."""
    belief: Belief = ranges.of(0, state)
    found: Counter[tuple[str, ...]] = Counter()
    for row, weight in zip(belief.infostate.tolist(), belief.weight.tolist(), strict=True):
        found[tuple(map(ranges.key, row))] += weight
    return found


class LongState(RandomState):
    """Never over before its time."""

    @property
    def terminal(self) -> bool:
        return len(self.history) >= self.game.depth


def resident() -> int:
    """MiB of memory that the process has, where the system says so; else 0."""
    status = Path("/proc/self/status")
    found = re.search(r"VmRSS:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(found[1]) >> 10 if found else 0


def play_long(game: Game, name: str, steps: int, seconds: float) -> int:
    """So many steps of a game, or of one game after the other, against random play; MiB that the process grew by."""
    agent, rng = load_agent(name), np.random.default_rng(4)
    before, most, made = resident(), 0, 0
    while made < steps:
        agent.begin(game, 0, np.random.default_rng(made), None)
        step, actions = game.start(), [None] * len(game.players)
        state: Any = step.state
        while not state.terminal and made < steps:
            if actions[0] is not None or step.observation(0) is not None:
                agent.observe(actions[0], step.observation(0))
            action_sets = [state.legal_actions(player) for player in range(len(actions))]
            actions = [
                action_set[int(rng.integers(len(action_set)))] if action_set else None for action_set in action_sets
            ]
            if action_sets[0]:
                actions[0] = agent.act(action_sets[0], time.monotonic() + seconds)
                assert actions[0] in action_sets[0]
            step = getattr(state, "play_unchecked", state.play)(actions, state.draw(actions, rng))
            state, made = step.state, made + 1
            most = max(most, resident())
        assert agent.graph.nbytes + agent.ranges.entries * 40 < 40 << 20
    return most - before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["is-mcts(memory=64)", "pimc(memory=64)"])
def test_a_long_game_ends_within_its_memory(name: str) -> None:
    """300 steps in which ever more may have happened.  The process may have half as much again for what is not kept."""
    game: Any = RandomGame(5, depth=300, state=LongState)
    assert play_long(game, name, 300, 0.02) < 96


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::infoset.gdl.rules.GdlWarning")
@pytest.mark.parametrize(
    ("file", "seconds"),
    [("BlindBreakthrough", 0.03), pytest.param("blackjack", 0.4, marks=pytest.mark.slow)],
)
def test_long_play_of_real_files_stays_within_its_memory(file: str, seconds: float, shared: Path) -> None:
    """300 steps, one game after the other: none of the files lasts so long by itself.  The largest one is blackjack."""
    game = load(str(shared / "games" / "gdl" / f"{file}.gdl"))
    assert play_long(game, "is-mcts(memory=64)", 300, seconds) < 96
