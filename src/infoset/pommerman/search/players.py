"""The searching agents as players of matches."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np

from infoset.base import Action, Game, Observation
from infoset.pommerman.agents import PommermanPlayer
from infoset.pommerman.config import MAX_AGENTS, GameType
from infoset.pommerman.engine import engine
from infoset.pommerman.observation import MAPS, Seen
from infoset.pommerman.playground.spaces import parse_action
from infoset.pommerman.search.belief import (
    LIVING,
    NOW,
    OWN_AMMO,
    OWN_BLAST,
    OWN_CELL,
    OWN_KICK,
    SELF_FIELDS,
    Seat,
    empty_belief,
    revise,
)
from infoset.pommerman.search.champion import Champion
from infoset.pommerman.search.dypm import Dypm
from infoset.pommerman.search.edited_simple import EditedSimple
from infoset.pommerman.search.eisenach import Eisenach
from infoset.pommerman.search.fsm_search import FsmSearch
from infoset.pommerman.search.hakozaki import Hakozaki
from infoset.pommerman.search.radio import Radio
from infoset.pommerman.state import AGENT, LAY
from infoset.warm_up import ready

Parameters: TypeAlias = Champion | Dypm | EditedSimple | Eisenach | FsmSearch | Hakozaki
"""The parameters of one agent, which determine the working memory that it needs and how it moves."""


class SearchPlayer(PommermanPlayer):
    """A searching agent: its belief takes in every observation and its parameters choose the move."""

    def __init__(self, parameters: Parameters) -> None:
        ready(parameters.name)
        self.name, self.parameters = parameters.name, parameters

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        super().begin(game, player, rng, deadline)
        rules = self.config
        self.engine, self.settings = engine(rules), cast("Parameters", self.parameters.for_game(rules)).settings()
        self.view = rules.size if rules.view is None else rules.view
        self.belief = empty_belief(rules)
        self.own = np.zeros(SELF_FIELDS, dtype=np.int64)
        self.stream = rng.integers(2**64, size=1, dtype=np.uint64)
        mate = 1 << (player + 2) % MAX_AGENTS if rules.teams else 0
        self.seat = Seat(player, ((1 << rules.num_agents) - 1) & ~(1 << player) & ~mate, mate)
        self.room: Any = self.parameters.empty_room(rules)
        on_air = self.parameters.speaks() and rules.game_type == GameType.TEAM_RADIO and rules.vocabulary > LAY
        self.radio = Radio(self.seat, rules, self.engine) if on_air else None

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        super().observe(own_action, observation)
        if observation is not None and self.seen is not None:
            self._take_in(self.seen)

    def _take_in(self, seen: Seen) -> None:
        text = seen.board + "".join([getattr(seen, name) for name in MAPS])
        planes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").reshape(1 + len(MAPS), -1)
        own = self.own
        own[OWN_AMMO], own[OWN_BLAST], own[OWN_KICK] = seen.ammo, seen.blast_strength, seen.can_kick
        own[OWN_CELL] = seen.position[0] * self.config.size + seen.position[1]
        own[NOW] = seen.step_count
        own[LIVING] = sum(1 << agent - AGENT for agent in seen.alive)
        revise(self.belief, self.player, planes.astype(np.int16), own, self.engine, self.view)
        if self.radio:
            self.radio.hear(self.belief, seen.message)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        move = self.decide(deadline)
        if not self.radio:
            return parse_action(move, self.config)
        return (move, *self.radio.words(self.belief, self.parameters.action_after(self.room, move)))

    def decide(self, deadline: float | None) -> int:
        parts = self.belief, self.room, self.seat, self.settings, self.engine, self.stream
        return self.parameters.move(*parts, deadline)
