"""Policies: readable, saved and loaded unchanged, refused for another game."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from command_line import run_infoset as run
from conftest import KUHN, LEDUC, form_of
from infoset import TabularPolicy, compare, evaluate, solve
from infoset.errors import PolicyError
from infoset.tree.plans import random_interior


def random_policy(name: str = KUHN, seed: int = 0) -> TabularPolicy:
    form = form_of(name)
    return TabularPolicy.from_behaviour(form, random_interior(form, seed), {"method": "random"})


@pytest.mark.parametrize("suffix", [".npz", ".json"])
@pytest.mark.parametrize("name", [KUHN, LEDUC, "kuhn_poker(players=3)"])
def test_saved_and_loaded_is_equal(tmp_path, name: str, suffix: str) -> None:
    policy = random_policy(name)
    assert TabularPolicy.load(policy.save(tmp_path / f"p{suffix}")) == policy


def test_keys_read_well() -> None:
    policy = TabularPolicy.uniform(form_of(KUHN))
    assert policy.probabilities(0, "K [pass] bet") == {"pass": 0.5, "bet": 0.5}
    with pytest.raises(PolicyError, match="no information set 'A' for P1"):
        policy.probabilities(0, "A")
    with pytest.raises(PolicyError, match=r"for P1; did you mean 'K \[pass\] bet'\?"):
        policy.probabilities(0, "K [pass] bets")


def test_behaviour_and_plan_come_back() -> None:
    form = form_of(LEDUC)
    strategy = random_interior(form, 3)
    policy = TabularPolicy.from_behaviour(form, strategy)
    assert policy.behaviour(form) == pytest.approx(strategy)
    assert TabularPolicy.from_plan(form, policy.plan(form)).behaviour(form) == pytest.approx(strategy)


def test_a_policy_by_hand() -> None:
    """Kuhn's equilibrium with alpha = 1/3 (Kuhn 1950), written as a table."""
    third = {"pass": 2 / 3, "bet": 1 / 3}
    never, always = {"pass": 1.0, "bet": 0.0}, {"pass": 0.0, "bet": 1.0}
    first = {"J": third, "Q": never, "K": always, "J [pass] bet": never, "K [pass] bet": always}
    first["Q [pass] bet"] = {"pass": 1 / 3, "bet": 2 / 3}
    second = {"J pass": third, "J bet": never, "Q pass": never, "Q bet": third, "K pass": always, "K bet": always}
    policy = TabularPolicy("", ("P1", "P2"), (first, second))
    result = evaluate(form_of(KUHN), policy.plan(form_of(KUHN)))
    assert result.nash_conv == pytest.approx(0, abs=1e-12)
    assert result.values[0] == pytest.approx(-1 / 18)


def test_comparison_finds_the_largest_difference() -> None:
    one = TabularPolicy.uniform(form_of(KUHN))
    tables = [dict(t) for t in one.tables]
    tables[1]["Q bet"] = {"pass": 0.9, "bet": 0.1}
    found = compare(one, TabularPolicy(KUHN, one.players, tuple(tables)))
    assert (found.player, found.key) == ("P2", "Q bet")
    assert found.largest == pytest.approx(0.4)
    assert found.mean == pytest.approx(0.4 / 12)
    with pytest.raises(PolicyError, match="information sets differ"):
        compare(one, random_policy(LEDUC))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"players": ["P1"], "tables": [{}]}, "has 1 players, the game 2"),
    ],
)
def test_a_policy_for_another_game_is_refused(tmp_path, change: dict, words: str) -> None:
    body = json.loads(random_policy().save(tmp_path / "p.json").read_text())
    (tmp_path / "p.json").write_text(json.dumps(body | change))
    with pytest.raises(PolicyError, match=words):
        TabularPolicy.load(tmp_path / "p.json").plan(form_of(KUHN))


def test_the_games_are_named_on_a_mismatch() -> None:
    with pytest.raises(PolicyError, match="made for leduc_poker, this is kuhn_poker: P1 has no information set"):
        random_policy(LEDUC).plan(form_of(KUHN))


def test_a_policy_fits_the_same_rules_with_other_payoffs() -> None:
    usual = form_of("rock_paper_scissors")
    doubled = form_of("rock_paper_scissors(payoffs=[[0,-1,2],[1,0,-2],[-2,2,0]])")
    result = evaluate(doubled, TabularPolicy.uniform(usual).plan(doubled))
    assert result.nash_conv == pytest.approx(2 / 3)  # rock wins 1/3 from a uniform opponent


@pytest.mark.parametrize(
    ("key", "row", "words"),
    [
        ("K", None, "lacks P1's set 'K'"),
        ("A", {"pass": 1.0}, "no information set 'A' with a choice"),
        ("K", {"pass": 0.5, "raise": 0.5}, r"at 'K' it plays \['raise'\], the game offers \['pass', 'bet'\]"),
    ],
)
def test_tables_that_do_not_fit(key: str, row: dict | None, words: str) -> None:
    policy = TabularPolicy.uniform(form_of(KUHN))
    table = {k: v for k, v in {**policy.tables[0], key: row}.items() if v is not None}
    with pytest.raises(PolicyError, match=words):
        TabularPolicy("", policy.players, (table, policy.tables[1])).plan(form_of(KUHN))


