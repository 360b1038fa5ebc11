"""The page that ``infoset serve`` serves, driven in a browser: play, watch, explore, compete, curves."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import infoset

PATIENCE = 30_000  # milliseconds
BLIND, POMMERMAN = "gdl:blind_tic_tac_toe", "pommerman:OneVsOne-v0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What there is to look at: a run, replays of three kinds, a tournament."""
    runs = tmp_path_factory.mktemp("served") / "runs"
    infoset.solve("leduc_poker", "dcfr", iterations=500, out=runs / "leduc")
    infoset.solve("kuhn_poker", "cfr", iterations=500, out=runs / "kuhn")
    for name, agents in (("kuhn_poker", ["random"] * 2), (BLIND, ["random"] * 2), (POMMERMAN, ["simple", "simple"])):
        match = infoset.play_match(name, agents, seed=3)
        match.save(runs / "games" / f"{re.sub('[^a-z]+', '-', name.lower())}.json")
    infoset.tournament("kuhn_poker", ["random", str(runs / "leduc" / ".." / "kuhn")], games=20, db=runs / "cup.db")
    return runs


class Server:
    """``infoset serve`` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "infoset", "serve", str(folder), "--port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        found = re.search(r"(http://127.0.0.1:\d+)/#/\?token=(\S+)", self.process.stderr.readline())
        assert found
        self.base, self.record = found[1], found[2]


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    found = Server(folder)
    yield found
    found.process.terminate()
    found.process.wait(10)
    assert found.process.stderr is not None
    found.process.stderr.close()


@pytest.fixture
def page(chromium: Any, server: Server) -> Iterator[Any]:
    """A page that knows the record; nothing may go wrong in it, nor be asked of another host."""
    context = chromium.new_context(viewport={"width": 1200, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda request: (
            wrong.append(request.url) if not request.url.startswith((server.base, "data:", "blob:")) else None
        ),
    )
    page.goto(f"{server.base}/#/?token={server.record}")
    page.wait_for_selector("h1")
    yield page
    context.close()
    assert wrong == []


def show(page: Any, server: Server, view: str) -> None:
    page.goto(f"{server.base}/#/{view}")


def finish(page: Any, action: str = "1") -> None:
    """Make the first move that there is until the game is over."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not page.locator(".end").is_visible():
        assert time.monotonic() < deadline, page.locator(".log").inner_text()
        if page.locator(".moves button").count():
            page.keyboard.press(action)
        page.wait_for_timeout(60)


def test_a_whole_game_of_kuhn_poker_against_the_equilibrium(page: Any, server: Server, folder: Path) -> None:
    show(page, server, "play?game=kuhn_poker&against=equilibrium&seed=5")
    page.locator(".moves button").first.wait_for()
    card = page.locator(".seen").inner_text()
    finish(page)
    assert page.locator(".who .pay").count() == 2
    assert card.split()[0] == "P1"
    kept = [infoset.Match.load(path) for path in folder.rglob("played/*.json") if "kuhn" in path.read_text()[:200]]
    assert any(match.over and match.agents[0] == "human" for match in kept)
    for match in kept:
        infoset.replay_states(match)


def test_blind_tic_tac_toe_is_played_on_its_board(page: Any, server: Server) -> None:
    show(page, server, f"play?game={BLIND}&against=random&seed=2")
    page.locator(".moves button").first.wait_for()
    page.locator(".seen button").nth(4).click()  # a cell of the board
    finish(page)
    assert page.locator(".log li").count() >= 3


def test_pommerman_by_keyboard(page: Any, server: Server) -> None:
    show(page, server, f"play?game={POMMERMAN}&against=simple&seed=1")
    page.locator(".seen canvas").first.wait_for()
    deadline = time.monotonic() + 60
    while not page.locator(".end").is_visible():
        assert time.monotonic() < deadline
        page.keyboard.press("Space")  # who lays bombs and stays is soon gone
        page.wait_for_timeout(150)
    assert page.locator(".who .pay").count() == 2


@pytest.mark.parametrize("name", ["kuhn-poker", "gdl-blind-tic-tac-toe", "pommerman-onevsone-v-"])
def test_replays_are_watched(page: Any, server: Server, name: str) -> None:
    show(page, server, f"watch?item=0/games/{name}.json")
    scrub = page.locator("input[type=range]").first
    scrub.wait_for()
    last = int(scrub.get_attribute("max") or 0)
    page.keyboard.press("End")
    page.wait_for_timeout(100)
    assert int(scrub.input_value()) == last > 0
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(300)
    assert int(scrub.input_value()) == last - 1


