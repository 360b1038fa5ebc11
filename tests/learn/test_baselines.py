"""Learning baselines: games played by kernels, networks that approach equilibria, and their exact curves in folders."""

from types import SimpleNamespace
from typing import get_type_hints

import numpy as np
import pytest

pytest.importorskip("torch")
import torch

import infoset
from infoset.compiled import Compiled
from infoset.errors import CheckpointError, ParameterError, PolicyError, UnsupportedGameError
from infoset.learn import running
from infoset.learn.policy_gradient import PolicyGradient, PolicyGradientTraining
from infoset.learn.policy_net import NetPolicy
from infoset.learn.presets import PRESETS
from infoset.learn.replay_buffer import Reservoir, floats
from infoset.learn.returns import advantages, transform
from infoset.learn.rollouts import Simulator, play_out
from infoset.learn.running import config_of
from infoset.learn.train import TrainingFolder, config_type, train
from infoset.match.agents import load_agent
from infoset.policies.asking import plan_on_tree, states_of_tree
from infoset.view.curves import plot_learning

KUHN = "kuhn_poker"
SMALL = {"encoding": "history", "hidden": 64, "layers": 1}
GRADIENT = {"games": 256, "batch": 512, "rate": 2e-3, "entropy": 0.5, "last_entropy": 0.02, "steps": 120_000}
GAMES_OF_PRESETS = [
    f"{game}{abrupt}" for game in ("phantom_tic_tac_toe", "dark_hex") for abrupt in ("", "(abrupt=true)")
]
REGRETS = {"games": 64, "batch": 256, "updates": 50, "rate": 1e-2}
LEARNT = {  # epochs, parameters, an exploitability above what was measured; uniform play has 11/24
    "ppo": (None, GRADIENT, 0.08),
    "mmd": (None, GRADIENT, 0.08),
    "deep-cfr": (20, REGRETS, 0.1),
    "nfsp": (45, {"games": 128, "batch": 256, "rate": 3e-3, "anticipation": 0.3, "buffer": 20_000, "renewal": 4}, 0.2),
    "escher": (15, {**REGRETS, "games": 128}, 0.2),
    "psro": (60, {"games": 128, "batch": 64, "rate": 1e-2, "passes": 4, "renewal": 15, "trials": 500}, 0.15),
    "r-nad": (None, {"games": 256, "rate": 1e-2, "renewal": 50, "averaging": 0.1, "steps": 120_000}, 0.08),
}


def uniform(batch):
    return (batch.legal / batch.legal.sum(axis=1, keepdims=True)).astype(np.float32)


def job(method, game=KUHN, **parameters):
    kind = config_type(method, game)
    return kind(game, training_type(kind)(**SMALL | parameters)).learner()


def training_type(kind):
    return get_type_hints(kind)["training"]


@pytest.mark.parametrize("method", LEARNT)
def test_exploitability_in_kuhn_poker_falls(method) -> None:
    epochs, parameters, most = LEARNT[method]
    work, curve = job(method, **parameters), []
    while not work.over and work.iteration != epochs:
        curve.append(work.step().exploitability)
    curve.append(infoset.evaluate(KUHN, work.policy).exploitability)
    measured = [one for one in curve if one is not None]
    assert measured[0] > 0.3
    assert measured[-1] < most


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", "goofspiel(num_cards=3,imp_info=true)"])
def test_games_played_side_by_side_have_the_exact_values_of_uniform_play(game) -> None:
    simulator = Simulator(Compiled.of(game), "history")
    paid = play_out(simulator.deal(20_000, np.random.default_rng(1)), uniform).payoffs * simulator.scale
    error = paid.std(axis=0) / np.sqrt(len(paid))
    assert (np.abs(paid.mean(axis=0) - infoset.evaluate(game, "random").values) <= 4 * error + 1e-12).all()


