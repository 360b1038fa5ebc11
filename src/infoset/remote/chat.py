"""The agent ``chat:URL``: a language model behind an endpoint for chat completions plays any game.

Each move is one question, which contains all that the model is given: the rules, what its player did and saw, and the
legal actions, numbered.  An answer counts if its last line is ``Action: NUMBER``; for any other one the model is given
the reason and asked again.  Nothing is invented for a model that never answers so, or whose budget is spent: the agent
then makes no legal move, which is a fault with the referee's stated consequence, counted wherever scores are shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from math import ceil
from time import monotonic
from typing import Any

import numpy as np

from infoset import displays
from infoset.base import Action, Agent, Game, InformationState, Observation
from infoset.errors import ParameterError, RemoteError, one_line, shorten
from infoset.match.replay import Exchange
from infoset.names import MAX_COUNT, check_number, check_range, full_name
from infoset.remote.completions import REFUSED, Endpoint, Messages, RefusedError, Reply, submit

KEY = "INFOSET_CHAT_KEY"
"""The environment variable that contains the key, unless another one is named."""
SECONDS_TO_REACH = 10.0
MAX_QUOTED = 4000  # characters of an unusable answer that are shown to the model again
MAX_LISTED = 5  # names of models in a message
MOST_SECONDS = 1e6
MAX_TEXT = 1_000_000
CHOICE = re.compile(r"action:\s*#?(\d{1,9})", re.IGNORECASE)
MARKS = "*_`\"' ."  # which models put around a line


def chat(
    url: str = "",
    model: str = "",
    key: str = KEY,
    temperature: float | None = None,
    max_tokens: int | None = None,
    retries: int = 2,
    timeout: float = 60.0,
    calls: int = 1000,
    tokens: int = 1_000_000,
    seconds: float = 3600.0,
) -> Agent:
    """A language model; key: the variable with the key; calls, tokens, seconds: budget of a game."""
    if not url:
        raise ParameterError("chat: url is missing; give the address: chat(url=http://localhost:8000/v1)")
    for what, count, least in (("retries", retries, 0), ("calls", calls, 1), ("tokens", tokens, 1)):
        check_range(f"chat: {what}", count, least, MAX_COUNT)
    for what, limit in (("timeout", timeout), ("seconds", seconds)):
        check_number(f"chat: {what}", limit, 0.001, MOST_SECONDS)
    if temperature is not None:
        check_number("chat: temperature", temperature, 0.0, 100.0)
    if max_tokens is not None:
        check_range("chat: max_tokens", max_tokens, 1, MAX_COUNT)
    endpoint = Endpoint(url, key, key != KEY)
    name = full_name(
        "chat", chat, url=endpoint.url, model=model, key=key, temperature=temperature, max_tokens=max_tokens,
        retries=retries, timeout=timeout, calls=calls, tokens=tokens, seconds=seconds,
    )  # fmt: skip
    settings = {"temperature": temperature, "max_tokens": max_tokens}
    chosen = {word: value for word, value in settings.items() if value is not None}
    return ChatAgent(endpoint, model, chosen, Budget(calls, tokens, seconds), retries, timeout, name)


@dataclass
class Budget:
    """What may be spent on a game, or has been: requests, tokens, and seconds of waiting for answers."""

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def exceeded_by(self, spent: Budget) -> str:
        """Return which part of this budget is spent, in words; "" for none."""
        for what in ("calls", "tokens", "seconds"):
            if getattr(spent, what) >= getattr(self, what):
                return f"the budget of {getattr(self, what):,} {what} a game is spent"
        return ""


@dataclass
class Conversation:
    """What was asked in one game, and what that cost; a late answer is still recorded in its own game."""

    player: int
    moves: int = 0
    spent: Budget = field(default_factory=Budget)
    exchanges: list[Exchange] = field(default_factory=list)
    cut: bool = False
    """Whether the budget is spent."""


class ChatAgent:
    """An agent that asks a language model for every move for which there is a choice."""

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        settings: dict[str, Any],
        budget: Budget,
        retries: int,
        timeout: float,
        name: str,
    ) -> None:
        """Take the endpoint and the settings of requests; ``timeout`` in seconds is for each of them."""
        self.endpoint, self.model, self.settings, self.name = endpoint, model, settings, name
        self.budget, self.retries, self.timeout = budget, retries, timeout
        self.reached = False
        self.game: Game | None = None
        self.rules: dict[int, str] = {}
        self.total, self.games_cut, self.game_talk = Budget(), 0, Conversation(0)
        self.asked, self.unusable, self.failed, self.left_out = 0, 0, 0, 0

    def reach(self) -> None:
        """Raise ``RemoteError`` where nobody answers at the address or the key is refused; find the model's name.

        Raises ``ParameterError`` where no model is named and the endpoint does not have exactly one.
        """
        if self.reached:
            return
        try:
            found = _wait(submit(self.endpoint.models(SECONDS_TO_REACH)))
        except RefusedError as error:
            if error.status in REFUSED:
                raise
            found = []
        if not self.model:
            if len(found) != 1:
                listed = f"; it has {', '.join(map(one_line, found[:MAX_LISTED]))}" if found else ""
                raise ParameterError(
                    f"chat: name the model of {self.endpoint.url}: 'chat(url={self.endpoint.url},model=NAME)'"
                    f"{listed}{', …' if len(found) > MAX_LISTED else ''}"
                )
            self.model = found[0]
        self.reached = True

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        self.reach()
        if self.game is not game:
            self.game, self.rules = game, {}
        self.game_talk = Conversation(player)
        self.infostate: InformationState = ()

    def observe(self, own_action: Action | None, observation: Observation) -> None:
        if own_action is not None or observation is not None:
            self.infostate = (*self.infostate, (own_action, () if observation is None else observation))

    def act(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Action:
        return self.prompt(legal_actions, deadline)()[0]

    def prompt(self, legal_actions: tuple[Action, ...], deadline: float | None) -> Callable[[], tuple[Action, float]]:
        """Ask for a move without waiting; the function returned waits for it, and raises what went wrong."""
        talk = self.game_talk
        talk.moves += 1
        if len(legal_actions) == 1:
            return lambda: (legal_actions[0], monotonic())
        asked = submit(self._choose(talk, talk.moves, self.question(legal_actions), legal_actions, deadline))
        return lambda: (_wait(asked), monotonic())

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The questions and answers of the game so far."""
        return tuple(self.game_talk.exchanges)

    def question(self, legal_actions: tuple[Action, ...]) -> Messages:
        """Return the messages that ask for a move now."""
        player = self.game_talk.player
        if player not in self.rules:
            self.rules[player] = displays.render("rules", self.game, player)
        return (
            ("system", self.rules[player]),
            ("user", displays.render("situation", self.game, player, self.infostate, legal_actions)),
        )

    def asked_as(self, legal_actions: tuple[Action, ...]) -> list[Any]:
        """Return, as JSON data, all that the distribution of a move now depends on."""
        return [self.endpoint.url, self.model, self.settings, self.retries, self.question(legal_actions)]

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def account(self) -> str:
        """Return one line: how often the model was asked, what came of it, and what it cost."""
        if not self.asked and not self.left_out:
            return ""
        left = [f"{self.left_out:,} moves left to the referee" if self.left_out else ""]
        cut = [f"budget spent in {self.games_cut:,} games" if self.games_cut else ""]
        parts = [
            f"asked {self.asked:,} times, {self.unusable:,} answers unusable, {self.failed:,} without an answer",
            *left,
            *cut,
            f"{self.total.calls:,} calls, {self.total.tokens:,} tokens, {self.total.seconds:.3g} s",
        ]
        return "; ".join(filter(None, parts))

    async def _choose(
        self,
        talk: Conversation,
        move: int,
        messages: Messages,
        legal_actions: tuple[Action, ...],
        deadline: float | None,
    ) -> Action:
        """Return the model's move, or, after the last unusable answer, a text that says so and is no legal action.

        Raises ``RemoteError`` where no answer comes.
        """
        problem = ""
        try:
            for _ in range(self.retries + 1):
                reply, number, problem = await self._ask(talk, move, messages, len(legal_actions), deadline)
                if not problem:
                    return legal_actions[number - 1]
                again = f"That is not a usable answer: {problem}. End with the line Action: NUMBER."
                messages = (*messages, ("assistant", shorten(reply.text, MAX_QUOTED)), ("user", again))
            self.left_out += 1
        except RemoteError:
            self.left_out += 1
            raise
        return f"no usable answer in {self.retries + 1}; the last one: {problem}"

    async def _ask(
        self, talk: Conversation, move: int, messages: Messages, count: int, deadline: float | None
    ) -> tuple[Reply, int, str]:
        """Return an answer to one question with the number of the action, or 0 and what is wrong; record all of it.

        Raises ``RemoteError`` where no answer comes, or the budget is spent.
        """
        if spent := self.budget.exceeded_by(talk.spent):
            self.games_cut += not talk.cut
            talk.cut = True
            raise RemoteError(spent)
        started, before = monotonic(), self.endpoint.requests
        limits = [started + self.timeout, started + self.budget.seconds - talk.spent.seconds]
        latest = min([*limits, deadline] if deadline is not None else limits)
        reply, number, problem = Reply("", "", None, None), 0, "not waited for"
        self.asked += 1
        try:
            settings, left = {"model": self.model, **self.settings}, self.budget.calls - talk.spent.calls
            reply = await self.endpoint.complete(settings, messages, latest, left)
            number, problem = read_choice(reply.text, count)
            self.unusable += bool(problem)
        except RemoteError as error:
            self.failed += 1
            problem = str(error)
            raise
        finally:
            requests, seconds = self.endpoint.requests - before, monotonic() - started
            for budget in (talk.spent, self.total):
                budget.calls += requests
                budget.tokens += _tokens(messages, reply)
                budget.seconds += seconds
            talk.exchanges.append(
                Exchange(
                    step=move,
                    player=talk.player,
                    messages=tuple(messages),
                    answer=reply.text,
                    problem=problem,
                    requests=requests,
                    prompt_tokens=reply.prompt_tokens,
                    completion_tokens=reply.completion_tokens,
                    seconds=round(seconds, 6),
                )
            )
        return reply, number, problem


