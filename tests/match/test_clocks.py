"""``--seconds`` and memory: sizes are said before memory is taken, clocks are looked at while a game is listed."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import infoset
from infoset import GameTree, NativeState, Observed, SequenceForm, solving
from infoset.base import Action, JointAction
from infoset.compiled import Compiled
from infoset.errors import BudgetError, ClockError
from infoset.policies.asking import plan_on_tree
from infoset.solvers.job import Job, Limits, Point, Watcher, advance
from infoset.solvers.tabular import trembles
from infoset.solvers.tabular.logit import LogitSystem
from infoset.tree import graph as graph_module
from infoset.tree.graph import explore

ROLES = 40


class _Crowd(NamedTuple):
    actions: int
    over: bool = False


class CrowdState(NativeState, _Crowd):
    """Everybody has so many moves at once, then it is over."""

    @property
    def terminal(self) -> bool:
        return self.over

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return () if self.over else tuple(range(self.actions))

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        return Observed(CrowdState(self.actions, True), (None,) * len(actions))

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * ROLES


class CrowdGame:
    """One step of players who all move at once."""

    def __init__(self, players: int = ROLES, actions: int = 2) -> None:
        self.name, self.actions = "crowd", actions
        self.players = tuple(f"P{k}" for k in range(players))

    def start(self) -> Observed:
        return Observed(CrowdState(self.actions), (None,) * len(self.players))


def crowd_description(roles: int) -> str:
    """The same as a description: each role has two moves, and all are seen."""
    lines = [f"(role r{k})" for k in range(roles)]
    lines += ["(init (step 1))", "(<= (legal ?r a) (role ?r))", "(<= (legal ?r b) (role ?r))"]
    lines += ["(<= (next (step 2)) (true (step 1)))", "(<= (next (did ?r ?m)) (does ?r ?m))"]
    lines += ["(<= (sees ?r ?m) (does ?r ?m))", "(<= terminal (true (step 2)))"]
    lines += ["(<= (goal ?r 100) (true (did ?r a)))", "(<= (goal ?r 0) (true (did ?r b)))"]
    return "\n".join(lines)


def test_joint_moves_that_do_not_fit_are_refused_before_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BudgetError, match=r"joint moves"):
        infoset.solve(CrowdGame(), "cfr", seconds=5)
    played: list[JointAction] = []
    monkeypatch.setattr(
        CrowdState, "play_unchecked", lambda state, actions, chance_outcome=None: played.append(actions)
    )
    with pytest.raises(BudgetError, match=r"one state has 1,099,511,627,776 joint moves, which take [\d,.]+ GiB"):
        explore(CrowdGame())
    assert not played


@pytest.mark.parametrize("roles", [40, 64])
def test_a_description_of_many_roles_is_refused_at_once(roles: int, tmp_path: Path) -> None:
    """64 roles of two moves have as many joint moves as overflow a word of 64 bits."""
    (tmp_path / "crowd.gdl").write_text(crowd_description(roles))
    game = infoset.load(str(tmp_path / "crowd.gdl"))
    with pytest.raises(BudgetError, match="too large to enumerate"):
        explore(game)


def test_the_clock_is_looked_at_within_one_state() -> None:
    """Of 65,536 joint moves few are listed before the first look; no other state has any."""
    counts: list[int] = []

    def rings(count: int) -> None:
        counts.append(count)
        if len(counts) == 3:
            raise ClockError("the time limit was reached")

    with pytest.raises(ClockError):
        explore(CrowdGame(players=16), progress=rings)
    assert counts[-1] < 4 * graph_module.EDGES_A_REPORT


class ManyAnswers(NativeState, _Crowd):
    """One player moves, and chance has so many answers."""

    @property
    def terminal(self) -> bool:
        return self.over

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return () if self.over else ("go",)

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        return tuple((k, 1 / self.actions) for k in range(self.actions))

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        return Observed(ManyAnswers(int(chance_outcome or 0), True), (chance_outcome,))

    def returns(self) -> tuple[float, ...]:
        return (float(self.actions),)


class ManyAnswersGame:
    name, players = "answers", ("P1",)

    def start(self) -> Observed:
        return Observed(ManyAnswers(20_000), (None,))


def test_the_clock_is_looked_at_while_answers_of_nature_are_listed() -> None:
    counts: list[int] = []

    def rings(count: int) -> None:
        counts.append(count)
        if count > 1:
            raise ClockError("the time limit was reached")

    with pytest.raises(ClockError):
        explore(ManyAnswersGame(), progress=rings)
    assert counts[-1] <= 2 * graph_module.EDGES_A_REPORT


class _Deep(NamedTuple):
    steps: int
    done: int = 0


class DeepState(NativeState, _Deep):
    """Two players wait or stop in turn."""

    @property
    def terminal(self) -> bool:
        return self.done < 0 or self.done == self.steps

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return () if self.terminal or player != self.done % 2 else ("wait", "stop")

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        action = actions[self.done % 2]
        return Observed(DeepState(self.steps, self.done + 1 if action == "wait" else -self.done - 1), (action, action))

    def returns(self) -> tuple[float, ...]:
        paid = float(self.done * 7 % 5)
        return paid, -paid


class DeepGame:
    name, players = "deep", ("P1", "P2")

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def start(self) -> Observed:
        return Observed(DeepState(self.steps), (None, None))


def test_what_a_method_takes_of_a_deep_tree_is_said_before_memory_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of moves on a way grow with the cube of the depth, polynomials and tables with its square."""
    tree = GameTree.of(DeepGame(4000))
    form = SequenceForm.of(tree)
    with pytest.raises(BudgetError, match=r"8,000 moves, and [\d.e+]+ pairs of moves .* take [\d,.]+ GiB, where"):
        infoset.solve(tree, "logit", seconds=5)
    monkeypatch.setattr("infoset.memory.free_memory", lambda: 1 << 20)
    with pytest.raises(
        BudgetError, match=r"8,002 sequences; the table of lcp takes [\d.]+ GiB, where 1.0 MiB are free"
    ):
        infoset.linear_complementarity(form)
    with pytest.raises(
        BudgetError, match=r"sequences of up to 2,000 moves; the polynomials of hands that tremble take"
    ):
        infoset.trembling_equilibrium(form, "quasi-perfect")


