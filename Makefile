# make demo    solve two games from end to end and leave run folders with pictures
# make test    all checks and tests; what CI runs      make test-all   those that are slow as well
# make nightly   all tests, each with all of its examples and cases
# make fuzz   read 10,000 damaged files of every kind (an hour)      make kills   kill commands 1,000 times (hours)
# make check   lint, types, directions of imports and the files of the project      make docs   build the pages
# make gallery   draw the pictures of docs/gallery.md again: minutes
# make notebooks   run those of docs/notebooks again and keep what they show
# make warm-up   compile all kernels now, on all cores
# make bench   speed beside OpenSpiel and LiteEFG (builds LiteEFG from source: minutes), then those below
# make bench-playouts   random plays a second of described games      make bench-pommerman   steps a second
# make bench-arena   what a match costs beside its agents, here, apart and over HTTP
# make bench-search   how long Pommerman's agents think          make bench-sampling   MCCFR from rules and by hand
# make bench-factored   games as products beside the same games as trees
# make bench-figures   exact exploitability beside nashbench (Python 3.12 or newer) and OpenSpiel
# make bench-equilibria   equilibria of Gambit's files beside Gambit
# make bench-poker   spots of hold'em beside a native solver (minutes, on an idle machine)
# make bench-hanabi   steps of Hanabi a second beside OpenSpiel's, and the scores of hat guessing
# make bench-teams   two against one in Kuhn poker with up to twelve cards
# make bench-correlated   what a mediator draws in Sheriff and Battleship, beside OpenSpiel's regret minimisation
# make bench-cold   whole commands with an empty cache of kernels and with a full one
# make bench-rivals   search against OpenSpiel's searching bots with the same clock (days; goes on where it was left)
# make bench-classroom   thirty scripted visitors play and explore on the page for ten minutes
# make bench-networks   exact figures of networks in files, and PPO beside OpenSpiel's
# make bench-training   an epoch of self-play alone and with two processes that play
# make papers  regenerate the papers' tables and figures      make papers-long   those that play for hours

VENV ?= .venv
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN = $(VENV)/Scripts
else
PYTHON ?= python3
BIN = $(VENV)/bin
endif
PIP = $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: bench-networks demo test test-all nightly pytest doctest fuzz kills check docs gallery notebooks warm-up bench bench-cold bench-tabular bench-playouts bench-pommerman bench-search bench-sampling bench-factored bench-figures bench-equilibria bench-teams bench-hanabi bench-correlated bench-poker bench-training bench-arena bench-rivals papers papers-long clean bench-classroom

$(VENV)/pip:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"
	touch $@

$(VENV)/demo: $(VENV)/pip pyproject.toml
	$(PIP) install -e ".[plot]"
	touch $@

$(VENV)/test: $(VENV)/demo
	$(PIP) install -e ".[plot,interop]" --group check --group test --group docs
	touch $@

$(VENV)/bench: $(VENV)/test
	$(PIP) install --group bench
	touch $@

demo: $(VENV)/demo
	$(BIN)/infoset show examples/half_street_poker.efg --svg runs/half_street_poker.svg
	$(BIN)/infoset solve examples/half_street_poker.efg --method lp
	$(BIN)/infoset solve leduc_poker --method dcfr --target 1e-4
	rm -rf runs/pommerman
	$(BIN)/infoset match pommerman:PommeTeamCompetition-v0 simple simple simple simple --games 1 --replay runs/pommerman
	$(BIN)/infoset watch runs/pommerman/match-00001.json

# The checks and the examples of the pages run beside the tests, some of which wait most of their time.
test: warm-up
	$(MAKE) -j 2 pytest check doctest

pytest: $(VENV)/test
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile $(PYTEST_OPTIONS)

# The examples of the reference are those of docstrings, which a test runs one by one.
WITHOUT_REFERENCE = -D exclude_patterns=_build,reference -D suppress_warnings=toc.excluded,toc.not_readable,myst.xref_missing
doctest: $(VENV)/test
	$(BIN)/sphinx-build -q -W -b doctest $(WITHOUT_REFERENCE) docs docs/_build/doctest

