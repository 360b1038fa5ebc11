"""Networks: constants fold, equal gates are one, stages and loops lie where they should."""

from __future__ import annotations

import numpy as np
import pytest

from infoset.errors import FormatError
from infoset.gdl.grounding import GroundProgram, ground
from infoset.gdl.library import description, library
from infoset.gdl.propnet import AND, FALSE, GOALS, NEXT, NO_NODE, OR, PLAY, SEES, SOURCE, TRUE, PropNet, compile_propnet
from infoset.gdl.syntax import parse_gdl


def net_of(text: str) -> PropNet:
    return compile_propnet(parse_gdl(text), ground(parse_gdl(text)))


LAMP = """
(role x) (init off) (legal x push) (<= (legal x wait) (true on)) (<= (next on) (true off) (does x push)) (<= (next off) (true on) (does x push))
(<= (next on) (true on) (does x wait)) (<= (sees x light) (true off) (does x push)) (<= terminal (true never))
(<= (next never) (true never)) (<= (goal x 10) (not (true on))) (<= (goal x 90) (true on)) (<= unused (true on) (does x push))
"""


def test_by_hand() -> None:
    """One gate does for the percept and for half of ``next on``; what nothing needs is left out."""
    net = net_of(LAMP)
    assert [str(t) for t in net.base] == ["off", "on"]  # never cannot come to hold
    assert list(net.initial) == [True, False]
    assert [str(m) for m in net.moves] == ["push", "wait"]
    assert net.terminal == FALSE
    assert net.legal[0] == TRUE
    on = 2 * 2
    assert net.legal[1] == on
    assert dict(zip(net.goal_values, net.goals, strict=True)) == {10: on ^ 1, 90: on}
    assert net.sees[0] in net.inputs
    assert len(net) - net.stage_begin[PLAY] == 4  # two ways to on, their OR, one way to off
    assert [net.kind[k] for k in range(net.stage_begin[PLAY], len(net))].count(OR) == 1


def test_facts_and_impossible_heads_are_constants() -> None:
    net = net_of("(role x) (init a) (legal x go) (<= (next a) (true b)) (<= terminal (not (true b))) (goal x 5)")
    assert list(net.following) == [FALSE]
    assert net.terminal == TRUE
    assert list(net.goals) == [TRUE]
    assert list(net.does) == [NO_NODE]  # nothing reads the move


@pytest.mark.parametrize("name", library())
def test_gates_read_only_what_stands_before_them(name) -> None:
    """Inputs precede gates and belong to no later stage; moves are read from the stage NEXT on."""
    net = compile_propnet(description(name), ground(description(name)))
    stage = np.searchsorted(net.stage_begin, np.arange(len(net)), side="right")
    in_loop = np.zeros(len(net), dtype=bool)
    for begin, end in net.loops:
        in_loop[begin:end] = True
    does = set(net.does.tolist()) - {NO_NODE}
    for node in range(len(net)):
        inputs = net.inputs[net.first_input[node] : net.first_input[node + 1]] >> 1
        assert (net.kind[node] == SOURCE) == (len(inputs) == 0)
        if net.kind[node] != SOURCE:
            assert in_loop[node] or (inputs < node).all()
            assert (stage[inputs] <= stage[node]).all()
            assert does.isdisjoint(inputs.tolist()) or node >= net.stage_begin[NEXT]
    for literals, last in ((net.legal, GOALS), (net.goals, NEXT), (net.following, SEES)):
        assert ((literals >> 1) < net.stage_begin[last]).all()


def test_equal_gates_are_one() -> None:
    net = compile_propnet(description("connect_four"), ground(description("connect_four")))
    gates = [
        (net.kind[k], tuple(sorted(net.inputs[net.first_input[k] : net.first_input[k + 1]])))
        for k in range(net.stage_begin[PLAY], len(net))
    ]
    assert len(set(gates)) == len(gates)
    assert {kind for kind, _ in gates} == {AND, OR}


def test_cycles_through_negation_are_refused() -> None:
    """The grounder has no such scruples; here 7 depends on the negation of 8, and 8 on 7."""
    terms = {7: parse_gdl("(win x)").rules[0].head, 8: parse_gdl("(lose x)").rules[0].head}
    program = GroundProgram(frozenset(), terms, [(7, (-8,)), (8, (7,))])
    with pytest.raises(FormatError, match=r"not stratified: \((win|lose) x\) depends on its own negation"):
        compile_propnet(parse_gdl("(role x)"), program)
