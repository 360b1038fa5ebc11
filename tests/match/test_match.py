"""Matches: what a seed fixes, what a fault costs, what a replay proves, what a series measures."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from command_line import run_infoset
from conftest import KUHN, LEDUC, PENNIES, form_of
from infoset import (
    Ended,
    Match,
    NativeState,
    Observed,
    PolicyAgent,
    TabularPolicy,
    load,
    load_agent,
    play_match,
    play_series,
    replay_states,
    solve,
)
from infoset.errors import FormatError, GameRuleError, ParameterError, UnknownNameError, UnsupportedGameError
from infoset.match.agents import AGENTS, RandomAgent
from infoset.match.match import DETAIL
from infoset.match.replay import MatchStep, replay_steps
from infoset.match.series import game_seed
from infoset.tree.plans import random_interior
from infoset.view.match_text import series_text

RANDOM = ["random", "random"]
GOOFSPIEL = "goofspiel(num_cards=4)"
DRIVER = """EFG 2 R "pennies" { "Even" "Odd" }
p "" 1 1 "first" { "heads" "tails" } 0
p "" 2 1 "second" { "heads" "tails" } 0
t "" 1 "same" { 1, -1 }
t "" 2 "different" { -1, 1 }
p "" 2 1 0
t "" 2
t "" 1
"""


def played(match: Match) -> list[tuple]:
    """What happened, without the times."""
    return [(step.actions, step.chance_outcome) for step in match.steps]


class Recorder(RandomAgent):
    """Random play that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list = []

    def begin(self, game, player, rng, deadline) -> None:
        super().begin(game, player, rng, deadline)
        self.told = [("begin", game.name, player, deadline)]

    def observe(self, own_action, observation) -> None:
        self.told.append((own_action, observation))

    def end(self, returns) -> None:
        self.told.append(("end", returns))


class Scripted(Recorder):
    """Answers what a function of the legal moves and the deadline says."""

    def __init__(self, answer: Callable[[tuple, float | None], Any]) -> None:
        super().__init__()
        self.answer = answer

    def act(self, legal_actions, deadline):
        return self.answer(legal_actions, deadline)


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object) -> Any:
        raise error

    return fail


# One game


@pytest.mark.parametrize("name", [KUHN, LEDUC, GOOFSPIEL, PENNIES, "kuhn_poker(players=4)", "rock_paper_scissors"])
def test_one_seed_is_one_game(name: str) -> None:
    agents = ["random"] * len(load(name).players)
    one, again = (play_match(name, agents, seed=5) for _ in range(2))
    assert played(one) == played(again)
    assert one.returns == again.returns
    assert len({str(played(play_match(name, agents, seed=seed))) for seed in range(20)}) > 1
    assert one.faults == ()


def test_nature_does_not_depend_on_who_plays() -> None:
    """So two agents can be compared on the same deals."""
    first = Scripted(lambda legal_actions, _: legal_actions[0])
    deals = [
        [step.chance_outcome for step in play_match(KUHN, [agent, "random"], seed=3).steps[:2]]
        for agent in (first, "random")
    ]
    assert deals[0] == deals[1]


def test_an_agent_hears_its_information_state_and_nothing_else() -> None:
    one, other = Recorder(), Recorder()
    match = play_match(KUHN, [one, other], seed=8)
    cards = [step.chance_outcome for step in match.steps[:2]]
    actions = [(step.actions[0], step.actions[1]) for step in match.steps[2:]]
    for player, agent in enumerate((one, other)):
        seen = [(None, cards[player])]
        seen += [(m[player], None if m[player] else m[1 - player]) for m in actions]
        assert agent.told == [("begin", KUHN, player, None), *seen, ("end", match.returns)]


def test_simultaneous_moves_are_executed_together() -> None:
    match = play_match(PENNIES, ["random"] * 3)
    assert len(match.steps) == 1
    assert None not in match.steps[0].actions
    assert all(seconds >= 0 for seconds in match.steps[0].seconds)


def test_what_does_not_fit_is_said_at_once() -> None:
    with pytest.raises(ParameterError, match=r"kuhn_poker has 2 players \(P1, P2\), not 1: name one agent for each"):
        play_match(KUHN, ["random"])
    with pytest.raises(ParameterError, match="one agent object is in two seats"):
        play_match(KUHN, [RandomAgent()] * 2)
    for agent in (RandomAgent, 3):
        with pytest.raises(ParameterError, match="is not an agent; it needs begin, observe, act and end"):
            play_match(KUHN, [agent, "random"])
    with pytest.raises(ParameterError, match="seconds_per_move=0 is out of range"):
        play_match(KUHN, RANDOM, seconds_per_move=0)
    with pytest.raises(ParameterError, match="seed=-1"):
        play_match(KUHN, RANDOM, seed=-1)
    with pytest.raises(UnknownNameError, match="did you mean 'random'"):
        play_match(KUHN, ["random", "rendom"])


