"""The native games: their rules by hand, their sizes and trees against OpenSpiel's."""

from typing import Any

import numpy as np
import pytest

from conftest import SMALL_GAMES, form_of
from infoset import GameTree, TabularPolicy, load
from infoset.errors import ParameterError
from infoset.formats.openspiel import export_policy
from infoset.games.kuhn_poker import showdown
from infoset.testing import check_game

# histories, information sets (with one move too) and ends; OpenSpiel 1.6 counts the same
SIZES = {
    "kuhn_poker": (58, 12, 30),
    "kuhn_poker(players=3)": (617, 48, 312),
    "kuhn_poker(players=4)": (7886, 160, 3960),
    "leduc_poker": (9457, 936, 5520),
    "liars_dice(dice_sides=4)": (8181, 1024, 4080),
    "goofspiel(num_cards=4,imp_info=true,points_order=descending)": (1077, 162, 576),
}

SPIEL_PAIRS = [
    ("kuhn_poker", "kuhn_poker"),
    ("kuhn_poker(players=4)", "kuhn_poker(players=4)"),
    ("leduc_poker", "leduc_poker"),
    ("liars_dice(numdice=2,dice_sides=2)", "liars_dice(numdice=2,dice_sides=2)"),
    ("liars_dice(dice_sides=4)", "liars_dice(dice_sides=4)"),
    ("goofspiel(num_cards=3)", "goofspiel(num_cards=3,points_order=random)"),
    ("goofspiel(num_cards=4,imp_info=True,points_order=descending)", "goofspiel(num_cards=4,imp_info=True,points_order=descending)"),
    ("goofspiel(num_cards=3,points_order=ascending,returns_type=point_difference)",) * 2,
    ("goofspiel(num_cards=3,players=3,returns_type=total_points)",) * 2,
    ("matching_pennies_3p", "matching_pennies_3p"),
    ("rock_paper_scissors", "matrix_rps"),
    ("oshi_zumo(coins=5,size=1,min_bid=1)",) * 2,
    ("oshi_zumo(coins=4,size=1,horizon=3,alesia=True)",) * 2,
    ("oshi_zumo(coins=5,size=2,horizon=4,min_bid=2)",) * 2,
]  # fmt: skip


@pytest.mark.parametrize("name", SMALL_GAMES)
def test_conformance(name: str) -> None:
    assert check_game(load(name), plays=30).plays == 30


@pytest.mark.parametrize("name", SMALL_GAMES)
def test_a_games_name_loads_the_same_game(name: str) -> None:
    game = load(name)
    assert load(game.name) == game


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_sizes(name: str, size: tuple[int, int, int]) -> None:
    tree = GameTree.of(load(name))
    assert (len(tree.parent), len(tree.infoset_player), tree.num_terminals) == size


def test_kuhn_showdowns() -> None:
    """Cards 0 < 1 < 2; everyone antes 1, a bet or call adds 1."""
    assert showdown((0, 1), ("pass", "pass")) == (-1, 1)
    assert showdown((1, 0), ("bet", "bet")) == (2, -2)
    assert showdown((0, 1), ("bet", "pass")) == (1, -1)  # a fold loses the ante, whatever the cards


@pytest.mark.parametrize(
    ("cards", "history", "payoffs"),
    [
        ((2, 0, 1), ("pass", "pass", "pass"), (2, -1, -1)),
        ((0, 1, 2), ("pass", "bet", "pass", "bet"), (-2, 3, -1)),  # P3 folds; P1 calls P2 and loses
        ((2, 1, 0), ("pass", "pass", "bet", "bet", "pass"), (3, -1, -2)),
        ((0, 2, 1), ("bet", "pass", "pass"), (2, -1, -1)),
    ],
)
def test_kuhn_for_three(cards: tuple[int, ...], history: tuple[str, ...], payoffs: tuple[float, ...]) -> None:
    assert showdown(cards, history) == payoffs
    assert sum(payoffs) == 0


