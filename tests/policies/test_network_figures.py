"""The exploitability of one network by our figures and by OpenSpiel's, each from its own tensors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infoset import evaluate
from infoset.compiled import Compiled
from infoset.policies.encodings import encoding_of
from infoset.policies.networks import TorchFile

torch = pytest.importorskip("torch")
pyspiel = pytest.importorskip("pyspiel")

GAMES = [
    ("kuhn_poker", "kuhn_poker"),
    ("leduc_poker", "leduc_poker"),
    ("dark_hex(rows=2,columns=2)", "dark_hex(num_rows=2,num_cols=2)"),
]
TENSORS = {"observation": "observation_tensor", "information-state": "information_state_tensor"}


def save_network(path: Path, inputs: int, actions: int) -> Any:
    """Write a network with fixed random weights, and return it in double precision."""
    torch.manual_seed(7)
    network = torch.nn.Sequential(torch.nn.Linear(inputs, 32), torch.nn.Tanh(), torch.nn.Linear(32, actions))
    for layer in network:
        if isinstance(layer, torch.nn.Linear):
            torch.nn.init.normal_(layer.weight, std=0.7)
    torch.jit.trace(network, torch.zeros(1, inputs), check_trace=False).save(str(path))
    return network.double()


def policy_there(spiel: Any, network: Any, tensor: str) -> Any:
    """The network as a policy of OpenSpiel: the softmax over legal actions of its outputs for OpenSpiel's tensor."""
    from open_spiel.python.policy import Policy as SpielPolicy

    class Network(SpielPolicy):  # type: ignore[misc]
        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            player = state.current_player() if player_id is None else player_id
            with torch.inference_mode():
                outputs = network(torch.tensor([getattr(state, tensor)(player)], dtype=torch.float64))[0].numpy()
            legal = state.legal_actions(player)
            weights = np.exp(outputs[legal] - outputs[legal].max())
            return dict(zip(legal, (weights / weights.sum()).tolist(), strict=True))

    return Network(spiel, [0, 1])


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("encoding", TENSORS)
@pytest.mark.parametrize(("ours", "theirs"), GAMES)
def test_a_network_is_as_exploitable_here_as_in_openspiel(
    ours: str, theirs: str, encoding: str, tmp_path: Path
) -> None:  # fmt: skip
    """Three ways to the same figure: our tensors here, OpenSpiel's there, and OpenSpiel's policy converted."""
    from open_spiel.python.algorithms.exploitability import exploitability

    tensor = encoding_of(Compiled.of(ours), encoding)
    spiel = pyspiel.load_game(theirs)
    network = save_network(tmp_path / "net.pt", int(np.prod(tensor.shape)), len(tensor.actions))
    there = policy_there(spiel, network, TENSORS[encoding])
    expected = pytest.approx(exploitability(spiel, there), abs=1e-9)
    file = TorchFile(str(tmp_path / "net.pt"), encoding=encoding, precision="double")
    assert evaluate(ours, file).exploitability == expected
    assert evaluate(ours, there).exploitability == expected
