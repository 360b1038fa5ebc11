"""How quickly recorded games are shown."""

from __future__ import annotations

from infoset.errors import ParameterError

SPEED, SLOW = 6.0, 1.0  # steps a second: of Pommerman, of games that are thought over
SLOWEST, FASTEST = 0.1, 100.0


def check_speed(speed: float | None) -> None:
    """Raises ``ParameterError`` for what is no speed; ``None`` is what suits the game."""
    if speed is not None and not SLOWEST <= speed <= FASTEST:
        raise ParameterError(f"speed={speed} is out of range; allowed: {SLOWEST:g} to {FASTEST:g} steps a second")
