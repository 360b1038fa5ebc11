"""How strong agents are against each other and against OpenSpiel's searching bots, all with the same time for a move.

    python benchmarks/rivals.py --table openspiel                        # search v OpenSpiel's bots, 1 s a move
    python benchmarks/rivals.py --table hidden --games 200               # games with hidden information, .3 or 1 s
    python benchmarks/rivals.py --table trained --games 200              # ten minutes of training v none, .1 s
    python benchmarks/rivals.py --table random floors --seconds-per-move .3 --games 100 --agent uct
    python benchmarks/rivals.py --row hex search openspiel:mcts --row gdl:pursuit search random
    python benchmarks/rivals.py --table curve --picture curve.png        # .1, .3, 1 and 3 s a move for three games
    python benchmarks/rivals.py --table floors --games 400 --within 5    # a row ends when its interval is that small

A row is a game, an agent, a rival and the seconds of a move; an agent, a rival are a name for ``infoset.load_agent``,
``openspiel:mcts``, ``openspiel:ismcts`` (the most visited move) or ``openspiel:ismcts-mixed`` (in proportion to visits).
The seats alternate.  The table says what share of the points the agent took: of the goals in described games, else a
win is 1 and a draw a half; beside it stand its payoff and how long both really thought where there was a choice.

Every game that was played stands in the file ``--out``, a line of JSON each; called again the script goes on from there.

OpenSpiel's bots play OpenSpiel's own game, which follows ours step by step: that both offer the same moves, end at the
same time and pay the same is checked at every step.  The bots keep the clock themselves (``max_wall_clock_time``).
ISMCTSBot needs to draw the states that a player thinks possible, which OpenSpiel can in leduc_poker alone;
``openspiel_ismcts.cc`` gives the same bot a sampler for the other games, and needs a C++ compiler.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import infoset
from infoset.base import Action, Agent, Game, Observation, State
from infoset.errors import InfosetError, ParameterError
from infoset.gdl.game import GdlGame
from infoset.gdl.library import PREFIX, library
from infoset.match.agents import load_agent
from infoset.match.match import MAX_STEPS, Round, Table
from infoset.match.series import game_seed
from infoset.statistics import Mean, Share

HERE = Path(__file__).resolve().parent
FILES = HERE.parents[1] / "shared" / "games" / "gdl"
OPENSPIEL = "openspiel:"
LATE = 1.1
"""A move that took so many times its seconds, and 10 ms, is counted as late."""
UCT_C = 2.0
MEMORY_MIB = 1000


# ---------------------------------------------------------------------------------------------------------------------
# The same game here and in OpenSpiel
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """A game by its name here and in OpenSpiel."""

    ours: str
    theirs: str
    word: Callable[[Action], str] | None = None
    """What OpenSpiel calls a move of ours; ``None`` where both list the same moves in the same order."""
    together: bool = False
    """Whether both players move at once, which OpenSpiel's bots do one after the other, unseen."""


def dropped(action: Action) -> str:
    """Connect four: ``(drop 3)`` is ``2``, counted from 0; whose disc it is is left out."""
    return str(int(action[1]) - 1)  # type: ignore[index, arg-type]


def moved(action: Action) -> str:
    """Breakthrough: ``(action 1 2 2 3)`` is ``a7b6``: rows are counted from the other side; ``*`` for a capture is left out."""
    x, y, u, v = map(int, action[1:])  # type: ignore[index]
    return f"{'abcdefgh'[x - 1]}{9 - y}{'abcdefgh'[u - 1]}{9 - v}"


def placed(action: Action) -> str:
    """Hex: ``(place 1 2)`` is ``a2``."""
    x, y = map(int, action[1:])  # type: ignore[index]
    return f"{'abcde'[x - 1]}{y}"


def marked(action: Action) -> str:
    """Tic-tac-toe: ``(mark 1 2)`` is ``(0,1)``; whose mark it is is left out."""
    m, n = map(int, action[1:])  # type: ignore[index]
    return f"({m - 1},{n - 1})"


