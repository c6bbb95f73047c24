# PREFIX/share/lua/5.1 and PREFIX/lib/lua/5.1 are where Debian's nginx and LuaJIT look. For OpenResty:
# make install LUA_LIB_DIR=/usr/local/openresty/site/lualib
PREFIX ?= /usr/local
LUA_LIB_DIR ?= $(PREFIX)/share/lua/5.1
LUA_C_DIR ?= $(subst /share/lua/,/lib/lua/,$(LUA_LIB_DIR))
LIB_DIR ?= $(PREFIX)/lib
DESTDIR ?=
PORT ?= 8080
PEERS ?=
NGINX_SRC ?=
NGINX_SRCS ?=
NGINX_TESTS ?=
TRACE_CONTEXT_SRC ?=
FILES ?=
# What `make mutants` breaks, in both workspaces.
PACKAGES ?= txid txid-keyed txid-capi txid-cli txid-agent-machines txid-agent
PLATFORMS ?=
OPENRESTY_SRC ?=
APISIX_HOME ?=
KONG ?=

# Shipped files have no path of this machine. Not for tests: sh drops variables whose names have a hyphen, as Cargo gives them.
build library agent run build-rock: export RUSTC_WRAPPER := $(CURDIR)/scripts/rustc.sh

# Only these call a package manager. The others say what is missing, and what to type.
try run test test-all test-agent: export TXID_INSTALL := 1

# Of the crate txid: each compiles without the others.
FEATURES = hidden host names request segment serde snowflake

# The agent is a workspace of its own. Its binary stands beside the command's.
OF_AGENT = --locked --manifest-path agent/Cargo.toml --target-dir target
BUILD_AGENT = cargo build $(OF_AGENT) --release

export PREFIX LUA_LIB_DIR LUA_C_DIR LIB_DIR DESTDIR PORT PEERS NGINX_SRC NGINX_SRCS NGINX_TESTS TRACE_CONTEXT_SRC OPENRESTY_SRC APISIX_HOME KONG

.PHONY: help help-all build library check agent nginx-module run-native test-nginx-sources test-nginx-tests build-rock run try test test-all test-agent soak mutants mutants-lua mutants-c bench bench-segments bench-agent lint headers install uninstall install-rock deb rpm
.PHONY: test-install test-platforms test-gateways test-reproducible bump release clean

help: ## list the targets; `make help-all` lists all
	@sed -n 's/^\([a-z-]*\):.*[^#]## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{ printf "%-21s %s\n", $$1, $$2 }'

help-all: ### list all targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{ printf "%-26s %s\n", $$1, $$2 }'

build: ## build libtxid.so, libtxid.a and txid in target/release
	@scripts/need.sh build
	cargo build --locked --release
	@packaging/manuals.sh target/release

# The same as by `make build`, which a test of dependencies checks, and in a fifth of the time.
library: ### build libtxid.so and libtxid.a alone
	@scripts/need.sh build
	cargo build --locked --release --package txid-capi

run: library ## serve examples/nginx.conf on port 8080 (PORT=)
	@scripts/need.sh run
	@exec scripts/run.sh

try: ## the same without Rust: ids are made in plain LuaJIT
	@scripts/need.sh try
	@exec scripts/run.sh

nginx-module: ## build the modules of nginx (NGINX_SRC=) in target/nginx
	@scripts/need.sh build nginx-module
	@scripts/nginx-module.sh

run-native: nginx-module ## serve examples/native.conf, without Lua (PORT=)
	@exec scripts/run.sh native

test: ## install what the tests need, and test all but the agent
	@scripts/need.sh build suites test nginx-module
	@scripts/test.sh

test-all: ## the same, and what docs/dev/CONTRIBUTING.md lists besides
	@scripts/need.sh build suites test gateways nginx-module
	@scripts/test.sh all

test-agent: ## the same for the agent, with its seven stores
	@scripts/need.sh build suites stores nginx-module
	@scripts/test.sh agent

