"""Agents of Stable-Baselines3 as policies: files in its format, written here by PyTorch alone."""

import base64
import io
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infoset
from infoset.compiled import Compiled
from infoset.errors import InfosetError, ParameterError, PolicyError
from infoset.policies.stable_baselines import StableBaselinesFile

torch = pytest.importorskip("torch")

SIZE, ACTIONS = 11, 2  # of Kuhn poker's information states
LEGAL = np.ones((5, ACTIONS), dtype=np.bool_)
INPUTS = np.random.default_rng(5).random((5, SIZE), dtype=np.float32)


class Code:
    """An object whose pickle makes a folder when it is read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)


def layers(names: list[str], sizes: list[int]) -> dict[str, Any]:
    """Random weights, each layer taking what the one before returns."""
    make = torch.Generator().manual_seed(1)
    shapes = zip(names, sizes[1:], sizes[:-1], strict=True)
    return {
        f"{name}.{part}": torch.randn(shape, generator=make)
        for name, out, into in shapes
        for part, shape in (("weight", (out, into)), ("bias", (out,)))
    }


def actor() -> dict[str, Any]:
    """The weights of an actor and a critic, as PPO has them."""
    mine = layers(["mlp_extractor.policy_net.0", "mlp_extractor.policy_net.2", "action_net"], [SIZE, 16, 8, ACTIONS])
    return mine | layers(["mlp_extractor.value_net.0", "value_net"], [SIZE, 4, 1])


def save(path: Path, weights: Any, words: dict[str, Any] | None = None, compression: int = 0) -> str:
    """Write an agent: its weights, and its parameters as pickles with their meaning in words beside."""
    secret = base64.b64encode(pickle.dumps(Code(path.with_suffix(".run")))).decode()
    described = {"policy_kwargs": {":type:": "<class 'dict'>", ":serialized:": secret, **(words or {})}}
    packed = io.BytesIO()
    torch.save(weights, packed)
    if compression:
        again = io.BytesIO()
        with zipfile.ZipFile(packed) as plain, zipfile.ZipFile(again, "w", compression) as small:
            for name in plain.namelist():
                small.writestr(name, plain.read(name))
        packed = again
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(described))
        archive.writestr("policy.pth", packed.getvalue())
    return str(path)


def by_hand(weights: dict[str, Any], names: list[str], activation: Any) -> Any:
    """The outputs of layers in a row."""
    rows = INPUTS
    for k, name in enumerate(names):
        rows = (activation(rows) if k else rows) @ weights[f"{name}.weight"].numpy().T + weights[f"{name}.bias"].numpy()
    return rows


RELU = {"activation_fn": "<class 'torch.nn.modules.activation.ReLU'>"}


@pytest.mark.parametrize(
    ("words", "named", "activation"),
    [
        ({}, "", np.tanh),  # what PPO uses unless it is changed
        (RELU, "", lambda rows: np.maximum(rows, 0)),
        (RELU, "tanh", np.tanh),
        ({"activation_fn": "<class '__main__.Own'>"}, "sigmoid", lambda rows: 1 / (1 + np.exp(-rows))),
    ],
)
def test_an_actor_plays_the_softmax_of_its_outputs(
    tmp_path: Path, words: dict[str, Any], named: str, activation: Any
) -> None:
    weights = actor()
    path = save(tmp_path / "ppo.zip", weights, words)
    policy = StableBaselinesFile(path, activation=named, precision="double").on(Compiled.of("kuhn_poker"))
    assert policy.encoding.name == "information-state"
    outputs = np.exp(
        by_hand(weights, [name[:-5] for name in weights if "bias" in name and "value" not in name], activation)
    )
    expected = outputs / outputs.sum(axis=1, keepdims=True)
    assert policy.batch_probabilities(0, INPUTS, LEGAL) == pytest.approx(expected, abs=1e-5)
    masked = LEGAL.copy()
    masked[0, 1] = False
    assert policy.batch_probabilities(0, INPUTS, masked)[0].tolist() == [1, 0]


def test_dqn_plays_the_action_of_the_highest_value(tmp_path: Path) -> None:
    names = ["q_net.q_net.0", "q_net.q_net.2"]
    weights = layers(names, [SIZE, 12, ACTIONS])
    target = {f"q_net_target.{name.partition('.')[2]}": 0 * value for name, value in weights.items()}
    policy = StableBaselinesFile(save(tmp_path / "dqn.zip", weights | target)).on(Compiled.of("kuhn_poker"))
    values = by_hand(weights, names, lambda rows: np.maximum(rows, 0))
    assert policy.batch_probabilities(0, INPUTS, LEGAL).argmax(axis=1).tolist() == values.argmax(axis=1).tolist()


def test_more_than_ten_layers_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    names = [
        "mlp_extractor.shared_net.0",
        *[f"mlp_extractor.policy_net.{k}" for k in (0, 2, 4, 6, 8, 10)],
        "action_net",
    ]
    weights = layers(names, [SIZE, 9, 8, 7, 6, 5, 4, 3, ACTIONS])
    shuffled = dict(sorted(weights.items(), reverse=True))
    network = StableBaselinesFile(save(tmp_path / "deep.zip", shuffled)).forward()
    assert network(INPUTS) == pytest.approx(by_hand(weights, names, np.tanh), abs=1e-5)


def test_an_agent_is_evaluated_and_plays_by_its_file(tmp_path: Path) -> None:
    path = save(tmp_path / "ppo.zip", actor())
    assert 0 < infoset.evaluate("kuhn_poker", f"sb3:{path}").exploitability < 2
    match = infoset.play_match("kuhn_poker", [f"sb3:{path}", "random"], seed=1)
    assert sum(match.returns) == 0


def test_what_is_pickled_is_not_read(tmp_path: Path) -> None:
    StableBaselinesFile(save(tmp_path / "ppo.zip", actor())).on(Compiled.of("kuhn_poker"))
    with pytest.raises(PolicyError, match="no agent of Stable-Baselines3: Weights only load failed"):
        StableBaselinesFile(save(tmp_path / "evil.zip", {"w": Code(tmp_path / "run")})).on(Compiled.of("kuhn_poker"))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["evil.zip", "ppo.zip"]


def without_bias() -> dict[str, Any]:
    return {name: value for name, value in actor().items() if name != "action_net.bias"}


@pytest.mark.parametrize(
    ("weights", "words", "message"),
    [
        (actor() | layers(["lstm_actor"], [3, 3]), {}, r"has the layers mlp_extractor\.policy_net.*lstm_actor; allowed: "),
        ({}, {}, "has the layers of nothing; allowed: "),
        ([torch.zeros(2)], {}, "holds something other than weights by name"),
        (without_bias(), {}, "lacks the weight or the bias of action_net"),
        (actor() | layers(["action_net"], [5, 2]), {}, "action_net in policy.pth takes 5 numbers; the layer before returns 8"),
        (actor(), {"activation_fn": "<class '__main__.Own'>"}, "activation=__main__.own; allowed: tanh, relu, "),
        (layers(["action_net"], [SIZE, 3]), {}, r"the network does not fit kuhn_poker; tried the inputs .*\(2, 3\)"),
        (layers(["action_net"], [SIZE + 1, 2]), {}, r"the network does not fit kuhn_poker; tried the inputs .*\(11,\)"),
    ],
)  # fmt: skip
def test_other_files_are_refused_in_one_line(
    tmp_path: Path, weights: Any, words: dict[str, Any], message: str
) -> None:  # fmt: skip
    with pytest.raises(PolicyError, match=message) as error:
        StableBaselinesFile(save(tmp_path / "other.zip", weights, words)).on(Compiled.of("kuhn_poker"))
    assert "\n" not in str(error.value)


def test_files_that_are_no_archives_of_agents_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("no zip")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    save(tmp_path / "bomb.zip", {"action_net.weight": torch.zeros(1000, 1000)}, compression=zipfile.ZIP_DEFLATED)
    for name, message in [("text", "not a zip"), ("empty", "policy.pth"), ("bomb", "compressed"), ("none", "no such")]:
        with pytest.raises(InfosetError, match=message) as error:
            infoset.evaluate("kuhn_poker", f"sb3:{tmp_path / name}.zip")
        assert "\n" not in str(error.value)
    with pytest.raises(ParameterError, match="path is missing; name the file: sb3:FILE"):
        infoset.evaluate("kuhn_poker", "sb3")
