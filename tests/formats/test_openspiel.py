"""Games of OpenSpiel through the adapter: the same trees, the same figures."""

import pickle
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import form_of
from infoset import (
    Match,
    SequenceForm,
    TabularPolicy,
    evaluate,
    export_policy,
    import_policy,
    linear_program,
    load,
    play_match,
    replay_states,
    solve,
)
from infoset.base import Game
from infoset.clock import ENDLESS
from infoset.errors import (
    IllegalActionError,
    ImperfectRecallError,
    ParameterError,
    PolicyError,
    UnknownNameError,
    UnsupportedGameError,
)
from infoset.formats.openspiel import load_openspiel
from infoset.match.replay import replay_steps
from infoset.testing import check_game
from infoset.tree.plans import realisation, uniform
from infoset.tree.rules_source import play_out
from infoset.view.pictures.openspiel import whole

pyspiel = pytest.importorskip("pyspiel")


def nash_conv_there(spiel: Any, policy: Any) -> float:
    """OpenSpiel's own figure, by its own best responses."""
    from open_spiel.python.algorithms.exploitability import nash_conv

    return float(nash_conv(spiel, policy))


PAIRS = [
    ("openspiel:kuhn_poker", "kuhn_poker"),
    ("openspiel:kuhn_poker(players=3)", "kuhn_poker(players=3)"),
    ("openspiel:leduc_poker", "leduc_poker"),
    ("openspiel:goofspiel(num_cards=3)", "goofspiel(num_cards=3)"),
    ("openspiel:liars_dice(numdice=2,dice_sides=2)", "liars_dice(numdice=2,dice_sides=2)"),
    ("openspiel:matching_pennies_3p", "matching_pennies_3p"),
    (
        "openspiel:hanabi(colors=1,ranks=2,hand_size=1,max_information_tokens=1,max_life_tokens=1)",
        "hanabi(colors=1,ranks=2,hand=1,info=1,lives=1)",
    ),
]


@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
def test_same_game_as_the_native_one(theirs: str, ours: str) -> None:
    form, native = SequenceForm.of(load(theirs)), form_of(ours)
    assert (form.num_histories, form.num_infosets) == (native.num_histories, native.num_infosets)
    one = evaluate(form, realisation(form, uniform(form)))
    other = evaluate(native, realisation(native, uniform(native)))
    assert one.values == pytest.approx(other.values)
    assert one.nash_conv == pytest.approx(other.nash_conv)


@pytest.mark.parametrize("name", ["openspiel:kuhn_poker", "openspiel:goofspiel(num_cards=3)", "openspiel:tic_tac_toe"])
def test_conformance(name: str) -> None:
    check_game(load(name), plays=5)


def test_moves_have_their_names() -> None:
    form = SequenceForm.of(load("openspiel:kuhn_poker"))
    assert form.actions[0] == ("Pass", "Bet")


def test_a_game_that_only_openspiel_has() -> None:
    solution = solve(load("openspiel:first_sealed_auction(max_value=3)"), iterations=200)
    assert solution.nash_conv < 0.01


def test_a_simultaneous_matrix_game() -> None:
    form = SequenceForm.of(load("openspiel:matrix_mp"))
    assert linear_program(form)[1:3] == pytest.approx([0.5, 0.5])


def test_imperfect_recall_is_refused() -> None:
    """OpenSpiel's own text of goofspiel with open bids forgets the player's own bids."""
    with pytest.raises(ImperfectRecallError, match="has imperfect recall at information set"):
        SequenceForm.of(load("openspiel:goofspiel(num_cards=4,points_order=descending)"))


def test_an_unknown_game_is_one_line() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'kuhn_poker'"):
        load("openspiel:kuhn_pokr(players=3)")
    with pytest.raises(ParameterError) as error:
        load("openspiel:kuhn_poker(players=99)")
    assert "\n" not in str(error.value)


