"""The interface of the reference environment, MultiAgentLearning/playground: its scripts run with one import changed.

import infoset.pommerman.playground as pommerman
from infoset.pommerman.playground import agents
"""

from infoset.pommerman.playground import agents, characters, constants, utility
from infoset.pommerman.playground.env import REGISTRY, Pomme, make

__all__ = ["REGISTRY", "Pomme", "agents", "characters", "constants", "make", "utility"]
