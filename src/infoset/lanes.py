"""Arithmetic on rows of ``LANES`` numbers in one instruction or a few, for kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.extending import intrinsic

LANES = 16
"""The length of a row: 64 bytes in single precision."""


def _row(context: Any, builder: Any, kind: Any, array: Any, number: Any) -> Any:
    """Return a pointer to a row of a contiguous array (rows, LANES)."""
    data = context.make_array(kind)(context, builder, array).data
    element = context.get_data_type(kind.dtype)
    offset = builder.mul(builder.zext(number, ir.IntType(64)), ir.Constant(ir.IntType(64), LANES))
    return builder.bitcast(builder.gep(data, [offset]), ir.VectorType(element, LANES).as_pointer())


def _rows(count: int, compute: Callable[[Any, list[Any]], Any]) -> Callable[..., Any]:
    """Return the generator of an intrinsic on pairs (array, row): the first row becomes what ``compute`` returns."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = [
            _row(context, builder, signature.args[2 * k], arguments[2 * k], arguments[2 * k + 1]) for k in range(count)
        ]
        align = signature.args[0].dtype.bitwidth // 8
        values = [builder.load(place, align=align) for place in places]
        builder.store(compute(builder, values), places[0], align=align)
        return context.get_dummy_value()

    return generate


def _typed(arguments: tuple[Any, ...]) -> Any:
    from numba import types

    return types.void(*[types.uint32 if isinstance(kind, types.Integer) else kind for kind in arguments])


@intrinsic  # type: ignore[untyped-decorator]
def add_row(typing: Any, to: Any, i: Any, rows: Any, j: Any) -> Any:
    """Add a row to row ``i`` of ``to``."""
    return _typed((to, i, rows, j)), _rows(2, lambda builder, row: builder.fadd(row[0], row[1]))


@intrinsic  # type: ignore[untyped-decorator]
def add_product(typing: Any, to: Any, i: Any, factors: Any, f: Any, rows: Any, j: Any) -> Any:
    """Add a row times a row of factors to row ``i`` of ``to``."""
    return _typed((to, i, factors, f, rows, j)), _rows(
        3, lambda builder, row: builder.fadd(row[0], builder.fmul(row[1], row[2]))
    )


def _difference(builder: Any, row: list[Any]) -> Any:
    return builder.fmul(row[1], builder.fsub(builder.fsub(row[2], row[3]), row[4]))


@intrinsic  # type: ignore[untyped-decorator]
def write_difference(
    typing: Any, to: Any, i: Any, s: Any, f: Any, t: Any, every: Any, u: Any, j: Any, v: Any, k: Any
) -> Any:
    """Write to row ``i`` of ``to`` the factors ``f`` times (row ``every`` less rows ``j`` and ``k``)."""
    return _typed((to, i, s, f, t, every, u, j, v, k)), _rows(5, _difference)


@intrinsic  # type: ignore[untyped-decorator]
def add_difference(
    typing: Any, to: Any, i: Any, s: Any, f: Any, t: Any, every: Any, u: Any, j: Any, v: Any, k: Any
) -> Any:
    """Add the same to row ``i`` of ``to``."""
    return _typed((to, i, s, f, t, every, u, j, v, k)), _rows(
        5, lambda builder, row: builder.fadd(row[0], _difference(builder, row))
    )


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Return the rows of the transposed square, by exchanging halves, quarters and so on of pairs of rows."""
    step = LANES // 2
    while step:
        low = [j if j % (2 * step) < step else j - step + LANES for j in range(LANES)]
        high = [j + step for j in low]
        mask = [ir.Constant(ir.VectorType(ir.IntType(32), LANES), m) for m in (low, high)]
        after = list(rows)
        for i in range(LANES):
            if i % (2 * step) < step:
                pair = rows[i], rows[i + step]
                after[i] = builder.shuffle_vector(*pair, mask[0])
                after[i + step] = builder.shuffle_vector(*pair, mask[1])
        rows, step = after, step // 2
    return rows


def _places(
    context: Any, builder: Any, kind: Any, array: Any, numbers: Any, numbers_kind: Any, shift: Any
) -> list[Any]:
    """Return pointers to the rows of LANES elements that begin at given places of an array, plus a shift."""
    data = context.make_array(kind)(context, builder, array).data
    places = context.make_array(numbers_kind)(context, builder, numbers).data
    row = ir.VectorType(context.get_data_type(kind.dtype), LANES).as_pointer()
    found = []
    for k in range(LANES):
        at = builder.load(builder.gep(places, [ir.Constant(ir.IntType(64), k)]))
        found.append(builder.bitcast(builder.gep(data, [builder.add(at, builder.zext(shift, at.type))]), row))
    return found


@intrinsic  # type: ignore[untyped-decorator]
def gather_rows(typing: Any, to: Any, i: Any, source: Any, places: Any) -> Any:
    """Write LANES elements of ``source`` from ``places[k] + i`` on to column k of the rows ``i`` … of ``to``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, number, flat, numbers = arguments
        align = signature.args[0].dtype.bitwidth // 8
        pointers = _places(context, builder, signature.args[2], flat, numbers, signature.args[3], number)
        rows = _transposed(builder, [builder.load(pointer, align=align) for pointer in pointers])
        for k, row in enumerate(rows):
            shifted = builder.add(number, ir.Constant(number.type, k))
            builder.store(row, _row(context, builder, signature.args[0], target, shifted), align=align)
        return context.get_dummy_value()

    return _typed((to, i, source, places)), generate