GOOFSPIEL = "imp_info=True,num_cards=6,points_order=descending"
DARK_HEX = "dark_hex(board_size=3,num_cols=3,num_rows=3)"
PAIRS = {
    "connect_four": Pair("gdl:connect_four", "connect_four", dropped),
    "breakthrough": Pair("gdl:breakthrough", "breakthrough", moved),
    "hex": Pair("gdl:hex", "hex(board_size=5)", placed),
    "phantom_ttt": Pair("openspiel:phantom_ttt", "phantom_ttt"),
    "phantom_tic_tac_toe": Pair("phantom_tic_tac_toe", "phantom_ttt"),
    "latent_tic_tac_toe": Pair("gdl:latent_tic_tac_toe", "phantom_ttt(obstype=reveal-numturns)", marked),
    "dark_hex": Pair("gdl:dark_hex", DARK_HEX, placed),
    "liars_dice": Pair("liars_dice", "liars_dice"),
    "goofspiel": Pair(
        f"goofspiel({GOOFSPIEL.replace('True', 'true')})", f"turn_based_simultaneous_game(game=goofspiel({GOOFSPIEL}))",
        together=True,
    ),
    "leduc_poker": Pair("leduc_poker", "leduc_poker"),
}  # fmt: skip


class Shadow:
    """OpenSpiel's state of a game that is played here, step for step.

    Raises ``AssertionError`` where the two are not the same game.
    """

    def __init__(self, pair: Pair) -> None:
        import pyspiel

        self.pair = pair
        self.game: Any = pyspiel.load_game(pair.theirs)
        self.spiel: Any = self.game.new_initial_state()

    def begin(self, state: State) -> None:
        """A game begins in ``state``."""
        self.spiel = self.game.new_initial_state()
        self.check(state)

    def follow(
        self, before: State, actions: Sequence[Action | None], chance_outcome: Action | None, after: State
    ) -> None:
        """A step was played."""
        movers = range(len(actions)) if self.pair.together else [self.spiel.current_player()]
        for player in movers:
            if player >= 0 and (action := actions[player]) is not None:
                self.spiel.apply_action(self.numbers(self.spiel, player, before.legal_actions(player))[action])
        if chance_outcome is not None:
            answers = [answer for answer, _ in before.chance_outcomes(actions)]
            self.spiel.apply_action(self.spiel.chance_outcomes()[answers.index(chance_outcome)][0])
        while self.spiel.is_chance_node() and len(outcomes := self.spiel.chance_outcomes()) == 1:
            self.spiel.apply_action(outcomes[0][0])
        self.check(after)

    def numbers(self, spiel: Any, player: int, legal_actions: Sequence[Action]) -> dict[Action, int]:
        """OpenSpiel's number of each of our moves."""
        theirs = spiel.legal_actions(player)
        word = self.pair.word
        if word is None:
            assert len(legal_actions) == len(theirs), f"{legal_actions} here, {theirs} there"
            return dict(zip(legal_actions, theirs, strict=True))
        names = {self.plain(spiel.action_to_string(player, number)): number for number in theirs}
        ours = {word(action): action for action in legal_actions}
        assert ours.keys() == names.keys(), f"{sorted(ours)} here, {sorted(names)} there"
        return {action: names[name] for name, action in ours.items()}

    def plain(self, name: str) -> str:
        """OpenSpiel's name of a move without the player or the mark of a capture, which ours does not have."""
        return name.lstrip("xo").rstrip("*")

    def at_turn_of(self, player: int) -> Any:
        """The state in which the bot decides; where both move at once it does not hold the other's move yet."""
        spiel = self.spiel
        while spiel.current_player() != player:
            spiel = spiel.child(spiel.legal_actions()[0])  # any, which it does not see
        return spiel.clone()

    def check(self, state: State) -> None:
        """Whether it is over here and there, what is paid, whether the same moves are on offer."""
        spiel = self.spiel
        assert state.terminal == spiel.is_terminal(), f"over here: {state.terminal}, there: {spiel.is_terminal()}"
        if state.terminal:
            found = state.returns()
            paid = [value / 50 - 1 for value in found] if self.pair.ours.startswith(PREFIX) else found
            assert np.allclose(paid, spiel.returns()), f"{found} here, {spiel.returns()} there"
        elif not spiel.is_chance_node():
            mover = spiel.current_player()
            self.numbers(spiel, mover, state.legal_actions(mover))
            others = [p for p in range(spiel.num_players()) if p != mover and not self.pair.together]
            assert all(len(state.legal_actions(p)) <= 1 for p in others), f"more players than {mover} have a choice"


# ---------------------------------------------------------------------------------------------------------------------
# OpenSpiel's bots as agents
# ---------------------------------------------------------------------------------------------------------------------

Think = Callable[[Any], int]
"""From OpenSpiel's state to the number of a move."""


