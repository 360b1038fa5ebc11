"""A whole competition from one TOML file: the game, the teams, who meets whom, the limits."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from infoset.arena.tournament import MOVE_LIMIT, SLOW, Standings, tournament
from infoset.errors import FormatError, shorten
from infoset.executors import LOCAL, Where
from infoset.files import read_text


class Limits(msgspec.Struct, forbid_unknown_fields=True):
    """As for ``tournament``: times in seconds, ``memory`` of an agent's process in MiB."""

    seconds_per_move: float | None = None
    start_clock: float | None = None
    move_limit: float = MOVE_LIMIT
    slow: float = SLOW
    isolate: bool | None = None
    memory: int | None = None


class Competition(msgspec.Struct, forbid_unknown_fields=True):
    """What a file says; all but the game and the teams has a default."""

    game: str
    teams: list[str]
    format: str = "round-robin"
    seed: int = 0
    limits: Limits = msgspec.field(default_factory=Limits)

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of ``tournament`` beside the game and the teams."""
        return {"format": self.format, "seed": self.seed, **msgspec.structs.asdict(self.limits)}

    @staticmethod
    def kept(file: Path, db: Path | None) -> Path:
        """Where its games are: beside its file, unless that is said."""
        return file.with_suffix(".db") if db is None else db


def read(file: Path) -> Competition:
    """Raises ``FormatError`` for what is no competition."""
    try:
        return msgspec.convert(tomllib.loads(read_text(file)), type=Competition)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"not TOML: {error}", str(file)) from None
    except msgspec.ValidationError as error:
        raise FormatError(f"no competition: {shorten(str(error), 200)}", str(file)) from None


def compete(
    file: str | Path,
    *,
    db: str | Path | None = None,
    workers: int | None = None,
    executor: Where = LOCAL,
    progress: Callable[[Standings], object] | None = None,
) -> Standings:
    """Play the competition of a TOML file, or go on with it; its games are kept in ``db``, by default beside the file.
    ``workers`` and ``executor`` are those of ``tournament``.

    Raises ``FormatError`` for a file that is none, and what ``tournament`` raises.

    >>> import infoset
    >>> from pathlib import Path
    >>> text = 'game = "rock_paper_scissors"\\nteams = ["random", "random"]\\nformat = "swiss(rounds=1,wins=1)"\\n'
    >>> _ = Path("cup.toml").write_text(text)
    >>> infoset.compete("cup.toml", workers=1).stopped
    'games'
    """
    found, path = read(Path(file)), None if db is None else Path(db)
    return tournament(
        found.game, found.teams, db=found.kept(Path(file), path), workers=workers, executor=executor,
        progress=progress, **found.settings,
    )  # fmt: skip
