"""The encoder of Pommerman's information states for learners (extra ``interop``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from infoset.base import ObservationRecord
from infoset_pommerman.config import Config
from infoset_pommerman.encoding import encode_seen
from infoset_pommerman.observation import Seen
from infoset_pommerman.planes import CHANNELS, FULL, SCALARS

INT16 = np.iinfo(np.int16)


class PlanesEncoder:
    """An encoder of Pommerman's last step as planes (channels, n, n) and scalars, see ``infoset_pommerman.planes``."""

    def __init__(self, config: Config) -> None:
        self.config = config
        size = config.size
        self.space = spaces.Dict(
            {
                "planes": spaces.Box(0, FULL, (len(CHANNELS), size, size), np.uint8),
                "scalars": spaces.Box(INT16.min, INT16.max, (len(SCALARS),), np.int16),
            }
        )

    def __call__(self, player: int, known: Sequence[ObservationRecord]) -> dict[str, npt.NDArray[Any]]:
        """Return ``planes`` and ``scalars``."""
        seen = known[-1][1]
        assert isinstance(seen, Seen)
        planes, scalars = encode_seen(seen, self.config, player)
        return {"planes": planes, "scalars": scalars}
