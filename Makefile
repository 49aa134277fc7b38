# `make` sets up and runs the main job, `make test` the tests. EXP=name picks the study.
EXP ?= everyday_small
PYTHON ?= python3
VENV ?= .venv
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
SET ?=
DATA ?= data
RECIPES ?= word_alignment align_mlm wikipedia xlm_align_small xtreme
TRUST ?=
CALQUE = $(VENV)/bin/python -m experiments
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

# Every table and figure of the papers whose runs are committed.
paper: $(STAMP)
	$(CALQUE) paper all

# What the studies on real data read; TRUST=--trust takes the files whose digest nobody states too.
data: $(STAMP)
	$(CALQUE) data fetch $(RECIPES) --to $(DATA) $(TRUST)

# One process per core, each with one thread; the tests of a file share their fixtures. `test` leaves out slow tests.
PYTEST = OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder

test: check
	$(PYTEST) -m "not slow"

test-all: check
	$(PYTEST)

check: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(CALQUE) docs --check

bench: $(STAMP)
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(CALQUE) bench

# The documentation as a site; a warning or a dead link is an error, and so is a doctest that fails.
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
