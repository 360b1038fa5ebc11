"""The replay player as a widget of a notebook (extra ``notebook``): the module of the page, in the notebook itself."""

from __future__ import annotations

from functools import cache
from typing import Any

from infoset.base import Game
from infoset.errors import MissingExtraError
from infoset.match.replay import Match
from infoset.view.bundle import bundle, source
from infoset.view.markup import NIGHTS
from infoset.view.recording import recording, start_of
from infoset.view.speed import check_speed

STYLES = ("base.css", "pictures.css", "player.css")
HEIGHT = 720
"""Pixels that the player takes for the window's height."""

RENDER = """
function render({ model, el }) {
  const root = el.attachShadow({ mode: "open" });
  const style = document.createElement("style"), app = document.createElement("div");
  style.textContent = model.get("style");
  app.className = "notebook";
  app.dataset.theme = el.closest(NIGHTS) ? "dark" : "light";
  root.append(style, app);
  const player = page.mountPlayer(app, model.get("recording"), model.get("options"));
  return () => player.destroy();
}
export default { render };
"""


def replay_widget(
    match: Match, *, step: int | None = None, speed: float | None = None, game: Game | None = None
) -> Any:
    """A widget that plays ``match``, from ``step`` on, ``speed`` steps a second (None: as suits the game).

    ``game`` is loaded by the name in the match unless it is given.  Raises ``MissingExtraError`` without anywidget, and
    what ``watch_page`` raises.

    >>> from infoset.view.widget import replay_widget
    >>> widget = replay_widget(infoset.play_match("kuhn_poker", ["random", "random"], seed=1))
    >>> widget.recording["players"]
    ['P1', 'P2']
    """
    check_speed(speed)
    data = recording(match, game)
    options = {"start": start_of(data, step), "speed": speed}
    return _kind()(recording=data, options=options, style=style())


@cache
def _kind() -> Any:
    """The widget's class, made where anywidget is there."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingExtraError("a widget", "notebook") from None

    class Replay(anywidget.AnyWidget):
        """What the browser is sent."""

        _esm = script()
        recording = traitlets.Dict().tag(sync=True)
        options = traitlets.Dict().tag(sync=True)
        style = traitlets.Unicode().tag(sync=True)

    return Replay


@cache
def script() -> str:
    """The widget's module: the player with all that it imports, and ``render``."""
    return f"{bundle('player.js')}\nconst NIGHTS = {NIGHTS!r};\n{RENDER}"


@cache
def style() -> str:
    """The page's styles as those of a part of a page: nothing of them leaves it, nothing of the notebook comes in."""
    css = "\n".join(map(source, STYLES)).replace(":root", ":host").replace("\nbody {", "\n.notebook {")
    return f"{css}\n.notebook {{ --tall: {HEIGHT}px; background: var(--ground); border-radius: 16px; padding: 14px; }}"
