"""Recordings of games for the page: of replays and of games of tournaments."""

from __future__ import annotations

from pathlib import Path

import msgspec

from infoset.arena.store import load_replay
from infoset.errors import BudgetError, FormatError
from infoset.formats.replays import read_match
from infoset.match.replay import Match
from infoset.view.recording import recording
from infoset.web.artifacts import find
from infoset.web.metadata import kind_of

MAX_STEPS = 20_000
MAX_BYTES = 24 << 20


class Watching:
    """Answers about games that are over and can be watched."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = folders

    def recording(self, name: str, number: int) -> bytes:
        """Return the recording of a replay, or of game ``number`` of a tournament, as JSON for the player.

        Raises ``Refusal`` and ``InfosetError``: for an item that is not a replay, names code, or is too long.
        """
        match = self.match(name, number)
        if len(match.steps) > MAX_STEPS:
            raise BudgetError(f"{len(match.steps):,} steps; the page shows {MAX_STEPS:,}")
        body = msgspec.json.encode(recording(match))
        if len(body) > MAX_BYTES:
            raise BudgetError(f"a recording of {len(body):,} bytes; the page shows {MAX_BYTES:,}")
        return body

    def match(self, name: str, number: int) -> Match:
        """Return a replay, or game ``number`` of a tournament.  Raises ``Refusal`` and ``FormatError``."""
        item = find(self.folders, name)
        if item.kind == "tournament":
            return load_replay(item.path, number)
        if kind_of(item) != "replay":
            raise FormatError("no replay", item.title)
        return read_match(str(item.path))
