"""What agents share that follow a game by the numbers of its tokens."""

from __future__ import annotations

import numpy as np

from infoset.base import Action, Game, Observation
from infoset.errors import UnsupportedGameError
from infoset.search.beliefs import own_token
from infoset.statistics import draw
from infoset.tree.graph import NO_TOKEN, GameGraph


class Follower:
    """Draws from the distribution that a solved game has for its information state; uniform where it has none.

    ``unknown`` counts those.
    """

    def __init__(self, graph: GameGraph, name: str) -> None:
        self.graph, self.name = graph, name
        self.number = {token: k for k, token in enumerate(graph.tokens)}
        self.unknown = 0

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        if game.players != self.graph.players:
            raise UnsupportedGameError(f"{self.name} was made for {self.graph.name}, not for {game.name}")
        self.player, self.rng = player, rng
        self.waits = self.graph.start_tokens[player] != NO_TOKEN
        self.reset()

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        token = own_token(own_move, observation)
        if self.waits:  # what is seen of the start is always the same
            self.waits = False
        elif token is not None:
            self.advance(self.number.get(token, NO_TOKEN), own_move, observation)

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal) == 1:
            return legal[0]
        row = self.row(legal)
        if row is None:
            self.unknown += 1
            row = [1.0] * len(legal)
        return draw(legal, row, self.rng)

    def chances(self, legal: tuple[Action, ...]) -> list[float]:
        """With what chances it would move now."""
        return (self.row(legal) if len(legal) > 1 else None) or [1 / len(legal)] * len(legal)

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def reset(self) -> None:
        """The game begins."""
        raise NotImplementedError

    def advance(self, token: int, own_move: Action | None, observation: Observation) -> None:
        """One token more; NO_TOKEN for one that the game does not have."""
        raise NotImplementedError

    def row(self, legal: tuple[Action, ...]) -> list[float] | None:
        """The chances of the moves, ``None`` where nothing is known."""
        raise NotImplementedError
