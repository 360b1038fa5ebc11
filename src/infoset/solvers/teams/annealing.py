"""Simulated annealing (Kirkpatrick, Gelatt & Vecchi 1983) against a best response, for players with a common payoff.

All players but one, the *responder*, play pure strategies.  The value of such a profile is that of the responder's best
response to it, so that a change of a move is judged against the new response, not the old one.  A step changes the move
at one information set and keeps the change if that raises the value; a change that costs ``loss`` is kept with
probability ``exp(-loss / temperature)``.  Only the rows that a change affects are summed again.

Some pure profile is optimal, and the responder's part of it is a best response, so that the search space contains an
optimum.
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
from infoset.solvers.job import Limits, MultiStart, RunInSeries, Watcher, advance
from infoset.solvers.metrics import best_response, check_common_payoff, expected_values, polish
from infoset.tree.kernels import best_up
from infoset.tree.payoff_scale import EQUAL
from infoset.tree.plans import realisation
from infoset.tree.sequence_form import FormArrays, SequenceForm

MOST_SWEEPS, MOST_RUNS = 10**9, 10**7
SHAKES = 20  # sweeps that measure the mean cost of a change


class Leaders(NamedTuple):
    """The information sets of the leaders, the players who do not respond."""

    sets: IntArray  # (L,) their information sets
    owner: IntArray  # (I,) the player of each information set
    successors: IntArray  # (I,) all information sets, sorted by the sequence that leads to them
    first_successor: IntArray  # (S + 1,) the first of ``successors`` for each sequence


class AnnealingState(NamedTuple):
    """The mutable state of an annealing."""

    choice: IntArray  # (I,) the move of each of the leaders' sets, reached or not
    best: IntArray  # (I,) the choices of the best profile so far
    plan: FloatArray  # (S,) 1 for the leaders' sequences that are played, else 0
    gain: FloatArray  # (S,) payoffs of the rows that end with the responder's sequences
    values: FloatArray  # (S,) scratch
    stack: IntArray  # (I + 1,) scratch
    profile_value: FloatArray  # (2,) values of the current profile and of the best so far
    shifts: FloatArray  # (2,) sum of the absolute changes of value that were tried, and their number
    stream: Words  # (1,)


@inner_kernel
def switch(
    a: FormArrays,
    leaders: Leaders,
    s: AnnealingState,
    responder: int,
    sequence: int | np.int64,
    player: int,
    sign: float,
) -> None:
    """Add ``sequence`` and its player's later choices to the plan (``sign`` 1), or remove them (-1)."""
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
        for j in range(leaders.first_successor[q], leaders.first_successor[q + 1]):
            k = leaders.successors[j]
            s.stack[waiting] = a.first[k] + s.choice[k]
            waiting += 1


@linked_kernel
def respond(a: FormArrays, s: AnnealingState, responder: int) -> float:
    """Return the value of the responder's best response to the leaders."""
    begin = a.sequences[responder]
    for q in range(begin, a.sequences[responder + 1]):
        s.values[q] = s.gain[q]
    best_up(a, responder, s.values)
    return s.values[begin]  # type: ignore[no-any-return]


@kernel
def enter(a: FormArrays, leaders: Leaders, s: AnnealingState, responder: int) -> None:
    """Play the choices from the start of the game."""
    for player in range(a.rows.shape[0]):
        if player != responder:
            switch(a, leaders, s, responder, np.int64(a.sequences[player]), player, 1.0)
    s.profile_value[:] = respond(a, s, responder)
    s.best[:] = s.choice


@kernel
def sweep(a: FormArrays, leaders: Leaders, s: AnnealingState, responder: int, temperature: float) -> None:
    """Take one step per leaders' set, each at a set drawn at random; at unreached sets every change is kept."""
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
        profile_value = respond(a, s, responder)
        loss = s.profile_value[0] - profile_value
        s.shifts[0] += abs(loss)
        s.shifts[1] += 1.0
        if loss <= 0.0 or (next_word(s.stream) >> np.uint64(11)) * 2.0**-53 < np.exp(-loss / temperature):
            s.choice[k], s.profile_value[0] = new, profile_value
            if profile_value > s.profile_value[1] + EQUAL * max(abs(profile_value), abs(s.profile_value[1])):
                s.profile_value[1] = profile_value
                s.best[:] = s.choice
        else:
            switch(a, leaders, s, responder, a.first[k] + new, leaders.owner[k], -1.0)
            switch(a, leaders, s, responder, a.first[k] + old, leaders.owner[k], 1.0)


