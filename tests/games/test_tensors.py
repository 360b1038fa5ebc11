"""The tensors of native games are those of OpenSpiel, bit for bit: both games are played side by side."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from infoset import load
from infoset.base import Action, Encodable, InformationState, TensorEncoder, own_record
from infoset.errors import ParameterError, UnsupportedGameError
from infoset.games.tiny_bridge import CLASSES, HANDS, class_of, deals

pyspiel = pytest.importorskip("pyspiel")

KINDS = {"observation": "observation_tensor", "information-state": "information_state_tensor"}
Decision = tuple[int, InformationState, Any]
Pick = Callable[[Sequence[Any]], Sequence[Any]]


def encode(encoder: TensorEncoder, player: int, infostate: InformationState) -> list[float]:
    """The reference: the steps of an information state, written one after the other."""
    tensor = [0.0] * int(np.prod(encoder.shape))
    memo, writes = encoder.start(player)
    for record in (None, *infostate):
        if record is not None:
            memo, writes = encoder.after(player, memo, record)
        for index, value in writes:
            tensor[index] = value
    return tensor


def decisions(name: str, theirs: str, actions: tuple[Action, ...], pick: Pick) -> Iterator[Decision]:
    """Every decision of each player, with its information state and the state of OpenSpiel.

    Moves are matched by ``actions``, the columns in the order of OpenSpiel's numbers, chance outcomes by their order.
    ``pick`` selects the moves and the chance outcomes to follow.
    """
    game, spiel = load(name), pyspiel.load_game(theirs)
    players = range(len(game.players))
    todo = [(game.start(), (None,) * len(players), ((),) * len(players), spiel.new_initial_state())]
    while todo:
        step, joint, before, there = todo.pop()
        state, infostates = step.state, []
        for p in players:
            record = own_record(joint[p], step.observation(p))
            infostates.append(before[p] if record is None else (*before[p], record))
        assert state.terminal == there.is_terminal()
        if state.terminal:
            continue
        for p in players:
            if state.legal_actions(p):
                assert sorted(map(actions.index, state.legal_actions(p))) == there.legal_actions(p)
                yield p, infostates[p], there
        for chosen in pick(list(product(*[state.legal_actions(p) or (None,) for p in players]))):
            numbers = [0 if action is None else actions.index(action) for action in chosen]
            moved = there.clone()
            if there.is_simultaneous_node():
                moved.apply_actions(numbers)
            elif not there.is_chance_node():
                moved.apply_action(numbers[there.current_player()])
            outcomes = state.chance_outcomes(chosen)
            for k in pick(range(len(outcomes))) if outcomes else [None]:
                after = moved.clone()
                played = state.play(chosen, None if k is None else outcomes[k][0])
                chance_is_next = not played.state.terminal and not any(map(played.state.legal_actions, players))
                if k is None and after.is_chance_node() and len(after.chance_outcomes()) == 1 and not chance_is_next:
                    after.apply_action(after.chance_outcomes()[0][0])  # the last card
                if k is not None:
                    assert after.chance_outcomes()[k][1] == pytest.approx(outcomes[k][1])
                    after.apply_action(after.chance_outcomes()[k][0])
                todo.append((played, chosen, tuple(infostates), after))


def compare(name: str, theirs: str, pick: Pick) -> int:
    """The number of information sets at which the tensors of both kinds, where OpenSpiel has them, are the same."""
    game = load(name)
    assert isinstance(game, Encodable)
    spiel = pyspiel.load_game(theirs)
    kinds = {"observation": spiel.get_type().provides_observation_tensor}
    kinds["information-state"] = spiel.get_type().provides_information_state_tensor
    encoders = {kind: game.tensor_encoder(kind) for kind, there in kinds.items() if there}
    for kind, encoder in encoders.items():
        assert list(encoder.shape) == getattr(spiel, f"{KINDS[kind]}_shape")()
        assert len(encoder.actions) == spiel.num_distinct_actions()
    for kind in kinds.keys() - encoders.keys():
        with pytest.raises(UnsupportedGameError, match=f"OpenSpiel has no {kind} tensor of this game; allowed: "):
            game.tensor_encoder(kind)
    seen: set[tuple[int, InformationState]] = set()
    for player, infostate, there in decisions(name, theirs, next(iter(encoders.values())).actions, pick):
        if (player, infostate) not in seen:
            seen.add((player, infostate))
            for kind, encoder in encoders.items():
                assert encode(encoder, player, infostate) == getattr(there, KINDS[kind])(player), (player, infostate)
    return len(seen)


SMALL = [
    ("kuhn_poker", "kuhn_poker"),
    ("kuhn_poker(players=3)", "kuhn_poker(players=3)"),
    ("kuhn_poker(players=4)", "kuhn_poker(players=4)"),
    ("leduc_poker", "leduc_poker"),
    ("liars_dice(dice_sides=3)", "liars_dice(dice_sides=3)"),
    ("liars_dice(numdice=2,dice_sides=2)", "liars_dice(numdice=2,dice_sides=2)"),
    ("goofspiel(num_cards=4)", "goofspiel(num_cards=4)"),
    ("goofspiel(num_cards=4,points_order=ascending)",) * 2,
    ("goofspiel(num_cards=4,imp_info=true,points_order=descending)", "goofspiel(num_cards=4,imp_info=True,points_order=descending)"),
    ("goofspiel(num_cards=3,players=3,imp_info=true)", "goofspiel(num_cards=3,players=3,imp_info=True)"),
    ("dark_hex(rows=2,columns=2)", "dark_hex(num_rows=2,num_cols=2)"),
    ("dark_hex(rows=2,columns=2,abrupt=true)", "dark_hex(num_rows=2,num_cols=2,gameversion=adh)"),
    ("dark_hex(rows=2,columns=3)", "dark_hex(num_rows=2,num_cols=3)"),
    ("oshi_zumo(coins=5,size=1,min_bid=1)",) * 2,
    ("oshi_zumo(coins=3,size=2,horizon=3)",) * 2,
    (
        "battleship(rows=2,columns=2,ships=[2,1],shots=2)",
        "battleship(board_height=2,board_width=2,ship_sizes=[2;1],ship_values=[1;1],num_shots=2,allow_repeated_shots=False)",
    ),
    (
        "hanabi(colors=1,ranks=2,hand=1,info=1,lives=1)",
        "hanabi(players=2,colors=1,ranks=2,hand_size=1,max_information_tokens=1,max_life_tokens=1)",
    ),
    ("tiny_hanabi(game=E)", "tiny_hanabi"),
    ("tiny_hanabi(game=A)", "tiny_hanabi(num_actions=2,num_chance=2,payoff=0;1;0;0;0;1;3;2;3;3;3;2;2;0;3;3)"),
    ("tiny_bridge(abstracted=false)", "tiny_bridge_2p"),
    ("rock_paper_scissors", "matrix_rps"),
    ("matching_pennies_3p", "matching_pennies_3p"),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs"), SMALL)
def test_tensors_at_all_information_sets(ours: str, theirs: str) -> None:
    assert compare(ours, theirs, lambda options: options) > 0


LARGE = [
    ("phantom_tic_tac_toe", "phantom_ttt"),
    ("phantom_tic_tac_toe(abrupt=true)", "phantom_ttt(gameversion=abrupt)"),
    ("dark_hex", "dark_hex"),
    ("dark_hex(rows=4,columns=3,abrupt=true)", "dark_hex(num_rows=4,num_cols=3,gameversion=adh)"),
    ("leduc_poker(players=3)", "leduc_poker(players=3)"),
    ("kuhn_poker(players=6)", "kuhn_poker(players=6)"),
    ("liars_dice", "liars_dice"),
    ("liars_dice(numdice=2)", "liars_dice(numdice=2)"),
    ("goofspiel", "goofspiel"),
    ("goofspiel(players=3,num_cards=7,imp_info=true)", "goofspiel(players=3,num_cards=7,imp_info=True)"),
    ("hanabi(players=3,colors=2,ranks=3,hand=2)", "hanabi(players=3,colors=2,ranks=3,hand_size=2)"),
    ("oshi_zumo", "oshi_zumo"),
    (
        "battleship(rows=4,columns=5,ships=[3,2,2],shots=6,repeats=true)",
        "battleship(board_height=4,board_width=5,ship_sizes=[3;2;2],ship_values=[1;1;1],num_shots=6)",
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), LARGE)
def test_tensors_along_random_plays(ours: str, theirs: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        assert compare(ours, theirs, lambda options: [options[int(rng.integers(len(options)))]]) > 0


def test_tiny_bridge_shows_the_classes_of_hands() -> None:
    """OpenSpiel deals hands and shows their classes; here chance deals classes, whose tensors are the same."""
    classes = {name: CLASSES[class_of(hand)] for name, hand in zip(deals(abstracted=False).hands, HANDS, strict=True)}
    game = load("tiny_bridge")
    assert isinstance(game, Encodable)
    encoders = {kind: game.tensor_encoder(kind) for kind in KINDS}
    seen = set()
    actions = encoders["observation"].actions
    for player, infostate, there in decisions(
        "tiny_bridge(abstracted=false)", "tiny_bridge_2p(abstracted=True)", actions, lambda options: options
    ):
        ours = ((None, classes[str(infostate[0][1])]), *infostate[1:])
        if (player, ours) not in seen:
            seen.add((player, ours))
            for kind, encoder in encoders.items():
                assert encode(encoder, player, ours) == getattr(there, KINDS[kind])(player), (player, ours)


def test_a_larger_deck_extends_the_cards() -> None:
    game = load("leduc_poker(ranks=4,suits=3)")
    assert isinstance(game, Encodable)
    assert game.tensor_encoder("information-state").shape == (2 + 12 + 12 + 16,)


def test_other_kinds_are_refused() -> None:
    game = load("kuhn_poker")
    assert isinstance(game, Encodable)
    with pytest.raises(ParameterError, match="kind=history"):
        game.tensor_encoder("history")
    assert not isinstance(load("trade_comm"), Encodable)