class SpielAgent:
    """A bot of OpenSpiel in a game that a ``Shadow`` follows.

    It is handed the state as OpenSpiel's referees do; of a game with hidden information the bot uses the information
    state of the player to move, and what that player did before.
    """

    def __init__(self, name: str, shadow: Shadow, seconds: float) -> None:
        self.name, self.shadow, self.seconds = name, shadow, seconds
        self.simulations: list[int] = []
        """Of each move, where the bot tells."""

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.player = player
        self.think = self.bot(int(rng.integers(1 << 30)))

    def bot(self, seed: int) -> Think:
        """A new one."""
        import pyspiel

        hides = self.shadow.game.get_type().information != pyspiel.GameType.Information.PERFECT_INFORMATION
        kind = self.name.removeprefix(OPENSPIEL)
        if kind not in ("mcts", "ismcts", "ismcts-mixed"):
            raise ParameterError(f"unknown bot {self.name}; there are {', '.join(f'{OPENSPIEL}{k}' for k in BOTS)}")
        if hides != kind.startswith("ismcts"):
            raise ParameterError(
                f"{self.name} does not play {self.shadow.pair.theirs}: information is hidden there or not"
            )
        if kind == "mcts":
            return mcts(self.shadow.game, seed, self.seconds)
        if self.shadow.game.get_type().short_name == "leduc_poker":
            return ismcts(seed, self.seconds, kind == "ismcts")
        return SamplingISMCTS(self.shadow.pair.theirs, seed, self.seconds, kind == "ismcts", self.simulations)

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        pass

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal_actions) == 1:
            return legal_actions[0]
        spiel = self.shadow.at_turn_of(self.player)
        number = self.think(spiel)
        numbers = self.shadow.numbers(spiel, self.player, legal_actions)
        return next(action for action in legal_actions if numbers[action] == number)

    def end(self, returns: tuple[float, ...]) -> None:
        pass


BOTS = ("mcts", "ismcts", "ismcts-mixed")


def mcts(game: Any, seed: int, seconds: float, simulations: int = 1 << 30) -> Think:
    """UCT with random playouts, which proves wins and losses (``solve``)."""
    import pyspiel

    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    policy = pyspiel.ChildSelectionPolicy.UCT
    bot = pyspiel.MCTSBot(game, evaluator, UCT_C, simulations, MEMORY_MIB, True, seed, False, policy, seconds)
    return bot.step  # type: ignore[no-any-return]


def ismcts(seed: int, seconds: float, most_visited: bool, simulations: int = 1 << 30) -> Think:
    """Information set MCTS by OpenSpiel alone."""
    import pyspiel

    kinds = pyspiel.ISMCTSFinalPolicyType
    final = kinds.MAX_VISIT_COUNT if most_visited else kinds.NORMALIZED_VISIT_COUNT
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    bot = pyspiel.ISMCTSBot(seed, evaluator, UCT_C, simulations, -1, final, False, False, seconds)
    return bot.step  # type: ignore[no-any-return]


class SamplingISMCTS:
    """OpenSpiel's ISMCTSBot with the sampler of ``openspiel_ismcts.cc``."""

    def __init__(self, game: str, seed: int, seconds: float, most_visited: bool, simulations: list[int]) -> None:
        self.library, self.simulations = sampling_library(), simulations
        self.handle = self.library.ismcts_new(game.encode(), seed, UCT_C, seconds, int(most_visited))
        assert self.handle, f"OpenSpiel makes no ISMCTSBot for {game}"

    def __call__(self, spiel: Any) -> int:
        """Its move."""
        history, counts = numbers_of(spiel.history()), numbers_of([0, 0])
        action = int(self.library.ismcts_step(self.handle, history, len(history), counts))
        if action < 0:
            raise RuntimeError(f"OpenSpiel's ISMCTSBot failed after {list(history)}")
        self.simulations.append(int(counts[0]))
        return action

    def world(self, spiel: Any) -> list[int]:
        """A history that the player to move thinks possible, as the bot draws it."""
        history, room = numbers_of(spiel.history()), numbers_of([0] * 1000)
        length = self.library.ismcts_world(self.handle, history, len(history), room, len(room))
        assert length >= 0, f"no world found after {list(history)}"
        return list(room)[:length]

    def __del__(self) -> None:
        self.library.ismcts_delete(self.handle)


def numbers_of(numbers: Sequence[int]) -> Any:
    """As C has them."""
    return (ctypes.c_int64 * len(numbers))(*numbers)


