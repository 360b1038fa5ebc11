"""The example that learns: it trains, evaluates and leaves its files behind, and its arithmetic is right."""

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from infoset import play_series

PPO = Path(__file__).resolve().parents[1] / "examples" / "pommerman_ppo.py"

needs_torch = pytest.mark.skipif(
    not (find_spec("torch") and find_spec("safetensors")),
    reason="torch and safetensors are not installed (extra 'learn')",
)


@cache
def ppo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pommerman_ppo", PPO)
    module = importlib.util.module_from_spec(spec)
    sys.modules["pommerman_ppo"] = module  # where its dataclass looks for it
    spec.loader.exec_module(module)
    return module


def test_a_missing_extra_is_one_sentence(tmp_path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, PPO], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert done.stderr == "examples/pommerman_ppo.py needs the extra 'learn': pip install 'infoset[learn]'\n"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """The children of a job in the background ignore interrupts unless it heeds them itself."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@needs_torch
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("minutes", "interrupted"), [pytest.param("0.02", False, marks=pytest.mark.slow), ("10", True)]
)
def test_it_trains_evaluates_and_saves(tmp_path, minutes: str, interrupted: bool) -> None:
    options = ["--envs", "32", "--games", "40", "--seed", "3", "--out", str(tmp_path), "--minutes", minutes]
    command = [sys.executable, "-W", "error", str(PPO), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            first = process.stdout.readline()
            if interrupted:
                process.send_signal(signal.SIGINT)
            rest = process.communicate(timeout=300)[0].splitlines()
        finally:
            process.kill()
    assert process.returncode == 0
    assert first.startswith("update 1: 2,048 steps, ")
    for part in ("environment step", "opponents", "drawing planes", "network forward", "learning"):
        assert f"{part} " in first
    assert ("interrupted" in rest) == interrupted
    evaluations = [line for line in rest if line.startswith("40 games, ")]
    assert [line.split(": won ")[0] for line in evaluations] == [
        "40 games, learner, likeliest moves",
        "40 games, learner, moves drawn",
        "40 games, random moves",
        "40 games, random moves, no bombs",
    ]
    from safetensors.torch import load_model

    load_model(ppo().Network(), tmp_path / "policy.safetensors", strict=True)
    if find_spec("matplotlib"):
        assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


@needs_torch
def test_equal_seeds_make_equal_updates() -> None:
    weights = []
    for seed in (5, 5, 6):
        learner = ppo().Learner(ppo().Args(envs=8, seed=seed))
        learner.update()
        weights.append(np.concatenate([w.detach().numpy().ravel() for w in learner.network.parameters()]))
    assert (weights[0] == weights[1]).all()
    assert (weights[0] != weights[2]).any()


@needs_torch
def test_advantages_are_discounted_sums_that_stop_where_games_do() -> None:
    import torch

    torch.manual_seed(1)
    steps, shape = 12, (12, 5, 2)
    value, reward, over, after = torch.randn(shape), torch.randn(shape), torch.rand(shape) < 0.2, torch.randn(shape[1:])
    found = ppo().Rollout(None, None, None, value, reward, over).advantages(after)
    values = torch.cat([value, after[None]])
    for b, s in np.ndindex(*shape[1:]):
        for t in range(steps):
            expected, weight = 0.0, 1.0
            for k in range(t, steps):
                beyond = 0.0 if over[k, b, s] else ppo().DISCOUNT * values[k + 1, b, s]
                expected += weight * (reward[k, b, s] + beyond - value[k, b, s])
                weight *= ppo().DISCOUNT * ppo().TRACE
                if over[k, b, s]:
                    break
            assert found[t, b, s] == pytest.approx(float(expected), abs=1e-4)


@needs_torch
def test_agents_are_in_the_middle_of_what_the_network_sees() -> None:
    boards = ppo().Boards(ppo().Args(variant="PommeTeamCompetition-v0"), 20, 1)
    for _ in range(15):
        boards.step(np.random.default_rng(1).integers(0, 6, (20, 2)))
    seen, (planes, scalars) = boards.see(), boards.batch.observe()
    width, size, reach = 2 * ppo().REACH + 1, boards.batch.config.size, ppo().REACH
    windows = seen[..., : -len(ppo().NUMBERS)].reshape(20, 2, width, width, -1)
    alive = 0
    for b, (s, seat) in [(b, pair) for b in range(20) for pair in enumerate(boards.seats)]:
        assert seen[b, s, ppo().ALIVE] == scalars[b, seat, 0]
        if not scalars[b, seat, 0]:
            continue
        alive += 1
        ((row, column),) = np.argwhere(planes[b, seat, ppo().CHANNELS.index("self")])
        for i, j in np.ndindex(width, width):
            r, c = row + i - reach, column + j - reach
            inside = 0 <= r < size and 0 <= c < size
            drawn = planes[b, seat, :, r, c] * ppo().PLANE_SCALE.numpy() if inside else np.zeros(14)
            assert (windows[b, s, i, j].numpy() == drawn.astype(np.float32)).all()
    assert alive > 10


@needs_torch
@pytest.mark.parametrize("alive", [0.0, 1.0])
def test_the_dead_teach_values_but_no_moves(alive: float) -> None:
    import torch

    learner = ppo().Learner(ppo().Args(envs=4))
    head = learner.network.head
    before, shape = head.weight.detach().clone(), (ppo().STEPS, 4, 1)
    seen = torch.rand(*shape, ppo().FEATURES)
    seen[..., ppo().ALIVE] = alive
    with torch.no_grad():
        policy, value = learner.network(seen)
        move = policy.sample()
        chance = policy.log_prob(move)
    learner.learn(ppo().Rollout(seen, move, chance, value, torch.randn(shape), torch.rand(shape) < 0.1))
    changed = (head.weight != before).any(dim=1)
    assert changed.tolist() == [alive > 0] * ppo().MOVES + [True]


def test_the_agent_for_pommerman_plays_without_faults_and_wins() -> None:
    careful = f"python:{PPO.with_name('pommerman_agent.py')}:Careful"
    duel = play_series("pommerman:OneVsOne-v0", [careful, "random"], games=10, rotate=True)
    assert duel.agents[0].wins >= 8
    radio = play_series("pommerman:PommeRadio-v2", [careful, "random"] * 2, games=1)
    assert not any(sum(score.faults.values()) for score in (*duel.agents, *radio.agents))
