"""Lazy graphs asked until nothing is open, and their numbers of histories."""

import numpy as np

from infoset.tree.graph import topological
from infoset.tree.lazy_graph import EDGES, OPEN, LazyGraph


def ask_all(graph: LazyGraph, at_once: int = 500) -> LazyGraph:
    while True:
        edges = int(graph.arrays.filled[EDGES])
        open_edges = np.flatnonzero(graph.child[:edges] == OPEN)
        if not len(open_edges):
            return graph
        graph.ask(open_edges[:at_once])


def count_histories(graph: LazyGraph) -> float:
    positions = int(graph.arrays.filled[0])
    first, size = graph.first[:positions], graph.num_edges[:positions]
    edges = np.concatenate([np.arange(f, f + s) for f, s in zip(first, size, strict=True)])
    begin = np.concatenate([[0], np.cumsum(size)]).astype(np.int32)
    return float(topological(begin, graph.child[edges])[1].sum())