@pytest.mark.parametrize("encoding", ["history", "python"])
def test_inputs_are_those_of_the_encoding(tmp_path, encoding) -> None:
    """The arrays at decisions, which kernels keep up step by step, are those that ``encode`` makes of whole states."""
    if encoding == "python":
        path = tmp_path / "mine.py"
        path.write_text(
            "def count(player, infostate):\n    return [player, len(infostate), hash(str(infostate)) % 97]\n"
        )
        encoding = f"python:{path}:count"
    compiled = Compiled.of("leduc_poker")
    simulator = Simulator(compiled, encoding)
    played = play_out(simulator.deal(20_000, np.random.default_rng(0)), uniform)
    tree = compiled.tree
    chosen = [k for k in range(len(tree.infoset_player)) if len(tree.action_set(k)) > 1]
    states = tree.infoset_state[chosen].astype(np.int64)
    rows = simulator.encoding.encode(states_of_tree(tree), states).reshape(len(states), -1)
    expected = {(int(tree.infoset_player[k]), row.tobytes()) for k, row in zip(chosen, rows, strict=True)}
    size = simulator.size
    assert (played.seen[:, size:].argmax(axis=1) == played.player).all()
    found = {(int(p), row.tobytes()) for p, row in zip(played.player, played.seen[:, :size].copy(), strict=True)}
    assert found <= expected
    assert len(found) > 0.9 * len(expected)  # the rest are rare


def test_illegal_actions_are_never_drawn() -> None:
    simulator = Simulator(Compiled.of("leduc_poker"), "history")
    batch = simulator.deal(500, np.random.default_rng(0))
    while len(batch.live):
        action = batch.draw(np.full(batch.legal.shape, 0.5, dtype=np.float32))
        assert batch.legal[np.arange(len(action)), action].all()
        batch.play(action)


def test_advantages_without_discount_are_payoffs_less_values() -> None:
    game, player = np.array([0, 0, 1, 0]), np.array([0, 1, 0, 0], dtype=np.int32)
    value, paid = np.array([0.5, 0.1, 0.2, 0.3], dtype=np.float32), np.array([[1.0, -1.0], [-1.0, 1.0]])
    gain = np.empty(4, dtype=np.float32)
    advantages(game, player, value, paid, 1.0, 1.0, gain)
    np.testing.assert_allclose(gain, [0.5, -1.1, -1.2, 0.7], atol=1e-6)
    advantages(game, player, value, paid, 0.5, 0.0, gain)  # λ = 0: the next own value less the present one
    np.testing.assert_allclose(gain, [0.5 * 0.3 - 0.5, -1.1, -1.2, 0.7], atol=1e-6)


def test_transformed_payoffs_are_paid_by_the_mover_to_the_other_player() -> None:
    """A game of three decisions, of players 0, 1 and 0, which pay 0.1, 0.2 and 0.3 and whose values are wrong."""
    game, player = np.array([0, 0, 0]), np.array([0, 1, 0], dtype=np.int32)
    value, paid = np.full(3, 5.0, dtype=np.float32), np.array([0.1, 0.2, 0.3], dtype=np.float32)
    target, later = np.empty_like(value), np.empty_like(value)
    transform(game, player, value, paid, np.array([[1.0, -1.0]]), 1.0, target, later)
    np.testing.assert_allclose(later, [1.0 - 0.3 + 0.2, -1.0 + 0.3, 1.0], rtol=1e-6)
    np.testing.assert_allclose(target, later - paid, rtol=1e-6)
    transform(game, player, value, paid, np.array([[1.0, -1.0]]), 0.5, target, later)
    np.testing.assert_allclose(target[2], (5.0 + 1.0 - 0.3) / 2, rtol=1e-6)
    np.testing.assert_allclose(later[0], target[2] + 0.2, rtol=1e-6)  # what follows is valued by the next own decision


def plans_of(work):
    """Return the realisation weights of a population's networks."""
    form, tree, encoding = work.simulator.compiled.form, work.simulator.compiled.tree, work.simulator.encoding
    return [plan_on_tree(NetPolicy(member, encoding, 2), tree, form) for member in work.net.members]


