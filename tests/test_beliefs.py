"""Worlds behind an information state: the exact filter by hand, samplers against it by chi-square."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from infoset import load
from infoset.errors import BudgetError
from infoset.match.agents import RandomAgent
from infoset.match.match import play_match
from infoset.search.beliefs import CachedSampler, ExactBelief, NaiveSampler, own_token, start_world

SIGNIFICANT = 1e-4


class Recorder(RandomAgent):
    """Plays at random and keeps what it knew each time it was asked."""

    def begin(self, game, player, rng, deadline) -> None:
        super().begin(game, player, rng, deadline)
        self.tokens, self.asked = [], []

    def observe(self, own_move, observation) -> None:
        self.tokens.append(own_token(own_move, observation))

    def act(self, legal, deadline):
        if len(legal) > 1:
            self.asked.append(tuple(self.tokens))
        return super().act(legal, deadline)


def states_asked(name, player, plays=12):
    """Information states of a player with a choice, from random plays."""
    game, found = load(name), set()
    for seed in range(plays):
        agents = [Recorder() for _ in game.players]
        play_match(game, agents, seed=seed)
        found.update(agents[player].asked)
    return game, sorted(found, key=repr)


def told(belief, known, skip):
    for token in known[skip:]:
        belief.observe(token)
    return belief


def test_monty_halls_doors() -> None:
    """The car is twice as likely behind the other door."""
    game = load("gdl:monty_hall")
    _, states = states_asked("gdl:monty_hall", 0)
    asked = next(known for known in states if len(known) == 2)
    worlds = told(ExactBelief(game, 0), asked, 0).worlds(10)
    assert sorted(world.weight for world in worlds) == pytest.approx([1 / 3, 2 / 3])
    assert all(world.known[0] == asked for world in worlds)


def test_a_caller_in_kuhn_poker_holds_both_other_cards_possible() -> None:
    game, states = states_asked("kuhn_poker", 1)
    for known in states:
        worlds = told(ExactBelief(game, 1), known, len(start_world(game).known[1])).worlds(10)
        assert [world.weight for world in worlds] == pytest.approx([0.5, 0.5])


GAMES = [("gdl:monty_hall", 0), ("leduc_poker", 1), ("gdl:kuhn_poker", 1)]


def frequencies(name, player, make, draws=4000):
    """For some information states of several worlds: the exact weights, and a sampler for them."""
    game, states = states_asked(name, player)
    skip, tried = len(start_world(game).known[player]), 0
    for number, known in enumerate(states):
        worlds = told(ExactBelief(game, player), known, skip).worlds(10**6)
        if len(worlds) > 1 and tried < 3:
            tried += 1
            sampler = told(make(game, player, np.random.default_rng(number)), known, skip)
            yield {(w.state, w.known): w.weight for w in worlds}, sampler, draws
    assert tried


@pytest.mark.parametrize(("name", "player"), GAMES)
@pytest.mark.parametrize("make", [pytest.param(NaiveSampler, marks=pytest.mark.slow), CachedSampler])
def test_samplers_that_are_true_agree_with_the_exact_belief(name, player, make) -> None:
    for exact, sampler, draws in frequencies(name, player, make):
        found = sampler.worlds(draws)
        counts: Counter = Counter()
        for world in found:
            assert (world.state, world.known) in exact
            counts[world.state, world.known] += world.weight
        assert sum(counts.values()) == pytest.approx(1.0 if make is CachedSampler else len(found) / draws)
        total = sum(counts.values())
        observed = [counts[key] / total * len(found) for key in exact]
        expected = [weight * len(found) for weight in exact.values()]
        assert chisquare(observed, expected).pvalue > SIGNIFICANT


def test_the_training_sampler_is_biased_as_the_paper_says() -> None:
    """Every living world equally often: in Monty Hall the door with the car is held half as likely as it is."""

    def make(game, player, rng):
        return CachedSampler(game, player, rng, true=False)

    for exact, sampler, draws in frequencies("gdl:monty_hall", 0, make):
        if len({round(weight, 9) for weight in exact.values()}) < 2:
            continue
        counts = Counter((world.state, world.known) for world in sampler.worlds(draws))
        observed = np.array([counts[key] for key in exact])
        assert chisquare(observed, [weight * observed.sum() for weight in exact.values()]).pvalue < SIGNIFICANT
        break
    else:
        pytest.fail("no information state with unequal worlds was met")


def test_the_cache_spares_draws() -> None:
    game, states = states_asked("leduc_poker", 1)
    known = max(states, key=len)
    skip = len(start_world(game).known[1])
    naive, cached = (
        told(make(game, 1, np.random.default_rng(1)), known, skip) for make in (NaiveSampler, CachedSampler)
    )
    assert len(cached.worlds(50)) == 50
    assert len(naive.worlds(50)) <= 50
    assert cached.draws < naive.draws / 5


def test_what_no_history_explains_leaves_no_worlds() -> None:
    game = load("kuhn_poker")
    skip = len(start_world(game).known[0])
    for belief in (ExactBelief(game, 0), CachedSampler(game, 0, np.random.default_rng(1))):
        told(belief, ((None, "no such card"),) * (skip + 1), skip)
        assert belief.worlds(5) == []


def test_too_many_worlds_are_refused() -> None:
    game, states = states_asked("leduc_poker", 1)
    with pytest.raises(BudgetError, match="more than 2 worlds agree"):
        told(ExactBelief(game, 1, max_worlds=2), max(states, key=len), len(start_world(game).known[1]))
