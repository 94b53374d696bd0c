# The one list of commands. `make` alone explains them.

CARGO ?= cargo
export CARGO

NETLOOM := $(or $(CARGO_TARGET_DIR),target)/release/netloom
# What is measured and what is shipped: the same program after optimization across all crates, which takes minutes longer.
DIST := $(or $(CARGO_TARGET_DIR),target)/dist/netloom

# The Rust whose warnings are errors. Another one has other lints, which are shown and fail nothing.
LINTED := 1.95
DENY = $(if $(filter $(LINTED).%,$(shell rustc --version)),-D warnings)
OLDEST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

.DEFAULT_GOAL := help
# With a file's name in STEPS, it is told how long each step took.
ifdef STEPS
SHELL := scripts/timed
export STEPS
endif
.NOTPARALLEL:
.PHONY: help deps kernel build install wheel deb rpm deb-kernel demo test test-build test-deps test-fast test-quiet test-all fmt fmt-check tidy lint doc oldest unit unit-rest manual tutorial gallery docs-site packaging machines machines-quick test-arm python python-still web-running python-ray mininet deny advisories bench bench-clocks bench-growth bench-peers bench-docs bench-quick hunt-bugs hunt-minimal papers papers-quick soak fuzz asan miri clean web web-keep web-check release

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install the programs that are missing (iperf3, ip, ping, tcpdump, traceroute); asks apt-get
	scripts/install-deps

kernel: deps ## build the kernel for kernel nodes, once; a few minutes
	$(CARGO) build --locked --bin netloom
	scripts/ensure-kernel

build: ## build target/release/netloom
	$(CARGO) build --release --locked --bin netloom

install: build ## install program, completions and manual pages below PREFIX (/usr/local), or below DESTDIR for packages
	scripts/install-files $(NETLOOM) $(or $(PREFIX),/usr/local)

wheel: web ## a wheel of the Python package with the program inside, in target/wheels
	scripts/wheel

deb: web ## a package for Debian and Ubuntu, in target/packages
	$(CARGO) build --profile dist --locked --bin netloom
	scripts/packages deb $(DIST) $(or $(CARGO_TARGET_DIR),target)/packages

rpm: web ## a package for Fedora and its like, in target/packages
	$(CARGO) build --profile dist --locked --bin netloom
	scripts/packages rpm $(DIST) $(or $(CARGO_TARGET_DIR),target)/packages

deb-kernel: build ## a package of the kernel for kernel nodes, which is built if need be, in target/packages
	scripts/packages --kernel deb $(NETLOOM) $(or $(CARGO_TARGET_DIR),target)/packages

demo: deps build ## build and run examples/dumbbell.yaml: two pairs of hosts across a bottleneck, judged
	$(NETLOOM) run examples/dumbbell.yaml

test: ## check and test everything; all steps run, and those that failed are listed last
	@MAKE='$(MAKE)' scripts/all-steps web test-build+test-deps+fmt-check+tidy+deny unit-rest+test-quiet web-running+python-still+manual

# The tests of whole labs leave the processors idle for minutes. Lints have a target folder of their own, since cargo lets one command at a time work in one.
test-quiet: ## lints, documentation of the code and tests of pure crates, with the time that nothing else wants
	CARGO_TARGET_DIR=$(or $(CARGO_TARGET_DIR),target)/lint scripts/idle $(MAKE) --no-print-directory lint doc
	NETLOOM_TESTS=pure scripts/idle scripts/run-tests

test-build: ## build all tests, and the kernel that their nodes run
	$(CARGO) test --workspace --locked --no-run
	scripts/ensure-kernel

test-deps: ## install what `make test` needs and this machine lacks, at once: later steps find it there
	scripts/install-deps services papers python web

test-all: ## all of that as every user, and what takes longer: before a release, and when what it tests was changed
	@NETLOOM_TEST_ALL=1 NETLOOM_FUZZ_SECONDS=20 MAKE='$(MAKE)' scripts/all-steps test oldest tutorial docs-site packaging asan bench-quick papers-quick soak fuzz test-arm

test-fast: fmt-check tidy lint ## what needs no namespaces: format, lints, unit and golden tests; under three minutes
	$(CARGO) test --workspace --locked --lib --bins --quiet
	$(CARGO) test --locked --quiet --test '*' -p netloom-units -p netloom-packet -p netloom-link -p netloom-fabric -p netloom-radio -p netloom-lab -p netloom-sim

