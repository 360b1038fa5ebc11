"""Matches against OpenSpiel's bots: both play the same game, the bots know no more than they may, runs go on."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from extent import sample
from infoset import load
from infoset.errors import ParameterError
from infoset.match.match import execute
from infoset.statistics import Share

pyspiel = pytest.importorskip("pyspiel")

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "rivals.py"
GAMES = ["connect_four", "breakthrough", "hex", "phantom_ttt", "phantom_tic_tac_toe", "latent_tic_tac_toe", "dark_hex", "liars_dice",
         "goofspiel", "leduc_poker"]  # fmt: skip
HIDDEN = GAMES[3:]
PLAYS = {"connect_four": 40, "breakthrough": 12, "hex": 60}
compiles = pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rivals", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["rivals"] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


rivals = script()


def test_every_game_is_tried() -> None:
    assert sorted(rivals.PAIRS) == sorted(GAMES)


def played(name: str, rng: np.random.Generator):
    """A random play: the shadow that follows it, after every step, and what each player knows there."""
    pair = rivals.PAIRS[name]
    game, shadow = load(pair.ours), rivals.Shadow(pair)
    step = game.start()
    known = [((None, seen),) if (seen := step.observation(p)) is not None else () for p in range(2)]
    shadow.begin(step.state)
    while not step.state.terminal:
        yield step.state, shadow, tuple(known)
        state = step.state
        action_sets = [state.legal_actions(p) for p in range(2)]
        actions = tuple(
            action_set[int(rng.integers(len(action_set)))] if action_set else None for action_set in action_sets
        )
        chance_outcome, step = execute(name, state, actions, rng)
        shadow.follow(state, actions, chance_outcome, step.state)
        for p, action in enumerate(actions):
            if action is not None or step.observation(p) is not None:
                known[p] = (*known[p], (action, step.observation(p)))
    yield step.state, shadow, tuple(known)


@pytest.mark.parametrize("name", GAMES)
def test_the_same_game(name) -> None:
    """Random plays have the same legal moves at every step, end together and pay the same."""
    rng, ends = np.random.default_rng(1), set()
    for _ in range(PLAYS.get(name, 100)):
        for state, shadow, _ in played(name, rng):
            if state.terminal:
                assert shadow.spiel.is_terminal()
                ends.add(tuple(shadow.spiel.returns()))
    assert len(ends) > 1


@pytest.mark.parametrize("name", HIDDEN)
def test_the_same_information(name) -> None:
    """Where a player decides, what it knows here and OpenSpiel's information states so far tell the same pasts apart.

    The last one alone would not do: dark_hex's counts all tries, but not when they were made.
    """
    rng = np.random.default_rng(2)
    theirs: dict[object, object] = {}
    ours: dict[object, object] = {}
    for _ in range(sample(100, 400)):
        told: list[tuple[str, ...]] = [(), ()]
        for state, shadow, known in played(name, rng):
            for player in range(2):
                if len(state.legal_actions(player)) > 1:
                    told[player] += (shadow.at_turn_of(player).information_state_string(player),)
                    assert theirs.setdefault((player, known[player]), told[player]) == told[player]
                    assert ours.setdefault((player, told[player]), known[player]) == known[player]
    assert 20 < len(theirs) == len(ours)


def test_a_wrong_translation_is_noticed() -> None:
    """Another board, other payoffs: the shadow does not follow."""
    pair = rivals.Pair("gdl:connect_four", "connect_four(rows=5)", rivals.dropped)
    state = load(pair.ours).start().state
    shadow = rivals.Shadow(pair)
    with pytest.raises(AssertionError, match="here"):
        for k in range(6):
            actions = [("drop", 1), "noop"] if k % 2 == 0 else ["noop", ("drop", 1)]
            after = state.play(actions).state
            shadow.follow(state, actions, None, after)
            state = after


@compiles
@pytest.mark.parametrize("name", [name for name in HIDDEN if name != "leduc_poker"])
def test_worlds_are_those_that_the_player_thinks_possible(name) -> None:
    """The sampler finds other histories with the same information state, whatever happened unseen."""
    rng, others = np.random.default_rng(3), 0
    bot = rivals.SamplingISMCTS(rivals.PAIRS[name].theirs, 1, 0.01, True, [])
    for _ in range(3):
        for state, shadow, _ in played(name, rng):
            for player in range(2):
                if len(state.legal_actions(player)) > 1:
                    spiel = shadow.at_turn_of(player)
                    world = shadow.game.new_initial_state()
                    for number in bot.world(spiel):
                        world.apply_action(number)
                    assert world.information_state_string(player) == spiel.information_state_string(player)
                    others += world.history() != spiel.history()
    assert others > 5


@compiles
def test_worlds_have_their_chances() -> None:
    """In liar's dice the other's die is any face alike, with the true one no more often than others."""
    game = pyspiel.load_game("liars_dice")
    state = game.new_initial_state()
    for number in (2, 5, 0):  # dice 3 and 6; the first bid
        state.apply_action(number)
    bot = rivals.SamplingISMCTS("liars_dice", 1, 0.01, True, [])
    faces = np.bincount([bot.world(state)[0] for _ in range(3000)], minlength=6)
    assert all(abs(faces - 500) < 4 * np.sqrt(3000 * 5 / 36))


def test_a_bot_does_not_hold_the_move_made_at_the_same_time() -> None:
    shadow = rivals.Shadow(rivals.PAIRS["goofspiel"])
    spiel = shadow.at_turn_of(1)
    assert (shadow.spiel.current_player(), spiel.current_player()) == (0, 1)
    other = shadow.spiel.child(shadow.spiel.legal_actions()[3])
    assert spiel.information_state_string(1) == other.information_state_string(1)


def run(*argv: str, out: Path) -> tuple[dict, dict]:
    found, refused = rivals.run(rivals.parse([*argv, "--out", str(out)]))
    return {row: games for row, games in found.items() if games}, refused


def test_a_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in the file is not played again, and a line that was cut off is.

    The bot counts its simulations here: OpenSpiel's ends the process where its clock runs out before the first.
    """
    counting = rivals.mcts
    monkeypatch.setattr(rivals, "mcts", lambda game, seed, _: counting(game, seed, 0.0, 100))
    out = tmp_path / "rivals.jsonl"
    row = ["--row", "hex", "openspiel:mcts", "random", "--seconds-per-move", ".002"]
    first, _ = run(*row, "--games", "3", out=out)
    lines = out.read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines] == [0, 1, 2]
    out.write_text("\n".join(lines)[:-5])
    second, _ = run(*row, "--games", "5", out=out)
    ((_, before),), ((_, after),) = first.items(), second.items()
    assert after[:2] == before[:2]
    assert [one.number for one in after] == [0, 1, 2, 3, 4]
    assert [one.seat for one in after] == [0, 1, 0, 1, 0]
    assert np.mean([one.share for one in after]) > 0.7  # it wins
    assert all(one.actions[0] > 3 and one.seconds[0] > 0 and not one.faults for one in after)


