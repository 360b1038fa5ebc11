"""Explore a hold'em solution in vector form, as the page's worker answers and as a browser shows it."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import infoset
from infoset.errors import ParameterError
from infoset.hand_groups import group_of
from infoset.remote.serving import Refusal
from infoset.solvers.config import HandLock
from infoset.spots import SpotTree
from infoset.web.exploring import Exploring
from infoset.web.schemas import PlaceRequest, RowsRequest, SolveRequest, StrategyRequest, TablePieceRequest, TaskRequest

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

TURN = "holdem(board=QsJh8h5d,bets='75%',raises='100%',cap=2,range1='AA KQs JTs:0.5 76s',range2='QJs AQs 99')"
SOURCE = "item:0/turn.npz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spots")
    infoset.solve(TURN, "dcfr", form="vector", iterations=60).policy.save(path / "turn.npz")
    infoset.solve(TURN, "dcfr", form="vector", iterations=2).policy.save(path / "rough.npz")
    return path


@pytest.fixture(scope="module")
def room(folder: Path) -> Exploring:
    return Exploring((folder,))


@pytest.fixture(scope="module")
def tree(folder: Path) -> SpotTree:
    return SpotTree.of(TURN, str(folder / "turn.npz"))


def node(room: Exploring, source: str = SOURCE, **asked: Any) -> dict[str, Any]:
    for _ in range(600):
        found = room.node(RowsRequest(source, **asked))
        if "waits" not in found:
            return found
    raise AssertionError("not ready")


def test_a_node_has_both_ranges_with_their_figures(room: Exploring, tree: SpotTree) -> None:
    found, shown = node(room, at="0"), tree.node(["check"])
    assert [step["by"] for step in found["steps"]] == [0, 1] and found["steps"][0]["chosen"] == 0
    mover, other = found["groups"]
    assert (mover["player"], other["player"], other["moves"]) == (1, 0, ())
    assert mover["moves"] == shown.tables[1].actions
    every = group_of(shown.tables[1])
    assert mover["range"]["value"] == pytest.approx(every.ev) and mover["range"]["equity"] == pytest.approx(
        every.equity
    )
    row = next(row for row in mover["rows"] if row["label"] == "QdJd")
    place = shown.tables[1].hands.index("QdJd")
    assert row["key"] == "QdJd check" and row["p"] == pytest.approx(shown.tables[1].strategy[place])
    assert row["equity"] == pytest.approx(shown.tables[1].equity[place])
    branches = found["steps"][1]["branches"]
    assert sum(branch["reach"] for branch in branches) == pytest.approx(found["reach"])
    assert {cell["name"] for cell in other["hands"]} == {"AA", "KQs", "JTs", "76s"}
    assert other["hands"][0]["realised"] is not None


def test_the_way_leads_through_cards_and_ends(room: Exploring, tree: SpotTree) -> None:
    chance = node(room, at="0.0")
    step = chance["steps"][-1]
    assert step["by"] == -1 and len(step["branches"]) == 48
    assert sum(branch["reach"] for branch in step["branches"]) == pytest.approx(chance["reach"])
    card = next(branch for branch in step["branches"] if branch["label"] == "Qc")
    after = node(room, at=f"0.0.{card['at']}")
    assert after["reach"] == pytest.approx(card["reach"])
    assert after["groups"][0]["rows"][0]["key"].endswith("[check] check Qc")
    end = node(room, at="1.0")
    assert end["ends"] and end["groups"][0]["range"]["value"] == pytest.approx(50)
    assert [branch["ends"] for branch in node(room, at="1")["steps"][-1]["branches"]] == [True, False, False]
    with pytest.raises(Refusal, match=r"there is no path 0\.7"):
        node(room, at="0.7")


def test_hands_are_filtered_and_refused_filters_say_why(room: Exploring) -> None:
    found = node(room, at="0", find="AQs | two pair")
    assert {row["label"][0] for row in found["groups"][0]["rows"]} == {"A", "Q"}
    assert "did you mean 'two pair'" in node(room, at="0", find="too pair")["refused"]


def test_cards_to_come_are_compared_for_both_players(room: Exploring, tree: SpotTree) -> None:
    found, (one, two) = room.cards(PlaceRequest(SOURCE, at="0.0")), tree.next_cards(["check", "check"])
    assert found["cards"] == one.cards and found["after"] == [pytest.approx(one.ev), pytest.approx(two.ev)]
    assert found["before"] == pytest.approx([one.before, two.before]) and found["moves"] == one.actions
    with pytest.raises(ParameterError, match="no card is dealt after check"):
        room.cards(PlaceRequest(SOURCE, at="0"))


def test_figures_of_the_whole_and_a_comparison(room: Exploring, folder: Path) -> None:
    for _ in range(600):
        told = room.values(StrategyRequest(SOURCE))
        if told["evaluation"]:
            break
        time.sleep(0.02)
    exact = infoset.evaluate(TURN, str(folder / "turn.npz"))
    assert told["evaluation"]["exploitability"] == pytest.approx(exact.exploitability)
    found = node(room, at="0", other="item:0/rough.npz")
    rough = SpotTree.of(TURN, str(folder / "rough.npz")).node(["check"]).tables[1]
    assert [row["q"] for row in found["groups"][0]["rows"]] == [pytest.approx(row) for row in rough.strategy]
    with pytest.raises(ParameterError, match="compared node by node"):
        room.differences(PlaceRequest(SOURCE, "item:0/rough.npz"))


def test_the_hands_of_a_node_are_saved(room: Exploring) -> None:
    text, more = room.csv(TablePieceRequest(SOURCE, at="0"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert more is None and {row["player"] for row in rows} == {"1", "2"}
    assert {row["action"] for row in rows if row["player"] == "1"} == {""}


def test_hands_are_locked_and_solved_again(room: Exploring) -> None:
    lock = HandLock("P2", {"check": 1.0}, "check", "AQs")
    task = room.solve(SolveRequest(source=SOURCE, method="dcfr", iterations=20, hands=[lock]))["task"]
    assert room.queue.find(task).job.over.wait(60)
    answer = room.task(TaskRequest(task))
    assert not answer["failed"] and answer["source"].startswith("lock:")
    found = node(room, answer["source"], at="0")
    locked = [row for row in found["groups"][0]["rows"] if row.get("locked")]
    assert len(locked) == 3 and all(row["p"] == pytest.approx([1, 0]) for row in locked)


@pytest.fixture(scope="module")
def link(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "infoset", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found
        yield found[0]
        process.terminate()


def test_a_person_walks_through_the_streets(chromium: Any, link: str) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    page, wrong = context.new_page(), list[str]()
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    base, token = link.split("/#", maxsplit=1)[0], link.split("token=")[1]
    page.goto(f"{base}/#/explore?item=0/turn.npz&token={token}")
    page.locator("table.ex-hands").nth(1).wait_for()
    assert page.locator("main h1").inner_text() == "Qs Jh 8h 5d, pot 100, stacks 200"
    assert page.locator(".ex-ranges h2").all_inner_texts()[0].startswith("P1 to move")
    page.locator(".ex-segments button", has_text="Equity").click()
    playwright.expect(page.locator("table.ex-hands").first.locator("td small").first).to_have_text(re.compile(r"\d+"))
    for _ in range(2):
        page.locator(".ex-step.ex-here button", has_text="check").click()
        page.wait_for_timeout(100)
        page.locator(".ex-step.ex-here", has_text=re.compile("P2|chance")).wait_for()
    page.locator('.ex-cards button[title^="Kh;"]').click()
    playwright.expect(page.locator(".ex-step")).to_have_count(4)
    page.locator("summary", has_text="Lock").click()
    page.locator("input[type=search]").fill("AA")
    page.get_by_role("button", name=re.compile("Lock the . hands shown")).wait_for()
    page.get_by_role("button", name=re.compile("Lock the . hands shown")).click()
    playwright.expect(page.locator(".ex-locks li")).to_have_text(re.compile("P1 after check, check, Kh: AA — check"))
    context.close()
    assert not wrong
