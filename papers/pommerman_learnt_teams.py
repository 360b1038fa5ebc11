"""Train ``navocado`` and ``skynet`` again, and play the five teams of Table 2 of Osogami & Takahashi (2019), and
``champion``, against each other.

    python papers/pommerman_learnt_teams.py           # two hours; rewrites docs/papers/pommerman-learnt-teams.md
    python papers/pommerman_learnt_teams.py --ship    # the same, with new networks for the package

Trainings and games are stored below ``--runs``, and a second call continues from there.  Read from top to
bottom: the trainings, the games, the picture, the page.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from pathlib import Path
from typing import Any

import matplotlib
from meetings import GAME, ROOT, Score, heading, meet, row, share, shares
from options import parse

import infoset
from infoset.match.agents import NET
from infoset.statistics import Share
from infoset_pommerman.learn.net import WEIGHTS
from infoset_pommerman.search.eisenach import Eisenach

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PAGE = "pommerman-learnt-teams"
TRAININGS: dict[str, dict[str, Any]] = {
    "navocado": {"method": "a2c", "shaped": 1.0, "rivals": "simple,self", "starts": "backplay", "lessons": 1500},
    "skynet": {"method": "ppo", "shaped": 1.0, "rivals": "simple,self", "filtered": True},
    "veteran": {
        "method": "ppo", "shaped": 1.0, "rivals": "skynet,navocado,simple,self", "filtered": True, "initial": "skynet",
        "boards": 512, "rate": 0.0005,
    },
}  # fmt: skip
SEARCHING, LEARNT, VETERAN = ("hakozaki", "eisenach", "dypm"), ("navocado", "skynet"), "veteran"
SECONDS = {"navocado": 1560.0, "skynet": 1560.0, VETERAN: 4200.0}
CHAMPION = "champion"  # no team of the paper's
TEAMS = (*SEARCHING, *LEARNT, CHAMPION)
YARDSTICK = "simple"
Table = dict[tuple[str, str], Score]
POINTS = 40  # of a curve
CONFIG, METRICS = "config.json", "metrics.jsonl"
THEIRS = {
    ("hakozaki", "eisenach"): Score(490, 371, 139), ("hakozaki", "dypm"): Score(279, 500, 221),
    ("eisenach", "dypm"): Score(403, 105, 492),
    ("hakozaki", "navocado"): Score(694, 303, 3), ("hakozaki", "skynet"): Score(845, 148, 7),
    ("eisenach", "navocado"): Score(866, 49, 85), ("eisenach", "skynet"): Score(918, 27, 55),
    ("dypm", "navocado"): Score(935, 53, 12), ("dypm", "skynet"): Score(969, 31, 0),
    ("navocado", "skynet"): Score(198, 752, 50),
    ("hakozaki", "hakozaki"): Score(112, 776, 112), ("eisenach", "eisenach"): Score(338, 324, 338),
    ("dypm", "dypm"): Score(107, 786, 107),
}  # fmt: skip
"""The paper's Table 2, without the learnt teams against themselves."""


@dataclass(frozen=True)
class Args:
    """Train the learnt teams of Pommerman's competition again, and play them against the others."""

    out: Path = ROOT / "docs" / "papers"
    """Folder for the page, with its picture in a folder beside it."""
    runs: Path = ROOT / "runs" / PAGE
    """Folder of the trainings and games."""
    ship: bool = False
    """Whether to train first, and to copy the networks into the package."""
    games: int = 300
    """Least number of games of each pair (the paper: 1,000)."""
    workers: int = 2
    """Processes that play."""
    seed: int = 1

    @property
    def scores(self) -> Path:
        """The file of the page's scores."""
        return self.out / PAGE / "scores.csv"

    @property
    def db(self) -> Path:
        """The folder of the games."""
        return self.runs / "games"


def ship(name: str, args: Args) -> None:
    """Continue a training as far as necessary, and copy network, configuration and curve into the package."""
    run, folder = args.runs / name, WEIGHTS / name
    if (run / CONFIG).exists():
        infoset.train(out=run, resume=True, seconds=SECONDS[name])
    else:
        infoset.train(GAME, seed=args.seed, seconds=SECONDS[name], out=run, **TRAININGS[name])
    folder.mkdir(parents=True, exist_ok=True)
    for file in (NET, CONFIG):
        shutil.copyfile(run / file, folder / file)
    lines = [json.dumps(point) + "\n" for point in thinned(epochs(run / METRICS))]
    (folder / METRICS).write_text("".join(lines), encoding="utf-8")