@intrinsic  # type: ignore[untyped-decorator]
def scatter_rows(typing: Any, to: Any, places: Any, source: Any, i: Any) -> Any:
    """Write column k of LANES rows of ``source`` from row ``i`` on to ``to`` from ``places[k] + i`` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flat, numbers, source, number = arguments
        align = signature.args[0].dtype.bitwidth // 8
        shifted = [builder.add(number, ir.Constant(number.type, k)) for k in range(LANES)]
        rows = [builder.load(_row(context, builder, signature.args[2], source, k), align=align) for k in shifted]
        pointers = _places(context, builder, signature.args[0], flat, numbers, signature.args[1], number)
        for row, pointer in zip(_transposed(builder, rows), pointers, strict=True):
            builder.store(row, pointer, align=align)
        return context.get_dummy_value()

    return _typed((to, places, source, i)), generate


def _combining(count: int) -> Callable[..., Any]:
    """Return the generator of an intrinsic that writes ``count`` combinations of rows, and keeps them in registers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, number, table, begin, rows, length = arguments
        kinds, word = signature.args, ir.IntType(64)
        element = context.get_data_type(kinds[2].dtype)
        align, row = kinds[0].dtype.bitwidth // 8, ir.VectorType(element, LANES)
        data = context.make_array(kinds[2])(context, builder, table).data
        begin, length = builder.zext(begin, word), builder.zext(length, word)
        before, body, after = builder.block, *[builder.append_basic_block(name) for name in ("combine", "combined")]
        builder.branch(body)
        builder.position_at_end(body)
        j = builder.phi(word)
        j.add_incoming(ir.Constant(word, 0), before)
        sums = [builder.phi(row) for _ in range(count)]
        here = builder.load(_row(context, builder, kinds[4], rows, builder.trunc(j, ir.IntType(32))), align=align)
        added = []
        for i, total in enumerate(sums):
            total.add_incoming(ir.Constant(row, [0.0] * LANES), before)
            at = builder.add(builder.add(begin, j), builder.mul(length, ir.Constant(word, i)))
            factor = builder.load(builder.gep(data, [at]), align=align)
            one = builder.insert_element(ir.Constant(row, ir.Undefined), factor, ir.Constant(ir.IntType(32), 0))
            factors = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))
            added.append(builder.fadd(total, builder.fmul(factors, here, flags=("contract",)), flags=("contract",)))
            total.add_incoming(added[-1], body)
        following = builder.add(j, ir.Constant(word, 1))
        j.add_incoming(following, body)
        builder.cbranch(builder.icmp_unsigned("<", following, length), body, after)
        builder.position_at_end(after)
        for i, total in enumerate(added):
            shifted = builder.add(number, ir.Constant(number.type, i))
            builder.store(total, _row(context, builder, kinds[0], to, shifted), align=align)
        return context.get_dummy_value()

    return generate


@intrinsic  # type: ignore[untyped-decorator]
def write_combination(typing: Any, to: Any, i: Any, table: Any, begin: Any, rows: Any, length: Any) -> Any:
    """Write to row ``i`` of ``to`` the sum of ``length`` rows, at least 1, times the factors from ``begin`` on."""
    return _typed((to, i, table, begin, rows, length)), _combining(1)


@intrinsic  # type: ignore[untyped-decorator]
def write_combinations(typing: Any, to: Any, i: Any, table: Any, begin: Any, rows: Any, length: Any) -> Any:
    """Write four such combinations to the rows ``i`` … of ``to``, whose factors follow one another in ``table``."""
    return _typed((to, i, table, begin, rows, length)), _combining(4)


@intrinsic  # type: ignore[untyped-decorator]
def add_whole_product(typing: Any, to: Any, i: Any, numbers: Any, at: Any, factors: Any, begin: Any) -> Any:
    """Add LANES whole numbers from place ``at`` on, times the factors from ``begin`` on, to row ``i`` of ``to``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = []
        for k in (1, 2):
            kind, array, place = signature.args[2 * k], arguments[2 * k], arguments[2 * k + 1]
            data = context.make_array(kind)(context, builder, array).data
            row = ir.VectorType(context.get_data_type(kind.dtype), LANES).as_pointer()
            pointer = builder.bitcast(builder.gep(data, [place]), row)
            rows.append(builder.load(pointer, align=kind.dtype.bitwidth // 8))
        target = _row(context, builder, signature.args[0], arguments[0], arguments[1])
        align = signature.args[0].dtype.bitwidth // 8
        whole = builder.sitofp(rows[0], rows[1].type)
        builder.store(
            builder.fadd(builder.load(target, align=align), builder.fmul(whole, rows[1])), target, align=align
        )
        return context.get_dummy_value()

    from numba import types

    return types.void(to, types.uint32, numbers, types.int64, factors, types.int64), generate
