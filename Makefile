# make demo: from a fresh checkout to plots of a first run.   make test: everything that must pass.

# Older ones do not know .SHELLFLAGS, and would go on where a command has failed.
ifneq ($(firstword $(sort 3.82 $(MAKE_VERSION))),3.82)
$(error GNU make 3.82 or later is needed, and this is $(MAKE_VERSION); macOS: brew install make, then gmake)
endif

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help arena toy prerequisites lock deny demo live-demo lab lab-if-possible test test-rust test-python test-beside test-clock differential rustdoc lint beside-rust docs lowest optimized bench bench-campaign bench-growth bench-json bench-lab bench-peers paper clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
    --no-annotate $(LOCK_OPTIONS)
LEAST_RUST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
SOURCES := $(shell find crates python -name '*.rs' -o -name '*.toml' -o -name '*.pyi') Cargo.toml Cargo.lock pyproject.toml
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# maturin --quiet does not tell pip to be so.
export PIP_QUIET := 1
# Bytecode is left by whoever imports a module first, here also where Python is told to leave none, as in many containers:
# pip would compile several times as many modules as are ever imported, which is half of what it does.
unexport PYTHONDONTWRITEBYTECODE
# uv takes a tenth of pip's time. It goes by none of pip's settings, such as an index of one's own: where it fails, pip installs.
INSTALL = $(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r $< || $(PIP) -r $<
PIP := $(BIN)/pip install -q --no-compile --require-hashes

help:
	@echo "make demo    set up .venv, build, run the two-source transient into results/"
	@echo "make live-demo  real TCP over ABR on this machine (root; Linux): goodput against the most there can be"
	@echo "make lab     the page that simulates in a browser (Node.js, and Rust's WebAssembly target)"
	@echo "make test    formatting, lints, Rust tests, Python tests, types, documentation"
	@echo "make differential N=10000  the kernel against the plain reference on as many random networks, optimised"
	@echo "make toy     add a toy algorithm, policy, frame discard, traffic, key, probe, column and unit to a copy of the workspace: what each takes is what CONTRIBUTING.md says"
	@echo "make docs    a site of all pages with the reference of the Python API, in results/site"
	@echo "make optimized  build once more with a profile of what the simulator does: a tenth to a fifth faster"
	@echo "make arena   write the tables of switch algorithms in docs/algorithms anew"
	@echo "make bench   time the workloads and the table of changes, count their instructions (bench-json: the same as JSON)"
	@echo "make bench-campaign  what 10,000 points of a sweep cost beside their runs, here and on a cluster of Dask"
	@echo "make bench-growth  checking and starting 1,000 to 100,000 written-out connections, beside linear growth"
	@echo "make bench-lab  the lab in headless Chromium: rate beside the native one, first run, pictures per second, memory"
	@echo "make bench-peers  ns-3, ns-2, SimPy and nexosim beside cellrate, installed where they are missing"
	@echo "make paper   run the experiments of all papers into results/papers/ (a quarter of an hour on two processors)"
	@echo "make deny    licences, bans and known flaws of what Rust code depends on (cargo-deny)"
	@echo "make lowest  what uses Python packages, tested with the lowest versions that pyproject.toml allows"
	@echo "make lock    fix versions and digests of the Python packages anew, in requirements/"
	@echo "make clean   remove .venv, results and build output"

demo: $(STAMPS)/built
	$(BIN)/cellrate run two-source-transient --out results/two-source-transient --plot
	@echo "Picture: results/two-source-transient/plot.png"

# Namespaces and TUN devices need root, which also installs the programs that are missing.
live-demo: $(STAMPS)/built
	@missing=""; \
	for pair in ip:iproute2 ss:iproute2 nsenter:util-linux setpriv:util-linux iperf3:iperf3; do \
	    PATH="$$PATH:/usr/sbin:/sbin" command -v $${pair%%:*} >/dev/null || missing="$$missing $${pair##*:}"; \
	done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $$missing; \
	fi
	$(BIN)/python -m cellrate.live.demo

# The page of cellrate lab and cellrate watch, with the simulator in WebAssembly, and the command that opens it.
lab: $(STAMPS)/built
	$(BIN)/python web/build.py
	touch $(STAMPS)/lab

# The page for tests: that of `make lab` where it is of today's sources, else one whose simulator is compiled sooner
# and hardly optimised. Where it cannot be built, this says so, and tests that need it are skipped.
PAGE_SOURCES = $(SOURCES) $(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/build/*' -not -path 'web/pkg/*')
lab-if-possible: $(STAMPS)/venv
	@if [ ! -f $(STAMPS)/lab ] || [ -n "$$(find $(PAGE_SOURCES) -newer $(STAMPS)/lab -print -quit)" ]; then \
	    rm -f $(STAMPS)/lab; \
	    $(BIN)/python web/build.py --quick --if-possible; \
	fi

# Rust's tests, and beside them what the others need, packages and the page, then what is read and drawn, then Python's
# tests: whichever chain ends first leaves its processor to the other. Rust's live tests are among the first and go by the
# clock, so the second chain gives way to it; nothing at all is beside those of Python that go by the clock.
test: prerequisites
	@$(MAKE) --no-print-directory --jobs=2 test-rust beside-rust
	@$(MAKE) --no-print-directory test-clock

# The module comes late: it is made of what Rust's tests are made of, and so waits for them to be compiled.
beside-rust:
	@$(MAKE) --no-print-directory $(STAMPS)/tools $(STAMPS)/docs
	@$(MAKE) --no-print-directory lab-if-possible
	@nice -n 5 $(MAKE) --no-print-directory lint
	@nice -n 5 $(MAKE) --no-print-directory docs test-beside

test-rust: prerequisites
	cargo fmt --all --check
	cargo fmt --all --check --manifest-path crates/cellrate-web/Cargo.toml
	cargo clippy --workspace --all-targets --locked -- -D warnings
	# The module as it is on other systems, where it has no live runs. With the whole workspace, what it depends on has the
	# features that it had above, and is not checked again.
	cargo clippy --workspace --all-targets --no-default-features --locked -- -D warnings
	@$(MAKE) --no-print-directory rustdoc
	# Without the flags of make, whose jobs are not handed on to what this starts: documentation tests would warn of that.
	MAKEFLAGS= cargo test --workspace --locked
	cargo build --locked --manifest-path crates/cellrate-proto/no_std_check/Cargo.toml --target-dir target/no_std_check
	$(PYTHON) vectors/derive.py

# As many random networks as a change of the kernel is worth, and fewer where each is more work; `make test` has some 3,000.
N ?= 10000
differential: prerequisites
	CELLRATE_DIFFERENTIAL=$(N) cargo test --release --locked -p cellrate-sim --test differential

# The tables of switch algorithms in docs/algorithms, as the arena has them today.
arena: $(STAMPS)/built
	UPDATE_REFERENCE=1 $(BIN)/python -m pytest -q tests/python/test_side_by_side.py

# A toy algorithm, policy, frame discard, traffic, keys, probe, column and unit are added to a copy by what
# CONTRIBUTING.md says each takes, and run; where a part is left out, the compiler or a test says so.
toy:
	$(PYTHON) tests/toy/try.py

# The reference of the Rust crates, private items among it: a link that leads nowhere is an error, and so is one from a
# public item to a private one, which leads nowhere in the reference that strangers read.
rustdoc: prerequisites
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps --locked --document-private-items

lint: $(STAMPS)/tools
	$(BIN)/ruff format --check python papers examples tests/python docs/site docs/images web/build.py
	$(BIN)/ruff check python papers examples tests/python docs/site docs/images web/build.py
	$(BIN)/mypy
	# What Windows has of the standard library is all that the package uses, but for live runs.
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 --follow-imports=silent \
	    $(shell find python/cellrate -name '*.py' -not -path '*/live/*' -not -path '*/data/*')
	@$(MAKE) --no-print-directory deny DENY="bans licenses sources"

# Advisories come from a database that is fetched; the other checks need no network where the packages are here.
DENY ?= advisories bans licenses sources
deny:
	@if cargo deny --version >/dev/null 2>&1; then \
	    for manifest in Cargo.toml crates/cellrate-web/Cargo.toml; do \
	        cargo deny --all-features --locked --manifest-path $$manifest --config deny.toml check --hide-inclusion-graph $(DENY); \
	    done; \
	else \
	    echo "cargo-deny is not installed: $(DENY) of the Rust dependencies are not checked here (cargo install cargo-deny --locked)"; \
	fi

test-python: test-beside
	@$(MAKE) --no-print-directory test-clock

# The types that Python sees of the compiled module are those that it has. Tests of live runs wait much of their time, so
# there is one process more than there are processors. A file is run by one process, which makes once what its tests share.
test-beside: $(STAMPS)/tools $(STAMPS)/tested
	$(BIN)/stubtest --mypy-config-file tests/stubtest.ini cellrate._native
	$(BIN)/python -m pytest -q --numprocesses=$$(($$(getconf _NPROCESSORS_ONLN) + 1)) --dist=loadfile --no-loadscope-reorder \
	    -m "not clock"

test-clock: $(STAMPS)/tools $(STAMPS)/tested
	$(BIN)/python -m pytest -q -m clock tests/python/test_live_*.py

# Packages beside these are whatever pip finds, so what they deprecate is no error here. Extras are not installed.
LOWEST := series reading writing tables plots sweep_plots multiples together delays notebook read_capture hurst shared_memory run statistics network
lowest: $(STAMPS)/built
	$(PYTHON) -m venv --clear target/lowest
	target/lowest/bin/pip install -q 'pytest>=9,<10' 'hypothesis>=6,<7' $$($(PYTHON) tools/lowest.py)
	PYTHONPATH=python target/lowest/bin/python -m pytest -q -W ignore::DeprecationWarning -k "not polars" \
	    -m "not (slow or live or browser or notebook)" $(LOWEST:%=tests/python/test_%.py)

# A warning, such as of a link that leads nowhere or a page that no menu has, is an error.
docs: $(STAMPS)/docs $(STAMPS)/tested
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -c docs/site . results/site
	@[ -f python/cellrate/watching/page/kernel.js ] || $(BIN)/python web/build.py --quick --if-possible
	@if [ -f python/cellrate/watching/page/kernel.js ]; then $(BIN)/cellrate lab --write results/site/lab; \
	else echo "The lab is left out of the site; what it lacks stands above"; fi
	@echo "Site: results/site/index.html"

# The compiled module again, with a profile of what it does: faster by a tenth to a fifth, and four minutes to build.
optimized: $(STAMPS)/tools
	VIRTUAL_ENV=$(abspath $(VENV)) $(PYTHON) benches/profile_guided.py $(BIN)/maturin develop --release --locked --quiet
	$(BIN)/python -m compileall -q python/cellrate
	touch $(STAMPS)/built

# Built like `make optimized`. Instructions are counted where valgrind is installed. BENCH_OPTIONS="--only W1,A9" for these rows.
bench: prerequisites
	@$(PYTHON) benches/profile_guided.py cargo run --release --locked --quiet -p cellrate-bench -- $(BENCH_OPTIONS)

bench-json: prerequisites
	@$(PYTHON) benches/profile_guided.py cargo run --release --locked --quiet -p cellrate-bench -- --json $(BENCH_OPTIONS)

# BENCH_OPTIONS="--points 200" for a quick look.
bench-campaign: $(STAMPS)/built
	@$(BIN)/python benches/campaign.py $(BENCH_OPTIONS)

# BENCH_OPTIONS="--sizes 100,1000" for a quick look.
bench-growth: $(STAMPS)/built
	@$(BIN)/python benches/growth.py $(BENCH_OPTIONS)

# The page as `make lab` built it.
bench-lab: $(STAMPS)/built
	@$(BIN)/python benches/lab.py $(BENCH_OPTIONS)

# PEERS_OPTIONS=--json for JSON; exit status 3 where a simulator could not be installed.
bench-peers:
	$(PYTHON) benches/peers/run.py $(PEERS_OPTIONS)

paper: $(STAMPS)/built
	$(BIN)/cellrate paper run abr-parameters --out results/papers/abr-parameters
	$(BIN)/cellrate paper readme abr-parameters --report results/papers/abr-parameters
	$(BIN)/cellrate paper run uili --out results/papers/uili
	$(BIN)/cellrate paper readme uili --report results/papers/uili
	$(BIN)/cellrate paper run internet-applications --out results/papers/internet-applications
	$(BIN)/cellrate paper readme internet-applications --report results/papers/internet-applications
	$(BIN)/cellrate paper run rcp --out results/papers/rcp
	$(BIN)/cellrate paper readme rcp --report results/papers/rcp
	$(BIN)/cellrate paper run scone --out results/papers/scone
	$(BIN)/cellrate paper readme scone --report results/papers/scone
	$(BIN)/cellrate paper run stop-and-go --out results/papers/stop-and-go
	$(BIN)/cellrate paper readme stop-and-go --report results/papers/stop-and-go
	$(BIN)/cellrate paper run tcp-lrd-vbr --out results/papers/tcp-lrd-vbr
	$(BIN)/cellrate paper readme tcp-lrd-vbr --report results/papers/tcp-lrd-vbr

clean:
	rm -rf $(VENV) results target web/node_modules web/build web/pkg python/cellrate/watching/page

# What is too old or missing is named at once, before anything is installed or built.
prerequisites:
	@sh tools/prerequisites.sh "$(PYTHON)" "$(LEAST_RUST)"

# A virtual environment needs Debian's python3-venv, which root can install.
$(STAMPS)/venv: requirements/lock.txt | prerequisites
	@if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || ! command -v cc >/dev/null; then \
	    if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	        apt-get update -q && apt-get install -qy --no-install-recommends python3-venv gcc libc6-dev; \
	    else \
	        echo "python3-venv or a C compiler is missing; as root: apt-get install python3-venv gcc libc6-dev" >&2; \
	        exit 1; \
	    fi; \
	fi
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements/lock.txt
	mkdir -p $(STAMPS)
	touch $@

# Versions and digests of all packages are fixed by the files in requirements/ (`make lock`).
$(STAMPS)/tools: requirements/tools.txt | $(STAMPS)/venv
	$(INSTALL)
	touch $@

$(STAMPS)/docs: requirements/docs.txt | $(STAMPS)/venv
	$(INSTALL)
	touch $@

# For who changes a dependency in pyproject.toml, or wants newer versions within its bounds (LOCK_OPTIONS=--upgrade).
lock: | $(STAMPS)/venv
	echo 'uv>=0.13,<0.14' | $(LOCK) - -o requirements/lock.txt
	$(LOCK) pyproject.toml --group tools $(foreach extra,cluster import polars quic tune xarray,--extra $(extra)) -o requirements/tools.txt
	$(LOCK) pyproject.toml --group docs -c requirements/tools.txt -o requirements/docs.txt

# An editable install: Python runs from python/, the compiled module lies beside it. Bytecode is written here, as pip does for
# an ordinary install: where PYTHONDONTWRITEBYTECODE is set, as in many containers, each start would compile it anew.
MATURIN := VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --locked --quiet
INSTALLED := $(BIN)/python -m compileall -q python/cellrate && \
    { test -f python/cellrate/watching/page/page.js || $(BIN)/python web/build.py --page --if-possible; }
$(STAMPS)/built: $(SOURCES) $(STAMPS)/tools
	$(MATURIN) --release
	@$(INSTALLED)
	touch $@

# The module for tests and pages, of today's sources: that of the rule above where it is there, else one that is compiled in
# less than half the time, of packages that Rust's tests have as well, and with their checks of overflow and assertions. It
# takes a fifth more instructions.
$(STAMPS)/tested: $(SOURCES) $(STAMPS)/tools
	@if [ ! -f $(STAMPS)/built ] || [ -n "$$(find $^ -newer $(STAMPS)/built -print -quit)" ]; then \
	    rm -f $(STAMPS)/built; \
	    $(MATURIN) && $(INSTALLED); \
	fi
	touch $@
