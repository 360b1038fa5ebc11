"""The interface of the reference environment, MultiAgentLearning/playground.

Once this package is imported, ``import pommerman`` finds it where the original is not installed, so that scripts and
agents run unchanged: ``python -m infoset_pommerman.playground SCRIPT``.
"""

from infoset_pommerman.playground import (
    agents,
    characters,
    cli,
    configs,
    constants,
    envs,
    forward_model,
    graphics,
    helpers,
    network,
    runner,
    utility,
)
from infoset_pommerman.playground.env import REGISTRY, Pomme, make
from infoset_pommerman.playground.finder import stand_in

__all__ = [
    "REGISTRY", "Pomme", "agents", "characters", "cli", "configs", "constants", "envs", "forward_model", "graphics",
    "helpers", "make", "network", "runner", "utility",
]  # fmt: skip

stand_in()