class Endless(NativeState, tuple):
    """One player moves for ever."""

    def legal_actions(self, player):
        return (0,)

    def play_unchecked(self, actions, chance_outcome=None):
        return Observed(self, (None,))

    def returns(self):
        return (0.0,)


class Stuck(Endless):
    def legal_actions(self, player):
        return ()


class OnePlayer:
    name, players = "alone", ("P1",)

    def __init__(self, state) -> None:
        self.state = state

    def start(self):
        return Observed(self.state, (None,))


def test_games_that_do_not_end() -> None:
    with pytest.raises(GameRuleError, match="alone is not over after 50 steps"):
        play_match(OnePlayer(Endless()), ["random"], max_steps=50)
    with pytest.raises(GameRuleError, match="neither legal actions nor chance outcomes"):
        play_match(OnePlayer(Stuck()), ["random"])


# Faults


class Hostile:
    """A value that raises whatever is done with it."""

    __eq__ = __repr__ = __str__ = __hash__ = raising(RuntimeError("no"))


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (lambda legal_actions, _: "raise", "illegal", "'raise'; legal: ('pass', 'bet')"),
        (lambda legal_actions, _: None, "illegal", "None"),
        (lambda legal_actions, _: np.array([1, 2]), "illegal", "array([1, 2])"),
        (lambda legal_actions, _: Hostile(), "illegal", "(no text)"),
        (raising(ValueError("two\nlines")), "error", "act: ValueError: two lines"),
        (raising(ParameterError("mine")), "error", "act: ParameterError: mine"),
        (raising(SystemExit(3)), "error", "act: SystemExit: 3"),
        (raising(ValueError("\ud800" + "x" * 10_000)), "error", "act: ValueError: \\ud800xxx"),
        (lambda legal_actions, deadline: time.sleep(0.02) or legal_actions[0], "late", "s; allowed: 0.01 s"),
    ],
)
def test_a_fault_is_replaced_counted_and_told(tmp_path: Path, answer: Callable, kind: str, words: str) -> None:
    agent = Scripted(answer)
    match = play_match(KUHN, [agent, "random"], seed=2, seconds_per_move=0.01 if kind == "late" else 60.0)
    own = [number for number, step in enumerate(match.steps, start=1) if step.actions[0] is not None]
    assert [(fault.step, fault.player, fault.kind) for fault in match.faults] == [(number, 0, kind) for number in own]
    assert words in match.faults[0].detail
    assert len(match.faults[0].detail) <= DETAIL
    told = [told[0] for told in agent.told[1:-1] if told[0] is not None]
    assert told == [match.steps[number - 1].actions[0] for number in own]
    assert Match.load(match.save(tmp_path / "m.json")) == match


def test_the_replacement_is_uniform_and_fixed_by_the_seed() -> None:
    matches = [play_match(KUHN, [Scripted(lambda legal_actions, _: 0), "random"], seed=seed) for seed in range(400)]
    bets = sum(match.steps[2].actions[0] == "bet" for match in matches)
    assert 150 < bets < 250
    assert played(play_match(KUHN, [Scripted(lambda legal_actions, _: 1), "random"], seed=7)) == played(matches[7])


def test_deadlines_are_moments_of_the_monotonic_clock() -> None:
    deadlines = []

    def answer(legal_actions, deadline):
        deadlines.append(deadline - time.monotonic())
        return legal_actions[0]

    play_match(KUHN, [Scripted(answer), "random"], seconds_per_move=60)
    assert all(30 < left <= 60 for left in deadlines)
    recorder = Recorder()
    play_match(KUHN, [recorder, "random"], seconds_to_begin=30)
    assert 0 < recorder.told[0][3] - time.monotonic() <= 30


def test_a_series_tells_the_first_fault_of_each_kind() -> None:
    agent = RandomAgent()
    agent.act = raising(NameError("lega"))
    series = play_series(KUHN, ["random", agent], games=4, rotate=True)
    assert series.agents[0].examples == {}
    (example,) = series.agents[1].examples.items()
    assert example[0] == "error"
    assert example[1].endswith(")") and "act: NameError: lega (test_match.py:" in example[1]
    assert f"first error of {series.agents[1].agent}: {example[1]}" in series_text(series).splitlines()


