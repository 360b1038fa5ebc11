"""Recorded games: replays of this library, and recordings of Pommerman's reference."""

from __future__ import annotations

from pathlib import Path

import msgspec

from infoset.errors import FormatError, shorten
from infoset.files import MAX_TEXT_BYTES, DamageError, decode_json
from infoset.match.playground_json import read_game
from infoset.match.replay import Match

RECORDS = {"state", "blob"}  # keys that identify a recording of Pommerman's reference


def read_match(path: str) -> Match:
    """Read a replay, or a recording of Pommerman's reference.  Raises ``FormatError``."""
    if not json_keys(path) & RECORDS:
        return Match.load(path)
    return read_game(path)


def json_keys(path: str) -> set[str]:
    """Return the keys of the object in a .json file of at most ``MAX_TEXT_BYTES``; no keys for other files."""
    file = Path(path)
    if file.suffix != ".json" or not file.is_file() or file.stat().st_size > MAX_TEXT_BYTES:
        return set()
    try:
        return set(decode_json(file.read_bytes(), dict[str, msgspec.Raw]))
    except (OSError, DamageError) as error:
        raise FormatError(f"no JSON object: {shorten(str(error))}", path) from None
