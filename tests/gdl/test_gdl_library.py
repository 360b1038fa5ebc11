"""The library of game descriptions: valid, playable, and the games that their headers describe."""

from collections import Counter
from functools import cache
from importlib.resources import files
from itertools import product

import numpy as np
import pytest

from gdl_interpreter import Interpreter
from infoset.games.kuhn_poker import kuhn_poker
from infoset.games.leduc_poker import leduc_poker
from infoset.gdl.checks import check
from infoset.gdl.syntax import Description, parse_gdl

LIBRARY = files("infoset.gdl") / "library"
NAMES = sorted(file.name.removesuffix(".gdl") for file in LIBRARY.iterdir() if file.name.endswith(".gdl"))
PERFECT = ("breakthrough", "connect_four", "hex", "tic_tac_toe")
SLOW = {"breakthrough": 1, "connect_four": 1, "hex": 2}


def described(name: str) -> Description:
    return parse_gdl((LIBRARY / f"{name}.gdl").read_text(encoding="ascii"), name)


class Play:
    """The reference interpreter with a memory; moves, percepts and roles as text."""

    def __init__(self, name: str) -> None:
        self.rules = Interpreter(described(name))
        self.roles = [str(role) for role in self.rules.roles]
        self.start = self.rules.start()

    @cache  # noqa: B019
    def look(self, state):
        """Whether the game is over, the legal moves and the goal values."""
        facts = self.rules.model(state)
        legal = {role: {} for role in self.roles}
        for role, move in sorted(facts["legal", 2], key=str):
            legal[str(role)][str(move)] = move
        goals = {role: [int(str(v)) for r, v in facts["goal", 2] if str(r) == role] for role in self.roles}
        return bool(facts["terminal", 0]), legal, goals

    @cache  # noqa: B019
    def step(self, state, *moves):
        """The next state and each role's percepts; one move a role, in order."""
        legal = self.look(state)[1]
        joint = {role: legal[name][move] for role, name, move in zip(self.rules.roles, self.roles, moves, strict=True)}
        state, seen = self.rules.step(state, joint)
        return state, {str(role): frozenset(map(str, percepts)) for role, percepts in seen.items()}

    def script(self, *joints, state=None):
        """The state, what each role saw at the last step, and the legal moves, after moves written in full."""
        state, seen = state or self.start, None
        for joint in joints:
            state, seen = self.step(state, *joint.split(", "))
        return state, seen, self.look(state)[1]

    def random(self, rng, narrow=False):
        """Steps and goals of a random play, and the (role, history, legal moves) on the way.

        A narrow play takes one of the first two legal moves, so that many plays share their histories.
        """
        state, length, known = self.start, 0, []
        histories = dict.fromkeys(self.roles, ())
        while True:
            over, legal, goals = self.look(state)
            if over:
                return length, goals, known
            known += [(role, histories[role], tuple(legal[role])) for role in self.roles if role != "random"]
            assert all(legal.values())
            action_sets = [tuple(action_set)[: 2 if narrow else None] for action_set in legal.values()]
            moves = [action_set[int(rng.integers(len(action_set)))] for action_set in action_sets]
            state, seen = self.step(state, *moves)
            histories = {r: (*histories[r], (m, seen[r])) for r, m in zip(self.roles, moves, strict=True)}
            length += 1


@pytest.fixture(scope="module")
def play():
    """One ``Play`` a game, shared by the tests."""
    return cache(Play)


@pytest.mark.parametrize("name", NAMES)
def test_description(name) -> None:
    """No defects, a sentence for the list, complete information exactly where it is meant."""
    description = described(name)
    assert check(description) == []
    first = (LIBRARY / f"{name}.gdl").read_text(encoding="ascii").splitlines()[0]
    assert first.startswith("; ")
    assert first.endswith(".")
    assert len(first) <= 102
    heads = {rule.head.functor for rule in description.rules}
    assert ("sees" in heads) == (name not in PERFECT)


