"""Networks as policies: in memory, in files of PyTorch and ONNX, and what is refused."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infoset
from infoset import NetworkPolicy, errors
from infoset.base import InformationState, ObservationRecord, StateTree, Writes
from infoset.compiled import Compiled
from infoset.policies.asking import BATCH, ask, ask_factored, states_of_tree
from infoset.policies.encodings import HISTORY, FunctionEncoding, TensorEncoding, encoding_of, known_in, tree_of

torch = pytest.importorskip("torch")

GAMES = ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "dark_hex(rows=2,columns=2)", "liars_dice(dice_sides=3)"]


def network(inputs: int, actions: int, units: int = 16) -> Any:
    torch.manual_seed(1)
    layers = torch.nn.Linear(inputs, units), torch.nn.ReLU(), torch.nn.Linear(units, actions)
    return torch.nn.Sequential(*layers).eval()


def numpy_of(net: Any) -> Callable[[Any], Any]:
    return lambda inputs: net(torch.from_numpy(inputs.reshape(len(inputs), -1))).detach().double().numpy()


class OneByOne:
    """The same policy without its method for many information sets: the reference."""

    def __init__(self, policy: NetworkPolicy) -> None:
        self.policy = policy

    def action_probabilities(self, *asked: Any) -> Any:
        return self.policy.action_probabilities(*asked)


@pytest.mark.parametrize("name", GAMES)
def test_many_at_once_is_the_same_as_one_by_one(name: str) -> None:
    compiled = Compiled.of(name)
    encoding = encoding_of(compiled, HISTORY)
    policy = NetworkPolicy(
        name, numpy_of(network(int(np.prod(encoding.shape)), len(encoding.actions)).double().float()), encoding
    )
    batched, single = infoset.evaluate(name, policy), infoset.evaluate(name, OneByOne(policy))
    assert batched.values == pytest.approx(single.values, abs=1e-7)
    assert batched.nash_conv == pytest.approx(single.nash_conv, abs=1e-6)


def test_the_factored_form_and_the_tree_agree() -> None:
    """The two forms number information sets differently and ask for images under symmetries; the figures are one."""
    name = "dark_hex(rows=2,columns=2)"
    encoding = encoding_of(Compiled.of(name), HISTORY)
    net = numpy_of(network(int(np.prod(encoding.shape)), len(encoding.actions)))
    factored, policy = Compiled.of(name).factored_images, NetworkPolicy(name, net, encoding)
    many = ask_factored(policy, factored)
    assert many.shape[1] > 1  # the board's symmetries
    assert many == pytest.approx(ask_factored(OneByOne(policy), factored), abs=1e-6)


def test_encodings_of_many_states_are_those_of_each_record_by_record() -> None:
    tree = Compiled.of("leduc_poker").tree
    states = states_of_tree(tree)
    which = np.arange(len(states.parent), dtype=np.int64)
    for name in ("observation", "information-state", HISTORY):
        encoding = encoding_of(Compiled.of("leduc_poker"), name)
        assert isinstance(encoding, TensorEncoding)
        rows = encoding.encode(states, which)
        assert rows.shape == (len(which), *encoding.shape)
        for state in which[:: len(which) // 60].tolist():
            one = encoding.encode_one(int(states.owner[state]), known_in(states, state))
            assert np.array_equal(rows[state], one)


def test_a_tree_of_some_states_contains_them() -> None:
    some: list[InformationState] = [(), ((None, "J"),), ((None, "J"), ("bet", ())), ((None, "Q"),)]
    states, which = tree_of(1, some)
    assert [known_in(states, state) for state in which.tolist()] == some
    assert len(states.parent) == 4


def test_history_is_what_our_environments_observe() -> None:
    pytest.importorskip("pettingzoo")
    from infoset.envs.encoders import HistoryEncoder

    compiled = Compiled.of("kuhn_poker")
    encoding, theirs = encoding_of(compiled, HISTORY), HistoryEncoder.of(compiled.graph)
    assert isinstance(encoding, TensorEncoding)
    known: InformationState = ((None, "K"), ("pass", ()), (None, "bet"))
    assert np.array_equal(encoding.encode_one(0, known), theirs(0, known))


def test_logits_probabilities_and_values() -> None:
    """Rock is preferred by the numbers (2, 1, 0), which mean three different strategies."""
    numbers = np.array([2.0, 1.0, 0.0])

    def forward(inputs: Any) -> Any:
        return np.tile(numbers, (len(inputs), 1))

    rows = {
        output: NetworkPolicy("rock_paper_scissors", forward, output=output).action_probabilities(
            0, (), ("Rock", "Paper", "Scissors")
        )
        for output in ("logits", "probabilities", "values")
    }
    assert rows["logits"] == pytest.approx(np.exp(numbers) / np.exp(numbers).sum())
    assert rows["probabilities"] == pytest.approx([2 / 3, 1 / 3, 0])
    assert rows["values"] == [1.0, 0.0, 0.0]


def test_equal_inputs_are_asked_once() -> None:
    """With an encoding that tells nothing apart, a network sees each action set of each player once."""
    seen = 0

    def forward(inputs: Any) -> Any:
        nonlocal seen
        seen += len(inputs)
        return np.zeros((len(inputs), len(actions)))

    name = "phantom_tic_tac_toe"
    actions = encoding_of(Compiled.of("phantom_tic_tac_toe"), "observation").actions
    tree, which = tree_of(0, [((action, ()),) for action in actions] * 3000)
    blind = TensorEncoding("blind", Blind(actions))
    found = ask(NetworkPolicy(name, forward, blind), tree, which, np.zeros(len(which), np.int64), [actions[:3]])
    assert seen == 1
    assert found == pytest.approx(1 / 3)


class Blind:
    """An encoder that writes nothing."""

    shape: tuple[int, ...] = (1,)

    def __init__(self, actions: tuple[Any, ...]) -> None:
        self.actions = actions

    def start(self, player: int) -> tuple[int, Writes]:
        return 0, ()

    def after(self, player: int, memo: int, record: ObservationRecord) -> tuple[int, Writes]:
        return 0, ()


def test_an_answer_that_is_no_number_names_the_information_set() -> None:
    def forward(inputs: Any) -> Any:
        found = np.zeros((len(inputs), 2))
        found[inputs[:, 4] == 1] = np.nan  # the king, in OpenSpiel's tensor
        return found

    policy = NetworkPolicy("kuhn_poker", forward, "information-state")
    with pytest.raises(errors.ParameterError, match="information set K; allowed: numbers of at least 0 that sum to 1"):
        infoset.evaluate("kuhn_poker", policy)


def test_an_array_of_another_shape_is_refused() -> None:
    policy = NetworkPolicy("kuhn_poker", lambda inputs: np.zeros((len(inputs), 3)))
    with pytest.raises(errors.ParameterError, match=r"shape \(\d+, 3\); allowed: \(\d+, 2\)"):
        infoset.evaluate("kuhn_poker", policy)


def test_a_users_encoding_and_its_faults() -> None:
    cards = {"J": 0, "Q": 1, "K": 2}

    def card(player: int, infostate: InformationState) -> Any:
        found = np.zeros(3)
        if infostate:
            found[cards[str(infostate[0][1])]] = 1
        return found

    always = NetworkPolicy(
        "kuhn_poker",
        lambda inputs: np.stack([-9 * inputs[:, 2], 9 * inputs[:, 2]], axis=1),
        FunctionEncoding("card", card, ("pass", "bet"), (3,)),
    )
    assert always.action_probabilities(0, ((None, "K"),), ("pass", "bet"))[1] > 0.999
    assert infoset.evaluate("kuhn_poker", always).exploitability > 0
    uneven = FunctionEncoding("uneven", lambda player, infostate: np.zeros(len(infostate)), ("pass", "bet"), (3,))
    with pytest.raises(errors.ParameterError, match="uneven returns an array of shape"):
        infoset.evaluate("kuhn_poker", NetworkPolicy("kuhn_poker", lambda inputs: inputs[:, :2], uneven))


def test_the_error_of_a_users_function_or_network_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def card(player, infostate):\n    return {'J': [1.0]}['Q']\n")
    with pytest.raises(errors.ParameterError, match=r"mine\.py:card fails after \(\): KeyError: 'Q'"):
        NetworkPolicy("kuhn_poker", lambda inputs: inputs, f"python:{tmp_path / 'mine.py'}:card")

    def forward(inputs: Any) -> Any:
        raise RuntimeError("no device")

    with pytest.raises(errors.ParameterError, match="the network fails: RuntimeError: no device"):
        infoset.evaluate("kuhn_poker", NetworkPolicy("kuhn_poker", forward))


def test_a_network_is_asked_for_no_empty_batches() -> None:
    """All inputs of the second batch are known from the first one."""
    sizes: list[int] = []

    def forward(inputs: Any) -> Any:
        sizes.append(len(inputs))
        return np.zeros((len(inputs), 2))

    tree, which = tree_of(0, [((None, "K"),)])
    many = np.repeat(which, BATCH + 1)
    policy = NetworkPolicy("kuhn_poker", forward, TensorEncoding("blind", Blind(("pass", "bet"))))
    ask(policy, tree, many, np.zeros(len(many), np.int64), [("pass", "bet")])
    assert sizes == [1]


def test_an_action_without_a_column_is_named() -> None:
    encoding = FunctionEncoding("three", lambda player, infostate: np.zeros(3), ("pass", "fold"), (3,))
    with pytest.raises(errors.ParameterError, match="no column for the action 'bet'; it has pass, fold"):
        infoset.evaluate("kuhn_poker", NetworkPolicy("kuhn_poker", lambda inputs: inputs[:, :2], encoding))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One network for Kuhn poker in three formats."""
    pytest.importorskip("onnx")
    folder = tmp_path_factory.mktemp("networks")
    net, inputs = network(11, 2), torch.zeros(2, 11)
    found = {word: folder / f"net.{word}" for word in ("pt", "pt2", "onnx")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(net, inputs).save(str(found["pt"]))
        batch = torch.export.Dim("batch")
        torch.export.save(torch.export.export(net, (torch.zeros(3, 11),), dynamic_shapes=({0: batch},)), found["pt2"])
        torch.onnx.export(
            net, (inputs,), str(found["onnx"]), dynamic_axes={"x": {0: "n"}}, input_names=["x"], dynamo=False
        )
        torch.save(net, folder / "pickled.pt")
        torch.save(net.state_dict(), folder / "weights.pt")
    return found | {"pickled": folder / "pickled.pt", "weights": folder / "weights.pt"}


def test_files_are_the_network_that_they_were_written_from(files: dict[str, Path]) -> None:
    exact = infoset.evaluate("kuhn_poker", NetworkPolicy("kuhn_poker", numpy_of(network(11, 2)), "information-state"))
    for agent in (f"torch:{files['pt']}", f"torch:{files['pt2']}", f"onnx:{files['onnx']}"):
        found = infoset.evaluate("kuhn_poker", agent)
        assert found.exact
        assert found.exploitability == pytest.approx(exact.exploitability, abs=1e-6)
        assert infoset.load_agent(agent).name == f"{agent[: agent.index(':')]}(path={agent.partition(':')[2]})"
    series = infoset.play_series("kuhn_poker", [f"torch:{files['pt']}", f"onnx:{files['onnx']}"], games=3)
    assert series.agents[0].faults == {"illegal": 0, "late": 0, "error": 0}


@pytest.mark.parametrize(("word", "message"), [
    ("pickled", "neither TorchScript nor an exported program"),
    ("weights", "neither TorchScript nor an exported program"),
    ("onnx", "no network of PyTorch"),
])  # fmt: skip
def test_files_with_anything_but_a_program_of_tensors_are_refused(
    files: dict[str, Path], word: str, message: str
) -> None:
    with pytest.raises(errors.PolicyError, match=message):
        infoset.evaluate("kuhn_poker", f"torch:{files[word]}")


def test_programs_may_call_operators_of_tensors_alone(files: dict[str, Path], tmp_path: Path) -> None:
    for source, old, new, message in (
        (
            "pt2",
            "torch.ops.aten.linear.default",
            "torch.ops.other.linear.default",
            "allowed: operators of torch.ops.aten",
        ),
        ("pt", "torch.linear", "torch.save", "it calls save; allowed: operators of tensors"),
    ):
        changed = tmp_path / f"changed.{source}"
        with zipfile.ZipFile(files[source]) as before, zipfile.ZipFile(changed, "w") as after:
            for info in before.infolist():
                data = before.read(info)
                after.writestr(info.filename, data.replace(old.encode(), new.encode()))
        with pytest.raises(errors.PolicyError, match=message):
            infoset.evaluate("kuhn_poker", f"torch:{changed}")


def test_a_network_that_does_not_fit_is_refused_with_what_was_tried(files: dict[str, Path]) -> None:
    with pytest.raises(errors.PolicyError, match=r"does not fit leduc_poker; tried the inputs observation \(16,\)"):
        infoset.evaluate("leduc_poker", f"onnx:{files['onnx']}")
    with pytest.raises(errors.PolicyError, match=r"tried the inputs observation \(7,\) with 2 actions$"):
        infoset.evaluate("kuhn_poker", f"torch(path={files['pt']},encoding=observation)")


@pytest.mark.parametrize("name", ["liars_dice(dice_sides=3)", "tiny_hanabi"])
def test_a_network_that_fits_both_tensors_needs_the_name_of_its_own(name: str, tmp_path: Path) -> None:
    """Both tensors have the same shape in these games; the first one would give a wrong figure without notice."""
    encoding, other = (encoding_of(Compiled.of(name), kind) for kind in ("information-state", "observation"))
    assert encoding.shape == other.shape
    net = network(int(np.prod(encoding.shape)), len(encoding.actions))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(net, torch.zeros(1, *encoding.shape)).save(str(tmp_path / "net.pt"))
    with pytest.raises(
        errors.PolicyError, match=r"fits 2 encodings .*: encoding=observation or encoding=information-st"
    ):
        infoset.evaluate(name, f"torch:{tmp_path / 'net.pt'}")
    found = infoset.evaluate(name, f"torch(path={tmp_path / 'net.pt'},encoding=information-state)")
    assert found.values == pytest.approx(
        infoset.evaluate(name, NetworkPolicy(name, numpy_of(net), encoding)).values, abs=1e-6
    )


@pytest.mark.parametrize(("inputs", "word"), [(1, "onnx"), (2, "pt2")])
def test_a_network_for_one_number_of_inputs_is_refused(inputs: int, word: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    net, path = network(11, 2), tmp_path / f"net.{word}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if word == "onnx":
            torch.onnx.export(net, (torch.zeros(inputs, 11),), str(path), input_names=["x"], dynamo=False)
        else:
            torch.export.save(torch.export.export(net, (torch.zeros(inputs, 11),)), path)
    with pytest.raises(
        errors.PolicyError, match=rf"\(11,\) with 2 actions, of which it takes {inputs} at once; allowed"
    ):
        infoset.evaluate("kuhn_poker", f"{'onnx' if word == 'onnx' else 'torch'}:{path}")


def test_missing_files_and_wrong_options(tmp_path: Path) -> None:
    for word in ("torch", "onnx"):
        with pytest.raises(errors.PolicyError, match="no such file"):
            infoset.evaluate("kuhn_poker", f"{word}:{tmp_path / 'none.pt'}")
        with pytest.raises(errors.ParameterError, match="path is missing"):
            infoset.load_agent(word)
    with pytest.raises(errors.ParameterError, match="logits, probabilities, values"):
        infoset.load_agent("torch(path=a.pt,output=numbers)")


def test_a_policy_made_by_python_code_plays(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import infoset\n\n\ndef uniform():\n"
        "    return infoset.NetworkPolicy('kuhn_poker', lambda inputs: 0 * inputs[:, 0, :2])\n"
    )
    found = infoset.evaluate("kuhn_poker", f"python:{tmp_path / 'mine.py'}:uniform")
    assert found.exploitability == pytest.approx(11 / 24)


def test_states_without_a_first_record_begin_empty() -> None:
    tree = StateTree(np.array([-1, 0]), np.array([-1, 0]), np.array([0, 0]), [("Rock", ())])
    assert [known_in(tree, state) for state in (0, 1)] == [(), (("Rock", ()),)]
