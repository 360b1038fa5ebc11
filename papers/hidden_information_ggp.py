"""Play the games of Partridge & Thielscher (2022), "Hidden information general game playing with deep learning and
search", and compare our figures with the published ones.

    python papers/hidden_information_ggp.py                   # hours; rewrites docs/papers/hidden-information-ggp.md
    python papers/hidden_information_ggp.py --seconds 60 --training 60 --searched 100 --games 2000 --kept runs/quick

Trainings and finished rows are stored in a folder; a second call continues from there.

Read from top to bottom: what was published, who plays, the games, the pictures, the page.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product, repeat
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import matplotlib
import msgspec
import numpy as np
from options import parse

from infoset import load
from infoset.base import FloatArray
from infoset.files import replace_file
from infoset.gdl.game import GdlGame
from infoset.gdl.rules import GdlState
from infoset.learn.learner import Epoch
from infoset.learn.net import save_net
from infoset.learn.self_play import Training
from infoset.learn.train import TrainingConfig, TrainingFolder, train
from infoset.match.agents import PolicyAgent, load_agent
from infoset.match.series import play_series
from infoset.policies.public_policy import PublicPlay
from infoset.policies.sampled_policy import QuotientPolicy
from infoset.search.agent import SearchAgent
from infoset.search.belief import BeliefTracker
from infoset.search.state_values import informed_values
from infoset.search.subgame_solver import STOPPING, Effort, SubgameSolver, induced_policy
from infoset.solvers.metrics import evaluate_plan as evaluate
from infoset.solvers.sampling.belief_response import BeliefResponse
from infoset.solvers.tabular.public_subgames import evaluate_public
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import explore
from infoset.tree.sequence_form import SequenceForm
from infoset.warm_up import ready

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

PAGE = "hidden-information-ggp"
PAPER_GAMES = 100
VALUES = (31, 32, 41, 42, 43, 51, 52, 53, 54, 61, 62, 63, 64, 65, 11, 22, 33, 44, 55, 66, 21)
"""What two dice can show in Meier, from the lowest to the highest."""


class Played(NamedTuple):
    """A game of the paper: its name here, its handcrafted player, and the published scores."""

    title: str
    game: str
    handcrafted: str
    seats: tuple[str, str]
    published: dict[tuple[str, int], tuple[float, float]]
    """By row and seat, against random and the handcrafted player."""


TRAINED, UNTRAINED, RANDOM = "paper's CFR + trained net", "paper's CFR only", "random"
SOUND, WITH_NET, NO_NET = "`search`, sound", "a policy per world, net", "a policy per world, no net"
SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Shares of a training after which its network is stored."""
GAMES = (
    Played(
        "Meier", "gdl:meier", "meier", ("player 1", "player 2"),
        {(TRAINED, 0): (97, 81), (TRAINED, 1): (80, 41), (UNTRAINED, 0): (83, 64), (UNTRAINED, 1): (80, 40),
         (RANDOM, 0): (33, 21), (RANDOM, 1): (72, 35)},
    ),
    Played(
        "Blind Tic-Tac-Toe", "gdl:blind_tic_tac_toe", "blind_tic_tac_toe", ("x", "o"),
        {(TRAINED, 0): (79.5, 48), (TRAINED, 1): (79.5, 55), (UNTRAINED, 0): (54, 25), (UNTRAINED, 1): (60, 20),
         (RANDOM, 0): (48, 23.5), (RANDOM, 1): (52, 21.5)},
    ),
    Played(
        "Very Biased Blind Tic-Tac-Toe", "gdl:blind_tic_tac_toe_x_wins", "blind_tic_tac_toe", ("x", "o"),
        {(TRAINED, 0): (90.5, 80), (TRAINED, 1): (49, 44.5), (UNTRAINED, 0): (84, 40.5), (UNTRAINED, 1): (36, 14.5),
         (RANDOM, 0): (80.5, 35), (RANDOM, 1): (18, 11)},
    ),
)  # fmt: skip
"""In the biased game, the mean of the paper's two seeds."""


