"""Games in product form: against the native games, against the definitions, and as the form of any tree."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import infoset
from extent import examples
from infoset import Chance, GameTree, HiddenGame, ProductForm, SequenceForm, Stage, load, product_form_of
from infoset.errors import GameRuleError, ImperfectRecallError, InfosetError, ParameterError, UnknownNameError
from infoset.formats.efg import read_efg
from infoset.games.product_form import PASS
from infoset.testing import check_game
from infoset.tree.information import TreeMap, axes, perfect, recall, true_map
from infoset.tree.plans import realisation
from infoset.tree.product_form import stated_map
from random_games import RandomGame, all_ends, value

TEAM = (0, 1)
ONE_PLAYER = ("Team",) * 2


def trade_comm(items: int, messages: int, players: tuple[str, str] = ("P1", "P2")) -> ProductForm:
    """Trade Comm as the paper's formulas have it; with one name twice it is one team player's game."""
    one, other = players
    pairs = tuple(product("ABC"[:items], repeat=2))
    words = tuple(range(1, messages + 1))
    return ProductForm(
        f"trade_comm(items={items},messages={messages})",
        tuple(dict.fromkeys(players)),
        (
            Chance(("s1", "s2"), pairs),
            Stage("m1", one, words, sees="s1"),
            Stage("m2", other, words, sees="s2"),
            Stage("d3", one, pairs, sees=("s1", "m1", "m2")),
            Stage("d4", other, pairs, sees=("s2", "m1", "m2")),
        ),
        lambda history: float(history["d3"] == history["d4"] == (history["s1"], history["s2"])),
    )


RECALL = {"m2": ("s1", "s2", "m1"), "d3": ("s1", "s2", "m1", "m2"), "d4": ("s1", "s2", "m1", "m2", "d3")}
CHEATED = {"m1": ("s1", "s2"), "m2": ("s1", "s2"), "d3": ("s1", "s2", "m2"), "d4": ("s1", "s2", "m1")}


def pennies(players: tuple[str, str] = ("Alice", "Bob")) -> ProductForm:
    """Cooperative matching pennies: win 1, lose 200, pass 0."""

    def payoff(history: Any) -> float:
        if history["answer"] == "Pass":
            return 0.0
        return 1.0 if (history["answer"] == history["side"]) == (history["goal"] == "same") else -200.0

    return ProductForm(
        "cooperative_matching_pennies",
        tuple(dict.fromkeys(players)),
        (
            Chance("goal", ("same", "different")),
            Stage("side", players[0], ("Heads", "Tails"), sees="goal"),
            Stage("answer", players[1], ("Heads", "Tails", "Pass"), sees="side"),
        ),
        payoff,
    )


def kuhn() -> ProductForm:
    """Kuhn poker: P2's card cannot be P1's, and P1 answers only where P2 bet after a pass."""

    def payoff(h: Any) -> tuple[float, float]:
        best = 1.0 if h["card 1"] > h["card 2"] else -1.0
        if h["first"] == "bet":
            won = 2 * best if h["second"] == "bet" else 1.0
        elif h["second"] == "bet":
            won = 2 * best if h["third"] == "bet" else -1.0
        else:
            won = best
        return won, -won

    return ProductForm(
        "kuhn",
        ("P1", "P2"),
        (
            Chance("card 1", {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}),
            Chance("card 2", lambda past: {card: 0.5 for card in (1, 2, 3) if card != past["card 1"]}),
            Stage("first", "P1", ("pass", "bet"), sees="card 1"),
            Stage("second", "P2", ("pass", "bet"), sees=("card 2", "first")),
            Stage(
                "third",
                "P1",
                lambda seen: ("pass", "bet") if (seen["first"], seen["second"]) == ("pass", "bet") else PASS,
                sees=("card 1", "first", "second"),
            ),
        ),
        payoff,
    )


def same_trees(one: GameTree, other: GameTree) -> bool:
    """Whether histories, movers, action sets' sizes, payoffs and information sets are the same, node by node."""
    arrays = ("parent", "first_child", "infoset", "infoset_player", "infoset_node")
    return (
        all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays)
        and [one.player(v) for v in range(len(one.parent))] == [other.player(v) for v in range(len(other.parent))]
        and bool(np.allclose(payoffs(one), payoffs(other), atol=1e-12))
    )


