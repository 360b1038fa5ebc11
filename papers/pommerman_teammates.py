"""Measure how much teammates in Pommerman gain from the radio, from their own kind, and from models of each other.

    python papers/pommerman_teammates.py           # eight hours; rewrites docs/papers/pommerman-teammates.md

Games are stored below ``--db``, and a second call continues from there, also with more games.  Read from top
to bottom: the games, the picture, the page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from pathlib import Path

import matplotlib
import numpy as np
from meetings import ROOT, Score, heading, meet, row, share, shares
from options import parse

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PAGE = "pommerman-teammates"
RADIO = "pommerman:PommeRadioCompetition-v2"
SPEAKING, SILENT = "champion", "champion(radio=false)"
AGENTS = ("simple", "navocado", "skynet", "dypm", "hakozaki", "eisenach", "champion")
PAIR = "eisenach"  # the fixed opponents
KNOWING, PLAIN = "ad-hoc", "champion"
Table = dict[tuple[str, str], Score]


@dataclass(frozen=True)
class Args:
    """Measure how much teammates in Pommerman gain from each other."""

    out: Path = ROOT / "docs" / "papers"
    """Folder for the page, with its picture in a folder beside it."""
    db: Path = ROOT / "runs" / PAGE
    """Folder for the games, a database for each pair of teams."""
    games: int = 300
    """Games of each row with radio."""
    crossed: int = 60
    """Games of each pair of teammates of the cross-play table."""
    strangers: int = 100
    """Games of the agent that identifies its teammate, with each teammate."""
    workers: int = 2
    """Processes that play."""
    seed: int = 1

    @property
    def scores(self) -> Path:
        """The file of the page's scores."""
        return self.out / PAGE / "scores.csv"


def team(a: str, b: str) -> str:
    """Return the name of a team of two."""
    return a if a == b else f"{a}+{b}"


def play_radio(args: Args) -> dict[str, Score]:
    """Play the agent with radio against the one without, and both against the fixed pair."""
    args = replace(args, db=args.db / "radio")
    return {
        f"`{a}` against `{b}`": meet(a, b, args.games, args, RADIO)
        for a, b in ((SPEAKING, SILENT), (SPEAKING, PAIR), (SILENT, PAIR))
    }


def play_crossed(args: Args) -> Table:
    """Play all pairs of teammates against the fixed pair."""
    found: Table = {}
    for a, b in combinations_with_replacement(AGENTS, 2):
        met = meet(team(a, b), PAIR, args.crossed, args)
        found[a, b] = found[b, a] = met.both_sides() if (a, b) == (PAIR, PAIR) else met
    return found


def play_strangers(args: Args) -> Table:
    """Play the agent that identifies its teammate, and the one that does not, with each teammate."""
    return {(a, b): meet(f"{a}+{b}", PAIR, args.strangers, args) for b in AGENTS for a in (KNOWING, PLAIN) if a != b}


def points(score: Score) -> float:
    """Return the points in per cent, a tie being half a win."""
    return 100 * (score.wins + score.ties / 2) / score.games


def draw(table: Table, path: Path) -> None:
    """Draw the cross-play table in colours."""
    shown = np.array([[points(table[a, b]) for b in AGENTS] for a in AGENTS])
    figure, axes = plt.subplots(figsize=(6.6, 5.2), dpi=110, layout="constrained")
    image = axes.imshow(shown, cmap="RdYlBu", vmin=0, vmax=100)
    for i, j in np.ndindex(shown.shape):
        dark = abs(shown[i, j] - 50) > 38
        axes.text(j, i, f"{shown[i, j]:.0f}", ha="center", va="center", color="white" if dark else "black")
    axes.set_xticks(range(len(AGENTS)), AGENTS, rotation=30, ha="right")
    axes.set_yticks(range(len(AGENTS)), AGENTS)
    axes.set_title(f"points of 100 against {PAIR}, a tie being half a win", fontsize=10)
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, shrink=0.85)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def radio_rows(scores: dict[str, Score]) -> list[str]:
    lines = heading(["", "n", "wins, % (95 %)", "ties", "losses"])
    return lines + [row([name, f"{met.games:,}", *shares(met)]) for name, met in scores.items()]


