"""Pommerman's agents that learn: what they see, what PPO is made of, runs that go on as if they had never stopped."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

import infoset
from infoset.errors import CheckpointError, ParameterError, PolicyError, UnsupportedGameError
from infoset_pommerman import state as st
from infoset_pommerman.config import config
from infoset_pommerman.features import (
    HEAT,
    MOVES,
    OTHERS,
    REACH,
    ROOM,
    WALL,
    WINDOW,
    BatchFeatureExtractor,
    FeatureExtractor,
)
from infoset_pommerman.observation import Seen, observe
from infoset_pommerman.simple_vec import SimpleVec
from infoset_pommerman.vec import PommermanVec

pytest.importorskip("torch", reason="the extra 'learn' is not installed")

from infoset.learn.net import save_net
from infoset.match.agents import NET, load_agent
from infoset.match.match import play_match
from infoset_pommerman.learn import actor_critic
from infoset_pommerman.learn.a2c import A2c, A2cTraining
from infoset_pommerman.learn.actor_critic import Rollout
from infoset_pommerman.learn.boards import FALLEN, FOUND, Boards, Learnt, Standing
from infoset_pommerman.learn.curriculum import Lessons
from infoset_pommerman.learn.dagger import Dagger, DaggerTraining
from infoset_pommerman.learn.dqn import Dqn, DqnTraining
from infoset_pommerman.learn.measuring import measure
from infoset_pommerman.learn.net import WEIGHTS, Decider, MoveNet, load_move_net
from infoset_pommerman.learn.ppo import Ppo, PpoTraining

DUEL = "pommerman:OneVsOne-v0"
TEAM = "pommerman:PommeTeamCompetition-v0"
SMALL = PpoTraining(boards=6, steps=8, hidden=8, batch=16)
SIDE = 2 * REACH + 1


def board(*changes: tuple[int, int], variant: str = "OneVsOne-v0") -> np.ndarray:
    """An empty 8 by 8 board with both agents in their corners; ``changes`` are places in the row and what is there."""
    rules = config(variant, rigid=0, wood=0, items=0)
    batch = PommermanVec(1, rules, seed=1)
    for place, value in changes:
        batch.rows[0, place] = value
    return batch.rows[0].copy()


def sight_of(row: np.ndarray, player: int = 0):
    rules = config("OneVsOne-v0", rigid=0, wood=0, items=0)
    return FeatureExtractor("duel", rules).of(Seen(*observe(row, rules, player)), player)


def with_bomb(row: np.ndarray, cell: int, life: int, strength: int = 2) -> np.ndarray:
    row[st.NUM_BOMBS] = 1
    row[st.BOMBS : st.BOMBS + st.BOMB_FIELDS] = (cell, 1, life, strength, st.STOP)
    if row[st.BOARD + cell] == st.PASSAGE:
        row[st.BOARD + cell] = st.BOMB
    return row


def test_cells_say_when_they_burn() -> None:
    """A bomb of strength 2 and life 3 two cells to the right of the agent in its corner (1, 1): it burns at step 3, and
    so do the cells beside it."""
    features, _ = sight_of(with_bomb(board(), 1 * 8 + 3, 3))
    heat = features[HEAT * WINDOW : (HEAT + 1) * WINDOW].reshape(SIDE, SIDE)
    burning = {
        (REACH, REACH + 1),
        (REACH, REACH + 2),
        (REACH, REACH + 3),
        (REACH - 1, REACH + 2),
        (REACH + 1, REACH + 2),
    }
    assert {(int(r), int(c)) for r, c in np.argwhere(heat > 0)} == burning
    assert heat.max() == pytest.approx((10 + 1 - 3) / 10)
    assert features[WALL * WINDOW : (WALL + 1) * WINDOW].reshape(SIDE, SIDE)[0].all()  # beyond the board's edge


def test_moves_that_are_not_survived_are_told() -> None:
    """The bomb goes off in the next step beside the agent: staying is death, and so is walking along the blast."""
    _, safe = sight_of(with_bomb(board(), 1 * 8 + 2, 1))
    assert safe[[st.UP, st.DOWN]].all()
    assert not safe[[st.STOP, st.LAY]].any()


def test_the_other_is_pointed_at() -> None:
    features, _ = sight_of(board())
    assert features[OTHERS + 3 :][:3] == pytest.approx([1, 5 / 8, 5 / 8])
    assert (features[ROOM : ROOM + MOVES] == 1).all()  # nothing burns


@pytest.mark.parametrize("name", ["OneVsOne-v0", "PommeTeamCompetition-v0", "PommeFFACompetition-v0", "PommeFFA-v1"])
def test_matches_show_what_batches_show(name) -> None:
    rules = config(name)
    batch, sight = PommermanVec(4, rules, seed=3), FeatureExtractor(name, rules)
    stock, sights = SimpleVec(batch, seed=4), BatchFeatureExtractor(batch)
    everyone = np.tile(np.arange(rules.num_agents), (4, 1))
    for step in range(120):
        if step % 12 == 0:
            sights.look(everyone)
            for b in range(4):
                for k in range(rules.num_agents):
                    features, safe = sight.of(Seen(*observe(batch.rows[b], rules, k)), k)
                    np.testing.assert_array_equal(features, sights.features[b, k])
                    np.testing.assert_array_equal(safe, sights.safe[b, k])
        batch.step(stock.act())


def test_who_keeps_to_safe_moves_does_not_die_alone() -> None:
    """Against nobody that moves, random moves among the safe ones survive 300 steps; others do not."""
    dead = {}
    for filtered in (True, False):
        rules = config("OneVsOne-v0")
        batch = PommermanVec(40, rules, seed=5)
        sights, rng, seats = BatchFeatureExtractor(batch), np.random.default_rng(1), np.zeros((40, 1), dtype=np.int64)
        lost = 0
        for _ in range(300):
            sights.look(seats)
            weights = rng.random((40, MOVES)) + (10 * sights.safe[:, 0] if filtered else 0)
            moves = np.zeros((40, 2), dtype=np.int16)
            moves[:, 0] = weights.argmax(1)
            stepped = batch.step(moves)
            lost += int((stepped.rewards[:, 0] < 0).sum())
        dead[filtered] = lost
    assert dead[True] < dead[False] / 10


def test_advantages_by_hand() -> None:
    """Two steps of one agent, discount ½ and λ = ½: δ₁ = 1 + ½ · 4 − 2 = 1, δ₀ = 0 + ½ · 2 − 1 = 0, A₀ = δ₀ + ¼ δ₁."""
    rollout = Rollout.empty(2, 1, 1)
    rollout.value[:, 0, 0], rollout.reward[:, 0, 0] = (1, 2), (0, 1)
    after = np.full((1, 1), 4, dtype=np.float32)
    assert rollout.advantages(after, 0.5, 0.5).ravel().tolist() == [0.25, 1]
    rollout.over[1] = True  # what comes then is another game
    assert rollout.advantages(after, 0.5, 0.5).ravel().tolist() == [-0.25, -1]


def test_what_is_shaped() -> None:
    """In the team game: agent 1 dies and agent 0 finds an item; agent 2 gets its share of the first alone."""
    rules = config("PommeTeamCompetition-v0")
    rows = PommermanVec(1, rules, seed=1).rows.copy()
    before = Standing.of(rows, rules)
    rows[0, st.AGENTS + st.AGENT_FIELDS + st.ALIVE] = 0
    rows[0, st.AGENTS + st.BLAST] += 1
    after = Standing.of(rows, rules)
    assert before.gain(after, np.array([[0, 2]]), rules)[0] == pytest.approx([FALLEN + FOUND, FALLEN])
    assert before.gain(after, np.array([[1, 3]]), rules)[0] == pytest.approx([-FALLEN, -FALLEN])


def test_laying_a_bomb_finds_nothing() -> None:
    rules = config("OneVsOne-v0")
    batch = PommermanVec(1, rules, seed=1)
    before = Standing.of(batch.rows, rules)
    batch.step(np.array([[st.LAY, st.STOP]]))
    assert (Standing.of(batch.rows, rules).found == before.found).all()


def test_boards_do_not_depend_on_threads() -> None:
    found = []
    for threads in (1, 3):
        boards = Boards(
            FeatureExtractor("teams", config("PommeTeamCompetition-v0")), 5, ["simple", "random"], 7, threads
        )
        rng = np.random.default_rng(2)
        for _ in range(60):
            boards.step(rng.integers(0, MOVES, boards.seats.shape), 0.5)
        found.append((boards.batch.rows.copy(), boards.seen.features.copy(), boards.opponent.copy()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("opponents", ["simple", "simple,self,random"])
def test_a_run_goes_on_as_if_it_had_not_stopped(opponents) -> None:
    training = replace(SMALL, opponents=opponents, filtered=True, reward_shaping=0.5)
    sight = FeatureExtractor("duel", config("OneVsOne-v0"))
    whole = Ppo(sight, training)
    for _ in range(3):
        whole.step()
    saved = whole.save()
    expected = [replace(whole.step(), seconds=0.0) for _ in range(3)]
    again = Ppo(sight, training, threads=2)
    again.restore(saved)
    assert [replace(again.step(), seconds=0.0) for _ in range(3)] == expected
    for name, array in whole.save().items():
        np.testing.assert_array_equal(array, again.save()[name])


def test_it_learns_to_beat_who_does_nothing_but_bomb(tmp_path) -> None:
    """Random movers blow themselves up; after some epochs the learner wins most games, and plays from its folder."""
    run = infoset.train(
        DUEL, opponents="random", filtered=True, boards=64, steps=32, epochs=12, seconds=120, out=tmp_path / "run"
    )
    points = run.points()
    assert points[-1].iteration == 12
    assert points[-1].opponent == "random"
    assert np.mean([p.score for p in points[-4:] if p.duels]) > 0.6
    series = infoset.play_series(DUEL, [f"trained:{run.folder}", "random"], games=20, seed=1)
    assert series.agents[0].wins >= 12
    assert not any(score.faults[kind] for score in series.agents for kind in score.faults)


def test_one_decision_equals_the_networks() -> None:
    import torch

    net = MoveNet(16, filtered=True)
    features, safe = sight_of(with_bomb(board(), 1 * 8 + 2, 1))
    probabilities = Decider(net).probabilities(features, safe)
    logits, _ = net(torch.from_numpy(features)[None])
    expected = torch.softmax(logits[0].masked_fill(~torch.from_numpy(safe), -1e9), -1).detach().numpy()
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    assert (probabilities[~safe] == 0).all()


def test_bad_input_is_told_in_a_line(tmp_path) -> None:
    with pytest.raises(UnsupportedGameError, match=r"dqn learns pommerman:NAME, not kuhn_poker"):
        infoset.train("kuhn_poker", method="dqn", epochs=1, out=tmp_path / "a")
    with pytest.raises(ParameterError, match="the first is whom the curve is against"):
        infoset.train(DUEL, opponents="self", epochs=1, out=tmp_path / "b")
    with pytest.raises(infoset.errors.UnknownNameError, match="simpel"):
        infoset.train(DUEL, opponents="simpel", epochs=1, out=tmp_path / "c")
    with pytest.raises(ParameterError, match="plays on the cores of this machine"):
        infoset.train(DUEL, workers=2, epochs=1, boards=2, out=tmp_path / "d")
    with pytest.raises(ParameterError, match="--worlds is not an option of --method ppo"):
        infoset.train(DUEL, worlds=2, epochs=1, out=tmp_path / "e")


def test_a_net_of_another_variant_is_refused(tmp_path) -> None:
    run = infoset.train(DUEL, boards=2, steps=4, epochs=1, hidden=8, out=tmp_path / "run")
    agent = load_agent(f"trained:{run.folder}")
    with pytest.raises(UnsupportedGameError, match="was trained on pommerman:OneVsOne-v0, not on pommerman:PommeFFA"):
        play_match("pommerman:PommeFFACompetition-v0", [agent, "stop", "stop", "stop"])


def test_weights_that_are_no_numbers_stop_the_training(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(Ppo, "learn", lambda work: work.descend(work.net.head.weight.sum() * float("nan")))
    with pytest.raises(CheckpointError, match="no numbers any more"):
        infoset.train(DUEL, boards=2, steps=4, epochs=1, out=tmp_path / "run")
    assert not (tmp_path / "run" / NET).exists()


def test_rounding_once_changes_nothing(monkeypatch) -> None:
    """Layers in bfloat16 round what they take: the same weights, to the bit, where that was done before."""
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx512_bf16": True})
    weights = []
    for rounded in (actor_critic.rounded, lambda features: features):
        monkeypatch.setattr(actor_critic, "rounded", rounded)
        work = Ppo(
            FeatureExtractor("duel", config("OneVsOne-v0")), PpoTraining(boards=8, steps=16, batch=32, hidden=16)
        )
        work.step()
        weights.append(np.concatenate([tensor.detach().numpy().ravel() for tensor in work.net.parameters()]))
    assert np.array_equal(*weights)


@pytest.mark.parametrize("alive", [False, True])
def test_the_dead_teach_values_but_no_moves(alive: bool) -> None:
    """Rows of the head that say moves stay as they are where nobody alive chose one."""
    import torch

    work = Ppo(FeatureExtractor("duel", config("OneVsOne-v0")), SMALL)
    before, rng = work.net.head.weight.detach().clone(), np.random.default_rng(1)
    rollout = work.rollout
    rollout.features[:] = rng.random(rollout.features.shape)
    rollout.move[:], rollout.alive[:] = rng.integers(0, MOVES, rollout.move.shape), alive
    rollout.chance[:], rollout.reward[:] = np.log(1 / MOVES), rng.random(rollout.reward.shape)
    work._play = lambda: np.zeros(rollout.value.shape[1:], dtype=np.float32)
    work.rng = rng
    work.learn()
    changed = (work.net.head.weight != before).any(dim=1)
    assert changed.tolist() == [alive] * MOVES + [True]
    assert torch.isfinite(work.net.head.weight).all()


LEARNERS = {
    "a2c": (A2c, A2cTraining(boards=6, hidden=8)),
    "dqn": (Dqn, DqnTraining(boards=6, hidden=8, first=20, batch=16, buffer=300, slow=5)),
    "dagger": (Dagger, DaggerTraining(boards=6, steps=4, hidden=8, batch=16, buffer=100, alone=3)),
    "ppo from the end of games": (Ppo, replace(SMALL, curriculum="backplay", lessons=4)),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_goes_on_as_if_it_had_not_stopped(name) -> None:
    made, training = LEARNERS[name]
    sight = FeatureExtractor("duel", config("OneVsOne-v0"))
    whole = made(sight, training)
    for _ in range(6):
        whole.step()
    saved = whole.save()
    expected = [replace(whole.step(), seconds=0.0) for _ in range(3)]
    again = made(sight, training)
    again.restore(saved)
    assert [replace(again.step(), seconds=0.0) for _ in range(3)] == expected
    for field, array in whole.save().items():
        np.testing.assert_array_equal(array, again.save()[field])


def test_worth_over_several_steps_by_hand() -> None:
    """One board, discount ½, three steps ahead: rewards 1, 2, 4 and then what the slow copy says, here 16: 1 + 1 + 1 + 2;
    where the game ends after the second, 1 + 1."""
    training = DqnTraining(boards=1, hidden=8, ahead=3, discount=0.5, batch=4, buffer=5, first=1)
    work = Dqn(FeatureExtractor("duel", config("OneVsOne-v0")), training)
    targets = []
    work.descend = lambda loss, places=None: targets.append(loss.item())
    work.value = lambda net, features, safe: features.new_full(
        (len(features), MOVES), 16.0 if net is work.slow else 0.0
    )
    work.rng = np.random.default_rng(0)
    work.ring["reward"][:4, 0, 0], work.ring["alive"][:] = (1, 2, 4, 8), True
    work.boards.steps = 4
    work._descend()
    work.ring["over"][1] = True
    work._descend()
    assert targets == pytest.approx([5 - 0.5, 2 - 0.5])  # smooth: an error e above 1 counts as e - 1/2


def test_an_imitator_does_what_its_expert_does() -> None:
    """An expert that always stops is imitated to the letter."""
    training = DaggerTraining(boards=16, expert="stop", hidden=16, rate=0.01, batch=64)
    work = Dagger(FeatureExtractor("duel", config("OneVsOne-v0")), training)
    for _ in range(6):
        point = work.step()
    assert point.policy_loss < 0.1
    features, safe = sight_of(board())
    assert Decider(work.net).probabilities(features, safe)[st.STOP] > 0.9


def test_lessons_begin_where_winners_stood_and_move_backward() -> None:
    rules = config("OneVsOne-v0")
    lessons, rng = Lessons(rules, "backplay", 3), np.random.default_rng(1)
    assert all(len(game.winners) == 1 for game in lessons.games)
    seats, every, left = np.array([[0], [1]] * 50), np.ones(100, dtype=bool), {}
    for share in (0.0, 0.5):
        rows = st.empty_rows(100, rules)
        lessons.begin(rows, seats, every, share, rng)
        left[share] = rows[:, st.STEP].mean()
        assert (rows[:, st.RESULT] == st.RUNNING).all()
    assert left[0.0] > left[0.5] > 0


def test_a_filtered_agent_lives_longer() -> None:
    duel = infoset.play_series(DUEL, ["filtered(agent=random)", "random"], games=20, rotate=True, seed=1)
    assert duel.agents[0].wins >= 18
    radio = infoset.play_series("pommerman:PommeRadio-v2", ["filtered(agent=random)", "random"] * 2, games=1)
    assert not any(sum(score.faults.values()) for score in (*duel.agents, *radio.agents))
    with pytest.raises(
        UnsupportedGameError, match=r"filtered\(random\) is made for pommerman:NAME, not for kuhn_poker"
    ):
        play_match("kuhn_poker", ["filtered(agent=random)", "random"])
    with pytest.raises(ParameterError, match="agent is missing"):
        load_agent("filtered")


def test_measuring_counts_each_board_once() -> None:
    found = measure(MoveNet(8), FeatureExtractor("duel", config("OneVsOne-v0")), "random", games=30, seed=2)
    assert found.won.count == 30
    assert found.won.value + found.tied.value + found.lost.value == pytest.approx(1)
    assert found.steps > 5


@pytest.mark.parametrize("name", ["navocado", "skynet", "veteran"])
def test_the_learnt_teams_come_with_the_package(name: str) -> None:
    """Networks, what they were told, and curves; far ahead of random play, and of no use in other games."""
    team = infoset.play_series(TEAM, [name, "random"] * 2, games=6, seed=1)
    assert team.agents[0].agent == name
    assert team.agents[0].wins >= 4
    assert not any(score.faults[kind] for score in team.agents for kind in score.faults)
    folder = WEIGHTS / name
    assert json.loads((folder / "config.json").read_text())["game"] == TEAM
    assert (folder / NET).stat().st_size < 5e6
    steps = [json.loads(line)["states"] for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert steps == sorted(steps) and len(steps) < 100
    with pytest.raises(UnsupportedGameError, match=f"{name} is made for pommerman:NAME, not for kuhn_poker"):
        infoset.play_series("kuhn_poker", [name, "random"], games=1)
    with pytest.raises(UnsupportedGameError, match="was trained on pommerman:PommeTeam"):
        play_match("pommerman:PommeFFACompetition-v0", [name, "stop", "stop", "stop"])


def test_a_network_is_met_on_all_boards_at_once(tmp_path) -> None:
    """It moves as the agent of the same name does: here always the move that its head was made for."""
    import torch

    sight = FeatureExtractor(DUEL, config("OneVsOne-v0"))
    net = MoveNet(8)
    with torch.no_grad():
        net.head.weight[:] = 0.0
        net.head.bias[st.LAY] = 100.0
    save_net(net, sight, tmp_path / NET)
    boards = Boards(sight, 6, [f"trained:{tmp_path}"], 3)
    assert isinstance(boards.opponents[0], Learnt)
    boards.step(np.full((6, 1), st.STOP))
    assert (boards.batch.rows[:, st.NUM_BOMBS] == 1).all()


def test_a_training_begins_with_another_network(tmp_path) -> None:
    """Without a step it is that network; what does not fit is told in a line."""
    given = {"boards": 2, "steps": 4, "hidden": 8}
    first = infoset.train(DUEL, epochs=1, out=tmp_path / "first", **given)
    sight = FeatureExtractor(DUEL, config("OneVsOne-v0"))
    work = Ppo(sight, PpoTraining(initial=f"trained:{first.folder}", filtered=True, **given))
    work.prepare()
    old = load_move_net(first.folder, sight)
    assert bool(work.net.filtered)
    assert all((a == b).all() for a, b in zip(old.parameters(), work.net.parameters(), strict=True))
    infoset.train(DUEL, epochs=1, out=tmp_path / "second", initial=f"trained:{first.folder}", **given)
    shutil.move(first.folder, tmp_path / "moved")  # a training goes on without what it began with
    assert infoset.train(out=tmp_path / "second", resume=True, epochs=2).last.iteration == 2
    shutil.move(tmp_path / "moved", first.folder)
    for initial, hidden, kind, message in (
        ("simple", 8, ParameterError, "simple has no network; name trained:DIR, or skynet"),
        (f"trained:{first.folder}", 16, ParameterError, r"hidden=16; trained:.* has 8 units"),
        ("skynet", 128, PolicyError, "was trained on pommerman:PommeTeamCompetition-v0, not on pommerman:OneVsOne"),
        (f"trained:{tmp_path / 'nowhere'}", 8, PolicyError, "no network of infoset"),
    ):
        with pytest.raises(kind, match=message):
            infoset.train(DUEL, epochs=1, out=tmp_path / "next", **{**given, "hidden": hidden}, initial=initial)
