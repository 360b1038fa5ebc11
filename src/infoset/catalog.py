"""Loading of games: by name, by file, from the library of descriptions or from OpenSpiel."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import msgspec

from infoset.arguments import checks_arguments
from infoset.base import Game
from infoset.errors import (
    FormatError,
    InfosetError,
    ParameterError,
    PluginError,
    UnknownNameError,
    UnsupportedGameError,
    one_line,
    shorten,
)
from infoset.files import DamageError, decode_json, describe_damage, no_such_path
from infoset.gdl.library import about as about_described
from infoset.gdl.library import library, load_library
from infoset.names import build, parse_name
from infoset.registry import (
    PYTHON,
    Entry,
    Registry,
    build_foreign,
    build_own,
    check_trusted,
    entry_of,
    own_name,
    path_problem,
)

GAMES: Registry[Game] = Registry(
    "game",
    {
        name: f"infoset.games.{name}:{name}"
        for name in (
            "battleship",
            "cooperative_matching_pennies",
            "dark_hex",
            "goofspiel",
            "hanabi",
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
    | {name: f"infoset.games.holdem:{name}" for name in ("holdem", "holdem_river", "holdem_turn")},
    group="infoset.games",
)
"""The native games, and those of installed packages."""

OPENSPIEL = "openspiel:"
KAGGLE = "kaggle:"
GDL = "gdl:"
FAMILIES: Registry[Any] = Registry("family", {}, group="infoset.families")
"""The families of games ``WORD:NAME``: objects that map each ``NAME`` to the maker of a game."""
FILE_PARAMETERS = frozenset({"file", "path", "state"})
"""Parameters of games whose value is the path of a file."""
SPOT = ".toml"
"""The end of the names of files that hold the parameters of a game, a spot of hold'em."""
HAND = ".phh"
"""The end of the names of hand histories of poker."""
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
        SPOT: "infoset.formats.spot_file:read_spot",
    },
    group="infoset.readers",
)
"""The readers of files of games, by the ends of their names."""

RECORDINGS: Mapping[str, Any] = Registry("recording", {}, group="infoset.recordings")
"""The modules that read and write recordings of other programs, by the keys that identify their JSON files."""

LIBRARIES: Registry[Game] = Registry(
    "library",
    {OPENSPIEL: "infoset.formats.openspiel:load_openspiel", KAGGLE: "infoset.formats.kaggle:load_kaggle"},
)
"""The loaders of games of other libraries, by the beginnings of their names."""

POLICIES: Registry[Any] = Registry(
    "library of policies", dict.fromkeys(("open_spiel", "pyspiel"), "infoset.formats.openspiel:import_policy")
)
"""The converters of policies of other libraries, by the packages of their classes."""


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
    """Return the name by which ``load`` finds a game again; for a run's folder, the name of its game.

    A spot in a file is named by its parameters, so that what is made of it does not depend on the file.
    """
    if isinstance(game, str) and is_spot(game):
        return load(game).name
    return game_of_run(game) or game if isinstance(game, str) else own_name(game) or str(game.name)


def is_spot(name: str) -> bool:
    """Return whether a game's name is that of a file with the parameters of a named game."""
    return Path(name).suffix.lower() == SPOT


@checks_arguments
def load(name: str) -> Game:
    """Load a game by its name, from a file, or from your own Python code.

    A name is such as ``"kuhn_poker(players=3)"``, ``"gdl:meier"``, ``"pommerman:PommeFFACompetition-v0"``,
    ``"openspiel:NAME(…)"`` or ``"kaggle:open_spiel_NAME(…)"``; a file is an ``.efg``, ``.nfg``, ``.gbt``, ``.csv``,
    ``.gdl`` or ``.kif``, or a spot of hold'em, ``.toml``; your own game is ``"python:FILE.py:Class(…)"``.  A run's
    folder stands for the game of that run.

    Raises ``UnknownNameError``, ``ParameterError``, ``FormatError`` or ``MissingExtraError``.

    >>> infoset.load("kuhn_poker(players=3)").players
    ('P1', 'P2', 'P3')
    >>> infoset.load("kuhn_poke")
    Traceback (most recent call last):
    infoset.errors.UnknownNameError: unknown game 'kuhn_poke'; did you mean 'kuhn_poker'?
    """
    if name.startswith(PYTHON):
        return _load_own(name)
    for prefix in LIBRARIES:
        if name.startswith(prefix):
            return LIBRARIES[prefix](name.removeprefix(prefix))
    if (played := game_of_run(name)) is not None:
        return load_named(played, f"the run in {name}")
    suffix = Path(name).suffix.lower()
    if suffix and suffix in READERS:
        return READERS[suffix](name)
    if ".py" in name and (problem := path_problem(name, "names")):
        raise problem
    if os.path.isfile(name):  # noqa: PTH113 - no error where no file can have this name
        if suffix == HAND:
            raise FormatError(f"a hand history, not a game; infoset convert makes a spot of it, a file {SPOT}", name)
        raise FormatError(f"unknown kind of game file {Path(name).suffix!r}; known: {', '.join(READERS)}", name)
    if re.fullmatch(r"[^()=]+\.\w{1,5}", name):
        raise FormatError(f"{no_such_path(name)}, and no kind of game file; known: {', '.join(READERS)}", name)
    return _load_known(name)


