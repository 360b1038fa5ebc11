"""What a seat is sent holds no hidden fact: plays that its player cannot tell apart are the same bytes on the wire."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest

from infoset import Game, load
from infoset.base import Action, ObservationRecord, State, Step, own_record
from infoset.catalog import known_games
from infoset.match import match as refereeing
from infoset.match.agents import ScriptedAgent
from infoset.match.match import Round, Table
from infoset.match.person import Person
from infoset.match.replay import MatchStep
from infoset.web.seat import Hand, Public, encode_view

SHIPPED = [name for name in known_games() if not name.startswith("pommerman:")]
POMMERMAN = [
    "pommerman:PommeTeamCompetition-v0(seed=3)", "pommerman:PommeRadioCompetition-v2(seed=4)",
    "pommerman:PommeFFACompetition-v0(seed=5)", "pommerman:OneVsOne-v0(seed=6)",
]  # fmt: skip
HANABI = "hanabi(players=3,colors=3,ranks=3,hand=2,lives=1)"  # ends soon, while most cards are unseen
HIDING = {HANABI, "kuhn_poker", "leduc_poker", "liars_dice", "gdl:meier", "gdl:kuhn_poker", "gdl:blind_tic_tac_toe",
          "gdl:small_battleships", "tiny_bridge", "tiny_hanabi", "trade_comm"}  # fmt: skip
MOST_STEPS = 24
IN_THE_FOG = 12  # so many steps of Pommerman: before bombs that others do not see decide who lives
TRIES, BUDGET = 8, 400  # steps that are tried instead of one, and in a whole play


class Play(NamedTuple):
    """A play, and what one player was encode_view in each step, the start included."""

    steps: tuple[MatchStep, ...]
    records: tuple[ObservationRecord | None, ...]
    over: tuple[bool, ...]


def moved(state: State, rng: np.random.Generator, n: int) -> tuple[Action | None, ...]:
    action_sets = [state.legal_actions(p) for p in range(n)]
    return tuple([action_set[int(rng.integers(len(action_set)))] if action_set else None for action_set in action_sets])


def played(game: Game, player: int, rng: np.random.Generator) -> Play:
    """A random play, as far as it is looked at."""
    n, most = len(game.players), IN_THE_FOG if game.name.startswith("pommerman:") else MOST_STEPS
    step = game.start()
    steps, records, over = [], [own_record(None, step.observation(player))], [step.state.terminal]
    while not step.state.terminal and len(steps) < most:
        actions = moved(step.state, rng, n)
        chance_outcome = step.state.draw(actions, rng)
        step = step.state.play(actions, chance_outcome)
        steps.append(MatchStep(actions, chance_outcome, (None,) * n))
        records.append(own_record(actions[player], step.observation(player)))
        over.append(step.state.terminal)
    return Play(tuple(steps), tuple(records), tuple(over))


def twin(game: Game, play: Play, player: int, rng: np.random.Generator) -> tuple[MatchStep, ...]:
    """Another play that is the same for ``player``; the same one where none is found soon."""
    n, left = len(game.players), BUDGET

    def candidates(state: State, mine: MatchStep) -> Iterator[tuple[tuple[Action | None, ...], Action | None]]:
        for _ in range(TRIES):
            actions = tuple(
                [mine.actions[p] if p == player else action for p, action in enumerate(moved(state, rng, n))]
            )
            yield actions, state.draw(actions, rng)
        yield mine.actions, mine.chance_outcome

    def after(state: State, made: list[MatchStep]) -> list[MatchStep] | None:
        nonlocal left
        k = len(made)
        if k == len(play.steps):
            return made
        for actions, chance_outcome in candidates(state, play.steps[k]):
            left -= 1
            if left < 0:
                return None
            try:
                step: Step = state.play(actions, chance_outcome)
            except ValueError:  # the first play's moves are none here
                continue
            same = own_record(actions[player], step.observation(player)) == play.records[k + 1]
            if same and step.state.terminal == play.over[k + 1]:
                found = after(step.state, [*made, MatchStep(actions, chance_outcome, (None,) * n)])
                if found is not None:
                    return found
        return None

    return tuple(after(game.start().state, []) or play.steps)


def sent(game: Game, name: str, steps: Sequence[MatchStep], player: int, patch: pytest.MonkeyPatch) -> list[bytes]:
    """All that a seat is sent while the referee plays these steps, the others' moves and chance's answers included."""
    messages: list[bytes] = []
    mine = iter([step.actions[player] for step in steps if step.actions[player] is not None])

    def say(message: bytes) -> None:
        messages.append(message)
        heard = msgspec.json.decode(message)
        if heard["legal_actions"]:
            assert hand.view is not None
            action = next(mine)
            assert hand.act(hand.view.legal_actions.index(action), heard["turn"]) == ""

    n = len(game.players)
    hand = Hand(Public(name, game.players, ("human",) * n), say)
    agents: list[Any] = [
        ScriptedAgent([s.actions[p] for s in steps if s.actions[p] is not None], "other") for p in range(n)
    ]
    agents[player] = Person(hand)
    chance_nodes = iter([step.chance_outcome for step in steps])

    def execute(_: str, state: State, actions: Any, rng: Any) -> tuple[Action | None, Step]:
        if len(state.legal_actions(player)) == 1:  # such a move is made for the person
            next(mine)
        chance_outcome = next(chance_nodes)
        return chance_outcome, state.play(actions, chance_outcome)

    patch.setattr(refereeing, "execute", execute)
    round_ = Round(Table(game, name, tuple(agents), ("other",) * n, None, None, 10_000), range(n), 0)
    state = round_.begin()
    for _ in steps:
        state = round_.step(state)
    assert not round_.faults
    return messages


def compared(name: str, seeds: Sequence[int]) -> int:
    """Compare so many plays with another one each; how many differ in what is hidden."""
    game = load(name)
    differ = 0
    with pytest.MonkeyPatch.context() as patch:
        for seed in seeds:
            rng = np.random.default_rng(seed)
            player = int(rng.integers(len(game.players)))
            play = played(game, player, rng)
            other = twin(game, play, player, rng)
            first = sent(game, name, play.steps, player, patch)
            assert first and first == sent(game, name, other, player, patch)
            differ += [(*s.actions, s.chance_outcome) for s in other] != [
                (*s.actions, s.chance_outcome) for s in play.steps
            ]
    return differ


def test_the_messages_of_a_seat_are_made_from_nothing_that_could_hold_a_hidden_fact() -> None:
    view = inspect.signature(encode_view).parameters["view"].annotation
    assert list(inspect.signature(encode_view).parameters) == ["public", "view", "end"]
    assert view == "View"
    assert {"state", "seed", "rng"}.isdisjoint(Public.__struct_fields__)


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "leduc_poker", "gdl:meier", "gdl:blind_tic_tac_toe", "tiny_hanabi", HANABI]
)
def test_plays_that_a_player_cannot_tell_apart_are_the_same_bytes(name: str) -> None:
    assert compared(name, range(6)) > 0


def test_what_others_do_in_the_fog_is_not_sent() -> None:
    assert compared(POMMERMAN[0], range(2)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SHIPPED, HANABI, *POMMERMAN])
def test_two_hundred_games_of_every_kind(name: str) -> None:
    differ = compared(name, range(100, 300))
    assert differ > 20 or name not in HIDING
