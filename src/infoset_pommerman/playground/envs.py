"""The playground's environments; here the class ``Pomme`` serves every version."""

from infoset_pommerman.playground import env as v0
from infoset_pommerman.playground import env as v1
from infoset_pommerman.playground import env as v2

__all__ = ["v0", "v1", "v2"]
__path__: list[str] = []
