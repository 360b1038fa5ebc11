"""An agent in a process of its own, with limits: its faults cost only its own moves.

Both processes are on one machine and read the same ``time.monotonic``, so that deadlines are sent unchanged.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import warnings
from contextlib import suppress
from tempfile import TemporaryFile
from threading import Event, Thread
from time import monotonic
from typing import Any

import msgspec

from infoset.base import Agent, Game
from infoset.catalog import load
from infoset.clock import seconds_to_make
from infoset.errors import InfosetError, ParameterError, RemoteError, UnsupportedGameError, shorten
from infoset.match.agent_proxy import AgentProxy
from infoset.match.agents import SECONDS_TO_MAKE, check_agent, check_named, is_foreign_code, load_agent
from infoset.match.match import error_text
from infoset.names import Name, Value, check_range, full_name
from infoset.processes import (
    Limits,
    check_shared_files,
    end_copy,
    end_crowd,
    end_group,
    end_with,
    ending,
    limit,
    own_group,
)
from infoset.registry import own_name
from infoset.remote.calls import (
    MAX_MESSAGE,
    Act,
    Answer,
    Begin,
    End,
    Observe,
    Posted,
    generator,
    parse_action,
    read_tuple,
    stream_of,
)

SECONDS_TO_START = 600.0  # kernels may have to be compiled
STARTED, MADE = -1, 0  # numbers of a process's own messages: it has started, its agent is made
SECONDS_TO_END = SECONDS_TO_SEND = 1.0
MAX_LIMIT = 1 << 40
PASSED_ENVIRONMENT = ("HOME", "LANG", "PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "TZ", "VIRTUAL_ENV")
PASSED_PREFIXES = ("INFOSET_", "LC_", "NUMBA_", "OMP_", "XDG_CACHE")
"""The environment variables that an agent's process inherits: no keys, no tokens."""


def isolated(agent: Value = "", memory: int = 8192, cpu: int = 0, files: int = 64, processes: int = 64) -> Agent:
    """Another agent in a process of its own: memory and files in MiB, cpu in seconds; 0: no limit."""
    if not agent or not isinstance(agent, str | Name):
        raise ParameterError("isolated: agent is missing; name it: isolated(agent=random)")
    name = str(agent)
    check_agent(name)
    check_named(name, "in a process of its own")
    for key, value in ("memory", memory), ("cpu", cpu), ("files", files), ("processes", processes):
        check_range(key, value, 0, MAX_LIMIT)
    limits = Limits(memory, cpu, files, processes)
    whole = full_name("isolated", isolated, agent=agent, memory=memory, cpu=cpu, files=files, processes=processes)
    return AgentProxy(ProcessChannel(name, limits), whole, SECONDS_TO_END)


