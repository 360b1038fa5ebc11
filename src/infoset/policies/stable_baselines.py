"""Agents of Stable-Baselines3 and its contrib package as policies: a zip with the weights of a network.

Such a file also holds pickled objects, which could run code: they stay packed.  The network is built anew from the
names and shapes of its weights, and its activation is found in what the file says about its parameters in words.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from infoset.compiled import Compiled
from infoset.errors import PolicyError, shorten
from infoset.files import check_archive, no_such_path
from infoset.policies.networks import LOGITS, VALUES, NetworkPolicy, TorchFile, import_torch

WEIGHTS, DESCRIPTION = "policy.pth", "data"
ACTIVATIONS = ("tanh", "relu", "leakyrelu", "elu", "silu", "gelu", "sigmoid")
"""The names of activations, which are PyTorch's in lower case."""
HIDDEN, ACTOR = re.compile(r"mlp_extractor\.(shared|policy)_net\.(\d+)"), "action_net"  # PPO, A2C, TRPO, MaskablePPO
VALUE = re.compile(r"q_net\.(q_net)\.(\d+)")  # DQN
UNUSED = re.compile(r"(mlp_extractor\.)?value_net\.|q_net_target\.")
CLASS = re.compile(r"<class '(torch\.nn\.modules\.activation\.)?(.*)'>")


@dataclass(frozen=True)
class StableBaselinesFile(TorchFile):
    """An agent of Stable-Baselines3 or sb3-contrib, saved by ``model.save``, whose policy is an ``MlpPolicy``.

    Actors play the softmax over the legal actions; DQN plays the best legal action.  ``activation`` is one of
    ``ACTIVATIONS``; by default what the file says, or what the algorithm uses unless it is changed.
    """

    activation: str = ""

    def on(self, compiled: Compiled) -> NetworkPolicy:
        """Return its policy on a game.  Raises ``PolicyError`` and ``MissingExtraError``."""
        output = LOGITS if f"{ACTOR}.weight" in self._read()[0] else VALUES
        return super(StableBaselinesFile, replace(self, output=output)).on(compiled)

    def module(self) -> Any:
        """Build the network.  Raises ``PolicyError`` where the file holds anything but layers in a row."""
        torch = import_torch()
        weights, description = self._read()
        layers = sorted({name.rpartition(".")[0] for name in weights if not UNUSED.match(name)}, key=_order)
        actor = layers[-1:] == [ACTOR] and all(HIDDEN.fullmatch(name) for name in layers[:-1])
        if not actor and not (layers and all(VALUE.fullmatch(name) for name in layers)):
            raise PolicyError(
                f"{self.path}: {WEIGHTS} has the layers {shorten(', '.join(layers) or 'of nothing', 200)}; allowed: "
                f"those of an MlpPolicy, mlp_extractor.policy_net.*, then {ACTOR}, or q_net.q_net.*"
            )
        activation = self.activation or _described(description) or ("tanh" if actor else "relu")
        if activation not in ACTIVATIONS:
            raise PolicyError(f"{self.path}: activation={shorten(activation)}; allowed: {', '.join(ACTIVATIONS)}")
        kind = {name.lower(): kind for name, kind in vars(torch.nn).items()}[activation]
        parts: list[Any] = []
        for name in layers:
            weight, bias = weights.get(f"{name}.weight"), weights.get(f"{name}.bias")
            if weight is None or bias is None or weight.ndim != 2 or bias.shape != weight.shape[:1]:
                raise PolicyError(f"{self.path}: {WEIGHTS} lacks the weight or the bias of {name}")
            if parts and parts[-1].out_features != weight.shape[1]:
                raise PolicyError(
                    f"{self.path}: {name} in {WEIGHTS} takes {weight.shape[1]} numbers; the layer before returns "
                    f"{parts[-1].out_features}"
                )
            layer = torch.nn.utils.skip_init(torch.nn.Linear, weight.shape[1], weight.shape[0])
            layer.load_state_dict({"weight": weight, "bias": bias})
            parts += [kind(), layer] if parts else [layer]
        return torch.nn.Sequential(*parts).eval()

    def _read(self) -> tuple[dict[str, Any], Any]:
        """Return the weights by their names, and the description of the agent."""
        torch = import_torch()
        if not Path(self.path).is_file():
            raise PolicyError(f"{self.path}: {no_such_path(self.path)}")
        try:
            check_archive(Path(self.path))
            with zipfile.ZipFile(self.path) as archive:
                packed, description = archive.read(WEIGHTS), json.loads(archive.read(DESCRIPTION))
            with zipfile.ZipFile(io.BytesIO(packed)) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > len(packed):  # PyTorch compresses nothing
                    raise ValueError(f"{WEIGHTS} in it is compressed")
            weights = torch.load(io.BytesIO(packed), map_location="cpu", weights_only=True)
        except Exception as error:
            said = shorten(" ".join(str(error).split()), 200)
            raise PolicyError(f"{self.path}: no agent of Stable-Baselines3: {said}") from None
        if not isinstance(weights, dict) or not all(isinstance(each, torch.Tensor) for each in weights.values()):
            raise PolicyError(f"{self.path}: {WEIGHTS} holds something other than weights by name")
        return weights, description


def _order(layer: str) -> tuple[int, int, str]:
    """Return the place of a layer: those that actor and critic share, the actor's own, the last one."""
    if found := HIDDEN.fullmatch(layer) or VALUE.fullmatch(layer):
        return int(found[1] != "shared"), int(found[2]), layer
    return 2, 0, layer


def _described(description: Any) -> str:
    """Return the activation in a description, in lower case; empty where there is none."""
    parameters = description.get("policy_kwargs") if isinstance(description, dict) else None
    found = parameters.get("activation_fn") if isinstance(parameters, dict) else None
    return CLASS.sub(r"\2", str(found or "")).lower()
