"""The vocabulary of infoset: protocols for games, states, steps, policies and agents.

A game is a finite factored-observation stochastic game: all players who have legal actions move at once, chance
answers the joint move, and every step sends each player a private observation.  A turn-based game is the case in
which one player has moves.  Nothing here computes anything; all other modules build on these definitions.

Letters used for shapes throughout the package: ``n`` players, ``S`` sequences, ``I`` information sets,
``T`` terminal rows, ``N`` histories (nodes of the tree).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int32]
LongArray: TypeAlias = npt.NDArray[np.int64]
IndexArray: TypeAlias = npt.NDArray[np.uint32]  # unsigned: kernels need not check for negative indices
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

Action: TypeAlias = "int | str | tuple[Action, ...]"
"""A move of a player or a chance outcome."""

Observation: TypeAlias = "int | str | tuple[Observation, ...] | None"
"""The observation that one player receives from one step; ``None`` means that the player does not notice the step."""

JointAction: TypeAlias = "Sequence[Action | None]"
"""One entry per player, ``None`` for players who do not move."""

ObservationRecord: TypeAlias = "tuple[Action | None, Observation]"
"""One entry of an information state: (own move or ``None``, observation)."""

InformationState: TypeAlias = "tuple[ObservationRecord, ...]"
"""The knowledge of a player: its own moves and observations since the start, in order."""


Picture: TypeAlias = dict[str, Any]
"""A picture of a game as JSON data, by ``kind``; the other keys depend on the kind, and those in brackets are optional.

``table``: ``areas``, each with ``title``, ``cards`` (texts), ``hidden`` (the number of further cards that lie face
down), ``note``, [``as``: ``die`` where they are dice; or, for texts that begin with the letter of a colour,
``colored``, a card with its rank (``?``: face down), ``stack``, the cards up to a rank (0: none), ``pile``, the ranks
of all cards], [``below``: texts under each card], [``marked``: the numbers of cards to point out, from 0],
[``chips``: a number], [``tokens``: rows of ``sign``, each with ``name``, the number ``left`` and the ``most`` that
there are], [``player``: the owner, from 0].
``grid``: ``rows`` and ``columns`` (labels), ``cells`` (a text each), [``actions``: ``"r,c"`` to the number of the legal
move that names the cell], [``slides``: ``"r,c"`` to such a mapping, for moves between cells], [``title``],
[``hexagons``: 1 where each row lies half a cell to the right of the one above it, -1 to the left].
``facts``: ``relations``, each with ``name`` and ``rows`` of texts.
``payoffs``: of a one-shot game ``players``, their ``strategies``, ``tables`` (one, or one for each choice of a third
player), each with ``title`` and ``cells`` by row and column of ``paid`` (texts) and ``best`` (whether a player's choice
is a best response), ``chosen`` (each player's choice by its index, or ``None``), ``mover`` (the players who may
choose), ``equilibria`` (lines).
``path``: ``steps``, each with ``who`` and ``action``, ``actions`` (the legal ones), [``note``].
``pommerman``: the data that its painter needs.  ``group``: ``parts``, pictures side by side.
"""


class Step(Protocol):
    """The outcome of one joint move: the next state and what each player observes of it.

    >>> step = infoset.load("kuhn_poker").start()
    >>> step.observation(0) is None        # nothing is seen before the cards are dealt
    True
    """

    @property
    def state(self) -> State:
        """The state that the step leads to."""
        ...

    def observation(self, player: int) -> Observation:
        """Return the observation of ``player``; ``None`` where the player does not notice the step."""
        ...


class State(Protocol):
    """One state of a game: an immutable, hashable value that determines everything that can still happen.

    Histories with the same future may (and for speed should) share one state: the past is kept in the players'
    information states, not here.

    Histories that agree on what is to come may (and for speed should) share one state: the past is kept in
    the players' information states, not here.

    >>> state = infoset.load("rock_paper_scissors").start().state
    >>> state.legal_actions(0)
    ('Rock', 'Paper', 'Scissors')
    >>> state.play(("Rock", "Paper")).state.returns()
    (-1.0, 1.0)
    """

    @property
    def terminal(self) -> bool:
        """Whether the game is over."""
        ...

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        """Return the legal moves of ``player``, in a fixed order; ``()`` when that player does not move."""
        ...

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        """Return the chance outcomes that can follow a joint move, with their probabilities; ``()`` without chance.

        Raises ``UnsupportedGameError`` where there are too many outcomes to list; ``draw`` still samples one.
        """
        ...

    def draw(self, actions: JointAction, rng: np.random.Generator) -> Action | None:
        """Sample one chance outcome, also where there are too many to list; ``None`` without chance."""
        ...

    def play(self, actions: JointAction, chance_outcome: Action | None = None) -> Step:
        """Return the step that a joint move and ``chance_outcome`` lead to.  Raises ``IllegalActionError``."""
        ...

    def returns(self) -> tuple[float, ...]:
        """Return each player's payoff so far; final at a terminal state."""
        ...


