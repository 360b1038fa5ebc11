"""Numeric coding of a game for learners: actions as numbers, information states as arrays."""

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
from infoset.policies.encodings import all_actions
from infoset.tree.graph import GameGraph, explore

MASK = np.int8


class Coding:
    """A numeric coding of a game: ``actions[k]`` is the game's action of number ``k``, for every player.

    ``encode`` makes arrays of information states.
    """

    def __init__(self, game: Game, actions: Sequence[Action] | None, encode: Encoder | None) -> None:
        """Take the actions and the encoder; ``None`` selects the game's own, or else enumerates it.

        Raises ``BudgetError`` where the game is too large for that, ``ParameterError`` for repeated actions or an
        invalid encoder.
        """
        if encode is not None and not isinstance(encode, Encoder):
            raise ParameterError(
                f"{shorten(repr(encode))} is not an encoder; it needs space and __call__(player, known)"
            )
        if isinstance(game, Encoded):
            actions = game.actions if actions is None else actions
            encode = game.encoder() if encode is None else encode
        if actions is None or encode is None:
            graph = _enumerate(game)
            actions = all_actions(graph) if actions is None else actions
            encode = HistoryEncoder.of(graph) if encode is None else encode
        self.game, self.actions, self.encode = game.name, tuple(actions), encode
        self._number = {one: number for number, one in enumerate(self.actions)}
        if len(self._number) < len(self.actions):
            raise ParameterError(f"actions={shorten(repr(self.actions))}: each may come once")

    def mask(self, legal_actions: tuple[Action, ...]) -> npt.NDArray[np.int8]:
        """Return (actions,) 1 for legal actions, else 0.  Raises ``ParameterError`` for one without a number."""
        mask = np.zeros(len(self.actions), dtype=MASK)
        try:
            mask[[self._number[one] for one in legal_actions]] = 1
        except KeyError as missing:
            raise ParameterError(f"{self.game} offers {missing}, which is not among the actions given") from None
        return mask

    def decode(self, player: str, action: Any, legal_actions: tuple[Action, ...]) -> Action:
        """Return the legal action of a number, or the only legal one.  Raises ``IllegalActionError``."""
        if len(legal_actions) == 1:
            return legal_actions[0]
        try:
            number = index(action)
        except TypeError:
            number = -1
        if 0 <= number < len(self.actions) and self.actions[number] in legal_actions:
            return self.actions[number]
        given = f" ({self.actions[number]!r})" if 0 <= number < len(self.actions) else ""
        offered = ", ".join(f"{self._number[one]} ({one!r})" for one in legal_actions)
        raise IllegalActionError(
            f"{player} cannot play action {shorten(repr(action))}{given}; legal: {shorten(offered, 200)}"
        )


def _enumerate(game: Game) -> GameGraph:
    try:
        return explore(game, sizes.ACTIONS_FOR_LEARNERS)
    except BudgetError:
        raise BudgetError(
            f"{game.name} is too large to enumerate for learners (limit: {sizes.ACTIONS_FOR_LEARNERS:,} actions in all "
            "positions); give actions=[…], all actions of all players, and encode=…, an object with space and "
            "__call__(player, known)"
        ) from None


def settled(state: State, player: int) -> bool:
    """Return whether nothing to come concerns a player: at the end, or earlier where its state says so."""
    is_settled = getattr(state, "is_settled", None)  # a protocol would take longer to check than many a step
    return state.terminal or (is_settled is not None and bool(is_settled(player)))
