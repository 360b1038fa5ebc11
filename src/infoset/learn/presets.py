"""Published parameters of the learning baselines, by name.

``iig-rl``: those with which each method reached the lowest exploitability after ten million steps in the sweep of
Rudolph et al. (2025), from the folder ``best_hyperparameters/min_final_expl_hparams`` of nathanlct/IIG-RL-Benchmark.
There an update of a policy gradient learns from a number of steps of eight environments; here it learns from whole
games, of which as many are played as have about that number of decisions.  R-NaD learns from whole games there too; an
update is an epoch.
"""

from __future__ import annotations

from typing import Any

from infoset.errors import ParameterError
from infoset.names import check_choice

DECISIONS = 8  # of a game, about
MOST_DECISIONS = 32
PHANTOM, ABRUPT_PHANTOM = "phantom_tic_tac_toe", "phantom_tic_tac_toe(abrupt=true)"
HEX, ABRUPT_HEX = "dark_hex", "dark_hex(abrupt=true)"


def _gradient(
    rate: float, steps: int, minibatches: int, passes: int, clip: float, entropy: float, value: float, steepest: float,
    kl: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the parameters of a policy gradient; ``steps`` are those of all environments together."""
    found = {
        "rate": rate, "games": max(1, steps // DECISIONS), "batch": steps // minibatches, "passes": passes,
        "clip": clip, "entropy": entropy, "last_entropy": entropy, "value_weight": value, "steepest": steepest,
        "discount": 0.99, "trace": 0.95, "steps": 10_000_000, "hidden": 512, "layers": 3,
    }  # fmt: skip
    return found if kl is None else found | {"kl": kl}


def _dynamics(
    rate: float, games: int, renewal: int, regularisation: float, averaging: float, trace: float
) -> dict[str, Any]:  # fmt: skip
    """Return the parameters of R-NaD, whose importance weights are 1, and so clipped to at most 1, where it plays."""
    return {
        "rate": rate, "games": games, "batch": games * MOST_DECISIONS, "renewal": renewal, "averaging": averaging,
        "regularisation": regularisation, "trace": trace, "steps": 10_000_000, "hidden": 512, "layers": 3,
    }  # fmt: skip


PRESETS: dict[str, dict[tuple[str, str], dict[str, Any]]] = {
    "iig-rl": {
        ("ppo", PHANTOM): _gradient(2.5e-4, 1024, 4, 4, 0.1, 0.05, 0.5, 0.5),
        ("ppo", ABRUPT_PHANTOM): _gradient(2.5e-4, 4096, 1, 4, 0.8, 0.2, 0.5, 1.0),
        ("ppo", HEX): _gradient(2e-3, 4096, 4, 8, 0.025, 0.05, 1.0, 2.0),
        ("ppo", ABRUPT_HEX): _gradient(2.5e-4, 2048, 8, 4, 0.025, 0.05, 0.0625, 2.0),
        ("mmd", PHANTOM): _gradient(2.5e-4, 1024, 4, 4, 0.1, 0.05, 0.5, 0.5, 0.05),
        ("mmd", ABRUPT_PHANTOM): _gradient(2.5e-4, 128, 1, 4, 0.8, 0.2, 1.0, 0.25, 0.2),
        ("mmd", HEX): _gradient(6.25e-5, 1024, 4, 1, 0.1, 0.2, 2.0, 2.0, 0.025),
        ("mmd", ABRUPT_HEX): _gradient(6.25e-5, 256, 32, 2, 0.8, 0.05, 0.0625, 0.5, 0.1),
        ("r-nad", PHANTOM): _dynamics(2e-4, 64, 12_500, 0.1, 5e-4, 0.125),
        ("r-nad", ABRUPT_PHANTOM): _dynamics(4e-4, 512, 6_250, 0.05, 1.25e-4, 1.0),
        ("r-nad", HEX): _dynamics(4e-4, 128, 25_000, 0.025, 5e-4, 0.25),
        ("r-nad", ABRUPT_HEX): _dynamics(2e-4, 64, 12_500, 0.2, 8e-3, 1.0),
    },
}


def published(preset: str, method: str, game: str) -> dict[str, Any]:
    """Return the parameters of a preset.  Raises ``ParameterError`` where it has none for the method and the game."""
    check_choice("--preset", preset, tuple(PRESETS))
    known = PRESETS[preset]
    if (method, game) not in known:
        pairs = ", ".join(f"{one} of {name}" for one, name in known)
        raise ParameterError(f"--preset {preset} has no parameters for {method} of {game}; it has {pairs}")
    return dict(known[method, game])
