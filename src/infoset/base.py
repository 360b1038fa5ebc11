"""The vocabulary of infoset: what a game, a state, a step, a policy and an agent are.

A game is a finite factored-observation stochastic game: everyone who moves moves at once, nature answers
the joint move, and every step sends each player a private observation.  A turn-based game is the case in
which one player has moves.  Nothing here computes anything; every room above speaks in these words.

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
"""A move of a player or an answer of nature."""

Observation: TypeAlias = "int | str | tuple[Observation, ...] | None"
"""What one player learns from one step; ``None`` means not even that time has passed."""

JointMove: TypeAlias = "Sequence[Action | None]"
"""One entry a player, ``None`` for those who do not move."""

Token: TypeAlias = "tuple[Action | None, Observation]"
"""One entry of an information state: (own move or ``None``, observation)."""

InformationState: TypeAlias = "tuple[Token, ...]"
"""What a player knows: its own moves and observations since the start, in order."""


Picture: TypeAlias = dict[str, Any]
"""What is to be seen, as JSON can hold it, by ``kind``; the other keys are the kind's own, those in brackets optional.

``table``: ``areas``, each with ``title``, ``cards`` (texts), ``hidden`` (how many more lie face down), ``note``,
[``as``: ``die`` where they are dice], [``chips``: how many], [``player``: whose it is, from 0].
``grid``: ``rows`` and ``columns`` (labels), ``cells`` (a text each), [``moves``: ``"r,c"`` to the number of the legal
move that names the cell], [``slides``: ``"r,c"`` to such a mapping, for moves between cells], [``title``],
[``hexagons``: 1 where each row lies half a cell to the right of the one above it, -1 to the left].
``facts``: ``relations``, each with ``name`` and ``rows`` of texts.
``payoffs``: of a one-shot game ``players``, their ``strategies``, ``tables`` (one, or one for each choice of a third
player), each with ``title`` and ``cells`` by row and column of ``paid`` (texts) and ``best`` (whether a player's choice
is a best answer), ``chosen`` (each player's place or ``None``), ``mover`` (who may choose), ``equilibria`` (lines).
``path``: ``steps``, each with ``who`` and ``move``, ``moves`` (those on offer), [``note``].
``pommerman``: what its painter needs.  ``group``: ``parts``, pictures side by side.
"""


class Step(Protocol):
    """The outcome of one joint move: the next state and what each player observes of it.

    >>> step = infoset.load("kuhn_poker").start()
    >>> step.observation(0) is None        # nothing is seen before the cards are dealt
    True
    """

    @property
    def state(self) -> State:
        """The state that it leads to."""
        ...

    def observation(self, player: int) -> Observation:
        """What ``player`` sees of it; ``None`` where not even that time has passed."""
        ...


class State(Protocol):
    """One state of a game: an immutable, hashable value that determines everything that can still happen.

    Histories that agree on what is to come may (and for speed should) share one state: the past is kept in
    the players' information states, not here.

    >>> state = infoset.load("rock_paper_scissors").start().state
    >>> state.legal(0)
    ('Rock', 'Paper', 'Scissors')
    >>> state.play(("Rock", "Paper")).state.returns()
    (-1.0, 1.0)
    """

    @property
    def terminal(self) -> bool:
        """Whether the game is over."""
        ...

    def legal(self, player: int) -> tuple[Action, ...]:
        """The moves of ``player``, in a fixed order; ``()`` when that player does not move."""
        ...

    def chance(self, moves: JointMove) -> tuple[tuple[Action, float], ...]:
        """Nature's answers to a joint move with their probabilities; ``()`` when none is needed.

        Raises ``UnsupportedGameError`` where they are too many to list; ``draw`` still gives one.
        """
        ...

    def draw(self, moves: JointMove, rng: np.random.Generator) -> Action | None:
        """One answer of nature, also where the answers are too many to list; ``None`` when none is needed."""
        ...

    def play(self, moves: JointMove, nature: Action | None = None) -> Step:
        """The step that a joint move and nature's answer lead to.  Raises ``IllegalMoveError``."""
        ...

    def returns(self) -> tuple[float, ...]:
        """Each player's payoff so far; final at a terminal state."""
        ...


@runtime_checkable
class Game(Protocol):
    """The rules: a name that ``infoset.load`` understands, the players in payoff order, and a start.

    What else it may say of itself are the protocols ``Passing``, ``Teamed``, ``Factored``, ``Mapped``,
    ``Pictured``, ``Narrated`` and ``Rehearsed`` below.

    >>> game = infoset.load("leduc_poker")
    >>> game.name, game.players, isinstance(game, infoset.Game)
    ('leduc_poker', ('P1', 'P2'), True)
    """

    @property
    def name(self) -> str:
        """What ``infoset.load`` makes it from."""
        ...

    @property
    def players(self) -> tuple[str, ...]:
        """(n,) the names of the players, in the order of payoffs."""
        ...

    def start(self) -> Step:
        """The state it begins in, with what each player sees of that."""
        ...


class Facts(NamedTuple):
    """What holds in the states of a game, a column for each fact: what learners see."""

    position: IntArray  # (S,) where the step of each state begins
    holds: npt.NDArray[np.uint8]  # (S, bytes) packed bits, the least significant first


class Positions(NamedTuple):
    """Every distinct position of a game, as flat arrays: what ``tree.graph.GameGraph`` is made of, and says.

    A game may have a method ``positions(check) -> Positions | None`` that finds them faster than questions to its
    states do; ``check(positions, edges)`` is called now and then and raises where there are too many.
    """

    player: npt.NDArray[np.int8]  # (P,)
    content: IntArray  # (P,)
    first_edge: IntArray  # (P + 1,)
    child: IntArray  # (E,)
    probability: FloatArray  # (E,)
    token: IntArray  # (E, n)
    menus: list[tuple[Action, ...]]
    payoffs: FloatArray  # (number of distinct payoff vectors, n)
    tokens: list[Token]
    facts: Facts | None = None


class InformationMap(Protocol):
    """Information that differs from "everything a player has seen": imperfect recall, a team as one player.

    A game that has one carries it as the attribute ``information_map``; where there is none, a player's
    information set is its information state.

    >>> game = infoset.ProductForm(
    ...     "forgetful",
    ...     ("P1",),
    ...     (infoset.Nature("coin", ("heads", "tails")), infoset.Stage("call", "P1", ("heads", "tails"))),
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
        """The label of the information set in which ``player`` moves at ``state``."""
        ...


class Observed(NamedTuple):
    """The plain ``Step``: a state and the observations, one a player.

    ``observations`` has one entry a player, (n,).

    >>> infoset.Observed(state=infoset.Ended((1.0, -1.0)), observations=("won", "lost")).observation(1)
    'lost'
    """

    state: State
    observations: tuple[Observation, ...]

    def observation(self, player: int) -> Observation:
        """What ``player`` sees of it."""
        return self.observations[player]


@runtime_checkable
class Policy(Protocol):
    """What everybody plays: chances of the moves at each information state.

    Tables, trees of states, agents that are asked, functions: whatever can be evaluated or played is one.

    >>> policy = infoset.solve("kuhn_poker", "lp").policy
    >>> isinstance(policy, infoset.Policy), policy.row(1, ((None, "K"), (None, "bet")), ("pass", "bet"))
    (True, [0.0, 1.0])
    """

    def row(self, player: int, known: InformationState, legal: tuple[Action, ...]) -> Sequence[float] | None:
        """A chance for each of the moves, which sum to one; ``None`` where it says nothing: then all are alike."""
        ...


@runtime_checkable
class Drawing(Protocol):
    """A policy of players who agree beforehand: what they play is drawn for every game, for all of them at once."""

    def draw(self, rng: np.random.Generator) -> Policy:
        """What everybody plays in a game; players who agree are given equal ``rng``."""
        ...


@runtime_checkable
class Agent(Protocol):
    """Who plays: a policy, a search, a network, a person and a remote process are all agents.

    An agent is handed the rules, which everybody knows, and beyond them only what its player may know; never
    a state.  It is told when a game begins and ends and keeps nothing between the two that would change how
    it plays, so one object plays game after game; in one game it holds one seat.

    A deadline is a moment of ``time.monotonic``, in seconds; ``None`` means that there is no limit.

    >>> class Always:
    ...     def begin(self, game, player, rng, deadline): ...
    ...     def observe(self, own_move, observation): ...
    ...     def act(self, legal, deadline): return legal[-1]
    ...     def end(self, returns): ...
    >>> infoset.play_match("kuhn_poker", [Always(), "random"], seed=1).steps[2].moves
    ('bet', None)
    """

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """A game begins in the seat ``player``; ``rng`` is this agent's own source of randomness for it.

        Raises ``UnsupportedGameError`` for a game, ``ParameterError`` for a setting, that it cannot play.
        """
        ...

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        """One step was played: the own move as it was executed (``None`` without one) and what is seen of it.

        Called for the start, where that shows something, and after every step in which the player moves or
        observes something: these are the tokens of its information state, in order.
        """
        ...

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        """One of the moves ``legal``, at the latest at ``deadline``."""
        ...

    def end(self, returns: tuple[float, ...]) -> None:
        """The game is over; ``returns`` holds every player's payoff."""
        ...


@runtime_checkable
class Telling(Agent, Protocol):
    """An agent that can also say with what chances it would move: only such a one can be evaluated exactly."""

    def chances(self, legal: tuple[Action, ...]) -> Sequence[float]:
        """With what chances it would make each of the moves now, in place of ``act``."""
        ...


@runtime_checkable
class Prompted(Agent, Protocol):
    """An agent that thinks elsewhere: those who move at once are all asked before the first answer is waited for."""

    def prompt(self, legal: tuple[Action, ...], deadline: float | None) -> Callable[[], tuple[Action, float]]:
        """Ask, and do not wait: what comes back does, for the move and the moment at which it came.

        That raises ``TimeoutError`` at ``deadline``, and what ``act`` would.
        """
        ...


@runtime_checkable
class Accountable(Protocol):
    """An agent that says how it played."""

    def account(self) -> str:
        """One line about its games so far: by which method, with which beliefs, how often at random; may be empty."""
        ...


@runtime_checkable
class Passing(Protocol):
    """A game that says what is executed for a player whose move is faulty."""

    @property
    def pass_move(self) -> Action:
        """That move."""
        ...


@runtime_checkable
class Teamed(Protocol):
    """A game in which players win together."""

    @property
    def teams(self) -> tuple[tuple[int, ...], ...]:
        """The players of each team."""
        ...


@runtime_checkable
class Factored(Protocol):
    """A game of turns whose states are a *core*, what truly happened, and what each player has to itself besides.

    What a player has to itself is nothing to the others: whether a move is on offer and what it does depends on the
    core and on what its mover has; what somebody sees of it, on the core, the move and what that one has.  Then the
    histories of one core are a product, which the factored form never multiplies out (``tree.factored_form``).

    >>> game = infoset.load("liars_dice")
    >>> isinstance(game, infoset.Factored), isinstance(infoset.load("kuhn_poker"), infoset.Factored)
    (True, False)
    >>> rolled = game.start().state.play((None, None), 3).state.play((None, None), 5).state
    >>> game.split(rolled)                                     # two dice fell, no bid yet, the first player's turn
    ((2, -1, 0), ((3,), (5,)))
    """

    def split(self, state: Any) -> tuple[Hashable, tuple[Hashable, ...]] | None:
        """The core of a state, and what each player has (n,); of an end ``None`` where that matters for its payoffs."""
        ...

    def join(self, core: Any, own: Any) -> State:
        """The state of a core and of what each player has: the inverse of ``split``."""
        ...


@runtime_checkable
class Dealt(Factored, Protocol):
    """A factored game for two that begins with a deal: what one player has is nothing to the other, but for the cards
    that only one can hold, and for who has more at the end.

    Of its ends ``split`` says nothing.  What an end pays depends, besides the core, on whose ``strength`` is higher.

    >>> game = infoset.load("holdem_river(range1='AhAd KhQh:0.5',range2=JcTc)")
    >>> isinstance(game, infoset.Dealt)
    True
    >>> game.deal()                                     # no bets, no card; hands
    (((0, 0), 0, 0, -1), [[((50, 49), 'AhAd', 1.0), ((46, 42), 'KhQh', 0.5)], [((36, 32), 'JcTc', 1.0)]])
    """

    def deal(self) -> tuple[Hashable, list[list[tuple[Hashable, Any, float]]]]:
        """The core behind the deal, and what each player may have then, what it sees of it, and its weight: a joint
        deal is as likely as the product of its weights, if no card is in it twice.
        """
        ...

    def cards(self, what: Any) -> Sequence[Hashable]:
        """What of it nobody else can have: of what a player has, or of what nature answers behind the deal."""
        ...

    def strength(self, core: Any, own: Any) -> int:
        """Who has more wins."""
        ...


@runtime_checkable
class Mapped(Protocol):
    """A game whose information sets are not the players' information states."""

    @property
    def information_map(self) -> InformationMap | None:
        """What they are; ``None`` where they are information states after all."""
        ...


@runtime_checkable
class Pictured(Protocol):
    """A game that says what it looks like; any other is shown as the moves that were made."""

    def picture(self, known: Sequence[InformationState | None]) -> Picture:
        """What these players know together: one information state a player, ``None`` for those left out.

        With all of them it is everything; with one it is what this player sees.
        """
        ...


@runtime_checkable
class Narrated(Protocol):
    """A game that says in words what happened to a player in one step."""

    def told(self, player: int, token: Token, before: InformationState) -> str:
        """``token``, after ``before``, as in ``you bet`` or ``P1 passes``."""
        ...


@runtime_checkable
class Rehearsed(Protocol):
    """A game on one of whose agents foreign ones may be built."""

    @property
    def rehearsal(self) -> str:
        """Its name: it plays a few moves before a clock runs, so that none of them compiles on its own time."""
        ...


def own_token(move: Action | None, observation: Observation) -> Token | None:
    """By what an information state grows; ``None`` where a step leaves it as it was."""
    if move is None and observation is None:
        return None
    return (move, () if observation is None else observation)
