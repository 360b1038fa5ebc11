"""Competitions defined by one TOML file: the game, the teams, the format and the limits."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from infoset.arena.formats import FORMATS
from infoset.arena.standings import Standings
from infoset.arena.tournament import MOVE_LIMIT, SLOW, tournament
from infoset.arguments import checks_arguments
from infoset.errors import FormatError, InfosetError, ParameterError, UnknownNameError, shorten
from infoset.executors import LOCAL, Where
from infoset.files import read_text
from infoset.names import format_value, parse_name
from infoset.registry import parameters_of


class Limits(msgspec.Struct, forbid_unknown_fields=True):
    """Limits as for ``tournament``: times in seconds, ``memory`` of an agent's process in MiB."""

    seconds_per_move: float | None = None
    start_clock: float | None = None
    move_limit: float = MOVE_LIMIT
    slow: float = SLOW
    isolate: bool | None = None
    memory: int | None = None


class Competition(msgspec.Struct, forbid_unknown_fields=True):
    """The content of a competition's file; all fields but the game and the teams have defaults."""

    game: str
    teams: list[str]
    format: str = "round-robin"
    seed: int = 0
    rank: str | None = None
    limits: Limits = msgspec.field(default_factory=Limits)

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of ``tournament`` other than the game and the teams."""
        return {"format": self.format, "seed": self.seed, "rank": self.rank, **msgspec.structs.asdict(self.limits)}

    @staticmethod
    def database_of(file: Path, db: Path | None) -> Path:
        """Return the path of the competition's games: ``db``, or by default a file beside its TOML file."""
        return file.with_suffix(".db") if db is None else db


def read(file: Path) -> Competition:
    """Read a competition's file.  Raises ``FormatError`` for an invalid one."""
    text = read_text(file)
    try:
        body = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = "; put texts in quotes" if str(error).startswith("Invalid value") else ""
        raise FormatError(f"not TOML: {error}{hint}", str(file)) from None
    except RecursionError:
        raise FormatError("not TOML: nested too deeply", str(file)) from None
    except ValueError:
        raise FormatError("not TOML: a number with too many digits", str(file)) from None
    try:
        _check(body, Competition)
        _check(body.get("limits", {}), Limits)
        return msgspec.convert(body, type=Competition)
    except (InfosetError, msgspec.ValidationError) as error:
        raise FormatError(shorten(str(error), 300), str(file)) from None


WORDS = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false",
    "list[str]": "a list of texts", "Limits": "a table, below [limits]",
}  # fmt: skip


def _check(body: dict[str, Any], kind: type[Competition | Limits]) -> None:
    """Raise an error unless all keys and values fit ``kind``.

    Raises ``UnknownNameError`` for an unknown key, ``ParameterError`` for a misplaced or missing one and for a value of
    the wrong type.
    """
    kinds = get_type_hints(kind)
    for key, value in body.items():
        if key not in kinds:
            raise _unknown(key, value, body, kind)
        try:
            msgspec.convert(value, dict[str, Any] if kinds[key] is Limits else kinds[key])
        except msgspec.ValidationError:
            word = WORDS[kind.__annotations__[key].removesuffix(" | None")]
            found = shorten(json.dumps(value, ensure_ascii=False, default=str))
            raise ParameterError(f"{key} must be {word}, found {found}") from None
    for field in msgspec.structs.fields(kind):
        if field.required and field.name not in body:
            raise ParameterError(f"{field.name} is missing; it must be {WORDS[kind.__annotations__[field.name]]}")


def _unknown(key: str, value: Any, body: dict[str, Any], kind: type[Competition | Limits]) -> InfosetError:
    """Return the error for a key that does not belong there."""
    if kind is Limits:
        if key in Competition.__struct_fields__:
            return ParameterError(f"{key} belongs before [limits]")
        return UnknownNameError("key of [limits]:", key, Limits.__struct_fields__)
    if key in Limits.__struct_fields__:
        return ParameterError(f"{key} belongs after [limits]")
    word = parse_name(str(body.get("format", Competition("", []).format))).word
    for name in (word, *FORMATS):
        if name in FORMATS and key in parameters_of(FORMATS[name]) and isinstance(value, str | int):
            example = f"{name}({key}={format_value(value)})"
            return ParameterError(f"{key} is a parameter of the format: format = {json.dumps(example)}")
    return UnknownNameError("key", key, Competition.__struct_fields__)


@checks_arguments
def compete(
    file: str | Path,
    *,
    db: str | Path | None = None,
    workers: int | None = None,
    executor: Where = LOCAL,
    progress: Callable[[Standings], object] | None = None,
) -> Standings:
    r"""Play or resume the competition of a TOML file; its games are stored in ``db``, by default beside the file.

    ``workers`` and ``executor`` are those of ``tournament``.

    Raises ``FormatError`` for an invalid file, and what ``tournament`` raises.

    >>> import infoset
    >>> from pathlib import Path
    >>> text = 'game = "rock_paper_scissors"\nteams = ["random", "random"]\nformat = "swiss(rounds=1,wins=1)"\n'
    >>> _ = Path("cup.toml").write_text(text)
    >>> infoset.compete("cup.toml", workers=1).stopped
    'games'
    """
    found, path = read(Path(file)), None if db is None else Path(db)
    return tournament(
        found.game, found.teams, db=found.database_of(Path(file), path), workers=workers, executor=executor,
        progress=progress, **found.settings,
    )  # fmt: skip