def payoffs(tree: GameTree) -> np.ndarray:
    """(T, n) at the ends, times the probabilities of chance."""
    ends = np.flatnonzero(np.diff(tree.first_child) == 0)
    reach = np.ones(len(tree.parent))
    for node in range(1, len(reach)):
        reach[node] = reach[tree.parent[node]] * tree.graph.probability[tree.edges(np.array([node]))[0]]
    return tree.graph.payoffs[tree.graph.content[tree.position[ends]]] * reach[ends, None]


# ---------------------------------------------------------------------------------------------------------------------
# The paper's examples
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("items", "messages", "best"), [(2, 2, 1), (2, 3, 1), (3, 2, 5 / 9)])
def test_trade_comm_is_the_native_game(items: int, messages: int, best: float) -> None:
    form = trade_comm(items, messages)
    check_game(form, plays=20)
    tree, native = GameTree.of(form), GameTree.of(load(form.name))
    assert same_trees(tree, native)
    assert np.array_equal(true_map(tree, TEAM).labels, true_map(native, TEAM).labels)
    assert infoset.team_optimum(tree).value == pytest.approx(best, abs=1e-9)
    assert tree.key(int(tree.infoset[tree.infoset_node[-1]])) == f"(d4,{'ABC'[items - 1]},{messages},{messages})"


@pytest.mark.parametrize("players", [("P1", "P2"), ONE_PLAYER])
@pytest.mark.parametrize("make", [pennies, lambda players: trade_comm(2, 2, players)])
def test_a_team_learns_as_one_player_what_it_learns_as_two(
    make: Callable[[tuple[str, str]], ProductForm], players: tuple[str, str]
) -> None:
    """The team's true map and its refinement with recall do not depend on how many players it is seen as."""
    form = make(players)
    tree, native = GameTree.of(form), GameTree.of(load(form.name))
    team = range(len(form.players))
    assert np.array_equal(true_map(tree, team).labels, true_map(native, TEAM).labels)
    for relax in (true_map, recall):
        ours = infoset.progressive_hiding(HiddenGame.of(tree, relax), iterations=60, runs=5, seed=4)
        theirs = infoset.progressive_hiding(HiddenGame.of(native, relax), iterations=60, runs=5, seed=4)
        assert np.array_equal(ours.payoffs, theirs.payoffs)
        assert np.array_equal(ours.relaxed_payoffs, theirs.relaxed_payoffs)


def test_cooperative_matching_pennies_is_the_native_game() -> None:
    form = pennies()
    check_game(form)
    tree = GameTree.of(form)
    assert same_trees(tree, GameTree.of(load(form.name)))
    optimum = infoset.team_optimum(tree)
    assert optimum.value == 1
    match = infoset.play_match(form, [infoset.PolicyAgent(optimum.policy) for _ in TEAM], seed=3)
    assert match.returns == (1.0, 1.0)


def test_one_team_player_forgets_and_is_refused() -> None:
    """Bob does not know what Alice saw; so the team, as one player, forgets at the set in which Bob sees heads."""
    form = pennies(ONE_PLAYER)
    assert form.players == ("Team",)
    check_game(form)

    def by_cfr(game):
        return infoset.solve(game, "cfr")

    for method in (by_cfr, SequenceForm.of):
        with pytest.raises(
            ImperfectRecallError, match=r"Team has imperfect recall at information set '\(answer,Heads\)'"
        ):
            method(form)
    with pytest.raises(ImperfectRecallError, match=r"information set '\(m2,A\)'"):
        infoset.solve(trade_comm(2, 2, ONE_PLAYER), "cfr")
    assert infoset.solve(form).method == "team-exact"  # by its polynomial, which needs no recall
    assert infoset.team_optimum(form).value == pytest.approx(1.0)