def test_what_cannot_be_played_is_said(tmp_path: Path, capsys) -> None:
    rows = [["tic_tac_toe_", "random", "random"], ["gdl:monty_hall", "random", "random"],
            ["gdl:meier", "random", "openspiel:mcts"], ["hex", "random", "openspiel:ismcts"],
            ["liars_dice", "random", "openspiel:mtcs"]]  # fmt: skip
    argv = [word for row in rows for word in ("--row", *row)]
    found, refused = run(*argv, "--games", "2", out=tmp_path / "rivals.jsonl")
    assert not found
    words = [
        "tic_tac_toe_",
        "players, not 2",
        "not known in OpenSpiel",
        "openspiel:ismcts does not play",
        "unknown bot",
    ]
    assert all(word in why for word, why in zip(words, refused.values(), strict=True))


def test_shares_of_points() -> None:
    """Goals of a hundred in described games; elsewhere only who won counts."""
    goals = rivals.Duel(rivals.Row("gdl:scissors_double", "random", "random", 1.0), 1.0)
    poker = rivals.Duel(rivals.Row("leduc_poker", "random", "random", 1.0), 1.0)
    assert goals.share((75.0, 25.0), 1) == 0.25
    assert [poker.share(pay, 0) for pay in ((-5.0, 5.0), (0.0, 0.0), (1.0, -1.0))] == [0, 0.5, 1]


def test_a_row_ends_when_enough_is_known(tmp_path: Path) -> None:
    argv = ["--row", "gdl:scissors_double", "random", "random", "--games", "60", "--within", "25"]
    (games,) = run(*argv, out=tmp_path / "rivals.jsonl")[0].values()
    shares = [one.share for one in games]
    widths = [np.ptp(Share.of(shares[:count]).interval) * 50 for count in (len(shares) - 1, len(shares))]
    assert widths[0] > 25 >= widths[1]
    again, _ = run(*argv, out=tmp_path / "rivals.jsonl")
    assert [len(games) for games in again.values()] == [len(shares)]
    rows = {row._replace(seconds=seconds): games for row, games in again.items() for seconds in (0.1, 0.3)}
    rivals.draw(rows, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_rows_of_the_tables() -> None:
    found = {table: list(rivals.rows(table, "uct", 0.5)) for table in rivals.TABLES}
    assert [row.game for row in found["openspiel"]] == list(rivals.PAIRS)
    assert {row.rival for row in found["random"]} == {"random"}
    assert {"gdl:pursuit", "gdl:hex"} <= {row.game for row in found["random"]}
    assert all(row.agent == "uct" and row.seconds == 0.5 for row in found["floors"])
    assert len({row.seconds for row in found["curve"]}) == 4
    with pytest.raises(ParameterError):
        rivals.Duel(rivals.Row("gdl:kuhn_poker", "random", "openspiel:mcts", 1.0), 1.0)
