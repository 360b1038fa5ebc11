"""Compare eleven update rules on eighteen games, by exploitability after 1,000 iterations.

    python papers/update_rules.py                          # a quarter of an hour; rewrites docs/papers/update-rules.md
    python papers/update_rules.py --iterations 20 --out /tmp/page       # a test of the script

Results are stored in ``--runs``, a line of JSON for each game and rule, and a second call continues from there.
Read from top to bottom: the games, the rules, the runs, the picture, the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import msgspec
import numpy as np
from options import parse

import infoset
from infoset.base import FloatArray
from infoset.compiled import Compiled
from infoset.solvers.choose import PORTFOLIO
from infoset.solvers.tabular.cfr import for_products

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
PAGE = "update-rules"
LEAST = 1e-12  # below it figures are rounding
LEVEL = 0.1  # digits
BRED_ON = ("kuhn_poker(players=3)", "leduc_poker", "goofspiel(num_cards=4,imp_info=true)", "liars_dice(dice_sides=5)")
RULES = ("cfr", "cfr+", "linear-cfr", "dcfr", "pcfr+", "pdcfr+", "hs-dcfr", "hs-pcfr+", "vad-cfr", "hedge", "sfrd")
GAMES = {
    "kuhn_poker": "Kuhn poker",
    "kuhn_poker(players=3)": "Kuhn poker for three",
    "kuhn_poker(players=4)": "Kuhn poker for four",
    "kuhn_poker(cards=12)": "Kuhn poker, 12 cards",
    "leduc_poker": "Leduc poker",
    "leduc_poker(ranks=6)": "Leduc poker, 6 ranks",
    "leduc_poker(players=3)": "Leduc poker for three",
    "holdem_river(range1=any,range2=any,bets=[0.5,1.0,2.0],stack=400,raises=2)": "hold'em river, all hands",
    "liars_dice(dice_sides=4)": "liar's dice, 4 sides",
    "liars_dice(dice_sides=5)": "liar's dice, 5 sides",
    "liars_dice": "liar's dice, 6 sides",
    "goofspiel(num_cards=4,imp_info=true)": "goofspiel, 4 cards",
    "goofspiel(num_cards=4,imp_info=true,points_order=descending)": "goofspiel, 4 cards, prizes falling",
    "goofspiel(num_cards=5,imp_info=true)": "goofspiel, 5 cards",
    "battleship(rows=2,columns=2,shots=2)": "battleship, 2 by 2",
    "dark_hex(rows=2,columns=3)": "dark hex, 2 by 3",
    "phantom_tic_tac_toe": "phantom tic-tac-toe",
    "gdl:scissors_double": "scissors, twice (GDL-II)",
}


@dataclass(frozen=True)
class Args:
    """Compare update rules, and write the page about them."""

    out: Path = ROOT / "docs" / "papers"
    """Folder for the page, with its picture in a folder beside it."""
    runs: Path = ROOT / "runs" / PAGE
    """Folder for what was found."""
    iterations: int = 1000
    """Of each rule on each game."""


class Found(msgspec.Struct):
    """The exploitability of one rule on one game."""

    game: str
    rule: str
    iterations: int
    exploitability: float
    scale: float  # how far apart payoffs are


def measured(args: Args) -> Iterator[Found]:
    """Yield the stored results, and compute missing ones."""
    path = args.runs / "found.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept = [msgspec.json.decode(line, type=Found) for line in lines]
    met = {(one.game, one.rule): one for one in kept if one.iterations == args.iterations}
    path.parent.mkdir(parents=True, exist_ok=True)
    for game in GAMES:
        compiled = None
        for rule in RULES:
            if (game, rule) not in met:
                compiled = compiled or Compiled.of(game)
                met[game, rule] = solved(game, compiled, rule, args.iterations)
                with path.open("ab") as file:
                    file.write(msgspec.json.encode(met[game, rule]) + b"\n")
                print(f"{game} {rule}: {met[game, rule].exploitability:.2e}", flush=True)
            yield met[game, rule]


def solved(game: str, compiled: Compiled, rule: str, iterations: int) -> Found:
    """Solve a game by a rule; rules with a schedule are given the number of iterations."""
    method = f"{rule}(horizon={iterations})" if rule.startswith("hs-") else rule
    solution = infoset.solve(compiled, method, iterations=iterations)
    form = compiled.factored.form if compiled.better_factored else compiled.form
    assert solution.exploitability is not None
    return Found(game, rule, iterations, solution.exploitability, form.largest_payoff - form.smallest_payoff)


def matrix(found: list[Found]) -> FloatArray:
    """Return (games, rules) the exploitability divided by the range of the game's payoffs."""
    return np.array([one.exploitability / one.scale for one in found]).reshape(len(GAMES), len(RULES))