@pytest.mark.parametrize("name", NAMES)
def test_random_play(name, play) -> None:
    """Everyone can always move, the game ends with one goal a role, and what a role knows decides its legal moves."""
    game, rng, action_sets = play(name), np.random.default_rng(5), {}
    for k in range(SLOW.get(name, 12)):
        _, goals, known = game.random(rng, narrow=name not in SLOW and k % 2 == 0)
        for role, found in goals.items():
            assert len(found) == 1 or (role == "random" and not found)
            assert all(0 <= value <= 100 for value in found)
        for role, history, action_set in known if name not in PERFECT else ():
            assert action_sets.setdefault((role, history), action_set) == action_set


@pytest.mark.parametrize(
    ("name", "plays", "length", "first"),
    [
        ("tic_tac_toe", 40, 7.62, None),  # lengths and means of random play as independent engines measure them
        ("connect_four", 4, 22.3, None),
        ("blind_tic_tac_toe", 40, 5.44, 50),
        ("blind_tic_tac_toe_x_wins", 40, None, 64.2),
        ("blind_tic_tac_toe_x_bias", 40, None, 55.0),
        ("meier", 100, None, 34.9),
        ("monty_hall", 400, 3, 50),
        ("number_guessing", 100, None, 25 / 4 * sum((1 - k / 5) * (15 / 16) ** k for k in range(5))),
        ("small_battleships", 15, None, 50),
        ("hex", 8, 21.18, 57.1),
        ("dark_hex", 30, 10.52, 66.5),
        ("pursuit", 10, 12.28, 57.8),
    ],
)
def test_figures_of_random_play(name, plays, length, first, play) -> None:
    """Within four standard errors of the sample."""
    game, rng = play(name), np.random.default_rng(3)
    results = [game.random(rng)[:2] for _ in range(plays)]
    for expected, sample in [(length, [n for n, _ in results]), (first, [g[game.roles[0]][0] for _, g in results])]:
        if expected is not None:
            assert np.mean(sample) == pytest.approx(expected, abs=4 * np.std(sample) / plays**0.5 + 1e-9)


def deals(state) -> int:
    """In how many ways a native game deals cards until a player moves."""
    cards = state.chance_outcomes((None, None))
    return len(cards) * deals(state.play((None, None), cards[0][0]).state) if cards else 1


@pytest.mark.parametrize(
    ("name", "native", "unit", "sets"), [("kuhn_poker", kuhn_poker, 25, 12), ("leduc_poker", leduc_poker, 3, 936)]
)
def test_poker_is_the_native_game(name, native, unit, sets, play) -> None:
    """Every history of both games side by side: the same moves, payoffs and information sets."""
    game, pairs = play(name), set()

    def walk(state, own, gdl_keys, native_keys) -> None:
        over, legal, goals = game.look(state)
        assert over == own.terminal
        if over:
            assert [goals["p1"][0], goals["p2"][0]] == [50 + unit * chips for chips in own.returns()]
            return
        action_sets = [own.legal_actions(p) for p in (0, 1)]
        for player, action_set in enumerate(action_sets):
            assert set(legal[game.roles[player]]) == set(action_set or ["noop"])
            if action_set:
                pairs.add((player, gdl_keys[player], native_keys[player]))
        assert len(legal["random"]) == deals(own)
        for joint in product(*legal.values()):
            after, seen = game.step(state, *joint)
            keys = [(*gdl_keys[p], (joint[p], seen[game.roles[p]])) for p in (0, 1)]
            other, native_after = own, list(native_keys)
            cards = joint[2].strip("()").split()[1:]
            answers = [c[0].upper() + c[1:] for c in cards] or [None]
            for answer in answers:
                moves = tuple(m if action_set else None for m, action_set in zip(joint, action_sets, strict=False))
                step = other.play(moves, answer)
                other = step.state
                native_after = [(*native_after[p], (moves[p], step.observation(p))) for p in (0, 1)]
            walk(after, other, keys, native_after)

    walk(game.start, native().start().state, [(), ()], [(), ()])
    assert len(pairs) == len({p[:2] for p in pairs}) == len({(p[0], p[2]) for p in pairs}) == sets


def test_scissors_double(play) -> None:
    """The table, and that the equilibrium makes every hand worth 50."""
    game = play("scissors_double")

    def pay(a, b):
        goals = game.look(game.step(game.start, a, b)[0])[2]
        assert goals["row"][0] + goals["column"][0] == 100
        return goals["row"][0]

    assert [pay("rock", "scissors"), pay("scissors", "paper"), pay("paper", "rock")] == [100, 100, 75]
    for hand in ("rock", "paper", "scissors"):
        assert 0.4 * pay(hand, "rock") + 0.4 * pay(hand, "paper") + 0.2 * pay(hand, "scissors") == pytest.approx(50)


