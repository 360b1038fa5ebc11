"""The betting of a spot: legal actions by hand for every rule, payoffs with rake and dead money, and what always holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extent import examples
from infoset.errors import ParameterError
from infoset.games.bet_sizes import STREETS, parse_sizes_by_street
from infoset.games.betting import ACT, CARD, FOLDED, NOBODY, SHOWDOWN, Betting, BettingRules


def rules(
    bets: str = "50%", raises: str = "3x", donks: str = "", pot: int = 100, stack: int = 400, **more: Any
) -> BettingRules:  # fmt: skip
    return BettingRules(
        pot, stack, parse_sizes_by_street(bets, "bets"), parse_sizes_by_street(raises, "raises", raising=True),
        parse_sizes_by_street(donks, "donks"), **more,
    )  # fmt: skip


def play(own: BettingRules, *actions: str, street: int = 0) -> Betting:
    """Play actions, and ``card`` for a card, all of which must be legal."""
    betting = own.start(street)
    for action in actions:
        if action == "card":
            assert betting.status == CARD
            betting = own.deal(betting)
        else:
            assert action in own.actions(betting)
            betting = own.after(betting, action)
    return betting


def actions_after(own: BettingRules, *actions: str, street: int = 0) -> tuple[str, ...]:
    return own.actions(play(own, *actions, street=street))


def test_bets_are_shares_of_the_pot() -> None:
    assert actions_after(rules("33%,75%,a")) == ("check", "bet 33", "bet 75", "bet 400")
    assert actions_after(rules("300%")) == ("check", "bet 300")
    assert actions_after(rules("500%")) == ("check", "bet 400")
    assert actions_after(rules("none")) == ("check",)
    assert actions_after(rules(""), "check") == ("check",)


def test_raises_are_multiples_of_the_bet_or_shares_of_the_pot_after_a_call() -> None:
    assert actions_after(rules(raises="2.5x,100%"), "bet 50") == ("fold", "call", "raise 125", "raise 250")
    assert actions_after(rules(raises="3x"), "check", "bet 50", "raise 150") == ("fold", "call", "raise 400")
    assert actions_after(rules(raises="none"), "bet 50") == ("fold", "call")


def test_a_multiple_is_of_the_bet_on_this_street() -> None:
    own = rules("50%; turn: 30%", "2.5x", stack=1000)
    # 100 + 2 * 50 chips lie there; P1 bets 60 on the turn, P2 raises to 150 on it, P1 to 375
    before = ("bet 50", "call", "card", "bet 110")
    assert actions_after(own, *before) == ("fold", "call", "raise 200")
    assert actions_after(own, *before, "raise 200") == ("fold", "call", "raise 425")


def test_the_least_raise_is_as_much_again() -> None:
    assert actions_after(rules("50%", "1.2x"), "bet 50") == ("fold", "call", "raise 100")
    assert actions_after(rules("50%", "10c"), "bet 50") == ("fold", "call", "raise 100")
    assert actions_after(rules("50%", "10c"), "bet 50", "raise 100") == ("fold", "call", "raise 150")
    assert actions_after(rules("1%", pot=10)) == ("check", "bet 1")
    assert actions_after(rules("75%", "10c", stack=100), "bet 75") == ("fold", "call", "raise 100")


def test_chips() -> None:
    assert actions_after(rules("20c,50c")) == ("check", "bet 20", "bet 50")
    assert actions_after(rules("20c", "60c"), "bet 20") == ("fold", "call", "raise 80")


def test_geometric_sizes() -> None:
    own = rules("e", "e", stack=1300)
    assert actions_after(own) == ("check", "bet 100")
    assert actions_after(own, "bet 100", "call", "card") == ("check", "bet 400")
    assert actions_after(own, "bet 100", "call", "card", "bet 400", "call", "card") == ("check", "bet 1300")
    assert actions_after(rules("2e", stack=400)) == ("check", "bet 100")
    assert actions_after(rules("3e60%", stack=1300)) == ("check", "bet 60")
    assert actions_after(rules("e", stack=1300), street=2) == ("check", "bet 1300")
    # facing 100: 300 in the middle after a call, 1,200 left, so that two bets of the pot are all-in
    assert actions_after(rules("100%", "2e", stack=1300), "bet 100") == ("fold", "call", "raise 400")


def test_all_in_is_called_or_not() -> None:
    assert actions_after(rules("a"), "bet 400") == ("fold", "call")


def test_all_in_is_added_where_it_is_small() -> None:
    own = rules("50%", "3x", add_allin=1.5, stack=400)
    assert actions_after(own) == ("check", "bet 50")
    assert actions_after(own, "check", "bet 50") == ("fold", "call", "raise 150")  # 350 left after a call of 200
    assert actions_after(own, "bet 50", "raise 150") == ("fold", "call", "raise 400")
    assert actions_after(rules("50%", add_allin=1.5, stack=150)) == ("check", "bet 50", "bet 150")
    assert actions_after(rules("50%", add_allin=1.5, stack=151)) == ("check", "bet 50")
    assert actions_after(rules("none", add_allin=1.5, stack=150)) == ("check",)  # there is nothing to add it to


def test_all_in_is_forced_where_little_would_be_left() -> None:
    """A bet of 100 leaves a pot of 300 after a call."""
    assert actions_after(rules("100%", force_allin=0.2, stack=160)) == ("check", "bet 160")
    assert actions_after(rules("100%", force_allin=0.2, stack=161)) == ("check", "bet 100")


def test_close_sizes_are_merged_from_the_largest_down() -> None:
    # 1 + X are 2.0, 1.9, 1.75 and 1.5
    assert actions_after(rules("50%,75%,90%,100%", merge=0.1)) == ("check", "bet 50", "bet 75", "bet 100")
    assert actions_after(rules("50%,75%,90%,100%", merge=0.05)) == ("check", "bet 50", "bet 75", "bet 90", "bet 100")
    assert actions_after(rules("50%,75%,90%,100%", merge=0.2)) == ("check", "bet 50", "bet 100")
    assert actions_after(rules("50%,75%,90%,100%", merge=0.5)) == ("check", "bet 100")


def test_a_cap_counts_bets_and_raises_of_a_street() -> None:
    own = rules("10%", "2x", cap=2)
    assert actions_after(own, "bet 10") == ("fold", "call", "raise 20")
    assert actions_after(own, "bet 10", "raise 20") == ("fold", "call")
    assert actions_after(own, "bet 10", "raise 20", "call", "card") == ("check", "bet 34")
    assert actions_after(rules("10%", "2x", cap=1), "bet 10") == ("fold", "call")


def test_donk_bets_are_p1s_into_the_last_aggressor() -> None:
    own = rules("50%", donks="33%; river: none")
    called = ("check", "bet 50", "call", "card")
    assert actions_after(own, *called) == ("check", "bet 116")  # a third of 200
    assert actions_after(own, *called, "check") == ("check", "bet 150")
    assert actions_after(own, "bet 50", "call", "card") == ("check", "bet 150")  # P1 was the aggressor
    assert actions_after(own, "check", "check", "card") == ("check", "bet 50")
    assert actions_after(own, *called, "check", "bet 150", "call", "card") == ("check",)
    assert actions_after(rules("50%"), *called) == ("check", "bet 150")  # without a list of its own


def test_streets_end_by_a_check_or_a_call() -> None:
    own = rules()
    assert play(own, "check", "check") == Betting(0, NOBODY, (0, 0), 0, NOBODY, CARD, 0)
    assert play(own, "check", "bet 50", "call") == Betting(0, NOBODY, (50, 50), 1, 1, CARD, 0)
    assert play(own, "check", "bet 50", "call", "card") == Betting(1, 0, (50, 50), 0, 1, ACT, 50)
    assert play(own, "check", "check", street=2).status == SHOWDOWN
    assert play(own, "bet 50", "fold") == Betting(0, NOBODY, (50, 0), 1, NOBODY, FOLDED, 0)


def test_after_all_in_cards_come_without_checks() -> None:
    called = play(rules("a"), "bet 400", "call")
    assert (called.street, called.mover, called.status) == (0, NOBODY, CARD)
    turn = rules("a").deal(called)
    assert (turn.street, turn.mover, turn.status) == (1, NOBODY, CARD)
    river = rules("a").deal(turn)
    assert (river.street, river.mover, river.status) == (2, NOBODY, SHOWDOWN)


def test_payoffs() -> None:
    own = rules("100%")
    assert own.payoffs(play(own, "bet 100", "fold")).tolist() == [[50, -50]]
    assert own.payoffs(play(own, "check", "bet 100", "fold")).tolist() == [[-50, 50]]
    assert own.payoffs(play(own, "bet 100", "call", street=2)).tolist() == [[150, -150], [0, 0], [-150, 150]]


def test_rake_is_taken_from_what_was_called_up_to_its_cap() -> None:
    own = rules("100%", rake=0.05)
    assert own.payoffs(play(own, "bet 100", "fold")).tolist() == [[45, -50]]
    assert own.payoffs(play(own, "bet 100", "call", street=2)).tolist() == [[135, -150], [-7.5, -7.5], [-150, 135]]
    capped = rules("100%", rake=0.05, rake_cap=3)
    assert capped.payoffs(play(capped, "bet 100", "call", street=2)).tolist() == [
        [147, -150],
        [-1.5, -1.5],
        [-150, 147],
    ]


def test_dead_money_is_won_by_whoever_wins() -> None:
    own = rules("100%", dead=20)
    assert own.payoffs(play(own, "bet 100", "fold")).tolist() == [[60, -40]]
    assert own.payoffs(play(own, "check", "check", street=2)).tolist() == [[60, -40], [10, 10], [-40, 60]]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"pot": 0}, "pot=0 is out of range; allowed: 1 to 1000000"),
        ({"stack": 0}, "stack=0 is out of range"),
        ({"stack": True}, "stack=True is not an integer"),
        ({"dead": 101}, "dead=101 is out of range; allowed: 0 to 100"),
        ({"cap": -1}, "cap=-1 is out of range"),
        ({"rake": 1.01}, "rake=1.01; allowed: numbers from 0 to 1"),
        ({"rake": float("nan")}, "rake=nan"),
        ({"rake_cap": -1}, "rake_cap=-1"),
        ({"add_allin": -0.1}, "add_allin=-0.1"),
        ({"force_allin": -0.1}, "force_allin=-0.1"),
        ({"merge": -0.1}, "merge=-0.1"),
        ({"bets": "401c"}, "bets: 401c is more than the stack of 400; allowed: 1c to 400c, or a"),
        ({"raises": "401c"}, "raises: 401c is more than the stack"),
        ({"donks": "river: 401c"}, "donks: 401c is more than the stack"),
    ],
)
def test_wrong_values_are_one_line(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        rules(**values)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def follow(own: BettingRules, betting: Betting) -> list[Betting]:
    """Return what may follow."""
    if betting.status == CARD:
        return [own.deal(betting)]
    return [own.after(betting, action) for action in own.actions(betting)]


def reachable(own: BettingRules, street: int, most: int) -> Iterator[Betting]:
    """Yield up to ``most`` bettings that may be reached."""
    todo, seen = [own.start(street)], {own.start(street)}
    while todo and len(seen) < most:
        betting = todo.pop()
        yield betting
        for after in follow(own, betting):
            if after not in seen:
                seen.add(after)
                todo.append(after)


SIZE = st.sampled_from(["10%", "33%", "100%", "250%", "1c", "7c", "e", "2e", "3e80%", "a"])
LISTS = st.lists(SIZE, max_size=3, unique=True).map(lambda own: ",".join(own) or "none")
RAISES = st.lists(SIZE | st.sampled_from(["2x", "2.5x", "5x"]), max_size=3, unique=True).map(
    lambda own: ",".join(own) or "none"
)
SHARES = st.sampled_from([0.0, 0.1, 0.5, 1.5])


@st.composite
def any_rules(draw: st.DrawFn) -> BettingRules:
    pot = draw(st.integers(1, 500))
    return rules(
        draw(LISTS), draw(RAISES), draw(LISTS), pot, draw(st.integers(7, 2000)), cap=draw(st.integers(0, 4)),
        add_allin=draw(SHARES), force_allin=draw(SHARES), merge=draw(SHARES), rake=draw(st.floats(0, 1)),
        rake_cap=draw(st.integers(0, 10)), dead=draw(st.integers(0, pot)),
    )  # fmt: skip


@examples(60)
@given(any_rules(), st.integers(0, 2))
def test_what_holds_in_every_spot(own: BettingRules, street: int) -> None:
    for betting in reachable(own, street, 300):
        assert 0 <= min(betting.stakes) <= max(betting.stakes) <= own.stack
        assert (betting.status == ACT) == (betting.mover != NOBODY)
        actions = own.actions(betting)
        assert (len(actions) > 0) == (betting.status == ACT)
        assert len(set(actions)) == len(actions)
        assert own.actions(betting) == own._find_actions(betting)
        after = follow(own, betting)
        assert len(set(after)) == len(after)
        for one in after:
            assert sum(one.stakes) >= sum(betting.stakes)
        if betting.status == ACT:
            sizes = [one.stakes[betting.mover] for one in after[1 + (actions[0] == "fold") :]]
            faced = betting.stakes[1 - betting.mover] - betting.stakes[betting.mover]
            assert sizes == sorted(sizes)
            assert all(
                to == own.stack or to - betting.stakes[1 - betting.mover] >= max(faced, 1) for to in sizes
            )  # fmt: skip
            assert not (own.cap and betting.raises >= own.cap and sizes)
        if betting.status in (FOLDED, SHOWDOWN):
            check_payoffs(own, betting)


def check_payoffs(own: BettingRules, betting: Betting) -> None:
    """The players lose nothing to each other: the payoffs add up to the dead money less the rake."""
    called = min(betting.stakes)
    paid = own.payoffs(betting)
    assert paid.shape == (1 if betting.status == FOLDED else 3, 2)
    rake = own.dead - paid.sum(axis=1)
    expected = min(own.rake * (own.pot + 2 * called), own.rake_cap or np.inf)
    assert rake == pytest.approx(np.full(len(paid), expected), abs=1e-9 * own.pot + 1e-6)
    assert paid.min() >= -((own.pot - own.dead) / 2 + called) - 1e-9


@examples(60)
@given(any_rules(), st.integers(0, 2), st.randoms(use_true_random=False))
def test_every_play_ends(own: BettingRules, street: int, random: Any) -> None:
    """Raises at least double, so that even without a cap there are few on a street."""
    betting = own.start(street)
    for _ in range(3 * 20 * len(STREETS)):
        if betting.status in (FOLDED, SHOWDOWN):
            return
        betting = random.choice(follow(own, betting)[-2:])
    raise AssertionError(betting)
