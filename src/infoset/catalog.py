"""Loading of games: by name, by file, from the library of descriptions or from OpenSpiel."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import msgspec

from infoset.arguments import checks_arguments
from infoset.base import Game
from infoset.errors import FormatError, ParameterError, UnknownNameError, UnsupportedGameError, one_line, shorten
from infoset.files import DamageError, decode_json, describe_damage, no_such_path
from infoset.names import build, parse_name
from infoset.registry import PYTHON, Entry, Registry, build_own, check_trusted, own_name, path_problem

GAMES: Registry[Game] = Registry(
    "game",
    {
        name: f"infoset.games.{name}:{name}"
        for name in (
            "battleship",
            "cooperative_matching_pennies",
            "dark_hex",
            "goofspiel",
            "kuhn_poker",
            "leduc_poker",
            "liars_dice",
            "matching_pennies_3p",
            "oshi_zumo",
            "phantom_tic_tac_toe",
            "rock_paper_scissors",
            "tiny_bridge",
            "tiny_hanabi",
            "trade_comm",
        )
    }
    | {name: f"infoset.games.holdem:{name}" for name in ("holdem_river", "holdem_turn")},
)
"""The native games."""

OPENSPIEL = "openspiel:"
GDL = "gdl:"
POMMERMAN = "pommerman:"
FILE_PARAMETERS = frozenset({"state"})
"""Parameters of shipped games whose value is the path of a file."""
CONFIG = "config.json"
"""The file that identifies a run's folder."""


READERS: Registry[Game] = Registry(
    "reader",
    {
        ".efg": "infoset.formats.efg:read_efg",
        ".nfg": "infoset.formats.nfg:read_nfg",
        ".gbt": "infoset.formats.gbt:read_gbt",
        ".csv": "infoset.formats.csv_table:read_csv",
        ".gdl": "infoset.gdl.game:read_gdl_game",
        ".kif": "infoset.gdl.game:read_gdl_game",
    },
)
"""The readers of files of games, by the ends of their names."""

LIBRARIES: Registry[Game] = Registry("library", {OPENSPIEL: "infoset.formats.openspiel:load_openspiel"})
"""The loaders of games of other libraries, by the beginnings of their names."""


def game_of_run(name: str) -> str | None:
    """Return the name of the game of the run or training in folder ``name``; ``None`` where that is no such folder.

    Raises ``FormatError`` for a broken one.
    """
    file = f"{name}/{CONFIG}"
    if not os.path.isfile(file):  # noqa: PTH113 - no error where no file can have this name
        return None
    try:
        return decode_json(Path(file).read_bytes(), _Run).game
    except (OSError, DamageError) as error:
        raise FormatError(f"no run's configuration: {describe_damage(error)}", file) from None


class _Run(msgspec.Struct):
    game: str


def name_of(game: Any) -> str:
    """Return the name by which ``load`` finds a game again; for a run's folder, the name of its game."""
    return game_of_run(game) or game if isinstance(game, str) else own_name(game) or str(game.name)


@checks_arguments
def load(name: str) -> Game:
    """Load a game by its name, from a file, or from your own Python code.

    A name is such as ``"kuhn_poker(players=3)"``, ``"gdl:meier"``, ``"pommerman:PommeFFACompetition-v0"`` or
    ``"openspiel:NAME(…)"``; a file is an ``.efg``, ``.nfg``, ``.gbt``, ``.csv``, ``.gdl`` or ``.kif``; your own game is
    ``"python:FILE.py:Class(…)"``.  A run's folder stands for the game of that run.

    Raises ``UnknownNameError``, ``ParameterError``, ``FormatError`` or ``MissingExtraError``.

    >>> infoset.load("kuhn_poker(players=3)").players
    ('P1', 'P2', 'P3')
    >>> infoset.load("kuhn_poke")
    Traceback (most recent call last):
    infoset.errors.UnknownNameError: unknown game 'kuhn_poke'; did you mean 'kuhn_poker'?
    """
    if name.startswith(PYTHON):
        return _load_own(name)
    if name.startswith(OPENSPIEL):
        return LIBRARIES[OPENSPIEL](name.removeprefix(OPENSPIEL))
    if (played := game_of_run(name)) is not None:
        return load_named(played, f"the run in {name}")
    suffix = Path(name).suffix.lower()
    if suffix and suffix in READERS:
        return READERS[suffix](name)
    if ".py" in name and (problem := path_problem(name, "names")):
        raise problem
    if os.path.isfile(name):  # noqa: PTH113 - no error where no file can have this name
        raise FormatError(f"unknown kind of game file {Path(name).suffix!r}; known: {', '.join(READERS)}", name)
    if re.fullmatch(r"[^()=]+\.\w{1,5}", name):
        raise FormatError(f"{no_such_path(name)}, and no kind of game file; known: {', '.join(READERS)}", name)
    return _load_known(name)