@pytest.mark.parametrize("players", [("P1", "P2"), ONE_PLAYER])
def test_the_papers_relaxations_by_the_names_of_axes(players: tuple[str, str]) -> None:
    form = trade_comm(2, 2, players)
    tree, team = GameTree.of(form), range(len(form.players))

    def stated(sees: dict[str, tuple[str, ...]]) -> TreeMap:
        return stated_map(tree, "stated", team, form.seeing("relaxed", sees))

    true = true_map(tree, team)
    assert stated({}) == true
    assert stated(RECALL) == recall(tree, team)
    assert stated(CHEATED).compare(true) == "neither"  # it forgets the own message
    assert stated({"m1": ("s1", "s2"), **RECALL}) == perfect(tree, team)
    stated(RECALL).check_recall()
    hidden = HiddenGame.of(tree, lambda tree, team: stated(CHEATED))
    assert infoset.progressive_hiding(hidden, runs=5).best.max() == pytest.approx(1, abs=1e-3)


def test_names_and_places_of_axes_state_the_same_maps() -> None:
    """Chance's two axes apart: then the places of a history are s1, s2, m1, m2, d3, d4."""
    joint = trade_comm(2, 2)
    form = ProductForm(
        joint.name, joint.players, (Chance("s1", ("A", "B")), Chance("s2", ("A", "B")), *joint.axes[1:]), joint.payoff
    )
    tree = GameTree.of(form)
    places = {name: place for place, name in enumerate(form.names)}
    for sees in (RECALL, CHEATED):
        everything = {stage.name: stage.sees for stage in form.axes if isinstance(stage, Stage)} | sees
        seen = [
            [places[axis] for axis in ((names,) if isinstance(names, str) else names)] for names in everything.values()
        ]
        assert stated_map(tree, "names", TEAM, form.seeing("x", sees)) == axes(tree, "places", TEAM, seen)
    assert infoset.team_optimum(tree).value == pytest.approx(1)


def test_a_map_is_stated_on_the_forms_own_tree_only() -> None:
    tree = GameTree.of(pennies())
    with pytest.raises(
        ParameterError, match=r"cooperative_matching_pennies is not a tree of trade_comm.*: after \[\] another"
    ):
        stated_map(tree, "x", TEAM, trade_comm(2, 2))
    with pytest.raises(ParameterError, match="not a tree of"):
        stated_map(tree, "x", [0], pennies(ONE_PLAYER))


def test_other_information_leaves_the_product_set_as_it_is() -> None:
    form = trade_comm(2, 2)
    told = form.seeing("told", {"m2": ("s2", "m1")})
    assert told.name == "told" and told != form
    assert form.seeing(form.name, {}) == form
    tree = GameTree.of(told)
    assert np.array_equal(tree.parent, GameTree.of(form).parent)
    assert same_trees(tree, GameTree.of(load("trade_comm(items=2,messages=2,sees_message=true)")))


# ---------------------------------------------------------------------------------------------------------------------
# The definition
# ---------------------------------------------------------------------------------------------------------------------


def test_kuhn_poker_by_hand() -> None:
    """Probabilities that depend on the past, and a stage that does not always take place."""
    form = kuhn()
    check_game(form)
    tree = GameTree.of(form)
    assert same_trees(tree, GameTree.of(load("kuhn_poker")))
    solution = infoset.solve(tree, "lp")
    assert solution.values[0] == pytest.approx(-1 / 18, abs=1e-9)
    assert solution.policy.probabilities(1, "(second,3,bet)")["bet"] == 1
    agents = [infoset.PolicyAgent(solution.policy) for _ in TEAM]
    for seed in range(20):
        infoset.play_match(form, agents, seed=seed)
    assert [agent.unknown for agent in agents] == [0, 0]  # players are told the set that they are in


def test_an_absent_minded_driver_shares_one_set_between_two_stages() -> None:
    """Piccione & Rubinstein 1997: 0 at the first exit, 4 at the second, 1 after both."""
    stay = {"first": lambda past: "exit", "second": lambda past: "exit"}
    form = ProductForm(
        "driver",
        "Driver",
        (
            Stage("first", "Driver", ("leave", "stay"), stay["first"]),
            Stage("second", "Driver", ("leave", "stay"), stay["second"]),
        ),
        lambda h: 0.0 if h["first"] == "leave" else 4.0 if h["second"] == "leave" else 1.0,
    )
    tree = GameTree.of(form)
    assert len(tree.infoset_player) == 1
    with pytest.raises(ImperfectRecallError, match="Driver has imperfect recall at information set 'exit'"):
        SequenceForm.of(form)


