"""The method ``auto``, which inspects the game, chooses the method that suits it best and says why."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from infoset import sizes
from infoset.compiled import Compiled
from infoset.errors import BudgetError, ImperfectRecallError, ParameterError, UnsupportedGameError
from infoset.solvers.config import OPTIONS, SolveConfig
from infoset.solvers.job import Job, Limits
from infoset.solvers.method import METHODS, AnyMethod, Checked, parse_method
from infoset.solvers.tabular.backward_induction import perfect_information
from infoset.solvers.tabular.cfr import for_hands, for_products
from infoset.solvers.tabular.public_subgames import largest_piece
from infoset.solvers.teams.belief_regrets import BeliefDagMethod
from infoset.solvers.teams.optimum import PROVING, check_provable
from infoset.solvers.teams.team_maxmin import TeamMaxmin, teams_of
from infoset.tree.stage_form import StageForm
from infoset.tree.subgames import public_positions

SOON = 5.0  # seconds that suffice for the exact methods on the other games for which they are chosen
TRIAL = 100  # iterations after which a portfolio is compared
TRIAL_SECONDS = 5.0  # the latest moment of that comparison
PORTFOLIO = ("dcfr", "pcfr+", "pdcfr+")  # the best on nearly all games of docs/papers/update-rules.md


class Choice(NamedTuple):
    """The chosen method and the reason for the choice."""

    method: AnyMethod
    why: str


@dataclass(frozen=True)
class Auto(Checked):
    """The default: the method that suits the game's players, sum, size, chance, recall and teams, and why."""

    takes: ClassVar[frozenset[str]] = frozenset(OPTIONS)
    default: ClassVar[Limits] = Limits()

    name: ClassVar[str] = "auto"

    def job(self, compiled: Compiled, config: SolveConfig) -> Job:
        """Return the work of the chosen method on a game."""
        return choose(compiled, config).method.job(compiled, config)


def choose(compiled: Compiled, config: SolveConfig) -> Choice:
    """Choose the best method that takes all the options given.

    Raises ``UnsupportedGameError`` where none does, ``BudgetError`` for a game whose positions are too many.

    >>> from infoset.compiled import Compiled
    >>> from infoset.solvers.choose import choose
    >>> from infoset.solvers.config import SolveConfig
    >>> choose(Compiled.of("kuhn_poker"), SolveConfig()).method.name
    'lp'
    >>> choose(Compiled.of("gdl:meier"), SolveConfig()).method.name
    'public'
    """
    reasons = []
    for candidate in _candidates(config.form):
        try:
            found = candidate(compiled, config)
        except (BudgetError, ImperfectRecallError) as error:
            if isinstance(error, BudgetError) and candidate is _vector:  # where hands do not fit, histories do not
                raise
            reasons.append(str(error))
            continue
        if isinstance(found, Choice):
            return found
        reasons += [found] if found else []
    raise UnsupportedGameError(f"no method for {compiled.name} that takes {_given(config)}: {'; '.join(reasons)}")


def _candidates(form: str | None) -> tuple[Callable[[Compiled, SolveConfig], Choice | str], ...]:
    """Return the candidates in the order in which they are tried, only those that work on ``form`` where one is given.

    The cores of a game come before its tree; public states, which have to be found first, only where the tree does not
    fit.
    """
    by_form = {"tree": (_team, _open, _tree), "factored": (_factored,), "vector": (_vector,), "sampled": (_sampling,)}
    return (
        by_form[form]
        if form
        else (_two_teams, _described, _vector, _cores, _team, _open, _stages, _tree, _public, _factored, _sampling)
    )


def _vector(compiled: Compiled, config: SolveConfig) -> Choice | str:
    """Consider the vector form, for card games whose tree would be large."""
    if config.form is None and (compiled.only_form or not compiled.better_in_vector_form):
        return ""
    form = compiled.vector
    name = for_hands().name
    if not _takes(name, config):
        return f"the vector form takes no {_given(config)}"
    why = (
        f"{form.num_histories:,.4g} histories, all hands of a node at once: vector form with {form.num_rows:,} numbers"
    )
    return _chosen(name, config, why)


def _cores(compiled: Compiled, config: SolveConfig) -> Choice | str:
    """Consider the factored form for a game that declares cores of its states, or whose rules show them."""
    return _factored(compiled, config) if compiled.factors else ""


