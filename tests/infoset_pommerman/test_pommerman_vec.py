"""Many boards at once: the same games as one by one, whatever the number of threads; planes as the dictionaries say."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import pommerman_twin as twin
from extent import examples
from infoset.errors import ParameterError
from infoset_pommerman import state as st
from infoset_pommerman.config import Config, config
from infoset_pommerman.engine import advance, engine
from infoset_pommerman.game import Pommerman
from infoset_pommerman.observation import observations
from infoset_pommerman.planes import CHANNELS, SCALARS
from infoset_pommerman.rules import scratch
from infoset_pommerman.vec import PommermanVec

NAMES = ("PommeFFACompetition-v0", "OneVsOne-v0", "PommeTeamCompetition-v0", "PommeRadio-v2", "PommeFFA-v1")


def random_moves(rules: Config, steps: int, boards: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 6, (steps, boards, rules.num_agents)).astype(np.int16)


@pytest.mark.parametrize("name", NAMES)
def test_batches_play_the_same_games_as_single_boards(name: str) -> None:
    rules = config(name)
    batch, arrays, work = PommermanVec(16, rules, seed=3), engine(rules), scratch(rules.size)
    words = np.zeros((4, 2), dtype=np.int16)
    for moves in random_moves(rules, 40, 16):
        before = batch.rows.copy()
        stepped = batch.step(moves)
        for b, row in enumerate(before):
            advance(row, work, arrays.settings, arrays.collapses, arrays.near, moves[b], words)
            assert stepped.rewards[b].tolist() == row[st.REWARDS :][: rules.num_agents].tolist()
            assert stepped.done[b] == (row[st.RESULT] != st.RUNNING)
            if stepped.done[b]:
                assert batch.rows[b, st.STEP] == 0  # a new game
            else:
                assert (batch.rows[b] == row).all()


def test_threads_change_nothing() -> None:
    rules = config("PommeTeamCompetition-v0")
    one, two = PommermanVec(101, rules, seed=8), PommermanVec(101, rules, seed=8, threads=3)
    for moves in random_moves(rules, 60, 101):
        one.step(moves)
        two.step(moves)
    assert (one.rows == two.rows).all()
    assert (one.observe()[0] == two.observe()[0]).all()


def test_positions_are_restored() -> None:
    rules = config("PommeFFACompetition-v0")
    batch = PommermanVec(8, rules, seed=1)
    saved, moves = batch.rows.copy(), random_moves(rules, 5, 8)
    for joint in moves:
        batch.step(joint)
    ends = batch.rows.copy()
    batch.restore(saved)
    for joint in moves:
        batch.step(joint)
    assert (batch.rows[:, : st.BOMBS] == ends[:, : st.BOMBS]).all()


@pytest.mark.parametrize("name", NAMES)
def test_planes_say_what_the_dictionaries_say(name: str) -> None:
    rules = config(name)
    batch = PommermanVec(6, rules, seed=5)
    for moves in random_moves(rules, 15, 6):
        batch.step(moves)
        planes, scalars = batch.observe()
        for b, row in enumerate(batch.rows):
            for k, seen in enumerate(observations(row, rules)):
                plane = dict(zip(CHANNELS, planes[b, k], strict=True))
                number = dict(zip(SCALARS, scalars[b, k].tolist(), strict=True))
                board = seen["board"]
                for value, channel in enumerate(("passage", "rigid", "wood")):
                    assert (plane[channel] == (board == value)).all()
                assert (plane["fog"] == (board == st.FOG)).all()
                assert (plane["self"] == (board == st.AGENT + k)).all()
                assert (plane["teammate"] == (board == seen["teammate"])).all()
                assert (plane["enemies"] == np.isin(board, [e for e in seen["enemies"] if e != st.DUMMY])).all()
                for item, channel in enumerate(("extra_bomb", "incr_range", "kick"), start=6):
                    assert (plane[channel] == (board == item)).all()
                for channel in ("bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life"):
                    assert (plane[channel] == seen[channel]).all()
                for channel in ("ammo", "blast_strength", "can_kick", "step_count"):
                    assert number[channel] == seen[channel]
                assert number["alive"] == (st.AGENT + k in seen["alive"])


@examples(30)
@given(seed=some.integers(0, 2**32), name=some.sampled_from(NAMES[:4]))
def test_what_never_changes(seed: int, name: str) -> None:
    """An agent's ammo and its bombs on the board only grow, by items; no life is negative; no two share a cell."""
    rules = config(name)
    batch = PommermanVec(8, rules, seed=seed)
    for moves in random_moves(rules, 30, 8, seed):
        owned = [bombs_and_ammo(row) for row in batch.rows]
        stepped = batch.step(moves)
        for b, row in enumerate(batch.rows):
            if stepped.done[b]:
                continue
            after = bombs_and_ammo(row)
            assert all(0 <= new - old <= 1 for new, old in zip(after, owned[b], strict=True))
            agents = row[st.AGENTS : st.MESSAGES].reshape(4, -1)
            cells = agents[agents[:, st.ALIVE] == 1][:, st.CELL]
            assert len(set(cells.tolist())) == len(cells)
            bombs = row[st.BOMBS :][: row[st.NUM_BOMBS] * st.BOMB_FIELDS].reshape(-1, st.BOMB_FIELDS)
            assert (bombs[:, st.LIFE] > 0).all()


