"""Pictures: what is to be seen of a game, and that what a player sees follows from what it knows."""

from __future__ import annotations

import inspect
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from extent import mark_slow, sample
from infoset import Chance, Game, ProductForm, Stage, load
from infoset.base import Action, InformationState, Observed, Picture, State, Step, own_record
from infoset.catalog import known_games
from infoset.gdl.game import GdlGame
from infoset.gdl.syntax import parse_gdl
from infoset.match.match import execute
from infoset.match.replay import MatchStep
from infoset.view.pictures import picture_text, record_words, seen, whole

ALIKE = ("pommerman:", "gdl:blind_tic_tac_toe_x")  # Pommerman has its own tests, the others differ in a rule only
SHIPPED = [name for name in known_games() if not name.startswith(ALIKE)]
VARIANTS = [
    "kuhn_poker(players=3)", "leduc_poker(players=3)", "liars_dice(numdice=3,dice_sides=9)",
    "goofspiel(players=3,num_cards=4)", "goofspiel(num_cards=4,imp_info=true,points_order=descending)",
    "goofspiel(players=3,num_cards=3,imp_info=true,returns_type=total_points)", "tiny_bridge(abstracted=false)",
    "tiny_hanabi(game=E)", "trade_comm(sees_message=true)", "oshi_zumo(coins=6,size=1,min_bid=1,alesia=true)",
    "hanabi(players=3,colors=2,ranks=3,hand=2)", "hanabi(players=5,info=12)",
]  # fmt: skip
LONG = {"gdl:blind_tic_tac_toe", "gdl:krieg_tic_tac_toe"}
HIDING = {"hanabi", "kuhn_poker", "leduc_poker", "liars_dice", "tiny_bridge", "tiny_hanabi", "trade_comm", "gdl:meier",
          "gdl:small_battleships", "gdl:kuhn_poker", "gdl:blind_tic_tac_toe", "gdl:monty_hall"}  # fmt: skip
MOST_STEPS = 30


class Moment(NamedTuple):
    """One state of a game that was played: how it came about, what everybody knows and may do."""

    steps: list[Step]
    actions: list[MatchStep]
    known: list[InformationState]
    legal_actions: list[tuple[Action, ...]]

    @property
    def state(self) -> State:
        return self.steps[-1].state


Chooser = Callable[[int, tuple[Action, ...], int], Action]


def moments(game: Game, seed: int, choose: Chooser | None = None) -> Iterator[Moment]:
    """The states of one play, random where nothing chooses, the first and the last included."""
    rng = np.random.default_rng(seed)
    players = range(len(game.players))
    step, steps, actions = game.start(), [], []
    known: list[InformationState] = [() for _ in players]
    own: tuple[Action | None, ...] = (None,) * len(players)
    while True:
        steps.append(step)
        for p in players:
            record = own_record(own[p], step.observation(p))
            known[p] = known[p] if record is None else (*known[p], record)
        legal_actions = [() if step.state.terminal else step.state.legal_actions(p) for p in players]
        yield Moment(list(steps), list(actions), list(known), legal_actions)
        if step.state.terminal or len(steps) > MOST_STEPS:
            return
        pick = choose or (lambda p, action_set, number: action_set[int(rng.integers(len(action_set)))])
        own = tuple(
            pick(p, action_set, len(steps) - 1) if action_set else None for p, action_set in enumerate(legal_actions)
        )
        chance_outcome, step = execute(game.name, step.state, own, rng)
        actions.append(MatchStep(own, chance_outcome, (None,) * len(players)))


def after(game: Game, actions: Sequence[Sequence[Action | None]], chance_outcome: Sequence[Action | None]) -> Moment:
    """The state that joint moves and chance's answers lead to."""
    steps: list[Step] = [game.start()]
    known: list[InformationState] = [() for _ in game.players]
    played = [MatchStep(tuple(m), n, (None,) * len(m)) for m, n in zip(actions, chance_outcome, strict=True)]
    for one in played:
        steps.append(steps[-1].state.play(one.actions, one.chance_outcome))
    own: list[Sequence[Action | None]] = [(None,) * len(known), *actions]
    for step, made in zip(steps, own, strict=True):
        records = [own_record(made[p], step.observation(p)) for p in range(len(known))]
        known = [k if t is None else (*k, t) for k, t in zip(known, records, strict=True)]
    state = steps[-1].state
    return Moment(steps, played, known, [() if state.terminal else state.legal_actions(p) for p in range(len(known))])


def views(game: Game, moment: Moment) -> list[Picture]:
    """The whole, and what each player sees."""
    eyes = [seen(game, p, k, moment.legal_actions[p]) for p, k in enumerate(moment.known)]
    return [whole(game, moment.steps, moment.actions), *eyes]


