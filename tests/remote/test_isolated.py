"""Agents in processes of their own: the same games, and what one does there is its own affair."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from infoset import play_match, play_series
from infoset.errors import ParameterError, RemoteError, UnknownNameError, UnsupportedGameError
from infoset.match.agents import load_agent
from infoset.remote.isolated import environment

AGENTS = '''
import os, signal, subprocess, sys, time

class Agent:
    def begin(self, game, player, rng, deadline):
        self.rng = rng
    def observe(self, own_action, observation): ...
    def end(self, returns): ...
    def act(self, legal_actions, deadline):
        return legal_actions[int(self.rng.integers(len(legal_actions)))]

class Dies(Agent):
    def act(self, legal_actions, deadline):
        print("good bye", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

class Leaves(Agent):
    def act(self, legal_actions, deadline):
        os._exit(3)

class Hungry(Agent):
    def act(self, legal_actions, deadline):
        return bytearray(10 << 30)

class Endless(Agent):
    def act(self, legal_actions, deadline):
        while True:
            print("x" * 100_000)

class Garbage(Agent):
    def act(self, legal_actions, deadline):
        return {"a": object()}

class Deaf(Agent):
    def act(self, legal_actions, deadline):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            pass

class Writes(Agent):
    """Whatever it finds open, but for what it printed."""
    def act(self, legal_actions, deadline):
        for file in range(3, 100):
            try:
                os.write(file, b"nonsense\\n")
            except OSError:
                pass
        time.sleep(5)

class Stutters(Agent):
    """Half a message, and no end of it."""
    def act(self, legal_actions, deadline):
        for file in range(3, 100):
            try:
                os.write(file, b'{"number": ')
            except OSError:
                pass
        time.sleep(5)

class Leaving(Agent):
    """Starts a program that would outlive it."""
    def act(self, legal_actions, deadline):
        self.child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open("child", "w").write(str(self.child.pid))
        os._exit(1)

class Bomb(Agent):
    """Seven times all of them double: 128 processes, some in groups of their own; none lasts longer than the tests."""
    def act(self, legal_actions, deadline):
        for number in range(7):
            if os.fork() == 0 and number % 3 == 0:
                os.setpgrp()
        time.sleep(60)
        os._exit(0)

class Curious(Agent):
    def act(self, legal_actions, deadline):
        assert "SECRET" not in os.environ
        return legal_actions[0]
'''


def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def own(tmp_path: Path, monkeypatch):
    (tmp_path / "own.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    return lambda name, **limits: (
        f'isolated(agent="python:{tmp_path / "own.py"}:{name}"'
        + "".join(f",{key}={value}" for key, value in limits.items())
        + ")"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("coins.nfg", 'NFG 1 R "" { "A" "B" } { 2 2 } 1 -1  -1 1  -1 1  1 -1'),
        ("coins.csv", "1,-1\n-1,1\n"),
        ("one.efg", 'EFG 2 R "" { "A" "B" }\np "" 1 1 "" { "l" "r" } 0\nt "" 1 "" { 1 -1 }\nt "" 2 "" { 0 0 }\n'),
    ],
)
def test_games_of_files_are_found_there(name: str, text: str, tmp_path: Path) -> None:
    """They go by the stems of their files, which say nothing of where these are."""
    (tmp_path / name).write_text(text)
    match = play_match(str(tmp_path / name), ["isolated(agent=random)", "random"], seed=1)
    assert not match.faults


def test_the_same_games(own) -> None:
    for game in ("leduc_poker", "gdl:monty_hall", "goofspiel(num_cards=4)"):
        here, apart = (
            play_match(game, [agent] * 2 if game != "gdl:monty_hall" else [agent], seed=3)
            for agent in ("random", "isolated(agent=random)")
        )
        assert [step.actions for step in here.steps] == [step.actions for step in apart.steps]


@pytest.mark.parametrize("agent", ["simple", "dypm"])
def test_pommermans_agents_play_there_as_here(agent) -> None:
    game = "pommerman:PommeTeamCompetition-v1(max_steps=60)"
    here, apart = (
        play_match(game, [name, "stop", "stop", "stop"], seed=3) for name in (agent, f"isolated(agent={agent})")
    )
    assert not apart.faults
    assert [step.actions for step in here.steps] == [step.actions for step in apart.steps]


FAULTS = {
    "Dies": ("error", "its process ended with signal 9: good bye"),
    "Leaves": ("error", "its process ended with status 3"),
    "Hungry": ("error", "MemoryError"),
    "Endless": ("error", "File too large"),
    "Garbage": ("illegal", "dict: Encoding objects"),
    "Deaf": ("late", "took"),
    "Writes": ("error", "its process answered nonsense"),
    "Stutters": ("late", "took"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_happens_there_costs_its_move_alone(own, name) -> None:
    kind, text = FAULTS[name]
    clock = 0.5 if kind == "late" else 20.0  # a busy machine must not make it late
    series = play_series("kuhn_poker", [own(name, memory=4096), "random"], games=2, seed=1, seconds_per_move=clock)
    found = series.agents[0].faults
    assert series.games == 2
    assert found[kind] >= 2 and sum(found.values()) == found[kind]  # another process plays the second game
    match = play_match("kuhn_poker", [own(name, memory=4096), "random"], seed=1, seconds_per_move=clock)
    assert text in match.faults[0].detail, match.faults


def test_what_it_started_ends_with_it(own, tmp_path: Path) -> None:
    play_match("kuhn_poker", [own("Leaving"), "random"], seed=1)
    child = int((tmp_path / "child").read_text())
    with pytest.raises(ProcessLookupError):
        for _ in range(100):
            os.kill(child, 0)
            state = Path(f"/proc/{child}/stat")
            if state.exists() and state.read_text().split()[2] == "Z":  # dead, and nobody asks how
                raise ProcessLookupError
            os.sched_yield()
            os.kill(child, signal.SIGCONT)


def alive(word: str) -> list[str]:
    """The processes whose command names something."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it is gone
            if word in (process / "cmdline").read_text():  # which one that has ended does not have
                found.append(process.name)
    return found


