"""Arguments of the wrong type: each public function and constructor says so in one line of our own errors."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import infoset
from conftest import KUHN, form_of
from infoset import GameTree, HiddenGame, SequenceForm, TabularPolicy
from infoset.errors import InfosetError, ParameterError

RPS, HANABI = "rock_paper_scissors", "tiny_hanabi(game=A)"
SPOT = "holdem(pot=20,stack=20,bets='100%',raises=none,range1='AA 76s',range2='KK QJs')"
RESULTS = {
    "Annealing", "Ended", "Evaluation", "FlopReport", "HiddenGame", "Match", "Observed", "SequenceForm", "GameTree", "Series", "Solution",
    "Study", "TeamOptimum",
}  # fmt: skip
"""Classes that functions return, which nobody makes by hand; ``of`` and ``load`` are what makes them."""
PROTOCOLS = {
    "Action", "Agent", "CardGame", "Factored", "Game", "InformationMap", "JointAction", "NativeState", "Observation", "Policy",
    "State", "Step",
}  # fmt: skip
"""What a user's class is compared with; nobody calls them."""


class Wrong:
    """Of no type that anything takes."""


NOT = {
    "number": ("five", None, Wrong(), [1]),
    "count": ("five", Wrong(), 1.5, [1], -1),
    "flops": ("five", Wrong(), 1.5, [1], -1, []),
    "seed": ("five", Wrong(), 1.5, True, [1], -1, 10**30),
    "flag": ("yes", 5, Wrong()),
    "text": (5, Wrong(), 1.5, ["a"]),
    "path": (5, Wrong(), ["a"]),
    "game": (5, None, Wrong(), ["a"], Wrong, 1.5),
    "what": (5, None, Wrong(), ["a"]),
    "form": (5, None, "kuhn_poker", Wrong(), np.ones(3)),
    "array": (5, "plan", None, Wrong(), np.ones(3), [1.0], np.array(["a"])),
    "table": (5, "runs", None, Wrong(), {}),
    "agents": (5, None, "random", Wrong(), [5, "random"], [Wrong(), "random"]),
    "hook": (5, "f", Wrong()),
    "match": (5, "match.json", None, Wrong()),
    "method": (5, Wrong(), ["a"], Wrong),
    "runs": (5, "runs", None, [5], Wrong()),
    "arrays": (5, "a", None, Wrong(), [["a", "b"]]),
    "names": (5, "ab", Wrong(), [5, 6]),
    "lock": (5, Wrong(), [1]),
    "limit": ("five", Wrong(), [1], float("nan")),
    "resume": (5, "yes", Wrong()),
}
"""By the kind of an argument: values that are none."""


class Call(NamedTuple):
    """A call that is right, and which kind each of its arguments is of; those that may be ``None`` are marked ``?``."""

    call: Callable[..., Any]
    arguments: dict[str, tuple[Any, str]]


def _form() -> SequenceForm:
    return form_of(KUHN)


def _tree() -> GameTree:
    return GameTree.of(infoset.load(KUHN))


def _plan() -> np.ndarray:
    return TabularPolicy.uniform(_form()).plan(_form())


def _uniform() -> TabularPolicy:
    return TabularPolicy.uniform(_form())


def _hidden() -> HiddenGame:
    return HiddenGame.of(GameTree.of(infoset.load(HANABI)))


def _of(function: Any, **arguments: tuple[Any, str]) -> Call:
    return Call(function, arguments)


