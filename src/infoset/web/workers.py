"""Worker processes of the server: each holds a *service*, an object whose methods answer questions and that sends news.

The server itself stays small: compiling, solving, playing and reading large files are done in a process that starts
with the first question and ends after it was idle for a while.  A process that dies loses only its open questions.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from importlib import import_module
from itertools import count
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any, Protocol

from infoset.errors import InfosetError
from infoset.remote.serving import Refusal

THREADS = 8
IDLE = 120.0  # seconds without a question after which a process ends, unless its service says that it is busy
NEWS = -1  # the number of messages that answer no question

News = Callable[[Any, Any], None]
"""Called by a service from any thread with a topic and a value, which must be picklable."""


class Service(Protocol):
    """The object in a worker: its public methods are questions that take and return plain data."""

    def busy(self) -> bool:
        """Return whether unfinished work, which nobody waits for, requires the process to go on."""
        ...

    def close(self) -> None:
        """Release everything, since the process ends."""
        ...


class Worker:
    """A process that holds the service ``place``, ``module:Class``, made with ``(news, *arguments)``."""

    def __init__(self, place: str, *arguments: Any) -> None:
        self.place, self.arguments = place, arguments
        self.heard: list[News] = []
        self.fallen: list[Callable[[], None]] = []
        """Functions to call when the process died, or ended."""
        self.asked = monotonic()
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._process: multiprocessing.process.BaseProcess | None = None
        self._line: Connection | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def running(self) -> bool:
        """Whether the process is running."""
        return self._process is not None

    async def ask(self, method: str, *arguments: Any) -> Any:
        """Return the answer of the service's method.

        Raises ``Refusal`` with what the method raised, or where the process died.
        """
        self.asked = monotonic()
        if self._line is None:
            self._begin()
        number = next(self._numbers)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        assert self._line is not None
        try:
            self._line.send((number, method, arguments))
        except (OSError, ValueError):
            self.kill()
        return await future

    async def tell(self, method: str, *arguments: Any) -> None:
        """Call ``ask`` for its effect alone, if there is a process at all; ignore a refusal."""
        if self._line is not None:
            with suppress(Refusal):
                await self.ask(method, *arguments)

    async def rest(self) -> None:
        """End the process if it is idle."""
        if self._line is None or self._waiting or monotonic() - self.asked < IDLE:
            return
        asked = self.asked
        busy = await self.ask("busy")
        self.asked = asked
        if not busy and not self._waiting:
            self.close()

    def close(self) -> None:
        """End the process now."""
        line, process = self._line, self._process
        self._line = self._process = None
        if line is not None:
            with suppress(OSError, ValueError):
                line.send(None)  # closing is not enough: another thread still reads
            line.close()
        if process is not None:
            process.join(2)
            if process.is_alive():
                process.kill()
        self._fail()

    def kill(self) -> None:
        """End the process at once, whatever it does; the next question starts another."""
        if self._process is not None:
            self._process.kill()
        self._line = self._process = None
        self._fail()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._loop = asyncio.get_running_loop()
        self._line, other_end = context.Pipe()
        self._process = context.Process(target=run_worker, args=(other_end, self.place, self.arguments), daemon=True)
        self._process.start()
        other_end.close()
        threading.Thread(target=self._listen, args=(self._line, self._loop), daemon=True).start()

    def _listen(self, line: Connection, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            try:
                number, good, value = line.recv()
            except (OSError, EOFError):
                break
            loop.call_soon_threadsafe(self._answered, number, good, value)
        if line is self._line and not loop.is_closed():
            loop.call_soon_threadsafe(self._lost, line)

    def _answered(self, number: int, good: Any, value: Any) -> None:
        if number == NEWS:
            for hear in self.heard:
                hear(good, value)
        elif (future := self._waiting.pop(number, None)) is not None and not future.done():
            future.set_result(value) if good else future.set_exception(Refusal(*value))

    def _lost(self, line: Connection) -> None:
        """Handle the death of the process at the other end of ``line``, unless another was started since."""
        if line is self._line:
            self.kill()

    def _fail(self) -> None:
        for fall in self.fallen:
            fall()
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                why = "the process that worked on it ended; ask again"
                future.set_exception(Refusal(HTTPStatus.SERVICE_UNAVAILABLE, why))


def run_worker(line: Connection, place: str, arguments: tuple[Any, ...]) -> None:
    """Run a service in the worker process: answer questions until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends its processes itself
    lock = threading.Lock()

    def send(number: int, good: Any, value: Any) -> None:
        with lock, suppress(OSError):
            line.send((number, good, value))

    module, _, name = place.partition(":")
    service = getattr(import_module(module), name)(lambda topic, value: send(NEWS, topic, value), *arguments)

    def answer(number: int, method: str, given: tuple[Any, ...]) -> None:
        send(number, *outcome(lambda: getattr(service, method)(*given)))

    with ThreadPoolExecutor(THREADS) as threads:
        while True:
            try:
                question = line.recv()
            except (OSError, EOFError):
                service.close()
                os._exit(1)  # the server is gone: nobody waits for what the threads work on
            if question is None:
                break
            threads.submit(answer, *question)
        service.close()
        threads.shutdown(wait=False, cancel_futures=True)


def outcome(call: Callable[[], Any]) -> tuple[bool, Any]:
    """Return whether a question was answered, with the answer or else the status and the reason."""
    try:
        return True, call()
    except InfosetError as error:
        return False, (HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
    except Refusal as error:
        return False, (error.status, error.why)
    except Exception as error:  # a bug of the server: reported, and the process goes on
        sys.excepthook(*sys.exc_info())
        return False, (HTTPStatus.INTERNAL_SERVER_ERROR, f"internal error ({type(error).__name__})")
