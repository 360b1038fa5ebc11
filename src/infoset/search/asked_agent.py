"""Ask an agent at every information set: many times, to estimate a strategy, or once where it reports probabilities.

Answers are appended to a file as they come, so that an interrupted or repeated evaluation asks only what is missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from infoset import status
from infoset.base import Action, Agent, Game, InformationState, Passing
from infoset.catalog import load
from infoset.compiled import Compiled
from infoset.errors import FormatError, ParameterError, RemoteError, UnsupportedGameError, one_line, shorten
from infoset.executors import LOCAL, executor
from infoset.files import lock_file, make_folder
from infoset.interruption import is_users, listening
from infoset.match.agents import check_reached, exchanges_of, load_agent
from infoset.match.match import FAULTS, error_text
from infoset.match.replay import Exchange
from infoset.names import action_names, policy_key
from infoset.policies.simple import AskedPolicy, Question

A = TypeVar("A", "Answer", "Row")

TOGETHER = 8  # questions that a process answers before it reports
AT_ONCE = 8  # questions to a model that are answered at the same time
TRIES = 3  # of a question to which no answer comes
MAX_LINE = 8 << 20  # bytes


class Answer(msgspec.Struct, omit_defaults=True):
    """One answer of an agent at an information set."""

    key: str
    """A hash of the question."""
    action: int
    """The number of the action that is played, from 0."""
    problem: str = ""
    """Why the agent's own answer could not be played; the action is then the referee's."""
    exchanges: tuple[Exchange, ...] = ()


class Row(msgspec.Struct):
    """The probabilities that an agent reports at an information set."""

    key: str
    """A hash of the question."""
    probabilities: tuple[float, ...]


KINDS: dict[type, str] = {Answer: "an answer", Row: "probabilities"}


class Asked(NamedTuple):
    """The answers of an agent at the information sets of a game."""

    draws: list[list[int]]
    """(I,) the actions that were played at each set, by their numbers."""
    problems: int
    """The number of answers that were replaced."""
    example: str
    """The first reason for that."""
    calls: int
    """The number of questions of this run; the other answers were known."""
    stopped: str
    """``samples`` (all were asked), ``calls`` (no more were allowed) or ``interrupted``."""


class _KeyedQuestion(NamedTuple):
    """An information set as the agent meets it."""

    player: int
    infostate: InformationState
    legal_actions: tuple[Action, ...]
    key: str


def ask_agent(
    compiled: Compiled, agent: Agent, name: str, samples: int, calls: int | None, seed: int, path: Path | None
) -> Asked:
    """Ask an agent ``samples`` times at each information set with a choice, the first sets of the game first.

    An answer that is no legal action, or an exception, counts as what the referee plays instead: the game's
    ``pass_move``, or an action drawn uniformly by ``seed``.  At most ``calls`` questions are asked.  Ctrl-C ends the
    asking.  Raises ``RemoteError`` where an agent elsewhere does not answer, the answers so far being in ``path``.
    """
    check_reached([agent])
    form, tree = compiled.form, compiled.tree
    order = np.argsort(tree.infoset_node[form.tree_infoset], kind="stable").tolist()
    draws: list[list[int]] = [[] for _ in order]
    problems, asked, stopped = list[str](), 0, "samples"
    with _answers(path, Answer) as (known, write), status.during(f"asking {shorten(name)}"), listening():
        for place, k in enumerate(order):
            question = _question(compiled, agent, name, k)
            found = known.get(question.key, [])[:samples]
            try:
                while len(found) < samples and stopped != "interrupted":
                    count = min(samples - len(found), AT_ONCE, samples if calls is None else calls - asked)
                    if not count:
                        stopped = "calls"
                        break
                    sets = f"{place:,} of {len(order):,} information sets"
                    status.detail(f"asking {shorten(name)}: {sets}, {asked:,} answers")
                    for answer in _ask(compiled, agent, question, range(len(found), len(found) + count), seed, k):
                        write(answer)
                        found.append(answer)
                        asked += 1
            except KeyboardInterrupt:  # later sets may have answers in the file
                stopped = "interrupted"
            actions = [answer.action for answer in found]
            if any(not 0 <= action < len(question.legal_actions) for action in actions):
                raise FormatError(
                    f"an action of a set with {len(question.legal_actions)} that does not exist", str(path)
                )
            draws[k] = actions
            problems += [answer.problem for answer in found if answer.problem]
    if not any(draws):
        raise KeyboardInterrupt
    return Asked(draws, len(problems), problems[0] if problems else "", asked, stopped)


def _question(compiled: Compiled, agent: Agent, name: str, k: int) -> _KeyedQuestion:
    """Return the question at information set ``k`` of the form.  The key contains all that the answer depends on."""
    tree, infoset = compiled.tree, int(compiled.form.tree_infoset[k])
    player, legal_actions = int(tree.infoset_player[infoset]), tree.action_set(infoset)
    infostate = tree.states.state(int(tree.infoset_state[infoset]))
    place = [compiled.name, player, tree.key(infoset), action_names(legal_actions)]
    asked_as: Any = name
    if hasattr(agent, "asked_as"):
        _begin(compiled, agent, player, infostate, np.random.default_rng(0))
        asked_as = agent.asked_as(legal_actions)
    return _KeyedQuestion(player, infostate, legal_actions, _hash([place, asked_as]))


def _hash(words: list[Any]) -> str:
    return sha256(json.dumps(words).encode()).hexdigest()[:32]


def _begin(
    compiled: Compiled, agent: Agent, player: int, infostate: InformationState, rng: np.random.Generator
) -> None:
    agent.begin(compiled.game, player, rng, None)
    for own_action, observation in infostate:
        agent.observe(own_action, observation)


def _ask(
    compiled: Compiled, agent: Agent, question: _KeyedQuestion, numbers: range, seed: int, k: int
) -> Iterator[Answer]:
    """Yield the answers ``numbers`` to a question; a language model is asked for all of them at once."""
    many = hasattr(agent, "asked_as")
    waiting = [_posed(compiled, agent, question, seed, k, number) for number in numbers] if many else []
    for place, number in enumerate(numbers):
        for attempt in range(TRIES):
            rng = np.random.default_rng([seed, k, number, attempt])
            try:
                wait, exchanges = (
                    waiting[place] if many and not attempt else _posed(compiled, agent, question, seed, k, number)
                )
                played, problem = wait(), ""
            except RemoteError:
                if attempt == TRIES - 1:
                    raise
                continue
            except (UnsupportedGameError, ParameterError):
                raise
            except FAULTS as error:
                if is_users(error):
                    raise
                played, problem = None, error_text(error)
            legal = question.legal_actions
            if not problem and played not in legal:
                problem = f"{shorten(repr(played), 200)} is no legal action"
            if problem:
                played = _replacement(compiled, legal, rng)
            yield Answer(question.key, legal.index(played), one_line(problem, 300), exchanges())
            break


def _posed(
    compiled: Compiled, agent: Agent, question: _KeyedQuestion, seed: int, k: int, number: int
) -> tuple[Callable[[], Any], Callable[[], tuple[Exchange, ...]]]:
    """Pose a question; return functions that wait for the answer and that return what was exchanged for it."""
    rng = np.random.default_rng([seed, k, number])
    _begin(compiled, agent, question.player, question.infostate, rng)
    if not hasattr(agent, "asked_as"):
        return lambda: agent.act(question.legal_actions, None), lambda: exchanges_of(agent)
    wait, talk = agent.prompt(question.legal_actions, None), agent.game_talk  # type: ignore[attr-defined]
    return lambda: wait()[0], lambda: tuple(talk.exchanges)


def _replacement(compiled: Compiled, legal_actions: tuple[Action, ...], rng: np.random.Generator) -> Action:
    """Return what the referee plays in place of a faulty answer."""
    game = compiled.game
    if isinstance(game, Passing) and game.pass_move in legal_actions:
        return game.pass_move
    return legal_actions[int(rng.integers(len(legal_actions)))]


class ReportedRows(AskedPolicy):
    """The policy of an agent that reports its probabilities, asked by several processes, and kept in a file.

    The questions are asked in the order in which play comes to them, so that an agent that searches can use what it
    found at its earlier decisions.
    """

    def __init__(self, game: Game, agent: Agent, name: str, workers: int = 1, path: Path | None = None) -> None:
        """Take a game, an agent and its name, from which every process makes its own agent.

        Raises ``UnsupportedGameError`` for an agent that does not report its probabilities.
        """
        super().__init__(game, agent)
        self.name, self.workers, self.path = name, workers, path

    def prepare(self, questions: Sequence[Question]) -> None:
        """Ask all questions that leave a choice and to which the file has no answer.

        Raises ``FormatError`` for another kind of file, ``RemoteError`` where a process ended.
        """
        self.rows |= {question: (1.0,) for question in questions if len(question[2]) == 1}
        keys = {question: self._key(question) for question in questions if len(question[2]) > 1}
        with _answers(self.path, Row) as (known, write), status.during(f"asking {shorten(self.name)}"):
            missing = []
            for question, key in keys.items():
                if key in known:
                    self.rows[question] = known[key][-1].probabilities
                    if len(self.rows[question]) != len(question[2]):
                        raise FormatError(
                            f"{len(self.rows[question])} probabilities at a set with {len(question[2])} actions",
                            str(self.path),
                        )
                elif question not in self.rows:
                    missing.append(question)
            found = self._ask_here if self.workers == 1 else self._ask_in_processes
            for count, (question, row) in enumerate(found(in_depth_order(missing)), 1):
                self.rows[question] = row
                write(Row(keys[question], tuple(map(float, row))))
                sets = f"{len(keys) - len(missing) + count:,} of {len(keys):,} information sets"
                status.detail(f"asking {shorten(self.name)}: {sets}")

    def _key(self, question: Question) -> str:
        player, infostate, legal_actions = question
        return _hash([self.game.name, player, policy_key(infostate, ""), action_names(legal_actions), self.name])

    def _ask_here(self, questions: Sequence[Question]) -> Iterator[tuple[Question, Sequence[float]]]:
        for question in questions:
            yield question, self.ask(*question)

    def _ask_in_processes(self, questions: Sequence[Question]) -> Iterator[tuple[Question, Sequence[float]]]:
        """Ask in processes, each of them several questions in a row.  Raises ``RemoteError`` where a process ended."""
        with executor(LOCAL, self.workers) as opened:
            parts = [questions[k : k + TOGETHER] for k in range(0, len(questions), TOGETHER)]
            asked = {opened.submit(report_rows, self.game.name, self.name, part): part for part in parts}
            try:
                for done in as_completed(asked):
                    yield from zip(asked[done], done.result(), strict=True)
            except BrokenProcessPool:
                raise RemoteError(f"a process that asked {shorten(self.name)} ended; try fewer workers") from None
            except BaseException:
                opened.shutdown(wait=False, cancel_futures=True)
                raise


def in_depth_order(questions: Sequence[Question]) -> list[Question]:
    """Return questions in an order in which those with a common beginning stand together, the shorter ones first."""
    number: dict[Any, int] = {}

    def place(question: Question) -> list[int]:
        return [number.setdefault(record, len(number)) for record in (question[0], *question[1])]

    return sorted(questions, key=place)


@lru_cache(maxsize=1)
def _policy_of(game: str, name: str) -> AskedPolicy:
    return AskedPolicy(load(game), load_agent(name))


def report_rows(game: str, name: str, questions: Sequence[Question]) -> list[list[float]]:
    """Ask an agent in any process: return its probabilities at information states."""
    policy = _policy_of(game, name)
    return [list(map(float, policy.ask(*question))) for question in questions]


@contextmanager
def _answers(path: Path | None, kind: type[A]) -> Iterator[tuple[dict[str, list[A]], Callable[[A], object]]]:
    """Yield the answers in a file by their keys, and a function that appends one; without a file there are none.

    A line that a killed process left unfinished is removed.  Raises ``FormatError`` for another kind of file, and
    ``ParameterError`` where another process is writing to it.
    """
    if path is None:
        yield {}, lambda answer: None
        return
    make_folder(path.parent)
    with path.open("a+b") as file:
        if not lock_file(file.fileno()):
            raise ParameterError(f"{path}: another process is writing to this file of answers")
        known = _read(file, path, kind)

        def write(answer: A) -> None:
            file.write(msgspec.json.encode(answer) + b"\n")
            file.flush()

        yield known, write


def _read(file: IO[bytes], path: Path, kind: type[A]) -> dict[str, list[A]]:
    """Read all answers and cut off an unfinished last line."""
    known: dict[str, list[A]] = {}
    file.seek(0)
    number, complete = 0, 0
    while line := file.readline(MAX_LINE):
        if not line.endswith(b"\n"):
            if len(line) == MAX_LINE:
                raise FormatError(f"a line of more than {MAX_LINE:,} bytes", str(path), number + 1)
            break
        number, complete = number + 1, complete + len(line)
        try:
            answer = msgspec.json.decode(line, type=kind)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise FormatError(f"not {KINDS[kind]} of an agent: {shorten(str(error), 200)}", str(path), number) from None
        known.setdefault(answer.key, []).append(answer)
    with suppress(OSError):
        os.ftruncate(file.fileno(), complete)
    return known
