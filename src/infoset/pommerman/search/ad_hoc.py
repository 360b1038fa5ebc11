"""``ad-hoc``: a searching agent that finds out who its teammate is, and plans with what that teammate will do next.

Ad hoc teamwork: a team without prior agreement (Stone et al. 2010).  As PLASTIC-Model has it (Barrett & Stone 2015),
there is a list of agents that the teammate may be.  Each of them is played along from the teammate's seat, as far as it
can be seen from one's own, and is believed by how often it moved as the teammate did.  What the best of them does next
goes into the plans (``Belief.coming``), as long as it was right more often than not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infoset.base import Action, Agent, Game, Observation
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.match.agents import Delegating, agent_name, load_agent
from infoset.names import Value
from infoset.pommerman import state as st
from infoset.pommerman.config import MAX_AGENTS, Config
from infoset.pommerman.game import MOVES
from infoset.pommerman.observation import Seen, observe
from infoset.pommerman.playground.spaces import read_move
from infoset.pommerman.rules import WAYS
from infoset.pommerman.search.players import SearchPlayer

LEGAL: tuple[Action, ...] = tuple(range(len(MOVES)))
TYPES: tuple[Value, ...] = ("simple", "dypm", "champion")
BELIEVED = 0.6  # from this share of moves on
PATIENCE = 0.98  # how much of what was seen still counts after one more move


def ad_hoc(agent: Value = "champion", teammates: tuple[Value, ...] = TYPES) -> AdHoc:
    """Pommerman's teams: an agent that finds out whom it plays with: ad-hoc(agent=dypm,teammates=[simple,stop])."""
    inner = load_agent(str(agent))
    if not isinstance(inner, SearchPlayer):
        raise ParameterError(f"ad-hoc: {agent} does not search; allowed: champion, dypm, hakozaki, …")
    if not teammates:
        raise ParameterError("ad-hoc: teammates are missing; name them: ad-hoc(teammates=[simple,dypm])")
    return AdHoc(inner, [load_agent(str(name)) for name in teammates])


class Type:
    """One agent that the teammate may be, played along from its seat."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.name = agent, agent_name(agent)
        self.begin()

    def begin(self) -> None:
        """Nothing is known of the teammate."""
        self.right, self.judged, self.next_move = 0.0, 0.0, st.STOP

    @property
    def credit(self) -> float:
        """The share of the teammate's moves that it would have made, late ones above all; half of what is not known."""
        return (self.right + 1) / (self.judged + 2)

    def look(self, own_move: int | None, seen: Seen, rules: Config) -> None:
        """Take in what the teammate sees; what it would do then is its ``next_move``."""
        self.agent.observe(own_move, seen)
        answer = read_move(self.agent.act(LEGAL, None), rules)
        self.next_move = answer[0] if isinstance(answer, tuple) else answer

    def judge(self, move: int) -> None:
        """The teammate has moved."""
        self.right = PATIENCE * self.right + (self.next_move == move)
        self.judged = PATIENCE * self.judged + 1


class AdHoc(Delegating):
    """Plays as ``inner``, an agent that searches, with its teammate's next move as the likeliest of ``types`` has it.

    >>> from infoset.pommerman.search.ad_hoc import AdHoc
    >>> AdHoc(infoset.load_agent("dypm"), [infoset.load_agent("simple")]).name
    'ad-hoc(dypm)'
    """

    inner: SearchPlayer

    def __init__(self, inner: SearchPlayer, types: Sequence[Agent]) -> None:
        self.inner, self.types, self.name = inner, [Type(agent) for agent in types], f"ad-hoc({inner.name})"

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Raises ``UnsupportedGameError`` for other games than Pommerman's between teams."""
        self.inner.begin(game, player, rng, deadline)
        if not self.inner.seat.mate:
            raise UnsupportedGameError(f"{self.name}: there are no teammates in {game.name}")
        self.mate = (player + 2) % MAX_AGENTS
        for known in self.types:
            known.agent.begin(game, self.mate, rng.spawn(1)[0], deadline)
            known.begin()
        self.seen_at: tuple[int, int] | None = None  # the step and the teammate's cell, when it was in view

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        self.inner.observe(own_move, observation)
        belief = self.inner.belief
        if not self.inner.radio:  # which has taken in what the teammate said
            belief.coming[self.mate] = st.STOP
        agent = st.AGENTS + self.mate * st.AGENT_FIELDS
        if observation is None or not belief.guess[agent + st.ALIVE]:
            return
        now, cell, rules = int(belief.guess[st.STEP]), int(belief.guess[agent + st.CELL]), self.inner.config
        moved = self._moved(now, cell)
        seen = observe(belief.guess, rules, self.mate)
        for known in self.types:
            if moved is not None:
                known.judge(moved)
            known.look(moved, seen, rules)
        self.seen_at = now, cell
        best = max(self.types, key=lambda known: known.credit)
        self.plan = f"its teammate plays as {best.name}" if best.credit >= BELIEVED else "its teammate is a stranger"
        if best.credit >= BELIEVED:
            belief.coming[self.mate] = best.next_move

    def _moved(self, now: int, cell: int) -> int | None:
        """What the teammate did, ``None`` where that was not seen."""
        if self.seen_at is None or self.seen_at[0] != now - 1:
            return None
        guess, before = self.inner.belief.guess, self.seen_at[1]
        if cell != before:
            ways = self.inner.engine.near[before * WAYS : (before + 1) * WAYS].tolist()
            return next((move for move in range(st.UP, st.LAY) if ways[move] == cell), None)
        bombs = guess[st.BOMBS :][: guess[st.NUM_BOMBS] * st.BOMB_FIELDS].reshape(-1, st.BOMB_FIELDS)
        fresh = (bombs[:, st.BOMB_CELL] == cell) & (bombs[:, st.LIFE] == self.inner.config.fuse)
        return st.LAY if fresh.any() else st.STOP