def value_of_pair(form, first, second):
    """Return the first player's payoff where it plays by one plan and the other by another."""
    plan, own = second.copy(), form.player_sequences(0)
    plan[own] = first[own]
    return infoset.expected_values(form, plan)[0]


def test_a_population_plays_as_if_one_of_its_networks_were_drawn_before_the_game() -> None:
    """The payoffs of the mixture are those of the matrix game, which means of probabilities would not have."""
    work = job("psro", members=3)
    form, chances = work.simulator.compiled.form, np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
    work.net.weights[:] = torch.from_numpy(chances)
    for member in work.net.members:
        torch.nn.init.normal_(member.policy.weight, std=3.0)
    plans = plans_of(work)
    expected = chances[0] @ [[value_of_pair(form, a, b) for b in plans] for a in plans] @ chances[1]
    assert infoset.evaluate(KUHN, work.policy).values[0] == pytest.approx(expected, abs=1e-9)
    first = form.player_sequences(0)
    means = sum(chance * infoset.behaviour(form, plan) for chance, plan in zip(chances[0], plans, strict=True))
    assert np.abs(means - infoset.behaviour(form, work.policy.plan(form)))[first].max() > 0.01


def test_payoffs_of_a_population_are_estimated_for_every_pair() -> None:
    work = job("psro", members=3, renewal=2, trials=5000, games=64, rate=1e-2)
    while not work.over:
        work.step()
    form, plans = work.simulator.compiled.form, plans_of(work)
    exact = np.array([[value_of_pair(form, a, b) for b in plans] for a in plans]) / work.simulator.scale
    np.testing.assert_allclose(work.net.payoffs[1:], exact[1:], atol=4 / np.sqrt(5000))
    assert work.net.weights.sum(dim=1).tolist() == pytest.approx([1.0, 1.0])
    assert work.iteration == 4  # two networks beside that which plays at random, two epochs each


def test_psro_is_refused_for_games_that_are_no_matrix_games() -> None:
    with pytest.raises(UnsupportedGameError, match="not a zero-sum game of two players"):
        job("psro", "kuhn_poker(players=3)")
    with pytest.raises(ParameterError, match="members"):
        job("psro", members=1000, hidden=8192)


def test_a_reservoir_is_a_uniform_sample() -> None:
    reservoir, rng = Reservoir(200, x=floats()), np.random.default_rng(3)
    for begin in range(0, 10_000, 50):
        reservoir.add_sampled(rng, x=np.arange(begin, begin + 50, dtype=np.float32))
    assert len(reservoir) == 200
    assert abs(reservoir["x"].mean() - 5000) < 4 * 10_000 / np.sqrt(12 * 200)


@pytest.mark.parametrize("method", ["ppo", "deep-cfr", "nfsp", "escher", "psro", "r-nad", "hiding"])
def test_the_same_seed_gives_the_same_run_resumed_or_not(tmp_path, method) -> None:
    game = "trade_comm(items=2,messages=2)" if method == "hiding" else KUHN
    kind = config_type(method, game)
    small = {"games": 32} | {
        "ppo": {}, "hiding": {}, "psro": {"renewal": 3, "trials": 20}, "r-nad": {"renewal": 3}
    }.get(method, {"updates": 5})  # fmt: skip
    config = kind(game, training_type(kind)(**SMALL | small))
    curves, nets = [], []
    for name, parts in (("whole", [4]), ("cut", [2, 4])):
        for k, epochs in enumerate(parts):
            if k == 0:
                folder, saved = TrainingFolder.create(tmp_path / name, config), None
            else:
                folder.close()
                folder, config, saved = TrainingFolder.open(tmp_path / name)
            train(folder, config.learner(), saved, 600, epochs)
        curves.append([(p.iteration, p.states, p.value_loss, p.exploitability) for p in folder.points()])
        nets.append((tmp_path / name / "net.safetensors").read_bytes())
    assert curves[0] == curves[1]
    assert len(curves[0]) == 4
    assert nets[0] == nets[1]
    assert (tmp_path / "whole" / "curve.png").exists()