@pytest.mark.parametrize("row", [{"pass": 0.5, "bet": 0.4}, {"pass": 1.5, "bet": -0.5}, {"pass": float("nan")}, {}])
def test_rows_that_are_no_distributions(row: dict) -> None:
    with pytest.raises(PolicyError, match=r"P1 at 'K'"):
        TabularPolicy(KUHN, ("P1",), ({"K": row},))


def test_broken_files(tmp_path) -> None:
    whole = random_policy().save(tmp_path / "whole.npz").read_bytes()
    cases = {
        "empty.npz": b"",
        "cut.npz": whole[: len(whole) // 2],
        "text.npz": b"hello",
        "list.json": b"[]",
        "types.json": b'{"schema": 3, "game": 3, "players": [], "tables": []}',
        "cut.json": b'{"schema": 3',
    }
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(PolicyError, match="not a policy file"):
            TabularPolicy.load(tmp_path / name)
    with pytest.raises(PolicyError):
        TabularPolicy.load(tmp_path / "missing.npz")
    with pytest.raises(PolicyError, match=r"allowed: \.npz, \.json"):
        random_policy().save(tmp_path / "p.txt")


def test_a_newer_schema_and_pickles_are_refused(tmp_path) -> None:
    body = json.loads(random_policy().save(tmp_path / "p.json").read_text())
    (tmp_path / "p.json").write_text(json.dumps(body | {"schema": 99}))
    with pytest.raises(PolicyError, match="schema 99; this version reads 3"):
        TabularPolicy.load(tmp_path / "p.json")
    np.savez(tmp_path / "pickle.npz", header=np.array([object()]), probabilities=np.zeros(1))
    with pytest.raises(PolicyError, match="not a policy file"):
        TabularPolicy.load(tmp_path / "pickle.npz")


def test_a_bomb_is_refused_before_it_unpacks(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("infoset.files.MAX_BYTES", 1 << 24)
    with (
        zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("header.npy", "w", force_zip64=True) as entry,
    ):
        block = bytes(1 << 24)
        for _ in range(2):
            entry.write(block)
    with pytest.raises(PolicyError, match="it unpacks to 33,554,432 bytes; at most 16,777,216 are read"):
        TabularPolicy.load(tmp_path / "bomb.npz")


def test_a_solutions_policy_evaluates_to_its_figures() -> None:
    form = form_of(LEDUC)
    solution = solve(form, iterations=50)
    assert evaluate(form, solution.policy.plan(form)).nash_conv == pytest.approx(solution.nash_conv, abs=1e-12)


def bomb(path: Path, megabytes: int) -> Path:
    """A policy of Kuhn poker whose header ends in so many million blanks, which are packed to almost nothing."""
    random_policy().save(path)
    with np.load(path) as arrays:
        header, probabilities = arrays["header"], arrays["probabilities"]
    blanks = np.full(megabytes * 10**6, ord(" "), dtype=np.uint8)
    np.savez_compressed(path, header=np.concatenate([header, blanks]), probabilities=probabilities)
    return path


def test_a_policy_unpacks_to_no_more_than_its_game_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told by the archive's directory: nothing is unpacked."""
    form = form_of(KUHN)
    small, large = bomb(tmp_path / "small.npz", 2), bomb(tmp_path / "large.npz", 30)
    assert TabularPolicy.load(small) == random_policy()
    assert large.stat().st_size < 100_000
    text = tmp_path / "blanks.json"
    random_policy().save(text)
    text.write_text(text.read_text() + " " * 2_000_000)
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("unpacked"))
    for path, game in ((small, form), (large, form), (large, None)):
        with pytest.raises(
            PolicyError, match=r"\.npz: not a policy file: it unpacks to [0-9,]+ bytes; at most [0-9,]+ are"
        ):
            TabularPolicy.load(path, game)
    with pytest.raises(PolicyError, match="it unpacks to"):
        TabularPolicy.check_file(large)
    with pytest.raises(PolicyError, match=r"2,0\d\d,\d{3} bytes; at most 1,0\d\d,\d{3} are read"):
        TabularPolicy.load(text, form)


@pytest.mark.parametrize("suffix", [".npz", ".json"])
@pytest.mark.parametrize("name", [KUHN, LEDUC, "goofspiel(num_cards=3)", "liars_dice(dice_sides=2)"])
def test_every_policy_of_a_game_is_small_enough_for_it(
    name: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a form says that a file may take is never too little, the room for other things left out."""
    monkeypatch.setattr("infoset.policies.tabular.OTHER_BYTES", 2000)
    form = form_of(name)
    policy = TabularPolicy.from_behaviour(form, random_interior(form, 1))
    assert TabularPolicy.load(policy.save(tmp_path / f"p{suffix}"), form) == policy


def test_the_command_line_refuses_a_bomb(tmp_path: Path) -> None:
    bomb(tmp_path / "large.npz", 30)
    for verb in ("evaluate", "show"):
        done = run(verb, KUHN, "large.npz", cwd=tmp_path)
        assert done.returncode == 1
        assert "large.npz: not a policy file: it unpacks to 30,0" in done.stderr
