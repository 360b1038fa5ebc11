"""Annealing against a best response: a slow twin, exact optima, what it promises, and abstracted tiny bridge."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from extent import examples, sample
from infoset import SequenceForm, TabularPolicy, evaluate, expected_values, load
from infoset.base import FloatArray
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.randomness import below, next_word
from infoset.solvers.metrics import best_response
from infoset.solvers.teams import annealing
from infoset.solvers.teams.annealing import AnnealingState, anneal, begin, enter, find_leaders, sweep
from infoset.solvers.teams.optimum import team_optimum
from infoset.tree.kernels import gradient
from infoset.tree.plans import realisation
from random_games import RandomGame, RandomState

BRIDGE_OPTIMUM = 2647 / 126
OPTIMA = {
    **{f"tiny_hanabi(game={game})": best for game, best in zip("ABCDEF", (2.25, 1, 2.5, 2.5, 10, 7 / 3), strict=True)},
    "cooperative_matching_pennies": 1,
    "trade_comm(items=3,messages=2)": 5 / 9,
    "trade_comm(items=3,messages=3)": 1,
    "trade_comm(items=4,messages=3)": 10 / 16,  # pairs of groups of 2, 1 and 1 items: one serves 2 deals, eight serve 1
}


class CommonState(RandomState):
    def returns(self) -> tuple[float, ...]:
        return (float(self.noise("pays") % 7 - 3),) * self.game.num_players


def form_of(name: str) -> SequenceForm:
    return SequenceForm.of(load(name))


def random_form(seed: int, players: int, depth: int = 3) -> SequenceForm:
    return SequenceForm.of(RandomGame(seed, players, depth, CommonState))


def played(form: SequenceForm, s: AnnealingState, responder: int) -> FloatArray:
    """(S,) the leaders' choices as a plan, and a best response to them."""
    strategy = np.zeros(form.num_sequences)
    strategy[form.arrays.first.astype(int) + s.choice] = 1.0
    plan = realisation(form, strategy)
    return best_response(form, plan, responder)


def twin(form: SequenceForm, s: AnnealingState, responder: int, temperatures: list[float]) -> None:
    """The steps as the module's docstring says them; every profile is evaluated from scratch."""
    sets = [k for k in range(form.num_infosets) if form.infoset_player[k] != responder]
    for temperature in temperatures:
        for _ in sets:
            k = sets[below(s.stream, len(sets))]
            plan, now = played(form, s, responder), evaluate(form, played(form, s, responder)).values[0]
            others = [action for action in range(form.arrays.size[k]) if action != s.choice[k]]
            old, s.choice[k] = s.choice[k], others[below(s.stream, len(others))]
            if plan[form.arrays.parent[k]] > 0:
                loss = now - evaluate(form, played(form, s, responder)).values[0]
                if loss > 0 and (next_word(s.stream) >> np.uint64(11)) / 2**53 >= exp(-loss / temperature):
                    s.choice[k] = old


@pytest.mark.parametrize("responder", [0, 1])
@pytest.mark.parametrize("name", [*[f"tiny_hanabi(game={game})" for game in "ABCDE"], "trade_comm(items=2,messages=2)"])
def test_the_steps_of_the_slow_twin(name: str, responder: int) -> None:
    """Payoffs and probabilities are fractions with powers of two, so no rounding can part them."""
    form, temperatures = form_of(name), [np.inf, 1.0, 0.3, 0.1, 0.03, 0.001]
    fast, slow = (begin(form, np.random.SeedSequence(responder)) for _ in range(2))
    leaders = find_leaders(form, responder)
    enter(form.arrays, leaders, fast, responder)
    for temperature in temperatures:
        sweep(form.arrays, leaders, fast, responder, temperature)
    twin(form, slow, responder, temperatures)
    assert (fast.choice == slow.choice).all()
    assert fast.stream == slow.stream


@examples(25)
@given(some.integers(0, 10**6), some.integers(2, 4))
def test_what_is_kept_up_to_date(seed: int, players: int) -> None:
    """After many steps the sums are those that follow from the choices, for several leaders too."""
    form = random_form(seed, players)
    for responder in range(players):
        s, leaders = begin(form, np.random.SeedSequence(seed)), find_leaders(form, responder)
        enter(form.arrays, leaders, s, responder)
        for temperature in (np.inf, 1.0, 0.1):
            sweep(form.arrays, leaders, s, responder, temperature)
        plan, gain = played(form, s, responder), np.zeros(form.num_sequences)
        own = form.player_sequences(responder)
        gradient(form.arrays, responder, plan, gain)
        assert s.gain[own] == pytest.approx(gain[own], abs=1e-12)
        assert np.delete(s.plan, own) == pytest.approx(np.delete(plan, own), abs=0)
        assert s.profile_value[0] == pytest.approx(expected_values(form, plan)[0] - form.offsets[0], abs=1e-12)
        assert s.profile_value[1] >= s.profile_value[0] - 1e-9