def test_monty_hall(play) -> None:
    """random opens the one door left to it; switching away from the car loses it."""
    game = play("monty_hall")
    state, _, legal = game.script("(choose 1), (hide_car 2)")
    assert list(legal["random"]) == ["(open 3)"]
    state, seen, legal = game.script("noop, (open 3)", state=state)
    assert seen["candidate"] == {"(opened 3)"}
    assert list(legal["candidate"]) == ["noop", "switch"]
    last, seen = game.step(state, "switch", "noop")
    assert seen["candidate"] == {"(car 2)"}
    assert game.look(last)[2]["candidate"] == [100]
    assert game.look(game.step(state, "noop", "noop")[0])[2]["candidate"] == [0]


def test_meier(play) -> None:
    """The order of throws, the exact claim, and the call that 21 forces."""
    game = play("meier")
    state, seen, legal = game.script("noop, noop, (roll 1 6)")
    assert seen["p1"] == {"(dice 61)"}
    assert seen["p2"] == frozenset()
    assert len(legal["p1"]) == 21
    for claim, goal in [("61", 100), ("54", 0), ("62", 0)]:
        last, _, _ = game.script(f"(claim {claim}), noop, noop", "noop, you_bluff, noop", state=state)
        assert game.look(last)[2]["p1"] == [goal]
    later, seen, legal = game.script(
        "(claim 55), noop, noop", "noop, ask_roll, noop", "noop, noop, (roll 2 1)", state=state
    )
    assert seen["p2"] == {"(dice 21)"}
    assert list(legal["p2"]) == ["(claim 21)", "(claim 66)"]
    assert list(game.script("noop, (claim 21), noop", state=later)[2]["p1"]) == ["you_bluff"]


def test_blind_tic_tac_toe(play) -> None:
    """Contested cells, wasted marks, and nobody who repeats one."""
    same = "(mark 2 2), (mark 2 2)"
    for name, draw, winner in [
        ("blind_tic_tac_toe", ", (tiebreak o)", "o"),
        ("blind_tic_tac_toe_x_wins", "", "x"),
        ("blind_tic_tac_toe_x_bias", ", (draw 3)", "o"),
    ]:
        game = play(name)
        loser = "o" if winner == "x" else "x"
        _, seen, legal = game.script(same + draw)
        assert seen[winner] == {"ok"}
        assert seen[loser] == frozenset()
        assert len(legal["x"]) == len(legal["o"]) == 8
    game = play("blind_tic_tac_toe_x_wins")
    last, seen, _ = game.script("(mark 1 1), (mark 3 1)", "(mark 1 2), (mark 3 2)", "(mark 1 3), (mark 3 3)")
    assert game.look(last)[0]
    assert game.look(last)[2] == {"x": [50], "o": [50]}
    bias = play("blind_tic_tac_toe_x_bias")
    wins = [bias.step(bias.start, *same.split(", "), move)[1]["x"] for move in bias.look(bias.start)[1]["random"]]
    assert sum(map(len, wins)) == 2


def test_krieg_tic_tac_toe(play) -> None:
    """A cell that both mark stays blank, and is on offer again after a success."""
    game = play("krieg_tic_tac_toe")
    state, seen, legal = game.script("(mark 2 2), (mark 2 2)")
    assert not seen["x"]
    assert not seen["o"]
    assert "(mark 2 2)" not in legal["x"]
    state, seen, legal = game.script("(mark 1 1), (mark 1 2)", state=state)
    assert seen["x"] == seen["o"] == {"ok"}
    assert "(mark 2 2)" in legal["x"]
    assert "(mark 1 1)" not in legal["x"]
    assert "(mark 1 1)" in legal["o"]


