"""Records which kernels with which argument types are used for what, into the kernels.json of each package.

Run it after kernels or their arguments have changed: python benchmarks/record_kernels.py
"""

import gc
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FunctionType

SOURCES = Path(__file__).parent.parent / "src"
TURN = "holdem_turn(range1=any,stack=50) --form vector"
TEAM = "match --games 1 pommerman:PommeTeamCompetition-v0"
SCENARIOS = {
    "solve": ["solve kuhn_poker --iterations 10", "solve gdl:scissors_double --iterations 10", "solve kuhn_poker --method sfrd --iterations 10",
              "solve kuhn_poker --method hedge --iterations 10", "solve kuhn_poker --method vad-cfr --iterations 10", "solve kuhn_poker", "solve gdl:meier"],
    "search": ["match --games 1 kuhn_poker search random", "match --games 1 gdl:scissors_double search random", "match --games 1 kuhn_poker search(method=per-world,seconds_per_move=0.1) random",
               "match --games 1 kuhn_poker search(exploit=random) random"],
    "growing": ["match --games 1 gdl:monty_hall is-mcts(nodes=30)", "match --games 1 gdl:tic_tac_toe uct(nodes=30) flat-mc(nodes=30)",
                "match --games 1 gdl:krieg_tic_tac_toe is-mcts(nodes=30,observers=single) pimc(nodes=30)",
                "match --games 1 gdl:connect_four uct(nodes=3000,memory=1) random", "match --games 1 gdl:krieg_tic_tac_toe kluss(nodes=300) random",
                "match --games 1 leduc_poker kluss(nodes=300) random", "match --games 1 goofspiel(num_cards=4,points_order=random) is-mcts(nodes=200) random"],
    "sampling": ["solve kuhn_poker --method mccfr --iterations 200", "solve kuhn_poker --method mccfr(sampling=outcome) --iterations 200",
                 "solve gdl:scissors_double --method mccfr --iterations 200"],
    "factored": ["solve dark_hex(rows=2,columns=2) --form factored --iterations 3", "solve phantom_tic_tac_toe --iterations 3", "solve liars_dice(dice_sides=2) --form factored --iterations 3",
                 "solve kuhn_poker --form factored --iterations 3"],
    "vector": [f"solve {TURN} --iterations 2 --out r", f"solve {TURN} --method pcfr+ --iterations 2", "evaluate r", "show r --at start"],
    "vector-half": [f"solve {TURN} --precision half --iterations 2"],
    "vector-double": [f"solve {TURN} --precision double --iterations 2"],
    "stages": ["solve oshi_zumo(coins=4) --method backward-induction --out r", "evaluate oshi_zumo(coins=4) r",
               "solve goofspiel(num_cards=3) --method backward-induction", "solve rock_paper_scissors --method backward-induction"],
    "baselines": [f"train kuhn_poker --method {method} --steps 300 --games 8 --batch 64 --seconds 600 --out {method}" for method in ("ppo", "deep-cfr", "escher", "nfsp", "psro", "r-nad")],
    "networks": ["train phantom_tic_tac_toe --method ppo --encoding observation --steps 300 --games 8 --batch 64 --seconds 600 --out a",
                 "train kuhn_poker --method ppo --steps 300 --games 8 --batch 64 --seconds 600 --out b", "evaluate kuhn_poker b"],
    "teams": ["solve tiny_bridge --method progressive-hiding --iterations 5",
              "solve tiny_bridge --method annealing --iterations 20", "solve tiny_bridge --method team-exact",
              "solve cooperative_matching_pennies --method progressive-hiding(relax=reveal) --iterations 5"],
    "gdl": ["check gdl:meier --simulate 100", "check gdl:blind_tic_tac_toe --simulate 100", "match --games 1 gdl:meier meier random"],
    "pommerman": [f"{TEAM} stop stop stop stop", "match --games 1 pommerman:PommeFFACompetition-v0 stop stop stop stop", "match --games 1 pommerman:PommeRadioCompetition-v2 stop stop stop stop"],
    "simple": [f"{TEAM} simple simple simple simple", "match --games 1 pommerman:PommeFFACompetition-v0 simple simple simple simple"],
    "sight": [f"{TEAM} filtered(agent=simple) simple filtered(agent=simple) simple", "match --games 1 pommerman:PommeFFA-v1 filtered(agent=stop) stop stop stop",
              "match --games 1 pommerman:PommeRadioCompetition-v2 filtered(agent=random) random stop stop"],
    "pommerman-training": ["train pommerman:OneVsOne-v0 --epochs 1 --boards 4 --steps 4 --out a", "train pommerman:PommeTeamCompetition-v0 --epochs 1 --boards 4 --steps 4 --out b",
                           "train pommerman:PommeFFA-v1 --epochs 1 --boards 4 --steps 4 --curriculum backplay --out c"],
    "dypm": [f"{TEAM} dypm simple dypm simple", "match --games 1 pommerman:PommeFFACompetition-v0 dypm simple simple simple"],
    "champion": [f"{TEAM} champion simple champion simple", "match --games 1 pommerman:PommeFFACompetition-v0 champion simple simple simple", f"{TEAM} champion simple champion simple --seconds-per-move 0.1"],
    "hakozaki": [f"{TEAM} hakozaki simple hakozaki simple", "match --games 1 pommerman:PommeFFACompetition-v0 hakozaki simple simple simple"],
    "eisenach": [f"{TEAM} eisenach simple eisenach simple --seconds-per-move 0.1"],
    "fsm-search": [f"{TEAM} fsm-search simple fsm-search simple", "match --games 1 pommerman:PommeFFACompetition-v0 fsm-search simple simple simple"],
    "edited-simple": [f"{TEAM} edited-simple simple edited-simple simple", "match --games 1 pommerman:PommeFFACompetition-v0 edited-simple simple simple simple"],
}  # fmt: skip


