"""Train a small network to play Pommerman with PPO (Schulman et al. 2017), and see where the time goes.

    pip install "infoset[learn,plot]"
    python examples/pommerman_ppo.py                                                 # OneVsOne-v0, some five minutes
    python examples/pommerman_ppo.py --variant PommeTeamCompetition-v0 --minutes 10  # the learner is agents 0 and 2

On one core, beside other work, four minutes of duels against the stock agent (`--seed 2`, 3.9 million steps):

    time: network forward 23.7 %, opponents 2.3 %, environment step 1.3 %, drawing planes 1.2 %, learning 71.4 %
    1,000 games, learner, likeliest moves: won 91.0 % (89.1 to 92.6), tied 4.0 %, lost 5.0 %
    1,000 games, random moves:             won 1.4 % (0.8 to 2.3), tied 0.6 %, lost 98.0 %

The environment is not the bottleneck: the network is 95 % of the time.  After two minutes of the team game the learners
won 55.0 % (51.9 to 58.1) of 1,000 games and lost 22.3 %; random movers in their seats won 11.1 %.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from infoset.errors import InfosetError, MissingExtraError
from infoset.names import check_choice, check_range
from infoset.pommerman.config import config
from infoset.pommerman.planes import CHANNELS, SCALARS
from infoset.pommerman.simple_vec import SimpleVec
from infoset.pommerman.state import WIN
from infoset.pommerman.vec import PommermanVec, Stepped

try:
    import torch
    from safetensors.torch import save_file
    from torch import Tensor, nn
    from torch.distributions import Categorical
    from torch.nn import functional
except ImportError:
    sys.exit(str(MissingExtraError("examples/pommerman_ppo.py", "learn")))

MOVES = 6
REACH = 3  # the network sees a window of 7 by 7 cells around its agent
# The scale of planes and numbers that go beyond 0 and 1.
LARGE = {"bomb_blast_strength": 1 / 5, "bomb_life": 1 / 10, "bomb_moving_direction": 1 / 4, "flame_life": 1 / 3}
NUMBERS = {"ammo": 1 / 2, "blast_strength": 1 / 4, "can_kick": 1, "step_count": 1 / 800, "alive": 1}
PLANE_SCALE, SCALAR_SCALE = torch.tensor([LARGE.get(name, 1) for name in CHANNELS]), torch.tensor([*NUMBERS.values()])
USED, ALIVE = [SCALARS.index(name) for name in NUMBERS], -1
FEATURES = len(CHANNELS) * (2 * REACH + 1) ** 2 + len(USED)
HIDDEN = 128
STEPS, EPOCHS, MINIBATCH = 64, 3, 1024  # steps of every board an update, times each is learned from, how many at once
RATE, DISCOUNT, TRACE, CLIP, ENTROPY = 1e-3, 0.99, 0.95, 0.2, 0.01
WON, TIED, LOST = range(3)
PAUSE = 10.0  # seconds between two lines of progress


@dataclass(frozen=True)
class Args:
    """Train a small network to play Pommerman. Ctrl-C ends training; evaluation comes after."""

    minutes: float = 4.0
    envs: int = 256  # boards; each takes about 0.4 MB for every learner on it
    variant: str = "OneVsOne-v0"
    opponent: str = "simple"  # the stock agent; or random
    games: int = 1000  # in an evaluation
    seed: int = 1  # gives the same updates again; how many fit into the time is the machine's doing
    out: Path = Path("runs/pommerman_ppo")

    def __post_init__(self) -> None:
        check_choice("opponent", self.opponent, ("simple", "random"))
        check_range("seed", self.seed, 0, 2**62)


def parse() -> Args:
    """The command line: one option for each field of ``Args``."""
    parser = argparse.ArgumentParser(description=Args.__doc__)
    for field in fields(Args):
        parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default, help="%(default)s")
    return Args(**vars(parser.parse_args()))


class Clock:
    """Seconds spent in each part: what passed since one part was done is the next one's."""

    def __init__(self) -> None:
        self.last, self.seconds = time.perf_counter(), {}

    def done(self, part: str) -> None:
        now = time.perf_counter()
        self.seconds[part] = self.seconds.get(part, 0.0) + now - self.last
        self.last = now

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def __str__(self) -> str:
        return ", ".join(f"{part} {100 * seconds / self.total:.1f} %" for part, seconds in self.seconds.items())


