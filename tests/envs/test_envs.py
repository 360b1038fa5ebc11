"""Environments for learners: PettingZoo for all seats, Gymnasium for one."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from gymnasium import spaces
from gymnasium.utils.env_checker import check_env, data_equivalence
from pettingzoo.test import parallel_api_test, parallel_seed_test

from infoset import Ended, NativeState, Observed, load, play_match
from infoset.base import JointAction
from infoset.envs.encoders import HistoryEncoder
from infoset.envs.parallel import InfosetParallelEnv
from infoset.envs.single import SeatEnv
from infoset.errors import (
    BudgetError,
    GameRuleError,
    IllegalActionError,
    ParameterError,
    UnsupportedGameError,
)
from infoset.games.rules import Rules
from infoset_pommerman import state as st
from infoset_pommerman.config import Config
from infoset_pommerman.encoding import encode_seen
from infoset_pommerman.game import Pommerman, PommermanState
from infoset_pommerman.observation import observe
from infoset_pommerman.planes import CHANNELS, FULL, SCALARS, draw_planes
from pommerman_golden import config_of, games, to_row

GOOFSPIEL = "goofspiel(num_cards=3,returns_type=total_points)"
GAMES = (
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "goofspiel(num_cards=4)",
    "gdl:meier",
    "pommerman:PommeFFACompetition-v0",
    "pommerman:PommeTeamCompetition-v0",
    "pommerman:OneVsOne-v0",
    "pommerman:PommeRadio-v2",
)
FFA = "pommerman:PommeFFACompetition-v0"


@pytest.mark.parametrize("name", GAMES)
def test_pettingzoo_s_own_tests(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    env = InfosetParallelEnv(name)
    parallel_api_test(env, num_cycles=300)
    parallel_seed_test(lambda: InfosetParallelEnv(name, actions=env.actions, encode=env.coding.encode))
    assert "Passed" in capsys.readouterr().out


def sample(env: InfosetParallelEnv, seen: dict[str, Any]) -> dict[str, int]:
    return {agent: env.action_space(agent).sample(seen[agent]["action_mask"]) for agent in env.agents}


def episode(env: InfosetParallelEnv, seed: int) -> list[Any]:
    """Everything that happens in an episode of random legal actions."""
    for number, space in enumerate(env.action_spaces.values()):
        space.seed(seed + number)
    events: list[Any] = [env.reset(seed=seed)]
    while env.agents:
        events.append(env.step(sample(env, events[-1][0])))
    return events


@pytest.mark.parametrize("name", [*GAMES, GOOFSPIEL])
def test_the_seed_gives_the_episode_and_rewards_sum_to_the_payoffs(name: str) -> None:
    env = InfosetParallelEnv(name)
    played = []
    for seed in range(5):
        events, again = episode(env, seed), episode(env, seed)
        assert data_equivalence(events, again, exact=True)
        played.append(events)
        assert env.game_state.terminal or "FFA" in name
        totals = [sum(event[1].get(agent, 0.0) for event in events[1:]) for agent in env.possible_agents]
        assert totals == pytest.approx(env.game_state.returns())
    assert not all(data_equivalence(played[0], other) for other in played)


def test_without_a_seed_the_generator_goes_on() -> None:
    env = InfosetParallelEnv("kuhn_poker")

    def cards() -> list[str]:
        env.reset(seed=1)
        return [repr(env.reset()[0]) for _ in range(20)]

    first = cards()
    assert first == cards()
    assert len(set(first)) == 6


def test_whoever_has_no_choice_may_submit_anything() -> None:
    env = InfosetParallelEnv("kuhn_poker")
    seen, _ = env.reset(seed=0)
    assert env.actions == ("pass", "bet")
    assert seen["P1"]["action_mask"].tolist() == [1, 1]
    assert seen["P2"]["action_mask"].tolist() == [0, 0]
    seen, *_ = env.step({"P1": np.int64(1), "P2": "whatever"})
    assert seen["P1"]["action_mask"].tolist() == [0, 0]
    seen, rewards, terminations, *_ = env.step({"P2": 0})
    assert (rewards, terminations) == ({"P1": 1.0, "P2": -1.0}, {"P1": True, "P2": True})
    meier = InfosetParallelEnv("gdl:meier")
    seen, _ = meier.reset(seed=0)
    assert seen["p1"]["action_mask"].sum() == 1  # noop, while the dice roll
    meier.step({"p1": 3, "p2": None})


@pytest.mark.parametrize("action", [3, -1, 1.0, "pass", None, 10**30, np.array([0, 1])])
def test_an_illegal_action_is_a_clear_error(action: Any) -> None:
    env = InfosetParallelEnv("kuhn_poker")
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match=r"^P1 cannot play action .*; legal: 0 \('pass'\), 1 \('bet'\)$"):
        env.step({"P1": action})
    env.step({"P1": 0})  # nothing was played


def test_misuse_is_named() -> None:
    env = InfosetParallelEnv("goofspiel(num_cards=3)")
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="P2 has to act"):
        env.step({"P1": 0})
    env.step({"P1": 0, "P2": 1})
    with pytest.raises(IllegalActionError, match=r"P1 cannot play action 0 \(1\); legal: 1 \(2\), 2 \(3\)"):
        env.step({"P1": 0, "P2": 0})
    env.step({"P1": 1, "P2": 0})
    assert not env.agents
    with pytest.raises(GameRuleError, match="the episode is over; call reset"):
        env.step({})
    with pytest.raises(BudgetError, match=r"give actions=\[…\].* and encode=…"):
        InfosetParallelEnv("goofspiel(num_cards=6)")
    with pytest.raises(ParameterError, match="each may come once"):
        InfosetParallelEnv("kuhn_poker", actions=("bet", "bet"))
    with pytest.raises(ParameterError, match="'planes' is not an encoder"):
        InfosetParallelEnv("kuhn_poker", encode="planes")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="offers 'bet', which is not among the actions given"):
        InfosetParallelEnv("kuhn_poker", actions=("pass",)).reset(seed=0)
    with pytest.raises(ParameterError, match="render_mode=human is not one of ansi"):
        InfosetParallelEnv("kuhn_poker", render_mode="human")
    with pytest.raises(UnsupportedGameError, match="distinct names"):
        InfosetParallelEnv(Rules("twins", ("A", "A"), load("kuhn_poker").start()))


class Counts:
    """An encoder of one's own: how many steps a player has noticed."""

    space = spaces.Box(0, 100, (1,), np.int16)

    def __call__(self, player: int, known: Any) -> np.ndarray:
        return np.array([len(known)], dtype=np.int16)


