"""Call agents over a line, in a thread or further away: calls end at their deadlines, late answers are dropped."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, Protocol, TypeAlias
from weakref import finalize

import numpy as np

from infoset.base import Action, Agent, Game, Observation
from infoset.processes import end_copy

PATIENCE = 10.0  # seconds

Calls: TypeAlias = "SimpleQueue[tuple[Callable[[], tuple[Any, float]], Future[tuple[Any, float]]] | None]"


class Channel(Protocol):
    """A channel for calls of an agent's methods, which are made one at a time in the order in which they are posted."""

    @property
    def busy(self) -> bool:
        """Whether an earlier call is still running."""
        ...

    def post(self, method: str, *arguments: Any) -> Any:
        """Post a call without waiting, and return a handle of its answer for ``wait``.

        An ``act`` that is still queued behind earlier calls at its deadline is not made.
        """
        ...

    def wait(self, posted: Any, deadline: float | None) -> tuple[Any, float]:
        """Wait for the answer and return it with the time at which it came.

        Raises ``TimeoutError`` at the deadline, and whatever the method raised.
        """
        ...

    def renew(self) -> None:
        """Make the agent available for the next game after a game is over, with a new one if necessary."""
        ...


class AgentProxy:
    """An agent at the other end of a line.

    A call that is not answered in time raises ``TimeoutError``.  The agent may continue with it nevertheless; later
    calls are queued until it is done.
    """

    def __init__(self, line: Channel, name: str, patience: float = PATIENCE) -> None:
        """Connect to the agent; ``patience`` is the time limit, in seconds, of ``observe`` and ``end``."""
        self.channel, self.name, self.patience = line, name, patience

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        latest = monotonic() + self.patience if self.channel.busy else None  # still busy with an earlier game
        self.channel.wait(
            self.channel.post("begin", game, player, rng, deadline), latest if deadline is None else deadline
        )

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        was_busy = self.channel.busy
        posted = self.channel.post("observe", own_action, observation)
        if not was_busy:
            self.channel.wait(posted, monotonic() + self.patience)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        action: Action = self.channel.wait(self.channel.post("act", legal_actions, deadline), deadline)[0]
        return action

    def end(self, returns: tuple[float, ...]) -> None:
        """End the game, waiting for unfinished calls, but no longer than ``patience``."""
        late = self.channel.busy
        try:
            self.channel.wait(self.channel.post("end", returns), monotonic() + self.patience)
        except TimeoutError:
            if not late:  # an earlier delay was reported already
                raise
        finally:
            self.channel.renew()


class AsyncAgentProxy(AgentProxy):
    """An agent that uses no resources of this process while it thinks, so that it can think while others do."""

    def reach(self) -> None:
        """Raise ``RemoteError`` where no server answers at the agent's address, if it has one; checked once."""
        there = getattr(getattr(self.channel, "agent", None), "reach", None)
        if there is not None:
            self.channel.wait(self.channel.post("reach"), None)

    def prompt(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Callable[[], tuple[Action, float]]:
        posted = self.channel.post("act", legal_actions, deadline)
        return lambda: self.channel.wait(posted, deadline)


class ThreadChannel:
    """A line to an agent in this process, which is called in its own thread."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.calls: Calls = SimpleQueue()
        self.last: Future[tuple[Any, float]] | None = None
        Thread(target=_serve, args=(self.calls,), daemon=True).start()  # a call that never returns must not delay exit
        finalize(self, self.calls.put, None)

    @property
    def busy(self) -> bool:
        return self.last is not None and not self.last.done()

    def post(self, method: str, *arguments: Any) -> Future[tuple[Any, float]]:
        def call(agent: Agent = self.agent) -> tuple[Any, float]:
            if method == "act" and arguments[1] is not None and monotonic() >= arguments[1]:
                raise TimeoutError("it was still busy with an earlier call")
            return getattr(agent, method)(*arguments), monotonic()

        self.last = Future()
        self.calls.put((call, self.last))
        return self.last

    def wait(self, posted: Future[tuple[Any, float]], deadline: float | None) -> tuple[Any, float]:
        try:
            return posted.result(None if deadline is None else max(deadline - monotonic(), 0.0))
        except TimeoutError:
            if posted.done() and posted.exception() is not None:
                raise  # the call's own exception
            raise TimeoutError("no answer in time") from None

    def renew(self) -> None:
        """Do nothing: there is only this agent."""


def _serve(calls: Calls) -> None:
    """Make calls until the line is finalized."""
    process = os.getpid()
    while posted := calls.get():
        call, answer = posted
        try:
            found = call()
        except BaseException as error:  # passed on to the caller that waits for the answer
            end_copy(process)
            answer.set_exception(error)
        else:
            end_copy(process)
            answer.set_result(found)
            del found
        del posted, call, answer
