"""Agents that play the network in a file."""

from __future__ import annotations

from infoset.base import Agent
from infoset.errors import ParameterError
from infoset.match.agents import PolicyAgent
from infoset.names import full_name
from infoset.policies.networks import LOGITS, SINGLE, NetworkFile, OnnxFile, TorchFile


def torch(path: str = "", encoding: str = "", output: str = LOGITS, precision: str = SINGLE) -> Agent:
    """A network of PyTorch (.pt of TorchScript, .pt2 of torch.export): torch:FILE."""
    name = full_name("torch", torch, path=path, encoding=encoding, output=output, precision=precision)
    return _plays(TorchFile(path, encoding, output, precision), name)


def onnx(path: str = "", encoding: str = "", output: str = LOGITS) -> Agent:
    """A network in the format ONNX: onnx:FILE."""
    return _plays(
        OnnxFile(path, encoding, output), full_name("onnx", onnx, path=path, encoding=encoding, output=output)
    )


def _plays(file: NetworkFile, name: str) -> Agent:
    if not file.path:
        word = name.partition("(")[0]
        raise ParameterError(f"{word}: path is missing; name the file: {word}:FILE")
    return PolicyAgent(file, name)
