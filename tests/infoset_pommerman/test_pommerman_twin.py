"""The fast rules against a slow twin written from the rules alone, on arbitrary positions; and what always holds."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import pommerman_twin as twin
from extent import examples, sample
from infoset_pommerman import state as st
from infoset_pommerman.config import Config, GameType
from infoset_pommerman.engine import advance, close_in, engine
from infoset_pommerman.game import Pommerman, PommermanState
from infoset_pommerman.observation import observations
from infoset_pommerman.planes import CHANNELS, SCALARS
from infoset_pommerman.rules import scratch
from infoset_pommerman.vec import PommermanVec
from pommerman_golden import KINDS, config_of, games, to_compact, to_row
from pommerman_twin import AGENT, FLAMES, PASSAGE, RIGID, WOOD, Agent, Bomb, Flame, State
from test_pommerman_golden import RESULT, compact, joint


def bare(game_type: GameType, size: int, **options: Any) -> Config:
    """Rules for positions that are made here: no board is drawn."""
    wood = 12 if size == 11 else 0  # the paths between the corners of a large board have walls in any case
    return Config(game_type, size, **{"rigid": 0, "wood": wood, "items": 0, "max_steps": 14} | options)


RULES = (
    bare(GameType.FFA, 6),
    bare(GameType.FFA, 7, collapses=(3, 4, 6, 9)),
    bare(GameType.FFA, 11, collapses=(2, 3, 5, 6, 8, 11)),
    bare(GameType.FFA, 8, fuse=2, flame_life=1),
    bare(GameType.ONE_VS_ONE, 6, view=2),
    bare(GameType.ONE_VS_ONE, 8, flame_life=0),
    bare(GameType.TEAM, 7, view=4),
    bare(GameType.TEAM, 11),
    bare(GameType.TEAM_RADIO, 6, view=1, collapses=(4, 9)),
    bare(GameType.TEAM_RADIO, 8, view=4),
)


class Play(NamedTuple):
    """Where to begin, and the moves and words of each step."""

    rules: Config
    start: State
    steps: list[tuple[np.ndarray, np.ndarray]]


@some.composite
def plays(draw: some.DrawFn, length: int) -> Play:
    return play(draw(some.randoms(use_true_random=False)), draw(some.sampled_from(RULES)), length)


@some.composite
def equal_rules(draw: some.DrawFn, count: int, length: int) -> list[Play]:
    """Several plays by the same rules."""
    rules, rng = draw(some.sampled_from(RULES)), draw(some.randoms(use_true_random=False))
    return [play(rng, rules, length) for _ in range(count)]


def play(rng: Random, rules: Config, length: int) -> Play:
    return Play(rules, position(rng, rules), [moves_and_words(rng, rules) for _ in range(length)])


def position(rng: Random, rules: Config) -> State:
    """Any position that could be loaded: crowded, with bombs of any kind and several flames on a cell.

    Half of them are a scrum of kickers and rolling bombs on empty ground, where kicks are undone.
    """
    n, scrum = rules.size, rng.random() < 0.5
    cells = [(r, c) for r in range(n) for c in range(n)]
    board = dict.fromkeys(cells, PASSAGE)
    for value in () if scrum else (RIGID, WOOD, WOOD, *twin.ITEMS):
        board |= dict.fromkeys(rng.sample(cells, rng.randint(0, n)), value)
    side = rng.randint(3, 4 if scrum else 5)
    corner = rng.randint(0, n - side), rng.randint(0, n - side)
    crowd = [(corner[0] + r, corner[1] + c) for r in range(side) for c in range(side)]
    agents = [
        Agent(k, rng.random() < 0.9, cell, rng.choice((0, 1, 1, 2, 5, 10, 11)), rng.randint(1, 11), scrum or rng.random() < 0.5)
        for k, cell in enumerate(rng.sample(crowd, rules.num_agents))
    ]  # fmt: skip
    bombs = [
        Bomb(cell, rng.randrange(rules.num_agents), rng.choice((1, 3, 9, 9, 10)), rng.randint(0, 4), rng.randint(0, 4))
        for cell in rng.sample(crowd, rng.randint(5, 9) if scrum else rng.randint(0, 7))
    ]  # fmt: skip
    if rng.random() < 0.2:
        bombs += [Bomb(rng.choice(crowd), 0, rng.choice((-1, 0, 4)), rng.choice((1, 12)), rng.randint(0, 4))]
    burning = rng.sample(cells, 0 if scrum else rng.randint(0, 5))
    flames = [Flame(cell, rng.randint(0, rules.flame_life)) for cell in burning for _ in range(rng.randint(1, 3))]
    board |= {bomb.cell: twin.BOMB for bomb in bombs} | {flame.cell: FLAMES for flame in flames}
    covered = [cell for cell, value in board.items() if value in (WOOD, FLAMES)]
    hidden = {cell: rng.choice(twin.ITEMS) for cell in covered if rng.random() < 0.5}
    for agent in agents:
        if agent.alive:
            hidden.pop(agent.cell, None)
            board[agent.cell] = AGENT + agent.number
    steps = [step for step in range(rules.max_steps) if step not in rules.collapses]  # then walls would stand already
    return State(rng.choice(steps), board, agents, bombs, flames, hidden)


def moves_and_words(rng: Random, rules: Config) -> tuple[np.ndarray, np.ndarray]:
    """(4,) moves, mostly of walking agents, and (4, 2) words, which only the radio carries."""
    moves = np.array([rng.choice((0, 1, 2, 3, 4, 1, 2, 3, 4, 5)) for _ in range(4)], dtype=np.int16)
    words = np.zeros((4, 2), dtype=np.int16)
    if rules.game_type == GameType.TEAM_RADIO:
        words[:] = [(rng.randrange(8), rng.randrange(8)) for _ in range(4)]
    return moves, words


class Single:
    """One row that the fast rules step."""

    def __init__(self, start: State, rules: Config) -> None:
        self.row, self.rules, self.work = twin.to_row(start, rules), rules, scratch(rules.size)

    def step(self, moves: np.ndarray, words: np.ndarray) -> None:
        arrays = engine(self.rules)
        advance(self.row, self.work, arrays.settings, arrays.collapses, arrays.near, moves, words)

    def close_in(self) -> None:
        close_in(self.row, engine(self.rules).settings, engine(self.rules).collapses)

    @property
    def state(self) -> State:
        return twin.from_row(self.row, self.rules)


def agree(rules: Config, start: State, steps: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Play the same moves on both sides: after every step the same state, judgement and views."""
    fast = Single(start, rules)
    slow = fast.state
    for moves, words in steps:
        twin.step(slow, rules, moves, words)
        fast.step(moves, words)
        assert fast.state == slow
        for k, seen in enumerate(observations(fast.row, rules)):
            same_view(seen, twin.observe(slow, rules, k))
        twin.close_in(slow, rules)
        fast.close_in()
        assert fast.state == slow