def read_choice(text: str, count: int) -> tuple[int, str]:
    r"""Return the number in the last line of an answer, or 0 and what is wrong with it.

    The line is ``Action: NUMBER``, the number from 1 to ``count``; marks of emphasis around it do not matter.

    >>> from infoset.remote.chat import read_choice
    >>> read_choice("A king is the best card.\\n\\n**Action: 2**", 2)
    (2, '')
    >>> read_choice("I bet.", 2)
    (0, "the last line is 'I bet.', not of the form Action: NUMBER")
    >>> read_choice("Action: 3", 2)
    (0, 'action 3 does not exist; the legal actions are numbered from 1 to 2')
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return 0, "the answer is empty"
    found = CHOICE.fullmatch(lines[-1].strip().strip(MARKS).replace("*", ""))
    if not found:
        return 0, f"the last line is {one_line(lines[-1])!r}, not of the form Action: NUMBER"
    number = int(found[1])
    if not 1 <= number <= count:
        return 0, f"action {number} does not exist; the legal actions are numbered from 1 to {count}"
    return number, ""


def _tokens(messages: Messages, reply: Reply) -> int:
    """Return the tokens of an exchange: as the endpoint counts them, or else a quarter of the characters."""
    if reply.prompt_tokens is not None:
        return reply.prompt_tokens + (reply.completion_tokens or 0)
    return ceil((sum(len(text) for _, text in messages) + len(reply.text)) / 4)


def _wait(asked: Future[Any]) -> Any:
    """Return a future's result; Ctrl-C cancels it."""
    try:
        return asked.result()
    except BaseException:
        asked.cancel()
        raise
