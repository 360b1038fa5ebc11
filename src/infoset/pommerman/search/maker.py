"""How the parameters of a searching agent become the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from infoset.base import Agent

if TYPE_CHECKING:
    from infoset.pommerman.config import Config
    from infoset.pommerman.search.players import Parameters


class Maker:
    """What the parameters of all searching agents share."""

    def agent(self) -> Agent:
        """The agent."""
        from infoset.pommerman.search.players import SearchPlayer  # which brings compiled kernels

        return SearchPlayer(cast("Parameters", self))

    def for_game(self, rules: Config) -> Maker:
        """With what is left open filled in for a game by these rules."""
        del rules
        return self

    def speaks(self) -> bool:
        """Whether it says on the radio what it will do next, and listens; that needs ``move_after``."""
        return False

    def move_after(self, room: Any, move: int) -> int:
        """What it means to do after an action that it has just chosen, 0 to 5."""
        raise NotImplementedError
