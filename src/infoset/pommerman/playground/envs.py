"""The playground's environments: one class here, ``Pomme``, whatever the version."""

from infoset.pommerman.playground import env as v0
from infoset.pommerman.playground import env as v1
from infoset.pommerman.playground import env as v2

__all__ = ["v0", "v1", "v2"]
__path__: list[str] = []
