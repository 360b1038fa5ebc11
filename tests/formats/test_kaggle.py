"""kaggle-environments: its agents are given here what it gives them, and policies play there as they do here.

The observations in ``tests/data/kaggle.json`` were recorded with the package (``tests/kaggle_recording.py``).
"""

import base64
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import kaggle_recording
from conftest import form_of
from infoset import TabularPolicy, evaluate, load, load_agent, play_match, solve
from infoset.base import Game, State, Step
from infoset.errors import (
    BudgetError,
    FormatError,
    MissingExtraError,
    ParameterError,
    PolicyError,
    UnknownNameError,
    UnsupportedGameError,
)
from infoset.formats.conversion import convert
from infoset.formats.kaggle import Environment, spiel_name
from infoset.formats.submission import export_submission
from infoset.match.agents import check_agent, is_foreign_code
from infoset.tree.plans import random_interior

pyspiel = pytest.importorskip("pyspiel")

RECORDED = json.loads(kaggle_recording.RECORDED.read_text())
GAMES = RECORDED["games"]
OPEN = {name for name in GAMES if "goofspiel(num_cards=4,points" in name or "oshi" in name}
"""Recorded games in which nothing is hidden."""
HIDDEN = ("serializedGameAndState", "step", "legalActionStrings")
HIDDEN = ("serializedGameAndState", "step", "legalActionStrings")


def recorded_steps(game: Game, numbers: list[Any]) -> Iterator[tuple[State, tuple[Any, ...], Any, Step]]:
    """The steps of a recorded game: the state, the joint move, the outcome of chance, and what they lead to."""
    environment, step, todo = Environment(game), game.start(), list(numbers)
    spiel = environment.start(step.state)
    while not step.state.terminal:
        state, players = step.state, range(len(game.players))
        movers = [p for p in players if state.legal_actions(p)]
        actions: list[Any] = [None for _ in players]
        if movers:
            made = todo.pop(0)
            for p in movers:
                number = made[p] if isinstance(made, list) else made
                actions[p] = state.legal_actions(p)[spiel.legal_actions(p).index(number)]
        outcomes = [outcome for outcome, _ in state.chance_outcomes(tuple(actions))]
        outcome = None
        if outcomes:
            after = environment.follow(spiel, state, tuple(actions), None, state) if movers else spiel
            outcome = outcomes[[number for number, _ in after.chance_outcomes()].index(todo.pop(0))]
        step = state.play(tuple(actions), outcome)
        yield state, tuple(actions), outcome, step
        if not step.state.terminal:
            spiel = environment.follow(spiel, state, tuple(actions), outcome, step.state)


def same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Compare two observations; of a pickled state its history, since pickles differ between versions of Python."""
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        if key == "serializedGameAndState" and "__dict__=" in value:
            parts = [text.partition("__dict__=") for text in (ours[key], value)]
            assert parts[0][0] == parts[1][0]
            states = [pickle.loads(base64.b64decode(part[2]))["__wrapped__"] for part in parts]
            assert states[0].history() == states[1].history()
        else:
            assert ours[key] == value, key


@pytest.mark.parametrize("name", GAMES)
def test_a_state_is_observed_as_kaggle_shows_it(name: str) -> None:
    """Along the true history all entries are the same: also the text of the whole state, and the number of the step."""
    recorded, game = GAMES[name], load(name)
    environment = Environment(game)
    assert environment.configuration("agent.py") == recorded["configuration"] | {"__raw_path__": "agent.py"}
    calls = recorded["calls"]
    same(environment.setup(), calls[0])
    calls = calls[len(game.players) :]
    spiel, number = environment.start(game.start().state), 1
    for state, actions, outcome, step in recorded_steps(game, recorded["actions"]):
        movers = [p for p, action in enumerate(actions) if action is not None]
        for p in movers:
            same(environment.observation(spiel, p, number), calls.pop(0))
        number += bool(movers)
        if step.state.terminal:
            assert list(step.state.returns()) == recorded["returns"]
        else:
            spiel = environment.follow(spiel, state, actions, outcome, step.state)
    assert not calls


SCRIPT = """
CALLS, ACTIONS = [], {actions}

