"""Tokens of Gambit's files (``.efg``, ``.nfg``): texts in quotes, braces, numbers; read with line and column."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from infoset.errors import FormatError, shorten
from infoset.tree.graph import LARGEST_PAYOFF

MAX_PLAYERS = 100
MAX_DIGITS = 700
MAX_EXPONENT = 300
MAX_PROBLEMS = 1_000  # that are listed
LARGEST = Fraction(LARGEST_PAYOFF)

SIGNS = str.maketrans(
    dict(zip("♠♥♦♣♤♡♢♧", "shdcshdc", strict=True))
    | {"–": "-", "—": "-", "−": "-", "→": "->", "←": "<-", "×": "x", "·": ".", "≥": ">=", "≤": "<=", "∅": "{}"}
    | {"“": '"', "”": '"', "‘": "'", "’": "'", "\\": "/", "ß": "ss", "æ": "ae", "ø": "o", "ł": "l"}
)
"""Signs that have a spelling in ASCII; letters with diacritics are reduced to the plain letter."""

_TOKEN = re.compile(r'\s*(?:"([^"\\]*(?:\\.[^"\\]*)*)"|([{},])|([^\s"{},]+)|("))', re.DOTALL)
_KINDS = ("", "text", "mark", "word")
TEXT, STRAY_QUOTE = 1, 4
_INTEGER = re.compile(r"[+-]?\d{1,12}")
_NUMBER = re.compile(r"([+-]?\d+)/(\d+)|[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Token(NamedTuple):
    """One token of a Gambit file and where it begins."""

    kind: str  # "text", "mark", "word" or "end"
    value: str
    offset: int


def exact_number(text: str) -> Fraction:
    """Parse a number of a file: an integer, a decimal or a fraction.

    Raises ``ValueError`` with the missing property.
    """
    match = _NUMBER.fullmatch(text)
    if not match:
        raise ValueError(", a finite number")
    exponent = match.group(4)
    if len(text) > MAX_DIGITS or (exponent and abs(int(exponent[1:])) > MAX_EXPONENT):
        raise ValueError(f" of at most {MAX_DIGITS} digits and an exponent of at most {MAX_EXPONENT}")
    if match.group(2) and not int(match.group(2)):
        raise ValueError(" with a denominator that is not zero")
    if abs(value := Fraction(text)) > LARGEST:
        raise ValueError(f" of at most {LARGEST_PAYOFF:g} in size")
    return value


class Reader:
    """A recursive-descent reader of a flat grammar; nesting is kept in a counter, not on the stack."""

    def __init__(self, text: str, file: str, problems: list[FormatError] | None = None) -> None:
        """Read ``text``; errors that leave its structure intact go to ``problems`` where that is a list."""
        self.text, self.file, self.problems = text, file, problems
        self.tokens = self._scan()
        self.token = next(self.tokens)

    def _scan(self) -> Iterator[Token]:
        for match in _TOKEN.finditer(self.text):
            kind = match.lastindex or 0
            if kind == STRAY_QUOTE:
                raise self.fail("a closing quote", "an unclosed text", match.start(kind))
            value = match[kind]
            if kind == TEXT and "\\" in value:
                value = re.sub(r'\\(["\\])', r"\1", value)
            yield Token(_KINDS[kind], value, match.start(kind))
        while True:
            yield Token("end", "the end of the file", len(self.text))

    def fail(self, expected: str, found: str | None = None, at: int | None = None) -> FormatError:
        offset = self.token.offset if at is None else at
        line = self.text.count("\n", 0, offset) + 1
        column = offset - self.text.rfind("\n", 0, offset)
        found = found or shorten(repr(self.token.value))
        return FormatError(f"found {found}, expected {expected}", self.file, line, column)

    def complain(self, expected: str, found: str | None = None, at: int | None = None) -> None:
        """Raise an error after which reading could go on, or add it to the list of problems."""
        error = self.fail(expected, found, at)
        if self.problems is None:
            raise error
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(error)

    def take(self) -> Token:
        token = self.token
        self.token = next(self.tokens)
        return token

    def accept(self, mark: str) -> bool:
        if self.token.kind == "mark" and self.token.value == mark:
            self.take()
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            raise self.fail(f"{mark!r}")

    def string(self, what: str) -> str:
        if self.token.kind != "text":
            raise self.fail(f"{what} in quotes")
        return self.take().value

    def integer(self, what: str, low: int, high: int) -> int:
        if self.token.kind != "word" or not _INTEGER.fullmatch(self.token.value):
            raise self.fail(f"{what}, an integer")
        value = int(self.token.value)
        if not low <= value <= high:
            raise self.fail(f"{what} from {low} to {high}")
        self.take()
        return value

    def number(self, what: str) -> Fraction:
        if self.token.kind == "word" and _INTEGER.fullmatch(self.token.value):
            return Fraction(int(self.take().value))
        try:
            value = exact_number(self.token.value if self.token.kind == "word" else "")
        except ValueError as error:
            if self.problems is None or self.token.kind != "word":
                raise self.fail(f"{what}{error}") from None
            self.complain(f"{what}{error}")
            value = Fraction(0)
        self.take()
        return value

    def title(self, kind: str, version: str) -> str:
        """Read the file's header up to its title."""
        self.word(kind, f"the header '{kind} {version} R'")
        self.word(version, f"format version {version}")
        if self.token.value not in ("R", "D"):
            raise self.fail("R or D")
        self.take()
        return self.string("a title")

    def names(self) -> tuple[str, ...]:
        """Read the players' names in braces."""
        self.expect("{")
        players: list[str] = []
        while not self.accept("}"):
            if len(players) == MAX_PLAYERS:
                raise self.fail(f"at most {MAX_PLAYERS} players")
            players.append(self.string("a player's name"))
        if not players:
            raise self.fail("at least one player")
        return tuple(players)

    def word(self, value: str, what: str) -> None:
        """Read exactly this word."""
        if self.token.kind != "word" or self.token.value != value:
            raise self.fail(what)
        self.take()