class MessageStream:
    """One end of a connection between processes: messages are lines of JSON, and waiting for one has a time limit."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.read = b""

    def send(self, body: bytes) -> None:
        """Send a message.  Raises ``OSError`` where the other end is gone, or does not read."""
        self.end.settimeout(SECONDS_TO_SEND)
        self.end.sendall(body + b"\n")

    def receive(self, deadline: float | None) -> bytes:
        """Return the next message.

        Raises ``TimeoutError`` at the deadline, ``OSError`` or ``EOFError`` where the other end is gone.
        """
        while b"\n" not in self.read:
            left = None if deadline is None else deadline - monotonic()
            if not select.select([self.end], [], [], None if left is None else max(left, 0.0))[0]:
                raise TimeoutError("no answer in time")
            piece = self.end.recv(1 << 16)
            if not piece:
                raise EOFError
            self.read += piece
            if len(self.read) > MAX_MESSAGE:
                raise OSError("a message that is too long")
        message, _, self.read = self.read.partition(b"\n")
        return message

    def waiting(self) -> bool:
        """Return whether there is more to read."""
        return bool(self.read) or bool(select.select([self.end], [], [], 0.0)[0])

    def close(self) -> None:
        self.end.close()


class ProcessChannel:
    """A line to an agent in a process of its own, which is kept from the first game to the last.

    An agent that hangs or ends its process while it is made is missing: that counts as its fault in every game.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        """Start the process.

        Raises ``UnsupportedSystemError`` where a process cannot be given open files, ``RemoteError`` where the agent
        cannot be made there.
        """
        self.name, self.limits = name, limits
        self.number, self.unmade = 0, False
        limit, foreign = seconds_to_make(), (parsed := check_agent(name)) is not None and is_foreign_code(parsed)
        self.seconds_to_make = (limit or SECONDS_TO_MAKE) if foreign else SECONDS_TO_START
        self._start()
        if self.failure and not self.unmade:
            raise RemoteError(f"isolated: {shorten(name)}: {self.failure}")

    # the process

    def _start(self) -> None:
        """Start the process; return when the agent is made, or is known not to be."""
        self.failure, self.open = "", set[int]()
        check_shared_files("an agent in a process of its own")
        ours, other_end = socket.socketpair()
        self.printed = TemporaryFile()  # noqa: SIM115  # closed with the process
        with other_end:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "infoset.remote.isolated", str(other_end.fileno()), self.name,
                 msgspec.json.encode(self.limits).decode()],
                pass_fds=[other_end.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self.printed,
                stderr=self.printed,
                env=environment(),
                **own_group(),
            )  # fmt: skip
        self.link = MessageStream(ours)
        self.open.add(MADE)
        self.crowded = Event()
        if most := self.limits.processes:
            Thread(target=end_crowd, args=(self.process, most, self.crowded), daemon=True).start()
        try:
            self._receive(STARTED, monotonic() + SECONDS_TO_START)
        except RemoteError:
            return
        except TimeoutError:
            self._lose(f"it was not there after {SECONDS_TO_START:g} s")
            return
        try:
            made = self._receive(MADE, monotonic() + self.seconds_to_make)
        except RemoteError:
            self.unmade = True
            return
        except TimeoutError:
            self._lose(f"it was not made in {self.seconds_to_make:g} s")
            self.unmade = True
            return
        if made.refused:
            self._lose(made.error)
        elif made.error:
            warnings.warn(f"isolated: {made.error}", stacklevel=2)

    def _end(self) -> str:
        """End the process and all that it started; return how it ended, with the last line that it printed."""
        status = end_group(self.process)
        self.link.close()
        how = ending(status)
        with self.printed:
            size = self.printed.seek(0, os.SEEK_END)
            self.printed.seek(max(size - 1000, 0))
            lines = self.printed.read().decode(errors="replace").split("\n")
        last = next((line for line in map(str.strip, reversed(lines)) if line), "")
        return f"{how}: {shorten(last, 120)}" if last else how

    def renew(self) -> None:
        """Start another process where the present one is gone, or is still busy with a game that is over.

        Called while no clock runs.
        """
        if self.unmade:
            return
        if self.failure or self.busy:
            if not self.failure:
                self._end()
            self._start()

    def __del__(self) -> None:
        if getattr(self, "failure", "never started") == "":
            with suppress(Exception):
                self._end()

    # calls

    @property
    def busy(self) -> bool:
        return bool(self.open)

    def post(self, method: str, *arguments: Any) -> int:
        self.number += 1
        if self.failure:
            return self.number
        body = msgspec.json.encode(Posted(self.number, _call(method, arguments)))
        try:
            self.link.send(body)
        except OSError:
            self._lose()
        else:
            self.open.add(self.number)
        return self.number

    def wait(self, posted: int, deadline: float | None) -> tuple[Any, float]:
        if self.failure:
            raise RemoteError(self.failure)
        answer = self._receive(posted, deadline)
        if answer.refused:
            raise UnsupportedGameError(answer.error)
        if answer.error:
            raise RemoteError(answer.error)
        return parse_action(answer.action) if answer.action is not None else None, monotonic()

    def _receive(self, number: int, deadline: float | None) -> Answer:
        """Return the answer to a call; late answers to earlier calls are dropped."""
        while True:
            try:
                answer = msgspec.json.decode(self.link.receive(deadline), type=Answer)
            except TimeoutError:
                raise
            except (EOFError, OSError):
                self._lose()
                raise RemoteError(self.failure) from None
            except msgspec.MsgspecError as error:
                self._lose(f"its process answered nonsense: {shorten(str(error))}")
                raise RemoteError(self.failure) from None
            self.open.discard(answer.number)
            if answer.number == number:
                return answer

    def _lose(self, why: str = "") -> None:
        how = self._end()
        crowd = f"it was more than {self.limits.processes} processes" if self.crowded.is_set() else ""
        self.failure = why or crowd or f"its process ended with {how}"
        self.open.clear()


