"""Pommerman as a ``Game``: agents move simultaneously, chance draws the board, each agent observes its window.

An observation is a hashable tuple; ``read_observation`` converts it to the reference's dictionary.  A dead agent does
not move.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from infoset.base import Action, JointAction, Observation
from infoset.errors import FormatError, GameRuleError, IllegalActionError, UnsupportedGameError, shorten
from infoset.games.rules import NotebookGame, check_actions, check_play
from infoset.names import check_range
from infoset.pommerman import state as st
from infoset.pommerman.config import MAX_AGENTS, PREFIX, Config, GameType
from infoset.pommerman.engine import Engine, advance, begin, close_in, engine
from infoset.pommerman.observation import observe
from infoset.pommerman.rules import scratch
from infoset.pommerman.state_json import read_state
from infoset.warm_up import ready

MOVES: tuple[Action, ...] = tuple(range(st.STOP, st.LAY + 1))
MAX_SEED = 2**53  # seeds of boards stay below this, so that every program reads them exactly
ALIVES = slice(st.AGENTS + st.ALIVE, st.MESSAGES, st.AGENT_FIELDS)
SILENT = np.zeros((MAX_AGENTS, st.WORDS), dtype=np.int16)


class Pommerman(NotebookGame):
    """The rules of one variant.

    ``seed`` fixes the board, or ``state`` (a text as ``state_text`` returns) the position where play begins; without
    either chance draws a board.
    """

    rehearsal = "simple"

    def __init__(self, name: str, rules: Config, seed: int | None = None, state: str | None = None) -> None:
        """Make the rules of one variant.

        Raises ``ParameterError`` where no board fits the configuration or the seed is out of range, and ``FormatError``
        where ``state`` is no valid position of this variant.
        """
        if seed is not None:
            check_range("seed", seed, 0, MAX_SEED - 1)
        self.name, self.config, self.seed, self.state = name, rules, seed, state
        self.first = None if state is None else read_state(state, rules)
        self.engine: Engine = engine(rules)
        self.room = len(scratch(rules.size))
        self.players = tuple(f"Agent{k}" for k in range(rules.num_agents))
        words = range(rules.vocabulary + 1)  # 0 is silence
        talk = [(move, a, b) for move in MOVES for a in words for b in words]
        radio = rules.game_type == GameType.TEAM_RADIO
        self.moves = tuple(talk) if radio else MOVES
        self.pass_move: Action = (st.STOP, 0, 0) if radio else st.STOP
        self.teams = ((0, 2), (1, 3)) if rules.teams else tuple([(k,) for k in range(rules.num_agents)])

    def sizes(self) -> dict[str, str]:
        rules = self.config
        sight = "everything" if rules.view is None else f"{rules.view} cells each way"
        board = f"{rules.size} × {rules.size}"
        return {"board": board, "agents see": sight, "steps": f"at most {rules.max_steps:,}"}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pommerman) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> tuple[type[Pommerman], tuple[Any, ...]]:
        return Pommerman, self._value

    @property
    def _value(self) -> tuple[str, Config, int | None, str | None]:
        return self.name, self.config, self.seed, self.state

    def start(self) -> PommermanStep:
        if self.first is not None:
            return self.resume(self.first)
        return PommermanStep(Undealt(self)) if self.seed is None else self.deal(self.seed)

    def resume(self, row: st.Row) -> PommermanStep:
        """Return the step that begins the game at a position, which every player observes."""
        return PommermanStep(PommermanState(self, row))

    def deal(self, seed: int) -> PommermanStep:
        """Return the step to the first position on the board of a seed.

        Raises ``GameRuleError`` where no board can be found.
        """
        ready("pommerman")
        row, arrays = st.empty_rows(1, self.config)[0], self.engine
        stream = np.random.SeedSequence(seed).generate_state(1, np.uint64)
        if not begin(row, arrays.settings, arrays.template, arrays.pairs, arrays.starts, stream):
            raise GameRuleError(f"{self.name}: no board with {self.config.rigid} rigid walls leaves the way open")
        return self.resume(row)


class PommermanStep:
    """The next state, with each agent's observation of it computed on request."""

    __slots__ = ("state",)

    def __init__(self, state: PommermanState | Undealt) -> None:
        self.state = state

    def observation(self, player: int) -> Observation:
        """Return what ``player`` observes; ``None`` before the board is drawn."""
        state = self.state
        return observe(state.row, state.game.config, player) if isinstance(state, PommermanState) else None