def crossed_rows(table: Table) -> list[str]:
    """Return wins/losses/ties of each pair of teammates."""
    lines = heading(["", *AGENTS])
    for a in AGENTS:
        found = [table[a, b] for b in AGENTS]
        lines.append(row([f"**{a}**", *[f"{met.wins}/{met.losses}/{met.ties}" for met in found]]))
    return lines


def kind_rows(table: Table) -> list[str]:
    """Return the points of each agent with its own kind and with the others."""
    lines = heading(["", "with its own kind", "with the others", "expected", "lost by mixing"])
    for a in AGENTS:
        mixed = float(np.mean([points(table[a, b]) for b in AGENTS if b != a]))
        halved = float(np.mean([(points(table[a, a]) + points(table[b, b])) / 2 for b in AGENTS if b != a]))
        values = [f"{x:.1f}" for x in (points(table[a, a]), mixed, halved, halved - mixed)]
        lines.append(row([f"`{a}`", *values]))
    return lines


def stranger_rows(table: Table) -> list[str]:
    lines = heading(["beside", "agent", "n", "wins, % (95 %)", "ties", "losses", "points"])
    for (a, b), met in table.items():
        lines.append(row([f"`{b}`", f"`{a}`", f"{met.games:,}", *shares(met), f"{points(met):.1f}"]))
    return lines


def page(radio: dict[str, Score], crossed: Table, strangers: Table) -> str:
    """Return the page in Markdown."""
    speaking, silent = (radio[f"`{a}` against `{PAIR}`"] for a in (SPEAKING, SILENT))
    together = {a: Score(0, 0, 0) for a in (KNOWING, PLAIN)}
    for (a, b), met in strangers.items():
        if b != PLAIN:
            together[a] = together[a].plus(met)
    least = min(met.games for met in crossed.values())
    return f"""# Teammates

This page measures how much the two agents of a Pommerman team gain from each other: from messages on the radio, from
agents of the same kind, and from an agent that identifies its teammate. The shortest command: `python
papers/pommerman_teammates.py` (eight hours; games whose scores are stored are not played again) writes it.

Games are those of [tournaments](../tournaments.md) without a clock: each team plays on either diagonal equally often,
and all play on the same seeds. Intervals are Wilson's at 95 %. The opponents are always two `{PAIR}`, against which
results differ most.

## The radio

In `{RADIO}`, the last of the variants of Resnick, Eldridge, Ha, Britz, Foerster, Togelius, Cho and Bruna (2018), an
agent sends two words in each step. `champion` announces its next move, and transmits where it sees enemies. Its
teammate plans with the announced move and hunts the enemies, as long as the announcements come true ([On the
radio](../pommerman.md#on-the-radio)).

{chr(10).join(radio_rows(radio))}

Against the fixed pair, `champion` scores {points(speaking):.1f} of 100 points with words and {points(silent):.1f}
without. On a board of 11 by 11 each agent sees the 9 by 9 cells around it, so that there is little to communicate.
Another version, which was rewarded for keeping its announcements, lost 69 and won 25 of 168 games against silent
agents.

## Cross-play

Every agent with every other as its teammate, against two `{PAIR}`, at least {least} games each; wins/losses/ties:

{chr(10).join(crossed_rows(crossed))}

![points of every two teammates]({PAGE}/crossed.png)

The loss from mixing, in points (a tie is half a win). *Expected* is the mean of what the two kinds of agents score in
teams of their own:

{chr(10).join(kind_rows(crossed))}

## An agent that identifies its teammate

`ad-hoc` is `champion` with models of its teammate: it simulates `simple`, `dypm` and `champion` in the teammate's
seat, and plans with the next move of the one that has predicted most of the teammate's moves, once this is at least
60 % ([Strangers](../pommerman.md#strangers)).

{chr(10).join(stranger_rows(strangers))}

With all teammates other than `champion` together, `ad-hoc` wins
{share(together[KNOWING].wins, together[KNOWING].games)} % and scores {points(together[KNOWING]):.1f} points,
`champion` wins {share(together[PLAIN].wins, together[PLAIN].games)} % and scores {points(together[PLAIN]):.1f}.
"""


def main() -> None:
    args = parse(Args)
    crossed, radio = play_crossed(args), play_radio(args)
    strangers = play_strangers(args)
    draw(crossed, args.out / PAGE / "crossed.png")
    (args.out / f"{PAGE}.md").write_text(page(radio, crossed, strangers), encoding="utf-8")


if __name__ == "__main__":
    main()
