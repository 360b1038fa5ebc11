"""Widgets: their modules run in a browser as a notebook would run them, with the kernel's side at the other end."""

from __future__ import annotations

import csv
import json
import queue
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import infoset
from infoset.errors import MissingExtraError
from infoset.remote.serving import Refusal
from infoset.view.bundle import bundle
from infoset.view.widget import replay_widget
from infoset.web.widget import Message, explorer_widget

pytest.importorskip("anywidget", reason="anywidget is not installed (extra 'notebook')")

HARNESS = """<!doctype html><meta charset="utf-8"><body {theme}><p id="before">text</p><div id="cell"></div>
<script type="module">
import widget from "./widget.js";
const state = {state}, hearing = new Set();
window.told = (message) => {{ for (const hear of hearing) hear(message); }};
const model = {{
  get: (name) => state[name],
  send: (message) => window.ask(message),
  on: (name, hear) => hearing.add(hear),
  off: (name, hear) => hearing.delete(hear),
}};
window.leave = widget.render({{ model, el: document.getElementById("cell") }});
window.listening = () => hearing.size;
</script>"""


def state_of(widget: Any) -> dict[str, Any]:
    return {name: getattr(widget, name) for name in widget.keys if name in ("recording", "options", "style", "place")}


@contextmanager
def notebook(widget: Any, theme: str, width: int = 1000) -> Iterator[Any]:
    """A page that shows a widget; whatever goes wrong in it, or is asked of the network, fails the test."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group 'test')")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("there is no chromium on the path")
    dark = f'data-jp-theme-light="{"false" if theme == "dark" else "true"}"'
    page_of = HARNESS.format(theme=dark, state=json.dumps(state_of(widget), allow_nan=False))
    files = {"/": page_of, "/widget.js": str(widget._esm)}
    wrong: list[str] = []

    def serve(route: Any) -> None:
        path = route.request.url.removeprefix("http://notebook")
        if path not in files:
            wrong.append(route.request.url)
        kind = "text/javascript" if path.endswith(".js") else "text/html"
        route.fulfill(body=files.get(path, ""), content_type=kind)

    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.set_default_timeout(20_000)
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.route("**/*", serve)
        yield page
        browser.close()
    assert wrong == []


def scheme_of(page: Any, selector: str) -> str:
    shadow = "document.querySelector('#cell').shadowRoot"
    found: str = page.evaluate(f"getComputedStyle({shadow}.querySelector('{selector}')).colorScheme")
    return found


FONT = "getComputedStyle(document.getElementById('before')).font"


def test_the_module_is_the_page_s_own() -> None:
    match = infoset.play_match("leduc_poker", ["random", "random"], seed=4)
    widget = replay_widget(match, step=2)
    assert widget.options == {"start": 2, "speed": None}
    assert bundle("player.js") in str(widget._esm)
    assert re.findall(r"^export .*", str(widget._esm), re.MULTILINE) == ["export default { render };"]
    assert ":root" not in widget.style


@pytest.mark.parametrize("module", ["infoset.view.widget", "infoset.web.widget"])
def test_without_anywidget_it_says_what_is_missing(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = sys.modules[module]
    kind._kind.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'infoset\[notebook\]'"):
        if module == "infoset.view.widget":
            replay_widget(infoset.play_match("kuhn_poker", ["random", "random"], seed=1))
        else:
            explorer_widget("kuhn_poker", infoset.solve("kuhn_poker", "lp").policy)


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_a_match_plays(theme: str) -> None:
    match = infoset.play_match("leduc_poker", ["random", "random"], seed=4)
    with notebook(replay_widget(match), theme) as page:
        page.goto("http://notebook/")
        player = page.locator(".player")
        player.wait_for()
        assert player.get_attribute("data-step") == "0"
        page.locator(".player").press("End")
        assert player.get_attribute("data-step") == str(len(match.steps))
        assert scheme_of(page, ".player") == theme
        font = page.evaluate(FONT)
        page.evaluate("window.leave()")
        assert page.locator(".player").count() == 0
        assert page.evaluate(FONT) == font  # its styles stay inside


class Kernel:
    """What a kernel does: hears a widget's messages, and passes on what its threads send."""

    def __init__(self, widget: Any, page: Any) -> None:
        self.widget, self.page, self.sent = widget, page, queue.Queue[dict[str, Any]]()
        widget.send = self.sent.put
        page.expose_function("ask", lambda message: widget._handle_custom_msg(message, []))

    def until(self, locator: Any, count: int = 1, more: Callable[[], bool] = lambda: True) -> None:
        """Work until something is seen, and ``more`` holds."""
        for _ in range(2000):
            while not self.sent.empty():
                self.page.evaluate("(message) => window.told(message)", self.sent.get())
            if locator.count() == count and more():
                return
            self.page.wait_for_timeout(10)
        raise AssertionError(f"never {count} times: {locator}")


