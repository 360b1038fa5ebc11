"""The searching agents as players of matches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from infoset.base import Action, Game, Observation
from infoset.warm_up import ready
from infoset_pommerman.agents import PommermanPlayer
from infoset_pommerman.config import MAX_AGENTS, Config, GameType
from infoset_pommerman.engine import engine
from infoset_pommerman.observation import MAPS, Seen
from infoset_pommerman.playground.spaces import parse_action
from infoset_pommerman.search.belief import (
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
from infoset_pommerman.search.radio import Radio
from infoset_pommerman.state import AGENT, LAY


class Parameters(Protocol):
    """The parameters of one agent, which determine its working memory and how it moves (see ``Maker``)."""

    @property
    def name(self) -> str: ...
    def for_game(self, rules: Config) -> Any: ...
    def empty_room(self, rules: Config) -> Any: ...
    def speaks(self) -> bool: ...
    def action_after(self, room: Any, move: int) -> int: ...
    @property
    def move(self) -> Callable[..., int]: ...


class SearchPlayer(PommermanPlayer):
    """A searching agent: its belief takes in every observation and its parameters choose the move."""

    def __init__(self, parameters: Parameters) -> None:
        ready(parameters.name, package="infoset_pommerman")
        self.name, self.parameters = parameters.name, parameters

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        super().begin(game, player, rng, deadline)
        rules = self.config
        self.engine, self.settings = engine(rules), self.parameters.for_game(rules).settings()
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
