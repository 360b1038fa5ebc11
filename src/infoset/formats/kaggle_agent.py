"""``kaggle:FILE.py``: an agent written for ``kaggle-environments``, which plays here unchanged.

Its file defines ``agent(observation, configuration)``, the last callable in it.  It is given what Kaggle gives it
(``formats.kaggle``), made from what its player knows: of what the player does not know, the text of the whole state
that Kaggle hands out as ``serializedGameAndState`` contains a guess that is consistent with the player's observations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import TextIOBase
from itertools import pairwise, product
from numbers import Integral
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from infoset.base import Action, Agent, Game, JointAction, Observation, ObservationRecord, State, Step, own_record
from infoset.errors import FormatError, ParameterError, RemoteError, UnsupportedGameError, shorten
from infoset.files import no_such_path
from infoset.formats.kaggle import AGENT_ERROR, INFORMATION_STATE, NOT_READY, OBSERVATION, Environment
from infoset.formats.openspiel import import_pyspiel
from infoset.interruption import running_foreign_code
from infoset.names import check_choice, full_name

MAX_STEPS = 200_000  # that are tried for the histories of one game


def kaggle(path: str = "", observation_type: str = "", legal_actions: bool = True) -> Agent:
    """An agent file of kaggle-environments; observation_type as there, legal_actions whether they are listed."""
    if not path:
        raise ParameterError("kaggle: path is missing; name the file: kaggle(path=agent.py) or kaggle:agent.py")
    check_choice("kaggle: observation_type", observation_type, ("", OBSERVATION, INFORMATION_STATE))
    name = full_name(
        "kaggle", kaggle, path=path, observation_type=observation_type, legal_actions=legal_actions
    )  # fmt: skip
    return KaggleAgent(Path(path), observation_type, legal_actions, name)


class _Nowhere(TextIOBase):
    """Drops what is written to it."""

    def write(self, text: str) -> int:
        return len(text)


NOWHERE = _Nowhere()
"""Where agents print to, whose output Kaggle keeps apart: standard output is that of infoset's own results."""


class Struct(dict[str, Any]):
    """A dictionary whose entries are attributes, too, as Kaggle's observations and configurations are."""

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise AttributeError(key) from None

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value

    @classmethod
    def of(cls, value: Any) -> Any:
        """Return a copy in which all dictionaries are of this class."""
        if isinstance(value, dict):
            return cls({key: cls.of(each) for key, each in value.items()})
        return list(map(cls.of, value)) if isinstance(value, list) else value


class KaggleAgent:
    """An agent's file in play: it is run anew for every game, since Kaggle starts a process for each."""

    def __init__(self, path: Path, observation_type: str, legal_actions: bool, name: str) -> None:
        """Run the file.  Raises ``FormatError`` where that fails, and ``MissingExtraError``."""
        import_pyspiel()
        self.path, self.observation_type, self.lists_actions, self.name = path, observation_type, legal_actions, name
        self.made: Any = load_agent_file(path)
        self.environment: Environment | None = None

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        if self.environment is None or self.environment.game is not game:
            self.environment = Environment(game, self.observation_type, self.lists_actions)
        self.answer, self.made = self.made or load_agent_file(self.path), None
        self.player = player
        self.records: list[ObservationRecord] = []
        self.histories = Histories(game, player, rng)
        self._ask(self.environment.setup(), deadline)  # the answer does not count

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        if (record := own_record(own_action, observation)) is not None:
            self.records.append(record)

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        assert self.environment is not None
        spiel, step = self._state(self.environment, self.histories.find(self.records, legal_actions, deadline))
        numbers = self.environment.numbers(spiel, self.player, legal_actions)
        answer = self._ask(self.environment.observation(spiel, self.player, step), deadline)
        if not isinstance(answer := NOT_READY if answer is None else answer, dict):
            return f"{shorten(repr(answer))}, not a dictionary with a submission"
        submission = answer.get("submission", NOT_READY["submission"])
        if isinstance(submission, Integral) and submission in numbers:
            return legal_actions[numbers.index(int(submission))]
        if submission == AGENT_ERROR:
            raise RemoteError(f"it reports its own failure, submission {AGENT_ERROR}")
        return f"submission {shorten(repr(submission))} of {numbers}"

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    @staticmethod
    def _state(environment: Environment, played: Played) -> tuple[Any, int]:
        """Return OpenSpiel's state after a history and the number of its next decision."""
        path = [played]
        while path[-1].before is not None:
            path.append(path[-1].before)
        path.reverse()
        spiel, step = environment.start(path[0].state), 1
        for before, after in pairwise(path):
            spiel = environment.follow(spiel, before.state, after.actions, after.chance_outcome, after.state)
            step += any(action is not None for action in after.actions)
        return spiel, step

    def _ask(self, observation: dict[str, Any], deadline: float | None) -> Any:
        assert self.environment is not None
        seconds = None if deadline is None else max(deadline - monotonic(), 0.0)
        configuration = self.environment.configuration(str(self.path), seconds)
        arguments = [Struct.of(observation), Struct.of(configuration)]
        count = getattr(getattr(self.answer, "__code__", None), "co_argcount", len(arguments))
        with redirect_stdout(NOWHERE):
            return self.answer(*arguments[:count])


