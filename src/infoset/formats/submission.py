"""Submissions to Kaggle: a policy as one Python file, which ``kaggle-environments`` plays without infoset.

The file is ``kaggle_player`` with the policy as a compressed table.  Its keys are made from what Kaggle shows a player:
the texts of its observations at its decisions so far, and its own actions.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from infoset import status
from infoset.arguments import checks_arguments
from infoset.base import Action, Drawing, InformationState, Policy, State, own_record
from infoset.compiled import AnyGame, Compiled
from infoset.errors import BudgetError, PolicyError, UnsupportedGameError, shorten
from infoset.evaluation import What, policy_of
from infoset.files import check_file, replace_file
from infoset.formats import kaggle_player
from infoset.formats.kaggle import Environment
from infoset.names import check_range, policy_key
from infoset.policies.asking import checked_row

MAX_BYTES = 100 << 20
"""The size of the largest submission."""
MAX_STATES = 2_000_000
"""The most pairs of a state and an information state of one player that are listed."""
STATES_A_REPORT = 10_000
SAME = 1e-12  # the largest difference between probabilities that count as equal


class Row(NamedTuple):
    """The decision that a key stands for: the action numbers, their probabilities, and the information state."""

    actions: tuple[int, ...]
    probabilities: tuple[float, ...]
    infostate: InformationState


@checks_arguments
def export_submission(
    policy: What,
    game: AnyGame,
    path: str | Path,
    *,
    player: int | None = None,
    reached_only: bool = False,
    observation_type: str = "",
    max_states: int = MAX_STATES,
) -> Path:
    """Write whatever ``evaluate`` takes, as a policy of ``game``, to a Python file that plays in kaggle-environments.

    The file needs the standard library alone.  It holds all information sets of all players, so that it plays in every
    seat with the same probabilities; with a ``player``, those of that player alone, and in other seats it moves at
    random.  With ``reached_only`` it leaves out information sets that the policy, by its own zero probabilities, never
    reaches, which makes large games fit.  ``observation_type`` is that of Kaggle's configuration, by default its own
    choice for the game.

    Raises ``PolicyError`` where Kaggle's observations do not tell two information sets apart at which the policy plays
    differently, ``BudgetError`` where more than ``max_states`` states would be listed or the file would be larger than
    100 MiB, ``UnsupportedGameError`` for a game that OpenSpiel does not have, and as ``evaluate`` does.  Needs the
    extra ``interop``; raises ``MissingExtraError`` without it.

    >>> from infoset.formats.submission import export_submission
    >>> export_submission(infoset.solve("kuhn_poker", "lp").policy, "kuhn_poker", "submission.py").name
    'submission.py'
    """
    path = Path(path)
    check_file(path)
    compiled = Compiled.of(game)
    environment = Environment(compiled.game, observation_type)
    row = policy_of(policy, compiled)
    if isinstance(row, Drawing):
        raise UnsupportedGameError(f"{compiled.name}: plans that are drawn together are no probabilities of actions")
    table: dict[int, Row] = {}
    if player is not None:
        check_range("player", player, 0, len(compiled.players) - 1)
    seats = tuple(range(len(compiled.players))) if player is None else (player,)
    with status.during("listing the decisions of a submission"):
        for seat in seats:
            _list(environment, row, seat, table, reached_only, max_states)
    text = _text(environment, table, seats).encode()
    if len(text) > MAX_BYTES:
        raise BudgetError(
            f"{compiled.name}: a submission of {len(text):,} bytes for {len(table):,} information sets; allowed: "
            f"at most {MAX_BYTES:,}"
        )
    return replace_file(path, lambda file: file.write(text))


class _Node(NamedTuple):
    state: State
    spiel: Any
    infostate: InformationState
    key: int
    """Of the player's last decision; its number before the first one."""
    action: int


