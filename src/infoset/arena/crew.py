"""Manage the tournament's workers: start them, assign games, watch them, and replace those an agent hangs or ends."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for
from contextlib import suppress
from itertools import islice
from math import inf
from multiprocessing.connection import Connection, wait
from tempfile import TemporaryFile
from time import monotonic
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeAlias

import msgspec

from infoset.arena.worker import (
    CLOSED,
    NOBODY,
    STOP,
    CallClock,
    GameRefused,
    Message,
    NoClock,
    PlayedGame,
    Player,
    Ready,
    Setup,
    Task,
    play_in_worker,
)
from infoset.base import Game
from infoset.errors import UnsupportedGameError, shorten
from infoset.executors import Where, executor, width
from infoset.match.agents import SECONDS_TO_MAKE
from infoset.processes import end_group, ending, may_be_killed, own_group

Tasks: TypeAlias = Callable[[], Task | None]
"""Returns the next game to play, or ``None`` where none is due now."""

TICK = 0.05  # seconds between two checks of the clocks
SECONDS_TO_SET_UP = 600.0  # setting up may compile kernels
SECONDS_TO_STOP = 2.0
ATTEMPTS = 3
BATCH_SECONDS, MOST_OF_A_BATCH = 0.5, 256


class Forfeit(NamedTuple):
    """A game forfeited because the agent in ``seat`` hung or ended its worker: ``kind`` is ``hung`` or ``died``."""

    number: int
    seat: int
    kind: str
    detail: str


class Worker:
    """The tournament's handle of one worker process."""

    def __init__(self, setup: Setup) -> None:
        self.making, self.seconds_to_make = tuple(setup.agents), setup.start_clock or SECONDS_TO_MAKE
        ours, other_end = socket.socketpair()
        with TemporaryFile() as shared, other_end:
            shared.truncate(CallClock.SIZE)
            self.clock = CallClock(shared.fileno())
            files = (other_end.fileno(), shared.fileno())
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "infoset.arena.worker", *map(str, files)],
                pass_fds=files,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # agents' output must not mix with results; their stderr is shown
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                **own_group(),  # Ctrl-C must reach the tournament only
            )
        self.link = Connection(ours.detach())
        self.ready = False
        self.task: Task | None = None
        self.started = monotonic()
        self._send(msgspec.json.encode(setup))

    def give(self, task: Task) -> None:
        self.task = task
        self._send(msgspec.json.encode(task))

    def _send(self, body: bytes) -> None:
        with suppress(OSError):  # a lost worker is noticed by ``receive``
            self.link.send_bytes(body)

    def receive(self) -> Message | None:
        """Return the worker's next message, if there is one.  Raises ``EOFError`` where the process has ended."""
        try:
            if self.link.poll():
                message: Message = msgspec.json.decode(self.link.recv_bytes(), type=Message)
                return message
        except OSError as error:
            raise EOFError from error
        if self.process.poll() is not None:
            raise EOFError
        return None

    def hangs(self, move_limit: float) -> bool:
        seat, seconds = self.clock.read()
        if not self.ready:
            return seconds > self.seconds_to_make if seat != NOBODY else monotonic() - self.started > SECONDS_TO_SET_UP
        return self.task is not None and seat != NOBODY and seconds > move_limit

    def kill(self) -> int:
        """End the process and all that it started; return its exit status."""
        status = end_group(self.process)
        self.link.close()
        return status

    def stop(self, seconds: float) -> None:
        """Let the process end by itself within ``seconds``, so that agents can clean up, then kill it."""
        self._send(STOP)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        self.kill()


class LocalCrew:
    """A crew that plays in this process, for agents that exist only here, without protection from hanging or dying."""

    def __init__(self, setup: Setup, game: Game) -> None:
        self.player = Player(setup, NoClock(), game)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def play(self, tasks: Tasks) -> Iterator[PlayedGame | Forfeit]:
        """Play all games in order.  Raises ``UnsupportedGameError`` where the agents cannot play the game."""
        while (task := tasks()) is not None:
            outcome = self.player.play(task)
            if isinstance(outcome, GameRefused):
                raise UnsupportedGameError(outcome.text)
            yield outcome


class SharedCrew:
    """A crew that plays through an executor, which is responsible for repeating tasks lost with a process.

    Short games are sent in growing batches, so that the overhead of the executor does not dominate.
    """

    def __init__(self, setup: Setup, where: Where, size: int | None) -> None:
        self.setup, self.opening = msgspec.json.encode(setup), executor(where, size)
        self.size = size

    def __enter__(self) -> Self:
        self.opened = self.opening.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self.opening.__exit__(*raised)

    def play(self, tasks: Tasks) -> Iterator[PlayedGame]:
        """Play all games, in any order.

        Raises ``UnsupportedGameError`` where the agents cannot play the game, or where one ends every process.
        """
        size, batch = min(self.size or inf, width(self.opened)), 1
        playing: dict[Future[bytes], float] = {}
        while True:
            while len(playing) < size and (due := list(islice(iter(tasks, None), batch))):
                playing[self.opened.submit(play_in_worker, self.setup, msgspec.json.encode(due))] = monotonic()
            if not playing:
                return
            for future in wait_for(playing, return_when=FIRST_COMPLETED).done:
                if monotonic() - playing.pop(future) < BATCH_SECONDS:
                    batch = min(2 * batch, MOST_OF_A_BATCH)
                yield from self._outcomes(future)

    @staticmethod
    def _outcomes(future: Future[bytes]) -> Iterator[PlayedGame]:
        try:
            outcomes = msgspec.json.decode(future.result(), type=list[PlayedGame | GameRefused])
        except Exception as error:  # depends on the executor
            first = next(iter(str(error).splitlines()), "")
            raise UnsupportedGameError(f"games were lost: {type(error).__name__}: {shorten(first, 200)}") from None
        for outcome in outcomes:
            if not isinstance(outcome, PlayedGame):
                raise UnsupportedGameError(outcome.text)
            yield outcome