def load_agent_file(path: Path) -> Any:
    """Run an agent's file and return its last callable, as Kaggle does.

    Raises ``FormatError`` where that fails or where there is none.
    """
    if path.suffix != ".py" or not path.is_file():
        raise FormatError(no_such_path(path) if path.suffix == ".py" else "not a Python file, FILE.py", str(path))

    def convert(error: BaseException, why: str) -> FormatError:
        line = error.lineno or 0 if isinstance(error, SyntaxError) else 0
        return FormatError(why, str(path), line)

    names: dict[str, Any] = {}
    with running_foreign_code(convert):
        code = compile(path.read_bytes(), str(path), "exec")
        sys.path.append(str(path.resolve().parent))
        try:
            with redirect_stdout(NOWHERE):
                exec(code, names)
        finally:
            sys.path.pop()
    callables = [value for value in names.values() if callable(value)]
    if not callables:
        raise FormatError("no function; an agent is the last function of its file", str(path))
    return callables[-1]


class Played(NamedTuple):
    """A history: the steps so far, linked backwards."""

    state: State
    matched: int
    """The number of the player's records that it explains."""
    before: Played | None
    actions: JointAction = ()
    chance_outcome: Action | None = None


class Histories:
    """Histories of one game that are consistent with what a player has observed, found by depth-first search.

    The search goes on where it ended, since every history that explains more records explains the earlier ones.
    """

    def __init__(self, game: Game, player: int, rng: np.random.Generator) -> None:
        self.game, self.player, self.rng = game, player, rng
        self.stack: list[Played] = []
        self.seen: set[tuple[State, int]] = set()
        self.steps = 0

    def find(
        self, records: list[ObservationRecord], legal_actions: tuple[Action, ...], deadline: float | None = None
    ) -> Played:
        """Return a history that explains all records, after which the player chooses from ``legal_actions``.

        Raises ``UnsupportedGameError`` where ``MAX_STEPS`` steps led to none, ``TimeoutError`` at the deadline.
        """
        if not self.steps:
            self._push(self.game.start(), None, (), None, 0, records)
        while self.stack and self.steps <= MAX_STEPS:
            if deadline is not None and monotonic() >= deadline:
                raise TimeoutError("no history that fits the observations was found in time")
            played = self.stack[-1]
            own = played.state.legal_actions(self.player)
            if played.matched == len(records) and own:
                if own == legal_actions:
                    return played
                self.stack.pop()
                continue
            self.stack.pop()
            for actions, outcome in self._steps(played, records):
                self.steps += 1
                step = played.state.play(actions, outcome)
                self._push(step, played, actions, outcome, played.matched, records)
        raise UnsupportedGameError(
            f"{self.game.name}: {self.steps:,} steps led to no history that fits the observations, which Kaggle's "
            "texts are made from"
        )

    def _push(
        self, step: Step, before: Played | None, actions: JointAction, outcome: Action | None, matched: int,
        records: list[ObservationRecord],
    ) -> None:  # fmt: skip
        """Add the history that a step leads to, if it explains the records and was not seen before."""
        own_action = actions[self.player] if actions else None
        record = own_record(own_action, step.observation(self.player))
        if record is not None:
            if matched == len(records) or records[matched] != record:
                return
            matched += 1
        if step.state.terminal or (key := (step.state, matched)) in self.seen:
            return
        self.seen.add(key)
        self.stack.append(Played(step.state, matched, before, actions, outcome))

    def _steps(self, played: Played, records: list[ObservationRecord]) -> Iterator[tuple[JointAction, Action | None]]:
        """Yield the joint moves that may follow, each with the possible outcomes of chance, in random order."""
        state, options = played.state, []
        for player in range(len(self.game.players)):
            legal: tuple[Action | None, ...] = state.legal_actions(player) or (None,)
            if player == self.player and legal != (None,):
                own = records[played.matched][0]
                legal = (own,) if own in legal else ()
            options.append(legal)
        joint = list(product(*options))
        for k in self.rng.permutation(len(joint)).tolist():
            possible = [outcome for outcome, probability in state.chance_outcomes(joint[k]) if probability]
            outcomes: list[Action | None] = [*possible] or [None]
            for m in self.rng.permutation(len(outcomes)).tolist():
                yield joint[k], outcomes[m]
