"""Pictures: what is to be seen of a game, and that what a player sees follows from what it knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from infoset import Game, load
from infoset.base import Action, InformationState, Step
from infoset.catalog import known_games
from infoset.match.match import play_match
from infoset.match.replay import MatchStep, replay_steps
from infoset.search.beliefs import own_token
from infoset.view.pictures import picture_text, seen, token_words, whole

SMALL = [name for name in known_games() if not name.startswith("pommerman:")]


class Moment(NamedTuple):
    """One state of a game that was played: how it came about, what everybody knows and may do."""

    steps: list[Step]
    moves: list[MatchStep]
    known: list[InformationState]
    legal: list[tuple[Action, ...]]


def moments(game: Game, seed: int, max_steps: int = 10_000) -> Iterator[Moment]:
    """All states of one random play, the first and the last included."""
    players = range(len(game.players))
    match = play_match(game, ["random"] * len(players), seed=seed, max_steps=max_steps)
    steps, known = replay_steps(match, game), [() for _ in players]
    for number, step in enumerate(steps):
        for p in players:
            token = own_token(match.steps[number - 1].moves[p] if number else None, step.observation(p))
            known[p] = known[p] if token is None else (*known[p], token)
        legal = [() if step.state.terminal else step.state.legal(p) for p in players]
        yield Moment(steps[: number + 1], list(match.steps[:number]), list(known), legal)


@pytest.mark.parametrize("name", SMALL)
def test_every_state_has_pictures_that_json_and_text_can_hold(name: str) -> None:
    game = load(name)
    for moment in moments(game, seed=1):
        for picture in (
            whole(game, moment.steps, moment.moves),
            *(seen(game, p, k, moment.legal[p]) for p, k in enumerate(moment.known)),
        ):
            assert json.loads(json.dumps(picture)) == picture
            assert "\x1b" not in picture_text(picture)
        for player, known in enumerate(moment.known):
            assert all(token_words(game, player, token, known[:k]) for k, token in enumerate(known))