def same_view(seen: dict[str, Any], expected: dict[str, Any]) -> None:
    assert seen.keys() == expected.keys()
    for key, value in expected.items():
        assert np.array_equal(seen[key], value), key
        assert getattr(seen[key], "dtype", None) == getattr(value, "dtype", None), key


@pytest.mark.parametrize("kind", KINDS)
def test_the_twin_replays_recorded_games(kind: str, shared: Path) -> None:
    """A sample of them, so that the twin can be trusted; the fast rules replay all."""
    for number, game in enumerate(games(shared, kind)):
        if number % sample(60, 30) == 0 or (kind in ("stress", "rare") and number % sample(12, 4) == 0):
            replay(game)


def replay(game: dict[str, Any]) -> None:
    rules = config_of(game)
    state = twin.from_row(to_row(game["s0"], rules), rules)
    for number, played in enumerate(game["steps"]):
        where = (game["label"], game["seed"], number)
        twin.step(state, rules, *joint(played["act"]))
        assert state.rewards[: rules.num_agents] == played["r"], where
        assert (state.result != twin.RUNNING) == played["d"], where
        if played["d"]:
            assert RESULT[state.result] == played["info"]["result"], where
        if "obs" in played:
            views = [twin.observe(state, rules, k) for k in range(rules.num_agents)]
            assert compact(views, rules) == played["obs"], where
        twin.close_in(state, rules)
        found = to_compact(twin.to_row(state, rules), rules.size, rules.num_agents)
        assert found == {key: played["s"][key] for key in found}, where
        if "m" in played["s"]:
            assert [list(agent.message) for agent in state.agents] == played["s"]["m"], where


