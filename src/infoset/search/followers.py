"""Agents that follow what was solved before the game: public subgames, or a tree of information states."""

from __future__ import annotations

import numpy as np

from infoset.base import Action, Agent, Game, Observation
from infoset.errors import PolicyError, UnsupportedGameError
from infoset.match.agents import Delegating, RandomAgent
from infoset.names import information_key, move_words
from infoset.policies.infoset_policy import NO_ROW, UNKNOWN, InfosetPolicy, follow
from infoset.policies.sampled_policy import SampledPolicy
from infoset.search.beliefs import own_token
from infoset.solvers.tabular.public_subgames import PublicSolution
from infoset.statistics import draw
from infoset.tree.graph import NO_TOKEN, GameGraph, explore
from infoset.tree.subgames import steps
from infoset.tree.walk import ELEMENT, ELEMENT_BITS, Walk


class Follower:
    """Draws from the distribution that a solved game has for its information state; uniform where it has none.

    ``unknown`` counts those.
    """

    def __init__(self, graph: GameGraph, name: str) -> None:
        self.graph, self.name = graph, name
        self.number = {token: k for k, token in enumerate(graph.tokens)}
        self.unknown = 0

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        if game.players != self.graph.players:
            raise UnsupportedGameError(f"{self.name} was made for {self.graph.name}, not for {game.name}")
        self.player, self.rng = player, rng
        self.waits = self.graph.start_tokens[player] != NO_TOKEN
        self.reset()

    def observe(self, own_move: Action | None, observation: Observation) -> None:
        token = own_token(own_move, observation)
        if self.waits:  # what is seen of the start is always the same
            self.waits = False
        elif token is not None:
            self.advance(self.number.get(token, NO_TOKEN), own_move, observation)

    def act(self, legal: tuple[Action, ...], deadline: float | None) -> Action:
        if len(legal) == 1:
            return legal[0]
        row = self.row(legal)
        if row is None:
            self.unknown += 1
            row = [1.0] * len(legal)
        return draw(legal, row, self.rng)

    def chances(self, legal: tuple[Action, ...]) -> list[float]:
        """With what chances it would move now."""
        return (self.row(legal) if len(legal) > 1 else None) or [1 / len(legal)] * len(legal)

    def end(self, returns: tuple[float, ...]) -> None:
        pass

    def reset(self) -> None:
        """The game begins."""
        raise NotImplementedError

    def advance(self, token: int, own_move: Action | None, observation: Observation) -> None:
        """One token more; NO_TOKEN for one that the game does not have."""
        raise NotImplementedError

    def row(self, legal: tuple[Action, ...]) -> list[float] | None:
        """The chances of the moves, ``None`` where nothing is known."""
        raise NotImplementedError


class InfosetFollower(Follower):
    """Follows a policy that was made on ``walk``: of states that are equal by symmetry it has one."""

    def __init__(self, graph: GameGraph, walk: Walk, policy: InfosetPolicy, name: str = "infosets") -> None:
        super().__init__(graph, name)
        self.walk, self.policy = walk, policy
        self.menu_of = {menu: k for k, menu in enumerate(graph.menus)}

    def reset(self) -> None:
        self.view = self.player << ELEMENT_BITS

    def advance(self, token: int, own_move: Action | None, observation: Observation) -> None:
        if token == NO_TOKEN:
            self.view = UNKNOWN << ELEMENT_BITS
        else:
            self.view = int(follow(self.policy, self.walk.group, self.view, token))  # type: ignore[no-untyped-call]

    def row(self, legal: tuple[Action, ...]) -> list[float] | None:
        state, element = self.view >> ELEMENT_BITS, self.view & ELEMENT
        first = self.policy.row[state] if state != UNKNOWN else NO_ROW
        menu = self.menu_of.get(legal)
        if first == NO_ROW or menu is None:
            return None
        group = self.walk.group
        place = group.first_entry[menu]
        row: list[float] = self.policy.behaviour[first + group.entry[element, place : place + len(legal)]].tolist()
        return row


class SampledAgent(Delegating):
    """Plays a saved policy of sampling; the game is explored before its first match."""

    def __init__(self, sampled: SampledPolicy, name: str = "policy") -> None:
        self.sampled, self.name = sampled, name
        self.inner: Agent = RandomAgent()
        self.game_name: str | None = None

    def begin(self, game: Game, player: int, rng: np.random.Generator, deadline: float | None) -> None:
        """Raises ``UnsupportedGameError`` for another game."""
        if self.game_name != game.name:
            graph = explore(game)
            try:
                walk = self.sampled.walk(graph)
            except PolicyError as error:
                raise UnsupportedGameError(f"{self.name}: {error}") from None
            self.inner = InfosetFollower(graph, walk, self.sampled.policy, self.name)
            self.game_name = game.name
        self.inner.begin(game, player, rng, deadline)


class PublicFollower(Follower):
    """Follows public subgames: keeps the positions that may be; a table begins where only a public one is left."""

    def __init__(self, solution: PublicSolution, name: str = "public subgames") -> None:
        super().__init__(solution.graph, name)
        self.solution = solution
        moves = steps(solution.graph)
        self.root_of = {int(position): k for k, position in enumerate(moves.position)}
        self.table_of = {self.root_of[int(root)]: k for k, root in enumerate(solution.roots)}
        self.first, self.target, self.token = moves.first.tolist(), moves.target.tolist(), moves.token.tolist()

    def reset(self) -> None:
        self.support = self._unseen({0})
        self.tokens: list[tuple[Action | None, Observation]] = []
        start = self.graph.start_tokens[self.player]
        if start != NO_TOKEN:
            self.tokens.append(self.graph.tokens[start])
        self.table = 0

    def advance(self, token: int, own_move: Action | None, observation: Observation) -> None:
        after = {
            self.target[e]
            for position in self.support
            for e in range(self.first[position], self.first[position + 1])
            if token != NO_TOKEN and self.token[e][self.player] == token
        }
        self.tokens.append((own_move, () if observation is None else observation))
        if len(after) == 1 and (root := next(iter(after))) in self.table_of:
            self.table, self.tokens = self.table_of[root], []
        self.support = self._unseen(after)

    def _unseen(self, support: set[int]) -> set[int]:
        """With what may have happened without the player's notice."""
        todo = list(support)
        while todo:
            position = todo.pop()
            for e in range(self.first[position], self.first[position + 1]):
                if self.token[e][self.player] == NO_TOKEN and self.target[e] not in support:
                    support.add(self.target[e])
                    todo.append(self.target[e])
        return support

    def row(self, legal: tuple[Action, ...]) -> list[float] | None:
        table = self.solution.policies[self.table].tables[self.player]
        found = table.get(information_key(tuple(self.tokens)))
        words = move_words(legal)
        if not found or not found.keys() <= set(words):
            return None
        return [found.get(word, 0.0) for word in words]