@runtime_checkable
class Game(Protocol):
    """The rules of a game: a name that ``infoset.load`` understands, the players in payoff order, and a start.

    Optional features of a game are the protocols ``Passing``, ``Teamed``, ``Factored``, ``Mapped``, ``Pictured``,
    ``Narrated``, ``Rehearsed``, ``RealTime``, ``Staged``, ``Bridged`` and ``Encodable`` below.

    >>> game = infoset.load("leduc_poker")
    >>> game.name, game.players, isinstance(game, infoset.Game)
    ('leduc_poker', ('P1', 'P2'), True)
    """

    @property
    def name(self) -> str:
        """The name from which ``infoset.load`` makes the game."""
        ...

    @property
    def players(self) -> tuple[str, ...]:
        """(n,) the names of the players, in the order of payoffs."""
        ...

    def start(self) -> Step:
        """Return the initial state with each player's first observation."""
        ...


class Facts(NamedTuple):
    """The facts that hold in the states of a game, one column per fact: the input of learners."""

    position: IntArray  # (S,) the position at which each state's step begins
    holds: npt.NDArray[np.uint8]  # (S, bytes) packed bits, the least significant first


class Positions(NamedTuple):
    """Every distinct position of a game, as flat arrays: the content of a ``tree.graph.GameGraph``.

    A game may have a method ``positions(check) -> Positions | None`` that enumerates them faster than queries of its
    states do; ``check(positions, edges)`` is called now and then and raises where there are too many.
    """

    player: npt.NDArray[np.int8]  # (P,)
    content: IntArray  # (P,)
    first_edge: IntArray  # (P + 1,)
    child: IntArray  # (E,)
    probability: FloatArray  # (E,)
    record: IntArray  # (E, n)
    action_sets: list[tuple[Action, ...]]
    payoffs: FloatArray  # (number of distinct payoff vectors, n)
    records: list[ObservationRecord]
    facts: Facts | None = None


class Stages(NamedTuple):
    """The stages of a two-player zero-sum game of perfect information with simultaneous actions, as arrays.

    A state is a *stage*, with the actions of both players and the stages that follow, in a *context*, which is what all
    stages share: the turns left, or the prizes to come.  The value of stage ``s`` in context ``c`` stands at
    ``begin[c] + place[s]``, and is half of the difference of the players' payoffs.  A context has outcomes of chance,
    which precede the actions; of outcome ``o`` the payoff matrix is ``gain[o, kind] + value`` of the stage that follows
    in context ``next[o, kind]``.  A stage without actions, or in a context without outcomes, is an end, which pays
    ``final[s] + end[c]``.  Arrays of shape (0,) stand for what a game does not need.
    """

    rows: IntArray  # (N,) the first player's number of actions, 1 where it has no choice, 0 at an end
    columns: IntArray  # (N,) the second player's; 0 at an end and where chance moves instead, with ``rows`` outcomes
    first: LongArray  # (N + 1,) the first cell of each stage: rows times columns, row by row
    child: IntArray  # (cells,) the ``place`` of the stage that follows
    kind: npt.NDArray[np.uint8]  # (cells,) or (0,)
    probability: FloatArray  # (cells,) or (0,) those of chance stages
    final: FloatArray  # (N,)
    place: IntArray  # (N,)
    mirror: IntArray  # (N,) or (0,) the stage with the players exchanged, whose value is the negative
    begin: LongArray  # (C,)
    outcome: LongArray  # (C + 1,) the first outcome of each context
    next: IntArray  # (O, kinds)
    chance: FloatArray  # (O,)
    gain: FloatArray  # (O, kinds)
    end: FloatArray  # (C,)
    opposite: IntArray  # (C,) the context with the players exchanged; of shape (0,) where ``mirror`` is
    levels: LongArray  # (L, 4) ranges of stages and of contexts, each after all that follow it
    start: LongArray  # (2,) the stage and the context in which the game starts


