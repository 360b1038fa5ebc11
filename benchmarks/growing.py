"""How fast positions grow, and random plays from them: python benchmarks/growing.py [GAME …]

Edges a second of a graph that is asked for everything, up to a million edges; random plays a second from a thousand
of its states; leaves a second of Monte Carlo tree search from the start.
"""

import sys
import time
import warnings

import numpy as np

from infoset import load
from infoset.search.belief import whole
from infoset.search.leaf_values import RandomPlays
from infoset.search.tree_search import OWN, STATE, TreeSearch
from infoset.tree.lazy_graph import EDGES, OPEN, STATES
from infoset.tree.rules_source import build_lazy_graph

GAMES = [
    "gdl:connect_four",
    "gdl:breakthrough",
    "gdl:phantom_connect",
    "gdl:krieg_tic_tac_toe",
    "gdl:small_battleships",
]


def grow(name: str, edges: int) -> tuple:
    """A graph of so many edges, and how many were found in a second."""
    graph = build_lazy_graph(load(name))
    began = time.perf_counter()
    while (found := int(graph.arrays.filled[EDGES])) < edges:
        still_open = np.flatnonzero(graph.child[:found] == OPEN)[:2048]
        if not len(still_open):
            break
        graph.ask(still_open)
    return graph, int((graph.child[:found] != OPEN).sum()) / (time.perf_counter() - began)


def measure(name: str) -> str:
    """A row of the table."""
    grow(name, 5_000)  # compiled
    graph, edges = grow(name, 1_000_000)
    positions = graph.arrays.at[: min(1000, int(graph.arrays.filled[STATES]))].astype(np.int64)
    graph.source.playouts(graph, positions, 8, 0)
    began = time.perf_counter()
    graph.source.playouts(graph, positions, 64, 1)
    plays = 64 * len(positions) / (time.perf_counter() - began)
    search = TreeSearch(graph, RandomPlays(graph, 4, 0), STATE if graph.open else OWN, 0)
    search.run(whole(graph), 500)
    begun = search.walks
    search.run(whole(graph), 10**9, time.monotonic() + 2)
    return f"| {name} | {edges:,.0f} | {plays:,.0f} | {(search.walks - begun) / 2:,.0f} |"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(
        "| game | edges a second | random plays a second | leaves a second, 4 plays each |\n| --- | --- | --- | --- |"
    )
    for game in sys.argv[1:] or GAMES:
        print(measure(game), flush=True)