def check_game(game: Game, seed: int) -> None:
    """Every state of a random play has pictures that JSON and a terminal can hold."""
    for moment in moments(game, seed):
        for picture in views(game, moment):
            assert json.loads(json.dumps(picture)) == picture
            assert all(sign.isprintable() or sign == "\n" for sign in picture_text(picture))
        for player, known in enumerate(moment.known):
            for k, record in enumerate(known):
                assert record_words(game, player, record, known[:k])


@pytest.mark.parametrize("name", mark_slow([*SHIPPED, *VARIANTS], LONG))
def test_every_state_has_pictures_that_json_and_text_can_hold(name: str) -> None:
    game = load(name)
    for seed in range(sample(1, 2)):
        check_game(game, seed)


@pytest.mark.parametrize("folder", ["efg/*.efg", "gdl/*.gdl"])
@pytest.mark.filterwarnings("ignore::infoset.gdl.rules.GdlWarning")
def test_real_files_have_pictures(shared: Path, folder: str) -> None:
    too_slow_to_read = {"BattleshipsFog", "ConnectThreeDecompositionII", "stratego", "BlindBreakthrough", "blackjack"}
    paths = [path for path in sorted((shared / "games").glob(folder)) if path.stem not in too_slow_to_read]
    assert len(paths) > 12
    for path in paths[:: 6 if folder.endswith("gdl") else 1]:
        check_game(load(str(path)), seed=1)


@pytest.mark.parametrize("name", mark_slow([*SHIPPED, *VARIANTS], LONG))
def test_what_a_player_cannot_tell_apart_it_sees_alike(name: str) -> None:
    """All states of random plays that are one information state of a player give one picture."""
    game = load(name)
    found: dict[Any, tuple[str, set[Any]]] = {}
    for seed in range(10):
        for moment in moments(game, seed):
            for player, known in enumerate(moment.known):
                key = player, known, moment.legal_actions[player]
                text = json.dumps(seen(game, player, known, moment.legal_actions[player]))
                first, states = found.setdefault(key, (text, set()))
                assert text == first
                states.add(moment.state)
    assert name not in HIDING or any(len(states) > 1 for _, states in found.values())


def test_seen_is_computed_without_any_state() -> None:
    assert list(inspect.signature(seen).parameters) == ["game", "player", "infostate", "legal_actions"]


def test_memory_of_what_was_worked_out_changes_no_picture() -> None:
    """What a player sees does not depend on what was asked before."""
    from infoset.view.pictures import possible

    game = load("gdl:blind_tic_tac_toe")
    plays = [moment for seed in range(4) for moment in moments(game, seed)]
    warm = [seen(game, 0, m.known[0], m.legal_actions[0]) for m in plays]
    for moment, picture in reversed(list(zip(plays, warm, strict=True))):
        possible._cache.clear()
        assert seen(game, 0, moment.known[0], moment.legal_actions[0]) == picture


def test_the_other_card_of_kuhn_poker_lies_face_down() -> None:
    game = load("kuhn_poker")
    moment = after(game, [(None, None), (None, None), ("pass", None), (None, "bet")], ["K", "J", None, None])
    table = seen(game, 0, moment.known[0], moment.legal_actions[0])
    assert [(a["title"], a["cards"], a["hidden"], a["chips"]) for a in table["areas"]] == [
        ("P1", ["K"], 0, 1), ("P2", [], 1, 2), ("pot", [], 0, 3),
    ]  # fmt: skip
    assert whole(game, moment.steps, moment.actions)["areas"][1]["cards"] == ["J"]
    assert picture_text(table).splitlines()[1] == "P2    [?]   bet, 2 chips"
    known = moment.known[1]
    assert [record_words(game, 1, record, known[:k]) for k, record in enumerate(known)] == [
        "you get a J", "P1 passes", "you bet",
    ]  # fmt: skip


def test_leduc_poker_shows_the_public_card_and_all_chips() -> None:
    game = load("leduc_poker")
    bets = [("raise", None), (None, "call"), (None, None), ("raise", None)]
    moment = after(game, [(None, None), (None, None), *bets], ["Kh", "Qs", None, None, "Ks", None])
    table = seen(game, 1, moment.known[1], moment.legal_actions[1])
    assert [(a["cards"], a["hidden"], a["chips"]) for a in table["areas"]] == [
        ([], 1, 7), (["Qs"], 0, 3), (["Ks"], 0, 10),
    ]  # fmt: skip
    assert table["areas"][0]["note"] == "raise | raise"
    assert record_words(game, 1, (None, "Ks"), moment.known[1][:3]) == "the public card is Ks"