class InformationMap(Protocol):
    """Information that differs from "everything a player has seen": imperfect recall, a team as one player.

    A game with such a map carries it as the attribute ``information_map``; without one, a player's information set is
    its information state.

    >>> game = infoset.ProductForm(
    ...     "forgetful",
    ...     ("P1",),
    ...     (infoset.Chance("coin", ("heads", "tails")), infoset.Stage("call", "P1", ("heads", "tails"))),
    ...     lambda past: float(past["coin"] == past["call"]),
    ... )
    >>> thrown = game.start().state.play((None,), "heads").state
    >>> game.information_map.key(thrown, 0)             # the name of the stage; the coin is not seen
    ('call',)
    """

    @property
    def name(self) -> str:
        """The name of the map, which policies keep with their keys."""
        ...

    def key(self, state: State, player: int) -> Hashable:
        """Return the label of the information set in which ``player`` moves at ``state``."""
        ...


class Observed(NamedTuple):
    """The plain ``Step``: a state and the observations, one per player.

    ``observations`` has one entry per player, (n,).

    >>> infoset.Observed(state=infoset.Ended((1.0, -1.0)), observations=("won", "lost")).observation(1)
    'lost'
    """

    state: State
    observations: tuple[Observation, ...]

    def observation(self, player: int) -> Observation:
        """Return the observation of ``player``."""
        return self.observations[player]


@runtime_checkable
class Policy(Protocol):
    """A strategy of every player: the probabilities of the moves at each information state.

    Tables, trees of states, agents that report their probabilities and functions are all policies, which can be
    evaluated or played.

    >>> policy = infoset.solve("kuhn_poker", "lp").policy
    >>> isinstance(policy, infoset.Policy)
    True
    >>> policy.action_probabilities(1, ((None, "K"), (None, "bet")), ("pass", "bet"))
    [0.0, 1.0]
    """

    def action_probabilities(
        self, player: int, infostate: InformationState, legal_actions: tuple[Action, ...]
    ) -> Sequence[float] | None:
        """Return the probabilities of the moves, which sum to one; ``None`` where undefined, to be read as uniform."""
        ...


class StateTree(NamedTuple):
    """The information states of some players as arrays: each is its parent followed by one more record."""

    parent: npt.NDArray[Any]  # (N,) an earlier state, or negative for a player's first one
    record: npt.NDArray[Any]  # (N,) a number of ``records``, or negative where a first state has none
    owner: npt.NDArray[Any]  # (N,) the player
    records: Sequence[ObservationRecord]


@runtime_checkable
class Encoding(Protocol):
    """A translation of information states into arrays, the input of a network.

    ``shape`` is that of one state's array, and ``actions`` are the columns of masks and of probabilities.
    """

    name: str
    shape: tuple[int, ...]
    actions: tuple[Action, ...]

    def encode(self, states: StateTree, which: LongArray) -> npt.NDArray[np.float32]:
        """Return the arrays ``(K, *shape)`` of the states ``which`` (K,)."""
        ...


Writes: TypeAlias = "tuple[tuple[int, float], ...]"
"""Numbers to write into an array, each with its index."""


class TensorEncoder(Protocol):
    """The array of an information state, derived from that of its parent and the last record.

    ``memo`` is a summary of the past on which later steps depend; the fewer there are, the faster many states are
    encoded.  ``shape`` and ``actions`` are those of ``Encoding``.
    """

    shape: tuple[int, ...]
    actions: tuple[Action, ...]

    def start(self, player: int) -> tuple[Hashable, Writes]:
        """Return the memo of a player who has no records yet, and what differs from zero in its array (flat)."""
        ...

    def after(self, player: int, memo: Any, record: ObservationRecord) -> tuple[Hashable, Writes]:
        """Return the memo after one more record, and what it changes in the array."""
        ...


