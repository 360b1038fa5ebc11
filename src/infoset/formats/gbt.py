"""Files of Gambit's window (``.gbt``): colours, fonts and profiles in XML, and among them an .efg or .nfg file.

The game stands between the tags ``<efgfile>`` or ``<nfgfile>`` verbatim: Gambit escapes nothing in it, so that a label
with ``&`` or ``<`` makes the file invalid XML.  The game is therefore found as text, and no XML is parsed: entities and
document types have no effect.
"""

from __future__ import annotations

import re
from pathlib import Path

from infoset.errors import FormatError
from infoset.files import read_text
from infoset.formats.efg import EfgGame, parse_efg
from infoset.formats.nfg import NfgGame, parse_nfg

GAME = re.compile(r"<(efgfile|nfgfile)(?:\s[^<>]*)?>")
"""The tag before the text of a game."""


def read_gbt(path: str | Path) -> EfgGame | NfgGame:
    """Read a ``.gbt`` file of at most ``files.MAX_TEXT_BYTES`` bytes as a game.

    Raises ``FormatError`` with the line and column in that file.
    """
    file = str(path)
    text = read_text(Path(path))
    name, where = Path(path).stem, str(Path(path).resolve())
    kind, game = _game_text(text, file)
    if kind == "efgfile":
        return EfgGame(parse_efg(game, file), name, where)
    return NfgGame(parse_nfg(game, file), name, where)


def _game_text(text: str, file: str) -> tuple[str, str]:
    """Return the kind and the text of the first game, padded so that its lines and columns are those of the file."""
    begin = GAME.search(text)
    if begin is None:
        raise FormatError("found no game, expected one in <efgfile> or <nfgfile>, as Gambit's window saves it", file)
    end = text.find(f"</{begin[1]}>", begin.end())
    if end < 0:
        line = text.count("\n", 0, begin.start()) + 1
        column = begin.start() - text.rfind("\n", 0, begin.start())
        raise FormatError(f"found {begin[0]} without an end, expected </{begin[1]}>", file, line, column)
    return begin[1], re.sub(r"[^\n]", " ", text[: begin.end()]) + text[begin.end() : end]