@pytest.mark.parametrize("call", ["begin", "observe", "end"])
def test_faults_outside_of_moves_do_not_end_the_game(call: str) -> None:
    agent = RandomAgent()
    agent.rng = np.random.default_rng(0)
    setattr(agent, call, raising(ZeroDivisionError("oops")))
    match = play_match(KUHN, [agent, "random"])
    assert {fault.kind for fault in match.faults} == {"error"}
    assert match.faults[0].detail.startswith(f"{call}: ZeroDivisionError: oops (test_match.py:")
    assert match.faults[0].step == {"begin": 0, "observe": 1, "end": len(match.steps)}[call]


def test_a_late_beginning_is_a_fault() -> None:
    agent = RandomAgent()
    agent.begin = lambda game, player, rng, deadline: setattr(agent, "rng", rng) or time.sleep(0.02)
    match = play_match(KUHN, [agent, "random"], seconds_to_begin=0.01)
    assert [(fault.step, fault.kind) for fault in match.faults] == [(0, "late")]


@pytest.mark.parametrize("error", [UnsupportedGameError("not this"), ParameterError("not so")])
def test_an_agent_may_refuse_to_begin(error: Exception) -> None:
    agent = RandomAgent()
    agent.begin = raising(error)
    with pytest.raises(type(error), match=str(error)):
        play_series(KUHN, [agent, "random"], games=3)


def ctrl_c(*_: object) -> None:
    """What the terminal does."""
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_is_the_users_and_an_interrupt_of_its_own_the_agents() -> None:
    """Both come out of the agent's call; only for one of them was there a signal."""
    with pytest.raises(KeyboardInterrupt):
        play_match(KUHN, [Scripted(ctrl_c), "random"])
    before = signal.getsignal(signal.SIGINT)
    for clock in (None, 20.0):
        match = play_match(KUHN, [Scripted(raising(KeyboardInterrupt("mine"))), "random"], seconds_per_move=clock)
        assert match.faults[0].kind == "error" and "act: KeyboardInterrupt: mine" in match.faults[0].detail
    assert signal.getsignal(signal.SIGINT) is before


def test_an_agent_that_is_not_made_in_time_fails_at_every_move(tmp_path: Path) -> None:
    """Its import or its constructor hangs; the other one plays, and the match is over."""
    agent = "\n".join(
        [
            "import time",
            "class Agent:",
            "    def __init__(self): time.sleep(600)",
            "    def begin(self, game, player, rng, deadline): ...",
            "    def observe(self, own_move, observation): ...",
            "    def act(self, legal, deadline): return legal[0]",
            "    def end(self, returns): ...",
        ]
    )
    (tmp_path / "made.py").write_text(agent)
    (tmp_path / "imported.py").write_text(f"import time\ntime.sleep(600)\n{agent}")
    for name in ("made", "imported"):
        whole = f"python:{tmp_path / name}.py:Agent"
        for one in (whole, f'isolated(agent="{whole}")'):
            match = play_match(KUHN, [one, "random"], seconds_to_begin=0.5)
            assert match.over and {fault.player for fault in match.faults} == {0}
            assert match.faults[0].detail == "begin: it was not made in 0.5 s"


def test_an_interrupt_while_an_agent_is_made_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text("raise KeyboardInterrupt\n")
    (tmp_path / "makes.py").write_text("def make(): raise KeyboardInterrupt\n")
    with pytest.raises(FormatError, match="KeyboardInterrupt"):
        play_match(KUHN, [f"python:{tmp_path / 'raises.py'}:make", "random"])
    with pytest.raises(ParameterError, match="cannot be made: KeyboardInterrupt"):
        play_match(KUHN, [f"python:{tmp_path / 'makes.py'}:make", "random"])


