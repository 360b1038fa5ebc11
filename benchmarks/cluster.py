"""What a cluster has to carry: ``python benchmarks/cluster.py`` (extra ``cluster``).

Bytes that a game sends each way, what a game costs the process that holds the tournament, how many tasks Ray passes
on, and what a game costs a core: on this machine, from which ``docs/clusters.md`` extrapolates.
"""

from __future__ import annotations

import time
from concurrent.futures import Executor, Future
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from infoset.arena.schedule import Schedule
from infoset.arena.tournament import SLOW, tournament
from infoset.arena.worker import Setup, Task, play_in_worker
from infoset.executors import executor

GAMES = {
    "kuhn_poker": ("random", "scripted(actions=[bet,bet])"),
    "pommerman:PommeTeamCompetition-v0": ("simple", "dypm"),
}
NOTHING = 2000


class Echo(Executor):
    """Answers every game with one that was played before: what is left is the tournament's own work."""

    _max_workers = 8

    def __init__(self, answer: bytes) -> None:
        (self.answer,) = msgspec.json.decode(answer)

    def submit(self, call: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        answers = [{**self.answer, "number": task["number"]} for task in msgspec.json.decode(args[1])]
        found: Future[Any] = Future()
        found.set_result(msgspec.json.encode(answers))
        return found


def measure(game: str, teams: tuple[str, ...]) -> tuple[int, int, float, float]:
    """Bytes there and back, seconds of a core for a game, seconds of the tournament's process for one."""
    schedule = Schedule.of(game, teams, 0, False)
    setup = msgspec.json.encode(Setup(game, schedule.copies(), SLOW))
    fixtures = [schedule.fixture(number) for number in range(1, 9)]
    tasks = [msgspec.json.encode([Task(f.number, f.seed, schedule.agents(f))]) for f in fixtures]
    play_in_worker(setup, tasks[0])
    begin = time.perf_counter()
    answers = [play_in_worker(setup, task) for task in tasks]
    of_core = (time.perf_counter() - begin) / len(tasks)
    longest = max(answers, key=len)
    with TemporaryDirectory() as folder:
        begin = time.perf_counter()
        tournament(game, teams, games=NOTHING, executor=Echo(longest), db=Path(folder) / "t.db")
        of_table = (time.perf_counter() - begin) / NOTHING
    return len(setup) + len(tasks[0]), len(longest), of_core, of_table


def passed_on() -> float:
    """Tasks that do nothing, a second."""
    with executor("ray", 2) as opened:
        opened.submit(len, ()).result()
        begin = time.perf_counter()
        for task in [opened.submit(len, ()) for _ in range(NOTHING)]:
            task.result()
        return NOTHING / (time.perf_counter() - begin)


def main() -> None:
    print("| game | bytes there | bytes back | a core's ms a game | the tournament's ms a game |")
    print("|---|---|---|---|---|")
    for game, teams in GAMES.items():
        there, back, of_core, of_table = measure(game, teams)
        print(f"| {game} | {there:,} | {back:,} | {1e3 * of_core:.3g} | {1e3 * of_table:.3g} |", flush=True)
    print(f"\ntasks that Ray passes on: {passed_on():,.0f} a second")


if __name__ == "__main__":
    main()
