"""Networks trained by self-play: what they see, that runs repeat and resume, what is refused, and that they learn."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace as replace_fields
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from command_line import INFOSET
from command_line import run_infoset as run

pytest.importorskip("torch")
import torch
from safetensors.torch import save_file

import infoset
from infoset import load
from infoset.errors import BudgetError, CheckpointError, ParameterError, PolicyError, UnsupportedGameError
from infoset.executors import LOCAL, local
from infoset.learn.belief_net import NetValues, load_belief_net
from infoset.learn.lazy_states import Propositions, SampledFacts, Vocabulary, read_lazy_states
from infoset.learn.net import StateNet, evaluate_states, load_net, save_net
from infoset.learn.net_leaves import NetLeaves
from infoset.learn.public_play import PublicPlay, PublicTraining
from infoset.learn.public_states import Horizon
from infoset.learn.resolving import ContinualResolving
from infoset.learn.search_games import TreeTraining
from infoset.learn.self_play import SelfPlay, Training
from infoset.learn.subgame_play import Teacher
from infoset.learn.train import (
    PublicTrainingConfig,
    TrainingConfig,
    TrainingFolder,
    TreeTrainingConfig,
    encoding_of,
    train,
)
from infoset.learn.workers import Workers, shared
from infoset.learn.worlds import SolvedWorlds, node_values
from infoset.match.agents import load_agent
from infoset.match.series import play_series
from infoset.search.belief import BeliefTracker
from infoset.search.kluss import Kluss
from infoset.search.state_values import random_values
from infoset.search.subgame_solver import induced_policy
from infoset.solvers.metrics import evaluate_plan as evaluate
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import facts_of
from infoset.tree.plans import random_interior, realisation
from infoset.tree.sequence_form import SequenceForm
from infoset.view.curves import plot_learning

GAMES = ["gdl:scissors_double", "kuhn_poker", "kuhn_poker(players=3)", "goofspiel(num_cards=3)", "gdl:monty_hall"]
SMALL = Training(games=4, worlds=5, iterations=20, hidden=16, batch=16)
PUBLIC = PublicTraining(horizon=Horizon(1), games=2, iterations=10, hidden=16, batch=16)
TREE = TreeTraining(games=4, nodes=8, hidden=16, batch=16, first=32)
CONFIGS = [
    TrainingConfig("kuhn_poker", SMALL),
    PublicTrainingConfig("kuhn_poker(players=3)", PUBLIC),
    TreeTrainingConfig("gdl:krieg_tic_tac_toe", TREE),
]


@pytest.mark.parametrize("name", GAMES)
def test_every_decision_belongs_to_a_state_and_a_move(name) -> None:
    encoding = encoding_of(load(name))
    graph = encoding.graph
    assert (encoding.row[encoding.decision] >= 0).all()
    legal_actions = [mask / np.maximum(mask.sum(axis=1, keepdims=True), 1) for mask in encoding.legal_actions]
    source = np.repeat(np.arange(len(graph.player)), graph.num_edges)
    decides = graph.player[source] >= 0
    np.testing.assert_allclose(
        encoding.edge_probabilities(legal_actions)[decides], 1 / graph.num_edges[source[decides]]
    )
    assert len(np.unique(encoding.facts, axis=0)) > 1


def test_compiled_and_plain_exploration_see_the_same_facts(monkeypatch) -> None:
    """Meier is large enough for compiled code; the plain way finds the same states, in another order."""
    compiled = encoding_of(load("gdl:meier"))
    monkeypatch.setattr("infoset.tree.graph.SMALL", 10**9)
    plain = encoding_of(load("gdl:meier"))
    columns = [sorted(encoding.facts.sum(axis=0).tolist()) for encoding in (compiled, plain)]
    assert columns[0] == columns[1]
    sizes = [sorted(encoding.facts.sum(axis=1).tolist()) for encoding in (compiled, plain)]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("name", GAMES)
def test_node_values_are_those_of_the_sequence_form(name) -> None:
    tree = GameTree.of(load(name))
    form = SequenceForm.of(tree)
    strategy = random_interior(form, 3)
    expected = evaluate(form, realisation(form, strategy)).values
    np.testing.assert_allclose(node_values(tree, form, strategy)[0], expected, atol=1e-12)


def test_worlds_are_solved_by_themselves() -> None:
    """Who knows where the car is stays or switches as it should."""
    encoding = encoding_of(load("gdl:monty_hall"))
    graph = encoding.graph
    last = {action: k for k, action in enumerate(encoding.actions[0])}
    asked = [p for p in encoding.position.tolist() if {"noop", "switch"} <= set(menu_at(graph, p))]
    solved = SolvedWorlds(encoding, np.array(sorted(asked)), random_values(graph).__getitem__, 10_000, 200)
    switch = solved.policies[0][:, last["switch"]]
    assert set(np.round(switch).tolist()) == {0.0, 1.0}
    np.testing.assert_allclose(solved.values[:, 0], 100.0, atol=1.0)


def menu_at(graph, position):
    return graph.action_sets[graph.content[position]] if graph.player[position] >= 0 else ()


@pytest.mark.parametrize("config", [CONFIGS[0], *(pytest.param(c, marks=pytest.mark.slow) for c in CONFIGS[1:])])
def test_the_same_seed_gives_the_same_run_resumed_or_not(tmp_path, config) -> None:
    curves, nets = [], []
    for name, parts in (("whole", [4]), ("cut", [2, 4])):
        for k, epochs in enumerate(parts):
            if k == 0:
                folder, saved = TrainingFolder.create(tmp_path / name, config), None
            else:
                folder.close()
                folder, config, saved = TrainingFolder.open(tmp_path / name)
            train(folder, config.learner(), saved, 600, epochs)
        curves.append([(p.iteration, p.value_loss, p.policy_loss, p.start_values) for p in folder.points()])
        nets.append((tmp_path / name / "net.safetensors").read_bytes())
    assert curves[0] == curves[1]
    assert len(curves[0]) == 4
    assert nets[0] == nets[1]
    assert (tmp_path / "whole" / "curve.png").exists()


@pytest.mark.parametrize("config", [CONFIGS[0], *(pytest.param(c, marks=pytest.mark.slow) for c in CONFIGS[1:])])
def test_processes_that_play_change_nothing(config) -> None:
    """Three parts for two processes: what is learnt comes in the same order."""
    config = replace(config, training=replace_fields(config.training, shards=3, games=7))
    curves = []
    for workers in (1, 2):
        work = config.learner()
        with shared(work, config, workers, LOCAL):
            points = [work.step() for _ in range(2)]
        curves.append([(p.games, p.states, p.value_loss, p.policy_loss, p.start_values) for p in points])
    assert curves[0] == curves[1]


def test_fewer_games_than_parts_is_no_trouble() -> None:
    point = SelfPlay(
        encoding_of(load("kuhn_poker")), Training(games=1, shards=3, worlds=2, iterations=5, batch=4)
    ).step()
    assert point.games == 1
    assert point.states > 0


def test_a_process_that_ends_is_told_in_a_line() -> None:
    config = TrainingConfig("kuhn_poker", SMALL)
    work = config.learner()
    with local(2) as opened:
        workers = Workers(config, opened, 2)
        for process in active_children():
            process.kill()
        work.play = workers.play
        with pytest.raises(CheckpointError, match="a process that played games ended"):
            work.step()


def test_processes_end_with_the_one_that_started_them() -> None:
    """Also where that is killed."""
    script = (
        "import multiprocessing, time; from infoset.learn.train import TrainingConfig\n"
        "from infoset.learn.self_play import Training; from infoset.learn.workers import Workers\n"
        "from infoset.executors import local; opened = local(2)\n"
        "workers = Workers(TrainingConfig('kuhn_poker', Training()), opened, 2)\n"
        "print(*[process.pid for process in multiprocessing.active_children()], flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as main:
        assert main.stdout
        pids = [int(word) for word in main.stdout.readline().split()]
        main.kill()
    assert len(pids) == 2
    until = time.monotonic() + 30
    while any(map(is_running, pids)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(is_running, pids))


def is_running(pid: int) -> bool:
    """Nobody waits for orphans here, so that one that has ended may still be listed, as a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_an_interrupted_epoch_is_played_again(tmp_path) -> None:
    """Ctrl-C in the midst of an epoch leaves what was learnt before it."""
    encoding, stopped = encoding_of(load("kuhn_poker")), []
    folder = TrainingFolder.create(tmp_path / "run", TrainingConfig("kuhn_poker", SMALL))
    learn = SelfPlay._learn

    def interrupt(self):
        stopped.append(self.iteration)
        if stopped.count(2) == 10:
            raise KeyboardInterrupt
        return learn(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SelfPlay, "_learn", interrupt)
        assert train(folder, SelfPlay(encoding, SMALL), None, 600, 4).iteration == 2
    folder.close()
    folder, config, saved = TrainingFolder.open(tmp_path / "run")
    train(folder, config.learner(), saved, 600, 4)
    whole = TrainingFolder.create(tmp_path / "whole", TrainingConfig("kuhn_poker", SMALL))
    train(whole, SelfPlay(encoding, SMALL), None, 600, 4)
    curves = [[(p.iteration, p.states, p.value_loss) for p in each.points()] for each in (folder, whole)]
    assert curves[0] == curves[1]


