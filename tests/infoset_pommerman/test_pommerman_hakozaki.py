"""``hakozaki``: survivability by times of first occupation against a literal twin, positions by hand, whole games."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic, thread_time

import numpy as np
import pytest

from infoset import play_match
from infoset.errors import ParameterError
from infoset.randomness import streams
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, Config
from infoset_pommerman.engine import advance, engine
from infoset_pommerman.game import Pommerman
from infoset_pommerman.rules import scratch
from infoset_pommerman.search.belief import Belief, empty_belief
from infoset_pommerman.search.hakozaki import (
    Hakozaki,
    empty_buffers,
    hakozaki_move,
    prepare,
    survivability,
)
from infoset_pommerman.search.players import SearchPlayer
from infoset_pommerman.search.scenario import empty_scenario, spread_crowd
from test_pommerman_scenario import DUEL, VARIANTS, Cell, Future, Workspace, agents_of, drawn, positions, to_words

NEVER = 10**6


# ---- survivability


def first_occupied(future: Future) -> dict[Cell, int]:
    """The moment from which others may have been on each cell."""
    found: dict[Cell, int] = {}
    for t, cells in enumerate(future.crowd):
        for cell in cells:
            found.setdefault(cell, t)
    return found


def value_of(future: Future, cell: Cell, length: int) -> dict[Cell, int]:
    """For each cell where one can end: of the best way there, when the others could be first where it meets them."""
    first = first_occupied(future)
    best = {cell: length + 1} if cell not in future.fire[0] else {}
    for t in range(length):
        reached: dict[Cell, int] = {}
        for here, worth in best.items():
            for r, c in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)):
                there = (here[0] + r, here[1] + c)
                if (there != here and there not in future.open[t]) or there in future.fire[t + 1]:
                    continue
                met = first.get(there, NEVER)
                reached[there] = max(reached.get(there, 0), min(worth, met) if met <= t + 1 else worth)
        best = {there: worth for there, worth in reached.items() if worth > 0}
    return best


@pytest.mark.parametrize("number", range(len(VARIANTS)))
def test_survivability_is_as_the_twin_has_it(number: int) -> None:
    """Positions of all variants, and in each an agent and two others anywhere on the board."""
    rules, met, free = VARIANTS[number], 0, 0
    room, rng = Workspace(rules), np.random.default_rng(number)
    for row in positions(rules, 100, seed=200 + number):
        length = int(rng.integers(6, 14))
        room.unroll(row, length, 0, 0)
        ways = sorted(Future.of(row, rules, length, set(), 0).open[0])
        cell, *others = [ways[k] for k in rng.choice(len(ways), 3, replace=False)]
        crowd = set(others)
        room.scenario.crowd[0] = to_words(crowd, rules.size)
        spread_crowd(room.scenario, length, length, rules.size)
        found, alone, _ = survivability(room.scenario, cell[0] * rules.size + cell[1], length, rules.size)
        expected = value_of(Future.of(row, rules, length, crowd, length), cell, length)
        assert found == pytest.approx(sum(expected.values()) / (length + 1), abs=1e-12)
        assert alone == len(Future.of(row, rules, length, crowd, 0).forward(cell)[length])
        met += found < alone
        free += found == alone > 0
    assert met > 10
    assert free > 10


def test_a_corridor_with_an_enemy_in_it() -> None:
    """Five cells and an enemy on the last, who is on cell 3 - t after t + 1 steps.

    Cell 0 is theirs from moment 4 on, cell 1 from 3, cell 2 from 2, cell 3 from 1, cell 4 from 0.  Staying on cell 0 is
    worth 4 of 11, and whoever ends on cell n has been met from moment 4 - n on.
    """
    room = Workspace(DUEL)
    row = drawn("0...1###")
    room.unroll(row, 10, 0, 10)
    found, alone, lasted = survivability(room.scenario, 0, 10, 8)
    assert found == pytest.approx((4 + 3 + 2 + 1) / 11)
    assert (alone, lasted) == (4, 10)


# ---- positions by hand


def believed(row: st.Row, rules: Config) -> Belief:
    """Everything is in view."""
    belief = empty_belief(rules)
    belief.guess[:] = row
    belief.notes[:] = row[st.STEP]
    return belief


def decide(row: st.Row, me: int = 0, seed: int = 0, rules: Config = DUEL) -> int:
    return int(
        hakozaki_move(
            believed(row, rules), empty_scenario(rules), empty_buffers(rules), me, 1 << 1 - me, 0,
            Hakozaki().settings(), engine(rules), streams(seed, 1),
        )
    )  # fmt: skip


def play_on(row: st.Row, steps: int, seed: int) -> st.Row:
    """Agent 0 decides, agent 1 moves at random, but lays no bombs."""
    row, arrays, rng = row.copy(), engine(DUEL), np.random.default_rng(seed)
    moves, words = np.zeros(MAX_AGENTS, dtype=np.int16), np.zeros((MAX_AGENTS, st.WORDS), dtype=np.int16)
    for _ in range(steps):
        if agents_of(row)[0, st.ALIVE]:
            moves[0], moves[1] = decide(row), rng.integers(0, st.LAY)
        advance(row, scratch(DUEL.size), arrays.settings, arrays.collapses, arrays.near, moves, words)
    return row


def test_it_leaves_the_only_way() -> None:
    """A bomb burns the corridor two steps later; one cell beside it is safe, and one further away from the fire."""
    row = drawn("##.#####", "##.#####", ".0.....#", "#####.##", bombs=(((2, 0), 3, 5),))
    assert decide(row) == st.RIGHT
    assert all(agents_of(play_on(row, 12, seed))[0, st.ALIVE] for seed in range(5))


def test_it_does_not_fetch_what_burns() -> None:
    """The item lies at the end of a dead end that burns before one is out of it."""
    row = drawn("#.######", "#0....##", "#.######", "#.######", bombs=(((1, 6), 3, 6),))
    row[st.BOARD + 10] = st.EXTRA_BOMB
    after = play_on(row, 12, 0)
    assert agents_of(after)[0, st.ALIVE]


def test_it_takes_a_certain_kill() -> None:
    """The enemy is at the end of a dead end, all of which a bomb at its mouth burns."""
    row = drawn("########", "#1.0...#", "####.#.#", "####...#")
    agents_of(row)[0, st.BLAST] = 4
    assert decide(row) == st.LAY
    for seed in range(5):
        after = agents_of(play_on(row, 12, seed))
        assert after[0, st.ALIVE]
        assert not after[1, st.ALIVE]


def test_replies_begin_with_the_likely_ones() -> None:
    """First nobody does anything, then one agent, then two; every joint action of the others is there once."""
    rules = VARIANTS[1]
    for row in positions(rules, 20, seed=1):
        if not agents_of(row)[0, st.ALIVE]:
            continue
        buffers = empty_buffers(rules)
        count = prepare(believed(row, rules), buffers, 0, engine(rules))
        others = [k for k in range(1, MAX_AGENTS) if buffers.choices[k]]
        assert count == np.prod(buffers.choices[others])
        replies = buffers.replies[:count, others]
        assert len({tuple(reply) for reply in replies.tolist()}) == count
        busy = (replies != buffers.options[others, 0]).sum(axis=1)
        assert (np.diff(busy) >= 0).all()


# ---- whole games


@pytest.mark.parametrize("number", range(len(VARIANTS)))
def test_it_plays_every_variant_and_repeats_itself(number: int) -> None:
    """Alone against another, everyone for themselves, in teams, on the radio, with walls that close in."""
    rules = replace(VARIANTS[number], max_steps=50)

    def play() -> list[tuple[object, ...]]:
        agents = [SearchPlayer(Hakozaki(budget=60)) if k % 2 == 0 else "simple" for k in range(rules.num_agents)]
        match = play_match(Pommerman("short", rules), agents, seed=3)
        assert match.faults == ()
        return [step.actions for step in match.steps]

    once = play()
    assert len({moves[0] for moves in once}) > 3
    assert play() == once


def test_a_deadline_is_kept() -> None:
    """A millisecond for each decision among four agents in view; most of them in time."""
    rules = VARIANTS[1]
    player, late = SearchPlayer(Hakozaki(budget=1296)), []
    player.begin(Pommerman("ffa", rules), 0, np.random.default_rng(0), None)
    for row in positions(rules, 60, seed=2):
        if agents_of(row)[0, st.ALIVE]:
            player.belief = believed(row, rules)
            begun = thread_time()  # what other processes take does not count
            assert player.decide(monotonic() + 1e-3) in range(st.LAY + 1)
            late.append(thread_time() - begun > 2e-3)
    assert len(late) > 20
    assert np.mean(late[5:]) < 0.5


@pytest.mark.parametrize("wrong", [{"length": 21}, {"budget": 0}, {"floor": 0.0}, {"item": float("nan")}])
def test_parameters_out_of_range(wrong: dict[str, float]) -> None:
    """A longer scenario than there is room for would be written beyond its end."""
    with pytest.raises(ParameterError, match="out of range"):
        Hakozaki(**wrong)