@dataclass(frozen=True, eq=False)
class Annealing:
    """The result of ``anneal``, of ``R`` finished runs.

    >>> form = infoset.SequenceForm.of(infoset.load("trade_comm(items=2,messages=2)"))
    >>> found = infoset.anneal(form, runs=2, seed=1)
    >>> found.value, found.values.shape, found.policy().num_infosets == form.num_infosets
    (1.0, (2,), True)
    """

    form: SequenceForm = field(repr=False)
    value: float
    """Each player's payoff under ``plan``."""
    plan: FloatArray = field(repr=False)
    """(S,) the best profile of all runs: pure, and no player gains by deviating alone."""
    values: FloatArray
    """(R,) the value of each run."""
    sweeps: int
    seed: int
    seconds: float
    stopped: str
    """``runs``, ``seconds`` or ``interrupted``."""

    def policy(self) -> TabularPolicy:
        """Return ``plan`` as a policy."""
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
    """Return the best of ``runs`` annealings from random profiles, each polished by best responses in turn.

    A run makes ``sweeps`` sweeps, each of one step per information set of the leaders.  The temperature starts at the
    mean absolute change of value in a random walk and falls to 0 with the cube of the remaining sweeps.  The responder
    changes from run to run, from the last player on: which one is best depends on the game.

    When ``seconds`` are over, checked after each sweep and without compile time, the current run ends with the best
    profile that it has found; otherwise the result depends on ``seed`` alone.  ``progress`` is passed the number of
    finished runs and the best value so far; Ctrl-C ends with those runs.  A step takes one pass over the responder's
    sequences.

    Raises ``UnsupportedGameError`` where payoffs differ, and ``ParameterError``.

    >>> form = infoset.SequenceForm.of(infoset.load("trade_comm(items=2,messages=2)"))
    >>> infoset.anneal(form, runs=2, seed=1).value
    1.0
    """
    if not seconds > 0:
        raise ParameterError(f"seconds={seconds} is out of range; allowed: above 0")
    job = annealings(form, sweeps, runs, seed)
    limits = Limits(seconds=None if seconds == np.inf else seconds)
    stopped, spent = advance(job, limits, Watcher(advance=job.teller(progress)))
    best = job.best
    if best is None:
        raise KeyboardInterrupt
    values = np.array([float(result["value"]) for result in job.known])
    stopped = "runs" if stopped == job.finished_as else stopped
    return Annealing(form, float(best["value"]), best["plan"], values, sweeps, seed, spent, stopped)


def annealings(form: SequenceForm, sweeps: int, runs: int, seed: int) -> Annealings:
    """Return the runs of ``anneal`` as work.

    Raises ``ParameterError``, and ``UnsupportedGameError`` where payoffs differ.
    """
    check_range("sweeps", sweeps, 1, MOST_SWEEPS)
    check_range("runs", runs, 1, MOST_RUNS)
    check_range("seed", seed, 0, 2**63)
    check_common_payoff(form)
    # a sweep without steps, so that all kernels are compiled
    leaders, s = find_leaders(form, 0), begin(form, np.random.SeedSequence(0))
    enter(form.arrays, leaders, s, 0)
    sweep(form.arrays, leaders._replace(sets=leaders.sets[:0]), s, 0, np.inf)
    return Annealings(form, sweeps, runs, seed)


class Annealings(MultiStart):
    """Annealings from random profiles; the responder changes from run to run, from the last player on."""

    def __init__(self, form: SequenceForm, sweeps: int, runs: int, seed: int) -> None:
        self.form, self.seed = form, seed

        def make(run: int) -> AnnealingRun:
            responder = form.num_players - 1 - run % form.num_players
            return AnnealingRun(form, responder, sweeps, np.random.SeedSequence((seed, run)))

        super().__init__(make, runs)

    def policy(self) -> TabularPolicy | None:
        """Return the best profile so far."""
        best = self.best
        return None if best is None else TabularPolicy.from_plan(self.form, best["plan"], {"method": "annealing"})


class AnnealingRun(RunInSeries):
    """One annealing at work; an iteration is a sweep, and the first ``SHAKES`` measure the cost of a change."""

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
        """Return a pure profile (S,) in which nobody gains by deviating alone, and its value."""
        form, strategy = self.form, np.zeros(self.form.num_sequences)
        strategy[form.arrays.first.astype(np.int64) + self.state.best] = 1.0
        plan = polish(form, best_response(form, realisation(form, strategy), self.responder))
        return {"value": np.array(expected_values(form, plan)[0]), "plan": plan}

    def state_arrays(self) -> dict[str, Any]:
        return {**self.state._asdict(), "hottest": self.hottest}


def find_leaders(form: SequenceForm, responder: int) -> Leaders:
    """Return the information sets of all players but the responder."""
    parent = form.arrays.parent
    successors = np.argsort(parent, kind="stable").astype(np.int32)
    first_successor = np.searchsorted(parent[successors], np.arange(form.num_sequences + 1)).astype(np.int32)
    sets = np.flatnonzero(form.infoset_player != responder).astype(np.int32)
    return Leaders(sets, form.infoset_player.astype(np.int64), successors, first_successor)


def begin(form: SequenceForm, seed: np.random.SeedSequence) -> AnnealingState:
    """Return a state with random choices that are not yet played."""
    first, stream = seed.spawn(2)
    word = stream.generate_state(1, np.uint64).astype(np.uint64)
    choice = np.random.default_rng(first).integers(form.arrays.size.astype(np.int32)).astype(np.int32)
    plan, gain, values = np.zeros((3, form.num_sequences))
    stack = np.zeros(form.num_infosets + 1, dtype=np.int32)
    return AnnealingState(choice, choice.copy(), plan, gain, values, stack, np.zeros(2), np.zeros(2), word)
