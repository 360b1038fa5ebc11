"""The structured outputs of the tools: what their schemas promise to clients."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

Strategy = Annotated[
    dict[str, dict[str, dict[str, float]]],
    Field(description="Probabilities by player, key of the information set, and move."),
]


class GameEntry(BaseModel):
    """A game that is known by name."""

    name: str
    about: str
    parameters: dict[str, Any] = Field(description="Parameters with their defaults: kuhn_poker(players=3).")


class GameList(BaseModel):
    """Games, of which there may be more than are listed."""

    games: list[GameEntry]
    total: int


class GameDescription(BaseModel):
    """The rules of a game for people, and its size."""

    name: str = Field(description="The name by which the other tools find the game.")
    title: str
    about: str
    players: list[str]
    parameters: dict[str, Any]
    rules: dict[str, str] = Field(description="Goal, setup, turn order and so on, by title.")
    example: list[str] = Field(description="The events of an example game.")
    histories: float | None = Field(description="The number of histories, where it can be counted.")
    positions: int | None
    not_counted: str = Field(description="Why the game is not counted; empty where it is.")
    real_time: bool
    opponents: list[str] = Field(description="The agents that can play it at a table.")


class Problem(BaseModel):
    """One thing that is wrong with a game."""

    severity: str = Field(description="error or warning")
    message: str
    place: str = Field(description="Line and column, or the history.")
    rule: str = Field(description="The rule of the text in which it is; empty elsewhere.")


class Counts(BaseModel):
    """The sizes of a game's tree."""

    players: list[str]
    positions: int
    histories: int
    terminal_histories: int
    information_sets: int
    sequences: int | None


class Comparison(BaseModel):
    """Whether two games have the same tree."""

    other: str
    same: bool
    difference: str = Field(description="How they differ; empty where they are the same.")
    payoffs: str = Field(description="How payoffs are converted, where the units differ; empty where they are equal.")
    history: list[str] = Field(description="The first history of this game that differs.")
    other_history: list[str] = Field(description="The history of the other game that corresponds to it.")


class CheckReport(BaseModel):
    """Everything that is wrong with a game, its sizes, and a comparison."""

    game: str = Field(description="The name by which the other tools find the game.")
    valid: bool = Field(description="Whether nothing but warnings was found.")
    problems: list[Problem]
    counts: Counts | None
    not_counted: str
    comparison: Comparison | None


class Solved(BaseModel):
    """A solution with its exact figures, in units of payoffs."""

    game: str
    method: str
    reason: str
    players: list[str]
    iterations: int
    seconds: float
    stopped: str = Field(description="Why the work ended: exact, target, iterations, seconds, ...")
    values: list[float] | None = Field(description="Expected payoffs by player.")
    exploitability: float | None
    nash_conv: float | None
    epsilon: float | None
    bound: float | None
    gap: float | None
    proof: str
    why_not: str = Field(description="Why figures are missing; empty where there are all.")
    information_sets: int | None
    strategy: Strategy | None = Field(description="The first rows of the strategy, where it is a table.")
    run: str | None = Field(description="The name of the saved run.")


class Evaluated(BaseModel):
    """How good a strategy is, in units of payoffs."""

    game: str
    of: str
    players: list[str]
    values: list[float]
    best_response_values: list[float | None]
    gains: list[float | None] = Field(description="What each player gains by a best response.")
    exploitability: float | None
    nash_conv: float | None
    epsilon: float | None
    margin: float | None = Field(description="Half the width of the 95 % interval of nash_conv where it is estimated.")
    intervals: dict[str, Any] | None = Field(description="Confidence intervals of figures estimated from samples.")
    exact: bool = Field(description="False: the figures are lower bounds.")
    reason: str


class Shown(BaseModel):
    """A game or a strategy as text."""

    game: str
    text: str
    cut: bool
    characters: int


class Converted(BaseModel):
    """A game or a strategy in a file format."""

    text: str
    format: str


class TableView(BaseModel):
    """A table as its player sees it."""

    table: str = Field(description="The name of the table, for play_table, look_table and leave_table.")
    game: str
    you: str = Field(description="Which player you are.")
    players: list[str]
    agents: list[str] = Field(description="Who sits in each seat; human is you.")
    your_turn: bool
    legal_actions: list[str]
    events: list[str] = Field(description="What you observed and did, in order.")
    picture: str
    over: bool
    returns: list[float] | None = Field(description="Payoffs by player once the game is over.")
    replay: str | None = Field(description="The name of the replay once the game is over.")
    waiting_for: str = Field(description="What the game waits for where it is not your turn.")


class Left(BaseModel):
    """A table that was left."""

    table: str
    open_tables: int
