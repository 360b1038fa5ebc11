"""The worker process, which plays one game after another for the tournament that started it.

The tournament survives whatever an agent does to this process, including hanging and dying.  Messages are JSON, so that
nothing an agent sends can run code in the tournament's own process.  The worker notes in shared memory which agent it
called last and when; the agent noted there when the process hangs or dies is to blame.
"""

from __future__ import annotations

import mmap
import os
import random
import sys
import zlib
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from multiprocessing.connection import Connection
from threading import Thread
from time import monotonic
from typing import Any, TypeAlias

import msgspec
import numpy as np

from infoset import sizes
from infoset.arena.control import Controls, known_row
from infoset.arena.schedule import is_foreign
from infoset.base import Action, Agent, Game, Observation, Rehearsed
from infoset.catalog import load as load_game
from infoset.clock import making_within
from infoset.errors import InfosetError
from infoset.interruption import listening
from infoset.match.agent_proxy import AgentProxy, ThreadChannel
from infoset.match.agents import agent_name, alone, load_agent
from infoset.match.match import MAX_STEPS, Table
from infoset.match.replay import Match
from infoset.processes import end_with

REHEARSAL_STEPS = 20
NOBODY = -1
STOP = b""
CLOSED = 70
"""The exit status of a worker whose agent closed a file that the worker needs."""


class Setup(msgspec.Struct, frozen=True):
    """The configuration of a worker."""

    game: str
    agents: dict[str, int]
    """The number of objects of each agent."""
    slow: float
    """The seconds beyond which decisions are counted as slow."""
    seconds_per_move: float | None = None
    start_clock: float | None = None
    isolate: bool = False
    """Whether each agent has a process of its own."""
    memory: int | None = None
    """The memory of an agent's process, in MiB."""
    adjust: bool = False
    """Whether payoffs are adjusted for luck, in a game whose tree is small enough."""


class Task(msgspec.Struct, frozen=True):
    """One game to play."""

    number: int
    seed: int
    agents: tuple[str, ...]
    """(n,) the agent in each seat."""
    game: str = ""
    """The game to play, if not the worker's own; it has the same number of players."""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The message that the worker is set up."""


class GameRefused(msgspec.Struct, frozen=True, tag=True):
    """The message that the agents cannot play the game."""

    text: str


class SeatFault(msgspec.Struct, frozen=True):
    """The faults of one kind by the agent in one seat in one game: their count and an example."""

    seat: int
    kind: str
    count: int
    detail: str


class PlayedGame(msgspec.Struct, frozen=True, tag=True):
    """A finished game; ``replay`` is the match as compressed JSON."""

    number: int
    returns: tuple[float, ...]
    faults: tuple[SeatFault, ...]
    replay: bytes
    adjusted: tuple[float, ...] | None = None
    """(n,) the payoffs adjusted for luck, where the adjustment is known."""


Message: TypeAlias = Ready | GameRefused | PlayedGame


class CallClock:
    """The seat of the agent called last, and the time of the call: two numbers in a file that two processes share.

    While the worker is set up, the first number is that of the agent being constructed.

    Each number is written and read atomically; ``struct`` would clear the bytes first.
    """

    SIZE = 16

    def __init__(self, file: int) -> None:
        self.numbers = memoryview(mmap.mmap(file, self.SIZE)).cast("d")
        self.note(NOBODY)

    def note(self, seat: int) -> None:
        self.numbers[1] = monotonic()
        self.numbers[0] = seat

    def read(self) -> tuple[int, float]:
        """Return the seat, or ``NOBODY``, and the seconds since it was noted."""
        return int(self.numbers[0]), monotonic() - self.numbers[1]


class NoClock:
    """A stand-in for ``CallClock`` in processes that are not watched."""

    def note(self, seat: int) -> None:
        pass


class OwnedFile:
    """A file that this process needs: where an agent closes it, the process ends at once and the agent is to blame."""

    def __init__(self, file: int) -> None:
        self.file = file
        self.kind = self._look()

    def _look(self) -> tuple[int, int]:
        found = os.fstat(self.file)
        return found.st_dev, found.st_ino

    def check(self) -> None:
        """End the process where the file is closed or another one is in its place."""
        try:
            there = self._look() == self.kind
        except OSError:
            there = False
        if not there:
            os._exit(CLOSED)


class TimedAgent:
    """An agent whose calls are noted on the clock.  ``needed`` is the file that a foreign agent must leave open."""

    def __init__(self, name: str, agent: Agent, clock: CallClock | NoClock, needed: OwnedFile | None = None) -> None:
        self.name, self.agent, self.clock, self.needed = name, agent, clock, needed
        self.seat = NOBODY

    def _call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the agent, which is noted first: looking it up is the agent's own time too."""
        self.clock.note(self.seat)
        try:
            return getattr(self.agent, method)(*arguments)
        finally:
            if self.needed is not None:
                self.needed.check()

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.seat = player
        self._call("begin", game, player, rng, deadline)

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        self._call("observe", own_action, observation)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        answer: Action = self._call("act", legal_actions, deadline)
        return answer

    def end(self, returns: tuple[float, ...]) -> None:
        self._call("end", returns)


