"""``fsm-search`` and ``edited-simple``: modes and moves on positions by hand, whole games, and over a line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from infoset import load_agent, play_match
from infoset.errors import ParameterError
from infoset.randomness import streams
from infoset_pommerman import state as st
from infoset_pommerman.config import MAX_AGENTS, config
from infoset_pommerman.engine import advance, engine
from infoset_pommerman.game import Pommerman
from infoset_pommerman.rules import neighbours, scratch
from infoset_pommerman.search.belief import SEEN_CELL, Belief, Seat, empty_belief
from infoset_pommerman.search.edited_simple import EditedSimple
from infoset_pommerman.search.fsm_search import ATTACK, COLLECT, DIG, EVADE, SEEK, FsmSearch
from infoset_pommerman.simple import memory, simple_move, simple_scratch
from test_pommerman_scenario import DUEL, VARIANTS, agents_of, drawn

FSM, EDITED = FsmSearch(), EditedSimple()
DEAD_END = ("########", "#1.0...#", "####.#.#", "####...#")
ALONE = "1#######"


def believed(row: st.Row) -> Belief:
    """Everything is in view."""
    belief = empty_belief(DUEL)
    belief.guess[:] = row
    belief.notes[:] = row[st.STEP]
    for k in range(2):
        cell = agents_of(row)[k, st.CELL]
        belief.notes[SEEN_CELL + k] = cell
        belief.possible[k, cell // 8] = 1 << cell % 8
    return belief


class Player:
    """Agent 0 of a duel, from one decision to the next."""

    def __init__(self, parameters: FsmSearch | EditedSimple, seed: int = 0) -> None:
        self.parameters, self.room, self.stream = parameters, parameters.empty_room(DUEL), streams(seed, 1)

    def move(self, row: st.Row) -> int:
        parts = believed(row), self.room, Seat(0, 2, 0), self.parameters.settings(), engine(DUEL), self.stream
        return self.parameters.move(*parts, None)  # type: ignore[arg-type]

    def mode(self, row: st.Row) -> int:
        self.move(row)
        return int(self.room.tree.mode[0])  # type: ignore[union-attr]

    def play_on(self, row: st.Row, steps: int) -> st.Row:
        """Nobody else moves."""
        row, arrays, work = row.copy(), engine(DUEL), scratch(DUEL.size)
        moves, words = np.zeros(MAX_AGENTS, dtype=np.int16), np.zeros((MAX_AGENTS, st.WORDS), dtype=np.int16)
        for _ in range(steps):
            moves[0] = self.move(row) if agents_of(row)[0, st.ALIVE] else st.STOP
            advance(row, work, arrays.settings, arrays.collapses, arrays.near, moves, words)
        return row


# ---- modes


def test_what_presses_comes_first() -> None:
    """An enemy, an item and wood are all near; whatever is most pressing is taken away, and the next one counts."""
    lines = "##.#####", "#.0..1##", "##.+####", "##.#####"
    row = drawn(*lines, bombs=(((1, 1), 2, 3),))
    row[st.BOARD + 3 * 8 + 2] = st.EXTRA_BOMB
    assert Player(FSM).mode(row) == EVADE
    calm = drawn(*lines)
    calm[st.BOARD + 3 * 8 + 2] = st.EXTRA_BOMB
    assert Player(FSM).mode(calm) == ATTACK
    away = drawn("##.####1", "#.0..###", "##.+####", "##.#####")
    away[st.BOARD + 3 * 8 + 2] = st.EXTRA_BOMB
    assert Player(FSM).mode(away) == COLLECT
    away[st.BOARD + 3 * 8 + 2] = st.PASSAGE
    assert Player(FSM).mode(away) == DIG
    away[st.BOARD + 2 * 8 + 3] = st.RIGID
    assert Player(FSM).mode(away) == SEEK


def test_a_bomb_far_from_its_end_does_not_keep_it_from_attacking() -> None:
    """It evades within ``alarm`` steps of the fire; sooner with a greater one."""
    row = drawn("##.#####", "#.0..1##", "##.#####", "##.#####", bombs=(((1, 1), 6, 3),))
    assert Player(FSM).mode(row) == ATTACK
    assert Player(FsmSearch(alarm=8)).mode(row) == EVADE


def test_an_attack_is_not_given_up_at_once() -> None:
    """An enemy seven steps off is too far to begin one, and near enough to go on; nobody attacks without bombs."""
    far, near = drawn("0......1", "." * 8), drawn("0..1....", "." * 8)
    player = Player(FSM)
    assert player.mode(far) == SEEK
    assert player.mode(near) == ATTACK
    assert player.mode(far) == ATTACK
    agents_of(far)[0, st.AMMO] = 0
    assert player.mode(far) == SEEK


# ---- moves


@pytest.mark.parametrize("parameters", [FSM, EDITED])
@pytest.mark.parametrize("seed", range(5))
def test_it_flees_by_the_only_way(parameters: FsmSearch | EditedSimple, seed: int) -> None:
    """A bomb burns the corridor two steps later; one cell beside it is safe, and one further away from the fire."""
    row = drawn("##.#####", "##.#####", ".0.....#", "#####.##", ALONE, bombs=(((2, 0), 3, 5),))
    assert Player(parameters, seed).move(row) == st.RIGHT
    assert agents_of(Player(parameters, seed).play_on(row, 12))[0, st.ALIVE]


@pytest.mark.parametrize("seed", range(5))
def test_it_traps_an_enemy(seed: int) -> None:
    """The enemy is at the end of a dead end, all of which a bomb at its mouth burns; the agent is at the mouth."""
    row = drawn(*DEAD_END)
    agents_of(row)[0, st.BLAST] = 4
    assert Player(FSM, seed).move(row) == st.LAY
    after = agents_of(Player(FSM, seed).play_on(row, 12))
    assert after[:2, st.ALIVE].tolist() == [1, 0]


def test_the_tree_finds_the_way_to_the_mouth() -> None:
    """From two steps off no single move takes anything from the enemy; a plan of three does."""
    row = drawn("########", "#1....0#", "####.#.#", "####...#")
    agents_of(row)[0, st.BLAST] = 5
    after = agents_of(Player(FSM).play_on(row, 16))
    assert after[:2, st.ALIVE].tolist() == [1, 0]


def test_it_lays_no_bomb_that_it_cannot_leave() -> None:
    """Both the enemy and wood are within the bomb's reach, and so is every cell that the agent has."""
    row = drawn("0.1+####", "########")
    assert all(Player(parameters, seed).move(row) != st.LAY for parameters in (FSM, EDITED) for seed in range(10))


