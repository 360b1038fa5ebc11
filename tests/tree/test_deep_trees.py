"""Trees of thousands of narrow levels: as quick a node as any other, stopped at any moment, the same arrays."""

from __future__ import annotations

import json
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from command_line import run_infoset as run
from infoset import GameTree, NativeState, Observed, SequenceForm, TabularPolicy, evaluate, load, solving
from infoset.base import Action, Game, JointAction
from infoset.errors import BudgetError
from infoset.tree import game_tree, sequence_form
from infoset.tree.graph import explore
from random_games import RandomGame


def centipede(levels: int) -> str:
    """Alice and Bob take or pass in turn; whoever takes has the larger share of what grew so far."""
    lines = ['EFG 2 R "Centipede" { "Alice" "Bob" }']
    for k in range(levels):
        shares = (k + 2, k - 1) if k % 2 == 0 else (k - 1, k + 2)
        lines.append(f'p "" {k % 2 + 1} {k // 2 + 1} "" {{ "take" "pass" }} 0')
        lines.append(f't "" {k + 1} "" {{ {shares[0]}, {shares[1]} }}')
    return "\n".join([*lines, f't "" {levels + 1} "" {{ {levels}, {levels} }}'])


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("deep") / "centipede.efg"
    file.write_text(centipede(30_000))
    return file


@pytest.mark.slow
def test_thirty_thousand_levels_need_no_work_of_their_own(deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No level is worth the calls of NumPy, which took a minute; the figures are those of the theory."""
    for module, name in ((game_tree, "spread"), (sequence_form, "descend")):
        monkeypatch.setattr(module, name, lambda *_: pytest.fail("a narrow level was unrolled as a wide one"))
    form = SequenceForm.of(GameTree.of(load(str(deep))))
    assert (form.num_histories, form.num_infosets) == (60_001, 30_000)

    def takes(key: str, actions: tuple[str, ...]) -> dict[str, float]:
        return {"take": 1.0}

    def passes(key: str, actions: tuple[str, ...]) -> dict[str, float]:
        return {"pass": 1.0}

    both = evaluate(form, TabularPolicy.from_function(form, takes).plan(form))
    assert (both.values, both.nash_conv) == ((2.0, -1.0), 0.0)
    neither = evaluate(form, TabularPolicy.from_function(form, passes).plan(form))
    assert neither.values == (30_000.0, 30_000.0)
    assert neither.best_response_values == (30_000.0, 30_001.0)


@pytest.mark.parametrize(
    "game",
    [
        *(RandomGame(seed, 2 + seed % 2, 4) for seed in range(8)),
        *map(load, ("leduc_poker", "liars_dice(dice_sides=4)")),
    ],
)
def test_narrow_and_wide_levels_give_the_same_arrays(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for narrow in (0, 10**9):
        monkeypatch.setattr(game_tree, "NARROW", narrow)
        monkeypatch.setattr(sequence_form, "NARROW", narrow)
        tree = GameTree.unroll(explore(game))
        form = SequenceForm.of(tree)
        arrays = [getattr(tree, field.name) for field in fields(tree)]
        found.append(
            [a for a in (*arrays, *form.arrays) if isinstance(a, np.ndarray)] + [tree.states.parent, form.keys]
        )
    for wide, narrow in zip(*found, strict=True):
        assert np.array_equal(wide, narrow)


class _Stop(BaseException):
    """As ``KeyboardInterrupt``, which pytest would hear itself."""


@pytest.mark.parametrize("part", range(3))
def test_building_is_heard_and_stopped_in_each_of_its_parts(part: int, tmp_path: Path) -> None:
    """Positions, histories, sequences: whatever the callback raises, a Ctrl-C for example, ends the work there."""
    file = tmp_path / "game.efg"
    file.write_text(centipede(8000))
    counts: list[int] = []

    def progress(count: int) -> None:
        counts.append(count)
        if sum(after < before for before, after in pairwise(counts)) == part:
            raise _Stop

    with pytest.raises(_Stop):
        SequenceForm.of(load(str(file)), progress=progress)


def test_seconds_bound_building_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "LEAST_SECONDS", 0.0)
    heard: list[int] = []
    with pytest.raises(BudgetError, match=r"could not be built in 1e-09 s, --seconds 1e-09; \d"):
        SequenceForm.of(load("leduc_poker"), progress=solving.within(1e-9, heard.append))
    assert heard
    assert solving.within(None, heard.append) == heard.append


class _Long(NamedTuple):
    steps: int
    done: int = 0


class LongState(NativeState, _Long):
    """One player waits or stops, again and again, and remembers each time."""

    @property
    def terminal(self) -> bool:
        return self.done < 0 or self.done == self.steps

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return () if self.terminal else ("wait", "stop")

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        return Observed(LongState(self.steps, self.done + 1 if actions[0] == "wait" else -1), (None,))

    def returns(self) -> tuple[float, ...]:
        return (float(self.done),)


class LongGame:
    name, players = "long", ("P1",)

    def start(self) -> Observed:
        return Observed(LongState(2000), (None,))


def test_keys_that_would_fill_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is as long as its game is deep, so together they are the square of that."""
    tree = GameTree.of(LongGame())
    assert tree.states.characters() == sum(len(" [wait]") * k for k in range(2000))
    assert len(SequenceForm.of(tree).keys[-1]) == len(" [wait]") * 1999 - 1
    monkeypatch.setattr(sequence_form, "free_memory", lambda: 4_000_000)
    with pytest.raises(BudgetError, match=r"long: it is 2,000 moves deep, and the keys .* would take 13,993,000 bytes"):
        SequenceForm.of(tree).keys  # noqa: B018


def test_the_command_line_solves_a_deep_tree(tmp_path: Path) -> None:
    (tmp_path / "c.efg").write_text(centipede(3000))
    done = run("solve", "c.efg", "--method", "cfr+", "--iterations", "50", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["iterations"] == 50
    assert "6,001 (3,001 ends, depth 3000)" in run("show", "c.efg", cwd=tmp_path).stdout