def test_an_agent_that_forks_plays_on_once(tmp_path: Path) -> None:
    """The copy that comes back from its call ends there, so that one match is told of, and not two."""
    (tmp_path / "fork.py").write_text(
        "import os\n"
        "class Agent:\n"
        "    def begin(self, game, player, rng, deadline): ...\n"
        "    def observe(self, own_move, observation): ...\n"
        "    def act(self, legal, deadline):\n"
        "        os.fork()\n"
        "        return legal[0]\n"
        "    def end(self, returns): ...\n"
    )
    for clock in ((), ("--seconds-per-move", "20")):
        told = subprocess.run(
            [sys.executable, "-m", "infoset", "match", "kuhn_poker", "python:fork.py:Agent", "random", *clock],
            check=False, cwd=tmp_path, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert told.returncode == 0 and told.stdout.count("kuhn_poker") == 1, told


# Replays


@pytest.mark.parametrize("name", [KUHN, LEDUC, GOOFSPIEL, PENNIES])
def test_a_replay_is_the_match(tmp_path: Path, name: str) -> None:
    agents = ["random"] * len(load(name).players)
    match = play_match(name, agents, seed=11, seconds_per_move=5)
    again = Match.load(match.save(tmp_path / "match.json"))
    assert again == match
    states = replay_states(again)
    assert len(states) == len(match.steps) + 1
    assert states[-1].returns() == match.returns
    assert [step.state for step in replay_steps(again)] == states


def test_moves_made_of_tuples_come_back_as_tuples(tmp_path: Path) -> None:
    step = MatchStep((("mark", 1, (2, "x")), None), ("roll", -3), (0.5, None))
    match = Match(
        game="g", players=("x", "o"), agents=("a", "b"), seed=1, seconds_per_move=None, returns=(1.5, 0.0), steps=(step,)
    )  # fmt: skip
    assert Match.load(match.save(tmp_path / "m.json")) == match


GOLDEN = """{"schema":3,"game":"kuhn_poker","players":["P1","P2"],"agents":["random","random"],"seed":3,
"seconds_per_move":null,"returns":[1.0,-1.0],"steps":[{"actions":[null,null],"chance_outcome":"Q","seconds":[null,null]},
{"actions":[null,null],"chance_outcome":"J","seconds":[null,null]},{"actions":["pass",null],"chance_outcome":null,"seconds":[7e-06,null]},
{"actions":[null,"pass"],"chance_outcome":null,"seconds":[null,3e-06]}],"faults":[{"step":3,"player":0,"kind":"late",
"detail":"took 2 s; allowed: 1 s"}],"a field of a later version":1}"""


def test_a_file_of_the_first_version_loads(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(GOLDEN)
    match = Match.load(tmp_path / "old.json")
    assert replay_states(match)[-1].returns() == (1.0, -1.0)
    assert match.faults[0].kind == "late"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda r: r["steps"][2].update(actions=["raise", None]),
            r"step 3: player 0 cannot play 'raise'; legal: \('pass', 'bet'\)",
        ),
        (lambda r: r["steps"][2].update(actions=["pass", "bet"]), "step 3: player 1 cannot play 'bet'"),
        (lambda r: r["steps"][1].update(chance_outcome="Q"), "step 2: chance cannot choose 'Q'"),
        (lambda r: r["steps"].pop(), "the game is not over after its 3 steps"),
        (lambda r: r["steps"].append(r["steps"][3]), "step 5: the game is over after step 4"),
        (lambda r: r.update(returns=[2.0, -2.0]), r"step 4: the game ends with \(1.0, -1.0\), not with \(2.0, -2.0\)"),
        (
            lambda r: r.update(players=["P1", "P3"]),
            r"the players are \('P1', 'P3'\), those of kuhn_poker \('P1', 'P2'\)",
        ),
        (
            lambda r: r["steps"][2].update(actions=[["pass", [1]], None]),
            r"step 3: player 0 cannot play \('pass', \(1,\)\)",
        ),
    ],
)
def test_a_replay_that_is_no_play_of_the_game(tmp_path: Path, change: Callable, words: str) -> None:
    body = json.loads(GOLDEN)
    change(body)
    (tmp_path / "m.json").write_text(json.dumps(body))
    with pytest.raises(FormatError, match=f"replay of kuhn_poker: {words}"):
        replay_states(Match.load(tmp_path / "m.json"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 4}, "replay schema 4; this version reads 3. A newer infoset may read it"),
        ({"schema": 1}, "replay schema 1; this version reads 3. Make the replay again with this version"),
        ({"schema": "1"}, "not a replay: Expected `int`"),
        ({"game": 3}, r"Expected `str`, got `int` - at `\$.game`"),
        ({"steps": [{"actions": [1.5, None], "chance_outcome": None, "seconds": [None, None]}]}, "1.5 is not a move"),
        ({"steps": [{"actions": [True, None], "chance_outcome": None, "seconds": [None, None]}]}, "True is not a move"),
        (
            {"steps": [{"actions": [[None], None], "chance_outcome": None, "seconds": [None, None]}]},
            "None is not a move",
        ),
        (
            {"steps": [{"actions": ["a"], "chance_outcome": None, "seconds": [None]}]},
            "step 1 has 1 moves and 1 times, not 2",
        ),
        ({"returns": [1.0]}, "2 players, 2 agents and 1 returns"),
        ({"players": [], "agents": [], "returns": []}, "0 players"),
        ({"faults": [{"step": 9, "player": 0, "kind": "late", "detail": ""}]}, "a fault of player 0 in step 9"),
        ({"faults": [{"step": 1, "player": 0, "kind": "rude", "detail": ""}]}, "Invalid enum value 'rude'"),
    ],
)
def test_files_that_are_no_replays(tmp_path: Path, change: dict, words: str) -> None:
    (tmp_path / "m.json").write_text(json.dumps(json.loads(GOLDEN) | change))
    with pytest.raises(FormatError, match=rf"m\.json: .*{words}"):
        Match.load(tmp_path / "m.json")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "hello", '{"schema": 3}', "[" * 100_000, '{"schema":3,"steps":' + "[" * 9999]
)
def test_broken_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(FormatError, match=r"m\.json: not a replay"):
        Match.load(tmp_path / "m.json")


