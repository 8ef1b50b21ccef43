PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help run compare test lint types unit bench bench-service browser clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: .venv/.run ## start the service on this machine, and print three commands to try it
	$(BIN)/rankloop serve --data-dir build/service --new-keys --window 30

compare: .venv/.run ## compare the policies on the built-in world: table, plots, report
	$(BIN)/rankloop compare --out build/first-run

test: .venv/.test browser lint types unit ## everything that must hold: style, types, docs, tests

lint: .venv/.test ## style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test ## mypy --strict on everything
	$(BIN)/mypy

unit: .venv/.test ## tests and doctests, warnings are errors
	$(BIN)/pytest

bench: .venv/.test ## rounds per second, memory and loading time, as ratios to a plain reference
	$(BIN)/python -m benchmarks

bench-service: .venv/.test ## the service under load: latency, throughput, durable events, memory
	$(BIN)/python -m benchmarks.service

browser: ## a real browser for the tests that look at pages (Debian's chromium, if it can be installed)
	@./scripts/ensure-chromium

clean: ## forget the environment and everything built
	rm -rf .venv build

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rankloop needs Python 3.11 or newer; found $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.run: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.test: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@ .venv/.run