@cache
def sampling_library() -> Any:
    """``openspiel_ismcts.cc``, compiled when it is first asked for; it calls the code in ``pyspiel``."""
    import pyspiel

    source, home = HERE / "openspiel_ismcts.cc", Path(pyspiel.__file__).parent
    stamp = hashlib.sha256(source.read_bytes() + Path(pyspiel.__file__).stat().st_mtime_ns.to_bytes(8, "big"))
    path = Path(tempfile.gettempdir()) / f"openspiel_ismcts-{os.getuid()}-{stamp.hexdigest()[:16]}.so"
    if not path.exists():
        compiler = shutil.which("c++") or shutil.which("g++")
        if compiler is None:
            raise ParameterError(
                "OpenSpiel's ISMCTSBot draws states of leduc_poker alone; a C++ compiler adds the others"
            )
        theirs = home / "open_spiel"
        folders = [home, theirs, theirs / "abseil-cpp", theirs / "json" / "include"]
        made = path.with_suffix(f".{os.getpid()}")
        options = ["-std=c++17", "-O2", "-fPIC", "-shared", *(f"-I{folder}" for folder in folders)]
        subprocess.run([compiler, *options, str(source), "-o", str(made)], check=True)
        made.replace(path)
    ctypes.CDLL(pyspiel.__file__, mode=ctypes.RTLD_GLOBAL)  # so that its names are found
    found = ctypes.CDLL(str(path))
    found.ismcts_new.restype = ctypes.c_void_p
    found.ismcts_new.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_double, ctypes.c_double, ctypes.c_int]
    found.ismcts_step.restype = ctypes.c_int64
    found.ismcts_step.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    found.ismcts_world.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
    found.ismcts_delete.argtypes = [ctypes.c_void_p]
    return found


# ---------------------------------------------------------------------------------------------------------------------
# A game of a row
# ---------------------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """Who meets whom at what, and with how many seconds for a move; everything by name."""

    game: str
    agent: str
    rival: str
    seconds: float


@dataclass
class Played:
    """One game of a row, as a line of the file holds it; ``actions`` and times are the agent's and the rival's."""

    row: Row
    number: int
    seat: int
    """The agent's."""
    share: float
    """Of the points, the agent's."""
    payoff: float
    actions: list[int]
    """Where they had a choice."""
    seconds: list[float]
    """Of these moves together."""
    longest: list[float]
    late: list[int]
    faults: list[str]
    simulations: list[int]
    """In all their moves, where they tell: OpenSpiel's bots with the sampler do."""


class Clocked:
    """An agent that is told its deadline; nobody takes a late move away, the table says how late."""

    def __init__(self, agent: Agent, seconds: float, start: float) -> None:
        self.agent, self.seconds, self.start = agent, seconds, start

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.agent.begin(game, player, rng, time.monotonic() + self.start)

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        self.agent.observe(own_action, observation)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        return self.agent.act(legal_actions, time.monotonic() + self.seconds)

    def end(self, returns: tuple[float, ...]) -> None:
        self.agent.end(returns)


def named(game: str) -> str:
    """A name for ``infoset.load``: a file of the shared folder needs no path, so that rows are alike in all checkouts."""
    return str(FILES / game) if game.endswith(".gdl") and not Path(game).exists() else game