F, P = (_form, "form"), (_plan, "array")
CALLS = {
    "all_equilibria": _of(infoset.all_equilibria, game=(RPS, "game")),
    "isolated_equilibria": _of(infoset.isolated_equilibria, game=("matching_pennies_3p", "game")),
    "pure_equilibria": _of(infoset.pure_equilibria, game=(RPS, "game")),
    "anneal": _of(infoset.anneal, form=(lambda: form_of(HANABI), "form"), sweeps=(2, "count"), runs=(1, "count"),
                  seconds=(9.0, "limit"), seed=(0, "seed"), progress=(None, "hook?")),
    "backward_induction": _of(infoset.backward_induction, tree=(_tree, "form"), form=F),
    "behaviour": _of(infoset.behaviour, form=F, plan=P),
    "best_response": _of(infoset.best_response, form=F, plan=P, player=(0, "count")),
    "cfr": _of(infoset.cfr, alternating=(True, "flag")),
    "cfr_plus": _of(infoset.cfr_plus, averaging=(1.0, "number"), horizon=(10, "count"), alternating=(True, "flag")),
    "dcfr": _of(infoset.dcfr, alpha=(1.0, "number"), beta=(1.0, "number"), gamma=(1.0, "number"), horizon=(5, "count"),
                alternating=(True, "flag")),
    "hedge": _of(infoset.hedge, eta=(1.0, "number"), decay=(0.5, "number"), averaging=(0.0, "number"),
                 alternating=(True, "flag")),
    "hs_dcfr": _of(infoset.hs_dcfr, gamma=(30.0, "number"), horizon=(5, "count"), alternating=(True, "flag")),
    "hs_pcfr_plus": _of(infoset.hs_pcfr_plus, gamma=(30.0, "number"), horizon=(5, "count"), alternating=(True, "flag")),
    "linear_cfr": _of(infoset.linear_cfr, alternating=(True, "flag")),
    "pcfr_plus": _of(infoset.pcfr_plus, averaging=(5.0, "number"), horizon=(5, "count"), alternating=(True, "flag")),
    "pdcfr_plus": _of(infoset.pdcfr_plus, alpha=(2.3, "number"), averaging=(5.0, "number"), horizon=(5, "count"),
                      alternating=(True, "flag")),
    "vad_cfr": _of(infoset.vad_cfr, expected=(2.0, "number"), warm_up=(5, "count"), alternating=(True, "flag")),
    "mmd": _of(infoset.mmd, temperature=(0.1, "number"), rate=(None, "limit?"), refresh=(9, "count"),
               falling=(False, "flag")),
    "sfrd": _of(infoset.sfrd, shift=(None, "limit?"), averaging=(0.0, "number"), alternating=(True, "flag")),
    "sfrd_continuous": _of(infoset.sfrd_continuous, step=(0.25, "number")),
    "lp": _of(infoset.lp, refinement=("any", "text")),
    "lcp": _of(infoset.lcp, exact=(False, "flag")),
    "logit": _of(infoset.logit, at=(None, "limit?")),
    "check": _of(infoset.check, game=(KUHN, "game"), same_as=(None, "game?"), plays=(10, "count"), seed=(0, "count"),
                 max_steps=(10, "count"), seconds=(1.0, "number"), max_histories=(None, "count?"), progress=(None, "hook?")),
    "check_profile": _of(infoset.check_profile, game=(KUHN, "game"), what=("random", "what"), max_histories=(None, "count?")),
    "compare": _of(infoset.compare, one=(_uniform, "table"), other=(_uniform, "table")),
    "compete": _of(infoset.compete, file=("cup.toml", "path"), db=(None, "path?"), workers=(1, "count"),
                   executor=("local", "text"), progress=(None, "hook?")),
    "convert": _of(infoset.convert, source=(KUHN, "game"), target=("kuhn.efg", "path"), max_histories=(None, "count?"),
                   normalise=(False, "flag"), street=(None, "text?")),
    "correlated_equilibrium": _of(infoset.correlated_equilibrium, game=(RPS, "game"), kind=("cce", "text"),
                                  objective=("welfare", "text")),
    "eliminate_dominated": _of(infoset.eliminate_dominated, game=(RPS, "game")),
    "find_conventions": _of(infoset.find_conventions, game=(KUHN, "game"), what=("random", "what")),
    "evaluate": _of(infoset.evaluate, game=(KUHN, "game"), what=("random", "what"), max_histories=(None, "count?"),
                    respond=(False, "flag"), seconds=(1.0, "limit"), samples=(None, "count?"), calls=(None, "count?"),
                    answers=(None, "path?"), workers=(1, "count"), seed=(0, "seed"),
                    executor=("local", "text"), progress=(None, "hook?"), keep=(None, "hook?")),
    "exact_equilibrium": _of(infoset.exact_equilibrium, tree=(_tree, "form"), form=F, start=(None, "array?")),
    "expected_values": _of(infoset.expected_values, form=F, plan=P),
    "exploitability": _of(infoset.exploitability, form=F, plan=P),
    "extreme_equilibria": _of(infoset.extreme_equilibria, game=(RPS, "game")),
    "information_relaxation": _of(infoset.information_relaxation, game=(_hidden, "form"),
                                  penalty=(1.0, "number"), iterations=(1, "count"), runs=(1, "count"), seed=(0, "seed"),
                                  progress=(None, "hook?")),
    "linear_complementarity": _of(infoset.linear_complementarity, form=F, start=(None, "array?")),
    "linear_program": _of(infoset.linear_program, form=F),
    "load": _of(infoset.load, name=(KUHN, "text")),
    "load_agent": _of(infoset.load_agent, name=("random", "text")),
    "logit_path": _of(infoset.logit_path, game=(RPS, "game"), at=(1.0, "limit")),
    "nash_conv": _of(infoset.nash_conv, form=F, plan=P),
    "new_agent": _of(infoset.new_agent, folder=("mine", "path")),
    "performance": _of(infoset.performance, form=F, plan=P),
    "play_match": _of(infoset.play_match, game=(KUHN, "game"), agents=(["random", "random"], "agents"), seed=(0, "seed"),
                      seconds_per_move=(None, "limit?"), seconds_to_begin=(None, "limit?"), max_steps=(99, "count")),
    "play_series": _of(infoset.play_series, game=(KUHN, "game"), agents=(["random", "random"], "agents"), games=(1, "count"),
                       seed=(0, "seed"), rotate=(False, "flag"), seconds_per_move=(None, "limit?"),
                       seconds_to_begin=(None, "limit?"), max_steps=(99, "count"), progress=(None, "hook?"),
                       keep=(None, "hook?"), seated=(None, "hook?")),
    "plot": _of(infoset.plot, runs=(lambda: [infoset.solve(KUHN, "cfr", iterations=5)], "runs"), out=(None, "path?")),
    "product_form_of": _of(infoset.product_form_of, tree=(_tree, "form")),
    "progressive_hiding": _of(infoset.progressive_hiding, game=(_hidden, "form"),
                              penalty=(1.0, "number"), learner=(None, "hook?"), iterations=(1, "count"), runs=(1, "count"),
                              seed=(0, "seed"), conditional=(True, "flag"), sampled=(False, "flag"),
                              progress=(None, "hook?")),
    "realisation": _of(infoset.realisation, form=F, strategy=(lambda: infoset.behaviour(_form(), _plan()), "array")),
    "replay_states": _of(infoset.replay_states, match=(lambda: infoset.play_match(KUHN, ["random"] * 2), "match"),
                         game=(None, "table?")),
    "same_game": _of(infoset.same_game, one=(KUHN, "game"), other=(RPS, "game"), max_histories=(None, "count?"),
                     progress=(None, "hook?")),
    "report_flops": _of(infoset.report_flops, game=(SPOT, "game"), method=("dcfr", "text"), flops=("9s8h2d", "flops"),
                        iterations=(1, "count"), target=(None, "limit?"), seconds=(None, "limit?"),
                        precision=(None, "text?"), out=(None, "path?"), executor=("local", "text"),
                        progress=(None, "hook?"), watcher=(None, "hook?")),
    "show": _of(infoset.show, game=(KUHN, "game"), what=(None, "what?"), svg=(None, "path?"), pdf=(None, "path?"),
                at=(None, "text?"), hands=(None, "text?"), player=(None, "text?"), measure=(None, "text?"),
                export=(None, "path?"), street=(False, "flag"), max_histories=(None, "count?")),
    "solve": _of(infoset.solve, game=(KUHN, "game"), method=("cfr", "method"), iterations=(1, "count"), target=(0.5, "limit"),
                 seconds=(1.0, "limit"), start=("uniform", "text"), runs=(None, "count?"), lock=(None, "lock?"),
                 form=("tree", "text"), precision=(None, "text?"), teams=(None, "text?"), seed=(0, "seed"), max_histories=(None, "count?"),
                 out=(None, "path?"), resume=(False, "resume"), executor=("local", "text"), watcher=(None, "hook?")),
    "team_optimum": _of(infoset.team_optimum, game=(lambda: infoset.load(HANABI), "form"), method=("auto", "text"),
                        seconds=(9.0, "limit"), max_histories=(None, "count?")),
    "tournament": _of(infoset.tournament, game=(KUHN, "game"), teams=(["random", "random"], "agents"), games=(1, "count"),
                      format=("round-robin", "method"), seed=(0, "seed"), self_matches=(False, "flag"), rank=(None, "text?"), db=(None, "path?"),
                      workers=(1, "count"), slow=(0.1, "limit"), move_limit=(9.0, "limit"), seconds_per_move=(None, "limit?"),
                      start_clock=(None, "limit?"), isolate=(None, "flag?"), memory=(None, "count?"),
                      executor=("local", "text"), progress=(None, "hook?")),
    "train": _of(infoset.train, game=(KUHN, "game"), seconds=(1.0, "limit"), epochs=(1, "count"), out=(None, "path?"),
                 resume=(False, "flag"), workers=(1, "count"), executor=("local", "text"), watcher=(None, "hook?")),
    "trembling_equilibrium": _of(infoset.trembling_equilibrium, form=F, refinement=("quasi-perfect", "text")),
    "watch": _of(infoset.watch, replay=("match.json", "path"), out=(None, "path?"), step=(None, "count?"),
                 speed=(None, "limit?")),
    "SequenceForm.of": _of(SequenceForm.of, game=(KUHN, "game")),
    "GameTree.of": _of(GameTree.of, game=(lambda: infoset.load(KUHN), "game")),
    "HiddenGame.of": _of(HiddenGame.of, tree=(lambda: GameTree.of(infoset.load(HANABI)), "form")),
    "Solution.load": _of(infoset.Solution.load, folder=("run", "path")),
    "TabularPolicy": _of(TabularPolicy, game=("g", "text"), players=(("A",), "names"), tables=(({},), "table")),
    "TabularPolicy.load": _of(TabularPolicy.load, path=("p.npz", "path"), form=(None, "table?")),
    "TabularPolicy.uniform": _of(TabularPolicy.uniform, form=F),
    "TabularPolicy.from_plan": _of(TabularPolicy.from_plan, form=F, plan=P),
    "TabularPolicy.from_behaviour": _of(TabularPolicy.from_behaviour, form=F, strategy=P),
    "TabularPolicy.from_function": _of(TabularPolicy.from_function, form=F, choose=(lambda: dict, "hook")),
    "TabularPolicy.probabilities": _of(lambda **k: _uniform().probabilities(**k), player=(0, "number"), key=("K", "text")),
    "TabularPolicy.plan": _of(lambda **k: _uniform().plan(**k), form=F),
    "TabularPolicy.behaviour": _of(lambda **k: _uniform().behaviour(**k), form=F),
    "TabularPolicy.save": _of(lambda **k: _uniform().save(**k), path=("p.npz", "path")),
    "Watcher": _of(infoset.Watcher, point=(lambda: print, "hook"), advance=(lambda: print, "hook")),
    "Method": _of(infoset.Method, name=("m", "text"), update=(lambda: None, "hook"), schedule=(lambda: None, "hook")),
    "NetworkPolicy": _of(infoset.NetworkPolicy, game=("kuhn_poker", "game"), forward=(lambda: print, "hook"), encoding=("history", "text"), output=("logits", "text")),
    "PolicyAgent": _of(infoset.PolicyAgent, policy=(_uniform, "what"), name=("policy", "text")),
}  # fmt: skip
CASES = [
    (name, argument, wrong)
    for name, call in CALLS.items()
    for argument, (_, kind) in call.arguments.items()
    for wrong in NOT[kind.removesuffix("?")]
    if not (wrong is None and kind.endswith("?"))
]
ELSEWHERE = {
    "export_policy": "needs OpenSpiel, and has a test beside others of it",
    "import_policy": "needs OpenSpiel, and has a test beside others of it",
    "list_agents": "takes nothing", "list_games": "takes nothing", "list_methods": "takes nothing",
    "table_game": "has a test of its own below", "ProductForm": "has tests of its own below",
    "Chance": "has tests of its own below", "Stage": "has tests of its own below",
}  # fmt: skip