def test_exported_rows_follow_their_moves_names() -> None:
    """A policy edited by hand may list its moves in any order and leave out those it never plays."""
    policy = solve(form_of("kuhn_poker"), "lp").policy
    tables = tuple({k: {m: p for m, p in reversed(row.items()) if p} for k, row in t.items()} for t in policy.tables)
    shuffled = TabularPolicy("kuhn_poker", policy.players, tables)
    spiel = pyspiel.load_game("kuhn_poker")
    assert nash_conv_there(spiel, export_policy(shuffled, load("kuhn_poker"), spiel)) == pytest.approx(0, abs=1e-12)


OPEN_BIDS = "goofspiel(num_cards=4,points_order=descending)"
EXPORTED = [
    ("kuhn_poker(players=3)", "kuhn_poker(players=3)"),
    ("liars_dice(numdice=1,dice_sides=3)", "liars_dice(numdice=1,dice_sides=3)"),
    ("goofspiel(num_cards=3)", "goofspiel(num_cards=3)"),
    ("goofspiel(num_cards=4,points_order=descending,imp_info=true)", "goofspiel(num_cards=4,points_order=descending,imp_info=True)"),
    ("goofspiel(num_cards=3,players=3,imp_info=true)", "goofspiel(num_cards=3,players=3,imp_info=True)"),
    ("rock_paper_scissors", "matrix_rps"),
    ("matching_pennies_3p", "matching_pennies_3p"),
    ("oshi_zumo(coins=4,size=1,horizon=3)", "oshi_zumo(coins=4,size=1,horizon=3)"),
    ("oshi_zumo(coins=4,size=1,horizon=3,alesia=true)", "oshi_zumo(coins=4,size=1,horizon=3,alesia=True)"),
    ("tiny_hanabi(game=E)", "tiny_hanabi"),
    ("dark_hex(rows=2,columns=2)", "dark_hex(num_rows=2,num_cols=2)"),
    ("dark_hex(rows=2,columns=2,abrupt=true)", "dark_hex(num_rows=2,num_cols=2,gameversion=adh)"),
    (
        "battleship(rows=2,columns=2,ships=[2],shots=1)",
        "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[1],num_shots=1,allow_repeated_shots=False)",
    ),
]  # fmt: skip


@pytest.mark.parametrize("policy", ["random", "cfr"])
@pytest.mark.parametrize(("ours", "theirs"), EXPORTED)
def test_an_exported_policy_is_as_exploitable_there(ours: str, theirs: str, policy: str) -> None:
    game, spiel = load(ours), pyspiel.load_game_as_turn_based(theirs)
    what = policy if policy == "random" else solve(game, policy, iterations=3).policy
    found = nash_conv_there(spiel, export_policy(what, game, spiel))
    assert found == pytest.approx(evaluate(game, what).nash_conv, abs=1e-9)


def test_two_information_sets_that_are_one_there_refuse_a_policy_that_tells_them_apart() -> None:
    """OpenSpiel's text of the game with open bids forgets the player's own bids; one row cannot hold two."""
    game, spiel = load(OPEN_BIDS), pyspiel.load_game_as_turn_based(OPEN_BIDS)
    policy = solve(game, "cfr", iterations=3).policy
    with pytest.raises(
        PolicyError, match=r"cannot tell P\d's information set (.+) from P\d's information set (.+), where"
    ) as error:
        export_policy(policy, game, spiel)
    keys = re.search(r"information set '(.+)' from (P\d)'s information set '(.+)', where", str(error.value))
    assert keys is not None
    player = game.players.index(keys[2])
    assert policy.probabilities(player, keys[1]) != policy.probabilities(player, keys[3])


def test_what_openspiel_says_of_parameters_is_one_line_without_places_in_its_source() -> None:
    with pytest.raises(ParameterError) as refused:
        load("openspiel:kuhn_poker(players=99)")
    assert re.fullmatch(
        r"openspiel:kuhn_poker\(players=99\): num_players_ <= [^\n/]*num_players_ = 99,[^\n/]*", str(refused.value)
    )


@pytest.mark.parametrize("wrong", [5, None, "kuhn_poker"])
def test_a_policy_is_exported_to_games_of_openspiel_alone(wrong: Any) -> None:
    with pytest.raises(
        ParameterError, match=f"^export_policy: spiel_game={wrong!r} is not allowed; allowed: a game of"
    ):
        export_policy("random", "kuhn_poker", wrong)


