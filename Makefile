PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help run compare test lint types unit extras bench bench-service browser postgres nginx screenshots figures docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: .venv/.run ## start the demo: a shop with pictures that learns from your clicks
	$(BIN)/rankloop demo --data-dir build/demo

compare: .venv/.lab ## compare the policies on the built-in world: table, plots, report
	$(BIN)/rankloop lab compare --out build/first-run

test: .venv/.test browser postgres nginx lint types unit ## everything that must hold: style, types, docs, tests

lint: .venv/.test ## style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test ## mypy --strict on everything
	$(BIN)/mypy

unit: .venv/.test ## tests and doctests, warnings are errors
	OPENBLAS_NUM_THREADS=1 PYTHONHASHSEED=0 $(BIN)/pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0

extras: .venv/.test ## the wheel with each extra alone, in a clean environment: what it promises runs
	$(BIN)/pytest -m extras tests/test_wheel.py

bench: .venv/.test ## rounds per second, memory and loading time, as ratios to a plain reference
	$(BIN)/python -m benchmarks

bench-service: .venv/.test ## the service under load: latency, throughput, durable events, memory
	$(BIN)/python -m benchmarks.service

docs: .venv/.docs ## build the documentation site; warnings are errors
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs build/docs
	@echo "open build/docs/index.html"

browser: ## a real browser for the tests that look at pages (Debian's chromium, if it can be installed)
	@./scripts/ensure-chromium
	@./scripts/ensure-axe

postgres: ## a real PostgreSQL for the tests of its store (Debian's, if it can be installed)
	@./scripts/ensure-postgres

nginx: ## a real nginx for the test of the proxy example (Debian's, if it can be installed)
	@./scripts/ensure-nginx

screenshots: .venv/.test ## pictures of every page for the documentation, in docs/images
	$(BIN)/python scripts/screenshots

figures: .venv/.test ## learning curves for the pages of the policies, in docs/images/policies
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python scripts/policy_figures

clean: ## forget the environment and everything built
	rm -rf .venv build

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rankloop needs Python 3.11 or newer; found $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.run: .venv/bin/python pyproject.toml
	@echo "setting up an environment in .venv (once, about a minute) ..."
	$(BIN)/python -m pip install --quiet --editable '.[serve]'
	@touch $@

.venv/.lab: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[lab]'
	@touch $@

.venv/.docs: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@ .venv/.run .venv/.lab

.venv/.test: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@ .venv/.run .venv/.lab