@examples(300)
@given(played=plays(length=4))
def test_the_fast_rules_and_the_twin_agree(played: Play) -> None:
    agree(*played)


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
def test_the_fast_rules_and_the_twin_agree_for_long(rules: Config) -> None:
    for seed in range(1500):
        agree(*play(Random(seed), rules, length=4))


@examples(150)
@given(played=plays(length=6))
def test_what_never_changes(played: Play) -> None:
    rules, fast = played.rules, Single(played.start, played.rules)
    for moves, words in played.steps:
        before = fast.state
        fast.step(moves, words)
        fast.close_in()
        check_lives(before, fast.state, rules)
        check_ammo(before, fast.state)
        check_places(before, fast.state)
        check_board(before, fast.state, rules)


def check_lives(before: State, after: State, rules: Config) -> None:
    """The dead stay dead; bombs go off in time; flames end."""
    assert after.step == before.step + 1
    assert after.alive <= before.alive
    assert all(0 <= flame.life <= rules.flame_life for flame in after.flames)
    if all(bomb.life > 0 for bomb in before.bombs):
        assert all(0 < bomb.life <= max(rules.fuse, 9) for bomb in after.bombs)


def check_ammo(before: State, after: State) -> None:
    """An agent's ammo and its bombs together only grow, by the items that it takes, but ammo never beyond its ceiling."""
    for old, new in zip(before.agents, after.agents, strict=True):
        if old.ammo > twin.CEILING:
            continue  # loaded so
        shown = old.cell != new.cell and before.board[new.cell] == twin.EXTRA_BOMB
        revealed = old.cell != new.cell and before.hidden.get(new.cell) == twin.EXTRA_BOMB
        taken = {1} if shown else {0, int(revealed)}
        total = old.ammo + owned(before, old) - owned(after, new)
        assert new.ammo in {min(twin.CEILING, total + items) for items in taken}


def owned(state: State, agent: Agent) -> int:
    return sum(bomb.owner == agent.number for bomb in state.bombs)


def check_places(before: State, after: State) -> None:
    """Nobody shares a cell with its like, nor an agent that has moved with a bomb."""
    cells = [agent.cell for agent in after.agents if agent.alive]
    assert len(cells) == len(set(cells))
    if len({bomb.cell for bomb in before.bombs}) == len(before.bombs):
        bombed = [bomb.cell for bomb in after.bombs]
        assert len(bombed) == len(set(bombed))
        for old, new in zip(before.agents, after.agents, strict=True):
            assert old.cell == new.cell or not new.alive or new.cell not in bombed


def check_board(before: State, after: State, rules: Config) -> None:
    """The board shows the lists; walls stay, wood burns, items lie where they were or were hidden."""
    drawn = {bomb.cell: twin.BOMB for bomb in after.bombs} | {flame.cell: FLAMES for flame in after.flames}
    drawn |= {agent.cell: AGENT + agent.number for agent in after.agents if agent.alive}
    for cell, value in after.board.items():
        was = before.board[cell]
        if cell in drawn:
            assert value == drawn[cell]
            assert was != RIGID
        elif value == RIGID:
            assert was == RIGID or after.step in rules.collapses
        elif value == WOOD:
            assert was == WOOD
        else:
            assert was not in (RIGID, WOOD)
            assert value in (PASSAGE, was, before.hidden.get(cell))
    assert after.hidden.items() <= before.hidden.items()
    assert all(after.board[cell] in (WOOD, FLAMES) for cell in after.hidden)