def agent(observation, configuration):
    assert observation.step == observation["step"] and configuration.actTimeout == 3600
    CALLS.append(dict(observation))
    return {{"submission": ACTIONS.pop(0)}} if len(CALLS) > 1 else None
"""


@pytest.mark.parametrize("name", [*GAMES, "openspiel:kuhn_poker", "openspiel:dark_hex(num_rows=2,num_cols=2)"])
def test_an_agent_is_given_what_its_player_knows(name: str, tmp_path: Path) -> None:
    """Guesses, where things are hidden, are the state that Kaggle reveals and the number of moves that nobody saw.

    And in goofspiel Kaggle's texts of actions, which are those of joint actions.
    """
    ours = name.replace("openspiel:", "").replace("num_rows", "rows").replace("num_cols", "columns")
    recorded, game = GAMES[ours], load(name)
    steps = list(recorded_steps(game, recorded["actions"]))
    for player in range(2):
        own = [actions[player] for _, actions, _, _ in steps]
        legal = [state.legal_actions(player) for state, _, _, _ in steps]
        calls = [call for call in recorded["calls"] if call.get("playerId") == player]
        numbers = [call["legalActions"][legal[k].index(own[k])]
                   for call, k in zip(calls, [k for k, action in enumerate(own) if action is not None], strict=True)]  # fmt: skip
        file = tmp_path / f"agent_{player}.py"
        file.write_text(SCRIPT.format(actions=numbers))
        agent: Any = load_agent(f"kaggle:{file}")
        agent.begin(game, player, np.random.default_rng(1), None)
        agent.observe(None, game.start().observation(player))
        for state, actions, _, step in steps:
            if actions[player] is not None:
                assert agent.act(state.legal_actions(player), None) == actions[player]
            agent.observe(actions[player], step.observation(player))
        setup, *given = agent.answer.__globals__["CALLS"]
        assert setup == {"remainingOverageTime": 12, "step": 0}
        for ours_, theirs in zip(given, calls, strict=True):
            hidden = () if name in OPEN else HIDDEN[: 3 if "goofspiel" in name else 2]
            same(
                {k: v for k, v in ours_.items() if k not in hidden},
                {k: v for k, v in theirs.items() if k not in hidden},
            )
            for key in hidden:
                assert type(ours_[key]) is type(theirs[key])


def test_the_state_handed_out_reveals_nothing(tmp_path: Path) -> None:
    """In Kuhn poker the other player's card in it is a guess: over many games it is each possible card half the time."""
    game = load("kuhn_poker")
    (tmp_path / "agent.py").write_text(SCRIPT.format(actions=[0] * 9))
    agent: Any = load_agent(f"kaggle:{tmp_path / 'agent.py'}")
    guessed = []
    for seed in range(60):
        agent.begin(game, 0, np.random.default_rng(seed), None)
        agent.observe(None, "J")
        agent.act(("pass", "bet"), None)
        text = agent.answer.__globals__["CALLS"][-1]["serializedGameAndState"]
        guessed.append(pyspiel.deserialize_game_and_state(text)[1].history())
    assert {tuple(history) for history in guessed} == {(0, 1), (0, 2)}
    assert 15 <= guessed.count([0, 1]) <= 45


KINDS = {"INACTIVE None": "", "DONE -1": "illegal", "ERROR None": "error"}


@pytest.mark.parametrize("name", RECORDED["answers"])
def test_answers_are_accepted_and_rejected_as_there(name: str, tmp_path: Path) -> None:
    file = tmp_path / "agent.py"
    expression = kaggle_recording.ANSWERS[name]
    file.write_text(
        f"def agent(observation, configuration):\n    return {expression} if 'observationString' in observation else None\n"
    )
    match = play_match("kuhn_poker", [f"kaggle:{file}", "random"], seed=1)
    first = [fault.kind for fault in match.faults if fault.step == 3]  # after two cards
    assert "".join(first) == KINDS[RECORDED["answers"][name][0]]


