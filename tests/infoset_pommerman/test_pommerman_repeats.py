"""Going in circles, and what a position threatens, on boards by hand."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from infoset_pommerman import state as st
from infoset_pommerman.search.champion import Champion
from infoset_pommerman.search.dypm import Dypm
from infoset_pommerman.search.fsm_search import FsmSearch
from infoset_pommerman.search.hakozaki import Hakozaki
from infoset_pommerman.search.players import SearchPlayer
from infoset_pommerman.search.repeats import empty_repeats, recall, times_tried
from test_pommerman_dypm import SMALL, TEAM, agents_of, believed, position, seated


def test_the_same_situation_is_found_again_whatever_the_time() -> None:
    """Agents, bombs and the own ammunition make it; neither the step nor what happened on the way."""
    lines, bombs = ("........", ".0......", ".....1.."), ((2, 2, 0, 5, 2, st.STOP),)
    row, memory = position(*lines, bombs=bombs), empty_repeats()
    recall(memory, row, 0)
    memory.tried[memory.now[0], st.UP] += 1
    later = position(*lines, bombs=bombs, step=120)
    recall(memory, later, 0)
    assert [times_tried(memory, move) for move in range(st.LAY)] == [0, 1, 0, 0, 0]
    assert times_tried(memory, st.LAY) == 1  # a bomb is as tiresome as whatever was done most
    for others in (
        position(".......1", ".0......", "........", bombs=bombs),  # the enemy is elsewhere
        position(*lines, bombs=((2, 2, 0, 4, 2, st.STOP),)),  # the bomb goes off earlier
        position(*lines, bombs=((2, 3, 0, 5, 2, st.STOP),)),  # it lies elsewhere
    ):
        recall(memory, others, 0)
        assert times_tried(memory, st.UP) == 0
    agents_of(row)[0, st.AMMO] += 1
    recall(memory, row, 0)
    assert times_tried(memory, st.UP) == 0


@pytest.mark.parametrize("kind", [Champion, Dypm, Hakozaki, FsmSearch])
def test_whoever_comes_back_does_something_else(kind: Any) -> None:
    """A crossing with four like ways: it takes the one that it did not take yet; one that cannot tire takes any."""
    row = position("###.####", "###.####", "###.####", "...0....", "###.####", "###.####", "###.####", "########")

    def taken(tired: float, left: int) -> int:
        player = seated(partial(SearchPlayer, kind(tired=tired, most_tired=3.0)), SMALL)
        player.belief, memory = believed(row, SMALL), player.room.buffers.repeats
        recall(memory, row, 0)
        memory.tried[memory.now[0]] = 10
        memory.tried[memory.now[0], left] = 0
        return player.decide(None)

    ways = [st.UP, st.DOWN, st.LEFT, st.RIGHT]
    assert [taken(1.0, way) for way in ways] == ways
    assert [taken(0.0, way) for way in ways] != ways


def test_who_waits_beside_a_bomb_has_less_and_less_time() -> None:
    """All of a corridor will burn but what is round its corner: for each step that it waits it may wait one less."""
    slack = []
    for life in (8, 7, 6):
        row = position("########", "#.0...##", "#####.1#", "########", bombs=((1, 2, 0, life, 9, st.STOP),))
        player = seated(partial(SearchPlayer, Champion()), SMALL)
        player.belief = believed(row, SMALL)
        player.decide(None)
        slack.append(player.room.plans.risks.slack[[st.STOP, st.RIGHT]].tolist())
    stays = [stop for stop, _ in slack]
    assert stays == [stays[0], stays[0] - 1, stays[0] - 2]
    assert all(right >= stop for stop, right in slack)


def threats(row: st.Row, **parameters: float) -> np.ndarray:
    player = seated(partial(SearchPlayer, Champion(**parameters)), SMALL)
    player.belief = believed(row, SMALL)
    player.decide(None)
    return player.room.plans.threat


def test_a_dead_end_with_a_bomb_and_its_mouth() -> None:
    """The bomb burns all the corridor, the only way out is between the two: whoever is there first keeps the other in."""
    row = position("########", "#..1.0..", "####.###", "########", bombs=((1, 1, 1, 6, 9, st.STOP),))
    found = threats(row, ambush=0.0)
    assert found[st.LEFT] == pytest.approx(2.0)  # wherever the enemy goes, and for sure
    assert found[st.RIGHT] < found[st.LEFT]


def test_without_a_bomb_nobody_is_trapped() -> None:
    """Standing in the way of somebody who need not go anywhere is no threat; with one bomb more it is."""
    row = position("########", "#1...0..", "###.####", "########")
    agents_of(row)[0, st.BLAST] = 5
    assert (threats(row, ambush=0.0)[: st.LAY] == 0.0).all()
    assert threats(row, ambush=0.5)[st.LEFT] > 0.0


def test_a_kick_and_another_in_the_way() -> None:
    """One enemy pushes a bomb into the dead end, the other shuts its door: together they do what neither does alone."""
    risks = []
    for other in "3.":
        lines = ("########", "#0..1###", "#.######", f"#{other}......")
        row = position(*lines, rules=TEAM, bombs=((1, 3, 1, 9, 2, st.STOP),))
        player = seated(partial(SearchPlayer, Champion()), TEAM)
        player.belief = believed(row, TEAM)
        player.decide(None)
        risks.append(player.room.plans.risks.risk[st.STOP])
    assert risks == [Champion().bomb_risk, 0.0]