def test_a_policy_that_plays_alike_at_both_is_exported() -> None:
    game, spiel = load(OPEN_BIDS), pyspiel.load_game_as_turn_based(OPEN_BIDS)
    exported = export_policy("random", game, spiel)
    assert nash_conv_there(spiel, exported) == pytest.approx(evaluate(game, "random").nash_conv) == 1.5


def test_a_game_of_moves_at_once_is_asked_for_turn_based() -> None:
    with pytest.raises(PolicyError, match="load_game_as_turn_based"):
        export_policy("random", load(OPEN_BIDS), pyspiel.load_game(OPEN_BIDS))


COIN = """EFG 2 R "coin" {{ "A" "B" }}
c "" 1 "" {{ "h" {0} "t" {1} }} 0
p "" 1 1 "a" {{ "l" "r" }} 0
t "" 1 "" {{ 1 -1 }}
t "" 2 "" {{ 0 0 }}
t "" 3 "" {{ 0 0 }}
"""


def test_a_game_of_other_chances_is_refused(tmp_path: Path) -> None:
    (tmp_path / "coin.efg").write_text(COIN.format("1/2", "1/2"))
    game = load(str(tmp_path / "coin.efg"))
    export_policy("random", game, pyspiel.load_efg_game(COIN.format("1/2", "1/2")))
    with pytest.raises(PolicyError, match="probabilities differ"):
        export_policy("random", game, pyspiel.load_efg_game(COIN.format("3/4", "1/4")))


SAMPLED = [
    "negotiation",
    "tarok",
    "misere(game=negotiation())",
    "misere(game=misere(game=tarok()))",
    "zerosum(game=negotiation(num_items=2))",
    "start_at(game=negotiation(),history=0;1)",
    "restricted_nash_response(game=tarok())",
    "cached_tree(game=tarok())",
]
"""Games that draw their chance themselves, alone and inside of others."""


@pytest.mark.parametrize("name", SAMPLED)
def test_chance_that_openspiel_draws_can_be_played_again(name: str, tmp_path: Path) -> None:
    game = load(f"openspiel:{name}")
    matches = [play_match(game, ["random"] * len(game.players), seed=seed) for seed in (1, 1, 2)]
    first, again, other = [[(step.actions, step.chance_outcome) for step in match.steps] for match in matches]
    assert first == again != other
    assert isinstance(first[0][1], int)  # the seed of the play, recorded as chance's first answer
    load_openspiel.cache_clear()  # as another process would read it
    states = replay_states(Match.load(matches[0].save(tmp_path / "replay.json")))
    assert states[-1].returns() == matches[0].returns
    copy = pickle.loads(pickle.dumps(states[-1]))
    assert (copy, copy.returns(), str(copy.spiel)) == (states[-1], states[-1].returns(), str(states[-1].spiel))


@pytest.mark.parametrize("name", ["negotiation", "tarok", "start_at(game=negotiation(),history=0;1)"])
def test_such_a_game_keeps_to_the_contract(name: str) -> None:
    check_game(load(f"openspiel:{name}"), plays=3)


def test_deals_differ_and_are_not_seen_before_they_are_made() -> None:
    start = load("openspiel:negotiation").start()
    assert [start.observation(player) for player in range(2)] == [None, None]
    dealt = {str(start.state.play((None, None), seed).state.play((None, None), 0).state.spiel) for seed in range(20)}
    assert len(dealt) > 15


@pytest.mark.parametrize("answer", [None, -1, 1 << 31, "7", True])
def test_nature_draws_a_seed_and_nothing_else(answer: object) -> None:
    with pytest.raises(IllegalActionError, match="possible: a seed, 0 to 2147483647"):
        load("openspiel:negotiation").start().state.play((None, None), answer)


