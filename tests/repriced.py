"""Any game with its payoffs multiplied by a factor and raised by a constant, each player's its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from infoset import Observed


class Repriced(NamedTuple):
    """``game``, in which player p is paid ``constants[p] + factors[p] * payoff``."""

    game: Any
    factors: tuple[float, ...]
    constants: tuple[float, ...]

    @property
    def name(self) -> str:
        return f"repriced({self.game.name})"

    @property
    def players(self) -> tuple[str, ...]:
        return self.game.players

    def start(self) -> Observed:
        return self.after(self.game.start())

    def after(self, step: Any) -> Observed:
        return Observed(RepricedState(self, step.state), tuple(map(step.observation, range(len(self.players)))))


class RepricedState(NamedTuple):
    rules: Repriced
    inner: Any

    @property
    def terminal(self) -> bool:
        return self.inner.terminal

    def legal_actions(self, player: int) -> Any:
        return self.inner.legal_actions(player)

    def chance_outcomes(self, actions: Any) -> Any:
        return self.inner.chance_outcomes(actions)

    def draw(self, actions: Any, rng: Any) -> Any:
        return self.inner.draw(actions, rng)

    def play(self, actions: Any, chance_outcome: Any = None) -> Observed:
        return self.rules.after(self.inner.play(actions, chance_outcome))

    def returns(self) -> tuple[float, ...]:
        factors, constants = self.rules.factors, self.rules.constants
        paid = zip(factors, constants, self.inner.returns(), strict=True)
        return tuple(constant + factor * payoff for factor, constant, payoff in paid)
