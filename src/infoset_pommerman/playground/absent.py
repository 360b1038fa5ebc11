"""Placeholders for parts of the playground that are not offered: they can be imported, but raise an error when used."""

from __future__ import annotations

from typing import Any, NoReturn

from infoset.errors import UnsupportedGameError


def absent(name: str, instead: str) -> type[Any]:
    """Return a placeholder for one of the playground's classes; making an object raises ``UnsupportedGameError``."""

    def refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
        del self, args, kwargs
        raise UnsupportedGameError(f"pommerman.{name} is not offered; {instead}")

    return type(name.rpartition(".")[2], (), {"__init__": refuse, "__doc__": f"Not offered: {instead}."})
