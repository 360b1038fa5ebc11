"""Games of two teams: values, gaps, seconds (docs/solvers/team-maxmin.md).

    python benchmarks/teams.py                    # Kuhn poker for three by team-maxmin, 4 to 12 cards
    python benchmarks/teams.py --cards 8 12
    python benchmarks/teams.py --beliefs          # belief-dag, to a gap of a millionth of the payoff range
    python benchmarks/teams.py --beliefs --only leduc

Times are of the method alone, kernels compiled and DAGs built.
"""

from __future__ import annotations

import argparse
import time

import infoset
from infoset.compiled import Compiled

TEAMS = ("1+2", "1+3", "2+3")
KUHN, LEDUC = "kuhn_poker(players=3)", "leduc_poker(players=3,ranks={})"
BELIEFS = (
    *[("kuhn_poker(players=3,cards=6)", teams) for teams in TEAMS],
    *[("kuhn_poker(players=3,cards=8)", teams) for teams in TEAMS],
    *[("kuhn_poker(players=4)", teams) for teams in ("1+2,3+4", "1+3,2+4", "1+4,2+3")],
    *[("liars_dice(players=3,dice_sides=3)", teams) for teams in TEAMS],
    *[(LEDUC.format(2), teams) for teams in TEAMS],
    (LEDUC.format(3), "1+2"),
)
GAP = 1e-6  # of the payoff range
LARGEST, MOST_SECONDS = LEDUC.format(3), 1500.0


def main() -> None:
    """Print a line a game and seating."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cards", type=int, nargs="+", default=[4, 6, 8, 10, 12])
    parser.add_argument("--beliefs", action="store_true", help="regret minimisation on belief DAGs")
    parser.add_argument("--only", default="", help="games whose names contain this")
    given = parser.parse_args()
    if given.beliefs:
        print_beliefs(given.only)
    else:
        print_proofs(given.cards)


def print_proofs(cards: list[int]) -> None:
    """Print the table of ``team-maxmin``."""
    infoset.solve(KUHN, "team-maxmin", teams="1+2")  # which compiles what is not
    print(
        "| cards | team | its payoff | gap | plans | iterations | seconds |\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    for count in cards:
        for teams in TEAMS:
            found = infoset.solve(f"kuhn_poker(players=3,cards={count})", "team-maxmin", teams=teams)
            assert found.values is not None
            worth = sum(found.values[int(seat) - 1] for seat in teams.split("+"))
            name, plans = next(iter(found.notes["plans"].items()))
            print(
                f"| {count} | {name} | {worth:+.9f} | {found.nash_conv:.1e} | {plans} | {found.iterations} | "
                f"{found.seconds:.2f} |",
                flush=True,
            )


def print_beliefs(only: str) -> None:
    """Print the table of ``belief-dag``; ``in all`` are seconds with the building of the DAGs and evaluations."""
    infoset.solve(KUHN, "belief-dag", teams="1+2", iterations=10)  # which compiles what is not
    print("| game | team | beliefs | edges | its payoff | gap | iterations | seconds | in all |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for game, teams in BELIEFS:
        if only not in game:
            continue
        compiled = Compiled.of(game)
        span = compiled.form.widest_range
        begun = time.monotonic()
        seconds = MOST_SECONDS if game == LARGEST else None
        found = infoset.solve(compiled, "belief-dag", teams=teams, target=GAP * span / 2, seconds=seconds)
        spent = time.monotonic() - begun
        name, payoff = next(iter(found.notes["team_values"].items()))
        sizes = [sum(found.notes[what].values()) for what in ("beliefs", "edges")]
        print(
            f"| `{game}` | {name} | {sizes[0]:,} | {sizes[1]:,} | {payoff:+.7f} | {found.nash_conv:.1e} | "
            f"{found.iterations:,} | {found.seconds:.1f} | {spent:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
