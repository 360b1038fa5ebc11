"""Actions of people, graded at a table of hands."""

from __future__ import annotations

import numpy as np
import pytest

from hand_tables import hand_table
from infoset.errors import UnknownNameError
from infoset.hand_table import HandTable
from infoset.practice import Grade, grade_action


def table(frequencies: list[float], values: list[float]) -> HandTable:
    row, ev = np.array([frequencies]), np.array([values])
    return hand_table(hands="AhKh", strategy=row, ev_actions=ev, ev=ev @ row[0], pot=200.0)


@pytest.mark.parametrize(
    ("frequency", "lost", "verdict"),
    [
        (0.5, 0.0, "best"),
        (0.0, 0.0, "best"),
        (0.0, 0.09, "best"),  # less than .05 % of the pot: no more than an inexact solution
        (0.5, 0.2, "correct"),
        (0.04, 30.0, "correct"),
        (0.03, 0.2, "inaccuracy"),
        (0.0, 1.99, "inaccuracy"),
        (0.0, 2.1, "mistake"),
        (0.0, 9.99, "mistake"),
        (0.0, 10.1, "blunder"),
    ],
)  # fmt: skip
def test_verdicts_follow_the_loss_and_the_frequency(frequency: float, lost: float, verdict: str) -> None:
    node = table([0.0, 1 - frequency, frequency, 0.0], [-50.0, 20.0, 20.0 - lost, -90.0])
    found = grade_action(node, "AhKh", "raise 150")
    assert found == Grade("raise 150", "call", pytest.approx(lost), pytest.approx(lost / 200), frequency, verdict)


def test_without_values_only_actions_of_the_solution_are_known_to_be_correct() -> None:
    node = table([0.0, 0.9, 0.1, 0.0], [np.nan] * 4)
    assert grade_action(node, "AhKh", "raise 150").verdict == "correct"
    assert grade_action(node, "AhKh", "fold") == Grade("fold", "call", None, None, 0.0, "unknown")


def test_unknown_hands_and_actions_are_refused() -> None:
    node = table([0.0, 1.0, 0.0, 0.0], [0.0] * 4)
    with pytest.raises(UnknownNameError, match="unknown action here 'rais 150'; did you mean 'raise 150'"):
        grade_action(node, "AhKh", "rais 150")
    with pytest.raises(UnknownNameError, match="unknown hand in this range 'AhKd'"):
        grade_action(node, "AhKd", "call")