@runtime_checkable
class Encodable(Protocol):
    """A game that defines arrays of its information states: those of OpenSpiel, bit for bit."""

    def tensor_encoder(self, kind: str) -> TensorEncoder:
        """Return the encoder of kind ``"observation"`` or ``"information-state"``.

        Raises ``UnsupportedGameError`` where there is none.
        """
        ...


@runtime_checkable
class BatchedPolicy(Policy, Protocol):
    """A policy that can be asked at many information states of a player at once, as networks can."""

    @property
    def encoding(self) -> Encoding:
        """The translation of information states into its input."""
        ...

    def batch_probabilities(
        self, player: int, inputs: npt.NDArray[np.float32], legal: BoolArray
    ) -> npt.NDArray[Any]:  # fmt: skip
        """Return the probabilities (K, A) of the actions, of which those ``legal`` (K, A) are allowed.

        ``inputs`` is ``(K, *shape)``.  Illegal actions have probability 0.
        """
        ...


@runtime_checkable
class Drawing(Protocol):
    """A policy of players who coordinate beforehand: one joint strategy for all of them is drawn for every game."""

    def draw(self, rng: np.random.Generator) -> Policy:
        """Draw the policy of all players for one game; players who coordinate are given equal ``rng``."""
        ...


@runtime_checkable
class Agent(Protocol):
    """A player of games: a policy, a search, a network, a person and a remote process are all agents.

    An agent is handed the rules, which everybody knows, and beyond them only what its player may know; never
    a state.  It is notified when a game begins and ends and keeps nothing between the two that would change how
    it plays, so one object plays game after game; in one game it holds one seat.

    A deadline is a moment of ``time.monotonic``, in seconds; ``None`` means that there is no limit.

    >>> class Always:
    ...     def begin(self, game, player, rng, deadline): ...
    ...     def observe(self, own_action, observation): ...
    ...     def act(self, legal_actions, deadline): return legal_actions[-1]
    ...     def end(self, returns): ...
    >>> infoset.play_match("kuhn_poker", [Always(), "random"], seed=1).steps[2].actions
    ('bet', None)
    """

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Begin a game in the seat ``player``; ``rng`` is this agent's own source of randomness for it.

        Raises ``UnsupportedGameError`` for a game, ``ParameterError`` for a setting, that it cannot play.
        """
        ...

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        """Record one step: the player's own move as it was executed (``None`` without one) and its observation.

        Called for the start if that yields an observation, and after every step in which the player moves or observes
        something: these are the records of its information state, in order.
        """
        ...

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        """Return one of the moves ``legal_actions``, at the latest at ``deadline``."""
        ...

    def end(self, returns: tuple[float, ...]) -> None:
        """End the game; ``returns`` holds every player's payoff."""
        ...


@runtime_checkable
class ProbabilisticAgent(Agent, Protocol):
    """An agent that can also report the probabilities of its moves: only such an agent can be evaluated exactly."""

    def report_probabilities(self, legal_actions: tuple[Action, ...]) -> Sequence[float]:
        """Return the probability of each legal move now, in place of ``act``."""
        ...


