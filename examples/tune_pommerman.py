"""Find parameters of a Pommerman agent that searches: Optuna proposes, games against a pool of agents score.

Every trial plays the same boards, each in both seatings, against every agent of the pool; the first one plays the
defaults.  The study is a SQLite file: the same command goes on with it.  The best of many noisy scores looks better
than it is, so what was found plays the pool once more, beside the defaults, on boards that no trial has seen.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

from infoset.errors import CheckpointError, InfosetError, MissingExtraError, ParameterError
from infoset.match.agents import AGENTS, load_agent
from infoset.match.match import play_match
from infoset.names import Name, check_choice, check_range
from infoset.statistics import Mean
from infoset_pommerman.config import GameType, config
from infoset_pommerman.game import Pommerman

try:
    import optuna
    from sqlalchemy.pool import NullPool
except ImportError:
    sys.exit(str(MissingExtraError("examples/tune_pommerman.py", "tune")))

Point = dict[str, int | float]
"""Parameters by name."""
SPACES: dict[str, dict[str, tuple[float, float]]] = {
    "dypm": {
        "level": (0, 6),
        "length": (8, 16),
        "threshold": (0.2, 1.0),
        "floor": (0.01, 0.3),
        "mate_floor": (0.2, 0.9),
        "bomb_gain": (0.02, 0.4),
        "memory": (0, 12),
        "goal_weight": (0.05, 2.0),
    },
    "champion": {
        "threshold": (0.2, 1.0),
        "floor": (0.001, 0.2),
        "mate_floor": (0.2, 0.9),
        "bomb_gain": (0.005, 0.4),
        "memory": (0, 12),
        "room_weight": (0.3, 3.0),
        "block_risk": (1.0, 12.0),
        "bomb_risk": (0.3, 6.0),
        "threat": (0.1, 4.0),
        "ambush": (0.0, 1.0),
        "late": (0.0, 3.0),
        "tired": (0.0, 1.0),
        "goal_weight": (0.05, 2.0),
        "chase": (0.3, 6.0),
    },
}
"""The parameters that are tuned and their ranges; whole numbers where the default is one."""
WIDE = 10  # ranges of so many times their lower end are searched by their logarithm
FRESH = 10**6  # the first board that no trial plays


@dataclass(frozen=True)
class Args:
    """Tune a Pommerman agent. Ctrl-C ends the search; what was found is judged all the same."""

    agent: str = "dypm"
    pool: str = "dypm simple"  # whom it meets
    variant: str = "PommeTeamCompetition-v0"
    boards: int = 10  # of a trial; each makes two games with every agent of the pool
    minutes: float = 10.0
    confirm: int = 30  # boards of the last comparison
    seed: int = 1
    out: Path = Path("runs/tune_pommerman")

    def __post_init__(self) -> None:
        check_choice("agent", self.agent, tuple(SPACES))
        check_range("boards", self.boards, 1, FRESH)
        check_range("confirm", self.confirm, 2, FRESH)
        check_range("seed", self.seed, 0, 2**31)
        if config(self.variant).game_type == GameType.FFA:
            raise ParameterError(f"variant={self.variant} has no two sides; allowed: those of teams and OneVsOne-v0")
        if not self.pool.split():
            raise ParameterError("pool is empty; name agents, with spaces between them")
        for name in self.pool.split():
            load_agent(name)


def parse() -> Args:
    """The command line: one option for each field of ``Args``."""
    parser = argparse.ArgumentParser(description=Args.__doc__)
    for field in fields(Args):
        parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default, help="%(default)s")
    return Args(**vars(parser.parse_args()))


def defaults(agent: str) -> Point:
    """Of the parameters that are tuned, in a game of teams."""
    parameters: Any = AGENTS[agent]()
    filled = parameters.for_game(config(Args.variant))
    return {name: getattr(filled, name) for name in SPACES[agent]}


def propose(trial: optuna.Trial, agent: str) -> Point:
    """A point of the agent's space."""
    point: Point = {}
    for name, default in defaults(agent).items():
        low, high = SPACES[agent][name]
        if isinstance(default, int):
            point[name] = trial.suggest_int(name, int(low), int(high))
        else:
            point[name] = trial.suggest_float(name, low, high, log=low > 0 and high >= WIDE * low)
    return point


def named(agent: str, point: Point) -> str:
    """The agent by name, numbers as they are read in tables."""
    rounded = [(name, float(f"{v:.3g}") if isinstance(v, float) else v) for name, v in point.items()]
    return str(Name(agent, tuple(rounded)))