def test_missing_and_huge_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        Match.load(tmp_path / "none.json")
    (tmp_path / "m.json").write_text(GOLDEN)
    monkeypatch.setattr("infoset.files.MAX_TEXT_BYTES", 100)
    with pytest.raises(FormatError, match="at most 100 are read"):
        Match.load(tmp_path / "m.json")


def test_a_game_from_a_file_is_found_again(tmp_path: Path) -> None:
    """An .efg game's own name is not a way to it; the name it was loaded by is."""
    (tmp_path / "pennies.efg").write_text(DRIVER)
    match = play_match(str(tmp_path / "pennies.efg"), RANDOM)
    assert replay_states(match)[-1].returns() == match.returns
    other = play_match(load(str(tmp_path / "pennies.efg")), RANDOM)
    with pytest.raises(UnknownNameError):
        replay_states(other)
    assert replay_states(other, load(str(tmp_path / "pennies.efg")))[-1].returns() == other.returns


# Series


def test_a_game_of_a_series_does_not_depend_on_its_length() -> None:
    short, long = [], []
    play_series(KUHN, RANDOM, games=3, seed=4, keep=short.append)
    play_series(KUHN, RANDOM, games=6, seed=4, keep=long.append)
    assert [played(match) for match in short] == [played(match) for match in long[:3]]
    assert played(play_match(KUHN, RANDOM, seed=long[5].seed)) == played(long[5])
    assert [match.seed for match in long] == [game_seed(4, number) for number in range(6)]
    assert all(0 <= match.seed < 2**53 for match in long)


def test_rotation_moves_every_agent_through_every_seat() -> None:
    recorders = [Recorder() for _ in range(3)]
    seats = []
    series = play_series(
        "kuhn_poker(players=3)", recorders, games=6, rotate=True,
        keep=lambda match: seats.append([agent.told[0][2] for agent in recorders]),
    )  # fmt: skip
    assert seats == [[0, 1, 2], [1, 2, 0], [2, 0, 1]] * 2
    assert [score.games for score in series.agents] == [6, 6, 6]
    assert all(None not in score.seat_means for score in series.agents)


def test_scores_are_counted_by_hand() -> None:
    """Rock against a cycle of all three, seen from both sides."""
    turns = iter(["Rock", "Paper", "Scissors", "Rock"])
    rock, cycle = Scripted(lambda legal_actions, _: "Rock"), Scripted(lambda legal_actions, _: next(turns))
    series = play_series("rock_paper_scissors", [rock, cycle], games=4)
    first, second = series.agents
    assert (first.wins, first.draws, first.losses) == (1, 2, 1)
    assert (second.wins, second.draws, second.losses) == (1, 2, 1)
    assert first.mean == 0.0
    assert first.interval == pytest.approx(3.182446 * (2 / 3) ** 0.5 / 2)
    assert first.seat_means == (0.0, None)
    assert (series.games, series.actions, series.stopped) == (4, 8, "games")
    assert series.moves_per_second > 0


def test_moments_agree_with_numpy() -> None:
    scores = []
    series = play_series(LEDUC, RANDOM, games=300, rotate=True, keep=lambda match: scores.append(match.returns))
    own = np.array([returns[number % 2] for number, returns in enumerate(scores)])
    score = series.agents[0]
    assert score.mean == pytest.approx(own.mean())
    assert score.interval == pytest.approx(1.967930 * own.std(ddof=1) / 300**0.5)
    assert score.seat_means == pytest.approx((own[::2].mean(), own[1::2].mean()))
    assert score.wins + score.draws + score.losses == 300


