# `make` sets up the environment and runs a study; `make test` runs the tests. EXP=name selects the study.
EXP ?= everyday_small
PYTHON ?= python3
VENV ?= .venv
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
SET ?=
DATA ?= data
RECIPES ?= gold_alignments lingnli manythings mlqa multi30k multinli panx pawsx squad tydiqa ud wikitext_103 xnli xquad
TRUST ?=
CALQUE = $(VENV)/bin/python -m calque
STAMP = $(VENV)/.installed

.PHONY: data run derive pretrain evaluate report plan paper test test-all check bench docs clean

run: $(STAMP)
	$(CALQUE) run $(EXP) --jobs $(JOBS) $(SET)

derive pretrain evaluate: $(STAMP)
	$(CALQUE) $@ $(EXP) --jobs $(JOBS) $(SET)

report: $(STAMP)
	$(CALQUE) report $(EXP) $(SET)

plan: $(STAMP)
	$(CALQUE) plan $(EXP) --jobs $(JOBS) $(SET)

# Write the papers' tables and figures from the committed records.
paper: $(STAMP)
	$(CALQUE) paper all

# Download the data for studies of real text; TRUST=--trust also downloads files without a published digest.
data: $(STAMP)
	$(CALQUE) data fetch $(RECIPES) --to $(DATA) $(TRUST)

# Tests run in one process per core, each with one thread; a file's tests share a process. `test` skips slow tests.
PYTEST = OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder

test: check
	$(PYTEST) -m "not slow"

test-all: check
	$(PYTEST)

check: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/python -m docs.update --check

bench: $(STAMP)
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(VENV)/bin/python -m docs.benchmark

# Build the documentation site; warnings, dead links and failing doctests are errors.
docs: $(STAMP)
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	$(VENV)/bin/python -m sphinx -W -n --keep-going -c docs -b html . build/site
	$(VENV)/bin/python -m sphinx -W --keep-going -c docs -b doctest . build/doctest

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) runs .data .encoder