def cells(page: Any, key: str) -> list[str]:
    """What stands in a row of the matrix."""
    found: list[str] = page.locator(f'tr:has(th[title="{key}"]) td .ex-cell b').all_inner_texts()
    return found


def percents(policy: Any, player: int, key: str) -> list[str]:
    return [f"{100 * p:.1f} %" for p in policy.probabilities(player, key).values()]


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_a_strategy_is_explored_locked_and_answered(theme: str, tmp_path: Path) -> None:
    solved = infoset.solve("kuhn_poker", "lp")
    policy = solved.policy
    widget = explorer_widget("kuhn_poker", policy)
    with notebook(widget, theme) as page:
        kernel = Kernel(widget, page)
        page.goto("http://notebook/")
        kernel.until(page.locator("tr[data-row]"), 3)
        keys = [page.locator("tr[data-row] th").nth(k).get_attribute("title") for k in range(3)]
        assert [cells(page, key) for key in keys] == [percents(policy, 0, key) for key in keys]
        assert scheme_of(page, ".explore") == theme
        page.locator("summary", has_text="Lock").click()
        page.locator('tr[data-row="0"] td[data-move="1"]').click()  # a jack that bets
        page.get_by_label("chance of bet in percent").fill("90")
        page.get_by_role("button", name="Lock these probabilities").click()
        page.get_by_label("Until exploitability").fill("0.001")
        page.get_by_label("Method").select_option("pcfr+")
        page.get_by_role("button", name="Solve again").click()
        kernel.until(page.locator("th.ex-locked"))
        lock = {"P1": {keys[0]: {"pass": 0.1, "bet": 0.9}}}
        expected = infoset.solve("kuhn_poker", "pcfr+", target=0.001, lock=lock)
        for key in keys:
            assert cells(page, key) == percents(expected.policy, 0, key)
        figure = page.locator("tr", has_text="Exploitability of the rest").locator("td").first
        kernel.until(figure.and_(page.locator("td", has_text=re.compile(r"\d"))))
        assert float(figure.inner_text()) == pytest.approx(expected.exploitability, rel=1e-3)
        page.screenshot(path=tmp_path / "locked.png", full_page=True)
        saved: queue.Queue[Any] = queue.Queue()
        page.on("download", saved.put)
        page.get_by_role("link", name="CSV").click()
        kernel.until(page.locator("th.ex-locked"), more=lambda: not saved.empty())
        rows = list(csv.DictReader(Path(saved.get().path()).read_text().splitlines()))
        assert len(rows) == 24
        kept = {row["move"]: float(row["probability"]) for row in rows if row["key"] == keys[0]}
        assert kept == pytest.approx(lock["P1"][keys[0]])
        page.get_by_role("button", name="Back").click()
        kernel.until(page.locator("th.ex-locked"), 0)
        kernel.until(page.locator("tr[data-row]"), 3)
        page.evaluate("window.leave()")
        assert page.evaluate("window.listening()") == 0
    widget.close()


def test_a_game_is_explored_that_has_no_name_on_any_shelf() -> None:
    game = infoset.load(str(Path(__file__).parents[2] / "examples" / "half_street_poker.efg"))
    widget = explorer_widget(game, infoset.solve(game, "lp").policy)
    heard: queue.Queue[dict[str, Any]] = queue.Queue()
    content = {"number": "a.1", "path": "explore/node", "asked": {"source": "item:policy"}}
    widget.answers.hear(content, heard.put)
    answer = heard.get(timeout=20)
    assert answer["number"] == "a.1"
    assert [row["label"] for row in json.loads(answer["answer"])["groups"][0]["rows"]] == ["J", "Q", "K"]
    widget.answers.hear({**content, "asked": {"source": "item:0/other"}}, heard.put)
    assert "no thing '0/other'" in heard.get(timeout=20)["refused"]
    with pytest.raises(Refusal, match="unknown here"):
        widget.answers.answer(Message("a.2", "explore/close"))
    widget.close()


def test_it_needs_no_server() -> None:
    code = "import sys; sys.modules['starlette'] = None; import infoset.web.widget"
    subprocess.run([sys.executable, "-c", code], check=True)