@dataclass(frozen=True)
class Args:
    """Write the page on playing any hidden-information game."""

    out: Path = Path(__file__).resolve().parents[1] / "docs" / "papers"
    """Folder for the page, with its pictures in a folder beside it."""
    seconds: float = 600.0
    """Start clock of the sound players, in seconds."""
    training: float = 600.0
    """Seconds of training for each network; the paper took a day."""
    answer: float = 240.0
    """Start clock of the exploiting players, in seconds."""
    games: int = 20_000
    """Games of each pair without search."""
    searched: int = 1_000
    """Games of each pair with a player that searches at every move."""
    action: float = 0.1
    """Seconds for a move of searching players; """
    kept: Path = Path(__file__).resolve().parents[1] / "runs" / "hidden-information-ggp"
    """Folder of trainings and finished rows."""
    workers: int = 2
    """Processes, one for each game."""
    seed: int = 1


# ---------------------------------------------------------------------------------------------------------------------
# The players and their games
# ---------------------------------------------------------------------------------------------------------------------


class Player(NamedTuple):
    """A row of the tables: an agent's name, and its number of games."""

    title: str
    agent: str
    games: int


def players(played: Played, args: Args) -> list[Player]:
    def searching(method: str, action: float, steps: int = 0) -> str:
        ahead = f", steps={steps}" if steps else ""
        return f"search(method={method}, seconds_per_move={action}, seconds={args.answer}{ahead})"

    def trained(method: str, steps: int = 0, stopping: str = "average") -> str:
        return with_net(folder_of(played, args), args, method, steps, stopping)

    answering = f"exploit={played.handcrafted}, seconds={args.answer}"
    return [
        Player(RANDOM, "random", args.games),
        Player("handcrafted", played.handcrafted, args.games),
        Player(NO_NET, searching("per-world", args.action, 1), args.searched),
        Player(WITH_NET, trained("per-world", 1), args.searched),
        Player("… stopping at random", trained("per-world", 1, "random"), args.searched),
        Player("… as deep as it gets", trained("per-world"), args.searched),
        Player("order-2 search, net", trained("order-2"), args.searched),
        Player(SOUND, f"search(seconds={args.seconds}, seed={args.seed})", args.games),
        Player("`search(exploit=random)`", f"search(exploit=random, seconds={args.answer})", args.games),
        Player("`search(exploit=handcrafted)`", f"search({answering})", args.games),
    ]


def folder_of(played: Played, args: Args, seed: int | None = None) -> Path:
    """Return the folder of a training of the game."""
    return args.kept / f"{played.game.removeprefix('gdl:')}-net-{seed or args.seed}"


def with_net(path: Path, args: Args, method: str = "per-world", steps: int = 1, stopping: str = "average") -> str:
    """Name an agent that plays with a trained network, by default as the paper's system."""
    return f"trained(path={path}, method={method}, steps={steps}, stopping={stopping}, seconds_per_move={args.action})"


def snapshot(path: Path, args: Args, share: float) -> Path:
    """Return the path of the network after a share of its training."""
    return path / f"{share * args.training:g}s.safetensors"


def train_net(path: Path, game: str, seed: int, args: Args) -> None:
    """Train for the configured time, with snapshots; an interrupted training is continued."""
    saved = None
    if (path / "config.json").exists():
        folder, config, saved = TrainingFolder.open(path)
    else:
        config = TrainingConfig(game, Training(seed=seed))
        folder = TrainingFolder.create(path, config)
    if not saved or saved["seconds"] < args.training:
        work = config.learner()

        before = float(saved["seconds"]) if saved else 0.0

        def note(point: Epoch) -> None:
            nonlocal before
            for share in SHARES:
                if before < share * args.training <= point.seconds:
                    save_net(work.finished, work.encoding, snapshot(path, args, share))
            before = point.seconds

        train(folder, work, saved, args.training, progress=note)
    folder.close()


