"""A queue of work that visitors wait for: equal requests share one job, and visitors take turns.

A *request* is what one visitor waits for, identified by its id; a *job* is the computation, for one or more requests.
The next job is one of the waiting visitor who was served longest ago; a visitor's own jobs keep their order.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from http import HTTPStatus
from itertools import count
from time import monotonic
from typing import Any

from infoset.errors import InfosetError, one_line
from infoset.remote.serving import Refusal

RUNNERS = 2  # jobs at once
MAX_EACH = 50  # jobs of one visitor that wait
MAX_WAITING = 500  # jobs of all visitors that wait
MAX_REQUESTS = 2000  # that are remembered, including those that are over
MAX_VISITORS = 2000  # whose last turn is remembered
ABANDONED = 150.0  # seconds until a request that nobody asks about leaves the queue; hidden tabs ask once a minute


class CancelledError(Exception):
    """Raised in a job that everybody who waited for it has given up."""


class RunningRequest:
    """A computation in a thread; ``line`` reports its progress."""

    def __init__(self, key: Any, work: Callable[[RunningRequest], Any]) -> None:
        self.key = key
        self.work: Callable[[RunningRequest], Any] | None = work
        self.line = "beginning"
        self.points: list[tuple[int, float, float | None]] = []
        self.result: Any = None
        self.failed = ""
        self.error: InfosetError | None = None
        self.started = self.cancelled = False
        self.over = threading.Event()
        self.requests: dict[str, Request] = {}

    def check(self, *_: Any) -> None:
        """Raise ``CancelledError`` once nobody waits for the job any more."""
        if self.cancelled:
            raise CancelledError

    def run(self) -> None:
        """Do the work, and keep its result or its error."""
        work, self.work = self.work, None  # the function may hold much memory, and requests are remembered
        try:
            self.check()
            assert work is not None
            self.result = work(self)
        except CancelledError:
            self.failed = "cancelled"
        except InfosetError as error:
            self.failed, self.error = one_line(str(error), 300), error.with_traceback(None)
        except Refusal as error:
            self.failed = error.why
        except Exception as error:  # a bug of the server: reported, and the server goes on
            self.failed = f"internal error ({type(error).__name__})"
            raise


class Request:
    """A visitor's wait for a job."""

    def __init__(self, visitor: str, job: RunningRequest) -> None:
        self.id, self.visitor, self.job = secrets.token_hex(8), visitor, job
        self.asked = monotonic()
        self.given_up = ""
        """The reason, where the request was given up."""

    @property
    def over(self) -> bool:
        """Whether there is nothing more to wait for."""
        return bool(self.given_up) or self.job.over.is_set()

    @property
    def failed(self) -> str:
        """Why there is no result; "" where there is one, or may still be."""
        return self.given_up or (self.job.failed if self.job.over.is_set() else "")


