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
        CardGame,
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
    from infoset.catalog import list_games, load
    from infoset.checking import check, same_game
    from infoset.conventions import find_conventions
    from infoset.evaluation import check_profile, evaluate
    from infoset.flop_report import FlopReport, report_flops
    from infoset.formats.conversion import convert
    from infoset.formats.nfg import table_game
    from infoset.formats.openspiel import export_policy, import_policy
    from infoset.games.product_form import Chance, ProductForm, Stage
    from infoset.games.rules import Ended, NativeState
    from infoset.match.agents import PolicyAgent, list_agents, load_agent
    from infoset.match.match import play_match
    from infoset.match.replay import Match, replay_states
    from infoset.match.series import Series, play_series
    from infoset.policies.networks import NetworkPolicy
    from infoset.policies.tabular import TabularPolicy, compare
    from infoset.remote.submission import new_agent
    from infoset.solvers.job import Watcher
    from infoset.solvers.method import list_methods
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
    from infoset.training import train
    from infoset.tree.game_tree import GameTree
    from infoset.tree.plans import behaviour, realisation
    from infoset.tree.product_form import product_form_of
    from infoset.tree.sequence_form import SequenceForm
    from infoset.view.curves import plot
    from infoset.view.showing import show
    from infoset.view.watch_page import watch

__version__ = "0.1.0"

_NAMES = {
    "arena.competition": "compete",
    "arena.tournament": "tournament",
    "base": "Action Agent CardGame Factored Game InformationMap JointAction Observation Observed Policy State Step",
    "catalog": "list_games load",
    "checking": "check same_game",
    "conventions": "find_conventions",
    "evaluation": "check_profile evaluate",
    "flop_report": "FlopReport report_flops",
    "formats.conversion": "convert",
    "formats.nfg": "table_game",
    "formats.openspiel": "export_policy import_policy",
    "games.product_form": "Chance ProductForm Stage",
    "games.rules": "Ended NativeState",
    "match.agents": "PolicyAgent list_agents load_agent",
    "match.match": "play_match",
    "match.replay": "Match replay_states",
    "match.series": "Series play_series",
    "policies.networks": "NetworkPolicy",
    "policies.tabular": "TabularPolicy compare",
    "remote.submission": "new_agent",
    "solvers.method": "list_methods",
    "solvers.metrics": "Evaluation best_response expected_values exploitability nash_conv performance",
    "solvers.study": "Study",
    "solvers.tabular.all_equilibria": "all_equilibria",
    "solvers.tabular.backward_induction": "backward_induction",
    "solvers.tabular.cfr": "cfr cfr_plus dcfr hedge hs_dcfr hs_pcfr_plus linear_cfr pcfr_plus pdcfr_plus vad_cfr",
    "solvers.tabular.correlated": "correlated_equilibrium",
    "solvers.tabular.dominance": "eliminate_dominated",
    "solvers.tabular.extreme_equilibria": "extreme_equilibria",
    "solvers.tabular.linear_complementarity": "exact_equilibrium lcp linear_complementarity",
    "solvers.tabular.linear_program": "linear_program",
    "solvers.tabular.logit": "logit logit_path",
    "solvers.tabular.loop": "Method",
    "solvers.tabular.lp": "lp",
    "solvers.tabular.mirror_descent": "mmd",
    "solvers.tabular.pure_equilibria": "pure_equilibria",
    "solvers.tabular.replicator": "sfrd sfrd_continuous",
    "solvers.tabular.support_enumeration": "isolated_equilibria",
    "solvers.tabular.trembles": "trembling_equilibrium",
    "solvers.teams.annealing": "Annealing anneal",
    "solvers.teams.hidden_game": "HiddenGame",
    "solvers.teams.information_relaxation": "information_relaxation",
    "solvers.teams.optimum": "TeamOptimum team_optimum",
    "solvers.teams.progressive_hiding": "progressive_hiding",
    "solvers.job": "Watcher",
    "solving": "Solution solve",
    "training": "train",
    "tree.game_tree": "GameTree",
    "tree.plans": "behaviour realisation",
    "tree.product_form": "product_form_of",
    "tree.sequence_form": "SequenceForm",
    "view.curves": "plot",
    "view.showing": "show",
    "view.watch_page": "watch",
}
"""The public names by their modules."""

_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Action", "Agent", "Annealing", "CardGame", "Chance", "Ended", "Evaluation", "Factored", "FlopReport", "Game",
    "GameTree", "HiddenGame", "InformationMap", "JointAction", "Match", "Method", "NativeState",
    "NetworkPolicy", "Observation",
    "Observed", "Policy", "PolicyAgent", "ProductForm", "SequenceForm", "Series", "Solution", "Stage", "State",
    "Step", "Study", "TabularPolicy", "TeamOptimum", "Watcher", "all_equilibria", "anneal", "backward_induction",
    "behaviour", "best_response", "cfr", "cfr_plus", "check", "check_profile", "compare", "compete", "convert",
    "correlated_equilibrium", "dcfr", "eliminate_dominated", "errors", "evaluate", "exact_equilibrium",
    "expected_values", "exploitability", "export_policy", "extreme_equilibria", "find_conventions",
    "hedge", "hs_dcfr", "hs_pcfr_plus",
    "import_policy", "information_relaxation", "isolated_equilibria", "lcp", "linear_cfr", "linear_complementarity",
    "linear_program", "list_agents", "list_games", "list_methods", "load", "load_agent", "logit", "logit_path", "lp",
    "mmd", "nash_conv", "new_agent", "pcfr_plus", "pdcfr_plus", "performance", "play_match", "play_series", "plot",
    "product_form_of", "progressive_hiding", "pure_equilibria", "realisation", "replay_states", "report_flops",
    "same_game", "sfrd", "sfrd_continuous", "show", "solve", "table_game", "team_optimum", "testing", "tournament",
    "train", "trembling_equilibrium", "vad_cfr", "watch",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in ("errors", "testing"):
        return import_module(f"infoset.{name}")
    if name in _HOME:
        return getattr(import_module(f"infoset.{_HOME[name]}"), name)
    raise AttributeError(f"module 'infoset' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