def _factored(compiled: Compiled, config: SolveConfig) -> Choice | str:
    """Consider the factored form, in which histories that are products are not listed."""
    if config.form is None and not compiled.better_factored:
        return ""
    histories = compiled.factored_rules.sizes.histories
    name = for_products(compiled.factored_rules.dealt).name
    if not _takes(name, config) or config.lock:
        return f"the factored form takes no {_given(config)}"
    why = f"{histories:,.4g} histories factor into private states: factored form"
    return _chosen(name, config, why)


def _given(config: SolveConfig) -> str:
    return ", ".join(config.given) or "no options"


def _takes(name: str, config: SolveConfig) -> bool:
    return config.given.keys() <= parse_method(name).takes


def _two_teams(compiled: Compiled, config: SolveConfig) -> Choice | str:
    """Consider the methods for teams that play against each other or against single players."""
    teams = teams_of(compiled, config.teams)
    if config.teams is not None and teams is not None and len(teams) == 1:
        players = compiled.players
        raise ParameterError(
            f"teams={config.teams}: all players are in one team; name two teams, such as {players[0]},"
            f"{'+'.join(players[1:])}, or none where all are paid the same"
        )
    if teams is None or len(teams) == 1:
        return ""
    why = " and ".join("+".join(compiled.players[seat] for seat in team) for team in teams) + " play against each other"
    try:
        TeamMaxmin().job(compiled, config)
    except UnsupportedGameError as error:
        return _chosen("progressive-hiding", config, f"{why}; no proof: {error}")
    except BudgetError as error:
        return _beliefs(compiled, config, f"{why}; {error}")
    return _chosen("team-maxmin", config, f"{why}, and small enough for a proof of optimality")


def _beliefs(compiled: Compiled, config: SolveConfig, why: str) -> Choice:
    """Choose regret minimisation on the belief DAGs of two teams where these fit and are built within the limit."""
    method = BeliefDagMethod()
    if not _takes(method.name, config):
        return _chosen("progressive-hiding", config, why)
    try:
        method.prepare(compiled, config)
    except BudgetError as error:
        return _chosen("progressive-hiding", config, f"{why}; {error}")
    return Choice(method, f"{why}; their belief DAGs fit")


def _team(compiled: Compiled, config: SolveConfig) -> Choice | str:
    """Consider the methods for players who are all paid the same."""
    if compiled.only_form or not compiled.fits() or not compiled.common_payoff:
        return ""
    why = f"the {len(compiled.players)} players are always paid the same"
    if compiled.forgets:
        return _forgetful(compiled, config, f"{why}, and one of them forgets")
    if compiled.histories <= sizes.TEAM_PROOF and _takes("team-exact", config):
        try:
            return _proof(compiled, config, why)
        except (BudgetError, UnsupportedGameError) as error:
            why += f"; no proof: {error}"
    name = next((name for name in ("annealing", "progressive-hiding") if _takes(name, config)), None)
    return _chosen(name, config, why) if name else f"{why}; annealing and progressive-hiding do not take all options"


def _forgetful(compiled: Compiled, config: SolveConfig, why: str) -> Choice:
    """Choose for a game of imperfect recall.

    The proven optimum where all players share a payoff and the proof is feasible; else a local search.
    """
    if not (len(compiled.players) == 1 or compiled.common_payoff):
        return _chosen("progressive-hiding", config, f"{why}; the result may not be an equilibrium")
    if _takes("team-exact", config):
        try:
            return _proof(compiled, config, why)
        except (BudgetError, UnsupportedGameError) as error:
            why += f"; no proof: {error}"
    return _chosen("progressive-hiding", config, f"{why}; the result may be a local optimum")


def _proof(compiled: Compiled, config: SolveConfig, why: str) -> Choice:
    """Choose the method that proves the optimum; raises where the proof does not fit."""
    check_provable(compiled.tree, "auto", PROVING if config.seconds is None else config.seconds)
    return _chosen("team-exact", config, f"{why}, and few enough to prove the optimum")


def _open(compiled: Compiled, config: SolveConfig) -> Choice | str:
    """Consider backward induction, for games of perfect information."""
    if compiled.only_form or not compiled.fits() or not _takes("backward-induction", config):
        return ""
    if not perfect_information(compiled.tree):
        return ""
    return _chosen("backward-induction", config, "perfect information: exact in every subgame")


def _described(compiled: Compiled, config: SolveConfig) -> Choice | str:
    """Consider backward induction for a game that describes its stages, unless the game is small."""
    if not compiled.describes_stages or compiled.made_whole or not _takes("backward-induction", config):
        return ""
    form = compiled.stages
    if form.num_cells <= sizes.STAGES_AS_TREE:
        return ""
    return _by_stages(form, config)