def test_an_integer_is_not_taken_for_a_move(tmp_path: Path) -> None:
    """infoset's own moves are integers in goofspiel; Kaggle's answers are dictionaries with OpenSpiel's numbers."""
    file = tmp_path / "agent.py"
    file.write_text("def agent(observation):\n    return 3 if observation.step else None\n")
    match = play_match("goofspiel(num_cards=3,points_order=descending)", [f"kaggle:{file}", "random"], seed=1)
    assert match.faults[0].kind == "illegal"
    assert "3, not a dictionary with a submission" in match.faults[0].detail


def test_an_agent_that_is_late(tmp_path: Path) -> None:
    file = tmp_path / "agent.py"
    file.write_text(
        "import time\ndef agent(observation, configuration):\n"
        "    if observation.step:\n        assert configuration.actTimeout <= 0.01\n        time.sleep(0.02)\n"
        "    return {'submission': 0}\n"
    )
    match = play_match("kuhn_poker", [f"kaggle:{file}", "random"], seed=1, seconds_per_move=0.01)
    assert match.faults[0].kind == "late"


def test_what_an_agent_prints_is_dropped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "agent.py"
    file.write_text(
        "print('read')\ndef agent(observation, configuration):\n    print(observation)\n    return {'submission': 0}\n"
    )
    assert play_match("kuhn_poker", [f"kaggle:{file}", "random"], seed=1).faults == ()
    assert capsys.readouterr().out == ""


def test_an_agent_in_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("NUMBER = 1\n")
    file = tmp_path / "agent.py"
    file.write_text(
        "from helper import NUMBER\ndef agent(observation, configuration):\n    return {'submission': NUMBER}\n"
    )
    match = play_match("kuhn_poker", [f"isolated(agent=kaggle(path='{file}'))", "random"], seed=1)
    assert match.faults == ()
    assert match.steps[2].actions[0] == "bet"


