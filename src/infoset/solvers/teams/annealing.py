"""Simulated annealing (Kirkpatrick, Gelatt & Vecchi 1983) against a best response, for players with one payoff.

All players but one, the *responder*, hold pure strategies.  Such a profile is worth what the responder's best response
to it earns, so a move that would be bad against the old answer is judged by the new one.  A step changes one move of
one information set and keeps the change if that is worth more; a change that costs ``loss`` is kept with probability
``exp(-loss / temperature)``.  Only the rows that a change touches are added up again.

Some pure profile is optimal, and the responder's part of it is a best response: no optimum lies outside the search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import FloatArray, IntArray
from infoset.errors import ParameterError
from infoset.jit import inner_kernel, kernel, linked_kernel
from infoset.names import check_range
from infoset.policies.tabular import TabularPolicy
from infoset.randomness import Words, below, next_word
from infoset.solvers.metrics import best_response, check_common_payoff, expected_values, polish
from infoset.solvers.work import Limits, Run, Runs, Watcher, advance
from infoset.tree.kernels import best_up
from infoset.tree.payoff_scale import EQUAL
from infoset.tree.plans import realisation
from infoset.tree.sequence_form import SequenceForm

MOST_SWEEPS, MOST_RUNS = 10**9, 10**7
SHAKES = 20  # sweeps that measure what a change costs


class Leaders(NamedTuple):
    """Where the players who do not respond decide."""

    sets: IntArray  # (L,) their information sets
    owner: IntArray  # (I,) whose each information set is
    behind: IntArray  # (I,) all information sets, sorted by the sequence that leads to them
    first_behind: IntArray  # (S + 1,) the first of ``behind`` for each sequence


class AnnealingState(NamedTuple):
    """Everything that changes."""

    choice: IntArray  # (I,) the move of each of the leaders' sets, reached or not
    best: IntArray  # (I,) those of the most valuable profile so far
    plan: FloatArray  # (S,) which of the leaders' sequences are played, 0 or 1
    gain: FloatArray  # (S,) what the rows that end the responder's sequences pay
    values: FloatArray  # (S,) scratch
    stack: IntArray  # (I + 1,) scratch
    worth: FloatArray  # (2,) of the profile now, and of the best so far
    shifts: FloatArray  # (2,) sum of the sizes of the changes of worth that were tried, and their number
    stream: Words  # (1,)


@inner_kernel
def switch(a, leaders, s, responder, sequence, player, sign):
    """Put ``sequence`` and what its player chooses behind it into the plan (``sign`` 1), or take it out (-1)."""
    n = a.rows.shape[0]
    slot = responder - (responder > player)
    s.stack[0] = sequence
    waiting = 1
    while waiting > 0:
        waiting -= 1
        q = s.stack[waiting]
        s.plan[q] += sign
        own = q - a.sequences[player]
        for t in range(a.rows[player, own], a.rows[player, own + 1]):
            pays = sign * a.payoffs[player, t]
            for k in range(n - 1):
                if k != slot:
                    pays *= s.plan[a.others[player, k, t]]
            s.gain[a.others[player, slot, t]] += pays
        for j in range(leaders.first_behind[q], leaders.first_behind[q + 1]):
            k = leaders.behind[j]
            s.stack[waiting] = a.first[k] + s.choice[k]
            waiting += 1


@linked_kernel
def respond(a, s, responder):
    """What the responder's best response to the leaders earns."""
    begin = a.sequences[responder]
    for q in range(begin, a.sequences[responder + 1]):
        s.values[q] = s.gain[q]
    best_up(a, responder, s.values)
    return s.values[begin]


@kernel
def enter(a, leaders, s, responder):
    """Play the choices from the start of the game."""
    for player in range(a.rows.shape[0]):
        if player != responder:
            switch(a, leaders, s, responder, np.int64(a.sequences[player]), player, 1.0)
    s.worth[:] = respond(a, s, responder)
    s.best[:] = s.choice


