"""Numeric coding of a game for learners: moves as numbers, information states as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from infoset import sizes
from infoset.base import Action, Game, State
from infoset.envs.encoders import Encoded, Encoder, HistoryEncoder
from infoset.errors import BudgetError, IllegalActionError, ParameterError, shorten
from infoset.tree.graph import GameGraph, explore

MASK = np.int8


class Coding:
    """A numeric coding of a game: ``moves[k]`` is the move of action ``k``, for every player.

    ``encode`` makes arrays of information states.
    """

    def __init__(self, game: Game, moves: Sequence[Action] | None, encode: Encoder | None) -> None:
        """Take the moves and the encoder; ``None`` selects the game's own, or else enumerates it.

        Raises ``BudgetError`` where the game is too large for that, ``ParameterError`` for repeated moves or an invalid
        encoder.
        """
        if encode is not None and not isinstance(encode, Encoder):
            raise ParameterError(
                f"{shorten(repr(encode))} is not an encoder; it needs space and __call__(player, known)"
            )
        if isinstance(game, Encoded):
            moves = game.actions if moves is None else moves
            encode = game.encoder() if encode is None else encode
        if moves is None or encode is None:
            graph = _enumerate(game)
            moves = all_actions(graph) if moves is None else moves
            encode = HistoryEncoder.of(graph) if encode is None else encode
        self.game, self.moves, self.encode = game.name, tuple(moves), encode
        self._number = {move: number for number, move in enumerate(self.moves)}
        if len(self._number) < len(self.moves):
            raise ParameterError(f"moves={shorten(repr(self.moves))}: each may come once")

    def mask(self, legal_actions: tuple[Action, ...]) -> npt.NDArray[np.int8]:
        """Return (moves,) 1 for a legal move, 0 for others.  Raises ``ParameterError`` for one that has no number."""
        mask = np.zeros(len(self.moves), dtype=MASK)
        try:
            mask[[self._number[move] for move in legal_actions]] = 1
        except KeyError as missing:
            raise ParameterError(f"{self.game} offers {missing}, which is not among the moves given") from None
        return mask

    def move(self, player: str, action: Any, legal_actions: tuple[Action, ...]) -> Action:
        """Return the legal move of an action; the only one where there is no choice.  Raises ``IllegalActionError``."""
        if len(legal_actions) == 1:
            return legal_actions[0]
        try:
            number = index(action)
        except TypeError:
            number = -1
        if 0 <= number < len(self.moves) and self.moves[number] in legal_actions:
            return self.moves[number]
        infostate = f" ({self.moves[number]!r})" if 0 <= number < len(self.moves) else ""
        offered = ", ".join(f"{self._number[move]} ({move!r})" for move in legal_actions)
        raise IllegalActionError(
            f"{player} cannot play action {shorten(repr(action))}{infostate}; legal: {shorten(offered, 200)}"
        )


def all_actions(graph: GameGraph) -> tuple[Action, ...]:
    """Return every move of every player, in the order in which the rules list them."""
    action_sets = np.unique(graph.content[graph.player >= 0])
    return tuple(dict.fromkeys(move for action_set in action_sets for move in graph.action_sets[action_set]))


def _enumerate(game: Game) -> GameGraph:
    try:
        return explore(game, sizes.MOVES_FOR_LEARNERS)
    except BudgetError:
        raise BudgetError(
            f"{game.name} is too large to enumerate for learners (limit: {sizes.MOVES_FOR_LEARNERS:,} moves in all "
            "positions); give moves=[…], all moves of all players, and encode=…, an object with space and "
            "__call__(player, known)"
        ) from None


def settled(state: State, player: int) -> bool:
    """Return whether nothing to come concerns a player: at the end, or earlier where its state says so."""
    is_settled = getattr(state, "is_settled", None)  # a protocol would take longer to check than many a step
    return state.terminal or (is_settled is not None and bool(is_settled(player)))
