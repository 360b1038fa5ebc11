"""Spots of hold'em from files (``.toml``): the parameters of the game ``holdem`` by name.

::

    board = "Td9d6h"                # three, four or five cards
    pot = 55                        # in chips
    stack = 970
    range1 = "QQ:0.5,JJ,TT,AKs,AQs" # P1, who moves first
    range2 = "99-66,AJs,KQs"
    bets = '''
        33%, 75%
        turn: 66%
        river P2: 75%, a
    '''
    raises = "2.5x"

The game is named by its parameters, not by the file.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from infoset.errors import FormatError, ParameterError, UnknownNameError, shorten
from infoset.files import read_text
from infoset.games.holdem import holdem
from infoset.games.rules import Rules
from infoset.names import Name, Value, build

REQUIRED = "board"


def read_spot(path: str | Path) -> Rules:
    """Read a ``.toml`` file as a game ``holdem``.  Raises ``FormatError``."""
    parameters = parse_spot(read_text(Path(path)), str(path))
    try:
        return build("game", Name("holdem", tuple(parameters.items())), {"holdem": holdem})
    except (ParameterError, UnknownNameError) as error:
        raise FormatError(str(error), str(path)) from None


def parse_spot(text: str, file: str = "") -> dict[str, Value]:
    """Parse the text of a spot into parameters, whose names and values are not checked yet.  Raises ``FormatError``."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = "; put texts in quotes" if str(error).startswith("Invalid value") else ""
        raise FormatError(f"not TOML: {error}{hint}", file) from None
    except RecursionError:
        raise FormatError("not TOML: nested too deeply", file) from None
    except ValueError:
        raise FormatError("not TOML: a number with too many digits", file) from None
    if REQUIRED not in found:
        raise FormatError("no spot of hold'em: it has no board; such as board = 'Td9d6h'", file)
    return {key: _value(key, value, file) for key, value in found.items()}


def _value(key: str, value: Any, file: str) -> Value:
    """Return a value as a name has it; a list becomes a tuple."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list) and all(isinstance(item, (int, float, str)) for item in value):
        return tuple(value)
    kind = "table" if isinstance(value, dict) else "list of lists or tables" if isinstance(value, list) else "date"
    raise FormatError(f"{shorten(key)} is a {kind}; allowed: a number, a text, or a list of numbers or of texts", file)
