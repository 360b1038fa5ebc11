"""Modules of the page as notebook widgets (extra ``notebook``); here the replay player."""

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
"""The pixels that a widget takes as the height of the window."""

MODULE = """
const mount = (app, model) => {{
{mount}
}};
function render({{ model, el }}) {{
  const root = el.shadowRoot ?? el.attachShadow({{ mode: "open" }});
  const style = document.createElement("style"), app = document.createElement("div");
  style.textContent = model.get("style");
  app.className = "notebook";
  app.dataset.theme = el.closest({nights}) ? "dark" : "light";
  root.replaceChildren(style, app);
  return mount(app, model);
}}
export default {{ render }};
"""

MOUNT = """
  const player = page.mountPlayer(app, model.get("recording"), model.get("options"));
  return () => player.destroy();
"""


def replay_widget(
    match: Match, *, step: int | None = None, speed: float | None = None, game: Game | None = None
) -> Any:
    """Return a widget that plays ``match`` from ``step`` on, ``speed`` steps per second (None: the game's default).

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
    return _kind()(recording=data, options=options, style=style(*STYLES))


@cache
def _kind() -> Any:
    """Return the widget's class, defined on first use since anywidget may be missing."""
    check_library()
    import anywidget
    import traitlets

    class Replay(anywidget.AnyWidget):
        """The widget: the data that is sent to the browser."""

        _esm = module(bundle("player.js") + MOUNT)
        recording = traitlets.Dict().tag(sync=True)
        options = traitlets.Dict().tag(sync=True)
        style = traitlets.Unicode().tag(sync=True)

    return Replay


def check_library() -> None:
    """Raise ``MissingExtraError`` without anywidget."""
    try:
        import anywidget  # noqa: F401
    except ImportError:
        raise MissingExtraError("a widget", "notebook") from None


def module(mount: str) -> str:
    """Return the JavaScript of a widget's module.

    ``mount`` is code that puts something into ``app``, with the ``model``, and returns a function that removes it.  The
    code is run inside a function, so that the state of its modules belongs to one view.


    """
    return MODULE.format(mount=mount, nights=repr(NIGHTS))


@cache
def style(*names: str) -> str:
    """Return the page's styles for one element, isolated from the notebook in both directions."""
    css = "\n".join(map(source, names)).replace(":root", ":host").replace("\nbody {", "\n.notebook {")
    return f"{css}\n.notebook {{ --tall: {HEIGHT}px; background: var(--ground); border-radius: 16px; padding: 14px; }}"