class Boards:
    """``B`` boards with the learner in ``S`` seats, one or both of a team, and its opponents in the others."""

    def __init__(self, args: Args, count: int, seed: int) -> None:
        rules = config(args.variant)
        self.batch, self.clock = PommermanVec(count, rules, seed=seed), Clock()
        self.seats = [0, 2] if rules.teams else [0]
        if args.opponent == "simple":
            self.opponents = SimpleVec(self.batch, set(range(rules.num_agents)) - set(self.seats), seed + 1).act
        else:
            random = np.random.default_rng(seed + 1)
            self.opponents = lambda: random.integers(0, MOVES, (count, rules.num_agents), dtype=np.int16)

    def see(self) -> Tensor:
        """(B, S, FEATURES) what the learner's agents see; where a game is over, of the next one already."""
        planes, scalars = self.batch.observe()
        self.clock.done("drawing planes")
        seen = features(torch.from_numpy(planes[:, self.seats]), torch.from_numpy(scalars[:, self.seats]))
        self.clock.done("network forward")
        return seen

    def step(self, moves: NDArray[np.integer]) -> Stepped:
        """One step with the learner's moves (B, S)."""
        joint = self.opponents()
        self.clock.done("opponents")
        joint[:, self.seats] = moves
        stepped = self.batch.step(joint)
        self.clock.done("environment step")
        return stepped

    def outcomes(self, stepped: Stepped) -> NDArray[np.int64]:
        """(B,) how games that are over ended for the learner; the dead of a team win with it."""
        decided = np.where(stepped.rewards[:, self.seats[0]] > 0, WON, LOST)
        return np.where(stepped.result == WIN, decided, TIED)


