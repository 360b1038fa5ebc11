"""Any game as a Gymnasium environment: one seat is the learner's, agents play the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from infoset.base import Action, Agent, Game, Observation, ObservationRecord, State
from infoset.catalog import load
from infoset.envs.coding import Coding, settled
from infoset.envs.encoders import Encoder, learn
from infoset.envs.rendering import RENDER_MODES, check_render_mode, draw
from infoset.errors import GameRuleError, ParameterError
from infoset.match.match import MAX_STEPS, Round, Table
from infoset.names import check_range

MAX_SEED = 2**53

Shaping: TypeAlias = Callable[[State, State, int], float]
"""A term added to rewards, from the state in which the seat moved, the next such state (or the last), and the seat."""


class SeatedLearner:
    """The agent in the learner's seat: it plays ``action`` and records its observations."""

    name = "learner"
    action: Action

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.infostate: list[ObservationRecord] = []

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        learn(self.infostate, own_action, observation)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        """Return ``action``; the only legal action where there is no choice."""
        return legal_actions[0] if len(legal_actions) == 1 else self.action

    def end(self, returns: tuple[float, ...]) -> None:
        pass


class SeatEnv(gymnasium.Env[Any, np.int64]):
    """A Gymnasium environment of one seat: ``seat`` is its number, from 0; ``others`` are the other agents, in order.

    Agents are names or objects, run as in a match; their faults are handled as there and listed in
    ``info["faults"]``.  A step continues until the seat has a choice again or the game is over for it.

    Action ``k`` plays ``actions[k]``.  ``info["action_mask"]``, int8, and ``action_masks()`` give the legal ones.
    Rewards are the increments of the seat's payoff; ``shaping`` adds to them.

    Every episode is the match that ``play_match`` plays with the same agents and the seed ``info["seed"]``.  The
    seeds follow from that of ``reset``.  A game that is left before its end, by ``reset`` or by a death in Pommerman
    where all play for themselves, is not ended for the other agents; their next one just begins.

    Raises what ``load`` and ``load_agent`` raise, and ``MissingExtraError`` without the extra ``interop``.

    >>> from infoset.envs.single import SeatEnv
    >>> env = SeatEnv("rock_paper_scissors", 0, ["scripted(actions=[Rock])"])
    >>> seen, info = env.reset(seed=1)
    >>> env.step(env.actions.index("Paper"))[1:3]
    (1.0, True)
    """

    metadata = {"render_modes": list(RENDER_MODES)}  # noqa: RUF012, Gymnasium's own form

    def __init__(
        self,
        game: Game | str,
        seat: int,
        others: Sequence[Agent | str],
        *,
        actions: Sequence[Action] | None = None,
        encode: Encoder | None = None,
        shaping: Shaping | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Take a game; ``actions`` and ``encode`` are needed where it is too large to enumerate, see ``Coding``.

        Raises ``BudgetError``, ``ParameterError``, or what looking up names raises.
        """
        self.game, self.seat, self.shaping = load(game) if isinstance(game, str) else game, seat, shaping
        n = len(self.game.players)
        check_range("seat", seat, 0, n - 1)
        if len(others) != n - 1:
            raise ParameterError(f"{self.game.name} has {n} players: name {n - 1} others, not {len(others)}")
        self.learner = SeatedLearner()
        agents = [*others[:seat], self.learner, *others[seat:]]
        self.table = Table.of(self.game, agents, None, None, MAX_STEPS)
        self.coding = Coding(self.game, actions, encode)
        self.actions, self.render_mode = self.coding.actions, check_render_mode(render_mode)
        self.observation_space = self.coding.encode.space
        self.action_space = spaces.Discrete(len(self.actions))
        self.over = True

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; return the observation and an info with ``action_mask``, ``faults`` and ``seed``.

        Raises what agents raise in ``begin`` as ``UnsupportedGameError`` or ``ParameterError``.
        """
        super().reset(seed=seed)
        self.round: Round = self.table.open(int(self.np_random.integers(MAX_SEED)))
        self.game_state, self.paid, self.over = self._until_asked(self.round.begin()), 0.0, False
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, terminated, truncated (never), info.

        Raises ``IllegalActionError`` for an action that is not legal, ``GameRuleError`` after the end.
        """
        if self.over:
            raise GameRuleError(f"{self.game.name}: the episode is over; call reset")
        before = self.game_state
        if not settled(before, self.seat):  # the game may have ended before the seat moved
            player = self.game.players[self.seat]
            self.learner.action = self.coding.decode(player, action, before.legal_actions(self.seat))
            self.game_state = self._until_asked(self.round.step(before))
        self.over = settled(self.game_state, self.seat)
        if self.game_state.terminal:
            self.round.end(self.game_state)
        return self._observation(), self._reward(before), self.over, False, self._info()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return (actions,) which actions are legal now."""
        return self._mask().astype(bool)

    def render(self) -> str | None:
        """Return the state as text with ``render_mode="ansi"``, including what the seat does not see."""
        return draw(self.game_state) if self.render_mode else None

    def _until_asked(self, state: State) -> State:
        while not settled(state, self.seat) and len(state.legal_actions(self.seat)) < 2:
            state = self.round.step(state)
        return state

    def _reward(self, before: State) -> float:
        paid, self.paid = self.paid, float(self.game_state.returns()[self.seat])
        shaped = 0.0 if self.shaping is None else float(self.shaping(before, self.game_state, self.seat))
        return self.paid - paid + shaped

    def _observation(self) -> Any:
        return self.coding.encode(self.seat, tuple(self.learner.infostate))

    def _mask(self) -> npt.NDArray[np.int8]:
        return self.coding.mask(self.game_state.legal_actions(self.seat))

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._mask(), "faults": list(self.round.faults), "seed": self.round.seed}
