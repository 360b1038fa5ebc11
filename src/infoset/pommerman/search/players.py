"""The searching agents as players of matches."""

from __future__ import annotations

import numpy as np

from infoset.base import Action, Game, Observation
from infoset.pommerman.agents import PommermanPlayer
from infoset.pommerman.config import MAX_AGENTS
from infoset.pommerman.engine import engine
from infoset.pommerman.observation import MAPS, Seen
from infoset.pommerman.playground.spaces import read_move
from infoset.pommerman.search.belief import (
    LIVING,
    NOW,
    OWN_AMMO,
    OWN_BLAST,
    OWN_CELL,
    OWN_KICK,
    SELF_FIELDS,
    empty_belief,
    revise,
)
from infoset.pommerman.search.champion import Champion, champion_move, empty_plans
from infoset.pommerman.search.dypm import Dypm, dypm_move, empty_desk
from infoset.pommerman.search.scenario import empty_scenario
from infoset.pommerman.state import AGENT
from infoset.warm_up import ready


class Searcher(PommermanPlayer):
    """What they share: a belief that takes in every observation."""

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        super().begin(game, player, rng, deadline)
        rules = self.config
        self.engine = engine(rules)
        self.view = rules.size if rules.view is None else rules.view
        self.belief = empty_belief(rules)
        self.own = np.zeros(SELF_FIELDS, dtype=np.int64)
        self.stream = rng.integers(2**64, size=1, dtype=np.uint64)
        self.mate = 1 << (player + 2) % MAX_AGENTS if rules.teams else 0
        self.enemies = ((1 << rules.num_agents) - 1) & ~(1 << player) & ~self.mate

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        super().observe(own_move, observation)
        if isinstance(observation, Seen):
            self._take_in(observation)

    def _take_in(self, seen: Seen) -> None:
        text = seen.board + "".join([getattr(seen, name) for name in MAPS])
        planes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").reshape(1 + len(MAPS), -1)
        own = self.own
        own[OWN_AMMO], own[OWN_BLAST], own[OWN_KICK] = seen.ammo, seen.blast_strength, seen.can_kick
        own[OWN_CELL] = seen.position[0] * self.config.size + seen.position[1]
        own[NOW] = seen.step_count
        own[LIVING] = sum(1 << agent - AGENT for agent in seen.alive)
        revise(self.belief, self.player, planes.astype(np.int16), own, self.engine, self.view)

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        return read_move(int(self.decide(deadline)), self.config)

    def decide(self, deadline: float | None) -> int:
        raise NotImplementedError


class DypmPlayer(Searcher):
    """``dypm`` with its parameters."""

    name = "dypm"

    def __init__(self, parameters: Dypm | None = None) -> None:
        ready("dypm")
        self.settings = (parameters or Dypm()).settings()

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        super().begin(game, player, rng, deadline)
        self.scenario, self.desk = empty_scenario(self.config), empty_desk(self.config)

    def decide(self, deadline: float | None) -> int:
        return int(
            dypm_move(
                self.belief, self.scenario, self.desk, self.player, self.enemies, self.mate, self.settings,
                self.engine, self.stream,
            )
        )  # fmt: skip


class ChampionPlayer(Searcher):
    """``champion`` with its parameters."""

    name = "champion"

    def __init__(self, parameters: Champion | None = None) -> None:
        ready("champion")
        self.settings = (parameters or Champion()).settings()

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        super().begin(game, player, rng, deadline)
        self.scenario, self.desk = empty_scenario(self.config), empty_desk(self.config)
        self.plans = empty_plans(self.config)

    def decide(self, deadline: float | None) -> int:
        return int(
            champion_move(
                self.belief, self.scenario, self.desk, self.plans, self.player, self.enemies, self.mate,
                self.settings, self.engine, self.stream, deadline,
            )
        )  # fmt: skip