fmt: ## format the code
	$(CARGO) fmt --all
	scripts/install-web
	npm run --prefix web --silent format

fmt-check: ## is the code formatted?
	$(CARGO) fmt --all --check

tidy: ## file sizes, allowed dependencies between crates, no circles between files, pure crates, links in the manual
	scripts/check-tidy
	scripts/check-crates
	scripts/check-circles

lint: ## clippy for Rust, Biome and types for web/; warnings are errors
	scripts/lint-web
	$(CARGO) clippy --workspace --all-targets --locked -- $(DENY)

doc: ## build the documentation of the code, warnings are errors
	RUSTDOCFLAGS="$(DENY)" $(CARGO) doc --workspace --no-deps --locked

oldest: ## does the oldest Rust that is promised compile everything? Fetches it by rustup
	rustup toolchain install $(OLDEST) --profile minimal
	CARGO_TARGET_DIR=$(or $(CARGO_TARGET_DIR),target)/oldest cargo +$(OLDEST) check --workspace --locked

unit: ## all tests of all crates, with the totals; those that need namespaces included
	scripts/install-deps services papers
	scripts/run-tests

unit-rest: ## all of these but for those of test-quiet
	scripts/install-deps services papers
	NETLOOM_TESTS=rest scripts/run-tests

# The tests, too, here and below: without them, libraries would have fewer features and be built again.
manual: ## do the manual and the examples agree with the program?
	$(CARGO) build --workspace --bin netloom --tests --locked
	scripts/check-manual
	scripts/gallery --check
	scripts/bianchi --check

tutorial: kernel ## do the commands of the tutorial do what it says? two minutes
	scripts/install-deps python
	scripts/play-tutorial

gallery: kernel ## make the pictures of docs/gallery.md, to be committed; two minutes
	scripts/install-deps services
	scripts/gallery

packaging: ## are the recipes for other systems in order? not part of `make test`: it fetches schemas and tools
	scripts/install-deps python
	scripts/check-packaging

machines: ## the release's packages on Debian 11, 12 and 13 with their own kernels, as QEMU emulates them; after `make release`, needs root, half an hour
	scripts/install-deps services
	scripts/machines "$(or $(CARGO_TARGET_DIR),target)/release-$$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)"

test-arm: ## unit tests of pure crates on arm64, and simulations with the bytes that they have here, by QEMU's user mode; ten minutes
	scripts/install-deps arm64
	$(CARGO) build --locked --bin netloom
	scripts/test-arm64

machines-quick: ## the same without a release: the program as tests build it, on the machines of RELEASES or Debian 12 and 13 on x86-64 and arm64
	scripts/install-deps services arm64
	scripts/ensure-kernel
	scripts/machines --quick $(RELEASES)

docs-site: ## build the manual as a site with search in target/site; a link that leads nowhere is an error
	scripts/docs-site

web: ## make the script of report.html and the page of netloom ui from web/, for the next build; needs Node
	scripts/make-web

web-keep: ## the same, and keep them in the repository, for source builds without Node: at a release
	scripts/make-web --keep

web-check: ## do both work in a browser?
	scripts/install-deps web
	$(CARGO) build --workspace --bin netloom --tests --locked
	scripts/check-web

# Two halves of the tests of pages, as `make test` runs them: the one beside the tests of the Python package, the other behind these.
web-running: ## the tests of pages with labs that run
	NETLOOM_WEB_TESTS=running $(MAKE) --no-print-directory web-check

python-still: ## python, and the tests of pages without labs that run
	@status=0; \
	$(MAKE) --no-print-directory python || status=1; \
	NETLOOM_WEB_TESTS=still NETLOOM="$$(realpath "$${CARGO_TARGET_DIR:-target}")/debug/netloom" npm test --prefix web --silent || status=1; \
	exit $$status

python: ## form, types and tests of the Python package, in an environment of its own
	scripts/install-deps python
	scripts/install-deps services papers
	$(CARGO) build --workspace --bin netloom --tests --locked
	scripts/python-tests