class Duel:
    """A row that can be played: the game, both agents, OpenSpiel's shadow where one of its bots plays.

    Raises ``InfosetError`` where a name is unknown, or the game is not for two.
    """

    def __init__(self, row: Row, start: float) -> None:
        self.row = row
        pair = PAIRS.get(row.game)
        names = (row.agent, row.rival)
        self.shadow = None
        if any(name.startswith(OPENSPIEL) for name in names):
            if pair is None:
                raise ParameterError(f"{row.game} is not known in OpenSpiel; these are: {', '.join(PAIRS)}")
            self.shadow = Shadow(pair)
        game = infoset.load(pair.ours if pair else named(row.game))
        if len(game.players) != 2:
            raise ParameterError(f"{row.game} has {len(game.players)} players, not 2")
        self.table = Table.of(game, [self.seated(name, start) for name in names], None, None, MAX_STEPS)
        self.described = isinstance(game, GdlGame)

    def seated(self, name: str, start: float) -> Agent:
        """An agent or a bot."""
        if self.shadow is not None and name.startswith(OPENSPIEL):
            bot = SpielAgent(name, self.shadow, self.row.seconds)
            bot.bot(0)  # a wrong name is an error before the first game
            return bot
        return Clocked(load_agent(name), self.row.seconds, start)

    def play(self, number: int, seed: int) -> Played:
        """Game ``number``; the agent has the first seat in every second game."""
        seat = number % 2
        counts: list[list[int]] = [getattr(agent, "simulations", []) for agent in self.table.agents]
        for count in counts:
            count.clear()
        game = Round(self.table, [seat, 1 - seat], game_seed(seed, number))
        thought: list[list[float]] = [[], []]
        state = game.begin()
        if self.shadow:
            self.shadow.begin(state)
        while not state.terminal:
            choice = [len(state.legal_actions(player)) > 1 for player in range(2)]
            after = game.step(state)
            step = game.steps[-1]
            for player in range(2):
                if choice[player]:
                    thought[player ^ seat].append(step.seconds[player] or 0.0)
            if self.shadow:
                self.shadow.follow(state, step.actions, step.chance_outcome, after)
            state = after
        match = game.end(state)
        limit = LATE * self.row.seconds + 0.01
        return Played(
            row=self.row, number=number, seat=seat, share=self.share(match.returns, seat), payoff=match.returns[seat],
            actions=[len(times) for times in thought], seconds=[round(sum(times), 6) for times in thought],
            longest=[round(max(times, default=0.0), 6) for times in thought],
            late=[sum(spent > limit for spent in times) for times in thought],
            faults=[f"{(self.row.agent, self.row.rival)[f.player ^ seat]}: {f.kind}: {f.detail}" for f in match.faults],
            simulations=[sum(count) for count in counts],
        )  # fmt: skip

    def share(self, returns: Sequence[float], seat: int) -> float:
        """Of the points: of 100 in a described game, else what a win, a draw and a loss are."""
        own, other = returns[seat], returns[1 - seat]
        return own / 100 if self.described else (1 + (own > other) - (own < other)) / 2


@lru_cache(maxsize=2)
def duel(row: Row, start: float) -> Duel:
    """Kept from game to game, so that agents keep what they found out before the first move."""
    return Duel(row, start)


def play(row: Row, number: int, seed: int, start: float) -> Played | str:
    """One game, or why there is none: as text, since not every error finds its way out of a process."""
    try:
        return duel(row, start).play(number, seed)
    except InfosetError as error:
        return str(error)


# ---------------------------------------------------------------------------------------------------------------------
# The rows of a table
# ---------------------------------------------------------------------------------------------------------------------

FLOORED = (
    "breakthrough", "connect_four", "gdl:phantom_connect", "gdl:krieg_tic_tac_toe", "BlindBreakthrough.gdl"
)  # fmt: skip
CURVE = (("connect_four", f"{OPENSPIEL}mcts"), ("gdl:phantom_connect", "flat-mc"), ("breakthrough", f"{OPENSPIEL}mcts"))
CURVE_SECONDS = (0.1, 0.3, 1.0, 3.0)
HIDDEN = ("phantom_tic_tac_toe", "latent_tic_tac_toe", "liars_dice", "goofspiel", "leduc_poker")
DARK_CHESS = "openspiel:dark_chess(board_size=4)"
MATERIAL = f"kluss(heuristic='python:{HERE}/material.py:material')"
TRAINED = ("krieg_tic_tac_toe", "small_battleships", "phantom_connect")
RUNS, TRAINING_SECONDS, TRAINERS = Path("runs"), 600.0, 2  # of the networks of the table ``trained``
TABLES = ("openspiel", "hidden", "trained", "random", "floors", "curve")


def rows(table: str, agent: str, seconds: float) -> Iterator[Row]:
    """Of a table by name."""
    if table == "openspiel":
        for game in PAIRS:
            bot = "mcts" if game in ("connect_four", "breakthrough", "hex") else "ismcts"
            yield Row(game, agent, f"{OPENSPIEL}{bot}", seconds)
    elif table == "hidden":
        yield Row("BlindBreakthrough.gdl", "kluss", "flat-mc", 1.0)
        yield from (Row(game, agent, f"{OPENSPIEL}ismcts", 0.3) for game in HIDDEN for agent in ("search", "kluss"))
        yield Row(DARK_CHESS, MATERIAL, "is-mcts", 1.0)  # ISMCTSBot cannot draw its states
    elif table == "trained":
        for game in TRAINED:
            yield Row(f"{PREFIX}{game}", f"trained:{RUNS / f'rivals-{game}'}", "search", 0.1)
    elif table == "random":
        for game in [*(f"{PREFIX}{name}" for name in library()), *sorted(file.name for file in FILES.glob("*.gdl"))]:
            yield Row(game, agent, "random", seconds)
    elif table == "floors":
        for game in FLOORED:
            yield Row(game, agent, "flat-mc", seconds)
    else:
        for game, rival in CURVE:
            for own in CURVE_SECONDS:
                yield Row(game, agent, rival, own)