def picture(share: FloatArray, path: Path) -> None:
    """Draw the exploitability of all rules on each game."""
    figure, axes = plt.subplots(figsize=(8.4, 7.2), dpi=110, layout="constrained")
    logs = np.log10(np.maximum(share, LEAST))
    image = axes.imshow(logs, cmap="viridis", aspect="auto", vmin=-8, vmax=-1)
    for (row, column), log in np.ndenumerate(logs):
        best = log == logs[row].min()
        colour = "black" if log > -3.5 else "white"
        text = f"{log:.1f}"
        axes.text(
            column, row, text, ha="center", va="center", color=colour, weight="bold" if best else "normal", size=8
        )
    axes.set_xticks(range(len(RULES)), RULES, rotation=30, ha="right")
    axes.set_yticks(range(len(GAMES)), list(GAMES.values()))
    axes.tick_params(length=0)
    figure.colorbar(image, label="exploitability in parts of the payoffs' range, log10", shrink=0.6)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def table(share: FloatArray) -> str:
    """Return the table of exploitability, the lowest in bold, and each rule's mean distance from the best."""
    lines = [["game", *[f"`{rule}`" for rule in RULES]], ["---"] * (len(RULES) + 1)]
    for title, row in zip(GAMES.values(), np.maximum(share, LEAST), strict=True):
        lines.append([title, *[f"**{x:.1e}**" if x == row.min() else f"{x:.1e}" for x in row]])
    logs = np.log10(np.maximum(share, LEAST))
    behind = logs - logs.min(axis=1, keepdims=True)
    lines.append(["*best in*", *[str(int(n)) for n in (behind == 0).sum(axis=0)]])
    lines.append(["*mean distance to the best, digits*", *[f"{x:.1f}" for x in behind.mean(axis=0)]])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def bred(share: FloatArray) -> str:
    """Compare the rule that a program found on the games for which it was developed and on the others."""
    logs, own = np.log10(np.maximum(share, LEAST)), RULES.index("vad-cfr")
    ahead = np.delete(logs, own, axis=1).min(axis=1) - logs[:, own]
    known = np.isin(list(GAMES), BRED_ON)
    counts = [
        [int((won >= LEVEL).sum()), int((abs(won) < LEVEL).sum()), int((won <= -LEVEL).sum())]
        for won in (ahead[known], ahead[~known])
    ]
    results = [f"better than all others on {more}, equal on {level}, worse on {less}" for more, level, less in counts]
    others = len(GAMES) - len(BRED_ON)
    return f"""Of the {len(BRED_ON)} games for which it was developed, `vad-cfr` is {results[0]};
of the {others} others, {results[1]} (equal: within a tenth of a digit of the best other rule)."""


def _and(names: tuple[str, ...]) -> str:
    """Format names as ``a``, ``b`` and ``c``."""
    return ", ".join(f"`{name}`" for name in names[:-1]) + f" and `{names[-1]}`"


def page(share: FloatArray, args: Args) -> str:
    """Return the page in Markdown."""
    logs = np.log10(np.maximum(share, LEAST))
    behind = (logs - logs.min(axis=1, keepdims=True)).mean(axis=0)
    order = [RULES[k] for k in np.argsort(behind)]
    taken = [RULES.index(name) for name in PORTFOLIO]
    left = float((logs[:, taken].min(axis=1) - logs.min(axis=1)).mean())
    dealt, open_ = for_products(True).name, for_products(False).name
    return f"""# Update rules

This page compares eleven update rules of [CFR's family](../solvers/index.md) on {len(GAMES)} games. The shortest
command: `python papers/update_rules.py` writes it with its numbers and picture. An update rule is what the loop of
these methods does at an information set ([local update](../glossary.md#local-update)); it takes a few lines of code.

Each rule runs for {args.iterations:,} iterations with its default parameters. Everything is computed exactly, and
nothing is sampled. The table has the exploitability of the profile that `solve` returns, divided by the range of the
game's payoffs. The rules are

- regret matching with uniform, linear and other averages (`cfr`, `cfr+`, `linear-cfr`, `dcfr`),
- the same with prediction (`pcfr+`, `pdcfr+`),
- the same with schedules that depend on the planned number of iterations (`hs-dcfr`, `hs-pcfr+`; Zhang, McAleer and
  Sandholm 2024),
- exponential weights (`hedge`),
- sequence-form replicator dynamics (`sfrd`; Marc Lanctot, *Further Developments of Extensive-Form Replicator Dynamics
  using the Sequence-Form Representation*, AAMAS 2014),
- `vad-cfr`, found by a program. Li, Schultz, Hennes and Lanctot ([arXiv
  2602.16928](https://arxiv.org/abs/2602.16928)) compare rules on games of this kind, and let a program that writes
  programs search for new ones. `vad-cfr` is implemented as printed in the first version of their paper, with a moving
  mean for each information set, and with `expected` at 2 for all payoffs. A later version simplifies it to a rule
  called WOP-CFR, whose numbers we do not know.

{table(share)}

![exploitability of all rules on all games]({PAGE}/rules.png)

On average over all games, `{order[0]}` and `{order[1]}` are closest to the best rule. The rules with schedules need
to know the number of iterations in advance. So in effect does `vad-cfr`: it was developed for a thousand iterations,
and averages the second five hundred.

{bred(share)}

## What `auto` chooses

Where neither a linear program nor a proof is possible, `auto` runs {_and(PORTFOLIO)} for a while and continues with
the best of them. On average the best of these is {left:.1f} digits from the best of all rules. In the [factored
form](../large-games.md#products-instead-of-histories), where trials cost more, it chooses `{dealt}` if chance deals
hands, and `{open_}` otherwise.
"""


def main() -> None:
    args = parse(Args)
    share = matrix(list(measured(args)))
    picture(share, args.out / PAGE / "rules.png")
    (args.out / f"{PAGE}.md").write_text(page(share, args), encoding="utf-8")


if __name__ == "__main__":
    main()