def test_a_file_is_run_anew_for_every_game(tmp_path: Path) -> None:
    file = tmp_path / "agent.py"
    file.write_text(
        "from random import random\nplayed = []\n"
        "def agent(observation, configuration):\n    played.append(observation.step)\n"
        "    return {'submission': 0 if played[0] == 0 and len(played) < 4 else 99}\n"
    )
    agent = load_agent(f"kaggle:{file}")
    assert all(play_match("kuhn_poker", [agent, "random"], seed=seed).faults == () for seed in range(3))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def agent(observation\n", "'(' was never closed"),
        ("1 / 0\n", "ZeroDivisionError"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        ("number = 3\n", "no function"),
    ],
)
def test_files_without_an_agent(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "agent.py"
    file.write_text(text)
    with pytest.raises(FormatError) as raised:
        load_agent(f"kaggle:{file}")
    assert why in str(raised.value)
    assert str(file) in str(raised.value)


def test_names_of_agents(tmp_path: Path) -> None:
    assert str(check_agent("kaggle:agent.py(legal_actions=false)")) == "kaggle(path=agent.py,legal_actions=false)"
    for name in ("kaggle:agent.py", "mixed(agents=[random,'kaggle:agent.py'])", "mixed(agents=[kaggle(path=a.py)])"):
        parsed = check_agent(name)
        assert parsed is not None
        assert is_foreign_code(parsed)
    with pytest.raises(FormatError, match=r"missing\.py"):
        load_agent(f"kaggle:{tmp_path}/missing.py")
    with pytest.raises(FormatError, match=r"not a Python file"):
        load_agent("kaggle:agent.txt")
    with pytest.raises(ParameterError, match="path is missing"):
        load_agent("kaggle")
    with pytest.raises(ParameterError, match="observation_type=tensor"):
        load_agent("kaggle:agent.py(observation_type=tensor)")


def test_without_openspiel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    (tmp_path / "agent.py").write_text("def agent(observation, configuration):\n    return None\n")
    with pytest.raises(MissingExtraError, match=r"infoset\[interop\]"):
        load_agent(f"kaggle:{tmp_path}/agent.py")
    with pytest.raises(MissingExtraError, match=r"infoset\[interop\]"):
        export_submission("random", "kuhn_poker", tmp_path / "submission.py")
    assert load("kaggle:open_spiel_kuhn_poker").name == "kuhn_poker"


# games by the names of Kaggle's environments


@pytest.mark.parametrize(
    ("environment", "ours"),
    [
        ("dark_hex", "dark_hex"),
        ("dark_hex(board_size=2,gameversion=adh)", "dark_hex(rows=2,columns=2,abrupt=true)"),
        ("goofspiel", "goofspiel(num_cards=4,points_order=descending,returns_type=total_points)"),
        ("goofspiel(num_cards=13)", "goofspiel(points_order=descending,returns_type=total_points)"),
        ("kuhn_poker", "kuhn_poker"),
        ("leduc_poker(players=3)", "leduc_poker(players=3)"),
        ("liars_dice", "liars_dice"),
        ("oshi_zumo", "oshi_zumo"),
        ("phantom_ttt(gameversion=abrupt)", "phantom_tic_tac_toe(abrupt=true)"),
        ("matching_pennies_3p", "matching_pennies_3p"),
    ],
)  # fmt: skip
def test_environments_are_games_of_these_names(environment: str, ours: str) -> None:
    game = load(f"kaggle:open_spiel_{environment}")
    assert game == load(ours)
    there = pyspiel.load_game(spiel_name(game)).get_parameters()
    asked = pyspiel.game_parameters_from_string(spiel_name(game))
    assert there | {k: v for k, v in asked.items() if k != "name"} == there


def test_other_environments_are_openspiels() -> None:
    assert load("kaggle:open_spiel_tic_tac_toe").name == "openspiel:tic_tac_toe"
    assert load("kaggle:open_spiel_leduc_poker(suit_isomorphism=true)").name.startswith("openspiel:leduc_poker(suit")
    poker = load("kaggle:open_spiel_universal_poker")
    assert "stack=200 200" in poker.name
    with pytest.raises(UnsupportedGameError, match="a single hand is a spot"):
        load("kaggle:open_spiel_repeated_poker")
    with pytest.raises(UnknownNameError, match="open_spiel_dark_hex"):
        load("kaggle:dark_hex")


@pytest.mark.parametrize(
    "name", ["battleship", "leduc_poker(ranks=4)", "openspiel:connect_four", "openspiel:negotiation"]
)
def test_games_that_agents_cannot_be_shown(name: str, tmp_path: Path) -> None:
    file = tmp_path / "agent.py"
    file.write_text("def agent(observation, configuration):\n    return None\n")
    with pytest.raises(UnsupportedGameError):
        play_match(name, [f"kaggle:{file}", "random"], seed=1)


# submissions


def decisions(game: Game, policy: TabularPolicy) -> list[dict[str, Any]]:
    """For every history with a decision: the observations and actions of its player so far, and its probabilities."""
    environment = Environment(game)
    found: list[dict[str, Any]] = []
    start = game.start()
    first = tuple(() if (seen := start.observation(p)) is None else ((None, seen),) for p in range(len(game.players)))
    todo: list[Any] = [(start.state, environment.start(start.state), first, ((), ()), 1)]
    while todo:
        state, spiel, knows, past, step = todo.pop()
        movers = [p for p in range(2) if state.legal_actions(p)]
        for p in movers:
            past = tuple(
                (*each, [environment.observation(spiel, p, step), None]) if p == q else each
                for q, each in enumerate(past)
            )
            legal = state.legal_actions(p)
            row = policy.action_probabilities(p, knows[p], legal) if len(legal) > 1 else [1.0]
            numbers = environment.numbers(spiel, p, legal)
            found.append({"past": past[p], "row": dict(zip(map(str, numbers), row, strict=True))})
        options = [state.legal_actions(p) or (None,) for p in range(2)]
        for one in options[0]:
            for two in options[1]:
                for outcome, _ in state.chance_outcomes((one, two)) or ((None, 1.0),):
                    after = state.play((one, two), outcome)
                    if after.state.terminal:
                        continue
                    follows = environment.follow(spiel, state, (one, two), outcome, after.state)
                    seen = [after.observation(p) for p in range(2)]
                    now = tuple(
                        knows[p]
                        if a is None and seen[p] is None
                        else (*knows[p], (a, () if seen[p] is None else seen[p]))
                        for p, a in enumerate((one, two))
                    )
                    made = tuple(
                        (*past[p][:-1], [past[p][-1][0], numbers_of(environment, spiel, state, p, a)])
                        if a is not None else past[p]
                        for p, a in enumerate((one, two))
                    )  # fmt: skip
                    todo.append((after.state, follows, now, made, step + bool(movers)))
    return found


def numbers_of(environment: Environment, spiel: Any, state: State, player: int, action: Any) -> int:
    legal = state.legal_actions(player)
    return environment.numbers(spiel, player, legal)[legal.index(action)]


PLAYER = """
import json, sys
names = {}
exec(compile(open(sys.argv[1]).read(), "submission.py", "exec"), names)
assert [value for value in names.values() if callable(value)][-1] is names["agent"]
assert not any("infoset" in name or "numpy" in name for name in sys.modules)
assert names["agent"]({"remainingOverageTime": 12, "step": 0}, {}) == {"submission": -1}
for line in sys.stdin:
    for observation, action in json.loads(line):
        actions, row = names["probabilities"](observation)
        player = observation["playerId"]
        names["GAMES"][player] = (*names["GAMES"][player][:2], action)
    print(json.dumps(dict(zip(actions, row))))
"""


def asked(file: Path, found: list[dict[str, Any]]) -> list[dict[str, float]]:
    """The probabilities that a submission reports in a process without infoset."""
    lines = "\n".join(json.dumps(each["past"]) for each in found)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PLAYER, str(file)], input=lines, capture_output=True, text=True, check=True
    )
    return list(map(json.loads, done.stdout.splitlines()))


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "dark_hex(rows=2,columns=2)", "goofspiel(num_cards=3)"])
def test_a_submission_plays_the_same_probabilities(name: str, tmp_path: Path) -> None:
    """At every history of the game, in a process without infoset, one game after the other."""
    form = form_of(name)
    policy = TabularPolicy.from_behaviour(form, random_interior(form, seed=1))
    file = export_submission(policy, name, tmp_path / "submission.py")
    found = decisions(load(name), policy)
    assert len(found) >= form.num_infosets
    for each, row in zip(found, asked(file, found), strict=True):
        assert row == pytest.approx(each["row"], abs=1e-15)