def environment() -> dict[str, str]:
    """Return the environment of an agent's process."""
    passed_on = {k: v for k, v in os.environ.items() if k in PASSED_ENVIRONMENT or k.startswith(PASSED_PREFIXES)}
    return passed_on | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _call(method: str, arguments: tuple[Any, ...]) -> Begin | Observe | Act | End:
    match method:
        case "begin":
            game, player, rng, deadline = arguments
            name = own_name(game) or getattr(game, "file", "") or game.name
            return Begin(name, player, stream_of(rng), deadline)
        case "observe":
            return Observe(*arguments)
        case "act":
            return Act(*arguments)
    return End(*arguments)


# ---------------------------------------------------------------------------------------------------------------------
# In the agent's process
# ---------------------------------------------------------------------------------------------------------------------


class Host:
    """Executes the calls that come over a line."""

    def __init__(self, name: str) -> None:
        self.agent = load_agent(name)
        self.game: tuple[str, Game] | None = None

    def answer(self, posted: Posted, stale: bool) -> Answer:
        """Execute a call; ``stale``: whether another message has come since, so that a move would be too late."""
        try:
            return Answer(posted.number, self._make(posted.call, stale))
        except InfosetError as error:
            refused = isinstance(posted.call, Begin) and isinstance(error, UnsupportedGameError | ParameterError)
            return Answer(posted.number, error=str(error) or type(error).__name__, refused=refused)
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # the terminal's Ctrl-C does not reach this process
            return Answer(posted.number, error=error_text(error))

    def _make(self, call: Begin | Observe | Act | End, stale: bool) -> Any:
        match call:
            case Begin(name, player, stream, deadline):
                if self.game is None or self.game[0] != name:
                    self.game = name, load(name)
                return self.agent.begin(self.game[1], player, generator(stream), deadline)
            case Observe(own_action, observation):
                own: Any = read_tuple(own_action)
                return self.agent.observe(own, read_tuple(observation))
            case Act(legal_actions, deadline):
                if deadline is not None and (stale or monotonic() >= deadline):
                    raise TimeoutError("it had not finished an earlier call")
                return self.agent.act(tuple(map(read_tuple, legal_actions)), deadline)  # type: ignore[arg-type]
            case End(returns):
                return self.agent.end(returns)


def serve(link: MessageStream, name: str, missed: str) -> None:
    """Report the start, then answer calls until the line ends, which raises ``EOFError``.

    ``missed``: the limits that could not be set.
    """
    link.send(msgspec.json.encode(Answer(STARTED)))
    process = os.getpid()
    try:
        host = Host(name)
    except InfosetError as error:
        link.send(msgspec.json.encode(Answer(MADE, error=str(error), refused=True)))
        return
    link.send(msgspec.json.encode(Answer(MADE, error=missed)))
    while True:
        posted = msgspec.json.decode(link.receive(None), type=Posted)
        answer = host.answer(posted, link.waiting())
        end_copy(process)
        try:
            body = msgspec.json.encode(answer)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            body = msgspec.json.encode(
                Answer(posted.number, action=shorten(f"{type(answer.action).__name__}: {error}", 200))
            )
        link.send(body)


def main() -> None:
    """Run an agent's process: ``python -m infoset.remote.isolated LINK NAME LIMITS``.

    LINK is the number of an open file, NAME an agent, LIMITS are JSON.
    """
    number, name, limits = sys.argv[1:]
    Thread(target=end_with, args=(int(number),), daemon=True).start()
    missed = limit(msgspec.json.decode(limits, type=Limits))
    with suppress(OSError, EOFError):
        serve(MessageStream(socket.socket(fileno=int(number))), name, missed)


if __name__ == "__main__":
    main()
