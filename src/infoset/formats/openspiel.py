"""Games of OpenSpiel as infoset games, and our policies as OpenSpiel's (extra ``interop``)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Hashable, Iterator
from copy import deepcopy
from functools import cache, lru_cache
from itertools import repeat
from typing import Any, TypeAlias, cast

import numpy as np

from infoset.arguments import checks_arguments
from infoset.base import Action, FloatArray, JointAction, Observed
from infoset.compiled import AnyGame, Compiled
from infoset.errors import (
    IllegalActionError,
    MissingExtraError,
    ParameterError,
    PolicyError,
    UnknownNameError,
    UnsupportedGameError,
    one_line,
    shorten,
)
from infoset.evaluation import What, tabulated
from infoset.games.rules import NativeState, NotebookGame, check_actions
from infoset.names import action_names
from infoset.policies.asking import checked_row
from infoset.policies.tabular import TabularPolicy
from infoset.tree.game_tree import GameTree
from infoset.tree.graph import CHANCE, TERMINAL

PREFIX = "openspiel:"
MAX_SEED = 1 << 31
SEED = "rng_seed"  # the parameter of games that sample their chance internally
ENDED = -4  # in place of a player, as ``pyspiel.PlayerId.TERMINAL``; where all move at once, it is another below 0
BROKEN_COPIES = {"morpion_solitaire"}  # a copy of a state reads the memory of the original
Move: TypeAlias = "int | tuple[int, ...]"
"""The argument of one step of OpenSpiel: an action, or one for each player where all move at once."""
Parameters: TypeAlias = dict[str, Any]
"""A game's parameters as OpenSpiel parses its name, which is stored as ``name``; nested games likewise."""


@lru_cache(maxsize=16)
def load_openspiel(name: str) -> OpenSpielGame:
    """Load ``openspiel:NAME(…)``, given without the prefix.

    Raises ``UnknownNameError``, ``ParameterError``, or ``UnsupportedGameError`` for games without a list of legal moves
    (mean-field games, ``crossword``).
    """
    pyspiel = import_pyspiel()
    word = name.partition("(")[0].strip()
    if word not in pyspiel.registered_names():
        raise UnknownNameError("game of OpenSpiel", word, pyspiel.registered_names())
    try:
        parameters = pyspiel.game_parameters_from_string(name)
        return OpenSpielGame(name, parameters, _load(parameters))
    except (pyspiel.SpielError, IndexError, RuntimeError) as error:
        said = re.sub(r"^\S+\.(cc|h):\d+\s+", "", str(error))  # without the place in OpenSpiel's source
        raise ParameterError(f"openspiel:{shorten(name)}: {one_line(said, 200)}") from None


def import_pyspiel() -> Any:
    """Return OpenSpiel's module.  Raises ``MissingExtraError``."""
    try:
        import pyspiel
    except ImportError:
        raise MissingExtraError("OpenSpiel", "interop") from None
    return pyspiel


def _load(parameters: Parameters) -> Any:
    """Load OpenSpiel's game from parameters that include its ``name``."""
    return import_pyspiel().load_game(
        parameters["name"], {key: each for key, each in parameters.items() if key != "name"}
    )


def _inside(parameters: Parameters) -> Iterator[Parameters]:
    """Yield the parameters of a game and of the games nested in it, as in ``misere(game=negotiation())``."""
    yield parameters
    for each in parameters.values():
        if isinstance(each, dict) and "name" in each:
            yield from _inside(each)


def _draws_itself(name: str, parameters: Parameters, spiel: Any) -> bool:
    """Return whether the game samples its chance internally: its chance nodes have one outcome with a random effect.

    Raises ``UnsupportedGameError`` for a game that cannot be played move by move, ``ParameterError`` where a seed is
    given.
    """
    kinds, types = import_pyspiel().GameType, _types()
    parts = [(part, types[part["name"]]) for part in _inside(parameters)]
    # a wrapper is registered with a guess, and once made it may omit properties of the game inside
    found = [spiel.get_type(), *[each for _, each in parts if each.is_concrete]]
    if any(each.dynamics == kinds.Dynamics.MEAN_FIELD for each in found):
        raise UnsupportedGameError(
            f"{name} is a mean-field game: payoffs depend on a population, not on the moves of players; "
            "use OpenSpiel's open_spiel.python.mfg"
        )
    if any(getattr(each, "action_structs_only", False) for each in found):
        raise UnsupportedGameError(f"{name} has no list of legal moves to choose from, only OpenSpiel's structures")
    if any(part["name"] == "add_noise" for part, _ in parts):
        raise UnsupportedGameError(
            f"{name}: add_noise draws the noise of a payoff when it is first reached, so that payoffs depend on "
            "earlier games"
        )
    if all(each.chance_mode != kinds.ChanceMode.SAMPLED_STOCHASTIC for each in found):
        return False
    seeded = [part for part, each in parts if SEED in each.parameter_specification]
    given = [part[SEED] for part in seeded if SEED in part]
    if given:
        raise ParameterError(
            f"{name}: {SEED}={given[0]} is not taken; every play draws its own, by the seed of the play"
        )
    if not seeded:
        raise UnsupportedGameError(
            f"{name} draws its chance itself and takes no {SEED}, so that no play can be repeated"
        )
    return True


