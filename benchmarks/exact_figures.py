"""Exact exploitability of a policy beside nashbench's (JAX), OpenSpiel's and noregret's, on the same games.

    infoset warm-up                                      # so that no kernel is compiled while the clock runs
    python benchmarks/exact_figures.py                   # Python 3.12 or newer, with nashbench and noregret installed
    python benchmarks/exact_figures.py --large --patience 3600

Ours is ``infoset.evaluate`` on the form that it takes by itself; theirs runs in a process of its own that is ended after
``--patience`` seconds.  The first figure of a game makes its form, and compiles theirs; the next one does not.  The policy
plays every move of an action set but one a sixty-fourth of the time, and which one it prefers depends on what the player did
before: these probabilities are the same numbers in any precision, so that both figures agree to the last digits.  Ratios are
above 1 where ours is faster; the next figure of ours is of the values alone, the policy asked everywhere before, while
theirs asks it again.  noregret's profiles are what its own CFR comes to.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from apart import apart

import infoset
from infoset.base import Action, InformationState
from infoset.compiled import Compiled
from infoset.evaluation import plan_of, policy_of
from infoset.policies.asking import ask_factored
from infoset.solvers.metrics import evaluate_images, evaluate_plan
from infoset.tree.plans import realisation
from infoset.tree.sequence_form import SequenceForm

SELDOM = 1 / 64
PRIME = 1009
NEXT = 3
ITERATIONS = 50
MOST_OF_OPENSPIEL = 1_000_000  # histories: its figures cannot be ended

Places = Callable[[int, InformationState], list[int]]
"""Which entries of nashbench's observation are 1, of those that the policy looks at."""


class Row(NamedTuple):
    """A game by its names, and what of an observation counts."""

    ours: str
    theirs: str
    parameters: dict[str, int]
    openspiel: str
    looks: tuple[int, int] = (0, 0)
    places: Places = lambda player, known: []


def _tried(begin: int) -> Places:
    """Cells in the order of a player's tries, from ``begin`` on."""

    def places(player: int, known: InformationState) -> list[int]:
        return [begin + 9 * k + 3 * (row - 1) + column - 1 for k, ((row, column), _) in enumerate(known)]  # type: ignore[misc]

    return places


