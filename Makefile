# make demo      train on groceries, evaluate, recommend, explain
# make test      everything CI runs: lint, native tests, Python tests
# make torture   new drawn cases, ten times as many, and attacks: kills, forged files, full disks; SEED=... repeats a run
# make torture-native   the attack on the compiled core alone, which is built with sanitizers for it
# make quality   trainings on real data that take minutes each: every solver against published figures
# make docs      the documentation as a site, in build/docs
# make wheel     the wheel and the source distribution, each tried in an empty environment
# make lowest    the core's tests with the lowest versions of all dependencies
# make bench ARGS="..."   our solvers and the peers' until they converge; ARGS="--before PYTHON" adds an earlier version
# make reproduce ARGS="..."   the paper's evaluation, measured again; ARGS="--help" lists the options
# All of it sets up .venv by itself; a second run does not install again.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
NATIVE := $(shell find native -type f) CMakeLists.txt
BUILD := build/dev
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal --durations=20
unexport PYTHONDONTWRITEBYTECODE  # tests start hundreds of processes; without it each compiles all modules anew
ifndef SEED
SEED := $(shell date +%s)
endif

.PHONY: demo test torture torture-native quality docs reproduce lint format native-test python-test sanitize bench bench-data bench-model bench-serve bench-kernels wheel lowest clean

demo: $(if $(wildcard .venv/.dev),.venv/.dev,.venv/.demo)  # dev has all that demo has
	@mkdir -p build
	$(BIN)/ialspp demo --page build/groceries.html

test: lint native-test python-test

torture: .venv/.dev torture-native
	$(BIN)/python -m torture kills disks model_files prepared_files data_files numbers load serving offsets cluster --seed $(SEED) $(ARGS)
	$(PYTEST) --hypothesis-profile=torture --hypothesis-seed=$(SEED) --randomly-seed=$(SEED)

torture-native: .venv/.dev
	$(call sanitized_build,address$(comma)undefined)
	IALSPP_SANITIZED=build/address$(comma)undefined $(BIN)/python -m torture native_calls --seed $(SEED) $(ARGS)

quality: .venv/.dev
	$(PYTEST) -m quality

docs: .venv/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir build/docs

reproduce: $(if $(wildcard .venv/.dev),.venv/.dev,.venv/.reproduce)  # dev has all that reproduce has
	$(BIN)/python -m reproduction $(ARGS)

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(filter %.h %.cpp,$(NATIVE))

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(filter %.h %.cpp,$(NATIVE))

native-test: .venv/.dev
	$(BIN)/ctest --test-dir $(BUILD) --output-on-failure

python-test: .venv/.dev
	$(PYTEST)

sanitize: .venv/.dev
	$(call sanitized_tests,address$(comma)undefined)
	$(call sanitized_tests,thread)

RACE := $(BIN)/python benchmarks/bench.py --epochs 24 --minutes 3.5
bench: .venv/.peers
	$(RACE) --dims 64 128 256 512 $(ARGS)
	$(RACE) --dims 1024 --scale 0.5 --append $(ARGS)
	$(RACE) --dims 2048 --scale 0.25 --reference-epochs 30 --append $(ARGS)
	$(BIN)/python benchmarks/blocks.py

bench-data: .venv/.dev
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/evaluation.py

bench-model: .venv/.peers
	$(BIN)/python benchmarks/recommend.py
	$(BIN)/python benchmarks/store.py
	$(BIN)/python benchmarks/checkpoints.py

bench-serve: .venv/.peers
	$(BIN)/python benchmarks/serve.py $(ARGS)
	$(BIN)/python benchmarks/serve.py --items 1000000 $(ARGS)

bench-kernels: .venv/.dev
	$(BIN)/cmake --build $(BUILD) --target kernel_benchmarks
	$(BUILD)/native/tests/kernel_benchmarks

# The wheel is built from the source distribution, so both are proved. PYTHONS="python3.10 python3.12" tries others too.
PYTHONS ?= $(PYTHON)
wheel: .venv/.dev
	rm -rf dist build/smoke
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m auditwheel show dist/*.whl
	$(foreach python,$(PYTHONS),$(call smoke,$(python)))

define smoke
	rm -rf build/smoke
	$(1) -m venv build/smoke
	build/smoke/bin/pip install --quiet $(if $(filter $(1),$(PYTHON)),dist/*.whl,dist/*.tar.gz)
	build/smoke/bin/python tests/smoke.py

endef

# Bounds that nobody tries are wrong sooner or later. Tests that need other programs or many packages are left out.
LOWEST := tests/data tests/files tests/split tests/solvers tests/model tests/export tests/reporting tests/test_evaluation.py \
  tests/test_objective.py tests/test_metrics.py tests/cli/test_cli.py tests/serving/test_recommend.py tests/serving/test_queries.py \
  tests/tuning
lowest: .venv/.dev
	rm -rf build/lowest
	$(BIN)/python tests/lowest.py > build/lowest.txt
	$(PYTHON) -m venv build/lowest
	build/lowest/bin/pip install --quiet --constraint build/lowest.txt ".[all]" pytest pytest-randomly pytest-xdist hypothesis httpx \
	  scipy pandas pyarrow safetensors scikit-learn
	build/lowest/bin/python -m pytest -n 2 --dist worksteal -W ignore::DeprecationWarning $(LOWEST)  # old packages use what newer ones deprecate

clean:
	rm -rf .venv build dist

comma := ,
# $(1) the sanitizers. The Python extension is built with those of memory only.
EXTENSION = -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir)
define sanitized_build
	$(BIN)/cmake -S . -B build/$(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  $(if $(findstring address,$(1)),$(EXTENSION),-DIALSPP_PYTHON=OFF) -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DIALSPP_TESTS=ON -DIALSPP_WERROR=ON -DIALSPP_SANITIZE=$(1) > /dev/null
	$(BIN)/cmake --build build/$(1)
endef
define sanitized_tests
	$(sanitized_build)
	$(BIN)/ctest --test-dir build/$(1) --output-on-failure
endef

.venv/bin/python:
	$(PYTHON) -m venv .venv

# What builds the extension. pip would install it anew for every build, in a folder that is gone afterwards:
# then each build compiles nanobind again, and nothing can be built in that folder later.
.venv/.build: | .venv/bin/python
	$(PIP) scikit-build-core nanobind cmake ninja
	@touch $@

# One stamp for each set of extras; the compiled part is rebuilt when its sources change. Developers build the
# native tests with it: the kernels are compiled once.
DEV := --no-build-isolation --config-settings=build-dir=$(BUILD) \
  --config-settings=cmake.define.IALSPP_TESTS=ON --config-settings=cmake.define.IALSPP_WERROR=ON
.venv/.demo: EXTRAS = demo
.venv/.demo: OPTIONS = --no-compile  # Python compiles the few modules that the demo imports when it imports them
.venv/.reproduce: EXTRAS = reproduce
.venv/.dev: EXTRAS = dev
.venv/.peers: EXTRAS = dev,peers
.venv/.dev .venv/.peers: OPTIONS = $(DEV)
.venv/.dev .venv/.peers: | .venv/.build
.venv/.demo .venv/.reproduce .venv/.dev .venv/.peers: pyproject.toml $(NATIVE) | .venv/bin/python
	$(PIP) $(OPTIONS) -e ".[$(EXTRAS)]"
	@$(BIN)/python -c "import ialspp._core as c, pathlib, shutil; \
	  shutil.copy(pathlib.Path(c.__file__).with_name('_core.pyi'), 'src/ialspp')"  # for mypy
	@touch $@
