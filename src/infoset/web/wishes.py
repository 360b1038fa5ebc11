"""What may be asked of *Explore*, checked where it arrives; it is handed on so, by the server and by a widget."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

import msgspec

from infoset.errors import one_line
from infoset.remote.serving import Refusal

Text = Annotated[str, msgspec.Meta(max_length=4000)]
MAX_VISITOR = 100  # letters
Visitor = Annotated[str, msgspec.Meta(max_length=MAX_VISITOR)]
"""Who asks: a word that a browser has for itself, by which visitors take turns; it opens nothing."""
Place = Annotated[str, msgspec.Meta(max_length=20_000)]
Way = Annotated[str, msgspec.Meta(pattern=r"^(public|[0-9]{1,3})\Z")]
Steps = Annotated[int, msgspec.Meta(ge=0, le=10**9)]


class Of(msgspec.Struct, frozen=True):
    """Something of one strategy."""

    source: Text


class Wish(msgspec.Struct, frozen=True):
    """What is to be solved: the game ``game:NAME`` alone, or that of any source with what some keep to."""

    source: Text
    method: Text = "auto"
    iterations: int | None = None
    target: float | None = None
    seconds: float | None = None
    lock: dict[str, dict[str, dict[str, float]] | str] = {}
    """By player: chances of moves by information set, ``uniform``, or ``source``, as it plays there."""
    visitor: Visitor = ""

    @property
    def plain(self) -> bool:
        """Whether nothing is asked of how it is solved."""
        limits = (self.iterations, self.target, self.seconds)
        return self.method == "auto" and limits == (None, None, None) and not self.lock


class View(msgspec.Struct, frozen=True):
    """A place in a strategy: ``way`` is ``public`` or the number of a player whose own way it is."""

    source: Text
    other: Text = ""
    way: Way = "public"
    at: Place = ""
    find: Text = ""


class Rows(View, frozen=True):
    """What of it is told: of all groups, or of one, so many rows."""

    first: Steps = 0
    rows: Annotated[int, msgspec.Meta(ge=1, le=300)] = 100
    group: Steps | None = None


class Number(msgspec.Struct, frozen=True):
    """A request to solve something, by its id."""

    task: Text


class Piece(Of, frozen=True):
    """The rows from the ``first`` on, as many as are told at once."""

    first: Steps = 0


ASKED: dict[str, type[msgspec.Struct]] = {
    "open": Of, "rules": Of, "node": Rows, "values": Of, "differences": View, "task": Number, "solve": Wish,
    "cancel": Number, "csv": Piece,
}  # fmt: skip
"""The questions by their name, with what each holds."""

WRITES = ("solve", "cancel")
"""Those that start or stop something."""


def wanted(kind: Any, asked: dict[str, Any]) -> Any:
    """What was asked as a struct; numbers in addresses are texts.  Raises ``Refusal`` for what does not fit."""
    try:
        return msgspec.convert(asked, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, one_line(str(error), 200)) from None