def test_a_submission_plays_here_as_the_policy_does(tmp_path: Path) -> None:
    """Leduc's equilibrium against uniform play: the mean of a thousand games is its exact value, within four errors."""
    solution = solve("leduc_poker", "lp")
    file = convert(solution.policy.save(tmp_path / "policy.npz"), tmp_path / "submission.py")
    agent = load_agent(f"kaggle:{file}")
    returns = [play_match("leduc_poker", [agent, "random"], seed=seed).returns[0] for seed in range(400)]
    policy = solution.policy
    exact = evaluate(
        "leduc_poker", lambda key, actions: policy.tables[0].get(key, {a: 1 / len(actions) for a in actions})
    )
    assert np.mean(returns) == pytest.approx(exact.values[0], abs=4 * np.std(returns) / 20)


@pytest.mark.parametrize("what", ["random", lambda key, actions: {actions[-1]: 1.0}])
def test_whatever_can_be_evaluated_is_a_submission(what: Any, tmp_path: Path) -> None:
    file = export_submission(what, "kuhn_poker", tmp_path / "submission.py")
    row = asked(file, decisions(load("kuhn_poker"), solve("kuhn_poker", "lp").policy)[:1])[0]
    assert row == ({"0": 0.5, "1": 0.5} if what == "random" else {"0": 0.0, "1": 1.0})


