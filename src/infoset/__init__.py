"""infoset: describe a hidden-information game once, solve it exactly, and measure how good the answer is.

Only the names in ``__all__`` are public, with the modules ``errors`` and ``testing``; each is imported when it
is first used, so that ``import infoset`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infoset import errors, testing
    from infoset.arena.competition import compete
    from infoset.arena.tournament import tournament
    from infoset.base import (
        Action,
        Agent,
        Dealt,
        Factored,
        Game,
        InformationMap,
        JointAction,
        Observation,
        Observed,
        Policy,
        State,
        Step,
    )
    from infoset.catalog import load
    from infoset.evaluation import evaluate
    from infoset.formats.nfg import table_game
    from infoset.formats.openspiel import export_policy
    from infoset.games.product_form import Chance, ProductForm, Stage
    from infoset.games.rules import Ended, NativeState
    from infoset.match.agents import PolicyAgent, load_agent
    from infoset.match.match import play_match
    from infoset.match.replay import Match, replay_states
    from infoset.match.series import Series, play_series
    from infoset.policies.tabular import TabularPolicy, compare
    from infoset.remote.submission import new_agent
    from infoset.solvers.job import Watcher
    from infoset.solvers.metrics import (
        Evaluation,
        best_response,
        expected_values,
        exploitability,
        nash_conv,
        performance,
    )
    from infoset.solvers.study import Study
    from infoset.solvers.tabular.all_equilibria import all_equilibria
    from infoset.solvers.tabular.backward_induction import backward_induction
    from infoset.solvers.tabular.cfr import (
        cfr,
        cfr_plus,
        dcfr,
        hedge,
        hs_dcfr,
        hs_pcfr_plus,
        linear_cfr,
        pcfr_plus,
        pdcfr_plus,
        vad_cfr,
    )
    from infoset.solvers.tabular.correlated import correlated_equilibrium
    from infoset.solvers.tabular.dominance import eliminate_dominated
    from infoset.solvers.tabular.extreme_equilibria import extreme_equilibria
    from infoset.solvers.tabular.linear_complementarity import exact_equilibrium, lcp, linear_complementarity
    from infoset.solvers.tabular.linear_program import linear_program
    from infoset.solvers.tabular.logit import logit, logit_path
    from infoset.solvers.tabular.loop import Method
    from infoset.solvers.tabular.lp import lp
    from infoset.solvers.tabular.mirror_descent import mmd
    from infoset.solvers.tabular.pure_equilibria import pure_equilibria
    from infoset.solvers.tabular.replicator import sfrd, sfrd_continuous
    from infoset.solvers.tabular.support_enumeration import isolated_equilibria
    from infoset.solvers.tabular.trembles import trembling_equilibrium
    from infoset.solvers.teams.annealing import Annealing, anneal
    from infoset.solvers.teams.hidden_game import HiddenGame
    from infoset.solvers.teams.information_relaxation import information_relaxation
    from infoset.solvers.teams.optimum import TeamOptimum, team_optimum
    from infoset.solvers.teams.progressive_hiding import progressive_hiding
    from infoset.solving import Solution, solve
    from infoset.tree.game_tree import GameTree
    from infoset.tree.plans import behaviour, realisation
    from infoset.tree.product_form import product_form_of
    from infoset.tree.sequence_form import SequenceForm
    from infoset.verbs import (
        check,
        check_profile,
        convert,
        list_agents,
        list_games,
        list_methods,
        plot,
        show,
        train,
        watch,
    )

__version__ = "0.1.0"

_HOME = {
    "Action": "base",
    "Agent": "base",
    "Annealing": "solvers.teams.annealing",
    "Ended": "games.rules",
    "Evaluation": "solvers.metrics",
    "Dealt": "base",
    "Factored": "base",
    "Game": "base",
    "GameTree": "tree.game_tree",
    "HiddenGame": "solvers.teams.hidden_game",
    "InformationMap": "base",
    "JointMove": "base",
    "Match": "match.replay",
    "Method": "solvers.tabular.loop",
    "NativeState": "games.rules",
    "Chance": "games.product_form",
    "Observation": "base",
    "Observed": "base",
    "Policy": "base",
    "PolicyAgent": "match.agents",
    "ProductForm": "games.product_form",
    "SequenceForm": "tree.sequence_form",
    "Series": "match.series",
    "Solution": "solving",
    "Stage": "games.product_form",
    "State": "base",
    "Step": "base",
    "Study": "solvers.study",
    "TabularPolicy": "policies.tabular",
    "TeamOptimum": "solvers.teams.optimum",
    "Watcher": "solvers.work",
    "all_equilibria": "solvers.tabular.all_equilibria",
    "anneal": "solvers.teams.annealing",
    "behaviour": "tree.plans",
    "best_response": "solvers.metrics",
    "cfr": "solvers.tabular.cfr",
    "cfr_plus": "solvers.tabular.cfr",
    "backward_induction": "solvers.tabular.backward_induction",
    "check": "verbs",
    "check_profile": "verbs",
    "trembling_equilibrium": "solvers.tabular.trembles",
    "compare": "policies.tabular",
    "compete": "arena.competition",
    "convert": "verbs",
    "correlated_equilibrium": "solvers.tabular.correlated",
    "dcfr": "solvers.tabular.cfr",
    "eliminate_dominated": "solvers.tabular.dominance",
    "evaluate": "evaluation",
    "expected_values": "solvers.metrics",
    "exploitability": "solvers.metrics",
    "exact_equilibrium": "solvers.tabular.linear_complementarity",
    "export_policy": "formats.openspiel",
    "extreme_equilibria": "solvers.tabular.extreme_equilibria",
    "isolated_equilibria": "solvers.tabular.support_enumeration",
    "pure_equilibria": "solvers.tabular.pure_equilibria",
    "hedge": "solvers.tabular.cfr",
    "hs_dcfr": "solvers.tabular.cfr",
    "hs_pcfr_plus": "solvers.tabular.cfr",
    "information_relaxation": "solvers.teams.information_relaxation",
    "lcp": "solvers.tabular.linear_complementarity",
    "linear_cfr": "solvers.tabular.cfr",
    "linear_complementarity": "solvers.tabular.linear_complementarity",
    "linear_program": "solvers.tabular.linear_program",
    "list_agents": "verbs",
    "list_games": "verbs",
    "list_methods": "verbs",
    "load": "catalog",
    "load_agent": "match.agents",
    "logit": "solvers.tabular.logit",
    "logit_path": "solvers.tabular.logit",
    "lp": "solvers.tabular.lp",
    "mmd": "solvers.tabular.mirror_descent",
    "nash_conv": "solvers.metrics",
    "new_agent": "remote.submission",
    "pcfr_plus": "solvers.tabular.cfr",
    "pdcfr_plus": "solvers.tabular.cfr",
    "performance": "solvers.metrics",
    "play_match": "match.match",
    "play_series": "match.series",
    "plot": "verbs",
    "product_form_of": "tree.product_form",
    "progressive_hiding": "solvers.teams.progressive_hiding",
    "realisation": "tree.plans",
    "replay_states": "match.replay",
    "sfrd": "solvers.tabular.replicator",
    "sfrd_continuous": "solvers.tabular.replicator",
    "show": "verbs",
    "solve": "solving",
    "table_game": "formats.nfg",
    "team_optimum": "solvers.teams.optimum",
    "tournament": "arena.tournament",
    "train": "verbs",
    "vad_cfr": "solvers.tabular.cfr",
    "watch": "verbs",
}

__all__ = [
    "Action",
    "Agent",
    "Annealing",
    "Chance",
    "Dealt",
    "Ended",
    "Evaluation",
    "Factored",
    "Game",
    "GameTree",
    "HiddenGame",
    "InformationMap",
    "JointMove",
    "Match",
    "Method",
    "NativeState",
    "Observation",
    "Observed",
    "Policy",
    "PolicyAgent",
    "ProductForm",
    "SequenceForm",
    "Series",
    "Solution",
    "Stage",
    "State",
    "Step",
    "Study",
    "TabularPolicy",
    "TeamOptimum",
    "Watcher",
    "all_equilibria",
    "anneal",
    "backward_induction",
    "behaviour",
    "best_response",
    "cfr",
    "cfr_plus",
    "check",
    "check_profile",
    "compare",
    "compete",
    "convert",
    "correlated_equilibrium",
    "dcfr",
    "eliminate_dominated",
    "errors",
    "evaluate",
    "exact_equilibrium",
    "expected_values",
    "exploitability",
    "export_policy",
    "extreme_equilibria",
    "hedge",
    "hs_dcfr",
    "hs_pcfr_plus",
    "information_relaxation",
    "isolated_equilibria",
    "lcp",
    "linear_cfr",
    "linear_complementarity",
    "linear_program",
    "list_agents",
    "list_games",
    "list_methods",
    "load",
    "load_agent",
    "logit",
    "logit_path",
    "lp",
    "mmd",
    "nash_conv",
    "new_agent",
    "pcfr_plus",
    "pdcfr_plus",
    "performance",
    "play_match",
    "play_series",
    "plot",
    "product_form_of",
    "progressive_hiding",
    "pure_equilibria",
    "realisation",
    "replay_states",
    "sfrd",
    "sfrd_continuous",
    "show",
    "solve",
    "table_game",
    "team_optimum",
    "testing",
    "tournament",
    "train",
    "trembling_equilibrium",
    "vad_cfr",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name in ("errors", "testing"):
        return import_module(f"infoset.{name}")
    if name in _HOME:
        return getattr(import_module(f"infoset.{_HOME[name]}"), name)
    raise AttributeError(f"module 'infoset' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
