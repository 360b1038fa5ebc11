"""What a player must reckon with: histories that agree with its information state, weighted by how likely they are.

``ExactBelief`` filters all of them forward, step by step.  The samplers draw some: ``NaiveSampler`` plays at random and
starts again after the first contradiction; ``CachedSampler`` remembers where every continuation contradicts, and either
weighs what it draws by the chance of not having been excluded, so that it stays true to the naive frequencies (the
paper's aim for play, Partridge & Thielscher 2022, 3.2), or does not and leans towards a policy (its training sampler).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from infoset.base import Action, Game, InformationState, Observation, State, Step, Token
from infoset.clock import ENDLESS, Clock
from infoset.errors import BudgetError

MAX_WORLDS = 100_000
MAX_DRAWS = 10_000
ALIVE = 1e-12  # less than this share of a node is rounding: nothing below it is left

Model: TypeAlias = Callable[[int, InformationState, tuple[Action, ...]], Sequence[float]]
"""What others are held to play: from player, information state and moves to chances that sum to one."""


class World(NamedTuple):
    """One way things may be: a state, what every player knows in it, and how likely it is beside other worlds.

    ``weight`` is a probability where the worlds are all there are.
    """

    state: State
    known: tuple[InformationState, ...]
    weight: float


class Belief(Protocol):
    """Where worlds come from; told of every token of the player's information state, in order."""

    def observe(self, token: Token) -> None: ...

    def worlds(self, count: int) -> list[World]:
        """At most ``count`` of them; none where no history explains what was observed."""
        ...


def uniform(player: int, known: InformationState, legal: tuple[Action, ...]) -> Sequence[float]:
    """Every move as likely as any other."""
    return [1 / len(legal)] * len(legal)


def merged(worlds: Sequence[World]) -> list[World]:
    """Worlds that are the same as one, with their weights together."""
    weight: dict[tuple[State, tuple[InformationState, ...]], float] = defaultdict(float)
    for world in worlds:
        weight[world.state, world.known] += world.weight
    return [World(*world, w) for world, w in weight.items()]


def start_world(game: Game) -> World:
    """The start, with what every player sees of it."""
    step, nobody = game.start(), (None,) * len(game.players)
    return World(step.state, tuple(_grown(((),) * len(nobody), nobody, step)), 1.0)


def _grown(known: Sequence[InformationState], moves: Sequence[Action | None], step: Step) -> list[InformationState]:
    """What the players know after a step."""
    grown = []
    for player, move in enumerate(moves):
        token = own_token(move, step.observation(player))
        grown.append(known[player] if token is None else (*known[player], token))
    return grown


def own_token(move: Action | None, observation: Observation) -> Token | None:
    """By what an information state grows; ``None`` where a step leaves it as it was."""
    if move is None and observation is None:
        return None
    return (move, () if observation is None else observation)


def steps_from(
    world: World, player: int, model: Model, token: Token | None = None, clock: Clock = ENDLESS
) -> Iterator[World]:
    """The worlds one step further: the others move by ``model``, ``player`` as ``token`` says, or by ``model`` too.

    Raises ``BudgetError`` when the clock runs out.
    """
    state = world.state
    menus: list[list[tuple[Action | None, float]]] = []
    for p, known in enumerate(world.known):
        legal = state.legal(p)
        if not legal:
            menus.append([(None, 1.0)])
        elif p == player and token is not None:
            menus.append([(token[0], 1.0)] if token[0] in legal else [])
        else:
            menus.append(list(zip((*legal,), model(p, known, legal), strict=True)))
    play = getattr(state, "play_unchecked", state.play)
    for choices in product(*menus):
        moves = tuple([move for move, _ in choices])
        weight = world.weight * float(np.prod([chance for _, chance in choices]))
        if weight > 0.0:
            for answer, chance in state.chance(moves) or ((None, 1.0),):
                step = play(moves, answer)
                clock()
                yield World(step.state, tuple(_grown(world.known, moves, step)), weight * chance)


def agrees(known: InformationState, target: InformationState) -> bool:
    """Whether an information state may still become ``target``."""
    return known == target[: len(known)]


class ExactBelief:
    """All worlds, filtered forward.  Those that differ in nothing to come, nor in what anybody knows, are one.

    >>> from infoset.search.beliefs import ExactBelief
    >>> belief = ExactBelief(infoset.load("gdl:monty_hall"), 0)
    >>> belief.observe((("choose", 1), ()))
    >>> belief.observe(("noop", (("opened", 3),)))
    >>> sorted(round(world.weight, 3) for world in belief.worlds(10))
    [0.333, 0.667]
    """

    def __init__(
        self, game: Game, player: int, model: Model = uniform, max_worlds: int = MAX_WORLDS, clock: Clock = ENDLESS
    ) -> None:
        self.player, self.model, self.max_worlds, self.clock = player, model, max_worlds, clock
        first = start_world(game)
        self.target: InformationState = first.known[player]
        self.weight = {(first.state, first.known): 1.0}

    def observe(self, token: Token) -> None:
        """Raises ``BudgetError`` where too many worlds would be left, or the clock runs out; then it is of no use."""
        self.target = (*self.target, token)
        found: dict[tuple[State, tuple[InformationState, ...]], float] = {}
        todo = [World(state, known, weight) for (state, known), weight in self.weight.items()]
        while todo:
            world = todo.pop()
            if world.state.terminal:
                continue
            acts = bool(world.state.legal(self.player))
            if acts and token[0] is None:
                continue
            for after in steps_from(world, self.player, self.model, token if acts else None, self.clock):
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
            if world.state.legal(self.player):
                found.append(world)
            elif not world.state.terminal:
                after = steps_from(world, self.player, self.model, clock=self.clock)
                todo += [w for w in after if w.known[self.player] == self.target]
        total = sum(world.weight for world in found)
        found = [world._replace(weight=world.weight / total) for world in found]
        return sorted(found, key=lambda world: -world.weight)[:count]


