"""What the page shows, in a browser: rules, tables of payoffs, hands, files of games, who is not offered."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import infoset
from infoset.view.guide import guide

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group 'test')")
pytest.importorskip("starlette", reason="the extra 'web' is not installed")

PATIENCE = 60_000  # milliseconds
SEXES = (
    'NFG 1 R "Battle of the sexes" { "Ann" "Bob" }\n{ { "opera" "boxing" } { "opera" "boxing" } }\n\n3 2 0 0 0 0 2 3\n'
)


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("artifacts")
    (folder / "bos.nfg").write_text(SEXES)
    infoset.convert("kuhn_poker", folder / "kuhn.efg")
    infoset.solve(str(folder / "bos.nfg"), "lcp", out=folder / "sexes")
    infoset.solve("holdem_river", "pcfr+", iterations=30).policy.save(folder / "river.npz")
    infoset.solve("kuhn_poker", "cfr", iterations=30, out=folder / "curve")
    infoset.solve("kuhn_poker", "lp", out=folder / "point")  # newer, and no curve
    command = [sys.executable, "-m", "infoset", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found
        yield found[0]
        process.terminate()


@pytest.fixture
def page(chromium: Any, link: str) -> Iterator[Any]:
    """A page, on which nothing may go wrong."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    found, wrong = context.new_page(), list[str]()
    found.set_default_timeout(PATIENCE)
    playwright.expect.set_options(timeout=PATIENCE)
    found.on("pageerror", lambda error: wrong.append(str(error)))
    base, record = link.split("/#/", maxsplit=1)[0], link.split("token=")[1]
    found.goto(f"{base}/#/?token={record}")
    found.locator("main h1").first.wait_for()
    found.view = lambda address: found.goto(f"{base}/#/{address}")
    yield found
    context.close()
    playwright.expect.set_options(timeout=5000)
    assert not wrong


def test_rules_stand_beside_the_game_and_say_what_the_terminal_says(page: Any) -> None:
    page.view("play?game=kuhn_poker")
    page.locator(".rules dd").first.wait_for()
    told = guide("kuhn_poker")
    assert page.locator(".rules dt").all_inner_texts() == [title for title, _ in told.parts]
    assert page.locator(".rules dd").all_inner_texts() == [text for _, text in told.parts]
    assert page.locator(".rules li").all_inner_texts() == [*told.example]


def test_files_of_games_are_listed_and_who_cannot_play_is_said(page: Any) -> None:
    page.locator(".artifacts a", has_text="Battle of the sexes").first.click()
    playwright.expect(page.locator("main h1")).to_have_text("Battle of the sexes")
    offered = page.locator(".seat-row select").first.locator("option").all_inner_texts()
    assert "sexes" in " ".join(offered) and "simple" not in offered and "river.npz" not in " ".join(offered)
    page.locator(".unfit summary").click()
    said = page.locator(".unfit li").all_inner_texts()
    assert any(line.endswith("made for Pommerman") for line in said)
    assert any("river.npz" in line and "for holdem_river" in line for line in said)


def test_a_one_shot_game_is_played_and_explored_on_its_table(page: Any) -> None:
    page.view("play?game=0/bos.nfg&against=random")
    page.locator("table.payoffs button", has_text="boxing").click()
    page.locator("table.payoffs td.here").wait_for()
    assert page.locator("table.payoffs td.equilibrium").count() == 2
    page.view("explore?item=0/sexes")
    page.locator(".equilibria li").first.wait_for()
    assert page.locator(".equilibria h3").inner_text() == "3 extreme equilibria, 3 components"
    assert page.locator("table.payoffs tbody td").first.inner_text() == "3,2"
    assert page.locator("table.payoffs .best").count() == 4


def test_hands_are_a_matrix_with_chances_and_values(page: Any) -> None:
    page.view("explore?item=0/river.npz")
    page.locator("table.ex-hands").first.wait_for()
    first, other = page.locator("table.ex-hands").all()
    assert first.locator("td").count() == other.locator("td").count() == 169
    assert first.locator("td[data-hand]").count() == other.locator("td[data-hand]").count() == 5
    assert page.locator(".ex-legend span").all_inner_texts()[:3] == ["check", "bet 50", "bet 100"]
    page.locator("table.ex-hands td[data-hand]").first.hover()
    playwright.expect(page.locator("aside .ex-key").first).to_have_text("P1: AA")
    page.locator(".ex-segments button", has_text="Value").click()
    playwright.expect(page.locator("table.ex-hands td small").first).to_have_text(re.compile(r"[+−]\d"))


def test_hands_are_chosen_by_a_filter_and_by_their_kind(page: Any) -> None:
    page.view("explore?item=0/river.npz")
    search = page.locator("input[type=search]")
    playwright.expect(search).to_have_attribute("placeholder", re.compile("top pair"))
    search.fill("AA, suit:c | JTs")
    playwright.expect(page.locator("table.ex-hands").first.locator("td[data-hand]")).to_have_count(2)
    search.fill("tops pair")
    playwright.expect(page.locator(".ex-empty")).to_have_text(re.compile("did you mean 'top pair'"))
    search.fill("")
    page.locator(".ex-kinds button", has_text="overpair").first.click()
    playwright.expect(search).to_have_value("overpair")
    playwright.expect(page.locator("table.ex-hands").first.locator("td[data-hand]")).to_have_count(1)


