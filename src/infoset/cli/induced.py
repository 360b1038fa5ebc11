"""How the verb ``evaluate`` makes a policy of an agent that searches: it asks everywhere."""

from __future__ import annotations

import time

import numpy as np

from infoset.base import FloatArray, Game
from infoset.cli.progress import AskingProgress
from infoset.errors import UnsupportedGameError
from infoset.match.agents import Delegating, load_agent
from infoset.search.range_search import RangeSearch, induced_policy
from infoset.tree.game_tree import GameTree
from infoset.tree.sequence_form import SequenceForm


def ask_everywhere(name: str, game: Game, max_histories: int | None) -> tuple[SequenceForm, FloatArray]:
    """What an agent that searches would play at every information set of a game, as realisation weights (S,)."""
    agent = load_agent(name)
    agent.begin(game, 0, np.random.default_rng(0), None)
    inner = agent.inner if isinstance(agent, Delegating) else agent
    if not isinstance(inner, RangeSearch):
        raise UnsupportedGameError(
            f"{name} cannot be asked at every information set of {game.name}; agents that can: "
            "'trained:DIR' and 'search(method=…)' with a method that searches at every move"
        )
    graph = inner.solver.ranges.graph
    tree = GameTree.unroll(graph, max_histories)
    form = SequenceForm.of(tree)
    with AskingProgress(form.num_infosets) as progress:
        began = time.monotonic()
        plan = induced_policy(inner.solver, tree, form, lambda asked: progress.advance(asked, time.monotonic() - began))
    return form, plan
