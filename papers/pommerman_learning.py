"""Check what Resnick et al. (2018), "Pommerman: a multi-agent playground", say about learning to play it.

    python papers/pommerman_learning.py                      # an hour; rewrites docs/papers/pommerman-learning.md
    python papers/pommerman_learning.py --seconds 10 --games 40 --out /tmp/page

Every training is a run folder below ``--runs``, and a second call continues from there.  Read from top to
bottom: what is trained, how, the figures, the picture, the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from options import parse

import infoset
from infoset.statistics import Share
from infoset_pommerman.config import config
from infoset_pommerman.features import FeatureExtractor
from infoset_pommerman.learn.measuring import Measured, measure
from infoset_pommerman.learn.net import load_move_net

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PAGE = "pommerman-learning"
FFA, TEAM = "PommeFFACompetition-v0", "PommeTeamCompetition-v0"
WORDS = {FFA: "free-for-all", TEAM: "team"}
STAGES = (0.1, 0.3, 1.0)  # of a training, at which its network is measured
SMALL = {
    "ppo": {"boards": 8, "steps": 16},
    "a2c": {"boards": 8},
    "dqn": {"boards": 8},
}
SHAPED = 1.0
PLAIN = "ppo-free-for-all-large-plain"  # the trainings that differ in their starts
SIMPLE_SHARE = 19.6  # % of free-for-alls among four that one SimpleAgent wins (papers/pommerman.py)


class Training(NamedTuple):
    """A row of the table: its labels, and the options of ``infoset.train``."""

    method: str
    variant: str
    batch: str
    reward: str
    curriculum: str
    given: dict[str, Any]

    @property
    def folder(self) -> str:
        return "-".join([self.method, WORDS[self.variant], self.batch, self.reward, self.curriculum])


def trainings() -> Iterator[Training]:
    """Yield all trainings in the order of the table."""
    yield Training("dagger", FFA, "large", "none", "dealt", {"expert": "simple"})
    for method in ("ppo", "dqn", "a2c"):
        for variant in (FFA, TEAM):
            for batch in ("small", "large") if method != "a2c" else ("large",):
                for reward in ("plain", "shaped") if method != "a2c" else ("shaped",):
                    given = dict(SMALL[method]) if batch == "small" else {}
                    yield Training(
                        method, variant, batch, reward, "dealt", given | {"shaped": SHAPED * (reward == "shaped")}
                    )
    for curriculum in ("uniform", "backplay"):
        yield Training("ppo", FFA, "large", "plain", curriculum, {"starts": curriculum, "lessons": 60})


class Row(NamedTuple):
    """A training, and the measured play of its network at each stage."""

    training: Training
    steps: int
    stages: list[Measured]


@dataclass(frozen=True)
class Args:
    """Write the page on learning in Pommerman."""

    out: Path = Path(__file__).resolve().parents[1] / "docs" / "papers"
    """Folder for the page, with its picture in a folder beside it."""
    runs: Path = Path("runs") / "pommerman_learning"
    """Folder of the trainings."""
    seconds: float = 80.0
    """Seconds of each training."""
    games: int = 300
    """Games of each measurement."""
    seed: int = 1


def row_of(args: Args, training: Training) -> Row:
    """Continue the training as far as necessary; measurements are stored in the run's folder."""
    out, name, stages = args.runs / training.folder, f"pommerman:{training.variant}", []
    sight = FeatureExtractor(name, config(training.variant))
    for stage in STAGES:
        note = out / f"measured-{stage}.json"
        if not note.exists():
            seconds = stage * args.seconds
            if (out / "config.json").exists():
                infoset.train(out=out, resume=True, seconds=seconds)
            else:
                infoset.train(name, method=training.method, seed=args.seed, seconds=seconds, out=out, **training.given)
            net = load_move_net(out, sight)
            note.write_text(json.dumps(asdict(measure(net, sight, "simple", args.games, args.seed))), encoding="utf-8")
        told = json.loads(note.read_text(encoding="utf-8"))
        shares = {key: Share(**told.pop(key)) for key in ("won", "tied", "lost")}
        stages.append(Measured(**shares, **told))
    steps = json.loads((out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])["states"]
    print(f"{training.folder}: {steps:,} steps, won {stages[-1].won}", flush=True)
    return Row(training, steps, stages)


def table(rows: list[Row]) -> str:
    """Return the table with a row for each training."""
    lines = [
        "| method | game | batch | reward | starts | agent steps | won (95 %) | tied, % | lost, % | bombs | steps |",
        "|---|---|---|---|---|---:|---|---:|---:|---:|---:|",
    ]
    for row in rows:
        t, last = row.training, row.stages[-1]
        lines.append(
            f"| {t.method} | {WORDS[t.variant]} | {t.batch} | {t.reward} | {t.curriculum} | {row.steps:,} | "
            f"{last.won} | {100 * last.tied.value:.1f} | {100 * last.lost.value:.1f} | {last.bombs:.1f} | "
            f"{last.steps:.0f} |"
        )
    return "\n".join(lines)


