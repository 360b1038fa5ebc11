"""The belief of a player in a game description: all states consistent with its moves and percepts, if few.

The result is exact and a function of the player's knowledge: it is bounded by counts, never by a clock.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from itertools import product
from typing import TypeAlias

from infoset.base import Action, InformationState, ObservationRecord
from infoset.errors import InfosetError
from infoset.gdl.lazy import LazyEvaluator
from infoset.gdl.rules import GdlRules, GdlState

MAX_STATES = 1_000
MAX_TRIES = 10_000  # joint moves tried for one step at most
LAZY_TRIES = 300  # the same where the rules are not compiled
MAX_CACHED = 256

States: TypeAlias = "frozenset[Hashable] | None"
"""States as the evaluator represents them; ``None`` where there are too many to list, or none."""

_cache: OrderedDict[tuple[GdlRules, int, InformationState], States] = OrderedDict()  # the latest results


def possible_states(rules: GdlRules, player: int, infostate: InformationState) -> States:
    """Return the states consistent with ``infostate``, continued from its longest prefix with a cached result."""
    length = len(infostate)
    while length and (rules, player, infostate[:length]) not in _cache:
        length -= 1
    states = _cache.get((rules, player, infostate[:length]), frozenset([rules.evaluator.start()]))
    for place in range(length, len(infostate)):
        states = None if states is None else _after(rules, player, states, infostate[place])
        _cache[rules, player, infostate[: place + 1]] = states
        if len(_cache) > MAX_CACHED:
            _cache.popitem(last=False)
    return states


def _after(rules: GdlRules, player: int, states: frozenset[Hashable], record: ObservationRecord) -> States:
    """Return the successors of ``states`` that are consistent with the move and the percepts of one step."""
    limit = LAZY_TRIES if isinstance(rules.evaluator, LazyEvaluator) else MAX_TRIES
    found: set[Hashable] = set()
    try:
        for tried, (state, joint, answer) in enumerate(_tries(rules, player, states, record)):
            step = rules.step(state, joint, answer)
            if step.observations[player] == record[1]:
                assert isinstance(step.state, GdlState)
                found.add(step.state.key)
            if tried >= limit or len(found) > MAX_STATES:
                return None
    except InfosetError:  # a state in which the rules leave a role without a move
        return None
    return frozenset(found) or None


def _tries(
    rules: GdlRules, player: int, states: frozenset[Hashable], record: ObservationRecord
) -> Iterator[tuple[Hashable, tuple[Action, ...], Action | None]]:
    """Yield the joint moves that may have been played.

    The own move is known; in a game of complete information all moves are.
    """
    evaluator, (action, observation) = rules.evaluator, record
    for state in states:
        if evaluator.terminal(state):
            continue
        action_sets = [evaluator.legal_actions(state, seat) for seat in rules.seats]
        if action not in action_sets[player]:
            continue
        if rules.open and isinstance(observation, tuple):
            joints: Iterator[tuple[Action, ...]] = iter([observation])  # type: ignore[list-item]
        else:
            joints = product(*[(action,) if p == player else action_set for p, action_set in enumerate(action_sets)])
        for joint in joints:
            for answer in rules.chance_outcome(state) or (None,):
                yield state, joint, answer
