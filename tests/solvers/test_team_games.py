"""The native games with one payoff for both players: their rules by hand, their optima by brute force."""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest

from conftest import form_of
from infoset import GameTree, SequenceForm, evaluate, load
from infoset.base import FloatArray, State
from infoset.errors import ParameterError, UnknownNameError
from infoset.formats.openspiel import export_policy
from infoset.games.tiny_bridge import CARDS, CLASSES, HANDS, class_of, deals, double_dummy, members, score
from infoset.games.tiny_hanabi import PAYOFFS
from infoset.policies.tabular import TabularPolicy
from infoset.testing import check_game
from infoset.tree.graph import TERMINAL
from infoset.tree.plans import random_interior, realisation, uniform

TRADE, PENNIES, BRIDGE = "trade_comm", "cooperative_matching_pennies", "tiny_bridge"
HANABI = [f"tiny_hanabi(game={game})" for game in PAYOFFS]

# histories, information sets (with one move too) and ends
SIZES = {
    TRADE: (3304, 30, 2916),  # 1 + 9 (1 + 2 + 4 (1 + 9 + 81)) histories, 2 (3 + 3 * 4) sets
    "trade_comm(sees_message=true)": (3304, 33, 2916),  # P2 sends at 3 * 2 sets instead of 3
    "trade_comm(items=2)": (349, 20, 256),
    "trade_comm(items=2,messages=3)": (773, 40, 576),
    "trade_comm(messages=3)": (7408, 60, 6561),
    PENNIES: (19, 4, 12),
    BRIDGE: (25768, 1536, 12827),  # 1 + 12 + 101 * 255 histories: 101 pairs of classes, 128 decisions and 127 ends
    "tiny_bridge(abstracted=false)": (107129, 3584, 53340),  # 1 + 28 + 420 * 255
    **dict(zip(HANABI, [(31, 6, 16)] * 4 + [(55, 8, 36), (67, 9, 36)], strict=True)),
}

TRADE_OPTIMA = {(2, 2): 1, (2, 3): 1, (3, 2): 5 / 9, (3, 3): 1}  # by items and messages
HANABI_OPTIMA = dict(zip(HANABI, (2.25, 1, 2.5, 2.5, 10, 7 / 3), strict=True))  # as the suite's authors publish them
FULL_INFORMATION = 21.317460


@pytest.mark.parametrize("name", SIZES)
def test_conformance(name: str) -> None:
    assert check_game(load(name), plays=30).plays == 30


