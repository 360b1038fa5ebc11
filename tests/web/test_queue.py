"""The queue of what visitors wait for: equal wishes are one job, visitors take turns, nobody is stuck or refused."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from infoset.errors import BudgetError
from infoset.remote.serving import Refusal
from infoset.web import queue as queues
from infoset.web.queue import Queue, Request, RunningRequest

PATIENCE = 20.0


class Work:
    """Jobs that begin and end when the test says so."""

    def __init__(self, runners: int = 1) -> None:
        self.queue = Queue(runners)
        self.begun: list[Any] = []
        self.go: dict[Any, threading.Event] = {}

    def ask(self, visitor: str, key: Any) -> Request:
        go = self.go.setdefault(key, threading.Event())

        def work(job: RunningRequest) -> Any:
            self.begun.append(key)
            while not go.wait(0.005):
                job.check()
            return f"answer to {key}"

        return self.queue.ask(visitor, key, work)

    def finish(self, *requests: Request) -> None:
        for request in requests:
            self.go[request.job.key].set()
        for request in requests:
            assert request.job.over.wait(PATIENCE)

    def places(self, *requests: Request) -> list[int]:
        return [self.queue.place(request) for request in requests]


@pytest.fixture
def work() -> Iterator[Work]:
    found = Work()
    yield found
    found.queue.close()


def test_thirty_visitors_wait_in_the_order_in_which_they_came_and_all_are_served(work: Work) -> None:
    requests = [work.ask(f"visitor {k}", k) for k in range(30)]
    assert work.places(*requests) == list(range(30))
    assert work.queue.line(requests[1]) == "in the queue: place 1, the next"
    assert work.queue.line(requests[29]) == "in the queue: place 29"
    work.finish(requests[0])
    assert work.places(*requests[1:]) == list(range(29))
    work.finish(*requests)
    assert work.begun == list(range(30))
    assert all(request.over and not request.failed for request in requests)
    assert not work.queue.busy


def test_equal_wishes_share_one_job(work: Work) -> None:
    first = work.ask("a", "other")
    many = [work.ask(f"visitor {k}", "kuhn") for k in range(30)]
    assert work.places(*many) == [1] * 30
    assert len({request.id for request in many}) == 30
    work.finish(first, many[0])
    assert work.begun == ["other", "kuhn"]
    assert {request.job.result for request in many} == {"answer to kuhn"}


def test_visitors_take_turns_and_each_one_s_requests_keep_their_order(work: Work) -> None:
    greedy = [work.ask("greedy", f"g{k}") for k in range(5)]
    others = [work.ask("b", "b1"), work.ask("c", "c1"), work.ask("b", "b2")]
    assert work.places(*greedy, *others) == [0, 3, 5, 6, 7, 1, 2, 4]
    work.finish(*greedy, *others)
    assert work.begun == ["g0", "b1", "c1", "g1", "b2", "g2", "g3", "g4"]


def test_who_came_first_with_much_lets_others_pass() -> None:
    work = Work(runners=2)
    mine = [work.ask("a", k) for k in range(3)]
    other = work.ask("b", "b")
    assert work.places(*mine, other) == [0, 0, 2, 1]
    work.finish(*mine, other)


def test_who_cancels_waits_no_longer_and_others_wait_on(work: Work) -> None:
    first, mine, alone = work.ask("a", "x"), work.ask("b", "x"), work.ask("b", "y")
    work.queue.give_up(mine)
    assert mine.over and mine.failed == "cancelled" and not first.over
    work.queue.give_up(alone)
    assert alone.job.over.is_set() and work.places(first) == [0]
    work.queue.give_up(first)  # the last one: the job ends
    assert first.job.over.wait(PATIENCE) and first.job.failed == "cancelled"
    again = work.ask("a", "x")  # a new job, and no part of what was given up
    work.finish(again)
    assert again.job is not first.job and again.job.result == "answer to x"


def test_the_same_wish_asked_while_its_job_is_being_ended_begins_anew() -> None:
    queue, entered, leave = Queue(1), threading.Event(), threading.Event()

    def slow(job: RunningRequest) -> str:
        entered.set()
        assert leave.wait(PATIENCE)
        job.check()
        return "never"

    first = queue.ask("a", "x", slow)
    assert entered.wait(PATIENCE)
    queue.give_up(first)
    second = queue.ask("a", "x", lambda job: "answer")
    assert queue.place(second) == 1
    leave.set()
    assert second.job.over.wait(PATIENCE) and second.job.result == "answer"


def test_who_never_asks_again_leaves_the_queue(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(queues, "monotonic", lambda: now[0])
    running, gone, here = work.ask("a", "x"), work.ask("b", "gone"), work.ask("c", "here")
    now[0] += queues.ABANDONED - 1
    work.queue.find(here.id)
    now[0] += 2
    work.ask("d", "new")
    assert gone.over and "no request for it" in gone.failed
    assert not running.over and not here.over  # what has begun goes to its end


def test_what_failed_is_told_to_all_and_may_be_tried_again(work: Work) -> None:
    def broken(job: RunningRequest) -> None:
        raise BudgetError("too large")

    running = work.ask("z", "z")
    requests = [work.queue.ask(visitor, "x", broken) for visitor in "ab"]
    work.finish(running)
    assert requests[0].job.over.wait(PATIENCE)
    assert [request.failed for request in requests] == ["too large"] * 2
    again = work.ask("a", "x")
    work.finish(again)
    assert not again.failed


def test_no_visitor_fills_the_queue(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "MAX_EACH", 3)
    requests = [work.ask("a", k) for k in range(4)]
    with pytest.raises(Refusal, match="3 of your requests are in the queue; cancel one first"):
        work.ask("a", "more")
    work.ask("b", "b")
    work.queue.give_up(requests[2])
    work.ask("a", "more")


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "MAX_REQUESTS", 10)
    queue = Queue()
    sequence_at = [queue.answered("a", k, k) for k in range(30)]
    assert len(queue.requests) == 10 and queue.find(sequence_at[-1].id).job.result == 29
    with pytest.raises(Refusal, match="nothing is being solved"):
        queue.find(sequence_at[0].id)
