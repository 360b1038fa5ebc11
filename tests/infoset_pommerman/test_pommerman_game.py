"""Pommerman as a game like any other: conformance, matches, replays, and the reference's dictionaries."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from infoset import load, play_match, play_series, replay_states, testing
from infoset.errors import IllegalActionError, ParameterError, UnknownNameError, UnsupportedGameError
from infoset.match.replay import Match
from infoset.tree.game_tree import GameTree
from infoset_pommerman import state as st
from infoset_pommerman.config import CONFIGS, Config, collapse_steps
from infoset_pommerman.game import Pommerman
from infoset_pommerman.observation import MAPS, read_observation

VARIANTS = ("PommeFFACompetition-v0", "OneVsOne-v0", "PommeTeamCompetition-v0", "PommeRadio-v2", "PommeFFA-v1")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_conformance_test(variant: str) -> None:
    testing.check_game(load(f"pommerman:{variant}"), plays=2)
    testing.check_game(load(f"pommerman:{variant}(seed=5)"), plays=2)


def test_walls_close_in_after_the_step_was_seen() -> None:
    """Nobody sees the walls of the first ring in the step after which they stand."""
    short = Config(collapses=(1, 2), rigid=0, wood=12, items=0, max_steps=10)
    state = Pommerman("short", short, seed=1).start().state
    step = state.play((0, 0, 0, 0))
    shown = read_observation(step.observation(0), short, 0)["board"]
    assert (shown[0] == 0).all()
    assert (step.state.walled().reshape(-1)[st.BOARD :][: short.size] == st.RIGID).all()
    after = step.state.play((0, 0, 0, 0))
    assert (read_observation(after.observation(0), short, 0)["board"][0] == 1).all()
    assert not after.state.terminal
    assert after.state.legal_actions(0)  # nobody knows yet that the walls of the second ring kill all four
    last = after.state.play((0, 0, 0, 0)).state
    assert last.terminal
    assert last.returns() == (-1.0, -1.0, -1.0, -1.0)


def test_schedules() -> None:
    assert collapse_steps(500, 800) == (500, 575, 650, 725)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_agents_see_is_the_reference_s_dictionary(variant: str) -> None:
    """Its types; its values are those of the recorded games, see ``test_pommerman_golden``."""
    game = load(f"pommerman:{variant}(seed=7)")
    assert isinstance(game, Pommerman)
    found = read_observation(game.start().observation(1), game.config, 1)
    assert found["board"].dtype == np.uint8
    assert all(found[name].dtype == np.float64 and found[name].shape == found["board"].shape for name in MAPS)
    kinds = {"alive": list, "position": tuple, "ammo": int, "can_kick": bool, "enemies": list, "game_env": str}
    assert all(type(found[key]) is kind for key, kind in kinds.items())
    assert ("message" in found) == (variant == "PommeRadio-v2")


def test_seeds_give_boards_and_boards_give_states() -> None:
    one, same, other = (load(f"pommerman:OneVsOne-v0(seed={s})").start().state for s in (1, 1, 2))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert pickle.loads(pickle.dumps(one)) == one


def test_matches_and_replays(tmp_path) -> None:
    """Chance's answer is the seed of the board, so a replay is moves and one number."""
    match = play_match("pommerman:PommeTeamCompetition-v0", ["random"] * 4, seed=3)
    again, other = (play_match("pommerman:PommeTeamCompetition-v0", ["random"] * 4, seed=s) for s in (3, 4))
    assert [(step.actions, step.chance_outcome) for step in again.steps] == [
        (step.actions, step.chance_outcome) for step in match.steps
    ]
    assert other.steps[0].chance_outcome != match.steps[0].chance_outcome
    loaded = Match.load(match.save(tmp_path / "match.json"))
    assert replay_states(loaded)[-1].returns() == match.returns
    assert isinstance(match.steps[0].chance_outcome, int)


def test_what_cannot_be_played_is_refused() -> None:
    game = load("pommerman:PommeFFACompetition-v0")
    with pytest.raises(IllegalActionError, match="chance cannot choose -1"):
        game.start().state.play((None,) * 4, -1)
    with pytest.raises(UnsupportedGameError, match="boards are too many to list"):
        GameTree.of(game)
    state = load("pommerman:PommeFFACompetition-v0(seed=1)").start().state
    with pytest.raises(IllegalActionError, match="player 2 cannot play 6"):
        state.play((0, 0, 6, 0))
    with pytest.raises(UnknownNameError, match="did you mean 'pommerman:PommeFFA-v1'"):
        load("pommerman:PommeFFA-v0")


@pytest.mark.parametrize(
    "broken", [{"rigid": 35}, {"wood": 8}, {"rigid": 90}, {"items": 40}, {"size": 4}, {"view": 0}, {"max_steps": 0}]
)
def test_boards_that_cannot_be_generated_say_so(broken) -> None:
    with pytest.raises(ParameterError):
        Pommerman("broken", Config(**broken), seed=0)


def test_variants_have_the_reference_s_names() -> None:
    assert len(CONFIGS) == 12
    assert CONFIGS["PommeTeamCompetition-v0"].blast_cap == 4


def test_the_stock_agent_plays() -> None:
    """Simple as 0 and 2 beat random 100 to 0 in the reference's hundred games."""
    series = play_series(
        "pommerman:PommeTeamCompetition-v0", ["simple", "random", "simple", "random"], games=20, seed=1
    )
    assert series.agents[0].mean is not None
    assert series.agents[0].mean > 0.6
    assert not any(sum(score.faults.values()) for score in series.agents)
    radio = play_match("pommerman:PommeRadio-v2", ["simple"] * 4, seed=2)
    assert not radio.faults
    with pytest.raises(UnsupportedGameError, match="agent simple is made for pommerman:NAME"):
        play_match("kuhn_poker", ["simple", "random"])


class Faulty:
    """Lays bombs, and every third time answers with what is not a move."""

    def begin(self, game: Any, player: int, rng: Any, deadline: float | None) -> None:
        self.asked, self.executed = 0, []

    def observe(self, own_action: Any, observation: Any) -> None:
        self.executed.append(own_action)

    def act(self, legal_actions: Any, deadline: float | None) -> Any:
        self.asked += 1
        return 17 if self.asked % 3 == 0 else st.LAY

    def end(self, returns: Any) -> None:
        pass


@pytest.mark.parametrize(("name", "stop"), [("PommeFFACompetition-v0", st.STOP), ("PommeRadio-v2", (st.STOP, 0, 0))])
def test_a_faulty_move_becomes_stop_and_is_counted(name: str, stop: Any) -> None:
    agents = [Faulty() for _ in range(4)]
    if name.startswith("PommeRadio"):
        for agent in agents:
            agent.act = lambda legal_actions, deadline: "nothing"  # type: ignore[method-assign]
    match = play_match(f"pommerman:{name}(seed=2)", agents, seed=1, max_steps=801)
    faulty = {(fault.step, fault.player) for fault in match.faults if fault.kind == "illegal"}
    assert faulty
    for step, player in faulty:
        assert match.steps[step - 1].actions[player] == stop


def test_members_of_a_team_win_together() -> None:
    series = play_series("pommerman:PommeTeamCompetition-v0", ["simple", "random"] * 2, games=10, seed=1)
    wins = [(score.wins, score.draws, score.losses) for score in series.agents]
    assert wins[0] == wins[2] and wins[1] == wins[3]
    assert wins[0][0] >= 8 and wins[0] == wins[1][::-1]