class Undealt(NamedTuple):
    """The state before the board is drawn: chance answers with the seed of a board or with a whole position as text."""

    game: Pommerman

    @property
    def terminal(self) -> bool:
        return False

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        del player
        return ()

    def chance_outcomes(self, moves: JointAction) -> tuple[tuple[Action, float], ...]:
        """Raise ``UnsupportedGameError``, as boards are too many to list: use ``draw``."""
        del moves
        raise UnsupportedGameError(f"{self.game.name}: boards are too many to list; give one: {PREFIX}NAME(seed=1)")

    def draw(self, moves: JointAction, rng: np.random.Generator) -> Action:
        del moves
        return int(rng.integers(MAX_SEED))

    def play(self, moves: JointAction, chance_outcome: Action | None = None) -> PommermanStep:
        check_actions(self, moves)
        if isinstance(chance_outcome, str):
            try:
                return self.game.resume(read_state(chance_outcome, self.game.config, "chance's answer"))
            except FormatError as error:
                raise IllegalActionError(str(error)) from None
        if (
            isinstance(chance_outcome, bool)
            or not isinstance(chance_outcome, int)
            or not 0 <= chance_outcome < MAX_SEED
        ):
            raise IllegalActionError(
                f"chance cannot answer {shorten(repr(chance_outcome))}; possible: the seed of a board, below 2**53, "
                "or a position as text"
            )
        return self.game.deal(chance_outcome)

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * len(self.game.players)


class PommermanState:
    """One position: a row of integers that is never written to again."""

    def __init__(self, game: Pommerman, row: st.Row) -> None:
        self.game, self.row = game, row

    @cached_property
    def key(self) -> bytes:
        return self.row.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PommermanState) and (self.game.config, self.key) == (other.game.config, other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Callable[..., PommermanState], tuple[Any, ...]]:
        return restore, (self.game, self.key)

    @property
    def terminal(self) -> bool:
        return bool(self.row[st.RESULT] != st.RUNNING)

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        lives = self.row[st.RESULT] == st.RUNNING and self.row[st.AGENTS + player * st.AGENT_FIELDS + st.ALIVE]
        return self.game.moves if lives else ()

    def chance_outcomes(self, moves: JointAction) -> tuple[tuple[Action, float], ...]:
        """Return no outcomes: only the board is drawn by chance."""
        del moves
        return ()

    def draw(self, moves: JointAction, rng: np.random.Generator) -> Action | None:
        del moves, rng
        return None

    def play(self, moves: JointAction, chance_outcome: Action | None = None) -> PommermanStep:
        if chance_outcome is not None or not self._on_offer(moves):
            check_play(self, moves, chance_outcome)
        return self.play_unchecked(moves)

    def _on_offer(self, moves: JointAction) -> bool:
        """Check moves as ``check_play`` does, in a fifth of its time; it leaves the error message to ``check_play``."""
        row, offer, count = self.row[: st.MESSAGES].tolist(), self.game.moves, self.game.config.num_agents
        if row[st.RESULT] != st.RUNNING or len(moves) != count:
            return False
        return all(move in offer if lives else move is None for move, lives in zip(moves, row[ALIVES], strict=False))

    def play_unchecked(self, moves: JointAction, chance_outcome: Action | None = None) -> PommermanStep:
        del chance_outcome
        game, row = self.game, self.row.copy()
        if game.moves is MOVES:
            acts, words = np.array([move or st.STOP for move in moves], dtype=np.int16), SILENT
        else:
            said = np.array([move or (st.STOP, 0, 0) for move in moves], dtype=np.int16)
            acts, words = said[:, 0].copy(), said[:, 1:].copy()
        arrays, work = game.engine, np.empty(game.room, dtype=np.int16)  # a new one, as games are played in threads
        advance(row, work, arrays.settings, arrays.collapses, arrays.near, acts, words)
        return PommermanStep(PommermanState(game, row))

    def walled(self) -> st.Row:
        """Return the position after the walls that are due have closed in, as it is when the next step begins."""
        row, arrays = self.row.copy(), self.game.engine
        close_in(row, arrays.settings, arrays.collapses)
        return row

    def returns(self) -> tuple[float, ...]:
        return tuple(map(float, self.row[st.REWARDS : st.REWARDS + self.game.config.num_agents]))

    def __repr__(self) -> str:
        return f"{self.game.name} after {self.row[st.STEP]} steps"

    def _repr_html_(self) -> str:
        from infoset.view.html import position_html

        return position_html(self)


def restore(game: Pommerman, key: bytes) -> PommermanState:
    """Rebuild a state from its pickled form."""
    return PommermanState(game, np.frombuffer(key, dtype=np.int16).copy())
