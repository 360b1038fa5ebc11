"""The replay player as a widget: its module runs in a browser as a notebook would run it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import infoset
from infoset.errors import MissingExtraError
from infoset.view.widget import replay_widget, script, style

pytest.importorskip("anywidget", reason="anywidget is not installed (extra 'notebook')")

HARNESS = """<!doctype html><meta charset="utf-8"><body {theme}><p id="before">text</p><div id="cell"></div>
<script type="module">
import widget from "./widget.js";
const state = {state};
window.leave = widget.render({{ model: {{ get: (name) => state[name] }}, el: document.getElementById("cell") }});
</script>"""


def state_of(widget: Any) -> dict[str, Any]:
    return {name: getattr(widget, name) for name in ("recording", "options", "style")}


def test_the_module_is_the_page_s_own() -> None:
    match = infoset.play_match("leduc_poker", ["random", "random"], seed=4)
    widget = replay_widget(match, step=2)
    assert widget.options == {"start": 2, "speed": None}
    assert "export default { render };" in script()
    assert script().count("export ") == 1  # everything else is inside
    assert ":root" not in style()
    json.dumps(state_of(widget), allow_nan=False)


def test_without_anywidget_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from infoset.view import widget

    widget._kind.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'infoset\[notebook\]'"):
        replay_widget(infoset.play_match("kuhn_poker", ["random", "random"], seed=1))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_plays_in_a_notebook(theme: str, tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group 'test')")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("there is no chromium on the path")
    match = infoset.play_match("leduc_poker", ["random", "random"], seed=4)
    dark = f'data-jp-theme-light="{"false" if theme == "dark" else "true"}"'
    state = json.dumps(state_of(replay_widget(match)))
    files = {"/": HARNESS.format(theme=dark, state=state), "/widget.js": script()}
    wrong: list[str] = []
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 800})
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))

        def serve(route: Any) -> None:
            path = route.request.url.removeprefix("http://notebook")
            kind = "text/javascript" if path.endswith(".js") else "text/html"
            route.fulfill(body=files[path], content_type=kind) if path in files else route.abort()

        page.route("**/*", serve)
        before = "getComputedStyle(document.getElementById('before')).font"
        page.goto("http://notebook/")
        player = page.locator(".player")
        player.wait_for()
        page.screenshot(path=tmp_path / "widget.png", full_page=True)
        assert player.get_attribute("data-step") == "0"
        page.locator(".player").press("End")
        assert player.get_attribute("data-step") == str(len(match.steps))
        scheme = page.evaluate("getComputedStyle(document.querySelector('#cell').shadowRoot.querySelector('.player')).colorScheme")  # fmt: skip
        assert scheme == theme
        font = page.evaluate(before)
        page.evaluate("window.leave()")
        assert page.locator(".player").count() == 0
        assert page.evaluate(before) == font  # its styles stay inside
        browser.close()
    assert wrong == []
