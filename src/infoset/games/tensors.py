"""What the encoders of native games share: the inputs of networks that are trained with OpenSpiel, bit for bit.

Each game's encoder stands in the game's module.  Its tensors are those of OpenSpiel at every information set where the
player moves; parameters of a game that OpenSpiel does not have extend them in the obvious way.
"""

from __future__ import annotations

from itertools import accumulate

from infoset.errors import UnsupportedGameError
from infoset.names import check_choice

OBSERVATION, INFORMATION_STATE = "observation", "information-state"
KINDS = (OBSERVATION, INFORMATION_STATE)


def has_recall(game: str, kind: str, allowed: tuple[str, ...] = KINDS) -> bool:
    """Return whether tensors of this ``kind`` contain all that a player has seen.

    Raises ``ParameterError`` for an unknown kind, ``UnsupportedGameError`` for one that OpenSpiel lacks.
    """
    check_choice(f"{game}: tensor_encoder: kind", kind, KINDS)
    if kind not in allowed:
        raise UnsupportedGameError(
            f"{game}: OpenSpiel has no {kind} tensor of this game; allowed: {', '.join(allowed)}"
        )
    return kind == INFORMATION_STATE


def layout(**sizes: int) -> tuple[dict[str, int], int]:
    """Return where each part of a tensor begins, parts following each other, and the size of all."""
    *begins, size = accumulate(sizes.values(), initial=0)
    return dict(zip(sizes, begins, strict=True)), size