def _load_known(name: str, hints: bool = True) -> Game:
    """Load a game that is known by name here; ``hints``: whether files of similar names may be suggested."""
    parsed = parse_name(name)
    if parsed.word not in GAMES and parsed.word not in known_games():
        if hints and (problem := path_problem(parsed.word, "names")):
            raise problem
        raise UnknownNameError("game", parsed.word, known_games())
    if parsed.word.startswith(GDL):
        from infoset.gdl.library import load_library

        found = parsed.word.removeprefix(GDL)
        return build("game", parsed, {parsed.word: lambda: load_library(found)})
    if parsed.word.startswith(POMMERMAN):
        from infoset.pommerman.game import VARIANTS

        variant = parsed._replace(word=parsed.word.removeprefix(POMMERMAN))
        return build("Pommerman variant", variant, VARIANTS)
    return build("game", parsed, GAMES)


def _load_own(name: str) -> Game:
    """Load a game of the user's own by running its code."""
    parsed = parse_name(name)
    game = build_own("game", parsed)
    if isinstance(game, type) or not isinstance(game, Game):
        what = f"the class {game.__name__}" if isinstance(game, type) else f"an object of class {type(game).__name__}"
        raise ParameterError(f"{shorten(name)} makes {what}, not a game; a game needs name, players and start")
    return game


def load_named(name: str, where: str) -> Game:
    """Load a game that a file names.  Raises ``UnsupportedGameError`` where that would run a user's code."""
    check_trusted(name, where)
    return load(name)


def load_shipped(name: str, where: str) -> Game:
    """Load a game that comes with infoset, by a name from somebody who must not reach the files of this machine.

    ``where`` says in errors who gave the name.  Nothing outside of the package is opened, looked for or run: files,
    folders of runs, ``python:`` and ``openspiel:`` (whose games may name files as well) raise
    ``UnsupportedGameError``, and so does a parameter that names a file.  Otherwise raises what ``load`` does.
    """
    check_trusted(name, where)
    word = name.partition("(")[0].strip()
    if word not in known_games() and (Path(word).suffix or any(sign in word for sign in ":/\\")):
        raise UnsupportedGameError(f"{where} names {one_line(word)!r}, which is no shipped game; only those are played")
    for key, value in parse_name(name).parameters:
        if key in FILE_PARAMETERS and value is not None:
            raise UnsupportedGameError(f"{where} names a file of this machine, {key}={one_line(str(value))}")
    return _load_known(name, hints=False)


def game_entries() -> list[Entry]:
    """Return every game that has a name, with its parameters and a line about it."""
    from infoset.gdl.library import about, library
    from infoset.pommerman.config import CONFIGS, parameters

    entries = [*GAMES.entries(), *(Entry(GDL + name, {}, about(name)) for name in library())]
    variants = CONFIGS.items()
    return entries + [Entry(POMMERMAN + k, parameters(k), f"Pommerman: {rules.about}.") for k, rules in variants]


def about(name: str) -> str:
    """Return a line about a game by its name; empty for files and games of the user's own."""
    from infoset.gdl.library import about, library
    from infoset.pommerman.config import CONFIGS

    word = name.partition("(")[0]
    described = word.removeprefix(GDL)
    variant = word.removeprefix(POMMERMAN)
    if word in GAMES:
        return GAMES.entry(word).about
    if word != described and described in library():
        return about(described)
    return f"Pommerman: {CONFIGS[variant].about}." if word != variant and variant in CONFIGS else ""


def known_games() -> list[str]:
    """Return every game that has a name: the native ones, the library's descriptions, the variants of Pommerman."""
    from infoset.gdl.library import library
    from infoset.pommerman.config import CONFIGS

    return [*GAMES, *(GDL + name for name in library()), *(POMMERMAN + name for name in CONFIGS)]