@pytest.mark.parametrize("name", ["negotiation", "misere(game=tarok())", "coop_to_1p(game=tarok())"])
@pytest.mark.parametrize("method", ["auto", "cfr+", "lp", "mccfr", "public"])
def test_chance_that_is_not_listed_is_not_solved(name: str, method: str) -> None:
    """Nor where a wrapper says that its chance is explicit, as coop_to_1p does."""
    with pytest.raises(UnsupportedGameError, match="itself and does not list it; it can be played, not solved"):
        solve(load(f"openspiel:{name}"), method)


def test_chance_that_is_not_listed_is_not_evaluated() -> None:
    with pytest.raises(UnsupportedGameError, match="not solved or evaluated exactly"):
        evaluate(load("openspiel:negotiation"), "random")


@pytest.mark.parametrize("name", ["negotiation(rng_seed=7)", "misere(game=tarok(rng_seed=7))"])
def test_a_seed_in_the_name_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="rng_seed=7 is not taken; every play draws its own"):
        load(f"openspiel:{name}")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mfg_crowd_modelling", "is a mean-field game"),
        ("misere(game=mfg_garnet())", "is a mean-field game"),
        ("crossword", "no list of legal moves"),
        ("misere(game=crossword())", "no list of legal moves"),
        ("add_noise(game=kuhn_poker(),epsilon=0.1,seed=3)", "depend on earlier games"),
    ],
)
def test_what_cannot_be_played_here_is_one_line(name: str, reason: str) -> None:
    with pytest.raises(UnsupportedGameError, match=reason) as error:
        load(f"openspiel:{name}")
    assert "\n" not in str(error.value)


WRAPPED = [
    "misere(game=kuhn_poker())",
    "cached_tree(game=kuhn_poker())",
    "restricted_nash_response(game=kuhn_poker())",
    "start_at(game=kuhn_poker(),history=0;1)",
    "turn_based_simultaneous_game(game=goofspiel(num_cards=3))",
    "normal_form_extensive_game(game=kuhn_poker())",
    "repeated_game(stage_game=matrix_pd(),num_repetitions=2)",
    "bargaining(discount=0.123456789)",
]


@pytest.mark.parametrize("name", WRAPPED)
def test_the_name_of_a_game_loads_it_again(name: str) -> None:
    """What some wrappers call themselves is not a name, or leaves out what they are made of."""
    game = load(f"openspiel:{name}")
    again: Game = load(game.name)
    assert (again, again.name, again.players) == (game, game.name, game.players)
    check_game(game, plays=3)
    match = play_match(game, ["random"] * len(game.players), seed=1)
    assert replay_states(match)[-1].returns() == match.returns


def test_states_outlive_those_that_they_came_from() -> None:
    """OpenSpiel's copies of this game's states do not."""
    check_game(load("openspiel:morpion_solitaire"), plays=2)


def test_the_picture_of_a_play_begins_with_its_seed() -> None:
    game = load("openspiel:negotiation")
    match = play_match(game, ["random", "random"], seed=1)
    steps = replay_steps(match)
    assert whole(game, steps[:1], [])["steps"] == []
    assert whole(game, steps, match.steps)["steps"][0] == {
        "who": "chance",
        "move": f"seed {match.steps[0].chance_outcome}",
    }


def row_there(state: Any, player: int) -> dict[int, float]:
    """Probabilities that differ from one information state of OpenSpiel to another, by its text."""
    rng = np.random.default_rng(list(state.information_state_string(player).encode()))
    legal = state.legal_actions(player)
    return dict(zip(legal, rng.dirichlet([1.0] * len(legal)).tolist(), strict=True))


def spread(spiel: Any) -> Any:
    """A policy of OpenSpiel's own class with these probabilities."""
    from open_spiel.python.policy import Policy as SpielPolicy

    class Spread(SpielPolicy):  # type: ignore[misc]
        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            return row_there(state, state.current_player() if player_id is None else player_id)

    return Spread(spiel, list(range(spiel.num_players())))


IMPORTED = [
    ("kuhn_poker(players=3)", "kuhn_poker(players=3)"),
    ("leduc_poker", "leduc_poker"),
    ("openspiel:liars_dice(numdice=1,dice_sides=3)", "liars_dice(numdice=1,dice_sides=3)"),
]