@examples(80)
@given(played=equal_rules(count=3, length=5))
def test_boards_of_a_batch_play_as_they_do_alone(played: list[Play]) -> None:
    """From arbitrary positions, each until it is over; and planes say what the twin sees."""
    rules = played[0].rules
    batch, game, agents = PommermanVec(len(played), rules), Pommerman("bare", rules), rules.num_agents
    batch.restore(np.stack([twin.to_row(start, rules) for _, start, _ in played]))
    going = {b: PommermanState(game, row.copy()) for b, row in enumerate(batch.rows)}
    for step in zip(*(one.steps for one in played), strict=True):
        planes, scalars = batch.observe()
        slow = {b: twin.from_row(state.row, rules) for b, state in going.items()}
        for b, state in slow.items():
            for k in range(agents):
                same_planes(planes[b, k], scalars[b, k], twin.observe(state, rules, k), k)
        words = np.stack([said for _, said in step]) if rules.game_type == GameType.TEAM_RADIO else None
        stepped = batch.step(np.stack([moves[:agents] for moves, _ in step]), words)
        for b, state in slow.items():
            twin.close_in(state, rules)
            twin.step(state, rules, *step[b])
            going[b] = alone(going[b], *step[b])
            assert stepped.rewards[b].tolist() == state.rewards[:agents] == list(going[b].returns())
            assert (stepped.result[b], stepped.done[b]) == (state.result, going[b].terminal)
            twin.close_in(state, rules)
            assert twin.from_row(going[b].walled(), rules) == state
            if stepped.done[b]:
                assert batch.rows[b, st.STEP] == 0  # a new game
                del going[b]
            else:
                assert (batch.rows[b] == going[b].row).all()


def alone(state: PommermanState, moves: np.ndarray, words: np.ndarray) -> PommermanState:
    """The next state by the game's own interface: the dead do not move, and time goes on where all are dead."""
    radio = state.game.config.game_type == GameType.TEAM_RADIO
    acts = [(move, *said) if radio else move for move, said in zip(moves.tolist(), words.tolist(), strict=True)]
    joint = tuple(acts[k] if state.legal_actions(k) else None for k in range(len(state.game.players)))
    return state.play(joint).state


def same_planes(planes: np.ndarray, scalars: np.ndarray, view: dict[str, Any], k: int) -> None:
    """Planes and numbers of agent ``k`` say what its dictionary says; lives below 0 show as 0."""
    board, foes = view["board"], [foe for foe in view["enemies"] if foe != twin.NOBODY]
    expected = {
        "fog": board == twin.FOG,
        "passage": board == PASSAGE,
        "rigid": board == RIGID,
        "wood": board == WOOD,
        "extra_bomb": board == twin.EXTRA_BOMB,
        "incr_range": board == twin.INCR_RANGE,
        "kick": board == twin.KICK,
        "self": board == AGENT + k,
        "teammate": board == view["teammate"],
        "enemies": np.isin(board, foes),
        "bomb_blast_strength": view["bomb_blast_strength"],
        "bomb_life": view["bomb_life"].clip(min=0),
        "bomb_moving_direction": view["bomb_moving_direction"],
        "flame_life": view["flame_life"],
    }
    for plane, name in zip(planes, CHANNELS, strict=True):
        assert (plane == expected[name]).all(), name
    message = view.get("message", (0, 0))
    numbers = {"alive": AGENT + k in view["alive"], "message_1": message[0], "message_2": message[1]}
    assert dict(zip(SCALARS, scalars.tolist(), strict=True)) == numbers | {
        key: view[key] for key in ("ammo", "blast_strength", "can_kick", "step_count")
    }


def test_equal_positions_are_equal_states() -> None:
    """Agent0 lays a bomb, hides, and comes back when the fire is over; or everyone waits."""
    game = Pommerman("bare", bare(GameType.FFA, 8, max_steps=50), seed=1)
    one = other = game.start().state
    for act in (5, 2, 4, *[0] * 12, 3, 1):
        one, other = one.play((act, 0, 0, 0)).state, other.play((0, 0, 0, 0)).state
    assert twin.from_row(one.row, game.config) == twin.from_row(other.row, game.config)
    assert one == other