def search_in_every_way() -> None:
    """What an agent calls for games that are larger than those above, on a small one."""
    from functools import partial

    from infoset import GameTree, SequenceForm, load, solve
    from infoset.search.belief import BeliefTracker
    from infoset.search.state_values import informed_values, random_values
    from infoset.search.subgame_solver import SubgameSolver
    from infoset.solvers.sampling.mccfr import Mccfr
    from infoset.solvers.sampling.pooled_mccfr import PooledMccfr
    from infoset.solvers.sampling.sampled_response import SampledResponse
    from infoset.solvers.tabular.public_subgames import solve_public
    from infoset.tree.graph import explore
    from infoset.tree.quotient_graph import QuotientGraph
    from infoset.tree.symmetry import find_symmetry

    game = load("gdl:scissors_double")
    game.positions(lambda positions, edges: None)
    graph = explore(game)
    solve(SequenceForm.of(GameTree.unroll(graph)), iterations=1)
    solve_public(graph)
    SubgameSolver(BeliefTracker(graph), informed_values(graph).__getitem__).strategy_at(0, 0)
    random_values(graph)
    for walk in (QuotientGraph.of(graph), QuotientGraph.of(graph, find_symmetry(graph))):
        solver = PooledMccfr(partial(Mccfr, walk))
        solver.step(2)
        solver.policy()
    response = SampledResponse(QuotientGraph.of(graph), 0)
    response.step(1)
    response.policy()


def name_of(kernel) -> str | None:
    """How the list names a kernel; None for one that only tests call."""
    from infoset.solvers.tabular import loop, updates
    from infoset.solvers.teams import progressive_hiding

    module, name = sys.modules[kernel.py_func.__module__], kernel.py_func.__name__
    if getattr(module, name, None) is kernel:
        return name
    pieces = [piece for piece in vars(updates).values() if isinstance(piece, FunctionType)]
    pieces = [(piece,) for piece in pieces if piece.__module__ == updates.__name__]
    pieces.append((updates.volatility_adaptive, updates.by_magnitude))
    for maker in (loop.compiled_loop, progressive_hiding.compiled_hiding):
        for some in pieces if maker is loop.compiled_loop else pieces[:-1]:
            if maker(*some) is kernel:
                return " ".join([maker.__name__, *[f"{updates.__name__}:{piece.__name__}" for piece in some]])
    return None


def used(commands: list[str]) -> list[list]:
    """The kernels that these commands use, each behind those that it needs."""
    from infoset import warm_up
    from infoset.cli import main
    from infoset.jit import Kernel
    from infoset.kernel_types import spell_type

    warm_up._DONE.update(SCENARIOS)  # what is recorded must not depend on what was
    for command in commands:
        sys.argv = ["infoset", *command.split()]
        try:
            main()
        except SystemExit as end:
            assert not end.code, command
    if commands == SCENARIOS["search"]:
        search_in_every_way()
    found: dict[tuple, list] = {}

    def add(kernel, compiled):
        key = kernel.py_func.__module__, name_of(kernel), compiled.signature.args
        if key in found:
            return
        needs = []
        for load in compiled.reload_init or ():
            callee = getattr(sys.modules[load.module], load.name)
            add(callee, callee.overloads[load.types])
            needs.append((load.module, load.name, load.types))
        found[key] = needs

    for kernel in [thing for thing in gc.get_objects() if isinstance(thing, Kernel)]:
        if name_of(kernel) is None:
            continue
        for compiled in list(kernel.overloads.values()):
            if not kernel.linked:
                add(kernel, compiled)

    def spelled(key):
        return [key[0], key[1], [spell_type(kind) for kind in key[2]]]

    return [[*spelled(key), [spelled(need) for need in needs]] for key, needs in found.items()]


def record() -> None:
    lists: dict[str, tuple[list, dict, dict]] = {}
    for name in SCENARIOS:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [sys.executable, __file__, name, "used.json"], check=True, cwd=folder, stdout=subprocess.DEVNULL
            )
            rows = json.loads((Path(folder) / "used.json").read_text())
        package = rows[-1][0].partition(".")[0]  # the kernels that it calls stand before a kernel
        entries, numbers, sets = lists.setdefault(package, ([], {}, {}))
        for module, kernel, kinds, needs in rows:
            key = json.dumps([module, kernel, kinds])
            if key not in numbers:
                numbers[key] = len(entries)
                entries.append([module, kernel, kinds, sorted({numbers[json.dumps(need)] for need in needs})])
        sets[name] = sorted({numbers[json.dumps(row[:3])] for row in rows})
        print(f"{package} {name}: {len(sets[name])} kernels", flush=True)
    for package, (entries, _, sets) in lists.items():
        lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
        text = '{"entries":[\n' + lines + '\n],"sets":' + json.dumps(sets) + "}\n"
        (SOURCES / package / "kernels.json").write_text(text)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[2]).write_text(json.dumps(used(SCENARIOS[sys.argv[1]])))
    else:
        record()