def test_submissions_of_openspiels_games_and_by_information_states(tmp_path: Path) -> None:
    file = export_submission("random", "openspiel:matrix_rps", tmp_path / "one.py")
    assert "matrix_rps" in file.read_text()[:100]
    text = export_submission(
        "random", "kuhn_poker", tmp_path / "two.py", observation_type="information_state"
    ).read_text()
    assert "OBSERVATION_TYPE = 'information_state'" in text


def test_a_submission_for_one_seat_and_for_what_it_reaches(tmp_path: Path) -> None:
    """The first player's winning strategy in 2x2 dark hex, pure, needs only the sets to which it leads itself."""
    name = "dark_hex(rows=2,columns=2)"

    def first(key: str, actions: tuple[str, ...]) -> dict[str, float]:
        return {actions[0]: 1.0}

    whole = export_submission(first, name, tmp_path / "whole.py")
    part = export_submission(first, name, tmp_path / "part.py", player=0, reached_only=True)
    assert part.stat().st_size < whole.stat().st_size
    games = [play_match(name, [f"kaggle:{file}", "random"], seed=seed) for file in (whole, part) for seed in range(20)]
    moves = [[step.actions for step in game.steps] for game in games]
    assert moves[:20] == moves[20:]
    assert all(play_match(name, ["random", f"kaggle:{part}"], seed=seed).faults == () for seed in range(5))
    with pytest.raises(ParameterError, match=r"player=2 .* allowed: 0 to 1"):
        export_submission(first, name, tmp_path / "other.py", player=2)


def test_another_games_observation_is_named(tmp_path: Path) -> None:
    file = export_submission("random", "kuhn_poker", tmp_path / "submission.py")
    match = play_match("leduc_poker", [f"kaggle:{file}", "random"], seed=1)
    assert "this is no observation of kuhn_poker(players=2)" in match.faults[0].detail


def test_submissions_that_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "submission.py"
    with pytest.raises(BudgetError, match=r"more than 10 states"):
        export_submission("random", "kuhn_poker", file, max_states=10)
    with pytest.raises(UnsupportedGameError, match="not a game of kaggle-environments"):
        export_submission("random", "battleship", file)
    with pytest.raises(ParameterError, match="observation_type=pixels"):
        export_submission("random", "kuhn_poker", file, observation_type="pixels")
    # OpenSpiel's information states count the moves of the other player, which Kaggle's observations do not show
    counting = "openspiel:dark_hex(num_rows=2,num_cols=2)"
    with pytest.raises(PolicyError, match=r"do not tell .* where the policy plays differently"):
        export_submission(lambda key, actions: {actions[crc32(key.encode()) % len(actions)]: 1.0}, counting, file)
    assert not file.exists()


@pytest.mark.slow
def test_the_package_itself(tmp_path: Path) -> None:
    """The recording is what the package gives today, and submissions play in it, without faults, in every seat."""
    pytest.importorskip("kaggle_environments")
    again = kaggle_recording.record()
    assert again == RECORDED
    solution = solve("kuhn_poker", "lp")
    file = export_submission(solution.policy, "kuhn_poker", tmp_path / "submission.py")
    env = kaggle_recording.make("kuhn_poker", {"includeLegalActions": True})
    for seats in ([str(file), "random"], ["random", str(file)], [str(file), str(file)]):
        env = kaggle_recording.make("kuhn_poker", {"includeLegalActions": True})
        env.run(seats)
        assert [state.status for state in env.steps[-1]] == ["DONE", "DONE"]
        assert abs(env.steps[-1][0].reward) in (1, 2)