CHANCE_OUTCOME = infoset.Chance("die", (1, 2))
STAGE = infoset.Stage("move", "A", ("a", "b"))
PARTS = {"name": "g", "players": ("A",), "axes": (CHANCE_OUTCOME, STAGE), "payoff": lambda past: 0.0}


@pytest.mark.parametrize(
    "make",
    [
        *[lambda bad=bad: infoset.table_game(bad) for bad in (5, "a", None, Wrong(), [["a", "b"]], [[1, 2], [3]], {})],
        infoset.table_game,
        *[lambda word=word, bad=bad: infoset.table_game([[1.0, 2.0]], **{word: bad})
          for word in ("name", "players", "strategies") for bad in (5, Wrong(), [5])],
        *[lambda bad=bad: infoset.Chance(bad, (1, 2)) for bad in (5, None, Wrong(), (5,))],
        *[lambda bad=bad: infoset.Chance("die", bad) for bad in (5, None, Wrong())],
        *[lambda bad=bad: infoset.ProductForm("g", ("A",), (infoset.Chance("die", bad),), lambda past: 0.0)
          for bad in ({1: "x"}, {1: None}, [[1]])],
        *[lambda bad=bad: infoset.Stage(bad, "A", ("a", "b")) for bad in (5, None, Wrong())],
        *[lambda bad=bad: infoset.Stage("move", bad, ("a", "b")) for bad in (5, None, Wrong())],
        *[lambda bad=bad: infoset.Stage("move", "A", bad) for bad in (5, None, Wrong())],
        *[lambda bad=bad: infoset.Stage("move", "A", ("a", "b"), bad) for bad in (5, None, Wrong(), (5,))],
        *[lambda word=word, bad=bad: infoset.ProductForm(**PARTS | {word: bad})
          for word in PARTS for bad in (5, None, Wrong(), (5,))],
    ],
)  # fmt: skip
def test_games_of_ones_own_are_made_of_what_they_take(make: Callable[[], object]) -> None:
    with pytest.raises(InfosetError) as raised:
        make()
    assert "\n" not in str(raised.value)
    assert not re.search(
        "builtins|could not convert|inhomogeneous|float\\(\\)", str(raised.value)
    )  # words of libraries


