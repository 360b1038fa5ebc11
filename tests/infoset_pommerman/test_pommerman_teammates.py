"""Words on the radio, teammates that are strangers, and what depends on whether there are teammates at all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import infoset
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.match.agents import load_agent
from infoset_pommerman import state as st
from infoset_pommerman.config import config
from infoset_pommerman.engine import engine
from infoset_pommerman.game import Pommerman
from infoset_pommerman.search.ad_hoc import BELIEVED as SURE
from infoset_pommerman.search.belief import NEVER, SEEN_CELL, SEEN_STEP, Seat
from infoset_pommerman.search.champion import Champion
from infoset_pommerman.search.players import SearchPlayer
from infoset_pommerman.search.radio import BELIEVED, Radio
from test_pommerman_dypm import SMALL, TEAM, agents_of, believed, position, seated

RADIO = config("PommeRadioCompetition-v2")
TEAMS = "pommerman:PommeTeamCompetition-v0"
ME = Seat(0, 0b1010, 0b0100)


def radios(size: int = 8) -> tuple[Radio, Radio]:
    """Of Agent0 and of Agent2, its teammate, on a board of so many rows."""
    rules = config("PommeRadioCompetition-v2", size=size, rigid=16, wood=16, items=6)
    return Radio(ME, rules, engine(rules)), Radio(Seat(2, 0b1010, 0b0001), rules, engine(rules))


def test_what_one_sees_the_other_hears() -> None:
    """Agent2 sees Agent1 in row 2, column 6, and says so in two steps; Agent0 has not seen anybody."""
    hearer, speaker = radios()
    seen, unseen = position("........", "..2.....", "......1."), position("0.......", "........", "..2.....")
    theirs, mine = believed(seen, SMALL), believed(unseen, SMALL)
    agents_of(mine.guess)[1, st.ALIVE], mine.notes[SEEN_STEP + 1], mine.possible[1, :8] = 0, NEVER, 0xFF
    for step in range(2):
        theirs.guess[st.STEP], mine.guess[st.STEP] = step, step + 1
        words = speaker.words(theirs, st.STOP)
        assert words == (1, 1 + (2, 6)[step])
        hearer.hear(mine, words)
    assert mine.notes[SEEN_STEP + 1] == 0
    assert mine.notes[SEEN_CELL + 1] == 2 * 8 + 6
    near = {(r, c) for r in range(8) for c in range(8) if mine.possible[1, r] >> np.uint32(c) & 1}
    assert near == {(r, c) for r in range(8) for c in range(8) if abs(r - 2) + abs(c - 6) <= 2}


def test_nobody_in_view_is_silence_and_changes_nothing() -> None:
    hearer, speaker = radios()
    alone = believed(position("........", "..2....."), SMALL)
    assert speaker.words(alone, st.UP) == (1 + st.UP, 0)
    mine = believed(position("0.2....."), SMALL)
    before = mine.possible.copy()
    hearer.hear(mine, (0, 0))
    assert (mine.possible == before).all()
    assert mine.coming[2] == st.STOP


def test_what_a_teammate_says_is_planned_with_as_long_as_it_comes_true() -> None:
    """It walks to the right as it says, until it says so and stays: five times, and it is believed no more."""
    hearer, _ = radios()
    for step in range(4):
        mine = believed(position("0.......", "." * step + "2" + "." * (7 - step), step=step), SMALL)
        hearer.hear(mine, (1 + st.RIGHT, 0))
        assert mine.coming[2] == st.RIGHT
    assert hearer.credit > BELIEVED
    heard = []
    for step in range(4, 16):
        mine = believed(position("0.......", "...2....", step=step), SMALL)
        hearer.hear(mine, (1 + st.RIGHT, 0))
        heard.append(int(mine.coming[2]))
    assert heard[0] == st.RIGHT
    assert heard[-1] == st.STOP


def test_a_plan_reckons_with_the_word() -> None:
    """The teammate says that it comes here from the one side, so that it is no use to wait for the cell to be free."""
    row = position("########", "#0.2..1#", "########")
    player = seated(partial(SearchPlayer, Champion()), SMALL)
    player.belief = believed(row, SMALL)
    player.belief.coming[2] = st.LEFT
    player.decide(None)
    assert player.room.buffers.own[st.RIGHT] == -1.0  # both would be turned back
    player.belief.coming[2] = st.RIGHT
    player.decide(None)
    assert player.room.buffers.own[st.RIGHT] >= 0.0


@pytest.mark.parametrize(
    "game",
    ["pommerman:PommeRadioCompetition-v2", pytest.param("pommerman:PommeRadio-v2", marks=pytest.mark.slow)],
)
def test_champions_talk_in_matches(game: str) -> None:
    match = infoset.play_match(game, ["champion", "simple", "champion", "simple"], seed=4)
    assert not match.faults
    said = [step.actions[k] for step in match.steps for k in (0, 2) if step.actions and step.actions[k] is not None]
    words = [move[1:] for move in said if isinstance(move, tuple)]
    assert words
    assert all(1 <= first <= 6 and 0 <= second <= 8 for first, second in words)
    assert any(second for _, second in words)
    silent = infoset.play_match(game, ["champion(radio=false)", "simple"] * 2, seed=4)
    assert not any(
        any(step.actions[0][1:]) for step in silent.steps if step.actions and isinstance(step.actions[0], tuple)
    )


def test_too_few_words_for_all_moves_are_silence() -> None:
    for vocabulary in (5, 6):
        player = SearchPlayer(Champion())
        player.begin(Pommerman("few", replace(RADIO, vocabulary=vocabulary)), 0, np.random.default_rng(1), None)
        assert (player.radio is None) == (vocabulary == 5)


def test_a_teammate_that_is_known_is_found_out() -> None:
    """Played along, an agent that stands still is told from those that walk, and the other way round."""
    for mate, other in (("stop", "simple"), ("scripted(actions=[2,2,1,1,2,2,1,1,2,2,1,1,2,2,1,1])", "stop")):
        agent = load_agent(f"ad-hoc(agent=dypm,teammates=[{other},'{mate}'])")
        infoset.play_match(f"{TEAMS}(seed=1,view=10,max_steps=16)", [agent, "stop", load_agent(mate), "stop"], seed=1)
        credits = {known.name: known.credit for known in agent.types}
        assert max(credits, key=credits.__getitem__) == agent.types[1].name
        assert max(credits.values()) > SURE


def test_a_stranger_that_speaks_is_heard() -> None:
    """It walks up and down as it says; no agent of the list does, so that its word is what stands."""
    agent, walks = load_agent("ad-hoc(teammates=[stop])"), "scripted(actions=[[1,3,0],[2,2,0],[1,3,0],[2,2,0],[1,3,0]])"
    game = "pommerman:PommeRadioCompetition-v2(seed=1,view=10,max_steps=5)"
    infoset.play_match(game, [agent, "stop", load_agent(walks), "stop"], seed=1)
    assert agent.inner.belief.coming[2] == st.DOWN


def test_bad_strangers_are_told_in_a_line() -> None:
    with pytest.raises(ParameterError, match="ad-hoc: simple does not search"):
        load_agent("ad-hoc(agent=simple)")
    with pytest.raises(ParameterError, match="teammates are missing"):
        load_agent("ad-hoc(teammates=[])")
    with pytest.raises(UnsupportedGameError, match="there are no teammates in pommerman:PommeFFA"):
        infoset.play_match("pommerman:PommeFFACompetition-v0", ["ad-hoc", "stop", "stop", "stop"])


def test_who_is_for_itself_is_more_careful() -> None:
    """In a free-for-all a kill helps all others, too; what the caller says stands."""
    teams, alone = (Champion(floor=0.1).for_game(rules) for rules in (TEAM, config("PommeFFACompetition-v0")))
    assert (teams.threat, alone.threat) == (1.0, 0.0)
    assert (teams.threshold, alone.threshold) == (0.5, 0.9)
    assert teams.floor == alone.floor == 0.1
    assert Champion().for_game(config("OneVsOne-v0")) == Champion().for_game(TEAM)
