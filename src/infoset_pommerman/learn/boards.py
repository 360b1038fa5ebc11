"""Many boards, with a learner in some seats of each and its rivals in the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from infoset.errors import ParameterError
from infoset.match.agents import load_agent
from infoset_pommerman import state as st
from infoset_pommerman.config import PREFIX, Config
from infoset_pommerman.features import BatchFeatureExtractor, FeatureExtractor, Features, Safe
from infoset_pommerman.game import Pommerman
from infoset_pommerman.learn.curriculum import Lessons
from infoset_pommerman.learn.net import MoveNet, learnt_net
from infoset_pommerman.observation import observe
from infoset_pommerman.simple_vec import SimpleVec
from infoset_pommerman.state import MOVES
from infoset_pommerman.vec import PommermanVec

SELF = "self"
WON, TIED, LOST = range(3)
SNAPSHOTS = 6  # number of past versions of the learner kept as rivals
FALLEN, FOUND = 0.5, 0.1  # rewards for a death on the other side and for an item; a won game: 1

Moves = npt.NDArray[np.int16]


class Seen(NamedTuple):
    """Observations of the learner's agents on ``B`` boards, in ``S`` seats each."""

    features: Features
    """(B, S, F)"""
    safe: Safe
    """(B, S, 6)"""
    alive: npt.NDArray[np.bool_]
    """(B, S)"""


class Stepped(NamedTuple):
    """Results of a step for the learner's agents."""

    reward: npt.NDArray[np.float32]
    """(B, S) the game's own rewards, -1, 0 or 1, and the shaped ones."""
    over: npt.NDArray[np.bool_]
    """(B, S) whether the next step no longer belongs to the agent's game."""
    outcome: npt.NDArray[np.int64]
    """(G,) WON, TIED or LOST for the games that ended against the first rival."""
    done: npt.NDArray[np.bool_]
    """(B,) boards on which a new game began."""


