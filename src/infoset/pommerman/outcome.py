"""Whether a game is over, and what it pays: the reference's rewards, also where they are peculiar."""

from __future__ import annotations

import numpy as np

from infoset.jit import kernel
from infoset.pommerman.config import GameType
from infoset.pommerman.state import AGENT_FIELDS, AGENTS, STEP

ONE_VS_ONE = int(GameType.ONE_VS_ONE)
TEAMS = (int(GameType.TEAM), int(GameType.TEAM_RADIO))
RUNNING, WIN, TIE = range(3)


@kernel
def outcome(row, game_type, num_agents, max_steps, rewards):
    """RUNNING, WIN or TIE; the reward of every agent, -1, 0 or 1, into ``rewards``.

    A dead agent of a free-for-all gets -1 in every later step.  Both dead together in a duel get 0.
    """
    alive = 0
    team = np.zeros(2, np.int64)
    for k in range(num_agents):
        if row[AGENTS + k * AGENT_FIELDS]:
            alive += 1
            team[k & 1] += 1
    late = row[STEP] >= max_steps
    if game_type in TEAMS:
        return _team_outcome(team, late, num_agents, rewards)
    for k in range(num_agents):
        lives = row[AGENTS + k * AGENT_FIELDS] != 0
        if alive == 1:
            rewards[k] = 1 if lives else -1
        elif late:
            rewards[k] = -1
        else:
            rewards[k] = 0 if lives or game_type == ONE_VS_ONE else -1
    if alive == 1:
        return WIN
    return TIE if late or alive == 0 else RUNNING


@kernel
def _team_outcome(team, late, num_agents, rewards):
    """A team whose members alone are alive wins, the dead ones too."""
    won = team[0] > 0 and team[1] == 0, team[1] > 0 and team[0] == 0
    over = late or team[0] + team[1] == 0
    for k in range(num_agents):
        if won[0] or won[1]:
            rewards[k] = 1 if won[k & 1] else -1
        else:
            rewards[k] = -1 if over else 0
    if won[0] or won[1]:
        return WIN
    return TIE if over else RUNNING