def test_a_large_game_with_its_own_moves_and_encoder() -> None:
    env = InfosetParallelEnv("goofspiel(num_cards=13)", actions=range(1, 14), encode=Counts())
    parallel_api_test(env, num_cycles=50)
    events = episode(env, 3)
    assert [int(event[0]["P1"]["observation"][0]) for event in events] == list(range(1, 14))  # the last bid is forced


def test_truncation() -> None:
    env = InfosetParallelEnv("goofspiel(num_cards=4)", max_steps=2)
    events = episode(env, 0)
    assert len(events) == 3
    assert events[-1][3] == {"P1": True, "P2": True}
    assert events[-1][2] == {"P1": False, "P2": False}
    finished = episode(InfosetParallelEnv("goofspiel(num_cards=4)", max_steps=3), 0)
    assert finished[-1][2] == {"P1": True, "P2": True}
    assert finished[-1][3] == {"P1": False, "P2": False}


@pytest.mark.parametrize(
    "name", ["leduc_poker", "goofspiel(num_cards=3)", "gdl:monty_hall", "liars_dice(dice_sides=3)"]
)
def test_equal_arrays_are_equal_information_states(name: str) -> None:
    env = InfosetParallelEnv(name)
    meaning: dict[bytes, Any] = {}
    for seed in range(300):
        seen, _ = env.reset(seed=seed)
        while env.agents:
            seen, *_ = env.step(sample(env, seen))
            for player, agent in enumerate(env.possible_agents):
                known = tuple(env.infostate[player])
                assert meaning.setdefault(seen[agent]["observation"].tobytes(), known) == known
    assert len(meaning) == len(set(meaning.values()))


