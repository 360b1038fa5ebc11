"""The game from a belief on, as a game: nature first chooses a world, and everybody knows what it knew there.

A ``Subgame`` is solved like any other game, by everything that ``tree`` and ``solvers`` have: its information sets are
keyed by the players' own pasts, never by the world, so nobody plays what it cannot know.  Which worlds it begins with
is the method: those of one's own information set, or also those that the others hold possible, so that they
are not told one's secret (``order_two_root``, after Zhang & Sandholm 2021: the knowledge graph cut at distance two).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from infoset.base import Action, Game, InformationState, JointMove, Observation, Observed, State
from infoset.clock import ENDLESS, Clock
from infoset.search.beliefs import ExactBelief, Model, World, uniform
from infoset.tree.rules_source import play_out

Leaf = Callable[[State], tuple[float, ...]]
"""What a state at the horizon is worth to each player."""

MAX_THEIRS = 2_000  # worlds that another player may hold possible


@dataclass(frozen=True, eq=False)
class Subgame:
    """Begins in one of ``worlds``; after ``depth`` steps (``None``: never) it ends with what ``leaf`` says."""

    game: Game
    worlds: tuple[World, ...]
    depth: int | None = None
    leaf: Leaf | None = field(default=None, repr=False)
    clock: Clock = field(default=ENDLESS, repr=False)
    """Looked at in every step."""
    told: bool = False
    """Whether everybody is told which world it is: then each is solved by itself, as nobody ever could."""
    number: dict[InformationState, int] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return f"subgame of {self.game.name}"

    @property
    def players(self) -> tuple[str, ...]:
        return self.game.players

    def start(self) -> Observed:
        return Observed(_Root(self), (None,) * len(self.players))

    def seen(self, player: int, number: int) -> Observation:
        """What a player observes when world ``number`` is chosen: a number for what it knows there."""
        label = self.number.setdefault(self.worlds[number].known[player], len(self.number))
        return (label, number) if self.told else label


class _Root(NamedTuple):
    """Nature's choice of a world."""

    subgame: Subgame

    @property
    def terminal(self) -> bool:
        return False

    def legal(self, player: int) -> tuple[Action, ...]:
        return ()

    def chance(self, moves: JointMove) -> tuple[tuple[Action, float], ...]:
        total = sum(world.weight for world in self.subgame.worlds)
        return tuple([(k, world.weight / total) for k, world in enumerate(self.subgame.worlds)])

    def draw(self, moves: JointMove, rng: np.random.Generator) -> Action:
        chances = [chance for _, chance in self.chance(moves)]
        return int(rng.choice(len(chances), p=chances))

    def play(self, moves: JointMove, nature: Action | None = None) -> Observed:
        assert isinstance(nature, int)
        world = self.subgame.worlds[nature]
        seen = [self.subgame.seen(player, nature) for player in range(len(world.known))]
        return Observed(_Later(self.subgame, world.state, self.subgame.depth), tuple(seen))

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * len(self.subgame.players)


class _Later(NamedTuple):
    """A state of the game, and how many steps are left to the horizon."""

    subgame: Subgame
    state: State
    left: int | None

    @property
    def terminal(self) -> bool:
        return self.left == 0 or self.state.terminal

    def legal(self, player: int) -> tuple[Action, ...]:
        return () if self.left == 0 else self.state.legal(player)

    def chance(self, moves: JointMove) -> tuple[tuple[Action, float], ...]:
        return self.state.chance(moves)

    def draw(self, moves: JointMove, rng: np.random.Generator) -> Action | None:
        return self.state.draw(moves, rng)

    def play(self, moves: JointMove, nature: Action | None = None) -> Observed:
        play: Any = getattr(self.state, "play_unchecked", self.state.play)
        step = play(moves, nature)
        self.subgame.clock()
        seen = tuple([step.observation(p) for p in range(len(self.subgame.players))])
        return Observed(_Later(self.subgame, step.state, None if self.left is None else self.left - 1), seen)

    def returns(self) -> tuple[float, ...]:
        if self.state.terminal or self.subgame.leaf is None:
            return self.state.returns()
        return self.subgame.leaf(self.state)


class PlayoutLeaf:
    """The mean payoff of random play from a state on; asked again about a state it says the same."""

    def __init__(self, seed: int, playouts: int = 4, clock: Clock = ENDLESS) -> None:
        self.seed, self.playouts, self.clock = seed, playouts, clock
        self.known: dict[State, tuple[float, ...]] = {}
        self.asked = 0

    def __call__(self, state: State) -> tuple[float, ...]:
        self.asked += 1
        if state not in self.known:
            rng = np.random.default_rng([self.seed, len(self.known)])
            returns = [play_out(state, rng, self.clock) for _ in range(self.playouts)]
            self.known[state] = tuple(np.mean(returns, axis=0).tolist())
        return self.known[state]


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
    belief = ExactBelief(game, player, model, MAX_THEIRS, clock)
    for token in known[len(belief.target) :]:
        belief.observe(token)
    return belief.weight