def test_equal_scores_have_no_spread_and_one_game_no_interval() -> None:
    class Thirds(Endless):
        def play_unchecked(self, actions, chance_outcome=None):
            return Observed(Ended((1 / 3,)), (None,))

    series = play_series(OnePlayer(Thirds()), ["random"], games=1000)
    score = series.agents[0]
    assert (score.mean, score.interval) == (pytest.approx(1 / 3), pytest.approx(0, abs=1e-15))
    assert (score.wins, score.draws, score.losses) == (0, 0, 0)  # nobody to win against
    assert play_series(KUHN, RANDOM, games=1).agents[0].interval is None


def test_faults_are_counted_for_the_agent_wherever_it_sits() -> None:
    series = play_series(KUHN, [Scripted(lambda legal_actions, _: 0), "random"], games=10, rotate=True)
    assert series.agents[0].faults["illegal"] >= 10
    assert series.agents[1].faults == {"illegal": 0, "late": 0, "error": 0}


def test_ctrl_c_leaves_the_games_that_are_over() -> None:
    answers = iter(range(25))

    def answer(legal_actions, _):
        if next(answers, None) is None:
            ctrl_c()
        return legal_actions[0]

    kept: list[Match] = []
    series = play_series(KUHN, [Scripted(answer), "random"], games=1000, keep=kept.append)
    assert series.stopped == "interrupted"
    assert series.games == len(kept) == series.agents[0].games > 10
    at_once = play_series(KUHN, [Scripted(ctrl_c), "random"], games=5)
    assert (at_once.games, at_once.agents[0].mean, at_once.agents[0].interval) == (0, None, None)


def test_progress_shows_the_series_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infoset.match.series.PROGRESS_SECONDS", 0.0)
    seen = []
    play_series(KUHN, RANDOM, games=5, progress=seen.append)
    assert [(series.games, series.stopped) for series in seen] == [(k, "running") for k in range(1, 6)]


# Policies that play


def policy_agents(*policies: TabularPolicy) -> list[PolicyAgent]:
    return [PolicyAgent(policy) for policy in policies]


@pytest.mark.parametrize("name", [KUHN, LEDUC, "goofspiel(num_cards=3,imp_info=True)", "kuhn_poker(players=3)"])
def test_random_policies_score_what_they_are_worth(name: str) -> None:
    """Within 4 standard errors of the exact value, and no information set is missed."""
    form = form_of(name)
    policy = TabularPolicy.from_behaviour(form, random_interior(form, 1))
    exact = solve_values(form, policy)
    agents = policy_agents(*[policy] * form.num_players)
    series = play_series(load(name), agents, games=2000, seed=3)
    for score, value in zip(series.agents, exact, strict=True):
        assert score.mean == pytest.approx(value, abs=2 * score.interval + 1e-9)
    assert [agent.unknown for agent in agents] == [0] * form.num_players


def solve_values(form, policy: TabularPolicy) -> tuple[float, ...]:
    from infoset import expected_values

    return tuple(expected_values(form, policy.plan(form)).tolist())


def test_an_equilibrium_of_kuhn_poker_gets_its_value() -> None:
    """-1/18 for the first player, whoever sits opposite in equilibrium (Kuhn 1950)."""
    policy = solve(load(KUHN), "lp").policy
    series = play_series(KUHN, policy_agents(policy, policy), games=4000, seed=6)
    score = series.agents[0]
    assert abs(score.mean + 1 / 18) < 2 * score.interval
    assert score.interval < 0.06


def test_policies_of_files_and_their_labels(tmp_path: Path) -> None:
    """An .efg policy has the file's labels as keys; players observe them."""
    (tmp_path / "pennies.efg").write_text(DRIVER)
    game = load(str(tmp_path / "pennies.efg"))
    always = {"heads": 1.0, "tails": 0.0}
    policy = TabularPolicy("", game.players, ({"first": always}, {"second": always}), map_name="pennies")
    path = policy.save(tmp_path / "p.json")
    agents = [load_agent(f"policy(path='{path}')") for _ in range(2)]
    assert play_series(game, agents, games=20).agents[0].mean == 1.0
    with pytest.raises(UnsupportedGameError, match="information"):
        play_match(KUHN, [load_agent(f"policy(path='{path}')"), "random"])


def test_moves_that_are_never_played() -> None:
    """Zero entries, and rows that leave moves out."""
    tables = ({"start": {"Rock": 0.0, "Paper": 1.0, "Scissors": 0.0}}, {"start": {"Paper": 1.0}})
    policy = TabularPolicy("", ("P1", "P2"), tables)
    assert play_series("rock_paper_scissors", policy_agents(policy, policy), games=200).agents[0].draws == 200


