"""Waiting in a browser: a place in the queue, cancelling, trying again, and answers that find their asker elsewhere."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group 'test')")
pytest.importorskip("starlette", reason="the extra 'web' is not installed")

import infoset  # noqa: E402

PATIENCE = 60_000  # milliseconds
LONG = {"source": "game:leduc_poker", "method": "cfr", "seconds": 600}
LOCKED = {"P1": {"J": {"pass": 0.5, "bet": 0.5}}}


class Server:
    """A server, and others who ask it to solve what takes for ever."""

    def __init__(self, link: str) -> None:
        found = re.match(r"(http://127.0.0.1:(\d+))/#/\?token=(\S+)", link)
        assert found
        self.base, self.port, self.record = found[1], int(found[2]), found[3]
        self.busy: list[str] = []

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        line.request("POST", f"/api/explore/{path}", json.dumps(body), {"x-infoset-token": self.record})
        answer = line.getresponse()
        told = json.loads(answer.read())
        line.close()
        assert answer.status == 200, told
        return dict(told)

    def keep_busy(self) -> None:
        """As many long jobs as are worked on at once."""
        self.busy += [self.post("solve", **LONG, iterations=10**7 - k)["task"] for k in range(2)]

    def set_free(self) -> None:
        while self.busy:
            self.post("cancel", task=self.busy.pop())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("shelf")
    infoset.solve("kuhn_poker", "lp").policy.save(folder / "kuhn.npz")
    command = [sys.executable, "-m", "infoset", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found
        yield Server(found[0])
        process.terminate()


@pytest.fixture
def page(chromium: Any, server: Server) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1200, "height": 800})
    found, wrong = context.new_page(), list[str]()
    found.set_default_timeout(PATIENCE)
    playwright.expect.set_options(timeout=PATIENCE)
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.goto(f"{server.base}/#/curves?token={server.record}")
    yield found
    context.close()
    server.set_free()
    playwright.expect.set_options(timeout=5000)
    assert not wrong


def show(page: Any, place: str) -> None:
    page.evaluate(f"location.hash = {json.dumps(place)}")


def test_a_place_in_the_queue_is_shown_and_what_was_cancelled_can_be_tried_again(
    page: Any, server: Server, tmp_path: Path
) -> None:
    server.keep_busy()
    show(page, "#/explore?game=tiny_hanabi")
    line = page.locator("#main .ex-progress")
    playwright.expect(line).to_have_text(re.compile("In the queue: place 1, the next"))
    page.screenshot(path=tmp_path / "queue.png")
    page.get_by_role("button", name="Cancel").click()
    playwright.expect(line).to_have_text("Cancelled.")
    page.get_by_role("button", name="Try again").click()
    playwright.expect(line).to_have_text(re.compile("In the queue: place 1"))
    server.set_free()
    page.locator("tr[data-row]").first.wait_for()


def test_what_is_ready_is_offered_where_its_asker_looks_by_then(page: Any, server: Server, tmp_path: Path) -> None:
    server.keep_busy()
    show(page, "#/explore?game=rock_paper_scissors")
    page.locator("#main .ex-progress", has_text="In the queue").wait_for()
    show(page, "#/play")
    page.locator("#main h1", has_text="Play").wait_for()
    notice = page.locator("#tray section")
    playwright.expect(notice).to_contain_text("In the queue: place 1")
    page.screenshot(path=tmp_path / "tray.png")
    server.set_free()
    playwright.expect(notice).to_contain_text("Ready.")
    assert page.url.endswith("#/play") and page.locator("#main .explore").count() == 0
    page.screenshot(path=tmp_path / "ready.png")
    notice.get_by_role("button", name="Show it").click()
    page.wait_for_url(re.compile("game=rock_paper_scissors"))
    page.locator("tr[data-row]").first.wait_for()
    assert notice.count() == 0


def test_what_is_asked_for_again_is_not_offered_below_as_well(page: Any, server: Server) -> None:
    server.keep_busy()
    for _ in range(2):
        show(page, "#/explore?game=matching_pennies_3p")
        page.locator("#main .ex-progress", has_text="In the queue").wait_for()
        show(page, "#/curves")
        page.locator("#main h1", has_text="Curves").wait_for()
        page.locator("#tray section", has_text="In the queue").wait_for()
        assert page.locator("#tray section").count() == 1
    show(page, "#/explore?game=matching_pennies_3p")
    page.locator("#main .ex-progress", has_text="In the queue").wait_for()
    playwright.expect(page.locator("#tray section")).to_have_count(0)
    server.set_free()
    page.locator("tr[data-row]").first.wait_for()
    assert page.locator("#tray section").count() == 0


def test_an_answer_does_not_take_who_asked_away_from_another_place(page: Any, server: Server) -> None:
    show(page, "#/explore?item=0/kuhn.npz")
    page.locator('td[aria-label^="J, bet"]').click()
    page.locator("summary", has_text="Lock and solve again").click()
    page.get_by_label("chance of bet in percent").fill("50")
    page.get_by_role("button", name="Lock these probabilities").click()
    server.keep_busy()
    page.get_by_role("button", name="Solve again").click()
    page.locator("#main .ex-progress", has_text="In the queue").wait_for()
    page.locator(".ex-step.ex-here button", has_text="bet").click()
    page.locator("h2", has_text="P2 to move").wait_for()
    here = page.url
    server.set_free()
    notice = page.locator("#tray section", has_text="around what is locked")
    playwright.expect(notice).to_contain_text("Ready.")
    assert page.url == here
    notice.get_by_role("button", name="Show it").click()
    page.wait_for_url(re.compile("lock="))
    page.locator("tr:has(th.ex-locked)").wait_for()


def test_who_waits_where_the_question_was_asked_gets_the_answer_there(page: Any, server: Server) -> None:
    server.keep_busy()
    show(page, "#/explore?item=0/kuhn.npz")
    page.locator("summary", has_text="Lock and solve again").click()
    page.get_by_label("Method").select_option("cfr+")
    page.get_by_role("button", name="Solve again").click()
    page.locator("#main .ex-progress", has_text="In the queue").wait_for()
    server.set_free()
    page.wait_for_url(re.compile("solved="))
    page.locator("header", has_text="cfr+").wait_for()
    assert page.locator("#tray section").count() == 0


def test_a_table_waits_in_the_queue_until_its_person_cancels(page: Any, server: Server) -> None:
    show(page, "#/play?game=openspiel:nothing&against=equilibrium")
    page.locator(".complaint").wait_for()
    show(page, "#/play?game=goofspiel(num_cards=5)&against=equilibrium")
    page.locator(".note", has_text="One moment").wait_for()
    playwright.expect(page.locator(".side h1")).to_contain_text("Goofspiel")
    page.locator(".side .rules summary").click()
    page.locator(".side .rules dd").first.wait_for()
    page.locator(".note").get_by_role("button", name="Cancel").click()
    page.locator(".note", has_text="Left before the game began").wait_for()
    page.get_by_role("link", name="Try again").click()
    page.locator("h1", has_text="Goofspiel").wait_for()


def test_a_question_that_was_refused_is_asked_again_and_the_person_is_told(page: Any) -> None:
    """The server says when to ask again: it did nothing yet."""
    refused: list[str] = []

    def answer(route: Any) -> None:
        if len(refused) < 3:
            refused.append(route.request.url)
            route.fulfill(status=429, headers={"retry-after": "1"}, json={"error": "too many requests"})
        else:
            route.continue_()

    page.route("**/api/**", answer)
    page.goto(f"{page.url.partition('#')[0]}#/explore")
    playwright.expect(page.locator("#tray .busy")).to_contain_text("trying again")
    playwright.expect(page.locator("#main")).to_contain_text("kuhn.npz")
    playwright.expect(page.locator("#tray .busy")).to_have_count(0)
    assert len(refused) == 3
