"""Three-player matching pennies (Jordan 1993), a game in which no learning rule of a wide class converges."""

from __future__ import annotations

from itertools import product

from infoset.games.matrix import matrix_game
from infoset.games.rules import Rules


def matching_pennies_3p() -> Rules:
    """P1 wants to match P2, P2 to match P3, and P3 to differ from P1; the equilibrium is uniform."""
    payoffs: dict[tuple[int, ...], tuple[float, ...]] = {
        (a, b, c): (1.0 if a == b else -1.0, 1.0 if b == c else -1.0, 1.0 if c != a else -1.0)
        for a, b, c in product(range(2), repeat=3)
    }
    return matrix_game("matching_pennies_3p", (("Heads", "Tails"),) * 3, payoffs)
