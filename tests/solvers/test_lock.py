"""Solving around what is kept to: against games in which chance plays the locked part, and against best responses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoset
from extent import examples
from infoset.errors import CheckpointError, ParameterError, UnknownNameError
from infoset.formats.efg import game_to_efg, write_efg

LOOPS = ("cfr", "cfr+", "dcfr", "hedge", "linear-cfr", "pcfr+", "pdcfr+", "sfrd")


def with_nature(tmp_path: Path, game: str, key: str, probabilities: dict[str, str]) -> str:
    """The same game, but chance moves at one information set of it, named by its own label in the file."""
    text = write_efg(game_to_efg(infoset.load(game)))
    actions = " ".join(f'"{action}" {chance}' for action, chance in probabilities.items())
    changed, count = re.subn(rf'p "" (\d) \d+ "{re.escape(key)}" {{.*?}} 0', f'c "" 99 "" {{ {actions} }} 0', text)
    assert count >= 2
    path = tmp_path / "locked.efg"
    path.write_text(changed)
    return str(path)


@pytest.mark.parametrize(("key", "bet"), [("J", "1/2"), ("K bet", "1/4"), ("Q [pass] bet", "1/8")])
def test_a_locked_set_is_as_good_as_nature_s(tmp_path: Path, key: str, bet: str) -> None:
    chance = eval(bet)
    rest = f"{8 - round(8 * chance)}/8"
    oracle = infoset.solve(with_nature(tmp_path, "kuhn_poker", key, {"pass": rest, "bet": bet}), "lp")
    locked = infoset.solve("kuhn_poker", "pcfr+", lock={key: {"bet": chance, "pass": 1 - chance}}, target=1e-7)
    assert locked.values == pytest.approx(oracle.values, abs=1e-6)
    assert locked.exploitability <= 1e-7
    owner = 1 if key == "K bet" else 0
    assert locked.policy.probabilities(owner, key) == {"pass": 1 - chance, "bet": chance}  # to the last bit


@pytest.mark.parametrize("method", LOOPS)
def test_every_method_of_the_loop_answers_a_locked_player_best(method: str) -> None:
    uniform = infoset.evaluate("kuhn_poker", "random")
    locked = infoset.solve("kuhn_poker", method, lock={"P1": "random"}, iterations=3000)
    assert locked.values[1] == pytest.approx(uniform.best_response_values[1], abs=1e-2)
    assert locked.nash_conv == locked.exploitability == pytest.approx(locked.epsilon)  # P2 alone could gain
    everybody = infoset.evaluate("kuhn_poker", locked.policy)
    assert everybody.nash_conv > 0.5  # P1 could, if it were asked
    assert all(set(row.values()) == {0.5} for row in locked.policy.tables[0].values())


@examples(20)
@given(st.lists(st.floats(0, 1), min_size=6, max_size=6), st.integers(0, 2))
def test_nobody_gains_where_the_rest_is_an_equilibrium(probabilities: list[float], where: int) -> None:
    """With half of the sets of a player locked anyhow, the rest has an equilibrium, and its figures say so."""
    form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    keys = [form.keys[k] for k in form.player_infosets(where % 2)][where : where + 3]
    lock = {
        "P1" if where % 2 == 0 else "P2": {
            key: {"bet": p, "pass": 1 - p} for key, p in zip(keys, probabilities, strict=False)
        }
    }
    found = infoset.solve("kuhn_poker", "pcfr+", lock=lock, iterations=3000)
    assert found.nash_conv < 1e-4
    free = infoset.solve("kuhn_poker", "lp").values
    loser = 0 if where % 2 == 0 else 1
    assert found.values[loser] <= free[loser] + 1e-4  # to be bound is never better


def test_places_can_be_written_in_several_ways() -> None:
    row = {"bet": 0.25, "pass": 0.75}
    said = [{"J": row}, {("P1", "J"): row}, {(0, "J"): row}, {"P1": {"J": row}}, {0: {"J": row}}]
    found = [infoset.solve("kuhn_poker", "cfr", lock=lock, iterations=50) for lock in said]
    assert len({one.values for one in found}) == 1
    assert found[0].lock == {"P1": {"J": row}}
    function = infoset.solve("kuhn_poker", "pcfr+", lock={"P2": lambda key, actions: {actions[0]: 1.0}}, iterations=500)
    assert function.values[0] == pytest.approx(1.0, abs=1e-4)  # P2 always folds


@pytest.mark.parametrize(
    ("lock", "said"),
    [
        ({"P3": "random"}, r"unknown player or information set 'P3'; did you mean 'P"),
        ({"K bets": {"bet": 1}}, r"did you mean 'K bet'"),
        ({"K bet": {"fold": 1}}, r"P2 at 'K bet': no move 'fold'; allowed: pass, bet"),
        ({"K bet": {"bet": 0.5}}, r"no probabilities from 0 to 1 that sum to 1"),
        ({"K bet": {"bet": -1, "pass": 2}}, r"no probabilities"),
        ({"K bet": {"bet": float("nan")}}, r"no probabilities"),
        ({"K bet": 3}, r"is not a distribution"),
        ({7: "random"}, r"no player 7; allowed: 0 to 1"),
        ({("P1", "J", 3): {"bet": 1}}, r"is not a place"),
        ({None: "random"}, r"None is not a place"),
        ("P1=random", r"'P1=random' is not a mapping"),
        ({"K bet": {"bet": 10**400}}, r"no probabilities"),
        ({"P1": {"Z": {"bet": 1}}}, r"unknown information set of P1 'Z'"),
    ],
)
def test_what_is_no_lock_is_refused_in_a_line(lock: object, said: str) -> None:
    with pytest.raises((ParameterError, UnknownNameError), match=said):
        infoset.solve("kuhn_poker", "cfr", lock=lock, iterations=1)  # type: ignore[arg-type]


def test_a_key_of_several_players_needs_its_player() -> None:
    key = infoset.SequenceForm.of(infoset.load("rock_paper_scissors")).keys[0]
    with pytest.raises(ParameterError, match=r"P1, P2 all have the set .*; name \(player, key\)"):
        infoset.solve("rock_paper_scissors", "cfr", lock={key: {"Rock": 1}})
    bound = infoset.solve("rock_paper_scissors", "pcfr+", lock={("P1", key): {"Rock": 1}}, iterations=200)
    assert bound.values == pytest.approx((-1.0, 1.0), abs=1e-4)


def test_other_methods_refuse_it_by_name() -> None:
    with pytest.raises(ParameterError, match="lock is not an option of lp"):
        infoset.solve("kuhn_poker", "lp", lock={"P1": "random"})


def test_a_run_keeps_its_lock_and_goes_on_bit_for_bit(tmp_path: Path) -> None:
    lock = {"P1": "random"}
    whole = infoset.solve("leduc_poker", "dcfr", lock=lock, iterations=60)
    infoset.solve("leduc_poker", "dcfr", lock=lock, iterations=20, out=tmp_path / "run")
    gone_on = infoset.solve(out=tmp_path / "run", resume=True, iterations=60)
    assert gone_on.values == whole.values
    assert gone_on.policy.tables == whole.policy.tables
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert len(config["lock"]["P1"]) == 468
    with pytest.raises(CheckpointError, match="lock can be given only when a run begins"):
        infoset.solve(out=tmp_path / "run", resume=True, lock=lock)


def test_a_study_agrees_with_its_evaluation() -> None:
    """The root's values are the payoffs; conditional values weigh back to counterfactual ones."""
    policy = infoset.solve("leduc_poker", "dcfr", iterations=200).policy
    study = infoset.Study.of("leduc_poker", policy)
    form = study.form
    for player in range(2):
        tops = [k for k in form.player_infosets(player) if form.arrays.parent[k] == form.arrays.sequences[player]]
        total = sum(study.counterfactual_reach[k] * study.infoset_values[k] for k in tops)
        if player == 0:  # P1 moves first in every history
            assert sum(study.reach[k] for k in tops) == pytest.approx(1)
            assert total == pytest.approx(study.evaluation.values[0])
            best = sum(
                study.counterfactual_reach[k] * study.best_values[form.arrays.first[k] :][: form.arrays.size[k]].max()
                for k in tops
            )
            assert best == pytest.approx(study.evaluation.best_response_values[0])
    assert np.nanmin(study.best_values - study.values) > -1e-12
    weighed = np.bincount(form.infoset_of[form.infoset_of >= 0], (study.behaviour * study.regret)[form.infoset_of >= 0])
    assert np.nanmax(np.abs(weighed)) < 1e-12  # a set's regrets weigh each other out


def test_a_study_by_hand() -> None:
    """Kuhn poker, both uniform: with a king P1 wins 1 or 2 whatever happens."""
    form = infoset.SequenceForm.of(infoset.load("kuhn_poker"))
    study = infoset.Study.of("kuhn_poker", infoset.TabularPolicy.uniform(form))
    actions = {action.action: action for action in study.actions("P1", "K")}
    assert actions["bet"].value == pytest.approx(1.5)  # P2 folds or calls
    assert actions["pass"].value == pytest.approx(0.5 * 1 + 0.5 * (0.5 * 2 + 0.5 * -1))
    assert study.reach[study.number("P1", "K [pass] bet")] == pytest.approx(1 / 3 / 4)
    with pytest.raises(UnknownNameError, match="did you mean 'K'"):
        study.number("P1", "Kk")
    for nobody in ("P3", 2, -1):
        with pytest.raises(UnknownNameError, match="unknown player"):
            study.number(nobody, "K")