def _load_known(name: str, hints: bool = True) -> Game:
    """Load a game that is known by name here; ``hints``: whether files of similar names may be suggested."""
    parsed = parse_name(name)
    if parsed.word in GAMES:
        game = GAMES.build(parsed)
        return game if parsed.word in GAMES.homes else check_is_game(game, name)
    family, _, member = parsed.word.partition(":")
    if member and (makers := family_of(family)) is not None and member in makers:
        named = parsed._replace(word=member)
        return check_is_game(build_foreign(f"{family} game", named, {member: makers[member]}), name)
    if parsed.word not in known_games():
        if hints and (problem := path_problem(parsed.word, "names")):
            raise problem
        raise UnknownNameError("game", parsed.word, known_games())
    return build("game", parsed, {parsed.word: lambda: load_library(member)})


def _load_own(name: str) -> Game:
    """Load a game of the user's own by running its code."""
    return check_is_game(build_own("game", parse_name(name)), name)


def check_is_game(made: object, name: str) -> Game:
    """Return what was made under a name.  Raises ``ParameterError`` where it is not a game."""
    if isinstance(made, type) or not isinstance(made, Game):
        what = f"the class {made.__name__}" if isinstance(made, type) else f"an object of class {type(made).__name__}"
        raise ParameterError(f"{shorten(name)} makes {what}, not a game; a game needs name, players and start")
    return made


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
        raise UnsupportedGameError(
            f"{where} names {one_line(word)!r}, which is not a shipped game; only shipped games are allowed here"
        )
    for key, value in parse_name(name).parameters:
        if key in FILE_PARAMETERS and value is not None:
            raise UnsupportedGameError(f"{where} names a file of this machine, {key}={one_line(str(value))}")
    return _load_known(name, hints=False)


def family_of(word: str) -> Mapping[str, Callable[..., Game]] | None:
    """Return the makers of the games ``word:NAME`` by name; ``None`` for no family.  Raises ``PluginError``."""
    return cast("Mapping[str, Callable[..., Game]]", FAMILIES[word]) if word and word in FAMILIES else None


def maker_of(word: str) -> Callable[..., Game]:
    """Return the maker of a native game or of a game of an installed package.  Raises ``UnknownNameError``."""
    if word in GAMES:
        return GAMES[word]
    family, _, member = word.partition(":")
    makers = family_of(family) or {}
    if member not in makers:
        raise UnknownNameError("game", word, known_games())
    return makers[member]


def training_method(name: str) -> str | None:
    """Return the method by which a game is learnt unless another is asked for, as its maker says; ``None``: any."""
    family = family_of(name.partition(":")[0]) if ":" in name else None
    maker = (family or {}).get(name.partition(":")[2].partition("(")[0])
    return getattr(maker, "training_method", None)


def _families() -> dict[str, Mapping[str, Callable[..., Game]]]:
    """Return every family of games that can be imported, by its word."""
    found = {}
    for word in FAMILIES:
        with suppress(PluginError):
            found[word] = family_of(word) or {}
    return found


def list_games() -> list[Entry]:
    """List the games that are known by name, with their parameters and a line about each.

    >>> [entry.name for entry in infoset.list_games()][:2]
    ['battleship', 'cooperative_matching_pennies']
    """
    entries = [*GAMES.entries(), *(Entry(GDL + name, {}, about_described(name)) for name in library())]
    for word in FAMILIES:
        try:
            makers = family_of(word) or {}
            entries += [entry_of(f"{word}:{name}", maker) for name, maker in makers.items()]
        except InfosetError as error:
            entries.append(Entry(f"{word}:", {}, str(error)))
    return entries


def about(name: str) -> str:
    """Return a line about a game by its name; empty for files and games of the user's own."""
    word = name.partition("(")[0]
    described = word.removeprefix(GDL)
    if word in GAMES:
        return GAMES.entry(word).about
    if word != described:
        return about_described(described) if described in library() else ""
    family, _, member = word.partition(":")
    makers = _families().get(family, {})
    return entry_of(word, makers[member]).about if member in makers else ""


def known_games() -> list[str]:
    """Return every game that has a name: the native ones, the library's descriptions, those of installed packages."""
    others = [f"{word}:{name}" for word, makers in _families().items() for name in makers]
    return [*GAMES, *(GDL + name for name in library()), *others]