class Score(NamedTuple):
    """The mean of a number of games, and half the width of its 95 % interval."""

    mean: float
    interval: float
    games: int

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.interval:.1f}"


class Row(NamedTuple):
    """The scores of one player in one seat."""

    player: Player
    seat: int
    scores: tuple[Score, Score]
    plan: str
    held_to: float | None
    """Its exact score against a best response; ``None`` where its policy is not a table."""


def play(played: Played, player: Player, args: Args) -> list[Row]:
    """Play both seats of a player against both opponents."""
    game, rows = load(played.game), []
    agent = load_agent(player.agent)
    for seat in range(2):
        scores = []
        for opponent in ("random", played.handcrafted):
            seated = [agent, load_agent(opponent)]
            series = play_series(game, seated[::-1] if seat else seated, games=player.games, seed=args.seed)
            found = series.agents[seat]
            assert not any(found.faults.values()), found.faults
            assert found.mean is not None
            assert found.interval is not None
            scores.append(Score(found.mean, found.interval, player.games))
        plan, left = "", None
        if isinstance(agent, SearchAgent):
            plan, left = agent.plan, held_to(agent, seat)
        rows.append(Row(player, seat, (scores[0], scores[1]), plan, left))
        print(f"{played.title:32s} {player.title:32s} {played.seats[seat]:9s} {scores[0]!s:12s} {scores[1]!s:12s} "
              f"{'' if left is None else f'{left:.2f}'}  {plan}", flush=True)  # fmt: skip
    return rows


