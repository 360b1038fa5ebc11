"""The values of a search's leaves: random playouts, or a heuristic of the user's."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from infoset.base import FloatArray, Game, IntArray, LongArray, State
from infoset.errors import InfosetError, ParameterError, shorten
from infoset.interning import longer
from infoset.interruption import running_foreign_code
from infoset.names import parse_name
from infoset.registry import PYTHON, build_own, find_python
from infoset.tree.lazy_graph import LazyGraph


class Leaves(Protocol):
    """An evaluation of positions at which a step begins."""

    def __call__(self, positions: LongArray) -> tuple[FloatArray, FloatArray | None]:
        """Return the values (K, n) of positions (K,) for everybody, and their ``priors``."""

    def priors(self, positions: LongArray) -> FloatArray | None:
        """Return all players' move probabilities (K, n, m) in the order of their action sets; ``None`` where unknown.

        They are known for all positions or for none.
        """


class Heuristic(Protocol):
    """An estimate of a state's value: any function of a state will do.

    >>> from infoset.search.kluss import Kluss
    >>> def pot(state):                       # as if P1 won whatever is in the pot
    ...     return 1.0, -1.0
    >>> agent = Kluss(nodes=20, heuristic=pot).agent()
    >>> sum(infoset.play_match("kuhn_poker", [agent, "random"], seed=1).returns)
    0.0
    """

    def __call__(self, state: State) -> Sequence[float]:
        """Return what each player is expected to be paid at the end, in the game's own units.

        The state is not terminal, and nobody's view of it is hidden: the searches hand in states that they think
        possible.
        """


class RandomPlays:
    """The evaluation of leaves by the mean payoff of ``each`` random playouts, without priors."""

    def __init__(self, graph: LazyGraph, each: int, seed: int) -> None:
        self.graph, self.each, self.seed = graph, each, seed

    def __call__(self, positions: LongArray) -> tuple[FloatArray, None]:
        self.seed += len(positions)
        return self.graph.source.playouts(self.graph, positions, self.each, self.seed), None

    def priors(self, positions: LongArray) -> None:
        """Return no priors."""


class HeuristicLeaves:
    """The evaluation of leaves by a heuristic, without priors.

    Raises ``ParameterError`` where the heuristic fails, or returns anything but a finite number for each player.
    """

    def __init__(self, graph: LazyGraph, heuristic: Heuristic) -> None:
        self.graph, self.heuristic = graph, heuristic

    def __call__(self, positions: LongArray) -> tuple[FloatArray, None]:
        graph = self.graph
        found = np.zeros((len(positions), len(graph.players)))
        for k, number in enumerate(graph.arrays.state[positions].tolist()):
            graph.clock()
            found[k] = estimate(self.heuristic, graph.source.state(number), len(graph.players))
        return found, None

    def priors(self, positions: LongArray) -> None:
        """Return no priors."""


class CachedLeaves:
    """An evaluation of positions that evaluates each of them once."""

    def __init__(self, leaves: Leaves, players: int) -> None:
        self.leaves = leaves
        self.values: FloatArray = np.zeros((0, players))
        self.number: IntArray = np.zeros(0, dtype=np.int32)
        self.count = 0

    def copy(self) -> CachedLeaves:
        """Return an evaluation that goes on from here, and leaves this one as it is."""
        found = copy.copy(self)
        found.leaves, found.values, found.number = copy.copy(self.leaves), self.values.copy(), self.number.copy()
        return found

    def __call__(self, positions: LongArray) -> tuple[FloatArray, None]:
        self.number = longer(self.number, int(positions.max(initial=-1)) + 1)
        fresh = positions[self.number[positions] == 0]
        if len(fresh):
            found = self.leaves(fresh)[0]
            self.values = longer(self.values, self.count + len(fresh))
            self.values[self.count : self.count + len(fresh)] = found
            self.number[fresh] = 1 + self.count + np.arange(len(fresh))
            self.count += len(fresh)
        return self.values[self.number[positions] - 1], None

    def priors(self, positions: LongArray) -> None:
        """Return no priors."""


def estimate(heuristic: Heuristic, state: State, players: int) -> FloatArray:
    """Return a heuristic's values (players,) of a state.  Raises ``ParameterError`` where they are no such values."""

    def convert(error: BaseException, why: str) -> BaseException:
        return error if isinstance(error, InfosetError) else ParameterError(f"heuristic: {why}")

    with running_foreign_code(convert):
        said = heuristic(state)
        try:
            found = np.array(said, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.zeros(0)
    if found.shape != (players,) or not np.isfinite(found).all():
        raise ParameterError(
            f"heuristic returned {shorten(repr(said))}; allowed: {players} finite numbers, one for each player"
        )
    return found


def load_heuristic(name: str | Heuristic, game: Game) -> Heuristic:
    """Return a heuristic: a function as it is, or by the name ``python:FILE.py:function``, or ``…:Class(parameters)``.

    It is tried at the first state at which somebody moves.  Raises ``ParameterError`` where it cannot be used, and what
    loading a file raises.
    """
    if isinstance(name, str):
        if not name.startswith(PYTHON):
            raise ParameterError(f"heuristic={shorten(name)!r}; allowed: python:FILE.py:function, or …:Class")
        parsed = parse_name(name)
        found = find_python(parsed.word)
        heuristic: Heuristic = build_own("heuristic", parsed) if isinstance(found, type) else found
    else:
        heuristic = name
    if not callable(heuristic):
        raise ParameterError(f"heuristic={shorten(repr(name))} is no function of a state")
    state = game.start().state
    if not state.terminal:
        estimate(heuristic, state, len(game.players))
    return heuristic
