"""Strongly connected components of dependency graphs, in the order of evaluation."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def components(below: Mapping[N, Collection[N]]) -> Iterator[list[N]]:
    """Yield the strongly connected components of "depends on", each after those that it depends on.

    Tarjan's algorithm (1972), with a stack instead of recursion.  Every node is a key of ``below``.
    """
    index: dict[N, int] = {}
    lowest: dict[N, int] = {}
    open_: dict[N, None] = {}  # visited, and in no component yet, in the order of visits
    work: list[tuple[N, Iterator[N]]] = []

    def visit(node: N) -> None:
        index[node] = lowest[node] = len(index)
        open_[node] = None
        work.append((node, iter(below[node])))

    for root in below:
        if root not in index:
            visit(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    visit(other)
                    break
                if other in open_:
                    lowest[node] = min(lowest[node], index[other])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == index[node]:
                    yield _close(open_, node)


def _close(open_: dict[N, None], node: N) -> list[N]:
    """Remove the component whose first node is ``node`` from the open nodes and return it."""
    component: list[N] = []
    while not component or component[-1] != node:
        component.append(open_.popitem()[0])
    return component
