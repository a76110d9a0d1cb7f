# One HTML report from raw MLPerf logs. Bare `make` lists the targets.
DEFAULT := $(shell cat data/articles/default)
ARTICLE ?= $(DEFAULT)
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PORT ?= 8000
PYTHON ?= python3
BUILD := build/$(ARTICLE)
VENV := .venv
PY := $(VENV)/bin/python

# What the command line may set besides the parameters of the notebooks.
NAMES := ARTICLE JOBS LAB_OPTIONS PORT PYTHON RAW

NOTEBOOKS := $(sort $(wildcard notebooks/*.ipynb))
SUMMARY := $(BUILD)/notebooks/00-summary.ipynb
EXECUTED := $(patsubst notebooks/%,$(BUILD)/notebooks/%,$(NOTEBOOKS))
INPUTS := $(wildcard mlperf_claims/*.py mlperf_claims/*/*.py) $(wildcard data/*.csv data/training/*.csv) data/articles/$(ARTICLE).yaml $(VENV)/installed
quote = '$(subst ','\'',$(1))'
# The README tells the findings of the default article.
README := $(if $(filter $(DEFAULT),$(ARTICLE)),--readme README.md)
OUTPUTS := $(BUILD)/report.html $(BUILD)/claims.json $(BUILD)/claims.csv $(BUILD)/claims.schema.json $(BUILD)/failures.txt
PAGE := $(wildcard mlperf_claims/report/template/*)

# Notebooks run beside each other, one to a core.
MAKEFLAGS += --no-print-directory --jobs=$(JOBS)
# Set on some machines; without bytecode a notebook takes twice as long.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONUTF8 := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: help report check accept pdf site kinds data verify test lint lab serve lock clean parameters

help:  ## List the targets
	@echo 'make TARGET [ARTICLE=name] [PARAMETER=value], for example: make report H100_GPUS_PER_RACK=16'
	@sed -n 's/^\([a-z]*\):.*  ## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

report: $(OUTPUTS)  ## Execute the notebooks and write the report
	@! grep . $(BUILD)/failures.txt || { echo 'the report marks what failed: $(BUILD)/report.html'; exit 1; }
	@echo $(BUILD)/report.html

check: report  ## Compare the verdicts with the reviewed ones
	@$(PY) -m mlperf_claims.claims.review check $(ARTICLE) $(README)

accept: report  ## Make the verdicts of this build the reviewed ones
	@$(PY) -m mlperf_claims.claims.review accept $(ARTICLE) $(README)

pdf: $(BUILD)/report.pdf  ## Print the report as PDF, with Chromium

site: $(VENV)/installed  ## Build the reports of all articles, and an index page over them
	@for article in $(basename $(notdir $(wildcard data/articles/*.yaml))); do MAKEFLAGS= $(MAKE) report ARTICLE=$$article JOBS=$(JOBS) || exit 1; done
	@$(PY) -m mlperf_claims.report.site

kinds: $(VENV)/installed  ## Write docs/kinds.md and the schema that editors complete articles from
	@$(PY) -m mlperf_claims.claims.guide

data: $(VENV)/installed  ## Read the results repositories in RAW, or clone them, into data/training
	$(PY) -m mlperf_claims.read.collect $(if $(RAW),--raw $(call quote,$(RAW)))
	$(PY) -m mlperf_claims.read.croissant

verify: $(VENV)/installed  ## Derive data/training anew, from RAW or from clones, and compare
	@$(PY) -m mlperf_claims.read.collect --check $(if $(RAW),--raw $(call quote,$(RAW)))

test: $(VENV)/installed  ## Run the tests
	$(PY) -m pytest

lint: $(VENV)/installed  ## Check style of package, notebooks and tests
	$(PY) -m ruff check . && $(PY) -m ruff format --check .

lab: .venv-lab/installed  ## Open the notebooks in JupyterLab
	.venv-lab/bin/jupyter lab --notebook-dir=. $(LAB_OPTIONS)

serve: report  ## Serve the report on localhost:PORT
	@echo 'http://127.0.0.1:$(PORT)/report.html'
	@$(PY) -m http.server $(PORT) --bind 127.0.0.1 --directory $(BUILD)

lock: $(VENV)/installed  ## Resolve the requirements anew
	$(VENV)/bin/pip install --quiet uv
	$(VENV)/bin/uv pip compile $(COMPILE) --extra=test --output-file=requirements.txt pyproject.toml
	$(VENV)/bin/uv pip compile $(COMPILE) --extra=lab --constraint=requirements.txt --output-file=requirements-lab.txt pyproject.toml
# One lock for every Python from 3.11 on.
COMPILE := --quiet --universal --python-version=3.11 --generate-hashes --no-emit-package=mlperf-claims

clean:  ## Remove what make wrote, but for the environments
	rm -rf build

# JupyterLab slows every import of altair and papermill, so it has an environment of its own.
.venv-lab/installed: requirements-lab.txt
$(VENV)/installed: requirements.txt
%/installed:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"found Python {sys.version.split()[0]}, expected 3.11 or newer")'
	$(PYTHON) -m venv --clear $*
	$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(filter requirements%,$^)
	$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# Each notebook has a parameters file, rewritten only when its content changes: make cannot see a command line.
$(BUILD)/parameters/%.json: parameters ;
parameters: $(VENV)/installed
	@rm -f $(filter-out $(EXECUTED),$(wildcard $(BUILD)/notebooks/*.ipynb))
	@$(PY) -m mlperf_claims.report.parameters --names '$(NAMES)' --given $(call quote,$(MAKEOVERRIDES)) $(call quote,$(ARTICLE))

# Everything that is wrong with an article is said once, before any kernel starts.
$(BUILD)/problems.txt: $(INPUTS)
	@$(PY) -m mlperf_claims.report.preflight $(ARTICLE)

$(BUILD)/notebooks/%.ipynb: notebooks/%.ipynb $(BUILD)/parameters/%.json $(BUILD)/problems.txt
	@$(PY) -m mlperf_claims.report.execute $< $(BUILD)/parameters/$*.json $@
$(SUMMARY): $(BUILD)/parameters/notebooks.json $(filter-out $(SUMMARY),$(EXECUTED))

data/articles/%.yaml:
	@echo "no article '$*' in data/articles, expected one of: $(basename $(notdir $(wildcard data/articles/*.yaml)))" >&2; exit 1

build/vega.js: $(VENV)/installed
	@mkdir -p build && $(PY) -m mlperf_claims.report.charts > $@

$(BUILD)/report.html: $(EXECUTED) $(BUILD)/parameters/notebooks.json build/vega.js $(PAGE)
	@$(PY) -m mlperf_claims.report.page $(ARTICLE)
$(BUILD)/report.pdf: $(BUILD)/report.html
	@$(PY) -m mlperf_claims.report.pdf $< $@
$(filter-out %/report.html,$(OUTPUTS)): $(BUILD)/report.html
	@[ -e $@ ] || $(PY) -m mlperf_claims.report.page $(ARTICLE)
