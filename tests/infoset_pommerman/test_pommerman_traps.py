"""The game of a runner and a blocker against a literal twin, and what it tells the champion on boards by hand."""

from __future__ import annotations

from functools import cache, partial
from time import monotonic

import numpy as np
import pytest

from infoset_pommerman import state as st
from infoset_pommerman.engine import engine
from infoset_pommerman.search.cellsets import contains
from infoset_pommerman.search.champion import Champion
from infoset_pommerman.search.players import SearchPlayer
from infoset_pommerman.search.scenario import Scenario, empty_scenario, spread_crowd
from infoset_pommerman.search.traps import empty_traps, lay_traps
from test_pommerman_dypm import SMALL, TEAM, agents_of, believed, moves_on, played_on, position, seated

CHAMPION = partial(SearchPlayer, Champion())
LENGTH = 5
SIZE = SMALL.size


def random_scenario(rng: np.random.Generator) -> Scenario:
    """A future of nothing but chance: no board burns and opens like this."""
    s = empty_scenario(SMALL)
    for t in range(LENGTH + 1):
        for r in range(SIZE):
            walls, fire = rng.random(SIZE) < 0.25, rng.random(SIZE) < 0.2
            s.open[t, r] = sum(1 << c for c in range(SIZE) if not walls[c])
            s.fire[t, r] = sum(1 << c for c in range(SIZE) if fire[c])
    s.crowd[0] = (1 << SIZE) - 1
    spread_crowd(s, LENGTH, LENGTH, SIZE)
    return s


def steps_from(s: Scenario, t: int, cell: int) -> list[int]:
    """Where one can try to go."""
    r, c = divmod(cell, SIZE)
    near = [(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]
    inside = [i * SIZE + j for i, j in near if 0 <= i < SIZE and 0 <= j < SIZE]
    return [cell, *(to for to in inside if contains(s.open[t], to, SIZE))]


@pytest.mark.parametrize("seed", range(12))
def test_the_game_is_as_the_twin_has_it(seed: int) -> None:
    """Every cell of the runner and of the blocker, at the first moment."""
    s, near = random_scenario(np.random.default_rng(seed)), engine(SMALL).near

    def burns(t: int, cell: int) -> bool:
        return bool(contains(s.fire[t], cell, SIZE))

    @cache
    def lives(t: int, runner: int, blocker: int | None) -> bool:
        if burns(t, runner):
            return False
        return t == LENGTH or any(all(outcomes(t, runner, to, blocker)) for to in steps_from(s, t, runner))

    def outcomes(t: int, runner: int, to: int, blocker: int | None) -> list[bool]:
        if blocker is None:
            return [lives(t + 1, to, None)]
        goes: list[int | None] = [at for at in steps_from(s, t, blocker)[1:] if not burns(t + 1, at)]
        stays = None if burns(t + 1, blocker) else blocker  # who stays in the fire is in nobody's way
        found = []
        for at in [stays, *goes]:
            if at == to:  # nobody moves
                found.append(lives(t + 1, runner, stays))
            else:
                found.append(lives(t + 1, to, at))
                if to == blocker and at == runner:  # nor here; the kernel asks for both
                    found.append(lives(t + 1, runner, stays))
        return found

    traps = empty_traps(SMALL)
    safe = traps.safe[lay_traps(traps, s, 0, LENGTH, near, SIZE)]
    some = 0
    for runner in range(SIZE**2):
        assert contains(safe[SIZE**2, 1:], runner, SIZE) == lives(0, runner, None)
        for blocker in range(SIZE**2):
            if blocker != runner and not burns(0, blocker):
                found = lives(0, runner, blocker)
                assert contains(safe[blocker, 1:], runner, SIZE) == found
                some += found != lives(0, runner, None)
    assert some > 0


def test_a_fire_may_burn_one_who_is_kept_in_it() -> None:
    """The corridor burns with the next step but one; its only way out has room for one, and an enemy is as near to it."""
    row = position("########", "#.0.1###", "###.####", "###.####", bombs=((1, 1, 3, 2, 7, st.STOP),))
    player = seated(CHAMPION, SMALL)
    player.belief = believed(row, SMALL)
    player.decide(None)
    risk = player.room.plans.risks.risk
    assert risk[st.STOP] > 0.0
    assert risk[st.RIGHT] > 0.0  # both may want that cell


def test_who_has_no_other_way_wants_the_same_cell() -> None:
    """Both stand in the fire of a bomb that goes off, and the enemy can only go where the agent could; then both stay."""
    row = position("########", "########", "...0....", "###.1###", "########", bombs=((3, 3, 0, 1, 2, st.STOP),))
    player = seated(CHAMPION, SMALL)
    player.belief = believed(row, SMALL)
    assert player.decide(None) == st.LEFT
    risk = player.room.plans.risks.risk
    assert risk[st.LEFT] < risk[st.RIGHT] == Champion().block_risk


def test_two_can_shut_in_whom_one_cannot() -> None:
    """Ways out to both sides, an enemy beside each: either alone would leave one."""
    lines = ("########", "#1.0.{}##", "##.#.###", "##.#.###")
    bomb = ((1, 3, 1, 3, 2, st.STOP),)
    risks = []
    for other in "3.":
        row = position(*(line.format(other) for line in lines), rules=TEAM, bombs=bomb)
        player = seated(CHAMPION, TEAM)
        player.belief = believed(row, TEAM)
        player.decide(None)
        risks.append(player.room.plans.risks.risk[st.STOP])
    assert risks[0] > risks[1] == 0.0


def test_a_kick_that_may_fail_is_no_way_out() -> None:
    """The only way out is behind the bomb; pushing it on needs a cell, which an enemy can take or cannot."""
    risks = []
    for enemy in ("#1", "1#"):
        row = position("########", f"###0..{enemy}", "####.###", "####.###", bombs=((1, 4, 0, 2, 3, st.STOP),))
        agents_of(row)[0, st.CAN_KICK] = 1
        player = seated(CHAMPION, SMALL)
        player.belief = believed(row, SMALL)
        player.decide(None)
        risks.append(player.room.plans.risks.risk[st.RIGHT])
    assert risks[0] == 0.0 < risks[1]


def test_it_lays_no_bomb_where_an_enemy_can_shut_it_in() -> None:
    """A dead end in which it would outrun its bomb easily, were it not for the enemy that comes after it."""
    row = position("########", "#.+0..1.", "########")
    for seed in range(3):
        assert agents_of(played_on(CHAMPION, row, 14, seed=seed))[0, st.ALIVE]
    assert st.LAY not in moves_on(CHAMPION, row)


def test_it_answers_by_a_deadline() -> None:
    """Without time by plans of one action; with time enough what it would do without a deadline."""
    row = position("........", ".0......", ".....1..", "...+....")

    def scores(depth: int, deadline: float | None) -> list[float]:
        player = seated(partial(SearchPlayer, Champion(depth=depth)), SMALL)
        player.belief = believed(row, SMALL)
        player.decide(deadline)
        return player.room.plans.best.tolist()

    assert scores(3, monotonic() + 60.0) == scores(3, None)
    assert scores(3, monotonic()) == scores(1, None) != scores(3, None)