@runtime_checkable
class Prompted(Agent, Protocol):
    """An agent that computes elsewhere: agents that move at once are all prompted before any answer is awaited."""

    def prompt(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Callable[[], tuple[Action, float]]:
        """Request a move without waiting; the function returned waits for the move and the moment at which it came.

        That function raises ``TimeoutError`` at ``deadline``, and whatever ``act`` would raise.
        """
        ...


@runtime_checkable
class Accountable(Protocol):
    """An agent that reports on how it played."""

    def account(self) -> str:
        """Return one line about its games so far: the method, the beliefs, the number of random moves; may be empty."""
        ...


@runtime_checkable
class Passing(Protocol):
    """A game that defines the move to execute for a player whose move is faulty."""

    @property
    def pass_move(self) -> Action:
        """The move that is executed instead."""
        ...


@runtime_checkable
class Teamed(Protocol):
    """A game in which players form teams that win together."""

    @property
    def teams(self) -> tuple[tuple[int, ...], ...]:
        """The players of each team."""
        ...


@runtime_checkable
class Factored(Protocol):
    """A turn-based game whose states consist of a *core*, what truly happened, and a private part for each player.

    A player's private part does not concern the others: whether a move is legal and what it does depends on the core
    and on the mover's private part; a player's observation of the move depends on the core, the move and that player's
    own private part.  The histories of one core are then a product, which the factored form never multiplies out
    (``tree.factored_form``).

    >>> game = infoset.load("liars_dice")
    >>> isinstance(game, infoset.Factored), isinstance(infoset.load("kuhn_poker"), infoset.Factored)
    (True, False)
    >>> rolled = game.start().state.play((None, None), 3).state.play((None, None), 5).state
    >>> game.split(rolled)                                     # two dice fell, no bid yet, the first player's turn
    ((2, -1, 0), ((3,), (5,)))
    """

    def split(self, state: Any) -> tuple[Hashable, tuple[Hashable, ...]] | None:
        """Return the core of a state and the private parts (n,); ``None`` for some terminal states.

        These are the terminal states whose payoffs depend on the private parts.
        """
        ...

    def join(self, core: Any, own: Any) -> State:
        """Return the state with this core and these private parts: the inverse of ``split``."""
        ...


@runtime_checkable
class Staged(Protocol):
    """A game that describes its stages as arrays, which enumerates them much faster than queries of its states do.

    >>> from infoset.base import Staged
    >>> isinstance(infoset.load("oshi_zumo"), Staged)
    True
    """

    def stages(self) -> Stages:
        """Return the stages.  Raises ``BudgetError`` where their values do not fit."""
        ...

    def locate(self, state: Any) -> tuple[int, int, int]:
        """Return a state's stage, its context and the outcome of chance, counted from the context's first one."""
        ...


@runtime_checkable
class CardGame(Protocol):
    """A game of hold'em between two players, which is known by its public cards, its hands and its betting.

    >>> isinstance(infoset.load("holdem_river"), infoset.CardGame)
    True
    """

    name: str
    players: tuple[str, ...]

    @property
    def spot(self) -> Any:
        """The ``board``, for each player ``hands`` and ``weights``, and the ``betting`` rules."""
        ...


@runtime_checkable
class Mapped(Protocol):
    """A game whose information sets are not the players' information states."""

    @property
    def information_map(self) -> InformationMap | None:
        """The map of the information sets; ``None`` where they are information states after all."""
        ...


@runtime_checkable
class Pictured(Protocol):
    """A game that can be drawn; any other is shown as the sequence of its moves."""

    def picture(self, infostate: Sequence[InformationState | None]) -> Picture:
        """Return a picture of the joint knowledge of some players: one information state each, ``None`` for the others.

        With all of them it shows everything; with one it shows the view of that player.
        """
        ...


@runtime_checkable
class Narrated(Protocol):
    """A game that describes in words what happened to a player in one step."""

    def describe_record(self, player: int, record: ObservationRecord, before: InformationState) -> str:
        """Describe ``record``, which follows ``before``, as in ``you bet`` or ``P1 passes``."""
        ...


@runtime_checkable
class Rehearsed(Protocol):
    """A game with a stock agent on which foreign agents may be built."""

    @property
    def rehearsal(self) -> str:
        """The agent's name: it plays a few moves before a clock runs, so that kernels are compiled on nobody's time."""
        ...


@runtime_checkable
class RealTime(Protocol):
    """A game that people play in real time: a player who makes no move in time passes."""

    @property
    def seconds_per_move(self) -> float:
        """A speed at which people can play."""
        ...


@runtime_checkable
class Bridged(Protocol):
    """A game for whose agents another protocol exists besides infoset's own."""

    @property
    def protocol(self) -> str:
        """The protocol's name among the plug-ins ``infoset.protocols``."""
        ...


def own_record(action: Action | None, observation: Observation) -> ObservationRecord | None:
    """Return the record that a step appends to an information state; ``None`` where the step leaves it unchanged."""
    if action is None and observation is None:
        return None
    return (action, () if observation is None else observation)
