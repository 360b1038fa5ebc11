"""Work that is shared out comes to the same wherever it is done, and whatever happens there."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

import numpy as np
import pytest

import infoset
from infoset.arena.standings import Standings
from infoset.arena.tournament import tournament
from infoset.errors import MissingExtraError, ParameterError, UnknownNameError, UnsupportedSystemError
from infoset.executors import RayExecutor, check_executor, executor, local, send, width
from infoset.names import check_range

PASSES, BETS = "scripted(actions=[pass,pass])", "scripted(actions=[bet,bet])"
TEAMS = ["random", PASSES, BETS]


@pytest.fixture(scope="module", params=["processes", pytest.param("ray", marks=pytest.mark.slow)])
def elsewhere(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """Two processes of this machine, or Ray on it."""
    if request.param == "processes":
        with local(2) as opened:
            yield opened
        return
    pytest.importorskip("ray")
    with executor("ray", 2) as opened:
        yield opened


def plain(standings: Standings) -> tuple:
    """What a tournament comes to, without times."""
    return standings.games, standings.table, standings.ratings, standings.faults, standings.ranking


def test_tasks_and_what_goes_wrong_in_them(elsewhere: Executor) -> None:
    assert width(elsewhere) == 2
    table = send(elsewhere, np.eye(3))
    assert [task.result() for task in [elsewhere.submit(np.sum, table) for _ in range(3)]] == [3.0] * 3
    with pytest.raises(ParameterError, match="seven=8 is out of range"):
        elsewhere.submit(check_range, "seven", 8, 7, 7).result()


def test_a_tournament(elsewhere: Executor) -> None:
    here = tournament("kuhn_poker", TEAMS, games=6, workers=1)
    assert plain(tournament("kuhn_poker", TEAMS, games=6, executor=elsewhere)) == plain(here)


def test_a_competition_in_which_games_follow_from_games(elsewhere: Executor, tmp_path: Path) -> None:
    """Begun on one executor, gone on with on another."""
    how = {"format": "double-elimination", "seed": 3}
    here = tournament("kuhn_poker", TEAMS, workers=1, **how)

    def stop(now: Standings) -> None:
        if now.games == 3:
            raise KeyboardInterrupt

    cut = tournament("kuhn_poker", TEAMS, db=tmp_path / "t.db", executor=elsewhere, progress=stop, **how)
    assert cut.games <= here.games
    whole = tournament("kuhn_poker", TEAMS, db=tmp_path / "t.db", workers=1, **how)
    assert (plain(whole), whole.meetings) == (plain(here), here.meetings)


@pytest.mark.parametrize(
    "method", ["annealing", "progressive-hiding", "progressive-hiding(penalty=[1,2])", "information-relaxation"]
)
def test_many_runs(method: str, elsewhere: Executor) -> None:
    """The setting of the later runs of progressive hiding follows from the earlier ones, in several rounds."""
    how = {"runs": 3, "iterations": 20, "seed": 3}
    here = infoset.solve("tiny_hanabi(game=F)", method, **how)
    there = infoset.solve("tiny_hanabi(game=F)", method, executor=elsewhere, **how)
    assert (there.runs, there.values, there.iterations) == (here.runs, here.values, here.iterations)
    assert there.policy == here.policy


def test_runs_that_were_cut_go_on_elsewhere(elsewhere: Executor, tmp_path: Path) -> None:
    how = {"runs": 4, "iterations": 50, "seed": 1}
    whole = infoset.solve("tiny_hanabi(game=F)", "annealing", **how)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    cut = infoset.solve(
        "tiny_hanabi(game=F)", "annealing", **how, out=tmp_path / "run", watcher=infoset.Watcher(advance=stop)
    )
    assert cut.stopped == "interrupted"
    on = infoset.solve(out=tmp_path / "run", resume=True, iterations=50, executor=elsewhere)
    assert (on.runs, on.policy) == (whole.runs, whole.policy)


def test_exact_evaluation_in_parts(elsewhere: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infoset.sizes.SAMPLES_EVALUATED", 0)  # as if the game were large
    policy = infoset.solve("kuhn_poker", "mccfr", iterations=500, seed=1).policy
    here = infoset.evaluate("kuhn_poker", policy, respond=True)
    there = infoset.evaluate("kuhn_poker", policy, respond=True, executor=elsewhere)
    assert (there.values, there.best_response_values) == (here.values, here.best_response_values)
    assert infoset.evaluate("kuhn_poker", there.best_response).values == pytest.approx(
        infoset.evaluate("kuhn_poker", here.best_response).values
    )


@pytest.mark.slow
def test_self_play(elsewhere: Executor, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    how = {"epochs": 2, "games": 4, "hidden": 4, "worlds": 3, "seed": 5}
    here = infoset.train("leduc_poker", out=tmp_path / "here", **how)
    there = infoset.train("leduc_poker", out=tmp_path / "there", executor=elsewhere, workers=2, **how)
    assert (here.last.value_loss, here.last.start_values) == (there.last.value_loss, there.last.start_values)


@pytest.mark.slow
def test_a_lost_process_of_ray_costs_time_alone() -> None:
    """kill -9 of all that play, whenever one plays, until four are gone."""
    pytest.importorskip("ray")
    slow = [f"python:{Path(__file__).with_name('slow_agent.py')}:Slow", "random"]
    how = {"games": 12, "isolate": True, "slow": 60.0}
    here = tournament("kuhn_poker", slow, workers=2, **how)
    killed: set[int] = set()
    over = threading.Event()

    def kill() -> None:
        while not over.is_set() and len(killed) < 4:
            for process in playing_on_ray() - killed:
                os.kill(process, signal.SIGKILL)
                killed.add(process)
            time.sleep(0.2)

    with executor("ray", 2) as opened:
        threading.Thread(target=kill).start()
        try:
            there = tournament("kuhn_poker", slow, executor=opened, **how)
        finally:
            over.set()
    assert len(killed) >= 4
    assert plain(there) == plain(here)


def playing_on_ray() -> set[int]:
    """Processes of Ray that are at a task of ours."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if name.startswith(b"ray::_call"):
            found.add(int(process.name))
    return found


