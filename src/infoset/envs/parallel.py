"""Any game as a PettingZoo environment: all players submit an action in every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random
from pettingzoo import ParallelEnv

from infoset.base import Action, Game, ObservationRecord, State, Step
from infoset.catalog import load
from infoset.envs.coding import MASK, Coding, settled
from infoset.envs.encoders import Encoder, learn
from infoset.envs.rendering import check_render_mode, draw
from infoset.errors import GameRuleError, IllegalActionError, UnsupportedGameError
from infoset.match.match import execute
from infoset.names import check_range

Dictionary = dict[str, Any]


class InfosetParallelEnv(ParallelEnv):  # type: ignore[misc]
    """A PettingZoo environment of a game, given by name or as an object; its players are the agents.

    One step of the environment is one step of the game; steps in which only chance moves are played along.  An
    observation is ``{"observation": …, "action_mask": …}``.  Action ``k`` plays ``actions[k]``; the mask, int8, is 1
    where that is legal.  The action of an agent with at most one legal move is ignored; without any legal action the
    mask is zero.

    Rewards are the increments of a player's payoff, so they sum to its final payoff.  In Pommerman they
    are the reference's; where all play for themselves, an agent is terminated when it dies.

    Chance is sampled by a generator made from the seed of ``reset``: the same seed and actions give the same episode.

    Raises ``IllegalActionError`` for an action that is not legal, ``BudgetError`` for a game too large to find its
    actions, what ``load`` raises, and ``MissingExtraError`` without the extra ``interop``.

    >>> from infoset.envs.parallel import InfosetParallelEnv
    >>> env = InfosetParallelEnv("rock_paper_scissors")
    >>> seen, infos = env.reset(seed=1)
    >>> seen, rewards, *over = env.step({"P1": 0, "P2": 1})
    >>> rewards
    {'P1': -1.0, 'P2': 1.0}
    """

    def __init__(
        self,
        game: Game | str,
        *,
        actions: Sequence[Action] | None = None,
        encode: Encoder | None = None,
        max_steps: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Take a game; ``actions`` and ``encode`` are needed where it is too large to enumerate, see ``Coding``.

        ``max_steps`` truncates longer episodes; games that end by their rules, as Pommerman does, need none.
        Raises ``BudgetError``, ``ParameterError``, or ``UnsupportedGameError`` where two players share a name.
        """
        self.game = load(game) if isinstance(game, str) else game
        self.possible_agents = list(self.game.players)
        if len(set(self.possible_agents)) < len(self.possible_agents):
            raise UnsupportedGameError(f"{self.game.name}: agents need distinct names, not {self.possible_agents}")
        if max_steps is not None:
            check_range("max_steps", max_steps, 1, 2**31)
        self.coding = Coding(self.game, actions, encode)
        self.actions, self.max_steps, self.render_mode = self.coding.actions, max_steps, check_render_mode(render_mode)
        self.metadata = {"name": self.game.name, "render_modes": ["ansi"], "is_parallelizable": True}
        n = len(self.actions)
        mask = spaces.Box(0, 1, (n,), MASK)
        seen = spaces.Dict({"observation": self.coding.encode.space, "action_mask": mask})
        self.observation_spaces: Dictionary = dict.fromkeys(self.possible_agents, seen)
        self.action_spaces: Dictionary = {agent: spaces.Discrete(n) for agent in self.possible_agents}
        self.agents: list[str] = []
        self.np_random: np.random.Generator | None = None

    def observation_space(self, agent: str) -> spaces.Dict:
        found: spaces.Dict = self.observation_spaces[agent]
        return found

    def action_space(self, agent: str) -> spaces.Discrete:
        found: spaces.Discrete = self.action_spaces[agent]
        return found

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Dictionary, Dictionary]:
        """Begin an episode; return observations and (empty) infos.  Without a seed the last generator is continued."""
        del options
        if seed is not None or self.np_random is None:
            self.np_random = np_random(seed)[0]
        self.agents = self.possible_agents[:]
        self.infostate: list[list[ObservationRecord]] = [[] for _ in self.agents]
        self.paid = (0.0,) * len(self.agents)
        self.steps = 0
        step = self.game.start()
        self._tell((None,) * len(self.agents), step)
        self.game_state = self._until_asked(step.state)
        return self._observations(), self._infos()

    def step(self, actions: Mapping[str, Any]) -> tuple[Dictionary, Dictionary, Dictionary, Dictionary, Dictionary]:
        """Return observations, rewards, terminations, truncations and (empty) infos of the agents in the game.

        Agents that leave it in this step are included.  Raises ``IllegalActionError`` for an action that is missing or
        not legal, ``GameRuleError`` after the end.
        """
        if not self.agents:
            raise GameRuleError(f"{self.game.name}: the episode is over; call reset")
        if not self.game_state.terminal:  # chance may have ended the game before anyone moved
            self.game_state = self._until_asked(self._play(self.game_state, self._joint_action(actions)))
        self.steps += 1
        before, self.paid = self.paid, tuple(map(float, self.game_state.returns()))
        late = self.max_steps is not None and self.steps >= self.max_steps
        rewards, terminations, truncations = {}, {}, {}
        for agent in self.agents:
            player = self.possible_agents.index(agent)
            rewards[agent] = self.paid[player] - before[player]
            terminations[agent] = settled(self.game_state, player)
            truncations[agent] = late and not terminations[agent]
        observations, infos = self._observations(), self._infos()
        self.agents = [agent for agent in self.agents if not (terminations[agent] or truncations[agent])]
        return observations, rewards, terminations, truncations, infos

    def render(self) -> str | None:
        """Return the state as text with ``render_mode="ansi"``, including what players do not see."""
        return draw(self.game_state) if self.render_mode else None

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _joint_action(self, submitted: Mapping[str, Any]) -> tuple[Action | None, ...]:
        joint: list[Action | None] = []
        for player, agent in enumerate(self.possible_agents):
            legal_actions = self.game_state.legal_actions(player)
            if len(legal_actions) > 1 and agent not in submitted:
                raise IllegalActionError(f"{agent} has to act, but there is no action for it among {list(submitted)}")
            joint.append(self.coding.decode(agent, submitted.get(agent), legal_actions) if legal_actions else None)
        return tuple(joint)

    def _play(self, state: State, joint: tuple[Action | None, ...]) -> State:
        assert self.np_random is not None
        _, step = execute(self.game.name, state, joint, self.np_random)
        self._tell(joint, step)
        return step.state

    def _until_asked(self, state: State) -> State:
        """Play chance steps until a player has a legal action."""
        nobody = (None,) * len(self.possible_agents)
        while not state.terminal and not any(map(state.legal_actions, range(len(nobody)))):
            state = self._play(state, nobody)
        return state

    def _tell(self, joint: tuple[Action | None, ...], step: Step) -> None:
        for player, action in enumerate(joint):
            learn(self.infostate[player], action, step.observation(player))

    def _observations(self) -> Dictionary:
        return {agent: self._observation(self.possible_agents.index(agent)) for agent in self.agents}

    def _infos(self) -> Dictionary:
        return {agent: {} for agent in self.agents}

    def _observation(self, player: int) -> Dictionary:
        return {
            "observation": self.coding.encode(player, tuple(self.infostate[player])),
            "action_mask": self.coding.mask(self.game_state.legal_actions(player)),
        }
