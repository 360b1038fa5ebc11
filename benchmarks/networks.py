"""Exact exploitability of networks in files: seconds of inference and evaluation, and whether nashbench's figure agrees.

    python benchmarks/networks.py                 # games by hundreds of thousands of information sets; a minute
    python benchmarks/networks.py --agree         # Python 3.12 or newer, with nashbench (JAX) installed in addition
    python benchmarks/networks.py --agree --large # with the games above: more than an hour, nearly all of it nashbench's

The network has two hidden layers of 256 units and random weights; its input is OpenSpiel's tensor.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

import infoset
from infoset.compiled import Compiled
from infoset.policies.encodings import encoding_of
from infoset.policies.networks import NetworkPolicy, OnnxFile, TorchFile

UNITS = 256
SAMPLE = 3_000
GAMES = ("phantom_tic_tac_toe", "dark_hex(rows=3,columns=3)")
ENCODINGS = ("observation", "information-state")
THEIRS: dict[str, tuple[str, dict[str, int]]] = {
    "leduc_poker": ("leduc_poker", {}),
    "goofspiel(num_cards=4,imp_info=true)": ("goofspiel", {"num_cards": 4}),
    "goofspiel(num_cards=5,imp_info=true)": ("goofspiel", {"num_cards": 5}),
}
LARGE: dict[str, tuple[str, dict[str, int]]] = {
    "phantom_tic_tac_toe": ("phantom_ttt", {}),
    "dark_hex(rows=3,columns=3)": ("dark_hex3", {}),
}


def network(inputs: int, actions: int) -> Any:
    torch.manual_seed(0)
    layers = [torch.nn.Linear(inputs, UNITS), torch.nn.ReLU(), torch.nn.Linear(UNITS, UNITS), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(UNITS, actions)).eval()


def write(net: Any, inputs: int, folder: Path) -> tuple[TorchFile, OnnxFile]:
    example, scripted, onnx = torch.zeros(2, inputs), folder / f"{inputs}.pt", folder / f"{inputs}.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(net, example).save(str(scripted))
        torch.onnx.export(net, (example,), str(onnx), input_names=["x"], dynamic_axes={"x": {0: "n"}}, dynamo=False)
    return TorchFile(str(scripted)), OnnxFile(str(onnx))


def seconds_one_by_one(policy: NetworkPolicy, compiled: Compiled) -> float:
    """The time to ask one information set at a time, from a sample."""
    factored = compiled.factored_images
    states = [(state, infostate) for (state, infostate), _ in zip(factored.infostates(), range(SAMPLE), strict=False)]
    began = time.perf_counter()
    for state, infostate in states:
        actions = factored.rules.action_sets[int(factored.states.action_set[state])]
        policy.action_probabilities(int(factored.owner[state]), infostate, actions)
    return (time.perf_counter() - began) / len(states) * factored.form.num_infosets * factored.group.order


def times() -> None:
    print("| game | input | file | building | exploitability | inference and evaluation | one by one | times |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for game in GAMES:
            compiled = Compiled.of(game)
            began = time.perf_counter()
            factored = compiled.factored_images
            building = time.perf_counter() - began
            infoset.evaluate(compiled, "random")
            for name in ENCODINGS:
                encoding = encoding_of(compiled, name)
                size = int(np.prod(encoding.shape))
                for file in write(network(size, len(encoding.actions)), size, Path(folder)):
                    policy = file.on(compiled)
                    if policy.encoding.name != name:
                        raise SystemExit(f"{name} of {game} was taken for {policy.encoding.name}")
                    began = time.perf_counter()
                    found = infoset.evaluate(compiled, policy)
                    took, single = time.perf_counter() - began, seconds_one_by_one(policy, compiled)
                    kind = type(file).__name__.removesuffix("File")
                    print(
                        f"| {game} | {name} ({size}) | {kind} | {building:.1f} s | {found.exploitability:.9f} | "
                        f"{took:.2f} s | {single:.0f} s | {single / took:.0f} |",
                        flush=True,
                    )
            del factored
    print(f"peak of memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def agree(games: dict[str, tuple[str, dict[str, int]]]) -> None:
    """The same network, in double precision, on nashbench's observations, which may begin with the player's number."""
    import jax
    import jax.numpy as jnp
    import nashbench

    jax.config.update("jax_enable_x64", True)
    for ours, (theirs, sizes) in games.items():
        compiled = Compiled.of(ours)
        encoding = encoding_of(compiled, "information-state")
        size = int(np.prod(encoding.shape))
        net = network(size, len(encoding.actions)).double()
        layers = [(m.weight.detach().numpy(), m.bias.detach().numpy()) for m in net if hasattr(m, "weight")]

        def forward(inputs: Any, net: Any = net) -> Any:
            with torch.inference_mode():
                return net(torch.from_numpy(inputs.reshape(len(inputs), -1)).double()).numpy()

        def policy(observation: Any, legal_actions: Any, layers: Any = layers, size: int = size) -> Any:
            row = observation[-size:].astype(jnp.float64)
            for k, (weight, bias) in enumerate(layers):
                row = weight @ row + bias
                row = jnp.maximum(row, 0) if k < len(layers) - 1 else row
            return jax.nn.softmax(jnp.where(legal_actions, row, -jnp.inf))

        found = infoset.evaluate(compiled, NetworkPolicy(compiled, forward, encoding)).exploitability
        other = float(nashbench.exploitability(nashbench.make(theirs, **sizes), policy))
        print(f"{ours}: {found:.12f}, nashbench {other:.12f}, differs by {abs(found - other):.1e}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agree", action="store_true")
    parser.add_argument("--large", action="store_true", help="with --agree")
    args = parser.parse_args()
    agree(THEIRS | LARGE if args.large else THEIRS) if args.agree else times()