@cache
def _types() -> dict[str, Any]:
    return {each.short_name: each for each in import_pyspiel().registered_games()}


class Undrawn(NativeState):
    """The start of a game that samples its chance internally: the first chance outcome is the seed for all of it.

    With the seed everything else follows from the moves, so that a play can be repeated.
    """

    __slots__ = ("game",)

    def __init__(self, game: OpenSpielGame) -> None:
        self.game = game

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Undrawn) and self.game == other.game

    def __hash__(self) -> int:
        return hash(self.game)

    def __repr__(self) -> str:
        return f"Undrawn({self.game.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Undrawn, (self.game,)

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        """Return no moves: nobody moves before the draw."""
        return ()

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        """Raise ``UnsupportedGameError``: the seeds are not listed, but ``draw`` samples one."""
        raise UnsupportedGameError(
            f"{self.game.name}: OpenSpiel draws the chance of this game itself and does not list it; it can be played, "
            "not solved or evaluated exactly"
        )

    def draw(self, actions: JointAction, rng: np.random.Generator) -> Action:
        """Return a seed."""
        return int(rng.integers(MAX_SEED))

    def play(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        """Return the step to OpenSpiel's own start.  Raises ``IllegalActionError``."""
        check_actions(self, actions)
        if (
            isinstance(chance_outcome, bool)
            or not isinstance(chance_outcome, int)
            or not 0 <= chance_outcome < MAX_SEED
        ):
            raise IllegalActionError(
                f"chance cannot choose {shorten(repr(chance_outcome))}; possible: a seed, 0 to {MAX_SEED - 1}"
            )
        return self.play_unchecked(actions, chance_outcome)

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        """Do what ``play`` does, for a valid seed."""
        assert isinstance(chance_outcome, int)
        return self.game.step(self.game.replay(chance_outcome, ()))

    def returns(self) -> tuple[float, ...]:
        """Return (n,) zeros."""
        return (0.0,) * len(self.game.players)


class OpenSpielState(NativeState):
    """A state of OpenSpiel, identified by its history and, where the game samples its chance internally, the ``seed``.

    A player observes its own information-state string before it moves, nothing else.
    """

    __slots__ = ("game", "history", "named", "seed", "spiel")

    def __init__(
        self, game: OpenSpielGame, spiel: Any, history: tuple[Move, ...] = (), seed: int | None = None
    ) -> None:
        self.game, self.spiel, self.history, self.seed = game, spiel, history, seed
        self.named: dict[int, dict[Any, int]] = {}  # by player, since OpenSpiel takes long to name a move

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OpenSpielState):
            return False
        return (self.history, self.seed, self.game) == (other.history, other.seed, other.game)

    def __hash__(self) -> int:
        return hash((self.history, self.seed))

    def __repr__(self) -> str:
        drawn = "" if self.seed is None else f", seed={self.seed}"
        return f"OpenSpielState({self.game.name!r}, {self.history}{drawn})"

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenSpielGame.replay, (self.game, self.seed, self.history)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(map(sys.getsizeof, self.named.values()))

    @property
    def terminal(self) -> bool:
        return bool(self.spiel.is_terminal())

    @property
    def facts(self) -> list[Hashable]:
        """What the state holds, as far as its tensors say: those of everybody's observations, if there are any.

        Else those of information states; without tensors, the moves so far by their places.
        """
        tensor = getattr(self.spiel, self.game.tensor) if self.game.tensor else None
        found: list[Hashable] = [("to move", self.spiel.current_player())]
        if tensor is None:
            return [*found, *enumerate(self.history)]
        for player in range(len(self.game.players)):
            values = np.array(tensor(player))
            places = np.flatnonzero(values)
            found += zip(repeat(player), places.tolist(), values[places].tolist(), strict=False)
        return found

    def asks(self, player: int) -> bool:
        """Return whether the player has a move to make here."""
        mover = self.spiel.current_player()
        return mover == player or (self.spiel.is_simultaneous_node() and bool(self.spiel.legal_actions(player)))

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return tuple(self._actions(player)) if self.asks(player) else ()

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        return tuple(self.spiel.chance_outcomes()) if self.spiel.is_chance_node() else ()

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        spiel, made = self.spiel, cast("Move", chance_outcome)
        if spiel.is_simultaneous_node():
            made = tuple([0 if m is None else self._actions(p)[m] for p, m in enumerate(actions)])
        elif not spiel.is_chance_node():
            mover = spiel.current_player()
            made = self._actions(mover)[actions[mover]]
        if self.game.replays:
            return self.game.step(self.game.replay(self.seed, (*self.history, made)))
        spiel = spiel.clone()
        _apply(spiel, made)
        return self.game.step(OpenSpielState(self.game, spiel, (*self.history, made)))

    def returns(self) -> tuple[float, ...]:
        return tuple(self.spiel.returns())

    def _actions(self, player: int) -> dict[Any, int]:
        """Return OpenSpiel's action numbers by the moves' names; by the numbers themselves where names repeat."""
        found = self.named.get(player)
        if found is None:
            numbers = self.spiel.legal_actions(player)
            names = [sys.intern(self.spiel.action_to_string(player, number)) for number in numbers]
            found = dict(zip(names if len(set(names)) == len(names) else numbers, numbers, strict=True))
            self.named[player] = found
        return found

    def play_randomly(
        self, chosen: Callable[[], float], clock: Callable[[], None], longest: int
    ) -> tuple[float, ...] | None:
        """Return the payoffs of a random play of at most ``longest`` steps; ``None`` where copies cannot be played on.

        Moves are not named on the way, which would take most of the time.  ``clock`` is called at every step,
        ``chosen`` returns a number below 1 for every move.
        """
        if self.game.replays:
            return None
        spiel = self.spiel.clone()
        for _ in range(longest):
            mover = spiel.current_player()
            if mover == ENDED:
                break
            if mover == CHANCE:
                left, outcomes = chosen(), spiel.chance_outcomes()
                number = outcomes[-1][0]  # where rounding leaves a rest
                for outcome, probability in outcomes:
                    left -= probability
                    if left < 0.0:
                        number = outcome
                        break
                spiel.apply_action(number)
            elif mover < 0:
                offered = [spiel.legal_actions(player) for player in range(len(self.game.players))]
                spiel.apply_actions([each[int(chosen() * len(each))] if each else 0 for each in offered])
            else:
                numbers = spiel.legal_actions()
                spiel.apply_action(numbers[int(chosen() * len(numbers))])
            clock()
        return tuple(spiel.returns())


