"""The method ``auto``, which inspects the game, chooses the method that suits it best and says why."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from infoset import sizes
from infoset.compiled import Compiled
from infoset.errors import BudgetError, ImperfectRecallError, ParameterError, UnsupportedGameError
from infoset.solvers.job import Job, Limits
from infoset.solvers.method import METHODS, OPTIONS, AnyMethod, Checked, Options, parse_method
from infoset.solvers.tabular.backward_induction import perfect_information
from infoset.solvers.tabular.cfr import for_products
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

    def job(self, compiled: Compiled, options: Options) -> Job:
        """Return the work of the chosen method on a game."""
        return choose(compiled, options).method.job(compiled, options)


def choose(compiled: Compiled, options: Options) -> Choice:
    """Choose the best method that takes all the options given.

    Raises ``UnsupportedGameError`` where none does, ``BudgetError`` for a game whose positions are too many.

    >>> from infoset.compiled import Compiled
    >>> from infoset.solvers.choose import choose
    >>> from infoset.solvers.method import Options
    >>> choose(Compiled.of("kuhn_poker"), Options()).method.name
    'lp'
    >>> choose(Compiled.of("gdl:meier"), Options()).method.name
    'public'
    """
    reasons = []
    for candidate in _candidates(options.form):
        try:
            found = candidate(compiled, options)
        except (BudgetError, ImperfectRecallError) as error:
            reasons.append(str(error))
            continue
        if isinstance(found, Choice):
            return found
        reasons += [found] if found else []
    raise UnsupportedGameError(f"no method for {compiled.name} that takes {_given(options)}: {'; '.join(reasons)}")


def _candidates(form: str | None) -> tuple[Callable[[Compiled, Options], Choice | str], ...]:
    """Return the candidates in the order in which they are tried, only those that work on ``form`` where one is given.

    The cores of a game come before its tree; public states, which have to be found first, only where the tree does not
    fit.
    """
    by_form = {"tree": (_team, _open, _tree), "factored": (_factored,), "sampled": (_sampling,)}
    return by_form[form] if form else (_two_teams, _cores, _team, _open, _tree, _public, _factored, _sampling)


def _cores(compiled: Compiled, options: Options) -> Choice | str:
    """Consider the factored form for a game that declares cores of its states, or whose rules show them."""
    return _factored(compiled, options) if compiled.factors else ""


def _factored(compiled: Compiled, options: Options) -> Choice | str:
    """Consider the factored form, in which histories that are products are not listed."""
    if options.form is None and not compiled.better_factored:
        return ""
    histories = compiled.factored_rules.sizes.histories
    name = for_products(compiled.factored_rules.dealt).name
    if not _takes(name, options) or options.lock:
        return f"the factored form takes no {_given(options)}"
    why = f"{histories:,.4g} histories factor into private states: factored form"
    return _chosen(name, options, why)


def _given(options: Options) -> str:
    return ", ".join(options.given) or "no options"


def _takes(name: str, options: Options) -> bool:
    return options.given.keys() <= parse_method(name).takes


def _two_teams(compiled: Compiled, options: Options) -> Choice | str:
    """Consider the methods for teams that play against each other or against single players."""
    from infoset.solvers.teams.team_maxmin import TeamMaxmin, teams_of

    teams = teams_of(compiled, options.teams)
    if options.teams is not None and teams is not None and len(teams) == 1:
        players = compiled.players
        raise ParameterError(
            f"teams={options.teams}: everybody is in one team, against nobody; name two, such as {players[0]},"
            f"{'+'.join(players[1:])}, or none where all are paid the same"
        )
    if teams is None or len(teams) == 1:
        return ""
    why = " and ".join("+".join(compiled.players[seat] for seat in team) for team in teams) + " play against each other"
    try:
        TeamMaxmin().job(compiled, options)
    except (BudgetError, UnsupportedGameError) as error:
        return _chosen("progressive-hiding", options, f"{why}; no proof: {error}")
    return _chosen("team-maxmin", options, f"{why}, and small enough for a proof of optimality")


def _team(compiled: Compiled, options: Options) -> Choice | str:
    """Consider the methods for players who are all paid the same."""
    if compiled.only_form or not compiled.fits() or not compiled.common_payoff:
        return ""
    why = f"the {len(compiled.players)} players are always paid the same"
    if compiled.forgets:
        return _forgetful(compiled, options, f"{why}, and one of them forgets")
    if compiled.histories <= sizes.TEAM_PROOF and _takes("team-exact", options):
        try:
            return _proof(compiled, options, why)
        except (BudgetError, UnsupportedGameError) as error:
            why += f"; no proof: {error}"
    name = next((name for name in ("annealing", "progressive-hiding") if _takes(name, options)), None)
    return _chosen(name, options, why) if name else f"{why}; annealing and progressive-hiding do not take all options"


def _forgetful(compiled: Compiled, options: Options, why: str) -> Choice:
    """Choose for a game of imperfect recall.

    The proven optimum where all players share a payoff and the proof is feasible; else a local search.
    """
    if not (len(compiled.players) == 1 or compiled.common_payoff):
        return _chosen("progressive-hiding", options, f"{why}; the result may not be an equilibrium")
    if _takes("team-exact", options):
        try:
            return _proof(compiled, options, why)
        except (BudgetError, UnsupportedGameError) as error:
            why += f"; no proof: {error}"
    return _chosen("progressive-hiding", options, f"{why}; the result may be a local optimum")


def _proof(compiled: Compiled, options: Options, why: str) -> Choice:
    """Choose the method that proves the optimum; raises where the proof does not fit."""
    from infoset.solvers.teams.optimum import PROVING, check_provable

    check_provable(compiled.tree, "auto", PROVING if options.seconds is None else options.seconds)
    return _chosen("team-exact", options, f"{why}, and few enough to prove the optimum")


def _open(compiled: Compiled, options: Options) -> Choice | str:
    """Consider backward induction, for games of perfect information."""
    if compiled.only_form or not compiled.fits() or not _takes("backward-induction", options):
        return ""
    if not perfect_information(compiled.tree):
        return ""
    return _chosen("backward-induction", options, "perfect information: exact in every subgame")


def _tree(compiled: Compiled, options: Options) -> Choice | str:
    """Consider the methods on the sequence form of the whole tree, where all histories fit."""
    if not compiled.fits():
        return f"{compiled.histories:,.3g} histories are more than {compiled.limit:,}"
    if compiled.forgets:
        return _forgetful(compiled, options, "a player has imperfect recall")
    form = compiled.form
    size = f"all {form.num_histories:,} histories fit"
    in_time = options.seconds is None or options.seconds >= SOON or form.num_histories <= sizes.EXACT_AT_ONCE
    if form.zero_sum and form.num_histories <= sizes.LINEAR_PROGRAM and in_time and _takes("lp", options):
        return _chosen("lp", options, f"two players, a constant sum, and {size}: exact")
    pivoting = not form.zero_sum and form.num_players == 2 and form.num_sequences <= sizes.PIVOTING
    if pivoting and in_time and _takes("lcp", options):
        return _chosen("lcp", options, f"two players whose payoffs have no constant sum, and {size}: exact")
    if form.num_players > 2 and form.num_sequences <= sizes.LOGIT_PATH and _takes("logit", options):
        why = (
            f"{form.num_players} players, for whom average play has no guarantee, and {size}: a path to an equilibrium"
        )
        return _chosen("logit", options, why)
    if not _takes(PORTFOLIO[0], options):
        able = ", ".join(name for name in METHODS.homes if name != "auto" and _takes(name, options))
        raise ParameterError(
            f"no method that auto takes for {compiled.name} has {_given(options)}; those that do: {able}"
        )
    return _portfolio(compiled, options, size)


def _portfolio(compiled: Compiled, options: Options, size: str) -> Choice:
    """Choose the method of the portfolio that comes closest to an equilibrium in the same number of iterations."""
    solvers = {name: parse_method(name).job(compiled, options) for name in PORTFOLIO}
    began, done = time.monotonic(), 0
    while done < TRIAL and (not done or time.monotonic() - began < TRIAL_SECONDS):
        for solver in solvers.values():
            solver.step(1)
        done += 1
    scores = {name: found.exploitability for name, job in solvers.items() if (found := job.evaluation())}
    best = min(scores, key=scores.__getitem__)
    compared = ", ".join(f"{name} at {score:.2g}" for name, score in scores.items())
    return _chosen(best, options, f"{size}; after {done} iterations {compared}")


def _public(compiled: Compiled, options: Options) -> Choice | str:
    """Consider the solution by public subgames, where positions of common knowledge cut the game into pieces."""
    if not _takes("public", options):
        return f"public takes no {_given(options)}"
    if len(compiled.players) > 2 or not compiled.constant_sum or compiled.graph.map_name:
        return ""
    count = len(public_positions(compiled.graph))
    if count < 2:
        return "no position is common knowledge but the start"
    from infoset.solvers.tabular.public_subgames import largest_piece

    if (largest := largest_piece(compiled.graph)) > min(compiled.limit, sizes.PUBLIC_SUBGAME):
        raise BudgetError(f"a public subgame has {largest:,.3g} histories")
    why = f"{compiled.histories:,.3g} histories do not fit, but {count:,} positions are common knowledge: exact"
    return _chosen("public", options, why)


def _sampling(compiled: Compiled, options: Options) -> Choice | str:
    """Consider sampling, for a game whose positions fit but whose histories do not."""
    if not _takes("mccfr", options):
        return f"mccfr takes no {_given(options)}"
    why = f"{compiled.histories:,.3g} histories do not fit, their {len(compiled.graph.player):,} positions do"
    if options.form == "sampled":
        why = "form=sampled was asked for"
    return _chosen("mccfr", options, why)


def _chosen(name: str, options: Options, why: str) -> Choice:
    if not _takes(name, options):
        raise UnsupportedGameError(f"{why}: {name} would be the method, but does not take all of {_given(options)}")
    return Choice(parse_method(name), why)
