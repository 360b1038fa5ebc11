"""The network of Partridge & Thielscher (2022), Figure 1: from a state to every player's value and policy."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from infoset.base import Action, FloatArray, LongArray
from infoset.errors import PolicyError, shorten
from infoset.files import DamageError, check_schema, describe_damage, no_such_path, replace_file
from infoset.learn.encoding import Encoding
from infoset.learn.learner import MOST_HIDDEN, States

SCHEMA = 1
BATCH = 65_536  # states evaluated at once
CHANNELS = 32  # of a convolutional layer over a board
HEADER = "infoset"

N = TypeVar("N", bound=nn.Module)


class StateFacts(States, Protocol):
    """Inputs and outputs of a network of states: facts, and the moves of each player."""

    actions: list[list[Action]]

    board: LongArray | None
    """(P, X, Y) the facts on the cells of a board; ``None`` without a board."""

    @property
    def num_facts(self) -> int:
        """Number of facts of a state."""


class BoardLayers(nn.Module):
    """Two convolutional layers over the cells of a board; their features follow the facts themselves."""

    board: Tensor

    def __init__(self, board: LongArray) -> None:
        super().__init__()
        planes, columns, rows = board.shape
        self.size = CHANNELS * columns * rows
        self.register_buffer("board", torch.from_numpy(board), persistent=False)
        first, second = nn.Conv2d(planes, CHANNELS, 3, padding=1), nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.layers = nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Flatten())

    def forward(self, facts: Tensor) -> Tensor:
        """Map facts (K, F) to facts and features (K, F + size)."""
        nowhere = nn.functional.pad(facts, (0, 1))  # index -1 (no fact) selects the padded zero column
        return torch.cat([facts, self.layers(nowhere[:, self.board])], dim=1)


class StateNet(nn.Module):
    """A shared trunk of two layers, a linear layer to the values, and one more hidden layer before each policy.

    Where facts lie on a board, ``BoardLayers`` come first.
    """

    def __init__(self, facts: int, actions: list[int], hidden: int = 128, board: LongArray | None = None) -> None:
        super().__init__()
        self.hidden = hidden
        self.front = nn.Identity() if board is None else BoardLayers(board)
        facts += self.front.size if isinstance(self.front, BoardLayers) else 0
        self.trunk = nn.Sequential(nn.Linear(facts, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.value = nn.Linear(hidden, len(actions))
        self.policy = nn.ModuleList(
            [nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, count)) for count in actions]
        )

    def forward(self, facts: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return values (K, n) as logits and for each player logits of moves (K, A).

        The sigmoid of a value lies between 0 and 1, the least and the greatest payoff of the game.
        """
        inner = self.trunk(self.front(facts))
        return self.value(inner), [head(inner) for head in self.policy]

    def estimate_values(self, facts: Tensor) -> Tensor:
        """Return the values (K, n) alone, scaled to between 0 and 1."""
        return torch.sigmoid(self.value(self.trunk(self.front(facts))))


@torch.no_grad()
def evaluate_states(net: StateNet, encoding: Encoding) -> tuple[FloatArray, list[FloatArray]]:
    """Evaluate all states: return values (S, n) as payoffs, and every player's move probabilities (S, A).

    >>> from infoset.learn.net import evaluate_states
    >>> from infoset.learn.self_play import SelfPlay, Training
    >>> from infoset.learn.train import encoding_of
    >>> encoding = encoding_of(infoset.load("gdl:scissors_double"))
    >>> values, policies = evaluate_states(SelfPlay(encoding, Training(hidden=8)).net, encoding)
    >>> values.shape, policies[0].shape
    ((6, 2), (6, 3))
    """
    values: list[Any] = []
    policies: list[list[Any]] = [[] for _ in encoding.actions]
    at = next(net.parameters()).device
    for begin in range(0, len(encoding.facts), BATCH):
        rows = slice(begin, begin + BATCH)
        value, logits = net(torch.from_numpy(encoding.facts[rows]).to(at, torch.float32))
        values.append(torch.sigmoid(value).cpu().numpy())
        for player, each in enumerate(logits):
            legal_actions = torch.from_numpy(encoding.legal_actions[player][rows]).to(at)
            probabilities = torch.softmax(each.masked_fill(~legal_actions, -1e9), dim=1)
            policies[player].append(probabilities.cpu().numpy())
    payoffs = encoding.payoffs(np.concatenate(values).astype(np.float64))
    return payoffs, [np.concatenate(parts).astype(np.float64) for parts in policies]


def save_net(net: nn.Module, states: States, path: Path) -> Path:
    """Write a network as safetensors with the fingerprint of the game."""
    header = {"schema": SCHEMA, "game": states.name, "fingerprint": states.fingerprint}
    data = save({k: v.contiguous().cpu() for k, v in net.state_dict().items()}, {HEADER: json.dumps(header)})
    return replace_file(path, lambda file: file.write(data))


def load_weights(path: Path, states: States) -> dict[str, Tensor]:
    """Return a network's tensors by name.

    Raises ``PolicyError`` for a broken file, or a network of another game.
    """
    weights, (game, mark) = _read(path)
    if mark != states.fingerprint:
        raise PolicyError(f"{path} was trained on {shorten(game)}, not on {states.name} as it is here")
    return weights


def fits(path: Path, states: States) -> bool:
    """Return whether the network in a file reads these states.  Raises ``PolicyError`` for a broken file."""
    return _read(path)[1][1] == states.fingerprint


def _read(path: Path) -> tuple[dict[str, Tensor], tuple[str, str]]:
    """Return a network's tensors by name, and the name and fingerprint of the game that it was trained on."""
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})[HEADER])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        game, mark, schema = str(header["game"]), str(header["fingerprint"]), int(header["schema"])
        check_schema("network", schema, SCHEMA)
        if not all(bool(torch.isfinite(tensor).all()) for tensor in weights.values()):
            raise DamageError("its weights are no finite numbers")
    except FileNotFoundError:
        raise PolicyError(f"{path}: no network of infoset: {no_such_path(path)}") from None
    except SafetensorError:
        raise PolicyError(f"{path}: no network of infoset: the file is damaged, or of another kind") from None
    except (OSError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise PolicyError(f"{path}: no network of infoset: {describe_damage(error)}") from None
    return weights, (game, mark)


def filled(make: Callable[[int], N], weights: dict[str, Tensor], path: Path) -> N:
    """Make the network with the number of hidden units that ``weights`` have, and load them.

    Raises ``PolicyError`` if they do not fit.
    """
    try:
        hidden = len(weights["trunk.0.bias"])
        if hidden > MOST_HIDDEN:
            raise RuntimeError(f"{hidden:,} units of a layer; at most {MOST_HIDDEN:,} are allowed")
        net = make(hidden)
        net.load_state_dict(weights)
    except (KeyError, TypeError, RuntimeError) as error:
        raise PolicyError(f"{path}: {shorten(' '.join(str(error).split()), 120)}") from None
    return net


def load_net(path: Path, encoding: StateFacts) -> StateNet:
    """Load a network of states.

    Raises ``PolicyError`` for a broken file, or a network of another game.
    """
    actions = [len(actions) for actions in encoding.actions]
    make = partial(StateNet, encoding.num_facts, actions, board=encoding.board)
    return filled(make, load_weights(path, encoding), path)