@kernel
def sweep(a, leaders, s, responder, temperature):
    """As many steps as there are leaders' sets, each at one drawn at random.  Where nobody comes, a change is free."""
    for _ in range(len(leaders.sets)):
        k = leaders.sets[below(s.stream, len(leaders.sets))]
        old, new = s.choice[k], below(s.stream, a.size[k] - 1)
        if new >= old:
            new += 1
        if s.plan[a.parent[k]] == 0.0:
            s.choice[k] = new
            continue
        switch(a, leaders, s, responder, a.first[k] + old, leaders.owner[k], -1.0)
        switch(a, leaders, s, responder, a.first[k] + new, leaders.owner[k], 1.0)
        worth = respond(a, s, responder)
        loss = s.worth[0] - worth
        s.shifts[0] += abs(loss)
        s.shifts[1] += 1.0
        if loss <= 0.0 or (next_word(s.stream) >> np.uint64(11)) * 2.0**-53 < np.exp(-loss / temperature):
            s.choice[k], s.worth[0] = new, worth
            if worth > s.worth[1] + EQUAL * max(abs(worth), abs(s.worth[1])):
                s.worth[1] = worth
                s.best[:] = s.choice
        else:
            switch(a, leaders, s, responder, a.first[k] + new, leaders.owner[k], -1.0)
            switch(a, leaders, s, responder, a.first[k] + old, leaders.owner[k], 1.0)


@dataclass(frozen=True, eq=False)
class Annealing:
    """What came of ``anneal``; ``R`` runs were over.

    >>> form = infoset.SequenceForm.of(infoset.load("trade_comm(items=2,messages=2)"))
    >>> found = infoset.anneal(form, runs=2, seed=1)
    >>> found.value, found.values.shape, found.policy().num_infosets == form.num_infosets
    (1.0, (2,), True)
    """

    form: SequenceForm = field(repr=False)
    value: float
    """What each player earns with ``plan``."""
    plan: FloatArray = field(repr=False)
    """(S,) the best profile of all runs: pure, and no player gains by deviating alone."""
    values: FloatArray
    """(R,) what each run earned."""
    sweeps: int
    seed: int
    seconds: float
    stopped: str
    """``runs``, ``seconds`` or ``interrupted``."""

    def policy(self) -> TabularPolicy:
        """``plan`` as a policy."""
        made_by = {"method": "annealing", "sweeps": self.sweeps, "runs": len(self.values), "seed": self.seed}
        return TabularPolicy.from_plan(self.form, self.plan, made_by)


@checks_arguments
def anneal(
    form: SequenceForm,
    *,
    sweeps: int = 2000,
    runs: int = 8,
    seconds: float = np.inf,
    seed: int = 0,
    progress: Callable[[int, float], object] | None = None,
) -> Annealing:
    """The best of ``runs`` annealings from random profiles, each polished by best responses in turn.

    A run makes ``sweeps`` sweeps, each as many steps as the leaders have information sets.  The temperature starts at
    the mean size of the changes of worth in a random walk and falls to 0 with the cube of the sweeps left.  The players
    respond by turns, the last one in the first run: who is best at it depends on the game.

    When ``seconds`` are over, looked at after each sweep and without the time to compile, the run at hand ends with the
    best that it has found; otherwise the result depends on ``seed`` alone.  ``progress`` is told how many runs are
    over, and the best value so far; Ctrl-C ends with those runs.  A step takes one pass over the responder's sequences.

    Raises ``UnsupportedGameError`` where payoffs differ, and ``ParameterError``.

    >>> form = infoset.SequenceForm.of(infoset.load("trade_comm(items=2,messages=2)"))
    >>> infoset.anneal(form, runs=2, seed=1).value
    1.0
    """
    if not seconds > 0:
        raise ParameterError(f"seconds={seconds} is out of range; allowed: above 0")
    work = annealings(form, sweeps, runs, seed)
    limits = Limits(seconds=None if seconds == np.inf else seconds)
    stopped, spent = advance(work, limits, Watcher(advance=work.teller(progress)))
    best = work.best
    if best is None:
        raise KeyboardInterrupt
    values = np.array([float(result["value"]) for result in work.known])
    stopped = "runs" if stopped == work.finished_as else stopped
    return Annealing(form, float(best["value"]), best["plan"], values, sweeps, seed, spent, stopped)