@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel(num_cards=3)", "gdl:monty_hall", "liars_dice(dice_sides=2)"])
def test_arrays_are_as_long_as_the_longest_information_state(name: str) -> None:
    game = load(name)
    env = InfosetParallelEnv(game)
    encode = env.coding.encode
    assert isinstance(encode, HistoryEncoder)

    def longest(state: Any, lengths: list[int]) -> int:
        """By walking through the whole tree."""
        best = max(lengths)
        for actions in product(*[state.legal_actions(p) or (None,) for p in range(len(lengths))]):
            if state.terminal:
                break
            for answer, _ in state.chance_outcomes(actions) or ((None, 1.0),):
                step = state.play(actions, answer)
                grown = [
                    length + (action is not None or step.observation(p) is not None)
                    for p, (length, action) in enumerate(zip(lengths, actions, strict=True))
                ]
                best = max(best, longest(step.state, grown))
        return best

    first = game.start()
    start = [int(first.observation(p) is not None) for p in range(len(game.players))]
    assert encode.space.shape == (longest(first.state, start), len(encode.records))


def test_pommerman_pays_as_the_reference_and_the_dead_leave_where_all_play_for_themselves() -> None:
    env, deaths = InfosetParallelEnv(FFA), 0
    for seed in range(10):
        seen, _ = env.reset(seed=seed)
        while env.agents:
            before = env.agents
            seen, rewards, terminations, *_ = env.step(sample(env, seen))
            assert isinstance(env.game_state, PommermanState)
            paid = env.game_state.row[st.REWARDS :][:4].tolist()
            for agent in before:
                player = env.possible_agents.index(agent)
                assert rewards[agent] == paid[player]
                lives = bool(env.game_state.row[st.AGENTS + player * st.AGENT_FIELDS + st.ALIVE])
                assert terminations[agent] == (env.game_state.terminal or not lives)
                deaths += not (lives or env.game_state.terminal)
    assert deaths > 5


def test_dead_members_of_a_team_stay_for_their_payoff() -> None:
    env, dead = InfosetParallelEnv("pommerman:PommeTeam-v0"), 0
    for seed in range(10):
        seen, _ = env.reset(seed=seed)
        while env.agents:
            assert env.agents == env.possible_agents
            dead += sum(not seen[agent]["action_mask"].any() for agent in env.agents)
            seen, rewards, *_ = env.step(sample(env, seen))
        assert sorted(rewards.values()) in ([-1, -1, 1, 1], [-1] * 4)
    assert dead


def test_walls_that_kill_are_paid_a_step_later() -> None:
    short = Pommerman("short", Config(collapses=(1, 2), rigid=0, wood=12, items=0, max_steps=10), seed=1)
    env = InfosetParallelEnv(short)
    env.reset(seed=0)
    stop = dict.fromkeys(env.possible_agents, 0)
    _, rewards, terminations, *_ = env.step(stop)
    assert set(rewards.values()) == {0.0}
    assert not any(terminations.values())
    _, rewards, terminations, *_ = env.step(stop)
    assert set(rewards.values()) == {0.0}  # nobody has seen yet that all died on the second ring
    _, rewards, terminations, *_ = env.step(stop)
    assert set(rewards.values()) == {-1.0}
    assert all(terminations.values())


@pytest.mark.parametrize("kind", ["radio", "team", "onevsone", "stress"])
def test_planes_of_what_was_seen_are_those_of_the_batch(kind: str, shared: Path) -> None:
    for game in list(games(shared, kind))[:20]:
        rules = config_of(game)
        view = rules.size if rules.view is None else rules.view
        for compact in [game["s0"], *(step["s"] for step in game["steps"][:60:4])]:
            row = to_row(compact, rules)
            for k in range(rules.num_agents):
                planes = np.zeros((len(CHANNELS), rules.size, rules.size), dtype=np.uint8)
                scalars = np.zeros(len(SCALARS), dtype=np.int16)
                draw_planes(row, rules.size, view, k, rules.num_agents, rules.teams, planes.reshape(-1), scalars)
                found, numbers = encode_seen(observe(row, rules, k), rules, k)
                assert (found == planes).all(), (game["label"], game["seed"], compact["n"], k)
                assert (numbers == scalars).all()
    assert planes.max() < FULL