class Boards:
    """``count`` boards; for each game one of the ``opponents`` is drawn and takes all seats but the learner's.

    An opponent is an agent's name (``simple``, ``random``, or any other, asked board by board) or ``self``: past
    versions of the learner.  The first is the one that the learning curve is measured against.  Raises
    ``ParameterError`` where there is none.
    """

    def __init__(
        self, sight: FeatureExtractor, count: int, opponents: Sequence[str], seed: int, threads: int = 1
    ) -> None:
        rules = sight.rules
        if not opponents or opponents[0] == SELF:
            raise ParameterError("rivals: the first is whom the curve is against: an agent's name, as in simple,self")
        self.rules, self.seed, self.steps = rules, seed, 0
        self.batch = PommermanVec(count, rules, seed=seed, threads=threads)
        self.everyone = np.tile(np.arange(rules.num_agents), (count, 1))
        side = np.arange(count)[:, None] % (2 if rules.teams or rules.num_agents == 2 else rules.num_agents)
        self.seats = side + np.array([[0, 2]]) if rules.teams else side  # (B, S)
        self.own = (self.everyone[:, :, None] == self.seats[:, None, :]).any(-1)  # (B, A)
        self.sight, self.sights = sight, BatchFeatureExtractor(self.batch)
        self.opponents: list[Any] = [opponent_of(self, name, seed + 1 + k) for k, name in enumerate(opponents)]
        self.opponent = np.random.default_rng([seed, 0]).integers(len(opponents), size=count)  # (B,)
        self.lessons: Lessons | None = None
        self.share = 0.0  # share of the lessons that has passed
        self.look()

    def teach(self, kind: str) -> None:
        """Start games at positions of recorded games as long as ``share`` is less than 1."""
        self.lessons = Lessons(self.rules, kind, self.seed + 2000)
        every = np.ones(len(self.seats), dtype=np.bool_)
        self.lessons.begin(self.batch.rows, self.seats, every, 0.0, np.random.default_rng([self.seed, 1, 1]))
        self.look()

    def look(self) -> Seen:
        """Return the present observations of the learner's agents.

        Those of all seats are computed where a network is among the rivals.
        """
        learnt = any(isinstance(opponent, Past | Learnt) for opponent in self.opponents)
        self.sights.look(self.everyone if learnt else self.seats)
        rows = np.arange(len(self.seats))[:, None]
        alive = self.batch.rows[:, st.AGENTS + st.ALIVE : st.MESSAGES : st.AGENT_FIELDS][rows, self.seats] != 0
        self.seen = Seen(self.sights.features[rows, self.seats], self.sights.safe[rows, self.seats], alive)
        return self.seen

    def step(self, moves: npt.NDArray[np.integer], reward_shaping: float = 0.0) -> Stepped:
        """Play one step with the learner's moves (B, S); add the shaped gains, times ``reward_shaping``."""
        joint = np.zeros(self.own.shape, dtype=np.int16)
        for k, opponent in enumerate(self.opponents):
            opponent.act(
                ~self.own & (self.opponent == k)[:, None], joint, np.random.default_rng([self.seed, self.steps, k])
            )
        rows = np.arange(len(self.seats))[:, None]
        joint[rows, self.seats] = moves
        before = self._standing() if reward_shaping else None
        stepped = self.batch.step(joint)
        done, reward = stepped.done, stepped.rewards[rows, self.seats].astype(np.float32)
        if before is not None:
            reward += reward_shaping * (before.gain(self._standing(), self.seats, self.rules) * ~done[:, None])
        against_first = done & (self.opponent == 0)
        decided = np.where(stepped.rewards[np.arange(len(done)), self.seats[:, 0]] > 0, WON, LOST)
        outcome = np.where(stepped.result == st.WIN, decided, TIED)[against_first]
        self.steps += 1
        draw = np.random.default_rng([self.seed, self.steps])
        self.opponent[done] = draw.integers(len(self.opponents), size=len(done))[done]
        for opponent in self.opponents:
            opponent.begin(done, draw)
        if self.lessons and self.share < 1.0:
            self.lessons.begin(self.batch.rows, self.seats, done, self.share, draw)
        over = np.broadcast_to(done[:, None], reward.shape)
        seen = self.look()
        if not self.rules.teams:  # a dead agent cannot win a free-for-all, but its team can win
            over = over | ~seen.alive
        return Stepped(reward, over, outcome, done)

    def _standing(self) -> Standing:
        return Standing.of(self.batch.rows, self.rules)

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything on which later steps depend, by name; see ``PommermanVec.arrays``."""
        found = {f"batch.{name}": array for name, array in self.batch.arrays.items()}
        for k, opponent in enumerate(self.opponents):
            found |= {f"rival{k}.{name}": array for name, array in opponent.arrays.items()}
        return found | {"rival": self.opponent}


class Standing(NamedTuple):
    """Who is alive and the number of items that everybody has found: (B, A) each."""

    alive: npt.NDArray[np.int64]
    found: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: st.Row, rules: Config) -> Standing:
        agents = rows[:, st.AGENTS : st.MESSAGES].reshape(len(rows), -1, st.AGENT_FIELDS)[:, : rules.num_agents]
        bombs = rows[:, st.BOMBS : st.BOARD].reshape(len(rows), -1, st.BOMB_FIELDS)
        lies = np.arange(bombs.shape[1]) < rows[:, st.NUM_BOMBS, None]
        own = (bombs[:, None, :, st.OWNER] == np.arange(rules.num_agents)[:, None]) & lies[:, None]
        found = agents[..., st.AMMO] + own.sum(-1) + agents[..., st.BLAST] + agents[..., st.CAN_KICK]
        return cls((agents[..., st.ALIVE] != 0).astype(np.int64), found)

    def gain(self, after: Standing, seats: npt.NDArray[np.int64], rules: Config) -> npt.NDArray[np.float32]:
        """Return (B, S) the shaped gain of each agent in the seats from this standing to ``after``.

        Items that it found, and deaths on the other side less those on its own, weighted by ``FOUND`` and ``FALLEN``.
        """
        rows = np.arange(len(seats))[:, None]
        fell = self.alive - after.alive  # (B, A)
        if rules.teams:
            side = np.stack([fell[:, 0::2].sum(1), fell[:, 1::2].sum(1)], axis=1)
            ended = side[rows, 1 - seats % 2] - side[rows, seats % 2]
        else:
            ended = fell.sum(1, keepdims=True) - 2 * fell[rows, seats]
        items = np.clip(after.found - self.found, 0, 1)[rows, seats] * after.alive[rows, seats]
        return np.asarray(FALLEN * ended + FOUND * items, dtype=np.float32)


# ---------------------------------------------------------------------------------------------------------------------
# Rivals
# ---------------------------------------------------------------------------------------------------------------------


def opponent_of(boards: Boards, name: str, seed: int) -> Any:
    """Return the rival of that name on the boards.

    Raises ``UnknownNameError`` for an unknown name, ``PolicyError`` for a network of another game.
    """
    if name == SELF:
        return Past(boards.sights)
    if name == "simple":
        return Stock(boards.batch, seed)
    if name == "random":
        return Random()
    net = learnt_net(name, boards.sight)
    return Learnt(boards.sights, net) if net else Named(boards.batch, name, seed)


class Stock:
    """The stock agent, compiled."""

    def __init__(self, batch: PommermanVec, seed: int) -> None:
        self.agents = SimpleVec(batch, seed=seed)
        self.arrays = self.agents.arrays

    def begin(self, done: npt.NDArray[np.bool_], rng: np.random.Generator) -> None:
        """Forget the games on the boards that are ``done``."""
        self.agents.forget(done)

    def act(self, where: npt.NDArray[np.bool_], moves: Moves, rng: np.random.Generator) -> None:
        """Write its ``moves`` (B, A) in the seats ``where`` (B, A) it plays."""
        np.copyto(moves, self.agents.act(), where=where)


class Random:
    """Uniformly random moves."""

    def __init__(self) -> None:
        self.arrays: dict[str, npt.NDArray[Any]] = {}

    def begin(self, done: npt.NDArray[np.bool_], rng: np.random.Generator) -> None:
        """Do nothing: no state is kept."""

    def act(self, where: npt.NDArray[np.bool_], moves: Moves, rng: np.random.Generator) -> None:
        np.copyto(moves, rng.integers(0, MOVES, moves.shape, dtype=np.int16), where=where)


class Learnt:
    """A network that no longer learns, evaluated on all boards at once."""

    def __init__(self, sights: BatchFeatureExtractor, net: MoveNet) -> None:
        self.sights, self.net = sights, net
        self.arrays: dict[str, npt.NDArray[Any]] = {}

    def begin(self, done: npt.NDArray[np.bool_], rng: np.random.Generator) -> None:
        """Do nothing: no state is kept."""

    def act(self, where: npt.NDArray[np.bool_], moves: Moves, rng: np.random.Generator) -> None:
        play_net(self.net, self.sights, where, moves, rng.random(moves.shape))


class Past:
    """Snapshots of the learner; for each game one of them is drawn."""

    def __init__(self, sights: BatchFeatureExtractor) -> None:
        self.sights, self.nets = sights, list[MoveNet]()
        count = len(sights.features)
        self.which = np.zeros(count, dtype=np.int64)
        self.count = np.zeros(1, dtype=np.int64)  # snapshots taken so far
        self.weights: dict[str, npt.NDArray[Any]] = {}

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"which": self.which, "count": self.count, **self.weights}

    def remember(self, net: MoveNet) -> None:
        """Take a snapshot; the oldest is overwritten where there are more than ``SNAPSHOTS``."""
        if not self.nets:
            for name, tensor in net.state_dict().items():
                self.weights[name] = np.zeros((SNAPSHOTS, *tensor.shape), dtype=tensor.numpy().dtype)
        place = int(self.count[0]) % SNAPSHOTS
        for name, tensor in net.state_dict().items():
            self.weights[name][place] = tensor.numpy()
        self.count += 1
        self.rebuild(net)

    def rebuild(self, net: MoveNet) -> None:
        """Make the networks from the arrays."""
        self.nets = []
        for k in range(min(int(self.count[0]), SNAPSHOTS)):
            made = MoveNet(net.head.in_features)
            made.load_state_dict({name: torch.from_numpy(np.asarray(array[k])) for name, array in self.weights.items()})
            self.nets.append(made)

    def begin(self, done: npt.NDArray[np.bool_], rng: np.random.Generator) -> None:
        drawn = rng.integers(max(len(self.nets), 1), size=len(done))
        self.which[done] = drawn[done]

    def act(self, where: npt.NDArray[np.bool_], moves: Moves, rng: np.random.Generator) -> None:
        luck = rng.random(moves.shape)
        for k, net in enumerate(self.nets):
            play_net(net, self.sights, where & (self.which == k)[:, None], moves, luck)


class Named:
    """Any agents by name, one for each seat, asked one after the other.

    Their memories are lost when a run is resumed.
    """

    def __init__(self, batch: PommermanVec, name: str, seed: int) -> None:
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self.batch, self.seed = batch, seed
        self.game = Pommerman(f"{PREFIX}{batch.config.game_type.name}", batch.config)
        shape = batch.num_envs, batch.config.num_agents
        self.agents = [[load_agent(name) for _ in range(shape[1])] for _ in range(shape[0])]
        self.last = np.zeros(shape, dtype=np.int64)
        self.fresh = np.ones(shape, dtype=np.bool_)

    def begin(self, done: npt.NDArray[np.bool_], rng: np.random.Generator) -> None:
        self.fresh[done] = True

    def act(self, where: npt.NDArray[np.bool_], moves: Moves, rng: np.random.Generator) -> None:
        alive = self.batch.rows[:, st.AGENTS + st.ALIVE : st.MESSAGES : st.AGENT_FIELDS] != 0
        for b, k in np.argwhere(where & alive[:, : moves.shape[1]]).tolist():
            agent, row = self.agents[b][k], self.batch.rows[b]
            own = None if self.fresh[b, k] else int(self.last[b, k])
            if own is None:
                agent.begin(self.game, k, np.random.default_rng([self.seed, b, k, int(rng.integers(2**31))]), None)
                self.fresh[b, k] = False
            agent.observe(own, observe(row, self.batch.config, k))
            move: Any = agent.act(self.game.actions, None)
            self.last[b, k] = moves[b, k] = move[0] if isinstance(move, tuple) else move


@torch.no_grad()
def play_net(
    net: MoveNet,
    sights: BatchFeatureExtractor,
    where: npt.NDArray[np.bool_],
    moves: Moves,
    luck: npt.NDArray[np.float64],
) -> None:
    """Write a network's ``moves`` in the seats ``where`` it plays.

    ``luck`` are the random numbers from which they are drawn; all (B, A).
    """
    if where.any():
        logits = net.chosen(torch.from_numpy(sights.features[where]), torch.from_numpy(sights.safe[where]))
        moves[where] = drawn_actions(logits, luck[where])


@torch.no_grad()
def drawn_actions(logits: torch.Tensor, luck: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Draw (K,) moves by their probabilities, from logits (K, 6) and random numbers (K,) from 0 to 1."""
    below = torch.softmax(logits, -1).cumsum(-1).numpy()
    return np.asarray(np.minimum((below < luck[..., None]).sum(-1), MOVES - 1), dtype=np.int64)
