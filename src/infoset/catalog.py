"""The one way in: a game by name, by file, from the library of descriptions or from OpenSpiel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from infoset.base import Game
from infoset.errors import FormatError, UnknownNameError
from infoset.formats.efg import read_efg
from infoset.games.cooperative_matching_pennies import cooperative_matching_pennies
from infoset.games.goofspiel import goofspiel
from infoset.games.kuhn_poker import kuhn_poker
from infoset.games.leduc_poker import leduc_poker
from infoset.games.liars_dice import liars_dice
from infoset.games.matching_pennies_3p import matching_pennies_3p
from infoset.games.rock_paper_scissors import rock_paper_scissors
from infoset.games.tiny_bridge import tiny_bridge
from infoset.games.tiny_hanabi import tiny_hanabi
from infoset.games.trade_comm import trade_comm
from infoset.names import build, parse_name

GAMES: dict[str, Callable[..., Game]] = {
    "cooperative_matching_pennies": cooperative_matching_pennies,
    "goofspiel": goofspiel,
    "kuhn_poker": kuhn_poker,
    "leduc_poker": leduc_poker,
    "liars_dice": liars_dice,
    "matching_pennies_3p": matching_pennies_3p,
    "rock_paper_scissors": rock_paper_scissors,
    "tiny_bridge": tiny_bridge,
    "tiny_hanabi": tiny_hanabi,
    "trade_comm": trade_comm,
}

OPENSPIEL = "openspiel:"
GDL = "gdl:"
POMMERMAN = "pommerman:"
MAX_PATH = 255


def _read_gdl(path: str) -> Game:
    from infoset.gdl.game import read_gdl_game

    return read_gdl_game(path)


READERS: dict[str, Callable[[str], Game]] = {".efg": read_efg, ".gdl": _read_gdl, ".kif": _read_gdl}


def load(name: str) -> Game:
    """A game by name (``"kuhn_poker(players=3)"``, ``"gdl:meier"``, ``"pommerman:PommeFFACompetition-v0"``), file
    (``.efg``, ``.gdl``, ``.kif``) or ``"openspiel:NAME(…)"``.

    Raises ``UnknownNameError``, ``ParameterError``, ``FormatError`` or ``MissingExtraError``.

    >>> infoset.load("kuhn_poker(players=3)").players
    ('P1', 'P2', 'P3')
    >>> infoset.load("kuhn_poke")
    Traceback (most recent call last):
    infoset.errors.UnknownNameError: unknown game 'kuhn_poke'; did you mean 'kuhn_poker'?
    """
    if name.startswith(OPENSPIEL):
        from infoset.formats.openspiel import load_openspiel

        return load_openspiel(name.removeprefix(OPENSPIEL))
    reader = READERS.get(Path(name).suffix.lower())
    if reader is not None:
        return reader(name)
    if len(name) < MAX_PATH and Path(name).is_file():
        raise FormatError(f"unknown kind of game file {Path(name).suffix!r}; known: {', '.join(READERS)}", name)
    parsed = parse_name(name)
    if parsed.word not in GAMES and parsed.word not in known_games():
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


def known_games() -> list[str]:
    """Every game that has a name: the native ones, the library's descriptions, the variants of Pommerman."""
    from infoset.gdl.library import library
    from infoset.pommerman.config import CONFIGS

    return [*GAMES, *(GDL + name for name in library()), *(POMMERMAN + name for name in CONFIGS)]
