"""Random small games through the public protocol, and a slow twin that plays them by the definitions."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from infoset import Game, Observed
from infoset.errors import IllegalActionError


class RandomGame(NamedTuple):
    """Everything follows from hashes: who moves from the history, what they may do from what they know."""

    seed: int
    num_players: int = 2
    depth: int = 3
    state: Any = None

    @property
    def name(self) -> str:
        return f"random({self.seed})"

    @property
    def players(self) -> tuple[str, ...]:
        return tuple(f"P{p + 1}" for p in range(self.num_players))

    def start(self) -> Observed:
        seen = tuple(self.noise("start", p) % 2 for p in range(self.num_players))
        kind = self.state or RandomState
        return Observed(kind(self, (), tuple((s,) for s in seen)), seen)

    def noise(self, *key: object) -> int:
        return zlib.crc32(repr((self.seed, *key)).encode()) >> 3


class RandomState(NamedTuple):
    game: RandomGame
    history: tuple[Any, ...]
    known: tuple[tuple[Any, ...], ...]

    @property
    def terminal(self) -> bool:
        return len(self.history) >= self.game.depth or (len(self.history) > 0 and self.noise("end") % 6 == 0)

    def noise(self, *key: object) -> int:
        return self.game.noise(self.history, *key)

    def legal_actions(self, player: int) -> tuple[Any, ...]:
        if self.terminal or not self.actions(player):
            return ()
        return tuple(range(1 + self.game.noise(player, self.known[player]) % 3))

    def actions(self, player: int) -> bool:
        return self.noise("moves", player) % 3 > 0 or (player == 0 and self.noise("nobody") % 2 == 0)

    def chance_outcomes(self, actions: Any) -> tuple[Any, ...]:
        asleep = all(action is None for action in actions)
        if self.noise("chance", tuple(actions)) % 3 and not asleep:
            return ()
        weights = [1 + self.noise("weight", k) % 4 for k in range(2)]
        return tuple((f"n{k}", w / sum(weights)) for k, w in enumerate(weights))

    def draw(self, actions: Any, rng: np.random.Generator) -> Any:
        answers = self.chance_outcomes(actions)
        return answers[int(rng.integers(len(answers)))][0] if answers else None

    def play(self, actions: Any, chance_outcome: Any = None) -> Observed:
        legal_actions = [self.legal_actions(p) or (None,) for p in range(self.game.num_players)]
        answers = [a for a, _ in self.chance_outcomes(actions)] or [None]
        if (
            any(m not in action_set for m, action_set in zip(actions, legal_actions, strict=True))
            or chance_outcome not in answers
        ):
            raise IllegalActionError(f"{actions!r} with {chance_outcome!r} is not on offer")
        history = (*self.history, (*actions, chance_outcome))
        seen = []
        for player in range(self.game.num_players):
            noise = self.game.noise(history, "sees", player)
            seen.append(None if noise % 3 == 0 else noise // 3 % 2)
        known = tuple(
            (*old, (m, o)) if m is not None or o is not None else old
            for old, m, o in zip(self.known, actions, seen, strict=True)
        )
        return Observed(type(self)(self.game, history, known), tuple(seen))

    def returns(self) -> tuple[float, ...]:
        return tuple(float(self.noise("pays", p) % 7 - 3) for p in range(self.game.num_players))


class End(NamedTuple):
    """One play: chance's probability, every player's (information state, move) choices, the payoffs."""

    chance: float
    choices: tuple[tuple[tuple[Any, Any], ...], ...]
    payoffs: tuple[float, ...]


def all_ends(game: Game) -> Iterator[End]:
    """Every play of a game, found by recursion over the definitions."""
    n = len(game.players)

    def extend(known: list[Any], step: Any, actions: Any) -> list[Any]:
        grown = []
        for p in range(n):
            seen = step.observation(p)
            if actions[p] is not None and seen is None:
                seen = ()
            grown.append(known[p] if (actions[p], seen) == (None, None) else (*known[p], (actions[p], seen)))
        return grown

    def walk(step: Any, known: list[Any], chance: float, choices: list[Any]) -> Iterator[End]:
        state = step.state
        if state.terminal:
            yield End(chance, tuple(map(tuple, choices)), state.returns())
            return
        for actions in product(*[state.legal_actions(p) or (None,) for p in range(n)]):
            made = [
                [*c, (known[p], actions[p])] if len(state.legal_actions(p)) > 1 else c for p, c in enumerate(choices)
            ]
            for answer, probability in state.chance_outcomes(actions) or ((None, 1.0),):
                following = state.play(actions, answer)
                yield from walk(following, extend(known, following, actions), chance * probability, made)

    first = game.start()
    yield from walk(first, extend([()] * n, first, [None] * n), 1.0, [[] for _ in range(n)])


def action_sets(ends: list[End], player: int) -> dict[Any, list[Any]]:
    """The moves of every information set of a player, as far as they occur."""
    found: dict[Any, dict[Any, None]] = defaultdict(dict)
    for end in ends:
        for infoset, action in end.choices[player]:
            found[infoset][action] = None
    return {infoset: sorted(actions) for infoset, actions in found.items()}


def value(ends: list[End], behaviour: list[dict[Any, dict[Any, float]]]) -> list[float]:
    """Every player's expected payoff: a sum over all plays."""
    total = np.zeros(len(behaviour))
    for end in ends:
        reach = end.chance
        for rows, choices in zip(behaviour, end.choices, strict=True):
            for infoset, action in choices:
                reach *= rows[infoset][action]
        total += reach * np.array(end.payoffs)
    return total.tolist()


def best_value(ends: list[End], behaviour: list[dict[Any, dict[Any, float]]], player: int) -> float:
    """The best payoff of a player over all of its pure strategies, tried one by one."""
    own = action_sets(ends, player)
    best = -np.inf
    for chosen in product(*own.values()):
        pure = {i: {m: float(m == c) for m in own[i]} for i, c in zip(own, chosen, strict=True)}
        rows = [*behaviour[:player], pure, *behaviour[player + 1 :]]
        best = max(best, value(ends, rows)[player])
    return best
