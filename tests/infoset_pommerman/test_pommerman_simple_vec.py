"""Stock agents on many boards decide as one by one, and their games end as the reference's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from infoset.errors import ParameterError
from infoset.randomness import streams
from infoset_pommerman import state as st
from infoset_pommerman.config import config
from infoset_pommerman.observation import observations
from infoset_pommerman.simple import SimpleAgent
from infoset_pommerman.simple_vec import SimpleVec
from infoset_pommerman.vec import PommermanVec


@pytest.mark.parametrize("name", ["PommeFFACompetition-v0", "PommeTeamCompetition-v1", "OneVsOne-v0", "PommeRadio-v2"])
def test_they_decide_as_agents_on_dictionaries_do(name: str) -> None:
    rules, boards = config(name), 6
    batch = PommermanVec(boards, rules, seed=4)
    stock, randoms = SimpleVec(batch, seed=9), streams(9, boards)
    twins = [[SimpleAgent() for _ in range(rules.num_agents)] for _ in range(boards)]
    for b in range(boards):
        for twin in twins[b]:
            twin.stream = randoms[b : b + 1]  # the agents of a board share its source of randomness
    games = 0
    for _ in range(150):
        moves = stock.act()
        for b, row in enumerate(batch.rows):
            for k, (twin, seen) in enumerate(zip(twins[b], observations(row, rules), strict=True)):
                if row[st.STEP] == 0:
                    twin.begin()
                alive = st.AGENT + k in seen["alive"]
                assert moves[b, k] == (twin.act(seen) if alive else st.STOP)
        games += int(batch.step(moves).done.sum())
    assert games or name != "OneVsOne-v0"


def test_threads_change_nothing_and_other_seats_are_the_callers() -> None:
    rules = config("PommeTeamCompetition-v0")
    one, two = PommermanVec(33, rules, seed=1), PommermanVec(33, rules, seed=1, threads=3)
    first, second = SimpleVec(one, (1, 3), seed=5), SimpleVec(two, (3, 1), seed=5)
    for t in range(100):
        moves, same = first.act(), second.act()
        moves[:, 0] = same[:, 0] = t % 6
        assert (moves == same).all()
        one.step(moves)
        two.step(same)
    assert (one.rows == two.rows).all()
    assert (first.act()[:, 2] == st.STOP).all()
    with pytest.raises(ParameterError, match="from 0 to 3"):
        SimpleVec(one, (1, 4))


def test_free_for_alls_end_as_the_references() -> None:
    """pommerman.md section 11: 200 games, wins 43 / 37 / 48 / 27 and 45 ties."""
    games = 400
    batch = PommermanVec(games, config("PommeFFACompetition-v0"), seed=2)
    stock, winner = SimpleVec(batch, seed=3), np.full(games, -1)
    while (winner < 0).any():
        stepped = batch.step(stock.act())
        ended = stepped.done & (winner < 0)
        winner[ended] = np.where(stepped.result == st.WIN, stepped.rewards.argmax(axis=1), 4)[ended]
    assert chi2_contingency([np.bincount(winner, minlength=5), [43, 37, 48, 27, 45]]).pvalue > 1e-4
