"""The best correlated equilibria of Sheriff and Battleship, beside OpenSpiel's regret minimisation (docs/benchmarks.md).

    python benchmarks/correlated.py

Ours are exact optima; extensive-form regret minimisation (Morrill et al. 2021), which OpenSpiel has, ends at some
equilibrium after ever more iterations, so that its column says what a hundred of them take.  The game's tree is built
before either begins.
"""

from __future__ import annotations

import time

import infoset
from infoset.compiled import Compiled

ITERATIONS, FEWER = 100, 10  # so many are timed by a tenth of them
GAMES = (
    "sheriff(max_items=3,max_bribe=3,num_rounds=2)",
    "sheriff(max_items=10,max_bribe=2,num_rounds=2)",
    "sheriff(max_items=3,max_bribe=3,num_rounds=3)",
    "battleship(board_height=2,board_width=2,ship_sizes=[1],ship_values=[1],num_shots=2,allow_repeated_shots=false)",
)
REGRETS = {"cce": "blind cf", "efce": "informed cf"}  # deviations of OpenSpiel that are next to the notion


def main() -> None:
    """Print a line a game and notion."""
    print("| game | notion | payoffs | plans | largest gain | seconds | 100 iterations of OpenSpiel's EFR |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in GAMES:
        game = infoset.load(f"openspiel:{name}")
        compiled = Compiled.of(game)
        assert compiled.form
        for kind in ("cce", "efcce", "efce"):
            begin = time.perf_counter()
            plan = infoset.correlated_equilibrium(compiled, kind)
            spent = time.perf_counter() - begin
            paid = " ".join(f"{value:+.6f}" for value in plan.values)
            beside = f"{regrets(name, REGRETS[kind]):.1f}" if kind in REGRETS else ""
            shown = f"| {name} | {kind} | {paid} | {len(plan.probabilities)} | {max(plan.gains(kind)):.1e} | {spent:.2f} |"
            print(f"{shown} {beside} |", flush=True)


def regrets(name: str, deviations: str) -> float:
    """The seconds that OpenSpiel's solver takes for so many iterations."""
    import pyspiel
    from open_spiel.python.algorithms import efr

    solver = efr.EFRSolver(pyspiel.load_game(name), deviations)
    begin = time.perf_counter()
    for _ in range(ITERATIONS // FEWER):
        solver.evaluate_and_update_policy()
    return (time.perf_counter() - begin) * FEWER


if __name__ == "__main__":
    main()