def annealings(form: SequenceForm, sweeps: int, runs: int, seed: int) -> Annealings:
    """Runs as ``anneal`` makes them.  Raises ``ParameterError``, and ``UnsupportedGameError`` where payoffs differ."""
    check_range("sweeps", sweeps, 1, MOST_SWEEPS)
    check_range("runs", runs, 1, MOST_RUNS)
    check_range("seed", seed, 0, 2**63)
    check_common_payoff(form)
    _compile(form)
    return Annealings(form, sweeps, runs, seed)


class Annealings(Runs):
    """Annealings from random profiles; the players respond by turns, the last one in the first run."""

    def __init__(self, form: SequenceForm, sweeps: int, runs: int, seed: int) -> None:
        self.form, self.seed = form, seed

        def make(run: int) -> AnnealingRun:
            responder = form.num_players - 1 - run % form.num_players
            return AnnealingRun(form, responder, sweeps, np.random.SeedSequence((seed, run)))

        super().__init__(make, runs)

    def policy(self) -> TabularPolicy | None:
        """The best so far."""
        best = self.best
        return None if best is None else TabularPolicy.from_plan(self.form, best["plan"], {"method": "annealing"})


class AnnealingRun(Run):
    """One annealing at work; an iteration is a sweep, the first ``SHAKES`` measure what a change costs."""

    def __init__(self, form: SequenceForm, responder: int, sweeps: int, seed: np.random.SeedSequence) -> None:
        self.form, self.responder, self.sweeps = form, responder, sweeps
        self.leaders, self.state = find_leaders(form, responder), begin(form, seed)
        self.total = SHAKES + sweeps
        self.hottest = np.zeros(1)
        enter(form.arrays, self.leaders, self.state, responder)

    def step(self, iterations: int, until: float = np.inf) -> None:
        end = min(self.iteration + iterations, self.total)
        while self.iteration < end and (monotonic() < until or not self.iteration):
            sweep(self.form.arrays, self.leaders, self.state, self.responder, self._temperature())
            self.iteration += 1

    def _temperature(self) -> float:
        done = self.iteration - SHAKES
        if done < 0:
            return float(np.inf)
        if done == 0:
            self.hottest[0] = self.state.shifts[0] / max(self.state.shifts[1], 1.0)
        return float(self.hottest[0]) * (1 - done / self.sweeps) ** 3

    def result(self) -> dict[str, FloatArray]:
        """A pure profile (S,) in which nobody gains by deviating alone, and what it is worth."""
        form, strategy = self.form, np.zeros(self.form.num_sequences)
        strategy[form.arrays.first.astype(np.int64) + self.state.best] = 1.0
        plan = polish(form, best_response(form, realisation(form, strategy), self.responder))
        return {"value": np.array(expected_values(form, plan)[0]), "plan": plan}

    def kept(self) -> dict[str, Any]:
        return {**self.state._asdict(), "hottest": self.hottest}


def _compile(form: SequenceForm) -> None:
    """A sweep of no steps."""
    leaders, s = find_leaders(form, 0), begin(form, np.random.SeedSequence(0))
    enter(form.arrays, leaders, s, 0)
    sweep(form.arrays, leaders._replace(sets=leaders.sets[:0]), s, 0, np.inf)


def find_leaders(form: SequenceForm, responder: int) -> Leaders:
    """All players but the responder."""
    parent = form.arrays.parent
    behind = np.argsort(parent, kind="stable").astype(np.int32)
    first_behind = np.searchsorted(parent[behind], np.arange(form.num_sequences + 1)).astype(np.int32)
    sets = np.flatnonzero(form.infoset_player != responder).astype(np.int32)
    return Leaders(sets, form.infoset_player.astype(np.int64), behind, first_behind)


def begin(form: SequenceForm, seed: np.random.SeedSequence) -> AnnealingState:
    """Choices at random that are not yet played, and room to work in."""
    first, stream = seed.spawn(2)
    word = stream.generate_state(1, np.uint64).astype(np.uint64)
    choice = np.random.default_rng(first).integers(form.arrays.size.astype(np.int32)).astype(np.int32)
    plan, gain, values = np.zeros((3, form.num_sequences))
    stack = np.zeros(form.num_infosets + 1, dtype=np.int32)
    return AnnealingState(choice, choice.copy(), plan, gain, values, stack, np.zeros(2), np.zeros(2), word)