python-ray: ## the tests of sweeps, hunts and runs on Ray, with several of its nodes on this machine; not part of `make test`: Ray has 80 MB
	$(CARGO) build --locked --bin netloom
	scripts/python-tests --ray

mininet: ## the tests of Mininet 2.3 itself, with Netloom in its place; not part of `make test`: half an hour, and some fail (docs/mininet.md)
	scripts/install-deps services papers
	$(CARGO) build --locked --bin netloom
	scripts/mininet-tests

deny: ## licences, sources and duplicates among the dependencies
	"$$(scripts/install-cargo-deny)" deny --locked check licenses bans sources

advisories: ## known vulnerabilities; not part of `make test`, because it downloads a database
	"$$(scripts/install-cargo-deny)" deny --locked check advisories

bench: deps ## accuracy and speed on this machine, as a table and a page with plots; fourteen minutes
	$(CARGO) build --profile dist --locked --bin netloom --bin netloom-bench
	$(dir $(DIST))netloom-bench

bench-clocks: kernel ## the clocks of kernel nodes and the paper on time dilation; two hours
	$(CARGO) build --profile dist --locked --bin netloom --bin netloom-bench
	$(dir $(DIST))netloom-bench clocks

bench-growth: deps ## how cost grows with packets, hops, pipes, streams and nodes; seven minutes
	$(CARGO) build --profile dist --locked --bin netloom --bin netloom-bench
	$(dir $(DIST))netloom-bench growth

bench-peers: kernel ## virtual time beside Shadow and ns-3, where they are installed; 25 minutes
	$(CARGO) build --profile dist --locked --bin netloom --bin netloom-bench
	$(dir $(DIST))netloom-bench peers

bench-docs: deps ## measure everything in docs/performance.md and write it there; 20 minutes on a quiet machine
	$(CARGO) build --profile dist --locked --bin netloom --bin netloom-bench
	$(dir $(DIST))netloom-bench goals growth --write-docs

hunt-bugs: kernel ## hunt all known bugs of docs/hunt.md again, and write its tables; needs Go and pip, hours
	scripts/install-deps services
	scripts/hunt-bugs play
	scripts/hunt-bugs controls
	scripts/hunt-bugs table

hunt-minimal: kernel ## play the minimal labs of the known bugs in docs/hunt.md, with the bug and without; needs Go and pip, some minutes
	scripts/install-deps services
	scripts/hunt-bugs minimal

bench-quick: deps ## few and short measurements, three minutes: do the benchmarks work?
	$(CARGO) build --profile dist --locked --bin netloom --bin netloom-bench
	$(dir $(DIST))netloom-bench --quick

papers: kernel ## the experiments of five papers, our figures beside the published ones, as a page; an hour
	scripts/install-deps papers
	$(CARGO) build --profile dist --locked --bin netloom
	python3 benches/papers --netloom $(DIST)

papers-quick: kernel ## the same with few and short runs, in five minutes: do the experiments work?
	scripts/install-deps papers
	$(CARGO) build --profile dist --locked --bin netloom
	python3 benches/papers --quick --netloom $(DIST)

soak: deps ## ten minutes of random labs, changes and kills: is anything left behind?
	$(CARGO) build --release --locked --bin netloom --bin netloom-soak
	$(dir $(NETLOOM))netloom-soak

fuzz: ## all fuzz targets (or those whose names contain TARGET) for SECONDS each, 600 unless said otherwise
	NETLOOM_FUZZ_SECONDS=$(or $(SECONDS),$(NETLOOM_FUZZ_SECONDS),600) $(CARGO) test --workspace --locked --no-fail-fast --lib --test it --test transit --test ports fuzz_$(TARGET) -- --nocapture

asan: ## tests of all crates with unsafe code, under AddressSanitizer; on stable Rust, in a target folder of its own; minutes
	scripts/asan

miri: ## the parts that Miri can run, for those who have nightly Rust with it; not part of anything else
	MIRIFLAGS="-Zmiri-disable-isolation" PROPTEST_CASES=4 $(CARGO) +nightly miri test --locked -p netloom-packet --lib --test it -- pool flows

clean: ## remove what was built; results stay
	$(CARGO) clean

release: ## wheel, packages, sources, manual and checksums of this version, each tried in an empty root file system; needs root
	scripts/install-deps web
	scripts/release