def test_a_team_learns_to_communicate() -> None:
    """Most trainings find a language for Trade Comm; PPO alone stops at half of the optimum of 1."""
    how = {"games": 256, "batch": 512, "passes": 3, "rate": 2e-3, "layers": 2, "steps": 100_000}
    for seed in range(3):
        work = job("hiding", "trade_comm(items=2,messages=2)", seed=seed, **how)
        work.exact = False
        first = infoset.evaluate(work.simulator.compiled, work.policy).values[0]
        assert first == pytest.approx(1 / 16)  # both name two of four trades at random
        while not work.over:
            epoch = work.step()
        if (value := infoset.evaluate(work.simulator.compiled, work.policy).values[0]) > 0.9:
            break
    assert value > 0.9
    assert epoch.policy_loss < 0.05  # the divergence from what can be played


def test_the_network_that_learns_reads_what_others_saw_and_did_at_their_last_decisions() -> None:
    """In Trade Comm the second player sees the other's item and message, the first one at its message only its item."""
    work = job("hiding", "trade_comm(items=2,messages=2)", games=64, batch=64)
    work.rng = np.random.default_rng(1)
    work.learn()
    size, actions, views = work.simulator.size, len(work.simulator.actions), work.views
    width = size + actions
    assert not views[0][:, size : 2 * width].any()
    assert (views[0][:, 2 * width] == 1.0).all()
    np.testing.assert_array_equal(views[1][:, :size], views[0][:, :size])
    assert (views[1][:, size:width].sum(axis=1) == 1.0).all()
    assert views[1][:, width : width + size].any(axis=1).all()
    assert len(views) == 4


@pytest.mark.parametrize("trace", [0.0, 0.5, 1.0])
def test_advantages_of_a_team_that_pays_are_generalised_ones(trace) -> None:
    """Three decisions of one game; δ = next value - paid - value, and each advantage is δ + λ times the next."""
    value, paid = np.array([0.2, 0.5, 0.1], np.float32), np.array([0.1, 0.3, 0.2], np.float32)
    target, later = np.empty(3, np.float32), np.empty(3, np.float32)
    game, team = np.zeros(3, np.int64), np.zeros(3, np.int32)
    transform(game, team, value, paid, np.array([[1.0]]), trace, target, later)
    expected, ahead = [], 0.0
    for k, following in ((2, 1.0), (1, 0.1), (0, 0.5)):
        ahead = following - paid[k] - value[k] + trace * ahead
        expected.insert(0, ahead)
    np.testing.assert_allclose(later - paid - value, expected, rtol=1e-5, atol=1e-6)


def test_hiding_is_for_teams() -> None:
    with pytest.raises(UnsupportedGameError, match="its players are not a team"):
        job("hiding")
    with pytest.raises(ParameterError, match=r"discount=0\.9; allowed: 1"):
        job("hiding", "trade_comm(items=2,messages=2)", discount=0.9)


def test_a_run_is_an_agent_that_is_evaluated_exactly(tmp_path) -> None:
    training = infoset.train(KUHN, method="mmd", steps=500, games=64, out=tmp_path / "run", **SMALL)
    assert training.last.states >= 500  # the training ends by itself
    found = infoset.evaluate(KUHN, f"trained:{tmp_path / 'run'}")
    assert found.exact
    assert found.exploitability == pytest.approx(training.last.exploitability, abs=1e-7)
    agent = load_agent(f"trained:{tmp_path / 'run'}")
    infoset.play_match(KUHN, [agent, "random"], seed=1)
    assert sum(agent.report_probabilities(("pass", "bet"))) == pytest.approx(1.0)
    with pytest.raises(UnsupportedGameError, match="made for kuhn_poker, not for leduc_poker"):
        infoset.play_match("leduc_poker", [agent, "random"], seed=1)
    with pytest.raises(ParameterError, match="worlds is of agents that search"):
        load_agent(f"trained(path={tmp_path / 'run'},worlds=3)")
    assert len(plot_learning(training.points(), "kuhn")) == 2
    solved = infoset.solve(KUHN, "cfr", iterations=20)
    assert len(infoset.plot([tmp_path / "run", solved]).get_lines()) == 2
    (tmp_path / "run" / "net.safetensors").write_bytes(b"no network")
    with pytest.raises(PolicyError, match="damaged"):
        infoset.evaluate(KUHN, f"trained:{tmp_path / 'run'}")