class Crew:
    """A crew of up to ``size`` workers; the first is set up alone, so that the others load the kernels it compiled."""

    def __init__(self, setup: Setup, size: int, move_limit: float) -> None:
        self.setup, self.size, self.move_limit = setup, size, move_limit
        self.workers: list[Worker] = []
        self.attempts: Counter[Task | None] = Counter()
        self.again: list[Task] = []
        self.left: Task | None = None
        self.unmade: dict[str, tuple[str, str]] = {}
        """The kind and detail of the fault of agents that hung or ended a process while they were constructed."""
        self.lost: list[Forfeit] = []
        """Games of these agents, which are forfeited before they begin."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        deadline = monotonic() + (SECONDS_TO_STOP if kind is None else 0.0)
        for worker in self.workers:
            worker.stop(max(deadline - monotonic(), 0.0))

    def play(self, tasks: Tasks) -> Iterator[PlayedGame | Forfeit]:
        """Play all games, in any order; the games that are due may depend on games that are over.

        Raises ``UnsupportedGameError`` where the agents cannot play the game, or where workers repeatedly end before
        they are set up or with no agent to blame.
        """
        while self._give(tasks) or any(worker.task for worker in self.workers) or self.lost:
            if self.lost:
                yield self.lost.pop()
                continue
            wait([worker.link for worker in self.workers], TICK)
            outcomes = [found for worker in [*self.workers] if (found := self._listen(worker)) is not None]
            self._give(tasks)  # first, so that no worker waits while outcomes are stored
            yield from outcomes

    def _give(self, tasks: Tasks) -> bool:
        """Assign due games to idle workers; return whether a game is left without a worker."""
        while (task := self.left or (self.again.pop() if self.again else tasks())) is not None:
            if (seat := next((k for k, name in enumerate(task.agents) if name in self.unmade), None)) is not None:
                self.lost.append(Forfeit(task.number, seat, *self.unmade[task.agents[seat]]))
                self.left = None
                continue
            idle = self._idle()
            if idle is None:
                self.left = task
                return True
            idle.give(task)
            self.left = None
        return False

    def _idle(self) -> Worker | None:
        """Return an idle worker, or start more workers, up to ``size``, where all that are ready are busy."""
        for worker in self.workers:
            if worker.ready and worker.task is None:
                return worker
        known = any(worker.ready for worker in self.workers)
        while len(self.workers) < (self.size if known else 1):
            self.workers.append(Worker(self.setup))
        return None

    def _listen(self, worker: Worker) -> PlayedGame | Forfeit | None:
        try:
            message = worker.receive()
        except EOFError:
            return self._lose(worker, "died")
        match message:
            case Ready():
                worker.ready = True
                self.attempts[None] = 0
            case GameRefused(text):
                raise UnsupportedGameError(text)
            case PlayedGame():
                worker.task = None
                return message
            case None if worker.hangs(self.move_limit):
                return self._lose(worker, "hung")
        return None

    def _lose(self, worker: Worker, kind: str) -> Forfeit | None:
        """Remove a worker that died or hung; its game is forfeited, or played again where no agent is to blame.

        A worker that may have been killed from outside gets further attempts: an agent that ended it will do so again,
        since the seed is the same.
        """
        self.workers.remove(worker)
        seat, _ = worker.clock.read()
        status, task = worker.kill(), worker.task
        spared = kind == "died" and may_be_killed(status) and self.attempts[task] + 1 < ATTEMPTS
        if not worker.ready and seat != NOBODY and not spared:
            limit = f"it was not made in {worker.seconds_to_make:g} s"
            died = f"{self._died(status)}, while it was made"
            # an agent that could not be constructed forfeits its games, and new workers leave it out
            detail = died if kind == "died" else limit
            self.unmade[worker.making[seat]] = kind, detail
            rest = {name: copies for name, copies in self.setup.agents.items() if name != worker.making[seat]}
            self.setup = msgspec.structs.replace(self.setup, agents=rest)
            return None
        if task is not None and seat != NOBODY and not spared:
            died = self._died(status)
            return Forfeit(task.number, seat, kind, died if kind == "died" else f"no answer in {self.move_limit:g} s")
        if task is not None:
            self.again.append(task)
        if task is not None or not worker.ready:
            self._count_attempt(task, ending(status))
        return None

    @staticmethod
    def _died(status: int) -> str:
        closed = "it closed files that its process needs"
        return closed if status == CLOSED else f"its process ended with {ending(status)}"

    def _count_attempt(self, task: Task | None, how: str) -> None:
        """Count a worker lost in a game with no agent to blame yet, or before it was set up."""
        self.attempts[task] += 1
        if self.attempts[task] == ATTEMPTS:
            what = f"setting up {', '.join(self.setup.agents)}" if task is None else f"game {task.number}"
            raise UnsupportedGameError(f"{self.setup.game}: {what} ended {ATTEMPTS} processes, the last with {how}")
