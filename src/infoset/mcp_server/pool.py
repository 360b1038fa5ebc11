"""A few worker processes, each of which works on one question at a time, so that any can be ended at its deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from infoset.mcp_server.limits import ServerLimits
from infoset.remote.serving import Refusal
from infoset.web.workers import Worker

PROCESSES = 2
MAX_WAITING = 100  # questions
STARTING = 120.0  # seconds that a process may take to start, compiling kernels on its first start ever


class Pool:
    """The processes that compute, one of which is always ready."""

    def __init__(self, folders: tuple[Path, ...], limits: ServerLimits) -> None:
        self.folders, self.limits = folders, limits
        self.free: list[Worker] = []
        self.working: set[Worker] = set()
        self._gate = asyncio.Semaphore(PROCESSES)
        self._waiting = 0
        self._starting: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start a process, so that the first question need not wait for it."""
        if not self.free:
            worker = Worker("infoset.mcp_server.answers:Answers", self.folders, self.limits)
            self.free.append(worker)
            task = asyncio.ensure_future(self._warm(worker))
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def ask(self, method: str, *arguments: Any, progress: Callable[[str], None] = lambda line: None) -> Any:
        """Return the answer of ``Answers.METHOD``; ``progress`` is called with lines about the work.

        The process is ended at the limit of seconds, and where the caller is cancelled.  Raises ``Refusal``.
        """
        if self._waiting >= MAX_WAITING:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"{MAX_WAITING} questions wait already; ask again later")
        self._waiting += 1
        try:
            await self._gate.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._asked(method, arguments, progress)
        finally:
            self._gate.release()

    async def _asked(self, method: str, arguments: tuple[Any, ...], progress: Callable[[str], None]) -> Any:
        worker = self._take()
        worker.heard = [lambda _, line: progress(line)]
        self.working.add(worker)
        answered = False
        try:
            async with asyncio.timeout(STARTING):
                await worker.ask("ready")
            async with asyncio.timeout(self.limits.seconds):
                found = await worker.ask("answer", method, arguments)
            answered = True
            return found
        except TimeoutError:
            why = f"not finished after {self.limits.seconds:g} s, the limit here (--seconds); choose a smaller game"
            raise Refusal(HTTPStatus.REQUEST_TIMEOUT, why) from None
        except Refusal as error:
            answered = error.status != HTTPStatus.INSUFFICIENT_STORAGE  # the memory of such a process is full
            raise
        finally:
            self.working.discard(worker)
            worker.heard = []
            if answered and worker.running:
                self.free.insert(0, worker)
            else:
                worker.kill()
                self.start()

    def _take(self) -> Worker:
        if not self.free:
            self.start()
        return self.free.pop(0)

    async def _warm(self, worker: Worker) -> None:
        with suppress(Refusal):  # the next question says why
            await worker.ask("ready")

    def close(self) -> None:
        """End all processes now."""
        for task in self._starting:
            task.cancel()
        for worker in (*self.free, *self.working):
            worker.kill()
        self.free.clear()