@pytest.mark.parametrize(
    ("name", "constant"),
    [pytest.param("leduc_poker(players=3)", 0.0, marks=pytest.mark.slow), ("kuhn_poker(players=3)", 0.0), ("goofspiel(num_cards=3,returns_type=total_points)", None), ("matching_pennies_3p", None)],
)  # fmt: skip
def test_payoff_sums(name: str, constant: float | None) -> None:
    assert form_of(name).constant_sum == constant


def turn_based(spiel_name: str) -> Any:
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game(spiel_name)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        return pyspiel.convert_to_turn_based(game)
    return game


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("ours", "theirs"), SPIEL_PAIRS)
def test_tree_and_nash_conv_equal_openspiels(ours: str, theirs: str) -> None:
    """The trees are walked side by side (moves, chance, payoffs); a random policy has the same NashConv there."""
    spiel_game = turn_based(theirs)
    from open_spiel.python.algorithms.exploitability import nash_conv as spiel_nash_conv

    from infoset import nash_conv
    from infoset.tree.plans import random_interior

    form = form_of(ours)
    policy = TabularPolicy.from_behaviour(form, random_interior(form, seed=1))
    exported = export_policy(policy, load(ours), spiel_game)
    expected = nash_conv(form, policy.plan(form))
    assert spiel_nash_conv(spiel_game, exported) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["leduc_poker", "goofspiel(num_cards=3)"])
def test_draw_has_natures_frequencies(name: str) -> None:
    state = load(name).start().state
    rng = np.random.default_rng(0)
    actions = (None, None)
    drawn = [state.draw(actions, rng) for _ in range(6000)]
    answers = state.chance_outcomes(actions)
    for answer, probability in answers:
        assert drawn.count(answer) / 6000 == pytest.approx(probability, abs=4 * (probability / 6000) ** 0.5)


@pytest.mark.parametrize(("ranks", "suits"), [(3, 2), (4, 2), (2, 3), (3, 1), (6, 2)])
def test_leduc_with_any_deck(ranks: int, suits: int) -> None:
    """A card and one of six bettings so far; then two cards and one of thirty: 936 where there are six cards."""
    form = form_of(f"leduc_poker(ranks={ranks},suits={suits})")
    cards = ranks * suits
    assert form.num_infosets == 6 * cards + 30 * cards * (cards - 1)
    assert form.zero_sum


def test_a_deck_is_large_enough() -> None:
    with pytest.raises(ParameterError, match="leduc_poker: 2 cards, where 2 players and the table need one each"):
        load("leduc_poker(ranks=1)")
    assert load("leduc_poker(ranks=3)").start() == load("leduc_poker").start()


def test_the_wrestler_is_pushed() -> None:
    """In a ring of one step, the second push over it ends the game before the coins do; equal bids push nobody."""
    state = load("oshi_zumo(coins=7,size=1,min_bid=1)").start().state
    for bids, position in [((3, 3), 0), ((2, 1), 1)]:
        state = state.play(bids).state
        assert state.position == position  # type: ignore[attr-defined]
    assert state.play((1, 1)).state.position == 1  # type: ignore[attr-defined]
    assert state.play((2, 1)).state.returns() == (1, -1)
    assert state.play((1, 3)).state.play((1, 0)).state.returns() == (1, -1)  # who has nothing bids nothing


@pytest.mark.parametrize(("players", "sides"), [(2, 3), (3, 2), (4, 2)])
def test_liars_dice_for_several(players: int, sides: int) -> None:
    """Bids only rise and somebody is called in the end, so that plays are the non-empty sets of bids, for each roll."""
    form = form_of(f"liars_dice(dice_sides={sides},players={players})")
    assert form.num_terminals == sides**players * (2 ** (players * sides) - 1)
    game = load("liars_dice(dice_sides=2,players=3)")
    step = game.start()
    for answer in (1, 1, 1):
        step = step.state.play((None,) * 3, answer)  # type: ignore[attr-defined]
    for player, bid in enumerate(("1x1", "3x1")):
        step = step.state.play(tuple(bid if p == player else None for p in range(3)))  # type: ignore[attr-defined]
    lost = step.state.play((None, None, "liar"))  # type: ignore[attr-defined]
    assert lost.state.returns() == (0.0, 1.0, -1.0)  # three ones lie there; who only looked on wins and loses nothing
