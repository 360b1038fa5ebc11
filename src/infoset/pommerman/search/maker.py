"""Base class of the parameters of searching agents, which make the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from infoset.base import Agent
from infoset.pommerman.config import PREFIX

if TYPE_CHECKING:
    from infoset.pommerman.config import Config
    from infoset.pommerman.search.players import Parameters


class Maker:
    """Base class of the parameters of all searching agents."""

    made_for: ClassVar = PREFIX

    def agent(self) -> Agent:
        """Return a new agent with these parameters."""
        from infoset.pommerman.search.players import SearchPlayer  # it brings compiled kernels

        return SearchPlayer(cast("Parameters", self))

    def for_game(self, rules: Config) -> Maker:
        """Return the parameters with open values filled in for a game by these rules."""
        del rules
        return self

    def speaks(self) -> bool:
        """Return whether the agent announces its next move by radio and listens; that needs ``action_after``."""
        return False

    def action_after(self, room: Any, move: int) -> int:
        """Return the move, 0 to 5, that the agent plans after the one that it has just chosen."""
        raise NotImplementedError