def random_form(seed: int, num_axes: int = 5) -> ProductForm:
    """Axes of two players and chance in any order, which see any of the axes before."""
    rng = np.random.default_rng(seed)
    parts: list[Chance | Stage] = []
    for k in range(num_axes):
        sees = tuple(f"x{j}" for j in range(k) if rng.random() < 0.5)
        size, owner = int(rng.integers(2, 4)), int(rng.integers(3))
        if owner == 2:
            weights = rng.dirichlet(np.ones(size), size=2)
            parts.append(
                Chance(f"x{k}", lambda past, w=weights: dict(enumerate(w[sum(map(int, past.values())) % 2].tolist())))
            )
        else:
            parts.append(Stage(f"x{k}", f"P{owner + 1}", range(size), sees))
    table = rng.integers(-5, 6, (3,) * num_axes)
    return ProductForm(f"random({seed})", ("P1", "P2"), parts, lambda h: (v := float(table[tuple(h.values())]), -v))


@examples(40)
@given(seed=some.integers(0, 10**6))
def test_information_sets_by_definition(seed: int) -> None:
    """Slow twin: the tree's sets are the histories that agree on the axes seen; values by summing over all plays."""
    form = random_form(seed)
    check_game(form, plays=3)
    tree = GameTree.of(form)
    numbers: dict[Any, int] = {}
    for node in range(len(tree.parent)):
        history = tree.history(node)
        if len(history) < len(form.axes) and isinstance(stage := form.axes[len(history)], Stage):
            seen = (stage.name, *[history[int(name[1:])] for name in stage.sees])  # type: ignore[union-attr]
            assert tree.infoset[node] == numbers.setdefault(seen, len(numbers))
    forgets = any(true_map(tree, [p]).recall_violation() for p in TEAM if p in tree.graph.player)
    if forgets:
        with pytest.raises(ImperfectRecallError):
            SequenceForm.of(tree)
        return
    compiled = SequenceForm.of(tree)
    uniform = infoset.TabularPolicy.uniform(compiled).plan(compiled)
    total = np.zeros(2)
    for end in all_ends(form):
        share = np.prod([1 / len(a.actions) for a in form.axes if isinstance(a, Stage)])  # type: ignore[arg-type]
        total += end.chance * share * np.array(end.payoffs)
    assert infoset.expected_values(compiled, uniform) == pytest.approx(total.tolist(), abs=1e-9)


def small(**changes: Any) -> ProductForm:
    """A coin, a guess, a reply; parts replaced by ``changes``."""
    parts: dict[str, Any] = {
        "players": ("Ann", "Bob"),
        "coin": Chance("coin", ("H", "T")),
        "guess": Stage("guess", "Ann", ("h", "t"), sees="coin"),
        "reply": Stage("reply", "Bob", ("h", "t"), sees="guess"),
        "payoff": lambda history: 1.0,
    } | changes
    return ProductForm("small", parts["players"], (parts["coin"], parts["guess"], parts["reply"]), parts["payoff"])


def seeing(sees: Any) -> Any:
    return {"guess": Stage("guess", "Ann", ("h", "t"), sees)}