def bombs(rows: list[Row], args: Args) -> str:
    """Return the table of the number of bombs per game during training."""
    head = " | ".join(f"after {stage * args.seconds:g} s" for stage in STAGES)
    lines = [f"| training | {head} |", "|---|" + "---:|" * len(STAGES)]
    for row in rows:
        t = row.training
        cells = " | ".join(f"{m.bombs:.1f} ({100 * m.won.value:.0f} %)" for m in row.stages)
        lines.append(f"| {t.method}, {WORDS[t.variant]}, {t.batch}, {t.reward}, {t.curriculum} | {cells} |")
    return "\n".join(lines)


def picture(rows: list[Row], args: Args, path: Path) -> None:
    """Draw wins and bombs against seconds, a line for each training and a panel for each game."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 6), dpi=110, layout="constrained", sharex=True)
    seconds = [stage * args.seconds for stage in STAGES]
    for column, variant in enumerate((FFA, TEAM)):
        mine = [row for row in rows if row.training.variant == variant]
        for k, row in enumerate(mine):
            t, color = row.training, plt.get_cmap("tab20")(k)
            label = " ".join([t.method, *(word for word in (t.batch, t.reward, t.curriculum) if word != "dealt")])
            axes[0, column].plot(seconds, [100 * m.won.value for m in row.stages], "o-", ms=3, color=color, label=label)
            axes[1, column].plot(seconds, [m.bombs for m in row.stages], "o-", ms=3, color=color)
        axes[0, column].set(title=WORDS[variant], ylim=(0, 100), ylabel="% of games won")
        axes[1, column].set(xlabel="seconds of training", ylabel="bombs an agent lays a game")
        axes[0, column].legend(frameon=False, fontsize=7)
    axes[0, 0].axhline(SIMPLE_SHARE, color="black", lw=0.8, ls="--")
    axes[0, 0].annotate("a SimpleAgent's share", (seconds[-1], SIMPLE_SHARE), ha="right", va="bottom", fontsize=7)
    for each in axes.flat:
        each.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def finding(rows: list[Row], method: str, variant: str) -> str:
    """Describe the results of one method in one game, by batch and reward."""
    told = [
        f"{row.training.batch} and {row.training.reward} {row.stages[-1].won}"
        for row in rows
        if (row.training.method, row.training.variant, row.training.curriculum) == (method, variant, "dealt")
    ]
    return f"- *{method}, {WORDS[variant]}* (batch and reward): " + "; ".join(told) + "."


def page(rows: list[Row], args: Args) -> str:
    """Return the page in Markdown."""
    dagger = rows[0].stages[-1].won
    curriculum = {row.training.curriculum: row.stages[-1].won for row in rows if row.training.folder.startswith(PLAIN)}
    found = "\n".join(finding(rows, m, v) for m in ("ppo", "dqn", "a2c") for v in (FFA, TEAM))
    return f"""# Pommerman: what can be learnt

This page repeats the learning experiments of Cinjon Resnick, Wes Eldridge, David Ha, Denny Britz, Jakob Foerster,
Julian Togelius, Kyunghyun Cho, Joan Bruna, *Pommerman: A Multi-Agent Playground*, 2018, "Early results". The shortest
command: `python papers/pommerman_learning.py` trains all agents and writes the page with its numbers and picture.

Each training takes {args.seconds:g} seconds (on a machine of two cores with other work), with seed {args.seed}. Each
measurement is {args.games} games against SimpleAgents in all other seats, with the learner in each seat in turn.

## What the paper claims

- DAgger reaches the free-for-all win rate of the SimpleAgent that it imitates, about 20 %.
- Neither DQN nor PPO learns to play against SimpleAgents without a shaped reward and a very large batch, since laying
  bombs is highly correlated with losing.

## What we find

- *dagger, free-for-all*: {dagger}; a SimpleAgent among three others wins {SIMPLE_SHARE} %.
{found}
- *Starts*, PPO in the free-for-all with a large batch and a plain reward: new boards {curriculum["dealt"]}, Backplay
  {curriculum["backplay"]}, uniform starts {curriculum["uniform"]}.

So learning needs the large batch here, but not a shaped reward. Apart from DAgger nearly all trainings end with less
than one bomb per game (last table): the agents win by outliving the others, the local optimum in which bombs are
feared. Backplay wins more than new boards do in the same time, and lays no more bombs.

The learners differ from the paper's in their input. The networks here see the cells around their agent, when each of
them will burn, and how much room each move leaves ([Agents that learn](../pommerman.md#agents-that-learn)), not the
raw planes of the board; so they need not learn when a bomb is dangerous. A small batch is {SMALL["ppo"]["boards"]}
boards and {SMALL["ppo"]["steps"]} steps for PPO, a large one 256 and 64; for DQN it is 8 and 256 boards. Each
training was run with one seed, so that differences of a few points between two trainings mean nothing.

![wins and bombs](pommerman-learning/curves.png)

{table(rows)}

## The fear of bombs

The number of bombs that an agent lays per game during training, and in brackets the share of games that it wins. A
row is named by method, game, batch, reward and starts:

{bombs(rows, args)}
"""


def main() -> None:
    args = parse(Args)
    rows = [row_of(args, training) for training in trainings()]
    (args.out / PAGE).mkdir(parents=True, exist_ok=True)
    picture(rows, args, args.out / PAGE / "curves.png")
    (args.out / f"{PAGE}.md").write_text(page(rows, args), encoding="utf-8")


if __name__ == "__main__":
    main()
