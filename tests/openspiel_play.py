"""What a policy earns by OpenSpiel's own rules, over all deals and without our tree."""

from __future__ import annotations

from typing import Any

import pytest

from infoset.policies.tabular import TabularPolicy


def value_in_openspiel(game: str, policy: TabularPolicy) -> float:
    """The first player's expected payoff in a turn-based game, where everyone plays ``policy``."""
    pyspiel = pytest.importorskip("pyspiel")

    def play(state: Any) -> float:
        if state.is_terminal():
            return float(state.returns()[0])
        if state.is_chance_node():
            return sum(chance * play(state.child(deal)) for deal, chance in state.chance_outcomes())
        player = state.current_player()
        actions = {state.action_to_string(player, a): a for a in state.legal_actions()}
        if len(actions) == 1:
            return play(state.child(*actions.values()))
        row = policy.probabilities(player, state.information_state_string(player))
        return sum(row[word] * play(state.child(a)) for word, a in actions.items() if row[word])

    return play(pyspiel.load_game(game).new_initial_state())
