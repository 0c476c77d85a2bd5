# `make recommend` and `make test` work on a fresh machine with Python >= 3.11 (venv, pip) and make.
PYTHON ?= python3
BIN := .venv/bin
DATASET ?= recommend/examples/subscribers.csv

.PHONY: recommend test check docs audit install clean

recommend: .venv/installed
	$(BIN)/recommend --dataset $(DATASET) --top 3

test: .venv/installed-dev
	$(BIN)/python -m pytest -n auto

check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --config-file docs/mkdocs.yml

# Known weaknesses of the pinned packages, which pypi.org knows: this needs the network.
audit: .venv/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[audit]'
	$(BIN)/python -m pip_audit --requirement constraints.txt --no-deps --disable-pip --strict

install: .venv/installed

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

.venv/installed-dev: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@ .venv/installed

clean:
	rm -rf .venv build *.egg-info
