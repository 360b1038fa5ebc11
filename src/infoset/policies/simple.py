"""Policies without a table: uniform play, a user's function, an agent that reports its probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from infoset import status
from infoset.base import Action, Agent, FloatArray, Game, InformationState, ProbabilisticAgent
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.names import action_names, policy_key
from infoset.policies.tabular import SUM_TOLERANCE, answer_of
from infoset.tree.game_tree import GameTree
from infoset.tree.plans import realisation
from infoset.tree.sequence_form import SequenceForm

MAX_CACHED_PLAYS = 1 << 16  # the number of information states whose probabilities are cached


class FunctionPolicy:
    """A policy by a function from an information set's key and moves to probabilities; moves left out have 0."""

    def __init__(self, choose: Callable[[str, tuple[str, ...]], Mapping[str, float]], map_name: str = "") -> None:
        """Take a function; ``map_name`` is the name of the game's information map, whose labels are then its keys."""
        self.choose, self.map_name = choose, map_name

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> Sequence[float]:
        """Return the probabilities that the function gives."""
        words = action_names(legal_actions)
        found = answer_of(self.choose, policy_key(infostate, self.map_name), words)
        return [found.get(word, 0.0) for word in words]


class UniformPolicy(FunctionPolicy):
    """The uniform policy: all moves are equally likely."""

    def __init__(self) -> None:
        super().__init__(lambda _, actions: dict.fromkeys(actions, 1 / len(actions)))

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> Sequence[float]:
        """Return the same probability for each move."""
        return [1 / len(legal_actions)] * len(legal_actions)


class AskedPolicy:
    """A policy by an agent that reports its probabilities: for each information state it is begun anew.

    It is then shown the records one by one.  Raises ``UnsupportedGameError`` for an agent that does not report them.
    """

    def __init__(self, game: Game, agent: Agent) -> None:
        if not isinstance(agent, ProbabilisticAgent):
            name = getattr(agent, "name", type(agent).__name__)
            raise UnsupportedGameError(
                f"agent {name} does not report its action probabilities (a method report_probabilities(legal_actions))"
            )
        self.game, self.agent = game, agent
        self.rows: dict[tuple[int, InformationState, tuple[Action, ...]], Sequence[float]] = {}

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> Sequence[float]:
        """Return the probabilities that the agent reports."""
        key = player, infostate, legal_actions
        if key not in self.rows:
            if len(self.rows) >= MAX_CACHED_PLAYS:
                self.rows.clear()
            self.agent.begin(self.game, player, np.random.default_rng(0), None)
            for own_action, observation in infostate:
                self.agent.observe(own_action, observation)
            self.rows[key] = self.agent.report_probabilities(legal_actions)
        return self.rows[key]


Row = Callable[[int, InformationState, tuple[Action, ...]], "Sequence[float] | None"]
"""A function such as ``Policy.action_probabilities``: of a player, its information state, and the legal moves."""


def asked_everywhere(row: Row, tree: GameTree, form: SequenceForm) -> FloatArray:
    """Return realisation weights (S,) of a function that answers with rows, on a tree and its sequence form.

    Raises ``ParameterError`` for an answer that is not a distribution.
    """
    strategy = np.ones(form.num_sequences)
    with status.during("asking for probabilities"):
        for k, infoset in enumerate(form.tree_infoset.tolist()):
            first = int(form.arrays.first[k])
            strategy[first : first + int(form.arrays.size[k])] = row_at(row, tree, infoset)
            if k % 100 == 0:
                status.detail(f"asking for probabilities: {k:,} of {form.num_infosets:,} information sets")
    return realisation(form, strategy)


def row_at(row: Row, tree: GameTree, infoset: int) -> list[float]:
    """Return the probabilities at an information set of a tree; uniform where undefined."""
    player, action_set = int(tree.infoset_player[infoset]), tree.action_set(infoset)
    return checked_row(row(player, tree.states.state(int(tree.infoset_state[infoset])), action_set), action_set)


def checked_row(found: Sequence[float] | None, action_set: tuple[Action, ...]) -> list[float]:
    """Return the probabilities of the legal moves; uniform where undefined.

    Raises ``ParameterError`` for anything but a distribution over these moves.
    """
    if found is None:
        return [1 / len(action_set)] * len(action_set)
    total = sum(found)
    if len(found) != len(action_set) or min(found) < 0 or abs(total - 1) > SUM_TOLERANCE:
        raise ParameterError(f"{list(found)} are no probabilities of the moves {list(action_names(action_set))}")
    return [chance / total for chance in found]