def test_a_blind_player_sees_its_marks_and_what_follows_from_a_rejected_one() -> None:
    game = load("gdl:blind_tic_tac_toe")
    actions = [(("mark", 1, 1), ("mark", 2, 2)), (("mark", 2, 2), ("mark", 1, 3))]
    moment = after(game, actions, [None, None])
    board = seen(game, 0, moment.known[0], moment.legal_actions[0])["parts"][0]
    assert board["cells"] == [["x", "?", "?"], ["?", "o", "?"], ["?", "?", "?"]]  # o on 1 3 is not known
    assert len(board["moves"]) == len(moment.legal_actions[0]) == 7
    assert moment.legal_actions[0][board["moves"]["2,0"]] == ("mark", 3, 1)
    assert whole(game, moment.steps, moment.actions)["parts"][0]["cells"][0] == ["x", "", "o"]
    assert record_words(game, 0, moment.known[0][0]) == "you: mark 1 1; you see ok"
    assert record_words(game, 0, moment.known[0][1]) == "you: mark 2 2; you see nothing"


def test_where_too_much_is_possible_a_board_shows_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    from infoset.view.pictures import possible

    monkeypatch.setattr(possible, "MAX_STATES", 3)
    possible._cache.clear()
    game = load("gdl:blind_tic_tac_toe")
    moment = after(game, [(("mark", 1, 1), ("mark", 2, 2)), (("mark", 2, 2), ("mark", 1, 3))], [None, None])
    board = seen(game, 0, moment.known[0], moment.legal_actions[0])["parts"][0]
    assert board["cells"] == [["ok", "?", "?"], ["?", "tried", "?"], ["?", "?", "?"]]
    possible._cache.clear()


def test_a_throw_at_meier_is_hidden_from_the_other() -> None:
    game = load("gdl:meier")
    moment = after(game, [("noop", "noop"), (("claim", 62), "noop")], [("roll", 3, 1), None])
    facts = [
        {r["name"]: r["rows"] for r in seen(game, p, moment.known[p], moment.legal_actions[p])["parts"][0]["relations"]}
        for p in (0, 1)
    ]
    assert facts[0] == {"claimed": [["62"]], "dice": [["31"]], "turn": [["p2", "answer"]]}
    assert facts[1] == {"claimed": [["62"]], "dice": [["?"]], "turn": [["p2", "answer"]]}


def test_boards_run_as_their_rules_call_the_coordinates() -> None:
    """Heights grow upward, rows downward; a disc falls in a column, a pawn goes from one cell to another."""
    game = load("gdl:connect_four")
    moment = after(game, [(("drop", 3), "noop")], [None])
    board = seen(game, 1, moment.known[1], moment.legal_actions[1])["parts"][0]
    assert board["rows"] == list("654321")
    assert board["cells"][5][2] == "red"
    assert {place for place, action in board["moves"].items() if moment.legal_actions[1][action] == ("drop", 3)} == {
        f"{r},2" for r in range(5)
    }
    pawns = load("gdl:breakthrough")
    begun = next(moments(pawns, 0))
    slides = seen(pawns, 0, (), begun.legal_actions[0])["parts"][0]["slides"]
    assert begun.legal_actions[0][slides["6,0"]["5,1"]] == ("move", 1, 2, 2, 3)


def test_a_way_down_an_efg_file_names_its_information_sets(tmp_path: Path) -> None:
    file = tmp_path / "quiz.efg"
    file.write_text(
        'EFG 2 R "quiz" { "Ann" "Bob" }\nc "" 1 "" { "red" 1/2 "black" 1/2 } 0\n'
        + 'p "" 1 1 "asked" { "tell" "lie" } 0\n'
        + "".join(f'p "" 2 {k} "{name}" {{ "yes" "no" }} 0\nt "" 1 "won" {{ 1, -1 }}\nt "" 2 "lost" {{ -1, 1 }}\n'
                  for k, name in ((1, "told"), (2, "lied to")))
        + 't "" 1\n'
    )  # fmt: skip
    game = load(str(file))
    moment = after(game, [(None, None), ("tell", None), (None, "no")], ["red", None, None])
    path = whole(game, moment.steps, moment.actions)
    assert [(s["who"], s["move"], s.get("at", "")) for s in path["steps"]] == [
        ("chance", "red", ""), ("Ann", "tell", "asked"), ("Bob", "no", "told"),
    ]  # fmt: skip
    assert path["note"] == "lost"
    bob = moment.known[1]
    assert seen(game, 1, bob[:1], ("yes", "no")) == {
        "kind": "path", "steps": [], "moves": ["yes", "no"], "note": "at told",
    }  # fmt: skip