def features(planes: Tensor, scalars: Tensor) -> Tensor:
    """The planes of the cells around each agent, 0 beyond the board, and five numbers, all of about the size of 1.

    With the agent in the middle "a bomb on my left" is one thing all over the board, and two small layers do.
    """
    boards, seats, _, size, _ = planes.shape
    planes, agents, window = planes.flatten(0, 1), torch.arange(boards * seats), torch.arange(2 * REACH + 1)
    own = planes[:, CHANNELS.index("self")].flatten(1).argmax(1)[:, None, None]  # the dead see a corner
    padded = functional.pad(planes, (REACH,) * 4).permute(0, 2, 3, 1)
    near = padded[agents[:, None, None], own // size + window[:, None], own % size + window] * PLANE_SCALE
    return torch.cat([near.reshape(boards, seats, -1), scalars[..., USED] * SCALAR_SCALE], dim=-1)


class Network(nn.Module):
    """From features to a distribution over moves and the discounted reward to come."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU())
        self.head = nn.Linear(HIDDEN, MOVES + 1)
        with torch.no_grad():
            self.head.weight *= 0.1  # all moves are about as likely at first

    def forward(self, x: Tensor) -> tuple[Categorical, Tensor]:
        out = self.head(self.body(x))
        return Categorical(logits=out[..., :MOVES], validate_args=False), out[..., MOVES]


class Rollout(NamedTuple):
    """What happened in ``T`` steps: (T, B, S), and one more axis for the features."""

    features: Tensor
    move: Tensor
    chance: Tensor  # the logarithm of the move's probability
    value: Tensor
    reward: Tensor
    over: Tensor  # what comes after this step is not the agent's any more

    def advantages(self, after: Tensor) -> Tensor:
        """How much better it went than expected: GAE (Schulman et al. 2016); ``after`` (B, S) values the last view."""
        found, later = torch.empty_like(self.value), torch.zeros_like(after)
        for t in reversed(range(len(found))):
            goes_on = DISCOUNT * ~self.over[t]  # 0 at an end: what is seen then is the next game
            later = self.reward[t] + goes_on * after - self.value[t] + TRACE * goes_on * later
            found[t], after = later, self.value[t]
        return found


class Learner:
    """PPO for the game's own rewards; ``counts`` are won, tied and lost games since they were last cleared."""

    def __init__(self, args: Args) -> None:
        torch.set_num_threads(1)  # the order of sums, and so the learner, does not depend on the machine's cores
        torch.manual_seed(args.seed)
        self.network, self.boards = Network(), Boards(args, args.envs, args.seed)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=RATE, eps=1e-5)
        self.boards.step(np.zeros((args.envs, len(self.boards.seats)), dtype=np.int64))
        self.seen, self.boards.clock = self.boards.see(), Clock()  # by now all kernels are compiled
        self.counts, self.updates, self.steps = np.zeros(3, dtype=np.int64), 0, 0

    def update(self) -> None:
        self.learn(Rollout(*map(torch.stack, zip(*[self.step() for _ in range(STEPS)], strict=True))))
        self.updates += 1
        self.steps += STEPS * len(self.seen)

    @torch.no_grad()
    def step(self) -> Rollout:
        """One step of every board, without the axis T."""
        seen, boards = self.seen, self.boards
        policy, value = self.network(seen)
        move = policy.sample()
        chance = policy.log_prob(move)
        boards.clock.done("network forward")
        stepped = boards.step(move.numpy())
        self.seen = boards.see()
        self.counts += np.bincount(boards.outcomes(stepped)[stepped.done], minlength=3)
        reward = torch.from_numpy(stepped.rewards[:, boards.seats].astype(np.float32))
        over = torch.from_numpy(stepped.done)[:, None].expand_as(reward)
        if not boards.batch.config.teams:  # a free-for-all goes on without the dead, who cannot win; a team's dead can
            over = over | (self.seen[..., ALIVE] == 0)
        return Rollout(seen, move, chance, value, reward, over)

    def learn(self, rollout: Rollout) -> None:
        with torch.no_grad():
            gain = rollout.advantages(self.network(self.seen)[1]).flatten()
        x, move, chance, value, *_ = (field.flatten(0, 2) for field in rollout)
        target, alive = gain + value, x[:, ALIVE]  # the dead choose nothing: only their value is learned
        gain = (gain - (gain * alive).sum() / alive.sum().clamp(min=1)) * alive
        gain /= gain.square().mean().sqrt() + 1e-8
        for _ in range(EPOCHS):
            for k in torch.randperm(len(x)).split(MINIBATCH):
                policy, guess = self.network(x[k])
                ratio = (policy.log_prob(move[k]) - chance[k]).exp()
                chosen = torch.minimum(ratio * gain[k], ratio.clamp(1 - CLIP, 1 + CLIP) * gain[k])
                bonus = ENTROPY * alive[k] * policy.entropy()
                loss = 0.5 * functional.mse_loss(guess, target[k]) - (chosen + bonus).mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), 0.5)
                self.optimizer.step()
        self.boards.clock.done("learning")


