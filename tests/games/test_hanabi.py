"""Hanabi step for step beside OpenSpiel's, which wraps the Hanabi Learning Environment, and by hand."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from extent import sample
from infoset import load
from infoset.base import Action, InformationState, State, own_record
from infoset.errors import IllegalActionError, ParameterError, UnsupportedGameError
from infoset.games.hanabi import COLORS, UNSEEN, HanabiRules, HanabiState
from infoset.testing import check_game
from infoset.view.pictures import picture_text, record_words, seen

# players, colours, ranks, cards a hand, information tokens, lives; how many games are played
PLAYED: dict[tuple[int, ...], int] = {
    (2, 2, 2, 2, 2, 1): 300,
    (2, 1, 1, 1, 1, 1): 200,
    (2, 1, 2, 2, 1, 2): 300,
    (2, 2, 5, 4, 3, 20): 150,
    (2, 5, 5, 5, 8, 3): 40,
    (2, 2, 4, 8, 3, 1): 150,
    (3, 2, 3, 2, 3, 2): 300,
    (3, 1, 5, 3, 0, 2): 200,
    (3, 5, 1, 2, 2, 1): 200,
    (4, 3, 3, 2, 1, 3): 150,
    (5, 3, 3, 1, 2, 30): 100,
    (5, 5, 5, 4, 8, 3): 20,
}


def names(setting: Sequence[int]) -> tuple[str, str]:
    """The name of a game here and in OpenSpiel."""
    here = "hanabi(players={},colors={},ranks={},hand={},info={},lives={})"
    there = "hanabi(players={},colors={},ranks={},hand_size={},max_information_tokens={},max_life_tokens={})"
    return here.format(*setting), there.format(*setting)


def rules_of(name: str) -> HanabiRules:
    game = load(name)
    assert isinstance(game, HanabiRules)
    return game


class Seen(NamedTuple):
    """What OpenSpiel's text of an observation shows."""

    lives: int
    tokens: int
    fireworks: tuple[int, ...]
    hands: list[list[str]]  # the observer's own first
    deck: int
    discards: list[str]


def read(text: str) -> Seen:
    facts = dict(re.findall(r"^([A-Z][a-z ]+): ?(.*)$", text, re.MULTILINE))
    hands = text.partition("Hands:\n")[2].partition("Deck size")[0].split("-----\n")
    return Seen(
        int(facts["Life tokens"]),
        int(facts["Info tokens"]),
        tuple(int(pile[1:]) for pile in facts["Fireworks"].split()),
        [re.findall(r"^(\w\w) \|\|", hand, re.MULTILINE) for hand in hands],
        int(facts["Deck size"]),
        facts["Discards"].split(),
    )