def test_states_as_text() -> None:
    env = InfosetParallelEnv("pommerman:OneVsOne-v0", render_mode="ansi")
    env.reset(seed=1)
    text = env.render()
    assert text is not None
    lines = text.splitlines()
    assert lines[0] == "step 0"
    assert (lines[2][1], lines[7][6]) == ("0", "1")
    assert sum(line.count("#") for line in lines) == 16
    poker = InfosetParallelEnv("kuhn_poker", render_mode="ansi")
    poker.reset(seed=1)
    assert poker.render() == repr(poker.game_state)
    assert InfosetParallelEnv("kuhn_poker").render() is None


# One seat


@pytest.mark.parametrize(
    ("name", "seat", "others"),
    [
        ("kuhn_poker", 0, ["random"]),
        ("kuhn_poker(players=3)", 2, ["random", "random"]),
        (FFA, 1, ["simple", "random", "simple"]),
        ("pommerman:PommeTeamCompetition-v0", 3, ["simple"] * 3),
        ("pommerman:OneVsOne-v0", 0, ["stop"]),
    ],
)
def test_gymnasium_s_own_test(name: str, seat: int, others: list[str]) -> None:
    check_env(SeatEnv(name, seat, others), skip_render_check=True)  # it asks for an entry in Gymnasium's registry


def play(env: SeatEnv, seed: int | None = None) -> tuple[list[Any], float, dict[str, Any]]:
    """Observations, sum of rewards, and the last info of an episode of random legal actions."""
    seen, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    events, total, over = [seen], 0.0, False
    while not over:
        action = env.action_space.sample(info["action_mask"])
        seen, reward, over, truncated, info = env.step(action)
        assert not truncated
        events.append(seen)
        total += reward
    return events, total, info


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "gdl:meier", "pommerman:OneVsOne-v0"])
def test_an_episode_follows_from_its_seed_and_pays_what_the_game_pays(name: str) -> None:
    env = SeatEnv(name, 1, ["random"])
    for seed in range(10):
        events, total, info = play(env, seed)
        again, same, other = play(env, seed)
        assert data_equivalence(events, again, exact=True)
        assert (total, info["seed"]) == (same, other["seed"])
        assert env.game_state.terminal
        assert total == pytest.approx(env.game_state.returns()[1])


class Passes:
    """Always passes."""

    def begin(self, *arguments: Any) -> None:
        pass

    def observe(self, *arguments: Any) -> None:
        pass

    def act(self, legal_actions: tuple[Any, ...], deadline: float | None) -> str:
        return "pass"

    def end(self, *arguments: Any) -> None:
        pass


def test_an_episode_is_the_match_of_its_seed() -> None:
    env = SeatEnv("kuhn_poker", 0, ["random"])
    for seed in range(20):
        _, info = env.reset(seed=seed)
        over, total = False, 0.0
        while not over:
            _, reward, over, _, _ = env.step(env.actions.index("pass"))
            total += reward
        match = play_match("kuhn_poker", [Passes(), "random"], seed=info["seed"])
        assert total == match.returns[0]
        assert [(s.actions, s.chance_outcome) for s in env.round.steps] == [
            (s.actions, s.chance_outcome) for s in match.steps
        ]


def test_the_seat_is_asked_only_where_it_has_a_choice() -> None:
    env = SeatEnv("gdl:meier", 1, ["meier"])
    for seed in range(20):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            assert info["action_mask"].sum() > 1 or env.game_state.terminal
            assert (env.action_masks() == info["action_mask"].astype(bool)).all()
            _, _, over, _, info = env.step(env.action_space.sample(info["action_mask"]))
        assert not info["action_mask"].any()