def test_an_information_set_the_policy_does_not_know_is_counted() -> None:
    rows: dict[str, dict[str, float]] = {"K": {"raise": 1.0}, "J": {"bet": 1.0}}
    agent = PolicyAgent(TabularPolicy(KUHN, ("P1", "P2"), (rows, {})))
    matches: list[Match] = []
    play_series(KUHN, [agent, "random"], games=300, keep=matches.append)
    assert agent.unknown > 100
    assert all(match.steps[2].actions[0] == "bet" for match in matches if match.steps[0].chance_outcome == "J")
    assert {match.steps[2].actions[0] for match in matches if match.steps[0].chance_outcome == "K"} == {"pass", "bet"}
    assert not any(match.faults for match in matches)


def test_a_policy_for_other_players_is_refused() -> None:
    agents = policy_agents(TabularPolicy.uniform(form_of(KUHN)))
    with pytest.raises(UnsupportedGameError, match=r"policy is for 2 players, kuhn_poker\(players=3\) has 3"):
        play_match("kuhn_poker(players=3)", [*agents, "random", "random"])


def test_names_of_agents() -> None:
    plain = set(AGENTS) - {
        "ad-hoc",
        "chat",
        "docker",
        "filtered",
        "ggp",
        "http",
        "human",
        "isolated",
        "kaggle",
        "mixed",
        "onnx",
        "playground",
        "policy",
        "sb3",
        "scripted",
        "torch",
        "trained",
    }  # which need more
    assert {load_agent(name).name for name in plain} == plain
    with pytest.raises(ParameterError, match=r"policy: path is missing"):
        load_agent("policy")
    with pytest.raises(UnknownNameError, match="unknown agent 'me'"):
        load_agent("me")


def test_a_mixture_of_agents_is_drawn_anew_for_every_game() -> None:
    """By its weights, the same again from the same seed; two sides that mix draw each for themselves."""
    name = "mixed(agents=[scripted(actions=[pass,pass]),scripted(actions=[bet,bet])],weights=[1,3])"
    matches = [play_match(KUHN, [name, name], seed=seed) for seed in range(200)]
    first = [match.steps[2].actions[0] for match in matches]  # Jack and King are dealt before
    assert 0.65 < first.count("bet") / 200 < 0.85
    second = [match.steps[3].actions[1] for match in matches]
    assert {*zip(first, second, strict=True)} == {("bet", "bet"), ("bet", "pass"), ("pass", "bet"), ("pass", "pass")}
    assert [play_match(KUHN, [name, name], seed=seed).returns for seed in range(5)] == [m.returns for m in matches[:5]]
    assert load_agent("mixed(agents=[random,search])").name == "mixed(random,search)"


