# `make recommend` and `make test` work on a fresh machine with Python >= 3.11 (venv, pip) and make.
PYTHON ?= python3
BIN := .venv/bin
DATASET ?= recommend/examples/subscribers.csv

PIP = $(BIN)/python -m pip install --quiet --constraint constraints.txt
LOCKED := .ci/requirements.txt
define install
	$(PIP) pip setuptools
	PYTHONWARNINGS='ignore:Editable installation' $(PIP) --no-build-isolation --editable '.$(1)'
endef

.PHONY: recommend test check docs audit install locked lock clean

recommend: .venv/installed
	$(BIN)/recommend --dataset $(DATASET) --top 3

test: .venv/installed-dev
	$(BIN)/python -m pytest -n auto --dist worksteal

check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --config-file docs/mkdocs.yml

# Known weaknesses of the pinned packages, which pypi.org knows: this needs the network.
audit: .venv/bin/python
	$(call install,[audit])
	$(BIN)/python -m pip_audit --requirement constraints.txt --no-deps --disable-pip --strict

install: .venv/installed

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml constraints.txt | .venv/bin/python
	$(call install)
	touch $@

.venv/installed-dev: pyproject.toml constraints.txt | .venv/bin/python
	$(call install,[dev])
	touch $@ .venv/installed

# What CI does before the rest: install no file but those whose hashes are known. torch, with what it needs, is apart:
# its builds for a processor alone are no files of pypi.org. What follows finds the others installed.
# uv, itself installed so, takes a fifth of pip's time.
locked: .venv/bin/python
	sed -n '/^uv==/,/[^\\]$$/p' $(LOCKED) > .venv/uv.txt
	$(BIN)/python -m pip install --quiet --require-hashes --requirement .venv/uv.txt
	$(BIN)/uv pip install --quiet --require-hashes --requirement $(LOCKED)

# Hashes of the versions of constraints.txt, and of whatever else pyproject.toml needs: this needs the network.
lock: .venv/bin/python
	$(PIP) uv
	echo 'torch; python_version < "3"' | UV_CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/uv pip compile --quiet \
		--universal --python-version 3.11.5 --extra dev --extra audit --group build --no-annotate --generate-hashes \
		--constraint constraints.txt --override - --output-file $(LOCKED) pyproject.toml

clean:
	rm -rf .venv build *.egg-info
