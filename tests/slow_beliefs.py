"""Beliefs as slow twins of ``search.belief``: the states of a game, filtered forward in plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from infoset import load
from infoset.base import Action, Game, InformationState, ObservationRecord, State, Step, own_record
from infoset.clock import ENDLESS, Clock
from infoset.errors import BudgetError
from infoset.match.agents import RandomAgent
from infoset.match.match import play_match
from infoset.search.belief import BeliefTracker
from infoset.search.models import Model, uniform

MAX_WORLDS = 100_000


class World(NamedTuple):
    """One way things may be: a state, what every player knows in it, and how likely it is beside other worlds.

    ``weight`` is a probability where the worlds are all there are.
    """

    state: State
    known: tuple[InformationState, ...]
    weight: float


def start_world(game: Game) -> World:
    """The start, with what every player sees of it."""
    step, nobody = game.start(), (None,) * len(game.players)
    return World(step.state, tuple(_grown(((),) * len(nobody), nobody, step)), 1.0)


def _grown(known: Sequence[InformationState], actions: Sequence[Action | None], step: Step) -> list[InformationState]:
    """What the players know after a step."""
    grown = []
    for player, action in enumerate(actions):
        record = own_record(action, step.observation(player))
        grown.append(known[player] if record is None else (*known[player], record))
    return grown


def steps_from(
    world: World, player: int, model: Model, record: ObservationRecord | None = None, clock: Clock = ENDLESS
) -> Iterator[World]:
    """The worlds one step further: the others move by ``model``, ``player`` as ``record`` says, or by ``model`` too.

    Raises ``BudgetError`` when the clock runs out.
    """
    state = world.state
    action_sets: list[list[tuple[Action | None, float]]] = []
    for p, known in enumerate(world.known):
        legal_actions = state.legal_actions(p)
        if not legal_actions:
            action_sets.append([(None, 1.0)])
        elif p == player and record is not None:
            action_sets.append([(record[0], 1.0)] if record[0] in legal_actions else [])
        else:
            action_sets.append(list(zip((*legal_actions,), model(p, known, legal_actions), strict=True)))
    play = getattr(state, "play_unchecked", state.play)
    for choices in product(*action_sets):
        actions = tuple([action for action, _ in choices])
        weight = world.weight * float(np.prod([chance for _, chance in choices]))
        if weight > 0.0:
            for answer, chance in state.chance_outcomes(actions) or ((None, 1.0),):
                step = play(actions, answer)
                clock()
                yield World(step.state, tuple(_grown(world.known, actions, step)), weight * chance)


class ExactBelief:
    """All worlds, filtered forward.  Those that differ in nothing to come, nor in what anybody knows, are one."""

    def __init__(
        self, game: Game, player: int, model: Model = uniform, max_worlds: int = MAX_WORLDS, clock: Clock = ENDLESS
    ) -> None:
        self.player, self.model, self.max_worlds, self.clock = player, model, max_worlds, clock
        first = start_world(game)
        self.target: InformationState = first.known[player]
        self.weight = {(first.state, first.known): 1.0}

    def observe(self, record: ObservationRecord) -> None:
        """Raises ``BudgetError`` where too many worlds would be left, or the clock runs out; then it is of no use."""
        self.target = (*self.target, record)
        found: dict[tuple[State, tuple[InformationState, ...]], float] = {}
        todo = [World(state, known, weight) for (state, known), weight in self.weight.items()]
        while todo:
            world = todo.pop()
            if world.state.terminal:
                continue
            acts = bool(world.state.legal_actions(self.player))
            if acts and record[0] is None:
                continue
            for after in steps_from(world, self.player, self.model, record if acts else None, self.clock):
                if len(after.known[self.player]) == len(world.known[self.player]):
                    todo.append(after)
                elif after.known[self.player] == self.target:
                    key = after.state, after.known
                    found[key] = found.get(key, 0.0) + after.weight
            if len(found) + len(todo) > self.max_worlds:
                raise BudgetError(f"more than {self.max_worlds:,} worlds agree with what was observed")
        total = sum(found.values())
        self.weight = {key: weight / total for key, weight in found.items()}

    def worlds(self, count: int) -> list[World]:
        """The likeliest in which the player has to move, all of them where they are no more than ``count``."""
        todo = [World(state, known, w) for (state, known), w in self.weight.items()]
        found: list[World] = []
        while todo:
            world = todo.pop()
            if world.state.legal_actions(self.player):
                found.append(world)
            elif not world.state.terminal:
                after = steps_from(world, self.player, self.model, clock=self.clock)
                todo += [w for w in after if w.known[self.player] == self.target]
        total = sum(world.weight for world in found)
        found = [world._replace(weight=world.weight / total) for world in found]
        return sorted(found, key=lambda world: -world.weight)[:count]


def order_two_root(
    game: Game,
    player: int,
    worlds: Sequence[World],
    model: Model = uniform,
    clock: Clock = ENDLESS,
) -> list[World]:
    """Also all worlds that some other player, in one of ``worlds``, holds possible, weighted alike.

    A world of another's information set weighs what it does in that player's belief, scaled so that those which also
    belong to one's own set weigh what they do in one's own.
    Raises ``BudgetError`` where they are too many, or the clock runs out.
    """
    found = {(world.state, world.known): world.weight for world in worlds}
    own = dict(found)
    asked: set[tuple[int, InformationState]] = set()
    for world in worlds:
        for other in range(len(game.players)):
            if other == player or (other, world.known[other]) in asked:
                continue
            asked.add((other, world.known[other]))
            theirs = _belief_of(game, other, world.known[other], model, clock)
            here = theirs.get((world.state, world.known), 0.0)
            if here > 0.0:
                scale = own[world.state, world.known] / here
                for key, weight in theirs.items():
                    found[key] = max(found.get(key, 0.0), weight * scale)
    return [World(state, known, weight) for (state, known), weight in found.items()]


def _belief_of(
    game: Game, player: int, known: InformationState, model: Model, clock: Clock
) -> dict[tuple[State, tuple[InformationState, ...]], float]:
    belief = ExactBelief(game, player, model, MAX_WORLDS, clock)
    for record in known[len(belief.target) :]:
        belief.observe(record)
    return belief.weight


class Recorder(RandomAgent):
    """Plays at random and keeps what it knew each time it was asked."""

    def begin(self, game, player, rng, deadline) -> None:
        super().begin(game, player, rng, deadline)
        self.records, self.asked = [], []

    def observe(self, own_action, observation) -> None:
        self.records.append(own_record(own_action, observation))

    def act(self, legal_actions, deadline):
        if len(legal_actions) > 1:
            self.asked.append(tuple(self.records))
        return super().act(legal_actions, deadline)


def states_asked(name, player, plays=12):
    """Information states of a player with a choice, from random plays."""
    game, found = load(name), set()
    for seed in range(plays):
        agents = [Recorder() for _ in game.players]
        play_match(game, agents, seed=seed)
        found.update(agents[player].asked)
    return game, sorted(found, key=repr)


def told(belief, known, skip):
    for record in known[skip:]:
        belief.observe(record)
    return belief


def state_of(ranges: BeliefTracker, player: int, known) -> int:
    """The number of an information state."""
    number = {record: k for k, record in enumerate(ranges.graph.records)}
    state = player
    for record in known[int(ranges.graph.start_records[player] >= 0) :]:
        state = ranges.successor(state, number[record])
    return state
