"""Any game of OpenSpiel as an infoset game, and our policies as OpenSpiel's (extra ``interop``)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import Action, JointMove, Observed
from infoset.compiled import AnyGame, Compiled
from infoset.errors import MissingExtraError, ParameterError, PolicyError, UnknownNameError, shorten
from infoset.games.rules import NativeState, NotebookGame
from infoset.names import move_words
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, TERMINAL

if TYPE_CHECKING:
    from infoset.evaluation import What


def load_openspiel(name: str) -> OpenSpielGame:
    """``openspiel:NAME(…)`` without the prefix.  Raises ``UnknownNameError`` or ``ParameterError``."""
    pyspiel = _pyspiel()
    word = name.partition("(")[0].strip()
    if word not in pyspiel.registered_names():
        raise UnknownNameError("game of OpenSpiel", word, pyspiel.registered_names())
    try:
        return OpenSpielGame(pyspiel.load_game(name))
    except (pyspiel.SpielError, IndexError, RuntimeError) as error:
        raise ParameterError(f"openspiel:{shorten(name)}: {shorten(str(error).splitlines()[0], 200)}") from None


def _pyspiel() -> Any:
    try:
        import pyspiel
    except ImportError:
        raise MissingExtraError("OpenSpiel", "interop") from None
    return pyspiel


class OpenSpielState(NativeState):
    """A state of OpenSpiel; its value is its history.

    A player observes its own information-state string when it is asked, nothing else.
    """

    __slots__ = ("game", "history", "spiel")

    def __init__(self, game: OpenSpielGame, spiel: Any) -> None:
        self.game, self.spiel = game, spiel
        self.history = tuple(spiel.history())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenSpielState) and (self.history, self.game) == (other.history, other.game)

    def __hash__(self) -> int:
        return hash(self.history)

    def __repr__(self) -> str:
        return f"OpenSpielState({self.game.name!r}, {self.history})"

    @property
    def terminal(self) -> bool:
        return bool(self.spiel.is_terminal())

    def asks(self, player: int) -> bool:
        """Whether the player has a move to make here."""
        mover = self.spiel.current_player()
        return mover == player or (self.spiel.is_simultaneous_node() and bool(self.spiel.legal_actions(player)))

    def legal(self, player: int) -> tuple[Action, ...]:
        return tuple(self._moves(player)) if self.asks(player) else ()

    def chance(self, moves: JointMove) -> tuple[tuple[Action, float], ...]:
        return tuple(self.spiel.chance_outcomes()) if self.spiel.is_chance_node() else ()

    def play_unchecked(self, moves: JointMove, nature: Action | None = None) -> Observed:
        spiel = self.spiel.clone()
        if spiel.is_chance_node():
            spiel.apply_action(nature)
        elif spiel.is_simultaneous_node():
            spiel.apply_actions([0 if m is None else self._moves(p)[m] for p, m in enumerate(moves)])
        else:
            mover = spiel.current_player()
            spiel.apply_action(self._moves(mover)[moves[mover]])
        return self.game.step(OpenSpielState(self.game, spiel))

    def returns(self) -> tuple[float, ...]:
        return tuple(self.spiel.returns())

    def _moves(self, player: int) -> dict[Any, int]:
        """OpenSpiel's numbers behind the moves' names; the numbers themselves where names repeat."""
        numbers = self.spiel.legal_actions(player)
        names = [self.spiel.action_to_string(player, number) for number in numbers]
        return dict(zip(names if len(set(names)) == len(names) else numbers, numbers, strict=True))


class OpenSpielGame(NotebookGame):
    """A game of OpenSpiel; also the information map of its own information-state strings."""

    def __init__(self, spiel: Any) -> None:
        self.spiel = spiel
        self.name = f"openspiel:{spiel}".removesuffix("()")
        self.players = tuple(f"P{p + 1}" for p in range(spiel.num_players()))
        self.labelled = bool(spiel.get_type().provides_information_state_string)
        if not self.labelled and not spiel.get_type().provides_observation_string:
            raise ParameterError(f"{self.name} offers neither information states nor observations as text")
        if self.labelled:
            self.information_map = self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenSpielGame) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def start(self) -> Observed:
        return self.step(OpenSpielState(self, self.spiel.new_initial_state()))

    def step(self, state: OpenSpielState) -> Observed:
        """The step that arrives at ``state``."""
        return Observed(state, tuple(self._see(state, p) for p in range(len(self.players))))

    def _see(self, state: OpenSpielState, player: int) -> str | None:
        if not self.labelled:
            return None if state.terminal else str(state.spiel.observation_string(player))
        return str(self.key(state, player)) if not state.terminal and state.asks(player) else None

    def key(self, state: object, player: int) -> Hashable:
        """OpenSpiel's own information state."""
        assert isinstance(state, OpenSpielState)
        return str(state.spiel.information_state_string(player))


@checks_arguments
def export_policy(policy: What, game: AnyGame, spiel_game: Any) -> Any:
    """Whatever ``evaluate`` takes, of our ``game``, as an OpenSpiel ``TabularPolicy`` of the same game there.

    The two trees are walked side by side, moves and nature's answers matched by their order.  A simultaneous
    game must come as its turn-based version.  Raises ``PolicyError`` where the trees differ, and as ``evaluate`` does.

    Needs the extra ``interop``; raises ``MissingExtraError`` without it.

    >>> import pyspiel
    >>> from open_spiel.python.algorithms import exploitability
    >>> game, theirs = infoset.load("kuhn_poker"), pyspiel.load_game("kuhn_poker")
    >>> policy = infoset.export_policy(infoset.solve(game, "lp").policy, game, theirs)
    >>> bool(exploitability.nash_conv(theirs, policy) < 1e-9)
    True
    """
    _pyspiel()
    from open_spiel.python.policy import TabularPolicy as SpielPolicy

    from infoset.evaluation import tabulated

    compiled = Compiled.of(game)
    tree, table = compiled.tree, tabulated(compiled, policy)
    result = SpielPolicy(spiel_game)
    todo = [(0, spiel_game.new_initial_state())]
    while todo:
        node, spiel = todo.pop()
        player = tree.player(node)
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        if player == TERMINAL:
            _check_end(tree, node, spiel)
            continue
        kind_agrees = spiel.is_chance_node() if player == CHANCE else spiel.current_player() == player
        if not kind_agrees or len(children) != len(spiel.legal_actions()):
            raise PolicyError(f"{tree.name} and OpenSpiel's {spiel_game} differ after {tree.history(node)}")
        if player != CHANCE and len(children) > 1:
            infoset = int(tree.infoset[node])
            row, words = table.probabilities(player, tree.key(infoset)), move_words(tree.menu(infoset))
            if not row.keys() <= set(words):
                raise PolicyError(f"the policy plays {sorted(row)} after {tree.history(node)}, the game offers {words}")
            state = result.policy_for_key(spiel.information_state_string(player))
            state[:] = 0
            state[np.array(spiel.legal_actions())] = [row.get(word, 0.0) for word in words]
        todo.extend((child, spiel.child(move)) for child, move in zip(children, spiel.legal_actions(), strict=True))
    return result


def _check_end(tree: GameTree, node: int, spiel: Any) -> None:
    payoffs = tree.graph.payoffs[tree.graph.content[tree.position[node]]]
    if not spiel.is_terminal() or not np.allclose(payoffs, spiel.returns()):
        raise PolicyError(f"{tree.name}: OpenSpiel's payoffs differ after {tree.history(node)}")