def _list(
    environment: Environment, policy: Policy, player: int, table: dict[int, Row], reached_only: bool, max_states: int
) -> None:
    """Add the decisions of a player to the table.

    The game is walked once for each pair of a state and an information state of the player, since what the player
    observes depends on nothing else; with ``reached_only`` only where the policy itself goes.
    """
    first = environment.game.start()
    record = own_record(None, first.observation(player))
    start = _Node(first.state, environment.start(first.state), () if record is None else (record,), player, -1)
    todo, seen = [start], {(start.state, start.infostate)}
    while todo:
        node = todo.pop()
        key, own = node.key, node.state.legal_actions(player)
        numbers: tuple[int, ...] = ()
        never: set[Action | None] = set()
        if own:
            key = kaggle_player.next_key(node.key, node.action, environment.text(node.spiel, player))
            numbers = tuple(environment.numbers(node.spiel, player, own))
            if key not in table or table[key].infostate != node.infostate:
                _add(environment, table, key, Row(numbers, _row(policy, player, node.infostate, own), node.infostate))
            if reached_only:
                never = {action for action, p in zip(own, table[key].probabilities, strict=True) if p == 0.0}
        for actions, outcome in _steps(node.state, len(environment.game.players)):
            if actions[player] in never:
                continue
            step = node.state.play(actions, outcome)
            if step.state.terminal:
                continue
            record = own_record(actions[player], step.observation(player))
            infostate = node.infostate if record is None else (*node.infostate, record)
            if (step.state, infostate) in seen:
                continue
            seen.add((step.state, infostate))
            if len(seen) > max_states:
                raise BudgetError(
                    f"{environment.game.name}: more than {max_states:,} states would be listed for "
                    f"{environment.game.players[player]} (max_states); choose a smaller game, or in Python "
                    "export_submission with reached_only and a player"
                )
            if len(seen) % STATES_A_REPORT == 0:
                status.detail(f"listing the decisions of a submission: {len(seen):,} states")
            spiel = environment.follow(node.spiel, node.state, actions, outcome, step.state)
            action = numbers[own.index(actions[player])] if own else node.action
            todo.append(_Node(step.state, spiel, infostate, key, action))


def _row(policy: Policy, player: int, infostate: InformationState, own: tuple[Action, ...]) -> tuple[float, ...]:
    if len(own) == 1:  # policies leave such information sets out
        return (1.0,)
    return tuple(checked_row(policy.action_probabilities(player, infostate, own), own))


def _add(environment: Environment, table: dict[int, Row], key: int, row: Row) -> None:
    """Add a decision.  Raises ``PolicyError`` where another one has the same key and other probabilities."""
    other = table.setdefault(key, row)
    same = other.actions == row.actions and all(
        abs(one - two) <= SAME for one, two in zip(other.probabilities, row.probabilities, strict=True)
    )
    if not same:
        names = [shorten(repr(policy_key(each.infostate, "")), 200) for each in (other, row)]
        raise PolicyError(
            f"{environment.game.name}: Kaggle's observations do not tell {names[0]} from {names[1]}, where the policy "
            "plays differently"
        )


def _steps(state: State, players: int) -> Iterator[tuple[tuple[Action | None, ...], Action | None]]:
    """Yield all joint moves, each with the outcomes of chance that can follow."""
    options: list[Sequence[Action | None]] = [state.legal_actions(p) or (None,) for p in range(players)]
    for actions in product(*options):
        for outcome, _ in state.chance_outcomes(actions) or ((None, 1.0),):
            yield actions, outcome


def _text(environment: Environment, table: dict[int, Row], seats: tuple[int, ...]) -> str:
    """Return the text of the file."""
    rows: dict[tuple[tuple[int, ...], tuple[float, ...]], int] = {}
    numbers = [rows.setdefault((row.actions, row.probabilities), len(rows)) for row in table.values()]
    lists: list[tuple[str, Sequence[Any]]] = [
        ("I", [len(actions) for actions, _ in rows]),
        ("I", [action for actions, _ in rows for action in actions]),
        ("d", [probability for _, row in rows for probability in row]),
        ("Q", list(table)),
        ("I", numbers),
    ]
    body = b"".join(struct.pack(f"<I{len(each)}{kind}", len(each), *each) for kind, each in lists)
    data = b64encode(zlib.compress(body, 9)).decode()
    constants = {
        'GAME = ""': f"GAME = {environment.full_name!r}",
        "SEATS = (0, 1)": f"SEATS = {seats}",
        'OBSERVATION_TYPE = "observation"': f"OBSERVATION_TYPE = {environment.observation_type!r}",
        'DATA = ""': f'DATA = "{data}"',
    }
    source = (files("infoset.formats") / "kaggle_player.py").read_text(encoding="utf-8")
    about = f'"""A policy for {environment.full_name}, {len(table):,} information sets: a submission to Kaggle.'
    _, _, rest = source.partition("\n")
    for constant, filled in constants.items():
        before, found, after = rest.partition(f"\n{constant}\n")
        assert found, constant
        rest = f"{before}\n{filled}\n{after}"
    return f"{about}\n{rest}"
