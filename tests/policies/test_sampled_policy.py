"""What sampling found is saved, loaded, gone on with, and played in no other game."""

import signal

import numpy as np
import pytest

import infoset
from infoset import load, solve
from infoset.compiled import Compiled
from infoset.errors import CheckpointError, PolicyError, UnsupportedGameError
from infoset.match.agents import load_agent
from infoset.match.series import play_series
from infoset.policies.sampled_policy import SampledPolicy
from infoset.solvers.job import Watcher
from infoset.solvers.sampling.belief_response import evaluate_policy
from infoset.solvers.sampling.mccfr import Mccfr
from infoset.tree.graph import explore
from infoset.tree.quotient_graph import QuotientGraph
from infoset.tree.symmetry import find_symmetry


def walk_of(name: str) -> QuotientGraph:
    graph = explore(load(name))
    return QuotientGraph.of(graph, find_symmetry(graph))


@pytest.mark.parametrize("name", ["kuhn_poker", "gdl:monty_hall"])
def test_saved_and_loaded_it_is_worth_the_same(name, tmp_path) -> None:
    compiled, walk = Compiled.of(name), walk_of(name)
    solver = Mccfr(walk, 1)
    solver.step(2000)
    path = SampledPolicy.of(name, walk, solver.policy()).save(tmp_path / "policy.npz")
    loaded = SampledPolicy.load(path)
    expected, found = evaluate_policy(walk, solver.policy()), evaluate_policy(loaded.on(compiled).walk, loaded.policy)
    assert found == expected
    series = play_series(
        name, [load_agent(f"policy(path={path})")] + ["random"] * (len(compiled.players) - 1), games=30
    )
    assert not any(series.agents[0].faults.values())


def test_another_game_and_broken_files_are_refused(tmp_path) -> None:
    walk = walk_of("kuhn_poker")
    solver = Mccfr(walk, 1)
    solver.step(10)
    path = SampledPolicy.of("kuhn_poker", walk, solver.policy()).save(tmp_path / "policy.npz")
    with pytest.raises(UnsupportedGameError, match="was made for kuhn_poker, not for leduc_poker"):
        load_agent(f"policy(path={path})").begin(load("leduc_poker"), 0, np.random.default_rng(0), None)
    arrays = dict(np.load(path))
    for name, wrong in (
        ("row", arrays["row"] + 10**6),
        ("first_child", arrays["first_child"][::-1]),
        ("record", np.zeros(2)),
    ):
        np.savez(tmp_path / "wrong.npz", **{**arrays, name: wrong})
        with pytest.raises(PolicyError, match="not a policy file"):
            SampledPolicy.load(tmp_path / "wrong.npz")
    np.savez(tmp_path / "cut.npz", **{**arrays, "behaviour": arrays["behaviour"][:-1]})
    with pytest.raises(PolicyError, match="damaged: one of its rows of 2 probabilities is cut off"):
        infoset.evaluate("kuhn_poker", SampledPolicy.load(tmp_path / "cut.npz"))


def test_sampling_goes_on_from_what_it_saved() -> None:
    walk = walk_of("leduc_poker")
    whole, cut, later = Mccfr(walk, 3), Mccfr(walk, 3), Mccfr(walk, 5)
    whole.step(200)
    cut.step(120)
    later.restore({name: array.copy() for name, array in cut.save().items()})
    later.step(80)
    np.testing.assert_array_equal(whole.policy().behaviour, later.policy().behaviour)
    with pytest.raises(CheckpointError, match="does not fit"):
        later.restore({**cut.save(), "at": np.zeros(3)})


def test_ctrl_c_stops_between_iterations(tmp_path) -> None:
    """What was counted was done: the run is the one that stops there by itself; and it goes on from there."""

    def press(work, seconds) -> None:
        signal.raise_signal(signal.SIGINT)

    watcher = Watcher(advance=press)
    cut = solve("leduc_poker", "mccfr", seconds=600.0, seed=3, out=tmp_path / "run", watcher=watcher)
    assert cut.stopped == "interrupted"
    assert cut.seconds < 60
    whole = solve("leduc_poker", "mccfr", iterations=cut.iterations, seed=3)
    np.testing.assert_array_equal(cut.policy.policy.behaviour, whole.policy.policy.behaviour)
    later = solve(out=tmp_path / "run", resume=True, iterations=cut.iterations + 100)
    longer = solve("leduc_poker", "mccfr", iterations=cut.iterations + 100, seed=3)
    np.testing.assert_array_equal(later.policy.policy.behaviour, longer.policy.policy.behaviour)