def test_it_fetches_an_item() -> None:
    row = drawn("0...#..1", "########")
    row[st.BOARD + 3] = st.INCR_RANGE
    assert Player(FSM).move(row) == st.RIGHT
    assert agents_of(Player(FSM).play_on(row, 3))[0, st.BLAST] == 3


def test_it_opens_wood_and_takes_what_was_in_it() -> None:
    row = drawn("0..+#..1", "#.######", "#..#####")
    row[st.BOARD + 64 + 3] = st.EXTRA_BOMB
    after = Player(FSM).play_on(row, 30)
    assert agents_of(after)[0, [st.ALIVE, st.AMMO]].tolist() == [1, 2]


# ---- the stock agent's edits


def stock_move(row: st.Row, seed: int) -> int:
    board, agent = row[st.BOARD :][:64].copy(), agents_of(row)[0]
    strengths = np.zeros(64, dtype=np.int16)
    for bomb in row[st.BOMBS :][: row[st.NUM_BOMBS] * st.BOMB_FIELDS].reshape(-1, st.BOMB_FIELDS):
        strengths[bomb[st.BOMB_CELL]] = bomb[st.STRENGTH]
    return int(
        simple_move(
            board, strengths, int(agent[st.CELL]), 1 << st.AGENT + 1, int(agent[st.AMMO]), int(agent[st.BLAST]), 8,
            neighbours(8), memory(), simple_scratch(8), streams(seed, 1),
        )
    )  # fmt: skip


def test_where_nothing_can_happen_it_plays_as_the_stock_agent() -> None:
    for row in (drawn("0.......", "........", ALONE), drawn("0.+.....", "........", ALONE)):
        for seed in range(20):
            assert Player(EDITED, seed).move(row) == stock_move(row, seed)


def test_the_stock_agent_runs_into_fire_and_the_edited_one_does_not() -> None:
    """A bomb is in line to the left, and up burns in the next step by another, of which the stock agent thinks nothing."""
    lines = "....####", "...0####", "###.####", "###.####", "########", ALONE
    row = drawn(*lines, bombs=(((0, 0), 1, 5), ((1, 0), 2, 4)))
    assert {stock_move(row, seed) for seed in range(20)} == {st.UP, st.DOWN}
    for seed in range(20):
        assert Player(EDITED, seed).move(row) == st.DOWN
        assert agents_of(Player(EDITED, seed).play_on(row, 12))[0, st.ALIVE]


# ---- whole games


@pytest.mark.parametrize("name", ["fsm-search", "edited-simple"])
@pytest.mark.parametrize("number", range(len(VARIANTS)))
def test_it_plays_every_variant_and_repeats_itself(name: str, number: int) -> None:
    """Alone against another, everyone for themselves, in teams, on the radio, with walls that close in."""
    rules = replace(VARIANTS[number], max_steps=50)

    def play() -> list[tuple[object, ...]]:
        match = play_match(
            Pommerman("short", rules), [name if k % 2 == 0 else "simple" for k in range(rules.num_agents)], seed=3
        )
        assert match.faults == ()
        return [step.actions for step in match.steps]

    once = play()
    assert len({moves[0] for moves in once}) > 3
    assert play() == once


@pytest.mark.parametrize("name", ["fsm-search", "edited-simple"])
def test_it_plays_over_a_line_as_here(name: str) -> None:
    game = "pommerman:PommeFFACompetition-v0(max_steps=60)"
    here, apart = (
        play_match(game, [agent, "simple", "simple", "simple"], seed=3) for agent in (name, f"isolated(agent={name})")
    )
    assert not apart.faults
    assert [step.actions for step in here.steps] == [step.actions for step in apart.steps]


@pytest.mark.parametrize(("name", "wins"), [("fsm-search", 4), ("edited-simple", 1)])
def test_against_three_stock_agents(name: str, wins: int) -> None:
    """Six games in all seats; of many it wins nine of ten, or six of ten."""
    game, agents, won = Pommerman("ffa", config("PommeFFACompetition-v0")), [load_agent(name), *["simple"] * 3], 0
    for seed in range(6):
        seats = agents[-seed % 4 :] + agents[: -seed % 4]
        won += play_match(game, seats, seed=seed).returns[seed % 4] > 0
    assert won >= wins


@pytest.mark.parametrize("wrong", [{"alarm": 12}, {"depth": 0}, {"budget": 301}, {"fetch": -1}, {"length": 21}])
def test_parameters_out_of_range(wrong: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match="out of range"):
        FsmSearch(**wrong)


def test_parameters_of_the_edited_agent_out_of_range() -> None:
    for wrong in ({"length": 1}, {"level": -1}, {"memory": -1}):
        with pytest.raises(ParameterError, match="out of range"):
            EditedSimple(**wrong)