class NaiveSampler:
    """Random play from the start, again and again; worlds come with equal weights."""

    def __init__(
        self, game: Game, player: int, rng: np.random.Generator, model: Model = uniform, clock: Clock = ENDLESS
    ) -> None:
        self.first, self.player, self.rng, self.model, self.clock = start_world(game), player, rng, model, clock
        self.target: InformationState = self.first.known[player]
        self.draws = 0

    def observe(self, token: Token) -> None:
        self.target = (*self.target, token)

    def worlds(self, count: int) -> list[World]:
        """As many as ``MAX_DRAWS`` plays give, or as the clock allows."""
        return [world._replace(weight=1 / count) for world in self._drawn(count)]

    def _drawn(self, count: int) -> list[World]:
        """Raises ``BudgetError`` where the clock runs out before there is one."""
        found: list[World] = []
        for _ in range(MAX_DRAWS):
            if len(found) == count or self._dead():
                break
            self.draws += 1
            try:
                self.clock()
                world = self._play()
            except BudgetError:
                if found:
                    break
                raise
            if world is not None:
                found.append(world)
        return found

    def _dead(self) -> bool:
        """Whether it is known that there are no worlds."""
        return False

    def _play(self) -> World | None:
        world = self.first
        while agrees(world.known[self.player], self.target) and not world.state.terminal:
            if world.known[self.player] == self.target and world.state.legal(self.player):
                return world
            token = _next_token(world, self.player, self.target)
            after = list(steps_from(world, self.player, self.model, token, self.clock))
            if not after:
                return None
            weights = np.array([w.weight for w in after])
            world = after[int(self.rng.choice(len(after), p=weights / weights.sum()))]
        return None


def _next_token(world: World, player: int, target: InformationState) -> Token | None:
    """What ``player`` is known to do in the next step of its own."""
    known = len(world.known[player])
    return target[known] if known < len(target) else (None, None)


class _Node:
    """A history that was looked at; its children with their chances, less those that were found dead."""

    __slots__ = ("alive", "children", "nodes", "world")

    def __init__(self, world: World) -> None:
        self.world = world
        self.children: list[World] | None = None
        self.nodes: dict[int, _Node] = {}
        self.alive: list[float] = []


class CachedSampler(NaiveSampler):
    """Remembers dead histories, and parents whose children are all dead, until the next observation shows more.

    ``true`` weighs every world by the chance that was still alive at each node on its way: drawn worlds then stand for
    the naive frequencies.  Without it weights are equal and chances grow by 1/moves, the paper's bias in training.
    """

    def __init__(
        self, game: Game, player: int, rng: np.random.Generator, model: Model = uniform, true: bool = True,
        clock: Clock = ENDLESS,
    ) -> None:  # fmt: skip
        super().__init__(game, player, rng, model, clock)
        self.true = true
        self.root = _Node(self.first)

    def _play(self) -> World | None:
        node, weight = self.root, 1.0
        path: list[tuple[_Node, int]] = []
        while True:
            world = node.world
            if world.known[self.player] == self.target and not world.state.terminal and world.state.legal(self.player):
                return world._replace(weight=weight if self.true else 1.0)
            if not agrees(world.known[self.player], self.target) or world.state.terminal or not self._open(node):
                self._bury(path)
                return None
            chances = np.array(node.alive)
            share = chances.sum()
            k = int(self.rng.choice(len(chances), p=chances / share))
            path.append((node, k))
            weight *= share
            assert node.children is not None
            node = node.nodes.setdefault(k, _Node(node.children[k]))

    def _dead(self) -> bool:
        return self.root.children is not None and sum(self.root.alive) <= ALIVE

    def _open(self, node: _Node) -> bool:
        """Work out the children; whether one of them is alive."""
        if node.children is None:
            world = node.world._replace(weight=1.0)
            token = _next_token(world, self.player, self.target)
            node.children = list(steps_from(world, self.player, self.model, token, self.clock))
            node.alive = [child.weight for child in node.children]
            if not self.true and node.children:
                node.alive = [weight + 1 / len(node.children) for weight in node.alive]
        return sum(node.alive) > ALIVE

    def _bury(self, path: list[tuple[_Node, int]]) -> None:
        while path:
            node, k = path.pop()
            node.alive[k] = 0.0
            node.nodes.pop(k, None)
            if sum(node.alive) > ALIVE:
                break

    def worlds(self, count: int) -> list[World]:
        """As many as ``MAX_DRAWS`` plays give, or as the clock allows; weights sum to one."""
        found = self._drawn(count)
        total = sum(world.weight for world in found)
        return [world._replace(weight=world.weight / total) for world in found]
