"""Check what Resnick et al. (2018), "Pommerman: a multi-agent playground", say about their stock agent, and compare
whole games with those of the reference environment.

    python papers/pommerman.py                    # a few minutes; rewrites docs/papers/pommerman.md
    python papers/pommerman.py --games 500 --out /tmp/page

Read from top to bottom: what is played, how, the figures, the picture, the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from numpy.typing import NDArray
from options import parse
from scipy.stats import binomtest, chi2_contingency

from infoset_pommerman.config import config
from infoset_pommerman.simple_vec import SimpleVec
from infoset_pommerman.state import WIN
from infoset_pommerman.vec import PommermanVec

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PAGE = "pommerman"
EVERYONE = (0, 1, 2, 3)


class Scenario(NamedTuple):
    """Games of stock agents in some seats and random agents in the others, with the reference's counts."""

    title: str
    variant: str
    stock: tuple[int, ...]
    sides: tuple[str, ...]
    reference: tuple[int, ...]  # wins of each side, ties at last (pommerman.md, section 11)
    mean_length: float | None


SCENARIOS = (
    Scenario(
        "FFA, SimpleAgent in every seat", "PommeFFACompetition-v0", EVERYONE,
        ("agent 0", "agent 1", "agent 2", "agent 3"), (43, 37, 48, 27, 45), 362,
    ),
    Scenario(
        "Team, SimpleAgent in every seat", "PommeTeamCompetition-v0", EVERYONE, ("{0, 2}", "{1, 3}"), (53, 34, 13), 288,
    ),
    Scenario(
        "Team, SimpleAgent {0, 2} against random", "PommeTeamCompetition-v0", (0, 2), ("{0, 2}", "{1, 3}"),
        (100, 0, 0), 28,
    ),
    Scenario(
        "Team, SimpleAgent {1, 3} against random", "PommeTeamCompetition-v0", (1, 3), ("{0, 2}", "{1, 3}"),
        (10, 90, 0), 28,
    ),
    Scenario("OneVsOne, SimpleAgent in both seats", "OneVsOne-v0", (0, 1), ("agent 0", "agent 1"), (27, 40, 15), 282),
    Scenario(
        "FFA, random in every seat", "PommeFFACompetition-v0", (), ("agent 0", "agent 1", "agent 2", "agent 3"),
        (251, 201, 269, 248, 31), 23.1,
    ),
    Scenario(
        "FFA, one SimpleAgent among random", "PommeFFACompetition-v0", (0,),
        ("agent 0", "agent 1", "agent 2", "agent 3"), (), None,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Args:
    """Write the page on Pommerman's stock agent."""

    out: Path = Path(__file__).resolve().parents[1] / "docs" / "papers"
    """Folder for the page, with its picture in a folder beside it."""
    games: int = 10_000
    """How many of each kind."""
    seed: int = 1


# ---------------------------------------------------------------------------------------------------------------------
# The games
# ---------------------------------------------------------------------------------------------------------------------


class Played(NamedTuple):
    """Each game's winning side (the number of sides for a tie), its length, and whether it reached the step limit."""

    side: NDArray[np.int64]
    length: NDArray[np.int64]
    late: NDArray[np.bool_]

    def counts(self, sides: int) -> list[int]:
        return np.bincount(self.side, minlength=sides + 1).tolist()


def play(scenario: Scenario, games: int, seed: int) -> Played:
    """Play one game on each board; only its first game counts, so that long games count as often as short ones."""
    rules, sides = config(scenario.variant), len(scenario.sides)
    batch = PommermanVec(games, rules, seed=seed)
    stock, random = SimpleVec(batch, scenario.stock, seed=seed + 1), np.random.default_rng(seed + 2)
    others = [k for k in range(rules.num_agents) if k not in scenario.stock]
    side, length = np.full(games, -1), np.zeros(games, dtype=np.int64)
    for t in range(1, rules.max_steps + 1):
        actions = stock.act()
        actions[:, others] = random.integers(0, 6, (games, len(others)))
        stepped = batch.step(actions)
        ended = stepped.done & (side < 0)
        winner = stepped.rewards.argmax(axis=1) % sides  # teams sit in every other seat
        side[ended] = np.where(stepped.result == WIN, winner, sides)[ended]
        length[ended] = t
        if (side >= 0).all():
            break
    return Played(side, length, (side == sides) & (length == rules.max_steps))


# ---------------------------------------------------------------------------------------------------------------------
# The page
# ---------------------------------------------------------------------------------------------------------------------


def share(count: int, games: int) -> str:
    """Format a share in per cent with its 95 % interval (Wilson)."""
    interval = binomtest(count, games).proportion_ci(method="wilson")
    return f"{100 * count / games:.1f} ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def agreement(found: list[int], reference: tuple[int, ...]) -> str:
    """Return the p-value of a chi-square test that both counts come from one distribution."""
    table = np.array([found, reference])
    table = table[:, table.sum(axis=0) > 0]
    return f"{chi2_contingency(table).pvalue:.2g}"


def rows(scenario: Scenario, played: Played) -> list[str]:
    games, sides = len(played.side), len(scenario.sides)
    counts, reference = played.counts(sides), scenario.reference
    lines = [
        f"\n### {scenario.title}\n",
        "| | ours | ours, % (95 %) | reference | reference, % (95 %) |",
        "|---|---|---|---|---|",
    ]
    for k, name in enumerate((*scenario.sides, "ties")):
        theirs = (f"{reference[k]:,}", share(reference[k], sum(reference))) if reference else ("", "")
        lines.append(f"| {name} | {counts[k]:,} | {share(counts[k], games)} | {' | '.join(theirs)} |")
    deviation = 1.96 * played.length.std(ddof=1) / games**0.5
    said = f"; the reference's over {sum(reference):,} games is {scenario.mean_length}" if reference else ""
    same = f" Test of equal distributions: p = {agreement(counts, reference)}." if reference else ""
    lines.append(
        f"\nMean length {played.length.mean():.1f} ± {deviation:.1f}, median {np.median(played.length):.0f}{said}. "
        f"{played.late.sum():,} ties are at the step limit.{same}"
    )
    return lines


def picture(results: dict[Scenario, Played], file: Path) -> None:
    """Draw the lengths of games, and their results."""
    figure, (ends, lengths) = plt.subplots(1, 2, figsize=(10, 3.8), dpi=110, layout="constrained")
    colours = ("#1f5fa8", "#d98c21", "#3a8f5c", "#a8447a")
    mirrors = [s for s in SCENARIOS if len(s.stock) == config(s.variant).num_agents]
    for y, scenario in enumerate(mirrors):
        counts, left = results[scenario].counts(len(scenario.sides)), 0.0
        for k, count in enumerate(counts):
            width = 100 * count / sum(counts)
            tie = k == len(scenario.sides)
            ends.barh(y, width, left=left, color="#cccccc" if tie else colours[k], height=0.55)
            label = "ties" if tie else scenario.sides[k].removeprefix("agent ")
            ends.text(left + width / 2, y, f"{label}\n{width:.0f} %", ha="center", va="center", fontsize=8,
                      color="black" if tie else "white")  # fmt: skip
            left += width
    ends.axvline(25, color="black", lw=0.8, ls=":")
    ends.set_yticks(range(len(mirrors)), [s.title.split(",")[0] for s in mirrors])
    ends.invert_yaxis()
    ends.set_xlabel("% of games; dotted: 25 %")
    ends.set_title("Who wins among SimpleAgents", loc="left", fontsize=11)
    for scenario, colour in zip(mirrors, colours, strict=False):
        played = np.sort(results[scenario].length)
        lengths.plot(played, 100 * (1 - np.arange(1, len(played) + 1) / len(played)), color=colour, lw=2,
                     label=scenario.title.split(",")[0])  # fmt: skip
    lengths.set_xlabel("steps")
    lengths.set_ylabel("% of games still going on")
    lengths.legend(frameon=False)
    lengths.set_title("How long games last", loc="left", fontsize=11)
    for axes in (ends, lengths):
        axes.spines[["top", "right"]].set_visible(False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)
    plt.close(figure)


def page(results: dict[Scenario, Played], games: int) -> str:
    mirror = SCENARIOS[0]
    counts = results[mirror].counts(4)
    wins, ties = sum(counts[:4]), counts[4]
    teams = results[SCENARIOS[1]].counts(2)
    alone = results[SCENARIOS[-1]].counts(4)[0]
    even, odd = (f"{100 * (counts[k] + counts[k + 2]) / 2 / games:.1f}" for k in (0, 1))
    lines = [
        f"""# Pommerman: what the stock agent does

This page checks what Cinjon Resnick, Wes Eldridge, David Ha, Denny Britz, Jakob Foerster, Julian Togelius, Kyunghyun
Cho, Joan Bruna, *Pommerman: A Multi-Agent Playground*, 2018, say about their stock agent, and compares our rules with
the reference environment. The shortest command: `python papers/pommerman.py` writes the page with its numbers and
picture.

## What the paper claims

The paper measures learners against its stock agent, SimpleAgent, and says that one of four SimpleAgents wins about
20 % of free-for-alls: less than a quarter, because many of their games are drawn.

## What we find

In {games:,} free-for-alls of four SimpleAgents, one of them wins {share(wins, 4 * games)} % on average over the four
seats, and {share(ties, games)} % are ties ({results[mirror].late.sum():,} of them at the step limit): the claim
holds.

The seats are not equal. Agents 0 and 2 start on the main diagonal, which never contains a wall: they win {even} %
each, the two others {odd} %; as a team 0 and 2 win {100 * teams[0] / games:.1f} %, 1 and 3
{100 * teams[1] / games:.1f} %. The reference's 87 decided team games were too few to show this. So agents should
change seats when they are compared (`infoset match --rotate`). One SimpleAgent among agents that move at random wins
{share(alone, games)} %.

![who wins, and how long games last](pommerman/simple.png)

## All counts

*Reference*: the counts of the original environment with its own SimpleAgent, whose memory is cleared before each
game. *Ours*: {games:,} games of each kind, one on each board of a batch. Intervals are Wilson's at 95 %; p is the
p-value of a chi-square test that both columns of counts come from one distribution."""
    ]
    for scenario, played in results.items():
        lines += rows(scenario, played)
    return "\n".join(lines) + "\n"


def main() -> None:
    args = parse(Args)
    results = {}
    for k, scenario in enumerate(SCENARIOS):
        results[scenario] = play(scenario, args.games, args.seed + 10 * k)
        print(scenario.title, results[scenario].counts(len(scenario.sides)), flush=True)
    picture(results, args.out / PAGE / "simple.png")
    (args.out / f"{PAGE}.md").write_text(page(results, args.games))


if __name__ == "__main__":
    main()
