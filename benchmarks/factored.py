"""Games in factored form beside the same games as trees, and games that no tree holds.

    python benchmarks/factored.py            # a few minutes
    python benchmarks/factored.py --large    # liar's dice with two dice of five sides, oshi-zumo with thirteen coins and
                                             # goofspiel with six cards as well: up to 13 GB, ten minutes

Both forms are built, and both run iterations of the same method in turn, in the same process; ratios are above 1 where
the factored form is faster.  Where there is no tree the times stand alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from infoset import SequenceForm, load
from infoset.compiled import Compiled
from infoset.solvers.metrics import evaluate_images, evaluate_plan
from infoset.solvers.tabular.cfr import pdcfr_plus
from infoset.tree.factored_form import FactoredForm
from infoset.tree.plans import realisation, uniform

BOTH = (
    "liars_dice",
    "liars_dice(dice_sides=7)",
    "dark_hex(rows=2,columns=3)",
    "battleship(shots=2)",
    "battleship",
    "leduc_poker",  # from here on by public states
    "leduc_poker(ranks=6,suits=4)",
    "leduc_poker(ranks=12,suits=4)",
    "leduc_poker(players=3)",
    "kuhn_poker(players=3,cards=12)",
    "gdl:leduc_poker",
)
ALONE = ("dark_hex", "phantom_tic_tac_toe", "battleship(rows=3,columns=2,shots=4)")
LARGE = (
    "liars_dice(numdice=2,dice_sides=5)",
    "oshi_zumo(coins=13,min_bid=1)",  # by public states, as the next one
    "goofspiel(num_cards=6,imp_info=true)",
)
ROUNDS = 5


def timed(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def beside(name: str) -> str:
    """A row: building, one iteration and exact figures, in factored form without symmetries and as a tree."""
    game = load(name)
    made: dict[str, SequenceForm] = {}

    def build(kind: str) -> Callable[[], object]:
        def work() -> None:
            if kind == "factored":
                made[kind] = FactoredForm.of(Compiled.of(game).factored_rules).form
            else:
                made[kind] = SequenceForm.of(game)

        return work

    kinds = ("factored", "tree")
    built = {kind: timed(build(kind)) for kind in kinds}
    solvers = {kind: pdcfr_plus().solver(form) for kind, form in made.items()}
    plans = {kind: realisation(form, uniform(form)) for kind, form in made.items()}
    steps = {kind: [] for kind in kinds}  # type: dict[str, list[float]]
    figures = {kind: [] for kind in kinds}  # type: dict[str, list[float]]
    for _ in range(ROUNDS):
        for kind in kinds:
            steps[kind].append(timed(lambda s=solvers[kind]: s.step(3)) / 3)
            figures[kind].append(timed(lambda k=kind: evaluate_plan(made[k], plans[k])))
    ratios = [
        built["tree"] / built["factored"],
        min(steps["tree"]) / min(steps["factored"]),
        min(figures["tree"]) / min(figures["factored"]),
    ]
    size = made["tree"].nbytes / made["factored"].nbytes
    return row(name, f"{made['tree'].num_histories:,}", *[f"{x:.2f}" for x in ratios], f"{size:.1f}")


def alone(name: str) -> str:
    """A row: building, one iteration over the game's symmetries, exact figures of a profile that need not keep to them."""
    game = load(name)
    began = time.perf_counter()
    rules = Compiled.of(game).factored_rules
    quotient = FactoredForm.of(rules, symmetric=True, elements=True)
    built = time.perf_counter() - began
    step = iteration(quotient.form)
    probabilities = np.ones((quotient.form.num_sequences, quotient.group.order))  # the time does not depend on them
    figures = min(timed(lambda: evaluate_images(quotient, probabilities)) for _ in range(ROUNDS))
    return row(
        name,
        f"{rules.sizes.histories:,.0f}",
        f"{built:.1f} s",
        f"{step:.3f} s",
        f"{figures:.3f} s",
        f"{quotient.form.nbytes / 1e6:,.0f} MB",
    )


def iteration(form: SequenceForm) -> float:
    """Seconds of one, the first left out, whose memory is new."""
    solver = pdcfr_plus().solver(form)
    solver.step(1)
    return min(timed(lambda: solver.step(1)) for _ in range(ROUNDS))


def row(*cells: str) -> str:
    """A line of a table."""
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="also the games that take gigabytes")
    args = parser.parse_args()
    timed(lambda: beside(BOTH[0]))  # compiles
    print(row("as products and as a tree: ratios", "histories", "build", "iteration", "exact figures", "memory"))
    print(row(*["---"] * 6))
    for name in BOTH:
        print(beside(name), flush=True)
    print()
    print(row("as products alone", "histories", "build", "iteration", "exact figures", "memory"))
    print(row(*["---"] * 6))
    for name in (*ALONE, *(LARGE if args.large else ())):
        print(alone(name), flush=True)


if __name__ == "__main__":
    main()