needs_processes = pytest.mark.skipif(not Path("/proc/self").exists(), reason="this system does not list processes")


@needs_processes
def test_a_fork_bomb_costs_its_move_alone(own, tmp_path: Path) -> None:
    """Also where an administrator runs it, whose processes Linux does not limit; another plays the second game."""
    series = play_series("kuhn_poker", [own("Bomb"), "random"], games=2, seed=1, seconds_per_move=20.0)
    assert series.games == 2
    assert series.agents[0].faults["error"] >= 2
    match = play_match("kuhn_poker", [own("Bomb", processes=12), "random"], seed=1, seconds_per_move=20.0)
    assert match.faults[0].detail == "act: it was more than 12 processes"
    until(lambda: not alive(str(tmp_path)))


@needs_processes
def test_what_was_not_limited_ends_with_the_game(own, tmp_path: Path) -> None:
    match = play_match("kuhn_poker", [own("Bomb", processes=0), "random"], seed=1, seconds_per_move=1.0)
    assert match.faults[0].kind == "late"
    until(lambda: not alive(str(tmp_path)))


@needs_processes
@pytest.mark.parametrize("agent", ["Bomb", "Leaving"])
def test_what_an_agent_started_ends_with_the_process_that_asked_it(own, tmp_path: Path, agent: str) -> None:
    code = f"from infoset import play_match\nplay_match('kuhn_poker', ['random', {own(agent, processes=0)!r}], seed=1)"
    process = subprocess.Popen([sys.executable, "-c", code])
    until(lambda: len(alive(str(tmp_path))) > 20 if agent == "Bomb" else (tmp_path / "child").exists())
    process.kill()
    process.wait()
    until(lambda: not alive(str(tmp_path)))


def test_it_inherits_no_secrets(own, monkeypatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    assert "SECRET" not in environment()
    assert not play_match("kuhn_poker", [own("Curious"), "random"], seed=1).faults


def test_names_that_are_wrong_are_refused_here() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'random'"):
        load_agent("isolated(agent=randon)")
    with pytest.raises(ParameterError, match="agent is missing"):
        load_agent("isolated")
    with pytest.raises(ParameterError, match="memory"):
        load_agent("isolated(agent=random,memory=-1)")
    with pytest.raises(UnsupportedGameError, match="agent meier is not made for"):
        play_match("kuhn_poker", ["isolated(agent=meier)", "random"])


def test_an_agent_that_cannot_be_made_there_is_refused_before_a_game(own, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise ValueError('not today')\n")
    with pytest.raises(RemoteError, match=r"isolated: python:.*broken\.py: ValueError: not today"):
        load_agent(f'isolated(agent="python:{tmp_path / "broken.py"}:Agent")')