@pytest.mark.parametrize(("ours", "theirs"), IMPORTED)
def test_a_policy_of_openspiel_is_as_exploitable_here(ours: str, theirs: str) -> None:
    policy = spread(pyspiel.load_game(theirs))
    assert evaluate(ours, policy).nash_conv == pytest.approx(nash_conv_there(policy.game, policy), abs=1e-9)


def test_a_policy_of_a_simultaneous_game_is_asked_there() -> None:
    """It plays as the same policy of the turn-based game, whose text says so beside the text of the game itself."""
    name = "goofspiel(num_cards=4,imp_info=True,points_order=descending)"
    spiel = pyspiel.load_game(name)
    policy = import_policy(spread(spiel), name.lower(), spiel)
    row = row_there(spiel.new_initial_state(), 1)
    start = TabularPolicy.uniform(form_of(name.lower())).tables[1]
    assert list(policy.probabilities(1, next(iter(start))).values()) == pytest.approx(list(row.values()))
    exported = export_policy(policy, name.lower(), pyspiel.load_game_as_turn_based(name))
    assert nash_conv_there(exported.game, exported) == pytest.approx(evaluate(name.lower(), policy).nash_conv, abs=1e-9)


def test_a_solver_in_cpp_is_evaluated() -> None:
    """A policy in C++ does not know its game, unless the game is one of OpenSpiel."""
    spiel = pyspiel.load_game("kuhn_poker")
    solver = pyspiel.CFRSolver(spiel)
    for _ in range(50):
        solver.evaluate_and_update_policy()
    there = solver.average_policy()
    expected = pytest.approx(pyspiel.nash_conv(spiel, there), abs=1e-9)
    assert evaluate("openspiel:kuhn_poker", there).nash_conv == expected
    assert evaluate("kuhn_poker", import_policy(there, "kuhn_poker", spiel)).nash_conv == expected
    with pytest.raises(ParameterError, match="does not say for which game of OpenSpiel it is; pass it as spiel_game"):
        evaluate("kuhn_poker", there)


def test_a_policy_of_another_game_is_refused() -> None:
    with pytest.raises(PolicyError, match="kuhn_poker and OpenSpiel's leduc_poker"):
        evaluate("kuhn_poker", spread(pyspiel.load_game("leduc_poker")))


def test_a_policy_that_sees_more_than_players_do_here_is_refused() -> None:
    """OpenSpiel's text of phantom games counts the moves of both players, which nobody sees here."""
    with pytest.raises(PolicyError, match=r"plays differently at histories of P2's information set .+ tells apart"):
        evaluate("dark_hex(rows=2,columns=2)", spread(pyspiel.load_game("dark_hex(num_rows=2,num_cols=2)")))


@pytest.mark.parametrize("name", ["leduc_poker", "phantom_ttt", "goofspiel(num_cards=3,imp_info=true)"])
def test_random_plays_pay_the_same_without_names(name: str) -> None:
    """Chance, turns and moves at once: the mean payoff is that of plays by the rules."""
    start = load(f"openspiel:{name}").start().state
    chosen, rng = random.Random(1).random, np.random.default_rng(1)
    quick = np.array([play_out(start, rng, ENDLESS, chosen) for _ in range(4000)])[:, 0]

    class Plain(type(start)):  # type: ignore[misc]
        play_randomly = None
        __slots__ = ()

    plain = Plain(start.game, start.spiel)
    slow = np.array([play_out(plain, rng, ENDLESS, chosen) for _ in range(1000)])[:, 0]
    assert abs(quick.mean() - slow.mean()) < 5 * np.sqrt(quick.var() / 4000 + slow.var() / 1000)
    assert quick.std() == pytest.approx(slow.std(), rel=0.2)


def test_a_game_whose_copies_cannot_be_played_on_is_played_by_its_rules() -> None:
    start = load("openspiel:negotiation").start().state.play((None, None), 7).state
    assert start.play_randomly(random.Random(1).random, ENDLESS, 100) is None
    assert play_out(start, np.random.default_rng(1), ENDLESS, random.Random(1).random)
