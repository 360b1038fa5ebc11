"""Decisions a second of PPO in self-play, environment and learning together: ours, and OpenSpiel's on the same machine.

    python benchmarks/learning.py [--game phantom_tic_tac_toe] [--seconds 20]

Ours plays thousands of games at once by kernels; its parts are the kernels alone (uniform play), play by the network,
and the updates.  OpenSpiel's agent (``open_spiel.python.pytorch.ppo``, written for one player) gets the view of whoever
moves, as in self-play, in eight environments as by its own example, with its small network of two layers of 64.
Seconds of the process are given beside those of the clock, since other programs may be running.
"""

from __future__ import annotations

import argparse
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyspiel
import torch
from open_spiel.python import rl_environment
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.vector_env import SyncVectorEnv

from infoset.compiled import Compiled
from infoset.learn.baseline import probabilities
from infoset.learn.learner import one_thread, short_numbers
from infoset.learn.policy_gradient import PolicyGradient, PolicyGradientTraining
from infoset.learn.rollouts import Batch, Inputs, Simulator, play_out

ENVIRONMENTS, STEPS = 8, 128


class SelfPlay:
    """An environment of OpenSpiel as the player to move sees it."""

    def __init__(self, game: str) -> None:
        self.env = rl_environment.Environment(game)

    def reset(self) -> Any:
        return self._seen(self.env.reset())

    def step(self, actions: list[int]) -> Any:
        return self._seen(self.env.step(actions[:1]))

    def get_time_step(self) -> Any:
        return self._seen(self.env.get_time_step())

    def _seen(self, step: Any) -> Any:
        mover = max(step.observations["current_player"], 0)
        seen = {name: [step.observations[name][mover]] for name in ("info_state", "legal_actions")}
        rewards = [0.0] if step.rewards is None else [step.rewards[mover]]
        return step._replace(observations={**seen, "current_player": 0}, rewards=rewards)


def theirs(game: str, seconds: float) -> tuple[float, float]:
    """Return the decisions a second of OpenSpiel's PPO, by the clock and by the process."""
    envs = SyncVectorEnv([SelfPlay(game) for _ in range(ENVIRONMENTS)])
    rules = pyspiel.load_game(game)
    agent = PPO(
        (rules.information_state_tensor_size(),), rules.num_distinct_actions(), 1, num_envs=ENVIRONMENTS,
        steps_per_batch=STEPS, agent_fn=PPOAgent,
    )  # fmt: skip
    step, count = envs.reset(), 0
    began, cpu = perf_counter(), process_time()
    while perf_counter() < began + seconds:
        for _ in range(STEPS):
            step, reward, done, _ = envs.step(agent.step(step), reset_if_done=True)
            agent.post_step(reward, done)
        agent.learn(step)
        count += ENVIRONMENTS * STEPS
    return count / (perf_counter() - began), count / (process_time() - cpu)


def uniform(batch: Batch) -> Inputs:
    legal = batch.legal
    return (legal / legal.sum(axis=1, keepdims=True)).astype(np.float32)


def ours(game: str, training: PolicyGradientTraining, seconds: float) -> dict[str, tuple[float, float]]:
    """Return the decisions a second of ours, by the clock and by the process: of its parts and in all."""
    simulator = Simulator(Compiled.of(game), training.encoding)
    work = PolicyGradient(simulator, training)
    work.exact = False
    work.step()
    rng, found = np.random.default_rng(0), {}

    def net(batch: Batch) -> Inputs:
        return probabilities(work.net, batch)

    def whole() -> int:
        before = work.states
        work.step()
        return work.states - before

    parts = {
        "the kernels alone": lambda: len(play_out(simulator.deal(training.games, rng), uniform).game),
        "play by the network": lambda: len(play_out(simulator.deal(training.games, rng), net).game),
        "in all, with learning": whole,
    }
    for name, part in parts.items():
        with one_thread(), short_numbers():
            part()
            count, began, cpu = 0, perf_counter(), process_time()
            while perf_counter() < began + seconds / 2:
                count += part()
        found[name] = count / (perf_counter() - began), count / (process_time() - cpu)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="phantom_tic_tac_toe")
    parser.add_argument("--openspiel", default="phantom_ttt")
    parser.add_argument("--encoding", default="")
    parser.add_argument("--seconds", type=float, default=20.0)
    args = parser.parse_args()
    training = PolicyGradientTraining(games=4096, batch=4096, passes=1, encoding=args.encoding)
    print(f"{args.game}: layers of {training.hidden}, {training.layers} of them; decisions a second")
    print(f"{'':28}{'by the clock':>14}{'by processor time':>20}")
    rows = ours(args.game, training, args.seconds)
    torch.set_num_threads(1)
    rows["OpenSpiel's PPO"] = theirs(args.openspiel, args.seconds)
    for name, (clock, processor) in rows.items():
        print(f"{name:28}{clock:14,.0f}{processor:20,.0f}")
    mine, other = rows["in all, with learning"], rows["OpenSpiel's PPO"]
    print(f"{'ratio':28}{mine[0] / other[0]:14.1f}{mine[1] / other[1]:20.1f}")


if __name__ == "__main__":
    main()
