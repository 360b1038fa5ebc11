"""The paper's equations written out literally (Lanctot 2014): slow, and for checking only."""

from __future__ import annotations

from itertools import product

import numpy as np

from infoset import SequenceForm


class Literal:
    """Sequence-form replicator dynamics by equations 2, 3, 4 and 5, choice by choice."""

    def __init__(self, form: SequenceForm, shift: float) -> None:
        self.form, self.shift = form, shift
        self.rows, self.payoffs = form.terminals()
        self.paths = {q: self._path(q) for q in range(form.num_sequences)}

    def _path(self, q: int) -> tuple[int, ...]:
        """X_i(q): the choices made on the way to q, q included, the empty one excluded."""
        path: list[int] = []
        while (k := int(self.form.infoset_of[q])) >= 0:
            path.append(q)
            q = int(self.form.arrays.parent[k])
        return tuple(path[::-1])

    def utility(self, x: np.ndarray, player: int) -> float:
        """Equation 2, payoffs shifted."""
        return float(sum(np.prod(x[row]) * paid[player] for row, paid in zip(self.rows, self.payoffs, strict=True))) + (
            self.shift
        )

    def projected(self, x: np.ndarray, player: int, q: int) -> np.ndarray:
        """Equation 5: x with player's part played to make the choice q."""
        result, target = x.copy(), self.paths[q]
        own = self.form.player_sequences(player)
        for other in range(own.start, own.stop):
            path = self.paths[other]
            shared = 0
            while shared < min(len(path), len(target)) and path[shared] == target[shared]:
                shared += 1
            if shared == len(path):
                result[other] = 1.0  # on the way to q
            elif shared < len(target) and self._same_set(path[shared], target[shared]):
                result[other] = 0.0  # contradicts q
            else:
                result[other] = x[other] / (x[path[shared - 1]] if shared else 1.0)
        return result

    def _same_set(self, one: int, other: int) -> bool:
        return bool(self.form.infoset_of[one] == self.form.infoset_of[other])

    def weights(self, x: np.ndarray, player: int) -> np.ndarray:
        """u_i(x with g_q in place of i) for each choice q of the player; the rest is nan."""
        result = np.full(len(x), np.nan)
        own = self.form.player_sequences(player)
        for q in range(own.start, own.stop):
            result[q] = self.utility(self.projected(x, player, q), player)
        return result

    def discrete(self, x: np.ndarray, player: int) -> np.ndarray:
        """Equation 3 for one player."""
        result, own = x.copy(), self.form.player_sequences(player)
        result[own] = x[own] * self.weights(x, player)[own] / self.utility(x, player)
        return result

    def continuous(self, x: np.ndarray) -> np.ndarray:
        """Equation 4: dx/dt for all players; utility is linear in one player's plan."""
        velocity = np.zeros(len(x))
        for player in range(self.form.num_players):
            own = self.form.player_sequences(player)
            velocity[own] = x[own] * (self.weights(x, player)[own] - self.utility(x, player))
        return velocity


class NormalForm:
    """The reduced normal form: every player's pure realisation plans, and replicator dynamics on them."""

    def __init__(self, form: SequenceForm, shift: float) -> None:
        self.form, self.shift = form, shift
        rows, payoffs = form.terminals()
        self.plans = [self._plans(p) for p in range(form.num_players)]
        sizes = [len(plans) for plans in self.plans]
        self.payoffs = np.zeros((*sizes, form.num_players))
        for joint in product(*map(range, sizes)):
            plan = np.ones(form.num_sequences)
            for player, s in enumerate(joint):
                plan[form.player_sequences(player)] = self.plans[player][s]
            reach = np.prod(plan[rows], axis=1)
            self.payoffs[joint] = reach @ payoffs + shift

    def _plans(self, player: int) -> np.ndarray:
        """(number of reduced pure strategies, S_player) of zeros and ones."""
        form, own = self.form, self.form.player_sequences(player)

        def below(q: int) -> list[tuple[int, ...]]:
            """The sets of sequences that a pure strategy may use below q."""
            options: list[tuple[int, ...]] = [()]
            for k in form.player_infosets(player):
                if form.arrays.parent[k] == q:
                    first = int(form.arrays.first[k])
                    here = [(m, *rest) for m in range(first, first + int(form.arrays.size[k])) for rest in below(m)]
                    options = [a + b for a in options for b in here]
            return options

        chosen = below(own.start)
        plans = np.zeros((len(chosen), own.stop - own.start))
        plans[:, 0] = 1
        for s, sequences in enumerate(chosen):
            plans[s, np.array(sequences, dtype=int) - own.start] = 1
        return plans

    def mixed(self, strategy: np.ndarray, player: int) -> np.ndarray:
        """The mixed strategy with the same realisation weights as behaviour (S,)."""
        own = strategy[self.form.player_sequences(player)]
        return np.prod(np.where(self.plans[player] > 0, own, 1.0), axis=1)

    def plan(self, mixed: list[np.ndarray]) -> np.ndarray:
        """Realisation weights (S,) of a mixed profile."""
        return np.concatenate([rho @ plans for rho, plans in zip(mixed, self.plans, strict=True)])

    def fitness(self, mixed: list[np.ndarray], player: int) -> np.ndarray:
        """The shifted payoff of each pure strategy against the others' mixtures."""
        payoff = self.payoffs[..., player]
        for other in range(len(mixed) - 1, -1, -1):
            if other != player:
                payoff = np.tensordot(payoff, mixed[other], axes=(other, 0))
        return payoff
