# Two commands matter: `make test` and `make demo`. Both work on a fresh clone with python3, pip and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
LIBRARY := src/bitreplay/_lib/libbitreplay_core.so
export OMP_NUM_THREADS ?= 1

.PHONY: setup build lint test test-slow demo clean

setup: $(STAMP)

# A system python without ensurepip gets its pip from the outer pip. The editable install does not build the core
# (wheel.cmake=false): it only puts src/ on the path, and `make build` places the library inside it.
$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip install --quiet --target \
	    "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" pip; }
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --config-settings=wheel.cmake=false --config-settings=editable.mode=inplace \
	  --editable ".[dev]"
	touch $@

# The library is replaced by renaming, so that a process that has the old one loaded keeps it.
build: $(STAMP)
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B build/core -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/core
	@mkdir -p $(dir $(LIBRARY))
	@cmp -s build/core/libbitreplay_core.so $(LIBRARY) || \
	  { cp build/core/libbitreplay_core.so $(LIBRARY).new && mv -f $(LIBRARY).new $(LIBRARY); }

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint build
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: build
	$(BIN)/python -m pytest -m slow

demo: build
	$(BIN)/python -m bitreplay demo

clean:
	rm -rf build src/bitreplay/_lib