def test_what_is_reckoned_is_of_the_size_of_what_is_made() -> None:
    tree = GameTree.of(DeepGame(60))
    form = SequenceForm.of(tree)
    system = LogitSystem(tree, form)
    made = sum(array.nbytes for array in system.pairs)
    reckoned = float(system.room.split()[0]) * 2**20
    assert made / 4 < reckoned < 40 * made
    program = trembles._Program(form, 0, trembles.TREMBLES["quasi-perfect"])
    made = program.right.nbytes + program.costs.nbytes + program.least.nbytes
    assert made < float(trembles.check_polynomials(form, "quasi-perfect").split()[0]) * 2**20 < 40 * made


def test_a_long_step_of_the_logit_path_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worked out beside, it comes to the same; where time is up before the first point there is uniform play."""
    plain = infoset.solve("kuhn_poker", "logit(at=3)")
    monkeypatch.setattr("infoset.solvers.tabular.logit.QUICK", 0)
    beside = infoset.solve("kuhn_poker", "logit(at=3)")
    assert (beside.values, beside.iterations, beside.notes) == (plain.values, plain.iterations, plain.notes)
    none = infoset.solve("leduc_poker", "logit", seconds=0)
    assert (none.stopped, none.iterations) == ("seconds", 0)


class Dear(Job):
    """Work of no time, at which it takes a second to look."""

    def __init__(self, clock: list[float]) -> None:
        self.clock, self.looks = clock, 0

    def step(self, iterations: int, until: float = inf) -> None:
        self.iteration += iterations
        self.clock[0] += 0.01 * iterations

    def point(self, seconds: float) -> Point:
        self.looks += 1
        self.clock[0] += 1.0
        return Point(self.iteration, seconds)

    def save(self) -> dict[str, Any]:
        return {"iteration": np.array(self.iteration)}

    def restore(self, saved: dict[str, Any]) -> None:
        """Never asked for."""


def test_looks_take_no_longer_than_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a limit of 5 seconds of work there are about 5 looks of a second, not one at each check."""
    now = [0.0]
    monkeypatch.setattr("infoset.solvers.job.time.monotonic", lambda: now[0])
    work = Dear(now)
    assert advance(work, Limits(seconds=5.0), Watcher())[0] == "seconds"
    assert 2 <= work.looks <= 8 and now[0] < 15


def test_the_clock_of_building_does_not_ring_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree of a sampled game is first needed when it is looked at; the figures are exact all the same."""
    begun: list[bool] = []

    def within(seconds: float, building: object) -> Any:
        def watched(count: int) -> None:
            if begun:
                raise ClockError("the clock of building rang after it was built")

        return watched

    monkeypatch.setattr(solving, "within", within)
    watcher = Watcher(begin=lambda work, limits: begun.append(True))
    solution = infoset.solve("kuhn_poker", "mccfr", iterations=2000, seconds=50.0, watcher=watcher)
    assert solution.exploitability is not None and solution.why_not == ""


def test_figures_that_take_too_long_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy is there, and why nothing is said of it."""

    def late(*_: object, **__: object) -> None:
        raise ClockError("it is late")

    monkeypatch.setattr("infoset.sizes.SAMPLES_EVALUATED", 0)
    monkeypatch.setattr(solving, "evaluate", late)
    solution = infoset.solve("kuhn_poker", "mccfr", iterations=2000, seconds=50.0)
    assert solution.exploitability is None
    assert solution.why_not.startswith("its exact figures are not worked out after")


def test_a_sampled_policy_is_read_off_state_by_state() -> None:
    """What it plays everywhere is what it says when it is asked for each state by all that is known there."""
    for name in ("leduc_poker", "gdl:monty_hall", "kuhn_poker(players=3)"):
        compiled = Compiled.of(name)
        policy = infoset.solve(compiled, "mccfr", iterations=3000).policy.on(compiled)
        asked = plan_on_tree(policy, compiled.tree, compiled.form)
        assert np.array_equal(policy.plan(compiled.tree, compiled.form), asked)
