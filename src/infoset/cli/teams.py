"""``infoset solve`` where players share their payoffs: exact optima, and many trainings of progressive hiding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from infoset.catalog import load
from infoset.cli.progress import TrainingProgress
from infoset.errors import (
    BudgetError,
    CheckpointError,
    ParameterError,
    UnknownNameError,
    UnsupportedGameError,
    shorten,
)
from infoset.files import check_folder, replace_file
from infoset.names import Name, build, check_choice, check_range, parse_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from infoset.policies.tabular import TabularPolicy
    from infoset.solvers.teams.hidden_game import HiddenGame
    from infoset.solvers.teams.information_relaxation import Relaxation
    from infoset.solvers.teams.progressive_hiding import Hiding, Learner, Penalty

    Trainer = Callable[[HiddenGame, int], tuple[Hiding | Relaxation, dict[str, Any]]]

PROGRESSIVE_HIDING = "progressive-hiding"
INFORMATION_RELAXATION = "information-relaxation"
ANNEALING = "annealing"
TEAM_EXACT = "team-exact"
METHODS = (PROGRESSIVE_HIDING, INFORMATION_RELAXATION, ANNEALING, TEAM_EXACT)
OPTIMAL = 0.01  # runs that end so near to the optimum count as optimal
SECONDS_FOR_OPTIMUM = 10.0


def is_team_method(method: str | None) -> bool:
    """Whether a method is one of those here."""
    return method is not None and parse_name(method).word in METHODS


def solve_exactly(game: str, method: str, max_histories: int | None, out: Path | None) -> dict[str, Any]:
    """The optimum of a common-payoff game, and what proves it.  ``team-exact(by=milp)`` chooses the method."""
    folder = _fresh(out)
    from infoset.solvers.teams.optimum import METHODS as PROOFS
    from infoset.solvers.teams.optimum import team_optimum

    given = dict(parse_name(method).parameters)
    by = str(given.pop("by", "auto"))
    if given:
        raise UnknownNameError(f"parameter of {TEAM_EXACT}:", next(iter(given)), ["by"])
    check_choice("by", by, PROOFS)
    found = team_optimum(load(game), by, max_histories=max_histories)
    body = {
        "game": found.game,
        "method": f"{TEAM_EXACT}(by={found.method})",
        "value": found.value,
        "bound": found.bound,
    }
    return _keep(folder, found.policy, body | {"proof": found.proof, "seconds": found.seconds})


def exact_text(body: dict[str, Any]) -> str:
    """The figures as lines."""
    lines = [
        f"{body['game']} by {body['method']}, {body['seconds']:.3g} s",
        f"optimum          {body['value']:.12g}, at most {body['bound']:.12g}",
        f"proof            {body['proof']}",
        f"policy           {body['policy']}" if "policy" in body else "",
    ]
    return "\n".join(line for line in lines if line)


def solve_by_annealing(game: str, method: str, runs: int, seed: int, out: Path | None) -> dict[str, Any]:
    """The best of some annealings.  ``annealing(sweeps=2000)``: how long each is."""
    folder = _fresh(out)
    from infoset.solvers.teams.annealing import MOST_RUNS, MOST_SWEEPS, anneal
    from infoset.tree.sequence_form import SequenceForm

    def checked(sweeps: int = 2000) -> int:
        check_range("sweeps", sweeps, 1, MOST_SWEEPS)
        return sweeps

    check_range("runs", runs, 1, MOST_RUNS)
    sweeps = build("method", parse_name(method), {ANNEALING: checked})
    with TrainingProgress(runs) as progress:
        form = SequenceForm.of(load(game))
        found = anneal(form, sweeps=sweeps, runs=runs, seed=seed, progress=progress.advance)
    body = {"game": found.form.name, "method": method, "seed": seed, "value": found.value, "runs": len(found.values)}
    body |= {"reached_by": int((found.values >= found.value - OPTIMAL).sum()), "seconds": found.seconds}
    return _keep(folder, found.policy(), body)


def annealing_text(body: dict[str, Any]) -> str:
    """The figures as lines."""
    lines = [
        f"{body['game']} by {body['method']}, {body['runs']:,} runs, {body['seconds']:.3g} s",
        f"best             {body['value']:.12g}, within {OPTIMAL:g} in {body['reached_by']:,} runs; nothing proves it",
        f"policy           {body['policy']}" if "policy" in body else "",
    ]
    return "\n".join(line for line in lines if line)


def solve_team(
    game: str, method: str, relax: str, penalty: str, runs: int, iterations: int | None, seed: int, out: Path | None
) -> dict[str, Any]:
    """Train, save the best policy in ``out``, and say how the runs went.

    ``progressive-hiding(learner=rm,spread=20)``: the learner, and its parameters.  Several penalties, as ``0.5,1,2``:
    each is tried on 20 runs, and the one that ends best on average is taken, with another seed.
    """
    folder = _fresh(out)
    from infoset.solvers.teams.hidden_game import MOST_TRAININGS, HiddenGame
    from infoset.tree.game_tree import GameTree
    from infoset.tree.information import RELAXATIONS

    for name, value in (("iterations", iterations), ("runs", runs)):
        if value is not None:
            check_range(name, value, 1, MOST_TRAININGS)
    trainer = _trainer(method, penalty, iterations, runs)
    if relax not in RELAXATIONS:
        raise UnknownNameError("relaxation", relax, RELAXATIONS)
    hidden = HiddenGame.of(GameTree.of(load(game)), RELAXATIONS[relax])
    found, body = trainer(hidden, seed)
    body = {"game": hidden.tree.name, "method": method, "relax": relax, "penalty": penalty, "seed": seed} | body
    return _keep(folder, found.policy(), body | _figures(found, _optimum(hidden)))


def _trainer(method: str, penalty: str, iterations: int | None, runs: int) -> Trainer:
    """What trains on a game from a seed, and what there is to say beside its figures.  Checks all that is given."""
    word, parameters = parse_name(method)
    given = dict(parameters)
    if word == INFORMATION_RELAXATION:
        from infoset.solvers.teams.information_relaxation import check_penalty

        build("method", Name(word, parameters), {word: lambda: None})  # it has no parameters
        price = _number(penalty, penalty)
        check_penalty(price)
        return lambda game, seed: (_relax(game, price, iterations or 100, runs, seed), {})
    from infoset.solvers.teams.progressive_hiding import LEARNERS, Prices, constant

    learner = build("learner", Name(str(given.pop("learner", "ftrl")), tuple(given.items())), LEARNERS)
    prices = _penalties(penalty)
    for each in [constant(one) for one in prices] if isinstance(prices, list) else [prices]:
        Prices.of(each, iterations or 200)

    def train(game: HiddenGame, seed: int) -> tuple[Hiding, dict[str, Any]]:
        body: dict[str, Any] = {}
        chosen = prices[0] if isinstance(prices, list) else prices
        if isinstance(prices, list) and len(prices) > 1:
            chosen, body = _search(game, prices, learner, iterations or 200, seed)
            seed += 1
        return _hide(game, chosen, learner, iterations or 200, runs, seed), body

    return train


def _hide(
    game: HiddenGame, penalty: Penalty | float, learner: Learner, iterations: int, runs: int, seed: int
) -> Hiding:
    from infoset.solvers.teams.progressive_hiding import progressive_hiding

    with TrainingProgress(runs) as progress:
        return progressive_hiding(
            game, penalty, learner, iterations=iterations, runs=runs, seed=seed, progress=progress.advance
        )


def _search(
    game: HiddenGame, penalties: list[float], learner: Learner, iterations: int, seed: int
) -> tuple[float, dict[str, Any]]:
    from infoset.solvers.teams.progressive_hiding import grid_search

    with TrainingProgress(20 * len(penalties)) as progress:
        best, found = grid_search(
            game, penalties, learner, iterations=iterations, runs=20, seed=seed, progress=progress.advance
        )
    return best, {"penalties": {f"{price:g}": float(each.last.mean()) for price, each in found.items()}, "chosen": best}


def _relax(game: HiddenGame, penalty: float, iterations: int, runs: int, seed: int) -> Relaxation:
    from infoset.solvers.teams.information_relaxation import information_relaxation

    with TrainingProgress(runs) as progress:
        return information_relaxation(
            game, penalty, iterations=iterations, runs=runs, seed=seed, progress=progress.advance
        )


def _optimum(game: HiddenGame) -> float | None:
    """The exact optimum, where it is known soon."""
    from infoset.solvers.teams.optimum import team_optimum

    try:
        return team_optimum(game.tree, "subsets", seconds=SECONDS_FOR_OPTIMUM).value
    except (BudgetError, UnsupportedGameError):
        return None


def _keep(folder: Path | None, policy: TabularPolicy, body: dict[str, Any]) -> dict[str, Any]:
    """Save the policy and the figures, where a folder is given."""
    if folder is not None:
        body["policy"] = str(policy.save(folder / "policy.npz"))
        text = json.dumps(body, indent=1)
        replace_file(folder / "result.json", lambda file: file.write(text.encode()))
    return body


def team_text(body: dict[str, Any]) -> str:
    """The figures as lines."""
    tried = ", ".join(f"{price}: {mean:.5g}" for price, mean in body.get("penalties", {}).items())
    optimum = body["optimum"]
    share = "" if optimum is None else f"{100 * body['share_optimal']:.3g} % of the runs within {OPTIMAL:g}"
    lines = [
        f"{body['game']} by {body['method']}, relaxed to {body['relax']}, penalty {body['penalty']}",
        f"penalties        {tried}; taken: {body['chosen']:g}" if tried else "",
        f"runs             {body['runs']:,} of {body['iterations']:,} iterations, {body['seconds']:.3g} s",
        f"mean             {body['mean']:.6g} ± {body['interval']:.2g}" if body["runs"] > 1 else "",
        f"10 % quantile    {body['quantile_10']:.6g}",
        f"best             {body['best']:.9g}",
        f"optimum          {optimum:.9g}, {share}" if optimum is not None else "optimum          not known",
        f"bound            {body['bound']:.9g} (Proposition 3)" if body.get("bound") is not None else "",
        f"policy           {body['policy']}" if "policy" in body else "",
    ]
    return "\n".join(line for line in lines if line)


def _figures(found: Hiding | Relaxation, optimum: float | None) -> dict[str, Any]:
    """Each run by its best payoff, as the paper's Figure 3, and by its last, as Figure 1."""
    best, count = found.best, len(found.best)
    interval = 1.96 * float(best.std(ddof=1)) / count**0.5 if count > 1 else 0.0
    return {
        "runs": count,
        "iterations": found.iterations,
        "mean": float(best.mean()),
        "interval": interval,
        "quantile_10": float(np.quantile(best, 0.1)),
        "best": float(best.max()),
        "optimum": optimum,
        "share_optimal": None if optimum is None else float((best >= optimum - OPTIMAL).mean()),
        "last_mean": float(found.last.mean()),
        "last_quantile_10": float(np.quantile(found.last, 0.1)),
        "bound": getattr(found, "bound", None),
        "seconds": found.seconds,
    }


def _penalties(text: str) -> Penalty | list[float]:
    """``2``; ``20:60`` for one that grows from the one to the other; ``0.5,1,2`` for a choice of several."""
    parts = text.split(":")
    if len(parts) == 2:
        from infoset.solvers.teams.progressive_hiding import linear

        return linear(*(_number(part, text) for part in parts))
    return [_number(part, text) for part in text.split(",")]


def _number(part: str, text: str) -> float:
    try:
        return float(part)
    except ValueError:
        raise ParameterError(
            f"penalty={shorten(text)!r}; allowed: a number, two as 20:60, or several as 0.5,1,2"
        ) from None


def _fresh(out: Path | None) -> Path | None:
    if out is not None and (out / "policy.npz").exists():
        raise CheckpointError(f"{out} holds a policy already; choose another --out")
    if out is not None:
        check_folder(out)
    return out