class Queue:
    """The requests of visitors, and the jobs that run for them."""

    def __init__(self, runners: int = RUNNERS) -> None:
        self.runners = runners
        self.requests: OrderedDict[str, Request] = OrderedDict()
        self.waiting: dict[Any, RunningRequest] = {}  # in order of arrival
        self.running: list[RunningRequest] = []
        self._served: OrderedDict[str, int] = OrderedDict()  # by visitor: the last turn, as a count of jobs
        self._count = count(1)
        self._lock = threading.RLock()

    def ask(self, visitor: str, key: Any, work: Callable[[RunningRequest], Any]) -> Request:
        """Wait for ``job(job)`` with all who wait for an equal ``key``.  Raises ``Refusal`` where a queue is full."""
        with self._lock:
            self._drop_abandoned()
            alike = (job for job in (*self.running, *self.waiting.values()) if job.key == key and not job.cancelled)
            job = next(alike, None)
            if job is None:
                self._check_room(visitor)
                job = self.waiting[key] = RunningRequest(key, work)
            request = self._remember(Request(visitor, job))
            job.requests[request.id] = request
            self._start()
            return request

    def answered(self, visitor: str, key: Any, result: Any) -> Request:
        """Return a request whose ``result`` is known already, so that it does not wait."""
        job = RunningRequest(key, lambda job: result)
        job.line = "at hand"
        job.run()
        job.over.set()
        with self._lock:
            return self._remember(Request(visitor, job))

    def _remember(self, request: Request) -> Request:
        self.requests[request.id] = request
        while len(self.requests) > MAX_REQUESTS and (old := next(iter(self.requests.values()))).over:
            del self.requests[old.id]
        return request

    def _check_room(self, visitor: str) -> None:
        mine = sum(visitor in _visitors(job) for job in self.waiting.values())
        if mine >= MAX_EACH:
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, f"{mine} games of yours wait to be solved; cancel one first")
        if len(self.waiting) >= MAX_WAITING:
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, f"{len(self.waiting):,} games wait to be solved; try later")

    def find(self, number: str) -> Request:
        """Return a request by its id, and note that somebody still waits for it.  Raises ``Refusal``."""
        with self._lock:
            if number not in self.requests:
                raise Refusal(HTTPStatus.NOT_FOUND, f"nothing is being solved as {one_line(number, 40)!r}")
            request = self.requests[number]
            request.asked = monotonic()
            return request

    def place(self, request: Request) -> int:
        """Return a request's place in the queue, from 1; 0 once its job has begun, or there is nothing to wait for."""
        with self._lock:
            if request.over or request.job.started:
                return 0
            return next(k for k, job in enumerate(self._turns(), 1) if job is request.job)

    def line(self, request: Request) -> str:
        """Return the progress of a request, in a few words."""
        if place := self.place(request):
            return f"in the queue: place {place}" + ("" if place > 1 else ", the next")
        return request.job.line

    def forget(self, request: Request) -> None:
        """Forget a request that nobody will ask about again; its job runs to its end."""
        with self._lock:
            self.requests.pop(request.id, None)

    def give_up(self, request: Request, why: str = "cancelled") -> None:
        """Give up a request; a job for which nobody else waits is cancelled."""
        with self._lock:
            if request.over:
                return
            request.given_up, job = why, request.job
            job.requests.pop(request.id, None)
            if not job.requests:
                job.cancelled = True
                if self.waiting.get(job.key) is job:
                    del self.waiting[job.key]
                    job.failed = why
                    job.over.set()

    @property
    def busy(self) -> bool:
        """Whether any job waits or runs."""
        with self._lock:
            return bool(self.waiting or self.running)

    def close(self) -> None:
        """Give up all requests."""
        with self._lock:
            for job in [*self.waiting.values(), *self.running]:
                for request in list(job.requests.values()):
                    self.give_up(request)

    def _drop_abandoned(self) -> None:
        now = monotonic()
        for job in list(self.waiting.values()):
            for request in list(job.requests.values()):
                if now - request.asked > ABANDONED:
                    self.give_up(request, f"cancelled: no request for it for {ABANDONED:g} s")

    def _turns(self) -> Iterator[RunningRequest]:
        """Yield the waiting jobs in the order in which they will begin."""
        lines: dict[str, list[RunningRequest]] = {}
        for job in self.waiting.values():
            for visitor in _visitors(job):
                lines.setdefault(visitor, []).append(job)
        served = {visitor: self._served.get(visitor, 0) for visitor in lines}
        taken: set[int] = set()
        turn = max(self._served.values(), default=0)
        while lines:
            visitor = min(lines, key=served.__getitem__)  # ties go to the earliest arrival
            job = lines[visitor].pop(0)
            if not lines[visitor]:
                del lines[visitor]
            if id(job) in taken:
                continue
            taken.add(id(job))
            turn += 1
            for other in _visitors(job):
                served[other] = turn
            yield job

    def _start(self) -> None:
        while len(self.running) < self.runners:
            self._drop_abandoned()
            job = next(self._turns(), None)
            if job is None:
                return
            del self.waiting[job.key]
            self.running.append(job)
            job.started = True
            turn = next(self._count)
            for visitor in _visitors(job):
                self._served[visitor] = turn
                self._served.move_to_end(visitor)
            while len(self._served) > MAX_VISITORS:
                self._served.popitem(last=False)
            threading.Thread(target=self._run, args=(job,), daemon=True).start()

    def _run(self, job: RunningRequest) -> None:
        try:
            job.run()
        finally:
            with self._lock:
                self.running.remove(job)
                self._start()
                job.over.set()


def _visitors(job: RunningRequest) -> list[str]:
    return list(dict.fromkeys(request.visitor for request in job.requests.values()))
