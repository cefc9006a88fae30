# agentrt on a machine that has only Python 3.11 or later and make.
#
# Everything is installed into $(VENV); its stamp is renewed when pyproject.toml changes. Nothing is installed outside.
# The demo installs what it needs; other targets add what they need to the same environment.
# PYTHON=/path/to/python picks another interpreter; VENV=.venv-3.12 another environment.

VENV   ?= .venv
PYTHON ?=
EXTRAS ?= dev
TICKS  ?= 2000
SEED   ?= 7
ARGS   ?=

BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed-$(EXTRAS)
# What the demo needs, as far as its arguments ask for it. The developers' extras have all of that: where these are
# installed, nothing is added.
COMMA  := ,
DEMO   := demo$(if $(findstring --inspect,$(ARGS)),$(COMMA)inspect)$(if $(findstring trio,$(ARGS)),$(COMMA)trio)$(if $(findstring --model,$(ARGS)),$(COMMA)llm)
DEMO_STAMP := $(or $(wildcard $(STAMP)),$(VENV)/.installed-$(DEMO))
PYTHONS = 3.11 3.12 3.13
AT_A_TIME = --keep-going $(if $(filter output-sync,$(.FEATURES)),--output-sync)

export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PYTHONUTF8 = 1
# A parent's settings must not decide which code is tested, nor have each of many processes compile all of it anew.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-all test-compiled test-minecraft bench lint unit install browser docs wheel clean
.DEFAULT_GOAL := help

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

install: $(STAMP)  ## make the environment, with everything in it

demo: $(DEMO_STAMP)  ## watch the colony live (ARGS="--headless --ticks 200" for more)
	@$(BIN)/agentrt demo $(ARGS)

# Three parts run at the same time on two cores, since much of what is slow waits for other processes; whoever is done takes
# the next one, and the longest stand first. The quick tests are run in Python's development mode (without its checks of
# memory, which are for C), and they alone have to cover the code. The slow ones (properties, faults everywhere, whole
# worlds, browsers, other processes) are run as a user's program is: a tracer makes them take 2.5 times as long, and keeps
# the watch on Python 3.11 from ending what hangs in other threads. What a part says is shown when it is done.
PARTS = slow-a-h slow-in-a-browser covered slow-i-z compiled lint
test: $(STAMP) browser  ## the whole gate: lint, types, contracts, tests, coverage, the compiled core
	@start=$$(date +%s); trap 'exit 130' INT TERM; rm -f .coverage .coverage.*; failed=; \
	$(MAKE) --no-print-directory --jobs=3 $(AT_A_TIME) $(PARTS) || failed=1; \
	$(MAKE) --no-print-directory coverage || failed=1; \
	if [ -n "$$failed" ]; then echo "make test: failed" >&2; exit 1; fi; \
	echo "make test: passed in $$(( $$(date +%s) - start )) s"

lint: $(STAMP)  ## style, types, import contracts, spelling
	@echo "== ruff";          $(BIN)/ruff check .
	@echo "== ruff format";   $(BIN)/ruff format --check .
	@echo "== codespell";     $(BIN)/codespell
	@echo "== import-linter"; $(BIN)/lint-imports --no-logo
	@echo "== mypy";          $(BIN)/mypy
	@echo "== pyright";       $(BIN)/pyright --pythonpath $(BIN)/python --warnings
	@echo "== pyright: public types are complete"
	@$(BIN)/python tools/public_types.py agentrt

# The gate builds it, too, and follows its links: tests/docs/test_site.py.
docs: $(STAMP)  ## build the documentation site into build/docs; every warning is an error
	@$(BIN)/python -m sphinx -q -E -W --keep-going -c docs -d build/doctrees . build/docs
	@echo "the first page: build/docs/index.html"