def _stages(compiled: Compiled, config: SolveConfig) -> Choice | str:
    """Consider backward induction for other games in which both players observe everything, unless an lp is quick."""
    if compiled.only_form or len(compiled.players) != 2 or not _takes("backward-induction", config):
        return ""
    if compiled.histories <= sizes.LINEAR_PROGRAM:
        return ""
    try:
        return _by_stages(compiled.stages, config)
    except UnsupportedGameError:
        return ""


def _by_stages(form: StageForm, config: SolveConfig) -> Choice:
    why = f"both players observe everything, in {form.num_stages:,} stages: exact in every subgame"
    return _chosen("backward-induction", config, why)


def _tree(compiled: Compiled, config: SolveConfig) -> Choice | str:
    """Consider the methods on the sequence form of the whole tree, where all histories fit."""
    if not compiled.fits():
        return f"{compiled.histories:,.3g} histories are more than {compiled.limit:,}"
    if compiled.forgets:
        return _forgetful(compiled, config, "a player has imperfect recall")
    form = compiled.form
    size = f"all {form.num_histories:,} histories fit"
    in_time = config.seconds is None or config.seconds >= SOON or form.num_histories <= sizes.EXACT_AT_ONCE
    if form.zero_sum and form.num_histories <= sizes.LINEAR_PROGRAM and in_time and _takes("lp", config):
        return _chosen("lp", config, f"two players, a constant sum, and {size}: exact")
    pivoting = not form.zero_sum and form.num_players == 2 and form.num_sequences <= sizes.PIVOTING
    if pivoting and in_time and _takes("lcp", config):
        return _chosen("lcp", config, f"two players whose payoffs have no constant sum, and {size}: exact")
    if form.num_players > 2 and form.num_sequences <= sizes.LOGIT_PATH and _takes("logit", config):
        why = (
            f"{form.num_players} players, for whom average play has no guarantee, and {size}: a path to an equilibrium"
        )
        return _chosen("logit", config, why)
    if not _takes(PORTFOLIO[0], config):
        able = ", ".join(name for name in METHODS.homes if name != "auto" and _takes(name, config))
        raise ParameterError(
            f"no method that auto takes for {compiled.name} has {_given(config)}; those that do: {able}"
        )
    return _portfolio(compiled, config, size)


def _portfolio(compiled: Compiled, config: SolveConfig, size: str) -> Choice:
    """Choose the method of the portfolio that comes closest to an equilibrium in the same number of iterations."""
    solvers = {name: parse_method(name).job(compiled, config) for name in PORTFOLIO}
    began, done = time.monotonic(), 0
    while done < TRIAL and (not done or time.monotonic() - began < TRIAL_SECONDS):
        for solver in solvers.values():
            solver.step(1)
        done += 1
    scores = {name: found.exploitability for name, job in solvers.items() if (found := job.evaluation())}
    best = min(scores, key=scores.__getitem__)
    compared = ", ".join(f"{name} at {score:.2g}" for name, score in scores.items())
    return _chosen(best, config, f"{size}; after {done} iterations {compared}")


def _public(compiled: Compiled, config: SolveConfig) -> Choice | str:
    """Consider the solution by public subgames, where positions of common knowledge cut the game into pieces."""
    if not _takes("public", config):
        return f"public takes no {_given(config)}"
    if len(compiled.players) > 2 or not compiled.constant_sum or compiled.graph.map_name:
        return ""
    count = len(public_positions(compiled.graph))
    if count < 2:
        return "only the start is common knowledge"

    if (largest := largest_piece(compiled.graph)) > min(compiled.limit, sizes.PUBLIC_SUBGAME):
        raise BudgetError(f"a public subgame has {largest:,.3g} histories")
    why = f"{compiled.histories:,.3g} histories do not fit, but {count:,} positions are common knowledge: exact"
    return _chosen("public", config, why)


def _sampling(compiled: Compiled, config: SolveConfig) -> Choice | str:
    """Consider sampling, for a game whose positions fit but whose histories do not."""
    if not _takes("mccfr", config):
        return f"mccfr takes no {_given(config)}"
    why = f"{compiled.histories:,.3g} histories do not fit, their {len(compiled.graph.player):,} positions do"
    if config.form == "sampled":
        why = "form=sampled was asked for"
    return _chosen("mccfr", config, why)


def _chosen(name: str, config: SolveConfig, why: str) -> Choice:
    if not _takes(name, config):
        raise UnsupportedGameError(f"{why}: {name} would be the method, but does not take all of {_given(config)}")
    return Choice(parse_method(name), why)