def _goofspiel(cards: int) -> Row:
    """With own bids in their order; a first token without a move is a prize."""
    begin = 2 + 2 * (cards * (cards + 1) // 2 + 1) + 3 * cards + cards * cards
    name = f"goofspiel(num_cards={cards},imp_info=True,points_order=random)"

    def places(player: int, known: InformationState) -> list[int]:
        return [begin + cards * (k - 1) + action - 1 for k, (action, _) in enumerate(known) if action is not None]  # type: ignore[misc]

    return Row(name, "goofspiel", {"num_cards": cards}, name, (begin, begin + cards * cards), places)


def _oshi_zumo(coins: int) -> Row:
    """With everybody's bids, the first player's before the other's."""
    kinds, begin = coins + 1, 2 + 2 * (coins + 1) + 9
    name = f"oshi_zumo(coins={coins},min_bid=1)"

    def places(player: int, known: InformationState) -> list[int]:
        seats = (player, 1 - player)
        return [
            begin + kinds * (coins * seat + k) + bid
            for k, bids in enumerate(known) for seat, bid in zip(seats, bids, strict=True)  # type: ignore[arg-type]
        ]  # fmt: skip

    return Row(name, "oshi_zumo", {"coins": coins}, name, (begin, begin + 2 * coins * kinds), places)


SMALL = (
    Row("kuhn_poker", "kuhn_poker", {}, "kuhn_poker"),
    Row("leduc_poker", "leduc_poker", {}, "leduc_poker"),
    Row("liars_dice(dice_sides=5)", "liars_dice", {"numdice": 1}, "liars_dice(dice_sides=5)"),
    _goofspiel(4),
    _oshi_zumo(8),
)
NO_REGRET = ("kuhn_poker", "leduc_poker", "liars_dice(dice_sides=5)", "liars_dice")
MIDDLE = (
    _goofspiel(5),
    _oshi_zumo(10),
    Row("battleship(rows=3,columns=2,shots=4)", "battleship", {"height": 3, "width": 2, "num_shots": 4}, ""),
    Row("phantom_tic_tac_toe", "phantom_ttt", {}, "", (29, 110), _tried(29)),
    Row("dark_hex", "dark_hex3", {}, "", (83, 164), _tried(83)),
)
LARGE = (
    _oshi_zumo(13),
    Row("liars_dice(numdice=2,dice_sides=5)", "liars_dice", {}, ""),
)


def weights(count: int) -> np.ndarray:
    """(count,) of the entries that the policy looks at."""
    k = np.arange(count)
    return (31 * k * k + 17 * k + 5) % PRIME


class Preferring:
    """The policy of a row, as one of ours."""

    def __init__(self, row: Row) -> None:
        self.row_of, self.weights = row, weights(row.looks[1] - row.looks[0])

    def action_probabilities(self, player: int, known: InformationState, legal_actions: tuple[Action, ...]) -> np.ndarray:
        places = np.array(self.row_of.places(player, known), dtype=int) - self.row_of.looks[0]
        probabilities = np.full(len(legal_actions), SELDOM)
        probabilities[int(self.weights[places].sum()) % len(legal_actions)] = 1 - SELDOM * (len(legal_actions) - 1)
        return probabilities


def theirs(name: str, parameters: dict[str, int], begin: int, end: int) -> list[tuple[float, float]]:
    """In a process of its own: nashbench's figure, and seconds, the first time and the next ones."""
    import jax.numpy as jnp
    import nashbench

    game = nashbench.make(name, **parameters)
    looked = jnp.asarray(weights(end - begin))

    def policy(observation: Any, legal_actions: Any) -> Any:
        count = legal_actions.sum()
        preferred = (looked * observation[begin:end].astype(int)).sum() % count
        chosen = legal_actions & (jnp.cumsum(legal_actions) - 1 == preferred)
        return jnp.where(chosen, 1 - SELDOM * (count - 1), SELDOM * legal_actions)

    return [_timed(lambda: float(nashbench.exploitability(game, policy))) for _ in range(1 + NEXT)]


def _timed(work: Callable[[], float]) -> tuple[float, float]:
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began


def ours(row: Row) -> list[tuple[float, float]]:
    """The same of ours."""
    compiled, policy = Compiled.of(row.ours), Preferring(row)
    first = _timed(lambda: infoset.evaluate(compiled, policy).exploitability)  # type: ignore[arg-type]
    return [first, *[_timed(again) for again in [_again(compiled, policy)] * NEXT]]


def _again(compiled: Compiled, policy: Preferring) -> Callable[[], float]:
    """The figure once the form is made and the policy was asked."""
    if compiled.works_factored:
        factored = compiled.factored_images
        probabilities = ask_factored(policy, factored)
        if factored.group.order > 1:
            return lambda: evaluate_images(factored, probabilities).exploitability
        plan = realisation(factored.form, probabilities[:, 0])
        return lambda: evaluate_plan(factored.form, plan).exploitability
    plan = plan_of(policy_of(policy, compiled), compiled, compiled.form)  # type: ignore[arg-type]
    return lambda: evaluate_plan(compiled.form, plan).exploitability


def openspiel(row: Row) -> tuple[float, float] | None:
    """The figure of OpenSpiel's C++ code and its seconds, of the policy as a table of its own, where games are small."""
    compiled = Compiled.of(row.ours)
    if not row.openspiel or not find_spec("pyspiel") or compiled.histories > MOST_OF_OPENSPIEL:
        return None
    import pyspiel

    game = pyspiel.load_game(row.openspiel)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    plan = plan_of(policy_of(Preferring(row), compiled), compiled, compiled.form)  # type: ignore[arg-type]
    table = infoset.export_policy(infoset.TabularPolicy.from_plan(compiled.form, plan), compiled.game, game)
    rows = {
        key: [
            (action, float(table.action_probability_array[k, action]))
            for action in np.flatnonzero(table.legal_actions_mask[k])
        ]
        for key, k in table.state_lookup.items()
    }
    policy = pyspiel.TabularPolicy(rows)
    return _timed(lambda: pyspiel.exploitability(game, policy))


def row_of(row: Row, patience: float) -> Iterator[str]:
    """The cells of a game."""
    own = ours(row)
    compiled = Compiled.of(row.ours)
    yield f"`{row.ours.replace(',points_order=random', '')}`"
    yield f"{compiled.histories:,.0f}"
    yield f"{own[0][0]:.12g}"
    if abs(own[1][0] - own[0][0]) > 1e-12:
        raise AssertionError(f"{row.ours}: {own[0][0]!r} and {own[1][0]!r}")
    other: list[tuple[float, float]] | str = "not installed"
    if find_spec("nashbench"):
        other = apart(theirs, row.theirs, row.parameters, *row.looks, patience=patience)
    yield from _beside(own, other)
    spiel = openspiel(row)
    yield "" if spiel is None else f"{spiel[1] / _best(own):,.0f}x"
    yield "" if spiel is None else f"{spiel[0] - own[0][0]:.0e}"


def _best(found: list[tuple[float, float]]) -> float:
    return min(seconds for _, seconds in found[1:])


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.0f} ms" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _beside(own: list[tuple[float, float]], other: list[tuple[float, float]] | str) -> Iterator[str]:
    yield f"{own[0][1]:.3g} s"
    yield _ms(_best(own))
    if isinstance(other, str):
        yield from (other, "", "", "", "")
        return
    yield f"{other[0][1]:.3g} s"
    yield _ms(_best(other))
    yield f"{other[0][1] / own[0][1]:.1f}x"
    yield f"{_best(other) / _best(own):.1f}x"
    yield f"{other[0][0] - own[0][0]:.0e}"


