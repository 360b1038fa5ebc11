"""Games in product form: the choices of chance and the players are axes, and each decision sees some of them.

This is Witsenhausen's form as Heymann & Lanctot use it ("Progressive hiding", section 2.2): histories are points of one
product set, information is a map on it, and changing the players' information changes that map and nothing else.

Here the axes have an order, and chance may have axes anywhere in it, with probabilities that depend on earlier choices.
Witsenhausen's Omega, from which chance draws once and at the start, is then the product of the answer functions of the
chance axes: each gives an answer to every past.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

from infoset.base import Action, JointAction, Observed
from infoset.errors import GameRuleError, ParameterError, UnknownNameError, shorten
from infoset.games.rules import Ended, NativeState, NotebookGame
from infoset.names import format_action, is_number

PASS = "-"
"""The choice that skips an axis: where it is the only one, no player is asked and the tree has no node for it."""

TOLERANCE = 1e-9

T = TypeVar("T")
Answers: TypeAlias = "Collection[Action] | Mapping[Action, float]"
Sees: TypeAlias = "str | tuple[str, ...] | Callable[[Past], Action]"


def check_names(what: str, names: object) -> None:
    """Raise ``ParameterError`` unless ``names`` is a text or a sequence of texts."""
    listed = [names] if isinstance(names, str) else list(names) if isinstance(names, Sequence) else [None]
    if not all(isinstance(name, str) for name in listed):
        raise ParameterError(f"{what}={shorten(repr(names))}; allowed: a name, or a tuple of names")


class Past(Mapping[str, Action]):
    """The values of the axes that ``reader`` may read, by the names of the axes; reading any other axis raises."""

    def __init__(self, reader: str, values: dict[str, Action], others: Collection[str] = (), why: str = "") -> None:
        self.reader, self._values, self._others, self._why = reader, values, others, why

    def __getitem__(self, axis: str) -> Action:
        if axis in self._values:
            return self._values[axis]
        if axis not in self._others:
            raise UnknownNameError(f"axis, read by {self.reader}:", str(axis), self._values)
        allowed = ", ".join(self._values) or "none"
        raise GameRuleError(f"{self.reader} reads axis {axis!r}, which {self._why}; allowed: {allowed}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def only(self, axes: tuple[str, ...]) -> Past:
        """Return the part of the past on these ``axes``, as the action set of the reader may see it."""
        return Past(f"the action set of {self.reader}", {a: self[a] for a in axes}, self._others, "is not seen there")

    def fail(self, what: str) -> GameRuleError:
        """Make an error that names the reader and the values chosen so far."""
        after = f" after [{' '.join(map(format_action, self._values.values()))}]" if self._values else ""
        return GameRuleError(f"{self.reader}{shorten(after, 200)}: {what}")

    def distinct(self, action_set: Iterable[Action]) -> tuple[Action, ...]:
        """Return the action set as a tuple.  Raises ``GameRuleError`` where it is empty or actions are invalid."""
        with suppress(TypeError):
            found = _several(action_set)
            if found and None not in found and len(set(found)) == len(found):
                return found
        raise self.fail(
            f"the action set {shorten(repr(action_set))} is not one or more distinct ints, strings or tuples"
        )


@dataclass(frozen=True)
class Chance:
    """A chance axis, or several that are drawn together, with a tuple of names and tuples as answers.

    ``answers`` are the chance outcomes, equally likely or mapped to their probabilities, or a function of the past that
    returns either.

    >>> infoset.Chance("die", range(1, 7)).name
    'die'
    >>> bent = infoset.Chance("coin", {"heads": 0.7, "tails": 0.3})
    >>> glass = infoset.Chance("ball", lambda past: ("red", "black") if past["coin"] == "heads" else ("red",))
    """

    name: str | tuple[str, ...]
    answers: Answers | Callable[[Past], Answers]
    player: ClassVar[None] = None

    def __post_init__(self) -> None:
        """Raise ``ParameterError`` for invalid names or answers."""
        check_names("name", self.name)
        if not callable(self.answers) and (isinstance(self.answers, str) or not isinstance(self.answers, Collection)):
            raise ParameterError(
                f"answers={shorten(repr(self.answers))} of {self.name}; allowed: several, with or without "
                "probabilities, or a function of the past"
            )

    def action_set(self, past: Past) -> dict[Action, float]:
        """Return the answers to a past with their probabilities.  Raises ``GameRuleError`` where these are invalid."""
        given = self.answers(past) if callable(self.answers) else self.answers
        values = past.distinct(given)
        if isinstance(given, Mapping) and not all(map(is_number, given.values())):
            raise past.fail(f"the probabilities of {shorten(str(dict(given)))} are not numbers from 0 that sum to 1")
        probabilities = map(float, given.values()) if isinstance(given, Mapping) else [1 / len(values)] * len(values)
        action_set = dict(zip(values, probabilities, strict=True))
        if not (min(action_set.values()) >= 0 and abs(sum(action_set.values()) - 1) <= TOLERANCE):
            raise past.fail(f"the probabilities of {shorten(str(action_set))} are not numbers from 0 that sum to 1")
        if isinstance(self.name, tuple) and not all(isinstance(v, tuple) and len(v) == len(self.name) for v in values):
            raise past.fail(f"{shorten(str(values))} are not tuples of {len(self.name)} values, one an axis")
        return action_set


@dataclass(frozen=True)
class Stage:
    """An axis on which one player chooses.

    ``sees`` names the axes whose values the player sees here, or it is a function of the past whose value, any action,
    is the information set: stages of one player with equal values then share an information set.  An axis that is not
    seen is not known here, even if it was the player's own choice.

    ``actions`` are the choices, or a function of the seen values: of the values by the names of their axes, or of the
    value of the ``sees`` function.  Where the only choice is ``PASS`` the stage is skipped: games may end early.

    >>> infoset.Stage("guess", "P2", ("red", "black"), sees="word").sees
    'word'
    """

    name: str
    player: str
    actions: Collection[Action] | Callable[[Any], Collection[Action]]
    sees: Sees = ()

    def __post_init__(self) -> None:
        """Raise ``ParameterError`` for invalid names, actions or ``sees``."""
        for word in ("name", "player"):
            if not isinstance(getattr(self, word), str):
                raise ParameterError(f"{word}={shorten(repr(getattr(self, word)))} of a stage is no text")
        if not callable(self.actions) and (isinstance(self.actions, str) or not isinstance(self.actions, Collection)):
            raise ParameterError(
                f"actions={shorten(repr(self.actions))} of {self.name}; allowed: several, or a function of the past"
            )
        if not callable(self.sees):
            check_names("sees", self.sees)

    def label(self, past: Past) -> Action:
        """Return the information set: the stage's name and the values it sees, or the value of its function."""
        if not callable(self.sees):
            return (self.name, *[past[axis] for axis in _several(self.sees)])
        label = self.sees(past)
        if label is None:
            raise past.fail("it sees None; for no observation return ()")
        return label

    def action_set(self, past: Past) -> tuple[Action, ...]:
        """Return the choices after a past.  Raises ``GameRuleError`` where there are none or two are equal."""
        if not callable(self.actions):
            return past.distinct(self.actions)
        return past.distinct(self.actions(self.label(past) if callable(self.sees) else past.only(_several(self.sees))))


