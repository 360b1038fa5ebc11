"""Warm rates of what has kernels, in this checkout against another one: python benchmarks/running_speed.py --against ../before

The two take turns, in processes of their own; of each figure the best is kept, as the other work of a machine only ever
makes a run slower.  A ratio above 1 means that this checkout is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).resolve().parent.parent
TEAM = "PommeTeamCompetition-v0"
AGENTS = {
    "simple": (16, 800),
    "dypm": (8, 300),
    "hakozaki": (2, 200),
    "champion": (2, 200),
    "eisenach": (1, 80),
}  # games, steps


def rate(work: Callable[[], int], rounds: int = 4) -> float:
    """Units of work a second, the best of some rounds after one that is not counted."""
    work()
    found = []
    for _ in range(rounds):
        began = perf_counter()
        found.append(work() / (perf_counter() - began))
    return max(found)


def rates() -> Iterator[tuple[str, float]]:
    import numpy as np

    from infoset import SequenceForm, load, solve
    from infoset.gdl.playouts import random_playouts
    from infoset.match.match import play_match
    from infoset.solvers.sampling.mccfr import Mccfr
    from infoset.solvers.sampling.outcome_sampling import OutcomeMccfr
    from infoset.tree.graph import explore
    from infoset.tree.quotient_graph import QuotientGraph
    from infoset_pommerman.config import config
    from infoset_pommerman.game import Pommerman
    from infoset_pommerman.vec import PommermanVec

    form = SequenceForm.of(load("leduc_poker"))
    for method in ("cfr", "pcfr+", "sfrd"):

        def iterate(method: str = method) -> int:
            return solve(form, method, iterations=3000).iterations

        yield f"{method}, Leduc", rate(iterate)
    walk = QuotientGraph.of(explore(load("leduc_poker")))
    samplers = {"external": Mccfr(walk, 1), "outcome": OutcomeMccfr(walk, 1)}
    for name, sampler in samplers.items():

        def sample(sampler: Mccfr = sampler, count: int = 400_000 if name == "outcome" else 50_000) -> int:
            sampler.step(count)
            return count

        yield f"{name} sampling, Leduc", rate(sample)
    for name in ("meier", "blind_tic_tac_toe"):
        game = load(f"gdl:{name}")
        yield f"playouts, {name}", rate(lambda game=game: random_playouts(game, 200_000, 1) and 200_000)
        yield f"positions, {name}", rate(lambda name=name: len(explore(load(f"gdl:{name}")).player))
    boards = PommermanVec(256, config(TEAM), seed=1)
    boards.reset()
    actions = np.random.default_rng(1).integers(0, 6, size=(64, 256, 4)).astype(np.int16)

    def step() -> int:
        for joint in actions:
            boards.step(joint)
        return actions.shape[0] * actions.shape[1]

    yield "Pommerman, steps", rate(step, 20)
    for agent, (games, steps) in AGENTS.items():
        team = Pommerman(TEAM, replace(config(TEAM), max_steps=steps))

        def play(agent: str = agent, games: int = games, team: Pommerman = team) -> int:
            return sum(len(play_match(team, [agent] * 4, seed=seed).steps) for seed in range(games))

        yield f"Pommerman, steps of {agent}", rate(play, 3)


def measured(checkout: Path, cache: Path) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "XDG_CACHE_HOME": str(cache)}
    own = checkout / "benchmarks" / Path(__file__).name  # modules may have other names there
    output = subprocess.run([sys.executable, own, "--json"], check=True, stdout=subprocess.PIPE, env=environment)
    found: dict[str, float] = json.loads(output.stdout)
    return found


def compare(other: Path, rounds: int, cache: Path) -> None:
    best: dict[Path, dict[str, float]] = {HERE: {}, other: {}}
    for number in range(rounds):
        for checkout in (HERE, other) if number % 2 else (other, HERE):
            for name, figure in measured(checkout, cache).items():
                best[checkout][name] = max(figure, best[checkout].get(name, 0.0))
    print("| a second | before | after | ratio |\n|---|---:|---:|---:|")
    for name, before in best[other].items():
        print(f"| {name} | {before:,.0f} | {best[HERE][name]:,.0f} | {best[HERE][name] / before:.3f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.against is None:
        found = dict(rates())
        print(
            json.dumps(found)
            if given.json
            else "\n".join(f"{name:40} {figure:14,.0f}" for name, figure in found.items())
        )
    else:
        compare(given.against.resolve(), given.rounds, given.cache)
