"""``infoset solve`` where players share their payoffs: exact optima, and many trainings of progressive hiding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from infoset.catalog import load
from infoset.cli.progress import TrainingProgress, announce_compiling
from infoset.errors import CheckpointError, ParameterError, UnknownNameError, shorten
from infoset.files import replace_file
from infoset.names import Name, build, parse_name

if TYPE_CHECKING:
    from infoset.policy import TabularPolicy
    from infoset.solvers.progressive_hiding import Hiding, Penalty

PROGRESSIVE_HIDING = "progressive-hiding"
TEAM_EXACT = "team-exact"
METHODS = (PROGRESSIVE_HIDING, TEAM_EXACT)
OPTIMAL = 1e-6  # runs that end so near to the best one found the same payoff


def is_team_method(method: str | None) -> bool:
    """Whether a method is one of those here."""
    return method is not None and parse_name(method).word in METHODS


def solve_exactly(game: str, method: str, max_histories: int | None, out: Path | None) -> dict[str, Any]:
    """The optimum of a common-payoff game, and what proves it.  ``team-exact(by=milp)`` chooses the method."""
    folder = _fresh(out)
    announce_compiling()
    from infoset.solvers.team import team_optimum

    given = dict(parse_name(method).parameters)
    by = str(given.pop("by", "auto"))
    if given:
        raise UnknownNameError(f"parameter of {TEAM_EXACT}:", next(iter(given)), ["by"])
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


def solve_team(
    game: str, method: str, relax: str, penalty: str, runs: int, iterations: int | None, seed: int, out: Path | None
) -> dict[str, Any]:
    """Train, save the best policy in ``out``, and say how the runs went.

    ``progressive-hiding(learner=rm,spread=20)``: the learner, and its parameters.
    """
    prices = _penalty(penalty)
    folder = _fresh(out)
    announce_compiling()
    from infoset.solvers.progressive_hiding import LEARNERS, HiddenGame, progressive_hiding
    from infoset.tree.game_tree import GameTree
    from infoset.tree.information import RELAXATIONS

    if relax not in RELAXATIONS:
        raise UnknownNameError("relaxation", relax, RELAXATIONS)
    given = dict(parse_name(method).parameters)
    learner = build("learner", Name(str(given.pop("learner", "ftrl")), tuple(given.items())), LEARNERS)
    hidden = HiddenGame.of(GameTree.of(load(game)), RELAXATIONS[relax])
    with TrainingProgress(runs) as progress:
        found = progressive_hiding(
            hidden, prices, learner, iterations=iterations or 200, runs=runs, seed=seed, progress=progress.advance
        )
    body = {"game": hidden.tree.name, "method": method, "relax": relax, "penalty": penalty, "seed": seed}
    body |= {"iterations": found.payoffs.shape[1], **_figures(found)}
    return _keep(folder, found.policy(), body)


def _keep(folder: Path | None, policy: TabularPolicy, body: dict[str, Any]) -> dict[str, Any]:
    """Save the policy and the figures, where a folder is given."""
    if folder is not None:
        body["policy"] = str(policy.save(folder / "policy.npz"))
        text = json.dumps(body, indent=1)
        replace_file(folder / "result.json", lambda file: file.write(text.encode()))
    return body


def team_text(body: dict[str, Any]) -> str:
    """The figures as lines."""
    lines = [
        f"{body['game']} by {body['method']}, relaxed to {body['relax']}, penalty {body['penalty']}",
        f"runs             {body['runs']:,} of {body['iterations']:,} iterations, {body['seconds']:.3g} s",
        f"mean             {body['mean']:.6g} ± {body['interval']:.2g}" if body["runs"] > 1 else "",
        f"10 % quantile    {body['quantile_10']:.6g}",
        f"best             {body['best']:.9g}, reached by {100 * body['share_of_best']:.3g} % of the runs",
        f"policy           {body['policy']}" if "policy" in body else "",
    ]
    return "\n".join(line for line in lines if line)


def _figures(found: Hiding) -> dict[str, Any]:
    """Each run by its best payoff, as the paper's Figure 3, and by its last, as Figure 1."""
    best, count = found.best, len(found.best)
    interval = 1.96 * float(best.std(ddof=1)) / count**0.5 if count > 1 else 0.0
    return {
        "runs": count,
        "mean": float(best.mean()),
        "interval": interval,
        "quantile_10": float(np.quantile(best, 0.1)),
        "best": float(best.max()),
        "share_of_best": float((best >= best.max() - OPTIMAL).mean()),
        "last_mean": float(found.last.mean()),
        "last_quantile_10": float(np.quantile(found.last, 0.1)),
        "seconds": found.seconds,
    }


def _penalty(text: str) -> Penalty | float:
    """``2``, or ``20:60`` for one that grows from the one to the other."""
    parts = text.split(":")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise ParameterError(f"penalty={shorten(text)!r}; allowed: a number, or two as 20:60")
    if len(numbers) == 1:
        return numbers[0]
    from infoset.solvers.progressive_hiding import linear

    return linear(*numbers)


def _fresh(out: Path | None) -> Path | None:
    if out is not None and (out / "policy.npz").exists():
        raise CheckpointError(f"{out} holds a policy already; choose another --out")
    return out
