"""Each option of ``solve`` is declared once: keywords, flags, the run's file and the page's form follow from it."""

import inspect
import json
from dataclasses import fields
from pathlib import Path

import pytest
import typer

import infoset
from infoset.cli.app import VERBS, app
from infoset.errors import ParameterError, UnknownNameError
from infoset.solvers.config import OPTIONS, SolveConfig
from infoset.web.schemas import FORM, SolveRequest, form_fields, wanted

DECLARED = [one.name for one in fields(SolveConfig)]
COMMANDS = typer.main.get_command(app).commands


def test_keywords_flags_and_the_runs_file_are_the_declared_options(tmp_path: Path) -> None:
    keywords = inspect.signature(infoset.solve).parameters
    assert list(keywords)[: len(DECLARED)] == DECLARED
    flags = COMMANDS["solve"].params
    assert [flag.name for flag in flags][: len(DECLARED)] == DECLARED
    helps = {one.name: one.metadata["help"] for one in fields(SolveConfig) if one.metadata}
    assert all(flag.help == helps[flag.name] for flag in flags if flag.name in helps)
    infoset.solve("kuhn_poker", "cfr", iterations=1, out=tmp_path / "run")
    kept = json.loads((tmp_path / "run" / "config.json").read_text())
    assert list(kept) == [*DECLARED, "reason", "schema"]


def test_the_form_of_the_page_has_their_labels_and_helps() -> None:
    assert [field["name"] for field in form_fields()] == list(FORM)
    assert all(field["label"] and field["help"] for field in form_fields())
    wish = wanted(SolveRequest, {"source": "game:kuhn_poker", "target": "0.5", "seed": 3})
    assert wish.given == {"target": 0.5} and wish.seed == 3 and not wish.plain
    assert wanted(SolveRequest, {"source": "game:kuhn_poker", "lock": {}}).plain


def test_an_empty_lock_is_none() -> None:
    assert infoset.solve("kuhn_poker", "lp", lock={}).lock is None


def test_a_misspelt_keyword_is_suggested() -> None:
    with pytest.raises(UnknownNameError, match="unknown argument of solve 'iteration'; did you mean 'iterations'"):
        infoset.solve("kuhn_poker", iteration=3)


@pytest.mark.parametrize("given", [{"start": "middle"}, {"form": "graph"}, {"seed": -1}, {"iterations": -1}])
def test_a_value_out_of_range_is_refused_when_it_is_given(given: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(given))):
        SolveConfig(**given)
    assert set(OPTIONS) == set(DECLARED) - {"game", "method", "seed"}


@pytest.mark.parametrize("verb", VERBS)
def test_the_list_of_verbs_shows_the_first_line_of_each_help(verb: str) -> None:
    from infoset.cli.app import _summary

    assert COMMANDS[verb].help.splitlines()[0] == _summary(verb)