@pytest.mark.parametrize("name", [*SIZES, "cooperative_matching_pennies(win=2,loss=-0.5,passing=1)"])
def test_a_games_name_loads_the_same_game(name: str) -> None:
    game = load(name)
    assert load(game.name) == game


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_sizes_and_one_payoff_for_both(name: str, size: tuple[int, int, int]) -> None:
    tree = GameTree.of(load(name))
    assert (len(tree.parent), len(tree.infoset_player), tree.num_terminals) == size
    assert (tree.graph.payoffs[:, 0] == tree.graph.payoffs[:, 1]).all()


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("trade_comm(items=1)", ParameterError, "items=1 is out of range; allowed: 2 to 26"),
        ("trade_comm(messages=27)", ParameterError, "messages=27 is out of range; allowed: 1 to 26"),
        ("trade_comm(sees_message=1)", ParameterError, "is not true or false"),
        ("cooperative_matching_pennies(loss=inf)", ParameterError, "loss=inf is not a finite number"),
        ("cooperative_matching_pennies(pass=0)", UnknownNameError, "did you mean 'passing'"),
        ("tiny_hanabi(game=G)", ParameterError, "game=G is not one of A, B, C, D, E, F"),
        ("tiny_bridge(abstracted=yes)", ParameterError, "is not true or false"),
    ],
)
def test_bad_parameters_are_named(name: str, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        load(name)


# --- brute force ------------------------------------------------------------------------------------------------------


def pure_plans(form: SequenceForm, player: int) -> Iterator[FloatArray]:
    """Every deterministic plan of one player that differs where it is reached; the others' entries stay 1."""
    a, last = form.arrays, form.player_infosets(player).stop
    own = form.player_sequences(player)

    def grow(k: int, plan: FloatArray) -> Iterator[FloatArray]:
        if k == last:
            yield plan
        elif not plan[a.parent[k]]:
            yield from grow(k + 1, plan)
        else:
            for action in range(int(a.size[k])):
                chosen = plan.copy()
                chosen[a.first[k] + action] = 1
                yield from grow(k + 1, chosen)

    nothing = np.ones(form.num_sequences)
    nothing[own.start + 1 : own.stop] = 0
    yield from grow(form.player_infosets(player).start, nothing)


def team_optimum(form: SequenceForm) -> float:
    """The best payoff of all: every plan of the first player with a best response of the second."""
    return max(evaluate(form, plan).best_response_values[1] for plan in pure_plans(form, 0))


@pytest.mark.parametrize(("name", "optimum"), HANABI_OPTIMA.items())
def test_optimum_of_tiny_hanabi(name: str, optimum: float) -> None:
    assert team_optimum(form_of(name)) == pytest.approx(optimum)


@pytest.mark.parametrize(
    ("name", "optimum"),
    [(PENNIES, 1), ("cooperative_matching_pennies(win=3,loss=1,passing=2)", 3), ("cooperative_matching_pennies(win=1,passing=2)", 2)],
)  # fmt: skip
def test_optimum_of_cooperative_matching_pennies(name: str, optimum: float) -> None:
    assert team_optimum(form_of(name)) == pytest.approx(optimum)


@pytest.mark.parametrize("sees", ["false", "true"])
def test_optimum_of_trade_comm_in_the_compiled_form(sees: str) -> None:
    assert team_optimum(form_of(f"trade_comm(items=2,sees_message={sees})")) == pytest.approx(1)


class TradeComm:
    """Brute force on the rules: every plan of messages, and behind each pair of messages every plan of trades."""

    def __init__(self, items: int, messages: int, sees_message: bool) -> None:
        self.game = load(f"trade_comm(items={items},messages={messages},sees_message={str(sees_message).lower()})")
        self.items, self.messages, self.sees_message = "ABC"[:items], range(1, messages + 1), sees_message
        self.served = cache(self.trade)

    def trading(self, one: str, other: str) -> State:
        """The state in which both trade, after the first messages."""
        state = self.game.start().state.play((None, None), f"{one}:{other}").state
        return state.play((1, None)).state.play((None, 1)).state

    def trade(self, first: frozenset[str], second: frozenset[str]) -> int:
        """How many deals can be served where these groups of items have sent the messages just heard."""
        worth = {
            (one, other): [
                [int(trading.play((d, e)).state.returns()[0]) for e in trading.legal_actions(1)]
                for d in trading.legal_actions(0)
            ]
            for one, other in product(first, second)
            for trading in [self.trading(one, other)]
        }
        trades = range(len(self.items) ** 2)
        return max(
            sum(max(sum(worth[one, other][d][e] for one, d in zip(first, plan, strict=True)) for e in trades) for other in second)
            for plan in product(trades, repeat=len(first))
        )  # fmt: skip

    def groups(self, plan: tuple[int, ...]) -> list[frozenset[str]]:
        """The items that send each message."""
        return [
            frozenset(i for i, m in zip(self.items, plan, strict=True) if m == message) for message in self.messages
        ]

    def optimum(self) -> float:
        """P2's best plan of messages, for each of P1's messages where it hears them, else for all of them at once."""
        plans = [self.groups(plan) for plan in product(self.messages, repeat=len(self.items))]
        best = 0
        for first in plans:
            table = [[sum(self.served(group, other) for other in second) for second in plans] for group in first]
            best = max(best, sum(map(max, table)) if self.sees_message else max(map(sum, zip(*table, strict=True))))
        return best / len(self.items) ** 2


@pytest.mark.parametrize("sees_message", [False, True])
@pytest.mark.parametrize(("size", "optimum"), TRADE_OPTIMA.items())
def test_optimum_of_trade_comm(size: tuple[int, int], optimum: float, sees_message: bool) -> None:
    assert TradeComm(*size, sees_message).optimum() == pytest.approx(optimum)
    assert closed_form(*size, sees_message) == pytest.approx(optimum)


def closed_form(items: int, messages: int, sees_message: bool) -> float:
    """Behind a pair of messages that ``a`` and ``b`` items send, ``min(a, b)`` deals can be served."""
    groups = [c for c in product(range(items + 1), repeat=messages) if sum(c) == items]
    tables = ([[sum(min(a, b) for b in second) for second in groups] for a in first] for first in groups)
    best = max(sum(map(max, t)) if sees_message else max(map(sum, zip(*t, strict=True))) for t in tables)
    return best / items**2


# --- who knows what ---------------------------------------------------------------------------------------------------


def keys(name: str, player: int) -> list[str]:
    """The readable keys of a player's information sets, shortest first."""
    tree = GameTree.of(load(name))
    found = [tree.key(k) for k in range(len(tree.infoset_player)) if tree.infoset_player[k] == player]
    return sorted(found, key=lambda key: (key.count(" "), key))


def test_who_hears_what_in_trade_comm() -> None:
    """In keys: own item, [own message], the other's; P2 hears P1 with its own message, or before."""
    items, messages = "AB", (1, 2)
    sends = [f"{i}" for i in items]
    assert keys("trade_comm(items=2)", 0) == sends + [
        f"{i} [{m}] {k}" for i in items for m in messages for k in messages
    ]
    assert keys("trade_comm(items=2)", 1) == sends + [
        f"{i} [{m}]:{k}" for i in items for m in messages for k in messages
    ]
    assert keys("trade_comm(items=2,sees_message=true)", 1) == (
        [f"{i} {k}" for i in items for k in messages]
        + [f"{i} {k} [{m}]" for i in items for k in messages for m in messages]
    )


def test_a_game_of_trade_comm() -> None:
    state = load("trade_comm(messages=2)").start().state
    assert [deal for deal, _ in state.chance_outcomes((None, None))] == [f"{a}:{b}" for a in "ABC" for b in "ABC"]
    dealt = state.play((None, None), "C:A")
    assert (dealt.observation(0), dealt.observation(1)) == ("C", "A")
    sent = dealt.state.play((1, None))
    assert (sent.observation(0), sent.observation(1)) == (None, None)
    heard = sent.state.play((None, 2))
    assert (heard.observation(0), heard.observation(1)) == (2, 1)
    for trades, payoff in [(("C:A", "C:A"), 1), (("C:A", "A:C"), 0), (("A:A", "A:A"), 0), (("C:A", "B:A"), 0)]:
        assert heard.state.play(trades).state.returns() == (payoff, payoff)


@pytest.mark.parametrize(
    ("goal", "side", "answer", "payoff"),
    [
        ("same", "Heads", "Heads", 1), ("same", "Heads", "Tails", -200), ("same", "Tails", "Pass", 0),
        ("different", "Heads", "Heads", -200), ("different", "Tails", "Heads", 1), ("different", "Heads", "Pass", 0),
    ],
)  # fmt: skip
def test_a_game_of_cooperative_matching_pennies(goal: str, side: str, answer: str, payoff: float) -> None:
    told = load(PENNIES).start().state.play((None, None), goal)
    shown = told.state.play((side, None))
    assert [told.observation(p) for p in (0, 1)] == [goal, None]
    assert [shown.observation(p) for p in (0, 1)] == [None, side]
    assert shown.state.play((None, answer)).state.returns() == (payoff, payoff)


def test_who_sees_what_in_tiny_hanabi() -> None:
    assert keys(HANABI[0], 0) == ["c1", "c2"]
    assert keys(HANABI[0], 1) == ["c1 a1", "c1 a2", "c2 a1", "c2 a2"]


def test_a_game_of_tiny_hanabi() -> None:
    """Game A, first card for P1 and second for P2; moves 2 and 1 are worth 3."""
    state = load("tiny_hanabi").start().state
    for card in ("c1", "c2"):
        state = state.play((None, None), card).state
    assert state.play(("a2", None)).state.play((None, "a1")).state.returns() == (3, 3)


# --- bridge -----------------------------------------------------------------------------------------------------------


def test_every_hand_is_of_one_class() -> None:
    hands = [{CARDS[low], CARDS[high]} for low, high in HANDS]
    assert [sum(hand in members(name) for name in CLASSES) for hand in hands] == [1] * 28
    assert sum(len(members(name)) for name in CLASSES) == 28
    assert CLASSES[class_of((CARDS.index("HQ"), CARDS.index("SA")))] == "SA+HKQJ"


@pytest.mark.parametrize("abstracted", [False, True])
def test_deals_of_tiny_bridge(abstracted: bool) -> None:
    hands, counts, points = deals(abstracted)
    assert counts.sum() == 420
    assert len(hands) == (12 if abstracted else 28)
    assert (counts == counts.T).all()
    assert (points[..., 1] == points[..., 0].transpose(1, 0, 2)).all()  # whoever declares
    assert not points[:, :, 0].any()
    assert not points[counts == 0].any()
    assert points.max(axis=(2, 3)).sum() / 2520 == pytest.approx(FULL_INFORMATION, abs=5e-7)


def test_classes_are_dealt_jointly() -> None:
    """Who holds both aces leaves none: the classes are not independent, and their probabilities are exact."""
    state = load(BRIDGE).start().state
    west = dict(state.chance_outcomes((None, None)))
    assert west == {name: len(members(name)) / 28 for name in CLASSES}
    east = dict(state.play((None, None), "SA+HA").state.chance_outcomes((None, None)))
    assert east == {"SKQJ+HKQJ": 9 / 15, "HK+HQJ": 2 / 15, "HQ+HJ": 1 / 15, "SK+SQJ": 2 / 15, "SQ+SJ": 1 / 15}


def test_information_sets_of_tiny_bridge() -> None:
    """12 classes and 128 auctions that go on, of which 64 have not reached 2NT."""
    form = form_of(BRIDGE)
    assert (form.num_infosets, form_of("tiny_bridge(abstracted=false)").num_infosets) == (12 * 64, 28 * 64)
    assert form.actions[0] == ("Pass", "1H", "1S", "1NT", "2H", "2S", "2NT")
    assert "SA+HKQJ Pass [1H] 1NT" in form.keys


def test_abstraction_does_not_change_what_calling_at_random_is_worth() -> None:
    one, other = (form_of(f"tiny_bridge(abstracted={word})") for word in ("true", "false"))
    values = [evaluate(form, realisation(form, uniform(form))).values[0] for form in (one, other)]
    assert values[0] == pytest.approx(values[1])


def test_a_game_of_tiny_bridge() -> None:
    """One pass may open.  Two no trump is always made; with hearts as trumps an opponent who holds both other hearts
    (2 splits of 6) ruffs the ace of spades, so one heart is worth (4 * 20 + 2 * 10) / 6."""
    state = load("tiny_bridge(abstracted=false)").start().state
    for hand in ("SAHA", "SKHK"):
        state = state.play((None, None), hand).state
    assert state.play(("Pass", None)).state.play((None, "Pass")).state.returns() == (0, 0)
    assert state.play(("1H", None)).state.play((None, "Pass")).state.returns() == (100 / 6, 100 / 6)
    late = state.play(("Pass", None)).state.play((None, "2S")).state
    assert late.legal_actions(0) == ("Pass", "2NT")
    no_trump = late.play(("2NT", None)).state
    assert no_trump.legal_actions(1) == ("Pass",)
    assert no_trump.play((None, "Pass")).state.returns() == (35, 35)


@pytest.mark.parametrize(
    ("level", "trump", "tricks", "points"),
    [(1, 0, 0, -20), (1, 1, 1, 10), (1, 2, 2, 20), (2, 0, 0, -40), (2, 1, 1, -20), (2, 1, 2, 30), (2, 2, 2, 35)],
)
def test_scores(level: int, trump: int, tricks: int, points: int) -> None:
    assert score(level, trump, np.array([tricks])).tolist() == [points]


def trick_winner(trick: list[int], trump: int) -> int:
    """The place in the trick of the card that takes it."""
    trumps = [card for card in trick if card // 4 == trump]
    return trick.index(max(trumps or [card for card in trick if card // 4 == trick[0] // 4]))


def best_tricks(table: list[tuple[int, ...]], trump: int, trick: tuple[int, ...] = ()) -> int:
    """The slow twin of ``double_dummy``: minimax over the cards that may be played."""
    seat = len(trick)
    if seat == 4:
        first = trick_winner(list(trick), trump)
        last = [next(c for c in hand if c not in trick) for hand in table]
        second = trick_winner(last[first:] + last[:first], trump)
        return first % 2 + (first + second) % 4 % 2
    following = [card for card in table[seat] if trick and card // 4 == trick[0] // 4]
    values = [best_tricks(table, trump, (*trick, card)) for card in following or table[seat]]
    return (max if seat % 2 else min)(values)


def test_double_dummy_equals_plain_minimax() -> None:
    rng = np.random.default_rng(0)
    tables = np.array([rng.permutation(8).reshape(4, 2) for _ in range(400)])
    for trump in range(3):
        expected = [best_tricks([tuple(hand) for hand in table.tolist()], trump) for table in tables]
        assert double_dummy(tables, trump).tolist() == expected


# --- OpenSpiel --------------------------------------------------------------------------------------------------------


def test_every_auction_of_every_deal_pays_what_openspiel_pays() -> None:
    """All 420 deals and, as an end pays by its last bid and bidder, one auction for each of those; then no bid."""
    pyspiel = pytest.importorskip("pyspiel")
    _, counts, points = deals(False)
    auctions = [((*opening, bid, 0), len(opening)) for opening in ((), (0,)) for bid in range(1, 7)] + [((0, 0), 0)]
    for west, east in zip(*np.nonzero(counts), strict=True):
        start = pyspiel.load_game("tiny_bridge_2p").new_initial_state()
        for low, high in (HANDS[west], HANDS[east]):
            start.apply_action(high * (high - 1) // 2 + low)
        for calls, declarer in auctions:
            state = start.clone()
            for call in calls:
                state.apply_action(call)
            assert state.returns()[0] == pytest.approx(points[west, east, max(calls), declarer] / 6, abs=1e-9)


def test_every_auction_of_some_class_pairs_pays_the_mean_of_openspiels() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    game, tree = pyspiel.load_game("tiny_bridge_2p(abstracted=true)"), GameTree.of(load(BRIDGE))
    numbers = [[h * (h - 1) // 2 + low for low, h in HANDS if class_of((low, h)) == k] for k in range(12)]
    ends = np.flatnonzero(tree.graph.player[tree.position] == TERMINAL)
    names = ["Pass", "1H", "1S", "1NT", "2H", "2S", "2NT"]
    for node in np.random.default_rng(1).choice(ends, 300, replace=False).tolist():
        west, east, *calls = tree.history(node)
        paid = []
        for one, other in product(numbers[CLASSES.index(str(west))], numbers[CLASSES.index(str(east))]):
            state = game.new_initial_state()
            state.apply_action(one)
            if other not in [answer for answer, _ in state.chance_outcomes()]:
                continue
            for action in (other, *map(names.index, calls)):
                state.apply_action(action)
            assert state.is_terminal()
            paid.append(state.returns()[0])
        payoff = tree.graph.payoffs[tree.graph.content[tree.position[node]]]
        assert payoff.tolist() == pytest.approx([np.mean(paid)] * 2, abs=1e-9)


@pytest.mark.slow
def test_the_whole_tree_of_tiny_bridge_is_openspiels() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms.expected_game_score import policy_value

    name = "tiny_bridge(abstracted=false)"
    form, game = form_of(name), pyspiel.load_game("tiny_bridge_2p")
    policy = TabularPolicy.from_behaviour(form, random_interior(form, seed=3))
    exported = export_policy(policy, load(name), game)
    values = policy_value(game.new_initial_state(), [exported] * 2)
    assert values == pytest.approx(evaluate(form, policy.plan(form)).values, abs=1e-9)


def same_rows(one: SequenceForm, other: SequenceForm) -> bool:
    """Whether two forms have as many sets and sequences and, in some order, the same terminal rows."""
    rows = [np.sort(form.arrays.payoffs[0][np.abs(form.arrays.payoffs[0]) > 1e-9]) for form in (one, other)]
    sizes = [(form.num_infosets, form.num_sequences, len(row)) for form, row in zip((one, other), rows, strict=True)]
    return sizes[0] == sizes[1] and np.allclose(*rows, atol=1e-12)


@pytest.mark.parametrize("game", PAYOFFS)
def test_tiny_hanabi_is_openspiels(game: str) -> None:
    pytest.importorskip("pyspiel")
    table = np.array(PAYOFFS[game])
    payoff = ";".join(map(str, table.ravel().tolist()))
    theirs = f"openspiel:tiny_hanabi(num_chance={table.shape[0]},num_actions={table.shape[2]},payoff={payoff})"
    form, native = SequenceForm.of(load(theirs)), form_of(f"tiny_hanabi(game={game})")
    assert form.num_histories == native.num_histories
    assert same_rows(form, native)
    assert team_optimum(form) == pytest.approx(team_optimum(native))


def test_openspiels_own_tiny_hanabi_is_game_e() -> None:
    pytest.importorskip("pyspiel")
    assert same_rows(SequenceForm.of(load("openspiel:tiny_hanabi")), form_of("tiny_hanabi(game=E)"))


def test_trade_comm_is_openspiels() -> None:
    """There P2 always hears the message first, there are as many messages as items, and a trade is give and get."""
    pytest.importorskip("pyspiel")
    form = SequenceForm.of(load("openspiel:trade_comm(num_items=2)"))
    native = form_of("trade_comm(items=2,sees_message=true)")
    assert form.num_histories == native.num_histories
    assert same_rows(form, native)
    assert team_optimum(form) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("abstracted", ["true", "false"])
def test_tiny_bridge_is_openspiels(abstracted: str) -> None:
    pytest.importorskip("pyspiel")
    form = SequenceForm.of(load(f"openspiel:tiny_bridge_2p(abstracted={abstracted})"))
    assert form.num_histories == 107129  # it deals hands in both games
    assert same_rows(form, form_of(f"tiny_bridge(abstracted={abstracted})"))
