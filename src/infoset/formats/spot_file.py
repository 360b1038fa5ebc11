"""Spots of hold'em in files (``.toml``): the parameters of the game ``holdem`` by name.

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

from infoset.errors import FormatError, ParameterError, UnknownNameError, printable, shorten
from infoset.files import read_text
from infoset.formats.phh import RecordedSpot
from infoset.games.bet_sizes import ALL_IN, CHIPS, STREETS
from infoset.games.betting import BET, CALL, CHECK, FOLD, RAISE
from infoset.games.holdem import FLOP_CARDS, holdem
from infoset.games.poker_hands import cards_of
from infoset.games.rules import Rules
from infoset.names import Name, Value, build

REQUIRED = "board"
USUAL = {BET: "75%", RAISE: "3x"}
"""The sizes that a spot from a hand history gets besides those that were played."""


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


def spot_text(spot: RecordedSpot, source: str) -> str:
    """Return a spot from a hand history as the text of such a file, with comments on who did what.

    Hand histories hold no ranges, so that both are ``any``; the bet sizes are those that were played, and a usual one.
    ``source`` names the hand history in the first line.
    """
    first = len(cards_of(spot.board, "board")) - FLOP_CARDS
    one, two = (f"{name} ({place})" for name, place in zip(spot.players, spot.positions, strict=True))
    hands_of = [f" with {hand}" if hand else "" for hand in spot.hands]
    comments = [f"The {STREETS[first]} of {source}: {one}{hands_of[0]} against {two}{hands_of[1]}."]
    if spot.scale != 1:
        comments.append(f"Amounts are in chips: {spot.scale} for each 1 of the hand history.")
    if spot.aggressor >= 0:
        comments.append(f"P{spot.aggressor + 1} made the last bet or raise before the {STREETS[first]}.")
    comments.append(f"What they did: {', '.join(spot.actions) or 'nothing yet'}.")
    heading = "\n".join(f"# {' '.join(printable(comment).split())}" for comment in comments)
    dead = f"dead = {spot.dead}  # chips of the pot that are not from P1 and P2, such as those of players who folded\n"
    bets, raises = (_sizes_text(kind, _played_sizes(spot, first)[kind]) for kind in (BET, RAISE))
    return f"""{heading}

board = "{spot.board}"

pot = {spot.pot}
stack = {spot.stack}
{dead if spot.dead else ""}
# A hand history does not hold the ranges: write them for "any", every hand, such as "QQ+, AKs, AQs:0.5".
range1 = "any"  # P1, who moves first: {printable(one)}
range2 = "any"  # P2: {printable(two)}

# A usual size, and those that were played: {CHIPS} for chips beyond a call, {ALL_IN} for all-in.
bets = {bets}
raises = {raises}
"""


def _played_sizes(spot: RecordedSpot, street: int) -> dict[str, dict[str, list[str]]]:
    """Return the sizes of bets and of raises in a spot's actions, each by street and player, such as ``turn P2``."""
    found: dict[str, dict[str, list[str]]] = {BET: {}, RAISE: {}}
    mover, highest = 0, 0
    for action in spot.actions:
        kind, _, total = action.partition(" ")
        if kind in found:
            size = ALL_IN if int(total) == spot.stack else f"{int(total) - highest}{CHIPS}"
            sizes = found[kind].setdefault(f"{STREETS[street]} P{mover + 1}", [])
            sizes += [size] if size not in sizes else []
            highest = int(total)
        if kind in (CHECK, CALL, FOLD, BET, RAISE):
            mover = 1 - mover
        else:  # a card, with which the next street begins
            street, mover = street + 1, 0
    return found


def _sizes_text(kind: str, played: dict[str, list[str]]) -> str:
    """Return lists of sizes as text in quotes."""
    if not played:
        return f'"{USUAL[kind]}"'
    clauses = [USUAL[kind], *[f"{where}: {', '.join([USUAL[kind], *sizes])}" for where, sizes in played.items()]]
    lines = "".join(f"    {clause}\n" for clause in clauses)
    return f'"""\n{lines}"""'
