"""What ``show`` shows instead of a tree: as text and as JSON, within a time, with signs of how far it is."""

import json
import threading

import pytest

from infoset import correlated_equilibrium, extreme_equilibria, solve, status, table_game
from infoset.cli.app import app
from infoset.cli.show import _in_time
from infoset.errors import ClockError, ParameterError
from infoset.formats.nfg import game_to_nfg, write_nfg
from infoset.tree.normal_form import plans_table

BERTRAND = (
    'NFG 1 R "" { "A" "B" } { { "1" "2" "3" } { "1" "2" "3" } } 1/2 1/2  0 1  0 1  1 0  1 1  0 2  1 0  2 0  3/2 3/2'
)


def say(capsys, *words: str) -> str:
    app(["show", *words], standalone_mode=False)
    return capsys.readouterr().out


def test_equilibria_as_json(capsys) -> None:
    body = json.loads(say(capsys, "rock_paper_scissors", "--equilibria", "--json"))
    third = dict.fromkeys(("Rock", "Paper", "Scissors"), "1/3")
    assert body == {
        "game": "rock_paper_scissors",
        "equilibria": [{"component": 1, "mixtures": {"P1": third, "P2": third}, "values": {"P1": "0", "P2": "0"}}],
    }


def test_what_is_dominated_as_json(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bertrand.nfg").write_text(BERTRAND)
    body = json.loads(say(capsys, "bertrand.nfg", "--dominated", "--json"))
    assert [(one["round"], one["player"], one["strategy"]) for one in body["dominated"]] == [
        (1, "A", "3"),
        (1, "B", "3"),
    ]
    assert body["dominated"][0]["by"] == pytest.approx({"1": 1 / 3, "2": 2 / 3})
    assert body["left"] == {"A": ["1", "2"], "B": ["1", "2"]}


def test_stability_as_json(capsys) -> None:
    body = json.loads(say(capsys, "rock_paper_scissors", "random", "--stability", "--json"))
    assert (body["game"], body["verdict"]) == ("rock_paper_scissors", "neutral")
    assert body["speed"] == pytest.approx(0, abs=1e-12)
    assert max(abs(real) for real, _ in body["eigenvalues"]) < 1e-9
    assert {round(abs(imaginary), 6) for _, imaginary in body["eigenvalues"]} == {round(3**-0.5, 6)}


def test_correlated_plans_as_a_table_and_as_json(capsys, tmp_path, monkeypatch) -> None:
    """Chicken (Aumann 1974): 5.25 each, by three plans."""
    monkeypatch.chdir(tmp_path)
    game = table_game([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    (tmp_path / "chicken.nfg").write_text(write_nfg(game_to_nfg(game)))
    lines = say(capsys, "chicken.nfg", "--correlated", "ce").splitlines()
    assert lines[0] == "P1 +5.25, P2 +5.25"
    assert lines[1].split() == ["chance", "P1", "start", "P2", "start"]
    assert sorted(line.split()[0] for line in lines[2:]) == ["0.250000", "0.250000", "0.500000"]
    body = json.loads(say(capsys, "chicken.nfg", "--correlated", "ce", "--json"))
    assert body["values"] == pytest.approx({"P1": 5.25, "P2": 5.25})
    assert body["bound"] is None
    drawn = {(one["moves"]["P1"]["start"], one["moves"]["P2"]["start"]): one["chance"] for one in body["plans"]}
    assert drawn == pytest.approx({("1", "2"): 0.25, ("2", "1"): 0.25, ("2", "2"): 0.5})


def test_a_column_is_an_information_set_and_a_star_where_play_does_not_come() -> None:
    plan = correlated_equilibrium("kuhn_poker", "efce")
    form = plan.form
    lines = plans_table(form, [0], plan.probabilities.tolist(), list(plan.plans))
    heads = [f"P1 {key}" for key, player in zip(form.keys, form.infoset_player.tolist(), strict=True) if player == 0]
    assert [head for head in heads if head in lines[0]] == heads
    always = [plan.plans[0] & False]
    always[0][form.player_sequences(0).start] = True
    for q in (int(form.arrays.first[k]) + 1 for k in form.player_infosets(0)[:3]):  # bets, after which no bet is met
        always[0][q] = True
    assert plans_table(form, [0], [1.0], always)[1].split() == ["1.000000", "bet", "bet", "bet", "*", "*", "*"]
    wide = plans_table(form, [0, 1], plan.probabilities.tolist(), list(plan.plans), most=5)
    assert wide[-1] == "… and 7 more information sets"
    assert max(map(len, wide)) <= 100


def test_a_saved_correlated_policy_is_shown_by_information_sets(capsys, tmp_path) -> None:
    solution = solve("kuhn_poker", "correlated(kind=cce)")
    file = solution.policy.save(tmp_path / "told.npz")
    text = say(capsys, "kuhn_poker", str(file))
    assert "P1 J [pass] bet" in text
    assert "chance  " in text


def test_what_lasts_ends_with_its_seconds_in_one_line_that_says_where_it_was() -> None:
    ended = threading.Event()

    def last() -> None:
        with status.during("walking the vertices"):
            status.detail("walking the vertices: 12 bases met")
            ended.wait(60)

    with pytest.raises(
        ClockError, match=r"--equilibria is not finished after --seconds 0.5; the last of it: walking .* 12 bases"
    ):
        _in_time("--equilibria", last, 0.5)
    ended.set()
    with pytest.raises(ParameterError, match="--seconds would not be used"):
        app(["show", "kuhn_poker", "--seconds", "3"], standalone_mode=False)
    with pytest.raises(ParameterError, match="--json would not be used"):
        app(["show", "kuhn_poker", "--json"], standalone_mode=False)


def test_ctrl_c_leaves_what_lasts(monkeypatch) -> None:
    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("infoset.solvers.job.Background.wait", interrupted)
    before = list(status.listeners)
    with pytest.raises(KeyboardInterrupt):
        _in_time("--correlated", lambda: correlated_equilibrium("kuhn_poker", "efce"), None)
    assert status.listeners == before


@pytest.mark.parametrize(
    ("find", "words"),
    [
        (
            lambda: correlated_equilibrium("kuhn_poker", "efce"),
            ("writing the linear program of efce", "HiGHS solves", "rows"),
        ),
        (
            lambda: extreme_equilibria("rock_paper_scissors"),
            ("vertices of the best-response polytopes:", "bases visited"),
        ),
    ],
)
def test_stages_and_sizes_are_told_while_it_lasts(find, words: tuple[str, ...], monkeypatch) -> None:
    heard: list[str] = []
    monkeypatch.setattr(status, "listeners", [lambda work: heard.append(work or "")])
    find()
    for word in words:
        assert any(word in line for line in heard), (word, heard)
