"""The code of a submission: a table of probabilities, and an agent that draws its actions from them.

It needs the standard library alone.  A submission is this file with the constants below filled in.
"""

import base64
import hashlib
import random
import struct
import zlib
from typing import Any

GAME = ""
OBSERVATION_TYPE = "observation"
SEATS = (0, 1)
DATA = ""

KEY_BYTES = 8
TABLE: dict[int, int] = {}  # by key, the number of a row
ROWS: list[tuple[tuple[int, ...], tuple[float, ...]]] = []  # the different rows: action numbers and their probabilities
GAMES: dict[
    int, tuple[int, int, int]
] = {}  # by player, the step of its last decision, the key there, and the action that it chose


def unpack(data: str) -> None:
    """Fill ``TABLE`` and ``ROWS`` from the text of ``DATA``: lists of numbers, each after its length, compressed."""
    body = zlib.decompress(base64.b64decode(data))
    place = 0

    def numbers(kind: str) -> tuple[Any, ...]:
        nonlocal place
        (count,) = struct.unpack_from("<I", body, place)
        found = struct.unpack_from(f"<{count}{kind}", body, place + 4)
        place += 4 + count * struct.calcsize(kind)
        return found

    sizes, actions, probabilities = numbers("I"), numbers("I"), numbers("d")
    first = 0
    for size in sizes:
        ROWS.append((actions[first : first + size], probabilities[first : first + size]))
        first += size
    TABLE.update(zip(numbers("Q"), numbers("I"), strict=True))


def next_key(key: int, action: int, text: str) -> int:
    """Return the key of a decision: that of the player's last one, its action there, and what it observes now."""
    body = b"%d %d %s" % (key, action, text.encode())
    return int.from_bytes(hashlib.blake2b(body, digest_size=KEY_BYTES).digest(), "little")


def probabilities(observation: dict[str, Any]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the action numbers and their probabilities at the decision that an observation belongs to."""
    player, step, text = observation["playerId"], observation["step"], observation["observationString"]
    if player not in SEATS:  # a seat without a policy: at random, by the list that includeLegalActions provides
        legal = observation["legalActions"]
        GAMES[player] = (step, 0, -1)
        return tuple(legal), (1 / len(legal),) * len(legal)
    start = next_key(player, -1, text)
    before, key, action = GAMES.get(player, (step, 0, -1))
    key = next_key(key, action, text) if step > before else start  # steps begin anew with every game
    if key not in TABLE:
        key = start
    if key not in TABLE:
        raise ValueError(f"this is no observation of {GAME} with observationType {OBSERVATION_TYPE!r}: {text!r}")
    GAMES[player] = (step, key, -1)
    return ROWS[TABLE[key]]


def agent(observation: dict[str, Any], configuration: dict[str, Any]) -> dict[str, int]:
    """Return an action, drawn from the policy, in the form that Kaggle asks for."""
    if "observationString" not in observation:  # the call before the game begins
        return {"submission": -1}
    actions, weights = probabilities(observation)
    action = random.choices(actions, weights)[0]
    player = observation["playerId"]
    GAMES[player] = (*GAMES[player][:2], action)
    return {"submission": action}


if DATA:
    unpack(DATA)
