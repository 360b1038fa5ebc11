"""Deep progressive hiding beside PPO in self-play, which reads what the mover sees: mean payoffs of teams over seeds.

Both have the same networks, decisions and entropies.  The optimum is that of ``team-exact``.

    python benchmarks/deep_hiding.py
    python benchmarks/deep_hiding.py --seeds 3 --games "trade_comm(items=2,messages=2)"
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from infoset import load
from infoset.compiled import Compiled
from infoset.evaluation import evaluate
from infoset.learn.baseline import Baseline
from infoset.learn.deep_hiding import DeepHiding, HidingTraining
from infoset.learn.policy_gradient import PolicyGradient, PolicyGradientTraining
from infoset.learn.rollouts import Simulator
from infoset.solvers.teams.optimum import team_optimum
from infoset.statistics import Mean

GAMES = (
    "trade_comm(items=2,messages=2)", "trade_comm(items=3,messages=2)", "cooperative_matching_pennies",
    *[f"tiny_hanabi(game={name})" for name in "ABCDEF"],
    "hanabi(colors=1,ranks=2,hand=2,info=1,lives=1)", "hanabi(colors=1,ranks=3,hand=1,info=2,lives=1)",
    "hanabi(colors=2,ranks=1,hand=2,info=1,lives=1)",
)  # fmt: skip
SAME = {"games": 256, "hidden": 64, "batch": 512, "steps": 100_000, "passes": 3, "rate": 2e-3}
ENTROPY = {"entropy": 0.2, "last_entropy": 0.0}


def learn(job: Baseline) -> tuple[float, float]:
    """Train to the end; return the team's exact payoff and the seconds."""
    began, job.exact = time.perf_counter(), False  # so that nothing is measured on the way
    while not job.over:
        job.step()
    seconds = time.perf_counter() - began
    return float(evaluate(job.simulator.compiled, job.policy).values[0]), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="of each row (default: %(default)s)")
    parser.add_argument("--games", nargs="+", default=GAMES, help="of teams (default: those of the table)")
    given = parser.parse_args()
    print("| game | optimum | hiding (95 %) | at the optimum | seconds | ppo (95 %) | at the optimum | seconds |")
    print("| --- | ---: | --- | ---: | ---: | --- | ---: | ---: |")
    for name in given.games:
        compiled, optimum = Compiled.of(name), team_optimum(load(name)).value
        cells = []
        for made, training in ((DeepHiding, HidingTraining), (PolicyGradient, PolicyGradientTraining)):
            jobs = (made(Simulator(compiled), training(**SAME, **ENTROPY, seed=seed)) for seed in range(given.seeds))
            found = np.array([learn(job) for job in jobs])
            payoffs = found[:, 0]
            mean = Mean.of(len(payoffs), payoffs.sum(), (payoffs**2).sum())
            reached = int((payoffs > optimum - 0.02 * max(abs(optimum), 1.0)).sum())
            cells += [f"{mean.value:.3f} ± {mean.margin:.3f}", f"{reached} of {len(payoffs)}", f"{found[:, 1].mean():.1f}"]
        print(f"| `{name}` | {optimum:.4f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