def learning(played: Played, args: Args) -> list[Player]:
    """List the snapshots of the paper's system during training."""
    path = folder_of(played, args)
    return [
        Player(f"after {share * args.training:g} s", with_net(snapshot(path, args, share), args), args.searched // 2)
        for share in SHARES
    ]


def play_all(played: Played, args: Args) -> list[Row]:
    """Return the rows of all players of one game; stored rows are not played again."""
    train_net(folder_of(played, args), played.game, args.seed, args)
    rows = []
    for player in [*players(played, args), *learning(played, args)]:
        name = re.sub(r"\W+", "-", player.title).strip("-")
        kept = args.kept / f"{played.game.removeprefix('gdl:')}-{name}.json"
        found = msgspec.json.decode(kept.read_bytes(), type=list[Row]) if kept.exists() else []
        if not found or found[0].player != player:
            found = play(played, player, args)
            replace_file(kept, lambda file, found=found: file.write(msgspec.json.encode(found)))  # type: ignore[misc]
        rows += found
    return rows


def held_to(agent: SearchAgent, seat: int) -> float | None:
    """Return the agent's score against a best response; the scores of a game sum to 100."""
    plays = agent.inner.policy if isinstance(agent.inner, PolicyAgent) else None
    if isinstance(plays, PublicPlay):
        return 100 - evaluate_public(plays.policy, plays.graph).best_response_values[1 - seat]
    if isinstance(plays, QuotientPolicy):
        response = BeliefResponse(plays.walk, plays.policy, 1 - seat)
        while not response.step():
            pass
        return 100 - response.values[0]
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Two trainings against each other (the paper's Table 3)
# ---------------------------------------------------------------------------------------------------------------------

SEEDS = 2
BETWEEN_SEEDS = {(0, 0): 66, (0, 1): 75.5, (1, 0): 74, (1, 1): 73}
"""The paper's scores of x of one seed against o of another."""
HALF_WAY = {0: 100, 1: 23}
"""The paper's scores of x of each seed against the handcrafted player, half-way through the training."""


def train_seed(seed: int, args: Args) -> Path:
    """Train a network for the biased game with a seed of its own."""
    path = folder_of(GAMES[-1], args, seed)
    train_net(path, GAMES[-1].game, seed, args)
    return path


def games_of(path: Path) -> int:
    """Return the number of games that a training played."""
    folder, _, _ = TrainingFolder.open(path)
    games = folder.points()[-1].games
    folder.close()
    return games


class Duel(NamedTuple):
    """An x against an o: titles for the table, the agents, and the published score."""

    titles: tuple[str, str]
    agents: tuple[str, str]
    published: float | None


def duels(paths: list[Path], args: Args) -> list[Duel]:
    found = []
    for x, path in enumerate(paths):
        mine, half = with_net(path, args), with_net(snapshot(path, args, 0.5), args)
        for o, other in enumerate(paths):
            found.append(Duel((f"seed {x + 1}", f"seed {o + 1}"), (mine, with_net(other, args)), BETWEEN_SEEDS[x, o]))
        found.append(Duel((f"seed {x + 1}, half-way", "handcrafted"), (half, GAMES[-1].handcrafted), HALF_WAY[x]))
        found.append(Duel((f"seed {x + 1}, half-way", f"seed {x + 1}"), (half, mine), 54.5 if x == 0 else None))
    return found


def fight(duel: Duel, args: Args) -> str:
    """Return a row of the table of duels."""

    def play_duel() -> str:
        seated = [load_agent(agent) for agent in duel.agents]
        x = play_series(load(GAMES[-1].game), seated, games=args.searched, seed=args.seed).agents[0]
        published = "" if duel.published is None else f"{duel.published:g}"
        return f"| {duel.titles[0]} | {duel.titles[1]} | {published} | {x.mean:.1f} ± {x.interval:.1f} |"

    return kept_line(" against ".join(duel.titles), args, play_duel)


# ---------------------------------------------------------------------------------------------------------------------
# What the paper's parts gain: stopping at random (2.3), a cache of transitions (3.1)
# ---------------------------------------------------------------------------------------------------------------------

STOPPED = ("kuhn_poker", "leduc_poker", "liars_dice(dice_sides=4)")
CACHED = (("gdl:blind_tic_tac_toe", 2), ("gdl:blind_tic_tac_toe_x_wins", 2))
"""Games, and how many steps ahead."""
CFR_ITERATIONS = 20


def stopping_line(name: str) -> str:
    """Return a row with the exploitability of each kind of search on one game."""
    graph = explore(load(name))
    tree = GameTree.unroll(graph)
    form, worth, found = SequenceForm.of(tree), informed_values(graph).__getitem__, []
    for root in ("per-world", "order-2"):
        for stopping in STOPPING:
            solver = SubgameSolver(BeliefTracker(graph), worth, root, Effort(stopping=stopping))
            found.append(evaluate(form, induced_policy(solver, tree, form)).exploitability)
    return f"| {name} | {' | '.join(f'{value:.4f}' for value in found)} |"


def cfr(state: GdlState, steps: int, regrets: dict[tuple[GdlState, int], FloatArray]) -> FloatArray:
    """Run one iteration of CFR in a world that all players know, as the paper searches; return all players' values."""
    if state.terminal or not steps:
        return np.array(state.returns(), dtype=float)
    n = len(state.returns())
    action_sets = [state.legal_actions(player) for player in range(n)]
    mine = [regrets.setdefault((state, p), np.zeros(len(action_set))) for p, action_set in enumerate(action_sets)]
    positive = [np.maximum(regret, 0.0) for regret in mine]
    played = [p / p.sum() if p.sum() > 0 else np.full(len(p), 1 / len(p)) for p in positive]
    worth, value = [np.zeros(len(action_set)) for action_set in action_sets], np.zeros(n)
    for places in product(*map(range, map(len, action_sets))):
        actions = tuple(action_set[k] for action_set, k in zip(action_sets, places, strict=True))
        after = state.rules.transitions(state.key, actions)
        behind = sum(o.probability * cfr(o.step.state, steps - 1, regrets) for o in after)
        probabilities = np.array([row[k] for row, k in zip(played, places, strict=True)])
        value += probabilities.prod() * behind
        for p, k in enumerate(places):
            worth[p][k] += np.delete(probabilities, p).prod() * behind[p]
    for player in range(n):
        mine[player] += worth[player] - value[player]
    return value


def cache_line(name: str, steps: int) -> str:
    """Return a row with the times of one search by the rules, with the paper's cache, and on enumerated positions."""
    ready("search")
    game, graph = load(name), explore(load(name))
    assert isinstance(game, GdlGame)
    solver = SubgameSolver(
        BeliefTracker(graph),
        informed_values(graph).__getitem__,
        "per-world",
        Effort(iterations=CFR_ITERATIONS, steps=steps),
    )
    rules, cached, spent = game.rules, game.rules.transitions, []
    cfr(game.start().state, steps, {})  # what the rules keep of moves and ends is there in both
    cached.cache_clear()  # type: ignore[attr-defined]
    try:
        for rules.transitions in (cached.__wrapped__, cached):  # type: ignore[attr-defined]
            began, regrets = time.monotonic(), {}
            for _ in range(CFR_ITERATIONS):
                cfr(game.start().state, steps, regrets)
            spent.append(time.monotonic() - began)
    finally:
        rules.transitions = cached
    began = time.monotonic()
    assert solver.strategy_at(0, 0)
    spent.append(time.monotonic() - began)
    info = game.cache_info()
    return (
        f"| {name} | {steps} | {info.hits + info.misses:,} | {info.misses:,} | {spent[0]:.2f} s | {spent[1]:.2f} s | "
        f"{spent[0] / spent[1]:.1f} | {spent[2]:.3f} s |"
    )


def kept_line(name: str, args: Args, make: Callable[[], str]) -> str:
    """Return a stored row of a table, or make and store it."""
    kept = args.kept / f"{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}.txt"
    if not kept.exists():
        line = make()
        replace_file(kept, lambda file: file.write(line.encode()))
    print(kept.read_text(encoding="utf-8"), flush=True)
    return kept.read_text(encoding="utf-8")


# ---------------------------------------------------------------------------------------------------------------------
# The pictures
# ---------------------------------------------------------------------------------------------------------------------

OURS, THEIRS, BOUND = "#1f5fa8", "#d9822b", "#999999"


def picture_scores(played: Played, rows: list[Row], file: Path) -> None:
    """Draw all players' scores with the paper's above them; dotted: a best response."""
    figure, panels = plt.subplots(2, 2, figsize=(11, 6.4), dpi=110, sharex=True, layout="constrained")
    for seat in range(2):
        for column, opponent in enumerate(("random", "handcrafted")):
            axes: Axes = panels[seat, column]
            ours = [row for row in rows if row.seat == seat]
            for y, row in enumerate(ours):
                score = row.scores[column]
                axes.errorbar(score.mean, y, xerr=score.interval, fmt="o", color=OURS, ms=6)
            for title in (UNTRAINED, TRAINED):
                value = played.published[title, seat][column]
                wide = 196 * (value / 100 * (1 - value / 100) / PAPER_GAMES) ** 0.5
                y = len(ours) + (title == TRAINED)
                axes.errorbar(value, y, xerr=wide, fmt="D", color=THEIRS, ms=6, mfc="white")
            best = next(row.scores[column].mean for row in ours if f"exploit={opponent}" in row.player.title)
            axes.axvline(best, color=BOUND, lw=1, ls=":")
            titles = [*[row.player.title.replace("`", "") for row in ours], UNTRAINED, TRAINED]
            axes.set_yticks(range(len(titles)), titles, fontsize=8)
            axes.set_xlim(0, 100)
            axes.set_title(f"{played.seats[seat]} against {opponent}", loc="left", fontsize=10)
            axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[1]:
        axes.set_xlabel("mean score, of 100; bars: 95 %")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)
    plt.close(figure)


def picture_learning(played: Played, rows: list[Row], args: Args, file: Path) -> None:
    """Draw the scores of the paper's system during training; dashed: the published score after a day."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 3.8), dpi=110, sharey=True, layout="constrained")
    titles = [player.title for player in learning(played, args)] + [WITH_NET]
    seconds = [share * args.training for share in (*SHARES, 1.0)]
    for seat, axes in enumerate(panels):
        for column, (opponent, color) in enumerate((("random", OURS), ("handcrafted", THEIRS))):
            scores = [next(r for r in rows if r.seat == seat and r.player.title == t).scores[column] for t in titles]
            axes.errorbar(
                seconds, [s.mean for s in scores], [s.interval for s in scores], fmt="o-", color=color, ms=5,
                label=f"against {opponent}",
            )  # fmt: skip
            axes.axhline(played.published[TRAINED, seat][column], color=color, lw=1, ls="--")
        axes.set_xscale("log")
        axes.set_xticks(seconds, [f"{s:g}" for s in seconds])
        axes.minorticks_off()
        axes.set_ylim(0, 100)
        axes.set_xlabel("seconds of training")
        axes.set_title(played.seats[seat], loc="left", fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("mean score, of 100; bars: 95 %")
    panels[0].legend(frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)
    plt.close(figure)


def picture_meier(agent: SearchAgent, file: Path) -> None:
    """Draw the first claims of the sound player, and how often it calls a first claim."""
    assert isinstance(agent.inner, PolicyAgent)
    assert isinstance(agent.inner.policy, PublicPlay)
    first, second = agent.inner.policy.policy.pieces[0].tables[:2]
    claims = np.zeros((len(VALUES), len(VALUES)))
    for key, probabilities in first.items():
        roll = int(key.rsplit("dice,", 1)[1].split(")")[0])
        for word, chance in probabilities.items():
            claims[VALUES.index(roll), VALUES.index(int(word[len("(claim,") : -1]))] = chance
    calls = np.zeros(len(VALUES))
    calls[-1] = 1.0  # nothing beats 21: it has to be called
    for key, probabilities in second.items():
        calls[VALUES.index(int(key.rsplit("claim,", 1)[1].split(")")[0]))] = probabilities["you_bluff"]
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 5), dpi=110, layout="constrained", gridspec_kw={"width_ratios": [1.25, 1]}
    )
    image = left.imshow(claims, cmap="Blues", vmin=0, vmax=1)
    figure.colorbar(image, ax=left, label="chance", shrink=0.8)
    left.plot([-0.5, 20.5], [-0.5, 20.5], color="#d9822b", lw=1)
    for axis in (left.set_xticks, left.set_yticks):
        axis(range(len(VALUES)), [str(v) for v in VALUES], fontsize=7)
    left.set_xlabel("claimed (above the line: a bluff)")
    left.set_ylabel("rolled")
    left.set_title("What player 1 claims first", loc="left", fontsize=11)
    right.bar(range(len(VALUES)), calls, color=OURS)
    right.set_xticks(range(len(VALUES)), [str(v) for v in VALUES], fontsize=7)
    right.set_xlabel("claimed")
    right.set_ylabel("chance of calling it a bluff")
    right.set_title("When player 2 calls", loc="left", fontsize=11)
    right.spines[["top", "right"]].set_visible(False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)
    plt.close(figure)


# ---------------------------------------------------------------------------------------------------------------------
# The page
# ---------------------------------------------------------------------------------------------------------------------


def table(played: Played, rows: list[Row]) -> list[str]:
    lines = [
        "| player | seat | against random | against handcrafted | games each | against a best response |",
        "|---|---|---|---|---|---|",
    ]
    for title in (TRAINED, UNTRAINED, RANDOM):
        for seat, name in enumerate(played.seats):
            random, handcrafted = played.published[title, seat]
            said = title if title != RANDOM else "paper's random"
            lines.append(f"| *{said}* | {name} | *{random:g}* | *{handcrafted:g}* | {PAPER_GAMES} | |")
    for row in rows:
        left = "" if row.held_to is None else f"{row.held_to:.2f}"
        lines.append(
            f"| {row.player.title} | {played.seats[row.seat]} | {row.scores[0]} | {row.scores[1]} | "
            f"{row.scores[0].games:,} | {left} |"
        )
    return lines


def above_ceiling(played: Played, rows: list[Row]) -> list[str]:
    """List the trained system's published scores above those of an equilibrium, with those of best responses."""
    lines = []
    for (title, seat), published in played.published.items():
        if title != TRAINED:
            continue
        for column, opponent in enumerate(("random", "handcrafted")):
            sound = next(r for r in rows if r.seat == seat and r.player.title == SOUND).scores[column]
            answer = next(r for r in rows if r.seat == seat and f"exploit={opponent}" in r.player.title).scores[column]
            if published[column] > sound.mean + sound.interval:
                lines.append(
                    f"- {played.title}, {played.seats[seat]} against {opponent}: published {published[column]:g}, "
                    f"an equilibrium scores {sound}, a best response {answer}."
                )
    return lines


def main() -> None:
    args = parse(Args)
    folder, sections, above = args.out / PAGE, [], []
    with ProcessPoolExecutor(args.workers, get_context("spawn")) as pool:
        results = list(pool.map(play_all, GAMES[::-1], [args] * len(GAMES)))[::-1]
        paths = list(pool.map(train_seed, range(args.seed, args.seed + SEEDS), [args] * SEEDS))
        lines = list(pool.map(fight, duels(paths, args), repeat(args)))
    stopped = [kept_line(f"stopping {name}", args, partial(stopping_line, name)) for name in STOPPED]
    cached = [kept_line(f"cache {name}", args, partial(cache_line, name, steps)) for name, steps in CACHED]
    for played, found in zip(GAMES, results, strict=True):
        on_the_way = {player.title for player in learning(played, args)}
        rows = [row for row in found if row.player.title not in on_the_way]
        name = f"{played.game.removeprefix('gdl:')}.png"
        picture_scores(played, rows, folder / name)
        picture_learning(played, found, args, folder / f"learning_{name}")
        sections += [
            f"\n## {played.title}\n",
            *table(played, rows),
            f"\n![Scores of every player]({PAGE}/{name})",
            f"\n![Scores of the net's snapshots]({PAGE}/learning_{name})",
        ]
        above += above_ceiling(played, rows)
        plans = {row.player.title: row.plan for row in rows if row.held_to is not None}
        sections += ["", *[f"- {title}: {plan}" for title, plan in plans.items()]]
    sound = load_agent(next(player.agent for player in players(GAMES[0], args) if player.title == SOUND))
    assert isinstance(sound, SearchAgent)
    sound.begin(load(GAMES[0].game), 0, np.random.default_rng(0), None)
    picture_meier(sound, folder / "meier_strategy.png")
    page = PAGE_TEXT.format(
        seconds=args.seconds, answer=args.answer, action=args.action, training=args.training,
        above="\n".join(above) or "None.", sections="\n".join(sections), seeds="\n".join(lines),
        searched=args.searched, learnt=" and ".join(f"{games_of(path):,}" for path in paths),
        stopped="\n".join(stopped), cached="\n".join(cached), iterations=CFR_ITERATIONS,
    )  # fmt: skip
    (args.out / f"{PAGE}.md").write_text(page, encoding="utf-8")


PAGE_TEXT = """# Playing any hidden-information game

This page repeats the experiments of Zachary Partridge and Michael Thielscher, *Hidden information general game
playing with deep learning and search*, PRICAI 2022, with agents of this library. The shortest command: `python
papers/hidden_information_ggp.py` (hours) plays all games and writes this page.

The paper plays games described in GDL-II. It samples states that are consistent with a player's observations,
searches each of them with CFR, and values leaves by a network trained by self-play for a day. Here agents of three
kinds play the paper's games against its opponents:

- *sound*: an equilibrium of the whole game, computed within a start clock of {seconds:g} s. The last column of the
  tables is its score against a best response to its policy, computed exactly: no opponent can leave it less.
- *exploiting*: a best response to a declared opponent ({answer:g} s). It scores most against that opponent, and may
  lose everything against another.
- *searching*, with {move:g} s a move: either a policy for each sampled world, averaged, as in the paper; or one
  subgame over all worlds that some player considers possible ([order-2](../glossary.md#second-order-root)). With a
  network, trained by self-play for {training:g} s; without one, states at the horizon have the values of play with
  open cards.

*A policy per world, net* is the paper's own system, looking one step ahead. The paper does not say how far it looked
(as deep as its clock allowed); one step comes closest to its figures. Where it looks as deep as the clock allows, the
same network scores three to five points more in Meier as player 1. Against the handcrafted player it then scores ten
points less in Blind Tic-Tac-Toe as x and the same as o, and seven and twenty-one points less in the biased game.

A sound agent never exploits, and an exploiting one makes no attempt to be sound. In the biased game no reading of the
rules that was tried gives the paper's scores of random play (80.5 and 18): where every contested cell goes to x, as
the paper's text says and as here, random x scores 64 against random o. The other rows of that table may come from
another game as well.

Scores are mean returns from 0 to 100 with 95 % intervals. The paper's are means of {PAPER_GAMES} games, which
determine a score to about ± 9. Rules that the paper leaves open are those of the [game files](../gdl.md).

## Published scores above those of an equilibrium

{above}

Scores against a fixed opponent say little about the quality of an agent: during training they go up and down by ten
points and more (see the pictures below), most of all those of o in the biased game.

A score above that of the equilibrium is not better play: it comes from assuming a weak opponent. The exploiting agents
show how much this can gain. Where their best response is learnt from sampled games, as in both Blind Tic-Tac-Toe games,
it comes close to the bound (82.7 and 91.2 for x against random).

## What an equilibrium claims in Meier

![The equilibrium's first claims by roll, and how often each is called]({PAGE}/meier_strategy.png)
{sections}

## Two trainings of the biased game against each other

The paper's Table 3: x of one training seed against o of another, and x from half-way through its training. Ours are two
trainings of {training:g} s ({learnt} games of self-play), with {searched:,} games in each row.

| x | o | published | x scores |
|---|---|---|---|
{seeds}

## What random stopping gains

The paper (section 2.3) stops CFR after a random number of iterations, as ReBeL does, so that an opponent who knows the
algorithm cannot predict the policy. On average opponents then face the unweighted mean of all iterates, where otherwise
the average gives late iterates more weight. The scores of both are in the tables above. Their exploitability is below:
it is exact, with the search run at every information set, and with open cards at the horizon.

| game | per world, average | per world, random | order-2, average | order-2, random |
|---|---|---|---|---|
{stopped}

Random stopping gains almost nothing: these searches lose by their roots, which cause strategy fusion or reveal private
information.

## What a cache of transitions gains

The paper (section 3.1) reports up to ten times the speed. The table has the time of {iterations} iterations of CFR in
the first world of a game: by the rules, by the rules with a cache of transitions, and on positions that were
enumerated before the first move, as in this library.

| game | steps | transitions | distinct | by the rules | cached | times as fast | enumerated |
|---|---|---|---|---|---|---|---|
{cached}
""".replace("{PAGE}", PAGE).replace("{PAPER_GAMES}", str(PAPER_GAMES))

if __name__ == "__main__":
    main()