# ---------------------------------------------------------------------------------------------------------------------
# Playing them, a line of JSON for each game
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Args:
    """Play agents against each other and against OpenSpiel's bots; prints a table in Markdown."""

    table: tuple[str, ...] = ()
    row: tuple[tuple[str, str, str], ...] = ()
    agent: str = "search"
    seconds_per_move: float = 1.0
    seconds_to_begin: float = 10.0
    games: int = 400
    within: float = 0.0
    seed: int = 1
    workers: int = 1
    out: Path = HERE.parent / "runs" / "rivals.jsonl"
    picture: Path | None = None


def parse(argv: Sequence[str] | None = None) -> Args:
    """The command line."""
    parser = argparse.ArgumentParser(description=Args.__doc__)
    add = parser.add_argument
    add("--table", nargs="+", choices=TABLES, default=[], help="rows by name")
    add(
        "--row", nargs=3, action="append", default=[], metavar=("GAME", "AGENT", "RIVAL"), help="a row; may be repeated"
    )
    add("--agent", default=Args.agent, help="who plays the rows of --table (default: %(default)s)")
    add("--seconds-per-move", type=float, default=Args.seconds_per_move, help="of both (default: %(default)s)")
    add("--seconds-to-begin", type=float, default=Args.seconds_to_begin, help="the agents' (default: %(default)s)")
    add("--games", type=int, default=Args.games, help="of each row (default: %(default)s)")
    add(
        "--within",
        type=float,
        default=Args.within,
        help="points of half the interval at which a row ends (default: never)",
    )
    add("--seed", type=int, default=Args.seed)
    add("--workers", type=int, default=Args.workers, help="processes, a game each (default: %(default)s)")
    add("--out", type=Path, default=Args.out, help="the games that were played (default: %(default)s)")
    add("--picture", type=Path, help="rows of several times as curves (extra 'plot')")
    given = vars(parser.parse_args(argv))
    if not given["table"] and not given["row"]:
        parser.error("nothing to play; name a --table or a --row")
    return Args(**{**given, "table": tuple(given["table"]), "row": tuple(map(tuple, given["row"]))})


def asked(args: Args) -> list[Row]:
    """All rows, each once."""
    seconds = args.seconds_per_move
    named = [row for table in args.table for row in rows(table, args.agent, seconds)]
    return list(dict.fromkeys([*named, *(Row(*row, seconds) for row in args.row)]))


