# ML on HPC. `make course` does the main job, `make test` runs all checks; `make help` lists the rest.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup course bench site serve lab learner lesson notebooks test style types unit notebooks-test browser lock clean

VENV := .venv/bin
# Jupyter refuses to start for root unless told otherwise.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
PORT ?= 8000
TIER ?= quick
# Threads that spin while they wait slow each other down, up to a hundredfold, as soon as a second program uses
# the cores; on an idle machine waiting without spinning costs up to half of a very short step. Records keep the
# setting. OMP_WAIT_POLICY=ACTIVE on the command line measures the other way.
export OMP_WAIT_POLICY ?= PASSIVE
export PYTHONNOUSERSITE := 1

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

setup: ## make or update .venv (done by every other target)
	@setup/environment.sh

course: setup ## set up, measure this machine, build the site with its row, serve it
	@$(VENV)/mlhpc bench all --tier $(TIER) --if-missing
	@$(VENV)/python book/build.py
	@echo "To open the notebooks in JupyterLab: make lab"
	@$(VENV)/python setup/serve.py --port $(PORT)

bench: setup ## only measure this machine (TIER=smoke|quick|full)
	@$(VENV)/mlhpc bench all --tier $(TIER)

site: setup ## only build the site, into _build/html (SITE=osc: for one cluster's users, see mlhpc site list)
	@$(VENV)/python book/build.py $(if $(SITE),--site "$(SITE)")

serve: setup ## only serve the site that was built (PORT=8000)
	@$(VENV)/python setup/serve.py --port $(PORT)

lab: setup ## only open the notebooks in JupyterLab
	@$(VENV)/jupyter lab --ServerApp.root_dir=. $(AS_ROOT) notebooks/101-cpu-or-gpu.ipynb

learner: setup ## make copies of the notebooks with blanked solutions, in learner/
	@$(VENV)/mlhpc lesson learner

lesson: setup ## start a new lesson: make lesson STEM=102-choosing-a-gpu
	@test -n "$(STEM)" || { echo "make lesson needs a stem, for instance: make lesson STEM=102-choosing-a-gpu" >&2; exit 2; }
	@$(VENV)/mlhpc lesson new "$(STEM)"

notebooks: setup ## execute the notebooks' sources to their pairs (STEM=... for one)
	@$(VENV)/mlhpc lesson run $(STEM)

test: setup ## all checks: style, types, unit, lessons, notebooks, site, browser
	@setup/system.sh browser
	@setup/system.sh ruby
	@setup/system.sh shellcheck
	@$(MAKE) --no-print-directory style types unit notebooks-test

style: setup
	@$(VENV)/ruff check .
	@$(VENV)/ruff format --check .

types: setup
	@$(VENV)/mypy

unit: setup
	@$(VENV)/pytest

notebooks-test: setup
	@$(VENV)/mlhpc lesson check
	@MLHPC_TIER=smoke MLHPC_RECORDS=$$(mktemp -d) $(VENV)/pytest -p no:cacheprovider --nbval-lax --nbval-cell-timeout=300 notebooks/

lock: setup ## make requirements.lock and environment.yml again from setup/packages.yml
	@$(VENV)/python setup/lock.py --resolve

clean: ## remove what was built (not .venv, not your records)
	@rm -rf _build .mypy_cache .ruff_cache .pytest_cache .hypothesis
