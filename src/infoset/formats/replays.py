"""Recorded games: replays of this library, and recordings of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from infoset.catalog import RECORDINGS
from infoset.errors import FormatError, UnsupportedGameError, shorten
from infoset.files import MAX_TEXT_BYTES, DamageError, decode_json
from infoset.match.replay import Match

REPLAY = "steps"  # the key that identifies a replay


def read_match(path: str) -> Match:
    """Read a replay, or a recording of another program.  Raises ``FormatError``."""
    recording = recording_of(json_keys(path))
    return Match.load(path) if recording is None else recording.read_game(path)


def recording_of(keys: set[str]) -> Any:
    """Return the module that reads the recordings with these keys; ``None`` for a replay, a policy or no JSON."""
    own = not keys or REPLAY in keys or "tables" in keys
    return None if own else next((RECORDINGS[key] for key in sorted(keys) if key in RECORDINGS), None)


def writer_for(match: Match) -> Any:
    """Return the module that writes recordings of the game of a match.  Raises ``UnsupportedGameError``."""
    for key in RECORDINGS:
        if match.game.startswith(RECORDINGS[key].GAMES):
            return RECORDINGS[key]
    raise UnsupportedGameError(f"{shorten(match.game)} is recorded by no other program")


def json_keys(path: str) -> set[str]:
    """Return the keys of the object in a .json file of at most ``MAX_TEXT_BYTES``; no keys for other files."""
    file = Path(path)
    if file.suffix != ".json" or not file.is_file() or file.stat().st_size > MAX_TEXT_BYTES:
        return set()
    try:
        return set(decode_json(file.read_bytes(), dict[str, msgspec.Raw]))
    except (OSError, DamageError) as error:
        raise FormatError(f"no JSON object: {shorten(str(error))}", path) from None
