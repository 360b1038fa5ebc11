"""A game between agents, broadcast to its spectators while it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from infoset.base import Game, State
from infoset.match.match import Round
from infoset.match.replay import Match, MatchStep
from infoset.view.pictures import view_hook
from infoset.view.recording import Frames, heading, recording

ViewerMessage = tuple[int, bytes]
"""A frame and its number, counted from 0 in each game; -1 for a message that stands by itself."""
Shot = tuple[dict[str, Any], list[Any]]
"""A frame, and events for the log."""
RESULT = ("over", "outcome", "winners", "returns")
NOT_YET = {"over": False, "outcome": "", "winners": [], "returns": []}


class Camera(Protocol):
    """A maker of frames of a game that is going on."""

    head: dict[str, Any]
    """The fields of a recording besides its frames."""

    def add(self, state: State, played: MatchStep | None) -> Shot | None:
        """Return the next frame; ``None`` where there is nothing to show."""
        ...

    def latest(self) -> dict[str, Any]:
        """Return a frame that needs no earlier one."""
        ...


class PictureCamera:
    """A camera for a game that is shown in pictures: each frame stands by itself."""

    def __init__(self, game: Game, name: str, agents: tuple[str, ...]) -> None:
        self.head = heading(game, name, agents)
        self.frames, self.game = Frames(game), game
        self.before: State | None = None
        self.last: dict[str, Any] = {}

    def add(self, state: State, played: MatchStep | None) -> Shot:
        start = played is None or self.before is None
        step = self.game.start() if start else self.before.play(played.actions, played.chance_outcome)  # type: ignore[union-attr]
        self.before = state
        self.last = self.frames.add(step, played)
        return self.last, []

    def latest(self) -> dict[str, Any]:
        return self.last


class Live:
    """The messages to spectators: the game so far, then one frame per step, numbered so that a gap is noticed."""

    def __init__(self, say: Callable[[ViewerMessage], None]) -> None:
        self.say = say
        self.watchers = 0
        self.lock = threading.RLock()
        self.camera: Camera | None = None
        self.shots: list[Shot] = []
        self.result: dict[str, Any] = NOT_YET

    def watch(self, more: int) -> ViewerMessage:
        """Count spectators up or down by ``more``; return the whole game so far, with the number of its last frame."""
        with self.lock:
            self.watchers += more
            head = {} if self.camera is None else self.camera.head
            frames, events = [frame for frame, _ in self.shots], [event for _, some in self.shots for event in some]
            whole = {**head, **self.result, "frames": frames, "events": events}
            return len(frames) - 1, msgspec.json.encode({"kind": "first", "recording": whole if frames else None})

    def jump(self) -> ViewerMessage:
        """Return the present state of the game, for a spectator who fell behind."""
        with self.lock:
            frame = {} if self.camera is None else self.camera.latest()
            return len(self.shots) - 1, msgspec.json.encode({"kind": "frame", "frame": frame, "events": []})

    def tell(self, what: dict[str, Any]) -> None:
        """Send a message that is not a frame."""
        self.say((-1, msgspec.json.encode(what)))

    def begin(self, game: Game, round_: Round) -> None:
        """Begin a game, or resume it after the steps that the round has already."""
        make = view_hook(game, "camera") or PictureCamera
        with self.lock:
            self.camera = make(game, round_.table.name, round_.labels)
            self.shots, self.result = [], NOT_YET
            state = game.start().state
            self._add(state, None)
            for played in round_.steps:
                state = state.play(played.actions, played.chance_outcome).state
                self._add(state, played)
            self.say((-1, self.watch(0)[1]))

    def step(self, state: State, played: MatchStep) -> None:
        """Record a step, and send its frame where somebody watches."""
        with self.lock:
            shot = self._add(state, played)
            if shot is not None and self.watchers:
                frame, events = shot
                message = {"kind": "frame", "frame": frame, "events": events}
                self.say((len(self.shots) - 1, msgspec.json.encode(message)))

    def _add(self, state: State, played: MatchStep | None) -> Shot | None:
        assert self.camera is not None
        shot = self.camera.add(state, played)
        if shot is not None:
            self.shots.append(shot)
        return shot

    def finish(self, match: Match, game: Game, item: str) -> None:
        """Send the result of the finished game."""
        whole = recording(match, game)
        with self.lock:
            self.result = {key: whole[key] for key in RESULT} | {"item": item}
            self.tell({"kind": "end", "result": self.result})