def acting(actions: Any) -> Any:
    return {"guess": Stage("guess", "Ann", actions, "coin")}


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        (
            seeing("coim"),
            UnknownNameError,
            "unknown axis, read by stage 'guess' of small: 'coim'; did you mean 'coin'?",
        ),
        (seeing("reply"), GameRuleError, "stage 'guess' of small reads axis 'reply', which lies ahead; allowed: coin"),
        (seeing("guess"), GameRuleError, "stage 'guess' of small reads axis 'guess', which lies ahead; allowed: coin"),
        (seeing(lambda past: past["reply"]), GameRuleError, "reads axis 'reply', which lies ahead; allowed: coin"),
        (seeing(lambda past: "reply" in past), GameRuleError, "reads axis 'reply', which lies ahead; allowed: coin"),
        (seeing(lambda past: past["coins"]), UnknownNameError, "'coins'; did you mean 'coin'?"),
        (seeing(lambda past: None), GameRuleError, "stage 'guess' of small after [H]: it sees None"),
        (acting(()), GameRuleError, "stage 'guess' of small: the action set () is not one or more distinct"),
        (acting(("h", "h")), GameRuleError, "the action set ('h', 'h') is not one or more distinct"),
        (acting(["h", ["t"]]), GameRuleError, "the action set ['h', ['t']] is not one or more distinct"),
        (acting(lambda seen: ()), GameRuleError, "stage 'guess' of small after [H]: the action set () is not"),
        (acting(lambda seen: 3), GameRuleError, "the action set 3 is not"),
        (
            {"reply": Stage("reply", "Bob", lambda seen: (seen["coin"], "x"), "guess")},
            GameRuleError,
            "the action set of stage 'reply' of small reads axis 'coin', which is not seen there; allowed: guess",
        ),
        (
            {"reply": Stage("reply", "Bo", ("h",), ())},
            UnknownNameError,
            "player of stage 'reply' of small: 'Bo'; did you mean",
        ),
        (
            {"reply": Stage("coin", "Bob", ("h",), ())},
            ParameterError,
            "the axes need distinct names; 'coin' occurs twice",
        ),
        ({"players": ("Ann", "Bob", "Ann")}, ParameterError, "the players need distinct names; 'Ann' occurs twice"),
        (
            {"coin": Chance("coin", {"H": 0.5, "T": 0.4})},
            GameRuleError,
            "axis 'coin' of small: the probabilities of {'H': 0.5",
        ),
        ({"coin": Chance("coin", {"H": 1.5, "T": -0.5})}, GameRuleError, "are not numbers from 0 that sum to 1"),
        (
            {"coin": Chance("coin", {"H": float("nan"), "T": 1.0})},
            GameRuleError,
            "are not numbers from 0 that sum to 1",
        ),
        ({"coin": Chance("coin", lambda past: {"H": 0.9})}, GameRuleError, "the probabilities of {'H': 0.9} are not"),
        ({"coin": Chance("coin", ())}, GameRuleError, "axis 'coin' of small: the action set () is not"),
        (
            {"coin": Chance(("coin", "die"), [("H", 1), ("T",)])},
            GameRuleError,
            "are not tuples of 2 values, one an axis",
        ),
        (
            {"payoff": lambda h: (1.0, 2.0, 3.0)},
            GameRuleError,
            "payoff of small after [T t h]: (1.0, 2.0, 3.0) is not 2 finite",
        ),
        ({"payoff": lambda h: float("inf")}, GameRuleError, "inf is not 2 finite numbers"),
        ({"payoff": lambda h: None}, GameRuleError, "None is not 2 finite numbers"),
        (
            {"payoff": lambda h: h["gues"]},
            UnknownNameError,
            "read by the payoff of small: 'gues'; did you mean 'guess'?",
        ),
        (
            {
                "guess": Stage("guess", "Ann", ("h", "t"), lambda past: "x"),
                "reply": Stage("reply", "Ann", ("h", "t", "x"), lambda past: "x"),
            },
            GameRuleError,
            "player 0 cannot distinguish the histories ['H'] and ['H', 'h'] but has other moves there",
        ),
    ],
)
def test_broken_definitions_say_what_and_where(changes: Any, error: type[InfosetError], words: str) -> None:
    with pytest.raises(error) as found:
        GameTree.of(small(**changes))
    assert words in str(found.value)
    assert "\n" not in str(found.value)


def test_a_stage_that_does_not_exist_cannot_see_anything_else() -> None:
    with pytest.raises(UnknownNameError, match="unknown stage of small: 'gues'; did you mean 'guess'"):
        small().seeing("x", {"gues": ()})
    with pytest.raises(UnknownNameError, match="unknown stage of small: 'coin'"):
        small().seeing("x", {"coin": ()})
    with pytest.raises(GameRuleError, match="'guess' of x reads axis 'reply', which lies ahead"):
        small().seeing("x", {"guess": "reply"})


# ---------------------------------------------------------------------------------------------------------------------
# Any game in product form
# ---------------------------------------------------------------------------------------------------------------------

GAMES = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "trade_comm(items=2,messages=2)",
    "tiny_hanabi(game=F)",
    "matching_pennies_3p",
    "goofspiel(num_cards=3)",
    "leduc_poker",
]


