"""The CFR family: anchors measured with an independent implementation, and the update written out slowly."""

import numpy as np
import pytest

from conftest import DICE, GOOFSPIEL, KUHN, LEDUC, form_of
from infoset import Method, cfr, cfr_plus, dcfr, exploitability, hedge, linear_cfr, pcfr_plus, pdcfr_plus, vad_cfr
from infoset.errors import ParameterError
from infoset.solvers.method import parse_method
from infoset.solvers.tabular.updates import by_magnitude, normalise, regret_matching, volatility_adaptive
from infoset.tree.kernels import expect_up, gradient, plan_down
from infoset.tree.plans import behaviour, uniform

METHODS = ("cfr", "cfr+", "linear-cfr", "dcfr", "hs-dcfr", "hs-pcfr+", "pcfr+", "pdcfr+", "vad-cfr", "hedge")
EXACT = 1e-12

# exploitability of the average after 100 and 1000 iterations, alternating updates, uniform start
ANCHORS = {
    "cfr": [(8.2e-3, 9.4e-4), (9.6e-2, 1.2e-2), (3.3e-2, 5.3e-3), (1.7e-2, 1.7e-3)],
    "cfr+": [(1.2e-3, 8.7e-5), (1.3e-2, 2.7e-4), (1.1e-2, 2.7e-4), (2.3e-3, 4.5e-5)],
    "dcfr": [(1.7e-3, 1.5e-4), (7.8e-3, 1.4e-4), (7.9e-3, 4.1e-4), (6.8e-4, 2.6e-5)],
    "pcfr+(averaging=2)": [(2.3e-5, 2.4e-8), (2.0e-2, 7.1e-4), (1.0e-4, 1.0e-7), (1.6e-3, 1.5e-6)],
    "pcfr+": [(5.9e-8, 6e-14), (1.8e-2, 6.3e-4), (1.1e-5, 4.8e-12), (5.1e-4, 1.6e-10)],
    "pdcfr+": [(1.1e-7, 1e-13), (1.8e-2, 9.0e-4), (4.6e-6, 4.8e-12), (7.5e-4, 2.1e-10)],
}


@pytest.mark.parametrize("method", ANCHORS)
@pytest.mark.parametrize("column", range(4), ids=["kuhn", "leduc", "goofspiel-4", "dice-4"])
def test_anchors(method: str, column: int) -> None:
    """Within a factor 1.5, or below 1e-12."""
    form = form_of([KUHN, LEDUC, GOOFSPIEL, DICE][column])
    solver = parse_method(method).solver(form)
    for iterations, anchor in zip((100, 1000), ANCHORS[method][column], strict=True):
        solver.step(iterations - solver.iteration)
        found = exploitability(form, solver.average())
        assert found <= 1.5 * anchor or found < EXACT


def test_schedules_of_the_average_reach_machine_precision() -> None:
    form = form_of(DICE)
    solver = pcfr_plus(averaging=(30, 5)).solver(form)
    solver.step(1000)
    assert exploitability(form, solver.average()) < EXACT


def slow_cfr(form, iterations, alternating):
    """Vanilla CFR with plain NumPy at every information set."""
    a, n = form.arrays, form.num_players
    strategy, regrets, total = uniform(form), np.zeros(form.num_sequences), np.zeros(form.num_sequences)
    plan = np.ones(form.num_sequences)
    for p in range(n):
        plan_down(a, p, strategy, plan)

    def values_of(player):
        values, infoset_values = np.zeros(form.num_sequences), np.zeros(form.num_infosets)
        gradient(a, player, plan, values)
        expect_up(a, player, strategy, values, infoset_values)
        return values, infoset_values

    def update(player, values, infoset_values):
        own = form.player_sequences(player)
        total[own] += plan[own]
        for k in form.player_infosets(player):
            actions = slice(int(a.first[k]), int(a.first[k] + a.size[k]))
            regrets[actions] += values[actions] - infoset_values[k]
            positive = np.maximum(regrets[actions], 0)
            strategy[actions] = positive / positive.sum() if positive.sum() > 1e-15 else 1 / len(positive)
        plan_down(a, player, strategy, plan)

    for _ in range(iterations):
        if alternating:
            for p in range(n):
                update(p, *values_of(p))
        else:
            found = [values_of(p) for p in range(n)]
            for p in range(n):
                update(p, *found[p])
    return total / iterations


@pytest.mark.parametrize("alternating", [True, False])
@pytest.mark.parametrize("name", [KUHN, "kuhn_poker(players=3)", GOOFSPIEL])
def test_the_loop_equals_its_slow_twin(name: str, alternating: bool) -> None:
    form = form_of(name)
    solver = cfr(alternating).solver(form)
    solver.step(20)
    assert solver.average() == pytest.approx(slow_cfr(form, 20, alternating), abs=1e-12)


def test_many_steps_equal_one_long_step() -> None:
    form = form_of(LEDUC)
    one, other = dcfr().solver(form), dcfr().solver(form)
    one.step(37)
    for k in (1, 3, 13, 20):
        other.step(k)
    assert (one.average() == other.average()).all()
    assert (one.current() == other.current()).all()


def test_saved_and_restored_goes_on_bit_for_bit() -> None:
    form = form_of(LEDUC)
    for method in (cfr(), cfr_plus(), linear_cfr(), dcfr(), pcfr_plus((30, 5)), pdcfr_plus(), hedge(0.1)):
        whole, half, rest = (method.solver(form) for _ in range(3))
        whole.step(30)
        half.step(12)
        rest.restore({name: np.copy(array) for name, array in half.save().items()})
        rest.step(18)
        assert rest.iteration == 30
        assert (whole.average() == rest.average()).all()