def scores(name: str, args: Args, boards: range) -> Iterator[float]:
    """For each board the share of points in all its games: 1 for a win, half of it for a tie."""
    rules, pool = config(args.variant), args.pool.split()
    for board in boards:
        points = 0.0
        for other, own in product(pool, (0, 1)):
            seats = [name if player % 2 == own else other for player in range(rules.num_agents)]
            seed = args.seed * 2 * FRESH + board
            returns = play_match(Pommerman(args.variant, rules, seed=seed), seats, seed=seed).returns
            points += 0.5 * (1 + (returns[own] > returns[1 - own]) - (returns[own] < returns[1 - own]))
        yield points / (2 * len(pool))


def mean(values: list[float]) -> Mean:
    return Mean.of(len(values), sum(values), sum(value * value for value in values))


def open_study(args: Args) -> optuna.Study:
    """A new one, or that of the same question.  Raises ``CheckpointError`` where the file holds another's."""
    args.out.mkdir(parents=True, exist_ok=True)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    file = args.out / "study.db"
    try:
        # Connections that are pooled would be left open at the end.
        storage = optuna.storages.RDBStorage(f"sqlite:///{file}", engine_kwargs={"poolclass": NullPool})
        study = optuna.create_study(storage=storage, study_name="tune", direction="maximize", load_if_exists=True)
    except Exception as error:  # whatever the database's layers raise
        raise CheckpointError(f"{file} is no study: {type(error).__name__}") from None
    asked = {name: getattr(args, name) for name in ("agent", "pool", "variant", "boards", "seed")}
    if not study.user_attrs:
        for name, value in asked.items():
            study.set_user_attr(name, value)
        study.enqueue_trial(defaults(args.agent))
    for name, value in asked.items():
        if study.user_attrs.get(name) != value:
            raise CheckpointError(f"{file}: {name}={study.user_attrs.get(name)}, not {value}; choose another --out")
    study.sampler = optuna.samplers.TPESampler(seed=args.seed + len(study.trials), multivariate=True)
    return study


def objective(args: Args) -> Callable[[optuna.Trial], float]:
    def run(trial: optuna.Trial) -> float:
        begin, name = time.perf_counter(), named(args.agent, propose(trial, args.agent))
        found = mean(list(scores(name, args, range(args.boards))))
        trial.set_user_attr("margin", found.margin)
        print(f"trial {trial.number}: {found}, {name}, {time.perf_counter() - begin:.0f} s", flush=True)
        return float(found.value or 0.0)

    return run


def confirm(args: Args, point: Point) -> Mean:
    """How many points more than the defaults on fresh boards; those of one board are compared with each other."""
    fresh = range(FRESH, FRESH + args.confirm)
    tuned, plain = named(args.agent, point), named(args.agent, defaults(args.agent))
    pairs = list(zip(scores(tuned, args, fresh), scores(plain, args, fresh), strict=True))
    games = 2 * len(args.pool.split()) * args.confirm
    print(f"{games} games each on fresh boards: {mean([a for a, _ in pairs])}, defaults {mean([b for _, b in pairs])}")
    return mean([a - b for a, b in pairs])


def picture(study: optuna.Study, file: Path) -> None:
    """Scores of the trials and the best so far; none without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    trials = study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
    values, numbers = [trial.value for trial in trials], [trial.number for trial in trials]
    best = [max(values[: k + 1]) for k in range(len(values))]
    figure = Figure(figsize=(8, 4), dpi=110, layout="constrained")
    axes = figure.subplots()
    margins = [trial.user_attrs.get("margin") or 0.0 for trial in trials]
    axes.errorbar(numbers, values, margins, fmt="o", ms=3, lw=0.8, color="#1f5fa8", label="trials (bars: 95 %)")
    axes.step(numbers, best, where="post", color="#1f5fa8", lw=2, label="best so far")
    if numbers[0] == 0:
        axes.axhline(values[0], color="black", lw=0.8, ls="--", label="defaults")
    axes.set(xlabel="trial", ylabel="share of points")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(file)


def main() -> None:
    args = parse()
    study = open_study(args)
    try:
        study.optimize(objective(args), timeout=60 * args.minutes)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    if not study.get_trials(states=[optuna.trial.TrialState.COMPLETE]):
        return
    picture(study, args.out / "curve.png")
    best = study.best_trial
    name = named(args.agent, best.params)
    print(f"best of {len(study.trials)} trials, number {best.number}: {best.value:.4g}, {name}", flush=True)
    gain = confirm(args, best.params)
    supported = gain.value is not None and gain.margin is not None and gain.value > gain.margin
    print(f"gain over the defaults {gain}: {'supported' if supported else 'not supported'} by the fresh boards")


if __name__ == "__main__":
    try:
        main()
    except (InfosetError, OSError) as error:
        sys.exit(str(error))