class Table:
    """A game that is played here and in OpenSpiel at once, compared at every step."""

    def __init__(self, setting: Sequence[int]) -> None:
        pyspiel = pytest.importorskip("pyspiel")
        here, there = names(setting)
        self.game, self.spiel = rules_of(here), pyspiel.load_game(there)
        self.players = range(len(self.game.players))
        self.encoder = self.game.tensor_encoder("observation")
        assert list(self.encoder.shape) == self.spiel.observation_tensor_shape()
        assert len(self.encoder.actions) == self.spiel.num_distinct_actions()

    def play(self, rng: random.Random, wise: float, look: bool = True) -> tuple[list[InformationState], float, str]:
        """Play one game, fitting cards with probability ``wise``; return what was seen, the score and how it ended.

        With ``look``, compare what the players see too.
        """
        state: State = self.game.start().state
        there = self.spiel.new_initial_state()
        known: list[InformationState] = [()] * len(self.players)
        encoded = [self.encoder.start(p) for p in self.players]
        memos = [memo for memo, _ in encoded]
        tensors = [dict(writes) for _, writes in encoded]
        lost: list[str] = []
        dealt = False
        while not state.terminal:
            assert not there.is_terminal() and list(state.returns()) == there.returns()
            joint: list[Action | None] = [None] * len(self.players)
            chance = None
            if there.is_chance_node():
                assert not any(map(state.legal_actions, self.players))
                outcomes = state.chance_outcomes(joint)
                assert [p for _, p in outcomes] == [p for _, p in there.chance_outcomes()]
                k = rng.choices(range(len(outcomes)), [p for _, p in outcomes])[0]
                chance, number = outcomes[k][0], there.chance_outcomes()[k][0]
                assert there.action_to_string(number) == f"(Deal {chance})"
            else:
                dealt = True
                assert not state.chance_outcomes(joint)
                mover = there.current_player()
                assert not any(state.legal_actions(p) for p in self.players if p != mover)
                actions = state.legal_actions(mover)
                assert [self.encoder.actions.index(action) for action in actions] == there.legal_actions()
                assert isinstance(state, HanabiState)
                joint[mover] = choose(state, mover, actions, rng, wise)
                number = self.encoder.actions.index(str(joint[mover]))
                assert words_there(str(joint[mover])) == there.action_to_string(number)
            before = state
            step = state.play(joint, chance)
            state = step.state
            there.apply_action(number)
            for p in self.players:
                record = own_record(joint[p], step.observation(p))
                assert record is not None
                known[p] = (*known[p], record)
                if look:
                    memos[p], writes = self.encoder.after(p, memos[p], record)
                    tensors[p].update(writes)
            if chance is None:
                lost += [card for card in [lost_card(before, step.observation(mover), str(joint[mover]))] if card]
            if dealt and look:
                self.compare(before if state.terminal else state, state.terminal, there, tensors, lost)
        assert there.is_terminal() and there.returns() == list(state.returns())
        assert len(set(state.returns())) == 1
        end = "lives" if "Life tokens: 0\n" in str(there) else "turns"
        full = self.game.setting.colors * self.game.setting.ranks
        return known, state.returns()[0], "all" if state.returns()[0] == full else end

    def compare(self, state: State, over: bool, there: Any, tensors: list[dict[int, float]], lost: list[str]) -> None:
        """Compare what each player sees; of the end, which has no cards here, the tensors alone."""
        assert isinstance(state, HanabiState)
        size = self.encoder.shape[0]
        for p in self.players:
            assert [tensors[p].get(k, 0.0) for k in range(size)] == there.observation_tensor(p)
            found = read(there.observation_string(p))
            assert sorted(found.discards) == sorted(lost)
            if not over:
                hands = [state.hands[(p + k) % len(self.players)] for k in self.players]
                own = ["XX"] * len(hands[0])
                assert found.hands == [own, *map(list, hands[1:])]
                board = state.board
                assert (found.lives, found.tokens, found.fireworks) == (board.lives, board.tokens, board.fireworks)
                assert found.deck == sum(state.deck)


def words_there(action: str) -> str:
    """What OpenSpiel calls an action."""
    verb, *rest = action.split()
    if verb != "hint":
        return f"({verb.capitalize()} {int(rest[0]) - 1})"
    seat = rest[0] if len(rest) == 2 else "+1"
    return f"(Reveal player {seat} {'color' if rest[-1] in COLORS else 'rank'} {rest[-1]})"


def fits(state: HanabiState, card: str) -> bool:
    return state.board.fireworks[COLORS.index(card[0])] == int(card[1]) - 1


def lost_card(state: State, shown: Any, action: str) -> str:
    """The card that a turn puts to the discards; empty without one."""
    assert isinstance(state, HanabiState)
    if action.startswith("hint") or (action.startswith("play") and fits(state, shown)):
        return ""
    return str(shown)


def choose(
    state: HanabiState, mover: int, actions: Sequence[Action], rng: random.Random, wise: float
) -> Action:  # fmt: skip
    """A random action; with probability ``wise`` one of those that play no card in vain, and a fitting card first."""
    if rng.random() >= wise:
        return rng.choice(actions)
    plays = {f"play {k}": card for k, card in enumerate(state.hands[mover], 1)}
    good = [action for action, card in plays.items() if fits(state, card)]
    return rng.choice(good or [action for action in actions if action not in plays] or actions)


