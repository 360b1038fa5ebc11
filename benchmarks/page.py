"""How fast ``infoset serve`` shows a strategy: the first view of a million information sets, and moves between nodes.

Over loopback, as a browser asks: the server and its worker are processes of their own, the file is read anew by a
worker that has just begun.  The policy is synthetic: Leduc poker's own information sets among a million others.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

import numpy as np

import infoset
from infoset.policies.tabular import TabularPolicy

MOVES = ("fold", "call", "raise")
PLACES = ("", "0", "0.1", "0.1.1", "1", "1.1", "0.0.0", "0.0.0.1", "0.0.3.0.1", "1.1.2.1")
READING = 2.0  # seconds before somebody who sees a strategy for the first time moves on
OWN = ("", "Kh", "Kh [call]", "Qs [raise]", "row3", "row12")


def write_policy(path: Path, rows: int) -> None:
    """A policy file of so many rows: Leduc's own, and others like them."""
    solution = infoset.solve("leduc_poker", "dcfr", iterations=50)
    rng = np.random.default_rng(0)
    tables: list[dict[str, dict[str, float]]] = [dict(table) for table in solution.policy.tables]
    left = (rows - solution.policy.num_infosets) // 2
    for table in tables:
        weights = rng.exponential(size=(left, 3))
        probabilities = (weights / weights.sum(axis=1, keepdims=True)).tolist()
        for k, row in enumerate(probabilities):
            table[f"row{k % 997} [call] raise [raise] call k{k}"] = dict(zip(MOVES, row, strict=True))
    TabularPolicy("leduc_poker", ("P1", "P2"), tuple(tables), "", {"method": "synthetic"}).save(path)


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """The port of a server of the folder."""
    command = [sys.executable, "-m", "infoset", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                    yield int(found[1])
                    break
        finally:
            process.terminate()


def ask(port: int, what: str, **asked: Any) -> tuple[float, int, dict[str, Any]]:
    """Seconds, bytes and the answer to a question."""
    line = http.client.HTTPConnection("127.0.0.1", port)
    began = time.perf_counter()
    line.request("GET", f"/api/explore/{what}?{urlencode(asked)}")
    body = line.getresponse().read()
    spent = time.perf_counter() - began
    line.close()
    return spent, len(body), json.loads(body)


def first_view(port: int) -> float:
    """Seconds until a strategy is seen: what it is, then its rows."""
    began = time.perf_counter()
    _, _, about = ask(port, "open", source="item:0/big.npz")
    _, _, node = ask(port, "node", source="item:0/big.npz")
    assert sum(about["rows"]) and node["groups"][0]["rows"], (about, node)
    return time.perf_counter() - began


def actions(port: int, way: str, places: tuple[str, ...]) -> list[float]:
    """Seconds of every move to one of the places, the first time and again."""
    return [ask(port, "node", source="item:0/big.npz", way=way, at=at)[0] for at in places * 2]


def told(name: str, seconds: list[float]) -> str:
    return f"{name:34} median {1e3 * median(seconds):7.1f} ms   worst {1e3 * max(seconds):7.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_policy(Path(folder) / "big.npz", options.rows)
        size = (Path(folder) / "big.npz").stat().st_size
        print(f"{options.rows:,} information sets, a file of {size / 2**20:.0f} MiB")
        cold, begun, warm, public, own = (list[float]() for _ in range(5))
        for _ in range(options.rounds):
            with served(Path(folder)) as port:
                cold.append(first_view(port))
            with served(Path(folder)) as port:
                ask(port, "ready")
                begun.append(first_view(port))
                warm.append(first_view(port))
                time.sleep(READING)
                public += actions(port, "public", PLACES)
                own += actions(port, "0", OWN)
        print(told("first view, the worker begins", cold))
        print(told("first view, the worker stands", begun))
        print(told("first view of a cached strategy", warm))
        print(told("moves along public states", public))
        print(told("moves along a player's own keys", own))


if __name__ == "__main__":
    main()
