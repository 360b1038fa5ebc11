"""The errors that infoset raises on purpose.

InfosetError
├── UnknownNameError        (LookupError)   no game, method or parameter of that name
├── ParameterError          (ValueError)    a value outside what is allowed
├── FormatError             (ValueError)    a file that cannot be read; carries file, line and column
├── GameRuleError           (ValueError)    a game that breaks the game model's contract
│   └── IllegalMoveError                    a move or a chance outcome that is not legal
├── UnsupportedGameError    (ValueError)    a sound game that this algorithm is not made for
│   └── ImperfectRecallError                a player forgets what it knew; names the information set
├── BudgetError             (MemoryError)   a game too large for the memory or the histories allowed
│   └── ClockError                          the time allowed is over
├── PolicyError             (ValueError)    a policy that is broken or belongs to another game
├── CheckpointError         (ValueError)    a saved run that cannot be continued
├── MissingExtraError       (ImportError)   an optional dependency that is not installed
├── PluginError             (ImportError)   an installed plug-in that cannot be imported
├── RemoteError             (OSError)       a remote program that cannot be reached, or whose answer is invalid
└── UnsupportedSystemError  (OSError)       something that this operating system cannot do

Every message is one line: the offending value, its place, and the values that are allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

MOST_LISTED, FEW = 12, 5
"""The number of names that one message lists, and the number shown where there are more."""
LONGEST = 1000
"""The maximal length of a message in characters."""
LISTS = ("agent", "game", "method")
"""Kinds of names that the command line lists."""


class InfosetError(Exception):
    """The base class of all errors that infoset raises on purpose.

    As text it is one line of at most ``LONGEST`` characters that can be printed, whatever foreign values it quotes.
    """

    def __str__(self) -> str:
        return printable(_BREAKS.sub(" ", bound(super().__str__())))


class UnknownNameError(InfosetError, LookupError):
    """No game, method or parameter of that name.

    The message suggests the most similar known name; a family in front (``gdl:``) may be missing or wrong.  For a
    family alone its names are listed; otherwise each family once.  Long lists are abbreviated.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        family = [other for other in known if other.startswith(f"{name}:")]
        close = [other for other in known if _spelled(other) == _spelled(name)][:1]
        if not close and name.partition(":")[1]:
            close = get_close_matches(name, known, n=1, cutoff=0.5)
        if not close:
            bare = {
                other.rpartition(":")[2].lower(): other for other in sorted(known, key=lambda other: ":" not in other)
            }
            close = [bare[one] for one in get_close_matches(name.rpartition(":")[2].lower(), bare, n=1, cutoff=0.5)]
        short = dict.fromkeys(f"{other.partition(':')[0]}:…" if ":" in other else other for other in known)
        listed = f"known: {_listed(list(family or short), kind)}"
        hint = f"did you mean {close[0]!r}?" if close and not family else listed
        super().__init__(f"unknown {kind} {shorten(name)!r}; {hint}")


def _spelled(name: str) -> str:
    """Return a normal form of a name: equal for ``cfr_plus`` and ``cfr+``, for ``Linear_CFR`` and ``linear-cfr``."""
    return re.sub(r"[\s_-]+", "", name.lower()).replace("plus", "+")


def _listed(names: list[str], kind: str) -> str:
    """Return the names, if they are few; else the first of them, and where to find the others."""
    if len(names) <= MOST_LISTED:
        return ", ".join(names) or "none"
    where = f"{len(names)}; 'infoset {kind}s' lists them" if kind in LISTS else f"and {len(names) - FEW} more"
    return f"{', '.join(names[:FEW])}, … ({where})"


class ParameterError(InfosetError, ValueError):
    """A value outside what is allowed."""


class FormatError(InfosetError, ValueError):
    """A file that cannot be read: ``file:line:column: what was found; what was expected``."""

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        self.file, self.line, self.column = file, line, column
        where = ":".join([file or "<text>"] + [str(k) for k in (line, column) if k])
        super().__init__(f"{where}: {message}")


class GameRuleError(InfosetError, ValueError):
    """A game that breaks the game model's contract."""


class IllegalActionError(GameRuleError):
    """A move or a chance outcome that is not legal."""


class UnsupportedGameError(InfosetError, ValueError):
    """A sound game that this algorithm is not made for."""


class ImperfectRecallError(UnsupportedGameError):
    """A player forgets what it did or saw; the message names the information set."""


class BudgetError(InfosetError, MemoryError):
    """A game too large for the memory or the number of histories allowed."""


class ClockError(BudgetError):
    """The time allowed is over."""


class PolicyError(InfosetError, ValueError):
    """A policy that is broken or belongs to another game."""


class CheckpointError(InfosetError, ValueError):
    """A saved run that cannot be continued."""


class MissingExtraError(InfosetError, ImportError):
    """An optional dependency that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}': pip install 'infoset[{extra}]'")


class PluginError(InfosetError, ImportError):
    """An installed plug-in that cannot be imported; names its package."""


class RemoteError(InfosetError, OSError):
    """A remote program that cannot be reached, or whose answer is invalid."""


class UnsupportedSystemError(InfosetError, OSError):
    """Something that this operating system cannot do."""


def bound(text: str, limit: int = LONGEST) -> str:
    """Return a message cut to at most ``limit`` characters: its beginning and its end, which is more informative."""
    end = limit // 3
    return text if len(text) <= limit else f"{text[: limit - end - 3]} … {text[-end:]}"


def shorten(text: str, limit: int = 80) -> str:
    """Return ``text``, cut to ``limit`` characters so that a hostile value cannot flood a message."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def printable(text: str, sign: str = "?") -> str:
    r"""Return ``text`` with ``sign`` for each character that could command a terminal, hide or reorder what is shown.

    These are control characters (also those of C1), invisible ones and marks that change the direction of a text, lone
    surrogates, and characters that XML does not allow.  Line feeds and tabs stay.

    >>> from infoset.errors import printable
    >>> printable("\x1b[2J red\x9b31m \u202etxt.exe")
    '?[2J red?31m ?txt.exe'
    """
    return _COMMANDS.sub(sign, text)


def one_line(text: str, limit: int = 80) -> str:
    """Return untrusted ``text`` as one printable line, shortened to ``limit`` characters."""
    return shorten(printable(" ".join(text[: 4 * limit].split())), limit)


_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff"
    "\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_BREAKS = re.compile(r"\s*[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]\s*")