def read(path: Path, seed: int) -> dict[Row, dict[int, Played]]:
    """The games in the file by row and number; a line that was cut off in the middle is left out."""
    found: dict[Row, dict[int, Played]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue
        if entry.pop("seed") == seed:
            one = Played(**{**entry, "row": Row(*entry["row"])})
            found[one.row][one.number] = one
    return found


def write(path: Path, one: Played, seed: int) -> None:
    """A line more; a line that was cut off before is ended first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(json.dumps({"seed": seed, **asdict(one)}).encode() + b"\n")


class Progress:
    """A line on the terminal: the row, its score so far, how long the rest will take."""

    def __init__(self, todo: Sequence[tuple[Row, int]]) -> None:
        self.weight = sum(row.seconds for row, _ in todo)
        self.done, self.begun = 0.0, time.monotonic()

    def note(self, one: Played, games: Iterable[Played]) -> None:
        """A game was played."""
        self.done += one.row.seconds
        left = (time.monotonic() - self.begun) / self.done * (self.weight - self.done)
        hours, minutes = divmod(round(left / 60), 60)
        score = str(Share.of([game.share for game in games]))
        text = f"{title(one.row.game)}, {one.row.agent} v {one.row.rival}: game {one.number + 1}, {score}; "
        text += f"about {hours}:{minutes:02} h left"
        end = "" if sys.stderr.isatty() else "\n"
        print(f"\r\x1b[K{text}" if sys.stderr.isatty() else text, end=end, file=sys.stderr, flush=True)


def run(args: Args) -> tuple[dict[Row, list[Played]], dict[Row, str]]:
    """Play what is missing; the games of each row, and why others cannot be played."""
    wanted = asked(args)
    train_missing(wanted)
    found = read(args.out, args.seed)
    refused: dict[Row, str] = {}
    settled = {row for row in wanted if is_settled(found[row].values(), args.within)}
    todo = [(row, k) for row in wanted for k in range(args.games) if k not in found[row]]
    progress = Progress(todo)
    try:
        for one in played(todo, args, refused, settled):
            write(args.out, one, args.seed)
            found[one.row][one.number] = one
            if is_settled(found[one.row].values(), args.within):
                settled.add(one.row)
            progress.note(one, found[one.row].values())
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
    return {row: [found[row][k] for k in sorted(found[row])[: args.games]] for row in wanted}, refused


def is_trained(folder: Path) -> bool:
    """Whether a training has had its time, of which an epoch that would take too long may leave a tenth."""
    checkpoint = folder / "checkpoint.npz"
    return checkpoint.exists() and float(np.load(checkpoint)["seconds"]) > 0.9 * TRAINING_SECONDS


def train_missing(wanted: Sequence[Row]) -> None:
    """Train the networks of the table ``trained`` that are not trained yet; a training that was stopped is resumed."""
    for row in wanted:
        folder = Path(row.agent.partition(":")[2])
        if row.agent.startswith(f"trained:{RUNS}/rivals-") and not is_trained(folder):
            print(f"{row.game}: {TRAINING_SECONDS:g} seconds of training", file=sys.stderr, flush=True)
            resume = (folder / "checkpoint.npz").exists()
            if not resume:
                shutil.rmtree(folder, ignore_errors=True)  # stopped before there was anything to resume
            more = {} if resume else {"method": "tree-search"}
            infoset.train(
                None if resume else row.game, seconds=TRAINING_SECONDS, workers=TRAINERS, out=folder, resume=resume,
                **more,
            )  # fmt: skip


def is_settled(games: Iterable[Played], within: float) -> bool:
    """Whether enough is known of a row: half the interval of its points is ``within``."""
    shares = [one.share for one in games]
    if not within or not shares:
        return False
    low, high = Share.of(shares).interval
    return 50 * (high - low) <= within


def played(todo: Sequence[tuple[Row, int]], args: Args, refused: dict[Row, str], settled: set[Row]) -> Iterator[Played]:
    """The games as they end, here or in processes; rows that are refused are left at their first game."""
    for row, one in answers(todo, args, refused, settled):
        if isinstance(one, str):
            refused[row] = one
        else:
            yield one


def answers(
    todo: Sequence[tuple[Row, int]], args: Args, refused: dict[Row, str], settled: set[Row]
) -> Iterator[tuple[Row, Played | str]]:
    """What ``play`` said of each game of a row that is neither refused nor settled."""
    wanted = ((row, number) for row, number in todo if row not in refused and row not in settled)
    if args.workers == 1:
        for row, number in wanted:
            yield row, play(row, number, args.seed, args.seconds_to_begin)
        return
    with ProcessPoolExecutor(args.workers, get_context("spawn")) as pool:
        running: dict[Future[Played | str], Row] = {}
        while True:
            for row, number in islice(wanted, args.workers - len(running)):
                running[pool.submit(play, row, number, args.seed, args.seconds_to_begin)] = row
            if not running:
                return
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(done), done.result()


# ---------------------------------------------------------------------------------------------------------------------
# The table
# ---------------------------------------------------------------------------------------------------------------------


def mean(values: Sequence[float]) -> Mean:
    return Mean.of(len(values), sum(values), sum(value * value for value in values))


def draw(found: dict[Row, list[Played]], path: Path) -> None:
    """Points against the seconds of a move, of who met at several, with their intervals."""
    from matplotlib.figure import Figure

    curves: dict[Row, list[tuple[Row, list[float]]]] = defaultdict(list)
    for row, games in found.items():
        if games:
            curves[row._replace(seconds=0.0)].append((row, [one.share for one in games]))
    figure = Figure(figsize=(7.2, 4.2), dpi=120, layout="constrained")
    axes = figure.subplots()
    for key, rows in curves.items():
        if len(rows) > 1:
            rows.sort(key=lambda each: each[0].seconds)
            means = [100 * sum(shares) / len(shares) for _, shares in rows]
            bounds = [[100 * bound for bound in Share.of(shares).interval] for _, shares in rows]
            errors = [[mean - low for mean, (low, _) in zip(means, bounds, strict=True)],
                      [high - mean for mean, (_, high) in zip(means, bounds, strict=True)]]  # fmt: skip
            name = f"{title(key.game)}: {key.agent} v {key.rival}"
            axes.errorbar([row.seconds for row, _ in rows], means, errors, marker="o", ms=4, capsize=2, label=name)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.axhline(50, color="#999999", lw=0.8)
    axes.set(xlabel="seconds a move", ylabel="points, %", ylim=(0, 103))
    axes.legend(frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def title(game: str) -> str:
    return Path(game).name if game.endswith(".gdl") else game


HEAD = (
    "game", "agent", "rival", "s a move", "games", "points", "first / second", "payoff", "mean s (longest), agent",
    "mean s (longest), rival", "simulations a move", "late", "faults",
)  # fmt: skip


def line(row: Row, games: Sequence[Played]) -> tuple[str, ...]:
    """A row of the table."""
    seats = [[one.share for one in games if one.seat == seat] for seat in range(2)]
    times = []
    for who in range(2):
        actions, spent = sum(one.actions[who] for one in games), sum(one.seconds[who] for one in games)
        longest = max(one.longest[who] for one in games)
        times.append(f"{spent / actions:.3g} ({longest:.3g})" if actions else "-")
    simulations = []
    for who in range(2):
        made, actions = sum(one.simulations[who] for one in games), sum(one.actions[who] for one in games)
        simulations.append(f"{made / actions:,.0f}" if made else "-")
    late = [sum(one.late[who] for one in games) for who in range(2)]
    return (
        title(row.game), row.agent, row.rival, f"{row.seconds:g}", f"{len(games)}", str(Share.of([one.share for one in games])),
        " / ".join(f"{100 * sum(own) / len(own):.1f}" if own else "-" for own in seats),
        str(mean([one.payoff for one in games])), *times, " / ".join(simulations), f"{late[0]} / {late[1]}",
        str(sum(len(one.faults) for one in games)),
    )  # fmt: skip


def calibration(games: Iterable[str], seconds: float) -> Iterator[tuple[str, str]]:
    """How many simulations the bots make in ``seconds`` at their first decision: timed without a clock."""
    for name in games:
        shadow = Shadow(PAIRS[name])
        spiel = shadow.game.new_initial_state()
        while spiel.is_chance_node():
            spiel.apply_action(spiel.chance_outcomes()[0][0])
        if name in ("connect_four", "breakthrough", "hex", "leduc_poker"):
            count, spent = 1000, 0.0
            while spent < 0.2:
                count *= 2
                think = ismcts(1, -1.0, True, count) if name == "leduc_poker" else mcts(shadow.game, 1, -1.0, count)
                begin = time.perf_counter()
                think(spiel)
                spent = time.perf_counter() - begin
            yield name, f"{count / spent * seconds:,.0f}"
        else:
            told: list[int] = []
            SamplingISMCTS(PAIRS[name].theirs, 1, seconds, True, told)(spiel)
            yield name, f"{told[0]:,}"


def print_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    lines = list(lines)
    widths = [max(len(row[k]) for row in [head, *lines]) for k in range(len(head))]
    for row in (head, ["-" * width for width in widths], *lines):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
    print(flush=True)


def main() -> None:
    args = parse()
    print(f"infoset {infoset.__version__}, Python {platform.python_version()}; {os.cpu_count()} CPUs", end=" ")
    print(f"({platform.machine()}), {args.workers} at work. Load average at the start: {os.getloadavg()[0]:.2f}.\n")
    bots = dict.fromkeys(row.game for row in asked(args) if OPENSPIEL in (row.rival + row.agent) and row.game in PAIRS)
    if bots:
        print_table(
            ("game", f"simulations of OpenSpiel's bot in {args.seconds_per_move:g} s, first decision"),
            calibration(bots, args.seconds_per_move),
        )
    found, refused = run(args)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print_table(HEAD, (line(row, games) for row, games in found.items() if games))
    if args.picture:
        draw(found, args.picture)
    for row, why in refused.items():
        print(f"- {title(row.game)}, {row.agent} v {row.rival}: not played: {why}")
    for row, games in found.items():
        for fault in dict.fromkeys(fault for one in games for fault in one.faults):
            print(f"- {title(row.game)}: {fault}")


if __name__ == "__main__":
    main()
