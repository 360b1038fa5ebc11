"""Symmetries: found, proved on positions, and used without changing what is true of a game."""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from infoset import GameTree, Observed, SequenceForm, evaluate, load, solve
from infoset.errors import GameRuleError
from infoset.policies.sampled_policy import QuotientPolicy
from infoset.solvers.sampling.belief_response import evaluate_policy
from infoset.solvers.sampling.mccfr import Mccfr
from infoset.tree.graph import explore
from infoset.tree.plans import realisation
from infoset.tree.quotient_graph import QuotientGraph
from infoset.tree.symmetry import find_symmetry


class HideAndSeek(NamedTuple):
    """One hides on a square board and may step aside once; the other has three looks and is told how far off it is.

    The hider sees where the first look fell.  Found at the first look, the hider loses 3, and so on.
    """

    side: int = 2
    name: str = "hide_and_seek"
    players: tuple[str, ...] = ("hider", "seeker")

    def start(self) -> Observed:
        return Observed(Hunt(self.side), (None, None))


class Hunt(NamedTuple):
    side: int
    place: Any = None
    looks: tuple[Any, ...] = ()
    moved: bool = False

    @property
    def cells(self) -> list[tuple[str, int, int]]:
        return [("cell", x, y) for x, y in product(range(1, self.side + 1), repeat=2)]

    @property
    def terminal(self) -> bool:
        return self.place in self.looks or len(self.looks) == 3

    def legal_actions(self, player: int) -> tuple[Any, ...]:
        if self.place is None or (len(self.looks) == 1 and not self.moved):
            return tuple(self.cells) if player == 0 else ()
        return tuple([c for c in self.cells if c not in self.looks]) if player == 1 else ()

    def chance_outcomes(self, actions: Any) -> tuple[()]:
        return ()

    def play(self, actions: Any, answer: Any) -> Observed:
        if actions[0] is not None:
            return Observed(self._replace(place=actions[0], moved=bool(self.looks)), (None, None))
        look = actions[1]
        far = sum(abs(a - b) for a, b in zip(look[1:], self.place[1:], strict=True))
        after = self._replace(looks=(*self.looks, look))
        return Observed(after, (look if len(self.looks) == 0 else None, far))

    def returns(self) -> tuple[float, float]:
        gain = 3.0 - self.looks.index(self.place) if self.place in self.looks else -1.0
        return -gain, gain


class Uneven(NamedTuple):
    """The same where one cell is worth more."""

    name: str = "uneven"
    players: tuple[str, ...] = ("hider", "seeker")

    def start(self) -> Observed:
        return Observed(UnevenHunt(2), (None, None))


class UnevenHunt(Hunt):
    def returns(self) -> tuple[float, float]:
        gain = Hunt.returns(self)[1]
        return (-gain - (self.place == ("cell", 1, 1)), gain)


def test_those_of_a_square_are_found_and_form_a_group() -> None:
    found = find_symmetry(explore(HideAndSeek())).group
    assert found.order == 8
    everything = range(8)
    assert all(sorted(found.product[a].tolist()) == list(everything) for a in everything)
    assert all(found.product[a, found.inverse[a]] == 0 for a in everything)
    for a, b in product(everything, repeat=2):
        np.testing.assert_array_equal(found.record[a][found.record[b]], found.record[found.product[a, b]])


def test_where_a_cell_is_worth_more_only_the_diagonal_is_left() -> None:
    assert find_symmetry(explore(Uneven())).group.order == 2


@pytest.mark.parametrize(
    ("name", "order"), [("kuhn_poker", 1), ("gdl:tic_tac_toe", 8), ("gdl:scissors_double", 1), ("gdl:monty_hall", 2)]
)
def test_of_known_games(name, order) -> None:
    assert find_symmetry(explore(load(name))).group.order == order


def test_declared_ones_are_proved() -> None:
    graph = explore(Uneven())
    cells = Hunt(2).cells
    exchanged = {cell: ("cell", cell[2], cell[1]) for cell in cells}
    assert find_symmetry(graph, [exchanged]).group.order == 2
    turned = {cell: ("cell", 3 - cell[1], cell[2]) for cell in cells}
    with pytest.raises(GameRuleError, match=r"uneven: the declared relabelling .* is not a symmetry of the game"):
        find_symmetry(graph, [turned])


def unfolded(game, walk, policy):
    """The behaviour of a policy on the tree of all histories, asked state by state as in a match."""
    tree = GameTree.of(game)
    form = SequenceForm.of(tree)
    strategy, plays = np.ones(form.num_sequences), QuotientPolicy(tree.graph, walk, policy)
    for k, (player, key) in enumerate(zip(form.infoset_player.tolist(), form.keys, strict=True)):
        where = next(
            j for j in range(len(tree.infoset_state)) if tree.key(j) == key and tree.infoset_player[j] == player
        )
        known = tree.states.state(int(tree.infoset_state[where]))
        size, first = int(form.arrays.size[k]), int(form.arrays.first[k])
        strategy[first : first + size] = plays.action_probabilities(player, known, tree.action_set(where)) or np.full(
            size, 1 / size
        )
    return form, realisation(form, strategy)


@pytest.mark.parametrize("iterations", [1, 3, 40])
@pytest.mark.parametrize("game", [HideAndSeek(), Uneven()])
def test_figures_are_those_of_the_whole_game(game, iterations) -> None:
    graph = explore(game)
    walk = QuotientGraph.of(graph, find_symmetry(graph))
    assert len(walk.position) < len(graph.player)
    solver = Mccfr(walk, 4)
    solver.step(iterations)
    found = evaluate_policy(walk, solver.policy())
    expected = evaluate(*unfolded(game, walk, solver.policy()))
    assert found.values == pytest.approx(expected.values, abs=1e-9)
    assert found.best_response_values == pytest.approx(expected.best_response_values, abs=1e-9)


def test_sampling_learns_the_same_from_fewer_sets() -> None:
    game = HideAndSeek(3)
    graph = explore(game)
    exact = solve(SequenceForm.of(GameTree.unroll(graph)), method="lp").values[0]
    solvers = []
    for walk in (QuotientGraph.of(graph), QuotientGraph.of(graph, find_symmetry(graph))):
        solver = Mccfr(walk, 1)
        solver.step(4_000)
        found = evaluate_policy(walk, solver.policy())
        assert found.best_response_values[1] > -exact > -found.best_response_values[0]
        solvers.append((solver, found))
    (plain, plain_found), (fewer, fewer_found) = solvers
    assert fewer.table.num_infosets < plain.table.num_infosets / 4
    assert fewer_found.nash_conv < plain_found.nash_conv < 0.3