@dataclass(frozen=True)
class ProductForm(NotebookGame):
    """A game in product form, which is also its own information map.

    ``axes`` are given in the order in which values are chosen.  ``payoff`` is a function of the whole history, a
    mapping from the axes' names to values; it returns one number for each player, in order, or a single number that
    all players get.

    A player observes what a stage sees when it is asked there, and nothing else.  Solvers that need perfect recall
    refuse a game in which a player forgets because of that.

    Raises ``ParameterError`` for names that are not distinct, ``UnknownNameError`` for a player or an axis that does
    not exist, and ``GameRuleError`` for an axis that is seen before it is chosen, an action set that is empty or has
    repetitions, and probabilities that do not sum to one: on construction where these are values, during play where
    functions return them.

    >>> game = infoset.ProductForm(
    ...     "signals",
    ...     ("P1", "P2"),
    ...     (
    ...         infoset.Chance("card", ("red", "black")),
    ...         infoset.Stage("word", "P1", ("yes", "no"), sees="card"),
    ...         infoset.Stage("guess", "P2", ("red", "black"), sees="word"),
    ...     ),
    ...     lambda past: float(past["guess"] == past["card"]),      # both are paid the same
    ... )
    >>> infoset.team_optimum(game).value
    1.0
    """

    name: str
    players: tuple[str, ...]
    axes: tuple[Chance | Stage, ...]
    payoff: Callable[[Past], float | Sequence[float]] = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ParameterError(f"name={shorten(repr(self.name))} of a game is no text")
        check_names("players", self.players)
        if isinstance(self.axes, str) or not isinstance(self.axes, Iterable):
            raise ParameterError(f"{self.name}: axes={shorten(repr(self.axes))}; allowed: several, of Chance and Stage")
        if odd := [axis for axis in self.axes if not isinstance(axis, (Chance, Stage))]:
            raise ParameterError(f"{self.name}: {shorten(repr(odd[0]))} is no axis; allowed: Chance and Stage")
        if not callable(self.payoff):
            raise ParameterError(f"{self.name}: payoff={shorten(repr(self.payoff))} is no function of the history")
        object.__setattr__(self, "players", _several(self.players))
        object.__setattr__(self, "axes", tuple(self.axes))
        for what, given in (("players", self.players), ("axes", self.names)):
            if twice := [name for name, times in Counter(given).items() if times > 1]:
                raise ParameterError(f"{self.name}: the {what} need distinct names; {twice[0]!r} occurs twice")
        chosen: dict[str, Action] = {}
        for axis in self.axes:
            reader = self._reader(axis)
            if isinstance(axis, Stage):
                if axis.player not in self.players:
                    raise UnknownNameError(f"player of {reader}:", axis.player, self.players)
                if not callable(axis.sees):
                    axis.label(Past(reader, chosen, self.names, "lies ahead"))
            if not callable(axis.actions if isinstance(axis, Stage) else axis.answers):
                axis.action_set(Past(reader, {}))
            chosen.update(dict.fromkeys(_several(axis.name), PASS))

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all axes in order."""
        return tuple([name for axis in self.axes for name in _several(axis.name)])

    @property
    def information_map(self) -> ProductForm:
        """The game itself, which labels information sets by ``key``."""
        return self

    def key(self, state: object, player: int) -> Hashable:
        """Return the information set of the stage at ``state``."""
        assert isinstance(state, ProductState) and isinstance(state.axis, Stage)
        return state.axis.label(state.past)

    def start(self) -> Observed:
        return self.step(())

    def step(self, values: tuple[Action, ...]) -> Observed:
        """Return the step to the state in which these values were chosen, one for each axis, skipping ``PASS`` axes."""
        while len(values) < len(self.axes):
            axis, past = self.axes[len(values)], self.past(values)
            if tuple(axis.action_set(past)) != (PASS,):
                label = axis.label(past) if isinstance(axis, Stage) else None
                seen = tuple([label if name == axis.player else None for name in self.players])
                return Observed(ProductState(self, values), seen)
            values = (*values, PASS)
        return Observed(Ended(self._paid(values)), (None,) * len(self.players))

    def past(self, values: tuple[Action, ...]) -> Past:
        """Return the values chosen so far, as the next axis or the payoff may read them."""
        named: dict[str, Action] = {}
        for axis, value in zip(self.axes, values, strict=False):
            if isinstance(axis.name, str):
                named[axis.name] = value
            else:
                named.update(zip(axis.name, value, strict=True))  # type: ignore[arg-type]
        if len(values) == len(self.axes):
            return Past(f"the payoff of {self.name}", named)
        return Past(self._reader(self.axes[len(values)]), named, self.names, "lies ahead")

    def seeing(self, name: str, sees: Mapping[str, Sees]) -> ProductForm:
        """Return a game ``name`` on the same product set in which these stages see other axes.

        Raises ``UnknownNameError`` for a stage that does not exist, and what the form itself raises.
        """
        stages = {axis.name for axis in self.axes if isinstance(axis, Stage)}
        for stage in sees:
            if stage not in stages:
                raise UnknownNameError(f"stage of {self.name}:", stage, stages)
        axes = [replace(a, sees=sees.get(a.name, a.sees)) if isinstance(a, Stage) else a for a in self.axes]
        return replace(self, name=name, axes=tuple(axes))

    def _reader(self, axis: Chance | Stage) -> str:
        return f"{'stage' if isinstance(axis, Stage) else 'axis'} {axis.name!r} of {self.name}"

    def _paid(self, values: tuple[Action, ...]) -> tuple[float, ...]:
        history = self.past(values)
        paid, count = self.payoff(history), len(self.players)
        with suppress(TypeError, ValueError):
            payoffs = tuple(map(float, paid)) if isinstance(paid, Iterable) else (float(paid),) * count
            if len(payoffs) == count and all(map(isfinite, payoffs)):
                return payoffs
        raise history.fail(f"{shorten(repr(paid))} is not {count} finite numbers, or one for all")


class _Fields(NamedTuple):
    form: ProductForm
    values: tuple[Action, ...]


class ProductState(NativeState, _Fields):
    """A state: the values chosen on the first axes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"ProductState({self.form.name!r}, {self.values!r})"

    @property
    def axis(self) -> Chance | Stage:
        """The axis whose value is chosen next."""
        return self.form.axes[len(self.values)]

    @property
    def past(self) -> Past:
        """The values chosen so far."""
        return self.form.past(self.values)

    def legal_actions(self, player: int) -> tuple[Action, ...]:
        return tuple(self.axis.action_set(self.past)) if self.axis.player == self.form.players[player] else ()

    def chance_outcomes(self, actions: JointAction) -> tuple[tuple[Action, float], ...]:
        return tuple(self.axis.action_set(self.past).items()) if isinstance(self.axis, Chance) else ()

    def play_unchecked(self, actions: JointAction, chance_outcome: Action | None = None) -> Observed:
        (value,) = [choice for choice in (*actions, chance_outcome) if choice is not None]
        return self.form.step((*self.values, value))

    def returns(self) -> tuple[float, ...]:
        return (0.0,) * len(self.form.players)


def _several(given: Iterable[T]) -> tuple[T, ...]:
    """Return a tuple of the given values; a text is one value, not its letters."""
    return (given,) if isinstance(given, str) else tuple(given)  # type: ignore[return-value]