def test_a_team_that_mixes_is_of_one_kind() -> None:
    """Both seats of it draw the same agent, as its opponents need not."""
    team = "mixed(agents=[stop,scripted(actions=[1])])"
    kinds = set()
    for seed in range(8):
        match = play_match("pommerman:PommeTeamCompetition-v0(max_steps=2)", [team] * 4, seed=seed)
        actions = match.steps[1].actions
        assert actions[0] == actions[2] and actions[1] == actions[3]
        kinds.add(actions[:2])
    assert len(kinds) == 4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mixed", "mixed: agents are missing; name them: mixed(agents=[random,simple])"),
        ("mixed(agents=random)", "mixed: agents=random is not a list"),
        ("mixed(agents=[random],weights=2)", "mixed: weights=2 is not a list"),
        ("mixed(agents=[random],weights=[-1])", "mixed: weight -1 is not a number from 0 on"),
        ("mixed(agents=[random,stop],weights=[1])", "mixed: 1 weights for 2 agents, not all of them 0, are allowed"),
        ("mixed(agents=[random],weights=[0])", "mixed: 1 weights for 1 agents, not all of them 0, are allowed"),
    ],
)
def test_mixtures_that_are_none(name: str, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        load_agent(name)
    assert message in str(caught.value)


def test_an_unknown_agent_in_a_mixture_is_named() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'random'"):
        load_agent("mixed(agents=[randon])")


class Boasting(RandomAgent):
    """Says whatever it is told to say."""

    name = "boasting"

    def __init__(self, says: Callable[[], str]) -> None:
        self.says = says

    def account(self) -> str:
        return self.says()


def test_agents_say_how_they_played() -> None:
    """By which plan, with which beliefs, how often at random; what an agent of a user's says can break nothing."""
    policy = PolicyAgent(TabularPolicy(KUHN, ("P1", "P2"), ({}, {})))
    knowing, searching = play_series(KUHN, [policy, "search"], games=10).agents
    assert knowing.account == f"moved at random at {policy.unknown} information sets that its policy lacks"
    assert searching.account.startswith("tree: all 58 histories fit; ")
    beliefs = play_series("gdl:monty_hall", ["is-mcts(nodes=50)"], games=3).agents[0].account
    assert re.fullmatch(r"beliefs at \d+ moves: \d+ histories in the mean, effective .*; lost at 0", beliefs)
    many = play_series(KUHN, [Boasting(lambda: "line\n" * 500), Boasting(lambda: 1 / 0)], games=1).agents
    assert len(many[0].account) <= 500 and "\n" not in many[0].account
    assert many[1].account == "(no text)"


# The command line


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return run_infoset("match", *arguments, cwd=cwd)


def test_the_table(tmp_path: Path) -> None:
    done = run(KUHN, *RANDOM, "--games", "200", "--seed", "1", "--replay", str(tmp_path / "games"))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "kuhn_poker: 200 games, seed 1"
    assert lines[1].split() == ["agent", "games", "wins", "draws", "losses", "mean", "score", "faults"]
    assert lines[2].startswith("P1 random") and "±" in lines[2]
    assert "moves" in lines[4] and "a second" in lines[4]
    files = sorted((tmp_path / "games").iterdir())
    assert [files[0].name, files[-1].name, len(files)] == ["match-00001.json", "match-00200.json", 200]
    assert Match.load(files[0]).seed == game_seed(1, 0)
    again = run(KUHN, *RANDOM, "--games", "2", "--replay", str(tmp_path / "games"))
    assert again.returncode == 1
    assert "already contains replays" in again.stderr


def test_the_table_of_rotated_seats() -> None:
    lines = run("kuhn_poker(players=3)", *["random"] * 3, "--games", "9", "--rotate").stdout.splitlines()
    assert lines[1].split()[-6:] == ["as", "P1", "as", "P2", "as", "P3"]


def test_json_is_one_object(tmp_path: Path) -> None:
    policy = TabularPolicy.uniform(form_of(KUHN)).save(tmp_path / "p.npz")
    done = run(KUHN, "random", f"policy(path='{policy}')", "--games", "20", "--seconds-per-move", "5", "--json")
    body = json.loads(done.stdout)
    assert set(body) == {
        "game", "players", "seed", "rotate", "seconds_per_move", "games", "agents", "actions", "seconds",
        "moves_per_second", "stopped",
    }  # fmt: skip
    assert set(body["agents"][0]) == {
        "agent", "games", "wins", "draws", "losses", "mean", "interval", "faults", "examples", "seat_means",
        "account",
    }  # fmt: skip
    assert body["seconds_per_move"] == 5
    other = TabularPolicy.uniform(form_of(LEDUC)).save(tmp_path / "other.npz")
    refused = run(KUHN, "random", str(other), "--games", "20")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "the policy was made for leduc_poker, this is kuhn_poker" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([KUHN, "random"], "kuhn_poker has 2 players (P1, P2), not 1"),
        ([KUHN, "random", "rendom"], "did you mean 'random'"),
        ([KUHN, "random", "policy(path=none.npz)"], "none.npz: no such file"),
        ([KUHN, "random", "meier"], "agent meier is not made for kuhn_poker"),
        (["kuhn", *RANDOM], "unknown game 'kuhn'"),
        ([KUHN, *RANDOM, "--games", "0"], "games=0 is out of range"),
        ([KUHN, *RANDOM, "--seconds-per-move", "0"], "seconds_per_move=0.0 is out of range"),
    ],
)
def test_errors_are_one_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert words in done.stderr


def test_the_help_names_every_agent() -> None:
    assert "infoset agents" in " ".join(run("--help").stdout.split())


def test_ctrl_c_prints_the_result_so_far(tmp_path: Path) -> None:
    arguments = [KUHN, *RANDOM, "--games", "100000000", "--json", "--replay", str(tmp_path)]
    command = [sys.executable, "-m", "infoset", "match", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "match-00003.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    body = json.loads(out)
    assert body["stopped"] == "interrupted"
    assert body["games"] >= 2


def test_moves_survive_the_wire() -> None:
    """A move is JSON as it stands; only the arrays must become tuples again."""
    assert msgspec.json.encode(("mark", 1, (2,))) == b'["mark",1,[2]]'


def test_a_file_name_that_cannot_be_is_one_line() -> None:
    with pytest.raises(FormatError, match="no file can have this name"):
        load("a\0.efg")