class Share(NamedTuple):
    """A share in per cent and its 95 % interval (Wilson)."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, count: int, games: int) -> Share:
        interval = binomtest(int(count), int(games)).proportion_ci(method="wilson")
        return cls(100 * count / games, 100 * interval.low, 100 * interval.high)

    def __str__(self) -> str:
        return f"{self.value:.1f} % ({self.low:.1f} to {self.high:.1f})"


def train(learner: Learner, minutes: float) -> dict[int, Share]:
    """Update until the time is up or Ctrl-C is pressed; steps with the share of games won since the entry before."""
    clock, due, curve = learner.boards.clock, 0.0, {}
    try:
        while clock.total < 60 * minutes:
            learner.update()
            if clock.total >= due and (games := learner.counts.sum()):
                curve[learner.steps] = won = Share.of(learner.counts[WON], games)
                done = f"update {learner.updates}: {learner.steps:,} steps, {learner.steps / clock.total:,.0f} steps/s"
                print(f"{done}, won {won} of {games:,} games; {clock}", flush=True)
                due, learner.counts[:] = clock.total + PAUSE, 0
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    return curve


def evaluate(args: Args, choose: Callable[[Tensor], NDArray[np.integer]]) -> NDArray[np.int64]:
    """Won, tied and lost games, one a board: its first end counts, so that long games count as often as short ones."""
    boards = Boards(args, args.games, args.seed + 2)
    outcome, moves = np.full(args.games, -1), np.zeros((args.games, len(boards.seats)), dtype=np.int64)
    while (running := np.flatnonzero(outcome < 0)).size:
        moves[running] = choose(boards.see()[running])
        stepped = boards.step(moves)
        ended = stepped.done & (outcome < 0)
        outcome[ended] = boards.outcomes(stepped)[ended]
    return np.bincount(outcome, minlength=3)


@torch.no_grad()
def compare(args: Args, network: Network) -> dict[str, NDArray[np.int64]]:
    """The learner, and others who learn nothing, in the same seats of the same boards."""
    random = np.random.default_rng(args.seed)
    choices: dict[str, Callable[[Tensor], NDArray[np.integer]]] = {
        "learner, likeliest moves": lambda x: network(x)[0].logits.argmax(-1).numpy(),
        "learner, moves drawn": lambda x: network(x)[0].sample().numpy(),
        "random moves": lambda x: random.integers(0, MOVES, x.shape[:2]),
        "random moves, no bombs": lambda x: random.integers(0, MOVES - 1, x.shape[:2]),
    }
    results = {name: evaluate(args, choose) for name, choose in choices.items()}
    for name, counts in results.items():
        shares = [f"{word} {Share.of(k, args.games)}" for word, k in zip(("won", "tied", "lost"), counts, strict=True)]
        print(f"{args.games:,} games, {name}: {', '.join(shares)}")
    return results


def picture(curve: dict[int, Share], results: dict[str, NDArray[np.int64]], file: Path) -> None:
    """The learning curve beside the evaluations; none without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(8, 4), dpi=110, layout="constrained")
    axes, millions = figure.subplots(), [steps / 1e6 for steps in curve]
    won, low, high = np.array(list(curve.values())).reshape(-1, 3).T
    axes.fill_between(millions, low, high, color="#1f5fa8", alpha=0.2, lw=0)
    axes.plot(millions, won, color="#1f5fa8", lw=2, label="learner, while it learns (band: 95 %)")
    for (name, counts), style in zip(results.items(), ("-", "--", ":", "-."), strict=True):
        axes.axhline(100 * counts[WON] / counts.sum(), color="black", lw=0.8, ls=style, label=f"evaluated: {name}")
    axes.set(xlabel="million steps of a board", ylabel="% of games won", ylim=(0, 100))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(file)


def main() -> None:
    args = parse()
    args.out.mkdir(parents=True, exist_ok=True)
    learner = Learner(args)
    curve = train(learner, args.minutes)
    print(f"{learner.boards.clock.total:.0f} s: {learner.boards.clock}")
    about = {name: str(value) for name, value in asdict(args).items()}
    save_file(learner.network.state_dict(), args.out / "policy.safetensors", about)
    picture(curve, compare(args, learner.network), args.out / "curve.png")


if __name__ == "__main__":
    try:
        main()
    except (InfosetError, OSError) as error:
        sys.exit(str(error))