def test_a_population_is_an_agent_too(tmp_path) -> None:
    small = SMALL | {"games": 64, "members": 3, "renewal": 2, "trials": 50}
    training = infoset.train(KUHN, method="psro", out=tmp_path / "run", **small)
    found = infoset.evaluate(KUHN, f"trained:{tmp_path / 'run'}")
    assert found.exploitability == pytest.approx(training.last.exploitability, abs=1e-7)
    infoset.play_match(KUHN, [load_agent(f"trained:{tmp_path / 'run'}"), "random"], seed=1)


def test_ppo_of_pommerman_is_its_own() -> None:
    assert config_type("ppo", "pommerman:OneVsOne-v0").__module__.startswith("infoset_pommerman")
    assert config_type("ppo", KUHN).__module__ == "infoset.learn.policy_gradient"


def test_three_players_learn_too() -> None:
    work = job("mmd", "kuhn_poker(players=3)", games=64, steps=2000)
    before = work.step().exploitability
    assert before is not None
    assert np.isfinite(before)


def test_presets_are_those_of_the_benchmark() -> None:
    given = {"preset": "iig-rl", "games": 4}
    training = config_of("dark_hex(rows=3,columns=3)", "ppo", given).training
    assert (training.rate, training.clip, training.passes, training.games) == (2e-3, 0.025, 8, 4)
    assert set(PRESETS["iig-rl"]) == {(method, game) for method in ("ppo", "mmd", "r-nad") for game in GAMES_OF_PRESETS}
    for (method, game), parameters in PRESETS["iig-rl"].items():
        assert training_type(config_type(method, game))(**parameters).steps == 10_000_000


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"clip": -1.0}, "clip=-1.0; allowed: from more than 0"),
        ({"discount": 2.0}, "discount=2.0; allowed: 0 to 1"),
        ({"layers": 0}, "layers"),
        ({"encoding": "pixels"}, "encoding"),
        ({"preset": "iig-rl"}, "--preset iig-rl has no parameters for ppo of kuhn_poker"),
        ({"kl": 0.1}, "--kl is not an option of --method ppo"),
    ],
)
def test_wrong_parameters_are_refused_in_one_line(tmp_path, parameters, message) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        infoset.train(KUHN, method="ppo", out=tmp_path / "run", epochs=1, **parameters)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_checkpoint_of_another_size_is_refused(tmp_path) -> None:
    work = job("deep-cfr", games=8, updates=2)
    work.step()
    saved = work.save()
    with pytest.raises(CheckpointError, match="does not fit"):
        job("deep-cfr", games=8, updates=2, hidden=32).restore(saved)


def test_every_decision_is_counted() -> None:
    simulator = Simulator(Compiled.of(KUHN), "history")
    work = PolicyGradient(simulator, PolicyGradientTraining(games=100, **SMALL))
    epoch = work.step()
    assert epoch.games == 100
    assert 200 <= epoch.states <= 300  # two or three decisions a game


def test_the_limit_of_listing_positions_does_not_end_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluations enumerate the tree later, and report by the same callback: they are exact whenever they begin."""
    now = [0.0]
    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: now[0]))
    _, learner = running._chosen(KUHN, {"method": "ppo", "games": 64, **SMALL}, 6.0, running.Watcher())
    now[0] = 100.0
    assert learner.step().exploitability is not None