@pytest.mark.parametrize("setting", PLAYED)
def test_random_games_are_those_of_openspiel(setting: tuple[int, ...]) -> None:
    """Actions, chance and payoffs at every step of games played well or badly; in some also all that players see."""
    table, rng = Table(setting), random.Random(str(setting))
    ends: Counter[str] = Counter()
    for k in range(sample(PLAYED[setting], 10 * PLAYED[setting])):
        ends[table.play(rng, wise=(0, 0.7, 1)[k % 3], look=k % 10 == k // 10 % 10)[2]] += 1
    assert len(ends) > 1, ends


def test_games_end_in_all_three_ways() -> None:
    table, rng = Table((2, 2, 3, 2, 3, 2)), random.Random(1)
    found = [table.play(rng, wise, look=False)[1:] for wise in (0, 0.9, 1) for _ in range(40)]
    assert {end for _, end in found} == {"lives", "turns", "all"}
    assert {score for score, end in found if end == "lives"} == {0.0}
    assert len({score for score, end in found if end == "turns"}) > 2


@pytest.mark.parametrize("setting", [(2, 1, 2, 1, 1, 1), (2, 1, 2, 2, 1, 1), (2, 2, 1, 3, 1, 1), (3, 1, 2, 1, 1, 1)])
def test_players_tell_histories_apart_as_openspiel_shows_them(setting: tuple[int, ...]) -> None:
    """Two histories of a tree are one to a player where its actions and OpenSpiel's tensors are, and nowhere else."""
    pyspiel = pytest.importorskip("pyspiel")
    here, there = names(setting)
    game = rules_of(here)
    columns, players = game.tensor_encoder("observation").actions, range(len(game.players))
    todo: list[Any] = [
        (game.start().state, pyspiel.load_game(there).new_initial_state(), ((),) * len(players), ((),) * len(players))
    ]
    classes: list[set[Any]] = [set() for _ in players]
    own_hands: dict[Any, set[Any]] = {}
    while todo:
        state, spiel, known, shown = todo.pop()
        if isinstance(state, HanabiState):
            for p in players:
                own_hands.setdefault((p, known[p]), set()).add(state.hands[p])
        if spiel.current_player() >= 0 or state.terminal:
            shown = tuple([(*shown[p], *spiel.observation_tensor(p)) for p in players])
            for p in players:
                classes[p].add((known[p], shown[p]))
        if state.terminal:
            continue
        mover, numbers = spiel.current_player(), {}
        if spiel.is_chance_node():
            outcomes = zip(state.chance_outcomes(()), spiel.legal_actions(), strict=True)
            numbers = {card: number for (card, _), number in outcomes}
        for action in numbers or state.legal_actions(mover):
            joint = tuple([action if p == mover else None for p in players])
            step = state.play(joint, action if numbers else None)
            after = spiel.child(numbers[action] if numbers else columns.index(action))
            records = [own_record(joint[p], step.observation(p)) for p in players]
            own = tuple([(*shown[p], *([action] if p == mover else [])) for p in players])
            todo.append((step.state, after, tuple([(*known[p], records[p]) for p in players]), own))
    for found in classes:
        ours, theirs = Counter(one for one, _ in found), Counter(other for _, other in found)
        assert max(ours.values()) == max(theirs.values()) == 1
    assert max(map(len, own_hands.values())) > 1  # a player does not know its own cards


@pytest.mark.parametrize("setting", [*list(PLAYED)[:3], *list(PLAYED)[-2:]])
def test_conformance(setting: tuple[int, ...]) -> None:
    game = load(names(setting)[0])
    assert load(game.name) == game
    assert check_game(game, plays=10).plays == 10


SMALL = "hanabi(players=2,colors=2,ranks=2,hand=2,info=2,lives=2)"
DEAL = ("R1", "Y2", "Y1", "R2")


def follow(name: str, *events: str) -> tuple[State, list[InformationState]]:
    """The state and the knowledge after events: cards that are drawn and moves, in order."""
    step = load(name).start()
    known: list[InformationState] = [() for _ in load(name).players]
    for event in events:
        state = step.state
        joint: list[Action | None] = [event if event in state.legal_actions(p) else None for p in range(len(known))]
        step = state.play(joint, event if event in dict(state.chance_outcomes(joint)) else None)
        for p, action in enumerate(joint):
            record = own_record(action, step.observation(p))
            known[p] = known[p] if record is None else (*known[p], record)
    return step.state, known


def test_a_game_by_hand() -> None:
    """Three cards are played, one in vain; the second player hints last, and the first has one more turn."""
    state, known = follow(SMALL, *DEAL)
    assert known == [
        ((None, "?"), (None, "?"), (None, "Y1"), (None, "R2")),
        tuple((None, c) for c in ("R1", "Y2", "?", "?")),
    ]
    assert state.legal_actions(0) == (
        "play 1",
        "play 2",
        "hint R",
        "hint Y",
        "hint 1",
        "hint 2",
    )  # all tokens are there
    assert state.legal_actions(1) == ()
    opening = (*DEAL, "hint R", "play 2", "R1")
    state, known = follow(SMALL, *opening)
    assert known[0][4:] == (("hint R", (2,)), (None, ("play 2", "R2")), (None, "R1"))
    assert known[1][4:] == ((None, ("hint R", (2,))), ("play 2", "R2"), (None, UNSEEN))
    assert isinstance(state, HanabiState)
    assert state.board == ((0, 0), 1, 1)  # a life is lost
    assert state.legal_actions(0)[:3] == ("discard 1", "discard 2", "play 1")
    state, known = follow(SMALL, *opening, "play 1", "Y1", "play 1", "R1", "play 1", "Y1")
    assert isinstance(state, HanabiState)
    assert state.board == ((1, 2), 2, 1)  # the second yellow card completes its firework and brings a token
    assert (state.hands, any(state.deck), state.turns) == ((("Y1", "Y1"), ("R1", "R1")), False, 2)
    for last, score in (("discard 1", 3.0), ("play 1", 0.0)):  # a card in vain takes the last life and all points
        ending = (*opening, "play 1", "Y1", "play 1", "R1", "play 1", "Y1", "hint 1", last)
        state, _ = follow(SMALL, *ending)
        assert state.terminal and state.returns() == (score, score)


def test_without_tokens_nobody_hints() -> None:
    state, _ = follow("hanabi(colors=2,ranks=2,hand=2,info=1)", *DEAL, "hint 2")
    assert state.legal_actions(1) == ("discard 1", "discard 2", "play 1", "play 2")
    with pytest.raises(IllegalActionError, match="cannot play 'hint R'"):
        state.play((None, "hint R"))


def test_hints_to_one_of_several_name_the_seat() -> None:
    state, known = follow("hanabi(players=3,colors=2,ranks=2,hand=1)", "R1", "Y1", "Y2", "hint +2 Y")
    assert state.legal_actions(1) == ("discard 1", "play 1", "hint +1 Y", "hint +2 R", "hint +1 2", "hint +2 1")
    assert known[2][-1] == (None, ("hint +2 Y", (1,)))
    words = [
        record_words(load("hanabi(players=3,colors=2,ranks=2,hand=1)"), p, own[-1], own[:-1])
        for p, own in enumerate(known)
    ]
    assert words == ["you hint Y: P3's card 1", "P1 hints Y: P3's card 1", "P1 hints Y: your card 1"]


def test_a_player_is_shown_the_hints_about_its_cards() -> None:
    game = load(SMALL)
    state, known = follow(SMALL, *DEAL, "hint R", "hint 1", "play 1", "R1")
    assert picture_text(seen(game, 1, known[1], state.legal_actions(1))).splitlines() == [
        "P1          [Y2] [R1]                 plays R1",
        "            2",
        "P2          [?] [?]",
        "            Y   R",
        "fireworks   [R1]* [Y0]                1 of 4",
        "discards",
        "tokens      ·· hints 0  ♥♥ lives 2    3 cards in the deck",
    ]
    assert [record_words(game, 1, record, known[1][:k]) for k, record in enumerate(known[1])][3:] == [
        "you draw a card", "P1 hints R: your card 2", "you hint 1: P1's card 1", "P1 plays card 1, R1", "P1 draws R1",
    ]  # fmt: skip


def test_each_seat_sees_all_hands_but_its_own() -> None:
    """In every view the own cards lie face down until somebody else looks, too, and all other hands are open."""
    game, rng = rules_of("hanabi(players=3)"), random.Random(3)
    step, known, made = game.start(), [()] * 3, (None,) * 3
    for _ in range(60):
        for p in range(3):
            record = own_record(made[p], step.observation(p))
            known[p] = known[p] if record is None else (*known[p], record)
        state = step.state
        if not isinstance(state, HanabiState):
            break
        for p in range(3):
            hands = [area["cards"] for area in seen(game, p, known[p])["areas"][:3]]
            assert hands == [[UNSEEN] * len(hand) if q == p else [*hand] for q, hand in enumerate(state.hands)]
        assert [area["cards"] for area in game.picture(known)["areas"][:3]] == [[*hand] for hand in state.hands]
        made = tuple([rng.choice(actions) if (actions := state.legal_actions(p)) else None for p in range(3)])
        outcomes = dict(state.chance_outcomes(made))
        step = state.play(made, rng.choices([*outcomes], [*outcomes.values()])[0] if outcomes else None)


def test_the_cards_of_the_last_turn_are_marked() -> None:
    """A hint marks the cards that it names, and a card that leaves a hand marks its firework or its pile."""

    def marked(*events: str) -> dict[str, tuple[list[str], list[int], str]]:
        _, known = follow(SMALL, *DEAL, *events)
        areas = game.picture([known[0], None])["areas"]
        return {area["title"]: (area["cards"], area["marked"], area["note"]) for area in areas if area.get("marked")}

    game = rules_of(SMALL)
    assert marked("hint R") == {"P2": (["Y1", "R2"], [1], "")}
    assert marked("hint R", "play 2") == {"discards": (["R2"], [0], "")}
    assert marked("hint R", "play 2", "R1", "play 1") == {"fireworks": (["R1", "Y0"], [0], "1 of 4")}
    assert marked("hint R", "discard 1", "R1", "play 1") == {"fireworks": (["R1", "Y0"], [0], "1 of 4")}
    assert marked("hint R", "play 2", "R1", "discard 2") == {"discards": (["R2", "Y2"], [1], "")}
    _, known = follow(SMALL, *DEAL, "hint R", "play 2")
    assert game.picture([None, known[1]])["areas"][1]["note"] == "plays R2, which does not fit"
    assert record_words(game, 0, known[0][-1], known[0][:-1]) == "P2 plays card 2, R2, which does not fit"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("hanabi(players=6)", "hanabi: players=6 is out of range; allowed: 2 to 5"),
        ("hanabi(colors=0)", "hanabi: colors=0 is out of range; allowed: 1 to 5"),
        ("hanabi(ranks=6)", "hanabi: ranks=6 is out of range; allowed: 1 to 5"),
        ("hanabi(hand=9)", "hanabi: hand=9 is out of range; allowed: 0 to 8"),
        ("hanabi(info=-1)", "hanabi: info=-1 is out of range; allowed: 0 to 50"),
        ("hanabi(lives=0)", "hanabi: lives=0 is out of range; allowed: 1 to 50"),
        ("hanabi(colors=1,ranks=2,hand=3)", "hanabi: 4 cards, where 2 players need 3 each"),
        ("hanabi(players=3,colors=1)", "hanabi: 10 cards, where 3 players need 5 each"),
    ],
)
def test_wrong_parameters_are_one_line(name: str, why: str) -> None:
    with pytest.raises(ParameterError) as error:
        load(name)
    assert str(error.value) == why


def test_the_usual_hand_is_not_named() -> None:
    assert load("hanabi(hand=5)").name == "hanabi"
    assert load("hanabi(players=4,hand=5)").name == "hanabi(players=4,hand=5)"
    assert [rules_of(f"hanabi(players={players})").setting.hand for players in range(2, 6)] == [5, 5, 4, 4]


def test_openspiel_has_no_tensor_of_information_states() -> None:
    with pytest.raises(UnsupportedGameError, match="allowed: observation"):
        rules_of("hanabi").tensor_encoder("information-state")
