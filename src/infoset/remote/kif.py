"""Messages between a manager and a player of the GGP protocol, read from KIF and written as KIF.

A message is read by ``read_message`` and written by ``str``.  A step is described in one of two forms: ``Joint``, the
moves of all roles, for GDL-I, and ``Seen``, the own move and percepts, for GDL-II.  Words are read as in the rules of
the match (see ``Spelling``): usually they are folded to lower case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias, TypeVar, cast

from infoset.base import Action
from infoset.gdl.checks import variables
from infoset.gdl.syntax import Description, Kif, Spelling, Term, renamed_action, spelled, to_action, to_term

T = TypeVar("T")

CONTENT_TYPE = "text/acl"
FOLDED = Spelling()
NIL = "nil"
READY, BUSY, DONE, ABORTED = "ready", "busy", "done", "aborted"
MAX_CLOCK = 86_400.0  # seconds; longer clocks, which some managers send for none, are cut to this


class Joint(NamedTuple):
    """The last joint move, one move for each role in their order; empty before the first."""

    moves: tuple[Action, ...] = ()

    def __str__(self) -> str:
        return _listed(self.moves) if self.moves else "NIL"


class Seen(NamedTuple):
    """The number of steps so far, the own move in the last one as it was executed, and the percepts of it."""

    turn: int = 0
    move: Action | None = None
    percepts: tuple[Action, ...] = ()

    def __str__(self) -> str:
        if self.turn == 0:
            return "0 NIL NIL"
        return f"{self.turn} {'NIL' if self.move is None else written(self.move)} {_listed(self.percepts)}"


ObservedStep: TypeAlias = Joint | Seen


class Info(NamedTuple):
    """Asks for a player's name, and whether it is available."""

    def __str__(self) -> str:
        return "(INFO)"


class Preview(NamedTuple):
    """The rules of a game that may follow."""

    rules: Description
    clock: float

    def __str__(self) -> str:
        return f"(PREVIEW ({_lines(self.rules)}) {self.clock:g})"


class Start(NamedTuple):
    """A match begins; clocks are in seconds, for preparing and for each move."""

    match: str
    role: str
    rules: Description
    start_clock: float
    play_clock: float

    def __str__(self) -> str:
        return f"(START {self.match} {self.role} ({_lines(self.rules)}) {self.start_clock:g} {self.play_clock:g})"


class Play(NamedTuple):
    """Asks for a move."""

    match: str
    observed: ObservedStep

    def __str__(self) -> str:
        return f"(PLAY {self.match} {self.observed})"


class Stop(NamedTuple):
    """A match is over."""

    match: str
    observed: ObservedStep

    def __str__(self) -> str:
        return f"(STOP {self.match} {self.observed})"


class Abort(NamedTuple):
    """A match is aborted."""

    match: str

    def __str__(self) -> str:
        return f"(ABORT {self.match})"


Message: TypeAlias = Info | Preview | Start | Play | Stop | Abort


def written(move: Action, spelling: Spelling = FOLDED) -> str:
    """Return a move or percept as KIF, with words in the spelling of the rules."""
    return str(to_term(renamed_action(move, spelling.write)))


def _listed(moves: Iterable[Action]) -> str:
    return f"({' '.join(map(written, moves))})"


def _lines(rules: Description) -> str:
    return str(rules).replace("\n", " ").strip()


def read_message(text: str, spelling: Spelling = FOLDED) -> Message:
    """Read one message; ``spelling`` is that of the rules of its match.

    Raises ``FormatError`` with line and column.

    >>> from infoset.remote.kif import read_message
    >>> read_message("(PLAY M1 3 (MARK 1 2) (OK ))")
    Play(match='m1', told=Seen(turn=3, move=('mark', 1, 2), percepts=('ok',)))
    >>> print(read_message("( PLAY M1 ((mark 1 2) NOOP) )"))
    (PLAY m1 ((mark 1 2) noop))
    """
    reader = _Messages(text, "message", spelling)
    return reader.alone(reader.message)


def parse_action(text: str, spelling: Spelling = FOLDED) -> Action:
    """Read a player's answer to PLAY; ``spelling`` is that of the rules of the match.

    Raises ``FormatError``.
    """
    reader = _Messages(text, "answer", spelling)
    return reader.alone(reader.action)


class _Messages(Kif):
    def __init__(self, text: str, file: str, spelling: Spelling) -> None:
        super().__init__(text, file)
        self.spelling = spelling

    def alone(self, read: Callable[[], T]) -> T:
        """Return what ``read`` reads, if nothing follows it."""
        found = read()
        if self.token:
            raise self.fail("the end of the text")
        return found

    def message(self) -> Message:
        self.expect("(")
        place, word = self.place, self.word("the name of a message")
        if word not in _READERS:
            raise self.fail(", ".join(_READERS).upper(), place, repr(word))
        found = _READERS[word](self)
        self.expect(")")
        return found

    def word(self, what: str) -> str:
        return self.as_written(what).lower()

    def as_written(self, what: str) -> str:
        if self.token in ("", "(", ")"):
            raise self.fail(what)
        return self.advance()

    def start(self) -> Start:
        match, role, rules = self.match(), self.as_written("a role"), self.description()
        return Start(match, rules.spelling.read(role), rules, self.clock(), self.clock())

    def match(self) -> str:
        return self.word("the name of a match")

    def description(self) -> Description:
        self.expect("(")
        found = []
        while self.token != ")":
            found.append(self.rule())
        self.advance()
        return spelled(tuple(found), self.file, self.text)

    def clock(self) -> float:
        place, word = self.place, self.word("a clock in seconds")
        try:
            value = float(word)
        except ValueError:
            value = 0.0
        if not value > 0.0:
            raise self.fail("a clock of more than 0 seconds", place, repr(word))
        return min(value, MAX_CLOCK)

    def observed(self) -> ObservedStep:
        """Read a step in either form; a number marks the second."""
        if self.token == "(" or self.token.lower() == NIL:
            return Joint(self.actions())
        place, word = self.place, self.word("NIL, the moves of all roles, or the number of a turn")
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise self.fail("NIL, the moves of all roles, or the number of a turn", place, repr(word))
        return Seen(int(word), self.maybe_action(), self.actions())

    def actions(self) -> tuple[Action, ...]:
        if self.token.lower() == NIL:
            self.advance()
            return ()
        self.expect("(")
        found = []
        while self.token != ")":
            found.append(self.action())
        self.advance()
        return tuple(found)

    def maybe_action(self) -> Action | None:
        if self.token.lower() == NIL:
            self.advance()
            return None
        return self.action()

    def action(self) -> Action:
        place, term = self.place, self.argument()
        if any(variables(term)):
            raise self.fail("a term without variables", place, repr(str(term)))
        return renamed_action(to_action(cast("Term", term)), self.spelling.read)


_READERS: dict[str, Callable[[_Messages], Message]] = {
    "info": lambda _: Info(),
    "preview": lambda reader: Preview(reader.description(), reader.clock()),
    "start": _Messages.start,
    "play": lambda reader: Play(reader.match(), reader.observed()),
    "stop": lambda reader: Stop(reader.match(), reader.observed()),
    "abort": lambda reader: Abort(reader.match()),
}
