# make demo   train on real data, evaluate, recommend
# make test   everything CI runs: lint, native tests, Python tests
# make docs   the documentation as a site, in build/docs
# make reproduce ARGS="..."   measure the paper's evaluation again; ARGS="--help" lists the options
# All of it sets up .venv by itself; a second run does not install again.

PYTHON ?= python3
BIN := .venv/bin
NATIVE := $(shell find native -type f) CMakeLists.txt
BUILD := build/native

.PHONY: demo test docs reproduce lint format native-test python-test sanitize bench bench-data bench-model bench-kernels wheel clean

demo: .venv/.demo
	$(BIN)/ialspp demo

test: lint native-test python-test

docs: .venv/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir build/docs

reproduce: .venv/.reproduce
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
	$(call native_tests,$(BUILD),)

python-test: .venv/.dev
	$(BIN)/python -m pytest -n 2 --dist worksteal

sanitize: .venv/.dev
	$(call native_tests,$(BUILD)-address,-DIALSPP_SANITIZE=address$(comma)undefined)
	$(call native_tests,$(BUILD)-thread,-DIALSPP_SANITIZE=thread)

bench: .venv/.peers
	$(BIN)/python benchmarks/bench.py --dims 64 128 256
	$(BIN)/python benchmarks/bench.py --dims 512 --epochs 6 --timed-epochs 1 --append
	$(BIN)/python benchmarks/bench.py --dims 1024 --scale 0.5 --epochs 5 --timed-epochs 1 --append
	$(BIN)/python benchmarks/blocks.py

bench-data: .venv/.dev
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/evaluation.py

bench-model: .venv/.peers
	$(BIN)/python benchmarks/recommend.py
	$(BIN)/python benchmarks/store.py

bench-kernels: .venv/.dev
	$(BIN)/cmake -S . -B $(BUILD) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DIALSPP_PYTHON=OFF -DIALSPP_TESTS=ON > /dev/null
	$(BIN)/cmake --build $(BUILD) --target kernel_benchmarks
	$(BUILD)/native/tests/kernel_benchmarks

wheel: .venv/.dev
	rm -rf dist build/smoke
	$(BIN)/python -m build --outdir dist
	$(PYTHON) -m venv build/smoke
	build/smoke/bin/pip install --quiet dist/*.whl
	build/smoke/bin/python tests/smoke.py

clean:
	rm -rf .venv build dist

comma := ,
# $(1) build directory, $(2) extra configuration
define native_tests
	$(BIN)/cmake -S . -B $(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DIALSPP_PYTHON=OFF -DIALSPP_TESTS=ON -DIALSPP_WERROR=ON $(2) > /dev/null
	$(BIN)/cmake --build $(1)
	cd $(1) && $(CURDIR)/$(BIN)/ctest --output-on-failure
endef

.venv/bin/python:
	$(PYTHON) -m venv .venv

# One stamp for each set of extras; the compiled part is rebuilt when its sources change.
.venv/.demo: EXTRAS = demo
.venv/.dev: EXTRAS = dev
.venv/.peers: EXTRAS = dev,peers
.venv/.reproduce: EXTRAS = reproduce
.venv/.demo .venv/.dev .venv/.peers .venv/.reproduce: pyproject.toml $(NATIVE) | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[$(EXTRAS)]"
	@$(BIN)/python -c "import ialspp._core as c, pathlib, shutil; \
	  shutil.copy(pathlib.Path(c.__file__).with_name('_core.pyi'), 'src/ialspp')"  # for mypy
	@touch $@
