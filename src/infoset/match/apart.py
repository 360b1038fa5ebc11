"""Agents that are called over a line, to a thread or further: deadlines cut, and late answers are dropped."""

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


class Line(Protocol):
    """Carries calls of an agent's methods, which are made one after the other in the order in which they are posted."""

    @property
    def busy(self) -> bool:
        """Whether an earlier call is still at work."""
        ...

    def post(self, method: str, *arguments: Any) -> Any:
        """Have a method called, and do not wait.  What comes back stands for the answer.

        An ``act`` that waits for earlier calls until its deadline is not made.
        """
        ...

    def wait(self, posted: Any, deadline: float | None) -> tuple[Any, float]:
        """The answer, and the moment at which it came.

        Raises ``TimeoutError`` at the deadline, and what the method did.
        """
        ...

    def renew(self) -> None:
        """A game is over: whoever is at the other end must be there for the next, another one if need be."""
        ...


class Apart:
    """An agent at the other end of a line.

    A call that is not answered in time raises ``TimeoutError``.  The agent may go on with it all the same; what it is
    told meanwhile waits for it.
    """

    def __init__(self, line: Line, name: str, patience: float = PATIENCE) -> None:
        """``patience``: seconds for calls that have no deadline of their own: ``observe``, ``end``."""
        self.line, self.name, self.patience = line, name, patience

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        latest = monotonic() + self.patience if self.line.busy else None  # with a game that is over
        self.line.wait(self.line.post("begin", game, player, rng, deadline), latest if deadline is None else deadline)

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        behind = self.line.busy
        told = self.line.post("observe", own_move, observation)
        if not behind:
            self.line.wait(told, monotonic() + self.patience)

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        move: Action = self.line.wait(self.line.post("act", legal, deadline), deadline)[0]
        return move

    def end(self, returns: tuple[float, ...]) -> None:
        """What the agent still thinks about is waited for, too, but not for ever."""
        late = self.line.busy
        try:
            self.line.wait(self.line.post("end", returns), monotonic() + self.patience)
        except TimeoutError:
            if not late:  # which was said before
                raise
        finally:
            self.line.renew()


class Elsewhere(Apart):
    """One whose thinking costs nobody else anything: it thinks while others do."""

    def reach(self) -> None:
        """Raise ``RemoteError`` where nobody answers at the agent's address, if it has one; asked once."""
        there = getattr(getattr(self.line, "agent", None), "reach", None)
        if there is not None:
            self.line.wait(self.line.post("reach"), None)

    def prompt(self, legal: tuple[Action, ...], deadline: float | None) -> Callable[[], tuple[Action, float]]:
        posted = self.line.post("act", legal, deadline)
        return lambda: self.line.wait(posted, deadline)


class ThreadLine:
    """To an agent in this process, which is called in a thread of its own."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.calls: Calls = SimpleQueue()
        self.last: Future[tuple[Any, float]] | None = None
        Thread(target=_serve, args=(self.calls,), daemon=True).start()  # what never returns must not hold up the end
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
                raise  # its own
            raise TimeoutError("no answer in time") from None

    def renew(self) -> None:
        """There is only this one."""


def _serve(calls: Calls) -> None:
    """Make calls until nobody is there any more who could post one."""
    process = os.getpid()
    while posted := calls.get():
        call, answer = posted
        try:
            found = call()
        except BaseException as error:  # which whoever waits for the answer gets
            end_copy(process)
            answer.set_exception(error)
        else:
            end_copy(process)
            answer.set_result(found)
            del found
        del posted, call, answer