@pytest.mark.parametrize("name", OPTIMA)
def test_published_optima(name: str) -> None:
    assert anneal(form_of(name), sweeps=500).value == pytest.approx(OPTIMA[name], abs=1e-12)


@pytest.mark.parametrize("players", [1, 2, 3])
def test_proved_optima_of_random_games(players: int) -> None:
    for seed in range(sample(4, 8)):
        game = RandomGame(seed, players, 3, CommonState)
        found = anneal(SequenceForm.of(game), sweeps=100, seed=seed)
        assert found.value == pytest.approx(team_optimum(game, "milp").value, abs=1e-9)


def test_what_comes_out() -> None:
    form = form_of("trade_comm(items=3,messages=2)")
    seen: list[tuple[int, float]] = []
    found = anneal(form, sweeps=3, runs=5, seed=7, progress=lambda *now: seen.append(now))
    assert (found.stopped, len(found.values), [run for run, _ in seen]) == ("runs", 5, [1, 2, 3, 4, 5])
    assert found.value == found.values.max() == seen[-1][1] == expected_values(form, found.plan)[0]
    assert [best for _, best in seen] == np.maximum.accumulate(found.values).tolist()
    assert evaluate(form, found.plan).epsilon < 1e-9
    assert set(np.unique(found.plan)) == {0.0, 1.0}
    policy = found.policy()
    assert isinstance(policy, TabularPolicy)
    assert policy.made_by == {"method": "annealing", "sweeps": 3, "runs": 5, "seed": 7}
    assert expected_values(form, policy.plan(form))[0] == found.value


def test_the_seed_decides() -> None:
    form = form_of("trade_comm(items=4,messages=3)")
    one, again, other = (anneal(form, sweeps=2, runs=6, seed=seed) for seed in (3, 3, 4))
    assert (one.plan == again.plan).all()
    assert (one.values == again.values).all()
    assert (one.values != other.values).any()
    assert (anneal(form, sweeps=2, runs=4, seed=3).values == one.values[:4]).all()


def test_longer_runs_are_better() -> None:
    form = form_of("trade_comm(items=4,messages=4)")
    means = [anneal(form, sweeps=sweeps, runs=10, seed=1).values.mean() for sweeps in (1, 30, 1000)]
    assert means[0] < means[1] < means[2]


def test_abstracted_tiny_bridge() -> None:
    """Within .01 of the proved optimum in seconds, which alternating best responses alone never reached."""
    found = anneal(form_of("tiny_bridge"), runs=3, seed=1)
    assert BRIDGE_OPTIMUM - 0.01 <= found.value <= BRIDGE_OPTIMUM + 1e-9


def test_time_ends_a_run() -> None:
    form = form_of("tiny_bridge")
    anneal(form, sweeps=1, runs=1)  # compiled
    found = anneal(form, sweeps=10**9, runs=9, seconds=0.1)
    assert (found.stopped, len(found.values)) == ("seconds", 1)
    assert found.seconds < 60
    assert evaluate(form, found.plan).epsilon < 1e-9


def test_interrupted() -> None:
    form = form_of("tiny_hanabi")

    def stop(run: int, best: float) -> None:
        if run == 2:
            raise KeyboardInterrupt

    found = anneal(form, sweeps=10, runs=9, progress=stop)
    assert (found.stopped, len(found.values)) == ("interrupted", 2)


def test_interrupted_before_anything_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(annealing, "sweep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        anneal(form_of("tiny_hanabi"))


def test_refusals() -> None:
    with pytest.raises(UnsupportedGameError, match="kuhn_poker is no common-payoff game"):
        anneal(form_of("kuhn_poker"))
    form = form_of("tiny_hanabi")
    with pytest.raises(ParameterError, match="sweeps=0 is out of range; allowed: 1 to"):
        anneal(form, sweeps=0)
    with pytest.raises(ParameterError, match="runs=0 is out of range"):
        anneal(form, runs=0)
    with pytest.raises(ParameterError, match="seconds=nan is out of range; allowed: above 0"):
        anneal(form, seconds=float("nan"))