check: target/release/libtxid.so ## lint, unit tests and plain LuaJIT, in a minute
	@scripts/need.sh check
	@$(MAKE) --no-print-directory lint
	cargo test --locked --quiet --workspace --all-features --lib --bins
	cargo test --locked --quiet --test all -- circles:: dependencies:: documents:: figures::
	cargo test $(OF_AGENT) --quiet --workspace --lib --bins
	prove -I t/lib -j 4 t/lua/plain-luajit.t t/lua/pure.t t/lua/cidr.t

target/release/libtxid.so:
	@$(MAKE) --no-print-directory build

test-nginx-sources: ### test the modules with each nginx of NGINX_SRCS=
	@scripts/need.sh build suites nginx-sources
	@cargo build --locked --release --quiet
	@scripts/test-nginx-sources.sh

.PHONY: release-modules
release-modules: ### pack the modules for each nginx of NGINX_SRCS=
	@scripts/need.sh build nginx-sources
	@packaging/release-modules.sh

test-nginx-tests: ### nginx's own tests (NGINX_TESTS=) with ours in NGINX_SRC=
	@scripts/need.sh build nginx-sources nginx-tests
	@scripts/test-nginx-tests.sh

.PHONY: test-trace-context
test-trace-context: nginx-module ### W3C's suite for Trace Context, in TRACE_CONTEXT_SRC=
	@scripts/need.sh build suites test
	@cargo build --locked --release --quiet
	@tests/trace-context/run.sh

.PHONY: test-samplers
test-samplers: nginx-module ### compare txid_sample with samplers of others (COUNT=)
	@scripts/need.sh build suites studies
	@cargo build --locked --release --quiet
	@TXID_INSTALL=1 tests/samplers/run.sh

soak: ## kill, fork, sort, lease and fuzz, for hours
	@scripts/need.sh build suites stores soak nginx-module
	@$(MAKE) --no-print-directory build nginx-module
	TXID_REQUESTS=1000000 scripts/prove.sh t/native/memory.t
	tests/randomness/run.sh
	cargo test --locked --profile soak -p txid --test snowflake_processes -- soak
	python3 tests/ff1.py target/release/txid 100000
	python3 tests/line_times.py target/release/txid 1200 5
	cargo test --locked -p txid-cli --test command soak:: -- --ignored --nocapture --test-threads=1
	cargo test $(OF_AGENT) -p txid-agent-machines --test all -- --ignored --nocapture --test-threads=1
	crates/fuzz/run.sh 20
	cargo test $(OF_AGENT) --release --test with_servers thousands -- --ignored --nocapture --test-threads=1
	cargo test $(OF_AGENT) --test with_servers failover -- --ignored --nocapture --test-threads=1
	TXID_CHILD_IDS=20000000 cargo test $(OF_AGENT) --test with_servers no_fault -- --ignored --nocapture
	cargo test $(OF_AGENT) --test with_servers stores:: -- --ignored --nocapture --test-threads=1

mutants: ## check that a test finds each mutation (PACKAGES=, FILES=)
	@scripts/need.sh build mutants $(if $(filter txid-agent,$(PACKAGES)),stores)
	@scripts/mutants-rust.pl $(PACKAGES) $(FILES)

mutants-lua: nginx-module ### check that every change of lua/ fails (hours; FILES=)
	@scripts/need.sh build suites test
	@cargo build --locked --release --quiet
	@cargo build $(OF_AGENT) --quiet
	@scripts/mutants.pl lua $(FILES)

mutants-c: nginx-module ### check that every change of nginx/*.c fails (FILES=)
	@scripts/need.sh build suites test
	@cargo build --locked --release --quiet
	@cargo build $(OF_AGENT) --quiet
	@scripts/mutants.pl c $(FILES)

bench: ## measure ids and PEERS=, and write bench/RESULTS.md
	@scripts/need.sh build nginx-module bench
	@cargo build --locked --release --quiet
	@$(BUILD_AGENT) --quiet
	@bench/run.sh

bench-segments: ### measure segments, and write bench/SEGMENTS.md
	@scripts/need.sh build bench segments
	@cargo build --locked --release --quiet
	@$(BUILD_AGENT) --quiet
	@bench/segments.sh