def _apply(spiel: Any, made: Move) -> None:
    if isinstance(made, tuple):
        spiel.apply_actions(list(made))
    else:
        spiel.apply_action(made)


class OpenSpielGame(NotebookGame):
    """A game of OpenSpiel; also the information map of its own information-state strings."""

    def __init__(self, name: str, parameters: Parameters, spiel: Any) -> None:
        """Take ``name`` without the prefix, and the ``parameters`` and ``spiel`` that OpenSpiel makes of it."""
        self.parameters, self.spiel = parameters, spiel
        own = str(spiel)
        # the text of some wrappers is not a name of a game, or omits the game inside
        named = own if import_pyspiel().game_parameters_from_string(own) == parameters else name.strip()
        self.name = f"{PREFIX}{named.removesuffix('()')}"
        self.players = tuple(f"P{p + 1}" for p in range(spiel.num_players()))
        kind = spiel.get_type()
        self.sampled = _draws_itself(self.name, parameters, spiel)
        # states are replayed, not copied: copies share one source of randomness
        self.replays = self.sampled or any(part["name"] in BROKEN_COPIES for part in _inside(parameters))
        self.labelled = bool(kind.provides_information_state_string)
        if not self.labelled and not kind.provides_observation_string:
            raise UnsupportedGameError(f"{self.name} offers neither information states nor observations as text")
        if self.labelled:
            self.information_map = self
        self.tensor = "observation_tensor" if kind.provides_observation_tensor else ""
        if not self.tensor and kind.provides_information_state_tensor:
            self.tensor = "information_state_tensor"

    @property
    def payoff_range(self) -> tuple[float, float]:
        """The lowest and the highest payoff, as OpenSpiel says."""
        return float(self.spiel.min_utility()), float(self.spiel.max_utility())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenSpielGame) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return load_openspiel, (self.name.removeprefix(PREFIX),)

    def start(self) -> Observed:
        if self.sampled:
            return Observed(Undrawn(self), (None,) * len(self.players))
        return self.step(self.replay(None, ()))

    def replay(self, seed: int | None, history: tuple[Move, ...]) -> OpenSpielState:
        """Return the state after the moves ``history``, chance included; a ``seed`` determines internal chance."""
        spiel = (self.spiel if seed is None else self._seeded(seed)).new_initial_state()
        for made in history:
            _apply(spiel, made)
        return OpenSpielState(self, spiel, history, seed)

    def _seeded(self, seed: int) -> Any:
        """Return the game with a new source of randomness."""
        parameters = deepcopy(self.parameters)
        for part in _inside(parameters):
            if SEED in _types()[part["name"]].parameter_specification:
                part[SEED] = seed
        return _load(parameters)

    def step(self, state: OpenSpielState) -> Observed:
        """Return the step that arrives at ``state``."""
        return Observed(state, tuple(self._see(state, p) for p in range(len(self.players))))

    def _see(self, state: OpenSpielState, player: int) -> str | None:
        if not self.labelled:
            return None if state.terminal else str(state.spiel.observation_string(player))
        return str(self.key(state, player)) if not state.terminal and state.asks(player) else None

    def key(self, state: object, player: int) -> Hashable:
        """Return OpenSpiel's own information state."""
        assert isinstance(state, OpenSpielState)
        return str(state.spiel.information_state_string(player))