browser:  ## install chromium for the tests in a browser, where that may be done (root, with apt)
	@if [ -n "$$AGENTRT_CHROMIUM" ] || command -v chromium >/dev/null || command -v chromium-browser >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "== installing chromium for the tests in a browser"; \
	    { apt-get update && DEBIAN_FRONTEND=noninteractive \
	        apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 \
	    || echo "chromium could not be installed: the tests in a browser are skipped"; \
	else echo "no chromium, and no right to install it: the tests in a browser are skipped"; fi

unit: $(STAMP)  ## the quick tests alone, on two cores (some 45 s)
ifeq ($(ARGS),)
	@$(MAKE) --no-print-directory --jobs=2 $(AT_A_TIME) unit-a-p unit-q-z
else
	@$(BIN)/python -m pytest -q -m "not slow" $(ARGS)
endif

.PHONY: unit-a-p unit-q-z
TESTS := $(filter-out tests/conftest.py tests/data tests/support %/__pycache__,$(wildcard tests/*))
unit-a-p: FOLDERS = $(filter $(wildcard tests/[a-p]*),$(TESTS))
unit-q-z: FOLDERS = $(filter-out $(wildcard tests/[a-p]*),$(TESTS))
unit-a-p unit-q-z: $(STAMP)
	@echo "== pytest: the quick tests in $(notdir $(FOLDERS))"
	@$(BIN)/python -m pytest -q -p no:cacheprovider -m "not slow" $(FOLDERS)

# Code that is tested may end the process that tests it, with exit code 0: tests/conftest.py says that it came to its end.
TO_ITS_END = mkdir -p build && rm -f build/finished-$@ && AGENTRT_FINISHED=$(CURDIR)/build/finished-$@
IT_CAME    = && { test -e build/finished-$@ || { echo "pytest was ended before it was done" >&2; exit 1; }; }

.PHONY: covered slow slow-in-a-browser slow-a-h slow-i-z coverage
covered: $(STAMP)
	@echo "== pytest: the quick tests, and what they cover"
	@$(TO_ITS_END) PYTHONDEVMODE=1 PYTHONMALLOC=pymalloc $(BIN)/python -m coverage run -m pytest -q --durations=5 -m "not slow" $(ARGS) $(IT_CAME)

slow: slow-a-h slow-i-z slow-in-a-browser
slow-a-h: FOLDERS = $(filter-out tests/browser,$(filter $(wildcard tests/[a-h]*),$(TESTS)))
slow-i-z: FOLDERS = $(filter-out $(wildcard tests/[a-h]*),$(TESTS))
slow-a-h slow-i-z: $(STAMP)
	@echo "== pytest: the slow tests in $(notdir $(FOLDERS))"
	@$(TO_ITS_END) $(BIN)/python -m pytest -q --durations=5 -m slow $(FOLDERS) $(ARGS) $(IT_CAME)
slow-in-a-browser: $(STAMP)
	@echo "== pytest: the slow tests in a browser"
	@$(TO_ITS_END) $(BIN)/python -m pytest -q --durations=5 -m slow tests/browser $(ARGS) $(IT_CAME)

# --- the compiled core: pyproject.toml says what is compiled, tools/compile_core.py how ---------------------------------

BUILD        = $(BIN)/python -m hatchling build
BUILD_NATIVE = HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $(BUILD) --target wheel
CAN_COMPILE  = $(BIN)/python -c 'import shutil, sys; sys.exit(not any(map(shutil.which, ("cc", "gcc", "clang", "cl"))))'
# What is installed comes first, in child processes too, and the checkout's own package never.
ON_NATIVE    = AGENTRT_COMPILED=1 PYTHONSAFEPATH=1

wheel: $(STAMP)  ## make a compiled wheel for this platform, a pure one and the source distribution, in dist/
	@rm -rf dist
	@$(BUILD) --directory dist
	@$(BUILD_NATIVE) --directory dist
	@ls dist

# The part of the gate: built without optimizing, which is quicker and computes the same.
.PHONY: compiled
compiled: $(STAMP)
	@if ! $(CAN_COMPILE); then echo "== compiled core: SKIPPED, THERE IS NO C COMPILER HERE" >&2; exit 0; fi; \
	echo "== pytest: kernel, activity, faults and digests with the compiled core" && \
	rm -rf build/compiled && AGENTRT_OPTIMIZE=0 $(BUILD_NATIVE) --directory build/compiled && \
	$(BIN)/python -m pip install --quiet --no-deps --target build/compiled/installed build/compiled/*.whl && \
	$(TO_ITS_END) $(ON_NATIVE) PYTHONPATH=build/compiled/installed $(BIN)/pytest -q -p no:cacheprovider -m "not slow" \
	    tests/test_compiled.py tests/kernel tests/activity tests/chaos $(IT_CAME) && \
	$(TO_ITS_END) $(ON_NATIVE) PYTHONPATH=build/compiled/installed $(BIN)/pytest -q -p no:cacheprovider \
	    tests/replay/test_kept_recordings.py $(IT_CAME)

test-compiled:  ## build the compiled wheel, install it into an environment of its own, and run all tests on it
	@$(MAKE) --no-print-directory VENV=.venv-compiled EXTRAS=test,bench,build compiled-tests

.PHONY: compiled-tests
compiled-tests: $(STAMP)
	@$(CAN_COMPILE) || { echo "there is no C compiler here" >&2; exit 1; }
	@rm -rf build/wheel
	@$(BUILD_NATIVE) --directory build/wheel
	@$(BIN)/python -m pip install --quiet --force-reinstall --no-deps build/wheel/*.whl
	@pwd >"$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/checkout.pth"  # benchmarks, examples
	@$(ON_NATIVE) $(BIN)/pytest -q -p no:cacheprovider --durations=5 $(ARGS)

# --- coverage -----------------------------------------------------------------------------------------------------------

coverage: $(STAMP)
	@total=$$($(BIN)/python -m coverage report --format=total); status=$$?; echo "coverage: $$total %"; exit $$status

test-all:  ## the tests on each Python from 3.11 on that is found here, and with the lowest versions that are declared
	@found=; failed=; \
	for version in $(PYTHONS); do \
	    python=; \
	    for candidate in $$(command -v python$$version) "$$HOME"/.pyenv/versions/$$version.*/bin/python; do \
	        if "$$candidate" -c "import ensurepip, venv" >/dev/null 2>&1; then python=$$candidate; break; fi; \
	    done; \
	    if [ -z "$$python" ]; then echo "== Python $$version: not found here"; continue; fi; \
	    echo "== Python $$version: $$python"; \
	    found="$$found $$version"; \
	    $(MAKE) --no-print-directory VENV=.venv-$$version PYTHON="$$python" EXTRAS=test,bench plain-tests || failed="$$failed $$version"; \
	done; \
	if [ -z "$$found" ]; then echo "no Python from 3.11 on was found"; exit 1; fi; \
	$(MAKE) --no-print-directory test-lowest || failed="$$failed lowest-versions"; \
	if [ -n "$$failed" ]; then echo "make test-all: failed on$$failed"; exit 1; fi; \
	echo "make test-all: passed on$$found"

LOWEST := .venv-lowest
LOWEST_STAMP := $(LOWEST)/.installed

# An environment of its own, of the lowest Python that is found here.
$(LOWEST_STAMP): pyproject.toml tools/lowest_versions.py
	@for python in $(PYTHON) python3.11 python3.12 python3.13 python3 -; do \
	    if "$$python" -c "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null; then break; fi; \
	done; \
	if [ "$$python" = - ]; then echo "no Python from 3.11 on was found" >&2; exit 1; fi; \
	echo "making $(LOWEST) with $$($$python --version)"; \
	"$$python" -m venv --clear $(LOWEST)
	@$(LOWEST)/bin/python tools/lowest_versions.py test bench >$(LOWEST)/lowest.txt
	@echo "installing the lowest versions into $(LOWEST)"
	@$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/lowest.txt --editable '.[test,bench]'
	@touch $@

.PHONY: test-lowest
test-lowest: $(LOWEST_STAMP)  ## the quick tests with the lowest versions of the dependencies that are declared
	@$(LOWEST)/bin/python -m pytest -q -p no:cacheprovider -m "not slow" $(ARGS)

.PHONY: plain-tests
plain-tests: $(STAMP)
	@PYTHONDEVMODE=1 $(BIN)/python -m pytest -q -p no:cacheprovider $(ARGS)

test-minecraft: $(STAMP)  ## the strategies on a real Minecraft server (needs node; installs its packages once)
	@AGENTRT_MINECRAFT=1 PYTHONDEVMODE=1 $(BIN)/python -m pytest -q --durations=5 tests/minecraft $(ARGS)

bench: $(STAMP)  ## measure against the limits and the peers (ARGS="wake" for one row)
	@$(BIN)/python -m benchmarks $(ARGS)

.PHONY: bench-compiled
bench-compiled: $(STAMP)  ## the hot rows here and with the compiled core, in turn (ARGS="wake" for one row)
	@rm -rf build/bench && $(BUILD_NATIVE) --directory build/bench
	@$(BIN)/python -m pip install --quiet --no-deps --target build/bench/installed build/bench/*.whl
	@$(BIN)/python -m benchmarks --against build/bench/installed $(ARGS)

.PHONY: bench-compare
bench-compare: $(STAMP)  ## the hot rows here and in another commit, in turn (REV=HEAD~1; ARGS="wake" for one row)
	@test -n "$(REV)" || { echo "which commit? make bench-compare REV=HEAD~1" >&2; exit 2; }
	@$(BIN)/python -m benchmarks --against $(REV) $(ARGS)

clean:  ## remove the environments and everything that was made
	rm -rf .venv .venv-* build dist .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The interpreter: the one given, else the first that runs and can make an environment.
$(VENV)/.installed-%: pyproject.toml
	@check='import sys; sys.exit(sys.version_info < (3, 11))'; \
	if ! "$(BIN)/python" -c "$$check" 2>/dev/null; then \
	    python="$(PYTHON)"; \
	    if [ -n "$$python" ]; then \
	        "$$python" -c "$$check" || { echo "agentrt needs Python 3.11 or later; '$$python' is not." >&2; exit 1; }; \
	    else \
	        for candidate in python3.11 python3.12 python3.13 python3 python; do \
	            if "$$candidate" -c "$$check" 2>/dev/null; then python=$$candidate; break; fi; \
	        done; \
	    fi; \
	    if [ -z "$$python" ]; then \
	        echo "agentrt needs Python 3.11 or later, and none was found on the PATH." >&2; \
	        echo "Install one, or name it: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; \
	    fi; \
	    echo "making $(VENV) with $$($$python --version)"; \
	    rm -rf "$(VENV)"; \
	    "$$python" -m venv "$(VENV)" || { rm -rf "$(VENV)"; \
	        echo "'$$python -m venv' failed: install its venv module (Debian and Ubuntu: python3-venv)." >&2; exit 1; }; \
	fi
	@echo "installing into $(VENV): $* (first time: $(if $(filter $(DEMO),$*),half a minute,a minute or two))"
	@$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@
