"""Explore in a browser: a bluff is found, locked and answered; keys, comparison, a phone's width."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import infoset
from infoset.policies.tabular import TabularPolicy

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group 'test')")
pytest.importorskip("starlette", reason="the extra 'web' is not installed")


HOSTILE = '<img src=x onerror="window.harmed=1"></script>'
AFTER_A_BET = "0.1"  # P1 calls, P2 raises
PATIENCE = 20_000  # milliseconds


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shelf")
    infoset.solve("leduc_poker", "dcfr", iterations=100).policy.save(path / "leduc.npz")
    infoset.solve("leduc_poker", "cfr", iterations=3).policy.save(path / "rough.npz")
    table = {f"{HOSTILE} {k}": {HOSTILE: 0.25, "go": 0.75} for k in range(30_000)}
    TabularPolicy("nowhere", (HOSTILE, "P2"), (table, {}), made_by={"method": HOSTILE}).save(path / "hostile.npz")
    return path


@pytest.fixture(scope="module")
def link(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "infoset", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found
        yield found[0]
        process.terminate()


class Visit:
    """A page of Explore with everything that went wrong in it."""

    def __init__(self, chromium: Any, link: str, address: str, **options: Any) -> None:
        self.context = chromium.new_context(**{"viewport": {"width": 1400, "height": 1000}, **options})
        self.page, self.wrong = self.context.new_page(), list[str]()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", self._hear)
        base = link.split("/#", maxsplit=1)[0]
        self.page.on(
            "request", lambda r: self.wrong.append(r.url) if not r.url.startswith((base, "blob:", "data:")) else 0
        )
        self.page.goto(f"{base}/#/explore?{address}&token={link.split('token=')[1]}")

    def _hear(self, message: Any) -> None:
        """Refusals are told in the page's own words, too."""
        if message.type == "error" and "422" not in message.text:
            self.wrong.append(message.text)

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, kind: object, *_: object) -> None:
        self.context.close()
        assert kind or not self.wrong, self.wrong


def cells(page: Any, key: str) -> list[str]:
    """What stands in a row of the matrix, once it is there."""
    page.locator(f'tr:has(th[title="{key}"])').wait_for()
    found: list[str] = page.locator(f'tr:has(th[title="{key}"]) td .ex-cell b').all_inner_texts()
    return found


def test_a_bluff_is_found_locked_and_answered_as_the_library_does(chromium: Any, link: str, folder: Path) -> None:
    with Visit(chromium, link, "item=" + quote("0/leduc.npz")) as page:
        page.locator(".ex-step.ex-here button", has_text="call").click()
        page.locator("h2", has_text="P2 to move").wait_for()
        page.locator(".ex-step.ex-here button", has_text="raise").click()
        page.locator("h2", has_text="P1 to move").wait_for()
        policy = TabularPolicy.load(folder / "leduc.npz")
        bluff = policy.probabilities(0, "Jh [call] raise")["raise"]
        assert cells(page, "Jh [call] raise")[2] == f"{100 * bluff:.1f} %"
        page.locator('td[aria-label^="Jh, raise"]').click()
        page.locator("summary", has_text="Lock").click()
        page.get_by_label("chance of raise in percent").fill("30")
        page.get_by_role("button", name="Lock these probabilities").click()
        page.get_by_label("Until exploitability").fill("0.001")
        page.get_by_label("Method").select_option("pcfr+")
        page.get_by_role("button", name="Solve again").click()
        page.wait_for_url(re.compile("lock="))
        page.locator("tr:has(th.ex-locked)").wait_for()
        rest = 1 - 0.3
        row = policy.probabilities(0, "Jh [call] raise")
        others = row["fold"] + row["call"]
        lock = {action: 0.3 if action == "raise" else p * rest / others for action, p in row.items()}
        expected = infoset.solve("leduc_poker", "pcfr+", target=0.001, lock={"P1": {"Jh [call] raise": lock}})
        figure = page.locator("tr", has_text="Exploitability of the rest").locator("td").first
        playwright.expect(figure).to_have_text(re.compile(r"\d"))
        assert float(figure.inner_text()) == pytest.approx(expected.exploitability, rel=1e-3)
        for key in ("Jh [call] raise", "Qs [call] raise", "Kh [call] raise"):
            shown = expected.policy.probabilities(0, key).values()
            assert cells(page, key) == [f"{100 * p:.1f} %" for p in shown]


def test_keys_go_through_rows_and_nodes(chromium: Any, link: str) -> None:
    with Visit(chromium, link, "item=" + quote("0/leduc.npz")) as page:
        page.locator('td[aria-label^="Jh, call"]').focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert label.startswith("Js, raise: ")
        page.keyboard.press("Enter")
        page.locator("h2", has_text="P2 to move").wait_for()
        assert "at=1" in page.url
        page.keyboard.press("Backspace")
        page.locator("h2", has_text="P1 to move").wait_for()
        page.keyboard.press("/")
        page.keyboard.type("Kh")
        playwright.expect(page.locator("tr[data-row]")).to_have_count(1)
        page.keyboard.press("Escape")
        playwright.expect(page.locator("tr[data-row]")).to_have_count(6)
        page.get_by_role("button", name="Value").click()
        page.locator("th.ex-last", has_text="Set value").wait_for()
        playwright.expect(page.locator('td[aria-label^="Kh, raise: +"]')).to_be_visible()


def test_two_are_compared_and_pictures_and_tables_saved(chromium: Any, link: str, tmp_path: Path) -> None:
    with Visit(chromium, link, "item=" + quote("0/leduc.npz")) as page:
        page.get_by_role("link", name="Compare…").click()
        page.get_by_label("Compare with").last.select_option("item:0/rough.npz")
        page.locator("h2", has_text="Largest differences").wait_for()
        with page.expect_download() as picture:
            page.get_by_role("button", name="SVG").click()
        text = Path(picture.value.path()).read_text()
        assert text.startswith("<svg") and "Kh" in text and "<script" not in text
        with page.expect_download() as rows:
            page.get_by_role("link", name="CSV").click()
        assert len(Path(rows.value.path()).read_text().splitlines()) == 1 + 2184


def test_hostile_names_do_no_harm_and_only_seen_rows_are_made(chromium: Any, link: str) -> None:
    with Visit(chromium, link, "item=" + quote("0/hostile.npz"), viewport={"width": 390, "height": 800}) as page:
        page.get_by_role("alert").wait_for()
        page.locator("h2", has_text="to move").wait_for()
        assert page.locator("tr[data-row]").count() < 120
        page.locator(".ex-rows").evaluate("box => { box.scrollTop = 36 * 20000; }")
        page.locator('tr[data-row="20005"] th[title]').wait_for()
        assert page.locator("tr[data-row]").count() < 120
        assert page.evaluate("window.harmed") is None
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
