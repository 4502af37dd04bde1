# make demo   see what Weir does            make test    every check that must pass
# make build  the command and libraries     make help    all targets
.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-sanitized test-long bench bench-train tidy format lint clean

JOBS ?= $(shell nproc)
BENCH_ARGS ?=
FUZZ_SECONDS ?= 600
LONG_SEEDS ?= 20000
LONG_STEPS ?= 2000
PROGRAM_SEEDS ?= 10000
PYTHON := PYTHONPATH=python .venv/bin/python

# $(call tested,PRESET): configure, build and test with one preset of CMakePresets.json
define tested
	cmake --preset $(1) >build/$(1).configure.log || { cat build/$(1).configure.log; exit 1; }
	cmake --build --preset $(1) -j $(JOBS)
	ctest --preset $(1) -j $(JOBS) --progress
endef

help:
	@echo 'make build           build the command (build/bin/weir), the runtime (build/lib) and the benchmarks'
	@echo 'make demo            build, train a net inside half of the memory it needs, then sweep a trace'
	@echo 'make test            lint, then the tests in the asan and release builds'
	@echo 'make test-sanitized  the runtime on PyTorch, with the address and thread sanitizers'
	@echo 'make test-long       hours: many seeds and random programs, all of the zoo, tsan, fuzzing'
	@echo 'make bench           the benchmarks of the parts (BENCH_ARGS=... for google-benchmark)'
	@echo 'make bench-train     training: stock, tcmalloc, checkpoints, budgets (BENCH_ARGS=--help)'
	@echo 'make lint            layout, spelling, layers;  make format mends layout;  make tidy: clang-tidy'
	@echo 'make clean           remove build/'

setup:
	@scripts/setup.sh
	@mkdir -p build

build: setup
	cmake --preset release >build/release.configure.log || { cat build/release.configure.log; exit 1; }
	cmake --build --preset release --target product -j $(JOBS)

demo: build
	scripts/demo.sh

test: lint
	$(call tested,asan)
	$(call tested,release)

test-sanitized: setup
	$(call tested,asan-torch)
	$(call tested,tsan-torch)

test-long: export WEIR_TEST_SEEDS = $(LONG_SEEDS)
test-long: setup
	$(call tested,dev)
	$(call tested,release)
	$(call tested,tsan)
	$(MAKE) test-sanitized
	WEIR_TEST_STEPS=$(LONG_STEPS) $(PYTHON) -m pytest -q -k many_steps tests/python/test_held_budget.py
	$(PYTHON) tests/python/random_programs.py --seeds 0:$(PROGRAM_SEEDS) --jobs $(JOBS)
	$(PYTHON) tests/python/same_bits.py --full
	cmake --workflow --preset=fuzz
	scripts/fuzz.sh $(FUZZ_SECONDS)

bench: build
	@for b in build/release/bench/*_bench; do \
	  [ -x "$$b" ] || { echo 'bench: no benchmarks yet'; break; }; \
	  "$$b" $(BENCH_ARGS) || exit 1; \
	done

bench-train: build
	$(PYTHON) bench/train/compare.py $(BENCH_ARGS)

tidy: setup
	cmake --preset tidy
	cmake --build --preset tidy -j $(JOBS)

lint: setup
	scripts/lint.sh

format: setup
	scripts/lint.sh --fix

clean:
	rm -rf build
