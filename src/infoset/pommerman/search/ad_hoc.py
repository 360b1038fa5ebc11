"""``ad-hoc``: a searching agent that identifies its teammate and plans with the teammate's predicted next move.

Ad hoc teamwork: a team without prior agreement (Stone et al. 2010).  As in PLASTIC-Model (Barrett & Stone 2015), there
is a list of agents that the teammate may be.  Each of them is run from the teammate's seat, on as much of its
observation as the own one shows, and is credited by how often it chose the move that the teammate made.  The next move
of the best candidate goes into the plans (``Belief.coming``) as long as its credit is at least ``BELIEVED``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infoset.base import Action, Agent, Game, Observation
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.match.agents import Delegating, agent_name, load_agent
from infoset.names import Value
from infoset.pommerman import state as st
from infoset.pommerman.config import MAX_AGENTS, PREFIX, Config
from infoset.pommerman.game import MOVES
from infoset.pommerman.observation import Seen, observe
from infoset.pommerman.playground.spaces import parse_action
from infoset.pommerman.rules import WAYS
from infoset.pommerman.search.players import SearchPlayer
from infoset.registry import made_for

LEGAL: tuple[Action, ...] = tuple(range(len(MOVES)))
TYPES: tuple[Value, ...] = ("simple", "dypm", "champion")
BELIEVED = 0.6  # least credit at which a candidate is believed
PATIENCE = 0.98  # discount of earlier evidence with every further move


@made_for(PREFIX)
def ad_hoc(agent: Value = "champion", teammates: tuple[Value, ...] = TYPES) -> AdHoc:
    """Pommerman's teams: an agent that finds out whom it plays with: ad-hoc(agent=dypm,teammates=[simple,stop])."""
    inner = load_agent(str(agent))
    if not isinstance(inner, SearchPlayer):
        raise ParameterError(f"ad-hoc: {agent} does not search; allowed: champion, dypm, hakozaki, …")
    if not teammates:
        raise ParameterError("ad-hoc: teammates are missing; name them: ad-hoc(teammates=[simple,dypm])")
    return AdHoc(inner, [load_agent(str(name)) for name in teammates])


class Type:
    """One agent that the teammate may be, run from the teammate's seat."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.name = agent, agent_name(agent)
        self.begin()

    def begin(self) -> None:
        """Forget all evidence about the teammate."""
        self.right, self.judged, self.next_move = 0.0, 0.0, st.STOP

    @property
    def credit(self) -> float:
        """The share of the teammate's moves that it predicted, with late ones weighted most; 1/2 without evidence."""
        return (self.right + 1) / (self.judged + 2)

    def look(self, own_action: int | None, seen: Seen, rules: Config) -> None:
        """Take in what the teammate sees, and store the move that this agent would make as ``next_move``."""
        self.agent.observe(own_action, seen)
        answer = parse_action(self.agent.act(LEGAL, None), rules)
        self.next_move = answer[0] if isinstance(answer, tuple) else answer

    def judge(self, move: int) -> None:
        """Compare the teammate's move with the prediction."""
        self.right = PATIENCE * self.right + (self.next_move == move)
        self.judged = PATIENCE * self.judged + 1


class AdHoc(Delegating):
    """Plays as the searching agent ``inner``, with the teammate's next move predicted by the likeliest of ``types``.

    >>> from infoset.pommerman.search.ad_hoc import AdHoc
    >>> AdHoc(infoset.load_agent("dypm"), [infoset.load_agent("simple")]).name
    'ad-hoc(dypm)'
    """

    inner: SearchPlayer

    def __init__(self, inner: SearchPlayer, types: Sequence[Agent]) -> None:
        self.inner, self.types, self.name = inner, [Type(agent) for agent in types], f"ad-hoc({inner.name})"

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Begin a game; raise ``UnsupportedGameError`` unless it is a team game of Pommerman."""
        self.inner.begin(game, player, rng, deadline)
        if not self.inner.seat.mate:
            raise UnsupportedGameError(f"{self.name}: there are no teammates in {game.name}")
        self.mate = (player + 2) % MAX_AGENTS
        for known in self.types:
            known.agent.begin(game, self.mate, rng.spawn(1)[0], deadline)
            known.begin()
        self.seen_at: tuple[int, int] | None = None  # the step and the teammate's cell when it was last in view

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        self.inner.observe(own_action, observation)
        belief = self.inner.belief
        if not self.inner.radio:  # otherwise it has taken in what the teammate announced
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
        """Return the teammate's last move, ``None`` where that was not seen."""
        if self.seen_at is None or self.seen_at[0] != now - 1:
            return None
        guess, before = self.inner.belief.guess, self.seen_at[1]
        if cell != before:
            ways = self.inner.engine.near[before * WAYS : (before + 1) * WAYS].tolist()
            return next((move for move in range(st.UP, st.LAY) if ways[move] == cell), None)
        bombs = guess[st.BOMBS :][: guess[st.NUM_BOMBS] * st.BOMB_FIELDS].reshape(-1, st.BOMB_FIELDS)
        fresh = (bombs[:, st.BOMB_CELL] == cell) & (bombs[:, st.LIFE] == self.inner.config.fuse)
        return st.LAY if fresh.any() else st.STOP