def test_moves_on_offer_do_not_look_like_steps(page: Any) -> None:
    page.view("play?game=0/kuhn.efg&against=random")
    page.locator(".picture .offers li").nth(1).wait_for()
    before = "item => getComputedStyle(item, '::before').content"
    assert page.locator(".picture .offers li").nth(1).evaluate(before) == "none"


def test_the_five_cards_of_the_board_lie_in_a_row(page: Any) -> None:
    page.view("play?game=holdem_river&against=random")
    page.locator(".moves button").first.wait_for()
    cards = page.locator(".picture .table .hand").last.locator(".card")
    boxes = [cards.nth(k).bounding_box() for k in range(cards.count())]
    assert len(boxes) == 5
    assert len({box["y"] for box in boxes}) == 1


def test_curves_open_on_a_run_that_has_one(page: Any) -> None:
    page.view("curves")
    page.locator("svg.chart path").first.wait_for()
    assert page.locator(".legend li.chosen").count() == 1
    assert "cfr" in page.locator(".legend li.chosen").inner_text()


def test_hexagons_can_be_pressed(page: Any) -> None:
    page.view("play?game=dark_hex&against=random")
    page.locator(".board.hexagons td button").nth(4).click()
    page.locator(".board.hexagons .piece.x").wait_for()


def test_every_other_square_of_a_checkered_board_is_shaded(page: Any) -> None:
    page.view("play?game=gdl:breakthrough&against=random")
    page.locator(".board.checkered td").first.wait_for()
    color = "cells => cells.map(cell => getComputedStyle(cell).backgroundColor)"
    rows = [row.locator("td").evaluate_all(color) for row in page.locator(".board.checkered tbody tr").all()]
    dark, light = rows[0][0], rows[0][1]
    assert dark != light
    for y, row in enumerate(rows):
        assert row == [light if (x + y) % 2 else dark for x in range(len(row))]


def test_the_board_stays_in_sight_while_the_rules_are_read(page: Any) -> None:
    page.view("play?game=kuhn_poker&against=random")
    actions = page.locator(".moves button").first
    actions.wait_for()
    before = actions.bounding_box()
    page.locator(".table-view .rules summary").click()
    page.locator(".table-view .rules dd").first.wait_for()
    assert actions.bounding_box() == before
    assert before["y"] + before["height"] < page.viewport_size["height"]


def test_the_end_says_how_much_was_won_or_lost(page: Any) -> None:
    page.view("play?game=0/bos.nfg&against=random")  # everybody is paid 0, 2 or 3
    page.locator("table.payoffs button", has_text="boxing").click()
    playwright.expect(page.locator(".end h2")).to_have_text(re.compile(r"^(You won [23]|A draw 0)$"))
    page.view("play?game=kuhn_poker&against=random&seed=1")
    while page.locator(".end h2").count() == 0:
        page.locator(".moves button:visible, .end h2").first.click()
    playwright.expect(page.locator(".end h2")).to_have_text(re.compile(r"^You (won|lost) [12]$"))


def test_a_link_that_only_this_machine_can_open_is_called_that(page: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.view("play?game=kuhn_poker")
    page.get_by_role("button", name="Copy a link for a class").click()
    playwright.expect(page.locator(".begin")).to_contain_text(
        "Only this machine can open it: infoset serve --host 0.0.0.0"
    )
    assert "#/play?game=kuhn_poker&against=equilibrium&token=" in page.evaluate("navigator.clipboard.readText()")


def test_a_person_plays_hanabi_beside_agents(page: Any) -> None:
    """The own cards lie face down, and a hint marks what it names."""
    page.view("play?game=hanabi(players=3)")
    page.locator(".seat-row select").first.wait_for()
    chosen = [select.input_value() for select in page.locator(".seat-row select").all()]
    assert chosen == ["human", "hat-guessing", "hat-guessing"]
    page.view("play?game=hanabi(players=3)&against=hat-guessing&seed=1")
    page.locator(".moves button", has_text="hint +1 1").click()
    playwright.expect(page.locator(".past")).to_contain_text("you hint 1: P2's card 1")
    playwright.expect(page.locator(".moves button", has_text="discard 1")).to_be_visible()  # the others have moved
    hands = page.locator(".picture .table dt.seat + .hand")
    assert hands.nth(0).locator(".card.back").count() == 5
    assert [hands.nth(k).locator(".card").count() for k in range(3)] == [5, 5, 5]
    assert page.locator(".picture .card.back").count() == 5
    assert page.locator(".picture dt").nth(1).inner_text() == "P2 (+1)"
    assert page.locator(".picture .stack").count() == 5 and page.locator(".picture .marked").count() >= 1
    first = hands.nth(1).locator(".told").first
    assert re.match("red 4;.* known: 2345", first.locator(".card").get_attribute("aria-label"))
    assert first.locator(".below").all_text_contents() == ["", "2345"]
