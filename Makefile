# Everything that is done with this checkout. `make` alone lists the targets.
# Needed: Python 3.11 or newer with venv and pip. Each environment is made from a lock file with
# hashes, and made again when that file changes.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$p && break; done)
JOBS ?= 2

# The tests start hundreds of programs: compiled once, each begins in two thirds of the time.
unexport PYTHONDONTWRITEBYTECODE

DEMO := .venv-demo
DEV := .venv-dev
DOCS := .venv-docs
BIN := $(DEV)/bin
COMPILE := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --upgrade --quiet \
	--generate-hashes --no-annotate --custom-compile-command "make lock"

AGENTS := @anthropic-ai/claude-code @openai/codex opencode-ai

.PHONY: help demo test check lint types tests bench quotes hostile web test-web screenshots docs dist clients \
	lock clean
.DEFAULT_GOAL := help

help:  ## List the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

demo: $(DEMO)/.ready  ## Compact the bundled session and show the receipt
	@$(DEMO)/bin/python examples/demo.py

test: lint  ## Lint, types, imports and every kind of test, once
	@$(MAKE) --no-print-directory --jobs 2 types tests

check: lint types  ## Lint, types and imports only

lint: $(DEV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(DEV)/.ready
	$(BIN)/mypy

tests: $(DEV)/.ready
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal

bench: $(DEV)/.ready  ## Measure Foldline and its peers: docs/benchmarks.md and its plots
	$(BIN)/python bench/run.py $(BENCH)

web: $(DEV)/.ready
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium; } \
	</dev/null >/dev/null || echo "NO BROWSER: Chromium could not be installed." >&2

test-web: web  ## Open the pages of foldline inspect in a real browser
	FOLDLINE_TEST_ALL=1 $(BIN)/python -m pytest -q tests/inspector/test_browser.py tests/inspector/test_recorded.py

screenshots: web  ## Draw the pictures in docs/inspect.md
	$(BIN)/python -m tests.inspector.screenshots

quotes: $(DEV)/.ready  ## Renew the outputs that the README quotes
	$(BIN)/python -m tests.docs.quotes

hostile: $(DEV)/.ready  ## Attack: changed inputs, kills, damaged archives, the terminal; ten minutes
	$(BIN)/python bench/hostile.py $(HOSTILE)

docs: $(DOCS)/.ready  ## Build the documentation in site/; it opens from disk (its search fetches one script)
	$(DOCS)/bin/mkdocs build --strict --quiet
	@echo "site/index.html"

dist: $(DEV)/.ready  ## Build the wheel and the sources in dist/
	@rm -rf dist
	@$(BIN)/python -m hatchling build -d dist

clients:  ## Install the coding agents that tests/clients runs, in .clients
	@command -v npm >/dev/null || { echo "npm is missing; the coding agents are skipped." >&2; exit 1; }
	@for one in $(AGENTS); do npm install --prefix .clients --no-audit --no-fund --loglevel error $$one \
	&& echo "installed $$one" || echo "NOT INSTALLED, ITS TESTS ARE SKIPPED: $$one" >&2; done

lock: $(DEV)/.ready  ## Renew the lock files in requirements/
	$(COMPILE) --group build --extra tokens --output-file requirements/run.lock
	$(COMPILE) --group build --group dev --all-extras --output-file requirements/dev.lock
	$(COMPILE) --group build --group docs --extra tokens --output-file requirements/docs.lock

clean:  ## Remove the environments and everything that was generated
	rm -rf $(DEMO) $(DEV) $(DOCS) .venv-peers .clients build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

$(DEMO)/.ready: requirements/run.lock pyproject.toml
$(DEV)/.ready: requirements/dev.lock pyproject.toml
$(DOCS)/.ready: requirements/docs.lock pyproject.toml

%/.ready:
	@[ -n "$(PYTHON)" ] || { echo "Foldline needs Python 3.11 or newer with venv and pip." \
	"Install it, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3"; exit 1; } >&2
	@echo "Making $(@D) from $< with $$($(PYTHON) --version)" >&2
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $< \
	&& $(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
	--no-build-isolation --editable . \
	|| { echo "The packages in $< could not be installed. Without a network, give pip a folder" \
	"with them: make $(MAKECMDGOALS) PIP_NO_INDEX=1 PIP_FIND_LINKS=/path/to/wheels"; exit 1; } >&2
	@touch $@