def test_a_match_is_watched_live(page: Any, server: Server) -> None:
    body = {"game": POMMERMAN, "agents": ["simple", "simple"], "seed": 4, "pace": 12}
    opened = page.request.post(
        f"{server.base}/api/tables", data=body, headers={"x-infoset-token": server.record}
    ).json()
    show(page, server, f"watch?table={opened['table']}")
    player = page.locator(".player")
    player.wait_for()
    before = int(player.get_attribute("data-step") or 0)
    page.wait_for_timeout(1500)
    assert int(player.get_attribute("data-step") or 0) >= before + 8  # of 12 a second


def test_a_bluff_is_found_locked_and_solved_again(page: Any, server: Server, folder: Path) -> None:
    """What the page says after locking is what the library says, to the last digit."""
    show(page, server, "explore?item=0/leduc")
    row = page.locator("table.ex-matrix tbody tr", has_text="Jh").first
    row.wait_for()
    policy = infoset.TabularPolicy.load(folder / "leduc" / "policy.npz")
    bluff = policy.probabilities(0, "Jh")["raise"]
    assert f"{100 * bluff:.1f}" in row.inner_text()
    row.click()
    page.locator("details summary", has_text="Lock").click()
    page.get_by_label("chance of raise in percent").fill("50")
    page.get_by_role("button", name="Lock these probabilities").click()
    page.get_by_label("Method").select_option("pcfr+")
    page.get_by_role("button", name="Solve again").click()
    page.wait_for_url(re.compile("lock="))
    page.get_by_text("Exploitability of the rest").wait_for()
    figures = page.locator("table.ex-figures")
    deadline = time.monotonic() + PATIENCE / 1000
    while not re.search(r"P1 is paid\s+[−+]?\d", figures.inner_text()):
        assert time.monotonic() < deadline, figures.inner_text()
        page.wait_for_timeout(100)
    lock = {("P1", "Jh"): {"call": 0.5, "raise": 0.5}}
    same = infoset.solve("leduc_poker", "pcfr+", lock=lock, target=1e-4, seconds=30)
    shown = re.search(r"P1 is paid\s+([−+]?[\d.]+)", figures.inner_text())
    assert shown and same.values
    assert float(shown[1].replace("−", "-")) == pytest.approx(same.values[0], abs=5e-7)


def test_a_tournament_leads_to_its_games(page: Any, server: Server) -> None:
    show(page, server, "compete?item=0/cup.db")
    page.get_by_text("random").first.wait_for()
    cell = page.locator("td a, td button").first
    cell.click()
    page.locator("a[href*='match=']").first.click()
    page.locator("input[type=range]").first.wait_for()


def test_curves_say_exact_numbers(page: Any, server: Server) -> None:
    show(page, server, "curves?item=0/leduc&item=0/kuhn")
    page.get_by_text("dcfr").first.wait_for()
    page.locator("main svg path").first.wait_for()


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize(
    "view",
    [
        "",
        "play",
        "play?game=kuhn_poker",
        "watch",
        "explore",
        "compete",
        "curves",
        "explore?item=0/leduc",
        "compete?item=0/cup.db",
    ],
)
def test_nothing_is_wider_than_the_window_and_all_has_a_name(page: Any, server: Server, view: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    show(page, server, view)
    page.locator("main h1").first.wait_for()
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, a, input, select')].filter((e) => e.offsetParent !== null"
        " && !(e.ariaLabel || e.innerText?.trim() || e.title || e.labels?.length || e.textContent.trim())).map((e) => e.outerHTML)"
    )
    assert nameless == []


def test_a_page_is_small(chromium: Any, server: Server) -> None:
    """Of a browser that has nothing yet: what is kept from before would not be sent again."""
    context = chromium.new_context()
    page, sizes = context.new_page(), list[int]()
    page.on("response", lambda response: sizes.append(int(response.headers.get("content-length", 0))))
    page.goto(f"{server.base}/#/play?token={server.record}")
    page.locator("main h1").first.wait_for()
    context.close()
    assert len(sizes) > 8
    assert 50_000 < sum(sizes) < 300_000
