"""Kuhn poker for three as a game of two against one: values, gaps, seconds (docs/solvers/team-maxmin.md).

    python benchmarks/teams.py                    # 4 to 12 cards
    python benchmarks/teams.py --cards 8 12

Times are of the method alone, kernels compiled.
"""

from __future__ import annotations

import argparse

import infoset

TEAMS = ("1+2", "1+3", "2+3")


def main() -> None:
    """Print a line a game and seating."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cards", type=int, nargs="+", default=[4, 6, 8, 10, 12])
    given = parser.parse_args()
    infoset.solve("kuhn_poker(players=3)", "team-maxmin", teams="1+2")  # which compiles what is not
    print("| cards | team | its payoff | gap | plans | iterations | seconds |\n| --- | --- | --- | --- | --- | --- | --- |")
    for cards in given.cards:
        for teams in TEAMS:
            found = infoset.solve(f"kuhn_poker(players=3,cards={cards})", "team-maxmin", teams=teams)
            assert found.values is not None
            worth = sum(found.values[int(seat) - 1] for seat in teams.split("+"))
            name, plans = next(iter(found.notes["plans"].items()))
            print(
                f"| {cards} | {name} | {worth:+.9f} | {found.nash_conv:.1e} | {plans} | {found.iterations} | "
                f"{found.seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
