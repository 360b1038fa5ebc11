"""The game descriptions that are shipped with infoset, called ``gdl:NAME``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from infoset.errors import UnknownNameError
from infoset.gdl.syntax import Description, parse_gdl

if TYPE_CHECKING:
    from infoset.gdl.game import GdlGame

PREFIX = "gdl:"
SUFFIX = ".gdl"


@cache
def library() -> dict[str, Traversable]:
    """Return the shipped files by name."""
    folder = files("infoset.gdl") / "library"
    found = {file.name.removesuffix(SUFFIX): file for file in folder.iterdir() if file.name.endswith(SUFFIX)}
    return dict(sorted(found.items()))


def description(name: str) -> Description:
    """Return a shipped description by name (without the prefix).  Raises ``UnknownNameError``."""
    if name not in library():
        raise UnknownNameError("game", PREFIX + name, [PREFIX + known for known in library()])
    return parse_gdl(library()[name].read_text(encoding="utf-8"), PREFIX + name)


def about(name: str) -> str:
    """Return the first line of a shipped file's header."""
    first = library()[name].read_text(encoding="utf-8").splitlines()[0]
    return first.lstrip("; ").strip()


def gdl_title(text: str) -> str:
    """Return the name that the first line of a description gives its game, up to a colon; "" if it is no comment.

    >>> from infoset.gdl.library import gdl_title
    >>> gdl_title("; Meier (Mia): claim a higher throw each time.")
    'Meier (Mia)'
    """
    first = text.partition("\n")[0]
    return first.lstrip("; ").partition(":")[0].strip() if first.startswith(";") else ""


def load_library(name: str) -> GdlGame:
    """Return the game of a shipped description.  Raises ``UnknownNameError``."""
    from infoset.gdl.game import GdlGame  # imported here, since listing the names needs no kernels

    return GdlGame(description(name), PREFIX + name)