def test_latent_tic_tac_toe(play) -> None:
    """A failed mark is noticed by its player alone, who moves again."""
    game = play("latent_tic_tac_toe")
    state, seen, _ = game.script("(mark 1 1), noop")
    assert (seen["x"], seen["o"]) == (frozenset(), {"your_turn"})
    state, seen, legal = game.script("noop, (mark 1 1)", state=state)
    assert (seen["x"], seen["o"]) == (frozenset(), {"your_turn"})
    assert list(legal["x"]) == ["noop"]
    assert len(legal["o"]) == 8


def test_phantom_connect(play) -> None:
    """Discs fall; a full column is refused once, and three in any direction win."""
    game = play("phantom_connect")
    state, seen, _ = game.script("(drop 1), noop", "noop, (drop 1)", "(drop 1), noop")
    assert (seen["red"], seen["yellow"]) == ({"(landed 3)"}, {"your_turn"})
    state, seen, legal = game.script("noop, (drop 1)", "(drop 1), noop", state=state)
    assert (seen["red"], seen["yellow"]) == ({"your_turn"}, frozenset())
    assert list(legal["red"]) == ["(drop 2)", "(drop 3)", "(drop 4)"]
    last, _, _ = game.script("(drop 2), noop", "noop, (drop 3)", "(drop 2), noop", "noop, (drop 3)", state=state)
    assert not game.look(last)[0]
    last, _, _ = game.script("(drop 2), noop", state=last)
    assert game.look(last)[2] == {"red": [100], "yellow": [0]}
    rising = [
        "(drop 1), noop",
        "noop, (drop 2)",
        "(drop 2), noop",
        "noop, (drop 3)",
        "(drop 4), noop",
        "noop, (drop 3)",
    ]
    last, seen, _ = game.script(*rising, "(drop 3), noop")
    assert seen["red"] >= {"(landed 3)"}
    assert game.look(last)[2] == {"red": [100], "yellow": [0]}


def test_small_battleships(play) -> None:
    """Twelve places, hits and misses for both to see, a draw when both sink together."""
    game = play("small_battleships")
    assert len(game.look(game.start)[1]["p1"]) == 12
    state, seen, legal = game.script("(place 1 1 1 2), (place 2 2 3 2)", "(fire 2 2), (fire 1 1)")
    assert seen["p1"] == seen["p2"] == {"(hit p2 2 2)", "(hit p1 1 1)"}
    assert len(legal["p1"]) == 8
    both, _, _ = game.script("(fire 3 2), (fire 1 2)", state=state)
    assert game.look(both)[2] == {"p1": [50], "p2": [50]}
    one, seen, _ = game.script("(fire 3 2), (fire 2 2)", state=state)
    assert seen["p2"] == {"(hit p2 3 2)", "(miss p1 2 2)"}
    assert game.look(one)[2] == {"p1": [100], "p2": [0]}


def test_mastermind(play) -> None:
    """The two numbers against a direct count, and the goal at the right guess."""
    game, rng = play("mastermind"), np.random.default_rng(1)
    colours = ("red", "green", "blue", "white")
    for guess, code in rng.integers(4, size=(25, 2, 3)):
        hide, ask = (" ".join(colours[k] for k in row) for row in (code, guess))
        state, seen, _ = game.script(f"noop, (hide {hide})", f"(guess {ask}), noop")
        shared = sum((Counter(code.tolist()) & Counter(guess.tolist())).values())
        assert seen["breaker"] == {f"(exact {int(sum(code == guess))})", f"(colours {shared})"}
        if (code != guess).any():
            state, _, _ = game.script(f"(guess {hide}), noop", state=state)
            assert game.look(state)[2]["breaker"] == [80]


def test_number_guessing(play) -> None:
    """Halving the range finds every number in time and earns 52.5."""
    game, total = play("number_guessing"), 0
    for hidden in range(1, 17):
        state, low, high = game.script(f"noop, (hide {hidden})")[0], 1, 16
        while not game.look(state)[0]:
            guess = (low + high) // 2
            state, seen = game.step(state, f"(guess {guess})", "noop")
            low, high = (guess + 1, high) if seen["guesser"] == {"higher"} else (low, guess - 1)
        total += game.look(state)[2]["guesser"][0]
    assert total / 16 == 52.5