def test_shaping_is_added() -> None:
    def claimed(state: Any) -> float:
        return 0.0 if state.terminal else float(state.row[st.STEP])

    def shaping(before: Any, after: Any, seat: int) -> float:
        assert seat == 0
        return claimed(after) - claimed(before)

    plain = SeatEnv("pommerman:OneVsOne-v0", 0, ["random"])
    shaped = SeatEnv("pommerman:OneVsOne-v0", 0, ["random"], shaping=shaping)
    for seed in range(5):
        assert play(shaped, seed)[1] == pytest.approx(play(plain, seed)[1])  # a potential that is 0 at both ends
    shaped.reset(seed=0)
    assert shaped.step(0)[1] == 1.0


class Rude(Passes):
    def act(self, legal_actions: tuple[Any, ...], deadline: float | None) -> str:
        return "shout"


def test_what_others_do_wrong_is_told() -> None:
    env = SeatEnv("kuhn_poker", 0, [Rude()])
    env.reset(seed=0)
    *_, info = env.step(0)
    assert [(fault.player, fault.kind) for fault in info["faults"]] == [(1, "illegal")]
    with pytest.raises(UnsupportedGameError, match="agent simple is made for pommerman"):
        SeatEnv("kuhn_poker", 0, ["simple"]).reset(seed=0)


def test_misuse_of_a_seat_is_named() -> None:
    with pytest.raises(ParameterError, match="seat=2 is out of range; allowed: 0 to 1"):
        SeatEnv("kuhn_poker", 2, ["random"])
    with pytest.raises(ParameterError, match="kuhn_poker has 2 players: name 1 others, not 2"):
        SeatEnv("kuhn_poker", 0, ["random", "random"])
    env = SeatEnv("kuhn_poker", 0, ["random"])
    with pytest.raises(GameRuleError, match="call reset"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="P1 cannot play action 2"):
        env.step(2)


def test_a_death_ends_the_episode_where_all_play_for_themselves() -> None:
    env = SeatEnv(FFA, 0, ["stop"] * 3)
    env.reset(seed=0)
    over, steps = False, 0
    while not over:
        _, reward, over, _, _ = env.step(5)  # it bombs itself
        steps += 1
    assert (reward, steps) == (-1.0, 10)
    assert not env.game_state.terminal
    env.reset()  # and the other agents play on


class Flip(NativeState):
    """Chance ends the game at once, or the player chooses what it gets."""

    __slots__ = ("tossed",)

    def __init__(self, tossed: bool) -> None:
        self.tossed = tossed

    def legal_actions(self, player: int) -> tuple[Any, ...]:
        return (0, 1) if self.tossed else ()

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Any, float], ...]:
        return () if self.tossed else (("end", 0.5), ("go", 0.5))

    def play_unchecked(self, actions: JointAction, chance_outcome: Any = None) -> Observed:
        if chance_outcome == "go":
            return Observed(Flip(True), ("go",))
        return Observed(Ended((5.0 if chance_outcome == "end" else float(actions[0]),)), ("over",))

    def returns(self) -> tuple[float, ...]:
        return (0.0,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flip) and other.tossed == self.tossed

    def __hash__(self) -> int:
        return hash(self.tossed)


def test_a_game_that_is_over_before_anyone_was_asked_ends_with_the_first_step() -> None:
    game = Rules("flip", ("P1",), Observed(Flip(False), (None,)))
    seat, both = SeatEnv(game, 0, []), InfosetParallelEnv(game)
    totals = set()
    for seed in range(20):
        seat.reset(seed=seed)
        _, reward, over, *_ = seat.step(1)
        both.reset(seed=seed)
        _, rewards, terminations, *_ = both.step({"P1": 1})
        assert over
        assert terminations["P1"]
        totals |= {reward, rewards["P1"]}
    assert totals == {1.0, 5.0}


def test_a_missing_extra_is_one_sentence() -> None:
    code = "import sys; sys.modules['pettingzoo'] = None\nimport infoset.envs.parallel"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "infoset.envs needs the extra 'interop': pip install 'infoset[interop]'" in done.stderr
