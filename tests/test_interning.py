"""Numbers for rows: the same as those of a dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from infoset.interning import Rows, intern

rows = st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4), max_size=60)


@given(rows)
def test_rows_are_numbered_as_by_a_dictionary(given_rows) -> None:
    table, number = Rows.empty(), {}
    for row in given_rows:
        table = table.with_room(1, len(row))
        expected = number.setdefault(tuple(row), len(number))
        assert intern(table, np.array(row, dtype=np.int64)) == expected
    assert table.lists() == [list(row) for row in number]


def test_rows_of_one_width_are_a_table() -> None:
    table = Rows.empty().with_room(3, 6)
    for row in ([1, 2], [3, 4], [1, 2]):
        intern(table, np.array(row, dtype=np.int64))
    assert table.table(2).tolist() == [[1, 2], [3, 4]]
