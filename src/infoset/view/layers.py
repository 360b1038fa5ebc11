"""Layout of layered drawings: orders of the columns with few crossings, then heights that keep links short.

After Sugiyama, Tagawa and Toda (1981): barycentre sweeps for the order; for the heights, repeated least squares
subject to minimum distances (isotonic regression).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from statistics import fmean

EVERYWHERE = -1  # the lane of cells that may have any height
SWEEPS, SETTLINGS = 24, 40
TAUT = 6.0  # weight of keeping a rope level, relative to other links
BETWEEN, HEADING, FRAME = 5.0, 20.0, 12.0
LANE_TOP, LANE_BOTTOM = 30.0, 12.0


@dataclass(frozen=True)
class Cell:
    """An item in a column.  Lanes are disjoint bands of heights; in a column, the groups of a lane keep their order."""

    column: int
    height: float
    lane: int = EVERYWHERE
    group: int = 0
    block: int = 0  # cells of one block other than 0 stay together, inside a frame
    rope: int = 0  # cells of one rope other than 0, one per column, should be level


@dataclass(frozen=True)
class Link:
    """A link from a cell to one in the next column; ``start`` and ``end`` are heights below the cells' centres."""

    source: int
    target: int
    start: float = 0.0
    end: float = 0.0


def arrange(cells: Sequence[Cell], links: Sequence[Link]) -> list[list[int]]:
    """Return the cells of each column from top to bottom, in the best order that barycentre sweeps found."""
    columns: list[list[int]] = [[] for _ in range(1 + max(cell.column for cell in cells))]
    for number in sorted(range(len(cells)), key=lambda k: (cells[k].lane, cells[k].group, cells[k].block)):
        columns[cells[number].column].append(number)
    before, after = _neighbours(len(cells), links)
    best, fewest = columns, crossings(columns, links)
    for sweep in range(SWEEPS):
        columns = [list(column) for column in columns]
        rank = _ranks(columns, len(cells))
        forward = sweep % 2 == 0
        for column in columns if forward else reversed(columns):
            _sort(column, cells, before if forward else after, rank)
        count = crossings(columns, links)
        if count < fewest:
            best, fewest = columns, count
    return best


def crossings(columns: Sequence[Sequence[int]], links: Sequence[Link]) -> int:
    """Return the number of pairs of links that cross."""
    rank = _ranks(columns, sum(map(len, columns)))
    column_of = {cell: number for number, column in enumerate(columns) for cell in column}
    ends = sorted((column_of[link.source], rank[link.source], rank[link.target]) for link in links)
    count = 0
    for _, group in groupby(ends, key=lambda end: end[0]):
        seen: list[float] = []
        for _, _, target in group:
            count += len(seen) - bisect_left(seen, target + 1e-9)
            insort(seen, target)
    return count


def _neighbours(size: int, links: Sequence[Link]) -> tuple[list[list[int]], list[list[int]]]:
    before: list[list[int]] = [[] for _ in range(size)]
    after: list[list[int]] = [[] for _ in range(size)]
    for link in links:
        before[link.target].append(link.source)
        after[link.source].append(link.target)
    return before, after


def _ranks(columns: Sequence[Sequence[int]], size: int) -> list[float]:
    """Return the relative position of each cell in its column, from 0 to 1."""
    rank = [0.0] * size
    for column in columns:
        for place, cell in enumerate(column):
            rank[cell] = (place + 0.5) / len(column)
    return rank


def _sort(column: list[int], cells: Sequence[Cell], near: Sequence[Sequence[int]], rank: list[float]) -> None:
    """Sort a column by the mean ranks of its cells' neighbours; a block counts with the mean of its members."""
    mean = {cell: fmean(rank[k] for k in near[cell]) if near[cell] else rank[cell] for cell in column}
    blocks: dict[int, list[int]] = {}
    for cell in column:
        blocks.setdefault(cells[cell].block or -1 - cell, []).append(cell)
    middle = {cell: fmean(mean[k] for k in block) for block in blocks.values() for cell in block}
    column.sort(key=lambda k: (cells[k].lane, cells[k].group, middle[k], cells[k].block, mean[k]))
    for place, cell in enumerate(column):
        rank[cell] = (place + 0.5) / len(column)