@pytest.mark.parametrize("work", [SelfPlay, PublicPlay])
def test_what_is_restored_is_all_there_was(work) -> None:
    """Also before the first epoch, when the optimiser has kept nothing yet."""
    public = PublicTrainingConfig("kuhn_poker", PUBLIC)
    encoding, training = (encoding_of(load("kuhn_poker")), SMALL) if work is SelfPlay else (
        public.encoding(load("kuhn_poker")), PUBLIC
    )  # fmt: skip
    learner = work(encoding, training)
    begin = learner.save()
    first = learner.step()
    learner.restore(begin)
    assert learner.save().keys() == begin.keys()
    assert learner.step().value_loss == first.value_loss
    half = {name: array for name, array in learner.save().items() if not name.endswith("exp_avg_sq")}
    with pytest.raises(CheckpointError, match="optimiser"):
        learner.restore(half)


@pytest.mark.parametrize(
    ("name", "spoilt"),
    [
        ("buffer.added", np.array(-5)),
        ("buffer.row", np.array([9999])),
        ("optimizer.0.exp_avg", np.zeros(3)),
        ("games", np.array(np.inf)),
        ("fingerprint", np.zeros(32, dtype=np.uint8)),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(name, spoilt) -> None:
    work = SelfPlay(encoding_of(load("kuhn_poker")), SMALL)
    work.step()
    with pytest.raises(CheckpointError, match="does not fit"):
        SelfPlay(work.encoding, SMALL).restore({**work.save(), name: spoilt})


def test_a_network_of_another_game_is_refused(tmp_path) -> None:
    kuhn, leduc = encoding_of(load("kuhn_poker")), encoding_of(load("leduc_poker"))
    path = save_net(SelfPlay(kuhn, SMALL).net, kuhn, tmp_path / "net.safetensors")
    assert load_net(path, kuhn).hidden == 16
    with pytest.raises(PolicyError, match="was trained on kuhn_poker, not on leduc_poker"):
        load_net(path, leduc)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(PolicyError, match="no network of infoset: the file is damaged, or of another kind"):
        load_net(path, kuhn)
    save_file({}, path, {"infoset": "{}"})
    with pytest.raises(PolicyError, match="no network of infoset: it lacks 'game'"):
        load_net(path, kuhn)
    with pytest.raises(PolicyError, match="no network of infoset: no such file; did you mean"):
        load_net(path.with_name("nets.safetensors"), kuhn)
    with pytest.raises(ParameterError, match="neither a folder nor a file"):
        load_agent("trained:nowhere")
    with pytest.raises(ParameterError, match="path is missing"):
        load_agent("trained")


def test_losses_that_are_no_numbers_stop_it_and_keep_the_batch(tmp_path) -> None:
    config = TrainingConfig("kuhn_poker", SMALL)
    folder = TrainingFolder.create(tmp_path / "run", config)
    work = train(folder, config.learner(), None, 600, 1)
    folder.close()
    work.net.value.weight.data[:] = float("nan")
    folder, config, _ = TrainingFolder.open(tmp_path / "run")
    saved = {**work.save(), "seconds": 0.0}
    with pytest.raises(CheckpointError, match="no numbers any more"):
        train(folder, config.learner(), saved, 600, 3)
    assert len(np.load(tmp_path / "run" / "diverged.npz")["places"]) == SMALL.batch


def test_it_learns_what_the_worlds_are_worth() -> None:
    """Scissors that count double: the equilibrium .4/.4/.2 and its value, from the network alone."""
    encoding = encoding_of(load("gdl:scissors_double"))
    work = SelfPlay(encoding, Training(games=8, hidden=32, iterations=500, rate=0.01))
    for _ in range(8):
        work.step()
    values, policies = evaluate_states(work.net, encoding)
    probabilities = dict(zip(encoding.actions[0], policies[0][encoding.row[0]], strict=True))
    assert {k: v for k, v in probabilities.items() if v > 0.01} == pytest.approx(
        {"paper": 0.4, "rock": 0.4, "scissors": 0.2}, abs=0.03
    )
    assert values[encoding.row[0]].sum() == pytest.approx(100, abs=5)


def test_the_command_trains_and_the_agent_plays(tmp_path) -> None:
    out = str(tmp_path / "run")
    done = run("train", "gdl:scissors_double", "--epochs", "2", "--games", "4", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "by self-play" in done.stdout
    agent = load_agent(f"trained:{out}")
    series = play_series("gdl:scissors_double", [agent, "random"], games=50, seed=1)
    assert not any(series.agents[0].faults.values())
    assert "already contains a run" in run("train", "gdl:scissors_double", "--out", out).stderr


@pytest.mark.slow
def test_killed_and_resumed_it_has_the_same_curve(tmp_path) -> None:
    options = ["--games", "2", "--worlds", "3", "--hidden", "8"]
    whole, cut = str(tmp_path / "whole"), tmp_path / "cut"
    assert run("train", "kuhn_poker", "--epochs", "6", "--out", whole, *options).returncode == 0
    process = subprocess.Popen(
        [*INFOSET, "train", "kuhn_poker", "--epochs", "6", "--out", str(cut), *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until = time.monotonic() + 120
    while not (cut / "checkpoint.npz").exists() and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = run("train", "--resume", "--epochs", "6", "--out", str(cut))
    assert done.returncode == 0, done.stderr
    curves = []
    for folder in (whole, cut):
        lines = [json.loads(line) for line in (Path(folder) / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
        curves.append([{k: v for k, v in line.items() if k != "seconds"} for line in lines])
    assert curves[0] == curves[1]


def exploitability(work: PublicPlay, iterations: int = 200) -> float:
    """Of what a search with the network plays, asked at every information set."""
    graph = work.encoding.graph
    tree = GameTree.unroll(graph)
    form = SequenceForm.of(tree)
    solver = ContinualResolving(
        BeliefTracker(graph), work.encoding.states, NetValues(work.finished, work.encoding), iterations
    )
    return evaluate(form, induced_policy(solver, tree, form)).exploitability


@pytest.mark.slow
def test_it_learns_what_public_states_are_worth() -> None:
    """Kuhn poker one step at a time: what is known of every hand's worth makes play nearly an equilibrium."""
    work = PublicTrainingConfig("kuhn_poker", PublicTraining(horizon=Horizon(1), games=8, hidden=64)).learner()
    before = exploitability(work)
    for _ in range(20):
        point = work.step()
    assert exploitability(work) < 0.05 < before
    assert point.start_values[0] == pytest.approx(-1 / 18, abs=0.03)
    assert sum(point.start_values) == pytest.approx(0, abs=1e-6)  # as the payoffs do


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "horizon", "epochs"),
    [("leduc_poker", Horizon(stop_at_chance=True), 80), ("liars_dice(dice_sides=4)", Horizon(2), 60)],
)
def test_search_with_a_net_and_no_table_is_hard_to_exploit(game, horizon, epochs) -> None:
    work = PublicTrainingConfig(game, PublicTraining(horizon=horizon)).learner()
    for _ in range(epochs):
        work.step()
    assert exploitability(work) < 0.05


def test_a_network_of_other_public_states_is_refused(tmp_path) -> None:
    near, far = (
        PublicTrainingConfig("leduc_poker", PublicTraining(horizon=horizon)).encoding(load("leduc_poker"))
        for horizon in (Horizon(2), Horizon(stop_at_chance=True))
    )
    path = save_net(PublicPlay(far, PUBLIC).finished, far, tmp_path / "net.safetensors")
    assert load_belief_net(path, far).shape == (2, 6)
    with pytest.raises(PolicyError, match="was trained on leduc_poker, not on leduc_poker as it is here"):
        load_belief_net(path, near)


def test_where_the_look_ahead_ends_with_the_game_there_is_nothing_to_learn() -> None:
    with pytest.raises(UnsupportedGameError, match="nearer horizon"):
        PublicTrainingConfig("kuhn_poker", PublicTraining()).learner()


@pytest.mark.slow
def test_public_states_by_command(tmp_path) -> None:
    out = str(tmp_path / "run")
    done = run("train", "kuhn_poker", "--method", "resolving", "--steps", "1", "--epochs", "2", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "kuhn_poker by resolving" in done.stdout
    done = run("evaluate", "kuhn_poker", f"trained:{out}", "--json")
    assert 0 < json.loads(done.stdout)["exploitability"] < 0.4  # uniform play: .458
    series = play_series("kuhn_poker", [load_agent(f"trained:{out}"), "random"], games=50, seed=1)
    assert not any(series.agents[0].faults.values())
    with pytest.raises(UnsupportedGameError, match="no method own"):
        load_agent(f"trained(path={out}, method=own)").begin(load("kuhn_poker"), 0, np.random.default_rng(0), None)
    refused = run("train", "kuhn_poker", "--method", "resolving", "--worlds", "3")
    assert "--worlds is not an option of --method resolving" in refused.stderr


def test_a_game_too_large_to_list_is_refused_within_the_clock(tmp_path) -> None:
    """It once went on for minutes and said nothing."""
    with pytest.raises(BudgetError, match="positions were found in 50% of the training's time"):
        infoset.train("gdl:breakthrough", seconds=1, method="self-play", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("game", ["gdl:breakthrough", "gdl:krieg_tic_tac_toe"])
@pytest.mark.slow
def test_a_game_too_large_to_list_is_learnt_without(tmp_path, game) -> None:
    """Everybody sees all in the one, not in the other; the clock cuts the games of the first epoch."""
    done = infoset.train(game, seconds=3, hidden=16, out=tmp_path / "run")
    assert done.method == "tree-search"
    assert done.last.iteration >= 1 and done.last.states > 0
    agent = load_agent(f"trained(path={tmp_path / 'run'}, seconds_per_move=0.05)")
    match = infoset.play_match(game, [agent, "random"], seed=1)
    assert not match.faults and not agent.inner.faults
    other = load_agent(f"trained(path={tmp_path / 'run' / 'net.safetensors'}, seconds_per_move=0.05)")  # the file alone
    assert not infoset.play_match(game, [other, "random"], seed=1).faults
    assert type(other.inner) is type(agent.inner)
    with pytest.raises(UnsupportedGameError, match="a network of tree-search has no method own"):
        load_agent(f"trained(path={tmp_path / 'run'}, method=own)").begin(load(game), 0, np.random.default_rng(0), None)


@pytest.mark.slow
def test_what_a_tree_search_learns_is_what_it_found() -> None:
    config = TreeTrainingConfig("gdl:tic_tac_toe", replace_fields(TREE, games=32, nodes=40, first=1024, hidden=64))
    work = config.learner()
    losses = [work.step() for _ in range(3)]
    assert losses[-1].policy_loss < losses[0].policy_loss
    values, prior = NetLeaves(work.net, work.encoding, 0).says(np.zeros(1, dtype=np.int64))
    assert values[0, 0] > values[0, 1]  # who begins wins more often
    assert prior[0, 0].sum() == pytest.approx(1.0) and prior[0, 0, 4] > 1 / 9  # the middle


@pytest.mark.parametrize("game", ["liars_dice", "openspiel:connect_four(rows=4,columns=4,x_in_row=3)"])
def test_rules_in_python_are_learnt_too(game) -> None:
    """Everybody sees all in the second, which is searched as in AlphaZero."""
    if game.startswith("openspiel:"):
        pytest.importorskip("pyspiel")
    config = TreeTrainingConfig(game, replace_fields(TREE, duels=2))
    one, other = (config.learner() for _ in range(2))
    first, second = [one.step() for _ in range(2)], [other.step() for _ in range(2)]
    assert [point.value_loss for point in first] == [point.value_loss for point in second]
    assert first[-1].states > 0 and first[0].duels == 2
    assert one.encoding.fingerprint == read_lazy_states(load(game)).fingerprint
    assert one.encoding.fingerprint != read_lazy_states(load("goofspiel")).fingerprint
    _, prior = NetLeaves(one.net, one.encoding, 0).says(np.zeros(1, dtype=np.int64))
    deals = game == "liars_dice"
    assert prior[0].sum() == pytest.approx(0.0 if deals else 1.0, abs=1e-6)


def test_what_random_plays_did_not_meet_is_read_as_the_rest() -> None:
    """Unknown moves share an output, unknown facts are left out, payoffs outside of those met are the nearest."""
    game = load("goofspiel(num_cards=4)")
    whole = Vocabulary.of(game)
    part = whole._replace(facts=whole.facts[:5], actions=tuple(each[:2] for each in whole.actions), low=0.0, high=0.5)
    states = SampledFacts(game, vocabulary=part)
    start = np.zeros(1, dtype=np.int64)
    with states.graph.growing():
        states.graph.ask(states.graph.spread(start)[0])  # the first prize
        dealt = states.graph.arrays.child[states.graph.spread(start)[0]].astype(np.int64)
    assert [states.columns(int(dealt[0]), player).tolist() for player in range(2)] == [[0, 1, 2, 2], [3, 4, 5, 5]]
    assert states.bits(states.facts(dealt)).shape == (4, 5)
    net = StateNet(states.num_facts, [3, 3], 4)
    for weights in net.parameters():
        torch.nn.init.zeros_(weights)  # all outputs are equally likely
    _, prior = NetLeaves(net, states, 0).says(dealt[:1])
    np.testing.assert_allclose(prior[0], [[1 / 3, 1 / 3, 1 / 6, 1 / 6]] * 2)
    assert states.normalised(np.array([-1.0, 0.25, 1.0])).tolist() == [0.0, 0.5, 1.0]


def test_the_facts_of_a_board_in_one_number_are_its_cells() -> None:
    """Phantom tic-tac-toe holds who has which cells as bits."""
    state = load("phantom_tic_tac_toe").start().state
    later = state._replace(stones=(0b100_000_001, 0))
    fresh = set(facts_of(later)) - set(facts_of(state))
    assert {bit for _, bit in fresh if isinstance(bit, int)} == {0, 8}


@pytest.mark.slow
def test_the_curve_tells_how_strong_the_network_is() -> None:
    """Against flat Monte Carlo, in both seats, as far as there are duels."""
    config = TreeTrainingConfig("gdl:krieg_tic_tac_toe", replace_fields(TREE, duels=4))
    one, other = ([work.step() for _ in range(2)] for work in (config.learner(), config.learner()))
    assert [(p.score, p.duels) for p in one] == [(p.score, p.duels) for p in other]
    assert [p.duels for p in one] == [4, 4]
    assert all(p.score is not None and 0.0 <= p.score <= 1.0 for p in one)
    assert len(plot_learning(one, "duels")) == 3
    quiet = TreeTrainingConfig("gdl:krieg_tic_tac_toe", replace_fields(TREE, duels=0)).learner()
    none = [quiet.step() for _ in range(2)]
    assert none[0].score is None
    assert [p.value_loss for p in none] == [p.value_loss for p in one]  # they change nothing of what is learnt
    assert len(plot_learning(none, "no duels")) == 2


def test_a_teacher_notes_what_the_solution_of_its_subgame_says() -> None:
    """Kuhn poker fits into the subgame: the values of the start are those of the game, the policies an equilibrium's."""
    encoding = Propositions(load("gdl:kuhn_poker"))
    net = StateNet(encoding.num_facts, [len(actions) for actions in encoding.actions], 8)
    teacher = Teacher(Kluss(nodes=500), net, encoding)
    infoset.play_match("gdl:kuhn_poker", [teacher, "random"], seed=1)
    sample = teacher.samples[0]
    exact = infoset.solve("gdl:kuhn_poker", "lp").values
    start = (sample["facts"] == encoding.facts(np.zeros(1, dtype=np.int64))).all(axis=1)
    assert start.sum() == 1
    assert encoding.payoffs(sample["value"][start][0]) == pytest.approx(exact, abs=0.5)  # of payoffs from 0 to 100
    chosen = np.unpackbits(sample["legal_actions"], axis=1, count=encoding.num_actions).sum(axis=1)
    assert sorted(set(chosen.tolist())) == [0, 2]  # where chance deals nobody chooses, elsewhere one player does
    np.testing.assert_allclose(sample["policy"].sum(axis=1), chosen / 2, atol=1e-6)
