"""Result and rewards of a position, as in the reference, also where its rewards are peculiar."""

from __future__ import annotations

from infoset.jit import inline_kernel
from infoset_pommerman import state as st
from infoset_pommerman.config import GameType

ONE_VS_ONE = int(GameType.ONE_VS_ONE)
TEAMS = (int(GameType.TEAM), int(GameType.TEAM_RADIO))


@inline_kernel
def judge(row, game_type, num_agents, max_steps):
    """Write the result and the rewards, -1, 0 or 1, into the row.

    A dead agent of a free-for-all gets -1 in every later step.  In a duel, both get 0 where both die in the same step.
    """
    alive, even = 0, 0
    for k in range(num_agents):
        if row[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE]:
            alive += 1
            even += 1 - (k & 1)
    late = row[st.STEP] >= max_steps
    if game_type in TEAMS:
        judge_teams(row, even, alive - even, late, num_agents)
    else:
        judge_single(row, alive, late, game_type == ONE_VS_ONE, num_agents)


@inline_kernel
def judge_single(row, alive, late, duel, num_agents):
    """Judge a game without teams: the only agent alive wins."""
    row[st.RESULT] = st.WIN if alive == 1 else st.TIE if late or alive == 0 else st.RUNNING
    for k in range(num_agents):
        lives = row[st.AGENTS + k * st.AGENT_FIELDS + st.ALIVE] != 0
        if alive == 1:
            row[st.REWARDS + k] = 1 if lives else -1
        elif late:
            row[st.REWARDS + k] = -1
        else:
            row[st.REWARDS + k] = 0 if lives or duel else -1


@inline_kernel
def judge_teams(row, even, odd, late, num_agents):
    """Judge a team game: a team wins, dead members included, when only its members are alive."""
    decided = (even > 0) != (odd > 0)
    over = late or even + odd == 0
    row[st.RESULT] = st.WIN if decided else st.TIE if over else st.RUNNING
    for k in range(num_agents):
        if decided:
            row[st.REWARDS + k] = 1 if (k & 1) == (even == 0) else -1
        else:
            row[st.REWARDS + k] = -1 if over else 0
