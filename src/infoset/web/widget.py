"""*Explore* as a notebook widget (extra ``notebook``): the view of the page, answered by the kernel."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec

from infoset.base import Game
from infoset.catalog import load
from infoset.errors import one_line
from infoset.policies.loading import SavedPolicy, load_policy
from infoset.remote.serving import Refusal
from infoset.view.bundle import bundle
from infoset.view.widget import check_library, module, style
from infoset.web.exploring import Exploring
from infoset.web.schemas import ASKED, Text, wanted
from infoset.web.sources import Source
from infoset.web.workers import outcome

STYLES = ("base.css", "pictures.css", "explore.css")
REPLACED = {"api.js": "notebook/api.js", "app.js": "notebook/app.js"}
MOUNT = 'return page.mountExplorer(app, model, model.get("place"));'
NAME = "policy"  # of the shown strategy, in the list of those to compare with
THREADS = 4


def explorer_widget(game: Game | str, policy: SavedPolicy | str | Path) -> Any:
    """Return a widget that shows ``policy``, a policy or its file, in ``game``, node by node.

    Players can be locked, and the game solved around them.  The widget asks the kernel, which answers from threads;
    ``close()`` cancels what is being solved.  Raises ``MissingExtraError`` without anywidget, and what ``load`` and
    ``load_policy`` raise.

    >>> from infoset.web.widget import explorer_widget
    >>> widget = explorer_widget("kuhn_poker", infoset.solve("kuhn_poker", "lp").policy)
    >>> widget.place
    {'item': 'policy'}
    >>> widget.close()
    """
    kind = _kind()
    rules = load(game) if isinstance(game, str) else game
    found = load_policy(policy) if isinstance(policy, (str, Path)) else policy
    return kind(Source.of_policy(f"item:{NAME}", found, rules))


class Message(msgspec.Struct, frozen=True):
    """A question from a view: its number comes back with the answer."""

    number: Text
    path: Text
    asked: dict[str, Any] = {}


class Answers:
    """The answers of the server's ``/api/…`` routes for one strategy."""

    def __init__(self, source: Source) -> None:
        self.service = Exploring((), (source,))
        self.threads = ThreadPoolExecutor(THREADS)

    def hear(self, content: Any, send: Callable[[dict[str, Any]], object]) -> None:
        """Answer a message from a thread.  Raises ``Refusal`` for an invalid message."""
        message: Message = wanted(Message, content)

        def work() -> None:
            good, found = outcome(lambda: msgspec.json.encode(self.answer(message)).decode())
            send({"number": message.number, **({"answer": found} if good else {"refused": found[1]})})

        self.threads.submit(work)

    def answer(self, message: Message) -> Any:
        """Return the answer to a message.  Raises ``Refusal``, and what the service raises."""
        if message.path == "artifacts":
            return [{"name": NAME, "kind": "policy"}]
        place, _, method = message.path.partition("/")
        if place != "explore" or method not in ASKED:
            raise Refusal(HTTPStatus.NOT_FOUND, f"{one_line(message.path, 100)} is unknown here")
        return getattr(self.service, method)(wanted(ASKED[method], message.asked))

    def close(self) -> None:
        """Cancel all work."""
        self.service.close()
        self.threads.shutdown(wait=False, cancel_futures=True)


@cache
def _kind() -> Any:
    """Return the widget's class, defined on first use since anywidget may be missing."""
    check_library()
    import anywidget
    import traitlets

    class Explorer(anywidget.AnyWidget):
        """The widget: the data sent to the browser, and the answers to its questions."""

        _esm = module(f"{bundle('notebook/explore.js', replaced=REPLACED)}\n{MOUNT}")
        place = traitlets.Dict().tag(sync=True)
        style = traitlets.Unicode().tag(sync=True)

        def __init__(self, source: Source) -> None:
            super().__init__(place={"item": NAME}, style=style(*STYLES))
            self.answers = Answers(source)
            self.on_msg(lambda _, content, buffers: self.answers.hear(content, self.send))

        def close(self) -> None:
            self.answers.close()
            super().close()

    return Explorer
