"""What the playground has and this package has not: it can be imported, and says so where it is used."""

from __future__ import annotations

from typing import Any, NoReturn

from infoset.errors import UnsupportedGameError


def absent(name: str, instead: str) -> type[Any]:
    """A class that stands for one of the playground's; making an object of it raises ``UnsupportedGameError``."""

    def refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
        del self, args, kwargs
        raise UnsupportedGameError(f"pommerman.{name} is not offered; {instead}")

    return type(name.rpartition(".")[2], (), {"__init__": refuse, "__doc__": f"Not offered: {instead}."})