class Player:
    """The player of games: it constructs the rules and the agents once."""

    def __init__(
        self, setup: Setup, clock: CallClock | NoClock, game: Game | None = None, needed: OwnedFile | None = None
    ) -> None:
        self.name, self.slow, self.clock, self.needed = setup.game, setup.slow, clock, needed
        self.setup = setup
        self.game = load_game(setup.game) if game is None else game
        self.games = {"": (self.name, self.game)}
        self.agents: dict[str, list[TimedAgent | AgentProxy]] = {}
        for number, (name, copies) in enumerate(setup.agents.items()):
            clock.note(number if is_foreign(name) and not setup.isolate else NOBODY)
            with making_within(setup.start_clock), listening():
                self.agents[name] = [self._made(name) for _ in range(copies)]
            if needed is not None:
                needed.check()
        clock.note(NOBODY)
        self._rehearse()
        self.controls = Controls.of(self.game, sizes.LUCK_REMOVED) if setup.adjust else None
        self.asked: set[tuple[str, int]] = set()
        clock.note(NOBODY)

    def _made(self, name: str) -> TimedAgent | AgentProxy:
        """Return a new agent; one in another process cannot harm this one, so its calls are not noted."""
        agent = load_agent(alone(name, self.setup.memory) if self.setup.isolate else name)
        if isinstance(agent, AgentProxy):
            return agent
        noted = TimedAgent(name, agent, self.clock, self.needed if is_foreign(name) else None)
        ticks = self.setup.seconds_per_move is not None or self.setup.start_clock is not None
        return AgentProxy(ThreadChannel(noted), name) if ticks else noted

    def _rehearse(self) -> None:
        """Play a few moves with each shipped agent, so that no clock runs while kernels are compiled or loaded.

        A foreign agent is not rehearsed, because its clock runs from its first call; the game's ``rehearsal`` takes its
        place.
        """
        own = [name for name in self.agents if not is_foreign(name)]
        stand_in = self.game.rehearsal if isinstance(self.game, Rehearsed) and len(own) < len(self.agents) else "random"
        for name in dict.fromkeys([*own, stand_in, "random"]):
            for agent in self.agents.get(name, []) if self.setup.isolate else [load_agent(name)]:
                others = [load_agent("random") for _ in self.game.players[1:]]
                names = tuple(map(agent_name, (agent, *others)))
                game = Table(self.game, self.name, (agent, *others), names, None, None, MAX_STEPS).open(0)
                state = game.begin()
                for _ in range(REHEARSAL_STEPS):
                    if state.terminal:
                        break
                    state = game.step(state)

    def play(self, task: Task) -> PlayedGame | GameRefused:
        """Play one game.  Global random generators are seeded, too, for agents that use them."""
        self.clock.note(NOBODY)
        seated = self._seated(task.agents)
        unknown = list(map(unknown_of, seated))
        _seed_globals(task.seed)
        try:
            match = self._table(task).play(task.seed)
        except InfosetError as error:
            return GameRefused(str(error))
        counts = _fault_counts(match, self.slow)
        for seat, (agent, before) in enumerate(zip(seated, unknown, strict=True)):
            if (now := unknown_of(agent)) > before:
                counts.append(SeatFault(seat, "unknown", now - before, "played at random"))
        replay = zlib.compress(msgspec.json.encode(match))
        return PlayedGame(task.number, match.returns, tuple(counts), replay, self._adjusted(task, match))

    def _adjusted(self, task: Task, match: Match) -> tuple[float, ...] | None:
        """Return the payoffs adjusted for luck, ``None`` where the adjustment is not known."""
        if self.controls is None or task.game:
            return None
        for seat, name in enumerate(task.agents):
            if (name, seat) not in self.asked:
                self.asked.add((name, seat))
                first = self.agents[name][0]
                # with a clock, or in a process that may die, a move may differ from the policy's
                if isinstance(first, TimedAgent) and (row := known_row(first.agent, self.game)) is not None:
                    with suppress(InfosetError):
                        self.controls.know(name, seat, row)
        return self.controls.adjust(match.steps, match.returns, task.agents)

    def _table(self, task: Task) -> Table:
        if task.game not in self.games:
            self.games[task.game] = task.game, load_game(task.game)
        name, game = self.games[task.game]
        clocks = self.setup.seconds_per_move, self.setup.start_clock
        return Table(game, name, tuple(self._seated(task.agents)), task.agents, *clocks, MAX_STEPS)

    def _seated(self, names: tuple[str, ...]) -> list[TimedAgent | AgentProxy]:
        """Return an object for each seat; the same agent in two seats is two objects."""
        used: Counter[str] = Counter()
        seated = []
        for name in names:
            seated.append(self.agents[name][used[name]])
            used[name] += 1
        return seated