def test_a_player_is_a_seat_or_a_name() -> None:
    policy = _uniform()
    assert policy.probabilities("P1", "K") == policy.probabilities(0, "K") == {"pass": 0.5, "bet": 0.5}
    for player in ("P9", 2, -1):
        with pytest.raises(ParameterError, match="is not a player of this policy; allowed: 0 to 1, or P1, P2"):
            policy.probabilities(player, "K")


@pytest.mark.parametrize(
    "bad", [{"P1": 5}, {5: "random"}, {"K bet": {"bet": "x"}}, {"K bet": 5}, {("P2", "K bet"): "x y"}]
)
def test_locks_of_the_wrong_type(bad: dict) -> None:
    with pytest.raises(InfosetError) as raised:
        infoset.solve(KUHN, "cfr", iterations=1, lock=bad)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "choose",
    [lambda key, actions: 5, lambda key: 5, lambda key, actions: {actions[0]: "x"}, lambda key, actions: 1 / 0],
)
def test_functions_that_answer_with_what_is_no_chances(choose: Any) -> None:
    with pytest.raises(InfosetError) as raised:
        infoset.evaluate(KUHN, choose)
    assert "\n" not in str(raised.value)


def _words(wrong: object) -> str:
    return f"{type(wrong).__name__}-{wrong}" if isinstance(wrong, (str, int, float)) else type(wrong).__name__


