"""The playing speed of recorded games."""

from __future__ import annotations

from infoset.errors import ParameterError

SLOW = 1.0  # steps per second of games that take thought
SLOWEST, FASTEST = 0.1, 100.0


def check_speed(speed: float | None) -> None:
    """Raise ``ParameterError`` unless ``speed`` is valid; ``None`` stands for the game's default."""
    if speed is not None and not SLOWEST <= speed <= FASTEST:
        raise ParameterError(f"speed={speed} is out of range; allowed: {SLOWEST:g} to {FASTEST:g} steps a second")