def epochs(file: Path) -> list[dict[str, Any]]:
    """Read the lines of a curve."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def thinned(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Reduce a curve to ``POINTS`` points; each has all games against the first rival since the point before."""
    found = []
    ends = [round(k * len(lines) / POINTS) for k in range(POINTS + 1)]
    for begin, end in pairwise(sorted(set(ends))):
        part = lines[begin:end]
        duels = sum(line["duels"] for line in part)
        won = sum(line["duels"] * (line["score"] or 0.0) for line in part)
        found.append({**part[-1], "score": won / duels if duels else None, "duels": duels})
    return found


def play(args: Args) -> Table:
    """Play all pairs of teams, each team half as often against itself, and the learnt teams against stock agents."""
    found: Table = {}
    pairs = [*combinations_with_replacement(TEAMS, 2), *[(name, YARDSTICK) for name in (*LEARNT, CHAMPION)]]
    pairs += [(VETERAN, other) for other in (*TEAMS, YARDSTICK)]
    for a, b in pairs:
        if a == b:
            found[a, a] = meet(a, a, args.games // 2, args).both_sides()
        else:
            found[a, b] = meet(a, b, args.games, args)
            found[b, a] = found[a, b].turned()
    return found


def picture(path: Path) -> None:
    """Draw the share of games that each team won during training: against stock agents, ``veteran`` against skynet."""
    figure, axes = plt.subplots(figsize=(7, 3.6), dpi=110, layout="constrained")
    for name, colour in zip(TRAININGS, ("#d98c21", "#1f5fa8", "#3a8a4d"), strict=True):
        points = [point for point in epochs(WEIGHTS / name / METRICS) if point["duels"]]
        won = [Share(point["score"], point["duels"]) for point in points]
        steps = [point["states"] / 1e6 for point in points]
        axes.plot(steps, [100 * each.value for each in won], color=colour, label=f"{name} against {points[0]['rival']}")
        low, high = zip(*[each.interval for each in won], strict=True)
        axes.fill_between(steps, [100 * x for x in low], [100 * x for x in high], color=colour, alpha=0.2, lw=0)
    axes.set(xlabel="million steps of agents that learn", ylabel="% of games won", ylim=(0, 100))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def command(name: str) -> str:
    """Return the command that trained a network."""
    told = json.loads((WEIGHTS / name / CONFIG).read_text(encoding="utf-8"))
    given = {key: value for key, value in TRAININGS[name].items() if key != "method"}
    options = " ".join(f"--{key}" if value is True else f"--{key} {value:g}" if isinstance(value, float) else
                       f"--{key} {value}" for key, value in given.items())  # fmt: skip
    seconds = epochs(WEIGHTS / name / METRICS)[-1]["seconds"]
    return (
        f"$ infoset train {told['game']} --method {told['method']} {options} "
        f"--seed {told['training']['seed']} --seconds {seconds:.0f} --out runs/{name}"
    )


def table_rows(table: Table) -> list[str]:
    """Return rows of wins/losses/ties of the row against the column."""
    lines = heading(["", *TEAMS])
    for a in TEAMS:
        lines.append(row([f"**{a}**", *[f"{table[a, b].wins}/{table[a, b].losses}/{table[a, b].ties}" for b in TEAMS]]))
    return lines


def beside_rows(table: Table) -> list[str]:
    """Return the paper's pairs in per cent; for a team against itself only its ties."""
    lines = heading(["", "n", "wins, % (95 %)", "ties", "losses", "the paper's wins", "ties", "losses"])
    for (a, b), theirs in THEIRS.items():
        percent = [f"{100 * count / theirs.games:.1f}" for count in theirs]
        if a == b:
            matches, ties = table[a, a].games // 2, table[a, a].ties // 2
            lines.append(row([f"{a} against itself", f"{matches:,}", "", share(ties, matches), "", "", percent[1], ""]))
        else:
            lines.append(row([f"{a} against {b}", f"{table[a, b].games:,}", *shares(table[a, b]), *percent]))
    return lines


def against_rows(name: str, others: Sequence[str], table: Table) -> list[str]:
    """Return the results of one team against others."""
    lines = heading(["against", "n", "wins, % (95 %)", "ties", "losses", "wins per loss"])
    for other in others:
        met = table[name, other]
        ratio = f"{met.wins / met.losses:.1f}" if met.losses else "no loss"
        lines.append(row([other, f"{met.games:,}", *shares(met), ratio]))
    return lines


def champion_rows(table: Table) -> list[str]:
    """Return the results of ``champion`` against all others, and its ties with itself."""
    lines, met = against_rows(CHAMPION, (*TEAMS[:-1], YARDSTICK), table), table[CHAMPION, CHAMPION]
    lines.append(row(["itself", f"{met.games // 2:,}", "", share(met.ties // 2, met.games // 2), "", ""]))
    return lines


def page(table: Table) -> str:
    """Return the page in Markdown."""
    pessimists = table["hakozaki", "eisenach"].plus(table["dypm", "eisenach"])
    least = min(met.games for (a, b), met in table.items() if a != b)
    mirrors = min(table[a, a].games // 2 for a in TEAMS)
    top = Score(0, 0, 0)
    for a in SEARCHING:
        for b in LEARNT:
            top = top.plus(table[a, b])
    stock = "\n".join(
        f"- `{name}`: {share(met.wins, met.games)} % won, {share(met.losses, met.games)} % lost of {met.games} games."
        for name in LEARNT
        for met in [table[name, YARDSTICK]]
    )
    steps = {name: epochs(WEIGHTS / name / METRICS)[-1]["states"] / 1e6 for name in LEARNT}
    grown = epochs(WEIGHTS / VETERAN / METRICS)[-1]
    return f"""# The learnt teams of the competition

This page repeats Table 2 of Takayuki Osogami and Toshihiro Takahashi, *Real-time tree search with pessimistic
scenarios: Winning the NeurIPS 2018 Pommerman Competition*, ACML 2019, section 4.1: five teams, of which three search
and two are learnt. The shortest command: `python papers/pommerman_learnt_teams.py` writes the page with its numbers
and picture; games whose scores are stored are not played again.

The games are those of a [tournament](../tournaments.md) of `{GAME}`: each team plays on either diagonal equally
often, and all pairs play on the same seeds. Intervals are Wilson's at 95 %.

The original learnt teams are policies in Docker images, which were not run. Little is published about their training:
navocado is an advantage actor-critic with a curriculum and self-play, skynet is PPO with an action filter, shaped
rewards and self-play. Here `navocado` and `skynet` are trained again by these methods ([Agents that
learn](../pommerman.md#agents-that-learn)), each on one core, without a time limit for moves:

```console
{command("navocado")}
{command("skynet")}
```

These commands stop at a time limit, so that another machine trains more or fewer epochs. The networks are part of the
package (extra `learn`), each {(WEIGHTS / "skynet" / NET).stat().st_size / 1000:.0f} kB with its curve and its
configuration; `infoset match {GAME} skynet simple skynet simple` plays one.

![wins while learning]({PAGE}/curves.png)

The curves cover {steps["navocado"]:.1f} and {steps["skynet"]:.1f} million steps of learning agents. Bands are 95 %
intervals of the games between two points; the games are against stock agents, except those of [`veteran`](#veteran).
`navocado` begins near the end of games that were won, and then earlier and earlier until all games begin on new
boards; until then each point of its curve is of different games. Results against two stock agents at the end:

{stock}

## Table 2 with five rows

Each pair plays at least {least} games (the paper: 1,000; the tables below give the numbers). Each team plays at least
{mirrors} games against itself, which count for both sides, as in the paper. `champion` is an agent of this library,
which the paper does not have. Wins/losses/ties of the row:

{chr(10).join(table_rows(table))}

Compared with the paper's figures, in per cent:

{chr(10).join(beside_rows(table))}

The three searching teams against the two learnt teams: {share(top.wins, top.games)} % wins,
{share(top.losses, top.games)} % losses and {share(top.ties, top.games)} % ties (the paper: 87.1, 2.7 and 10.2 %).
Against `eisenach`, `hakozaki` and `dypm` together win {share(pessimists.wins, pessimists.games)} %, lose
{share(pessimists.losses, pessimists.games)} % and tie {share(pessimists.ties, pessimists.games)} % (the paper: 49.1,
27.1 and 23.8 %). Our `eisenach` has {Eisenach().budget:,} simulated steps for every decision, and may look further
ahead than the original, whose depth was 2 on average.

## champion

{chr(10).join(champion_rows(table))}

Most ties are games of two careful teams on an open board, where neither can trap the other.

## veteran

`veteran` is trained further than the competition's teams were: it begins with the network of `skynet`, and continues
to learn by PPO against both learnt teams, stock agents and its own earlier networks.

```console
{command(VETERAN)}
```

Its results after {grown["states"] / 1e6:.1f} million steps of learning agents; a decision takes less than a
millisecond:

{chr(10).join(against_rows(VETERAN, (*TEAMS, YARDSTICK), table))}
"""


def main() -> None:
    args = parse(Args)
    if args.ship:
        for name in TRAININGS:
            ship(name, args)
    table = play(args)
    picture(args.out / PAGE / "curves.png")
    (args.out / f"{PAGE}.md").write_text(page(table), encoding="utf-8")


if __name__ == "__main__":
    main()
