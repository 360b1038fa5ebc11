"""What teammates are worth in Pommerman: words on the radio, strangers beside an agent, and who finds out who they are.

    python papers/pommerman_teammates.py           # eight hours; rewrites docs/papers/pommerman-teammates.md

Games are kept below ``--db``: called again the script goes on from what is there, also with more games.  Read from top
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
    """Measure what teammates of Pommerman are worth to each other."""

    out: Path = ROOT / "docs" / "papers"
    """Folder for the page, with its picture in a folder beside it."""
    db: Path = ROOT / "runs" / PAGE
    """Folder for the games, a database for each pair of teams."""
    games: int = 300
    """On the radio, for each row."""
    crossed: int = 60
    """For each two teammates of the cross-play table."""
    strangers: int = 100
    """Of the agent that finds out who its teammate is, beside each."""
    workers: int = 2
    """Processes that play."""
    seed: int = 1

    @property
    def scores(self) -> Path:
        """File of the page's scores."""
        return self.out / PAGE / "scores.csv"


def team(a: str, b: str) -> str:
    """The name of a team of two."""
    return a if a == b else f"{a}+{b}"


def play_radio(args: Args) -> dict[str, Score]:
    """Who speaks against who does not, and both against the fixed pair."""
    args = replace(args, db=args.db / "radio")
    return {
        f"`{a}` against `{b}`": meet(a, b, args.games, args, RADIO)
        for a, b in ((SPEAKING, SILENT), (SPEAKING, PAIR), (SILENT, PAIR))
    }


def play_crossed(args: Args) -> Table:
    """Every two teammates against the fixed pair."""
    found: Table = {}
    for a, b in combinations_with_replacement(AGENTS, 2):
        met = meet(team(a, b), PAIR, args.crossed, args)
        found[a, b] = found[b, a] = met.both_sides() if (a, b) == (PAIR, PAIR) else met
    return found


def play_strangers(args: Args) -> Table:
    """Whoever finds out who its teammate is, and whoever does not, beside each agent."""
    return {(a, b): meet(f"{a}+{b}", PAIR, args.strangers, args) for b in AGENTS for a in (KNOWING, PLAIN) if a != b}


def points(score: Score) -> float:
    """Per cent, a tie being half a win."""
    return 100 * (score.wins + score.ties / 2) / score.games


def draw(table: Table, path: Path) -> None:
    """The cross-play table in colours."""
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
    """Wins/losses/ties of each two teammates."""
    lines = heading(["", *AGENTS])
    for a in AGENTS:
        found = [table[a, b] for b in AGENTS]
        lines.append(row([f"**{a}**", *[f"{met.wins}/{met.losses}/{met.ties}" for met in found]]))
    return lines


def kind_rows(table: Table) -> list[str]:
    """Each agent with its own kind and with others."""
    lines = heading(["", "with its own kind", "with the others", "what two kinds would have, halved", "lost by mixing"])
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
    """The page in Markdown."""
    speaking, silent = (radio[f"`{a}` against `{PAIR}`"] for a in (SPEAKING, SILENT))
    together = {a: Score(0, 0, 0) for a in (KNOWING, PLAIN)}
    for (a, b), met in strangers.items():
        if b != PLAIN:
            together[a] = together[a].plus(met)
    least = min(met.games for met in crossed.values())
    return f"""# Teammates

What two agents of a team are worth to each other: words on the radio, strangers, and an agent that finds out who its
teammate is. This page is written by `papers/pommerman_teammates.py`, numbers and picture included; games are those of
[tournaments](../tournaments.md) without a clock, either team on either diagonal equally often, all on the same seeds,
intervals Wilson's at 95 %. The fixed opponents are two `{PAIR}`: who loses to them and who does not tells most.

## The radio

In `{RADIO}`, the last of the variants of Resnick, Eldridge, Ha, Britz, Foerster, Togelius, Cho and
Bruna (2018), an agent says two words a step. `champion` says what it means to do in the next step, and spells out where
it sees enemies; its teammate plans with the first and hunts by the second, as long as what is said comes true
([On the radio](../pommerman.md#on-the-radio)).

{chr(10).join(radio_rows(radio))}

Against the fixed pair, points of 100: {points(speaking):.1f} with words, {points(silent):.1f} without. On a board of
11 by 11 both see 9 by 9 cells around them, so that there is little to tell. An agent that was paid for keeping
its word, as another version of it was, lost 69 games and won 25 of 168 against silent ones.

## Cross-play

Every agent with every other as its teammate against two `{PAIR}`, {least} games or more each; wins/losses/ties:

{chr(10).join(crossed_rows(crossed))}

![points of every two teammates]({PAGE}/crossed.png)

What is lost beside strangers, in points (a tie being half a win); *halved* is the mean of what the two kinds reach on
their own:

{chr(10).join(kind_rows(crossed))}

## Who finds out

`ad-hoc` is `champion` that plays `simple`, `dypm` and `champion` along from its teammate's seat, and plans with the
next move of whoever moved most like it, once that was right in 60 % of the moves it saw
([Strangers](../pommerman.md#strangers)).

{chr(10).join(stranger_rows(strangers))}

Beside all strangers together (not `champion`): `ad-hoc`
{share(together[KNOWING].wins, together[KNOWING].games)} % wins and
{points(together[KNOWING]):.1f} points, `champion` {share(together[PLAIN].wins, together[PLAIN].games)} % and
{points(together[PLAIN]):.1f}.
"""


def main() -> None:
    args = parse(Args)
    crossed, radio = play_crossed(args), play_radio(args)
    strangers = play_strangers(args)
    draw(crossed, args.out / PAGE / "crossed.png")
    (args.out / f"{PAGE}.md").write_text(page(radio, crossed, strangers), encoding="utf-8")


if __name__ == "__main__":
    main()
