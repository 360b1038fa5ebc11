"""``check_game`` and the tree builder on games that break the contract, one fault each."""

from itertools import count
from typing import Any, NamedTuple

import pytest

from infoset import GameTree, NativeState, Observed
from infoset.errors import GameRuleError, IllegalActionError
from infoset.testing import check_game


class Fault(NamedTuple):
    """A coin toss that P1 may see and must guess, with one fault built in."""

    kind: str = ""

    name = "faulty"
    players = ("P1",)

    def start(self) -> Observed:
        return Observed(Coin(self, "", ""), (None,))


class Coin(NamedTuple):
    game: Fault
    side: str
    guess: str

    @property
    def terminal(self) -> bool:
        return bool(self.guess)

    def legal_actions(self, player: int) -> tuple[Any, ...]:
        if not self.side or (self.guess and self.game.kind != "moves at the end"):
            return ()
        if self.game.kind == "moves leak":
            return ("heads", "tails") if self.side == "heads" else ("tails", "heads")
        if self.game.kind == "a list":
            return ["heads", "tails"]  # type: ignore[return-value]
        return ("heads", "heads") if self.game.kind == "repeated move" else ("heads", "tails")

    def chance_outcomes(self, actions: Any) -> tuple[Any, ...]:
        if self.side or self.game.kind == "stuck":
            return ()
        odd = {"probabilities": 0.6, "nan probability": float("nan")}
        return (
            ("heads", 0.5),
            ("heads" if self.game.kind == "equal answers" else "tails", odd.get(self.game.kind, 0.5)),
        )

    def draw(self, actions: Any, rng: Any) -> Any:
        if self.side or self.game.kind == "stuck":
            return None
        return "edge" if self.game.kind == "draw" else ("heads", "tails")[int(rng.integers(2))]

    def play(self, actions: Any, chance_outcome: Any = None) -> Observed:
        if actions[0] not in (self.legal_actions(0) or (None,)) and self.game.kind != "accepts anything":
            raise IllegalActionError("no")
        if not self.side:
            odd: dict[str, Any] = {"observation": ([],), "no observations": ()}
            return Observed(self._replace(side=chance_outcome), odd.get(self.game.kind, (None,)))
        if self.game.kind == "cycle" and actions[0] == "heads":
            return Observed(Coin(self.game, "", ""), (None,))
        return Observed(self._replace(guess=actions[0]), (None,))

    def returns(self) -> tuple[float, ...]:
        if self.game.kind == "no payoffs":
            return (None,)  # type: ignore[return-value]
        if self.game.kind == "payoffs":
            return (float("nan"),)
        return (0.0, 0.0) if self.game.kind == "too many payoffs" else (float(self.side == self.guess),)


def test_a_sound_game_passes_both() -> None:
    assert check_game(Fault()).information_states == 1
    assert GameTree.of(Fault()).num_terminals == 4


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("repeated move", "not a tuple of distinct moves"),
        ("probabilities", "sum to 1.1"),
        ("nan probability", "sum to nan"),
        ("equal answers", "not distinct"),
        ("payoffs", "finite numbers"),
        ("no payoffs", "TypeError"),
        ("too many payoffs", "finite numbers"),
        ("moves leak", "cannot tell"),
        ("a list", "not a tuple"),
        ("no observations", "IndexError"),
        ("moves at the end", "still has moves at the end"),
        ("stuck", "neither legal actions"),
        ("draw", "'edge', which chance does not list"),
        ("accepts anything", "not on offer but was played"),
        ("observation", "not hashable"),
    ],
)
def test_check_game_names_the_fault(kind: str, words: str) -> None:
    with pytest.raises(GameRuleError, match=words):
        check_game(Fault(kind))


def test_a_game_that_does_not_end() -> None:
    with pytest.raises(GameRuleError, match="has not ended after 3 steps"):
        check_game(Fault("cycle"), max_steps=3)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("repeated move", "not distinct"),
        ("probabilities", "sum to 1.1"),
        ("nan probability", "sum to nan"),
        ("equal answers", "not distinct"),
        ("payoffs", "finite numbers"),
        ("no payoffs", "TypeError"),
        ("stuck", "neither legal actions"),
        ("observation", "unhashable"),
        ("no observations", "IndexError"),
        ("moves leak", "cannot distinguish the histories"),
        ("cycle", "can be reached again from itself"),
    ],
)
def test_the_tree_builder_names_the_fault(kind: str, words: str) -> None:
    with pytest.raises(GameRuleError, match=words):
        GameTree.of(Fault(kind))


class Lottery(NativeState):
    """One move, and a payoff that no state mentions: the next number of a counter."""

    def __init__(self, paid: int | None = None) -> None:
        self.paid = paid

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lottery) and (self.paid is None) == (other.paid is None)

    def __hash__(self) -> int:
        return hash(self.paid is None)

    @property
    def terminal(self) -> bool:
        return self.paid is not None

    def legal_actions(self, player: int) -> tuple[str, ...]:
        return () if self.terminal else ("go",)

    def returns(self) -> tuple[float, ...]:
        return (float(self.paid or 0),)

    def play_unchecked(self, actions: Any, chance_outcome: Any = None) -> Observed:
        return Observed(Lottery(next(TICKETS)), (None,))


class HiddenDraw(NamedTuple):
    name: str = "hidden draw"
    players: tuple[str, ...] = ("P1",)

    def start(self) -> Observed:
        return Observed(Lottery(), (None,))


TICKETS = count(1)


def test_a_draw_that_no_state_mentions() -> None:
    with pytest.raises(
        GameRuleError, match=r"playing \['go'\] twice gives equal states of which one has \(1.0,\), one \(2.0,\)"
    ):
        check_game(HiddenDraw(), plays=1)
