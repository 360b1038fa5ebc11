"""Hanabi in arrays: random steps a second beside OpenSpiel's, and the scores of hat guessing by the number of players.

With ``--search`` instead the scores of the agent ``sparta`` beside ``hat-guessing``, with ``--optima`` the exact optima
of small Hanabi games, by a dynamic program over the team's beliefs.

    python benchmarks/hanabi.py
    python benchmarks/hanabi.py --search --games 1000
    python benchmarks/hanabi.py --optima
    python benchmarks/hanabi.py --games 1000
"""

from __future__ import annotations

import argparse
import random
import re
import time
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context

import numpy as np

from infoset import load, play_match
from infoset.games.hanabi import hanabi
from infoset.games.hanabi_tables import make_tables, play_randomly
from infoset.games.hat_guessing import score_series
from infoset.randomness import streams
from infoset.solvers.teams.optimum import team_optimum
from infoset.statistics import Mean

STEPS, THEIRS = 5_000_000, 50_000
PROCESSES = 2
SMALL = (  # players, colors, ranks, hand, info
    (2, 1, 2, 1, 1), (2, 1, 2, 2, 1), (3, 1, 2, 1, 1), (2, 2, 1, 1, 1), (2, 2, 1, 2, 1), (2, 1, 3, 1, 1),
    (2, 1, 3, 1, 2), (2, 1, 3, 2, 1),
)  # fmt: skip


def count_steps(seed: int, steps: int = STEPS) -> float:
    """Random steps a second of one process."""
    t = make_tables(64, 2, 5, 5, 5, 8, 3)
    stream, legal = streams(seed, 1), np.zeros(100, np.int64)
    play_randomly(t, 1000, stream, legal)
    began = time.perf_counter()
    play_randomly(t, steps, stream, legal)
    return steps / (time.perf_counter() - began)


def count_their_steps() -> float:
    """Random steps a second of OpenSpiel's game, with chance drawn by its probabilities."""
    import pyspiel

    game, rng, steps = pyspiel.load_game("hanabi"), random.Random(1), 0
    began, state = time.perf_counter(), game.new_initial_state()
    while steps < THEIRS:
        if state.is_terminal():
            state = game.new_initial_state()
        elif state.is_chance_node():
            cards, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(cards, chances)[0])
        else:
            state.apply_action(rng.choice(state.legal_actions()))
            steps += 1
    return steps / (time.perf_counter() - began)


def play_searched(task: tuple[int, int, int]) -> float:
    """Return the score of a game of ``players`` of whom the first searches with so many worlds."""
    players, worlds, seed = task
    agents = [f"sparta(worlds={worlds})", *["hat-guessing"] * (players - 1)]
    return play_match(f"hanabi(players={players})", agents, seed=seed).returns[0]


def show_search(players: int, worlds: int, games: int) -> None:
    """Print the mean score of a search after every tenth of the games."""
    print("| players | worlds | games | mean score (95 %) | 25 of 25 | seconds a game in one process |")
    print("| ---: | ---: | ---: | --- | ---: | ---: |")
    scores: list[float] = []
    began = time.perf_counter()
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        for score in pool.map(play_searched, [(players, worlds, seed) for seed in range(games)]):
            scores.append(score)
            if len(scores) % max(games // 10, 1) == 0:
                found = np.array(scores)
                mean = Mean.of(len(found), found.sum(), (found**2).sum())
                seconds = PROCESSES * (time.perf_counter() - began) / len(scores)
                print(
                    f"| {players} | {worlds} | {len(scores)} | {mean.value:.3f} ± {mean.margin:.3f} | "
                    f"{(found == 25).mean():.1%} | {seconds:.1f} |",
                    flush=True,
                )


def show_optima() -> None:
    """Print a table of optima with fractions, all with one life."""
    team_optimum(load("tiny_hanabi"), "beliefs")  # compiles
    print("| players | colours | ranks | cards a hand | tokens | most | optimum | | beliefs | actions | seconds |")
    print("|" + " --- |" * 11)
    for players, colors, ranks, hand, info in SMALL:
        game = hanabi(players=players, colors=colors, ranks=ranks, hand=hand, info=info, lives=1)
        found = team_optimum(game, "beliefs")
        fraction = Fraction(found.value).limit_denominator(100_000)
        beliefs, actions = re.findall(r"[\d,]+(?= beliefs| actions)", found.proof)
        print(
            f"| {players} | {colors} | {ranks} | {hand} | {info} | {colors * ranks} | {found.value:.6f} | {fraction} | "
            f"{beliefs} | {actions} | {found.seconds:.1f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=10_000, help="of each row of scores (default: %(default)s)")
    parser.add_argument("--optima", action="store_true", help="print optima of small games instead")
    parser.add_argument("--search", action="store_true", help="print scores of a search instead")
    parser.add_argument("--players", type=int, default=2, help="of the games with a search (default: %(default)s)")
    parser.add_argument("--worlds", type=int, default=200, help="of a search (default: %(default)s)")
    given = parser.parse_args()
    if given.search:
        show_search(given.players, given.worlds, given.games)
        return
    if given.optima:
        show_optima()
        return
    games = given.games
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        ours = sum(pool.map(count_steps, range(PROCESSES)))
    theirs = count_their_steps()
    print(f"random play, 2 players: {ours:,.0f} steps a second in {PROCESSES} processes; OpenSpiel from Python, one "
          f"process: {theirs:,.0f}")  # fmt: skip
    print("\n| players | mean score (95 %) | 25 of 25 | games a second |\n| ---: | --- | ---: | ---: |")
    for players in range(2, 6):
        game = hanabi(players)
        score_series(game, 1, seed=1)
        began = time.perf_counter()
        scores = score_series(game, games, seed=1).astype(float)
        rate = games / (time.perf_counter() - began)
        mean = Mean.of(games, scores.sum(), (scores**2).sum())
        print(f"| {players} | {mean.value:.3f} ± {mean.margin:.3f} | {(scores == 25).mean():.1%} | {rate:,.0f} |")


if __name__ == "__main__":
    main()