@checks_arguments
def export_policy(policy: What, game: AnyGame, spiel_game: Any) -> Any:
    """Convert whatever ``evaluate`` takes, of our ``game``, to an OpenSpiel ``TabularPolicy`` of the same game there.

    The two trees are traversed in parallel, with moves and chance outcomes matched by their order.  A simultaneous game
    must be given as its turn-based version.  Raises ``PolicyError`` where the trees differ or where OpenSpiel gives one
    information state to two information sets at which the policy plays differently, and as ``evaluate`` does.

    Needs the extra ``interop``; raises ``MissingExtraError`` without it.

    >>> import pyspiel
    >>> from open_spiel.python.algorithms import exploitability
    >>> game, theirs = infoset.load("kuhn_poker"), pyspiel.load_game("kuhn_poker")
    >>> policy = infoset.export_policy(infoset.solve(game, "lp").policy, game, theirs)
    >>> bool(exploitability.nash_conv(theirs, policy) < 1e-9)
    True
    """
    pyspiel = import_pyspiel()
    if not isinstance(spiel_game, pyspiel.Game):
        raise ParameterError(
            f"export_policy: spiel_game={one_line(repr(spiel_game))} is not allowed; allowed: a game of pyspiel"
        )
    from open_spiel.python.policy import TabularPolicy as SpielPolicy

    if spiel_game.get_type().dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise PolicyError(f"{spiel_game}: players move at once; give pyspiel.load_game_as_turn_based(…) of it instead")
    compiled = Compiled.of(game)
    tree, table = compiled.tree, tabulated(compiled, policy)
    result = SpielPolicy(spiel_game)
    written: dict[int, int] = {}  # by row of OpenSpiel's table, the information set written there
    for node, spiel in _decisions(tree, spiel_game):
        infoset = int(tree.infoset[node])
        row, words = table.probabilities(tree.player(node), tree.key(infoset)), action_names(tree.action_set(infoset))
        if not row.keys() <= set(words):
            raise PolicyError(f"the policy plays {sorted(row)} after {tree.history(node)}, the game offers {words}")
        place = result.state_index(spiel)
        wanted = np.zeros(result.action_probability_array.shape[1])
        wanted[np.array(spiel.legal_actions())] = [row.get(word, 0.0) for word in words]
        before = written.setdefault(place, infoset)
        if before != infoset and not np.allclose(result.action_probability_array[place], wanted, rtol=0, atol=1e-9):
            raise PolicyError(
                f"{tree.name}: OpenSpiel's {spiel_game} cannot tell {_described(tree, before)} from "
                f"{_described(tree, infoset)}, where the policy plays differently"
            )
        result.action_probability_array[place] = wanted
    return result


