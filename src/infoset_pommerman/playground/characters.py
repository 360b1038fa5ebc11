"""The objects of the game: an agent's character, bombs, flames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from infoset_pommerman import config
from infoset_pommerman.config import FULL_BLAST
from infoset_pommerman.observation import Item, enemies, teammate
from infoset_pommerman.playground import constants, utility
from infoset_pommerman.playground.utility import Board, Position


class Bomber:
    """An agent's number, side and abilities, kept up to date by ``follow``."""

    def __init__(self, agent_id: int | None = None, game_type: int | None = None) -> None:
        """Make a character; its side is that of number 0 without a number, of a free-for-all without a type."""
        self.game_type = game_type
        self.is_alive = True
        self.position: Any = None
        self.start_position: Any = None
        self.ammo, self.blast_strength, self.can_kick = 1, constants.DEFAULT_BLAST_STRENGTH, False
        self.set_agent_id(agent_id)

    def set_agent_id(self, agent_id: int | None) -> None:
        """Set the agent's number, and its side with it."""
        self.agent_id = agent_id
        rules = config.Config(config.GameType(self.game_type or config.GameType.FFA))
        self.teammate, self.enemies = teammate(rules, agent_id or 0), enemies(rules, agent_id or 0)

    def follow(self, observation: dict[str, Any]) -> None:
        """Take the values of the agent's own observation."""
        self.is_alive = Item.Agent0 + (self.agent_id or 0) in observation["alive"]
        self.position, self.ammo = observation["position"], observation["ammo"]
        self.blast_strength, self.can_kick = observation["blast_strength"], observation["can_kick"]

    def maybe_lay_bomb(self) -> Bomb | None:
        """Return a bomb where the agent stands, ``None`` if it has none left."""
        if self.ammo <= 0:
            return None
        self.ammo -= 1
        return Bomb(self, self.position, constants.DEFAULT_BOMB_LIFE + 1, self.blast_strength)

    def incr_ammo(self) -> None:
        self.ammo = min(self.ammo + 1, FULL_BLAST)

    def get_next_position(self, direction: int) -> Position:
        """Return the cell where a step leads; raise ``InvalidAction`` for invalid directions."""
        return utility.get_next_position(self.position, direction)

    def move(self, direction: int) -> None:
        self.position = self.get_next_position(direction)

    def stop(self) -> None:
        """Do nothing, as in the reference."""

    def in_range(self, exploded_map: Board) -> bool:
        """Return whether the agent stands on a cell where ``exploded_map`` (n, n) is 1."""
        return bool(exploded_map[self.position] == 1)

    def die(self) -> None:
        self.is_alive = False

    def set_start_position(self, start_position: Position) -> None:
        self.start_position = start_position

    def reset(
        self, ammo: int = 1, is_alive: bool = True, blast_strength: int | None = None, can_kick: bool = False
    ) -> None:
        """Return to the state at the start of a game."""
        self.position, self.ammo, self.is_alive = self.start_position, ammo, is_alive
        self.blast_strength = blast_strength or constants.DEFAULT_BLAST_STRENGTH
        self.can_kick = can_kick

    def pick_up(self, item: int, max_blast_strength: int) -> None:
        """Apply the effect of one of the three items."""
        if item == Item.ExtraBomb:
            self.incr_ammo()
        elif item == Item.IncrRange:
            self.blast_strength = min(self.blast_strength + 1, max_blast_strength)
        elif item == Item.Kick:
            self.can_kick = True

    def to_json(self) -> dict[str, Any]:
        names = ("agent_id", "is_alive", "position", "ammo", "blast_strength", "can_kick")
        return {name: getattr(self, name) for name in names}


class Bomb:
    """A bomb that ``bomber`` laid; it explodes when its ``life`` reaches 0."""

    def __init__(
        self, bomber: Any, position: Position, life: int, blast_strength: int, moving_direction: int | None = None
    ) -> None:
        self.bomber, self.position, self.life = bomber, position, life
        self.blast_strength, self.moving_direction = blast_strength, moving_direction

    def tick(self) -> None:
        self.life -= 1

    def fire(self) -> None:
        """Let the bomb explode in this step."""
        self.life = 0

    def move(self) -> None:
        if self.moving_direction is not None:
            self.position = utility.get_next_position(self.position, self.moving_direction)

    def stop(self) -> None:
        self.moving_direction = None

    def exploded(self) -> bool:
        return self.life == 0

    def explode(self) -> dict[str, Iterator[list[int]]]:
        """Return the cells that the blast reaches in each direction, from near to far; the own one is in "down"."""
        row, col = self.position
        reach = range(1, self.blast_strength)
        return {
            "up": ([row - i, col] for i in reach),
            "down": ([row + i, col] for i in range(self.blast_strength)),
            "left": ([row, col - i] for i in reach),
            "right": ([row, col + i] for i in reach),
        }

    def in_range(self, exploded_map: Board) -> bool:
        """Return whether the bomb lies on a cell where ``exploded_map`` (n, n) is 1."""
        return bool(exploded_map[self.position] == 1)

    def is_moving(self) -> bool:
        return self.moving_direction is not None

    def to_json(self) -> dict[str, Any]:
        names = ("position", "life", "blast_strength", "moving_direction")
        return {"bomber_id": self.bomber.agent_id, **{name: getattr(self, name) for name in names}}


class Flame:
    """Fire in a cell; ``life`` is the number of steps that it burns after the next one."""

    def __init__(self, position: Position, life: int = 2) -> None:
        self.position, self.life = position, life

    def tick(self) -> None:
        self.life -= 1

    def is_dead(self) -> bool:
        return self.life == 0

    def to_json(self) -> dict[str, Any]:
        return {"position": self.position, "life": self.life}