@lru_cache(maxsize=1)
def _player(setup: bytes) -> Player:
    return Player(msgspec.json.decode(setup, type=Setup), NoClock())


def play_in_worker(setup: bytes, tasks: bytes) -> bytes:
    """Play games in any process: from a ``Setup`` and a list of ``Task`` in JSON return a JSON list of messages."""
    found: list[PlayedGame | GameRefused] = []
    try:
        player = _player(setup)
        found.extend(map(player.play, msgspec.json.decode(tasks, type=list[Task])))
    except InfosetError as error:
        found.append(GameRefused(str(error)))
    return msgspec.json.encode(found)


def unknown_of(agent: TimedAgent | AgentProxy) -> int:
    """Return the number of an agent's choices that its policy had no row for; 0 for an agent elsewhere."""
    here = agent.channel.agent if isinstance(agent, AgentProxy) and isinstance(agent.channel, ThreadChannel) else agent
    return int(getattr(here.agent, "unknown", 0)) if isinstance(here, TimedAgent) else 0


def _fault_counts(match: Match, slow: float) -> list[SeatFault]:
    """Count the match's faults by seat and kind, and the decisions that took more than ``slow`` seconds but stand."""
    found: dict[tuple[int, str], list[str]] = {}
    for fault in match.faults:
        found.setdefault((fault.player, fault.kind), []).append(fault.detail)
    late = {(fault.step, fault.player) for fault in match.faults if fault.kind == "late"}
    for number, step in enumerate(match.steps, start=1):
        for seat, seconds in enumerate(step.seconds):
            if seconds is not None and seconds > slow and (number, seat) not in late:
                found.setdefault((seat, "slow"), []).append(f"took {seconds:.3g} s")
    return [SeatFault(seat, kind, len(details), details[0]) for (seat, kind), details in found.items()]


def _seed_globals(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def serve(link: Connection, clock: CallClock) -> None:
    """Set up, then play the requested games until the tournament sends ``STOP``."""
    encode = msgspec.json.encode
    try:
        player = Player(msgspec.json.decode(link.recv_bytes(), type=Setup), clock, needed=OwnedFile(link.fileno()))
    except InfosetError as error:
        link.send_bytes(encode(GameRefused(str(error))))
        return
    link.send_bytes(encode(Ready()))
    while (body := link.recv_bytes()) != STOP:
        link.send_bytes(encode(player.play(msgspec.json.decode(body, type=Task))))


def main() -> None:
    """Run ``python -m infoset.arena.worker LINK CLOCK``, with the numbers of two files that the tournament opened."""
    link, clock = map(int, sys.argv[1:])
    Thread(target=end_with, args=(link,), daemon=True).start()
    with suppress(EOFError, ConnectionError):  # the tournament has ended, so there is nothing to report to
        serve(Connection(link), CallClock(clock))


if __name__ == "__main__":
    main()
