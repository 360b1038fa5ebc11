"""A test that was not run says why."""

import pytest


def test_skips_print_their_reasons(request: pytest.FixtureRequest) -> None:
    assert "s" in request.config.getoption("reportchars")