@checks_arguments
def import_policy(policy: Any, game: AnyGame, spiel_game: Any = None) -> TabularPolicy:
    """Convert a policy of OpenSpiel, written in Python or C++, to a table for the same game here.

    The two trees are traversed in parallel, with moves and chance outcomes matched by their order, and the policy is
    asked once for each pair of our information set and OpenSpiel's.  ``spiel_game`` is the game of the policy, by
    default its own ``game``, or that of a game ``openspiel:…``; it may be simultaneous.  ``evaluate`` and whatever else
    takes policies converts those of OpenSpiel by itself.

    Raises ``PolicyError`` where the trees differ, or where the policy plays differently at histories that are one
    information set here; ``ParameterError`` for another object or without a game; and ``MissingExtraError``.

    >>> import pyspiel
    >>> theirs = pyspiel.load_game("kuhn_poker")
    >>> policy = infoset.import_policy(pyspiel.UniformRandomPolicy(theirs), "kuhn_poker", theirs)
    >>> policy.probabilities(0, "J")
    {'pass': 0.5, 'bet': 0.5}
    """
    pyspiel = import_pyspiel()
    compiled = Compiled.of(game)
    if spiel_game is None:
        spiel_game = getattr(policy, "game", getattr(compiled.game, "spiel", None))
    if not isinstance(spiel_game, pyspiel.Game):
        raise ParameterError(
            f"import_policy: {shorten(type(policy).__name__)} does not say for which game of OpenSpiel it is; pass it "
            "as spiel_game"
        )
    at_once = spiel_game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    turns = pyspiel.convert_to_turn_based(spiel_game) if at_once else spiel_game
    labelled, tree = bool(turns.get_type().provides_information_state_string), compiled.tree
    tables: tuple[dict[str, dict[str, float]], ...] = tuple({} for _ in tree.players)
    found: dict[int, FloatArray] = {}  # by information set
    asked = set()
    for node, spiel in _decisions(tree, turns):
        player, infoset = tree.player(node), int(tree.infoset[node])
        here = (infoset, spiel.information_state_string() if labelled else node)
        if here in asked:
            continue
        asked.add(here)
        answer = policy.action_probabilities(spiel.simultaneous_game_state(), player) if at_once else None
        answer = policy.action_probabilities(spiel) if answer is None else answer
        numbers, words = spiel.legal_actions(), action_names(tree.action_set(infoset))
        if other := [number for number, chance in answer.items() if number not in numbers and chance]:
            raise PolicyError(f"the policy plays {other[0]} after {tree.history(node)}; OpenSpiel allows {numbers}")
        row = checked_row([float(answer.get(number, 0.0)) for number in numbers], words)
        if not np.allclose(found.setdefault(infoset, np.array(row)), row, rtol=0, atol=1e-9):
            raise PolicyError(
                f"{tree.name}: the policy plays differently at histories of {_described(tree, infoset)}, which "
                f"OpenSpiel's {spiel_game} tells apart"
            )
        tables[player][tree.key(infoset)] = dict(zip(words, found[infoset].tolist(), strict=True))
    made_by = {"method": "given"}
    return TabularPolicy(tree.name, tree.players, tables, tree.graph.map_name, made_by)


def _decisions(tree: GameTree, spiel_game: Any) -> Iterator[tuple[int, Any]]:
    """Yield each history where a player has a choice, with the state of OpenSpiel's turn-based game.

    Raises ``PolicyError`` where the trees differ.
    """
    todo = [(0, spiel_game.new_initial_state())]
    while todo:
        node, spiel = todo.pop()
        player = tree.player(node)
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        if player == TERMINAL:
            payoffs = tree.graph.payoffs[tree.graph.content[tree.position[node]]]
            if not spiel.is_terminal() or not np.allclose(
                payoffs, spiel.returns(), atol=1e-8 * float(np.abs(payoffs).max())
            ):
                raise PolicyError(f"{tree.name}: OpenSpiel's payoffs differ after {tree.history(node)}")
            continue
        numbers = spiel.legal_actions()
        kind_agrees = spiel.is_chance_node() if player == CHANCE else spiel.current_player() == player
        if not kind_agrees or len(children) != len(numbers):
            raise PolicyError(f"{tree.name} and OpenSpiel's {spiel_game} differ after {tree.history(node)}")
        if player == CHANCE:
            numbers, probabilities = zip(*spiel.chance_outcomes(), strict=True)
            position, edges = int(tree.position[node]), tree.graph.first_edge
            if not np.allclose(tree.graph.probability[int(edges[position]) : int(edges[position + 1])], probabilities):
                raise PolicyError(f"{tree.name}: OpenSpiel's probabilities differ after {tree.history(node)}")
        elif len(children) > 1:
            yield node, spiel
        todo.extend((child, spiel.child(number)) for child, number in zip(children, numbers, strict=True))


def _described(tree: GameTree, infoset: int) -> str:
    owner = tree.players[int(tree.infoset_player[infoset])]
    return f"{owner}'s information set {shorten(repr(tree.key(infoset)), 200)}"