class Coin(NamedTuple):
    """A game of somebody's own that draws itself: call a coin that nobody has seen."""

    name: str = "coin"
    players: tuple[str, ...] = ("caller",)

    def start(self) -> Step:
        return Observed(load("rock_paper_scissors").start().state, (None,))

    def picture(self, known: Sequence[InformationState | None]) -> Picture:
        return {"kind": "table", "areas": [{"title": "coin", "cards": [], "hidden": 1, "note": str(known)}]}


def test_a_game_of_ones_own_may_draw_itself_and_is_a_path_otherwise() -> None:
    assert seen(Coin(), 0, (("heads", ()),))["areas"][0]["note"] == "[(('heads', ()),)]"
    assert record_words(Coin(), 0, ("heads", "tails")) == "you heads; you see tails"
    from random_games import RandomGame

    game = RandomGame(7)
    *_, last = moments(game, 1)
    assert whole(game, last.steps, last.actions)["kind"] == "path"


def test_axes_lie_face_down_until_a_stage_shows_them() -> None:
    game = ProductForm(
        "signals", ("P1", "P2"),
        (Chance("card", ("red", "black")), Stage("word", "P1", ("yes", "no"), sees="card"),
         Stage("guess", "P2", ("red", "black"), sees="word")),
        lambda past: float(past["guess"] == past["card"]),
    )  # fmt: skip
    moment = after(game, [(None, None), ("yes", None)], ["red", None])
    areas = [seen(game, p, moment.known[p], moment.legal_actions[p])["areas"] for p in (0, 1)]
    assert [[(a["cards"], a["hidden"]) for a in own] for own in areas] == [
        [(["red"], 0), (["yes"], 0), ([], 0)], [([], 1), (["yes"], 0), ([], 0)],
    ]  # fmt: skip
    assert record_words(game, 1, moment.known[1][0]) == "you are asked at guess and see yes"
    ended = after(game, [(None, None), ("yes", None), (None, "black")], ["red", None, None])
    assert [a["cards"] for a in whole(game, ended.steps, ended.actions)["areas"]] == [["red"], ["yes"], ["black"]]
    check_game(game, 1)


def test_hostile_names_are_one_line_of_print() -> None:
    rules = '(role r)(init (on "x"))(<= (legal r (go ?x)) (true (on ?x)))(<= (next (on ?x)) (does r (go ?x)))'
    text = rules.replace('"x"', "\x1b[31m</script>" + "w" * 500) + "(<= terminal (true never))(goal r 1)"
    game = GdlGame(parse_gdl(text), "hostile")
    picture = seen(game, 0, (), ())
    assert "\x1b" not in picture_text(picture)
    assert len(picture_text(picture)) < 400


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PAGE = Path(__file__).resolve().parents[2] / "src" / "infoset" / "view" / "page"


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the path")
def test_in_a_browser_cells_are_pressed_by_keyboard_and_keep_the_focus() -> None:
    tool = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group 'test')")
    game, pawns = load("gdl:tic_tac_toe"), load("gdl:breakthrough")
    boards = [seen(g, 0, (), next(moments(g, 0)).legal_actions[0]) for g in (game, pawns)]
    with tool.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text))

        def answer(route: Any) -> None:
            name = route.request.url.rpartition("/")[2]
            kind = "text/html" if not name else "text/css" if name.endswith("css") else "text/javascript"
            body = "<!doctype html><link rel=icon href=data:,><main></main>" if not name else (PAGE / name).read_text()
            route.fulfill(body=body, content_type=kind)

        page.route("**/*", answer)
        page.goto("http://page/")
        page.evaluate(
            """async ([one, two]) => {
              const { drawPicture, updatePicture } = await import("/pictures.js");
              window.pressed = [];
              const options = { players: ["x", "o"], labels: [], onmove: (k) => window.pressed.push(k) };
              const first = drawPicture(one, options), second = drawPicture(two, options);
              document.querySelector("main").append(first, second);
              window.again = () => updatePicture(first, one, options);
              [window.first, window.second] = [first, second];
            }""",
            boards,
        )
        assert page.locator("main .picture >> nth=0").locator("button").count() == 9
        page.locator(".picture >> nth=0").locator('[data-place="0,2"]').focus()
        page.keyboard.press("Enter")
        page.evaluate("again()")
        assert page.evaluate("document.activeElement.dataset.place") == "0,2"
        pawn = page.locator(".picture >> nth=1")
        pawn.locator('[data-place="6,0"]').press("Enter")
        assert pawn.locator(".target").count() == 2
        pawn.locator('[data-place="5,1"]').press("Enter")
        pressed = page.evaluate("pressed")
        browser.close()
    assert wrong == []
    assert pressed == [boards[0]["parts"][0]["moves"]["0,2"], boards[1]["parts"][0]["slides"]["6,0"]["5,1"]]