warm-up: $(VENV)/test
	$(BIN)/infoset warm-up

fuzz: $(VENV)/test
	$(BIN)/python tests/fuzz_files.py --files 10000

kills: $(VENV)/test
	$(BIN)/python tests/kill_commands.py --kills 1000

test-all: test
	$(MAKE) pytest PYTEST_OPTIONS="-m slow"

nightly: warm-up
	HYPOTHESIS_PROFILE=nightly $(MAKE) -j 2 pytest check doctest PYTEST_OPTIONS="-m 'slow or not slow'"

check: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check src tests papers
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/test.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/proposal.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.readthedocs .readthedocs.yaml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec src/infoset/remote/template/compose.yaml
	$(BIN)/hadolint docker/Dockerfile src/infoset/remote/template/Dockerfile
	$(BIN)/pre-commit validate-config

gallery: $(VENV)/test
	$(BIN)/python docs/gallery.py
	$(BIN)/python docs/page_pictures.py

notebooks: $(VENV)/test
	$(BIN)/python docs/notebooks.py

docs: $(VENV)/test
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html

bench: bench-cold bench-tabular bench-factored bench-figures bench-equilibria bench-teams bench-correlated bench-playouts bench-pommerman bench-search bench-sampling

bench-cold: $(VENV)/demo
	$(BIN)/python benchmarks/cold_start.py

bench-tabular: $(VENV)/bench
	$(BIN)/python benchmarks/tabular.py

bench-networks: $(VENV)/bench
	$(BIN)/python benchmarks/networks.py
	$(BIN)/python benchmarks/learning.py --encoding observation

bench-playouts: $(VENV)/demo
	$(BIN)/python benchmarks/playouts.py

bench-pommerman: $(VENV)/demo
	$(BIN)/python benchmarks/pommerman.py

bench-arena: $(VENV)/test
	$(BIN)/python benchmarks/arena.py

bench-search: $(VENV)/demo
	$(BIN)/python benchmarks/search_agents.py

bench-classroom: $(VENV)/test
	$(BIN)/python benchmarks/classroom.py

bench-training: $(VENV)/test
	$(BIN)/python benchmarks/training.py

bench-rivals: $(VENV)/test
	$(BIN)/python benchmarks/rivals.py --table hidden trained --games 200
	$(BIN)/python benchmarks/rivals.py --table openspiel

bench-factored: $(VENV)/demo
	$(BIN)/python benchmarks/factored.py

bench-figures: $(VENV)/bench
	$(BIN)/infoset warm-up
	$(BIN)/python benchmarks/exact_figures.py

bench-equilibria: $(VENV)/bench
	$(BIN)/python benchmarks/equilibria.py

bench-hanabi: $(VENV)/bench
	$(BIN)/python benchmarks/hanabi.py

bench-teams: $(VENV)/demo
	$(BIN)/python benchmarks/teams.py

bench-correlated: $(VENV)/bench
	$(BIN)/python benchmarks/correlated.py

bench-poker: $(VENV)/demo
	$(BIN)/infoset warm-up
	$(BIN)/python benchmarks/poker.py $(POKER_OPTIONS)

bench-sampling: $(VENV)/demo
	$(BIN)/python benchmarks/sampling.py

papers: $(VENV)/test
	$(BIN)/python papers/replicator_dynamics.py
	$(BIN)/python papers/kuhn_family.py
	$(BIN)/python papers/pommerman.py
	$(BIN)/python papers/progressive_hiding.py

papers-long: $(VENV)/test
	$(BIN)/python papers/solved.py
	$(BIN)/python papers/update_rules.py
	$(BIN)/python papers/pessimistic_search.py
	$(BIN)/python papers/pommerman_competition.py
	$(BIN)/python papers/pommerman_free_for_all.py
	$(BIN)/python papers/pommerman_learning.py
	$(BIN)/python papers/pommerman_learnt_teams.py
	$(BIN)/python papers/pommerman_teammates.py
	$(BIN)/python papers/hidden_information_ggp.py
	$(BIN)/python papers/policy_gradients.py

clean:
	rm -rf $(VENV) docs/_build runs