bench-agent: ### print when the agent makes the first id on each store
	@scripts/need.sh build stores
	@$(BUILD_AGENT) --quiet
	@TXID_AGENT=$(CURDIR)/target/release/txid-agent cargo test $(OF_AGENT) --quiet --test with_servers it_is_small -- --nocapture

lint: ## rustfmt, clippy, luacheck, subjects of commits, cargo-deny
	@scripts/need.sh build lint
	cargo fmt --all -- --check
	cargo fmt --manifest-path agent/Cargo.toml --all -- --check
	cargo fmt --manifest-path bench/rust/Cargo.toml -- --check
	cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
	cargo clippy $(OF_AGENT) --workspace --all-targets -- -D warnings
	cargo check --quiet --manifest-path bench/rust/Cargo.toml --target-dir target/bench
	for feature in "" $(FEATURES); do cargo clippy --locked --quiet --package txid --lib --no-default-features --features "$$feature" -- -D warnings || exit; done
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --quiet --no-deps --package txid --all-features
	luacheck --quiet .
	scripts/subjects.sh
	@git ls-files '*.c' '*.h' | grep -v '^include/' | xargs awk 'length > 100 { print FILENAME ":" FNR ": more than 100 columns"; bad = 1 } END { exit bad }'
	@# Not installed by need.sh: it takes minutes to compile.
	! cargo deny --version >/dev/null 2>&1 || for workspace in . agent; do cargo deny --manifest-path $$workspace/Cargo.toml --workspace --all-features check --config .cargo/deny.toml bans licenses sources || exit; done

headers: ### generate include/txid.h and cdefs.lua from Rust
	TXID_BLESS=1 cargo test --locked --quiet --package txid-capi --test all interface::

# `sudo make install` may not find cargo, and then installs what the user built.
install: $(if $(shell command -v cargo),build) ## install below PREFIX (/usr/local); also DESTDIR
	@packaging/install.sh put

uninstall: ## remove what make install installed
	@packaging/install.sh remove

# Called by LuaRocks for the rock libtxid. It chooses the directory. With BUILT=, the library is built already.
build-rock: ### build for LuaRocks, which calls it
	@[ -n "$(BUILT)" ] || { command -v cargo && command -v cc; } >/dev/null || { echo "txid: the rock libtxid needs Rust $$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) or later and a C compiler: install cargo and gcc; lua-resty-libtxid alone needs neither" >&2; exit 1; }
	$(if $(BUILT),,cargo build --locked --release --package txid-capi)

install-rock: ### install for LuaRocks, which calls it
	@packaging/install.sh rock

agent: ## build target/release/txid-agent
	@scripts/need.sh build
	$(BUILD_AGENT)

# With BUILT=, what is packed is built already.
deb: $(if $(BUILT),,build agent) nginx-module ## pack dist/*.deb
	@scripts/need.sh deb
	packaging/deb.sh

rpm: $(if $(BUILT),,build agent) ## pack dist/*.rpm; NGINX_SRC= adds the modules
	@scripts/need.sh rpm
	packaging/rpm.sh

test-install: ## install in every supported way, from clean checkouts
	@scripts/need.sh build nginx-module deb rpm test-install
	packaging/test.sh

test-platforms: ## test on other systems (PLATFORMS=, OPENRESTY_SRC=)
	@scripts/need.sh build platforms
	@packaging/test-platforms.sh $(PLATFORMS)

test-gateways: ### test Envoy, Caddy, HAProxy; APISIX_HOME=, KONG=
	@scripts/need.sh build suites gateways $(if $(APISIX_HOME)$(KONG),rocks)
	@cargo build --locked --release --quiet
	@TXID_INSTALL=1 TXID_REQUESTS=3000 tests/gateways/run.sh
	$(if $(APISIX_HOME)$(KONG),@tests/gateways/plugins.sh)

bump: ### write VERSION=x.y.z to all files that have it
	@packaging/bump.sh

test-reproducible: ### pack a release twice, and compare each byte
	@scripts/need.sh build nginx-module release reproducible
	@packaging/test-reproducible.sh

release: ## check and pack VERSION=x.y.z (DRY_RUN=1, PUBLISH=1)
	@packaging/release.sh

clean: ## remove all built files
	cargo clean
	rm -rf dist t/servroot*