@pytest.mark.parametrize(
    ("where", "error", "words"),
    [
        ("rayy", UnknownNameError, "did you mean 'ray'"),
        ("local:4", ParameterError, "allowed: local, ray, ray:auto, ray:HOST:PORT"),
        ("ray:", ParameterError, "allowed: local, ray"),
    ],
)
def test_names_that_are_none(where: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        check_executor(where)


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingExtraError, match="infoset\\[cluster\\]"):
        infoset.evaluate("kuhn_poker", "random", executor="ray")


@pytest.mark.slow
def test_no_cluster_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")

    def missing(**_: object) -> None:
        raise ConnectionError("Could not find any running Ray instance.\nMore of it.")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", missing)
    with pytest.raises(UnsupportedSystemError, match=r"executor=ray:auto: Could not find any running Ray instance\.$"):
        RayExecutor("auto")


def test_what_cannot_be_shared_out(elsewhere: Executor) -> None:
    with pytest.raises(ParameterError, match="mccfr does not make one run after the other"):
        infoset.solve("kuhn_poker", "mccfr", iterations=5, executor=elsewhere)
    with pytest.raises(ParameterError, match="only the evaluation of a sampled policy"):
        infoset.evaluate("kuhn_poker", "random", executor=elsewhere)
    own = infoset.load_agent("random")
    with pytest.raises(ParameterError, match="has no name elsewhere"):
        tournament("kuhn_poker", [lambda: own, "random"], games=2, executor=elsewhere)
    with pytest.raises(ParameterError, match="isolate them"):
        tournament("kuhn_poker", [f"python:{__file__}:Nobody", "random"], games=2, executor=elsewhere)