def quote(text: str) -> str:
    """Return a text in the quotes of these files."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def distinct(actions: tuple[str, ...]) -> tuple[str, ...]:
    """Return distinct names for moves: unnamed ones get their number, repeated ones a suffix."""
    names: dict[str, None] = {}
    for number, action in enumerate(actions, start=1):
        name = action or str(number)
        while name in names:
            name += f"'{number}"
        names[name] = None
    return tuple(names)


class GambitWarning(UserWarning):
    """Warning that labels were changed which Gambit would reject."""


def plain(text: str) -> str:
    """Return ``text`` in ASCII without backslashes, since Gambit 16.7 and 17 read two of them as three."""
    bare = unicodedata.normalize("NFKD", text.translate(SIGNS))
    without_marks = (one for one in bare if not unicodedata.combining(one))
    return "".join(one if one.isascii() else "?" for one in without_marks).replace("\\", "/")


def plain_label(text: str) -> str:
    """Return ``text`` as a label that Gambit 16.7 and 17 accept.

    Gambit 16.7 accepts printable ASCII with single blanks and none at the ends; 17 also other letters, which are
    replaced for both.
    """
    words = "".join(one if one.isprintable() else " " for one in plain(text)).split()
    return " ".join(words)


class Labels:
    """Labels that Gambit accepts: plain, and unique or empty within a group; records the changes."""

    def __init__(self) -> None:
        self.changed: dict[tuple[str, str], None] = {}

    def one(self, text: str, spelled: str | None = None) -> str:
        """Return a label as it is to be written; a text that is not a label is given as ``spelled``."""
        found = plain_label(text) if spelled is None else spelled
        if found != text:
            self.changed[text, found] = None
        return found

    def group(self, texts: Sequence[str], numbers: Sequence[int] = ()) -> tuple[str, ...]:
        """Return labels for objects that are distinguished by them; repeated labels get their number."""
        found: list[str] = []
        taken = {""}
        for text, number in zip(texts, numbers or range(1, len(texts) + 1), strict=True):
            label = plain_label(text)
            while label and label in taken:
                label += f"'{number}"
            taken.add(label)
            found.append(self.one(text, label))
        return tuple(found)

    def warn(self, name: str, stacklevel: int) -> None:
        """Warn once of the labels that were changed, if any."""
        if self.changed:
            (old, new), more = next(iter(self.changed)), len(self.changed) - 1
            others = f", and {more:,} other{'s'[: more != 1]}" if more else ""
            warnings.warn(
                f"{name}: Gambit does not take the label {shorten(repr(old), 60)}, written as "
                f"{shorten(repr(new), 60)}{others}",
                GambitWarning,
                stacklevel=stacklevel + 1,
            )
