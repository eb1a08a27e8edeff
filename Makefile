# The verbs of the house. Everything is set up on first use; `make clean` takes it away again.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# llama.cpp is compiled when it is installed, some four minutes; its part for images is not needed here.
export CMAKE_ARGS ?= -DLLAVA_BUILD=OFF
# Its code for AMX, as GCC 12 compiles it, crashes on quantised weights; without it several rows are quicker, too.
NO_AMX := $(shell grep -qs amx_tile /proc/cpuinfo && echo -mno-amx-tile -mno-amx-int8 -mno-amx-bf16)
export CFLAGS ?= $(NO_AMX)
export CXXFLAGS ?= $(NO_AMX)

.PHONY: demo test test-slow test-real test-engines audits null-runs lint bench screenshots browser train clean

demo: $(VENV)/core.stamp  ## generate text with the embedded pair and prove it on the way
	$(BIN)/draftproof generate "And the king said" --max-tokens 200 --temperature 0.7 --seed 2

test: $(VENV)/test.stamp browser lint  ## everything that CI checks
	DRAFTPROOF_ALL_EXTRAS=1 OMP_NUM_THREADS=1 $(BIN)/pytest -n 2  # a core for each of them

test-slow: $(VENV)/test.stamp  ## exact integrations that take minutes
	$(BIN)/pytest -n 2 -m slow

test-real: $(VENV)/test.stamp  ## on published models of up to 1.5 billion weights, which are fetched first (8 GB of disk)
	$(BIN)/python benchmarks/real_models.py
	$(BIN)/pytest -m real tests/real

test-engines: $(VENV)/test.stamp  ## other people's engines, each set up in an environment of its own (4 GB of disk)
	$(BIN)/python benchmarks/audits.py --prepare
	$(BIN)/pytest -m engines tests/audit

audits: $(VENV)/test.stamp  ## the pages of docs/audits: which engines are lossless, and which are not
	$(BIN)/python benchmarks/audits.py

null-runs: $(VENV)/test.stamp  ## how often the statistical witness accuses a lossless engine, in 10,000 runs
	$(BIN)/python benchmarks/null_runs.py

lint: $(VENV)/test.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: $(VENV)/test.stamp  ## the figures of benchmarks/README.md
	$(BIN)/python benchmarks/run.py

screenshots: $(VENV)/test.stamp browser  ## the pictures in docs/images, taken by the tests of the page
	DRAFTPROOF_SCREENSHOTS=docs/images $(BIN)/pytest tests/explorer/test_screenshots.py

browser:  ## the one that tests the page: Debian's Chromium
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }

train: $(VENV)/train.stamp  ## the embedded pair, from Debian's package to src/draftproof/assets
	$(BIN)/python training/train_target.py
	$(BIN)/python training/train_draft.py
	$(BIN)/python training/export.py

clean:
	rm -rf $(VENV)

$(VENV)/core.stamp: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/%.stamp: pyproject.toml $(VENV)/core.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@