def test_breakthrough_and_connect_four_moves(play) -> None:
    """The number of first moves, and a straight move that an enemy pawn blocks while a diagonal one takes it."""
    game = play("breakthrough")
    assert len(game.look(game.start)[1]["white"]) == 22
    moves = ["(move 4 2 4 3)", "(move 4 7 4 6)", "(move 4 3 4 4)", "(move 4 6 4 5)", "(move 5 2 5 3)", "(move 1 7 1 6)"]
    joints = [f"{move}, noop" if k % 2 == 0 else f"noop, {move}" for k, move in enumerate(moves)]
    state, _, legal = game.script(*joints, "(move 5 3 5 4), noop")
    assert "(move 4 5 5 4)" in legal["black"]
    assert "(move 4 5 4 4)" not in legal["black"]
    after, _, _ = game.script("noop, (move 4 5 5 4)", state=state)
    assert sum(str(fact).startswith("(cell") for fact in after) == 31
    four = play("connect_four")
    state, _, legal = four.script(*["(drop 1), noop", "noop, (drop 1)"] * 3)
    assert len(legal["red"]) == 6


def test_hex(play) -> None:
    """A chain of touching stones from side to side wins, however it winds; a diagonal that does not touch does not."""
    game = play("hex")
    assert len(game.look(game.start)[1]["black"]) == 25

    def after(black, white):
        """The state, the moves taking turns; both lists hold columns and rows as two digits."""
        joints = []
        for k, (own, other) in enumerate(zip(black, [*white, ""], strict=True)):
            joints.append(f"(place {' '.join(own)}), noop")
            joints += [f"noop, (place {' '.join(other)})"] if other else []
            assert k == len(white) or other
        return game.script(*joints)[0]

    won = after(["31", "32", "23", "24", "15"], ["55", "54", "53", "52"])
    assert game.look(won)[0]
    assert game.look(won)[2] == {"black": [100], "white": [0]}
    apart = after(["11", "22", "33", "44", "55"], ["51", "52", "53", "54"])  # one to the right and down: no neighbour
    assert not game.look(apart)[0]
    winding = after(["11", "21", "31", "41", "12", "45"], ["13", "23", "22", "32", "42"])  # white, and not to the end
    assert not game.look(winding)[0]
    last, _, _ = game.script("noop, (place 5 2)", state=winding)
    assert game.look(last)[2] == {"black": [0], "white": [100]}


def test_dark_hex(play) -> None:
    """A stone for a taken cell fails; only its player notices, and moves again."""
    game = play("dark_hex")
    state, seen, _ = game.script("(place 2 2), noop")
    assert (seen["black"], seen["white"]) == (frozenset(), {"your_turn"})
    state, seen, legal = game.script("noop, (place 2 2)", state=state)
    assert (seen["black"], seen["white"]) == (frozenset(), {"your_turn"})
    assert len(legal["white"]) == 8
    last, _, _ = game.script(
        "noop, (place 3 3)", "(place 2 1), noop", "noop, (place 1 1)", "(place 1 3), noop", state=state
    )
    assert game.look(last)[2] == {"black": [100], "white": [0]}


def test_pursuit(play) -> None:
    """Walls and pillars, what the chasers see, and being caught by meeting or by changing places."""
    game = play("pursuit")
    legal = game.look(game.start)[1]
    assert len(legal["runner"]) == 5  # between the pillars
    assert set(legal["chasers"]) == {
        f"(go {d} {e})" for d in ("stay", "north", "east") for e in ("stay", "south", "west")
    }
    state, seen, _ = game.script("west, (go east west)")
    assert seen["runner"] == {"(hound one 2 1)", "(hound two 4 5)"}
    assert not seen["chasers"]  # it is at (2 3), two rows away
    state, seen, _ = game.script("west, (go west west)", "south, (go stay stay)", state=state)
    assert seen["chasers"] == {"(runner 1 2)"}
    for joint in ("stay, (go north stay)", "south, (go north stay)", "south, (go stay stay)"):
        last, _, _ = game.script(joint, state=state)
        assert game.look(last)[0]
        assert game.look(last)[2] == {"runner": [15], "chasers": [85]}
    free, _, _ = game.script("north, (go north stay)", state=state)
    assert not game.look(free)[0]
    for _ in range(16):
        free, _, _ = game.script("stay, (go stay stay)", state=free)
    assert game.look(free)[0]
    assert game.look(free)[2] == {"runner": [100], "chasers": [0]}
