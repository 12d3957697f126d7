# The front door. `make help` lists what can be asked for; everything drives the CMake presets.
# The first call on a fresh Debian machine installs what is missing (tools/packages.txt).
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Sanitizer runs skip tests named *Slow* and, under tsan, everything that has no threads.
TSAN_TESTS ?= ^(base|kernels|ops|text|data|train|infer)$$
FOVEA := build/release/bin/fovea

.DEFAULT_GOAL := help
.PHONY: help demo build test test-slow bench lint format docs asan tsan fuzz install clean
.PHONY: neon tidy need-build need-lint need-fuzz need-bench

help:   ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## */\t/' | \
	  awk -F '\t' '{printf "  make %-10s %s\n", $$1, $$2}'

need-build need-lint need-fuzz need-bench: need-%:
	@tools/install.sh build $*

# Configuring takes a second when nothing changed, and notices libraries that came or went.
define configure
	@mkdir -p build
	@cmake --preset $(1) >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
endef
define build_preset
	$(call configure,$(1))
	@cmake --build --preset $(1) -j $(JOBS) $(2)
endef

build: need-build   ## build/release/bin/fovea
	$(call build_preset,release,--target fovea)

demo: build         ## trains a small Transformer in about a minute and looks inside it
	@$(FOVEA) demo

test: need-build    ## build everything and run the tests (release)
	$(call build_preset,release,)
	@ctest --test-dir build/release --output-on-failure -j $(JOBS)

# dev compiles each file alone: what unity builds and precompiled headers hide shows here.
test-slow: need-build   ## the tests named *Slow* too, and a build of the dev preset
	$(call build_preset,dev,)
	$(call build_preset,release,)
	@ctest --test-dir build/release --output-on-failure -j $(JOBS) -C slow

bench: need-bench   ## kernels, tokenizers, training and translation beside their rivals, quickly
	$(call build_preset,release,--target fovea)
	@cmake --build --preset release --target fovea-onednn-peer >/dev/null 2>&1 || true  # if installed
	@for what in kernels tokenizers train translate; do $(FOVEA) bench $$what --quick || exit; echo; done

lint: need-build need-lint   ## layers, layout, forbidden calls, headers alone, clang-tidy
	@tools/lint.sh

tidy: need-build need-lint   ## the same with clang-tidy over every file (long)
	@TIDY=all tools/lint.sh

format: need-lint   ## rewrite the sources in the project's layout
	@git ls-files -co --exclude-standard 'fovea/*.h' 'fovea/*.cpp' 'tests/*.h' 'tests/*.cpp' | \
	  grep -v '_tables\.cpp$$' | xargs -r clang-format -i

docs: build         ## renew docs/command-line.md from the parser
	@mkdir -p docs && $(FOVEA) help --markdown > docs/command-line.md

asan: need-build    ## tests under address, leak and undefined-behaviour sanitizers
	$(call build_preset,asan,)
	@ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1 \
	 UBSAN_OPTIONS=print_stacktrace=1 \
	 ctest --test-dir build/asan --output-on-failure -j $(JOBS)

tsan: need-build    ## tests with threads under the thread sanitizer
	$(call build_preset,tsan,)
	@TSAN_OPTIONS=halt_on_error=1 FOVEA_THREADS=4 \
	 ctest --test-dir build/tsan --output-on-failure -R '$(TSAN_TESTS)'

neon:               ## compile the kernels for ARM, where a cross compiler is at hand
	@tools/check_neon.sh

fuzz: need-fuzz     ## the fuzzers of tests/fuzz (FUZZ_SECONDS=60 each)
	@tests/fuzz/run.sh

install: need-build ## the program, the library and its CMake package (PREFIX=/usr/local)
	$(call build_preset,release,)
	@cmake --install build/release --prefix $(PREFIX)

clean:              ## remove build/
	@rm -rf build