def place(
    cells: Sequence[Cell], links: Sequence[Link], columns: Sequence[Sequence[int]]
) -> tuple[list[float], dict[int, tuple[float, float]]]:
    """Return the centre of every cell, from 0 down, and the top and bottom of every lane."""
    stacks = [list(stack) for column in columns for _, stack in groupby(column, key=lambda k: cells[k].lane)]
    bands = _bands(cells, stacks)
    y = [0.0] * len(cells)
    for stack in stacks:
        top, bottom = bands[cells[stack[0]].lane]
        reach = _reach(cells, stack)
        for cell, below in zip(stack, reach, strict=True):
            y[cell] = (top + bottom - reach[-1]) / 2 + below
    ends = _ends(cells, links)
    for round_ in range(SETTLINGS):
        for stack in stacks if round_ % 2 == 0 else reversed(stacks):
            wanted = [_wanted(ends[cell], y[cell], TAUT if cells[cell].rope else 1.0, y) for cell in stack]
            _settle(cells, stack, wanted, bands[cells[stack[0]].lane], y)
    return y, bands


def _ends(cells: Sequence[Cell], links: Sequence[Link]) -> list[list[tuple[int, float]]]:
    """Return for each cell the cells with which it should be level, and how far below them.

    A rope should be level with its origin, or else (where the origin may have any height) with its target.
    """
    ends: list[list[tuple[int, float]]] = [[] for _ in cells]
    origin: dict[int, list[tuple[int, float]]] = {}
    goals: dict[int, list[tuple[int, float]]] = {}
    for link in links:
        one, two = cells[link.source], cells[link.target]
        back, forth = (link.source, link.start - link.end), (link.target, link.end - link.start)
        ends[link.target].append(back)
        ends[link.source].append(forth)
        if two.rope and one.rope != two.rope and one.lane == two.lane:
            origin[two.rope] = [back]
        if one.rope and one.rope != two.rope:
            goals.setdefault(one.rope, []).append(forth)
    best = {**goals, **origin}
    return [best[cell.rope] if cell.rope else own for cell, own in zip(cells, ends, strict=True)]


def _bands(cells: Sequence[Cell], stacks: Sequence[Sequence[int]]) -> dict[int, tuple[float, float]]:
    """Return the lanes one below another, each as high as its highest stack.

    The lanes are stretched where a stack without a lane is higher than all of them.
    """
    need: dict[int, float] = {}
    for stack in stacks:
        ends = (cells[stack[0]].height + cells[stack[-1]].height) / 2
        size = _reach(cells, stack)[-1] + ends + LANE_TOP + LANE_BOTTOM
        lane = cells[stack[0]].lane
        need[lane] = max(need.get(lane, 0.0), size)
    lanes = sorted(lane for lane in need if lane != EVERYWHERE)
    stretch = max(1.0, need.get(EVERYWHERE, 0.0) / (sum(need[lane] for lane in lanes) or 1.0))
    edges = list(accumulate((need[lane] * stretch for lane in lanes), initial=0.0))
    bands = dict(zip(lanes, pairwise(edges), strict=True))
    return {**bands, EVERYWHERE: (0.0, max(edges[-1], need.get(EVERYWHERE, 0.0)))}


def _reach(cells: Sequence[Cell], stack: Sequence[int]) -> list[float]:
    """Return how far each centre is below the first one when the cells are packed as closely as allowed."""
    gaps = (
        (cells[one].height + cells[two].height) / 2
        + BETWEEN
        + HEADING * (cells[one].group != cells[two].group)
        + FRAME * (cells[one].block != cells[two].block)
        for one, two in pairwise(stack)
    )
    return list(accumulate(gaps, initial=0.0))


def _wanted(ends: Sequence[tuple[int, float]], now: float, weight: float, y: list[float]) -> tuple[float, float]:
    """Return the height at which a cell is level with its ends on average, and the weight of that."""
    if not ends:
        return now, 0.01
    return fmean(y[other] + shift for other, shift in ends), weight * len(ends)


def _settle(
    cells: Sequence[Cell],
    stack: Sequence[int],
    wanted: Sequence[tuple[float, float]],
    band: tuple[float, float],
    y: list[float],
) -> None:
    """Move a stack as close to the wanted heights as order, distances and lane allow (pool adjacent violators)."""
    reach = _reach(cells, stack)
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for (height, weight), below in zip(wanted, reach, strict=True):
        pool = (height - below, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            mean, heavy, members = pools.pop()
            both = heavy + pool[1]
            pool = ((mean * heavy + pool[0] * pool[1]) / both, both, members + pool[2])
        pools.append(pool)
    free = [mean for mean, _, members in pools for _ in range(members)]
    low = band[0] + LANE_TOP + cells[stack[0]].height / 2
    high = band[1] - LANE_BOTTOM - cells[stack[-1]].height / 2 - reach[-1]
    for cell, mean, below in zip(stack, free, reach, strict=True):
        y[cell] = min(max(mean, low), max(high, low)) + below