def bombs_and_ammo(row: np.ndarray) -> list[int]:
    agents = row[st.AGENTS : st.MESSAGES].reshape(4, -1)
    bombs = row[st.BOMBS :][: row[st.NUM_BOMBS] * st.BOMB_FIELDS].reshape(-1, st.BOMB_FIELDS)
    return [int(agents[k, st.AMMO] + (bombs[:, st.OWNER] == k).sum()) for k in range(4)]


def test_wrong_arguments_are_named() -> None:
    rules = config("OneVsOne-v0")
    batch = PommermanVec(4, rules)
    with pytest.raises(
        ParameterError, match=r"moves of shape \(4, 4\) and type int16; needed: integers of shape \(4, 2\)"
    ):
        batch.step(np.zeros((4, 4), dtype=np.int16))
    with pytest.raises(ParameterError, match="moves from 0 to 6; allowed: 0 to 5"):
        batch.step(np.full((4, 2), 6) * np.array([0, 1]))
    with pytest.raises(ParameterError, match=r"moves of shape .* and type float64"):
        batch.step(np.full((4, 2), np.nan))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="words need a radio"):
        batch.step(np.zeros((4, 2), dtype=np.int16), np.zeros((4, 2, 2), dtype=np.int16))
    radio = PommermanVec(1, config("PommeRadio-v2"))
    with pytest.raises(ParameterError, match=r"words of shape \(1, 4, 1\)"):
        radio.step(np.zeros((1, 4), dtype=np.int16), np.zeros((1, 4, 1), dtype=np.int16))
    with pytest.raises(ParameterError, match="words from 0 to 9; allowed: 0 to 8"):
        radio.step(np.zeros((1, 4), dtype=np.int16), np.arange(8).reshape(1, 4, 2) * 9 // 7)
    with pytest.raises(ParameterError, match="num_envs=0 is out of range"):
        PommermanVec(0, rules)
    with pytest.raises(ParameterError, match="rows of shape"):
        batch.restore(np.zeros((2, 2), dtype=np.int16))


def test_walls_are_seen_a_step_later() -> None:
    rules = Config(collapses=(1,), rigid=0, wood=12, items=0, max_steps=10)
    batch = PommermanVec(1, rules)
    walls = CHANNELS.index("rigid")
    stop = np.zeros((1, 4), dtype=np.int16)
    batch.step(stop)
    assert not batch.observe()[0][:, :, walls].any()
    batch.step(stop)
    assert batch.observe()[0][0, :, walls].sum(axis=(1, 2)).tolist() == [40] * 4


def test_one_game_is_played_in_many_threads() -> None:
    game = Pommerman("threads", config("PommeFFACompetition-v0"), seed=3)
    moves = random_moves(game.config, 10, 200, seed=6)

    def ends(thread: int) -> list[bytes]:
        del thread
        found = []
        for b in range(200):
            state = game.start().state
            for joint in moves[:, b].tolist():
                state = state.play_unchecked(joint).state
            found.append(state.key)
        return found

    with ThreadPoolExecutor(4) as pool:
        one, *others = pool.map(ends, range(8))
    assert all(other == one for other in others)


def test_long_fires_find_room_and_long_fuses_are_refused() -> None:
    """Kicking one bomb after the other into a corner that burns on and on."""
    rules = Config(size=6, rigid=0, wood=0, items=0, start_kick=True, start_blast=1, flame_life=100, max_steps=400)
    game = Pommerman("fires", rules, seed=1)
    state = game.start().state
    slow, deepest = twin.from_row(state.row, rules), 0
    while not state.terminal:
        acts = (st.LAY, st.LEFT, st.RIGHT)[state.row[st.STEP] % 3], st.STOP, st.STOP, st.STOP
        state = state.play_unchecked(acts).state
        twin.step(slow, rules, acts, [(0, 0)] * 4)
        assert twin.from_row(state.row, rules) == slow
        deepest = max(deepest, max(Counter(flame.cell for flame in slow.flames).values(), default=0))
    assert deepest > 3  # more than flames of an ordinary life can lie on one cell
    with pytest.raises(ParameterError, match="allowed: a fuse up to 15"):
        Config(fuse=16, start_ammo=10, items=30)
