"""A game with its derived forms: positions, tree, sequence form and walk, each built at most once and on demand."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf
from typing import Union

import numpy as np

from infoset import sizes, status
from infoset.base import CardGame, Factored, FloatArray, Game, Mapped, Staged, Teamed
from infoset.catalog import load
from infoset.errors import BudgetError, ClockError, ImperfectRecallError, InfosetError, UnsupportedGameError
from infoset.names import MAX_COUNT, check_range
from infoset.tree.factored_form import FactoredForm, is_quick
from infoset.tree.factored_rules import FactoredRules
from infoset.tree.factoring import NO_CORE, cores_of, factor_game, factor_positions
from infoset.tree.form_check import check_factored_form
from infoset.tree.game_tree import GameTree, explore_for_tree
from infoset.tree.graph import TERMINAL, GameGraph, default_max_histories, explore
from infoset.tree.payoff_scale import are_common, constant_sum_of
from infoset.tree.public_form import PublicForm
from infoset.tree.quotient_graph import QuotientGraph
from infoset.tree.sequence_form import SequenceForm
from infoset.tree.stage_form import StageForm
from infoset.tree.symmetry import find_symmetry
from infoset.tree.table_form import TableForm
from infoset.tree.vector_form import VectorForm

AnyGame = Union[str, Game, GameTree, SequenceForm, "Compiled"]


def check_is_game(game: object) -> None:
    """Raise ``UnsupportedGameError`` for an object that is not a game."""
    if isinstance(game, type):
        raise UnsupportedGameError(f"{game.__name__} is a class, not a game; make a game of it: {game.__name__}(…)")
    if missing := [name for name in ("name", "players", "start") if not hasattr(game, name)]:
        kind = f"{type(game).__module__}.{type(game).__name__}".removeprefix("builtins.")
        raise UnsupportedGameError(
            f"a {kind} is not a game: it has no {', '.join(missing)}; games of nashpy and pygambit are converted by "
            "infoset.formats.interop"
        )


class Compiled:
    """A game with its compiled forms.

    ``max_histories`` bounds the tree, by default half of the free memory does; ``progress`` is called with the number
    of positions or histories so far.  A form that does not fit raises ``BudgetError`` when it is requested.

    >>> from infoset.compiled import Compiled
    >>> compiled = Compiled.of("kuhn_poker")
    >>> compiled.form.num_infosets, compiled.graph is compiled.tree.graph
    (12, True)
    """

    def __init__(
        self, game: Game, max_histories: int | None = None, progress: Callable[[int], object] | None = None
    ) -> None:
        self.game, self.max_histories, self.progress = game, max_histories, progress

    @classmethod
    def of(
        cls, game: AnyGame, max_histories: int | None = None, progress: Callable[[int], object] | None = None
    ) -> Compiled:
        """Create it from a name, a game, or a form of one that is made already.  Raises what ``load`` raises."""
        if max_histories is not None:
            check_range("max_histories", max_histories, 0, MAX_COUNT)
        if isinstance(game, Compiled):
            return game
        if isinstance(game, str):
            game = load(game)
        if isinstance(game, (GameTree, SequenceForm)):
            return _Made(game, max_histories)
        check_is_game(game)
        return cls(game, max_histories, progress)

    @property
    def name(self) -> str:
        """The name from which ``load`` makes the game."""
        return self.game.name

    @property
    def players(self) -> tuple[str, ...]:
        """(n,) the names of the players."""
        return self.game.players

    @property
    def map_name(self) -> str:
        """The name of the information map of its policies' keys; "" for the players' information states."""
        found = self.game.information_map if isinstance(self.game, Mapped) else None
        return "" if found is None else found.name

    @property
    def teams(self) -> tuple[tuple[int, ...], ...] | None:
        """The teams of players who win together, where the game defines them."""
        return self.game.teams if isinstance(self.game, Teamed) else None

    def _report(self, count: int) -> None:
        if self.progress is not None:
            self.progress(count)

    @cached_property
    def graph(self) -> GameGraph:
        """The graph of all distinct positions."""
        return explore(self.game, progress=self._report)

    @property
    def histories(self) -> float:
        """The number of histories, counted on the graph, or on the vector form or factored rules of a game with one."""
        if "graph" not in self.__dict__ and self.has_vector_form:
            return self.vector.num_histories
        if "graph" not in self.__dict__ and self.factors and isinstance(self._asked, FactoredRules):
            return self._asked.sizes.histories
        return self.graph.count_histories()

    @property
    def has_vector_form(self) -> bool:
        """Whether the game has a vector form without asking its rules: it consists of hands, cards and betting."""
        return isinstance(self.game, CardGame)

    @property
    def pot(self) -> float | None:
        """The chips in the middle when a game of public cards and betting begins; ``None`` for other games."""
        return float(self.game.spot.betting.pot) if isinstance(self.game, CardGame) else None

    @property
    def better_in_vector_form(self) -> bool:
        """Whether to prefer the vector form: there is one, no tree is built yet, and a tree would be large."""
        return not self.made_whole and self.has_vector_form and not self.fits(sizes.TREE_PREFERRED)

    @cached_property
    def vector(self) -> PublicForm:
        """The vector form.  Raises ``UnsupportedGameError`` for a game without, ``BudgetError`` for one too large."""
        return VectorForm.of(self.game) if isinstance(self.game, CardGame) else TableForm.of(self.factored_rules)

    @cached_property
    def factors(self) -> bool:
        """Whether the game declares the core of its states, or its rules reveal one."""
        return isinstance(self.game, Factored) or cores_of(self.game) is not None

    @property
    def better_factored(self) -> bool:
        """Whether to prefer the factored form: there is one, no tree is built yet, and a tree would be large.

        For a game that declares no cores the tree has to be too large.
        """
        if self.made_whole:
            return False
        if not self.factors:
            return self._better_public
        if not isinstance(self._asked, FactoredRules) or self.fits(sizes.TREE_PREFERRED):
            return False
        return isinstance(self.game, Factored) or self.quickly_factored

    @property
    def _better_public(self) -> bool:
        """The same for public states: only where positions are known, and the tables are made quickly."""
        if "graph" not in self.__dict__ or self.fits():
            return False
        return isinstance(self._soon_asked, FactoredRules) and self.quickly_factored

    @property
    def works_factored(self) -> bool:
        """Whether work uses the factored form unless told otherwise: it is better, or all that fits.

        Builds the tree where needed to decide that.  Raises ``BudgetError`` where neither fits.
        """
        if self.made_whole:
            return False
        if not self.better_factored:
            try:
                _ = self.tree
            except BudgetError:
                if not self.better_factored:  # the attempt may have found the positions
                    raise
        return not self.made_whole  # the tree is built by now if it fits

    @cached_property
    def quickly_factored(self) -> bool:
        """Whether the factored form is built within minutes; where cores were found, a slower one must be requested."""
        return is_quick(self.factored_rules)

    @cached_property
    def _asked(self) -> FactoredRules | InfosetError:
        """The factored rules, or the error that explains why there are none: it is determined only once."""
        if self.factors:
            return self._ask(lambda: factor_game(self.game, self._report))
        if isinstance(self.__dict__.get("_soon_asked"), FactoredRules):
            return self._soon_asked
        try:
            if "graph" not in self.__dict__:
                self.__dict__["graph"] = explore(self.game, progress=self._report, measured=True)
            graph = self.graph
        except ClockError as error:
            return error
        except (BudgetError, UnsupportedGameError) as error:
            return type(error)(f"{self.name} {NO_CORE}, and its positions are not known: {error}")
        return self._ask(lambda: factor_positions(graph, self._report))

    @cached_property
    def _soon_asked(self) -> FactoredRules | InfosetError:
        """Return the factored rules by public states if they can be computed quickly, else ``None``."""
        return self._ask(lambda: factor_positions(self.graph, self._report, sizes.PUBLIC_STATES_TRIED))

    def _ask(self, asking: Callable[[], FactoredRules]) -> FactoredRules | InfosetError:
        try:
            with status.during("asking the rules for the factored form"):
                return asking()
        except (BudgetError, UnsupportedGameError) as error:
            return error

    @property
    def factored_rules(self) -> FactoredRules:
        """The cores and the players' private states there; for a game that declares no cores, its public states.

        Raises ``UnsupportedGameError`` for a game that does not factor, ``BudgetError`` for too many cores or
        positions.
        """
        if isinstance(self._asked, InfosetError):
            raise self._asked
        return self._asked

    @cached_property
    def factored(self) -> FactoredForm:
        """The factored form of symmetric profiles."""
        if "factored_images" in self.__dict__:
            return self.factored_images
        return self._checked(FactoredForm.of(self.factored_rules, symmetric=True, progress=self._report))

    @cached_property
    def factored_images(self) -> FactoredForm:
        """The same form with the data to evaluate profiles that are not symmetric."""
        if "factored" in self.__dict__ and self.factored.group.order == 1:
            return self.factored
        form = FactoredForm.of(self.factored_rules, symmetric=True, progress=self._report, elements=True)
        return self._checked(form)

    @cached_property
    def plain_factored(self) -> FactoredForm:
        """The factored form of all profiles."""
        return self._checked(FactoredForm.of(self.factored_rules, progress=self._report))

    def _checked(self, factored: FactoredForm) -> FactoredForm:
        """Return a form once it agrees with the rules on sampled plays.  Raises ``GameRuleError`` where it does not."""
        check_factored_form(self.game, factored)
        return factored

    @cached_property
    def stages(self) -> StageForm:
        """The stages of a game of perfect information with simultaneous actions.

        Raises ``UnsupportedGameError`` for other games, ``BudgetError`` for one that is too large.
        """
        if self.describes_stages and isinstance(self.game, Staged):
            return StageForm.of(self.game)
        return StageForm.on_positions(self.graph)

    @property
    def describes_stages(self) -> bool:
        """Whether the game describes its stages, so that they are known without queries of its rules."""
        return isinstance(self.game, Staged)

    @property
    def only_form(self) -> bool:
        """Whether only a sequence form is available."""
        return False

    @property
    def made_whole(self) -> bool:
        """Whether all histories are listed already."""
        return "tree" in self.__dict__

    @property
    def limit(self) -> int:
        """The number of histories that a tree may have."""
        return default_max_histories() if self.max_histories is None else self.max_histories

    def fits(self, most: float = inf) -> bool:
        """Return whether all histories are listed already, or are no more than allowed and than ``most``."""
        return self.made_whole or self.histories <= min(self.limit, most)

    @cached_property
    def tree(self) -> GameTree:
        """The tree of all histories.  Raises ``BudgetError`` before memory is allocated."""
        if "graph" in self.__dict__:
            return GameTree.unroll(self.graph, self.max_histories, self._report)
        if self.has_vector_form and self.vector.num_histories > self.limit:
            raise BudgetError(
                f"{self.name} has {self.vector.num_histories:,.0f} histories, more than a tree may have "
                f"({self.limit:,}); form=vector does not list them"
            )
        graph = self.__dict__["graph"] = explore_for_tree(self.game, self.limit, self._report)
        return GameTree.unroll(graph, self.max_histories, self._report)

    @cached_property
    def form(self) -> SequenceForm:
        """The sequence form.  Raises ``BudgetError``, and ``ImperfectRecallError`` where a player forgets."""
        return SequenceForm.of(self.tree, progress=self._report)

    def check_recall(self) -> None:
        """Raise ``ImperfectRecallError`` where a player forgets; this builds the sequence form."""
        assert self.form

    @cached_property
    def forgets(self) -> bool:
        """Whether a player forgets what it did or saw.  Raises ``BudgetError`` as ``form`` does."""
        try:
            self.check_recall()
        except ImperfectRecallError:
            return True
        return False

    @cached_property
    def walk(self) -> QuotientGraph:
        """The positions up to symmetry, in the form that kernels traverse."""
        return QuotientGraph.of(self.graph, find_symmetry(self.graph))

    @cached_property
    def plain_walk(self) -> QuotientGraph:
        """All positions, in the form that kernels traverse."""
        return QuotientGraph.of(self.graph)

    @property
    def payoffs(self) -> FloatArray:
        """(rows, n) the payoffs of the terminal positions that are reached."""
        rows = np.unique(self.graph.content[self.graph.player == TERMINAL])
        return np.asarray(self.graph.payoffs[rows])

    @property
    def constant_sum(self) -> bool:
        """Whether the payoffs of all players have the same sum at every end."""
        return constant_sum_of(self.payoffs) is not None

    @property
    def common_payoff(self) -> bool:
        """Whether there are several players, who all receive the same payoff at every end."""
        return len(self.players) > 1 and are_common(self.payoffs)


class _Made(Compiled):
    """A tree or a sequence form alone: the rules are not available."""

    def __init__(self, made: GameTree | SequenceForm, max_histories: int | None) -> None:
        self.max_histories, self.progress, self.made = max_histories, None, made
        if isinstance(made, GameTree):
            self.__dict__["graph"], self.__dict__["tree"] = made.graph, made
        else:
            self.__dict__["form"] = made

    @property
    def game(self) -> Game:  # type: ignore[override]
        """Not available: raises ``UnsupportedGameError``."""
        what = "sequence form" if self.only_form else "tree"
        raise UnsupportedGameError(f"{self.name} is given as a {what} alone; this needs the game itself")

    @property
    def name(self) -> str:
        return self.made.name

    @property
    def map_name(self) -> str:
        return self.made.map_name if isinstance(self.made, SequenceForm) else self.made.graph.map_name

    @property
    def teams(self) -> tuple[tuple[int, ...], ...] | None:
        return None

    @property
    def players(self) -> tuple[str, ...]:
        return self.made.players

    @property
    def only_form(self) -> bool:
        return isinstance(self.made, SequenceForm)

    describes_stages = False
    factors = False
    has_vector_form = False
    pot = None

    @property
    def made_whole(self) -> bool:
        return True
