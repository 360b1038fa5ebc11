"""The parameters of the questions of *Explore*, checked on arrival, both by the server and by the notebook widget."""

from __future__ import annotations

from dataclasses import dataclass, fields
from http import HTTPStatus
from typing import Annotated, Any

import msgspec

from infoset.errors import one_line
from infoset.remote.serving import Refusal
from infoset.solvers.config import HandLock, SolveConfig

Text = Annotated[str, msgspec.Meta(max_length=4000)]
MAX_VISITOR = 100  # letters
MAX_SECONDS = 600.0  # limit on a request's time for solving
Visitor = Annotated[str, msgspec.Meta(max_length=MAX_VISITOR)]
"""Who asks: a random word by which a browser identifies itself for fair turns; it grants no access."""
Place = Annotated[str, msgspec.Meta(max_length=20_000)]
Way = Annotated[str, msgspec.Meta(pattern=r"^(public|[0-9]{1,3})\Z")]
Steps = Annotated[int, msgspec.Meta(ge=0, le=10**9)]


class StrategyRequest(msgspec.Struct, frozen=True):
    """A question about one strategy."""

    source: Text


@dataclass(frozen=True, kw_only=True)
class SolveRequest(SolveConfig):
    """A request to solve the game ``game:NAME`` alone, or the game of any source with the strategies of some locked."""

    game: None = None
    source: Text
    method: Text = "auto"
    lock: dict[str, dict[str, dict[str, float]] | str] | None = None
    """By player: probabilities of moves by information set, ``uniform``, or ``source`` for its own strategy."""
    hands: list[HandLock] | None = None
    """Hands of nodes of hold'em that are locked."""
    visitor: Visitor = ""

    @property
    def plain(self) -> bool:
        """Whether the game is to be solved with the defaults."""
        free = not self.lock and not self.hands
        return self.method == "auto" and self.seed is None and free and self.given.keys() <= {"lock"}


FORM: dict[str, dict[str, Any]] = {
    "method": {"value": "auto", "choices": ["auto", "pcfr+", "dcfr", "cfr+", "cfr"]},
    "target": {"value": 1e-4, "least": 0},
    "seconds": {"value": 30, "least": 1, "most": MAX_SECONDS},
}
"""The options in the form that solves again, with what is chosen at first and may be."""


def form_fields() -> list[dict[str, Any]]:
    """Return the fields of the form, each with the label and the help of its option."""
    declared = {one.name: one.metadata for one in fields(SolveConfig)}
    return [
        {"name": name, "label": declared[name]["label"], "help": declared[name]["help"], **shown}
        for name, shown in FORM.items()
    ]


class PlaceRequest(msgspec.Struct, frozen=True):
    """A place in a strategy: ``way`` is ``public`` or the number of the player whose own path it is."""

    source: Text
    other: Text = ""
    way: Way = "public"
    at: Place = ""
    find: Text = ""


class RowsRequest(PlaceRequest, frozen=True):
    """A place, and the rows of it to be sent: from all groups, or from one."""

    first: Steps = 0
    rows: Annotated[int, msgspec.Meta(ge=1, le=300)] = 100
    group: Steps | None = None


class TaskRequest(msgspec.Struct, frozen=True):
    """A request to solve something, by its id."""

    task: Text


class TablePieceRequest(StrategyRequest, frozen=True):
    """A piece of the table of all rows, from row ``first`` on."""

    first: Steps = 0
    at: Place = ""


ASKED: dict[str, type[Any]] = {
    "open": StrategyRequest,
    "rules": StrategyRequest,
    "node": RowsRequest,
    "cards": PlaceRequest,
    "values": StrategyRequest,
    "differences": PlaceRequest,
    "task": TaskRequest,
    "solve": SolveRequest,
    "cancel": TaskRequest,
    "csv": TablePieceRequest,
}
"""The questions by name, with the type of their parameters."""

WRITES = ("solve", "cancel")
"""The questions that start or stop something."""


def wanted(kind: Any, asked: dict[str, Any]) -> Any:
    """Return parameters as a struct; numbers may be given as text.  Raises ``Refusal`` for those that do not fit."""
    try:
        return msgspec.convert(asked, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, one_line(str(error), 200)) from None
