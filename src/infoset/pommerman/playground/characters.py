"""What an agent is in the game."""

from __future__ import annotations

from typing import Any

from infoset.pommerman import config
from infoset.pommerman.observation import Item, enemies, teammate


class Bomber:
    """An agent's number, side, and what it can do; ``follow`` keeps it up to date."""

    def __init__(self, agent_id: int | None = None, game_type: int | None = None) -> None:
        """Without number or kind of game it has no side."""
        self.agent_id, self.game_type = agent_id, game_type
        rules = config.Config(config.GameType(game_type or config.GameType.FFA))
        self.teammate = teammate(rules, agent_id or 0)
        self.enemies = enemies(rules, agent_id or 0)
        self.is_alive = True
        self.position: tuple[int, int] | None = None
        self.ammo, self.blast_strength, self.can_kick = rules.start_ammo, rules.start_blast, rules.start_kick

    def follow(self, observation: dict[str, Any]) -> None:
        """Be as the agent's own observation says."""
        self.is_alive = Item.Agent0 + (self.agent_id or 0) in observation["alive"]
        self.position, self.ammo = observation["position"], observation["ammo"]
        self.blast_strength, self.can_kick = observation["blast_strength"], observation["can_kick"]