@pytest.mark.parametrize("name", CALLS)
def test_arguments_of_the_wrong_type(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All others are right; the one that is wrong is an error of ours, in one line, before anything else happens."""
    monkeypatch.chdir(tmp_path)
    call = CALLS[name]
    found = []
    for argument, wrong in [(argument, wrong) for one, argument, wrong in CASES if one == name]:
        given = {word: value() if callable(value) else value for word, (value, _) in call.arguments.items()}
        try:
            call.call(**given | {argument: wrong})
        except InfosetError as error:
            if "\n" in str(error) or not str(error):
                found.append(f"{argument}={_words(wrong)}: {error}")
        except Exception as error:
            found.append(f"{argument}={_words(wrong)}: {type(error).__name__}: {error}")
        else:
            found.append(f"{argument}={_words(wrong)}: the message is empty")
    assert not found, "\n".join(found)


def test_every_public_name_is_tried() -> None:
    tried = {name.partition(".")[0] for name in CALLS} | RESULTS | PROTOCOLS | {"errors", "testing"} | set(ELSEWHERE)
    assert set(infoset.__all__) == tried
    for name, call in CALLS.items():
        if inspect.isfunction(call.call) and "." not in name:
            left = set(inspect.signature(call.call).parameters) - set(call.arguments) - {"parameters", "axes"}
            assert not left, (name, left)