@pytest.mark.parametrize("name", GAMES)
def test_the_tree_of_the_form_of_a_tree_is_that_tree(name: str) -> None:
    tree = GameTree.of(load(name))
    form = product_form_of(tree)
    check_game(form, plays=5)
    again = GameTree.of(form)
    assert same_trees(tree, again)
    assert [again.key(k) for k in range(len(again.infoset_player))] == [
        tree.key(k) for k in range(len(tree.infoset_player))
    ]
    for players in ([0], range(len(tree.players))):
        assert np.array_equal(true_map(tree, players).labels, true_map(again, players).labels)
    one, two = SequenceForm.of(tree), SequenceForm.of(again)
    rng = np.random.default_rng(1)
    random = infoset.TabularPolicy.from_function(
        one, lambda key, actions: dict(zip(actions, rng.dirichlet(np.ones(len(actions))).tolist(), strict=True))
    )
    ours = infoset.evaluate(one, random.plan(one))
    theirs = infoset.evaluate(two, realisation(two, random.behaviour(one)))
    assert theirs.values == pytest.approx(ours.values)
    assert theirs.best_response_values == pytest.approx(ours.best_response_values)


def test_the_value_of_the_form_is_that_of_the_game() -> None:
    form = product_form_of(GameTree.of(load("kuhn_poker")))
    assert form.names == ("0", "1", "2:P1", "3:P2", "4:P1")
    assert infoset.solve(form, "lp").values[0] == pytest.approx(-1 / 18, abs=1e-9)
    assert infoset.solve(form, "pcfr+", iterations=500).exploitability < 1e-6
    hanabi = product_form_of(GameTree.of(load("tiny_hanabi(game=F)")))
    assert infoset.team_optimum(hanabi).value == pytest.approx(7 / 3)


def test_the_history_of_a_form_has_a_value_on_every_axis() -> None:
    """Where P2 folds, P1's last stage does not take place: its value is PASS."""
    seen: list[dict[str, Any]] = []
    form = product_form_of(GameTree.of(load("kuhn_poker")))
    spy = ProductForm(
        "spy", form.players, form.axes, lambda history: seen.append(dict(history)) or form.payoff(history)
    )
    GameTree.of(spy)
    assert {"0": "K", "1": "J", "2:P1": "bet", "3:P2": "pass", "4:P1": PASS} in seen
    assert {"0": "K", "1": "J", "2:P1": "pass", "3:P2": "bet", "4:P1": "bet"} in seen
    assert len(seen) == 30  # the ends of Kuhn poker


@examples(25)
@given(seed=some.integers(0, 10**6), players=some.integers(1, 3))
def test_random_games_have_a_product_form(seed: int, players: int) -> None:
    """Also where information sets reach over several depths; values by the definitions, summed over all plays."""
    game = RandomGame(seed, players, 3)
    tree = GameTree.of(game)
    if len(tree.parent) > 1000:
        return
    form = product_form_of(tree)
    again = GameTree.of(form)
    assert same_trees(tree, again)
    compiled = SequenceForm.of(again)
    uniform = infoset.TabularPolicy.uniform(compiled).plan(compiled)
    ends = list(all_ends(game))
    rows: list[Any] = []
    for p in range(players):
        action_sets: dict[Any, set[Any]] = {}
        for end in ends:
            for known, action in end.choices[p]:
                action_sets.setdefault(known, set()).add(action)
        rows.append({known: dict.fromkeys(actions, 1 / len(actions)) for known, actions in action_sets.items()})
    assert infoset.expected_values(compiled, uniform) == pytest.approx(value(ends, rows), abs=1e-9)


def test_real_files_have_a_product_form(shared: Any) -> None:
    """Files by Gambit, also such in which a player forgets."""
    forgetful = 0
    for path in sorted((shared / "games" / "efg").glob("*.efg")):
        tree = GameTree.of(read_efg(path))
        again = GameTree.of(product_form_of(tree))
        assert same_trees(tree, again), path
        forgetful += any(true_map(tree, [p]).recall_violation() is not None for p in range(len(tree.players)))
    assert forgetful > 0