def no_regret(name: str) -> str:
    """A row: CFR here and in noregret, what that says of its average profile, and by how much we differ on the same."""
    import noregret

    kernel = noregret.FPKer()
    theirs = noregret.to_efg(kernel, noregret.OpenSpielGame(kernel, name))
    polytopes = (theirs.row_sequence_form_polytope, theirs.column_sequence_form_polytope)
    minimisers = [noregret.CFR(kernel, one) for one in polytopes]

    def iterate() -> float:
        noregret.rm(theirs, *minimisers, iteration_count=ITERATIONS, progress_bar=None)
        return 0.0

    form = Compiled.of(f"openspiel:{name}").form  # its information sets are OpenSpiel's words
    solver = infoset.cfr(alternating=False).solver(form)
    solver.step(1)
    other, own = _timed(iterate)[1], _timed(lambda: float(solver.step(ITERATIONS) is None))[1]
    weights = [one.average_strategy for one in minimisers]
    figure = float(theirs.exploitability(*weights))
    differs = evaluate_plan(form, _plan(form, polytopes, weights)).exploitability - figure
    cells = (name, f"{figure:.12g}", f"{differs:.0e}", f"{1000 * own / ITERATIONS:.3g} ms")
    return "| " + " | ".join([*cells, f"{1000 * other / ITERATIONS:.3g} ms", f"{other / own:.0f}x"]) + " |"


def _plan(form: SequenceForm, polytopes: tuple[Any, ...], weights: list[Any]) -> np.ndarray:
    """(S,) noregret's weights of sequences in our order."""
    plan, owner = np.ones(form.num_sequences), np.repeat([0, 1], np.diff(form.arrays.infosets))
    for key, player, first in zip(form.keys, owner.tolist(), form.arrays.first.tolist(), strict=True):
        polytope = polytopes[player]
        columns = [polytope.column((key, action)) for action in polytope.actions[key]]
        plan[first : first + len(columns)] = weights[player][columns]
    return plan


HEAD = (
    "game", "histories", "exploitability", "first", "next", "nashbench: first", "next", "of first", "of next",
    "differs by", "OpenSpiel", "differs by",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="also games that take gigabytes")
    parser.add_argument("--small", action="store_true", help="only small games")
    parser.add_argument(
        "--patience", type=float, default=600.0, help="seconds for a game of theirs (default: %(default)g)"
    )
    args = parser.parse_args()
    ours(SMALL[0])  # kernels are compiled
    ours(SMALL[-1])
    print("| " + " | ".join(HEAD) + " |")
    print("| " + " | ".join("---" for _ in HEAD) + " |")
    for row in SMALL + (() if args.small else MIDDLE) + (LARGE if args.large else ()):
        print("| " + " | ".join(row_of(row, args.patience)) + " |", flush=True)
    if find_spec("noregret"):
        print()
        print("| game | noregret: exploitability | ours differs by | an iteration of CFR | noregret's | ratio |")
        print("| --- | --- | --- | --- | --- | --- |")
        for name in NO_REGRET:
            print(no_regret(name), flush=True)


if __name__ == "__main__":
    main()
