"""The family of equilibria of three-player Kuhn poker (Szafron, Gibson & Sturtevant 2013): which of its members are
stable under replicator dynamics, and where learning ends among them.

    python papers/kuhn_family.py            # a minute; rewrites docs/papers/kuhn-family.md and its picture
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from replicator_dynamics import MEMBERS, Family, three_player_key

import infoset
from infoset.policies.tabular import TabularPolicy
from infoset.solvers.tabular.stability import stability
from infoset.tree.plans import behaviour
from infoset.tree.sequence_form import SequenceForm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

GAME = "kuhn_poker(players=3)"
PAGE = "kuhn-family"
STARTS, ITERATIONS = 48, 200_000
NEAR = 0.02  # of c11: so near to one of the family's ends counts as that end


class Limit(NamedTuple):
    """The average profile at which a run ended."""

    epsilon: float
    values: tuple[float, ...]
    c11: float
    beta: float


def limit(form: SequenceForm, seed: int) -> Limit:
    """Run sequence-form replicator dynamics from a profile drawn by ``seed``."""
    found = infoset.solve(form, "sfrd", iterations=ITERATIONS, start="random", seed=seed)
    assert found.epsilon is not None
    assert found.values is not None
    bets = [bet(found.policy, *where) for where in ((3, 1, 1), (2, 1, 1), (2, 2, 1))]
    return Limit(found.epsilon, found.values, bets[0], max(bets[1:]))


def bet(policy: TabularPolicy, player: int, card: int, situation: int) -> float:
    """Return the probability with which a player bets in a situation."""
    return policy.probabilities(player - 1, three_player_key(player, card, situation))["bet"]


def members(form: SequenceForm) -> list[str]:
    """Return a row for each member: its payoffs, and its stability."""
    rows = []
    for member in MEMBERS:
        plan = member.plan(form)
        found = stability(form, behaviour(form, plan))
        payoffs = " | ".join(f"{value:.6f}" for value in infoset.evaluate(form, plan).values)
        rows.append(f"| {member} | {payoffs} | {found.verdict} | {found.eigenvalues.real.max():.0e} |")
    return rows


def draw(limits: list[Limit], file: Path) -> None:
    """Draw the family in the plane of two of its parameters, and the ends of all runs."""
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    inner = np.linspace(0.0, 0.5, 101)
    highest = [max(b for b in np.linspace(0, 0.25, 101) if c <= (2 - b) / (3 + 4 * b) + 1e-12) for c in inner]
    axes.fill_between(inner, 0, highest, color="#dbe7f3", label="the family, 0 < c11 < 1/2")
    for c in (0.0, 0.5):
        axes.plot([c, c], [0, 0.25], color="#3b6ea5", linewidth=4, solid_capstyle="butt", zorder=2)
    axes.plot([], [], color="#3b6ea5", linewidth=4, label="its ends, c11 = 0 and c11 = 1/2")
    axes.scatter(
        [one.c11 for one in limits], [one.beta for one in limits], s=26, color="#d1602b", edgecolor="white",
        linewidth=0.6, zorder=3, label=f"SFRD's average from {len(limits)} random starts",
    )  # fmt: skip
    axes.set(
        xlabel="c11: player 3 bets with the lowest card", ylabel="β: player 2 bets with a low card", xlim=(-0.03, 0.55)
    )
    axes.set_ylim(-0.01, 0.27)
    axes.legend(loc="upper center", fontsize=8, framealpha=1.0)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=130)


def page(form: SequenceForm, limits: list[Limit]) -> str:
    """Return the page with its table."""
    low, high = (sum(abs(one.c11 - end) < NEAR for one in limits) for end in (0.0, 0.5))
    paid = np.array([one.values for one in limits])
    rows = "\n".join(members(form))
    middle, worst = np.median([one.epsilon for one in limits]), max(one.epsilon for one in limits)
    beta, most = np.median([one.beta for one in limits]), max(one.beta for one in limits)
    least, highest, between = *np.quantile(paid[:, 2], (0, 1)), len(limits) - low - high
    return f"""# Three-player Kuhn poker: a family of equilibria

This page shows which equilibria of three-player Kuhn poker are stable, and which of them learning reaches. The
shortest command: `python papers/kuhn_family.py` (a minute) writes it.

Szafron, Gibson & Sturtevant (2013) found a parametrised family of equilibria of Kuhn poker for three players. Its
members pay the players differently: −(1/2 + β)/24, −1/48 and (1 + β)/24. Here β, between 0 and 1/4, is the larger of
the two probabilities with which player 2 bets with its two lowest cards.

## Which members are stable?

The table shows the replicator dynamics of all information sets, linearised at some members of the family
(`infoset show GAME POLICY --stability`). The last column is the largest real part of an eigenvalue:

| parameters | u1 | u2 | u3 | verdict | largest real part |
| --- | --- | --- | --- | --- | --- |
{rows}

No member is unstable: no disturbance grows. None attracts either, since along the family the dynamics stand still. So
the linear part of the dynamics singles out no member.

## Where learning ends

Sequence-form replicator dynamics (Lanctot 2014) start from {len(limits)} random profiles and run for {ITERATIONS:,}
iterations each. The average profile of a run is an ε-equilibrium, with ε = {middle:.1e} in the median and {worst:.1e}
at most.

![The family of equilibria in the plane of c11 and β, and the ends of all runs, almost all of them on its two
edges]({PAGE}/limits.png)

{low} of the runs end within {NEAR:g} of c11 = 0, {high} end near c11 = 1/2, and {between} end between; β is
{beta:.3f} in the median and {most:.2f} at most. Player 3 therefore receives between {least:.4f} and {highest:.4f},
where the family allows {1 / 24:.4f} to {5 / 96:.4f}. The start determines where learning ends; it stays on the two
edges of the family, and on the side that pays player 3 least.

## References

* D. Szafron, R. Gibson, N. Sturtevant. A parameterized family of equilibrium profiles for three-player Kuhn poker.
  AAMAS 2013.
* M. Lanctot. Further developments of extensive-form replicator dynamics using the sequence-form representation.
  AAMAS 2014.
"""


def main() -> None:
    """Run the dynamics, draw the picture and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parents[1] / "docs" / "papers")
    out = parser.parse_args().out
    form = SequenceForm.of(infoset.load(GAME))
    Family().check()
    limits = [limit(form, seed) for seed in range(STARTS)]
    draw(limits, out / PAGE / "limits.png")
    (out / f"{PAGE}.md").write_text(page(form, limits), encoding="utf-8")


if __name__ == "__main__":
    main()