def test_hedge_learns() -> None:
    form = form_of(KUHN)
    solver = hedge(eta=2.0).solver(form)
    solver.step(5000)
    assert exploitability(form, solver.average()) < 0.02


# The documentation's example: ten lines of a user's own.
def own_regret_matching(root, parent, first, last, value, values, strategy, memory, parameters):
    total = 0.0
    for q in range(first, last):
        memory[0, q] += values[q] - value
        strategy[q] = max(memory[0, q], 0.0)
        total += strategy[q]
    for q in range(first, last):
        strategy[q] = strategy[q] / total if total > 1e-15 else 1.0 / (last - first)


def test_a_users_own_update_runs_on_the_same_loop() -> None:
    form = form_of(KUHN)
    own = Method("own", own_regret_matching, lambda t: np.ones((len(t), 1)))
    solver, ours = own.solver(form), cfr().solver(form)
    solver.step(200)
    ours.step(200)
    assert solver.average() == pytest.approx(ours.average(), abs=1e-9)


def squares(first, last, value, values, memory, parameters):
    return parameters[1] ** 2


def test_what_a_set_weighs_may_be_said_set_by_set() -> None:
    """Weights t² of every set alike are the schedule's; where nothing has a weight yet, the last profile is the answer."""
    form = form_of(LEDUC)
    own = Method("own", own_regret_matching, lambda t: np.stack([np.ones_like(t), t], axis=1), weigh=squares)
    usual = Method("usual", own_regret_matching, lambda t: ((t - 1) / t)[:, None] ** 2)
    one, other = own.solver(form), usual.solver(form)
    one.step(50)
    other.step(50)
    assert behaviour(form, one.average()) == pytest.approx(behaviour(form, other.average()), abs=1e-12)
    late = vad_cfr(warm_up=20).solver(form)
    late.step(20)
    assert (late.average() == late.current()).all()
    late.step(1)
    assert (late.average() != late.current()).any()


def test_vad_cfr_by_hand() -> None:
    """Two moves with values 1 and 0: regrets ±.5, of which half is left of what was, and the good one counts 1.1 times."""
    memory, strategy = np.zeros((2, 2)), np.array([0.5, 0.5])
    values, parameters = np.array([1.0, 0.0]), np.array([1.0, 0.0, 2.0, 500.0])
    volatility_adaptive(0, 0, 0, 2, 0.5, values, strategy, memory, parameters)
    assert memory.tolist() == [[0.55, -0.5], [0.5, 0.0]]
    assert strategy.tolist() == [1.0, 0.0]
    # once more, a quarter as large: the mean is .4625, a = 1.5 - .115625; what is left of .55 is 2^a / (2^a + 1)
    values = np.array([0.125, 0.0])
    parameters[1] = 1.0
    volatility_adaptive(0, 0, 0, 2, 0.0, values, strategy, memory, parameters)
    mean = 0.1 * 0.125 + 0.9 * 0.5
    left = 2 ** (1.5 - mean / 4) / (2 ** (1.5 - mean / 4) + 1)
    assert memory[:, 0] == pytest.approx([0.55 * left + 1.1 * 0.125, mean], abs=1e-15)
    assert by_magnitude(0, 2, 0.0, values, memory, parameters) == 0.0
    parameters[1] = 500.0
    weight = 501 ** (2 + 1.5 / 16) / (1 + 0.125**1.5) * (1 + 1 / 16) ** 0.5
    assert by_magnitude(0, 2, 0.0, values, memory, parameters) == pytest.approx(weight)


def test_updates_are_plain_python_too() -> None:
    """The compiled update against the same function run by the interpreter."""
    memory, strategy = np.array([[1.0, -2.0, 0.5]]), np.array([0.2, 0.3, 0.5])
    values, parameters = np.array([0.1, 0.4, -0.3]), np.array([1.0, 0.5, 0.25])
    value = float(strategy @ values)
    names = dict(regret_matching.__globals__, normalise=normalise.py_func)
    import types

    slow = types.FunctionType(regret_matching.__code__, names)
    slow(0, 0, 0, 3, value, values, strategy, memory, parameters)
    regrets = np.array([1.0, -2.0, 0.5]) + values - value
    expected = np.where(regrets > 0, 0.5, 0.25) * regrets
    assert memory[0] == pytest.approx(expected)
    assert strategy == pytest.approx(np.maximum(expected, 0) / np.maximum(expected, 0).sum())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pcfr+(averaging=-1)", "averaging=-1 is not a number from 0 to 1000"),
        ("pcfr+(averaging=[1,2,3])", "is not a number from 0 to 1000 or a pair"),
        ("cfr+(averaging=word)", "averaging=word"),
        ("dcfr(alpha=inf)", "alpha=inf is out of range"),
        ("hedge(eta=0)", "must be positive"),
        ("pcfr+(averaging=[30,5],horizon=0)", "horizon=0 is not a positive"),
        ("sfrd-continuous(step=0)", "step=0"),
    ],
)
def test_bad_parameters_are_named(name: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words.replace("[", r"\[").replace("+", r"\+")):
        parse_method(name)


@pytest.mark.parametrize("name", [*METHODS, "dcfr(alpha=2.0,gamma=[30,5])", "pcfr+(averaging=[30,5],horizon=500)"])
def test_a_methods_name_builds_it_again(name: str) -> None:
    assert parse_method(name).name == name
    assert parse_method(parse_method(name).name).name == name
